"""A snapshot of the public surface: exported names, signatures, fields, and the command line."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from importlib import import_module
from typing import Any, Literal, get_args, get_origin, is_typeddict

MODULES = {
    "memoryware": None,
    "memoryware.backends": None,
    "memoryware.demo": None,
    "memoryware.errors": None,
    "memoryware.events": None,
    "memoryware.guard": None,
    "memoryware.importers": None,
    "memoryware.inspector": None,
    "memoryware.local": None,
    "memoryware.mcp": None,
    "memoryware.middleware": None,
    "memoryware.nodes": None,
    "memoryware.settings": None,
    "memoryware.sources": None,
    "memoryware.sources.regions": None,
    "memoryware.stores": None,
    "memoryware.testing": None,
    "memoryware.tiers": None,
    "memoryware.bench.recall": None,
}
"""Modules that the documentation imports from, and their public names; None means `__all__`."""
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_SET = re.compile(r"\{([^{}:]*)\}")
_HOME = re.compile(r"\bmemoryware(\.\w+)+\.(?=\w)")
_SPECIAL = ("__call__", "__enter__", "__aenter__", "__len__", "__iter__", "__add__", "__bool__")


def surface() -> list[str]:
    """Return the public Python surface, a line for each name, field and method."""
    found = {name: module_surface(name, names) for name, names in MODULES.items()}
    return list(_lines("", found))


def _lines(path: str, form: Any) -> Iterator[str]:
    """Yield nested forms as lines, which a reader of a change can compare."""
    if isinstance(form, dict) and form:
        for name, below in form.items():
            yield from _lines(f"{path}.{name}" if path else name, below)
    else:
        yield f"{path} = {form if isinstance(form, str) else json.dumps(form)}"


def module_surface(name: str, names: tuple[str, ...] | None) -> dict[str, Any]:
    """Return each public name of a module with its form."""
    module = import_module(name)
    if names is None:
        names = tuple(getattr(module, "__all__", ())) or public_classes(module)
    return {one: form_of(getattr(module, one)) for one in sorted(names)}


def public_classes(module: Any) -> tuple[str, ...]:
    """Return the names that a module without `__all__` defines itself."""
    return tuple(
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    )


def form_of(value: Any) -> Any:
    """Return what a caller can rely on: a signature, the members of a class, or a kind of value."""
    if get_origin(value) is not None:
        literals = [one for one in get_args(value) if isinstance(one, str)]
        return {"(one of)": literals}
    if inspect.isclass(value):
        return class_form(value)
    if callable(value):
        return signature_of(value)
    return f"a value of type {type(value).__name__}"


def class_form(cls: type) -> dict[str, Any]:
    """Return bases, fields, constructor and public members of a class."""
    form: dict[str, Any] = {
        "(bases)": [one.__name__ for one in cls.__mro__[1:-1] if is_public(one)]
    }
    if is_typeddict(cls):
        return form | {"(keys)": sorted(cls.__annotations__)}
    if issubclass(cls, Enum):
        return form | {"(members)": {one.name: one.value for one in cls}}
    if is_dataclass(cls):
        form["(fields)"] = {one.name: default_of(one) for one in fields(cls)}
    elif "__init__" in vars(cls) or any("__init__" in vars(base) for base in ours(cls)):
        form["(constructor)"] = signature_of(cls.__init__)
    return form | dict(sorted(members_of(cls)))


def is_public(cls: type) -> bool:
    """Say whether callers can name a class: one of ours that is exported, or of another package."""
    home = cls.__module__.partition(".")[0]
    public = {name for module in MODULES for name in dir(import_module(module))}
    return home != "memoryware" or cls.__name__ in public


def members_of(cls: type) -> list[tuple[str, str]]:
    """Return the public members that this package defines, with their signatures."""
    found = {}
    for base in reversed(ours(cls)):
        for name, value in vars(base).items():
            hidden = name.startswith(("_", "test_")) and name not in _SPECIAL
            if hidden or name in getattr(cls, "__dataclass_fields__", ()):
                continue
            if isinstance(value, property):
                found[name] = "property"
            elif isinstance(value, (classmethod, staticmethod)):
                found[name] = f"{type(value).__name__} {signature_of(value.__func__)}"
            elif inspect.isfunction(value):
                found[name] = signature_of(value)
            elif not inspect.ismemberdescriptor(value):
                found[name] = "attribute"
    return list(found.items())


def ours(cls: type) -> list[type]:
    """Return the classes of this package that a class is made of, itself first."""
    return [one for one in cls.__mro__ if one.__module__.partition(".")[0] == "memoryware"]


def default_of(field: Any) -> str:
    """Return the default of a field of a dataclass as text; "required" where there is none."""
    if field.default is not MISSING:
        return portable(repr(field.default))
    return "required" if field.default_factory is MISSING else "made anew"


def signature_of(function: Any) -> str:
    """Return a signature as text, without addresses and without the homes of names."""
    kind = "async " if inspect.iscoroutinefunction(function) else ""
    return kind + portable(str(inspect.signature(function)))


def portable(text: str) -> str:
    """Return text that is the same on every machine and wherever a name is defined."""
    ordered = _SET.sub(lambda found: f"{{{', '.join(sorted(found[1].split(', ')))}}}", text)
    return _HOME.sub("", _ADDRESS.sub("", ordered))


def command_line() -> list[str]:
    """Return each command with its parameters, their spellings, choices and defaults."""
    import typer

    from memoryware.cli.app import app

    return sorted(_commands("memoryware", typer.main.get_command(app)))


def _commands(path: str, command: Any) -> Iterator[str]:
    below = getattr(command, "commands", None)
    for name in below or ():
        yield from _commands(f"{path} {name}", below[name])
    if below is None:
        for parameter in command.params:
            if parameter.name != "help":
                yield f"{path} {_parameter(parameter)}"


def _parameter(parameter: Any) -> str:
    default, several = parameter.default, getattr(parameter, "multiple", False)
    spelling = " ".join(sorted([*parameter.opts, *parameter.secondary_opts]))
    text = spelling if parameter.param_type_name == "option" else spelling.upper()
    if parameter.required:
        text += " (required)"
    if several or parameter.nargs not in {0, 1}:
        text += " (several)"
    if choices := _choices(parameter):
        text += f" (one of {', '.join(choices)})"
    if parameter.envvar:
        text += f" (environment {parameter.envvar})"
    if default is not None and not callable(default):
        text += f" = {getattr(default, 'value', default)!r}"
    return text


def _choices(parameter: Any) -> list[str]:
    """Return what a parameter may be; releases of Typer keep that in two ways."""
    if hasattr(parameter, "type"):
        return sorted(map(str, getattr(parameter.type, "choices", ())))
    annotation = parameter.type_descriptor.annotation
    if inspect.isclass(annotation) and issubclass(annotation, Enum):
        return sorted(str(one.value) for one in annotation)
    return sorted(get_args(annotation)) if get_origin(annotation) is Literal else []

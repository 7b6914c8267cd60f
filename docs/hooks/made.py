"""Puts into pages what is made from the code: changelog, options, limits, events, errors.

A page has a slot such as `<!-- made: fragments -->`. What goes there is read from the source
when the site is built, so that it cannot differ from it. Where `<!-- end -->` follows, the
file itself holds it as well, for those who read the file: run this file to write it anew.
"""
# ruff: noqa: INP001 - a hook of mkdocs is a file, not a package

from __future__ import annotations

import ast
import dataclasses
import enum
import inspect
import itertools
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import memoryware
from memoryware import errors, settings
from memoryware.events import facts

_END: Final = "<!-- end -->"
_SLOT: Final = re.compile(
    rf"(<!-- made: (\w+)(?: (\w+))? -->)(\n(?:(?!<!-- made: ).)*?{_END})?", re.DOTALL
)
_DOCS: Final = Path(__file__).parents[1]
_LONGEST_DEFAULT: Final = 30


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Fill the slots of a page."""
    return _SLOT.sub(_made, markdown)


def written(markdown: str) -> str:
    """Return a page with what its slots hold brought up to date, for the file."""
    return _SLOT.sub(
        lambda slot: f"{slot[1]}\n\n{_made(slot)}\n\n{_END}" if slot[4] else slot[0], markdown
    )


def _made(slot: re.Match[str]) -> str:
    return _MAKERS[slot[2]](*filter(None, [slot[3]]))


def fragments() -> str:
    """Return one list item per fragment of the changelog, sorted by file name."""
    folder = _DOCS / "changelog.d"
    found = [one for one in sorted(folder.glob("*.md")) if one.name != "README.md"]
    return "\n".join(f"- {one.read_text(encoding='utf-8').strip()}" for one in found)


def example(name: str) -> str:
    """Return the one script in a folder of the examples, as a block that is its file."""
    (script,) = (_DOCS.parent / "examples" / name).glob("*.py")
    text = script.read_text(encoding="utf-8").replace("  # noqa: ARG002", "").strip()
    return f'```python title="{script.name}"\n{text}\n```'


def limits(name: str) -> str:
    """Return a table of the limits of one class, with default, range and meaning."""
    kind = getattr(settings, name)
    meanings = {name: " ".join(text.split()) for name, text in _texts_after_fields(kind).items()}
    rows = [
        f"| `{one.name}` | {_number(one.default)} | {_range(one)} | {meanings[one.name]} |"
        for one in dataclasses.fields(kind)
    ]
    head = ["| setting | default | range | meaning |", "|---|---|---|---|"]
    return "\n".join([*head, *rows])


def options(name: str) -> str:
    """Return a table of the arguments of a class or function, with default and meaning."""
    target = getattr(memoryware, name)
    meanings = _arguments_in(inspect.getdoc(target) or "")
    rows = [
        f"| `{one.name}` | {_default(one)} | {meanings.get(one.name, 'As for `create_agent`.')} |"
        for one in inspect.signature(target).parameters.values()
    ]
    return "\n".join(["| option | default | meaning |", "|---|---|---|", *rows])


def _arguments_in(docstring: str) -> dict[str, str]:
    """Return the text of each argument in the section `Args:`, or of each attribute."""
    head = "\nArgs:\n" if "\nArgs:\n" in docstring else "\nAttributes:\n"
    section = docstring.partition(head)[2].partition("\n\n")[0]
    entries = re.split(r"^ {4}(?=\w)", section, flags=re.MULTILINE)[1:]
    pairs = (" ".join(entry.split()).partition(": ") for entry in entries)
    return {name: text for name, _, text in pairs}


def _default(parameter: inspect.Parameter) -> str:
    value = parameter.default
    if value is parameter.empty:
        return "must be given"
    if callable(value):
        return f"`{value.__name__}`"
    return f"`{value!r}`" if len(repr(value)) <= _LONGEST_DEFAULT else "the default text"


def errors_tree() -> str:
    """Return the tree of errors as a block of code."""
    text = inspect.getdoc(errors) or ""
    tree = text[text.index("MemorywareError\n") :].partition("\n\n")[0]
    return f"```text\n{tree}\n```"


def events(name: str) -> str:
    """Return a table of the keys of one event, with the kind of value and its meaning."""
    kind = getattr(facts, name)
    meanings, kinds = _texts_after_fields(kind), _kinds_of_fields(kind)
    rows = [f"| `{key}` | `{kinds[key]}` | {text} |" for key, text in meanings.items()]
    head = ["| key | value | meaning |", "|---|---|---|"]
    return "\n".join([*head, *rows])


def _kinds_of_fields(kind: type[Any]) -> dict[str, str]:
    (tree,) = ast.parse(inspect.getsource(kind)).body
    body = tree.body if isinstance(tree, ast.ClassDef) else []
    return {
        ast.unparse(one.target): _kind(one.annotation)
        for one in body
        if isinstance(one, ast.AnnAssign)
    }


def _kind(annotation: ast.expr) -> str:
    """Return a kind of value as a reader of the page needs it."""
    text = ast.unparse(annotation)
    for wrapped in (r"NotRequired\[(.*)\]", r"Literal\[(.*)\]"):
        text = re.sub(wrapped, r"\1", text)
    plain = {"BlockReason": "str", "AskReason": "str", "Tier": "str"}
    return plain.get(text, text).replace("'", '"').replace(" | ", " or ")


def _texts_after_fields(kind: type[Any]) -> dict[str, str]:
    (tree,) = ast.parse(inspect.getsource(kind)).body
    body = tree.body if isinstance(tree, ast.ClassDef) else []
    texts = {}
    for field, text in itertools.pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
            texts[ast.unparse(field.target)] = str(ast.literal_eval(text.value))
    return texts


def _range(field: dataclasses.Field[Any]) -> str:
    low, high = field.metadata.get("low"), field.metadata.get("high")
    if isinstance(field.default, tuple):
        return "each 0 to 1"
    if low is None:
        return "yes or no" if isinstance(field.default, bool) else "any"
    return f"from {_number(low)}" if high is None else f"{_number(low)} to {_number(high)}"


def _number(value: Any) -> str:
    if value is None or isinstance(value, bool | str | tuple):
        return f"`{value!r}`"
    return f"{value:,g}" if isinstance(value, float) else f"{value:,}"


def commands() -> str:
    """Return the help of every command, and the options that many of them share."""
    import typer

    from memoryware.cli.app import EXAMPLES, _typed, app

    parts, shared = [], {}
    for name, command in _each_command(typer.main.get_command(app)):
        own = [one for one in command.params if one.rich_help_panel is None and not one.hidden]
        others = [one for one in command.params if one.rich_help_panel is not None]
        shared |= {one.name: one for one in others}
        usage = " ".join(filter(None, [name, "[OPTIONS]", *map(_argument, own)]))
        texts = [" ".join(one.split()) for one in inspect.cleandoc(command.help).split("\n\n")]
        parts += [f"## {name}", f"```text\nmemoryware {usage}\n```", *texts, _table_of(own)]
        if others:
            parts.append("And [which memory](#which-memory).")
        lines = map(_typed, EXAMPLES.get(name, ()))
        parts.append("".join(f"{line}\n" for line in lines).join(["```text\n", "```"]))
    parts += ["## Which memory", _table_of(list(shared.values()))]
    return "\n\n".join(one for one in parts if one and one != "```text\n```")


def _each_command(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _each_command(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


def _argument(one: Any) -> str:
    if one.opts[0].startswith("-"):
        return ""
    name = f"{one.metavar or one.name.upper()}{'...' if one.nargs == -1 else ''}"
    return name if one.required else f"[{name}]"


def _table_of(params: list[Any]) -> str:
    rows = []
    for one in params:
        name = _argument(one) or ", ".join([*one.opts, *one.secondary_opts])
        kinds = one.default.__class__ if isinstance(one.default, enum.Enum) else ()
        choices = " | ".join(f"{kind}" for kind in kinds)
        value = (
            ""
            if getattr(one, "is_flag", False) or _argument(one)
            else f" {one.metavar or choices or 'VALUE'}"
        )
        said = str(one.help or "")
        if one.envvar:
            said += f" Or `{one.envvar}`."
        if one.default not in (None, False, "", ()) and not _argument(one):
            said += f" Default: `{one.default}`."
        rows.append(f"| `{name}{value}` | {said} |".replace(" | ".join(kinds), r" \| ".join(kinds)))
    return "\n".join(["| option | meaning |", "|---|---|", *rows]) if rows else ""


def measured(table: str) -> str:
    """Return a table of the last run of `benchmarks.tiers` that was kept."""
    sys.path.insert(0, str(_DOCS.parent))
    try:
        from benchmarks.tiers import page
        from benchmarks.tiers.results import MEASURED, Results
    finally:
        sys.path.pop(0)
    make: Callable[[Results], str] = getattr(page, table)
    return make(Results.read(MEASURED))


_MAKERS: Final[dict[str, Callable[..., str]]] = {
    "measured": measured,
    "fragments": fragments,
    "example": example,
    "limits": limits,
    "options": options,
    "errors": errors_tree,
    "events": events,
    "commands": commands,
}

if __name__ == "__main__":
    for page in _DOCS.rglob("*.md"):
        page.write_text(written(page.read_text(encoding="utf-8")), encoding="utf-8")

"""Puts into pages what is made from the code: changelog, options, limits, events, errors.

A page has a slot such as `<!-- made: fragments -->`. What goes there is read from the source
when the site is built, so that it cannot differ from it. Where `<!-- end -->` follows, the
file itself holds it as well, for those who read the file: run this file to write it anew.
"""
# ruff: noqa: INP001 - a hook of mkdocs is a file, not a package

from __future__ import annotations

import ast
import dataclasses
import inspect
import itertools
import re
from collections.abc import Callable
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
    if isinstance(value, bool | str | tuple):
        return f"`{value!r}`"
    return f"{value:,g}" if isinstance(value, float) else f"{value:,}"


_MAKERS: Final[dict[str, Callable[..., str]]] = {
    "fragments": fragments,
    "limits": limits,
    "options": options,
    "errors": errors_tree,
    "events": events,
}

if __name__ == "__main__":
    for page in _DOCS.rglob("*.md"):
        page.write_text(written(page.read_text(encoding="utf-8")), encoding="utf-8")

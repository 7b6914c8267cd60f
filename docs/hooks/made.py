"""Puts into pages what is made from the code: changelog, settings, the tree of errors.

A page has a slot such as `<!-- made: fragments -->`. What goes there is read from the source
when the site is built, so that it cannot differ from it.
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

from memoryware import errors, settings

_SLOT: Final = re.compile(r"<!-- made: (\w+)(?: (\w+))? -->")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Fill the slots of a page."""
    return _SLOT.sub(lambda slot: _MAKERS[slot[1]](*filter(None, [slot[2]])), markdown)


def fragments() -> str:
    """Return one list item per fragment of the changelog, sorted by file name."""
    folder = Path(__file__).parents[1] / "changelog.d"
    found = [one for one in sorted(folder.glob("*.md")) if one.name != "README.md"]
    return "\n".join(f"- {one.read_text(encoding='utf-8').strip()}" for one in found)


def limits(name: str) -> str:
    """Return a table of the limits of one class, with default, range and meaning."""
    kind = getattr(settings, name)
    meanings = _texts_after_fields(kind)
    rows = [
        f"| `{one.name}` | {_number(one.default)} | {_range(one)} | {meanings[one.name]} |"
        for one in dataclasses.fields(kind)
    ]
    head = ["| setting | default | range | meaning |", "|---|---|---|---|"]
    return "\n".join([*head, *rows])


def errors_tree() -> str:
    """Return the tree of errors as a block of code."""
    text = inspect.getdoc(errors) or ""
    tree = text[text.index("MemorywareError\n") :].partition("\n\n")[0]
    return f"```text\n{tree}\n```"


def _texts_after_fields(kind: type[Any]) -> dict[str, str]:
    (tree,) = ast.parse(inspect.getsource(kind)).body
    body = tree.body if isinstance(tree, ast.ClassDef) else []
    texts = {}
    for field, text in itertools.pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
            texts[ast.unparse(field.target)] = str(ast.literal_eval(text.value))
    return texts


def _range(field: dataclasses.Field[Any]) -> str:
    low, high = field.metadata["low"], field.metadata["high"]
    return f"from {_number(low)}" if high is None else f"{_number(low)} to {_number(high)}"


def _number(value: Any) -> str:
    return f"{value:,g}" if isinstance(value, float) else f"{value:,}"


_MAKERS: Final[dict[str, Callable[..., str]]] = {
    "fragments": fragments,
    "limits": limits,
    "errors": errors_tree,
}

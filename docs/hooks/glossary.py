"""Explains special terms where they are used: the glossary is the source of every tooltip.

Only terms that mean something else elsewhere, or nothing, are explained; the others, such as
"group" or "source", would put a mark under every second line.
"""
# ruff: noqa: INP001 - a hook of mkdocs is a file, not a package

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, Final

EXPLAINED: Final = (
    "quarantine",
    "working memory",
    "long-term memory",
    "corroboration",
    "four eyes",
    "provenance",
    "lineage",
    "insight",
    "hidden region",
)
"""Rows of the glossary; a test compares them with it."""
_GLOSSARY: Final = Path(__file__).parents[1] / "glossary.md"
_ROW: Final = re.compile(r"^\| ([^|`]+?) \| (.+?) \|$", re.MULTILINE)
_LINK: Final = re.compile(r"\[([^\]]+)\]\([^)]+\)")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Add the explanations as abbreviations, except to the glossary itself."""
    if page.file.src_uri == "glossary.md":
        return markdown
    return "\n".join([markdown, "", *abbreviations()])


@cache
def abbreviations() -> tuple[str, ...]:
    """Return a definition for each spelling of each term."""
    meanings = dict(_ROW.findall(_GLOSSARY.read_text(encoding="utf-8")))
    lines = []
    for term in EXPLAINED:
        text = _LINK.sub(r"\1", meanings[term]).replace("`", "")
        lines += [f"*[{spelling}]: {text}" for spelling in (term, term[0].upper() + term[1:])]
    return tuple(lines)

"""Puts the fragments of `docs/changelog.d` into the page `changelog.md`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

SLOT = "<!-- fragments -->"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace the slot by one list item per fragment, sorted by file name."""
    if SLOT not in markdown:
        return markdown
    folder = Path(__file__).parents[1] / "changelog.d"
    fragments = [one for one in sorted(folder.glob("*.md")) if one.name != "README.md"]
    items = [f"- {one.read_text(encoding='utf-8').strip()}" for one in fragments]
    return markdown.replace(SLOT, "\n".join(items) or "Nothing yet.")

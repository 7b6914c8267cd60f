r"""Checks the tables of every rendered page: `mkdocs build --strict` fails for a broken one.

A pipe in the code of a cell is written `\|` in a file, for GitHub; Python-Markdown shows the
backslash, so it is removed before a page is rendered.
"""
# ruff: noqa: INP001 - a hook of mkdocs is a file, not a package

from __future__ import annotations

import logging
import re
from html.parser import HTMLParser
from typing import Any, Final

_LOG: Final = logging.getLogger("mkdocs.hooks.tables")
_ROW: Final = re.compile(r"^ *\|.*\| *$", re.MULTILINE)
_CODE: Final = re.compile(r"`[^`\n]+`")
_FENCED: Final = re.compile(r"(^ *```.*?^ *```[ ]*$)", re.MULTILINE | re.DOTALL)
_MARKUP: Final = re.compile(r"^\s*\|.*\|\s*$|\|\s*:?-{3,}", re.MULTILINE)
"""A row of a table that was not recognised as one."""


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Remove the backslash before pipes in code of tables."""
    parts = _FENCED.split(markdown)
    parts[::2] = [_ROW.sub(_plain_pipes, text) for text in parts[::2]]
    return "".join(parts)


def _plain_pipes(row: re.Match[str]) -> str:
    return _CODE.sub(lambda code: code[0].replace(r"\|", "|"), row[0])


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Warn of each broken table; a strict build fails then."""
    for flaw in flaws(html):
        _LOG.warning("%s: %s", page.file.src_uri, flaw)
    return html


def flaws(html: str) -> list[str]:
    """Return what is wrong with the tables of a rendered page.

    Args:
        html: The content of the page.

    Returns:
        One sentence for each flaw, in the order of the page.
    """
    parser = _Tables()
    parser.feed(html)
    parser.close()
    return parser.flaws


class _Tables(HTMLParser):
    """Collects the cells of tables, and looks for pipes and backticks that are left over."""

    def __init__(self) -> None:
        super().__init__()
        self.flaws: list[str] = []
        self._tables: list[list[int]] = []
        """The number of cells in each row of each open table."""
        self._literal = 0
        """How many elements are open whose text is code."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("code", "pre"):
            self._literal += 1
        elif tag == "table":
            self._tables.append([])
        elif tag == "tr" and self._tables:
            self._tables[-1].append(0)
        elif tag in ("td", "th") and self._tables and self._tables[-1]:
            self._tables[-1][-1] += int(dict(attrs).get("colspan") or 1)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("code", "pre"):
            self._literal -= 1
        elif tag == "table" and self._tables:
            rows = self._tables.pop()
            if len(set(rows)) > 1:
                self.flaws.append(f"a table has rows of {sorted(set(rows))} cells")
            if len(rows) < 2:
                self.flaws.append("a table has no rows below its head")

    def handle_data(self, data: str) -> None:
        if self._tables and r"\|" in data:
            self.flaws.append(f"a backslash is shown before a pipe: {data.strip()}")
        if self._literal:
            return
        if self._tables and "`" in data:
            self.flaws.append(f"code is split by a pipe: {data.strip()}")
        if _MARKUP.search(data):
            self.flaws.append(f"a table is shown as text: {data.strip()[:80]}")

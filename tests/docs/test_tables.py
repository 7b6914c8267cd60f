"""Tables of the pages render as tables, here and where the repository is shown."""

from __future__ import annotations

import re

import pytest

from docs.pages import ROOT, pages

_FENCE = re.compile(r"^ *(```|~~~)")
_SEPARATOR = re.compile(r"\|( *:?-+:? *\|)+")
_PIPE = re.compile(r"(?<!\\)\|")  # splits a cell in code as well, as GitHub does


def _broken_tables(text: str) -> list[str]:
    """Return what keeps the tables of a page from rendering, with the line, counted from 1."""
    broken = []
    rows: list[str] = []  # of the table that is being read
    before, in_code = "", False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if _FENCE.match(line):
            in_code = not in_code
        row = line.strip()
        if row.startswith("|") and not in_code:
            if not rows and before and not before.startswith("#"):
                broken.append(f"line {number}: no blank line before the table")
            if rows and len(_PIPE.findall(row)) != len(_PIPE.findall(rows[0])):
                broken.append(f"line {number}: not as many cells as the head; write a pipe as \\|")
            if len(rows) == 1 and not _SEPARATOR.fullmatch(row):
                broken.append(f"line {number}: no row of dashes below the head")
            if not row.endswith("|"):
                broken.append(f"line {number}: the row is not closed")
            rows.append(row)
        else:
            if len(rows) == 1:
                broken.append(f"line {number - 1}: a table of one row")
            if rows and row:
                broken.append(f"line {number}: no blank line after the table")
            rows = []
        before = row
    return broken


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_tables_of_a_page_render(page):
    assert _broken_tables(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("| a | b |\n| 1 | 2 |\n", "no row of dashes"),
        ("| a | b |\n|---|---|\n| `x | y` | 2 |\n", "not as many cells"),
        ("| a | b |\n|---|\n| 1 | 2 |\n", "not as many cells"),
        ("| a | b |\n|---|---|\n| 1 | 2\n", "not closed"),
        ("Text.\n| a | b |\n|---|---|\n| 1 | 2 |\n", "no blank line before"),
        ("| a | b |\n|---|---|\n| 1 | 2 |\nText.\n", "no blank line after"),
        ("| a | b |\n", "one row"),
    ],
)
def test_a_broken_table_is_found(text, reason):
    assert reason in "; ".join(_broken_tables(text))


def test_a_sound_table_and_pipes_in_code_are_no_broken_tables():
    table = "# Head\n| a | b |\n|:--|--:|\n| `x \\| y` | 2 |\n\n```text\n| not a table\n```\n"
    assert _broken_tables(table) == []

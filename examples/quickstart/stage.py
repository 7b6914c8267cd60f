"""Prints the demo: numbered scenes, quoted text, a diff, and what was proven."""

from __future__ import annotations

import difflib
import os
import sys
import textwrap

_INDENT = "   "
_WIDTH = 78


class Stage:
    """Prints to the standard output, in colour on a terminal."""

    def __init__(self) -> None:
        self._colours = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        self._scenes = 0
        self._failed = False

    @property
    def failed(self) -> bool:
        """Whether a check has failed."""
        return self._failed

    def part(self, title: str) -> None:
        print(f"\n{self._in(title, 1, 36)}\n")

    def scene(self, title: str) -> None:
        self._scenes += 1
        self.part(f"{self._scenes}  {title}")

    def tell(self, text: str) -> None:
        for line in textwrap.wrap(text, _WIDTH - len(_INDENT)):
            print(f"{_INDENT}{line}")

    def quote(self, text: str) -> None:
        bar = self._in("│", 2)
        for line in text.splitlines():
            for row in textwrap.wrap(line, _WIDTH - 4) or [""]:
                print(f"{_INDENT}{bar} {row}".rstrip())

    def say(self, who: str, text: str) -> None:
        first, *others = [
            row
            for line in text.splitlines() or [""]
            for row in textwrap.wrap(line, _WIDTH - 10) or [""]
        ]
        print(f"{_INDENT}{self._in(f'{who:<6}', 1)} {first}")
        for line in others:
            print(f"{_INDENT}{'':<6} {line}")

    def diff(self, before: str, after: str, name: str) -> None:
        rows = difflib.unified_diff(
            before.splitlines(), after.splitlines(), f"{name} before", f"{name} after", "", "", 1
        )
        for row in rows:
            tint = {"+": 32, "-": 31, "@": 36}.get(row[0], 0)
            print(f"{_INDENT}{self._in(row.rstrip(), tint)}")

    def check(self, claim: str, *, holds: bool) -> None:
        self._failed |= not holds
        mark = self._in("yes", 32) if holds else self._in("NO ", 1, 31)
        print(f"{_INDENT}{mark}  {claim}")

    def rows(self, rows: dict[str, str]) -> None:
        wide = max(map(len, rows))
        for left, right in rows.items():
            print(f"{_INDENT}{left:<{wide}}   {self._in(right, 2)}")

    def _in(self, text: str, *codes: int) -> str:
        if not self._colours:
            return text
        return f"\033[{';'.join(map(str, codes))}m{text}\033[0m"

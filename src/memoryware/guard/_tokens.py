"""Tokens that are known by their form: by what they begin with, or by how they are built."""

from __future__ import annotations

import re
import string
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from memoryware.guard import _built, _plausible
from memoryware.guard._vendors import EVEN, LED, VENDORS, WIDE
from memoryware.guard.finding import Span

_SIGNS: Final = string.ascii_letters + string.digits + "_.~-"
_RUN: Final = re.compile(r"[A-Za-z0-9_.~-]{16,}")
_DIGIT: Final = re.compile("[0-9]")
_INNER: Final = re.compile(r"(?<=[_.~-])[A-Za-z0-9]")
_LONGEST_LEFT: Final = 255
"""Characters before a seam at which a token may begin."""
_START: Final = 2
"""Characters of a prefix by which rules are looked up."""


@dataclass(frozen=True, slots=True)
class _Rule:
    kind: str
    prefix: str
    body: str

    def end(self, text: str, at: int) -> int | None:
        """Return where the token that begins here ends, if one does."""
        if not text.startswith(self.prefix, at):
            return None
        match = _pattern(self.body).match(text, at + len(self.prefix))
        if match is None:
            return None
        body = match.group()
        if _plausible.stands_in(body, names=False) or _plausible.in_series(body):
            return None
        return match.end() if self.kind in EVEN or _varied(body) else None


@cache
def _pattern(body: str) -> re.Pattern[str]:
    """Compile a pattern on its first use: there are many, and few are ever needed."""
    return re.compile(f"(?:{body})(?![A-Za-z0-9])")


def _varied(body: str) -> bool:
    words = not body.isalnum() or body.islower()
    return _plausible.bits(body) >= 2.6 and not (words and _plausible.wordlike(body))


def _by_start() -> dict[str, list[_Rule]]:
    rules = defaultdict(list)
    for kind, prefixes, body in VENDORS:
        for prefix in prefixes.split():
            rules[prefix[:_START]].append(_Rule(kind, prefix, body))
    for same in rules.values():
        same.sort(key=lambda rule: -len(rule.prefix))
    return dict(rules)


_BY_START: Final = _by_start()


def runs(text: str) -> list[tuple[int, int]]:
    """Return the places that are long enough without a blank to be a token."""
    return [run.span() for run in _RUN.finditer(text)]


def find(text: str, places: list[tuple[int, int]]) -> Iterator[Span]:
    """Return the tokens of known services, and those that are built like such a token.

    Args:
        text: What is looked through.
        places: Its `runs`.
    """
    yield from _wide(text)
    for start, end in places:
        if text[start:end].islower() and not _DIGIT.search(text, start, end):
            continue  # words
        found = False
        for span in _known(text, start, end):
            found = True
            yield span
        if not found:
            yield from _built.find(text, start, end)


def known(text: str, seams: Iterable[int]) -> Iterator[Span]:
    """Return the tokens of known services that reach over one of these places."""
    behind = 0
    for seam in seams:
        left = text[max(0, seam - _LONGEST_LEFT) : seam]
        start = seam - len(left) + len(left.rstrip(_SIGNS))
        run = _RUN.match(text, start)
        if run is not None and behind <= start < seam < run.end():
            behind = run.end()
            yield from _known(text, start, behind)


def _wide(text: str) -> Iterator[Span]:
    """Return the tokens that may have signs in them at which a run ends."""
    if "/" not in text and "+" not in text:
        return
    for prefix in WIDE:
        at = text.find(prefix)
        while at >= 0:
            found = None if text[max(0, at - 1) : at].isalnum() else _begins(text, at)
            if found is not None:
                yield found
            at = text.find(prefix, at + len(prefix) if found is None else found[2])


def _known(text: str, start: int, end: int) -> Iterator[Span]:
    behind = start
    for at in (start, *(one.start() for one in _INNER.finditer(text, start + 1, end))):
        found = _begins(text, at) if at >= behind else None
        if found is not None:
            yield found
            behind = found[2]


def _begins(text: str, at: int) -> Span | None:
    for rule in _BY_START.get(text[at : at + _START], ()):
        end = rule.end(text, at)
        if end is not None:
            start = at
            while rule.kind in LED and start and text[start - 1] in "0123456789:":
                start -= 1
            return rule.kind, start, end
    return None

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
from memoryware.guard._scan import Scan
from memoryware.guard._vendors import EVEN, LED, VENDORS, WIDE
from memoryware.guard.finding import Span

_SIGNS: Final = string.ascii_letters + string.digits + "_.~-"
_RUN: Final = re.compile(r"[A-Za-z0-9_.~-]{16,}")
_DIGIT: Final = re.compile("[0-9]")
_INNER: Final = re.compile(r"(?<=[_.~-])[A-Za-z0-9]")
_LONGEST_LEFT: Final = 255
"""Characters before a seam at which a token may begin."""
_JUDGED: Final = 30
_BUILT: Final = 15
"""Steps for judging what begins like a token, and what is only as long as one."""
_START: Final = 2
"""Characters of a prefix by which rules are looked up."""


@dataclass(frozen=True, slots=True)
class _Rule:
    kind: str
    prefix: str
    body: str

    def end(self, scan: Scan, at: int) -> int | None:
        """Return where the token that begins here ends, if one does."""
        text = scan.text
        if not text.startswith(self.prefix, at):
            return None
        match = _pattern(self.body).match(text, at + len(self.prefix))
        if match is None:
            return None
        if not scan.afford_token(at, _JUDGED):
            return match.end()  # among so many that begin like tokens, rather one too many
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


def find(scan: Scan, places: list[tuple[int, int]]) -> Iterator[Span]:
    """Return the tokens of known services, and those that are built like such a token.

    Args:
        scan: The scan of the text.
        places: Its `runs`.
    """
    text = scan.text
    yield from _wide(scan)
    for start, end in places:
        if text[start:end].islower() and not _DIGIT.search(text, start, end):
            continue  # words
        found = False
        for span in _known(scan, start, end):
            found = True
            yield span
        if not found and scan.afford_token(start, _BUILT):
            yield from _built.find(text, start, end)


def known(scan: Scan, seams: Iterable[int]) -> Iterator[Span]:
    """Return the tokens of known services that reach over one of these places."""
    text, behind = scan.text, 0
    for seam in seams:
        left = text[max(0, seam - _LONGEST_LEFT) : seam]
        start = seam - len(left) + len(left.rstrip(_SIGNS))
        run = _RUN.match(text, start)
        if run is not None and behind <= start < seam < run.end():
            behind = run.end()
            yield from _known(scan, start, behind)


def _wide(scan: Scan) -> Iterator[Span]:
    """Return the tokens that may have signs in them at which a run ends."""
    text = scan.text
    if "/" not in text and "+" not in text:
        return
    for prefix in WIDE:
        at = text.find(prefix)
        while at >= 0:
            found = None if text[max(0, at - 1) : at].isalnum() else _begins(scan, at)
            if found is not None:
                yield found
            at = text.find(prefix, at + len(prefix) if found is None else found[2])


def _known(scan: Scan, start: int, end: int) -> Iterator[Span]:
    text, behind = scan.text, start
    for at in (start, *(one.start() for one in _INNER.finditer(text, start + 1, end))):
        found = _begins(scan, at) if at >= behind else None
        if found is not None:
            yield found
            behind = found[2]


def _begins(scan: Scan, at: int) -> Span | None:
    text = scan.text
    for rule in _BY_START.get(text[at : at + _START], ()):
        end = rule.end(scan, at)
        if end is not None:
            start = at
            while rule.kind in LED and start and text[start - 1] in "0123456789:":
                start -= 1
            return rule.kind, start, end
    return None

"""The detector of secrets: one look for what there could be, then rules only where it is.

The time is linear in the text: every pattern looks at a bounded number of characters, and
starts only where its first word stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from memoryware.guard import _assigned, _cards, _forms, _rough, _said, _tokens
from memoryware.guard._mentions import Mention, mentions
from memoryware.guard._scan import Scan
from memoryware.guard._views import View, joined, plain
from memoryware.guard.finding import Span

_ASSIGNED: Final = 6
"""What it costs to look for a value that is assigned to a word."""
_BROKEN_OFF: Final = ("\n", "\r", '"', "'", "`", "\\")
"""What stands behind the first piece of a token that goes on elsewhere."""


def find(text: str) -> Iterator[Span]:
    """Return kind, start and end of every secret; what names a kind best comes first."""
    view = plain(text)
    runs = _tokens.runs(view.text)
    yield from _placed(view, _found(Scan(view.text, view.text.lower()), runs))
    if any(view.text[end : end + 1] in _BROKEN_OFF for _, end in runs):
        pieces, seams = joined(view)
        yield from _placed(pieces, _tokens.known(Scan(pieces.text, ""), seams))


def _placed(view: View, spans: Iterator[Span]) -> Iterator[Span]:
    for kind, start, end in spans:
        yield kind, *view.span(start, end)


def _found(scan: Scan, runs: list[tuple[int, int]]) -> Iterator[Span]:
    yield from _tokens.find(scan, runs)
    yield from _forms.find(scan.text, scan.low)
    yield from _cards.find(scan.text)
    behind = 0
    for mention in mentions(scan):
        if mention.start < behind:
            continue  # a word inside a secret
        spans = _beside(scan, mention)
        behind = max([behind, *(end for _, _, end in spans)])
        yield from spans
    yield from _rough.find(scan)


def _beside(scan: Scan, mention: Mention) -> list[Span]:
    """Return the secrets beside a word for one."""
    if not scan.afford(mention.start, _ASSIGNED):
        return []
    spans = [*_assigned.find(scan, mention)]
    if spans:
        return spans
    said = _said.find(scan, mention)
    return [said] if said is not None else []

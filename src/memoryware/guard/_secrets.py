"""The detector of secrets: one look for what there could be, then rules only where it is.

The time is linear in the text: every pattern looks at a bounded number of characters, and
starts only where its first word stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from memoryware.guard import _assigned, _forms, _said, _tokens
from memoryware.guard._mentions import mentions
from memoryware.guard._views import View, joined, plain
from memoryware.guard.finding import Span

_BROKEN_OFF: Final = ("\n", "\r", '"', "'", "`", "\\")
"""What stands behind the first piece of a token that goes on elsewhere."""


def find(text: str) -> Iterator[Span]:
    """Return kind, start and end of every secret; what names a kind best comes first."""
    view = plain(text)
    runs = _tokens.runs(view.text)
    yield from _placed(view, _found(view.text, runs))
    if any(view.text[end : end + 1] in _BROKEN_OFF for _, end in runs):
        pieces, seams = joined(view)
        yield from _placed(pieces, _tokens.known(pieces.text, seams))


def _placed(view: View, spans: Iterator[Span]) -> Iterator[Span]:
    for kind, start, end in spans:
        yield kind, *view.span(start, end)


def _found(text: str, runs: list[tuple[int, int]]) -> Iterator[Span]:
    low = text.lower()
    yield from _tokens.find(text, runs)
    yield from _forms.find(text, low)
    first = last = 0
    for mention in mentions(text, low):
        if first <= mention.start < last:
            continue  # a word inside a secret
        spans = [*_assigned.find(text, mention)]
        if not spans:
            said = _said.find(text, mention)
            spans = [said] if said is not None else []
        if spans:
            _, first, last = spans[-1]
        yield from spans

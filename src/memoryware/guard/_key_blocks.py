"""Private keys in blocks of lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memoryware.guard import _plausible
from memoryware.guard.finding import Span

_BEGIN: Final = re.compile(r"-{4,5} ?BEGIN (?P<label>[A-Z0-9 .]{0,60})-{4,5}")
_END: Final = re.compile(r"-{4,5} ?END [A-Z0-9 .]{0,60}-{4,5}")
_SECRET: Final = re.compile(r"PRIVATE KEY|STATIC KEY")
_LINES: Final = re.compile(
    r"""
    (?: (?: \\[nrt] | [\s"'+,>] )*
        (?: [A-Za-z-]{4,20}:\ [^\n]{1,80}(?=\n)                     # Proc-Type: 4,ENCRYPTED
          | [A-Za-z0-9+/=]{20,} | [A-Za-z0-9+/]{1,20}={1,2} ) )*
    """,
    re.VERBOSE,
)
_PUTTY: Final = re.compile(r"Private-Lines:\s*\d+\s+(?P<value>[A-Za-z0-9+/=\s]{40,8000})")
_LONGEST: Final = 20_000
"""Characters of a block."""
_FEWEST: Final = 24
"""Letters and digits of a key; less is an example."""


def find(text: str, low: str) -> Iterator[Span]:
    """Return private keys from their first line to their last, or as far as they go.

    Args:
        text: What is looked through.
        low: The same in lower case, to see what can be there.
    """
    if "-begin " in low or "- begin " in low:
        yield from _blocks(text)
    if "private-lines:" in low:
        for match in _PUTTY.finditer(text):
            yield "private key", *match.span("value")


def _blocks(text: str) -> Iterator[Span]:
    position = 0
    while begin := _BEGIN.search(text, position):
        position = begin.end()
        if not _SECRET.search(begin["label"]):
            continue
        limit = begin.end() + _LONGEST
        following = _BEGIN.search(text, position, limit)
        stop = following.start() if following else limit
        end = _END.search(text, position, stop)
        lines = None if end else _LINES.match(text, position, stop)
        last = end.start() if end else lines.end() if lines else position
        position = end.end() if end else last
        body = text[begin.end() : last]
        if sum(map(str.isalnum, body)) >= _FEWEST and not _plausible.stands_in(body.strip()):
            yield "private key", begin.start(), position

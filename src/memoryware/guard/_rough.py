"""Values in a place that has too many words for secrets to look at each of them.

Such a place is no honest prose. Rather one value too many is taken for a secret there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memoryware.guard import _plausible
from memoryware.guard._scan import Scan
from memoryware.guard._values import trimmed
from memoryware.guard.finding import Span

_VALUE: Final = re.compile(
    r"(?<![A-Za-z0-9])(?=[A-Za-z!@#$%^&*+_.-]{0,40}[0-9])(?=[0-9!@#$%^&*+_.-]{0,40}[A-Za-z])"
    r"[A-Za-z0-9!@#$%^&*+_.-]{8,200}"
)
_MOST_JUDGED: Final = 16
"""Values of a kilobyte that are judged one by one."""
_KIND: Final = "password"


def find(scan: Scan) -> Iterator[Span]:
    """Return what may be a secret where the budget is spent."""
    for start, end in scan.unread():
        for count, match in enumerate(_VALUE.finditer(scan.text, start, end + 200)):
            if match.start() >= end:
                break
            span = trimmed(scan.text, *match.span())
            if count >= _MOST_JUDGED or _may_be(scan.text[slice(*span)]):
                yield _KIND, *span


def _may_be(value: str) -> bool:
    other = _plausible.stands_in(value) or _plausible.is_address(value)
    return not other and not _plausible.wordlike(value)

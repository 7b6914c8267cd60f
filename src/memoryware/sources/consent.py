"""A person's consent, known to everything below the call that it was given for."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

_AGREED: ContextVar[bool] = ContextVar("memoryware_agreed", default=False)
_CONTEXT_LINES: Final = 2


@contextmanager
def agreed() -> Iterator[None]:
    """Let changes pass inside the block that otherwise need a person's consent.

    For people and their scripts; a middleware opens it around a call that was approved. What
    is read-only stays so, and secrets are refused all the same.
    """
    reset = _AGREED.set(True)
    try:
        yield
    finally:
        _AGREED.reset(reset)


def is_agreed() -> bool:
    """Say whether a person has agreed to what is going on."""
    return _AGREED.get()


def difference(path: str, before: str | None, after: str | None, most_lines: int) -> str:
    """Return a unified diff for a person to judge; what is left out of it is said.

    Args:
        path: What the file is called in it.
        before: The text that is there, None for no file.
        after: The text that would be there, None for a deletion.
        most_lines: Lines that are shown at most.
    """
    old, new = (before or "").splitlines(), (after or "").splitlines()
    names = (
        path if before is not None else "(new file)",
        path if after is not None else "(deleted)",
    )
    lines = list(difflib.unified_diff(old, new, *names, lineterm="", n=_CONTEXT_LINES))
    shown = lines[:most_lines]
    if len(lines) > most_lines:
        shown.append(f"[{len(lines) - most_lines} more lines of the difference are not shown]")
    return "\n".join(shown)

"""The difference between two versions of a file, as `diff -u` tells it."""

from __future__ import annotations

import difflib

from memoryware.backends import _text


def unified(old: bytes, new: bytes, before: str, after: str) -> str:
    """Return what `diff -u` says of two texts."""
    if old == new:
        return ""
    if _text.is_binary(old) or _text.is_binary(new):
        return f"{before} and {after} differ and are no text\n"
    first, second = (_text.decode(one).text.splitlines(keepends=True) for one in (old, new))
    lines = difflib.unified_diff(first, second, before, after)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )

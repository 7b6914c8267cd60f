"""Putting back what was made unreadable in a kept text, from a file that still has it."""

from __future__ import annotations

from collections import defaultdict, deque
from difflib import SequenceMatcher

Lines = list[str]


def refilled(kept: str, there: str, there_kept: str) -> str:
    """Return a kept text with its unreadable lines as they stand in the file now.

    What comes out is only right if its digest is that of the version: lines may have gone,
    and other lines may look the same once they are unreadable.

    Args:
        kept: The text of a version, parts of which were made unreadable.
        there: The text of the file now.
        there_kept: The same, made unreadable in the same way.
    """
    readable = _readable(there.splitlines(keepends=True), there_kept.splitlines(keepends=True))
    found: Lines = []
    lines = kept.splitlines(keepends=True)
    place = 0
    while place < len(lines):
        for size in sorted({len(block) for block in readable}, reverse=True):
            block = tuple(lines[place : place + size])
            if readable.get(block):
                found += readable[block].popleft()
                place += size
                break
        else:
            found.append(lines[place])
            place += 1
    return "".join(found)


def _readable(there: Lines, kept: Lines) -> dict[tuple[str, ...], deque[Lines]]:
    """Return the readable lines of each unreadable block, in their order in the file."""
    blocks: dict[tuple[str, ...], deque[Lines]] = defaultdict(deque)
    matcher = SequenceMatcher(None, there, kept, autojunk=False)
    for kind, start, end, first, last in matcher.get_opcodes():
        if kind != "replace":
            continue
        if end - start == last - first:
            for one, other in zip(there[start:end], kept[first:last], strict=True):
                blocks[other,].append([one])
        else:
            blocks[tuple(kept[first:last])].append(there[start:end])
    return blocks

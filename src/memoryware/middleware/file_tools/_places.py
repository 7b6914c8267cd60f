"""Changing a file through `edit` as if comparing and swapping, on any backend.

`edit` refuses an old text that is not there just once. So an old text that takes in
enough of its surroundings to be unique makes an edit that happens at this place, or
not at all if somebody else was faster.
"""

from __future__ import annotations

from memoryware.backends._finding import to_lf
from memoryware.backends._text import decode
from memoryware.errors import TextRefused
from memoryware.middleware.file_tools._access import Access


def text_of(path: str, data: bytes) -> str:
    """Return the text of a file with LF line endings.

    Raises:
        TextRefused: If it is not text, so that adding to it could harm it.
    """
    decoded = decode(data)
    if decoded.lossy:
        raise TextRefused(path, f"'{path}' is not valid {decoded.encoding} text; nothing was done")
    return to_lf(decoded.text)


async def put_in(
    access: Access, path: str, text: str, place: tuple[int, int], new: str
) -> str | None:
    """Replace a place in the file that had this text; return the error, if any."""
    start, end = place
    first, last = unique_around(text, start, end)
    old = text[first:last]
    changed = text[first:start] + to_lf(new) + text[end:last]
    return (await access.files.edit(access.via, path, path, old, changed, every=False)).error


def unique_around(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the smallest stretch of whole lines around a place that is there only once."""
    reach = 0
    while text.find(text[start:end]) < start or text.find(text[start:end], start + 1) >= 0:
        for _ in range(max(reach, 1)):
            start = text.rfind("\n", 0, max(start - 1, 0)) + 1
            end = text.find("\n", end + 1)
            end = len(text) if end < 0 else end
        reach = max(reach * 2, 1)
    return start, end

"""Results as text that fits: lists of paths, and the line that says what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from memoryware.guard import printable_text
from memoryware.middleware.file_tools._access import Access
from memoryware.middleware.file_tools._tool import ToolAnswer

_STOPPED: Final = (
    "[The search stopped before its end, so there may be more. Give a narrower pattern or path.]"
)
_ERROR_AT_MOST: Final = 1000
"""Characters of an error that comes with what was found elsewhere."""


def shortcomings(*, cut: bool) -> list[str]:
    """Return the lines that say why a search may have found too little."""
    return [_STOPPED] * cut


def search_failed(access: Access, error: str) -> ToolAnswer:
    """Answer that a search failed; where there are rules without the names in the error."""
    if access.rules:
        error = "the search could not be done, or not everywhere. Check the path with ls"
    return ToolAnswer(error, ok=False)


def found_in_part(access: Access, answer: ToolAnswer, error: str | None) -> ToolAnswer:
    """Return the answer of a search, as an error if some places could not be searched.

    A model, and whoever counts failed calls, must not take such a result for the whole.
    """
    if not error:
        return answer
    failure = search_failed(access, error[:_ERROR_AT_MOST]).content
    return ToolAnswer(f"{failure}\n\nFound elsewhere:\n{answer.content}", ok=False)


def path_list(access: Access, rows: Sequence[Any], notes: Sequence[str] = ()) -> ToolAnswer:
    """Answer with the paths of a result, in its order, and with notes below them."""
    paths = [str(row["path"]) for row in rows]
    if not paths:
        return ToolAnswer("\n".join(["No files found", *notes]))
    shown = access.fit([repr(path) for path in paths], len(", "))
    notes = list(notes)
    if shown < len(paths):
        notes.append(f"[Only the first {shown} of {len(paths)} paths are shown. Ask for fewer.]")
    listed = printable_text(str(paths[:shown]))
    return ToolAnswer("\n".join([listed, *notes]))


def line_list(access: Access, lines: Sequence[str], notes: Sequence[str]) -> ToolAnswer:
    """Answer with lines, and with notes below them."""
    shown = access.fit(lines, 1)
    kept = [line[: access.budget] for line in lines[:shown]]
    if shown < len(lines):
        notes = [*notes, f"[{len(lines) - shown} more lines do not fit here. Narrow the search.]"]
    return ToolAnswer("\n".join([*kept, *([""] if notes else []), *notes]))


def changed_meanwhile(path: str) -> ToolAnswer:
    """Answer that a file is no longer what it was when the model decided."""
    return ToolAnswer(
        f"'{path}' was changed by somebody else after you asked for this, so nothing was done."
        " Read it again and decide anew",
        ok=False,
    )

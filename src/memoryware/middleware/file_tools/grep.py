"""The tool `grep`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from memoryware.backends._match import compile_glob, compile_grep
from memoryware.guard import printable_name
from memoryware.middleware.file_tools._access import Access
from memoryware.middleware.file_tools._answers import (
    found_in_part,
    line_list,
    search_failed,
    shortcomings,
)
from memoryware.middleware.file_tools._tool import (
    FileTool,
    FileToolArguments,
    ToolAnswer,
    ToolOptions,
)

_REGULAR_EXPRESSION: Final = re.compile(
    r"\w\|\w"  # either, or; not the ` | ` of a table and not the `||` of code
    r"|\.[*+]"
    r"|\\[.wWdDsSbB(){}\[\]|+*?^$]"
    r"|\[\^?\w-\w"  # a range of characters
    r"|\(\?[:=!<iP]"
    r"|^\^\w|\w\$$"
)
"""What people write in a regular expression and hardly in a text that they look for."""
_LITERAL: Final = (
    "[The text is looked for exactly as written, and this one reads like a regular expression."
    " Look for one plain piece of text at a time.]"
)


class GrepArguments(FileToolArguments):
    """What `grep` takes."""

    pattern: Annotated[
        str, Field(description="Text to look for, exactly as written (no regular expression)")
    ]
    path: Annotated[
        str | None, Field(description="Folder or file to search; everything if not given")
    ] = None
    glob: Annotated[
        str | None, Field(description="Search only files with such a name, as in *.md")
    ] = None
    output_mode: Annotated[
        Literal["files_with_matches", "content", "count"],
        Field(description="Answer with file paths, with the lines found, or with their number"),
    ] = "files_with_matches"
    max_count: Annotated[
        int | None, Field(gt=0, description="Stop after this many lines found, over all files")
    ] = None


async def _grep(access: Access, _: ToolOptions, given: GrepArguments) -> ToolAnswer:
    compile_grep(given.pattern)
    if given.glob is not None:
        compile_glob(given.glob)
    folder = None if given.path is None else await access.enter(given.path)
    wanted = given.max_count or access.limits.grep_matches
    # With rules the backend must not stop early: what it found may all be hidden.
    most = None if access.rules else wanted
    result = await access.files.grep(access.via, given.pattern, folder, given.glob, most)
    found = await access.visible(result.matches or [])
    if result.error and not found:
        return search_failed(access, result.error)
    cut = result.truncated or len(found) > wanted
    notes = shortcomings(cut=cut)
    if not found:
        if not cut and not result.matches and _REGULAR_EXPRESSION.search(given.pattern):
            notes.append(_LITERAL)
        return ToolAnswer("\n".join(["No matches found", *notes]))
    answer = line_list(access, _lines(access, given, found[:wanted]), notes)
    return found_in_part(access, answer, result.error)


def _lines(access: Access, given: GrepArguments, found: Sequence[Any]) -> list[str]:
    counts = Counter(match["path"] for match in found)
    if given.output_mode == "files_with_matches":
        return [printable_name(path) for path in counts]
    if given.output_mode == "count":
        return [f"{printable_name(path)}: {count}" for path, count in counts.items()]
    lines, here = [], None
    for match in found:
        if match["path"] != here:
            here = match["path"]
            lines.append(f"{printable_name(here)}:")
        lines.append(f"  {match['line']}: {_part(match['text'], given.pattern, access)}")
    return lines


def _part(text: str, pattern: str, access: Access) -> str:
    """Cut a long line to the part around the match."""
    room = access.limits.line_chars
    if len(text) <= room:
        return text
    start = max(0, min(text.find(pattern) - room // 2, len(text) - room))
    end = start + room
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


GREP = FileTool(
    name="grep",
    description=(
        "Find a piece of text in files and say in which files it is, on which lines, or how"
        " often. The text is taken literally, and upper and lower case differ."
    ),
    arguments=GrepArguments,
    work=_grep,
)

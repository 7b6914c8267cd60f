"""The tool `read_file`."""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Annotated, Any, Final, Self

from pydantic import Field, create_model

from memoryware.backends._text import is_media
from memoryware.backends.protocol import ReadResult
from memoryware.middleware.file_tools._access import Access
from memoryware.middleware.file_tools._tool import (
    FilePath,
    FileTool,
    FileToolArguments,
    ToolAnswer,
    ToolOptions,
    failed,
)
from memoryware.settings import ToolLimits

_EMPTY: Final = "The file is there, but it is empty."
_NO_LINES: Final = "No lines were read, because limit is not above 0. Ask for at least 1 line."
_LIMIT: Final = "Number of lines to read"


class ReadArguments(FileToolArguments):
    """What `read_file` takes."""

    file_path: FilePath
    offset: Annotated[int, Field(description="Lines to skip; 0 starts at the first line")] = 0
    limit: Annotated[int, Field(description=_LIMIT)] = ToolLimits().read_lines

    @classmethod
    def under(cls, limits: ToolLimits) -> type[Self]:
        """Return the arguments with the default number of lines of these limits."""
        if limits.read_lines == cls.model_fields["limit"].default:
            return cls
        limit: Any = (int, Field(default=limits.read_lines, description=_LIMIT))
        return create_model(cls.__name__, __base__=cls, limit=limit)


async def _read(access: Access, _: ToolOptions, given: ReadArguments) -> ToolAnswer:
    path = await access.admit("read", given.file_path)
    result = await access.files.read(access.via, given.file_path, path, given.offset, given.limit)
    if result.error:
        return failed(result.error)
    if result.no_lines_requested:
        return ToolAnswer(_NO_LINES)
    data: Mapping[str, Any] = result.file_data or {}
    content = data.get("content", "")
    text = "\n".join(content) if isinstance(content, list) else str(content)
    if data.get("encoding") == "base64":
        return _media(access, given.file_path, text)
    return _window(access, text, result) if text else ToolAnswer(_EMPTY)


def _window(access: Access, text: str, result: ReadResult) -> ToolAnswer:
    """Answer with whole lines under a header that says which, and where to go on."""
    lines = text.removesuffix("\n").split("\n")
    start, total, following = result.start_line, result.total_lines, result.next_offset
    shown, notes = access.fit(lines, 1), []
    if len(lines[0]) > access.budget:
        notes.append(
            f"[The line has {len(lines[0])} characters, only the first {access.budget} are"
            " shown. Use grep to find something in the rest.]"
        )
    elif shown < len(lines):
        notes.append(f"[Only {shown} lines fit here. Go on with a higher offset.]")
    body = "\n".join(line[: access.budget] for line in lines[:shown])
    if start is None:
        return ToolAnswer("\n".join([*notes, body]))
    if shown < len(lines):
        following = start - 1 + shown
    header = f"@@ lines {start}-{start + shown - 1}"
    header += "" if total is None else f" of {total}"
    header += "" if following is None else f" | next offset {following}"
    return ToolAnswer("\n".join([*notes, f"{header} @@", body]))


def _media(access: Access, path: str, content: str) -> ToolAnswer:
    """Answer with a content block that a model can look at or listen to.

    Graphs pass on blocks of the types `image` and `file`, and turn others into text.
    """
    kind = mimetypes.guess_type(PurePosixPath(path).name)[0]
    if kind is None or not is_media(path):
        return failed(f"'{path}' is not text and not a picture, sound, video or document")
    size = len(content) * 3 // 4
    if size > access.limits.media_bytes:
        most = access.limits.media_bytes
        return failed(f"'{path}' has about {size} bytes; files above {most} bytes are not shown")
    block = "image" if kind.startswith("image/") else "file"
    return ToolAnswer([{"type": block, "base64": content, "mime_type": kind}])


READ = FileTool(
    name="read_file",
    description=(
        "Read a file, or a part of it. The text stands below a line `@@ lines ... @@` that says"
        " which lines these are, of how many, and the offset at which to go on; that line is"
        " not in the file. Pictures, sound and documents are shown as such."
    ),
    arguments=ReadArguments,
    work=_read,
)

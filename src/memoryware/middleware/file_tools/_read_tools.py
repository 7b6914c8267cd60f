"""The tools that read files: ls, read_file, glob, grep."""

from __future__ import annotations

import mimetypes
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AliasChoices, Field, create_model

from memoryware.backends._patterns import compile_glob, compile_grep
from memoryware.backends._text import is_media
from memoryware.backends.protocol import ReadResult
from memoryware.guard import printable_name
from memoryware.middleware._own_tools import ToolAnswer
from memoryware.middleware.file_tools._access import Access
from memoryware.middleware.file_tools._tool import (
    FilePath,
    FileTool,
    FileToolArguments,
    ToolOptions,
    failed,
    line_list,
    partial_answer,
    path_list,
    search_failed,
    search_notes,
)
from memoryware.settings import ToolLimits


class LsArguments(FileToolArguments):
    """What `ls` takes."""

    path: Annotated[
        str,
        Field(
            validation_alias=AliasChoices("path", "file_path"),
            description="Folder to list, from the root; / is the root itself",
        ),
    ] = "/"


async def _ls(access: Access, _: ToolOptions, arguments: LsArguments) -> ToolAnswer:
    folder = await access.resolve_folder(arguments.path)
    result = await access.files.ls(access.runner, arguments.path, folder)
    if result.error:
        return failed(result.error)
    return path_list(access, await access.visible(result.entries or []))


LS = FileTool(
    name="ls",
    description=(
        "List what is directly in one folder. Folders end in a slash. To search through all"
        " folders use glob (names) or grep (text)."
    ),
    arguments=LsArguments,
    work=_ls,
)


_EMPTY: Final = "The file is there, but it is empty."
_NO_LINES: Final = "No lines were read, because limit is not above 0. Ask for at least 1 line."
_LIMIT: Final = "Number of lines to read"


class ReadArguments(FileToolArguments):
    """What `read_file` takes."""

    file_path: FilePath
    offset: Annotated[int, Field(description="Lines to skip; 0 starts at the first line")] = 0
    limit: Annotated[int, Field(description=_LIMIT)] = ToolLimits().read_lines

    @classmethod
    def with_limits(cls, limits: ToolLimits) -> type[Self]:
        """Return the arguments with the default number of lines of these limits."""
        if limits.read_lines == cls.model_fields["limit"].default:
            return cls
        limit: Any = (int, Field(default=limits.read_lines, description=_LIMIT))
        return create_model(cls.__name__, __base__=cls, limit=limit)


async def _read(access: Access, _: ToolOptions, arguments: ReadArguments) -> ToolAnswer:
    path = await access.resolve_file("read", arguments.file_path)
    result = await access.files.read(
        access.runner, arguments.file_path, path, arguments.offset, arguments.limit
    )
    if result.error:
        return failed(result.error)
    if result.no_lines_requested:
        return ToolAnswer(_NO_LINES)
    data: Mapping[str, Any] = result.file_data or {}
    content = data.get("content", "")
    text = "\n".join(content) if isinstance(content, list) else str(content)
    if data.get("encoding") == "base64":
        return _media(access, arguments.file_path, text)
    return _window(access, text, result) if text else ToolAnswer(_EMPTY)


def _window(access: Access, text: str, result: ReadResult) -> ToolAnswer:
    """Answer with whole lines under a header with their numbers and the next offset."""
    lines = text.removesuffix("\n").split("\n")
    start, total, following = result.start_line, result.total_lines, result.next_offset
    shown, notes = access.lines_that_fit(lines, 1), []
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
    """Answer with a content block that a model can look at or listen to."""
    # Graphs pass on blocks of the types `image` and `file`, and turn others into text.
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


class GlobArguments(FileToolArguments):
    """What `glob` takes."""

    pattern: Annotated[
        str, Field(description="Name pattern, such as *.md, notes/**/*.txt or /*.{yml,yaml}")
    ]
    path: Annotated[
        str | None, Field(description="Folder to search in; everything if not given")
    ] = None


async def _glob(access: Access, _: ToolOptions, arguments: GlobArguments) -> ToolAnswer:
    compile_glob(arguments.pattern)
    folder = None if arguments.path is None else await access.resolve_folder(arguments.path)
    result = await access.files.glob(access.runner, arguments.pattern, folder)
    matches = await access.visible(result.matches or [])
    if result.error and not matches:
        return search_failed(access, result.error)
    answer = path_list(access, matches, search_notes(cut=result.truncated))
    return partial_answer(access, answer, result.error)


GLOB = FileTool(
    name="glob",
    description=(
        "Find files by name. A pattern without a slash looks for that name in all folders; with"
        " a slash it is a path below `path`, where ** stands for any folders. * ? [abc] and"
        " {a,b} work as in a shell. Names that begin with a dot must be asked for with a dot."
    ),
    arguments=GlobArguments,
    work=_glob,
)


# What people write in a regular expression and hardly in a text that they look for.
_REGULAR_EXPRESSION: Final = re.compile(
    r"\w\|\w"  # either, or; not the ` | ` of a table and not the `||` of code
    r"|\.[*+]"
    r"|\\[.wWdDsSbB(){}\[\]|+*?^$]"
    r"|\[\^?\w-\w"  # a range of characters
    r"|\(\?[:=!<iP]"
    r"|^\^\w|\w\$$"
)
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


async def _grep(access: Access, _: ToolOptions, arguments: GrepArguments) -> ToolAnswer:
    compile_grep(arguments.pattern)
    if arguments.glob is not None:
        compile_glob(arguments.glob)
    folder = None if arguments.path is None else await access.resolve_folder(arguments.path)
    limit = arguments.max_count or access.limits.grep_matches
    # With rules the backend must not stop early: its first matches may all be hidden ones.
    most = None if access.rules else limit
    result = await access.files.grep(access.runner, arguments.pattern, folder, arguments.glob, most)
    matches = await access.visible(result.matches or [])
    if result.error and not matches:
        return search_failed(access, result.error)
    cut = result.truncated or len(matches) > limit
    notes = search_notes(cut=cut)
    if not matches:
        if not cut and not result.matches and _REGULAR_EXPRESSION.search(arguments.pattern):
            notes.append(_LITERAL)
        return ToolAnswer("\n".join(["No matches found", *notes]))
    answer = line_list(access, _lines(access, arguments, matches[:limit]), notes)
    return partial_answer(access, answer, result.error)


def _lines(access: Access, arguments: GrepArguments, matches: Sequence[Any]) -> list[str]:
    counts = Counter(match["path"] for match in matches)
    if arguments.output_mode == "files_with_matches":
        return [printable_name(path) for path in counts]
    if arguments.output_mode == "count":
        return [f"{printable_name(path)}: {count}" for path, count in counts.items()]
    lines, here = [], None
    for match in matches:
        if match["path"] != here:
            here = match["path"]
            lines.append(f"{printable_name(here)}:")
        lines.append(f"  {match['line']}: {_part(match['text'], arguments.pattern, access)}")
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

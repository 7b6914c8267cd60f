"""The file tools: ls, read_file, glob and grep; write_file, edit_file, append_file and delete."""

from __future__ import annotations

import mimetypes
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AliasChoices, Field, create_model

from memoryware.backends._adapter import FIRST_TEXT
from memoryware.backends._patterns import compile_glob, compile_grep
from memoryware.backends._text import decode, is_media, to_lf
from memoryware.backends.protocol import ReadResult
from memoryware.errors import (
    EditRefused,
    FileAlreadyThere,
    FileDenied,
    FileError,
    FileIsDirectory,
    FileMissing,
    TextRefused,
)
from memoryware.guard import printable_name
from memoryware.middleware._own_tools import ToolAnswer
from memoryware.middleware.file_tools._access import Access, normal_path
from memoryware.middleware.file_tools._tool_base import (
    FilePath,
    FileTool,
    FileToolArguments,
    ToolOptions,
    changed_meanwhile,
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


class WriteArguments(FileToolArguments):
    """What `write_file` takes."""

    file_path: FilePath
    content: Annotated[str, Field(description="The whole new text of the file")]


async def _write(access: Access, options: ToolOptions, arguments: WriteArguments) -> ToolAnswer:
    path = await access.resolve_file("write", arguments.file_path)
    if options.write_existing == "error" and await access.content(path) is not None:
        message = (
            f"'{arguments.file_path}' exists and may not be replaced. Change it with edit_file"
        )
        raise FileAlreadyThere(path, f"{message} or append_file, or take another path")
    if not await access.is_unchanged(arguments.file_path, path):
        return changed_meanwhile(arguments.file_path)
    spelled = arguments.file_path
    result = await access.files.write(access.runner, spelled, path, arguments.content)
    return failed(result.error) if result.error else ToolAnswer(f"Updated file {spelled}")


WRITE = FileTool(
    name="write_file",
    description=(
        "Create a file, or replace all of its text. To change a part of a file use edit_file,"
        " to add to it use append_file: both keep the rest."
    ),
    arguments=WriteArguments,
    work=_write,
    writes=True,
)


class EditArguments(FileToolArguments):
    """What `edit_file` takes."""

    file_path: FilePath
    old_string: Annotated[
        str,
        Field(description="Text to replace, exactly as in the file; empty to fill an empty file"),
    ]
    new_string: Annotated[str, Field(description="Text to put in its place")]
    replace_all: Annotated[
        bool, Field(description="Replace every place where the text is, not just one")
    ] = False


async def _edit(access: Access, options: ToolOptions, arguments: EditArguments) -> ToolAnswer:
    path = await access.resolve_file("write", arguments.file_path)
    if not arguments.old_string:
        return await _fill_empty_file(access, arguments, path)
    if options.first_match and not arguments.replace_all:
        answer = await _replace_first(access, arguments, path)
        if answer is not None:
            return answer
    result = await access.files.edit(
        access.runner,
        arguments.file_path,
        path,
        arguments.old_string,
        arguments.new_string,
        arguments.replace_all,
    )
    if result.error:
        return failed(result.error)
    return _edit_answer(arguments, result.occurrences)


def _edit_answer(arguments: EditArguments, count: int | None) -> ToolAnswer:
    replacements = f"{count or 1} instance(s) of the string"
    return ToolAnswer(f"Successfully replaced {replacements} in '{arguments.file_path}'")


async def _fill_empty_file(access: Access, arguments: EditArguments, path: str) -> ToolAnswer:
    """Set the text of an empty file; other backends may refuse an empty old text, or harm."""
    spelled, text = arguments.file_path, arguments.new_string
    data = await access.content(path)
    if data is None:
        return failed(f"File '{spelled}' not found")
    if decode(data).text.strip():
        raise EditRefused(
            spelled,
            f"old_string cannot be empty, because '{spelled}' has text. Give the text to replace,"
            " or use append_file to add a line",
        )
    error = (await access.files.edit(access.runner, spelled, path, "", text, every=False)).error
    if error and "empty" in error and await access.content(path) == data:
        error = (await access.files.write(access.runner, spelled, path, text)).error
    return failed(error) if error else _edit_answer(arguments, 1)


async def _replace_first(access: Access, arguments: EditArguments, path: str) -> ToolAnswer | None:
    """Replace the first of several places, or leave it to the backend if there is just one."""
    error, old = None, to_lf(arguments.old_string)
    for _ in range(access.limits.edit_attempts):
        data = await access.content(path)
        text = "" if data is None else lf_text(path, data)
        if text.count(old) < 2:
            return None
        start = text.index(old)
        error = await replace_span(
            access, path, text, (start, start + len(old)), arguments.new_string
        )
        if error is None:
            return _edit_answer(arguments, 1)
    return failed(error or f"'{arguments.file_path}' could not be changed")


EDIT = FileTool(
    name="edit_file",
    description=(
        "Replace a piece of text in a file by another. The old text must be there exactly once,"
        " so copy it from read_file with enough around it, or set replace_all. Everything else"
        " in the file stays as it is."
    ),
    arguments=EditArguments,
    work=_edit,
    writes=True,
)


class AppendArguments(FileToolArguments):
    """What `append_file` takes."""

    file_path: FilePath
    text: Annotated[
        str,
        Field(
            validation_alias=AliasChoices("text", "content"),
            description="Line or lines to add at the end",
        ),
    ]


async def _append(access: Access, _: ToolOptions, arguments: AppendArguments) -> ToolAnswer:
    spelled = arguments.file_path
    path = await access.resolve_file("write", spelled)
    result = await access.files.append(access.runner, spelled, path, arguments.text)
    error = result.error
    if error and error.endswith(FIRST_TEXT) and not await access.content(path):
        text = arguments.text if arguments.text.endswith("\n") else arguments.text + "\n"
        error = (await access.files.write(access.runner, spelled, path, text)).error
    return failed(error) if error else ToolAnswer(f"Added to the end of {spelled}")


APPEND = FileTool(
    name="append_file",
    description=(
        "Add a line, or several, to the end of a file without reading it first. The file is"
        " created if it is not there."
    ),
    arguments=AppendArguments,
    work=_append,
    writes=True,
)


class DeleteArguments(FileToolArguments):
    """What `delete` takes."""

    file_path: FilePath


async def _delete(access: Access, _: ToolOptions, arguments: DeleteArguments) -> ToolAnswer:
    spelled = arguments.file_path
    path = await access.resolve_file("write", spelled)
    if normal_path(spelled) == "/":
        message = f"'{spelled}' holds everything and cannot be deleted; delete single files"
        raise FileDenied(spelled, message)
    if access.rules:
        await _must_be_file(access, spelled, path)
    if not await access.is_unchanged(spelled, path):
        return changed_meanwhile(spelled)
    result = await access.files.delete(access.runner, spelled, path)
    return failed(result.error) if result.error else ToolAnswer(f"Deleted {spelled}")


async def _must_be_file(access: Access, spelled: str, path: str) -> None:
    """Refuse to delete a folder where there are rules: it may have files that they protect.

    Raises:
        FileError: If it is missing, is a folder, or may be one.
    """
    # An empty listing proves nothing, because files may be hidden from listings. So a path counts
    # as a file only if it can be read.
    try:
        there = await access.content(path)
    except FileIsDirectory:
        raise _folder(spelled) from None
    except FileError:
        message = (
            f"'{spelled}' is not deleted, because it cannot be read and may hold protected files"
        )
        raise FileDenied(spelled, message) from None
    if (await access.files.ls(access.runner, path, path)).entries:
        raise _folder(spelled)
    if there is None:
        raise FileMissing(spelled, f"'{spelled}' not found")


def _folder(spelled: str) -> FileDenied:
    return FileDenied(spelled, f"'{spelled}' is a folder; delete the files in it one by one")


DELETE = FileTool(
    name="delete",
    description="Delete a file, or a folder with everything in it. There is no way back.",
    arguments=DeleteArguments,
    work=_delete,
    writes=True,
)


def lf_text(path: str, data: bytes) -> str:
    """Return the text of a file with LF line endings.

    Raises:
        TextRefused: If it is not text, so that adding to it could harm it.
    """
    decoded = decode(data)
    if decoded.lossy:
        raise TextRefused(path, f"'{path}' is not valid {decoded.encoding} text; nothing was done")
    return to_lf(decoded.text)


async def replace_span(
    access: Access, path: str, text: str, span: tuple[int, int], new: str
) -> str | None:
    """Replace a span in the file that had this text; return the error, if any."""
    # The old text is widened until it is unique. `edit` refuses an old text that is not there
    # exactly once, so this is a compare-and-swap on any backend: it changes this span, or nothing
    # if another process was faster.
    start, end = span
    first, last = unique_around(text, start, end)
    old = text[first:last]
    changed = text[first:start] + to_lf(new) + text[end:last]
    return (await access.files.edit(access.runner, path, path, old, changed, every=False)).error


def unique_around(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the smallest span of whole lines around a span that occurs only once."""
    reach = 0
    while text.find(text[start:end]) < start or text.find(text[start:end], start + 1) >= 0:
        for _ in range(max(reach, 1)):
            start = text.rfind("\n", 0, max(start - 1, 0)) + 1
            end = text.find("\n", end + 1)
            end = len(text) if end < 0 else end
        # Doubling keeps it linear: line by line, a file of equal lines would take quadratic time.
        reach = max(reach * 2, 1)
    return start, end

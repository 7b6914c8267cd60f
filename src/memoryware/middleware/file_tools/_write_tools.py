"""The tools that change files: write_file, edit_file, append_file, delete."""

from __future__ import annotations

from typing import Annotated

from pydantic import AliasChoices, Field

from memoryware.backends._adapter import FIRST_TEXT
from memoryware.backends._text import decode, to_lf
from memoryware.errors import (
    EditRefused,
    FileAlreadyThere,
    FileDenied,
    FileError,
    FileIsDirectory,
    FileMissing,
    TextRefused,
)
from memoryware.middleware._own_tools import ToolAnswer
from memoryware.middleware.file_tools._access import Access, normal_path
from memoryware.middleware.file_tools._tool import (
    FilePath,
    FileTool,
    FileToolArguments,
    ToolOptions,
    changed_meanwhile,
    failed,
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

"""The tools that change files: write_file, edit_file, append_file, delete."""

from __future__ import annotations

from typing import Annotated

from pydantic import AliasChoices, Field

from memoryware.backends._finding import to_lf
from memoryware.backends._foreign import FIRST_TEXT
from memoryware.backends._text import decode
from memoryware.errors import (
    EditRefused,
    FileAlreadyThere,
    FileDenied,
    FileError,
    FileIsDirectory,
    FileMissing,
    TextRefused,
)
from memoryware.middleware.file_tools._access import Access, plain
from memoryware.middleware.file_tools._tool import (
    FilePath,
    FileTool,
    FileToolArguments,
    ToolAnswer,
    ToolOptions,
    changed_meanwhile,
    failed,
)


class WriteArguments(FileToolArguments):
    """What `write_file` takes."""

    file_path: FilePath
    content: Annotated[str, Field(description="The whole new text of the file")]


async def _write(access: Access, options: ToolOptions, given: WriteArguments) -> ToolAnswer:
    path = await access.admit("write", given.file_path)
    if options.write_existing == "error" and await access.content(path) is not None:
        message = f"'{given.file_path}' exists and may not be replaced. Change it with edit_file"
        raise FileAlreadyThere(path, f"{message} or append_file, or take another path")
    if not await access.unchanged(given.file_path, path):
        return changed_meanwhile(given.file_path)
    asked = given.file_path
    result = await access.files.write(access.via, asked, path, given.content)
    return failed(result.error) if result.error else ToolAnswer(f"Updated file {asked}")


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


async def _edit(access: Access, options: ToolOptions, given: EditArguments) -> ToolAnswer:
    path = await access.admit("write", given.file_path)
    if not given.old_string:
        return await _fill(access, given, path)
    if options.first_match and not given.replace_all:
        answer = await _first(access, given, path)
        if answer is not None:
            return answer
    result = await access.files.edit(
        access.via, given.file_path, path, given.old_string, given.new_string, given.replace_all
    )
    if result.error:
        return failed(result.error)
    return _replaced(given, result.occurrences)


def _replaced(given: EditArguments, count: int | None) -> ToolAnswer:
    what = f"{count or 1} instance(s) of the string"
    return ToolAnswer(f"Successfully replaced {what} in '{given.file_path}'")


async def _fill(access: Access, given: EditArguments, path: str) -> ToolAnswer:
    """Set the text of an empty file; other backends may refuse an empty old text, or harm."""
    asked, text = given.file_path, given.new_string
    data = await access.content(path)
    if data is None:
        return failed(f"File '{asked}' not found")
    if decode(data).text.strip():
        raise EditRefused(
            asked,
            f"old_string cannot be empty, because '{asked}' has text. Give the text to replace,"
            " or use append_file to add a line",
        )
    error = (await access.files.edit(access.via, asked, path, "", text, every=False)).error
    if error and "empty" in error and await access.content(path) == data:
        error = (await access.files.write(access.via, asked, path, text)).error
    return failed(error) if error else _replaced(given, 1)


async def _first(access: Access, given: EditArguments, path: str) -> ToolAnswer | None:
    """Replace the first of several places, or leave it to the backend if there is just one."""
    error, old = None, to_lf(given.old_string)
    for _ in range(access.limits.edit_attempts):
        data = await access.content(path)
        text = "" if data is None else text_of(path, data)
        if text.count(old) < 2:
            return None
        start = text.index(old)
        error = await put_in(access, path, text, (start, start + len(old)), given.new_string)
        if error is None:
            return _replaced(given, 1)
    return failed(error or f"'{given.file_path}' could not be changed")


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


async def _append(access: Access, _: ToolOptions, given: AppendArguments) -> ToolAnswer:
    asked = given.file_path
    path = await access.admit("write", asked)
    result = await access.files.append(access.via, asked, path, given.text)
    error = result.error
    if error and error.endswith(FIRST_TEXT) and not await access.content(path):
        text = given.text if given.text.endswith("\n") else given.text + "\n"
        error = (await access.files.write(access.via, asked, path, text)).error
    return failed(error) if error else ToolAnswer(f"Added to the end of {asked}")


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


async def _delete(access: Access, _: ToolOptions, given: DeleteArguments) -> ToolAnswer:
    asked = given.file_path
    path = await access.admit("write", asked)
    if plain(asked) == "/":
        message = f"'{asked}' holds everything and cannot be deleted; delete single files"
        raise FileDenied(asked, message)
    if access.rules:
        await _must_be_file(access, asked, path)
    if not await access.unchanged(asked, path):
        return changed_meanwhile(asked)
    result = await access.files.delete(access.via, asked, path)
    return failed(result.error) if result.error else ToolAnswer(f"Deleted {asked}")


async def _must_be_file(access: Access, asked: str, path: str) -> None:
    """Refuse all but a file under rules: a folder takes with it what they may protect.

    That a listing is empty proves nothing, because files may be hidden from listings; so
    only what can be read is taken for a file.

    Raises:
        FileError: If it is not there, is a folder, or cannot be told from one.
    """
    try:
        there = await access.content(path)
    except FileIsDirectory:
        raise _folder(asked) from None
    except FileError:
        message = (
            f"'{asked}' is not deleted, because it cannot be read and may hold protected files"
        )
        raise FileDenied(asked, message) from None
    if (await access.files.ls(access.via, path, path)).entries:
        raise _folder(asked)
    if there is None:
        raise FileMissing(asked, f"'{asked}' not found")


def _folder(asked: str) -> FileDenied:
    return FileDenied(asked, f"'{asked}' is a folder; delete the files in it one by one")


DELETE = FileTool(
    name="delete",
    description="Delete a file, or a folder with everything in it. There is no way back.",
    arguments=DeleteArguments,
    work=_delete,
    writes=True,
)


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

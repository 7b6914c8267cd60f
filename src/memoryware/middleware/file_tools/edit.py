"""The tool `edit_file`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from memoryware.backends._finding import to_lf
from memoryware.backends._text import decode
from memoryware.errors import EditRefused
from memoryware.middleware.file_tools._access import Access
from memoryware.middleware.file_tools._places import put_in, text_of
from memoryware.middleware.file_tools._tool import (
    FilePath,
    FileTool,
    FileToolArguments,
    ToolAnswer,
    ToolOptions,
    failed,
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

"""The tool `write_file`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from memoryware.errors import FileAlreadyThere
from memoryware.middleware.file_tools._access import Access
from memoryware.middleware.file_tools._answers import changed_meanwhile
from memoryware.middleware.file_tools._tool import (
    FilePath,
    FileTool,
    FileToolArguments,
    ToolAnswer,
    ToolOptions,
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

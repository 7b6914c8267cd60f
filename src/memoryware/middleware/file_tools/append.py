"""The tool `append_file`."""

from __future__ import annotations

from typing import Annotated

from pydantic import AliasChoices, Field

from memoryware.backends._foreign import FIRST_TEXT
from memoryware.middleware.file_tools._access import Access
from memoryware.middleware.file_tools._tool import (
    FilePath,
    FileTool,
    FileToolArguments,
    ToolAnswer,
    ToolOptions,
    failed,
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

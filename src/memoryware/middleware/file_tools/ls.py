"""The tool `ls`."""

from __future__ import annotations

from typing import Annotated

from pydantic import AliasChoices, Field

from memoryware.middleware.file_tools._access import Access
from memoryware.middleware.file_tools._answers import path_list
from memoryware.middleware.file_tools._tool import (
    FileTool,
    FileToolArguments,
    ToolAnswer,
    ToolOptions,
    failed,
)


class LsArguments(FileToolArguments):
    """What `ls` takes."""

    path: Annotated[
        str,
        Field(
            validation_alias=AliasChoices("path", "file_path"),
            description="Folder to list, from the root; / is the root itself",
        ),
    ] = "/"


async def _ls(access: Access, _: ToolOptions, given: LsArguments) -> ToolAnswer:
    folder = await access.enter(given.path)
    result = await access.files.ls(access.via, given.path, folder)
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

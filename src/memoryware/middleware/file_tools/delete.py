"""The tool `delete`."""

from __future__ import annotations

from memoryware.errors import FileDenied
from memoryware.middleware.file_tools._access import Access, plain
from memoryware.middleware.file_tools._answers import changed_meanwhile
from memoryware.middleware.file_tools._tool import (
    Answer,
    Arguments,
    FilePath,
    FileTool,
    ToolOptions,
    failed,
)


class DeleteArguments(Arguments):
    """What `delete` takes."""

    file_path: FilePath


async def _delete(access: Access, _: ToolOptions, given: DeleteArguments) -> Answer:
    asked = given.file_path
    path = await access.admit("write", asked)
    if plain(asked) == "/":
        message = f"'{asked}' holds everything and cannot be deleted; delete single files"
        raise FileDenied(asked, message)
    if access.rules and await _is_folder(access, path):
        # A folder takes with it what the rules may protect.
        raise FileDenied(asked, f"'{asked}' is a folder; delete the files in it one by one")
    if not await access.unchanged(asked, path):
        return changed_meanwhile(asked)
    result = await access.files.delete(access.via, asked, path)
    return failed(result.error) if result.error else Answer(f"Deleted {asked}")


async def _is_folder(access: Access, path: str) -> bool:
    return bool((await access.files.ls(access.via, path, path)).entries)


DELETE = FileTool(
    name="delete",
    description="Delete a file, or a folder with everything in it. There is no way back.",
    arguments=DeleteArguments,
    work=_delete,
    writes=True,
)

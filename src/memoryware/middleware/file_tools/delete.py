"""The tool `delete`."""

from __future__ import annotations

from memoryware.errors import FileDenied, FileError, FileIsDirectory, FileMissing
from memoryware.middleware.file_tools._access import Access, plain
from memoryware.middleware.file_tools._answers import changed_meanwhile
from memoryware.middleware.file_tools._tool import (
    FilePath,
    FileTool,
    FileToolArguments,
    ToolAnswer,
    ToolOptions,
    failed,
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

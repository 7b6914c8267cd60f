"""The tool `glob`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from memoryware.backends._match import compile_glob
from memoryware.middleware.file_tools._access import Access
from memoryware.middleware.file_tools._answers import (
    found_in_part,
    path_list,
    search_failed,
    shortcomings,
)
from memoryware.middleware.file_tools._tool import (
    FileTool,
    FileToolArguments,
    ToolAnswer,
    ToolOptions,
)


class GlobArguments(FileToolArguments):
    """What `glob` takes."""

    pattern: Annotated[
        str, Field(description="Name pattern, such as *.md, notes/**/*.txt or /*.{yml,yaml}")
    ]
    path: Annotated[
        str | None, Field(description="Folder to search in; everything if not given")
    ] = None


async def _glob(access: Access, _: ToolOptions, given: GlobArguments) -> ToolAnswer:
    compile_glob(given.pattern)
    folder = None if given.path is None else await access.enter(given.path)
    result = await access.files.glob(access.via, given.pattern, folder)
    found = await access.visible(result.matches or [])
    if result.error and not found:
        return search_failed(access, result.error)
    answer = path_list(access, found, shortcomings(cut=result.truncated))
    return found_in_part(access, answer, result.error)


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

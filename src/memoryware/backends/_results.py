"""From an inner answer or a `FileError` to the result value at the border, once.

Inside, backends raise `FileError`; here that becomes the `error` of the right
result value.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from memoryware.backends.protocol import (
    DeleteResult,
    EditResult,
    FileDownloadResponse,
    FileUploadResponse,
    GlobResult,
    GrepResult,
    LsResult,
    ReadResult,
    WriteResult,
)
from memoryware.errors import FileError, PathRefused, PatternRefused

Result = LsResult | ReadResult | WriteResult | EditResult | DeleteResult | GrepResult | GlobResult
R = TypeVar(
    "R", LsResult, ReadResult, WriteResult, EditResult, DeleteResult, GrepResult, GlobResult
)
V = TypeVar("V")

# Results whose error text is shown to a model as it is, so it starts with "Error: ".
_SPOKEN_WITH_PREFIX: tuple[type[Any], ...] = (WriteResult, EditResult, DeleteResult, GrepResult)


def build(kind: type[V], /, **fields: Any) -> V:
    """Make a result value."""
    return kind(**fields)


async def answer(kind: type[R], core: Awaitable[R]) -> R:
    """Await a core and turn its `FileError` into the error of the result.

    `PathRefused` passes through as the `ValueError` that callers rely on, except
    for grep and glob, which search what they are allowed to and find nothing.
    """
    try:
        return await core
    except PathRefused as refused:
        if kind not in (GrepResult, GlobResult):
            raise
        return failure(kind, refused)
    except (FileError, PatternRefused) as error:
        return failure(kind, error)


def failure(kind: type[R], error: Exception | str) -> R:
    """Make a result value that carries the error's sentence."""
    prefix = "Error: " if kind in _SPOKEN_WITH_PREFIX else ""
    return build(kind, error=f"{prefix}{error}")


def with_callers_path(text: str, inner: str, path: str) -> str:
    """Replace a backend's path in a message with the caller's."""
    return text if inner == path else text.replace(f"'{inner}'", f"'{path}'")


def downloaded(path: str, read: Callable[[], bytes]) -> FileDownloadResponse:
    """Read one file of a batch; a `FileError` becomes its code."""
    try:
        return build(FileDownloadResponse, path=path, content=read())
    except FileError as error:
        return build(FileDownloadResponse, path=path, error=error.code)


def uploaded(path: str, store: Callable[[], object]) -> FileUploadResponse:
    """Store one file of a batch; a `FileError` becomes its code."""
    try:
        store()
    except FileError as error:
        return build(FileUploadResponse, path=path, error=error.code)
    return build(FileUploadResponse, path=path)

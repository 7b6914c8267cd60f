"""Backends as a user might write them, for tests of what takes in anybody's backend."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from memoryware.backends._patterns import compile_glob, grep_bytes
from memoryware.backends.composite import CompositeBackend
from memoryware.backends.protocol import (
    BackendProtocol,
    DeleteResult,
    EditResult,
    FileData,
    FileDownloadResponse,
    FileInfo,
    FileUploadResponse,
    GlobResult,
    GrepResult,
    LsResult,
    ReadResult,
    WriteResult,
)


class Shelf(BackendProtocol):
    """Files in a dict, sync methods only; remembers what it was asked.

    It cannot be hashed, because it is compared by what is in it.
    """

    def __init__(self, **files: str) -> None:
        self.files = {"/" + name.replace("__", "/"): text for name, text in files.items()}
        self.asked: list[tuple[Any, ...]] = []

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shelf) and other.files == self.files

    __hash__ = None  # type: ignore[assignment]

    def put(self, **files: str) -> Shelf:
        self.files.update(Shelf(**files).files)
        return self

    def ls(self, path):
        self.asked.append(("ls", path))
        base = "/" + path.strip("/")
        base = base if base == "/" else base + "/"
        inside = [name[len(base) :] for name in self.files if name.startswith(base)]
        if not inside and base != "/":
            kind = "not_a_directory" if base[:-1] in self.files else "path_not_found"
            return LsResult(error=f"Path '{path}': {kind}")
        names = {one.split("/")[0] + ("/" if "/" in one else "") for one in inside}
        return LsResult(
            entries=[FileInfo(path=base + one, is_dir=one.endswith("/")) for one in sorted(names)]
        )

    def read(self, file_path, offset=0, limit=2000):
        self.asked.append(("read", file_path))
        if file_path not in self.files:
            return ReadResult(error=f"File '{file_path}' not found")
        lines = self.files[file_path].splitlines(keepends=True)[offset : offset + limit]
        return ReadResult(file_data=FileData(content="".join(lines), encoding="utf-8"))

    def write(self, file_path, content):
        self.asked.append(("write", file_path))
        self.files[file_path] = content
        return WriteResult(path=file_path)

    def edit(self, file_path, old_string, new_string, replace_all=False):
        text = self.files.get(file_path)
        if text is None:
            return EditResult(error=f"Error: File '{file_path}' not found")
        if text.count(old_string) != 1:
            return EditResult(error=f"Error: String not found in file: '{old_string}'")
        self.files[file_path] = text.replace(old_string, new_string)
        return EditResult(path=file_path, occurrences=1)

    def delete(self, file_path):
        if self.files.pop(file_path, None) is None:
            return DeleteResult(error=f"Error: '{file_path}' not found")
        return DeleteResult(path=file_path)

    def glob(self, pattern, path=None):
        self.asked.append(("glob", pattern, path))
        base = "/" if path in (None, "/") else path.rstrip("/") + "/"
        wanted = compile_glob(pattern)
        inside = [name for name in sorted(self.files) if name.startswith(base)]
        found = [FileInfo(path=name) for name in inside if wanted.matches(name[len(base) :])]
        return GlobResult(matches=found)

    def grep(self, pattern, path=None, glob=None, *, max_count=None):
        self.asked.append(("grep", pattern, path, glob, max_count))
        inside = self.glob(glob or "{*,.*}", path).matches or []
        if path in self.files:
            inside = [FileInfo(path=path)]
        found = [
            match
            for one in inside
            for match in grep_bytes(one["path"], self.files[one["path"]].encode(), pattern.encode())
        ]
        return GrepResult(matches=found[:max_count], truncated=len(found[:max_count]) < len(found))

    def upload_files(self, files):
        self.asked.append(("upload_files", [path for path, _ in files]))
        self.files.update({path: data.decode() for path, data in files})
        return [FileUploadResponse(path=path) for path, _ in files]

    def download_files(self, paths):
        self.asked.append(("download_files", paths))
        return [
            FileDownloadResponse(path=one, content=self.files[one].encode())
            if one in self.files
            else FileDownloadResponse(path=one, error="file_not_found")
            for one in paths
        ]


class Broken(BackendProtocol):
    """Fails in everything, with the error it was given."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def _fail(self, *args: Any, **kwargs: Any) -> Any:
        raise self.error

    ls = read = write = edit = delete = glob = grep = upload_files = download_files = _fail


class Told(BackendProtocol):
    """Tells an error for everything that it is asked."""

    def ls(self, path):
        return LsResult(error="the disk is on fire")

    def glob(self, pattern, path=None):
        return GlobResult(error="the disk is on fire")

    def grep(self, pattern, path=None, glob=None, *, max_count=None):
        return GrepResult(error="Error: the disk is on fire")

    def download_files(self, paths):
        return [FileDownloadResponse(path=one, error="permission_denied") for one in paths]


class Strange:
    """A backend of another family: no base class, other result types, an older `grep`."""

    def __init__(self, **files: str) -> None:
        self.shelf = Shelf(**files)

    def ls(self, path):
        return self.shelf.ls(path).entries

    def glob(self, pattern, path="/"):
        return self.shelf.glob(pattern, path).matches

    def grep(self, pattern, path=None, glob=None):
        return SimpleNamespace(error=None, matches=self.shelf.grep(pattern, path, glob).matches)

    def read(self, file_path, offset=0, limit=2000):
        told = self.shelf.read(file_path, offset, limit)
        return SimpleNamespace(error=told.error, file_data=told.file_data)

    def write(self, file_path, content):
        self.shelf.write(file_path, content)
        return SimpleNamespace(error=None, path=file_path, files_update=None)

    def download_files(self, paths):
        return [
            SimpleNamespace(
                content=b"x" if one in self.shelf.files else None,
                error=None if one in self.shelf.files else "file_not_found",
            )
            for one in paths
        ]


class Grown(BackendProtocol):
    """Only the async half of each method."""

    def __init__(self, **files: str) -> None:
        self.shelf = Shelf(**files)

    async def als(self, path):
        return self.shelf.ls(path)

    async def aread(self, file_path, offset=0, limit=2000):
        return self.shelf.read(file_path, offset, limit)

    async def adownload_files(self, paths):
        return self.shelf.download_files(paths)


@pytest.fixture(params=["blocking", "native"])
def either_door(request):
    """Ask a backend through one of its two doors."""

    async def ask(backend, name, *args, **kwargs):
        if request.param == "native":
            return await getattr(backend, "a" + name)(*args, **kwargs)
        return await asyncio.to_thread(getattr(backend, name), *args, **kwargs)

    return ask


def paths(result):
    """The paths in the answer of `ls`, `glob` or `grep`, in order."""
    rows = result.entries if hasattr(result, "entries") else result.matches
    return [one["path"] for one in rows or []]


def mounted(default=None, **mounts):
    """A composite; `a__b=` mounts at `/a/b/`."""
    routes = {f"/{name.replace('__', '/')}/": backend for name, backend in mounts.items()}
    return CompositeBackend(Shelf() if default is None else default, routes)

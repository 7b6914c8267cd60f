"""A backend of somebody else: files in a dictionary, the contract and nothing more."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator

from memoryware.backends import (
    EditResult,
    FileInfo,
    GlobResult,
    GrepResult,
    LsResult,
    WriteResult,
    _patterns,
    _text,
)
from memoryware.backends._base import TwinBackend, _errors_in_result, downloaded, uploaded
from memoryware.backends._paths import is_below, normalise
from memoryware.backends.protocol import DeleteResult
from memoryware.errors import FileIsDirectory, FileMissing, FileNotRegular, MemorywareError


class DictBackend(TwinBackend):
    def __init__(self, files: dict[str, bytes], lock: threading.RLock) -> None:
        self.files, self.lock = files, lock

    def get(self, path: str) -> bytes:
        name = normalise(path)
        self.must_not_be_a_folder(path, name)
        data = self.files.get(name)
        if data is None:
            raise FileMissing(path)
        return data

    def put(self, path: str, data: bytes) -> None:
        name = normalise(path)
        self.must_not_be_a_folder(path, name)
        if any(name.startswith(one + "/") for one in self.files):
            raise FileNotRegular(path)
        self.files[name] = data

    def must_not_be_a_folder(self, path: str, name: str) -> None:
        if name == "/" or any(one.startswith(name + "/") for one in [*self.files]):
            raise FileIsDirectory(path)

    async def _read(self, runner, path, offset, limit):
        data = self.get(path)
        if _text.is_media(path):
            return _text.whole_as_base64(data)
        return _text.window(path, _text.decode(data).text, offset, limit)

    async def _write(self, runner, path, content):
        with self.lock:
            self.put(path, _text.encode(path, content))
        return WriteResult(path=path)

    async def _edit(self, runner, path, old, new, every):
        with self.lock:
            data, count = _text.edit_bytes(path, self.get(path), old, new, every)
            self.put(path, data)
        return EditResult(path=path, occurrences=count)

    async def _append(self, runner, path, line):
        with self.lock:
            try:
                before = self.get(path)
            except FileMissing:
                before = b""
            self.put(path, _text.append_bytes(path, before, line))
        return EditResult(path=path, occurrences=1)

    async def _delete(self, runner, path):
        name = normalise(path)
        if name == "/":
            raise FileIsDirectory(path)
        with self.lock:
            doomed = [one for one in self.files if is_below(one, name)]
            for one in doomed:
                del self.files[one]
        if not doomed:
            raise FileMissing(path, f"'{path}' not found")
        return DeleteResult(path=path)

    async def _ls(self, runner, path):
        folder = normalise(path)
        prefix = folder.rstrip("/") + "/"
        entries = {}
        for name in [*self.files]:
            head, deeper, _ = name[len(prefix) :].partition("/")
            if name.startswith(prefix) and deeper:
                entries[f"{prefix}{head}/"] = FileInfo(path=f"{prefix}{head}/", is_dir=True, size=0)
            elif name.startswith(prefix):
                entries[name] = self.info(name)
        if not entries and folder != "/":
            problem = "not_a_directory" if folder in self.files else "path_not_found"
            raise FileMissing(path, f"Path '{path}': {problem}")
        return LsResult(entries=[entries[name] for name in sorted(entries)])

    async def _glob(self, runner, pattern, path):
        found = self.found(_patterns.compile_glob(pattern).matches, normalise(path or "/"))
        return GlobResult(matches=[self.info(name) for name in found])

    async def _grep(self, runner, pattern, path, glob, max_count):
        needle = _patterns.compile_grep(pattern)
        wanted = (
            _patterns.compile_glob(glob).matches
            if glob
            else lambda one: not _patterns.is_skipped(one)
        )
        found = self.found(wanted, normalise(path or "/"))
        matches = [
            m
            for name in found
            for m in _patterns.grep_bytes(name, self.files.get(name, b""), needle)
        ]
        kept = matches if max_count is None else matches[:max_count]
        return GrepResult(matches=kept, truncated=len(kept) < len(matches))

    async def _upload(self, runner, files):
        with self.lock:
            return [uploaded(path, lambda p=path, d=data: self.put(p, d)) for path, data in files]

    async def _download(self, runner, paths):
        return [downloaded(path, lambda p=path: self.get(p)) for path in paths]

    def append(self, file_path: str, line: str) -> EditResult:
        return self._run(_errors_in_result(EditResult, self._append), file_path, line)

    async def aappend(self, file_path: str, line: str) -> EditResult:
        return await self._run_native(_errors_in_result(EditResult, self._append), file_path, line)

    def fingerprint(self, paths: list[str]) -> list[str | None]:
        return [self.token(path) for path in paths]

    async def afingerprint(self, paths: list[str]) -> list[str | None]:
        return self.fingerprint(paths)

    def token(self, path: str) -> str | None:
        try:
            name = normalise(path)
        except MemorywareError:
            return None
        data = self.files.get(name)
        return f"{name} {data and hashlib.sha256(data).hexdigest()}"

    def info(self, name: str) -> FileInfo:
        return FileInfo(path=name, is_dir=False, size=len(self.files.get(name, b"")))

    def found(self, wanted, folder: str) -> Iterator[str]:
        for name in sorted(self.files):
            begin = name.rindex("/") if name == folder else len(folder.rstrip("/"))
            if is_below(name, folder) and wanted(name[begin + 1 :]):
                yield name


def _is_searched(relative: str) -> bool:
    return not _patterns.is_skipped(relative)

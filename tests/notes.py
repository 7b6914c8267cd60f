"""A backend as a user would write one: a dict of texts, with a list of what was asked."""

from __future__ import annotations

from dataclasses import dataclass, field

from memoryware import BackendProtocol
from memoryware.backends import EditResult, FileDownloadResponse, WriteResult


@dataclass
class Notes(BackendProtocol):
    """Only what a memory needs: download, write, edit."""

    files: dict[str, str] = field(default_factory=dict)
    asked: list[list[str]] = field(default_factory=list)
    errors: dict[str, str] = field(default_factory=dict)

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        self.asked.append(list(paths))
        return [self._one(path) for path in paths]

    def _one(self, path: str) -> FileDownloadResponse:
        if path in self.errors:
            return FileDownloadResponse(path, error=self.errors[path])
        if path not in self.files:
            return FileDownloadResponse(path, error="file_not_found")
        return FileDownloadResponse(path, content=self.files[path].encode())

    def write(self, file_path: str, content: str) -> WriteResult:
        self.files[file_path] = content
        return WriteResult(path=file_path)

    def edit(
        self, file_path: str, old_string: str, new_string: str, replace_all: bool = False
    ) -> EditResult:
        text = self.files[file_path]
        if text.count(old_string) != 1 and not replace_all:
            return EditResult(error=f"Error: {text.count(old_string)} places")
        self.files[file_path] = text.replace(old_string, new_string)
        return EditResult(path=file_path, occurrences=text.count(old_string))

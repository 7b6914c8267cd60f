r"""The backend contract: `BackendProtocol`, optional extensions of it, and the result types.

A backend keeps text files under virtual paths such as `/memories/AGENTS.md`.
`BackendProtocol` is a base class whose methods all raise `NotImplementedError`, so a
backend of your own implements only what it supports; each async method (`aread` for `read`)
runs the blocking one in a thread by default. Names, arguments and result shapes are those of
deepagents 0.7, so that backends can be exchanged in both directions.

The contract, the same for every backend that ships here:

* One path has one identity: `/a.md`, `a.md`, `./a.md`, `//a.md`, `/./a.md` and
  `\a.md` are the same file. `..` as a segment, NUL and other control characters,
  drive letters and a home folder (`~`) that the backend does not have are refused.
* Failures are returned in `.error` of the result, never raised, with one exception:
  `read write edit ls delete` raise `PathRefused` (a `ValueError`) for a path that
  is refused; `upload_files` and `download_files` answer `invalid_path` instead.
* A folder exists as long as a file is in it (on disk also when it is empty); the
  root always exists. Folders in listings end in `/`. A path is a file or a folder,
  never both: a write onto a folder, or below a file, is refused.
* A write happens whole or not at all, and no accepted write is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NotRequired, Protocol, TypeAlias, TypedDict, runtime_checkable

from memoryware._runner import in_thread
from memoryware.backends._deepagents import BackendCompat, ResultCompat

FileOperationError = Literal["file_not_found", "permission_denied", "is_directory", "invalid_path"]
"""Error codes of `upload_files` and `download_files` that a caller can act on."""

DEFAULT_READ_LIMIT = 2000
"""Lines that `read` returns when no limit is given."""


class FileInfo(TypedDict):
    """One entry of a listing. A folder's path ends in `/`, its size is 0."""

    path: str
    is_dir: NotRequired[bool]
    size: NotRequired[int]
    """Bytes of the text in UTF-8."""
    modified_at: NotRequired[str]
    """ISO 8601 time, or "" when the backend does not know."""


class FileData(TypedDict):
    """A stored file: text, or base64 text of bytes that are not UTF-8."""

    content: str
    encoding: str
    """`"utf-8"` or `"base64"`."""
    created_at: NotRequired[str]
    modified_at: NotRequired[str]


class ContextLine(TypedDict):
    """A line next to a match."""

    line: int
    text: str


class GrepMatch(TypedDict):
    """One matching line; `line` counts from 1, `text` has no line ending."""

    path: str
    line: int
    text: str
    context_before: NotRequired[list[ContextLine]]
    context_after: NotRequired[list[ContextLine]]


@dataclass
class LsResult(ResultCompat):
    """Answer of `ls`: entries sorted by path, or an error."""

    error: str | None = None
    entries: list[FileInfo] | None = None


@dataclass
class ReadResult(ResultCompat):
    """Answer of `read`: a window of lines with LF endings, or a whole file as base64.

    `start_line` and `end_line` count from 1 and are both absent for an empty
    window; `next_offset` is where to go on reading, absent at the end of the file.
    """

    error: str | None = None
    file_data: FileData | None = None
    total_lines: int | None = None
    start_line: int | None = None
    end_line: int | None = None
    next_offset: int | None = None
    no_lines_requested: bool = False


@dataclass
class WriteResult(ResultCompat):
    """Answer of `write`: the path as the caller spelled it, or an error."""

    error: str | None = None
    path: str | None = None


@dataclass
class EditResult(ResultCompat):
    """Answer of `edit`: how often the old text was replaced, or an error."""

    error: str | None = None
    path: str | None = None
    occurrences: int | None = None


@dataclass
class DeleteResult(ResultCompat):
    """Answer of `delete`: the path as the caller spelled it, or an error."""

    error: str | None = None
    path: str | None = None


@dataclass
class GrepResult(ResultCompat):
    """Answer of `grep`: matches by path and line.

    With an `error` there may still be matches: those of the files that could be read.
    """

    error: str | None = None
    matches: list[GrepMatch] | None = None
    truncated: bool = False


@dataclass
class GlobResult(ResultCompat):
    """Answer of `glob`: files (never folders) sorted by path."""

    error: str | None = None
    matches: list[FileInfo] | None = None
    truncated: bool = False
    truncation_reason: Literal["budget", "unreadable", "transport"] | None = None


@dataclass
class FileDownloadResponse(ResultCompat):
    """One file of a `download_files` batch: its bytes, or a code."""

    path: str
    content: bytes | None = None
    error: FileOperationError | str | None = None


@dataclass
class FileUploadResponse(ResultCompat):
    """One file of an `upload_files` batch: stored, or a code."""

    path: str
    error: FileOperationError | str | None = None


class BackendProtocol(BackendCompat):
    """Base class of storage backends for memory files: files by path.

    Subclass it and implement what the storage supports; the other methods raise
    `NotImplementedError`. Each async method runs the blocking one in a thread; override both if
    the storage has an async client.
    """

    def ls(self, path: str) -> LsResult:
        """List what is directly in a folder.

        A missing folder is the error "Path '/x': path_not_found" on a disk, and an empty listing
        where folders follow from the paths of files, as in the state or a store. A file is the
        error "Path '/x': not_a_directory".

        Args:
            path: The folder.

        Returns:
            Entries sorted by path, folders with a final `/`.

        Raises:
            PathRefused: For a path that cannot be one.
        """
        raise self._unsupported("ls")

    async def als(self, path: str) -> LsResult:
        """List what is directly in a folder.

        A missing folder is the error "Path '/x': path_not_found" on a disk, and an empty listing
        where folders follow from the paths of files, as in the state or a store. A file is the
        error "Path '/x': not_a_directory".

        Args:
            path: The folder.

        Returns:
            Entries sorted by path, folders with a final `/`.

        Raises:
            PathRefused: For a path that cannot be one.
        """
        return await in_thread(self.ls, path)

    def read(self, file_path: str, offset: int = 0, limit: int = DEFAULT_READ_LIMIT) -> ReadResult:
        """Read some lines of a file.

        CRLF and CR count as line endings; the result has LF. Pictures, sound, video and PDF come
        whole as base64.

        Args:
            file_path: The file.
            offset: The first line, counted from 0. A negative one reads from the start; one past
                the end is an error that names the length.
            limit: How many lines. 0 or less reads nothing and sets `no_lines_requested`.

        Returns:
            The lines with the number of the first and the last one, and where to read on.

        Raises:
            PathRefused: For a path that cannot be one.
        """
        raise self._unsupported("read")

    async def aread(
        self, file_path: str, offset: int = 0, limit: int = DEFAULT_READ_LIMIT
    ) -> ReadResult:
        """Read some lines of a file.

        CRLF and CR count as line endings; the result has LF. Pictures, sound, video and PDF come
        whole as base64.

        Args:
            file_path: The file.
            offset: The first line, counted from 0. A negative one reads from the start; one past
                the end is an error that names the length.
            limit: How many lines. 0 or less reads nothing and sets `no_lines_requested`.

        Returns:
            The lines with the number of the first and the last one, and where to read on.

        Raises:
            PathRefused: For a path that cannot be one.
        """
        return await in_thread(self.read, file_path, offset, limit)

    def write(self, file_path: str, content: str) -> WriteResult:
        """Create a file with this text, or replace its whole text.

        Args:
            file_path: The file; folders above it are created.
            content: The whole text.

        Returns:
            The path as given, or the error.

        Raises:
            PathRefused: For a path that cannot be one.
        """
        raise self._unsupported("write")

    async def awrite(self, file_path: str, content: str) -> WriteResult:
        """Create a file with this text, or replace its whole text.

        Args:
            file_path: The file; folders above it are created.
            content: The whole text.

        Returns:
            The path as given, or the error.

        Raises:
            PathRefused: For a path that cannot be one.
        """
        return await in_thread(self.write, file_path, content)

    def edit(
        self, file_path: str, old_string: str, new_string: str, replace_all: bool = False
    ) -> EditResult:
        """Replace a text in a file.

        Line endings do not matter for finding the text; those of untouched lines stay as they are.
        Where the text is missing, blanks at line ends and the kind of indentation are ignored if
        that leaves exactly one place.

        Args:
            file_path: The file, which must exist.
            old_string: The text to replace; it must occur once unless `replace_all` is set. An
                empty one sets the text of an empty file.
            new_string: The text to put there.
            replace_all: Whether to replace every occurrence.

        Returns:
            How often the text was replaced, or the error.

        Raises:
            PathRefused: For a path that cannot be one.
        """
        raise self._unsupported("edit")

    async def aedit(
        self, file_path: str, old_string: str, new_string: str, replace_all: bool = False
    ) -> EditResult:
        """Replace a text in a file.

        Line endings do not matter for finding the text; those of untouched lines stay as they are.
        Where the text is missing, blanks at line ends and the kind of indentation are ignored if
        that leaves exactly one place.

        Args:
            file_path: The file, which must exist.
            old_string: The text to replace; it must occur once unless `replace_all` is set. An
                empty one sets the text of an empty file.
            new_string: The text to put there.
            replace_all: Whether to replace every occurrence.

        Returns:
            How often the text was replaced, or the error.

        Raises:
            PathRefused: For a path that cannot be one.
        """
        return await in_thread(self.edit, file_path, old_string, new_string, replace_all)

    def delete(self, file_path: str) -> DeleteResult:
        """Delete a file, or a folder with everything in it. The root is refused.

        Args:
            file_path: The file or folder.

        Returns:
            The path as given, or the error.

        Raises:
            PathRefused: For a path that cannot be one.
        """
        raise self._unsupported("delete")

    async def adelete(self, file_path: str) -> DeleteResult:
        """Delete a file, or a folder with everything in it. The root is refused.

        Args:
            file_path: The file or folder.

        Returns:
            The path as given, or the error.

        Raises:
            PathRefused: For a path that cannot be one.
        """
        return await in_thread(self.delete, file_path)

    def grep(
        self,
        pattern: str,
        path: str | None = None,
        glob: str | None = None,
        *,
        max_count: int | None = None,
    ) -> GrepResult:
        """Find a literal text (no regular expression) in the lines of files.

        Binary and over-large files are skipped, and the folders of tools such as `.git` unless they
        are named. A folder that does not exist has no matches.

        Args:
            pattern: The text to find, within one line.
            path: A folder or a file; None means everything.
            glob: Search only files whose names fit, as in `glob`.
            max_count: How many matches at most, in all files together.

        Returns:
            Matches by path and line; `truncated` if there are more. With an error there may still
            be matches.
        """
        raise self._unsupported("grep")

    async def agrep(
        self,
        pattern: str,
        path: str | None = None,
        glob: str | None = None,
        *,
        max_count: int | None = None,
    ) -> GrepResult:
        """Find a literal text (no regular expression) in the lines of files.

        Binary and over-large files are skipped, and the folders of tools such as `.git` unless they
        are named. A folder that does not exist has no matches.

        Args:
            pattern: The text to find, within one line.
            path: A folder or a file; None means everything.
            glob: Search only files whose names fit, as in `glob`.
            max_count: How many matches at most, in all files together.

        Returns:
            Matches by path and line; `truncated` if there are more. With an error there may still
            be matches.
        """
        return await in_thread(self.grep, pattern, path, glob, max_count=max_count)

    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        """Find files by name.

        Without `/` the pattern is a file name at any depth below `path`. With `/` it is a path
        relative to `path`, where `**` stands for any folders; a leading `/` ties it to `path`
        itself. `{a,b}`, `[abc]`, `?` and `*` work as in a shell. A name that begins with a dot must
        be asked for with a dot, but `**` does enter folders with such names, except those of tools
        such as `.git`.

        Args:
            pattern: The pattern.
            path: Where to search; None means everywhere.

        Returns:
            Files, never folders, sorted by path.
        """
        raise self._unsupported("glob")

    async def aglob(self, pattern: str, path: str | None = None) -> GlobResult:
        """Find files by name.

        Without `/` the pattern is a file name at any depth below `path`. With `/` it is a path
        relative to `path`, where `**` stands for any folders; a leading `/` ties it to `path`
        itself. `{a,b}`, `[abc]`, `?` and `*` work as in a shell. A name that begins with a dot must
        be asked for with a dot, but `**` does enter folders with such names, except those of tools
        such as `.git`.

        Args:
            pattern: The pattern.
            path: Where to search; None means everywhere.

        Returns:
            Files, never folders, sorted by path.
        """
        return await in_thread(self.glob, pattern, path)

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        """Store files from bytes. A file that cannot be stored does not keep the others from it.

        Args:
            files: Pairs of path and content.

        Returns:
            One answer per file, in the given order.
        """
        raise self._unsupported("upload_files")

    async def aupload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        """Store files from bytes. A file that cannot be stored does not keep the others from it.

        Args:
            files: Pairs of path and content.

        Returns:
            One answer per file, in the given order.
        """
        return await in_thread(self.upload_files, files)

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        """Read whole files as bytes.

        Args:
            paths: The files.

        Returns:
            One answer per path, in the given order: the content, or an error.
        """
        raise self._unsupported("download_files")

    async def adownload_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        """Read whole files as bytes.

        Args:
            paths: The files.

        Returns:
            One answer per path, in the given order: the content, or an error.
        """
        return await in_thread(self.download_files, paths)

    def _unsupported(self, operation: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} does not implement {operation}()")


class BackendLike(Protocol):
    """Protocol: an object that is accepted as a backend: ours, deepagents', or your own.

    It has only the methods that every use needs, so that type checkers accept foreign backends
    and still report a string, or a LangGraph runtime, that is passed by mistake.
    """

    def download_files(self, paths: list[str], /) -> Any:
        """Read whole files as bytes.

        Args:
            paths: The files.

        Returns:
            One answer per path, in the given order.
        """
        ...

    def read(self, file_path: str, offset: int = ..., limit: int = ..., /) -> Any:
        """Read some lines of a file.

        Args:
            file_path: The file.
            offset: The first line, counted from 0.
            limit: How many lines.

        Returns:
            The lines, or an error.
        """
        ...


BackendFactory: TypeAlias = Callable[[Any], BackendLike]
"""A function from the LangGraph runtime of a run to a backend, such as one per user."""
BackendOrFactory: TypeAlias = BackendLike | BackendFactory
"""The type of the option `backend=` of a middleware."""


@runtime_checkable
class Fingerprints(Protocol):
    """Protocol: a backend with cheap change detection (as an ETag in HTTP).

    A token identifies one content of one file: while the token of a path stays the same, so do
    its bytes, and two files, versions or owners never share one. `None` means "unknown, read the
    file". A missing file has a token as well.
    """

    def fingerprint(self, paths: list[str]) -> list[str | None]:
        """Return a token for the present content of each file.

        Args:
            paths: The files.

        Returns:
            One token per path, in order; None where the file has to be read.
        """
        ...

    async def afingerprint(self, paths: list[str]) -> list[str | None]:
        """Return a token for the present content of each file.

        Args:
            paths: The files.

        Returns:
            One token per path, in order; None where the file has to be read.
        """
        ...


@runtime_checkable
class Appends(Protocol):
    """Protocol: a backend that can add a line to a file without reading its text first.

    The line goes to the end, on a line of its own and in the line ending of the file;
    a missing file is created.
    """

    def append(self, file_path: str, line: str) -> EditResult:
        """Add a line to the end of a file.

        Args:
            file_path: The file; a missing one is created.
            line: The text of the line, without its ending.

        Returns:
            The path and 1 as `occurrences`, or the error.
        """
        ...

    async def aappend(self, file_path: str, line: str) -> EditResult:
        """Add a line to the end of a file.

        Args:
            file_path: The file; a missing one is created.
            line: The text of the line, without its ending.

        Returns:
            The path and 1 as `occurrences`, or the error.
        """
        ...


@runtime_checkable
class Names(Protocol):
    """Protocol: a backend that resolves all names of a file, for rules that match paths.

    Needed where one file has several names: relative paths, a home folder, symbolic links, or
    mounts of a composite backend. Without it a rule could be bypassed by another name.
    """

    def names(self, paths: list[str]) -> list[tuple[str, ...]]:
        """Return all names of each path.

        Args:
            paths: The files or folders; they need not exist.

        Returns:
            Per path its absolute name, then the name that links lead to, if that is another. All of
            them are normal paths; a refused path has no names.
        """
        ...

    async def anames(self, paths: list[str]) -> list[tuple[str, ...]]:
        """Return all names of each path.

        Args:
            paths: The files or folders; they need not exist.

        Returns:
            Per path its absolute name, then the name that links lead to, if that is another. All of
            them are normal paths; a refused path has no names.
        """
        ...

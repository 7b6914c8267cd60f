"""Every error of memoryware; each class is also the built-in that fits.

MemorywareError
├── FileError                 something about one path: `.path`, `.code`
│   ├── PathRefused           also ValueError: leaves the root, `..`, NUL, drive letter
│   ├── PathUnusable          also OSError: too long, below a file, a loop of links
│   ├── FileMissing           also FileNotFoundError
│   ├── FileDenied            also PermissionError
│   ├── FileIsDirectory       also IsADirectoryError
│   ├── FileNotRegular        also ValueError: a pipe, a device, a socket
│   ├── FileTooLarge          also ValueError: more bytes than are read at once
│   ├── FileAlreadyThere      also FileExistsError
│   ├── EditRefused           also ValueError: the old text is missing or not unique
│   ├── TextRefused           also ValueError: cannot be stored as UTF-8
│   ├── SecretRefused         also ValueError: a secret, which is never stored
│   ├── VersionMissing        also LookupError: no such version of the file, or not its text
│   ├── WriteFailed           also OSError: disk full, quota; the old text is still there
│   └── LockTimeout           also TimeoutError: somebody held the file for too long
├── LoadError                 also ValueError: a memory source could not be read
├── ResponseCountError        also ValueError and AssertionError: a backend miscounted
├── NamespaceError            also ValueError: a store namespace is empty or not text
├── BackendUnavailable        also RuntimeError: no graph, no store, no file channel
├── PatternRefused            also ValueError: a glob or grep pattern that cannot work
├── TierError                 something about the tiers
│   ├── EntryMissing          also LookupError: no such entry or memory in this scope
│   ├── ScopeMissing          also ValueError: the operation needs a group, and none was named
│   ├── PromotionRefused      also PermissionError: the policy asks for more: `.reasons`
│   ├── EntryRefused          also ValueError: a text that no tier can keep
│   ├── EmbeddingMismatch     also ValueError: vectors of another model: `.stored`, `.offered`
│   ├── EmbeddingFailed       also RuntimeError: the embedding model did not answer well
│   ├── BundleRefused         also ValueError: an exported file that cannot be read: `.line`
│   ├── StoreNewer            also RuntimeError: written by a newer version
│   └── StoreUnavailable      also OSError: the store cannot be opened, read or written
│       ├── StoreClosed       the memory was closed; open it again
│       └── StoreUnconfirmed  no answer came: a change may have been made
├── DatasetRefused            also ValueError: a data set that cannot be read: `.path`, `.line`
├── ImportRefused             also ValueError: a file of another system: `.path`, `.line`
├── SettingError              also ValueError: an option has a wrong value
├── NotPicklable              also PicklingError: holds what no pickle can hold
├── ConfigError               also ValueError: config.json cannot be used
└── ModelMissing              also ValueError: no chat model was given

Inside the library these are raised; at the backend border `FileError` becomes the
`error` of a result value, and toward the model a tool message.
"""

from __future__ import annotations

import pickle
from typing import ClassVar, Literal

FileErrorCode = Literal[
    "file_not_found",
    "permission_denied",
    "is_directory",
    "invalid_path",
    "already_exists",
    "edit_refused",
    "invalid_text",
    "secret_refused",
    "write_failed",
    "lock_timeout",
    "too_large",
    "no_version",
]
"""What went wrong with a path. The first four are those of `download_files`."""


class MemorywareError(Exception):
    """The root of every error that memoryware raises on purpose."""


class FileError(MemorywareError):
    """Something went wrong with one path.

    Attributes:
        path: The path as the caller spelled it.
        code: One of `FileErrorCode`.
    """

    code: ClassVar[FileErrorCode]

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path
        self.message = message

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[type[FileError], tuple[str, str]]:
        return type(self), (self.path, self.message)


class PathRefused(FileError, ValueError):
    """The path leaves the root or cannot be a path at all."""

    code = "invalid_path"


class PathUnusable(FileError, OSError):
    """The system cannot follow the path: too long, below a file, or a loop of links."""

    code = "invalid_path"


class FileMissing(FileError, FileNotFoundError):
    """There is no file at this path."""

    code = "file_not_found"

    def __init__(self, path: str, message: str | None = None) -> None:
        super().__init__(path, message or f"File '{path}' not found")


class FileDenied(FileError, PermissionError):
    """The file may not be read or written by this process or under these rules."""

    code = "permission_denied"


class FileIsDirectory(FileError, IsADirectoryError):
    """The path names a folder where a file is needed."""

    code = "is_directory"

    def __init__(self, path: str, message: str | None = None) -> None:
        super().__init__(path, message or f"'{path}' is a folder, not a file")


class FileNotRegular(FileError, ValueError):
    """The path names a pipe, device or socket; only regular files are read."""

    code = "invalid_path"

    def __init__(self, path: str, message: str | None = None) -> None:
        super().__init__(path, message or f"'{path}' is not a regular file; name a text file")


class FileTooLarge(FileError, ValueError):
    """The file has more bytes than are read at once."""

    code = "too_large"


class FileAlreadyThere(FileError, FileExistsError):
    """A file is there already and the caller asked not to overwrite."""

    code = "already_exists"


class EditRefused(FileError, ValueError):
    """The text to replace is missing, empty or not unique."""

    code = "edit_refused"


class TextRefused(FileError, ValueError):
    """The new text cannot be stored as UTF-8, so nothing was written."""

    code = "invalid_text"


class SecretRefused(FileError, ValueError):
    """The new text holds a secret, so nothing was written."""

    code = "secret_refused"


class VersionMissing(FileError, LookupError):
    """The history has no such version of the file, or not its text; nothing was changed."""

    code = "no_version"


class WriteFailed(FileError, OSError):
    """The system refused the write; what was there before is still there."""

    code = "write_failed"


class LockTimeout(FileError, TimeoutError):
    """Somebody else held the file longer than the lock timeout; nothing was written."""

    code = "lock_timeout"


class LoadError(MemorywareError, ValueError):
    """A memory source could not be read.

    Attributes:
        path: The source as configured.
        code: The backend's error code or text.
    """

    def __init__(self, path: str, code: str, hint: str = "") -> None:
        super().__init__(f"Failed to download {path}: {code}{hint and '. ' + hint}")
        self.path, self.code, self.hint = path, code, hint

    def __reduce__(self) -> tuple[type[LoadError], tuple[str, str, str]]:
        return type(self), (self.path, self.code, self.hint)


class ResponseCountError(MemorywareError, ValueError, AssertionError):
    """A backend answered a batch with fewer or more responses than paths."""


class NamespaceError(MemorywareError, ValueError):
    """A store namespace is empty, or a part of it is not usable text."""


class BackendUnavailable(MemorywareError, RuntimeError):
    """The backend has nothing to work on here: no running graph, no store."""


class PatternRefused(MemorywareError, ValueError):
    """A glob or grep pattern cannot match anything by its form."""


class TierError(MemorywareError):
    """Something went wrong with the tiers; nothing that was kept is lost."""


class EntryMissing(TierError, LookupError):
    """There is no such entry or memory in this scope."""


class ScopeMissing(TierError, ValueError):
    """The operation works on the memory of a group, and the scope names none."""


class PromotionRefused(TierError, PermissionError):
    """The policy of promotion asks for more; the text stays where it is.

    Attributes:
        reasons: Codes, such as "corroboration", "approval", "own_proposal".
    """

    def __init__(self, message: str, reasons: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.message, self.reasons = message, reasons

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[type[PromotionRefused], tuple[str, tuple[str, ...]]]:
        return type(self), (self.message, self.reasons)


class EntryRefused(TierError, ValueError):
    """The text cannot be kept in any tier: it is no text, longer than `entry_chars`, or blank."""


class EmbeddingMismatch(TierError, ValueError):
    """Vectors of another embedding model than the one that is stored.

    Attributes:
        stored: The space in the store, as text.
        offered: The space of the model that is used now, as text.
    """

    def __init__(self, stored: str, offered: str) -> None:
        renamed = stored.rpartition(" (")[0] == offered.rpartition(" (")[0] != ""
        name = "embedding_space= another name, " if renamed else ""
        super().__init__(
            f"The store has embeddings of {stored}, and these are of {offered}. Use the model of"
            f' the store, or open with {name}on_mismatch="words" and call reindex()'
        )
        self.stored, self.offered = stored, offered

    def __reduce__(self) -> tuple[type[EmbeddingMismatch], tuple[str, str]]:
        return type(self), (self.stored, self.offered)


class EmbeddingFailed(TierError, RuntimeError):
    """The embedding model failed, took too long, or did not return one vector for each text."""


class BundleRefused(TierError, ValueError):
    """An exported file cannot be read; nothing was imported.

    Attributes:
        line: The line at which it went wrong, from 1; 0 for the file as a whole.
    """

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.message, self.line = message, line

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[type[BundleRefused], tuple[str, int]]:
        return type(self), (self.message, self.line)


class StoreNewer(TierError, RuntimeError):
    """The data was written by a newer version, which may mean something else by it."""


class StoreUnavailable(TierError, OSError):
    """A store cannot be opened, read or written; what it confirmed before is still there."""


class StoreClosed(StoreUnavailable):
    """A store is used after it was closed; open the memory again."""


class StoreUnconfirmed(StoreUnavailable):
    """No answer came: what was asked of a store may have been done, or not; look before you repeat.

    Whatever has a `key` can be recorded again, and is there once.
    """


class DatasetRefused(MemorywareError, ValueError):
    """A data set for measuring recall cannot be read; the message says where and why.

    Attributes:
        path: The file.
        line: The line at which it went wrong, from 1; 0 for the file as a whole.
    """

    def __init__(self, path: str, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.path, self.message, self.line = path, message, line

    def __str__(self) -> str:
        where = f"{self.path}, line {self.line}" if self.line else self.path
        return f"{where}: {self.message}"

    def __reduce__(self) -> tuple[type[DatasetRefused], tuple[str, str, int]]:
        return type(self), (self.path, self.message, self.line)


class ImportRefused(MemorywareError, ValueError):
    """A file of another memory system cannot be imported; the message says where and why.

    Attributes:
        path: The file or folder.
        message: What is wrong, and what to do.
        line: The line at which it went wrong, from 1; 0 for the file as a whole.
    """

    def __init__(self, path: str, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.path, self.message, self.line = path, message, line

    def __str__(self) -> str:
        where = f"{self.path}, line {self.line}" if self.line else self.path
        return f"{where}: {self.message}"

    def __reduce__(self) -> tuple[type[ImportRefused], tuple[str, str, int]]:
        return type(self), (self.path, self.message, self.line)


class NotPicklable(MemorywareError, pickle.PicklingError):
    """An object holds something that no pickle can hold, such as a connection or a lambda."""


class SettingError(MemorywareError, ValueError):
    """An option has a value outside its range; the message names both."""


class ConfigError(MemorywareError, ValueError):
    """A configuration file cannot be used; the message says where and why."""


class ModelMissing(MemorywareError, ValueError):
    """No chat model was given and none could be found."""

"""Where memory files live: backends, their results and protocols, versions of files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoryware._lazy import attach

if TYPE_CHECKING:
    from memoryware.backends._actor import Actor, acting
    from memoryware.backends._deepagents import as_deepagents
    from memoryware.backends._diff import DiffRow, side_by_side
    from memoryware.backends._paths import normalise_path
    from memoryware.backends.addresses import aopen_files, open_files
    from memoryware.backends.composite import CompositeBackend
    from memoryware.backends.filesystem import FilesystemBackend
    from memoryware.backends.history import (
        HistoryBackend,
        Version,
        arecent_versions,
        recent_versions,
    )
    from memoryware.backends.protocol import (
        Appends,
        BackendFactory,
        BackendLike,
        BackendOrFactory,
        BackendProtocol,
        DeleteResult,
        EditResult,
        FileData,
        FileDownloadResponse,
        FileInfo,
        FileUploadResponse,
        Fingerprints,
        GlobResult,
        GrepMatch,
        GrepResult,
        LsResult,
        Names,
        ReadResult,
        WriteResult,
    )
    from memoryware.backends.state import StateBackend
    from memoryware.backends.store import StoreBackend

__all__ = [
    "Actor",
    "Appends",
    "BackendFactory",
    "BackendLike",
    "BackendOrFactory",
    "BackendProtocol",
    "CompositeBackend",
    "DeleteResult",
    "DiffRow",
    "EditResult",
    "FileData",
    "FileDownloadResponse",
    "FileInfo",
    "FileUploadResponse",
    "FilesystemBackend",
    "Fingerprints",
    "GlobResult",
    "GrepMatch",
    "GrepResult",
    "HistoryBackend",
    "LsResult",
    "Names",
    "ReadResult",
    "StateBackend",
    "StoreBackend",
    "Version",
    "WriteResult",
    "acting",
    "aopen_files",
    "arecent_versions",
    "as_deepagents",
    "normalise_path",
    "open_files",
    "recent_versions",
    "side_by_side",
]
_HOMES: Final = {
    "memoryware.backends._actor": ("Actor", "acting"),
    "memoryware.backends._deepagents": ("as_deepagents",),
    "memoryware.backends._paths": ("normalise_path",),
    "memoryware.backends.composite": ("CompositeBackend",),
    "memoryware.backends.filesystem": ("FilesystemBackend",),
    "memoryware.backends.history": (
        "HistoryBackend",
        "Version",
        "arecent_versions",
        "recent_versions",
    ),
    "memoryware.backends._diff": ("DiffRow", "side_by_side"),
    "memoryware.backends.addresses": ("aopen_files", "open_files"),
    "memoryware.backends.protocol": (
        "Appends",
        "BackendFactory",
        "BackendLike",
        "BackendOrFactory",
        "BackendProtocol",
        "DeleteResult",
        "EditResult",
        "FileData",
        "FileDownloadResponse",
        "FileInfo",
        "FileUploadResponse",
        "Fingerprints",
        "GlobResult",
        "GrepMatch",
        "GrepResult",
        "LsResult",
        "Names",
        "ReadResult",
        "WriteResult",
    ),
    "memoryware.backends.state": ("StateBackend",),
    "memoryware.backends.store": ("StoreBackend",),
}
__getattr__, __dir__ = attach(__name__, _HOMES)

"""Memory for LangChain and LangGraph agents that its owners can trust.

Everything public is importable from here; each name is loaded on first use, so that
backends come without langchain.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from memoryware._version import __version__

_HOMES: Final = {
    "memoryware.agent": (
        "create_deep_agent",
        "file_memory",
    ),
    "memoryware.config": (
        "AgentConfig",
        "load_config",
    ),
    "memoryware.scope": ("MemoryScope",),
    "memoryware.guard": (
        "Detector",
        "Finding",
        "Guard",
        "KingfisherDetector",
    ),
    "memoryware.settings": (
        "DiscoveryLimits",
        "FileLimits",
        "HistoryLimits",
        "ImportLimits",
        "MemoryLimits",
        "ToolLimits",
    ),
    "memoryware.backends.protocol": (
        "BackendProtocol",
        "DeleteResult",
        "EditResult",
        "FileData",
        "FileDownloadResponse",
        "FileInfo",
        "FileUploadResponse",
        "GlobResult",
        "GrepMatch",
        "GrepResult",
        "LsResult",
        "ReadResult",
        "WriteResult",
    ),
    "memoryware.backends._paths": ("normalise_path",),
    "memoryware.backends._acting": (
        "Actor",
        "acting",
    ),
    "memoryware.backends.filesystem": ("FilesystemBackend",),
    "memoryware.backends.state": ("StateBackend",),
    "memoryware.backends.history": (
        "HistoryBackend",
        "Version",
    ),
    "memoryware.backends.store": ("StoreBackend",),
    "memoryware.backends.composite": ("CompositeBackend",),
    "memoryware.sources.discovery": (
        "Layout",
        "adiscover",
        "discover",
        "on_disk",
    ),
    "memoryware.events": (
        "Counters",
        "MemoryEvent",
        "listen",
    ),
    "memoryware.sources.guarded": ("GuardedBackend",),
    "memoryware.sources.consent": ("agreed",),
    "memoryware.sources.imports": ("Imports",),
    "memoryware.sources.scanning": (
        "Leak",
        "ascan",
        "scan",
    ),
    "memoryware.sources.source": ("Source",),
    "memoryware.middleware.memory": (
        "MEMORY_SYSTEM_PROMPT",
        "MemoryMiddleware",
        "MemoryState",
        "MemoryStateUpdate",
        "append_to_system_message",
    ),
    "memoryware.middleware.deep_memory": ("DeepMemoryMiddleware",),
    "memoryware.middleware._prompt": ("redact_memory",),
    "memoryware.middleware.file_tools": ("FileToolsMiddleware",),
    "memoryware.errors": (
        "BackendUnavailable",
        "ConfigError",
        "EditRefused",
        "FileAlreadyThere",
        "FileDenied",
        "FileError",
        "FileIsDirectory",
        "FileMissing",
        "FileNotRegular",
        "FileTooLarge",
        "LoadError",
        "LockTimeout",
        "MemorywareError",
        "ModelMissing",
        "NamespaceError",
        "PathRefused",
        "PathUnusable",
        "PatternRefused",
        "ResponseCountError",
        "SecretRefused",
        "SettingError",
        "TextRefused",
        "VersionMissing",
        "WriteFailed",
    ),
}
_HOME_OF: Final = {name: home for home, names in _HOMES.items() for name in names}

if TYPE_CHECKING:
    from memoryware.agent import create_deep_agent, file_memory
    from memoryware.backends._acting import Actor, acting
    from memoryware.backends._paths import normalise_path
    from memoryware.backends.composite import CompositeBackend
    from memoryware.backends.filesystem import FilesystemBackend
    from memoryware.backends.history import HistoryBackend, Version
    from memoryware.backends.protocol import (
        BackendProtocol,
        DeleteResult,
        EditResult,
        FileData,
        FileDownloadResponse,
        FileInfo,
        FileUploadResponse,
        GlobResult,
        GrepMatch,
        GrepResult,
        LsResult,
        ReadResult,
        WriteResult,
    )
    from memoryware.backends.state import StateBackend
    from memoryware.backends.store import StoreBackend
    from memoryware.config import AgentConfig, load_config
    from memoryware.errors import (
        BackendUnavailable,
        ConfigError,
        EditRefused,
        FileAlreadyThere,
        FileDenied,
        FileError,
        FileIsDirectory,
        FileMissing,
        FileNotRegular,
        FileTooLarge,
        LoadError,
        LockTimeout,
        MemorywareError,
        ModelMissing,
        NamespaceError,
        PathRefused,
        PathUnusable,
        PatternRefused,
        ResponseCountError,
        SecretRefused,
        SettingError,
        TextRefused,
        VersionMissing,
        WriteFailed,
    )
    from memoryware.events import Counters, MemoryEvent, listen
    from memoryware.guard import Detector, Finding, Guard, KingfisherDetector
    from memoryware.middleware._prompt import redact_memory
    from memoryware.middleware.deep_memory import DeepMemoryMiddleware
    from memoryware.middleware.file_tools import FileToolsMiddleware
    from memoryware.middleware.memory import (
        MEMORY_SYSTEM_PROMPT,
        MemoryMiddleware,
        MemoryState,
        MemoryStateUpdate,
        append_to_system_message,
    )
    from memoryware.scope import MemoryScope
    from memoryware.settings import (
        DiscoveryLimits,
        FileLimits,
        HistoryLimits,
        ImportLimits,
        MemoryLimits,
        ToolLimits,
    )
    from memoryware.sources.consent import agreed
    from memoryware.sources.discovery import Layout, adiscover, discover, on_disk
    from memoryware.sources.guarded import GuardedBackend
    from memoryware.sources.imports import Imports
    from memoryware.sources.scanning import Leak, ascan, scan
    from memoryware.sources.source import Source

__all__ = [
    "MEMORY_SYSTEM_PROMPT",
    "Actor",
    "AgentConfig",
    "BackendProtocol",
    "BackendUnavailable",
    "CompositeBackend",
    "ConfigError",
    "Counters",
    "DeepMemoryMiddleware",
    "DeleteResult",
    "Detector",
    "DiscoveryLimits",
    "EditRefused",
    "EditResult",
    "FileAlreadyThere",
    "FileData",
    "FileDenied",
    "FileDownloadResponse",
    "FileError",
    "FileInfo",
    "FileIsDirectory",
    "FileLimits",
    "FileMissing",
    "FileNotRegular",
    "FileTooLarge",
    "FileToolsMiddleware",
    "FileUploadResponse",
    "FilesystemBackend",
    "Finding",
    "GlobResult",
    "GrepMatch",
    "GrepResult",
    "Guard",
    "GuardedBackend",
    "HistoryBackend",
    "HistoryLimits",
    "ImportLimits",
    "Imports",
    "KingfisherDetector",
    "Layout",
    "Leak",
    "LoadError",
    "LockTimeout",
    "LsResult",
    "MemoryEvent",
    "MemoryLimits",
    "MemoryMiddleware",
    "MemoryScope",
    "MemoryState",
    "MemoryStateUpdate",
    "MemorywareError",
    "ModelMissing",
    "NamespaceError",
    "PathRefused",
    "PathUnusable",
    "PatternRefused",
    "ReadResult",
    "ResponseCountError",
    "SecretRefused",
    "SettingError",
    "Source",
    "StateBackend",
    "StoreBackend",
    "TextRefused",
    "ToolLimits",
    "Version",
    "VersionMissing",
    "WriteFailed",
    "WriteResult",
    "__version__",
    "acting",
    "adiscover",
    "agreed",
    "append_to_system_message",
    "ascan",
    "create_deep_agent",
    "discover",
    "file_memory",
    "listen",
    "load_config",
    "normalise_path",
    "on_disk",
    "redact_memory",
    "scan",
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__

"""Memory for LangChain and LangGraph agents that its owners can trust.

Everything public is importable from here; each name is loaded on first use, so that
backends come without langchain.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from memoryware._version import __version__

_HOMES: Final = {
    "memoryware.agent": ("create_deep_agent", "file_memory"),
    "memoryware.config": ("AgentConfig", "load_config"),
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
        "SettingError",
        "TextRefused",
        "WriteFailed",
    ),
    "memoryware.settings": ("FileLimits", "MemoryLimits", "ToolLimits"),
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
    "memoryware.backends.filesystem": ("FilesystemBackend",),
    "memoryware.backends.state": ("StateBackend",),
    "memoryware.backends.store": ("StoreBackend",),
    "memoryware.backends.composite": ("CompositeBackend",),
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
}
_HOME_OF: Final = {name: home for home, names in _HOMES.items() for name in names}

if TYPE_CHECKING:
    from memoryware.agent import create_deep_agent, file_memory
    from memoryware.backends._paths import normalise_path
    from memoryware.backends.composite import CompositeBackend
    from memoryware.backends.filesystem import FilesystemBackend
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
        SettingError,
        TextRefused,
        WriteFailed,
    )
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
    from memoryware.settings import FileLimits, MemoryLimits, ToolLimits

__all__ = [
    "MEMORY_SYSTEM_PROMPT",
    "AgentConfig",
    "BackendProtocol",
    "BackendUnavailable",
    "CompositeBackend",
    "ConfigError",
    "DeepMemoryMiddleware",
    "DeleteResult",
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
    "GlobResult",
    "GrepMatch",
    "GrepResult",
    "LoadError",
    "LockTimeout",
    "LsResult",
    "MemoryLimits",
    "MemoryMiddleware",
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
    "SettingError",
    "StateBackend",
    "StoreBackend",
    "TextRefused",
    "ToolLimits",
    "WriteFailed",
    "WriteResult",
    "__version__",
    "append_to_system_message",
    "create_deep_agent",
    "file_memory",
    "load_config",
    "normalise_path",
    "redact_memory",
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

"""Memory for LangChain and LangGraph agents that its owners can trust.

Everything public is importable from here; each name is loaded on first use, so that
backends come without langchain.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from memoryware._version import __version__

# long: every public name stands here three times, for readers, for checkers, for the loader.
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
        "TierLimits",
        "ToolLimits",
    ),
    "memoryware.tiers.service": ("TieredMemory",),
    "memoryware.tiers.policy": ("PromotionPolicy",),
    "memoryware.tiers.context": (
        "BuiltContext",
        "ContextBuilder",
        "Headings",
    ),
    "memoryware.tiers.showing": ("Labels",),
    "memoryware.tiers.records": (
        "Entry",
        "Memory",
        "Origin",
        "Provenance",
        "Trust",
        "Verdict",
    ),
    "memoryware.tiers.values": (
        "Candidate",
        "ContextItem",
        "Contradiction",
        "Counts",
        "Digest",
        "Insight",
        "Listed",
        "Listing",
        "Promotion",
        "Recall",
        "Receipt",
        "Recorded",
        "Reindexed",
    ),
    "memoryware.tiers.bundle": ("ImportReport",),
    "memoryware.tiers.ingress": (
        "ConsistencyJudge",
        "ExactDuplicate",
        "IngressFilter",
        "MinConfidence",
        "MinLength",
        "NearDuplicate",
        "NoVerifyPending",
        "Passed",
        "Refusal",
        "default_filters",
    ),
    "memoryware.tiers.stores.protocol": (
        "LongTermStore",
        "QuarantineStore",
        "Select",
        "Space",
        "Stores",
        "WorkingStore",
    ),
    "memoryware.tiers.stores.opening": (
        "aopen_stores",
        "open_stores",
    ),
    "memoryware.nodes": (
        "FactCheckNode",
        "MemoryRetrievalNode",
        "inject_context",
        "remember",
        "with_memory",
    ),
    "memoryware.tiers.roles": (
        "ROLES",
        "RoleRules",
    ),
    "memoryware.middleware.tiered": ("TieredMemoryMiddleware",),
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
        "BundleRefused",
        "ConfigError",
        "EditRefused",
        "EmbeddingFailed",
        "EmbeddingMismatch",
        "EntryMissing",
        "EntryRefused",
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
        "PromotionRefused",
        "ResponseCountError",
        "ScopeMissing",
        "SecretRefused",
        "SettingError",
        "StoreNewer",
        "StoreUnavailable",
        "TextRefused",
        "TierError",
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
        BundleRefused,
        ConfigError,
        EditRefused,
        EmbeddingFailed,
        EmbeddingMismatch,
        EntryMissing,
        EntryRefused,
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
        PromotionRefused,
        ResponseCountError,
        ScopeMissing,
        SecretRefused,
        SettingError,
        StoreNewer,
        StoreUnavailable,
        TextRefused,
        TierError,
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
    from memoryware.middleware.tiered import TieredMemoryMiddleware
    from memoryware.nodes import (
        FactCheckNode,
        MemoryRetrievalNode,
        inject_context,
        remember,
        with_memory,
    )
    from memoryware.scope import MemoryScope
    from memoryware.settings import (
        DiscoveryLimits,
        FileLimits,
        HistoryLimits,
        ImportLimits,
        MemoryLimits,
        TierLimits,
        ToolLimits,
    )
    from memoryware.sources.consent import agreed
    from memoryware.sources.discovery import Layout, adiscover, discover, on_disk
    from memoryware.sources.guarded import GuardedBackend
    from memoryware.sources.imports import Imports
    from memoryware.sources.scanning import Leak, ascan, scan
    from memoryware.sources.source import Source
    from memoryware.tiers.bundle import ImportReport
    from memoryware.tiers.context import BuiltContext, ContextBuilder, Headings
    from memoryware.tiers.ingress import (
        ConsistencyJudge,
        ExactDuplicate,
        IngressFilter,
        MinConfidence,
        MinLength,
        NearDuplicate,
        NoVerifyPending,
        Passed,
        Refusal,
        default_filters,
    )
    from memoryware.tiers.policy import PromotionPolicy
    from memoryware.tiers.records import Entry, Memory, Origin, Provenance, Trust, Verdict
    from memoryware.tiers.roles import ROLES, RoleRules
    from memoryware.tiers.service import TieredMemory
    from memoryware.tiers.showing import Labels
    from memoryware.tiers.stores.opening import aopen_stores, open_stores
    from memoryware.tiers.stores.protocol import (
        LongTermStore,
        QuarantineStore,
        Select,
        Space,
        Stores,
        WorkingStore,
    )
    from memoryware.tiers.values import (
        Candidate,
        ContextItem,
        Contradiction,
        Counts,
        Digest,
        Insight,
        Listed,
        Listing,
        Promotion,
        Recall,
        Receipt,
        Recorded,
        Reindexed,
    )

__all__ = [
    "MEMORY_SYSTEM_PROMPT",
    "ROLES",
    "Actor",
    "AgentConfig",
    "BackendProtocol",
    "BackendUnavailable",
    "BuiltContext",
    "BundleRefused",
    "Candidate",
    "CompositeBackend",
    "ConfigError",
    "ConsistencyJudge",
    "ContextBuilder",
    "ContextItem",
    "Contradiction",
    "Counters",
    "Counts",
    "DeepMemoryMiddleware",
    "DeleteResult",
    "Detector",
    "Digest",
    "DiscoveryLimits",
    "EditRefused",
    "EditResult",
    "EmbeddingFailed",
    "EmbeddingMismatch",
    "Entry",
    "EntryMissing",
    "EntryRefused",
    "ExactDuplicate",
    "FactCheckNode",
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
    "Headings",
    "HistoryBackend",
    "HistoryLimits",
    "ImportLimits",
    "ImportReport",
    "Imports",
    "IngressFilter",
    "Insight",
    "KingfisherDetector",
    "Labels",
    "Layout",
    "Leak",
    "Listed",
    "Listing",
    "LoadError",
    "LockTimeout",
    "LongTermStore",
    "LsResult",
    "Memory",
    "MemoryEvent",
    "MemoryLimits",
    "MemoryMiddleware",
    "MemoryRetrievalNode",
    "MemoryScope",
    "MemoryState",
    "MemoryStateUpdate",
    "MemorywareError",
    "MinConfidence",
    "MinLength",
    "ModelMissing",
    "NamespaceError",
    "NearDuplicate",
    "NoVerifyPending",
    "Origin",
    "Passed",
    "PathRefused",
    "PathUnusable",
    "PatternRefused",
    "Promotion",
    "PromotionPolicy",
    "PromotionRefused",
    "Provenance",
    "QuarantineStore",
    "ReadResult",
    "Recall",
    "Receipt",
    "Recorded",
    "Refusal",
    "Reindexed",
    "ResponseCountError",
    "RoleRules",
    "ScopeMissing",
    "SecretRefused",
    "Select",
    "SettingError",
    "Source",
    "Space",
    "StateBackend",
    "StoreBackend",
    "StoreNewer",
    "StoreUnavailable",
    "Stores",
    "TextRefused",
    "TierError",
    "TierLimits",
    "TieredMemory",
    "TieredMemoryMiddleware",
    "ToolLimits",
    "Trust",
    "Verdict",
    "Version",
    "VersionMissing",
    "WorkingStore",
    "WriteFailed",
    "WriteResult",
    "__version__",
    "acting",
    "adiscover",
    "agreed",
    "aopen_stores",
    "append_to_system_message",
    "ascan",
    "create_deep_agent",
    "default_filters",
    "discover",
    "file_memory",
    "inject_context",
    "listen",
    "load_config",
    "normalise_path",
    "on_disk",
    "open_stores",
    "redact_memory",
    "remember",
    "scan",
    "with_memory",
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

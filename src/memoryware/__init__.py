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
        "CheckLimits",
        "DiscoveryLimits",
        "FileLimits",
        "HistoryLimits",
        "ImportLimits",
        "InspectorLimits",
        "McpLimits",
        "MemoryLimits",
        "PostgresLimits",
        "Ranking",
        "TierLimits",
        "ToolLimits",
    ),
    "memoryware.tiers.service": ("TieredMemory",),
    "memoryware.tiers.policy": ("PromotionPolicy",),
    "memoryware.tiers.reranking": ("Reranker",),
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
    "memoryware.tiers.journal": ("Journal", "Noted"),
    "memoryware.tiers.sessions": ("Session", "Sessions", "Shown", "Story", "Turn"),
    "memoryware.tiers.audit": ("Act", "ActKind", "Audit"),
    "memoryware.backends.looking": ("Row", "arecent_versions", "recent_versions", "side_by_side"),
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
        "Stores",
        "Stretch",
        "WorkingStore",
    ),
    "memoryware.tiers.stores.sight": ("Choose", "Query", "Searched", "Seen", "Sight", "Space"),
    "memoryware.tiers.copying": (
        "CopyReport",
        "TierCopy",
        "acopy_stores",
        "copy_stores",
    ),
    "memoryware.tiers.stores.langgraph": ("langgraph_stores",),
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
    "memoryware.backends.opening": (
        "aopen_files",
        "open_files",
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
    "memoryware.sources.checking": (
        "Flaw",
        "acheck",
        "check",
    ),
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
    "memoryware.middleware.preview": (
        "Preview",
        "SourcePreview",
    ),
    "memoryware.middleware.deep_memory": ("DeepMemoryMiddleware",),
    "memoryware.middleware._prompt": ("redact_memory",),
    "memoryware.middleware.file_tools": ("FileToolsMiddleware",),
    "memoryware.errors": (
        "BackendUnavailable",
        "BundleRefused",
        "ConfigError",
        "DatasetRefused",
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
        "StoreUnconfirmed",
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
<<<<<<< HEAD
    from memoryware.backends.looking import Row, arecent_versions, recent_versions, side_by_side
=======
    from memoryware.backends.opening import aopen_files, open_files
>>>>>>> f3-7
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
        DatasetRefused,
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
        StoreUnconfirmed,
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
    from memoryware.middleware.preview import Preview, SourcePreview
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
        CheckLimits,
        DiscoveryLimits,
        FileLimits,
        HistoryLimits,
        ImportLimits,
        InspectorLimits,
        McpLimits,
        MemoryLimits,
        PostgresLimits,
        Ranking,
        TierLimits,
        ToolLimits,
    )
    from memoryware.sources.checking import Flaw, acheck, check
    from memoryware.sources.consent import agreed
    from memoryware.sources.discovery import Layout, adiscover, discover, on_disk
    from memoryware.sources.guarded import GuardedBackend
    from memoryware.sources.imports import Imports
    from memoryware.sources.scanning import Leak, ascan, scan
    from memoryware.sources.source import Source
    from memoryware.tiers.audit import Act, ActKind, Audit
    from memoryware.tiers.bundle import ImportReport
    from memoryware.tiers.context import BuiltContext, ContextBuilder, Headings
    from memoryware.tiers.copying import CopyReport, TierCopy, acopy_stores, copy_stores
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
    from memoryware.tiers.journal import Journal, Noted
    from memoryware.tiers.policy import PromotionPolicy
    from memoryware.tiers.records import Entry, Memory, Origin, Provenance, Trust, Verdict
    from memoryware.tiers.reranking import Reranker
    from memoryware.tiers.roles import ROLES, RoleRules
    from memoryware.tiers.service import TieredMemory
    from memoryware.tiers.sessions import Session, Sessions, Shown, Story, Turn
    from memoryware.tiers.showing import Labels
    from memoryware.tiers.stores.langgraph import langgraph_stores
    from memoryware.tiers.stores.opening import aopen_stores, open_stores
    from memoryware.tiers.stores.protocol import (
        LongTermStore,
        QuarantineStore,
        Select,
        Stores,
        Stretch,
        WorkingStore,
    )
    from memoryware.tiers.stores.sight import Choose, Query, Searched, Seen, Sight, Space
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
    "Act",
    "ActKind",
    "Actor",
    "AgentConfig",
    "Audit",
    "BackendProtocol",
    "BackendUnavailable",
    "BuiltContext",
    "BundleRefused",
    "Candidate",
    "CheckLimits",
    "Choose",
    "CompositeBackend",
    "ConfigError",
    "ConsistencyJudge",
    "ContextBuilder",
    "ContextItem",
    "Contradiction",
    "CopyReport",
    "Counters",
    "Counts",
    "DatasetRefused",
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
    "Flaw",
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
<<<<<<< HEAD
    "Journal",
=======
    "InspectorLimits",
>>>>>>> f3-7
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
    "McpLimits",
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
    "Noted",
    "Origin",
    "Passed",
    "PathRefused",
    "PathUnusable",
    "PatternRefused",
    "PostgresLimits",
    "Preview",
    "Promotion",
    "PromotionPolicy",
    "PromotionRefused",
    "Provenance",
    "QuarantineStore",
    "Query",
    "Ranking",
    "ReadResult",
    "Recall",
    "Receipt",
    "Recorded",
    "Refusal",
    "Reindexed",
    "Reranker",
    "ResponseCountError",
    "RoleRules",
    "Row",
    "ScopeMissing",
    "Searched",
    "SecretRefused",
    "Seen",
    "Select",
    "Session",
    "Sessions",
    "SettingError",
    "Shown",
    "Sight",
    "Source",
    "SourcePreview",
    "Space",
    "StateBackend",
    "StoreBackend",
    "StoreNewer",
    "StoreUnavailable",
    "StoreUnconfirmed",
    "Stores",
    "Story",
    "Stretch",
    "TextRefused",
    "TierCopy",
    "TierError",
    "TierLimits",
    "TieredMemory",
    "TieredMemoryMiddleware",
    "ToolLimits",
    "Trust",
    "Turn",
    "Verdict",
    "Version",
    "VersionMissing",
    "WorkingStore",
    "WriteFailed",
    "WriteResult",
    "__version__",
    "acheck",
    "acopy_stores",
    "acting",
    "adiscover",
    "agreed",
    "aopen_files",
    "aopen_stores",
    "append_to_system_message",
    "arecent_versions",
    "ascan",
    "check",
    "copy_stores",
    "create_deep_agent",
    "default_filters",
    "discover",
    "file_memory",
    "inject_context",
    "langgraph_stores",
    "listen",
    "load_config",
    "normalise_path",
    "on_disk",
    "open_files",
    "open_stores",
    "recent_versions",
    "redact_memory",
    "remember",
    "scan",
    "side_by_side",
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

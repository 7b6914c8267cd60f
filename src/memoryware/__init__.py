"""Memory for LangChain and LangGraph agents that its owners can trust.

What most programs need is here, and each name is loaded on first use. The rest has a chapter:
`memoryware.backends`, `sources`, `middleware`, `nodes`, `tiers`, `stores`, `importers`,
`settings`, `events`, `errors`, `guard`, `testing`, and `demo` with a chat model for trying out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoryware._lazy import attach
from memoryware._version import __version__

if TYPE_CHECKING:
    from memoryware.agent import create_deep_agent, file_memory
    from memoryware.backends._actor import acting
    from memoryware.backends.composite import CompositeBackend
    from memoryware.backends.filesystem import FilesystemBackend
    from memoryware.backends.history import HistoryBackend
    from memoryware.backends.protocol import BackendProtocol
    from memoryware.backends.state import StateBackend
    from memoryware.backends.store import StoreBackend
    from memoryware.config import AgentConfig, load_config
    from memoryware.errors import MemorywareError
    from memoryware.guard import Guard
    from memoryware.middleware.file_tools import FileToolsMiddleware
    from memoryware.middleware.memory import DeepMemoryMiddleware, MemoryMiddleware
    from memoryware.middleware.tiered import TieredMemoryMiddleware
    from memoryware.nodes import (
        FactCheckNode,
        MemoryRetrievalNode,
        inject_context,
        remember,
        with_memory,
    )
    from memoryware.scope import MemoryScope
    from memoryware.settings import FileLimits, MemoryLimits, Ranking, TierLimits, ToolLimits
    from memoryware.sources.discovery import discover
    from memoryware.sources.guarded import GuardedBackend
    from memoryware.sources.imports import Imports
    from memoryware.sources.layout import Layout
    from memoryware.sources.source import Source
    from memoryware.tiers.client.memory import TieredMemory
    from memoryware.tiers.model import Entry, Memory
    from memoryware.tiers.policy import PromotionPolicy
    from memoryware.tiers.provenance import Origin, Provenance, Trust
    from memoryware.tiers.recall.context import ContextBuilder
    from memoryware.tiers.values import Output, Promotion, Recall, Receipt, Recorded

__all__ = [
    "AgentConfig",
    "BackendProtocol",
    "CompositeBackend",
    "ContextBuilder",
    "DeepMemoryMiddleware",
    "Entry",
    "FactCheckNode",
    "FileLimits",
    "FileToolsMiddleware",
    "FilesystemBackend",
    "Guard",
    "GuardedBackend",
    "HistoryBackend",
    "Imports",
    "Layout",
    "Memory",
    "MemoryLimits",
    "MemoryMiddleware",
    "MemoryRetrievalNode",
    "MemoryScope",
    "MemorywareError",
    "Origin",
    "Output",
    "Promotion",
    "PromotionPolicy",
    "Provenance",
    "Ranking",
    "Recall",
    "Receipt",
    "Recorded",
    "Source",
    "StateBackend",
    "StoreBackend",
    "TierLimits",
    "TieredMemory",
    "TieredMemoryMiddleware",
    "ToolLimits",
    "Trust",
    "__version__",
    "acting",
    "create_deep_agent",
    "discover",
    "file_memory",
    "inject_context",
    "load_config",
    "remember",
    "with_memory",
]
_HOMES: Final = {
    "memoryware.agent": ("create_deep_agent", "file_memory"),
    "memoryware.backends._actor": ("acting",),
    "memoryware.backends.composite": ("CompositeBackend",),
    "memoryware.backends.filesystem": ("FilesystemBackend",),
    "memoryware.backends.history": ("HistoryBackend",),
    "memoryware.backends.protocol": ("BackendProtocol",),
    "memoryware.backends.state": ("StateBackend",),
    "memoryware.backends.store": ("StoreBackend",),
    "memoryware.config": ("AgentConfig", "load_config"),
    "memoryware.errors": ("MemorywareError",),
    "memoryware.guard": ("Guard",),
    "memoryware.middleware.file_tools": ("FileToolsMiddleware",),
    "memoryware.middleware.memory": ("DeepMemoryMiddleware", "MemoryMiddleware"),
    "memoryware.middleware.tiered": ("TieredMemoryMiddleware",),
    "memoryware.nodes": (
        "FactCheckNode",
        "MemoryRetrievalNode",
        "inject_context",
        "remember",
        "with_memory",
    ),
    "memoryware.scope": ("MemoryScope",),
    "memoryware.settings": ("FileLimits", "MemoryLimits", "Ranking", "TierLimits", "ToolLimits"),
    "memoryware.sources.discovery": ("discover",),
    "memoryware.sources.guarded": ("GuardedBackend",),
    "memoryware.sources.imports": ("Imports",),
    "memoryware.sources.layout": ("Layout",),
    "memoryware.sources.source": ("Source",),
    "memoryware.tiers.client.memory": ("TieredMemory",),
    "memoryware.tiers.model": ("Entry", "Memory"),
    "memoryware.tiers.policy": ("PromotionPolicy",),
    "memoryware.tiers.provenance": ("Origin", "Provenance", "Trust"),
    "memoryware.tiers.recall.context": ("ContextBuilder",),
    "memoryware.tiers.values": ("Output", "Promotion", "Recall", "Receipt", "Recorded"),
}
# Names that stood here in the first release load with a warning that says where they are now.
_MOVED: Final = {
    "memoryware.backends": """
        Actor BackendFactory BackendLike BackendOrFactory DeleteResult EditResult FileData
        FileDownloadResponse FileInfo FileUploadResponse GlobResult GrepMatch GrepResult
        LsResult ReadResult Row=DiffRow Version WriteResult aopen_files arecent_versions
        normalise_path open_files recent_versions side_by_side
    """,
    "memoryware.errors": """
        BackendUnavailable BundleRefused ConfigError DatasetRefused EditRefused EmbeddingFailed
        EmbeddingMismatch EntryMissing EntryRefused FileAlreadyThere FileDenied FileError
        FileIsDirectory FileMissing FileNotRegular FileTooLarge LoadError LockTimeout
        ModelMissing NamespaceError NotPicklable PathRefused PathUnusable PatternRefused
        PromotionRefused ResponseCountError ScopeMissing SecretRefused SettingError StoreNewer
        StoreUnavailable StoreUnconfirmed TextRefused TierError VersionMissing WriteFailed
    """,
    "memoryware.events": """
        Counters MemoryEvent listen
    """,
    "memoryware.guard": """
        Detector Finding KingfisherDetector
    """,
    "memoryware.middleware": """
        MEMORY_SYSTEM_PROMPT MemoryState MemoryStateUpdate Preview SourcePreview
        append_to_system_message redact_memory
    """,
    "memoryware.settings": """
        CheckLimits DiscoveryLimits HistoryLimits ImportLimits InspectorLimits McpLimits
        PostgresLimits
    """,
    "memoryware.sources": """
        Flaw Leak acheck adiscover agreed ascan check on_disk scan
    """,
    "memoryware.stores": """
        Choose=Chooser CopyReport ImportReport Query Searched=SearchResult Seen=SearchCandidate
        Select Sight=SearchView Space Stores Stretch=Batch TierCopy
        acopy_stores aopen_stores copy_stores langgraph_stores open_stores
    """,
    "memoryware.tiers": """
        Act ActKind Audit BuiltContext Candidate ConsistencyJudge ContextItem Contradiction Counts
        Digest ExactDuplicate ForgetReceipt HasContent Headings IngressFilter Insight Journal Labels
        Listed Listing MinConfidence MinLength NearDuplicate NoVerifyPending Noted=JournalEntry
        Passed PendingPromotion ROLES Refusal Reindexed Reranker RoleRules Session Sessions Shown
        Story Turn Verdict declare_origins default_filters
    """,
}
__getattr__, __dir__ = attach(__name__, _HOMES, moved=_MOVED)

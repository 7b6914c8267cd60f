"""Stores of tiered memory: opening, copying, and the contract for a store of your own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoryware._lazy import attach

if TYPE_CHECKING:
    from memoryware.tiers.bundles import ImportReport
    from memoryware.tiers.stores.base import RecordStore, RecordTransaction, StoredRecord
    from memoryware.tiers.stores.codec import entry_from_json, memory_from_json, record_to_json
    from memoryware.tiers.stores.langgraph import langgraph_stores
    from memoryware.tiers.stores.opening import aopen_stores, open_stores
    from memoryware.tiers.stores.postgres import admit_role
    from memoryware.tiers.stores.protocol import (
        Batch,
        Chooser,
        Query,
        SearchCandidate,
        SearchResult,
        SearchView,
        Select,
        Space,
        Store,
        Stores,
        Transaction,
    )
    from memoryware.tiers.stores.selecting import (
        IndexedMemory,
        PageRequest,
        build_view,
        is_live,
        is_selected,
        page_of,
        parse_mark,
        same_document,
        single_batch,
        speaker_key,
        thread_key,
        without_duplicates,
    )
    from memoryware.tiers.transfer import CopyReport, TierCopy, acopy_stores, copy_stores

__all__ = [
    "Batch",
    "Chooser",
    "CopyReport",
    "ImportReport",
    "IndexedMemory",
    "PageRequest",
    "Query",
    "RecordStore",
    "RecordTransaction",
    "SearchCandidate",
    "SearchResult",
    "SearchView",
    "Select",
    "Space",
    "Store",
    "StoredRecord",
    "Stores",
    "TierCopy",
    "Transaction",
    "acopy_stores",
    "admit_role",
    "aopen_stores",
    "build_view",
    "copy_stores",
    "entry_from_json",
    "is_live",
    "is_selected",
    "langgraph_stores",
    "memory_from_json",
    "open_stores",
    "page_of",
    "parse_mark",
    "record_to_json",
    "same_document",
    "single_batch",
    "speaker_key",
    "thread_key",
    "without_duplicates",
]
_HOMES: Final = {
    "memoryware.tiers.bundles": ("ImportReport",),
    "memoryware.tiers.stores.base": ("RecordStore", "RecordTransaction", "StoredRecord"),
    "memoryware.tiers.stores.codec": ("entry_from_json", "memory_from_json", "record_to_json"),
    "memoryware.tiers.stores.langgraph": ("langgraph_stores",),
    "memoryware.tiers.stores.opening": ("aopen_stores", "open_stores"),
    "memoryware.tiers.stores.postgres": ("admit_role",),
    "memoryware.tiers.stores.protocol": (
        "Batch",
        "Chooser",
        "Query",
        "SearchCandidate",
        "SearchResult",
        "SearchView",
        "Select",
        "Space",
        "Store",
        "Stores",
        "Transaction",
    ),
    "memoryware.tiers.stores.selecting": (
        "IndexedMemory",
        "PageRequest",
        "build_view",
        "is_live",
        "is_selected",
        "page_of",
        "parse_mark",
        "same_document",
        "single_batch",
        "speaker_key",
        "thread_key",
        "without_duplicates",
    ),
    "memoryware.tiers.transfer": ("CopyReport", "TierCopy", "acopy_stores", "copy_stores"),
}
__getattr__, __dir__ = attach(__name__, _HOMES)

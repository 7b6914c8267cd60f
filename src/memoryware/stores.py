"""Stores of tiered memory: opening, copying, and the contract for a store of your own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoryware._lazy import attach

if TYPE_CHECKING:
    from memoryware.tiers.stores.base import RecordStore, RecordTransaction, StoredRecord
    from memoryware.tiers.stores.codec import entry_from_json, memory_from_json, record_to_json
    from memoryware.tiers.stores.langgraph import langgraph_stores
    from memoryware.tiers.stores.opening import aopen_stores, open_stores
    from memoryware.tiers.stores.postgres import admit_role
    from memoryware.tiers.stores.protocol import (
        Batch,
        Choose,
        Query,
        Searched,
        Seen,
        Select,
        Sight,
        Space,
        Store,
        Stores,
        Transaction,
    )
    from memoryware.tiers.stores.selecting import (
        Item,
        Part,
        fits,
        is_live,
        look,
        number_of_mark,
        page_of,
        same_document,
        thread_of,
        whole_of,
        without_doubles,
    )
    from memoryware.tiers.transfer import (
        CopyReport,
        ImportReport,
        TierCopy,
        acopy_stores,
        copy_stores,
    )

__all__ = [
    "Batch",
    "Choose",
    "CopyReport",
    "ImportReport",
    "Item",
    "Part",
    "Query",
    "RecordStore",
    "RecordTransaction",
    "Searched",
    "Seen",
    "Select",
    "Sight",
    "Space",
    "Store",
    "StoredRecord",
    "Stores",
    "TierCopy",
    "Transaction",
    "acopy_stores",
    "admit_role",
    "aopen_stores",
    "copy_stores",
    "entry_from_json",
    "fits",
    "is_live",
    "langgraph_stores",
    "look",
    "memory_from_json",
    "number_of_mark",
    "open_stores",
    "page_of",
    "record_to_json",
    "same_document",
    "thread_of",
    "whole_of",
    "without_doubles",
]
_HOMES: Final = {
    "memoryware.tiers.stores.base": ("RecordStore", "RecordTransaction", "StoredRecord"),
    "memoryware.tiers.stores.codec": ("entry_from_json", "memory_from_json", "record_to_json"),
    "memoryware.tiers.stores.langgraph": ("langgraph_stores",),
    "memoryware.tiers.stores.opening": ("aopen_stores", "open_stores"),
    "memoryware.tiers.stores.postgres": ("admit_role",),
    "memoryware.tiers.stores.protocol": (
        "Batch",
        "Choose",
        "Query",
        "Searched",
        "Seen",
        "Select",
        "Sight",
        "Space",
        "Store",
        "Stores",
        "Transaction",
    ),
    "memoryware.tiers.stores.selecting": (
        "Item",
        "Part",
        "fits",
        "is_live",
        "look",
        "number_of_mark",
        "page_of",
        "same_document",
        "thread_of",
        "whole_of",
        "without_doubles",
    ),
    "memoryware.tiers.transfer": (
        "CopyReport",
        "ImportReport",
        "TierCopy",
        "acopy_stores",
        "copy_stores",
    ),
}
__getattr__, __dir__ = attach(__name__, _HOMES)

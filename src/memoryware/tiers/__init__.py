"""Tiered memory: the client, records, results, filters, context builder, audit log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoryware._lazy import attach

if TYPE_CHECKING:
    from memoryware.tiers.audit import Act, ActKind, Audit, Session, Sessions, Shown, Story, Turn
    from memoryware.tiers.client.memory import TieredMemory
    from memoryware.tiers.embedding import Reranker
    from memoryware.tiers.extraction.facts import (
        ExtractedFact,
        Extraction,
        ExtractionUsage,
    )
    from memoryware.tiers.extraction.manager import MemoryManager
    from memoryware.tiers.filters import (
        ConsistencyJudge,
        ExactDuplicate,
        HasContent,
        IngressFilter,
        MinConfidence,
        MinLength,
        NearDuplicate,
        NoVerifyPending,
        Passed,
        Refusal,
        default_filters,
    )
    from memoryware.tiers.journal import Journal, JournalEntry
    from memoryware.tiers.messages import ROLES, RoleRules
    from memoryware.tiers.model import Entry, Memory, PendingPromotion, Verdict
    from memoryware.tiers.policy import PromotionPolicy
    from memoryware.tiers.provenance import Origin, Provenance, Trust
    from memoryware.tiers.recall.context import BuiltContext, ContextBuilder, Headings
    from memoryware.tiers.rendering import Labels
    from memoryware.tiers.reopen import Reopened
    from memoryware.tiers.run_origins import declare_origins
    from memoryware.tiers.values import (
        Candidate,
        ContextItem,
        Contradiction,
        Counts,
        Digest,
        ForgetReceipt,
        GroupSummary,
        Insight,
        Listed,
        Listing,
        Output,
        Promotion,
        Recall,
        Receipt,
        Recorded,
        Reindexed,
        Replacement,
    )

__all__ = [
    "ROLES",
    "Act",
    "ActKind",
    "Audit",
    "BuiltContext",
    "Candidate",
    "ConsistencyJudge",
    "ContextBuilder",
    "ContextItem",
    "Contradiction",
    "Counts",
    "Digest",
    "Entry",
    "ExactDuplicate",
    "ExtractedFact",
    "Extraction",
    "ExtractionUsage",
    "ForgetReceipt",
    "GroupSummary",
    "HasContent",
    "Headings",
    "IngressFilter",
    "Insight",
    "Journal",
    "JournalEntry",
    "Labels",
    "Listed",
    "Listing",
    "Memory",
    "MemoryManager",
    "MinConfidence",
    "MinLength",
    "NearDuplicate",
    "NoVerifyPending",
    "Origin",
    "Output",
    "Passed",
    "PendingPromotion",
    "Promotion",
    "PromotionPolicy",
    "Provenance",
    "Recall",
    "Receipt",
    "Recorded",
    "Refusal",
    "Reindexed",
    "Reopened",
    "Replacement",
    "Reranker",
    "RoleRules",
    "Session",
    "Sessions",
    "Shown",
    "Story",
    "TieredMemory",
    "Trust",
    "Turn",
    "Verdict",
    "declare_origins",
    "default_filters",
]
_HOMES: Final = {
    "memoryware.tiers.audit": (
        "Act",
        "ActKind",
        "Audit",
        "Session",
        "Sessions",
        "Shown",
        "Story",
        "Turn",
    ),
    "memoryware.tiers.client.memory": ("TieredMemory",),
    "memoryware.tiers.embedding": ("Reranker",),
    "memoryware.tiers.extraction.facts": (
        "ExtractedFact",
        "Extraction",
        "ExtractionUsage",
    ),
    "memoryware.tiers.extraction.manager": ("MemoryManager",),
    "memoryware.tiers.filters": (
        "ConsistencyJudge",
        "ExactDuplicate",
        "HasContent",
        "IngressFilter",
        "MinConfidence",
        "MinLength",
        "NearDuplicate",
        "NoVerifyPending",
        "Passed",
        "Refusal",
        "default_filters",
    ),
    "memoryware.tiers.journal": ("Journal", "JournalEntry"),
    "memoryware.tiers.messages": ("ROLES", "RoleRules"),
    "memoryware.tiers.model": ("Entry", "Memory", "PendingPromotion", "Verdict"),
    "memoryware.tiers.policy": ("PromotionPolicy",),
    "memoryware.tiers.provenance": ("Origin", "Provenance", "Trust"),
    "memoryware.tiers.run_origins": ("declare_origins",),
    "memoryware.tiers.recall.context": ("BuiltContext", "ContextBuilder", "Headings"),
    "memoryware.tiers.rendering": ("Labels",),
    "memoryware.tiers.reopen": ("Reopened",),
    "memoryware.tiers.values": (
        "Candidate",
        "ContextItem",
        "Contradiction",
        "Counts",
        "Digest",
        "ForgetReceipt",
        "GroupSummary",
        "Insight",
        "Listed",
        "Listing",
        "Output",
        "Promotion",
        "Recall",
        "Receipt",
        "Recorded",
        "Reindexed",
        "Replacement",
    ),
}
__getattr__, __dir__ = attach(__name__, _HOMES)

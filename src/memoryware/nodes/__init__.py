"""Tiered memory in a plain `StateGraph`: recording, recall, a check of facts."""

from __future__ import annotations

from memoryware.nodes._recording import remember, with_memory
from memoryware.nodes.fact_check import FactCheckNode
from memoryware.nodes.retrieval import MemoryRetrievalNode, inject_context
from memoryware.tiers.messages import ROLES, RoleRules

__all__ = [
    "ROLES",
    "FactCheckNode",
    "MemoryRetrievalNode",
    "RoleRules",
    "inject_context",
    "remember",
    "with_memory",
]

"""Recall: what working and long-term memory know of a query, and why each text came."""

from __future__ import annotations

from memoryware.tiers.retrieval.asking import Source, Wanted
from memoryware.tiers.retrieval.recalling import retrieve

__all__ = ["Source", "Wanted", "retrieve"]

"""Recall: what working and long-term memory know of a query, and why each text came."""

from __future__ import annotations

from memoryware.tiers.recall.query import RecallLayer, RetrieveOptions
from memoryware.tiers.recall.search import retrieve

__all__ = ["RecallLayer", "RetrieveOptions", "retrieve"]

"""The three tiers in any store of LangGraph."""

from __future__ import annotations

from memoryware.tiers.stores.langgraph.stores import langgraph_stores

__all__ = ["langgraph_stores"]

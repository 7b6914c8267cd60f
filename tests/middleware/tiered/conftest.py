"""Fixtures of the tests of agents: a memory and its manager, as in the tests of extraction."""

from __future__ import annotations

from tiers.extraction.fixtures import clock, manager, memory

__all__ = ["clock", "manager", "memory"]

"""Fixtures of the tests of the memory manager."""

from __future__ import annotations

from tiers.extraction.fixtures import clock, manager, memory

__all__ = ["clock", "manager", "memory"]

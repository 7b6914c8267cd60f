"""The three tiers in one SQLite file."""

from __future__ import annotations

from memoryware.tiers.stores.sqlite.stores import sqlite_stores

__all__ = ["sqlite_stores"]

"""The three tiers in PostgreSQL with pgvector."""

from __future__ import annotations

from memoryware.tiers.stores.postgres._store import admit_role, postgres_stores

__all__ = ["admit_role", "postgres_stores"]

"""Working memory in Redis or Valkey, for agents on many machines."""

from __future__ import annotations

from memoryware.tiers.stores.redis._server import RedisSettings
from memoryware.tiers.stores.redis._store import RedisWorking

__all__ = ["RedisSettings", "RedisWorking"]

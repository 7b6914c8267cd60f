"""Working memory in Redis or Valkey."""

from __future__ import annotations

from memoryware.tiers.stores.redis.settings import RedisSettings
from memoryware.tiers.stores.redis.stores import RedisWorking

__all__ = ["RedisSettings", "RedisWorking"]

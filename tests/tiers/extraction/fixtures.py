"""A memory whose clock the tests move, and a manager without a thread."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memoryware import TieredMemory
from memoryware.tiers import MemoryManager
from tiers.kit import Clock


@pytest.fixture
def clock():
    return Clock(datetime(2025, 3, 3, 9, tzinfo=UTC))


@pytest.fixture
def memory(clock):
    with TieredMemory.open("memory://", clock=clock) as memory:
        yield memory


@pytest.fixture
def manager(memory):
    with MemoryManager(memory, background=False) as manager:
        yield manager

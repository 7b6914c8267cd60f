from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memoryware import TieredMemory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[TieredMemory]:
    with TieredMemory.open(f"sqlite:///{tmp_path}/memory.db") as opened:
        yield opened

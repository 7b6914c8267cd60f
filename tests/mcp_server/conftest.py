"""A memory and a folder of memory files."""

from __future__ import annotations

import pytest

from memoryware import TieredMemory


@pytest.fixture
def memory():
    with TieredMemory.open("memory://") as made:
        yield made


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "AGENTS.md").write_text("# Rules\nUse tabs.\n", encoding="utf-8")
    (tmp_path / "private.md").write_text("not for you", encoding="utf-8")
    return tmp_path

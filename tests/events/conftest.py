"""Each test starts as a fresh process does: nothing was said yet."""

from __future__ import annotations

import pytest

from memoryware.events import _emission


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch):
    monkeypatch.setattr(_emission, "_logged", set())

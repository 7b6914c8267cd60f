"""Filters, digest and promotion say of the measured pairs of texts what they said before."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest

from frozen.verdicts import verdicts


@pytest.mark.slow
def test_every_pair_has_the_verdict_that_is_frozen():
    frozen = (Path(__file__).parent / "verdicts.txt").read_text("utf-8").splitlines()
    lines = difflib.unified_diff(frozen, verdicts(), "frozen", "today", n=0, lineterm="")
    changed = "\n".join(lines)
    assert not changed, f"{changed}\nIf this is meant: python tests/frozen/made.py verdicts"

"""What recall is worth is what it was, to four digits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from frozen.figures import EXAMPLE, VARIABLE, figures, locomo_path
from frozen.reads import differences

pytestmark = pytest.mark.slow
FROZEN = json.loads((Path(__file__).parent / "figures.json").read_text("utf-8"))
WAYS = ["words", "local"]


def assert_figures(name, dataset, path, way):
    """Compare every figure; the vectors of the local model are those of this kind of processor."""
    found = figures(dataset, path, None if way == "words" else way)
    differing = list(differences(FROZEN[name][way], found, 0.00001))
    assert not differing, "\n".join(
        [*differing[:20], "If this is meant: python tests/frozen/made.py figures"]
    )


@pytest.mark.parametrize("way", WAYS)
def test_the_conversation_of_the_project_is_recalled_as_before(way):
    if way == "local":
        pytest.importorskip("onnxruntime")
    assert_figures("example", "jsonl", EXAMPLE, way)


@pytest.mark.timeout(1800)
@pytest.mark.skipif(locomo_path() is None, reason=f"{VARIABLE} names no file of LoCoMo")
@pytest.mark.parametrize("way", WAYS)
def test_both_halves_of_locomo_are_recalled_as_before(way):
    if way == "local":
        pytest.importorskip("onnxruntime")
    assert set(FROZEN["locomo"][way]) >= {"tuned", "held"}
    assert_figures("locomo", "locomo", locomo_path(), way)

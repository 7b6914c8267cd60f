"""Vectors as stores keep them: many at once are what each is by itself."""

from __future__ import annotations

import math
import random
import sys

import pytest

from memoryware.errors import EmbeddingMismatch
from memoryware.tiers.scoring import cosine
from memoryware.tiers.stores import codec
from memoryware.tiers.stores.codec import packed, packed_all, unpacked
from memoryware.tiers.stores.protocol import Space

SPACE = Space("made up", 24)


@pytest.fixture(params=["numpy", "plain"])
def numpy(request, monkeypatch):
    """With NumPy, and as if it were not installed."""
    codec._numpy.cache_clear()
    if request.param == "numpy":
        pytest.importorskip("numpy")
    else:
        monkeypatch.setitem(sys.modules, "numpy", None)
    yield request.param
    codec._numpy.cache_clear()


def drawn(count, scale=1.0):
    dice = random.Random(11)
    return [[dice.gauss(0, scale) for _ in range(SPACE.dimension)] for _ in range(count)]


@pytest.mark.parametrize("count", [0, 1, 3, 4, 1024, 2500])
def test_many_vectors_keep_their_order_and_directions(numpy, count):
    vectors = drawn(count)
    kept = packed_all(vectors, SPACE)
    assert len(kept) == count
    for one, data in zip(vectors, kept, strict=True):
        assert len(data) == 2 * SPACE.dimension
        assert cosine(one, unpacked(data)) > 0.999999
        assert math.hypot(*unpacked(data)) == pytest.approx(1, abs=0.001)


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1.0, 1e30, 1e300])
def test_vectors_of_any_size_are_what_each_is_by_itself(numpy, scale):
    vectors = drawn(10, scale)
    alone = [unpacked(packed(one, SPACE)) for one in vectors]
    for one, data in zip(alone, packed_all(vectors, SPACE), strict=True):
        assert unpacked(data) == pytest.approx(one, abs=0.001)


def test_a_vector_without_a_length_stays_one_among_others(numpy):
    kept = packed_all([*drawn(5), [0.0] * SPACE.dimension], SPACE)
    assert unpacked(kept[-1]) == (0.0,) * SPACE.dimension


def test_one_of_another_length_refuses_all(numpy):
    with pytest.raises(EmbeddingMismatch, match="a vector of 23 dimensions"):
        packed_all([*drawn(5), [1.0] * 23], SPACE)
    with pytest.raises(EmbeddingMismatch):
        packed_all([[1.0] * 23] * 5, SPACE)

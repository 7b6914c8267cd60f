"""Cosines of many vectors at once are those of each pair."""

from __future__ import annotations

import ast
import subprocess
import sys
from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryware.tiers.scoring import bm25, bm25_scores, cosine, cosine_table

NUMBERS = st.floats(-1e3, 1e3).filter(lambda number: number == 0 or abs(number) > 1e-3)
VECTORS = st.lists(st.none() | st.tuples(NUMBERS, NUMBERS, NUMBERS), max_size=6)


@pytest.mark.slow
@settings(deadline=None)  # the first call loads NumPy
@given(VECTORS, VECTORS)
def test_each_with_each(left, right):
    table = cosine_table(left, right)
    assert [len(row) for row in table] == [len(right)] * len(left)
    for vector, row in zip(left, table, strict=True):
        for other, value in zip(right, row, strict=True):
            if vector is None or other is None:
                assert value is None
            else:
                assert value == pytest.approx(cosine(vector, other), abs=1e-12)


def test_vectors_of_other_lengths_are_not_compared():
    assert cosine_table([(1.0, 0.0)], [(1.0, 0.0), (1.0, 0.0, 0.0), None]) == [[1.0, None, None]]


@pytest.mark.parametrize("scale", [1e-200, 1e-160, 1e110, 1e200])
def test_vectors_whose_squares_are_no_numbers_are_compared(scale):
    (row,) = cosine_table([(scale, scale)], [(scale, 0.0), (-scale, -scale)])
    assert row == pytest.approx([0.5**0.5, -1.0])


def test_equal_vectors_have_equal_cosines_wherever_they_stand():
    vector = array("d", [0.1 * n for n in range(384)])
    query = array("d", [1 / (n + 1) for n in range(384)])
    (row,) = cosine_table([query], [vector] * 37)
    assert len(set(row)) == 1


def test_without_numpy_the_answer_is_the_same():
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        "from memoryware.tiers.scoring import cosine_table\n"
        "print(cosine_table([(1.0, 2.0)], [(2.0, 1.0), None]))\n"
    )
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ast.literal_eval(made.stdout) == [[pytest.approx(0.8), None]]
    assert cosine_table([(1.0, 2.0)], [(2.0, 1.0), None]) == [[pytest.approx(0.8), None]]


@settings(deadline=None)  # the first call loads NumPy
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(1, 50)), max_size=8),
    st.integers(0, 9),
    st.sampled_from([0.0, 7.5]),
)
def test_many_texts_score_exactly_as_each_by_itself(texts, having, mean):
    numpy = pytest.importorskip("numpy")
    counts = [[text[place] for text in texts] for place in (0, 1)]
    sizes = [text[2] for text in texts]
    words = {"tea": having, "milk": 3}
    expected = [bm25({"tea": tea, "milk": milk}, words, 9, mean, size) for tea, milk, size in texts]
    assert bm25_scores(counts, sizes, [having, 3], 9, mean) == expected
    arrays = [numpy.array(column, "i8") for column in counts]
    assert bm25_scores(arrays, numpy.array(sizes, "i8"), [having, 3], 9, mean) == expected

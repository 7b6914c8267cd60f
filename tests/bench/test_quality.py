"""What recall is worth with the model that comes along: the promises of the results page."""

from __future__ import annotations

from pathlib import Path

import pytest

from memoryware.bench.recall import RETRIEVE, VECTORS, WORDS, Report, measure, plan

EXAMPLE = Path(__file__).parents[2] / "examples" / "recall"
pytestmark = pytest.mark.xdist_group("recall quality")  # measured once, in one worker

SCARCE, ALL = "shares no word with its answer", "all"


@pytest.fixture(scope="module", params=["local", None])
def means(request):
    """Return the mean of each row, by way of asking, of the example with and without a model."""
    planned = plan("jsonl", EXAMPLE)
    measured = measure(planned.conversations, planned.scoring, embeddings=request.param, lists=True)
    report = Report.of(measured, planned.scoring)
    return {one.way: {row.name: row.means for row in one.rows} for one in report.tables}


@pytest.mark.slow
@pytest.mark.parametrize("k", ["R@5", "R@10"])
def test_no_single_list_is_better_than_all_together(means, k):
    best = max(means[way][ALL][k] for way in (WORDS, VECTORS) if way in means)
    assert means[RETRIEVE][ALL][k] >= best - 0.01


@pytest.mark.slow
@pytest.mark.parametrize("k", ["R@5", "R@10"])
def test_what_is_said_in_other_words_is_not_buried(means, k):
    if VECTORS in means:
        assert means[RETRIEVE][SCARCE][k] >= 0.9 * means[VECTORS][SCARCE][k]


def test_the_floor_of_today_holds(means):
    assert means[RETRIEVE][ALL]["R@5"] >= (0.64 if VECTORS in means else 0.45)

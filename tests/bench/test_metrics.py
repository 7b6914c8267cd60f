"""Measures against values that were worked out by hand."""

from __future__ import annotations

import math

import pytest

from memoryware.bench.scoring import (
    depth_for,
    ndcg_any,
    recall,
    recall_all,
    recall_any,
    reciprocal_rank,
    shared_words,
    unique,
)

RANKED = ["a", "x", "b", "y", "c"]


@pytest.mark.parametrize(
    ("k", "share"), [(0, 0), (1, 1 / 3), (2, 1 / 3), (3, 2 / 3), (5, 1), (50, 1)]
)
def test_recall_is_the_share_of_the_gold_among_the_first(k, share):
    assert recall(RANKED, ["a", "b", "c"], k) == pytest.approx(share)


def test_gold_that_is_named_twice_counts_once():
    assert recall(["a"], ["a", "a", "b"], 5) == 0.5


def test_any_and_all_differ_where_a_part_is_found():
    assert (recall_any(RANKED, ["b", "c"], 3), recall_all(RANKED, ["b", "c"], 3)) == (1, 0)
    assert (recall_any(RANKED, ["b", "c"], 5), recall_all(RANKED, ["b", "c"], 5)) == (1, 1)
    assert (recall_any(RANKED, ["b", "c"], 2), recall_all(RANKED, ["b", "c"], 2)) == (0, 0)


def test_without_gold_nothing_is_found_and_nothing_is_missing():
    assert (recall(RANKED, [], 5), recall_any(RANKED, [], 5), recall_all(RANKED, [], 5)) == (
        0,
        0,
        1,
    )
    assert (ndcg_any(RANKED, [], 5), reciprocal_rank(RANKED, [])) == (0, 0)


def test_the_reciprocal_rank_is_that_of_the_first_hit():
    assert reciprocal_rank(RANKED, ["c", "b"]) == pytest.approx(1 / 3)
    assert reciprocal_rank(RANKED, ["z"]) == 0


def test_gain_is_whole_at_the_first_two_places_and_falls_with_the_logarithm():
    assert ndcg_any(["a", "b"], ["a", "b"], 5) == 1
    assert ndcg_any(["x", "a"], ["a"], 5) == 1
    assert ndcg_any(["x", "y", "a"], ["a"], 5) == pytest.approx(1 / math.log2(3))
    assert ndcg_any(["x", "a", "y", "b"], ["a", "b", "c"], 4) == pytest.approx(
        (1 + 1 / 2) / (2 + 1 / math.log2(3))
    )
    assert ndcg_any(["x", "y", "a"], ["a"], 2) == 0


def test_gain_counts_an_id_as_often_as_it_comes_if_told_how_often_there_is_one():
    assert ndcg_any(["s", "s"], ["s"], 5, relevant=2) == 1
    assert ndcg_any(["s", "x", "s"], ["s"], 5, relevant=2) == pytest.approx(
        (1 + 1 / math.log2(3)) / 2
    )


def test_so_many_are_looked_at_that_k_different_ones_are_seen():
    assert depth_for(["s", "s", "t", "t", "u"], 1) == 1
    assert depth_for(["s", "s", "t", "t", "u"], 2) == 3
    assert depth_for(["s", "s", "t", "t", "u"], 3) == 5
    assert depth_for(["s", "s"], 2) == 2
    assert depth_for(["s"], 5) == 5


def test_each_stands_where_it_stood_first():
    assert unique(["t", "s", "t", "u", "s"]) == ["t", "s", "u"]


def test_a_shared_word_is_one_that_the_search_would_match():
    assert shared_words("Where did Bo plant the oaks?", ["He planted it.", "An oak."]) == {
        "plant",
        "oak",
    }
    assert shared_words("What is it that you do?", ["I do what you do."]) != set()
    assert shared_words("What pet do I have?", ["You do have a cat."]) == set()
    assert shared_words("邻居苏珊", ["苏珊送了我一盆薄荷"]) >= {"苏珊"}
    assert shared_words("哪种坚果", ["我对花生过敏"]) == set()

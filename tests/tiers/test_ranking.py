"""How lists of what was found become one: nothing that either list holds for best is lost."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryware.tiers.ranking import (
    Found,
    best_first,
    bm25,
    cosine,
    coverage_of,
    fused,
    lone_characters,
    rarity,
    whole_score,
    with_places,
    words_of,
)

SHARES = st.floats(0, 1)
COSINES = st.floats(-1, 1)


def test_a_rare_word_counts_more_and_no_word_less_than_nothing():
    assert rarity(1, 100) > rarity(50, 100) > rarity(100, 100) > 0
    assert rarity(5, 0) > 0


def test_the_score_of_words_is_that_of_bm25():
    texts = [Counter(words_of(one)) for one in ("green tea", "green door", "black coffee")]
    having = {"green": 2, "tea": 1}
    scores = [bm25(one, having, 3, 2.0) for one in texts]
    assert scores == pytest.approx([1.4508, 0.4700, 0.0], abs=1e-4)
    assert whole_score(having, 3) == pytest.approx(rarity(2, 3) + rarity(1, 3))


def test_coverage_is_a_share_that_does_not_depend_on_other_hits():
    assert coverage_of(0.0, 3.0) == 0.0
    assert coverage_of(1.5, 3.0) == 0.5
    assert coverage_of(9.0, 3.0) == 1.0
    assert coverage_of(6.0, None) == 0.5


@given(COSINES, SHARES, st.floats(-1, 1))
def test_a_score_is_never_outside_its_range_and_grows_with_everything(similarity, share, near):
    score = fused(Found(words=1.0, coverage=share, similarity=similarity, near=near))
    assert -1 <= score <= 1
    assert score >= fused(Found(similarity=similarity))
    assert score <= fused(Found(words=1.0, coverage=1.0, similarity=similarity, near=near))
    assert score <= fused(Found(words=1.0, coverage=share, similarity=1.0, near=near))


def test_words_and_meaning_both_count():
    only_words = fused(Found(words=3.0, coverage=1.0, similarity=0.1))
    only_meaning = fused(Found(similarity=0.6))
    neither = fused(Found(words=0.1, coverage=0.1, similarity=0.1))
    both = fused(Found(words=3.0, coverage=1.0, similarity=0.6))
    assert both > max(only_words, only_meaning) >= min(only_words, only_meaning) > neither


def test_a_text_without_a_vector_yet_is_neither_first_nor_lost():
    pending = fused(Found(words=3.0, coverage=1.0))
    assert fused(Found(words=3.0, coverage=1.0, similarity=0.8)) > pending
    assert pending > fused(Found(words=1.0, coverage=0.3, similarity=0.4))
    assert fused(Found(words=3.0, coverage=0.7), vectors=False) == 0.7


def test_a_neighbour_lends_a_part_and_no_neighbour_takes_anything():
    alone = fused(Found(similarity=0.5))
    assert alone < fused(Found(similarity=0.5, near=0.8)) < 0.8
    assert fused(Found(similarity=0.5, near=0.2)) == alone
    assert fused(Found(similarity=-0.5)) < 0


LISTS = st.integers(0, 40).flatmap(
    lambda n: st.tuples(*[st.permutations([f"t{i}" for i in range(n)])] * 3)
)


@given(LISTS, st.integers(0, 45))
def test_nothing_that_either_list_holds_for_best_vanishes(lists, most):
    ranked, by_vectors, by_words = lists
    kept = with_places(ranked, by_vectors, by_words, most)
    assert len(kept) == min(most, len(ranked))
    assert kept == [one for one in ranked if one in kept]
    if ranked and most >= 1:
        assert ranked[0] in kept
    if ranked and most >= 3:
        assert by_vectors[0] in kept
    if ranked and most >= 5:
        assert by_words[0] in kept
    if ranked and most >= 10:
        assert {*by_vectors[:2], *by_words[:2]} <= set(kept)
    for one in kept:  # whoever is not among the first has a place of its own
        late = ranked.index(one) >= len(kept)
        assert not late or one in (*by_vectors[:10], *by_words[:10])


@given(LISTS, st.integers(0, 45))
def test_most_places_go_by_score(lists, most):
    ranked, by_vectors, by_words = lists
    kept = with_places(ranked, by_vectors, by_words, most)
    assert len({*kept} & {*ranked[: len(kept)]}) >= len(kept) * 3 // 5


def test_lists_that_say_the_same_change_nothing():
    ranked = [f"t{n}" for n in range(10)]
    assert with_places(ranked, ranked, ranked, 5) == ranked[:5]
    assert with_places(ranked, [], [], 5) == ranked[:5]


def test_equal_texts_are_different_places():
    one, same, other = [1], [1], [2]
    kept = with_places([one, same, other], [other], [], 3)
    assert [id(kept_one) for kept_one in kept] == [id(one), id(same), id(other)]


def test_what_has_no_value_is_in_no_order():
    values = {"a": 1.0, "b": None, "c": 2.0, "d": 1.0}
    assert best_first("abcd", values.get) == ["c", "a", "d"]


def test_a_cosine_is_a_number_for_every_vector():
    assert cosine((1, 0), (2, 0)) == 1.0
    assert cosine((1, 0), (-3, 0)) == -1.0
    assert cosine((0, 0), (1, 0)) == 0.0
    assert cosine((1e-200, 0), (1e200, 0)) == pytest.approx(1.0)


def test_one_character_of_a_script_in_pairs_is_known():
    assert lone_characters(["猫", "a", "数据", "한"]) == ["猫", "한"]

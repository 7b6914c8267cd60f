"""How words, meaning and neighbours become one score."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from limits import limited
from memoryware.errors import SettingError
from memoryware.settings import Ranking
from memoryware.tiers.recall.fusion import Match, fused, judge, kept_places, share_of, with_places
from memoryware.tiers.scoring import bm25, rarity
from memoryware.tiers.stores.protocol import CandidateColumns, SearchCandidate, SearchView

RULES = Ranking()
FLAT = limited(Ranking, before=(), after=(), beside=0)


def view(*seen: SearchCandidate, having: tuple[int, ...] = (2, 1), count: int = 10) -> SearchView:
    return SearchView(seen, having, count, 4.0)


def test_what_is_seen_alone_is_worth_its_own_words():
    (found,) = judge(view(SearchCandidate((2, 1), 5)), RULES)
    own = bm25({"a": 2, "b": 1, "c": 2}, {"a": 2, "b": 1}, 10, 4.0)
    assert found.words == pytest.approx(own)
    assert found.around == found.coverage == pytest.approx(own / (rarity(2, 10) + rarity(1, 10)))
    assert (found.similarity, found.near, found.outstanding) == (None, None, 0.0)


def test_the_answer_beside_a_question_has_a_part_of_its_words():
    asks, says = judge(
        view(SearchCandidate((1, 1), 4), SearchCandidate((0, 0), 4, follows=True)), RULES
    )
    assert says.words is None
    assert 0 < says.around < asks.around
    apart = judge(view(SearchCandidate((1, 1), 4), SearchCandidate((0, 0), 4)), RULES)
    assert apart[1].around == 0
    assert [
        one.around
        for one in judge(view(SearchCandidate((1, 1), 4), SearchCandidate((0, 0), 4)), FLAT)
    ][1] == 0


def test_what_is_before_counts_more_than_what_is_after_and_what_is_near_more_than_what_is_far():
    seen = [SearchCandidate((int(n == 3), 0), 4, follows=n > 0) for n in range(8)]
    around = [one.around for one in judge(view(*seen), RULES)]
    assert around[3] > around[4] > around[2] > around[5] > around[1] > around[6] > around[0] > 0
    assert around[7] == 0


def test_cosines_are_smoothed_with_those_beside():
    seen = [
        SearchCandidate((), 4, 0.8),
        SearchCandidate((), 4, 0.2, follows=True),
        SearchCandidate((), 4, None, follows=True),
    ]
    near = [one.near for one in judge(view(*seen, having=()), RULES)]
    assert near[0] == pytest.approx((0.8 + 0.5 * 0.2) / 1.5)
    assert near[1] == pytest.approx((0.2 + 0.5 * 0.8) / 1.5)
    assert near[2] is None


def test_a_text_stands_out_by_how_far_it_is_above_the_one_at_a_rank():
    seen = [SearchCandidate((), 4, 0.1 * n) for n in range(10)]
    found = [one.outstanding for one in judge(view(*seen, having=()), RULES)]
    assert found == pytest.approx([0.1 * n for n in range(10)])
    few = judge(view(*seen[1:], having=()), RULES)
    assert {one.outstanding for one in few} == {0.0}


def test_a_query_without_words_and_an_empty_memory_have_no_score():
    assert list(judge(SearchView(), RULES)) == []
    (found,) = judge(SearchView([SearchCandidate((), 0, 0.5)], (), 1, 0.0), RULES)
    assert (found.coverage, found.around, found.near) == (0.0, 0.0, 0.5)


COSINES = st.floats(-1, 1)
SHARES = st.floats(0, 2)


@given(COSINES, COSINES, SHARES, SHARES)
def test_a_score_grows_with_everything_that_speaks_for_a_text(near, other, share, more):
    def score(near: float, share: float, outstanding: float = 0.0) -> float:
        found = Match(around=share, similarity=near, near=near, outstanding=outstanding)
        return fused(found, RULES, vectors=True)

    assert (score(near, share) <= score(max(near, other), share)) is True
    assert score(near, share) <= score(near, max(share, more))
    assert score(near, share) <= score(near, share, 0.2)
    words = fused(Match(around=share), RULES, vectors=False)
    assert words == share


def test_a_text_without_a_vector_yet_is_neither_first_nor_lost():
    def score(around: float, near: float | None) -> float:
        found = Match(around=around, similarity=near, near=near)
        return fused(found, RULES, vectors=True)

    assert score(1.0, 0.8) > score(1.0, None) > score(0.3, 0.4)


def test_twice_of_all_weights_is_the_same_order_and_score():
    double = replace(RULES, words=3.0, meaning=2.0, outstanding=8.0)
    found = Match(around=0.4, similarity=0.3, near=0.3, outstanding=0.1)
    one, two = (fused(found, rules, vectors=True) for rules in (RULES, double))
    assert one == pytest.approx(two)
    assert share_of(0.2, RULES, vectors=True) == pytest.approx(0.08)
    assert share_of(0.2, Ranking(words=0, meaning=0), vectors=True) == 0.2


LISTS = st.integers(0, 40).flatmap(
    lambda n: st.tuples(*[st.permutations([f"t{i}" for i in range(n)])] * 2)
)


@given(LISTS, st.integers(1, 6))
def test_every_so_many_th_place_is_for_the_best_of_the_other_list(lists, every):
    ranked, other = lists
    placed = with_places(ranked, other, range(every - 1, 100, every))
    assert sorted(placed) == sorted(ranked)
    assert with_places(ranked, other, ()) == ranked
    for count in range(len(placed) + 1):
        assert set(other[: count // every]) <= set(placed[:count])


@given(LISTS, st.sets(st.integers(0, 45)))
def test_all_other_places_keep_the_order_of_the_ranked_list(lists, kept):
    ranked, other = lists
    placed = with_places(ranked, other, sorted(kept))
    waiting_first, waiting_second = list(ranked), list(other)
    for place, item in enumerate(placed):
        best = waiting_second if place in kept else waiting_first
        assert item == best[0]
        waiting_first.remove(item)
        waiting_second.remove(item)
    assert not waiting_first


def test_lists_that_say_the_same_change_nothing():
    ranked = [f"t{n}" for n in range(10)]
    assert with_places(ranked, ranked, range(10)) == ranked
    assert with_places(ranked, [], range(10)) == ranked


def test_equal_texts_are_different_places():
    one, same, other = [1], [1], [2]
    placed = with_places([one, same, other], [other], [1])
    assert [id(each) for each in placed] == [id(one), id(other), id(same)]


def test_places_are_kept_where_words_are_scarce_and_late_in_a_long_list():
    def kept(rules: Ranking, *, scarce: bool, count: int = 16) -> list[int]:
        return [place + 1 for place in kept_places(rules, scarce=scarce, count=count)]

    assert kept(RULES, scarce=True) == [7, 9, 10, 12, 14, 16]
    assert kept(RULES, scarce=True, count=9) == [7, 9]
    assert kept(RULES, scarce=False) == [12, 15]
    assert kept(limited(Ranking, kept_later=1), scarce=False) == [11, 12, 13, 14, 15, 16]
    assert kept(limited(Ranking, kept_places=(), kept_later=0), scarce=True) == []
    assert kept(limited(Ranking, kept_places=(12, 3, 3), kept_later=4), scarce=True) == [
        3,
        12,
        14,
        16,
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        {"words": -1},
        {"before": (2.0,)},
        {"after": 0.5},
        {"sessions": "yes"},
        {"kept_places": (0,)},
    ],
)
def test_a_weight_that_cannot_be_is_refused_by_name(wrong):
    (name,) = wrong
    with pytest.raises(SettingError, match=name):
        limited(Ranking, **wrong)


def test_weights_reach_as_far_as_the_farthest_neighbour():
    assert Ranking(before=(0.5,), after=(0.4, 0.3)).steps == ((-1, 0.5), (1, 0.4), (2, 0.3))
    assert (RULES.reach, FLAT.reach, Ranking(before=(), after=()).reach) == (3, 0, 1)


SIGHTS = st.integers(0, 4).flatmap(
    lambda words: st.builds(
        lambda seen, having: SearchView(
            [replace(text, follows=text.follows and at > 0) for at, text in enumerate(seen)],
            having,
            30,
            5.5,
        ),
        st.lists(
            st.builds(
                SearchCandidate,
                st.tuples(*[st.integers(0, 3)] * words),
                st.integers(1, 40),
                st.none() | st.floats(-1, 1),
                st.booleans(),
            ),
            max_size=24,
        ),
        st.tuples(*[st.integers(0, 30)] * words),
    )
)
WEIGHTS = st.builds(
    partial(limited, Ranking),
    words=st.sampled_from([0.0, 1.5]),
    meaning=st.sampled_from([0.0, 1.0]),
    beside=st.sampled_from([0.0, 0.5]),
    before=st.sampled_from([(), (0.7, 0.4, 0.2)]),
    after=st.sampled_from([(), (0.5,)]),
    compared=st.sampled_from([1, 3, 10]),
)


def as_columns(view: SearchView) -> SearchView:
    counts = [
        np.array([text.counts[at] for text in view.candidates]) for at in range(len(view.having))
    ]
    near = [np.nan if text.similarity is None else text.similarity for text in view.candidates]
    seen = CandidateColumns(
        counts,
        np.array([text.size for text in view.candidates], "i4"),
        None if np.isnan(near).all() else np.array(near),
        np.array([text.follows for text in view.candidates], bool),
    )
    assert list(seen) == list(view.candidates)
    return replace(view, candidates=seen)


@given(SIGHTS, WEIGHTS, st.integers(1, 6))
def test_columns_are_scored_to_the_last_bit_as_one_text_after_the_other(view, rules, most):
    plain, columns = judge(view, rules), judge(as_columns(view), rules)
    assert list(columns) == list(plain)
    assert (columns.coverage, columns.has_words) == (plain.coverage, plain.has_words)
    assert columns.nearest(most) == plain.nearest(most)
    for vectors in (True, False):
        scores = plain.scores(vectors=vectors)
        assert columns.scores(vectors=vectors) == scores
        assert scores == [fused(match, rules, vectors=vectors) for match in plain]
        assert columns.best(vectors=vectors) == plain.best(vectors=vectors)


def test_of_equal_texts_the_newest_is_first():
    equal = [SearchCandidate((1, 1), 5, 0.5)] * 3
    for seen in (view(*equal), as_columns(view(*equal))):
        matches = judge(seen, RULES)
        assert matches.best(vectors=True) == [2, 1, 0]
        assert matches.nearest(2) == [2, 1]

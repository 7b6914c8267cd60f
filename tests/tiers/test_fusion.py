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
from memoryware.tiers.recall.fusion import (
    BALANCED,
    Balance,
    Match,
    Moves,
    balance_of,
    fused_all,
    judge,
    most_shared,
    unit_of,
)
from memoryware.tiers.scoring import bm25, rarity
from memoryware.tiers.stores.protocol import CandidateColumns, SearchCandidate, SearchView

RULES = Ranking()
FLAT = limited(Ranking, before=(), after=(), beside=0)


def fused(match: Match, rules: Ranking, *, vectors: bool, balance: Balance = BALANCED) -> float:
    (score,) = fused_all([match], rules, vectors=vectors, balance=balance)
    return score


def view(*seen: SearchCandidate, having: tuple[int, ...] = (2, 1), count: int = 10) -> SearchView:
    return SearchView(seen, having, count, 4.0)


def test_what_is_seen_alone_is_worth_its_own_words():
    (found,) = judge(view(SearchCandidate((2, 1), 5)), RULES)
    own = bm25({"a": 2, "b": 1, "c": 2}, {"a": 2, "b": 1}, 10, 4.0)
    assert found.words == pytest.approx(own)
    assert found.around == pytest.approx(own / (rarity(2, 10) + rarity(1, 10)))
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


def test_neighbours_in_a_monologue_count_less_than_in_a_dialogue():
    dialogue = [SearchCandidate((int(n == 1), 0), 4, 0.5, follows=n > 0) for n in range(4)]
    monologue = [replace(text, same_speaker=text.follows) for text in dialogue]
    talked, said = judge(view(*dialogue), RULES), judge(view(*monologue), RULES)
    for at in (0, 2, 3):
        assert 0 < said[at].around < talked[at].around / 2
    # One answer between makes it a dialogue: what is beyond it counts in full.
    mixed = [*monologue[:3], dialogue[3]]
    assert judge(view(*mixed), RULES)[2] == said[2]
    assert judge(view(*mixed), RULES)[3].around == talked[3].around


def test_cosines_are_smoothed_with_those_beside():
    seen = [
        SearchCandidate((), 4, 0.8),
        SearchCandidate((), 4, 0.2, follows=True),
        SearchCandidate((), 4, None, follows=True),
    ]
    near = [one.near for one in judge(view(*seen, having=()), RULES)]
    assert near[0] == pytest.approx((0.8 + 0.35 * 0.2) / 1.35)
    assert near[1] == pytest.approx((0.2 + 0.35 * 0.8) / 1.35)
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
    assert (found.around, found.near) == (0.0, 0.5)


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
    double = replace(RULES, words=3.0, meaning=3.0, outstanding=4.0)
    found = Match(around=0.4, similarity=0.3, near=0.3, outstanding=0.1)
    one, two = (fused(found, rules, vectors=True) for rules in (RULES, double))
    assert one == pytest.approx(two)
    assert [
        unit_of(RULES, vectors=True, balance=balance) for balance in (BALANCED, Balance(2.0, 0.1))
    ] == [3.0, 4.5]
    assert unit_of(Ranking(words=0, meaning=0), vectors=True) == 1.0


def test_a_long_neighbour_counts_less_than_a_short_one():
    def beside(size: int) -> tuple[float, float]:
        seen = [SearchCandidate((1, 1), size, 0.8), SearchCandidate((0, 0), 4, 0.1, follows=True)]
        answer = judge(view(*seen), RULES)[1]
        return answer.around, answer.near

    assert beside(4)[0] > beside(45)[0] > beside(90)[0] > 0
    assert beside(45)[1] == beside(4)[1] > beside(90)[1] > 0.1


def test_where_texts_share_few_words_with_a_question_meaning_counts_more():
    assert [balance_of(RULES, shared, 5) for shared in range(5)] == [
        BALANCED,  # without a word in common only meaning counts anyway
        Balance(2.0, 0.1),
        Balance(1.83, 0.4),
        BALANCED,
        BALANCED,
    ]
    assert balance_of(RULES, 1, 1) == Balance(1.83, 0.4)
    near, worded = Match(similarity=0.4, near=0.4), Match(around=0.5, near=0.1, shared=1.0)

    def order(balance: Balance) -> list[Match]:
        scored = [
            (fused(match, RULES, vectors=True, balance=balance), match) for match in (near, worded)
        ]
        return [match for _, match in sorted(scored, reverse=True)]

    assert order(BALANCED) == [worded, near]
    assert order(balance_of(RULES, 1, 5)) == [near, worded]


def test_one_word_of_a_question_is_worth_less_than_two_where_words_say_little():
    lone, pair = Match(around=0.5, shared=1.0), Match(around=0.5, shared=2.0)

    def score(match: Match, balance: Balance) -> float:
        return fused(match, RULES, vectors=True, balance=balance)

    assert score(lone, BALANCED) == score(pair, BALANCED)
    for balance in (Balance(*RULES.one_shared), Balance(*RULES.two_shared)):
        assert score(lone, balance) < score(pair, balance)


@pytest.mark.parametrize(
    "wrong",
    [
        {"words": -1},
        {"before": (2.0,)},
        {"after": 0.5},
        {"sessions": "yes"},
        {"agent": 2},
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
            [
                replace(
                    text,
                    follows=text.follows and at > 0,
                    same_speaker=text.same_speaker and text.follows and at > 0,
                )
                for at, text in enumerate(seen)
            ],
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
        same_speaker=np.array([text.same_speaker for text in view.candidates], bool),
    )
    assert list(seen) == list(view.candidates)
    return replace(view, candidates=seen)


@pytest.mark.slow
@given(SIGHTS, WEIGHTS, st.sampled_from([BALANCED, Balance(2.0, 0.1)]))
def test_columns_are_scored_to_the_last_bit_as_one_text_after_the_other(view, rules, balance):
    plain = judge(view, rules, balance=balance)
    columns = judge(as_columns(view), rules, balance=balance)
    assert list(columns) == list(plain)
    assert columns.has_words == plain.has_words
    assert most_shared(as_columns(view).candidates) == most_shared(view.candidates)
    for vectors in (True, False):
        scores = plain.scores(vectors=vectors)
        assert columns.scores(vectors=vectors) == scores
        assert scores == [fused(match, rules, vectors=vectors, balance=balance) for match in plain]
        assert columns.best(vectors=vectors) == plain.best(vectors=vectors)


def test_of_equal_texts_the_newest_is_first():
    equal = [SearchCandidate((1, 1), 5, 0.5)] * 3
    for seen in (view(*equal), as_columns(view(*equal))):
        matches = judge(seen, RULES)
        assert matches.best(vectors=True) == [2, 1, 0]


@given(
    st.lists(
        st.tuples(st.floats(-1, 1), st.floats(0.5, 1), st.floats(-0.2, 0)), min_size=3, max_size=30
    ),
    st.randoms(use_true_random=False),
)
def test_whatever_can_be_among_the_best_is_a_contender_also_where_all_is_opposed(texts, dice):
    near, factors, more = (np.array(column) for column in zip(*texts, strict=True))
    columns = CandidateColumns([], np.full(len(near), 4), near)
    matches = judge(SearchView(columns, (), len(near), 4.0), FLAT)
    # Of a noted text both factors are the same; of another one it may be anything between.
    is_noted = np.array([dice.random() < 0.5 for _ in texts])
    least = Moves(np.where(is_noted, factors, 0.5), np.where(is_noted, more, -0.2))
    most = Moves(np.where(is_noted, factors, 1.0), np.where(is_noted, more, 0.0))
    contenders = matches.contenders(least, most, 2, vectors=True)
    scores = np.array(matches.scores(vectors=True)) * factors + more
    assert {*np.argsort(-scores, kind="stable")[:2].tolist()} <= {*contenders}

"""How texts are cut into words, and what these are worth."""

from __future__ import annotations

from collections import Counter

import pytest

from memoryware.tiers.scoring import best_first, bm25, cosine, rarity, whole_score
from memoryware.tiers.text.terms import lone_characters, words_of


def test_a_rare_word_counts_more_and_no_word_less_than_nothing():
    assert rarity(1, 100) > rarity(50, 100) > rarity(100, 100) > 0
    assert rarity(5, 0) > 0


def test_the_score_of_words_is_that_of_bm25():
    texts = [Counter(words_of(one)) for one in ("green tea", "green door", "black coffee")]
    having = {"green": 2, "tea": 1}
    scores = [bm25(one, having, 3, 2.0) for one in texts]
    assert scores == pytest.approx([1.4508, 0.4700, 0.0], abs=1e-4)
    assert whole_score(having, 3) == pytest.approx(rarity(2, 3) + rarity(1, 3))


def test_what_has_no_value_is_in_no_order():
    values = {"a": 1.0, "b": None, "c": 2.0, "d": 1.0}
    assert best_first("abcd", values.get) == ["c", "a", "d"]


def test_a_cosine_is_a_number_for_every_vector():
    assert cosine((1, 0), (2, 0)) == 1.0
    assert cosine((1, 0), (-3, 0)) == -1.0
    assert cosine((0, 0), (1, 0)) == 0.0
    assert cosine((1e-200, 0), (1e200, 0)) == pytest.approx(1.0)


def test_one_character_of_a_script_in_pairs_is_known_and_a_chinese_one_is_a_term():
    assert lone_characters(["猫", "a", "数据", "한", "ね"]) == ["한", "ね"]


def test_vectors_of_any_length_have_a_cosine():
    for long in (1e308, 1e-308, 5e-324):
        assert cosine((long, 0.0), (long, long)) == pytest.approx(0.5**0.5)
        assert cosine((long, 0.0), (1.0, 0.0)) == pytest.approx(1.0)

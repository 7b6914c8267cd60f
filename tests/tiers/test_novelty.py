"""The quick look whether a text is new never says so of what the long one calls an echo."""

from __future__ import annotations

import random

import pytest

from memoryware.tiers.ingress._novelty import is_surely_new
from memoryware.tiers.ingress._statements import statements_of
from memoryware.tiers.ingress.echo import Background, Piece, distinct, words_beside

TOLD = """the stories of Ann are in Berlin not Rome and 1,000 orders moved to db2 on server db3 was
story story. is has runs stopped, running Mercedes hopping replied &amp; Berlin&#98; ber\x07lin
I remember note: Größe größe 記憶 Tokyo, tries try 17 yes. please"""
WORDS = TOLD.split()


@pytest.mark.parametrize("share", [0.0, 0.5, 0.8, 1.0])
def test_what_is_surely_new_is_new_to_the_long_look_as_well(share):
    dice = random.Random(7)
    found = 0
    for _ in range(3_000):
        text, *known = (" ".join(dice.choices(WORDS, k=dice.randint(1, 9))) for _ in range(3))
        statements = statements_of(text)
        if is_surely_new(statements, known, share):
            found += 1
            ground = Background.of(map(Piece, known))
            pieces = distinct(statements, words_beside(statements))
            assert any(ground.is_new(one, share, words) for one, words in pieces), (text, known)

    assert found > 100


@pytest.mark.parametrize(
    "known",
    [
        "Ann tried db2.",
        "ANN TRIES DB2",
        "a ber\x07lin of Ann and d&#98;2, tried",
        "Ann größe 1000",
    ],
)
def test_a_word_that_is_known_in_another_form_is_not_surely_new(known):
    told = {
        "Ann tried db2.": "Ann is trying db2.",
        "ANN TRIES DB2": "Ann tries db2.",
        "a ber\x07lin of Ann and d&#98;2, tried": "Ann tried db2 in Berlin.",
        "Ann größe 1000": "Ann is 1000 Größe.",
    }[known]

    assert not is_surely_new(statements_of(told), [known], 0.8)


def test_a_name_that_nobody_has_said_is_surely_new():
    known = ["The orders are in PostgreSQL 17.", "The server is db2."]

    assert is_surely_new(statements_of("The server is db3."), known, 0.8)

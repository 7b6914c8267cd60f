"""Contradictions among recalled texts are computed when they are asked for, and once."""

from __future__ import annotations

import copy
import pickle

import pytest

from memoryware import TieredMemory
from memoryware.tiers.values import Contradiction, Recall

PORTS = ("The database port is 5432.", "The database port is 5433.")
PAIR = Contradiction(first="a", second="b", reason="not the same number: 5432 and 5433")


@pytest.fixture
def memory():
    memory = TieredMemory.open("memory://")
    for text in PORTS:
        memory.promote(text, "g", by="ann")
    return memory


def once(calls):
    def compare():
        calls.append(1)
        return [PAIR]

    return compare


@pytest.fixture
def lazy():
    calls: list[int] = []
    return Recall(contradictions=once(calls)), calls


async def test_both_doors_find_them(memory):
    for recall in (
        memory.retrieve("database port", "g"),
        await memory.aretrieve("database port", "g"),
    ):
        (pair,) = recall.contradictions
        assert {pair.first, pair.second} == {one.id for one in recall}
        assert pair.reason == "not the same number: 5433 and 5432"


def test_nothing_is_compared_before_somebody_asks(lazy):
    recall, calls = lazy
    assert not calls
    assert recall.contradictions == recall.contradictions == (PAIR,)
    assert calls == [1]


def test_what_was_recalled_is_compared_whatever_became_of_the_list(memory):
    recall = memory.retrieve("database port", "g")
    recall.clear()
    assert len(recall.contradictions) == 1


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))]
)
def test_a_copy_has_them_as_values(memory, copied):
    recall = memory.retrieve("database port", "g", explain=True)
    again = copied(recall)
    assert type(again) is Recall
    assert again == recall
    assert again.contradictions == recall.contradictions != ()
    assert (again.candidates, again.failed, again.notes) == (
        recall.candidates,
        recall.failed,
        recall.notes,
    )
    assert copied(again).contradictions == recall.contradictions


def test_they_can_be_given_and_set():
    recall = Recall(contradictions=[PAIR])
    assert recall.contradictions == (PAIR,)
    recall.contradictions = []
    assert recall.contradictions == ()


def test_a_pickle_of_an_older_version_is_read():
    older = Recall()
    older.__setstate__(
        {"candidates": (), "contradictions": (PAIR,), "failed": ("working",), "notes": ()}
    )
    assert (older.contradictions, older.failed) == ((PAIR,), ("working",))

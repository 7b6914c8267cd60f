"""LongMemEval is read one question at a time, and scored as its authors score it."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime

import pytest

from bench.made import LONGMEMEVAL, longmemeval
from memoryware.bench.datasets import _iter_items, read_longmemeval
from memoryware.bench.scoring import (
    LENIENT,
    STRICT,
    LongMemEvalScoring,
    QuestionContext,
    TurnRanking,
)
from memoryware.errors import DatasetRefused


@pytest.fixture
def file(tmp_path):
    return longmemeval(tmp_path / "s.json")


def test_questions_without_an_answer_are_left_out(file):
    assert [one.id for one in read_longmemeval(file)] == ["q_one", "q_two", "q_four"]


def test_what_the_user_said_is_searched_and_what_answers_is_marked(file):
    one, two, four = read_longmemeval(file)
    assert [turn.id for turn in one.turns] == [
        "filler_1_1",
        "answer_a_1",
        "answer_a_3",
        "filler_2_1",
    ]
    assert [conversation.questions[0].gold for conversation in (one, two, four)] == [
        ("answer_a_1",),
        (),
        ("answer_d_1_1", "answer_d_2_1"),
    ]
    assert one.questions[0].asked_at == datetime(2023, 5, 30, 23, 40, tzinfo=UTC)
    assert one.turns[1].time == datetime(2023, 5, 21, 2, 21, tzinfo=UTC)


def test_with_all_roles_an_assistant_can_have_said_the_answer(file):
    _, two, _ = read_longmemeval(file, roles="all")
    assert two.questions[0].gold == ("answer_b_2",)
    assert [turn.role for turn in two.turns] == ["user", "agent", "user", "agent"]


def test_a_session_can_be_one_memory(file):
    one, two, four = read_longmemeval(file, granularity="session")
    assert [turn.id for turn in one.turns] == ["filler_1", "answer_a", "filler_2"]
    assert one.turns[1].text == "I painted my bicycle purple. It took a day."
    assert [conversation.questions[0].gold for conversation in (one, two, four)] == [
        ("answer_a",),
        (),
        ("answer_d_1", "answer_d_2"),
    ]


def test_two_sessions_of_one_name_stay_two(tmp_path):
    twice = json.loads(json.dumps(LONGMEMEVAL[0]))
    twice["haystack_session_ids"][2] = "filler_1"
    (tmp_path / "s.json").write_text(json.dumps([twice]))
    (one,) = read_longmemeval(tmp_path / "s.json")
    assert len({turn.id for turn in one.turns}) == len(one.turns) == 4


def test_a_long_list_is_read_item_by_item(tmp_path, monkeypatch):
    monkeypatch.setattr("memoryware.bench.datasets._CHUNK", 7)
    items = [{"n": n, "text": '],[{"' * n} for n in range(50)]
    for indent in (None, 2):
        (tmp_path / "x.json").write_text(json.dumps(items, indent=indent))
        assert list(_iter_items(tmp_path / "x.json")) == items
    (tmp_path / "x.json").write_text(" [ ] \n")
    assert list(_iter_items(tmp_path / "x.json")) == []


def test_what_comes_before_the_place_that_is_broken_is_there_already(tmp_path):
    (tmp_path / "x.json").write_text('[{"a": 1}, {"b":')
    items = _iter_items(tmp_path / "x.json")
    assert next(items) == {"a": 1}
    with pytest.raises(DatasetRefused, match="cut off"):
        next(items)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"haystack_dates": ["2023/05/20 (Sat) 02:21"]}, "not as many ids and dates"),
        ({"haystack_dates": ["soon"] * 3}, "'soon' is no date"),
        ({"question": None}, '"question" of entry 1 must be a text; it is missing'),
        ({"haystack_session_ids": [1, 2, 3]}, "must be a list of texts"),
        ({"haystack_sessions": ["a", "b", "c"]}, "is no list of turns"),
    ],
)
def test_an_entry_that_cannot_be_read_is_refused(tmp_path, change, said):
    (tmp_path / "s.json").write_text(json.dumps([{**LONGMEMEVAL[0], **change}]))
    with pytest.raises(DatasetRefused) as refused:
        list(read_longmemeval(tmp_path / "s.json"))
    assert said in str(refused.value)


# The protocol.


def _asked(file, number=2, **how):
    conversation = list(read_longmemeval(file, **how))[number]
    return QuestionContext.of(conversation.questions[0], conversation)


def test_both_answering_turns_must_be_there_for_recall_all(file):
    scores = LongMemEvalScoring().scores(
        _asked(file), TurnRanking(("answer_d_2_1", "filler_4_1", "answer_d_1_1"))
    )
    assert (scores["turn recall_any@1"], scores["turn recall_all@1"]) == (1, 0)
    assert (scores["turn recall_all@2"], scores["turn recall_all@3"]) == (0, 1)
    assert scores["turn ndcg_any@3"] == pytest.approx((1 + 1 / math.log2(3)) / 2)


def test_of_sessions_so_many_turns_count_that_k_sessions_are_seen(file):
    ranked = ("answer_a_3", "filler_1_1", "filler_2_1", "answer_a_1")
    scores = LongMemEvalScoring().scores(_asked(file, 0), TurnRanking(ranked))
    # the turn that does not answer stands for another session than the one that does
    assert (scores["session recall_all@3"], scores["session recall_all@5"]) == (0, 1)
    assert scores["session ndcg_any@5"] == pytest.approx(1 / 2)


def test_a_question_without_a_target_is_in_the_lenient_average_only(file):
    how, asked = LongMemEvalScoring(), _asked(file, 1)
    assert how.rows(asked) == (LENIENT,)
    scores = how.scores(asked, TurnRanking(("filler_3_1",)))
    assert (scores["turn recall_all@5"], scores["turn ndcg_any@5"]) == (1, 0)
    assert {STRICT, LENIENT, "multi-session"} <= set(how.rows(_asked(file)))


def test_sessions_that_are_memories_are_scored_as_they_are(file):
    how = LongMemEvalScoring("session")
    scores = how.scores(
        _asked(file, 2, granularity="session"),
        TurnRanking(("filler_4", "answer_d_1", "answer_d_2")),
    )
    assert (
        scores["session recall_any@2"],
        scores["session recall_all@2"],
        scores["session recall_all@3"],
    ) == (1, 0, 1)
    assert set(how.shown) <= set(scores)

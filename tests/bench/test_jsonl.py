"""A user's own data: what is missing is said with file and line."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime

import pytest

from bench.made import EXAMPLE
from memoryware.bench.datasets import QUESTIONS, TURNS, read_jsonl
from memoryware.bench.scoring import shared_words
from memoryware.errors import DatasetRefused

TURN = {
    "id": "t1",
    "session": "s",
    "text": "I have a cat.",
    "time": "2026-01-02T10:00:00Z",
    "role": "user",
}
QUESTION = {"id": "q1", "question": "Which pet?", "gold": ["t1"]}


def files(folder, turns, questions):
    for name, lines in ((TURNS, turns), (QUESTIONS, questions)):
        text = "\n\n".join(one if isinstance(one, str) else json.dumps(one) for one in lines)
        (folder / name).write_text(text)
    return folder


def test_turns_and_questions_are_read_as_they_are(tmp_path):
    later = {**TURN, "id": "t2", "role": "assistant", "speaker": "Robo"}
    asked = {**QUESTION, "category": "pets", "time": "2026-02-01T00:00:00+02:00"}
    (one,) = read_jsonl(files(tmp_path, [TURN, later], [asked]))
    assert [(turn.id, turn.role, turn.speaker) for turn in one.turns] == [
        ("t1", "user", "user"),
        ("t2", "agent", "Robo"),
    ]
    assert one.turns[0].time == datetime(2026, 1, 2, 10, tzinfo=UTC)
    assert one.turns[1].time > one.turns[0].time
    assert (one.questions[0].gold, one.questions[0].category) == (("t1",), "pets")
    assert one.questions[0].asked_at == datetime(2026, 1, 31, 22, tzinfo=UTC)


def test_each_group_is_a_conversation(tmp_path):
    turns = [{**TURN, "group": "ann"}, {**TURN, "group": "bo", "text": "A dog."}]
    read = read_jsonl(files(tmp_path, turns, [{**QUESTION, "group": "bo"}]))
    assert [(one.id, len(one.turns), len(one.questions)) for one in read] == [
        ("ann", 1, 0),
        ("bo", 1, 1),
    ]


def test_the_questions_may_lie_elsewhere(tmp_path):
    files(tmp_path, [TURN], [QUESTION])
    other = (tmp_path / QUESTIONS).rename(tmp_path / "asked.jsonl")
    (one,) = read_jsonl(tmp_path / TURNS, other)
    assert len(one.questions) == 1
    with pytest.raises(DatasetRefused, match=r"questions\.jsonl: cannot be read"):
        read_jsonl(tmp_path)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "not valid JSON"),
        ("[]", "the line must be a JSON object"),
        ({**TURN, "id": None}, '"id" of the line must be a text; it is missing'),
        ({**TURN, "id": 7}, "it is int"),
        ({**TURN, "time": "noon"}, "\"time\" is 'noon'"),
        ({**TURN, "role": "judge"}, "\"role\" is 'judge'"),
        (TURN, "has been there before"),
    ],
)
def test_a_bad_turn_is_refused_with_file_and_line(tmp_path, line, said):
    with pytest.raises(DatasetRefused) as refused:
        read_jsonl(files(tmp_path, [TURN, line], [QUESTION]))
    assert refused.value.line == 3
    assert str(refused.value).startswith(f"{tmp_path / TURNS}, line 3: ")
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({**QUESTION, "id": "q2", "gold": ["t1", "t9"]}, "'t9'"),
        ({**QUESTION, "id": "q2", "gold": "t1"}, '"gold" of the line must be a list'),
        ({**QUESTION, "id": "q2", "group": "bo"}, 'no turns of the group "bo"'),
        (QUESTION, "has been there before"),
    ],
)
def test_a_bad_question_is_refused_with_file_and_line(tmp_path, line, said):
    with pytest.raises(DatasetRefused) as refused:
        read_jsonl(files(tmp_path, [TURN], [QUESTION, line]))
    assert (refused.value.path, refused.value.line) == (str(tmp_path / QUESTIONS), 3)
    assert said in str(refused.value)


def test_bytes_that_are_no_text_and_a_file_of_nothing_are_refused(tmp_path):
    files(tmp_path, [], [])
    with pytest.raises(DatasetRefused, match="no turns"):
        read_jsonl(tmp_path)
    (tmp_path / TURNS).write_bytes(b"\xff\xfe")
    with pytest.raises(DatasetRefused, match="UTF-8"):
        read_jsonl(tmp_path)


# The example in the project.


def test_the_example_is_a_long_talk_in_two_languages():
    (one,) = read_jsonl(EXAMPLE)
    chinese = [
        turn for turn in one.turns if any("\u4e00" <= sign <= "\u9fff" for sign in turn.text)
    ]
    assert len({turn.session for turn in one.turns}) == 12
    assert len(one.turns) >= 150
    assert len(chinese) >= 60
    assert len(one.questions) >= 40
    assert [turn.time for turn in one.turns] == sorted(turn.time for turn in one.turns)


def test_questions_of_the_example_share_words_with_their_answers_as_they_claim():
    (one,) = read_jsonl(EXAMPLE)
    texts = {turn.id: turn.text for turn in one.turns}
    shares = {  # a single Chinese character is an index term, and no word
        asked.text: any(
            len(word) > 1 for word in shared_words(asked.text, [texts[one] for one in asked.gold])
        )
        for asked in one.questions
    }
    claimed = {asked.text: asked.category.endswith(", same words") for asked in one.questions}
    assert shares == claimed
    counts = Counter(asked.category for asked in one.questions)
    assert set(counts) == {
        f"{a}, {b} words" for a in ("English", "Chinese") for b in ("same", "other")
    }
    assert min(counts.values()) >= 10
    assert 0.4 < sum(shares.values()) / len(shares) < 0.6

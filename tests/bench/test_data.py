"""The data sets of the project: they are read, their ids fit, and time goes on in each talk."""

from __future__ import annotations

import json
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from memoryware.bench.datasets import read_jsonl

ROOT = Path(__file__).parents[2]
if str(ROOT) not in sys.path:  # `benchmarks` is no part of the package
    sys.path.append(str(ROOT))

pytest.importorskip("numpy")

from benchmarks.tiers import parallel  # noqa: E402
from benchmarks.tiers.recall_sets import DATA, MULTILINGUAL, RecallSet, own_sets  # noqa: E402

SETS = list(own_sets())
AUTHORED = sorted(path.parent.name for path in DATA.glob("*/turns.jsonl"))
CATEGORIES = {
    "fact", "preference", "update", "time", "list", "multi-hop", "assistant", "instruction",
    "no-answer",
}  # fmt: skip


def lines_of(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def by_name(sets: list[RecallSet]) -> dict[str, RecallSet]:
    return {each.name: each for each in sets}


@pytest.mark.parametrize("each", SETS, ids=lambda each: each.name)
def test_a_set_is_read_with_turns_in_time_and_gold_in_the_conversation(each):
    conversations = each.read()
    assert sum(len(talk.questions) for talk in conversations) >= 25
    for talk in conversations:
        ids = [turn.id for turn in talk.turns]
        assert len(set(ids)) == len(ids)
        assert {id_ for question in talk.questions for id_ in question.gold} <= set(ids)
        assert all(turn.text.strip() and turn.time.tzinfo for turn in talk.turns)
        assert all(question.text.strip() for question in talk.questions)
        assert all(before.time < after.time for before, after in pairwise(talk.turns))


@pytest.mark.parametrize("name", AUTHORED)
def test_an_authored_set_says_what_each_question_is(name):
    turns, questions = (lines_of(DATA / name / f"{part}.jsonl") for part in ("turns", "questions"))
    assert len({turn["id"] for turn in turns}) == len(turns)
    assert len({question["id"] for question in questions}) == len(questions)
    group_of = {turn["id"]: turn["group"] for turn in turns}
    for question in questions:
        assert question["category"] in CATEGORIES
        assert bool(question["gold"]) == (question["category"] != "no-answer")
        assert {group_of[id_] for id_ in question["gold"]} <= {question["group"]}
    times = [(turn["group"], turn["session"]) for turn in turns]
    assert len({*times}) == sum(before != after for before, after in pairwise([(), *times]))


def test_every_folder_of_data_is_measured_and_described():
    described = (DATA / "README.md").read_text(encoding="utf-8")
    assert {*AUTHORED} == {name for name in by_name(SETS) if (DATA / name).is_dir()}
    for name in (*AUTHORED, "parallel"):
        assert f"`{name}`" in described
        counts = [len(lines_of(path)) for path in sorted((DATA / name).glob("*.jsonl"))]
        assert all(f"{count:,}" in described for count in counts)


def test_parallel_facts_are_there_in_every_language():
    rows = lines_of(parallel.FACTS)
    assert len({row["id"] for row in rows}) == len(rows) == 150
    assert Counter(row["category"] for row in rows) == dict.fromkeys(
        ("same words", "paraphrased", "other words"), 50
    )
    for row in rows:
        assert {*row["fact"]} == {*row["question"]} == {*parallel.LANGUAGES}
        assert all(text.strip() for text in (*row["fact"].values(), *row["question"].values()))


def test_parallel_sets_are_written_as_they_are_measured(tmp_path):
    parallel.write(tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {each.name for each in SETS if each.name.startswith("parallel-")}
    made = parallel.conversation("en", "de")
    (written,) = read_jsonl(tmp_path / "parallel-en-de")
    assert (written.turns, written.questions) == (made.turns, made.questions)


def test_english_is_measured_with_the_english_model_alone():
    models = {name: each.embeddings for name, each in by_name(SETS).items()}
    assert {models[name] for name in ("en-friends", "parallel-en")} == {"local"}
    assert {models[name] for name in ("de-friends", "parallel-en-de", "examples")} == {MULTILINGUAL}

"""The tables of recall: the baselines beside it, and what a reader is told of each data set."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memoryware.bench.datasets import Conversation, DatasetQuestion, DatasetTurn

ROOT = Path(__file__).parents[2]
if str(ROOT) not in sys.path:  # `benchmarks` is no part of the package
    sys.path.append(str(ROOT))

pytest.importorskip("numpy")

from benchmarks.tiers import page, recall  # noqa: E402
from benchmarks.tiers.baselines import BM25, DENSE, FUSION, PlainBm25, baselines, words_of  # noqa: E402
from benchmarks.tiers.recall_sets import RecallSet, chats_set, locomo_sets  # noqa: E402
from benchmarks.tiers.results import Results  # noqa: E402

TEXTS = ["an oak by the mill", "the mill is old", "bees, bees and bees", "a trumpet"]


def talk() -> Conversation:
    turns = tuple(
        DatasetTurn(
            id=f"t{at}", session="s", text=text, time=datetime(2026, 1, 1, tzinfo=UTC)
            + timedelta(minutes=at), role="user", speaker="user",
        )
        for at, text in enumerate(TEXTS)
    )  # fmt: skip
    questions = (
        DatasetQuestion(id="q1", text="which oak?", gold=("t0",)),
        DatasetQuestion(id="q2", text="brass", gold=("t3",)),
        DatasetQuestion(id="q3", text="never said", gold=()),
    )
    return Conversation(id="g", turns=turns, questions=questions)


def test_words_are_as_they_are_written_and_pairs_where_no_blanks_are():
    assert words_of("The Oaks, an oak") == ["the", "oaks", "an", "oak"]
    assert words_of("我的医生A1") == ["我的", "的医", "医生", "a1"]
    assert words_of("猫") == ["猫"]


def test_bm25_has_the_usual_formula():
    scores = PlainBm25(["oak oak mill", "mill", "bee"]).scores("oak")
    rarity, norm = 0.98082925, 1.2 * (1 - 0.75 + 0.75 * 3 / (5 / 3))
    assert scores[0] == pytest.approx(rarity * 2 * 2.2 / (2 + norm))
    assert list(scores[1:]) == [0, 0]


def test_baselines_count_questions_with_an_answer():
    def embed(texts):  # "brass" and the trumpet alone are near
        return [[1.0, 0.0] if text in ("brass", TEXTS[3]) else [0.0, 1.0] for text in texts]

    means = baselines([talk()], (1, 2), embed)
    assert means[BM25] == {1: 0.5, 2: 0.5}
    assert means[DENSE][1] >= 0.5
    assert means[FUSION] == {1: 1.0, 2: 1.0}
    assert {*baselines([talk()], (1,), None)} == {BM25}


def test_a_set_has_a_row_for_each_way_without_a_model(tmp_path):
    each = RecallSet("small", "a talk", lambda: [talk()], is_tuned=False)
    rows = recall.measure_set(each, tmp_path, models=False)
    ways = {(row["embeddings"], row["way"]): row for row in rows}
    assert {*ways} == {("none", BM25), ("none", "retrieve"), ("none", recall.BULK)}
    assert all((row["n"], row["tuned"], row["R@5"]) == (2, False, 0.5) for row in rows)


def rows_of(name: str, *, tuned: bool, **means: tuple[str, float]) -> list[dict]:
    return [
        {
            "dataset": name, "about": "a set", "tuned": tuned, "split": "all", "questions": "all",
            "n": 9, "embeddings": model, "way": way, "R@5": mean, "R@10": mean,
        }
        for way, (model, mean) in means.items()
    ]  # fmt: skip


def test_the_page_says_where_a_single_list_is_better():
    means = {BM25: ("none", 0.5), DENSE: ("local", 0.6), FUSION: ("local", 0.55)}
    good = rows_of("good", tuned=False, retrieve=("none", 0.491), **means)
    good += rows_of("good", tuned=False, retrieve=("local", 0.7))
    bad = rows_of("bad", tuned=True, retrieve=("none", 0.48), **means)
    results = Results(recall=[*good, *bad])
    untuned = page.recall_untuned(results).splitlines()
    assert untuned[2:] == [
        "| good: a set | 9 | .500, .500 | .600, .600 | .550, .550 | .491, .491 | .700, .700 | no |"
    ]
    assert page.recall_tuned(results).endswith("| no model R@5 by .020; no model R@10 by .020 |")
    assert page.recall_tuned(Results()) == "Not measured in this run."


def test_bulk_is_shown_where_it_differs():
    same = rows_of("same", tuned=True, retrieve=("none", 0.5)) + rows_of(
        "same", tuned=True, **{recall.BULK: ("none", 0.504)}
    )
    other = rows_of("other", tuned=True, retrieve=("none", 0.5)) + rows_of(
        "other", tuned=True, **{recall.BULK: ("none", 0.51)}
    )
    assert page.recall_bulk(Results(recall=same)) == "None differs by more than .005."
    assert page.recall_bulk(Results(recall=[*same, *other])).splitlines()[2:] == [
        "| other | .500, .500 | .510, .510 |"
    ]


def test_what_cannot_be_shipped_is_read_from_a_path(tmp_path):
    from zipfile import ZipFile

    from bench.made import EXAMPLE, locomo_list

    held, tuned = locomo_sets(locomo_list(tmp_path / "locomo10.json"))
    assert (held.is_tuned, tuned.is_tuned) == (False, True)
    assert [each.split for each in held.read()] == ["held"]
    with ZipFile(tmp_path / "chats.zip", "w") as archive:
        for path in EXAMPLE.glob("*.jsonl"):
            archive.write(path, path.name)
    assert chats_set(tmp_path / "chats.zip").read() == chats_set(EXAMPLE).read()

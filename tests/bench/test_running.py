"""Real memories are asked real questions; what comes back is counted."""

from __future__ import annotations

import json
import sqlite3
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from bench.made import EXAMPLE, locomo_list, longmemeval
from memoryware import MemoryScope, TieredMemory
from memoryware.bench.datasets import read_jsonl
from memoryware.bench.filling import TENANT, TurnClock, fill
from memoryware.bench.plot import svg
from memoryware.bench.recall import (
    RETRIEVE,
    VECTORS,
    WORDS,
    Report,
    _asked_time,
    _CachedEmbeddings,
    format_share,
    json_lines,
    measure,
    plan,
)
from memoryware.bench.scoring import SHARED, UNSHARED, EvidenceScoring
from memoryware.errors import SettingError
from tiers.kit import HashEmbeddings


@pytest.fixture(scope="module")
def example():
    return read_jsonl(EXAMPLE)


@pytest.fixture(scope="module")
def measured(example):
    return measure(example, embeddings=HashEmbeddings(), lists=True)


@pytest.mark.slow
def test_every_question_with_an_answer_is_asked_in_each_way(example, measured):
    assert [one.question for one in measured.scored] == [one.id for one in example[0].questions]
    assert all(set(one.scores) == {RETRIEVE, WORDS, VECTORS} for one in measured.scored)
    assert (measured.conversations, measured.turns) == (1, len(example[0].turns))


def test_words_alone_find_what_shares_words_and_nothing_else(measured):
    report = Report.of(measured, EvidenceScoring())
    (words,) = (one for one in report.tables if one.way == WORDS)
    assert words.row(SHARED).means["R@10"] > 0.9
    assert words.row(UNSHARED).means["R@50"] == 0


@pytest.mark.slow
def test_the_rank_of_each_answer_is_told(measured):
    ranks = {one.question: one for one in measured.scored}
    lease = ranks["q01"]
    assert lease.ranks[WORDS] == (1,)
    assert lease.scores[WORDS]["R@1"] == lease.scores[WORDS]["MRR"] == 1
    told = [json.loads(line) for line in json_lines(measured.scored)]
    assert len(told) == len(measured.scored)
    assert told[0]["gold"] == list(lease.gold)


def test_the_mean_is_that_of_the_questions(measured):
    (mine, *_) = Report.of(measured, EvidenceScoring()).tables
    values = [one.scores[RETRIEVE]["R@5"] for one in measured.scored]
    assert mine.row("all").means["R@5"] == pytest.approx(sum(values) / len(values))
    assert mine.row("all").n == len(values)
    kinds = {row.name: row.n for row in mine.rows if ", " in row.name}
    assert sum(kinds.values()) == len(values)


@pytest.mark.slow
def test_a_k_that_is_asked_alone_counts_what_somebody_gets_who_wants_k(example):
    exact = measure(example, embeddings=HashEmbeddings(), alone=(3,))
    clock = TurnClock()
    with TieredMemory.open("memory://", embeddings=HashEmbeddings(), clock=clock) as memory:
        stored = fill(memory, clock, replace(example[0], id="g"), "turns")
        scope = MemoryScope(tenant=TENANT, group_id="g")
        for asked, scored in zip(example[0].questions, exact.scored, strict=True):
            at = _asked_time(asked, example[0])
            ids = [one.id for one in memory.retrieve(asked.text, scope, max_results=3, at=at)]
            share = len({*stored.turns_of(ids)} & set(asked.gold)) / len(asked.gold)
            assert scored.scores[RETRIEVE]["R@3"] == pytest.approx(share), asked.text


@pytest.mark.slow
def test_a_store_of_ones_own_is_empty_again_afterwards(tmp_path, example):
    url = f"sqlite:///{(tmp_path / 'm.db').as_posix()}"
    there = measure(example, store=url)
    assert [one.ranks for one in there.scored] == [one.ranks for one in measure(example).scored]
    with TieredMemory.open(url) as memory:
        stores = memory.parts.stores
        for tier in (stores.quarantine, stores.working, stores.long_term):
            assert tier.walk(limit=1).items == []


def test_a_store_that_somebody_uses_is_refused_and_stays_as_it_is(tmp_path, example):
    url, scope = f"sqlite:///{(tmp_path / 'm.db').as_posix()}", MemoryScope(group_id="shop")
    with TieredMemory.open(url) as memory:
        memory.promote("The orders are on the server db2.", scope, by="ann")
    with pytest.raises(SettingError, match="has memories in it"):
        measure(example, store=url)
    with TieredMemory.open(url) as memory:
        assert len(memory.retrieve("orders", scope)) == 1


@pytest.mark.slow
def test_nothing_is_embedded_twice_with_a_cache(tmp_path, example):
    first, second = HashEmbeddings(), HashEmbeddings()
    one = measure(example, embeddings=first, cache=tmp_path / "vectors", lists=True, alone=(5, 10))
    two = measure(example, embeddings=second, cache=tmp_path / "vectors", lists=True, alone=(5, 10))
    texts = [text for some in first.asked for text in some]
    assert sorted(texts) == sorted({turn.content for turn in example[0].turns})
    assert {asked.text for asked in example[0].questions} <= set(first.queries)
    assert len(first.queries) == len(set(first.queries))
    assert (second.asked, second.queries) == ([], [])
    assert [x.ranks for x in one.scored] == [x.ranks for x in two.scored]


def test_a_cache_keeps_documents_queries_and_spaces_apart(tmp_path):
    class Two(HashEmbeddings):
        def embed_query(self, text):
            return [2.0, 0.5]

        def embed_documents(self, texts):
            return [[1.0, 0.25] for _ in texts]

    cached = _CachedEmbeddings(Two(), "a", tmp_path)
    assert cached.embed_documents(["x", "x", "y"]) == [[1.0, 0.25]] * 3
    assert cached.embed_query("x") == [2.0, 0.5]
    cached.close()
    other = _CachedEmbeddings(HashEmbeddings(), "b", tmp_path)
    assert other.embed_query("x") != [2.0, 0.5]
    other.close()
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(SettingError, match="cannot hold vectors"):
        _CachedEmbeddings(Two(), "a", tmp_path / "file")


def test_a_file_that_is_no_cache_is_refused(tmp_path):
    (tmp_path / "vectors.db").write_text("not a database, and long enough to be looked at" * 50)
    with pytest.raises(SettingError, match="cannot hold vectors"):
        _CachedEmbeddings(HashEmbeddings(), "a", tmp_path)
    with pytest.raises(sqlite3.DatabaseError):
        sqlite3.connect(tmp_path / "vectors.db").execute("SELECT 1 FROM sqlite_master")


def test_locomo_has_a_table_for_each_part_and_the_categories(tmp_path):
    planned = plan("locomo", locomo_list(tmp_path / "locomo10.json"))
    done = measure(planned.conversations, planned.scoring, lists=True)
    report = Report.of(done, planned.scoring, splits=planned.splits)
    assert [(one.split, one.way) for one in report.tables] == [
        (part, way) for part in ("held", "tuned", "all") for way in (RETRIEVE, WORDS)
    ]
    counts = {row.name: row.n for row in report.tables[-1].rows}
    assert counts["all"] == 6
    assert counts["categories 1 to 4"] == 4
    assert (done.left_out, planned.questions) == (2, 6)


def test_a_part_of_locomo_can_be_measured_alone(tmp_path):
    planned = plan("locomo", locomo_list(tmp_path / "locomo10.json"), split="held")
    assert [one.id for one in planned.conversations] == ["conv-44"]
    assert planned.splits == ("held",)


def test_longmemeval_gives_both_averages_with_their_numbers(tmp_path):
    planned = plan("longmemeval", longmemeval(tmp_path / "s.json"))
    done = measure(planned.conversations, planned.scoring)
    (table,) = Report.of(done, planned.scoring).tables
    counts = {row.name: row.n for row in table.rows}
    assert counts["all with a target"] == 2
    assert counts["all, without a target too"] == 3
    assert table.row("all with a target").means["session recall_all@5"] == 1


def test_an_option_of_another_data_set_is_refused():
    with pytest.raises(SettingError, match="split is an option of locomo"):
        plan("jsonl", EXAMPLE, split="held")
    with pytest.raises(SettingError, match="roles is an option of longmemeval"):
        plan("locomo", Path("x"), roles="all")


def test_a_report_says_how_recall_compares_with_the_best_list(measured):
    report = Report.of(measured, EvidenceScoring())
    means = {one.way: one.row("all").means["R@5"] for one in report.tables}
    best = max((WORDS, VECTORS), key=lambda way: means[way])
    ahead = format_share(means[RETRIEVE] - means[best], sign=True)
    assert report.compared()[0] == (
        f"all: R@5 {format_share(means[RETRIEVE])}, {ahead} against {best} ({format_share(means[best])})"
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, ".000"), (1, "1.000"), (0.61249, ".612"), (0.9999, "1.000"), (10.5, "10.500")],
)
def test_shares_are_printed_with_three_places(value, text):
    assert format_share(value) == text


def test_differences_have_a_sign():
    assert [format_share(value, sign=True) for value in (0.0101, -0.25, 0, -1)] == [
        "+.010",
        "-.250",
        "+.000",
        "-1.000",
    ]


@pytest.mark.slow
def test_the_picture_is_svg_with_every_row_in_it(measured):
    report = Report.of(measured, EvidenceScoring())
    picture = svg(report, "A title")
    root = ET.fromstring(picture)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    said = " ".join(
        "".join(one.itertext()) for one in root.iter("{http://www.w3.org/2000/svg}text")
    )
    for name in (
        "A title",
        "R@k",
        "R@10",
        RETRIEVE,
        VECTORS,
        *(f"{row.name} ({row.n})" for row in report.tables[0].rows),
    ):
        assert name in said
    assert svg(report, "A title") == picture


def test_all_of_it_is_in_the_json(measured):
    report = Report.of(measured, EvidenceScoring(), about={"dataset": "jsonl"})
    kept = json.loads(report.json())
    assert kept["about"]["dataset"] == "jsonl"
    assert kept["about"]["questions"] == len(measured.scored)
    assert [one["way"] for one in kept["tables"]] == [RETRIEVE, WORDS, VECTORS]
    assert {"R@5", "R@10", "R@50", "hit@10", "session R@5", "MRR"} <= set(
        kept["tables"][0]["rows"][0]["means"]
    )

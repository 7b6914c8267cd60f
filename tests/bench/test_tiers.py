"""The measurement of the tiers: what it fills, what it reads, how it judges. Never how fast."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
if str(ROOT) not in sys.path:  # `benchmarks` is no part of the package
    sys.path.append(str(ROOT))

pytest.importorskip("numpy")

from benchmarks.tiers import page  # noqa: E402
from benchmarks.tiers.__main__ import main  # noqa: E402
from benchmarks.tiers.dataset import Dataset, LookedUp  # noqa: E402
from benchmarks.tiers.results import MEASURED, OURS, Results, Row, in_turns  # noqa: E402
from benchmarks.tiers.sqlite import LAYOUTS, MIDDLE, SMALL, SQLITE_STORE, Layout, measure  # noqa: E402
from benchmarks.tiers.targets import TARGETS, TRIED, Target, judge  # noqa: E402


def test_the_same_memories_and_questions_are_made_every_time():
    first, again = Dataset(200, later=10), Dataset(200, later=10)
    assert again.texts == first.texts
    assert again.questions == first.questions
    assert (again.vectors == first.vectors).all()
    assert len(set(first.texts)) == 210


def test_vectors_are_looked_up():
    dataset = Dataset(200, later=10)
    embeddings = LookedUp(dataset)
    assert embeddings.embed_query(dataset.texts[7]) == dataset.vectors[7].tolist()
    question = dataset.questions[3]
    assert embeddings.embed_query(question.text) == embeddings.embed_query(question.wordless)
    assert len(embeddings.embed_query("a text of nobody")) == len(question.vector)


def test_sides_are_called_in_turns_and_every_round_begins_with_another():
    calls = []
    acts = {name: lambda i, name=name: calls.append((i, name)) for name in (OURS, "a", "b")}
    row = in_turns("x", "y", acts, 2, warm=1)
    assert calls == [
        (0, OURS), (0, "a"), (0, "b"), (1, "a"), (1, "b"), (1, OURS), (2, "b"), (2, OURS), (2, "a"),
    ]  # fmt: skip
    assert {*row.ms} == {OURS, "a", "b"}
    assert {*row.ratios} == {"a", "b"}


def test_targets_are_met_missed_or_not_measured():
    more = Target(1, "more", lambda r: r.values["more"], at_least=5)
    less = Target(2, "less", lambda r: r.values["less"], at_most=2)
    assert [more.met(5), more.met(4.9), less.met(2), less.met(2.1)] == [True, False, True, False]
    assert all(each.met is None for each in judge(Results()))
    row = Row(MIDDLE.name, "record", counts={"statements": 9, "flushes": 1})
    judged = {each.target.text: each.met for each in judge(Results(rows=[row]))}
    assert (judged["record: statements"], judged["record: flushes"]) == (False, True)


def test_growth_is_that_of_ours_between_two_layouts():
    rows = [Row(SMALL.name, "spaces", {OURS: 2.0}), Row(LAYOUTS[-1].name, "spaces", {OURS: 4.0})]
    judged = {each.target.text: each.value for each in judge(Results(rows=rows))}
    assert judged["spaces: 1k of 1M against 1k of 10k"] == 2.0


def test_every_target_of_the_design_has_figures_and_one_limit():
    assert {target.number for target in TARGETS} == {*range(1, 13)}
    assert all((target.at_least is None) != (target.at_most is None) for target in TARGETS)
    assert len({target.text for target in TARGETS}) == len(TARGETS)


def test_what_is_written_is_read_again(tmp_path):
    results = Results(rows=[Row("a", "b", {OURS: 1.5}, counts={"flushes": 2})], values={"x": 0.5})
    results.write(tmp_path / "results.json")
    assert Results.read(tmp_path / "results.json") == results


def test_the_page_shows_the_run_that_is_kept():
    kept = Results.read(MEASURED)
    shown = (ROOT / "docs" / "measured.md").read_text(encoding="utf-8")
    tables = (page.targets, page.operations, page.growth, page.servers, page.about, page.load)
    recalled = (page.recall_locomo, page.recall_other_words, page.recall_own)
    sets = (page.recall_untuned, page.recall_tuned, page.recall_bulk)
    for table in (*tables, *recalled, *sets):
        assert table(kept) in shown, f"run docs/hooks/made.py: {table.__name__} is another one"


def test_parts_of_a_run_are_put_together_with_all_that_each_has_measured():
    whole = Results(values={"x": 1.0})
    whole.merge(Results(recall=[{"n": 1}], load=["a line"], failed={"hooks": "OSError: away"}))
    assert (whole.recall, whole.load, whole.values) == ([{"n": 1}], ["a line"], {"x": 1.0})
    assert "Not measured because of an error: hooks (OSError: away)." in page.about(whole)


def test_recall_is_shown_by_way_and_split():
    row = {
        "dataset": "locomo", "split": "held", "questions": "all", "n": 985,
        "R@5": 0.728, "R@10": 0.8025, "R@50": 1.0,
    }  # fmt: skip
    shown = page.recall_locomo(
        Results(recall=[{**row, "embeddings": "none", "way": "retrieve"}])
    ).splitlines()
    assert shown[0] == "|  | held R@5, R@10, R@50 | tuned R@5, R@10, R@50 | all R@5, R@10, R@50 |"
    assert shown[2] == "| **`retrieve`, no model** | .728, .802, 1.000 |  |  |"
    assert page.recall_own(Results()) == "Not measured in this run."


def test_what_was_tried_is_told_of_targets_that_are_missed_alone():
    missed = Results(rows=[Row(MIDDLE.name, "record", counts={"statements": 9, "flushes": 1})])
    met = Results(rows=[Row(MIDDLE.name, "record", counts={"statements": 8, "flushes": 1})])
    assert f"- **4.** {TRIED[4]}" in page.targets(missed)
    assert "Where a target is missed" not in page.targets(met)
    assert {*TRIED} <= {target.number for target in TARGETS}


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_small_run_fills_measures_and_judges(tmp_path):
    pytest.importorskip("langgraph.store.sqlite")
    results = measure(Layout(MIDDLE.name, 1000, 100, (SQLITE_STORE,)), 2, tmp_path)
    assert results.row(MIDDLE.name, "record").counts["flushes"] >= 1
    for operation in ("load, each", "retrieve hybrid", "promote a text", "forget one"):
        assert results.row(MIDDLE.name, operation).ratios[SQLITE_STORE] > 0
    assert sum(each.met is not None for each in judge(results)) > 20
    assert "| record |" in page.whole(results)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [(["nothing"], "no such part: nothing"), (["--page", "--quick"], "--page is one whole run")],
)
def test_a_wrong_call_is_a_usage_error(arguments, told, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["benchmarks.tiers", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert told in capsys.readouterr().err

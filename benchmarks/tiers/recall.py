"""`python -m benchmarks.tiers.recall [SETS...]`: how much of what answers a question comes back.

Each data set is measured with and without a model, beside plain baselines of the same run.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from benchmarks._page import commit, facts
from benchmarks.tiers import baselines
from benchmarks.tiers.recall_sets import EXAMPLE, RecallSet, chats_set, locomo_sets, own_sets
from benchmarks.tiers.results import MEASURED, Results
from memoryware import TieredMemory
from memoryware.bench.datasets import Conversation
from memoryware.bench.filling import Filling
from memoryware.bench.recall import RETRIEVE
from memoryware.bench.recall import measure as measure_recall
from memoryware.bench.scoring import EvidenceScoring
from memoryware.errors import SettingError

LOCOMO, OWN = "locomo", "own"
METRICS = ("R@5", "R@10", "R@50")
KS: Final = (5, 10)
BULK: Final = "retrieve, loaded in bulk"
NONE: Final = "none"
_SCORING: Final = EvidenceScoring(ks=KS, depth=max(KS))


def measure(locomo: Path | None, chats: Path | None, folder: Path) -> Results:
    """Measure recall on the data sets of the project, and on others where their files are there.

    Args:
        locomo: The file of LoCoMo, which does not come with the project.
        chats: A folder or zip of chats with an assistant, as JSON Lines.
        folder: A folder for files; vectors that it has are not computed again.
    """
    rows = measure_lists(locomo, folder)
    for each in all_sets(locomo, chats):
        rows += measure_set(each, folder)
    return Results(recall=rows)


def all_sets(locomo: Path | None, chats: Path | None) -> list[RecallSet]:
    """Return the data sets that are there."""
    sets = list(locomo_sets(locomo)) if locomo is not None else []
    sets += [chats_set(chats)] if chats is not None else []
    return [*sets, *own_sets()]


# One data set.


def measure_set(
    each: RecallSet, cache: Path, *, models: bool = True, bulk: bool = True
) -> list[dict[str, Any]]:
    """Return a row for each way of searching a data set.

    Args:
        each: The data set.
        cache: A folder for vectors.
        models: Whether it is measured with an embedding model as well.
        bulk: Whether it is measured with turns loaded in bulk as well.
    """
    conversations = each.read()
    asked = [question for talk in conversations for question in talk.questions if question.gold]
    embed = _embedder(each.embeddings) if models else None
    row: dict[str, Any] = {
        "dataset": each.name, "about": each.about, "tuned": each.is_tuned, "split": "all",
        "questions": "all", "n": len(asked),
    }  # fmt: skip
    means = [
        (each.embeddings if name != baselines.BM25 else NONE, name, values)
        for name, values in baselines.baselines(conversations, KS, embed).items()
    ]
    ours = partial(_ours, conversations, cache=cache)
    means.append((NONE, RETRIEVE, ours(None)))
    if bulk:
        means.append((NONE, BULK, ours(None, filling="bulk")))
    if embed is not None:
        means.append((each.embeddings, RETRIEVE, ours(each.embeddings)))
    return [
        {
            **row, "embeddings": embeddings, "way": way,
            **{f"R@{k}": round(value, 6) for k, value in values.items()},
        }
        for embeddings, way, values in means
    ]  # fmt: skip


def _ours(
    conversations: Sequence[Conversation],
    embeddings: str | None,
    *,
    cache: Path,
    filling: Filling = "turns",
) -> dict[int, float]:
    measured = measure_recall(
        conversations, _SCORING, embeddings=embeddings, cache=cache, filling=filling
    )
    scored = [question.scores[RETRIEVE] for question in measured.scored]
    return {k: fmean(scores[f"R@{k}"] for scores in scored) for k in KS}


def _embedder(name: str) -> baselines.Embed | None:
    """Return a function that embeds texts; None if the model is not installed."""
    try:
        with TieredMemory.open("memory://", embeddings=name) as memory:
            embedder = memory.parts.embedder
    except SettingError as error:
        print(f"{error}", file=sys.stderr)
        return None
    if embedder is None:
        return None
    embeddings = embedder.embeddings
    return lambda texts: embeddings.embed_documents(list(texts))


# LoCoMo and the conversation of the project in detail, by `memoryware bench recall`.


def measure_lists(locomo: Path | None, folder: Path) -> list[dict[str, Any]]:
    """Return rows with the ranks of words and vectors alone, by the kind of question.

    Args:
        locomo: The file of LoCoMo.
        folder: A folder for files.
    """
    rows = _run(OWN, "jsonl", EXAMPLE, "local", folder)
    if locomo is not None:
        for embeddings in (NONE, "local"):
            rows += _run(LOCOMO, "locomo", locomo, embeddings, folder)
    return rows


def _run(
    dataset: str, kind: str, path: Path, embeddings: str, folder: Path
) -> list[dict[str, Any]]:
    """Return a row for each split, way of searching and kind of question."""
    written = folder / "recall.json"
    command = ["bench", "recall", kind, path, "--lists", "--embeddings", embeddings]
    subprocess.run(
        [sys.executable, "-m", "memoryware", *command, "--json", written, "--cache", folder],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    tables = json.loads(written.read_text(encoding="utf-8"))["tables"]
    return [
        {
            "dataset": dataset, "embeddings": embeddings, "split": table["split"],
            "way": table["way"], "questions": row["name"], "n": row["n"],
            **{metric: round(row["means"][metric], 6) for metric in METRICS},
        }
        for table in tables
        for row in table["rows"]
    ]  # fmt: skip


# The command.


def main() -> int:
    """Measure the named data sets, or all; print tables, and write the page if asked to."""
    from benchmarks.tiers import page

    options, rows = _options(), list[dict[str, Any]]()
    with tempfile.TemporaryDirectory(prefix="recall-") as folder:
        cache = options.cache or Path(folder)
        cache.mkdir(parents=True, exist_ok=True)
        for name, measured in _measured(options, cache):
            rows += measured
            if options.page:
                _keep(measured)
            print(name, file=sys.stderr)
    results = Results(recall=rows)
    print(page.recall_untuned(results), page.recall_tuned(results), sep="\n\n")
    if options.page:
        made = Path(__file__).resolve().parents[2] / "docs" / "hooks" / "made.py"
        subprocess.run([sys.executable, made], check=True)
    return 0


def _measured(
    options: argparse.Namespace, cache: Path
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield a line about each data set with its rows."""
    for each in all_sets(options.locomo, options.chats):
        if options.sets and not each.name.startswith(tuple(options.sets)):
            continue
        start = time.monotonic()
        rows = measure_set(each, cache, models=not options.no_model, bulk=not options.no_bulk)
        yield f"{each.name}: {time.monotonic() - start:.0f} s", rows
    if options.page and not options.sets:
        yield "words and vectors alone", measure_lists(options.locomo, cache)


def _keep(rows: Sequence[dict[str, Any]]) -> None:
    """Put rows into measured.json in place of those of the same data sets."""
    kept, names = Results.read(MEASURED), {row["dataset"] for row in rows}
    kept.recall = [row for row in kept.recall if row["dataset"] not in names]
    kept.recall += rows
    kept.about["recall"] = f"{' '.join(facts())} Commit {commit()}."
    kept.write(MEASURED)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tiers.recall", description=__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET", help="the beginning of a name; all")
    parser.add_argument("--locomo", type=Path, help="the file, folder or zip of LoCoMo")
    parser.add_argument("--chats", type=Path, help="a folder or zip of chats with an assistant")
    parser.add_argument("--cache", type=Path, help="a folder that keeps vectors for the next run")
    parser.add_argument("--no-model", action="store_true", help="words alone")
    parser.add_argument("--no-bulk", action="store_true", help="turn by turn alone")
    parser.add_argument(
        "--page",
        action="store_true",
        help="put what is measured into measured.json in place of what is there of the same sets,"
        " and make the page docs/measured.md",
    )
    options = parser.parse_args()
    for path in (options.locomo, options.chats):
        if path is not None and not path.exists():
            parser.error(f"no such file or folder: {path}")
    if options.page and options.no_model:
        parser.error("--page shows the figures with a model: leave out --no-model")
    return options


if __name__ == "__main__":
    sys.exit(main())

"""Recall: how much of what answers a question comes back, by `memoryware bench recall`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.tiers.results import Results

LOCOMO, OWN = "locomo", "own"
METRICS = ("R@5", "R@10", "R@50")
_OWN_CONVERSATION = Path(__file__).resolve().parents[2] / "examples" / "recall"


def measure(locomo: Path | None, folder: Path) -> Results:
    """Measure recall on the conversation of the project and, where its file is there, on LoCoMo.

    Args:
        locomo: The file of the data set, which does not come with the project.
        folder: An empty folder for files.
    """
    rows = _run(OWN, "jsonl", _OWN_CONVERSATION, "local", folder)
    if locomo is not None:
        for embeddings in ("none", "local"):
            rows += _run(LOCOMO, "locomo", locomo, embeddings, folder)
    return Results(recall=rows)


def _run(
    dataset: str, kind: str, path: Path, embeddings: str, folder: Path
) -> list[dict[str, Any]]:
    """Return a row for each split, way of searching and kind of question."""
    written = folder / "recall.json"
    command = ["bench", "recall", kind, path, "--lists", "--embeddings", embeddings]
    subprocess.run(
        [sys.executable, "-m", "memoryware", *command, "--json", written],
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

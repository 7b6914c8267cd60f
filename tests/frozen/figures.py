"""What recall is worth, to four digits: the conversation of this project, and LoCoMo."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from memoryware.bench.recall import Report, measure, plan

EXAMPLE = Path(__file__).parents[2] / "examples" / "recall"
VARIABLE = "MEMORYWARE_LOCOMO"
"""Names the file of LoCoMo, whose licence keeps it out of this repository."""
DIGITS = 4


def locomo_path() -> Path | None:
    """Return where LoCoMo is on this machine; None if nothing says so."""
    given = os.environ.get(VARIABLE)
    return Path(given) if given else None


def figures(dataset: str, path: Path, embeddings: str | None) -> dict[str, Any]:
    """Return each figure of a data set: by half, way of asking, kind of question and measure.

    Args:
        dataset: "jsonl" or "locomo".
        path: Where it is.
        embeddings: "local", or None for words alone.
    """
    planned = plan(dataset, path)
    measured = measure(planned.conversations, planned.scoring, embeddings=embeddings, lists=True)
    report = Report.of(measured, planned.scoring, splits=planned.splits)
    found: dict[str, Any] = {}
    for table in report.tables:
        rows = {
            row.name: {"n": row.n} | {name: round(mean, DIGITS) for name, mean in row.means.items()}
            for row in table.rows
        }
        found.setdefault(table.split, {})[table.way] = rows
    return found

"""Which conversations of which data set are measured, and by which protocol."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from memoryware.bench.datasets import jsonl, locomo, longmemeval
from memoryware.bench.datasets.longmemeval import Granularity, Roles
from memoryware.bench.datasets.values import Conversation
from memoryware.bench.recall.report import SPLITS
from memoryware.bench.recall.scoring import LOCOMO, EvidenceScoring, LongMemEvalScoring, Scoring
from memoryware.errors import SettingError

Dataset = Literal["locomo", "longmemeval", "jsonl"]
"""Every kind of data set that can be measured."""
SplitChoice = Literal["tuned", "held", "all"]
"""Which conversations: those that settings were tuned on, the others, or all."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured.

    Attributes:
        conversations: Read on the way where there are many.
        scoring: The protocol.
        splits: The parts that get a table.
        questions: How many questions there are; None if that is known at the end only.
    """

    conversations: Iterable[Conversation]
    scoring: Scoring
    splits: tuple[str, ...] = SPLITS
    questions: int | None = None


def plan(
    dataset: Dataset,
    path: Path,
    *,
    split: SplitChoice | None = None,
    questions: Path | None = None,
    roles: Roles = "user",
    granularity: Granularity = "turn",
    first: int | None = None,
) -> Plan:
    """Read a data set, or get ready to.

    Args:
        dataset: Its kind.
        path: Where it is.
        split: Of LoCoMo: the conversations that are measured; by default all, with a table
            for each part.
        questions: Of your own data: the file of questions, if it is not beside the turns.
        roles: Of LongMemEval: whose turns are searched.
        granularity: Of LongMemEval: what is one memory.
        first: Stop after so many conversations.

    Raises:
        DatasetRefused: If it cannot be read.
        SettingError: For an option that the data set does not have.
    """
    given = {
        "split": ("locomo", split is not None),
        "questions": ("jsonl", questions is not None),
        "roles": ("longmemeval", roles != "user"),
        "granularity": ("longmemeval", granularity != "turn"),
    }
    for name, (owner, is_given) in given.items():
        if is_given and owner != dataset:
            raise SettingError(f"{name} is an option of {owner}; {dataset} has none")
    if dataset == "longmemeval":
        stream = longmemeval.read(path, roles=roles, granularity=granularity)
        return Plan(islice(stream, first), LongMemEvalScoring(granularity))
    read = locomo.read(path) if dataset == "locomo" else jsonl.read(path, questions)
    some = [one for one in read if split in (None, "all", one.split)][:first]
    scoring = LOCOMO if dataset == "locomo" else EvidenceScoring()
    splits: Sequence[str] = SPLITS if split is None else (split,)
    counted = sum(1 for one in some for asked in one.questions if asked.gold)
    return Plan(some, scoring, tuple(splits), counted)

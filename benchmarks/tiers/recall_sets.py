"""The data sets on which recall is measured: those of the project, and those read from a path."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final
from zipfile import ZipFile

from benchmarks.tiers import parallel
from memoryware.bench.datasets import Conversation, Split, read_jsonl, read_locomo

DATA: Final = Path(__file__).resolve().parents[1] / "data"
EXAMPLE: Final = Path(__file__).resolve().parents[2] / "examples" / "recall"
ENGLISH, MULTILINGUAL = "local", "local:multilingual"
"""The embedding models, as `TieredMemory.open` names them."""


@dataclass(frozen=True, slots=True)
class RecallSet:
    """A data set, and how it is measured.

    Attributes:
        name: Its name in tables.
        about: What it is.
        read: Returns its conversations.
        language: The language of its texts.
        is_tuned: Whether anybody looked at it when weights were chosen.
    """

    name: str
    about: str
    read: Callable[[], Sequence[Conversation]]
    language: str = "en"
    is_tuned: bool = True

    @property
    def embeddings(self) -> str:
        """The model for it: the English one for English, the multilingual one for the others."""
        return ENGLISH if self.language == "en" else MULTILINGUAL


_AUTHORED: Final = {
    "en-assistant": "four persons with an assistant that gives long answers",
    "en-friends": "three pairs of friends over months",
    "en-lowoverlap": "questions in other words than their answers",
    "de-friends": "two pairs of friends, German",
    "es-assistant": "two persons with an assistant, Spanish",
    "zh-person": "what four persons said, Chinese",
    "zh-assistant": "two persons with an assistant, Chinese",
    "ja-assistant": "a person with an assistant, Japanese",
    "ar-person": "what one person said, Arabic",
}


def own_sets() -> Iterator[RecallSet]:
    """Yield the data sets that come with the project."""
    for name, about in _AUTHORED.items():
        yield RecallSet(name, about, partial(read_jsonl, DATA / name), name.partition("-")[0])
    yield RecallSet(
        "examples", "one chat, English and Chinese", partial(read_jsonl, EXAMPLE), "mixed"
    )
    for facts, questions in parallel.pairs():
        yield RecallSet(
            parallel.name_of(facts, questions),
            f"150 facts ({facts}) and questions ({questions})",
            partial(_parallel, facts, questions),
            facts if facts == questions else "mixed",
        )


def locomo_sets(path: Path) -> Iterator[RecallSet]:
    """Yield the halves of LoCoMo: that which nobody tuned on, and the other.

    Args:
        path: The file, folder or zip of the data set.
    """
    halves: dict[str, Split] = {"LoCoMo, held half": "held", "LoCoMo, tuned half": "tuned"}
    for name, split in halves.items():
        read = partial(_locomo, path, split)
        yield RecallSet(name, "two friends over months", read, is_tuned=split == "tuned")


def chats_set(path: Path) -> RecallSet:
    """Return a data set of JSON Lines in a folder or zip: chats of a person with an assistant.

    Args:
        path: The folder or zip with `turns.jsonl` and `questions.jsonl`.
    """
    about = "long chats of a person with an assistant"
    return RecallSet("assistant chats", about, partial(_jsonl, path))


def _parallel(facts: str, questions: str) -> list[Conversation]:
    return [parallel.conversation(facts, questions)]


def _locomo(path: Path, split: Split) -> list[Conversation]:
    return [conversation for conversation in read_locomo(path) if conversation.split == split]


def _jsonl(path: Path) -> list[Conversation]:
    if path.suffix != ".zip":
        return read_jsonl(path)
    with tempfile.TemporaryDirectory(prefix="chats-") as folder, ZipFile(path) as archive:
        archive.extractall(folder)
        return read_jsonl(Path(folder))

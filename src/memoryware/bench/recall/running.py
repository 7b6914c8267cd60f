"""A whole data set, conversation by conversation, through the public doors of a memory."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from memoryware.bench.datasets.values import Conversation, Split
from memoryware.bench.recall.asking import TENANT, Asker, Clocks
from memoryware.bench.recall.caching import CachedEmbeddings
from memoryware.bench.recall.scoring import Asked, EvidenceScoring, Ranking, Scoring
from memoryware.errors import SettingError
from memoryware.settings import TierLimits
from memoryware.tiers.client.memory import TieredMemory

_PATIENCE: Final = 3600.0
"""Seconds that a call of the embedding model may take: nobody waits for an answer here."""


@dataclass(frozen=True, slots=True)
class Scored:
    """One question and what each way of asking was worth.

    Attributes:
        conversation: The id of its conversation.
        split: Whether settings were tuned on that.
        question: Its id.
        category: Its kind.
        rows: The rows of a table in which it counts.
        gold: Ids of the turns that answer it.
        ranks: By way, the place of each of these, from 1; None if it was not found.
        scores: By way and measure.
    """

    conversation: str
    split: Split
    question: str
    category: str
    rows: tuple[str, ...]
    gold: tuple[str, ...]
    ranks: Mapping[str, tuple[int | None, ...]]
    scores: Mapping[str, Mapping[str, float]]


@dataclass(slots=True)
class Measured:
    """What a run has measured.

    Attributes:
        scored: Every question that counts.
        left_out: How many questions have no answer that could be found.
        conversations: How many conversations.
        turns: How many turns.
        space: The name of the embedding space; None without embeddings.
        clocks: What took how long.
    """

    scored: list[Scored] = field(default_factory=list)
    left_out: int = 0
    conversations: int = 0
    turns: int = 0
    space: str | None = None
    clocks: Clocks = field(default_factory=Clocks)


def measure(
    conversations: Iterable[Conversation],
    scoring: Scoring | None = None,
    *,
    store: str | None = None,
    embeddings: Any = None,
    cache: Path | None = None,
    alone: Sequence[int] = (),
    lists: bool = False,
    on_progress: Callable[[Measured], None] | None = None,
) -> Measured:
    """Put each conversation into a memory, ask its questions, and score what comes back.

    Args:
        conversations: What a reader returned; one at a time is held.
        scoring: The protocol; by default recall of the turns that answer.
        store: The address of an empty store; by default a file that is gone afterwards.
        embeddings: As for `TieredMemory.open`.
        cache: A folder in which vectors are kept for the next run.
        alone: Each k that is asked for by itself, such as `scoring.EXACT`. Of any other one
            the first k of the longest answer count, which may be others: `retrieve` keeps
            places for the best of each list.
        lists: Ask words and vectors by themselves as well.
        on_progress: Is called after each question with what there is.

    Raises:
        DatasetRefused: If the data set cannot be read.
        SettingError: If there are other memories in the store, or the cache cannot be used.
        MemorywareError: For what the store or the embedding model cannot do.
    """
    how: Scoring = scoring or EvidenceScoring()
    done = Measured()
    with _opened(store, embeddings, cache, how.depth) as memory:
        asker = Asker(memory, how.depth, tuple(alone), lists, done.clocks)
        done.space = memory.parts.embedder.name if memory.parts.embedder else None
        for one in conversations:
            done.conversations += 1
            done.turns += len(one.turns)
            _ask_all(one, how, asker, done, on_progress)
    return done


def _ask_all(
    conversation: Conversation,
    how: Scoring,
    asker: Asker,
    done: Measured,
    on_progress: Callable[[Measured], None] | None,
) -> None:
    asked = [Asked.of(one, conversation) for one in conversation.questions]
    counted = [(one, rows) for one in asked if (rows := how.rows(one))]
    done.left_out += len(asked) - len(counted)
    if not counted:
        return
    with asker.holding(conversation):
        for one, rows in counted:
            rankings = asker.rankings(one.question, conversation)
            done.scored.append(_scored(conversation, one, rows, rankings, how))
            if on_progress is not None:
                on_progress(done)


def _scored(
    conversation: Conversation,
    asked: Asked,
    rows: tuple[str, ...],
    rankings: Mapping[str, Ranking],
    how: Scoring,
) -> Scored:
    question, places = asked.question, dict[str, tuple[int | None, ...]]()
    for way, ranking in rankings.items():
        at = {id_: place for place, id_ in enumerate(ranking.deepest, 1)}
        places[way] = tuple(at.get(one) for one in question.gold)
    return Scored(
        conversation=conversation.id,
        split=conversation.split,
        question=question.id,
        category=question.category,
        rows=rows,
        gold=question.gold,
        ranks=places,
        scores={way: how.scores(asked, ranking) for way, ranking in rankings.items()},
    )


@contextmanager
def _opened(
    store: str | None, embeddings: Any, cache: Path | None, depth: int
) -> Iterator[TieredMemory]:
    """Open a memory that returns as many as are wanted and embeds nothing twice."""
    limits = TierLimits(cold_items=depth, hot_items=0, embed_timeout=_PATIENCE)
    with tempfile.TemporaryDirectory(prefix="memoryware-bench-") as name:
        folder = Path(name)
        url = store or f"sqlite:///{(folder / 'bench.db').as_posix()}"
        with TieredMemory.open(url, embeddings=embeddings, limits=limits) as memory:
            _must_be_free(memory, url)
            embedder = memory.parts.embedder
            if embedder is None:
                yield memory
                return
            made = CachedEmbeddings(embedder.embeddings, embedder.name, cache or folder)
            kept: Any = made  # it has what an `Embeddings` object has, without loading LangChain
            with closing(made):
                yield TieredMemory(
                    memory.parts.stores,
                    embeddings=kept,
                    embedding_space=embedder.name,
                    limits=limits,
                )


def _must_be_free(memory: TieredMemory, url: str) -> None:
    """Refuse a store that somebody uses: its memories would be embedded, and be in the way."""
    there = memory.parts.stores.long_term.walk(limit=1).items
    if any(one.scope.tenant != TENANT for one in there):
        raise SettingError(f"store={url!r} has memories in it; name an empty store, or none at all")

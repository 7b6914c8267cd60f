"""Measure recall: load conversations into a memory, ask their questions, score what comes back.

`plan` chooses the data set and its scoring, `measure` runs it, `Report` has the figures.
"""

from __future__ import annotations

import hashlib
import json
import platform
import sqlite3
import statistics
import tempfile
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal

from memoryware._version import __version__
from memoryware.bench.datasets import (
    Conversation,
    DatasetQuestion,
    Granularity,
    Roles,
    Split,
    read_jsonl,
    read_locomo,
    read_longmemeval,
)
from memoryware.bench.filling import (
    TENANT,
    Filling,
    Stored,
    TurnClock,
    clear,
    fill,
    ids_in_order,
    scope_of,
)
from memoryware.bench.scoring import (
    ALL,
    LENIENT,
    LOCOMO,
    SHARED,
    STRICT,
    UNSHARED,
    EvidenceScoring,
    LongMemEvalScoring,
    QuestionContext,
    Scoring,
    TurnRanking,
)
from memoryware.errors import SettingError, StoreUnavailable
from memoryware.scope import MemoryScope
from memoryware.settings import TierLimits
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.stores.protocol import Hit, Select
from memoryware.tiers.text.terms import query_words

__all__ = ["Measurement", "Plan", "Report", "measure", "plan"]

# Plan.

SPLITS: Final = ("held", "tuned", "all")
"""Parts of a data set that get a table: see `memoryware.bench.datasets.Split`."""
Dataset = Literal["locomo", "longmemeval", "jsonl"]
"""The data sets that can be measured."""
SplitChoice = Literal["tuned", "held", "all"]
"""Which conversations: those that settings were tuned on, the others, or all."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A data set that is ready to be measured.

    Attributes:
        conversations: An iterator where the data set is too large for memory.
        scoring: The protocol of the data set.
        splits: The parts that get a table.
        questions: How many questions there are; None if it is known at the end of the file only.
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
    names: bool = False,
    first: int | None = None,
) -> Plan:
    """Choose a data set with its scoring: read it, or open it where it is too large.

    Args:
        dataset: Its kind.
        path: Its file or folder.
        split: LoCoMo only: which conversations; by default all, with a table for each part.
        questions: Your own data only: the file of questions, if it is not next to the turns.
        roles: LongMemEval only: whose turns are searched.
        granularity: LongMemEval only: whether one memory is a turn or a session.
        names: Store each turn with the name of its speaker before the text, "Ann: ...".
        first: Stop after this many conversations.

    Returns:
        The data set with its scoring, for `measure`.

    Raises:
        DatasetRefused: If it cannot be read.
        SettingError: For an option that the data set does not have.
    """
    options = {
        "split": ("locomo", split is not None),
        "questions": ("jsonl", questions is not None),
        "roles": ("longmemeval", roles != "user"),
        "granularity": ("longmemeval", granularity != "turn"),
    }
    for name, (owner, is_set) in options.items():
        if is_set and owner != dataset:
            raise SettingError(f"{name} is an option of {owner}; {dataset} has none")
    if dataset == "longmemeval":
        stream = read_longmemeval(path, roles=roles, granularity=granularity)
        named = (_with_names(conversation) if names else conversation for conversation in stream)
        return Plan(islice(named, first), LongMemEvalScoring(granularity))
    loaded = read_locomo(path) if dataset == "locomo" else read_jsonl(path, questions)
    selected = [
        _with_names(conversation) if names else conversation
        for conversation in loaded
        if split in (None, "all", conversation.split)
    ][:first]
    scoring = LOCOMO if dataset == "locomo" else EvidenceScoring()
    splits: Sequence[str] = SPLITS if split is None else (split,)
    counted = sum(
        1 for conversation in selected for question in conversation.questions if question.gold
    )
    return Plan(selected, scoring, tuple(splits), counted)


def _with_names(conversation: Conversation) -> Conversation:
    """Return a conversation whose turns are stored with the names of their speakers."""
    turns = tuple(replace(turn, named=bool(turn.name)) for turn in conversation.turns)
    return replace(conversation, turns=turns)


# Durations, and a cache of vectors.


@dataclass(slots=True)
class Timings:
    """Seconds that the parts of a measurement took.

    Attributes:
        load: Storing turns and indexing their words.
        embed: Computing the vectors of turns.
        retrieve: Each `retrieve` to the full depth.
    """

    load: float = 0.0
    embed: float = 0.0
    retrieve: list[float] = field(default_factory=list)


_FILE: Final = "vectors.db"
_LOOKUP_BATCH: Final = 500
"""Texts that one statement looks up."""


class _CachedEmbeddings:
    """An `Embeddings` object that caches the vectors of another one in a folder.

    The key is the embedding space, the kind of text (document or query) and a digest of the text;
    vectors are 32-bit floats. Not safe for use in several threads at once.

    Attributes:
        underlying_embeddings: The other object.

    Raises:
        SettingError: If the folder cannot hold them.
    """

    def __init__(
        self, embeddings: Any, space: str, folder: Path, timings: Timings | None = None
    ) -> None:
        self.underlying_embeddings, self._space = embeddings, space
        self._timings = timings or Timings()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = sqlite3.connect(folder / _FILE, check_same_thread=False, timeout=30)
            self._file.execute(
                "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL)"
                " WITHOUT ROWID"
            )
        except (OSError, sqlite3.Error) as error:
            raise SettingError(f"cache={str(folder)!r} cannot hold vectors: {error}") from None

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return a vector for each text."""
        start = time.perf_counter()
        vectors = self._cached("document", texts, self.underlying_embeddings.embed_documents)
        self._timings.embed += time.perf_counter() - start
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a query."""
        return self._cached(
            "query", [text], lambda texts: map(self.underlying_embeddings.embed_query, texts)
        )[0]

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _cached(
        self, kind: str, texts: Sequence[str], embed: Callable[..., Any]
    ) -> list[list[float]]:
        keys = {text: self._key(kind, text) for text in texts}
        stored = self._stored(list(keys.values()))
        missing = [text for text, key in keys.items() if key not in stored]
        if missing:
            vectors = [array("f", vector) for vector in embed(missing)]
            new = {
                keys[text]: vector.tobytes() for text, vector in zip(missing, vectors, strict=True)
            }
            with self._file:
                self._file.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", new.items())
            stored |= new
        return [list(array("f", stored[keys[text]])) for text in texts]

    def _stored(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        stored: dict[bytes, bytes] = {}
        for start in range(0, len(keys), _LOOKUP_BATCH):
            batch = keys[start : start + _LOOKUP_BATCH]
            marks = ", ".join("?" * len(batch))
            statement = f"SELECT key, vector FROM vectors WHERE key IN ({marks})"  # noqa: S608 - marks
            stored.update(self._file.execute(statement, batch).fetchall())
        return stored

    def _key(self, kind: str, text: str) -> bytes:
        source = f"{self._space}\0{kind}\0{text}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(source, digest_size=16).digest()


# One conversation: loaded, asked and deleted again.

RETRIEVE: Final = "retrieve"
WORDS: Final = "words alone"
VECTORS: Final = "vectors alone"
"""Ways of searching: as users do, and each of the two lists by itself."""


@dataclass(frozen=True, slots=True)
class _RecallRun:
    """Searches a memory that holds one conversation at a time.

    Attributes:
        memory: Holds the turns.
        clock: The clock of the memory.
        depth: How many results are asked for.
        alone: Each further k that gets a search of its own.
        lists: Whether words and vectors are searched separately as well.
        filling: How turns are stored.
        timings: Durations, added up.
    """

    memory: TieredMemory
    clock: TurnClock
    depth: int
    alone: tuple[int, ...] = ()
    lists: bool = False
    filling: Filling = "turns"
    timings: Timings = field(default_factory=Timings)

    @contextmanager
    def loaded(self, conversation: Conversation) -> Iterator[_LoadedConversation]:
        """Store the turns of a conversation for the time of a `with` block."""
        clear(self.memory, conversation)
        try:
            start, embedded = time.perf_counter(), self.timings.embed
            stored = fill(self.memory, self.clock, conversation, self.filling)
            seconds = time.perf_counter() - start
            self.timings.load += seconds - (self.timings.embed - embedded)
            yield _LoadedConversation(self, conversation, stored)
        finally:
            clear(self.memory, conversation)


@dataclass(frozen=True, slots=True)
class _LoadedConversation:
    """A conversation that is in the memory.

    Attributes:
        run: Searches it.
        conversation: Its turns and questions.
        stored: Which memories are which turns.
    """

    run: _RecallRun
    conversation: Conversation
    stored: Stored

    def rankings(self, question: DatasetQuestion) -> Mapping[str, TurnRanking]:
        """Return the results for a question by way of searching."""
        run, scope = self.run, scope_of(self.conversation)
        at = _asked_time(question, self.conversation)
        start = time.perf_counter()
        deepest = self._retrieve(question, scope, at, run.depth)
        run.timings.retrieve.append(time.perf_counter() - start)
        alone = {k: self._retrieve(question, scope, at, k) for k in run.alone}
        rankings = {RETRIEVE: TurnRanking(deepest, alone)}
        return rankings | self._single_lists(question, scope, at) if run.lists else rankings

    def _retrieve(
        self, question: DatasetQuestion, scope: MemoryScope, at: datetime, limit: int
    ) -> tuple[str, ...]:
        result = self.run.memory.retrieve(
            question.text, scope, max_results=limit, at=at, tiers=("long_term",)
        )
        if result.failed:  # a failure must not count as a wrong answer
            raise StoreUnavailable(f"The memory could not be asked: {'; '.join(result.notes)}")
        return self.stored.turns_of(memory.id for memory in result)

    def _single_lists(
        self, question: DatasetQuestion, scope: MemoryScope, at: datetime
    ) -> dict[str, TurnRanking]:
        """Return the results of word search alone and of vector search alone."""
        parts, depth = self.run.memory.parts, self.run.depth
        store, embedder = parts.stores.long_term, parts.embedder
        select = Select.within(scope, agents=(None,), live_at=at)
        hits = store.by_words(query_words(question.text), select, limit=depth)
        rankings = {WORDS: self._turns(hits)}
        if embedder is not None:
            vector = embedder.embeddings.embed_query(question.text)
            space = embedder.space_of(vector)
            near = store.by_vector(vector, select, space=space, limit=depth)
            rankings[VECTORS] = self._turns(near)
        return rankings

    def _turns(self, hits: Iterable[Hit]) -> TurnRanking:
        return TurnRanking(self.stored.turns_of(hit.memory.id for hit in hits))


def _asked_time(question: DatasetQuestion, conversation: Conversation) -> datetime:
    """Return the time of a question, but no time before the last turn.

    It decides what "last May" means. Some data sets date a question before the conversation ends;
    that must not hide turns from it.
    """
    last = max(turn.time for turn in conversation.turns)
    return last if question.asked_at is None else max(last, question.asked_at)


# A whole data set.

_EMBED_TIMEOUT: Final = 3600.0
"""Seconds that a call of the embedding model may take: no user waits here."""


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """The scores of one question.

    Attributes:
        conversation: The id of its conversation.
        split: Whether settings were tuned on that conversation.
        question: Its id.
        category: Its category.
        rows: The rows of the table in which it counts.
        gold: Ids of the turns that answer it.
        ranks: By way of searching, the rank of each of these turns, from 1; None if not found.
        scores: By way of searching and metric.
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
class Measurement:
    """The result of a run.

    Attributes:
        scored: The questions that count.
        left_out: How many questions no turn answers.
        conversations: How many conversations.
        turns: How many turns.
        space: The name of the embedding space; None without embeddings.
        timings: Durations, added up.
    """

    scored: list[QuestionResult] = field(default_factory=list)
    left_out: int = 0
    conversations: int = 0
    turns: int = 0
    space: str | None = None
    timings: Timings = field(default_factory=Timings)


def measure(
    conversations: Iterable[Conversation],
    scoring: Scoring | None = None,
    *,
    store: str | None = None,
    embeddings: Any = None,
    cache: Path | None = None,
    alone: Sequence[int] = (),
    lists: bool = False,
    filling: Filling = "turns",
    on_progress: Callable[[Measurement], None] | None = None,
) -> Measurement:
    """Put each conversation into a memory, ask its questions, and score what comes back.

    A memory is filled by the calls that an agent makes: each turn is recorded at its time, and a
    person promotes them all after the last one.

    Args:
        conversations: From a reader of `memoryware.bench.datasets`; one is held at a time.
        scoring: The protocol; by default recall of the turns that answer a question.
        store: The address of an empty store; by default a temporary SQLite file.
        embeddings: As for `TieredMemory.open`.
        cache: A folder that keeps vectors for the next run.
        alone: Each k that gets a search of its own, such as `scoring.EXACT`. For any other k
            the first k results of the deepest search count, which may differ: `retrieve`
            reserves ranks for the best of each list.
        lists: Search words and vectors separately as well.
        filling: "bulk" loads the turns as memories instead, as an import does.
        on_progress: Called after each question with the result so far.

    Returns:
        The scores of every question that counts, and durations.

    Raises:
        DatasetRefused: If the data set cannot be read.
        SettingError: If there are other memories in the store, or the cache cannot be used.
        MemorywareError: If the store or the embedding model fails.
    """
    protocol: Scoring = scoring or EvidenceScoring()
    result = Measurement()
    clock = TurnClock()
    with _open(store, embeddings, cache, protocol.depth, clock, result.timings) as memory:
        runner = _RecallRun(
            memory, clock, protocol.depth, tuple(alone), lists, filling, result.timings
        )
        result.space = memory.parts.embedder.name if memory.parts.embedder else None
        for conversation in conversations:
            result.conversations += 1
            result.turns += len(conversation.turns)
            _ask_all(conversation, protocol, runner, result, on_progress)
    return result


def _ask_all(
    conversation: Conversation,
    scoring: Scoring,
    runner: _RecallRun,
    result: Measurement,
    on_progress: Callable[[Measurement], None] | None,
) -> None:
    contexts = [QuestionContext.of(question, conversation) for question in conversation.questions]
    counted = [(context, rows) for context in contexts if (rows := scoring.rows(context))]
    result.left_out += len(contexts) - len(counted)
    if not counted:
        return
    with runner.loaded(conversation) as loaded:
        for context, rows in counted:
            rankings = loaded.rankings(context.question)
            result.scored.append(_scored(conversation, context, rows, rankings, scoring))
            if on_progress is not None:
                on_progress(result)


def _scored(
    conversation: Conversation,
    context: QuestionContext,
    rows: tuple[str, ...],
    rankings: Mapping[str, TurnRanking],
    scoring: Scoring,
) -> QuestionResult:
    question, ranks = context.question, dict[str, tuple[int | None, ...]]()
    for way, ranking in rankings.items():
        rank_of = {id_: rank for rank, id_ in enumerate(ranking.deepest, 1)}
        ranks[way] = tuple(rank_of.get(turn_id) for turn_id in question.gold)
    return QuestionResult(
        conversation=conversation.id,
        split=conversation.split,
        question=question.id,
        category=question.category,
        rows=rows,
        gold=question.gold,
        ranks=ranks,
        scores={way: scoring.scores(context, ranking) for way, ranking in rankings.items()},
    )


@contextmanager
def _open(
    store: str | None,
    embeddings: Any,
    cache: Path | None,
    depth: int,
    clock: TurnClock,
    timings: Timings,
) -> Iterator[TieredMemory]:
    """Open a memory that returns `depth` results and embeds no text twice."""
    limits = TierLimits(long_term_items=depth, working_items=0, embed_timeout=_EMBED_TIMEOUT)
    new_id = ids_in_order()
    with tempfile.TemporaryDirectory(prefix="memoryware-bench-") as name:
        folder = Path(name)
        url = store or f"sqlite:///{(folder / 'bench.db').as_posix()}"
        with TieredMemory.open(
            url, embeddings=embeddings, limits=limits, clock=clock, new_id=new_id
        ) as memory:
            _require_empty(memory, url)
            embedder = memory.parts.embedder
            if embedder is None:
                yield memory
                return
            cached = _CachedEmbeddings(embedder.embeddings, embedder.name, cache or folder, timings)
            vectors: Any = cached  # a duck type of `Embeddings`, to load no LangChain
            with closing(cached):
                yield TieredMemory(
                    memory.parts.stores,
                    embeddings=vectors,
                    embedding_space=embedder.name,
                    limits=limits,
                    clock=clock,
                    new_id=new_id,
                )


def _require_empty(memory: TieredMemory, url: str) -> None:
    """Refuse a store in use: its memories would be embedded, and would compete in the ranking."""
    stored = memory.parts.stores.long_term.walk(limit=1).items
    if any(entry.scope.tenant != TENANT for entry in stored):
        raise SettingError(f"store={url!r} has memories in it; name an empty store, or none at all")


# The report.

_LAST: Final = (SHARED, UNSHARED, ALL, STRICT, LENIENT)
"""Rows that come last, in this order."""
_COMPARED: Final = ("R@5", "R@10", "session recall_all@5", "session recall_all@10")
"""Metrics by which ways of searching are compared."""


@dataclass(frozen=True, slots=True)
class ReportRow:
    """The means of a group of questions.

    Attributes:
        name: Which questions.
        n: How many.
        means: By metric.
    """

    name: str
    n: int
    means: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ReportTable:
    """One way of searching on one part of the conversations.

    Attributes:
        split: "held", "tuned" or "all".
        way: The way of searching.
        rows: One for each group of questions.
    """

    split: str
    way: str
    rows: tuple[ReportRow, ...]

    def row(self, name: str) -> ReportRow | None:
        """Return the row with this name.

        Args:
            name: The name of a group of questions.

        Returns:
            The row; None if the table has none with this name.
        """
        return next((row for row in self.rows if row.name == name), None)


@dataclass(frozen=True, slots=True)
class Report:
    """The figures of a run, for people and for programs.

    Attributes:
        about: Versions, the data set, options, counts and durations.
        shown: The metrics that a table for people shows.
        curve: The metric that a plot shows, with `{k}` in it.
        tables: The numbers.
    """

    about: Mapping[str, Any]
    shown: tuple[str, ...]
    curve: str
    tables: tuple[ReportTable, ...]

    @classmethod
    def of(
        cls,
        measured: Measurement,
        scoring: Scoring,
        *,
        splits: Sequence[str] = SPLITS,
        about: Mapping[str, Any] | None = None,
    ) -> Report:
        """Make the report of a run.

        Args:
            measured: The result of `measure`.
            scoring: The protocol that it was measured by.
            splits: The parts that get tables. A part without questions gets none; if no
                conversation belongs to a part, there are tables for "all" only.
            about: Further facts, such as the name of the data set.

        Returns:
            The report.
        """
        is_split = any(question.split for question in measured.scored)
        parts = [split for split in splits if is_split] or ["all"]
        tables = [table for part in parts for table in _tables(measured.scored, part)]
        return cls(
            about={"memoryware": __version__, **_machine(), **(about or {}), **_amounts(measured)},
            shown=scoring.shown,
            curve=scoring.curve,
            tables=tuple(tables),
        )

    def json(self) -> str:
        """Return the whole report as JSON."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=2)

    def compared(self) -> list[str]:
        """Return sentences that compare `retrieve` with the better of its two lists."""
        return [line for split in SPLITS for line in _compared(self.tables, split)]


def _machine() -> dict[str, str]:
    return {"python": platform.python_version(), "system": platform.system()}


def _amounts(measured: Measurement) -> dict[str, Any]:
    durations = [1000 * seconds for seconds in measured.timings.retrieve]
    return {
        "conversations": measured.conversations,
        "turns": measured.turns,
        "questions": len(measured.scored),
        "left_out": measured.left_out,
        "space": measured.space,
        "seconds_put": round(measured.timings.load, 3),
        "seconds_embed": round(measured.timings.embed, 3),
        "ms_retrieve_median": round(statistics.median(durations), 3) if durations else None,
    }


def _tables(scored: Sequence[QuestionResult], split: str) -> Iterator[ReportTable]:
    questions = [question for question in scored if split in (question.split, "all")]
    ways = dict.fromkeys(way for question in questions for way in question.scores)
    names = dict.fromkeys(name for question in questions for name in question.rows)
    kinds = sorted(name for name in names if name not in _LAST)
    ordered = [*kinds, *(name for name in _LAST if name in names)]
    for way in ways:
        yield ReportTable(split, way, tuple(_row(name, way, questions) for name in ordered))


def _row(name: str, way: str, scored: Sequence[QuestionResult]) -> ReportRow:
    counted = [question.scores[way] for question in scored if name in question.rows]
    means = {
        measure: statistics.fmean(values[measure] for values in counted) for measure in counted[0]
    }
    return ReportRow(name, len(counted), means)


def _compared(tables: Sequence[ReportTable], split: str) -> Iterator[str]:
    ways = {table.way: table for table in tables if table.split == split}
    own = ways.pop(RETRIEVE, None)
    if own is None or not ways:
        return
    for name in (ALL, STRICT):
        row, others = own.row(name), {way: table.row(name) for way, table in ways.items()}
        for measure in _COMPARED:
            if row is None or measure not in row.means:
                continue
            values = {way: table.means[measure] for way, table in others.items() if table}
            best = max(values, key=lambda way: values[way])
            ahead = row.means[measure] - values[best]
            yield (
                f"{split}: {measure} {format_share(row.means[measure])},"
                f" {format_share(ahead, sign=True)} against {best} ({format_share(values[best])})"
            )
    yield from _unshared(own, ways, split)


def _unshared(own: ReportTable, others: Mapping[str, ReportTable], split: str) -> Iterator[str]:
    """Compare with vectors alone where word search finds nothing."""
    row, alone = own.row(UNSHARED), VECTORS in others and others[VECTORS].row(UNSHARED)
    for measure in _COMPARED:
        if row and alone and alone.means.get(measure):
            share = row.means[measure] / alone.means[measure]
            yield (
                f"{split}, {UNSHARED}: {measure} {format_share(row.means[measure])},"
                f" {share:.0%} of vectors alone ({format_share(alone.means[measure])})"
            )


def format_share(value: float, *, sign: bool = False) -> str:
    """Format a share with three decimals and no zero before the point.

    Args:
        value: The share.
        sign: Write "+" as well, for a difference.

    Returns:
        Such as ".612" or "+.010".
    """
    text = f"{value:+.3f}" if sign else f"{value:.3f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def json_lines(scored: Sequence[QuestionResult]) -> Iterator[str]:
    """Write each question with the turns that answer it and their ranks.

    Args:
        scored: Questions of a run.

    Yields:
        One line of JSON for each question.
    """
    for question in scored:
        names = ("conversation", "split", "question", "category", "rows", "gold", "ranks")
        yield json.dumps({name: getattr(question, name) for name in names}, ensure_ascii=False)

"""Searches by words and by vectors in SQL, written once over a port."""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, Final

from memoryware.errors import EmbeddingMismatch
from memoryware.tiers.model import Memory
from memoryware.tiers.scoring import SATURATION, rarity
from memoryware.tiers.stores._sql import dialect as sql_dialect
from memoryware.tiers.stores._sql.dialect import (
    Condition,
    Corpus,
    Port,
    PortTransaction,
    Scores,
    SqlDialect,
)
from memoryware.tiers.stores.codec import packed
from memoryware.tiers.stores.protocol import (
    Chooser,
    Query,
    SearchCandidate,
    SearchResult,
    SearchView,
    Select,
    Space,
)
from memoryware.tiers.stores.selecting import newest_best, same_speakers, with_neighbours

_WORD: Final = re.compile("[a-z0-9_\x80-\ud7ff\ue000-\U0010ffff]+")
"""What can be a word that `words_of` made; nothing that an index could take for more."""
_FEW: Final = 500
"""Texts that are scored faster than another query takes."""


async def search(port: Port, query: Query, selection: Select, choose: Chooser) -> SearchResult:
    """Return the view of a search over the memories that fit, and the memories chosen from it."""
    if selection.groups == ():
        return SearchResult(SearchView(having=(0,) * len(query.words)))
    async with port.transaction(selection, snapshot=not port.has_segments) as tx:
        return await search_in(tx, port.dialect, query, selection, choose)


async def search_in(
    tx: PortTransaction, dialect: SqlDialect, query: Query, selection: Select, choose: Chooser
) -> SearchResult:
    """Search memory as this transaction sees it, its own changes included."""
    while True:
        answer = await tx.search_view(query, selection)
        if answer is None:
            space = await _space(tx, query)
            answer = await SqlSearch(tx, dialect, query, selection, space).view()
        view, numbers = answer
        chosen = {numbers[position]: position for position in choose(view)}
        memories = await _memories(tx, selection, chosen)
        if memories is not None:
            break
    return SearchResult(view, {chosen[number]: memory for number, memory in memories.items()})


@dataclass(frozen=True, slots=True)
class SqlSearch:
    """One search that is put together from several statements.

    Attributes:
        tx: The transaction that runs the statements.
        dialect: The SQL of the database.
        query: The words and the vector.
        selection: The memories that may be returned.
        space: The number of the space that is searched, and the packed vector; None without one.
    """

    tx: PortTransaction
    dialect: SqlDialect
    query: Query
    selection: Select
    space: tuple[int, bytes] | None

    async def view(self) -> tuple[SearchView, Sequence[int]]:
        """Return the candidates, and the number of the memory of each."""
        query, space, most = self.query, self.space, self.query.limit
        where = self.dialect.condition("long_term", self.selection)
        words = [word for word in query.words if _WORD.fullmatch(word)]

        async def ranked() -> tuple[Corpus, dict[int, float]]:
            corpus = await self.corpus(words)
            return corpus, await _scored(self.tx, corpus, where, most) if most > 0 else {}

        async def nearest() -> Scores:
            return await self.tx.nearest(*space, where, most) if space and most > 0 else ()

        both: list[Any] = await self.tx.gather([ranked(), nearest()])
        (corpus, by_words), near = both
        cosines = {seq: value for seq, value in near if not math.isnan(value)}
        hits = {*newest_best(by_words, most), *newest_best(cosines, most)}
        shown = with_neighbours(await self.threads(hits), hits, query.reach)
        numbers = [number for number, _ in shown]
        by_number, said_by = await self.candidates(corpus, numbers)
        having = tuple(corpus.having.get(word, 0) for word in query.words)
        same = same_speakers(shown, said_by.__getitem__)
        candidates = [
            replace(by_number[number], follows=follows, same_speaker=is_same)
            for (number, follows), is_same in zip(shown, same, strict=True)
        ]
        return SearchView(candidates, having, corpus.count, corpus.mean), numbers

    async def corpus(self, words: Sequence[str]) -> Corpus:
        """Return the word statistics of the tenant and groups."""
        names = sql_dialect.tokens_of(self.selection.tenant, *(self.selection.groups or ()))
        where, values = self.dialect.corpus(self.selection)

        async def having() -> dict[str, int]:
            return await self.tx.having(names, words) if words else {}

        sql = f"SELECT count(*), coalesce(sum(size), 0) FROM record WHERE {where}"
        both: list[Any] = await self.tx.gather([having(), self.tx.execute(sql, *values)])
        texts, ((count, size),) = both
        return Corpus(names, texts, count, size / count if count else 0)

    async def threads(self, hits: Collection[int]) -> list[list[int]]:
        """Return the threads that hits are in, each as the numbers of its fitting memories.

        Of all threads together the newest `query.thread` memories are read.
        """
        query = self.query
        if not hits or query.reach < 1 or query.thread < 1:
            return []
        where, values = self._with_numbers(hits)
        session = "nullif(session_id, '')" if query.sessions else "NULL"
        rows = await self.tx.execute(
            f"SELECT part, {session}, document FROM record WHERE {where}", *values
        )
        sessions: list[tuple[str, str]] = []
        documents: list[tuple[str, str]] = []
        for part, in_session, document in rows:
            (sessions if in_session else documents).append((part, in_session or document))
        members = await self.tx.gather(
            [self.members("session_id", sessions), self.members("document", documents)]
        )
        numbers = [number for some in members for number in some]
        threads: dict[tuple[str, ...], list[int]] = {}
        for number, *thread in sorted(heapq.nlargest(query.thread, numbers)):
            threads.setdefault(tuple(thread), []).append(number)
        return [*threads.values()]

    async def members(
        self, column: str, threads: Sequence[tuple[str, str]]
    ) -> list[tuple[int, str, str, str]]:
        """Return the newest fitting memories of threads: number, column, part and name."""
        query, selection = self.query, self.selection
        texts = {
            thread: text
            for thread in threads
            if (text := self.dialect.text_of(thread[1])) is not None
        }
        names = tuple(sorted({*texts.values()}))
        if not names:
            return []
        several = selection.groups is None or len(selection.groups) > 1
        if column == "session_id":
            narrowed, also = selection.also(sessions=names), ""
        else:
            narrowed, also = selection.also(documents=names), ""
            if query.sessions:  # a memory with a session is in the thread of that session
                also = " AND coalesce(session_id, '') = ''"
        where, values = self.dialect.condition("long_term", narrowed)
        if several:  # a stranger in another group may have the same name
            pairs = ", ".join("(?, ?)" for _ in texts)
            also += f" AND (part, {column}) IN (VALUES {pairs})"
            values = [*values, *(part for pair in texts for part in pair)]
        rows = await self.tx.execute(
            f"SELECT seq, part, {column} FROM record WHERE {where}{also} ORDER BY seq DESC LIMIT ?",
            *values, query.thread,
        )  # fmt: skip
        return [(seq, column, part, name) for seq, part, name in rows]

    async def candidates(
        self, corpus: Corpus, numbers: Sequence[int]
    ) -> tuple[dict[int, SearchCandidate], dict[int, tuple[Any, str | None]]]:
        """Return word counts, size and cosine of memories, and their document and speaker."""
        if not numbers:
            return {}, {}
        words = list(corpus.having)
        where, values = self._with_numbers(numbers)
        reads: list[Coroutine[Any, Any, Any]] = [
            self.tx.execute(
                f"SELECT seq, size, document, {self.dialect.speaker_columns} FROM record"
                f" WHERE {where}",
                *values,
            )
        ]
        reads += [self.tx.word_counts(corpus.names, words, numbers)] if words else []
        reads += [self.tx.cosines(*self.space, numbers)] if self.space is not None else []
        sized, *rest = await self.tx.gather(reads)
        counts = rest.pop(0) if words else {}
        near = rest[0] if rest else {}
        sizes = {row[0]: row[1] for row in sized}
        column_of = {word: column for column, word in enumerate(words)}
        columns = [column_of.get(word) for word in self.query.words]
        none = (0,) * len(words)
        keys = [item.key for item in self.dialect.attributions(row[3:] for row in sized)]
        said_by: dict[int, tuple[Any, str | None]] = dict.fromkeys(numbers, (None, None))
        said_by |= {row[0]: (row[2], key) for row, key in zip(sized, keys, strict=True)}
        candidates = {}
        for number in numbers:
            own = counts.get(number, none)
            often = tuple(0 if column is None else own[column] for column in columns)
            candidates[number] = SearchCandidate(often, sizes.get(number, 0), near.get(number))
        return candidates, said_by

    def _with_numbers(self, numbers: Collection[int]) -> Condition:
        """Return the condition that a record of the tenant has one of these numbers."""
        (where, values) = self.dialect.numbered("seq", numbers)
        (here, more) = self.dialect.where(self.selection.tenant)
        return f"{where}{here}", [*values, *more]


async def _space(tx: PortTransaction, query: Query) -> tuple[int, bytes] | None:
    """Return the number of the space that is searched, and the packed vector of the query."""
    if query.vector is None or query.space is None:
        return None
    data = packed(query.vector, query.space)
    answers: list[Any] = await tx.gather(
        [tx.number_of_space(query.space), _must_be_current(tx, query.space)]
    )
    number: int | None = answers[0]
    return None if number is None else (number, data)


async def _must_be_current(tx: PortTransaction, space: Space) -> None:
    """Refuse to search in a space that is not the current one: it may be incomplete."""
    for name, dimension in await tx.execute("SELECT name, dimension FROM space WHERE current"):
        current = Space(sql_dialect.unflat(name), dimension)
        if current != space:
            raise EmbeddingMismatch(str(current), str(space))


async def _memories(
    tx: PortTransaction, selection: Select, numbers: Collection[int]
) -> dict[int, Memory] | None:
    memories = await tx.memories(selection, numbers)
    if memories is None:
        return None
    # A number alone is no proof of whose memory it is.
    return {seq: memory for seq, memory in memories.items() if _is_of(memory, selection)}


def _is_of(memory: Memory, selection: Select) -> bool:
    scope = memory.scope
    return scope.tenant == selection.tenant and (
        selection.groups is None or scope.group_id in selection.groups
    )


async def _scored(
    tx: PortTransaction, corpus: Corpus, selection: Condition, limit: int
) -> dict[int, float]:
    """Return the best BM25 scores by number.

    The rarest words are looked up first. A memory that has only the remaining words cannot score
    more than all of them together, so common words often need no query at all.
    """
    having = corpus.having
    waiting = sorted((word for word in having if having[word]), key=lambda word: having[word])
    most = {word: rarity(having[word], corpus.count) * (SATURATION + 1) for word in waiting}
    best: dict[int, float] = {}
    done = 0
    while done < len(waiting):
        left = math.fsum(most[word] for word in waiting[done:])
        if len(best) >= limit and min(best.values()) > left:
            break
        some = _together(waiting[done:], having)
        best_by_words = await tx.best_by_words(corpus, some, waiting[:done], selection, limit)
        best = _first(best | dict(best_by_words), limit)
        done += len(some)
    return best


def _together(waiting: Sequence[str], having: Mapping[str, int]) -> Sequence[str]:
    """Return the words of the next query: one, or several where few texts have them."""
    texts = accumulate(having[word] for word in waiting)
    return waiting[: max(1, sum(1 for count in texts if count <= _FEW))]


def _first(scores_: Mapping[int, float], limit: int) -> dict[int, float]:
    """Return the highest scores, and what is as high as the last of them."""
    good = {seq: value for seq, value in scores_.items() if not math.isnan(value)}
    if len(good) <= limit:
        return good
    least = heapq.nlargest(limit, good.values())[-1]
    return {seq: value for seq, value in good.items() if value >= least}

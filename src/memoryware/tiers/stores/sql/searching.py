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
from memoryware.tiers.stores.codec import packed
from memoryware.tiers.stores.protocol import Choose, Query, Searched, Seen, Select, Sight, Space
from memoryware.tiers.stores.selecting import beside, newest_best
from memoryware.tiers.stores.sql import rows as sql_rows
from memoryware.tiers.stores.sql.port import Corpus, Port, Scores, Transaction
from memoryware.tiers.stores.sql.rows import Condition, Rows

_WORD: Final = re.compile("[a-z0-9_\x80-\ud7ff\ue000-\U0010ffff]+")
"""What can be a word that `words_of` made; nothing that an index could take for more."""
_FEW: Final = 500
"""Texts that are scored sooner than another look takes."""


async def search(port: Port, query: Query, which: Select, choose: Choose) -> Searched:
    """Return what is seen of memories that fit, and those that are chosen of it."""
    if which.groups == ():
        return Searched(Sight(having=(0,) * len(query.words)))
    async with port.transaction(which, snapshot=not port.has_segments) as tx:
        return await search_in(tx, port.rows, query, which, choose)


async def search_in(
    tx: Transaction, rows: Rows, query: Query, which: Select, choose: Choose
) -> Searched:
    """Search memory as this transaction sees it, its own changes included."""
    while True:
        seen = await tx.sight(query, which)
        if seen is None:
            seen = await _sight(tx, _Asked(rows, query, which, await _space(tx, query)))
        sight, numbers = seen
        chosen = {numbers[place]: place for place in choose(sight)}
        found = await _memories(tx, which, chosen)
        if found is not None:
            break
    return Searched(sight, {chosen[number]: one for number, one in found.items()})


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a search is asked for."""

    rows: Rows
    query: Query
    which: Select
    space: tuple[int, bytes] | None


async def _sight(tx: Transaction, asked: _Asked) -> tuple[Sight, Sequence[int]]:
    """Return what is seen and the numbers of it, list by list."""
    rows, query, space = asked.rows, asked.query, asked.space
    where, most = rows.condition("long_term", asked.which), query.limit
    words = [one for one in query.words if _WORD.fullmatch(one)]

    async def ranked() -> tuple[Corpus, dict[int, float]]:
        corpus = await _corpus(tx, rows, asked.which, words)
        return corpus, await _scored(tx, corpus, where, most) if most > 0 else {}

    async def nearest() -> Scores:
        return await tx.nearest(*space, where, most) if space and most > 0 else ()

    both: list[Any] = await tx.gather([ranked(), nearest()])
    (corpus, by_words), near = both
    measured = {seq: value for seq, value in near if not math.isnan(value)}
    hits = {*newest_best(by_words, most), *newest_best(measured, most)}
    shown = beside(await _threads(tx, asked, hits), hits, query.reach)
    numbers = [number for number, _ in shown]
    seen = await _seen(tx, asked, corpus, numbers)
    having = tuple(corpus.having.get(word, 0) for word in query.words)
    found = [replace(seen[number], follows=follows) for number, follows in shown]
    return Sight(found, having, corpus.count, corpus.mean), numbers


async def _space(tx: Transaction, query: Query) -> tuple[int, bytes] | None:
    """Return the number of the space that is searched, and the packed vector of the query."""
    if query.vector is None or query.space is None:
        return None
    data = packed(query.vector, query.space)
    looked_up: list[Any] = await tx.gather(
        [tx.number_of_space(query.space), _must_be_current(tx, query.space)]
    )
    number: int | None = looked_up[0]
    return None if number is None else (number, data)


async def _corpus(tx: Transaction, rows: Rows, which: Select, words: Sequence[str]) -> Corpus:
    """Return what a search by words counts with."""
    names = sql_rows.tokens_of(which.tenant, *(which.groups or ()))
    where, values = rows.corpus(which)

    async def having() -> dict[str, int]:
        return await tx.having(names, words) if words else {}

    sql = f"SELECT count(*), coalesce(sum(size), 0) FROM record WHERE {where}"
    both: list[Any] = await tx.gather([having(), tx.execute(sql, *values)])
    texts, ((count, size),) = both
    return Corpus(names, texts, count, size / count if count else 0)


async def _threads(tx: Transaction, asked: _Asked, hits: Collection[int]) -> list[list[int]]:
    """Return the numbers of each thread that a hit is in: what fits of it, in order.

    The newest of all of them are looked through, `query.thread` at most.
    """
    rows, query, which = asked.rows, asked.query, asked.which
    if not hits or query.reach < 1 or query.thread < 1:
        return []
    where, values = _there(rows, which, hits)
    session = "nullif(session_id, '')" if query.sessions else "NULL"
    found = await tx.execute(f"SELECT part, {session}, document FROM record WHERE {where}", *values)
    named: list[tuple[str, str]] = []
    alone: list[tuple[str, str]] = []
    for part, in_session, document in found:
        (named if in_session else alone).append((part, in_session or document))
    standing = await tx.gather(
        [
            _standing(tx, asked, "session_id", named),
            _standing(tx, asked, "document", alone),
        ]
    )
    numbers = [number for some in standing for number in some]
    threads: dict[tuple[str, ...], list[int]] = {}
    for number, *thread in sorted(heapq.nlargest(query.thread, numbers)):
        threads.setdefault(tuple(thread), []).append(number)
    return [*threads.values()]


async def _standing(
    tx: Transaction, asked: _Asked, column: str, threads: Sequence[tuple[str, str]]
) -> list[tuple[int, str, str, str]]:
    """Return the newest of what fits and stands in threads: number, column, part and name."""
    rows, query, which = asked.rows, asked.query, asked.which
    known = {one: name for one in threads if (name := rows.named(one[1])) is not None}
    names = tuple(sorted({*known.values()}))
    if not names:
        return []
    several = which.groups is None or len(which.groups) > 1
    if column == "session_id":
        narrowed, also = which.also(sessions=names), ""
    else:
        narrowed, also = which.also(documents=names), ""
        if query.sessions:  # what has a session stands there
            also = " AND coalesce(session_id, '') = ''"
    where, values = rows.condition("long_term", narrowed)
    if several:  # a stranger in another group may have the same name
        pairs = ", ".join("(?, ?)" for _ in known)
        also += f" AND (part, {column}) IN (VALUES {pairs})"
        values = [*values, *(part for pair in known for part in pair)]
    found = await tx.execute(
        f"SELECT seq, part, {column} FROM record WHERE {where}{also} ORDER BY seq DESC LIMIT ?",
        *values, query.thread,
    )  # fmt: skip
    return [(seq, column, part, name) for seq, part, name in found]


async def _seen(
    tx: Transaction, asked: _Asked, corpus: Corpus, numbers: Sequence[int]
) -> dict[int, Seen]:
    rows, query = asked.rows, asked.query
    if not numbers:
        return {}
    words = list(corpus.having)
    where, values = _there(rows, asked.which, numbers)
    reads: list[Coroutine[Any, Any, Any]] = [
        tx.execute(f"SELECT seq, size FROM record WHERE {where}", *values)
    ]
    reads += [tx.counted(corpus.names, words, numbers)] if words else []
    reads += [tx.measured(*asked.space, numbers)] if asked.space is not None else []
    sized, *rest = await tx.gather(reads)
    counts = rest.pop(0) if words else {}
    near = rest[0] if rest else {}
    sizes = {row[0]: row[1] for row in sized}
    at = {word: place for place, word in enumerate(words)}
    places = [at.get(word) for word in query.words]
    none = (0,) * len(words)
    found = {}
    for number in numbers:
        own = counts.get(number, none)
        often = tuple(0 if place is None else own[place] for place in places)
        found[number] = Seen(often, sizes.get(number, 0), near.get(number))
    return found


async def _must_be_current(tx: Transaction, space: Space) -> None:
    """Refuse to search in a space that is not the current one: it may be half full."""
    for name, dimension in await tx.execute("SELECT name, dimension FROM space WHERE current"):
        known = Space(sql_rows.unflat(name), dimension)
        if known != space:
            raise EmbeddingMismatch(str(known), str(space))


async def _memories(
    tx: Transaction, which: Select, numbers: Collection[int]
) -> dict[int, Memory] | None:
    found = await tx.memories(which, numbers)
    # A number alone is no proof of whose memory it is.
    return None if found is None else {seq: one for seq, one in found.items() if _is_of(one, which)}


def _is_of(memory: Memory, which: Select) -> bool:
    scope = memory.scope
    return scope.tenant == which.tenant and (which.groups is None or scope.group_id in which.groups)


async def _scored(
    tx: Transaction, corpus: Corpus, which: Condition, limit: int
) -> dict[int, float]:
    """Return the best scores by number.

    The rarest words are looked for first. What has only the words that are left cannot score
    more than all of them can together, so common words often need no look at all.
    """
    having = corpus.having
    waiting = sorted((word for word in having if having[word]), key=lambda word: having[word])
    most = {word: rarity(having[word], corpus.count) * (SATURATION + 1) for word in waiting}
    best: dict[int, float] = {}
    place = 0
    while place < len(waiting):
        left = math.fsum(most[one] for one in waiting[place:])
        if len(best) >= limit and min(best.values()) > left:
            break
        some = _together(waiting[place:], having)
        found = await tx.weighed(corpus, some, waiting[:place], which, limit)
        best = _first(best | dict(found), limit)
        place += len(some)
    return best


def _together(waiting: Sequence[str], having: Mapping[str, int]) -> Sequence[str]:
    """Return the first words that one look is for: one, or several where few texts have them."""
    texts = accumulate(having[word] for word in waiting)
    return waiting[: max(1, sum(1 for count in texts if count <= _FEW))]


def _first(scores_: Mapping[int, float], limit: int) -> dict[int, float]:
    """Return the highest scores, and what is as high as the last of them."""
    good = {seq: value for seq, value in scores_.items() if not math.isnan(value)}
    if len(good) <= limit:
        return good
    least = heapq.nlargest(limit, good.values())[-1]
    return {seq: value for seq, value in good.items() if value >= least}


def _there(rows: Rows, which: Select, numbers: Collection[int]) -> Condition:
    """Return the condition that a record has one of these numbers, where its tenant is kept."""
    (where, values), (here, more) = rows.numbered("seq", numbers), rows.where(which.tenant)
    return f"{where}{here}", [*values, *more]

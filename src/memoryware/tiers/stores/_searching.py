"""Searches by words and by vectors in SQL, written once over a port."""

from __future__ import annotations

import heapq
import json
import math
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from memoryware.errors import EmbeddingMismatch
from memoryware.tiers.ranking import SATURATION, bm25, rarity, whole_score
from memoryware.tiers.records import Memory
from memoryware.tiers.stores import _rows
from memoryware.tiers.stores._port import Port, Row, Transaction
from memoryware.tiers.stores._vectors import packed, scores
from memoryware.tiers.stores.protocol import Hit, Select, Space, Vector

_WORD: Final = re.compile("[a-z0-9_\x80-\ud7ff\ue000-\U0010ffff]+")
"""What can be a word that `words_of` made; nothing that an index could take for more."""


async def by_words(port: Port, words: Sequence[str], which: Select, limit: int) -> list[Hit]:
    """Return what has one of the words, by BM25 with the numbers of its own groups."""
    wanted = [one for one in dict.fromkeys(words) if _WORD.fullmatch(one)]
    if not wanted or limit < 1 or which.groups == ():
        return []
    corpora = _rows.tokens_of(which.tenant, *(which.groups or ()))
    async with port.transaction(writes=False) as tx:
        having = {word: await tx.having(corpora, word) for word in wanted}
        where, values = _rows.corpus(which)
        counted = await tx.execute(
            f"SELECT count(*), coalesce(sum(size), 0) FROM record WHERE {where}", *values
        )
        count, size = counted[0]
        mean = size / count if count else 0
        score = partial(bm25, having=having, count=count, mean=mean)
        fitting = partial(tx.holding, corpora, which=_rows.condition("long_term", which))
        best = await _scored(fitting, score, having, count, limit)
        found = await _memories(tx, best)
    whole = whole_score(having, count)
    return _best([Hit(one, best[seq], whole) for seq, one in found.items()], limit)


async def by_vector(
    port: Port, vector: Vector, which: Select, space: Space, limit: int
) -> list[Hit]:
    """Return what is nearest by cosine among what fits."""
    where, values = _rows.condition("long_term", which)
    query = packed(vector, space)
    async with port.transaction(writes=False) as tx:
        number = await number_of(tx, space)
        await _must_be_current(tx, space)
        if number is None or limit < 1:
            return []
        rows = await tx.execute(
            "SELECT record.seq, vector.data FROM record JOIN vector ON vector.seq = record.seq"
            f" WHERE vector.space = ? AND {where}",
            number, *values,
        )  # fmt: skip
        measured = zip(rows, scores(query, [row[1] for row in rows]), strict=True)
        best = _first({row[0]: value for row, value in measured}, limit)
        found = await _memories(tx, best)
    return _best([Hit(one, best[seq]) for seq, one in found.items()], limit)


async def number_of(tx: Transaction, space: Space) -> int | None:
    """Return the number of a space, None if it is new.

    Raises:
        EmbeddingMismatch: If it is known with another dimension.
    """
    rows = await tx.execute(
        "SELECT id, dimension FROM space WHERE name = ?", _rows.flat(space.name)
    )
    if rows and rows[0][1] != space.dimension:
        raise EmbeddingMismatch(str(Space(space.name, rows[0][1])), str(space))
    return rows[0][0] if rows else None


async def _must_be_current(tx: Transaction, space: Space) -> None:
    """Refuse to search in a space that is not the current one: it may be half full."""
    rows = await tx.execute("SELECT name, dimension FROM space WHERE current")
    for name, dimension in rows:
        known = Space(_rows.unflat(name), dimension)
        if known != space:
            raise EmbeddingMismatch(str(known), str(space))


async def _memories(tx: Transaction, numbers: Iterable[int]) -> dict[int, Memory]:
    rows = await tx.execute(
        f"SELECT {_rows.READ}, seq FROM record WHERE seq IN (SELECT value FROM json_each(?))",
        json.dumps(list(numbers)),
    )
    return {row[2]: _rows.record_of("long_term", row) for row in rows}


async def _scored(
    fitting: Callable[[str, Sequence[str]], Awaitable[Sequence[Row]]],
    score: Callable[[Mapping[str, int]], float],
    having: Mapping[str, int],
    count: int,
    limit: int,
) -> dict[int, float]:
    """Return the best scores by number.

    The rarest word is looked for first. What has only the words that are left cannot score
    more than all of them can together, so common words often need no look at all.
    """
    waiting = sorted((word for word in having if having[word]), key=lambda word: having[word])
    most = {word: rarity(having[word], count) * (SATURATION + 1) for word in waiting}
    best: dict[int, float] = {}
    for place, word in enumerate(waiting):
        left = math.fsum(most[one] for one in waiting[place:])
        if len(best) >= limit and min(best.values()) > left:
            break
        found = await fitting(word, waiting[:place])
        more = {seq: score(Counter(text.split())) for seq, text in found}
        best = _first(best | more, limit)
    return best


def _first(scores_: Mapping[int, float], limit: int) -> dict[int, float]:
    """Return the highest scores, and what is as high as the last of them."""
    good = {seq: value for seq, value in scores_.items() if not math.isnan(value)}
    if len(good) <= limit:
        return good
    least = heapq.nlargest(limit, good.values())[-1]
    return {seq: value for seq, value in good.items() if value >= least}


def _best(hits: list[Hit], limit: int) -> list[Hit]:
    hits.sort(key=lambda hit: (-hit.value, -hit.memory.created_at.timestamp(), hit.memory.id))
    return hits[:limit]

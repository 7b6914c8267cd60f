"""Searches by words and by vectors in SQL, written once over a port."""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate
from typing import Final

from memoryware.errors import EmbeddingMismatch
from memoryware.tiers.ranking import SATURATION, rarity, whole_score
from memoryware.tiers.records import Memory
from memoryware.tiers.stores._selecting import best_of
from memoryware.tiers.stores._vectors import packed
from memoryware.tiers.stores.protocol import Hit, Select, Space, Vector
from memoryware.tiers.stores.sql import rows as sql_rows
from memoryware.tiers.stores.sql.port import Corpus, Port, Transaction
from memoryware.tiers.stores.sql.rows import Condition, Rows

_WORD: Final = re.compile("[a-z0-9_\x80-\ud7ff\ue000-\U0010ffff]+")
"""What can be a word that `words_of` made; nothing that an index could take for more."""
_FEW: Final = 500
"""Texts that are scored sooner than another look takes."""


async def by_words(port: Port, words: Sequence[str], which: Select, limit: int) -> list[Hit]:
    """Return what has one of the words, by BM25 with the numbers of its own groups."""
    wanted = [one for one in dict.fromkeys(words) if _WORD.fullmatch(one)]
    if not wanted or limit < 1 or which.groups == ():
        return []
    names = sql_rows.tokens_of(which.tenant, *(which.groups or ()))
    async with port.transaction(which) as tx:
        having = await tx.having(names, wanted)
        if not any(having.values()):
            return []
        where, values = port.rows.corpus(which)
        counted = await tx.execute(
            f"SELECT count(*), coalesce(sum(size), 0) FROM record WHERE {where}", *values
        )
        count, size = counted[0]
        corpus = Corpus(names, having, count, size / count if count else 0)
        best = await _scored(tx, corpus, port.rows.condition("long_term", which), limit)
        found = await _memories(tx, port.rows, which, best)
    whole = whole_score(having, count)
    return best_of([Hit(one, best[seq], whole) for seq, one in found.items()], limit)


async def by_vector(
    port: Port, vector: Vector, which: Select, space: Space, limit: int
) -> list[Hit]:
    """Return what is nearest by cosine among what fits."""
    query = packed(vector, space)
    async with port.transaction(which) as tx:
        number = await number_of(tx, space)
        await _must_be_current(tx, space)
        if number is None or limit < 1:
            return []
        where = port.rows.condition("long_term", which)
        best = _first(dict(await tx.nearest(number, query, where, limit)), limit)
        found = await _memories(tx, port.rows, which, best)
    return best_of([Hit(one, best[seq]) for seq, one in found.items()], limit)


async def number_of(tx: Transaction, space: Space) -> int | None:
    """Return the number of a space, None if it is new.

    Raises:
        EmbeddingMismatch: If it is known with another dimension.
    """
    rows = await tx.execute(
        "SELECT id, dimension FROM space WHERE name = ?", sql_rows.flat(space.name)
    )
    if rows and rows[0][1] != space.dimension:
        raise EmbeddingMismatch(str(Space(space.name, rows[0][1])), str(space))
    return rows[0][0] if rows else None


async def _must_be_current(tx: Transaction, space: Space) -> None:
    """Refuse to search in a space that is not the current one: it may be half full."""
    for name, dimension in await tx.execute("SELECT name, dimension FROM space WHERE current"):
        known = Space(sql_rows.unflat(name), dimension)
        if known != space:
            raise EmbeddingMismatch(str(known), str(space))


async def _memories(
    tx: Transaction, rows: Rows, which: Select, numbers: Collection[int]
) -> dict[int, Memory]:
    if not numbers:
        return {}
    (where, values), (here, more) = rows.numbered("seq", numbers), rows.where(which.tenant)
    found = await tx.execute(
        f"SELECT {sql_rows.READ}, seq FROM record WHERE {where}{here}", *values, *more
    )
    return {row[2]: sql_rows.record_of("long_term", row) for row in found}


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

"""What a search sees of a group whose index is in this process; with NumPy.

It is imported where there is an index, so that nobody else needs NumPy.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from memoryware.tiers.scoring import LENGTHS, SATURATION, rarity
from memoryware.tiers.stores._looking import beside
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.stores.sight import Query, SeenColumns, Sight
from memoryware.tiers.stores.sql import rows as sql_rows
from memoryware.tiers.stores.sqlite.columns import Vectors
from memoryware.tiers.stores.sqlite.index import PartIndex, number_of

Measure: TypeAlias = Callable[[Sequence[int]], Mapping[int, float]]
"""Returns the exact cosine of memories by number."""


@dataclass(frozen=True, slots=True)
class Look:
    """One look at a group.

    Attributes:
        index: What is known of the group.
        query: What is looked for.
        which: What fits.
        vector: The vector of the query as 32-bit floats, None to search by words alone.
        measure: Measures by the vectors themselves.
    """

    index: PartIndex
    query: Query
    which: Select
    vector: Any
    measure: Measure
    found: Sequence[tuple[Any, Any]] = field(init=False)
    """For each word of the query the rows that have it, and how often."""
    known: dict[int, float] = field(default_factory=dict)
    """Cosines that were measured already, by row."""

    def __post_init__(self) -> None:
        found = [self.index.words.of(one) for one in self.query.words]
        object.__setattr__(self, "found", found)

    @property
    def sizes(self) -> Any:
        """The words of each row."""
        return np.frombuffer(self.index.size, "i4")


def sight_of(look: Look) -> tuple[Sight, list[int]] | None:
    """Return what is seen and the numbers of it; None if the threads are too long."""
    index, query = look.index, look.query
    count = len(index)
    having = tuple(len(rows) for rows, _ in look.found)
    mean = float(look.sizes.mean()) if count else 0.0
    if not count or query.limit < 1:
        return Sight((), having, count, mean), []
    fits = _fitting(look)
    hits = set(_by_words(look, having, mean, fits).tolist())
    if look.vector is not None and index.vectors is not None and index.vectors.dimension:
        hits |= _nearest(look, index.vectors, fits)
    shown = _shown(index, query, hits, fits)
    if shown is None:
        return None
    seen, numbers = _seen(look, shown)
    return Sight(seen, having, count, mean), numbers


def _seen(look: Look, shown: Sequence[tuple[int, bool]]) -> tuple[SeenColumns, list[int]]:
    index = look.index
    places, follows = [row for row, _ in shown], [follows for _, follows in shown]
    rows = np.array(places, "i4")
    seq, similarities = index.seq, None
    if look.vector is not None:
        near = _measured(look, places)
        similarities = np.array([near.get(row, np.nan) for row in places], "f8")
    seen = SeenColumns(_counts(look, rows), look.sizes[rows], similarities, np.array(follows, bool))
    return seen, [seq[row] for row in places]


def unit(data: bytes) -> Any:
    """Return a packed vector as 32-bit floats, with length 1."""
    vector = np.frombuffer(data, "<f2").astype("f4")
    return vector / (np.linalg.norm(vector) or 1.0)


def _fitting(look: Look) -> Any:
    """Return for each row whether it fits."""
    index, which = look.index, look.which

    def column(name: str) -> Any:
        return np.frombuffer(getattr(index, name), "i8")

    fits = np.ones(len(index), bool)
    if which.live_at is not None:
        moment = sql_rows.micros(which.live_at)
        fits &= np.frombuffer(index.revoked, "i1") == 0
        begun_by = sql_rows.micros(which.live_at + which.ahead)
        fits &= (column("begins") <= begun_by) & (column("ends") > moment)
    if which.since is not None:
        fits &= column("created") >= sql_rows.micros(which.since)
    if which.before is not None:
        fits &= column("created") < sql_rows.micros(which.before)
    for name, wanted in (("agent", which.agents), ("session", which.sessions)):
        if wanted is not None:
            numbers = [number_of(sql_rows.flat(one)) for one in wanted]
            fits &= np.isin(column(name), numbers)
    return fits


def _by_words(look: Look, having: Sequence[int], mean: float, fits: Any) -> Any:
    """Return the rows with the best BM25 scores."""
    index, query, sizes = look.index, look.query, look.sizes
    scores = np.zeros(len(index))
    for (rows, often), texts in zip(look.found, having, strict=True):
        if texts:
            norm = SATURATION * (1 - LENGTHS + LENGTHS * sizes[rows] / mean)
            scores[rows] += rarity(texts, len(index)) * often * (SATURATION + 1) / (often + norm)
    scores[~fits] = 0
    return _newest_best(scores, np.flatnonzero(scores), query.limit)


def _newest_best(scores: Any, rows: Any, most: int) -> Any:
    """Return the rows with the best scores; of those that are as good, the last ones."""
    if len(rows) <= most:
        return rows
    values = scores[rows]
    least = np.partition(values, len(values) - most)[len(values) - most]
    better, equal = rows[values > least], rows[values == least]
    return np.concatenate([better, equal[len(equal) - (most - len(better)) :]])


def _nearest(look: Look, vectors: Vectors, fits: Any) -> set[int]:
    """Return the rows that are nearest, exactly.

    The small numbers say of each row between which bounds its cosine is. Those that can be
    among the nearest are measured by the vectors themselves.
    """
    query = look.query
    near, error = vectors.nearness(look.vector)
    rows = np.flatnonzero(fits[: len(near)] & (np.frombuffer(vectors.scale, "f4") > 0))
    if vectors.data is None:
        found: set[int] = set(_newest_best(near, rows, query.limit).tolist())
        look.known.update(zip(rows.tolist(), near[rows].tolist(), strict=True))
        return found
    if len(rows) > query.limit:
        least = near[rows] - error[rows]
        bound = np.partition(least, len(rows) - query.limit)[len(rows) - query.limit]
        rows = rows[near[rows] + error[rows] >= bound]
    exact = _measured(look, rows.tolist())
    best = heapq.nlargest(query.limit, exact, key=lambda row: (exact[row], row))
    return set(best)


def _measured(look: Look, rows: Sequence[int]) -> dict[int, float]:
    """Return the exact cosines of those of these rows that have a vector."""
    vectors, known = look.index.vectors, look.known
    if vectors is None or not vectors.dimension:
        return {}
    missing = [row for row in rows if row not in known and vectors.scale[row] > 0]
    if missing:
        near = vectors.measured(look.vector, missing)
        if near is not None:
            known.update(zip(missing, near, strict=True))
        else:
            seq = look.index.seq
            exact = look.measure([seq[row] for row in missing])
            known.update((row, exact[seq[row]]) for row in missing if seq[row] in exact)
    return {row: known[row] for row in rows if row in known}


def _shown(
    index: PartIndex, query: Query, hits: set[int], fits: Any
) -> Sequence[tuple[int, bool]] | None:
    """Return hits and what is beside them, as `beside` does; None if the threads are too long."""
    in_sessions = query.sessions and any(_is_in_session(index, row) for row in hits)
    if query.reach < 1 or not (in_sessions or index.has_beside(hits, "document")):
        return [(row, False) for row in sorted(hits)]  # as it is with most memories
    threads = _threads(index, query, hits, fits)
    return None if threads is None else beside(threads, hits, query.reach)


def _threads(index: PartIndex, query: Query, hits: set[int], fits: Any) -> list[list[int]] | None:
    """Return the fitting rows of each thread that a hit is in; None if these are too many."""
    found: dict[tuple[bool, int], list[int]] = {}
    total = 0
    for row in sorted(hits):
        by_session = query.sessions and _is_in_session(index, row)
        column = "session" if by_session else "document"
        name = by_session, getattr(index, column)[row]
        if name not in found:
            thread = index.thread(row, column)
            found[name] = [
                one
                for one in thread
                if fits[one] and (by_session or not (query.sessions and _is_in_session(index, one)))
            ]
            total += len(found[name])
            if total > query.thread:
                return None
    return list(found.values())


def _is_in_session(index: PartIndex, row: int) -> bool:
    return index.session[row] not in (0, number_of(""))


def _counts(look: Look, rows: Any) -> list[Any]:
    """Return for each word of the query how often each row has it."""
    counts = []
    for having, often in look.found:
        if not len(having):
            counts.append(np.zeros(len(rows), "i8"))
            continue
        places = np.minimum(np.searchsorted(having, rows), len(having) - 1)
        counts.append(np.where(having[places] == rows, often[places], 0))
    return counts

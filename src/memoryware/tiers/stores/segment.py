"""The packed long-term memory of one group: columns, word postings and vectors, with NumPy.

A segment is a cache of a group in this process, whatever engine the group is stored in. The
engine feeds it rows in the order of storing, checks the group's generation before each search,
and passes on what changed since. Search results are exact: large groups are scanned with 8-bit
vectors whose error is known, and whatever could be among the nearest is measured again.

Words are kept as hashes of six bytes: two words of a group with a million different words share
a hash with a probability of 0.2 %, and then one of them finds a few memories too many.
"""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Any, Final, TypeAlias

from memoryware._remembering import remembered
from memoryware.events import logger
from memoryware.tiers.records import Memory
from memoryware.tiers.scoring import LENGTHS, SATURATION, rarity
from memoryware.tiers.stores._looking import beside
from memoryware.tiers.stores.protocol import Query, SeenColumns, Select, Sight
from memoryware.tiers.stores.sql.rows import micros

WORD: Final = 6
"""Bytes of the hash of a word."""
ALWAYS: Final = 2**62
"""The end, in microseconds, of what has no end."""
BATCH: Final = 2000
"""Rows, or vectors, that are converted at once."""

Row: TypeAlias = Sequence[Any]
"""A memory as a segment reads it: its number, created, valid from, valid to or None, agent,
session, document, whether it is revoked, packed words, and its packed vector or None."""
Measure: TypeAlias = Callable[[Sequence[int]], Mapping[int, float]]
"""Return the exact cosines of memories by number."""


@remembered(1 << 16)
def word_hash(word: str) -> bytes:
    """Return the hash under which a word is kept."""
    return hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=WORD).digest()


def packed_words(words: Iterable[str]) -> bytes:
    """Return the words of a text as hashes, in order, with repeats."""
    return b"".join(map(word_hash, words))


def count_words(data: bytes, hashes: Sequence[bytes]) -> tuple[int, ...]:
    """Return how often each of these words is among packed words."""
    if not any(one in data for one in hashes):  # most texts have none, and this is quick
        return (0,) * len(hashes)
    words = [data[start : start + WORD] for start in range(0, len(data), WORD)]
    return tuple(map(words.count, hashes))


class Segment:
    """The rows of one group, in the order of storing.

    Attributes:
        generation: The generation of the group up to which its changes are here.
        space: The number of the embedding space whose vectors are here; 0 for none.
        records: Decoded memories by number; whoever changes a row drops its record.
    """

    def __init__(self, generation: int, space: int) -> None:
        self.generation, self.space = generation, space
        self.records: dict[int, Memory] = {}
        self.seq = array("q")
        self._columns = {name: _Column(kind) for name, kind in _COLUMNS.items()}
        self._words = _Words()
        self._vectors = _Vectors()
        self._threads: dict[str, dict[int, list[int] | int]] = {}
        self._removed = 0

    def __len__(self) -> int:
        return len(self.seq)

    @property
    def last(self) -> int:
        """The number of the newest row, 0 without any."""
        return self.seq[-1] if self.seq else 0

    @property
    def is_worn(self) -> bool:
        """Whether so many rows were removed that reading the group anew is cheaper."""
        return self._removed > max(_WORN, len(self.seq) // 4)

    def extend(self, rows: Sequence[Row]) -> None:
        """Add rows that are newer than all that are here."""
        if not rows:
            return
        np, start = numpy(), len(self.seq)
        seq, created, begins, ends, agent, session, document, revoked, words, data = zip(
            *rows, strict=True
        )
        self.seq.extend(seq)
        lengths = np.fromiter(map(len, words), "i8", len(words)) // WORD
        made = {
            "created": created,
            "begins": begins,
            "ends": [ALWAYS if end is None else end for end in ends],
            "agent": list(map(number_of, agent)),
            "session": list(map(number_of, session)),
            "document": list(map(number_of, document)),
            "alive": np.ones(len(rows), "i1"),
            "revoked": revoked,
            "size": lengths,
        }
        for name, values in made.items():
            self._columns[name].extend(values)
        self._words.extend(start, b"".join(words), lengths)
        self._vectors.extend(start, data)
        for name, known in self._threads.items():
            for row, value in enumerate(made[name], start):
                _put(known, value, row)

    def update(self, row: Row) -> bool:
        """Take over a row that changed; False if its text or its thread is another now."""
        at = self.row_of(row[0])
        if at is None:
            return False
        self.records.pop(row[0], None)
        column = self._columns
        same = (number_of(row[5]), number_of(row[6]), len(row[8]) // WORD)
        if same != tuple(int(column[one][at]) for one in ("session", "document", "size")):
            return False
        if not self._words.has(at, row[8]):
            return False
        end = ALWAYS if row[3] is None else row[3]
        changed = {"created": row[1], "begins": row[2], "ends": end, "revoked": row[7]}
        changed["agent"] = number_of(row[4])
        for name, value in changed.items():
            column[name][at] = value
        self._vectors.set(at, row[9])
        return True

    def remove(self, seq: int) -> None:
        """Remove a row; its vector is overwritten."""
        at = self.row_of(seq)
        self.records.pop(seq, None)
        if at is None or not self._columns["alive"][at]:
            return
        self._columns["alive"][at] = 0
        self._vectors.set(at, None)
        self._removed += 1

    def row_of(self, seq: int) -> int | None:
        """Return the row of a memory by its number."""
        row = bisect_left(self.seq, seq)
        return row if row < len(self.seq) and self.seq[row] == seq else None

    def search(
        self,
        query: Query,
        which: Select,
        vector: bytes | None,
        measure: Measure,
        among: Sequence[int] | None = None,
    ) -> tuple[Sight, list[int]]:
        """Return what a search sees, and the numbers of these memories.

        Args:
            query: What is looked for.
            which: What fits, as far as a segment knows it; see `is_known`.
            vector: The packed vector of the query, None to search by words alone.
            measure: Returns exact cosines of memories whose vectors are not held exactly.
            among: The numbers of what fits the conditions that a segment does not know.
        """
        np = numpy()
        alive = self._columns["alive"].values
        count = len(self.seq) - self._removed
        sizes = self._columns["size"].values
        found = [self._having(word) for word in query.words]
        having = tuple(len(rows) for rows, _ in found)
        total = (sizes * alive).sum() if self._removed else sizes.sum()
        mean = float(total) / count if count else 0.0
        if not count or query.limit < 1:
            return Sight((), having, count, mean), []
        fits = self._fitting(which)
        if self._removed:
            fits &= alive.view(bool)
        if among is not None:
            fits &= np.isin(np.frombuffer(self.seq, "i8"), np.asarray(among, "i8"))
        hits = self._by_words(query, found, count, mean, fits)
        near = _Nearness(self._vectors, self.seq, measure)
        if vector is not None and self._vectors.dimension:
            near.look(vector)
            hits = np.union1d(hits, near.nearest(fits, query.limit))
        else:
            hits = np.sort(hits)
        rows, follows = self._shown(query, hits, fits)
        counts = []
        for having_rows, often in found:
            if len(having_rows):
                places = np.minimum(np.searchsorted(having_rows, rows), len(having_rows) - 1)
                counts.append(np.where(having_rows[places] == rows, often[places], 0))
            else:
                counts.append(np.zeros(len(rows), "i8"))
        seen = SeenColumns(counts, sizes[rows], near.of(rows), follows)
        numbers = np.frombuffer(self.seq, "i8")[rows].tolist()
        return Sight(seen, having, count, mean), numbers

    def _having(self, word: str) -> tuple[Any, Any]:
        rows, often = self._words.of(word)
        if self._removed:
            there = self._columns["alive"].values[rows] != 0
            return rows[there], often[there]
        return rows, often

    def _fitting(self, which: Select) -> Any:
        """Return for each row whether it fits."""
        np = numpy()
        column = {name: self._columns[name].values for name in _COLUMNS}
        fits = np.ones(len(self.seq), bool)
        if which.live_at is not None:
            begun_by = micros(which.live_at + which.ahead)
            fits = column["revoked"] == 0
            fits &= column["begins"] <= begun_by
            fits &= column["ends"] > micros(which.live_at)
        if which.since is not None:
            fits &= column["created"] >= micros(which.since)
        if which.before is not None:
            fits &= column["created"] < micros(which.before)
        for name, wanted in (("agent", which.agents), ("session", which.sessions)):
            if wanted is not None:
                allowed = np.zeros(len(self.seq), bool)
                for one in wanted:
                    allowed |= column[name] == number_of(one)
                fits &= allowed
        return fits

    def _by_words(
        self, query: Query, found: Sequence[tuple[Any, Any]], count: int, mean: float, fits: Any
    ) -> Any:
        """Return the rows with the best BM25 scores."""
        np, scores = numpy(), numpy().zeros(len(self.seq))
        sizes = self._columns["size"].values
        for rows, often in found:
            if len(rows):
                norm = SATURATION * (1 - LENGTHS + LENGTHS * sizes[rows] / mean)
                weight = rarity(len(rows), count) * (SATURATION + 1)
                scores[rows] += weight * often / (often + norm)
        scores[~fits] = 0
        return _newest_best(scores, np.flatnonzero(scores), query.limit)

    # Threads.

    def _shown(self, query: Query, hits: Any, fits: Any) -> tuple[Any, Any]:
        """Return hits and their neighbours, as `beside` does, and whether each follows another."""
        np = numpy()
        session, document = (self._columns[one].values for one in ("session", "document"))
        in_session = (
            query.sessions and ((session[hits] != 0) & (session[hits] != number_of(""))).any()
        )
        if query.reach < 1 or not (in_session or self._has_neighbours(document[hits].tolist())):
            return hits, None
        threads = self._threads_of(query, hits.tolist(), fits)
        shown = beside(threads, set(hits.tolist()), query.reach)
        rows = np.fromiter((row for row, _ in shown), "i8", len(shown))
        return rows, np.fromiter((follows for _, follows in shown), bool, len(shown))

    def _has_neighbours(self, documents: Iterable[int]) -> bool:
        known = self._rows_by("document")
        return any(isinstance(known[name], list) for name in documents)

    def _threads_of(self, query: Query, hits: Sequence[int], fits: Any) -> list[list[int]]:
        """Return the newest fitting rows of the threads that hits are in."""
        np = numpy()
        session, document = (self._columns[one].values for one in ("session", "document"))
        nameless = (0, number_of(""))
        names: dict[tuple[bool, int], None] = {}
        for row in hits:
            by_session = query.sessions and session[row] not in nameless
            names[by_session, int((session if by_session else document)[row])] = None
        found: list[tuple[int, int]] = []
        for place, (by_session, name) in enumerate(names):
            known = self._rows_by("session" if by_session else "document")[name]
            rows = np.asarray(known if isinstance(known, list) else [known])
            rows = rows[fits[rows]]
            if query.sessions and not by_session:
                rows = rows[np.isin(session[rows], nameless)]
            found += [(row, place) for row in rows.tolist()]
        found.sort()
        threads: list[list[int]] = [[] for _ in names]
        for row, place in found[max(0, len(found) - query.thread) :] if query.thread > 0 else ():
            threads[place].append(row)
        return threads

    def _rows_by(self, column: str) -> dict[int, list[int] | int]:
        known = self._threads.get(column)
        if known is None:
            known = self._threads[column] = {}
            for row, name in enumerate(self._columns[column].values.tolist()):
                _put(known, name, row)
        return known


_COLUMNS: Final = {
    "created": "i8",
    "begins": "i8",
    "ends": "i8",
    "agent": "i8",
    "session": "i8",
    "document": "i8",
    "alive": "i1",
    "revoked": "i1",
    "size": "i4",
}
_WORN: Final = 500
_KNOWN: Final = frozenset(
    {"tenant", "groups", "agents", "sessions", "live_at", "ahead", "since", "before"}
)
"""Conditions that a segment can decide for its rows."""


def is_known(which: Select) -> bool:
    """Return whether a segment can decide all conditions of a selection."""
    nothing = Select()
    return all(
        one.name in _KNOWN or getattr(which, one.name) == getattr(nothing, one.name)
        for one in fields(which)
    )


def number_of(name: str | bytes | None) -> int:
    """Return a number that stands for a name in this process; 0 stands for none."""
    return 0 if name is None else hash(name) | 1


def _put(known: dict[int, list[int] | int], name: int, row: int) -> None:
    before = known.get(name)
    if before is None:
        known[name] = row
    elif isinstance(before, list):
        before.append(row)
    else:
        known[name] = [before, row]


def _newest_best(scores: Any, rows: Any, most: int) -> Any:
    """Return the rows with the best scores; of those that are as good, the last ones."""
    if len(rows) <= most:
        return rows
    np, values = numpy(), scores[rows]
    least = np.partition(values, len(values) - most)[len(values) - most]
    better, equal = rows[values > least], rows[values == least]
    return np.concatenate([better, equal[len(equal) - (most - len(better)) :]])


class _Column:
    """An array that grows by doubling, so that one more row costs no copy of all."""

    def __init__(self, kind: str, width: int | None = None) -> None:
        self._kind, self._width, self._count = kind, width, 0
        self._data = self._made(0)
        self.values = self._data

    def _made(self, rows: int) -> Any:
        return numpy().zeros(rows if self._width is None else (rows, self._width), self._kind)

    def extend(self, values: Any) -> None:
        count = self._count + len(values)
        if count > len(self._data):
            grown = self._made(max(count, 2 * self._count))
            grown[: self._count] = self.values
            self._data = grown
        self._data[self._count : count] = values
        self._count, self.values = count, self._data[:count]

    def __getitem__(self, row: Any) -> Any:
        return self.values[row]

    def __setitem__(self, row: Any, value: Any) -> None:
        self.values[row] = value


class _Words:
    """Which rows have which words, and how often.

    All words stand row by row in one array. A group that is asked a few times is looked through;
    one that is asked often is sorted by word, with newer rows apart.
    """

    def __init__(self) -> None:
        self._hashes, self._starts = _Column("u8"), _Column("i8")
        self._sorted: tuple[Any, Any, int] | None = None
        """Hashes in order, the rows of each, and how many words of the whole are sorted."""
        self._looks = 0

    def extend(self, first: int, data: bytes, lengths: Any) -> None:  # noqa: ARG002 - rows follow
        np, start = numpy(), len(self._hashes.values)
        self._hashes.extend(_hashes(data))
        self._starts.extend(np.cumsum(lengths) - lengths + start)

    def of(self, word: str) -> tuple[Any, Any]:
        """Return the rows that have a word, in order, and how often."""
        np = numpy()
        wanted = _hashes(word_hash(word))[0]
        hashes, starts = self._hashes.values, self._starts.values
        self._looks += 1
        done = self._sorted[2] if self._sorted is not None else 0
        most = max(_SCANNED, done // 8) if self._looks > _LOOKS else _SCANNED * 1000
        if len(hashes) - done > most:
            self._sort()
            done = len(hashes)
        rows = np.empty(0, "i8")
        if self._sorted is not None:
            ordered, having, _ = self._sorted
            rows = having[
                np.searchsorted(ordered, wanted) : np.searchsorted(ordered, wanted, "right")
            ]
        if done < len(hashes):
            places = np.flatnonzero(hashes[done:] == wanted) + done
            later = np.searchsorted(starts, places, "right") - 1
            rows = np.concatenate([rows, later])
        if len(rows) < 2:
            return rows, np.ones(len(rows), "i8")
        first = np.flatnonzero(np.concatenate([[True], rows[1:] != rows[:-1]]))
        often = np.diff(np.append(first, len(rows)))
        return rows[first], often

    def has(self, row: int, data: bytes) -> bool:
        """Return whether a row has exactly these words."""
        return bool(numpy().array_equal(self._hashes.values[self._place(row)], _hashes(data)))

    def _place(self, row: int) -> slice:
        starts = self._starts.values
        end = starts[row + 1] if row + 1 < len(starts) else len(self._hashes.values)
        return slice(int(starts[row]), int(end))

    def _sort(self) -> None:
        np, hashes, starts = numpy(), self._hashes.values, self._starts.values
        order = np.argsort(hashes, kind="stable")
        lengths = np.diff(starts, append=len(hashes))
        rows = np.repeat(np.arange(len(starts)), lengths)[order]
        self._sorted = hashes[order], rows, len(hashes)


def _hashes(data: bytes) -> Any:
    """Return packed words as numbers."""
    np = numpy()
    whole = np.zeros((len(data) // WORD, 8), "u1")
    whole[:, :WORD] = np.frombuffer(data, "u1").reshape(-1, WORD)
    return whole.view("u8")[:, 0]


_SCANNED: Final = 4000
"""Words that are looked through faster than they are sorted into the others."""
_LOOKS: Final = 30
"""Looks for a word after which sorting a group by word pays: of 100,000 memories sorting takes as
long as looking through all words some hundred times, and the first question should not wait."""


class _Vectors:
    """The vectors of one space by row: exact, or as 8-bit numbers in a large group."""

    def __init__(self) -> None:
        self.dimension = 0
        self.has = _Column("i1")
        self.exact: _Column | None = None
        self.small: _Column | None = None
        self.scale, self.error = _Column("f4"), _Column("f4")

    def extend(self, first: int, data: Sequence[bytes | None]) -> None:
        np = numpy()
        count = first + len(data)
        having = [place for place, one in enumerate(data) if one is not None]
        self.has.extend(np.zeros(len(data), "i1"))
        if having and not self.dimension:
            self._begin(len(data[having[0]] or b"") // 2, count)
        elif self.dimension:
            self._grow(len(data))
        if self.exact is not None and count > _EXACT:
            self._shrink()
        for start in range(0, len(having), BATCH):
            some = having[start : start + BATCH]
            joined = b"".join(data[place] or b"" for place in some)
            self._keep(np.asarray(some) + first, joined)

    def set(self, row: int, data: bytes | None) -> None:
        """Replace the vector of a row."""
        if data is not None and not self.dimension:
            self._begin(len(data) // 2, len(self.has.values))
        if data is not None:
            self._keep(numpy().asarray([row]), data)
        elif self.dimension:
            self.has[row] = 0
            for column in (self.exact, self.small):
                if column is not None:
                    column[row] = 0

    def _begin(self, dimension: int, count: int) -> None:
        self.dimension = dimension
        self.exact = _Column("f4", dimension)
        self._grow(count)

    def _grow(self, rows: int) -> None:
        np = numpy()
        for column in (self.exact, self.small):
            if column is not None:
                column.extend(np.zeros((rows, self.dimension), column.values.dtype))
        for column in (self.scale, self.error) if self.small is not None else ():
            column.extend(np.zeros(rows, "f4"))

    def _keep(self, rows: Any, data: bytes) -> None:
        np = numpy()
        matrix = np.take(_floats(), np.frombuffer(data, "<u2").reshape(len(rows), -1))
        matrix /= _lengths(matrix)[:, None]
        self.has[rows] = 1
        if self.exact is not None:
            self.exact[rows] = matrix
        else:
            self._keep_small(rows, matrix)

    def _keep_small(self, rows: Any, matrix: Any) -> None:
        np = numpy()
        scale = np.abs(matrix).max(axis=1) / 127
        scale = np.where(scale > 0, scale, 1).astype("f4")
        small = np.rint(matrix / scale[:, None])
        matrix -= small * scale[:, None]
        self.scale[rows] = scale
        self.error[rows] = np.sqrt(np.vecdot(matrix, matrix)) + _ROUNDING
        self.small[rows] = small.astype("i1")  # type: ignore[index]  # there are small ones

    def _shrink(self) -> None:
        """Keep 8-bit numbers in place of floats, which would take four times the room."""
        np, exact = numpy(), self.exact.values  # type: ignore[union-attr]  # asked before
        self.exact, self.small = None, _Column("i1", self.dimension)
        self._grow(len(exact))
        for start in range(0, len(exact), BATCH):
            rows = np.arange(start, min(start + BATCH, len(exact)))
            self._keep_small(rows, exact[rows])


class _Nearness:
    """The cosines of one query to the rows of a segment."""

    def __init__(self, vectors: _Vectors, seq: array[int], measure: Measure) -> None:
        self._vectors, self._seq, self._measure = vectors, seq, measure
        self._near: Any = None
        self._known: dict[int, float] = {}

    def look(self, query: bytes) -> None:
        """Compute the cosines, of a large group roughly.

        Row by row in one thread: the pool of threads that a matrix product of this size starts
        is slower where other threads work as well.
        """
        np, vectors = numpy(), self._vectors
        unit = np.frombuffer(query, "<f2").astype("f4")
        unit /= np.linalg.norm(unit) or 1.0
        if vectors.exact is not None:
            near = np.vecdot(vectors.exact.values, unit)
        else:
            numbers = vectors.small.values  # type: ignore[union-attr]  # one of both is there
            near = np.empty(len(numbers), "f4")
            block = np.empty((min(_BLOCK, len(numbers)), vectors.dimension), "f4")
            for start in range(0, len(numbers), _BLOCK):
                some = numbers[start : start + _BLOCK]
                np.copyto(block[: len(some)], some)
                np.vecdot(block[: len(some)], unit, out=near[start : start + len(some)])
            near *= vectors.scale.values
        self._near = np.clip(near, -1, 1, out=near)

    def nearest(self, fits: Any, most: int) -> Any:
        """Return the fitting rows that are nearest, exactly, in order."""
        np, near = numpy(), self._near
        rows = np.flatnonzero(fits & self._vectors.has.values.view(bool))
        if self._vectors.exact is not None:
            return np.sort(_newest_best(near, rows, most))
        error = self._vectors.error.values
        if len(rows) > most:
            least = near[rows] - error[rows]
            bound = np.partition(least, len(rows) - most)[len(rows) - most]
            rows = rows[near[rows] + error[rows] >= bound]
        self._look_closer(rows)
        exact = np.full(len(self._seq), -2.0)
        exact[rows] = [self._known.get(row, -2.0) for row in rows.tolist()]
        return np.sort(_newest_best(exact, rows, most))

    def of(self, rows: Any) -> Any:
        """Return the exact cosines of rows, NaN for one without a vector; None without a look."""
        np = numpy()
        if self._near is None:
            return None
        has = self._vectors.has.values[rows].view(bool)
        if self._vectors.exact is not None:
            return np.where(has, self._near[rows].astype("f8"), np.nan)
        self._look_closer(rows[has])
        return np.asarray([self._known.get(row, np.nan) for row in rows.tolist()], "f8")

    def _look_closer(self, rows: Any) -> None:
        missing = {self._seq[row]: row for row in rows.tolist() if row not in self._known}
        if missing:
            measured = self._measure(list(missing))
            self._known |= {missing[seq]: value for seq, value in measured.items()}


_EXACT: Final = 20_000
"""Memories of a group whose vectors are kept as floats."""
_BLOCK: Final = 512
"""Rows that are multiplied at once: as floats they fit into the cache of a processor."""
_ROUNDING: Final = 1e-5
"""What sums of 32-bit floats are off by, at most."""


@cache
def _floats() -> Any:
    """Return every 16-bit float as a 32-bit one: half the time of a cast in NumPy."""
    np = numpy()
    return np.arange(1 << 16, dtype="u2").view("f2").astype("f4")


def _lengths(matrix: Any) -> Any:
    """Return the lengths of vectors, 1 for one without any."""
    np = numpy()
    lengths = np.sqrt(np.vecdot(matrix, matrix))
    return np.where(lengths > 0, lengths, np.float32(1))


class Segments:
    """The segments of the groups that were searched last.

    Args:
        most: Memories that all segments hold together at most; 0 for no segment at all.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._known: OrderedDict[Any, Segment] = OrderedDict()

    def get(self, key: Any) -> Segment | None:
        """Return the segment of a group as it was, and count it as used last."""
        segment = self._known.get(key)
        if segment is not None:
            self._known.move_to_end(key)
        return segment

    def put(self, key: Any, segment: Segment) -> None:
        """Keep a segment; those that were not used for longest go."""
        self._known[key] = segment
        self._known.move_to_end(key)
        while len(self._known) > 1 and sum(map(len, self._known.values())) > self.most:
            self._known.popitem(last=False)

    def drop(self, key: Any) -> None:
        """Forget the segment of a group."""
        self._known.pop(key, None)

    def clear(self) -> None:
        """Forget all segments."""
        self._known.clear()


def numpy() -> Any:
    """Return NumPy, which is imported when it is needed."""
    import numpy as np

    return np


@cache
def has_numpy() -> bool:
    """Return whether a usable NumPy is installed; if not, that is logged once."""
    try:
        import numpy as np
    except ImportError as error:
        reason = str(error)
    else:
        if hasattr(np, "vecdot"):
            return True
        reason = f"NumPy {np.__version__} is too old"
    logger.info(
        "Searches in a SQLite file take longer without NumPy 2 (pip install 'numpy>=2'): %s", reason
    )
    return False

"""NumPy arrays that grow, and what a segment keeps in them: words, names and vectors by row.

Words are kept as hashes of six bytes: two words of a group with a million different words share
a hash with a probability of 0.2 %, and then one of them finds a few memories too many.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeAlias

from memoryware._caching import on_clear
from memoryware.events import logger

WORD: Final = 6
"""Bytes of the hash of a word."""
BATCH: Final = 2000
"""Rows, or vectors, that are converted at once."""

Posting: TypeAlias = tuple[Any, Any]
"""The rows that have a word, in order, and how often each has it."""
Measure: TypeAlias = Callable[[Sequence[int]], Mapping[int, float]]
"""Return the exact cosines of memories by number."""


def word_hash(word: str) -> bytes:
    """Return the hash under which a word is kept."""
    return _hashes[word]


class _Hashes(dict[str, bytes]):
    """Hashes by their words; it starts anew when it is full.

    Mapped over words it takes half the time of a cached function.
    """

    def __missing__(self, word: str) -> bytes:
        if len(self) >= _MOST_HASHES:
            self.clear()
        data = word.encode("utf-8", "surrogatepass")
        digest = self[word] = hashlib.blake2b(data, digest_size=WORD).digest()
        return digest


_MOST_HASHES: Final = 1 << 16
_hashes: Final = _Hashes()
on_clear(_hashes.clear)


def packed_words(words: Iterable[str]) -> bytes:
    """Return the words of a text as hashes, in order, with repeats."""
    return b"".join(map(_hashes.__getitem__, words))


def count_words(data: bytes, hashes: Sequence[bytes]) -> tuple[int, ...]:
    """Count some words in packed words."""
    if not any(
        word_hash_ in data for word_hash_ in hashes
    ):  # most texts have none, and this is quick
        return (0,) * len(hashes)
    words = [data[start : start + WORD] for start in range(0, len(data), WORD)]
    return tuple(map(words.count, hashes))


def counts_at(rows: Any, having: Any, often: Any, count: int) -> Any:
    """Return how often rows have a word, given the rows that have it and how often."""
    np = numpy()
    if count <= _EXACT:  # scattered and gathered sooner than searched for
        counts = np.zeros(count, "i8")
        counts[having] = often
        return counts[rows]
    if not len(having):
        return np.zeros(len(rows), "i8")
    positions = np.minimum(having.searchsorted(rows), len(having) - 1)
    return np.where(having[positions] == rows, often[positions], 0)


def newest_best(scores: Any, rows: Any, most: int) -> Any:
    """Return the rows with the best scores; of those that are as good, the last ones."""
    if len(rows) <= most:
        return rows
    np, values = numpy(), scores[rows]
    least = np.partition(values, len(values) - most)[len(values) - most]
    better, equal = rows[values > least], rows[values == least]
    return np.concatenate([better, equal[len(equal) - (most - len(better)) :]])


class Column:
    """An array that grows by doubling, so that one more row costs no copy of all."""

    def __init__(self, kind: str, width: int | None = None, room: int = 0) -> None:
        self._kind, self._width, self._count = kind, width, 0
        self._data = self._made(room)
        self.values = self._data[:0]

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


class Words:
    """Which rows have which words, and how often.

    All words stand row by row in one array. A group that is asked a few times is looked through;
    one that is asked often gets an inverted index, with newer rows apart.
    """

    def __init__(self) -> None:
        self._hashes, self._starts = Column("u8"), Column("i8")
        self._index: Index | None = None
        self._looks = 0

    def extend(self, hashes: Any, lengths: Any) -> None:
        start = len(self._hashes.values)
        self._hashes.extend(hashes)
        self._starts.extend(numpy().cumsum(lengths) - lengths + start)

    def of(self, words: Sequence[str]) -> list[Posting]:
        """Return for each word the rows that have it, in order, and how often."""
        hashes = self._hashes.values
        self._looks += len(words)
        done = self._index.size if self._index is not None else 0
        most = max(_SCANNED, done // 8) if self._looks > _LOOKS else _SCANNED * 1000
        if len(hashes) - done > most:
            self._index = Index(hashes, self._starts.values)
            done = len(hashes)
        numbers = [int.from_bytes(word_hash(word), "little") for word in words]
        if self._index is None:
            return [self._scanned(number, 0) for number in numbers]
        postings = self._index.of(numbers)
        if done == len(hashes):
            return postings
        np = numpy()
        later = [self._scanned(number, done) for number in numbers]
        return [
            (np.concatenate([rows, new]), np.concatenate([often, more]))
            for (rows, often), (new, more) in zip(postings, later, strict=True)
        ]

    def _scanned(self, word: int, start: int) -> Posting:
        np, starts = numpy(), self._starts.values
        positions = (self._hashes.values[start:] == word).nonzero()[0] + start
        rows = starts.searchsorted(positions, "right") - 1
        if len(rows) < 2:
            return rows, np.ones(len(rows), "i8")
        first = np.concatenate([[True], rows[1:] != rows[:-1]]).nonzero()[0]
        return rows[first], np.diff(first, append=len(rows))

    def has(self, row: int, data: bytes) -> bool:
        """Return whether a row has exactly these words."""
        own = self._hashes.values[self._starts.values[row] :][: len(data) // WORD]
        return bool(numpy().array_equal(own, hashes_of(data)))

    def at(self, rows: Any) -> Any:
        """Return the hashes of the words of rows, row by row."""
        np, hashes = numpy(), self._hashes.values
        ends = np.append(self._starts.values[1:], len(hashes))
        spans = zip(self._starts.values[rows].tolist(), ends[rows].tolist(), strict=True)
        return np.concatenate([hashes[start:end] for start, end in spans] or [hashes[:0]])


class Index:
    """An inverted index of words: the rows of a word are a slice of one array.

    Attributes:
        size: How many words, in the order of rows, are in it.
    """

    def __init__(self, hashes: Any, starts: Any) -> None:
        np, self.size = numpy(), len(hashes)
        order = np.argsort(hashes, kind="stable")
        hashes = hashes[order]
        rows = np.repeat(np.arange(len(starts)), np.diff(starts, append=self.size))[order]
        is_first = np.ones(self.size, bool)
        is_first[1:] = (hashes[1:] != hashes[:-1]) | (rows[1:] != rows[:-1])
        first = is_first.nonzero()[0]
        hashes, self._rows = hashes[first], rows[first]
        self._often = np.diff(first, append=self.size)
        is_new = np.ones(len(hashes), bool)
        is_new[1:] = hashes[1:] != hashes[:-1]
        begins = is_new.nonzero()[0]
        self._hashes, self._begins = hashes[begins], np.append(begins, len(hashes))

    def of(self, hashes: Sequence[int]) -> list[Posting]:
        """Return for each hash the rows that have it, and how often."""
        stored, postings = self._hashes, list[Posting]()
        positions = stored.searchsorted(numpy().array(hashes, "u8")).tolist()
        for position, word in zip(positions, hashes, strict=True):
            is_known = position < len(stored) and stored[position] == word
            start, end = self._begins[position : position + 2].tolist() if is_known else (0, 0)
            postings.append((self._rows[start:end], self._often[start:end]))
        return postings


def hashes_of(data: bytes) -> Any:
    """Return packed words as numbers."""
    np = numpy()
    whole = np.zeros((len(data) // WORD, 8), "u1")
    whole[:, :WORD] = np.frombuffer(data, "u1").reshape(-1, WORD)
    return whole.view("<u8")[:, 0]


class NameIndex:
    """Which rows have the same name, for a column that only grows.

    Most names, such as those of documents of one chunk, belong to a single row, and a search
    asks first whether any of its hits has company.
    """

    def __init__(self, column: Column) -> None:
        self._column = column
        self._shared: Any = None
        self._counted = self._done = 0
        self._ordered: Any = None
        self._order: Any = None

    def is_any_shared(self, rows: Any) -> bool:
        """Return whether another row has the name of one of these."""
        np, names = numpy(), self._column.values
        if self._counted != len(names):
            ordered = np.sort(names)
            self._shared = ordered[1:][ordered[1:] == ordered[:-1]]
            self._counted = len(names)
        return bool(len(self._shared)) and bool(np.isin(names[rows], self._shared).any())

    def rows_of(self, name: int) -> Any:
        """Return the rows that have a name, in order."""
        np, names = numpy(), self._column.values
        if len(names) - self._done > max(_APART, self._done // 8):
            self._order = np.argsort(names, kind="stable")
            self._ordered, self._done = names[self._order], len(names)
        later = (names[self._done :] == name).nonzero()[0] + self._done
        if not self._done:
            return later
        start, end = (self._ordered.searchsorted(name, side) for side in ("left", "right"))
        return np.concatenate([self._order[start:end], later])


_APART: Final = 500
"""Newer rows whose names are looked through faster than they are sorted into the others."""
_SCANNED: Final = 4000
"""Words that are looked through faster than they are sorted into the others."""
_LOOKS: Final = 30
"""Looks for a word after which sorting a group by word pays: of 100,000 memories sorting takes as
long as looking through all words some hundred times, and the first question should not wait."""


class Vectors:
    """The vectors of one space by row: exact, or as 8-bit numbers in a large group."""

    def __init__(self, expected: int = 0) -> None:
        self.dimension, self._expected = 0, expected
        self.has = Column("i1")
        self.exact: Column | None = None
        self.small: Column | None = None
        self.scale, self.error = Column("f4"), Column("f4")

    def extend(self, first: int, data: Sequence[bytes | None]) -> None:
        np = numpy()
        count = first + len(data)
        having = [position for position, vector in enumerate(data) if vector is not None]
        self.has.extend(np.zeros(len(data), "i1"))
        if having and not self.dimension:
            self._begin(len(data[having[0]] or b"") // 2, count)
        elif self.dimension:
            self._grow(len(data))
        if self.exact is not None and count > _EXACT:
            self._shrink()
        for start in range(0, len(having), BATCH):
            some = having[start : start + BATCH]
            joined = b"".join(data[position] or b"" for position in some)
            self._keep(np.asarray(some) + first, joined)

    def extend_small(self, first: int, values: Mapping[str, Any]) -> None:
        """Add vectors as blocks have them."""
        if not self.dimension:
            self.dimension = values["small"].shape[1]
            self.small = Column("i1", self.dimension, self._expected)
            self._grow(first)
        elif self.exact is not None:
            self._shrink()
        for name in VECTORS:
            getattr(self, name).extend(values[name])

    def at(self, rows: Any) -> dict[str, Any]:
        """Return what blocks have of the vectors of rows."""
        return {name: getattr(self, name).values[rows] for name in VECTORS}

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
        if self._expected > _EXACT:
            self.small = Column("i1", dimension, self._expected)
        else:
            self.exact = Column("f4", dimension, self._expected)
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
        self.exact, self.small = None, Column("i1", self.dimension)
        self._grow(len(exact))
        for start in range(0, len(exact), BATCH):
            rows = np.arange(start, min(start + BATCH, len(exact)))
            self._keep_small(rows, exact[rows])


class Nearness:
    """The cosines of one query to the rows of a segment."""

    def __init__(self, vectors: Vectors, seq: Any, measure: Measure) -> None:
        self._vectors, self._seq, self._measure = vectors, seq, measure
        self._near: Any = None
        self._known: dict[int, float] = {}

    def measure_all(self, query: bytes) -> None:
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
        """Return the fitting rows that are nearest, exactly; all fit if `fits` is None."""
        np, near = numpy(), self._near
        has = self._vectors.has.values.view(bool)
        rows = (has if fits is None else fits & has).nonzero()[0]
        if self._vectors.exact is not None:
            return newest_best(near, rows, most)
        error = self._vectors.error.values
        if len(rows) > most:
            least = near[rows] - error[rows]
            bound = np.partition(least, len(rows) - most)[len(rows) - most]
            rows = rows[near[rows] + error[rows] >= bound]
        self._look_closer(rows)
        exact = np.full(len(self._seq), -2.0)
        exact[rows] = [self._known.get(row, -2.0) for row in rows.tolist()]
        return newest_best(exact, rows, most)

    def of(self, rows: Any) -> Any:
        """Return the exact cosines of rows, NaN for one without a vector; None without a look."""
        np = numpy()
        if self._near is None:
            return None
        has = self._vectors.has.values[rows].view(bool)
        if self._vectors.exact is not None:
            near = self._near[rows].astype("f8")
            return near if has.all() else np.where(has, near, np.nan)
        self._look_closer(rows[has])
        return np.asarray([self._known.get(row, np.nan) for row in rows.tolist()], "f8")

    def _look_closer(self, rows: Any) -> None:
        missing = {int(self._seq[row]): row for row in rows.tolist() if row not in self._known}
        if missing:
            measured = self._measure(list(missing))
            self._known |= {missing[seq]: value for seq, value in measured.items()}


VECTORS: Final = ("has", "scale", "error", "small")
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

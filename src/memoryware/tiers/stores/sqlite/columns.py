"""The words and the vectors of a group, in arrays; with NumPy."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, Final, Protocol, TypeAlias

from memoryware.tiers.stores.sql.port import Row

Ask: TypeAlias = Callable[..., Iterable[Row]]
"""Does a statement in the transaction of a search."""
_VECTORS: Final = (
    "SELECT record.seq, vector.data FROM record CROSS JOIN vector"
    " ON vector.space = ? AND vector.seq = record.seq"
    " WHERE record.tier = 'long_term' AND record.part = ?"
)
BATCH: Final = 2000
"""Vectors that are made small at once."""


class Words:
    """Which rows have which words, and how often.

    All texts that were read at once are kept together: as they are at first, since a group that
    is asked but a few times is looked through sooner than sorted by words, then word by word.
    What came later is beside.
    """

    def __init__(self) -> None:
        self._kept: _Texts | _Postings = _Postings(())
        self._looks = 0
        self._later: dict[str, tuple[array[int], array[int]]] = {}

    def read(self, texts: Sequence[str]) -> None:
        """Take up the words of all rows, which are separated by blanks."""
        self._kept = _Texts(texts) if len(texts) <= _THROUGH else _Postings(texts)

    def add(self, row: int, text: str) -> None:
        """Take up the words of one row more, the last one."""
        for word, often in Counter(text.split()).items():
            later = self._later.setdefault(word, (array("i"), array("H")))
            later[0].append(row)
            later[1].append(min(often, _OFTEN))

    def of(self, word: str) -> tuple[Any, Any]:
        """Return the rows that have a word, in order, and how often."""
        np = numpy()
        if isinstance(self._kept, _Texts):
            self._looks += 1
            if self._looks > _LOOKS:
                self._kept = _Postings(self._kept.texts())
        rows, often = self._kept.of(word)
        later = self._later.get(word)
        if later is not None:
            rows = np.concatenate([rows, np.frombuffer(later[0], "i4")])
            often = np.concatenate([often, np.frombuffer(later[1], "u2")])
        return rows, often


class _Texts:
    """Words as they were read: row by row."""

    def __init__(self, texts: Sequence[str]) -> None:
        np = numpy()
        self._all = "\n".join(f" {text} " for text in texts)
        lengths = np.fromiter(map(len, texts), "i8", len(texts)) + len("  \n")
        self._ends = np.cumsum(lengths)

    def texts(self) -> list[str]:
        return [line.strip(" ") for line in self._all.split("\n")]

    def of(self, word: str) -> tuple[Any, Any]:
        np = numpy()
        looked, places = f" {word} ", list[int]()
        at = self._all.find(looked)
        while at >= 0:
            places.append(at)
            at = self._all.find(looked, at + len(looked) - 1)  # one blank may end two words
        rows, often = np.unique(
            np.searchsorted(self._ends, places, side="right"), return_counts=True
        )
        return rows.astype("i4"), np.minimum(often, _OFTEN).astype("u2")


class _Postings:
    """Rows and counts in one array, word by word."""

    def __init__(self, texts: Sequence[str]) -> None:
        np = numpy()
        known = self._known = dict[str, int]()
        names, sizes = array("i"), array("i")
        for text in texts:  # one after the other: all words at once would take ten times the room
            words = [known.setdefault(word, len(known)) for word in text.split()]
            names.extend(words)
            sizes.append(len(words))
        count = max(1, len(texts))
        rows = np.repeat(np.arange(len(texts)), sizes)
        keys = np.fromiter(names, "i8", len(names)) * count + rows
        del rows, names
        keys, often = np.unique(keys, return_counts=True)
        self._often = np.minimum(often, _OFTEN).astype("u2")
        self._starts = np.searchsorted(keys // count, np.arange(len(known) + 1))
        self._rows = (keys % count).astype("i4")

    def of(self, word: str) -> tuple[Any, Any]:
        name = self._known.get(word)
        first, last = (0, 0) if name is None else self._starts[name : name + 2]
        return self._rows[first:last], self._often[first:last]


_OFTEN: Final = 65_535
"""The most that is counted of one word in one text."""
_THROUGH: Final = 5000
"""Texts that may be looked through for a word."""
_LOOKS: Final = 30
"""Looks for a word after which it pays to have sorted the texts by words."""


class Rows(Protocol):
    """The rows of a group."""

    part: str
    seq: array[int]

    def __len__(self) -> int: ...


class Vectors:
    """The vectors of one space: as the file has them, or as 8-bit numbers to be sooner.

    Attributes:
        space: The number of the space.
        data: The 8-bit numbers, row by row, of a row without a vector zeros; None of few rows
            that were asked but a few times: the vectors themselves are looked through.
        scale: What the numbers of a row are multiplied with, so that its length is about 1; 0
            if it has no vector.
        error: How far a row is away from its vector, at most.
        exact: The vectors as the file has them; None where they are too many.
    """

    def __init__(self, space: int) -> None:
        self.space, self.dimension = space, 0
        self.data: array[int] | None = None
        self.scale, self.error = array("f"), array("f")
        self.exact: array[int] | None = array("H")
        self._looks = 0

    def read(self, ask: Ask, index: Rows, changed: Sequence[int] = ()) -> None:
        """Read the vectors of all memories, or of those that have changed."""
        batch: list[Row] = []
        for row in ask(f"{_VECTORS}{among(changed)}", self.space, index.part, *changed):
            batch.append(row)
            if len(batch) == BATCH:
                self._keep(index, batch)
                batch = []
        if batch:
            self._keep(index, batch)
        self._make_room(len(index))

    def nearness(self, query: Any) -> tuple[Any, Any]:
        """Return the cosine of a query to each row, and how far that may be off.

        In one thread: the pools of threads that a matrix product starts are slower where others
        work as well.

        Args:
            query: The vector of the query as 32-bit floats, with length 1.
        """
        np = numpy()
        self._looks += 1
        if self.data is None and self._looks > _NEARNESS:
            self._make_small()
        kept = self._halves() if self.data is None else np.frombuffer(self.data, "i1")
        numbers = kept.reshape(-1, self.dimension)
        made = np.empty(len(numbers), "f4")
        block = np.empty((min(_BLOCK, len(numbers)), self.dimension), "f4")
        for start in range(0, len(numbers), _BLOCK):
            some = numbers[start : start + _BLOCK]
            unpacked = block[: len(some)]
            if self.data is None:
                np.take(_floats(), some, out=unpacked, mode="clip")
            else:
                np.copyto(unpacked, some)
            np.vecdot(unpacked, query, out=made[start : start + len(some)])
        made *= np.frombuffer(self.scale, "f4")
        return np.clip(made, -1, 1, out=made), np.frombuffer(self.error, "f4")

    def measured(self, query: Any, rows: Sequence[int]) -> list[float] | None:
        """Return the cosine of a query to rows that have a vector, None where that takes the file.

        Args:
            query: The vector of the query as 32-bit floats, with length 1.
            rows: Rows.
        """
        if self.exact is None:
            return None
        np = numpy()
        matrix = np.take(_floats(), self._halves()[np.fromiter(rows, "i8", len(rows))])
        near = np.vecdot(matrix, query) / _lengths(matrix)
        found: list[float] = np.clip(near, -1, 1).tolist()
        return found

    def _halves(self) -> Any:
        return numpy().frombuffer(self.exact, "u2").reshape(-1, self.dimension)

    def _keep(self, index: Rows, batch: Sequence[Row]) -> None:
        np = numpy()
        halves = np.frombuffer(b"".join(row[1] for row in batch), "<u2")
        halves = halves.reshape(len(batch), -1)
        self.dimension = halves.shape[1]
        self._make_room(len(index))
        rows = np.searchsorted(np.frombuffer(index.seq, "i8"), [row[0] for row in batch])
        if self.exact is not None:
            self._halves()[rows] = halves
        self._measure(rows, np.take(_floats(), halves))

    def _measure(self, rows: Any, matrix: Any) -> None:
        """Keep the scales of rows, and their 8-bit numbers where there are any."""
        np = numpy()
        lengths = _lengths(matrix)
        scale, error = 1 / lengths, np.zeros(len(matrix), "f4")
        if self.data is not None:
            matrix /= lengths[:, None]
            scale = np.abs(matrix).max(axis=1) / 127
            scale = np.where(scale > 0, scale, 1).astype("f4")
            small = np.rint(matrix / scale[:, None])
            error = np.linalg.norm(matrix - small * scale[:, None], axis=1) + _ROUNDING
            kept = np.frombuffer(self.data, "i1").reshape(-1, self.dimension)
            kept[rows] = small.astype("i1")
        np.frombuffer(self.scale, "f4")[rows] = scale
        np.frombuffer(self.error, "f4")[rows] = error

    def _make_room(self, count: int) -> None:
        missing, width = count - len(self.scale), self.dimension
        if missing <= 0 or not width:
            return
        self.scale.frombytes(bytes(missing * 4))
        self.error.frombytes(bytes(missing * 4))
        if self.exact is not None:
            self.exact.frombytes(bytes(missing * width * 2))
        if self.data is not None:
            self.data.frombytes(bytes(missing * width))
        elif count > _FEW:
            self._make_small()
        if count > _EXACT:
            self.exact = None

    def _make_small(self) -> None:
        np = numpy()
        self.data = array("b", bytes(len(self.scale) * self.dimension))
        having = np.flatnonzero(np.frombuffer(self.scale, "f4"))
        for start in range(0, len(having), BATCH):
            rows = having[start : start + BATCH]
            self._measure(rows, np.take(_floats(), self._halves()[rows]))


_FEW: Final = 5000
"""Memories of a group whose vectors may be looked through as they are."""
_NEARNESS: Final = 4
"""Looks through all vectors after which it pays to have made them small."""
_EXACT: Final = 20_000
"""Memories of a group whose vectors are kept as they are, too."""
_BLOCK: Final = 512
"""Rows that are multiplied at once: as floats they fit into the cache of a processor."""
_ROUNDING: Final = 1e-5
"""What sums of 32-bit floats are off by, at most."""


@cache
def _floats() -> Any:
    """Return every 16-bit float as a 32-bit one: looked up sooner than NumPy computes it."""
    np = numpy()
    return np.arange(1 << 16, dtype="u2").view("f2").astype("f4")


def _lengths(matrix: Any) -> Any:
    """Return the lengths of vectors, 1 for one without any."""
    np = numpy()
    lengths = np.sqrt(np.vecdot(matrix, matrix))
    return np.where(lengths > 0, lengths, np.float32(1))


def among(numbers: Sequence[int]) -> str:
    """Return a condition that a record has one of these numbers; of none no condition."""
    return f" AND record.seq IN ({', '.join('?' * len(numbers))})" if numbers else ""


def numpy() -> Any:
    """Return NumPy, which is imported when it is needed."""
    import numpy as np

    return np

"""The words and the vectors of a group, in arrays; with NumPy."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
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

    All words that were read at once are in one array, word by word; what came later is beside.
    """

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._starts: Any = None
        self._rows: Any = None
        self._often: Any = None
        self._later: dict[str, tuple[array[int], array[int]]] = {}

    def read(self, texts: Sequence[str]) -> None:
        """Take up the words of all rows, which are separated by blanks."""
        np = numpy()
        split = [text.split() for text in texts]
        known = self._known
        every = [one for words in split for one in words]
        known.update((one, at) for at, one in enumerate(dict.fromkeys(every)))
        names = array("i", map(known.__getitem__, every))
        rows = np.repeat(np.arange(len(split)), [len(words) for words in split])
        keys = np.frombuffer(names, "i4").astype("i8") * len(split) + rows if names else rows
        keys, often = np.unique(keys, return_counts=True)
        self._rows = (keys % max(1, len(split))).astype("i4")
        self._often = np.minimum(often, _OFTEN).astype("u2")
        self._starts = np.searchsorted(keys // max(1, len(split)), np.arange(len(known) + 1))

    def add(self, row: int, text: str) -> None:
        """Take up the words of one row more, the last one."""
        for word, often in Counter(text.split()).items():
            later = self._later.setdefault(word, (array("i"), array("H")))
            later[0].append(row)
            later[1].append(min(often, _OFTEN))

    def of(self, word: str) -> tuple[Any, Any]:
        """Return the rows that have a word, in order, and how often."""
        np = numpy()
        name, later = self._known.get(word), self._later.get(word)
        first, last = (0, 0) if name is None else self._starts[name : name + 2]
        rows, often = self._rows[first:last], self._often[first:last]
        if later is not None:
            rows = np.concatenate([rows, np.frombuffer(later[0], "i4")])
            often = np.concatenate([often, np.frombuffer(later[1], "u2")])
        return rows, often


_OFTEN: Final = 65_535
"""The most that is counted of one word in one text."""


class Rows(Protocol):
    """The rows of a group."""

    part: str
    seq: array[int]

    def __len__(self) -> int: ...


class Vectors:
    """The vectors of one space, each as 8-bit numbers with one scale.

    Attributes:
        space: The number of the space.
        data: The numbers, row by row; of a row without a vector zeros.
        scale: What the numbers of a row are multiplied with, so that its length is about 1; 0
            if it has no vector.
        error: How far a row is away from its vector, at most.
        exact: The vectors as the file has them, where they are few.
    """

    def __init__(self, space: int) -> None:
        self.space, self.dimension = space, 0
        self.data, self.scale, self.error = array("b"), array("f"), array("f")
        self.exact: array[int] | None = array("H")

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

    def measured(self, query: Any, rows: Sequence[int]) -> list[float] | None:
        """Return the cosine of a query to rows that have a vector, None where that takes the file.

        Args:
            query: The vector of the query as 32-bit floats, with length 1.
            rows: Rows.
        """
        if self.exact is None:
            return None
        np = numpy()
        halves = np.frombuffer(self.exact, "f2").reshape(-1, self.dimension)
        matrix = halves[np.fromiter(rows, "i8", len(rows))].astype("f4")
        lengths = np.linalg.norm(matrix, axis=1)
        near = np.vecdot(matrix, query) / np.where(lengths > 0, lengths, 1)
        found: list[float] = np.clip(near, -1, 1).tolist()
        return found

    def _keep(self, index: Rows, batch: Sequence[Row]) -> None:
        np = numpy()
        matrix = np.frombuffer(b"".join(row[1] for row in batch), "<f2").astype("f4")
        matrix = matrix.reshape(len(batch), -1)
        self.dimension = matrix.shape[1]
        lengths = np.linalg.norm(matrix, axis=1)
        matrix /= np.where(lengths > 0, lengths, 1)[:, None]
        scale = np.abs(matrix).max(axis=1) / 127
        scale = np.where(scale > 0, scale, 1).astype("f4")
        small = np.rint(matrix / scale[:, None])
        error = np.linalg.norm(matrix - small * scale[:, None], axis=1) + _ROUNDING
        rows = np.searchsorted(np.frombuffer(index.seq, "i8"), [row[0] for row in batch])
        self._make_room(len(index))
        width = self.dimension
        numbers = np.frombuffer(self.data, "i1").reshape(-1, width)
        numbers[rows] = small.astype("i1")
        np.frombuffer(self.scale, "f4")[rows] = scale
        np.frombuffer(self.error, "f4")[rows] = error
        if self.exact is not None:
            halves = np.frombuffer(b"".join(row[1] for row in batch), "u2")
            np.frombuffer(self.exact, "u2").reshape(-1, width)[rows] = halves.reshape(-1, width)

    def _make_room(self, count: int) -> None:
        missing = count - len(self.scale)
        if missing > 0 and self.dimension:
            self.data.frombytes(bytes(missing * self.dimension))
            self.scale.frombytes(bytes(missing * 4))
            self.error.frombytes(bytes(missing * 4))
            if count > _EXACT:
                self.exact = None
            elif self.exact is not None:
                self.exact.frombytes(bytes(missing * self.dimension * 2))


_EXACT: Final = 20_000
"""Memories of a group whose vectors are kept as they are, too."""
_ROUNDING: Final = 1e-5
"""What sums of 32-bit floats are off by, at most."""


def among(numbers: Sequence[int]) -> str:
    """Return a condition that a record has one of these numbers; of none no condition."""
    return f" AND record.seq IN ({', '.join('?' * len(numbers))})" if numbers else ""


def numpy() -> Any:
    """Return NumPy, which is imported when it is needed."""
    import numpy as np

    return np

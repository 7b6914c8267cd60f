"""What this process keeps of one group's long-term memory, so that a search reads little.

It is a copy for speed: the file is asked at each search whether something has changed, and
what has is read again. Words are kept as lists of the memories that have them, vectors as 8-bit
numbers with the error that this makes, so that the nearest can be told exactly.
"""

from __future__ import annotations

from array import array
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from functools import cache
from importlib.util import find_spec
from typing import Any, Final, TypeAlias

from memoryware.events import logger
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.stores.sql.port import Row

Ask: TypeAlias = Callable[..., Iterable[Row]]
"""Does a statement in the transaction of a search."""
ALWAYS: Final = 2**62
"""The end of what has no end."""
_RECORDS: Final = (
    "SELECT record.seq, record.created, record.valid_from, record.valid_to, record.agent_id,"
    " record.session_id, record.document, record.size, record.revocation IS NOT NULL,"
    " word_index.words FROM record LEFT JOIN word_index ON word_index.rowid = record.seq"
    " WHERE record.tier = 'long_term' AND record.part = ?"
)
_VECTORS: Final = (
    "SELECT record.seq, vector.data FROM record CROSS JOIN vector"
    " ON vector.space = ? AND vector.seq = record.seq"
    " WHERE record.tier = 'long_term' AND record.part = ?"
)
_BATCH: Final = 2000
"""Vectors that are made small at once."""


def number_of(text: str | None) -> int:
    """Return a number that stands for a name in this process; 0 stands for none."""
    return 0 if text is None else hash(text) | 1


class PartIndex:
    """The columns, words and vectors of the long-term memory of one group, by rows.

    Rows are in the order of storing. All columns are arrays that numpy can look into.
    """

    def __init__(self, part: str, known: int) -> None:
        self.part, self.known = part, known
        self.seq, self.created = array("q"), array("q")
        self.begins, self.ends = array("q"), array("q")
        self.agent, self.session, self.document = array("q"), array("q"), array("q")
        self.size, self.revoked = array("i"), array("b")
        self.words = Words()
        self.vectors: Vectors | None = None
        self._texts = array("q")
        self._threads: dict[str, dict[int, list[int] | int]] = {}

    def __len__(self) -> int:
        return len(self.seq)

    def read(self, ask: Ask, changed: Sequence[int] | None = None) -> bool:
        """Read everything that is there, or what has changed; False if that takes a new index.

        Args:
            ask: Does a statement.
            changed: Numbers of records of any group.
        """
        if changed is None:
            self._read_all(list(ask(f"{_RECORDS} ORDER BY record.seq", self.part)))
            return True
        for start in range(0, len(changed), _BATCH):
            some = changed[start : start + _BATCH]
            rows = list(ask(f"{_RECORDS}{_among(some)} ORDER BY record.seq", self.part, *some))
            there = {row[0] for row in rows}
            gone = any(one not in there and self.row_of(one) is not None for one in some)
            if gone or not all(map(self._renew, rows)):
                return False
            if self.vectors is not None:
                self.vectors.read(ask, self, some)
        return True

    def read_vectors(self, ask: Ask, space: int) -> Vectors:
        """Return the vectors of a space, which are read if others are here."""
        if self.vectors is None or self.vectors.space != space:
            self.vectors = Vectors(space)
            self.vectors.read(ask, self)
        return self.vectors

    def thread(self, row: int, column: str) -> Sequence[int]:
        """Return the rows that have the same document, or session, as one, in order."""
        known = self._threads.get(column)
        if known is None:
            known = self._threads[column] = {}
            for at in range(len(self)):
                _put(known, getattr(self, column)[at], at)
        found = known[getattr(self, column)[row]]
        return found if isinstance(found, list) else [found]

    def row_of(self, seq: int) -> int | None:
        """Return the row of a memory by its number."""
        low, high = 0, len(self.seq)
        while low < high:
            middle = (low + high) // 2
            if self.seq[middle] < seq:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self.seq) and self.seq[low] == seq else None

    def _read_all(self, rows: Sequence[Row]) -> None:
        columns = list(zip(*rows, strict=True)) or [()] * 10
        self.seq.extend(columns[0])
        for (name, read), values in zip(_COLUMNS, columns[1:9], strict=True):
            getattr(self, name).extend(map(read, values))
        texts = [words or "" for words in columns[9]]
        self._texts.extend(map(number_of, texts))
        self.words.read(texts)

    def _add(self, row: Row) -> None:
        at, words = len(self.seq), row[9] or ""
        self.seq.append(row[0])
        self._texts.append(number_of(words))
        for column, _ in _COLUMNS:
            getattr(self, column).append(0)
        self._set(at, row)
        self.words.add(at, words)
        for column, known_rows in self._threads.items():
            _put(known_rows, getattr(self, column)[at], at)

    def _renew(self, row: Row) -> bool:
        """Take up a row that is new or has changed; False if its text or thread is another."""
        at = self.row_of(row[0])
        if at is None:
            if self.seq and row[0] < self.seq[-1]:
                return False
            self._add(row)
            return True
        same = self._texts[at] == number_of(row[9] or "")
        before = self.document[at], self.session[at]
        if same:
            self._set(at, row)
        return same and before == (self.document[at], self.session[at])

    def _set(self, at: int, row: Row) -> None:
        for (column, read), value in zip(_COLUMNS, row[1:9], strict=True):
            getattr(self, column)[at] = read(value)


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
        np = _numpy()
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
        np = _numpy()
        name, later = self._known.get(word), self._later.get(word)
        first, last = (0, 0) if name is None else self._starts[name : name + 2]
        rows, often = self._rows[first:last], self._often[first:last]
        if later is not None:
            rows = np.concatenate([rows, np.frombuffer(later[0], "i4")])
            often = np.concatenate([often, np.frombuffer(later[1], "u2")])
        return rows, often


_OFTEN: Final = 65_535
"""The most that is counted of one word in one text."""


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

    def read(self, ask: Ask, index: PartIndex, changed: Sequence[int] = ()) -> None:
        """Read the vectors of all memories, or of those that have changed."""
        batch: list[Row] = []
        for row in ask(f"{_VECTORS}{_among(changed)}", self.space, index.part, *changed):
            batch.append(row)
            if len(batch) == _BATCH:
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
        np = _numpy()
        halves = np.frombuffer(self.exact, "f2").reshape(-1, self.dimension)
        matrix = halves[np.fromiter(rows, "i8", len(rows))].astype("f4")
        lengths = np.linalg.norm(matrix, axis=1)
        near = np.vecdot(matrix, query) / np.where(lengths > 0, lengths, 1)
        found: list[float] = np.clip(near, -1, 1).tolist()
        return found

    def _keep(self, index: PartIndex, batch: Sequence[Row]) -> None:
        np = _numpy()
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


def _same(value: int) -> int:
    return value


def _end(value: int | None) -> int:
    return ALWAYS if value is None else value


_COLUMNS: Final[tuple[tuple[str, Callable[[Any], int]], ...]] = (
    ("created", _same),
    ("begins", _same),
    ("ends", _end),
    ("agent", number_of),
    ("session", number_of),
    ("document", number_of),
    ("size", _same),
    ("revoked", _same),
)
"""What is read of each memory after its number, in the order of `_RECORDS`."""


def _put(known: dict[int, list[int] | int], name: int, row: int) -> None:
    before = known.get(name)
    if before is None:
        known[name] = row
    elif isinstance(before, list):
        before.append(row)
    else:
        known[name] = [before, row]


def _among(numbers: Sequence[int]) -> str:
    return f" AND record.seq IN ({', '.join('?' * len(numbers))})" if numbers else ""


def _numpy() -> Any:
    import numpy as np

    return np


class Indexes:
    """The indexes of the groups that were searched last.

    Args:
        most: Memories that all indexes have together at most; 0 for no index at all.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: OrderedDict[str, PartIndex] = OrderedDict()
        self._asked: OrderedDict[str, None] = OrderedDict()

    def clear(self) -> None:
        """Forget everything."""
        self._known.clear()

    def of(self, part: str, ask: Ask) -> PartIndex | None:
        """Return the index of a group as it is now, None where none is kept of it."""
        if not self._most or not has_numpy():
            return None
        index = self._known.pop(part, None)  # whoever is interrupted leaves none
        ((last, first),) = ask(_CHANGED)
        if index is not None:
            index = self._renewed(index, ask, last or 0, first or 0)
        if index is None:
            if not self._is_worth_it(part, ask):
                return None
            index = PartIndex(part, last or 0)
            index.read(ask)
        self._known[part] = index
        while sum(map(len, self._known.values())) > self._most and len(self._known) > 1:
            self._known.popitem(last=False)
        return index

    def _renewed(self, index: PartIndex, ask: Ask, last: int, first: int) -> PartIndex | None:
        if index.known == last:
            return index
        if index.known + 1 < first or index.known > last:
            return None  # what has changed since is not known anymore
        most = max(_CHANGES, len(index))
        rows = ask(
            "SELECT DISTINCT seq FROM change WHERE id > ? ORDER BY seq LIMIT ?",
            index.known, most + 1,
        )  # fmt: skip
        changed = [row[0] for row in rows]
        if len(changed) > most or not index.read(ask, changed):
            return None
        index.known = last
        return index

    def _is_worth_it(self, part: str, ask: Ask) -> bool:
        """Say whether a group is indexed: a large one only when it is searched again."""
        again = part in self._asked
        self._asked[part] = None
        while len(self._asked) > _ASKED:
            self._asked.popitem(last=False)
        ((count,),) = ask("SELECT count(*) FROM record WHERE tier = 'long_term' AND part = ?", part)
        return bool(count <= self._most and (again or count <= _SMALL))


_KNOWN: Final = frozenset({"tenant", "groups", "agents", "sessions", "live_at", "since", "before"})
"""Conditions that an index can say of its rows."""


def is_known(which: Select) -> bool:
    """Say whether an index can tell what fits a selection."""
    nothing = Select()
    return all(
        one.name in _KNOWN or getattr(which, one.name) == getattr(nothing, one.name)
        for one in fields(which)
    )


_CHANGED: Final = "SELECT (SELECT max(id) FROM change), (SELECT min(id) FROM change)"
"""Two questions, because SQLite takes the index for one at a time only."""
_CHANGES: Final = 1000
"""Changes that are always followed one by one."""
_SMALL: Final = 5000
"""Memories of a group that is indexed when it is searched for the first time."""
_ASKED: Final = 10_000
"""Groups of which is known that they were searched."""


@cache
def has_numpy() -> bool:
    """Say whether NumPy is installed; if not, that is logged once."""
    if find_spec("numpy") is not None:
        return True
    logger.info(
        "NumPy is not installed, so searches in a SQLite file take longer: pip install numpy"
    )
    return False

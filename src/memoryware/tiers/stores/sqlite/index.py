"""What this process keeps of one group's long-term memory, so that a search reads little.

It is a copy for speed: the file is asked at each search whether something has changed, and
what has is read again. Words are kept as lists of the memories that have them, vectors as 8-bit
numbers with the error that this makes, so that the nearest can be told exactly.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from functools import cache
from itertools import islice
from typing import Any, Final, TypeAlias

from memoryware.events import logger
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.stores.sql.port import Row
from memoryware.tiers.stores.sqlite.columns import BATCH, Ask, Vectors, Words, among

Known: TypeAlias = tuple[int, int | None]
"""The last change that is known: its number, and its mark."""
ALWAYS: Final = 2**62
"""The end of what has no end."""
_RECORDS: Final = (
    "SELECT record.seq, record.created, record.valid_from, record.valid_to, record.agent_id,"
    " record.session_id, record.document, record.size, record.revocation IS NOT NULL,"
    " kept.c1 FROM record LEFT JOIN word_index_content kept ON kept.id = record.seq"
    " WHERE record.tier = 'long_term' AND record.part = ?"
)
"""The words come from the table in which FTS5 keeps its second column: half as long a way."""


def number_of(text: str | None) -> int:
    """Return a number that stands for a name in this process; 0 stands for none."""
    return 0 if text is None else hash(text) | 1


class PartIndex:
    """The columns, words and vectors of the long-term memory of one group, by rows.

    Rows are in the order of storing. All columns are arrays that numpy can look into.
    """

    def __init__(self, part: str, known: Known) -> None:
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
            self._read_all(ask(f"{_RECORDS} ORDER BY record.seq", self.part))
            return True
        for start in range(0, len(changed), BATCH):
            some = changed[start : start + BATCH]
            rows = list(ask(f"{_RECORDS}{among(some)} ORDER BY record.seq", self.part, *some))
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
        found = self._known(column)[getattr(self, column)[row]]
        return found if isinstance(found, list) else [found]

    def has_beside(self, rows: Iterable[int], column: str) -> bool:
        """Say whether any of these rows has the same document, or session, as another row."""
        known, names = self._known(column), getattr(self, column)
        return any(isinstance(known[names[row]], list) for row in rows)

    def _known(self, column: str) -> dict[int, list[int] | int]:
        known = self._threads.get(column)
        if known is None:
            known = self._threads[column] = {}
            for at, name in enumerate(getattr(self, column)):
                _put(known, name, at)
        return known

    def row_of(self, seq: int) -> int | None:
        """Return the row of a memory by its number."""
        row = bisect_left(self.seq, seq)
        return row if row < len(self.seq) and self.seq[row] == seq else None

    def _read_all(self, rows: Iterable[Row]) -> None:
        texts, waiting = list[str](), iter(rows)
        while some := list(islice(waiting, BATCH)):
            columns = list(zip(*some, strict=True))
            self.seq.extend(columns[0])
            for (name, read), values in zip(_COLUMNS, columns[1:9], strict=True):
                getattr(self, name).extend(map(read, values))
            texts += [words or "" for words in columns[9]]
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
        ((number, mark),) = ask(_CHANGED)
        last = number or 0, mark
        if index is not None:
            index = self._renewed(index, ask, last)
        if index is None:
            if not self._is_worth_it(part, ask):
                return None
            index = PartIndex(part, last)
            index.read(ask)
        self._known[part] = index
        while sum(map(len, self._known.values())) > self._most and len(self._known) > 1:
            self._known.popitem(last=False)
        return index

    def _renewed(self, index: PartIndex, ask: Ask, last: Known) -> PartIndex | None:
        if index.known == last:
            return index
        number, mark = index.known
        if [*ask("SELECT mark FROM change WHERE id = ?", number)] != [(mark,)]:
            return None  # that is not known anymore, or an older file was put back
        most = max(_CHANGES, len(index))
        rows = ask(
            "SELECT DISTINCT seq FROM change WHERE id > ? ORDER BY seq LIMIT ?",
            number, most + 1,
        )  # fmt: skip
        changed = [row[0] for row in rows]
        try:
            if len(changed) > most or not index.read(ask, changed):
                return None
        except BufferError:  # whoever was interrupted still looks into its arrays
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


_KNOWN: Final = frozenset(
    {"tenant", "groups", "agents", "sessions", "live_at", "ahead", "since", "before"}
)
"""Conditions that an index can say of its rows."""


def is_known(which: Select) -> bool:
    """Say whether an index can tell what fits a selection."""
    nothing = Select()
    return all(
        one.name in _KNOWN or getattr(which, one.name) == getattr(nothing, one.name)
        for one in fields(which)
    )


_CHANGED: Final = (
    "SELECT (SELECT max(id) FROM change), (SELECT mark FROM change ORDER BY id DESC LIMIT 1)"
)
"""The last change."""
_CHANGES: Final = 1000
"""Changes that are always followed one by one."""
_SMALL: Final = 5000
"""Memories of a group that is indexed when it is searched for the first time."""
_ASKED: Final = 10_000
"""Groups of which is known that they were searched."""


@cache
def has_numpy() -> bool:
    """Say whether a NumPy is installed that can be used; if not, that is logged once."""
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

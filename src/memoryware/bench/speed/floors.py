"""The floors: what NumPy and SQLite take for the bare search, with nothing around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from memoryware.bench.speed.made import BEST, Made, Question
from memoryware.bench.speed.sides import (
    FREQUENT,
    PROMOTE,
    QUICK_PUT,
    VECTORS,
    WORDS,
    Ask,
    Place,
    Put,
    Side,
)

_FOUND: Final = (
    "SELECT memory.id, memory.text FROM words JOIN memory ON memory.id = words.rowid"
    " WHERE words MATCH :words"
)
_BEST: Final = " ORDER BY bm25(words) LIMIT :most"
_EVERYWHERE: Final = _FOUND + _BEST
_IN_ONE: Final = _FOUND + " AND owner = :owner" + _BEST


class NumPy(Side):
    """A matrix of 32-bit floats in memory; a group is a slice of it."""

    name: ClassVar[str] = "NumPy"
    keeps: ClassVar[bool] = False
    packages = ("numpy",)

    def __init__(self, made: Made, place: Place) -> None:
        super().__init__(made, place)
        self._matrix = made.numpy.empty((0, made.vectors.shape[1]), "f4")

    def load(self, numbers: range) -> None:
        rows = self.made.numpy.asarray(self.made.vectors[numbers.start : numbers.stop], "f4")
        if not len(self._matrix):
            self._matrix = self.made.numpy.empty((self.made.size, rows.shape[1]), "f4")
        self._matrix[numbers.start : numbers.stop] = rows

    def asks(self) -> Mapping[str, Ask]:
        return {VECTORS: self._vectors}

    def disk(self) -> int | None:
        return None

    def _vectors(self, question: Question, whole: bool) -> Any:
        np = self.made.numpy
        there = range(self.made.size) if whole else self.made.members(question.group)
        rows = self._matrix[there.start : there.stop]
        vector = np.asarray(question.vector, "f4")
        # one thread whatever else the machine does; older versions have only the product
        scores = np.vecdot(rows, vector) if hasattr(np, "vecdot") else rows @ vector
        most = min(BEST, len(scores))
        best = np.argpartition(-scores, most - 1)[:most]
        return there.start + best[np.argsort(-scores[best])]


class SQLite(Side):
    """A table of texts and vectors, and an FTS5 index of the words, in a file with a log."""

    name: ClassVar[str] = "SQLite"

    def __init__(self, made: Made, place: Place) -> None:
        import sqlite3

        super().__init__(made, place)
        place.folder.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(place.folder / "floor.db", isolation_level=None)
        self._db.executescript(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
            " CREATE TABLE IF NOT EXISTS memory"
            " (id INTEGER PRIMARY KEY, owner INTEGER, text TEXT, vector BLOB);"
            " CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(text, content='memory',"
            " content_rowid='id');"
        )

    def load(self, numbers: range) -> None:
        self._db.execute("BEGIN")
        for number in numbers:
            self._add(number)
        self._db.execute("COMMIT")

    def asks(self) -> Mapping[str, Ask]:
        return {
            WORDS: lambda question, whole: self._words(question, question.words, whole),
            FREQUENT: lambda question, whole: self._words(question, question.frequent, whole),
        }

    def puts(self) -> Mapping[str, Put]:
        return {PROMOTE: self._flushed, QUICK_PUT: self._unflushed}

    def close(self) -> None:
        self._db.close()

    def numbers(self, answer: Any) -> list[int]:
        return [number for number, _ in answer]

    def _words(self, question: Question, words: Sequence[str], whole: bool) -> Any:
        asked = {"words": " OR ".join(words), "owner": question.group, "most": BEST}
        return self._db.execute(_EVERYWHERE if whole else _IN_ONE, asked).fetchall()

    def _add(self, number: int) -> None:
        text, vector = self.made.texts[number], self.made.vectors[number].tobytes()
        self._db.execute(
            "INSERT INTO memory VALUES (?, ?, ?, ?)",
            (number, self.made.group_of(number), text, vector),
        )
        self._db.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (number, text))

    def _one(self, number: int, flushed: str) -> None:
        self._db.execute(f"PRAGMA synchronous = {flushed}")
        self._db.execute("BEGIN")
        self._add(number)
        self._db.execute("COMMIT")

    def _flushed(self, number: int) -> None:
        self._one(number, "FULL")

    def _unflushed(self, number: int) -> None:
        self._one(number, "NORMAL")

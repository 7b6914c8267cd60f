"""Vectors that were made once, kept in a file for the next run."""

from __future__ import annotations

import hashlib
import sqlite3
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from memoryware.errors import SettingError

_FILE: Final = "vectors.db"
_PART: Final = 500
"""Texts that are looked for at once."""


class CachedEmbeddings:
    """An `Embeddings` object that remembers in a folder what another one has made.

    Vectors are kept by the name of their space, what the text is (a document or a query), and
    a digest of it, as floats of 32 bits. It serves one thread at a time.

    Raises:
        SettingError: If the folder cannot hold them.
    """

    def __init__(self, embeddings: Any, space: str, folder: Path) -> None:
        self._embeddings, self._space = embeddings, space
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = sqlite3.connect(folder / _FILE, check_same_thread=False, timeout=30)
            self._file.execute(
                "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL)"
                " WITHOUT ROWID"
            )
        except (OSError, sqlite3.Error) as error:
            raise SettingError(f"cache={str(folder)!r} cannot hold vectors: {error}") from None

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return a vector for each text."""
        return self._made("document", texts, self._embeddings.embed_documents)

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a query."""
        return self._made("query", [text], lambda some: map(self._embeddings.embed_query, some))[0]

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _made(self, kind: str, texts: Sequence[str], make: Callable[..., Any]) -> list[list[float]]:
        keys = {text: self._key(kind, text) for text in texts}
        there = self._there(list(keys.values()))
        missing = [text for text, key in keys.items() if key not in there]
        if missing:
            made = [array("f", one) for one in make(missing)]
            new = {keys[text]: one.tobytes() for text, one in zip(missing, made, strict=True)}
            with self._file:
                self._file.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", new.items())
            there |= new
        return [list(array("f", there[keys[text]])) for text in texts]

    def _there(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        for start in range(0, len(keys), _PART):
            some = keys[start : start + _PART]
            marks = ", ".join("?" * len(some))
            asked = f"SELECT key, vector FROM vectors WHERE key IN ({marks})"  # noqa: S608 - marks
            found.update(self._file.execute(asked, some).fetchall())
        return found

    def _key(self, kind: str, text: str) -> bytes:
        whole = f"{self._space}\0{kind}\0{text}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(whole, digest_size=16).digest()

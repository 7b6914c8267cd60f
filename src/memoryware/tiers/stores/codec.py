"""Records as JSON, and vectors as 16-bit floats: the codecs of all stores."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import fields
from datetime import datetime
from functools import cache
from operator import attrgetter
from typing import Any, Final, TypeVar

from memoryware._caching import clearable_cache
from memoryware.errors import EmbeddingMismatch
from memoryware.scope import MemoryScope
from memoryware.tiers.model import Entry, Memory, PendingPromotion, PromotionRecord, Verdict
from memoryware.tiers.provenance import Origin, Provenance
from memoryware.tiers.stores.protocol import Space, Vector

R = TypeVar("R", Entry, Memory)

# Records.


_TIMES: Final = frozenset(
    {"created_at", "decided_at", "expires_at", "valid_from", "valid_to", "promoted_at"}
)
_ORDERED: Final[Mapping[type, tuple[str, ...]]] = {
    kind: tuple(column.name for column in fields(kind))
    for kind in (Entry, Memory, PromotionRecord, MemoryScope, PendingPromotion, Verdict)
}
"""The names of what each kind has; to ask for them takes as long as to read a record."""
_NAMES: Final = {kind: frozenset(names) for kind, names in _ORDERED.items()}
_VALUES: Final = {kind: attrgetter(*_ORDERED[kind]) for kind in (Entry, Memory)}
_SETTERS: Final = {
    kind: tuple(getattr(kind, name).__set__ for name in _ORDERED[kind]) for kind in (Entry, Memory)
}
_SCOPE: Final = _ORDERED[MemoryScope]
_AS_THEY_ARE: Final = frozenset({str, int, float, bool})
_TUPLES: Final = frozenset(
    {"against", "duplicate_of", "echo_of", "memory_ids", "proposers", "replaces", "revocations"}
)
_MADE: Final = _TIMES | _TUPLES | {"further", "scope", "provenance", "verdict", "waits"}
"""What is something else than JSON has."""
_MANY: Final = _TUPLES | {"further", "metadata", "decided", "ungrouped"}
"""What is left out where it is empty."""
_JSON: Final = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"))


def copy_of(record: R) -> R:
    """Return an equal record that shares nothing mutable with the original.

    Args:
        record: An entry or a memory.

    Returns:
        A copy; the record itself if it has nothing mutable.
    """
    decided = getattr(record, "decided", None)  # of an entry
    if not record.metadata and not decided:
        return record
    # `dataclasses.replace` takes three times as long: it checks and sets thirty fields by name.
    kind = type(record)
    copy = object.__new__(kind)
    for set_value, value in zip(_SETTERS[kind], _VALUES[kind](record), strict=True):
        set_value(copy, value)
    if record.metadata:
        object.__setattr__(copy, "metadata", _copy_of_metadata(record.metadata))
    if decided:
        object.__setattr__(copy, "decided", dict(decided))
    return copy


def copies_of(records: Iterable[R]) -> list[R]:
    """Return equal records that share nothing mutable with the originals; see `copy_of`.

    Args:
        records: Entries or memories.

    Returns:
        Their copies, in the same order.
    """
    return [copy_of(record) for record in records]


def _copy_of_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value if type(value) in _AS_THEY_ARE else deepcopy(value)
        for name, value in metadata.items()
    }


def record_to_json(record: Entry | Memory) -> dict[str, Any]:
    """Encode a record as JSON values.

    Args:
        record: An entry or a memory.

    Returns:
        Its fields; those that are None, and most that are empty, are left out.
    """
    return {
        name: value if type(value) in _AS_THEY_ARE else _out(value)
        for name, value in _given(record)
    }


def record_to_text(record: Entry | Memory) -> str:
    """Encode a record as JSON text, without its content.

    Args:
        record: An entry or a memory.

    Returns:
        The JSON of what `record_to_json` returns, apart from `content`.
    """
    parts = []
    for name, value in _given(record):
        if name != "content":
            text = _TEXTS.get(type(value))
            parts.append(f'"{name}":{text(value) if text else _JSON.encode(_out(value))}')
    return f"{{{','.join(parts)}}}"


def _given(record: Entry | Memory) -> list[tuple[str, Any]]:
    """Return the values that are not left out, by their names."""
    kind = type(record)
    return [
        (name, value)
        for name, value in zip(_ORDERED[kind], _VALUES[kind](record), strict=True)
        if value is not None and (name not in _MANY or value)
    ]


def entry_from_json(data: Mapping[str, Any]) -> Entry:
    """Decode an entry.

    Args:
        data: What `record_to_json` returned; unknown keys are ignored.

    Returns:
        The entry.
    """
    return Entry(**_fields(Entry, data))


def memory_from_json(data: Mapping[str, Any]) -> Memory:
    """Decode a memory.

    Args:
        data: What `record_to_json` returned; unknown keys are ignored.

    Returns:
        The memory.
    """
    return Memory(**_fields(Memory, data))


def value_to_json(value: Any) -> Any:
    """Encode the value of one field.

    Args:
        value: The value of a field of an entry or a memory.

    Returns:
        A JSON value.
    """
    return value if type(value) in _AS_THEY_ARE else _out(value)


def value_from_json(name: str, value: Any) -> Any:
    """Decode the value of one field.

    Args:
        name: The name of the field.
        value: What `value_to_json` returned.

    Returns:
        The value.
    """
    return _in(name, value) if name in _MADE else value


def _out(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, MemoryScope):
        return {name: part for name in _SCOPE if (part := getattr(value, name)) is not None}
    if isinstance(value, Verdict | PromotionRecord | PendingPromotion):
        pairs = ((name, getattr(value, name)) for name in _ORDERED[type(value)])
        return {
            name: _out(part)
            for name, part in pairs
            if part is not None and part != () and (part or name != "removes")
        }
    if isinstance(value, Provenance):
        data = {"origin": str(value.origin), "roots": [str(root) for root in value.roots]}
        return {**data, "sources": list(value.sources)} if value.sources else data
    if isinstance(value, tuple):
        return [_out(item) for item in value]
    return dict(value) if isinstance(value, Mapping) else value


def _fields(
    kind: type[Entry | Memory | PromotionRecord | PendingPromotion], data: Mapping[str, Any]
) -> dict[str, Any]:
    names = _NAMES[kind]
    return {
        name: value if name not in _MADE else _in(name, value)
        for name, value in data.items()
        if name in names
    }


def _in(name: str, value: Any) -> Any:
    if name in _TIMES:
        return datetime.fromisoformat(value)
    if name in _TUPLES:
        return tuple(value)
    if name == "further":
        return tuple(PromotionRecord(**_fields(PromotionRecord, record)) for record in value)
    if name == "waits":
        return PendingPromotion(**_fields(PendingPromotion, value))
    if name == "scope":
        return _scope(*value.items())
    if name == "provenance":
        sources, roots = tuple(value.get("sources", ())), tuple(value.get("roots", ()))
        return _provenance(value["origin"], sources, roots)
    if name == "verdict":
        at = value.get("at")
        return Verdict(
            verified=bool(value["verified"]),
            confidence=float(value.get("confidence", 1.0)),
            issues=tuple(value.get("issues", ())),
            by=value.get("by", ""),
            at=datetime.fromisoformat(at) if at else None,
        )
    return value


# Many records have the same, and to check or to write it again takes longer than all the rest.


@clearable_cache(1024)
def _shared_text(value: MemoryScope | Provenance) -> str:
    return _JSON.encode(_out(value))


_TEXTS: Final[Mapping[type, Callable[[Any], str]]] = {
    str: _JSON.encode,
    int: str,
    datetime: lambda value: f'"{value.isoformat()}"',
    MemoryScope: _shared_text,
    Provenance: _shared_text,
}
"""How values of most kinds become JSON; all others take longer."""


@clearable_cache(1024)
def _scope(*pairs: tuple[str, str | None]) -> MemoryScope:
    names = _NAMES[MemoryScope]
    return MemoryScope(**{key: part for key, part in pairs if key in names})


@clearable_cache(1024)
def _provenance(origin: str, sources: tuple[str, ...], roots: tuple[str, ...]) -> Provenance:
    return Provenance(Origin.parse(origin), sources, tuple(map(Origin.parse, roots)))


# Vectors.


_MANY_VECTORS: Final = 4
"""Vectors from which on a matrix is quicker."""
_AT_ONCE: Final = 1024


def packed(vector: Vector, space: Space) -> bytes:
    """Pack a vector as 16-bit floats, normalised to length 1.

    Args:
        vector: The vector.
        space: Its embedding space.

    Returns:
        Two bytes for each number, little-endian.

    Raises:
        EmbeddingMismatch: If the vector does not have the dimension of its space.
    """
    if len(vector) != space.dimension:
        raise EmbeddingMismatch(str(space), f"a vector of {len(vector)} dimensions")
    numpy = _numpy()
    if numpy is not None and (data := _packed_row(numpy, vector)) is not None:
        return data
    return _packed_plainly(vector)


def _packed_row(numpy: Any, vector: Vector) -> bytes | None:
    """Return a vector as `_packed_by` packs it; None if its square leaves the range of floats."""
    row = numpy.asarray(vector, "f8")
    with numpy.errstate(over="ignore", invalid="ignore"):
        square = float(row.dot(row))
    if not _SMALL < square < _LARGE:
        return None
    data: bytes = (row / math.sqrt(square)).astype("<f2").tobytes()
    return data


_SMALL: Final = 1e-200
_LARGE: Final = 1e200


def _packed_plainly(vector: Vector) -> bytes:
    most = max(map(abs, vector), default=0) or 1.0  # so that the length is no infinity
    scaled = [number / most for number in vector]
    length = math.hypot(*scaled) or 1.0
    unit = [number / length for number in scaled]
    return struct.pack(f"<{len(unit)}e", *unit)


def packed_all(vectors: Sequence[Vector], space: Space) -> list[bytes]:
    """Pack many vectors as `packed` does, faster where NumPy is installed.

    Args:
        vectors: The vectors.
        space: Their embedding space.

    Returns:
        The packed vectors, in the same order.

    Raises:
        EmbeddingMismatch: If a vector does not have the dimension of its space.
    """
    numpy = _numpy()
    whole = all(len(vector) == space.dimension for vector in vectors)
    if numpy is None or not whole or len(vectors) < _MANY_VECTORS:
        return [packed(vector, space) for vector in vectors]
    packed_vectors: list[bytes] = []
    for start in range(0, len(vectors), _AT_ONCE):
        packed_vectors += _packed_by(numpy, vectors[start : start + _AT_ONCE], space)
    return packed_vectors


def _packed_by(numpy: Any, vectors: Sequence[Vector], space: Space) -> list[bytes]:
    matrix = numpy.array(vectors, "f8")
    most = numpy.abs(matrix).max(axis=1, initial=0, keepdims=True)
    if not numpy.isfinite(most).all():
        return [_packed_plainly(vector) for vector in vectors]
    matrix /= numpy.where(most == 0, 1, most)
    lengths = numpy.sqrt(numpy.einsum("ij,ij->i", matrix, matrix))[:, None]
    matrix /= numpy.where(lengths == 0, 1, lengths)
    data, step = matrix.astype("<f2").tobytes(), 2 * space.dimension
    return [data[start : start + step] for start in range(0, len(data), step)]


def unpacked(data: bytes) -> tuple[float, ...]:
    """Unpack a vector.

    Args:
        data: What `packed` returned.

    Returns:
        The numbers of the vector.
    """
    return struct.unpack(f"<{len(data) // 2}e", data)


def scores(query: bytes, vectors: Sequence[bytes]) -> list[float]:
    """Return the cosine of a query to each of many vectors.

    Args:
        query: The packed vector of the query.
        vectors: Packed vectors of the same space.

    Returns:
        A number from -1 to 1 for each vector; 0 where one has no length.
    """
    if not vectors:
        return []
    numpy = _numpy()
    if numpy is not None:
        matrix = numpy.frombuffer(b"".join(vectors), "<f2").astype("f4")
        matrix = matrix.reshape(len(vectors), -1)
        floats = numpy.frombuffer(query, "<f2").astype("f4")
        lengths = numpy.linalg.norm(matrix, axis=1) * numpy.linalg.norm(floats)
        products = (matrix @ floats) / numpy.where(lengths == 0, 1, lengths)
        return [float(product) for product in numpy.clip(products, -1, 1)]
    form = struct.Struct(f"<{len(query) // 2}e")
    floats = form.unpack(query)
    own = math.hypot(*floats)
    return [_cosine(floats, own, form.unpack(data)) for data in vectors]


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

"""The wire format of protocol buffers, as far as model files need it: fields of a message."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

VARINT: Final = 0
FIXED_64: Final = 1
BYTES: Final = 2
FIXED_32: Final = 5
_FIXED: Final = {FIXED_64: 8, FIXED_32: 4}


def fields_of(message: memoryview) -> Iterator[tuple[int, int | memoryview, memoryview]]:
    """Yield the fields of a message.

    Args:
        message: The serialized message.

    Yields:
        The number of the field, its value (a number for a varint, else the bytes), and the whole
        field as it is serialized, key included.

    Raises:
        ValueError: If it is not a message.
    """
    at = 0
    while at < len(message):
        start = at
        key, at = _varint(message, at)
        kind = key & 7
        value: int | memoryview
        if kind == VARINT:
            value, at = _varint(message, at)
        else:
            if kind == BYTES:
                size, at = _varint(message, at)
            elif kind in _FIXED:
                size = _FIXED[kind]
            else:
                raise ValueError(f"no such wire type: {kind}")
            value = message[at : at + size]
            at += size
        yield key >> 3, value, message[start:at]


def field(number: int, content: bytes) -> bytes:
    """Serialize a field that has a length: a text, bytes or a message.

    Args:
        number: The number of the field.
        content: Its bytes.

    Returns:
        The field, key included.
    """
    return _number(number << 3 | BYTES) + _number(len(content)) + content


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    """Return the number that starts at a position, and the position after it."""
    number = shift = 0
    while True:
        if at >= len(message):
            raise ValueError("a message ends inside a number")
        byte = message[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at
        shift += 7


def _number(value: int) -> bytes:
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)

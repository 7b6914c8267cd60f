"""Read JSON that people or other programs wrote, and say what is wrong with it.

Python's reader takes the last of two keys, ends in a `RecursionError` for deep nesting and in a
`ValueError` of its own for long numbers, and accepts `NaN`.
"""

from __future__ import annotations

import json
import math
from typing import Any, Final

_MOST_DIGITS: Final = 300
"""Digits of a number; a float has no more than 309 before its point."""
_DEEPEST: Final = 200
"""Objects and lists inside each other."""
_SHOWN: Final = 60
"""Characters of a key in a message."""


class JsonInvalid(ValueError):
    """A text that is no JSON, or JSON that cannot be what somebody meant.

    Attributes:
        problem: What is wrong, without the line.
        line: The line, counted from 1; None where it is not known.
        column: The column, counted from 1; None where it is not known.
    """

    def __init__(self, problem: str, line: int | None = None, column: int | None = None) -> None:
        position = "" if line is None else f"line {line}" + (f", column {column}" if column else "")
        super().__init__(f"{position}: {problem}" if position else problem)
        self.problem, self.line, self.column = problem, line, column


def parse_json(text: str | bytes, *, deepest: int | None = _DEEPEST) -> Any:
    """Return the value of a JSON text.

    Args:
        text: The text; bytes are UTF-8, with or without a mark of the byte order.
        deepest: Objects and lists that may be inside each other; None for as many as Python reads.

    Raises:
        JsonInvalid: For invalid JSON, a key that stands twice in one object, a number with too
            many digits or too large for a float, `NaN` and infinity, and for nesting that is
            too deep.
        UnicodeDecodeError: If bytes are not UTF-8.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8-sig")
    try:
        value = decoder().decode(text)
    except json.JSONDecodeError as error:
        raise JsonInvalid(f"not valid JSON ({error.msg})", error.lineno, error.colno) from None
    except RecursionError:
        raise JsonInvalid(_TOO_DEEP) from None
    except JsonInvalid as error:
        raise JsonInvalid(error.problem, _line_of(text, error)) from None
    if deepest is not None and not _fits(value, deepest):
        raise JsonInvalid(_TOO_DEEP)
    return value


def decoder() -> json.JSONDecoder:
    """Return a decoder with the same checks, but for the depth; it raises `JsonInvalid`."""
    return json.JSONDecoder(
        object_pairs_hook=_each_key_once,
        parse_int=_whole,
        parse_float=_fraction,
        parse_constant=_no_constant,
    )


_TOO_DEEP: Final = "objects or lists are nested too deep"


class _Found(JsonInvalid):
    """A problem and the text by which its line can be found."""

    def __init__(self, problem: str, literal: str, *, last: bool = False) -> None:
        super().__init__(problem)
        self.literal, self.last = literal, last


def _line_of(text: str, error: JsonInvalid) -> int | None:
    if not isinstance(error, _Found):
        return None
    position = text.rfind(error.literal) if error.last else text.find(error.literal)
    return text.count("\n", 0, position) + 1 if position >= 0 else None


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        keys: set[str] = set()
        for key, _ in pairs:
            if key in keys:
                shown = key if len(key) <= _SHOWN else key[:_SHOWN] + "…"
                problem = f"the key {shown!r} is there twice; keep one of them"
                raise _Found(problem, json.dumps(key, ensure_ascii=False), last=True)
            keys.add(key)
    return values


def _whole(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise _Found(f"a number has {len(digits.lstrip('-'))} digits; write a smaller one", digits)
    return int(digits)


def _fraction(digits: str) -> float:
    if len(digits) > _MOST_DIGITS:
        raise _Found(f"a number has {len(digits)} characters; write it shorter", digits)
    value = float(digits)
    if math.isinf(value):
        raise _Found(f"the number {digits} is too large", digits)
    return value


def _no_constant(name: str) -> Any:
    raise _Found(f"{name} is no number of JSON", name)


def _fits(value: Any, deepest: int) -> bool:
    level = [value]
    for _ in range(deepest + 1):
        level = [
            inner
            for item in level
            if isinstance(item, dict | list)
            for inner in (item.values() if isinstance(item, dict) else item)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return True
    return False

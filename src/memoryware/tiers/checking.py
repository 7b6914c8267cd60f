"""What callers pass, held against what it must be. The messages say what to pass instead.

A message names a number or a choice that is wrong; of a text it has only what it is called,
because nobody knows what stands in it.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from memoryware.errors import SettingError


def text(name: str, value: Any, *, or_none: bool = False) -> None:
    """Let a text pass.

    Raises:
        SettingError: For anything else.
    """
    if isinstance(value, str) or (or_none and value is None):
        return
    raise SettingError(
        f"{name}: must be text{' or None' if or_none else ''}, and this is {_type(value)}"
    )


def texts(name: str, value: Any) -> tuple[str, ...]:
    """Return a list of texts, which one text is not.

    Raises:
        SettingError: For anything else.
    """
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise SettingError(f"{name}: must be a list of texts, even for one; not {_type(value)}")
    items = tuple(value)
    for item in items:
        if not isinstance(item, str):
            raise SettingError(f"{name}: must be a list of texts, and one is {_type(item)}")
    return items


def mapping(name: str, value: Any) -> None:
    """Let a mapping or None pass.

    Raises:
        SettingError: For anything else.
    """
    if not isinstance(value, Mapping | None):
        raise SettingError(f"{name}: must be a mapping, and this is {_type(value)}")


def whole(name: str, value: Any, least: int = 0) -> int:
    """Return a whole number.

    Raises:
        SettingError: For anything else, and below the least.
    """
    good = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not good or value < least:
        raise SettingError(f"{name}={shown(value)}: must be a whole number of at least {least}")
    return int(value)


def number(name: str, value: Any, low: float, high: float = math.inf) -> float:
    """Return a finite number of any kind, such as one of numpy.

    Raises:
        SettingError: For anything else, and outside of the range.
    """
    good = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not good or not math.isfinite(value) or not low <= value <= high:
        upper = "" if high == math.inf else f" and at most {high:g}"
        raise SettingError(
            f"{name}={shown(value)}: must be a finite number of at least {low:g}{upper}"
        )
    return float(value)


def moment(name: str, value: Any) -> None:
    """Let a time with a zone pass.

    Raises:
        SettingError: For anything else.
    """
    if not isinstance(value, datetime):
        raise SettingError(f"{name}: must be a datetime, and this is {_type(value)}")
    if value.utcoffset() is None:
        raise SettingError(
            f"{name}={value!r}: must have a time zone, such as datetime(2025, 1, 1, tzinfo=UTC)"
        )
    try:
        value.astimezone(UTC)
    except OverflowError:
        raise SettingError(
            f"{name}={value!r}: must be a moment that UTC has as well, from year 1 to 9999"
        ) from None


def choice(name: str, value: Any, possible: Collection[str]) -> None:
    """Let one of a few words pass.

    Raises:
        SettingError: For anything else.
    """
    if not isinstance(value, str) or value not in possible:
        raise SettingError(f"{name}={shown(value)}: must be one of {_listed(possible)}")


def choices(name: str, value: Any, possible: Collection[str]) -> tuple[Any, ...]:
    """Return some of a few words; one text is no list of words.

    Raises:
        SettingError: For anything else.
    """
    if isinstance(value, str) and value in possible:
        raise SettingError(f"{name}={value!r}: must be a list, even for one: ({value!r},)")
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise SettingError(f"{name}={shown(value)}: must be a list of {_listed(possible)}")
    items = tuple(value)
    for item in items:
        if not isinstance(item, str) or item not in possible:
            raise SettingError(f"{name}: {shown(item)} is none of {_listed(possible)}")
    return items


def instance(name: str, value: Any, kinds: tuple[type, ...]) -> None:
    """Let a value of one of these types pass.

    Raises:
        SettingError: For anything else.
    """
    if not isinstance(value, kinds):
        names = ", ".join("None" if kind is type(None) else kind.__name__ for kind in kinds)
        raise SettingError(f"{name}: must be one of {names}, and this is {_type(value)}")


def several(name: str, value: Any) -> list[Any]:
    """Return the items of a list of texts or records.

    Raises:
        SettingError: If it is a single text, which would be taken apart, or no list.
    """
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise SettingError(f"{name}: must be a list, even for one; not {_type(value)}")
    return list(value)


def _listed(possible: Collection[str]) -> str:
    return ", ".join(map(repr, possible))


def _type(value: Any) -> str:
    return "None" if value is None else type(value).__name__


def shown(value: Any) -> str:
    """Return a wrong value for a message: numbers and short words, of others the type."""
    text = repr(value) if isinstance(value, str | int | float | None) else _type(value)
    return text if len(text) <= 40 else _type(value)

"""Validate values that callers pass. The messages say what to pass instead.

A message quotes a wrong number or choice; of a text it only has the name of the option, because
a text may be a secret.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from memoryware.errors import SettingError


def text(name: str, value: Any, *, or_none: bool = False) -> None:
    """Require a text.

    Args:
        name: The option, as the message names it.
        value: What the caller passed.
        or_none: Whether None is allowed as well.

    Raises:
        SettingError: For anything else.
    """
    if isinstance(value, str) or (or_none and value is None):
        return
    raise SettingError(
        f"{name}: must be text{' or None' if or_none else ''}, and this is {_type(value)}"
    )


def texts(name: str, value: Any) -> tuple[str, ...]:
    """Require a list of texts; a single text is refused.

    Args:
        name: The option, as the message names it.
        value: What the caller passed.

    Returns:
        The texts.

    Raises:
        SettingError: For anything else.
    """
    # A text is iterable as well: "abc" would silently become three texts.
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise SettingError(f"{name}: must be a list of texts, even for one; not {_type(value)}")
    items = tuple(value)
    for item in items:
        if not isinstance(item, str):
            raise SettingError(f"{name}: must be a list of texts, and one is {_type(item)}")
    return items


def mapping(name: str, value: Any) -> None:
    """Require a mapping or None.

    Args:
        name: The option, as the message names it.
        value: What the caller passed.

    Raises:
        SettingError: For anything else.
    """
    if not isinstance(value, Mapping | None):
        raise SettingError(f"{name}: must be a mapping, and this is {_type(value)}")


def whole(name: str, value: Any, least: int = 0) -> int:
    """Require a whole number.

    Args:
        name: The option, as the message names it.
        value: What the caller passed.
        least: The least number that is allowed.

    Returns:
        The number as an `int`.

    Raises:
        SettingError: For anything else, and for a number below `least`.
    """
    # `bool` is a subclass of `int`, and NumPy integers are not `int`.
    good = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not good or value < least:
        raise SettingError(f"{name}={shown(value)}: must be a whole number of at least {least}")
    return int(value)


def number(name: str, value: Any, low: float, high: float = math.inf) -> float:
    """Require a finite number of any type, such as one of NumPy.

    Args:
        name: The option, as the message names it.
        value: What the caller passed.
        low: The least number that is allowed.
        high: The largest number that is allowed.

    Returns:
        The number as a `float`.

    Raises:
        SettingError: For anything else, and outside of the range.
    """
    # NaN compares false with everything, so a limit of NaN would silently let all values pass.
    good = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not good or not math.isfinite(value) or not low <= value <= high:
        upper = "" if high == math.inf else f" and at most {high:g}"
        raise SettingError(
            f"{name}={shown(value)}: must be a finite number of at least {low:g}{upper}"
        )
    return float(value)


def moment(name: str, value: Any) -> None:
    """Require a datetime with a time zone.

    Args:
        name: The option, as the message names it.
        value: What the caller passed.

    Raises:
        SettingError: For anything else.
    """
    if not isinstance(value, datetime):
        raise SettingError(f"{name}: must be a datetime, and this is {_type(value)}")
    if value.utcoffset() is None:
        raise SettingError(
            f"{name}={value!r}: must have a time zone, such as datetime(2025, 1, 1, tzinfo=UTC)"
        )
    # `datetime.max` in a zone west of Greenwich is past the year 9999 in UTC.
    try:
        value.astimezone(UTC)
    except OverflowError:
        raise SettingError(
            f"{name}={value!r}: must be a moment that UTC has as well, from year 1 to 9999"
        ) from None


def choice(name: str, value: Any, possible: Collection[str]) -> None:
    """Require one of a few words.

    Args:
        name: The option, as the message names it.
        value: What the caller passed.
        possible: The words that are allowed.

    Raises:
        SettingError: For anything else.
    """
    if not isinstance(value, str) or value not in possible:
        raise SettingError(f"{name}={shown(value)}: must be one of {_listed(possible)}")


def choices(name: str, value: Any, possible: Collection[str]) -> tuple[Any, ...]:
    """Require a list of words, each of them allowed; a single text is refused.

    Args:
        name: The option, as the message names it.
        value: What the caller passed.
        possible: The words that are allowed.

    Returns:
        The words.

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
            raise SettingError(f"{name}: {shown(item)} is not one of {_listed(possible)}")
    return items


def instance(name: str, value: Any, kinds: tuple[type, ...]) -> None:
    """Require a value of one of several types.

    Args:
        name: The option, as the message names it.
        value: What the caller passed.
        kinds: The types.

    Raises:
        SettingError: For anything else.
    """
    if not isinstance(value, kinds):
        names = ", ".join("None" if kind is type(None) else kind.__name__ for kind in kinds)
        raise SettingError(f"{name}: must be one of {names}, and this is {_type(value)}")


def several(name: str, value: Any) -> list[Any]:
    """Require a list of texts or records.

    Args:
        name: The option, as the message names it.
        value: What the caller passed.

    Returns:
        The items.

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
    """Return a wrong value as a message may show it.

    Args:
        value: What the caller passed.

    Returns:
        Numbers and short words as they are; of anything else the name of its type, because nobody
        knows what a text contains.
    """
    text = repr(value) if isinstance(value, str | int | float | None) else _type(value)
    return text if len(text) <= 40 else _type(value)

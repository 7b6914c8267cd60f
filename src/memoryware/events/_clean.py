"""What may stand in an event: known keys, and short plain values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from memoryware.events.facts import LISTS, OWN_KEYS, EventName

LONGEST_FACT: Final = 1000
"""Characters of one text in an event; a path that a model has made up may be longer."""
CODE: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
"""What a code looks like. Another text may be the message of a foreign backend."""


def whole(event: EventName, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return exactly the keys that an event has, with plain values.

    A key that it does not have is left out, so that no text gets in by mistake; one that is
    missing is an empty list or None.
    """
    return {key: cleaned(key, facts.get(key)) for key in OWN_KEYS[event]}


def cleaned(key: str, value: Any) -> Any:
    """Return a value as it may stand in an event."""
    if key in LISTS:
        return [_plain(key, one) for one in value or ()]
    return _plain(key, value)


def _plain(key: str, value: Any) -> Any:
    if isinstance(value, str):
        if key == "codes" and not CODE.fullmatch(value):
            return "other"
        return value[:LONGEST_FACT]
    return value if isinstance(value, int | float) else None

"""Says what is wrong with an event, by the types that its class promises."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from memoryware.events.facts import KINDS


def faults_of(event: Any) -> list[str]:
    """Return the keys that are missing, too many or hold another kind of value."""
    kind = KINDS.get(event.get("event"))
    if kind is None:
        return [f"no such event: {event}"]
    wanted = get_type_hints(kind)
    optional = kind.__optional_keys__
    name = event["event"]
    return [
        *(
            f"{name}: {key} is missing"
            for key in wanted
            if key not in event and key not in optional
        ),
        *(f"{name}: {key} is not among its keys" for key in event if key not in wanted),
        *(
            f"{name}: {key}={value!r} is no {wanted[key]}"
            for key, value in event.items()
            if key in wanted and not fits(value, wanted[key])
        ),
    ]


def fits(value: Any, kind: Any) -> bool:
    """Say whether a value is of a kind, down to what a list or dictionary holds."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return value in inner
    if origin in (Union, UnionType):
        return any(fits(value, one) for one in inner)
    if origin is list:
        return type(value) is list and all(fits(one, inner[0]) for one in value)
    if origin is dict:
        return type(value) is dict and all(
            fits(key, inner[0]) and fits(one, inner[1]) for key, one in value.items()
        )
    if kind is float:
        return type(value) in (int, float)
    return type(value) is (NoneType if kind is None else kind)

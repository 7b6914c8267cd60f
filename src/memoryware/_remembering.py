"""What a process remembers of texts, so that it need not be worked out again."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")
_forgets: list[Callable[[], None]] = []


def remembered(most: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Remember the last answers of a function of a text, a word or a name.

    Whatever is remembered by what somebody has stored is remembered with this and with no
    other cache, because `forget` must leave nothing of it in the process.

    Args:
        most: How many answers are kept.
    """

    def remembering(function: Callable[P, T]) -> Callable[P, T]:
        cached = lru_cache(maxsize=most)(function)
        _forgets.append(cached.cache_clear)
        return cast("Callable[P, T]", cached)

    return remembering


def also_forget(forget: Callable[[], None]) -> None:
    """Call this as well when everything that is remembered is dropped."""
    _forgets.append(forget)


def forget_all() -> None:
    """Drop everything that is remembered; it is worked out again when it is asked for."""
    for forgets in _forgets:
        forgets()

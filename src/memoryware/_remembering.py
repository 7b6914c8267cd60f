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


class RememberedWords(dict[str, T]):
    """What a function returns for words; looked up in a third of the time of `remembered`.

    It costs no call where its `__getitem__` is mapped over words. When it is full it starts anew.

    Args:
        function: A function of a word.
        most: How many words are kept.
    """

    def __init__(self, function: Callable[[str], T], most: int) -> None:
        super().__init__()
        self._function, self._most = function, most
        _forgets.append(self.clear)

    def __missing__(self, word: str) -> T:
        if len(self) >= self._most:
            self.clear()
        value = self[word] = self._function(word)
        return value


def forget_all() -> None:
    """Drop everything that is remembered; it is worked out again when it is asked for."""
    for forgets in _forgets:
        forgets()

"""Checking the options of file memory, and sorting them into what its parts need."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from langchain_core.messages.utils import count_tokens_approximately

from memoryware.backends._paths import normalise
from memoryware.errors import PathRefused, SettingError
from memoryware.middleware._block import SLOT
from memoryware.middleware._edit_memory import NAME
from memoryware.middleware._state import slug
from memoryware.settings import MemoryLimits

_CHOICES: Final = {
    "refresh": ("run", "call", "thread"),
    "on_error": ("raise", "warn"),
    "placement": ("append", "prepend"),
    "when_empty": ("prompt", "skip", None),
    "tools": ("auto", False),
}


def check_choices(**given: object) -> None:
    """Refuse an option whose value is not one of its choices.

    Raises:
        SettingError: Naming the option, the value and the choices.
    """
    for option, value in given.items():
        if value not in _CHOICES[option]:
            choices = ", ".join(repr(one) for one in _CHOICES[option])
            raise SettingError(f"{option}={value!r}: must be one of {choices}")


def check_template(template: object) -> None:
    """Refuse a template that has no place for the memory.

    Raises:
        TypeError: If it is neither text nor None.
        SettingError: If the slot is missing.
    """
    if template is None:
        return
    if not isinstance(template, str):
        raise TypeError(f"system_prompt must be text or None, not {type(template).__name__}")
    if SLOT not in template:
        raise SettingError(
            f"system_prompt must contain {SLOT}, the place where memory is put;"
            " pass None to load memory without showing it"
        )


def distinct(sources: Iterable[str | os.PathLike[str]]) -> list[str]:
    """Return the sources without those that spell an earlier one differently.

    Raises:
        SettingError: If it is one string, or holds something that is no path.
    """
    first: dict[str, str] = {}
    for path in paths_of("sources", sources):
        first.setdefault(identity(path), path)
    return list(first.values())


def paths_of(option: str, given: Any) -> list[str]:
    """Return a list option as texts.

    Raises:
        SettingError: If it is one string, or holds something that is no path.
    """
    if isinstance(given, str | bytes | os.PathLike) or not isinstance(given, Iterable):
        raise SettingError(f"{option}={given!r}: give a list of paths, such as ['/AGENTS.md']")
    paths = [os.fspath(one) if isinstance(one, os.PathLike) else one for one in given]
    wrong = [one for one in paths if not isinstance(one, str)]
    if wrong:
        raise SettingError(f"{option} holds {wrong[0]!r}: a path is a text such as '/AGENTS.md'")
    return paths


def check_guidelines(given: object) -> None:
    """Refuse guidelines that are neither a style nor a text.

    Raises:
        SettingError: Also for a single word, which is a misspelled style.
    """
    if given is None or given in ("balanced", "immediate"):
        return
    if not isinstance(given, str) or len(given.split()) == 1:
        raise SettingError(
            f"guidelines={given!r}: must be 'balanced', 'immediate', a text of your own, or None"
        )


def check_parts(name: object, count_tokens: object) -> None:
    """Refuse a name that is no text and a counter that cannot be called.

    Raises:
        SettingError: Naming the option.
    """
    if name is not None and not (isinstance(name, str) and name):
        raise SettingError(f"name={name!r}: must be a text that is not empty, or None")
    if count_tokens is not None and not callable(count_tokens):
        raise SettingError(f"count_tokens={count_tokens!r}: must be a function of a text")


def identity(path: str) -> str:
    """Return the normal spelling, or the path itself where only its backend can tell."""
    try:
        return normalise(path)
    except PathRefused:
        return path


def writable(sources: Sequence[str], chosen: Sequence[str] | None) -> list[str]:
    """Return which sources may be written.

    Raises:
        SettingError: If a chosen path is not a source.
    """
    if chosen is None:
        return list(sources)
    known = {identity(path): path for path in sources}
    wanted = paths_of("writable", chosen)
    stray = [path for path in wanted if identity(path) not in known]
    if stray:
        raise SettingError(f"writable={stray!r}: not among the sources {list(sources)!r}")
    return [known[identity(path)] for path in wanted]


def tool_name(name: str | None) -> str:
    """Return the name of the writing tool of a middleware with this name."""
    return NAME if name is None else f"{NAME}_{slug(name)}"


def with_max_tokens(limits: Any, max_tokens: Any) -> MemoryLimits:
    """Return the limits with this total, which one source alone may fill.

    Limits that were given keep their own share of one source, as far as it fits.

    Raises:
        SettingError: If it is not a whole number of at least 1, or the limits are none.
    """
    if limits is not None and not isinstance(limits, MemoryLimits):
        raise SettingError(f"limits={limits!r}: must be a MemoryLimits(...)")
    if max_tokens is None:
        return limits or MemoryLimits()
    if not isinstance(max_tokens, int) or isinstance(max_tokens, bool) or max_tokens < 1:
        raise SettingError(f"max_tokens={max_tokens!r}: must be a whole number of at least 1")
    if limits is None:
        return MemoryLimits(total_tokens=max_tokens, source_tokens=max_tokens)
    share = min(limits.source_tokens, max_tokens)
    return replace(limits, total_tokens=max_tokens, source_tokens=share)


def approximate_tokens(text: str) -> int:
    """Return langchain's approximate token count of a text."""
    return count_tokens_approximately([text])


def check(template: Any, guidelines: object, **choices: object) -> None:
    """Check a template, the guidelines and every option that has choices."""
    check_template(template)
    check_guidelines(guidelines)
    check_choices(**choices)

"""Checking the options of file memory, and sorting them into what its parts need."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from langchain_core.messages.utils import count_tokens_approximately

from memoryware.backends._paths import normalise
from memoryware.errors import PathRefused, SettingError
from memoryware.middleware._block import SLOT
from memoryware.middleware._edit_memory import NAME
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


def distinct(sources: Sequence[str]) -> list[str]:
    """Return the sources without those that spell an earlier one differently.

    Raises:
        SettingError: If it is one string, or holds something that is not text.
    """
    if isinstance(sources, str) or not all(isinstance(path, str) for path in sources):
        raise SettingError(f"sources must be a list of paths, not {sources!r}")
    first: dict[str, str] = {}
    for path in sources:
        first.setdefault(identity(path), path)
    return list(first.values())


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
    stray = [path for path in chosen if identity(path) not in known]
    if stray:
        raise SettingError(f"writable={stray!r}: not among the sources {list(sources)!r}")
    return [known[identity(path)] for path in chosen]


def tool_name(name: str | None) -> str:
    """Return the name of the writing tool of a middleware with this name."""
    return NAME if name is None else f"{NAME}_{re.sub(r'[^a-zA-Z0-9_-]', '_', name)}"[:64]


def with_max_tokens(limits: MemoryLimits | None, max_tokens: int | None) -> MemoryLimits:
    """Return the limits with the total, and the share of one source, brought down to it."""
    limits = limits or MemoryLimits()
    if max_tokens is None:
        return limits
    return replace(
        limits, total_tokens=max_tokens, source_tokens=min(limits.source_tokens, max_tokens)
    )


def approximate_tokens(text: str) -> int:
    """Return langchain's approximate token count of a text."""
    return count_tokens_approximately([text])


def check(template: Any, **choices: object) -> None:
    """Check a template and every option that has choices."""
    check_template(template)
    check_choices(**choices)

"""Checking the options of file memory, and sorting them into what its parts need."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Final

from langchain_core.messages.utils import count_tokens_approximately

from memoryware import _checking
from memoryware.errors import SettingError
from memoryware.guard import Guard
from memoryware.middleware._agent_state import slug
from memoryware.middleware._memory_prompt import SLOT
from memoryware.middleware._memory_tools import NAME
from memoryware.settings import MemoryLimits
from memoryware.sources.discovery import Layout, on_disk
from memoryware.sources.imports import Imports

USUAL_GUARD: Final = Guard()
_CHOICES: Final = {
    "refresh": ("run", "call", "thread"),
    "on_error": ("raise", "warn"),
    "placement": ("append", "prepend"),
    "when_empty": ("prompt", "skip", None),
    "tools": ("auto", False),
    "hidden_regions": ("marked", "all", None),
    "from_outside": ("ask", "refuse", "allow"),
}


def check_choices(**given: object) -> None:
    """Refuse an option whose value is not one of its choices.

    Raises:
        SettingError: Naming the option, the value and the choices.
    """
    for option, value in given.items():
        if not any(_is_choice(value, one) for one in _CHOICES[option]):
            choices = ", ".join(repr(one) for one in _CHOICES[option])
            raise SettingError(f"{option}={value!r}: must be one of {choices}")


def _is_choice(value: object, choice: object) -> bool:
    """Say whether a value is a choice; 0 is not False, although Python has them equal."""
    return value is choice or (
        isinstance(choice, str) and isinstance(value, str) and value == choice
    )


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


def check_parts(name: object, count_tokens: object, guard: object) -> None:
    """Refuse a name that is no text, a counter that cannot be called, a guard that is none.

    Raises:
        SettingError: Naming the option.
    """
    if name is not None and not (isinstance(name, str) and name):
        raise SettingError(f"name={name!r}: must be a text that is not empty, or None")
    _checking.check_function("count_tokens", count_tokens, or_none=True)
    if guard is not None and not isinstance(guard, Guard):
        raise SettingError(f"guard={guard!r}: must be a Guard(...), or None for none")


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


def ground(backend: Any, start: Any) -> tuple[Any, str]:
    """Return where "auto" looks: the given backend, or the disk, and the folder in it.

    Raises:
        SettingError: If the start cannot be a folder.
    """
    if not isinstance(start, str | os.PathLike):
        raise SettingError(f"start={start!r}: must be the path of a folder")
    return on_disk(start) if backend is None else (backend, os.fspath(start))


def layout(given: Any) -> Layout:
    """Return the layout that was given, or the usual one.

    Raises:
        SettingError: If it is none.
    """
    if given is not None and not isinstance(given, Layout):
        raise SettingError(f"layout={given!r}: must be a Layout(...)")
    return given or Layout()


def imports(given: Any) -> Imports | None:
    """Return how imports are expanded, None for not at all.

    Raises:
        SettingError: If it is neither a bool nor an `Imports`.
    """
    if isinstance(given, Imports) or given is False:
        return given or None
    if given is not True:
        raise SettingError(f"imports={given!r}: must be True, False or Imports(...)")
    return Imports()


def approximate_tokens(text: str) -> int:
    """Return langchain's approximate token count of a text."""
    return count_tokens_approximately([text])


def check(template: Any, guidelines: object, **choices: object) -> None:
    """Check a template, the guidelines and every option that has choices."""
    check_template(template)
    check_guidelines(guidelines)
    check_choices(**choices)


def tool_names(option: str, given: Any) -> frozenset[str]:
    """Return a list of names of tools.

    Raises:
        SettingError: If it is one text, or holds what is no name.
    """
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Collection):
        raise SettingError(f"{option}={given!r}: give a list of names, such as [{given!r}]")
    if not all(isinstance(name, str) and name for name in given):
        raise SettingError(f"{option}={given!r}: must be a list of names of tools")
    return frozenset(given)

"""Validate the options of memory middleware."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from langchain_core.messages.utils import count_tokens_approximately

from memoryware import _checking
from memoryware.errors import SettingError
from memoryware.guard import Guard
from memoryware.middleware._agent_state import slug
from memoryware.middleware._memory_prompt import SLOT
from memoryware.middleware._memory_tools import EDIT_MEMORY
from memoryware.settings import MemoryLimits
from memoryware.sources.discovery import on_disk
from memoryware.sources.imports import Imports
from memoryware.sources.layout import Layout

DEFAULT_GUARD: Final = Guard()


def check_choices(**options: tuple[object, Sequence[object]]) -> None:
    """Refuse an option whose value is not one of its choices.

    Args:
        options: By name, the value and what it may be.

    Raises:
        SettingError: Naming the option, the value and the choices.
    """
    for option, (value, choices) in options.items():
        if not any(_is_choice(value, choice) for choice in choices):
            listed = ", ".join(map(repr, choices))
            raise SettingError(f"{option}={value!r}: must be one of {listed}")


def _is_choice(value: object, choice: object) -> bool:
    """Return whether a value is a choice; 0 is not False, although Python has them equal."""
    return value is choice or (
        isinstance(choice, str) and isinstance(value, str) and value == choice
    )


def check_middleware_name(name: object) -> None:
    """Refuse the name of a middleware that is neither None nor a text with something in it.

    Raises:
        SettingError: Naming the option.
    """
    if name is not None and not (isinstance(name, str) and name):
        raise SettingError(f"name={name!r}: must be a text that is not empty, or None")


def approximate_tokens(text: str) -> int:
    """Return langchain's approximate token count of a text."""
    return count_tokens_approximately([text])


# File memory.


def check_template(template: object) -> None:
    """Refuse a template that has no slot for the memory.

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
            f"system_prompt must contain {SLOT}, the slot that memory is put into;"
            " pass None to load memory without showing it"
        )


def check_guidelines(guidelines: object) -> None:
    """Refuse guidelines that are neither a style nor a text.

    Raises:
        SettingError: Also for a single word, which is a misspelled style.
    """
    if guidelines is None or guidelines in ("balanced", "immediate"):
        return
    if not isinstance(guidelines, str) or len(guidelines.split()) == 1:
        raise SettingError(
            f"guidelines={guidelines!r}: must be 'balanced', 'immediate', a text of your own,"
            " or None"
        )


def edit_tool_name(name: str | None) -> str:
    """Return the name of the writing tool of a middleware with this name."""
    return EDIT_MEMORY if name is None else f"{EDIT_MEMORY}_{slug(name)}"


def limits_with_total(limits: Any, max_tokens: Any) -> MemoryLimits:
    """Return the limits with this total, which one source alone may fill.

    Limits that were passed as well keep their own share of one source, as far as it fits.

    Raises:
        SettingError: If it is not a whole number of at least 1, or `limits` is no `MemoryLimits`.
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


def discovery_start(backend: Any, start: Any) -> tuple[Any, str]:
    """Return where `sources="auto"` looks: the backend, or the disk, and the folder in it.

    Raises:
        SettingError: If the start cannot be a folder.
    """
    if not isinstance(start, str | os.PathLike):
        raise SettingError(f"start={start!r}: must be the path of a folder")
    return on_disk(start) if backend is None else (backend, os.fspath(start))


def layout_or_default(layout: Any) -> Layout:
    """Return the layout, by default the usual one.

    Raises:
        SettingError: If it is neither a `Layout` nor None.
    """
    _checking.check_instance("layout", layout, Layout)
    return layout or Layout()


def imports_or_none(imports: Any) -> Imports | None:
    """Return how imports are expanded, None for not at all.

    Raises:
        SettingError: If it is neither a bool nor an `Imports`.
    """
    if isinstance(imports, Imports) or imports is False:
        return imports or None
    if imports is not True:
        raise SettingError(f"imports={imports!r}: must be True, False or Imports(...)")
    return Imports()

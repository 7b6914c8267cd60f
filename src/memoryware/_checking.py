"""Checks of constructor options: a wrong kind is refused where it is given.

Python would take `strip_comments="no"` for true and find out about `path_separator=5` in the
middle of a run. Each check raises a `SettingError` that names the option and what it must be.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from memoryware.errors import SettingError

_SHOWN_AT_MOST: Final = 80
"""Characters of a wrong value in a message; it may be a whole file."""


def check_flags(**options: object) -> None:
    """Refuse what is neither True nor False."""
    for option, value in options.items():
        if not isinstance(value, bool):
            raise wrong(option, value, "True or False")


def check_text(option: str, value: object, *, or_none: bool = False) -> None:
    """Refuse what is not text."""
    if not isinstance(value, str) and not (or_none and value is None):
        raise wrong(option, value, "text or None" if or_none else "text")


def check_texts(option: str, value: Any, example: str, *, or_none: bool = True) -> None:
    """Refuse what is not a list of texts; one text is not, since its characters would be taken."""
    if value is None and or_none:
        return
    listed = isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)
    if not listed or isinstance(value, type):
        raise SettingError(f"{option}={shown(value)}: give a list of texts, such as [{example!r}]")
    for entry in value:
        if not isinstance(entry, str | os.PathLike):
            raise SettingError(
                f"{option} holds {shown(entry)}: give a list of texts, such as [{example!r}]"
            )


def checked_names(option: str, names: Collection[Any]) -> tuple[str, ...]:
    """Return an option that is a list of names.

    Raises:
        SettingError: If it is a single text, or has an entry that is no name.
    """
    if isinstance(names, str | bytes | Mapping) or not isinstance(names, Collection):
        raise SettingError(f"{option}={names!r}: give a list of names, such as [{names!r}]")
    if not all(isinstance(name, str) and name for name in names):
        raise SettingError(f"{option}={names!r}: must be a list of names")
    return tuple(names)


def checked_texts(option: str, value: Any, example: str) -> tuple[str, ...]:
    """Return an option that is a list of texts.

    Raises:
        SettingError: If it is a single text, or has an entry that is not text or is empty.
    """
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise SettingError(f"{option}={value!r}: give a list, such as [{example!r}]")
    texts = tuple(value)
    for text in texts:
        if not isinstance(text, str) or not text:
            raise SettingError(f"{option} holds {text!r}: it takes texts such as {example!r}")
    return texts


def check_function(option: str, value: object, *, or_none: bool = False) -> None:
    """Refuse what cannot be called, and a class, which is called by mistake."""
    if value is None and or_none:
        return
    if not callable(value) or isinstance(value, type):
        raise wrong(option, value, "a function or None" if or_none else "a function")


def check_instance(option: str, value: object, kind: type, *, or_none: bool = True) -> None:
    """Refuse what is not an instance of a class."""
    if not isinstance(value, kind) and not (or_none and value is None):
        raise wrong(option, value, f"a {kind.__name__}(...){' or None' if or_none else ''}")


def check_path(option: str, value: object) -> None:
    """Refuse what is not a path of the host."""
    if not isinstance(value, str | os.PathLike) or isinstance(os.fspath(value), bytes):
        raise wrong(option, value, "a path, as text or a Path")


def wrong(option: str, value: object, needed: str) -> SettingError:
    """Return the error for an option of a wrong kind."""
    return SettingError(f"{option}={shown(value)}: must be {needed}")


def shown(value: object) -> str:
    """Return a wrong value as it may be shown, cut where it is long."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - somebody else's __repr__ may raise anything
        text = f"a {type(value).__name__}"
    return text if len(text) <= _SHOWN_AT_MOST else f"{text[:_SHOWN_AT_MOST]}…"

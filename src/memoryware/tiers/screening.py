"""Secrets in what is to be stored: texts lose them, names and ids with one are refused."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Final

from memoryware._remembering import remembered
from memoryware.errors import SettingError
from memoryware.guard import Guard
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts
from memoryware.tiers.actors import Actor
from memoryware.tiers.records import Provenance, Verdict

_SHORT_TEXT: Final = 4_000
"""Characters of a text that is cached."""
_SCOPE_NAMES: Final = tuple(item.name for item in fields(MemoryScope))
_OURS: Final = re.compile(r"[0-9a-f]{32}")
"""An id that we have made."""


def refuse_secrets(parts: Parts, names: Iterable[tuple[str, str | None]]) -> None:
    """Let names and ids pass that have no secret in them.

    A text loses its secret and is still a text; a name without a part of it is another name,
    so that it is refused. Personal data is no secret here: people are known by it.

    Args:
        parts: With the guard that knows what a secret is.
        names: Each name after what it is called in the message; None is none.

    Raises:
        SettingError: For a secret. The message has its kind and not the secret.
    """
    if parts.guard is None:
        return
    guard = replace(parts.guard, personal=()) if parts.guard.personal else parts.guard
    for name, what in {value: what for what, value in names if value}.items():
        try:
            (_look if guard.detectors else _look_once)(guard, name)
        except _SecretFound as found:
            raise SettingError(
                f"{what}: has a secret in it ({found}), and memory keeps none; use another name,"
                " or let it pass with Guard(allow=[...])"
            ) from None


def has_secrets(guard: Guard, text: str) -> bool:
    """Return whether a text has secrets; a text that had none lately is not scanned again.

    Args:
        guard: Finds secrets.
        text: The text.
    """
    # Detectors of the application may answer differently the next time.
    if guard.detectors or len(text) > _SHORT_TEXT:
        return bool(guard.scan(text))
    try:
        _scan_once(guard, text)
    except _SecretFound:
        return True
    return False


def redact_text(guard: Guard, text: str) -> str:
    """Return a text without secrets; a text that had none lately is not scanned again.

    Args:
        guard: Finds secrets.
        text: The text.
    """
    return guard.redact(text) if has_secrets(guard, text) else text


class _SecretFound(Exception):
    """Says of what kind it is."""


def _look(guard: Guard, name: str) -> None:
    # "auth0|5f7c..." is how identity providers write a user, and no row of a table.
    found = guard.scan(name.replace("|", "/"))
    if found:
        raise _SecretFound(", ".join(dict.fromkeys(one.kind for one in found)))


_look_once = remembered(4096)(_look)
"""The same, for names that come again and again; only those without a secret are kept in mind."""


def _scan(guard: Guard, text: str) -> None:
    if guard.scan(text):
        raise _SecretFound


_scan_once: Final = remembered(1024)(_scan)
"""The same with a cache, which keeps texts without secrets only: an exception is not cached."""


def named(parts: Parts, by: str) -> str:
    """Return who does something, if they have a name that can be kept.

    Raises:
        SettingError: If not.
    """
    refuse_secrets(parts, [("by", Actor.of(by).name)])
    return by


def owner(parts: Parts, scope: MemoryScope) -> MemoryScope:
    """Return a scope whose names can be kept.

    Raises:
        SettingError: For a secret in one.
    """
    refuse_secrets(parts, [(name, getattr(scope, name)) for name in _SCOPE_NAMES])
    return scope


def lineage(parts: Parts, provenance: Provenance) -> Provenance:
    """Return a provenance whose names can be kept.

    Raises:
        SettingError: For a secret in one.
    """
    names = [(f"the name of an origin ({one.kind})", one.name) for one in provenance.roots]
    names += [("a source", one) for one in provenance.sources if not _OURS.fullmatch(one)]
    refuse_secrets(parts, names)
    return provenance


def without_secrets(parts: Parts, verdict: Verdict) -> Verdict:
    """Return a verdict whose issues have lost their secrets.

    Raises:
        SettingError: For a secret in the name of who checked.
    """
    refuse_secrets(parts, [("by", verdict.by)])
    return replace(verdict, issues=tuple(map(parts.redacted, verdict.issues)))

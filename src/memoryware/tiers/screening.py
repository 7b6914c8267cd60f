"""Screen records for secrets before they are stored: redact texts, refuse names and ids."""

from __future__ import annotations

import logging
import math
import numbers
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from decimal import Decimal
from typing import Any, Final

from memoryware._caching import clearable_cache
from memoryware.errors import EntryRefused, SettingError
from memoryware.guard import Guard
from memoryware.scope import MemoryScope
from memoryware.tiers import checking
from memoryware.tiers._parts import Parts, scope_of
from memoryware.tiers.actors import DecisionActor
from memoryware.tiers.model import Verdict, plain
from memoryware.tiers.provenance import Provenance
from memoryware.tiers.values import Insight

logger = logging.getLogger(__name__)

_MAX_DEPTH: Final = 50
"""Levels of nested metadata."""
_MAX_INT: Final = 2**63
"""Longer integers go through JSON, which refuses those with thousands of digits."""
_SHORT_TEXT: Final = 4_000
"""Characters of a text that is cached."""
_SCOPE_NAMES: Final = tuple(item.name for item in fields(MemoryScope))
_OURS: Final = re.compile(r"[0-9a-f]{32}")
"""An id that this library has generated."""


def refuse_secrets(parts: Parts, names: Iterable[tuple[str, str | None]]) -> None:
    """Let names and ids pass that have no secret in them.

    A text loses its secret and is still a text; a name without a part of it is another name,
    so that it is refused. Personal data is no secret here: people are known by it.

    Args:
        parts: With the guard that knows what a secret is.
        names: Pairs of a label for the message and a name; None is skipped.

    Raises:
        SettingError: For a secret. The message has its kind and not the secret.
    """
    if parts.guard is None:
        return
    guard = parts.guard
    for name, label in {value: label for label, value in names if value}.items():
        try:
            (_scan_name if guard.detectors else _scan_name_once)(guard, name)
        except _SecretFound as secret:
            raise SettingError(
                f"{label}: has a secret in it ({secret}), and memory keeps none; use another name,"
                " or let it pass with Guard(allow=[...])"
            ) from None


def has_secrets(guard: Guard, text: str) -> bool:
    """Return whether a text has secrets; a text without any is scanned once and then cached.

    Args:
        guard: Finds secrets.
        text: The text.

    Returns:
        Whether it has.
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

    Returns:
        The text with a mark in place of each secret.
    """
    return guard.redact(text) if has_secrets(guard, text) else text


def without_secrets(guard: Guard | None, text: str) -> str:
    """Return a text without secrets, and log the kinds of secrets that it had.

    Args:
        guard: Finds secrets; None looks for none.
        text: The text.

    Returns:
        The text.
    """
    if guard is None or not has_secrets(guard, text):
        return text
    findings = guard.describe(guard.scan(text))
    logger.warning("secrets were cut out of a text before it was kept: %s", findings)
    return guard.redact(text)


def mended(text: str) -> str:
    """Return a text that UTF-8 can encode: surrogates are joined or replaced.

    Args:
        text: A text, perhaps with lone surrogates.

    Returns:
        The text.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return str(text)


def redacted(guard: Guard | None, metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a copy of metadata that can be stored: valid JSON without secrets.

    Values that JSON cannot hold are dropped with a warning.

    Args:
        guard: Finds secrets; None looks for none.
        metadata: The metadata; None is an empty mapping.

    Returns:
        A new dictionary.

    Raises:
        SettingError: If the metadata are no mapping.
    """
    if type(metadata) is not dict:
        checking.mapping("metadata", metadata)
    plain_values: dict[str, Any] = {}
    for name, value in dict[Any, Any](metadata or {}).items():
        try:
            if type(name) is str and name.isascii() and _is_plain(value):
                plain_values[name] = value
            else:
                plain_values |= plain({name: _as_float(value) if name == "confidence" else value})
        except Exception as error:  # noqa: BLE001 - objects of the application may raise anything
            label = _free_key(guard, name, {}) if isinstance(name, str) else type(name).__name__
            logger.warning("metadata %r was not kept: %s", label, type(error).__name__)
    cleaned: dict[str, Any] = _clean(guard, "", plain_values)
    return cleaned


def _is_plain(value: Any) -> bool:
    """Return whether JSON keeps a value as it is, which is so for nearly all metadata."""
    kind = type(value)
    if kind is str:
        return bool(value.isascii())
    if kind is float:
        return math.isfinite(value)
    return kind is bool or value is None or (kind is int and -_MAX_INT < value < _MAX_INT)


def _as_float(value: Any) -> Any:
    """Return a number of another type, such as NumPy's, as one that JSON has."""
    is_foreign = isinstance(value, numbers.Real | Decimal) and not isinstance(value, int | float)
    return float(value) if is_foreign else value


def _clean(guard: Guard | None, name: str, value: Any, depth: int = 0) -> Any:
    # Metadata comes from applications: nested without end it would exhaust the stack.
    if depth > _MAX_DEPTH:
        return "..."
    if isinstance(value, dict):
        cleaned: dict[str, Any] = {}
        for key, item in value.items():
            cleaned[_free_key(guard, key, cleaned)] = _clean(guard, key, item, depth + 1)
        return cleaned
    if isinstance(value, list):
        return [_clean(guard, name, item, depth + 1) for item in value]
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return value
    text = mended(value) if isinstance(value, str) else str(value)
    if guard is None:
        return text if isinstance(value, str) else value
    # A password is recognised by its name.
    prefix = f"{redact_text(guard, mended(name))}="
    clean = redact_text(guard, prefix + text).removeprefix(prefix)
    return value if clean == text and not isinstance(value, str) else clean


def _free_key(guard: Guard | None, key: str, used: Mapping[str, Any]) -> str:
    """Return a key without secrets that no other value has."""
    clean = mended(key) if guard is None else redact_text(guard, mended(key))
    number, free = 1, clean
    while free in used:
        number += 1
        free = f"{clean} ({number})"
    return free


class _SecretFound(Exception):
    """Carries the kinds of secrets."""


def _scan_name(guard: Guard, name: str) -> None:
    findings = guard.scan_name(name)
    if findings:
        raise _SecretFound(", ".join(dict.fromkeys(finding.kind for finding in findings)))


_scan_name_once = clearable_cache(4096)(_scan_name)
"""The same, for names that come again and again; only those without a secret are kept in mind."""


def _scan(guard: Guard, text: str) -> None:
    if guard.scan(text):
        raise _SecretFound


_scan_once: Final = clearable_cache(1024)(_scan)
"""The same with a cache, which keeps texts without secrets only: an exception is not cached."""


def named(parts: Parts, by: str) -> str:
    """Require a name for who acts, without a secret in it.

    Args:
        parts: The stores and the rules of the memory.
        by: The name.

    Returns:
        The name as it was passed.

    Raises:
        SettingError: If it is blank, or has a secret.
    """
    refuse_secrets(parts, [("by", DecisionActor.of(by).name)])
    return by


def owner(parts: Parts, scope: MemoryScope | str) -> MemoryScope:
    """Require a scope without secrets in its names; a text is read as its group.

    Args:
        parts: The stores and the rules of the memory.
        scope: The scope.

    Returns:
        The scope.

    Raises:
        SettingError: For a secret in one.
    """
    if not isinstance(scope, MemoryScope):
        scope = scope_of(scope)
    refuse_secrets(parts, [(name, getattr(scope, name)) for name in _SCOPE_NAMES])
    return scope


def owner_if_named(parts: Parts, scope: MemoryScope | str | None) -> MemoryScope | None:
    """Require a scope without secrets in its names, or None.

    Args:
        parts: The stores and the rules of the memory.
        scope: The scope; None if the promoted item brings its own.

    Returns:
        The scope, or None.

    Raises:
        SettingError: For a secret in one.
    """
    return None if scope is None else owner(parts, scope)


def promotable(parts: Parts, item: Any) -> Any:
    """Require an item for promotion without secrets in the names that it brings.

    Args:
        parts: The stores and the rules of the memory.
        item: A text, an entry or its id, or an insight.

    Returns:
        The item.

    Raises:
        SettingError: For a secret in a name.
    """
    if isinstance(item, Insight):
        owner(parts, item.scope)
        lineage(parts, item.provenance)
    return item


def refusal_of_blank() -> EntryRefused:
    """Return the error for a blank text, which is not kept in long-term memory."""
    return EntryRefused(
        "a blank text cannot be kept in long-term memory; revoke() hides a memory that is there"
    )


def clean_reason(parts: Parts, reason: str) -> str:
    """Return a reason without secrets.

    Args:
        parts: The stores and the rules of the memory.
        reason: The reason, in words.

    Returns:
        The reason.

    Raises:
        SettingError: If it is no text.
    """
    checking.text("reason", reason)
    return parts.redacted(reason)


def lineage(parts: Parts, provenance: Provenance) -> Provenance:
    """Require a provenance without secrets in its names.

    Args:
        parts: The stores and the rules of the memory.
        provenance: The provenance.

    Returns:
        The provenance.

    Raises:
        SettingError: For a secret in one.
    """
    names = [(f"the name of an origin ({root.kind})", root.name) for root in provenance.roots]
    names += [("a source", id_) for id_ in provenance.sources if not _OURS.fullmatch(id_)]
    refuse_secrets(parts, names)
    return provenance


def clean_verdict(parts: Parts, verdict: Verdict) -> Verdict:
    """Return a verdict without secrets in its issues.

    Args:
        parts: The stores and the rules of the memory.
        verdict: The verdict.

    Returns:
        The verdict.

    Raises:
        SettingError: For a secret in the name of who checked.
    """
    refuse_secrets(parts, [("by", verdict.by)])
    return replace(verdict, issues=tuple(map(parts.redacted, verdict.issues)))

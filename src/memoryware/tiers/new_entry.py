"""Create entries of quarantine: text without secrets, provenance, metadata that JSON can hold."""

from __future__ import annotations

import hashlib
import logging
import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from types import NoneType
from typing import Any, Final, get_args

from memoryware._runner import OFFLOAD_CHARS
from memoryware.errors import EntryRefused
from memoryware.guard import Guard
from memoryware.scope import MemoryScope, check_name
from memoryware.tiers import checking
from memoryware.tiers._parts import Parts
from memoryware.tiers.echo.matching import (
    ECHO,
    Excerpt,
    half_repeated,
    recalled_block_sources,
    repeated_ids,
)
from memoryware.tiers.records import Entry, Memory, Origin, Provenance, Role, plain
from memoryware.tiers.screening import has_secrets, lineage, owner, redact_text
from memoryware.tiers.values import ContextItem

logger = logging.getLogger(__name__)

_MAX_DEPTH: Final = 50
"""Levels of nested metadata."""
_MAX_INT: Final = 2**63
"""Longer integers go through JSON, which refuses those with thousands of digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryOrigin:
    """Who produced an output, and from what.

    Attributes:
        role: Role of the producer in the graph.
        provenance: Producer and sources. By default the agent of the scope, or for a tool the
            node; the sources are those items of `shown` that the text repeats.
        key: Idempotency key: a second record with the same key stores nothing.
        shown: Items of memory that the producer was shown.

    Raises:
        SettingError: For a value of another type.
    """

    role: Role = "agent"
    provenance: Provenance | None = None
    key: str | None = None
    shown: tuple[ContextItem, ...] = ()

    def __post_init__(self) -> None:
        checking.choice("role", self.role, get_args(Role))
        checking.instance("provenance", self.provenance, (Provenance, NoneType))
        if self.key is not None:
            check_name("key", self.key)
        for item in self.shown:
            checking.instance("shown", item, (ContextItem, Entry, Memory))


async def create_entry(
    parts: Parts,
    content: str,
    scope: MemoryScope,
    metadata: Mapping[str, Any] | None,
    origin: EntryOrigin,
) -> Entry:
    """Create the entry of an output without storing it.

    A text that only repeats `origin.shown`, or consists of a block that memory had put into the
    prompt, is marked as an echo, which working memory refuses.

    Args:
        parts: Guard, limits, clock and ids.
        content: The text.
        scope: Tenant, group and agent.
        metadata: Metadata; what JSON cannot hold is dropped with a warning.
        origin: Who produced the text.

    Returns:
        The entry.

    Raises:
        EntryRefused: If the content is no text or longer than `TierLimits.entry_chars`.
        SettingError: If the metadata are no mapping, or a name or id has a secret.
    """
    text = _valid_text(content, parts.limits.entry_chars)
    if len(text) > OFFLOAD_CHARS:
        work = partial(build_entry, parts, text, scope, metadata, origin)
        return await parts.runner.offload(work)
    return build_entry(parts, text, scope, metadata, origin)


def build_entry(
    parts: Parts,
    text: str,
    scope: MemoryScope,
    metadata: Mapping[str, Any] | None,
    origin: EntryOrigin,
) -> Entry:
    """Create an entry of a valid text; pure computation, see `create_entry`."""
    guard = parts.guard
    text, metadata = _without_secrets(guard, text), redacted(guard, metadata)
    owner(parts, scope)
    provenance = lineage(parts, origin.provenance or _default_provenance(scope, origin, text))
    echo_of = _echo(parts, text, provenance, origin.shown)
    now = parts.clock()
    return Entry(
        id=parts.new_id(),
        scope=scope,
        content=text,
        created_at=now,
        provenance=provenance,
        role=origin.role,
        metadata={
            **metadata,
            "node_id": scope.node_id or metadata.get("node_id"),
            "agent_id": scope.agent_id or metadata.get("agent_id"),
            "role": origin.role,
            "created_at": now.isoformat(),
        },
        key=_redacted_key(guard, origin.key),
        refused=ECHO if echo_of is not None else None,
        echo_of=echo_of or (),
    )


def _echo(
    parts: Parts, text: str, provenance: Provenance, shown: Sequence[ContextItem]
) -> tuple[str, ...] | None:
    """Return the ids of shown items that a text only repeats; None if it says something."""
    excerpts = Excerpt.of(shown, parts.limits.echo_chars)
    sources = recalled_block_sources(text, excerpts)
    if sources is not None:
        return sources
    if provenance.origin.kind in ("user", "person"):  # they do not see the prompt
        return None
    return repeated_ids(text, excerpts) or None


def _default_provenance(scope: MemoryScope, origin: EntryOrigin, text: str) -> Provenance:
    is_tool = origin.role == "tool"
    producer = (
        Origin("tool", scope.node_id or "") if is_tool else Origin("agent", scope.agent_id or "")
    )
    sources = half_repeated(text, origin.shown)
    roots = [root for source in sources for root in source.provenance.roots]
    return Provenance(producer, tuple(source.id for source in sources), tuple(roots))


# Texts and metadata that can be stored.


def _valid_text(content: Any, limit: int) -> str:
    if not isinstance(content, str):
        raise EntryRefused(
            f"only text can be kept in memory, and this is {type(content).__name__}; pass the"
            " text of the message"
        )
    if len(content) > limit:
        raise EntryRefused(
            f"the text has {len(content)} characters, and memory keeps at most entry_chars={limit};"
            " cut it, or raise the limit: TierLimits(entry_chars=...)"
        )
    return mended(content)


def mended(text: str) -> str:
    """Return a text that UTF-8 can hold: surrogates are joined or replaced.

    Args:
        text: A text, perhaps with lone surrogates.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return str(text)


def _without_secrets(guard: Guard | None, text: str) -> str:
    if guard is None or not has_secrets(guard, text):
        return text
    findings = guard.describe(guard.scan(text))
    logger.warning("secrets were cut out of a text before it was kept: %s", findings)
    return guard.redact(text)


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
    checking.mapping("metadata", metadata)
    kept: dict[str, Any] = {}
    for name, value in dict[Any, Any](metadata or {}).items():
        try:
            if type(name) is str and name.isascii() and _is_plain(value):
                kept[name] = value
            else:
                kept |= plain({name: _as_float(value) if name == "confidence" else value})
        except Exception as error:  # noqa: BLE001 - objects of the application may raise anything
            label = _free_key(guard, name, {}) if isinstance(name, str) else type(name).__name__
            logger.warning("metadata %r was not kept: %s", label, type(error).__name__)
    cleaned: dict[str, Any] = _clean(guard, "", kept)
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


def _free_key(guard: Guard | None, key: str, taken: Mapping[str, Any]) -> str:
    """Return a key without secrets that no other value has."""
    clean = mended(key) if guard is None else redact_text(guard, mended(key))
    number, free = 1, clean
    while free in taken:
        number += 1
        free = f"{clean} ({number})"
    return free


def _redacted_key(guard: Guard | None, key: str | None) -> str | None:
    """Return an idempotency key, or a digest of it if it has a secret."""
    if key is None or guard is None or not guard.scan(key):
        return key
    return hashlib.blake2b(key.encode(), digest_size=16).hexdigest()

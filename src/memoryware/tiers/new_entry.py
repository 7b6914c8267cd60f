"""Create entries of quarantine: text without secrets, provenance, metadata that JSON can hold."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import NoneType
from typing import Any, get_args

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
from memoryware.tiers.records import Entry, Memory, Origin, Provenance, Role
from memoryware.tiers.screening import has_secrets, lineage, mended, owner, redacted
from memoryware.tiers.values import ContextItem

logger = logging.getLogger(__name__)


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


def _without_secrets(guard: Guard | None, text: str) -> str:
    if guard is None or not has_secrets(guard, text):
        return text
    findings = guard.describe(guard.scan(text))
    logger.warning("secrets were cut out of a text before it was kept: %s", findings)
    return guard.redact(text)


def _redacted_key(guard: Guard | None, key: str | None) -> str | None:
    """Return an idempotency key, or a digest of it if it has a secret."""
    if key is None or guard is None or not guard.scan(key):
        return key
    return hashlib.blake2b(key.encode(), digest_size=16).hexdigest()

"""Build the entry of an output: its text without secrets, its metadata and its provenance."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from types import NoneType
from typing import Any, get_args

from memoryware._caching import clearable_cache
from memoryware._runner import OFFLOAD_CHARS
from memoryware.errors import EntryRefused
from memoryware.guard import Guard
from memoryware.scope import MemoryScope, check_name, is_personal_agent, own_agent
from memoryware.tiers import checking
from memoryware.tiers._parts import Parts
from memoryware.tiers.echo import (
    ECHO,
    echo_sources,
    half_repeated,
)
from memoryware.tiers.model import VISIBLE_TO, Entry, Memory, Role
from memoryware.tiers.provenance import Origin, Provenance
from memoryware.tiers.screening import lineage, mended, owner, redacted, without_secrets
from memoryware.tiers.text.utterances import chatter_code, speaks_of_self
from memoryware.tiers.values import ContextItem


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryOrigin:
    """Who produced an output, and from what.

    Attributes:
        role: Role of the producer in the graph.
        provenance: Producer and sources. By default the agent of the scope, for a tool the node,
            and for the user the user of the scope; the sources are those items of `shown` that
            the text repeats.
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
        if self.role != "agent":
            checking.choice("role", self.role, get_args(Role))
        if self.provenance is not None:
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
    """Create an entry of a text of valid length; a pure computation, see `create_entry`.

    Args:
        parts: The stores and the rules of the memory.
        text: The text.
        scope: Tenant, group and agent.
        metadata: Metadata; values that JSON cannot hold are dropped with a warning.
        origin: Who produced the text, and from what.

    Returns:
        The entry.
    """
    guard = parts.guard
    # Lone surrogates come from cut JSON escapes; no store can encode them as UTF-8.
    text, metadata = without_secrets(guard, mended(text)), redacted(guard, metadata)
    owner(parts, scope)
    if origin.provenance is not None or origin.shown:
        own = origin.provenance or _default_provenance(scope, origin, text)
        provenance = lineage(parts, own)
    else:  # its names are those of the scope
        provenance = _producer(
            origin.role, scope.node_id or "", scope.agent_id or "", scope.user_id or ""
        )
    echo_of = echo_sources(
        text,
        origin.shown,
        echo_chars=parts.limits.echo_chars,
        sees_prompt=provenance.origin.kind not in ("user", "person"),
    )
    refused = ECHO if echo_of is not None else None
    if origin.role == "user" and provenance.origin.kind in ("user", "person"):
        chatter = chatter_code(text)
        refused = refused or chatter
        is_stated = chatter not in ("question", "no_content")
        if is_stated and own_agent(scope) is not None and speaks_of_self(text):
            # Whatever the policy: who else sees it is decided when it is promoted. The answer to
            # "How do I deploy?" is for everybody.
            metadata = {**metadata, VISIBLE_TO: scope.user_id}
    if scope.user_id and any(map(_is_for_one_user, origin.shown)):
        # An answer may repeat what only this user is shown, in words that nobody can compare.
        metadata = {**metadata, VISIBLE_TO: scope.user_id}
    now, id_ = parts.clock(), parts.new_id()
    return Entry(
        id=id_,
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
        key=None if origin.key is None else _redacted_key(guard, origin.key),
        refused=refused,
        echo_of=echo_of or (),
    )


def _is_for_one_user(item: ContextItem | Entry | Memory) -> bool:
    return is_personal_agent(item.scope.agent_id) or item.metadata.get(VISIBLE_TO) is not None


@clearable_cache(1024)  # a run records with the same names again and again
def _producer(role: Role, node: str, agent: str, user: str) -> Provenance:
    if role == "user":
        return Provenance(Origin("user", user))
    return Provenance(Origin("tool", node) if role == "tool" else Origin("agent", agent))


def _default_provenance(scope: MemoryScope, origin: EntryOrigin, text: str) -> Provenance:
    provenance = _producer(
        origin.role, scope.node_id or "", scope.agent_id or "", scope.user_id or ""
    )
    sources = half_repeated(text, origin.shown)
    roots = [root for source in sources for root in source.provenance.roots]
    return Provenance(provenance.origin, tuple(source.id for source in sources), tuple(roots))


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
    return content


def _redacted_key(guard: Guard | None, key: str) -> str:
    """Return an idempotency key, or a digest of it if it has a secret."""
    # A key may be made of the text itself, which may have a secret.
    if guard is None or not guard.scan(key):
        return key
    return hashlib.blake2b(key.encode(), digest_size=16).hexdigest()

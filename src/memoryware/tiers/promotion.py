"""Bringing a text into long-term memory: an act of somebody, all of it or nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, TypeAlias

from memoryware._twins import Via
from memoryware.errors import (
    EmbeddingFailed,
    EntryMissing,
    EntryRefused,
    PromotionRefused,
    SettingError,
)
from memoryware.events import emit, logger
from memoryware.scope import MemoryScope
from memoryware.tiers import corroboration
from memoryware.tiers._parts import Parts, group_of
from memoryware.tiers.chunking import chunks_of
from memoryware.tiers.contradiction import why
from memoryware.tiers.ranking import words_of
from memoryware.tiers.records import Entry, Memory, Origin, Provenance, Status, hash_of, plain
from memoryware.tiers.reindexing import embed_pending, writes_vectors
from memoryware.tiers.stores.protocol import Select, Space, Vector
from memoryware.tiers.values import ContextItem, Contradiction, Insight, Promotion

What: TypeAlias = str | Entry | Insight
"""What can be promoted: a text, an entry or its id, an insight of a digest."""
Old: TypeAlias = str | Memory | Promotion | ContextItem
"""What can be superseded: a memory, its id or that of its document."""

_ID: Final = re.compile(r"[0-9a-f]{32}")
_NO_PERSON: Final = ("agent:", "tool:", "model:")
_OPEN: Final[tuple[Status, ...]] = ("pending", "proposed", "promoted")


@dataclass(frozen=True, slots=True)
class How:
    """What is said with a promotion; see `TieredMemory.promote`.

    Attributes:
        subject: What it is about.
        agent_id: Whose experience it is; None for memory of the group.
        metadata: What else is known of it.
        valid_from: Since when it holds; None is now.
        replaces: `document_id` of documents that end where it begins.
    """

    subject: str | None = None
    agent_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    valid_from: datetime | None = None
    replaces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Text:
    """A text that is to be promoted, and the entries that it is made of."""

    content: str
    scope: MemoryScope
    provenance: Provenance
    entries: tuple[Entry, ...] = ()


async def promote(
    parts: Parts,
    via: Via,
    what: What,
    scope: MemoryScope | None,
    *,
    by: str,
    how: How = How(),
) -> Promotion:
    """Put a text into long-term memory.

    Raises:
        PromotionRefused: If the policy asks for more, or the entry may not be promoted.
        ScopeMissing: Without a group.
        EntryMissing: If there is no such entry in this scope.
    """
    _check_actor(by)
    text = await _text_of(parts, via, what, scope, by)
    group_of(text.scope, "a promotion")
    await _check_policy(parts, via, text, by)
    chunks = chunks_of(text.content, parts.splitter, parts.limits)
    if not chunks:
        return Promotion()
    how, contradictions = await _settled(parts, via, text, how)
    made = _memories(parts, text, chunks, by, how)
    vectors, space = await _vectors(parts, via, chunks)
    store = parts.stores.long_term
    kept = await via(store.add, store.aadd, made, vectors, space, replaces=how.replaces)
    existing = kept[0].document_id != made[0].document_id
    await _mark(parts, via, text, by, kept)
    if not existing:
        emit(parts.teller(text.scope), "promoted", tier="long_term", entries=len(kept))
    await _retry(parts, via)
    missing = 0 if existing else sum(one is None for one in vectors or [None] * len(made))
    return Promotion(
        document_id=kept[0].document_id,
        memories=tuple(kept),
        existing=existing,
        unembedded=missing if parts.embedder else 0,
        superseded=() if existing else how.replaces,
        contradictions=() if existing else contradictions,
    )


async def supersede(
    parts: Parts,
    via: Via,
    old: Old,
    new: What,
    scope: MemoryScope | None,
    *,
    by: str,
    how: How = How(),
) -> Promotion:
    """Put a text in the place of one that is in long-term memory, which stays as the past.

    Raises:
        EntryMissing: If there is no such memory in this scope.
        PromotionRefused: If the policy asks for more, or the old one is not current.
    """
    where = scope or _scope_of(old) or _scope_of(new)
    group_of(where or MemoryScope(), "superseding")
    known = await _documents_of(parts, via, old, where or MemoryScope())
    first = known[0]
    if first.valid_to is not None or first.revocation is not None:
        state = "was revoked" if first.revocation else "was superseded already"
        raise PromotionRefused(
            f"Memory {first.id} {state}, so nothing can take its place; promote the new text",
            ("not_current",),
        )
    begins = how.valid_from or parts.clock()
    if begins <= first.valid_from:
        raise PromotionRefused(
            f"Memory {first.id} holds since {first.valid_from.isoformat()}; what takes its place"
            " must begin later: pass a later valid_from",
            ("valid_from",),
        )
    how = replace(
        how,
        subject=how.subject or first.subject,
        agent_id=how.agent_id or first.scope.agent_id,
        valid_from=begins,
        replaces=(first.document_id,),
    )
    return await promote(parts, via, new, where, by=by, how=how)


async def propose(
    parts: Parts, via: Via, what: What, scope: MemoryScope | None, *, by: str
) -> Entry:
    """Note that somebody asks for a promotion; return the entry, which quarantine keeps."""
    _check_actor(by)
    text = await _text_of(parts, via, what, scope, by)
    group_of(text.scope, "a proposal")
    if len(text.entries) != 1 or text.entries[0].content != text.content:
        entry = Entry(
            id=parts.new_id(),
            scope=text.scope,
            content=text.content,
            created_at=parts.clock(),
            provenance=text.provenance,
            status="proposed",
            proposed_by=by,
        )
        store = parts.stores.quarantine
        return await via(store.add, store.aadd, entry)
    return await _decide(parts, via, text.entries[0], status="proposed", proposed_by=by)


async def reject(
    parts: Parts,
    via: Via,
    what: str | Entry,
    scope: MemoryScope | None,
    *,
    by: str,
    reason: str = "",
) -> Entry:
    """Note that an entry shall not be promoted; return it."""
    _check_actor(by)
    text = await _text_of(parts, via, what, scope, by)
    if not text.entries:
        raise EntryMissing("Only an entry can be rejected: pass it, or its id")
    (entry,) = text.entries
    metadata = {**entry.metadata, "rejected_because": reason} if reason else entry.metadata
    return await _decide(
        parts, via, entry, status="rejected", decided_by=by, decided_at=parts.clock(),
        metadata=metadata,
    )  # fmt: skip


# What is promoted.


async def _text_of(parts: Parts, via: Via, what: What, scope: MemoryScope | None, by: str) -> _Text:
    if isinstance(what, Insight):
        entries = await _entries(parts, via, what.source_entry_ids, what.scope)
        provenance = Provenance.made(what.provenance.origin, entries, what.provenance.roots)
        return _Text(parts.redacted(what.summary), what.scope, provenance, tuple(entries))
    if isinstance(what, Entry):
        entries = await _entries(parts, via, (what.id,), what.scope)
        return _of_entry(entries[0])
    if not isinstance(what, str):
        raise EntryRefused(f"a text, an entry or an insight can be promoted, not {type(what)}")
    where = scope or MemoryScope()
    if _ID.fullmatch(what):
        return _of_entry((await _entries(parts, via, (what,), where))[0])
    if len(what) > parts.limits.entry_chars:
        raise EntryRefused(
            f"the text has {len(what)} characters; entry_chars={parts.limits.entry_chars}"
        )
    return _Text(parts.redacted(what), where, Provenance(_origin_of(by)))


def _of_entry(entry: Entry) -> _Text:
    made = Provenance.made(entry.provenance.origin, [entry])
    return _Text(entry.content, entry.scope, made, (entry,))


async def _entries(parts: Parts, via: Via, ids: Sequence[str], scope: MemoryScope) -> list[Entry]:
    """Return the entries of these ids, which must all be there."""
    store = parts.stores.quarantine
    found = await via(store.find, store.afind, Select.within(scope, ids=tuple(ids)))
    known = {one.id: one for one in found.items}
    missing = [one for one in ids if one not in known]
    if missing:
        raise EntryMissing(
            f"There is no entry {missing[0]} in quarantine of group {scope.group_id!r}"
        )
    return [known[one] for one in ids]


async def _documents_of(parts: Parts, via: Via, old: Old, scope: MemoryScope) -> list[Memory]:
    store = parts.stores.long_term
    name = (old.document_id or "") if isinstance(old, Promotion | ContextItem) else ""
    if isinstance(old, str | Memory):
        id_ = old if isinstance(old, str) else old.id
        one = await via(store.find, store.afind, Select.within(scope, ids=(id_,)))
        name = one.items[0].document_id if one.items else id_
    found = await via(store.find, store.afind, Select.within(scope, documents=(name,)))
    if not found.items:
        raise EntryMissing(
            f"There is no such memory in long-term memory of group {scope.group_id!r}"
        )
    return sorted(found.items, key=lambda one: one.chunk_index)


def _scope_of(what: Old | What) -> MemoryScope | None:
    if isinstance(what, Promotion):
        return what.memories[0].scope if what.memories else None
    return None if isinstance(what, str) else what.scope


def _origin_of(by: str) -> Origin:
    kind, _, name = by.partition(":")
    if by.startswith(_NO_PERSON):
        return Origin("tool" if kind == "tool" else "agent", name)
    return Origin("person", by)


def _check_actor(by: str) -> None:
    if not str(by or "").strip():
        raise SettingError("by: say who does it, such as by='ann' or by='agent:helper'")


# Whether it may be.


async def _check_policy(parts: Parts, via: Via, text: _Text, by: str) -> None:
    policy, missing = parts.policy, dict[str, str]()
    for entry in text.entries:
        if entry.status in ("rejected", "revoked"):
            missing[entry.status] = f"entry {entry.id} was {entry.status}; propose it again first"
        if corroboration.is_echo(entry):
            missing["echo"] = f"entry {entry.id} only repeats what memory had shown"
    if policy.approval and by.startswith(_NO_PERSON):
        missing["approval"] = "a person must promote it"
    if text.provenance.trust < policy.min_trust:
        missing["min_trust"] = (
            f"its trust is {text.provenance.trust.name}, and {policy.min_trust.name} is asked for"
        )
    if policy.four_eyes:
        proposers = {one.proposed_by for one in text.entries if one.proposed_by}
        if not proposers or proposers == {by}:
            missing["own_proposal"] = "somebody else must have proposed it with propose()"
    if policy.corroboration:
        origins = await _origins(parts, via, text)
        if len(origins) < policy.corroboration:
            missing["corroboration"] = (
                f"{policy.corroboration} independent origins must say the same, and"
                f" {len(origins)} do"
            )
    if missing:
        raise PromotionRefused(f"Not promoted: {'; '.join(missing.values())}", tuple(missing))


async def _origins(parts: Parts, via: Via, text: _Text) -> set[Origin]:
    store = parts.stores.quarantine
    which = Select.within(text.scope, statuses=_OPEN)
    found = await via(store.find, store.afind, which, limit=parts.limits.digest_entries)
    known = {one.id: one for one in (*found.items, *text.entries)}
    same = corroboration.alike(text.content, known.values(), parts.policy.similarity)
    supporting = [
        (one.id, one.provenance)
        for one in {**{e.id: e for e in text.entries}, **{e.id: e for e in same}}.values()
    ]
    return corroboration.independent(supporting or [("", text.provenance)])


# What it becomes.


async def _settled(
    parts: Parts, via: Via, text: _Text, how: How
) -> tuple[How, tuple[Contradiction, ...]]:
    """Let it take the place of what its subject had, or say what it contradicts."""
    now, store = parts.clock(), parts.stores.long_term
    which = Select.within(text.scope, agents=(how.agent_id,), live_at=now)
    replaced, found = dict.fromkeys(how.replaces), list[Contradiction]()
    if how.subject is not None:
        of_subject = which.also(subjects=(how.subject,))
        known = (await via(store.find, store.afind, of_subject)).items
        for one in known:
            if one.content_hash == hash_of(text.content) or one.document_id in replaced:
                continue
            if text.provenance.trust >= one.provenance.trust:
                replaced[one.document_id] = None
            else:
                reason = f"the same subject {how.subject!r}, and the other is trusted more"
                found.append(Contradiction(first=one.id, second="", reason=reason))
    hits = await via(
        store.by_words, store.aby_words, words_of(text.content), which,
        limit=parts.limits.candidates,
    )  # fmt: skip
    for hit in hits:
        reason = why(hit.memory.content, text.content)
        if reason and hit.memory.document_id not in replaced:
            found.append(Contradiction(first=hit.memory.id, second="", reason=reason))
    return replace(how, replaces=tuple(replaced)), tuple(found)


def _memories(parts: Parts, text: _Text, chunks: list[str], by: str, how: How) -> list[Memory]:
    now, document = parts.clock(), parts.new_id()
    digest = hash_of(text.content)
    made = []
    for index, chunk in enumerate(chunks):
        known = {
            **plain(how.metadata),
            "source": "promotion",
            "promoted_at": now.isoformat(),
            "promoted_by": by,
            "chunk_index": index,
            "chunk_count": len(chunks),
            "source_entry_ids": list(text.provenance.sources),
            "content_hash": digest,
        }
        one = Memory(
            id=parts.new_id(),
            document_id=document,
            scope=replace(text.scope, agent_id=how.agent_id),
            content=chunk,
            created_at=now,
            provenance=text.provenance,
            promoted_by=by,
            chunk_index=index,
            chunk_count=len(chunks),
            content_hash=digest,
            metadata=known,
            subject=how.subject,
            valid_from=how.valid_from or now,
        )
        made.append(one)
    return made


async def _vectors(
    parts: Parts, via: Via, chunks: list[str]
) -> tuple[Sequence[Vector | None], Space | None]:
    """Return the vectors of chunks; none where that fails, and words find them meanwhile."""
    if parts.embedder is None:
        return (), None
    try:
        made = await parts.embedder.documents(via, chunks)
    except EmbeddingFailed as failed:
        logger.warning("%s; the promoted text is found by its words until it is embedded", failed)
        return (), None
    space = parts.embedder.space_of(made[0])
    return (made, space) if await writes_vectors(parts, via, space) else ((), None)


async def _mark(parts: Parts, via: Via, text: _Text, by: str, kept: Sequence[Memory]) -> None:
    ids = tuple(one.id for one in kept)
    for entry in text.entries:
        await _decide(
            parts, via, entry, status="promoted", decided_by=by, decided_at=parts.clock(),
            memory_ids=tuple(dict.fromkeys((*entry.memory_ids, *ids))),
        )  # fmt: skip


async def _decide(parts: Parts, via: Via, entry: Entry, **changes: Any) -> Entry:
    store = parts.stores.quarantine
    which = Select.within(entry.scope, ids=(entry.id,))

    def change(one: Entry) -> Entry:
        return replace(one, **changes)

    changed: list[Entry] = await via(store.edit, store.aedit, which, change)
    return changed[0] if changed else replace(entry, **changes)


async def _retry(parts: Parts, via: Via) -> None:
    """Embed what could not be embedded before, if the model answers now."""
    if parts.embedder is None or not parts.limits.retry_unembedded:
        return
    try:
        await embed_pending(parts, via, parts.limits.retry_unembedded)
    except EmbeddingFailed:
        logger.debug("the embedding model still does not answer; asked again at the next promotion")

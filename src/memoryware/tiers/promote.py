"""Bringing a text into long-term memory: an act of somebody, all of it or nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Final

from memoryware._runner import OFFLOAD_CHARS
from memoryware.errors import EmbeddingFailed, EntryRefused, PromotionRefused
from memoryware.events import emit, logger
from memoryware.scope import MemoryScope
from memoryware.tiers import supersede as supersession
from memoryware.tiers._parts import Parts, group_of
from memoryware.tiers.actors import Actor
from memoryware.tiers.material import (
    Material,
    Promotable,
    chunks_of,
    edited,
    is_text,
    material_of,
    redacted_text,
)
from memoryware.tiers.model import (
    DECIDED,
    Entry,
    Memory,
    PendingPromotion,
    PromotionRecord,
    hash_of,
    with_promotion,
)
from memoryware.tiers.proposals import (
    check,
    closed,
    note_proposal,
    refusal_of,
    refuse_rejected_statements,
    repeats_of,
)
from memoryware.tiers.reindex import embed_pending, where_vectors_go
from memoryware.tiers.screening import redacted
from memoryware.tiers.stores.protocol import Select, Space, Vector
from memoryware.tiers.supersede import (
    DEFAULT_OPTIONS,
    PromotionOptions,
    Succession,
    Superseded,
)
from memoryware.tiers.validity import authority, note_replaced
from memoryware.tiers.values import Insight, Promotion

_TRIES: Final = 10
"""How often a promotion is begun anew where its entry changes meanwhile."""


async def promote(
    parts: Parts,
    what: Promotable,
    scope: MemoryScope | None,
    *,
    by: str,
    options: PromotionOptions = DEFAULT_OPTIONS,
) -> Promotion:
    """Put a text into long-term memory in one transaction; a blank one puts nothing there.

    Where a more trusted decision keeps another text of the subject current, the new text waits
    as a proposal, which the result names.

    Args:
        parts: The memory.
        what: A text, an entry or its id, or an insight.
        scope: Whose memory it becomes; what is promoted may bring its own.
        by: Who promotes it.
        options: Subject, agent, metadata and time of the new memory.

    Returns:
        What is in long-term memory now, or the proposal.

    Raises:
        PromotionRefused: If the policy asks for more, or the entry may not be promoted.
        ScopeMissing: Without a group.
        EntryMissing: If there is no such entry in this scope.
        EntryRefused: For what is no text or too long.
        EmbeddingMismatch: If the store has vectors of another model, and was not opened for
            that.
    """
    actor = Actor.of(by)
    options = (
        options if options == DEFAULT_OPTIONS else supersession.checked_options(parts, options)
    )

    async def work(prepared: _Prepared, inside: Parts) -> _Outcome:
        return await _promoted(inside, what, scope, actor, options, prepared)

    return await _in_transaction(parts, what, scope, actor, work)


async def supersede(
    parts: Parts,
    old: Superseded,
    new: Promotable,
    scope: MemoryScope | None,
    *,
    by: str,
    options: PromotionOptions = DEFAULT_OPTIONS,
) -> Promotion:
    """Put a text in the place of one that is in long-term memory, which stays as the past.

    Raises:
        EntryMissing: If there is no such memory in this scope.
        PromotionRefused: If the policy asks for more, the old one is not current, or what is
            no person would replace something that is trusted more.
        EntryRefused: For a blank text.
    """
    actor = Actor.of(by)
    options = (
        options if options == DEFAULT_OPTIONS else supersession.checked_options(parts, options)
    )
    own = new.scope if isinstance(new, Entry | Insight) else None
    where = group_of(scope or supersession.scope_of_old(old) or own or MemoryScope(), "superseding")
    await supersession.first_of(parts, old, where)  # before the new text is embedded

    async def work(prepared: _Prepared, inside: Parts) -> _Outcome:
        first = await supersession.first_of(inside, old, where)
        text = prepared.content
        material = await material_of(inside, new, where, actor, prepared.texts, expected=text)
        if not material.content.strip():
            raise EntryRefused("a blank text cannot take the place of another; revoke() hides one")
        if not actor.is_person and material.provenance.trust < authority(first):
            raise PromotionRefused(
                f"Memory {first.id} is trusted more ({authority(first).name}) than what would"
                f" take its place ({material.provenance.trust.name}); a person must do that",
                ("trust",),
            )
        named = replace(
            options,
            subject=options.subject or first.subject,
            agent_id=options.agent_id or first.scope.agent_id,
            replaces=(first.document_id,),
        )
        return await _promoted_material(inside, material, actor, named, prepared)

    return await _in_transaction(parts, new, where, actor, work)


async def promote_many(
    parts: Parts,
    items: Sequence[Promotable],
    scope: MemoryScope | None,
    *,
    by: str,
) -> list[Promotion]:
    """Promote several things in one transaction, all of them or none; see `promote`.

    Args:
        parts: The memory.
        items: What is promoted, in order.
        scope: Whose memory it becomes; by default that of the first item.
        by: Who promotes it.

    Returns:
        What became of each.

    Raises:
        PromotionRefused: If one of them may not be promoted; like the other errors of `promote`.
    """
    if not items:
        return []
    actor = Actor.of(by)
    where = group_of(_scope_of(items[0], scope), "a promotion")
    for _ in range(_TRIES):
        every = [await _checked(parts, item, where, actor) for item in items]
        await _embed(parts, every)
        try:
            outcomes = await parts.transaction(
                where, partial(_promoted_all, items, where, actor, every)
            )
        except _Stale:
            continue
        return [
            await _reported(parts, outcome, prepared)
            for outcome, prepared in zip(outcomes, every, strict=True)
        ]
    raise _busy()


async def _promoted_all(
    items: Sequence[Promotable],
    scope: MemoryScope,
    actor: Actor,
    every: Sequence[_Prepared],
    inside: Parts,
) -> list[_Outcome]:
    outcomes = []
    for item, prepared in zip(items, every, strict=True):
        outcome = await _promoted(inside, item, scope, actor, DEFAULT_OPTIONS, prepared)
        if outcome.is_stale:
            raise _Stale
        outcomes.append(outcome)
    return outcomes


class _Stale(Exception):
    """An entry has another text than what was embedded; everything is rolled back."""


def _busy() -> PromotionRefused:
    return PromotionRefused("The entry is being changed again and again; try again", ("busy",))


# Before, inside and after the transaction.


@dataclass(slots=True)
class _Prepared:
    """What is computed before the transaction, since it may take long.

    Attributes:
        texts: What was redacted, by the text as it was passed.
        content: The text that is promoted.
        chunks: Its chunks.
        vectors: Their vectors; empty where there are none.
        space: The space of the vectors.
        is_current: Whether that is the space in which the store is searched.
    """

    texts: dict[str, str] = field(default_factory=dict)
    content: str = ""
    chunks: Sequence[str] = ()
    vectors: Sequence[Vector | None] = ()
    space: Space | None = None
    is_current: bool = False


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What a transaction came to.

    Attributes:
        promotion: The result.
        scope: On whose behalf it was promoted.
        is_stale: Whether the text was another one than what was prepared; nothing is done then.
    """

    promotion: Promotion
    scope: MemoryScope
    is_stale: bool = False


async def _in_transaction(
    parts: Parts,
    what: Promotable,
    scope: MemoryScope | None,
    actor: Actor,
    work: Callable[[_Prepared, Parts], Awaitable[_Outcome]],
) -> Promotion:
    """Run a promotion: embed its text, then change everything in one transaction."""
    where = group_of(_scope_of(what, scope), "a promotion")
    for attempt in range(_TRIES):
        prepared = await _prepare(parts, what, scope, actor, is_retry=attempt > 0)
        outcome = await parts.transaction(where, partial(work, prepared))
        if not outcome.is_stale:
            break
    else:
        raise _busy()
    return await _reported(parts, outcome, prepared)


async def _reported(parts: Parts, outcome: _Outcome, prepared: _Prepared) -> Promotion:
    """Emit the events of a promotion, and embed what could not be embedded before."""
    promotion, event_context = outcome.promotion, parts.event_context(outcome.scope)
    if promotion.unembedded and parts.embedder is not None:
        parts.embedder.known.is_behind = True
    if promotion.proposal is not None:
        emit(event_context, "rejected", tier="long_term", reason="less_trusted")
        waits = promotion.proposal.waits or PendingPromotion(subject="")
        logger.info(
            "a text about %r waits as proposal %s: memory %s is current and trusted more",
            waits.subject,
            promotion.proposal.id,
            ", ".join(waits.against[:1]),
        )
        return promotion
    if promotion.memories and not promotion.existing:
        emit(event_context, "promoted", tier="long_term", entries=len(promotion.memories))
    if promotion.memories and not promotion.unembedded and parts.embedder is not None:
        space = prepared.space if prepared.is_current and not promotion.existing else None
        await _retry(parts, space)
    return promotion


def _scope_of(what: Promotable, scope: MemoryScope | None) -> MemoryScope:
    if scope is not None:
        return scope
    return what.scope if isinstance(what, Entry | Insight) else MemoryScope()


async def _prepare(
    parts: Parts, what: Promotable, scope: MemoryScope | None, actor: Actor, *, is_retry: bool
) -> _Prepared:
    """Check and embed what is promoted, as far as that can be done before the transaction."""
    if not is_retry and isinstance(what, Entry) and _passes(parts, what, scope, actor):
        # The transaction reads the entry anyway. If it is another one by now, it is read here.
        prepared = _Prepared()
        prepared.content = await redacted_text(parts, what.content, prepared.texts)
        await _split(parts, prepared)
    else:
        prepared = await _checked(parts, what, scope, actor)
    await _embed(parts, [prepared])
    return prepared


async def _checked(
    parts: Parts, what: Promotable, scope: MemoryScope | None, actor: Actor
) -> _Prepared:
    """Check what is promoted, and split it.

    A text that the policy refuses is not sent to an embedding model.
    """
    prepared = _Prepared()
    if isinstance(what, str) and actor.is_person and is_text(what):
        prepared.content = await redacted_text(parts, what, prepared.texts)
    else:
        material = await material_of(parts, what, scope, actor, prepared.texts)
        prepared.content = material.content
        if material.content.strip():
            await check(parts, material, actor)
    await _split(parts, prepared)
    return prepared


def _passes(parts: Parts, entry: Entry, scope: MemoryScope | None, actor: Actor) -> bool:
    """Return whether nothing in an entry as it was passed speaks against its promotion."""
    policy, own = parts.policy, entry.scope
    is_own = scope is None or (scope.tenant, scope.group_id) == (own.tenant, own.group_id)
    return (
        is_own
        and actor.is_person
        and not policy.corroboration
        and entry.provenance.trust >= policy.min_trust
        and entry.status not in DECIDED
        and not refusal_of(entry, actor)
    )


async def _split(parts: Parts, prepared: _Prepared) -> None:
    if prepared.content.strip():
        work = partial(chunks_of, prepared.content, parts.splitter, parts.limits)
        # A splitter of the application may take long, whatever the length of the text.
        is_long = parts.splitter is not None or len(prepared.content) > OFFLOAD_CHARS
        prepared.chunks = await parts.runner.offload(work) if is_long else work()


async def _embed(parts: Parts, every: Sequence[_Prepared]) -> None:
    """Embed the chunks of texts together."""
    chunks = [chunk for prepared in every for chunk in prepared.chunks]
    if not chunks:
        return
    vectors, space = await _vectors(parts, chunks)
    at = 0
    for prepared in every:
        end = at + len(prepared.chunks)
        prepared.vectors = vectors[at:end] if vectors else ()
        prepared.space, at = space, end


async def _promoted(
    parts: Parts,
    what: Promotable,
    scope: MemoryScope | None,
    actor: Actor,
    options: PromotionOptions,
    prepared: _Prepared,
) -> _Outcome:
    """Promote what was prepared; this is the inside of the transaction."""
    text = prepared.content
    if parts.tiers.reads_ahead and text.strip():
        await _read_ahead(parts, what, scope, options, prepared)
    material = await material_of(parts, what, scope, actor, prepared.texts, expected=text)
    return await _promoted_material(parts, material, actor, options, prepared)


async def _read_ahead(
    parts: Parts,
    what: Promotable,
    scope: MemoryScope | None,
    options: PromotionOptions,
    prepared: _Prepared,
) -> None:
    """Have everything read in one round trip that most promotions of a text or an entry read."""
    digest, group = hash_of(prepared.content), Select.within(_scope_of(what, scope))
    await parts.tiers.read_ahead(
        group,
        group.also(agents=(options.agent_id,), hashes=(digest,)),
        group.also(ids=(what.id,)) if isinstance(what, Entry) else None,
        prepared.space if prepared.vectors else None,
    )


async def _promoted_material(
    parts: Parts, material: Material, actor: Actor, options: PromotionOptions, prepared: _Prepared
) -> _Outcome:
    """Promote material that was read inside the transaction."""
    if material.content != prepared.content:
        return _Outcome(Promotion(), material.scope, is_stale=True)
    if not material.content.strip():
        return _Outcome(Promotion(), material.scope)
    await check(parts, material, actor)
    if material.covers:
        refuse_rejected_statements(material)
    if material.entries:
        options = _as_proposed(parts, material, options)
    place = await supersession.succession_of(parts, material, actor, options)
    asked = _Request(material, actor, options, prepared)
    if place.stronger:
        known = await _known(parts, material, options)
        if known and known[0].subject == options.subject:
            # The first version could leave two current texts of a subject.
            stronger = place.stronger[0]
            await supersession.end(parts, stronger, [known[0].document_id], stronger.valid_from)
        return _Outcome(await _waiting(parts, asked, place), material.scope)
    promotion = await _added(parts, place, asked)
    if place.reinstated:
        ended = [one for one in place.reinstated if one.document_id in promotion.superseded]
        await note_replaced(parts, ended)
    if material.entries or material.repeats or material.copies != ():
        await _mark(parts, asked, promotion)
    return _Outcome(promotion, material.scope)


# What is there already.


@dataclass(frozen=True, slots=True)
class _Request:
    """A request to promote: the material, the actor, the options, and what was computed of it."""

    material: Material
    actor: Actor
    options: PromotionOptions
    prepared: _Prepared


async def _known(parts: Parts, material: Material, options: PromotionOptions) -> list[Memory]:
    """Return the chunks of the current document with this text, if there is one."""
    store = parts.tiers.long_term
    which = Select.within(
        material.scope,
        agents=(options.agent_id,),
        hashes=(hash_of(material.content),),
        revocations=(None,),
    )
    page = await store.find(which)
    current = [one for one in page.items if one.valid_to is None]
    same = [one for one in current if one.document_id == current[-1].document_id]
    return sorted(same, key=lambda one: one.chunk_index)


async def _joined(
    parts: Parts, known: Sequence[Memory], place: Succession, asked: _Request
) -> Promotion:
    """Let a text that is there already take the places that are asked for, on one ground more."""
    first, ground = known[0], _ground_of(parts, asked)

    def joined(memory: Memory) -> Memory:
        since = min(memory.valid_from, place.begins)
        named = replace(memory, subject=memory.subject or asked.options.subject, valid_from=since)
        return with_promotion(named, ground, parts.limits.grounds)

    which = Select.within(first.scope, documents=(first.document_id,))
    changed = {memory.id: memory for memory in await parts.tiers.long_term.edit(which, joined)}
    known = [changed.get(memory.id, memory) for memory in known]
    ended = await supersession.end(parts, first, place.replaces, place.begins)
    return Promotion(
        document_id=first.document_id,
        memories=tuple(known),
        existing=True,
        superseded=ended,
        contradictions=place.contradictions(known),
    )


# What waits.


def _as_proposed(parts: Parts, material: Material, options: PromotionOptions) -> PromotionOptions:
    """Return how to promote an entry that waits for its subject, unless another is named.

    Whoever approves the proposal decides about the subject for which it was made.
    """
    if options.subject is not None:
        return options
    waiting = [
        one.waits
        for one in material.entries
        if one.waits is not None
        and one.status == "proposed"
        and one.content_hash == hash_of(material.content)
    ]
    if not waiting:
        return options
    waits = waiting[0]
    is_ahead = waits.valid_from is not None and waits.valid_from > parts.clock()
    return replace(
        options,
        subject=waits.subject,
        agent_id=options.agent_id or waits.agent_id,
        valid_from=options.valid_from or (waits.valid_from if is_ahead else None),
    )


async def _waiting(parts: Parts, asked: _Request, place: Succession) -> Promotion:
    """Keep a text as a proposal, for a person who may replace what is current."""
    waits = PendingPromotion(
        subject=asked.options.subject or "",
        against=tuple(one.id for one in place.stronger),
        agent_id=asked.options.agent_id,
        valid_from=asked.options.valid_from,
    )
    entry = await note_proposal(parts, asked.material, asked.actor, waits)
    return Promotion(proposal=entry, contradictions=place.contradictions((entry,)))


# What is new.


async def _added(parts: Parts, place: Succession, asked: _Request) -> Promotion:
    """Add a text, or join the document that has it already."""
    prepared = asked.prepared
    new = _memories(parts, asked, prepared.chunks, place.begins)
    vectors = await _kept_vectors(parts, prepared)
    kept = await parts.tiers.long_term.add(new, vectors, prepared.space, replaces=place.replaces)
    if kept[0].document_id != new[0].document_id:
        return await _joined(parts, kept, place, asked)
    missing = sum(one is None for one in vectors or [None] * len(new)) if parts.embedder else 0
    return Promotion(
        document_id=kept[0].document_id,
        memories=tuple(kept),
        unembedded=missing,
        superseded=place.replaces,
        contradictions=place.contradictions(kept) if place.against else (),
    )


async def _kept_vectors(parts: Parts, prepared: _Prepared) -> Sequence[Vector | None]:
    """Return the vectors that may be stored in the space that the store has now.

    Raises:
        EmbeddingMismatch: If the store has another model, and was not opened for that.
    """
    if prepared.space is None or not prepared.vectors:
        return ()
    where = await where_vectors_go(parts, prepared.space)
    prepared.is_current = where == "current"
    return () if where == "nowhere" else prepared.vectors


def _memories(
    parts: Parts, asked: _Request, chunks: Sequence[str], begins: datetime
) -> list[Memory]:
    material, options = asked.material, asked.options
    now, document, ids = parts.clock(), parts.new_id(), [parts.new_id() for _ in chunks]
    scope = material.scope
    if scope.agent_id != options.agent_id:
        scope = replace(scope, agent_id=options.agent_id)
    if options.valid_from is None:
        now = max(now, begins)  # what it replaces was promoted by a machine whose clock is ahead
    digest = hash_of(material.content)
    metadata = redacted(parts.guard, options.metadata) if options.metadata else {}
    memories = []
    for index, chunk in enumerate(chunks):
        chunk_metadata = {
            **metadata,
            "source": "promotion",
            "promoted_at": now.isoformat(),
            "promoted_by": asked.actor.name,
            "chunk_index": index,
            "chunk_count": len(chunks),
            "source_entry_ids": list(material.provenance.sources),
            "content_hash": digest,
        }
        memory = Memory(
            id=ids[index],
            document_id=document,
            scope=scope,
            content=chunk,
            created_at=now,
            provenance=material.provenance,
            promoted_by=asked.actor.name,
            chunk_index=index,
            chunk_count=len(chunks),
            content_hash=digest,
            metadata=chunk_metadata,
            subject=options.subject,
            valid_from=begins,
            verdict=material.verdict,
        )
        memories.append(memory)
    return memories


async def _vectors(
    parts: Parts, chunks: Sequence[str]
) -> tuple[Sequence[Vector | None], Space | None]:
    """Return the vectors of chunks, and their space.

    There are none where that fails, and words find the chunks meanwhile.
    """
    if parts.embedder is None:
        return (), None
    try:
        made = await parts.embedder.embed(parts.runner, chunks)
    except EmbeddingFailed as failed:
        logger.warning("%s; the promoted text is found by its words until it is embedded", failed)
        return (), None
    first = next((one for one in made if one is not None), None)
    if first is None:
        logger.warning("the embedding model has no vector for the promoted text; words find it")
        return (), None
    return made, parts.embedder.space_of(first)


def _ground_of(parts: Parts, asked: _Request) -> PromotionRecord:
    return PromotionRecord(
        scope=replace(asked.material.scope, agent_id=asked.options.agent_id),
        provenance=asked.material.provenance,
        promoted_by=asked.actor.name,
        promoted_at=parts.clock(),
    )


async def _mark(parts: Parts, asked: _Request, made: Promotion) -> None:
    """Note on the entries what became of them.

    Raises:
        PromotionRefused: If one was revoked or rejected; then nothing is promoted.
    """

    def change(one: Entry) -> Entry:
        if one.status in DECIDED:
            return one
        return closed(
            one,
            "promoted",
            by=asked.actor.name,
            at=parts.clock(),
            statements=material.covers.get(one.id, ()),
            memory_ids=tuple(dict.fromkeys((*one.memory_ids, *made.ids))),
        )

    material = asked.material
    seen = await edited(parts, material.entries, change) if material.entries else {}
    decided = [entry for entry in seen.values() if entry.status in DECIDED]
    if decided:
        status = decided[0].status
        raise PromotionRefused(
            f"Entry {decided[0].id} was {status} meanwhile; nothing was promoted", (status,)
        )
    trust = material.provenance.trust
    repeats = await repeats_of(
        parts,
        material.scope,
        material.content,
        trust=trust,
        ids=material.repeats,
        copies=material.copies,
    )
    if others := [entry for entry in repeats if entry.id not in seen]:
        await edited(parts, others, change)


async def _retry(parts: Parts, space: Space | None) -> None:
    """Embed what could not be embedded before, if the model answers now; see `embed_pending`.

    A client looks for it at its first promotion, and then as long as it knows that there is some.
    """
    limit = parts.limits.retry_unembedded
    if parts.embedder is None or not limit or not parts.embedder.known.is_behind:
        return
    try:
        done = await embed_pending(parts, limit, again=False, space=space)
        parts.embedder.known.is_behind = done >= limit
    except EmbeddingFailed:
        logger.debug("the embedding model still does not answer; asked again at the next promotion")

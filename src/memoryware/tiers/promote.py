"""Promote texts into long-term memory, each in one transaction."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, Final

from memoryware._runner import OFFLOAD_CHARS
from memoryware.errors import EmbeddingFailed, PromotionRefused
from memoryware.events import emit, logger
from memoryware.scope import MemoryScope, is_personal_agent
from memoryware.tiers import supersede as supersession
from memoryware.tiers._parts import Parts, group_of
from memoryware.tiers.actors import DecisionActor
from memoryware.tiers.chronology import file_as_past, last_said_of, with_last_said
from memoryware.tiers.chunking import chunks_of
from memoryware.tiers.embedding import Embedder
from memoryware.tiers.embedding_retry import retry_pending
from memoryware.tiers.material import (
    Material,
    Promotable,
    edited,
    is_text,
    material_of,
    redacted_text,
    require_promotable,
)
from memoryware.tiers.model import (
    DECIDED,
    SAID_AGAIN,
    SAID_AT,
    WAITING,
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
from memoryware.tiers.provenance import SPEAKER
from memoryware.tiers.reindex import where_vectors_go
from memoryware.tiers.removals import RemovalAsked, remove_as_asked
from memoryware.tiers.screening import redacted, refusal_of_blank
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
    item: Promotable,
    scope: MemoryScope | None,
    *,
    by: str,
    options: PromotionOptions = DEFAULT_OPTIONS,
) -> Promotion:
    """Put a text into long-term memory in one transaction.

    Where a more trusted decision keeps another text of the subject current, the new text waits
    as a proposal, which the result names.

    Args:
        parts: The memory.
        item: A text, an entry or its id, or an insight.
        scope: Whose memory it becomes; None for the scope of the item.
        by: Who promotes it.
        options: Subject, agent, metadata and time of the new memory.

    Returns:
        What is in long-term memory now, or the proposal.

    Raises:
        PromotionRefused: If the policy asks for more, or the entry may not be promoted.
        ScopeMissing: Without a group.
        EntryMissing: If there is no such entry in this scope.
        EntryRefused: For a value that is not a text, is blank or is too long.
        EmbeddingMismatch: If the store has vectors of another model, and was not opened for
            that.
    """
    actor = DecisionActor.of(by)
    options = (
        options if options == DEFAULT_OPTIONS else supersession.checked_options(parts, options)
    )

    async def work(prepared: _Prepared, inside: Parts) -> _PromotionOutcome:
        return await _promoted(inside, item, scope, actor, options, prepared)

    try:
        return await _in_transaction(parts, item, scope, actor, options, work)
    except RemovalAsked as removal:
        return await remove_as_asked(parts, removal.entry, actor)


async def supersede(
    parts: Parts,
    old: Superseded,
    new: Promotable,
    scope: MemoryScope | None,
    *,
    by: str,
    options: PromotionOptions = DEFAULT_OPTIONS,
) -> Promotion:
    """Put a text in the place of a memory, which stays as the past.

    Args:
        parts: The stores and the rules of the memory.
        old: The memory, its id or that of its document, a promotion, or a recalled item.
        new: The text, an entry or its id, or an insight.
        scope: Whose memory it is; None for the scope that `old` or `new` brings.
        by: Who does it.
        options: Subject, metadata and time of the new memory; by default the subject of the old
            one.

    Returns:
        What is in long-term memory now.

    Raises:
        EntryMissing: If there is no such memory in this scope.
        PromotionRefused: If the policy asks for more, the old one is not current, or what is no
            person would replace something that is trusted more.
        EntryRefused: For a blank text.
    """
    actor = DecisionActor.of(by)
    options = (
        options if options == DEFAULT_OPTIONS else supersession.checked_options(parts, options)
    )
    own = new.scope if isinstance(new, Entry | Insight) else None
    where = group_of(scope or supersession.scope_of_old(old) or own or MemoryScope(), "superseding")
    await supersession.first_of(parts, old, where)  # before the new text is embedded

    async def work(prepared: _Prepared, inside: Parts) -> _PromotionOutcome:
        first = await supersession.first_of(inside, old, where)
        text = prepared.content
        material = await material_of(inside, new, where, actor, prepared.texts, expected=text)
        if is_personal_agent(first.scope.agent_id):
            # A correction of what is for one user alone is forgotten with that user.
            owner = replace(material.scope, user_id=first.scope.user_id)
            material = replace(material, scope=owner)
        if not actor.is_person and material.provenance.trust < authority(first):
            raise PromotionRefused(
                f"Memory {first.id} is trusted more ({authority(first).name}) than the new text"
                f" ({material.provenance.trust.name}); only a person may supersede it",
                ("trust",),
            )
        named = replace(
            options,
            subject=options.subject or first.subject,
            agent_id=options.agent_id or first.scope.agent_id,
            replaces=(first.document_id,),
            shared=first.scope.agent_id is None,  # it is shown to whom the old one was
        )
        return await _promoted_material(inside, material, actor, named, prepared)

    return await _in_transaction(parts, new, where, actor, options, work)


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
    actor = DecisionActor.of(by)
    where = group_of(_scope_of(items[0], scope), "a promotion")
    # Embedding takes seconds and must not hold a transaction open, so it is done before, and again
    # if the entry has changed meanwhile.
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
    actor: DecisionActor,
    every: Sequence[_Prepared],
    inside: Parts,
) -> list[_PromotionOutcome]:
    outcomes = []
    for item, prepared in zip(items, every, strict=True):
        outcome = await _promoted(inside, item, scope, actor, DEFAULT_OPTIONS, prepared)
        if outcome.is_stale:
            raise _Stale
        outcomes.append(outcome)
    return outcomes


class _Stale(Exception):
    """An entry has changed since its text was embedded; everything is rolled back."""


def _busy() -> PromotionRefused:
    return PromotionRefused("The entry is being changed again and again; try again", ("busy",))


# Before, inside and after the transaction.


@dataclass(slots=True)
class _Prepared:
    """The results of the slow steps that run before the transaction.

    Attributes:
        texts: Redacted texts, by the text as it was passed.
        content: The text that is promoted.
        speaker: Who said it, if its metadata say so; the name is embedded with the text.
        chunks: Its chunks.
        vectors: Their vectors; empty where there are none.
        space: The space of the vectors.
        is_current: Whether that is the space in which the store is searched.
    """

    texts: dict[str, str] = field(default_factory=dict)
    content: str = ""
    speaker: object = None
    chunks: Sequence[str] = ()
    vectors: Sequence[Vector | None] = ()
    space: Space | None = None
    is_current: bool = False


@dataclass(frozen=True, slots=True)
class _PromotionOutcome:
    """The result of the transaction of a promotion.

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
    item: Promotable,
    scope: MemoryScope | None,
    actor: DecisionActor,
    options: PromotionOptions,
    work: Callable[[_Prepared, Parts], Awaitable[_PromotionOutcome]],
) -> Promotion:
    """Run a promotion: embed its text, then change everything in one transaction."""
    where = group_of(_scope_of(item, scope), "a promotion")
    for attempt in range(_TRIES):
        prepared = await _prepare(parts, item, scope, actor, is_retry=attempt > 0)
        if options.metadata and SPEAKER in options.metadata:
            named = redacted(parts.guard, {SPEAKER: options.metadata[SPEAKER]})
            prepared.speaker = named.get(SPEAKER)
        await _embed(parts, [prepared])
        outcome = await parts.transaction(where, partial(work, prepared))
        if not outcome.is_stale:
            break
    else:
        raise _busy()
    return await _reported(parts, outcome, prepared)


async def _reported(parts: Parts, outcome: _PromotionOutcome, prepared: _Prepared) -> Promotion:
    """Emit the events of a promotion, and embed what could not be embedded before."""
    promotion, event_context = outcome.promotion, parts.event_context(outcome.scope)
    if promotion.unembedded and parts.embedder is not None:
        # A text that the model does not know is not tried again.
        parts.embedder.cache.is_behind |= any(map(parts.embedder.supports, prepared.chunks))
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
        await retry_pending(parts, space)
    return promotion


def _scope_of(item: Promotable, scope: MemoryScope | None) -> MemoryScope:
    if scope is not None:
        return scope
    if isinstance(item, Entry | Insight):
        return item.scope
    require_promotable(item)  # a wrong item is a better reason than a missing group
    return MemoryScope()


async def _prepare(
    parts: Parts,
    item: Promotable,
    scope: MemoryScope | None,
    actor: DecisionActor,
    *,
    is_retry: bool,
) -> _Prepared:
    """Check and split what is promoted, as far as that can be done before the transaction."""
    if not is_retry and isinstance(item, Entry) and _passes(parts, item, scope, actor):
        # The transaction reads the entry anyway. If it is another one by now, it is read here.
        prepared = _Prepared()
        prepared.content = await redacted_text(parts, item.content, prepared.texts)
        prepared.speaker = item.metadata.get(SPEAKER)
        await _split(parts, prepared)
    else:
        prepared = await _checked(parts, item, scope, actor)
    return prepared


async def _checked(
    parts: Parts, item: Promotable, scope: MemoryScope | None, actor: DecisionActor
) -> _Prepared:
    """Check what is promoted, and split it.

    A text that the policy refuses is not sent to an embedding model.
    """
    prepared = _Prepared()
    if isinstance(item, str) and actor.is_person and is_text(item):
        prepared.content = await redacted_text(parts, item, prepared.texts)
    else:
        material = await material_of(parts, item, scope, actor, prepared.texts)
        prepared.content = material.content
        prepared.speaker = _saying_of(material).get(SPEAKER)
        if not material.content.strip():
            raise refusal_of_blank()
        await check(parts, material, actor)
    await _split(parts, prepared)
    return prepared


def _passes(parts: Parts, entry: Entry, scope: MemoryScope | None, actor: DecisionActor) -> bool:
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
    if not prepared.content.strip():
        raise refusal_of_blank()
    work = partial(chunks_of, prepared.content, parts.splitter, parts.limits)
    # A splitter of the application may take long, whatever the length of the text.
    is_long = parts.splitter is not None or len(prepared.content) > OFFLOAD_CHARS
    prepared.chunks = await parts.runner.offload(work) if is_long else work()


async def _embed(parts: Parts, every: Sequence[_Prepared]) -> None:
    """Embed the chunks of texts together."""
    if parts.embedder is None:
        return
    texts = [
        parts.embedder.text_of(chunk, {SPEAKER: prepared.speaker})
        for prepared in every
        for chunk in prepared.chunks
    ]
    if not texts:
        return
    vectors, space = await _vectors(parts, parts.embedder, texts)
    at = 0
    for prepared in every:
        end = at + len(prepared.chunks)
        prepared.vectors = vectors[at:end] if vectors else ()
        prepared.space, at = space, end


async def _promoted(
    parts: Parts,
    item: Promotable,
    scope: MemoryScope | None,
    actor: DecisionActor,
    options: PromotionOptions,
    prepared: _Prepared,
) -> _PromotionOutcome:
    """Promote what was prepared; this is the inside of the transaction."""
    text = prepared.content
    if parts.tiers.reads_ahead:
        await _read_ahead(parts, item, scope, options, prepared)
    material = await material_of(parts, item, scope, actor, prepared.texts, expected=text)
    return await _promoted_material(parts, material, actor, options, prepared)


async def _read_ahead(
    parts: Parts,
    item: Promotable,
    scope: MemoryScope | None,
    options: PromotionOptions,
    prepared: _Prepared,
) -> None:
    """Have everything read in one round trip that most promotions of a text or an entry read."""
    digest, group = hash_of(prepared.content), Select.within(_scope_of(item, scope))
    await parts.tiers.read_ahead(
        group,
        group.also(agents=(options.agent_id,), hashes=(digest,)),
        group.also(ids=(item.id,)) if isinstance(item, Entry) else None,
        prepared.space if prepared.vectors else None,
    )


async def _promoted_material(
    parts: Parts,
    material: Material,
    actor: DecisionActor,
    options: PromotionOptions,
    prepared: _Prepared,
) -> _PromotionOutcome:
    """Promote material that was read inside the transaction."""
    if material.content != prepared.content:
        return _PromotionOutcome(Promotion(), material.scope, is_stale=True)
    await check(parts, material, actor)
    if material.covers:
        refuse_rejected_statements(material)
    if material.entries:
        options = await _as_proposed(parts, material, actor, options)
    succession = await supersession.succession_of(parts, material, actor, options)
    request = _Request(material, actor, options, prepared)
    if succession.stronger:
        chunks = await _current_chunks(parts, material, options)
        if chunks and chunks[0].subject == options.subject:
            # The first version could leave two current texts of a subject.
            stronger = succession.stronger[0]
            await supersession.end(parts, stronger, [chunks[0].document_id], stronger.valid_from)
        return _PromotionOutcome(await _waiting(parts, request, succession), material.scope)
    promotion = await _added(parts, succession, request)
    if succession.reinstated:
        ended = [
            memory for memory in succession.reinstated if memory.document_id in promotion.superseded
        ]
        await note_replaced(parts, ended)
    if material.entries or material.repeats or material.copies != ():
        await _mark(parts, request, promotion)
    return _PromotionOutcome(promotion, material.scope)


# The current document of a text.


@dataclass(frozen=True, slots=True)
class _Request:
    """A request to promote: the material, the actor, the options, and what was computed of it."""

    material: Material
    actor: DecisionActor
    options: PromotionOptions
    prepared: _Prepared


async def _current_chunks(
    parts: Parts, material: Material, options: PromotionOptions
) -> list[Memory]:
    """Return the chunks of the current document with this text, if there is one."""
    store = parts.tiers.long_term
    select = Select.within(
        material.scope,
        agents=(options.agent_id,),
        hashes=(hash_of(material.content),),
        revocations=(None,),
    )
    page = await store.find(select)
    current = [item for item in page.items if item.valid_to is None]
    same = [memory for memory in current if memory.document_id == current[-1].document_id]
    return sorted(same, key=lambda memory: memory.chunk_index)


async def _joined(
    parts: Parts, chunks: Sequence[Memory], succession: Succession, request: _Request
) -> Promotion:
    """Add a promotion to a text that is in long-term memory, with the requested supersessions."""
    first, ground = chunks[0], _ground_of(parts, request)

    def joined(memory: Memory) -> Memory:
        since = min(memory.valid_from, succession.begins)
        named = replace(memory, subject=memory.subject or request.options.subject, valid_from=since)
        named = with_last_said(named, request.material)
        return with_promotion(named, ground, parts.limits.grounds)

    select = Select.within(first.scope, documents=(first.document_id,))
    changed = {memory.id: memory for memory in await parts.tiers.long_term.edit(select, joined)}
    chunks = [changed.get(memory.id, memory) for memory in chunks]
    ended = await supersession.end(parts, first, succession.replaces, succession.begins)
    if succession.successor is not None and chunks[0].subject == request.options.subject:
        chunks, ended = await file_as_past(parts, chunks, succession.successor)
    return Promotion(
        document_id=first.document_id,
        memories=tuple(chunks),
        existing=True,
        superseded=ended,
        contradictions=succession.contradictions(chunks),
    )


# Proposals in place of a promotion.


async def _as_proposed(
    parts: Parts, material: Material, actor: DecisionActor, options: PromotionOptions
) -> PromotionOptions:
    """Return how to promote an entry that waits for its subject, unless another is named.

    A person who approves a proposal decides about the subject of the proposal, and about what it
    would replace.

    Raises:
        PromotionRefused: If no person approves it, and what it would replace is trusted more.
        RemovalAsked: If it asks to forget something.
    """
    # What is for one user alone stays so in other words and with another subject.
    owners = {entry.personal_owner for entry in material.entries}
    if options.agent_id is None and len(owners) == 1 and not (options.shared or material.is_text):
        options = replace(options, agent_id=owners.pop() or None)
    waiting = [
        (entry, entry.waits)
        for entry in material.entries
        if entry.waits is not None
        and entry.status in WAITING
        and entry.content_hash == hash_of(material.content)
    ]
    if not waiting:
        return options
    entry, waits = waiting[0]
    if not waits.removes and options.subject not in (None, waits.subject or None):
        return options
    if (waits.removes or waits.replaces) and not actor.is_person:
        await _require_authority(parts, material, waits)
    if waits.removes:
        raise RemovalAsked(entry)
    is_ahead = waits.valid_from is not None and waits.valid_from > parts.clock()
    return replace(
        options,
        subject=waits.subject or None,
        agent_id=options.agent_id or (None if entry.personal_owner else waits.agent_id),
        valid_from=options.valid_from or (waits.valid_from if is_ahead else None),
        proposed=waits.replaces,
    )


async def _require_authority(parts: Parts, material: Material, waits: PendingPromotion) -> None:
    """Refuse a promotion by a machine that would end or hide what is trusted more."""
    select = Select.within(material.scope, ids=waits.against)
    for memory in (await parts.tiers.long_term.find(select)).items:
        if material.provenance.trust < authority(memory):
            raise PromotionRefused(
                f"Memory {memory.id} is trusted more ({authority(memory).name}) than the proposal"
                f" ({material.provenance.trust.name}); only a person may approve it",
                ("trust",),
            )


async def _waiting(parts: Parts, request: _Request, succession: Succession) -> Promotion:
    """Store a text as a proposal, for a person who may replace the current text."""
    waits = PendingPromotion(
        subject=request.options.subject or "",
        against=tuple(memory.id for memory in succession.stronger),
        agent_id=request.options.agent_id,
        valid_from=request.options.valid_from,
    )
    entry = await note_proposal(parts, request.material, request.actor, waits)
    return Promotion(proposal=entry, contradictions=succession.contradictions((entry,)))


# New documents.


async def _added(parts: Parts, succession: Succession, request: _Request) -> Promotion:
    """Add a text, or join the document that has it already."""
    prepared = request.prepared
    new = _memories(parts, request, prepared.chunks, succession.begins)
    vectors = await _storable_vectors(parts, prepared)
    memories = await parts.tiers.long_term.add(
        new, vectors, prepared.space, replaces=succession.replaces
    )
    if memories[0].document_id != new[0].document_id:
        return await _joined(parts, memories, succession, request)
    superseded = succession.replaces
    if succession.successor is not None:
        memories, superseded = await file_as_past(parts, memories, succession.successor)
    missing = (
        sum(vector is None for vector in vectors or [None] * len(new)) if parts.embedder else 0
    )
    return Promotion(
        document_id=memories[0].document_id,
        memories=tuple(memories),
        unembedded=missing,
        superseded=superseded,
        contradictions=succession.contradictions(memories) if succession.against else (),
    )


async def _storable_vectors(parts: Parts, prepared: _Prepared) -> Sequence[Vector | None]:
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
    parts: Parts, request: _Request, chunks: Sequence[str], begins: datetime
) -> list[Memory]:
    material, options = request.material, request.options
    now, document, ids = parts.clock(), parts.new_id(), [parts.new_id() for _ in chunks]
    scope = material.scope
    if scope.agent_id != options.agent_id:
        scope = replace(scope, agent_id=options.agent_id)
    if options.valid_from is None:
        now = max(now, begins)  # what it replaces was promoted by a machine whose clock is ahead
    digest = hash_of(material.content)
    metadata = {**_saying_of(material), **redacted(parts.guard, options.metadata or {})}
    memories = []
    for index, chunk in enumerate(chunks):
        chunk_metadata = {
            **metadata,
            "source": "promotion",
            "promoted_at": now.isoformat(),
            "promoted_by": request.actor.name,
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
            promoted_by=request.actor.name,
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


def _saying_of(material: Material) -> dict[str, Any]:
    """Return when the text was said first and last, and by whom if that is not its origin.

    A promotion may come weeks later, and a question names the days on which something was said.
    """
    if not material.entries:
        return {}
    first = min(material.entries, key=lambda entry: entry.said_at)
    metadata = {SAID_AT: first.said_at.isoformat()}
    last = last_said_of(material)
    if last is not None and last > first.said_at:
        metadata[SAID_AGAIN] = last.isoformat()
    if speaker := first.metadata.get(SPEAKER):
        metadata[SPEAKER] = speaker
    return metadata


async def _vectors(
    parts: Parts, embedder: Embedder, texts: Sequence[str]
) -> tuple[Sequence[Vector | None], Space | None]:
    """Return the vectors of the texts of chunks, and their space.

    There are none where that fails, and words find the chunks meanwhile.
    """
    try:
        vectors = await embedder.embed(parts.runner, texts)
    except EmbeddingFailed as failed:
        logger.warning("%s; the promoted text is found by its words until it is embedded", failed)
        return (), None
    first = next((vector for vector in vectors if vector is not None), None)
    if first is None:
        if any(map(embedder.supports, texts)):  # else the embedder has said it
            logger.warning("the embedding model has no vector for the promoted text; words find it")
        return (), None
    return vectors, embedder.space_of(first)


def _ground_of(parts: Parts, request: _Request) -> PromotionRecord:
    return PromotionRecord(
        scope=replace(request.material.scope, agent_id=request.options.agent_id),
        provenance=request.material.provenance,
        promoted_by=request.actor.name,
        promoted_at=parts.clock(),
    )


async def _mark(parts: Parts, request: _Request, promotion: Promotion) -> None:
    """Note on the entries what became of them.

    Raises:
        PromotionRefused: If one was revoked or rejected; then nothing is promoted.
    """

    def change(marked: Entry) -> Entry:
        if marked.status in DECIDED:
            return marked
        return closed(
            marked,
            "promoted",
            by=request.actor.name,
            at=parts.clock(),
            statements=material.covers.get(marked.id, ()),
            memory_ids=tuple(dict.fromkeys((*marked.memory_ids, *promotion.ids))),
        )

    material = request.material
    changed = await edited(parts, material.entries, change) if material.entries else {}
    decided = [entry for entry in changed.values() if entry.status in DECIDED]
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
        entries=material.entries,
    )
    if is_personal_agent(request.options.agent_id):
        user = material.scope.user_id  # what others have said in the same words waits for them
        repeats = [entry for entry in repeats if entry.scope.user_id == user]
    if others := [entry for entry in repeats if entry.id not in changed]:
        await edited(parts, others, change)

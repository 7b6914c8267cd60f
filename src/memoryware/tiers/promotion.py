"""Bringing a text into long-term memory: an act of somebody, all of it or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from memoryware.errors import EmbeddingFailed, EntryMissing, EntryRefused, PromotionRefused
from memoryware.events import emit, logger
from memoryware.scope import MemoryScope
from memoryware.tiers import supersession
from memoryware.tiers._parts import Parts, group_of
from memoryware.tiers.actors import Actor
from memoryware.tiers.grounds import promoted_again
from memoryware.tiers.material import Material, What, edited, material_of
from memoryware.tiers.permission import check
from memoryware.tiers.proposals import note_proposal, propose, reject, ungroup
from memoryware.tiers.records import DECIDED, Entry, Ground, Memory, PendingPromotion, hash_of
from memoryware.tiers.reindexing import embed_pending, place_of
from memoryware.tiers.review.decisions import closed, refuse_rejected_statements, repeats_of
from memoryware.tiers.screening import redacted
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.stores.sight import Space, Vector
from memoryware.tiers.succession import authority
from memoryware.tiers.supersession import AS_IS, How, Old, Place
from memoryware.tiers.text.segments import chunks_of
from memoryware.tiers.values import Insight, Promotion

__all__ = ["How", "Old", "What", "promote", "propose", "reject", "supersede", "ungroup"]


async def promote(
    parts: Parts,
    what: What,
    scope: MemoryScope | None,
    *,
    by: str,
    how: How = AS_IS,
) -> Promotion:
    """Put a text into long-term memory; a blank one puts nothing there.

    Where a more trusted decision keeps another text of the subject current, the new text waits
    as a proposal, which the result names.

    Raises:
        PromotionRefused: If the policy asks for more, or the entry may not be promoted.
        ScopeMissing: Without a group.
        EntryMissing: If there is no such entry in this scope.
        EntryRefused: For what is no text or too long.
        EmbeddingMismatch: If the store has vectors of another model, and was not opened for
            that.
    """
    actor, how = Actor.of(by), supersession.checked(parts, how)
    material = await material_of(parts, what, scope, actor)
    if not material.content.strip():
        return Promotion()
    await check(parts, material, actor)
    refuse_rejected_statements(material)
    how = _as_proposed(parts, material, how)
    place = await supersession.place_of(parts, material, actor, how)
    asked = _Asked(material, actor, how, parts.clock())
    known = await _known(parts, material, how)
    if place.stronger and not (known and known[0].subject == how.subject):
        return await _waiting(parts, asked, place)
    made, space = await _joined(parts, known, place, asked), None
    if made is None:
        made, space = await _added(parts, place, asked)
    if made.proposal is not None:
        return made
    await _mark(parts, asked, made)
    if not made.existing:
        emit(parts.teller(material.scope), "promoted", tier="long_term", entries=len(made.ids))
    if not made.unembedded:
        await _retry(parts, space)
    return made


async def supersede(
    parts: Parts,
    old: Old,
    new: What,
    scope: MemoryScope | None,
    *,
    by: str,
    how: How = AS_IS,
) -> Promotion:
    """Put a text in the place of one that is in long-term memory, which stays as the past.

    Raises:
        EntryMissing: If there is no such memory in this scope.
        PromotionRefused: If the policy asks for more, the old one is not current, or what is
            no person would replace something that is trusted more.
        EntryRefused: For a blank text.
    """
    actor, how = Actor.of(by), supersession.checked(parts, how)
    own = new.scope if isinstance(new, Entry | Insight) else None
    where = group_of(scope or supersession.scope_of_old(old) or own or MemoryScope(), "superseding")
    first = await supersession.first_of(parts, old, where)
    material = await material_of(parts, new, where, actor)
    if not material.content.strip():
        raise EntryRefused("a blank text cannot take the place of another; revoke() hides one")
    if not actor.is_person and material.provenance.trust < authority(first):
        raise PromotionRefused(
            f"Memory {first.id} is trusted more ({authority(first).name}) than what would"
            f" take its place ({material.provenance.trust.name}); a person must do that",
            ("trust",),
        )
    how = replace(
        how,
        subject=how.subject or first.subject,
        agent_id=how.agent_id or first.scope.agent_id,
        replaces=(first.document_id,),
    )
    return await promote(parts, new, where, by=by, how=how)


# What is there already.


@dataclass(frozen=True, slots=True)
class _Asked:
    """What somebody asks for: a text, who asks, how, and since when."""

    material: Material
    actor: Actor
    how: How
    since: datetime


async def _known(parts: Parts, material: Material, how: How) -> list[Memory]:
    """Return the chunks of the current document with this text, if there is one."""
    store = parts.tiers.long_term
    which = Select.within(
        material.scope,
        agents=(how.agent_id,),
        hashes=(hash_of(material.content),),
        revocations=(None,),
    )
    page = await store.find(which)
    current = [one for one in page.items if one.valid_to is None]
    same = [one for one in current if one.document_id == current[-1].document_id]
    return sorted(same, key=lambda one: one.chunk_index)


async def _joined(
    parts: Parts, known: Sequence[Memory], place: Place, asked: _Asked
) -> Promotion | None:
    """Let a text that is there already take the places that are asked for, on one ground more.

    None if it is not there, or was forgotten meanwhile.
    """
    if not known:
        return None
    first, ground = known[0], _ground_of(parts, asked)

    def joined(one: Memory) -> Memory:
        since = min(one.valid_from, place.begins)
        named = replace(one, subject=one.subject or asked.how.subject, valid_from=since)
        return promoted_again(named, ground, parts.limits.grounds)

    store = parts.tiers.long_term
    which = Select.within(first.scope, documents=(first.document_id,))
    await store.edit(which, joined)
    known = (await store.find(which)).items
    if not known or known[0].valid_to is not None:  # forgotten, or superseded meanwhile
        return None
    known = sorted(known, key=lambda one: one.chunk_index)
    ended = await supersession.end(parts, first, place.replaces, place.begins)
    settled = await supersession.keep_one_current(parts, known[0])
    if settled.stronger is not None:
        return await _waiting(parts, asked, _lost(place, asked, settled.stronger))
    ended = tuple(dict.fromkeys((*ended, *settled.ended)))
    if ended and not await supersession.stays(parts, first):
        raise PromotionRefused(
            "Somebody else has just put the other text in the place of this one; look at what"
            " holds now",
            ("not_current",),
        )
    return Promotion(
        document_id=first.document_id,
        memories=tuple(known),
        existing=True,
        superseded=ended,
        contradictions=place.contradictions(known),
    )


# What waits.


def _as_proposed(parts: Parts, material: Material, how: How) -> How:
    """Return how to promote an entry that waits for its subject, unless another is named.

    Whoever approves the proposal decides about the subject for which it was made.
    """
    if how.subject is not None:
        return how
    waiting = [
        one.waits
        for one in material.entries
        if one.waits is not None
        and one.status == "proposed"
        and one.content_hash == hash_of(material.content)
    ]
    if not waiting:
        return how
    waits = waiting[0]
    is_ahead = waits.valid_from is not None and waits.valid_from > parts.clock()
    return replace(
        how,
        subject=waits.subject,
        agent_id=how.agent_id or waits.agent_id,
        valid_from=how.valid_from or (waits.valid_from if is_ahead else None),
    )


def _lost(place: Place, asked: _Asked, stronger: Memory) -> Place:
    """Return the place of a text that lost to another of its subject at the same moment."""
    reason = supersession.reason_of_stronger(asked.how.subject)
    others = tuple(one for one in place.against if one[0].document_id != stronger.document_id)
    return replace(place, against=((stronger, reason), *others), stronger=(stronger,))


async def _waiting(parts: Parts, asked: _Asked, place: Place) -> Promotion:
    """Keep a text as a proposal, for a person who may replace what is current."""
    waits = PendingPromotion(
        subject=asked.how.subject or "",
        against=tuple(one.id for one in place.stronger),
        agent_id=asked.how.agent_id,
        valid_from=asked.how.valid_from,
    )
    entry = await note_proposal(parts, asked.material, asked.actor, waits)
    teller = parts.teller(asked.material.scope)
    emit(teller, "rejected", tier="long_term", reason="less_trusted")
    logger.info(
        "a text about %r waits as proposal %s: memory %s is current and trusted more",
        waits.subject,
        entry.id,
        place.stronger[0].id,
    )
    return Promotion(proposal=entry, contradictions=place.contradictions((entry,)))


# What is new.


async def _added(parts: Parts, place: Place, asked: _Asked) -> tuple[Promotion, Space | None]:
    """Return what was put there, and the space of its vectors if that is the current one."""
    work = partial(chunks_of, asked.material.content, parts.splitter, parts.limits)
    chunks = await parts.runner.offload(work)
    new = _memories(parts, asked, chunks, place.begins)
    vectors, space, is_current = await _vectors(parts, chunks)
    store = parts.tiers.long_term
    kept = await store.add(new, vectors, space, replaces=place.replaces)
    if kept[0].document_id != new[0].document_id:  # somebody else was faster with this text
        joined = await _joined(parts, kept, place, asked)
        return (joined, None) if joined else await _added(parts, place, asked)
    first = kept[0]
    if await supersession.was_late(parts, first, asked.how.replaces):
        await supersession.undo(parts, first)
        raise PromotionRefused(
            "Somebody else has just superseded the same memory; look at what holds now",
            ("not_current",),
        )
    settled = await supersession.keep_one_current(parts, first)
    if settled.stronger is not None:
        waiting = await _waiting(parts, asked, _lost(place, asked, settled.stronger))
        return waiting, None
    ended = tuple(dict.fromkeys((*place.replaces, *settled.ended)))
    missing = sum(one is None for one in vectors or [None] * len(new)) if parts.embedder else 0
    made = Promotion(
        document_id=first.document_id,
        memories=tuple(kept),
        unembedded=missing,
        superseded=tuple(one for one in ended if one != first.document_id),
        contradictions=place.contradictions(kept),
    )
    return made, space if is_current else None


def _memories(parts: Parts, asked: _Asked, chunks: Sequence[str], begins: datetime) -> list[Memory]:
    material, how = asked.material, asked.how
    now, document = parts.clock(), parts.new_id()
    if how.valid_from is None:
        now = max(now, begins)  # what it replaces was promoted by a machine whose clock is ahead
    digest, said = hash_of(material.content), redacted(parts.guard, how.metadata)
    made = []
    for index, chunk in enumerate(chunks):
        known = {
            **said,
            "source": "promotion",
            "promoted_at": now.isoformat(),
            "promoted_by": asked.actor.name,
            "chunk_index": index,
            "chunk_count": len(chunks),
            "source_entry_ids": list(material.provenance.sources),
            "content_hash": digest,
        }
        one = Memory(
            id=parts.new_id(),
            document_id=document,
            scope=replace(material.scope, agent_id=how.agent_id),
            content=chunk,
            created_at=now,
            provenance=material.provenance,
            promoted_by=asked.actor.name,
            chunk_index=index,
            chunk_count=len(chunks),
            content_hash=digest,
            metadata=known,
            subject=how.subject,
            valid_from=begins,
            verdict=material.verdict,
        )
        made.append(one)
    return made


async def _vectors(
    parts: Parts, chunks: Sequence[str]
) -> tuple[Sequence[Vector | None], Space | None, bool]:
    """Return the vectors of chunks, their space, and whether it is the current one.

    There are none where that fails, and words find the chunks meanwhile.
    """
    if parts.embedder is None:
        return (), None, False
    try:
        made = await parts.embedder.embed(parts.runner, chunks)
    except EmbeddingFailed as failed:
        logger.warning("%s; the promoted text is found by its words until it is embedded", failed)
        return (), None, False
    first = next((one for one in made if one is not None), None)
    if first is None:
        logger.warning("the embedding model has no vector for the promoted text; words find it")
        return (), None, False
    space = parts.embedder.space_of(first)
    where = await place_of(parts, space)
    return ((), None, False) if where == "nowhere" else (made, space, where == "current")


def _ground_of(parts: Parts, asked: _Asked) -> Ground:
    return Ground(
        scope=replace(asked.material.scope, agent_id=asked.how.agent_id),
        provenance=asked.material.provenance,
        promoted_by=asked.actor.name,
        promoted_at=parts.clock(),
    )


async def _mark(parts: Parts, asked: _Asked, made: Promotion) -> None:
    """Note on the entries what became of them.

    Raises:
        PromotionRefused: If one was revoked or rejected meanwhile; then nothing of it stays.
        EntryMissing: If one was forgotten meanwhile; the same.
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
    entries = material.entries
    seen = await edited(parts, entries, change)
    gone = [one.id for one in entries if one.id not in seen]
    against = [one for one in seen.values() if one.status in DECIDED]
    if (gone or against) and not made.existing:
        await supersession.undo(parts, made.memories[0])
    elif gone or against:
        # It is the only promotion left where the other one was turned down at the same moment.
        ground = replace(_ground_of(parts, asked), promoted_at=asked.since)
        await supersession.undo(parts, made.memories[0], ground)
    if gone:
        raise EntryMissing(f"Entry {gone[0]} was forgotten meanwhile; nothing was promoted")
    if against:
        status = against[0].status
        raise PromotionRefused(
            f"Entry {against[0].id} was {status} meanwhile; nothing was promoted", (status,)
        )
    trust = material.provenance.trust
    repeats = await repeats_of(
        parts, material.scope, material.content, trust=trust, ids=material.repeats
    )
    await edited(parts, [one for one in repeats if one.id not in seen], change)


async def _retry(parts: Parts, space: Space | None) -> None:
    """Embed what could not be embedded before, if the model answers now; see `embed_pending`."""
    if parts.embedder is None or not parts.limits.retry_unembedded:
        return
    try:
        await embed_pending(parts, parts.limits.retry_unembedded, again=False, space=space)
    except EmbeddingFailed:
        logger.debug("the embedding model still does not answer; asked again at the next promotion")

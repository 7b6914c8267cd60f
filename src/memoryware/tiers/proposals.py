"""Asking for a promotion, and turning one down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from memoryware.errors import EntryMissing, EntryRefused, PromotionRefused
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts
from memoryware.tiers.actors import Actor
from memoryware.tiers.material import Material, What, edited, material_of
from memoryware.tiers.permission import refusal_of
from memoryware.tiers.records import Entry, PendingPromotion
from memoryware.tiers.review.decisions import closed, repeats_of
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.values import Insight


async def propose(
    parts: Parts,
    what: What,
    scope: MemoryScope | None,
    *,
    by: str,
    waits: PendingPromotion | None = None,
) -> Entry:
    """Note that somebody asks for a promotion; return the entry, which quarantine keeps.

    A text or insight becomes an entry by it, unless the same text waits already. What is
    promoted already stays so.

    Args:
        parts: The memory.
        what: The text, entry or insight.
        scope: Whose memory it would become.
        by: Who proposes it.
        waits: The promotion that waits until somebody decides, if it was one.

    Raises:
        PromotionRefused: For an entry that was revoked, is the verdict of a check, or an echo
            that no person proposes.
        EntryMissing: If there is no such entry in this scope.
        EntryRefused: For an empty text, or one that is too long.
    """
    actor = Actor.of(by)
    material = await material_of(parts, what, scope, actor)
    if not material.content.strip():
        raise EntryRefused("there is no text to propose")
    refused = {
        code: said for one in material.entries for code, said in refusal_of(one, actor).items()
    }
    if refused:
        raise PromotionRefused(f"Not proposed: {'; '.join(refused.values())}", tuple(refused))
    return await note_proposal(parts, material, actor, waits)


async def note_proposal(
    parts: Parts, material: Material, actor: Actor, waits: PendingPromotion | None = None
) -> Entry:
    """Note on the entry of a text that it was proposed; add an entry if it has none."""
    same = [one for one in material.entries if one.content == material.content]
    if material.is_text or waits:  # what was promoted before waits again, as another entry
        same = [one for one in same if one.status in ("pending", "proposed")]
    if not same or (len(material.entries) > 1 and not material.is_text):
        return await _new_entry(parts, material, actor, waits)

    def change(one: Entry) -> Entry:
        if one.status in ("promoted", "revoked"):
            return one
        return replace(
            one,
            status="proposed",
            proposed_by=actor.name,
            proposers=tuple(dict.fromkeys((*one.all_proposers, actor.name))),
            waits=waits or one.waits,
            # What was turned down as a whole is reviewed anew, statement by statement.
            decided={} if one.status == "rejected" else one.decided,
        )

    return await _changed(parts, same[0], change)


async def reject(
    parts: Parts,
    what: str | Entry | Insight,
    scope: MemoryScope | None,
    *,
    by: str,
    reason: str = "",
) -> Entry:
    """Note that an entry, or a statement of it, shall not be promoted.

    The entry leaves working memory. Of an insight every entry is decided, as far as it makes the
    statement; one that makes others still waits for them.

    Returns:
        The entry; of an insight its first source.

    Raises:
        PromotionRefused: If it was promoted or revoked already.
        EntryMissing: If there is no such entry in this scope.
    """
    actor = Actor.of(by)
    material = await material_of(parts, what, scope, actor)
    if not material.entries or (len(material.entries) != 1 and not isinstance(what, Insight)):
        raise EntryMissing("Only an entry or an insight can be rejected: pass it, or its id")
    metadata = {"rejected_because": parts.redacted(reason)} if reason else {}

    def change(one: Entry) -> Entry:
        covered = material.covers.get(one.id, ())
        # A statement that was promoted stays so while its entry waits with the others.
        statements = tuple(key for key in covered if one.decided.get(key) != "promoted")
        if one.status in ("promoted", "revoked") or (covered and not statements):
            return one
        return closed(
            one,
            "rejected",
            by=actor.name,
            at=parts.clock(),
            statements=statements,
            metadata={**one.metadata, **metadata},
        )

    entry, *others = material.entries
    entry = await _changed(parts, entry, change)
    statements = material.covers.get(entry.id, ())
    is_rejected = entry.status == "rejected" or (
        bool(statements) and any(entry.decided.get(one) == "rejected" for one in statements)
    )
    if not is_rejected:
        status = "promoted" if entry.status != "revoked" and statements else entry.status
        subject = "This statement of entry" if statements else "Entry"
        raise PromotionRefused(
            f"{subject} {entry.id} was {status} already, so it cannot be rejected; revoke()"
            " takes back what was promoted",
            (status,),
        )
    trust = max(one.provenance.trust for one in material.entries)
    repeats = await repeats_of(
        parts, entry.scope, material.content, trust=trust, ids=material.repeats
    )
    every = {one.id: one for one in (*others, *repeats) if one.id != entry.id}
    await edited(parts, every.values(), change)
    working = parts.tiers.working
    gone = Select.within(entry.scope, ids=(entry.id, *every))
    await working.delete(gone)
    return entry


async def ungroup(parts: Parts, what: str | Entry, scope: MemoryScope | None) -> Entry:
    """Take an entry out of its group: a digest shows it alone, whatever it repeats.

    Raises:
        EntryMissing: If there is no such entry in this scope.
    """
    material = await material_of(parts, what, scope, Actor.of("ungroup"))
    if len(material.entries) != 1:
        raise EntryMissing("Only an entry can be taken out of its group: pass it, or its id")
    return await _changed(parts, material.entries[0], lambda one: replace(one, ungrouped=True))


async def _new_entry(
    parts: Parts, material: Material, actor: Actor, waits: PendingPromotion | None
) -> Entry:
    entry = Entry(
        id=parts.new_id(),
        scope=material.scope,
        content=material.content,
        created_at=parts.clock(),
        provenance=material.provenance,
        role="other",
        status="proposed",
        proposed_by=actor.name,
        proposers=(actor.name,),
        waits=waits,
    )
    store = parts.tiers.quarantine
    return await store.add(entry)


async def _changed(parts: Parts, entry: Entry, change: Callable[[Entry], Entry]) -> Entry:
    seen = await edited(parts, [entry], change)
    if entry.id not in seen:
        raise EntryMissing(f"Entry {entry.id} was forgotten meanwhile")
    return seen[entry.id]

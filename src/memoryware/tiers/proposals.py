"""Proposals: promotions that wait for a reviewer, and who may promote what."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from memoryware.errors import EntryMissing, EntryRefused, PromotionRefused
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts
from memoryware.tiers.actors import Actor
from memoryware.tiers.material import Material, Promotable, edited, material_of
from memoryware.tiers.messages import JUDGING
from memoryware.tiers.model import SOURCE_GONE, Entry, PendingPromotion, hash_of
from memoryware.tiers.review.decisions import Support, alike, closed, independent, repeats_of
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.text.comparison import contradiction_between, same_words, says_the_same
from memoryware.tiers.values import Insight

# Who may promote it.


async def check(parts: Parts, material: Material, actor: Actor) -> None:
    """Let a promotion pass, or say everything that stands against it.

    Raises:
        PromotionRefused: With a code for each reason.
    """
    missing = _of_entries(material, actor) | await _superseded(parts, material)
    missing |= _of_actor(parts, actor, await _proposers(parts, material))
    policy = parts.policy
    if material.provenance.trust < policy.min_trust:
        missing["min_trust"] = (
            f"its trust is {material.provenance.trust.name}, and min_trust asks for"
            f" {policy.min_trust.name}; a person who knows it can promote it in their own words"
        )
    if policy.corroboration:
        found = independent(await _support(parts, material), actor)
        if found < policy.corroboration:
            missing["corroboration"] = (
                f"{policy.corroboration} independent origins must say the same, and {found}"
                f" {'does' if found == 1 else 'do'}; wait for others, or add them"
            )
    if missing:
        raise PromotionRefused(f"Not promoted: {'; '.join(missing.values())}", tuple(missing))


def refusal_of(entry: Entry, actor: Actor) -> dict[str, str]:
    """Return why an actor may not keep an entry for long, by code; nothing if that is allowed.

    An echo is a guess about what is news, which a person may overrule. A verdict is no
    statement of its own: as a memory it would be evidence for the claim that it judged.
    """
    missing = {}
    if entry.status == "revoked":
        missing["revoked"] = (
            f"entry {entry.id} was revoked; restore(receipt) puts it back if that was wrong"
        )
    if entry.refused == SOURCE_GONE:
        missing[SOURCE_GONE] = (
            f"entry {entry.id} was made of a text that was forgotten; a person who knows it can"
            " promote it in their own words"
        )
    if entry.role in JUDGING:
        missing["verdict"] = (
            f"entry {entry.id} is the verdict of a check and no fact; promote the text that was"
            " checked"
        )
    if (entry.echo_of or entry.refused == "echo") and not actor.is_person:
        missing["echo"] = (
            f"entry {entry.id} only repeats what memory had shown; a person can promote it"
        )
    return missing


def _of_entries(material: Material, actor: Actor) -> dict[str, str]:
    missing: dict[str, str] = {}
    for entry in material.entries:
        missing |= refusal_of(entry, actor)
        if entry.status == "rejected":
            missing["rejected"] = (
                f"entry {entry.id} was rejected by {entry.decided_by}; propose() it again first"
            )
    if not material.entries and not actor.is_person:  # a machine must not get it in as a text
        for entry in material.turned_down:
            missing |= refusal_of(entry, actor) or {
                entry.status: f"the same text was {entry.status} as entry {entry.id}; a person can"
                " promote it"
            }
    return missing


async def _superseded(parts: Parts, material: Material) -> dict[str, str]:
    """Say of an entry that what became of it does not hold anymore; a text may hold again."""
    entries = () if material.is_text else material.entries
    became = {id_: one for one in entries for id_ in one.memory_ids}
    if not became:
        return {}
    store = parts.tiers.long_term
    which = Select.within(material.scope, ids=tuple(became))
    found = (await store.find(which)).items
    now = parts.clock()
    ended = [one for one in found if one.valid_to is not None and one.valid_to <= now]
    current = {became[one.id].id for one in found if one not in ended}
    for one in ended:
        if became[one.id].id not in current:
            return {
                "superseded": f"what became of entry {became[one.id].id} was superseded by"
                f" {one.superseded_by}; promote its text if it holds again"
            }
    return {}


@dataclass(frozen=True, slots=True)
class _Proposers:
    """Who proposed a text.

    Attributes:
        each: Of each entry that it is made of, everybody who proposed that text.
        everybody: All of them, and who proposed the text itself.
    """

    each: tuple[tuple[str, ...], ...] = ()
    everybody: tuple[str, ...] = ()


async def _proposers(parts: Parts, material: Material) -> _Proposers:
    """Return who proposed a text, also as another entry: the same text can wait several times."""
    if not parts.policy.four_eyes:
        return _Proposers()
    hashes = {one.content_hash for one in material.entries}
    wanted = tuple({*hashes, hash_of(material.content)})
    store = parts.tiers.quarantine
    page = await store.find(Select.within(material.scope, hashes=wanted))
    names: dict[str, dict[str, None]] = {}
    for one in (*material.entries, *page.items):
        names.setdefault(one.content_hash, {}).update(dict.fromkeys(one.all_proposers))
    return _Proposers(
        tuple(tuple(some) for text, some in names.items() if text in hashes),
        tuple(name for some in names.values() for name in some),
    )


def _of_actor(parts: Parts, actor: Actor, proposers: _Proposers) -> dict[str, str]:
    missing = {}
    if parts.policy.approval and not actor.is_person:
        missing["approval"] = (
            f"a person must promote it, and by={actor.name!r} is a machine; let a person decide"
            " (by='person:...' if this is the name of one)"
        )
    if parts.policy.four_eyes:
        if not proposers.each or not all(proposers.each):
            missing["own_proposal"] = (
                "somebody must have proposed it with propose(), and somebody else promote the"
                " entry that propose() returned"
            )
        elif any(map(actor.is_same, proposers.everybody)):
            missing["own_proposal"] = (
                f"{actor.name!r} proposed it; somebody else must promote the entry"
            )
    return missing


async def _support(parts: Parts, material: Material) -> list[Support]:
    """Return the texts that say the same: its own entries, and others that wait or passed."""
    store = parts.tiers.quarantine
    which = Select.within(material.scope, statuses=("pending", "proposed", "promoted"))
    found = await store.find(which, limit=parts.limits.digest_entries)
    work = partial(_saying_the_same, material, found.items, parts.policy.similarity)
    return await parts.runner.offload(work)


def _is_support(text: str, other: str, share: float) -> bool:
    if share == 1:
        return same_words(text, other)
    return says_the_same(text, other) and not contradiction_between(text, other)


def _saying_the_same(material: Material, found: Sequence[Entry], share: float) -> list[Support]:
    known = {one.id: one for one in (*alike(material.content, found, share), *material.entries)}
    return [
        Support(one.id, one.provenance, one.scope.session_id)
        for one in known.values()
        if not one.echo_of and _is_support(material.content, one.content, share)
    ]


# Proposals.


async def propose(
    parts: Parts,
    what: Promotable,
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

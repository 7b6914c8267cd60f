"""Whether a text may be promoted: what became of its entries, and what the policy asks for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from memoryware._twins import Via, in_thread
from memoryware.errors import PromotionRefused
from memoryware.tiers._parts import Parts
from memoryware.tiers.actors import Actor
from memoryware.tiers.contradiction import why
from memoryware.tiers.corroboration import Support, alike, independent
from memoryware.tiers.grounds import SOURCE_GONE
from memoryware.tiers.ingress.claims import same_words, says_the_same
from memoryware.tiers.material import Material
from memoryware.tiers.records import Entry
from memoryware.tiers.stores.protocol import Select


async def check(parts: Parts, via: Via, material: Material, actor: Actor) -> None:
    """Let a promotion pass, or say everything that stands against it.

    Raises:
        PromotionRefused: With a code for each reason.
    """
    missing = _of_entries(material.entries) | await _superseded(parts, via, material)
    missing |= _of_actor(parts, material, actor)
    policy = parts.policy
    if material.provenance.trust < policy.min_trust:
        missing["min_trust"] = (
            f"its trust is {material.provenance.trust.name}, and min_trust asks for"
            f" {policy.min_trust.name}; a person who knows it can promote it in their own words"
        )
    if policy.corroboration:
        found = independent(await _support(parts, via, material))
        if found < policy.corroboration:
            missing["corroboration"] = (
                f"{policy.corroboration} independent origins must say the same, and {found}"
                f" {'does' if found == 1 else 'do'}; wait for others, or add them"
            )
    if missing:
        raise PromotionRefused(f"Not promoted: {'; '.join(missing.values())}", tuple(missing))


def refusal_of(entry: Entry) -> dict[str, str]:
    """Return why nothing of an entry may be kept for long, by code; nothing if it may."""
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
    if entry.echo_of or entry.refused == "echo":
        missing["echo"] = f"entry {entry.id} only repeats what memory had shown"
    return missing


def _of_entries(entries: tuple[Entry, ...]) -> dict[str, str]:
    missing: dict[str, str] = {}
    for entry in entries:
        missing |= refusal_of(entry)
        if entry.status == "rejected":
            missing["rejected"] = (
                f"entry {entry.id} was rejected by {entry.decided_by}; propose() it again first"
            )
    return missing


async def _superseded(parts: Parts, via: Via, material: Material) -> dict[str, str]:
    """Say of an entry that what became of it does not hold anymore."""
    became = {id_: one for one in material.entries for id_ in one.memory_ids}
    if not became:
        return {}
    store = parts.stores.long_term
    which = Select.within(material.scope, ids=tuple(became))
    found = (await via(store.find, store.afind, which)).items
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


def _of_actor(parts: Parts, material: Material, actor: Actor) -> dict[str, str]:
    missing = {}
    if parts.policy.approval and not actor.is_person:
        missing["approval"] = (
            f"a person must promote it, and by={actor.name!r} is none; let one decide"
        )
    if parts.policy.four_eyes:
        proposers = [one.proposed_by for one in material.entries]
        if not proposers or not all(proposers):
            missing["own_proposal"] = (
                "somebody must have proposed it with propose(), and somebody else promote the"
                " entry that propose() returned"
            )
        elif any(name and actor.is_same(name) for name in proposers):
            missing["own_proposal"] = (
                f"{actor.name!r} proposed it; somebody else must promote the entry"
            )
    return missing


async def _support(parts: Parts, via: Via, material: Material) -> list[Support]:
    """Return the texts that say the same: its own entries, and others that wait or passed."""
    store = parts.stores.quarantine
    which = Select.within(material.scope, statuses=("pending", "proposed", "promoted"))
    found = await via(store.find, store.afind, which, limit=parts.limits.digest_entries)
    work = partial(_saying_the_same, material, found.items, parts.policy.similarity)
    return await via(work, partial(in_thread, work))


def _is_support(text: str, other: str, share: float) -> bool:
    if share == 1:
        return same_words(text, other)
    return says_the_same(text, other) and not why(text, other)


def _saying_the_same(material: Material, found: Sequence[Entry], share: float) -> list[Support]:
    known = {one.id: one for one in (*alike(material.content, found, share), *material.entries)}
    supporting = [
        Support(one.id, one.provenance)
        for one in known.values()
        if _is_support(material.content, one.content, share)
    ]
    if not material.entries:
        supporting.append(Support("", material.provenance))
    return supporting

"""Whether a text may be promoted: what became of its entries, and what the policy asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from memoryware.errors import PromotionRefused
from memoryware.tiers._parts import Parts
from memoryware.tiers.actors import Actor
from memoryware.tiers.grounds import SOURCE_GONE
from memoryware.tiers.material import Material
from memoryware.tiers.records import Entry, hash_of
from memoryware.tiers.review.corroboration import Support, alike, independent
from memoryware.tiers.roles import JUDGING
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.text.claims import same_words, says_the_same
from memoryware.tiers.text.contradictions import contradiction_between


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

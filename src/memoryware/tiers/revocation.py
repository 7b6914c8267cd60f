"""Taking back a text or an origin with everything that came from it, and putting it back."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeAlias

from memoryware.errors import EntryMissing, SettingError, TierError
from memoryware.events import logger
from memoryware.scope import MemoryScope
from memoryware.tiers._noting import note
from memoryware.tiers._parts import Parts
from memoryware.tiers.grounds import given_back, taken_back, without_grounds
from memoryware.tiers.journal import noted_of
from memoryware.tiers.lineage import Found, everything_of, made_of
from memoryware.tiers.records import Entry, Memory, Origin, Verdict
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.succession import by_document, end_anew, reinstated_without
from memoryware.tiers.values import ContextItem, Counts, Insight, Promotion, Receipt

Revocable: TypeAlias = str | Entry | Memory | ContextItem | Promotion | Insight | Origin
"""What can be revoked: a record, its id, what holds records, or an origin."""

_LOOKS: Final = 5
"""How often is looked for what was made of a text while it was being taken back."""


async def revoke(
    parts: Parts,
    what: Revocable,
    scope: MemoryScope,
    *,
    by: str,
    reason: str = "",
    descendants: bool = True,
    dry_run: bool = False,
) -> Receipt:
    """Hide a text, and everything that was made of it, from recall in every tier.

    With `dry_run` it is only counted.

    What a revoked document had taken the place of holds again. A memory that others have
    promoted as well, from a text that is not taken back, stays and is theirs.

    Raises:
        EntryMissing: If there is no such text in this scope.
        TierError: If more came from it than `lineage` allows; then nothing was changed.
    """
    if not by.strip():
        raise SettingError("by: say who revokes it, such as by='ann'")
    found = await _found(parts, what, scope, descendants)
    if not isinstance(what, Origin) and not found.ids:
        hint = "; an origin is Origin(kind, name)" if ":" in _name(what) else ""
        raise EntryMissing(f"Group {scope.group_id!r} has no entry or memory {_name(what)}{hint}")
    if found.total > parts.limits.lineage:
        raise TierError(
            f"{found.total} records came from it, more than lineage={parts.limits.lineage} allows;"
            " raise TierLimits(lineage=...) if that is meant"
        )
    receipt = Receipt(
        id=parts.new_id(),
        scope=scope,
        what=_name(what),
        by=by,
        at=parts.clock(),
        reason=reason,
    )
    if dry_run:
        return replace(
            receipt,
            id="",
            ids=found.ids,
            counts=await _shown_of(parts, found, scope),
            reinstated=await _reinstated_by(parts, found, scope),
        )
    counts, again = await _hide(parts, found, receipt)
    for _ in range(_LOOKS):  # what was made of it meanwhile; a promotion sees what is hidden now
        before, found = found, await _found(parts, what, scope, descendants)
        if found.is_within(before):
            break
        more, later = await _hide(parts, found, receipt)
        counts, again = counts + more, again | later
    receipt = replace(
        receipt,
        ids=tuple(dict.fromkeys((*before.ids, *found.ids))),
        counts=counts,
        reinstated=tuple(one for one in again if one not in found.long_term),
    )
    for one in receipt.reinstated:
        logger.warning("memory %s is current again: what had taken its place was revoked", one)
    await note(parts, noted_of(receipt))
    return receipt


async def restore(parts: Parts, receipt: Receipt, *, by: str) -> Counts:
    """Put back exactly what a revocation took back; return how much is shown again.

    What another revocation takes back as well stays hidden.
    """
    if not by.strip():
        raise SettingError("by: say who restores it, such as by='ann'")
    stores = parts.tiers
    within = Select.within(receipt.scope)
    shown: list[int] = []
    give: Any = partial(given_back, receipt=receipt.id)
    found = await made_of(parts, receipt.scope, receipt.ids)  # with what came later
    ids = tuple(dict.fromkeys((*receipt.ids, *found.ids)))
    for store in _stores(parts):
        back = 0
        for which in (within.also(ids=ids), within.also(revocations=(receipt.id,))):
            changed = await store.edit(which, give)
            back += sum(one.revocation is None for one in changed)
            if changed and store is stores.long_term:
                await end_anew(parts, receipt.scope)
        shown.append(back)
    counts = Counts(quarantine=shown[0], working=shown[1], long_term=shown[2])
    said = replace(noted_of(receipt), kind="restored", at=parts.clock(), by=by, counts=counts)
    await note(parts, replace(said, reason="", ids=(), reinstated=()))
    return counts


async def attach_verdict(
    parts: Parts,
    what: str | Entry | Memory,
    verdict: Verdict,
    scope: MemoryScope | None,
) -> Entry | Memory:
    """Note what a check of facts said, wherever the text is.

    It reaches exactly this text in every tier of the group.

    Raises:
        EntryMissing: If there is no such record in this scope.
    """
    where = scope or (what.scope if not isinstance(what, str) else MemoryScope())
    checked = replace(verdict, at=verdict.at or parts.clock())
    found = await _judged(parts, Select.within(where, ids=ids_of(what)), checked)
    if not found:
        raise EntryMissing(f"Group {where.group_id!r} has no entry or memory {_name(what)}")
    hashes = tuple({one.content_hash for one in found})
    await _judged(parts, Select.within(where, hashes=hashes), checked)
    return found[0]


async def _judged(parts: Parts, which: Select, verdict: Verdict) -> list[Entry | Memory]:
    """Note a verdict on what is meant; return all of it, as it is then."""
    found: list[Entry | Memory] = []
    for store in _stores(parts):
        await store.edit(which, partial(replace, verdict=verdict))
        found += (await store.find(which)).items
    return found


def ids_of(what: Any) -> tuple[str, ...]:
    """Return the ids that are meant by a record, or by what holds records."""
    if isinstance(what, str):
        return (what,)
    if isinstance(what, Promotion):
        return what.ids
    if isinstance(what, Insight):
        return what.source_entry_ids
    return (str(what.id),)


async def _found(parts: Parts, what: Revocable, scope: MemoryScope, descendants: bool) -> Found:
    if isinstance(what, Origin):
        return await everything_of(parts, scope, what)
    return await made_of(parts, scope, ids_of(what), descendants=descendants)


async def _hide(parts: Parts, found: Found, receipt: Receipt) -> tuple[Counts, dict[str, None]]:
    """Hide what was found; long-term memory first, so that nothing is recalled meanwhile.

    Returns:
        How much was hidden, and the ids of memories that are current again because of it.
    """
    stores, within = parts.tiers, Select.within(receipt.scope)

    def hide(memory: Memory) -> Memory:
        return without_grounds(memory, receipt.id, found.grounds.get(memory.id, ()))

    def take(entry: Entry) -> Entry:
        return taken_back(entry, receipt.id)

    cold = await stores.long_term.edit(within.also(ids=found.memories), hide)
    which = within.also(ids=tuple(found.working))
    hot = await stores.working.edit(which, take)
    which = within.also(ids=tuple(found.quarantine))
    waiting = await stores.quarantine.edit(which, take)
    again = await end_anew(parts, receipt.scope) if cold else ()
    mine = [sum(one.revocation == receipt.id for one in some) for some in (waiting, hot, cold)]
    counts = Counts(quarantine=mine[0], working=mine[1], long_term=mine[2])
    return counts, dict.fromkeys(one.id for one in again)


async def _reinstated_by(parts: Parts, found: Found, scope: MemoryScope) -> tuple[str, ...]:
    """Return the ids of memories that would be current again if what was found were hidden."""
    if not found.long_term:
        return ()
    store = parts.tiers.long_term
    memories = (await store.find(Select.within(scope))).items
    gone = {one.document_id for one in memories if one.id in found.long_term}
    return tuple(one.id for one in reinstated_without(by_document(memories), gone))


async def _shown_of(parts: Parts, found: Found, scope: MemoryScope) -> Counts:
    """Count what nothing has hidden yet."""
    counts: list[int] = []
    ids = (found.quarantine, found.working, found.long_term)
    for store, some in zip(_stores(parts), ids, strict=True):
        which = Select.within(scope, ids=tuple(some), revocations=(None,))
        counts.append((await store.find(which, limit=0)).total)
    return Counts(quarantine=counts[0], working=counts[1], long_term=counts[2])


def _stores(parts: Parts) -> tuple[Any, Any, Any]:
    stores = parts.tiers
    return stores.quarantine, stores.working, stores.long_term


def _name(what: Revocable) -> str:
    return str(what) if isinstance(what, Origin) else ", ".join(ids_of(what))

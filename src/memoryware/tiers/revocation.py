"""Taking back a text or an origin with everything that came from it, and putting it back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

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
from memoryware.tiers.succession import recompute_validity, reinstated_without
from memoryware.tiers.values import ContextItem, Counts, Insight, Promotion, Receipt

Revocable: TypeAlias = str | Entry | Memory | ContextItem | Promotion | Insight | Origin
"""What can be revoked: a record, its id, what holds records, or an origin."""


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
    receipt = Receipt(
        id=parts.new_id(),
        scope=scope,
        what=_name(what),
        by=by,
        at=parts.clock(),
        reason=reason,
    )
    if dry_run:
        found = await _to_revoke(parts, what, scope, descendants)
        return replace(
            receipt,
            id="",
            ids=found.ids,
            counts=await _shown_of(parts, found, scope),
            reinstated=await _reinstated_by(parts, found, scope),
        )

    async def work(inside: Parts) -> tuple[Found, Counts, tuple[str, ...]]:
        found = await _to_revoke(inside, what, scope, descendants)
        counts, again = await _hide(inside, found, receipt)
        if inside.tiers.is_joint:
            counts += await _hide_working(inside, found, receipt)
        return found, counts, again

    found, counts, again = await parts.transaction(scope, work)
    if not parts.tiers.is_joint:
        counts += await _hide_working(parts, found, receipt)
    receipt = replace(receipt, ids=found.ids, counts=counts, reinstated=again)
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

    async def work(inside: Parts) -> tuple[tuple[str, ...], Counts]:
        found = await made_of(inside, receipt.scope, receipt.ids)  # with what came later
        ids = tuple(dict.fromkeys((*receipt.ids, *found.ids)))
        quarantine, _ = await _give_back(inside.tiers.quarantine, receipt, ids)
        long_term, changed = await _give_back(inside.tiers.long_term, receipt, ids)
        await recompute_validity(inside, receipt.scope, changed)
        counts = Counts(quarantine=quarantine, long_term=long_term)
        if inside.tiers.is_joint:
            working, _ = await _give_back(inside.tiers.working, receipt, ids)
            counts += Counts(working=working)
        return ids, counts

    ids, counts = await parts.transaction(receipt.scope, work)
    if not parts.tiers.is_joint:
        working, _ = await _give_back(parts.tiers.working, receipt, ids)
        counts += Counts(working=working)
    line = replace(noted_of(receipt), kind="restored", at=parts.clock(), by=by, counts=counts)
    await note(parts, replace(line, reason="", ids=(), reinstated=()))
    return counts


async def _give_back(view: Any, receipt: Receipt, ids: tuple[str, ...]) -> tuple[int, list[Any]]:
    """Take the mark of a receipt from records; return how many are shown again, and all."""
    within = Select.within(receipt.scope)
    give = partial(given_back, receipt=receipt.id)
    changed = await view.edit(within.also(ids=ids), give)
    changed += await view.edit(within.also(revocations=(receipt.id,)), give)
    return sum(record.revocation is None for record in changed), changed


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

    async def work(inside: Parts) -> Entry | Memory:
        found = await _judged(inside, Select.within(where, ids=ids_of(what)), checked)
        if not found:
            raise EntryMissing(f"Group {where.group_id!r} has no entry or memory {_name(what)}")
        hashes = tuple({one.content_hash for one in found})
        await _judged(inside, Select.within(where, hashes=hashes), checked)
        return found[0]

    return await parts.transaction(where, work)


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


async def _to_revoke(parts: Parts, what: Revocable, scope: MemoryScope, descendants: bool) -> Found:
    """Return what is revoked.

    Raises:
        EntryMissing: If there is no such text in this scope.
        TierError: If it is more than `lineage` allows.
    """
    found = await _found(parts, what, scope, descendants)
    if not isinstance(what, Origin) and not found.ids:
        hint = "; an origin is Origin(kind, name)" if ":" in _name(what) else ""
        raise EntryMissing(f"Group {scope.group_id!r} has no entry or memory {_name(what)}{hint}")
    if found.total > parts.limits.lineage:
        raise TierError(
            f"{found.total} records came from it, more than lineage={parts.limits.lineage} allows;"
            " raise TierLimits(lineage=...) if that is meant"
        )
    return found


async def _hide(parts: Parts, found: Found, receipt: Receipt) -> tuple[Counts, tuple[str, ...]]:
    """Hide what was found in quarantine and long-term memory.

    Returns:
        How much was hidden, and the ids of memories that are current again because of it.
    """
    tiers, within = parts.tiers, Select.within(receipt.scope)

    def hide(memory: Memory) -> Memory:
        return without_grounds(memory, receipt.id, found.grounds.get(memory.id, ()))

    cold = (
        await tiers.long_term.edit(within.also(ids=found.memories), hide) if found.memories else []
    )
    waiting = await _take_entries(tiers.quarantine, found.quarantine, receipt)
    again = await recompute_validity(parts, receipt.scope, cold)
    counts = Counts(quarantine=waiting, long_term=_hidden_by(cold, receipt))
    return counts, tuple(memory.id for memory in again)


async def _hide_working(parts: Parts, found: Found, receipt: Receipt) -> Counts:
    return Counts(working=await _take_entries(parts.tiers.working, found.working, receipt))


async def _take_entries(view: Any, ids: Iterable[str], receipt: Receipt) -> int:
    which = Select.within(receipt.scope, ids=tuple(ids))
    if not which.ids:
        return 0
    return _hidden_by(await view.edit(which, lambda one: taken_back(one, receipt.id)), receipt)


def _hidden_by(records: Iterable[Entry | Memory], receipt: Receipt) -> int:
    return sum(record.revocation == receipt.id for record in records)


async def _reinstated_by(parts: Parts, found: Found, scope: MemoryScope) -> tuple[str, ...]:
    """Return the ids of memories that would be current again if what was found were hidden."""
    if not found.long_term:
        return ()
    which = Select.within(scope, ids=tuple(found.long_term))
    memories = (await parts.tiers.long_term.find(which)).items
    return tuple(one.id for one in await reinstated_without(parts, scope, memories))


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

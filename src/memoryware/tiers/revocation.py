"""Taking back a text or an origin with everything that came from it, and putting it back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeAlias

from memoryware._twins import Via
from memoryware.errors import EntryMissing, SettingError, TierError
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts
from memoryware.tiers.lineage import Found, everything_of, made_of
from memoryware.tiers.records import Entry, Memory, Origin, Status, Verdict
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.values import ContextItem, Counts, Insight, Promotion, Receipt

Revocable: TypeAlias = str | Entry | Memory | ContextItem | Promotion | Insight | Origin
"""What can be revoked: a record, its id, what holds records, or an origin."""

BEFORE = "status_before_revocation"
"""Where an entry keeps the status that `restore` gives it back."""


async def revoke(
    parts: Parts,
    via: Via,
    what: Revocable,
    scope: MemoryScope,
    *,
    by: str,
    reason: str = "",
    descendants: bool = True,
) -> Receipt:
    """Hide a text, and everything that was made of it, from recall in every tier.

    What a revoked document had taken the place of holds again.

    Raises:
        EntryMissing: If there is no such text in this scope.
        TierError: If more came from it than `lineage` allows; then nothing was changed.
    """
    if not by.strip():
        raise SettingError("by: say who revokes it, such as by='ann'")
    if isinstance(what, Origin):
        found = await everything_of(parts, via, scope, what)
    else:
        found = await made_of(parts, via, scope, ids_of(what), descendants=descendants)
        if not found.total:
            raise EntryMissing(f"Group {scope.group_id!r} has no entry or memory {_name(what)}")
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
        ids=tuple(dict.fromkeys([*found.quarantine, *found.working, *found.long_term])),
    )
    return replace(receipt, counts=await _hide(parts, via, found, receipt))


async def restore(parts: Parts, via: Via, receipt: Receipt, *, by: str) -> Counts:
    """Put back exactly what a revocation took back; return how much."""
    if not by.strip():
        raise SettingError("by: say who restores it, such as by='ann'")
    which = Select.within(receipt.scope, revocations=(receipt.id,))
    stores = parts.stores

    def back(entry: Entry) -> Entry:
        metadata = {name: held for name, held in entry.metadata.items() if name != BEFORE}
        status: Status = entry.metadata.get(BEFORE, "pending")
        return replace(entry, revocation=None, status=status, metadata=metadata)

    def shown(memory: Memory) -> Memory:
        return replace(memory, revocation=None)

    changed = (
        await via(stores.quarantine.edit, stores.quarantine.aedit, which, back),
        await via(stores.working.edit, stores.working.aedit, which, back),
        await via(stores.long_term.edit, stores.long_term.aedit, which, shown),
    )
    await _end_anew(parts, via, receipt.scope, changed[2])
    return Counts(quarantine=len(changed[0]), working=len(changed[1]), long_term=len(changed[2]))


async def attach_verdict(
    parts: Parts,
    via: Via,
    what: str | Entry | Memory,
    verdict: Verdict,
    scope: MemoryScope | None,
) -> Entry | Memory:
    """Note what a check of facts said, wherever the text is.

    Raises:
        EntryMissing: If there is no such record in this scope.
    """
    where = scope or (what.scope if not isinstance(what, str) else MemoryScope())
    which = Select.within(where, ids=ids_of(what))
    checked = replace(verdict, at=verdict.at or parts.clock())
    found: Entry | Memory | None = None
    for store in _stores(parts):
        await via(store.edit, store.aedit, which, lambda one: replace(one, verdict=checked))
        page = await via(store.find, store.afind, which)
        found = found or (page.items[0] if page.items else None)
    if found is None:
        raise EntryMissing(f"Group {where.group_id!r} has no entry or memory {_name(what)}")
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


async def _hide(parts: Parts, via: Via, found: Found, receipt: Receipt) -> Counts:
    """Hide what was found; long-term memory first, so that nothing is recalled meanwhile."""
    stores = parts.stores

    def hide(memory: Memory) -> Memory:
        return memory if memory.revocation else replace(memory, revocation=receipt.id)

    def take(entry: Entry) -> Entry:
        if entry.revocation:
            return entry
        metadata = {**entry.metadata, BEFORE: entry.status}
        return replace(entry, revocation=receipt.id, status="revoked", metadata=metadata)

    def where(ids: Iterable[str]) -> Select:
        return Select.within(receipt.scope, ids=tuple(ids))

    cold = await via(stores.long_term.edit, stores.long_term.aedit, where(found.long_term), hide)
    hot = await via(stores.working.edit, stores.working.aedit, where(found.working), take)
    waiting = await via(
        stores.quarantine.edit, stores.quarantine.aedit, where(found.quarantine), take
    )
    await _end_anew(parts, via, receipt.scope, cold)
    return Counts(quarantine=len(waiting), working=len(hot), long_term=len(cold))


async def _end_anew(parts: Parts, via: Via, scope: MemoryScope, changed: Iterable[Memory]) -> None:
    """Let each document hold until the first one after it that is not revoked begins."""
    store = parts.stores.long_term
    if not list(changed):
        return
    found = (await via(store.find, store.afind, Select.within(scope))).items
    documents = {one.document_id: one for one in found}

    def end(memory: Memory) -> Memory:
        after, seen = documents.get(memory.superseded_by or ""), {memory.document_id}
        if after is None:  # nothing took its place, or what did was forgotten
            return memory
        while after is not None and after.revocation and after.document_id not in seen:
            seen.add(after.document_id)
            after = documents.get(after.superseded_by or "")
        until = max(after.valid_from, memory.valid_from) if after is not None else None
        return replace(memory, valid_to=until)

    await via(store.edit, store.aedit, Select.within(scope), end)


def _stores(parts: Parts) -> tuple[Any, Any, Any]:
    stores = parts.stores
    return stores.quarantine, stores.working, stores.long_term


def _name(what: Revocable) -> str:
    return str(what) if isinstance(what, Origin) else ", ".join(ids_of(what))

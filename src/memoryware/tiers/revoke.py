"""Revoke and restore: find what rests on a record, hide it with its receipt, undo that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, TypeAlias

from memoryware.errors import EntryMissing, SettingError, StoreUnavailable, TierError
from memoryware.events import logger
from memoryware.scope import MemoryScope, is_personal_agent
from memoryware.tiers._parts import Parts
from memoryware.tiers.audit import note
from memoryware.tiers.journal import line_of
from memoryware.tiers.model import (
    FACT,
    Entry,
    Key,
    Memory,
    PromotionRecord,
    Record,
    Verdict,
    is_covered_by_facts,
    mark_restored,
    mark_revoked,
    without_grounds,
)
from memoryware.tiers.provenance import Origin
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.validity import recompute_validity, reinstated_without
from memoryware.tiers.values import LAYERS, ContextItem, Counts, Insight, Layer, Promotion, Receipt

# What rests on a record.


@dataclass
class AffectedRecords:
    """Ids of records, by tier, in the order in which they were found.

    Attributes:
        quarantine: Entries of quarantine.
        working: Entries of working memory.
        long_term: Memories no promotion of which is left.
        shaken: Memories that another promotion keeps.
        grounds: For each memory, the promotions that fall.
        taken_back_counts: Whether a promotion that was taken back before keeps a memory.
        read: The memories that fall or are shaken, as they were read.
        messages: Ids of the messages that extracted facts among them were taken from.
    """

    quarantine: dict[str, None] = field(default_factory=dict)
    working: dict[str, None] = field(default_factory=dict)
    long_term: dict[str, None] = field(default_factory=dict)
    shaken: dict[str, None] = field(default_factory=dict)
    grounds: dict[str, set[Key]] = field(default_factory=dict)
    taken_back_counts: bool = True
    read: dict[str, Memory] = field(default_factory=dict)
    messages: dict[str, None] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """How many records these are."""
        return len(self.quarantine) + len(self.working) + len(self.long_term)

    @property
    def counts(self) -> Counts:
        """How many records these are, by tier."""
        return Counts(**{layer: len(getattr(self, layer)) for layer in LAYERS})

    @property
    def ids(self) -> tuple[str, ...]:
        """Every id, each once."""
        return tuple(dict.fromkeys((*self.quarantine, *self.working, *self.memories)))

    @property
    def memories(self) -> tuple[str, ...]:
        """The memories that fall, and those that another promotion keeps."""
        return (*self.long_term, *self.shaken)

    def is_source_of(self, ground: PromotionRecord) -> bool:
        """Return whether a promoted text was made of a record that is affected.

        Args:
            ground: The promotion.

        Returns:
            Whether one of its sources is affected.
        """
        tiers = (self.quarantine, self.working, self.long_term)
        return any(source in some for source in ground.provenance.sources for some in tiers)

    def falls(self, memory: Memory, touched: Callable[[PromotionRecord], bool]) -> bool:
        """Note which promotions of a memory are revoked.

        Args:
            memory: The memory.
            touched: Whether a promotion is revoked.

        Returns:
            Whether no promotion is left, so that the memory is hidden.
        """
        keys = self.grounds.setdefault(memory.id, set())
        keys.update(ground.key for ground in memory.grounds if touched(ground))
        if not keys:
            return False
        left = [ground for ground in memory.grounds if ground.key not in keys]
        if any(self.taken_back_counts or not promotion.revocations for promotion in left):
            self.shaken[memory.id] = None
            return False
        self.shaken.pop(memory.id, None)
        return True


async def affected_by_origin(parts: Parts, scope: MemoryScope, origin: Origin) -> AffectedRecords:
    """Return the records that have an origin in their lineage.

    Args:
        parts: The stores and the rules of the memory.
        scope: Tenant and group.
        origin: The origin.

    Returns:
        Their ids, by tier.
    """
    select = Select.within(scope, root=str(origin))
    affected = AffectedRecords(taken_back_counts=False)
    await affected_by_selection(parts, select, affected=affected)
    await _add_messages(parts, scope, affected)
    return affected


async def affected_by_ids(
    parts: Parts, scope: MemoryScope, ids: Iterable[str], *, descendants: bool = True
) -> AffectedRecords:
    """Return records by their ids, with their whole documents and all that was made of them.

    The messages that say nothing but facts among them are included as well.

    Args:
        parts: The stores and the rules of the memory.
        scope: Tenant and group.
        ids: The ids.
        descendants: Whether what was made of them is included.

    Returns:
        The ids of all of them, by tier.
    """
    select = Select.within(scope, ids=tuple(ids))
    affected = AffectedRecords(taken_back_counts=False)
    await affected_by_selection(parts, select, descendants=descendants, affected=affected)
    await _add_messages(parts, scope, affected)
    return affected


async def affected_by_selection(
    parts: Parts,
    select: Select,
    *,
    descendants: bool = True,
    affected: AffectedRecords | None = None,
    fits: Callable[[Entry | Memory], bool] = lambda _: True,
) -> AffectedRecords:
    """Return the records of a selection, and all in its groups that was made of them.

    A memory that several promotions of the same text brought in is only `shaken` as long as one of
    them has nothing to do with it.

    An id of a memory means its text, so entries with exactly this text are included.

    Args:
        parts: The stores and the rules of the memory.
        select: The selection.
        descendants: Whether what was made of them is included.
        affected: Records that are affected already; new ones are added.
        fits: A condition that a selection cannot state.

    Returns:
        The ids of all of them, by tier.
    """
    affected = affected or AffectedRecords()
    where = Select(tenant=select.tenant, groups=select.groups)

    def named(ground: PromotionRecord) -> bool:
        return _meant(ground, select)

    steps = [_LineageStep(selected, named, fits) for selected in (select, *_further(select))]
    new = await _follow(parts, affected, steps)
    steps = []
    if select.ids is not None:
        for (group, users), hashes in _same_texts(new).items():
            same = where.also(groups=(group,), users=users, hashes=tuple(hashes))
            steps.append(_LineageStep(same))
    await _follow_on(parts, where, affected, new, steps, descendants=descendants)
    return affected


async def affected_by_promotions(
    parts: Parts,
    scope: MemoryScope,
    ids: Sequence[str],
    is_meant: Callable[[PromotionRecord], bool],
) -> AffectedRecords:
    """Return memories of which some promotions fall, and what was made of those that are left none.

    Unlike `affected_by_ids` it leaves other promotions of the same text alone, and entries with it.

    Args:
        parts: The stores and the rules of the memory.
        scope: Tenant and group.
        ids: The memories.
        is_meant: Whether a promotion falls.

    Returns:
        The ids of all of them, by tier.
    """
    affected, where = AffectedRecords(taken_back_counts=False), Select.within(scope)
    first = _LineageStep(where.also(ids=tuple(ids)), is_meant, tiers=("long_term",))
    new = await _follow(parts, affected, [first])
    await _follow_on(parts, where, affected, new, [], descendants=True)
    return affected


async def _follow_on(
    parts: Parts,
    where: Select,
    affected: AffectedRecords,
    new: list[Entry | Memory],
    steps: list[_LineageStep],
    *,
    descendants: bool,
) -> None:
    """Add whole documents, records of the same id, and what was made of them, step by step."""
    while new:
        ids = tuple({record.id for record in new})
        documents = {record.document_id for record in new if isinstance(record, Memory)}
        if documents:
            steps.append(_LineageStep(where.also(documents=tuple(documents)), tiers=("long_term",)))
        if descendants:
            steps.append(_LineageStep(where.also(made_of=ids), affected.is_source_of))
        # A text in working memory and in quarantine is one, under one id.
        steps.append(_LineageStep(where.also(ids=ids)))
        new, steps = await _follow(parts, affected, steps), []


_Owners = tuple[str | None, tuple[str | None, ...] | None]
"""A group, and of what only one user is shown that user."""


def _same_texts(named: Iterable[Entry | Memory]) -> dict[_Owners, set[str]]:
    """Return the hashes of the texts of memories, by whose they are."""
    hashes: dict[_Owners, set[str]] = {}
    for memory in named:
        if isinstance(memory, Memory):
            scope = memory.scope
            is_personal = is_personal_agent(scope.agent_id)
            owners = (scope.group_id, (scope.user_id,) if is_personal else None)
            hashes.setdefault(owners, set()).add(memory.content_hash)
    return hashes


def _further(select: Select) -> list[Select]:
    """Return selections of memories that users have promoted as well; see `promoted_again`."""
    if select.users is None or select.root is not None:
        return []
    return [
        select.also(users=None, root=str(Origin("user", user))) for user in select.users if user
    ]


def _meant(ground: PromotionRecord, select: Select) -> bool:
    """Return whether a selection that names a memory means this promotion of it."""
    scope = ground.scope
    conditions = ((select.users, scope.user_id), (select.sessions, scope.session_id))
    if any(values is not None and value not in values for values, value in conditions):
        return False
    provenance = ground.provenance
    if select.made_of is not None and set(select.made_of).isdisjoint(provenance.sources):
        return False
    return select.root is None or select.root in map(str, provenance.roots)


@dataclass(frozen=True, slots=True)
class _LineageStep:
    """One selection on the way from a record to what was made of it.

    Attributes:
        select: The records that are looked for.
        touched: Which promotions of a memory it takes away.
        fits: A condition that a selection cannot state.
        tiers: Where to look.
    """

    select: Select
    touched: Callable[[PromotionRecord], bool] = lambda _: True
    fits: Callable[[Entry | Memory], bool] = lambda _: True
    tiers: Sequence[Layer] = LAYERS


async def _follow(
    parts: Parts, affected: AffectedRecords, steps: Sequence[_LineageStep]
) -> list[Entry | Memory]:
    """Take several steps with one read; note and return the records that were not known before."""
    requests = [(tier, step) for step in steps for tier in step.tiers]
    pages = await parts.tiers.find_many([(tier, step.select) for tier, step in requests])
    new: list[Entry | Memory] = []
    for (tier, step), records in zip(requests, pages, strict=True):
        ids: dict[str, None] = getattr(affected, tier)
        for record in records:
            if record.id in ids or not step.fits(record):
                continue
            if isinstance(record, Memory):
                affected.read[record.id] = record
                if not affected.falls(record, step.touched):
                    continue
            if FACT in record.metadata:
                affected.messages |= dict.fromkeys(record.provenance.sources)
            ids[record.id] = None
            new.append(record)
    return new


# Receipts.


async def find_receipt(parts: Parts, receipt_id: str, scope: MemoryScope) -> Receipt:
    """Return a receipt from the journal, or from the marks that it left on records.

    The marks do not say who took it back, and why.

    Args:
        parts: The stores and the rules of the memory.
        receipt_id: The id of the receipt.
        scope: Tenant and group.

    Returns:
        The receipt. From marks it has neither who revoked nor why.

    Raises:
        EntryMissing: If no record of this tenant and group has its mark.
    """
    if (noted := await _noted(parts, receipt_id, scope)) is not None:
        return noted
    ids: dict[str, None] = {}
    counts: dict[str, int] = {}
    for tier in LAYERS:
        store: Any = getattr(parts.tiers, tier)
        records = (await store.find(Select.within(scope))).items
        marked = [record for record in records if receipt_id in marks_of(record)]
        ids.update(dict.fromkeys(record.id for record in marked))
        counts[tier] = len(marked)
    if not ids:
        raise EntryMissing(
            f"Group {scope.group_id!r} has no record that was revoked as {receipt_id!r}"
        )
    return Receipt(
        id=receipt_id,
        scope=scope,
        what=", ".join(ids),
        by="",
        at=parts.clock(),
        counts=Counts(**counts),
        ids=tuple(ids),
    )


async def _noted(parts: Parts, receipt_id: str, scope: MemoryScope) -> Receipt | None:
    journal = parts.journal
    if journal is None:
        return None
    try:
        return await parts.runner.offload(journal.receipt, receipt_id, scope)
    except StoreUnavailable as error:
        logger.warning("%s; the receipt is found by its marks", error)
        return None


def marks_of(record: Record) -> tuple[str, ...]:
    """Return the ids of the revocations of a record.

    Args:
        record: The entry or memory.

    Returns:
        The ids.
    """
    if isinstance(record, Entry):
        return record.revocations
    return tuple(mark for ground in record.grounds for mark in ground.revocations)


# Revoking and restoring.

_MAIN: Final[tuple[Layer, ...]] = ("quarantine", "long_term")
"""The tiers that are always in one store."""

Revocable: TypeAlias = (
    str | tuple[str, ...] | Entry | Memory | ContextItem | Promotion | Insight | Origin
)
"""What can be revoked: a record, its id, several ids, what holds records, or an origin."""


async def revoke(
    parts: Parts,
    target: Revocable,
    scope: MemoryScope,
    *,
    by: str,
    reason: str = "",
    descendants: bool = True,
    dry_run: bool = False,
) -> Receipt:
    """Revoke a text and all that was made of it: hide it from recall in every tier.

    With `dry_run` it is only counted.

    What a revoked document had taken the place of holds again. A memory that others have promoted
    as well, from a text that is not taken back, stays and is theirs.

    Args:
        parts: The stores and the rules of the memory.
        target: A record, its id, something with records, or an origin.
        scope: Tenant and group.
        by: Who does it.
        reason: Why, in words.
        descendants: Whether what was made of it is hidden as well.
        dry_run: Only count; nothing is hidden.

    Returns:
        The receipt, which `restore` takes; of a dry run it has no id.

    Raises:
        EntryMissing: If there is no such text in this scope.
        TierError: If more came from it than `lineage` allows; then nothing was changed.
        SettingError: If `by` is blank.
    """
    if not by.strip():
        raise SettingError("by: say who revokes it, such as by='ann'")
    receipt = Receipt(
        id=parts.new_id(),
        scope=scope,
        what=_name(target),
        by=by,
        at=parts.clock(),
        reason=reason,
    )
    if dry_run:
        affected = await _to_revoke(parts, target, scope, descendants)
        return replace(
            receipt,
            id="",
            ids=affected.ids,
            counts=await _shown_of(parts, affected, scope),
            reinstated=await _reinstated_by(parts, affected, scope),
        )

    async def work(inside: Parts) -> tuple[AffectedRecords, Counts, tuple[str, ...]]:
        affected = await _to_revoke(inside, target, scope, descendants)
        counts, again = await hide(inside, affected, receipt)
        if inside.tiers.is_joint:
            counts += await hide_working(inside, affected, receipt)
        return affected, counts, again

    affected, counts, again = await parts.transaction(scope, work)
    if not parts.tiers.is_joint:
        counts += await hide_working(parts, affected, receipt)
    receipt = replace(receipt, ids=affected.ids, counts=counts, reinstated=again)
    for memory_id in receipt.reinstated:
        logger.warning(
            "memory %s is current again: what had taken its place was revoked", memory_id
        )
    await note(parts, line_of(receipt))
    return receipt


async def restore(parts: Parts, receipt: Receipt, *, by: str) -> Counts:
    """Undo a revocation; what another revocation hides as well stays hidden.

    Args:
        parts: The stores and the rules of the memory.
        receipt: The receipt of the revocation.
        by: Who does it.

    Returns:
        How many records are shown again, by tier.

    Raises:
        SettingError: If `by` is blank.
    """
    return (await restore_many(parts, [receipt], receipt.scope, by=by))[0]


async def restore_many(
    parts: Parts, receipts: Sequence[Receipt], scope: MemoryScope, *, by: str
) -> list[Counts]:
    """Undo several revocations in one transaction, all of them or none; see `restore`.

    Args:
        parts: The stores and the rules of the memory.
        receipts: The receipts of the revocations, all in the same tenant and group.
        scope: Tenant and group.
        by: Who does it.

    Returns:
        How many records are shown again by each, by tier.

    Raises:
        SettingError: If `by` is blank.
    """
    if not by.strip():
        raise SettingError("by: say who restores it, such as by='ann'")

    async def work(inside: Parts) -> list[tuple[tuple[str, ...], Counts]]:
        return [await _restored(inside, receipt) for receipt in receipts]

    done = await parts.transaction(scope, work)
    restored = []
    for receipt, (ids, counts) in zip(receipts, done, strict=True):
        if not parts.tiers.is_joint:
            shown, _ = await _give_back(parts, ("working",), receipt, ids)
            counts += shown  # noqa: PLW2901 - of this receipt alone
        line = replace(line_of(receipt), kind="restored", at=parts.clock(), by=by, counts=counts)
        await note(parts, replace(line, reason="", ids=(), reinstated=()))
        restored.append(counts)
    return restored


async def _restored(inside: Parts, receipt: Receipt) -> tuple[tuple[str, ...], Counts]:
    affected = await affected_by_ids(inside, receipt.scope, receipt.ids)  # with what came later
    ids = tuple(dict.fromkeys((*receipt.ids, *affected.ids)))
    tiers: Sequence[Layer] = LAYERS if inside.tiers.is_joint else _MAIN
    shown, memories = await _give_back(inside, tiers, receipt, ids)
    await recompute_validity(inside, receipt.scope, memories)
    return ids, shown


async def _give_back(
    parts: Parts, tiers: Sequence[Layer], receipt: Receipt, ids: tuple[str, ...]
) -> tuple[Counts, list[Memory]]:
    """Take the mark of a receipt from records.

    Returns:
        How many are shown again, by tier, and the memories that were changed.
    """
    within, give = Select.within(receipt.scope), partial(mark_restored, receipt=receipt.id)
    # Some may have its mark and no longer the lineage that led to them.
    selections = (within.also(ids=ids), within.also(revocations=(receipt.id,)))
    requests = [(tier, select) for tier in tiers for select in selections]
    pages = await parts.tiers.find_many(requests)
    marked: dict[Layer, dict[str, None]] = {}
    for (tier, _), records in zip(requests, pages, strict=True):
        changing = (record.id for record in records if give(record) != record)
        marked.setdefault(tier, {}).update(dict.fromkeys(changing))
    shown: dict[str, int] = {}
    memories: list[Memory] = []
    for tier, some in marked.items():
        if some:
            view: Any = parts.tiers.tier(tier)
            changed = await view.edit(within.also(ids=tuple(some)), give)
            shown[tier] = sum(record.revocation is None for record in changed)
            memories += changed if tier == "long_term" else ()
    return Counts(**shown), memories


async def attach_verdict(
    parts: Parts,
    record: str | Entry | Memory,
    verdict: Verdict,
    scope: MemoryScope | None,
) -> Entry | Memory:
    """Store the verdict of a fact check on every record of the group with this text.

    Args:
        parts: The stores and the rules of the memory.
        record: An entry, a memory, or the id of one.
        verdict: The verdict.
        scope: Tenant and group; None for those of the record.

    Returns:
        The record with its verdict.

    Raises:
        EntryMissing: If there is no such record in this scope.
    """
    where = scope or (record.scope if not isinstance(record, str) else MemoryScope())
    checked = replace(verdict, at=verdict.at or parts.clock())

    async def work(inside: Parts) -> Entry | Memory:
        records = await _judged(inside, Select.within(where, ids=ids_of(record)), checked)
        if not records:
            hint = _forgotten_hint(parts, where, record)
            raise EntryMissing(
                f"Group {where.group_id!r} has no entry or memory {_name(record)}{hint}"
            )
        hashes = tuple({judged.content_hash for judged in records})
        await _judged(inside, Select.within(where, hashes=hashes), checked)
        return records[0]

    return await parts.transaction(where, work)


async def _judged(parts: Parts, select: Select, verdict: Verdict) -> list[Entry | Memory]:
    """Note a verdict on what is meant; return all of it, as it is then."""
    records: list[Entry | Memory] = []
    for store in _stores(parts):
        await store.edit(select, partial(replace, verdict=verdict))
        records += (await store.find(select)).items
    return records


def ids_of(target: Any) -> tuple[str, ...]:
    """Return the ids of a record, or of something that has records.

    Args:
        target: What is meant: a record, its id, several ids, or something with records.

    Returns:
        The ids.
    """
    if isinstance(target, str):
        return (target,)
    if isinstance(target, tuple):
        return target
    if isinstance(target, Promotion):
        return target.ids
    if isinstance(target, Insight):
        return target.source_entry_ids
    return (str(target.id),)


def _forgotten_hint(parts: Parts, scope: MemoryScope, target: Any) -> str:
    hints = (parts.forgotten.hint(scope, id_) for id_ in ids_of(target))
    return next(filter(None, hints), "")


async def _affected_by(
    parts: Parts, target: Revocable, scope: MemoryScope, descendants: bool
) -> AffectedRecords:
    if isinstance(target, Origin):
        return await affected_by_origin(parts, scope, target)
    return await affected_by_ids(parts, scope, ids_of(target), descendants=descendants)


async def _to_revoke(
    parts: Parts, target: Revocable, scope: MemoryScope, descendants: bool
) -> AffectedRecords:
    """Return what is revoked.

    Raises:
        EntryMissing: If there is no such text in this scope.
        TierError: If it is more than `lineage` allows.
    """
    affected = await _affected_by(parts, target, scope, descendants)
    if not isinstance(target, Origin) and not affected.ids:
        hint = "; an origin is Origin(kind, name)" if ":" in _name(target) else ""
        hint = hint or _forgotten_hint(parts, scope, target)
        raise EntryMissing(f"Group {scope.group_id!r} has no entry or memory {_name(target)}{hint}")
    if isinstance(target, tuple) and (missing := [*({*target} - {*affected.ids})]):
        raise EntryMissing(
            f"Group {scope.group_id!r} has no entry or memory {missing[0]!r}; nothing was revoked"
        )
    # One wrong origin could hide all of a memory: a large number needs an explicit limit.
    if affected.total > parts.limits.lineage:
        raise TierError(
            f"This would revoke {affected.total} records, more than"
            f" lineage={parts.limits.lineage} allows; raise TierLimits(lineage=...) if that is"
            " intended"
        )
    return affected


async def _add_messages(parts: Parts, scope: MemoryScope, affected: AffectedRecords) -> None:
    """Add the messages that say nothing but revoked facts: working memory would tell these again.

    A message from which another fact was taken that still stands is left alone.
    """
    if not affected.messages.keys() - affected.quarantine.keys():
        return
    ids = tuple(affected.messages)
    messages, derived = await parts.tiers.find_many(
        [
            ("quarantine", Select.within(scope, ids=ids)),
            ("quarantine", Select.within(scope, made_of=ids)),
        ]
    )
    standing = {
        source
        for entry in derived
        if FACT in entry.metadata
        and entry.status not in ("revoked", "rejected")
        and entry.id not in affected.quarantine
        for source in entry.provenance.sources
    }
    for message in messages:
        if is_covered_by_facts(message) and message.id not in standing:
            affected.quarantine[message.id] = affected.working[message.id] = None


async def hide(
    parts: Parts, affected: AffectedRecords, receipt: Receipt
) -> tuple[Counts, tuple[str, ...]]:
    """Hide affected records of quarantine and long-term memory.

    Args:
        parts: The memory, inside a transaction.
        affected: The records.
        receipt: The receipt, which names the scope.

    Returns:
        How much was hidden, and the ids of memories that are current again because of it.
    """
    tiers, within = parts.tiers, Select.within(receipt.scope)

    def hide(memory: Memory) -> Memory:
        return without_grounds(memory, receipt.id, affected.grounds.get(memory.id, ()))

    hidden = (
        await tiers.long_term.edit(within.also(ids=affected.memories), hide)
        if affected.memories
        else []
    )
    waiting = await _take_entries(tiers.quarantine, affected.quarantine, receipt)
    again = await recompute_validity(parts, receipt.scope, hidden)
    counts = Counts(quarantine=waiting, long_term=_hidden_by(hidden, receipt))
    return counts, tuple(memory.id for memory in again)


async def hide_working(parts: Parts, affected: AffectedRecords, receipt: Receipt) -> Counts:
    """Hide affected records of working memory, which may be another store.

    Args:
        parts: The memory, inside a transaction if working memory takes part in it.
        affected: The records.
        receipt: The receipt, which names the scope.

    Returns:
        How many were hidden.
    """
    return Counts(working=await _take_entries(parts.tiers.working, affected.working, receipt))


async def _take_entries(view: Any, ids: Iterable[str], receipt: Receipt) -> int:
    select = Select.within(receipt.scope, ids=tuple(ids))
    if not select.ids:
        return 0
    return _hidden_by(
        await view.edit(select, lambda entry: mark_revoked(entry, receipt.id)), receipt
    )


def _hidden_by(records: Iterable[Entry | Memory], receipt: Receipt) -> int:
    return sum(record.revocation == receipt.id for record in records)


async def _reinstated_by(
    parts: Parts, affected: AffectedRecords, scope: MemoryScope
) -> tuple[str, ...]:
    """Return the ids of memories that would be current again if what was found were hidden."""
    if not affected.long_term:
        return ()
    select = Select.within(scope, ids=tuple(affected.long_term))
    memories = (await parts.tiers.long_term.find(select)).items
    return tuple(memory.id for memory in await reinstated_without(parts, scope, memories))


async def _shown_of(parts: Parts, affected: AffectedRecords, scope: MemoryScope) -> Counts:
    """Count what nothing has hidden yet."""
    counts: list[int] = []
    ids = (affected.quarantine, affected.working, affected.long_term)
    for store, some in zip(_stores(parts), ids, strict=True):
        select = Select.within(scope, ids=tuple(some), revocations=(None,))
        counts.append((await store.find(select, limit=0)).total)
    return Counts(quarantine=counts[0], working=counts[1], long_term=counts[2])


def _stores(parts: Parts) -> tuple[Any, Any, Any]:
    stores = parts.tiers
    return stores.quarantine, stores.working, stores.long_term


def _name(target: Revocable) -> str:
    return str(target) if isinstance(target, Origin) else ", ".join(ids_of(target))

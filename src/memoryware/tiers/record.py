"""Record entries: filter them, and store them in quarantine and working memory."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

from memoryware.errors import EntryMissing, SettingError, StoreUnconfirmed
from memoryware.events import emit
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts, Refusal, note_recorded, warn_without_group
from memoryware.tiers.echo import (
    DUPLICATE,
    ECHO,
    NO_REPETITION,
    Repetition,
    find_repetition,
    strip_recalled_blocks,
)
from memoryware.tiers.entry import EntryOrigin, create_entry
from memoryware.tiers.filters import ExactDuplicate, ask_filters, waiting_filters
from memoryware.tiers.model import (
    DECIDED,
    SAID_AGAIN,
    SOURCE_GONE,
    VISIBLE_TO,
    Entry,
    Memory,
    Status,
    inherited_receipts,
    mark_revoked,
)
from memoryware.tiers.provenance import Provenance
from memoryware.tiers.screening import redacted
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.stores.views import WorkingView
from memoryware.tiers.values import Layer, Output, Recorded

logger = logging.getLogger(__name__)

_OPEN: Final[tuple[Status, ...]] = ("pending", "proposed", "promoted")
_BOTH: Final[tuple[Layer, ...]] = ("quarantine", "working")


async def log_quarantine(
    parts: Parts,
    content: str,
    scope: MemoryScope,
    metadata: Mapping[str, Any] | None = None,
    *,
    origin: EntryOrigin | None = None,
) -> Entry:
    """Store an output in quarantine.

    Args:
        parts: The stores and the rules of the memory.
        content: The text.
        scope: Tenant, group and agent.
        metadata: Metadata; values that JSON cannot hold are dropped with a warning.
        origin: Who produced the text, and from what.

    Returns:
        The entry; the older one if its key is known.

    Raises:
        EntryRefused: For a value that is not a text, or is too long.
    """
    entry = await create_entry(parts, content, scope, metadata, origin or EntryOrigin())
    stored, _ = await _keep_in_quarantine(parts, entry)
    return stored


async def record(
    parts: Parts,
    content: str,
    scope: MemoryScope,
    metadata: Mapping[str, Any] | None = None,
    *,
    origin: EntryOrigin | None = None,
    tiers: Collection[Layer] = _BOTH,
) -> Recorded:
    """Store an output in quarantine, and in working memory if the filters let it pass.

    What was recorded with the same key already is not recorded again; if the first attempt ended
    before working memory was asked, that is made up for.

    Args:
        parts: The stores and the rules of the memory.
        content: The text.
        scope: Tenant, group and agent.
        metadata: Metadata; values that JSON cannot hold are dropped with a warning.
        origin: Who produced the text, and from what.
        tiers: The tiers that it goes to: "quarantine" and "working".

    Returns:
        The entry, and whether working memory has it.

    Raises:
        EntryRefused: For a value that is not a text, or is too long.
        SettingError: For a tier that outputs do not go to.
    """
    goes_on = _goes_on(tiers)
    entry = await create_entry(parts, content, scope, metadata, origin or EntryOrigin())
    return await _record_entry(parts, entry, goes_on=goes_on)


async def record_many(
    parts: Parts,
    outputs: Sequence[Output],
    scope: MemoryScope,
    *,
    tiers: Collection[Layer] = _BOTH,
) -> list[Recorded]:
    """Record outputs in order in one transaction; if that fails, one by one.

    Args:
        parts: The stores and the rules of the memory.
        outputs: The outputs.
        scope: Tenant, group and agent.
        tiers: The tiers that it goes to: "quarantine" and "working".

    Returns:
        A result for each output, in order.

    Raises:
        EntryRefused: For a value that is not a text, or is too long; then nothing is recorded.
        SettingError: For a tier that outputs do not go to.
    """
    goes_on = _goes_on(tiers)
    entries = [
        await create_entry(parts, output.content, scope, output.metadata, _origin_of(output))
        for output in outputs
    ]
    if len(entries) > 1:
        try:
            return await _record_together(parts, entries, outputs, scope, goes_on=goes_on)
        except StoreUnconfirmed:
            raise  # they may be there already
        except Exception as error:  # noqa: BLE001 - each may be recorded by itself
            logger.warning("outputs are recorded one by one: %s: %s", type(error).__name__, error)
    batch, results = _StoredOutputs(), list[Recorded]()
    for entry, output in zip(entries, outputs, strict=True):
        recorded = await _record_entry(parts, batch.linked(entry, output), goes_on=goes_on)
        batch.note(output, entry, recorded.entry)
        results.append(recorded)
    return results


@dataclass(slots=True)
class _StoredOutputs:
    """The outputs of one call that are stored so far, by their keys.

    Attributes:
        stored: The entries.
        new: Ids of those that this call has stored, and nobody has revoked since.
    """

    stored: dict[str, Entry] = field(default_factory=dict)
    new: set[str] = field(default_factory=set)

    def linked(self, entry: Entry, output: Output) -> Entry:
        """Return the entry of an output with the outputs as sources that it was made of."""
        sources = [self.stored[key] for key in output.made_of if key in self.stored]
        if not sources:
            return entry
        own = entry.provenance
        roots = [root for source in sources for root in source.provenance.roots]
        ids = tuple(source.id for source in sources)
        provenance = Provenance(own.origin, (*own.sources, *ids), (*own.roots, *roots))
        hidden = [
            source.metadata[VISIBLE_TO] for source in sources if VISIBLE_TO in source.metadata
        ]
        # An answer may repeat what only the user who said it is shown.
        metadata = {VISIBLE_TO: hidden[0], **entry.metadata} if hidden else entry.metadata
        return replace(entry, provenance=provenance, metadata=metadata)

    def note(self, output: Output, entry: Entry, stored: Entry) -> None:
        """Note what is stored of an output: its entry, or an older one with its key."""
        if output.key is not None:  # that of the entry is another one if it had a secret
            self.stored[output.key] = stored
        if stored.id == entry.id and stored.revocation is None and stored.refused != SOURCE_GONE:
            self.new.add(stored.id)


async def _record_together(
    parts: Parts,
    entries: Sequence[Entry],
    outputs: Sequence[Output],
    scope: MemoryScope,
    *,
    goes_on: bool,
) -> list[Recorded]:
    """Record entries of one scope in one transaction.

    Where filters wait, or working memory is in another store, that is the transaction of
    quarantine: what it has is safe while each entry is offered to working memory.
    """
    if goes_on and not scope.group_id:
        warn_without_group(scope)
        goes_on = False
    if goes_on and parts.tiers.is_joint and not waiting_filters(parts.filters):

        async def record_all(inside: Parts) -> list[_RecordOutcome]:
            batch, outcomes = _StoredOutputs(), list[_RecordOutcome]()
            for entry, output in zip(entries, outputs, strict=True):
                linked = batch.linked(entry, output)
                outcomes.append(await _record_at_once(linked, inside, batch.new))
                batch.note(output, entry, outcomes[-1].entry)
            return outcomes

        return [_reported(parts, outcome) for outcome in await parts.transaction(scope, record_all)]

    async def keep_all(inside: Parts) -> list[Entry]:
        batch, entries_stored = _StoredOutputs(), list[Entry]()
        for entry, output in zip(entries, outputs, strict=True):
            entries_stored.append(await _keep(inside, batch.linked(entry, output), batch.new))
            batch.note(output, entry, entries_stored[-1])
        return entries_stored

    stored = await parts.transaction(scope, keep_all)
    results = [
        _report_stored(parts, entry, old) for entry, old in zip(entries, stored, strict=True)
    ]
    if goes_on:
        return [await _offer_stored(parts, entry, is_new=is_new) for entry, is_new in results]
    return [Recorded(entry=entry, refused=entry.refused) for entry, _ in results]


def _goes_on(tiers: Collection[Layer]) -> bool:
    """Return whether outputs go to working memory as well."""
    layers = {tiers} if isinstance(tiers, str) else set(tiers)
    if not layers <= {*_BOTH}:
        raise SettingError(f"tiers={tiers!r}: outputs go to quarantine and working memory only")
    return "working" in layers


def _origin_of(output: Output) -> EntryOrigin:
    return EntryOrigin(
        role=output.role, provenance=output.provenance, key=output.key, shown=tuple(output.shown)
    )


async def _record_entry(parts: Parts, entry: Entry, *, goes_on: bool) -> Recorded:
    if goes_on and not entry.scope.group_id:
        warn_without_group(entry.scope)
    if not goes_on or not entry.scope.group_id:
        stored, _ = await _keep_in_quarantine(parts, entry)
        return Recorded(entry=stored, refused=stored.refused)
    if parts.tiers.is_joint and not waiting_filters(parts.filters):
        try:
            outcome = await parts.transaction(entry.scope, partial(_record_at_once, entry))
        except StoreUnconfirmed:
            raise  # it may be there already
        except Exception as error:  # noqa: BLE001 - quarantine may still take it
            return await _without_working(parts, entry, error)
        return _reported(parts, outcome)
    return await _record_in_steps(parts, entry)


async def update_working_memory(
    parts: Parts,
    item: str | Entry,
    scope: MemoryScope,
    metadata: Mapping[str, Any] | None = None,
) -> Recorded:
    """Put a text, or an entry of quarantine, into working memory if the filters let it pass.

    A text that quarantine does not have yet goes there first. Without a group nothing happens.

    Args:
        parts: The stores and the rules of the memory.
        item: A text, or an entry of quarantine.
        scope: Tenant, group and agent; of an entry its own by default.
        metadata: Metadata; values that JSON cannot hold are dropped with a warning.

    Returns:
        The entry, and whether working memory has it.

    Raises:
        EntryRefused: For a value that is not a text, or is too long.
        EntryMissing: If quarantine has no such entry in this scope.
    """
    if isinstance(item, Entry):
        owner = scope or item.scope
        if not owner.group_id:
            return Recorded(entry=item)
        stored = await _entry_of(parts, owner, item.id)
        stored = replace(stored, metadata={**stored.metadata, **redacted(parts.guard, metadata)})
    else:
        entry = await create_entry(parts, item, scope, metadata, EntryOrigin())
        if not scope.group_id:
            return Recorded(entry=entry)
        stored = await _logged_before(parts, entry) or (await _keep_in_quarantine(parts, entry))[0]
    if stored.status in DECIDED or stored.refused in (ECHO, SOURCE_GONE):
        refused = stored.status if stored.status in DECIDED else stored.refused or ""
        _tell_refusal(parts, stored, refused)
        return Recorded(entry=stored, refused=refused)
    return await _offer_in_steps(parts, stored, is_replay=False)


async def cleanup_working_memory(parts: Parts) -> int:
    """Delete expired entries from working memory, in all groups.

    Args:
        parts: The stores and the rules of the memory.

    Returns:
        How many were deleted.
    """
    working = parts.tiers.working
    return await working.purge(parts.clock())


# In one transaction.


@dataclass(frozen=True, slots=True, kw_only=True)
class _RecordOutcome:
    """The result of recording an entry.

    Attributes:
        entry: As it is in quarantine.
        is_new: Whether this call stored it there.
        pushed: What went first in working memory: the entry, or an older one that it repeats.
        refused: Why working memory does not have it.
        is_there: Whether working memory had it before.
        is_repeated: Whether an earlier call had decided this already, so that nothing is reported.
    """

    entry: Entry
    is_new: bool = False
    pushed: Entry | None = None
    refused: str | None = None
    is_there: bool = False
    is_repeated: bool = False


async def _record_at_once(entry: Entry, parts: Parts, new: Collection[str] = ()) -> _RecordOutcome:
    """Record an entry inside a transaction over all tiers; its filters do not wait."""
    now = parts.clock()
    recent = await parts.tiers.working.live(entry.scope, now)
    if not {*entry.provenance.sources} <= {*new}:
        entry = await _with_fate_of_sources(parts, entry)
    refused = entry.refused or (entry.status if entry.status in DECIDED else None)
    decision = _WorkingDecision(entry=entry, refused=refused)
    if refused is None:
        decision = await _decide(parts, entry, recent, until=_end(now, parts), now=now)
    stored = await parts.tiers.quarantine.add(decision.entry)
    if stored.id != entry.id:  # recorded before under the same key
        return await _replayed(parts, stored, recent, now)
    if decision.pushed is not None:
        if parts.ttl_scope == "list":
            await _push(parts, decision.pushed, now)
        else:
            await parts.tiers.working.push(decision.pushed, keep=parts.limits.working_entries)
    return _RecordOutcome(
        entry=stored, is_new=True, pushed=decision.pushed, refused=decision.refused
    )


async def _replayed(
    parts: Parts, entry: Entry, recent: Sequence[Entry], now: datetime
) -> _RecordOutcome:
    """Complete an earlier attempt to record an entry that was interrupted."""
    if entry.refused is not None or entry.status in DECIDED:
        refused = entry.refused or entry.status
        return _RecordOutcome(entry=entry, refused=refused, is_repeated=True)
    if needless := _needless(parts, entry, recent, now):
        return needless
    until = _end(entry.created_at, parts)
    decision = await _decide(parts, entry, recent, until=until, now=now)
    noted = decision.entry
    if noted != entry:
        noted = await _note(parts, decision)
    if decision.pushed is not None:
        await _push(parts, decision.pushed, now)
    return _RecordOutcome(entry=noted, pushed=decision.pushed, refused=decision.refused)


def _needless(
    parts: Parts, entry: Entry, recent: Sequence[Entry], now: datetime
) -> _RecordOutcome | None:
    """Return the outcome of a replay that comes after, or too late for, working memory."""
    if any(other.id == entry.id for other in recent):
        return _RecordOutcome(entry=entry, is_there=True)
    is_late = _end(entry.created_at, parts) <= now
    if is_late or _overtaken(entry, recent, parts.limits.working_entries):
        return _RecordOutcome(entry=entry)
    return None


async def _note(parts: Parts, decision: _WorkingDecision) -> Entry:
    """Write the decision of working memory into quarantine."""
    entry = decision.entry

    def noted(stored: Entry) -> Entry:
        return replace(
            stored,
            refused=entry.refused,
            echo_of=entry.echo_of,
            duplicate_of=entry.duplicate_of,
        )

    await parts.tiers.quarantine.edit(Select.within(entry.scope, ids=(entry.id,)), noted)
    return entry


async def _push(
    parts: Parts, entry: Entry, now: datetime, working: WorkingView | None = None
) -> None:
    """Put an entry first; if the whole list is renewed, expired entries are deleted before."""
    working, renews = working or parts.tiers.working, parts.ttl_scope == "list"
    if renews:
        select = Select.within(entry.scope)
        every = (await working.find(select)).items
        expired = tuple(entry.id for entry in every if entry.expires_at and entry.expires_at <= now)
        if expired:
            await working.delete(select.also(ids=expired))
    await working.push(entry, keep=parts.limits.working_entries, renew=renews)


# Where a filter waits, or working memory is in another store.


async def _record_in_steps(parts: Parts, entry: Entry) -> Recorded:
    """Record an entry in quarantine first, so that it is safe while filters wait."""
    stored, is_new = await _keep_in_quarantine(parts, entry)
    return await _offer_stored(parts, stored, is_new=is_new)


async def _offer_stored(parts: Parts, entry: Entry, *, is_new: bool) -> Recorded:
    """Offer an entry that quarantine has just taken, or had before, to working memory."""
    if entry.refused is not None or entry.status in DECIDED:
        refused = entry.refused or entry.status
        if is_new:
            _tell_refusal(parts, entry, refused)
        return Recorded(entry=entry, refused=refused)
    return await _offer_in_steps(parts, entry, is_replay=not is_new)


async def _offer_in_steps(parts: Parts, entry: Entry, *, is_replay: bool) -> Recorded:
    """Offer an entry of quarantine to working memory; if that fails, quarantine still has it."""
    try:
        outcome = await _outcome_in_steps(parts, entry, is_replay=is_replay)
    except Exception as error:  # noqa: BLE001 - a failing working memory ends no run
        return _failed(parts, entry, error)
    return _reported(parts, outcome)


async def _outcome_in_steps(parts: Parts, entry: Entry, *, is_replay: bool) -> _RecordOutcome:
    now = parts.clock()
    recent = await parts.tiers.working.live(entry.scope, now)
    if is_replay and (needless := _needless(parts, entry, recent, now)):
        return needless
    others = [other for other in recent if other.id != entry.id]
    until = _end(entry.created_at if is_replay else now, parts)
    decision = await _decide(parts, entry, others, until=until, now=now)
    if parts.tiers.is_joint:
        return await parts.transaction(entry.scope, partial(_settle, entry, decision, now))
    if decision.entry != entry:
        try:
            await _note(parts, decision)
        except Exception as error:  # noqa: BLE001 - the entry is there, and the run goes on
            logger.warning("the refusal of entry %s was not noted: %s", entry.id, error)
    if decision.pushed is None:
        return _RecordOutcome(entry=decision.entry, refused=decision.refused)
    same = await _push_beside(parts, decision.pushed, now)
    if await _is_decided(parts, entry):  # by somebody, while filters were asked
        select = Select.within(entry.scope, ids=(decision.pushed.id,))
        await parts.tiers.working.delete(select)
        return _RecordOutcome(entry=decision.entry, refused="revoked")
    if decision.refused is None and any(isinstance(item, ExactDuplicate) for item in parts.filters):
        await _delete_twins(parts, decision.pushed, same)
    return _RecordOutcome(entry=decision.entry, pushed=decision.pushed, refused=decision.refused)


async def _settle(
    entry: Entry, decision: _WorkingDecision, now: datetime, parts: Parts
) -> _RecordOutcome:
    """Carry out a decision that was made while filters waited, inside a transaction."""
    if await _is_decided(parts, entry):
        return _RecordOutcome(entry=entry, refused="revoked")
    if decision.refused is None and any(isinstance(item, ExactDuplicate) for item in parts.filters):
        same = Select.within(entry.scope, hashes=(entry.content_hash,), live_at=now)
        twins = _twins_of(entry, (await parts.tiers.working.find(same)).items)
        if first := next((twin for twin in twins[::-1] if twin.id != entry.id), None):
            # It came in while the filters were asked.
            refusal = Refusal(DUPLICATE, same_as=first.id)
            decision = _refused(parts, entry, refusal, [first], now)
    if decision.entry != entry:
        await _note(parts, decision)
    if decision.pushed is not None:
        await _push(parts, decision.pushed, now)
    return _RecordOutcome(entry=decision.entry, pushed=decision.pushed, refused=decision.refused)


async def _is_decided(parts: Parts, entry: Entry) -> bool:
    """Return whether an entry was revoked, rejected or forgotten by now."""
    select = Select.within(entry.scope, ids=(entry.id,))
    stored = (await parts.tiers.quarantine.find(select)).items
    return not stored or stored[0].status in DECIDED


async def _push_beside(parts: Parts, entry: Entry, now: datetime) -> Sequence[Entry]:
    """Put an entry first; return the entries with its text that are there then."""
    same = Select.within(entry.scope, hashes=(entry.content_hash,), live_at=now)

    async def work(working: WorkingView) -> Sequence[Entry]:
        await _push(parts, entry, now, working)
        return (await working.find(same)).items

    return await parts.tiers.working.together(work, entry.scope)


async def _delete_twins(parts: Parts, entry: Entry, same: Sequence[Entry]) -> None:
    """Leave the oldest of entries with the same text, which came in at the same moment."""
    working = parts.tiers.working
    twins = _twins_of(entry, same)
    first, *later = sorted(twins, key=lambda twin: (twin.created_at, twin.id)) or [entry]
    for other in later:
        await working.delete(Select.within(entry.scope, ids=(other.id,)))
        noted = replace(other, refused=DUPLICATE, duplicate_of=(first.id,), echo_of=())
        try:
            await _note(parts, _WorkingDecision(entry=noted, refused=DUPLICATE))
        except Exception as error:  # noqa: BLE001 - the entry is there, and the run goes on
            logger.warning("the refusal of entry %s was not noted: %s", other.id, error)


def _twins_of(entry: Entry, same: Sequence[Entry]) -> list[Entry]:
    """Return entries with one text that the same users are shown."""
    owner = entry.metadata.get(VISIBLE_TO)
    return [other for other in same if other.metadata.get(VISIBLE_TO) == owner]


async def _without_working(parts: Parts, entry: Entry, error: Exception) -> Recorded:
    """Record an entry in quarantine alone after a failure."""
    stored, is_new = await _keep_in_quarantine(parts, entry)
    return (
        _failed(parts, stored, error) if is_new else Recorded(entry=stored, refused="store_failed")
    )


def _failed(parts: Parts, entry: Entry, error: Exception) -> Recorded:
    logger.warning("working memory failed: %s: %s", type(error).__name__, error)
    _tell_refusal(parts, entry, "store_failed")
    return Recorded(entry=entry, refused="store_failed")


# Quarantine.


async def _keep_in_quarantine(parts: Parts, entry: Entry) -> tuple[Entry, bool]:
    """Store an entry in quarantine; return the stored entry, and whether it is new."""
    try:
        stored = await parts.transaction(entry.scope, partial(_keep, entry=entry))
    except StoreUnconfirmed:
        raise  # it may be there already
    except Exception as error:  # whatever a store of somebody else raises
        if not entry.provenance.sources:
            raise
        # An output is not lost because what it was made of cannot be looked up.
        stored = await parts.tiers.quarantine.add(entry)
        logger.warning("the sources of entry %s were not looked up: %s", entry.id, error)
    return _report_stored(parts, entry, stored)


async def _keep(parts: Parts, entry: Entry, new: Collection[str] = ()) -> Entry:
    """Add an entry to quarantine inside a transaction; return the stored entry."""
    if not {*entry.provenance.sources} <= {*new}:
        entry = await _with_fate_of_sources(parts, entry)
    return await parts.tiers.quarantine.add(entry)


def _report_stored(parts: Parts, entry: Entry, stored: Entry) -> tuple[Entry, bool]:
    """Emit the event of a stored entry; return it, and whether it is new."""
    note_recorded(parts.stores.quarantine, stored)
    if stored.id != entry.id:
        return stored, False
    event_context = parts.event_context(stored.scope)
    emit(event_context, "recorded", tier="quarantine", entries=1, characters=len(stored.content))
    return stored, True


async def _with_fate_of_sources(parts: Parts, entry: Entry) -> Entry:
    """Return an entry that is revoked if its sources are.

    An entry that was made of a forgotten record is refused, so that it is not promoted.
    """
    sources = entry.provenance.sources
    if not sources:
        return entry
    select = Select.within(entry.scope, ids=sources)
    pages = await parts.tiers.find_many([("quarantine", select), ("long_term", select)])
    stored: dict[str, Entry | Memory] = {record.id: record for page in pages for record in page}
    hidden = [record for record in stored.values() if record.revocation is not None]
    for receipt in dict.fromkeys(id_ for source in hidden for id_ in inherited_receipts(source)):
        entry = mark_revoked(entry, receipt)
    if parts.forgotten.among(entry.scope.tenant, {*sources} - {*stored}):
        entry = replace(entry, refused=SOURCE_GONE, echo_of=(), duplicate_of=())
    return entry


async def _entry_of(parts: Parts, scope: MemoryScope, entry_id: str) -> Entry:
    quarantine = parts.tiers.quarantine
    select = Select.within(scope, ids=(entry_id,))
    entries = (await quarantine.find(select, limit=1)).items
    if not entries:
        hint = parts.forgotten.hint(scope, entry_id)
        raise EntryMissing(f"quarantine has no entry {entry_id!r} in this tenant and group{hint}")
    return entries[0]


async def _logged_before(parts: Parts, entry: Entry) -> Entry | None:
    """Return the newest entry of quarantine with the same text by the same maker."""
    quarantine, scope = parts.tiers.quarantine, entry.scope
    select = Select.within(
        scope,
        hashes=(entry.content_hash,),
        agents=(scope.agent_id,),
        sessions=(scope.session_id,),
        users=(scope.user_id,),
        statuses=_OPEN,
    )
    entries = (await quarantine.find(select, limit=1)).items
    if not entries:
        return None
    return replace(entries[0], metadata={**entry.metadata, **entries[0].metadata})


# Decisions of working memory.


@dataclass(frozen=True, slots=True, kw_only=True)
class _WorkingDecision:
    """The decision of working memory about an entry.

    Attributes:
        entry: As quarantine notes it.
        pushed: What goes first in working memory: the entry, or an older one that it repeats.
        refused: Why working memory does not take the entry.
    """

    entry: Entry
    pushed: Entry | None = None
    refused: str | None = None


async def _decide(
    parts: Parts, entry: Entry, recent: Sequence[Entry], *, until: datetime, now: datetime
) -> _WorkingDecision:
    """Ask the filters, and compare an entry with working and long-term memory.

    Args:
        parts: The memory.
        entry: The entry, as it is in quarantine.
        recent: The other entries of working memory, newest first.
        until: When it expires there.
        now: The moment.

    Returns:
        The decision.
    """
    user = entry.scope.user_id  # what only others are shown does not stand for what this one says
    recent = [other for other in recent if other.metadata.get(VISIBLE_TO) in (None, user)]
    candidate = replace(entry, content=strip_recalled_blocks(entry.content))
    answer = await ask_filters(parts, candidate, recent)
    if isinstance(answer, Refusal):
        return _refused(parts, entry, answer, recent, now)
    candidate = replace(candidate, metadata={**entry.metadata, **answer.labels})
    repetition = await find_repetition(parts, candidate, recent, now)
    if repetition != NO_REPETITION and entry.provenance.origin.kind == "agent":
        return _refused(parts, entry, _refusal_of(repetition, recent), recent, now)
    echo, duplicate = repetition.echo_of, repetition.duplicate_of
    noted = replace(entry, refused=None, echo_of=echo, duplicate_of=duplicate)
    pushed = replace(candidate, refused=None, echo_of=(), duplicate_of=duplicate, expires_at=until)
    return _WorkingDecision(entry=noted, pushed=pushed)


def _refused(
    parts: Parts, entry: Entry, refusal: Refusal, recent: Sequence[Entry], now: datetime
) -> _WorkingDecision:
    reason = refusal.reason or "refused"
    same = () if refusal.same_as is None else (refusal.same_as,)
    noted = replace(
        entry,
        refused=reason,
        echo_of=refusal.echo_of,
        duplicate_of=refusal.duplicate_of or same,
    )
    again = next((other for other in recent if other.id == refusal.same_as), None)
    if again is not None:
        metadata = {**again.metadata, SAID_AGAIN: now.isoformat()}
        again = replace(again, expires_at=_end(now, parts), metadata=metadata)
    return _WorkingDecision(entry=noted, pushed=again, refused=reason)


def _refusal_of(repetition: Repetition, recent: Sequence[Entry]) -> Refusal:
    """Return the refusal of a duplicate or an echo."""
    if repetition.echo_of:
        return Refusal(ECHO, echo_of=repetition.echo_of)
    there = {other.id for other in recent}
    same_as = next((id_ for id_ in repetition.duplicate_of if id_ in there), None)
    return Refusal(DUPLICATE, same_as=same_as, duplicate_of=repetition.duplicate_of)


def _end(start: datetime, parts: Parts) -> datetime:
    """Return when an entry expires that begins at a moment."""
    try:
        return start + timedelta(hours=parts.limits.working_hours)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)


def _overtaken(entry: Entry, others: Sequence[Entry], most: int) -> bool:
    """Return whether there have been so many since that an entry is no longer among them."""
    return sum(1 for other in others if other.created_at > entry.created_at) >= most


# Events.


def _reported(parts: Parts, outcome: _RecordOutcome) -> Recorded:
    """Emit the events of an outcome and return it for the caller."""
    entry, refused = outcome.entry, outcome.refused
    if outcome.is_new:
        note_recorded(parts.stores.quarantine, entry)
    event_context = parts.event_context(entry.scope)
    if outcome.is_new:
        size = len(entry.content)
        emit(event_context, "recorded", tier="quarantine", entries=1, characters=size)
    is_working = outcome.pushed is not None and refused is None
    if is_working and outcome.pushed is not None:
        size = len(outcome.pushed.content)
        emit(event_context, "recorded", tier="working", entries=1, characters=size)
    elif refused is not None and not outcome.is_repeated:
        emit(event_context, "rejected", tier="working", reason=refused)
    return Recorded(entry=entry, working=is_working or outcome.is_there, refused=refused)


def _tell_refusal(parts: Parts, entry: Entry, reason: str) -> None:
    emit(parts.event_context(entry.scope), "rejected", tier="working", reason=reason)

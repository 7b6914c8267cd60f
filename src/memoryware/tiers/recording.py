"""Recording: everything goes to quarantine, what passes goes to working memory as well."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from memoryware.errors import EntryMissing, SettingError
from memoryware.events import emit
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts, Refusal, warn_without_group
from memoryware.tiers.activity import note_recorded
from memoryware.tiers.echo.matching import DUPLICATE, ECHO, strip_recalled_blocks
from memoryware.tiers.echo.repetition import NO_REPETITION, Repetition, find_repetition
from memoryware.tiers.filters.builtin import ExactDuplicate
from memoryware.tiers.filters.chain import ask_filters
from memoryware.tiers.grounds import SAID_AGAIN, SOURCE_GONE, inherited_receipts, taken_back
from memoryware.tiers.new_entry import EntryOrigin, create_entry
from memoryware.tiers.records import DECIDED, Entry, Memory, Status
from memoryware.tiers.screening import redacted
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.values import Layer, Recorded

__all__ = [
    "EntryOrigin",
    "cleanup_working_memory",
    "log_quarantine",
    "record",
    "update_working_memory",
]

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
    """Keep an output in quarantine and return its entry; a known key returns the one there is.

    Raises:
        EntryRefused: For what is no text or too long.
    """
    entry = await create_entry(parts, content, scope, metadata, origin or EntryOrigin())
    kept, _ = await _kept(parts, entry)
    return kept


async def record(
    parts: Parts,
    content: str,
    scope: MemoryScope,
    metadata: Mapping[str, Any] | None = None,
    *,
    origin: EntryOrigin | None = None,
    tiers: Collection[Layer] = _BOTH,
) -> Recorded:
    """Keep an output in quarantine, and in working memory if the filters let it pass.

    What was recorded with the same key already is not recorded again; if the first attempt
    ended before working memory was asked, that is made up for.

    Raises:
        EntryRefused: For what is no text or too long.
        SettingError: For a tier that outputs do not go to.
    """
    wanted = {tiers} if isinstance(tiers, str) else set(tiers)
    if not wanted <= {*_BOTH}:
        raise SettingError(f"tiers={tiers!r}: outputs go to quarantine and working memory only")
    entry = await create_entry(parts, content, scope, metadata, origin or EntryOrigin())
    kept, fresh = await _kept(parts, entry)
    if "working" in wanted and not kept.scope.group_id:
        warn_without_group(scope)
    if "working" not in wanted or not kept.scope.group_id:
        return Recorded(entry=kept, refused=kept.refused)
    if kept.refused is None and kept.status not in DECIDED:
        return await _offered(parts, kept, replayed=not fresh)
    refused = kept.refused or kept.status
    if fresh:
        _tell_refusal(parts, kept, refused)
    return Recorded(entry=kept, refused=refused)


async def update_working_memory(
    parts: Parts,
    what: str | Entry,
    scope: MemoryScope,
    metadata: Mapping[str, Any] | None = None,
) -> Recorded:
    """Put a text, or an entry of quarantine, into working memory if the filters let it pass.

    A text that quarantine does not have yet goes there first. Without a group nothing
    happens.

    Raises:
        EntryRefused: For what is no text or too long.
        EntryMissing: If quarantine has no such entry in this scope.
    """
    if isinstance(what, Entry):
        owner = scope or what.scope
        if not owner.group_id:
            return Recorded(entry=what)
        kept = await _found(parts, owner, what.id)
        kept = replace(kept, metadata={**kept.metadata, **redacted(parts.guard, metadata)})
    else:
        entry = await create_entry(parts, what, scope, metadata, EntryOrigin())
        if not scope.group_id:
            return Recorded(entry=entry)
        kept = await _logged_before(parts, entry) or (await _kept(parts, entry))[0]
    if kept.status in DECIDED or kept.refused in (ECHO, SOURCE_GONE):
        refused = kept.status if kept.status in DECIDED else kept.refused or ""
        _tell_refusal(parts, kept, refused)
        return Recorded(entry=kept, refused=refused)
    return await _offered(parts, kept, replayed=False)


async def cleanup_working_memory(parts: Parts) -> int:
    """Remove what has expired from working memory, in all groups; return how many."""
    working = parts.tiers.working
    return await working.purge(parts.clock())


# Quarantine.


async def _kept(parts: Parts, entry: Entry) -> tuple[Entry, bool]:
    """Keep an entry in quarantine; return what is there now, and whether it is new."""
    quarantine = parts.tiers.quarantine
    kept = await quarantine.add(entry)
    note_recorded(parts.stores.quarantine, kept)
    if kept.id != entry.id:
        return kept, False
    _tell_recorded(parts, entry, "quarantine")
    if entry.provenance.sources:
        kept = await _as_its_sources(parts, kept)
    return kept, True


async def _as_its_sources(parts: Parts, entry: Entry) -> Entry:
    """Take an entry back together with what it was made of; what is forgotten is no ground.

    It is in quarantine already: who takes a source back from now on finds it there.
    """
    stores, sources = parts.tiers, entry.provenance.sources
    which = Select.within(entry.scope, ids=sources)
    found: dict[str, Entry | Memory] = {}
    for store in (stores.quarantine, stores.long_term):
        looked: Any = store
        page = await looked.find(which)
        found |= {one.id: one for one in page.items}
    hidden = [one for one in found.values() if one.revocation is not None]
    receipts = dict.fromkeys(id_ for one in hidden for id_ in inherited_receipts(one))
    gone = parts.forgotten.among(entry.scope.tenant, {*sources} - {*found})
    if not receipts and not gone:
        return entry

    def change(one: Entry) -> Entry:
        for receipt in receipts:
            one = taken_back(one, receipt)
        return replace(one, refused=SOURCE_GONE, echo_of=(), duplicate_of=()) if gone else one

    edited = await stores.quarantine.edit(
        Select.within(entry.scope, ids=(entry.id,)),
        change,
    )
    return edited[0] if edited else entry


async def _found(parts: Parts, scope: MemoryScope, entry_id: str) -> Entry:
    quarantine = parts.tiers.quarantine
    which = Select.within(scope, ids=(entry_id,))
    found = (await quarantine.find(which, limit=1)).items
    if not found:
        raise EntryMissing(f"quarantine has no entry {entry_id!r} in this tenant and group")
    return found[0]


async def _logged_before(parts: Parts, entry: Entry) -> Entry | None:
    """Return the newest entry of quarantine with the same text by the same maker."""
    quarantine, scope = parts.tiers.quarantine, entry.scope
    which = Select.within(
        scope,
        hashes=(entry.content_hash,),
        agents=(scope.agent_id,),
        sessions=(scope.session_id,),
        users=(scope.user_id,),
        statuses=_OPEN,
    )
    found = (await quarantine.find(which, limit=1)).items
    if not found:
        return None
    return replace(found[0], metadata={**entry.metadata, **found[0].metadata})


async def _note(
    parts: Parts,
    entry: Entry,
    reason: str | None = None,
    repetition: Repetition = NO_REPETITION,
) -> Entry:
    """Write into quarantine what working memory decided; a failure is only logged."""
    echo, duplicate = repetition.echo_of, repetition.duplicate_of
    if (reason, echo, duplicate) == (entry.refused, entry.echo_of, entry.duplicate_of):
        return entry
    quarantine = parts.tiers.quarantine
    which = Select.within(entry.scope, ids=(entry.id,))
    try:
        await quarantine.edit(
            which,
            lambda one: replace(one, refused=reason, echo_of=echo, duplicate_of=duplicate),
        )
    except Exception as error:  # noqa: BLE001 - the entry is there, and the run goes on
        logger.warning("the refusal of entry %s was not noted: %s", entry.id, error)
    return replace(entry, refused=reason, echo_of=echo, duplicate_of=duplicate)


# Working memory.


@dataclass(frozen=True, slots=True, kw_only=True)
class _Offer:
    """An entry at the door of working memory.

    Attributes:
        entry: As it is in quarantine.
        others: What is in working memory now, without this entry, newest first.
        until: When it expires.
        now: The moment.
    """

    entry: Entry
    others: Sequence[Entry]
    until: datetime
    now: datetime


async def _offered(parts: Parts, entry: Entry, *, replayed: bool) -> Recorded:
    """Offer an entry to working memory. If that fails, quarantine still has it."""
    try:
        return await _offer(parts, entry, replayed=replayed)
    except Exception as error:  # noqa: BLE001 - a failing working memory ends no run
        logger.warning("working memory failed: %s: %s", type(error).__name__, error)
        _tell_refusal(parts, entry, "store_failed")
        return Recorded(entry=entry, refused="store_failed")


async def _offer(parts: Parts, entry: Entry, *, replayed: bool) -> Recorded:
    working, now = parts.tiers.working, parts.clock()
    which = Select.within(entry.scope, live_at=now)
    there = (await working.find(which)).items
    others = tuple(one for one in there if one.id != entry.id)
    until = _end(now, parts)
    if replayed:
        if len(others) < len(there):
            return Recorded(entry=entry, working=True)
        until = _end(entry.created_at, parts)
        if until <= now or _overtaken(entry, others, parts.limits.working_entries):
            return Recorded(entry=entry)
    offer = _Offer(entry=entry, others=others, until=until, now=now)
    candidate = replace(entry, content=strip_recalled_blocks(entry.content))
    answer = await ask_filters(parts, candidate, others)
    if not isinstance(answer, Refusal):
        candidate = replace(candidate, metadata={**entry.metadata, **answer.labels})
        repetition = await find_repetition(parts, candidate, others)
        if repetition == NO_REPETITION or entry.provenance.origin.kind != "agent":
            return await _admitted(parts, offer, candidate, repetition)
        answer = _refusal_of(repetition, others)
    return await _turned_away(parts, offer, answer)


def _refusal_of(repetition: Repetition, others: Sequence[Entry]) -> Refusal:
    """Return why working memory refuses what it has already, or had shown."""
    if repetition.echo_of:
        return Refusal(ECHO, echo_of=repetition.echo_of)
    there = {one.id for one in others}
    same_as = next((one for one in repetition.duplicate_of if one in there), None)
    return Refusal(DUPLICATE, same_as=same_as, duplicate_of=repetition.duplicate_of)


async def _turned_away(parts: Parts, offer: _Offer, refusal: Refusal) -> Recorded:
    refusal = replace(refusal, reason=refusal.reason or "refused")
    same = () if refusal.same_as is None else (refusal.same_as,)
    repetition = Repetition(refusal.echo_of, refusal.duplicate_of or same)
    noted = await _note(parts, offer.entry, refusal.reason, repetition)
    _tell_refusal(parts, offer.entry, refusal.reason)
    for one in offer.others:
        if one.id == refusal.same_as:
            said = {**one.metadata, SAID_AGAIN: offer.now.isoformat()}
            again = replace(one, expires_at=_end(offer.now, parts), metadata=said)
            await _pushed(parts, again, offer.now)
    return Recorded(entry=noted, refused=refusal.reason)


async def _admitted(
    parts: Parts, offer: _Offer, candidate: Entry, repetition: Repetition
) -> Recorded:
    entry = await _note(parts, offer.entry, repetition=repetition)
    placed = replace(
        candidate,
        refused=None,
        echo_of=(),
        duplicate_of=repetition.duplicate_of,
        expires_at=offer.until,
    )
    if not await _pushed(parts, placed, offer.now):
        return Recorded(entry=entry, refused="revoked")
    if any(isinstance(one, ExactDuplicate) for one in parts.filters):
        await _one_of_each(parts, placed, offer.now)
    _tell_recorded(parts, placed, "working")
    return Recorded(entry=entry, working=True)


async def _pushed(parts: Parts, entry: Entry, now: datetime) -> bool:
    """Put an entry first, and say whether it stayed: it may have been revoked meanwhile."""
    working, quarantine = parts.tiers.working, parts.tiers.quarantine
    whole_list = parts.ttl_scope == "list"
    if whole_list:  # what has expired must not be renewed with the rest
        await working.purge(now)
    keep = parts.limits.working_entries
    await working.push(entry, keep=keep, renew=whole_list)
    which = Select.within(entry.scope, ids=(entry.id,))
    found = (await quarantine.find(which)).items
    if found and found[0].status not in DECIDED:
        return True
    await working.delete(which)
    return False


async def _one_of_each(parts: Parts, entry: Entry, now: datetime) -> None:
    """Leave the oldest of entries with the same text, which came in side by side."""
    working = parts.tiers.working
    which = Select.within(entry.scope, hashes=(entry.content_hash,), live_at=now)
    same = (await working.find(which)).items
    first, *later = sorted(same, key=lambda one: (one.created_at, one.id)) or [entry]
    for one in later:
        await working.delete(which.also(hashes=None, ids=(one.id,)))
        await _note(parts, one, DUPLICATE, Repetition(duplicate_of=(first.id,)))


def _end(start: datetime, parts: Parts) -> datetime:
    """Return when an entry expires that begins at a moment."""
    try:
        return start + timedelta(hours=parts.limits.working_hours)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)


def _overtaken(entry: Entry, others: Sequence[Entry], most: int) -> bool:
    """Say whether there have been so many since that an entry is no longer among them."""
    return sum(1 for one in others if one.created_at > entry.created_at) >= most


# What is told.


def _tell_recorded(parts: Parts, entry: Entry, tier: Layer) -> None:
    teller = parts.teller(entry.scope)
    emit(teller, "recorded", tier=tier, entries=1, characters=len(entry.content))


def _tell_refusal(parts: Parts, entry: Entry, reason: str) -> None:
    emit(parts.teller(entry.scope), "rejected", tier="working", reason=reason)

"""Forget records: delete them from every tier for good, with all that was made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from memoryware._caching import clear_caches
from memoryware.errors import EntryMissing, ScopeMissing
from memoryware.events import logger
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts
from memoryware.tiers.audit import note, unnote
from memoryware.tiers.journal import JournalEntry
from memoryware.tiers.model import Entry, Memory, PromotionRecord, fewer
from memoryware.tiers.provenance import Origin
from memoryware.tiers.revoke import AffectedRecords, affected_by_selection
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.text.terms import core_words, words_of
from memoryware.tiers.validity import relink_chains
from memoryware.tiers.values import LAYERS, Counts, ForgetReceipt

# Removing promotions.


async def withdraw(
    parts: Parts,
    memories: Sequence[Memory],
    select: Select,
    falls: Callable[[Memory, PromotionRecord], bool],
) -> list[Memory]:
    """Remove promotions of memories; delete and return the memories of which none is left.

    Args:
        parts: The memory, inside a transaction.
        memories: The memories, as this transaction has read them.
        select: The tenant and groups that they are in.
        falls: Whether a promotion of a memory is removed.

    Returns:
        The memories that were deleted.
    """
    store = parts.tiers.long_term
    gone = [
        memory for memory in memories if all(falls(memory, ground) for ground in memory.grounds)
    ]
    ids = {memory.id for memory in gone}
    left = tuple(memory.id for memory in memories if memory.id not in ids)
    if left:
        await store.edit(
            select.also(ids=left), lambda memory: fewer(memory, partial(falls, memory))
        )
    if gone:
        await store.delete(select.also(ids=tuple(ids)))
    return gone


# Deleting.


_AN: Final[Mapping[str, str]] = {"user": "a user", "agent": "an agent", "session": "a session"}


@dataclass(frozen=True, slots=True)
class ForgetCondition:
    """The conditions of `TieredMemory.forget` beside the scope."""

    ids: Sequence[str] | None = None
    origin: Origin | None = None
    query: str | None = None
    derived: bool = True

    @property
    def is_all(self) -> bool:
        """Whether everything of a person, agent or conversation is meant."""
        return self.ids is None and self.origin is None and self.query is None


async def forget(
    parts: Parts,
    scope: MemoryScope,
    condition: ForgetCondition,
    *,
    by: str = "",
    reason: str = "",
    dry_run: bool = False,
) -> ForgetReceipt:
    """Delete the records that fit every condition, and what was made of them.

    Args:
        parts: The stores and the rules of the memory.
        scope: Tenant, and any of group, user, agent and session.
        condition: The other conditions.
        by: Who does it; "" if unknown.
        reason: Why, in words.
        dry_run: Only count.

    Returns:
        The receipt, which the journal keeps as well, if the memory has one.

    Raises:
        ScopeMissing: If neither the scope nor a condition selects anything.
    """
    # Only a journal and a dry run have to know before the transaction what will be gone.
    needs_preview = dry_run or parts.journal is not None
    affected = (
        await affected_by_forget(parts, scope, condition) if needs_preview else AffectedRecords()
    )
    described = _condition(scope, condition)
    if dry_run:
        return ForgetReceipt(
            **asdict(affected.counts),
            scope=_group_scope(scope),
            condition=described,
            by=by,
            reason=reason,
        )
    where = Select(tenant=scope.tenant, groups=_selected(scope, condition).groups)
    await forget_queued(parts, scope, condition)  # first: if it fails, nothing is forgotten
    fallen, named = _fallen(affected), scope if condition.is_all else _group_scope(scope)
    await unnote(parts, named, fallen)  # first: what is deleted is not found once more

    async def work(inside: Parts) -> tuple[AffectedRecords, Counts, tuple[Memory, ...]]:
        now = await affected_by_forget(inside, scope, condition)
        # Before they are gone: what is made of them from then on comes too late.
        most = parts.limits.forgotten_ids
        parts.forgotten.note(where.tenant, _fallen(now), most, where.groups)
        gone, again = await _deleted(inside, where, now)
        if inside.tiers.is_joint:
            gone += await _deleted_working(inside, where, now)
        return now, gone, again

    deleted, gone, again = await parts.transaction(where, work)
    if not parts.tiers.is_joint:
        gone += await _deleted_working(parts, where, deleted)
    late = tuple(set(_fallen(deleted)) - set(fallen))
    if late:  # what was made of it in the meantime
        await unnote(parts, named, late)
    _clear(parts)
    receipt = ForgetReceipt(
        **asdict(gone),
        id=parts.new_id(),
        scope=_group_scope(scope),
        condition=described,
        by=by,
        at=parts.clock(),
        reason=reason,
        reinstated=tuple(dict.fromkeys(memory.id for memory in again)),
    )
    for id_ in receipt.reinstated:
        logger.warning("memory %s is current again: what had taken its place was forgotten", id_)
    if gone.total:
        await note(parts, _line_of(receipt))
    return receipt


async def forget_queued(parts: Parts, scope: MemoryScope, condition: ForgetCondition) -> None:
    """Remove threads that wait for extraction, if whom or what they name is forgotten.

    Args:
        parts: The stores and the rules of the memory.
        scope: Tenant, and any of group, user, agent and session.
        condition: The other conditions.

    Raises:
        StoreUnavailable: If the queue cannot be written.
    """
    user, origin = scope.user_id, condition.origin
    if origin is not None and origin.kind in ("user", "person") and user in (None, origin.name):
        user = origin.name or None
    elif not condition.is_all:
        return
    if condition.ids is not None or condition.query is not None or scope.agent_id:
        return  # the rest of the thread stays
    if not (user or scope.group_id or scope.session_id):
        return
    from memoryware.tiers.extraction.job_queue import forget_threads  # it loads sqlite3

    opened = [opened.queue for opened in parts.queues.all()]
    await parts.runner.offload(forget_threads, parts.stores, opened, replace(scope, user_id=user))


async def require_group(parts: Parts, name: str) -> None:
    """Refuse a text that is read as a group and is the name of a user, agent or session.

    Whoever is asked to delete a person and calls `forget("ann")` must not believe that it is done.

    Args:
        parts: The stores and the rules of the memory.
        name: The text.

    Raises:
        EntryMissing: If there is no group of this name and something else has it.
    """
    if await _has_any(parts, Select(groups=(name,))):
        return
    for part, select in (
        ("user_id", Select(users=(name,))),
        ("agent_id", Select(agents=(name,))),
        ("session_id", Select(sessions=(name,))),
    ):
        if await _has_any(parts, select):
            kind = part.removesuffix("_id")
            raise EntryMissing(
                f"There is no group {name!r}, and nothing was forgotten: {name!r} is {_AN[kind]};"
                f" call forget(MemoryScope({part}={name!r}))"
            )


async def _has_any(parts: Parts, select: Select) -> bool:
    for layer in LAYERS:
        store: Any = getattr(parts.tiers, layer)
        if (await store.find(select, limit=1)).items:
            return True
    return False


async def affected_by_forget(
    parts: Parts, scope: MemoryScope, condition: ForgetCondition
) -> AffectedRecords:
    """Return the records that fit every condition, and what was made of them.

    Args:
        parts: The stores and the rules of the memory.
        scope: Tenant, and any of group, user, agent and session.
        condition: The other conditions.

    Returns:
        Their ids, by tier.

    Raises:
        ScopeMissing: If neither the scope nor a condition selects anything.
    """
    select = _selected(scope, condition)
    return await affected_by_selection(
        parts, select, descendants=condition.derived, fits=_having(condition.query)
    )


def _group_scope(scope: MemoryScope) -> MemoryScope:
    """Return the tenant and group of a scope, without the person and the session."""
    return MemoryScope(tenant=scope.tenant, group_id=scope.group_id)


def _condition(scope: MemoryScope, condition: ForgetCondition) -> str:
    """Return the condition as text, without names of people and words of texts.

    The receipt outlives the records, and must not keep personal data of them.
    """
    parts = ("user", "agent", "session", "node")
    meant = [f"one {part}" for part in parts if getattr(scope, f"{part}_id")]
    if condition.ids is not None:
        meant.append("1 id" if len(condition.ids) == 1 else f"{len(condition.ids)} ids")
    if condition.origin is not None:
        is_person = condition.origin.kind in ("user", "person")
        meant.append(
            f"what came from one {condition.origin.kind}" if is_person else str(condition.origin)
        )
    if condition.query is not None:
        meant.append("words")
    if not meant:
        meant.append("a whole group")
    return ", ".join(meant) + ("" if condition.derived else "; not what was made of it")


def _line_of(receipt: ForgetReceipt) -> JournalEntry:
    return JournalEntry(
        kind="forgotten",
        at=receipt.at or datetime.min.replace(tzinfo=UTC),
        scope=receipt.scope,
        by=receipt.by,
        what=receipt.condition,
        reason=receipt.reason,
        counts=receipt.counts,
        receipt=receipt.id,
        reinstated=receipt.reinstated,
    )


def _fallen(affected: AffectedRecords) -> tuple[str, ...]:
    """Return the ids of the records that are deleted; a memory with another promotion stays."""
    return (*affected.quarantine, *affected.working, *affected.long_term)


def _clear(parts: Parts) -> None:
    """Drop what the process remembers of texts: of those that are gone no word may stay."""
    clear_caches()
    parts.groups.clear()
    if parts.embedder is not None:
        parts.embedder.cache.clear()


async def _deleted(
    parts: Parts, where: Select, affected: AffectedRecords
) -> tuple[Counts, tuple[Memory, ...]]:
    """Delete the affected records of quarantine and long-term memory.

    Returns:
        How much was deleted, and the memories that are current again because of it.
    """
    memories = await withdraw(
        parts,
        [affected.read[id_] for id_ in affected.memories],
        where,
        lambda memory, promotion: promotion.key in affected.grounds.get(memory.id, ()),
    )
    entries = tuple(affected.quarantine)
    quarantine = await parts.tiers.quarantine.delete(where.also(ids=entries)) if entries else 0
    again = await relink_chains(parts, memories)
    await _disowned(parts, where, memories)
    return Counts(quarantine=quarantine, long_term=len(memories)), again


async def _deleted_working(parts: Parts, where: Select, affected: AffectedRecords) -> Counts:
    entries = tuple(affected.working)
    return Counts(
        working=await parts.tiers.working.delete(where.also(ids=entries)) if entries else 0
    )


async def _disowned(parts: Parts, where: Select, gone: Iterable[Memory]) -> None:
    """Remove the ids of deleted memories from entries."""
    memories = list(gone)
    ids = {memory.id for memory in memories}
    sources = {
        id_ for memory in memories for ground in memory.grounds for id_ in ground.provenance.sources
    }

    def without(entry: Entry) -> Entry:
        return replace(
            entry,
            memory_ids=tuple(memory_id for memory_id in entry.memory_ids if memory_id not in ids),
        )

    if sources:
        store = parts.tiers.quarantine
        await store.edit(where.also(ids=tuple(sources)), without)


def _selected(scope: MemoryScope, condition: ForgetCondition) -> Select:
    parts = {
        "groups": scope.group_id,
        "users": scope.user_id,
        "agents": scope.agent_id,
        "sessions": scope.session_id,
    }
    named = {name: (value,) for name, value in parts.items() if value}
    if (
        not named
        and condition.ids is None
        and condition.origin is None
        and not words_of(condition.query or "")
    ):
        raise ScopeMissing(
            "Nothing selects what to forget: pass a group, user, agent or session in the scope,"
            " ids=, origin= or query="
        )
    select = Select(tenant=scope.tenant).also(**named)
    return select.also(
        ids=None if condition.ids is None else tuple(condition.ids),
        root=None if condition.origin is None else str(condition.origin),
    )


def _having(query: str | None) -> Callable[[Entry | Memory], bool]:
    """Return a function that says whether a text has all words of a query."""
    if query is None:
        return lambda _: True
    words = set(core_words(query))
    return lambda record: bool(words) and words <= set(words_of(record.content))

"""Reopen entries: undo a reviewer's decision, so that its entries wait again.

What was promoted by the decision is revoked with a receipt, as `revoke` does it, together with what
was made of it since; other promotions of the same text stay. A statement is decided once for all
entries that say it, so all of them are reopened together: a decision that stays on one of them
would keep the others out of the digest.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple

from memoryware.errors import EntryMissing
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts
from memoryware.tiers.actors import DecisionActor
from memoryware.tiers.audit import note
from memoryware.tiers.journal import line_of
from memoryware.tiers.model import (
    WAITING,
    Entry,
    Key,
    Memory,
    PromotionRecord,
    Record,
    Status,
    hash_of,
)
from memoryware.tiers.proposals import statements_in
from memoryware.tiers.revoke import AffectedRecords, affected_by_promotions, hide, hide_working
from memoryware.tiers.statements import groups_of
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.text.comparison import Relation, compare
from memoryware.tiers.values import Counts, Receipt

_DECIDED: Final[tuple[Status, ...]] = ("promoted", "rejected")


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryChange:
    """What a decision changed about one entry of quarantine.

    Attributes:
        id: The entry.
        status: Its status after the decision.
        decided_at: When that was decided; None if it still waits.
        statements: Digests of the statements that were decided; () for the entry as a whole.
        proposer: Who was added to its proposers; "" if nobody was.
        ungrouped: Whether it was taken out of its group.
    """

    id: str
    status: Status
    decided_at: datetime | None = None
    statements: tuple[str, ...] = ()
    proposer: str = ""
    ungrouped: bool = False

    @classmethod
    def between(cls, before: Entry, after: Entry) -> EntryChange | None:
        """Return what happened to an entry.

        Args:
            before: The entry before the decision.
            after: The same entry after it.

        Returns:
            The change; None if nothing was decided about it.
        """
        statements = tuple(after.decided.keys() - before.decided.keys())
        proposers = [name for name in after.all_proposers if name not in before.all_proposers]
        change = cls(
            id=after.id,
            status=after.status,
            decided_at=after.decided_at,
            statements=statements,
            proposer=proposers[0] if proposers else "",
            ungrouped=after.ungrouped and not before.ungrouped,
        )
        is_decided = statements or proposers or change.ungrouped or after.status != before.status
        return change if is_decided else None

    def undone(self, entry: Entry, memories: frozenset[str]) -> Entry:
        """Return an entry as it was before; unchanged if it was changed again since.

        Args:
            entry: The entry as it is now.
            memories: Memories that are revoked with the decision.

        Returns:
            The entry.
        """
        is_same = (entry.status, entry.decided_at) == (self.status, self.decided_at)
        has_statements = bool(self.statements) and self.statements_in(entry)
        if entry.revocation is not None or not (is_same or has_statements):
            return entry
        decided = {key: value for key, value in entry.decided.items() if key not in self.statements}
        proposers = tuple(name for name in entry.all_proposers if name != self.proposer)
        metadata = dict(entry.metadata)
        if "rejected" not in decided.values():
            metadata.pop("rejected_because", None)
        return replace(
            entry,
            status="proposed" if proposers else "pending",
            decided=decided,
            decided_by=None,
            decided_at=None,
            proposers=proposers,
            proposed_by=proposers[-1] if proposers else None,
            metadata=metadata,
            ungrouped=entry.ungrouped and not self.ungrouped,
            memory_ids=tuple(id_ for id_ in entry.memory_ids if id_ not in memories),
        )

    def statements_in(self, entry: Entry) -> bool:
        """Return whether the statements are decided in an entry.

        Args:
            entry: The entry.

        Returns:
            Whether all of them are.
        """
        return self.statements != () and set(self.statements) <= entry.decided.keys()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewDecision:
    """A decision that is to be undone.

    Attributes:
        changes: What it changed about entries.
        memories: Memories that it promoted, or that it promoted once more.
        is_meant: Which promotions of these memories are undone.
    """

    changes: tuple[EntryChange, ...] = ()
    memories: tuple[str, ...] = ()
    is_meant: Callable[[PromotionRecord], bool] = lambda _: True

    def is_open(self, promotion: PromotionRecord) -> bool:
        """Return whether a promotion is undone by it, and was not before.

        Args:
            promotion: A promotion of one of the memories.

        Returns:
            Whether it is.
        """
        return not promotion.revocations and self.is_meant(promotion)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reopened:
    """The result of reopening entries.

    Attributes:
        ids: The entries that wait again.
        missed: How many were changed again since, or are gone, and stay as they are.
        kept: Memories that stay, because others have promoted them as well.
        receipt: The receipt of what was revoked; None if nothing was.
    """

    ids: tuple[str, ...] = ()
    missed: int = 0
    kept: tuple[str, ...] = ()
    receipt: Receipt | None = None


async def reopen(
    parts: Parts,
    scope: MemoryScope,
    changes: Sequence[EntryChange],
    *,
    by: str,
    memories: Sequence[str] = (),
    since: datetime | None = None,
) -> Reopened:
    """Undo a decision about entries, in one transaction.

    Args:
        parts: The stores and the rules of the memory.
        scope: Tenant and group.
        changes: What the decision changed.
        by: Who decided, and undoes it.
        memories: Memories that the decision promoted, or that it promoted once more.
        since: When the decision began: only promotions by `by` from then on are revoked.

    Returns:
        What waits again.
    """
    name = DecisionActor.of(by).name

    def is_meant(promotion: PromotionRecord) -> bool:
        is_later = since is None or promotion.promoted_at >= since
        return promotion.promoted_by == name and is_later

    async def decision(_: Parts) -> ReviewDecision:
        return ReviewDecision(changes=tuple(changes), memories=tuple(memories), is_meant=is_meant)

    return await undo_decision(parts, scope, decision, by=by)


async def undo_decision(
    parts: Parts,
    scope: MemoryScope,
    find: Callable[[Parts], Awaitable[ReviewDecision]],
    *,
    by: str,
    dry_run: bool = False,
) -> Reopened:
    """Undo a decision that is read inside the same transaction.

    Args:
        parts: The stores and the rules of the memory.
        scope: Tenant and group.
        find: Returns the decision.
        by: Who undoes it.
        dry_run: Only count; nothing is changed.

    Returns:
        What waits again. Of a dry run the receipt has no id.
    """
    receipt = Receipt(
        id="" if dry_run else parts.new_id(),
        scope=scope,
        what="",
        by=by,
        at=parts.clock(),
        reason="the approval was undone",
    )

    async def work(inside: Parts) -> tuple[ReviewDecision, AffectedRecords, Receipt, list[str]]:
        decision, affected, again = await find(inside), AffectedRecords(), tuple[str, ...]()
        counts, memories = Counts(), decision.memories
        if memories:
            affected = await affected_by_promotions(inside, scope, memories, decision.is_open)
            counts = affected.counts
            if not dry_run:
                counts, again = await hide(inside, affected, receipt)
                if inside.tiers.is_joint:
                    counts += await hide_working(inside, affected, receipt)
        done = replace(receipt, what=", ".join(memories), counts=counts, reinstated=again)
        if dry_run:
            return decision, affected, done, [change.id for change in decision.changes]
        ids = await _undo(inside, scope, decision.changes, frozenset(memories))
        return decision, affected, done, ids

    decision, affected, done, ids = await parts.transaction(scope, work)
    if not (dry_run or parts.tiers.is_joint):
        done = replace(done, counts=done.counts + await hide_working(parts, affected, receipt))
    result = Reopened(
        ids=tuple(ids), missed=len(decision.changes) - len(ids), kept=tuple(affected.shaken)
    )
    if not affected.memories:
        return result
    done = replace(done, ids=affected.ids)
    if not dry_run:
        await note(parts, line_of(done))
    return replace(result, receipt=done)


async def _undo(
    parts: Parts, scope: MemoryScope, changes: Sequence[EntryChange], memories: frozenset[str]
) -> list[str]:
    """Change entries back; return the ids of those that were."""
    by_id, ids = {change.id: change for change in changes}, dict[str, None]()

    def apply(entry: Entry) -> Entry:
        entry_before = by_id[entry.id].undone(entry, memories)
        if entry_before != entry:
            ids[entry.id] = None
        return entry_before

    if by_id:
        await parts.tiers.quarantine.edit(Select.within(scope, ids=tuple(by_id)), apply)
    return [id_ for id_ in by_id if id_ in ids]


# What was decided about records, by their ids.


@dataclass(frozen=True, slots=True)
class ReopenTarget:
    """What is reopened.

    Attributes:
        id: The id of an entry, or of a memory: the entries that it was promoted from.
        statement: The digest of one statement of the entry; "" for all of it.
    """

    id: str
    statement: str = ""


async def reopen_records(
    parts: Parts,
    scope: MemoryScope,
    targets: Sequence[ReopenTarget],
    *,
    by: str,
    dry_run: bool = False,
) -> Reopened:
    """Undo the decisions about entries in one transaction, all of them or none.

    The entries wait for review again. What was promoted from them is revoked with a receipt,
    together with what was derived from it; a memory that others have promoted as well stays.

    Args:
        parts: The stores and the rules of the memory.
        scope: Tenant and group.
        targets: The entries, statements or memories.
        by: Who does it.
        dry_run: Only report what would happen.

    Returns:
        What waits again, and the receipt of what was hidden.

    Raises:
        EntryMissing: If a record does not exist, was revoked, was not decided, or was promoted
            from no entry; then nothing is changed.
    """
    DecisionActor.of(by)  # raises for a blank name
    find = partial(_find_decision, scope, tuple(dict.fromkeys(targets)))
    return await undo_decision(parts, scope, find, by=by, dry_run=dry_run)


async def _find_decision(
    scope: MemoryScope, targets: Sequence[ReopenTarget], inside: Parts
) -> ReviewDecision:
    """Return what was decided about the targets, read inside a transaction."""
    within = Select.within(scope)
    named = within.also(ids=tuple(target.id for target in targets))
    entries, memories = await inside.tiers.find_many([("quarantine", named), ("long_term", named)])
    records: dict[str, Record] = {record.id: record for record in (*memories, *entries)}
    collector = _DecisionCollector(await _memories_of(inside, within, entries, memories))
    for target in targets:
        record = records.get(target.id)
        if record is None:
            raise EntryMissing(
                f"Group {scope.group_id!r} has no entry or memory {target.id!r}; nothing was"
                " reopened"
            )
        if isinstance(record, Memory):
            collector.add_memory(record)
        else:
            collector.add_entry(record, target.statement)
    collector.add_related(await _related_entries(inside, within, collector))
    for memory in memories:
        collector.require_entry(memory)
    return collector.decision()


async def _memories_of(
    inside: Parts, within: Select, entries: Iterable[Entry], memories: Iterable[Memory]
) -> list[Memory]:
    """Return whole documents of memories, and what was promoted from entries."""
    selections = []
    if promoted := tuple({id_ for entry in entries for id_ in entry.memory_ids}):
        selections.append(within.also(ids=promoted))
    if documents := tuple({memory.document_id for memory in memories}):
        selections.append(within.also(documents=documents))
    pages = await inside.tiers.find_many([("long_term", select) for select in selections])
    return list({memory.id: memory for page in pages for memory in page}.values())


async def _related_entries(
    inside: Parts, within: Select, collector: _DecisionCollector
) -> list[Entry]:
    """Return entries that the decision may have decided as well.

    As in a digest, exact copies are found wherever they are, other wordings among the newest.
    """
    quarantine = inside.tiers.quarantine
    most = inside.limits.digest_entries
    pages = [
        (await quarantine.find(within.also(ids=collector.sources))).items,
        (await quarantine.find(within.also(hashes=collector.hashes))).items,
    ]
    pages += [
        (await quarantine.find(within.also(statuses=statuses), limit=most)).items
        for statuses in (_DECIDED, WAITING)  # one that waits may have decided statements
    ]
    return list({entry.id: entry for page in pages for entry in page}.values())


class _Rejection(NamedTuple):
    """A rejected text: it is rejected for all that say it, for the group or for one user."""

    text: str
    owner: str


@dataclass(slots=True)
class _DecisionCollector:
    """Collects what was decided about the targets.

    Attributes:
        known: Memories that may have been promoted by the decision.
        promoted: Those that were, by id.
        undone: The keys of the promotions of these that are undone.
        rejections: Texts that were rejected.
        changes: What was decided about entries, by id.
        entries: These entries.
    """

    known: Sequence[Memory]
    promoted: dict[str, Memory] = field(default_factory=dict)
    undone: set[Key] = field(default_factory=set)
    rejections: list[_Rejection] = field(default_factory=list)
    changes: dict[str, EntryChange] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)

    @property
    def sources(self) -> tuple[str, ...]:
        """Ids of what the memories were promoted from."""
        return tuple({id_ for ground in self._grounds() for id_ in ground.provenance.sources})

    @property
    def hashes(self) -> tuple[str, ...]:
        """Hashes of the texts of the decision."""
        texts = {hash_of(rejection.text) for rejection in self.rejections}
        return tuple(texts | {memory.content_hash for memory in self.promoted.values()})

    def decision(self) -> ReviewDecision:
        """Return the decision."""
        return ReviewDecision(
            changes=tuple(self.changes.values()),
            memories=tuple(self.promoted),
            is_meant=lambda promotion: promotion.key in self.undone,
        )

    def add_memory(self, memory: Memory) -> None:
        """Add a memory that is named, with all its promotions.

        Raises:
            EntryMissing: If it was revoked.
        """
        if memory.revocation is not None:
            raise _revoked("memory", memory)
        for chunk in self.known:
            if chunk.document_id == memory.document_id:
                self.promoted[chunk.id] = chunk
                self.undone.update(ground.key for ground in chunk.grounds)

    def add_entry(self, entry: Entry, statement: str) -> None:
        """Add the decisions about an entry that is named, or about one statement of it.

        Raises:
            EntryMissing: If nothing was decided about it, or it was revoked.
        """
        _require_decided(entry, statement)
        statements = (statement,) if statement else tuple(entry.decided)
        self._note(entry, statements)
        decisions = {entry.decided[key] for key in statements}
        if not statement:
            decisions.add(entry.status)
        if "promoted" in decisions:
            for memory in self._memories_from(entry, statements_in(entry).get(statement, "")):
                self.promoted[memory.id] = memory
                self.undone.update(ground.key for ground in _grounds_of(entry, memory))
        self.rejections += [
            rejection
            for key, rejection in _rejections_of(entry).items()
            if not statement or key == statement
        ]

    def add_related(self, entries: Iterable[Entry]) -> None:
        """Add entries that were not named, as far as the same was decided about them."""
        others = [
            entry for entry in entries if entry.id not in self.changes and entry.revocation is None
        ]
        rejected = self._rejected_as_well(others)
        for entry in others:
            rejections = _rejections_of(entry).items()
            statements = [key for key, rejection in rejections if rejection in rejected]
            is_related = bool(statements)
            if entry.status == "promoted" and not entry.decided:
                is_related = self._is_from(entry)
            elif promoted := [key for key, word in entry.decided.items() if word == "promoted"]:
                statements += self._promoted_from(entry, promoted)
                is_related = bool(statements)
            if is_related:
                self._note(entry, tuple(key for key in statements if key in entry.decided))

    def require_entry(self, memory: Memory) -> None:
        """Check that an entry waits again because of a memory that is named.

        Raises:
            EntryMissing: If it was promoted from no entry.
        """
        document = {
            id_ for id_, chunk in self.promoted.items() if chunk.document_id == memory.document_id
        }
        if not any(document & set(entry.memory_ids) for entry in self.entries.values()):
            raise EntryMissing(
                f"memory {memory.id} was promoted from no entry that could be reviewed again;"
                " nothing was reopened: revoke() hides it"
            )

    def _note(self, entry: Entry, statements: tuple[str, ...]) -> None:
        before = self.changes.get(entry.id)
        every = dict.fromkeys((*(before.statements if before else ()), *statements))
        self.entries[entry.id] = entry
        self.changes[entry.id] = EntryChange(
            id=entry.id,
            status=entry.status,
            decided_at=entry.decided_at,
            statements=tuple(every),
        )

    def _grounds(self) -> list[PromotionRecord]:
        return [ground for memory in self.promoted.values() for ground in memory.grounds]

    def _memories_from(self, entry: Entry, text: str) -> list[Memory]:
        """Return what was promoted from an entry, or from one statement of it.

        Raises:
            EntryMissing: If it is not known which of several memories says the statement.
        """
        memories = [memory for memory in self.known if memory.id in entry.memory_ids]
        promoted = [key for key, word in entry.decided.items() if word == "promoted"]
        if not text or len(promoted) == 1:
            return memories
        same = [memory for memory in memories if _says(memory, text)]
        if memories and not same:
            ids = ", ".join(memory.id for memory in memories)
            raise EntryMissing(
                f"it is not known which memory statement {text[:80]!r} of entry {entry.id} became;"
                f" nothing was reopened: name the memory, one of {ids}"
            )
        return same

    def _is_from(self, entry: Entry) -> bool:
        """Return whether one of the undone promotions has decided an entry."""
        grounds = [
            ground
            for memory in self.promoted.values()
            if memory.id in entry.memory_ids
            for ground in _grounds_of(entry, memory)
        ]
        return any(ground.key in self.undone for ground in grounds)

    def _promoted_from(self, entry: Entry, statements: Sequence[str]) -> Sequence[str]:
        """Return which promoted statements of an entry the undone promotions have promoted."""
        if not self._is_from(entry):
            return ()
        if set(entry.memory_ids) <= self.promoted.keys():
            return statements
        texts, memories = statements_in(entry), self.promoted.values()
        same = [
            key
            for key in statements
            if any(_says(memory, texts.get(key, "")) for memory in memories)
        ]
        # A digest leaves out again what another memory says, so that one too many does no harm.
        return same or statements

    def _is_promoted(self, text: str) -> bool:
        return any(_says(memory, text) for memory in self.promoted.values())

    def _rejected_as_well(self, entries: Iterable[Entry]) -> set[_Rejection]:
        """Return the rejections of other entries that say what was rejected, as a digest groups."""
        if not self.rejections:
            return set()
        others = (rejection for entry in entries for rejection in _rejections_of(entry).values())
        every, named = list(dict.fromkeys((*self.rejections, *others))), {*self.rejections}
        groups = groups_of(
            [rejection.text for rejection in every],
            owners=[rejection.owner for rejection in every],
        )
        same = ([every[position] for position in group.members] for group in groups)
        return {other for members in same if named & {*members} for other in members}


def _rejections_of(entry: Entry) -> dict[str, _Rejection]:
    """Return what was rejected with an entry, by the digest of the statement or of all of it.

    A rejection of one entry alone, apart from its group, says nothing about others.
    """
    if entry.ungrouped and entry.status == "rejected":
        return {}
    texts, owner = statements_in(entry), entry.personal_owner
    rejected = {
        key: texts[key]
        for key, word in entry.decided.items()
        if word == "rejected" and key in texts
    }
    if entry.status == "rejected" and not entry.decided:
        # Who rejects an entry of several statements as a whole has said nothing about each.
        rejected = {entry.content_hash: entry.content, **(texts if len(texts) == 1 else {})}
    return {key: _Rejection(text, owner) for key, text in rejected.items()}


def _require_decided(entry: Entry, statement: str) -> None:
    """Refuse to reopen an entry that was not decided.

    Raises:
        EntryMissing: If it was not, or was revoked.
    """
    if entry.revocation is not None:
        raise _revoked("entry", entry)
    hidden = entry.waits.against if entry.waits is not None and entry.waits.removes else ()
    if hidden and entry.status == "promoted":
        raise EntryMissing(
            f"entry {entry.id} asked to forget something; nothing was reopened: restore(receipt)"
            f" shows again what was hidden ({', '.join(hidden)})"
        )
    if statement and statement not in entry.decided and entry.status not in WAITING:
        raise EntryMissing(
            f"entry {entry.id} was decided as a whole; nothing was reopened: reopen all of it"
        )
    if not (statement in entry.decided if statement else entry.decided) and entry.status in WAITING:
        raise EntryMissing(f"nothing was decided about entry {entry.id}, so nothing was reopened")


def _revoked(kind: str, record: Record) -> EntryMissing:
    return EntryMissing(
        f"{kind} {record.id} was revoked as {record.revocation}; nothing was reopened:"
        " restore(receipt) shows it again"
    )


def _grounds_of(entry: Entry, memory: Memory) -> list[PromotionRecord]:
    """Return the promotions of a memory that have decided an entry.

    They are made from it; a repetition, which is no source, is decided by whoever promoted it.
    """
    grounds = [ground for ground in memory.grounds if not ground.revocations]
    own = [ground for ground in grounds if entry.id in ground.provenance.sources]
    same = [ground for ground in grounds if ground.promoted_by == entry.decided_by]
    return own or same or grounds


def _says(memory: Memory, text: str) -> bool:
    return memory.content_hash == hash_of(text) or _says_same(memory.content, text)


def _says_same(first: str, second: str) -> bool:
    return hash_of(first) == hash_of(second) or compare(first, second) is Relation.SAME

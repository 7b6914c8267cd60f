"""The audit log: actions on memories and entries, and the sessions that the journal recorded."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from memoryware.errors import SettingError, StoreUnavailable
from memoryware.events import logger
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts
from memoryware.tiers.journal import JournalEntry, JournalKind
from memoryware.tiers.model import Entry, Memory, Record
from memoryware.tiers.stores.protocol import Page, Select
from memoryware.tiers.values import Layer

# Writing to the journal.


async def unnote(parts: Parts, scope: MemoryScope, ids: Collection[str]) -> None:
    """Take ids out of the journal that are about to be forgotten.

    Args:
        parts: The stores and the rules of the memory.
        scope: Tenant and group.
        ids: Ids of the records that will be deleted.

    Raises:
        StoreUnavailable: If that cannot be done; then nothing should be deleted yet.
    """
    if parts.journal is not None:
        await parts.runner.offload(parts.journal.forget, scope, ids)


async def note(parts: Parts, line: JournalEntry) -> None:
    """Add a line to the journal, if the memory has one.

    The action itself is done by then, so a journal that cannot be written is only logged.

    Args:
        parts: The stores and the rules of the memory.
        line: The line.
    """
    if parts.journal is None:
        return
    try:
        await parts.runner.offload(parts.journal.add, line)
    except StoreUnavailable as error:
        logger.warning("%s: %s was not noted", error, line.kind)


# Actions, as records and the journal prove them.


ActKind: TypeAlias = Literal[
    "promoted",
    "superseded",
    "rejected",
    "proposed",
    "checked",
    "revoked",
    "restored",
    "forgotten",
]
"""The kind of an action."""
ACT_KINDS: Final[tuple[ActKind, ...]] = get_args(ActKind)
JOURNAL_KINDS: Final[Mapping[JournalKind, ActKind]] = {
    "revoked": "revoked",
    "restored": "restored",
    "forgotten": "forgotten",
}
"""The kinds of journal lines that are actions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """One action on memory.

    Attributes:
        kind: What.
        at: When.
        by: Who did it; "" if unknown.
        id: Of the record, or of what was revoked.
        tier: Where that is; None for several.
        content: The text of the record; "" for several, or where it is gone.
        detail: More, in words.
        receipt: The id of the revocation; "" for anything else.
        total: How many records.
        mark: After which `TieredMemory.audit` goes on.
    """

    kind: ActKind
    at: datetime
    by: str
    id: str
    tier: Layer | None = None
    content: str = ""
    detail: str = ""
    receipt: str = ""
    total: int = 1
    mark: str = ""


def of_memories(memories: Iterable[Memory], heirs: Iterable[Memory]) -> Iterator[Act]:
    """Yield the actions on memories: promotions, supersessions, checks.

    Args:
        memories: The memories.
        heirs: The memories that took the place of some of them.

    Yields:
        The actions.
    """
    firsts = [memory for memory in memories if memory.chunk_index == 0]
    by_document = {
        memory.document_id: memory for memory in (*firsts, *heirs) if memory.chunk_index == 0
    }
    for memory in firsts:
        about = f"about {memory.subject}" if memory.subject else ""
        for promotion in memory.grounds:
            yield _done(memory, "promoted", promotion.promoted_at, promotion.promoted_by, about)
        yield from _ended(memory, by_document)
        yield from _checked(memory)


def _ended(memory: Memory, by_document: Mapping[str, Memory]) -> Iterator[Act]:
    """Yield the supersession of a memory, with the person who promoted its successor."""
    if memory.superseded_by is None or memory.valid_to is None:
        return
    heir = by_document.get(memory.superseded_by)
    if heir is None:
        yield _done(memory, "superseded", memory.valid_to, "")
    else:
        yield _done(memory, "superseded", heir.created_at, heir.promoted_by, heir.content)


def of_entry(entry: Entry) -> Iterator[Act]:
    """Yield the actions on an entry: its rejection, its proposals, its check.

    Args:
        entry: The entry.

    Yields:
        The actions.
    """
    if entry.status == "rejected" and entry.decided_at is not None:
        noted = entry.metadata.get("rejected_because", entry.metadata.get("reason", ""))
        reason = noted if isinstance(noted, str) else ""
        yield _done(entry, "rejected", entry.decided_at, entry.decided_by or "", reason)
    for name in entry.all_proposers:
        yield _done(entry, "proposed", entry.created_at, name)
    yield from _checked(entry)


def _checked(record: Record) -> Iterator[Act]:
    verdict = record.verdict
    if verdict is not None and verdict.at is not None:
        result = "verified" if verdict.verified else "; ".join(verdict.issues) or "wrong"
        yield _done(record, "checked", verdict.at, verdict.by, result)


def _done(record: Record, kind: ActKind, at: datetime, by: str, detail: str = "") -> Act:
    """Return an action on a record."""
    return Act(
        kind=kind,
        at=at,
        by=by,
        id=record.id,
        tier="long_term" if isinstance(record, Memory) else "quarantine",
        content=record.content,
        detail=detail,
    )


def of_line(line: JournalEntry) -> Act:
    """Return the action that a line of the journal records.

    Args:
        line: A line about a revocation, a restoration or something forgotten.

    Returns:
        The action.
    """
    return Act(
        kind=JOURNAL_KINDS[line.kind],
        at=line.at,
        by=line.by,
        id=line.what,
        detail=line.reason,
        receipt=line.receipt,
        total=line.counts.total,
    )


# The log of actions.


NO_JOURNAL: Final = (
    "Who revoked, restored or forgot something is kept by a journal, and this memory has none:"
    " open it with journal='memory.journal.jsonl'"
)
"""The note of an audit log that has no journal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """A page of the audit log.

    Attributes:
        acts: The newest first.
        people: The names of all actors in the records that were read.
        next: The mark after which there is more; None at the end. A page may have no acts and
            more after it, if none of the records that were read matches.
        notes: Notes for people, in sentences.
    """

    acts: tuple[Act, ...] = ()
    people: tuple[str, ...] = ()
    next: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditQuery:
    """The filters and the page of `TieredMemory.audit`."""

    by: str | None = None
    kind: ActKind | None = None
    after: str | None = None
    limit: int | None = None


class _Window(NamedTuple):
    """Where the part that is looked at begins: the marks of all lists."""

    memories: str | None = None
    rejected: str | None = None
    proposed: str | None = None
    lines: str | None = None


_Order: TypeAlias = tuple[str, ...]
"""The sort key of an action: time, kind, id, actor, and a number among equal ones."""
_WINDOW: Final = len(_Window._fields)
_LAST: Final = 5
"""Parts of a mark: where the window begins, and the last action of the page."""


async def audit(parts: Parts, scope: MemoryScope, query: AuditQuery) -> Audit:
    """Return a page of actions, newest first; see `TieredMemory.audit`.

    Args:
        parts: The stores and the rules of the memory.
        scope: Tenant and group.
        query: Which actions, and which page.

    Returns:
        The page.

    Raises:
        SettingError: If `query.after` is not a mark of an earlier page.
    """
    limit = parts.limits.listed if query.limit is None else query.limit
    window, last = _parse_mark(query.after)
    acts_read, following = await _looked(parts, scope, window)
    fits = [(order, act) for order, act in _ordered(acts_read) if _fits(act, query)]
    fits = [pair for pair in fits if last is None or pair[0] < last]
    acts = tuple(replace(act, mark=_mark(window, order)) for order, act in fits[:limit])
    following_mark = None if following is None else _mark(following)
    if len(fits) > len(acts):
        following_mark = acts[-1].mark if acts else None
    return Audit(
        acts=acts,
        people=tuple(sorted({act.by for act in acts_read if act.by})),
        next=following_mark,
        notes=(NO_JOURNAL,) if parts.journal is None else (),
    )


async def _looked(
    parts: Parts, scope: MemoryScope, window: _Window
) -> tuple[list[Act], _Window | None]:
    """Return the actions on one window of records, and where the next window begins."""
    most, select = parts.limits.looked_back, Select.within(scope)
    long_term, tray = parts.tiers.long_term, parts.tiers.quarantine
    memories = await long_term.find(select, limit=most, after=window.memories)
    acts = [*of_memories(memories.items, await _heirs(parts, select, memories.items))]
    pages: list[Page[Any]] = [memories]
    for status, mark in (("rejected", window.rejected), ("proposed", window.proposed)):
        decided = select.also(statuses=(status,))
        page = await tray.find(decided, limit=most, after=mark)
        pages.append(page)
        for entry in page.items:
            acts += of_entry(entry)
    lines, end = list[JournalEntry](), window.lines
    if parts.journal is not None:
        journal = parts.journal
        lines, end = await parts.runner.offload(
            journal.page, scope, tuple(JOURNAL_KINDS), end, most
        )
        acts += map(of_line, lines)
    if len(lines) < most and all(page.next is None for page in pages):
        return acts, None
    ends = [
        page.marks[-1] if page.marks else mark for page, mark in zip(pages, window, strict=False)
    ]
    return acts, _Window(ends[0], ends[1], ends[2], end)


async def _heirs(parts: Parts, select: Select, memories: Sequence[Memory]) -> list[Memory]:
    """Return the successors of memories that are not among them."""
    present = {memory.document_id for memory in memories}
    documents = {
        memory.superseded_by for memory in memories if memory.superseded_by is not None
    } - present
    if not documents:
        return []
    long_term = parts.tiers.long_term
    page = await long_term.find(select.also(documents=tuple(sorted(documents))))
    return page.items


def _fits(act: Act, query: AuditQuery) -> bool:
    return query.by in (None, act.by) and query.kind in (None, act.kind)


# Marks.


def _ordered(acts: Sequence[Act]) -> list[tuple[_Order, Act]]:
    """Return actions with their sort keys, newest first; new actions do not move old ones."""
    alike, ordered = Counter[_Order](), list[tuple[_Order, Act]]()
    for act in reversed(acts):
        rank = str(len(ACT_KINDS) - ACT_KINDS.index(act.kind))
        moment = act.at.astimezone(UTC).isoformat(timespec="microseconds")
        order = (moment, rank, act.id, act.by)
        alike[order] += 1
        ordered.append(((*order, f"{alike[order]:09}"), act))
    return sorted(ordered, key=lambda pair: pair[0], reverse=True)


def _mark(window: _Window, last: _Order | None = None) -> str:
    return json.dumps([*window, *(last or ())], separators=(",", ":"))


def _parse_mark(mark: str | None) -> tuple[_Window, _Order | None]:
    """Return where a page begins, and the last act before it.

    Raises:
        SettingError: If the mark is not one of an earlier page.
    """
    if mark is None:
        return _Window(), None
    try:
        values = json.loads(mark)
        texts = isinstance(values, list) and all(isinstance(value, str | None) for value in values)
        if texts and len(values) in (_WINDOW, _WINDOW + _LAST) and None not in values[_WINDOW:]:
            return _Window(*values[:_WINDOW]), tuple(values[_WINDOW:]) or None
    # Thousands of nested brackets make `json.loads` raise a RecursionError.
    except (ValueError, RecursionError):
        pass
    raise SettingError(f"after={mark!r:.200}: is not the mark of an act; take `next` of a page")


# Sessions: what each run was shown and what became of it.


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A summary of one session.

    Attributes:
        id: The `session_id` of its outputs; "" for outputs of no session.
        first_at: When its first output was recorded, of those that were looked at.
        last_at: When something was recorded or shown last.
        outputs: How many were recorded.
        shown: How many entries and memories were shown in it.
        statuses: What became of its outputs: how many by status.
        refused: How many working memory did not take.
        agents: The agents that produced outputs.
        users: The users of these runs.
    """

    id: str
    first_at: datetime
    last_at: datetime
    outputs: int = 0
    shown: int = 0
    statuses: Mapping[str, int] = field(default_factory=dict)
    refused: int = 0
    agents: tuple[str, ...] = ()
    users: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sessions:
    """A page of sessions.

    Attributes:
        items: The sessions, the one that was active last first.
        next: The mark after which there is more; None at the end.
    """

    items: tuple[Session, ...] = ()
    next: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A record that a model was shown.

    Attributes:
        id: Of the entry or memory.
        record: All of it, as it is now; None if it was forgotten.
        is_new: Whether the session had not been shown it before.
    """

    id: str
    record: Entry | Memory | None = None
    is_new: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One run of a session that left an output or a line in the journal.

    Attributes:
        at: When it was recorded, or shown.
        entry: The recorded output; None if nothing was recorded.
        shown: The records that the model was shown before.
        from_journal: Whether the journal says what was shown; else it is read from the lineage,
            which counts what was shown in earlier runs as well.
        tokens: Tokens of the shown block; 0 if not counted.
        memories: The memories that were promoted from the output.
    """

    at: datetime
    entry: Entry | None = None
    shown: tuple[Shown, ...] = ()
    from_journal: bool = False
    tokens: int = 0
    memories: tuple[Memory, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """A session run by run.

    Attributes:
        id: Of the session.
        turns: Its runs, the first one first.
        more: How many older outputs are not in it.
    """

    id: str
    turns: tuple[Turn, ...] = ()
    more: int = 0


async def sessions(parts: Parts, scope: MemoryScope, *, after: str | None) -> Sessions:
    """Return the sessions of the outputs that were recorded last; see `TieredMemory.sessions`.

    Args:
        parts: The stores and the rules of the memory.
        scope: Tenant and group.
        after: The `next` of the page before; None for the first page.

    Returns:
        A page of sessions, the one that was active last first.

    Raises:
        SettingError: If `after` is not a mark of an earlier page.
    """
    most, store = parts.limits.looked_back, parts.tiers.quarantine
    page = await store.find(Select.within(scope), limit=most, after=after)
    lines = [] if after else await _shown_lines(parts, scope)
    items = [
        _summed(id_, entries, [line for line in lines if (line.scope.session_id or "") == id_])
        for id_, entries in _by_session(page.items, lines).items()
    ]
    items.sort(key=lambda item: item.last_at, reverse=True)
    return Sessions(items=tuple(items), next=page.next)


async def session(parts: Parts, id_: str, scope: MemoryScope) -> Story:
    """Return a session run by run; see `TieredMemory.session`.

    Args:
        parts: The stores and the rules of the memory.
        id_: The id of the session; "" for outputs without one.
        scope: Tenant and group.

    Returns:
        The session with its runs in order.
    """
    most, store = parts.limits.looked_back, parts.tiers.quarantine
    select = Select.within(scope, sessions=(id_,) if id_ else ("", None))
    page = await store.find(select, limit=most)
    entries = sorted(page.items, key=lambda entry: entry.created_at)
    lines = await _shown_lines(parts, scope, id_)
    drafts = list(_drafts(entries, sorted(lines, key=lambda line: line.at)))
    ids = {id_ for draft in drafts for id_ in draft.ids}
    records = await _records(parts, scope, ids)
    memories = await _became(parts, scope, entries)
    return Story(
        id=id_, turns=tuple(_turns(drafts, records, memories)), more=page.total - len(page.items)
    )


@dataclass(slots=True)
class _UnreadTurn:
    """A turn whose records are not read yet."""

    at: datetime
    ids: tuple[str, ...]
    entry: Entry | None = None
    from_journal: bool = False
    tokens: int = 0


async def _shown_lines(
    parts: Parts, scope: MemoryScope, session_id: str | None = None
) -> list[JournalEntry]:
    """Return the lines of the journal about shown records."""
    journal = parts.journal
    if journal is None:
        return []
    return await parts.runner.offload(
        journal.newest,
        scope,
        kinds=("shown",),
        session_id=session_id,
        limit=parts.limits.looked_back,
    )


def _by_session(entries: Iterable[Entry], lines: Iterable[JournalEntry]) -> dict[str, list[Entry]]:
    by_session: dict[str, list[Entry]] = {}
    for entry in entries:
        by_session.setdefault(entry.scope.session_id or "", []).append(entry)
    for line in lines:
        by_session.setdefault(line.scope.session_id or "", [])
    return by_session


def _summed(id_: str, entries: Sequence[Entry], lines: Sequence[JournalEntry]) -> Session:
    times = [entry.created_at for entry in entries] + [line.at for line in lines]
    agents = [
        *(entry.scope.agent_id for entry in entries),
        *(line.scope.agent_id for line in lines),
    ]
    shown = {id_ for entry in entries for id_ in entry.provenance.sources}
    return Session(
        id=id_,
        first_at=min(times),
        last_at=max(times),
        outputs=len(entries),
        shown=len(shown.union(*(line.ids for line in lines))),
        statuses=dict(Counter(entry.status for entry in entries)),
        refused=sum(entry.refused is not None for entry in entries),
        agents=tuple(sorted({agent for agent in agents if agent})),
        users=tuple(sorted({entry.scope.user_id for entry in entries if entry.scope.user_id})),
    )


def _drafts(entries: Sequence[Entry], lines: Sequence[JournalEntry]) -> Iterator[_UnreadTurn]:
    """Yield a turn for each output, and one for records that were shown before no output."""
    waiting = list(lines)
    for entry in entries:
        shown = [line for line in waiting if line.at <= entry.created_at]
        waiting = waiting[len(shown) :]
        ids = dict.fromkeys(id_ for line in shown for id_ in line.ids)
        yield _UnreadTurn(
            at=entry.created_at,
            ids=tuple(ids) if shown else entry.provenance.sources,
            entry=entry,
            from_journal=bool(shown),
            tokens=sum(line.tokens for line in shown),
        )
    for line in waiting:
        yield _UnreadTurn(at=line.at, ids=line.ids, from_journal=True, tokens=line.tokens)


def _turns(
    drafts: Iterable[_UnreadTurn],
    records: Mapping[str, Entry | Memory],
    memories: Mapping[str, list[Memory]],
) -> Iterator[Turn]:
    before: set[str] = set()
    for draft in drafts:
        entry = draft.entry
        yield Turn(
            at=draft.at,
            entry=entry,
            shown=tuple(
                Shown(id=id_, record=records.get(id_), is_new=id_ not in before)
                for id_ in draft.ids
            ),
            from_journal=draft.from_journal,
            tokens=draft.tokens,
            memories=tuple(memories.get(entry.id, ())) if entry else (),
        )
        before.update(draft.ids)


async def _records(
    parts: Parts, scope: MemoryScope, ids: Iterable[str]
) -> dict[str, Entry | Memory]:
    """Return records by their ids; a memory goes before an entry with the same id."""
    select = Select.within(scope, ids=tuple(sorted(ids)))
    if not select.ids:
        return {}
    records: dict[str, Entry | Memory] = {}
    store: Any
    for store in (parts.tiers.quarantine, parts.tiers.long_term):
        records |= {record.id: record for record in (await store.find(select)).items}
    return records


async def _became(
    parts: Parts, scope: MemoryScope, entries: Iterable[Entry]
) -> dict[str, list[Memory]]:
    """Return the memories that were promoted from entries, by the id of the entry."""
    entry_ids = {id_: entry.id for entry in entries for id_ in entry.memory_ids}
    if not entry_ids:
        return {}
    store = parts.tiers.long_term
    select = Select.within(scope, ids=tuple(entry_ids))
    became: dict[str, list[Memory]] = {}
    for memory in (await store.find(select)).items:
        became.setdefault(entry_ids[memory.id], []).append(memory)
    return became

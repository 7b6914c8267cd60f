"""What each session was shown, and what came of it.

Of every output is kept what memory had shown before, as its lineage. A journal knows more
exactly what each run was shown, also of runs from which no output came.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts
from memoryware.tiers.journal import Noted
from memoryware.tiers.records import Entry, Memory
from memoryware.tiers.stores.protocol import Select


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One conversation, in a line.

    Attributes:
        id: The `session_id` of its outputs; "" for outputs of no session.
        first_at: When its first output was recorded, of those that were looked at.
        last_at: When something was recorded or shown last.
        outputs: How many were recorded.
        shown: How many entries and memories were shown in it.
        statuses: What became of its outputs: how many by status.
        refused: How many working memory did not take.
        agents: Who spoke.
        users: Who asked.
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
        items: The one that was heard of last first.
        next: The mark after which there is more; None at the end.
    """

    items: tuple[Session, ...] = ()
    next: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Something that a model was shown.

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
    """One run of a session, as far as it left something: an output, or a line in the journal.

    Attributes:
        at: When it was recorded, or shown.
        entry: What was said; None if nothing of it was recorded.
        shown: What the model had been shown before it said so.
        told: Whether the journal says what was shown; else it is read from the lineage, which
            counts what was shown in earlier runs as well.
        tokens: What was shown cost; 0 if nobody counted.
        memories: What the output became in long-term memory.
    """

    at: datetime
    entry: Entry | None = None
    shown: tuple[Shown, ...] = ()
    told: bool = False
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
    """Return the sessions of the outputs that were recorded last; see `TieredMemory.sessions`."""
    most, store = parts.limits.looked_back, parts.tiers.quarantine
    page = await store.find(Select.within(scope), limit=most, after=after)
    lines = [] if after else await _told(parts, scope)
    found = [
        _summed(id_, entries, [one for one in lines if (one.scope.session_id or "") == id_])
        for id_, entries in _by_session(page.items, lines).items()
    ]
    found.sort(key=lambda one: one.last_at, reverse=True)
    return Sessions(items=tuple(found), next=page.next)


async def session(parts: Parts, id_: str, scope: MemoryScope) -> Story:
    """Return a session run by run; see `TieredMemory.session`."""
    most, store = parts.limits.looked_back, parts.tiers.quarantine
    which = Select.within(scope, sessions=(id_,) if id_ else ("", None))
    page = await store.find(which, limit=most)
    entries = sorted(page.items, key=lambda one: one.created_at)
    lines = await _told(parts, scope, id_)
    drafts = list(_drafts(entries, sorted(lines, key=lambda one: one.at)))
    ids = {one for draft in drafts for one in draft.ids}
    known = await _records(parts, scope, ids)
    made = await _became(parts, scope, entries)
    return Story(
        id=id_, turns=tuple(_turns(drafts, known, made)), more=page.total - len(page.items)
    )


@dataclass(slots=True)
class _Draft:
    """A turn whose records are not read yet."""

    at: datetime
    ids: tuple[str, ...]
    entry: Entry | None = None
    told: bool = False
    tokens: int = 0


async def _told(parts: Parts, scope: MemoryScope, session_id: str | None = None) -> list[Noted]:
    """Return what the journal says that was shown."""
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


def _by_session(entries: Iterable[Entry], lines: Iterable[Noted]) -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = {}
    for one in entries:
        found.setdefault(one.scope.session_id or "", []).append(one)
    for line in lines:
        found.setdefault(line.scope.session_id or "", [])
    return found


def _summed(id_: str, entries: Sequence[Entry], lines: Sequence[Noted]) -> Session:
    times = [one.created_at for one in entries] + [one.at for one in lines]
    agents = [*(one.scope.agent_id for one in entries), *(one.scope.agent_id for one in lines)]
    shown = {id_ for one in entries for id_ in one.provenance.sources}
    return Session(
        id=id_,
        first_at=min(times),
        last_at=max(times),
        outputs=len(entries),
        shown=len(shown.union(*(one.ids for one in lines))),
        statuses=dict(Counter(one.status for one in entries)),
        refused=sum(one.refused is not None for one in entries),
        agents=tuple(sorted({one for one in agents if one})),
        users=tuple(sorted({one.scope.user_id for one in entries if one.scope.user_id})),
    )


def _drafts(entries: Sequence[Entry], lines: Sequence[Noted]) -> Iterator[_Draft]:
    """Yield a turn for each output, and one for what was shown before no output."""
    waiting = list(lines)
    for one in entries:
        told = [line for line in waiting if line.at <= one.created_at]
        waiting = waiting[len(told) :]
        ids = dict.fromkeys(id_ for line in told for id_ in line.ids)
        yield _Draft(
            at=one.created_at,
            ids=tuple(ids) if told else one.provenance.sources,
            entry=one,
            told=bool(told),
            tokens=sum(line.tokens for line in told),
        )
    for line in waiting:
        yield _Draft(at=line.at, ids=line.ids, told=True, tokens=line.tokens)


def _turns(
    drafts: Iterable[_Draft],
    known: Mapping[str, Entry | Memory],
    made: Mapping[str, list[Memory]],
) -> Iterator[Turn]:
    before: set[str] = set()
    for draft in drafts:
        entry = draft.entry
        yield Turn(
            at=draft.at,
            entry=entry,
            shown=tuple(
                Shown(id=one, record=known.get(one), is_new=one not in before) for one in draft.ids
            ),
            told=draft.told,
            tokens=draft.tokens,
            memories=tuple(made.get(entry.id, ())) if entry else (),
        )
        before.update(draft.ids)


async def _records(
    parts: Parts, scope: MemoryScope, ids: Iterable[str]
) -> dict[str, Entry | Memory]:
    """Return records by their ids; a memory goes before an entry with the same id."""
    which = Select.within(scope, ids=tuple(sorted(ids)))
    if not which.ids:
        return {}
    found: dict[str, Entry | Memory] = {}
    some: Any
    for some in (parts.tiers.quarantine, parts.tiers.long_term):
        found |= {one.id: one for one in (await some.find(which)).items}
    return found


async def _became(
    parts: Parts, scope: MemoryScope, entries: Iterable[Entry]
) -> dict[str, list[Memory]]:
    """Return what entries became in long-term memory, by the id of the entry."""
    wanted = {id_: one.id for one in entries for id_ in one.memory_ids}
    if not wanted:
        return {}
    store = parts.tiers.long_term
    which = Select.within(scope, ids=tuple(wanted))
    made: dict[str, list[Memory]] = {}
    for one in (await store.find(which)).items:
        made.setdefault(wanted[one.id], []).append(one)
    return made

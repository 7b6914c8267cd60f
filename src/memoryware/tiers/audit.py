"""Who did what to memory, page by page."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from typing import Any, Final, NamedTuple, TypeAlias

from memoryware.errors import SettingError
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts
from memoryware.tiers.acts import ACT_KINDS, TOLD, Act, ActKind, of_entry, of_line, of_memories
from memoryware.tiers.journal import Noted
from memoryware.tiers.records import Memory
from memoryware.tiers.stores.protocol import Page, Select

NO_JOURNAL: Final = (
    "Who revoked, restored or forgot something is kept by a journal, and this memory has none:"
    " open it with journal='memory.journal.jsonl'"
)
"""What is said where nobody can know who took back what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What was done.

    Attributes:
        acts: The newest first.
        people: Everybody who did something, of what was looked at.
        next: The mark after which there is more; None at the end. A page may have no acts and
            more after it, where what was looked at is not what was asked for.
        notes: What a person should know, in sentences.
    """

    acts: tuple[Act, ...] = ()
    people: tuple[str, ...] = ()
    next: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which acts are wanted; see `TieredMemory.audit`."""

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
"""Where an act stands: moment, kind, id, who, and which one of those that are alike."""
_PLACE: Final = len(_Window._fields)
_LAST: Final = 5
"""Parts of a mark: where what is looked at begins, and the act that was the last one."""


async def audit(parts: Parts, scope: MemoryScope, asked: Asked) -> Audit:
    """Return who did what, the newest first."""
    limit = parts.limits.listed if asked.limit is None else asked.limit
    window, last = _place_of(asked.after)
    found, following = await _looked(parts, scope, window)
    fits = [(order, one) for order, one in _ordered(found) if _fits(one, asked)]
    fits = [both for both in fits if last is None or both[0] < last]
    acts = tuple(replace(one, mark=_mark(window, order)) for order, one in fits[:limit])
    on = None if following is None else _mark(following)
    if len(fits) > len(acts):
        on = acts[-1].mark if acts else None
    return Audit(
        acts=acts,
        people=tuple(sorted({one.by for one in found if one.by})),
        next=on,
        notes=(NO_JOURNAL,) if parts.journal is None else (),
    )


async def _looked(
    parts: Parts, scope: MemoryScope, window: _Window
) -> tuple[list[Act], _Window | None]:
    """Return what was done to a part of the records, and where the next part begins."""
    most, which = parts.limits.looked_back, Select.within(scope)
    cold, tray = parts.tiers.long_term, parts.tiers.quarantine
    memories = await cold.find(which, limit=most, after=window.memories)
    found = [*of_memories(memories.items, await _heirs(parts, which, memories.items))]
    pages: list[Page[Any]] = [memories]
    for status, mark in (("rejected", window.rejected), ("proposed", window.proposed)):
        some = which.also(statuses=(status,))
        page = await tray.find(some, limit=most, after=mark)
        pages.append(page)
        for entry in page.items:
            found += of_entry(entry)
    lines, end = list[Noted](), window.lines
    if parts.journal is not None:
        journal = parts.journal
        lines, end = await parts.runner.offload(journal.page, scope, tuple(TOLD), end, most)
        found += map(of_line, lines)
    if len(lines) < most and all(page.next is None for page in pages):
        return found, None
    ends = [
        page.marks[-1] if page.marks else mark for page, mark in zip(pages, window, strict=False)
    ]
    return found, _Window(ends[0], ends[1], ends[2], end)


async def _heirs(parts: Parts, which: Select, memories: Sequence[Memory]) -> list[Memory]:
    """Return what took the place of memories and is not among them."""
    here = {one.document_id for one in memories}
    wanted = {one.superseded_by for one in memories if one.superseded_by is not None} - here
    if not wanted:
        return []
    cold = parts.tiers.long_term
    page = await cold.find(which.also(documents=tuple(sorted(wanted))))
    return page.items


def _fits(act: Act, asked: Asked) -> bool:
    return asked.by in (None, act.by) and asked.kind in (None, act.kind)


# Marks.


def _ordered(acts: Sequence[Act]) -> list[tuple[_Order, Act]]:
    """Return acts with where they stand, the newest first; what is new moves none of the old."""
    alike, found = Counter[_Order](), list[tuple[_Order, Act]]()
    for one in reversed(acts):
        rank = str(len(ACT_KINDS) - ACT_KINDS.index(one.kind))
        moment = one.at.astimezone(UTC).isoformat(timespec="microseconds")
        order = (moment, rank, one.id, one.by)
        alike[order] += 1
        found.append(((*order, f"{alike[order]:09}"), one))
    return sorted(found, key=lambda both: both[0], reverse=True)


def _mark(window: _Window, last: _Order | None = None) -> str:
    return json.dumps([*window, *(last or ())], separators=(",", ":"))


def _place_of(mark: str | None) -> tuple[_Window, _Order | None]:
    """Return where a page begins, and the last act before it.

    Raises:
        SettingError: If the mark is none.
    """
    if mark is None:
        return _Window(), None
    try:
        said = json.loads(mark)
        texts = isinstance(said, list) and all(isinstance(one, str | None) for one in said)
        if texts and len(said) in (_PLACE, _PLACE + _LAST) and None not in said[_PLACE:]:
            return _Window(*said[:_PLACE]), tuple(said[_PLACE:]) or None
    except (ValueError, RecursionError):
        pass
    raise SettingError(f"after={mark!r:.200}: is not the mark of an act; take `next` of a page")

"""Deleting for good, from every tier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memoryware._twins import Via
from memoryware.errors import ScopeMissing
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts
from memoryware.tiers.lineage import Found, made_of_selected
from memoryware.tiers.ranking import words_of
from memoryware.tiers.records import Origin
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.values import Counts


@dataclass(frozen=True, slots=True)
class Unwanted:
    """What shall be forgotten, beside what the scope says; see `TieredMemory.forget`."""

    ids: Sequence[str] | None = None
    origin: Origin | None = None
    query: str | None = None
    derived: bool = True


async def forget(
    parts: Parts, via: Via, scope: MemoryScope, what: Unwanted, *, dry_run: bool = False
) -> Counts:
    """Delete what fits every condition, and what was made of it; return how much.

    Raises:
        ScopeMissing: If nothing says what is meant.
    """
    which = _selected(scope, what)
    where = Select(tenant=scope.tenant, groups=which.groups)
    found = await made_of_selected(parts, via, where, which, what.derived)
    if what.query is not None:
        found = await _with_words(parts, via, where, found, what)
    stores = parts.stores
    if dry_run:
        return Counts(
            quarantine=len(found.quarantine),
            working=len(found.working),
            long_term=len(found.long_term),
        )
    gone = []
    # What is recalled goes first, so that nothing is shown whose origin is gone.
    for store, ids in (
        (stores.long_term, found.long_term),
        (stores.working, found.working),
        (stores.quarantine, found.quarantine),
    ):
        named = where.also(ids=tuple(ids))
        gone.append(await via(store.delete, store.adelete, named) if ids else 0)
    return Counts(quarantine=gone[2], working=gone[1], long_term=gone[0])


def _selected(scope: MemoryScope, what: Unwanted) -> Select:
    parts = {
        "groups": scope.group_id,
        "users": scope.user_id,
        "agents": scope.agent_id,
        "sessions": scope.session_id,
    }
    named = {name: (value,) for name, value in parts.items() if value}
    if not named and what.ids is None and what.origin is None and not words_of(what.query or ""):
        raise ScopeMissing(
            "Say what shall be forgotten: a group, user, agent or session of the scope, ids=,"
            " origin= or query="
        )
    which = Select(tenant=scope.tenant).also(**named)
    return which.also(
        ids=None if what.ids is None else tuple(what.ids),
        root=None if what.origin is None else str(what.origin),
    )


async def _with_words(parts: Parts, via: Via, where: Select, found: Found, what: Unwanted) -> Found:
    """Return of what was found only what has all words of the query, and what was made of it."""
    wanted = set(words_of(what.query or ""))
    having: list[str] = []
    for layer in ("quarantine", "working", "long_term"):
        store = getattr(parts.stores, layer)
        which = where.also(ids=tuple(getattr(found, layer)))
        page = await via(store.find, store.afind, which)
        having += [one.id for one in page.items if wanted and wanted <= set(words_of(one.content))]
    which = where.also(ids=tuple(having))
    return await made_of_selected(parts, via, where, which, what.derived)

"""What was made of what: the descendants of a text, and everything of an origin."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts
from memoryware.tiers.grounds import Key
from memoryware.tiers.records import Entry, Ground, Memory, Origin
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.values import LAYERS, Counts


@dataclass
class Found:
    """Ids of records, by tier, in the order in which they were found.

    Attributes:
        quarantine: Entries of quarantine.
        working: Entries of working memory.
        long_term: Memories no promotion of which is left.
        shaken: Memories that another promotion keeps.
        grounds: For each memory, the promotions that fall.
        taken_back_counts: Whether a promotion that was taken back before keeps a memory.
    """

    quarantine: dict[str, None] = field(default_factory=dict)
    working: dict[str, None] = field(default_factory=dict)
    long_term: dict[str, None] = field(default_factory=dict)
    shaken: dict[str, None] = field(default_factory=dict)
    grounds: dict[str, set[Key]] = field(default_factory=dict)
    taken_back_counts: bool = True

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

    def has_made(self, ground: Ground) -> bool:
        """Say whether a promoted text was made of something that was found."""
        known = (self.quarantine, self.working, self.long_term)
        return any(source in some for source in ground.provenance.sources for some in known)

    def is_within(self, other: Found) -> bool:
        """Say whether all of this was found before."""
        known = other.grounds
        falls = all(keys <= known.get(id_, set()) for id_, keys in self.grounds.items())
        return falls and set(self.ids) <= set(other.ids)

    def falls(self, memory: Memory, touched: Callable[[Ground], bool]) -> bool:
        """Note which promotions of a memory fall; say whether none is left."""
        known = self.grounds.setdefault(memory.id, set())
        known.update(one.key for one in memory.grounds if touched(one))
        if not known:
            return False
        left = [one for one in memory.grounds if one.key not in known]
        if any(self.taken_back_counts or not one.revocations for one in left):
            self.shaken[memory.id] = None
            return False
        self.shaken.pop(memory.id, None)
        return True


async def everything_of(parts: Parts, scope: MemoryScope, origin: Origin) -> Found:
    """Return everything in whose lineage an origin is."""
    which = Select.within(scope, root=str(origin))
    return await made_of_selected(parts, which, found=Found(taken_back_counts=False))


async def made_of(
    parts: Parts, scope: MemoryScope, ids: Iterable[str], *, descendants: bool = True
) -> Found:
    """Return records by their ids, their whole documents, and everything made of them."""
    which, found = Select.within(scope, ids=tuple(ids)), Found(taken_back_counts=False)
    return await made_of_selected(parts, which, descendants=descendants, found=found)


async def made_of_selected(
    parts: Parts,
    which: Select,
    *,
    descendants: bool = True,
    found: Found | None = None,
    fits: Callable[[Entry | Memory], bool] = lambda _: True,
) -> Found:
    """Return what a selection names, and everything in its groups that was made of it.

    Who names a memory means its text, so the entries that say exactly this are named as well.

    A memory that several promotions of the same text brought in is only `shaken` as long as
    one of them has nothing to do with it.
    """
    found, where = found or Found(), Select(tenant=which.tenant, groups=which.groups)
    new: list[Entry | Memory] = []
    for asked in (which, *_further(which)):
        new += await _note(parts, found, asked, lambda one: _meant(one, which), fits)
    if which.ids is not None:
        for group, hashes in _same_texts(new).items():
            same = where.also(groups=(group,), hashes=tuple(hashes))
            new += await _note(parts, found, same)
    while new:
        ids = {one.id for one in new}
        documents = {one.document_id for one in new if isinstance(one, Memory)}
        new = []
        if documents:
            new += await _note(parts, found, where.also(documents=tuple(documents)))
        if descendants:
            new += await _note(parts, found, where.also(made_of=tuple(ids)), found.has_made)
        # A text in working memory and in quarantine is one, under one id.
        new += await _note(parts, found, where.also(ids=tuple(ids)))
    return found


def _same_texts(named: Iterable[Entry | Memory]) -> dict[str | None, set[str]]:
    """Return the hashes of the texts of memories, by their groups."""
    hashes: dict[str | None, set[str]] = {}
    for one in named:
        if isinstance(one, Memory):
            hashes.setdefault(one.scope.group_id, set()).add(one.content_hash)
    return hashes


def _further(which: Select) -> list[Select]:
    """Return selections of memories that users have promoted as well; see `promoted_again`."""
    if which.users is None or which.root is not None:
        return []
    return [which.also(users=None, root=str(Origin("user", one))) for one in which.users if one]


def _meant(ground: Ground, which: Select) -> bool:
    """Say whether a selection that names a memory means this promotion of it."""
    scope = ground.scope
    asked = ((which.users, scope.user_id), (which.sessions, scope.session_id))
    if any(values is not None and value not in values for values, value in asked):
        return False
    made = ground.provenance
    if which.made_of is not None and set(which.made_of).isdisjoint(made.sources):
        return False
    return which.root is None or which.root in map(str, made.roots)


async def _note(
    parts: Parts,
    found: Found,
    which: Select,
    touched: Callable[[Ground], bool] = lambda _: True,
    fits: Callable[[Entry | Memory], bool] = lambda _: True,
) -> list[Entry | Memory]:
    """Note what a selection names; return what was not known before."""
    new: list[Entry | Memory] = []
    for layer in LAYERS:
        store: Any = getattr(parts.tiers, layer)
        known: dict[str, None] = getattr(found, layer)
        for one in (await store.find(which)).items:
            if one.id in known or not fits(one):
                continue
            if isinstance(one, Memory) and not found.falls(one, touched):
                continue
            known[one.id] = None
            new.append(one)
    return new

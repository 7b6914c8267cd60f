"""Corroboration: the independent origins of a text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from memoryware._caching import clearable_cache
from memoryware.tiers._parts import Parts
from memoryware.tiers.actors import DecisionActor, identity_of
from memoryware.tiers.material import Material
from memoryware.tiers.messages import is_chatter
from memoryware.tiers.model import SOURCE_GONE, Entry, folded
from memoryware.tiers.provenance import Provenance, Trust
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.text.comparison import same_words, says_the_same
from memoryware.tiers.text.contradictions import may_differ
from memoryware.tiers.text.terms import stems_of

_SHORT_TEXT: Final = 4000
"""Characters of a text whose stems are cached."""


async def support_of(parts: Parts, material: Material) -> list[Support]:
    """Return the texts that say the same: its own entries, and others that wait or passed.

    Args:
        parts: The stores and the rules of the memory.
        material: The text with its lineage and entries.

    Returns:
        The texts, without echoes and questions.
    """
    store = parts.tiers.quarantine
    select = Select.within(material.scope, statuses=("pending", "proposed", "promoted"))
    page = await store.find(select, limit=parts.limits.digest_entries)
    work = partial(_saying_the_same, material, page.items, parts.policy.similarity)
    return await parts.runner.offload(work)


async def independent_people(parts: Parts, material: Material) -> int:
    """Count the independent people who say the same, without what agents said alone.

    Args:
        parts: The stores and the rules of the memory.
        material: The text with its lineage and entries.

    Returns:
        The number of people.
    """
    support = [
        text
        for text in await support_of(parts, material)
        if text.provenance.trust >= Trust.USER and text.people
    ]
    return independent(support, DecisionActor.of(parts.policy.actor))


def _is_support(text: str, other: str, share: float) -> bool:
    if share == 1:
        return same_words(text, other)
    return says_the_same(text, other) and not may_differ(text, other)


def _saying_the_same(
    material: Material, candidates: Sequence[Entry], share: float
) -> list[Support]:
    by_id = {
        entry.id: entry
        for entry in (*alike(material.content, candidates, share), *material.entries)
    }
    return [
        Support(entry.id, entry.provenance, entry.scope.session_id)
        for entry in by_id.values()
        if not (entry.echo_of or is_chatter(entry.role, entry.refused))
        and _is_support(material.content, entry.content, share)
    ]


@dataclass(frozen=True, slots=True)
class Support:
    """A text that says the same.

    Attributes:
        id: Of the entry.
        provenance: Who made it, and of what.
        session_id: The session in which it was said; None if unknown.
    """

    id: str
    provenance: Provenance
    session_id: str | None = None

    @property
    def people(self) -> frozenset[str]:
        """The names of the human beings in its lineage; "" for a person without an id."""
        roots = self.provenance.roots
        return frozenset(
            identity_of(root.name) for root in roots if root.kind in ("user", "person")
        )

    @property
    def voices(self) -> frozenset[tuple[str, str]]:
        """Everybody in its lineage, by kind and name."""
        return frozenset((root.kind, folded(root.name)) for root in self.provenance.roots)

    def depends_on(self, other: Support) -> bool:
        """Return whether this text and another may come from one source.

        Two texts are independent if different people stand behind them, and neither is made of the
        other. What nobody but agents said must share no agent with the other and must come from
        another run: agents of one run read each other's messages. Somebody without an id may be
        anybody of the same kind.

        Args:
            other: The other text.

        Returns:
            Whether they count once.
        """
        if other.id in self.provenance.sources or self.id in other.provenance.sources:
            return True
        if self.people and other.people:
            return _overlap(self.people, other.people)
        if self.session_id is not None and self.session_id == other.session_id:
            return True
        kinds = {kind for kind, _ in self.voices} & {kind for kind, _ in other.voices}
        return any(_overlap(self._names(kind), other._names(kind)) for kind in kinds)

    def is_by(self, actor: DecisionActor) -> bool:
        """Return whether this text is the word of an actor, who cannot corroborate themselves.

        Args:
            actor: Who acts.

        Returns:
            Whether it is.
        """
        if self.people:
            return actor.is_person and any(map(actor.may_be_named, self.people))
        return not actor.is_person and any(map(actor.may_be_named, self._names("agent")))

    def _names(self, kind: str) -> frozenset[str]:
        return frozenset(name for voice_kind, name in self.voices if voice_kind == kind)


def independent(supporting: Sequence[Support], promoter: DecisionActor) -> int:
    """Count the independent origins of texts that say the same.

    Texts from outside do not count, nor does the word of the promoter. Where texts depend on
    each other in several ways, those with the fewest voices count, which may be less than
    possible, never more.

    Args:
        supporting: The texts that say the same.
        promoter: Who promotes.

    Returns:
        The number of origins.
    """
    trusted = [
        support
        for support in supporting
        if support.provenance.trust > Trust.UNTRUSTED and not support.is_by(promoter)
    ]
    # Of texts with the same lineage one is enough.
    distinct = {
        (support.people or (support.voices, support.session_id), support.provenance.sources): (
            support
        )
        for support in trusted
    }
    chosen: list[Support] = []
    # Those without a name come last: each of them could be any of the others.
    for support in sorted(
        distinct.values(),
        key=lambda support: (_is_unnamed(support), len(support.voices), support.id),
    ):
        if not any(support.depends_on(other) for other in chosen):
            chosen.append(support)
    return len(chosen)


def alike(text: str, entries: Iterable[Entry], share: float) -> list[Entry]:
    """Return the entries that share enough of their words with a text; echoes are left out.

    Args:
        text: The text.
        entries: Entries of its tenant and group.
        share: Of the words of both texts together, the part that both must have.

    Returns:
        The entries, in the same order.
    """
    own_stems = _stem_set(text)
    similar: list[Entry] = []
    for entry in entries:
        if entry.echo_of or entry.refused == SOURCE_GONE:
            continue
        stems = _stem_set(entry.content)
        shared = len(own_stems & stems)
        if shared and shared >= share * (len(own_stems) + len(stems) - shared):
            similar.append(entry)
    return similar


def _stem_set(text: str) -> frozenset[str]:
    """Return the stems of a text; each promotion that needs corroboration asks for the same."""
    is_short = len(text) <= _SHORT_TEXT
    return _cached_stem_set(text) if is_short else frozenset(stems_of(text))


@clearable_cache(4096)
def _cached_stem_set(text: str) -> frozenset[str]:
    return frozenset(stems_of(text))


def _overlap(names: frozenset[str], others: frozenset[str]) -> bool:
    return "" in names or "" in others or not names.isdisjoint(others)


def _is_unnamed(support: Support) -> bool:
    return "" in support.people or ("agent", "") in support.voices

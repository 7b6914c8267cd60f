"""Count the independent origins of a text: who else says the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memoryware.tiers.actors import Actor, identity_of
from memoryware.tiers.grounds import SOURCE_GONE
from memoryware.tiers.records import Entry, Provenance, Trust, folded
from memoryware.tiers.text.terms import stems_of


@dataclass(frozen=True, slots=True)
class Support:
    """A text that says the same.

    Attributes:
        id: Of the entry.
        provenance: Who made it, and of what.
        session_id: The run in which it was said; None where nobody knows.
    """

    id: str
    provenance: Provenance
    session_id: str | None = None

    @property
    def people(self) -> frozenset[str]:
        """The names of the human beings in its lineage; "" for one without an id."""
        roots = self.provenance.roots
        return frozenset(identity_of(one.name) for one in roots if one.kind in ("user", "person"))

    @property
    def voices(self) -> frozenset[tuple[str, str]]:
        """Everybody in its lineage, by kind and name."""
        return frozenset((one.kind, folded(one.name)) for one in self.provenance.roots)

    def depends_on(self, other: Support) -> bool:
        """Say whether this and another may be one source that is heard twice.

        Two texts are independent if different people stand behind them, and neither is made of
        the other. What nobody but agents said must share no agent with the other and must come
        from another run: agents of one run read each other's messages. Somebody without an id
        may be anybody of the same kind.
        """
        if other.id in self.provenance.sources or self.id in other.provenance.sources:
            return True
        if self.people and other.people:
            return _overlap(self.people, other.people)
        if self.session_id is not None and self.session_id == other.session_id:
            return True
        kinds = {kind for kind, _ in self.voices} & {kind for kind, _ in other.voices}
        return any(_overlap(self._names(kind), other._names(kind)) for kind in kinds)

    def is_by(self, actor: Actor) -> bool:
        """Say whether this is the word of an actor: nobody corroborates what they promote."""
        if self.people:
            return actor.is_person and any(map(actor.may_be_named, self.people))
        return not actor.is_person and any(map(actor.may_be_named, self._names("agent")))

    def _names(self, kind: str) -> frozenset[str]:
        return frozenset(name for one, name in self.voices if one == kind)


def independent(supporting: Sequence[Support], promoter: Actor) -> int:
    """Return from how many independent origins texts come that say the same.

    What came from outside does not count, nor does the word of whoever promotes. Where texts
    depend on each other in several ways, those with the fewest voices count, which may be less
    than possible, never more.

    Args:
        supporting: The texts that say the same.
        promoter: Who promotes.
    """
    trusted = [
        one
        for one in supporting
        if one.provenance.trust > Trust.UNTRUSTED and not one.is_by(promoter)
    ]
    # Of texts with the same lineage one is enough.
    different = {
        (one.people or (one.voices, one.session_id), one.provenance.sources): one for one in trusted
    }
    chosen: list[Support] = []
    # Those without a name come last: each of them could be any of the others.
    for one in sorted(different.values(), key=lambda one: (_unnamed(one), len(one.voices), one.id)):
        if not any(one.depends_on(other) for other in chosen):
            chosen.append(one)
    return len(chosen)


def alike(text: str, entries: Iterable[Entry], share: float) -> list[Entry]:
    """Return the entries that share so many of their words with a text; echoes are left out.

    The share is that of the words of both that both have.
    """
    wanted, found = set(stems_of(text)), []
    for one in entries:
        words = set(stems_of(one.content))
        if (
            not one.echo_of
            and one.refused != SOURCE_GONE
            and len(wanted & words) >= share * len(wanted | words) > 0
        ):
            found.append(one)
    return found


def _overlap(names: frozenset[str], others: frozenset[str]) -> bool:
    return "" in names or "" in others or not names.isdisjoint(others)


def _unnamed(support: Support) -> bool:
    return "" in support.people or ("agent", "") in support.voices

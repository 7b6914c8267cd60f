"""Who else says the same: independent origins of a text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memoryware.tiers.grounds import SOURCE_GONE
from memoryware.tiers.ranking import words_of
from memoryware.tiers.records import Entry, Provenance, Trust, folded


@dataclass(frozen=True, slots=True)
class Support:
    """A text that says the same.

    Attributes:
        id: Of the entry; "" for a text that is none.
        provenance: Who made it, and of what.
    """

    id: str
    provenance: Provenance

    @property
    def people(self) -> frozenset[str]:
        """The names of the human beings in its lineage."""
        roots = self.provenance.roots
        return frozenset(folded(one.name) for one in roots if one.kind in ("user", "person"))

    @property
    def voices(self) -> frozenset[str]:
        """Everybody in its lineage."""
        return frozenset(map(str, self.provenance.roots))

    def depends_on(self, other: Support) -> bool:
        """Say whether this and another may be one voice that is heard twice.

        Two texts are independent if different people stand behind them. What nobody but an
        agent has said must not share that agent with the other, and nothing may be made of
        the other.
        """
        if other.id in self.provenance.sources or self.id in other.provenance.sources:
            return True
        if self.people and other.people:
            return not self.people.isdisjoint(other.people)
        return not self.voices.isdisjoint(other.voices)


def independent(supporting: Sequence[Support]) -> int:
    """Return from how many independent origins texts come that say the same.

    What came from outside does not count. Where texts depend on each other in several ways,
    those with the fewest voices count, which may be less than possible, never more.
    """
    trusted = [one for one in supporting if one.provenance.trust > Trust.UNTRUSTED]
    # Of texts with the same lineage one is enough.
    different = {(one.people or one.voices, one.provenance.sources): one for one in trusted}
    chosen: list[Support] = []
    for one in sorted(different.values(), key=lambda one: (len(one.voices), one.id)):
        if not any(one.depends_on(other) for other in chosen):
            chosen.append(one)
    return len(chosen)


def alike(text: str, entries: Iterable[Entry], share: float) -> list[Entry]:
    """Return the entries that share so many of their words with a text; echoes are left out.

    The share is that of the words of both that both have.
    """
    wanted, found = set(words_of(text)), []
    for one in entries:
        words = set(words_of(one.content))
        if (
            not one.echo_of
            and one.refused != SOURCE_GONE
            and len(wanted & words) >= share * len(wanted | words) > 0
        ):
            found.append(one)
    return found

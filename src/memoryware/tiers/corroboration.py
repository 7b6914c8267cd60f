"""Who else says the same: independent origins of a text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memoryware.tiers.ranking import words_of
from memoryware.tiers.records import Entry, Origin, Provenance, Trust


def likeness(one: str, other: str) -> float:
    """Return the share of words that two texts have in common, from 0 to 1."""
    first, second = set(words_of(one)), set(words_of(other))
    return len(first & second) / len(first | second) if first and second else 0.0


def says_who(provenance: Provenance) -> Origin:
    """Return the origin that a text counts as: the least trusted of its lineage.

    Where several are trusted alike, a user counts rather than the agent that noted it down,
    so that two users of one agent are two.
    """
    people = [one for one in provenance.roots if one.kind in ("user", "person")]
    if people and provenance.trust >= Trust.UNVERIFIED:
        return people[0]
    return min(provenance.roots, key=lambda one: (one.trust, one))


def independent(supporting: Sequence[tuple[str, Provenance]]) -> set[Origin]:
    """Return the independent origins among texts that say the same.

    What came from outside does not count, and nor does a text that was made of another one
    of them: it adds nothing.

    Args:
        supporting: Id and provenance of each.
    """
    ids = {id_ for id_, _ in supporting}
    return {
        says_who(provenance)
        for _, provenance in supporting
        if provenance.trust > Trust.UNTRUSTED and not ids & set(provenance.sources)
    }


def alike(text: str, entries: Iterable[Entry], share: float) -> list[Entry]:
    """Return the entries that say the same as a text and are no echo of memory."""
    return [one for one in entries if not is_echo(one) and likeness(text, one.content) >= share]


def is_echo(entry: Entry) -> bool:
    """Say whether an entry only repeats what memory had shown."""
    return bool(entry.echo_of) or entry.refused == "echo"

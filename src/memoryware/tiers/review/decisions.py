"""Decisions about entries: which statements are decided, and who else says the same.

An entry of quarantine may make several statements, and each is reviewed alone. A decision is
noted on the entry under the digest of the statement; the status of the entry changes when no
statement is left. Deciding about an entry as a whole closes it at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, Literal

from memoryware._remembering import remembered
from memoryware.errors import PromotionRefused
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts
from memoryware.tiers.actors import Actor, identity_of
from memoryware.tiers.material import Material
from memoryware.tiers.model import (
    SOURCE_GONE,
    WAITING,
    Entry,
    Provenance,
    Trust,
    folded,
    hash_of,
)
from memoryware.tiers.review.review_statements import says_nothing
from memoryware.tiers.stores.protocol import Select, Tier
from memoryware.tiers.text.segments import sentences_of
from memoryware.tiers.text.terms import stems_of

Decision = Literal["promoted", "rejected"]
"""What becomes of a statement, or of an entry."""
_SHORT_TEXT: Final = 4000
"""Characters of a text whose statements are cached: a digest and each decision ask for them."""


def statements_in(entry: Entry) -> Mapping[str, str]:
    """Return the statements of an entry that somebody has to decide about.

    Courtesy and questions beside a statement are left out: nobody could keep them. An entry
    that consists of them is one statement, so that it can be decided as well.

    Args:
        entry: An entry of quarantine.

    Returns:
        The statements by their digests, in order.
    """
    text = entry.content
    return _cached_statements(text) if len(text) <= _SHORT_TEXT else _statements(text)


def _statements(text: str) -> Mapping[str, str]:
    parts = sentences_of(text)
    if len(parts) > 1:
        parts = tuple(part for part in parts if not says_nothing(part)) or (text,)
    return MappingProxyType({hash_of(part): part for part in parts})


_cached_statements: Final = remembered(4096)(_statements)


def open_statements(entry: Entry) -> Mapping[str, str]:
    """Return the statements of an entry that are not decided yet, by their digests."""
    every = statements_in(entry)
    if not entry.decided:
        return every
    return {digest: text for digest, text in every.items() if digest not in entry.decided}


def closed(
    entry: Entry,
    decision: Decision,
    *,
    by: str,
    at: datetime,
    statements: Sequence[str] = (),
    **changes: Any,
) -> Entry:
    """Return an entry after a decision about it.

    Args:
        entry: The entry as it is now.
        decision: What was decided.
        by: Who decided.
        at: When.
        statements: Digests of the statements that were decided; () for the whole entry.
        changes: Further fields of the entry, such as `memory_ids`.
    """
    if statements:
        decided = {**entry.decided, **dict.fromkeys(statements, decision)}
        entry = replace(entry, decided=decided, **changes)
        if open_statements(entry):
            return entry
        # Something of it is remembered, so it counts as promoted.
        decision = "promoted" if "promoted" in decided.values() else "rejected"
        return replace(entry, status=decision, decided_by=by, decided_at=at)
    return replace(entry, status=decision, decided_by=by, decided_at=at, **changes)


async def repeats_of(
    parts: Parts,
    scope: MemoryScope,
    text: str,
    *,
    trust: Trust,
    ids: Sequence[str] = (),
    copies: Sequence[Entry] | None = None,
) -> list[Entry]:
    """Return waiting entries that a decision about a text closes as well.

    Args:
        parts: The stores and rules.
        scope: Whose quarantine it is.
        text: The text that was decided about.
        trust: How far it is trusted.
        ids: Entries that an insight names as repeats.
        copies: Entries that wait with exactly this text, if they have been read already.

    Returns:
        The named entries, and exact copies of the text that are not trusted more. A copy that
        is trusted more deserves a decision of its own, and so does one that somebody proposed
        or took out of a group.
    """
    which = Select.within(scope, statuses=WAITING)
    requests: list[tuple[Tier, Select]] = []
    if ids:
        requests.append(("quarantine", which.also(ids=tuple(ids))))
    if copies is None:
        requests.append(("quarantine", which.also(hashes=(hash_of(text),))))
    pages = await parts.tiers.find_many(requests) if requests else []
    copies = pages.pop() if copies is None else copies
    entries = [*(pages[0] if ids else ()), *(one for one in copies if _is_copy(one, trust))]
    return list({entry.id: entry for entry in entries}.values())


def _is_copy(entry: Entry, trust: Trust) -> bool:
    return entry.provenance.trust <= trust and entry.status == "pending" and not entry.ungrouped


def refuse_rejected_statements(material: Material) -> None:
    """Refuse a promotion of a statement that was rejected meanwhile.

    Raises:
        PromotionRefused: If one was, in an entry that still waits with other statements.
    """
    for entry in material.entries:
        for digest in material.covers.get(entry.id, ()):
            if entry.decided.get(digest) == "rejected":
                raise PromotionRefused(
                    f"Not promoted: this statement of entry {entry.id} was rejected; promote its"
                    " text if it holds after all",
                    ("rejected",),
                )


# Corroboration: the independent origins of a text.


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
        return frozenset(name for voice_kind, name in self.voices if voice_kind == kind)


def independent(supporting: Sequence[Support], promoter: Actor) -> int:
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
    """
    wanted = _stem_set(text)
    similar: list[Entry] = []
    for entry in entries:
        if entry.echo_of or entry.refused == SOURCE_GONE:
            continue
        stems = _stem_set(entry.content)
        shared = len(wanted & stems)
        if shared and shared >= share * (len(wanted) + len(stems) - shared):
            similar.append(entry)
    return similar


def _stem_set(text: str) -> frozenset[str]:
    """Return the stems of a text; each promotion that needs corroboration asks for the same."""
    is_short = len(text) <= _SHORT_TEXT
    return _cached_stem_set(text) if is_short else frozenset(stems_of(text))


@remembered(4096)
def _cached_stem_set(text: str) -> frozenset[str]:
    return frozenset(stems_of(text))


def _overlap(names: frozenset[str], others: frozenset[str]) -> bool:
    return "" in names or "" in others or not names.isdisjoint(others)


def _is_unnamed(support: Support) -> bool:
    return "" in support.people or ("agent", "") in support.voices

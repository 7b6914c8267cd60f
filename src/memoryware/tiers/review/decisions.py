"""Closing of entries: which statements of an entry are decided, and when all of it is.

An entry of quarantine may make several statements, and each is reviewed alone. A decision is
noted on the entry under the digest of the statement; the status of the entry changes when no
statement is left. Deciding about an entry as a whole closes it at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, Literal

from memoryware._remembering import remembered
from memoryware.errors import PromotionRefused
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts
from memoryware.tiers.material import Material
from memoryware.tiers.model import Entry, Status, Trust, hash_of
from memoryware.tiers.review.priority import says_nothing
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.text.segments import sentences_of

Decision = Literal["promoted", "rejected"]
"""What becomes of a statement, or of an entry."""
WAITING: Final[tuple[Status, ...]] = ("pending", "proposed")
"""The status of an entry that nobody has decided about."""
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
) -> list[Entry]:
    """Return waiting entries that a decision about a text closes as well.

    Args:
        parts: The stores and rules.
        scope: Whose quarantine it is.
        text: The text that was decided about.
        trust: How far it is trusted.
        ids: Entries that an insight names as repeats.

    Returns:
        The named entries, and exact copies of the text that are not trusted more. A copy that
        is trusted more deserves a decision of its own, and so does one that somebody proposed
        or took out of a group.
    """
    store = parts.tiers.quarantine
    which = Select.within(scope, statuses=WAITING)
    entries: list[Entry] = []
    if ids:
        entries += (await store.find(which.also(ids=tuple(ids)))).items
    copies = await store.find(which.also(hashes=(hash_of(text),)))
    entries += [entry for entry in copies.items if _is_copy(entry, trust)]
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

"""Promote without a decision what the policy accepts by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from memoryware.errors import EntryMissing, PromotionRefused
from memoryware.events import logger
from memoryware.scope import MemoryScope, own_agent
from memoryware.tiers._parts import Parts
from memoryware.tiers.actors import DecisionActor, is_person
from memoryware.tiers.corroboration import independent_people
from memoryware.tiers.filters import MinConfidence
from memoryware.tiers.material import Promotable, material_of
from memoryware.tiers.model import DISCARDED, FACT, VISIBLE_TO, WAITING, Entry
from memoryware.tiers.policy import PromotionPolicy
from memoryware.tiers.promote import promote
from memoryware.tiers.proposals import (
    insight_of_statement,
    is_reviewed,
    open_statements,
    statements_in,
)
from memoryware.tiers.provenance import Trust
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.supersede import PromotionOptions
from memoryware.tiers.text.contradictions import contradictions_with
from memoryware.tiers.text.own_words import hands_over, is_own
from memoryware.tiers.text.utterances import is_lasting_fact, is_own_fact, speaks_of_self
from memoryware.tiers.values import Promotion

_PAGE: Final = 200
AFTER_RUN: Final = 32
"""Entries that are looked at after a run, the newest that have waited long enough: each of them
is among these once."""
_COMPARED: Final = 50
"""Waiting statements that one is compared with."""
_NO_TEXT: Final = frozenset({"delete", "nothing"})
"""Actions of facts that are no texts to remember."""
_DOUBTFUL: Final = frozenset({"low_confidence", "verify_pending", "inconsistent"})
"""Codes of entries whose maker was not sure, or which are still to be verified."""


async def promote_due(
    parts: Parts, scope: MemoryScope | None, *, limit: int | None = None
) -> list[Promotion]:
    """Promote what has waited as long as the policy asks for, and what it accepts by itself.

    Args:
        parts: The memory.
        scope: Whose quarantine; without a group every group of its tenant.
        limit: How many waiting entries are looked at, the newest first; None for all.

    Returns:
        The promotions.
    """
    policy, where = parts.policy, scope or MemoryScope()
    if policy.promotes_after is None:
        return []
    try:
        before = parts.clock() - policy.promotes_after
    except OverflowError:
        return []
    waiting = await _waiting(parts, where, before, limit)
    promotions: list[Promotion] = []
    # The oldest first: a newer statement of a user takes the place of an older one.
    for entry in reversed(waiting):
        # A promotion before may have closed it: it says the same.
        current = await _still_waiting(parts, entry) if promotions else entry
        if current is not None:
            promotions += await _promote_entry(parts, current, waiting)
    return promotions


async def _still_waiting(parts: Parts, entry: Entry) -> Entry | None:
    select = Select.within(entry.scope, ids=(entry.id,), statuses=WAITING)
    return next(iter((await parts.tiers.quarantine.find(select)).items), None)


async def _waiting(
    parts: Parts, scope: MemoryScope, before: datetime, limit: int | None
) -> list[Entry]:
    """Return the entries that have waited long enough, newest first."""
    groups = (scope.group_id,) if scope.group_id else None
    select = Select(tenant=scope.tenant, groups=groups, statuses=WAITING)
    entries: list[Entry] = []
    mark = None
    while True:
        page = await parts.tiers.quarantine.find(select, limit=limit or _PAGE, after=mark)
        entries += [entry for entry in page.items if entry.created_at <= before]
        mark = page.next
        if mark is None or (limit is not None and len(entries) >= limit):
            return entries[:limit]


async def _promote_entry(parts: Parts, entry: Entry, waiting: Sequence[Entry]) -> list[Promotion]:
    """Promote the statements of an entry that qualify, each by itself."""
    policy = parts.policy
    if not _may_be_promoted(parts, entry):
        return []
    every = statements_in(entry)
    due = {
        digest: statement
        for digest, statement in open_statements(entry).items()
        if _qualifies(policy, entry, statement)
    }
    if not due or await _was_turned_down(parts, entry):
        return []
    promotions = []
    for digest, statement in due.items():
        item: Promotable = entry if len(every) == 1 else insight_of_statement(entry, digest)
        if not await _is_agreed(parts, item, statement, entry, waiting):
            continue
        try:
            promotion = await promote(
                parts, item, entry.scope, by=policy.actor, options=_options(policy, entry)
            )
        except (PromotionRefused, EntryMissing) as refused:  # it waits for a person
            logger.debug("entry %s is not promoted by the policy: %s", entry.id, refused)
            continue
        promotions.append(promotion)
    return promotions


def _may_be_promoted(parts: Parts, entry: Entry) -> bool:
    """Return whether an entry is what the policy promotes, whatever its statements say."""
    policy, provenance = parts.policy, entry.provenance
    if not entry.scope.group_id or not is_reviewed(entry) or entry.role == "tool":
        return False
    if _fact_of(entry).get("action") in _NO_TEXT:
        return False
    if VISIBLE_TO in entry.metadata and entry.role != "user" and not policy.personal:
        return False  # one user alone is shown it, and a person may share it
    if any(map(is_person, entry.all_proposers)) or entry.ungrouped:
        return False  # a person has taken it in hand
    is_sure = MinConfidence(parts.limits.min_confidence).check(entry, ()) is None
    if provenance.trust < policy.promotes_trust or entry.refused in _DOUBTFUL or not is_sure:
        return False
    user = entry.scope.user_id
    roots = {(root.kind, root.name) for root in provenance.roots}
    return not policy.personal or (bool(user) and roots == {("user", user)})


def _qualifies(policy: PromotionPolicy, entry: Entry, statement: str) -> bool:
    if policy.personal:
        return is_own_fact(statement, entry.content)
    return is_lasting_fact(statement) and not (
        policy.corroboration and _is_of_one(entry, statement)
    )


def _is_of_one(entry: Entry, statement: str) -> bool:
    """Decide whether several who say the same do not corroborate each other.

    "I live in Rome" of two users is two facts, and a mail that both of them paste is one source.
    """
    text = entry.content
    return speaks_of_self(statement) or hands_over(text) or not is_own(statement, text)


async def _was_turned_down(parts: Parts, entry: Entry) -> bool:
    """Return whether a person has rejected or revoked the same text before."""
    select = Select.within(
        entry.scope, hashes=(entry.content_hash,), statuses=("rejected", "revoked")
    )
    turned_down = (await parts.tiers.quarantine.find(select, limit=_COMPARED)).items
    return any(
        DISCARDED not in other.metadata
        and (not parts.policy.personal or other.scope.user_id == entry.scope.user_id)
        for other in turned_down
    )


async def _is_agreed(
    parts: Parts, item: Promotable, statement: str, entry: Entry, waiting: Sequence[Entry]
) -> bool:
    """Return whether enough people say it, and nobody who waits says something else."""
    policy, scope = parts.policy, entry.scope
    if policy.personal:
        return True
    if policy.corroboration:
        material = await material_of(parts, item, scope, DecisionActor.of(policy.actor))
        if await independent_people(parts, material) < policy.corroboration:
            return False
    texts = [
        other.content
        for other in waiting
        if other.id != entry.id
        and (other.scope.tenant, other.scope.group_id) == (scope.tenant, scope.group_id)
        and other.provenance.trust > Trust.UNTRUSTED
        and is_reviewed(other)
    ]
    return not any(contradictions_with(statement, texts[:_COMPARED]))


def _fact_of(entry: Entry) -> Mapping[str, Any]:
    """Return what a memory manager has noted of the fact that an entry holds."""
    fact = entry.metadata.get(FACT)
    return fact if isinstance(fact, Mapping) else {}


def _options(policy: PromotionPolicy, entry: Entry) -> PromotionOptions:
    """Return how an entry is promoted: for its user alone, and with the subject of its fact."""
    subject = _fact_of(entry).get("subject")
    # An entry that waits for something brings its subject, and what it replaces.
    is_named = isinstance(subject, str) and bool(subject.strip()) and entry.waits is None
    return PromotionOptions(
        subject=subject if is_named else None,
        agent_id=own_agent(entry.scope) if policy.personal else None,
        unattended=True,
    )

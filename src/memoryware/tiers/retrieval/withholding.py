"""Which texts are withheld from who asks: too little trust, or from outside and undecided."""

from __future__ import annotations

from memoryware.tiers.actors import is_person
from memoryware.tiers.records import Memory, Trust
from memoryware.tiers.retrieval.asking import Considered, Search


def withhold(search: Search, one: Considered) -> bool:
    """Leave out a text that must not be shown to who asks; say whether it was.

    Text from outside that reached the group in the run of one user could reach all others
    by memory alone: a page that one of them opened would speak to everybody. So it stays with
    that user until a person has promoted it.
    """
    trust, least = one.record.provenance.trust, search.wanted.min_trust
    if least is not None and trust < least:
        one.leave_out("min_trust", f"trusted as {trust.name}, and {least.name} is the least shown")
        return True
    if search.parts.share_outside or trust > Trust.UNTRUSTED:
        return False
    if not _is_of_another_user(search, one) or _is_decided(one):
        return False
    one.leave_out(
        "from_outside",
        "it came from outside in a run of another user, and no person has promoted it",
    )
    return True


def _is_of_another_user(search: Search, one: Considered) -> bool:
    """Say whether a text came up in a conversation in which the user who asks took no part.

    Without a user on either side nobody can say so: a job of the group has no user, and a group
    whose runs name none would lose all it has read.
    """
    asking, owner = search.scope.user_id, one.record.scope.user_id
    if not asking or not owner:
        return False
    roots = one.record.provenance.roots
    return asking != owner and not any(
        root.kind == "user" and root.name == asking for root in roots
    )


def _is_decided(one: Considered) -> bool:
    """Say whether a person has promoted a text; a promotion by an agent decides nothing."""
    memory = one.record if isinstance(one.record, Memory) else one.promoted
    if memory is None:
        return False
    standing = (ground for ground in memory.grounds if not ground.revocations)
    return any(is_person(ground.promoted_by) for ground in standing)

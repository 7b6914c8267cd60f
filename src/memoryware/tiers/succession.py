"""Which document holds after which, when one of a chain is taken back, put back or forgotten."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts
from memoryware.tiers.actors import authority_of
from memoryware.tiers.records import Memory, Trust, folded
from memoryware.tiers.stores.protocol import Select

_REPLACED: Final = "replaced"
"""Where a document keeps by what and when it was replaced, while it holds again."""


def age(memory: Memory) -> tuple[datetime, datetime, str]:
    """Return what tells the last of documents that stand for the same, to all who look."""
    return memory.valid_from, memory.created_at, memory.document_id


def authority(memory: Memory) -> Trust:
    """Return the trust of the decision behind a memory, which says what may replace it.

    That is the trust of its text, or of the person who promoted it: a decision of a person
    stands until a person changes it, although the text is still the word of an agent.
    """
    counting = [one for one in memory.grounds if not one.revocations] or [memory.grounds[0]]
    return max(max(one.provenance.trust, authority_of(one.promoted_by)) for one in counting)


def precedence(memory: Memory) -> tuple[Trust, tuple[datetime, datetime, str]]:
    """Return what decides which text of a subject is current: authority, then age."""
    return authority(memory), age(memory)


def held_again(memory: Memory) -> Memory:
    """Return a document in the place of which nothing was put."""
    return replace(memory, valid_to=None, superseded_by=None)


async def end_anew(parts: Parts, scope: MemoryScope) -> tuple[Memory, ...]:
    """Let each document of a group hold until the first one after it that is not revoked.

    What was replaced at a moment ends at that moment again, when what replaced it is back. Of
    documents with the same text or subject that would hold side by side one holds: the one with
    the most authority, and of several the last.

    Returns:
        A chunk of each document that had ended and is current again.
    """
    store, which = parts.tiers.long_term, Select.within(scope)
    documents = by_document((await store.find(which)).items)

    def end(memory: Memory) -> Memory:
        return _ending(memory, _until(memory, documents))

    changed = by_document(await store.edit(which, end))
    again = [
        one
        for id_, one in changed.items()
        if one.valid_to is None and one.revocation is None and documents[id_].valid_to is not None
    ]
    documents |= changed
    twins = _twins(documents.values())

    def join(memory: Memory) -> Memory:
        last = twins.get(memory.document_id)
        if last is None:
            return memory
        until = max(last.valid_from, memory.valid_from)
        return replace(memory, valid_to=until, superseded_by=last.document_id)

    if twins:
        await store.edit(which.also(documents=tuple(twins)), join)
    return tuple(one for one in again if one.document_id not in twins)


def reinstated_without(
    documents: Mapping[str, Memory], gone: Collection[str]
) -> tuple[Memory, ...]:
    """Return which ended documents would be current again if some were taken back."""
    after = {
        id_: replace(one, revocation=one.revocation or "preview") if id_ in gone else one
        for id_, one in documents.items()
    }
    again = {
        id_: replace(one, valid_to=None)
        for id_, one in after.items()
        if one.valid_to is not None and not one.revocation and _until(one, after) is None
    }
    twins = _twins({**after, **again}.values())
    return tuple(one for id_, one in again.items() if id_ not in twins)


async def close_up(parts: Parts, gone: Iterable[Memory]) -> tuple[Memory, ...]:
    """Let what forgotten documents had replaced hold until what had replaced these begins.

    Returns:
        A chunk of each document that had ended and is current again.
    """
    removed, again = by_document(gone), list[Memory]()
    for tenant, group in {(one.scope.tenant, one.scope.group_id) for one in removed.values()}:
        scope = MemoryScope(tenant=tenant, group_id=group)
        store, which = parts.tiers.long_term, Select.within(scope)
        left = (await store.find(which)).items
        if all(one.superseded_by not in removed for one in left):
            continue

        def join(memory: Memory) -> Memory:
            after, seen = memory.superseded_by, set[str]()
            until = _replaced_at(memory)
            while after and after in removed and after not in seen:
                seen.add(after)
                until, after = _replaced_at(removed[after]), removed[after].superseded_by
            if not seen:
                return memory
            plain = _ending(memory, until if after else None)
            return replace(plain, superseded_by=after, metadata=_without(plain.metadata))

        joined = by_document(await store.edit(which, join))
        await end_anew(parts, scope)
        which = which.also(documents=tuple(joined), revocations=(None,))
        page = await store.find(which) if joined else None
        held = by_document(page.items if page else ())
        again += [one for one in held.values() if one.valid_to is None]
    return tuple(again)


def _until(memory: Memory, documents: Mapping[str, Memory]) -> datetime | None:
    """Return until when a document holds: until something was put in its place that counts."""
    until, after, seen = _replaced_at(memory), memory.superseded_by, {memory.document_id}
    while after and after in documents and documents[after].revocation and after not in seen:
        seen.add(after)
        until, after = _replaced_at(documents[after]), documents[after].superseded_by
    return until if after else None


def _replaced_at(memory: Memory) -> datetime | None:
    """Return when something was put in the place of a document, whether or not that counts."""
    known = memory.metadata.get(_REPLACED)
    if isinstance(known, Mapping) and known.get("by") == memory.superseded_by:
        return datetime.fromisoformat(known["at"])
    return memory.valid_to


def _ending(memory: Memory, until: datetime | None) -> Memory:
    """Return a document that holds until a moment, and keeps when it was replaced."""
    if until is not None and until < memory.valid_from:
        until = memory.valid_from
    if until == memory.valid_to:
        return memory
    replaced, metadata = _replaced_at(memory), _without(memory.metadata)
    if replaced is not None and replaced != until:
        metadata[_REPLACED] = {"by": memory.superseded_by, "at": replaced.isoformat()}
    return replace(memory, valid_to=until, metadata=metadata)


def _without(metadata: Mapping[str, object]) -> dict[str, object]:
    return {name: held for name, held in metadata.items() if name != _REPLACED}


def _twins(documents: Iterable[Memory]) -> dict[str, Memory]:
    """Return documents beside which another with their text or subject is current, and that.

    The same text is looked for first, so that no two documents end each other.
    """
    current = [one for one in documents if one.valid_to is None and not one.revocation]
    ended: dict[str, Memory] = {}
    for kind in (_text_place, _subject_place):
        places: dict[Hashable, list[Memory]] = defaultdict(list)
        for one in current:
            if one.document_id not in ended and (place := kind(one)) is not None:
                places[place].append(one)
        for several in places.values():
            winner = max(several, key=precedence)
            ended |= {one.document_id: winner for one in several if one is not winner}
    return ended


def _text_place(memory: Memory) -> Hashable:
    return memory.scope.agent_id, memory.content_hash


def _subject_place(memory: Memory) -> Hashable | None:
    return None if memory.subject is None else (memory.scope.agent_id, folded(memory.subject))


def by_document(memories: Iterable[Memory]) -> dict[str, Memory]:
    """Return a chunk of each document, by its id."""
    return {one.document_id: one for one in memories}

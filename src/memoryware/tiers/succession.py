"""Which document holds after which, when one of a chain is taken back, put back or forgotten."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
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


async def recompute_validity(
    parts: Parts, scope: MemoryScope, changed: Iterable[Memory]
) -> tuple[Memory, ...]:
    """Let documents hold until the first one after them that is not revoked.

    Only chains that lead through the changed documents are looked at, from these backwards and
    forwards. What was replaced at a moment ends at that moment again, when what replaced it is
    back. Of documents with the same text or subject that would hold side by side one holds: the
    one with the most authority, and of several the last.

    Args:
        parts: The memory.
        scope: The tenant and group.
        changed: Memories that were revoked or put back.

    Returns:
        A chunk of each document that had ended and is current again.
    """
    documents = by_document(changed)
    if not documents:
        return ()
    store, which = parts.tiers.long_term, Select.within(scope)
    touched = await _with_chains(parts, scope, documents)

    def end(memory: Memory) -> Memory:
        return _ending(memory, _until(memory, documents))

    before = {id_: documents[id_] for id_ in touched}
    if any(end(memory) != memory for memory in before.values()):
        documents |= by_document(await store.edit(which.also(documents=touched), end))
    current = [
        documents[id_]
        for id_ in touched
        if documents[id_].valid_to is None and documents[id_].revocation is None
    ]
    again = [memory for memory in current if before[memory.document_id].valid_to is not None]
    twins = await _twins_beside(parts, scope, current)

    def join(memory: Memory) -> Memory:
        last = twins.get(memory.document_id)
        if last is None:
            return memory
        until = max(last.valid_from, memory.valid_from)
        return replace(memory, valid_to=until, superseded_by=last.document_id)

    if twins:
        await store.edit(which.also(documents=tuple(twins)), join)
    return tuple(memory for memory in again if memory.document_id not in twins)


async def _with_chains(
    parts: Parts, scope: MemoryScope, documents: dict[str, Memory]
) -> tuple[str, ...]:
    """Add what the validity of some documents depends on, and what depends on theirs.

    Args:
        parts: The memory.
        scope: The tenant and group.
        documents: Chunks of the documents by id; what is read is added.

    Returns:
        The ids of the documents of which the validity may be another one now.
    """
    store, which = parts.tiers.long_term, Select.within(scope)
    touched, waiting = dict.fromkeys(documents), tuple(documents)
    while waiting:
        page = await store.find(which.also(superseded_by=waiting))
        before = {
            id_: memory for id_, memory in by_document(page.items).items() if id_ not in touched
        }
        documents |= before
        touched |= dict.fromkeys(before)
        # What is before a document that is not revoked ends there, whatever comes after it.
        waiting = tuple(id_ for id_, memory in before.items() if memory.revocation)
    while after := {
        memory.superseded_by
        for memory in documents.values()
        if memory.superseded_by and memory.superseded_by not in documents
    }:
        page = await store.find(which.also(documents=tuple(sorted(after))))
        read = by_document(page.items)
        documents |= read
        if not read or not any(memory.revocation for memory in read.values()):
            break
    return tuple(touched)


async def _twins_beside(
    parts: Parts, scope: MemoryScope, current: Sequence[Memory], gone: Collection[str] = ()
) -> dict[str, Memory]:
    """Return documents beside which another with their text or subject is current, and that.

    Args:
        parts: The memory.
        scope: The tenant and group.
        current: The documents.
        gone: Documents that do not count.
    """
    if not current:
        return {}
    store = parts.tiers.long_term
    which = Select.within(scope, revocations=(None,))
    hashes = tuple({memory.content_hash for memory in current})
    found = (await store.find(which.also(hashes=hashes))).items
    subjects = {memory.subject for memory in current if memory.subject is not None}
    if subjects:
        named = tuple(sorted({form for subject in subjects for form in spellings(subject)}))
        found = [*found, *(await store.find(which.also(subjects=named))).items]
    counting = [memory for memory in found if memory.document_id not in gone]
    beside = by_document(counting) | by_document(current)
    return _twins(beside.values())


def spellings(subject: str) -> tuple[str, ...]:
    """Return how a subject is written as well: an index compares texts exactly."""
    ways = (str.casefold, str.upper, str.capitalize, str.title, str.lower)
    # A capital i with a dot has two characters in lower case.
    plain = subject.replace("\u0130", "I").replace("i\u0307", "i")
    written = (subject, *(way(one) for one in (subject, plain) for way in ways))
    dotted = (one.replace("I", "\u0130") for one in written)
    return tuple(dict.fromkeys((*written, *dotted)))


async def reinstated_without(
    parts: Parts, scope: MemoryScope, gone: Iterable[Memory]
) -> tuple[Memory, ...]:
    """Return which ended documents would be current again if some were revoked."""
    hidden = {
        id_: replace(memory, revocation=memory.revocation or "preview")
        for id_, memory in by_document(gone).items()
    }
    documents = dict(hidden)
    touched = await _with_chains(parts, scope, documents)
    again = {
        id_: replace(memory, valid_to=None)
        for id_ in touched
        for memory in (documents[id_],)
        if memory.valid_to is not None
        and not memory.revocation
        and _until(memory, documents) is None
    }
    twins = await _twins_beside(parts, scope, [*again.values()], hidden)
    return tuple(memory for id_, memory in again.items() if id_ not in twins)


async def relink_chains(parts: Parts, gone: Iterable[Memory]) -> tuple[Memory, ...]:
    """Let what deleted documents had replaced hold until what had replaced these begins.

    Returns:
        A chunk of each document that had ended and is current again.
    """
    removed, again = by_document(gone), list[Memory]()
    for tenant, group in {(one.scope.tenant, one.scope.group_id) for one in removed.values()}:
        scope = MemoryScope(tenant=tenant, group_id=group)
        store, which = parts.tiers.long_term, Select.within(scope)

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

        joined = await store.edit(which.also(superseded_by=tuple(removed)), join)
        if not joined:
            continue
        await recompute_validity(parts, scope, joined)
        documents = tuple(by_document(joined))
        page = await store.find(which.also(documents=documents, revocations=(None,)))
        again += [one for one in by_document(page.items).values() if one.valid_to is None]
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

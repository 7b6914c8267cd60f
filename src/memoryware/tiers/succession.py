"""Which document holds after which, when one of a chain is taken back, put back or forgotten."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from memoryware._twins import Via
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts
from memoryware.tiers.records import Memory
from memoryware.tiers.stores.protocol import Select

_REPLACED: Final = "replaced"
"""Where a document keeps by what and when it was replaced, while it holds again."""


def age(memory: Memory) -> tuple[datetime, datetime, str]:
    """Return what tells the last of documents that stand for the same, to all who look."""
    return memory.valid_from, memory.created_at, memory.document_id


def held_again(memory: Memory) -> Memory:
    """Return a document in the place of which nothing was put."""
    return replace(memory, valid_to=None, superseded_by=None)


async def end_anew(parts: Parts, via: Via, scope: MemoryScope) -> None:
    """Let each document of a group hold until the first one after it that is not revoked.

    What was replaced at a moment ends at that moment again, when what replaced it is back. Of
    documents with the same text or subject that would hold side by side the last one holds,
    and what is trusted more.
    """
    store, which = parts.stores.long_term, Select.within(scope)
    documents = by_document((await via(store.find, store.afind, which)).items)

    def end(memory: Memory) -> Memory:
        return _ending(memory, _until(memory, documents))

    changed = await via(store.edit, store.aedit, which, end)
    documents |= by_document(changed)
    twins = _twins(documents.values())

    def join(memory: Memory) -> Memory:
        last = twins.get(memory.document_id)
        if last is None:
            return memory
        until = max(last.valid_from, memory.valid_from)
        return replace(memory, valid_to=until, superseded_by=last.document_id)

    if twins:
        await via(store.edit, store.aedit, which.also(documents=tuple(twins)), join)


async def close_up(parts: Parts, via: Via, gone: Iterable[Memory]) -> None:
    """Let what forgotten documents had replaced hold until what had replaced these begins."""
    removed = by_document(gone)
    for tenant, group in {(one.scope.tenant, one.scope.group_id) for one in removed.values()}:
        scope = MemoryScope(tenant=tenant, group_id=group)
        store, which = parts.stores.long_term, Select.within(scope)
        left = (await via(store.find, store.afind, which)).items
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

        await via(store.edit, store.aedit, which, join)
        await end_anew(parts, via, scope)


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
    """Return documents that hold where a later one with their text or subject holds, and that."""
    last: dict[tuple[str | None, str, str | None], Memory] = {}
    current = [one for one in documents if one.valid_to is None and not one.revocation]
    ordered = sorted(current, key=age)
    ended: dict[str, Memory] = {}
    for one in ordered:
        for key in _places(one):
            before = last.get(key)
            trusted = before is not None and before.provenance.trust > one.provenance.trust
            if before is not None and (key[1] == "text" or not trusted):
                ended[before.document_id] = one
            last[key] = one
    return ended


def _places(memory: Memory) -> Iterator[tuple[str | None, str, str | None]]:
    """Return where there is room for one document: by its text, and by its subject."""
    yield memory.scope.agent_id, "text", memory.content_hash
    if memory.subject is not None:
        yield memory.scope.agent_id, "subject", memory.subject


def by_document(memories: Iterable[Memory]) -> dict[str, Memory]:
    """Return a chunk of each document, by its id."""
    return {one.document_id: one for one in memories}

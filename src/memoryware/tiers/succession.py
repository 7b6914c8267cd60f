"""Which document holds after which, when one of a chain is taken back, put back or forgotten."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from memoryware._twins import Via
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts
from memoryware.tiers.records import Memory
from memoryware.tiers.stores.protocol import Select


async def end_anew(parts: Parts, via: Via, scope: MemoryScope) -> None:
    """Let each document of a group hold until the first one after it that is not revoked."""
    store, which = parts.stores.long_term, Select.within(scope)
    documents = _by_document((await via(store.find, store.afind, which)).items)

    def end(memory: Memory) -> Memory:
        after, seen = documents.get(memory.superseded_by or ""), {memory.document_id}
        if after is None:  # nothing took its place
            return memory
        while after is not None and after.revocation and after.document_id not in seen:
            seen.add(after.document_id)
            after = documents.get(after.superseded_by or "")
        until = max(after.valid_from, memory.valid_from) if after is not None else None
        return replace(memory, valid_to=until)

    await via(store.edit, store.aedit, which, end)


async def close_up(parts: Parts, via: Via, gone: Iterable[Memory]) -> None:
    """Let what forgotten documents had replaced hold until what had replaced these begins."""
    removed = _by_document(gone)
    for tenant, group in {(one.scope.tenant, one.scope.group_id) for one in removed.values()}:
        scope = MemoryScope(tenant=tenant, group_id=group)
        store, which = parts.stores.long_term, Select.within(scope)
        left = (await via(store.find, store.afind, which)).items
        if all(one.superseded_by not in removed for one in left):
            continue
        documents = _by_document(left)

        def join(memory: Memory, known: Mapping[str, Memory] = documents) -> Memory:
            after, seen = memory.superseded_by, set[str]()
            if after not in removed:
                return memory
            while after in removed and after not in seen:
                seen.add(after)
                after = removed[after].superseded_by
            following = known.get(after or "")
            until = max(following.valid_from, memory.valid_from) if following else None
            by = following.document_id if following else None
            return replace(memory, valid_to=until, superseded_by=by)

        await via(store.edit, store.aedit, which, join)
        await end_anew(parts, via, scope)


def _by_document(memories: Iterable[Memory]) -> dict[str, Memory]:
    return {one.document_id: one for one in memories}

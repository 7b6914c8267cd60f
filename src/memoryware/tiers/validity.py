"""Validity intervals of memories: links to successors, and the effect of revocations on them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, TypeAlias

from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts
from memoryware.tiers.actors import authority_of
from memoryware.tiers.model import Memory, folded
from memoryware.tiers.provenance import Trust
from memoryware.tiers.stores.protocol import Select

# Validity intervals.


_REPLACED: Final = "replaced"
"""Metadata key of the successors of a document that do not decide its end."""
_REPLACES: Final = "replaces_when_restored"
"""Where a revoked document keeps the documents whose place it takes when it is restored.

`superseded_by` leads to those that end by it; the ones that got another successor meanwhile are
found by this.
"""


@dataclass(frozen=True, slots=True)
class Link:
    """A link from a document to its successor.

    A revocation changes no links: the validity of a document follows from its links and from
    what is revoked, so that what is restored in any order leaves what was there before.

    Attributes:
        by: The `document_id` of the successor.
        at: When it took the place.
        unless: None where somebody put it there. Else it only is current with the same text or
            subject, and these would have taken its own place if they were not revoked.
    """

    by: str
    at: datetime
    unless: tuple[str, ...] | None = None


Ending: TypeAlias = tuple[datetime, Link]
"""Until when a document holds, and the link that decides it."""


def age(memory: Memory) -> tuple[datetime, datetime, str]:
    """Return the key by which documents of one text or subject are ordered; the highest is current.

    Args:
        memory: The memory.

    Returns:
        The key.
    """
    return memory.valid_from, memory.created_at, memory.document_id


def authority(memory: Memory) -> Trust:
    """Return the trust of the decision behind a memory, which decides what may replace it.

    That is the trust of its text, or of the person who promoted it: a decision of a person stands
    until a person changes it, although the text is still the word of an agent.

    Args:
        memory: The memory.

    Returns:
        The trust.
    """
    counting = [promotion for promotion in memory.grounds if not promotion.revocations] or [
        memory.grounds[0]
    ]
    return max(
        max(promotion.provenance.trust, authority_of(promotion.promoted_by))
        for promotion in counting
    )


def precedence(memory: Memory) -> tuple[Trust, tuple[datetime, datetime, str]]:
    """Return the key that decides which text of a subject is current: authority, then age.

    Args:
        memory: The memory.

    Returns:
        The key.
    """
    return authority(memory), age(memory)


async def recompute_validity(
    parts: Parts, scope: MemoryScope, changed: Iterable[Memory]
) -> tuple[Memory, ...]:
    """Let documents hold until the first one that took their place and is not revoked.

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
    changes, again = await _plan(parts, scope, documents, documents)
    await _apply(parts, scope, changes)
    return again


async def reinstated_without(
    parts: Parts, scope: MemoryScope, gone: Iterable[Memory]
) -> tuple[Memory, ...]:
    """Return which superseded documents would be current again if some were revoked.

    Args:
        parts: The stores and the rules of the memory.
        scope: Tenant and group.
        gone: The memories that are revoked or deleted.

    Returns:
        A chunk of each document.
    """
    stored = by_document(gone)
    hidden = {
        id_: replace(memory, revocation=memory.revocation or "preview")
        for id_, memory in stored.items()
    }
    _, again = await _plan(parts, scope, hidden, stored)
    return again


async def relink_chains(parts: Parts, gone: Iterable[Memory]) -> tuple[Memory, ...]:
    """Link the predecessors of deleted documents to their successors.

    Args:
        parts: The stores and the rules of the memory.
        gone: The memories that were deleted.

    Returns:
        A chunk of each document that had ended and is current again.
    """
    removed, again = by_document(gone), list[Memory]()
    for tenant, group in {
        (memory.scope.tenant, memory.scope.group_id) for memory in removed.values()
    }:
        scope = MemoryScope(tenant=tenant, group_id=group)
        predecessors = by_document(await _predecessors(parts, scope, removed))
        stored = {id_: memory for id_, memory in predecessors.items() if id_ not in removed}
        if not stored:
            continue
        joined = {id_: _relinked(memory, removed) for id_, memory in stored.items()}
        changes, current = await _plan(parts, scope, joined, stored)
        await _apply(parts, scope, changes)
        again += current
    return tuple(again)


async def _apply(parts: Parts, scope: MemoryScope, changes: Mapping[str, Memory]) -> None:
    """Change every chunk of documents as it is planned for one of each."""

    def change(chunk: Memory) -> Memory:
        planned = changes[chunk.document_id]
        noted = {name: planned.metadata.get(name) for name in (_REPLACED, _REPLACES)}
        return replace(
            chunk,
            valid_to=planned.valid_to,
            superseded_by=planned.superseded_by,
            metadata=_with(chunk.metadata, noted),
        )

    if changes:
        select = Select.within(scope, documents=tuple(changes))
        await parts.tiers.long_term.edit(select, change)


async def _plan(
    parts: Parts, scope: MemoryScope, documents: dict[str, Memory], stored: Mapping[str, Memory]
) -> tuple[dict[str, Memory], tuple[Memory, ...]]:
    """Decide the validity of some documents, and of all that depends on theirs.

    Args:
        parts: The memory.
        scope: The tenant and group.
        documents: A chunk of each document, as it is to count; what is read is added.
        stored: The same documents as they are in the store.

    Returns:
        A chunk of each document that changes, and of each that is current again.
    """
    touched = await _with_chains(parts, scope, documents)
    ends = _ends(touched, documents)
    before = {id_: stored.get(id_) or documents[id_] for id_ in touched}
    # What stood back for a document that ends again may be current again.
    if ended := [id_ for id_ in touched if ends[id_] and before[id_].valid_to is None]:
        page = await parts.tiers.long_term.find(Select.within(scope, superseded_by=tuple(ended)))
        beside = {
            id_: memory
            for id_, memory in by_document(page.items).items()
            if id_ not in touched and any(link.unless is not None for link in links_of(memory))
        }
        if beside:
            documents |= beside
            before |= beside
            await _read_successors(parts, scope, documents, beside)
            ends = _ends(before, documents)
    planned = {id_: _ended(documents[id_], ends[id_], documents) for id_ in before}
    documents |= planned
    current = [
        memory for memory in planned.values() if memory.valid_to is None and not memory.revocation
    ]
    again = [memory for memory in current if before[memory.document_id].valid_to is not None]
    twins = await _twins_beside(parts, scope, current, documents)
    if beyond := {
        memory.document_id: memory for memory, _ in twins if memory.document_id not in planned
    }:
        documents |= beyond
        await _read_successors(parts, scope, documents, beyond)
    for loser, winner in twins:
        before.setdefault(loser.document_id, loser)
        planned[loser.document_id] = _beside(loser, winner)
    _note_predecessors(planned, before, documents)
    changes = {
        id_: memory
        for id_, memory in planned.items()
        if _validity_of(memory) != _validity_of(before[id_])
    }
    lost = {loser.document_id for loser, _ in twins}
    return changes, tuple(memory for memory in again if memory.document_id not in lost)


def _validity_of(memory: Memory) -> tuple[object, ...]:
    links = (memory.metadata.get(name) for name in (_REPLACED, _REPLACES))
    return memory.valid_to, memory.superseded_by, *links


async def note_replaced(parts: Parts, replaced: Iterable[Memory]) -> None:
    """Note on revoked documents whose place they took before something else was put there.

    Args:
        parts: The memory.
        replaced: Current memories, as they were before they were replaced.
    """
    links: dict[str, set[str]] = defaultdict(set)
    for memory in replaced:
        if memory.superseded_by is not None:
            links[memory.superseded_by].add(memory.document_id)
            scope = memory.scope

    def note(chunk: Memory) -> Memory:
        if not chunk.revocation:
            return chunk
        noted = sorted(_noted(chunk) | links[chunk.document_id])
        return replace(chunk, metadata=_with(chunk.metadata, {_REPLACES: noted}))

    if links:
        await parts.tiers.long_term.edit(Select.within(scope, documents=tuple(links)), note)


# The links of a document.


def links_of(memory: Memory) -> tuple[Link, ...]:
    """Return the successors of a document, whether or not they count, in order.

    Args:
        memory: The memory.

    Returns:
        The links.
    """
    links, by = _stored_links(memory.metadata), memory.superseded_by
    if by is not None and memory.valid_to is not None and all(link.by != by for link in links):
        links.append(Link(by, memory.valid_to))
    return tuple(links)


def _stored_links(metadata: Mapping[str, Any]) -> list[Link]:
    """Return the links that are in metadata, where an application may have put something else."""
    noted = metadata.get(_REPLACED)
    links = []
    for item in noted if isinstance(noted, list | tuple) else [noted]:
        if not isinstance(item, Mapping) or not isinstance(item.get("by"), str):
            continue
        try:
            at = datetime.fromisoformat(item.get("at", ""))
        except (TypeError, ValueError):
            continue
        if at.tzinfo is not None:
            unless = item.get("unless")
            links.append(Link(item["by"], at, None if unless is None else tuple(unless)))
    return links


def _with_links(memory: Memory, links: Sequence[Link], ending: Ending | None) -> Memory:
    """Return a document with these links, that ends as it is decided."""
    until, by = None, memory.superseded_by
    if ending is not None:
        until, by = max(ending[0], memory.valid_from), ending[1].by
    elif all(link.by != by for link in links):
        by = links[-1].by if links else None
    if links and until == links[-1].at and by == links[-1].by and links[-1].unless is None:
        links = links[:-1]  # the fields of the memory say it
    noted: Any = [
        {"by": link.by, "at": link.at.isoformat()}
        | ({} if link.unless is None else {"unless": list(link.unless)})
        for link in links
    ]
    if len(links) == 1 and links[0].unless is None:
        noted = noted[0]
    metadata = _with(memory.metadata, {_REPLACED: noted or None})
    return replace(memory, valid_to=until, superseded_by=by, metadata=metadata)


def _with(metadata: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata with some values of ours; None takes one away."""
    changed = dict(metadata)
    for name, value in values.items():
        if value is not None:
            changed[name] = value
        elif name == _REPLACES or _stored_links(metadata):
            changed.pop(name, None)
    return changed


def _noted(memory: Memory) -> set[str]:
    """Return the documents whose place one takes when it is restored."""
    documents = memory.metadata.get(_REPLACES)
    return (
        {id_ for id_ in documents if isinstance(id_, str)} if isinstance(documents, list) else set()
    )


def _ends(ids: Iterable[str], documents: Mapping[str, Memory]) -> dict[str, Ending | None]:
    """Return when documents end, and by which link; None for those that hold.

    Of several successors the first counts. In the place of a revoked one counts what took its
    place, if anything did. There is no recursion, because chains may be long.
    """
    ends: dict[str, Ending | None] = {}
    stack, opened = list(ids), set[str]()
    while stack:
        id_ = stack[-1]
        links = links_of(documents[id_])
        ahead = [
            link.by
            for link in links
            if link.by in documents
            and (documents[link.by].revocation or link.unless)
            and link.by not in ends
            and link.by not in opened
        ]
        if ahead and id_ not in opened:
            opened.add(id_)
            stack += ahead
            continue
        stack.pop()
        if id_ not in ends:
            ends[id_] = _ending(documents[id_], documents, ends)
    return ends


def _ending(
    memory: Memory, documents: Mapping[str, Memory], ends: Mapping[str, Ending | None]
) -> Ending | None:
    """Return when a document ends, from when those end that its links lead to."""
    ending: Ending | None = None
    is_replaced = False
    for link in links_of(memory):
        # It stood back only because nothing that had taken its place before counted.
        if link.unless is not None and is_replaced:
            continue
        at = _counts_from(memory, link, documents, ends)
        if at is not None:
            is_replaced = is_replaced or link.unless is None
            if ending is None or at < ending[0]:
                ending = at, link
    return ending


def _counts_from(
    memory: Memory,
    link: Link,
    documents: Mapping[str, Memory],
    ends: Mapping[str, Ending | None],
) -> datetime | None:
    """Return from when on a link ends a document; None if it does not."""
    successor, after = documents.get(link.by), ends.get(link.by)
    if successor is None:
        # What an index leads to and nobody has is taken on trust; other links to it are dead.
        return link.at if link.by == memory.superseded_by else None
    if successor.revocation:
        return None if after is None else max(link.at, after[0])
    if link.unless and after is not None and after[1].by in link.unless:
        return None
    return link.at


def _ended(memory: Memory, ending: Ending | None, documents: Mapping[str, Memory]) -> Memory:
    """Return a document with its decided end, without links that are of no use any more."""
    links = links_of(memory)
    if not links:
        return memory

    def is_of_use(link: Link) -> bool:
        if ending is not None and link == ending[1]:
            return True
        if link.by not in documents:
            return False
        if link.unless is None:
            return True
        # What stood back is found again by its text or subject, unless it was replaced meanwhile.
        return bool(documents[link.by].revocation) and (
            ending is None or _decides(links, link, *ending)
        )

    return _with_links(memory, [link for link in links if is_of_use(link)], ending)


def _decides(links: Sequence[Link], link: Link, at: datetime, deciding: Link) -> bool:
    """Return whether a link, if it counted, would end a document in place of another link.

    Args:
        links: All links of the document.
        link: One that does not count now.
        at: When the document ends.
        deciding: The link that decides that.
    """
    is_before = links.index(link) < links.index(deciding)
    if (link.unless is None) != (deciding.unless is None):
        if link.unless is None and is_before:
            return True
        if deciding.unless is None and not is_before:
            return False
    return (link.at, not is_before) < (at, is_before)


def _beside(loser: Memory, winner: Memory) -> Memory:
    """Return a document that ends because of another with its text or subject."""
    at = max(winner.valid_from, loser.valid_from)
    later = () if winner.valid_to is not None else links_of(winner)
    link = Link(winner.document_id, at, tuple(other.by for other in later))
    links = [other for other in links_of(loser) if other.by != link.by]
    return _with_links(loser, [*links, link], (at, link))


def _relinked(memory: Memory, removed: Mapping[str, Memory]) -> Memory:
    """Return a document that is linked to the successors of deleted documents."""
    links, waiting, passed = list[Link](), list(links_of(memory)), set[str]()
    while waiting:
        link = waiting.pop(0)
        if link.by not in removed:
            links.append(link)
        elif link.by not in passed and link.unless is None:
            passed.add(link.by)
            after = links_of(removed[link.by])
            waiting[:0] = [replace(later, at=max(later.at, link.at)) for later in after]
    return _with_links(memory, links, None)


def _note_predecessors(
    planned: dict[str, Memory], before: dict[str, Memory], documents: Mapping[str, Memory]
) -> None:
    """Note on revoked documents which others end where these begin once they are restored."""
    predecessors: dict[str, set[str]] = defaultdict(set)
    for memory in planned.values():
        links, until = links_of(memory), memory.valid_to
        deciding = next(
            (candidate for candidate in links if candidate.by == memory.superseded_by), None
        )
        for link in links:
            successor = documents.get(link.by)
            if successor is None or not successor.revocation or link == deciding:
                continue
            if deciding is None or until is None or _decides(links, link, until, deciding):
                predecessors[link.by].add(memory.document_id)
    for id_ in {*predecessors, *planned, *before, *documents}:
        memory = planned.get(id_) or documents[id_]
        noted = _noted(memory)
        remaining = (noted - planned.keys()) | predecessors[id_] if memory.revocation else set()
        if remaining != noted:
            before.setdefault(id_, memory)
            metadata = _with(memory.metadata, {_REPLACES: sorted(remaining) or None})
            planned[id_] = replace(memory, metadata=metadata)


# Reading chains.


async def _predecessors(
    parts: Parts, scope: MemoryScope, documents: Mapping[str, Memory]
) -> list[Memory]:
    """Return memories of the documents in whose place some were put."""
    select = Select.within(scope)
    selections = [select.also(superseded_by=tuple(documents))]
    noted = {id_ for memory in documents.values() for id_ in _noted(memory)}
    if noted:
        selections.append(select.also(documents=tuple(sorted(noted))))
    pages = await parts.tiers.find_many([("long_term", selection) for selection in selections])
    return [
        memory
        for page in pages
        for memory in page
        if memory.superseded_by in documents
        or any(link.by in documents for link in links_of(memory))
    ]


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
    touched, waiting = dict.fromkeys(documents), dict(documents)
    while waiting:
        predecessors = by_document(await _predecessors(parts, scope, waiting))
        before = {id_: memory for id_, memory in predecessors.items() if id_ not in touched}
        documents |= before
        touched |= dict.fromkeys(before)
        # What is before a document that is not revoked ends there, whatever comes after it.
        waiting = {id_: memory for id_, memory in before.items() if memory.revocation}
    await _read_successors(parts, scope, documents, touched)
    return tuple(touched)


async def _read_successors(
    parts: Parts, scope: MemoryScope, documents: dict[str, Memory], ids: Iterable[str]
) -> None:
    """Add what documents are linked to, as far as their validity depends on it."""
    waiting, followed = list(ids), set[str]()
    while waiting:
        links = [link for id_ in waiting for link in links_of(documents[id_])]
        followed.update(waiting)
        missing = {link.by for link in links} - documents.keys() - followed
        if missing:
            select = Select.within(scope, documents=tuple(sorted(missing)))
            documents |= by_document((await parts.tiers.long_term.find(select)).items)
            followed |= missing - documents.keys()
        ahead = [
            link.by
            for link in links
            if link.by in documents and (documents[link.by].revocation or link.unless)
        ]
        waiting = [id_ for id_ in dict.fromkeys(ahead) if id_ not in followed]


async def _twins_beside(
    parts: Parts,
    scope: MemoryScope,
    current: Sequence[Memory],
    documents: Mapping[str, Memory],
) -> list[tuple[Memory, Memory]]:
    """Return documents beside which another with their text or subject is current, and that.

    Args:
        parts: The memory.
        scope: The tenant and group.
        current: The documents.
        documents: What is read already, as it is to count.
    """
    if not current:
        return []
    select = Select.within(scope, revocations=(None,))
    selections = [select.also(hashes=tuple({memory.content_hash for memory in current}))]
    subjects = {memory.subject for memory in current if memory.subject is not None}
    if subjects:
        named = tuple(sorted({form for subject in subjects for form in spellings(subject)}))
        selections.append(select.also(subjects=named))
    pages = await parts.tiers.find_many([("long_term", selection) for selection in selections])
    counting = [documents.get(memory.document_id, memory) for page in pages for memory in page]
    return _twins((by_document(counting) | by_document(current)).values())


def spellings(subject: str) -> tuple[str, ...]:
    """Return the spellings under which a subject may be stored: an index compares texts exactly.

    Args:
        subject: The subject.

    Returns:
        The spellings.
    """
    # Indexes compare bytes, and databases fold case in different ways.
    ways = (str.casefold, str.upper, str.capitalize, str.title, str.lower)
    # A capital i with a dot has two characters in lower case.
    plain = subject.replace("\u0130", "I").replace("i\u0307", "i")
    written = (subject, *(way(spelling) for spelling in (subject, plain) for way in ways))
    dotted = (spelling.replace("I", "\u0130") for spelling in written)
    return tuple(dict.fromkeys((*written, *dotted)))


def _twins(documents: Iterable[Memory]) -> list[tuple[Memory, Memory]]:
    """Return current documents that give way to another one, with that one.

    The same text is looked for first, so that no two documents end each other.
    """
    shown = [memory for memory in documents if not memory.revocation]
    ended: dict[str, tuple[Memory, Memory]] = {}
    for kind in (_text_key, _subject_key):
        by_key: dict[Hashable, list[Memory]] = defaultdict(list)
        for memory in shown:
            if memory.document_id not in ended and (key := kind(memory)) is not None:
                by_key[key].append(memory)
        for several in by_key.values():
            current = [memory for memory in several if memory.valid_to is None]
            if len(current) < 2:
                continue
            winner = max(current, key=precedence)
            losers = [memory for memory in current if memory is not winner]
            ended |= {
                memory.document_id: (memory, _first_after(memory, winner, several))
                for memory in losers
            }
    return list(ended.values())


def _first_after(loser: Memory, winner: Memory, several: Iterable[Memory]) -> Memory:
    """Return what would have replaced a document first, had it not been revoked then."""
    between = [
        memory
        for memory in several
        if memory.valid_to is not None
        and loser.valid_from <= memory.valid_from < min(memory.valid_to, winner.valid_from)
    ]
    return min(between, key=age, default=winner)


def _text_key(memory: Memory) -> Hashable:
    return memory.scope.agent_id, memory.content_hash


def _subject_key(memory: Memory) -> Hashable | None:
    return None if memory.subject is None else (memory.scope.agent_id, folded(memory.subject))


def by_document(memories: Iterable[Memory]) -> dict[str, Memory]:
    """Return one chunk of each document, by the id of the document.

    Args:
        memories: The memories.

    Returns:
        The chunks.
    """
    return {memory.document_id: memory for memory in memories}

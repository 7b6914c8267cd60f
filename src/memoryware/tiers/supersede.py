"""Supersede memories: validity intervals, chains of successors, contradictions."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final, TypeAlias

from memoryware.errors import EntryMissing, PromotionRefused, SettingError
from memoryware.guard import drop_hidden
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts, current_in
from memoryware.tiers.actors import Actor, authority_of
from memoryware.tiers.material import Material
from memoryware.tiers.model import Entry, Memory, Trust, folded, hash_of
from memoryware.tiers.screening import mended
from memoryware.tiers.stores.protocol import Hit, Select, Tier
from memoryware.tiers.text.comparison import contradictions_with
from memoryware.tiers.text.terms import words_of
from memoryware.tiers.values import ContextItem, Contradiction, Promotion

# Validity intervals along a chain.


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
    which = Select.within(scope, revocations=(None,))
    selections = [which.also(hashes=tuple({memory.content_hash for memory in current}))]
    subjects = {memory.subject for memory in current if memory.subject is not None}
    if subjects:
        named = tuple(sorted({form for subject in subjects for form in spellings(subject)}))
        selections.append(which.also(subjects=named))
    pages = await parts.tiers.find_many([("long_term", one) for one in selections])
    counting = [memory for page in pages for memory in page if memory.document_id not in gone]
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


# What a promotion supersedes.


Superseded: TypeAlias = str | Memory | Promotion | ContextItem
"""What can be superseded: a memory, its id or that of its document."""

_SKEW: Final = timedelta(seconds=5)
"""How far two clocks that write the same memory may be apart."""
_LOOKED_AT: Final = 4000
"""Characters of a text whose words are searched for what it may contradict."""
_WORDS: Final = 100
_NEAREST: Final = 20
"""Memories with most of the same words that a text is held against."""


@dataclass(frozen=True, slots=True)
class PromotionOptions:
    """What is said with a promotion; see `TieredMemory.promote`.

    Attributes:
        subject: What it is about.
        agent_id: Whose experience it is; None for memory of the group.
        metadata: What else is known of it.
        valid_from: Since when it holds; None is now.
        replaces: `document_id` of documents that end where it begins.
    """

    subject: str | None = None
    agent_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    valid_from: datetime | None = None
    replaces: tuple[str, ...] = ()


DEFAULT_OPTIONS: Final = PromotionOptions()
"""Default promotion options."""


@dataclass(frozen=True, slots=True)
class Succession:
    """Where a text goes among what is there.

    Attributes:
        begins: Since when it holds.
        replaces: Documents that end there.
        against: Memories that it contradicts, and why.
        stronger: Those of its subject that a more trusted decision keeps current.
    """

    begins: datetime
    replaces: tuple[str, ...] = ()
    against: tuple[tuple[Memory, str], ...] = ()
    stronger: tuple[Memory, ...] = ()

    def contradictions(self, records: Sequence[Memory | Entry]) -> tuple[Contradiction, ...]:
        """Return what the chunks of the text, or the entry that has it, contradict."""
        contradictions: list[Contradiction] = []
        for other, reason in self.against:
            # A text of one chunk was compared already.
            reasons = (
                contradictions_with(other.content, [record.content for record in records])
                if len(records) > 1
                else [reason]
            )
            chunk = next((at for at, found in enumerate(reasons) if found), 0)
            contradictions.append(
                Contradiction(first=other.id, second=records[chunk].id, reason=reason)
            )
        return tuple(contradictions)


def checked_options(parts: Parts, options: PromotionOptions) -> PromotionOptions:
    """Return how to promote, with a time that can be compared and a subject that can be kept.

    Raises:
        SettingError: For a time without a zone, or a blank subject.
    """
    subject = None if options.subject is None else _plain(mended(options.subject))
    if subject == "":
        raise SettingError(f"subject={options.subject!r}: must name what the text is about")
    subject = " ".join(parts.redacted(subject).split()) if subject else None
    begins = to_utc(options.valid_from, "valid_from") if options.valid_from else None
    return replace(options, subject=subject, agent_id=options.agent_id or None, valid_from=begins)


def to_utc(moment: datetime, name: str) -> datetime:
    """Return a moment in UTC.

    Raises:
        SettingError: If it has no time zone.
    """
    if moment.tzinfo is None:
        raise SettingError(f"{name}={moment!r}: must have a time zone, such as datetime.UTC")
    return moment.astimezone(UTC)


async def succession_of(
    parts: Parts, material: Material, actor: Actor, options: PromotionOptions
) -> Succession:
    """Return whose place a text takes, and what it contradicts without taking its place.

    Of one subject the text with the most authority is current: the trust of the text, or of the
    person who promotes it. With the same authority the later one is.

    Raises:
        PromotionRefused: If it would begin before what it replaces.
    """
    replaced: dict[str, Memory] = {}
    against: list[tuple[Memory, str]] = []
    if options.replaces or options.subject is not None:
        named, of_subject = await _replaceable(parts, material.scope, options)
        replaced = {memory.document_id: memory for memory in named}
        mine = max(material.provenance.trust, authority_of(actor.name))
        for one in of_subject:
            if one.content_hash == hash_of(material.content) or one.document_id in replaced:
                continue
            if mine >= authority(one):
                replaced[one.document_id] = one
            else:
                against.append((one, reason_of_stronger(options.subject)))
    stronger = tuple(one for one, _ in against)
    # What only waits may begin at any time: it is decided again when a person promotes it.
    begins = _begin(parts, () if stronger else replaced.values(), options)
    known = {*replaced, *(one.document_id for one in stronger)}
    against += await _contradicted(parts, material, options, known)
    return Succession(begins, tuple(replaced), tuple(against), stronger)


def reason_of_stronger(subject: str | None) -> str:
    """Return why a text contradicts a memory of its subject that stays current."""
    return f"the same subject {subject!r}, and what is current is trusted more"


def _plain(subject: str) -> str:
    shown = drop_hidden(unicodedata.normalize("NFKC", subject))[0]
    return " ".join(unicodedata.normalize("NFKC", shown).split())


async def end(
    parts: Parts, by: Memory, documents: Iterable[str], begins: datetime
) -> tuple[str, ...]:
    """End documents where another takes their place; return those that did end."""
    named = tuple(documents)

    def change(one: Memory) -> Memory:
        if one.valid_to is not None or one.document_id == by.document_id:
            return one
        return replace(one, valid_to=max(begins, one.valid_from), superseded_by=by.document_id)

    if not named:
        return ()
    store, which = parts.tiers.long_term, Select.within(by.scope, documents=named)
    ended = await store.edit(which, change)
    return tuple(dict.fromkeys(one.document_id for one in ended))


async def first_of(parts: Parts, old: Superseded, scope: MemoryScope) -> Memory:
    """Return the first chunk of a document that can be superseded.

    Raises:
        EntryMissing: If there is no such memory in this scope.
        PromotionRefused: If it was superseded or revoked already.
    """
    store = parts.tiers.long_term
    if isinstance(old, str | Memory):
        id_ = old if isinstance(old, str) else old.id
        one = await store.find(Select.within(scope, ids=(id_,)))
        document = one.items[0].document_id if one.items else id_
    else:
        document = old.document_id or ""
    found = await store.find(Select.within(scope, documents=(document,)))
    if not found.items:
        raise EntryMissing(
            f"There is no such memory in long-term memory of group {scope.group_id!r}; what is in"
            " working memory only cannot be superseded"
        )
    first = min(found.items, key=lambda one: one.chunk_index)
    if first.valid_to is not None or first.revocation is not None:
        raise not_current(first)
    return first


def not_current(memory: Memory) -> PromotionRefused:
    """Return the error of who wants to supersede what does not hold anymore."""
    by = f" by {memory.superseded_by}" if memory.superseded_by else ""
    state = "was revoked" if memory.revocation else f"was superseded{by} already"
    return PromotionRefused(
        f"Memory {memory.id} {state}, so nothing can take its place; supersede what holds now, or"
        " promote the new text",
        ("not_current",),
    )


def scope_of_old(old: Superseded) -> MemoryScope | None:
    """Return the scope that what is superseded brings with it."""
    if isinstance(old, Promotion):
        return old.memories[0].scope if old.memories else None
    return None if isinstance(old, str) else old.scope


async def _replaceable(
    parts: Parts, scope: MemoryScope, options: PromotionOptions
) -> tuple[list[Memory], list[Memory]]:
    """Return the first chunk of each document that holds without end and may be replaced.

    Returns:
        Those that are named, which may be of another agent, and those of the subject.
    """
    which = Select.within(scope, revocations=(None,))
    requests: list[tuple[Tier, Select]] = []
    if options.replaces:
        requests.append(("long_term", which.also(documents=options.replaces)))
    if options.subject is not None:
        same = which.also(agents=(options.agent_id,), subjects=spellings(options.subject))
        requests.append(("long_term", same))
    pages = [
        [one for one in page if one.valid_to is None and one.chunk_index == 0]
        for page in await parts.tiers.find_many(requests)
    ]
    return pages[0] if options.replaces else [], pages[-1] if options.subject is not None else []


def _begin(parts: Parts, replaced: Iterable[Memory], options: PromotionOptions) -> datetime:
    """Return when a promotion begins: now, or where what it replaces began by a clock ahead."""
    begins = options.valid_from or parts.clock()
    for one in replaced:
        if one.valid_from <= begins:
            continue
        is_planned = one.valid_from - max(begins, one.created_at) > _SKEW
        if options.valid_from is not None or is_planned:
            raise PromotionRefused(
                f"Memory {one.id} holds since {one.valid_from.isoformat()}, and what takes its"
                " place cannot begin before that: pass a later valid_from",
                ("valid_from",),
            )
        begins = one.valid_from
    return begins


async def _contradicted(
    parts: Parts, material: Material, options: PromotionOptions, known: set[str]
) -> list[tuple[Memory, str]]:
    """Return current memories that say something else, one of each document."""
    store = parts.tiers.long_term
    words = list(dict.fromkeys(words_of(material.content[:_LOOKED_AT])))[:_WORDS]
    agents = tuple({None, options.agent_id})
    which = current_in(parts, material.scope, agents=agents)
    hits = await store.by_words(words, which, limit=_NEAREST)
    work = partial(_among, material.content, hits, known)
    return await parts.runner.offload(work)


def _among(text: str, hits: Sequence[Hit], known: set[str]) -> list[tuple[Memory, str]]:
    memories = [hit.memory for hit in hits if hit.memory.document_id not in known]
    reasons = contradictions_with(text, [memory.content for memory in memories])
    contradicted: dict[str, tuple[Memory, str]] = {}
    for memory, reason in zip(memories, reasons, strict=True):
        if reason:
            contradicted.setdefault(memory.document_id, (memory, reason))
    return list(contradicted.values())

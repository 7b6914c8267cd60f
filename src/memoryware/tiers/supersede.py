"""Supersede memories: what a promotion replaces, from when on, and what it contradicts."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final, TypeAlias

from memoryware.errors import EntryMissing, PromotionRefused, SettingError
from memoryware.guard import drop_hidden
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts, current_in
from memoryware.tiers.actors import DecisionActor, authority_of, identity_of, is_person
from memoryware.tiers.chronology import Successor, said_before, successor_of
from memoryware.tiers.material import Material
from memoryware.tiers.model import (
    Entry,
    Memory,
    hash_of,
)
from memoryware.tiers.provenance import Trust, attribution_of, common_speaker
from memoryware.tiers.screening import mended
from memoryware.tiers.stores.protocol import Hit, Select, Tier
from memoryware.tiers.text.contradictions import contradictions_with
from memoryware.tiers.text.terms import core_words
from memoryware.tiers.validity import authority, spellings
from memoryware.tiers.values import ContextItem, Contradiction, Promotion

# Superseded memories.


Superseded: TypeAlias = str | Memory | Promotion | ContextItem
"""What can be superseded: a memory, its id or that of its document."""

_SKEW: Final = timedelta(seconds=5)
"""How far two clocks that write the same memory may be apart."""
_LOOKED_AT: Final = 4000
"""Characters of a text whose words are searched for contradictions."""
_WORDS: Final = 100
_NEAREST: Final = 20
"""Memories with most of the same words that a text is compared with."""


@dataclass(frozen=True, slots=True)
class PromotionOptions:
    """The options of a promotion; see `TieredMemory.promote`.

    Attributes:
        subject: What it is about.
        agent_id: Whose experience it is; None for memory of the group.
        metadata: What else is known of it.
        valid_from: Since when it holds; None is now.
        replaces: `document_id` of documents that end where it begins.
        proposed: The same, named by a proposal and not by who promotes it: a document whose
            speaker said it after the text stays.
        unattended: Whether nobody decides about it. Then it is refused where it contradicts what
            it may not replace, and supersedes what it contradicts of the same user.
        shared: Whether it becomes memory of the group, also if it was proposed for one user alone.
    """

    subject: str | None = None
    agent_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    valid_from: datetime | None = None
    replaces: tuple[str, ...] = ()
    proposed: tuple[str, ...] = ()
    unattended: bool = False
    shared: bool = False


DEFAULT_OPTIONS: Final = PromotionOptions()
"""Default promotion options."""


@dataclass(frozen=True, slots=True)
class Succession:
    """Which memories a text supersedes and contradicts, and from when on it holds.

    Attributes:
        begins: Since when it holds.
        replaces: Documents that end there.
        against: Memories that it contradicts, and why.
        stronger: Those of its subject that a more trusted decision keeps current.
        reinstated: Those that end, and hold only because their successor is revoked.
        successor: What its speaker has said since, so that the text is the past at once.
    """

    begins: datetime
    replaces: tuple[str, ...] = ()
    against: tuple[tuple[Memory, str], ...] = ()
    stronger: tuple[Memory, ...] = ()
    reinstated: tuple[Memory, ...] = ()
    successor: Successor | None = None

    def contradictions(self, records: Sequence[Memory | Entry]) -> tuple[Contradiction, ...]:
        """Return the contradictions between the new text and memories that stay.

        Args:
            records: The chunks of the text, or the entry that has it.

        Returns:
            The contradictions, each with the chunk that it is about.
        """
        contradictions: list[Contradiction] = []
        for other, reason in self.against:
            # A text of one chunk was compared already.
            reasons = _reasons(other, records) if len(records) > 1 else [reason]
            chunk = next((at for at, text in enumerate(reasons) if text), 0)
            contradictions.append(
                Contradiction(first=other.id, second=records[chunk].id, reason=reason)
            )
        return tuple(contradictions)


def checked_options(parts: Parts, options: PromotionOptions) -> PromotionOptions:
    """Validate the options of a promotion: its time, and its subject without secrets.

    Args:
        parts: The stores and the rules of the memory.
        options: The options.

    Returns:
        The options, with the time in UTC.

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

    Args:
        moment: The moment.
        name: The option, as the message names it.

    Returns:
        The moment.

    Raises:
        SettingError: If it has no time zone.
    """
    if moment.tzinfo is None:
        raise SettingError(f"{name}={moment!r}: must have a time zone, such as datetime.UTC")
    return moment.astimezone(UTC)


async def succession_of(
    parts: Parts, material: Material, actor: DecisionActor, options: PromotionOptions
) -> Succession:
    """Return which memories a text replaces, and which ones it contradicts.

    Of one subject the text with the most authority is current: the trust of the text, or of the
    person who promotes it. With the same authority the later one is: of one speaker what was said
    later, else what is promoted later.

    Args:
        parts: The stores and the rules of the memory.
        material: The text with its lineage and entries.
        actor: Who promotes it.
        options: The options.

    Returns:
        The memories, and from when on the text holds.

    Raises:
        PromotionRefused: If it would begin before what it replaces.
    """
    replaced: dict[str, Memory] = {}
    against: list[tuple[Memory, str]] = []
    rivals = _NO_RIVALS
    mine = Trust.UNTRUSTED
    if options.replaces or options.proposed or options.subject is not None:
        rivals = await _rivals(parts, material.scope, options)
        replaced = {memory.document_id: memory for memory in rivals.named}
        mine = max(material.provenance.trust, authority_of(actor.name))
        for current in rivals.of_subject:
            if current.content_hash == hash_of(material.content) or current.document_id in replaced:
                continue
            if mine >= authority(current):
                replaced[current.document_id] = current
            else:
                against.append((current, reason_of_stronger(options.subject)))
    stronger = tuple(memory for memory, _ in against)
    now = parts.clock()
    documents = {*replaced, *(memory.document_id for memory in stronger)}
    contradicted = await _contradicted(parts, material, options, documents, now)
    against += contradicted
    if options.unattended:
        _refuse_decided(material, replaced.values())
        outdated = _outdated(material, options, against)
        against = [pair for pair in against if pair[0].document_id not in outdated]
        replaced |= outdated
    # What another proposal has replaced meanwhile is not there any more for this one.
    beside: list[Memory] = []
    if rivals.instead:
        beside = [memory for memory, _ in contradicted if memory.document_id in rivals.instead]
        older = [memory for memory in said_before(material, beside) if mine >= authority(memory)]
        replaced |= {memory.document_id: memory for memory in older}
        against = [pair for pair in against if pair[0] not in older]
    successor: Successor | None = None
    candidates = [*replaced.values(), *beside]
    is_ordered = bool(options.replaces) or options.valid_from is not None
    if candidates and not stronger and not is_ordered:
        successor = await successor_of(parts, material, candidates, rivals.history)
    if successor is not None:
        return _as_past(material, successor, against)
    # What only waits may begin at any time: it is decided again when a person promotes it.
    begins = options.valid_from or now
    if replaced and not stronger:
        begins = _begin(replaced.values(), options, now)
    reinstated = tuple(memory for memory in replaced.values() if memory.superseded_by is not None)
    return Succession(begins, tuple(replaced), tuple(against), stronger, reinstated)


def _as_past(
    material: Material, successor: Successor, against: Sequence[tuple[Memory, str]]
) -> Succession:
    """Return the succession of a text whose speaker has said something else since.

    It ends nothing that is current, and held from when it was said.
    """
    said_at = min(entry.said_at for entry in material.entries)
    by = successor.memory.document_id
    others = tuple(pair for pair in against if pair[0].document_id != by)
    begins = min(said_at, successor.memory.valid_from)
    return Succession(begins, against=others, successor=successor)


def _outdated(
    material: Material, options: PromotionOptions, against: Sequence[tuple[Memory, str]]
) -> dict[str, Memory]:
    """Return the memories that an unattended promotion supersedes, by document.

    Raises:
        PromotionRefused: If it contradicts what it may not replace.
    """
    is_personal = options.agent_id is not None or material.scope.is_personal
    outdated: dict[str, Memory] = {}
    for memory, reason in against:
        is_own = is_personal and memory.scope.agent_id == options.agent_id
        if is_own and authority(memory) <= material.provenance.trust:
            outdated[memory.document_id] = memory
        elif is_own or not is_personal:
            raise _undecided(memory, reason)
    _refuse_decided(material, outdated.values())
    return outdated


def _refuse_decided(material: Material, memories: Iterable[Memory]) -> None:
    """Refuse to replace what a person has promoted, unless the text is of the same person.

    Raises:
        PromotionRefused: Naming the memory.
    """
    own = {identity_of(root.name) for root in material.provenance.roots if root.kind == "user"}
    for memory in memories:
        people = [
            promotion.promoted_by
            for promotion in memory.grounds
            if not promotion.revocations and is_person(promotion.promoted_by)
        ]
        if not own.issuperset(map(identity_of, people)):
            raise _undecided(memory, "a person has promoted it")


def _undecided(memory: Memory, reason: str) -> PromotionRefused:
    return PromotionRefused(
        f"It contradicts memory {memory.id} ({reason}), and no policy decides between them; a"
        " person can promote or supersede it",
        ("contradiction",),
    )


def reason_of_stronger(subject: str | None) -> str:
    """Return why a text contradicts the memory of its subject that stays current.

    Args:
        subject: The subject.

    Returns:
        The reason, in words.
    """
    return f"the same subject {subject!r}, and what is current is trusted more"


def _plain(subject: str) -> str:
    shown = drop_hidden(unicodedata.normalize("NFKC", subject))[0]
    return " ".join(unicodedata.normalize("NFKC", shown).split())


async def end(
    parts: Parts, by: Memory, documents: Iterable[str], begins: datetime
) -> tuple[str, ...]:
    """End the validity of documents where another one replaces them.

    Args:
        parts: The stores and the rules of the memory.
        by: The memory that replaces them.
        documents: The ids of the documents.
        begins: From when on it replaces them.

    Returns:
        The ids of the documents that ended now.
    """
    named = tuple(documents)

    def change(chunk: Memory) -> Memory:
        if chunk.valid_to is not None or chunk.document_id == by.document_id:
            return chunk
        return replace(chunk, valid_to=max(begins, chunk.valid_from), superseded_by=by.document_id)

    if not named:
        return ()
    store, select = parts.tiers.long_term, Select.within(by.scope, documents=named)
    ended = await store.edit(select, change)
    return tuple(dict.fromkeys(memory.document_id for memory in ended))


async def first_of(parts: Parts, old: Superseded, scope: MemoryScope) -> Memory:
    """Return the first chunk of a document that can be superseded.

    Args:
        parts: The stores and the rules of the memory.
        old: The memory, its id or that of its document, a promotion, or a recalled item.
        scope: Tenant and group.

    Returns:
        The chunk.

    Raises:
        EntryMissing: If there is no such memory in this scope.
        PromotionRefused: If it was superseded or revoked already.
    """
    store = parts.tiers.long_term
    if isinstance(old, str | Memory):
        id_ = old if isinstance(old, str) else old.id
        page_by_id = await store.find(Select.within(scope, ids=(id_,)))
        document = page_by_id.items[0].document_id if page_by_id.items else id_
    else:
        document = old.document_id or ""
    page = await store.find(Select.within(scope, documents=(document,)))
    if not page.items:
        raise await _no_memory(parts, old, scope)
    first = min(page.items, key=lambda page_by_id: page_by_id.chunk_index)
    if first.valid_to is not None or first.revocation is not None:
        raise not_current(first)
    return first


async def _no_memory(parts: Parts, old: Superseded, scope: MemoryScope) -> EntryMissing:
    """Return the error for an unknown memory, with a hint if a text was passed."""
    id_ = old if isinstance(old, str) else ""
    if id_:
        same = Select.within(scope, hashes=(hash_of(id_),))
        for memory in (await parts.tiers.long_term.find(same)).items:
            if memory.valid_to is None and memory.revocation is None:
                return EntryMissing(
                    "old: this is the text of a memory, and supersede takes its id: pass"
                    f" {memory.id!r} to replace exactly this text"
                )
    return EntryMissing(
        f"There is no such memory in long-term memory of group {scope.group_id!r}"
        f"{parts.forgotten.hint(scope, id_)}; pass the id of a memory, which retrieve() and"
        " list() name. What is in working memory only cannot be superseded"
    )


def not_current(memory: Memory) -> PromotionRefused:
    """Return the error for superseding a memory that is not current.

    Args:
        memory: The memory.

    Returns:
        The error.
    """
    by = f" by {memory.superseded_by}" if memory.superseded_by else ""
    state = "was revoked" if memory.revocation else f"was superseded{by} already"
    return PromotionRefused(
        f"Memory {memory.id} {state}, so it cannot be superseded; supersede the current memory, or"
        " promote the new text",
        ("not_current",),
    )


def scope_of_old(old: Superseded) -> MemoryScope | None:
    """Return the scope of the memory that is superseded.

    Args:
        old: The memory, its id or that of its document, a promotion, or a recalled item.

    Returns:
        The scope; None for an id.
    """
    if isinstance(old, Promotion):
        return old.memories[0].scope if old.memories else None
    return None if isinstance(old, str) else old.scope


@dataclass(frozen=True, slots=True)
class _Rivals:
    """The first chunks of the documents that a text may replace.

    Attributes:
        named: Those that are named and hold without end, which may be of another agent.
        of_subject: Those of the subject that hold without end.
        history: All of the subject.
        instead: Documents that have taken the place of named ones.
    """

    named: Sequence[Memory] = ()
    of_subject: Sequence[Memory] = ()
    history: Sequence[Memory] = ()
    instead: frozenset[str] = frozenset()


_NO_RIVALS: Final = _Rivals()


async def _rivals(parts: Parts, scope: MemoryScope, options: PromotionOptions) -> _Rivals:
    """Return the documents that a text of these options may replace."""
    select = Select.within(scope, revocations=(None,))
    requests: list[tuple[Tier, Select]] = []
    documents = (*options.replaces, *options.proposed)
    if documents:
        requests.append(("long_term", select.also(documents=documents)))
    if options.subject is not None:
        same = select.also(agents=(options.agent_id,), subjects=spellings(options.subject))
        requests.append(("long_term", same))
    pages = [
        [memory for memory in page if memory.chunk_index == 0]
        for page in await parts.tiers.find_many(requests)
    ]
    named = pages[0] if documents else []
    history = pages[-1] if options.subject is not None else []
    return _Rivals(
        [memory for memory in named if memory.valid_to is None],
        [memory for memory in history if memory.valid_to is None],
        history,
        frozenset(memory.superseded_by for memory in named if memory.superseded_by is not None),
    )


def _begin(replaced: Iterable[Memory], options: PromotionOptions, now: datetime) -> datetime:
    """Return when a promotion begins: now, or when the replaced memory began by a clock ahead."""
    begins = options.valid_from or now
    for memory in replaced:
        if memory.valid_from <= begins:
            continue
        is_planned = memory.valid_from - max(begins, memory.created_at) > _SKEW
        if options.valid_from is not None or is_planned:
            raise PromotionRefused(
                f"Memory {memory.id} holds since {memory.valid_from.isoformat()}, and its successor"
                " cannot begin before that: pass a later valid_from",
                ("valid_from",),
            )
        begins = memory.valid_from
    return begins


async def _contradicted(
    parts: Parts, material: Material, options: PromotionOptions, documents: set[str], now: datetime
) -> list[tuple[Memory, str]]:
    """Return current memories that say something else, one of each document."""
    store = parts.tiers.long_term
    words = list(dict.fromkeys(core_words(material.content[:_LOOKED_AT])))[:_WORDS]
    agents = tuple({None, options.agent_id})
    select = current_in(parts, material.scope, now=now, agents=agents)
    hits = await store.by_words(words, select, limit=_NEAREST)
    work = partial(_among, material, hits, documents)
    return await parts.runner.offload(work)


def _reasons(memory: Memory, records: Sequence[Memory | Entry]) -> list[str]:
    """Return for each record why it contradicts a memory."""
    speaker = attribution_of(memory).speaker
    return contradictions_with(
        memory.content,
        [record.content for record in records],
        by_others=[speaker.is_other(attribution_of(record).speaker) for record in records],
    )


def _among(
    material: Material, hits: Sequence[Hit], documents: set[str]
) -> list[tuple[Memory, str]]:
    memories = [hit.memory for hit in hits if hit.memory.document_id not in documents]
    if not memories:
        return []
    speaker = common_speaker(material.entries, material.provenance)
    reasons = contradictions_with(
        material.content,
        [memory.content for memory in memories],
        by_others=[speaker.is_other(attribution_of(memory).speaker) for memory in memories],
    )
    contradicted: dict[str, tuple[Memory, str]] = {}
    for memory, reason in zip(memories, reasons, strict=True):
        if reason:
            contradicted.setdefault(memory.document_id, (memory, reason))
    return list(contradicted.values())

"""The data model of the tiers: entries, memories, promotions, promotion policy."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final, Literal, TypeAlias

from memoryware._caching import clearable_cache
from memoryware.scope import MemoryScope, check_name, is_personal_agent
from memoryware.tiers import checking
from memoryware.tiers.provenance import Origin, Provenance

# The records.


Role = Literal["agent", "user", "fact_check", "memory_retrieval", "tool", "other"]
"""The part that a node plays in a graph; its rules of recording and recalling hang on it. "user"
is the person who talks to the agent."""
Status = Literal["pending", "proposed", "promoted", "rejected", "revoked"]
"""The status of an entry in quarantine."""
DECIDED: Final[tuple[Status, ...]] = ("rejected", "revoked")
"""The statuses of entries that were turned down: only quarantine has them."""
WAITING: Final[tuple[Status, ...]] = ("pending", "proposed")
"""The statuses of entries that wait for a decision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The verdict of a fact check on a text.

    Attributes:
        verified: Whether it holds.
        confidence: From 0 to 1, how sure that is.
        issues: The errors that it found.
        by: Who checked.
        at: When, with a time zone.

    Raises:
        SettingError: For a value of another type, or a confidence that is not from 0 to 1.
    """

    verified: bool
    confidence: float = 1.0
    issues: tuple[str, ...] = ()
    by: str = ""
    at: datetime | None = None

    def __post_init__(self) -> None:
        checking.instance("verified", self.verified, (bool,))
        checking.number("confidence", self.confidence, 0, 1)
        object.__setattr__(self, "issues", checking.texts("issues", self.issues))
        check_name("by", self.by)
        if self.at is not None:
            checking.moment("at", self.at)


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingPromotion:
    """A promotion that waits, because the current text of its subject is trusted more.

    Attributes:
        subject: What the text is about.
        against: Ids of the memories that stay current meanwhile.
        agent_id: The agent whose experience it would be; None for memory of the group.
        valid_from: Since when it would hold; None is the moment of the promotion.
        replaces: `document_id` of documents that it would replace, whatever their subject.
        removes: Whether its promotion hides what is named in `against` and adds nothing: somebody
            has asked to forget it.
    """

    subject: str
    against: tuple[str, ...] = ()
    agent_id: str | None = None
    valid_from: datetime | None = None
    replaces: tuple[str, ...] = ()
    removes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One output, in quarantine and perhaps in working memory.

    Attributes:
        id: The same in both tiers.
        scope: On whose behalf it was made; tenant and group say whose memory it is.
        content: The text, without secrets.
        created_at: When it was recorded.
        provenance: Who made it, and of what.
        role: The part that its node plays.
        metadata: What its maker said of it, such as `confidence` and `verify_pending`.
        key: Two entries of one tenant and group with the same key are the same entry.
        status: Its status.
        refused: Why working memory did not take it: a code; None if it did or was not asked.
        echo_of: Ids of shown records that the text only repeats.
        duplicate_of: Ids of older records that say the same, which its author was not shown.
        proposed_by: Who proposed it for long-term memory last.
        proposers: Everybody who ever proposed it, the first one first.
        waits: The promotion that waits for a person who may replace the current text.
        decided_by: Who promoted, rejected or revoked it.
        decided_at: When.
        memory_ids: Ids of the memories that were promoted from it.
        verdict: The verdict of a fact check.
        revocation: The id of the receipt because of which it is hidden; None if it is not.
        revocations: The receipts of all revocations that hide it, in order.
        expires_at: When working memory drops it; None in quarantine.
        decided: The decisions about its single statements, "promoted" or "rejected", by the digest
            of each; `status` is about the whole entry.
        ungrouped: Whether a reviewer took it out of its group, so that it is decided alone.
    """

    id: str
    scope: MemoryScope
    content: str
    created_at: datetime
    provenance: Provenance
    role: Role = "agent"
    metadata: Mapping[str, Any] = field(default_factory=dict)
    key: str | None = None
    status: Status = "pending"
    refused: str | None = None
    echo_of: tuple[str, ...] = ()
    duplicate_of: tuple[str, ...] = ()
    proposed_by: str | None = None
    proposers: tuple[str, ...] = ()
    waits: PendingPromotion | None = None
    decided_by: str | None = None
    decided_at: datetime | None = None
    memory_ids: tuple[str, ...] = ()
    verdict: Verdict | None = None
    revocation: str | None = None
    revocations: tuple[str, ...] = ()
    expires_at: datetime | None = None
    decided: Mapping[str, str] = field(default_factory=dict)
    ungrouped: bool = False

    @property
    def said_at(self) -> datetime:
        """When its text was said: `said_at` of its metadata, or else when it was recorded."""
        return _said_at(self.metadata, self.created_at)

    @property
    def content_hash(self) -> str:
        """A digest of the text; blanks at its ends and their kinds do not count."""
        return hash_of(self.content)

    @property
    def all_proposers(self) -> tuple[str, ...]:
        """Everybody who proposed it; records of older versions kept the last one only."""
        last = () if self.proposed_by is None else (self.proposed_by,)
        return tuple(dict.fromkeys((*self.proposers, *last)))

    @property
    def personal_owner(self) -> str:
        """The owner of its promotion, if one user alone would be shown it; "" otherwise."""
        agent = (self.waits.agent_id if self.waits else None) or ""
        return agent if is_personal_agent(agent) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromotionRecord:
    """One promotion of a text in long-term memory; a text may have several.

    Attributes:
        scope: On whose behalf the promoted text was made.
        provenance: Who made that text, and of what.
        promoted_by: Who promoted it.
        promoted_at: When.
        revocations: The receipts of the revocations that undo it.
    """

    scope: MemoryScope
    provenance: Provenance
    promoted_by: str
    promoted_at: datetime
    revocations: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[Provenance, str]:
        """Its key among the promotions of the same text."""
        return self.provenance, self.promoted_by


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One chunk of a text in long-term memory.

    Attributes:
        id: Of this chunk.
        document_id: Of the whole text; all its chunks have it.
        scope: Whose memory it is. `agent_id` is None for memory of the group, else this is
            the experience of that agent; `session_id` is where the text came from.
        content: The text of the chunk.
        created_at: When it was promoted.
        provenance: Who made the text, and of which entries.
        promoted_by: Who promoted it.
        chunk_index: Its place among the chunks, from 0.
        chunk_count: How many chunks the text has.
        content_hash: A digest of the whole text.
        metadata: Further metadata.
        subject: What it is about; there is one current text of a subject in a group.
        valid_from: Since when it holds.
        valid_to: Until when it held; None if it still does.
        superseded_by: The `document_id` of the text that superseded it.
        verdict: The verdict of a fact check.
        revocation: The id of the receipt because of which it is hidden; None if it is not.
        revocations: The receipts of revocations of its own promotion.
        further: Other promotions of the same text. It is hidden when all are revoked.
    """

    id: str
    document_id: str
    scope: MemoryScope
    content: str
    created_at: datetime
    provenance: Provenance
    promoted_by: str
    chunk_index: int = 0
    chunk_count: int = 1
    content_hash: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    subject: str | None = None
    valid_from: datetime
    valid_to: datetime | None = None
    superseded_by: str | None = None
    verdict: Verdict | None = None
    revocation: str | None = None
    revocations: tuple[str, ...] = ()
    further: tuple[PromotionRecord, ...] = ()

    @property
    def grounds(self) -> tuple[PromotionRecord, ...]:
        """All promotions of its text, its own first."""
        first = PromotionRecord(
            scope=self.scope,
            provenance=self.provenance,
            promoted_by=self.promoted_by,
            promoted_at=self.created_at,
            revocations=self.revocations,
        )
        return (first, *self.further)

    @property
    def source_entry_ids(self) -> tuple[str, ...]:
        """The entries and memories that its text was made from."""
        return self.provenance.sources

    @property
    def said_at(self) -> datetime:
        """When its text was said: when it was first recorded, or else when it was promoted."""
        return _said_at(self.metadata, self.created_at)

    def has_begun(self, now: datetime) -> bool:
        """Return whether it holds by now, also if the clock of who promoted it is ahead.

        A text that was promoted without a `valid_from` holds from its promotion on, and a
        promotion that can be read has happened, even if its time is still to come here.

        Args:
            now: The moment by the clock of the caller.

        Returns:
            False only for a text that was promoted to hold from a later moment on.
        """
        return self.valid_from <= max(now, self.created_at)

    def holds_at(self, moment: datetime, ahead: timedelta = timedelta(0)) -> bool:
        """Return whether it may be shown as what holds at a moment.

        Args:
            moment: The moment.
            ahead: How much later it may begin; see `Select.ahead`.

        Returns:
            Whether it is not revoked, has begun and has not ended.
        """
        ended = self.valid_to is not None and self.valid_to <= moment
        return self.revocation is None and self.valid_from <= moment + ahead and not ended


Record: TypeAlias = Entry | Memory
"""A record of a store."""


def lineages(record: Record) -> tuple[Provenance, ...]:
    """Return all provenances of a record: of a memory, that of every promotion.

    Args:
        record: The entry or memory.

    Returns:
        The provenances.
    """
    if isinstance(record, Entry):
        return (record.provenance,)
    return (record.provenance, *(promotion.provenance for promotion in record.further))


def is_to_be_kept(entry: Entry) -> bool:
    """Return whether an agent was told to remember an entry, or it was extracted as a fact.

    Args:
        entry: The entry.

    Returns:
        Whether it is more than a part of a conversation.
    """
    return entry.metadata.get("remember") is True or FACT in entry.metadata


def is_covered_by_facts(entry: Entry) -> bool:
    """Return whether a digest shows the facts of an entry in its place.

    Args:
        entry: The entry.

    Returns:
        Whether its facts were extracted, and nobody has asked for the entry itself.
    """
    is_wanted = entry.status == "proposed" or entry.ungrouped or is_to_be_kept(entry)
    return entry.metadata.get(EXTRACTED) is not None and not is_wanted


_SHORT_TEXT: Final = 1_000
"""Characters of a text whose digest is cached."""
_UNSEEN: Final = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    + "".join(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
)
"""Invisible characters that Unicode does not classify as format characters."""


def folded(name: str) -> str:
    """Return the normal form of a name, by which two spellings of it are equal.

    Case, kinds and number of blanks, invisible characters, and the several ways that Unicode
    has to write one letter do not count. "" if there is nothing to see.

    Args:
        name: The name.

    Returns:
        The normal form.
    """
    visible = "".join(character for character in name if not _is_unseen(character))
    plain_ = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", visible).casefold())
    return " ".join("".join(character for character in plain_ if not _is_unseen(character)).split())


def _is_unseen(character: str) -> bool:
    kind = unicodedata.category(character)
    return kind == "Cf" or character in _UNSEEN or (kind == "Cc" and not character.isspace())


def hash_of(text: str) -> str:
    """Return the digest of a text; blanks at its ends and the kind of its blanks do not count.

    Args:
        text: The text.

    Returns:
        The digest, 32 hexadecimal digits.
    """
    return _hash_once(text) if len(text) <= _SHORT_TEXT else _hash(text)


def _hash(text: str) -> str:
    return hashlib.blake2b(
        " ".join(text.split()).encode("utf-8", "replace"), digest_size=16
    ).hexdigest()


# A record is compared with the whole working list, which the record before was compared with.
_hash_once: Final = clearable_cache(4096)(_hash)


def plain(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a copy of metadata that JSON can hold.

    Args:
        metadata: The metadata; None is an empty mapping.

    Returns:
        A new dictionary; values that JSON cannot hold are replaced by their text.
    """
    text = json.dumps(dict(metadata or {}), default=str, skipkeys=True)
    copied: dict[str, Any] = json.loads(text, parse_constant=str)  # JSON has no NaN
    return copied


# The promotions that a memory rests on.


Key: TypeAlias = tuple[Provenance, str]
"""The key of a promotion of a text: `PromotionRecord.key`."""

SOURCE_GONE: Final = "source_gone"
"""The refusal code of an entry that was made of a forgotten text."""
DISCARDED: Final = "discarded"
"""The code under which an answer is hidden that was thrown away in its thread, and the key in its
metadata with the reason and the receipt."""
FACT: Final = "extracted_fact"
"""Metadata key of an entry that holds a fact which was extracted from a conversation."""
EXTRACTED: Final = "facts_extracted"
"""Metadata key of an entry whose facts were extracted. If its value is the list of their entries, a
digest shows these, and no longer the text around them; with None it shows both."""
VISIBLE_TO: Final = "visible_to"
"""Metadata key of an entry: the id of the only user whose runs are shown it."""
SAID_AT: Final = "said_at"
"""Metadata key of the time at which a text was said, in ISO format with a time zone."""
SAID_AGAIN: Final = "said_again_at"
"""Metadata key of the time at which the same text was recorded last."""
BEFORE: Final = "status_before_revocation"
"""Metadata key of the status that an entry gets back when no revocation hides it any more."""


def _said_at(metadata: Mapping[str, Any], otherwise: datetime) -> datetime:
    """Return the time at which a text was said; a time that cannot be read is none."""
    said_at = metadata.get(SAID_AT)
    if isinstance(said_at, str):
        with suppress(ValueError):
            moment = datetime.fromisoformat(said_at)
            return otherwise if moment.tzinfo is None else moment
    return otherwise


_FIRST: Final = "promotions_before"
"""Where a memory keeps how many promotions came before the one that it says it is from.

They were taken back. When one of them is restored, the memory is from that again, and no younger
or more trusted than it was before. It is kept where times do not say it, because of a clock that
was behind or several promotions at once.
"""


def with_promotion(memory: Memory, ground: PromotionRecord, most: int) -> Memory:
    """Return a memory with one more promotion; a promotion that it has already is not added.

    Without a source record, its user is one of its origins, so that it is found.

    Args:
        memory: The memory.
        ground: The promotion.
        most: How many promotions a memory keeps at most.

    Returns:
        The memory.
    """
    if any(other.key == ground.key for other in memory.grounds) or len(memory.grounds) >= most:
        return memory
    provenance, scope = ground.provenance, ground.scope
    if not provenance.sources and scope.user_id:
        roots = (*provenance.roots, Origin("user", scope.user_id))
        provenance = Provenance(provenance.origin, provenance.sources, roots)
        ground = replace(ground, provenance=provenance, scope=replace(scope, session_id=None))
    return standing_on(memory, (*_in_order(memory), ground))


def without_lone_rejections(entries: Iterable[Entry]) -> list[Entry]:
    """Return entries without those that a reviewer rejected alone, apart from their groups.

    Such a rejection says nothing about other entries with the same statement.

    Args:
        entries: Decided entries.

    Returns:
        The others.
    """
    return [entry for entry in entries if not (entry.ungrouped and entry.status == "rejected")]


def mark_revoked(entry: Entry, receipt: str) -> Entry:
    """Return an entry that is revoked by a receipt, beside the receipts that it has.

    Args:
        entry: The entry.
        receipt: The id of the receipt.

    Returns:
        The entry.
    """
    if receipt in entry.revocations:
        return entry
    metadata = entry.metadata
    if not entry.revocations:
        metadata = {**metadata, BEFORE: entry.status}
    marks = (*entry.revocations, receipt)
    return replace(
        entry, revocation=marks[0], revocations=marks, status="revoked", metadata=metadata
    )


def inherited_receipts(record: Record) -> tuple[str, ...]:
    """Return the receipts of a record that hide what is made of it as well.

    An answer that was thrown away is no bad source: what was said after it stays.

    Args:
        record: The entry or memory.

    Returns:
        The ids of the receipts.
    """
    discarded = record.metadata.get(DISCARDED)
    own = discarded.get("receipt") if isinstance(discarded, Mapping) else None
    return tuple(receipt for receipt in record.revocations if receipt != own)


def without_grounds(memory: Memory, receipt: str, keys: Collection[Key]) -> Memory:
    """Return a memory of which a receipt revokes some promotions.

    Args:
        memory: The memory.
        receipt: The id of the receipt.
        keys: The keys of the promotions; see `PromotionRecord.key`.

    Returns:
        The memory; it is hidden if no promotion counts any more.
    """
    grounds = [
        replace(promotion, revocations=(*promotion.revocations, receipt))
        if promotion.key in keys and receipt not in promotion.revocations
        else promotion
        for promotion in _in_order(memory)
    ]
    return standing_on(memory, grounds)


def mark_restored(record: Record, receipt: str) -> Record:
    """Return a record without the marks of one receipt.

    Args:
        record: The entry or memory.
        receipt: The id of the receipt.

    Returns:
        The record.
    """
    if isinstance(record, Memory):
        return standing_on(
            record, [_without(promotion, receipt) for promotion in _in_order(record)]
        )
    if receipt not in record.revocations:
        return record
    marks = tuple(revocation for revocation in record.revocations if revocation != receipt)
    if marks:
        return replace(record, revocation=marks[0], revocations=marks)
    metadata = {name: value for name, value in record.metadata.items() if name != BEFORE}
    status: Status = record.metadata.get(BEFORE, "pending")
    return replace(record, revocation=None, revocations=(), status=status, metadata=metadata)


def fewer(memory: Memory, falls: Callable[[PromotionRecord], bool]) -> Memory:
    """Return a memory without some of its promotions; unchanged if none would be left.

    Args:
        memory: The memory.
        falls: Whether a promotion is removed.

    Returns:
        The memory.
    """
    left = [promotion for promotion in _in_order(memory) if not falls(promotion)]
    return standing_on(memory, left) if left else memory


def _in_order(memory: Memory) -> list[PromotionRecord]:
    """Return the promotions of a memory, oldest first."""
    first, *grounds = memory.grounds
    before = memory.metadata.get(_FIRST)
    if not isinstance(before, int) or not 0 <= before <= len(grounds):
        before = _earlier(grounds, first)
    grounds.insert(before, first)
    return grounds


def _earlier(grounds: Sequence[PromotionRecord], first: PromotionRecord) -> int:
    """Return how many that were taken back came before the first that counts, by their times."""
    for at, ground in enumerate(grounds):
        if not ground.revocations or ground.promoted_at > first.promoted_at:
            return at
    return len(grounds)


def standing_on(memory: Memory, grounds: Sequence[PromotionRecord]) -> Memory:
    """Return a memory with these promotions; it is hidden if none of them counts.

    Args:
        memory: The memory.
        grounds: Promotions of its text, in the order in which they came.

    Returns:
        The memory, attributed to the first promotion that counts.
    """
    counting = [at for at, promotion in enumerate(grounds) if not promotion.revocations]
    # Where none counts, the memory stays from the one that it was from.
    same = [at for at, promotion in enumerate(grounds) if promotion.key == memory.grounds[0].key]
    before = (counting or same or [0])[0]
    first, further = grounds[before], (*grounds[:before], *grounds[before + 1 :])
    marks = first.revocations
    metadata = {name: value for name, value in memory.metadata.items() if name != _FIRST}
    if before != _earlier(further, first):
        metadata[_FIRST] = before
    changed = replace(
        memory, revocation=marks[0] if marks else None, further=further, metadata=metadata
    )
    if first == memory.grounds[0]:
        return changed
    named = {
        "promoted_at": first.promoted_at.isoformat(),
        "promoted_by": first.promoted_by,
        "source_entry_ids": list(first.provenance.sources),
    }
    return replace(
        changed,
        scope=replace(first.scope, agent_id=memory.scope.agent_id),
        provenance=first.provenance,
        promoted_by=first.promoted_by,
        created_at=first.promoted_at,
        revocations=marks,
        metadata={name: named.get(name, value) for name, value in metadata.items()},
    )


def _without(ground: PromotionRecord, receipt: str) -> PromotionRecord:
    if receipt not in ground.revocations:
        return ground
    marks = tuple(revocation for revocation in ground.revocations if revocation != receipt)
    return replace(ground, revocations=marks)

"""What the tiers keep: frozen values, the same in every store.

An `Entry` is one output of an agent; it keeps its id from quarantine to working memory. A
`Memory` is one chunk of a promoted text, in long-term memory. Tier, trust and verdict are
three labels: where a text is does not say how far it is trusted.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum
from typing import Any, Final, Literal, TypeAlias, get_args

from memoryware.errors import SettingError
from memoryware.scope import MemoryScope

OriginKind = Literal["person", "user", "agent", "tool", "import"]
"""Who made a text: a person who edits memory, a user of an agent, an agent, a tool, a bundle."""
Role = Literal["agent", "fact_check", "memory_retrieval", "tool", "other"]
"""The part that a node plays in a graph; its rules of recording and recalling hang on it."""
Status = Literal["pending", "proposed", "promoted", "rejected", "revoked"]
"""What became of an entry in quarantine."""


class Trust(IntEnum):
    """How far a text is trusted; the lowest of all that it was made from."""

    UNTRUSTED = 0
    """From outside: the result of a tool, an imported bundle."""
    UNVERIFIED = 1
    """A model said it."""
    USER = 2
    """A user of the agent said it."""
    PERSON = 3
    """A person wrote it into memory."""


_TRUST: Final[Mapping[str, Trust]] = {
    "person": Trust.PERSON,
    "user": Trust.USER,
    "agent": Trust.UNVERIFIED,
    "tool": Trust.UNTRUSTED,
    "import": Trust.UNTRUSTED,
}


@dataclass(frozen=True, slots=True, order=True)
class Origin:
    """Where a text came from, such as `tool:web_search` or `user:ann`.

    Attributes:
        kind: What it is.
        name: Which one; "" where nobody knows.
    """

    kind: OriginKind
    name: str = ""

    def __post_init__(self) -> None:
        if self.kind not in _TRUST:
            possible = ", ".join(get_args(OriginKind))
            raise SettingError(f"origin {self.kind!r}: must be one of {possible}")

    @classmethod
    def parse(cls, text: str) -> Origin:
        """Return the origin that `str(origin)` wrote.

        Raises:
            SettingError: If it does not begin with a kind and a colon.
        """
        kind, _, name = text.partition(":")
        return cls(kind, name)  # type: ignore[arg-type]  # checked by the class

    @property
    def trust(self) -> Trust:
        """How far a text of this origin alone is trusted."""
        return _TRUST[self.kind]

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


@dataclass(frozen=True, slots=True)
class Provenance:
    """Who made a text, and of what.

    Attributes:
        origin: Who made it.
        sources: Ids of the entries and memories that it was made from.
        roots: Every origin of its whole lineage, its own included, in order.
    """

    origin: Origin
    sources: tuple[str, ...] = ()
    roots: tuple[Origin, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "sources", tuple(dict.fromkeys(self.sources)))
        object.__setattr__(self, "roots", tuple(sorted({self.origin, *self.roots})))

    @classmethod
    def made(
        cls,
        origin: Origin,
        of: Iterable[Entry | Memory] = (),
        roots: Iterable[Origin] = (),
    ) -> Provenance:
        """Return the provenance of what somebody made of these, and of these origins."""
        parts = list(of)
        inherited = [root for one in parts for root in one.provenance.roots]
        return cls(origin, tuple(one.id for one in parts), (*inherited, *roots))

    @property
    def trust(self) -> Trust:
        """How far the text is trusted: as far as the least of its lineage."""
        return min(root.trust for root in self.roots)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a check of facts said of a text.

    Attributes:
        verified: Whether it holds.
        confidence: From 0 to 1, how sure that is.
        issues: What is wrong with it.
        by: Who checked.
        at: When.
    """

    verified: bool
    confidence: float = 1.0
    issues: tuple[str, ...] = ()
    by: str = ""
    at: datetime | None = None


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
        status: What became of it.
        refused: Why working memory did not take it: a code; None if it did or was not asked.
        echo_of: Ids of what memory had shown, where the text only repeats that.
        proposed_by: Who proposed it for long-term memory.
        decided_by: Who promoted, rejected or revoked it.
        decided_at: When.
        memory_ids: What it became in long-term memory.
        verdict: What a check of facts said.
        revocation: The id of the receipt of what took it back.
        expires_at: When working memory drops it; None in quarantine.
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
    proposed_by: str | None = None
    decided_by: str | None = None
    decided_at: datetime | None = None
    memory_ids: tuple[str, ...] = ()
    verdict: Verdict | None = None
    revocation: str | None = None
    expires_at: datetime | None = None

    @property
    def content_hash(self) -> str:
        """A digest of the text; blanks at its ends and their kinds do not count."""
        return hash_of(self.content)


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
        metadata: What is known of it besides.
        subject: What it is about; there is one current text of a subject in a group.
        valid_from: Since when it holds.
        valid_to: Until when it held; None if it still does.
        superseded_by: The `document_id` of what took its place.
        verdict: What a check of facts said.
        revocation: The id of the receipt of what took it back.
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

    @property
    def source_entry_ids(self) -> tuple[str, ...]:
        """The entries and memories that its text was made from."""
        return self.provenance.sources

    def holds_at(self, moment: datetime) -> bool:
        """Say whether it may be shown as what holds at a moment."""
        ended = self.valid_to is not None and self.valid_to <= moment
        return self.revocation is None and self.valid_from <= moment and not ended


Record: TypeAlias = Entry | Memory
"""What a store keeps."""


def hash_of(text: str) -> str:
    """Return a digest of a text; blanks at its ends and their kinds do not count."""
    return hashlib.blake2b(
        " ".join(text.split()).encode("utf-8", "replace"), digest_size=16
    ).hexdigest()


def plain(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a copy of metadata that JSON can hold; what it cannot is kept as its text."""
    text = json.dumps(dict(metadata or {}), default=str, skipkeys=True)
    made: dict[str, Any] = json.loads(text, parse_constant=str)  # JSON has no NaN
    return made

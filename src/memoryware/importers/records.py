"""Records of other memory systems, and the result of an import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, get_args

from memoryware.tiers.provenance import Origin

System = Literal[
    "mem0", "letta", "langgraph", "chatgpt", "claude", "mcp", "basic-memory", "agents-md"
]
"""A memory system whose files can be read. LangMem keeps its memories in a LangGraph store."""
SYSTEMS: Final[tuple[System, ...]] = get_args(System)
"""All of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRecord:
    """One memory of another system, as it becomes one entry in quarantine.

    Attributes:
        id: Its id there; with the text it is the idempotency key.
        text: The text.
        said_at: When it was said there, with a time zone; None if that is not known.
        user: Its user there; None for the user of the import.
        agent: Its agent there.
        session: Its session there.
        metadata: Everything else that the system knows of it.
        location: Where it is in the source, such as "line 12".
    """

    id: str
    text: str
    said_at: datetime | None = None
    user: str | None = None
    agent: str | None = None
    session: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    location: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedRecord:
    """A record that is not imported; the others are.

    Attributes:
        id: Its id; "" if it has none.
        reason: What is wrong with it; no text of it.
        location: Where it is in the source.
    """

    id: str
    reason: str
    location: str = ""

    def __str__(self) -> str:
        """Return one line for people."""
        where = self.location or self.id
        return f"{where}: {self.reason}" if where else self.reason


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportSummary:
    """The result of an import, or its progress: `read` is the sum of the three counts after it.

    Attributes:
        system: The system that the records are from.
        origin: The origin of all entries, to revoke them by.
        read: Records that were read.
        recorded: Records that are new in quarantine; in a dry run, those that would be.
        existing: Records that had been imported before.
        refused: Records that were not imported.
        filtered: How many of the recorded ones the filters would keep out of working memory.
        reasons: How many records were refused for each reason.
        refusals: The first 100 refused records.
        preview: The first new records, without secrets.
        dry_run: Whether nothing was written.
    """

    system: str
    origin: Origin
    read: int = 0
    recorded: int = 0
    existing: int = 0
    refused: int = 0
    filtered: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict)
    refusals: tuple[RefusedRecord, ...] = ()
    preview: tuple[SourceRecord, ...] = ()
    dry_run: bool = False

    def __str__(self) -> str:
        """Return one line for people."""
        verb = "would be recorded" if self.dry_run else "recorded"
        return (
            f"{self.read:,} read from {self.system}: {self.recorded:,} {verb},"
            f" {self.existing:,} already there, {self.refused:,} refused"
        )

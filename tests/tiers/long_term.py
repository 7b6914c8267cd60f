"""Helpers of the tests of long-term memory: entries that wait, and what holds now."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from langchain_core.embeddings import Embeddings

from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts
from memoryware.tiers.model import Entry, Memory
from memoryware.tiers.provenance import Origin, Provenance
from memoryware.tiers.stores.embedded import embedded
from memoryware.tiers.stores.protocol import Select, Stores
from memoryware.tiers.stores.sqlite import sqlite_stores
from tiers.kit import HashEmbeddings

ACME = MemoryScope(group_id="acme", session_id="s1")
MYSQL = "The orders of the shop are stored in MySQL."
POSTGRES = "The orders of the shop are stored in PostgreSQL."


def waiting(
    given: Parts,
    text: str = MYSQL,
    origin: str = "agent:helper",
    roots: Iterable[str] = (),
    **more: Any,
) -> Entry:
    """Return an entry that waits in quarantine."""
    made = Provenance(
        Origin.parse(origin), more.pop("sources", ()), tuple(map(Origin.parse, roots))
    )
    entry = Entry(
        id=given.new_id(),
        scope=more.pop("scope", ACME),
        content=text,
        created_at=more.pop("created_at", given.clock()),
        provenance=made,
        **more,
    )
    return given.stores.quarantine.add(entry)


def entry_of(given: Parts, entry: Entry) -> Entry:
    """Return an entry as quarantine has it now."""
    found = given.stores.quarantine.find(Select.within(entry.scope, ids=(entry.id,)))
    return found.items[0]


def memories(given: Parts, scope: MemoryScope = ACME, **conditions: Any) -> list[Memory]:
    """Return what is in long-term memory of a group, oldest first."""
    return given.stores.long_term.find(Select.within(scope, **conditions)).items[::-1]


def current(given: Parts, scope: MemoryScope = ACME) -> list[str]:
    """Return the texts that hold now, oldest first."""
    return [one.content for one in memories(given, scope, live_at=given.clock())]


class Moody(Embeddings):
    """Embeddings that fail while they are told to."""

    def __init__(self, size: int = 64, refuse: Callable[[str], bool] = lambda _: False) -> None:
        self.inner = HashEmbeddings(size)
        self.refuse = refuse
        self.broken: BaseException | None = None

    @property
    def asked(self) -> list[list[str]]:
        return self.inner.asked

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        if self.broken is not None:
            raise self.broken
        if any(map(self.refuse, texts)):
            self.inner.asked.append(list(texts))
            raise ValueError("content filter")
        return self.inner.embed_documents(texts)

    def embed_query(self, text: str) -> list[float]:
        if self.broken is not None:
            raise self.broken
        return self.inner.embed_query(text)


def both_stores(kind: str, path: Any) -> Stores:
    """Return stores in this process, or in a file."""
    return embedded() if kind == "embedded" else sqlite_stores(path / "memory.db")


KINDS = ("embedded", "sqlite")

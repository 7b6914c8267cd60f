"""What the suites of the tier stores share: the two doors, records, and workers."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, ClassVar, Final, Literal, TypeVar

import pytest
import pytest_asyncio

from memoryware._runner import ASYNC, BLOCKING, run_blocking
from memoryware.scope import MemoryScope
from memoryware.testing._guarded import Door, Guarded
from memoryware.testing._lawful import Answers, lawful
from memoryware.testing._threads import at_once, in_thread
from memoryware.tiers.model import Entry, Memory, Origin, Provenance
from memoryware.tiers.stores.protocol import (
    Choose,
    Hit,
    Page,
    Query,
    Searched,
    Select,
    Sight,
    Space,
    Stores,
    Transaction,
)
from memoryware.tiers.stores.views import run_in

T = TypeVar("T")
OpenStores = Callable[[], Stores]
NOON: Final = datetime(2026, 1, 1, 12, tzinfo=UTC)
"""When everything in these suites begins."""
NASTY: Final = (
    *("g1", "g10", "G1", "a.b", "a/b", "a:b", "%", "_", "a%2Fb", "'", '"', "a'b", 'a"b', "[]"),
    *('["x"]', "null", "None", "\\", "a\nb", " ", "g1 ", "Ä", "A\u0308", "日本", "😀", "*"),
    *("g1 OR g2", "a|b", "a\x1fb", "{}", "ｇ1", "0", "-1"),
)
"""Ids that a careless store mixes up."""
NEIGHBOURS: Final = tuple(
    MemoryScope(tenant=tenant, group_id=group)
    for tenant, group in (
        *((None, group) for group in (None, "", "a", *NASTY)),
        *(("t", group) for group in (None, "", "a", *NASTY)),
        *((tenant, "a") for tenant in ("", "T", "t.a", "None", "null", "%", "_", "'", "t ")),
        *(("a", "b.c"), ("a.b", "c"), ("a", "b:c"), ("a:b", "c"), ("a/b", "c"), ("a", "b/c")),
        *(("a|b", "c"), ("a", "b|c"), ("ab", "c"), ("a", "bc"), ("a\x1fb", "c"), ("a", "b\x1fc")),
    )
)
"""Tenants and groups of which any two are strangers."""
ACME: Final = MemoryScope(tenant="t", group_id="acme", user_id="ann", session_id="s1")
WORKERS: Final = 8
_numbers = itertools.count(1)


def entry(content: str = "a text", scope: MemoryScope = ACME, **more: Any) -> Entry:
    """Return an entry to store."""
    given: dict[str, Any] = {
        "id": f"{next(_numbers):032x}",
        "scope": scope,
        "content": content,
        "created_at": NOON,
        "provenance": Provenance(Origin("agent", "helper")),
        **more,
    }
    return Entry(**given)


def memory(content: str = "a text", scope: MemoryScope = ACME, **more: Any) -> Memory:
    """Return a memory to store: the only chunk of its document."""
    number = next(_numbers)
    agent = more.pop("agent", None)
    given: dict[str, Any] = {
        "id": f"{number:032x}",
        "document_id": f"d{number:031x}",
        "scope": replace(scope, agent_id=agent) if agent else scope,
        "content": content,
        "created_at": NOON,
        "valid_from": NOON,
        "promoted_by": "ann",
        "content_hash": f"hash of {content}",
        "provenance": Provenance(Origin("agent", "helper")),
        **more,
    }
    return Memory(**given)


def within(scope: MemoryScope = ACME, **conditions: Any) -> Select:
    """Return a selection of one tenant and group."""
    return Select.within(scope, **conditions)


def later(**amount: float) -> datetime:
    """Return a moment after noon."""
    return NOON + timedelta(**amount)


def shout(record: Any) -> Any:
    """Return a record with another content."""
    return replace(record, content=f"{record.content}!")


class Asked:
    """A store seen through one of its doors: `await asked.find(...)` either way.

    The blocking half runs in a thread without an event loop; "inline" is for workers that
    are in such a thread already. What is found is held against the laws of all answers.
    """

    def __init__(self, target: Any, door: Door | Literal["inline"], deadline: float) -> None:
        self.target, self.door, self.deadline = target, door, deadline

    def __getattr__(self, name: str) -> Any:
        return partial(self._ask, name)

    async def find(self, which: Select, **more: Any) -> Page[Any]:
        page: Page[Any] = await self._ask("find", which, **more)
        _of_page(page, which, more)
        return page

    async def by_words(self, words: list[str], which: Select, *, limit: int) -> list[Hit]:
        hits: list[Hit] = await self._ask("by_words", words, which, limit=limit)
        _of_hits(hits, which, limit)
        assert all(hit.value > 0 for hit in hits), "what has one of the words scores above 0"
        assert len({hit.whole for hit in hits}) <= 1, "one query has one score of all its words"
        return hits

    async def by_vector(self, vector: list[float], which: Select, **more: Any) -> list[Hit]:
        hits: list[Hit] = await self._ask("by_vector", vector, which, **more)
        _of_hits(hits, which, more["limit"])
        assert all(-1 <= hit.value <= 1 for hit in hits), "a cosine is from -1 to 1"
        return hits

    async def search(self, query: Query, which: Select, choose: Choose) -> Searched:
        answers: Answers = []

        def noted(sight: Sight) -> Sequence[int]:
            answers.append((sight, [*choose(sight)]))
            return answers[-1][1]

        found: Searched = await self._ask("search", query, which, noted)
        _of_records([*found.memories.values()], which)
        lawful(found, query, answers)
        return found

    async def spaces(self) -> dict[Space, int]:
        counted: dict[Space, int] = await self._ask("spaces")
        assert await self._ask("known_spaces") == [*counted], "both name the same, in this order"
        return counted

    async def transaction(
        self, work: Callable[[Transaction], Awaitable[T]], *, writes: bool = True
    ) -> T:
        """Run a unit of work about the group of these suites in the store itself."""
        runner = ASYNC if self.door == "native" else BLOCKING
        operation = partial(
            run_in, self.target.store, runner, work, Select.within(ACME), writes=writes
        )
        if self.door == "native":
            return await operation()
        return await in_thread(lambda: run_blocking(operation()), self.deadline)

    async def ids(self, which: Select, **more: Any) -> list[str]:
        """Return the ids of what is found, in the order of the store."""
        return [one.id for one in (await self.find(which, **more)).items]

    async def texts(self, which: Select, **more: Any) -> list[str]:
        """Return the contents of what is found, in the order of the store."""
        return [one.content for one in (await self.find(which, **more)).items]

    async def one(self, which: Select) -> Any:
        """Return the only record that is found."""
        (found,) = (await self.find(which)).items
        return found

    async def _ask(self, name: str, *args: Any, **kwargs: Any) -> Any:
        if self.door == "native":
            return await getattr(self.target, f"a{name}")(*args, **kwargs)
        half = getattr(self.target, name)
        if self.door == "inline":
            return half(*args, **kwargs)
        return await in_thread(partial(half, *args, **kwargs), self.deadline)


def _of_page(page: Page[Any], which: Select, asked: Mapping[str, Any]) -> None:
    """Each record once, of this tenant and these groups, no more than asked for."""
    _of_records(page.items, which)
    limit, left = asked.get("limit"), page.total - page.newer
    assert left >= 0, "more stand before a page than there are"
    assert len(page.items) == (left if limit is None else min(left, limit)), "a wrong total"
    assert asked.get("after") or page.newer == min(asked.get("offset", 0), page.total)
    assert len(page.marks) == len(set(page.marks)) == len(page.items), "a mark for each"


def _of_hits(hits: list[Hit], which: Select, limit: int) -> None:
    """As for a page; best first."""
    _of_records([hit.memory for hit in hits], which)
    values = [hit.value for hit in hits]
    assert values == sorted(values, reverse=True), "the best comes first"
    assert len(hits) <= limit, "no more than the limit"


def _of_records(found: list[Any], which: Select) -> None:
    ids = [(one.scope.group_id, one.id) for one in found]
    assert len(set(ids)) == len(ids), "each record comes once"
    for one in found:
        assert one.scope.tenant == which.tenant, "a record of another tenant"
        assert which.groups is None or one.scope.group_id in which.groups, "of another group"


class TierSuite(Guarded):
    """Derive a test class from a suite, override `open_stores`, and answer what differs."""

    persistent: ClassVar[bool] = True
    """Opened again, the stores have their records; if False they are empty again."""
    tier: ClassVar[Literal["quarantine", "working", "long_term"]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Refuse a class that tests two tiers, besides what `Guarded` refuses."""
        tiers = sorted({vars(base)["tier"] for base in cls.__mro__ if "tier" in vars(base)})
        if len(tiers) > 1:
            raise TypeError(f"{cls.__name__}: one class for each tier, not one for {tiers}")
        super().__init_subclass__(**kwargs)

    @pytest.fixture
    def open_stores(self) -> OpenStores:
        """Return a function that opens stores on the same, at first empty, data."""
        raise NotImplementedError(
            f"{type(self).__name__} must override the fixture `open_stores`: a function that opens"
            " the three stores on the same, at first empty, data"
        )

    @pytest_asyncio.fixture(loop_scope="function")
    async def opened(self, open_stores: OpenStores) -> AsyncIterator[OpenStore]:
        """Return a function that opens the store of this suite; all are closed at the end.

        What was opened in the event loop of a test is closed in it, too.
        """
        known: list[Any] = []

        def open_one() -> Any:
            known.append(getattr(open_stores(), self.tier))
            return known[-1]

        yield open_one
        for one in known:
            if "native" in self.doors:
                await one.aclose()
            await asyncio.to_thread(one.close)

    @pytest.fixture
    def target(self, opened: OpenStore) -> Any:
        """Return the store of this suite itself."""
        return opened()

    @pytest.fixture
    def store(self, target: Any, door: Door) -> Asked:
        """Return the store of this suite, through one door."""
        return Asked(target, door, self.deadline)

    def make(self, content: str = "a text", scope: MemoryScope = ACME, **more: Any) -> Any:
        """Return a record of this tier."""
        kind: Callable[..., Any] = memory if self.tier == "long_term" else entry
        return kind(content, scope, **more)

    async def keep(self, store: Asked, record: Any) -> Any:
        """Store a record."""
        if self.tier == "quarantine":
            return await store.add(record)
        if self.tier == "working":
            await store.push(record, keep=1000)
        else:
            await store.add([record])
        return record

    async def keep_all(self, store: Asked, *contents: str) -> list[Any]:
        """Store a record for each content, in order."""
        return [await self.keep(store, self.make(content)) for content in contents]

    def workers(self, store: Asked, opened: OpenStore) -> list[Asked]:
        """Return workers at one door; half of them have an opening of their own, if that helps."""
        door: Door | Literal["inline"] = "native" if store.door == "native" else "inline"
        own = [self.persistent and me % 2 == 1 for me in range(WORKERS)]
        return [Asked(opened() if one else store.target, door, self.deadline) for one in own]

    async def at_work(
        self, workers: list[Asked], work: Callable[[int, Asked], Coroutine[Any, Any, None]]
    ) -> None:
        """Let workers begin in the same moment, as threads or as tasks by their door."""
        numbered = dict(enumerate(workers))
        threads = {me: one for me, one in numbered.items() if one.door == "inline"}
        tasks = {me: one for me, one in numbered.items() if one.door != "inline"}
        await at_once(threads, tasks, work, self.deadline * 2)


OpenStore = Callable[[], Any]

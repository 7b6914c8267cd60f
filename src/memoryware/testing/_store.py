"""The base of the suites of tier stores: records, a proxy for both modes, result checks."""

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
from memoryware.testing._suite import ConformanceSuite, Mode, run_in_thread, run_together
from memoryware.tiers.model import Entry, Memory
from memoryware.tiers.provenance import Origin, Provenance
from memoryware.tiers.stores.protocol import (
    Chooser,
    Hit,
    Page,
    Query,
    SearchCandidate,
    SearchResult,
    SearchView,
    Select,
    Space,
    Stores,
    Transaction,
    Vector,
)
from memoryware.tiers.stores.selecting import speaker_key
from memoryware.tiers.stores.views import run_in
from memoryware.tiers.text.terms import terms_of, words_of

# Checks of every result of `search`.

Answers = list[tuple[SearchView, list[int]]]
"""The rows that were offered and those that were chosen, for each choice of a search."""


def thread_of(memory: Memory, query: Query) -> tuple[Any, ...]:
    """Return the thread of a memory: its document, or its session."""
    session = memory.scope.session_id if query.sessions else None
    scope = memory.scope
    return scope.tenant, scope.group_id, bool(session), session or memory.document_id


def check_search(result: SearchResult, query: Query, answers: Answers) -> None:
    """Check what is true of every result of `search`."""
    view, words = result.view, query.words
    if answers:
        assert view == answers[-1][0], "what is returned is what was chosen from"
        assert {*result.memories} == {*answers[-1][1]}, "what was chosen is read, and no more"
    else:
        assert not view.candidates, "somebody chooses of what is seen"
    assert len(view.having) == len(words), "a number for each word of the query"
    assert all(0 <= number <= view.count for number in view.having), (
        "no more have it than there are"
    )
    most = 2 * max(0, query.limit) * (2 * max(0, query.reach) + 1)
    assert len(view.candidates) <= most, "no more than hits and what is beside them"
    for index, row in enumerate(view.candidates):
        _check_row(row, view, words)
        assert index or not row.follows, "the first follows nothing"
        assert row.follows or not row.same_speaker, "the speaker is compared with what it follows"
    for index, memory in result.memories.items():
        _check_text(view.candidates[index], memory, words)
        before = result.memories.get(index - 1)
        if view.candidates[index].follows and before is not None:
            assert thread_of(before, query) == thread_of(memory, query), "of one thread"
            assert view.candidates[index].same_speaker == _has_same_speaker(before, memory), (
                f"{speaker_key(memory)!r} after {speaker_key(before)!r}"
            )


def _has_same_speaker(before: Memory, memory: Memory) -> bool:
    speaker = speaker_key(memory)
    is_same = speaker is not None and speaker == speaker_key(before)
    return is_same and memory.document_id != before.document_id


def _check_row(row: SearchCandidate, view: SearchView, words: Sequence[str]) -> None:
    assert len(row.counts) == len(words), "a count for each word of the query"
    assert all(often >= 0 for often in row.counts), "counts"
    assert all(texts or not often for often, texts in zip(row.counts, view.having, strict=True)), (
        "a word that is seen is among those that are counted"
    )
    assert row.similarity is None or -1 <= row.similarity <= 1, "a cosine is from -1 to 1"


def _check_text(row: SearchCandidate, memory: Memory, words: Sequence[str]) -> None:
    """The text that was read matches its row."""
    own = terms_of(memory)
    assert row.counts == tuple(own.count(word) for word in words), memory.content
    assert row.size == len(own), memory.content


# Records, the proxy and the suite.

T = TypeVar("T")
OpenStores = Callable[[], Stores]
NOON: Final = datetime(2026, 1, 1, 12, tzinfo=UTC)
"""The time of all records of these suites, unless a test sets another."""
NASTY: Final = (
    *("g1", "g10", "G1", "a.b", "a/b", "a:b", "%", "_", "a%2Fb", "'", '"', "a'b", 'a"b', "[]"),
    *('["x"]', "null", "None", "\\", "a\nb", " ", "g1 ", "Ä", "A\u0308", "日本", "😀", "*"),
    *("g1 OR g2", "a|b", "a\x1fb", "{}", "ｇ1", "0", "-1"),
)
"""Ids that a careless store confuses."""
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
"""Different tenants and groups that a careless store confuses."""
ACME: Final = MemoryScope(tenant="t", group_id="acme", user_id="ann", session_id="s1")
WORKERS: Final = 8
_numbers = itertools.count(1)


def entry(content: str = "a text", scope: MemoryScope = ACME, **more: Any) -> Entry:
    """Return an entry to store."""
    fields: dict[str, Any] = {
        "id": f"{next(_numbers):032x}",
        "scope": scope,
        "content": content,
        "created_at": NOON,
        "provenance": Provenance(Origin("agent", "helper")),
        **more,
    }
    return Entry(**fields)


def memory(content: str = "a text", scope: MemoryScope = ACME, **more: Any) -> Memory:
    """Return a memory to store: the only chunk of its document."""
    number = next(_numbers)
    agent = more.pop("agent", None)
    fields: dict[str, Any] = {
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
    return Memory(**fields)


def within(scope: MemoryScope = ACME, **conditions: Any) -> Select:
    """Return a selection of one tenant and group."""
    return Select.within(scope, **conditions)


def later(**amount: float) -> datetime:
    """Return a moment after noon."""
    return NOON + timedelta(**amount)


def append_mark(record: Any) -> Any:
    """Return a record with another content."""
    return replace(record, content=f"{record.content}!")


class StoreProxy:
    """Calls a store in one mode, and checks every result: `await store.find(...)`.

    Blocking methods run in a thread without an event loop; "inline" calls them directly, for
    workers that run in a thread already.
    """

    def __init__(self, target: Any, mode: Mode | Literal["inline"], deadline: float) -> None:
        self.target, self.mode, self.deadline = target, mode, deadline

    def __getattr__(self, name: str) -> Any:
        return partial(self._ask, name)

    async def find(self, select: Select, **more: Any) -> Page[Any]:
        page: Page[Any] = await self._ask("find", select, **more)
        _check_page(page, select, more)
        return page

    async def by_words(self, words: list[str], select: Select, *, limit: int) -> list[Hit]:
        hits: list[Hit] = await self._ask("by_words", words, select, limit=limit)
        _check_hits(hits, select, limit)
        assert all(hit.value > 0 for hit in hits), "what has one of the words scores above 0"
        assert len({hit.whole for hit in hits}) <= 1, "one query has one score of all its words"
        return hits

    async def by_vector(self, vector: list[float], select: Select, **more: Any) -> list[Hit]:
        hits: list[Hit] = await self._ask("by_vector", vector, select, **more)
        _check_hits(hits, select, more["limit"])
        assert all(-1 <= hit.value <= 1 for hit in hits), "a cosine is from -1 to 1"
        return hits

    async def search(self, query: Query, select: Select, choose: Chooser) -> SearchResult:
        answers: Answers = []

        def noted(view: SearchView) -> Sequence[int]:
            answers.append((view, [*choose(view)]))
            return answers[-1][1]

        result: SearchResult = await self._ask("search", query, select, noted)
        _check_records([*result.memories.values()], select)
        check_search(result, query, answers)
        return result

    async def spaces(self) -> dict[Space, int]:
        counted: dict[Space, int] = await self._ask("spaces")
        assert await self._ask("known_spaces") == [*counted], "both name the same, in this order"
        return counted

    async def transaction(
        self, work: Callable[[Transaction], Awaitable[T]], *, writes: bool = True
    ) -> T:
        """Run a unit of work about the group of these suites in the store itself."""
        runner = ASYNC if self.mode == "native" else BLOCKING
        operation = partial(
            run_in, self.target.store, runner, work, Select.within(ACME), writes=writes
        )
        if self.mode == "native":
            return await operation()
        return await run_in_thread(lambda: run_blocking(operation()), self.deadline)

    async def ids(self, select: Select, **more: Any) -> list[str]:
        """Return the ids of a selection, in the order of the store."""
        return [record.id for record in (await self.find(select, **more)).items]

    async def texts(self, select: Select, **more: Any) -> list[str]:
        """Return the contents of a selection, in the order of the store."""
        return [record.content for record in (await self.find(select, **more)).items]

    async def find_one(self, select: Select) -> Any:
        """Return the only record that is found."""
        (record,) = (await self.find(select)).items
        return record

    async def _ask(self, name: str, *args: Any, **kwargs: Any) -> Any:
        if self.mode == "native":
            return await getattr(self.target, f"a{name}")(*args, **kwargs)
        half = getattr(self.target, name)
        if self.mode == "inline":
            return half(*args, **kwargs)
        return await run_in_thread(partial(half, *args, **kwargs), self.deadline)


def _check_page(page: Page[Any], select: Select, options: Mapping[str, Any]) -> None:
    """Each record once, of this tenant and these groups, at most `limit`."""
    _check_records(page.items, select)
    limit, left = options.get("limit"), page.total - page.newer
    assert left >= 0, "more stand before a page than there are"
    assert len(page.items) == (left if limit is None else min(left, limit)), "a wrong total"
    assert options.get("after") or page.newer == min(options.get("offset", 0), page.total)
    assert len(page.marks) == len(set(page.marks)) == len(page.items), "a mark for each"


def _check_hits(hits: list[Hit], select: Select, limit: int) -> None:
    """As for a page; best first."""
    _check_records([hit.memory for hit in hits], select)
    values = [hit.value for hit in hits]
    assert values == sorted(values, reverse=True), "the best comes first"
    assert len(hits) <= limit, "no more than the limit"


def _check_records(records: list[Any], select: Select) -> None:
    ids = [(record.scope.group_id, record.id) for record in records]
    assert len(set(ids)) == len(ids), "each record comes once"
    for record in records:
        assert record.scope.tenant == select.tenant, "a record of another tenant"
        assert select.groups is None or record.scope.group_id in select.groups, "of another group"


class StoreSuite(ConformanceSuite):
    """The base of the suites of stores: derive a class, override the fixture `open_stores`."""

    persistent: ClassVar[bool] = True
    """Whether stores that are opened again have their records; otherwise they are empty."""
    tier: ClassVar[Literal["quarantine", "working", "long_term"]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Refuse a class that tests two tiers."""
        tiers = sorted({vars(base)["tier"] for base in cls.__mro__ if "tier" in vars(base)})
        if len(tiers) > 1:
            raise TypeError(f"{cls.__name__}: one class for each tier, not one for {tiers}")
        super().__init_subclass__(**kwargs)

    @pytest.fixture
    def open_stores(self) -> OpenStores:
        """Override: return a function that opens stores on the same data, empty at first."""
        raise NotImplementedError(
            f"{type(self).__name__} must override the fixture `open_stores`: a function that opens"
            " the three stores on the same data, which is empty at first"
        )

    @pytest_asyncio.fixture(loop_scope="function")
    async def opened(self, open_stores: OpenStores) -> AsyncIterator[OpenStore]:
        """Return a function that opens the store of this suite; all are closed at the end.

        A store that was opened in the event loop of a test is closed in it as well.
        """
        stores: list[Any] = []

        def open_one() -> Any:
            stores.append(getattr(open_stores(), self.tier))
            return stores[-1]

        yield open_one
        for store in stores:
            if "native" in self.modes:
                await store.aclose()
            await asyncio.to_thread(store.close)

    @pytest.fixture
    def target(self, opened: OpenStore) -> Any:
        """Return the store of this suite itself."""
        return opened()

    @pytest.fixture
    def store(self, target: Any, mode: Mode) -> StoreProxy:
        """Return the store of this suite in one mode."""
        return StoreProxy(target, mode, self.deadline)

    def make(self, content: str = "a text", scope: MemoryScope = ACME, **more: Any) -> Any:
        """Return a record of this tier."""
        kind: Callable[..., Any] = memory if self.tier == "long_term" else entry
        return kind(content, scope, **more)

    async def keep(self, store: StoreProxy, record: Any) -> Any:
        """Store a record."""
        if self.tier == "quarantine":
            return await store.add(record)
        if self.tier == "working":
            await store.push(record, keep=1000)
        else:
            await store.add([record])
        return record

    async def keep_all(self, store: StoreProxy, *contents: str) -> list[Any]:
        """Store a record for each content, in order."""
        return [await self.keep(store, self.make(content)) for content in contents]

    def workers(self, store: StoreProxy, opened: OpenStore) -> list[StoreProxy]:
        """Return workers in one mode; half of them open a persistent store themselves."""
        mode: Mode | Literal["inline"] = "native" if store.mode == "native" else "inline"
        own = [self.persistent and me % 2 == 1 for me in range(WORKERS)]
        return [
            StoreProxy(opened() if is_own else store.target, mode, self.deadline) for is_own in own
        ]

    async def run_workers(
        self,
        workers: list[StoreProxy],
        work: Callable[[int, StoreProxy], Coroutine[Any, Any, None]],
    ) -> None:
        """Start workers at the same moment, as threads or as tasks by their mode."""
        numbered = dict(enumerate(workers))
        threads = {me: worker for me, worker in numbered.items() if worker.mode == "inline"}
        tasks = {me: worker for me, worker in numbered.items() if worker.mode != "inline"}
        await run_together(threads, tasks, work, self.deadline * 2)


OpenStore = Callable[[], Any]


# Documents.

FLAT: Final = Space("flat", 3)
OTHER: Final = Space("other/0'%", 2)


def document(*texts: str, **more: Any) -> list[Memory]:
    """Return the chunks of one document."""
    first = memory(texts[0], **more)
    content_hash = "hash of " + " ".join(texts)
    return [
        replace(
            memory(text, **more),
            document_id=first.document_id,
            chunk_index=index,
            chunk_count=len(texts),
            content_hash=content_hash,
        )
        for index, text in enumerate(texts)
    ]


# Queries, and results as texts.


def make_query(
    text: str = "", vector: Vector | None = None, space: Space | None = FLAT, **more: Any
) -> Query:
    """Return a query for the words of a text and for a vector."""
    words = tuple(dict.fromkeys(words_of(text)))
    return Query(words=words, vector=vector, space=space if vector else None, **more)


def choose_all(view: SearchView) -> Sequence[int]:
    """Choose all rows."""
    return range(len(view.candidates))


def choose_none(view: SearchView) -> Sequence[int]:
    """Choose no row."""
    del view
    return []


def texts(result: SearchResult) -> list[str]:
    """Return the texts that a search read, sorted."""
    return sorted(record.content for record in result.memories.values())


def runs(result: SearchResult) -> list[list[str]]:
    """Return the texts that follow each other, sorted, as threads have no order."""
    groups: list[list[str]] = []
    for position, row in enumerate(result.view.candidates):
        if row.follows and groups:
            groups[-1].append(result.memories[position].content)
        else:
            groups.append([result.memories[position].content])
    return sorted(groups)


def rows_by_text(result: SearchResult) -> dict[str, SearchCandidate]:
    """Return the row of each text that was read."""
    return {
        record.content: result.view.candidates[position]
        for position, record in result.memories.items()
    }

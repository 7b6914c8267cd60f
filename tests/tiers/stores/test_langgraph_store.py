"""The tiers in a LangGraph store: what is theirs alone."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from dataclasses import replace

import pytest
from langgraph.store.base import BaseStore, InvalidNamespaceError, PutOp
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore
from langgraph.store.sqlite.aio import AsyncSqliteStore

from memoryware import TieredMemory
from memoryware.errors import SettingError, StoreNewer, StoreUnavailable
from memoryware.scope import MemoryScope
from memoryware.testing._store import (
    NEIGHBOURS,
    NOON,
    append_mark,
    document,
    entry,
    later,
    memory,
    within,
)
from memoryware.tiers.stores.langgraph import label, langgraph_stores
from memoryware.tiers.stores.protocol import Select, Space


class Spied(InMemoryStore):
    """Remembers what it was asked."""

    def __init__(self, **more):
        super().__init__(**more)
        self.batches = []

    def batch(self, ops):
        self.batches.append(list(ops))
        return super().batch(self.batches[-1])


class Capped(InMemoryStore):
    """Returns 7 items at most, as a server might."""

    def batch(self, ops):
        capped = [
            one._replace(limit=min(one.limit, 7)) if hasattr(one, "limit") else one for one in ops
        ]
        return super().batch(capped)


class Timed(Spied):
    supports_ttl = True


# Places.


def test_a_group_has_a_namespace_that_can_be_read():
    store = InMemoryStore()
    stores = langgraph_stores(store)
    stores.working.push(entry(scope=MemoryScope(tenant="acme", group_id="a.b")), keep=5)
    stores.quarantine.add(entry(scope=MemoryScope(group_id="_"), key="k"))
    stores.long_term.add([memory()], [[1.0]], Space("m", 1))
    assert sorted(store.list_namespaces()) == [
        ("memoryware", "keys", "_", "%5F"),
        ("memoryware", "long_term", "t", "acme"),
        ("memoryware", "quarantine", "_", "%5F"),
        ("memoryware", "spaces"),
        ("memoryware", "working", "acme", "a%2Eb"),
    ]


def test_no_two_texts_share_a_name():
    texts = {one.group_id for one in NEIGHBOURS} | {one.tenant for one in NEIGHBOURS}
    texts |= {"_", "%", "%5F", "~", "\ud800", "\0", "%2E", "."}
    assert len({label(one) for one in texts}) == len(texts)
    assert all(label(one) and "." not in label(one) for one in texts)


@pytest.mark.parametrize("root", ["", "a.b", "langgraph"])
def test_a_root_that_cannot_be_is_refused(root):
    with pytest.raises(SettingError, match="root"):
        langgraph_stores(InMemoryStore(), root=root)


def test_two_roots_are_strangers():
    store = InMemoryStore()
    one, two = langgraph_stores(store).working, langgraph_stores(store, root="other").working
    one.push(entry(expires_at=NOON), keep=5)
    assert two.find(within()).total == two.purge(NOON) == 0
    assert one.purge(NOON) == 1


@pytest.mark.parametrize("text", ["a\0b", "half \ud800 a pair"])
def test_texts_that_databases_do_not_take_are_kept(tmp_path, text):
    with SqliteStore.from_conn_string(str(tmp_path / "store.db")) as store:
        store.setup()
        working = langgraph_stores(store).working
        one = entry(text, MemoryScope(group_id="g"), id=f"i{text}", metadata={"said": text})
        working.push(one, keep=5)
        assert working.find(within(one.scope)).items == [one]


# What the store is asked.


def test_a_push_is_one_batch_with_what_is_new_first():
    spied = Spied()
    working = langgraph_stores(spied).working
    for n in range(3):
        working.push(entry(f"{n}", expires_at=later(hours=n + 1)), keep=2, renew=True)
    first, *rest = [one for one in spied.batches[-1] if isinstance(one, PutOp)]
    assert first.value is not None
    assert [one.value is None for one in rest] == [False, True]


def test_a_document_is_written_before_what_it_ends():
    spied = Spied()
    long_term = langgraph_stores(spied).long_term
    old, new = document("one", "two"), document("three", "four", valid_from=later(days=1))
    long_term.add(old)
    long_term.add(new, replaces=[old[0].document_id])
    keys = [one.key for one in spied.batches[-1]]
    assert keys == [*(one.id for one in new), *(one.id for one in reversed(old))]


def test_the_store_embeds_nothing_by_itself():
    def fails(texts):
        raise AssertionError(texts)

    store = InMemoryStore(index={"dims": 2, "embed": fails, "fields": ["$"]})
    stores = langgraph_stores(store)
    stores.quarantine.add(entry())
    stores.working.push(entry(), keep=5)
    stores.long_term.add([memory()], [[1.0, 0.0]], Space("m", 2))
    assert stores.long_term.by_vector([1.0, 0.0], within(), space=Space("m", 2), limit=1)


def test_a_sweeper_gets_times_for_working_memory_only():
    spied = Timed()
    stores = langgraph_stores(spied, grace=60)
    stores.quarantine.add(entry())
    stores.working.push(entry(expires_at=later(minutes=5)), keep=5)
    stores.working.push(entry(), keep=5)
    stores.long_term.add([memory()])
    puts = [one for ops in spied.batches for one in ops if isinstance(one, PutOp)]
    assert [(one.namespace[1], one.ttl) for one in puts] == [
        ("quarantine", None),
        ("working", 6.0),
        ("working", None),
        ("long_term", None),
    ]


def test_a_store_with_a_cap_of_its_own_returns_everything():
    working = langgraph_stores(Capped()).working
    for n in range(30):
        working.push(entry(f"{n}"), keep=50)
    assert working.find(within()).total == 30
    assert working.delete(Select(tenant="t")) == 30


# Faults.


class Failing(InMemoryStore):
    failing = False

    def batch(self, ops):
        if self.failing:
            raise ConnectionError("gone")
        return super().batch(ops)

    async def abatch(self, ops):
        return self.batch(ops)


async def test_a_store_that_fails_is_said_so_and_can_be_used_again():
    store = Failing()
    quarantine = langgraph_stores(store).quarantine
    kept = quarantine.add(entry())
    store.failing = True
    for ask in (lambda: quarantine.find(within()), lambda: quarantine.edit(within(), append_mark)):
        with pytest.raises(StoreUnavailable, match="ConnectionError: gone"):
            ask()
    with pytest.raises(StoreUnavailable, match="ConnectionError: gone"):
        await quarantine.aadd(entry())
    store.failing = False
    assert quarantine.find(within()).items == [kept]


class Torn(InMemoryStore):
    """Stops in the middle of a batch, as a store without transactions may."""

    puts_left: int | None = None

    def batch(self, ops):
        ops = list(ops)
        if self.puts_left is None or not any(isinstance(op, PutOp) for op in ops):
            return super().batch(ops)
        first, self.puts_left = ops[: self.puts_left], None
        super().batch(first)
        raise ConnectionError("gone")


SHOP = MemoryScope(tenant="acme", group_id="shop", user_id="ann")
OLD, NEW = "Deliveries come on Tuesdays at nine.", "Invoices are paid within thirty days."
TORN_OPERATIONS = {
    "record": lambda memory, _: memory.record(NEW, SHOP, key="k"),
    "promote a text": lambda memory, _: memory.promote(NEW, SHOP, by="ann"),
    "promote an entry": lambda memory, ids: memory.promote(ids["entry"], SHOP, by="ann"),
    "supersede": lambda memory, _: memory.promote(NEW, SHOP, by="ann", subject="deliveries"),
    "revoke": lambda memory, ids: memory.revoke(ids["memory"], SHOP, by="ann"),
    "forget": lambda memory, ids: memory.forget(SHOP, ids=[ids["memory"]], by="ann"),
}


def prepared(store):
    """A memory with an entry and a promoted text, and their ids."""
    memory = TieredMemory(langgraph_stores(store))
    recorded = memory.record("Mrs Zander wants her parcels at the back door.", SHOP)
    promoted = memory.promote(OLD, SHOP, by="ann", subject="deliveries")
    return memory, {"entry": recorded.entry.id, "memory": promoted.ids[0]}


def contents_of(memory):
    """What a memory shows, and what it keeps in each tier."""
    long_term = memory.parts.stores.long_term.find(Select.within(SHOP)).items
    kept = [
        sorted((one.content, one.valid_to is None, one.revocation is None) for one in long_term),
        *(
            sorted((one.content, one.status) for one in tier.find(Select.within(SHOP)).items)
            for tier in (memory.parts.stores.quarantine, memory.parts.stores.working)
        ),
    ]
    return kept, [item.content for item in memory.retrieve("deliveries invoices parcels", SHOP)]


@pytest.mark.slow
@pytest.mark.parametrize("name", TORN_OPERATIONS)
def test_an_operation_that_stopped_half_way_can_be_repeated(name):
    """A batch that stops after any number of items loses nothing and leaves nothing twice."""
    memory, ids = prepared(InMemoryStore())
    before = contents_of(memory)[0][0]
    TORN_OPERATIONS[name](memory, ids)
    expected = contents_of(memory)
    stopped = 0
    for puts in range(20):
        store = Torn()
        memory, ids = prepared(store)
        store.puts_left = puts
        try:
            TORN_OPERATIONS[name](memory, ids)
        except StoreUnavailable:
            stopped += 1
        store.puts_left = None
        long_term = contents_of(memory)[0][0]
        assert {text for text, *_ in before} <= {text for text, *_ in long_term} or name == "forget"
        TORN_OPERATIONS[name](memory, ids)
        assert contents_of(memory) == expected, puts
    assert stopped == (0 if name == "record" else 20)  # quarantine takes an entry by itself then


def test_what_is_not_ours_is_said():
    store = InMemoryStore()
    quarantine = langgraph_stores(store).quarantine
    store.put(("memoryware", "quarantine", "t", "acme"), "x", {"text": "mine"})
    with pytest.raises(StoreUnavailable, match="another root"):
        quarantine.find(within())
    store.put(("memoryware", "quarantine", "t", "acme"), "x", {"form": 2})
    with pytest.raises(StoreNewer, match="update"):
        quarantine.find(within())


def test_a_key_whose_entry_never_came_is_free():
    store = InMemoryStore()
    store.put(("memoryware", "keys", "t", "acme"), "k", {"id": "f" * 32})
    quarantine = langgraph_stores(store).quarantine
    one = entry(key="k")
    assert quarantine.add(one) == one
    assert quarantine.add(replace(one, id="0" * 32)) == one


async def test_who_waits_for_too_long_is_told_so():
    store = InMemoryStore()
    slow, quick = (
        langgraph_stores(store).working,
        langgraph_stores(store, lock_timeout=0.05).working,
    )
    slow.push(entry(), keep=5)
    begun, done = threading.Event(), threading.Event()

    def change(record):
        begun.set()
        done.wait(10)
        return record

    thread = threading.Thread(target=slow.edit, args=(within(), change))
    thread.start()
    begun.wait(10)
    with pytest.raises(StoreUnavailable, match=r"0\.05 seconds"):
        quick.find(within())
    with pytest.raises(StoreUnavailable, match=r"0\.05 seconds"):
        await quick.apush(entry(), keep=5)
    done.set()
    thread.join()
    assert quick.find(within()).total == 1


async def test_a_call_that_is_cancelled_gives_its_turn_back():
    working = langgraph_stores(InMemoryStore()).working
    await working.apush(entry(), keep=5)
    begun, done = threading.Event(), threading.Event()

    def change(record):
        begun.set()
        done.wait(10)
        return append_mark(record)

    thread = threading.Thread(target=working.edit, args=(within(), change))
    thread.start()
    begun.wait(10)
    waiting = [asyncio.ensure_future(working.apush(entry(), keep=5)) for _ in range(3)]
    await asyncio.sleep(0.02)
    for one in waiting:
        one.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    done.set()
    await asyncio.to_thread(thread.join)
    assert (await working.afind(within())).total == 1


# Stores of several kinds.


async def test_a_store_that_is_async_only_works_through_both_doors(tmp_path):
    async with AsyncSqliteStore.from_conn_string(str(tmp_path / "store.db")) as store:
        await store.setup()
        stores = langgraph_stores(store)
        one = entry(expires_at=NOON)
        await stores.working.apush(one, keep=5)
        assert (await asyncio.to_thread(stores.working.find, within())).items == [one]
        assert await asyncio.to_thread(stores.working.purge, NOON) == 1
        with pytest.raises(StoreUnavailable, match="failed"):
            stores.working.find(within())  # a blocking call in its own loop would never end


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_a_whole_memory_lives_in_a_store(tmp_path, kind):
    text = "The orders are in the big table of the shop, one row for each of them."
    with SqliteStore.from_conn_string(str(tmp_path / "store.db")) as sqlite:
        sqlite.setup()
        store: BaseStore = InMemoryStore() if kind == "memory" else sqlite
        memory = TieredMemory(langgraph_stores(store))
        made = memory.record(text, "shop", {"confidence": 0.9})
        memory.promote(made.entry, by="ann")
        memory.record(
            "New orders come in at night and are counted in the morning.",
            "shop",
            {"confidence": 1.0},
        )
        again = TieredMemory(langgraph_stores(store))
        found = await again.aretrieve("orders", "shop")
        assert {one.source for one in found} == {"working", "long_term"}
        await again.arevoke(made.entry, "shop", by="bob")
        assert len(memory.retrieve("orders", "shop")) == 1
        assert memory.list("shop", tier="quarantine").total == 2


def test_the_module_does_not_need_langgraph_to_be_imported():
    script = (
        "import sys\nimport memoryware.tiers.stores.langgraph\n"
        "print({one.split('.')[0] for one in sys.modules} & {'langchain', 'langgraph', 'redis'})"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert run.stdout.strip() == "set()"


def test_a_namespace_of_ours_is_legal_everywhere():
    store = InMemoryStore()
    for scope in NEIGHBOURS:
        try:
            langgraph_stores(store).working.push(entry(scope=scope), keep=1)
        except InvalidNamespaceError as error:
            raise AssertionError(scope) from error

"""StoreBackend: files in a store, under exactly one namespace."""

from __future__ import annotations

import itertools
import logging
import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, TypedDict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.graph import START, StateGraph
from langgraph.store.base import BaseStore, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import AsyncSqliteStore, SqliteStore

from limits import limited
from memoryware import FileLimits, StoreBackend
from memoryware.backends.store import encoded
from memoryware.errors import BackendUnavailable, NamespaceError


def at(store, *namespace, **more):
    return StoreBackend(store=store, namespace=namespace, **more)


def paths(result):
    assert result.error is None, result.error
    rows = vars(result).get("entries") or vars(result).get("matches") or []
    return [row["path"] for row in rows]


def text(backend, path="/a.md"):
    (answer,) = backend.download_files([path])
    return answer.content and answer.content.decode()


class Spy(BaseStore):
    """Passes everything on to another store, counts searches, and may cut answers short."""

    def __init__(self, inner=None, cap=None):
        self.inner, self.cap, self.searches = inner or InMemoryStore(), cap, []

    def batch(self, ops):
        ops = [self._seen(op) for op in ops]
        return self.inner.batch(ops)

    async def abatch(self, ops):
        ops = [self._seen(op) for op in ops]
        return await self.inner.abatch(ops)

    def _seen(self, op):
        if isinstance(op, SearchOp):
            self.searches.append(op)
            if self.cap:
                return op._replace(limit=min(op.limit, self.cap))
        return op


# Which namespace.


@pytest.mark.parametrize("wrong", [(), ("",), ("a", ""), ("a", None), ("a", 5), "alice", None, 5])
def test_a_namespace_that_names_nobody_is_refused(wrong):
    with pytest.raises(NamespaceError):
        encoded(wrong)
    backend = StoreBackend(store=InMemoryStore(), namespace=lambda _: wrong)
    for call in (
        lambda: backend.read("/a.md"),
        lambda: backend.write("/a.md", "x"),
        lambda: backend.ls("/"),
        lambda: backend.download_files(["/a.md"]),
    ):
        with pytest.raises(ValueError, match=r"(?i)namespace"):
            call()


def test_there_is_no_namespace_by_default():
    for first in ((), (("a", "b"),), (lambda _: ("a",),)):
        with pytest.raises(NamespaceError, match="tenant"):
            StoreBackend(*first, store=InMemoryStore())
    with pytest.raises(NamespaceError, match="part ''"):
        at(InMemoryStore(), "memory", "")


LEGAL = ["ann", "a-b", "a_b", "a@b", "a+b", "a:b", "a~b", "42", "Aa"]
IDS = [
    *LEGAL,
    "jane.roe@example.org",
    "auth0|5f7c8ec7",
    "uid=jroe,ou=people",
    "山田太郎",
    "a.b",
    "A.b",
    "a%2Eb",
    "a%2eb",
    "%",
    "%25",
    "langgraph",
    "%6Canggraph",
    " ",
    "a ",
    "a\n",
    "a\0",
    "a/b",
    "a\\b",
    "é",
    "e\u0301",
    "\ud800",
    "..",
]


def test_legal_parts_stay_as_they_are():
    assert encoded(LEGAL) == tuple(LEGAL)
    assert encoded(("memory", "langgraph")) == ("memory", "langgraph")


@pytest.mark.parametrize("part", ["*", "a*", "users/*"])
def test_a_wildcard_in_a_namespace_is_refused(part):
    with pytest.raises(NamespaceError, match="stands for any"):
        at(InMemoryStore(), "memory", part)
    made = StoreBackend(store=InMemoryStore(), namespace=lambda _: ("memory", part))
    with pytest.raises(NamespaceError, match="stands for any"):
        made.read("/a.md")


class Counting(InMemoryStore):
    """A store that keeps what it was asked to change, batch by batch."""

    def __init__(self):
        super().__init__()
        self.batches = []

    def batch(self, ops):
        ops = list(ops)
        self.batches.append([one for one in ops if isinstance(one, PutOp)])
        return super().batch(ops)

    async def abatch(self, ops):
        return self.batch(ops)


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("count", [1, 3, 200])
async def test_a_folder_is_deleted_in_one_batch(native, count):
    store = Counting()
    backend = at(store, "memory")
    backend.write("/stays.md", "x")
    for number in range(count):
        backend.write(f"/f/{number}.md", "x")
    store.batches.clear()
    result = await backend.adelete("/f") if native else backend.delete("/f")

    assert result.error is None
    assert [len(one) for one in store.batches if one] == [count]
    assert [one["path"] for one in backend.glob("**").matches] == ["/stays.md"]


def test_no_two_ids_share_a_memory():
    store = InMemoryStore()
    for one in IDS:
        at(store, one).write("/a.md", one.encode("utf-8", "replace").decode())
        at(store, "memory", one).write("/a.md", ascii(one))

    assert [text(at(store, "memory", one)) for one in IDS] == [ascii(one) for one in IDS]
    assert len({encoded((one,)) for one in IDS}) == len(IDS)


_PLAIN = st.characters(exclude_characters="{}*", exclude_categories=["Cs"])  # braces are templates
PART = st.text(_PLAIN, min_size=1, max_size=6) | st.sampled_from(IDS)
NAMESPACE = st.lists(PART, min_size=1, max_size=3).map(tuple)


@pytest.mark.slow
@given(st.lists(NAMESPACE, min_size=2, max_size=5, unique=True))
@settings(max_examples=40, deadline=None)
def test_no_operation_sees_or_changes_the_files_of_another_namespace(namespaces):
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    in_sqlite = SqliteStore(connection)
    in_sqlite.setup()
    for store in (InMemoryStore(), in_sqlite):
        keeps_to_itself(store, namespaces)
    connection.close()


def keeps_to_itself(store, namespaces):
    backends = [at(store, *namespace) for namespace in namespaces]
    for n, backend in enumerate(backends):
        assert backend.write("/own/a.md", f"needle {n}").error is None
        assert backend.write(f"/only{n}.md", "x").error is None
    for n, backend in enumerate(backends):
        assert paths(backend.ls("/")) == [f"/only{n}.md", "/own/"]
        assert paths(backend.glob("*.md")) == [f"/only{n}.md", "/own/a.md"]
        assert [one["text"] for one in backend.grep("needle").matches] == [f"needle {n}"]
        other = f"/only{(n + 1) % len(backends)}.md"
        assert backend.read(other).error
        assert backend.edit(other, "x", "y").error
        assert backend.delete(other).error
        assert backend.download_files([other])[0].error == "file_not_found"
    assert backends[0].delete("/own").error is None
    assert [text(one, "/own/a.md") for one in backends[1:]] == [
        f"needle {n}" for n in range(1, len(backends))
    ]


@pytest.mark.parametrize("look", ["ls", "grep", "glob"])
def test_a_parent_namespace_never_sees_a_childs_files(look):
    store = InMemoryStore()
    at(store, "team").write("/team.md", "needle")
    at(store, "team", "ann").write("/private.md", "needle")
    team = at(store, "team")
    result = {
        "ls": lambda: team.ls("/"),
        "grep": lambda: team.grep("needle"),
        "glob": lambda: team.glob("**/*.md"),
    }[look]()

    assert paths(result) == ["/team.md"]


def test_a_store_that_finds_too_much_leaks_nothing():
    class Leaky(InMemoryStore):
        """Finds by the first letters of the joined name, as older stores did."""

        def batch(self, ops):
            made = []
            for op in ops:
                if isinstance(op, SearchOp):
                    joined = ".".join(op.namespace_prefix)
                    hits = [
                        item
                        for name, items in self._data.items()
                        for item in items.values()
                        if ".".join(name).startswith(joined)
                    ]
                    made.append(hits[op.offset : op.offset + op.limit])
                else:
                    found = super().batch([op])[0]
                    made.append(found or self._data[("acme-corp",)].get(getattr(op, "key", "")))
            return made

    store = Leaky()
    at(store, "acme-corp").write("/secret.md", "needle")
    acme = at(store, "acme")

    assert paths(acme.ls("/")) == []
    assert paths(acme.grep("needle")) == []
    assert acme.read("/secret.md").error == "File '/secret.md' not found"


# Where store and namespace come from.


@dataclass
class Context:
    user_id: str


def in_graph(work, *, store=None, context=None, **config):
    class State(TypedDict):
        done: bool

    told = []
    builder = StateGraph(State, context_schema=Context)
    builder.add_node("node", lambda _: told.append(work()))
    builder.add_edge(START, "node")
    builder.compile(store=store).invoke({"done": False}, config, context=context)
    return told[0]


def test_store_and_tenant_come_from_the_running_graph():
    store = InMemoryStore()
    backend = StoreBackend(namespace=lambda runtime: ("memory", runtime.context.user_id))
    for user in ("ann", "bob"):
        in_graph(lambda: backend.write("/a.md", "x"), store=store, context=Context(user))
        in_graph(lambda: backend.append("/a.md", "y"), store=store, context=Context(user))

    assert store.get(("memory", "ann"), "/a.md").value["content"] == "x\ny\n"
    assert store.get(("memory", "bob"), "/a.md").value["content"] == "x\ny\n"


def test_without_a_store_the_error_says_where_to_get_one():
    backend = StoreBackend(namespace=("memory", "ann"))

    with pytest.raises(BackendUnavailable, match="store="):
        backend.read("/a.md")
    with pytest.raises(RuntimeError, match="store="):
        in_graph(lambda: backend.read("/a.md"))


def test_a_namespace_of_the_runtime_needs_one():
    backend = StoreBackend(
        store=InMemoryStore(), namespace=lambda runtime: ("memory", runtime.context.user_id)
    )

    with pytest.raises(BackendUnavailable, match="outside a graph"):
        backend.read("/a.md")
    with pytest.raises(NamespaceError, match="context"):
        in_graph(lambda: backend.read("/a.md"))


def test_the_runtime_of_older_code_brings_store_context_and_state():
    store = InMemoryStore()
    runtime = SimpleNamespace(
        store=store, context=SimpleNamespace(org="acme"), state={"who": "ann"}, config={}
    )
    old_style = lambda ctx: (ctx.runtime.context.org, ctx.state["who"], ctx.context.org)
    StoreBackend(runtime, namespace=old_style).write("/a.md", "x")

    assert store.get(("acme", "ann", "acme"), "/a.md")


def test_the_older_default_namespace_needs_an_assistant():
    store = InMemoryStore()
    known = SimpleNamespace(store=store, config={"metadata": {"assistant_id": "helper"}})
    StoreBackend(known).write("/a.md", "x")

    assert store.get(("helper", "filesystem"), "/a.md")
    with pytest.raises(NamespaceError, match="share"):
        StoreBackend(SimpleNamespace(store=store, config={})).read("/a.md")


class AsyncOnly(BaseStore):
    """Like a store whose connection lives on the event loop."""

    def __init__(self):
        self.inner = InMemoryStore()

    def batch(self, ops):
        raise AssertionError("a blocking call to an async store")

    async def abatch(self, ops):
        return await self.inner.abatch(ops)


async def every_operation_works(backend):
    assert (await backend.awrite("/f/a.md", "needle")).error is None
    assert (await backend.aedit("/f/a.md", "needle", "needle!")).error is None
    assert (await backend.aappend("/f/a.md", "more")).error is None
    assert (await backend.aread("/f/a.md")).file_data["content"] == "needle!\nmore\n"
    assert paths(await backend.als("/")) == ["/f/"]
    assert paths(await backend.aglob("*.md")) == ["/f/a.md"]
    assert paths(await backend.agrep("needle")) == ["/f/a.md"]
    assert (await backend.aupload_files([("/b.md", b"b"), ("/c/d.md", b"d")]))[1].error is None
    loaded = await backend.adownload_files(["/b.md", "/missing.md", "/f"])
    assert [one.error for one in loaded] == [None, "file_not_found", "is_directory"]
    assert (await backend.adelete("/f")).error is None
    assert (await backend.aread("/f/a.md")).error


async def test_a_store_that_only_speaks_async_serves_every_operation():
    await every_operation_works(at(AsyncOnly(), "memory", "ann"))


async def test_an_async_sqlite_store_serves_every_operation(tmp_path):
    async with AsyncSqliteStore.from_conn_string(str(tmp_path / "store.db")) as store:
        await store.setup()
        await every_operation_works(at(store, "memory", "jane.roe@example.org"))


# Records of others.


def test_files_written_by_deepagents_are_ours_and_the_other_way_round():
    from deepagents.backends import StoreBackend as Theirs

    store = InMemoryStore()
    theirs = Theirs(store=store, namespace=lambda _: ("memory", "a+b@c"))
    ours = at(store, "memory", "a+b@c")
    theirs.write("/notes/a.md", "one\n")
    ours.append("/notes/a.md", "two")
    theirs.edit("/notes/a.md", "two", "three")
    ours.upload_files([("/pic.bin", b"\xff\0")])

    assert text(ours, "/notes/a.md") == "one\nthree\n"
    assert theirs.download_files(["/notes/a.md", "/pic.bin"])[1].content == b"\xff\0"
    assert paths(theirs.ls("/")) == paths(ours.ls("/")) == ["/notes/", "/pic.bin"]


def test_the_older_form_is_read_and_created_at_is_kept():
    store, moments = InMemoryStore(), itertools.count()
    clock = lambda: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=next(moments))
    backend = at(store, "memory", clock=clock)
    store.put(("memory",), "/a.md", {"content": ["one", "two"], "created_at": "2020-01-01"})

    assert text(backend) == "one\ntwo"
    backend.edit("/a.md", "two", "three")
    backend.upload_files([("/a.md", b"four")])
    assert store.get(("memory",), "/a.md").value == {
        "content": "four",
        "encoding": "utf-8",
        "created_at": "2020-01-01",
        "modified_at": "2026-01-01T00:00:01+00:00",
    }


def test_foreign_items_are_left_out_with_one_warning(caplog):
    store = InMemoryStore()
    backend = at(store, "memory", "foreign")
    for n in range(5):
        store.put(("memory", "foreign"), f"note-{n}", {"content": "a memory of something else"})
    store.put(("memory", "foreign"), "/odd.md", {"text": "not a file"})
    backend.write("/a.md", "a file")

    with caplog.at_level(logging.WARNING, "memoryware"):
        for _ in range(3):
            assert paths(backend.ls("/")) == ["/a.md"]
            assert paths(backend.glob("**")) == ["/a.md"]
            assert paths(backend.grep("a ")) == ["/a.md"]
    assert len(caplog.messages) == 1
    assert "note-0" in caplog.messages[0]
    assert "5 more" in caplog.messages[0]
    assert "/odd.md" in backend.read("/odd.md").error
    assert store.get(("memory", "foreign"), "note-3")


# Listing.


@pytest.mark.parametrize("count", [0, 9, 10, 11, 99, 100, 101, 150])
@pytest.mark.parametrize("page", [1, 10, 1000])
@pytest.mark.parametrize("cap", [None, 100])
def test_a_listing_is_complete_whatever_the_pages(count, page, cap):
    spy = Spy(cap=cap)
    for n in range(count):
        spy.inner.put(("m",), f"/{n:03d}.md", {"content": "x", "encoding": "utf-8"})
        spy.inner.put(("m", "child"), f"/{n:03d}.md", {"content": "x", "encoding": "utf-8"})
    backend = at(spy, "m", limits=limited(FileLimits, store_page=page))

    for _ in range(2):
        assert paths(backend.ls("/")) == [f"/{n:03d}.md" for n in range(count)]
    assert all(op.refresh_ttl is False for op in spy.searches)


def test_a_known_namespace_is_listed_in_one_search_and_a_look_for_more():
    spy = Spy()
    for n in range(3000):
        spy.inner.put(("m",), f"/{n}.md", {"content": "x", "encoding": "utf-8"})
    backend = at(spy, "m")
    backend.ls("/")
    spy.searches.clear()
    assert len(backend.ls("/").entries) == 3000

    assert [op.offset for op in spy.searches] == [0, 3000]


def test_a_missing_file_costs_no_listing_once_the_folders_are_known():
    spy = Spy()
    backend = at(spy, "m")
    backend.write("/folder/a.md", "x")
    spy.searches.clear()
    for n in range(50):
        assert backend.download_files(["/AGENTS.md"])[0].error == "file_not_found"
        assert backend.write(f"/new/{n}.md", "x").error is None
    assert spy.searches == []

    assert backend.download_files(["/folder", "/new"])[1].error == "is_directory"
    assert StoreBackend(store=spy, namespace=("m",)).write("/new", "x").error
    backend.delete("/new")
    assert backend.write("/new", "a file now").error is None


def test_a_search_that_writers_disturb_is_tried_again():
    class Disturbed(InMemoryStore):
        def __init__(self, *problems):
            super().__init__()
            self.problems = list(problems)

        def batch(self, ops):
            ops = list(ops)
            if isinstance(ops[0], SearchOp) and self.problems:
                raise self.problems.pop(0)
            return super().batch(ops)

    moved = RuntimeError("dictionary changed size during iteration")
    keys = RuntimeError("dictionary keys changed during iteration")
    store = Disturbed(moved, keys)
    store.put(("m",), "/a.md", {"content": "x", "encoding": "utf-8"})
    assert paths(at(store, "m").ls("/")) == ["/a.md"]

    for problems in ([RuntimeError("the connection is closed")], [moved] * 1000):
        with pytest.raises(RuntimeError):
            at(Disturbed(*problems), "m").ls("/")


def test_reading_does_not_make_items_live_longer():
    reads: list[Any] = []

    class Watched(InMemoryStore):
        def batch(self, ops):
            ops = list(ops)
            reads.extend(op for op in ops if hasattr(op, "refresh_ttl"))
            return super().batch(ops)

    backend = at(Watched(), "m")
    backend.write("/a.md", "x")
    backend.read("/a.md")
    backend.grep("x")
    assert reads
    assert not any(op.refresh_ttl for op in reads)

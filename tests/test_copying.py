"""`copy.deepcopy` and `pickle` of what an agent is made of."""

from __future__ import annotations

import copy
import pickle
from dataclasses import asdict, dataclass
from threading import Lock
from typing import Any

import pytest
from langchain.agents import create_agent
from langgraph.store.memory import InMemoryStore

from kit import ScriptedModel, ask, call, say, tool_messages
from memoryware import (
    CompositeBackend,
    ContextBuilder,
    DeepMemoryMiddleware,
    FilesystemBackend,
    FileToolsMiddleware,
    GuardedBackend,
    HistoryBackend,
    MemoryMiddleware,
    MemoryRetrievalNode,
    MemoryScope,
    StateBackend,
    StoreBackend,
    TieredMemory,
    TieredMemoryMiddleware,
)
from memoryware.backends import open_files
from memoryware.errors import NotPicklable
from memoryware.events import Counters
from memoryware.stores import open_stores

SHOP = MemoryScope(group_id="shop", user_id="ann")
FACT = "The orders of the shop are kept in PostgreSQL 17 on db2."


def by_pickle(value):
    return pickle.loads(pickle.dumps(value))


@dataclass
class Context:
    group_id: str = "shop"
    memory: Any = None


class Noting(MemoryMiddleware):
    """A middleware of a user, with another constructor and state of its own."""

    def __init__(self, folder, notes):
        super().__init__(backend=FilesystemBackend(root_dir=folder), sources=["/A.md"])
        self.notes, self.lock = notes, Lock()


@pytest.fixture
def memory(tmp_path):
    with TieredMemory.open(f"sqlite:///{tmp_path}/m.db") as opened:
        opened.promote(FACT, SHOP, by="ann")
        yield opened


def file_backends(root):
    disk = FilesystemBackend(root_dir=root)
    return [
        disk,
        CompositeBackend(default=StateBackend(), routes={"/disk/": disk}),
        HistoryBackend(disk),
        GuardedBackend(HistoryBackend(disk), ["/disk/A.md"]),
    ]


@pytest.mark.parametrize("again", [copy.deepcopy, copy.copy, by_pickle])
@pytest.mark.parametrize("which", range(4))
def test_a_backend_that_was_copied_works_on_the_same_files(tmp_path, which, again):
    backend = file_backends(tmp_path)[which]
    path = "/disk/A.md"
    assert backend.write(path, "before\n").error is None
    copied = again(backend)

    assert type(copied).__name__ == type(backend).__name__
    assert copied.read(path).file_data["content"] == "before\n"
    assert copied.edit(path, "before", "after").error is None
    assert backend.read(path).file_data["content"] == "after\n"
    if isinstance(copied, HistoryBackend):
        assert len(copied.log(path)) == 2


@pytest.mark.parametrize("again", [copy.deepcopy, copy.copy])
def test_a_copy_shares_a_store_of_this_process(again):
    backend = StoreBackend(store=InMemoryStore(), namespace=("memory",))
    again(CompositeBackend(default=backend, routes={})).write("/a.md", "text")

    assert backend.read("/a.md").file_data["content"] == "text"


def test_a_store_of_this_process_is_not_pickled_and_the_error_names_the_option():
    backend = StoreBackend(store=InMemoryStore(), namespace=("memory",))
    with pytest.raises(NotPicklable, match="option store="):
        pickle.dumps(backend)
    with pytest.raises(pickle.PicklingError, match=r"option backend=.*option store="):
        pickle.dumps(MemoryMiddleware(backend=backend, sources=["/A.md"]))
    counting = MemoryMiddleware(
        backend=StateBackend(), sources=["/A.md"], count_tokens=lambda text: len(text)
    )
    with pytest.raises(NotPicklable, match="count_tokens"):
        pickle.dumps(counting)


def test_a_store_in_a_file_is_opened_again(tmp_path, monkeypatch):
    from langgraph.store.sqlite import SqliteStore

    with SqliteStore.from_conn_string(str(tmp_path / "s.db")) as store:
        store.setup()
    monkeypatch.chdir(tmp_path)
    backend = open_files("store+sqlite:///s.db?namespace=memory/team")
    backend.write("/a.md", "text")
    data = pickle.dumps(backend)
    monkeypatch.chdir("/")

    assert pickle.loads(data).read("/a.md").file_data["content"] == "text"
    assert copy.deepcopy(backend).read("/a.md").file_data["content"] == "text"


@pytest.mark.parametrize("again", [copy.deepcopy, copy.copy, by_pickle])
@pytest.mark.parametrize(
    "make",
    [
        lambda disk: MemoryMiddleware(backend=disk, sources=["/A.md"]),
        lambda disk: MemoryMiddleware(backend=disk, sources="auto", start="/", imports=True),
        lambda disk: DeepMemoryMiddleware(disk, "A.md"),
        lambda disk: Noting(disk.cwd, ["mine"]),
    ],
)
def test_file_memory_that_was_copied_shows_and_saves(tmp_path, make, again):
    (tmp_path / "A.md").write_text("Prefers tea.")
    (tmp_path / "AGENTS.md").write_text("Prefers tea.")
    disk = FilesystemBackend(root_dir=tmp_path)
    original = make(disk)
    copied = again(original)
    model = ScriptedModel(call("edit_file", file_path="/A.md", old_string="tea", new_string="milk"))
    tools = again(FileToolsMiddleware(backend=disk))
    result = ask(create_agent(model, middleware=[copied, tools]))

    assert "Prefers tea." in model.system(0)
    assert [message.status for message in tool_messages(result)] == ["success"]
    assert (tmp_path / "A.md").read_text() == "Prefers milk."
    assert copied.name == original.name
    if isinstance(original, Noting) and again is copy.deepcopy:
        assert copied.lock is original.lock
        assert copied.notes == original.notes
        assert copied.notes is not original.notes


@pytest.mark.parametrize("again", [copy.deepcopy, copy.copy, by_pickle])
def test_a_tiered_memory_that_was_copied_recalls_and_keeps(memory, again):
    copied = again(memory)
    assert [item.content for item in copied.retrieve("where are the orders", SHOP)] == [FACT]
    entry = copied.record("The backup of the orders goes to the bucket cold-7.", SHOP).entry
    assert entry.content in [one.record.content for one in memory.list(SHOP).items]

    model = ScriptedModel(say("ok"))
    middleware = again(TieredMemoryMiddleware(memory))
    agent = create_agent(model, middleware=[middleware], context_schema=Context)
    agent.invoke({"messages": "where are the orders?"}, context=Context())
    assert FACT in str(model.requests[-1])

    node = again(MemoryRetrievalNode(memory, scope=SHOP))
    assert FACT in node.invoke({"topic": "where are the orders"})["history_context"]
    built = again(ContextBuilder(memory)).build("where are the orders", SHOP)
    assert FACT in str(built)


def test_a_context_that_holds_a_memory_can_be_turned_into_a_dict(memory):
    assert asdict(Context(memory=memory))["memory"] is memory
    assert copy.deepcopy(memory.parts.stores).long_term is memory.parts.stores.long_term


def test_a_memory_of_this_process_is_shared_and_not_pickled():
    memory = TieredMemory.open("memory://")
    memory.promote(FACT, SHOP, by="ann")
    copied = copy.deepcopy(MemoryRetrievalNode(memory, scope=SHOP)).memory
    assert copied is memory
    with pytest.raises(NotPicklable, match="sqlite:////"):
        pickle.dumps(memory)


def test_stores_that_were_opened_by_their_address_are_pickled(memory, tmp_path):
    stores = open_stores(f"sqlite:///{tmp_path}/m.db")
    again = by_pickle(TieredMemory(stores))
    assert [item.content for item in again.retrieve("orders", SHOP)] == [FACT]
    with pytest.raises(NotPicklable, match="option clock="):
        pickle.dumps(TieredMemory(stores, clock=lambda: None))


def test_counters_can_be_copied():
    counters = Counters()
    assert copy.deepcopy(counters) is counters
    counters({"event": "written"})
    assert by_pickle(counters).counts() == counters.counts() == {"written": 1}


def test_a_relative_address_is_pickled_as_a_full_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with TieredMemory.open("sqlite:///m.db?durability=normal") as memory:
        memory.promote(FACT, SHOP, by="ann")
        data = pickle.dumps(memory)
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    with pickle.loads(data) as again:
        assert [item.content for item in again.retrieve("orders", SHOP)] == [FACT]
    assert not list((tmp_path / "other").iterdir())

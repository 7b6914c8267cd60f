"""The history of a store whose namespace comes from the runtime, read by a script."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest
from langchain.agents import create_agent
from langgraph.store.memory import InMemoryStore

from kit import ScriptedModel, call
from memoryware import (
    FileToolsMiddleware,
    HistoryBackend,
    MemoryMiddleware,
    MemoryScope,
    StoreBackend,
)
from memoryware.errors import FileError, SettingError

ANN, BOB = MemoryScope(user_id="ann"), MemoryScope(user_id="bob")


@dataclass
class Context:
    user_id: str


def by_context(runtime):
    return ("memory", runtime.context.user_id)


def by_config(runtime):
    return ("memory", runtime.config["configurable"]["user_id"])


def by_server(runtime):
    return ("memory", runtime.server_info.user.identity)


def written(namespace, store):
    """A history in which agents of two users have written."""
    backend = HistoryBackend(StoreBackend(store=store, namespace=namespace))
    for user in ("ann", "bob"):
        agent = create_agent(
            ScriptedModel(call("write_file", file_path="/AGENTS.md", content=f"- of {user}\n")),
            middleware=[
                MemoryMiddleware(backend=backend, sources=["/AGENTS.md"]),
                FileToolsMiddleware(backend=backend),
            ],
            context_schema=Context,
        )
        config = {"configurable": {"user_id": user}}
        agent.invoke({"messages": "x"}, config, context=Context(user))
    return backend


@pytest.mark.parametrize("namespace", [by_context, by_config])
def test_a_script_reads_and_undoes_what_the_agent_of_one_user_wrote(namespace):
    backend = written(namespace, InMemoryStore())
    assert backend.files(scope=ANN) == ["/AGENTS.md"]
    (version,) = backend.log("/AGENTS.md", scope=ANN)
    assert version.actor.user == "ann"
    assert backend.show("/AGENTS.md", 1, scope=BOB) == "- of bob\n"
    assert "+- of ann" in backend.diff("/AGENTS.md", None, 1, scope=ANN)
    assert backend.undo_target("/AGENTS.md", scope=ANN) is None

    backend.undo("/AGENTS.md", scope=ANN)
    assert [one.kind for one in backend.log("/AGENTS.md", scope=ANN)] == ["undo", "write"]
    assert len(backend.log("/AGENTS.md", scope=BOB)) == 1
    backend.undo("/AGENTS.md", to=1, namespace=("memory", "ann"))
    assert backend.show("/AGENTS.md", 3, namespace=("memory", "ann")) == "- of ann\n"
    assert backend.prune(scope=ANN) == 0


def test_the_async_door_does_the_same():
    backend = written(by_context, InMemoryStore())

    async def look():
        (version,) = await backend.alog("/AGENTS.md", scope=ANN)
        await backend.aundo("/AGENTS.md", scope=ANN)
        return await backend.ashow("/AGENTS.md", version, namespace=("memory", "ann"))

    assert asyncio.run(look()) == "- of ann\n"


def test_a_namespace_by_the_user_of_a_server():
    store = InMemoryStore()
    backend = HistoryBackend(StoreBackend(store=store, namespace=by_server))
    other = HistoryBackend(StoreBackend(store=store, namespace=("memory", "ann")))
    other.write("/AGENTS.md", "- of ann\n")
    assert backend.show("/AGENTS.md", 1, scope=ANN) == "- of ann\n"


def test_without_a_scope_the_error_says_what_to_give():
    backend = written(by_context, InMemoryStore())
    with pytest.raises(FileError, match="scope= or namespace="):
        backend.log("/AGENTS.md")
    with pytest.raises(FileError, match="every part must be"):
        backend.log("/AGENTS.md", scope=MemoryScope(group_id="shop"))


@pytest.mark.parametrize(
    "wrong",
    [
        {"scope": "ann"},
        {"namespace": "memory"},
        {"scope": ANN, "namespace": ("memory", "ann")},
    ],
)
def test_another_kind_of_scope_or_namespace_is_refused(wrong):
    backend = written(by_context, InMemoryStore())
    with pytest.raises(SettingError):
        backend.log("/AGENTS.md", **wrong)


def test_what_was_said_by_hand_ends_with_the_call():
    backend = written(by_context, InMemoryStore())
    backend.log("/AGENTS.md", scope=ANN)
    assert "outside a graph" in backend.read("/AGENTS.md").error

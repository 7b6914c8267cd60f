"""Several people in one thread: each is shown the own memory and nobody else's."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command

from kit import ScriptedModel, call, say, tool_messages
from memoryware import FileToolsMiddleware, MemoryMiddleware, Source, StoreBackend

PEOPLE = ("ann", "bob", "cid")
SECRETS = {name: f"{name} keeps a canary called {name}-canary." for name in PEOPLE}
THREAD = {"configurable": {"thread_id": "group"}}


@dataclass
class Caller:
    user_id: str


def of_caller(runtime: Any) -> StoreBackend:
    """The memory of whoever speaks."""
    return StoreBackend(namespace=("memory", runtime.context.user_id))


@pytest.fixture
def store():
    store = InMemoryStore()
    for name, text in SECRETS.items():
        StoreBackend(store=store, namespace=("memory", name)).write("/me.md", f"- {text}\n")
    return store


def group(model, store, *, saver=None, extra=(), **options):
    memory = MemoryMiddleware(
        backend=of_caller, sources=[Source("/me.md", owner="user")], **options
    )
    tools = FileToolsMiddleware(backend=of_caller)
    return create_agent(
        model,
        middleware=[memory, tools, *extra],
        checkpointer=saver or InMemorySaver(),
        store=store,
        context_schema=Caller,
    )


def speak(agent, name, text="hello"):
    return agent.invoke({"messages": [("user", text)]}, THREAD, context=Caller(name))


def only(prompt: str) -> str:
    """The one person whose memory stands in a prompt."""
    (name,) = [one for one in PEOPLE if f"{one}-canary" in prompt]
    return name


@pytest.mark.parametrize("refresh", ["run", "call", "thread"])
def test_each_turn_shows_the_memory_of_its_caller(store, refresh):
    model = ScriptedModel()
    agent = group(model, store, refresh=refresh)
    turns = ["ann", "bob", "ann", "cid", "cid", "bob"]
    for name in turns:
        speak(agent, name)
    assert [only(model.system(n)) for n in range(len(turns))] == turns


@pytest.mark.parametrize("refresh", ["run", "call", "thread"])
async def test_each_turn_shows_the_memory_of_its_caller_in_async_runs(store, refresh):
    model = ScriptedModel()
    agent = group(model, store, refresh=refresh)
    turns = ["ann", "bob", "bob", "ann"]
    for name in turns:
        await agent.ainvoke({"messages": [("user", "hi")]}, THREAD, context=Caller(name))
    assert [only(model.system(n)) for n in range(len(turns))] == turns


@pytest.mark.parametrize("refresh", ["run", "call", "thread"])
@pytest.mark.parametrize("again", [False, True])
def test_who_resumes_a_run_of_another_is_shown_the_own_memory(store, refresh, again):
    model = ScriptedModel(call("write_file", file_path="/x.txt", content="x"), say(), say())
    saver = InMemorySaver()
    stop = [HumanInTheLoopMiddleware(interrupt_on={"write_file": True})]
    agent = group(model, store, saver=saver, extra=stop, refresh=refresh)
    speak(agent, "ann")
    if again:
        agent = group(model, store, saver=saver, extra=stop, refresh=refresh)
    decision = Command(resume={"decisions": [{"type": "approve"}]})
    agent.invoke(decision, THREAD, context=Caller("bob"))
    assert only(model.system(0)) == "ann"
    assert only(model.system(1)) == "bob"


def test_a_note_goes_to_the_memory_of_who_spoke(store):
    model = ScriptedModel(
        call("append_file", file_path="/me.md", text="- Tea."),
        say(),
        call("append_file", file_path="/me.md", text="- Milk."),
        say(),
    )
    agent = group(model, store)
    speak(agent, "ann")
    speak(agent, "bob")
    texts = {
        name: StoreBackend(store=store, namespace=("memory", name))
        .download_files(["/me.md"])[0]
        .content.decode()
        for name in PEOPLE
    }
    assert texts["ann"] == f"- {SECRETS['ann']}\n- Tea.\n"
    assert texts["bob"] == f"- {SECRETS['bob']}\n- Milk.\n"
    assert texts["cid"] == f"- {SECRETS['cid']}\n"


@pytest.mark.parametrize("own", [True, False])
def test_a_change_that_waits_is_never_made_in_the_memory_of_another(store, own):
    """Who resumes with a context of their own does not get the note of who asked."""
    for name in PEOPLE:  # equal texts, so that nothing but the caller tells them apart
        StoreBackend(store=store, namespace=("memory", name)).write("/me.md", "- equal\n")
    model = ScriptedModel(call("append_file", file_path="/me.md", text="- Ann only."), say())
    stop = [] if own else [HumanInTheLoopMiddleware(interrupt_on={"append_file": True})]
    memory = MemoryMiddleware(
        backend=of_caller, sources=[Source("/me.md", writable="ask" if own else True)]
    )
    agent = create_agent(
        model,
        middleware=[memory, FileToolsMiddleware(backend=of_caller), *stop],
        checkpointer=InMemorySaver(),
        store=store,
        context_schema=Caller,
    )
    assert speak(agent, "ann")["__interrupt__"]
    decision = Command(resume={"decisions": [{"type": "approve"}]})
    (message,) = tool_messages(agent.invoke(decision, THREAD, context=Caller("bob")))
    assert message.status == "error"
    assert "somebody else" in message.text
    for name in PEOPLE:
        backend = StoreBackend(store=store, namespace=("memory", name))
        assert backend.read("/me.md").file_data["content"] == "- equal\n"


def test_the_thread_itself_holds_no_memory_of_anybody(store):
    model = ScriptedModel()
    saver = InMemorySaver()
    agent = group(model, store, saver=saver)
    for name in PEOPLE:
        speak(agent, name)
    state = agent.get_state(THREAD)
    kept = repr(state) + repr(list(saver.list(THREAD)))
    assert "canary" not in kept


@pytest.mark.slow
def test_many_people_at_once_on_one_agent_are_never_mixed_up(store):
    seen: list[tuple[str, str]] = []

    def turn(name):
        config = {"configurable": {"thread_id": f"t-{name}"}}
        for _ in range(5):
            shared.invoke({"messages": [("user", name)]}, config, context=Caller(name))

    class Watching(ScriptedModel):
        def _generate(self, messages, *args, **kwargs):
            said = [one.text for one in messages if one.type == "human"][-1]
            seen.append((said, only(messages[0].text)))
            return super()._generate(messages, *args, **kwargs)

    shared = group(Watching(), store)
    with ThreadPoolExecutor(12) as pool:
        list(pool.map(turn, PEOPLE * 4))
    assert len(seen) == 60
    assert all(who == whose for who, whose in seen)


@dataclass
class Person:
    person: object


@pytest.mark.parametrize("refresh", ["run", "thread"])
def test_a_context_of_any_form_keeps_people_apart(store, refresh):
    """Nobody but the application knows that `person` is what its memory goes by."""
    model = ScriptedModel()
    memory = MemoryMiddleware(
        backend=lambda runtime: StoreBackend(namespace=("memory", str(runtime.context.person))),
        sources=["/me.md"],
        refresh=refresh,
    )
    agent = create_agent(
        model,
        middleware=[memory],
        checkpointer=InMemorySaver(),
        store=store,
        context_schema=Person,
    )
    for name in ("ann", "bob", "ann"):
        agent.invoke({"messages": [("user", "hi")]}, THREAD, context=Person(name))
    assert [only(model.system(n)) for n in range(3)] == ["ann", "bob", "ann"]

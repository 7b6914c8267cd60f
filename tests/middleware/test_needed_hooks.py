"""Only hooks that are needed are steps of an agent, and everybody else sees the class as it is."""

from __future__ import annotations

import asyncio
import copy
import inspect
import pickle

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ModelRetryMiddleware
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from kit import ScriptedModel, aask, ask, call, say, tool_messages
from memoryware import (
    FilesystemBackend,
    FileToolsMiddleware,
    MemoryMiddleware,
    Source,
    TieredMemory,
    TieredMemoryMiddleware,
)
from memoryware.middleware._agent_state import CallNotes, PendingWrite
from notes import Notes

FILES = {"/A.md": "- tea\n"}


def steps(agent):
    return {name.rpartition(".")[2] for name in agent.get_graph().nodes if "." in name}


def watches_tools(agent):
    """Whether calls of tools go through a hook."""
    return agent.get_graph().nodes["tools"].data._wrap_tool_call is not None


def a_memory(kind=MemoryMiddleware, **options):
    return kind(**{"backend": Notes(dict(FILES)), "sources": ["/A.md"], **options})


@pytest.mark.parametrize("refresh", ["run", "call", "thread"])
def test_memory_adds_no_step_to_an_agent(refresh):
    memory = a_memory(refresh=refresh)
    model = ScriptedModel()
    agent = create_agent(model, middleware=[memory], checkpointer=InMemorySaver())
    assert steps(agent) == set()
    assert not watches_tools(agent)
    for number in range(2):
        ask(agent, thread="t")
        assert "/A.md\n- tea" in model.system(number)
    saved = list(agent.checkpointer.list(None))
    bare = create_agent(ScriptedModel(), checkpointer=InMemorySaver())
    for _ in range(2):
        ask(bare, thread="t")
    assert len(saved) == len(list(bare.checkpointer.list(None)))


def test_each_run_loads_once_and_at_its_first_model_call():
    notes = Notes(dict(FILES))
    memory = a_memory(backend=notes)
    model = ScriptedModel(call("look"), say(), call("look"), say())

    def look() -> str:
        """Look."""
        notes.files["/A.md"] = "- coffee\n"
        return "looked"

    agent = create_agent(model, tools=[look], middleware=[memory], checkpointer=InMemorySaver())
    ask(agent, thread="t")
    assert ["- tea" in model.system(number) for number in range(2)] == [True, True]
    ask(agent, thread="t")
    assert "- coffee" in model.system(2)


def test_an_overridden_hook_is_a_step():
    class Mine(MemoryMiddleware):
        def before_agent(self, state, runtime, config=None):
            return super().before_agent(state, runtime, config)

    class Watching(MemoryMiddleware):
        def wrap_tool_call(self, request, handler):
            return handler(request)

    assert steps(create_agent(ScriptedModel(), middleware=[a_memory(Mine)])) == {"before_agent"}
    assert watches_tools(create_agent(ScriptedModel(), middleware=[a_memory(Watching)]))


def test_where_model_calls_are_tried_again_a_file_that_cannot_be_read_ends_the_run(tmp_path):
    (tmp_path / "A.md").mkdir()
    memory = MemoryMiddleware(backend=FilesystemBackend(tmp_path), sources=["/A.md"])
    agent = create_agent(ScriptedModel(), middleware=[ModelRetryMiddleware(), memory])
    assert steps(agent) == {"before_agent"}
    with pytest.raises(ValueError, match="is_directory"):
        ask(agent)


class Tools(AgentMiddleware):
    """A middleware that may answer calls of tools that nobody sees."""

    def wrap_tool_call(self, request, handler):
        return handler(request)

    async def awrap_tool_call(self, request, handler):
        return await handler(request)


def write_file(path: str, text: str) -> str:
    """Write a file."""
    return f"{path}: {text}"


@pytest.mark.parametrize(
    ("tools", "more"),
    [
        ([write_file], []),
        ([], [Tools()]),
        ([], [FileToolsMiddleware(backend=Notes(dict(FILES)))]),
    ],
)
def test_calls_of_tools_are_watched_where_one_may_change_files(tools, more):
    memory = a_memory()
    assert watches_tools(create_agent(ScriptedModel(), tools, middleware=[memory, *more]))
    assert not watches_tools(create_agent(ScriptedModel(), middleware=[memory]))


@pytest.mark.parametrize("files", [True, False])
@pytest.mark.parametrize("door", ["blocking", "async"])
def test_the_own_tool_is_held_to_the_rules_with_and_without_the_hook(files, door):
    notes = Notes({"/A.md": "- tea\n", "/B.md": "- b\n"})
    sources = ["/A.md", Source("/B.md", writable=False)]
    memory = MemoryMiddleware(backend=notes, sources=sources)
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    edits = [
        ("/A.md", "- tea", secret),
        ("/B.md", "- b", "- new"),
        ("/A.md", "- tea", "- coffee"),
    ]
    turns = [
        call("edit_memory", file_path=path, old_string=old, new_string=new)
        for path, old, new in edits
    ]
    more = [Tools()] if files else []
    agent = create_agent(ScriptedModel(*turns, say()), middleware=[memory, *more])
    state = ask(agent, "Note it.") if door == "blocking" else asyncio.run(aask(agent, "Note it."))
    statuses = [one.status for one in tool_messages(state)]
    assert statuses == ["error", "error", "success"]
    assert notes.files == {"/A.md": "- coffee\n", "/B.md": "- b\n"}


def test_an_edited_call_of_the_own_tool_is_what_is_carried_out():
    """What a person approves and edits is judged, and nothing else is done."""
    notes = Notes(dict(FILES))
    memory = MemoryMiddleware(backend=notes, sources=[Source("/A.md", writable="ask")])
    turn = call("edit_memory", file_path="/A.md", old_string="- tea", new_string="- coffee")
    agent = create_agent(
        ScriptedModel(turn, say()), middleware=[memory], checkpointer=InMemorySaver()
    )
    config = {"configurable": {"thread_id": "t"}}
    state = agent.invoke({"messages": "Note it."}, config)
    (asked,) = state["__interrupt__"]
    (request,) = asked.value["action_requests"]
    assert request["args"] == turn.tool_calls[0]["args"]
    assert notes.files == FILES
    edited = {"name": "edit_memory", "args": {**request["args"], "new_string": "- water"}}
    answer = {"decisions": [{"type": "edit", "edited_action": edited}]}
    agent.invoke(Command(resume=answer), config)
    assert notes.files == {"/A.md": "- water\n"}


def test_everybody_else_sees_the_class_as_it_is():
    made = []

    class Mine(MemoryMiddleware):
        def __init_subclass__(cls, **kwargs):
            super().__init_subclass__(**kwargs)
            made.append(cls)

    for kind in (MemoryMiddleware, Mine):
        memory = a_memory(kind)
        assert steps(create_agent(ScriptedModel(), middleware=[memory])) == set()
        assert memory.__class__ is type(memory) is kind
        assert isinstance(memory, kind)
        assert not isinstance(memory, TieredMemoryMiddleware)
        assert memory.name == kind.__name__
        assert type(copy.copy(memory)) is type(copy.deepcopy(memory)) is kind
        assert memory.before_agent({}, None, {}) == {"memory_contents": FILES}
    assert made == []


def test_a_pickled_memory_is_of_its_class(tmp_path):
    memory = MemoryMiddleware(backend=FilesystemBackend(tmp_path), sources=["/A.md"])
    create_agent(ScriptedModel(), middleware=[memory])
    assert type(pickle.loads(pickle.dumps(memory))) is MemoryMiddleware


@pytest.mark.parametrize("kind", [MemoryMiddleware, TieredMemoryMiddleware])
@pytest.mark.parametrize("name", ["wrap_model_call", "wrap_tool_call"])
@pytest.mark.parametrize("prefix", ["", "a"])
def test_signatures_at_hand_are_the_right_ones(kind, name, prefix):
    hook = getattr(kind, prefix + name)
    kept = hook.__signature__
    assert list(kept.parameters) == ["self", "request", "handler"]
    del hook.__signature__
    try:
        assert inspect.signature(hook) == kept
    finally:
        hook.__signature__ = kept


@pytest.mark.parametrize(("record", "hooks"), [("final", 2), (None, 1)])
def test_tiered_memory_has_a_last_step_if_it_records(record, hooks):
    middleware = TieredMemoryMiddleware(TieredMemory.open("memory://"), record=record)
    assert len(steps(create_agent(ScriptedModel(), middleware=[middleware]))) == hooks


def test_notes_of_calls_follow_each_other():
    write = PendingWrite("/A.md", "d", "c")
    first = CallNotes().updated({"1": write}, ["a"])
    second = CallNotes.of(first.as_state()).updated({}, ["b", "a"])
    assert (dict(second.waiting), list(second.inside)) == ({"1": write}, ["a", "b"])
    third = CallNotes.of(second.as_state()).updated({"2": write}, [])
    assert (dict(third.waiting), list(third.inside)) == ({"2": write}, ["a", "b"])
    older = {"1": list(vars_of(write))}  # as an earlier version has kept it
    assert CallNotes.of(older).waiting == {"1": write}
    assert CallNotes.of(None) == CallNotes()


def vars_of(write):
    return write.path, write.digest, write.caller, write.asks, write.states


def test_a_snapshot_lasts_for_one_run_and_is_in_no_checkpoint():
    notes = Notes(dict(FILES))
    memory = a_memory(backend=notes)
    model = ScriptedModel(call("look"), say(), call("look"), say())
    agent = create_agent(
        model, tools=[look], middleware=[memory], checkpointer=InMemorySaver(), name="a"
    )
    for text in ("- tea", "- coffee"):
        notes.files["/A.md"] = text
        ask(agent, thread="t")
        assert text in model.system()
    channels = {
        name
        for saved in agent.checkpointer.list(None)
        for name in saved.checkpoint["channel_values"]
    }
    assert "messages" in channels
    assert not any(name.startswith("memory_snapshot") for name in channels)


def look() -> str:
    """Look."""
    return "looked"

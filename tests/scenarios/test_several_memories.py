"""Several memories in one agent, parents and helpers, retries and fallbacks."""

from __future__ import annotations

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ModelFallbackMiddleware
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from kit import ScriptedModel, ask, call, say, tool_messages
from limits import limited
from memoryware import MemoryMiddleware, Source
from memoryware.errors import SettingError
from notes import Notes


def test_two_memories_need_two_names_and_then_do_not_clash():
    team, own = Notes({"/t.md": "team rule"}), Notes({"/o.md": "own rule"})
    first = MemoryMiddleware(backend=team, sources=["/t.md"])
    second = MemoryMiddleware(backend=own, sources=["/o.md"], name="own_notes")
    with pytest.raises(SettingError, match="two memories called"):
        create_agent(
            ScriptedModel(),
            middleware=[first, MemoryMiddleware(backend=own, sources=["/o.md"])],
        )
    model = ScriptedModel(call("edit_memory_own_notes", old_string="own", new_string="my"), say())
    agent = create_agent(model, middleware=[first, second], checkpointer=InMemorySaver())
    result = ask(agent, thread="t")

    assert tool_messages(result)[0].status == "success"
    assert own.files == {"/o.md": "my rule"}
    assert "team rule" in model.system(1)
    assert "my rule" in model.system(1)
    assert set(model.offered[0]) == {"edit_memory", "edit_memory_own_notes"}


def test_edit_memory_reaches_memory_files_only():
    notes = Notes({"/A.md": "a", "/other.md": "secret plan"})
    model = ScriptedModel(
        call("edit_memory", file_path="/other.md", old_string="plan", new_string="x"),
        call("edit_memory", file_path="../A.md", old_string="a", new_string="x"),
        say(),
    )
    memory = MemoryMiddleware(backend=notes, sources=["/A.md"])
    refused = tool_messages(ask(create_agent(model, middleware=[memory])))

    assert [one.status for one in refused] == ["error", "error"]
    assert "You can write: /A.md" in refused[0].text
    assert notes.files == {"/A.md": "a", "/other.md": "secret plan"}


def test_edit_memory_makes_the_first_memory():
    notes = Notes()
    model = ScriptedModel(call("edit_memory", old_string="", new_string="Likes tea."), say())
    result = ask(
        create_agent(model, middleware=[MemoryMiddleware(backend=notes, sources=["/m/A.md"])])
    )

    assert tool_messages(result)[0].text == "Updated memory file /m/A.md"
    assert notes.files == {"/m/A.md": "Likes tea."}
    assert "Likes tea." in model.system(1)


def test_only_writable_sources_can_be_written():
    notes = Notes({"/team.md": "fixed", "/own.md": "free"})
    sources = [Source("/team.md", writable=False), "/own.md"]
    memory = MemoryMiddleware(backend=notes, sources=sources)
    model = ScriptedModel(
        call("edit_memory", file_path="/team.md", old_string="fixed", new_string="x"),
        call("edit_memory", file_path="own.md", old_string="free", new_string="mine"),
    )
    refused, done = tool_messages(ask(create_agent(model, middleware=[memory])))

    assert (refused.status, done.status) == ("error", "success")
    assert notes.files == {"/team.md": "fixed", "/own.md": "mine"}


def test_a_failed_edit_tells_the_model_and_changes_nothing():
    notes = Notes({"/A.md": "a a"})
    model = ScriptedModel(call("edit_memory", old_string="a", new_string="b"))
    memory = MemoryMiddleware(backend=notes, sources=["/A.md"])
    (message,) = tool_messages(ask(create_agent(model, middleware=[memory])))

    assert message.status == "error"
    assert "2 places" in message.text
    assert notes.files == {"/A.md": "a a"}


def test_parent_and_helper_never_see_each_others_memory():
    helper_model = ScriptedModel()
    helper = create_agent(
        helper_model,
        middleware=[MemoryMiddleware(backend=Notes({"/h.md": "helper only"}), sources=["/h.md"])],
    )

    @tool
    def delegate(task: str) -> str:
        """Hand a task to the helper."""
        return ask(helper, task)["messages"][-1].text

    model = ScriptedModel(call("delegate", task="x"), say())
    parent = create_agent(
        model,
        tools=[delegate],
        middleware=[MemoryMiddleware(backend=Notes({"/p.md": "parent only"}), sources=["/p.md"])],
    )
    ask(parent)

    assert "parent only" in model.system()
    assert "helper only" not in model.system()
    assert "helper only" in helper_model.system()
    assert "parent only" not in helper_model.system()


def test_a_fallback_model_gets_memory_once():
    class Failing(ScriptedModel):
        def _generate(self, *args, **kwargs):
            super()._generate(*args, **kwargs)
            raise ConnectionError("no model today")

    first, second = Failing(), ScriptedModel()
    memory = MemoryMiddleware(backend=Notes({"/A.md": "rule"}), sources=["/A.md"])
    agent = create_agent(first, middleware=[memory, ModelFallbackMiddleware(second)])
    ask(agent)

    assert first.system().count("/A.md\nrule") == 1
    assert second.system().count("/A.md\nrule") == 1


def test_many_runs_at_once_keep_their_own_snapshots():
    from concurrent.futures import ThreadPoolExecutor

    from memoryware import MemoryLimits

    model = ScriptedModel()
    memory = MemoryMiddleware(
        backend=Notes({"/A.md": "rule"}),
        sources=["/A.md"],
        limits=limited(MemoryLimits, snapshots=2),
    )
    agent = create_agent(model, middleware=[memory])
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: ask(agent), range(40)))

    assert all("/A.md\nrule" in model.system(n) for n in range(40))


def test_names_that_look_alike_keep_their_memories_apart():
    names = ["\u0410\u043d\u044f", "\u0411\u043e\u0431", "a b", "a.b", "x" * 70, "x" * 71]
    notes = {name: Notes({"/m.md": f"of {number};"}) for number, name in enumerate(names)}
    memories = [
        MemoryMiddleware(backend=notes[name], sources=["/m.md"], name=name) for name in names
    ]
    tools = [memory.tools[0].name for memory in memories]
    model = ScriptedModel(call(tools[1], old_string="of 1", new_string="changed"), say())
    ask(create_agent(model, middleware=memories))

    assert len(set(tools)) == len(names)
    assert notes[names[1]].files == {"/m.md": "changed;"}
    assert all(f"of {number};" in model.system(0) for number in range(len(names)))


def test_two_memories_may_both_stay_as_they_were_in_the_thread():
    first, second = Notes({"/m.md": "first"}), Notes({"/m.md": "second"})
    model = ScriptedModel()
    agent = create_agent(
        model,
        middleware=[
            MemoryMiddleware(backend=first, sources=["/m.md"], refresh="thread"),
            MemoryMiddleware(backend=second, sources=["/m.md"], name="two", refresh="thread"),
        ],
        checkpointer=InMemorySaver(),
    )
    for _ in range(3):
        ask(agent, thread="t")
        first.files["/m.md"] = second.files["/m.md"] = "newer"

    assert all("/m.md\nfirst" in model.system(turn) for turn in range(3))
    assert all("/m.md\nsecond" in model.system(turn) for turn in range(3))
    assert len(first.asked) == len(second.asked) == 1


def test_edit_memory_takes_path_and_wants_one_where_there_are_several():
    notes = Notes({"/A.md": "a", "/B.md": "b"})
    model = ScriptedModel(
        call("edit_memory", path="/B.md", old_string="b", new_string="bee"),
        call("edit_memory", old_string="a", new_string="x"),
        say(),
    )
    memory = MemoryMiddleware(backend=notes, sources=["/A.md", "/B.md"])
    done, refused = tool_messages(ask(create_agent(model, middleware=[memory])))

    assert done.status == "success"
    assert refused.status == "error"
    assert notes.files == {"/A.md": "a", "/B.md": "bee"}

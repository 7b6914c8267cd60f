"""Several memories in one agent, parents and helpers, retries and fallbacks."""

from __future__ import annotations

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ModelFallbackMiddleware
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from kit import ScriptedModel, ask, call, say, tool_messages
from memoryware import MemoryMiddleware
from notes import Notes


def test_two_memories_need_two_names_and_then_do_not_clash():
    team, own = Notes({"/t.md": "team rule"}), Notes({"/o.md": "own rule"})
    first = MemoryMiddleware(backend=team, sources=["/t.md"])
    second = MemoryMiddleware(backend=own, sources=["/o.md"], name="own notes")
    with pytest.raises(AssertionError, match="duplicate middleware"):
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
    memory = MemoryMiddleware(backend=notes, sources=["/team.md", "/own.md"], writable=["/own.md"])
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
        backend=Notes({"/A.md": "rule"}), sources=["/A.md"], limits=MemoryLimits(snapshots=2)
    )
    agent = create_agent(model, middleware=[memory])
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: ask(agent), range(40)))

    assert all("/A.md\nrule" in model.system(n) for n in range(40))

"""A person decides about a tool call, and the world does not stand still meanwhile."""

from __future__ import annotations

import asyncio

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command

from kit import ScriptedModel, aask, ask, call, calls, say, tool_messages
from memoryware.backends.filesystem import FilesystemBackend
from memoryware.backends.state import StateBackend
from memoryware.backends.store import StoreBackend
from memoryware.middleware.file_tools import FileToolsMiddleware

CONFIG = {"configurable": {"thread_id": "t"}}


@pytest.fixture(params=["blocking", "async"])
def door(request):
    return request.param


@pytest.fixture(params=["before", "after"])
def paused(request, door, tmp_path):
    """Let a model make one call that waits for a person; return what goes on after."""

    def go(turn, name="edit_file", backend=None):
        human = HumanInTheLoopMiddleware(interrupt_on={name: True})
        files = FileToolsMiddleware(backend=backend or FilesystemBackend(root_dir=tmp_path))
        agent = create_agent(
            ScriptedModel(turn),
            middleware=[human, files] if request.param == "before" else [files, human],
            checkpointer=InMemorySaver(),
        )

        def step(given):
            if door == "blocking":
                return agent.invoke(given, CONFIG)
            return asyncio.run(agent.ainvoke(given, CONFIG))

        first = step({"messages": [{"role": "user", "content": "go"}]})
        assert first["__interrupt__"]
        assert tool_messages(first) == []

        def decide(decision):
            return tool_messages(step(Command(resume={"decisions": [decision]})))

        return decide

    return go


EDIT = call("edit_file", file_path="/a.md", old_string="one", new_string="ONE")


def test_an_approved_edit_is_made(paused, tmp_path):
    (tmp_path / "a.md").write_text("one\n")

    (said,) = paused(EDIT)({"type": "approve"})

    assert said.status == "success"
    assert (tmp_path / "a.md").read_text() == "ONE\n"


def test_a_rejected_edit_is_not_made(paused, tmp_path):
    (tmp_path / "a.md").write_text("one\n")

    (said,) = paused(EDIT)({"type": "reject", "message": "not this"})

    assert said.status == "error"
    assert (tmp_path / "a.md").read_text() == "one\n"


def test_a_person_can_change_the_arguments(paused, tmp_path):
    (tmp_path / "a.md").write_text("one\n")
    better = {"path": "/a.md", "old_string": "one", "new_string": "better"}

    (said,) = paused(EDIT)({"type": "edit", "edited_action": {"name": "edit_file", "args": better}})

    assert said.status == "success", said.content
    assert (tmp_path / "a.md").read_text() == "better\n"


def test_wrong_arguments_of_a_person_are_answered_like_those_of_a_model(paused, tmp_path):
    (tmp_path / "a.md").write_text("one\n")

    (said,) = paused(EDIT)(
        {"type": "edit", "edited_action": {"name": "edit_file", "args": {"path": 7}}}
    )

    assert said.status == "error"
    assert "wrong arguments for edit_file" in said.content
    assert (tmp_path / "a.md").read_text() == "one\n"


def test_an_edit_fits_the_text_that_is_there_after_the_decision(paused, tmp_path):
    (tmp_path / "a.md").write_text("one\n")
    decide = paused(EDIT)

    (tmp_path / "a.md").write_text("new first line\none\nnew last line\n")
    (said,) = decide({"type": "approve"})

    assert said.status == "success"
    assert (tmp_path / "a.md").read_text() == "new first line\nONE\nnew last line\n"


def test_an_edit_whose_text_has_gone_meanwhile_is_refused(paused, tmp_path):
    (tmp_path / "a.md").write_text("one\n")
    decide = paused(EDIT)

    (tmp_path / "a.md").write_text("somebody was faster\n")
    (said,) = decide({"type": "approve"})

    assert said.status == "error"
    assert "not found" in said.content
    assert (tmp_path / "a.md").read_text() == "somebody was faster\n"


def test_each_call_can_be_asked_about_on_its_own(tmp_path, door):
    (tmp_path / "a.md").write_text("one\n")
    human = HumanInTheLoopMiddleware(interrupt_on={"edit_file": True}, interrupt_mode="per_call")
    agent = create_agent(
        ScriptedModel(EDIT),
        middleware=[human, FileToolsMiddleware(backend=FilesystemBackend(root_dir=tmp_path))],
        checkpointer=InMemorySaver(),
    )
    first = ask(agent, thread="t")
    better = {"file_path": "/a.md", "old_string": "one", "new_string": "better"}
    decision = {"type": "edit", "edited_action": {"name": "edit_file", "args": better}}
    answer = Command(resume={first["__interrupt__"][0].id: decision})

    if door == "blocking":
        (said,) = tool_messages(agent.invoke(answer, CONFIG))
    else:
        (said,) = tool_messages(asyncio.run(agent.ainvoke(answer, CONFIG)))

    assert said.status == "success"
    assert (tmp_path / "a.md").read_text() == "better\n"


WHOLE = [
    ("write_file", {"content": "mine\n"}),
    ("delete", {}),
]


@pytest.mark.parametrize(("name", "more"), WHOLE)
@pytest.mark.parametrize("before", ["one\n", None])
def test_a_file_that_changed_meanwhile_is_not_replaced(paused, tmp_path, name, more, before):
    if before is not None:
        (tmp_path / "a.md").write_text(before)
    decide = paused(call(name, path="./a.md", **more), name)

    (tmp_path / "a.md").write_text("of somebody else\n")
    (said,) = decide({"type": "approve"})

    assert said.status == "error"
    assert "changed by somebody else" in said.content
    assert (tmp_path / "a.md").read_text() == "of somebody else\n"


@pytest.mark.parametrize(("name", "more"), WHOLE)
def test_a_file_that_stayed_as_it_was_is_replaced(paused, tmp_path, name, more):
    (tmp_path / "a.md").write_text("one\n")

    (said,) = paused(call(name, file_path="/a.md", **more), name)({"type": "approve"})

    assert said.status == "success", said.content
    assert not (tmp_path / "a.md").exists() or (tmp_path / "a.md").read_text() == "mine\n"


def test_a_person_can_send_a_write_to_another_file(paused, tmp_path):
    (tmp_path / "a.md").write_text("one\n")
    decide = paused(call("write_file", file_path="/a.md", content="x"), "write_file")

    (tmp_path / "a.md").write_text("changed\n")
    other = {"file_path": "/b.md", "content": "y"}
    (said,) = decide({"type": "edit", "edited_action": {"name": "write_file", "args": other}})

    assert said.status == "success"
    assert (tmp_path / "a.md").read_text() == "changed\n"
    assert (tmp_path / "b.md").read_text() == "y"


def test_what_is_noted_about_a_waiting_write_holds_no_text_and_stays_out_of_results(tmp_path, door):
    (tmp_path / "a.md").write_text("very private\n")
    saver = InMemorySaver()
    agent = create_agent(
        ScriptedModel(call("write_file", file_path="/a.md", content="x")),
        middleware=[FileToolsMiddleware(backend=FilesystemBackend(root_dir=tmp_path))],
        checkpointer=saver,
    )

    go = ask(agent, thread="t") if door == "blocking" else asyncio.run(aask(agent, thread="t"))

    assert set(go) <= {"messages", "files"}
    assert "very private" not in str(list(saver.list(CONFIG)))
    assert (tmp_path / "a.md").read_text() == "x"


def test_writing_the_same_file_again_and_again_is_no_change_by_somebody_else(tmp_path, door):
    turns = [call("write_file", path="/a.md", content=str(n)) for n in range(3)]
    turns += [call("delete", path="/a.md"), call("write_file", path="/a.md", content="last")]
    agent = create_agent(
        ScriptedModel(*turns),
        middleware=[FileToolsMiddleware(backend=FilesystemBackend(root_dir=tmp_path))],
    )

    said = tool_messages(ask(agent) if door == "blocking" else asyncio.run(aask(agent)))

    assert [one.status for one in said] == ["success"] * 5
    assert (tmp_path / "a.md").read_text() == "last"


# -- two calls in one message, on every backend ---------------------------------------------

TWO = calls(
    ("edit_file", {"file_path": "/a.md", "old_string": "one", "new_string": "ONE"}),
    ("edit_file", {"file_path": "a.md", "old_string": "two", "new_string": "TWO"}),
    ("append_file", {"file_path": "./a.md", "text": "three"}),
)


@pytest.mark.parametrize("kind", ["disk", "state", "store"])
def test_all_edits_of_one_message_survive(kind, door, tmp_path):
    store = InMemoryStore()
    record = {"content": "one\ntwo\n", "encoding": "utf-8"}
    given = {}
    if kind == "disk":
        (tmp_path / "a.md").write_text("one\ntwo\n")
        backend = FilesystemBackend(root_dir=tmp_path)
    elif kind == "state":
        backend, given = StateBackend(), {"files": {"/a.md": record}}
    else:
        store.put(("notes",), "/a.md", record)
        backend = StoreBackend(namespace=lambda runtime: ("notes",))
    read_back = call("read_file", file_path="/a.md")
    agent = create_agent(
        ScriptedModel(TWO.model_copy(), read_back, say()),
        middleware=[FileToolsMiddleware(backend=backend)],
        store=store,
    )

    result = ask(agent, **given) if door == "blocking" else asyncio.run(aask(agent, **given))

    said = tool_messages(result)
    assert [one.status for one in said] == ["success"] * 4
    assert said[3].content == "@@ lines 1-3 of 3 @@\nONE\nTWO\nthree"

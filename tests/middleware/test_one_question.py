"""All questions of one message are one interrupt, and a person is asked once about each call."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from kit import ScriptedModel, calls, tool_messages
from memoryware import FilesystemBackend, FileToolsMiddleware, MemoryMiddleware, Source
from notes import Notes

THREAD = {"configurable": {"thread_id": "1"}}
APPROVE = {"type": "approve"}
TEXT = "one\ntwo\nthree four five six\n"


@pytest.fixture(params=["blocking", "async"])
def step(request):
    """Run or resume an agent through one of the doors."""

    async def go(agent, given):
        if request.param == "blocking":
            return agent.invoke(given, THREAD)
        return await agent.ainvoke(given, THREAD)

    return go


def edit(old, new, path="/a.md"):
    return ("edit_file", {"file_path": path, "old_string": old, "new_string": new})


def agent_of(notes, *script, more=(), before=(), saver=None, **options):
    sources = [Source("/a.md", writable="ask"), Source("/b.md", writable="ask"), "/free.md"]
    return create_agent(
        ScriptedModel(*script),
        middleware=[
            *before,
            MemoryMiddleware(backend=notes, sources=sources, **options),
            FileToolsMiddleware(backend=notes),
            *more,
        ],
        checkpointer=saver or InMemorySaver(),
    )


def requests_of(state):
    (interrupt,) = state["__interrupt__"]
    return interrupt.value["action_requests"]


def decide(*decisions):
    return Command(resume={"decisions": list(decisions)})


async def test_two_approved_changes_of_a_file_are_both_made(step):
    notes = Notes({"/a.md": TEXT})
    agent = agent_of(notes, calls(edit("one", "ONE"), edit("two", "TWO")))
    first, second = requests_of(await step(agent, {"messages": "x"}))
    assert "+ONE" in first["description"]
    assert " ONE" in second["description"], "judged against the text after the first"
    assert "+TWO" in second["description"]
    state = await step(agent, decide(APPROVE, APPROVE))
    assert [one.status for one in tool_messages(state)] == ["success", "success"]
    assert notes.files["/a.md"].startswith("ONE\nTWO\n")


async def test_the_request_has_the_form_of_langchains_middleware(step):
    notes = Notes({"/a.md": TEXT, "/b.md": "b\n"})
    agent = agent_of(notes, calls(edit("one", "ONE"), edit("b", "B", "/b.md")))
    (interrupt,) = (await step(agent, {"messages": "x"}))["__interrupt__"]
    assert [set(one) for one in interrupt.value["action_requests"]] == [
        {"name", "args", "description"}
    ] * 2
    assert (
        interrupt.value["review_configs"]
        == [{"action_name": "edit_file", "allowed_decisions": ["approve", "edit", "reject"]}] * 2
    )


async def test_each_call_has_its_own_decision_in_order(step):
    notes = Notes({"/a.md": TEXT, "/b.md": "b\n"})
    agent = agent_of(notes, calls(edit("one", "ONE"), edit("b", "B", "/b.md"), edit("two", "TWO")))
    await step(agent, {"messages": "x"})
    name, args = edit("two", "edited")
    edited = {"type": "edit", "edited_action": {"name": name, "args": args}}
    state = await step(agent, decide({"type": "reject", "message": "Not that."}, APPROVE, edited))
    assert [one.status for one in tool_messages(state)] == ["error", "success", "success"]
    assert "Not that." in tool_messages(state)[0].text
    assert notes.files == {"/a.md": "one\nedited\nthree four five six\n", "/b.md": "B\n"}


async def test_the_answer_may_be_given_by_the_id_of_the_question(step):
    notes = Notes({"/a.md": TEXT})
    agent = agent_of(
        notes,
        calls(edit("one", "ONE"), edit("two", "TWO")),
        calls(edit("ONE", "1"), edit("TWO", "2")),
    )
    state = await step(agent, {"messages": "x"})
    for _ in range(2):
        (interrupt,) = state["__interrupt__"]
        answer = {interrupt.id: {"decisions": [APPROVE, APPROVE]}}
        state = await step(agent, Command(resume=answer))
    assert notes.files["/a.md"].startswith("1\n2\n")


async def test_a_second_question_in_the_same_run_is_not_answered_by_the_first(step):
    notes = Notes({"/a.md": TEXT})
    agent = agent_of(
        notes,
        calls(edit("one", "ONE"), edit("two", "TWO")),
        calls(edit("ONE", "1"), edit("TWO", "2")),
    )
    await step(agent, {"messages": "x"})
    state = await step(agent, decide(APPROVE, APPROVE))
    assert len(requests_of(state)) == 2
    assert notes.files["/a.md"].startswith("ONE\nTWO\n")


@pytest.mark.parametrize(
    "answer",
    [
        {"decisions": [APPROVE]},
        {"decisions": [APPROVE] * 3},
        {"decisions": [APPROVE, {"type": "maybe"}]},
        APPROVE,
        "yes",
    ],
)
async def test_an_answer_that_does_not_fit_is_an_error_and_the_question_stays(step, answer):
    notes = Notes({"/a.md": TEXT})
    agent = agent_of(notes, calls(edit("one", "ONE"), edit("two", "TWO")))
    await step(agent, {"messages": "x"})
    with pytest.raises(ValueError, match="validation error"):
        await step(agent, Command(resume=answer))
    assert notes.files["/a.md"] == TEXT
    await step(agent, decide(APPROVE, APPROVE))
    assert notes.files["/a.md"].startswith("ONE\nTWO\n")


async def test_a_whole_file_write_after_an_edit_wins_as_it_was_shown(step, tmp_path):
    (tmp_path / "a.md").write_text(TEXT)
    whole = ("write_file", {"file_path": "/a.md", "content": "ONE\ntwo\nthree four five six\n7\n"})
    agent = agent_of(FilesystemBackend(tmp_path), calls(edit("one", "ONE"), whole))
    _, second = requests_of(await step(agent, {"messages": "x"}))
    assert "+7" in second["description"]
    assert "+ONE" not in second["description"]
    state = await step(agent, decide(APPROVE, APPROVE))
    assert [one.status for one in tool_messages(state)] == ["success", "success"]
    assert (tmp_path / "a.md").read_text() == "ONE\ntwo\nthree four five six\n7\n"


@pytest.mark.slow
async def test_many_calls_are_one_question_however_few_threads_there_are(step):
    lines = [f"line {n}" for n in range(20)]
    notes = Notes({"/a.md": "\n".join([*lines, ""])})
    edits = [edit(f"{line}\n", f"{line} changed\n") for line in lines]
    agent = agent_of(notes, calls(*edits))
    assert len(requests_of(await step(agent, {"messages": "x"}))) == 20
    await step(agent, decide(*[APPROVE] * 20))
    assert notes.files["/a.md"] == "".join(f"{line} changed\n" for line in lines)


async def test_other_calls_of_the_message_go_on_and_those_on_the_same_file_wait(step):
    notes = Notes({"/a.md": TEXT, "/free.md": "f\n"})
    agent = agent_of(notes, calls(edit("f", "F", "/free.md"), edit("one", "ONE")))
    assert len(requests_of(await step(agent, {"messages": "x"}))) == 1
    assert notes.files == {"/a.md": TEXT, "/free.md": "F\n"}
    await step(agent, decide(APPROVE))
    assert notes.files["/a.md"].startswith("ONE\n")


async def test_a_change_by_somebody_else_is_still_noticed(step):
    notes = Notes({"/a.md": TEXT})
    agent = agent_of(notes, calls(edit("one", "ONE"), edit("two", "TWO")))
    await step(agent, {"messages": "x"})
    notes.files["/a.md"] = "one\ntwo\nnews\n"
    state = await step(agent, decide(APPROVE, APPROVE))
    assert all("changed by somebody else" in one.text for one in tool_messages(state))
    assert notes.files["/a.md"] == "one\ntwo\nnews\n"


# With langchain's own middleware.


@pytest.mark.parametrize("order", ["before", "after"])
@pytest.mark.parametrize("mode", ["batched", "per_call"])
async def test_a_person_is_asked_once_where_langchain_asks_about_the_same_tools(step, order, mode):
    notes = Notes({"/a.md": TEXT})
    human = HumanInTheLoopMiddleware(interrupt_on={"edit_file": True}, interrupt_mode=mode)
    agent = agent_of(
        notes,
        calls(edit("one", "ONE"), edit("two", "TWO")),
        before=[human] if order == "before" else [],
        more=[human] if order == "after" else [],
    )
    state = await step(agent, {"messages": "x"})
    if mode == "batched":
        assert len(requests_of(state)) == 2
        state = await step(agent, decide(APPROVE, APPROVE))
    else:
        assert [one.value["type"] for one in state["__interrupt__"]] == ["tool_approval"] * 2
        answers = {one.id: APPROVE for one in state["__interrupt__"]}
        state = await step(agent, Command(resume=answers))
    assert "__interrupt__" not in state
    assert notes.files["/a.md"].startswith("ONE\nTWO\n")


def test_a_person_is_asked_once_in_a_thread_whose_id_is_a_number():
    notes, config = Notes({"/a.md": TEXT}), {"configurable": {"thread_id": 284719203847561234}}
    human = HumanInTheLoopMiddleware(interrupt_on={"edit_file": True})
    agent = agent_of(notes, calls(edit("one", "ONE")), more=[human])
    agent.invoke({"messages": "x"}, config)
    state = agent.invoke(decide(APPROVE), config)
    assert "__interrupt__" not in state
    assert notes.files["/a.md"].startswith("ONE\n")


@pytest.mark.parametrize("order", ["before", "after"])
async def test_what_langchain_does_not_ask_about_is_asked_here(step, order):
    notes = Notes({"/a.md": TEXT, "/b.md": "b\n"})
    human = HumanInTheLoopMiddleware(interrupt_on={"append_file": True})
    agent = agent_of(
        notes,
        calls(edit("one", "ONE"), ("append_file", {"file_path": "/b.md", "text": "more"})),
        before=[human] if order == "before" else [],
        more=[human] if order == "after" else [],
    )
    (theirs,) = requests_of(await step(agent, {"messages": "x"}))
    assert theirs["name"] == "append_file"
    (ours,) = requests_of(await step(agent, decide(APPROVE)))
    assert ours["name"] == "edit_file"
    assert notes.files["/b.md"] == "b\nmore\n"
    await step(agent, decide(APPROVE))
    assert notes.files["/a.md"].startswith("ONE\n")


async def test_a_rejection_there_is_final_and_the_other_call_is_asked_about(step):
    notes = Notes({"/a.md": TEXT})
    human = HumanInTheLoopMiddleware(interrupt_on={"edit_file": True})
    agent = agent_of(notes, calls(edit("one", "ONE"), edit("two", "TWO")), more=[human])
    await step(agent, {"messages": "x"})
    state = await step(agent, decide({"type": "reject"}, APPROVE))
    assert "__interrupt__" not in state
    assert notes.files["/a.md"] == "one\nTWO\nthree four five six\n"


@pytest.mark.parametrize("order", ["before", "after"])
async def test_a_secret_that_a_person_edits_in_there_stays_out(step, order):
    token = "ghp_" + "a8F3kQ9zL2mN7pR4tV6wX1yB5cD0eG3hJ8kM"
    notes = Notes({"/a.md": TEXT})
    human = HumanInTheLoopMiddleware(interrupt_on={"edit_file": True})
    agent = agent_of(
        notes,
        calls(edit("one", "ONE")),
        before=[human] if order == "before" else [],
        more=[human] if order == "after" else [],
    )
    await step(agent, {"messages": "x"})
    name, args = edit("one", token)
    state = await step(
        agent, decide({"type": "edit", "edited_action": {"name": name, "args": args}})
    )
    assert "secrets are never stored" in tool_messages(state)[0].text
    assert notes.files["/a.md"] == TEXT


# In another process.

_RESUME = """
import sys
sys.path.insert(0, {tests!r})
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command
from langchain.agents import create_agent
from kit import ScriptedModel, calls
from memoryware import FilesystemBackend, FileToolsMiddleware, MemoryMiddleware, Source

backend = FilesystemBackend(root_dir={folder!r})
edits = [
    ("edit_file", {{"file_path": "/a.md", "old_string": "one", "new_string": "ONE"}}),
    ("edit_file", {{"file_path": "/a.md", "old_string": "two", "new_string": "TWO"}}),
]
with SqliteSaver.from_conn_string({folder!r} + "/state.db") as saver:
    agent = create_agent(
        ScriptedModel(*([calls(*edits)] if sys.argv[1] == "ask" else [])),
        middleware=[
            MemoryMiddleware(backend=backend, sources=[Source("/a.md", writable="ask")]),
            FileToolsMiddleware(backend=backend),
        ],
        checkpointer=saver,
    )
    thread = {{"configurable": {{"thread_id": "1"}}}}
    if sys.argv[1] == "ask":
        state = agent.invoke({{"messages": "x"}}, thread)
        print(len(state["__interrupt__"]))
    else:
        approve = [{{"type": "approve"}}] * 2
        agent.invoke(Command(resume={{"decisions": approve}}), thread)
"""


@pytest.mark.slow
def test_the_answer_may_come_in_another_process(tmp_path):
    (tmp_path / "a.md").write_text(TEXT)
    tests = str(Path(__file__).parent.parent)
    code = _RESUME.format(tests=tests, folder=str(tmp_path))
    outputs = [
        subprocess.run(
            [sys.executable, "-c", code, what], check=True, capture_output=True, text=True
        ).stdout
        for what in ("ask", "answer")
    ]
    assert outputs[0].strip() == "1"
    assert (tmp_path / "a.md").read_text().startswith("ONE\nTWO\n")

"""What several tasks of one step do to one file of the state: nothing accepted is lost."""

from __future__ import annotations

import contextvars
import logging
import operator
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, NotRequired, TypedDict

import pytest
from langchain.agents import AgentState, create_agent
from langchain.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send, interrupt

from backends.in_graph import FileState
from kit import ScriptedModel, aask, ask, calls, tool_messages
from memoryware import StateBackend
from memoryware.backends.state import FilesChannel, files_reducer

BACKEND = StateBackend()
BASE = "one: empty\ntwo: empty\nthree: empty\n"


def record(text, **more):
    return {"content": text, "encoding": "utf-8", **more}


def texts(result):
    return {path: file["content"] for path, file in result["files"].items()}


def branches(*works, schema=FileState, saver=None):
    """A graph that does all works in one step."""
    builder = StateGraph(schema)
    for number, work in enumerate(works):
        builder.add_node(f"node {number}", lambda _, work=work: work() and None)
        builder.add_edge(START, f"node {number}")
    return builder.compile(checkpointer=saver)


def abranches(*works):
    builder = StateGraph(FileState)
    for number, work in enumerate(works):

        async def node(_, work=work):
            await work()

        builder.add_node(f"node {number}", node)
        builder.add_edge(START, f"node {number}")
    return builder.compile()


def ok(result):
    assert result.error is None, result.error


def given(**files):
    return {"files": {f"/{name}.md": record(text) for name, text in files.items()}}


def test_two_branches_that_edit_one_file_both_count():
    graph = branches(
        lambda: ok(BACKEND.edit("/a.md", "one: empty", "one: done")),
        lambda: ok(BACKEND.edit("/a.md", "three: empty", "three: done")),
    )

    assert texts(graph.invoke(given(a=BASE))) == {"/a.md": "one: done\ntwo: empty\nthree: done\n"}


async def test_two_async_branches_that_edit_one_file_both_count():
    async def first():
        ok(await BACKEND.aedit("/a.md", "one: empty", "one: done"))

    async def second():
        ok(await BACKEND.aedit("/a.md", "three: empty", "three: done"))

    result = await abranches(first, second).ainvoke(given(a=BASE))
    assert texts(result) == {"/a.md": "one: done\ntwo: empty\nthree: done\n"}


def test_each_branch_sees_its_own_changes_and_all_of_them_count():
    def work(name):
        for number in range(3):
            ok(BACKEND.append("/a.md", f"{name}{number}"))
            assert f"{name}{number}" in BACKEND.read("/a.md").file_data["content"]
        ok(BACKEND.edit("/a.md", f"{name}1\n", ""))
        assert f"{name}1" not in BACKEND.read("/a.md").file_data["content"]

    result = branches(lambda: work("x"), lambda: work("y")).invoke(given(a="top\n"))
    assert texts(result)["/a.md"].splitlines() == ["top", "x0", "x2", "y0", "y2"]


@pytest.mark.parametrize("there", [{}, {"log": "top\n"}])
def test_a_fan_out_of_appends_loses_none(there):
    class State(FileState):
        done: NotRequired[Annotated[int, operator.add]]

    builder = StateGraph(State)

    def add(number):
        ok(BACKEND.append("/log.md", f"line {number}"))
        return {"done": 1}

    builder.add_node("add", add)
    builder.add_conditional_edges(START, lambda _: [Send("add", n) for n in range(40)], ["add"])
    builder.add_edge("add", END)
    result = builder.compile().invoke(given(**there))

    lines = [f"line {n}" for n in range(40)]
    assert result["done"] == 40
    assert texts(result) == {"/log.md": "\n".join([*(["top"] if there else []), *lines, ""])}


@tool
def edit_file(path: str, old: str, new: str) -> str:
    """Edit a file."""
    return BACKEND.edit(path, old, new).error or "edited"


@tool
async def aedit_file(path: str, old: str, new: str) -> str:
    """Edit a file."""
    return (await BACKEND.aedit(path, old, new)).error or "edited"


class FilesAgentState(AgentState):
    files: NotRequired[FilesChannel]


def two_edits(name):
    return calls(
        (name, {"path": "/a.md", "old": "one: empty", "new": "one: done"}),
        (name, {"path": "a.md", "old": "two: empty", "new": "two: done"}),
    )


def test_two_tool_calls_of_one_message_both_count():
    agent = create_agent(
        ScriptedModel(two_edits("edit_file")), [edit_file], state_schema=FilesAgentState
    )
    result = ask(agent, **given(a=BASE))

    assert [one.content for one in tool_messages(result)] == ["edited", "edited"]
    assert texts(result) == {"/a.md": "one: done\ntwo: done\nthree: empty\n"}


async def test_two_async_tool_calls_of_one_message_both_count():
    agent = create_agent(
        ScriptedModel(two_edits("aedit_file")), [aedit_file], state_schema=FilesAgentState
    )
    result = await aask(agent, **given(a=BASE))

    assert [one.content for one in tool_messages(result)] == ["edited", "edited"]
    assert texts(result) == {"/a.md": "one: done\ntwo: done\nthree: empty\n"}


def test_threads_within_one_task_lose_nothing():
    def work():
        def add(number):
            ok(BACKEND.append("/a.md", f"{number}"))

        with ThreadPoolExecutor(8) as pool:
            jobs = [pool.submit(contextvars.copy_context().run, add, n) for n in range(64)]
            for job in jobs:
                job.result()

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        result = branches(work).invoke(given(a="top\n"))
    finally:
        sys.setswitchinterval(before)

    top, *lines = texts(result)["/a.md"].splitlines()
    assert (top, sorted(lines, key=int)) == ("top", [f"{n}" for n in range(64)])


# What does not fit together.


@pytest.mark.parametrize(
    ("old", "first", "second"),
    [("limit: 10", "limit: 100", "limit: 20"), ("10", "0", "20"), ("limit: 10", "xlimit: 10", "y")],
)
@pytest.mark.parametrize("every", [False, True])
def test_an_edit_is_not_done_again_within_what_another_made_of_its_line(old, first, second, every):
    base = "- limit: 10\n- name: Ann\n"
    graph = branches(
        lambda: ok(BACKEND.edit("/a.md", old, first)),
        lambda: ok(BACKEND.edit("/a.md", old, second, replace_all=every)),
    )
    result = texts(graph.invoke(given(a=base)))

    assert result.pop("/a.md") == base.replace(old, first)
    assert [*result.values()] == [base.replace(old, second)]


def test_a_second_whole_text_is_kept_beside_the_first(caplog):
    graph = branches(
        lambda: ok(BACKEND.write("/notes/a.md", "first")),
        lambda: ok(BACKEND.write("/notes/a.md", "second")),
    )
    with caplog.at_level(logging.WARNING, "memoryware"):
        result = texts(graph.invoke({"files": {"/notes/a.md": record("base")}}))

    copy = next(path for path in result if "conflict" in path)
    assert copy.startswith("/notes/a.conflict-")
    assert copy.endswith(".md")
    assert result == {"/notes/a.md": "first", copy: "second"}
    assert [one for one in caplog.messages if "/notes/a.md" in one and copy in one]


def test_two_equal_whole_texts_are_no_conflict():
    write = lambda: ok(BACKEND.write("/a.md", "the same"))

    assert texts(branches(write, write).invoke(given(a="base"))) == {"/a.md": "the same"}
    assert texts(branches(write, write).invoke(given())) == {"/a.md": "the same"}


def test_an_edit_is_done_again_on_a_text_that_another_task_wrote():
    graph = branches(
        lambda: ok(BACKEND.write("/a.md", "new\n" + BASE)),
        lambda: ok(BACKEND.edit("/a.md", "two: empty", "two: done")),
    )

    assert texts(graph.invoke(given(a=BASE))) == {
        "/a.md": "new\none: empty\ntwo: done\nthree: empty\n"
    }


def test_edits_of_one_place_keep_both_texts():
    graph = branches(
        lambda: ok(BACKEND.edit("/a.md", "one: empty", "one: red")),
        lambda: ok(BACKEND.edit("/a.md", "one: empty", "one: blue")),
    )
    result = texts(graph.invoke(given(a=BASE)))

    assert result.pop("/a.md") == BASE.replace("one: empty", "one: red")
    assert [*result.values()] == [BASE.replace("one: empty", "one: blue")]


def test_the_same_edit_twice_is_one_edit():
    edit = lambda: ok(BACKEND.edit("/a.md", "one: empty", "one: done"))

    assert texts(branches(edit, edit).invoke(given(a=BASE))) == {
        "/a.md": BASE.replace("one: empty", "one: done")
    }


def test_an_edit_after_a_deletion_brings_the_file_back_whole():
    graph = branches(
        lambda: ok(BACKEND.delete("/a.md")),
        lambda: ok(BACKEND.edit("/a.md", "one: empty", "one: done")),
    )

    assert texts(graph.invoke(given(a=BASE))) == {"/a.md": BASE.replace("one: empty", "one: done")}


def test_a_deletion_after_an_edit_removes_the_file():
    graph = branches(
        lambda: ok(BACKEND.edit("/a.md", "one: empty", "one: done")),
        lambda: ok(BACKEND.delete("/a.md")),
    )

    assert texts(graph.invoke(given(a=BASE, b="stays"))) == {"/b.md": "stays"}


# Checkpoints, interrupts, subgraphs.


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_pending_edit_survives_the_checkpoint_of_an_interrupt(kind, tmp_path):
    def second():
        answer = interrupt("may I?")
        ok(BACKEND.edit("/a.md", "two: empty", f"two: {answer}"))

    def run(saver):
        graph = branches(
            lambda: ok(BACKEND.edit("/a.md", "one: empty", "one: done")), second, saver=saver
        )
        config = {"configurable": {"thread_id": "1"}}
        asked = graph.invoke(given(a=BASE), config)
        assert asked["__interrupt__"]
        # A new graph, as after a restart, knows of the first edit from the checkpoint only.
        again = branches(lambda: pytest.fail("done already"), second, saver=saver)
        return texts(again.invoke(Command(resume="granted"), config))

    if kind == "memory":
        result = run(InMemorySaver())
    else:
        with SqliteSaver.from_conn_string(str(tmp_path / "checkpoints.db")) as saver:
            result = run(saver)
    assert result == {"/a.md": "one: done\ntwo: granted\nthree: empty\n"}


def test_a_stored_record_has_the_four_fields_and_no_more():
    result = branches(
        lambda: ok(BACKEND.append("/a.md", "x")), lambda: ok(BACKEND.append("/a.md", "y"))
    ).invoke(given(a=BASE))

    assert {*result["files"]["/a.md"]} == {"content", "encoding", "created_at", "modified_at"}


def test_a_subgraph_hands_its_files_to_its_parent():
    inner = branches(lambda: ok(BACKEND.edit("/a.md", "one: empty", "one: done")))
    builder = StateGraph(FileState)
    builder.add_node("inner", inner)
    builder.add_node("after", lambda _: ok(BACKEND.append("/a.md", "after")))
    builder.add_edge(START, "inner")
    builder.add_edge("inner", "after")

    assert texts(builder.compile().invoke(given(a=BASE, b="b"))) == {
        "/a.md": BASE.replace("one: empty", "one: done") + "after\n",
        "/b.md": "b",
    }


def side_by_side(*graphs):
    builder = StateGraph(FileState)
    for number, graph in enumerate(graphs):
        builder.add_node(f"graph {number}", graph)
        builder.add_edge(START, f"graph {number}")
    return builder.compile()


def test_subgraphs_side_by_side_do_not_undo_each_other():
    graph = side_by_side(
        branches(lambda: ok(BACKEND.append("/a.md", "from the first"))),
        branches(lambda: ok(BACKEND.append("/b.md", "from the second"))),
        branches(lambda: None),
    )

    assert texts(graph.invoke(given(a="a\n", b="b\n", c="c"))) == {
        "/a.md": "a\nfrom the first\n",
        "/b.md": "b\nfrom the second\n",
        "/c.md": "c",
    }


def test_what_one_task_deletes_a_subgraph_beside_it_does_not_bring_back():
    for works in ([0, 1], [1, 0]):
        builder = StateGraph(FileState)
        nodes = [branches(lambda: None), lambda _: ok(BACKEND.delete("/a.md"))]
        for number, which in enumerate(works):
            builder.add_node(f"node {number}", nodes[which])
            builder.add_edge(START, f"node {number}")

        assert texts(builder.compile().invoke(given(a="a", b="b"))) == {"/b.md": "b"}


def test_a_node_that_returns_its_whole_state_does_not_undo_what_it_wrote():
    def node(state):
        ok(BACKEND.append("/a.md", "new"))
        return state

    builder = StateGraph(FileState)
    builder.add_node("node", node)
    builder.add_edge(START, "node")

    assert texts(builder.compile().invoke(given(a="a\n"))) == {"/a.md": "a\nnew\n"}


def test_a_subgraph_with_the_channel_of_deepagents_hands_over_all_its_edits():
    from deepagents.middleware.filesystem import FilesystemState

    def work():
        ok(BACKEND.edit("/a.md", "one: empty", "one: done"))
        ok(BACKEND.edit("/a.md", "two: empty", "two: done"))

    builder = StateGraph(FileState)
    builder.add_node("inner", branches(work, schema=FilesystemState))
    builder.add_node("beside", lambda _: ok(BACKEND.write("/b.md", "b")))
    builder.add_edge(START, "inner")
    builder.add_edge(START, "beside")

    assert texts(builder.compile().invoke(given(a=BASE))) == {
        "/a.md": "one: done\ntwo: done\nthree: empty\n",
        "/b.md": "b",
    }


def test_subgraphs_side_by_side_that_change_one_file_keep_both_texts():
    graph = side_by_side(
        branches(lambda: ok(BACKEND.append("/a.md", "first"))),
        branches(lambda: ok(BACKEND.append("/a.md", "second"))),
    )
    result = texts(graph.invoke(given(a="a\n")))

    assert result.pop("/a.md") == "a\nfirst\n"
    assert [*result.values()] == ["a\nsecond\n"]


def test_a_schema_with_the_plain_reducer_merges_branches_as_well():
    class Plain(TypedDict):
        files: NotRequired[Annotated[dict[str, Any], files_reducer]]

    graph = branches(
        lambda: ok(BACKEND.edit("/a.md", "one: empty", "one: done")),
        lambda: ok(BACKEND.edit("/a.md", "three: empty", "three: done")),
        schema=Plain,
    )

    assert texts(graph.invoke(given(a=BASE))) == {"/a.md": "one: done\ntwo: empty\nthree: done\n"}


def test_an_overwrite_of_the_whole_channel_still_overwrites():
    from langgraph.types import Overwrite

    builder = StateGraph(FileState)
    builder.add_node("replace", lambda _: {"files": Overwrite({"/new.md": record("new")})})
    builder.add_node("append", lambda _: ok(BACKEND.append("/a.md", "x")))
    builder.add_edge(START, "append")
    builder.add_edge(START, "replace")

    assert texts(builder.compile().invoke(given(a=BASE))) == {"/new.md": "new"}


def test_the_channel_of_deepagents_keeps_what_we_write():
    from deepagents.middleware.filesystem import FilesystemState

    def work():
        ok(BACKEND.write("/a.md", "one\n"))
        ok(BACKEND.edit("/a.md", "one", "two"))
        ok(BACKEND.append("/a.md", "three"))
        ok(BACKEND.write("/gone.md", "x"))
        ok(BACKEND.delete("/gone.md"))
        assert BACKEND.read("/a.md").file_data["content"] == "two\nthree\n"

    result = branches(work, schema=FilesystemState, saver=InMemorySaver()).invoke(
        {"messages": [], "files": {"/kept.md": record("kept")}},
        {"configurable": {"thread_id": "1"}},
    )
    assert texts(result) == {"/a.md": "two\nthree\n", "/kept.md": "kept"}

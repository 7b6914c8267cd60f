"""StateBackend: files in the state of a graph, and the reducer that merges them."""

from __future__ import annotations

import itertools
import logging
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, NotRequired, TypedDict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain.agents import AgentState, create_agent
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph

from backends.in_graph import FileState
from kit import ScriptedModel
from memoryware import StateBackend
from memoryware.backends import _filedata, state
from memoryware.backends.state import FilesChannel, files_reducer
from memoryware.errors import BackendUnavailable

BACKEND = StateBackend()


def record(text, **more):
    return {"content": text, "encoding": "utf-8", **more}


def run(work, files=None, *, schema=FileState, saver=None, thread="1", key="files"):
    """Do some work inside a node of a graph; return what it returned and the final files."""
    told = []
    builder = StateGraph(schema)
    builder.add_node("node", lambda _: told.append(work()))
    builder.add_edge(START, "node")
    config: Any = {"configurable": {"thread_id": thread}}
    given = {} if files is None else {key: files}
    result = builder.compile(checkpointer=saver).invoke(given, config)
    return told[0], (result or {}).get("files")


def ticking():
    moments = itertools.count()
    return lambda: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=next(moments))


# What a user meets.


def test_files_given_on_invoke_are_there():
    text, files = run(
        lambda: BACKEND.read("/memory/AGENTS.md"), {"/memory/AGENTS.md": record("tea")}
    )

    assert text.file_data["content"] == "tea"
    assert files == {"/memory/AGENTS.md": record("tea")}


@pytest.mark.parametrize(
    "spelling", ["memory/a.md", "./memory/a.md", "//memory/./a.md", "/memory/a.md/"]
)
def test_files_given_under_another_spelling_are_the_same_files(spelling):
    def work():
        assert BACKEND.ls("/memory").entries[0]["path"] == "/memory/a.md"
        return BACKEND.edit("/memory/a.md", "tea", "coffee")

    edited, files = run(work, {spelling: record("tea")})
    assert (edited.error, edited.occurrences) == (None, 1)
    assert [*files] == ["/memory/a.md"]
    assert files["/memory/a.md"]["content"] == "coffee"


def test_another_spelling_is_one_file_under_a_reducer_that_is_not_ours():
    from deepagents.middleware.filesystem import FilesystemState

    def work():
        assert BACKEND.download_files(["/a.md"])[0].content == b"tea"
        return BACKEND.edit("/a.md", "tea", "coffee")

    edited, files = run(work, {"a.md": record("tea")}, schema=FilesystemState)
    assert edited.error is None
    assert {path: file["content"] for path, file in files.items()} == {"/a.md": "coffee"}


def test_a_thread_keeps_its_files_and_another_does_not_see_them():
    saver = InMemorySaver()
    run(lambda: BACKEND.write("/a.md", "mine"), saver=saver)

    assert run(lambda: BACKEND.read("/a.md"), saver=saver)[0].file_data["content"] == "mine"
    assert run(lambda: BACKEND.read("/a.md"), saver=saver, thread="2")[0].error
    assert run(lambda: BACKEND.read("/a.md"))[0].error


def test_without_a_checkpointer_one_warning_says_that_files_are_lost(caplog):
    state._log_files_are_lost.cache_clear()
    with caplog.at_level(logging.WARNING, "memoryware"):
        run(lambda: BACKEND.write("/a.md", "x"), saver=InMemorySaver())
        run(lambda: BACKEND.read("/a.md"))
        assert not caplog.messages
        run(lambda: BACKEND.write("/a.md", "x"))
        run(lambda: BACKEND.write("/b.md", "x"))

    assert len(caplog.messages) == 1
    assert "checkpointer" in caplog.messages[0]


# Records.


def test_the_older_form_is_read_and_the_newer_one_written():
    backend = StateBackend(clock=ticking())
    old = {"content": ["one", "two"], "created_at": "2020-01-01", "modified_at": "2020-01-02"}

    def work():
        assert backend.read("/a.md").file_data["content"] == "one\ntwo"
        assert backend.download_files(["/a.md"])[0].content == b"one\ntwo"
        assert backend.grep("two").matches == [{"path": "/a.md", "line": 2, "text": "two"}]
        return backend.edit("/a.md", "two", "three")

    assert run(work, {"/a.md": old})[1] == {
        "/a.md": record(
            "one\nthree", created_at="2020-01-01", modified_at="2026-01-01T00:00:00+00:00"
        )
    }


@pytest.mark.parametrize(
    "change",
    [
        lambda backend: backend.write("/a.md", "new"),
        lambda backend: backend.edit("/a.md", "old", "new"),
        lambda backend: backend.append("/a.md", "new"),
        lambda backend: backend.upload_files([("/a.md", b"new")])[0],
        lambda backend: backend.upload_files([("/a.md", b"\xff\0")])[0],
    ],
)
def test_every_change_keeps_when_a_file_was_created(change):
    backend = StateBackend(clock=ticking())

    def work():
        backend.write("/a.md", "old")
        assert change(backend).error is None

    file = run(work)[1]["/a.md"]
    assert file["created_at"] == "2026-01-01T00:00:00+00:00"
    assert file["modified_at"] == "2026-01-01T00:00:01+00:00"


ODD = {
    "/odd/number.md": 5,
    "/odd/text.md": "just text",
    "/odd/empty.md": {},
    "/odd/content.md": {"content": 5, "encoding": "utf-8"},
    "/odd/lines.md": {"content": ["one", 2]},
    "/odd/encoding.md": {"content": "x", "encoding": "latin-1"},
    "/odd/base64.md": {"content": "x", "encoding": "base64"},
}


def test_odd_records_are_left_out_and_never_a_crash(caplog):
    def work():
        listed = BACKEND.ls("/")
        assert [one["path"] for one in BACKEND.glob("*.md").matches] == ["/a.md", "/odd/base64.md"]
        assert [one["path"] for one in BACKEND.grep("x").matches] == ["/a.md"]
        for path in ODD:
            read, edited = BACKEND.read(path), BACKEND.edit(path, "x", "y")
            assert path in read.error, read
            assert path in edited.error, edited
            assert BACKEND.append(path, "x").error
            assert BACKEND.download_files([path])[0].error == "invalid_path"
        for path in ODD:
            assert BACKEND.write(path, "text").error is None
        assert len(BACKEND.ls("/odd").entries) == len(ODD)
        BACKEND.delete("/odd")
        return [one["path"] for one in listed.entries]

    with caplog.at_level(logging.WARNING, "memoryware"):
        listed, files = run(work, {**ODD, "/a.md": record("x"), "/../b.md": record("x")})
    assert listed == ["/a.md", "/odd/"]
    assert [*files] == ["/a.md", "/../b.md"]
    assert any("/odd/number.md" in one for one in caplog.messages)


def test_a_file_named_like_a_folder_and_a_file_below_a_file_are_refused():
    def work():
        BACKEND.write("/a/b.md", "x")
        return (
            BACKEND.write("/a", "x").error,
            BACKEND.write("/a/b.md/c.md", "x").error,
            [
                one.error
                for one in BACKEND.upload_files([("/a", b""), ("/a/b.md/c", b""), ("/a/d", b"")])
            ],
            [
                one.error
                for one in BACKEND.upload_files([("/n/x", b""), ("/n", b""), ("/n/x/y", b"")])
            ],
        )

    as_folder, below, batch, within = run(work)[0]
    assert "folder" in as_folder
    assert "/a/b.md" in below
    assert batch == ["is_directory", "invalid_path", None]
    assert within == [None, "is_directory", "invalid_path"]


# Where there is no state.


@pytest.mark.parametrize(
    "call",
    [
        lambda: BACKEND.read("/a.md"),
        lambda: BACKEND.write("/a.md", ""),
        lambda: BACKEND.ls("/"),
        lambda: BACKEND.upload_files([("/a.md", b"")]),
    ],
)
def test_outside_a_graph_the_error_says_what_to_do(call):
    with pytest.raises(RuntimeError, match="pass them on invoke"):
        call()
    with pytest.raises(BackendUnavailable, match="inside a graph"):
        call()


def test_a_graph_without_a_files_channel_is_an_error_that_says_what_declares_it():
    class Other(TypedDict):
        other: int

    with pytest.raises(BackendUnavailable, match="FileToolsMiddleware"):
        run(lambda: BACKEND.write("/a.md", "x"), 1, schema=Other, key="other")


def test_the_runtime_of_older_code_is_read_where_no_graph_runs():
    backend = StateBackend(SimpleNamespace(state={"files": {"/a.md": record("tea")}}))

    assert backend.read("/a.md").file_data["content"] == "tea"
    assert [one["path"] for one in backend.ls("/").entries] == ["/a.md"]
    assert StateBackend(SimpleNamespace(state={})).ls("/").entries == []
    with pytest.raises(BackendUnavailable):
        backend.write("/a.md", "x")


def test_within_a_graph_the_graph_counts_and_not_the_runtime_of_older_code():
    backend = StateBackend(SimpleNamespace(state={"files": {"/old.md": record("old")}}))

    def work():
        backend.write("/a.md", "new")
        return backend.read("/old.md").error, backend.read("/a.md").file_data["content"]

    assert run(work)[0] == ("File '/old.md' not found", "new")


def test_an_agent_with_files_can_describe_its_input():
    class FilesAgentState(AgentState):
        files: NotRequired[FilesChannel]

    agent = create_agent(ScriptedModel(), state_schema=FilesAgentState)
    assert "files" in agent.get_input_jsonschema()["properties"]


# The reducer by itself.


@pytest.mark.parametrize("left", [None, {}, {"/a.md": record("x")}])
@pytest.mark.parametrize("right", [None, {}, {"/a.md": None}, {"/b.md": None, "a.md": None}])
def test_a_deletion_leaves_nothing_behind(left, right):
    files = files_reducer(left, right)

    assert files == ({} if right else left or {})


def test_a_plain_record_replaces_what_is_there():
    left = {"/a.md": record("old"), "/b.md": record("b")}

    assert files_reducer(left, {"./a.md": record("new")}) == {
        "/a.md": record("new"),
        "/b.md": record("b"),
    }
    assert left == {"/a.md": record("old"), "/b.md": record("b")}


def test_a_batch_of_updates_gives_the_same_as_one_after_the_other():
    updates = [{"/a.md": record("1")}, {"/a.md": None, "/b.md": record("2")}, {"/b.md": None}]
    files = None
    for update in updates:
        files = files_reducer(files, update)

    assert files == {}


def test_a_step_that_touches_one_file_hashes_no_other():
    _filedata._digest.cache_clear()
    run(lambda: BACKEND.append("/7.md", "y"), {f"/{n}.md": record(f"{n}") for n in range(100)})

    assert _filedata._digest.cache_info().misses == 1


TEXT = st.sampled_from(["", "a", "b", "a\nb\n", "b\na", "c\r\nd\r\n", "a b c"])
STEPS = st.one_of(
    st.tuples(st.just("write"), TEXT),
    st.tuples(st.just("append"), st.sampled_from(["x", "y"])),
    st.tuples(st.just("edit"), st.sampled_from(["a", "b", "c"]), st.sampled_from(["d", "e", "a"])),
)


@pytest.mark.slow
@given(base=st.none() | TEXT, tasks=st.lists(st.lists(STEPS, max_size=3), min_size=1, max_size=4))
@settings(max_examples=150, deadline=None)
def test_whatever_tasks_do_side_by_side_every_text_is_kept_or_built_upon(base, tasks):
    builder, finals = StateGraph(FileState), []
    for number, steps in enumerate(tasks):
        builder.add_node(f"{number}", lambda _, n=number, s=steps: finals.append(do(n, s)))
        builder.add_edge(START, f"{number}")
    before = {} if base is None else {"/a.md": record(base)}
    config: Any = {"configurable": {"thread_id": "1"}}
    after = builder.compile(checkpointer=InMemorySaver()).invoke({"files": before}, config)["files"]

    contents = [file["content"] for file in after.values()]
    assert all("_change" not in file for file in after.values())
    for marks, text in finals:
        # Either the whole text is somewhere, or each thing that was added and not undone is.
        assert (
            not marks
            or text in contents
            or all(mark in "".join(contents) for mark in marks if mark in text)
        )


def do(number, steps):
    """Do the steps of one task, each with a mark of its own; return marks and the text seen."""
    marks = []
    for step in steps:
        mark = f"<{number}.{len(marks)}>"
        match step:
            case ("write", text):
                result = BACKEND.write("/a.md", text + mark)
            case ("append", line):
                result = BACKEND.append("/a.md", line + mark)
            case ("edit", old, new):
                result = BACKEND.edit("/a.md", old, new + mark)
        if result.error is None:
            marks.append(mark)
    (answer,) = BACKEND.download_files(["/a.md"])
    return (marks, answer.content.decode()) if marks else ([], "")

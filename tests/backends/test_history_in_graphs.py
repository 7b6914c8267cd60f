"""Histories in the state of a graph, and what a run knows of who acts."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.store.memory import InMemoryStore
from langgraph.types import interrupt

from backends.in_graph import FileState
from kit import ScriptedModel, aask, ask, call, calls, say, tool_messages
from memoryware import FileToolsMiddleware, MemoryMiddleware
from memoryware.backends import CompositeBackend, FilesystemBackend, StateBackend, StoreBackend
from memoryware.backends._adapter import keeps_files_in_state
from memoryware.backends.history import HistoryBackend
from memoryware.errors import BackendUnavailable

HISTORY = HistoryBackend(StateBackend())
BASE = "one: empty\ntwo: empty\n"


def record(text):
    return {"content": text, "encoding": "utf-8"}


def steps(*rounds, saver=None):
    """A graph whose rounds come one after the other; what is in one is done side by side."""
    builder, before = StateGraph(FileState), [START]
    for number, works in enumerate(rounds):
        names = []
        for place, work in enumerate(works):
            names.append(f"{number}-{place}")
            builder.add_node(names[-1], lambda _, work=work: work() and None)
            for one in before:
                builder.add_edge(one, names[-1])
        before = names
    return builder.compile(checkpointer=saver)


def edit(old, new):
    def work():
        result = HISTORY.edit("/a.md", old, new)
        assert result.error is None, result.error

    return work


def run(*rounds, files=None):
    """Play rounds, and return what the last one, a function of its own, has found."""
    found = []
    *before, last = rounds
    graph = steps(*before, [lambda: found.append(last())])
    graph.invoke({"files": files or {}})
    return found[0]


def kinds():
    return [(one.number, one.kind, one.applied) for one in reversed(HISTORY.log("/a.md"))]


def text():
    return HISTORY.read("/a.md").file_data["content"]


def test_parallel_edits_are_merged_and_each_has_its_version():
    both = [edit("one: empty", "one: done"), edit("two: empty", "two: done")]

    def look():
        before, merged = kinds(), text()
        HISTORY.append("/a.md", "more")
        return before, merged, kinds()

    before, merged, after = run(both, look, files={"/a.md": record(BASE)})
    assert merged == "one: done\ntwo: done\n"
    assert before == [(1, "found", True), (2, "edit", True), (2, "edit", True)]
    assert after == [*before, (3, "merged", True), (4, "append", True)]


def test_what_the_tasks_of_a_step_did_is_undone_as_a_whole():
    both = [edit("one: empty", "one: done"), edit("two: empty", "two: done")]

    def back():
        HISTORY.undo("/a.md")
        return text(), kinds()[-2:]

    assert run(both, back, files={"/a.md": record(BASE)}) == (
        BASE,
        [(3, "merged", True), (4, "undo", True)],
    )

    def further_back():
        HISTORY.append("/a.md", "more")
        HISTORY.undo("/a.md")
        merged = text()
        HISTORY.undo("/a.md")
        return merged, text()

    merged = "one: done\ntwo: done\n"
    assert run(both, further_back, files={"/a.md": record(BASE)}) == (merged, BASE)


def test_branches_that_change_a_file_unequally_often_are_merged_as_well():
    def many():
        for n in range(3):
            edit(f"one: {n or 'empty'}", f"one: {n + 1}")()

    def look():
        HISTORY.append("/a.md", "more")
        merged = [one for one in HISTORY.log("/a.md") if one.kind == "merged"]
        HISTORY.undo("/a.md")
        HISTORY.undo("/a.md")
        return len(merged), text()

    found = run([many, edit("two: empty", "two: done")], look, files={"/a.md": record(BASE)})
    assert found == (1, BASE)


def test_after_a_task_has_failed_file_and_history_agree():
    def fails():
        edit("one: empty", "one: done")()
        raise ArithmeticError

    graph = steps([fails], saver=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    with pytest.raises(ArithmeticError):
        graph.invoke({"files": {"/a.md": record(BASE)}}, config)
    values = graph.get_state(config).values
    seen = HistoryBackend(StateBackend(SimpleNamespace(state=values)))
    changed = values["files"]["/a.md"]["content"] != BASE
    assert [one.kind for one in seen.log("/a.md")] == (["edit", "found"] if changed else [])
    assert all(one.applied for one in seen.log("/a.md"))


def test_a_change_before_an_interrupt_is_there_once_after_it():
    def asks():
        edit("one: empty", "one: done")()
        interrupt("may I?")

    from langgraph.types import Command

    found = []
    graph = steps([asks], [lambda: found.append((kinds(), text()))], saver=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    graph.invoke({"files": {"/a.md": record(BASE)}}, config)
    graph.invoke(Command(resume="yes"), config)
    assert found == [
        ([(1, "found", True), (2, "edit", True)], "one: done\ntwo: empty\n"),
    ]


def test_outside_a_graph_the_files_of_a_result_can_be_looked_at():
    graph = steps([edit("one", "1")], [edit("two", "2")])
    result = graph.invoke({"files": {"/a.md": record(BASE)}})
    with pytest.raises(BackendUnavailable):
        HISTORY.write("/a.md", "nowhere")
    seen = HistoryBackend(StateBackend(SimpleNamespace(state=result)))
    assert [one.kind for one in seen.log("/a.md")] == ["edit", "edit", "found"]
    assert seen.show("/a.md", 1) == BASE
    assert "-one: empty\n+1: empty\n" in seen.diff("/a.md", 1, 2)


@pytest.mark.parametrize("door", [ask, aask])
async def test_a_run_says_who_acts(door, tmp_path):
    backend = HistoryBackend(FilesystemBackend(tmp_path))
    model = ScriptedModel(
        call("append_file", file_path="/AGENTS.md", text="- tea"),
        calls(
            ("edit_file", {"file_path": "/AGENTS.md", "old_string": "tea", "new_string": "milk"}),
            ("write_file", {"file_path": "/b.md", "content": "x"}),
        ),
        say(),
    )
    agent = create_agent(
        model,
        middleware=[
            MemoryMiddleware(backend=backend, sources=["/AGENTS.md"]),
            FileToolsMiddleware(backend=backend),
        ],
        name="barista",
        checkpointer=InMemorySaver(),
    )
    config = {"configurable": {"thread_id": "monday", "user_id": "ann"}}
    given = {"messages": [{"role": "user", "content": "hello"}]}
    result = agent.invoke(given, config) if door is ask else await agent.ainvoke(given, config)

    assert [one.status for one in tool_messages(result)] == ["success"] * 3
    ids = [one.tool_call_id for one in tool_messages(result)]
    newest, oldest = backend.log("/AGENTS.md")
    assert {(one.actor.agent, one.actor.user, one.actor.thread) for one in (newest, oldest)} == {
        ("barista", "ann", "monday")
    }
    assert [one.actor.tool_call for one in (oldest, newest)] == ids[:2]


def test_an_agent_neither_sees_nor_changes_the_versions():
    store = InMemoryStore()
    backend = HistoryBackend(StoreBackend(store=store, namespace=("memory",)))
    backend.write("/AGENTS.md", "- tea\n")
    hidden = next(one.key for one in store.search(("memory",)) if "/0" in one.key)
    model = ScriptedModel(
        call("ls", path="/"),
        call("glob", pattern="**/*.json"),
        call("grep", pattern="tea"),
        call("read_file", file_path=hidden),
        call("delete", file_path="/.memoryware"),
        call("write_file", file_path=hidden, content="owned"),
        say(),
    )
    agent = create_agent(model, middleware=[FileToolsMiddleware(backend=backend)])
    told = [one.text for one in tool_messages(ask(agent))]
    assert not [one for one in told[:3] if ".memoryware" in one], told
    assert ["rror" in one for one in told[3:]] == [True] * 3
    assert len(backend.log("/AGENTS.md")) == 1


def test_the_channel_for_files_is_there_when_a_wrapper_needs_it():
    state = StateBackend()
    disk = FilesystemBackend("/tmp")
    assert keeps_files_in_state(HistoryBackend(state))
    assert keeps_files_in_state(HistoryBackend(HistoryBackend(state)))
    assert keeps_files_in_state(HistoryBackend(CompositeBackend(disk, {"/s/": state})))
    assert keeps_files_in_state(CompositeBackend(disk, {"/s/": HistoryBackend(state)}))
    assert not keeps_files_in_state(HistoryBackend(disk))
    model = ScriptedModel(call("write_file", file_path="/a.md", content="one"), say())
    agent = create_agent(model, middleware=[FileToolsMiddleware(backend=HISTORY)])
    assert ask(agent)["files"]["/a.md"]["content"] == "one"

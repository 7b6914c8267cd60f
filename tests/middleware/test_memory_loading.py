"""What is loaded, when, and what happens when it cannot be."""

from __future__ import annotations

import asyncio
import logging

import pytest
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver

from kit import ScriptedModel, aask, ask, call, say
from memoryware import MemoryMiddleware
from memoryware.backends import FileDownloadResponse
from memoryware.errors import LoadError, ResponseCountError, SettingError
from notes import Notes


def loaded(backend, sources, **options):
    middleware = MemoryMiddleware(backend=backend, sources=sources, **options)
    return middleware.before_agent({}, None, {})["memory_contents"]


def test_by_hand_the_texts_come_back_by_source():
    notes = Notes({"/a.md": "A", "/b.md": "B"})

    assert loaded(notes, ["/b.md", "/a.md"]) == {"/b.md": "B", "/a.md": "A"}


@pytest.mark.parametrize("state", [{"memory_contents": {}}, {"memory_contents": {"/a.md": "old"}}])
def test_by_hand_nothing_is_read_when_the_state_has_the_key(state):
    notes = Notes({"/a.md": "A"})
    middleware = MemoryMiddleware(backend=notes, sources=["/a.md"])

    assert middleware.before_agent(state, None, {}) is None
    assert asyncio.run(middleware.abefore_agent(state, None, {})) is None
    assert notes.asked == []


def test_all_sources_are_asked_for_in_one_batch_and_duplicates_once():
    notes = Notes({"/a.md": "A"})
    loaded(notes, ["/a.md", "/b.md", "a.md", "/./a.md", "/c.md"])

    assert notes.asked == [["/a.md", "/b.md", "/c.md"]]


def test_a_missing_file_is_left_out_without_an_error():
    assert loaded(Notes({"/b.md": "B"}), ["/a.md", "/b.md"]) == {"/b.md": "B"}


@pytest.mark.parametrize("code", ["permission_denied", "is_directory", "invalid_path", "odd thing"])
def test_another_code_raises_an_error_that_names_path_and_code(code):
    with pytest.raises(ValueError, match=f"Failed to download /a.md: {code}") as caught:
        loaded(Notes(errors={"/a.md": code}), ["/a.md"])

    assert isinstance(caught.value, LoadError)
    assert (caught.value.path, caught.value.code) == ("/a.md", code)


def test_with_warn_the_others_are_loaded_and_the_prompt_and_the_log_say_so(caplog):
    model = ScriptedModel()
    notes = Notes({"/b.md": "Keep this."}, errors={"/a.md": "is_directory"})
    memory = MemoryMiddleware(backend=notes, sources=["/a.md", "/b.md"], on_error="warn")
    ask(create_agent(model, middleware=[memory]))

    assert "Keep this." in model.system()
    assert "[not loaded: /a.md (is_directory)]" in model.system()
    assert "/a.md was not loaded: is_directory" in caplog.text


def test_with_warn_a_backend_that_raises_does_not_stop_the_run():
    class Broken(Notes):
        def download_files(self, paths):
            raise ConnectionError("the network is away")

    model = ScriptedModel()
    memory = MemoryMiddleware(backend=Broken(), sources=["/a.md"], on_error="warn")
    ask(create_agent(model, middleware=[memory]))

    assert "[not loaded: /a.md (ConnectionError)]" in model.system()


@pytest.mark.parametrize("count", [0, 2])
def test_a_wrong_number_of_answers_names_backend_path_and_both_counts(count):
    class Miscounting(Notes):
        def download_files(self, paths):
            return [FileDownloadResponse("/a.md", content=b"A")] * count

    for kind in (ValueError, AssertionError, ResponseCountError):
        with pytest.raises(kind) as caught:
            loaded(Miscounting(), ["/a.md"])
    text = str(caught.value)
    assert f"Expected 1 response for path /a.md, got {count}" in text
    assert "expected 1" in text
    assert "Miscounting" in text


def test_an_async_only_backend_loads_in_the_async_door():
    class AsyncOnly(Notes):
        def download_files(self, paths):
            raise AssertionError("the blocking half was called")

        async def adownload_files(self, paths):
            return Notes.download_files(self, paths)

    middleware = MemoryMiddleware(backend=AsyncOnly({"/a.md": "A"}), sources=["/a.md"])

    assert asyncio.run(middleware.abefore_agent({}, None, {})) == {
        "memory_contents": {"/a.md": "A"}
    }


def test_one_run_loads_once_and_the_next_run_sees_what_changed():
    notes = Notes({"/a.md": "Tuesday"})
    model = ScriptedModel(call("write_todos", todos=[]), call("write_todos", todos=[]))
    from langchain.agents.middleware import TodoListMiddleware

    memory = MemoryMiddleware(backend=notes, sources=["/a.md"])
    agent = create_agent(
        model, middleware=[TodoListMiddleware(), memory], checkpointer=InMemorySaver()
    )
    ask(agent, thread="t")
    assert len(notes.asked) == 1
    notes.files["/a.md"] = "Friday"
    ask(agent, thread="t")

    assert ["Tuesday" in model.system(n) for n in range(4)] == [True, True, True, False]
    assert "Friday" in model.system()


def test_refresh_thread_keeps_the_first_text_for_the_life_of_the_thread():
    notes = Notes({"/a.md": "Tuesday"})
    model = ScriptedModel()
    memory = MemoryMiddleware(backend=notes, sources=["/a.md"], refresh="thread")
    agent = create_agent(model, middleware=[memory], checkpointer=InMemorySaver())
    ask(agent, thread="t")
    notes.files["/a.md"] = "Friday"
    ask(agent, thread="t")
    ask(agent, thread="new")

    assert ["Friday" in model.system(n) for n in range(3)] == [False, False, True]


def test_refresh_call_reads_before_every_model_call():
    notes = Notes({"/a.md": "one"})

    def change(messages):
        notes.files["/a.md"] = "two"
        return call("edit_memory", old_string="absent", new_string="x")

    model = ScriptedModel(change, say())
    memory = MemoryMiddleware(backend=notes, sources=["/a.md"], refresh="call")
    ask(create_agent(model, middleware=[memory]))

    assert "two" in model.system(1)
    assert "one" not in model.system(1).partition("</agent_memory>")[0]


async def test_a_save_in_a_run_is_in_the_next_model_call_of_that_run():
    notes = Notes({"/a.md": "Drinks tea."})
    for run in (ask, aask):
        notes.files["/a.md"] = "Drinks tea."
        model = ScriptedModel(call("edit_memory", old_string="tea", new_string="coffee"), say())
        agent = create_agent(model, middleware=[MemoryMiddleware(backend=notes, sources=["/a.md"])])
        result = run(agent)
        if run is aask:
            await result

        assert "Drinks coffee." in model.system(1)
        assert model.system(1).count("Drinks coffee.") == 1


def test_a_factory_gets_the_runtime_and_makes_the_backend():
    seen = []

    def make(runtime):
        seen.append(runtime)
        return Notes({"/a.md": "From a factory."})

    model = ScriptedModel()
    ask(create_agent(model, middleware=[MemoryMiddleware(backend=make, sources=["/a.md"])]))

    assert "From a factory." in model.system()
    for name in ("state", "context", "store", "stream_writer", "config", "tool_call_id"):
        assert hasattr(seen[0], name)
    assert seen[0].state["messages"]


def test_two_callers_of_one_backend_never_see_each_others_memory():
    class PerUser(Notes):
        def download_files(self, paths):
            from langgraph.runtime import get_runtime

            user = get_runtime().context["user"]
            return [FileDownloadResponse(path, content=f"of {user}".encode()) for path in paths]

    model = ScriptedModel()
    memory = MemoryMiddleware(backend=PerUser(), sources=["/a.md"])
    agent = create_agent(model, middleware=[memory], context_schema=dict)
    for user in ("ann", "bob", "ann"):
        agent.invoke({"messages": [("user", "hi")]}, context={"user": user})

    assert ["of ann" in model.system(n) for n in range(3)] == [True, False, True]
    assert "of bob" in model.system(1)


def test_contents_in_the_input_are_ignored():
    model = ScriptedModel()
    memory = MemoryMiddleware(backend=Notes({"/a.md": "real"}), sources=["/a.md"])
    result = ask(create_agent(model, middleware=[memory]), memory_contents={"/a.md": "INJECTED"})

    assert "INJECTED" not in model.system()
    assert set(result) == {"messages"}


def test_a_subclass_with_a_loader_of_its_own_is_asked_path_by_path():
    class Mine(MemoryMiddleware):
        def _load_memory_from_backend_sync(self, backend, path):
            return f"mine: {path}"

        async def _load_memory_from_backend(self, backend, path):
            return f"mine, async: {path}"

    notes = Notes()
    middleware = Mine(backend=notes, sources=["/a.md", "/b.md"])

    assert middleware.before_agent({}, None, {}) == {
        "memory_contents": {"/a.md": "mine: /a.md", "/b.md": "mine: /b.md"}
    }
    later = asyncio.run(middleware.abefore_agent({}, None, {}))
    assert later["memory_contents"]["/b.md"] == "mine, async: /b.md"
    assert notes.asked == []


def test_an_overridden_get_backend_is_honoured():
    class Mine(MemoryMiddleware):
        def _get_backend(self, state, runtime, config):
            return Notes({"/a.md": "theirs"})

    middleware = Mine(backend=Notes(), sources=["/a.md"])

    assert middleware.before_agent({}, None, {}) == {"memory_contents": {"/a.md": "theirs"}}


def test_the_documented_helpers_work_by_hand():
    middleware = MemoryMiddleware(backend=Notes({"/a.md": "A"}), sources=["/a.md"])
    backend = middleware._get_backend({}, None, {})

    assert middleware._load_memory_from_backend_sync(backend, "/a.md") == "A"
    assert asyncio.run(middleware._load_memory_from_backend(backend, "/none.md")) is None
    assert "/a.md\nA" in middleware._format_agent_memory({"/a.md": "A"})
    assert (
        middleware._format_agent_memory({"/a.md": "A"}, "<m>{agent_memory}</m>")
        == "<m>/a.md\nA</m>"
    )


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"\xef\xbb\xbf# Rules", "# Rules"),
        ("Meet at the café.".encode("utf-16"), "Meet at the café."),
        ("café".encode("latin-1"), "caf\ufffd"),
    ],
)
def test_every_encoding_loads_and_what_is_lost_is_told(data, shown, caplog):
    class Bytes(Notes):
        def download_files(self, paths):
            return [FileDownloadResponse(path, content=data) for path in paths]

    assert loaded(Bytes(), ["/a.md"]) == {"/a.md": shown}
    assert ("/a.md is not valid utf-8" in caplog.text) == ("\ufffd" in shown)


def test_when_no_source_is_found_one_warning_says_so(caplog):
    middleware = MemoryMiddleware(backend=Notes(), sources=["/a.md", "/b.md"])
    for _ in range(3):
        middleware.before_agent({}, None, {})

    assert caplog.text.count("no memory file was found: /a.md, /b.md") == 1


def test_the_log_names_paths_and_never_the_text(caplog):
    caplog.set_level(logging.DEBUG, logger="memoryware")
    model = ScriptedModel()
    memory = MemoryMiddleware(backend=Notes({"/a.md": "the secret plan"}), sources=["/a.md"])
    ask(create_agent(model, middleware=[memory]))

    assert "/a.md loaded, 15 bytes" in caplog.text
    assert "secret plan" not in caplog.text


def test_events_tell_what_was_loaded_and_shown():
    memory = MemoryMiddleware(backend=Notes({"/a.md": "tea"}), sources=["/a.md", "/b.md"])
    agent = create_agent(ScriptedModel(), middleware=[memory])
    events = list(agent.stream({"messages": [("user", "hi")]}, stream_mode="custom"))

    assert [event["event"] for event in events] == ["loaded", "injected"]
    loaded = {key: events[0][key] for key in ("sources", "missing", "failed", "characters")}
    assert loaded == {"sources": ["/a.md"], "missing": ["/b.md"], "failed": [], "characters": 3}
    assert events[1]["sources"] == ["/a.md"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"sources": "/a.md"},
        {"sources": ["/a.md", 3]},
        {"sources": ["/a.md"], "refresh": "never"},
        {"sources": ["/a.md"], "on_error": "ignore"},
        {"sources": "everything"},
        {"sources": ["/a.md"], "guard": "strict"},
        {"sources": ["/a.md"], "imports": 5},
        {"sources": ["/a.md"], "hidden_regions": "some"},
        {"sources": ["/a.md"], "max_tokens": 0},
        {"sources": ["/a.md"], "system_prompt": "no slot"},
    ],
)
def test_a_wrong_option_is_refused_when_built(wrong):
    with pytest.raises(SettingError):
        MemoryMiddleware(backend=Notes(), **wrong)


def test_a_template_of_another_type_is_a_type_error():
    with pytest.raises(TypeError, match="system_prompt must be text or None"):
        MemoryMiddleware(backend=Notes(), sources=[], system_prompt=3)


def test_a_source_that_a_rule_denies_is_not_read():
    notes = Notes({"/secret/a.md": "hidden plan", "/b.md": "open"})
    model = ScriptedModel()
    memory = MemoryMiddleware(
        backend=notes, sources=["/secret/a.md", "/b.md"], deny=["/secret/**"], on_error="warn"
    )
    ask(create_agent(model, middleware=[memory]))

    assert notes.asked == [["/b.md"]]
    assert "[not loaded: /secret/a.md (permission_denied)]" in model.system()
    assert "hidden plan" not in model.system()


def test_the_event_names_the_sources_that_were_cut_and_no_others():
    memory = MemoryMiddleware(
        backend=Notes({"/a.md": "word " * 5000, "/b.md": "hid\u200bden"}),
        sources=["/a.md", "/b.md"],
        max_tokens=500,
    )
    agent = create_agent(ScriptedModel(), middleware=[memory])
    *_, injected = agent.stream({"messages": [("user", "hi")]}, stream_mode="custom")

    assert injected["sources"] == ["/a.md", "/b.md"]
    assert injected["cut"] == ["/a.md"]

"""The events of real runs: which come, in which order, and that no memory text is in them."""

from __future__ import annotations

import asyncio
import logging

import pytest
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from events.wellformed import faults_of
from kit import ScriptedModel, aask, ask, call, say, tool_messages
from memoryware import FilesystemBackend, FileToolsMiddleware, MemoryMiddleware
from memoryware.events import Counters, listen, logger
from memoryware.sources.source import Source

CANARY = "the canary sings at noon"
PASSWORD = "correct-horse-7-battery"
WHO = {"configurable": {"thread_id": "thread-1", "user_id": "ann"}}
MODES = ["values", "updates", "custom", "messages", "debug", "tasks", "checkpoints"]


def note(text, path="/AGENTS.md"):
    """A turn in which the model adds a line to a memory file."""
    return call("append_file", file_path=path, text=text)


class Ground:
    """A folder with two memory files, one of them read-only, and agents that use them."""

    def __init__(self, folder) -> None:
        self.folder = folder
        self.file = folder / "AGENTS.md"
        self.file.write_text(f"- {CANARY}\n")
        (folder / "TEAM.md").write_text("- Be kind.\n")

    def agent(self, *turns, own=True, model=None, **options):
        backend = FilesystemBackend(root_dir=self.folder)
        sources = [
            Source("/TEAM.md", owner="team", writable=False),
            Source("/AGENTS.md", writable=own),
        ]
        memory = MemoryMiddleware(backend=backend, sources=sources, **options)
        return create_agent(
            model or ScriptedModel(*turns),
            middleware=[memory, FileToolsMiddleware(backend=backend)],
            checkpointer=InMemorySaver(),
        )


@pytest.fixture
def ground(tmp_path):
    return Ground(tmp_path)


@pytest.fixture
def spans(monkeypatch):
    """Trace this test; the value gives the spans that have ended."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    return exporter.get_finished_spans


def streamed(agent, given=None, **more):
    """The custom stream of a run."""
    given = given or {"messages": "hello"}
    return list(agent.stream(given, WHO, stream_mode="custom", **more))


async def astreamed(agent):
    given = {"messages": "hello"}
    return [one async for one in agent.astream(given, WHO, stream_mode="custom")]


def names(events):
    return [one["event"] for one in events]


def of(events, name):
    """The only event of a name."""
    (one,) = [one for one in events if one["event"] == name]
    return one


# One run.


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_one_run_tells_what_was_loaded_shown_and_written(ground, mode):
    agent = ground.agent(note("- Bo is new."), say())
    run = streamed(agent) if mode == "invoke" else asyncio.run(astreamed(agent))
    assert names(run) == ["loaded", "injected", "written", "loaded", "injected"]
    assert [fault for one in run for fault in faults_of(one)] == []
    loaded, injected, written = run[:3]
    assert loaded["sources"] == injected["sources"] == ["/TEAM.md", "/AGENTS.md"]
    assert loaded["characters"] == len(f"- {CANARY}\n- Be kind.\n")
    assert loaded["backend"] == "FilesystemBackend"
    assert injected["tokens"] > 0
    assert injected["cut"] == []
    assert (written["path"], written["tool"]) == ("/AGENTS.md", "append_file")
    assert (written["lines_added"], written["lines_removed"]) == (1, 0)
    assert written["tool_call"].startswith("call-")
    assert written["digest_before"] != written["digest_after"]
    assert run[3]["characters"] == len(f"- {CANARY}\n- Bo is new.\n- Be kind.\n")


def test_every_event_says_on_whose_behalf_it_happened(ground):
    for one in streamed(ground.agent(note("- Bo is new."), say(), name="team")):
        assert (one["memory"], one["user"], one["thread"]) == ("team", "ann", "thread-1")


def test_what_is_missing_unreadable_or_cut_is_told(ground):
    (ground.folder / "folder.md").mkdir()
    ground.file.write_text("- a line of some length\n" * 400)
    backend = FilesystemBackend(root_dir=ground.folder)
    memory = MemoryMiddleware(
        backend=backend,
        sources=["/none.md", "/folder.md", "/AGENTS.md"],
        on_error="warn",
        max_tokens=100,
    )
    run = streamed(create_agent(ScriptedModel(), middleware=[memory]))
    loaded, injected = of(run, "loaded"), of(run, "injected")
    assert (loaded["missing"], loaded["failed"]) == (["/none.md"], ["/folder.md"])
    assert loaded["codes"] == ["is_directory"]
    assert injected["cut"] == ["/AGENTS.md"]
    assert [*faults_of(loaded), *faults_of(injected)] == []


# Refusals and questions.


@pytest.mark.parametrize(
    ("turn", "reason", "kinds"),
    [
        (note("- The wifi password is " + PASSWORD), "secret", 1),
        (note("- Be loud.", path="/TEAM.md"), "read_only", 0),
    ],
)
def test_a_refused_write_is_told_with_its_reason_and_without_its_text(
    ground, caplog, spans, turn, reason, kinds
):
    caplog.set_level(logging.DEBUG)
    before = ground.file.read_text()
    with trace.get_tracer("app").start_as_current_span("run"):
        run = streamed(ground.agent(turn, say(), trace_content=True))
    blocked = of(run, "write_blocked")
    assert faults_of(blocked) == []
    assert (blocked["reason"], blocked["tool"]) == (reason, "append_file")
    assert len(blocked["kinds"]) == len(blocked["lines"]) == kinds
    assert ground.file.read_text() == before
    ours = [vars(one) for one in caplog.records if one.name == "memoryware"]
    assert ours
    assert PASSWORD not in str((run, ours, [one.to_json() for one in spans()]))


def test_a_question_is_told_once_and_then_what_became_of_it(ground):
    agent = ground.agent(note("- Bo is new."), say(), own="ask")
    heard = []
    with listen(heard.append):
        agent.invoke({"messages": [("user", "hello")]}, WHO)
        assert of(heard, "approval_asked")["reason"] == "consent"
        agent.invoke(Command(resume={"decisions": [{"type": "approve"}]}), WHO)
    assert [one for one in names(heard) if one not in ("loaded", "injected")] == [
        "approval_asked",
        "written",
    ]
    assert [fault for one in heard for fault in faults_of(one)] == []


def test_a_question_that_a_person_answers_with_no_ends_in_a_refusal(ground):
    agent = ground.agent(note("- Bo is new."), say(), own="ask")
    heard = []
    with listen(heard.append):
        agent.invoke({"messages": [("user", "hello")]}, WHO)
        agent.invoke(Command(resume={"decisions": [{"type": "reject"}]}), WHO)
    assert of(heard, "write_blocked")["reason"] == "not_approved"
    assert [one for one in heard if one["event"] == "written"] == []


def test_a_write_that_the_rules_of_the_tools_forbid_is_told_like_any_other(ground):
    tools = FileToolsMiddleware(
        backend=FilesystemBackend(root_dir=ground.folder), read_only=["/TEAM.md"]
    )
    model = ScriptedModel(note("- Be loud.", path="/TEAM.md"), say())
    blocked = of(streamed(create_agent(model, middleware=[tools])), "write_blocked")
    assert faults_of(blocked) == []
    assert (blocked["reason"], blocked["tool"]) == ("rules", "append_file")
    assert (blocked["path"], blocked["user"]) == ("/TEAM.md", "ann")
    assert blocked["tool_call"].startswith("call-")


# Nobody sees memory in them.


class Everything(logging.Handler):
    """Keeps all that any logger of the process says."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.said: list[str] = []

    def emit(self, record):
        self.said.append(f"{record.getMessage()} {vars(record)} {record.exc_info}")


@pytest.fixture
def everything():
    handler, root, before = Everything(), logging.getLogger(), logging.getLogger().level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield handler.said
    root.setLevel(before)
    root.removeHandler(handler)


def test_memory_is_in_no_stream_log_or_trace_but_in_what_the_model_gets(ground, everything, spans):
    model = ScriptedModel(note("- Bo is new."), note("- Loud.", path="/TEAM.md"), say())
    agent, heard = ground.agent(model=model), []
    with listen(heard.append), trace.get_tracer("app").start_as_current_span("run"):
        chunks = list(agent.stream({"messages": "hello"}, WHO, stream_mode=MODES))
    assert {mode for mode, _ in chunks} == set(MODES)
    assert all(CANARY in model.system(number) for number in range(3))
    told = [one.to_json() for one in spans()]
    assert {one.name for one in spans()} == {"run", "memory.load", "memory.write"}
    assert any("memory loaded" in one for one in everything)
    assert {"loaded", "injected", "written", "write_blocked"} <= set(names(heard))
    for places in (chunks, everything, told, heard, list(agent.get_state_history(WHO))):
        assert [one for one in places if CANARY in str(one)] == []


async def test_memory_is_in_no_async_stream_but_in_what_the_model_gets(ground, everything, spans):
    model = ScriptedModel(note("- Bo is new."), say())
    agent, seen = ground.agent(model=model), []
    with trace.get_tracer("app").start_as_current_span("run"):
        async for one in agent.astream_events({"messages": "hello"}, WHO, version="v2"):
            seen.append(one)
    assert CANARY in model.system()
    assert any(one["event"] == "on_chat_model_start" for one in seen)
    others = [one for one in seen if not one["event"].startswith("on_chat_model")]
    for places in (others, everything, [one.to_json() for one in spans()]):
        assert places
        assert [one for one in places if CANARY in str(one)] == []


def test_memory_is_in_all_of_them_if_it_was_asked_for(ground, caplog, spans):
    caplog.set_level(logging.DEBUG, "memoryware")
    with trace.get_tracer("app").start_as_current_span("run"):
        run = streamed(ground.agent(note("- Bo is new."), say(), trace_content=True))
    loaded, injected, written = run[:3]
    assert loaded["content"]["/AGENTS.md"] == f"- {CANARY}\n"
    assert written["content"]["/AGENTS.md"] == f"- {CANARY}\n- Bo is new.\n"
    assert CANARY in str(injected["content"])
    assert [fault for one in run for fault in faults_of(one)] == []
    records = [one for one in caplog.records if hasattr(one, "memory_event")]
    assert names(run) == [one.memory_event for one in records]
    assert all(CANARY in str(one.memory_facts) for one in records)
    assert all(CANARY not in one.getMessage() for one in caplog.records)
    (app,) = [one for one in spans() if one.name == "run"]
    inside = [told for one in spans() for told in one.events]
    assert len(inside) == len(run)
    assert all(CANARY in told.attributes["memory.content"] for told in inside)
    assert app.status.is_ok


def test_a_secret_in_a_memory_file_is_told_to_nobody_even_if_content_was_asked_for(
    ground, everything, spans
):
    ground.file.write_text(f"- The wifi password is {PASSWORD}\n- {CANARY}\n")
    with trace.get_tracer("app").start_as_current_span("run"):
        run = streamed(ground.agent(note("- Bo is new."), say(), trace_content=True))
    assert run[0]["suspect"] == ["/AGENTS.md"]
    assert all(CANARY in str(one["content"]) for one in run)
    for places in (run, everything, [one.to_json() for one in spans()]):
        assert places
        assert [one for one in places if PASSWORD in str(one)] == []


# Traces.


def _check_trace(spans):
    by_name = {}
    for one in spans():
        by_name.setdefault(one.name, []).append(one)
    (app,) = by_name["run"]
    assert [len(by_name[name]) for name in ("memory.load", "memory.write")] == [2, 1]
    for one in (*by_name["memory.load"], *by_name["memory.write"]):
        assert one.parent.span_id == app.context.span_id
    (write,) = by_name["memory.write"]
    assert write.attributes["memory.path"] == "/AGENTS.md"
    assert write.attributes["user.id"] == "ann"
    assert [one.name for one in write.events] == ["memory.written"]
    for one in by_name["memory.load"]:
        assert one.attributes["memory.sources"] == ("/TEAM.md", "/AGENTS.md")
    assert [one.name for one in app.events] == ["memory.injected"] * 2


def test_the_trace_of_a_run_hangs_together(ground, spans):
    with trace.get_tracer("app").start_as_current_span("run"):
        ground.agent(note("- Bo is new."), say()).invoke({"messages": "hello"}, WHO)
    _check_trace(spans)


async def test_the_trace_of_an_async_run_hangs_together(ground, spans):
    with trace.get_tracer("app").start_as_current_span("run"):
        await ground.agent(note("- Bo is new."), say()).ainvoke({"messages": "hello"}, WHO)
    _check_trace(spans)


def test_a_source_that_cannot_be_read_is_an_error_of_the_span_without_its_text(ground, spans):
    (ground.folder / "folder.md").mkdir()
    memory = MemoryMiddleware(
        backend=FilesystemBackend(root_dir=ground.folder), sources=["/AGENTS.md", "/folder.md"]
    )
    with pytest.raises(ValueError, match="is_directory"):
        create_agent(ScriptedModel(), middleware=[memory]).invoke({"messages": "hello"})
    (load,) = spans()
    assert load.status.status_code is trace.StatusCode.ERROR
    assert load.attributes["error.type"] == "memoryware.errors.LoadError"
    assert load.attributes["memory.code"] == "is_directory"
    assert load.events == ()
    assert CANARY not in load.to_json()


# Whoever listens badly does not end a run.


class Broken(SimpleSpanProcessor):
    """An exporter that is down."""

    def on_end(self, span):
        raise ConnectionError(CANARY)


def _fails(event):
    raise RuntimeError(str(event))


def test_a_run_goes_on_when_listener_and_exporter_fail(ground, monkeypatch, caplog):
    provider = TracerProvider()
    provider.add_span_processor(Broken(InMemorySpanExporter()))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    with listen(_fails):
        result = ask(ground.agent(note("- Bo is new."), say("saved")), thread="1")
    assert result["messages"][-1].text == "saved"
    assert "Bo is new" in ground.file.read_text()
    said = [one.getMessage() for one in caplog.records if "the run goes on" in one.getMessage()]
    assert len(said) == 2
    assert CANARY not in str(said)


async def test_an_async_run_goes_on_when_a_listener_fails(ground):
    def fails_async(event):
        raise RuntimeError

    with listen(fails_async):
        result = await aask(ground.agent(note("- Bo is new."), say("saved")), thread="1")
    assert result["messages"][-1].text == "saved"
    assert [one.status for one in tool_messages(result)] == ["success"]


# Counting.


@pytest.mark.slow
def test_runs_side_by_side_are_counted_without_a_loss(ground):
    async def all_runs():
        agents = [ground.agent(say()) for _ in range(20)]
        await asyncio.gather(*(aask(one, thread=str(n)) for n, one in enumerate(agents)))

    counters = Counters()
    with listen(counters):
        asyncio.run(all_runs())
    assert (counters["loaded"], counters["injected"]) == (20, 20)
    assert counters["loaded.sources"] == 40
    assert counters["injected.tokens"] > 0
    assert logger.level == logging.NOTSET

"""OpenTelemetry: spans for work, span events for events, and nothing where nobody traces."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

import pytest
from langgraph.errors import GraphInterrupt
from opentelemetry import trace
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from memoryware._runner import ASYNC, BLOCKING, in_thread, run_blocking
from memoryware._version import __version__
from memoryware.errors import FileMissing, LoadError
from memoryware.events import EventContext, emit, is_heard, logger, span
from memoryware.scope import MemoryScope

CANARY = "the canary sings at noon"
WHO = MemoryScope(user_id="ann", agent_id="writer", session_id="thread-1")


def provider_with(monkeypatch, *processors, **options) -> TracerProvider:
    """Set a provider for this test alone; the library lets it be set only once."""
    provider = TracerProvider(**options)
    for one in processors:
        provider.add_span_processor(one)
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    return provider


@pytest.fixture
def exported(monkeypatch):
    """Trace this test; the value gives the spans that have ended, by name."""
    exporter = InMemorySpanExporter()
    provider_with(monkeypatch, SimpleSpanProcessor(exporter))

    def spans():
        return {one.name: one for one in exporter.get_finished_spans()}

    return spans


def app(name="run"):
    """A span of the application around ours."""
    return trace.get_tracer("app").start_as_current_span(name)


# Spans.


def test_work_gets_a_span_with_its_facts_as_attributes(exported):
    with app(), span("memory.load", EventContext(by=WHO, memory="team"), backend="Disk") as work:
        work.note(sources=["/a.md", "/b.md"], characters=12, failed=[])
    ours = exported()["memory.load"]
    assert dict(ours.attributes) == {
        "memory.name": "team",
        "user.id": "ann",
        "gen_ai.agent.id": "writer",
        "gen_ai.conversation.id": "thread-1",
        "memory.backend": "Disk",
        "memory.sources": ("/a.md", "/b.md"),
        "memory.characters": 12,
        "memory.failed": (),
    }
    assert ours.parent.span_id == exported()["run"].context.span_id
    assert (ours.instrumentation_scope.name, ours.instrumentation_scope.version) == (
        "memoryware",
        __version__,
    )
    assert ours.status.status_code is trace.StatusCode.UNSET


def test_what_is_called_inside_the_work_hangs_below_its_span(exported):
    with span("memory.load"), app("query"):
        pass
    spans = exported()
    assert spans["query"].parent.span_id == spans["memory.load"].context.span_id
    assert not trace.get_current_span().is_recording()


def test_a_fact_without_a_known_name_does_not_become_an_attribute(exported):
    with span("memory.write", None, text=CANARY) as work:
        work.note(contents={"/a.md": CANARY}, path="/a.md")
    assert dict(exported()["memory.write"].attributes) == {"memory.path": "/a.md"}


@pytest.mark.parametrize(
    ("error", "kind", "code"),
    [
        (ValueError(CANARY), "ValueError", None),
        (FileMissing("/a.md", CANARY), "memoryware.errors.FileMissing", "file_not_found"),
        (LoadError("/a.md", "is_directory"), "memoryware.errors.LoadError", "is_directory"),
        (LoadError("/a.md", CANARY), "memoryware.errors.LoadError", None),
        (json.JSONDecodeError(CANARY, CANARY, 0), "json.decoder.JSONDecodeError", None),
    ],
)
def test_work_that_fails_says_so_by_class_and_code_and_not_by_text(exported, error, kind, code):
    with pytest.raises(type(error)), span("memory.load"):
        raise error
    ours = exported()["memory.load"]
    assert ours.status.status_code is trace.StatusCode.ERROR
    assert ours.attributes["error.type"] == kind
    assert ours.attributes.get("memory.code") == code
    assert ours.events == ()
    assert CANARY not in ours.to_json()


def test_work_that_waits_for_a_person_has_not_failed(exported):
    with pytest.raises(GraphInterrupt), span("memory.write"):
        raise GraphInterrupt(())
    ours = exported()["memory.write"]
    assert dict(ours.attributes) == {"memory.interrupted": True}
    assert ours.status.status_code is trace.StatusCode.UNSET


async def test_work_that_is_cancelled_has_not_failed_and_its_span_ends(exported):
    async def work():
        with span("memory.load"):
            await asyncio.sleep(30)

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    ours = exported()["memory.load"]
    assert ours.attributes["error.type"] == "CancelledError"
    assert ours.status.status_code is trace.StatusCode.UNSET


def test_the_time_of_a_piece_of_work_is_known_with_and_without_tracing(exported):
    with span("memory.load") as work:
        before = work.ms
        threading.Event().wait(0.01)
    assert 0 <= before < 10 <= work.ms == work.ms
    ours = exported()["memory.load"]
    assert ours.end_time - ours.start_time >= 10_000_000


def test_a_fact_that_comes_after_the_end_is_too_late_and_does_no_harm(exported, caplog):
    with span("memory.load") as work:
        pass
    work.note(sources=["/a.md"])
    emit(None, "loaded", within=work, sources=["/a.md"])
    assert dict(exported()["memory.load"].attributes) == {}
    assert [one for one in caplog.records if one.levelno >= logging.WARNING] == []


# Events.


def test_an_event_is_an_event_of_the_current_span(exported):
    with app():
        emit(EventContext(by=WHO), "written", path="/a.md", tool="edit_file", lines_added=2)
    (told,) = exported()["run"].events
    assert told.name == "memory.written"
    assert dict(told.attributes) == {
        "user.id": "ann",
        "gen_ai.agent.id": "writer",
        "gen_ai.conversation.id": "thread-1",
        "memory.path": "/a.md",
        "gen_ai.tool.name": "edit_file",
        "memory.lines_added": 2,
        "memory.redacted": (),
    }


def test_the_facts_of_an_event_may_go_onto_a_span_as_well(exported):
    with span("memory.load") as work:
        emit(None, "loaded", within=work, sources=["/a.md"], characters=3)
    ours = exported()["memory.load"]
    assert ours.attributes["memory.sources"] == ("/a.md",)
    assert ours.attributes["memory.characters"] == 3
    assert [one.name for one in ours.events] == ["memory.loaded"]


def test_content_is_in_a_trace_only_with_the_switch(exported):
    for name, switch in (("off", False), ("on", True)):
        with app(name):
            event_context = EventContext(trace_content=switch)
            emit(event_context, "loaded", content=lambda: {"/a.md": CANARY})
    assert CANARY not in exported()["off"].to_json()
    (told,) = exported()["on"].events
    assert json.loads(told.attributes["memory.content"]) == {"/a.md": CANARY}


def test_somebody_listens_while_a_span_is_recorded(exported):
    assert not logger.isEnabledFor(logging.DEBUG)
    assert not is_heard(None)
    with app():
        assert is_heard(None)


# Threads and tasks.


async def _load(runner, name):
    with span("memory.load", None, backend=name):
        await runner.call(lambda: None, lambda: asyncio.sleep(0.001))
        with app(name):
            pass


def _pairs(exporter_spans):
    """The span of each piece of work, and what hung below it."""
    by_id = {one.context.span_id: one for one in exporter_spans}
    return sorted(
        (by_id[one.parent.span_id].attributes["memory.backend"], one.name)
        for one in exporter_spans
        if one.name != "memory.load"
        and one.parent
        and one.parent.span_id in by_id
        and by_id[one.parent.span_id].name == "memory.load"
    )


@pytest.fixture
def exporter(monkeypatch):
    """Trace this test; the value is the exporter."""
    one = InMemorySpanExporter()
    provider_with(monkeypatch, SimpleSpanProcessor(one))
    return one


async def test_tasks_side_by_side_keep_their_spans_apart(exporter):
    names = [f"b{number}" for number in range(20)]
    with app():
        await asyncio.gather(*(_load(ASYNC, name) for name in names))
    assert _pairs(exporter.get_finished_spans()) == sorted((name, name) for name in names)


def test_threads_keep_their_spans_apart(exporter):
    names = [f"b{number}" for number in range(20)]
    with ThreadPoolExecutor(8) as pool, app() as run:
        work = [
            pool.submit(copy_context().run, run_blocking, _load(BLOCKING, name)) for name in names
        ]
        for one in work:
            one.result()
    spans = exporter.get_finished_spans()
    assert _pairs(spans) == sorted((name, name) for name in names)
    parents = {one.parent.span_id for one in spans if one.name == "memory.load"}
    assert parents == {run.get_span_context().span_id}


async def test_a_hop_into_a_thread_stays_inside_the_span(exporter):
    with span("memory.write"):
        await in_thread(emit, None, "written", path="/a.md", tool="edit_file")
    (ours,) = exporter.get_finished_spans()
    assert [one.name for one in ours.events] == ["memory.written"]


# Nobody traces, or badly.


def test_a_span_that_is_not_sampled_is_nothing(monkeypatch, caplog):
    exporter = InMemorySpanExporter()
    provider_with(monkeypatch, SimpleSpanProcessor(exporter), sampler=ALWAYS_OFF)
    with app(), span("memory.load") as work:
        emit(None, "loaded", within=work, sources=["/a.md"])
    assert exporter.get_finished_spans() == ()
    assert caplog.records == []


class Broken(SpanProcessor):
    """A processor that fails at one of its two chances."""

    def __init__(self, at: str) -> None:
        self.at = at

    def on_start(self, span, parent_context=None):
        if self.at == "start":
            raise RuntimeError(CANARY)

    def on_end(self, span):
        if self.at == "end":
            raise LookupError(CANARY)


@pytest.mark.parametrize("at", ["start", "end"])
def test_a_tracer_that_fails_does_not_end_the_work(monkeypatch, caplog, at):
    provider_with(monkeypatch, Broken(at))
    done = []
    for number in range(3):
        with span("memory.load") as work:
            work.note(sources=["/a.md"])
            done.append(number)
    assert done == [0, 1, 2]
    assert not trace.get_current_span().is_recording()
    said = [one.getMessage() for one in caplog.records if "the tracer" in one.getMessage()]
    assert len(said) == 1
    assert CANARY not in said[0]


def test_an_error_of_the_work_is_not_hidden_by_a_tracer_that_fails(monkeypatch):
    provider_with(monkeypatch, Broken("end"))
    with pytest.raises(ValueError, match="mine"), span("memory.load"):
        raise ValueError("mine")


_ALONE = """
import sys
from memoryware.events import emit, is_heard, span
with span("memory.load") as work:
    emit(None, "loaded", within=work, sources=["/a.md"])
assert not is_heard(None)
assert not [one for one in sys.modules if one.startswith("opentelemetry")]
sys.modules["opentelemetry"] = sys.modules["opentelemetry.trace"] = None
with span("memory.load") as work:
    emit(None, "loaded", within=work, sources=["/a.md"])
del sys.modules["opentelemetry"], sys.modules["opentelemetry.trace"]
import opentelemetry.trace
with span("memory.load") as work:
    emit(None, "loaded", within=work, sources=["/a.md"])
assert not [one for one in sys.modules if one.startswith("opentelemetry.sdk")]
print("fine", work.ms < 1000)
"""


def test_without_the_library_or_without_a_provider_a_span_is_only_a_clock():
    ran = subprocess.run(
        [sys.executable, "-c", _ALONE], capture_output=True, text=True, timeout=50, check=False
    )
    assert (ran.stdout, ran.stderr) == ("fine True\n", "")

"""What a collector and LangSmith get of memory: names and numbers, no texts."""

from __future__ import annotations

import sys

import pytest

from deploy.receiving import receiver
from deploy.running import DEPLOY, FACT, program

pytestmark = pytest.mark.slow

SCRIPT = (sys.executable, str(DEPLOY / "tracing.py"))
# "db2" alone is in one random id of some hundred.
TEXTS = ("PostgreSQL", "server db2", "Where are")


def traced(folder, **environ: str) -> None:
    with program(*SCRIPT, cwd=folder, LANGSMITH_API_KEY="none", **environ) as started:
        assert started.process.wait(50) == 0, started.output
        assert started.output.strip().endswith(FACT)


def attributes(span) -> dict:
    return {
        item.key: getattr(item.value, item.value.WhichOneof("value")) for item in span.attributes
    }


def test_a_collector_gets_spans_and_events_of_memory_and_no_text(in_memory):
    with receiver() as collector:
        traced(in_memory, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
    spans = {span.name: span for span in collector.spans()}
    chat, recall = spans["chat"], spans["memory.recall"]
    assert recall.parent_span_id == chat.span_id
    assert attributes(recall)["user.id"] == "ann"
    assert attributes(recall)["gen_ai.agent.id"] == "assistant"
    events = {event.name: attributes(event) for span in spans.values() for event in span.events}
    assert {"memory.retrieved", "memory.injected", "memory.recorded"} <= set(events)
    assert events["memory.injected"]["memory.tokens"] > 0
    assert [text for text in TEXTS if text in collector.everything] == []


def test_langsmith_gets_events_as_metadata_and_no_text(in_memory):
    with receiver() as langsmith:
        traced(in_memory, LANGSMITH_TRACING="true", LANGSMITH_ENDPOINT=langsmith.url)
    runs = langsmith.runs()
    recall = runs["TieredMemoryMiddleware.before_agent"]["extra"]["metadata"]["memory.retrieved"]
    assert (recall["user"], recall["agent"]) == ("ann", "assistant")
    recorded = runs["TieredMemoryMiddleware.after_agent"]["extra"]["metadata"]
    assert {"memory.recorded", "memory.rejected"} & set(recorded)
    assert "StreamingModel" in runs
    assert [text for text in TEXTS if text in langsmith.everything] == []


def test_with_inputs_and_outputs_langsmith_sees_the_model_call_but_not_the_hooks(in_memory):
    shown = {"LANGSMITH_HIDE_INPUTS": "false", "LANGSMITH_HIDE_OUTPUTS": "false"}
    with receiver() as langsmith:
        traced(in_memory, LANGSMITH_TRACING="true", LANGSMITH_ENDPOINT=langsmith.url, **shown)
    runs = langsmith.runs()
    holders = [name for name, run in runs.items() if any(t in repr(run) for t in TEXTS)]
    assert "StreamingModel" in holders
    assert [name for name in holders if name.startswith("TieredMemoryMiddleware")] == []

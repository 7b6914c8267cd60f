"""For those who run agents: what memory does, in their traces, without its texts.

    OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 python tracing.py
    LANGSMITH_TRACING=true LANGSMITH_API_KEY=... python tracing.py

The first sends spans to an OpenTelemetry collector. The second sends runs to LangSmith, with the
events of memory in their metadata; inputs and outputs of all runs are left out.
"""

from __future__ import annotations

import os

# Before anything of langsmith is used: it reads them once.
os.environ.setdefault("LANGSMITH_HIDE_INPUTS", "true")
os.environ.setdefault("LANGSMITH_HIDE_OUTPUTS", "true")

from langchain.agents import create_agent
from langchain_core.tracers.langchain import wait_for_all_tracers
from langsmith import get_current_run_tree
from offline import chat_model
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from memoryware import MemoryScope, TieredMemory, TieredMemoryMiddleware
from memoryware.events import MemoryEvent, listen

FACT = "The orders of the shop are in PostgreSQL 17, on the server db2."


def send_to_collector() -> TracerProvider:
    """Send spans to the collector that the environment names, until `shutdown()`."""
    provider = TracerProvider(resource=Resource.create({"service.name": "assistant"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    return provider


def annotate(event: MemoryEvent) -> None:
    """Add an event to the metadata of the LangSmith run in which it happens."""
    run = get_current_run_tree()
    if run is not None:
        facts = {key: value for key, value in event.items() if key not in ("type", "event")}
        run.add_metadata({f"memory.{event['event']}": facts})


def main() -> None:
    provider = send_to_collector() if "OTEL_EXPORTER_OTLP_ENDPOINT" in os.environ else None
    scope = MemoryScope(group_id="shop", user_id="ann")
    with TieredMemory.open("memory://") as memory, listen(annotate):
        memory.promote(FACT, scope, by="ann")
        agent = create_agent(
            chat_model(), middleware=[TieredMemoryMiddleware(memory, scope=scope)], name="assistant"
        )
        with trace.get_tracer("app").start_as_current_span("chat"):
            for chunk, _ in agent.stream(
                {"messages": "Where are the orders?"}, stream_mode="messages"
            ):
                print(chunk.text, end="", flush=True)
    print()
    wait_for_all_tracers()
    if provider is not None:
        provider.shutdown()


if __name__ == "__main__":
    main()

"""What the page on safety says of traces, with the client that it names."""

from __future__ import annotations

import json

import requests
from langchain.agents import create_agent
from langsmith import Client, tracing_context

from memoryware import FilesystemBackend, MemoryMiddleware
from memoryware.demo import DemoModel
from memoryware.middleware import redact_memory

SECRET = "Ann is on leave until May"


class Wire(requests.Session):
    """A session that keeps what would be sent."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[str] = []

    def request(self, method, url, **more):  # type: ignore[no-untyped-def]
        body = more.get("data") or more.get("json") or ""
        self.sent.append(body.decode() if isinstance(body, bytes) else json.dumps(body))
        answer = requests.Response()
        answer.status_code, answer._content = 200, b"{}"
        return answer


def _traced(tmp_path, **options) -> str:
    (tmp_path / "AGENTS.md").write_text(f"- {SECRET}.\n")
    memory = MemoryMiddleware(
        backend=FilesystemBackend(root_dir=tmp_path), sources=["/AGENTS.md"], tools=False
    )
    agent = create_agent(DemoModel(), middleware=[memory], system_prompt="Be brief.")
    wire = Wire()
    client = Client(
        api_url="https://traces.invalid",
        api_key="none",
        session=wire,
        auto_batch_tracing=False,
        **options,
    )
    with tracing_context(enabled=True, client=client):
        agent.invoke({"messages": "Remind me of nothing."})
    client.cleanup()
    sent = "\n".join(wire.sent)
    assert "Be brief." in sent, "the model call was not traced at all"
    return sent


def test_a_trace_of_the_model_call_carries_memory_by_nature(tmp_path):
    assert f"- {SECRET}" in _traced(tmp_path)


def test_a_redacted_trace_shows_that_memory_was_there_and_not_what_it_says(tmp_path):
    sent = _traced(tmp_path, hide_inputs=redact_memory, hide_outputs=redact_memory)
    assert f"- {SECRET}" not in sent
    assert "(memory not shown)" in sent

"""The web service of `examples/deploy`: streams, signs in, keeps people apart, ends well."""

from __future__ import annotations

import importlib
import json
import signal
import sys

import httpx
import pytest
from blockbuster import blockbuster_ctx
from starlette.testclient import TestClient

from deploy.running import DEPLOY, FACT, TOKENS, free_port, program, wait_until, web_command
from memoryware import TieredMemory

ANN, BO, EVE = ({"Authorization": f"Bearer {name}-token"} for name in ("ann", "bo", "eve"))


@pytest.fixture
def client(monkeypatch):
    """The app in this process, over a memory that ends with the test."""
    monkeypatch.syspath_prepend(str(DEPLOY))
    monkeypatch.setenv("TOKENS", TOKENS)
    monkeypatch.setenv("MEMORY_URL", "memory://")
    monkeypatch.delenv("MEMORYWARE_MODEL", raising=False)
    app = importlib.import_module("app")
    try:
        with TestClient(app.app) as client:
            yield client
    finally:
        for name in ("app", "offline"):
            sys.modules.pop(name, None)


def events(text: str) -> list[tuple[str, str]]:
    """Return the events of a stream: name and data."""
    blocks = [dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
              for block in text.split("\n\n") if block.strip()]  # fmt: skip
    return [(block["event"], json.loads(block["data"])) for block in blocks if block]


def ask(client, text: str, who: dict[str, str], **more: str) -> str:
    """Ask; return the whole answer."""
    response = client.post("/chat", json={"text": text, **more}, headers=who)
    assert response.headers["content-type"].startswith("text/event-stream")
    *tokens, last = events(response.text)
    assert last == ("done", "")
    assert {name for name, _ in tokens} == {"token"}
    assert len(tokens) == len("".join(data for _, data in tokens).split()), "not word by word"
    return "".join(data for _, data in tokens)


def test_an_answer_comes_in_pieces_and_the_next_person_of_the_group_gets_it(client):
    assert ask(client, FACT, ANN) == "Noted."
    assert ask(client, "Where are the orders?", BO) == FACT
    assert ask(client, "Where are the orders?", EVE) == "I do not know."


def test_who_asks_is_said_by_the_token_alone(client):
    ask(client, FACT, ANN)
    body = {"text": "Where are the orders?", "group_id": "shop", "user_id": "ann"}
    response = client.post("/chat", json=body, headers=EVE)
    assert "PostgreSQL" not in response.text
    for headers in ({}, {"Authorization": "Bearer guessed"}):
        assert client.post("/chat", json=body, headers=headers).status_code == 401
        assert client.delete("/me", headers=headers).status_code == 401


def test_a_thread_of_the_same_name_is_another_one_for_another_person(client):
    seen = client.app.state.agent.checkpointer.storage
    for who in (ANN, BO):
        ask(client, FACT, who, thread="1")
    assert len(seen) == 2


def test_a_person_deletes_what_is_theirs_and_nothing_else(client):
    ask(client, FACT, ANN)
    ask(client, "The bread of the bakery is baked at four in the morning.", EVE)
    assert client.delete("/me", headers=ANN).json()["deleted"] > 0
    assert client.delete("/me", headers=ANN).json() == {"deleted": 0}
    assert ask(client, "When is the bread baked?", EVE).endswith("four in the morning.")


def test_a_run_that_fails_ends_the_stream_with_an_event_and_no_details(client, monkeypatch):
    async def fail(*_, **__):
        yield None, None
        raise RuntimeError("password of the database")

    monkeypatch.setattr(client.app.state.agent, "astream", fail)
    response = client.post("/chat", json={"text": "Hello"}, headers=ANN)
    assert events(response.text) == [("error", "the answer could not be finished")]


@pytest.mark.slow
def test_no_request_blocks_the_event_loop(client, monkeypatch, in_memory):
    monkeypatch.setenv("MEMORY_URL", f"sqlite:///{in_memory / 'memory.db'}")
    with blockbuster_ctx(), TestClient(client.app) as checked:
        assert checked.get("/healthz").json() == {"ok": True}
        ask(checked, FACT, ANN)
        assert ask(checked, "Where are the orders?", BO) == FACT
        assert checked.delete("/me", headers=ANN).json()["deleted"] > 0


# As processes, with a port.


@pytest.fixture
def served(in_memory):
    """A server over a file; the value is where it listens, the program and the file."""
    port, file = free_port(), in_memory / "memory.db"
    web = program(*web_command(port), cwd=in_memory, MEMORY_URL=f"sqlite:///{file}", PAUSE="0.05")
    with web as started:
        started.wait_for("Application startup complete")
        yield f"http://127.0.0.1:{port}", started, file


def opened(file) -> TieredMemory:
    return TieredMemory.open(f"sqlite:///{file}")


@pytest.mark.slow
def test_a_client_that_goes_away_in_the_middle_leaves_nothing_in_memory(served):
    url, web, file = served
    with opened(file) as memory:
        memory.promote("The orders of the shop are " + "here or there or " * 100, "shop", by="ann")
        before = memory.list("shop").total
    body = {"text": "Where are the orders of the shop?"}
    with httpx.stream("POST", f"{url}/chat", json=body, headers=ANN, timeout=20) as response:
        lines = response.iter_lines()
        assert next(lines) == "event: token"
    assert httpx.get(f"{url}/healthz", timeout=20).json() == {"ok": True}
    web.stop()  # waits for the run if it goes on, which takes 20 seconds
    assert "Finished server process" in web.output
    with opened(file) as memory:
        assert memory.list("shop").total == before
    assert "Traceback" not in web.output


@pytest.mark.slow
def test_an_answer_is_finished_and_recorded_when_the_server_is_told_to_stop(served):
    url, web, file = served
    with opened(file) as memory:
        memory.record(FACT, "shop")  # in quarantine, and in working memory
        before = memory.list("shop").total
    body = {"text": "Where are the orders of the shop? We have looked for them all day."}
    with httpx.stream("POST", f"{url}/chat", json=body, headers=ANN, timeout=20) as got:
        lines = got.iter_lines()
        next(lines)
        web.process.send_signal(signal.SIGTERM)
        text = "\n".join(["event: token", *lines])
    assert events(text)[-1] == ("done", "")
    wait_until(lambda: not web.running)
    assert "Finished server process" in web.output
    with opened(file) as memory:
        assert memory.list("shop").total > before
    assert "Traceback" not in web.output


_COLD = """
import asyncio
from blockbuster import blockbuster_ctx
from langchain.agents import create_agent
from memoryware import MemoryScope, TieredMemory, TieredMemoryMiddleware
from memoryware.demo import DemoModel

async def main():
    scope = MemoryScope(group_id="shop", user_id="ann")
    with blockbuster_ctx("memoryware"):
        async with await TieredMemory.aopen("sqlite:///memory.db") as memory:
            agent = create_agent(
                DemoModel(), middleware=[TieredMemoryMiddleware(memory, scope=scope)]
            )
            for text in ("The orders are in PostgreSQL 17, on db2.", "Where are the orders?"):
                result = await agent.ainvoke({"messages": text})
            print(result["messages"][-1].text)

asyncio.run(main())
"""


@pytest.mark.slow
def test_the_first_run_of_a_process_does_not_block_the_event_loop_either(in_memory):
    with program(sys.executable, "-c", _COLD, cwd=in_memory) as started:
        assert started.process.wait(50) == 0, started.output
        assert started.output.strip() == "The orders are in PostgreSQL 17, on db2."

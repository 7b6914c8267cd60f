"""A memory that was closed says so, whatever is asked of it; a run of an agent goes on without."""

from __future__ import annotations

import pytest
from langchain.agents import create_agent

from kit import ScriptedModel, ask, say
from memoryware import ContextBuilder, TieredMemory, TieredMemoryMiddleware
from memoryware.errors import StoreClosed

FACT = "The orders of the shop are kept in PostgreSQL 17 on db2."
OPERATIONS = {
    "record": lambda memory: memory.record(FACT, "shop"),
    "log_quarantine": lambda memory: memory.log_quarantine(FACT, "shop"),
    "retrieve": lambda memory: memory.retrieve("Where are the orders?", "shop"),
    "one tier": lambda memory: memory.retrieve(
        "Where are the orders?", "shop", tiers=("long_term",)
    ),
    "context": lambda memory: ContextBuilder(memory).build("Where are the orders?", "shop"),
    "get": lambda memory: memory.get("f" * 32, "shop"),
    "list": lambda memory: memory.list("shop"),
    "digest": lambda memory: memory.digest("shop"),
    "promote": lambda memory: memory.promote(FACT, "shop", by="ann"),
    "propose": lambda memory: memory.propose(FACT, "shop", by="ann"),
    "revoke": lambda memory: memory.revoke("f" * 32, "shop", by="ann"),
    "forget": lambda memory: memory.forget("shop", ids=["f" * 32]),
    "export": lambda memory: memory.export("shop"),
    "audit": lambda memory: memory.audit("shop"),
    "sessions": lambda memory: memory.sessions("shop"),
    "spaces": lambda memory: memory.spaces(),
}


@pytest.fixture(params=["memory://", "sqlite:///m.db"])
def closed(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    memory = TieredMemory.open(request.param)
    memory.promote(FACT, "shop", by="ann")
    memory.close()
    return memory


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=[*OPERATIONS])
def test_every_operation_of_a_closed_memory_raises_one_error(closed, operation):
    with pytest.raises(StoreClosed, match="was closed; open"):
        operation(closed)


async def test_so_does_its_async_half(closed):
    for call in (
        closed.aretrieve("Where are the orders?", "shop"),
        closed.alist("shop"),
        closed.arecord(FACT, "shop"),
        ContextBuilder(closed).abuild("Where are the orders?", "shop"),
    ):
        with pytest.raises(StoreClosed, match="was closed; open"):
            await call


def test_a_run_of_an_agent_goes_on_without_memory(closed, caplog):
    agent = create_agent(
        ScriptedModel(say("I do not know.")),
        middleware=[TieredMemoryMiddleware(closed, scope="shop")],
    )
    assert ask(agent, "Where are the orders?")["messages"][-1].text == "I do not know."
    assert "memory could not be asked (StoreClosed); the run goes on without" in caplog.text

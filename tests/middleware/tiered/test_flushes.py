"""How many write transactions a run takes, and that collecting answers until its end loses none."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import Annotated

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

from counting import counted_statements
from hooked import hooked
from kit import ScriptedModel, call, say
from memoryware import TieredMemory
from memoryware.errors import StoreUnavailable, StoreUnconfirmed
from memoryware.events import Counters, listen
from memoryware.settings import TierLimits
from memoryware.tiers.stores.embedded import embedded
from middleware.tiered.rig import DOORS, a_memory, an_agent, texts, through, turn
from servers import postgres

PLACES = ("Oslo", "Bergen", "Narvik", "Hamar", "Molde")
SAID = [f"Deliveries to {place} leave depot {n} on a Thursday." for n, place in enumerate(PLACES)]
EVERY = {"record": "each_model_call"}


@tool
def look_up(word: str) -> str:
    """Look something up."""
    return f"{word} means something else in another country"


def five_answers() -> list:
    """Turns of a model that says a text before each of four tool calls, and one at the end."""
    steps = [
        call("look_up", word=f"w{number}").model_copy(update={"content": text})
        for number, text in enumerate(SAID[:-1])
    ]
    return [*steps, say(SAID[-1])]


def an_agent_of_five(memory, **options):
    return an_agent(memory, ScriptedModel(*five_answers()), tools=[look_up], **EVERY, **options)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("role", ["agent", "fact_check"])
async def test_five_answers_of_a_run_are_one_flush_of_sqlite(tmp_path, door, role):
    with TieredMemory.open(f"sqlite:///{tmp_path / 'memory.db'}") as memory:
        memory.record("The depot was painted in spring.", "shop")
        agent = an_agent_of_five(memory, role=role)
        with counted_statements() as statements:
            await through(door, agent, "hello")
        assert texts(memory)[1:] == SAID
        assert texts(memory, "working")[1:] == (SAID if role == "agent" else [])
        assert statements.flushes == 1, "\n".join(statements.texts)


def writers(address: str) -> set[str]:
    """The transactions that have written the rows of a schema, each by its number."""
    tables = postgres.asked(
        address, "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
    )
    found = set()
    for (table,) in tables:
        found |= {row[0] for row in postgres.asked(address, f'SELECT xmin::text FROM "{table}"')}
    return found


@pytest.mark.parametrize("role", ["agent", "fact_check"])
def test_five_answers_of_a_run_are_one_transaction_of_postgresql(role):
    with (
        postgres.schema_at(postgres.url()) as address,
        TieredMemory.open(address) as memory,
    ):
        memory.record("The depot was painted in spring.", "shop")
        before = writers(address)
        turn(an_agent_of_five(memory, role=role), "hello")
        assert texts(memory)[1:] == SAID
        assert len(writers(address) - before) == 1


def test_results_of_one_tool_call_are_one_flush_and_are_kept_of_a_run_that_fails(tmp_path):
    @tool
    def fetch(call_id: Annotated[str, InjectedToolCallId]) -> Command:
        """Fetch pages."""
        return Command(
            update={"messages": [ToolMessage(text, tool_call_id=call_id) for text in SAID]}
        )

    def boom(messages):
        raise ConnectionError("no model today")

    with TieredMemory.open(f"sqlite:///{tmp_path / 'memory.db'}") as memory:
        memory.record("The depot was painted in spring.", "shop")
        model = ScriptedModel(call("fetch"), boom)
        agent = an_agent(memory, model, tools=[fetch], record_tools=True)
        with counted_statements() as statements, pytest.raises(ConnectionError):
            turn(agent, "hello")
        assert texts(memory)[1:] == SAID
        assert statements.flushes == 1, "\n".join(statements.texts)


def test_an_answer_that_no_tier_can_keep_takes_no_other_with_it():
    memory = a_memory(limits=TierLimits(entry_chars=200))
    turns = five_answers()
    turns[2] = turns[2].model_copy(update={"content": "long " * 100})
    agent = an_agent(memory, ScriptedModel(*turns), tools=[look_up], **EVERY)
    counters = Counters()
    with listen(counters):
        turn(agent, "hello")

    assert texts(memory) == [*SAID[:2], *SAID[3:]]
    assert counters["rejected.store_failed"] == 1


@pytest.mark.parametrize(
    ("error", "written"), [(StoreUnconfirmed("no answer came"), 5), (StoreUnavailable("away"), 0)]
)
def test_a_flush_without_an_answer_is_made_sure_of_and_one_refused_is_reported(error, written):
    """The first transaction is committed or not, and nobody hears which."""
    fails = [error]

    def before(tier, name):
        if name == "write" and fails and not written:
            raise error

    def after(tier, name):
        if name == "write" and fails:
            raise fails.pop()

    memory = a_memory(stores=hooked(embedded(), before, after))
    agent, counters = an_agent_of_five(memory), Counters()
    with listen(counters):
        turn(agent, "hello")

    fails.clear()
    assert texts(memory) == SAID[:written]
    assert counters["rejected.store_failed"] == 5 - written


DIES = """
import os, signal, sys

from langchain.agents.middleware import AgentMiddleware
from langgraph.checkpoint.sqlite import SqliteSaver

from memoryware import TieredMemory
from middleware.tiered.rig import told
from middleware.tiered.test_flushes import an_agent_of_five


class Dies(AgentMiddleware):
    calls = 0

    def wrap_model_call(self, request, handler):
        self.calls += 1
        if sys.argv[2] == "before the last call" and self.calls == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return handler(request)

    def after_agent(self, state, runtime):
        if sys.argv[2] == "after the flush":
            os.kill(os.getpid(), signal.SIGKILL)


folder = sys.argv[1]
with SqliteSaver.from_conn_string(f"{folder}/threads.db") as saver:
    memory = TieredMemory.open(f"sqlite:///{folder}/memory.db")
    given, config, more = told("hello", "t")
    agent = an_agent_of_five(memory, checkpointer=saver, before=[Dies()])
    agent.invoke(given, config, durability="sync", **more)
"""


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["before the last call", "after the flush"])
def test_a_run_whose_process_was_killed_is_recorded_once_when_another_has_ended_it(
    tmp_path, moment
):
    script = [sys.executable, "-c", DIES, tmp_path, moment]
    died = subprocess.run(script, check=False, env={**os.environ, "PYTHONPATH": ":".join(sys.path)})
    assert died.returncode == -signal.SIGKILL
    with (
        SqliteSaver.from_conn_string(f"{tmp_path}/threads.db") as saver,
        TieredMemory.open(f"sqlite:///{tmp_path}/memory.db") as memory,
    ):
        assert texts(memory) == (SAID if moment == "after the flush" else [])
        agent = an_agent(
            memory, ScriptedModel(say(SAID[-1])), tools=[look_up], checkpointer=saver, **EVERY
        )
        config = {"configurable": {"thread_id": "t"}}
        agent.invoke(None, config, context={"group_id": "shop"})

        assert texts(memory) == texts(memory, "working") == SAID

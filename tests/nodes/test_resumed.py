"""A step that waits or fails, and that somebody else takes up again."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from memoryware import MemoryRetrievalNode, Origin, Provenance, TieredMemory, remember, with_memory
from nodes.rig import DOORS, LONG, line, memory, run

pytestmark = pytest.mark.parametrize("door", DOORS)
NEW = "We will therefore move the invoices to the same server before the summer begins."
ANN, BO = {"group_id": "shop", "user_id": "ann"}, {"group_id": "shop", "user_id": "bo"}


def waits(state):
    """A node that asks a person."""
    return {"messages": [AIMessage(f"{NEW} {interrupt('May I?')}")]}


def asking(text="The orders go to evil.example, says Ann."):
    return {"messages": [HumanMessage(text)]}


def roots(tiers, place=-1):
    found = list(reversed(tiers.list("shop", tier="quarantine").items))
    return sorted(str(one) for one in found[place].record.provenance.roots)


async def test_what_is_said_after_a_resume_names_who_asked_and_who_resumed(door):
    tiers = memory()
    builder = line(("decide", remember(waits, memory=tiers, role="agent")))
    graph = builder.compile(checkpointer=InMemorySaver())
    await run(graph, door, asking(), thread="t", context=ANN)
    assert tiers.list("shop").total == 0
    await run(graph, door, Command(resume="yes"), thread="t", context=BO)

    assert roots(tiers) == ["agent:decide", "user:ann", "user:bo"]
    assert tiers.revoke(Origin("user", "ann"), "shop", by="x").counts.quarantine == 1


async def test_what_was_recalled_inside_a_step_that_failed_counts_when_it_is_run_again(door):
    tiers, tries = memory(), []
    tiers.record(LONG, "shop", provenance=Provenance(Origin("tool", "web")))

    def fails_once(state):
        if not tries:
            tries.append(tiers.retrieve("Where are the orders?", "shop"))
            raise ConnectionError("in the middle")
        return {"messages": [AIMessage(f"{NEW} {tries[0][0].content[:9]}")]}

    builder = with_memory(line(("decide", fails_once)), tiers, roles={"decide": "agent"})
    graph = builder.compile(checkpointer=InMemorySaver())
    with pytest.raises(ConnectionError):
        await run(graph, door, asking(), thread="t", context=ANN)
    await run(graph, door, None, thread="t", context=BO)

    assert roots(tiers) == ["agent:decide", "tool:web", "user:ann", "user:bo"]


async def test_an_agent_that_waits_names_both_as_well(door):
    from langchain.agents import create_agent
    from langchain_core.tools import tool

    from kit import ScriptedModel, call, say

    @tool
    def ask_person(question: str) -> str:
        """Ask a person."""
        return f"They say {interrupt(question)}"

    tiers, model = memory(), ScriptedModel(call("ask_person", question="May I?"), say(NEW))
    agent = create_agent(model, tools=[ask_person])
    builder = with_memory(line(("agent", agent)), tiers, inside_tools=["ask_person"])
    graph = builder.compile(checkpointer=InMemorySaver())
    await run(graph, door, asking(), thread="t", context=ANN)
    await run(graph, door, Command(resume="yes"), thread="t", context=BO)

    assert roots(tiers) == ["agent:agent", "user:ann", "user:bo"]


@pytest.mark.parametrize("first", ["a recall", "a failure"])
async def test_another_process_asks_the_store_what_was_before_whatever_happens_first(
    door, first, tmp_path
):
    url, saver = f"sqlite:///{tmp_path}/memory.db", InMemorySaver()

    def opened(*nodes):
        tiers = TieredMemory.open(url)
        made = [(name, node(tiers)) for name, node in nodes]
        builder = with_memory(line(*made), tiers, roles={"say": "agent"})
        return tiers, builder.compile(checkpointer=saver)

    def says(tiers):
        return lambda state: {"messages": [AIMessage(f"{NEW} {len(state['messages'])}")]}

    def fails(tiers):
        raised = []

        def node(state):
            if not raised:
                raised.append(True)
                raise ConnectionError("in the middle")

        return node

    tiers, graph = opened(("say", says))
    await run(graph, door, asking(), thread="t", context=ANN)
    tiers.close()
    before = ("first", MemoryRetrievalNode if first == "a recall" else fails)
    tiers, graph = opened(before, ("say", says))
    if first == "a failure":
        with pytest.raises(ConnectionError):
            await run(graph, door, asking("And now?"), thread="t", context=BO)
        await run(graph, door, None, thread="t", context=BO)
    else:
        await run(graph, door, asking("zebra"), thread="t", context=BO)

    assert {"user:ann", "user:bo"} <= set(roots(tiers))
    tiers.close()

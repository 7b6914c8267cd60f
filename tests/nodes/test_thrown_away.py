"""Outputs of nodes that a thread has thrown away are taken back."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver

from memoryware import MemoryRetrievalNode, remember, with_memory
from nodes.rig import DOORS, WHO, kept, line, memory, run

pytestmark = pytest.mark.parametrize("door", DOORS)

FIRST = "The refund of order 7 is 900 euro and is paid to the account of the supplier on Monday."
SECOND = "The refund of order 7 is 90 euro and is paid to the account of the customer on Monday."
OTHER = "Every parcel is weighed twice before it leaves the warehouse in Rotterdam harbour."
CONFIG = {"configurable": {"thread_id": "t"}}
THOUGHT = "The customer may be a competitor, so I must be careful with what I say of servers."


def says(*texts, key="content"):
    """A node that says one text after the other."""
    left = list(texts)

    def node(state):
        text = left.pop(0)
        made = {"content": text, "messages": AIMessage(text), "notes": [text]}
        return {key: made[key]}

    return node


async def again(app, door, node):
    """Go on from the newest checkpoint before a node."""
    point = next(one for one in app.get_state_history(CONFIG) if node in one.next)
    if door == "invoke":
        return app.invoke(None, point.config, context=WHO)
    return await app.ainvoke(None, point.config, context=WHO)


def waiting(tiers):
    found = tiers.list("shop", tier="quarantine").items
    return [one.content for one in reversed(found) if one.record.status == "pending"]


@pytest.mark.parametrize("key", ["content", "messages"])
@pytest.mark.parametrize("how", ["remember", "with_memory"])
async def test_the_output_of_a_node_that_is_run_again_is_taken_back(door, key, how):
    tiers, node = memory(), says(FIRST, SECOND, key=key)
    if how == "remember":
        builder = line(("writer", remember(node, memory=tiers, role="agent")))
    else:
        builder = with_memory(line(("writer", node)), tiers, roles={"writer": "agent"})
    app = builder.compile(checkpointer=InMemorySaver())
    await run(app, door, {"topic": "refund"}, thread="t")
    assert kept(tiers, "working") == [FIRST]
    await again(app, door, "writer")

    assert waiting(tiers) == [SECOND]
    assert [one.content for one in tiers.retrieve("refund of order 7", "shop")] == [SECOND]


async def test_outputs_of_an_earlier_step_that_stays_and_of_other_runs_stay(door):
    tiers = memory()
    plan, writer = says(OTHER, OTHER + " Always."), says(FIRST, SECOND, "Third: " + SECOND)
    builder = with_memory(line(("plan", plan), ("writer", writer)), tiers)
    app = builder.compile(checkpointer=InMemorySaver())
    await run(app, door, {"topic": "refund"}, thread="t")
    await again(app, door, "writer")
    assert waiting(tiers) == [OTHER, SECOND]
    await run(app, door, {"topic": "refund"}, thread="t")

    assert waiting(tiers) == [OTHER, SECOND, OTHER + " Always.", "Third: " + SECOND]


async def test_a_message_that_was_removed_is_taken_back_by_the_next_run(door):
    tiers = memory()
    node = remember(says(FIRST, OTHER, key="messages"), memory=tiers, role="agent")
    app = line(("writer", node)).compile(checkpointer=InMemorySaver())
    given = {"messages": [HumanMessage("refund?")]}
    result = await run(app, door, given, thread="t")
    app.update_state(CONFIG, {"messages": [RemoveMessage(id=result["messages"][-1].id)]})
    await run(app, door, {"messages": [HumanMessage("parcels?")]}, thread="t")

    assert waiting(tiers) == [OTHER]


async def test_a_retrieval_node_does_not_show_what_is_being_replaced(door):
    tiers = memory()
    writer = remember(says(FIRST, SECOND), memory=tiers, role="agent")
    app = line(("look", MemoryRetrievalNode(tiers)), ("writer", writer)).compile(
        checkpointer=InMemorySaver()
    )
    await run(app, door, {"topic": "refund of order 7"}, thread="t")
    result = await again(app, door, "look")

    assert "900" not in result["history_context"]
    assert waiting(tiers) == [SECOND]


async def test_parallel_nodes_and_a_linear_thread_keep_everything(door):
    tiers = memory()
    builder = line(("plan", says("Plan: " + OTHER, "Plan two: " + OTHER)))
    for name, texts in (("left", (FIRST, "Left: " + FIRST)), ("right", (SECOND, "R: " + SECOND))):
        builder.add_node(name, says(*texts, key="notes"))
        builder.add_edge("plan", name)
    app = with_memory(builder, tiers, content=("notes", "content")).compile(
        checkpointer=InMemorySaver()
    )
    for _ in range(2):
        await run(app, door, {"topic": "refund"}, thread="t")

    assert len(waiting(tiers)) == 6


@pytest.mark.parametrize("key", ["content", "messages"])
async def test_inline_thoughts_of_a_local_model_are_not_recorded(door, key):
    tiers = memory()
    raw = f"<think>\n{THOUGHT}\n</think>\n\n{OTHER}"
    app = line(("writer", remember(says(raw, key=key), memory=tiers, role="agent"))).compile()
    await run(app, door)

    assert kept(tiers) == kept(tiers, "working") == [OTHER]


async def test_a_function_that_names_the_text_gives_no_thoughts_either(door):
    tiers = memory()
    node = says(f"{THOUGHT}\n</think>\n{OTHER}")
    recorded = remember(node, memory=tiers, role="agent", content=lambda made: made["content"])
    await run(line(("writer", recorded)).compile(), door)

    assert kept(tiers) == [OTHER]

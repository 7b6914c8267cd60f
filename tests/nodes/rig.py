"""Graphs for the tests of nodes, run through either door."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AnyMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

from hooked import hooked
from memoryware import TieredMemory
from memoryware.tiers.stores.embedded import embedded
from memoryware.tiers.stores.protocol import Stores
from tiers.kit import Clock, ids

DOORS = ("invoke", "ainvoke")
LONG = "The orders of the shop are in PostgreSQL 17, on the server called db2."
WHO = {"group_id": "shop", "user_id": "ann"}


class State(TypedDict, total=False):
    topic: str
    document: str
    content: str
    agent_output: str
    messages: Annotated[list[AnyMessage], add_messages]
    history_context: str
    memory_items: list[Any]
    verified: bool
    confidence: float
    issues: list[str]
    sources: list[str]
    search_summary: str
    notes: Annotated[list[str], operator.add]
    metadata: dict[str, Any]


class Context(TypedDict, total=False):
    group_id: str
    user_id: str


def memory(**options: Any) -> TieredMemory:
    return TieredMemory(embedded(), clock=Clock(), new_id=ids(), **options)


def line(*nodes: tuple[str, Any], **metadata: Any) -> StateGraph:
    """A builder whose nodes run one after the other."""
    builder = StateGraph(State, context_schema=Context)
    before = START
    for name, node in nodes:
        builder.add_node(name, node, metadata=metadata.get(name))
        builder.add_edge(before, name)
        before = name
    builder.add_edge(before, END)
    return builder


async def run(graph: Any, door: str, given: Any = None, *, thread: str | None = None, **more: Any):
    """Run a compiled graph through one of its doors."""
    config = {"configurable": {"thread_id": thread}} if thread else {}
    given = {} if given is None else given
    more.setdefault("context", WHO)
    if door == "invoke":
        return graph.invoke(given, config, **more)
    return await graph.ainvoke(given, config, **more)


def kept(given: TieredMemory, layer: str = "quarantine", group: str = "shop") -> list[str]:
    """What a tier of the group holds, oldest first."""
    return [one.content for one in reversed(given.list(group, tier=layer).items)]


def broken(*tiers: str) -> Stores:
    """Return stores whose named tiers fail whatever they are asked."""

    def fail(tier: str, name: str) -> None:
        if tier in tiers:
            raise OSError("the store is gone")

    return hooked(embedded(), fail)

"""For those who draw their graph by hand: one node recalls, one writes, one checks the facts.

The writer gets a number wrong. The check holds its words against what a person has promoted,
and whoever recalls them later is told that they are wrong.
"""

from __future__ import annotations

import json
from typing import Any, TypedDict

from langchain_core.messages import BaseMessage
from langgraph.graph import END, START, StateGraph
from scripted import ScriptedModel

from memoryware import (
    Entry,
    FactCheckNode,
    MemoryRetrievalNode,
    TieredMemory,
    inject_context,
    with_memory,
)

memory = TieredMemory.open("memory://")  # "sqlite:///memory.db" stays after the process


class State(TypedDict, total=False):
    topic: str
    history_context: str
    content: str
    verified: bool
    issues: list[str]


class Caller(TypedDict):
    group_id: str
    user_id: str


def report(messages: list[BaseMessage]) -> str:
    """Say what a model would say that reads carelessly."""
    known = "db2" in str(messages[0].text)
    return f"The orders of the shop are in PostgreSQL 16, on the server {'db2' if known else '?'}."


def judge(messages: list[BaseMessage]) -> str:
    """Say what a model would say that compares a claim with what is known."""
    wrong = "PostgreSQL 17" in str(messages[-1].text)
    issue = "It is 17." if wrong else ""
    return json.dumps({"supported": not wrong, "confidence": 0.9, "issue": issue})


def write(state: State) -> State:
    prompt = inject_context(state, "You write reports.")
    request = {"role": "user", "content": state["topic"]}
    return {"content": str(ScriptedModel(report).invoke([prompt, request]).text)}


def graph() -> Any:
    builder = StateGraph(State, context_schema=Caller)
    builder.add_node("recall", MemoryRetrievalNode(memory))
    builder.add_node("write", write)
    builder.add_node("check", FactCheckNode(ScriptedModel(judge), memory))
    for before, after in ((START, "recall"), ("recall", "write"), ("write", "check")):
        builder.add_edge(before, after)
    builder.add_edge("check", END)
    return with_memory(builder, memory, roles={"write": "agent"}).compile()


def main() -> None:
    memory.promote("The orders of the shop are in PostgreSQL 17, on db2.", "shop", by="ann")
    ran = graph().invoke(
        {"topic": "Where are the orders?"}, context=Caller(group_id="shop", user_id="bo")
    )
    print(f"written:  {ran['content']}\nverified: {ran['verified']}, {ran['issues']}\n")

    for one in memory.list("shop", tier="quarantine").items:
        if isinstance(one.record, Entry):
            print(f"quarantine: {one.record.role}, by the node {one.record.scope.node_id!r}")
    for item in memory.retrieve("PostgreSQL orders", "shop"):
        verdict = "wrong, says a check" if item.verdict else "promoted by a person"
        print(f"{item.source}: {item.content}  ({verdict})")


if __name__ == "__main__":
    main()

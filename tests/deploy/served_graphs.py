"""Graphs for LangGraph's server in tests: every hook and tool, on files and on servers.

`control` blocks the event loop on purpose: where that passes, nothing was checked.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage
from langgraph.graph import START, MessagesState, StateGraph
from scripted import ScriptedModel, call

from memoryware import (
    FilesystemBackend,
    FileToolsMiddleware,
    MemoryMiddleware,
    TieredMemory,
    TieredMemoryMiddleware,
)
from memoryware.nodes import MemoryRetrievalNode, remember

TOOLS = [
    ("remember", {"text": "The tests of the shop run on Mondays, at seven."}),
    ("recall", {"query": "orders"}),
    ("append_file", {"file_path": "/AGENTS.md", "text": "- The shop sells tea."}),
    ("read_file", {"file_path": "/AGENTS.md"}),
    ("grep", {"pattern": "tea"}),
]


async def block(state: MessagesState) -> dict[str, Any]:
    time.sleep(0.01)  # noqa: ASYNC251
    return {"messages": [AIMessage("not checked")]}


control = StateGraph(MessagesState).add_node("block", block).add_edge(START, "block").compile()


def play(messages: list[BaseMessage]) -> str | AIMessage:
    """Call each tool once, then answer with the results."""
    newest = max(index for index, message in enumerate(messages) if message.type == "human")
    results = [message for message in messages[newest:] if message.type == "tool"]
    if len(results) < len(TOOLS):
        name, arguments = TOOLS[len(results)]
        return call(name, **arguments)
    return "The results are: " + ", ".join(result.status for result in results) + "."


def agent_with(memory: TieredMemory, folder: str) -> Any:
    Path(folder).mkdir(exist_ok=True)
    backend = FilesystemBackend(root_dir=folder)
    return create_agent(
        ScriptedModel(play),
        middleware=[
            MemoryMiddleware(backend=backend, sources=["/AGENTS.md"]),
            FileToolsMiddleware(backend=backend),
            TieredMemoryMiddleware(memory, remember_tool=True, record_tools=True),
        ],
    )


in_file = TieredMemory.open("sqlite:///memory.db", embeddings=os.environ.get("EMBEDDINGS"))
on_servers = TieredMemory.open(os.environ["SERVERS_URL"])
files = agent_with(in_file, "files")
servers = agent_with(on_servers, "server-files")


class State(MessagesState):
    history_context: str


async def write(state: State) -> dict[str, Any]:
    text = "The invoices of the shop are sent on the last day of each month."
    return {"messages": [AIMessage(text)]}


nodes = (
    StateGraph(State)
    .add_node("retrieve", MemoryRetrievalNode(in_file))
    .add_node("write", remember(write, memory=in_file, role="agent"))
    .add_edge(START, "retrieve")
    .add_edge("retrieve", "write")
    .compile()
)

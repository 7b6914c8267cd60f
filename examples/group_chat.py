"""For chats with several people: each turn shows the memory of who speaks, and of nobody else.

The backend is made for each call, from the user in the runtime's context.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from scripted import ScriptedModel, call

from memoryware import FileToolsMiddleware, MemoryMiddleware, StoreBackend


@dataclass
class Caller:
    user_id: str


def of_caller(runtime: Any) -> StoreBackend:
    """The memory of whoever speaks."""
    return StoreBackend(namespace=("memory", runtime.context.user_id))


def main() -> None:
    model = ScriptedModel(
        call("append_file", file_path="/ME.md", text="- Ann does not eat fish."),
        "Noted, Ann.",
        call("append_file", file_path="/ME.md", text="- Bo pays."),
        "Noted, Bo.",
        "Here is what I know of you.",
    )
    agent: Any = create_agent(
        model,
        middleware=[
            MemoryMiddleware(backend=of_caller, sources=["/ME.md"]),
            FileToolsMiddleware(backend=of_caller, only=["/ME.md"]),
        ],
        checkpointer=InMemorySaver(),
        store=InMemoryStore(),
        context_schema=Caller,
    )
    thread: RunnableConfig = {"configurable": {"thread_id": "dinner"}}
    for name, text in (
        ("ann", "No fish for me."),
        ("bo", "I pay."),
        ("ann", "What do you know of me?"),
        ("bo", "And of me?"),
    ):
        agent.invoke({"messages": [HumanMessage(text)]}, thread, context=Caller(name))
        known = model.memory.replace("\n", " | ")
        print(f"{name}: {text}\n  the model is shown: {known}")


if __name__ == "__main__":
    main()

"""For services with many users: each has a memory of their own in a LangGraph store.

Who is asking comes from the runtime context of the call, never from the model. Any id
works as it is; look-alikes stay apart. Put `PostgresStore` in place of `InMemoryStore` to
keep it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langgraph.store.memory import InMemoryStore
from scripted import ScriptedModel, call

from memoryware import FileToolsMiddleware, MemoryMiddleware, StoreBackend


@dataclass
class Caller:
    user_id: str


def namespace_of(runtime: Any) -> tuple[str, ...]:
    return ("memory", runtime.context.user_id)


def main() -> None:
    model = ScriptedModel(
        call("append_file", file_path="/AGENTS.md", text="- Likes long answers."),
        "Noted.",
        call("append_file", file_path="/AGENTS.md", text="- Likes short answers."),
        "Noted.",
        "Hello.",
    )
    backend = StoreBackend(namespace=namespace_of)
    agent = create_agent(
        model,
        middleware=[
            MemoryMiddleware(backend=backend, sources=["/AGENTS.md"]),
            FileToolsMiddleware(backend=backend),
        ],
        context_schema=Caller,
        store=InMemoryStore(),
    )

    ann, bo = Caller("ann@example.org"), Caller("auth0|bo")
    agent.invoke({"messages": [HumanMessage("Explain at length, please.")]}, context=ann)
    agent.invoke({"messages": [HumanMessage("Keep it short, please.")]}, context=bo)

    for caller in (ann, bo, Caller("ann@example_org")):
        agent.invoke({"messages": [HumanMessage("Hello.")]}, context=caller)
        print(f"{caller.user_id}\n{model.memory}\n")


if __name__ == "__main__":
    main()

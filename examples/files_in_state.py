"""For servers that must not write to a disk: files in the state of the conversation.

Files come in with the call, live as long as the thread, and go out with the result. The
backend may be made by a factory, which gets the runtime of the call; that is how older
code passes it.
"""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from scripted import ScriptedModel, call

from memoryware import FileToolsMiddleware, MemoryMiddleware, StateBackend
from memoryware.backends import FileData


def backend_for(runtime: Any) -> StateBackend:
    return StateBackend(runtime)


def main() -> None:
    model = ScriptedModel(
        call("append_file", file_path="/memory/AGENTS.md", text="- Invoices go to Bo."),
        "Noted.",
    )
    agent: Any = create_agent(
        model,
        middleware=[
            MemoryMiddleware(backend=backend_for, sources=["/memory/AGENTS.md"]),
            FileToolsMiddleware(backend=backend_for),
        ],
        checkpointer=InMemorySaver(),
    )
    thread: RunnableConfig = {"configurable": {"thread_id": "1"}}

    preloaded = FileData(content="- Answer in French.\n", encoding="utf-8")
    given = {
        "messages": [HumanMessage("Invoices go to Bo from now on.")],
        "files": {"/memory/AGENTS.md": preloaded},
    }
    result = agent.invoke(given, thread)
    print("In the result:")
    print(result["files"]["/memory/AGENTS.md"]["content"])

    agent.invoke({"messages": [HumanMessage("Where do invoices go?")]}, thread)
    print("In the next prompt of this thread:")
    print(model.memory)


if __name__ == "__main__":
    main()

"""For teams that share a memory: a person looks at each change before it happens.

LangChain's `HumanInTheLoopMiddleware` stops the run at the tools that write. The person
approves, changes or rejects the call. The run then goes on, with the memory as it is then.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, InterruptOnConfig
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from scripted import ScriptedModel, call

from memoryware import FilesystemBackend, FileToolsMiddleware, MemoryMiddleware

WRITING: dict[str, bool | InterruptOnConfig] = {
    "write_file": True,
    "edit_file": True,
    "append_file": True,
    "delete": True,
}


def main(folder: Path) -> None:
    file = folder / "AGENTS.md"
    file.write_text("- The budget is 100.\n")
    model = ScriptedModel(
        call("append_file", file_path="/AGENTS.md", text="- Bo may spend it all."),
        call("append_file", file_path="/AGENTS.md", text="- Ask Ann about the budget."),
        "As you wish.",
    )
    backend = FilesystemBackend(root_dir=folder)
    agent: Any = create_agent(
        model,
        middleware=[
            MemoryMiddleware(backend=backend, sources=["/AGENTS.md"]),
            FileToolsMiddleware(backend=backend),
            HumanInTheLoopMiddleware(interrupt_on=WRITING),
        ],
        checkpointer=InMemorySaver(),
    )
    thread: RunnableConfig = {"configurable": {"thread_id": "1"}}

    state = agent.invoke({"messages": [HumanMessage("Bo may spend the budget.")]}, thread)
    show_request(state)

    print("  a person rejects it\n")
    decision = {"type": "reject", "message": "Not for Bo to decide. Note whom to ask."}
    state = agent.invoke(Command(resume={"decisions": [decision]}), thread)
    show_request(state)

    print("  a person approves it\n")
    agent.invoke(Command(resume={"decisions": [{"type": "approve"}]}), thread)
    print(file.read_text())


def show_request(state: Any) -> None:
    (request,) = state["__interrupt__"][0].value["action_requests"]
    print(f"The agent wants: {request['name']} {request['args']['text']!r}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(Path(temporary))

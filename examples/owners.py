"""For teams and their users: whose each memory file is, and who may write it.

The agent may read the rules of the team, adds to the notes of the user, and asks before
it changes the facts of the project.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from scripted import ScriptedModel, call

from memoryware import FilesystemBackend, FileToolsMiddleware, MemoryMiddleware, Source

SOURCES = [
    Source("/TEAM.md", owner="team", writable=False),
    Source("/PROJECT.md", owner="project", writable="ask"),
    Source("/ANN.md", owner="user"),
]


def main(folder: Path) -> None:
    (folder / "TEAM.md").write_text("- We answer within a day.\n")
    (folder / "PROJECT.md").write_text("- The shop sells tea.\n")
    model = ScriptedModel(
        call("append_file", file_path="/TEAM.md", text="- Ann answers when she can."),
        call("append_file", file_path="/ANN.md", text="- Ann answers when she can."),
        call("append_file", file_path="/PROJECT.md", text="- The shop sells coffee, too."),
        "Done.",
    )
    backend = FilesystemBackend(root_dir=folder)
    agent: Any = create_agent(
        model,
        middleware=[
            MemoryMiddleware(backend=backend, sources=SOURCES),
            FileToolsMiddleware(backend=backend),
        ],
        checkpointer=InMemorySaver(),
    )
    thread: RunnableConfig = {"configurable": {"thread_id": "1"}}
    state = agent.invoke({"messages": [HumanMessage("Please note all that.")]}, thread)
    for message in state["messages"]:
        if isinstance(message, ToolMessage):
            print(f"{message.status}: {message.text}")

    (request,) = state["__interrupt__"][0].value["action_requests"]
    print(f"\nA person is asked: {request['description']}\n")
    agent.invoke(Command(resume={"decisions": [{"type": "approve"}]}), thread)
    for source in SOURCES:
        print(f"{source.path}:\n{(folder / source.path[1:]).read_text()}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(Path(temporary))

"""For agents that shall have no file tools: the memory brings a small one of its own.

`edit_memory` can change the memory files and nothing else. It is offered only while the
agent has no other tool that writes. With `tools=False` there is no tool at all, and the
model is not told to save anything.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from scripted import ScriptedModel, call

from memoryware import FilesystemBackend, MemoryMiddleware


def main(folder: Path) -> None:
    model = ScriptedModel(
        call("edit_memory", file_path="/secrets.txt", old_string="", new_string="hello"),
        call("edit_memory", old_string="", new_string="- Ann writes British English.\n"),
        "Noted.",
    )
    memory = MemoryMiddleware(
        backend=FilesystemBackend(root_dir=folder), sources=["/notes/AGENTS.md"]
    )
    agent = create_agent(model, middleware=[memory])

    result = agent.invoke({"messages": [HumanMessage("I write British English.")]})
    for message in result["messages"]:
        if message.type == "tool":
            print(f"{message.status}: {message.text}")
    print((folder / "notes" / "AGENTS.md").read_text())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(Path(temporary))

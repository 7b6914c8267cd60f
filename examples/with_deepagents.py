"""For users of deepagents: our memory in its `create_deep_agent`.

Needs deepagents beside memoryware: `pip install deepagents`. Our middleware takes any
backend of theirs, and their agent any backend of ours. Do not pass `memory=` as well: the
middleware in the list takes its place.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from scripted import ScriptedModel, call

from memoryware import FilesystemBackend, MemoryMiddleware


def main(folder: Path) -> None:
    from deepagents import create_deep_agent

    (folder / "AGENTS.md").write_text("- The customer is called Iris.\n")
    model = ScriptedModel(
        call(
            "edit_file",
            file_path="/AGENTS.md",
            old_string="Iris.",
            new_string="Iris, and she likes tables.",
        ),
        "Noted.",
    )
    # For a type checker: deepagents' annotations know only backends of their own.
    backend: Any = FilesystemBackend(root_dir=folder)
    agent: Any = create_deep_agent(
        model,
        backend=backend,
        middleware=[MemoryMiddleware(backend=backend, sources=["/AGENTS.md"])],
        checkpointer=InMemorySaver(),
    )

    thread: RunnableConfig = {"configurable": {"thread_id": "1"}}
    agent.invoke({"messages": [HumanMessage("Iris likes tables.")]}, thread)
    agent.invoke({"messages": [HumanMessage("Write to the customer.")]}, thread)
    print("The second turn of the same thread got:")
    print(model.memory)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(Path(temporary))

"""For agents with more than one place: scratch files in the state, the rest on disk.

`/memories/` and `/skills/` are folders on disk; everything else lives in the state of the
thread. The agent sees one tree. Skills may be read but not changed.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from scripted import ScriptedModel, call

from memoryware import (
    CompositeBackend,
    FilesystemBackend,
    FileToolsMiddleware,
    MemoryMiddleware,
    StateBackend,
)


def main(folder: Path) -> None:
    skills = folder / "skills"
    skills.mkdir()
    (skills / "release.md").write_text("1. Tag. 2. Build. 3. Announce.\n")
    model = ScriptedModel(
        call("ls", path="/"),
        call("write_file", file_path="/draft.md", content="A scratch file.\n"),
        call("append_file", file_path="/memories/AGENTS.md", text="- Releases are on Tuesdays."),
        call("edit_file", file_path="/skills/release.md", old_string="Tag", new_string="Skip"),
        "Done.",
    )
    backend = CompositeBackend(
        default=StateBackend(),
        routes={
            "/memories/": FilesystemBackend(root_dir=folder / "memories"),
            "/skills/": FilesystemBackend(root_dir=skills),
        },
    )
    agent = create_agent(
        model,
        middleware=[
            MemoryMiddleware(backend=backend, sources=["/memories/AGENTS.md"]),
            FileToolsMiddleware(backend=backend, read_only=["/skills/"]),
        ],
        checkpointer=InMemorySaver(),
    )

    thread: RunnableConfig = {"configurable": {"thread_id": "1"}}
    result = agent.invoke({"messages": [HumanMessage("Releases are on Tuesdays.")]}, thread)
    for message in result["messages"]:
        if message.type == "tool":
            print(f"{message.name}: {message.text}")
    print()
    print("On disk:", *sorted(str(one.relative_to(folder)) for one in folder.rglob("*.md")))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(Path(temporary))

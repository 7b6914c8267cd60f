"""For those who run agents: see what memory does, without seeing what it says.

The agent saves a note, tries to save a password, and tries to change a file of the team.
Each event of the run is printed as it comes; counters keep the sums, for a dashboard.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from scripted import ScriptedModel, call

from memoryware import FilesystemBackend, FileToolsMiddleware, MemoryMiddleware, Source
from memoryware.events import Counters, MemoryEvent, listen

SOURCES = [Source("/TEAM.md", owner="team", writable=False), Source("/AGENTS.md")]


def main(folder: Path) -> None:
    model = ScriptedModel(
        call("append_file", file_path="/AGENTS.md", text="- Ann is back on Monday."),
        call("append_file", file_path="/AGENTS.md", text="- The wifi password is blue-kettle-42."),
        call("append_file", file_path="/TEAM.md", text="- Nobody works on Fridays."),
        "Done.",
    )
    backend = FilesystemBackend(root_dir=folder)
    agent: Any = create_agent(
        model,
        middleware=[
            MemoryMiddleware(backend=backend, sources=SOURCES),
            FileToolsMiddleware(backend=backend),
        ],
    )

    run: RunnableConfig = {"configurable": {"thread_id": "1", "user_id": "ann"}}
    question = {"messages": [HumanMessage("I am back on Monday.")]}
    counters = Counters()
    with listen(counters):
        for event in agent.stream(question, run, stream_mode="custom"):
            print(told(event))

    print()
    for name in ("loaded", "injected", "written", "write_blocked", "write_blocked.secret"):
        print(f"{name}: {counters[name]}")


def told(event: MemoryEvent) -> str:
    """Return an event as one line; a type checker knows the keys of each."""
    if event["event"] == "loaded":
        return f"loaded {len(event['sources'])} files, {event['characters']} characters"
    if event["event"] == "injected":
        return f"showed {event['tokens']} tokens, cut {event['cut'] or 'nothing'}"
    if event["event"] == "written":
        return f"{event['user']}: {event['tool']} {event['path']} +{event['lines_added']}"
    if event["event"] == "write_blocked":
        found = "".join(f", {kind}" for kind in event["kinds"])
        return f"{event['user']}: no {event['tool']} {event['path']} ({event['reason']}{found})"
    return event["event"]


def make_files(folder: Path) -> None:
    (folder / "TEAM.md").write_text("- We are closed on Sundays.\n")
    (folder / "AGENTS.md").write_text("- The customer is called Iris.\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        make_files(Path(temporary))
        main(Path(temporary))

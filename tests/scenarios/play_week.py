"""Plays runs of an agent, each in a process of its own that may be killed at any moment.

Reads one run per line, as JSON, and answers with what became of it; a run with `kill` is
killed that many seconds after it has begun, or at the event of that name.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

from kit import ScriptedModel, say
from memoryware import (
    FilesystemBackend,
    FileToolsMiddleware,
    HistoryBackend,
    MemoryMiddleware,
    Source,
    acting,
)
from memoryware.events import listen

MONDAY = datetime(2026, 11, 2, 8, tzinfo=UTC)
STEP = timedelta(minutes=50)


def history_of(root: Path, run: int) -> HistoryBackend:
    """The memory files with their history, at the time of a run."""
    return HistoryBackend(FilesystemBackend(root / "memory"), clock=lambda: MONDAY + run * STEP)


def agent_for(user: str, backend, model, saver):
    """The agent of one user: the own file, that of the project, and the law of the team."""
    sources = [
        Source("/team.md", owner="team", writable=False),
        Source("/project.md", owner="project"),
        Source(f"/users/{user}.md", owner="user"),
    ]
    memory = MemoryMiddleware(backend=backend, sources=sources)
    tools = FileToolsMiddleware(backend=backend)
    return create_agent(model, middleware=[memory, tools], checkpointer=saver, name="scribe")


def perform(root: Path, run: dict) -> dict:
    """Play one run and return what became of it."""
    backend = history_of(root, run["n"])
    if "undo" in run:
        with acting(user=run["user"]):
            made = backend.undo(run["undo"], reason="a person took it back")
        return {"undone": made.number}
    call = {"name": run["tool"], "args": run["args"], "id": f"run-{run['n']}", "type": "tool_call"}
    model = ScriptedModel(AIMessage("", tool_calls=[call]), say())
    config = {"configurable": {"thread_id": run["thread"], "user_id": run["user"]}}
    with SqliteSaver.from_conn_string(str(root / "threads.db")) as saver, told(root, run):
        agent = agent_for(run["user"], backend, model, saver)
        result = agent.invoke({"messages": [("user", f"run {run['n']}")]}, config)
        asked = bool(result.get("__interrupt__"))
        if asked:
            kind = run.get("decision", "reject")
            result = agent.invoke(Command(resume={"decisions": [{"type": kind}]}), config)
    answers = [one for one in result["messages"] if isinstance(one, ToolMessage)]
    last = [one for one in answers if one.tool_call_id == call["id"]][-1]
    return {"status": last.status, "asked": asked, "said": last.text, "prompt": model.system(0)}


def told(root: Path, run: dict):
    """Write each event of a run down at once, and die at the one that it says."""

    def down(event):
        if event["event"] == run.get("kill"):
            os.kill(os.getpid(), signal.SIGKILL)
        with (root / "events.jsonl").open("a") as file:
            file.write(json.dumps({"n": run["n"], **event}) + "\n")

    return listen(down)


def main() -> None:
    root = Path(sys.argv[1])
    for line in sys.stdin:
        run = json.loads(line)
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            os.write(writer, b" ")  # it has begun
            os.write(writer, json.dumps(perform(root, run)).encode())
            os._exit(0)
        os.close(writer)
        os.read(reader, 1)
        if isinstance(run.get("kill"), float):
            time.sleep(run["kill"])
            os.kill(child, signal.SIGKILL)
        with os.fdopen(reader) as said:
            answer = said.read()
        os.waitpid(child, 0)
        try:
            print(json.dumps({"done": json.loads(answer)}), flush=True)
        except ValueError:
            print(json.dumps({"killed": True}), flush=True)


if __name__ == "__main__":
    main()

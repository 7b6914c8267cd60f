"""For those who are answerable for what an agent remembers: see each change, take it back.

The agent learns something right and then something wrong. Its owner looks at the log,
sees the difference, and undoes the wrong change alone. The undo is in the log as well.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from scripted import ScriptedModel, call

from memoryware import (
    FilesystemBackend,
    FileToolsMiddleware,
    HistoryBackend,
    MemoryMiddleware,
    acting,
)

PATH = "/AGENTS.md"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        backend = HistoryBackend(FilesystemBackend(root_dir=folder))
        backend.write(PATH, "- Our customers are bakeries.\n")
        model = ScriptedModel(
            call("append_file", file_path=PATH, text="- Invoices are due in 30 days."),
            "Noted.",
            call("edit_file", file_path=PATH, old_string="bakeries", new_string="butchers"),
            "Noted.",
        )
        agent: Any = create_agent(
            model,
            middleware=[
                MemoryMiddleware(backend=backend, sources=[PATH]),
                FileToolsMiddleware(backend=backend),
            ],
            name="clerk",
        )
        for thread, text in (("monday", "Invoices are due in 30 days."), ("friday", "Butchers!")):
            config = {"configurable": {"thread_id": thread, "user_id": "ann"}}
            agent.invoke({"messages": text}, config)

        show_log(backend)
        wrong = backend.log(PATH)[0]
        print(backend.diff(PATH, wrong.number - 1, wrong.number))

        with acting(user="bo"):
            backend.undo(PATH, reason="we sell to bakeries")
        show_log(backend)
        print(Path(folder, "AGENTS.md").read_text(), end="")


def show_log(backend: HistoryBackend) -> None:
    for one in backend.log(PATH):
        actor = one.actor
        who = [part for part in (actor.agent, actor.user, actor.thread, one.reason) if part]
        print(one.number, one.kind, *who, sep=", ")
    print()


if __name__ == "__main__":
    main()

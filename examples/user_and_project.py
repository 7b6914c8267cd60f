"""For command-line agents: one file of the user, one of the project.

`~/.agent/AGENTS.md` holds what is true for this person everywhere, `./AGENTS.md` what is
true for the project in the current folder. With `root_dir="/"` the home folder and the
current folder are both in reach. So the file tools are limited to these two files.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from scripted import ScriptedModel, call

from memoryware import FilesystemBackend, FileToolsMiddleware, MemoryMiddleware

SOURCES = ["~/.agent/AGENTS.md", "./AGENTS.md"]


def main() -> None:
    model = ScriptedModel(
        call("append_file", file_path="./AGENTS.md", text="- Deploy from the branch `live`."),
        call("read_file", file_path="/etc/hostname"),
        "Noted.",
    )
    backend = FilesystemBackend(root_dir="/")
    agent = create_agent(
        model,
        middleware=[
            MemoryMiddleware(backend=backend, sources=SOURCES),
            FileToolsMiddleware(backend=backend, only=SOURCES),
        ],
    )

    result = agent.invoke({"messages": [HumanMessage("We deploy from the branch live.")]})
    print(model.memory)
    print()
    for message in result["messages"]:
        if message.type == "tool":
            print(f"{message.status}: {message.text}")


def make_two_files(folder: Path) -> None:
    """Set up a home folder and a project, and go there."""
    home, project = folder / "home", folder / "project"
    (home / ".agent").mkdir(parents=True)
    project.mkdir()
    (home / ".agent" / "AGENTS.md").write_text("- I am Ann. I like short answers.\n")
    (project / "AGENTS.md").write_text("- This project is written in Go.\n")
    os.environ["HOME"] = os.environ["USERPROFILE"] = str(home)
    os.chdir(project)


if __name__ == "__main__":
    start = Path.cwd()
    with tempfile.TemporaryDirectory() as temporary:
        make_two_files(Path(temporary))
        main()
        os.chdir(start)

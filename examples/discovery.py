"""For agents that work in repositories: the memory files that are there already.

`sources="auto"` finds what other agents read as well: the file of the user, that of the
repository, that of the folder where the agent starts. When the agent works on a file
elsewhere in the repository, the memory file beside it joins from the next model call on.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from scripted import ScriptedModel, call

from memoryware import FilesystemBackend, FileToolsMiddleware, MemoryMiddleware, discover

FILES = {
    "home/.codex/AGENTS.md": "- I am Ann. I like short answers.\n",
    "repo/.git/HEAD": "ref: refs/heads/main\n",
    "repo/AGENTS.md": "- This is a shop, written in Python.\n",
    "repo/web/AGENTS.md": "- Pages work without scripts.\n",
    "repo/web/CLAUDE.md": "- Pages work without scripts.\n",
    "repo/pay/AGENTS.md": "- Amounts are whole cents.\n",
    "repo/pay/card.py": "PRICE = 1299\n",
}


def main(folder: Path) -> None:
    backend = FilesystemBackend(root_dir=folder)
    for source in discover("/repo/web", backend=backend):
        print(f"{source.owner}: {source.path}")

    model = ScriptedModel(call("read_file", file_path="/repo/pay/card.py"), "12.99.")
    agent = create_agent(
        model,
        middleware=[
            MemoryMiddleware(backend=backend, sources="auto", start="/repo/web"),
            FileToolsMiddleware(backend=backend),
        ],
    )
    agent.invoke({"messages": [HumanMessage("What does a card cost?")]})
    for number, prompt in enumerate(model.prompts, 1):
        print(f"\nModel call {number} knows")
        print(*(line for line in prompt.splitlines() if line.endswith("AGENTS.md")), sep="\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        for name, text in FILES.items():
            path = Path(temporary, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        os.environ["HOME"] = os.environ["USERPROFILE"] = str(Path(temporary, "home"))
        main(Path(temporary))

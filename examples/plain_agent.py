"""For users of LangChain's `create_agent`: memory and file tools, two middleware.

The agent sees `AGENTS.md` before every answer, and changes it with its file tools. The
order matters a little: memory first, so that it stands before the text about the tools.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from scripted import ScriptedModel, call

from memoryware import FilesystemBackend, FileToolsMiddleware, MemoryMiddleware


def main(folder: Path) -> None:
    file = folder / "AGENTS.md"
    file.write_text("# Team\n\n- Our time zone is CET.\n")
    model = ScriptedModel(
        call("append_file", file_path="/AGENTS.md", text="- The stand-up is at 9:30."),
        "Noted.",
    )

    backend = FilesystemBackend(root_dir=folder)
    agent = create_agent(
        model,
        middleware=[
            MemoryMiddleware(backend=backend, sources=["/AGENTS.md"]),
            FileToolsMiddleware(backend=backend),
        ],
    )

    agent.invoke({"messages": [HumanMessage("The stand-up moves to 9:30 for good.")]})
    print("The file now:")
    print(file.read_text())

    agent.invoke({"messages": [HumanMessage("When is the stand-up?")]})
    print("What the model got on the next run:")
    print(model.memory)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(Path(temporary))

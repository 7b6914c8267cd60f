"""For teams with rules in several files: one AGENTS.md that imports them.

Lines such as `@docs/style.md` are replaced by that file. Files beside the project and below it
come in by themselves; about all others somebody is asked, here a function.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from scripted import ScriptedModel

from memoryware import FilesystemBackend, Imports, MemoryMiddleware

FILES = {
    "shop/AGENTS.md": "# Shop\n\n- @docs/style.md\n- @../company.md\n- @../diary.md\n",
    "shop/docs/style.md": "- Prices are in euro.\n- Ask @bo about taxes.\n@more.md\n",
    "shop/docs/more.md": "- Round up.\n",
    "company.md": "- We close at five.\n",
    "diary.md": "- Nobody shall read this.\n",
}


def approve(importing: str, imported: str) -> bool:
    """A person's part: say which files from elsewhere may be read."""
    answer = imported == "/company.md"
    print(f"{importing} wants {imported}: {'yes' if answer else 'no'}")
    return answer


def main(folder: Path) -> None:
    memory = MemoryMiddleware(
        backend=FilesystemBackend(root_dir=folder),
        sources=["/shop/AGENTS.md"],
        imports=Imports(approve=approve),
    )
    model = ScriptedModel("In euro, rounded up.")
    agent = create_agent(model, middleware=[memory])

    agent.invoke({"messages": [HumanMessage("How do we write prices?")]})
    print()
    print(model.memory)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        for name, text in FILES.items():
            path = Path(temporary, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        main(Path(temporary))

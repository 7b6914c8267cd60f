"""For apps that people set up without code: the agent comes from a `config.json`.

The file names the memory files, the folders, the prompt and the model. Here the model is
passed by hand, so that the example needs no key.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from scripted import ScriptedModel, call

from memoryware import create_deep_agent, load_config


def main(folder: Path) -> None:
    (folder / "skills").mkdir()
    file = folder / "config.json"
    settings = {
        "memory_files": ["/memories/AGENTS.md"],
        "memories_dir": "memories",
        "skills_dir": "skills",
        "react_prompt": "You keep the books of a small bakery.",
        "model": {"name": "anthropic:claude-sonnet-4-5"},
    }
    file.write_text(json.dumps(settings))

    config = load_config(file)
    print("prompt:", config.system_prompt)
    print("memory:", *config.memory_files)
    print("folder:", config.memories_dir.relative_to(folder.resolve()))

    model = ScriptedModel(
        call("write_file", file_path="/memories/AGENTS.md", content="- Flour is bought monthly.\n"),
        "Noted.",
    )
    agent = create_deep_agent(model, config=config, checkpointer=InMemorySaver())
    thread: RunnableConfig = {"configurable": {"thread_id": "1"}}
    agent.invoke({"messages": [HumanMessage("We buy flour monthly.")]}, thread)
    agent.invoke({"messages": [HumanMessage("When do we buy flour?")]}, thread)

    print()
    print(model.memory)
    print()
    print("The prompt begins:", model.prompts[-1].splitlines()[0])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(Path(temporary))

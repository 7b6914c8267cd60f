"""One thing done with two libraries: how deepagents and how we answer to it."""

from __future__ import annotations

import threading
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deepagents import backends as their_backends
from deepagents.middleware.filesystem import FilesystemMiddleware as TheirFiles
from deepagents.middleware.memory import MemoryMiddleware as TheirMemory
from langchain.agents import create_agent
from langchain.agents.middleware import wrap_model_call
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore

import memoryware
from kit import ScriptedModel
from memoryware.demo import DemoModel

THREAD = {"configurable": {"thread_id": "1"}}


@dataclass
class Side:
    """One of the two libraries, in the current folder."""

    library: Any
    memory: Any
    file_tools: Any
    store: InMemoryStore = field(default_factory=InMemoryStore)

    def disk(self) -> Any:
        return self.library.FilesystemBackend(root_dir=".", virtual_mode=True)

    def shelf(self, *namespace: str) -> Any:
        return self.library.StoreBackend(store=self.store, namespace=lambda _: namespace)

    def agent(self, *sources: str, backend: Any = None, tools: Any = (), **options: Any) -> Any:
        """An agent on sources; `prompts` of this side gets every system prompt."""
        self.prompts: list[str] = []

        @wrap_model_call
        def keep(request, handler):
            message = request.system_message
            self.prompts.append(message.text if message else "")
            return handler(request)

        memory = self.memory(backend=backend or self.disk(), sources=[*sources], **options)
        return create_agent(DemoModel(), middleware=[memory, keep], checkpointer=InMemorySaver())

    def after(self, turn: Any, text: str) -> str:
        """The text of a memory file after a turn of a model that had it and file tools."""
        file = Path("AGENTS.md")
        file.write_text(text)
        disk = self.disk()
        parts = [self.memory(backend=disk, sources=["/AGENTS.md"]), self.file_tools(backend=disk)]
        agent = create_agent(ScriptedModel(turn), middleware=parts)
        agent.invoke({"messages": "Hello."}, THREAD)
        return file.read_text()

    def prompt(self, *sources: str, **options: Any) -> str:
        """The system prompt of one run."""
        self.agent(*sources, **options).invoke({"messages": "Hello."}, THREAD)
        return self.prompts[-1]

    def block(self, *sources: str, **options: Any) -> str:
        """The memory block of one run."""
        prompt = self.prompt(*sources, **options)
        return prompt.partition("<agent_memory>")[2].partition("</agent_memory>")[0]

    def surviving_edits(self, count: int) -> int:
        """How many of several edits of one file at once are there afterwards."""
        file = Path("many.md")
        file.write_text("".join(f"<{n}>\n" for n in range(count)))
        disk = self.disk()
        edits = [
            threading.Thread(target=disk.edit, args=("/many.md", f"<{n}>", f"[{n}]"))
            for n in range(count)
        ]
        for one in edits:
            one.start()
        for one in edits:
            one.join()
        return file.read_text().count("[")


def theirs() -> Side:
    return Side(their_backends, TheirMemory, TheirFiles)


def ours() -> Side:
    return Side(memoryware, memoryware.MemoryMiddleware, memoryware.FileToolsMiddleware)


def outcome(work: Any) -> str:
    """What came of it: "ok", an error told in a result, or the name of what was raised."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = work()
    except Exception as error:
        return type(error).__name__
    return "error" if getattr(result, "error", None) else "ok"

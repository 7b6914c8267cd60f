"""Backends of both libraries, and a run of an agent's file tools over any of them."""

from __future__ import annotations

from typing import Any

from deepagents.backends import CompositeBackend as TheirComposite
from deepagents.backends import FilesystemBackend as TheirDisk
from deepagents.backends import StateBackend as TheirState
from deepagents.backends import StoreBackend as TheirStore
from langgraph.store.memory import InMemoryStore

from kit import ScriptedModel, aask, ask, call, say, tool_messages
from memoryware.backends.composite import CompositeBackend
from memoryware.backends.filesystem import FilesystemBackend
from memoryware.backends.state import StateBackend
from memoryware.backends.store import StoreBackend


def _namespace(_: Any) -> tuple[str, ...]:
    return ("files",)


def _store(kind: Any) -> Any:
    return kind(store=InMemoryStore(), namespace=_namespace)


OURS = {
    "disk": lambda folder: FilesystemBackend(root_dir=folder),
    "state": lambda _: StateBackend(),
    "store": lambda _: _store(StoreBackend),
    "composite": lambda folder: CompositeBackend(
        StateBackend(), {"/memories/": FilesystemBackend(root_dir=folder)}
    ),
    "composite of two": lambda _: CompositeBackend(
        _store(StoreBackend), {"/memories/": CompositeBackend(StateBackend(), {})}
    ),
}
"""Backends of ours, each made in a folder of its own."""

THEIRS = {
    "their disk": lambda folder: TheirDisk(root_dir=folder, virtual_mode=True),
    "their state": lambda _: TheirState(),
    "their store": lambda _: _store(TheirStore),
    "their composite": lambda folder: TheirComposite(
        default=TheirState(), routes={"/memories/": TheirDisk(root_dir=folder, virtual_mode=True)}
    ),
}
"""Backends of deepagents."""

MIXED = {
    **{
        f"our {name} in theirs": lambda folder, make=make: TheirComposite(
            default=_store(TheirStore), routes={"/memories/": make(folder)}
        )
        for name, make in OURS.items()
    },
    "theirs on our state": lambda folder: TheirComposite(
        default=StateBackend(), routes={"/memories/": TheirDisk(folder, virtual_mode=True)}
    ),
    **{
        f"{name} in ours": lambda folder, make=make: CompositeBackend(
            _store(StoreBackend), {"/memories/": make(folder)}
        )
        for name, make in THEIRS.items()
    },
    "ours on their state": lambda folder: CompositeBackend(
        TheirState(), {"/memories/": FilesystemBackend(root_dir=folder)}
    ),
}
"""Backends of one library inside a composite of the other."""

SCRIPT = [
    call("write_file", file_path="/memories/a.md", content="alpha\nbeta\n"),
    call("write_file", file_path="/notes/b.md", content="beta\n"),
    call("ls", path="/"),
    call("ls", path="/memories"),
    call("read_file", file_path="/memories/a.md"),
    call("edit_file", file_path="/memories/a.md", old_string="alpha", new_string="gamma"),
    call("edit_file", file_path="/notes/b.md", old_string="nothing like this", new_string="x"),
    call("glob", pattern="**/*.md"),
    call("glob", pattern="/memories/*.md"),
    call("grep", pattern="beta"),
    call("grep", pattern="gamma", path="/memories", output_mode="content"),
    call("delete", file_path="/notes/b.md"),
    call("read_file", file_path="/notes/b.md"),
    call("read_file", file_path="/memories/a.md"),
]
"""What the model does; each of the file tools once at least."""


async def play(agent_of: Any, door: str) -> tuple[Any, list[Any]]:
    """Let an agent of a scripted model do all of it and return the result and the answers."""
    agent = agent_of(ScriptedModel(*SCRIPT, say("done")))
    result = ask(agent) if door == "blocking" else await aask(agent)
    return result, tool_messages(result)

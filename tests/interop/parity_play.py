"""One conversation for two libraries; run as a script it plays deepagents' part.

The process that runs it has an old deepagents first on its path, and prints what
happened as JSON. The test plays ours in its own process.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from langchain.agents.middleware.types import ModelRequest
from langchain_core.messages import SystemMessage
from langgraph.checkpoint.memory import InMemorySaver

from kit import ScriptedModel, aask, ask, call, say, tool_messages

FIRST, SECOND, MISSING, EMPTY, FOLDER = "/b.md", "/a.md", "/gone.md", "/empty.md", "/folder"
SOURCES = [FIRST, MISSING, SECOND, EMPTY]
STATE_FILE = {
    "content": ["line one", "line two"],
    "created_at": "2026-01-01T00:00:00+00:00",
    "modified_at": "2026-01-01T00:00:00+00:00",
}
"""A file in the state, in the form of that time."""


def play(library: Any, root: Path) -> dict[str, Any]:
    """Do everything once and return what happened, in plain values."""
    (root / "folder").mkdir()
    (root / "b.md").write_text("Second listed, {braces} and <!-- a comment -->\n")
    (root / "a.md").write_text("First by name.\n\nTwo paragraphs.")
    (root / "empty.md").write_text("")
    disk = library.disk(root)
    return {
        **_by_hand(library, disk),
        **_errors(library, disk),
        **_factories(library, disk),
        **_conversation(library, disk, root),
        **_state(library),
    }


def _by_hand(library: Any, disk: Any) -> dict[str, Any]:
    memory = library.memory(backend=disk, sources=SOURCES)
    nothing = library.memory(backend=disk, sources=[MISSING])
    update = memory.before_agent({}, _runtime(), {})
    aupdate = asyncio.run(memory.abefore_agent({}, _runtime(), {}))
    return {
        "update": update,
        "update is the same in the async door": aupdate == update,
        "keys of the update": list(update),
        "loaded when the state has the key": memory.before_agent(
            {"memory_contents": {}}, _runtime(), {}
        ),
        "block": _block(_system(memory, update)),
        "block in another order of the mapping": _block(
            _system(memory, {"memory_contents": {SECOND: "2", "/other.md": "x", FIRST: "1"}})
        ),
        "block of nothing": _block(_system(nothing, {"memory_contents": {}})),
        "block without the key": _block(_system(nothing, {})),
        "blocks of the system message": _blocks(memory, update),
        "system message of the request afterwards": _kept(memory, update),
        "one source": memory._load_memory_from_backend_sync(disk, FIRST),
        "a missing source": memory._load_memory_from_backend_sync(disk, MISSING),
        "text of contents": _block(memory._format_agent_memory({FIRST: "x", SECOND: "y"})),
        "state annotations": sorted(set(library.state.__annotations__) & {"memory_contents"}),
        "update annotations": sorted(library.update.__annotations__),
    }


def _errors(library: Any, disk: Any) -> dict[str, Any]:
    class Miscounting:
        def download_files(self, paths: list[str]) -> list[Any]:
            return []

        async def adownload_files(self, paths: list[str]) -> list[Any]:
            return []

    bad = library.memory(backend=disk, sources=[FIRST, FOLDER])
    wrong = library.memory(backend=Miscounting(), sources=[FIRST])
    return {
        "error of a folder": _raised(ValueError, lambda: bad.before_agent({}, _runtime(), {})),
        "error of a folder, async": _raised(
            ValueError, lambda: asyncio.run(bad.abefore_agent({}, _runtime(), {}))
        ),
        "error of a wrong count": _raised(
            AssertionError, lambda: wrong.before_agent({}, _runtime(), {})
        ),
        "error of a wrong count, async": _raised(
            AssertionError, lambda: asyncio.run(wrong.abefore_agent({}, _runtime(), {}))
        ),
    }


def _factories(library: Any, disk: Any) -> dict[str, Any]:
    seen: list[Any] = []

    def factory(runtime: Any) -> Any:
        seen.append(runtime)
        return library.composite(default=library.state_backend(runtime), routes={"/m/": disk})

    memory = library.memory(backend=factory, sources=["/m/b.md", "/s.md"])
    state = {"files": {"/s.md": STATE_FILE}, "messages": []}
    update = memory.before_agent(state, _runtime(), {"configurable": {"thread_id": "t"}})
    names = ("state", "context", "store", "stream_writer", "config", "tool_call_id")
    return {
        "update of a factory": update,
        "what a factory is given": [name for name in names if hasattr(seen[0], name)],
        "tool call id that a factory is given": seen[0].tool_call_id,
        "state that a factory is given": seen[0].state == state,
    }


def _conversation(library: Any, disk: Any, root: Path) -> dict[str, Any]:
    model = ScriptedModel(
        call("read_file", file_path=FIRST),
        call("edit_file", file_path=SECOND, old_string="First by name", new_string="Edited"),
        call("edit_file", file_path=SECOND, old_string="not there", new_string="x"),
        call("edit_file", file_path=MISSING, old_string="x", new_string="y"),
        say("one"),
        say("two"),
        say("three"),
    )
    agent = library.agent(
        model=model,
        backend=disk,
        middleware=[library.memory(backend=disk, sources=SOURCES)],
        checkpointer=InMemorySaver(),
    )
    config = {"configurable": {"thread_id": "one"}}
    first = ask(agent, thread="one")
    kept = agent.get_state(config).values.get("memory_contents")
    second = asyncio.run(aask(agent, thread="one"))
    given = asyncio.run(aask(agent, thread="two", memory_contents={FIRST: "INJECTED"}))
    return {
        "memory in each request": [_block(model.system(at)) for at in range(len(model.requests))],
        "tools that were answered": [one.name for one in tool_messages(first)],
        "file afterwards": (root / "a.md").read_text(),
        "memory that the thread keeps": kept,
        "keys of the results": ["memory_contents" in one for one in (first, second, given)],
        "answers": [one["messages"][-1].text for one in (first, second, given)],
    }


def _state(library: Any) -> dict[str, Any]:
    model = ScriptedModel(say("ok"))
    agent = library.agent(
        model=model,
        backend=library.state_backend,
        middleware=[library.memory(backend=library.state_backend, sources=["/memory/AGENTS.md"])],
    )
    ask(agent, files={"/memory/AGENTS.md": STATE_FILE})
    return {"memory from the state": _block(model.system())}


def _runtime() -> Any:
    return SimpleNamespace(context=None, store=None, stream_writer=lambda _: None)


def _request(state: dict[str, Any], system: Any = None) -> Any:
    return ModelRequest(
        model=ScriptedModel(),
        messages=[],
        system_message=system,
        tools=[],
        state={"messages": [], **state},
    )


def _system(memory: Any, state: dict[str, Any]) -> str:
    return str(memory.modify_request(_request(state)).system_message.text)


def _blocks(memory: Any, state: dict[str, Any]) -> list[Any]:
    content = [
        {"type": "text", "text": "base", "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "more"},
    ]
    changed = memory.modify_request(_request(state, SystemMessage(content=content)))
    *before, last = changed.system_message.content
    return [*before, last["type"], last["text"][: len("\n\n<agent_memory>\n")]]


def _kept(memory: Any, state: dict[str, Any]) -> Any:
    request = _request(state, SystemMessage(content="base"))
    memory.modify_request(request)
    return request.system_message.content


def _block(text: str) -> str:
    """Return the memory part of a prompt, from its start to the heading of the guidelines.

    What the guidelines say is each library's own.
    """
    start, end = text.index("<agent_memory>"), text.index("<memory_guidelines>")
    return text[start : end + len("<memory_guidelines>")]


def _raised(kind: type[Exception], call: Any) -> list[str]:
    try:
        call()
    except kind as error:
        return [kind.__name__, str(error)]
    return ["nothing", ""]


def _old() -> Any:
    import deepagents
    from deepagents.backends import CompositeBackend, FilesystemBackend, StateBackend
    from deepagents.middleware import memory

    return SimpleNamespace(
        where=deepagents.__file__,
        memory=memory.MemoryMiddleware,
        state=memory.MemoryState,
        update=memory.MemoryStateUpdate,
        disk=lambda root: FilesystemBackend(root_dir=root, virtual_mode=True),
        composite=CompositeBackend,
        state_backend=lambda runtime: StateBackend(runtime),
        agent=deepagents.create_deep_agent,
    )


if __name__ == "__main__":
    library = _old()
    with tempfile.TemporaryDirectory() as folder:
        played = play(library, Path(folder))
    json.dump({"where": library.where, "played": played}, sys.stdout)

"""Our MemoryMiddleware in deepagents' agent, over backends of both libraries."""

from __future__ import annotations

import asyncio

import pytest
from deepagents import MemoryMiddleware as TheirMemory
from deepagents import create_deep_agent
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver

from doors import some_everyday
from interop.places import MIXED, OURS, THEIRS
from kit import ScriptedModel, aask, ask, call, say
from memoryware.backends.filesystem import FilesystemBackend
from memoryware.middleware.memory import MemoryMiddleware

SOURCE = "/memories/AGENTS.md"
BACKENDS = {**OURS, **THEIRS, **MIXED}
TURNS = [
    call("write_file", file_path=SOURCE, content="Prefers tea.\n"),
    say(),
    call("edit_file", file_path=SOURCE, old_string="tea", new_string="coffee"),
    say(),
    say(),
]
TEA, COFFEE = "Prefers tea.", "Prefers coffee."


EVERYDAY = [(name, "native", "instance") for name in BACKENDS] + [
    (name, "blocking", "factory") for name in OURS
]
"""Each backend once, and ours in the other ways as well; all ways are slow tests."""
ALL = [
    (name, door, given)
    for name in BACKENDS
    for door in ("blocking", "native")
    for given in ("instance", "factory")
]


@pytest.mark.parametrize(("name", "door", "given"), some_everyday(EVERYDAY, ALL))
async def test_memory_is_fresh_in_their_agent_on_any_backend(name, door, given, tmp_path):
    backend = BACKENDS[name](tmp_path)
    memory = backend if given == "instance" else lambda runtime: backend
    model = ScriptedModel(*TURNS)
    agent = create_deep_agent(
        model=model,
        backend=backend,
        middleware=[MemoryMiddleware(backend=memory, sources=[SOURCE])],
        checkpointer=InMemorySaver(),
    )

    async def run():
        if door == "native":
            return await aask(agent, thread="one")
        return await asyncio.to_thread(ask, agent, thread="one")

    results = [await run() for _ in range(3)]
    prompts = [model.system(at) for at in range(5)]
    assert "(No memory loaded)" in prompts[0]
    assert [TEA in one for one in prompts] == [False, True, True, False, False]
    assert [COFFEE in one for one in prompts] == [False, False, False, True, True]
    assert all(one.count("<agent_memory>\n") == 1 for one in prompts)
    assert all("memory_contents" not in result for result in results)


@pytest.mark.parametrize("door", ["blocking", "native"])
async def test_both_memories_work_beside_each_other(door, tmp_path):
    backend = FilesystemBackend(root_dir=tmp_path)
    backend.write("/ours.md", "from ours")
    backend.write("/theirs.md", "from theirs")
    model = ScriptedModel(say(), say())
    agent = create_deep_agent(
        model=model,
        backend=backend,
        memory=["/theirs.md"],
        middleware=[MemoryMiddleware(backend=backend, sources=["/ours.md"], name="OurMemory")],
        checkpointer=InMemorySaver(),
    )
    for _ in range(2):
        if door == "native":
            await aask(agent, thread="one")
        else:
            await asyncio.to_thread(ask, agent, thread="one")
        assert "from ours" in model.system()
        assert "from theirs" in model.system()
    backend.write("/ours.md", "newer text of ours")
    await aask(agent, thread="one")
    assert "newer text of ours" in model.system()


@pytest.mark.parametrize("order", ["ours first", "theirs first"])
def test_what_theirs_keeps_in_the_state_is_not_taken_for_ours(order, tmp_path):
    backend = FilesystemBackend(root_dir=tmp_path)
    backend.write("/shared.md", "from the file")
    ours = MemoryMiddleware(backend=backend, sources=["/shared.md"], name="OurMemory")
    theirs = TheirMemory(backend=backend, sources=["/shared.md"])
    model = ScriptedModel()
    pair = [ours, theirs] if order == "ours first" else [theirs, ours]
    agent = create_agent(model, middleware=pair, checkpointer=InMemorySaver())
    ask(agent, thread="one")
    backend.write("/shared.md", "changed meanwhile")
    ask(agent, thread="one")
    assert "changed meanwhile" in model.system()


def test_ours_under_their_name_replaces_theirs_in_place(tmp_path):
    backend = FilesystemBackend(root_dir=tmp_path)
    backend.write("/ours.md", "from ours")
    backend.write("/theirs.md", "from theirs")
    model = ScriptedModel()
    ours = MemoryMiddleware(backend=backend, sources=["/ours.md"])
    ask(create_deep_agent(model=model, backend=backend, memory=["/theirs.md"], middleware=[ours]))
    assert "from ours" in model.system()
    assert "from theirs" not in model.system()


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("door", ["blocking", "native"])
async def test_their_memory_loads_from_our_backends(name, door, tmp_path):
    backend = OURS[name](tmp_path)
    model = ScriptedModel(call("write_file", file_path=SOURCE, content=TEA), say(), say())
    agent = create_deep_agent(
        model=model, backend=backend, memory=[SOURCE], checkpointer=InMemorySaver()
    )
    for thread in ("one", "two"):
        if door == "native":
            await aask(agent, thread=thread)
        else:
            await asyncio.to_thread(ask, agent, thread=thread)
    lives_in_the_thread = name in ("state", "composite of two")
    assert (TEA in model.system()) != lives_in_the_thread


def test_our_memory_needs_no_file_tools_of_theirs(tmp_path):
    from deepagents.backends import FilesystemBackend as TheirDisk

    backend = TheirDisk(root_dir=tmp_path, virtual_mode=True)
    model = ScriptedModel(call("edit_memory", path=SOURCE, old_string="", new_string=TEA), say())
    ask(create_agent(model, middleware=[MemoryMiddleware(backend=backend, sources=[SOURCE])]))
    assert TEA in model.system()
    assert (tmp_path / "memories" / "AGENTS.md").read_text().strip() == TEA

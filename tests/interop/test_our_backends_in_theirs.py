"""Our backends under deepagents' own agent and file tools, blocking and async."""

from __future__ import annotations

import ast
import asyncio

import pytest
from deepagents import create_deep_agent

from doors import some_everyday
from interop.places import MIXED, OURS, THEIRS, play
from kit import ScriptedModel, aask, call

BACKENDS = {**OURS, **MIXED, **THEIRS}
"""Theirs alone are among them to show that the script asks for nothing special."""


async def in_thread(play_it):
    return await asyncio.to_thread(lambda: asyncio.run(play_it))


EVERYDAY = [(name, "native") for name in BACKENDS] + [(name, "blocking") for name in OURS]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "door"),
    some_everyday(EVERYDAY, [(name, door) for name in BACKENDS for door in ("blocking", "native")]),
)
async def test_their_file_tools_work_on_any_mix_of_backends(name, door, tmp_path):
    backend = BACKENDS[name](tmp_path)

    def agent_of(model):
        return create_deep_agent(model=model, backend=backend)

    run = play(agent_of, door)
    result, answers = await (in_thread(run) if door == "blocking" else run)

    told = [(one.name, one.status, one.text) for one in answers]
    assert [name for name, status, _ in told if status == "error"] == ["edit_file", "read_file"]
    texts = [text for _, _, text in told]
    assert texts[0] == "Updated file /memories/a.md"
    assert texts[1] == "Updated file /notes/b.md"
    assert texts[2] == "['/memories/', '/notes/']"
    listed = ast.literal_eval(texts[3])
    assert [one for one in listed if one != "/memories/memories/"] == ["/memories/a.md"]
    assert "alpha\nbeta" in texts[4]
    assert texts[5] == "Successfully replaced 1 instance(s) of the string in '/memories/a.md'"
    assert "not found" in texts[6]
    assert texts[7] == "['/memories/a.md', '/notes/b.md']"
    assert texts[8] == "['/memories/a.md']"
    assert texts[9].split() == ["/memories/a.md", "/notes/b.md"]
    assert "/memories/a.md" in texts[10]
    assert "1: gamma" in texts[10]
    assert texts[11] == "Deleted /notes/b.md"
    assert "not found" in texts[12]
    assert "gamma\nbeta" in texts[13]
    assert result["messages"][-1].text == "done"


@pytest.mark.parametrize("name", ["state", "composite"])
async def test_their_state_holds_plain_records_of_ours(name, tmp_path):
    model = ScriptedModel(
        call("write_file", file_path="/a.md", content="one"),
        call("edit_file", file_path="/a.md", old_string="one", new_string="two"),
    )
    agent = create_deep_agent(model=model, backend=OURS[name](tmp_path))
    record = (await aask(agent))["files"]["/a.md"]
    assert sorted(record) == ["content", "created_at", "encoding", "modified_at"]
    assert record["content"] == "two"

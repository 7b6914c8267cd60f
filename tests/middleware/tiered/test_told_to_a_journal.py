"""What a run was shown is in the journal of the memory, whatever the run came to."""

from __future__ import annotations

import pytest

from kit import ScriptedModel, call, say
from middleware.tiered.rig import ANSWER, DOORS, FACT, an_agent, known, texts, through


@pytest.mark.parametrize("door", DOORS)
async def test_a_run_leaves_a_line_with_what_its_model_was_shown(tmp_path, door):
    memory = known(FACT, journal=tmp_path / "journal.jsonl")
    agent = an_agent(memory, ScriptedModel(say(ANSWER)))
    await through(door, agent, "Where are the orders?", "t1", user_id="ann")
    (turn,) = memory.session("t1", "shop").turns
    assert [one.record.content for one in turn.shown] == [FACT]
    assert turn.entry.content == ANSWER
    assert turn.from_journal
    assert turn.tokens > 0


@pytest.mark.parametrize("door", DOORS)
async def test_what_its_tool_has_found_is_a_line_as_well(tmp_path, door):
    memory = known(FACT, journal=tmp_path / "journal.jsonl")
    model = ScriptedModel(call("recall", query="orders"), say(ANSWER))
    agent = an_agent(memory, model, retrieve=None, record=None)
    await through(door, agent, "Where are the orders?", "t1")
    assert texts(memory) == []
    (turn,) = memory.session("t1", "shop").turns
    assert [one.record.content for one in turn.shown] == [FACT]
    assert turn.entry is None


def test_where_nothing_was_shown_there_is_no_line(tmp_path):
    memory = known(FACT, journal=tmp_path / "journal.jsonl")
    model = ScriptedModel(say(ANSWER))
    agent = an_agent(memory, model, retrieve=None)
    agent.invoke({"messages": [{"role": "user", "content": "Hm?"}]}, context={"group_id": "shop"})
    assert not memory.parts.journal.path.exists()

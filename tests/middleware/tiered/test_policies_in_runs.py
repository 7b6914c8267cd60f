"""At the end of a run the policy of the memory promotes what it accepts by itself."""

from __future__ import annotations

from datetime import timedelta

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from kit import ScriptedModel, say
from memoryware import MemoryScope, PromotionPolicy
from memoryware.errors import SettingError
from middleware.tiered.rig import (
    DOORS,
    a_memory,
    an_agent,
    broken,
    entries,
    everything,
    texts,
    through,
    turn,
)

METRIC = "I prefer metric units in all reports."
THREAD = {"configurable": {"thread_id": "t"}}
TRUSTED = PromotionPolicy.trusted_users()


def listening(memory, *turns, **options):
    model = ScriptedModel(*turns or [say("Noted.")] * 4)
    return an_agent(memory, model, record_user=True, **options), model


@pytest.mark.parametrize("door", DOORS)
async def test_the_next_run_of_the_user_knows_it_and_nobody_elses_does(door):
    memory = a_memory(policy=TRUSTED)
    agent, model = listening(memory)
    await through(door, agent, METRIC, user_id="ann")
    assert texts(memory, "longterm") == [METRIC]
    await through(door, agent, "Which units in reports?", user_id="ann")
    assert METRIC in everything(model)
    await through(door, agent, "Which units in reports?", user_id="bob")
    assert METRIC not in everything(model)


def test_without_an_id_or_by_default_nothing_is_promoted():
    for policy, who in ((TRUSTED, {}), (None, {"user_id": "ann"})):
        memory = a_memory(policy=policy)
        turn(listening(memory)[0], METRIC, **who)
        assert texts(memory, "longterm") == []
        assert memory.count_waiting("shop") == 2  # and "Noted."


def test_what_waits_is_promoted_by_a_later_run():
    memory = a_memory(policy=PromotionPolicy.automatic(after=timedelta(0)))
    agent, _ = listening(memory, say("The kitchen closes at nine."), say("Fine."))
    turn(agent, "When does the kitchen close?", user_id="ann")
    assert texts(memory, "longterm") == ["The kitchen closes at nine."]
    assert "policy:automatic" in repr(memory.audit("shop"))


def test_an_edited_message_takes_its_promotion_back():
    memory, saver = a_memory(policy=TRUSTED), InMemorySaver()
    agent, _ = listening(memory, checkpointer=saver)
    turn(agent, METRIC, "t", user_id="ann")
    start = [*agent.get_state_history(THREAD)][-1].config
    edited = {"messages": [{"role": "user", "content": "I prefer imperial units in all reports."}]}
    agent.invoke(edited, start, context={"group_id": "shop", "user_id": "ann"})
    turn(agent, "Thanks!", "t", user_id="ann")

    ann = MemoryScope(group_id="shop", user_id="ann")
    recall = [item.content for item in memory.retrieve("Which units in reports?", ann)]
    assert recall == ["I prefer imperial units in all reports."]


def test_if_memory_fails_the_run_goes_on():
    memory = a_memory(policy=TRUSTED, stores=broken("long_term"))
    agent, _ = listening(memory, say("Noted."))
    assert turn(agent, METRIC, user_id="ann")["messages"][-1].text == "Noted."
    assert len(entries(memory)) == 2


# A run with a user and no group.


@pytest.mark.parametrize("door", DOORS)
async def test_a_user_alone_has_a_memory_of_their_own(door):
    memory = a_memory()
    agent, model = listening(memory, scope=MemoryScope.personal())
    await through(door, agent, METRIC, user_id="ann", group_id=None)
    assert texts(memory, "working", "user:ann") == [METRIC]
    await through(door, agent, "Which units in reports?", user_id="ann", group_id=None)
    assert METRIC in everything(model)
    for who in ({"user_id": "bob"}, {"user_id": "ann", "tenant": "x"}, {"user_id": None}):
        await through(door, agent, "Which units in reports?", **{"group_id": None, **who})
        assert METRIC not in everything(model)
    await through(door, agent, "Which units in reports?", user_id="ann", group_id="shop")
    assert METRIC not in everything(model)  # a run that names a group uses that


@pytest.mark.parametrize(
    "who",
    [
        {"group_id": "user:ann", "user_id": "bob"},
        {"group_id": "user:ann"},
        {"group_id": "user:", "user_id": "bob", "agent_id": "personal:ann"},
        {"group_id": "shop", "user_id": "bob", "agent_id": "personal:ann"},
    ],
)
def test_a_run_that_names_the_memory_of_somebody_else_is_refused(who):
    for scope in (None, MemoryScope.personal(), MemoryScope.personal("carl")):
        agent, _ = listening(a_memory(), scope=scope)
        with pytest.raises(SettingError, match=r"group_id|agent_id"):
            turn(agent, METRIC, **who)


def test_a_constant_person_is_one_line_as_well():
    memory = a_memory()
    agent, _ = listening(memory, scope=MemoryScope.personal("ann"))
    turn(agent, METRIC, group_id=None)
    assert texts(memory, "working", "user:ann") == [METRIC]
    with pytest.raises(SettingError, match="memory of one person"):
        turn(agent, METRIC, group_id=None, user_id="bob")

"""A policy that promotes by itself, in an agent whose conversations a memory manager reads."""

from __future__ import annotations

from datetime import timedelta

import pytest
from langchain.agents import create_agent

from memoryware import MemoryScope, PromotionPolicy, TieredMemory, TieredMemoryMiddleware
from memoryware.demo import DemoModel

ANN = {"configurable": {"thread_id": "1", "group_id": "shop", "user_id": "ann"}}


@pytest.fixture
def memory(clock):
    policy = PromotionPolicy.trusted_users()
    with TieredMemory.open("memory://", policy=policy, clock=clock) as memory:
        yield memory


def current(memory):
    lines = memory.list("shop", tier="long_term").items
    return sorted(line.content for line in lines if line.status == "current")


def test_facts_are_promoted_and_not_the_messages_that_state_them(memory):
    tiered = TieredMemoryMiddleware(memory, extract=True)
    agent = create_agent(DemoModel(), middleware=[tiered])
    with tiered.manager:
        agent.invoke({"messages": "I am allergic to nuts, and I prefer metric units."}, ANN)
        assert current(memory) == []  # nobody has read it yet
        tiered.manager.flush(everything=True)
        assert current(memory) == ["I am allergic to nuts.", "I prefer metric units."]


def test_a_newer_fact_of_a_user_ends_the_older_one(memory, clock):
    tiered = TieredMemoryMiddleware(memory, extract=True)
    agent = create_agent(DemoModel(), middleware=[tiered])
    with tiered.manager:
        for text in ("I live in Ghent.", "I moved to Antwerp."):
            clock.now += timedelta(hours=1)
            agent.invoke({"messages": text}, ANN)
            tiered.manager.flush(everything=True)
        assert current(memory) == ["I moved to Antwerp."]
    (older,) = [
        line for line in memory.list("shop", tier="long_term").items if line.status != "current"
    ]
    assert older.status == "superseded"
    assert memory.retrieve("Where does ann live?", MemoryScope(group_id="shop", user_id="bo")) == []


def test_the_answer_to_a_question_in_the_first_person_is_for_the_group(clock):
    with TieredMemory.open("memory://", clock=clock) as memory:
        memory.promote("The deploy script is deploy.sh.", "shop", by="person:rita")
        agent = create_agent(DemoModel(), middleware=[TieredMemoryMiddleware(memory)])
        agent.invoke({"messages": "How do I run the deploy script?"}, ANN)
        agent.invoke({"messages": "My office is in Rome."}, ANN)
        working = memory.list("shop", tier="working").items
        assert [
            line.record.metadata.get("visible_to") for line in working if line.record.role == "user"
        ] == ["ann"]
        answers = [
            entry
            for entry in memory.list("shop", tier="quarantine").items
            if entry.record.role == "agent"
        ]
        assert [line.record.metadata.get("visible_to") for line in answers] == ["ann", None]

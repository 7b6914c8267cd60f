"""The table of roles holds for the middleware, row by row."""

from __future__ import annotations

from typing import get_args

import pytest
from langgraph.graph import MessagesState, StateGraph

from kit import ScriptedModel, call, say, tool_messages
from memoryware.errors import SettingError
from memoryware.tiers import ROLES
from memoryware.tiers.model import Role
from middleware.tiered.rig import (
    ANSWER,
    DOORS,
    FACT,
    OTHER,
    an_agent,
    everything,
    known,
    texts,
    through,
    turn,
)

QUESTION = "Where are the orders and where is the parcel weighed?"
TABLE = {
    # role: (recorded in, may recall, is shown it unasked)
    "agent": (("quarantine", "working"), (OTHER, FACT), True),
    "user": (("quarantine", "working"), (), False),
    "fact_check": (("quarantine",), (FACT,), True),
    "memory_retrieval": ((), (OTHER, FACT), False),
    "tool": (("quarantine",), (), False),
    "other": (("quarantine",), (), False),
}
AGENTS = [role for role in TABLE if role != "user"]  # what a model says is never the user's word


def both_tiers():
    """A memory with FACT in long-term and OTHER in working memory."""
    memory = known(FACT)
    memory.record(OTHER, "shop")
    return memory


def by_option(memory, model, role):
    return an_agent(memory, model, role=role)


def by_metadata(memory, model, role):
    graph = StateGraph(MessagesState, context_schema=dict)
    graph.add_node("node", an_agent(memory, model), metadata={"memory_role": role})
    graph.set_entry_point("node")
    return graph.compile()


def test_the_table_has_every_role_and_says_what_the_rules_say():
    assert set(TABLE) == set(ROLES) == set(get_args(Role))
    tier = {"working": OTHER, "long_term": FACT}
    for role, rules in ROLES.items():
        shown = tuple(tier[one] for one in rules.recall)
        assert TABLE[role] == (rules.record, shown, rules.inject)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("retrieve", ["run", "call", None])
@pytest.mark.parametrize("role", AGENTS)
async def test_a_role_is_shown_unasked_what_its_row_says(role, retrieve, door):
    _, may_recall, unasked = TABLE[role]
    model = ScriptedModel(say(ANSWER))
    await through(door, an_agent(both_tiers(), model, role=role, retrieve=retrieve), QUESTION)

    for text in (FACT, OTHER):
        expected = unasked and retrieve is not None and text in may_recall
        assert (text in everything(model)) is expected


@pytest.mark.parametrize("made", [by_option, by_metadata])
@pytest.mark.parametrize("role", AGENTS)
def test_a_role_may_ask_for_what_its_row_says(role, made):
    _, may_recall, unasked = TABLE[role]
    model = ScriptedModel(call("recall", query=QUESTION), say(ANSWER))
    result = turn(made(both_tiers(), model, role), QUESTION)
    (answer,) = tool_messages(result)
    shown = next(one.text for one in model.requests[-1] if one.type == "tool")

    assert model.offered == ([["recall"]] * 2 if may_recall else [[], []])
    assert answer.status == ("success" if may_recall else "error")
    for text in (FACT, OTHER):
        assert (text in shown) is (text in may_recall)
        assert (text in everything(model, 0)) is (unasked and text in may_recall)


@pytest.mark.parametrize("made", [by_option, by_metadata])
@pytest.mark.parametrize("role", AGENTS)
def test_a_role_is_recorded_where_its_row_says(role, made):
    recorded, _, _ = TABLE[role]
    memory = known(FACT)
    turn(made(memory, ScriptedModel(say(ANSWER)), role), "hello")

    for layer in ("quarantine", "working"):
        assert texts(memory, layer) == ([ANSWER] if layer in recorded else [])
    assert texts(memory, "longterm") == [FACT]


def test_a_role_that_recalls_nothing_may_still_put_a_note_forward():
    memory = known(FACT)
    note = "The customer prefers to be called before nine in the morning, on the land line."
    model = ScriptedModel(call("remember", text=note), say(ANSWER))
    turn(an_agent(memory, model, role="other", remember_tool=True), "hello")

    assert model.offered[0] == ["remember"]
    assert texts(memory) == [note, ANSWER]
    assert texts(memory, "working") == []


def test_no_agent_speaks_as_the_user():
    memory = known(FACT)
    with pytest.raises(SettingError, match="role='user'"):
        an_agent(memory, ScriptedModel(), role="user")
    turn(by_metadata(memory, ScriptedModel(say(ANSWER)), "user"), "hello", user_id="ann")

    (entry,) = memory.list("shop", tier="quarantine").items
    assert entry.record.role == entry.record.provenance.origin.kind == "agent"

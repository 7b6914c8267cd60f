"""Who asks: from the context of a run, its server, its config; never from what a model says."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from uuid import UUID

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool
from langgraph.graph import START, StateGraph

from kit import ScriptedModel, ask, call, say
from memoryware import MemoryScope, SettingError


@dataclass
class Caller:
    user_id: str = "ann"
    group_id: str = "g1"


def test_outside_of_a_graph_nobody_asks():
    assert not MemoryScope.current()
    assert MemoryScope.current() == MemoryScope()


@pytest.mark.parametrize("context", [Caller(), {"user_id": "ann", "group_id": "g1"}])
def test_a_tool_of_an_agent_sees_who_asks(context):
    seen = []

    @tool
    def look() -> str:
        """Look."""
        seen.append(MemoryScope.current())
        return "ok"

    agent = create_agent(
        ScriptedModel(call("look"), say()), tools=[look], name="helper", context_schema=Caller
    )
    config = {"configurable": {"thread_id": "7"}}
    agent.invoke({"messages": [("user", "hi")]}, config, context=context)
    (scope,) = seen
    assert scope.user_id == "ann"
    assert scope.group_id == "g1"
    assert scope.agent_id == "helper"
    assert scope.session_id == "7"
    assert scope.caller == (None, "g1", "ann")


def test_what_a_model_says_changes_nothing():
    seen = []

    @tool
    def look(user_id: str) -> str:
        """Look."""
        seen.append(MemoryScope.current())
        return "ok"

    model = ScriptedModel(call("look", user_id="bob"), say())
    ask(create_agent(model, tools=[look]), "I am bob, user_id=bob", thread="1")
    assert seen[0].user_id is None


def test_a_node_inside_a_graph_of_agents_has_the_outer_name():
    seen = []

    def inner(state: dict) -> dict:
        seen.append(MemoryScope.current().node_id)
        return {}

    sub = StateGraph(dict).add_node("deep", inner).add_edge(START, "deep").compile()
    outer = StateGraph(dict).add_node("critic", sub).add_edge(START, "critic").compile()
    outer.invoke({})
    assert seen == ["critic"]


def test_the_first_place_that_knows_a_part_wins():
    user = SimpleNamespace(identity="server-user")
    runtime = SimpleNamespace(context=None, server_info=SimpleNamespace(user=user))
    assert MemoryScope.of(runtime, {"configurable": {"project_id": 7}}) == MemoryScope(
        group_id="7", user_id="server-user"
    )
    runtime.context = {"user_id": "ann"}
    assert MemoryScope.of(runtime, {"configurable": {"user_id": "bob"}}).user_id == "ann"
    assert MemoryScope.of(runtime, {"configurable": {"user_id": ""}}).user_id == "ann"
    assert MemoryScope.of(None, {"configurable": {"user_id": ""}}).user_id is None


@pytest.mark.parametrize("odd", [True, False, b"g", 1.5, ["g"], "", "  ", None])
def test_what_names_nobody_in_a_context_is_passed_over(odd):
    assert MemoryScope.of(
        None, {"configurable": {"group_id": odd, "project_id": "p"}}
    ).group_id == ("p")


def test_a_number_or_a_uuid_in_a_context_names_somebody():
    one = UUID(int=1)
    found = MemoryScope.of(None, {"configurable": {"group_id": 7, "user_id": one}})
    assert (found.group_id, found.user_id) == ("7", str(one))


def test_a_name_in_a_context_that_no_store_can_keep_is_told_by_what_it_is():
    with pytest.raises(SettingError, match="group_id: has a NUL"):
        MemoryScope.of(None, {"configurable": {"group_id": "a\0b"}})

"""Who asks: from the context of a run, its server, its config; never from what a model says."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from types import SimpleNamespace
from uuid import UUID

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool
from langgraph.graph import START, StateGraph

from kit import ScriptedModel, ask, call, say
from memoryware import MemoryScope, TieredMemory
from memoryware.errors import SettingError
from memoryware.scope import agents_shown_to, is_personal_agent, own_agent, personal_agent


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


def test_parts_are_passed_by_name_so_that_a_tenant_is_not_mistaken_for_a_group():
    with pytest.raises(TypeError, match="positional"):
        MemoryScope("shop")  # the tenant, in 0.1, whereas record(text, "shop") means the group
    with TieredMemory.open("memory://") as memory:
        memory.record("The orders of the shop are in PostgreSQL 17.", "shop")
        assert memory.list(MemoryScope(group_id="shop")).total == 2
        assert memory.list(MemoryScope(tenant="shop")).total == 0


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
    runtime = SimpleNamespace(context={"user_id": "ann"}, server_info=None)
    assert MemoryScope.of(runtime, {"configurable": {"user_id": "bob"}}).user_id == "ann"
    assert MemoryScope.of(runtime, {"configurable": {"user_id": ""}}).user_id == "ann"
    assert MemoryScope.of(None, {"configurable": {"user_id": ""}}).user_id is None


class Signed(dict):
    """A user of a server that offers keys only, as LangGraph's own user type allows."""


def _server(**user):
    return SimpleNamespace(user=SimpleNamespace(**user), assistant_id="a", graph_id="g")


@pytest.mark.parametrize("carrier", ["context", "configurable", "both"])
def test_the_authenticated_user_wins_over_what_the_client_wrote(carrier):
    bob = {"user_id": "bob", "group_id": "shop"}
    context = bob if carrier != "configurable" else None
    config = {"configurable": bob if carrier != "context" else {}}
    for user in (SimpleNamespace(identity="ann"), Signed(identity="ann")):
        runtime = SimpleNamespace(context=context, server_info=SimpleNamespace(user=user))
        scope = MemoryScope.of(runtime, config)
        assert (scope.user_id, scope.group_id) == ("ann", "shop")


def test_tenant_and_group_of_the_authenticated_user_win_under_any_of_their_keys():
    server = _server(identity="ann", tenant_id="acme", project_id="shop")
    client = {"tenant": "evil", "tenant_id": "evil", "group_id": "theirs"}
    runtime = SimpleNamespace(context=client, server_info=server)
    scope = MemoryScope.of(runtime, {"configurable": client})
    assert scope == MemoryScope(tenant="acme", group_id="shop", user_id="ann")


def test_a_user_who_is_not_signed_in_says_nothing():
    server = _server(identity="guest", is_authenticated=False)
    runtime = SimpleNamespace(context=None, server_info=server)
    assert MemoryScope.of(runtime, {"configurable": {"user_id": "ann"}}).user_id == "ann"


CLIENT = {"user_id": "bob", "group_id": "theirs", "tenant": "evil"}


@pytest.mark.parametrize("kind", [dict, Signed, lambda **user: SimpleNamespace(**user)])
@pytest.mark.parametrize("runtime", [None, SimpleNamespace(context=CLIENT, server_info=None)])
def test_the_user_in_the_config_of_a_server_wins_where_the_runtime_has_none(kind, runtime):
    user = kind(identity="ann", group_id="shop", tenant_id="acme")
    config = {"configurable": {**CLIENT, "langgraph_auth_user": user}}
    scope = MemoryScope.of(runtime, config)
    assert scope == MemoryScope(tenant="acme", group_id="shop", user_id="ann")


@pytest.mark.parametrize("identity", ["", " ", None])
def test_a_signed_in_user_without_an_identity_does_not_become_the_one_that_the_client_names(
    identity,
):
    runtime = SimpleNamespace(context=CLIENT, server_info=_server(identity=identity))
    assert MemoryScope.of(runtime, {"configurable": CLIENT}).user_id is None


@pytest.mark.parametrize("nobody", [None, {"identity": "x", "is_authenticated": False}])
def test_a_server_without_sign_in_leaves_the_user_to_the_client(nobody):
    config = {"configurable": {**CLIENT, "langgraph_auth_user": nobody}}
    assert MemoryScope.of(None, config).user_id == "bob"


def test_the_user_of_a_real_run_who_is_a_dict_wins_as_well():
    seen = []

    @tool
    def look() -> str:
        """Look."""
        seen.append(MemoryScope.current())
        return "ok"

    agent = create_agent(ScriptedModel(call("look"), say()), tools=[look], context_schema=Caller)
    signed_in = {"identity": "ann", "group_id": "shop"}
    config = {"configurable": {"langgraph_auth_user": signed_in, "user_id": "eve"}}
    agent.invoke({"messages": [("user", "hi")]}, config, context=Caller(user_id="bob"))
    assert (seen[0].user_id, seen[0].group_id) == ("ann", "shop")


def test_the_user_of_a_real_run_is_the_one_whom_the_server_has_authenticated():
    seen = []

    @tool
    def look() -> str:
        """Look."""
        seen.append(MemoryScope.current())
        return "ok"

    agent = create_agent(ScriptedModel(call("look"), say()), tools=[look], context_schema=Caller)
    signed_in = SimpleNamespace(identity="ann")
    config = {"configurable": {"langgraph_auth_user": signed_in, "user_id": "eve"}}
    agent.invoke({"messages": [("user", "hi")]}, config, context=Caller(user_id="bob"))
    assert (seen[0].user_id, seen[0].group_id) == ("ann", "g1")


@pytest.mark.parametrize("blank", ["", "  ", None])
def test_a_blank_id_is_no_id_and_the_next_key_counts(blank):
    config = {"configurable": {"group_id": blank, "project_id": "p"}}
    assert MemoryScope.of(None, config).group_id == "p"


class Team(enum.Enum):
    SHOP = "shop"
    NUMBER = 1


class Named(str, enum.Enum):  # noqa: UP042 - str() of its members is "Named.SHOP"
    SHOP = "shop"


class Numbered(enum.IntEnum):
    SEVEN = 7


@pytest.mark.parametrize("key", ["tenant", "group_id", "user_id", "agent_id", "session_id"])
@pytest.mark.parametrize("odd", [True, False, b"g", 1.5, ["g"], {"id": "g"}, Team.NUMBER, object()])
def test_an_id_that_cannot_be_read_is_refused_wherever_it_stands(key, odd):
    with pytest.raises(SettingError, match=f"{key}: .* has a {type(odd).__name__}"):
        MemoryScope.of(None, {"configurable": {key: odd, "project_id": "p"}})
    with pytest.raises(SettingError, match=key):
        MemoryScope.of(SimpleNamespace(context={key: odd}))
    with pytest.raises(SettingError, match=key):
        MemoryScope(**{key: odd})


@pytest.mark.parametrize(
    ("member", "text"),
    [(Team.SHOP, "shop"), (Named.SHOP, "shop"), (Numbered.SEVEN, "7")],
)
def test_an_enum_with_the_value_of_an_id_means_its_value(member, text):
    assert MemoryScope.of(None, {"configurable": {"group_id": member}}).group_id == text
    made = MemoryScope(group_id=member)
    assert made == MemoryScope(group_id=text)
    assert made.digest == MemoryScope(group_id=text).digest
    assert type(made.group_id) is str


def test_a_thread_id_may_be_any_number_as_checkpointers_take_it():
    assert MemoryScope.of(None, {"configurable": {"thread_id": 1.5}}).session_id == "1.5"


def test_a_number_or_a_uuid_in_a_context_names_somebody():
    one = UUID(int=1)
    found = MemoryScope.of(None, {"configurable": {"group_id": 7, "user_id": one}})
    assert (found.group_id, found.user_id) == ("7", str(one))


def test_a_name_in_a_context_that_no_store_can_keep_is_told_by_what_it_is():
    with pytest.raises(SettingError, match="group_id: has a NUL"):
        MemoryScope.of(None, {"configurable": {"group_id": "a\0b"}})


def test_a_memory_of_one_user_has_an_agent_id_that_no_agent_has():
    ann = personal_agent("ann")
    assert (is_personal_agent(ann), is_personal_agent("clerk"), is_personal_agent(None)) == (
        True,
        False,
        False,
    )
    assert own_agent(MemoryScope(group_id="shop", user_id="ann")) == ann
    assert own_agent(MemoryScope(group_id="shop")) is None
    assert own_agent(MemoryScope.personal("ann")) is None


@pytest.mark.parametrize(
    ("user", "agent", "shown"),
    [
        (None, None, (None,)),
        ("", "", (None,)),
        ("ann", None, (None, personal_agent("ann"))),
        ("ann", "clerk", (None, personal_agent("ann"), "clerk")),
        (None, "clerk", (None, "clerk")),
    ],
)
def test_a_user_and_an_agent_are_shown_what_is_the_groups_and_their_own(user, agent, shown):
    assert agents_shown_to(user, agent) == shown

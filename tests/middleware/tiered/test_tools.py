"""`recall` and `remember`: what a model may ask and say, and for whom."""

from __future__ import annotations

import json

import pytest
from langchain_core.messages import AIMessage

from kit import ScriptedModel, call, say, tool_messages
from memoryware import MemoryScope
from middleware.tiered.rig import (
    ANSWER,
    DOORS,
    FACT,
    OTHER,
    a_memory,
    an_agent,
    broken,
    entries,
    known,
    roots,
    texts,
    through,
    turn,
)

NOTE = "The customer prefers to be called before nine in the morning, on the land line only."


@pytest.mark.parametrize("door", DOORS)
async def test_recall_answers_with_a_fenced_block_in_both_doors(door):
    model = ScriptedModel(call("recall", query="orders PostgreSQL"), say())
    agent = an_agent(known(FACT), model, retrieve=None)
    result = await through(door, agent, "hello")
    (answer,) = tool_messages(result)

    shown = model.requests[-1][-1]
    assert (answer.status, shown.type, shown.tool_call_id) == (
        "success",
        "tool",
        answer.tool_call_id,
    )
    assert shown.text.startswith("<recalled_memory>\n")
    assert shown.text.endswith("\n</recalled_memory>")
    assert FACT in shown.text


def test_recall_that_finds_nothing_says_so():
    model = ScriptedModel(call("recall", query="zebra"), say())
    (answer,) = tool_messages(turn(an_agent(known(FACT), model), "hello"))

    assert answer.status == "success"
    assert "nothing that fits" in answer.text


ATTACKS = [
    {"query": "orders PostgreSQL", "group_id": "shop"},
    {"query": "orders PostgreSQL", "scope": {"group_id": "shop"}},
    {"query": "orders PostgreSQL", "tenant": "t", "group_uuid": "shop", "project_id": "shop"},
    {"query": "orders PostgreSQL", "runtime": {"context": {"group_id": "shop"}}},
    {"query": "orders PostgreSQL", "config": {"configurable": {"group_id": "shop"}}},
    {"query": "orders PostgreSQL", "state": {}, "via": "x", "self": "y", "text": "z"},
]


@pytest.mark.parametrize("arguments", ATTACKS)
@pytest.mark.parametrize("door", DOORS)
async def test_a_model_that_names_another_group_gets_nothing(door, arguments):
    model = ScriptedModel(call("recall", **arguments), say())
    agent = an_agent(known(FACT), model)
    result = await through(door, agent, "show me the shop", group_id="bakery")
    (answer,) = tool_messages(result)

    assert answer.status == "error"
    assert "takes only query" in answer.text
    assert "PostgreSQL" not in answer.text
    assert all(FACT not in one.text for request in model.requests for one in request)


@pytest.mark.parametrize(
    "query",
    [
        "group_id=shop orders PostgreSQL",
        '{"group_id": "shop"}',
        "../shop",
        "shop",
        "' OR 1=1 --",
        "*",
        "\x00orders",
        "orders" * 10_000,
        "",
        "   ",
    ],
)
def test_no_query_reaches_another_group(query):
    model = ScriptedModel(call("recall", query=query), say())
    (answer,) = tool_messages(turn(an_agent(known(FACT), model), "x", group_id="bakery"))

    assert "nothing that fits" in answer.text


@pytest.mark.parametrize("query", [None, 7, ["orders"], {"a": 1}])
def test_a_query_that_is_no_text_is_an_answer_to_the_model_and_no_dead_run(query):
    model = ScriptedModel(call("recall", query=query), call("recall"), say(ANSWER))
    answers = tool_messages(turn(an_agent(known(FACT), model), "hello"))

    assert [one.status for one in answers] == ["error", "error"]


def test_the_runtime_is_no_argument_that_a_model_sees():
    memory = a_memory()
    agent = an_agent(memory, ScriptedModel(), remember_tool=True)
    tools = agent.get_graph().nodes["tools"].data.tools_by_name

    assert {
        name: set(one.tool_call_schema.model_json_schema()["properties"])
        for name, one in tools.items()
    } == {
        "recall": {"query"},
        "remember": {"text"},
    }


def test_both_tools_are_hidden_and_refused_where_there_is_no_group():
    memory = known(FACT)
    model = ScriptedModel(call("recall", query="orders"), call("remember", text=NOTE), say(ANSWER))
    agent = an_agent(memory, model, remember_tool=True)
    answers = tool_messages(turn(agent, "hello", group_id=None))

    assert model.offered == [[], [], []]
    assert [one.status for one in answers] == ["error", "error"]
    assert all("not available here" in one.text for one in answers)
    assert texts(memory, group=None) == [ANSWER]
    assert texts(memory, "working", group=None) == []


def test_without_options_there_is_recall_alone():
    for options, names in (
        ({}, ["recall"]),
        ({"recall_tool": False}, []),
        ({"recall_tool": False, "remember_tool": True}, ["remember"]),
        ({"remember_tool": True, "name": "the team's"}, None),
    ):
        model = ScriptedModel()
        turn(an_agent(a_memory(), model, **options), "hello")
        if names is None:
            assert [one.split("_")[0] for one in model.offered[0]] == ["recall", "remember"]
        else:
            assert model.offered == ([names] if names else [[]])


@pytest.mark.parametrize("door", DOORS)
async def test_remember_keeps_for_review_and_says_no_more_than_that(door):
    memory = known(FACT)
    model = ScriptedModel(call("remember", text=NOTE), say("I have put that forward."))
    agent = an_agent(memory, model, remember_tool=True, name="clerk")
    result = await through(door, agent, "Where are the orders kept?", user_id="ann")
    (answer,) = tool_messages(result)

    assert answer.status == "success"
    assert answer.text.startswith("Kept for review.")
    assert texts(memory, "longterm") == [FACT]
    note = entries(memory)[0]
    assert (note.content, note.status, note.metadata["remember"]) == (NOTE, "pending", True)
    assert roots(note) == ["agent:clerk", "person:ann", "user:ann"]
    assert len(note.provenance.sources) == 1


def test_a_note_that_repeats_what_was_recalled_is_an_echo():
    memory = known(FACT)
    model = ScriptedModel(call("remember", text=FACT), say(ANSWER))
    turn(an_agent(memory, model, remember_tool=True), "Where are the orders of the shop kept?")

    assert entries(memory)[0].refused == "echo"
    assert FACT not in texts(memory, "working")


def test_an_answer_that_repeats_the_note_is_an_echo_as_well():
    memory = a_memory()
    model = ScriptedModel(call("remember", text=NOTE), say(f"I have noted: {NOTE}"))
    turn(an_agent(memory, model, remember_tool=True), "hello")

    assert [one.refused for one in entries(memory)] == [None, "echo"]
    assert texts(memory, "working") == [NOTE]


def test_remember_in_another_group_is_refused():
    memory = a_memory()
    model = ScriptedModel(call("remember", text=NOTE, group_id="bakery"), say())
    (answer,) = tool_messages(turn(an_agent(memory, model, remember_tool=True), "hello"))

    assert answer.status == "error"
    assert texts(memory, group="bakery") == []
    assert NOTE not in texts(memory)


def test_secrets_of_a_note_are_not_kept():
    memory = a_memory()
    secret = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    model = ScriptedModel(call("remember", text=f"The token is {secret}, keep it."), say())
    turn(an_agent(memory, model, remember_tool=True), "hello")

    assert all(secret not in one for one in texts(memory))


def test_what_recall_showed_is_known_for_the_echo_check():
    memory = known(FACT)
    model = ScriptedModel(call("recall", query="orders PostgreSQL"), say(f"I found this. {FACT}"))
    turn(an_agent(memory, model, retrieve=None), "zebra")

    (entry,) = entries(memory)
    assert entry.refused == "echo"
    assert texts(memory, "working") == []


def test_the_artifact_holds_ids_and_no_text():
    memory = known(FACT)
    model = ScriptedModel(call("recall", query="orders PostgreSQL"), say())
    (answer,) = tool_messages(turn(an_agent(memory, model, retrieve=None), "zebra"))
    artifact = answer.artifact

    (found,) = memory.retrieve("orders PostgreSQL", "shop", tiers=("long_term",))
    assert artifact == {"memoryware_recalled": [found.id]}
    assert json.dumps(artifact)


def test_several_calls_at_once_are_all_answered():
    memory = known(FACT, OTHER)
    both = AIMessage(
        "",
        tool_calls=[
            {"name": "recall", "args": {"query": "orders"}, "id": "1"},
            {"name": "recall", "args": {"query": "parcel"}, "id": "2"},
            {"name": "remember", "args": {"text": NOTE}, "id": "3"},
        ],
    )
    model = ScriptedModel(both, say(ANSWER))
    agent = an_agent(memory, model, retrieve=None, remember_tool=True)
    answers = tool_messages(turn(agent, "zebra", user_id="bo"))

    assert [one.status for one in answers] == ["success"] * 3
    promoted = {one.id for one in memory.list("shop", tier="longterm").items}
    assert len(promoted) == 2
    assert promoted <= set(entries(memory)[-1].provenance.sources)


@pytest.mark.parametrize("door", DOORS)
async def test_tools_of_a_broken_memory_tell_the_model(door):
    memory = a_memory(stores=broken("quarantine", "working", "long_term"))
    model = ScriptedModel(call("recall", query="orders"), call("remember", text=NOTE), say(ANSWER))
    result = await through(door, an_agent(memory, model, remember_tool=True), "hello")
    answers = tool_messages(result)

    assert [one.status for one in answers] == ["error", "error"]
    assert "could not be asked" in answers[0].text
    assert "could not be kept" in answers[1].text


def test_the_scope_of_a_tool_is_that_of_the_run_also_with_a_constant():
    memory = known(FACT)
    memory.promote(OTHER, MemoryScope(tenant="t", group_id="shop"), by="ann")
    for scope, shown in ((None, FACT), (MemoryScope(tenant="t"), OTHER)):
        model = ScriptedModel(call("recall", query="orders parcel"), say())
        turn(an_agent(memory, model, scope=scope), "hello")
        answer = model.requests[-1][-1]
        assert shown in answer.text
        assert ({FACT, OTHER} - {shown}).pop() not in answer.text

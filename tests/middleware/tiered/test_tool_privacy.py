"""What the tool `recall` has found is for the model call alone, like all that is recalled."""

from __future__ import annotations

import pytest
from langchain.agents.middleware import (
    AgentMiddleware,
    ModelFallbackMiddleware,
)
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver

from kit import ScriptedModel, call, calls, say, tool_messages
from memoryware import TieredMemoryMiddleware
from memoryware.middleware import redact_memory
from middleware.tiered.rig import (
    ANSWER,
    DOORS,
    FACT,
    GO_ON,
    MODES,
    NEWER,
    OTHER,
    PART,
    SECRET,
    a_memory,
    all_text,
    an_agent,
    approved,
    aturn,
    away,
    deploy,
    entries,
    everything,
    known,
    roots,
    secret_free,
    through,
    told,
    turn,
)


def looking(memory, saver, *turns, **options):
    """An agent that looks something up, then waits for a person."""
    return approved(memory, saver, *turns, **{"retrieve": None, **options})


def counting(memory):
    """Count how often memory is asked."""
    asked, retrieve, aretrieve = [], memory.retrieve, memory.aretrieve
    memory.retrieve = lambda *a, **k: asked.append(a) or retrieve(*a, **k)
    memory.aretrieve = lambda *a, **k: asked.append(a) or aretrieve(*a, **k)
    return asked


@pytest.mark.parametrize("resumed_by", ["the same instance", "a new instance"])
@pytest.mark.parametrize("mode", MODES)
def test_no_stream_mode_carries_what_the_tool_has_found(mode, resumed_by):
    memory, saver = known(SECRET), InMemorySaver()
    script = [call("recall", query="salary band"), call("deploy", target="x")]
    agent, first = looking(memory, saver, *script)
    given, config, more = told("hello", "t")
    chunks = list(agent.stream(given, config, stream_mode=mode, subgraphs=True, **more))
    assert SECRET in everything(first)
    model = first
    if resumed_by == "a new instance":
        agent, model = looking(memory, saver, say(ANSWER))
    else:
        first.script.append(say(ANSWER))
    chunks += list(agent.stream(GO_ON, config, stream_mode=mode, subgraphs=True, **more))

    assert chunks
    assert secret_free(chunks)
    assert SECRET in everything(model), "also after the interrupt"
    assert secret_free(agent.get_state(config))
    assert secret_free(list(agent.get_state_history(config)))


@pytest.mark.filterwarnings("ignore:astream_events version='v1'")
@pytest.mark.parametrize("version", ["v1", "v2"])
async def test_events_of_tools_hooks_and_nodes_carry_nothing_of_it(version):
    agent, model = looking(known(SECRET), InMemorySaver(), call("recall", query="salary band"))
    given, config, more = told("hello", "t")
    events = [e async for e in agent.astream_events(given, config, version=version, **more)]
    others = [e for e in events if not e["event"].startswith("on_chat_model")]

    assert SECRET in everything(model)
    assert any(e["event"] == "on_tool_end" for e in others)
    assert secret_free(others)


@pytest.mark.parametrize("door", DOORS)
async def test_the_result_says_how_much_was_found_and_nothing_of_it(door):
    model = ScriptedModel(call("recall", query="salary band"))
    result = await through(door, an_agent(known(SECRET), model, retrieve=None), "hello")

    assert SECRET in everything(model)
    assert secret_free(result)
    assert tool_messages(result)[0].text.startswith("Memory found one text")


def test_no_byte_of_it_is_in_a_checkpoint(tmp_path):
    with SqliteSaver.from_conn_string(str(tmp_path / "checkpoints.db")) as saver:
        turns = call("recall", query="salary band"), call("deploy", target="x")
        agent, model = looking(known(SECRET), saver, *turns)
        given, config, more = told("hello", "t")
        agent.invoke(given, config, **more)
        agent.invoke(GO_ON, config, **more)
    stored = b"".join(one.read_bytes() for one in tmp_path.iterdir())

    assert [SECRET in everything(model, n) for n in range(3)] == [False, True, True]
    assert b"deployed x" in stored
    assert PART.encode() not in stored


def test_it_is_looked_up_once_and_shown_alike_in_every_call_of_the_run():
    memory = known(SECRET)
    asked = counting(memory)
    turns = call("recall", query="salary band"), call("deploy", target="x"), say(ANSWER)
    model = ScriptedModel(*turns)
    turn(an_agent(memory, model, tools=[deploy], retrieve=None), "hello")
    shown = [[one.text for one in request if one.type == "tool"] for request in model.requests]

    assert len(asked) == 1
    assert SECRET in shown[1][0]
    assert shown[2][0] == shown[1][0]


def test_after_an_interrupt_it_is_what_holds_now_and_part_of_the_lineage():
    memory, saver = known(SECRET), InMemorySaver()
    turns = call("recall", query="salary band"), call("deploy", target="x")
    agent, _ = looking(memory, saver, *turns)
    given, config, more = told("hello", "t")
    agent.invoke(given, config, **more)
    old = memory.retrieve("salary band", "shop")[0]
    memory.supersede(old, NEWER, "shop", by="eve")
    agent, model = looking(memory, saver, call("deploy", target="y"), say(ANSWER))
    asked = counting(memory)
    agent.invoke(GO_ON, config, **more)
    agent.invoke(GO_ON, config, **more)

    assert NEWER in everything(model)
    assert SECRET not in everything(model)
    assert len(asked) == 2, "once for each resume"
    (entry,) = entries(memory)
    new = memory.list("shop", tier="longterm").items[0].record
    assert {old.id, new.id} <= set(entry.provenance.sources)
    assert {"person:ann", "person:eve"} <= set(roots(entry))


def test_who_resumes_in_another_group_is_shown_what_that_group_knows():
    memory, saver = known(SECRET), InMemorySaver()
    agent, _ = looking(
        memory, saver, call("recall", query="salary band"), call("deploy", target="x")
    )
    given, config, more = told("hello", "t")
    agent.invoke(given, config, **more)
    agent, model = looking(memory, saver, say(ANSWER))
    agent.invoke(GO_ON, config, context={"group_id": "bakery"})

    assert PART not in all_text(model.requests[0])
    assert "nothing that fits" in everything(model)


def test_without_the_store_a_resumed_run_says_that_it_could_not_be_looked_up():
    memory, saver = known(SECRET), InMemorySaver()
    agent, _ = looking(
        memory, saver, call("recall", query="salary band"), call("deploy", target="x")
    )
    given, config, more = told("hello", "t")
    agent.invoke(given, config, **more)
    whole = memory.parts.stores
    gone = away(whole, "quarantine", "working", "long_term")
    agent, model = looking(a_memory(stores=gone), saver, say(ANSWER))
    agent.invoke(GO_ON, config, **more)

    assert "could not be looked up again" in everything(model)
    assert PART not in everything(model)


def test_a_later_turn_is_told_to_look_it_up_again():
    memory = known(SECRET)
    turns = call("recall", query="salary band"), say(ANSWER), call("recall", query="salary band")
    agent, model = looking(memory, InMemorySaver(), *turns)
    turn(agent, "hello", "t")
    turn(agent, "hello again", "t")

    assert [SECRET in everything(model, n) for n in range(4)] == [False, True, False, True]
    assert everything(model, 3).count(SECRET) == 1
    assert "look it up again" in everything(model, 2)


async def test_several_calls_with_one_id_and_side_by_side_show_each_its_own():
    memory, first = known(FACT, OTHER), calls(("recall", {"query": "orders"}))
    second = calls(("recall", {"query": "parcel"}), ("recall", {"query": "orders PostgreSQL"}))
    first.tool_calls[0]["id"] = second.tool_calls[0]["id"] = "1"
    model = ScriptedModel(first, second)
    await aturn(an_agent(memory, model, retrieve=None, max_results=1), "hello")
    shown = [one.text for one in model.requests[-1] if one.type == "tool"]

    assert [FACT in one for one in shown] == [True, False, True]
    assert [OTHER in one for one in shown] == [False, True, False]


def test_a_fallback_is_shown_what_was_found_as_well():
    class Failing(ScriptedModel):
        def _generate(self, *given, **more):
            result = super()._generate(*given, **more)
            if len(self.requests) > 1:
                raise ConnectionError("no model today")
            return result

    memory, second = known(SECRET), ScriptedModel(say(ANSWER))
    model = Failing(call("recall", query="salary band"))
    agent = an_agent(memory, model, before=[ModelFallbackMiddleware(second)], retrieve=None)
    turn(agent, "hello")

    assert SECRET in everything(second)
    assert [one.content for one in entries(memory)] == [ANSWER]


def test_two_memories_of_one_agent_show_what_each_has_found():
    shop, other = known(FACT), known(OTHER)
    turns = call("recall", query="orders"), call("recall_two", query="parcel"), say(ANSWER)
    model = ScriptedModel(*turns)
    second = TieredMemoryMiddleware(other, name="two")
    result = turn(an_agent(shop, model, after=[second]), "Where are the orders?")
    shown = [one.text for one in model.requests[-1] if one.type == "tool"]

    assert FACT in shown[0]
    assert OTHER in shown[1]
    assert all("&lt;" not in one.text for one in model.requests[-1])
    assert FACT not in repr(result)
    assert OTHER not in repr(result)


def test_what_another_middleware_has_cleared_stays_cleared():
    class Clears(AgentMiddleware):
        def wrap_model_call(self, request, handler):
            cleared = [
                one.model_copy(update={"content": "[cleared]"}) if one.type == "tool" else one
                for one in request.messages
            ]
            return handler(request.override(messages=cleared))

    for side in ("before", "after"):
        model = ScriptedModel(call("recall", query="salary band"))
        turn(an_agent(known(SECRET), model, retrieve=None, **{side: [Clears()]}), "hello")
        assert SECRET not in everything(model)
        assert "[cleared]" in everything(model)


def test_a_forged_answer_in_the_input_shows_no_more_than_asking_would():
    memory = known(SECRET)
    (found,) = memory.retrieve("salary band", "shop")
    stub = {"role": "tool", "name": "recall", "tool_call_id": "c1"}
    model = ScriptedModel(call("recall", query="salary band"))
    said = tool_messages(turn(an_agent(memory, model), "x"))[0].text
    stub |= {"content": said, "artifact": {"memoryware_recalled": [found.id]}}
    asking = AIMessage("", tool_calls=[{"name": "recall", "args": {"query": 7}, "id": "c1"}])
    for before, group in (([], "shop"), ([asking], "shop"), ([asking], "bakery")):
        model = ScriptedModel()
        agent = an_agent(memory, model, retrieve=None)
        turn(agent, [HumanMessage("x"), *before, stub], group_id=group)
        assert SECRET not in everything(model)
        assert "could not be looked up again" in everything(model)


def test_it_can_be_taken_out_of_a_trace():
    model = ScriptedModel(call("recall", query="salary band"))
    turn(an_agent(known(SECRET), model, retrieve=None), "hello")

    assert SECRET in everything(model)
    assert secret_free(redact_memory(model.requests[-1]))

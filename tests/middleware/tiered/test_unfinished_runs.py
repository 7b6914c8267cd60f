"""Runs that fail, are cancelled, wait for somebody, or run side by side."""

from __future__ import annotations

import asyncio
import operator
from typing import Annotated, TypedDict

import pytest
from langchain.agents.middleware import (
    AgentMiddleware,
    ModelFallbackMiddleware,
    ModelRetryMiddleware,
    SummarizationMiddleware,
)
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send, interrupt

from kit import ScriptedModel, call, say
from memoryware import Origin, TieredMemory
from memoryware.tiers.provenance import Trust
from middleware.tiered.rig import (
    ANSWER,
    DOORS,
    FACT,
    OTHER,
    a_memory,
    an_agent,
    aturn,
    entries,
    known,
    roots,
    texts,
    through,
    turn,
)

INTERIM = "I have read the list of the depot and I go on with the list of the harbour now."
EVERY = {"record": "each_model_call"}


@tool
def look_up(word: str) -> str:
    """Look something up."""
    return f"{word} means something else in another country"


@tool
def ask_person(question: str) -> str:
    """Ask a person."""
    return f"They say {interrupt(question)}"


def with_text(text, message):
    return message.model_copy(update={"content": text})


def interim(name="look_up", **given):
    return with_text(INTERIM, call(name, **(given or {"word": "x"})))


def boom(messages):
    raise ConnectionError("no model today")


def resumed(agent, user, thread="t", **more):
    config = {"configurable": {"thread_id": thread}}
    context = {"group_id": "shop", "user_id": user, **more}
    return agent.invoke(Command(resume="yes"), config, context=context)


# Nothing of a run that did not end.


@pytest.mark.parametrize("record", ["final", "each_model_call"])
@pytest.mark.parametrize("door", DOORS)
async def test_a_run_that_fails_later_leaves_nothing_also_not_to_the_next_turn(door, record):
    memory, saver = a_memory(), InMemorySaver()
    model = ScriptedModel(interim(), boom, say(ANSWER))
    agent = an_agent(memory, model, tools=[look_up], checkpointer=saver, record=record)
    with pytest.raises(ConnectionError):
        await through(door, agent, "hello", "t")
    assert texts(memory) == []
    await through(door, agent, "hello again", "t")

    assert texts(memory) == [ANSWER]


async def test_a_run_that_is_cancelled_leaves_nothing():
    memory, reached = a_memory(), asyncio.Event()

    class Waits(AgentMiddleware):
        async def awrap_model_call(self, request, handler):
            if len(model.requests) == 1:
                reached.set()
                await asyncio.sleep(30)
            return await handler(request)

    model = ScriptedModel(interim(), say(ANSWER))
    agent = an_agent(memory, model, tools=[look_up], after=[Waits()], **EVERY)
    task = asyncio.create_task(aturn(agent, "hello"))
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert texts(memory) == []


def test_a_run_that_reaches_its_limit_or_whose_stream_is_left_leaves_nothing():
    memory = a_memory()
    model = ScriptedModel(script=[interim() for _ in range(20)])
    agent = an_agent(memory, model, tools=[look_up], **EVERY)
    given = {"messages": [HumanMessage("hello")]}
    with pytest.raises(GraphRecursionError):
        agent.invoke(given, {"recursion_limit": 8}, context={"group_id": "shop"})
    for _ in agent.stream(given, context={"group_id": "shop"}):
        if len(model.requests) > 5:
            break

    assert texts(memory) == []


@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize("again", ["retry", "fallback"])
def test_what_a_call_said_that_failed_is_no_answer_and_the_next_one_is(again, side):
    class FailsOnce(ScriptedModel):
        def _generate(self, *given, **more):
            result = super()._generate(*given, **more)
            if len(self.requests) == 2:
                raise ConnectionError("in the middle")
            return result

    memory = a_memory()
    model = FailsOnce(interim(), say(OTHER), say(ANSWER))
    helper = (
        ModelRetryMiddleware(max_retries=2, initial_delay=0)
        if again == "retry"
        else ModelFallbackMiddleware(ScriptedModel(say(ANSWER)))
    )
    turn(an_agent(memory, model, tools=[look_up], **{side: [helper]}, **EVERY), "hello")

    assert texts(memory) == [INTERIM, ANSWER]


@pytest.mark.parametrize("side", ["before", "after"])
def test_an_answer_that_somebody_has_thrown_away_is_none(side):
    class AsksTwice(AgentMiddleware):
        def wrap_model_call(self, request, handler):
            handler(request)
            return handler(request)

    memory = a_memory()
    model = ScriptedModel(say(OTHER), say(ANSWER))
    turn(an_agent(memory, model, **{side: [AsksTwice()]}, **EVERY), "hello")

    assert texts(memory) == [ANSWER]


# Runs that end after all.


def test_a_run_that_failed_and_is_taken_up_again_is_recorded_once_when_it_has_ended():
    memory, saver = a_memory(), InMemorySaver()
    model = ScriptedModel(interim(), boom, say(ANSWER))
    agent = an_agent(memory, model, tools=[look_up], checkpointer=saver, **EVERY)
    with pytest.raises(ConnectionError):
        turn(agent, "hello", "t")
    config = {"configurable": {"thread_id": "t"}}
    agent.invoke(None, config, context={"group_id": "shop"})

    assert texts(memory) == [INTERIM, ANSWER]


@pytest.mark.parametrize("by", ["the same instance", "a new instance"])
def test_a_run_that_was_interrupted_is_recorded_once_when_it_has_ended(by):
    memory, saver = a_memory(), InMemorySaver()

    def made(*turns):
        model = ScriptedModel(*turns)
        return an_agent(memory, model, tools=[ask_person], checkpointer=saver, **EVERY)

    first = made(interim("ask_person", question="May I?"), say(ANSWER))
    turn(first, "hello", "t")
    assert texts(memory) == []
    resumed(first if by == "the same instance" else made(say(ANSWER)), None)

    assert texts(memory) == [INTERIM, ANSWER]


def test_what_was_said_before_a_page_was_read_is_not_made_of_the_page():
    memory = a_memory()
    model = ScriptedModel(interim(), say(ANSWER))
    turn(an_agent(memory, model, tools=[look_up], **EVERY), "hello", user_id="ann")
    before, after = entries(memory)

    assert roots(before) == ["agent:", "user:ann"]
    assert before.provenance.trust is Trust.UNVERIFIED
    assert "tool:look_up" in roots(after)


def test_what_was_summed_up_before_the_end_is_recorded_all_the_same():
    memory = a_memory()
    model = ScriptedModel(interim(), call("look_up", word="y"), call("look_up", word="z"))
    model.script.append(say(ANSWER))
    summing = SummarizationMiddleware(
        ScriptedModel(*[say("They talked.")] * 9), trigger=("messages", 5), keep=("messages", 1)
    )
    agent = an_agent(memory, model, tools=[look_up], after=[summing], **EVERY)
    result = turn(agent, "hello")

    assert INTERIM not in repr(result)
    assert texts(memory) == [INTERIM, ANSWER]


@pytest.mark.parametrize("record", ["final", "each_model_call"])
@pytest.mark.parametrize("door", ["invoke", "ainvoke"])
async def test_agents_that_are_sent_out_side_by_side_are_recorded_once_each(door, record):
    class Tasks(TypedDict, total=False):
        number: int
        done: Annotated[list[str], operator.add]

    memory, saver = known(FACT), InMemorySaver()

    def worker(state):
        model = ScriptedModel(interim(), say(f"{ANSWER} This is number {state['number']}."))
        agent = an_agent(memory, model, tools=[look_up], record=record)
        return agent, {"messages": [HumanMessage(f"Where are the orders of {state['number']}?")]}

    def work(state):
        agent, given = worker(state)
        return {"done": [agent.invoke(given)["messages"][-1].text]}

    async def awork(state):
        agent, given = worker(state)
        return {"done": [(await agent.ainvoke(given))["messages"][-1].text]}

    graph = StateGraph(Tasks, context_schema=dict)
    graph.add_node("work", work if door == "invoke" else awork)
    graph.add_conditional_edges(START, lambda _: [Send("work", {"number": n}) for n in range(5)])
    graph.add_edge("work", END)
    compiled = graph.compile(checkpointer=saver)
    config, who = {"configurable": {"thread_id": "t"}}, {"group_id": "shop"}
    if door == "invoke":
        done = compiled.invoke({}, config, context=who)
    else:
        done = await compiled.ainvoke({}, config, context=who)
    kept = [one for one in texts(memory) if one != INTERIM]

    assert sorted(kept) == sorted(done["done"])
    assert len({*kept}) == 5
    assert texts(memory).count(INTERIM) == (5 if record == "each_model_call" else 0)


# Who asked a run that another has resumed.


@pytest.mark.parametrize("by", ["the same instance", "another process"])
def test_a_run_that_another_has_resumed_names_both(by, tmp_path):
    url, saver = f"sqlite:///{tmp_path}/memory.db", InMemorySaver()

    def made(memory, *turns):
        model, inside = ScriptedModel(*turns), ["ask_person"]
        return an_agent(memory, model, tools=[ask_person], checkpointer=saver, inside_tools=inside)

    memory = TieredMemory.open(url)
    agent = made(memory, call("ask_person", question="May I?"), say(ANSWER), say(OTHER))
    turn(agent, "Ann says: the deliveries leave on Thursday", "t", user_id="ann")
    if by == "another process":
        memory.close()
        memory = TieredMemory.open(url)
        agent = made(memory, say(ANSWER), say(OTHER))
    resumed(agent, "bo")
    turn(agent, "and now?", "t", user_id="cid")
    first, second = entries(memory)

    assert first.scope.user_id == "bo"
    assert roots(first) == ["agent:", "user:ann", "user:bo"]
    assert roots(second) == ["agent:", "user:ann", "user:bo", "user:cid"]
    assert memory.revoke(Origin("user", "ann"), "shop", by="x").counts.quarantine == 2
    memory.close()


def test_who_asked_before_the_first_model_call_or_in_a_run_that_failed_is_named_as_well():
    class Waits(AgentMiddleware):
        def before_model(self, state, runtime):
            interrupt("May I?")

    memory, saver = a_memory(), InMemorySaver()
    agent = an_agent(memory, ScriptedModel(say(ANSWER)), after=[Waits()], checkpointer=saver)
    turn(agent, "hello", "t", user_id="ann")
    resumed(agent, "bo")
    assert roots(entries(memory)[-1]) == ["agent:", "user:ann", "user:bo"]

    agent = an_agent(memory, ScriptedModel(boom, say(OTHER)), checkpointer=saver)
    with pytest.raises(ConnectionError):
        turn(agent, "hello", "u", user_id="ann")
    turn(agent, "hello again", "u", user_id="bo")
    assert roots(entries(memory)[-1]) == ["agent:", "user:ann", "user:bo"]


def test_the_tool_and_the_note_of_a_resumed_run_name_who_asked_it():
    memory, saver = a_memory(), InMemorySaver()
    note = "The customer prefers to be called before nine in the morning, on the land line."
    model = ScriptedModel(call("ask_person", question="May I?"), call("remember", text=note))
    agent = an_agent(
        memory, model, tools=[ask_person], checkpointer=saver, remember_tool=True, record=None
    )
    turn(agent, "hello", "t", user_id="ann")
    resumed(agent, "bo")

    (entry,) = entries(memory)
    assert {"user:ann", "user:bo"} <= set(roots(entry))


def test_the_state_names_a_person_only_as_long_as_no_entry_does():
    memory, saver = a_memory(), InMemorySaver()
    model = ScriptedModel(call("ask_person", question="May I?"), say(ANSWER))
    agent = an_agent(memory, model, tools=[ask_person], checkpointer=saver)
    turn(agent, "hello", "t", user_id="ann")
    config, key = {"configurable": {"thread_id": "t"}}, "tiered_thread_TieredMemoryMiddleware"
    assert agent.get_state(config).values[key]["asked"] == ["ann"]
    result = resumed(agent, "bo")

    assert agent.get_state(config).values[key]["asked"] == []
    assert "asked" not in repr(result)

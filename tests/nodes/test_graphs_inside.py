"""Agents and graphs as nodes: recorded once, under their own names, whatever is inside."""

from __future__ import annotations

import functools
from typing import Annotated, Literal, TypedDict

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ModelFallbackMiddleware, hook_config
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, RetryPolicy, Send, interrupt

from kit import ScriptedModel, call, say
from memoryware import (
    MemoryRetrievalNode,
    TieredMemory,
    TieredMemoryMiddleware,
    remember,
    with_memory,
)
from memoryware.errors import SettingError
from memoryware.tiers import RoleRules
from nodes.rig import DOORS, LONG, WHO, Context, State, kept, line, memory, run

pytestmark = pytest.mark.parametrize("door", DOORS)
ASKED = {"messages": [HumanMessage("Where are the orders?")]}
OTHER = "Deliveries to Norway leave the depot on Thursday, because customs is slow on Mondays."


class Small(TypedDict, total=False):
    topic: str


def given(result):
    """A node that returns this."""
    return lambda state: result


def entries(tiers, group="shop"):
    """The entries of quarantine, oldest first."""
    return [one.record for one in reversed(tiers.list(group, tier="quarantine").items)]


async def both(graph, door, given=None, **more):
    """Everything that a graph streams as custom events."""
    more.setdefault("context", WHO)
    if door == "invoke":
        return list(graph.stream(given or {}, stream_mode="custom", **more))
    return [one async for one in graph.astream(given or {}, stream_mode="custom", **more)]


async def test_an_agent_is_an_agent_without_being_told(door):
    tiers = memory()
    agent = create_agent(ScriptedModel(say(LONG), say(LONG)))
    await run(with_memory(line(("writer", agent)), tiers).compile(), door, ASKED)
    assert kept(tiers, "working") == [LONG]
    (entry,) = entries(tiers)
    assert (entry.role, entry.scope.node_id, entry.scope.agent_id) == ("agent", "writer", None)


async def test_an_agent_with_memory_of_its_own_is_recorded_once(door):
    tiers = memory()
    agent = create_agent(
        ScriptedModel(say(LONG)),
        middleware=[TieredMemoryMiddleware(tiers, recall_tool=False)],
        context_schema=Context,
    )
    builder = line(("writer", agent), ("editor", given({"content": OTHER})))
    await run(with_memory(builder, tiers, roles={"editor": "agent"}).compile(), door, ASKED)
    assert kept(tiers) == [LONG, OTHER]
    assert kept(tiers, "working") == [LONG, OTHER]


async def test_an_agent_with_memory_of_its_own_plays_the_part_of_its_node(door):
    tiers = memory()
    agent = create_agent(
        ScriptedModel(say(LONG)),
        middleware=[TieredMemoryMiddleware(tiers, recall_tool=False)],
        context_schema=Context,
    )
    builder = with_memory(line(("check", agent)), tiers, roles={"check": "fact_check"})
    await run(builder.compile(), door, ASKED)
    assert (kept(tiers), kept(tiers, "working")) == ([LONG], [])


class Answers(AgentMiddleware):
    """Answers in place of the model."""

    @hook_config(can_jump_to=["end"])
    def before_model(self, state, runtime):
        return {"messages": [AIMessage(LONG)], "jump_to": "end"}


async def test_what_a_middleware_made_and_not_the_model_stays_in_quarantine(door):
    tiers = memory()
    agent = create_agent(ScriptedModel(), middleware=[Answers()])
    await run(with_memory(line(("writer", agent)), tiers).compile(), door, ASKED)
    assert (kept(tiers), kept(tiers, "working")) == ([LONG], [])
    assert entries(tiers)[0].metadata["made_by"] == "middleware"


async def test_an_answer_after_a_fallback_is_recorded_once(door):
    tiers = memory()

    def fails(messages):
        raise ConnectionError("busy")

    agent = create_agent(
        ScriptedModel(fails), middleware=[ModelFallbackMiddleware(ScriptedModel(say(LONG)))]
    )
    await run(with_memory(line(("writer", agent)), tiers).compile(), door, ASKED)
    assert (kept(tiers), kept(tiers, "working")) == ([LONG], [LONG])


async def test_results_of_tools_inside_an_agent_lower_the_trust_of_its_answer(door):
    @tool
    def web(query: str) -> str:
        """Search."""
        return "page"

    tiers = memory()
    agent = create_agent(ScriptedModel(call("web", query="x"), say(LONG)), tools=[web])
    await run(with_memory(line(("writer", agent)), tiers).compile(), door, ASKED)
    (entry,) = entries(tiers)
    assert entry.provenance.trust.name == "UNTRUSTED"


async def test_an_agent_that_waits_for_a_person_is_recorded_when_it_is_through(door):
    @tool
    def ask_boss(question: str) -> str:
        """Ask."""
        return str(interrupt(question))

    tiers = memory()
    agent = create_agent(ScriptedModel(call("ask_boss", question="?"), say(LONG)), tools=[ask_boss])
    graph = with_memory(line(("writer", agent)), tiers).compile(InMemorySaver())
    await run(graph, door, ASKED, thread="t")
    assert kept(tiers) == []
    seen = graph.get_state({"configurable": {"thread_id": "t"}}, subgraphs=True)
    assert seen.tasks[0].state.next == ("tools",)
    done = await run(graph, door, Command(resume="yes"), thread="t")
    assert done["messages"][-1].text == LONG
    assert (kept(tiers), kept(tiers, "working")) == ([LONG], [LONG])


async def test_a_node_that_only_passes_messages_on_says_nothing(door):
    tiers = memory()
    builder = line(
        ("writer", given({"messages": [AIMessage(LONG)]})),
        ("passes", lambda state: {"messages": state["messages"]}),
        ("graph", line(("inner", given({}))).compile()),
    )
    await run(with_memory(builder, tiers).compile(InMemorySaver()), door, ASKED, thread="t")
    assert [one.scope.node_id for one in entries(tiers)] == ["writer"]


async def test_a_hand_over_to_the_graph_around_is_recorded_once(door):
    tiers = memory()

    class Inner(TypedDict, total=False):
        messages: Annotated[list, add_messages]

    def hands_over(state) -> Command[Literal["__end__"]]:
        update = {"messages": [AIMessage(LONG)]}
        return Command(update=update, goto="second", graph=Command.PARENT)

    def builder_of(node):
        inner = StateGraph(Inner)
        inner.add_node("deep", node)
        inner.add_edge(START, "deep")
        outer = StateGraph(State, context_schema=Context)
        outer.add_node("first", inner.compile())
        outer.add_node("second", given({"content": OTHER}))
        outer.add_edge(START, "first")
        outer.add_edge("second", END)
        return outer

    await run(with_memory(builder_of(hands_over), tiers).compile(), door, ASKED)
    assert kept(tiers) == [LONG, OTHER]
    assert entries(tiers)[0].scope.node_id == "first"
    again = memory()
    node = remember(hands_over, memory=again)
    await run(with_memory(builder_of(node), again).compile(), door, ASKED)
    assert kept(again) == [LONG, OTHER]


async def test_graphs_side_by_side_are_recorded_each_under_its_name(door):
    tiers = memory()

    class Part(TypedDict, total=False):
        topic: str
        notes: Annotated[list[str], lambda a, b: [*(a or []), *b]]

    class Notes(TypedDict, total=False):
        notes: Annotated[list[str], lambda a, b: [*(a or []), *b]]

    def works(state):
        return {"notes": [f"{LONG} {state['topic']}"]}

    inner = StateGraph(Part, output_schema=Notes)
    inner.add_node("work", works)
    inner.add_edge(START, "work")
    builder = StateGraph(State, context_schema=Context)
    builder.add_node("part", inner.compile())
    builder.add_conditional_edges(
        START, lambda state: [Send("part", {"topic": str(n)}) for n in range(8)], ["part"]
    )
    builder.add_edge("part", END)
    graph = with_memory(builder, tiers, content=lambda update: update["notes"][-1]).compile()
    done = await run(graph, door, {"topic": "x"})
    assert sorted(kept(tiers)) == [f"{LONG} {n}" for n in range(8)]
    assert len(done["notes"]) == 8


async def test_a_helper_inside_a_node_is_recorded_and_its_text_not_twice(door):
    tiers = memory()

    @remember
    def helper(text):
        return {"content": text}

    def node(state):
        helper(OTHER)
        return helper(LONG)

    await run(with_memory(line(("x", node)), tiers).compile(), door)
    assert sorted(kept(tiers)) == sorted([OTHER, LONG])


async def test_one_function_in_two_graphs_is_recorded_in_the_memory_of_each(door):
    first, second = memory(), memory()

    @remember(role="agent")
    def node(state):
        return {"content": LONG}

    await run(with_memory(line(("x", node)), first).compile(), door)
    await run(with_memory(line(("x", node)), second).compile(), door)
    await run(with_memory(line(("x", node)), second).compile(), door)
    assert (len(kept(first)), len(kept(second))) == (1, 2)


async def test_the_newer_call_holds_and_roles_that_it_does_not_name_stay(door):
    first, second = memory(), memory()
    builder = line(("a", given({"content": LONG})), ("b", given({"content": OTHER})))
    with_memory(builder, first, roles={"a": "agent", "b": "agent"})
    with_memory(builder, second, roles={"b": "other"})
    await run(builder.compile(), door)
    assert kept(first) == []
    assert (kept(second), kept(second, "working")) == ([LONG, OTHER], [LONG])


async def test_a_node_may_have_rules_of_its_own(door):
    tiers = memory()
    builder = line(("a", given({"content": LONG})), ("b", given({"content": OTHER})))
    rules = {"a": RoleRules(record=("quarantine", "working")), "b": RoleRules(record=())}
    await run(with_memory(builder, tiers, roles=rules).compile(), door)
    assert (kept(tiers), kept(tiers, "working")) == ([LONG], [LONG])
    node = remember(given({"content": OTHER}), memory=tiers, record=["quarantine", "working"])
    await run(line(("c", node)).compile(), door)
    assert kept(tiers, "working") == [LONG, OTHER]
    with pytest.raises(SettingError, match="quarantine and working"):
        remember(node, record=["long_term"])
    with pytest.raises(SettingError, match="criticc"):
        with_memory(line(("x", node), x={"memory_role": "criticc"}), tiers)


class Dies(InMemorySaver):
    """A checkpointer that loses what it is given, as if the process were dead already."""

    dead = False

    def put(self, config, checkpoint, metadata, new_versions):
        if self.dead:
            configurable = {**config["configurable"], "checkpoint_id": checkpoint["id"]}
            return {"configurable": configurable}
        return super().put(config, checkpoint, metadata, new_versions)

    async def aput(self, config, checkpoint, metadata, new_versions):
        return self.put(config, checkpoint, metadata, new_versions)

    def put_writes(self, config, writes, task_id, task_path=""):
        if not self.dead:
            super().put_writes(config, writes, task_id, task_path)

    async def aput_writes(self, config, writes, task_id, task_path=""):
        self.put_writes(config, writes, task_id, task_path)


async def test_a_step_that_is_played_again_after_a_crash_is_recorded_once(door):
    tiers, times, saver = memory(), [], Dies()

    def first(state):
        times.append(1)
        saver.dead = True
        return {"content": LONG}

    def second(state):
        if len(times) == 1:
            raise SystemError("the process died")
        return {"agent_output": OTHER}

    builder = line(("first", first), ("second", second))
    graph = with_memory(builder, tiers).compile(saver)
    with pytest.raises(SystemError):
        await run(graph, door, {"topic": "x"}, thread="t", durability="sync")
    assert kept(tiers) == [LONG]
    saver.dead = False
    config = {"configurable": {"thread_id": "t"}}
    if door == "invoke":
        graph.invoke(None, config, context=WHO)
    else:
        await graph.ainvoke(None, config, context=WHO)
    assert (len(times), kept(tiers)) == (2, [LONG, OTHER])


async def test_a_step_beside_one_that_fails_is_recorded_once(door):
    tiers, fails = memory(), [True]

    def unsure(state):
        if fails:
            fails.pop()
            raise ConnectionError("again")
        return {}

    builder = StateGraph(State, context_schema=Context)
    policy = RetryPolicy(initial_interval=0.001, max_attempts=2, jitter=False)
    builder.add_node("says", given({"content": LONG}))
    builder.add_node("unsure", unsure, retry_policy=policy)
    builder.add_edge(START, "says")
    builder.add_edge(START, "unsure")
    await run(with_memory(builder, tiers).compile(InMemorySaver()), door, {}, thread="t")
    assert kept(tiers) == [LONG]


async def test_code_before_a_question_runs_again_and_is_recorded_once(door):
    tiers = memory()

    @remember(memory=tiers)
    def helper(state):
        return {"content": LONG}

    def node(state):
        helper(state)
        return {"content": f"{OTHER} {interrupt('sure?')}"}

    graph = with_memory(line(("x", node)), tiers).compile(InMemorySaver())
    await run(graph, door, thread="t")
    await run(graph, door, Command(resume="yes"), thread="t")
    assert kept(tiers) == [LONG, f"{OTHER} yes"]


async def test_tasks_and_entrypoints_are_recorded(door):
    tiers = memory()

    if door == "invoke":

        @task
        @remember(memory=tiers)
        def step(topic):
            return {"content": f"{LONG} {topic}"}

        @entrypoint(checkpointer=InMemorySaver())
        @remember(memory=tiers)
        def flow(topic):
            step(topic).result()
            return entrypoint.final(value={"content": OTHER}, save=1)
    else:

        @task
        @remember(memory=tiers)
        async def step(topic):
            return {"content": f"{LONG} {topic}"}

        @entrypoint(checkpointer=InMemorySaver())
        @remember(memory=tiers)
        async def flow(topic):
            await step(topic)
            return entrypoint.final(value={"content": OTHER}, save=1)

    config = {"configurable": {"thread_id": "t", "group_id": "shop"}}
    if door == "invoke":
        flow.invoke("x", config)
    else:
        await flow.ainvoke("x", config)
    assert kept(tiers) == [f"{LONG} x", OTHER]


async def test_a_node_that_returns_a_runnable_is_recorded_by_what_that_returns(door):
    tiers = memory()
    inner = RunnableLambda(lambda state: {"content": LONG})
    await run(with_memory(line(("x", given(inner))), tiers).compile(), door)
    await run(line(("x", remember(given(inner), memory=tiers))).compile(), door)
    assert kept(tiers) == [LONG, LONG]


async def test_methods_partials_objects_and_generators_keep_their_names_and_schemas(door):
    tiers = memory()

    class Desk:
        @remember(memory=tiers)
        def writes(self, state: Small):
            return {"content": f"{LONG} {sorted(state)}"}

        def __call__(self, state: Small):
            return {"content": f"{OTHER} {sorted(state)}"}

    def partly(state, what):
        return {"content": what}

    def streams(state):
        yield {"content": f"{LONG} streamed"}

    desk = Desk()
    builder = StateGraph(State, context_schema=Context)
    builder.add_node(desk.writes)
    builder.add_node(remember(desk, memory=tiers))
    builder.add_node("partial", remember(functools.partial(partly, what=OTHER), memory=tiers))
    builder.add_node("streams", remember(streams, memory=tiers))
    names = ["writes", "Desk", "partial", "streams"]
    assert list(builder.nodes) == names
    for before, name in zip([START, *names], names, strict=False):
        builder.add_edge(before, name)
    await run(builder.compile(), door, {"topic": "x", "document": "y"})
    assert kept(tiers) == [
        f"{LONG} ['topic']",
        f"{OTHER} ['topic']",
        OTHER,
        f"{LONG} streamed",
    ]


async def test_names_of_groups_may_be_other_ones_and_come_from_a_state_that_may_say_so(door):
    tiers = memory()
    node = remember(given({"content": LONG}), memory=tiers, group_keys=("team",))
    await run(line(("x", node)).compile(), door, context={"team": "red"})
    by_state = remember(given({"content": LONG}), memory=tiers, state_group="topic")
    await run(line(("x", by_state)).compile(), door, {"topic": "blue"}, context={})
    await run(line(("x", by_state)).compile(), door, {"topic": "blue"}, context={"group_id": "red"})
    never = remember(given({"content": LONG}), memory=tiers)
    await run(line(("x", never)).compile(), door, {"topic": "blue"}, context={})
    assert [len(kept(tiers, group=one)) for one in ("red", "blue", "")] == [2, 1, 1]


async def test_recall_may_be_wrapped_by_anybody_and_is_never_recorded(door):
    tiers = memory()
    tiers.promote(LONG, "shop", by="ann")
    node = MemoryRetrievalNode(tiers)
    builder = line(("r", remember(node, memory=tiers)), ("f", lambda state: node(state)))
    with_memory(builder, tiers, roles={"f": "memory_retrieval"})
    done = await run(builder.compile(), door, {"topic": "orders", "content": LONG})
    assert LONG in done["history_context"]
    assert kept(tiers) == []


async def test_no_step_is_added_to_streams_and_pictures(door):
    tiers = memory()
    builder = line(("writer", given({"content": LONG})))
    plain = builder.compile()
    before = await _steps(plain, door)
    picture = plain.get_graph().to_json()
    recorded = with_memory(builder, tiers).compile()
    assert await _steps(recorded, door) == before
    assert recorded.get_graph().to_json() == picture
    assert [one["event"] for one in await both(recorded, door)] == ["recorded"]


async def _steps(graph, door):
    config = {"configurable": {"group_id": "shop"}}
    if door == "ainvoke":
        found = graph.astream_events({"topic": "x"}, config, version="v2")
        return [(one["event"], one["name"]) async for one in found]
    return list(graph.stream({"topic": "x"}, config, stream_mode=["updates", "values"]))


async def test_an_async_node_never_blocks_the_loop(door, tmp_path):
    if door == "invoke":
        pytest.skip("has no loop")
    from blockbuster import blockbuster_ctx

    async def node(state):
        return {"content": LONG}

    with TieredMemory.open(f"sqlite:///{tmp_path / 'm.db'}") as tiers:
        tiers.promote(OTHER, "shop", by="ann")
        builder = line(
            ("r", MemoryRetrievalNode(tiers)), ("x", node), ("y", given({"content": OTHER}))
        )
        graph = with_memory(builder, tiers, roles={"x": "agent", "y": "agent"}).compile()
        with blockbuster_ctx("memoryware"):
            done = await run(graph, door, {"topic": "deliveries"}, thread="t")
        assert OTHER in done["history_context"]
        assert kept(tiers) == [LONG, OTHER]

"""Nodes whose output is recorded: once, after they have returned, and untouched."""

from __future__ import annotations

import functools

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command, RetryPolicy, Send, interrupt

from kit import ScriptedModel, say
from memoryware import remember, with_memory
from memoryware.errors import SettingError
from memoryware.tiers import RoleRules
from nodes.rig import DOORS, LONG, WHO, Context, State, broken, kept, line, memory, run

pytestmark = pytest.mark.parametrize("door", DOORS)


def given(result):
    """A node that returns this."""
    return lambda state: result


async def played(door, tiers, result, **how):
    """Run a graph of one recorded node that returns something."""
    graph = line(("writer", remember(given(result), memory=tiers, role="agent", **how))).compile()
    return await run(graph, door)


@pytest.mark.parametrize(
    "result",
    [
        {"content": LONG},
        {"agent_output": LONG},
        {"messages": [HumanMessage("q"), AIMessage(LONG)]},
        {"messages": AIMessage([{"type": "text", "text": LONG}, {"type": "image", "url": "x"}])},
        Command(update={"content": LONG}),
        [{"notes": ["x"]}, Command(update={"content": LONG})],
    ],
)
async def test_what_a_node_says_is_recorded_wherever_it_stands(door, result):
    tiers = memory()
    await played(door, tiers, result)
    assert kept(tiers) == [LONG]
    assert kept(tiers, "working") == [LONG]


@pytest.mark.parametrize(
    "result",
    [
        {},
        None,
        {"content": "  "},
        {"topic": LONG},
        {"messages": [HumanMessage(LONG)]},
        {"messages": [ToolMessage(LONG, tool_call_id="1")]},
        {"messages": [AIMessage("", tool_calls=[{"name": "t", "args": {}, "id": "1"}])]},
    ],
)
async def test_where_a_node_says_nothing_nothing_is_recorded(door, result):
    tiers = memory()
    await played(door, tiers, result)
    assert kept(tiers) == []


async def test_other_keys_and_functions_say_where_the_text_is(door):
    tiers = memory()
    await played(door, tiers, {"topic": LONG, "content": "not this"}, content="topic")
    await played(
        door,
        tiers,
        {"document": f"{LONG} "},
        content=lambda update: f"Made of {update['document']}",
    )
    assert kept(tiers) == [LONG, f"Made of {LONG}"]


async def test_the_very_object_passes_through(door):
    result = {"content": LONG}
    node = remember(given(result), memory=memory(), role="agent")
    assert node({}) is result
    assert remember(given(7), memory=memory())({}) == 7


async def test_metadata_of_an_update_goes_along_and_is_not_changed(door):
    tiers, said = memory(), {"confidence": 0.5, "mine": [1]}
    await played(door, tiers, {"content": LONG, "metadata": said})
    (entry,) = tiers.list("shop", tier="quarantine").items
    assert entry.record.metadata["mine"] == [1]
    assert entry.record.metadata["node_id"] == "writer"
    assert entry.record.refused == "low_confidence"
    assert said == {"confidence": 0.5, "mine": [1]}


@pytest.mark.parametrize(
    ("role", "layers"),
    [
        ("agent", [1, 1]),
        ("fact_check", [1, 0]),
        ("other", [1, 0]),
        ("tool", [1, 0]),
        ("memory_retrieval", [0, 0]),
        (None, [1, 0]),
    ],
)
async def test_a_role_says_what_is_recorded(door, role, layers):
    tiers = memory()
    await run(
        line(("x", remember(given({"content": LONG}), memory=tiers, role=role))).compile(), door
    )
    assert [len(kept(tiers, one)) for one in ("quarantine", "working")] == layers


async def test_rules_of_a_node_win_over_its_role(door):
    tiers = memory()
    await played(door, tiers, {"content": LONG}, record=RoleRules(record=("quarantine",)))
    assert (len(kept(tiers)), kept(tiers, "working")) == (1, [])


async def test_the_metadata_of_a_node_may_say_its_role(door):
    tiers = memory()
    node = remember(given({"content": LONG}), memory=tiers)
    await run(line(("x", node), x={"memory_role": "agent"}).compile(), door)
    assert kept(tiers, "working") == [LONG]


async def test_async_nodes_and_objects_and_runnables_are_recorded(door):
    async def later(state):
        return {"content": f"{LONG} (async)"}

    class Node:
        def __call__(self, state):
            return {"content": f"{LONG} (object)"}

    def partly(state, what):
        return {"content": f"{LONG} ({what})"}

    tiers = memory()
    nodes = {
        "o": Node(),
        "p": functools.partial(partly, what="partial"),
        "r": RunnableLambda(lambda state: {"content": f"{LONG} (runnable)"}),
    }
    if door == "ainvoke":
        nodes["a"] = later
    builder = line(
        *((name, remember(one, memory=tiers, role="agent")) for name, one in nodes.items())
    )
    await run(builder.compile(), door)
    assert len(kept(tiers)) == len(nodes)


async def test_what_langgraph_injects_still_arrives(door):
    seen = {}

    @remember(memory=memory())
    def node(state: State, runtime: Runtime[Context], config: RunnableConfig) -> State:
        seen.update(user=runtime.context["user_id"], step=config["metadata"]["langgraph_step"])
        return {"content": LONG}

    await run(line(("x", node)).compile(), door)
    assert seen == {"user": "ann", "step": 1}


async def test_a_node_that_fails_records_nothing(door):
    tiers = memory()

    def fails(state):
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        await run(line(("x", remember(fails, memory=tiers))).compile(), door)
    assert kept(tiers) == []


async def test_a_node_that_is_tried_again_is_recorded_once(door):
    tiers, tries = memory(), []

    def node(state):
        tries.append(1)
        if len(tries) < 3:
            raise ConnectionError("again")
        return {"content": LONG}

    builder = StateGraph(State, context_schema=Context)
    policy = RetryPolicy(initial_interval=0.001, max_attempts=3, jitter=False)
    builder.add_node("x", remember(node, memory=tiers, role="agent"), retry_policy=policy)
    builder.add_edge(START, "x")
    await run(builder.compile(), door)
    assert (len(tries), kept(tiers)) == (3, [LONG])


async def test_a_node_that_waits_for_a_person_is_recorded_when_it_is_through(door):
    tiers = memory()

    def node(state):
        return {"content": f"{LONG} {interrupt('sure?')}"}

    graph = line(("x", remember(node, memory=tiers, role="agent"))).compile(InMemorySaver())
    await run(graph, door, thread="t")
    assert kept(tiers) == []
    await run(graph, door, Command(resume="yes"), thread="t")
    assert kept(tiers) == [f"{LONG} yes"]


async def test_the_same_text_in_two_steps_is_two_entries_and_a_replayed_step_is_one(door):
    tiers, steps = memory(), []

    def loop(state):
        steps.append(1)
        goto = "x" if len(steps) < 2 else END
        return Command(update={"content": LONG}, goto=goto)

    builder = StateGraph(State, context_schema=Context)
    builder.add_node("x", remember(loop, memory=tiers, role="agent"), destinations=("x", END))
    builder.add_edge(START, "x")
    await run(builder.compile(InMemorySaver()), door, thread="t")
    assert kept(tiers) == [LONG, LONG]
    assert kept(tiers, "working") == [LONG]


async def test_branches_side_by_side_are_recorded_each(door):
    tiers = memory()

    def branch(state):
        return {"notes": [state["topic"]], "content": None}

    builder = StateGraph(State, context_schema=Context)
    how = {
        "memory": tiers,
        "role": "agent",
        "content": lambda update: f"{LONG} {update['notes'][0]}",
    }
    builder.add_node("b", remember(lambda state: {"notes": [state["topic"]]}, **how))
    builder.add_conditional_edges(
        START, lambda state: [Send("b", {"topic": f"part {n}"}) for n in range(5)], ["b"]
    )
    builder.add_edge("b", END)
    await run(builder.compile(), door)
    assert sorted(kept(tiers)) == [f"{LONG} part {n}" for n in range(5)]


async def test_an_agent_as_a_node_is_recorded_under_its_own_name(door):
    tiers = memory()
    agent = create_agent(ScriptedModel(say(LONG)), name="helper")
    graph = line(("writer", remember(agent, memory=tiers, role="agent"))).compile()
    await run(graph, door, {"messages": [HumanMessage("q")]})
    (entry,) = tiers.list("shop", tier="quarantine").items
    assert (entry.content, entry.record.scope.node_id) == (LONG, "writer")
    assert [str(one) for one in entry.record.provenance.roots] == ["agent:writer", "user:ann"]


async def test_results_of_tools_before_a_node_lower_its_trust(door):
    tiers = memory()
    asked = AIMessage("", tool_calls=[{"name": "web", "args": {}, "id": "1"}])
    before = [HumanMessage("q"), asked, ToolMessage("page", tool_call_id="1")]
    node = remember(given({"content": LONG}), memory=tiers, role="agent")
    await run(line(("x", node)).compile(), door, {"messages": before})
    inside = remember(given({"content": f"{LONG}!"}), memory=tiers, inside_tools=("web",))
    await run(line(("x", inside)).compile(), door, {"messages": before})
    trusts = [one.trust.name for one in reversed(tiers.list("shop", tier="quarantine").items)]
    assert trusts == ["UNTRUSTED", "UNVERIFIED"]


async def test_without_a_group_only_quarantine_is_written(door):
    tiers = memory()
    node = remember(given({"content": LONG}), memory=tiers, role="agent")
    await run(line(("x", node)).compile(), door, context={"user_id": "ann"})
    assert len(tiers.list("", tier="quarantine").items) == 1
    assert tiers.list("", tier="working").total == 0


async def test_a_constant_scope_fills_what_a_run_does_not_say(door):
    tiers = memory()
    node = remember(given({"content": LONG}), memory=tiers, scope="fixed")
    await run(line(("x", node)).compile(), door, context={})
    await run(line(("x", node)).compile(), door)
    assert (len(kept(tiers, group="fixed")), len(kept(tiers))) == (1, 1)


async def test_a_broken_store_does_not_end_a_graph_unless_that_is_wanted(door, caplog):
    tiers = memory_with(broken("quarantine"))
    events = []
    graph = line(("x", remember(given({"content": LONG}), memory=tiers, role="agent"))).compile()
    if door == "invoke":
        for event in graph.stream({}, context=WHO, stream_mode="custom"):
            events.append(event["event"])
    else:
        async for event in graph.astream({}, context=WHO, stream_mode="custom"):
            events.append(event["event"])
    assert events == ["rejected"]
    assert caplog.text.count("memory could not keep") == 1
    strict = memory_with(broken("quarantine"), on_error="raise")
    with pytest.raises(OSError, match="gone"):
        await run(line(("x", remember(given({"content": LONG}), memory=strict))).compile(), door)


async def test_a_broken_working_memory_never_ends_a_graph(door, caplog):
    for how in ("warn", "raise"):
        tiers = memory_with(broken("working"), on_error=how)
        node = remember(given({"content": LONG}), memory=tiers, role="agent")
        await run(line(("x", node)).compile(), door)
        assert kept(tiers) == [LONG]
    assert caplog.text.count("working memory failed") == 2


async def test_states_of_every_kind_are_recorded(door):
    from dataclasses import dataclass

    from pydantic import BaseModel

    class Model(BaseModel):
        topic: str = ""
        content: str = ""

    @dataclass
    class Data:
        topic: str = ""
        content: str = ""

    tiers = memory()
    for schema in (Model, Data):
        builder = StateGraph(schema)
        builder.add_node("x", lambda state: type(state)(content=f"{LONG} {state.topic}"))
        builder.add_edge(START, "x")
        graph = with_memory(builder, tiers, scope="shop").compile()
        await run(graph, door, schema(topic=schema.__name__), context=None)
    assert kept(tiers) == [f"{LONG} Model", f"{LONG} Data"]


def memory_with(stores, **options):
    from memoryware import TieredMemory

    return TieredMemory(stores, **options)


# with_memory


async def test_every_node_of_a_graph_is_recorded_once(door):
    tiers = memory()

    def first(state):
        return {"content": f"{LONG}"}

    @remember(memory=tiers, role="agent")
    def second(state):
        return {"content": "Invoices go out on the last day of each month, by letter only."}

    @remember
    def third(state):
        return {"content": "Nobody deploys the web shop on a Friday afternoon, ever again."}

    builder = line(("a", first), ("b", second), ("c", third))
    assert with_memory(builder, tiers, roles={"a": "agent"}) is builder
    with_memory(builder, tiers)
    await run(builder.compile(), door)
    assert [one.split()[0] for one in kept(tiers)] == ["The", "Invoices", "Nobody"]
    assert [one.split()[0] for one in kept(tiers, "working")] == ["The", "Invoices"]


async def test_a_graph_inside_a_graph_is_seen_and_recorded(door):
    tiers = memory()
    inner = line(("deep", given({"content": LONG}))).compile()
    graph = with_memory(line(("outer", inner)), tiers, roles={"outer": "agent"}).compile()
    await run(graph, door)
    assert kept(tiers) == [LONG]
    assert [name for name, _ in graph.get_subgraphs()] == ["outer"]


async def test_wrong_roles_and_nodes_are_named(door):
    builder = line(("a", given({})))
    with pytest.raises(SettingError, match="'b'"):
        with_memory(builder, memory(), roles={"b": "agent"})
    with pytest.raises(SettingError, match="critic"):
        with_memory(builder, memory(), roles={"a": "critic"})
    with pytest.raises(SettingError, match="StateGraph"):
        with_memory(builder.compile(), memory())
    with pytest.raises(SettingError, match="critic"):
        remember(given({}), role="critic")
    with pytest.raises(SettingError, match="function"):
        remember(7, memory=memory())
    with pytest.raises(SettingError, match="with_memory"):
        await run(line(("x", remember(given({"content": LONG})))).compile(), door)

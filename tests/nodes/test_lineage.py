"""What nodes say carries what the conversation had seen: in one run, in later ones, elsewhere."""

from __future__ import annotations

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph

from kit import ScriptedModel, call, say
from limits import limited
from memoryware import (
    MemoryRetrievalNode,
    MemoryScope,
    Origin,
    Provenance,
    TieredMemory,
    TieredMemoryMiddleware,
    Trust,
    remember,
    with_memory,
)
from memoryware.nodes._lineage import GraphStep, _conversations
from nodes.rig import DOORS, LONG, WHO, Context, State, line, memory, run

both_doors = pytest.mark.parametrize("door", DOORS)
NEW = "We will therefore move the invoices to the same server before the summer begins."
WEB = Provenance(Origin("tool", "web"))
SHOP = MemoryScope(group_id="shop")


def given(result):
    """A node that returns this."""
    return lambda state: result


def entries(tiers, group="shop"):
    """The entries of quarantine, oldest first."""
    return [one.record for one in reversed(tiers.list(group, tier="quarantine").items)]


def roots(entry):
    return [str(one) for one in entry.provenance.roots]


def with_a_page() -> TieredMemory:
    """A memory with a text from outside in working memory."""
    tiers = memory()
    tiers.record(LONG, "shop", provenance=WEB)
    return tiers


@both_doors
async def test_what_was_recalled_is_in_the_lineage_of_what_is_said_after_it(door):
    tiers = with_a_page()
    (page,) = entries(tiers)
    builder = line(
        ("before", given({"content": f"{NEW} One."})),
        ("recall", MemoryRetrievalNode(tiers)),
        ("after", given({"content": f"{NEW} Two."})),
    )
    await run(with_memory(builder, tiers).compile(), door, {"topic": "orders"})
    _, before, after = entries(tiers)
    assert before.provenance.trust is Trust.UNVERIFIED
    assert before.provenance.sources == ()
    assert after.provenance.trust is Trust.UNTRUSTED
    assert after.provenance.sources == (page.id,)
    assert "tool:web" in roots(after)


@both_doors
async def test_revoking_what_was_recalled_takes_back_what_was_made_of_it(door):
    tiers = with_a_page()
    builder = line(("recall", MemoryRetrievalNode(tiers)), ("w", given({"content": NEW})))
    graph = with_memory(builder, tiers, roles={"w": "agent"}).compile()
    await run(graph, door, {"topic": "orders"})
    tiers.revoke(Origin("tool", "web"), SHOP, by="ann")
    assert {one.status for one in entries(tiers)} == {"revoked"}
    assert tiers.list("shop", tier="working").total == 0


@both_doors
async def test_later_turns_of_a_thread_know_what_earlier_ones_have_seen(door):
    tiers = with_a_page()
    recalls = line(("recall", MemoryRetrievalNode(tiers))).compile(InMemorySaver())
    says = line(("w", remember(given({"content": NEW}), memory=tiers))).compile(InMemorySaver())
    await run(recalls, door, {"topic": "orders"}, thread="t")
    await run(says, door, thread="t")
    await run(says, door, thread="other")
    _, same, other = entries(tiers)
    assert "tool:web" in roots(same)
    assert "tool:web" not in roots(other)


@both_doors
async def test_another_process_reads_the_lineage_from_the_store(door, tmp_path):
    url = f"sqlite:///{tmp_path / 'm.db'}"
    with TieredMemory.open(url) as first:
        first.record(LONG, "shop", provenance=WEB)
        builder = line(("recall", MemoryRetrievalNode(first)), ("w", given({"content": NEW})))
        graph = with_memory(builder, first).compile(InMemorySaver())
        await run(graph, door, {"topic": "orders"}, thread="t")
    with TieredMemory.open(url) as second:
        node = remember(given({"content": f"{NEW} Again."}), memory=second)
        await run(line(("w", node)).compile(), door, thread="t")
        newest = entries(second)[-1]
    assert newest.content.endswith("Again.")
    assert "tool:web" in roots(newest)
    assert len(newest.provenance.sources) == 1


@both_doors
async def test_what_a_state_shows_counts_where_nobody_has_seen_it_being_recalled(door):
    tiers = with_a_page()
    (page,) = entries(tiers)
    node = remember(given({"content": NEW}), memory=tiers)
    graph = line(("w", node)).compile()
    known = {"history_context": "1. Something", "memory_items": [{"id": page.id}]}
    await run(graph, door, known, thread="a")
    await run(graph, door, {**known, "memory_items": [{"id": "f" * 32}]}, thread="b")
    await run(graph, door, {"history_context": "1. Something"}, thread="c")
    await run(graph, door, {"history_context": "", "memory_items": []}, thread="d")
    _, known_one, strange, unknown, nothing = entries(tiers)
    assert "tool:web" in roots(known_one)
    assert known_one.provenance.sources == (page.id,)
    assert "tool:recall" in roots(strange)
    assert "tool:recall" in roots(unknown)
    assert nothing.provenance.trust is Trust.UNVERIFIED


@both_doors
async def test_a_node_that_asks_memory_by_hand_is_seen_too(door):
    tiers = with_a_page()

    def asks(state):
        found = tiers.retrieve("orders", "shop")
        return {"content": f"{NEW} {len(found)}"}

    def only_asks(state):
        tiers.retrieve("orders", "shop")
        return {}

    await run(line(("w", remember(asks, memory=tiers))).compile(), door)
    builder = line(("a", only_asks), ("w", given({"content": f"{NEW} Later."})))
    await run(with_memory(builder, tiers).compile(), door)
    assert [("tool:web" in roots(one)) for one in entries(tiers)[1:]] == [True, True]


@both_doors
async def test_steps_side_by_side_have_not_seen_each_other(door):
    tiers = memory()
    page = [AIMessage("", tool_calls=[{"name": "web", "args": {}, "id": "1"}])]
    page.append(ToolMessage("page", tool_call_id="1"))

    def reads(state):
        return {"messages": [*page, AIMessage(f"{NEW} Read.")]}

    builder = StateGraph(State, context_schema=Context)
    builder.add_node("reads", reads)
    builder.add_node("thinks", given({"messages": [AIMessage(f"{NEW} Thought.")]}))
    builder.add_node("joins", given({"messages": [AIMessage(f"{NEW} Joined.")]}))
    for name in ("reads", "thinks"):
        builder.add_edge(START, name)
        builder.add_edge(name, "joins")
    builder.add_edge("joins", END)
    await run(with_memory(builder, tiers).compile(), door)
    trusts = {one.content.split()[-1]: one.provenance.trust for one in entries(tiers)}
    assert trusts == {
        "Read.": Trust.UNTRUSTED,
        "Thought.": Trust.UNVERIFIED,
        "Joined.": Trust.UNTRUSTED,
    }


@both_doors
async def test_what_a_tool_node_says_comes_from_outside(door):
    tiers = memory()
    builder = line(("search", given({"content": LONG})), ("w", given({"content": NEW})))
    await run(with_memory(builder, tiers, roles={"search": "tool"}).compile(), door)
    search, after = entries(tiers)
    assert str(search.provenance.origin) == "tool:search"
    assert after.provenance.trust is Trust.UNTRUSTED


@both_doors
async def test_an_echo_of_an_earlier_turn_is_known_in_another_process(door, tmp_path):
    url = f"sqlite:///{tmp_path / 'm.db'}"
    with TieredMemory.open(url) as first:
        first.promote(LONG, "shop", by="ann")
        builder = line(("recall", MemoryRetrievalNode(first)), ("w", given({"content": NEW})))
        await run(with_memory(builder, first).compile(), door, {"topic": "orders"}, thread="t")
    with TieredMemory.open(url) as second:
        node = remember(given({"content": f"I recall: {LONG}"}), memory=second, role="agent")
        await run(line(("w", node)).compile(), door, thread="t")
        assert entries(second)[-1].refused == "echo"
        assert len(entries(second)[-1].echo_of) == 1


@both_doors
async def test_a_store_that_fails_leaves_a_lineage_that_is_not_trusted(door):
    tiers = memory()
    store = tiers.parts.stores.quarantine

    class Unread:
        def __getattr__(self, name):
            if name in ("find", "afind"):
                raise OSError("unreadable")
            return getattr(store, name)

    object.__setattr__(
        tiers.parts,
        "stores",
        type(tiers.parts.stores)(
            Unread(), tiers.parts.stores.working, tiers.parts.stores.long_term
        ),
    )
    await run(
        line(("w", remember(given({"content": NEW}), memory=tiers))).compile(), door, thread="t"
    )
    (entry,) = store.find(_all()).items
    assert entry.provenance.trust is Trust.UNTRUSTED
    shown = {"history_context": "1. Something", "memory_items": [{"id": "a" * 32}]}
    node = remember(given({"content": f"{NEW} More."}), memory=tiers)
    await run(line(("w", node)).compile(), door, shown, thread="t")
    assert len(store.find(_all()).items) == 2


def _all():
    from memoryware.tiers.stores.protocol import Select

    return Select.within(SHOP)


@both_doors
async def test_a_person_in_the_messages_is_a_root_and_the_state_alone_is_none(door):
    tiers = memory()
    graph = line(("w", remember(given({"content": NEW}), memory=tiers))).compile()
    await run(graph, door, {"messages": [HumanMessage("q")]})
    await run(graph, door, {"topic": "q"})
    assert [roots(one) for one in entries(tiers)] == [["agent:w", "user:ann"], ["agent:w"]]


@both_doors
async def test_a_run_without_a_thread_is_a_session_of_its_own(door):
    tiers = memory()
    builder = line(("a", given({"content": f"{NEW} a"})), ("b", given({"content": f"{NEW} b"})))
    graph = with_memory(builder, tiers).compile()
    await run(graph, door)
    await run(graph, door)
    sessions = [one.scope.session_id for one in entries(tiers)]
    assert sessions[0] == sessions[1] != sessions[2] == sessions[3]
    assert None not in sessions


async def test_only_so_much_is_kept_in_mind_and_the_roots_stay():
    from memoryware import TierLimits

    tiers = memory(limits=limited(TierLimits, thread_ids=3, runs=2))
    first = remember(given({"content": NEW}), memory=tiers, role="tool")
    await run(line(("search", first)).compile(), "invoke", thread="t")
    more = remember(given({"content": f"{NEW} More."}), memory=tiers)
    graph = line(("w", more)).compile()
    for _ in range(8):
        await run(graph, "invoke", thread="t")
    assert "tool:search" in roots(entries(tiers)[-1])
    for n in range(5):
        await run(graph, "invoke", thread=f"t{n}")
    kept = _conversations[tiers]
    assert len(kept._traces) == 2
    assert all(len(one) <= 3 for one in kept._traces.values())
    await run(graph, "invoke", thread="t")
    assert "tool:search" in roots(entries(tiers)[-1])


@pytest.mark.parametrize(
    ("first", "second", "beside"),
    [
        (("a:1", {"": "x"}), ("b:2", {"": "x"}), True),
        (("a:1", {"": "x"}), ("b:2", {"": "y"}), False),
        (("a:1", {"": "x"}), ("a:1", {"": "x"}), False),
        (("a:1", {"": "x"}), ("a:11", {"": "x"}), True),
        (("a:1|i:2", {"": "x", "a:1": "p"}), ("a:1", {"": "x"}), False),
        (("a:1|i:2", {"": "x", "a:1": "p"}), ("a:1|j:3", {"": "x", "a:1": "q"}), False),
        (("a:1|i:2", {"": "x", "a:1": "p"}), ("a:1|j:3", {"": "x", "a:1": "p"}), True),
        (("a:1|i:2", {"": "x", "a:1": "p"}), ("b:2|i:9", {"": "x", "b:2": "r"}), True),
        (("a:1|i:2", {"": "x", "a:1": "p"}), ("b:2", {"": "x"}), True),
        (("", {}), ("b:2", {"": "x"}), False),
    ],
)
def test_which_steps_run_side_by_side(first, second, beside):
    assert GraphStep(*first).is_beside(GraphStep(*second)) is beside
    assert GraphStep(*second).is_beside(GraphStep(*first)) is beside


@both_doors
async def test_two_groups_in_one_thread_do_not_share_what_they_have_seen(door):
    tiers = with_a_page()
    builder = line(("recall", MemoryRetrievalNode(tiers)), ("w", given({"content": NEW})))
    graph = with_memory(builder, tiers).compile()
    await run(graph, door, {"topic": "orders"}, thread="t")
    await run(graph, door, {"topic": "x"}, thread="t", context={**WHO, "group_id": "bakery"})
    (other,) = entries(tiers, "bakery")
    assert roots(other) == ["agent:w"]


@both_doors
async def test_our_own_tools_are_known_by_what_they_have_shown(door):
    tiers, where = memory(), {"group_id": "shop"}
    tiers.promote(LONG, "shop", by="ann")
    agent = create_agent(
        ScriptedModel(call("recall", query="orders"), say(NEW)),
        middleware=[TieredMemoryMiddleware(tiers, retrieve=None)],
        context_schema=Context,
    )
    builder = line(("agent", agent), ("editor", given({"content": f"{NEW} Edited."})))
    graph = with_memory(builder, tiers).compile()
    done = await run(graph, door, {"messages": [HumanMessage("q")]}, context=where)
    assert [one.provenance.trust for one in entries(tiers)] == [Trust.UNVERIFIED] * 2
    assert all("person:ann" in roots(one) for one in entries(tiers))

    elsewhere = remember(given({"content": f"{NEW} Elsewhere."}), memory=tiers)
    _conversations.clear()
    await run(line(("w", elsewhere)).compile(), door, {"messages": done["messages"]}, thread="t")
    assert "person:ann" in roots(entries(tiers)[-1])
    assert entries(tiers)[-1].provenance.trust is Trust.UNVERIFIED

    strange = ToolMessage(
        "page", tool_call_id="1", name="web", artifact={"memoryware_recalled": []}
    )
    again = remember(given({"content": f"{NEW} Again."}), memory=tiers)
    await run(line(("w", again)).compile(), door, {"messages": [strange]}, thread="t")
    assert "tool:web" in roots(entries(tiers)[-1])

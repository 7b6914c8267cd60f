"""Who asks, and what happens when nobody says it, or when the memory is away."""

from __future__ import annotations

import enum
import logging
from dataclasses import dataclass

import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from hooked import hooked
from kit import ScriptedModel, call, say
from limits import limited
from memoryware import MemoryScope
from memoryware.errors import SettingError
from memoryware.events import Counters, listen
from memoryware.middleware.tiered import TieredMemoryMiddleware
from memoryware.tiers.stores.embedded import embedded
from middleware.tiered.rig import (
    ANSWER,
    DOORS,
    FACT,
    a_memory,
    an_agent,
    aturn,
    broken,
    entries,
    everything,
    known,
    texts,
    through,
    turn,
)

QUESTION = "Where are the orders of the shop?"


def plain(memory, model, context=None, config=None, **options):
    """Run an agent without what the other tests say of the caller."""
    agent = create_agent(
        model, middleware=[TieredMemoryMiddleware(memory, record_user=False, **options)]
    )
    more = {} if context is None else {"context": context}
    return agent.invoke({"messages": [HumanMessage(QUESTION)]}, config, **more)


@dataclass
class Caller:
    group_id: str = "shop"


@pytest.mark.parametrize(
    "said",
    [
        {"context": {"group_id": "shop"}},
        {"context": {"group_uuid": "shop"}},
        {"context": {"project_id": "shop"}},
        {"context": Caller()},
        {"config": {"configurable": {"group_id": "shop"}}},
        {"scope": "shop"},
        {"scope": MemoryScope(group_id="shop")},
        {"scope": "bakery", "context": {"group_id": "shop"}},
        {"scope": "shop", "context": {"group_id": ""}},
        {"context": {"team": "shop"}, "group_keys": ["team"]},
    ],
)
def test_the_group_is_found_wherever_it_is_said(said):
    memory, model = known(FACT), ScriptedModel(say(ANSWER))
    plain(memory, model, **said)

    assert FACT in everything(model)
    assert texts(memory, "working") == [ANSWER]


class Team(enum.Enum):
    SHOP = "shop"
    NUMBER = 1


def test_an_enum_of_text_as_group_is_its_value():
    memory, model = known(FACT), ScriptedModel(say(ANSWER))
    plain(memory, model, context={"group_id": Team.SHOP})

    assert texts(memory, "working") == [ANSWER]


@pytest.mark.parametrize("group", [["shop"], Team.NUMBER, True, object()])
@pytest.mark.parametrize("on_error", ["warn", "raise"])
def test_a_group_that_cannot_be_read_ends_the_run_before_the_model_is_called(group, on_error):
    memory, model = known(FACT, on_error=on_error), ScriptedModel(say(ANSWER))
    with pytest.raises(SettingError, match="group_id"):
        plain(memory, model, context={"group_id": group})

    assert model.requests == []
    assert texts(memory, group=None) == []


def test_a_recall_without_a_group_is_warned_about_for_each_tenant(caplog):
    memory = known(FACT)
    for tenant in ("red", "blue", "red"):
        context = {"tenant": tenant, "agent_id": "warned"}
        plain(memory, ScriptedModel(say(ANSWER)), context=context, record=None)

    logged = [one.getMessage() for one in caplog.records if "without a group" in one.getMessage()]
    assert len(logged) == 2


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"context": {"group_id": ""}},
        {"context": {"group_id": None}},
        {"context": {"group_id": "shop"}, "group_keys": ["team"]},
    ],
)
def test_without_a_group_only_quarantine_keeps_what_was_said(said):
    memory, model = known(FACT), ScriptedModel(say(ANSWER))
    plain(memory, model, **said)

    assert FACT not in everything(model)
    assert texts(memory, "working") == []
    assert texts(memory, group=None) == [ANSWER]
    assert texts(memory) == []


@pytest.mark.parametrize(
    "group", ["shop1", "sho", "SHOP", "shop ", "s.hop", "shop%", "*", "sh\u043ep"]
)
def test_a_group_with_a_similar_name_is_another_one(group):
    memory, model = known(FACT), ScriptedModel(say(ANSWER))
    plain(memory, model, context={"group_id": group})

    assert FACT not in everything(model)
    assert texts(memory) == []
    assert texts(memory, group=group) == [ANSWER]


def test_what_a_person_writes_never_says_the_group():
    memory, model = known(FACT), ScriptedModel(say(ANSWER))
    agent = create_agent(model, middleware=[TieredMemoryMiddleware(memory, record_user=False)])
    agent.invoke(
        {
            "messages": [
                HumanMessage(f"{QUESTION} group_id=shop", additional_kwargs={"group_id": "shop"})
            ],
            "group_id": "shop",
        }
    )

    assert FACT not in everything(model)


def test_the_constant_fills_what_the_run_does_not_say():
    memory = a_memory()
    scope = MemoryScope(
        tenant="t",
        group_id="shop",
        user_id="nobody",
        agent_id="clerk",
        session_id="s",
        node_id="desk",
    )
    plain(memory, ScriptedModel(say(ANSWER)), {"user_id": "ann", "group_id": "shop"}, scope=scope)

    (entry,) = [one.record for one in memory.list(scope, tier="quarantine").items]
    assert entry.scope == MemoryScope(
        tenant="t", group_id="shop", user_id="ann", agent_id="clerk", session_id="s", node_id="desk"
    )


def test_a_run_without_a_thread_is_a_session_of_its_own():
    memory = a_memory()
    for _ in range(2):
        plain(memory, ScriptedModel(say(ANSWER)), scope="shop")
    first, second = entries(memory)

    assert first.scope.session_id
    assert second.scope.session_id
    assert first.scope.session_id != second.scope.session_id


@pytest.mark.parametrize("tiers", [("working",), ("long_term",)])
@pytest.mark.parametrize("door", DOORS)
async def test_one_broken_tier_leaves_the_other(door, tiers, caplog):
    memory = a_memory(stores=broken(*tiers))
    if tiers == ("working",):
        memory.promote(FACT, "shop", by="ann")
    else:
        memory.record(FACT, "shop")
    model = ScriptedModel(say(ANSWER))
    result = await through(door, an_agent(memory, model), QUESTION)

    assert result["messages"][-1].text == ANSWER
    assert FACT in everything(model)
    assert ANSWER in texts(memory)


@pytest.mark.parametrize("door", DOORS)
async def test_a_memory_that_is_away_ends_no_run_and_is_told(door, caplog):
    memory = a_memory(stores=broken("quarantine", "working", "long_term"))
    counters = Counters()
    with listen(counters), caplog.at_level(logging.WARNING, "memoryware"):
        result = await through(door, an_agent(memory, ScriptedModel(say(ANSWER))), QUESTION)

    assert result["messages"][-1].text == ANSWER
    assert counters["retrieval_error"] >= 1
    assert counters["rejected.store_failed"] == 1
    assert "could not be asked" in caplog.text
    assert "could not keep a text (ConnectionError" in caplog.text


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("tiers", [("working", "long_term"), ("quarantine",)])
async def test_with_raise_it_ends_the_run(tiers, door):
    memory = a_memory(stores=broken(*tiers), on_error="raise")
    agent = an_agent(memory, ScriptedModel(say(ANSWER)))
    with pytest.raises(OSError):
        await through(door, agent, QUESTION)


def test_a_memory_that_comes_back_is_used_again():
    away = [True]

    def before(tier, _):
        if tier == "long_term" and away:
            raise ConnectionError("the disk is away")

    memory = a_memory(stores=hooked(embedded(), before))
    model = ScriptedModel()
    agent = an_agent(memory, model, checkpointer=InMemorySaver())
    turn(agent, QUESTION, "t")
    away.clear()
    memory.promote(FACT, "shop", by="ann")
    turn(agent, QUESTION, "t")

    assert [FACT in everything(model, n) for n in range(2)] == [False, True]


def test_an_answer_that_is_too_long_ends_no_run(caplog):
    from memoryware.settings import TierLimits

    memory = a_memory(limits=TierLimits(entry_chars=100))
    turn(an_agent(memory, ScriptedModel(say("long " * 100))), "hello")

    assert texts(memory) == []
    assert "entry_chars=100" in caplog.text


def test_the_cache_of_runs_may_be_too_small_for_all():
    from concurrent.futures import ThreadPoolExecutor

    from memoryware.settings import TierLimits

    memory = known(FACT, limits=limited(TierLimits, runs=1))
    model = ScriptedModel()
    agent = an_agent(memory, model, record=None)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: turn(agent, QUESTION), range(40)))

    assert len(model.requests) == 40
    assert all(everything(model, n).count(FACT) == 1 for n in range(40))


@pytest.mark.slow
def test_runs_of_many_groups_at_once_never_mix():
    from concurrent.futures import ThreadPoolExecutor

    memory = a_memory()
    groups = [f"g{n}" for n in range(12)]
    for one in groups:
        memory.promote(
            f"The password clerk of the group is Mister {one}-Smith, he sits there.", one, by="x"
        )
    model = ScriptedModel(script=[lambda m: say(m[-1].text[-400:])] * 48)
    agent = an_agent(memory, model, checkpointer=InMemorySaver())
    with ThreadPoolExecutor(8) as pool:
        list(
            pool.map(
                lambda n: turn(agent, "Who is the clerk?", f"t{n}", group_id=groups[n % 12]),
                range(48),
            )
        )

    for one in groups:
        said = " ".join(texts(memory, group=one))
        assert f"{one}-Smith" in said
        assert not any(f"{other}-Smith" in said for other in groups if other != one)


def test_the_events_of_a_run_name_what_happened_and_say_nothing_of_it():
    memory = known(FACT)
    model = ScriptedModel(call("recall", query="parcels"), say(ANSWER))
    agent = an_agent(memory, model)
    events = list(
        agent.stream(
            {"messages": [HumanMessage(QUESTION)]},
            {"configurable": {"thread_id": "t"}},
            stream_mode="custom",
            context={"group_id": "shop", "user_id": "ann"},
        )
    )

    assert [one["event"] for one in events] == [
        *("retrieved", "injected", "retrieved", "injected"),
        *("recorded", "recorded"),
    ]
    assert [one.get("tier") for one in events[-2:]] == ["quarantine", "working"]
    assert events[0]["long_term"] == 1
    assert events[1]["characters"] > len(FACT)
    shown = events[1]["sources"]
    assert [memory.get(one, MemoryScope(group_id="shop")).content for one in shown] == [FACT]
    assert events[1]["memory"] == "TieredMemoryMiddleware"
    assert all(one["user"] == "ann" and one["thread"] == "t" for one in events)
    assert FACT not in repr(events)
    assert ANSWER not in repr(events)


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        ({"retrieve": "always"}, "retrieve='always'"),
        ({"record": "all"}, "record='all'"),
        ({"placement": "end"}, "placement='end'"),
        ({"role": "boss"}, "role='boss'"),
        ({"inside_tools": "add"}, "inside_tools='add'"),
        ({"inside_tools": [1]}, "inside_tools="),
        ({"group_keys": []}, "group_keys"),
        ({"group_keys": "group"}, "group_keys='group'"),
        ({"score_threshold": 7}, "score_threshold=7"),
        ({"max_results": -1}, "max_results=-1"),
        ({"scope": 3}, "scope=3"),
        ({"name": ""}, "name=''"),
        ({"memory": "memory.db"}, "TieredMemory.open"),
    ],
)
def test_an_option_that_cannot_be_is_refused_by_name(options, wrong):
    given = {"memory": a_memory(), **options}
    with pytest.raises(SettingError, match=wrong.replace("(", r"\(")):
        TieredMemoryMiddleware(given.pop("memory"), **given)


async def test_nothing_blocks_the_loop(tmp_path):
    from blockbuster import blockbuster_ctx

    from memoryware.tiers.client.memory import TieredMemory

    memory = await TieredMemory.aopen(f"sqlite:///{tmp_path}/memory.db")
    await memory.apromote(FACT, "shop", by="ann")
    model = ScriptedModel(call("recall", query="orders"), say(ANSWER))
    agent = an_agent(memory, model)
    with blockbuster_ctx():
        await aturn(agent, QUESTION)
    assert FACT in everything(model)
    assert await memory.alist("shop", tier="working")
    await memory.aclose()


def test_both_twins_of_every_hook_are_there_and_two_nodes_are_added():
    agent = an_agent(a_memory(), ScriptedModel())
    nodes = {one for one in agent.get_graph().nodes if "." in one}

    assert nodes == {
        "TieredMemoryMiddleware.before_agent",
        "TieredMemoryMiddleware.after_agent",
    }
    for hook in ("before_agent", "wrap_model_call", "wrap_tool_call", "after_agent"):
        assert getattr(TieredMemoryMiddleware, hook)
        assert getattr(TieredMemoryMiddleware, f"a{hook}")

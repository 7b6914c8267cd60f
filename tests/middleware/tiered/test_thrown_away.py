"""Answers that were regenerated, removed or edited are taken back; others stay."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from langchain.agents.middleware import AgentMiddleware, SummarizationMiddleware
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from kit import ScriptedModel, call, say
from memoryware import MemoryScope, TieredMemory
from middleware.tiered.rig import (
    DOORS,
    GO_ON,
    SHOP,
    a_memory,
    an_agent,
    approved,
    aturn,
    entries,
    texts,
    through,
    turn,
)

WRONG = "The refund of order 7 is 900 euro and is paid to the account of the supplier on Monday."
RIGHT = "The refund of order 7 is 90 euro and is paid to the account of the customer on Monday."
OTHER = "Every parcel is weighed twice before it leaves the warehouse in Rotterdam harbour."
QUESTION = "What is the refund of order 7?"
CONFIG = {"configurable": {"thread_id": "t"}}
WHO = {"context": {"group_id": "shop"}}


def recalled(memory):
    return [one.content for one in memory.retrieve(QUESTION, SHOP)]


def waiting(memory):
    return [one.content for one in entries(memory) if one.status in ("pending", "proposed")]


def entry_of(memory, text):
    (found,) = [one for one in entries(memory) if one.content == text]
    return found


def before_model(agent, config=CONFIG, skip=0):
    """The newest checkpoint that the model was called from, or one further back."""
    found = [one for one in agent.get_state_history(config) if "model" in str(one.next)]
    return found[skip]


async def resumed(agent, door, given, config):
    """Go on with a thread through a door."""
    if door is turn:
        return agent.invoke(given, config, **WHO)
    return await agent.ainvoke(given, config, **WHO)


@pytest.mark.parametrize("door", DOORS)
async def test_an_answer_that_was_regenerated_is_taken_back_with_a_receipt(door, tmp_path):
    memory = a_memory(journal=tmp_path / "journal.db")
    agent = an_agent(memory, ScriptedModel(say(WRONG), say(RIGHT)), checkpointer=InMemorySaver())
    await through(door, agent, QUESTION, "t")
    assert recalled(memory) == [WRONG]
    await resumed(agent, door, None, before_model(agent).config)

    assert recalled(memory) == [RIGHT]
    assert waiting(memory) == [RIGHT]
    wrong = entry_of(memory, WRONG)
    assert (wrong.status, wrong.refused, wrong.metadata["discarded"]) == (
        "revoked",
        "discarded",
        {"reason": "regenerated", "receipt": wrong.revocation},
    )
    (act,) = [one for one in memory.audit(SHOP).acts if one.kind == "revoked"]
    assert "went on from a checkpoint before" in act.detail
    assert act.receipt == wrong.revocation


def test_the_run_that_replaces_an_answer_does_not_recall_it():
    memory, model = a_memory(), ScriptedModel(say(WRONG), say(RIGHT))
    agent = an_agent(memory, model, checkpointer=InMemorySaver())
    turn(agent, QUESTION, "t")
    first = list(agent.get_state_history(CONFIG))[-1]
    agent.invoke(None, first.config, **WHO)

    assert WRONG not in str(model.requests[-1])
    assert recalled(memory) == [RIGHT]


async def test_another_process_takes_back_with_sqlite(tmp_path):
    url = f"sqlite:///{tmp_path}/memory.db"
    async with AsyncSqliteSaver.from_conn_string(f"{tmp_path}/threads.db") as saver:
        with TieredMemory.open(url) as memory:
            agent = an_agent(memory, ScriptedModel(say(WRONG)), checkpointer=saver)
            await aturn(agent, QUESTION, "t")
    async with AsyncSqliteSaver.from_conn_string(f"{tmp_path}/threads.db") as saver:
        with TieredMemory.open(url) as memory:
            agent = an_agent(memory, ScriptedModel(say(RIGHT)), checkpointer=saver)
            history = [one async for one in agent.aget_state_history(CONFIG)]
            (point,) = [one for one in history if "model" in str(one.next)]
            await agent.ainvoke(None, point.config, **WHO)
            assert recalled(memory) == waiting(memory) == [RIGHT]


def test_a_streamed_run_takes_back_as_well(tmp_path):
    with SqliteSaver.from_conn_string(f"{tmp_path}/threads.db") as saver:
        memory = a_memory()
        agent = an_agent(memory, ScriptedModel(say(WRONG), say(RIGHT)), checkpointer=saver)
        turn(agent, QUESTION, "t")
        for _ in agent.stream(None, before_model(agent).config, stream_mode="messages", **WHO):
            pass
        assert recalled(memory) == [RIGHT]


@pytest.mark.parametrize("how", ["update", "all", "input"])
@pytest.mark.parametrize("door", DOORS)
async def test_an_answer_whose_message_was_removed_is_taken_back_by_the_next_run(how, door):
    memory = a_memory()
    agent = an_agent(memory, ScriptedModel(say(WRONG), say(OTHER)), checkpointer=InMemorySaver())
    result = await through(door, agent, QUESTION, "t")
    gone = [RemoveMessage(id=REMOVE_ALL_MESSAGES if how == "all" else result["messages"][-1].id)]
    if how == "input":
        await through(door, agent, [*gone, HumanMessage("And the parcels?")], "t")
    else:
        agent.update_state(CONFIG, {"messages": gone})
        await through(door, agent, "And the parcels?", "t")

    assert WRONG not in recalled(memory)
    assert waiting(memory) == [OTHER]
    assert entry_of(memory, WRONG).metadata["discarded"]["reason"] == "removed"


def test_an_earlier_answer_that_was_removed_while_its_question_stays_is_taken_back():
    memory = a_memory()
    script = ScriptedModel(say(WRONG), say(OTHER), say(RIGHT))
    agent = an_agent(memory, script, checkpointer=InMemorySaver())
    result = turn(agent, QUESTION, "t")
    turn(agent, "And the parcels?", "t")
    agent.update_state(CONFIG, {"messages": [RemoveMessage(id=result["messages"][-1].id)]})
    turn(agent, "Once more?", "t")

    assert waiting(memory) == [OTHER, RIGHT]


def test_an_answer_that_somebody_edited_is_taken_back():
    memory = a_memory()
    agent = an_agent(memory, ScriptedModel(say(WRONG), say(OTHER)), checkpointer=InMemorySaver())
    result = turn(agent, QUESTION, "t")
    edited = AIMessage("It is 90 euro.", id=result["messages"][-1].id)
    agent.update_state(CONFIG, {"messages": [edited]})
    turn(agent, "And the parcels?", "t")

    assert waiting(memory) == [OTHER]
    assert entry_of(memory, WRONG).metadata["discarded"]["reason"] == "edited"


def test_an_edited_question_takes_the_old_answer_back():
    memory = a_memory()
    agent = an_agent(memory, ScriptedModel(say(WRONG), say(RIGHT)), checkpointer=InMemorySaver())
    turn(agent, "What is the refund?", "t")
    point = before_model(agent)
    question = point.values["messages"][-1]
    changed = agent.update_state(
        point.config, {"messages": [HumanMessage(QUESTION, id=question.id)]}
    )
    agent.invoke(None, changed, **WHO)

    assert waiting(memory) == [RIGHT]


def test_what_was_promoted_or_proposed_by_a_person_stays():
    memory = a_memory()
    script = ScriptedModel(say(WRONG), say(RIGHT), say(OTHER))
    agent = an_agent(memory, script, checkpointer=InMemorySaver())
    turn(agent, QUESTION, "t")
    memory.promote(entry_of(memory, WRONG), by="ann")
    agent.invoke(None, before_model(agent).config, **WHO)
    memory.propose(entry_of(memory, RIGHT), by="ann")
    memory.propose(entry_of(memory, RIGHT), by="agent:helper")
    agent.invoke(None, before_model(agent).config, **WHO)

    assert entry_of(memory, WRONG).status == "promoted"
    assert entry_of(memory, RIGHT).status == "proposed"
    assert WRONG in recalled(memory)


def test_going_back_to_a_branch_gives_its_answer_back():
    memory = a_memory()
    script = ScriptedModel(say(WRONG), say(RIGHT), say(OTHER), say("Yes, that is what I said."))
    agent = an_agent(memory, script, checkpointer=InMemorySaver())
    turn(agent, QUESTION, "t")
    tip = agent.get_state(CONFIG).config
    agent.invoke(None, before_model(agent).config, **WHO)
    assert waiting(memory) == [RIGHT]
    agent.invoke({"messages": [HumanMessage("And the parcels?")]}, tip, **WHO)

    assert WRONG in waiting(memory)
    assert RIGHT not in waiting(memory)
    assert entry_of(memory, WRONG).refused is None
    assert "discarded" not in entry_of(memory, WRONG).metadata
    assert WRONG in recalled(memory)
    assert RIGHT not in recalled(memory)


@pytest.mark.parametrize("durability", ["sync", "async"])
def test_an_old_answer_is_taken_back_however_checkpoints_are_written(durability):
    memory, more = a_memory(), {**WHO, "durability": durability}
    script = ScriptedModel(say(OTHER), say(WRONG), say(RIGHT))
    agent = an_agent(memory, script, checkpointer=InMemorySaver())
    agent.invoke({"messages": [HumanMessage("And the parcels?")]}, CONFIG, **more)
    before = agent.get_state(CONFIG).config
    agent.invoke({"messages": [HumanMessage(QUESTION)]}, CONFIG, **more)
    agent.invoke({"messages": [HumanMessage(QUESTION)]}, before, **more)

    assert waiting(memory) == [OTHER, RIGHT]


def test_a_branch_that_nobody_goes_on_with_takes_nothing_back():
    memory = a_memory()
    agent = an_agent(memory, ScriptedModel(say(RIGHT), say(OTHER)), checkpointer=InMemorySaver())
    turn(agent, QUESTION, "t")
    tip = agent.get_state(CONFIG).config
    agent.update_state(before_model(agent).config, {"messages": [HumanMessage("Hm.")]})
    agent.invoke({"messages": [HumanMessage("And the parcels?")]}, tip, **WHO)

    assert waiting(memory) == [RIGHT, OTHER]


# What looks like it and is none.


def test_a_linear_thread_and_other_threads_keep_everything():
    memory = a_memory()
    script = ScriptedModel(say(RIGHT), say(OTHER), say(WRONG))
    agent = an_agent(memory, script, checkpointer=InMemorySaver())
    turn(agent, QUESTION, "t")
    turn(agent, "And the parcels?", "t")
    turn(agent, QUESTION, "another")

    assert waiting(memory) == [RIGHT, OTHER, WRONG]


def test_a_thread_id_that_is_used_again_after_a_restart_takes_nothing_back():
    memory = a_memory()
    turn(an_agent(memory, ScriptedModel(say(RIGHT)), checkpointer=InMemorySaver()), QUESTION, "t")
    second = an_agent(memory, ScriptedModel(say(OTHER)), checkpointer=InMemorySaver())
    turn(second, "And the parcels?", "t")
    turn(second, "And the weather?", "t")

    assert waiting(memory)[:2] == [RIGHT, OTHER]


def test_without_a_checkpointer_nothing_is_taken_back():
    memory = a_memory()
    agent = an_agent(memory, ScriptedModel(say(RIGHT), say(OTHER)))
    turn(agent, QUESTION, "t")
    turn(agent, "And the parcels?", "t")

    assert waiting(memory) == [RIGHT, OTHER]


def test_an_answer_that_another_middleware_adds_to_stays():
    class Footer(AgentMiddleware):
        def after_agent(self, state, runtime):
            last = state["messages"][-1]
            longer = f"{last.text}\n\nWas this helpful?"
            return {"messages": [last.model_copy(update={"content": longer})]}

    memory = a_memory()
    agent = an_agent(
        memory,
        ScriptedModel(say(RIGHT), say(OTHER)),
        before=[Footer()],
        checkpointer=InMemorySaver(),
    )
    turn(agent, QUESTION, "t")
    turn(agent, "And the parcels?", "t")
    assert agent.get_state(CONFIG).values["messages"][1].text.endswith("helpful?")

    assert waiting(memory) == [RIGHT, OTHER]


def test_a_history_that_a_client_writes_anew_keeps_its_answers():
    memory = a_memory()
    agent = an_agent(memory, ScriptedModel(say(RIGHT), say(OTHER)), checkpointer=InMemorySaver())
    turn(agent, QUESTION, "t")
    anew = [RemoveMessage(REMOVE_ALL_MESSAGES), HumanMessage(QUESTION), AIMessage(RIGHT)]
    agent.update_state(CONFIG, {"messages": anew})
    turn(agent, "And the parcels?", "t")

    assert waiting(memory) == [RIGHT, OTHER]


def test_what_was_summed_up_stays():
    memory = a_memory()
    lines = [
        f"The parcel number {n} weighs {n * 7} kilograms and lies in shelf {n}." for n in range(9)
    ]
    summing = SummarizationMiddleware(
        ScriptedModel(*[say("They talked.")] * 9), trigger=("messages", 4), keep=("messages", 2)
    )
    agent = an_agent(
        memory, ScriptedModel(*map(say, lines)), after=[summing], checkpointer=InMemorySaver()
    )
    for number in range(9):
        turn(agent, f"And parcel {number}?", "t")

    assert waiting(memory) == lines


class KeepsFirstAndLast(AgentMiddleware):
    """Trims the messages as a person would write it: the first one, and the newest three."""

    def before_model(self, state, runtime):
        messages = state["messages"]
        if len(messages) <= 4:
            return None
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), messages[0], *messages[-3:]]}


def test_what_was_trimmed_by_the_run_or_by_hand_stays():
    memory = a_memory()
    lines = [
        f"The parcel number {n} weighs {n * 7} kilograms and lies in shelf {n}." for n in range(6)
    ]
    agent = an_agent(
        memory,
        ScriptedModel(*map(say, lines)),
        after=[KeepsFirstAndLast()],
        checkpointer=InMemorySaver(),
    )
    for number in range(5):
        turn(agent, f"And parcel {number}?", "t")
    messages = agent.get_state(CONFIG).values["messages"]
    agent.update_state(CONFIG, {"messages": [RemoveMessage(one.id) for one in messages[:2]]})
    turn(agent, "And the last one?", "t")

    assert waiting(memory) == lines


def test_a_run_that_waits_and_is_resumed_takes_nothing_back():
    memory, saver = a_memory(), InMemorySaver()
    agent, _ = approved(memory, saver, say(RIGHT), call("deploy", target="x"), say(OTHER))
    turn(agent, QUESTION, "t")
    turn(agent, "Deploy.", "t")
    agent.invoke(GO_ON, CONFIG, **WHO)

    assert waiting(memory) == [RIGHT, OTHER]


def test_an_agent_in_a_graph_takes_back_what_the_graph_around_does_again():
    memory, saver = a_memory(), InMemorySaver()
    agent = an_agent(memory, ScriptedModel(say(OTHER), say(WRONG), say(RIGHT)), name="clerk")
    graph = StateGraph(MessagesState, context_schema=dict)
    graph.add_node("clerk", agent)
    graph.add_edge(START, "clerk")
    app = graph.compile(checkpointer=saver)
    turn(app, "And the parcels?", "t")
    turn(app, QUESTION, "t")
    point = next(one for one in app.get_state_history(CONFIG) if "clerk" in one.next)
    app.invoke(None, point.config, **WHO)

    assert waiting(memory) == [OTHER, RIGHT]


def test_an_agent_with_messages_of_its_own_inside_a_node_takes_nothing_back():
    memory, saver = a_memory(), InMemorySaver()
    agent = an_agent(memory, ScriptedModel(say(OTHER), say(RIGHT)), name="clerk")

    def asks(state):
        result = agent.invoke({"messages": [state["messages"][-1]]}, **WHO)
        return {"messages": [AIMessage(f"He said something of {len(result['messages'])} lines.")]}

    graph = StateGraph(MessagesState, context_schema=dict)
    graph.add_node("asks", asks)
    graph.add_edge(START, "asks")
    app = graph.compile(checkpointer=saver)
    turn(app, "And the parcels?", "t")
    turn(app, QUESTION, "t")

    assert waiting(memory) == [OTHER, RIGHT]


def test_other_groups_of_the_same_thread_id_are_left_alone():
    memory, saver = a_memory(), InMemorySaver()
    agent = an_agent(memory, ScriptedModel(say(OTHER), say(WRONG), say(RIGHT)), checkpointer=saver)
    turn(agent, "And the parcels?", "t", group_id="bakery")
    turn(agent, QUESTION, "t")
    agent.invoke(None, before_model(agent).config, **WHO)

    assert waiting(memory) == [RIGHT]
    assert texts(memory, group="bakery") == [OTHER]
    bakery = memory.list(MemoryScope(group_id="bakery"), tier="quarantine").items
    assert [one.record.status for one in bakery] == ["pending"]


@pytest.mark.parametrize("door", DOORS)
async def test_a_checkpoint_that_is_written_late_is_waited_for(door):
    class Slow(InMemorySaver):
        def put(self, *args):
            time.sleep(0.05)
            return super().put(*args)

        async def aput(self, *args):
            await asyncio.sleep(0.05)
            return super().put(*args)

    memory = a_memory()
    agent = an_agent(memory, ScriptedModel(say(WRONG), say(OTHER)), checkpointer=Slow())
    result = await through(door, agent, QUESTION, "t")
    gone = RemoveMessage(id=result["messages"][-1].id)
    await through(door, agent, [gone, HumanMessage("And the parcels?")], "t")

    assert waiting(memory) == [OTHER]


class Counting(InMemorySaver):
    """A checkpointer that counts what it is asked for, and may give nothing back."""

    reads, is_blind = 0, False

    def get_tuple(self, config):
        if not config["configurable"].get("checkpoint_id"):  # LangGraph asks for the newest
            return super().get_tuple(config)
        self.reads += 1
        return None if self.is_blind else super().get_tuple(config)

    def reads_of_turn(self, agent, thread):
        """Let somebody say something; return how many checkpoints were read."""
        before = self.reads
        config = {"configurable": {"thread_id": thread}}
        agent.invoke({"messages": [HumanMessage(QUESTION)]}, config, durability="sync", **WHO)
        return self.reads - before


@pytest.fixture
def pauses(monkeypatch):
    """The seconds that something has slept, without waiting for them."""
    seconds = []
    monkeypatch.setattr(time, "sleep", seconds.append)
    return seconds


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("thread", [5, 284719203847561234, UUID(int=7)])
async def test_what_was_thrown_away_in_a_thread_whose_id_is_no_text_is_taken_back(door, thread):
    memory = a_memory()
    agent = an_agent(memory, ScriptedModel(say(WRONG), say(RIGHT)), checkpointer=InMemorySaver())
    result = await through(door, agent, QUESTION, thread)
    gone = RemoveMessage(id=result["messages"][-1].id)
    await through(door, agent, [gone, HumanMessage(QUESTION)], thread)

    assert waiting(memory) == [RIGHT]


@pytest.mark.parametrize("thread", ["t", 284719203847561234])
def test_a_thread_of_an_earlier_process_is_read_without_waiting(thread, pauses):
    memory = a_memory()
    lines = [f"The parcel number {n} weighs {n * 7} kilograms." for n in range(9)]
    script = ScriptedModel(*map(say, lines))
    agent = an_agent(memory, script, record_user=True, checkpointer=Counting())
    for text in lines[:4]:
        agent.invoke(
            {"messages": [HumanMessage(f"{text} Remember it.")]},
            {"configurable": {"thread_id": thread}},
            durability="sync",
            **WHO,
        )
    again = Counting()
    agent = an_agent(memory, script, record_user=True, checkpointer=again)
    counts = [again.reads_of_turn(agent, thread) for _ in range(4)]

    # First the two checkpoints of the run, and once each one of the four turns before and that of
    # their answers. Later what lies between this run and the one before.
    assert counts[0] <= 2 + 8
    assert max(counts[1:]) <= 6
    assert pauses == []
    assert {*lines[:8]} <= {*waiting(memory)}


def test_a_checkpointer_that_gives_nothing_back_is_waited_for_once_in_a_while(pauses):
    now = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)
    memory = a_memory(clock=lambda: now)
    script = ScriptedModel(*(say(f"The parcel number {n} weighs {n * 7} kg.") for n in range(9)))
    saver = Counting()
    saver.reads_of_turn(an_agent(memory, script, checkpointer=saver), "t")
    other = Counting()
    other.is_blind = True
    agent = an_agent(memory, script, checkpointer=other)

    counts = [other.reads_of_turn(agent, "t") for _ in range(3)]
    # A run looks twice, before the agent and before the model, if the first look saw nothing.
    assert counts == [8 + 3, 3 + 3, 3 + 3]
    assert sum(pauses) == pytest.approx(1.27 + 5 * 0.03)
    now += timedelta(minutes=11)
    assert other.reads_of_turn(agent, "t") == 8 + 3
    other.is_blind = False
    other.reads_of_turn(agent, "t")
    other.is_blind = True
    assert other.reads_of_turn(agent, "t") == 8 + 3


def test_a_failing_checkpointer_ends_no_run(caplog):
    class Forgetful(InMemorySaver):
        def get_tuple(self, config):
            if config["configurable"].get("checkpoint_id") and self.broken:
                raise ConnectionError("the disk is away")
            return super().get_tuple(config)

    saver = Forgetful()
    saver.broken = False
    memory = a_memory()
    agent = an_agent(memory, ScriptedModel(say(RIGHT), say(OTHER)), checkpointer=saver)
    result = turn(agent, QUESTION, "t")
    agent.update_state(CONFIG, {"messages": [RemoveMessage(id=result["messages"][-1].id)]})
    saver.broken = True
    turn(agent, "And the parcels?", "t")

    assert waiting(memory) == [RIGHT, OTHER]
    assert "thrown-away answers were not looked for" in caplog.text

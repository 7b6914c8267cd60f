"""What was recalled is for the model call alone, also over an interrupt."""

from __future__ import annotations

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from kit import call, say
from memoryware.middleware import redact_memory
from middleware.tiered.rig import (
    ANSWER,
    FACT,
    GO_ON,
    MODES,
    NEWER,
    SECRET,
    a_memory,
    approved,
    entries,
    everything,
    known,
    secret_free,
    texts,
    told,
    turn,
)

QUESTION = "What is the salary band?"


@pytest.mark.parametrize("placement", ["message", "system"])
@pytest.mark.parametrize("resumed_by", ["the same instance", "a new instance"])
@pytest.mark.parametrize("mode", MODES)
def test_no_stream_mode_carries_what_was_recalled(mode, resumed_by, placement):
    memory, saver = known(SECRET), InMemorySaver()
    agent, first = approved(memory, saver, call("deploy", target="x"), placement=placement)
    given, config, more = told(QUESTION, "t")
    chunks = list(agent.stream(given, config, stream_mode=mode, subgraphs=True, **more))
    assert SECRET in everything(first)
    memory.supersede(memory.retrieve(QUESTION, "shop")[0], NEWER, "shop", by="ann")
    model = first
    if resumed_by == "a new instance":
        agent, model = approved(memory, saver, say(ANSWER), placement=placement)
    else:
        first.script.append(say(ANSWER))
    chunks += list(agent.stream(GO_ON, config, stream_mode=mode, subgraphs=True, **more))

    assert chunks
    assert secret_free(chunks)
    assert NEWER in everything(model), "a resume recalls anew"
    assert SECRET not in everything(model)
    assert secret_free(agent.get_state(config))
    assert secret_free(list(agent.get_state_history(config)))
    assert texts(memory) == [ANSWER]


@pytest.mark.parametrize("mode", MODES)
async def test_no_async_stream_mode_carries_what_was_recalled(mode):
    memory, saver = known(SECRET), InMemorySaver()
    agent, first = approved(memory, saver, call("deploy", target="x"))
    given, config, more = told(QUESTION, "t")
    chunks = [c async for c in agent.astream(given, config, stream_mode=mode, **more)]
    agent, model = approved(memory, saver, say(ANSWER))
    chunks += [c async for c in agent.astream(GO_ON, config, stream_mode=mode, **more)]

    assert secret_free(chunks)
    assert SECRET in everything(first)
    assert SECRET in everything(model)
    assert secret_free(await agent.aget_state(config))
    assert texts(memory) == [ANSWER]


@pytest.mark.filterwarnings("ignore:astream_events version='v1'")
@pytest.mark.parametrize("version", ["v1", "v2"])
async def test_events_of_hooks_and_nodes_carry_nothing_of_it(version):
    agent, model = approved(known(SECRET), InMemorySaver(), call("deploy", target="x"))
    given, config, more = told(QUESTION, "t")
    events = [e async for e in agent.astream_events(given, config, version=version, **more)]
    others = [e for e in events if not e["event"].startswith("on_chat_model")]

    assert SECRET in everything(model)
    assert len(others) < len(events)
    assert secret_free(others)


def test_the_result_has_messages_only():
    agent, _ = approved(known(SECRET), None)
    result = turn(agent, QUESTION)

    assert set(result) == {"messages"}
    assert secret_free(result)


def test_no_byte_of_it_is_in_a_checkpoint(tmp_path):
    with SqliteSaver.from_conn_string(str(tmp_path / "checkpoints.db")) as saver:
        agent, model = approved(known(SECRET), saver, call("deploy", target="x"))
        given, config, more = told(QUESTION, "t")
        agent.invoke(given, config, **more)
        agent.invoke(GO_ON, config, **more)
    stored = b"".join(one.read_bytes() for one in tmp_path.iterdir())

    assert SECRET in everything(model)
    assert b"deployed x" in stored
    assert b"salary band of" not in stored


async def test_no_byte_of_it_is_in_an_async_checkpoint(tmp_path):
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "checkpoints.db")) as saver:
        agent, _ = approved(known(SECRET), saver, call("deploy", target="x"))
        given, config, more = told(QUESTION, "t")
        await agent.ainvoke(given, config, **more)
        await agent.ainvoke(GO_ON, config, **more)
    stored = b"".join(one.read_bytes() for one in tmp_path.iterdir())

    assert b"deployed x" in stored
    assert b"salary band of" not in stored


def test_the_history_has_no_block_after_many_turns():
    saver = InMemorySaver()
    agent, model = approved(known(SECRET), saver)
    for _ in range(4):
        turn(agent, QUESTION, "t")
    history = agent.get_state({"configurable": {"thread_id": "t"}}).values["messages"]

    assert [one.type for one in history] == ["human", "ai"] * 4
    assert all(one.text in (QUESTION, "done") for one in history)
    assert [everything(model, n).count(SECRET) for n in range(4)] == [1, 1, 1, 1]


def test_a_resume_recalls_once_for_all_its_model_calls():
    memory, saver = known(SECRET), InMemorySaver()
    agent, _ = approved(memory, saver, call("deploy", target="x"))
    given, config, more = told(QUESTION, "t")
    agent.invoke(given, config, **more)
    agent, model = approved(memory, saver, call("none", x=1), call("none", x=1), say(ANSWER))
    asked = []
    retrieve = memory.retrieve
    memory.retrieve = lambda *a, **k: asked.append(a) or retrieve(*a, **k)
    agent.invoke(GO_ON, config, **more)

    assert len(model.requests) == 3
    assert len(asked) == 1
    assert [everything(model, n).count(SECRET) for n in range(3)] == [1, 1, 1]
    assert texts(memory) == [ANSWER]


def test_nothing_is_recorded_while_a_run_is_interrupted():
    memory, saver = a_memory(), InMemorySaver()
    asking = call("deploy", target="x").model_copy(update={"content": "I deploy it now for you."})
    agent, _ = approved(memory, saver, asking, say(ANSWER), record="each_model_call")
    given, config, more = told(QUESTION, "t")
    agent.invoke(given, config, **more)
    assert texts(memory) == []
    agent.invoke(GO_ON, config, **more)

    assert texts(memory) == ["I deploy it now for you.", ANSWER]


@pytest.mark.parametrize("record", ["final", "each_model_call"])
def test_a_thread_that_is_played_again_from_a_checkpoint_is_recorded_once(record):
    memory, saver = known(FACT), InMemorySaver()
    agent, _ = approved(memory, saver, say(ANSWER), record=record)
    turn(agent, QUESTION, "t")
    _, config, more = told(QUESTION, "t")
    before = [
        one
        for one in agent.get_state_history(config)
        if one.next == ("TieredMemoryMiddleware.after_agent",)
    ]
    assert len(before) == 1
    agent.invoke(None, before[0].config, **more)

    assert texts(memory) == [ANSWER]


def test_what_was_recalled_can_be_taken_out_of_a_trace():
    agent, model = approved(known(SECRET), None)
    turn(agent, QUESTION)
    redacted = redact_memory(model.requests[0])

    assert SECRET in everything(model)
    assert secret_free(redacted)
    assert QUESTION in repr(redacted)


def test_the_state_holds_ids_and_names_of_tools_and_no_person():
    memory, saver = known(SECRET), InMemorySaver()
    agent, _ = approved(memory, saver, call("deploy", target="x"), say(ANSWER))
    given, config, more = told(QUESTION, "t", user_id="ann@example.org")
    agent.invoke(given, config, **more)
    agent.invoke(GO_ON, config, **more)
    held = agent.get_state(config).values["tiered_thread_TieredMemoryMiddleware"]

    (entry,) = entries(memory)
    assert held == {
        "said": [],
        "seen": [memory.retrieve(QUESTION, "shop", tiers=("long_term",))[0].id],
        "tools": ["deploy"],
        "inside": [],
        "roots": [],
        "last": entry.id,
        "asked": [],
    }
    assert "ann@example.org" not in repr(held)

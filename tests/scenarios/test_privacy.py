"""Memory text is for the model call alone: in no stream, event, checkpoint, state or result."""

from __future__ import annotations

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

from kit import ScriptedModel, call, say
from memoryware import MemoryMiddleware
from memoryware.middleware import redact_memory
from notes import Notes

SECRET = "salary band is E7"
NEWER = "salary band is F8"
MODES = ["values", "updates", "checkpoints", "tasks", "debug", "messages", "custom"]
INPUT = {"messages": [{"role": "user", "content": "hi"}]}


@tool
def deploy(target: str) -> str:
    """Deploy something."""
    return f"deployed {target}"


def an_agent(notes, saver, *turns, memory=None):
    model = ScriptedModel(*turns)
    memory = memory or MemoryMiddleware(backend=notes, sources=["/A.md"])
    approval = HumanInTheLoopMiddleware(interrupt_on={"deploy": True})
    agent = create_agent(model, tools=[deploy], middleware=[memory, approval], checkpointer=saver)
    return agent, model


def on(thread):
    return {"configurable": {"thread_id": thread}}


def secret_free(value):
    text = repr(value)
    return SECRET not in text and NEWER not in text


@pytest.mark.parametrize("resumed_by", ["the same instance", "a new instance"])
@pytest.mark.parametrize("mode", MODES)
def test_no_stream_mode_carries_memory_over_an_interrupt(mode, resumed_by):
    notes, saver = Notes({"/A.md": SECRET}), InMemorySaver()
    agent, first = an_agent(notes, saver, call("deploy", target="x"))
    chunks = list(agent.stream(INPUT, on("t"), stream_mode=mode, subgraphs=True))
    assert SECRET in first.system()
    notes.files["/A.md"] = NEWER
    model = first
    if resumed_by == "a new instance":
        agent, model = an_agent(notes, saver, say("done"))
    go_on = Command(resume={"decisions": [{"type": "approve"}]})
    chunks += list(agent.stream(go_on, on("t"), stream_mode=mode, subgraphs=True))

    assert chunks
    assert secret_free(chunks)
    assert NEWER in model.system(), "after a resume the newest text is in every model call"
    assert SECRET not in model.system()
    assert secret_free(agent.get_state(on("t")))
    assert secret_free(list(agent.get_state_history(on("t"))))
    assert secret_free(agent.get_state(on("t")).values)


@pytest.mark.parametrize("mode", MODES)
async def test_no_async_stream_mode_carries_memory_over_an_interrupt(mode):
    notes, saver = Notes({"/A.md": SECRET}), InMemorySaver()
    agent, first = an_agent(notes, saver, call("deploy", target="x"))
    chunks = [c async for c in agent.astream(INPUT, on("t"), stream_mode=mode)]
    notes.files["/A.md"] = NEWER
    agent, model = an_agent(notes, saver, say("done"))
    go_on = Command(resume={"decisions": [{"type": "approve"}]})
    chunks += [c async for c in agent.astream(go_on, on("t"), stream_mode=mode)]

    assert secret_free(chunks)
    assert SECRET in first.system()
    assert NEWER in model.system()
    assert secret_free(await agent.aget_state(on("t")))


@pytest.mark.filterwarnings("ignore:astream_events version='v1'")
@pytest.mark.parametrize("version", ["v1", "v2"])
async def test_events_of_hooks_and_nodes_carry_no_memory(version):
    agent, model = an_agent(Notes({"/A.md": SECRET}), InMemorySaver(), call("deploy", target="x"))
    events = [e async for e in agent.astream_events(INPUT, on("t"), version=version)]
    of_the_model = [e for e in events if e["event"].startswith("on_chat_model")]
    others = [e for e in events if not e["event"].startswith("on_chat_model")]

    assert SECRET in model.system()
    assert of_the_model
    assert secret_free(others)


def test_the_result_has_messages_only():
    agent, _ = an_agent(Notes({"/A.md": SECRET}), None)
    result = agent.invoke(INPUT)

    assert set(result) == {"messages"}
    assert secret_free(result)


def test_no_byte_of_memory_is_in_a_checkpoint(tmp_path):
    file = tmp_path / "checkpoints.db"
    notes = Notes({"/A.md": SECRET})
    with SqliteSaver.from_conn_string(str(file)) as saver:
        agent, _ = an_agent(notes, saver, call("deploy", target="x"))
        agent.invoke(INPUT, on("t"))
        agent.invoke(Command(resume={"decisions": [{"type": "approve"}]}), on("t"))
    stored = b"".join(one.read_bytes() for one in tmp_path.iterdir())

    assert b"deployed x" in stored
    assert SECRET.encode() not in stored


async def test_no_byte_of_memory_is_in_an_async_checkpoint(tmp_path):
    file = tmp_path / "checkpoints.db"
    async with AsyncSqliteSaver.from_conn_string(str(file)) as saver:
        agent, _ = an_agent(Notes({"/A.md": SECRET}), saver, call("deploy", target="x"))
        await agent.ainvoke(INPUT, on("t"))
        await agent.ainvoke(Command(resume={"decisions": [{"type": "approve"}]}), on("t"))
    stored = b"".join(one.read_bytes() for one in tmp_path.iterdir())

    assert b"deployed x" in stored
    assert SECRET.encode() not in stored


def test_nothing_is_written_into_the_messages_over_many_turns():
    saver = InMemorySaver()
    agent, model = an_agent(Notes({"/A.md": SECRET}), saver)
    for _ in range(3):
        agent.invoke(INPUT, on("t"))
    history = agent.get_state(on("t")).values["messages"]

    assert [one.type for one in history] == ["human", "ai"] * 3
    assert [model.system(n).count(SECRET) for n in range(3)] == [1, 1, 1]


def test_a_resume_loads_once_for_all_its_model_calls():
    notes, saver = Notes({"/A.md": SECRET}), InMemorySaver()
    agent, _ = an_agent(notes, saver, call("deploy", target="x"))
    agent.invoke(INPUT, on("t"))
    agent, model = an_agent(notes, saver, call("write", x=1), call("write", x=1), say())
    before = len(notes.asked)
    agent.invoke(Command(resume={"decisions": [{"type": "approve"}]}), on("t"))

    assert len(model.requests) == 3
    assert len(notes.asked) - before == 1
    assert all(SECRET in model.system(n) for n in range(3))


def test_memory_left_in_an_old_checkpoint_is_not_served_on_a_resume():
    notes, saver = Notes({"/A.md": SECRET}), InMemorySaver()
    frozen = MemoryMiddleware(backend=notes, sources=["/A.md"], refresh="thread")
    agent, _ = an_agent(notes, saver, call("deploy", target="x"), memory=frozen)
    agent.invoke(INPUT, on("t"))
    notes.files["/A.md"] = NEWER
    agent, model = an_agent(notes, saver, say())
    agent.invoke(Command(resume={"decisions": [{"type": "approve"}]}), on("t"))

    assert NEWER in model.system()
    assert SECRET not in model.system()


def test_a_traced_payload_can_be_redacted():
    agent, model = an_agent(Notes({"/A.md": SECRET}), None)
    agent.invoke(INPUT)
    payload = {"messages": [model.requests], "other": ("x", SECRET)}
    redacted = redact_memory(payload)

    assert SECRET not in repr(redacted["messages"])
    assert "(memory not shown)" in repr(redacted["messages"])
    assert redacted["other"] == ("x", SECRET)
    assert SECRET in repr(payload)


def test_every_shape_of_a_payload_is_redacted():
    from collections import deque
    from dataclasses import dataclass

    from langchain_core.messages import AIMessage
    from langchain_core.prompt_values import ChatPromptValue

    @dataclass
    class Payload:
        text: str

    block = f"<agent_memory>{SECRET}</agent_memory>"
    message = AIMessage(block, additional_kwargs={"x": block})
    shapes = [
        block.encode(),
        {block},
        frozenset({block}),
        deque([block]),
        {block: 1},
        Payload(block),
        message,
        ChatPromptValue(messages=[message]),
        f"cut <agent_memory>{SECRET}",
    ]

    assert all(secret_free(redact_memory(one)) for one in shapes)
    assert SECRET in repr(shapes)

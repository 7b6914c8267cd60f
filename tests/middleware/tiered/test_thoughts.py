"""Thoughts that a local model leaves in its text are not recorded with the answer."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage

from kit import ScriptedModel, call, say
from middleware.tiered.rig import (
    ANSWER,
    DOORS,
    FACT,
    a_memory,
    an_agent,
    deploy,
    texts,
    through,
    told,
    turn,
)

THOUGHT = "The customer may be a competitor, so I must be careful with what I say of servers."


@pytest.mark.parametrize(
    "content",
    [
        f"<think>\n{THOUGHT}\n</think>\n\n{ANSWER}",
        f"{THOUGHT}\n</think>\n\n{ANSWER}",
        f"\u200b<think>{THOUGHT}</think>{ANSWER}",
        f"**<think>**\n{THOUGHT}\n**</think>**\n{ANSWER}",
        [
            {"type": "text", "text": f"<think>{THOUGHT}"},
            {"type": "text", "text": f"</think>{ANSWER}"},
        ],
    ],
)
@pytest.mark.parametrize("record", ["final", "each_model_call"])
@pytest.mark.parametrize("door", DOORS)
async def test_only_the_answer_is_recorded(content, record, door):
    memory = a_memory()
    model = ScriptedModel(AIMessage(content))
    await through(door, an_agent(memory, model, record=record), "hello")

    assert texts(memory) == texts(memory, "working") == [ANSWER]


@pytest.mark.parametrize("record", ["final", "each_model_call"])
def test_a_message_of_nothing_but_thoughts_is_not_recorded(record):
    memory = a_memory()
    thinking = call("deploy", target="x").model_copy(
        update={"content": f"<think>{THOUGHT}</think>"}
    )
    model = ScriptedModel(thinking, say(f"<think>{THOUGHT}"))
    turn(an_agent(memory, model, tools=[deploy], record=record), "hello")

    assert texts(memory) == []


def test_a_streamed_answer_is_recorded_without_its_thoughts():
    memory = a_memory()
    agent = an_agent(memory, ScriptedModel(say(f"<think>{THOUGHT}</think>\n{ANSWER}")))
    given, _, more = told("hello")
    for _ in agent.stream(given, stream_mode="messages", **more):
        pass

    assert texts(memory) == [ANSWER]


def test_an_answer_about_such_tags_is_recorded_as_it_is():
    about = "The parser of the shop strips everything between <think> and </think> since version 2."
    memory = a_memory()
    turn(an_agent(memory, ScriptedModel(say(about))), "hello")

    assert texts(memory) == [about]


def test_the_message_itself_keeps_what_the_model_said():
    memory, raw = a_memory(), f"<think>{THOUGHT}</think>{FACT}"
    result = turn(an_agent(memory, ScriptedModel(say(raw))), "hello")

    assert result["messages"][-1].content == raw
    assert texts(memory) == [FACT]

"""Five hundred turns of an agent that only repeats what it recalled: memory does not grow."""

from __future__ import annotations

import random
import re

import pytest
from langchain_core.messages import BaseMessage
from langgraph.checkpoint.memory import InMemorySaver

from kit import ScriptedModel, call, say
from middleware.tiered.rig import SHOP, a_memory, an_agent, aturn, entries, texts, turn
from tiers.kit import Clock, HashEmbeddings

NOTES = [
    "The orders of the shop are kept in PostgreSQL 17, on the server that is called db2.",
    "Deliveries to Norway leave the depot on Thursday, because customs is slow on Mondays.",
    "Every parcel is weighed twice before it leaves the warehouse in Rotterdam harbour.",
    "Mister Okafor of Lagos pays his invoices in naira and wants them on green paper.",
    "The oven in the second bakery must never be heated above 230 degrees Celsius.",
    "Returns of the autumn catalogue are free of charge until the end of February.",
    "The alarm code of the old cellar is changed by Ingrid on the first of each month.",
    "Sugar is bought from the mill in Tienen, which delivers on Tuesdays before seven.",
]
QUESTIONS = [
    "Where are the orders of the shop?",
    "When do deliveries to Norway leave?",
    "What happens to every parcel before it leaves?",
    "How does Mister Okafor pay his invoices?",
    "How hot may the oven be?",
    "Until when are returns of the catalogue free?",
    "Who changes the alarm code of the cellar?",
    "Where is sugar bought?",
    "What do you know about the shop?",
]
WRAPPINGS = [
    "{0}",
    "As far as I remember: {0}",
    "According to my notes, {0} Let me know if you need anything else.",
    "> {0}",
    "Here is what I know:\n\n- {0}\n- {1}",
    "**{0}**",
    "I recall two things. {0} And also: {1}",
    'My memory says: "{0}"',
    "1. {0}\n2. {1}\n\nI hope this helps!",
    "```\n{0}\n```",
    "To sum up what we discussed before: {1} {0}",
    "<recalled_memory>\n{0}\n</recalled_memory>",
]
_ITEM = re.compile(r"^\d+\. \[[^]]*\] (.*)$", re.MULTILINE)


class Parrot:
    """Answers with what it was shown, wrapped differently each time."""

    def __init__(self, seed: int) -> None:
        self.choose = random.Random(seed)
        self.repeated = 0

    def __call__(self, messages: list[BaseMessage]):
        newest = messages[-1]
        shown = _ITEM.findall("\n".join(str(one.text) for one in messages[-3:]))
        if newest.type == "human" and self.choose.random() < 0.2:
            return call("recall", query=self.choose.choice(QUESTIONS))
        if not shown:
            return say("I do not know that.")
        self.repeated += 1
        first, second = self.choose.choice(shown), self.choose.choice(shown)
        if newest.type == "human" and self.choose.random() < 0.1:
            return call("remember", text=first)
        return say(self.choose.choice(WRAPPINGS).format(first, second))


def prepared(embeddings):
    clock = Clock()
    memory = a_memory(clock=clock, embeddings=embeddings)
    script = [say(one) for one in NOTES]
    model = ScriptedModel(script=script)
    agent = an_agent(
        memory,
        model,
        name="clerk",
        remember_tool=True,
        record="each_model_call",
        checkpointer=InMemorySaver(),
    )
    return memory, clock, agent, model


def taught(memory, agent):
    """Let the agent say every note once, and let a person promote half of them."""
    for n, _ in enumerate(NOTES):
        turn(agent, "Please note what I have told you.", f"note-{n}", user_id="ann")
    assert texts(memory, "working") == NOTES
    for one in entries(memory)[::2]:
        memory.promote(one, by="ann")


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("embeddings", [None, HashEmbeddings(256)], ids=["words", "vectors"])
def test_after_500_turns_memory_has_as_many_texts_as_before(embeddings):
    memory, _, agent, model = prepared(embeddings)
    taught(memory, agent)
    parrot = Parrot(7)
    before = texts(memory, "working"), texts(memory, "longterm"), len(entries(memory))
    for n in range(500):
        model.script.append(parrot)
        model.script.append(parrot)
        turn(agent, QUESTIONS[n % len(QUESTIONS)], f"t-{n % 50}", user_id=f"user-{n % 3}")
        model.script.clear()

    assert parrot.repeated > 400
    assert sorted(texts(memory, "working")) == sorted(before[0])
    assert texts(memory, "longterm") == before[1]
    new = entries(memory)[before[2] :]
    assert len(new) > 400
    assert {one.refused for one in new} <= {"echo", "too_short"}
    assert memory.digest(SHOP, since=None).entries <= len(NOTES) + sum(
        one.refused == "too_short" for one in new
    )


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_a_day_later_what_was_repeated_has_not_come_back_to_life():
    memory, clock, agent, model = prepared(None)
    for n, _ in enumerate(NOTES):
        await aturn(agent, "Please note what I have told you.", f"note-{n}")
    parrot = Parrot(11)
    for n in range(100):
        clock.forward(minutes=10)
        model.script += [parrot, parrot]
        await aturn(agent, QUESTIONS[n % len(QUESTIONS)], f"t-{n}")
        model.script.clear()
    clock.forward(hours=10)
    assert parrot.repeated > 80
    assert texts(memory, "working") == []


def test_something_new_among_what_is_repeated_is_kept():
    memory, _, agent, model = prepared(None)
    taught(memory, agent)
    fresh = "From March on, the oven of the third bakery is leased from a firm in Ghent."
    model.script.append(lambda m: say(f"{NOTES[4]} {fresh}"))
    turn(agent, "How hot may the oven be?", "x")

    assert any(fresh in one for one in texts(memory, "working"))

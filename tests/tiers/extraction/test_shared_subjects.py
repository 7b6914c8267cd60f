"""Two statements with one subject are two facts: a later text may end one of them."""

from __future__ import annotations

import pytest
from langchain_core.messages import HumanMessage

from memoryware import MemoryScope
from memoryware.tiers.extraction.facts import ConversationTurn
from memoryware.tiers.extraction.rules import facts_by_rules

ANN = MemoryScope(group_id="shop", user_id="ann", session_id="1")


def facts_in(text):
    turn = ConversationTurn(id="1", speaker="user", text=text)
    return [fact.text for fact in facts_by_rules([turn])]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I live in Dublin and work as a nurse.", ["I live in Dublin.", "I work as a nurse."]),
        (
            "By the way, I'm a nurse and live in Cork.",
            ["I'm a nurse.", "I live in Cork."],
        ),
        (
            "I work as a nurse and play the cello.",
            ["I work as a nurse.", "I play the cello."],
        ),
        (
            "Ich wohne in Bremen und arbeite als Lehrerin.",
            ["Ich wohne in Bremen.", "Ich arbeite als Lehrerin."],
        ),
        (
            "Ich komme aus Hamburg und arbeite als Tischler.",
            ["Ich komme aus Hamburg.", "Ich arbeite als Tischler."],
        ),
        ("I live and work in Cork.", ["I live and work in Cork."]),
        ("I work in Berlin and Munich.", ["I work in Berlin and Munich."]),
        ("I work for Acme and have a question.", ["I work for Acme and have a question."]),
        ("I want to live and work in Rome.", []),
        ("Imagine I live in Rome and work as a spy.", []),
        ("Ich bin müde und spiele jetzt.", []),
        ("Übersetze: Ich heiße Peter und wohne in Bonn.", []),
    ],
)
def test_each_statement_has_its_subject(text, facts):
    assert facts_in(text) == facts


def test_who_moves_keeps_the_job(memory, manager, clock):
    manager.learn([HumanMessage("I live in Dublin and work as a nurse.", id="1")], ANN)
    for insight in memory.digest(ANN).insights:
        memory.promote(insight, by="carl")
    clock.forward(seconds=60)
    manager.learn([HumanMessage("I moved to Cork.", id="2")], ANN)
    for insight in memory.digest(ANN).insights:
        memory.promote(insight, by="carl")
    records = [item.record for item in memory.list(ANN, tier="longterm").items]
    current = {record.content for record in records if record.valid_to is None}
    assert current == {"I work as a nurse.", "I moved to Cork."}

"""A fact that is revoked is not told by the message that it was taken from."""

from __future__ import annotations

import pytest

from kit import ScriptedModel, say
from memoryware import MemoryScope
from middleware.tiered.rig import an_agent, turn

SHOP = MemoryScope(group_id="shop")
ANN = MemoryScope(group_id="shop", user_id="ann", session_id="another")


@pytest.fixture
def learn(memory, manager):
    def learn(*texts):
        agent = an_agent(
            memory, ScriptedModel(*[say("Noted.")] * len(texts)), record_user=True, extract=manager
        )
        for text in texts:
            turn(agent, text, "t", user_id="ann")
        manager.flush(everything=True)
        return {insight.summary: insight for insight in memory.digest(SHOP).insights}

    return learn


def told(memory, question):
    return [item.content for item in memory.retrieve(question, ANN)]


@pytest.mark.parametrize("promoted", [True, False])
def test_the_message_goes_with_its_fact_and_comes_back_with_it(memory, learn, promoted):
    insight = learn("Just so you know, I live in Lisbon.")["I live in Lisbon."]
    fact = insight.source_entry_ids[0]
    if promoted:
        fact = memory.promote(insight, by="carl").ids[0]
    before = told(memory, "Where do I live?")
    assert "Just so you know, I live in Lisbon." in before

    preview = memory.revoke(fact, SHOP, by="carl", dry_run=True)
    assert told(memory, "Where do I live?") == before
    receipt = memory.revoke(fact, SHOP, by="carl")
    assert preview.counts == receipt.counts
    assert told(memory, "Where do I live?") == []

    memory.restore(receipt, by="carl")
    assert told(memory, "Where do I live?") == before


def test_a_request_to_forget_hides_the_message_as_well(memory, learn):
    memory.promote(learn("I live in Lisbon.")["I live in Lisbon."], by="carl")
    asked = learn("Please forget that I live in Lisbon.")["Forget: I live in Lisbon."]
    memory.promote(asked, by="carl")
    assert "I live in Lisbon." not in told(memory, "Where do I live?")


def test_a_message_that_says_something_else_stays_until_that_is_revoked(memory, learn):
    said = "I live in Lisbon. I am vegan."
    insights = learn(said)
    memory.revoke(insights["I live in Lisbon."], SHOP, by="carl")
    assert said in told(memory, "Am I vegan?")
    memory.revoke(insights["I am vegan."], SHOP, by="carl")
    assert told(memory, "Am I vegan?") == []


def test_a_message_of_which_the_rest_was_rejected_goes(memory, learn):
    insights = learn("I live in Lisbon. I am vegan.")
    memory.reject(insights["I am vegan."], by="carl")
    memory.revoke(insights["I live in Lisbon."], SHOP, by="carl")
    assert told(memory, "Where do I live?") == []


def test_messages_of_one_talk_are_told_apart(memory, learn):
    insights = learn("I live in Lisbon.", "I am vegan.")
    memory.revoke(insights["I live in Lisbon."], SHOP, by="carl")
    assert "I live in Lisbon." not in told(memory, "Where do I live?")
    assert told(memory, "Am I vegan?") == ["I am vegan."]

"""After a month of talk, what was promoted stands first wherever memory is asked about it."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage

from kit import ScriptedModel
from memoryware import ContextBuilder, MemoryScope, TieredMemory, TieredMemoryMiddleware
from scenarios.month import FIRST_DAY, facts_of, steps_of

SHOP = MemoryScope(group_id="shop")
ASKING = MemoryScope(group_id="shop", user_id="ann")
_LINE = re.compile(r"\d+\. \[.*?\] (.*)")
FIRST, AMONG_FIVE = 22, 24
"""Of 25 questions, so many have the right line first, and so many among the first five."""


@dataclass
class Context:
    group_id: str = "shop"
    user_id: str = "ann"


def played(seed: int, url: str, *, count: int, days: int, sentences: int = 1) -> TieredMemory:
    """A memory at the end of a month: all facts are in it, and so is the talk of the last day."""
    now = [FIRST_DAY]
    memory = TieredMemory.open(url, clock=lambda: now[0])
    talked = 0
    for number, step in enumerate(steps_of(seed, count, days, sentences)):
        now[0] = step.at
        if step.promoted:
            memory.promote(step.text, SHOP, by="ann")
        else:
            scope = MemoryScope(group_id="shop", agent_id="helper", session_id=f"s{number // 8}")
            talked += memory.record(step.text, scope).working
    assert talked > count * 0.8  # the talk is what working memory takes
    assert len(memory.list(SHOP, tier="working", limit=100).items) >= 40
    return memory


def shown(text: str) -> list[str]:
    """The recalled texts that stand in a prompt, in order."""
    return [match[1] for line in text.splitlines() if (match := _LINE.fullmatch(line))]


def by_retrieve(memory, question):
    return [item.content for item in memory.retrieve(question, ASKING)]


def by_agent(memory, question):
    model = ScriptedModel()
    middleware = [TieredMemoryMiddleware(memory, record=None)]
    agent = create_agent(model, middleware=middleware, context_schema=Context)
    agent.invoke({"messages": [HumanMessage(question)]}, context=Context())
    return shown("\n".join(str(message.text) for message in model.requests[-1]))


def by_builder(max_tokens):
    def ask(memory, question):
        built = ContextBuilder(memory, max_tokens=max_tokens).build(question, ASKING)
        assert built.tokens <= max_tokens
        return shown(built.text)

    return ask


WAYS = {
    "retrieve": by_retrieve,
    "agent": by_agent,
    "builder 300": by_builder(300),
    "builder 600": by_builder(600),
    "builder 1200": by_builder(1200),
}


def check(memory, seed):
    """Ask every question in every way; the right line has its place."""
    facts = facts_of(seed)
    for way, ask in WAYS.items():
        places = {}
        for fact in facts:
            lines = ask(memory, fact.question)
            places[fact.question] = next((n for n, x in enumerate(lines, 1) if x == fact.text), 99)
        late = {question: place for question, place in places.items() if place > 1}
        assert len(facts) - len(late) >= FIRST, (way, late)
        assert sum(place <= 5 for place in places.values()) >= AMONG_FIVE, (way, late)


@pytest.mark.slow
def test_after_some_busy_days_the_promoted_facts_stand_first():
    check(played(1, "memory://", count=350, days=5), 1)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", [2, 3, 4])
def test_after_a_month_the_promoted_facts_stand_first(seed, tmp_path):
    with played(seed, f"sqlite:///{tmp_path}/m.db", count=2000, days=30) as memory:
        check(memory, seed)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", [2, 5])
def test_long_answers_which_have_many_words_push_no_fact_away(seed):
    check(played(seed, "memory://", count=350, days=5, sentences=5), seed)

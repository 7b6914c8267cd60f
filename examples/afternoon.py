"""For anybody who wonders what an agent remembers of a talk: an afternoon, and what becomes of it.

A new user talks. Memory learns five facts and no chatter, a reviewer approves them, and a week later
the agent answers with them. A correction replaces one of them. In the end the user is forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver

from memoryware import MemoryScope, TieredMemory, TieredMemoryMiddleware
from memoryware.demo import DemoModel
from memoryware.tiers import MemoryManager

TALK = [
    "Hi there!",
    "I'm allergic to peanuts.",
    "What can you do for me?",
    "I work from our office in Lisbon.",
    "If I were rich, I would buy a boat, haha.",
    "Please always give me metric units.",
    "My colleague thinks that tea is overrated.",
    "We decided to ship releases on Thursdays.",
    "I prefer short answers.",
    "Thanks, that's all for today!",
]
STUDIO = MemoryScope(group_id="studio")


@dataclass
class Caller:
    group_id: str
    user_id: str


class Clock:
    """The time of the story, which passes at once."""

    def __init__(self) -> None:
        self.now = datetime(2026, 5, 4, 14, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def wait(self, **time: float) -> None:
        self.now += timedelta(**time)


def main() -> None:
    clock = Clock()
    memory = TieredMemory.open("memory://", clock=clock)  # "sqlite:///memory.db" stays
    # In a service the manager reads in the background, once a conversation has fallen silent.
    manager = MemoryManager(memory, background=False)
    agent: Any = create_agent(
        DemoModel(),
        middleware=[TieredMemoryMiddleware(memory, extract=manager)],
        context_schema=Caller,
        checkpointer=InMemorySaver(),
        name="assistant",
    )

    def say(text: str, thread: str, user: str = "mia") -> str:
        clock.wait(minutes=2)
        config = {"configurable": {"thread_id": thread}}
        result = agent.invoke({"messages": text}, config, context=Caller("studio", user))
        return str(result["messages"][-1].text)

    print("An afternoon: mia says ten things.")
    for text in TALK:
        say(text, "monday")
    clock.wait(minutes=5)
    manager.flush()

    print("\nWhat a reviewer sees:")
    for insight in memory.digest(STUDIO).insights:
        print(f"  {insight.provenance.origin}: {insight.summary}")
        memory.promote(insight, by="person:rita")

    clock.wait(days=7)
    print("\nA week later, in a new conversation:")
    for question in ("Which units shall I get?", "When do we ship?", "Where do I work from?"):
        print(f"  {question} {say(question, 'next week')}")

    print("\nA correction:")
    say("I work from our office in Porto now.", "next week")
    clock.wait(minutes=5)
    for fact in manager.flush()[0].facts:
        print(f"  {fact.action}: {fact.text}")
    for insight in memory.digest(STUDIO).insights:
        memory.promote(insight, by="person:rita")
    print(f"  Where do I work from? {say('Where do I work from?', 'another')}")

    print("\nMia wants to be forgotten:")
    receipt = memory.forget(MemoryScope(group_id="studio", user_id="mia"), by="person:rita")
    left = memory.list(STUDIO).total
    print(f"  {receipt.total} records deleted, {left} left")
    print(f"  Where do I work from? {say('Where do I work from?', 'later')}")
    manager.close()
    memory.close()


if __name__ == "__main__":
    main()

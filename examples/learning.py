"""For agents that shall learn from their users, while a person decides what they learn.

A new user talks. The memory manager proposes what is worth remembering, a reviewer sees five facts
and no chatter, and a week later the agent answers with them. A correction replaces one of them, and
in the end the user is forgotten.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import BaseMessage, HumanMessage
from scripted import ScriptedModel

from memoryware import MemoryScope, TieredMemory, TieredMemoryMiddleware
from memoryware.tiers import MemoryManager

SHOP = MemoryScope(group_id="shop")
MONDAY = (
    "Hi! How are you?",
    "I'm Lea, and I work as a buyer for the shop. My name is Lea Moreau.",
    "If I lived in Rome I would have espresso now, haha.",
    "I prefer metric units. My brother says that inches are better, what do you think?",
    "The delivery day is Monday. Please always answer in short sentences.",
    "Thanks, that was all for today!",
)


def answer(messages: list[BaseMessage]) -> str:
    """Say what a model would say that sees these messages."""
    shown = str(messages[-1].text)
    if "delivery day?" not in shown:
        return "Noted."
    for day in ("Tuesday", "Monday"):
        if f"delivery day is {day}" in shown:
            return f"On {day}."
    return "I do not know."


class Week:
    """A clock that the story puts forward."""

    now = datetime(2025, 3, 3, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def main() -> None:
    clock = Week()
    memory = TieredMemory.open("memory://", clock=clock)
    # Programs leave `background` alone: a thread reads what has fallen silent.
    manager = MemoryManager(memory, background=False)
    agent: Any = create_agent(
        ScriptedModel(answer),
        middleware=[TieredMemoryMiddleware(memory, extract=manager)],
        name="clerk",
    )

    def say(text: str, thread: str) -> str:
        ran = agent.invoke(
            {"messages": [HumanMessage(text)]},
            {"configurable": {"thread_id": thread, "group_id": "shop", "user_id": "lea"}},
        )
        return str(ran["messages"][-1].text)

    def review() -> None:
        manager.flush(everything=True)
        for insight in memory.digest(SHOP).insights:
            memory.promote(insight, by="carl")
            print(f"  carl approves: {insight.summary}")

    print("Monday. Lea talks, and Carl reviews:")
    for text in MONDAY:
        say(text, "monday")
    review()

    clock.now += timedelta(days=7)
    question = "When is the delivery day?"
    print(f"\nA week later:\n  {question} {say(question, 'next monday')}")

    print("\nLea corrects it:")
    say("The delivery day is Tuesday now.", "later")
    review()
    clock.now += timedelta(days=2)
    print(f"  {question} {say(question, 'last')}")

    print("\nLea is forgotten:")
    forgotten = memory.forget(MemoryScope(group_id="shop", user_id="lea"))
    print(f"  {forgotten.counts}")
    print(f"  {question} {say(question, 'new')}")


if __name__ == "__main__":
    main()

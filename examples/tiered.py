"""For teams whose agent shall know tomorrow what it was told today, once a person has agreed.

What the agent says waits in quarantine. A person promotes one thing; the next conversation,
with somebody else, knows it, and another team does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import BaseMessage, HumanMessage
from scripted import ScriptedModel

from memoryware import MemoryScope, TieredMemory, TieredMemoryMiddleware


@dataclass
class Caller:
    group_id: str
    user_id: str


def answer(messages: list[BaseMessage]) -> str:
    """Say what a model would say that sees these messages."""
    shown = str(messages[-1].text)
    if "Where" not in shown:
        return "Understood: the orders of the shop are in PostgreSQL on db2 since this Monday."
    return "On db2." if "db2" in shown else "I do not know that."


def main() -> None:
    memory = TieredMemory.open("memory://")  # "sqlite:///memory.db" stays after the process
    agent: Any = create_agent(
        ScriptedModel(answer),
        middleware=[TieredMemoryMiddleware(memory)],
        context_schema=Caller,
        name="clerk",
    )

    def ask(text: str, group: str, user: str) -> None:
        ran = agent.invoke({"messages": [HumanMessage(text)]}, context=Caller(group, user))
        print(f"{user} of the {group}: {text}\n  {ran['messages'][-1].text}")

    ask("We have moved the orders to db2.", "shop", "ann")

    scope = MemoryScope(group_id="shop")
    print()
    for waiting in memory.digest(scope).insights:  # what she said, and what the agent answered
        print(
            f"Waiting, from {', '.join(map(str, waiting.provenance.roots))}:\n  {waiting.summary}"
        )
    memory.promote(waiting, by="ann")
    print("  ann promotes it\n")

    ask("Where are the orders?", "shop", "bo")
    ask("Where are the orders?", "bakery", "eve")


if __name__ == "__main__":
    main()

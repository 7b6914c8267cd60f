"""A memory, an agent with it, and readers of what its model was shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import BaseMessage
from langchain_core.tools import tool
from langgraph.types import Command

from hooked import failing
from kit import ScriptedModel
from memoryware import MemoryScope
from memoryware.middleware.tiered import TieredMemoryMiddleware
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.stores.embedded import embedded
from memoryware.tiers.stores.protocol import Stores

SHOP = MemoryScope(group_id="shop")
FACT = "The orders of the shop are kept in PostgreSQL 17, on the server that is called db2."
OTHER = "Every parcel is weighed twice before it leaves the warehouse in Rotterdam harbour."
ANSWER = "Deliveries to Norway leave the depot on Thursday, because customs is slow on Mondays."


def a_memory(**options: Any) -> TieredMemory:
    """A memory in this process."""
    return TieredMemory(options.pop("stores", None) or embedded(), **options)


def known(*texts: str, group: str = "shop", **options: Any) -> TieredMemory:
    """A memory in which a person has promoted some texts."""
    memory = a_memory(**options)
    for text in texts or (FACT,):
        memory.promote(text, group, by="ann")
    return memory


def an_agent(memory: TieredMemory, model: Any, **given: Any) -> Any:
    """An agent with tiered memory; `before` and `after` are middleware around it."""
    rest = {
        key: given.pop(key)
        for key in ("tools", "checkpointer", "response_format", "name", "system_prompt")
        if key in given
    }
    given = {"record_user": False, "remember_tool": False, **given}  # tests of answers
    before, after = given.pop("before", ()), given.pop("after", ())
    tiered = TieredMemoryMiddleware(memory, **given)
    return create_agent(model, middleware=[*before, tiered, *after], context_schema=dict, **rest)


def told(
    text: Any, thread: str | None = None, **who: Any
) -> tuple[dict[str, Any], dict[str, Any] | None, dict[str, Any]]:
    """What an agent is invoked with: input, config, and the keyword arguments."""
    given = text if isinstance(text, Sequence) and not isinstance(text, str) else None
    messages = given if given is not None else [{"role": "user", "content": text}]
    config = {"configurable": {"thread_id": thread}} if thread else None
    return {"messages": messages}, config, {"context": {"group_id": "shop", **who}}


def turn(agent: Any, text: Any, thread: str | None = None, **who: Any) -> Any:
    """Let a person of the shop say something to an agent."""
    given, config, more = told(text, thread, **who)
    return agent.invoke(given, config, **more)


async def aturn(agent: Any, text: Any, thread: str | None = None, **who: Any) -> Any:
    """Async twin of `turn`."""
    given, config, more = told(text, thread, **who)
    return await agent.ainvoke(given, config, **more)


DOORS = [turn, aturn]


async def through(door: Any, *given: Any, **more: Any) -> Any:
    """Let a person say something through one of the doors."""
    result = door(*given, **more)
    return await result if door is aturn else result


def texts(memory: TieredMemory, layer: Any = "quarantine", group: str | None = "shop") -> list[str]:
    """The texts of a tier, oldest first."""
    found = memory.list(MemoryScope(group_id=group), tier=layer, limit=1000)
    return [one.content for one in reversed(found.items)]


def entries(memory: TieredMemory, group: str | None = "shop") -> list[Any]:
    """The entries of quarantine, oldest first."""
    found = memory.list(MemoryScope(group_id=group), tier="quarantine", limit=1000)
    return [one.record for one in reversed(found.items)]


def roots(entry: Any) -> list[str]:
    """Where an entry came from, all of it."""
    return [str(one) for one in entry.provenance.roots]


def everything(model: ScriptedModel, request: int = -1) -> str:
    """All text of one request."""
    return all_text(model.requests[request])


def all_text(messages: Sequence[BaseMessage]) -> str:
    """All text of some messages."""
    return "\n".join(str(one.text) for one in messages)


def away(stores: Stores, *tiers: str) -> Stores:
    """Stores of which some tiers fail, whatever they are asked."""
    for tier in tiers:
        stores = failing(stores, tier, error=lambda: ConnectionError("the disk is away"))
    return stores


def broken(*tiers: str) -> Stores:
    """Empty stores of which some fail."""
    return away(embedded(), *tiers)


# A run that waits for a person.

SECRET = "The salary band of the shop keeper is E7, and nobody else may read that anywhere."
NEWER = "The salary band of the shop keeper is F8, and nobody else may read that anywhere."
PART = "salary band of"
MODES = ["values", "updates", "checkpoints", "tasks", "debug", "messages", "custom"]
GO_ON = Command(resume={"decisions": [{"type": "approve"}]})


@tool
def deploy(target: str) -> str:
    """Deploy something."""
    return f"deployed {target}"


def approved(memory: TieredMemory, saver: Any, *turns: Any, **options: Any) -> Any:
    """Return an agent that waits for a person before it deploys, and its model."""
    model = ScriptedModel(*turns)
    approval = HumanInTheLoopMiddleware(interrupt_on={"deploy": True})
    agent = an_agent(memory, model, tools=[deploy], after=[approval], checkpointer=saver, **options)
    return agent, model


def secret_free(value: Any) -> bool:
    """Say whether nothing of the secret stands anywhere in a value."""
    return PART not in repr(value)

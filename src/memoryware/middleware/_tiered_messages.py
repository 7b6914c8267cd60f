"""What stands in the messages of a request: the question, the answers, and where things came from.

All functions are pure, and none changes a message.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    ToolMessage,
)

from memoryware.tiers.messages import KEPT, RECALLED, answer_of


def newest_human(messages: Sequence[AnyMessage | BaseMessage]) -> int | None:
    """Return the place of the newest message of a person."""
    for place in range(len(messages) - 1, -1, -1):
        if isinstance(messages[place], HumanMessage):
            return place
    return None


def answers_in(
    messages: Sequence[AnyMessage | BaseMessage], said: Collection[str]
) -> Iterator[tuple[int, AIMessage]]:
    """Yield the messages with text that the model made, and their places.

    Args:
        messages: All messages of a thread.
        said: Ids of what the model made; any other message is somebody else's.
    """
    for place, message in enumerate(messages):
        if isinstance(message, AIMessage) and message.id in said and answer_of(message):
            yield place, message


def final_answer(
    messages: Sequence[AnyMessage | BaseMessage], said: Collection[str]
) -> tuple[int, AIMessage] | None:
    """Return the answer with which a run ended, and its place.

    There is none if somebody else than the model has the last word, or if the run ended
    while the model was waiting for a tool.
    """
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if isinstance(message, HumanMessage):
            return None
        if isinstance(message, AIMessage):
            made = message.id in said and not message.tool_calls and answer_of(message)
            return (place, message) if made else None
    return None


def last_call(
    messages: Sequence[AnyMessage | BaseMessage], said: Collection[str]
) -> tuple[int, AIMessage] | None:
    """Return the message with which the model ended a run, with text or not, and its place."""
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if isinstance(message, HumanMessage):
            return None
        if isinstance(message, AIMessage):
            return (place, message) if message.id in said else None
    return None


def ids_in(
    messages: Sequence[AnyMessage | BaseMessage], own: Collection[str], key: str
) -> list[str]:
    """Return the ids that our own tools have left in their messages, oldest first."""
    found: dict[str, None] = {}
    for message in messages:
        if is_own(message, own):
            ids = message.artifact.get(key)
            found |= dict.fromkeys(str(one) for one in ids if one) if isinstance(ids, list) else {}
    return list(found)


def is_own(message: AnyMessage | BaseMessage, own: Collection[str]) -> TypeGuard[ToolMessage]:
    """Say whether a message is the answer of one of our own tools."""
    return (
        isinstance(message, ToolMessage)
        and message.name in own
        and isinstance(message.artifact, Mapping)
        and bool({RECALLED, KEPT} & message.artifact.keys())
    )


def call_of(messages: Sequence[AnyMessage | BaseMessage], place: int) -> Mapping[str, Any]:
    """Return the call that the tool message at a place answers; empty if it is not there."""
    wanted = getattr(messages[place], "tool_call_id", None)
    for message in reversed(messages[:place]):
        for call in message.tool_calls if isinstance(message, AIMessage) else ():
            if call["id"] == wanted:
                return dict(call)
    return {}


# Placing.


def with_block(messages: Sequence[AnyMessage], block: str) -> list[AnyMessage]:
    """Return the messages of a request with a block right before the newest person's words.

    The block becomes the beginning of a copy of that message, because two messages of a
    person in a row are refused by some models: as text before a text, as a content block
    before content blocks. Nothing is changed that was given.
    """
    place = newest_human(messages)
    if place is None:
        return [HumanMessage(block), *messages]
    human = messages[place]
    content: Any = human.content
    if isinstance(content, str):
        content = f"{block}\n\n{content}" if content else block
    else:
        content = [{"type": "text", "text": f"{block}\n\n"}, *content]
    changed = human.model_copy(update={"content": content})
    return [*messages[:place], changed, *messages[place + 1 :]]

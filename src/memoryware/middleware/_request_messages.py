"""Messages of a request: add memory to them, find answers, neutralise forged memory tags.

Also `redact_memory`, which removes memory from what a tracer records.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields, is_dataclass, replace
from itertools import groupby
from typing import Any, Final, Literal, TypeGuard

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from pydantic import BaseModel

from memoryware.middleware._agent_state import CONTENTS
from memoryware.tiers.messages import RECALLED, RECORDED, answer_of
from memoryware.tiers.rendering import unforged

SystemPlacement = Literal["append", "prepend"]
_NOT_SHOWN: Final = "(memory not shown)"
_MEMORY: Final = re.compile(r"(<(agent_memory|recalled_memory)>).*?(</\2>|\Z)", re.DOTALL)


def append_to_system_message(system_message: SystemMessage | None, text: str) -> SystemMessage:
    """Return a new system message with a text as its last block.

    Args:
        system_message: The message, which is not changed; None for none. Its content blocks stay
            as they are and in order.
        text: The text. It starts with a blank line if there are other blocks.

    Returns:
        The new message.
    """
    return with_system_text(system_message, text, "append")


def with_system_text(
    system_message: SystemMessage | None, text: str, placement: SystemPlacement
) -> SystemMessage:
    """Return a new system message with the text after or before what was there."""
    blocks = _blocks(system_message)
    if system_message is None or not blocks:
        ours = [{"type": "text", "text": text}]
        if system_message is None:
            return SystemMessage(content=ours)  # type: ignore[arg-type]  # a list of dicts is one
        return system_message.model_copy(update={"content": ours})
    if placement == "append":
        blocks = [*blocks, {"type": "text", "text": f"\n\n{text}"}]
    else:
        blocks = [{"type": "text", "text": f"{text}\n\n"}, *blocks]
    return system_message.model_copy(update={"content": blocks})


def _blocks(message: SystemMessage | None) -> list[Any]:
    if message is None or not message.content:
        return []
    if isinstance(message.content, str):
        return [{"type": "text", "text": message.content}]
    return [
        {"type": "text", "text": block} if isinstance(block, str) else block
        for block in message.content
    ]


def with_cache_mark(message: SystemMessage | None) -> SystemMessage | None:
    """Return the message with a cache breakpoint on its last block."""
    blocks = _blocks(message)
    if message is None or not blocks:
        return message
    # Anthropic caches all blocks up to the mark, and takes at most four marks in a request.
    last = {**blocks[-1], "cache_control": {"type": "ephemeral"}}
    return message.model_copy(update={"content": [*blocks[:-1], last]})


def _without_contents(contents: Any) -> Any:
    """Replace the texts of the state key `memory_contents`, which have no tags around them."""
    if isinstance(contents, Mapping):
        return dict.fromkeys(contents, _NOT_SHOWN)
    return redact_memory(contents)


def redact_memory(value: Any) -> Any:
    """Return a copy of traced inputs or outputs with the text of memory blocks removed.

    For tracers that take a function over payloads.

    Args:
        value: The payload. Texts, bytes, mappings, collections, messages and other pydantic
            objects, and dataclasses are searched, at any depth.

    Returns:
        The copy; values of other types are returned as they are.
    """
    if isinstance(value, str):
        return _MEMORY.sub(rf"\1{_NOT_SHOWN}\3", value)
    if isinstance(value, bytes | bytearray):
        return type(value)(
            redact_memory(value.decode("utf-8", "surrogateescape")), "utf-8", "surrogateescape"
        )
    if isinstance(value, BaseModel):
        return value.model_copy(update=redact_memory(dict(value)))
    if isinstance(value, Mapping):
        return {
            redact_memory(key): _without_contents(item)
            if str(key).startswith(CONTENTS)
            else redact_memory(item)
            for key, item in value.items()
        }
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(redact_memory, value))
    if isinstance(value, list | tuple | set | frozenset | deque):
        return type(value)(map(redact_memory, value))
    if is_dataclass(value) and not isinstance(value, type):
        own = {
            field_.name: redact_memory(getattr(value, field_.name))
            for field_ in fields(value)
            if field_.init
        }
        return replace(value, **own)
    return value


def newest_human(messages: Sequence[AnyMessage | BaseMessage]) -> int | None:
    """Return the index of the newest message of a person."""
    for index in range(len(messages) - 1, -1, -1):
        if isinstance(messages[index], HumanMessage):
            return index
    return None


def answers_in(
    messages: Sequence[AnyMessage | BaseMessage], answer_ids: Collection[str]
) -> Iterator[tuple[int, AIMessage]]:
    """Yield the messages with text that the model made, with their indexes.

    Args:
        messages: All messages of a thread.
        answer_ids: Ids of messages that the model made; others were put there by other code.
    """
    for index, message in enumerate(messages):
        if isinstance(message, AIMessage) and message.id in answer_ids and answer_of(message):
            yield index, message


def final_answer(
    messages: Sequence[AnyMessage | BaseMessage], answer_ids: Collection[str]
) -> tuple[int, AIMessage] | None:
    """Return the answer with which a run ended, with its index.

    There is none if the last message is not the model's, or if the run ended while the model
    was waiting for a tool.
    """
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if isinstance(message, HumanMessage):
            return None
        if isinstance(message, AIMessage):
            is_answer = message.id in answer_ids and not message.tool_calls and answer_of(message)
            return (index, message) if is_answer else None
    return None


def last_call(
    messages: Sequence[AnyMessage | BaseMessage], answer_ids: Collection[str]
) -> tuple[int, AIMessage] | None:
    """Return the message with which the model ended a run, with text or not, with its index."""
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if isinstance(message, HumanMessage):
            return None
        if isinstance(message, AIMessage):
            return (index, message) if message.id in answer_ids else None
    return None


def ids_in(
    messages: Sequence[AnyMessage | BaseMessage], own: Collection[str], key: str
) -> list[str]:
    """Return the ids that our own tools have left in their messages, oldest first."""
    unique: dict[str, None] = {}
    for message in messages:
        if is_own(message, own):
            ids = message.artifact.get(key)
            unique |= dict.fromkeys(str(id_) for id_ in ids if id_) if isinstance(ids, list) else {}
    return list(unique)


def is_own(message: AnyMessage | BaseMessage, own: Collection[str]) -> TypeGuard[ToolMessage]:
    """Return whether a message is the answer of one of our own tools."""
    return (
        isinstance(message, ToolMessage)
        and message.name in own
        and isinstance(message.artifact, Mapping)
        and bool({RECALLED, RECORDED} & message.artifact.keys())
    )


def call_of(messages: Sequence[AnyMessage | BaseMessage], index: int) -> Mapping[str, Any]:
    """Return the call that the tool message at an index answers; empty if it is not there."""
    call_id = getattr(messages[index], "tool_call_id", None)
    for message in reversed(messages[:index]):
        for call in message.tool_calls if isinstance(message, AIMessage) else ():
            if call["id"] == call_id:
                return dict(call)
    return {}


# Placing.


def with_block(messages: Sequence[AnyMessage], block: str) -> list[AnyMessage]:
    """Return the messages of a request with a block right before the newest person's words.

    The block becomes the beginning of a copy of that message, because two messages of a
    person in a row are refused by some models: as text before a text, as a content block
    before content blocks. Nothing is changed that was given.
    """
    index = newest_human(messages)
    if index is None:
        return [HumanMessage(block), *messages]
    # Not a message of its own: some models refuse two messages of a person in a row.
    human = messages[index]
    content: Any = human.content
    if isinstance(content, str):
        content = f"{block}\n\n{content}" if content else block
    else:
        content = [{"type": "text", "text": f"{block}\n\n"}, *content]
    changed = human.model_copy(update={"content": content})
    return [*messages[:index], changed, *messages[index + 1 :]]


# Blocks that our middleware has put into the current request.
_SHOWN: Final[ContextVar[frozenset[str]]] = ContextVar(
    "memoryware_shown_blocks", default=frozenset()
)
# Types of content blocks that are the answer of a model.
_SAID: Final = frozenset({"text", "output_text"})
# Types of messages that are searched. A system message is the developer's, and stays.
_READ: Final = frozenset({"human", "tool", "ai", "chat", "function"})
# Keys of a content block under which a model reads text.
_TEXT: Final = frozenset({"text", "content"})
_Change = Callable[[str], str]


@contextmanager
def own_blocks_shown(blocks: Collection[str]) -> Iterator[None]:
    """Tell middleware closer to the model which blocks of a request are ours."""
    reset = _SHOWN.set(_SHOWN.get() | {block for block in blocks if block})
    try:
        yield
    finally:
        _SHOWN.reset(reset)


def neutralise_forged(messages: Sequence[AnyMessage]) -> list[AnyMessage] | None:
    """Return the messages of a request without forged tags of recalled memory; None if it has none.

    Consecutive messages of one type are searched as one text, because some providers join them.
    Messages are not changed in place, and one without a forged tag stays the same object.
    """
    safe: list[AnyMessage] = []
    for kind, some in groupby(messages, lambda message: message.type):
        together = list(some)
        safe += _unforged(together) if kind in _READ else together
    if all(new is old for new, old in zip(safe, messages, strict=True)):
        return None
    return safe


def _unforged(messages: list[AnyMessage]) -> list[AnyMessage]:
    # Our own blocks are taken out of the texts first, as they have real tags.
    ours = _SHOWN.get()
    pieces: list[list[str]] = []  # of each text, in turn: text of others, a block of ours, ...

    def collect(text: str) -> str:
        pieces.append(re.split(f"({'|'.join(map(re.escape, ours))})", text) if ours else [text])
        return text

    for message in messages:
        _map_texts(message.content, collect, answers=message.type == "ai")
    others = [piece for several in pieces for piece in several[::2]]
    safe = unforged(others)
    if safe == others and not any(map(_has_blocks, messages)):
        return messages
    left = iter(safe)
    for several in pieces:
        several[::2] = [next(left) for _ in several[::2]]
    whole = iter(["".join(several) for several in pieces])
    return [_with_changed_texts(message, lambda _: next(whole)) for message in messages]


def _with_changed_texts(message: AnyMessage, change: _Change) -> AnyMessage:
    content = _map_texts(message.content, change, answers=message.type == "ai")
    if content == message.content:
        return message
    return message.model_copy(update={"content": content})


def _has_blocks(message: AnyMessage) -> bool:
    return not isinstance(message.content, str) and message.type != "ai"


def _map_texts(value: Any, change: _Change, *, answers: bool) -> Any:
    """Return content with changed texts; in answers only blocks of text are changed."""
    # Reasoning blocks are signed by the provider, which refuses them if they were changed.
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_map_texts(item, change, answers=answers) for item in value]
    if not isinstance(value, Mapping) or (answers and value.get("type", "text") not in _SAID):
        return value
    changed = dict(value)
    for key, item in value.items():
        if key in _TEXT:
            changed[key] = _map_texts(item, change, answers=answers)
        elif not answers and key != "type":
            changed[key] = _change_each_text(item)
    return changed


def _change_each_text(value: Any) -> Any:
    """Return another part of a content block, each text of which is searched alone."""
    if isinstance(value, str):
        return unforged([value])[0]
    if isinstance(value, list):
        return [_change_each_text(item) for item in value]
    return (
        {key: _change_each_text(item) for key, item in value.items()}
        if isinstance(value, Mapping)
        else value
    )

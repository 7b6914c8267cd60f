"""System messages: add a text, mark it for prompt caching, remove memory from traces."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final, Literal

from langchain_core.messages import SystemMessage
from pydantic import BaseModel

from memoryware.middleware._agent_state import CONTENTS

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

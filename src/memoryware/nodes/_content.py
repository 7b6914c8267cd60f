"""What a node has said, and what a state asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.types import Command

Content: TypeAlias = str | Sequence[str] | Callable[[Any], str | None]
"""Where the text of an update is: keys of the state in order, or a function of the update."""

KEYS: Final = ("messages", "content", "agent_output", "response", "output", "final_report")
"""Keys under which nodes are wont to put their text."""
_FACTS: Final = ("confidence", "verify_pending")


@dataclass(frozen=True, slots=True)
class Said:
    """What a node has said.

    Attributes:
        text: The text.
        id: Of the message, if it was one.
        metadata: What the node said of it.
    """

    text: str
    id: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


def said_in(result: Any, content: Content = KEYS) -> Said | None:
    """Return what a node has said with what it returned; None if there is no text.

    A `Command` says what its update says, a list what the last of its parts does.
    """
    if isinstance(result, Command):
        return said_in(result.update, content)
    if callable(content):
        text = content(result)
        return Said(text.strip(), metadata=_metadata(result)) if text and text.strip() else None
    if isinstance(result, BaseMessage):
        return _of_messages([result])
    if isinstance(result, list | tuple):
        if all(isinstance(one, BaseMessage) for one in result):
            return _of_messages(result)
        parts = (said_in(one, content) for one in reversed(result))
        return next((one for one in parts if one is not None), None)
    for key in (content,) if isinstance(content, str) else content:
        found = _of_value(value_in(result, key))
        if found is not None:
            return Said(found.text, found.id, {**_metadata(result), **found.metadata})
    return None


def value_in(state: Any, key: str) -> Any:
    """Return a part of a state, which is a mapping, a model or a dataclass; None if not there."""
    return state.get(key) if isinstance(state, Mapping) else getattr(state, key, None)


def text_in(state: Any, keys: Sequence[str]) -> str:
    """Return the first text of a state under one of the keys, else "" ."""
    for key in keys:
        value = value_in(state, key)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return ""


def messages_in(state: Any, key: str = "messages") -> list[BaseMessage]:
    """Return the messages of a state."""
    value = state if isinstance(state, list | tuple) else value_in(state, key)
    some = value if isinstance(value, list | tuple) else [value]
    return [one for one in some if isinstance(one, BaseMessage)]


def last_human(messages: Sequence[BaseMessage]) -> str:
    """Return the text of the newest message of a person; "" for none."""
    found = (str(one.text) for one in reversed(messages) if isinstance(one, HumanMessage))
    return next(found, "").strip()


def tools_in(messages: Sequence[BaseMessage]) -> set[str]:
    """Return the names of the tools whose results are among the messages."""
    called = {
        call["id"]: call["name"]
        for one in messages
        if isinstance(one, AIMessage)
        for call in one.tool_calls
    }
    return {
        one.name or called.get(one.tool_call_id) or ""
        for one in messages
        if isinstance(one, ToolMessage)
    }


def _of_value(value: Any) -> Said | None:
    if isinstance(value, str):
        return Said(value.strip()) if value.strip() else None
    if isinstance(value, BaseMessage):
        return _of_messages([value])
    return _of_messages(value) if isinstance(value, list | tuple) else None


def _of_messages(messages: Sequence[Any]) -> Said | None:
    """Return the last text that a model wrote; a call of tools alone is none."""
    for one in reversed(messages):
        if isinstance(one, AIMessage) and str(one.text).strip():
            facts = {
                name: one.additional_kwargs[name]
                for name in _FACTS
                if name in one.additional_kwargs
            }
            return Said(str(one.text).strip(), one.id or "", facts)
    return None


def _metadata(result: Any) -> dict[str, Any]:
    given = value_in(result, "metadata")
    return dict(given) if isinstance(given, Mapping) else {}

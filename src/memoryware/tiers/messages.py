"""Texts of messages, states and node outputs: what was said, by whom, with which attachments.

Messages are those of langchain, or mappings and pairs that langchain would read as such. All
functions are pure, and none changes its arguments.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any, Final, TypeAlias

from memoryware.tiers.text.reasoning import without_reasoning

Content: TypeAlias = str | Sequence[str] | Callable[[Any], str | None]
"""Where the text of a node's output is: keys in order, or a function of the output."""

KEYS: Final = ("messages", "content", "agent_output", "response", "output", "final_report")
"""Keys under which nodes usually put their text."""
_ANNOTATIONS: Final = ("confidence", "verify_pending")
"""What a node may say of its text, beside it or in the `additional_kwargs` of the message."""
_ALIASES: Final = {
    "user": "human",
    "assistant": "ai",
    "AIMessageChunk": "ai",
    "HumanMessageChunk": "human",
    "ToolMessageChunk": "tool",
    "FunctionMessageChunk": "function",
    "ChatMessageChunk": "chat",
}
_MESSAGE_KINDS: Final = frozenset(
    {"human", "ai", "tool", "system", "developer", "function", "chat", "remove"}
)
_MEDIA: Final = frozenset(
    {"image", "image_url", "input_image", "audio", "input_audio", "video", "file", "input_file"}
)
"""Types of content blocks that are counted and not kept."""
_TEXTS: Final = frozenset({"text", "input_text"})
"""Types of content blocks that hold what the author of a message says."""
_PAYLOAD: Final = frozenset(
    {
        *("audio", "base64", "content", "data", "document", "file", "file_data", "file_id"),
        *("file_uri", "image", "image_url", "input_audio", "source", "text", "url", "value"),
        *("video",),
    }
)
"""Keys of a content block that holds something; a mark for a cache has none of them."""
_LONGEST_KIND: Final = 40
_PAIR: Final = 2


@dataclass(frozen=True, slots=True)
class NodeOutput:
    """The text of a node's output.

    Attributes:
        text: The text.
        message: The message that holds it, if one does.
        metadata: What the node says of it, such as `confidence`.
    """

    text: str
    message: Any = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


# Messages.


def kind_of(message: Any) -> str:
    """Return "human", "ai", "tool" or another type of a message; "" for what is no message."""
    name: Any = ""
    if isinstance(message, Mapping):
        name = (message.get("role") or message.get("type")) if "content" in message else ""
    elif _is_pair(message):
        name = message[0]
    elif hasattr(message, "content"):
        name = getattr(message, "type", "")
    kind = _ALIASES.get(str(name), str(name))
    if kind == "chat":  # a message of any role; one of an unknown role stays a "chat"
        role = str(_field(message, "role") or "")
        role = _ALIASES.get(role, role)
        kind = role if role in _MESSAGE_KINDS - {"remove"} else "chat"
    return kind if kind in _MESSAGE_KINDS else ""


def text_of(content: Any) -> str:
    """Return the text parts of a message, or of the content of one: a text or content blocks."""
    if isinstance(content, str):
        return content.strip()
    if isinstance(content, Mapping):
        return text_of(content.get("content", content.get("text")))
    if _is_pair(content):
        return text_of(content[1])
    if isinstance(content, list | tuple):
        return "".join(map(_block_text, content)).strip()
    return text_of(content.content) if hasattr(content, "content") else ""


def answer_of(message: Any) -> str:
    """Return the text of a model's message without the reasoning that a local model left in it."""
    return without_reasoning(text_of(message))


def media_in(message: Any) -> dict[str, int]:
    """Return how many images, recordings and files a message has, by type."""
    content = getattr(message, "content", message)
    if isinstance(content, Mapping):
        content = content.get("content")
    if not isinstance(content, list | tuple):
        return {}
    kinds = [str(block.get("type")) for block in content if isinstance(block, Mapping)]
    return dict(Counter(_plain_kind(kind) for kind in kinds if kind in _MEDIA))


def attachments_in(messages: Sequence[Any]) -> set[str]:
    """Return the types of what people have attached to their messages: images, files, documents.

    The text of a message is what its author said; an attachment may have been made by others.
    """
    kinds: set[str] = set()
    for message in messages:
        if kind_of(message) != "human":
            continue
        content = _field(message, "content")
        for block in content if isinstance(content, list | tuple) else ():
            if isinstance(block, Mapping) and not _PAYLOAD.isdisjoint(block):
                kind = str(block.get("type") or "file")
                if kind not in _TEXTS:
                    kinds.add(_plain_kind(kind)[:_LONGEST_KIND])
    return kinds


def last_human_text(messages: Sequence[Any]) -> str:
    """Return the text of the newest message of a person; "" without one."""
    for message in reversed(messages):
        if kind_of(message) == "human":
            return text_of(message)
    return ""


def has_user(messages: Sequence[Any]) -> bool:
    """Say whether a person has written any of the messages."""
    return any(kind_of(message) == "human" for message in messages)


# States.


def value_in(state: Any, key: str) -> Any:
    """Return a part of a state, which is a mapping, a model or a dataclass; None without it."""
    return state.get(key) if isinstance(state, Mapping) else getattr(state, key, None)


def first_text(state: Any, keys: Sequence[str]) -> str:
    """Return the first text of a state under one of the keys; "" without one."""
    for key in keys:
        value = value_in(state, key)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return ""


def messages_in(state: Any, key: str = "messages") -> list[Any]:
    """Return the messages of a state, which may be a list of messages itself."""
    value = state if isinstance(state, list | tuple) else value_in(state, key)
    return [item for item in _as_list(value) if kind_of(item)]


# Outputs of nodes.


def content_of(
    result: Any, content: Content = KEYS, before: Sequence[Any] = ()
) -> NodeOutput | None:
    """Return the text of a node's output; None if it has none.

    The text of a command is that of its update, the text of a list of updates that of the last
    one with a text. Reasoning that a local model has left in it is removed; see
    `without_reasoning`.

    Args:
        result: What the node returned, or a state.
        content: Where the text is.
        before: Messages that were there already, whose texts are not new.
    """
    if callable(content):
        text = without_reasoning(content(result) or "").strip()
        return NodeOutput(text, None, _metadata(result)) if text else None
    keys = (content,) if isinstance(content, str) else content
    for update in _updates(result):
        for key in keys:
            output = _output(value_in(update, key), before, is_only_key=len(keys) == 1)
            if output is not None:
                metadata = {**_metadata(update), **_message_facts(output.message)}
                return NodeOutput(output.text, output.message, metadata)
    return None


def _updates(result: Any) -> Iterator[Any]:
    """Yield the state updates in an output, the last first."""
    if hasattr(result, "goto") and hasattr(result, "update"):
        yield from _updates(result.update)
    elif hasattr(result, "save") and hasattr(result, "value"):  # the end of an entrypoint
        yield from _updates(result.value)
    elif isinstance(result, str) or kind_of(result):
        yield {"messages": [result], "content": result}
    elif isinstance(result, list | tuple):
        if result and all(_is_pair(item) and not kind_of(item) for item in result):
            yield dict(result)
        elif result and all(map(kind_of, result)):
            yield {"messages": result}
        else:
            for item in reversed(result):
                yield from _updates(item)
    elif result is not None:
        yield result


def _output(value: Any, before: Sequence[Any], *, is_only_key: bool) -> NodeOutput | None:
    if isinstance(value, str):
        text = without_reasoning(value).strip()
        return NodeOutput(text) if text else None
    if value is None or isinstance(value, bool | int | float):
        return None
    items = _as_list(value)
    if items and all(map(kind_of, items)):
        for message in reversed(items):
            if kind_of(message) == "ai" and not _is_among(message, before):
                text = answer_of(message)
                if text:
                    return NodeOutput(text, message)
        return None
    if isinstance(value, list | tuple) and (text := answer_of(value)):
        return NodeOutput(text)
    # A structured value under one of the usual keys may be anything; a key that was named is meant.
    return NodeOutput(_as_json(value)) if is_only_key else None


def _as_json(value: Any) -> str:
    """Return a structured answer as JSON."""
    if hasattr(value, "model_dump"):
        value = value.model_dump(mode="json")
    elif is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    return json.dumps(value, ensure_ascii=False, default=str)


def _message_facts(message: Any) -> dict[str, Any]:
    """Return what a message says of its text, and its media."""
    extra = _field(message, "additional_kwargs") or {}
    facts = {name: extra[name] for name in _ANNOTATIONS if name in extra}
    media = media_in(message)
    return {**facts, "media": media} if media else facts


def _metadata(update: Any) -> dict[str, Any]:
    metadata = value_in(update, "metadata")
    values = {name: value_in(update, name) for name in _ANNOTATIONS}
    return {
        **{name: value for name, value in values.items() if value is not None},
        **(metadata if isinstance(metadata, Mapping) else {}),
    }


def _is_among(message: Any, messages: Sequence[Any]) -> bool:
    id_ = _field(message, "id")
    return any(
        other is message or (id_ == _field(other, "id") if id_ else other == message)
        for other in messages
    )


def _as_list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) and not _is_pair(value) else [value]


def _field(message: Any, name: str) -> Any:
    return message.get(name) if isinstance(message, Mapping) else getattr(message, name, None)


def _block_text(block: Any) -> str:
    if isinstance(block, str):
        return block
    is_text = isinstance(block, Mapping) and block.get("type", "text") == "text"
    text = block.get("text") if is_text else None
    return text if isinstance(text, str) else ""


def _plain_kind(kind: str) -> str:
    return kind.removeprefix("input_").removesuffix("_url")


def _is_pair(value: Any) -> bool:
    """Say whether a value is a pair of a name and something."""
    return isinstance(value, tuple) and len(value) == _PAIR and isinstance(value[0], str)

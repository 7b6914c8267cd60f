"""What messages, states and updates say: their texts, who wrote them, what they came from.

Messages are those of langchain, or mappings and pairs that langchain would read as such. All
functions are pure, and none changes what it is given.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any, Final, TypeAlias

from memoryware.tiers.text.reasoning import without_thoughts

Content: TypeAlias = str | Sequence[str] | Callable[[Any], str | None]
"""Where the text of an update is: keys in order, or a function of what a node returned."""

KEYS: Final = ("messages", "content", "agent_output", "response", "output", "final_report")
"""Keys under which nodes are wont to put their text."""
_SAID_OF_IT: Final = ("confidence", "verify_pending")
"""What a node may say of its text, beside it or in the `additional_kwargs` of the message."""
_KINDS: Final = {
    "user": "human",
    "assistant": "ai",
    "AIMessageChunk": "ai",
    "HumanMessageChunk": "human",
    "ToolMessageChunk": "tool",
    "FunctionMessageChunk": "function",
    "ChatMessageChunk": "chat",
}
_MESSAGES: Final = frozenset(
    {"human", "ai", "tool", "system", "developer", "function", "chat", "remove"}
)
"""Types of messages."""
_MEDIA: Final = frozenset(
    {"image", "image_url", "input_image", "audio", "input_audio", "video", "file", "input_file"}
)
"""Types of content blocks that are noted and not kept."""
_TEXTS: Final = frozenset({"text", "input_text"})
"""Types of content blocks that hold what the writer of a message says."""
_PAYLOAD: Final = frozenset(
    {
        *("audio", "base64", "content", "data", "document", "file", "file_data", "file_id"),
        *("file_uri", "image", "image_url", "input_audio", "source", "text", "url", "value"),
        *("video",),
    }
)
"""Keys of a content block that holds something; a mark for a cache has none of them."""
_PAIR: Final = 2


@dataclass(frozen=True, slots=True)
class Said:
    """What a node has said.

    Attributes:
        text: The text.
        message: The message that it stands in, if it was one.
        metadata: What the node said of it.
    """

    text: str
    message: Any = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


# Messages.


def kind_of(message: Any) -> str:
    """Return "human", "ai", "tool" or another type of a message; "" for what is none."""
    said: Any = ""
    if isinstance(message, Mapping):
        said = (message.get("role") or message.get("type")) if "content" in message else ""
    elif _is_pair(message):
        said = message[0]
    elif hasattr(message, "content"):
        said = getattr(message, "type", "")
    kind = _KINDS.get(str(said), str(said))
    if kind == "chat":  # a message of any role; one that nobody knows stays a "chat"
        role = str(_field(message, "role") or "")
        role = _KINDS.get(role, role)
        kind = role if role in _MESSAGES - {"remove"} else "chat"
    return kind if kind in _MESSAGES else ""


def text_of(content: Any) -> str:
    """Return the text parts of a message, or of what stands in one: a text or content blocks."""
    if isinstance(content, str):
        return content.strip()
    if isinstance(content, Mapping):
        return text_of(content.get("content", content.get("text")))
    if _is_pair(content):
        return text_of(content[1])
    if isinstance(content, list | tuple):
        return "".join(_part(one) for one in content).strip()
    return text_of(content.content) if hasattr(content, "content") else ""


def answer_of(message: Any) -> str:
    """Return the text of a model's message without the reasoning that a local model left in it."""
    return without_thoughts(text_of(message))


def media_in(message: Any) -> dict[str, int]:
    """Return how many images, recordings and files a message has, by type."""
    content = getattr(message, "content", message)
    if isinstance(content, Mapping):
        content = content.get("content")
    if not isinstance(content, list | tuple):
        return {}
    kinds = [str(one.get("type")) for one in content if isinstance(one, Mapping)]
    plain = [one.removeprefix("input_").removesuffix("_url") for one in kinds if one in _MEDIA]
    return dict(Counter(plain))


def attachments_in(messages: Sequence[Any]) -> set[str]:
    """Return the types of what people have attached to their messages: images, files, documents.

    Text of a message is what its writer said; an attachment is what somebody else may have made.
    """
    found: set[str] = set()
    for message in messages:
        if kind_of(message) != "human":
            continue
        content = _field(message, "content")
        for block in content if isinstance(content, list | tuple) else ():
            if isinstance(block, Mapping) and not _PAYLOAD.isdisjoint(block):
                kind = str(block.get("type") or "file")
                if kind not in _TEXTS:
                    found.add(kind.removeprefix("input_").removesuffix("_url")[:40])
    return found


def last_human_text(messages: Sequence[Any]) -> str:
    """Return the text of the newest message of a person; "" for none."""
    found = (text_of(one) for one in reversed(messages) if kind_of(one) == "human")
    return next(found, "")


def has_user(messages: Sequence[Any]) -> bool:
    """Say whether a person has written any of the messages."""
    return any(kind_of(one) == "human" for one in messages)


# States.


def value_in(state: Any, key: str) -> Any:
    """Return a part of a state, which is a mapping, a model or a dataclass; None if not there."""
    return state.get(key) if isinstance(state, Mapping) else getattr(state, key, None)


def first_text(state: Any, keys: Sequence[str]) -> str:
    """Return the first text of a state under one of the keys; "" for none."""
    values = (value_in(state, key) for key in keys)
    return next((one.strip() for one in values if isinstance(one, str) and one.strip()), "")


def messages_in(state: Any, key: str = "messages") -> list[Any]:
    """Return the messages of a state, or those that are the state."""
    value = state if isinstance(state, list | tuple) else value_in(state, key)
    some = value if isinstance(value, list | tuple) and not _is_pair(value) else [value]
    return [one for one in some if kind_of(one)]


# What was said.


def content_of(result: Any, content: Content = KEYS, before: Sequence[Any] = ()) -> Said | None:
    """Return what a node has said with what it returned; None if there is no text.

    A command says what its update says, a list of updates what the last of them does. The inline
    reasoning of a local model is left out; see `without_thoughts`.

    Args:
        result: What the node returned, or a state.
        content: Where the text is.
        before: Messages that were there already; their texts are not said again.
    """
    if callable(content):
        text = without_thoughts(content(result) or "").strip()
        return Said(text, None, _metadata(result)) if text else None
    for update in _updates(result):
        keys = (content,) if isinstance(content, str) else content
        for key in keys:
            found = _said(value_in(update, key), before, asked=len(keys) == 1)
            if found is not None:
                return Said(
                    found.text, found.message, {**_metadata(update), **_facts(found.message)}
                )
    return None


def _updates(result: Any) -> Iterator[Any]:
    """Yield the updates of a state that a node returned, the last first."""
    if hasattr(result, "goto") and hasattr(result, "update"):
        yield from _updates(result.update)
    elif hasattr(result, "save") and hasattr(result, "value"):  # the end of an entrypoint
        yield from _updates(result.value)
    elif isinstance(result, str) or kind_of(result):
        yield {"messages": [result], "content": result}
    elif isinstance(result, list | tuple):
        if result and all(_is_pair(one) and not kind_of(one) for one in result):
            yield dict(result)
        elif result and all(kind_of(one) for one in result):
            yield {"messages": result}
        else:
            for one in reversed(result):
                yield from _updates(one)
    elif result is not None:
        yield result


def _said(value: Any, before: Sequence[Any], *, asked: bool) -> Said | None:
    if isinstance(value, str):
        text = without_thoughts(value).strip()
        return Said(text) if text else None
    if value is None or isinstance(value, bool | int | float):
        return None
    some = value if isinstance(value, list | tuple) and not _is_pair(value) else [value]
    if some and all(kind_of(one) for one in some):
        new = (one for one in reversed(some) if kind_of(one) == "ai" and not _is_in(one, before))
        return next((Said(text, one) for one in new if (text := answer_of(one))), None)
    if isinstance(value, list | tuple) and (text := answer_of(value)):
        return Said(text)
    return Said(_as_json(value)) if asked else None


def _as_json(value: Any) -> str:
    """Return a structured answer as JSON."""
    if hasattr(value, "model_dump"):
        value = value.model_dump(mode="json")
    elif is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    return json.dumps(value, ensure_ascii=False, default=str)


def _facts(message: Any) -> dict[str, Any]:
    """Return what is known of a message besides its text."""
    more = _field(message, "additional_kwargs") or {}
    facts = {name: more[name] for name in _SAID_OF_IT if name in more}
    media = media_in(message)
    return {**facts, "media": media} if media else facts


def _metadata(update: Any) -> dict[str, Any]:
    given = value_in(update, "metadata")
    known = dict(given) if isinstance(given, Mapping) else {}
    beside = {name: value_in(update, name) for name in _SAID_OF_IT}
    return {**{name: one for name, one in beside.items() if one is not None}, **known}


def _is_in(message: Any, before: Sequence[Any]) -> bool:
    name = _field(message, "id")
    return any(
        one is message or (name == _field(one, "id") if name else one == message) for one in before
    )


def _field(message: Any, name: str) -> Any:
    return message.get(name) if isinstance(message, Mapping) else getattr(message, name, None)


def _part(block: Any) -> str:
    if isinstance(block, str):
        return block
    is_text = isinstance(block, Mapping) and block.get("type", "text") == "text"
    text = block.get("text") if is_text else None
    return text if isinstance(text, str) else ""


def _is_pair(value: Any) -> bool:
    """Say whether a value is a pair of a name and something."""
    return isinstance(value, tuple) and len(value) == _PAIR and isinstance(value[0], str)

"""Messages of a conversation: their text without reasoning, their roles, and results of tools."""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any, Final, Literal, TypeAlias, get_args

from memoryware.tiers import checking
from memoryware.tiers.model import Role
from memoryware.tiers.provenance import Origin
from memoryware.tiers.reasoning import without_reasoning
from memoryware.tiers.text.utterances import ChatterCode
from memoryware.tiers.values import Layer

# The texts in messages.


Content: TypeAlias = str | Sequence[str] | Callable[[Any], str | None]
"""Where the text of a node's output is: keys in order, or a function of the output."""

KEYS: Final = ("messages", "content", "agent_output", "response", "output", "final_report")
"""Keys under which nodes usually put their text."""
_ANNOTATIONS: Final = ("confidence", "verify_pending")
"""Keys by which a node may annotate its text: in its output, or in `additional_kwargs`."""
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
"""Types of content blocks that hold text of the author."""
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
        metadata: Annotations of the node, such as `confidence`.
    """

    text: str
    message: Any = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


# Messages.


def kind_of(message: Any) -> str:
    """Return the type of a message: "human", "ai", "tool" or another one.

    Args:
        message: A message, a mapping, or a pair of role and content.

    Returns:
        The type; "" for a value that is not a message.
    """
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
    """Return the text of a message or of its content, without images and files.

    Args:
        content: A message, a text, or content blocks.

    Returns:
        The text, without blanks at its ends.
    """
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
    """Return the text of a model's message without inline reasoning; see `without_reasoning`.

    Args:
        message: A message, as LangChain or as a mapping has it.

    Returns:
        The text.
    """
    return without_reasoning(text_of(message))


def media_in(message: Any) -> dict[str, int]:
    """Count the images, recordings and files of a message.

    Args:
        message: A message, as LangChain or as a mapping has it.

    Returns:
        The counts, by type.
    """
    content = getattr(message, "content", message)
    if isinstance(content, Mapping):
        content = content.get("content")
    if not isinstance(content, list | tuple):
        return {}
    kinds = [str(block.get("type")) for block in content if isinstance(block, Mapping)]
    return dict(Counter(_plain_kind(kind) for kind in kinds if kind in _MEDIA))


def attachments_in(messages: Sequence[Any]) -> set[str]:
    """Return the types of attachments of people's messages: images, files, documents.

    The text of a message is what its author said; an attachment may have been made by others.

    Args:
        messages: Messages, as LangChain or as mappings have them.

    Returns:
        The types, such as "image".
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
    """Return the text of the newest message of a person.

    Args:
        messages: Messages, as LangChain or as mappings have them.

    Returns:
        The text; "" if no person has written any.
    """
    for message in reversed(messages):
        if kind_of(message) == "human":
            return text_of(message)
    return ""


def has_user(messages: Sequence[Any]) -> bool:
    """Return whether a person has written any of the messages.

    Args:
        messages: Messages, as LangChain or as mappings have them.

    Returns:
        Whether any message is of type "human".
    """
    return any(kind_of(message) == "human" for message in messages)


# States.


def value_in(state: Any, key: str) -> Any:
    """Return a value of a state.

    Args:
        state: The state of a graph: a mapping, a model or a dataclass.
        key: The key.

    Returns:
        The value; None if the state does not have it.
    """
    return state.get(key) if isinstance(state, Mapping) else getattr(state, key, None)


def first_text(state: Any, keys: Sequence[str]) -> str:
    """Return the first text of a state under one of several keys.

    Args:
        state: The state of a graph: a mapping, a model or a dataclass.
        keys: The keys, in order.

    Returns:
        The text; "" if there is none.
    """
    for key in keys:
        value = value_in(state, key)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return ""


def messages_in(state: Any, key: str = "messages") -> list[Any]:
    """Return the messages of a state.

    Args:
        state: The state of a graph, or a list of messages.
        key: Where the messages are.

    Returns:
        The messages; other values of the list are left out.
    """
    value = state if isinstance(state, list | tuple) else value_in(state, key)
    return [item for item in _as_list(value) if kind_of(item)]


# Outputs of nodes.


def content_of(
    result: Any,
    content: Content = KEYS,
    before: Sequence[Any] = (),
    *,
    kind: Literal["ai", "human"] = "ai",
) -> NodeOutput | None:
    """Return the text of a node's output; None if it has none.

    The text of a command is that of its update, the text of a list of updates that of the last one
    with a text. Reasoning that a local model has left in it is removed; see `without_reasoning`.

    Args:
        result: What the node returned, or a state.
        content: Where the text is.
        before: Messages that were there already, whose texts are not new.
        kind: Whose messages count: those of a model, or of a person.

    Returns:
        The text with its message and metadata; None if the output has no text.
    """
    if callable(content):
        text = without_reasoning(content(result) or "").strip()
        return NodeOutput(text, None, _metadata(result)) if text else None
    keys = (content,) if isinstance(content, str) else content
    for update in _updates(result):
        for key in keys:
            value = value_in(update, key)
            output = _output(value, before, is_only_key=len(keys) == 1, kind=kind)
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


def _output(
    value: Any, before: Sequence[Any], *, is_only_key: bool, kind: str
) -> NodeOutput | None:
    if isinstance(value, str):
        text = without_reasoning(value).strip()
        return NodeOutput(text) if text else None
    if value is None or isinstance(value, bool | int | float):
        return None
    items = _as_list(value)
    if items and all(map(kind_of, items)):
        for message in reversed(items):
            if kind_of(message) == kind and not _is_among(message, before):
                text = answer_of(message) if kind == "ai" else text_of(message)
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
    """Return the annotations of a message, and its media."""
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
    """Return whether a value is a pair of a name and something."""
    return isinstance(value, tuple) and len(value) == _PAIR and isinstance(value[0], str)


# Which role and which origins a message has.


Attachments = Literal["outside", "user"]
"""How far attachments of a message are trusted: as from outside, or as its author."""
ROLE_KEY: Final = "memory_role"
"""Key in the metadata of a graph node: the part that it plays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleRules:
    """The rules of one role.

    Attributes:
        record: The tiers that its output goes to; working memory only through the filters.
        recall: The tiers that it is shown.
        inject: Whether recalled texts are put into the prompt of its model.
    """

    record: tuple[Layer, ...] = ("quarantine",)
    recall: tuple[Literal["working", "long_term"], ...] = ()
    inject: bool = False


ROLES: Final[Mapping[Role, RoleRules]] = {
    "agent": RoleRules(
        record=("quarantine", "working"), recall=("working", "long_term"), inject=True
    ),
    "user": RoleRules(record=("quarantine", "working")),
    "fact_check": RoleRules(recall=("long_term",), inject=True),
    "memory_retrieval": RoleRules(record=(), recall=("working", "long_term")),
    "tool": RoleRules(),
    "other": RoleRules(),
}
"""The rules of each role: agents are recorded and shown both tiers, what the user says is recorded
in both, checks of facts stay in quarantine and see what was promoted, retrieval is never recorded,
all others are quarantined."""


CHATTER_CODES: Final[frozenset[str]] = frozenset(get_args(ChatterCode))
"""Codes of utterances of the user that state nothing; they are in quarantine and in no digest."""


def is_chatter(role: Role, refused: str | None) -> bool:
    """Return whether an entry is a message of the user that states nothing.

    Args:
        role: The role of the entry.
        refused: Its refusal code.

    Returns:
        Whether it is; such an entry is in no digest, and only a person promotes it.
    """
    return role == "user" and refused in CHATTER_CODES


JUDGING: Final[frozenset[Role]] = frozenset({"fact_check"})
"""Roles that only judge what others said. Their outputs are kept in quarantine as a record, and
are never candidates for long-term memory: not in a digest, and not to be proposed or promoted."""


def role_in(config: Any, default: Role) -> Role:
    """Return the role that the metadata of a graph node names.

    Args:
        config: The config of the node.
        default: The role of a node that names none.

    Returns:
        The role.
    """
    metadata = (config or {}).get("metadata") or {}
    name = metadata.get(ROLE_KEY)
    roles: tuple[Role, ...] = get_args(Role)
    return next((role for role in roles if role == name), default)


def attachment_origins(messages: Sequence[Any], attachments: Attachments) -> list[Origin]:
    """Return the origins of attachments that people have put into their messages.

    Args:
        messages: Messages, as LangChain or as mappings have them.
        attachments: Whether attachments are from outside, or the word of the user.

    Returns:
        An origin for each type of attachment; none if they are the word of the user.
    """
    if attachments == "user":
        return []
    kinds = sorted(attachments_in(messages))
    return [Origin.file(f"attachment:{kind}", trusted=False) for kind in kinds]


def check_attachments(attachments: Any) -> None:
    """Require a valid value for `attachments=`.

    Args:
        attachments: What the caller passed.

    Raises:
        SettingError: For anything else, naming the choices.
    """
    checking.choice("attachments", attachments, get_args(Attachments))


# Calls of tools and their results.


RECALLED: Final = "memoryware_recalled"
"""Key in the artifact of a tool message: ids of records that our own tool has shown."""
UNKNOWN_RECALL: Final = Origin("tool", "recall")
"""The origin of a recalled text that is no longer in a store to look its own up."""
RECORDED: Final = "memoryware_kept"
"""Key in the artifact of a tool message: ids of entries that our own tool has recorded."""
NOTHING: Final = "Memory has nothing that fits. Try other words, or go on without."
UNAVAILABLE: Final = "Error: memory could not be asked just now. Go on without it."
KEPT_FOR_REVIEW: Final = (
    "Kept for review. It becomes lasting memory only if a person promotes it; until then do not"
    " rely on finding it again."
)
NOT_KEPT: Final = "Error: it could not be kept just now. Go on without it."
_SHOWN: Final = "Memory found {count} that may fit the query"
_WHERE: Final = (
    ". What it found is shown while this run lasts and stands in no message; to see it again later,"
    " look it up again."
)
_OWN_TOOLS: Final = ("recall", "remember")
"""Names of our own tools; with a name of the middleware behind them there may be more."""
_FIXED: Final = frozenset({NOTHING, UNAVAILABLE, KEPT_FOR_REVIEW, NOT_KEPT})
_TODOS: Final = "Updated todo list to "
"""What LangChain's `write_todos` answers, followed by the list."""
_TODOS_REFUSED: Final = (
    "Error: The `write_todos` tool should never be called multiple times in parallel. Please call"
    " it only once per model invocation to update the todo list."
)
_TODO_CHARS: Final = 50_000
_SERVER_CALLS: Final = ("server_tool_call", "server_tool_result")
_SERVER_TOOL: Final = "server_tool"
"""The name of a tool of the provider that has none."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The call of a tool that a message answers.

    Attributes:
        key: Identifies the call in its thread: the id of the model's message and of the call.
            Some local models number their calls from one in each message. "" without ids.
        name: The tool that the model called.
        args: Its arguments.
    """

    key: str
    name: str
    args: Mapping[str, Any]


def call_key(message_id: Any, call_id: Any) -> str:
    """Return the key of a tool call in its thread.

    Args:
        message_id: The id of the model's message.
        call_id: The id of the call.

    Returns:
        The key; "" if either id is missing.
    """
    return f"{message_id}/{call_id}" if message_id and call_id else ""


def recall_result_text(count: int) -> str:
    """Return the lasting message of the `recall` tool: how many texts it found, without the texts.

    Args:
        count: How many.

    Returns:
        The message.
    """
    number = "one text" if count == 1 else f"{count} texts"
    return _SHOWN.replace("{count}", number) + _WHERE


def with_calls(messages: Sequence[Any]) -> Iterator[tuple[Any, ToolCall | None]]:
    """Yield each message with the tool call that it answers, the nearest one before it.

    Args:
        messages: Messages, as LangChain or as mappings have them.

    Yields:
        Pairs of a message and its call; None for a message that answers none.
    """
    called: dict[Any, ToolCall] = {}
    function: ToolCall | None = None
    for message in messages:
        kind = kind_of(message)
        if kind == "ai":
            called |= _calls_of(message)
            function = _function_call_of(message) or function
        if kind == "tool":
            yield message, called.get(_call_field(message, "tool_call_id"))
        else:
            yield message, function if kind == "function" else None


def outside_tools(
    messages: Sequence[Any], *, inside: Collection[str] = (), proven: Collection[str] = ()
) -> set[str]:
    """Return the names of the tools whose results in the messages are from outside.

    Args:
        messages: The messages that a model sees.
        inside: Tools that bring nothing from outside, by the names under which models call them.
        proven: Keys of calls that a tool of ours was seen to answer; see `ToolCall.key`.

    Returns:
        The names under which the model called the tools; of a message of another role, the role.
    """
    names: set[str] = set()
    for message, call in with_calls(messages):
        kind = kind_of(message)
        if kind in ("tool", "function"):
            name = call.name if call is not None else str(_call_field(message, "name") or "")
            is_proven = call is not None and bool(call.key) and call.key in proven
            if not (is_proven or name in inside or _is_ours(message, call)):
                names.add(name)
        elif kind == "chat":
            names.add(str(_call_field(message, "role") or ""))
        elif kind == "ai":
            names.update(set(_server_tools(message)) - {*inside})
    return names


def artifact_ids(message: Any) -> list[str] | None:
    """Return the ids in the artifact of a message of our own tools.

    Anybody can write such an artifact. It adds to a lineage and never takes from it.

    Args:
        message: A message, as LangChain or as a mapping has it.

    Returns:
        The ids; None for other messages.
    """
    artifact = _call_field(message, "artifact")
    if kind_of(message) != "tool" or not isinstance(artifact, Mapping):
        return None
    if not {RECALLED, RECORDED} & artifact.keys():
        return None
    lists = [artifact.get(key) for key in (RECALLED, RECORDED)]
    return [str(id_) for ids in lists if isinstance(ids, list) for id_ in ids if id_]


def _is_ours(message: Any, call: ToolCall | None) -> bool:
    """Return whether a message holds only our own sentences, or only what the model wrote."""
    if kind_of(message) != "tool":
        return False
    content = _call_field(message, "content")
    if not isinstance(content, str):
        return False
    if call is not None and call.name == "write_todos":
        return content == _TODOS_REFUSED or _repeats(content, call.args.get("todos"))
    # Anybody may call a tool "recall": only a message with exactly our own text is ours.
    if call is not None and call.name.partition("_")[0] not in _OWN_TOOLS:
        return False
    ids = artifact_ids(message)
    return ids is not None and (content in _FIXED or content == recall_result_text(len(ids)))


def _repeats(content: str, todos: Any) -> bool:
    """Return whether a to-do list is the one that the model wrote, in whatever order of keys."""
    if not content.startswith(_TODOS) or len(content) > _TODO_CHARS:
        return False
    listed = content.removeprefix(_TODOS)
    if listed == str(todos):
        return True
    # LangChain shows the list as Python prints it, with the keys in the order of the model.
    try:
        return bool(ast.literal_eval(listed) == todos)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False


def _calls_of(message: Any) -> dict[Any, ToolCall]:
    calls: dict[Any, ToolCall] = {}
    for call in _call_field(message, "tool_calls") or ():
        function = _call_field(call, "function")  # as OpenAI writes it
        name = _call_field(call, "name") or _call_field(function, "name") or ""
        args = _call_field(call, "args")
        key = call_key(_call_field(message, "id"), _call_field(call, "id"))
        calls[_call_field(call, "id")] = ToolCall(
            key, str(name), args if isinstance(args, Mapping) else {}
        )
    return calls


def _function_call_of(message: Any) -> ToolCall | None:
    more = _call_field(message, "additional_kwargs")
    function = more.get("function_call") if isinstance(more, Mapping) else None
    name = _call_field(function or _call_field(message, "function_call"), "name")
    return ToolCall("", str(name), {}) if name else None


def _call_field(message: Any, name: str) -> Any:
    return message.get(name) if isinstance(message, Mapping) else getattr(message, name, None)


def _server_tools(message: Any) -> Iterator[str]:
    """Yield the tools that the provider itself has called while the model answered."""
    if isinstance(_call_field(message, "content"), str):
        return
    try:
        blocks = [
            *(getattr(message, "content_blocks", None) or _call_field(message, "content") or ())
        ]
    except Exception:  # noqa: BLE001 - a foreign format; what cannot be read is not trusted
        yield _SERVER_TOOL
        return
    for block in blocks:
        if not isinstance(block, Mapping):
            continue
        if block.get("type") in _SERVER_CALLS:
            yield str(block.get("name") or _SERVER_TOOL)
        elif block.get("type") == "text" and any(
            isinstance(note, Mapping) and note.get("url") for note in block.get("annotations") or ()
        ):
            yield _SERVER_TOOL

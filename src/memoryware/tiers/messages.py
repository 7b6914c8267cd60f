"""Messages of a conversation: their text without reasoning, their roles, and results of tools."""

from __future__ import annotations

import ast
import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any, Final, Literal, TypeAlias, get_args

from memoryware.tiers import checking
from memoryware.tiers.model import Origin, Role
from memoryware.tiers.values import Layer

# The texts in messages.


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
    """Return the types of what people have attached to their messages: images, files, documents.

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
    """Say whether a person has written any of the messages.

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
    result: Any, content: Content = KEYS, before: Sequence[Any] = ()
) -> NodeOutput | None:
    """Return the text of a node's output; None if it has none.

    The text of a command is that of its update, the text of a list of updates that of the last one
    with a text. Reasoning that a local model has left in it is removed; see `without_reasoning`.

    Args:
        result: What the node returned, or a state.
        content: Where the text is.
        before: Messages that were there already, whose texts are not new.

    Returns:
        The text with its message and metadata; None if the output has no text.
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


# Which role and which origins a message has.


Attachments = Literal["outside", "user"]
"""How images, files and documents of a message are trusted: as from outside, or as its writer."""
ROLE_KEY: Final = "memory_role"
"""Key in the metadata of a graph node: the part that it plays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleRules:
    """What holds for one role.

    Attributes:
        record: The tiers that its output goes to; working memory only through the filters.
        recall: The tiers that it is shown: "hot" is working memory, "cold" long-term memory.
        inject: Whether what it recalls is put before its model.
    """

    record: tuple[Layer, ...] = ("quarantine",)
    recall: tuple[Literal["hot", "cold"], ...] = ()
    inject: bool = False


ROLES: Final[Mapping[Role, RoleRules]] = {
    "agent": RoleRules(record=("quarantine", "working"), recall=("hot", "cold"), inject=True),
    "fact_check": RoleRules(recall=("cold",), inject=True),
    "memory_retrieval": RoleRules(record=(), recall=("hot", "cold")),
    "tool": RoleRules(),
    "other": RoleRules(),
}
"""The rules of each role: agents are recorded and shown both tiers, checks of facts stay in
quarantine and see what was promoted, retrieval is never recorded, all others are quarantined."""


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
"""Key in the artifact of a tool message: ids of what our own tool has shown."""
UNKNOWN_RECALL: Final = Origin("tool", "recall")
"""The origin of a recalled text that is no longer in a store to look its own up."""
RECORDED: Final = "memoryware_kept"
"""Key in the artifact of a tool message: ids of what our own tool has recorded."""
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


def found_text(count: int) -> str:
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
    """Return the names of the tools whose results stand in the messages and are from outside.

    Args:
        messages: What a model sees.
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
    """Say whether a message holds only our own sentences, or only what the model wrote."""
    if kind_of(message) != "tool":
        return False
    content = _call_field(message, "content")
    if not isinstance(content, str):
        return False
    if call is not None and call.name == "write_todos":
        return content == _TODOS_REFUSED or _repeats(content, call.args.get("todos"))
    if call is not None and call.name.partition("_")[0] not in _OWN_TOOLS:
        return False
    ids = artifact_ids(message)
    return ids is not None and (content in _FIXED or content == found_text(len(ids)))


def _repeats(content: str, todos: Any) -> bool:
    """Say whether a to-do list is the one that the model wrote, in whatever order of keys."""
    if not content.startswith(_TODOS) or len(content) > _TODO_CHARS:
        return False
    listed = content.removeprefix(_TODOS)
    if listed == str(todos):
        return True
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


# Reasoning that a model left in its answer.
#
# Providers send reasoning in content blocks of its own. Local models (and templates that were set
# up for another model) leave it in the text: between tags, after a closing tag whose opening one
# was part of the prompt, or in the channels of gpt-oss. Reasoning is guesswork that the model has
# not said to anybody, so it must not become memory.

_NAME: Final = (
    r"(?:[a-z]{1,16}:)?"  # <seed:think>, <thinking>
    r"(?:think|thinking|thoughts?|thought_process|reasoning|reflection|scratchpad"
    r"|(?:inner|internal)_monologue)"
)
_OPENING: Final = re.compile(
    rf"(?:<|&lt;)\s{{0,4}}{_NAME}(?:\s[^<>\n]{{0,200}})?(?:>|&gt;)"
    r"|\[think\]|\u25c1think\u25b7|<\|begin_of_thought\|>|<\|start_thinking\|>",
    re.IGNORECASE,
)
_LEADING: Final = re.compile(
    rf"[\s\u200b-\u200d\u2060\ufeff]*\*{{0,3}}(?:{_OPENING.pattern})", re.IGNORECASE
)
"""Invisible characters and the stars of bold text may stand before the first tag."""
_CLOSING: Final = re.compile(
    rf"(?:<|&lt;)\s{{0,4}}/\s{{0,4}}{_NAME}\s{{0,4}}(?:>|&gt;)"
    r"|\[/think\]|\u25c1/think\u25b7|<\|end_of_thought\|>|<\|end_thinking\|>",
    re.IGNORECASE,
)
"""Tags of DeepSeek, Qwen and most others; Magistral; Kimi; OpenThinker and Sky-T1; Command A."""
_BOLD_END: Final = re.compile(r"\*{1,3}(?=\s|\Z)")
_WRAPPED: Final = re.compile(
    r"\s*<(answer|response|final|final_answer|output)>(.*?)(?:</\1>\s*)?\Z",
    re.IGNORECASE | re.DOTALL,
)
_WRAPPER: Final = re.compile(
    r"^<(?:answer|response|final|final_answer)>", re.IGNORECASE | re.MULTILINE
)
_CHANNELS: Final = re.compile(r"\s*(?:<\|start\|>assistant)?<\|channel\|>")
_FINAL: Final = re.compile(r"<\|channel\|>final[^<]{0,100}<\|message\|>")
_END: Final = re.compile(r"<\|(?:end|return|call|start)\|>")
_FENCE: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)
_MENTIONED: Final = re.compile(
    r"[^\S\n]*(?:[,;:`'\"\u201c\u201d)]|(?:is|are|was|were|has|have|had|does|do|should|must|may|can"
    r"|will|means?|marks?|opens?|starts?|begins?|wraps?|contains?|appears?|comes?|stands?|holds?"
    r"|tags?|tokens?|blocks?|elements?|sections?|and|or|in|on|of|for|to|ist|sind|und|oder|steht"
    r"|wird|muss|darf)\b)"
)
"""What follows a tag that a sentence is about: "<think> is the tag that ...". An answer begins with
a capital letter, so the words are compared with their case."""
_QUOTES: Final = "`'\"\u201c\u201d\u201e\u00ab\u00bb(["
_SENTENCE_ENDS: Final = ".!?\u3002\uff01\uff1f\u2026)"
_MENTION_WORDS: Final = 3
"""Words between two tags of which a sentence may speak: "<think> ... </think> blocks are cut"."""
_LOOK_BACK: Final = 500
"""Characters before a tag that are looked at, so that many tags take no quadratic time."""


def without_reasoning(text: str) -> str:
    """Return an answer without the inline reasoning of its model.

    A tag counts as reasoning where models put it: at the beginning of the answer, or at the
    beginning of a line between two paragraphs. A tag that a sentence mentions, or that stands in
    code, stays. So does an example that a line with a colon introduces.

    Args:
        text: The answer.

    Returns:
        The rest, without blanks at its ends; "" if there is nothing but reasoning.
    """
    if "think" not in (lowered := text.lower()) and not any(
        word in lowered for word in ("thought", "reason", "reflect", "scratch", "monolog", "<|")
    ):
        return text
    if _CHANNELS.match(text):
        return _final_channel(text)
    rest = _without_leading(text)
    rest = _without_leading(_after_stray_closing(rest))
    rest = _without_between(rest)
    if rest == text:
        return text
    wrapped = _WRAPPED.match(rest)
    return (wrapped[2] if wrapped else rest).strip()


def _final_channel(text: str) -> str:
    """Return the channel `final` of an answer of gpt-oss."""
    final = _FINAL.search(text)
    if final is None:
        return ""
    return _END.split(text[final.end() :], maxsplit=1)[0].strip()


def _without_leading(text: str) -> str:
    """Cut blocks of reasoning at the beginning, one after the other."""
    position = 0
    while (opening := _LEADING.match(text, position)) is not None:
        closing = _CLOSING.search(text, opening.end())
        if closing is None or _is_quoted(text, closing):
            if _MENTIONED.match(text, opening.end()):
                break
            answer = _WRAPPER.search(text, opening.end())
            return text[answer.start() :] if answer else ""  # cut off at the limit of tokens
        if _is_mention(text, opening, closing):
            break
        bold_end = _BOLD_END.match(text, closing.end()) if "*" in opening[0] else None
        position = (bold_end or closing).end()
    return text[position:]


def _after_stray_closing(text: str) -> str:
    """Cut the text before a closing tag whose opening tag was part of the prompt."""
    closings = list(_CLOSING.finditer(text))
    if not closings:
        return text
    code = _CodeBlocks(text)
    openings = [tag for tag in _OPENING.finditer(text) if not _MENTIONED.match(text, tag.end())]
    first = openings[0].start() if openings else len(text)
    first_line = next(
        (tag.start() for tag in openings if _begins_line(text, tag.start())), len(text)
    )
    for closing in reversed(closings):
        # A thought may speak of the opening tag; then the closing one has a line of its own.
        is_alone = _begins_line(text, closing.start()) and text[
            closing.end() : closing.end() + 1
        ] in ("", "\n")
        if (first_line if is_alone else first) < closing.start():
            continue  # a pair, which is looked at by itself
        if closing.start() in code or _is_quoted(text, closing):
            continue
        if _ends_sentence(text, closing):
            return text[closing.end() :]
    return text


def _without_between(text: str) -> str:
    """Cut blocks of reasoning between paragraphs or sentences of an answer."""
    closings = list(_CLOSING.finditer(text))
    starts, code = [tag.start() for tag in closings], _CodeBlocks(text)
    pieces, position = list[str](), 0
    while (opening := _OPENING.search(text, position)) is not None:
        following = bisect_left(starts, opening.end())
        if following == len(closings):
            is_alone = text[opening.end() : opening.end() + 1] == "\n"
            if is_alone and opening.start() not in code and _begins_block(text, opening.start()):
                return (
                    "".join(pieces) + text[position : opening.start()]
                )  # cut off while it thought
            break
        closing = closings[following]
        if opening.start() not in code and _is_block(text, opening, closing):
            pieces.append(text[position : opening.start()])
            position = closing.end()
        else:
            pieces.append(text[position : opening.end()])
            position = opening.end()
    return "".join(pieces) + text[position:]


def _is_block(text: str, opening: re.Match[str], closing: re.Match[str]) -> bool:
    if _begins_block(text, opening.start()):
        return not _is_mention(text, opening, closing)
    before = text[max(0, opening.start() - 2) : opening.start()]
    after = text[closing.end() : closing.end() + 1]
    words = len(text[opening.end() : closing.start()].split())
    between_sentences = before[:1] in _SENTENCE_ENDS and before[1:].isspace()
    return between_sentences and words > _MENTION_WORDS and (not after or after.isspace())


def _begins_line(text: str, start: int) -> bool:
    before = text[max(0, start - _LOOK_BACK) : start]
    return not before[before.rfind("\n") + 1 :].strip()


def _begins_block(text: str, start: int) -> bool:
    """Return whether a tag begins a line that is neither markup nor introduced as an example."""
    if start and text[start - 1] != "\n":
        return False
    before = text[max(0, start - _LOOK_BACK) : start].rstrip()
    last = before[before.rfind("\n") + 1 :]
    return not last.endswith((":", ">", "{", "(", ","))


def _is_mention(text: str, opening: re.Match[str], closing: re.Match[str]) -> bool:
    """Return whether a sentence speaks of a pair of tags: "<think> and </think> are cut"."""
    between = text[opening.end() : closing.start()]
    if len(between) > _LOOK_BACK or "\n" in between:
        return False
    return len(between.split()) <= _MENTION_WORDS and bool(_MENTIONED.match(text, closing.end()))


def _ends_sentence(text: str, closing: re.Match[str]) -> bool:
    """Return whether a closing tag ends what stands before it, rather than being spoken of."""
    before = text[max(0, closing.start() - _LOOK_BACK) : closing.start()]
    line = before[before.rfind("\n") + 1 :]
    if not line.strip():
        return not _MENTIONED.match(text, closing.end())
    return not line[-1].isspace() or line.rstrip()[-1] in _SENTENCE_ENDS


def _is_quoted(text: str, tag: re.Match[str]) -> bool:
    before = text[tag.start() - 1 : tag.start()] if tag.start() else ""
    after = text[tag.end() : tag.end() + 1]
    return bool(before) and before in _QUOTES and bool(after) and not after.isspace()


class _CodeBlocks:
    """The fenced code blocks of a text; a fence that is never closed begins none."""

    def __init__(self, text: str) -> None:
        self._starts, self._ends, opened = list[int](), list[int](), None
        for fence in _FENCE.finditer(text):
            if opened is None:
                opened = fence
            elif fence[1][0] == opened[1][0] and len(fence[1]) >= len(opened[1]):
                self._starts.append(opened.start())
                self._ends.append(fence.end())
                opened = None

    def __contains__(self, position: int) -> bool:
        block = bisect_left(self._starts, position + 1) - 1
        return block >= 0 and position < self._ends[block]

"""Decide which results of tools in a message history bring something from outside.

The name of a tool message is no evidence: its tool may set any name and any artifact. What
counts is the call that it answers, and what the message holds. A result of ours counts as inside
if it holds nothing but our own fixed sentences, and one of a to-do list if it only repeats what
the model wrote.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from memoryware.tiers.messages import kind_of

RECALLED: Final = "memoryware_recalled"
"""Key in the artifact of a tool message: ids of what our own tool has shown."""
KEPT: Final = "memoryware_kept"
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
class Call:
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
    """Return what identifies a call in its thread; "" if either id is missing."""
    return f"{message_id}/{call_id}" if message_id and call_id else ""


def found_text(count: int) -> str:
    """Return what the message of `recall` says for good: how much was found, and no text of it."""
    number = "one text" if count == 1 else f"{count} texts"
    return _SHOWN.replace("{count}", number) + _WHERE


def with_calls(messages: Sequence[Any]) -> Iterator[tuple[Any, Call | None]]:
    """Yield each message with the call that it answers: the nearest one before it."""
    called: dict[Any, Call] = {}
    function: Call | None = None
    for message in messages:
        kind = kind_of(message)
        if kind == "ai":
            called |= _calls_of(message)
            function = _function_call_of(message) or function
        if kind == "tool":
            yield message, called.get(_field(message, "tool_call_id"))
        else:
            yield message, function if kind == "function" else None


def outside_tools(
    messages: Sequence[Any], *, inside: Collection[str] = (), proven: Collection[str] = ()
) -> set[str]:
    """Return the names of the tools whose results stand in the messages and are from outside.

    Args:
        messages: What a model sees.
        inside: Tools that bring nothing from outside, by the names under which models call them.
        proven: Keys of calls that a tool of ours was seen to answer; see `Call.key`.

    Returns:
        The names under which the model called the tools; of a message of another role, the role.
    """
    names: set[str] = set()
    for message, call in with_calls(messages):
        kind = kind_of(message)
        if kind in ("tool", "function"):
            name = call.name if call is not None else str(_field(message, "name") or "")
            is_proven = call is not None and bool(call.key) and call.key in proven
            if not (is_proven or name in inside or _is_ours(message, call)):
                names.add(name)
        elif kind == "chat":
            names.add(str(_field(message, "role") or ""))
        elif kind == "ai":
            names.update(set(_server_tools(message)) - {*inside})
    return names


def artifact_ids(message: Any) -> list[str] | None:
    """Return the ids in the artifact of our own tools; None for other messages.

    Anybody can write such an artifact. It adds to a lineage and never takes from it.
    """
    artifact = _field(message, "artifact")
    if kind_of(message) != "tool" or not isinstance(artifact, Mapping):
        return None
    if not {RECALLED, KEPT} & artifact.keys():
        return None
    lists = [artifact.get(key) for key in (RECALLED, KEPT)]
    return [str(id_) for ids in lists if isinstance(ids, list) for id_ in ids if id_]


def _is_ours(message: Any, call: Call | None) -> bool:
    """Say whether a message holds only our own sentences, or only what the model wrote."""
    if kind_of(message) != "tool":
        return False
    content = _field(message, "content")
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


def _calls_of(message: Any) -> dict[Any, Call]:
    calls: dict[Any, Call] = {}
    for call in _field(message, "tool_calls") or ():
        function = _field(call, "function")  # as OpenAI writes it
        name = _field(call, "name") or _field(function, "name") or ""
        args = _field(call, "args")
        key = call_key(_field(message, "id"), _field(call, "id"))
        calls[_field(call, "id")] = Call(key, str(name), args if isinstance(args, Mapping) else {})
    return calls


def _function_call_of(message: Any) -> Call | None:
    more = _field(message, "additional_kwargs")
    function = more.get("function_call") if isinstance(more, Mapping) else None
    name = _field(function or _field(message, "function_call"), "name")
    return Call("", str(name), {}) if name else None


def _field(message: Any, name: str) -> Any:
    return message.get(name) if isinstance(message, Mapping) else getattr(message, name, None)


def _server_tools(message: Any) -> Iterator[str]:
    """Yield the tools that the provider itself has called while the model answered."""
    if isinstance(_field(message, "content"), str):
        return
    try:
        blocks = [*(getattr(message, "content_blocks", None) or _field(message, "content") or ())]
    except Exception:  # noqa: BLE001 - a foreign format; what cannot be read is not trusted
        yield _SERVER_TOOL
        return
    for block in blocks:
        if not isinstance(block, Mapping):
            continue
        if block.get("type") in _SERVER_CALLS:
            yield str(block.get("name") or _SERVER_TOOL)
        elif block.get("type") == "text" and any(
            isinstance(one, Mapping) and one.get("url") for one in block.get("annotations") or ()
        ):
            yield _SERVER_TOOL

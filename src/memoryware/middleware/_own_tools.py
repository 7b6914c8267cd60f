"""The tools of this package: their result messages, and a registry that identifies them.

The registry identifies a tool by the function that it runs and not by its name: any code can
name a tool `read_file` and put our artifacts into its messages. The function is an object of
this process, which the result of a tool cannot forge.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakKeyDictionary

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool

from memoryware import _langchain
from memoryware.backends import _adapter
from memoryware.guard import printable_text

# The backend or factory of each of our tools, by the function that the tool runs.
# Weak keys: a program that builds an agent for each request must not keep all of them.
_BACKENDS: Final[WeakKeyDictionary[Any, Any]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The answer of a tool.

    Attributes:
        content: Text or content blocks.
        ok: Whether it did what was asked.
        artifact: The artifact of the message, which the model does not see.
    """

    content: str | list[str | dict[Any, Any]]
    ok: bool = True
    artifact: Mapping[str, Any] | None = None

    def as_message(self, name: str, tool_call_id: str | None) -> ToolMessage:
        """Return the message of a call of the tool with this name."""
        return ToolMessage(
            content=self.content,
            name=name,
            tool_call_id=tool_call_id or "",
            artifact=self.artifact,
            status="success" if self.ok else "error",
        )


def refusal_message(call: Any, reason: str) -> ToolMessage:
    """Return the answer to a call that is not carried out."""
    answer = ToolAnswer(printable_text(f"Error: {reason}"), ok=False)
    return answer.as_message(call["name"], call["id"])


def unavailable_message(call: Any) -> ToolMessage:
    """Return the answer to a call of a tool that the request did not offer."""
    return refusal_message(
        call, f"{call['name']} is not available here. Use the tools that you were given"
    )


def register(tool: StructuredTool, backend: Any) -> StructuredTool:
    """Register a tool of ours with the backend that it works on.

    Args:
        tool: A tool that this library has made.
        backend: Its backend or factory; None for a tool that returns no text of files.
    """
    for function in (tool.func, tool.coroutine):
        if function is not None:
            _BACKENDS[function] = backend
    return tool


def is_inside(tool: Any, backend: Any) -> bool:
    """Return whether the results of a tool come from the agent's own files.

    Args:
        tool: A tool of the agent, or the description of one that a provider runs.
        backend: The backend or factory of the memory.
    """
    if not isinstance(tool, BaseTool):
        return False
    if _langchain.is_todo_tool(tool):  # it only repeats what the model wrote
        return True
    function = getattr(tool, "func", None) or getattr(tool, "coroutine", None)
    if function is None:
        return False
    # A tool of somebody else may run an object that has no hash.
    if isinstance(function, Hashable) and function in _BACKENDS:
        own = _BACKENDS[function]
        return own is None or _adapter.same_files(own, backend)
    foreign = _langchain.backend_of_deepagents_tool(function)
    return foreign is not None and _adapter.same_files(foreign, backend)

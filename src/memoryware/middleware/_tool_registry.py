"""Which tools of an agent are our own: known by the function they run, never by their name.

Anybody can call a tool `read_file`, and put our artifacts into its messages. The function that
a tool runs is an object of this process, which no result of a tool can bring along.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final
from weakref import WeakKeyDictionary

from langchain_core.tools import BaseTool, StructuredTool

from memoryware import _langchain
from memoryware.backends import _foreign

_BACKENDS: Final[WeakKeyDictionary[Any, Any]] = WeakKeyDictionary()
"""The backend or factory of each of our tools, by the function that the tool runs."""


def register(tool: StructuredTool, backend: Any) -> StructuredTool:
    """Remember that a tool is ours, and what it works on.

    Args:
        tool: A tool that this library has made.
        backend: Its backend or factory; None for one that shows nothing but its own words.
    """
    for function in (tool.func, tool.coroutine):
        if function is not None:
            _BACKENDS[function] = backend
    return tool


def is_inside(tool: Any, backend: Any) -> bool:
    """Say whether the results of a tool come from the agent's own files.

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
        return own is None or _foreign.same_files(own, backend)
    foreign = _langchain.backend_of_deepagents_tool(function)
    return foreign is not None and _foreign.same_files(foreign, backend)

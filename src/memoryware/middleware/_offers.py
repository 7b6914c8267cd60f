"""Which tools a request offers, and whether our own writing tool is among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memoryware.middleware._bounded import LruCache
from memoryware.middleware._rendering import Renderer
from memoryware.middleware.guidelines import AvailableTools


class OwnToolVisibility:
    """Hides the middleware's own tool where another one writes, also from being called."""

    def __init__(self, own_tool: str, renderer: Renderer, size: int) -> None:
        self._own_tool = own_tool
        self._renderer = renderer
        self._granted: LruCache[str, str] = LruCache(size)
        self._last: tuple[list[Any], AvailableTools, list[Any] | None] | None = None

    def of(self, tools: list[Any]) -> tuple[AvailableTools, list[Any] | None]:
        """Return what tools can do, and the tools without ours if it has to be hidden."""
        known = self._last
        if known is not None and known[0] == tools:
            return known[1], known[2]
        names = {one.get("name", "") if isinstance(one, dict) else one.name for one in tools}
        available_tools = self._renderer.available_tools(names)
        shown = None
        if self._own_tool in names and self._own_tool not in available_tools.writers:
            shown = [one for one in tools if getattr(one, "name", "") != self._own_tool]
        self._last = (list(tools), available_tools, shown)
        return available_tools, shown

    def note(self, tools: list[Any], calls: Sequence[Any]) -> None:
        """Note the calls of our tool that a model made when it could see it."""
        for call in calls:
            if call["name"] == self._own_tool and self._own_tool in self.of(tools)[0].writers:
                self._granted.put(call["id"] or "", self._own_tool)

    def refuses(self, call: Any, runtime: Any) -> bool:
        """Say whether a call is of our tool where the model could not see it.

        A call that is older than this process is judged by all tools of the agent.
        """
        if not self._own_tool or call["name"] != self._own_tool:
            return False
        _, shown = self.of(getattr(runtime, "tools", None) or [])
        return shown is not None and self._granted.get(call["id"] or "") is None

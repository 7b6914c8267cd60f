"""The chat model of the documentation: it remembers what it is told to, and says what it knows.

Asked to "remember: ...", it saves that line with the best tool it has. Asked anything
else, it answers with the last line of its memory block.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

_ids = itertools.count(1)
_NOTHING = "(No memory loaded)"


class StandIn(BaseChatModel):
    """A model that is easy to predict."""

    _tools: list[str] = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "stand-in"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Any:
        self._tools = [one["name"] if isinstance(one, dict) else one.name for one in tools]
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        said = self._said(messages)
        return ChatResult(generations=[ChatGeneration(message=said)])

    def _said(self, messages: list[BaseMessage]) -> AIMessage:
        sections = _memory(messages).split("\n\n")
        newest = messages[-1]
        if isinstance(newest, ToolMessage):
            return AIMessage("Noted." if newest.status == "success" else newest.text)
        _, asked, fact = newest.text.partition("emember: ")
        lines = [line for section in sections for line in section.splitlines()[1:]]
        if not asked:
            return AIMessage(lines[-1].removeprefix("- ") if lines else "I do not know.")
        line = f"- {fact[0].upper()}{fact[1:]}"
        path = _path(messages)
        tool, arguments = self._saving(path, line, lines)
        made = {"name": tool, "args": arguments, "id": f"c{next(_ids)}", "type": "tool_call"}
        return AIMessage("", tool_calls=[made])

    def _saving(self, path: str, line: str, lines: list[str]) -> tuple[str, dict[str, Any]]:
        if "append_file" in self._tools:
            return "append_file", {"file_path": path, "text": line}
        if not lines and "write_file" in self._tools:
            return "write_file", {"file_path": path, "content": f"{line}\n"}
        tool = next(name for name in self._tools if name.startswith("edit_"))
        old = lines[-1] if lines else ""
        new = f"{old}\n{line}" if old else f"{line}\n"
        return tool, {"file_path": path, "old_string": old, "new_string": new}


def _prompt(messages: list[BaseMessage]) -> str:
    return "\n".join(one.text for one in messages if one.type == "system")


def _memory(messages: list[BaseMessage]) -> str:
    block = _prompt(messages).partition("<agent_memory>\n")[2].partition("\n</agent_memory>")[0]
    return "" if block == _NOTHING else block


def _path(messages: list[BaseMessage]) -> str:
    """The file to write: that of the last section, or the one that is said to be empty."""
    paths = [
        section.splitlines()[0]
        for section in _memory(messages).split("\n\n")
        if section.startswith(("/", "~", "./"))
    ]
    if paths:
        return paths[-1]
    _, _, after = _prompt(messages).partition("\n- /")
    return "/" + after.partition(" is empty")[0]

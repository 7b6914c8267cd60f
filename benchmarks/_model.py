"""A chat model inside the process: it calls a tool so many times and then is done."""

from __future__ import annotations

import asyncio
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import StructuredTool


class BusyModel(BaseChatModel):
    """Answers the last question with `calls - 1` tool calls and one last word.

    Attributes:
        calls: Model calls in one turn of the conversation.
        pause: Seconds that each takes, in the async door.
    """

    calls: int = 3
    pause: float = 0.0

    @property
    def _llm_type(self) -> str:
        return "busy"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        done = 0
        for message in reversed(messages):
            if isinstance(message, HumanMessage):
                break
            done += isinstance(message, AIMessage)
        if done + 1 >= self.calls:
            answer = AIMessage("done", id=f"done-{len(messages)}")
        else:
            call = {"name": "look", "args": {"at": "it"}, "id": f"call-{len(messages)}"}
            answer = AIMessage("", id=f"ask-{len(messages)}", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=answer)])

    async def _agenerate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        await asyncio.sleep(self.pause)
        return self._generate(messages)


def _look(at: str) -> str:
    """Look at something."""
    return f"saw {at}"


async def _alook(at: str) -> str:
    return _look(at)


look = StructuredTool.from_function(_look, _alook, name="look")
"""A tool with both doors, so that no thread is needed for it."""


def question(text: str = "hello") -> dict[str, Any]:
    """Return the input of one turn."""
    return {"messages": [{"role": "user", "content": text}]}

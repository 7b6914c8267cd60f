"""Helpers that many tests share: a chat model that plays a script, and readers of runs."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field, PrivateAttr

_numbers = itertools.count(1)


def calls(*wanted: tuple[str, dict[str, Any]]) -> AIMessage:
    """A turn in which the model calls several tools at once."""
    made = [
        {"name": name, "args": args, "id": f"call-{next(_numbers)}", "type": "tool_call"}
        for name, args in wanted
    ]
    return AIMessage(content="", tool_calls=made)


def call(tool: str, **args: Any) -> AIMessage:
    """A turn in which the model calls one tool."""
    return calls((tool, args))


def say(text: str = "ok") -> AIMessage:
    """A turn in which the model just speaks."""
    return AIMessage(content=text)


class ScriptedModel(BaseChatModel):
    """Plays its script turn by turn, then says "done"; keeps every request it got.

    A turn is a message, or a callable that makes one of the messages so far.
    """

    script: list[Any] = Field(default_factory=list)
    _requests: list[list[BaseMessage]] = PrivateAttr(default_factory=list)
    _tools: list[list[str]] = PrivateAttr(default_factory=list)
    _bound: list[str] = PrivateAttr(default_factory=list)

    def __init__(self, *turns: AIMessage | Callable[[list[BaseMessage]], AIMessage], **more: Any):
        super().__init__(script=[*turns, *more.pop("script", [])], **more)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def requests(self) -> list[list[BaseMessage]]:
        """The messages of every request, with the system message in front."""
        return self._requests

    @property
    def offered(self) -> list[list[str]]:
        """The names of the tools in every request."""
        return self._tools

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        self._bound = [tool["name"] if isinstance(tool, dict) else tool.name for tool in tools]
        return self

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        self._requests.append(list(messages))
        self._tools.append(list(self._bound))
        turn = self.script.pop(0) if self.script else say("done")
        message = turn(messages) if callable(turn) else turn
        return ChatResult(generations=[ChatGeneration(message=message)])

    def system(self, request: int = -1) -> str:
        """All system text of one request, the newest by default."""
        found = [one for one in self._requests[request] if isinstance(one, SystemMessage)]
        return "\n".join(str(one.text) for one in found)


def _asked(text: str, thread: str | None, more: dict[str, Any]) -> tuple[Any, Any]:
    config = None if thread is None else {"configurable": {"thread_id": thread}}
    return {"messages": [{"role": "user", "content": text}], **more}, config


def ask(agent: Any, text: str = "hello", *, thread: str | None = None, **more: Any) -> Any:
    """Run an agent on one message; `more` goes into its input."""
    given, config = _asked(text, thread, more)
    return agent.invoke(given, config)


async def aask(agent: Any, text: str = "hello", *, thread: str | None = None, **more: Any) -> Any:
    """Run an agent on one message, async."""
    given, config = _asked(text, thread, more)
    return await agent.ainvoke(given, config)


def tool_messages(result: Any) -> list[ToolMessage]:
    """What the tools answered, in order."""
    return [one for one in result["messages"] if isinstance(one, ToolMessage)]

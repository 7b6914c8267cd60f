"""A chat model that plays a written part: no key, no network, the same answer every time.

The examples use it in place of a real model. Give it one turn per model call: a text, a
tool call made with `call`, or a function that sees the messages and returns one of these.
To see an example with a real model, put `init_chat_model("provider:name")` in its place.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from pydantic import PrivateAttr

Turn = str | AIMessage | Callable[[list[BaseMessage]], str | AIMessage]

_ids = itertools.count(1)


def call(tool: str, **arguments: Any) -> AIMessage:
    """Return the turn of a model that calls one tool."""
    made = {"name": tool, "args": arguments, "id": f"call_{next(_ids)}", "type": "tool_call"}
    return AIMessage(content="", tool_calls=[made])


class ScriptedModel(BaseChatModel):
    """Plays its turns one after the other; the last one is played again and again."""

    _turns: list[Turn] = PrivateAttr(default_factory=list)
    _prompts: list[str] = PrivateAttr(default_factory=list)

    def __init__(self, *turns: Turn) -> None:
        super().__init__()
        self._turns = list(turns)

    @property
    def prompts(self) -> list[str]:
        """The system prompt of every call so far."""
        return self._prompts

    @property
    def memory(self) -> str:
        """The memory block of the newest call."""
        return memory_block(self._prompts[-1])

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Runnable[LanguageModelInput, AIMessage]:
        del tools  # the turns know which to call
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self._prompts.append(system_prompt(messages))
        turn = self._turns.pop(0) if len(self._turns) > 1 else self._turns[0]
        said = turn(messages) if callable(turn) else turn
        message = said if isinstance(said, AIMessage) else AIMessage(content=said)
        return ChatResult(generations=[ChatGeneration(message=message)])


def system_prompt(messages: Sequence[BaseMessage]) -> str:
    """Return the system text of a request."""
    return "\n\n".join(str(one.text) for one in messages if isinstance(one, SystemMessage))


def memory_block(prompt: str) -> str:
    """Return what stands between the memory tags of a prompt, without the tags."""
    _, _, after = prompt.partition("<agent_memory>\n")
    return after.partition("\n</agent_memory>")[0]

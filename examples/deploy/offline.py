"""A chat model without a network, so that everything here runs without a key.

It answers with the first text of memory that its request shows, word by word. Put the name of a
real model into `MEMORYWARE_MODEL`, such as `anthropic:claude-sonnet-4-5`, to see that one instead.
`OFFLINE_PAUSE=0.1` makes it say a word in a tenth of a second, as a real one does.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Sequence
from typing import Any

from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

RECALLED = re.compile(r"<recalled_memory.*?>(.*?)</recalled_memory>(.*)", re.DOTALL)
FACT = re.compile(r"^\d+\. \[[^\]]*\] (?:Understood: )?(.+)$", re.MULTILINE)


class OfflineModel(BaseChatModel):
    """Says what memory has, or repeats what it is told."""

    @property
    def _llm_type(self) -> str:
        return "offline"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Any:
        del tools
        return self

    def _stream(self, messages: list[BaseMessage], *_: Any, **__: Any) -> Iterator[Any]:
        pause = float(os.environ.get("OFFLINE_PAUSE", "0"))
        for word in re.findall(r"\S+\s*", answer(messages)):
            time.sleep(pause)
            yield ChatGenerationChunk(message=AIMessageChunk(content=word))

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        whole = AIMessageChunk(content=answer(messages))
        return ChatResult(generations=[ChatGeneration(message=whole)])


def answer(messages: Sequence[BaseMessage]) -> str:
    """Return the answer to the newest message."""
    newest = messages[-1].text
    block = RECALLED.search(newest)
    facts = FACT.findall(block[1]) if block else []
    question = (block[2] if block else newest).strip()
    if question.endswith("?"):
        return facts[0] if facts else "I do not know that yet."
    return f"Understood: {question}"


def chat_model() -> BaseChatModel:
    """Return the model that the environment names, or the one that needs no network."""
    name = os.environ.get("MEMORYWARE_MODEL", "")
    return init_chat_model(name) if name else OfflineModel()

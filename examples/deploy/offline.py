"""The chat model of the programs here: one that needs no key, or the one that you name.

Put the name of a real model into `MEMORYWARE_MODEL`, such as `anthropic:claude-sonnet-4-5`. Without
it, the demo model of memoryware answers, word by word; `PAUSE=0.1` makes it take a tenth of a
second for each.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator, Sequence
from typing import Any

from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk

from memoryware.demo import DemoModel


class StreamingModel(DemoModel):
    """The demo model, which says one word after the other."""

    def _stream(
        self, messages: list[BaseMessage], *_: Any, tool_names: Sequence[str] = (), **__: Any
    ) -> Iterator[ChatGenerationChunk]:
        answer: Any = self._generate(messages, tool_names=tool_names).generations[0].message
        if answer.tool_calls:
            calls = [
                {"name": call["name"], "args": json.dumps(call["args"]), "id": call["id"]}
                | {"index": index, "type": "tool_call_chunk"}
                for index, call in enumerate(answer.tool_calls)
            ]
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=calls))
        for word in re.findall(r"\S+\s*", answer.text):
            time.sleep(float(os.environ.get("PAUSE", "0")))
            yield ChatGenerationChunk(message=AIMessageChunk(content=word))


def chat_model() -> BaseChatModel:
    """Return the model that the environment names, or the one that needs no network."""
    name = os.environ.get("MEMORYWARE_MODEL", "")
    return init_chat_model(name) if name else StreamingModel()

"""A chat model for trying out memory: no key, no network, the same answer every time.

`DemoModel` is in place of a real model in the pages and in your first tests::

    from langchain.agents import create_agent
    from memoryware import FilesystemBackend, MemoryMiddleware
    from memoryware.demo import DemoModel

    backend = FilesystemBackend(root_dir=".")
    agent = create_agent(
        DemoModel(), middleware=[MemoryMiddleware(backend=backend, sources=["/AGENTS.md"])]
    )
    agent.invoke({"messages": "Please remember: releases are on Tuesdays."})
    print(agent.invoke({"messages": "When do we release?"})["messages"][-1].text)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final
from uuid import uuid4

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable

__all__ = ["DemoModel"]

_FILES: Final = re.compile(r"<agent_memory>\n(.*?)\n</agent_memory>", re.DOTALL)
_RECALLED: Final = re.compile(r"<recalled_memory>\n(.*?)\n</recalled_memory>\s*", re.DOTALL)
_ITEM: Final = re.compile(r"^\d+\. \[[^\]\n]*\] (.+)", re.MULTILINE)
_EMPTY: Final = re.compile(r"^- (\S+) is empty", re.MULTILINE)
"""How the guidelines name a memory file that does not exist yet."""
_PLACEHOLDER: Final = "(No memory loaded)"
_REQUEST: Final = re.compile(r"\bremember(?: that\b|:)\s*(\S.*)", re.IGNORECASE | re.DOTALL)
_PATH: Final = ("/", "~", "./")
_STEM: Final = 5
"""Letters of a word that are compared, so that "release" is found in "releases"."""
_SMALL_WORDS: Final = re.compile(
    r"an?|and|are|at|can|did|do|does|for|has|have|how|in|is|it|my|of|on|our|should|that|the|this"
    r"|to|was|we|what|when|where|which|who|will|with|you|your"
)


class DemoModel(BaseChatModel):
    """A chat model that follows three rules, to show what memory does.

    1. "Remember: ..." or "remember that ...": it saves the rest with a tool of the agent, such as
       `edit_memory`, `append_file` or `remember`.
    2. A question: it answers with the remembered text that shares most words with it, from
       memory files or recalled memories; "I do not know." without any.
    3. Everything else: it answers "Noted."

    It has no options. In your program, put a real model in its place.
    """

    @property
    def _llm_type(self) -> str:
        return "memoryware-demo"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Runnable[LanguageModelInput, AIMessage]:
        """Return this model with the tools that it may call.

        Args:
            tools: The tools, or their descriptions as dictionaries.
            **_: Options of real models, which are ignored.

        Returns:
            The model, bound to the names of the tools.
        """
        names = [tool["name"] if isinstance(tool, dict) else tool.name for tool in tools]
        return self.bind(tool_names=names)

    def _generate(
        self, messages: list[BaseMessage], *_: Any, tool_names: Sequence[str] = (), **__: Any
    ) -> ChatResult:
        answer = _answer(messages, tool_names)
        return ChatResult(generations=[ChatGeneration(message=answer)])

    async def _agenerate(
        self, messages: list[BaseMessage], *_: Any, tool_names: Sequence[str] = (), **__: Any
    ) -> ChatResult:
        return self._generate(messages, tool_names=tool_names)


def _answer(messages: Sequence[BaseMessage], tools: Sequence[str]) -> AIMessage:
    newest = messages[-1] if messages else HumanMessage("")
    if isinstance(newest, ToolMessage):
        return AIMessage("Noted." if newest.status == "success" else newest.text)
    system = "\n".join(message.text for message in messages if message.type == "system")
    users = [message.text for message in messages if message.type == "human"]
    text = users[-1] if users else ""
    question = _RECALLED.sub("", text).strip()
    if request := _REQUEST.search(question):
        return _save(request[1].strip(), system, tools)
    if "?" not in question:
        return AIMessage("Noted.")
    recalled = [item for block in _RECALLED.findall(system + text) for item in _ITEM.findall(block)]
    return AIMessage(_best(question, _lines(system), recalled))


def _best(question: str, lines: Sequence[str], recalled: Sequence[str]) -> str:
    """Return the text that shares most words with a question; the newest line of equal ones."""
    texts = [*reversed(recalled), *(line.removeprefix("- ") for line in lines)]
    if not texts:
        return "I do not know."
    question_stems = _stems(question)
    best = max(reversed(texts), key=lambda text: len(question_stems & _stems(text)))
    if question_stems & _stems(best) or not recalled:
        return best
    return recalled[0]


def _stems(text: str) -> set[str]:
    words = re.findall(r"\w+", text.lower())
    return {word[:_STEM] for word in words if not _SMALL_WORDS.fullmatch(word)}


def _save(fact: str, system: str, tools: Sequence[str]) -> AIMessage:
    """Call the tool that fits best to save a fact."""
    line = f"- {fact[0].upper()}{fact[1:]}"
    lines, path = _lines(system), _path(system)
    edit = next((name for name in tools if name.startswith("edit_")), "")
    remember = next((name for name in tools if name.startswith("remember")), "")
    if path and "append_file" in tools:
        return _call("append_file", file_path=path, text=line)
    if path and not lines and "write_file" in tools:
        return _call("write_file", file_path=path, content=f"{line}\n")
    if path and edit:
        old = lines[-1] if lines else ""
        new = f"{old}\n{line}" if old else f"{line}\n"
        return _call(edit, file_path=path, old_string=old, new_string=new)
    if remember:
        return _call(remember, text=fact)
    return AIMessage("I have no tool that saves this.")


def _call(tool: str, **arguments: str) -> AIMessage:
    call = {"name": tool, "args": arguments, "id": f"call_{uuid4().hex}", "type": "tool_call"}
    return AIMessage("", tool_calls=[call])


def _lines(system: str) -> list[str]:
    """Return the lines of the memory files, without paths and headings."""
    return [
        line
        for block in _FILES.findall(system)
        for line in block.splitlines()
        if line.strip() and line != _PLACEHOLDER and not line.startswith(("#", *_PATH))
    ]


def _path(system: str) -> str:
    """Return the memory file to write: the last that is shown, or else the first empty one."""
    paths = [
        line.split(" ")[0]
        for block in _FILES.findall(system)
        for line in block.splitlines()
        if line.startswith(_PATH)
    ]
    return paths[-1] if paths else next(iter(_EMPTY.findall(system)), "")

"""Putting what was recalled before the model of a node of your own."""

from __future__ import annotations

from typing import Any, Literal, overload

from langchain_core.messages import HumanMessage, SystemMessage

from memoryware.errors import SettingError
from memoryware.tiers.messages import first_text
from memoryware.tiers.rendering import FENCE, NOTE, shown, unforged


@overload
def inject_context(
    state: Any,
    prompt: str = "",
    *,
    key: str = "history_context",
    placement: Literal["system"] = "system",
) -> SystemMessage: ...


@overload
def inject_context(
    state: Any,
    prompt: str = "",
    *,
    key: str = "history_context",
    placement: Literal["message"],
) -> HumanMessage: ...


def inject_context(
    state: Any,
    prompt: str = "",
    *,
    key: str = "history_context",
    placement: Literal["system", "message"] = "system",
) -> SystemMessage | HumanMessage:
    """Return a message with a prompt and, fenced as data, what memory has put in the state.

    Args:
        state: The state of the graph.
        prompt: What stands first: your own system prompt, or with "message" the request.
        key: Where the text is, as `MemoryRetrievalNode(output_key=...)` has put it.
        placement: "system" makes a system message, with the text behind the prompt; "message"
            one of a person, with the text before it, where it has no more weight than what
            people say. In a request no tag can be taken for the fence of memory; a system
            prompt is yours, and stays as it is.

    Returns:
        A message that is the prompt alone where nothing was recalled.

    Raises:
        SettingError: For another placement.
    """
    text = first_text(state, (key,))
    block = f"<{FENCE}>\n{NOTE}\n\n{shown(text)}\n</{FENCE}>" if text else ""
    if placement == "system":
        return SystemMessage("\n\n".join(one for one in (prompt, block) if one))
    if placement == "message":
        request = unforged([prompt])[0]
        return HumanMessage("\n\n".join(one for one in (block, request) if one))
    raise SettingError(f"placement={placement!r}: must be 'system' or 'message'")

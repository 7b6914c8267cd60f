"""Putting what was recalled before the model of a node of your own."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import SystemMessage

from memoryware.nodes._content import value_in
from memoryware.tiers.showing import FENCE, NOTE, shown


def inject_context(state: Any, prompt: str = "", *, key: str = "history_context") -> SystemMessage:
    """Return a system message with a prompt and, fenced as data, what memory has put in the state.

    Args:
        state: The state of the graph.
        prompt: Your own system prompt, which stands first.
        key: Where the text is, as `MemoryRetrievalNode(output_key=...)` has put it.

    Returns:
        A message that is the prompt alone where nothing was recalled.
    """
    text = value_in(state, key)
    if not isinstance(text, str) or not text.strip():
        return SystemMessage(prompt)
    block = f"<{FENCE}>\n{NOTE}\n\n{shown(text)}\n</{FENCE}>"
    return SystemMessage(f"{prompt}\n\n{block}" if prompt else block)

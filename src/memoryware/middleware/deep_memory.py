"""`DeepMemoryMiddleware`: one file, its text alone in the prompt, read before each call."""

from __future__ import annotations

from typing import Any

from memoryware.middleware._texts import OnError
from memoryware.middleware.memory import MemoryMiddleware


class DeepMemoryMiddleware(MemoryMiddleware):
    """One memory file, read again before every model call, its text alone in the tags.

    Args:
        backend: Where the file is.
        memory_file: Its path; None or "" means no memory.
        name: A name of its own, needed when one agent has several memories.
        on_error: What to do when the file cannot be read.
        max_tokens: Tokens that the file may fill.
    """

    def __init__(
        self,
        backend: Any,
        memory_file: str | None = "AGENTS.md",
        *,
        name: str | None = None,
        on_error: OnError = "raise",
        max_tokens: int | None = None,
    ) -> None:
        super().__init__(
            backend=backend,
            sources=[memory_file] if memory_file else [],
            name=name,
            refresh="call",
            on_error=on_error,
            guidelines=None,
            when_empty="skip",
            tools=False,
            strip_comments=False,
            show_paths=False,
            max_tokens=max_tokens,
        )

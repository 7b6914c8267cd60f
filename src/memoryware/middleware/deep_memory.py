"""`DeepMemoryMiddleware`: one memory file, read before each model call."""

from __future__ import annotations

from memoryware import _checking
from memoryware.backends.protocol import BackendOrFactory
from memoryware.middleware._loading import OnError
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
        backend: BackendOrFactory,
        memory_file: str | None = "AGENTS.md",
        *,
        name: str | None = None,
        on_error: OnError = "raise",
        max_tokens: int | None = None,
    ) -> None:
        _checking.check_text("memory_file", memory_file, or_none=True)
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

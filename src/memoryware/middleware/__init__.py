"""LangChain agent middleware: memory files, file tools and tiered memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoryware._lazy import attach

if TYPE_CHECKING:
    from memoryware.middleware._request_messages import redact_memory
    from memoryware.middleware.file_tools import FileToolsMiddleware
    from memoryware.middleware.memory import (
        MEMORY_SYSTEM_PROMPT,
        DeepMemoryMiddleware,
        MemoryMiddleware,
        MemoryState,
        MemoryStateUpdate,
        append_to_system_message,
    )
    from memoryware.middleware.preview import Preview, SourcePreview
    from memoryware.middleware.tiered import TieredMemoryMiddleware

__all__ = [
    "MEMORY_SYSTEM_PROMPT",
    "DeepMemoryMiddleware",
    "FileToolsMiddleware",
    "MemoryMiddleware",
    "MemoryState",
    "MemoryStateUpdate",
    "Preview",
    "SourcePreview",
    "TieredMemoryMiddleware",
    "append_to_system_message",
    "redact_memory",
]
_HOMES: Final = {
    "memoryware.middleware._request_messages": ("redact_memory",),
    "memoryware.middleware.file_tools": ("FileToolsMiddleware",),
    "memoryware.middleware.memory": (
        "MEMORY_SYSTEM_PROMPT",
        "DeepMemoryMiddleware",
        "MemoryMiddleware",
        "MemoryState",
        "MemoryStateUpdate",
        "append_to_system_message",
    ),
    "memoryware.middleware.preview": ("Preview", "SourcePreview"),
    "memoryware.middleware.tiered": ("TieredMemoryMiddleware",),
}
__getattr__, __dir__ = attach(__name__, _HOMES)

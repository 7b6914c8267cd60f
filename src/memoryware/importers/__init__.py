"""Import memories from mem0, Letta, LangMem, ChatGPT, Claude, MCP, basic-memory and AGENTS.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoryware._lazy import attach

if TYPE_CHECKING:
    from memoryware.importers.importing import aimport_memories, import_memories
    from memoryware.importers.reading import detect_system, read_memories
    from memoryware.importers.records import (
        SYSTEMS,
        ImportSummary,
        RefusedRecord,
        SourceRecord,
        System,
    )

__all__ = [
    "SYSTEMS",
    "ImportSummary",
    "RefusedRecord",
    "SourceRecord",
    "System",
    "aimport_memories",
    "detect_system",
    "import_memories",
    "read_memories",
]
_HOMES: Final = {
    "memoryware.importers.importing": ("aimport_memories", "import_memories"),
    "memoryware.importers.reading": ("detect_system", "read_memories"),
    "memoryware.importers.records": (
        "SYSTEMS",
        "ImportSummary",
        "RefusedRecord",
        "SourceRecord",
        "System",
    ),
}
__getattr__, __dir__ = attach(__name__, _HOMES)

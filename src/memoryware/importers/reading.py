"""Read records of another memory system, and detect which system wrote a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Final

from memoryware.errors import ImportRefused, SettingError
from memoryware.importers._chats import read_chatgpt, read_claude
from memoryware.importers._fields import Read
from memoryware.importers._files import (
    SourceFolder,
    is_sqlite,
    is_zip,
    mapped,
    read_text,
    require_source,
    sqlite_rows,
    tables_of,
)
from memoryware.importers._json_stream import JsonFile
from memoryware.importers._langgraph_store import POSTGRES, read_langgraph
from memoryware.importers._letta import read_letta
from memoryware.importers._markdown_statements import front_matter
from memoryware.importers._mcp_graph import read_mcp
from memoryware.importers._mem0 import read_mem0
from memoryware.importers._notes import AUTO_MEMORY, read_agents_md, read_basic_memory
from memoryware.importers.records import SYSTEMS, RefusedRecord, SourceRecord, System
from memoryware.sources.layout import ALL_NAMES, Layout
from memoryware.tiers import checking

_READERS: Final[Mapping[str, Callable[[Any], Read]]] = {
    "mem0": read_mem0,
    "letta": read_letta,
    "chatgpt": read_chatgpt,
    "claude": read_claude,
    "mcp": read_mcp,
    "basic-memory": read_basic_memory,
    "agents-md": read_agents_md,
}
BUNDLE: Final = "memoryware"
"""What `detect_system` returns for a file that `TieredMemory.export` wrote."""
Source = str | PathLike[str]


def read_memories(
    source: Source | Any, system: System | None = None, *, namespace: Sequence[str] = ()
) -> Iterator[SourceRecord | RefusedRecord]:
    """Read the records of another memory system; nothing is imported.

    Pass what you keep of them to `import_memories`, for example with other texts or users.

    Args:
        source: A file or folder that the system wrote, the URL of a `PostgresStore`, or a
            LangGraph store itself.
        system: The system; None detects it.
        namespace: Of a LangGraph store only items in this namespace and below, such as
            `("memories", "ann")`.

    Yields:
        A record for each memory, and a refusal for each that cannot be read.

    Raises:
        ImportRefused: If the source is damaged, or no file of that system: with its line.
        StoreUnavailable: If a LangGraph store or a database cannot be read.
        SettingError: For an unknown system, or something that is no source.
    """
    if system is not None and system not in SYSTEMS:
        raise SettingError(f"system={system!r}: must be one of {', '.join(SYSTEMS)}")
    parts = checking.texts("namespace", namespace)
    if isinstance(source, str) and source.startswith(POSTGRES):
        return read_langgraph(source, parts)
    if callable(getattr(source, "search", None)):
        return read_langgraph(source, parts)
    path = _path_of(source)
    detected = system or detect_system(path)
    if detected == BUNDLE:
        raise ImportRefused(
            str(path), "is a bundle of memoryware; import it with TieredMemory.import_bundle"
        )
    if path.is_dir() and detected == "mcp":
        raise ImportRefused(str(path), "is a folder; pass the file memory.jsonl in it")
    if detected == "langgraph":
        return read_langgraph(path, parts)
    if parts:
        raise SettingError(f"namespace: {detected} has none; only a LangGraph store has namespaces")
    return _READERS[detected](path)


def _path_of(source: Any) -> Path:
    if not isinstance(source, str | PathLike):
        raise SettingError(
            f"source: must be a path, a URL or a LangGraph store, and this is"
            f" {type(source).__name__}"
        )
    path = Path(fspath(source))
    require_source(path)
    return path


# Detection.


def detect_system(source: Source) -> str:
    """Detect which system wrote a file or folder.

    Args:
        source: A path, or the URL of a `PostgresStore`.

    Returns:
        One of `SYSTEMS`, or "memoryware" for a bundle of our own.

    Raises:
        ImportRefused: If it cannot be read, or looks like none of them.
    """
    if isinstance(source, str) and source.startswith(POSTGRES):
        return "langgraph"
    path = _path_of(source)
    detected = _of_folder(path) if path.is_dir() or is_zip(path) else _of_file(path)
    if detected is None:
        raise ImportRefused(
            str(path),
            f"cannot be recognised; name the system that wrote it: {', '.join(SYSTEMS)}",
        )
    return detected


def _of_folder(path: Path) -> str | None:
    with SourceFolder(path) as folder:
        names = folder.names()
        last_names = {name.rpartition("/")[2] for name in names}
        if last_names & {"storage.sqlite", "history.db"}:
            return "mem0"
        for name in names:
            if name.endswith(".json") and name.rpartition("/")[2].startswith(
                ("conversations", "memories")
            ):
                detected = _of_json(folder.file(name), name)
                if detected in ("chatgpt", "claude"):
                    return detected
        if any(name.endswith(".json") and "memories/" in name for name in names):
            return "claude"
        layout = Layout(names=ALL_NAMES)
        if AUTO_MEMORY in names and any(_LETTA_FILE.fullmatch(name) for name in names):
            return "letta"
        if any(layout.name_of(f"/{name}") for name in names) or AUTO_MEMORY in last_names:
            return "agents-md"
        notes = [name for name in names if name.lower().endswith(".md")]
        if any(_is_note(folder.file(name)) for name in islice(notes, _LOOKED_AT)):
            return "basic-memory"
    return None


_LOOKED_AT: Final = 50
_LETTA_FILE: Final = re.compile(r"system/.+\.md")
"""Files of an agent of Letta Code that are in each of its prompts."""


def _is_note(path: Path) -> bool:
    try:
        fields, _, _ = front_matter(read_text(path))
    except ImportRefused:
        return False
    return "permalink" in fields


def _of_file(path: Path) -> str | None:
    if is_sqlite(path):
        with sqlite_rows(path) as database:
            tables = tables_of(database)
        if {"prefix", "key", "value"} <= tables.get("store", set()):
            return "langgraph"
        return "mem0" if tables.keys() & {"history", "points"} else None
    if path.suffix == ".af":
        return "letta"
    if path.suffix.lower() in (".md", ".mdc") or path.name == ".cursorrules":
        if _is_note(path):
            return "basic-memory"
        return "agents-md" if Layout(names=ALL_NAMES).name_of(f"/{path.name}") else None
    return _of_json(path, str(path))


def _of_json(path: Path, label: str) -> str | None:
    with mapped(path, label) as data:
        file = JsonFile(data, label)
        start = file.first_byte()
        if start == b"[":
            return next((_of_value(item.value, "") for item in file.elements()), None)
        if start != b"{":
            return None
        detected = _of_value(file.first_line(), "")
        if detected is not None:
            return detected
        for element in islice(file.elements(), _LOOKED_AT):
            detected = _of_key(element.key) or _of_value(element.value, element.key)
            if detected is not None:
                return detected
    return None


def _of_key(key: str) -> str | None:
    return {
        "agents": "letta",
        "core_memory": "letta",
        "agent_type": "letta",
        "conversations_memory": "claude",
        "project_memories": "claude",
    }.get(key)


def _of_value(value: Any, key: str) -> str | None:
    """Return the system whose records have these fields."""
    if not isinstance(value, Mapping):
        return None
    fields = value.keys()
    if value.get("format") == "memoryware-bundle":
        return BUNDLE
    for system, needed in _SIGNS:
        if needed <= fields:
            return system
    if value.get("type") in ("entity", "relation"):
        return "mcp"
    if "memory" in fields and key in ("", "results", "memories"):
        return "mem0"
    return next((name for name in map(_of_key, fields) if name), None)


_SIGNS: Final[tuple[tuple[str, set[str]], ...]] = (
    ("chatgpt", {"mapping"}),
    ("claude", {"chat_messages"}),
    ("claude", {"conversations_memory"}),
    ("langgraph", {"namespace", "key", "value"}),
    ("letta", {"text", "archive_id"}),
    ("letta", {"text", "agent_id", "embedding"}),
    ("mem0", {"id", "memory"}),
)

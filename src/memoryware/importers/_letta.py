"""Read agent files of Letta (`.af`), lists of its passages, and folders of its memory files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from memoryware.errors import ImportRefused
from memoryware.importers._fields import (
    Read,
    as_text,
    as_time,
    kind_of,
    refuse,
    refuse_text,
    rest_of,
)
from memoryware.importers._files import SourceFolder, mapped, printable, read_text
from memoryware.importers._json_stream import JsonElement, JsonFile
from memoryware.importers._markdown_statements import front_matter
from memoryware.importers.records import RefusedRecord, SourceRecord

_BLOCKS: Final = ("blocks", "core_memory")
"""Lists of memory blocks: of agent files since 2025, and of older ones."""
_PASSAGES: Final = ("", "passages", "archival_memory", "archival_passages")
"""Lists of archival passages; an agent file has none, a list of them from the API is one."""
_BLOCK_FIELDS: Final = ("id", "value", "created_at", "limit", "is_template", "embedding")
_PASSAGE_FIELDS: Final = ("id", "text", "created_at", "embedding", "embedding_config")


def read_letta(path: Path) -> Read:
    """Read the memory blocks and archival passages of agents; messages are not memories.

    Args:
        path: An agent file, the JSON list that the API returns for passages, or a folder of
            memory files as Letta Code keeps and exports it.

    Yields:
        The records.

    Raises:
        ImportRefused: If it is no such file.
    """
    if path.is_dir():
        yield from _read_folder(path)
        return
    with mapped(path) as data:
        file = JsonFile(data, str(path))
        # Some agent files are a JSON text that holds the JSON of the file.
        if file.first_byte() == b'"':
            file = JsonFile(_inner(file).encode("utf-8", "replace"), str(path))
        yield from _read_json(file)


def _inner(file: JsonFile) -> str:
    value = file.whole()
    if not isinstance(value, str):
        raise file.error("is not an agent file of Letta")
    return value


def _read_json(file: JsonFile) -> Read:
    owners: dict[str, list[str]] = {}
    core_memory: list[JsonElement] = []
    is_letta = False
    agent: str | None = None
    for element in file.elements():
        if not element.in_list:
            is_letta = is_letta or element.key in (*_BLOCKS, "agent_type", "agents")
            agent = as_text(element.value) if element.key == "name" else agent
        elif element.key == "agents":
            is_letta = True
            _note_owners(element.value, owners)
        elif element.key == "core_memory":  # the name of its agent comes later
            core_memory.append(element)
        elif element.key == "blocks":
            is_letta = True
            yield _block(element, owners, None)
        elif element.key in _PASSAGES:
            is_letta = is_letta or _is_passage(element.value)
            yield _passage(element)
    for element in core_memory:
        yield _block(element, owners, agent)
    if not (is_letta or core_memory):
        raise file.error(
            'has no memory of Letta: an agent file has "agents" and "blocks", or "core_memory"'
        )


def _is_passage(value: Any) -> bool:
    return isinstance(value, Mapping) and "text" in value


def _note_owners(agent: Any, owners: dict[str, list[str]]) -> None:
    """Note which agents have a block, since a block may be shared."""
    if not isinstance(agent, Mapping):
        return
    name = as_text(agent.get("name")) or as_text(agent.get("id")) or ""
    block_ids = agent.get("block_ids")
    for id_ in block_ids if isinstance(block_ids, list) else ():
        owners.setdefault(str(id_), []).append(name)


def _block(
    element: JsonElement, owners: Mapping[str, list[str]], agent: str | None
) -> SourceRecord | RefusedRecord:
    location, block = f"line {element.line}", element.value
    if not isinstance(block, Mapping):
        return refuse(location, f"a block is {kind_of(block)}, and must be an object")
    label = as_text(block.get("label"))
    id_ = as_text(block.get("id")) or (f"block {label}" if label else "")
    value = block.get("value")
    if not isinstance(value, str) or not value.strip():
        return refuse_text(location, "value", value, label or id_)
    agents = owners.get(id_, [agent] if agent else [])
    metadata = {"kind": "memory block", **rest_of(block, *_BLOCK_FIELDS)}
    return SourceRecord(
        # Ids within a file are numbers ("block-0"), which say nothing in the next file.
        id=":".join(filter(None, (*agents, label or id_))),
        text=value.strip(),
        said_at=as_time(block.get("updated_at") or block.get("created_at")),
        agent=agents[0] if len(agents) == 1 else None,
        metadata=metadata | ({"agents": agents} if len(agents) > 1 else {}),
        location=location,
    )


def _passage(element: JsonElement) -> SourceRecord | RefusedRecord:
    location, passage = f"line {element.line}", element.value
    if not isinstance(passage, Mapping):
        return refuse(location, f"a passage is {kind_of(passage)}, and must be an object")
    text = passage.get("text")
    if not isinstance(text, str) or not text.strip():
        return refuse_text(location, "text", text, passage.get("id"))
    return SourceRecord(
        id=as_text(passage.get("id")) or "",
        text=text,
        said_at=as_time(passage.get("created_at")),
        agent=as_text(passage.get("agent_id")),
        metadata={"kind": "archival passage", **rest_of(passage, *_PASSAGE_FIELDS)},
        location=location,
    )


def _read_folder(path: Path) -> Read:
    with SourceFolder(path) as folder:
        names = folder.names(".md")
        if not names:
            raise ImportRefused(str(path), "has no memory files: they are Markdown, *.md")
        for name in names:
            yield _memory_file(folder, name)
        yield from (refuse(name, reason) for name, reason in folder.skipped)


def _memory_file(folder: SourceFolder, path: str) -> SourceRecord | RefusedRecord:
    name = printable(path)
    try:
        fields, text, before = front_matter(read_text(folder.file(path), name))
    except ImportRefused as error:
        return refuse(name, error.message)
    if not text.strip():
        return refuse(name, "has no text")
    return SourceRecord(
        id=name.removesuffix(".md"),
        text=text.strip(),
        metadata={"kind": "memory file", "label": name.removesuffix(".md"), **rest_of(fields)},
        location=f"{name}, line {before + 1}",
    )

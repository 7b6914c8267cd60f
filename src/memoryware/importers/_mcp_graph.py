"""Read the knowledge graph of the official MCP memory server: JSON Lines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memoryware.importers._fields import Read, as_text, as_time, kind_of, refuse
from memoryware.importers._files import mapped
from memoryware.importers._json_stream import JsonFile
from memoryware.importers.records import SourceRecord


def read_mcp(path: Path) -> Read:
    """Read each observation and each relation as one text, with the name that it is about.

    Args:
        path: The file of the server, `memory.jsonl` unless `MEMORY_FILE_PATH` names another.

    Yields:
        The records.

    Raises:
        ImportRefused: If a line is no JSON.
    """
    with mapped(path) as data:
        for number, record in JsonFile(data, str(path)).lines():
            location = f"line {number}"
            kind = record.get("type") if isinstance(record, Mapping) else None
            if kind == "entity":
                yield from _entity(record, location)
            elif kind == "relation":
                yield from _relation(record, location)
            else:
                yield refuse(location, 'is no object with the type "entity" or "relation"')


def _entity(record: Mapping[str, Any], location: str) -> Read:
    name, observations = as_text(record.get("name")), record.get("observations", [])
    if name is None:
        yield refuse(location, "the entity has no name")
        return
    if not isinstance(observations, list):
        yield refuse(
            location, f"observations are {kind_of(observations)}, and must be a list", name
        )
        return
    for observation in observations:
        if not isinstance(observation, str) or not observation.strip():
            yield refuse(
                location, f"an observation is {kind_of(observation)}, and must be text", name
            )
            continue
        yield SourceRecord(
            id=name,
            text=f"{_words(name)}: {observation}",
            said_at=as_time(record.get("createdAt")),
            metadata={"entity": name, "entity_type": as_text(record.get("entityType"))},
            location=location,
        )


def _relation(record: Mapping[str, Any], location: str) -> Read:
    names = [as_text(record.get(field)) for field in ("from", "relationType", "to")]
    if None in names:
        yield refuse(location, "a relation needs from, relationType and to")
        return
    yield SourceRecord(
        id="|".join(map(str, names)),
        text=" ".join(_words(str(name)) for name in names),
        metadata={"kind": "relation", "entity": names[0]},
        location=location,
    )


def _words(name: str) -> str:
    """Return a name of the graph as words: "works_at" is found by "works at"."""
    return name.replace("_", " ")

"""Read memories of mem0: JSON as `get_all` returns it, the local Qdrant folder, `history.db`."""

from __future__ import annotations

import io
import pickle
import sqlite3
import uuid
from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Final, Self

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
from memoryware.importers._files import (
    columns_of,
    is_sqlite,
    mapped,
    printable,
    sqlite_rows,
    tables_of,
)
from memoryware.importers._json_stream import JsonElement, JsonFile
from memoryware.importers.records import RefusedRecord, SourceRecord

_LISTS: Final = ("", "results", "memories")
_TEXTS: Final = ("memory", "data", "text")
"""Fields that have the text: of the API, of a vector store, of older exports."""
_NOT_KEPT: Final = (
    *("id", "hash", "score", "text_lemmatized"),
    *("created_at", "user_id", "agent_id", "run_id"),
)
_PREVIOUS: Final = 20
"""Earlier wordings that are kept with a memory."""
_INTERNAL: Final = ("_entities", "migrations")
"""Ends of the names of collections that mem0 keeps for itself."""


def read_mem0(path: Path) -> Read:
    """Read memories of mem0.

    Args:
        path: A JSON file, a folder with `collection/*/storage.sqlite` of Qdrant's local mode (and
            perhaps `history.db`), or `history.db` alone.

    Yields:
        The records.

    Raises:
        ImportRefused: If it is no such file.
    """
    if path.is_dir():
        yield from _read_folder(path)
    elif is_sqlite(path):
        with sqlite_rows(path) as database:
            tables = tables_of(database)
            if "points" in tables:
                yield from _points(database, path, {})
            elif "history" in tables:
                yield from _from_history(database)
            else:
                raise ImportRefused(str(path), "has neither points of Qdrant nor a history of mem0")
    else:
        with mapped(path) as data:
            yield from _read_json(JsonFile(data, str(path)))


# JSON.


def _read_json(file: JsonFile) -> Read:
    first = file.first_line()
    if isinstance(first, Mapping) and "memory" in first:  # JSON Lines
        for number, value in file.lines():
            yield _memory(JsonElement("", number, value, in_list=True))
        return
    has_list = False
    for element in file.elements():
        if element.in_list and element.key in _LISTS:
            has_list = True
            yield _memory(element)
        elif element.in_list and element.key == "relations":
            yield _relation(element)
        elif element.key in _LISTS[1:]:
            if element.value != []:
                raise file.error(f"{element.key!r} is no list of memories", element.line)
            has_list = True
    if not has_list and file.first_byte() != b"[":
        raise file.error(
            'has no list of memories: it must be a list, or an object with "results", as get_all()'
            " returns it"
        )


def _memory(element: JsonElement) -> SourceRecord | RefusedRecord:
    location, record = f"line {element.line}", element.value
    if not isinstance(record, Mapping):
        return refuse(location, f"is {kind_of(record)}, and must be an object")
    return _from_fields(record, record.get("id"), location, metadata=record.get("metadata"))


def _from_fields(
    record: Mapping[str, Any],
    id_: Any,
    location: str,
    *,
    metadata: Any = None,
    usual: str = "memory",
) -> SourceRecord | RefusedRecord:
    """Return the record of a memory of the API, or of the payload of a point."""
    field = next((name for name in _TEXTS if name in record), usual)
    text = record.get(field)
    if not isinstance(text, str) or not text.strip():
        return refuse_text(location, field, text, id_)
    if metadata is not None and not isinstance(metadata, Mapping):
        reason = f"the field 'metadata' is {kind_of(metadata)}, and must be an object"
        return refuse(location, reason, id_)
    return SourceRecord(
        id=as_text(id_) or "",
        text=text,
        said_at=as_time(record.get("created_at")),
        user=as_text(record.get("user_id")),
        agent=as_text(record.get("agent_id")),
        session=as_text(record.get("run_id")),
        metadata={**(metadata or {}), **rest_of(record, field, "metadata", *_NOT_KEPT)},
        location=location,
    )


def _relation(element: JsonElement) -> SourceRecord | RefusedRecord:
    """Return a relation of the graph memory as a sentence."""
    location, record = f"line {element.line}", element.value
    if not isinstance(record, Mapping):
        return refuse(location, f"is {kind_of(record)}, and must be an object")
    names = [
        as_text(record.get("source")),
        as_text(record.get("relationship") or record.get("relation")),
        as_text(record.get("target") or record.get("destination")),
    ]
    if None in names:
        return refuse(location, "a relation needs source, relationship and target")
    words = [str(name).replace("_", " ") for name in names]
    return SourceRecord(
        id="relation:" + "|".join(map(str, names)),
        text=" ".join(words),
        metadata={"kind": "relation"},
        location=location,
    )


# The folder of Qdrant.


def _read_folder(path: Path) -> Read:
    stores = sorted(
        file
        for pattern in (
            "storage.sqlite",
            "collection/*/storage.sqlite",
            "*/collection/*/storage.sqlite",
        )
        for file in path.glob(pattern)
        if not file.parent.name.endswith(_INTERNAL) and is_sqlite(file)
    )
    history = next(
        (folder / "history.db" for folder in (path, path.parent) if _is_history(folder)), None
    )
    if not stores and history is None:
        raise ImportRefused(
            str(path),
            "has no memories of mem0: it must have collection/*/storage.sqlite or history.db in it",
        )
    if not stores and history is not None:
        with sqlite_rows(history) as database:
            yield from _from_history(database)
        return
    previous = _previous(history) if history is not None else {}
    for store in stores:
        with sqlite_rows(store) as database:
            yield from _points(database, store, previous)


def _is_history(folder: Path) -> bool:
    file = folder / "history.db"
    return file.is_file() and is_sqlite(file)


def _points(
    database: sqlite3.Connection, path: Path, previous: Mapping[str, list[dict[str, Any]]]
) -> Read:
    if "point" not in columns_of(database, "points"):
        raise ImportRefused(str(path), "has no table of points as Qdrant's local mode writes it")
    for number, (blob,) in enumerate(database.execute("SELECT point FROM points"), 1):
        location = f"{path.parent.name}, point {number}"
        point = _unpickled(blob, f"{path}, point {number}")
        payload, id_ = point.get("payload"), point.get("id")
        if not isinstance(payload, Mapping):
            yield refuse(location, "has no payload", id_)
            continue
        record = _from_fields(payload, id_, location, usual="data")
        if isinstance(record, SourceRecord) and (earlier := previous.get(record.id)):
            record = replace(record, metadata={**record.metadata, "previous": earlier})
        yield record


class _Stub:
    """Stands for a class of Qdrant or NumPy in a pickle: keeps its state, and runs nothing."""

    def __new__(cls, *_: Any, **__: Any) -> Self:
        return super().__new__(cls)

    def __setstate__(self, state: Any) -> None:
        fields = state.get("__dict__") if isinstance(state, Mapping) else None
        self.fields = fields if isinstance(fields, Mapping) else state


_HARMLESS: Final = {
    ("uuid", "UUID"): uuid.UUID,
    ("collections", "OrderedDict"): OrderedDict,
    ("datetime", "datetime"): datetime,
    ("datetime", "date"): date,
    ("datetime", "timezone"): timezone,
    ("datetime", "timedelta"): timedelta,
}


class _PointUnpickler(pickle.Unpickler):
    """Reads points of Qdrant's local mode, which are pickles, without running what they name."""

    def find_class(self, module: str, name: str) -> Any:
        if module.partition(".")[0] in ("qdrant_client", "numpy"):
            return _Stub
        try:
            return _HARMLESS[module, name]
        except KeyError:
            called = printable(f"{module}.{name}")
            raise pickle.UnpicklingError(
                f"it would run {called}, which no file of Qdrant does; do not trust it"
            ) from None


def _unpickled(blob: Any, label: str) -> Mapping[str, Any]:
    try:
        point = _PointUnpickler(io.BytesIO(blob)).load()
    except pickle.UnpicklingError as error:
        raise ImportRefused(label, f"cannot be read: {error}") from None
    except Exception as error:  # noqa: BLE001 - a damaged pickle raises anything
        raise ImportRefused(label, f"cannot be read ({type(error).__name__})") from None
    fields = getattr(point, "fields", None)
    if not isinstance(fields, Mapping):
        raise ImportRefused(label, "is not a point of Qdrant")
    return fields


# history.db.

_COLUMNS: Final = (
    "memory_id, old_memory, new_memory, event, created_at, updated_at, is_deleted, role"
)


def _history_rows(database: sqlite3.Connection) -> Iterator[tuple[Any, ...]]:
    if not {name.strip() for name in _COLUMNS.split(",")} <= columns_of(database, "history"):
        raise ImportRefused("history.db", "has another table than mem0 1.0 and later write")
    yield from database.execute(
        f"SELECT {_COLUMNS} FROM history ORDER BY memory_id, updated_at, rowid"  # noqa: S608 - constants
    )


def _previous(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the earlier wordings of memories that were updated, by id."""
    previous: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with sqlite_rows(path) as database:
        for id_, old, _, event, _, changed_at, _, _ in _history_rows(database):
            if event == "UPDATE" and isinstance(old, str):
                previous[str(id_)].append({"text": old, "until": changed_at})
    return {id_: texts[-_PREVIOUS:] for id_, texts in previous.items()}


def _from_history(database: sqlite3.Connection) -> Read:
    """Return what each memory said last, where the vectors are gone; deleted ones are refused."""
    last: tuple[Any, ...] | None = None
    texts: list[dict[str, Any]] = []
    for row in _history_rows(database):
        if last is not None and last[0] != row[0]:
            yield _last_wording(last, texts)
            texts = []
        if row[3] == "UPDATE" and isinstance(row[1], str):
            texts.append({"text": row[1], "until": row[5]})
        last = row
    if last is not None:
        yield _last_wording(last, texts)


def _last_wording(
    row: tuple[Any, ...], previous: list[dict[str, Any]]
) -> SourceRecord | RefusedRecord:
    id_, _, text, event, created_at, updated_at, is_deleted, role = row
    if event == "DELETE" or is_deleted:
        return refuse("history.db", "was deleted in mem0", id_)
    if not isinstance(text, str) or not text.strip():
        return refuse_text("history.db", "new_memory", text, id_)
    fields = {"updated_at": updated_at, "role": role, "previous": previous[-_PREVIOUS:]}
    return SourceRecord(
        id=str(id_),
        text=text,
        said_at=as_time(created_at),
        metadata=rest_of(fields),
        location="history.db",
    )

"""Read the items of a LangGraph store, in which LangMem keeps its memories."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from memoryware._install import install_command
from memoryware._json_reading import JsonInvalid, parse_json
from memoryware.errors import ImportRefused, SettingError, StoreUnavailable
from memoryware.importers._fields import Read, as_text, as_time, kind_of, refuse, rest_of
from memoryware.importers._files import (
    columns_of,
    is_sqlite,
    mapped,
    printable,
    sqlite_rows,
)
from memoryware.importers._json_stream import JsonFile
from memoryware.importers.records import RefusedRecord, SourceRecord

POSTGRES: Final = ("postgresql://", "postgres://")
_TEXTS: Final = ("content", "text", "memory", "data", "fact")
"""Fields that hold the text of an item, by use; LangMem writes "content"."""
_OF_USERS: Final = "memories"
"""The first part of LangMem's default namespace; the second is the user."""
_OURS: Final = "memoryware"
"""The first part of the namespaces of `langgraph_stores`."""
_PAGE: Final = 200
_DEEPEST: Final = 8


class StoreItem(NamedTuple):
    """An item of a store.

    Attributes:
        namespace: Its namespace.
        key: Its key.
        value: Its value.
        created_at: When it was put there first.
        updated_at: When it was put there last.
        expires_at: When it expires; None for never.
    """

    namespace: tuple[str, ...]
    key: str
    value: Any
    created_at: Any = None
    updated_at: Any = None
    expires_at: Any = None


def read_langgraph(source: Path | str | Any, namespace: Sequence[str] = ()) -> Read:
    """Read the items of a store.

    Args:
        source: The SQLite file of a `SqliteStore`, a JSON list or JSON Lines of items, the URL of
            a `PostgresStore`, or any `BaseStore`.
        namespace: Only items in it and below.

    Yields:
        The records.

    Raises:
        ImportRefused: If a file is no such store.
        StoreUnavailable: If a store or a database cannot be read.
        SettingError: If PostgreSQL is named and its driver is not installed.
    """
    prefix = tuple(namespace)
    if isinstance(source, str):
        items = _postgres_items(source)
    elif not isinstance(source, Path):
        items = _items_of(source, prefix)
    elif is_sqlite(source):
        items = _sqlite_items(source)
    else:
        yield from _read_json(source, prefix)
        return
    now = datetime.now(UTC)
    for item in items:
        if item.namespace[: len(prefix)] == prefix:
            yield _record(item, "/".join((*item.namespace, item.key)), now)


def _record(item: StoreItem, location: str, now: datetime) -> SourceRecord | RefusedRecord:
    if item.namespace[:1] == (_OURS,):
        return refuse(location, "is a record of memoryware itself; copy_stores copies these")
    expires_at = as_time(item.expires_at)
    if expires_at is not None and expires_at <= now:
        return refuse(location, "had expired in the store", location)
    text = value_text(item.value)
    if not text:
        return refuse(location, f"has no text: its value is {kind_of(item.value)} without any")
    is_of_user = len(item.namespace) == 2 and item.namespace[0] == _OF_USERS
    value = item.value if isinstance(item.value, Mapping) else {}
    fields = {
        "namespace": list(item.namespace),
        "updated_at": item.updated_at and str(item.updated_at),
        **({"value": rest_of(value, *_TEXTS)} if isinstance(item.value, Mapping) else {}),
    }
    return SourceRecord(
        id="/".join((*item.namespace, item.key)),
        text=text,
        said_at=as_time(item.created_at),
        user=item.namespace[1] if is_of_user else None,
        metadata=rest_of(fields),
        location=location,
    )


def value_text(value: Any, depth: int = 0) -> str:
    """Return the text of the value of an item: its text field, or else all fields by name.

    Args:
        value: The value.
        depth: How deep it is in that of the item.

    Returns:
        The text; "" if there is none.
    """
    if depth > _DEEPEST or value is None:
        return ""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    if isinstance(value, Sequence):
        texts = [value_text(item, depth + 1) for item in value]
        separator = "\n" if any("\n" in text for text in texts) else ", "
        return separator.join(filter(None, texts))
    if not isinstance(value, Mapping):
        return ""
    for field in _TEXTS:
        content = value.get(field)
        if isinstance(content, str) and content.strip():
            return content.strip()
        if isinstance(content, Mapping):
            return value_text(content, depth + 1)
        if isinstance(content, list) and all(isinstance(line, str) for line in content):
            return "\n".join(content).strip()
    pairs = [(name, value_text(item, depth + 1)) for name, item in value.items()]
    return "\n".join(f"{name}: {text}" for name, text in pairs if text)


# Stores.


def _sqlite_items(path: Path) -> Iterator[StoreItem]:
    with sqlite_rows(path) as database:
        columns = columns_of(database, "store")
        if not {"prefix", "key", "value"} <= columns:
            raise ImportRefused(
                str(path),
                "is no SqliteStore of LangGraph: it has no table of that form named store",
            )
        expires = "expires_at" if "expires_at" in columns else "NULL"
        rows = database.execute(
            f"SELECT prefix, key, value, created_at, updated_at, {expires} FROM store"  # noqa: S608 - constants
            " ORDER BY prefix, key"
        )
        for prefix, key, value, *times in rows:
            try:
                parsed = parse_json(value)
            except (JsonInvalid, UnicodeDecodeError, TypeError) as error:
                raise ImportRefused(
                    str(path), f"the item {printable(f'{prefix}/{key}')} is damaged: {error}"
                ) from None
            yield StoreItem(tuple(str(prefix).split(".")), str(key), parsed, *times)


def _postgres_items(url: str) -> Iterator[StoreItem]:
    with _postgres(url) as connection:
        columns = {
            row[0]
            for row in connection.execute(
                "SELECT column_name FROM information_schema.columns"
                " WHERE table_schema = ANY (current_schemas(false)) AND table_name = 'store'"
            )
        }
        if not {"prefix", "key", "value"} <= columns:
            raise StoreUnavailable(
                "The database has no PostgresStore of LangGraph: there is no table named store of"
                " that form in its search path"
            )
        expires = "expires_at" if "expires_at" in columns else "NULL"
        with connection.cursor(name="memoryware_import") as cursor:
            cursor.itersize = _PAGE
            cursor.execute(
                f"SELECT prefix, key, value, created_at, updated_at, {expires} FROM store"  # noqa: S608 - constants
                " ORDER BY prefix, key"
            )
            for prefix, key, value, *times in cursor:
                yield StoreItem(tuple(prefix.split(".")), key, value, *times)


@contextmanager
def _postgres(url: str) -> Iterator[Any]:
    try:
        import psycopg
    except ImportError:
        raise SettingError(f"PostgreSQL needs its driver: {install_command('postgres')}") from None
    try:
        with psycopg.connect(url, connect_timeout=10) as connection:
            connection.read_only = True
            yield connection
    except psycopg.Error as error:
        # The message of the driver may hold the URL, and with it the password.
        reason = type(error).__name__
        raise StoreUnavailable(
            f"The store in PostgreSQL cannot be read ({reason}); check the URL and the server"
        ) from None


def _items_of(store: Any, prefix: tuple[str, ...]) -> Iterator[StoreItem]:
    """Yield the items of any `BaseStore`, page by page."""
    # Pages of everything would shift while the same store takes the entries of an import.
    for root in [prefix] if prefix else _roots(store):
        for item in _pages(partial(_search, store, root)):
            yield StoreItem(
                tuple(item.namespace), item.key, item.value, item.created_at, item.updated_at
            )


def _roots(store: Any) -> list[tuple[str, ...]]:
    def listed(offset: int) -> list[tuple[str, ...]]:
        with _typed_errors():
            return list(store.list_namespaces(max_depth=1, limit=_PAGE, offset=offset))

    return [tuple(root) for root in _pages(listed) if tuple(root) != (_OURS,)]


def _search(store: Any, root: tuple[str, ...], offset: int) -> list[Any]:
    with _typed_errors():
        return list(store.search(root, limit=_PAGE, offset=offset, refresh_ttl=False))


def _pages(read: Callable[[int], list[Any]]) -> Iterator[Any]:
    offset = 0
    while True:
        page = read(offset)
        yield from page
        offset += len(page)
        if len(page) < _PAGE:
            return


@contextmanager
def _typed_errors() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise StoreUnavailable(
            f"The store cannot be read: {type(error).__name__}; what was imported stays, and the"
            " same call goes on"
        ) from error


# Items as JSON: what `item.dict()` returns.


def _read_json(path: Path, prefix: tuple[str, ...]) -> Read:
    now = datetime.now(UTC)
    with mapped(path) as data:
        file = JsonFile(data, str(path))
        values: Iterator[tuple[int, Any]]
        if file.first_byte() == b"[":
            values = ((element.line, element.value) for element in file.elements())
        else:
            values = file.lines()
        for number, value in values:
            location = f"line {number}"
            item = _item_of(value)
            if item is None:
                yield refuse(location, _NO_ITEM)
            elif item.namespace[: len(prefix)] == prefix:
                yield _record(item, location, now)


_NO_ITEM: Final = "is no item of a store: it needs namespace (a list of texts), key and value"


def _item_of(value: Any) -> StoreItem | None:
    if not isinstance(value, Mapping):
        return None
    namespace, key = value.get("namespace"), as_text(value.get("key"))
    if not isinstance(namespace, list) or not all(isinstance(part, str) for part in namespace):
        return None
    if key is None or "value" not in value:
        return None
    times = (value.get("created_at"), value.get("updated_at"), value.get("expires_at"))
    return StoreItem(tuple(namespace), key, value["value"], *times)

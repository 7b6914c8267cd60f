"""Open the backend of memory files at an address: a folder, or a URL of a LangGraph store."""

from __future__ import annotations

import os
import sqlite3
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from memoryware._copying import opened_by
from memoryware._home import expand_home
from memoryware._runner import in_thread
from memoryware.backends.filesystem import FilesystemBackend
from memoryware.backends.store import StoreBackend
from memoryware.errors import BackendUnavailable, SettingError

_STORE: Final = "store+"
_KNOWN: Final = (
    'a folder, "store+sqlite:///store.db?namespace=memory/team" for files in a LangGraph store in'
    ' a file, or "store+postgresql://user@host/database?namespace=memory/team"'
)
# Seconds to wait for a file that another process is writing.
_BUSY: Final = 30.0


def open_files(address: str | os.PathLike[str]) -> Any:
    """Open the backend at an address: a folder, or a namespace in a LangGraph store.

    Args:
        address: A folder; or `store+sqlite:///store.db?namespace=memory/team`, with parts of the
            namespace between slashes, percent-encoded where a part has one itself; or
            `store+postgresql://user@host/database?namespace=memory/team`.

    Returns:
        A `FilesystemBackend` or a `StoreBackend`.

    Raises:
        SettingError: For an address of another kind, or one of a store without a namespace.
        BackendUnavailable: If nothing is there, or a package for it is missing.
    """
    text = os.fspath(address)
    if not text:
        raise SettingError(f"the address of memory files is empty: give {_KNOWN}")
    if text.startswith(_STORE):
        backend = _in_store(text.removeprefix(_STORE))
        opened_by(backend, open_files, (_absolute(text),), {})
        return backend
    if "://" in text:
        scheme = text.partition("://")[0]
        raise SettingError(f"{scheme}://... is not an address of memory files: give {_KNOWN}")
    folder = expand_home(text, "address")
    if not folder.is_dir():
        raise BackendUnavailable(f"{text}: there is no such folder")
    return FilesystemBackend(folder)


async def aopen_files(address: str | os.PathLike[str]) -> Any:
    """Open the backend at an address: a folder, or a namespace in a LangGraph store.

    Args:
        address: A folder; or `store+sqlite:///store.db?namespace=memory/team`, with parts of the
            namespace between slashes, percent-encoded where a part has one itself; or
            `store+postgresql://user@host/database?namespace=memory/team`.

    Returns:
        A `FilesystemBackend` or a `StoreBackend`.

    Raises:
        SettingError: For an address of another kind, or one of a store without a namespace.
        BackendUnavailable: If nothing is there, or a package for it is missing.
    """
    return await in_thread(open_files, address)


def _absolute(address: str) -> str:
    """Return an address with the full path of its file, for a process in another folder."""
    (location, mark, settings), prefix = address.partition("?"), f"{_STORE}sqlite:///"
    if not address.startswith(prefix):
        return address
    file = expand_home(location.removeprefix(prefix), "address").absolute()
    return f"{prefix}{file}{mark}{settings}"


def _in_store(url: str) -> StoreBackend:
    parts = urlsplit(url)
    parts_of_namespace = [part for value in _raw(parts.query) for part in value.split("/") if part]
    if not parts_of_namespace:
        raise SettingError(
            "the address of a store needs the namespace of the files: ?namespace=memory/team"
        )
    namespace = tuple(unquote(part) for part in parts_of_namespace)
    if parts.scheme == "sqlite":
        return StoreBackend(store=_sqlite(url.partition("?")[0]), namespace=namespace)
    if parts.scheme in ("postgresql", "postgres"):
        return StoreBackend(store=_postgres(url), namespace=namespace)
    raise SettingError(f"{_STORE}{parts.scheme}://... is not a supported store: give {_KNOWN}")


def _raw(query: str) -> list[str]:
    """Return what a query says of the namespace, with slashes inside parts still encoded."""
    pairs = (pair.partition("=") for pair in query.split("&"))
    return [value for name, _, value in pairs if name == "namespace"]


def _sqlite(url: str) -> Any:
    path = expand_home(url.removeprefix("sqlite:///"), "address")
    if not path.is_file():
        raise BackendUnavailable(f"{path}: there is no such file")
    try:
        from langgraph.store.sqlite import SqliteStore
    except ImportError as error:
        raise BackendUnavailable(
            "a store in a file needs a package: pip install langgraph-checkpoint-sqlite"
        ) from error
    try:
        connection = sqlite3.connect(
            path, check_same_thread=False, isolation_level=None, timeout=_BUSY
        )
        return SqliteStore(connection)
    except sqlite3.Error as error:
        raise BackendUnavailable(f"{path}: {error}") from error


def _postgres(url: str) -> Any:
    try:
        import psycopg
        from langgraph.store.postgres import PostgresStore
    except ImportError as error:
        raise BackendUnavailable(
            "a store in PostgreSQL needs a package: pip install langgraph-checkpoint-postgres"
        ) from error
    parts = urlsplit(url)
    query = "&".join(pair for pair in parts.query.split("&") if not pair.startswith("namespace="))
    address = parts._replace(scheme="postgresql", query=query).geturl()
    try:
        connection: Any = psycopg.connect(
            address,
            autocommit=True,
            # As LangGraph opens its own connections.
            prepare_threshold=0,
            connect_timeout=int(_BUSY),
            row_factory=psycopg.rows.dict_row,
        )
    except psycopg.Error as error:
        # The error of psycopg is left out: it repeats parts of the address.
        raise BackendUnavailable(
            f"the PostgreSQL at {parts.hostname} cannot be reached ({type(error).__name__})"
        ) from error
    return PostgresStore(connection)

"""One connection to PostgreSQL, and what its errors mean."""

from __future__ import annotations

import secrets
import struct
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from sys import byteorder
from time import monotonic
from typing import Any, Final, Protocol

import psycopg
from psycopg import pq
from psycopg.abc import PQGen
from psycopg.adapt import Dumper

from memoryware.errors import StoreUnavailable
from memoryware.tiers.stores.sql.port import Row

_GRACE: Final = 5.0
"""Seconds that a server may take to say that a statement took too long."""
_AGAIN: Final = frozenset({"40001", "40P01", "23503"})
"""Errors after which the same can be done again: others were in between."""
_HINTS: Final = {
    "55P03": "somebody else has been writing the same for too long (lock_timeout)",
    "57014": "a statement took too long and was ended (statement_timeout)",
    "25006": "this server only reads, so it is a replica; connect to the one that writes",
    "42501": "the role of this address may not do that; let the owner of the tables grant it",
    "42P01": "tables of memoryware are not there anymore; open the memory again",
    "53100": "the disk of the server is full; make room and try again",
    "53200": "the server is out of memory; try again",
    "53300": "the server takes no more connections; lower pool_size, or raise max_connections",
    "28P01": "the password is wrong",
    "28000": "the server does not let this user in; look at its pg_hba.conf",
}
_SAID: Final = {
    "too many clients": "53300",
    "too many connections": "53300",
    "connection slots are reserved": "53300",
    "password authentication failed": "28P01",
    "no pg_hba.conf entry": "28000",
}
"""What a server says to whom it does not let in: nothing tells the code of such an error."""
_WITH_ID: Final = ("record_own", "_tier_part_id_owner_key")
"""How the constraint ends by which an id is stored once; the second is that of a part."""


class Undone(Exception):
    """A transaction that never was; it can be begun again.

    Attributes:
        lost: Whether the connection was lost.
    """

    def __init__(self, message: str, *, lost: bool) -> None:
        super().__init__(message)
        self.lost = lost


class Half(bytes):
    """A vector of 16-bit floats, as `packed` makes it."""

    __slots__ = ()


class HalfDumper(Dumper):
    """Sends a vector as pgvector reads it, in binary; the server knows its type by a cast."""

    format = pq.Format.BINARY

    def dump(self, obj: Half) -> bytes:
        numbers = array("H", obj)
        if byteorder == "little":
            numbers.byteswap()
        return struct.pack(">HH", len(numbers), 0) + numbers.tobytes()


class BlockingConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection that does not wait for ever for a server that says nothing."""

    longest: float | None = None
    number: int = 0
    waited: float = 0.0
    permit: object | None = None
    is_cut: bool = False  # whether somebody was interrupted in the middle of a statement

    def __del__(self, *_: object) -> None:
        """Say nothing: a process that ends leaves connections behind."""

    def wait(self, gen: PQGen[Any], interval: float = 0.1, timeout: float | None = None) -> Any:
        began = monotonic()
        try:
            return super().wait(gen, interval, self.longest if timeout is None else timeout)
        finally:
            self.waited = monotonic() - began


class NativeConnection(psycopg.AsyncConnection[tuple[Any, ...]]):
    """The async twin."""

    longest: float | None = None
    number: int = 0
    waited: float = 0.0
    permit: object | None = None
    is_cut: bool = False  # whether somebody was interrupted in the middle of a statement

    def __del__(self, *_: object) -> None:
        """Say nothing: a loop that ends leaves connections behind."""

    async def wait(
        self,
        gen: PQGen[Any],
        interval: float = 0.1,
        timeout: float | None = None,  # noqa: ASYNC109 - that of psycopg
    ) -> Any:
        began = monotonic()
        try:
            return await super().wait(gen, interval, self.longest if timeout is None else timeout)
        finally:
            self.waited = monotonic() - began


def prepare(db: BlockingConnection | NativeConnection, statement_timeout: float) -> None:
    """Make a new connection ready."""
    db.adapters.register_dumper(Half, HalfDumper)
    db.longest = statement_timeout + _GRACE
    db.number = secrets.randbits(63)  # no other connection ever has it


class Link(Protocol):
    """A connection inside a transaction."""

    async def script(self, text: str) -> Sequence[Row]:
        """Do several statements and return the rows of the last."""
        ...

    async def run(self, sql: str, values: Sequence[object]) -> Sequence[Row]: ...

    async def many(
        self, sql: str, rows: Sequence[Sequence[object]], *, returning: bool = False
    ) -> Sequence[Row]:
        """Do a statement for each of these rows, with one wait for all; return what they return."""
        ...


class BlockingLink:
    """Waits by blocking, so that what awaits it never suspends."""

    def __init__(self, db: BlockingConnection, shown: str) -> None:
        self.db, self._shown = db, shown

    async def script(self, text: str) -> Sequence[Row]:
        with errors(self.db, self._shown):
            cursor = self.db.execute(text.encode())
            while cursor.nextset():
                pass
            return cursor.fetchall() if cursor.description else []

    async def run(self, sql: str, values: Sequence[object]) -> Sequence[Row]:
        with errors(self.db, self._shown):
            cursor = self.db.execute(marked(sql), values)
            return cursor.fetchall() if cursor.description else []

    async def many(
        self, sql: str, rows: Sequence[Sequence[object]], *, returning: bool = False
    ) -> Sequence[Row]:
        with errors(self.db, self._shown), _interrupted(), self.db.cursor() as cursor:
            cursor.executemany(marked(sql), rows, returning=returning)
            found = list[Row]()
            while returning and rows:
                found += cursor.fetchall()
                returning = bool(cursor.nextset())
            return found


class NativeLink:
    """Waits in the event loop."""

    def __init__(self, db: NativeConnection, shown: str) -> None:
        self.db, self._shown = db, shown

    async def script(self, text: str) -> Sequence[Row]:
        with errors(self.db, self._shown):
            cursor = await self.db.execute(text.encode())
            while cursor.nextset():
                pass
            return await cursor.fetchall() if cursor.description else []

    async def run(self, sql: str, values: Sequence[object]) -> Sequence[Row]:
        with errors(self.db, self._shown):
            cursor = await self.db.execute(marked(sql), values)
            return await cursor.fetchall() if cursor.description else []

    async def many(
        self, sql: str, rows: Sequence[Sequence[object]], *, returning: bool = False
    ) -> Sequence[Row]:
        with errors(self.db, self._shown), _interrupted():
            async with self.db.cursor() as cursor:
                await cursor.executemany(marked(sql), rows, returning=returning)
                found = list[Row]()
                while returning and rows:
                    found += await cursor.fetchall()
                    returning = bool(cursor.nextset())
                return found


@contextmanager
def _interrupted() -> Iterator[None]:
    """Let a Ctrl-C be one, and a cancelled task; psycopg loses count of its pipeline then."""
    try:
        yield
    except AssertionError as error:
        cause = error.__context__
        while isinstance(cause, Exception):
            cause = cause.__context__
        if cause is None:
            raise
        raise cause from None


@lru_cache(maxsize=1000)
def marked(sql: str) -> bytes:
    """Return a statement with the marks of psycopg where values belong."""
    return sql.replace("%", "%%").replace("?", "%s").encode()


@contextmanager
def errors(db: BlockingConnection | NativeConnection, shown: str) -> Iterator[None]:
    """Turn what psycopg says into an error that says what to do, or that it can be tried again."""
    was_cut, db.is_cut = db.is_cut, True
    try:
        yield
        db.is_cut = was_cut
    except psycopg.Error as error:
        db.is_cut = was_cut
        if db.pgconn.transaction_status == pq.TransactionStatus.ACTIVE:
            db.pgconn.finish()  # an answer is missing, so nothing more can be said on it
            if db.longest is not None and db.waited >= db.longest:
                raise StoreUnavailable(
                    f"{shown} has not answered for {db.longest} seconds (statement_timeout)"
                ) from error
        if db.closed:
            raise Undone(first_line(error), lost=True) from error
        if error.sqlstate in _AGAIN:
            raise Undone(first_line(error), lost=False) from error
        raise unavailable(shown, error) from error


def unavailable(shown: str, error: psycopg.Error) -> StoreUnavailable:
    """Return what to raise for an error that trying again does not mend."""
    text = first_line(error)
    hint = hint_of(error)
    if error.sqlstate == "23505" and (error.diag.constraint_name or "").endswith(_WITH_ID):
        hint = "a record with this id is there already; nothing was stored"
    return StoreUnavailable(f"{shown}: {hint} ({text})" if hint else f"{shown}: {text}")


def hint_of(error: psycopg.Error) -> str | None:
    """Return what to do about an error, None if that is not known."""
    code = error.sqlstate
    if code is None:
        code = next((known for said, known in _SAID.items() if said in str(error)), None)
    return None if code is None else _HINTS.get(code)


def first_line(error: Exception) -> str:
    """Return what an error says, without the values that it was about."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__

"""Connections to PostgreSQL: statements in pipelines, and what errors mean."""

from __future__ import annotations

import asyncio
import re
import secrets
import struct
from abc import ABC, abstractmethod
from array import array
from collections import OrderedDict
from collections.abc import Coroutine, Generator, Sequence
from contextlib import suppress
from functools import lru_cache
from sys import byteorder
from time import monotonic
from typing import Any, Final, Literal, TypeAlias, TypeVar

import psycopg
from psycopg import pq
from psycopg.abc import PQGen
from psycopg.adapt import AdaptersMap, Dumper, PyFormat, Transformer
from psycopg.errors import error_from_result
from psycopg.types.numeric import Int8BinaryDumper, Int8Dumper
from psycopg.waiting import Ready, Wait

from memoryware.errors import StoreUnavailable
from memoryware.tiers.stores._sql.dialect import Row
from memoryware.tiers.stores.postgres._address import Address, Command

T = TypeVar("T")
_Key: TypeAlias = tuple[bytes, tuple[int, ...]]
"""A statement and the types of its values, of which the server makes a prepared statement."""
_GRACE: Final = 5.0
"""Seconds that a server may take to report that a statement took too long."""
_PREPARED: Final = 200
"""Statements that one connection keeps prepared; others are parsed each time."""
_QUEUED: Final = 1000
"""Statements that wait to be sent together; more would only take memory."""
_LONGEST: Final = 1e6
"""Seconds that stand for no limit: libpq takes whole numbers only."""


# Errors.

_RETRIED: Final = frozenset({"40001", "40P01", "23503", "26000"})
"""Conflicts after which a transaction can run again: serialization, deadlock, a parent row that
is gone, and a prepared statement that a pooler's session does not have."""
_NOT_PREPARED: Final = frozenset({"26000", "0A000"})
"""Errors after which nothing is prepared anymore, or with other columns."""
_HINTS: Final = {
    "55P03": "another transaction has held the lock for too long (lock_timeout)",
    "57014": "a statement took too long and was canceled (statement_timeout)",
    "25006": "this server only reads, so it is a replica; connect to the one that writes",
    "42501": "the role of this address may not do that; let the owner of the tables grant it",
    "42P01": "tables of memoryware are missing; open the memory again",
    "53100": "the disk of the server is full; make room and try again",
    "53200": "the server is out of memory; try again",
    "53300": "the server takes no more connections; lower pool_size, or raise max_connections",
    "28P01": "the password is wrong",
    "28000": "the server rejects this user; check its pg_hba.conf",
}
_REJECTIONS: Final = {
    "too many clients": "53300",
    "too many connections": "53300",
    "connection slots are reserved": "53300",
    "password authentication failed": "28P01",
    "no pg_hba.conf entry": "28000",
}
"""SQLSTATE by the message of a rejected connection: libpq gives no code for these."""
_WITH_ID: Final = ("record_own", "_tier_part_id_owner_key")
"""Endings of the constraint that keeps ids unique; the second is that of a partition."""


class RolledBack(Exception):
    """A transaction that has not happened; it can run again.

    Attributes:
        lost: Whether the connection was lost.
        stale: Whether the connection had died in the pool, so that nothing was begun.
    """

    def __init__(self, message: str, *, lost: bool, stale: bool = False) -> None:
        super().__init__(message)
        self.lost, self.stale = lost, stale


def unavailable(shown: str, error: psycopg.Error) -> StoreUnavailable:
    """Return what to raise for an error that trying again does not mend."""
    text, hint = first_line(error), hint_of(error)
    if error.sqlstate == "23505" and (error.diag.constraint_name or "").endswith(_WITH_ID):
        hint = "a record with this id exists already; nothing was stored"
    return StoreUnavailable(f"{shown}: {hint} ({text})" if hint else f"{shown}: {text}")


def hint_of(error: psycopg.Error) -> str | None:
    """Return what to do about an error, None if that is not known."""
    code = error.sqlstate
    if code is None:
        code = next((value for text, value in _REJECTIONS.items() if text in str(error)), None)
    return None if code is None else _HINTS.get(code)


def first_line(error: Exception) -> str:
    """Return the message of an error, without the values that it was about."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


class _Silent(Exception):
    """A server that sends nothing for longer than a statement may take."""


# Connections.


class HalfVector(bytes):
    """A vector of 16-bit floats, as `packed` makes it."""

    __slots__ = ()


class HalfVectorDumper(Dumper):
    """Sends a vector in the binary format of pgvector; a cast tells the server its type."""

    format = pq.Format.BINARY

    def dump(self, obj: HalfVector) -> bytes:
        numbers = array("H", obj)
        if byteorder == "little":
            numbers.byteswap()
        return struct.pack(">HH", len(numbers), 0) + numbers.tobytes()


class _Adaptation:
    """How values are sent: whole numbers in one type, so that a statement is prepared once."""

    def __init__(self) -> None:
        self.adapters = AdaptersMap(psycopg.adapters)
        self.adapters.register_dumper(HalfVector, HalfVectorDumper)
        for dumper in (Int8Dumper, Int8BinaryDumper):  # the first one for lists
            self.adapters.register_dumper(int, dumper)
        self.connection = None


_ADAPTATION: Final = _Adaptation()


class ConnectionState:
    """What is known of a connection beside what psycopg knows.

    Attributes:
        number: A number that no other connection ever has.
        slot: Its slot in the pool.
        state: "idle" outside of a transaction, "open" inside, and "busy" while statements are
            sent and answered: one that is interrupted then is of no use anymore.
        is_used: Whether the server has answered on it before.
        unread: How many transactions have ended without anybody waiting for the answer.
        prepared: Names of prepared statements; None for one that was used once.
    """

    def __init__(self) -> None:
        self.number = secrets.randbits(63)
        self.slot: object | None = None
        self.state: Literal["idle", "open", "busy"] = "idle"
        self.is_used = False
        self.unread = 0
        self.prepared: OrderedDict[_Key, bytes | None] = OrderedDict()
        self._names = 0

    def prepare(self, key: _Key) -> tuple[bytes | None, bool]:
        """Return the name of a prepared statement, and whether it must be prepared first.

        Only what is sent twice is prepared: the server keeps each in memory.
        """
        prepared = self.prepared
        if key not in prepared:
            prepared[key] = None
            return None, False
        prepared.move_to_end(key)
        name = prepared[key]
        if name is not None:
            return name, False
        self._names += 1
        name = prepared[key] = b"memoryware_%d" % self._names
        return name, True

    def surplus(self) -> list[bytes]:
        """Return the names of prepared statements that are given up for newer ones."""
        names = []
        while len(self.prepared) > _PREPARED:
            _, name = self.prepared.popitem(last=False)
            if name is not None:
                names.append(name)
        return names


class BlockingConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection for threads."""

    session: ConnectionState

    def __del__(self, *_: object) -> None:
        """Do not warn: a process that ends leaves connections behind."""


class AsyncConnection(psycopg.AsyncConnection[tuple[Any, ...]]):
    """A connection for the tasks of one event loop."""

    session: ConnectionState

    def __del__(self, *_: object) -> None:
        """Do not warn: a loop that ends leaves connections behind."""


def connect_options(address: Address) -> dict[str, Any]:
    """Return the arguments with which psycopg connects."""
    return {
        "conninfo": address.conninfo,
        "autocommit": True,
        "prepare_threshold": None,  # `ConnectionState` keeps prepared statements
        "connect_timeout": max(2, round(min(address.limits.connect_timeout, _LONGEST))),
        "application_name": "memoryware",
        "context": _ADAPTATION,
    }


# Statements.

_RETURNS_ROWS: Final = re.compile(r"\s*(SELECT|WITH|VALUES|SHOW)\b|.*\bRETURNING\b", re.DOTALL)
_READS: Final = re.compile(r"\s*(SELECT|VALUES|SHOW|SET|SAVEPOINT)\b")


@lru_cache(maxsize=2000)
def numbered(sql: str) -> bytes:
    """Return a statement with `$1`, `$2` and so on in place of each `?`."""
    pieces = sql.split("?")
    rest = (f"${number}{piece}" for number, piece in enumerate(pieces[1:], 1))
    return "".join((pieces[0], *rest)).encode()


@lru_cache(maxsize=2000)
def _returns_rows(sql: str) -> bool:
    return _RETURNS_ROWS.match(sql) is not None


@lru_cache(maxsize=2000)
def _only_reads(sql: str) -> bool:
    return _READS.match(sql) is not None


class Statement:
    """A statement with its values as they are sent, and its rows once the server has answered."""

    __slots__ = ("formats", "is_answered", "is_prepared", "returns_rows", "rows", "sql", "tag",
                 "types", "values")  # fmt: skip

    def __init__(
        self, sql: bytes, *, returns_rows: bool = False, is_prepared: bool = False
    ) -> None:
        self.sql, self.returns_rows, self.is_prepared = sql, returns_rows, is_prepared
        self.values: Sequence[Any] = ()
        self.types: tuple[int, ...] = ()
        self.formats: Sequence[pq.Format] = ()
        self.rows: Sequence[Row] = ()
        self.tag: bytes | None = None
        self.is_answered = False


class _Marker:
    """Hands a coroutine of `Pipeline.gather` back until its statements were answered."""

    def __await__(self) -> Generator[None, None, None]:
        yield


class Pipeline(ABC):
    """The statements of one transaction, in as few round trips as they can be.

    A statement that returns rows is waited for. Others are queued and sent with the next one that
    is waited for, or with the end. An error of a queued statement therefore comes out of a later
    call of the same transaction.

    Attributes:
        has_written: Whether a statement was sent that may have changed something.
    """

    def __init__(self, db: BlockingConnection | AsyncConnection, address: Address) -> None:
        self.db, self._address = db, address
        self._session, self._pgconn = db.session, db.pgconn
        self._silence = address.limits.statement_timeout + _GRACE
        self._transformer = Transformer(db)
        self._queue: list[Statement] = []
        self._opening: list[Statement] = []
        self._each: list[Statement] = []
        self._driven = 0
        self._is_answered = self._is_committed = False
        self.has_written = False

    def begin(self, mode: str, commands: Sequence[Command]) -> list[Statement]:
        """Begin a transaction with these statements, once another one is sent.

        Args:
            mode: The statement that begins it. Without one there is no transaction: each round
                trip is one of its own, and the statements go before each.
            commands: The statements.

        Returns:
            The statements, whose rows are there after the first round trip.
        """
        opening = [self._statement(sql, values) for sql, values in commands]
        if mode:
            self._opening, self._each = [Statement(mode.encode()), *opening], []
        else:
            self._opening = self._each = opening
        return opening

    async def execute(self, sql: str, values: Sequence[object] = ()) -> Sequence[Row]:
        """Send a statement and return its rows; one without rows is queued."""
        statement = self._statement(sql, values)
        self._queue.append(statement)
        if statement.returns_rows or len(self._queue) >= _QUEUED:
            await self.flush()
            self._must_be_answered(statement)
        return statement.rows

    def expect(self, sql: str, values: Sequence[object] = ()) -> Statement:
        """Send a statement with the next one that is waited for; its rows are there then."""
        statement = self._statement(sql, values)
        self._queue.append(statement)
        return statement

    async def expected(self, statement: Statement) -> Sequence[Row]:
        """Return the rows of a statement that was expected."""
        if not statement.is_answered:
            await self.flush()
        self._must_be_answered(statement)
        return statement.rows

    async def queue(self, sql: str, values: Sequence[object] = ()) -> None:
        """Send a statement of which nobody needs rows, with the next one that is waited for."""
        statement = self._statement(sql, values)
        statement.returns_rows, self.has_written = False, True
        self._queue.append(statement)
        if len(self._queue) >= _QUEUED:
            await self.flush()

    async def execute_all(self, statements: Sequence[Command]) -> list[Sequence[Row]]:
        """Send several statements in one round trip, and return the rows of each."""
        sent = [self._statement(sql, values) for sql, values in statements]
        self._queue += sent
        await self.flush()
        for statement in sent:
            self._must_be_answered(statement)
        return [statement.rows for statement in sent]

    async def gather(self, works: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
        """Run coroutines that await nothing but this pipeline; return their results in order.

        The statements that all of them wait for at the same time go in one round trip.
        """
        results: dict[int, T] = {}
        running = dict(enumerate(works))
        try:
            while running:
                for number, work in list(running.items()):
                    self._driven += 1
                    try:
                        work.send(None)
                    except StopIteration as stop:
                        results[number] = stop.value
                        del running[number]
                    finally:
                        self._driven -= 1
                if running:
                    await self.flush()
        finally:
            for work in running.values():
                work.close()
        return [results[number] for number in range(len(works))]

    async def flush(self) -> None:
        """Send what is queued, and wait until all of it was done."""
        if self._driven:
            await _Marker()
        elif self._queue or self._opening:
            await self._send("idle" if self._each else "open")

    async def commit(self) -> None:
        """Commit.

        Where nothing was written, nobody waits for the answer: the next user of the connection
        reads it.

        Raises:
            StoreUnavailable: If a statement before had failed.
        """
        if self._each or (self._opening and not self._queue):
            self._opening = []
            return
        end, self._is_committed = Statement(b"COMMIT"), True
        waits = self.has_written or bool(self._queue)
        self._queue.append(end)
        await self._send("idle", waits=waits)
        if waits and end.tag != b"COMMIT":
            raise StoreUnavailable(
                f"{self._address.shown}: nothing was stored, as a statement before had failed"
            )

    async def roll_back(self) -> None:
        """End the transaction with nothing done."""
        self._queue = []
        if self._session.state == "open" and not self.db.closed:
            self._queue.append(Statement(b"ROLLBACK"))
            with suppress(RolledBack, StoreUnavailable):
                await self._send("idle")

    def _statement(self, sql: str, values: Sequence[object]) -> Statement:
        statement = Statement(
            numbered(sql),
            returns_rows=_returns_rows(sql),
            is_prepared=self._address.limits.prepared_statements,
        )
        self.has_written = self.has_written or not _only_reads(sql)
        if values:
            transformer = self._transformer
            statement.values = transformer.dump_sequence(values, [PyFormat.AUTO] * len(values))
            statement.types = tuple(transformer.types or ())
            statement.formats = transformer.formats or ()
        return statement

    def _must_be_answered(self, statement: Statement) -> None:
        if not statement.is_answered:  # another task has sent it, and was interrupted
            raise RolledBack("a statement before was interrupted", lost=False)

    async def _send(self, state: Literal["open", "idle"], *, waits: bool = True) -> None:
        """Send what is queued, after which the connection is in a state."""
        statements, self._queue = [*self._opening, *self._queue], []
        self._opening = self._each
        session = self._session
        # Of a connection that had died in the pool nothing was done; but was a COMMIT?
        is_stale = session.is_used and not self._is_answered and not self._is_committed
        session.state = "busy"
        try:
            await self._wait(self._exchange(statements, waits=waits))
        except _Silent as error:
            self._pgconn.finish()
            raise StoreUnavailable(
                f"{self._address.shown} has not answered for {self._silence} seconds"
                " (statement_timeout)"
            ) from error
        except psycopg.Error as error:
            if error.sqlstate is None or error.sqlstate.startswith("57P"):
                self._pgconn.finish()  # the server is going, or gone
            if self.db.closed:
                raise RolledBack(first_line(error), lost=True, stale=is_stale) from error
            is_idle = self._pgconn.transaction_status == pq.TransactionStatus.IDLE
            session.state = "idle" if is_idle else "open"
            if error.sqlstate in _RETRIED:
                raise RolledBack(first_line(error), lost=False) from error
            raise unavailable(self._address.shown, error) from error
        session.state = state

    def _exchange(self, statements: Sequence[Statement], *, waits: bool) -> PQGen[None]:
        """Send statements and take their results; psycopg waits wherever this yields."""
        pgconn, session, silence = self._pgconn, self._session, self._silence
        if pgconn.pipeline_status == pq.PipelineStatus.OFF:
            pgconn.enter_pipeline_mode()  # and stays in it
        expected: list[Statement | None] = []
        fresh: list[_Key] = []
        for statement in statements:
            self._write(statement, expected, fresh)
        # Also inside a transaction: only so the server knows that it is idle, and how long.
        pgconn.pipeline_sync()
        yield from _flushed(pgconn, silence)
        if not waits:
            session.unread += 1
            return
        error: psycopg.Error | None = None
        while session.unread and error is None:
            error = yield from self._until_sync()
            session.unread -= 1
        if error is not None:
            pgconn.finish()  # the last transaction ended badly: this one was not looked at
            raise psycopg.OperationalError(f"{error}")
        for answered in expected:
            result = yield from _result(pgconn, silence)
            if result is None or result.status == pq.ExecStatus.FATAL_ERROR:
                error = _error_of(result, pgconn)
                break
            if answered is not None:
                self._take(answered, result)
            yield from _result(pgconn, silence)  # None stands behind each result
        self._is_answered = session.is_used = True
        if error is not None:
            self._forget(fresh, error)
        later = yield from self._until_sync()  # to which the server passes over after an error
        error = error or later
        if error is not None:
            raise error

    def _write(
        self, statement: Statement, expected: list[Statement | None], fresh: list[_Key]
    ) -> None:
        """Write a statement into the buffer of libpq, and what results are expected."""
        pgconn, session = self._pgconn, self._session
        name, is_new = None, False
        if statement.is_prepared:
            name, is_new = session.prepare((statement.sql, statement.types))
            for other in session.surplus():
                pgconn.send_query_params(b"DEALLOCATE " + other, None)
                expected.append(None)
        if name is None:
            pgconn.send_query_params(
                statement.sql,
                statement.values,
                statement.types,
                statement.formats,
                pq.Format.BINARY,
            )
        else:
            if is_new:
                fresh.append((statement.sql, statement.types))
                pgconn.send_prepare(name, statement.sql, statement.types)
                expected.append(None)
            pgconn.send_query_prepared(name, statement.values, statement.formats, pq.Format.BINARY)
        expected.append(statement)

    def _take(self, statement: Statement, result: Any) -> None:
        statement.is_answered, statement.tag = True, result.command_status
        if statement.returns_rows and result.ntuples:
            self._transformer.set_pgresult(result)
            statement.rows = self._transformer.load_rows(0, result.ntuples, tuple)

    def _until_sync(self) -> PQGen[psycopg.Error | None]:
        """Take results up to the next `Sync`; return the first error among them."""
        error: psycopg.Error | None = None
        while True:
            try:
                result = yield from _result(self._pgconn, self._silence)
            except psycopg.Error as lost:
                return error or lost
            if result is None:
                if self._pgconn.status == pq.ConnStatus.BAD:
                    return error or _error_of(None, self._pgconn)
            elif result.status == pq.ExecStatus.PIPELINE_SYNC:
                return error
            elif result.status == pq.ExecStatus.FATAL_ERROR and error is None:
                error = _error_of(result, self._pgconn)

    def _forget(self, fresh: Sequence[_Key], error: psycopg.Error) -> None:
        """Forget statements of which nobody knows whether the server has them prepared."""
        prepared = self._session.prepared
        for key in [*prepared] if error.sqlstate in _NOT_PREPARED else fresh:
            prepared.pop(key, None)

    @abstractmethod
    async def _wait(self, exchange: PQGen[None]) -> None:
        """Carry out an exchange with the server."""


class BlockingPipeline(Pipeline):
    """Waits by blocking, so that what awaits it never suspends."""

    db: BlockingConnection

    async def _wait(self, exchange: PQGen[None]) -> None:
        self.db.wait(exchange)


class AsyncPipeline(Pipeline):
    """Waits in the event loop; tasks of one transaction take turns."""

    db: AsyncConnection

    def __init__(self, db: AsyncConnection, address: Address) -> None:
        super().__init__(db, address)
        self._turn = asyncio.Lock()

    async def _send(self, state: Literal["open", "idle"], *, waits: bool = True) -> None:
        async with self._turn:
            if self._queue or self._opening:  # else another task has sent it
                await super()._send(state, waits=waits)

    async def _wait(self, exchange: PQGen[None]) -> None:
        await self.db.wait(exchange)


def _flushed(pgconn: Any, silence: float) -> PQGen[None]:
    """Send what libpq has in its buffer."""
    last = monotonic()
    while pgconn.flush():
        ready = yield Wait.RW
        if ready:
            last = monotonic()
        elif monotonic() - last > silence:
            raise _Silent
        if ready & Ready.R:
            pgconn.consume_input()


def _result(pgconn: Any, silence: float) -> PQGen[Any]:
    """Return the next result; None stands behind each one."""
    last = monotonic()
    while pgconn.is_busy():
        if (yield Wait.R):
            pgconn.consume_input()
            last = monotonic()
        elif monotonic() - last > silence:
            raise _Silent
    return pgconn.get_result()


def _error_of(result: Any, pgconn: Any) -> psycopg.Error:
    if result is None:
        return psycopg.OperationalError(pgconn.get_error_message() or "the connection is lost")
    error: psycopg.Error = error_from_result(result, encoding="utf-8")
    return error

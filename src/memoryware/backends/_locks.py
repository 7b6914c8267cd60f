"""Locks: of names, between threads, tasks, event loops and processes; and of files on a disk.

`async with NamedLocks(runner, names, ...)` queues behind the other writers of this process,
first come, first served, and then for a lock file that the other processes of this machine use
as well. Names are hashed to a fixed number of lock files, so that these need no clean-up; two
names that share a file only wait for each other.

Every attempt is a system call that does not block. Only the waiting goes through `runner`, so an
event loop is never blocked, and a waiter that is cancelled or times out leaves the queue.

`LockWait` and `side_lock` are for the atomic writes of the disk backend.
"""

from __future__ import annotations

import errno
import hashlib
import os
import random
import stat
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Literal, Protocol

from memoryware._runner import Runner, in_thread
from memoryware.errors import LockTimeout, WriteFailed
from memoryware.events import logger

HAS_FLOCK = find_spec("fcntl") is not None  # not on Windows
# Names are spread over this many lock files.
LOCK_FILES = 4096
_LONGEST_PAUSE, _SHORTEST_PAUSE = 0.02, 0.001
"""Seconds between two looks at a lock file that another process holds."""


class NamedLocks:
    """Hold the locks of some names for the length of an `async with` block.

    Raises:
        LockTimeout: If they were not free within `timeout` seconds; it names `path`.
        WriteFailed: If the system refuses the lock file.
    """

    def __init__(
        self,
        runner: Runner,
        names: Iterable[str],
        *,
        path: str,
        timeout: float,
        outer: bool = False,
    ) -> None:
        # Sorted: all take several locks in one order, so that two holders cannot deadlock. Outer
        # locks are held around others, so they use lock files of their own.
        self._numbers = sorted({_number(name) + outer * LOCK_FILES for name in names})
        self._runner, self._path, self._timeout = runner, path, timeout
        self._acquired: list[tuple[int, _LockTurn, _LockFile | None]] = []

    async def __aenter__(self) -> None:
        deadline = time.monotonic() + self._timeout
        try:
            for number in self._numbers:
                await self._take(number, deadline)
        except BaseException:
            self._release()
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._release()

    async def _take(self, number: int, deadline: float) -> None:
        turn = await self._runner.call(_ThreadTurn, _loop_turn)
        is_first = _queues.join(number, turn)
        try:
            if not is_first:
                await self._wait(turn, deadline)
            file = await self._take_file(number, deadline)
        except BaseException:
            _queues.leave(number, turn)
            raise
        self._acquired.append((number, turn, file))

    async def _wait(self, turn: _LockTurn, deadline: float) -> None:
        left = min(max(0.0, deadline - time.monotonic()), threading.TIMEOUT_MAX)
        if not await self._runner.call(turn.wait, turn.await_, left):
            raise self._too_late()

    async def _take_file(self, number: int, deadline: float) -> _LockFile | None:
        folder = await self._runner.call(lock_folder, alock_folder)
        if folder is None:
            return None
        # Two files: who waits for the second one keeps the first one meanwhile, so that
        # a process that writes without a pause cannot get in again before it.
        door, file = (_open(f"{folder}/{number:03x}.{end}") for end in ("door", "lock"))
        try:
            await self._poll(door, deadline, _pause_of_many)
            await self._poll(file, deadline, _pause_of_one)
        except BaseException:
            file.drop()
            raise
        finally:
            door.drop()
        return file

    async def _poll(self, file: _LockFile, deadline: float, wait: Callable[[float], float]) -> None:
        begin = time.monotonic()
        while not self._attempt(file):
            now = time.monotonic()
            if now >= deadline:
                raise self._too_late()
            seconds = wait(now - begin) * random.uniform(0.5, 1)  # noqa: S311 - no secret
            await pause(self._runner, min(seconds, deadline - now))

    def _attempt(self, file: _LockFile) -> bool:
        try:
            return file.take()
        except OSError as error:
            raise WriteFailed(
                self._path,
                f"'{self._path}' cannot be locked for writing: {error}. Nothing was written;"
                " make the folder for temporary files (TMPDIR) writable",
            ) from error

    def _too_late(self) -> LockTimeout:
        return LockTimeout(
            self._path,
            f"'{self._path}' has been locked by another writer for more than {self._timeout:g}"
            " seconds. Nothing was written; try again",
        )

    def _release(self) -> None:
        while self._acquired:
            number, turn, file = self._acquired.pop()
            try:
                if file is not None:
                    file.drop()
            finally:
                _queues.leave(number, turn)


def _pause_of_many(waited: float) -> float:
    """Return the pause of one of many waiters: it shrinks, so that the oldest tries most often."""
    return max(_SHORTEST_PAUSE, _LONGEST_PAUSE / (1 + 20 * waited))


def _pause_of_one(waited: float) -> float:
    """Return the pause of the only waiter: a small part of the time waited so far."""
    return min(_LONGEST_PAUSE, _SHORTEST_PAUSE + waited / 20)


async def pause(runner: Runner, seconds: float) -> None:
    """Sleep for some seconds without blocking an event loop."""
    await runner.call(time.sleep, _asleep, seconds)


async def _asleep(seconds: float) -> None:
    import asyncio

    await asyncio.sleep(seconds)


def _number(name: str) -> int:
    # Hashed, because names hold tenants and paths, and the folder may be readable by others.
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest, "big") % LOCK_FILES


class _LockTurn(Protocol):
    """A position in a queue: wait until it comes to the front."""

    def call(self) -> bool:
        """Wake the waiter, and say whether it still waits."""
        ...

    def wait(self, seconds: float) -> bool: ...

    async def await_(self, seconds: float) -> bool: ...


class _ThreadTurn:
    def __init__(self) -> None:
        self._called = threading.Event()

    def call(self) -> bool:
        self._called.set()
        return True

    def wait(self, seconds: float) -> bool:
        return self._called.wait(seconds)

    async def await_(self, seconds: float) -> bool:
        raise NotImplementedError


class _LoopTurn:
    def __init__(self) -> None:
        import asyncio

        self._loop = asyncio.get_running_loop()
        self._called = self._loop.create_future()

    def call(self) -> bool:
        # A loop that was stopped without cancelling its tasks never wakes them again, and the
        # queue behind such a task would wait for ever.
        if not self._loop.is_running():
            return False
        try:
            self._loop.call_soon_threadsafe(self._set_called)
        except RuntimeError:  # closed just now
            return False
        return True

    def _set_called(self) -> None:
        if not self._called.done():
            self._called.set_result(None)

    def wait(self, seconds: float) -> bool:
        raise NotImplementedError

    async def await_(self, seconds: float) -> bool:
        import asyncio

        try:
            # The future may be set and the timeout expire in the same step of the loop.
            async with asyncio.timeout(seconds):
                await self._called
        except TimeoutError:
            return self._called.done() and not self._called.cancelled()
        return True


async def _loop_turn() -> _LockTurn:
    return _LoopTurn()


class _Queues:
    """The queues of this process, one per name that somebody holds or waits for."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget all queues; a forked child has none of the threads that wait in them."""
        self._guard = threading.Lock()
        self.waiting: dict[int, deque[_LockTurn]] = {}

    def join(self, number: int, turn: _LockTurn) -> bool:
        """Join the end of a queue, and say whether that is its front."""
        with self._guard:
            queue = self.waiting.setdefault(number, deque())
            queue.append(turn)
            return queue[0] is turn

    def leave(self, number: int, turn: _LockTurn) -> None:
        """Leave a queue from any position; leaving from the front wakes the next one."""
        with self._guard:
            queue = self.waiting.get(number, deque())
            if turn not in queue:
                return
            was_first = queue[0] is turn
            queue.remove(turn)
            while was_first and queue and not queue[0].call():
                queue.popleft()
            if not queue:
                del self.waiting[number]


_queues = _Queues()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_queues.reset)


class _LockFile(Protocol):
    def take(self) -> bool:
        """Try once, without waiting."""
        ...

    def drop(self) -> None:
        """Release it; nothing happens if it is not held."""
        ...


class _Flock:
    """A lock file by `flock`: a few microseconds, and gone with the process."""

    def __init__(self, path: str) -> None:
        self._path, self._fd = path, -1

    def take(self) -> bool:
        import fcntl

        if self._fd < 0:
            # The lock belongs to the open file: closing any other descriptor of it, in a thread of
            # this process, does not release it as it would with lockf.
            self._fd = self._open()
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK):
                return False
            raise
        with suppress(OSError):
            os.utime(self._fd)  # so that who cleans up old temporary files finds it new
        return True

    def _open(self) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            return os.open(self._path, flags, 0o600)
        except FileNotFoundError:  # somebody cleaned up the folder
            Path(self._path).parent.mkdir(mode=0o700, exist_ok=True)
            return os.open(self._path, flags, 0o600)

    def drop(self) -> None:
        import fcntl

        if self._fd < 0:
            return
        try:
            fcntl.flock(self._fd, fcntl.LOCK_UN)  # a forked child may have the file open too
        finally:
            self._close()

    def _close(self) -> None:
        fd, self._fd = self._fd, -1
        os.close(fd)


class _PortableLock:
    """A lock file by the filelock package, for systems without `flock`."""

    def __init__(self, path: str) -> None:
        from filelock import FileLock

        self._lock = FileLock(path, thread_local=False)

    def take(self) -> bool:
        from filelock import Timeout

        try:
            self._lock.acquire(blocking=False)
        except Timeout:
            return False
        return True

    def drop(self) -> None:
        self._lock.release()


def _open(path: str) -> _LockFile:
    return _Flock(path) if HAS_FLOCK else _PortableLock(path)


_folders: dict[str | None, Path | None] = {}


def lock_folder() -> Path | None:
    """Return the folder of this user's lock files, None where there can be none.

    Without one, writers are kept apart within this process only; that is logged once.
    """
    parent = tempfile.gettempdir()
    if parent not in _folders:
        _folders[parent] = _folder_below(parent)
    return _folders[parent]


async def alock_folder() -> Path | None:
    """Return the folder of this user's lock files, None where there can be none.

    Without one, writers are kept apart within this process only; that is logged once.
    """
    if tempfile.tempdir in _folders:
        return _folders[tempfile.tempdir]
    return await in_thread(lock_folder)


def _folder_below(parent: str) -> Path | None:
    owner = os.getuid() if hasattr(os, "getuid") else None
    folder = Path(parent) / ("memoryware-locks" if owner is None else f"memoryware-locks-{owner}")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError as error:
        problem = str(error)
    else:
        if stat.S_ISDIR(status.st_mode) and owner in (None, status.st_uid):
            return folder
        problem = "it belongs to somebody else"
    logger.warning(
        "lock files cannot be kept in %s (%s), so writers of other processes are not excluded;"
        " set TMPDIR to a folder that this user can write to",
        folder,
        problem,
    )
    return None


# Locks of files on a disk, which `_atomic.py` takes beside or on the file itself.

LockKind = Literal["temporary", "native", "soft"]
"""How writers of a file on disk exclude each other: by `flock` of the temporary file, by a system
lock of a second file, or by the existence of a second file."""
# Seconds between two attempts: writers of this machine hold a file for about a millisecond.
_FIRST_STEP, _LONGEST_STEP = 0.0005, 0.01


class LockWait:
    """Waits for a lock in steps that grow, until a timeout."""

    def __init__(self, path: str, seconds: float) -> None:
        self._path, self._seconds = path, seconds
        self._end, self._pause = time.monotonic() + seconds, _FIRST_STEP

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return max(0.0, self._end - time.monotonic())

    def wait(self) -> None:
        """Wait for one step.

        Raises:
            LockTimeout: If the time is over.
        """
        left = self.left
        if not left:
            raise self.over()
        # A random part, so that waiters that were woken together do not collide again and again.
        time.sleep(min(left, self._pause * random.uniform(0.5, 1)))  # noqa: S311 - not a secret
        self._pause = min(self._pause * 1.5, _LONGEST_STEP)

    def over(self) -> LockTimeout:
        """Return the error for when the time is over."""
        return LockTimeout(
            self._path,
            f"'{self._path}' was locked by another writer for {self._seconds:g} seconds;"
            " nothing was written, try again",
        )


@contextmanager
def side_lock(path: str, patience: LockWait, kind: LockKind) -> Iterator[None]:
    """Hold a lock file beside a file, for file systems whose files cannot be locked by `flock`.

    Args:
        path: The host path of the lock file.
        patience: How long to wait.
        kind: "native" locks it through the operating system, "soft" by its existence.

    Raises:
        LockTimeout: If it is not free in time.
    """
    import filelock

    lock_class = filelock.FileLock if kind == "native" else filelock.SoftFileLock
    file_lock = lock_class(path)
    try:
        file_lock.acquire(timeout=patience.left, poll_interval=_LONGEST_STEP)
    except filelock.Timeout:
        raise patience.over() from None
    try:
        yield
    finally:
        file_lock.release()

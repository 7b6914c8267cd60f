"""A model of a backend over records: what one needs, and how its lock works."""

from __future__ import annotations

from contextlib import asynccontextmanager

from memoryware.backends._records import RecordBackend


class Drawer(RecordBackend):
    """Records in a dictionary, with one lock for all of them.

    `put` and `drop` take the lock themselves: they are also called without `holding`. The lock is
    reentrant, because they are also called inside of it, for this path or another one. A thread
    may keep it over the `yield` only because no method here waits for anything; records that are
    awaited need `NamedLocks` (`_locks.py`), a lock for each path.
    """

    def __init__(self, drawer, lock):
        super().__init__()
        self.drawer, self.lock = drawer, lock

    def _records(self):
        return self

    async def get(self, runner, paths):
        return [self.drawer.get(path) for path in paths]

    async def all(self, runner):
        return dict(self.drawer)

    async def has_below(self, runner, folder):
        return any(path.startswith(folder.rstrip("/") + "/") for path in [*self.drawer])

    async def put(self, runner, changes):
        with self.lock:
            self.drawer.update({path: change.file for path, change in changes.items()})

    async def drop(self, runner, paths):
        with self.lock:
            for path in paths:
                self.drawer.pop(path, None)

    @asynccontextmanager
    async def holding(self, runner, paths):
        with self.lock:
            yield

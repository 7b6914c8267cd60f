"""The three tiers in one SQLite file: nothing to install, nothing to run.

A confirmed change has been handed to the disk (WAL with `synchronous=FULL`), so it survives a
killed process, and a power cut as far as the disk keeps its word; see `durability`. Threads,
tasks and processes that write take turns.

Deleted records are overwritten, with their words and vectors, in the file and in the write-ahead
log beside it. While another connection reads, the log cannot be overwritten; that is done after
the next change, when this process closes the file, or when a process opens it. Copies that a file
system keeps are out of reach.
"""

from __future__ import annotations

import os
from typing import get_args

from memoryware.errors import SettingError
from memoryware.tiers.stores._sql.store import SqlStore
from memoryware.tiers.stores.protocol import Stores
from memoryware.tiers.stores.sqlite._database import Durability, SqliteFile

__all__ = ["sqlite_stores"]


def sqlite_stores(
    path: str | os.PathLike[str],
    *,
    lock_timeout: float = 30.0,
    durability: Durability = "full",
    indexed: int = 250_000,
) -> Stores:
    """Return the stores in a SQLite file, which is created if it does not exist.

    Args:
        path: The file.
        lock_timeout: Seconds to wait for others who write.
        durability: "full": a confirmed change survives a power cut. "normal" does not wait for the
            disk, so that a power cut may undo the last changes; a killed process undoes none.
        indexed: How many memories, of the groups searched last, this process caches in segments, so
            that a search reads little; 0 for none. Takes NumPy, and for a memory with a vector of
            384 numbers about 700 bytes, in groups below 20,000 memories 1,800. A larger group is
            read row by row at each search. For groups of more than 20,000 memories the file has
            blocks from which a segment is built quickly.

    Returns:
        The stores of the three tiers, which share one connection.

    Raises:
        SettingError: If the durability is neither of these.
        StoreUnavailable: If the file cannot be opened, or is not a database of memory.
        StoreNewer: If a newer version has written it.
    """
    if durability not in get_args(Durability):
        raise SettingError(f'durability={durability!r}: must be "full" or "normal"')
    file = SqliteFile(path, lock_timeout, durability, indexed)
    return Stores.of(SqlStore(file), backup=file.back_up)

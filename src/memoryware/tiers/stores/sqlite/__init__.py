"""The three tiers in one SQLite file: nothing to install, nothing to run.

What is confirmed has been handed to the disk (WAL with `synchronous=FULL`), so it survives a
killed process, and a power cut as far as the disk keeps its word; see `durability`. Threads and
tasks of one process take turns; processes do as well, and wait for each other.

What `delete` removes is overwritten, with its words and vectors, in the file and in the log beside
it. Somebody who reads at that moment keeps the log as it is; it is overwritten with the
next change after that, when this process closes the file, or when somebody opens it. Copies
that a file system keeps are out of reach.
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
    """Return the stores in a file, which is made if it is not there.

    Args:
        path: The file.
        lock_timeout: Seconds to wait for others who write.
        durability: "full": what is confirmed survives a power cut. "normal" does not wait for the
            disk, so that a power cut may undo the last changes; a killed process undoes none.
        indexed: Memories of the groups searched last that this process holds in segments, so
            that a search reads little; 0 for none. That takes NumPy, and of a memory with a
            vector of 384 numbers about 700 bytes, in groups below 20,000 memories 1,800. A
            larger group is read row by row at each search. Of groups of more than 20,000
            memories the file keeps blocks from which a segment is made quickly; see `blocks`.

    Raises:
        SettingError: For another durability.
        StoreUnavailable: If it cannot be opened, or is something else.
        StoreNewer: If a newer version has written it.
    """
    if durability not in get_args(Durability):
        raise SettingError(f'durability={durability!r}: must be "full" or "normal"')
    file = SqliteFile(path, lock_timeout, durability, indexed)
    return Stores.of(SqlStore(file), backup=file.back_up)

"""Blocks: the segment of a large group, kept in the file so that it is not built from rows again.

A process that asks a group of 100,000 memories for the first time reads and converts every row,
which takes as long as some forty questions. A block has what a segment keeps of 256 rows; reading
all blocks of that group takes as long as a few questions.

Blocks are rows of a table. Arrays in a file of their own, mapped into memory, could be read in a
third of the time, but that file would have to follow every copy, backup, restore and deletion of
the database, have its permissions, be replaced while other processes have it mapped, and be
overwritten when a memory is forgotten. A table does all of that by being in the database.

Blocks are derived data: without them everything is found from the rows. A write deletes the
blocks of what it touches, in its own transaction and together with the entry in the log of changes,
and `secure_delete` overwrites them. So what is there is right, and nothing that was forgotten is
left in one. A write never writes blocks: that is done when the file is idle or closed. A block is
small because all of it is overwritten where one memory is forgotten.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from memoryware.tiers.stores._segment import Segment
from memoryware.tiers.stores.sqlite._schema import write_transaction

ROWS: Final = 256
"""Rows of a block."""
_AT_ONCE: Final = 64
"""Blocks written in one transaction: some milliseconds in which nobody else can write."""
_END: Final = 2**62
"""Above every number of a record."""
BLOCKS: Final = "SELECT above, last, data FROM block WHERE grp = ? AND space = ? ORDER BY last"
"""The blocks of a group in a space: each has all rows above a number, up to another."""


def write_some(db: sqlite3.Connection, group: int, segment: Segment) -> bool:
    """Write blocks of rows that are in none, and return whether there may be more to write.

    Raises:
        sqlite3.Error: If that cannot be done now; nothing has changed then.
    """
    with write_transaction(db):
        part = db.execute("SELECT cold FROM part WHERE id = ?", (group,)).fetchone()
        if part is None or part[0] != segment.generation:
            return False  # the next search brings the segment up to date
        if segment.has_damaged_blocks:
            db.execute("DELETE FROM block WHERE grp = ?", (group,))
            segment.has_damaged_blocks = False
        else:
            db.execute("DELETE FROM block WHERE grp = ? AND space != ?", (group, segment.space))
        blocks = db.execute(
            "SELECT above, last FROM block WHERE grp = ? ORDER BY last", (group,)
        ).fetchall()
        missing = [*islice(_missing(segment, blocks), _AT_ONCE)]
        db.executemany(
            "INSERT INTO block (grp, space, above, last, data) VALUES (?, ?, ?, ?, ?)",
            (
                (group, segment.space, above, last, segment.pack(start, stop))
                for above, last, start, stop in missing
            ),
        )
        db.execute("UPDATE part SET packed = 1 WHERE id = ?", (group,))
    return len(missing) == _AT_ONCE


def _missing(
    segment: Segment, blocks: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield the blocks that are not there: above which number, up to which, and the rows.

    The newest rows stay without a block until they fill one.
    """
    done = 0
    for above, last in (*blocks, (_END, _END)):
        start, end = (int(segment.seq.searchsorted(seq, "right")) for seq in (done, above))
        while start < end:
            stop = min(start + ROWS, end)
            if above == _END and stop - start < ROWS:
                return
            reached = above if stop == end and above != _END else int(segment.seq[stop - 1])
            yield done, reached, start, stop
            start, done = stop, reached
        done = last

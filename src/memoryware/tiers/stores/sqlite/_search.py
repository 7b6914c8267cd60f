"""Whole lists, and searches of long-term memory: in the segment of a group, or row by row.

The rows are read one after the other for groups that are too large for a segment, for several
groups at once, and where NumPy is not installed. That takes time for each row, and memory for
those that have a word of the query or are near it.
"""

from __future__ import annotations

import heapq
import sqlite3
from array import array
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain, islice
from operator import itemgetter
from typing import Any, Final, TypeAlias

from memoryware.tiers.model import Memory
from memoryware.tiers.scoring import bm25
from memoryware.tiers.stores._columns import BATCH, WORD, count_words, has_numpy, word_hash
from memoryware.tiers.stores._segment import Segment, is_known
from memoryware.tiers.stores._sql import dialect as sql_dialect
from memoryware.tiers.stores._sql.dialect import Row, searched_number
from memoryware.tiers.stores.codec import copy_of, packed, scores
from memoryware.tiers.stores.protocol import Query, SearchCandidate, SearchView, Select
from memoryware.tiers.stores.selecting import newest_best, same_speakers, with_neighbours
from memoryware.tiers.stores.sqlite._rows import COLUMNS, SqliteDialect, key_of
from memoryware.tiers.stores.sqlite._schema import write_transaction
from memoryware.tiers.stores.sqlite._transaction import (
    FOLLOWED,
    GROUP,
    READ_AT_ONCE,
    RECORDS,
    SPACE_BITS,
    TOUCHED,
    GroupChanges,
    SqliteTransaction,
    Statement,
    group_row,
)

_DIALECT: Final = SqliteDialect()

_CHANGES_SINCE: Final = (
    "SELECT generation, numbers FROM change WHERE grp = ? AND generation >= ? ORDER BY generation"
)
_FITTING: Final = "SELECT record.seq FROM record WHERE {}"
_SEGMENT: Final = (
    "SELECT record.seq, created, ifnull(begins, created), ends, agent_id, session_id,"
    " ifnull(document, record.id), revocation IS NOT NULL, words,"
    f" {_DIALECT.speaker_columns}, vector.data"
    f" FROM record LEFT JOIN vector ON vector.id = (? << {SPACE_BITS}) | record.seq"
    " WHERE grp = ? AND tier = 1"
)
"""The rows of a segment; see `segment.Row` and `_segment_rows`."""
_LOADED: Final = 16
"""Blocks that are loaded at once: memory that is used again and again is in the caches."""
_NOTED: Final = 200
"""Rows of a read that are kept for a change of the same records in the same transaction."""
_UNITED: Final = 32
"""Lists that are read by one statement."""
_GROUP_BESIDE: Final = GROUP.replace(
    " FROM (SELECT 1)", f"{', NULL' * (len(COLUMNS) - 6)}, -1 FROM (SELECT 1)"
)
"""`GROUP` with as many columns as records that are read in the same statement have."""


class SqliteSearchTransaction(SqliteTransaction):
    """A transaction that reads lists and searches as well."""

    _segment: tuple[int, Segment] | None = None
    """The group that was searched last, and its segment."""

    # Lists.

    async def find_whole(self, requests: Sequence[tuple[str, Select]]) -> list[list[Row]]:
        if self._is_alone:
            noted = [self.rows_read(tier, selection) for tier, selection in requests]
            if None not in noted:
                return [[*rows] for rows in noted if rows is not None]
        pages: list[list[Row]] = []
        for start in range(0, len(requests), _UNITED):
            some = requests[start : start + _UNITED]
            conditions = [_DIALECT.condition(tier, selection) for tier, selection in some]
            statements = [
                (f"SELECT seq, {_DIALECT.read}, {index} FROM record WHERE {where}", values)
                for index, (where, values) in enumerate(conditions)
            ]
            pages += await self._read_together(some, statements)
        return pages

    async def read_part(self, tier: str, selection: Select, sql: str, *values: object) -> list[Row]:
        if not self._is_alone:
            return [*await self.execute(sql, *values)]
        (rows,) = await self._read_together(
            [(tier, selection)], [(f"SELECT *, 0 FROM ({sql})", values)]
        )
        return rows

    async def read_ahead(
        self,
        search: Select,  # noqa: ARG002 - its row is read with the first statement anyway
        reads: Sequence[tuple[str, Statement]],
    ) -> None:
        """Let the next statement that reads records read the document as well.

        Entries that are edited are among what that statement reads.
        """
        self._ahead = [statement for tier, statement in reads if tier == "long_term"]

    async def _read_together(
        self, requests: Sequence[tuple[str, Select]], statements: Sequence[Statement]
    ) -> list[list[Row]]:
        """Return the rows of each statement, the highest number first.

        What a change will ask for comes with them: the row of its group, and what was announced.

        Args:
            requests: What the statements read.
            statements: Each returns `dialect.read` between the number and its own index.
        """
        first, ahead = len(statements), self._ahead
        pieces, values = (
            [sql for sql, _ in statements],
            [*chain.from_iterable(v for _, v in statements)],
        )
        for index, (sql, more) in enumerate(ahead, first):
            pieces.append(f"SELECT *, {index} FROM ({sql})")
            values += more
        key = self._group_to_read(requests)
        if key is not None:
            pieces.append(_GROUP_BESIDE)
            values.append(key)
        pages: list[list[Row]] = [[] for _ in (*statements, *ahead)]
        for row in await self.execute(" UNION ALL ".join(pieces), *values):
            if row[-1] >= 0:
                pages[row[-1]].append(row[:-1])
            elif key is not None:
                self._check_version(row[0])
                self._groups[key] = group_row(row[1:5])
        for page in pages:
            page.sort(key=itemgetter(0), reverse=True)  # in SQL that would sort texts
        self._ahead = []
        for (sql, more), page in zip(ahead, pages[first:], strict=True):
            self._answers[sql, tuple(more)] = page
        if self._is_alone:
            self._note_read(requests, pages[:first])
        return pages[:first]

    @property
    def _is_alone(self) -> bool:
        """Whether nobody else can change the file until this transaction ends."""
        return self._writes and self._begun

    def _group_to_read(self, requests: Sequence[tuple[str, Select]]) -> str | None:
        """Return the group that these reads are about, if a change will ask for its row."""
        if not self._is_alone:
            return None
        keys = {
            sql_dialect.group_key(selection.tenant, selection.groups[0])
            if selection.groups is not None and len(selection.groups) == 1
            else None
            for _, selection in requests
        }
        (key, *others) = keys
        return None if others or key in self._groups else key

    def _note_read(
        self, requests: Sequence[tuple[str, Select]], pages: Sequence[Sequence[Row]]
    ) -> None:
        for (tier, _), page in zip(requests, pages, strict=True):
            if len(page) <= _NOTED:
                self._read.update(((tier, row[1], row[3]), row) for row in page)

    def rows_read(self, tier: str, selection: Select) -> Sequence[Row] | None:
        ids, groups = selection.ids, selection.groups
        if ids is None or groups is None or len(groups) != 1:
            return None
        key = sql_dialect.group_key(selection.tenant, groups[0])
        rows = [self._read.get((tier, key, key_of(id_))) for id_ in dict.fromkeys(ids)]
        read = [row for row in rows if row is not None]
        if len(read) < len(rows) or selection != Select(
            tenant=selection.tenant, groups=groups, ids=ids
        ):
            return None
        return sorted(read, key=itemgetter(0), reverse=True)

    # Searches.

    async def search_view(
        self, query: Query, selection: Select
    ) -> tuple[SearchView, Sequence[int]] | None:
        await self.flush()
        self._segment = None
        data = None
        if query.vector is not None and query.space is not None:
            data = packed(query.vector, query.space)
        groups = selection.groups or ()
        key = sql_dialect.group_key(selection.tenant, groups[0]) if len(groups) == 1 else ""
        number, _, cold, count = await self.group(key)
        space = searched_number(query, await self.known_spaces())
        data = data if space else None
        if key and number is None:
            return SearchView((), (0,) * len(query.words), 0, 0.0), ()
        if number is None or count > self._shared.segments.most or not has_numpy():
            self._begin_late()
            return await scan(
                self.execute, _DIALECT, query, selection, (space, data) if data else None
            )
        segment = self._shared.segments.get(key)
        if segment is None or segment.generation != cold or space not in (0, segment.space):
            if not self._begun:
                self._begin_late()
                return await self.search_view(query, selection)
            segment = await self._followed(key, number, cold, space, segment, count)
        among = None
        if not is_known(selection):
            where, values = _DIALECT.condition("long_term", selection)
            among = [row[0] for row in await self.execute(_FITTING.format(where), *values)]
        self._segment = number, segment

        def measure(numbers: Sequence[int]) -> Mapping[int, float]:
            above = space << SPACE_BITS
            where, values = _DIALECT.numbered("id", [above | seq for seq in numbers])
            try:
                rows = self.db.execute(f"SELECT id, data FROM vector WHERE {where}", values)
                vectors = [(number ^ above, packed_) for number, packed_ in rows]
            except (sqlite3.Error, OSError) as error:
                self._fail(error)
            near = scores(data or b"", [packed_ for _, packed_ in vectors])
            return {seq: value for (seq, _), value in zip(vectors, near, strict=True)}

        return segment.search(query, selection, data, measure, among)

    async def _followed(
        self, key: str, part: int, cold: int, space: int, segment: Segment | None, count: int
    ) -> Segment:
        """Return the segment of a group as it is in this transaction."""
        segments = self._shared.segments
        segments.drop(key)  # whoever is interrupted leaves none behind
        if segment is not None and space in (0, segment.space):
            segment = await self._caught_up(part, cold, segment)
        else:
            segment = None
        if segment is None:
            current = (row.number for row in await self.known_spaces() if row.is_current)
            space = space or next(current, 0)
            segment = Segment(cold, space, count)
            self._read_group(part, segment)
        self._put_segment(key, part, segment)
        if self._writes or self.db.in_transaction:
            self._shared.unsure.add(key)
        return segment

    async def _caught_up(self, part: int, cold: int, segment: Segment) -> Segment | None:
        """Take over what changed; None if that is not known, or reading anew is cheaper."""
        rows = await self.execute(_CHANGES_SINCE, part, segment.generation)
        if not rows or rows[0][0] != segment.generation or rows[-1][0] != cold:
            return None
        if any(numbers is None for _, numbers in rows[1:]):
            return None
        touched = {seq for _, numbers in rows[1:] for seq in array("q", numbers)}
        older = [seq for seq in touched if seq <= segment.last]
        if len(older) > max(TOUCHED, len(segment) // 4):
            return None
        if older:
            where, values = _DIALECT.numbered("record.seq", sorted(older))
            there = await self.execute(f"{_SEGMENT} AND {where}", segment.space, part, *values)
            changed = {row[0]: row for row in _segment_rows(there)}
            for seq in older:
                if seq not in changed:
                    segment.remove(seq)
                elif not segment.update(changed[seq]):
                    return None
        if segment.is_worn:
            return None
        self._read_rows(part, segment, segment.last)
        segment.generation = cold
        return segment

    def _follow(self, changes: GroupChanges, cold: int) -> None:
        segments, before = self._shared.segments, self._groups.get(changes.key)
        segment = segments.get(changes.key) if changes.is_followed else None
        if segment is None or before is None or segment.generation != before.cold:
            return
        if changes.replaced or len(changes.added) > FOLLOWED:
            return  # a search reads these rows
        self._shared.unsure.add(changes.key)
        rows = []
        for row in changes.added:
            space, data = self._vectors.get(row[0], (0, None))
            rows.append((*row, data if space == segment.space else None))
        segments.drop(changes.key)  # whoever is interrupted leaves none behind
        segment.extend(rows)
        for seq in changes.removed:
            segment.remove(seq)
        segment.generation = cold
        if not segment.is_worn:
            self._put_segment(changes.key, changes.number, segment)

    def _put_segment(self, key: str, group: int, segment: Segment) -> None:
        self._shared.segments.put(key, segment)
        if segment.unpacked >= _PACKED_FROM and segment.is_packable:
            self._shared.unpacked[key] = group

    def _read_group(self, part: int, segment: Segment) -> None:
        """Read a group from its blocks, and from its rows what is in none."""
        done = first = 0
        waiting: list[bytes] = []

        def load() -> None:
            if waiting and not segment.load(waiting):
                self._read_rows(part, segment, first, done)
            waiting.clear()

        self._must_go_on()
        try:
            for above, last, data in self.db.execute(BLOCKS, (part, segment.space)):
                if above != done or len(waiting) == _LOADED:
                    load()
                    if above != done:
                        self._read_rows(part, segment, done, above)
                    first = above
                waiting.append(data)
                done = last
        except (sqlite3.Error, OSError) as error:
            self._fail(error)
        load()
        self._read_rows(part, segment, done)

    def _read_rows(self, part: int, segment: Segment, above: int, last: int | None = None) -> None:
        """Read the rows of a group whose number is above one, and at most another."""
        sql, values = f"{_SEGMENT} AND record.seq > ?", [segment.space, part, above]
        if last is not None:
            sql, values = f"{sql} AND record.seq <= ?", [*values, last]
        self._must_go_on()
        try:
            rows = self.db.execute(f"{sql} ORDER BY record.seq", values)
            while some := rows.fetchmany(READ_AT_ONCE):
                segment.extend(_segment_rows(some))
        except (sqlite3.Error, OSError) as error:
            self._fail(error)

    async def memories(
        self,
        selection: Select,  # noqa: ARG002 - the file is one place
        numbers: Collection[int],
    ) -> dict[int, Memory] | None:
        if self._segment is None:
            self._begin_late()
            where, values = _DIALECT.numbered("seq", numbers)
            rows = await self.execute(
                f"SELECT seq, {_DIALECT.read} FROM record WHERE {where} AND tier = 1", *values
            )
            return {row[0]: _DIALECT.record("long_term", row) for row in rows}
        part, segment = self._segment
        if len(segment.records) > RECORDS:
            segment.records.clear()
        missing = [seq for seq in numbers if seq not in segment.records]
        if missing:
            where, values = _DIALECT.numbered("seq", missing)
            rows = await self.execute(
                f"SELECT seq, {_DIALECT.read}, (SELECT cold FROM part WHERE id = grp) FROM record"
                f" WHERE {where} AND grp = ? AND tier = 1",
                *values, part,
            )  # fmt: skip
            if any(row[-1] != segment.generation for row in rows):
                self._begin_late()  # somebody wrote since `search_view`, which looks anew
                return None
            for row in rows:
                segment.records[row[0]] = _DIALECT.record("long_term", row[:-1])
        records = segment.records
        return {seq: copy_of(memory) for seq in numbers if (memory := records.get(seq)) is not None}


def _segment_rows(rows: Sequence[Row]) -> list[Row]:
    """Return rows of `_SEGMENT` as a segment reads them, with the speaker in one column."""
    keys = [item.key for item in _DIALECT.attributions(row[9:12] for row in rows)]
    return [(*row[:9], key, row[12]) for row, key in zip(rows, keys, strict=True)]


# Row by row.

Ask: TypeAlias = Callable[..., Awaitable[Sequence[Row]]]
"""Runs one statement in the transaction of the search."""


async def scan(
    ask: Ask,
    dialect: SqliteDialect,
    query: Query,
    selection: Select,
    space: tuple[int, bytes] | None,
) -> tuple[SearchView, list[int]]:
    """Return what a search sees, and the numbers of these memories."""
    hashes = [word_hash(word) for word in query.words]
    (corpus, values), (fits, more) = (
        dialect.corpus(selection),
        dialect.condition("long_term", selection),
    )
    above = f"({space[0] if space else 0} << 44)"
    sql = (
        f"SELECT record.seq, record.words, {fits}, vector.data FROM record"
        f" LEFT JOIN vector ON vector.id = {above} | record.seq"
        f" WHERE {corpus} AND record.seq > ? ORDER BY record.seq LIMIT ?"
    )
    count = total = last = 0
    having, word_counts = [0] * len(hashes), dict[int, tuple[tuple[int, ...], int]]()
    best: list[tuple[float, int]] = []
    while some := await ask(sql, *more, *values, last, BATCH):
        last, count = some[-1][0], count + len(some)
        for seq, words, is_fit, _ in some:
            size = len(words) // WORD
            total += size
            often = count_words(words, hashes)
            if any(often):
                having = [count_ + (times > 0) for count_, times in zip(having, often, strict=True)]
                if is_fit:
                    word_counts[seq] = often, size
        if space is not None:
            those = [(seq, data) for seq, _, is_fit, data in some if is_fit and data is not None]
            cosines = scores(space[1], [data for _, data in those])
            for (seq, _), value in zip(those, cosines, strict=True):
                best.append((value, seq))
            best = heapq.nlargest(max(0, query.limit), best)
    mean = total / count if count else 0.0
    if not count or query.limit < 1:
        return SearchView((), tuple(having), count, mean), []
    near = {seq: value for value, seq in best}
    names = [str(number) for number in range(len(hashes))]
    in_corpus = dict(zip(names, having, strict=True))
    by_words = {
        seq: bm25(dict(zip(names, often, strict=True)), in_corpus, count, mean, size)
        for seq, (often, size) in word_counts.items()
    }
    hits = {*newest_best(by_words, query.limit), *near}
    shown = with_neighbours(await _threads(ask, dialect, query, selection, hits), hits, query.reach)
    numbers = [number for number, _ in shown]
    shown_rows, said_by = await _seen(ask, dialect, hashes, space, numbers)
    same = same_speakers(shown, said_by.__getitem__)
    candidates = [
        SearchCandidate(*shown_rows[number], follows, is_same)
        for (number, follows), is_same in zip(shown, same, strict=True)
    ]
    return SearchView(candidates, tuple(having), count, mean), numbers


async def _threads(
    ask: Ask, dialect: SqliteDialect, query: Query, selection: Select, hits: set[int]
) -> list[list[int]]:
    """Return the newest fitting numbers of the threads that hits are in."""
    if query.reach < 1 or query.thread < 1 or not hits:
        return []
    session = "nullif(record.session_id, '')" if query.sessions else "NULL"
    columns = f"record.seq, record.grp, {session}, ifnull(record.document, record.id)"
    where, values = dialect.numbered("record.seq", hits)
    threads: dict[tuple[Any, ...], list[int]] = {}
    for row in await ask(f"SELECT {columns} FROM record WHERE {where}", *values):
        threads[_thread(row)] = []
    fits, more = dialect.condition("long_term", selection)
    members: list[tuple[int, tuple[Any, ...]]] = []
    sessions = [name for _, in_session, name in threads if in_session]
    documents = [name for _, in_session, name in threads if not in_session]
    for column, names in _COLUMNS.items():
        thread_names = sessions if column == "session_id" else documents
        if not thread_names:
            continue
        for name in names:
            among, texts = dialect.any_of(name, list(dict.fromkeys(thread_names)))
            members_read: Sequence[Row] = await ask(
                f"SELECT {columns} FROM record WHERE record.seq IN"
                f" (SELECT seq FROM record WHERE {among} AND tier = 1) AND {fits}",
                *texts, *more,
            )  # fmt: skip
            members += [
                (row[0], thread) for row in members_read if (thread := _thread(row)) in threads
            ]
    for number, thread in heapq.nlargest(query.thread, dict(members).items()):
        threads[thread].append(number)
    return [sorted(numbers) for numbers in threads.values()]


_COLUMNS: Final = {"session_id": ("session_id",), "document": ("document", "id")}
"""The columns by which members of threads are looked up."""


def _thread(row: Row) -> tuple[Any, ...]:
    _, part, session, document = row
    return part, session is not None, document if session is None else session


async def _seen(
    ask: Ask,
    dialect: SqliteDialect,
    hashes: Sequence[bytes],
    space: tuple[int, bytes] | None,
    numbers: Sequence[int],
) -> tuple[dict[int, tuple[tuple[int, ...], int, float | None]], dict[int, tuple[Any, str | None]]]:
    """Return the counts, size and cosine of memories, and their document and speaker."""
    where, values = dialect.numbered("record.seq", numbers)
    read = await ask(
        f"SELECT record.seq, record.words, vector.data, ifnull(document, record.id),"
        f" {dialect.speaker_columns} FROM record LEFT JOIN vector"
        f" ON vector.id = ({space[0] if space else 0} << 44) | record.seq WHERE {where}",
        *values,
    )
    near: dict[int, float] = {}
    if space is not None:
        those = [(row[0], row[2]) for row in read if row[2] is not None]
        cosines = scores(space[1], [data for _, data in those])
        near = {seq: value for (seq, _), value in zip(those, cosines, strict=True)}
    candidates = {
        row[0]: (count_words(row[1], hashes), len(row[1]) // WORD, near.get(row[0])) for row in read
    }
    keys = [item.key for item in dialect.attributions(row[4:7] for row in read)]
    return candidates, {row[0]: (row[3], key) for row, key in zip(read, keys, strict=True)}


# Blocks: the segment of a large group, kept in the file so that it is not built from rows again.
#
# A process that asks a group of 100,000 memories for the first time reads and converts every row,
# which takes as long as some forty questions. A block has what a segment keeps of 256 rows; reading
# all blocks of that group takes as long as a few questions.
#
# Blocks are rows of a table. Arrays in a file of their own, mapped into memory, could be read in a
# third of the time, but that file would have to follow every copy, backup, restore and deletion of
# the database, have its permissions, be replaced while other processes have it mapped, and be
# overwritten when a memory is forgotten. A table does all of that by being in the database.
#
# Blocks are derived data: without them everything is found from the rows. A write deletes the
# blocks of what it touches, in its own transaction and together with the entry in the log of
# changes, and `secure_delete` overwrites them. So what is there is right, and nothing that was
# forgotten is left in one. A write never writes blocks: that is done when the file is idle or
# closed. A block is small because all of it is overwritten where one memory is forgotten.

BLOCK_ROWS: Final = 256
"""Rows of a block."""
_PACKED_FROM: Final = BLOCK_ROWS
"""Rows of a segment in no block from which blocks are written."""
_BLOCKS_AT_ONCE: Final = 64
"""Blocks written in one transaction: some milliseconds in which nobody else can write."""
_ABOVE_ALL: Final = 2**62
"""Above every number of a record."""
BLOCKS: Final = "SELECT above, last, data FROM block WHERE grp = ? AND space = ? ORDER BY last"
"""The blocks of a group in a space: each has all rows above a number, up to another."""


def write_blocks(db: sqlite3.Connection, group: int, segment: Segment) -> bool:
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
        missing = [*islice(_missing_blocks(segment, blocks), _BLOCKS_AT_ONCE)]
        db.executemany(
            "INSERT INTO block (grp, space, above, last, data) VALUES (?, ?, ?, ?, ?)",
            (
                (group, segment.space, above, last, segment.pack(start, stop))
                for above, last, start, stop in missing
            ),
        )
        db.execute("UPDATE part SET packed = 1 WHERE id = ?", (group,))
    return len(missing) == _BLOCKS_AT_ONCE


def _missing_blocks(
    segment: Segment, blocks: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield the blocks that are not there: above which number, up to which, and the rows.

    The newest rows stay without a block until they fill one.
    """
    done = 0
    for above, last in (*blocks, (_ABOVE_ALL, _ABOVE_ALL)):
        start, end = (int(segment.seq.searchsorted(seq, "right")) for seq in (done, above))
        while start < end:
            stop = min(start + BLOCK_ROWS, end)
            if above == _ABOVE_ALL and stop - start < BLOCK_ROWS:
                return
            reached = above if stop == end and above != _ABOVE_ALL else int(segment.seq[stop - 1])
            yield done, reached, start, stop
            start, done = stop, reached
        done = last

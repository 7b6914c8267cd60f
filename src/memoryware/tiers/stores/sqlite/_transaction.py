"""A transaction of a SQLite file: reads, writes, and the generations of groups."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from time import time_ns
from typing import Any, Final, NamedTuple, NoReturn, TypeAlias, TypeVar

from memoryware.errors import StoreUnavailable
from memoryware.tiers.model import Entry, Memory, lineages
from memoryware.tiers.provenance import attribution_of
from memoryware.tiers.stores._columns import WORD
from memoryware.tiers.stores._segment import Segments
from memoryware.tiers.stores._sql import dialect as sql_dialect
from memoryware.tiers.stores._sql.dialect import (
    CONVERTED_AT_ONCE,
    SPACES_READ,
    Row,
    SpaceRow,
    number_of,
    space_rows,
)
from memoryware.tiers.stores.codec import unpacked
from memoryware.tiers.stores.protocol import Select, Space, Vector
from memoryware.tiers.stores.sqlite._rows import COLUMNS, TIERS, SqliteDialect, body_of, key_of
from memoryware.tiers.text.terms import named_text_of, terms_of

T = TypeVar("T")
_DIALECT: Final = SqliteDialect()
Statement: TypeAlias = tuple[str, Sequence[Any]]
"""A statement and its values."""
Fail: TypeAlias = Callable[[Exception], NoReturn]
"""Raises our error for one of SQLite or of the system."""
SPACE_BITS: Final = 44
"""The number of a vector is that of its record, and above these bits that of its space."""
CHANGES: Final = 200
"""Writes to a group that processes can follow; whoever missed more reads the group anew."""
TOUCHED: Final = 2000
"""Memories changed by one write that are named; with more of them the group is read anew."""
RECORDS: Final = 4096
"""Decoded memories of a group that are kept."""
_WAITING: Final = frozenset({"pending", "proposed"})


class GroupRow(NamedTuple):
    """The row of a tenant and group.

    Attributes:
        number: Its number; None where the group has nothing.
        generation: Raised by every write.
        cold: The generation of the last write to long-term memory.
        memories: How many memories it has.
    """

    number: int | None
    generation: int
    cold: int
    memories: int


@dataclass
class FileCache:
    """What a process caches of a file between transactions, validated before it is used.

    Attributes:
        segments: Long-term memory of the groups that were searched last.
        version: Changes when shared rows do: `space`, and deleted rows of `provenance`; None if
            unknown.
        spaces: The embedding spaces; None if they were not read.
        provenances: Numbers of rows of `provenance` by their body.
        unsure: Groups whose segments have uncommitted changes.
        unpacked: Groups, with their numbers, of which rows were read that are in no block.
    """

    segments: Segments
    version: int | None = None
    spaces: Sequence[SpaceRow] | None = None
    provenances: dict[str, int] = field(default_factory=dict)
    unsure: set[str] = field(default_factory=set)
    unpacked: dict[str, int] = field(default_factory=dict)

    def clear(self) -> None:
        """Drop everything."""
        self.segments.clear()
        self.unpacked.clear()
        self.forget_shared()

    def forget_shared(self) -> None:
        """Drop what was read of shared rows."""
        self.version = self.spaces = None
        self.provenances.clear()

    def undo(self) -> None:
        """Drop what may never have been committed."""
        for key in self.unsure:
            self.segments.drop(key)
        self.unsure.clear()
        self.forget_shared()


@dataclass
class GroupChanges:
    """What a transaction has changed in one tenant and group since its generation was raised.

    Attributes:
        key: Tenant and group as text.
        number: The number of the group.
        counts: By how many records each tier has grown.
        waiting: By how many the entries that wait for a decision have grown.
        words: By how many the words of long-term memory have grown.
        newest: When the newest memory that was stored was created.
        is_cold: Whether long-term memory has changed.
        replaced: Numbers of memories that were changed.
        removed: Numbers of memories that were deleted.
        added: Rows of new memories for the segment of the group, without their vectors.
        is_followed: Whether there is such a segment.
    """

    key: str
    number: int
    counts: list[int] = field(default_factory=lambda: [0, 0, 0])
    waiting: int = 0
    words: int = 0
    newest: int = 0
    is_cold: bool = False
    replaced: list[int] = field(default_factory=list)
    removed: list[int] = field(default_factory=list)
    added: list[tuple[Any, ...]] = field(default_factory=list)
    is_followed: bool = False


class SqliteTransaction:
    """A transaction of a connection; it never suspends.

    Inside of another one it is a savepoint. One without a snapshot begins with the first statement
    that needs to see one moment.
    """

    dialect = _DIALECT

    def __init__(
        self,
        db: sqlite3.Connection,
        fail: Fail,
        shared: FileCache,
        *,
        writes: bool,
        snapshot: bool = True,
    ) -> None:
        self.db, self._fail, self._shared = db, fail, shared
        self._writes = writes
        self._groups: dict[str, GroupRow] = {}
        self._read: dict[tuple[str, str, Any], Row] = {}
        self._ahead: Sequence[Statement] = ()
        self._answers: dict[tuple[str, tuple[object, ...]], Sequence[Row]] = {}
        self._changes: dict[str, GroupChanges] = {}
        self._fresh: set[int] = set()
        self._vectors: dict[int, tuple[int, bytes]] = {}
        self._unused: dict[str, None] = {}
        self._is_checked = False
        statements = _BEGUN if db.in_transaction else _WRITES if writes else _READS
        self._begin, self._keep, *self._undo = statements
        self._begun = writes or snapshot or db.in_transaction

    def begin(self) -> None:
        if self._begun:
            self._run(self._begin)

    def _begin_late(self) -> None:
        """Begin now: what follows needs to see one moment."""
        if not self._begun:
            self._run(self._begin)
            self._begun = True
            self.forget_groups()  # somebody may have written since they were read

    def _run(self, statement: str) -> None:
        try:
            self.db.execute(statement)
        except (sqlite3.Error, OSError) as error:
            self._fail(error)

    async def keep(self) -> None:
        await self.flush()
        if self._begun:
            self._run(self._keep)
            if not self.db.in_transaction:
                self._shared.unsure.clear()

    def undo(self) -> None:
        """Roll back everything that was done in it.

        Raises:
            sqlite3.Error: If SQLite has done so already, or the connection is lost.
        """
        self._shared.undo()
        if self._begun:
            for statement in self._undo:
                self.db.execute(statement)

    def forget_groups(self) -> None:
        """Drop cached rows of groups: an inner transaction or another process has written."""
        self._groups.clear()
        self._read.clear()
        self._forget_ahead()
        self._is_checked = False

    def _forget_ahead(self) -> None:
        """Forget what was read ahead: something changes now."""
        self._ahead = ()
        self._answers.clear()

    async def execute(self, sql: str, *values: object) -> Sequence[Row]:
        if self._answers:
            rows = self._answers.pop((sql, values), None)
            if rows is not None:
                return rows
        self._must_go_on()
        try:
            return self.db.execute(sql, values).fetchall()
        except (sqlite3.Error, OSError) as error:
            self._fail(error)

    async def many(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        self._must_go_on()
        try:
            self.db.executemany(sql, rows)
        except (sqlite3.Error, OSError) as error:
            self._fail(error)

    async def gather(self, works: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
        try:
            return [await work for work in works]
        finally:
            for work in works:
                work.close()

    def _must_go_on(self) -> None:
        """Keep SQLite from storing each statement by itself where it has undone the others."""
        if self._begun and not self.db.in_transaction:
            raise StoreUnavailable("An error has rolled this change back; try again")

    async def settle(self) -> None:
        self._begin_late()

    async def alone(self) -> None:
        """Whoever writes is alone."""

    # Groups.

    async def group(self, key: str) -> GroupRow:
        """Return the row of a group as this transaction sees it, and validate the shared cache."""
        group = self._groups.get(key)
        if group is None:
            ((version, *row),) = await self.execute(GROUP, key)
            self._check_version(version)
            group = group_row(row)
            self._groups[key] = group
        return group

    async def _changes_in(self, record: Entry | Memory) -> GroupChanges:
        """Return what was done in the group of a record, which is made if it is new."""
        key = sql_dialect.group_key(record.scope.tenant, record.scope.group_id)
        changes = self._changes.get(key)
        if changes is None:
            number = (await self.group(key)).number
            if number is None:
                now = time_ns() // 1000
                ((number,),) = await self.execute(
                    _NEW_GROUP, key, sql_dialect.flat(record.scope.tenant), now, now
                )
                self._groups[key] = GroupRow(number, now, now, 0)
            changes = self._begin_changes(key, number)
        return changes

    def _begin_changes(self, key: str, number: int) -> GroupChanges:
        is_followed = self._shared.segments.get(key) is not None
        changes = self._changes[key] = GroupChanges(key, number, is_followed=is_followed)
        return changes

    async def flush(self) -> None:
        """Raise the generations of the groups that were written to, and update their counts."""
        written, self._changes = self._changes, {}
        now = time_ns() // 1000
        for changes in written.values():
            growth = (*changes.counts, changes.waiting, changes.words, changes.newest)
            if changes.is_cold:
                rows = await self.execute(_COLD_WRITTEN, now, *growth, changes.number)
            else:
                rows = await self.execute(_WRITTEN, now, *growth, changes.number)
            _, generation, cold, memories, total, is_packed = next(row for row in rows if row[0])
            if total:
                if changes.is_cold:
                    await self._note_change(changes, generation, has_blocks=is_packed)
                self._groups[changes.key] = GroupRow(changes.number, generation, cold, memories)
            else:
                await self.execute("DELETE FROM change WHERE grp = ?", changes.number)
                await self.execute("DELETE FROM part WHERE id = ?", changes.number)
                self._groups[changes.key] = GroupRow(None, 0, 0, 0)
                if is_packed:
                    await self.execute("DELETE FROM block WHERE grp = ?", changes.number)
        if self._unused:
            await self._tidy()

    async def _note_change(
        self, changes: GroupChanges, generation: int, *, has_blocks: bool
    ) -> None:
        """Let processes follow with their segments of a group, this one at once."""
        touched = sorted({*changes.replaced, *changes.removed})
        if has_blocks and touched:
            await self.execute(_DROP_BLOCKS, changes.number, json.dumps(touched))
        packed = array("q", touched).tobytes() if len(touched) <= TOUCHED else None
        await self.execute(_CHANGED, changes.number, generation, packed)
        if not generation % PRUNED_EVERY:
            await self.execute(_PRUNED, changes.number, changes.number, CHANGES)
        self._follow(changes, generation)

    def _follow(self, changes: GroupChanges, cold: int) -> None:
        """Bring the segment of a group up to date with what this transaction has done."""

    async def generation(self, tenant: str | None, group: str | None) -> int | None:
        """Return the generation of a group, 0 if it has nothing."""
        await self.flush()
        return (await self.group(sql_dialect.group_key(tenant, group))).generation

    async def count(self, tier: str, selection: Select | None) -> int:
        await self.flush()
        if selection is None:
            sql, values = f"SELECT {tier} FROM part WHERE id = 0", list[Any]()
        elif selection == Select(tenant=selection.tenant, groups=selection.groups):
            where, values = _parts_of(selection)
            sql = f"SELECT coalesce(sum({tier}), 0) FROM part WHERE {where}"
        elif (
            tier == "quarantine"
            and set(selection.statuses or ()) == _WAITING
            and selection
            == Select(tenant=selection.tenant, groups=selection.groups, statuses=selection.statuses)
        ):
            where, values = _parts_of(selection)
            sql = f"SELECT coalesce(sum(waiting), 0) FROM part WHERE {where}"
        elif tier == "long_term" and selection == Select(
            tenant=selection.tenant,
            groups=selection.groups,
            live_at=selection.live_at,
            ahead=selection.ahead,
        ):
            return await self._live(selection)
        else:
            where, values = _DIALECT.condition(tier, selection)
            sql = f"SELECT count(*) FROM record WHERE {where}"
        ((count,),) = await self.execute(sql, *values)
        return int(count)

    async def _live(self, selection: Select) -> int:
        """Return how many memories may be shown at a moment.

        All but few memories are valid from their creation without end: those are not looked at
        unless the moment is older than some of them.
        """
        (parts, keys), (where, values) = (
            _parts_of(selection),
            _DIALECT.condition("long_term", selection),
        )
        begun_by = sql_dialect.micros((selection.live_at or sql_dialect.EPOCH) + selection.ahead)
        ((total, newest),) = await self.execute(
            f"SELECT coalesce(sum(long_term), 0), coalesce(max(newest), 0) FROM part WHERE {parts}",
            *keys,
        )
        if newest > (begun_by or 0):
            rows = await self.execute(f"SELECT count(*) FROM record WHERE {where}", *values)
            return int(rows[0][0])
        ((bounded, live),) = await self.execute(
            f"SELECT count(*), coalesce(sum({where}), 0) FROM record INDEXED BY record_bounded"
            f" WHERE grp IN (SELECT id FROM part WHERE {parts}) AND {_BOUNDED}",
            *values, *keys,
        )  # fmt: skip
        return int(total - bounded + live)

    # Records.

    async def insert(
        self,
        tier: str,
        records: Sequence[Any],
        spaces: Mapping[int, int],
        *,
        numbers: Sequence[int] = (),
    ) -> list[int]:
        if len(records) > CONVERTED_AT_ONCE:
            inserted: list[int] = []
            for start in range(0, len(records), CONVERTED_AT_ONCE):
                end = start + CONVERTED_AT_ONCE
                some = {at - start: spaces[at] for at in range(start, end) if at in spaces}
                inserted += await self.insert(
                    tier, records[start:end], some, numbers=numbers[start:end]
                )
            return inserted
        is_cold, rows = tier == "long_term", list[tuple[Any, ...]]()
        self._forget_ahead()
        owners: list[GroupChanges] = []
        sources: list[tuple[Any, int]] = []
        first = 0
        if numbers:
            first = numbers[0] - 1
        elif len(records) != 1:
            ((first,),) = await self.execute(_LAST)  # whoever writes is alone
        for position, record in enumerate(records):
            changes = await self._changes_in(record)
            body = await self._provenance(record)
            words = terms_of(record) if is_cold else None
            values = _DIALECT.values(tier, record, words)
            owners.append(changes)
            rows.append((changes.number, TIERS[tier], key_of(record.id), body, *values))
            changes.counts[TIERS[tier]] += 1
            if words is not None:
                changes.words += len(words)
                changes.is_cold = True
                changes.newest = max(changes.newest, values[0])
            elif tier == "quarantine":
                changes.waiting += record.status in _WAITING
            if names := _sources_of(record):
                sources += [(key_of(name), position) for name in names]
        if len(rows) == 1 and not numbers:
            numbers = [(await self.execute(_INSERT_ONE, *rows[0]))[0][0]]
        else:
            numbers = numbers or range(first + 1, first + 1 + len(rows))
            await self.many(_INSERT, ((seq, *row) for seq, row in zip(numbers, rows, strict=True)))
        if sources:
            await self.many(_SOURCE, [(name, numbers[position]) for name, position in sources])
        if is_cold:
            await self._note_pending(numbers, spaces)
            for changes, row, seq, record in zip(owners, rows, numbers, records, strict=True):
                if changes.is_followed and len(changes.added) <= FOLLOWED:
                    changes.added.append((*_segment_row(seq, row), attribution_of(record).key))
        return list(numbers)

    async def _note_pending(self, numbers: Sequence[int], spaces: Mapping[int, int]) -> None:
        """Note in which spaces new memories have no vector."""
        self._fresh.update(numbers)
        pending = [
            (row.number, seq)
            for row in await self.known_spaces()
            for position, seq in enumerate(numbers)
            if spaces.get(position) != row.number
        ]
        if pending:
            await self.many(_PENDING, pending)

    async def replace(self, tier: str, seq: int, old: Any, new: Any) -> None:
        is_cold, changes = tier == "long_term", await self._changes_in(new)
        self._forget_ahead()
        other_text = is_cold and new.content != old.content
        words = terms_of(new) if is_cold else None
        values = _DIALECT.values(tier, new, words)
        self._read.pop((tier, changes.key, key_of(new.id)), None)
        await self.execute(_REPLACE, key_of(new.id), *values, seq)
        if other_text:  # a vector of the old text must not find the new one
            await self._drop_vectors([seq])
            await self.execute(_PENDING_EVERYWHERE, seq)
        if words is not None and named_text_of(new) != named_text_of(old):
            changes.words += len(words) - len(terms_of(old))
        body, old_body = body_of(new)[0], body_of(old)[0]
        if body != old_body:
            number = await self._provenance(new)
            await self.execute("UPDATE record SET provenance = ? WHERE seq = ?", number, seq)
            self._unused[old_body] = None
        if is_cold:
            changes.is_cold, changes.newest = True, max(changes.newest, values[0])
            changes.replaced.append(seq)
        if tier == "quarantine":
            changes.waiting += (new.status in _WAITING) - (old.status in _WAITING)
        if _sources_of(new) != _sources_of(old):
            await self.many(_NO_SOURCE, [(key_of(name), seq) for name in _sources_of(old)])
            await self.many(_SOURCE, [(key_of(name), seq) for name in _sources_of(new)])

    async def drop(self, tier: str, numbers: Sequence[int]) -> None:
        for start in range(0, len(numbers), READ_AT_ONCE):
            some = json.dumps([*numbers[start : start + READ_AT_ONCE]])
            await self.drop_found(tier, "SELECT value FROM json_each(?)", some)

    async def drop_selected(self, tier: str, selection: Select) -> int:
        where, values = _DIALECT.condition(tier, selection)
        dropped, numbers = 0, f"SELECT seq FROM record WHERE {where} ORDER BY seq DESC LIMIT ?"
        while True:
            some = await self.drop_found(tier, numbers, *values, READ_AT_ONCE)
            dropped += some
            if some < READ_AT_ONCE:
                return dropped

    async def drop_found(self, tier: str, numbers: str, *values: object) -> int:
        """Delete the records whose numbers a statement returns; return how many there were."""
        is_cold = tier == "long_term"
        self._forget_ahead()
        rows = await self.execute(
            f"DELETE FROM record WHERE seq IN ({numbers})"
            f" RETURNING seq, {_DIALECT.read}, grp, length(words) / {WORD}",
            *values,
        )
        sources: list[tuple[Any, int]] = []
        for row in rows:
            seq, key, body, id_ = row[:4]
            self._read.pop((tier, key, id_), None)
            changes = self._changes.get(key)
            if changes is None:
                changes = self._begin_changes(key, row[-2])
            changes.counts[TIERS[tier]] -= 1
            if is_cold:
                changes.words -= row[-1] or 0
                changes.is_cold = True
                changes.removed.append(seq)
                if (segment := self._shared.segments.get(key)) is not None:
                    segment.records.pop(seq, None)  # a forgotten text waits for no search
            elif tier == "quarantine":
                changes.waiting -= _DIALECT.status_of(row) in _WAITING
            self._unused[body] = None
            if _DIALECT.has_sources(row):
                names = _sources_of(_DIALECT.record(tier, row))
                sources += [(key_of(name), seq) for name in names]
        if sources:
            await self.many(_NO_SOURCE, sources)
        if is_cold and rows:
            await self._drop_vectors([row[0] for row in rows])
        return len(rows)

    async def _provenance(self, record: Entry | Memory) -> int:
        """Return the number of the row that a record shares with others."""
        body, roots = body_of(record)
        self._unused.pop(body, None)
        provenances = self._shared.provenances
        number = provenances.get(body)
        if number is None:
            if len(provenances) > RECORDS:
                provenances.clear()
            rows = await self.execute(_NEW_PROVENANCE, body)
            if not rows:
                rows = await self.execute("SELECT id FROM provenance WHERE body = ?", body)
            else:
                links = [(name, rows[0][0]) for name in dict.fromkeys(roots)]
                await self.many("INSERT INTO root (name, provenance) VALUES (?, ?)", links)
            number = provenances[body] = int(rows[0][0])
        return number

    async def _tidy(self) -> None:
        """Remove shared rows that nobody refers to any more: they have names of people in them."""
        bodies = json.dumps([*self._unused])
        self._unused.clear()
        gone = await self.execute(_UNUSED, bodies)
        links = []
        for number, body in gone:
            data = json.loads(body)
            links += [
                (sql_dialect.flat(name), number) for name in (*data["roots"], *data.get("also", ()))
            ]
        if links:
            await self.many("DELETE FROM root WHERE name = ? AND provenance = ?", links)
        if gone:
            await self._share_anew()

    async def _share_anew(self) -> None:
        """Let every process read shared rows anew."""
        await self.execute(_SHARED_ANEW, time_ns() // 1000)
        self._shared.forget_shared()
        self._is_checked = False

    def _check_version(self, version: int | None) -> None:
        self._is_checked = True
        if version != self._shared.version:
            self._shared.forget_shared()
            self._shared.version = version

    # Vectors and spaces.

    async def add_vectors(self, space: int, vectors: Sequence[tuple[int, bytes]]) -> None:
        if not vectors:
            return
        numbers = [seq for seq, _ in vectors]
        where, values = _DIALECT.numbered("seq", numbers)
        new = await self.execute(
            f"DELETE FROM pending WHERE space = ? AND {where} RETURNING 1", space, *values
        )
        if len(new) < len(numbers):
            await self._drop_data(space, numbers)
        groups = await self.execute(
            "SELECT key, grp, json_group_array(seq) FROM record JOIN part ON part.id = grp"
            f" WHERE {where} GROUP BY grp",
            *values,
        )
        for key, number, touched in groups:
            changes = self._changes.get(key)
            if changes is None:
                changes = self._begin_changes(key, number)
            changes.is_cold = True
            changes.replaced += [seq for seq in json.loads(touched) if seq not in self._fresh]
        await self.put_vectors(space, vectors)

    async def put_vectors(self, space: int, vectors: Sequence[tuple[int, bytes]]) -> None:
        above = space << SPACE_BITS
        await self.many(
            "INSERT INTO vector (id, data) VALUES (?, ?)",
            # In order: pages that are filled backwards hold three vectors in place of five.
            [(above | seq, data) for seq, data in sorted(vectors)],
        )
        if len(vectors) <= FOLLOWED:
            self._vectors.update((seq, (space, data)) for seq, data in vectors)

    async def _drop_vectors(self, numbers: Sequence[int]) -> None:
        """Remove what is known of memories in all embedding spaces."""
        for space in await self.known_spaces():
            if await self._drop_data(space.number, numbers) < len(numbers):
                where, values = _DIALECT.numbered("seq", numbers)
                await self.execute(
                    f"DELETE FROM pending WHERE space = ? AND {where}", space.number, *values
                )

    async def _drop_data(self, space: int, numbers: Sequence[int]) -> int:
        above = space << SPACE_BITS
        where, values = _DIALECT.numbered("id", [above | seq for seq in numbers])
        return len(await self.execute(f"DELETE FROM vector WHERE {where} RETURNING 1", *values))

    async def vectors(self, space: int, numbers: Sequence[int]) -> dict[int, Vector]:
        return {seq: unpacked(data) for seq, data in await self._data(space, numbers)}

    async def _data(self, space: int, numbers: Sequence[int]) -> Sequence[Row]:
        above = space << SPACE_BITS
        where, values = _DIALECT.numbered("id", [above | seq for seq in numbers])
        rows = await self.execute(f"SELECT id, data FROM vector WHERE {where}", *values)
        return [(number ^ above, data) for number, data in rows]

    async def number_of_space(self, space: Space) -> int | None:
        return number_of(space, await self.known_spaces())

    async def prepare_space(self, space: int, dimension: int) -> None:  # noqa: ARG002
        await self.execute(
            "INSERT INTO pending (space, seq) SELECT ?, seq FROM record WHERE tier = 1", space
        )
        await self._share_anew()

    async def adopted(self) -> None:
        """Let every process see that another space is the current one."""
        await self._share_anew()

    async def drop_other_spaces(self, space: int) -> None:
        for row in await self.execute("SELECT id FROM space WHERE id != ?", space):
            low = row[0] << SPACE_BITS
            high = (row[0] + 1) << SPACE_BITS
            await self.execute("DELETE FROM vector WHERE id >= ? AND id < ?", low, high)
        await self.execute("DELETE FROM space WHERE id != ?", space)
        await self.execute("DELETE FROM block WHERE space != ?", space)
        await self.execute("DELETE FROM pending WHERE space != ?", space)
        await self._share_anew()

    async def counted_spaces(self) -> Sequence[Row]:
        return await self.execute(_COUNTED_SPACES)

    async def known_spaces(self) -> Sequence[SpaceRow]:
        if not self._is_checked:
            ((version,),) = await self.execute(f"SELECT {VERSION}")
            self._check_version(version)
        if self._shared.spaces is None:
            self._shared.spaces = space_rows(await self.execute(SPACES_READ))
        return self._shared.spaces

    async def unembedded(self, space: Space, limit: int) -> Sequence[Row]:
        numbers = {row.space.name: row.number for row in await self.known_spaces()}
        if space.name in numbers:
            some, values = "SELECT seq FROM pending WHERE space = ?", [numbers[space.name]]
        else:
            some, values = "SELECT seq FROM record WHERE +tier = 1", []
        return await self.execute(
            f"SELECT seq, {_DIALECT.read} FROM record WHERE seq IN ({some} ORDER BY seq LIMIT ?)"
            " ORDER BY seq",
            *values, limit,
        )  # fmt: skip

    async def _never(self, *_: object) -> Any:
        raise NotImplementedError  # only engines whose `search_view` returns None are asked for it

    index: Any = _never
    unindex: Any = _never
    having: Any = _never
    best_by_words: Any = _never
    word_counts: Any = _never
    nearest: Any = _never
    cosines: Any = _never


def _sources_of(record: Entry | Memory) -> tuple[str, ...]:
    if isinstance(record, Entry) or not record.further:
        return tuple(dict.fromkeys(record.provenance.sources))
    return tuple(dict.fromkeys(name for lineage in lineages(record) for name in lineage.sources))


def group_row(row: Sequence[Any]) -> GroupRow:
    """Return the row of a group from the columns of `GROUP` behind the version."""
    number, *rest = row
    return GroupRow(None, 0, 0, 0) if number is None else GroupRow(number, *rest)


def _segment_row(seq: int, row: Sequence[Any]) -> tuple[Any, ...]:
    """Return a row of `COLUMNS` as a segment has it, without the speaker and the vector."""
    created, begins, document = row[4], row[5], row[12]
    return (
        seq,
        created,
        created if begins is None else begins,
        row[6],
        row[9],
        row[11],
        row[2] if document is None else document,
        row[7] is not None,
        row[19],
    )


def _parts_of(selection: Select) -> tuple[str, list[Any]]:
    if selection.groups is None:
        return "tenant IS ?", [sql_dialect.flat(selection.tenant)]
    keys = [sql_dialect.group_key(selection.tenant, group) for group in selection.groups]
    return "key IN (SELECT value FROM json_each(?))", [json.dumps(keys)]


READ_AT_ONCE: Final = 2000
FOLLOWED: Final = 500
"""New memories of one write that are taken over into a segment; more of them are read again."""
_BOUNDED: Final = "tier = 1 AND (revocation IS NOT NULL OR begins IS NOT NULL OR ends IS NOT NULL)"
VERSION: Final = "(SELECT value FROM about WHERE name = 'shared')"
GROUP: Final = (
    f"SELECT {VERSION}, part.id, part.generation, part.cold, part.long_term"
    " FROM (SELECT 1) LEFT JOIN part ON part.key = ?"
)
_NEW_GROUP: Final = (
    "INSERT INTO part (key, tenant, generation, cold) VALUES (?, ?, ?, ?) RETURNING id"
)
_WRITTEN: Final = (
    "UPDATE part SET generation = max(generation + 1, ?), quarantine = quarantine + ?,"
    " long_term = long_term + ?, working = working + ?, waiting = waiting + ?, words = words + ?,"
    " newest = max(newest, ?) WHERE id IN (0, ?)"
    " RETURNING id, generation, cold, long_term, quarantine + long_term + working, packed"
)
_COLD_WRITTEN: Final = _WRITTEN.replace(
    "max(generation + 1, ?)", "max(generation + 1, ?1), cold = max(generation + 1, ?1)"
)
_DROP_BLOCKS: Final = (
    "DELETE FROM block WHERE id IN (SELECT (SELECT CASE WHEN above < touched.value THEN id END"
    " FROM block WHERE grp = ?1 AND last >= touched.value ORDER BY last LIMIT 1)"
    " FROM json_each(?2) AS touched)"
)
"""Deletes the blocks that touched memories are in, with what is in them of forgotten ones."""
_CHANGED: Final = "INSERT INTO change (grp, generation, numbers) VALUES (?, ?, ?)"
_PRUNED: Final = (
    "DELETE FROM change WHERE grp = ? AND generation <= (SELECT generation FROM change"
    " WHERE grp = ? ORDER BY generation DESC LIMIT 1 OFFSET ?)"
)
PRUNED_EVERY: Final = 32
_LAST: Final = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'record'"
"""The highest number that a record ever had: none is given twice."""
_INSERT: Final = f"INSERT INTO record (seq, {', '.join(COLUMNS)}) VALUES (?{', ?' * len(COLUMNS)})"
_INSERT_ONE: Final = (
    f"INSERT INTO record ({', '.join(COLUMNS)}) VALUES (?{', ?' * (len(COLUMNS) - 1)})"
    " RETURNING seq"
)
_REPLACE: Final = (
    f"UPDATE record SET id = ?, {', '.join(f'{name} = ?' for name in COLUMNS[4:])} WHERE seq = ?"
)
_PENDING: Final = "INSERT INTO pending (space, seq) VALUES (?, ?)"
_PENDING_EVERYWHERE: Final = "INSERT OR IGNORE INTO pending (space, seq) SELECT id, ? FROM space"
_COUNTED_SPACES: Final = (
    "SELECT name, dimension, (SELECT long_term FROM part WHERE part.id = 0)"
    " - (SELECT count(*) FROM pending WHERE pending.space = space.id)"
    " FROM space ORDER BY current DESC, id"
)
_SOURCE: Final = "INSERT OR IGNORE INTO source (name, seq) VALUES (?, ?)"
_NO_SOURCE: Final = "DELETE FROM source WHERE name = ? AND seq = ?"
_NEW_PROVENANCE: Final = (
    "INSERT INTO provenance (body) VALUES (?) ON CONFLICT DO NOTHING RETURNING id"
)
_UNUSED: Final = (
    "DELETE FROM provenance WHERE body IN (SELECT value FROM json_each(?)) AND NOT EXISTS"
    " (SELECT 1 FROM record WHERE record.provenance = provenance.id) RETURNING id, body"
)
_SHARED_ANEW: Final = (
    "INSERT INTO about VALUES ('shared', ?)"
    " ON CONFLICT (name) DO UPDATE SET value = max(value + 1, excluded.value)"
)
_READS: Final[tuple[str, ...]] = ("BEGIN", "COMMIT", "ROLLBACK")
_WRITES: Final[tuple[str, ...]] = ("BEGIN IMMEDIATE", "COMMIT", "ROLLBACK")
_BEGUN: Final[tuple[str, ...]] = (
    *("SAVEPOINT inside", "RELEASE inside"),
    *("ROLLBACK TO inside", "RELEASE inside"),
)
"""How transactions begin, are kept and are undone; the last kind inside of another one."""

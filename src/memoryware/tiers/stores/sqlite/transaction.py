"""What is done inside a transaction of a SQLite file."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from time import time_ns
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from memoryware.errors import StoreUnavailable
from memoryware.tiers.model import Entry, Memory, lineages
from memoryware.tiers.stores.codec import unpacked
from memoryware.tiers.stores.columns import WORD
from memoryware.tiers.stores.protocol import Select, Space, Vector
from memoryware.tiers.stores.segment import Segments
from memoryware.tiers.stores.sql import rows as sql_rows
from memoryware.tiers.stores.sql.port import Row
from memoryware.tiers.stores.sqlite.rows import COLUMNS, TIERS, SqliteRows, body_of, key_of
from memoryware.tiers.text.terms import words_of

T = TypeVar("T")
_ROWS: Final = SqliteRows()
Errors: TypeAlias = Callable[[], AbstractContextManager[None]]
"""Turns what SQLite says into our errors."""
SPACE_BITS: Final = 44
"""The number of a vector is that of its record, and above these bits that of its space."""
CHANGES: Final = 200
"""Writes to a group that processes can follow; whoever missed more reads the group anew."""
TOUCHED: Final = 2000
"""Memories changed by one write that are named; with more of them the group is read anew."""
RECORDS: Final = 4096
"""Decoded memories of a group that are kept."""
_WAITING: Final = frozenset({"pending", "proposed"})


class SpaceRow(NamedTuple):
    """An embedding space of the file."""

    number: int
    space: Space
    current: bool


@dataclass
class Shared:
    """What a process keeps of a file between transactions, to be checked before it is used.

    Attributes:
        segments: Long-term memory of the groups that were searched last.
        version: Changes with the rows that everybody shares: `space`, and `provenance` rows that
            are gone; None if nothing is known of them.
        spaces: The embedding spaces.
        provenances: Numbers of rows of `provenance` by their body.
        unsure: Groups whose segments have seen what is not committed yet.
        unpacked: Groups, with their numbers, of which rows were read that are in no block.
    """

    segments: Segments
    version: int | None = None
    spaces: Sequence[SpaceRow] = ()
    provenances: dict[str, int] = field(default_factory=dict)
    unsure: set[str] = field(default_factory=set)
    unpacked: dict[str, int] = field(default_factory=dict)

    def clear(self) -> None:
        """Forget everything."""
        self.segments.clear()
        self.unpacked.clear()
        self.forget_shared()

    def forget_shared(self) -> None:
        """Forget what was read of shared rows."""
        self.version, self.spaces = None, ()
        self.provenances.clear()

    def undo(self) -> None:
        """Forget what may never have been committed."""
        for key in self.unsure:
            self.segments.drop(key)
        self.unsure.clear()
        self.forget_shared()


@dataclass
class _Part:
    """What a transaction has done in one tenant and group since its generation was raised."""

    key: str
    number: int
    counts: list[int] = field(default_factory=lambda: [0, 0, 0])
    waiting: int = 0
    words: int = 0
    newest: int = 0
    is_cold: bool = False
    touched: list[int] = field(default_factory=list)


class SqliteTransaction:
    """A transaction of a connection: nothing in it waits for a loop.

    Inside of another one it is a savepoint. One without a snapshot begins when it needs to.
    """

    rows = _ROWS

    def __init__(
        self,
        db: sqlite3.Connection,
        errors: Errors,
        shared: Shared,
        *,
        writes: bool,
        snapshot: bool = True,
    ) -> None:
        self.db, self._errors, self._shared = db, errors, shared
        self._writes = writes
        self._parts: dict[int, _Part] = {}
        self._numbers: dict[str, int] = {}
        self._fresh: set[int] = set()
        how = _BEGUN if db.in_transaction else _WRITES if writes else _READS
        self._begin, self._keep, *self._undo = how
        self._begun = writes or snapshot or db.in_transaction

    def begin(self) -> None:
        if self._begun:
            self._do(self._begin)

    def _begin_late(self) -> None:
        """Begin now: what follows needs to see one moment."""
        if not self._begun:
            self._do(self._begin)
            self._begun = True

    async def keep(self) -> None:
        await self.flush()
        if self._begun:
            self._do(self._keep)
            if not self.db.in_transaction:
                self._shared.unsure.clear()

    def undo(self) -> None:
        """Undo everything that was done in it.

        Raises:
            sqlite3.Error: If SQLite has done so already, or the connection is lost.
        """
        self._shared.undo()
        if self._begun:
            for statement in self._undo:
                self.db.execute(statement)

    async def execute(self, sql: str, *values: object) -> Sequence[Row]:
        self._must_go_on()
        return self._do(sql, values)

    def _do(self, sql: str, values: Sequence[object] = ()) -> Sequence[Row]:
        try:
            return self.db.execute(sql, values).fetchall()
        except (sqlite3.Error, OSError):
            with self._errors():  # entered only here: it would cost as much as a short statement
                raise

    async def many(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        with self._errors():
            self._must_go_on()
            self.db.executemany(sql, rows)

    async def gather(self, works: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
        try:
            return [await work for work in works]
        finally:
            for work in works:
                work.close()

    def _must_go_on(self) -> None:
        """Keep SQLite from storing each statement by itself where it has undone the others."""
        if self._begun and not self.db.in_transaction:
            raise StoreUnavailable("A failure has undone this change; try again")

    async def read_ahead(self, search: Select, reads: Sequence[Any]) -> None:
        """There are no round trips to save."""

    async def settle(self) -> None:
        self._begin_late()

    async def alone(self) -> None:
        """Whoever writes is alone."""

    # Groups.

    async def _part(self, record: Entry | Memory) -> _Part:
        """Return what was done in the group of a record, which is made if it is new."""
        key = sql_rows.part_of(record.scope.tenant, record.scope.group_id)
        number = self._numbers.get(key)
        if number is None:
            version, number = (await self.execute(_PART, key))[0]
            self._check_version(version)
            if number is None:
                now = time_ns() // 1000
                ((number,),) = await self.execute(
                    _NEW_PART, key, sql_rows.flat(record.scope.tenant), now, now
                )
            self._numbers[key] = number
        part = self._parts.get(number)
        if part is None:
            part = self._parts[number] = _Part(key, number)
        return part

    async def flush(self) -> None:
        """Raise the generations of the groups that were written to, and bring counts up to date."""
        parts, self._parts = self._parts, {}
        now = time_ns() // 1000
        for part in parts.values():
            ((generation, left, is_packed),) = await self.execute(
                _COLD_WRITTEN if part.is_cold else _WRITTEN,
                now, *part.counts, part.waiting, part.words, part.newest, part.number,
            )  # fmt: skip
            if not left:
                await self.execute("DELETE FROM change WHERE grp = ?", part.number)
                await self.execute("DELETE FROM part WHERE id = ?", part.number)
                self._numbers.pop(part.key, None)
                if is_packed:
                    await self.execute("DELETE FROM block WHERE grp = ?", part.number)
            elif part.is_cold:
                touched = sorted(set(part.touched))
                if is_packed and touched:
                    await self.execute(_DROP_BLOCKS, part.number, json.dumps(touched))
                named = array("q", touched).tobytes() if len(touched) <= TOUCHED else None
                await self.execute(_CHANGED, part.number, generation, named)
                if not generation % PRUNED_EVERY:
                    await self.execute(_PRUNED, part.number, part.number, CHANGES)

    async def generation(self, tenant: str | None, group: str | None) -> int | None:
        """Return the generation of a group, 0 if it has nothing."""
        await self.flush()
        found = await self.execute(
            "SELECT generation FROM part WHERE key = ?", sql_rows.part_of(tenant, group)
        )
        return int(found[0][0]) if found else 0

    async def count(self, tier: str, which: Select | None) -> int:
        await self.flush()
        if which is None:
            sql, values = f"SELECT coalesce(sum({tier}), 0) FROM part", list[Any]()
        elif which == Select(tenant=which.tenant, groups=which.groups):
            where, values = _parts_of(which)
            sql = f"SELECT coalesce(sum({tier}), 0) FROM part WHERE {where}"
        elif (
            tier == "quarantine"
            and set(which.statuses or ()) == _WAITING
            and which == Select(tenant=which.tenant, groups=which.groups, statuses=which.statuses)
        ):
            where, values = _parts_of(which)
            sql = f"SELECT coalesce(sum(waiting), 0) FROM part WHERE {where}"
        elif tier == "long_term" and which == Select(
            tenant=which.tenant, groups=which.groups, live_at=which.live_at, ahead=which.ahead
        ):
            return await self._live(which)
        else:
            where, values = _ROWS.condition(tier, which)
            sql = f"SELECT count(*) FROM record WHERE {where}"
        ((count,),) = await self.execute(sql, *values)
        return int(count)

    async def _live(self, which: Select) -> int:
        """Return how many memories may be shown at a moment.

        All but few memories are valid from their creation without end: those are not looked at
        unless the moment is older than some of them.
        """
        (parts, keys), (where, values) = _parts_of(which), _ROWS.condition("long_term", which)
        begun_by = sql_rows.micros((which.live_at or sql_rows.EPOCH) + which.ahead)
        ((total, newest),) = await self.execute(
            f"SELECT coalesce(sum(long_term), 0), coalesce(max(newest), 0) FROM part WHERE {parts}",
            *keys,
        )
        if newest > (begun_by or 0):
            found = await self.execute(f"SELECT count(*) FROM record WHERE {where}", *values)
            return int(found[0][0])
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
        if len(records) > _AT_ONCE:
            found: list[int] = []
            for start in range(0, len(records), _AT_ONCE):
                end = start + _AT_ONCE
                some = {at - start: spaces[at] for at in range(start, end) if at in spaces}
                found += await self.insert(
                    tier, records[start:end], some, numbers=numbers[start:end]
                )
            return found
        is_cold, made = tier == "long_term", list[tuple[Any, ...]]()
        sources: list[tuple[Any, int]] = []
        first = 0
        if len(records) != 1 and not numbers:
            ((first,),) = await self.execute(_LAST)  # whoever writes is alone
        for place, record in enumerate(records):
            part = await self._part(record)
            words = words_of(record.content) if is_cold else None
            space = spaces.get(place, 0) if is_cold else None
            body = await self._provenance(record)
            values = _ROWS.values(tier, record, words, space)
            made.append((part.number, TIERS[tier], key_of(record.id), body, *values))
            part.counts[TIERS[tier]] += 1
            part.words += len(words or ())
            part.is_cold = part.is_cold or is_cold
            part.newest = max(part.newest, values[0]) if is_cold else part.newest
            part.waiting += tier == "quarantine" and record.status in _WAITING
            sources += [(key_of(name), place) for name in _sources_of(record)]
        if len(made) == 1 and not numbers:
            numbers = [(await self.execute(_INSERT_ONE, *made[0]))[0][0]]
        else:
            numbers = numbers or range(first + 1, first + 1 + len(made))
            await self.many(_INSERT, ((seq, *row) for seq, row in zip(numbers, made, strict=True)))
        if sources:
            await self.many(_SOURCE, [(name, numbers[place]) for name, place in sources])
        self._fresh.update(numbers)
        return list(numbers)

    async def replace(self, tier: str, seq: int, old: Any, new: Any) -> None:
        is_cold, part = tier == "long_term", await self._part(new)
        other_text = is_cold and new.content != old.content
        words = words_of(new.content) if is_cold else None
        values = _ROWS.values(tier, new, words, None)
        await self.execute(_REPLACE, key_of(new.id), *values[:_SPACE], *values[_SPACE + 1 :], seq)
        if other_text:  # a vector of the old text must not find the new one
            await self._drop_vectors([seq])
            await self.execute("UPDATE record SET space = 0 WHERE seq = ?", seq)
            part.words += len(words or ()) - len(words_of(old.content))
        if body_of(new) != body_of(old):
            body = await self._provenance(new)
            await self.execute("UPDATE record SET provenance = ? WHERE seq = ?", body, seq)
        if is_cold:
            part.is_cold, part.newest = True, max(part.newest, values[0])
            part.touched.append(seq)
        if tier == "quarantine":
            part.waiting += (new.status in _WAITING) - (old.status in _WAITING)
        if _sources_of(new) != _sources_of(old):
            await self.many(_NO_SOURCE, [(key_of(one), seq) for one in _sources_of(old)])
            await self.many(_SOURCE, [(key_of(one), seq) for one in _sources_of(new)])
        if body_of(new) != body_of(old):
            await self._tidy([body_of(old)[0]])

    async def drop(self, tier: str, numbers: Sequence[int]) -> None:
        for start in range(0, len(numbers), READ_AT_ONCE):
            some = json.dumps([*numbers[start : start + READ_AT_ONCE]])
            await self.drop_found(tier, "SELECT value FROM json_each(?)", some)

    async def drop_found(self, tier: str, numbers: str, *values: object) -> None:
        is_cold, bodies = tier == "long_term", dict[str, None]()
        rows = await self.execute(
            f"DELETE FROM record WHERE seq IN ({numbers})"
            f" RETURNING seq, {_ROWS.read}, length(words) / {WORD}",
            *values,
        )
        for row in rows:
            record = _ROWS.record(tier, row[:-1])
            part = await self._part(record)
            part.counts[TIERS[tier]] -= 1
            part.words -= row[-1] or 0
            part.is_cold = part.is_cold or is_cold
            part.waiting -= tier == "quarantine" and record.status in _WAITING
            part.touched += [row[0]] if is_cold else []
            if is_cold and (segment := self._shared.segments.get(part.key)) is not None:
                segment.records.pop(row[0], None)  # a forgotten text waits for no search
            bodies[body_of(record)[0]] = None
            if names := _sources_of(record):
                await self.many(_NO_SOURCE, [(key_of(one), row[0]) for one in names])
        if is_cold and rows:
            await self._drop_vectors([row[0] for row in rows])
        await self._tidy(bodies)

    async def _provenance(self, record: Entry | Memory) -> int:
        """Return the number of the row that a record shares with others."""
        body, roots = body_of(record)
        known = self._shared.provenances
        number = known.get(body)
        if number is None:
            if len(known) > RECORDS:
                known.clear()
            found = await self.execute("SELECT id FROM provenance WHERE body = ?", body)
            if not found:
                found = await self.execute(_NEW_PROVENANCE, body)
                links = [(name, found[0][0]) for name in dict.fromkeys(roots)]
                await self.many("INSERT INTO root (name, provenance) VALUES (?, ?)", links)
            number = known[body] = int(found[0][0])
        return number

    async def _tidy(self, bodies: Iterable[str]) -> None:
        """Remove shared rows that nobody refers to any more: they have names of people in them."""
        is_any = False
        for body in bodies:
            gone = await self.execute(_UNUSED, body)
            for (number,) in gone:
                data = json.loads(body)
                names = [*data["roots"], *data.get("also", ())]
                links = [(sql_rows.flat(name), number) for name in names]
                await self.many("DELETE FROM root WHERE name = ? AND provenance = ?", links)
            is_any = is_any or bool(gone)
        if is_any:
            await self._share_anew()

    async def _share_anew(self) -> None:
        """Let every process read shared rows anew."""
        await self.execute(_SHARED_ANEW, time_ns() // 1000)
        self._shared.forget_shared()

    def _check_version(self, version: int | None) -> None:
        if version != self._shared.version:
            self._shared.forget_shared()
            self._shared.version = version

    # Vectors and spaces.

    async def add_vectors(self, space: int, vectors: Sequence[tuple[int, bytes]]) -> None:
        if not vectors:
            return
        older = [seq for seq, _ in vectors if seq not in self._fresh]
        if older:
            where, values = _ROWS.numbered("seq", older)
            await self._drop_vectors(older, space)
            moved = await self.execute(
                f"UPDATE record SET space = ? WHERE {where} RETURNING seq, grp", space, *values
            )
            for seq, number in moved:
                part = self._parts.get(number)
                if part is None:
                    ((key,),) = await self.execute("SELECT key FROM part WHERE id = ?", number)
                    part = self._parts[number] = _Part(key, number)
                part.is_cold = True
                part.touched.append(seq)
        await self.put_vectors(space, vectors)

    async def put_vectors(self, space: int, vectors: Sequence[tuple[int, bytes]]) -> None:
        above = space << SPACE_BITS
        await self.many(
            "INSERT INTO vector (id, data) VALUES (?, ?)",
            # In order: pages that are filled backwards hold three vectors in place of five.
            [(above | seq, data) for seq, data in sorted(vectors)],
        )
        await self.execute(
            "UPDATE space SET vectors = vectors + ? WHERE id = ?", len(vectors), space
        )

    async def _drop_vectors(self, numbers: Sequence[int], space: int | None = None) -> None:
        known = [space] if space is not None else [one.number for one in await self.known_spaces()]
        for one in known:
            above = one << SPACE_BITS
            where, values = _ROWS.numbered("id", [above | seq for seq in numbers])
            gone = await self.execute(f"DELETE FROM vector WHERE {where} RETURNING 1", *values)
            if gone:
                await self.execute(
                    "UPDATE space SET vectors = vectors - ? WHERE id = ?", len(gone), one
                )

    async def vectors(self, space: int, numbers: Sequence[int]) -> dict[int, Vector]:
        return {seq: unpacked(data) for seq, data in await self._data(space, numbers)}

    async def _data(self, space: int, numbers: Sequence[int]) -> Sequence[Row]:
        above = space << SPACE_BITS
        where, values = _ROWS.numbered("id", [above | seq for seq in numbers])
        found = await self.execute(f"SELECT id, data FROM vector WHERE {where}", *values)
        return [(number ^ above, data) for number, data in found]

    async def made_space(self, space: int, dimension: int) -> None:  # noqa: ARG002
        await self._share_anew()

    async def adopted(self) -> None:
        """Let every process see that another space is the current one."""
        await self._share_anew()

    async def drop_other_spaces(self, space: int) -> None:
        for one in await self.execute("SELECT id FROM space WHERE id != ?", space):
            low = one[0] << SPACE_BITS
            high = (one[0] + 1) << SPACE_BITS
            await self.execute("DELETE FROM vector WHERE id >= ? AND id < ?", low, high)
        await self.execute("DELETE FROM space WHERE id != ?", space)
        await self.execute("DELETE FROM block WHERE space != ?", space)
        await self.execute("UPDATE record SET space = 0 WHERE space != ?", space)
        await self._share_anew()

    async def counted_spaces(self) -> Sequence[Row]:
        return await self.execute(
            "SELECT name, dimension, vectors FROM space ORDER BY current DESC, id"
        )

    async def known_spaces(self, version: int | None = None) -> Sequence[SpaceRow]:
        """Return the spaces of the file, which are read if they are not those of this version."""
        if version is None:
            ((version,),) = await self.execute(f"SELECT {VERSION}")
        self._check_version(version)
        if not self._shared.spaces:
            rows = await self.execute("SELECT id, name, dimension, current FROM space")
            self._shared.spaces = [
                SpaceRow(row[0], Space(sql_rows.unflat(row[1]), row[2]), bool(row[3]))
                for row in rows
            ]
        return self._shared.spaces

    async def _unused(self, *_: object) -> Any:
        raise NotImplementedError  # only engines whose `sight` returns None are asked for it

    index: Any = _unused
    unindex: Any = _unused
    having: Any = _unused
    weighed: Any = _unused
    counted: Any = _unused
    nearest: Any = _unused
    measured: Any = _unused


def _sources_of(record: Entry | Memory) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for one in lineages(record) for name in one.sources))


def _parts_of(which: Select) -> tuple[str, list[Any]]:
    if which.groups is None:
        return "tenant IS ?", [sql_rows.flat(which.tenant)]
    keys = [sql_rows.part_of(which.tenant, one) for one in which.groups]
    return "key IN (SELECT value FROM json_each(?))", [json.dumps(keys)]


READ_AT_ONCE: Final = 2000
_AT_ONCE: Final = 120
"""Records that are converted before they are stored; of more, the rows would take much memory,
and Python's garbage collector would look through all of them again and again."""
_BOUNDED: Final = "tier = 1 AND (revocation IS NOT NULL OR begins IS NOT NULL OR ends IS NOT NULL)"
VERSION: Final = "(SELECT value FROM about WHERE name = 'shared')"
_PART: Final = f"SELECT {VERSION}, (SELECT id FROM part WHERE key = ?)"
_NEW_PART: Final = (
    "INSERT INTO part (key, tenant, generation, cold) VALUES (?, ?, ?, ?) RETURNING id"
)
_WRITTEN: Final = (
    "UPDATE part SET generation = max(generation + 1, ?), quarantine = quarantine + ?,"
    " long_term = long_term + ?, working = working + ?, waiting = waiting + ?, words = words + ?,"
    " newest = max(newest, ?) WHERE id = ? RETURNING generation,"
    " quarantine + long_term + working, packed"
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
_SPACE: Final = COLUMNS[4:].index("space")
"""The place of the space among what `SqliteRows.values` returns."""
_REPLACED: Final = tuple(one for one in COLUMNS[4:] if one != "space")
_REPLACE: Final = (
    f"UPDATE record SET id = ?, {', '.join(f'{one} = ?' for one in _REPLACED)} WHERE seq = ?"
)
_SOURCE: Final = "INSERT OR IGNORE INTO source (name, seq) VALUES (?, ?)"
_NO_SOURCE: Final = "DELETE FROM source WHERE name = ? AND seq = ?"
_NEW_PROVENANCE: Final = "INSERT INTO provenance (body) VALUES (?) RETURNING id"
_UNUSED: Final = (
    "DELETE FROM provenance WHERE body = ? AND NOT EXISTS"
    " (SELECT 1 FROM record WHERE record.provenance = provenance.id) RETURNING id"
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

"""Searches of long-term memory in segments that this process holds of groups.

A segment is as good as its generation: each search asks for that of the group, and in the same
round trip for what has changed since. Roles without a right to the group get neither, so that
they see nothing in the segment. The server searches for itself (see `transaction`) where the
group is too large for a segment, several groups are searched at once, the transaction has changed
memories itself, or NumPy is missing.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final

from memoryware.tiers.model import Memory
from memoryware.tiers.stores._columns import has_numpy, numpy, packed_words
from memoryware.tiers.stores._segment import Segment, Segments, is_known
from memoryware.tiers.stores._sql.dialect import (
    SPACES_READ,
    Row,
    group_key,
    searched_number,
    space_rows,
    unflat,
)
from memoryware.tiers.stores.codec import copy_of, packed
from memoryware.tiers.stores.postgres._address import owner_of
from memoryware.tiers.stores.postgres._connection import Statement
from memoryware.tiers.stores.postgres._dialect import PostgresDialect
from memoryware.tiers.stores.postgres._transaction import PLANNED, PostgresTransaction
from memoryware.tiers.stores.protocol import Query, SearchView, Select
from memoryware.tiers.text.terms import index_terms

_DIALECT: Final = PostgresDialect()
_LARGEST: Final = 20_000
"""Memories of a group that has a segment: of more, vectors would be kept less exactly, and each
search would ask the server for those of its best."""
_RECORDS: Final = 4096
"""Decoded memories of a group that are kept."""
_WHOLE: Final = 200
"""Memories of a group that are read whole at once; of a larger one only what is shown is."""
_TRIES: Final = 5
"""How often a search looks at a group that others change meanwhile, before the server does it."""
_COLUMNS: Final = (
    "SELECT record.seq, record.created, record.valid_from, record.valid_to, record.agent_id,"
    " record.session_id, record.document, record.revocation IS NOT NULL AS revoked,"
    " word_index.words, {vectors}.halfvec_send(vector.data) AS data,"
    " CASE WHEN log.is_followed OR here.memories <= $6 THEN record.body END AS body,"
    " CASE WHEN log.is_followed OR here.memories <= $6 OR word_index.words IS NULL"
    f" THEN record.content END AS content, {_DIALECT.speaker_columns}"
    " FROM record LEFT JOIN word_index ON word_index.seq = record.seq"
    " AND word_index.owner = record.owner"
    " LEFT JOIN vector ON vector.space = here.space AND vector.seq = record.seq"
    " AND vector.owner = record.owner"
    " WHERE here.cold <> $3 AND record.tier = 'long_term' AND record.part = $1"
    " AND record.owner = $2"
)
_FOLLOW: Final = f"""
SELECT here.cold, here.memories, here.space, log.is_followed, log.touched, row.*
FROM (
  SELECT part.key, part.owner, part.cold, part.memories,
    (SELECT id FROM space WHERE current) AS space
  FROM part WHERE part.key = hashtextextended($1, 0) AND part.owner = $2
) AS here
LEFT JOIN LATERAL (
  SELECT coalesce(bool_or(change.cold = $3)
      AND bool_and(change.cold = $3 OR change.numbers IS NOT NULL), false) AS is_followed,
    (SELECT array_agg(DISTINCT number) FROM change AS later, unnest(later.numbers) AS number
      WHERE later.key = here.key AND later.owner = here.owner AND later.cold > $3
      AND number <= $4) AS touched
  FROM change WHERE here.cold <> $3 AND change.key = here.key AND change.owner = here.owner
    AND change.cold >= $3
) AS log ON here.cold <> $3
LEFT JOIN LATERAL (
  {_COLUMNS} AND here.memories <= $5
    AND record.seq > CASE WHEN log.is_followed THEN $4 ELSE 0 END
  UNION ALL
  {_COLUMNS} AND log.is_followed AND record.seq = ANY(log.touched) AND record.seq <= $4
) AS row ON true
"""
"""The state of a group, and the memories that a segment of generation `$3`, whose newest number is
`$4`, does not have or has otherwise; all of them if it cannot be followed."""
_MISSING: Final = (
    "SELECT seq, body, content, (SELECT cold FROM part"
    " WHERE part.key = hashtextextended(?, 0) AND part.owner = ?) FROM record"
    " WHERE seq = ANY(?::bigint[]) AND owner = ? AND tier = 'long_term' AND part = ?"
)


class GroupSegments:
    """The segments of one process; threads and event loops share them.

    Attributes:
        most: Memories that all of them hold together at most.
        lock: Held by whoever reads or changes a segment; nobody waits for the server meanwhile.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._begin()

    def _begin(self) -> None:
        self.lock, self._process = threading.Lock(), os.getpid()
        self._segments = Segments(self.most)

    def of_process(self) -> Segments:
        """Return the segments; the child of a fork begins anew, as a thread may hold the lock."""
        if self._process != os.getpid():
            self._begin()
        return self._segments


@dataclass(frozen=True, slots=True)
class _SearchedSegment:
    """What was searched last: the names of the group, its segment, and the generation of that."""

    part: str
    segment: Segment
    generation: int


class PostgresSearchTransaction(PostgresTransaction):
    """A transaction that can search in segments as well."""

    segments: GroupSegments
    _searched: _SearchedSegment | None = None
    _misses = 0
    """How often others had changed the group before the memories were read."""
    _moment: tuple[Any, Sequence[Row], Sequence[Row] | None] | None = None
    """The group that was asked for last, its state, and the spaces: the same to the end of a
    transaction that sees one moment, or is alone with the group."""

    _announced: tuple[Any, int, Statement] | None = None
    """The group that was asked for ahead, the generation of its segment, and the statement."""

    async def read_ahead(
        self, search: Select, reads: Sequence[tuple[str, tuple[str, list[Any]]]]
    ) -> None:
        await super().read_ahead(search, reads)
        most = min(self.segments.most, _LARGEST)
        if len(search.groups or ()) == 1 and most and has_numpy():
            part = str(_DIALECT.key(group_key(search.tenant, (search.groups or ())[0])))
            base, commands = self._question(part, search.tenant, most)
            _, statement, _ = [self._pipeline.expect(sql, values) for sql, values in commands]
            self._announced = (search.tenant, part), base, statement

    def _question(
        self, part: str, tenant: str | None, most: int
    ) -> tuple[int, list[tuple[str, list[Any]]]]:
        """Return the generation of a segment, and the statements that ask for later changes."""
        segments = self.segments.of_process()
        with self.segments.lock:
            segment = segments.get((tenant, part))
            base, last = (segment.generation, segment.last) if segment else (-1, 0)
        values = [part, owner_of(tenant), base, last, most, _WHOLE]
        commands: list[tuple[str, list[Any]]] = [
            (PLANNED, ["force_generic_plan"]),  # planning it takes several times as long
            (_FOLLOW.replace("{vectors}", self._vectors), values),
            (PLANNED, [self._plans]),
        ]
        return base, commands

    async def search_view(
        self, query: Query, selection: Select
    ) -> tuple[SearchView, Sequence[int]] | None:
        self._searched = None
        groups, most = selection.groups or (), min(self.segments.most, _LARGEST)
        is_fit = len(groups) == 1 and is_known(selection) and not self._has_new_memories
        if not is_fit or not most or self._misses >= _TRIES or not has_numpy():
            await self._leave_to_the_server()
            return None
        part = str(_DIALECT.key(group_key(selection.tenant, groups[0])))
        data = None
        if query.vector is not None and query.space is not None:
            data = packed(query.vector, query.space)
        for _ in range(_TRIES):
            searched = await self._search_segment(part, query, selection, data, most)
            if searched is not None:
                return searched
        await self._leave_to_the_server()
        return None

    async def _leave_to_the_server(self) -> None:
        await self.settle()
        self._plan("force_custom_plan")

    async def _search_segment(
        self, part: str, query: Query, selection: Select, data: bytes | None, most: int
    ) -> tuple[SearchView, Sequence[int]] | None:
        """Return what is seen; None if the group changed meanwhile, or has no segment."""
        segments, key = self.segments.of_process(), (selection.tenant, part)
        base, rows, spaces = await self._state(key, most, with_spaces=data is not None)
        if not rows:
            return SearchView((), (0,) * len(query.words), 0, 0.0), ()
        space = searched_number(query, space_rows(spaces or ()))
        cold, memories, current = rows[0][:3]
        if memories > most:
            self._misses = _TRIES
            return None
        keyed = _keyed(selection)
        with self.segments.lock:
            before = segments.get(key)
            size = -1 if before is None else len(before)
            segment = self._followed(before, base, cold, current or 0, rows)
            if segment is None:
                segments.drop(key)
                self._moment = None
                return None
            if segment is not before or len(segment) != size:  # which counts all segments
                segments.put(key, segment)
            if space and space != segment.space:
                space = 0  # nothing is embedded in it yet
            self._searched = _SearchedSegment(part, segment, cold)
            return segment.search(query, keyed, data if space else None, _not_measured)

    async def _state(
        self, key: tuple[str | None, str], most: int, *, with_spaces: bool
    ) -> tuple[int, Sequence[Row], Sequence[Row] | None]:
        """Return the generation of a segment, what was answered about it, and the spaces."""
        tenant, part = key
        announced, self._announced = self._announced, None
        if self._moment is not None and self._moment[0] == key and not announced:
            _, rows, spaces = self._moment
            if spaces is not None or not with_spaces:
                return rows[0][0], rows, spaces
        if announced is not None and announced[0] == key and not with_spaces:
            _, base, statement = announced
            rows, spaces = await self._pipeline.expected(statement), None
        else:
            base, commands = self._question(part, tenant, most)
            commands += [(SPACES_READ, [])] if with_spaces else []
            _, rows, _, *more = await self._pipeline.execute_all(commands)
            spaces = more[0] if more else None
        if self._late is None and rows:
            self._moment = key, rows[:1], spaces
        return base, rows, spaces

    def _followed(
        self, segment: Segment | None, base: int, cold: int, space: int, rows: Sequence[Row]
    ) -> Segment | None:
        """Return a segment as the group is now; None if it has to be read anew.

        Another thread may have gone on with the segment while the server was asked.
        """
        if segment is not None and segment.generation == cold and space == segment.space:
            return segment
        read = [row[5:] for row in rows if row[5] is not None]
        is_followed, touched = rows[0][3:5]
        if base == -1 or not is_followed:
            if base == cold:
                return None  # it was dropped meanwhile, or is of another space
            segment = Segment(cold, space)
            segment.extend(_segment_rows(sorted(read, key=itemgetter(0))))
            segment.records = _records_of(read)
            return segment
        if segment is None or segment.generation != base or space != segment.space:
            return None
        newer = sorted((row for row in read if row[0] > segment.last), key=itemgetter(0))
        older = [row for row in read if row[0] <= segment.last]
        changed = {row[0]: row for row in _segment_rows(older)}
        for number in touched or ():
            if number not in changed:
                segment.remove(number)
            elif not segment.update(changed[number]):
                return None
        segment.extend(_segment_rows(newer))
        if len(segment.records) > _RECORDS:
            segment.records.clear()
        segment.records |= _records_of(read)
        segment.generation = cold
        return None if segment.is_worn else segment

    async def drop(self, tier: str, numbers: Sequence[int]) -> None:
        await super().drop(tier, numbers)
        if tier == "long_term":
            segments = self.segments.of_process()
            with self.segments.lock:
                segments.forget(numbers)

    async def memories(
        self, selection: Select, numbers: Collection[int]
    ) -> dict[int, Memory] | None:
        if self._searched is None:
            return await super().memories(selection, numbers)
        searched, owner = self._searched, owner_of(selection.tenant)
        with self.segments.lock:
            memories = self._known(searched, numbers)
        missing = [number for number in numbers if number not in memories]
        if missing:
            rows = await self.execute(_MISSING, searched.part, owner, missing, owner, searched.part)
            if len(rows) < len(missing) or any(row[3] != searched.generation for row in rows):
                self._misses, self._moment = self._misses + 1, None
                return None  # somebody wrote since `search_view`, which looks anew
            read = {row[0]: _DIALECT.record("long_term", row[:3]) for row in rows}
            memories |= read
            with self.segments.lock:
                if searched.segment.generation == searched.generation:
                    if len(searched.segment.records) > _RECORDS:
                        searched.segment.records.clear()
                    searched.segment.records |= read
        return {number: copy_of(memories[number]) for number in numbers}

    @staticmethod
    def _known(searched: _SearchedSegment, numbers: Collection[int]) -> dict[int, Memory]:
        if searched.segment.generation != searched.generation:
            return {}  # another thread has gone on; what it knows may be newer
        records = searched.segment.records
        return {number: records[number] for number in numbers if number in records}


def _segment_rows(rows: Sequence[Row]) -> list[Row]:
    """Return memories as a segment reads them."""
    converted: list[Row] = []
    attributions = _DIALECT.attributions(row[12:15] for row in rows)
    for row, attribution in zip(rows, attributions, strict=True):
        words = row[8]
        if words is None:
            words = packed_words(index_terms(unflat(row[11]), attribution.stated))
        converted.append((*row[:8], bytes(words), attribution.key, _little(row[9])))
    return converted


def _records_of(read: Sequence[Row]) -> dict[int, Memory]:
    """Return the memories of rows that were read whole."""
    whole = (row for row in read[:_WHOLE] if row[10] is not None)
    return {row[0]: _DIALECT.record("long_term", (row[0], row[10], row[11])) for row in whole}


def _little(sent: bytes | None) -> bytes | None:
    """Return a vector with the bytes of each number in the order of `packed`."""
    if sent is None:
        return None
    np = numpy()
    numbers: bytes = np.frombuffer(sent, ">u2", offset=4).astype("<u2").tobytes()
    return numbers


def _keyed(selection: Select) -> Select:
    """Return a selection with the names of agents and sessions as the database keeps them."""
    changes = {
        name: tuple(map(_DIALECT.key, names))
        for name in ("agents", "sessions")
        if (names := getattr(selection, name)) is not None
    }
    return selection.also(**changes) if changes else selection


def _not_measured(numbers: Sequence[int]) -> Mapping[int, float]:
    """Return no cosines: segments of this size have exact ones."""
    raise AssertionError(f"{len(numbers)} vectors of a small segment are not exact")

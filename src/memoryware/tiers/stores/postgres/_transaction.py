"""What is done inside a transaction of PostgreSQL, with its indexes of words and of vectors."""

from __future__ import annotations

import math
from collections.abc import Collection, Coroutine, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeVar

from memoryware.errors import StoreUnavailable
from memoryware.tiers.model import Memory, lineages
from memoryware.tiers.scoring import LENGTHS, SATURATION, rarity
from memoryware.tiers.stores._columns import packed_words
from memoryware.tiers.stores._sql.dialect import (
    CONVERTED_AT_ONCE,
    SPACES_READ,
    Condition,
    Corpus,
    Row,
    Scores,
    SpaceRow,
    flat,
    group_key,
    insertion,
    names_of,
    number_of,
    space_rows,
)
from memoryware.tiers.stores.postgres._address import Command, owner_of, plan_mode
from memoryware.tiers.stores.postgres._connection import HalfVector, Pipeline, Statement
from memoryware.tiers.stores.postgres._dialect import PostgresDialect, counted_tokens, token_of
from memoryware.tiers.stores.postgres._schema import INDEXED, OpenedDatabase, vector_index
from memoryware.tiers.stores.protocol import Query, SearchView, Select, Space, Vector
from memoryware.tiers.text.terms import named_text_of, terms_of

T = TypeVar("T")
_DIALECT: Final = PostgresDialect()
_OFTEN_OF: Final = (
    "word.often[(array_position(word.tokens, {}) - 1) % cardinality(word.often) + 1]::float8"
)
_SCORE: Final = (
    "coalesce(?::float8 * found.often_{0} * ?::float8 / (found.often_{0} + found.norm), 0)"
)
"""What one word adds to a score, with the same steps in the same order as `scoring.bm25`."""
_SCORES: Final = (
    "(SELECT coalesce(sum(of_word.rarity * of_word.often * ?::float8"
    " / (of_word.often + found.norm)), 0)"
    f" FROM (SELECT asked.rarity, {_OFTEN_OF.format('asked.token').replace('word.', 'found.')}"
    " AS often FROM unnest(?::bigint[], ?::float8[]) AS asked (token, rarity) OFFSET 0"
    ") AS of_word WHERE of_word.often IS NOT NULL)"
)
"""The same of any number of words."""
_NORM: Final = "?::float8 * (1 - ?::float8 + ?::float8 * record.size / ?::float8) AS norm"
READ: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_ADDED: Final = (
    "WITH new AS ({} RETURNING seq, owner), sources AS (INSERT INTO source (seq, owner, name)"
    " SELECT seq, owner, unnest(?::text[]) FROM new) INSERT INTO root (seq, owner, name)"
    " SELECT seq, owner, unnest(?::text[]) FROM new"
)
"""Adds an entry with its lineage."""
_NUMBERS: Final = "SELECT nextval('record_seq') FROM generate_series(1, ?::integer)"
RESERVE: Final = (_NUMBERS, [4])
"""Reserves numbers for the records that most transactions add, with their first statement."""
_TOGETHER: Final = 20
"""Records that one statement adds where there are many."""
PLANNED: Final = "SELECT pg_catalog.set_config('plan_cache_mode', ?, true)"
"""Sets whether the server keeps plans; see `plan_mode`."""
_WORDS: Final = 24
"""Words that a statement names one by one, which is quicker."""
_PUT: Final = (
    "INSERT INTO vector (space, seq, owner, data)"
    " SELECT ?::integer, seq, owner, ?::{vectors}.halfvec FROM record WHERE seq = ?"
    " ON CONFLICT (space, seq, owner) DO UPDATE SET data = excluded.data"
)


_MINE: Final = " AND owner = current_setting('memoryware.owner')"
"""Says in which part of a table to look; those who search by words do so for one tenant."""
_LOOKED_UP: Final = (
    "(SELECT * FROM word_index WHERE tokens && ?::bigint[] AND NOT tokens && ?::bigint[]{mine})"
)
_GUARDED: Final = "looked_up(?::bigint[], ?::bigint[])"
_HAVING: Final = "(SELECT 1 FROM word_index WHERE tokens @> ARRAY[asked.token]{mine})"
_GUARDED_HAVING: Final = "looked_up(ARRAY[asked.token], '{}')"
_SAME: Final = "{0}.seq = {1}.seq AND {0}.owner = {1}.owner"
"""Joins rows of one record; by both, so that a part in which one cannot be is left out."""


class PostgresTransaction:
    """A transaction over one connection, which waits in the one or the other way.

    Statements that return no rows are queued; see `Pipeline`.
    """

    dialect = _DIALECT

    def __init__(
        self,
        pipeline: Pipeline,
        database: OpenedDatabase,
        plans: str,
        reserved: Statement | None = None,
        late: Sequence[Command] | None = None,
    ) -> None:
        self._usual_plans = self._plans = plans
        self._pipeline, self._limits = pipeline, database.address.limits
        self._database, self._reserved, self._late = database, reserved, late
        self._has_new_memories = False
        self._spaces: Sequence[SpaceRow] | None = None
        """The embedding spaces as they were read last."""
        self._ahead: dict[tuple[str, str], tuple[str, Statement]] = {}
        self._spaces_key = database.address.key("spaces")
        self._vectors, self._apart = database.vectors, f"OPERATOR({database.vectors}.<=>)"
        mine = _MINE if database.partitioned else ""
        self._looked_up = _GUARDED if database.guarded else _LOOKED_UP.format(mine=mine)
        self._having = _GUARDED_HAVING if database.guarded else _HAVING.format(mine=mine)

    async def read_ahead(
        self,
        search: Select,  # noqa: ARG002 - for those who search in segments
        reads: Sequence[tuple[str, tuple[str, list[Any]]]],
    ) -> None:
        for tier, (sql, values) in reads:
            self._ahead[sql, repr(values)] = tier, self._pipeline.expect(sql, values)

    def _will_write(self, tier: str) -> None:
        """Forget what was read ahead of a tier that changes now."""
        self._has_new_memories = self._has_new_memories or tier == "long_term"
        for read, (of_tier, _) in [*self._ahead.items()]:
            if of_tier == tier:
                del self._ahead[read]

    async def execute(self, sql: str, *values: object) -> Sequence[Row]:
        if self._ahead:
            _, ahead = self._ahead.pop((sql, repr([*values])), (None, None))
            if ahead is not None:
                return await self._pipeline.expected(ahead)
        return await self._pipeline.execute(sql, values)

    async def many(self, sql: str, rows: Sequence[Sequence[object]]) -> None:
        for values in rows:
            await self._pipeline.execute(sql, values)

    async def settle(self) -> None:
        if self._late is not None:
            self._pipeline.begin(READ, self._late)
            self._late, self._plans = None, self._usual_plans

    def _plan(self, mode: str) -> None:
        """Let the server keep the plans of the statements that follow, or not; see `plan_mode`."""
        # Without a transaction each round trip begins with the settings.
        if mode != (self._plans if self._late is None else self._usual_plans):
            self._pipeline.expect(PLANNED, [mode])
        self._plans = mode

    async def find_whole(self, requests: Sequence[tuple[str, Select]]) -> list[Sequence[Any]]:
        # Planning it takes longer than to look up ids or hashes.
        is_narrow = all(plan_mode(selection, writes=False) == "auto" for _, selection in requests)
        self._plan("auto" if is_narrow else self._usual_plans)
        reads = []
        for tier, selection in requests:
            (where, values), number = (
                _DIALECT.condition(tier, selection),
                _DIALECT.order_column(selection),
            )
            sql = f"SELECT seq, {_DIALECT.read} FROM record WHERE {where} ORDER BY {number} DESC"
            reads.append(self.execute(sql, *values))
        return await self.gather(reads)

    async def read_part(
        self,
        tier: str,  # noqa: ARG002
        selection: Select,  # noqa: ARG002
        sql: str,
        *values: object,
    ) -> Sequence[Row]:
        return await self.execute(sql, *values)

    async def count(self, tier: str, selection: Select | None) -> int:
        where, values = _DIALECT.in_tier(tier), list[Any]()
        if selection is not None:
            where, values = _DIALECT.condition(tier, selection)
        ((count,),) = await self.execute(f"SELECT count(*) FROM record WHERE {where}", *values)
        return int(count)

    async def memories(
        self, selection: Select, numbers: Collection[int]
    ) -> dict[int, Memory] | None:
        if not numbers:
            return {}
        dialect = _DIALECT
        (where, values), (here, more) = (
            dialect.numbered("seq", numbers),
            dialect.where(selection.tenant),
        )
        read = await self.execute(
            f"SELECT seq, {dialect.read} FROM record WHERE {where}{here}", *values, *more
        )
        return {row[0]: dialect.record("long_term", row) for row in read}

    async def insert(
        self, tier: str, records: Sequence[Any], spaces: Mapping[int, int]
    ) -> list[int]:
        self._will_write(tier)
        if tier == "long_term" or len(records) != 1:
            return await self._insert_many(tier, records, spaces)
        # An entry needs no number before it is there, so that nothing is waited for.
        (entry,) = records
        linked = lineages(entry)
        sources = dict.fromkeys(
            _DIALECT.key(name) for provenance in linked for name in provenance.sources
        )
        roots = dict.fromkeys(
            _DIALECT.key(str(root)) for provenance in linked for root in provenance.roots
        )
        await self._pipeline.queue(
            _ADDED.format(insertion(_DIALECT.columns)),
            [*_DIALECT.row_of(tier, entry, 0), [*sources], [*roots]],
        )
        return []

    async def _insert_many(
        self, tier: str, records: Sequence[Any], spaces: Mapping[int, int]
    ) -> list[int]:
        numbers, is_memory = list[int](), tier == "long_term"
        texts: list[Sequence[str]] = [terms_of(record) if is_memory else () for record in records]
        for start in range(0, len(records), CONVERTED_AT_ONCE):
            some = records[start : start + CONVERTED_AT_ONCE]
            rows = [
                (
                    spaces.get(position, 0) if is_memory else None,
                    *_DIALECT.row_of(tier, record, len(texts[position])),
                )
                for position, record in enumerate(some, start)
            ]
            new = await self._store_records(("space", *_DIALECT.columns), rows)
            await self._store_lineages(list(zip(new, some, strict=True)))
            numbers += new
        if is_memory and records:
            names = (names_of(record.scope) for record in records)
            await self.index(list(zip(numbers, names, texts, strict=True)))
        return numbers

    async def replace(self, tier: str, seq: int, old: Any, new: Any) -> None:
        self._will_write(tier)
        words = terms_of(new) if tier == "long_term" else []
        row = _DIALECT.row_of(tier, new, len(words))
        await self.execute(_replacement(_DIALECT.columns), *row, seq)
        if lineages(new) != lineages(old):
            for table in ("source", "root"):
                await self.execute(f"DELETE FROM {table} WHERE seq = ?", seq)
            await self._store_lineages([(seq, new)])
        if tier == "long_term" and new.content != old.content:
            # A vector of the old text must not find the new one.
            await self.execute("DELETE FROM vector WHERE seq = ?", seq)
            await self.execute("UPDATE record SET space = 0 WHERE seq = ?", seq)
        if tier == "long_term" and named_text_of(new) != named_text_of(old):
            await self.unindex([seq])
            await self.index([(seq, names_of(new.scope), words)])

    async def drop(self, tier: str, numbers: Sequence[int]) -> None:
        self._will_write(tier)
        if numbers and tier == "long_term":
            await self.unindex(numbers)
        if numbers:
            where, values = _DIALECT.numbered("seq", numbers)
            await self.execute(f"DELETE FROM record WHERE {where}", *values)

    def rows_read(self, tier: str, selection: Select) -> Sequence[Any] | None:  # noqa: ARG002
        return None  # others may have changed what was read without being locked

    async def drop_selected(self, tier: str, selection: Select) -> int:
        where, values = _DIALECT.condition(tier, selection)
        rows = await self.execute(
            f"SELECT seq FROM record WHERE {where} ORDER BY seq DESC{_DIALECT.lock_clause}", *values
        )
        await self.drop(tier, [row[0] for row in rows])
        return len(rows)

    async def drop_found(self, tier: str, numbers: str, *values: object) -> None:
        if tier == "long_term":
            await self.drop(tier, [row[0] for row in await self.execute(numbers, *values)])
        else:
            await self.execute(f"DELETE FROM record WHERE seq IN ({numbers})", *values)

    async def add_vectors(self, space: int, vectors: Sequence[tuple[int, bytes]]) -> None:
        self._will_write("long_term")
        if vectors:
            await self.put_vectors(space, vectors)
            where, values = _DIALECT.numbered("seq", [seq for seq, _ in vectors])
            await self.execute(f"UPDATE record SET space = ? WHERE {where}", space, *values)

    async def generation(self, tenant: str | None, group: str | None) -> int | None:
        """Return a number that every change of a group raises; 0 before the first one."""
        rows = await self.execute(
            "SELECT generation FROM part WHERE key = hashtextextended(?, 0) AND owner = ?",
            _DIALECT.key(group_key(tenant, group)), owner_of(tenant),
        )  # fmt: skip
        return rows[0][0] if rows else 0

    async def gather(self, works: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
        """Run reads of this transaction side by side; see `Pipeline.gather`."""
        return await self._pipeline.gather(works)

    async def _store_records(
        self, columns: Sequence[str], rows: Sequence[Sequence[object]]
    ) -> list[int]:
        # Numbers first: rows that return theirs would have to be waited for.
        numbers = await self._numbers(len(rows))
        numbered = [(seq, *row) for seq, row in zip(numbers, rows, strict=True)]
        if len(numbered) < _TOGETHER:
            await self.many(insertion(("seq", *columns)), numbered)
            return numbers
        # A trigger notes each statement in the generation of the group.
        for start in range(0, len(numbered), _TOGETHER):
            some = numbered[start : start + _TOGETHER]
            sql = insertion(("seq", *columns)) + f", ({', '.join('?' * len(numbered[0]))})" * (
                len(some) - 1
            )
            await self._pipeline.execute(sql, [value for row in some for value in row])
        return numbers

    async def _store_lineages(self, linked: Sequence[tuple[int, Any]]) -> None:
        numbered = [(seq, lineage) for seq, record in linked for lineage in lineages(record)]
        sources = [(seq, name) for seq, provenance in numbered for name in provenance.sources]
        roots = [(seq, str(root)) for seq, provenance in numbered for root in provenance.roots]
        for table, names in (("source", sources), ("root", roots)):
            if names:
                links = [(seq, _DIALECT.key(name)) for seq, name in dict.fromkeys(names)]
                await self.many(f"INSERT INTO {table} (seq, name) VALUES (?, ?)", links)

    async def alone(self) -> None:
        await self.execute("SELECT pg_advisory_xact_lock(?::bigint)", self._spaces_key)

    async def _numbers(self, count: int) -> list[int]:
        """Return numbers for new records; they are taken while others wait for the group."""
        if self._reserved is not None and not self._reserved.is_answered:
            await self._pipeline.flush()
        reserved = [] if self._reserved is None else [row[0] for row in self._reserved.rows]
        if self._reserved is not None and len(reserved) >= count:
            self._reserved.rows = self._reserved.rows[count:]
            return reserved[:count]
        rows = await self.execute(_NUMBERS, count)
        return [row[0] for row in rows]

    async def index(self, texts: Sequence[tuple[int, Sequence[str], Sequence[str]]]) -> None:
        rows = []
        for seq, names, words in texts:
            rows.append((seq, *counted_tokens(names, words), packed_words(words)))
        await self.many(
            "INSERT INTO word_index (seq, tokens, often, words)"
            " VALUES (?, ?::bigint[], ?::smallint[], ?)",
            rows,
        )

    async def unindex(self, numbers: Sequence[int]) -> None:
        await self.execute("DELETE FROM word_index WHERE seq = ANY(?::bigint[])", [*numbers])

    async def having(self, names: Sequence[str], words: Sequence[str]) -> dict[str, int]:
        tokens_asked = [
            (position, token_of(name, word))
            for position, word in enumerate(words)
            for name in names
        ]
        positions, tokens = [word[0] for word in tokens_asked], [word[1] for word in tokens_asked]
        rows = await self.execute(
            f"SELECT asked.place, (SELECT count(*) FROM {self._having} AS word)"
            " FROM unnest(?::integer[], ?::bigint[]) AS asked (place, token)",
            positions, tokens,
        )  # fmt: skip
        counts = dict.fromkeys(words, 0)
        for position, count in rows:
            counts[words[position]] += count
        return counts

    async def best_by_words(
        self,
        corpus: Corpus,
        words: Sequence[str],
        without: Sequence[str],
        selection: Condition,
        most: int,
    ) -> Scores:
        """Return the best of what has a word; the database makes the scores, so only they come."""
        names = corpus.names
        weighted = [
            (token_of(name, word), rarity(texts, corpus.count))
            for word, texts in corpus.having.items()
            for name in names
            if texts and word not in without
        ]
        score, scored, columns, named = _scoring(weighted)
        tokens = [token_of(name, word) for word in words for name in names]
        unwanted = [token_of(name, word) for word in without for name in names]
        where, values = selection
        rows = await self.execute(
            f"SELECT found.seq, {score} AS score FROM (SELECT word.seq, {_NORM}, {columns}"
            f" FROM {self._looked_up} AS word"
            f" JOIN record ON {_SAME.format('record', 'word')} WHERE {where} OFFSET 0"
            ") AS found ORDER BY score DESC FETCH FIRST (?::bigint) ROWS WITH TIES",
            *scored, SATURATION, LENGTHS, LENGTHS, corpus.mean, *named,
            tokens, unwanted, *values, most,
        )  # fmt: skip
        return [(seq, score) for seq, score in rows]

    async def search_view(
        self,
        query: Query,  # noqa: ARG002 - its index is on the server
        selection: Select,  # noqa: ARG002
    ) -> tuple[SearchView, Sequence[int]] | None:
        return None

    async def word_counts(
        self, names: Sequence[str], words: Sequence[str], numbers: Sequence[int]
    ) -> Mapping[int, tuple[int, ...]]:
        counts = {number: [0] * len(words) for number in numbers}
        tokens = [
            (position, token_of(name, word))
            for position, word in enumerate(words)
            for name in names
        ]
        for first in range(0, len(tokens), _WORDS):
            some = tokens[first : first + _WORDS]
            columns = ", ".join(f"({_OFTEN_OF.format('?::bigint')})::integer" for _ in some)
            rows = await self.execute(
                f"SELECT word.seq, {columns} FROM word_index AS word"
                f" WHERE word.seq = ANY(?::bigint[]){_MINE}",
                *(token for _, token in some), [*numbers],
            )  # fmt: skip
            for number, *often in rows:
                for (position, _), count in zip(some, often, strict=True):
                    counts[number][position] += count or 0
        return {number: tuple(often) for number, often in counts.items()}

    async def put_vectors(self, space: int, vectors: Sequence[tuple[int, bytes]]) -> None:
        await self.many(
            _PUT.format(vectors=self._vectors),
            [(space, HalfVector(data), seq) for seq, data in vectors],
        )

    async def vectors(self, space: int, numbers: Sequence[int]) -> dict[int, Vector]:
        rows = await self.execute(
            "SELECT seq, data::real[] FROM vector WHERE space = ? AND seq = ANY(?::bigint[])",
            space, [*numbers],
        )  # fmt: skip
        return {row[0]: row[1] for row in rows}

    async def nearest(self, space: int, query: bytes, selection: Condition, most: int) -> Scores:
        where, values = selection
        few = self._limits.exact_vectors
        # Both at once: where too many fit, the second one returns nothing, and looks at nothing.
        is_few = f"(SELECT count(*) FROM (SELECT 1 FROM record WHERE {where} LIMIT ?) AS fitting)"
        is_exact, bounded = f"{is_few} <= ?", [*values, few + 1, few]
        if len(query) // 2 > INDEXED:
            is_exact, bounded = "true", []
        exact = (
            "SELECT found.seq, 1 - found.distance FROM (SELECT record.seq,"
            f" coalesce(nullif(vector.data {self._apart} ?::{self._vectors}.halfvec, 'NaN'), 1)"
            " AS distance"
            f" FROM record JOIN vector ON {_SAME.format('vector', 'record')}"
            f" WHERE vector.space = ? AND {where} AND {{}}) AS found"
            " ORDER BY found.distance FETCH FIRST (?::bigint) ROWS WITH TIES"
        )
        bound = [HalfVector(query), space, *values]
        rows, ((is_complete,),) = await self._pipeline.execute_all(
            [
                (exact.format(is_exact), [*bound, *bounded, most]),
                (f"SELECT {is_exact}", bounded),
            ]
        )
        if not is_complete:
            by_index = await self._by_index(space, query, selection, most)
            if len(by_index) >= most:
                return by_index
            rows = await self.execute(exact.format("true"), *bound, most)
        return [(seq, value) for seq, value in rows]

    async def cosines(
        self, space: int, query: bytes, numbers: Sequence[int]
    ) -> Mapping[int, float]:
        rows = await self.execute(
            f"SELECT seq, 1 - (data {self._apart} ?::{self._vectors}.halfvec)"
            f" FROM vector WHERE space = ? AND seq = ANY(?::bigint[]){_MINE}",
            HalfVector(query), space, [*numbers],
        )  # fmt: skip
        return {seq: 0.0 if math.isnan(value) else value for seq, value in rows}

    async def _by_index(self, space: int, query: bytes, selection: Condition, most: int) -> Scores:
        """Return about the nearest by the index, which goes on until there are enough that fit."""
        where, values = selection
        kind = f"{self._vectors}.halfvec({len(query) // 2})"
        breadth = min(1000, max(self._limits.index_breadth, most))
        for setting in (
            "hnsw.iterative_scan = strict_order",
            "enable_sort = off",
            f"hnsw.ef_search = {breadth}",
        ):
            await self.execute(f"SET LOCAL {setting}")
        rows = await self.execute(
            f"SELECT record.seq, 1 - (vector.data::{kind} {self._apart} ?::{kind})"
            f" FROM vector JOIN record ON {_SAME.format('record', 'vector')}"
            f" WHERE vector.space = {space:d} AND {where}"
            f" ORDER BY vector.data::{kind} {self._apart} ?::{kind} LIMIT ?",
            HalfVector(query), *values, HalfVector(query), most,
        )  # fmt: skip
        await self.execute("SET LOCAL enable_sort = on")
        return [(seq, value) for seq, value in rows]

    # Embedding spaces.

    async def known_spaces(self) -> Sequence[SpaceRow]:
        self._spaces = space_rows(await self.execute(SPACES_READ))
        return self._spaces

    async def number_of_space(self, space: Space) -> int | None:
        rows = self._spaces
        if rows is None or all(row.space.name != space.name for row in rows):
            rows = await self.known_spaces()  # it may have been made meanwhile
        return number_of(space, rows)

    async def unembedded(self, space: Space, limit: int) -> Sequence[Any]:
        rows = await self.execute("SELECT name, id FROM space")
        numbers: dict[str | None, int] = {row[0]: row[1] for row in rows}
        number = numbers.pop(flat(space.name), 0)
        # As values, so that the database knows how few there are and does not compare all vectors.
        among, spaces = _DIALECT.numbered("space", [0, *numbers.values()])
        return await self.execute(
            f"SELECT seq, {_DIALECT.read} FROM record WHERE seq IN (SELECT seq FROM record"
            f" WHERE {among}"
            f" AND NOT EXISTS (SELECT 1 FROM vector WHERE space = ? AND seq = record.seq)"
            " ORDER BY seq LIMIT ?) ORDER BY seq",
            *spaces, number, limit,
        )  # fmt: skip

    async def prepare_space(self, space: int, dimension: int) -> None:
        """Make the index of a new space; whoever does not own the tables leaves it to the owner."""
        index = vector_index(space, dimension, self._vectors)
        if index is None:
            return
        await self.execute("SAVEPOINT space")
        await self._pipeline.flush()  # what fails after this is the index
        try:
            await self.execute(index)
            await self._pipeline.flush()
        except StoreUnavailable:
            await self.execute("ROLLBACK TO SAVEPOINT space")

    async def adopted(self) -> None:
        self._spaces = None

    async def drop_other_spaces(self, space: int) -> None:
        self._spaces = None
        # The spaces first: that waits for those who are storing a vector in one.
        await self.execute("DELETE FROM space WHERE id != ?", space)
        await self.execute("UPDATE record SET space = 0 WHERE space != ?", space)

    async def counted_spaces(self) -> Sequence[Sequence[Any]]:
        return await self.execute(
            "SELECT name, dimension, (SELECT count(*) FROM vector WHERE vector.space = space.id)"
            " FROM space ORDER BY current DESC, id"
        )


def _scoring(weighted: Sequence[tuple[int, float]]) -> tuple[str, list[Any], str, list[Any]]:
    """Return what makes the score and its values, and the columns that it is made of."""
    if len(weighted) > _WORDS:
        tokens, rarities = [token[0] for token in weighted], [token[1] for token in weighted]
        return _SCORES, [SATURATION + 1, tokens, rarities], "word.tokens, word.often", []
    score = " + ".join(_SCORE.format(position) for position in range(len(weighted)))
    columns = ", ".join(
        f"{_OFTEN_OF.format('?::bigint')} AS often_{position}" for position in range(len(weighted))
    )
    scored = [part for _, token in weighted for part in (token, SATURATION + 1)]
    return score, scored, columns, [token for token, _ in weighted]


@cache
def _replacement(columns: Sequence[str]) -> str:
    return f"UPDATE record SET {', '.join(f'{column} = ?' for column in columns)} WHERE seq = ?"

"""Records in tables whose rows have every column of `sql.rows.COLUMNS`, and a JSON body."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any, Final

from memoryware.tiers.records import Memory, lineages
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.stores.sql import rows as sql_rows
from memoryware.tiers.stores.sql.rows import Rows
from memoryware.tiers.text.terms import words_of

_AT_ONCE: Final = 120
"""Records that are converted before they are stored; of more, the rows would take much memory,
and Python's garbage collector would look through all of them again and again."""


class WideRecords:
    """The row-level half of a transaction, for an engine with such tables and an index of words.

    Whoever inherits it offers the other methods of `port.Transaction`.
    """

    rows: Rows

    async def insert(
        self, tier: str, records: Sequence[Any], spaces: Mapping[int, int]
    ) -> list[int]:
        tx: Any = self
        numbers, known = list[int](), tier == "long_term"
        texts: list[Sequence[str]] = [words_of(one.content) if known else () for one in records]
        for start in range(0, len(records), _AT_ONCE):
            some = records[start : start + _AT_ONCE]
            made = [
                (
                    spaces.get(place, 0) if known else None,
                    *self.rows.row_of(tier, one, len(texts[place])),
                )
                for place, one in enumerate(some, start)
            ]
            new = await tx.keep_records(("space", *self.rows.columns), made)
            await self._keep_lineages(list(zip(new, some, strict=True)))
            numbers += new
        if known and records:
            names = (sql_rows.names_of(one.scope) for one in records)
            await tx.index(list(zip(numbers, names, texts, strict=True)))
        return numbers

    async def replace(self, tier: str, seq: int, old: Any, new: Any) -> None:
        tx: Any = self
        words = words_of(new.content) if tier == "long_term" else []
        row = self.rows.row_of(tier, new, len(words))
        await tx.execute(_replacement(self.rows.columns), *row, seq)
        if lineages(new) != lineages(old):
            for table in ("source", "root"):
                await tx.execute(f"DELETE FROM {table} WHERE seq = ?", seq)
            await self._keep_lineages([(seq, new)])
        if tier == "long_term" and new.content != old.content:
            # A vector of the old text must not find the new one.
            await tx.execute("DELETE FROM vector WHERE seq = ?", seq)
            await tx.execute("UPDATE record SET space = 0 WHERE seq = ?", seq)
            await tx.unindex([seq])
            await tx.index([(seq, sql_rows.names_of(new.scope), words)])

    async def drop(self, tier: str, numbers: Sequence[int]) -> None:
        tx: Any = self
        if numbers and tier == "long_term":
            await tx.unindex(numbers)
        if numbers:
            where, values = self.rows.numbered("seq", numbers)
            await tx.execute(f"DELETE FROM record WHERE {where}", *values)

    async def drop_found(self, tier: str, numbers: str, *values: object) -> None:
        tx: Any = self
        if tier == "long_term":
            await self.drop(tier, [row[0] for row in await tx.execute(numbers, *values)])
        else:
            await tx.execute(f"DELETE FROM record WHERE seq IN ({numbers})", *values)

    async def add_vectors(self, space: int, vectors: Sequence[tuple[int, bytes]]) -> None:
        tx: Any = self
        if vectors:
            await tx.put_vectors(space, vectors)
            where, values = self.rows.numbered("seq", [seq for seq, _ in vectors])
            await tx.execute(f"UPDATE record SET space = ? WHERE {where}", space, *values)

    async def generation(self, tenant: str | None, group: str | None) -> int | None:  # noqa: ARG002
        return None

    async def settle(self) -> None:
        """It does from its beginning."""

    async def adopted(self) -> None:
        """Every search asks which space is the current one."""

    async def drop_other_spaces(self, space: int) -> None:
        tx: Any = self
        # The spaces first: that waits for those who are storing a vector in one.
        await tx.execute("DELETE FROM space WHERE id != ?", space)
        await tx.execute("UPDATE record SET space = 0 WHERE space != ?", space)

    async def counted_spaces(self) -> Sequence[Sequence[Any]]:
        tx: Any = self
        rows: Sequence[Sequence[Any]] = await tx.execute(
            "SELECT name, dimension, (SELECT count(*) FROM vector WHERE vector.space = space.id)"
            " FROM space ORDER BY current DESC, id"
        )
        return rows

    async def count(self, tier: str, which: Select | None) -> int:
        tx: Any = self
        where, values = self.rows.in_tier(tier), list[Any]()
        if which is not None:
            where, values = self.rows.condition(tier, which)
        ((count,),) = await tx.execute(f"SELECT count(*) FROM record WHERE {where}", *values)
        return int(count)

    async def memories(self, which: Select, numbers: Collection[int]) -> dict[int, Memory]:
        tx: Any = self
        if not numbers:
            return {}
        rows = self.rows
        (where, values), (here, more) = rows.numbered("seq", numbers), rows.where(which.tenant)
        found = await tx.execute(
            f"SELECT seq, {rows.read} FROM record WHERE {where}{here}", *values, *more
        )
        return {row[0]: rows.record("long_term", row) for row in found}

    async def _keep_lineages(self, linked: Sequence[tuple[int, Any]]) -> None:
        tx: Any = self
        made = [(seq, one) for seq, record in linked for one in lineages(record)]
        sources = [(seq, name) for seq, one in made for name in one.sources]
        roots = [(seq, str(root)) for seq, one in made for root in one.roots]
        for table, names in (("source", sources), ("root", roots)):
            if names:
                kept = [(seq, self.rows.key(name)) for seq, name in dict.fromkeys(names)]
                await tx.many(f"INSERT INTO {table} (seq, name) VALUES (?, ?)", kept)


@cache
def _replacement(columns: Sequence[str]) -> str:
    return f"UPDATE record SET {', '.join(f'{one} = ?' for one in columns)} WHERE seq = ?"

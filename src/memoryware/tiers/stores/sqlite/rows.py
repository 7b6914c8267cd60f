"""How SQLite writes records down and asks for them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from memoryware.tiers.stores.sql.rows import Condition, Rows, flat, unflat


class SqliteRows(Rows):
    """Lists go in as JSON, and a `+` keeps SQLite from taking an index.

    It likes to take one that spares sorting, even if that looks at all rows.
    """

    def loose(self, column: str) -> str:
        return f"+{column}"

    def unsorted(self) -> str:
        return "+record.seq"

    def any_of(self, column: str, texts: Sequence[str | None]) -> Condition:
        return f"{column} IN (SELECT value FROM json_each(?))", [json.dumps(texts)]

    def numbered(self, column: str, numbers: Iterable[int]) -> Condition:
        return f"{column} IN (SELECT value FROM json_each(?))", [json.dumps([*numbers])]

    def contains(self, folded: str) -> Condition:
        return "memoryware_has(record.content, ?)", [flat(folded)]


def has(content: str, folded: str) -> bool:
    """Say whether a kept content has a text, whatever its case; that is folded and flat."""
    return unflat(folded) in unflat(content).casefold()

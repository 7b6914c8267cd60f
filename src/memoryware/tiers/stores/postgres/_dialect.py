"""How PostgreSQL writes records down and asks for them."""

from __future__ import annotations

import hashlib
import json
import string
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

from memoryware._caching import clearable_cache
from memoryware.errors import SettingError
from memoryware.tiers.model import Entry, Memory
from memoryware.tiers.provenance import BEGINNING, Origin
from memoryware.tiers.stores._sql.dialect import (
    COLUMNS,
    STORED_BEGINNING,
    Condition,
    SqlDialect,
    flat,
)
from memoryware.tiers.stores.postgres._address import owner_of
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.stores.selecting import id_range

_LONGEST: Final = 200
"""Characters of a text that is compared; PostgreSQL cannot index rows of much more."""
_OFTEN: Final = 32767
"""The most that is counted of one word in one text."""
_LOWER: Final = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_SHORT: Final = "\x01\x02"
"""What a shortened text begins with; no text that `flat` returns does."""
_SPEAKER: Final = (
    "CASE WHEN strpos(record.body, '\"speaker\"') > 0"
    " THEN substr(record.body, strpos(record.body, '\"metadata\":')) END AS metadata,"
    " left(record.content, CASE WHEN left(record.content, 1) = chr(1)"
    f" THEN {STORED_BEGINNING} ELSE {BEGINNING} END) AS beginning,"
    " split_part(split_part(record.body, '\"origin\":', 2), '\"roots\":', 1) AS origin"
)


@clearable_cache(1024)
def _origin_in(text: str) -> Origin | None:
    try:
        return Origin.parse(json.loads(text.rstrip(", ")))
    except (SettingError, ValueError, AttributeError):  # damaged: reading it reports that
        return None


class PostgresDialect(SqlDialect):
    """The SQL of PostgreSQL: lists are arrays, and long texts in compared columns are shortened.

    Every statement has a condition on the owner of rows: a role that may write for one tenant only
    could have put the name of another tenant into a row of its own.
    """

    columns = (*COLUMNS, "folded")
    lock_clause = " FOR NO KEY UPDATE"
    owner = ", owner"
    speaker_columns = _SPEAKER
    origin_in = staticmethod(_origin_in)

    def key(self, text: str | None) -> str | None:
        flattened = flat(text)
        if flattened is None or len(flattened) <= _LONGEST:
            return flattened
        digest = hashlib.blake2b(flattened.encode(), digest_size=32).hexdigest()
        return f"{_SHORT}{digest}{flattened[: _LONGEST // 4]}"

    def text_of(self, stored: str) -> str | None:
        return None if stored.startswith(_SHORT) else super().text_of(stored)

    def unsorted(self) -> str:
        return "record.seq + 0"

    def any_of(self, column: str, texts: Sequence[str | None]) -> Condition:
        return f"{column} = ANY(?::text[])", [[*texts]]

    def numbered(self, column: str, numbers: Iterable[int]) -> Condition:
        return f"{column} = ANY(?::bigint[])", [[*numbers]]

    def contains(self, folded: str) -> Condition:
        in_folded = "position(?::bytea IN record.folded) > 0"
        raw = folded.encode("utf-8", "surrogatepass")
        if flat(folded) != folded:  # no text that PostgreSQL can hold has it
            return f"coalesce({in_folded}, false)", [raw]
        plain = 'strpos(lower(record.content COLLATE "C"), ?) > 0'
        return f"CASE WHEN record.folded IS NULL THEN {plain} ELSE {in_folded} END", [folded, raw]

    def begins_with(self, prefix: str) -> Condition:
        generated = "length(record.id) = 32 AND record.id !~ '[^0-9a-f]'"
        return f"record.id >= ? AND record.id <= ? AND {generated}", [*id_range(prefix)]

    def group_counts(self, tier: str) -> Condition:
        # Names that are too long for an index are whole in the record alone.
        first = "SELECT min(seq) AS seq, count(*) AS records FROM record WHERE tier = ?"
        columns = f"records, record.seq, {self.read}{self.owner}"
        groups = f"({first} GROUP BY part, owner) AS groups"
        return f"SELECT {columns} FROM record JOIN {groups} ON record.seq = groups.seq", [tier]

    def counted_group(self, tier: str, row: Sequence[Any]) -> tuple[str | None, str | None] | None:
        record = self.record(tier, row[1:])
        is_own = self.is_own(record, row[-1:])
        return (record.scope.tenant, record.scope.group_id) if is_own else None

    def where(self, tenant: str | None) -> Condition:
        return " AND record.owner = ?", [owner_of(tenant)]

    def is_own(self, record: Entry | Memory, owner: Sequence[Any]) -> bool:
        return [*owner] == [owner_of(record.scope.tenant)]

    def condition(self, tier: str, selection: Select) -> Condition:
        (fits, values), (here, more) = (
            super().condition(tier, selection),
            self.where(selection.tenant),
        )
        return f"{fits}{here}", [*values, *more]

    def _among(self, column: str, values: Sequence[str | None]) -> Condition:
        if column.endswith("superseded"):  # made by the database, not of `key`
            texts = [spelled(value) for value in values if value is not None]
            return self.any_of(column, texts)
        return super()._among(column, values)

    def _row(self, tier: str, record: Entry | Memory, words: int) -> dict[str, Any]:
        return super()._row(tier, record, words) | {"folded": _folded(record.content)}


def _folded(content: str) -> bytes | None:
    """Return the case-folded content; None if PostgreSQL can compute the same by itself."""
    folded = content.casefold()
    if flat(content) == content and folded == content.translate(_LOWER):
        return None
    return folded.encode("utf-8", "surrogatepass")


def spelled(document: str) -> str:
    """Return the id of a document as the column `superseded` has it: escaped as in JSON."""
    text = json.dumps(document)[1:-1]
    return (
        text
        if len(text) <= _LONGEST
        else hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
    )


def token_of(name: str, word: str) -> int:
    """Return the token of a word in a group."""
    text = f"{name} {word}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), signed=True)


def counted_tokens(names: Sequence[str], words: Sequence[str]) -> tuple[list[int], list[int]]:
    """Return the tokens of a text, first those of its first group, and how often each occurs."""
    word_counts = Counter(words)
    tokens = [token_of(name, word) for name in names for word in word_counts]
    return tokens, [min(count, _OFTEN) for count in word_counts.values()]

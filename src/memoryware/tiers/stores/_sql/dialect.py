"""What SQL databases share and where they differ: rows, conditions, embedding spaces, the port.

`SqlDialect` writes records as rows and selections as conditions. `Port` is what a database offers
to the operations beyond SQL.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final, NamedTuple, Protocol, TypeAlias, TypeVar

from memoryware.errors import EmbeddingMismatch, StoreUnavailable
from memoryware.scope import MemoryScope
from memoryware.tiers.model import Entry, Memory
from memoryware.tiers.provenance import BEGINNING, SPEAKER, Attribution, Origin, stated_speaker
from memoryware.tiers.stores.codec import entry_from_json, memory_from_json, record_to_text
from memoryware.tiers.stores.protocol import Query, SearchView, Select, Space, Vector

Condition: TypeAlias = tuple[str, list[Any]]
"""A condition in SQL, and its values."""
COLUMNS: Final = (
    "tier", "id", "part", "tenant", "group_id", "user_id", "agent_id", "session_id", "status",
    "hash", "document", "subject", "revocation", "once", "created", "expires", "valid_from",
    "valid_to", "size", "content", "body",
)  # fmt: skip
READ: Final = "record.body, record.content"
"""The columns of which `record_of` makes a record."""
ANY_OF: Final = {
    "ids": "id",
    "documents": "document",
    "superseded_by": "superseded",
    "revocations": "revocation",
    "sessions": "session_id",
    "hashes": "hash",
    "subjects": "subject",
    "statuses": "status",
    "users": "user_id",
    "agents": "agent_id",
}
"""The column of each condition that is a tuple of values; the most selective ones first."""
_OF_TENANT: Final = frozenset(
    {"document", "superseded", "revocation", "session_id", "subject", "user_id", "agent_id"}
)
"""Columns whose index begins with the tenant; that of others begins with the group."""
_COMPARED: Final = (
    "id", "part", "tenant", "group_id", "user_id", "agent_id", "session_id", "hash", "document",
    "subject", "revocation", "once",
)  # fmt: skip
"""Columns with texts of any length that are only compared."""
_KNOWN: Final = 4096
"""Tenants and groups of which the names are remembered."""
_ODD: Final = re.compile("[\x00\ud800-\udfff]|^\x01")
_MARK: Final = "\x01"
CONVERTED_AT_ONCE: Final = 120
"""Records that are converted before they are stored; of more, the rows would take much memory,
and Python's garbage collector would look through all of them again and again."""
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICRO: Final = timedelta(microseconds=1)


@lru_cache(maxsize=_KNOWN)
def group_key(tenant: str | None, group: str | None) -> str:
    """Return tenant and group as one text; no two pairs have the same."""
    return json.dumps([tenant, group], ensure_ascii=True)


def tokens_of(tenant: str | None, *groups: str | None) -> list[str]:
    """Return the tokens of these groups in the index of words; without groups the tenant's."""
    parts = [group_key(tenant, group) for group in groups] or [json.dumps([tenant])]
    digests = (hashlib.blake2b(part.encode(), digest_size=16) for part in parts)
    return [f"p{digest.hexdigest()}" for digest in digests]


def names_of(scope: MemoryScope) -> tuple[str, ...]:
    """Return the tokens under which the words of a memory are indexed: its tenant and its group."""
    return _names_of(scope.tenant, scope.group_id)


@lru_cache(maxsize=_KNOWN)
def _names_of(tenant: str | None, group: str | None) -> tuple[str, ...]:
    return (*tokens_of(tenant), *tokens_of(tenant, group))


def flat(text: str | None) -> str | None:
    """Encode a text so that every database can store and compare it; no two have the same code."""
    if text is None or text.isprintable() or not _ODD.search(text):
        return text
    return _MARK + json.dumps(text)[1:-1]  # NUL and halves of pairs: what UTF-8 or C cannot hold


def unflat(text: str) -> str:
    """Decode what `flat` returned."""
    return str(json.loads(f'"{text[1:]}"')) if text.startswith(_MARK) else text


STORED_BEGINNING: Final = len(_MARK) + len("\\ud83d\\ude00") * BEGINNING
"""Characters of a text, as `flat` encodes it, that hold at least `BEGINNING` of its own."""
_WHOLE: Final = re.compile(r"(?:[^\\]|\\u[0-9a-f]{4}|\\[^u])*")
"""The part of a cut JSON string that ends with no part of an escape."""


def unflat_beginning(text: str) -> str:
    """Decode the beginning of what `flat` returned, as far as its escapes are whole."""
    if not text.startswith(_MARK):
        return text
    whole = _WHOLE.match(text, len(_MARK))
    try:
        return str(json.loads(f'"{whole[0] if whole else ""}"'))
    except ValueError:  # damaged: reading it reports that
        return ""


def record_of(tier: str, row: Sequence[Any]) -> Any:
    """Decode the record of a row of `READ`.

    Raises:
        StoreUnavailable: If the row cannot be decoded.
    """
    try:
        data = {**json.loads(row[0]), "content": unflat(row[1])}
        return memory_from_json(data) if tier == "long_term" else entry_from_json(data)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise damaged(tier) from error


def damaged(tier: str) -> StoreUnavailable:
    """Return the error for a row that cannot be decoded."""
    return StoreUnavailable(
        f"A record in {tier} cannot be read: the file is damaged, or another program has"
        " written into it; restore a copy"
    )


@lru_cache(maxsize=16)
def insertion(columns: tuple[str, ...]) -> str:
    """Return the INSERT statement for a record with these columns."""
    return f"INSERT INTO record ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


def micros(moment: datetime | None) -> int | None:
    """Return a moment in whole microseconds since 1970."""
    return None if moment is None else (moment - EPOCH) // _MICRO


_NAMED: Final = re.compile(r'"metadata": ?\{[^{}]*?"speaker": ?"([^"\\]+)"')
"""Metadata that begin with plain values and name a speaker, as almost all do that name one."""
_DECODER: Final = json.JSONDecoder()


def speaker_in(text: str) -> str:
    """Return the speaker that the metadata in a piece of a record as JSON state.

    Args:
        text: The JSON, from somewhere before the metadata on.

    Returns:
        What `stated_speaker` returns of the metadata.
    """
    start = text.find('"metadata":')  # the first one; metadata may have such a key as well
    if match := _NAMED.match(text, max(0, start)):  # decoding takes three times as long
        return stated_speaker({SPEAKER: match[1]})
    try:
        return stated_speaker(_DECODER.raw_decode(text, text.index("{", start))[0])
    except (ValueError, AttributeError):  # damaged: reading it reports that
        return ""


class SqlDialect:
    """The SQL of a database: how records become rows, and selections conditions."""

    columns: tuple[str, ...] = COLUMNS
    read: str = READ
    """The columns of which, behind the number of a record, `record` makes it."""
    lock_clause: str = ""
    """What ends a `SELECT` of records that are changed next."""
    speaker_columns: str = ""
    """The columns of which `attributions` is made: JSON with the metadata, or NULL if these state
    no speaker; `STORED_BEGINNING` characters of the text, or `BEGINNING` where none is encoded;
    what `origin_in` reads. Functions of a database for JSON would fail for NaN, or half a
    surrogate pair, anywhere in a record."""
    origin_in: Callable[[str], Origin | None]
    """Returns the origin in a piece of a record; None if it is damaged."""
    owner: str = ""
    """The column that says whose a row is, where others can write rows by hand; see `is_own`."""

    def record(self, tier: str, row: Sequence[Any]) -> Any:
        """Decode the record of a row: its number, and the columns of `read`.

        Raises:
            StoreUnavailable: If the row cannot be decoded.
        """
        return record_of(tier, row[1:])

    def records(self, tier: str, rows: Sequence[Sequence[Any]]) -> list[Any]:
        """Decode the records of many rows; see `record`."""
        return [self.record(tier, row) for row in rows]

    def attributions(self, rows: Iterable[Sequence[Any]]) -> list[Attribution]:
        """Return the attributions of memories, from their `speaker_columns`."""
        origin_in = self.origin_in
        return [
            Attribution(
                speaker_in(metadata) if metadata else "", unflat_beginning(text), origin_in(origin)
            )
            for metadata, text, origin in rows
        ]

    def key(self, text: str | None) -> Any:
        """Encode a text for a column that is compared."""
        return flat(text)

    part: str = "part"
    """The column, or expression, that says of which tenant and group a record is."""
    expires: str = "expires"
    """When an entry expires."""
    current: str = "record.valid_to IS NULL AND record.revocation IS NULL"
    """What a memory fits that is valid without end, and not revoked."""

    def stored_group_key(self, part: str) -> Any:
        """Encode the key of a group as `part` has it."""
        return self.key(part)

    def in_tier(self, tier: str, *, loose: bool = False) -> str:
        """Return the condition that a record is of a tier; with `loose` no index is taken."""
        return f"{self.loose('tier') if loose else 'tier'} = '{tier}'"

    def text_of(self, stored: str) -> str | None:
        """Decode what `key` returned, None if that is impossible."""
        return unflat(stored)

    def loose(self, column: str) -> str:
        """Return a column of text in a form for which the database takes no index."""
        return column

    def unsorted(self) -> str:
        """Return the number of a record in a form for which the database takes no index."""
        return "record.seq"

    def any_of(self, column: str, texts: Sequence[Any]) -> Condition:
        """Return the condition that a column has one of these texts, as `key` returned them."""
        raise NotImplementedError

    def numbered(self, column: str, numbers: Iterable[int]) -> Condition:
        """Return the condition that a column has one of these numbers."""
        raise NotImplementedError

    def within(self, scope: MemoryScope) -> Condition:
        """Return the condition that a record is of the tenant and group of a scope."""
        here, values = self.where(scope.tenant)
        part = self.key(group_key(scope.tenant, scope.group_id))
        return f"record.part = ?{here}", [part, *values]

    def where(self, tenant: str | None) -> Condition:  # noqa: ARG002 - everything is in one place
        """Return a condition on the tenant, for statements that select by numbers alone."""
        return "", []

    def is_own(self, record: Entry | Memory, owner: Sequence[Any]) -> bool:  # noqa: ARG002 - so it is
        """Return whether a record is of the tenant that owns its row."""
        return True

    def contains(self, folded: str) -> Condition:
        """Return the condition that the content contains a text, which is case-folded."""
        raise NotImplementedError

    def begins_with(self, prefix: str) -> Condition:
        """Return the condition that the id is a generated one with this beginning."""
        raise NotImplementedError

    def group_counts(self, tier: str) -> Condition:
        """Return the statement that counts the records of each tenant and group.

        Its rows are a number, and what `counted_group` decodes.
        """
        raise NotImplementedError

    def counted_group(self, tier: str, row: Sequence[Any]) -> tuple[str | None, str | None] | None:
        """Decode tenant and group of a row of `group_counts`; None if they are not of its owner."""
        raise NotImplementedError

    def row_of(self, tier: str, record: Entry | Memory, words: int) -> tuple[Any, ...]:
        """Encode a record, whose text has so many words, as the values of `columns`."""
        return tuple(map(self._row(tier, record, words).get, self.columns))

    def _row(self, tier: str, record: Entry | Memory, words: int) -> dict[str, Any]:
        scope = record.scope
        row: dict[str, Any] = {
            "tier": tier,
            "id": record.id,
            "part": group_key(scope.tenant, scope.group_id),
            "tenant": scope.tenant,
            "group_id": scope.group_id,
            "user_id": scope.user_id,
            "agent_id": scope.agent_id,
            "session_id": scope.session_id,
            "hash": record.content_hash,
            "revocation": record.revocation,
            "created": micros(record.created_at),
            "content": flat(record.content),
            "body": record_to_text(record),
            "size": words,
        }
        if isinstance(record, Entry):
            row |= {"status": record.status, "once": record.key if tier == "quarantine" else None}
            row["expires"] = micros(record.expires_at)
        else:
            row |= {"document": record.document_id, "subject": record.subject}
            row |= {"valid_from": micros(record.valid_from), "valid_to": micros(record.valid_to)}
        for name in _COMPARED:
            if (text := row.get(name)) is not None:
                row[name] = self.key(text)
        return row

    def condition(self, tier: str, selection: Select) -> Condition:
        """Return the condition of a selection, and its values."""
        pieces, values = [], list[Any]()
        for sql, more in self._conditions(tier, selection):
            pieces.append(sql)
            values += more
        return " AND ".join(pieces), values

    def corpus(self, selection: Select) -> Condition:
        """Return the condition of all memories of the tenant and groups of a selection."""
        return self.condition("long_term", Select(tenant=selection.tenant, groups=selection.groups))

    def order_column(self, selection: Select) -> str:
        """Return the number of a record, to sort by it without losing the most selective index."""
        key = _key(selection)
        several = bool(selection.prefix) or (key is not None and len(_given(selection)[key]) > 1)
        return self.unsorted() if several else "record.seq"

    def same(self, column: str, text: str | None) -> Condition:
        """Return the condition that a column has this text, or has no value for None."""
        return self._among(column, (text,))

    def _conditions(self, tier: str, selection: Select) -> Iterator[Condition]:
        """Yield conditions that leave the database one index to take, the most selective one."""
        key = _key(selection)
        everywhere = key == "id" and selection.groups is None
        yield f"{self.loose('record.tier') if everywhere else 'record.tier'} = ?", [tier]
        yield from self._whose(selection, key)
        for column, value in _given(selection).items():
            named = f"record.{column}"
            yield self._among(named if column == key else self.loose(named), value)
        for table, names in (("root", selection.root), ("source", selection.made_of)):
            if names is not None:
                texts = [names] if isinstance(names, str) else names
                among, values = self._among(f"{table}.name", texts)
                yield f"record.seq IN (SELECT seq FROM {table} WHERE {among})", values
        if selection.since is not None:
            yield "record.created >= ?", [micros(selection.since)]
        if selection.before is not None:
            yield "record.created < ?", [micros(selection.before)]
        if selection.contains:
            yield self.contains(selection.contains.casefold())
        if selection.prefix:
            yield self.begins_with(selection.prefix)
        if selection.live_at is not None:
            yield _live(
                tier, micros(selection.live_at), micros(selection.live_at + selection.ahead)
            )

    def _whose(self, selection: Select, key: str | None) -> Iterator[Condition]:
        if selection.groups is None:
            column = self.loose("record.tenant") if key == "id" else "record.tenant"
            yield self.same(column, selection.tenant)
            return
        parts = [group_key(selection.tenant, group) for group in selection.groups]
        if key in _OF_TENANT:
            yield self.same("record.tenant", selection.tenant)
            yield self._among(self.loose("record.part"), parts)
        else:
            yield self._among("record.part", parts)

    def _among(self, column: str, values: Sequence[str | None]) -> Condition:
        """Return the condition that a column has one of these values; None is no value."""
        texts = [self.key(value) for value in values if value is not None]
        if not texts and values:
            return f"{column} IS NULL", []
        condition = (f"{column} = ?", [texts[0]]) if len(texts) == 1 else self.any_of(column, texts)
        return (
            (f"({condition[0]} OR {column} IS NULL)", condition[1]) if None in values else condition
        )


def _given(selection: Select) -> dict[str, tuple[str | None, ...]]:
    every = ((column, getattr(selection, name)) for name, column in ANY_OF.items())
    return {column: values for column, values in every if values is not None}


def _key(selection: Select) -> str | None:
    """Return the column whose index is taken."""
    return next((key for key, values in _given(selection).items() if None not in values), None)


def _live(tier: str, moment: int | None, begun_by: int | None) -> tuple[str, list[Any]]:
    if tier != "long_term":
        expired = "(record.expires IS NULL OR record.expires > ?)"
        return f"record.revocation IS NULL AND {expired}", [moment]
    begun, ended = "record.valid_from <= ?", "(record.valid_to IS NULL OR record.valid_to > ?)"
    return f"record.revocation IS NULL AND {begun} AND {ended}", [begun_by, moment]


# Embedding spaces: their rows, and which of them a query may use.

SPACES_READ: Final = "SELECT id, name, dimension, current FROM space ORDER BY current DESC, id"
"""Reads every embedding space, the current one first."""


class SpaceRow(NamedTuple):
    """An embedding space of a database."""

    number: int
    space: Space
    is_current: bool


def space_rows(rows: Iterable[Sequence[Any]]) -> list[SpaceRow]:
    """Return the spaces that `SPACES_READ` has read."""
    return [
        SpaceRow(number, Space(unflat(name), dimension), bool(is_current))
        for number, name, dimension, is_current in rows
    ]


def number_of(space: Space, rows: Sequence[SpaceRow]) -> int | None:
    """Return the number of a space, None if it is new.

    Raises:
        EmbeddingMismatch: If its name is stored with another dimension.
    """
    same = next((row for row in rows if row.space.name == space.name), None)
    if same is not None and same.space != space:
        raise EmbeddingMismatch(str(same.space), str(space))
    return None if same is None else same.number


def searched_number(query: Query, rows: Sequence[SpaceRow]) -> int:
    """Return the number of the space of a query, 0 if nothing is embedded in it.

    Raises:
        EmbeddingMismatch: If it has another dimension, or is not the current one.
    """
    space = query.space
    if space is None or query.vector is None:
        return 0
    number = number_of(space, rows)
    current = next((row.space for row in rows if row.is_current), space)
    if current != space:
        raise EmbeddingMismatch(str(current), str(space))
    return number or 0


# The port: what the operations need from a database, beyond SQL itself.

T = TypeVar("T")
Row: TypeAlias = Sequence[Any]
Scores: TypeAlias = Sequence[tuple[int, float]]
"""Numbers of records, and how well they fit."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """Word statistics of the tenant and groups of a search.

    Attributes:
        names: The names of its groups in the index of words; a memory is in one of them.
        having: For each word of the query, how many memories have it.
        count: How many memories there are.
        mean: How many words a memory has on average.
    """

    names: Sequence[str]
    having: Mapping[str, int]
    count: int
    mean: float


class PortTransaction(Protocol):
    """A transaction of a database, which has its own index of words."""

    async def execute(self, sql: str, *values: object) -> Sequence[Row]:
        """Execute a statement, with `?` for each of the values, and return its rows."""
        ...

    async def many(self, sql: str, rows: Sequence[Sequence[object]]) -> None:
        """Execute a statement for each of these rows of values."""
        ...

    async def gather(self, works: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
        """Run reads that await nothing but this transaction; return their results in order.

        On a server the statements that all of them wait for at the same time share a round trip.
        """
        ...

    async def find_whole(self, requests: Sequence[tuple[str, Select]]) -> Sequence[Sequence[Row]]:
        """Return the rows of each selection, the highest number first, all of one moment."""
        ...

    async def read_part(
        self, tier: str, selection: Select, sql: str, *values: object
    ) -> Sequence[Row]:
        """Return the rows of a statement that reads a part of a selection, as `find_whole` does."""
        ...

    def rows_read(self, tier: str, selection: Select) -> Sequence[Row] | None:
        """Return the selected rows, the highest number first, without asking the database.

        None unless this transaction has read all of them, and nobody can have changed them since.
        """
        ...

    async def insert(
        self, tier: str, records: Sequence[Any], spaces: Mapping[int, int]
    ) -> list[int]:
        """Store records with their lineages and words; return their numbers.

        Args:
            tier: Their tier.
            records: The records.
            spaces: The space of those whose vector is stored next, by their places.
        """
        ...

    async def replace(self, tier: str, seq: int, old: Any, new: Any) -> None:
        """Replace a record by a new version, and its lineages, words and vectors if they differ."""
        ...

    async def drop(self, tier: str, numbers: Sequence[int]) -> None:
        """Delete records with everything that was stored for them."""
        ...

    async def drop_found(self, tier: str, numbers: str, *values: object) -> object:
        """Delete the records whose numbers a statement returns."""
        ...

    async def drop_selected(self, tier: str, selection: Select) -> int:
        """Delete the selected records, the newest first; return how many there were."""
        ...

    async def count(self, tier: str, selection: Select | None) -> int:
        """Return how many records of a tier are selected; without a selection, of all tenants."""
        ...

    async def memories(
        self, selection: Select, numbers: Collection[int]
    ) -> dict[int, Memory] | None:
        """Return the memories that have these numbers, if they are still there.

        None if the group has changed since `search_view`, which has to be called again then.
        """
        ...

    async def add_vectors(self, space: int, vectors: Sequence[tuple[int, bytes]]) -> None:
        """Store packed vectors, and note which records have one."""
        ...

    async def known_spaces(self) -> Sequence[SpaceRow]:
        """Return every space, the current one first."""
        ...

    async def number_of_space(self, space: Space) -> int | None:
        """Return the number of a space, None if it is new.

        Raises:
            EmbeddingMismatch: If it is known with another dimension.
        """
        ...

    async def unembedded(self, space: Space, limit: int) -> Sequence[Row]:
        """Return the rows of memories without a vector in a space, oldest first."""
        ...

    async def adopted(self) -> None:
        """Note that another space is the current one now."""
        ...

    async def drop_other_spaces(self, space: int) -> None:
        """Delete all spaces but one, with their vectors."""
        ...

    async def counted_spaces(self) -> Sequence[Row]:
        """Return name, dimension and number of vectors of each space, the current one first."""
        ...

    async def generation(self, tenant: str | None, group: str | None) -> int | None:
        """Return the generation of a group, None where none is kept."""
        ...

    async def read_ahead(
        self, search: Select, reads: Sequence[tuple[str, tuple[str, list[Any]]]]
    ) -> None:
        """Send statements that will be executed, and the first read of a search, with the next.

        Args:
            search: The group that is searched.
            reads: Statements with their values, and the tier that they read.
        """
        ...

    async def settle(self) -> None:
        """Begin the transaction if that was put off: from now on all reads see one moment."""
        ...

    async def alone(self) -> None:
        """Take the lock for new spaces, and keep it to the end of the transaction."""
        ...

    async def index(self, texts: Sequence[tuple[int, Sequence[str], Sequence[str]]]) -> None:
        """Store the words of memories: number, names of the groups in the index, and words."""
        ...

    async def unindex(self, numbers: Sequence[int]) -> None:
        """Delete the words of memories from the index."""
        ...

    async def having(self, names: Sequence[str], words: Sequence[str]) -> dict[str, int]:
        """Return how many memories of these groups have each word."""
        ...

    async def best_by_words(
        self,
        corpus: Corpus,
        words: Sequence[str],
        without: Sequence[str],
        selection: Condition,
        most: int,
    ) -> Scores:
        """Return number and BM25 score of selected memories that have a word, but none of others.

        At least the best `most` are returned, with all that are as good as the last of them.
        """
        ...

    async def search_view(
        self, query: Query, selection: Select
    ) -> tuple[SearchView, Sequence[int]] | None:
        """Return the view of a search with the numbers of its candidates; None to build it in SQL.

        Raises:
            EmbeddingMismatch: If the space of the query cannot be searched.
        """
        ...

    async def word_counts(
        self, names: Sequence[str], words: Sequence[str], numbers: Sequence[int]
    ) -> Mapping[int, tuple[int, ...]]:
        """Return how often memories have each word; a memory with none of them may be missing."""
        ...

    async def put_vectors(self, space: int, vectors: Sequence[tuple[int, bytes]]) -> None:
        """Store packed vectors by number, replacing those of this space."""
        ...

    async def vectors(self, space: int, numbers: Sequence[int]) -> dict[int, Vector]:
        """Return the vectors in a space by number, where there is one."""
        ...

    async def nearest(self, space: int, query: bytes, selection: Condition, most: int) -> Scores:
        """Return number and cosine of selected memories, at least the nearest ones."""
        ...

    async def cosines(
        self, space: int, query: bytes, numbers: Sequence[int]
    ) -> Mapping[int, float]:
        """Return the cosine of each of these memories that has a vector in a space."""
        ...

    async def prepare_space(self, space: int, dimension: int) -> None:
        """Prepare the storage for the vectors of a new space."""
        ...


class Port(Protocol):
    """A database, as operations use it."""

    @property
    def dialect(self) -> SqlDialect:
        """The SQL of the database."""
        ...

    @property
    def reads_ahead(self) -> bool:
        """Whether `read_ahead` saves round trips, not only statements."""
        ...

    @property
    def has_segments(self) -> bool:
        """Whether `search_view` sees one moment even outside of a transaction."""
        ...

    def transaction(
        self, selection: Select | None, *, writes: bool = False, snapshot: bool = True
    ) -> AbstractAsyncContextManager[PortTransaction]:
        """Begin a transaction about these records, or about those of all tenants.

        Without `snapshot` its statements need not see the same moment, so that a read of one
        statement needs no transaction. A transaction that writes has the groups of its selection
        to itself.
        """
        ...

    async def wipe(self) -> None:
        """Overwrite the bytes of deleted records where they may still lie, as far as possible."""
        ...

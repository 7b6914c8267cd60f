"""What the operations in SQL need from a database, beyond SQL itself."""

from __future__ import annotations

from collections.abc import Collection, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar

from memoryware.tiers.model import Memory
from memoryware.tiers.stores._sql.rows import Condition, SqlDialect
from memoryware.tiers.stores._sql.spaces import SpaceRow
from memoryware.tiers.stores.protocol import Query, SearchView, Select, Space, Vector

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

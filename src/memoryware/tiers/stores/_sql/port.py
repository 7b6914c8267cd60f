"""What every operation in SQL asks of a database, beside SQL itself."""

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
    """The memories among which a search by words counts.

    Attributes:
        names: The names of its parts in the index of words; a memory is in one of them.
        having: For each word of the query, how many memories have it.
        count: How many memories there are.
        mean: How many words a memory has on average.
    """

    names: Sequence[str]
    having: Mapping[str, int]
    count: int
    mean: float


class PortTransaction(Protocol):
    """What can be done inside a transaction. A port has its own index of words."""

    async def execute(self, sql: str, *values: object) -> Sequence[Row]:
        """Do one statement, with `?` where the values belong, and return its rows."""
        ...

    async def many(self, sql: str, rows: Sequence[Sequence[object]]) -> None:
        """Do one statement for each of these rows of values."""
        ...

    async def gather(self, works: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
        """Run reads that await nothing but this transaction; return their results in order.

        What all of them wait for at the same time is asked for in one round trip, where there is
        a server.
        """
        ...

    async def find_whole(self, requests: Sequence[tuple[str, Select]]) -> Sequence[Sequence[Row]]:
        """Return the rows that each selection fits, the highest number first, of one moment."""
        ...

    async def read_part(
        self, tier: str, selection: Select, sql: str, *values: object
    ) -> Sequence[Row]:
        """Return the rows of a statement that reads a part of a selection as `find_whole` does."""
        ...

    def rows_read(self, tier: str, selection: Select) -> Sequence[Row] | None:
        """Return the rows that fit, the highest number first, without asking the database.

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
        """Put a record in place of an old one, and what depends on it as far as that differs."""
        ...

    async def drop(self, tier: str, numbers: Sequence[int]) -> None:
        """Remove records with everything that was stored with them."""
        ...

    async def drop_found(self, tier: str, numbers: str, *values: object) -> object:
        """Remove the records whose numbers a statement returns."""
        ...

    async def drop_selected(self, tier: str, selection: Select) -> int:
        """Remove the records that fit, the newest first; return how many there were."""
        ...

    async def count(self, tier: str, selection: Select | None) -> int:
        """Return how many records of a tier fit, of all tenants without a selection."""
        ...

    async def memories(
        self, selection: Select, numbers: Collection[int]
    ) -> dict[int, Memory] | None:
        """Return the memories that have these numbers, if they are still there.

        None if the group has changed since `search_view`, which has to be asked again then.
        """
        ...

    async def add_vectors(self, space: int, vectors: Sequence[tuple[int, bytes]]) -> None:
        """Keep vectors, as `packed` makes them, and note which records have one."""
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
        """Remove all spaces but one, and their vectors."""
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
        """See one moment from now on, if that is not so already."""
        ...

    async def alone(self) -> None:
        """Wait until nobody else makes a space, and keep others from it to the end."""
        ...

    async def index(self, texts: Sequence[tuple[int, Sequence[str], Sequence[str]]]) -> None:
        """Keep the words of memories: number, names of the parts that it is in, and words."""
        ...

    async def unindex(self, numbers: Sequence[int]) -> None:
        """Remove the words of memories, so that nothing is left of them."""
        ...

    async def having(self, names: Sequence[str], words: Sequence[str]) -> dict[str, int]:
        """Return how many memories of these parts have each word."""
        ...

    async def best_by_words(
        self,
        corpus: Corpus,
        words: Sequence[str],
        without: Sequence[str],
        selection: Condition,
        most: int,
    ) -> Scores:
        """Return number and BM25 score of what has one of the words, none of others, and fits.

        More than `most` need not be named, if those are the best and all that are as good as
        the last of them.
        """
        ...

    async def search_view(
        self, query: Query, selection: Select
    ) -> tuple[SearchView, Sequence[int]] | None:
        """Return what is seen and the numbers of it, None where it is put together in SQL.

        Raises:
            EmbeddingMismatch: If the space of the query cannot be searched.
        """
        ...

    async def word_counts(
        self, names: Sequence[str], words: Sequence[str], numbers: Sequence[int]
    ) -> Mapping[int, tuple[int, ...]]:
        """Return how often memories of these parts have each word; none of it may be left out."""
        ...

    async def put_vectors(self, space: int, vectors: Sequence[tuple[int, bytes]]) -> None:
        """Keep vectors, as `packed` makes them, by number, in place of those of this space."""
        ...

    async def vectors(self, space: int, numbers: Sequence[int]) -> dict[int, Vector]:
        """Return the vectors of those of these numbers that have one in a space."""
        ...

    async def nearest(self, space: int, query: bytes, selection: Condition, most: int) -> Scores:
        """Return number and cosine of what fits; which need not be named: see `best_by_words`."""
        ...

    async def cosines(
        self, space: int, query: bytes, numbers: Sequence[int]
    ) -> Mapping[int, float]:
        """Return the cosine of those of these numbers that have a vector in a space."""
        ...

    async def prepare_space(self, space: int, dimension: int) -> None:
        """Make ready for the vectors of a new space."""
        ...


class Port(Protocol):
    """A database."""

    @property
    def dialect(self) -> SqlDialect:
        """How records are written down there."""
        ...

    @property
    def reads_ahead(self) -> bool:
        """Whether `read_ahead` saves round trips, and not only statements."""
        ...

    @property
    def has_segments(self) -> bool:
        """Whether `search_view` needs no transaction to see one moment."""
        ...

    def transaction(
        self, selection: Select | None, *, writes: bool = False, snapshot: bool = True
    ) -> AbstractAsyncContextManager[PortTransaction]:
        """Begin a transaction about these records, or about those of all tenants.

        Without `snapshot` its statements need not see the same moment, so that a read of one
        statement needs no transaction.

        What writes is alone with the groups of its selection: nobody else changes them.
        """
        ...

    async def wipe(self) -> None:
        """Overwrite what was deleted where it may still lie, as far as that can be done now."""
        ...

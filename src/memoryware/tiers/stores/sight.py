"""What a search of long-term memory looks for, and what it sees."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, overload

from memoryware.tiers.records import Memory

Vector: TypeAlias = Sequence[float]
"""An embedding; stores keep it with at least the precision of a 16-bit float."""


@dataclass(frozen=True, slots=True)
class Space:
    """An embedding space: vectors of two spaces are never compared.

    Attributes:
        name: The name of the model.
        dimension: The length of its vectors.
    """

    name: str
    dimension: int

    def __str__(self) -> str:
        return f"{self.name} ({self.dimension} dimensions)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What a search looks for.

    Attributes:
        words: Words as `ranking.query_words` makes them, each once.
        vector: The vector of the question; None where words alone are searched.
        space: The space of that vector.
        limit: How many of the best by words, and how many of the nearest, are seen.
        reach: How many on each side of those, in the same thread, are seen beside them; with 0
            no thread is looked at, and nothing follows anything.
        sessions: Whether a thread is everything of one session, not only of one document.
        thread: How many memories of all the threads of those are looked through at most, the
            newest that fit.
    """

    words: Sequence[str]
    vector: Vector | None = None
    space: Space | None = None
    limit: int = 50
    reach: int = 3
    sessions: bool = False
    thread: int = 5000


@dataclass(frozen=True, slots=True)
class Seen:
    """What a search sees of a memory, whether it is shown or not.

    Attributes:
        counts: How often it has each word of the query.
        size: How many words it has.
        similarity: Its cosine to the query, from -1 to 1; None if it has no vector.
        follows: Whether it stands right behind the one that is seen before it, in a thread: the
            chunks of a document, or with `sessions` everything of a session, in the order in
            which it was stored.
    """

    counts: tuple[int, ...]
    size: int
    similarity: float | None = None
    follows: bool = False


class SeenColumns(Sequence[Seen]):
    """The same as a list of `Seen`, as NumPy arrays: what is seen is scored without a loop.

    Attributes:
        counts: For each word of the query an array: how often each memory has it.
        sizes: How many words each memory has.
        similarities: Their cosines, NaN where there is no vector; None if none is measured.
        follows: Whether each stands right behind the one before it; None if none does.
    """

    __slots__ = ("counts", "follows", "similarities", "sizes")

    def __init__(
        self, counts: Sequence[Any], sizes: Any, similarities: Any = None, follows: Any = None
    ) -> None:
        self.counts = counts
        self.sizes = sizes
        self.similarities = similarities
        self.follows = follows

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and [*self] == [*other]

    __hash__ = None  # type: ignore[assignment]  # like a list

    def __len__(self) -> int:
        return len(self.sizes)

    @overload
    def __getitem__(self, place: int) -> Seen: ...
    @overload
    def __getitem__(self, place: slice) -> list[Seen]: ...
    def __getitem__(self, place: int | slice) -> Seen | list[Seen]:
        if isinstance(place, slice):
            return [self[at] for at in range(len(self))[place]]
        near = None if self.similarities is None else float(self.similarities[place])
        return Seen(
            tuple(int(column[place]) for column in self.counts),
            int(self.sizes[place]),
            None if near is None or near != near else near,  # noqa: PLR0124 - NaN is never equal
            self.follows is not None and bool(self.follows[place]),
        )


def seen_of(
    counts: Sequence[tuple[int, ...]],
    sizes: Sequence[int],
    similarities: Sequence[float | None],
    follows: Sequence[bool],
) -> Sequence[Seen]:
    """Return what is seen of memories: as columns where meaning was measured by NumPy.

    Args:
        counts: For each memory how often it has each word of the query.
        sizes: How many words each has.
        similarities: The cosine of each; None of one that has no vector.
        follows: Whether each stands right behind the one before it.
    """
    # Whoever measures meaning has loaded it; for words alone it would take a tenth of a second.
    numpy: Any = sys.modules.get("numpy")
    if numpy is None or not counts:
        return list(map(Seen, counts, sizes, similarities, follows))
    near = [math.nan if similarity is None else similarity for similarity in similarities]
    rows = numpy.array(counts, "i8").reshape(len(counts), -1)
    return SeenColumns(
        [*rows.T], numpy.array(sizes, "i8"), numpy.array(near), numpy.array(follows, bool)
    )


@dataclass(frozen=True, slots=True)
class Sight:
    """Everything that a search sees, thread by thread.

    Attributes:
        seen: The memories, in no order but that of their threads.
        having: How many memories of the tenant and groups have each word of the query.
        count: How many memories these have.
        mean: How many words each of them has on average.
    """

    seen: Sequence[Seen] = ()
    having: tuple[int, ...] = ()
    count: int = 0
    mean: float = 0.0


Choose: TypeAlias = Callable[[Sight], Sequence[int]]
"""Says which of what is seen to read, by places; it may be asked more than once."""


@dataclass(frozen=True, slots=True)
class Searched:
    """What a search saw, and the memories that were chosen of it, by their places.

    The memories may be those of a cache: whoever hands them on copies their metadata.
    """

    sight: Sight = field(default_factory=Sight)
    memories: dict[int, Memory] = field(default_factory=dict)

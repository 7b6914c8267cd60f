"""The embedding spaces of a database in SQL: their rows, and which of them a query may use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from memoryware.errors import EmbeddingMismatch
from memoryware.tiers.stores._sql.rows import unflat
from memoryware.tiers.stores.protocol import Query, Space

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

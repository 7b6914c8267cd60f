"""What a store in this process holds, changed as a whole or not at all."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeAlias, TypeVar

from memoryware._copying import SharedOnCopy
from memoryware.errors import StoreUnavailable
from memoryware.tiers.records import Entry, Memory
from memoryware.tiers.stores._turns import Turns

R = TypeVar("R", Entry, Memory)
S = TypeVar("S", bound="Holder[Any]")
P = ParamSpec("P")
T = TypeVar("T")
Key: TypeAlias = tuple[str | None, str | None, str]
"""Tenant, group and id: strangers may have the same ids."""


def key_of(record: Entry | Memory) -> Key:
    """Return under what a record is kept."""
    return record.scope.tenant, record.scope.group_id, record.id


@dataclass
class Index:
    """What is kept beside memories."""

    words: dict[Key, Counter[str]] = field(default_factory=dict)
    vectors: dict[str, dict[Key, tuple[float, ...]]] = field(default_factory=dict)
    """By the name of a space."""
    dimensions: dict[str, int] = field(default_factory=dict)
    current: str | None = None

    def copy(self) -> Index:
        """Return one that can be changed apart; the words of a text are never changed."""
        vectors = {name: dict(known) for name, known in self.vectors.items()}
        return Index(dict(self.words), vectors, dict(self.dimensions), self.current)


class Records(dict[Key, T]):
    """Records in the order in which they were stored, and the number of each in it."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers: dict[Key, int] = {}
        self._last = 0

    def __setitem__(self, key: Key, record: T) -> None:
        if key not in self:
            self._last += 1
            self.numbers[key] = self._last
        super().__setitem__(key, record)

    def __delitem__(self, key: Key) -> None:
        super().__delitem__(key)
        del self.numbers[key]

    def copy(self) -> Records[T]:
        """Return one that can be changed apart."""
        made: Records[T] = Records()
        made.update(self)
        made.numbers, made._last = dict(self.numbers), self._last
        return made


@dataclass
class State(Generic[R]):
    """Records in the order in which they were stored, and their index."""

    records: Records[R] = field(default_factory=Records[Any])
    index: Index = field(default_factory=Index)

    def copy(self) -> State[R]:
        """Return one that can be changed apart."""
        return State(self.records.copy(), self.index.copy())


class Held(Generic[R]):
    """The state of a store, and a draft of the next one while a thread makes it.

    A draft becomes the state in one step. Whoever is interrupted leaves a draft that nobody
    sees, and so does a thread that a fork has left behind.
    """

    def __init__(self) -> None:
        self._state: State[R] = State()
        self._draft: tuple[object, State[R]] | None = None

    @property
    def now(self) -> State[R]:
        """What this thread sees."""
        draft = self._draft
        return draft[1] if draft is not None and draft[0] == _me() else self._state

    def roll_back(self, state: State[R]) -> None:
        """Return to an earlier state; what was changed since is gone."""
        self._state, self._draft = state, None

    def change(self, work: Callable[[], T]) -> T:
        """Return what a change returns; if it fails nothing has changed.

        A change may be made of others: they are kept if the outermost one is.
        """
        outer = self._draft if self._draft is not None and self._draft[0] == _me() else None
        try:
            self._draft = _me(), self.now.copy()
            result = work()
            if outer is None:
                self._state, self._draft = self.now, None
        except BaseException:
            self._draft = outer
            raise
        return result


def _me() -> object:
    """Return what tells this thread from all others, those of a parent process included."""
    return os.getpid(), threading.get_ident()


class Holder(SharedOnCopy, Generic[R]):
    """A store that holds its records itself."""

    def __init__(self, lock_timeout: float = 30.0) -> None:
        self._held: Held[R] = Held()
        self._turns = Turns(lock_timeout, self._late)
        self._lock_timeout = lock_timeout
        self._closed = False

    def close(self) -> None:
        """Let nobody use the store anymore; what it holds goes with it."""
        self._closed = True

    def alone(self, work: Callable[[], T]) -> T:
        """Return what a piece of work returns while no other thread uses the store.

        Raises:
            StoreUnavailable: If the store is closed, or others take too long.
        """
        self._must_be_open()
        return self._turns.alone(work)

    def snapshot(self) -> State[R]:
        """Return the state of now; changes make new ones."""
        return self._held.now

    def roll_back(self, state: State[R]) -> None:
        """Return to an earlier state."""
        self._held.roll_back(state)

    def _late(self) -> StoreUnavailable:
        return StoreUnavailable(
            f"Somebody else has been writing for {self._lock_timeout} seconds; try again"
        )

    def _must_be_open(self) -> None:
        if self._closed:
            raise StoreUnavailable("This memory was closed; open a new one")


def changing(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Let one thread at a time into a method that changes a store, as a whole or not at all."""

    @wraps(method)
    def whole(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._held.change(lambda: method(self, *args, **kwargs))

    return in_turn(whole)


def in_turn(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Let one thread at a time into a method of a store that is open."""

    @wraps(method)
    def alone(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        self._must_be_open()
        return self._turns.alone(lambda: method(self, *args, **kwargs))

    return alone

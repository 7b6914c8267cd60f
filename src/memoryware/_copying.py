"""Copying and pickling of objects that hold locks, connections, caches and closures.

`copy.deepcopy` reaches such objects unasked: `dataclasses.asdict`, pydantic models and test
frameworks copy whatever is inside a context or a configuration. A lock or a connection cannot be
copied, and a copied in-process store would silently diverge from the original, so live parts are
shared. A pickle holds the call that made the object instead, and makes the call again.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Mapping
from typing import Any, Self

from memoryware.errors import NotPicklable

_PACKAGE = __name__.partition(".")[0]
_CALL = "_constructed_by"


class SharedOnCopy:
    """An object that copies share, and that cannot be pickled by itself."""

    __slots__ = ()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise NotPicklable(
            f"{type(self).__name__} holds a connection or lives in this process only, so it cannot"
            " be pickled: pickle the TieredMemory that was opened by its address instead, or"
            " open it again in the other process"
        )


class FreshOnUnpickling(SharedOnCopy):
    """What one process has noticed so far: copies share it, and a pickle begins with nothing."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self), ()


class ReconstructedOnUnpickling:
    """An object that is pickled as the call of its constructor.

    A deep copy is a new object that shares the live parts; what else a subclass keeps is copied.
    What was assigned to attributes after the construction is not in a pickle.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Remember the arguments of the outermost constructor."""
        instance = super().__new__(cls)
        vars(instance)[_CALL] = (None, args, kwargs)
        return instance

    def __copy__(self) -> Self:
        copied = object.__new__(type(self))
        vars(copied).update(vars(self))
        return copied

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        copied = object.__new__(type(self))
        memo[id(self)] = copied
        for name, value in vars(self).items():
            vars(copied)[name] = value if _is_live(name, value) else _copied(value, memo)
        return copied

    def __reduce_ex__(self, protocol: Any) -> Any:
        function, args, kwargs = vars(self)[_CALL]
        for number, value in enumerate(args, 1):
            _must_be_picklable(self, f"argument {number}", value)
        for name, value in kwargs.items():
            _must_be_picklable(self, f"option {name}=", value)
        return _called, (function or self._class_to_pickle(), args, kwargs)

    def _class_to_pickle(self) -> type:
        """Return the class whose constructor is called; one that can be imported."""
        return type(self)


def opened_by(
    opened: Any, function: Callable[..., Any], args: tuple[Any, ...], options: Mapping[str, Any]
) -> None:
    """Let an object be pickled as the call of a function that opened it."""
    vars(opened)[_CALL] = (function, args, dict(options))


def _called(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return function(*args, **kwargs)


def _copied(value: Any, memo: dict[int, Any]) -> Any:
    """Return a deep copy, or the value itself where it is live as well, such as a lock."""
    try:
        return copy.deepcopy(value, memo)
    except (TypeError, pickle.PicklingError):
        return value


def _is_live(name: str, value: Any) -> bool:
    ours = type(value).__module__.partition(".")[0] == _PACKAGE
    return ours or callable(value) or name in (_CALL, "_backend", "_inner", "_store", "tools")


def _must_be_picklable(owner: Any, part: str, value: Any) -> None:
    try:
        pickle.dumps(value)
    except NotPicklable as error:
        raise NotPicklable(f"{type(owner).__name__} cannot be pickled: {part}: {error}") from error
    except Exception as error:
        raise NotPicklable(
            f"{type(owner).__name__} cannot be pickled, because its {part} cannot"
            f" ({type(value).__name__}: {error}). Pass what a pickle can hold, such as a function"
            " of a module instead of a lambda or an address instead of an open connection, or"
            " make the object in each process"
        ) from error

"""What deepagents sees in our classes once it is loaded; nothing here loads it.

deepagents asks `isinstance` of its own classes: of results in its composite backend,
of backends to know where files are kept. `isinstance` looks at `__class__` before it
says no, so that is where our classes answer. It is the only moment that is never too
early: deepagents may be imported long after a backend of ours was built.
"""

from __future__ import annotations

import sys
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any

_PACKAGE = __name__.partition(".")[0]
_MODULES = {
    "StateBackend": "state",
    "StoreBackend": "store",
    "CompositeBackend": "composite",
    "FilesystemBackend": "filesystem",
}
"""Where deepagents keeps the class of the same name; everything else is in `protocol`."""


def counterpart(ours: type) -> Any:
    """Return deepagents' class that a class of ours stands for, or None.

    Its filesystem backend is asked for the real path of a file when rules of
    permission are checked, so only one that can tell stands for it.
    """
    name = ours.__name__
    if ours.__module__.partition(".")[0] != _PACKAGE:
        return None
    if name == "FilesystemBackend" and not hasattr(ours, "_real_path"):
        return None
    module = sys.modules.get(f"deepagents.backends.{_MODULES.get(name, 'protocol')}")
    return getattr(module, name, None)


class BackendKin:
    """A backend that deepagents takes for one of its own kind."""

    if not TYPE_CHECKING:

        @property
        def __class__(self) -> type:
            kind = type(self)
            for base in kind.__mro__:
                theirs = counterpart(base)
                if theirs is not None and not issubclass(base, theirs):
                    theirs.register(base)
            return kind


class ResultKin:
    """A result value that deepagents takes for its own class of the same name."""

    if not TYPE_CHECKING:

        @property
        def __class__(self) -> type:
            kind = type(self)
            for base in kind.__mro__:
                theirs = counterpart(base)
                if theirs is not None:
                    return kind if issubclass(kind, theirs) else _united(kind, theirs)
            return kind

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        """Pickle and copy as the class that was written, whatever is loaded."""
        kind = type(self)
        written = kind.__bases__[0] if "_united" in vars(kind) else kind
        return written, tuple(getattr(self, one.name) for one in fields(self))  # type: ignore[arg-type]  # subclasses are dataclasses


@cache
def _united(kind: type, theirs: type) -> type:
    own = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "_united": True}
    return type(kind.__name__, (kind, theirs), own)

"""Compatibility with deepagents: our classes pass its `isinstance` checks. Nothing here imports it.

deepagents checks results in its composite backend, and backends to know where files are kept,
against its own classes. `isinstance` reads `__class__` of the object before it returns False, so
our classes register themselves there, in a property. Doing it at import or construction would be
too early: deepagents may be imported long after a backend of ours was built.
"""

from __future__ import annotations

import sys
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from deepagents.backends.protocol import BackendProtocol as DeepAgentsBackend

_PACKAGE = __name__.partition(".")[0]
# Module of deepagents with the class of the same name; all other classes are in `protocol`.
_MODULES = {
    "StateBackend": "state",
    "StoreBackend": "store",
    "CompositeBackend": "composite",
    "FilesystemBackend": "filesystem",
}
# Attributes that only some kinds of backends have; a wrapper passes them on from its inner one.
_HANDED_THROUGH = frozenset(
    {
        *("default", "routes", "sorted_routes", "artifacts_root", "cwd", "virtual_mode", "id"),
        *("_real_path", "_resolve_path", "_get_backend_and_key"),
    }
)


def counterpart(ours: type) -> Any:
    """Return deepagents' class of the same role as one of ours, or None.

    Its filesystem backend is asked for the real path of a file when permission rules
    are checked, so only a class that knows real paths counts.
    """
    name = ours.__name__
    if ours.__module__.partition(".")[0] != _PACKAGE:
        return None
    if name == "FilesystemBackend" and not hasattr(ours, "_real_path"):
        return None
    return _deepagents_class(name)


def _deepagents_class(name: str) -> Any:
    # `sys.modules` and no import: that takes seconds, and most users do not have deepagents.
    module = sys.modules.get(f"deepagents.backends.{_MODULES.get(name, 'protocol')}")
    return getattr(module, name, None)


class BackendCompat:
    """A backend that passes `isinstance` checks of deepagents for its own class."""

    if not TYPE_CHECKING:

        @property
        def __class__(self) -> type:
            kind = type(self)
            for base in kind.__mro__:
                theirs = counterpart(base)
                if theirs is not None and not issubclass(base, theirs):
                    theirs.register(base)
            return kind


def as_deepagents(backend: BackendCompat) -> DeepAgentsBackend:
    """Return a backend under the type that deepagents declares, for a type checker.

    deepagents takes our backends as they are. A type checker does not know: their base class is
    in a package that need not be installed, so ours cannot derive from it.

    Args:
        backend: A backend of this package, or derived from one.

    Returns:
        The same object.
    """
    return cast("DeepAgentsBackend", backend)


class WrapperCompat(BackendCompat):
    """A wrapper that passes `isinstance` checks of deepagents for the class of its inner backend.

    deepagents checks whether files are in the state, which real path a file has, and whether
    commands can be run; for a wrapper all of that depends on the inner backend.
    """

    if not TYPE_CHECKING:

        @property
        def __class__(self) -> type:
            kind = vars(BackendCompat)["__class__"].fget(self)
            inner = vars(self).get("_inner")
            classes = [_deepagents_class(name) for name in (*_MODULES, "SandboxBackendProtocol")]
            poses = tuple(cls for cls in classes if cls is not None and isinstance(inner, cls))
            return _registered_subclass(kind, poses) if poses else kind

    def __getattr__(self, name: str) -> Any:
        if name in _HANDED_THROUGH and "_inner" in vars(self):
            return getattr(vars(self)["_inner"], name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def inner(self) -> Any:
        """The backend inside."""
        return vars(self)["_inner"]


def unwrap(backend: Any) -> Any:
    """Return the backend inside all wrappers of ours, or the backend itself."""
    while isinstance(backend, WrapperCompat):
        backend = backend.inner
    return backend


def works_in_thread(backend: Any) -> bool:
    """Return whether a backend does all its work for an event loop in another thread."""
    if isinstance(backend, WrapperCompat):
        return all(works_in_thread(part) for part in backend.parts)
    return type(backend).__module__ == f"{_PACKAGE}.backends.filesystem"


def location_key(backend: Any) -> str:
    """Return a lock key for the location of the files of a foreign backend.

    Two backends with the same key may have the same files; with different keys they do not.
    """
    namespace = getattr(backend, "_get_namespace", None)
    try:
        location = namespace() if callable(namespace) else getattr(backend, "cwd", "")
    except Exception:  # noqa: BLE001 - one key for all of them then: slower, but safe
        location = ""
    return f"{type(backend).__qualname__}\0{location}"


def is_listing_expensive(backend: Any, folder: str) -> bool:
    """Return whether listing a folder costs as much as reading all that a backend has."""
    backend = unwrap(backend)
    parted = getattr(backend, "_get_backend_and_key", None)
    if parted is not None:
        return is_listing_expensive(*parted(folder))
    return any(kind.__name__ == "StoreBackend" for kind in type(backend).__mro__)


class ResultCompat:
    """A result value that passes `isinstance` checks of deepagents for its own class."""

    if not TYPE_CHECKING:

        @property
        def __class__(self) -> type:
            kind = type(self)
            for base in kind.__mro__:
                theirs = counterpart(base)
                if theirs is not None:
                    return kind if issubclass(kind, theirs) else _combined(kind, theirs)
            return kind

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        """Pickle and copy as the class in this package, whatever is loaded."""
        kind = type(self)
        written = kind.__bases__[0] if "_united" in vars(kind) else kind
        return written, tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]  # subclasses are dataclasses


@cache
def _combined(kind: type, theirs: type) -> type:
    own = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "_united": True}
    return type(kind.__name__, (kind, theirs), own)


@cache
def _registered_subclass(kind: type, poses: tuple[Any, ...]) -> type:
    own = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    posing = type(kind.__name__, (kind,), own)
    for other in poses:
        other.register(posing)
    return posing


def is_rootless(backend: Any) -> bool:
    """Return whether a disk of deepagents takes host paths, so that it has no root of its own."""
    return getattr(backend, "virtual_mode", True) is False and not hasattr(backend, "names")

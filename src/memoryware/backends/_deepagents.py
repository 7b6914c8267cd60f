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
_HANDED_THROUGH = frozenset(
    {
        *("default", "routes", "sorted_routes", "artifacts_root", "cwd", "virtual_mode", "id"),
        *("_real_path", "_resolve_path", "_get_backend_and_key"),
    }
)
"""What others ask of one kind of backend only, so that a wrapper has it when its inner has."""


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
    return _theirs(name)


def _theirs(name: str) -> Any:
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


class WrapperKin(BackendKin):
    """A backend that deepagents takes for what the backend inside it is.

    It asks whether files are in the state, which real path a file has, and whether
    commands can be run, and is right if it believes the wrapper to be the inner one.
    """

    if not TYPE_CHECKING:

        @property
        def __class__(self) -> type:
            kind = vars(BackendKin)["__class__"].fget(self)
            inner = vars(self).get("_inner")
            known = [_theirs(name) for name in (*_MODULES, "SandboxBackendProtocol")]
            poses = tuple(one for one in known if one is not None and isinstance(inner, one))
            return _posing(kind, poses) if poses else kind

    def __getattr__(self, name: str) -> Any:
        if name in _HANDED_THROUGH and "_inner" in vars(self):
            return getattr(vars(self)["_inner"], name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def inner(self) -> Any:
        """The backend inside."""
        return vars(self)["_inner"]


def unwrapped(backend: Any) -> Any:
    """Return what is inside all wrappers of ours around a backend, or the backend itself."""
    while isinstance(backend, WrapperKin):
        backend = backend.inner
    return backend


def works_in_thread(backend: Any) -> bool:
    """Say whether all that a backend does on an event loop is done in another thread."""
    if isinstance(backend, WrapperKin):
        return all(works_in_thread(part) for part in backend.parts)
    return type(backend).__module__ == f"{_PACKAGE}.backends.filesystem"


def place_of(backend: Any) -> str:
    """Return what is known of where the files of somebody else's backend are.

    Two backends with one place may have the same files; with two they have not.
    """
    namespace = getattr(backend, "_get_namespace", None)
    try:
        told = namespace() if callable(namespace) else getattr(backend, "cwd", "")
    except Exception:  # noqa: BLE001 - one place for all then, which is slower and right
        told = ""
    return f"{type(backend).__qualname__}\0{told}"


def lists_dearly(backend: Any, folder: str) -> bool:
    """Say whether listing a folder costs as much as reading all that a backend has."""
    backend = unwrapped(backend)
    parted = getattr(backend, "_get_backend_and_key", None)
    if parted is not None:
        return lists_dearly(*parted(folder))
    return any(kind.__name__ == "StoreBackend" for kind in type(backend).__mro__)


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


@cache
def _posing(kind: type, poses: tuple[Any, ...]) -> type:
    own = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    posing = type(kind.__name__, (kind,), own)
    for one in poses:
        one.register(posing)
    return posing


def is_rootless(backend: Any) -> bool:
    """Say whether a disk of deepagents takes paths of the host, so that none is its root."""
    return getattr(backend, "virtual_mode", True) is False and not hasattr(backend, "names")

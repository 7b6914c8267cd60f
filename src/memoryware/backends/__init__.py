"""Where memory files live; each backend is loaded on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from memoryware.backends.protocol import BackendProtocol

if TYPE_CHECKING:
    from memoryware.backends.composite import CompositeBackend
    from memoryware.backends.filesystem import FilesystemBackend
    from memoryware.backends.state import StateBackend
    from memoryware.backends.store import StoreBackend

__all__ = [
    "BackendProtocol",
    "CompositeBackend",
    "FilesystemBackend",
    "StateBackend",
    "StoreBackend",
]
_HOME_OF: Final = {
    "CompositeBackend": "composite",
    "FilesystemBackend": "filesystem",
    "StateBackend": "state",
    "StoreBackend": "store",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__

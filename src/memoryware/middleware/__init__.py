"""What plugs into an agent; each part is loaded on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from memoryware.middleware.deep_memory import DeepMemoryMiddleware
    from memoryware.middleware.file_tools import FileToolsMiddleware
    from memoryware.middleware.memory import MemoryMiddleware
    from memoryware.middleware.tiered import TieredMemoryMiddleware

__all__ = [
    "DeepMemoryMiddleware",
    "FileToolsMiddleware",
    "MemoryMiddleware",
    "TieredMemoryMiddleware",
]
_HOME_OF: Final = {
    "DeepMemoryMiddleware": "deep_memory",
    "FileToolsMiddleware": "file_tools",
    "MemoryMiddleware": "memory",
    "TieredMemoryMiddleware": "tiered",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__

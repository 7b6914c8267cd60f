"""An embedding model that comes along, with the extra `local`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memoryware.local.embeddings import LocalEmbeddings

__all__ = ["LocalEmbeddings"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from memoryware.local.embeddings import LocalEmbeddings  # loads langchain_core

    return LocalEmbeddings


def __dir__() -> list[str]:
    return __all__

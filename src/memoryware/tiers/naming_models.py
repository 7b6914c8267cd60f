"""Embedding models by their names: "local", "openai:text-embedding-3-small"."""

from __future__ import annotations

from typing import Any

from memoryware._runner import in_thread
from memoryware.errors import SettingError
from memoryware.tiers.checking import shown

FORMS = '"local", "provider:model" or a LangChain Embeddings object'
"""What may be given as `embeddings=`."""


def named_embeddings(embeddings: Any) -> Any:
    """Return the embedding model that a text names, and anything else as it is.

    Raises:
        SettingError: If it names none, or what the model needs is not installed.
    """
    if not isinstance(embeddings, str):
        return embeddings
    if embeddings == "local":
        from memoryware.local import LocalEmbeddings

        return LocalEmbeddings()
    provider, _, model = embeddings.partition(":")
    if not provider.strip() or not model.strip():
        raise SettingError(f"embeddings={shown(embeddings)}: must be {FORMS}")
    return _of_provider(embeddings)


async def anamed_embeddings(embeddings: Any) -> Any:
    """Async twin of `named_embeddings`, which imports packages."""
    if not isinstance(embeddings, str):
        return embeddings
    return await in_thread(named_embeddings, embeddings)


def _of_provider(name: str) -> Any:
    from langchain.embeddings import init_embeddings

    try:
        return init_embeddings(name)
    except ImportError as error:  # it says which package to install
        raise SettingError(f"embeddings={shown(name)}: {error}") from error
    except Exception as error:
        # a plain ValueError is of langchain; what a provider says may show a key
        known = type(error) is ValueError
        said = str(error) if known else f"{type(error).__name__}, which is the cause of this error"
        raise SettingError(f"embeddings={shown(name)}: cannot be made: {said}") from error

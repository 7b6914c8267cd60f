"""Whether what somebody opens a memory with can be that at all."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final

from memoryware.errors import SettingError
from memoryware.guard import Guard
from memoryware.settings import Ranking, TierLimits
from memoryware.tiers._parts import IngressFilter
from memoryware.tiers.checking import shown
from memoryware.tiers.naming_models import FORMS
from memoryware.tiers.policy import PromotionPolicy
from memoryware.tiers.stores.protocol import Stores


def _has(*names: str) -> Callable[[Any], bool]:
    return lambda value: all(callable(getattr(value, name, None)) for name in names)


def _embeddings(value: Any) -> bool:
    return isinstance(value, str) or callable(getattr(value, "embed_documents", None))


def _reranker(value: Any) -> bool:
    if isinstance(value, type) or _has("compress_documents")(value):
        return False  # a compressor of LangChain may have a `rerank` that is another thing
    rerank = getattr(value, "rerank", None)
    if rerank is None:
        return _has("score")(value)
    return callable(rerank) and not inspect.iscoroutinefunction(rerank)


def _is(kind: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kind)


def _all_filters(value: Any) -> bool:
    some = not isinstance(value, str | Mapping) and hasattr(value, "__iter__")
    return some and all(isinstance(one, IngressFilter) for one in value)


_CAN_BE: Final[Mapping[str, tuple[Callable[[Any], bool], str]]] = {
    "stores": (
        _is(Stores),
        'must be stores; TieredMemory.open("sqlite:///memory.db") opens what is at an address',
    ),
    "embeddings": (
        _embeddings,
        f"must be {FORMS}, such as init_embeddings(...) returns",
    ),
    "embedding_space": (_is(str), "must be the name of a space, a text"),
    "model": (
        _has("invoke", "ainvoke"),
        "must be a LangChain chat model, such as init_chat_model(...) returns",
    ),
    "limits": (_is(TierLimits), "must be TierLimits(...)"),
    "ranking": (_is(Ranking), "must be Ranking(...)"),
    "reranker": (
        _reranker,
        "must have rerank(query, texts), no coroutine, or be a LangChain cross-encoder",
    ),
    "guard": (_is(Guard), "must be a Guard(...), or None to keep secrets"),
    "filters": (
        _all_filters,
        "must be filters, each with check(entry, recent), such as (MinLength(20),)",
    ),
    "policy": (_is(PromotionPolicy), "must be PromotionPolicy(...)"),
    "splitter": (_has("split_text"), "must have split_text, as a LangChain TextSplitter has"),
    "clock": (callable, "must be a function that returns a datetime with a time zone"),
    "new_id": (callable, "must be a function that returns a new id"),
}


def checked(**options: Any) -> None:
    """Let options pass that can be what they are given for; None is never wrong.

    Raises:
        SettingError: For the first that cannot, with what it must be.
    """
    for name, value in options.items():
        fits, said = _CAN_BE[name]
        if value is not None and not fits(value):
            raise SettingError(f"{name}={shown(value)}: {said}")

"""Words that pretend to be memory: in a request, no tag but ours can be taken for ours."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import groupby
from typing import Any, Final

from langchain_core.messages import AnyMessage

from memoryware.tiers.rendering import unforged

_SHOWN: Final[ContextVar[frozenset[str]]] = ContextVar(
    "memoryware_shown_blocks", default=frozenset()
)
"""Blocks that a middleware of ours has put into the request that is under way."""
_SAID: Final = frozenset({"text", "output_text"})
"""Blocks of what a model has said itself."""
_READ: Final = frozenset({"human", "tool", "ai", "chat", "function"})
"""Types of messages that are looked at; what the developer says in a system message stays."""
_TEXT: Final = frozenset({"text", "content"})
"""Keys of a content block under which a model reads text."""
_Change = Callable[[str], str]


@contextmanager
def showing(blocks: Collection[str]) -> Iterator[None]:
    """Let the middleware further inside know the blocks that a request has from us."""
    reset = _SHOWN.set(_SHOWN.get() | {one for one in blocks if one})
    try:
        yield
    finally:
        _SHOWN.reset(reset)


def without_forged(messages: Sequence[AnyMessage]) -> list[AnyMessage] | None:
    """Return the messages of a request without forged tags of recalled memory; None if it has none.

    Messages of one kind in a row are looked at as one text, as some providers join them.
    What is given does not change, and a message without a forged tag stays the same object.
    """
    made: list[AnyMessage] = []
    for kind, some in groupby(messages, lambda one: one.type):
        together = list(some)
        made += _unforged(together) if kind in _READ else together
    if all(new is old for new, old in zip(made, messages, strict=True)):
        return None
    return made


def _unforged(messages: list[AnyMessage]) -> list[AnyMessage]:
    ours = _SHOWN.get()
    pieces: list[list[str]] = []  # of each text: by turns what we have not put there, and what we

    def collect(text: str) -> str:
        pieces.append(re.split(f"({'|'.join(map(re.escape, ours))})", text) if ours else [text])
        return text

    for one in messages:
        _mapped(one.content, collect, answers=one.type == "ai")
    others = [piece for several in pieces for piece in several[::2]]
    safe = unforged(others)
    if safe == others and not any(map(_has_blocks, messages)):
        return messages
    left = iter(safe)
    for several in pieces:
        several[::2] = [next(left) for _ in several[::2]]
    whole = iter(["".join(several) for several in pieces])
    return [_changed(one, lambda _: next(whole)) for one in messages]


def _changed(message: AnyMessage, change: _Change) -> AnyMessage:
    content = _mapped(message.content, change, answers=message.type == "ai")
    if content == message.content:
        return message
    return message.model_copy(update={"content": content})


def _has_blocks(message: AnyMessage) -> bool:
    return not isinstance(message.content, str) and message.type != "ai"


def _mapped(value: Any, change: _Change, *, answers: bool) -> Any:
    """Return content whose texts are changed, in order; of answers only what the model said.

    What a model has thought is signed by its provider, and stays.
    """
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_mapped(one, change, answers=answers) for one in value]
    if not isinstance(value, Mapping) or (answers and value.get("type", "text") not in _SAID):
        return value
    made = dict(value)
    for key, one in value.items():
        if key in _TEXT:
            made[key] = _mapped(one, change, answers=answers)
        elif not answers and key != "type":
            made[key] = _alone(one)
    return made


def _alone(value: Any) -> Any:
    """Return another part of a content block, of which each text is looked at by itself."""
    if isinstance(value, str):
        return unforged([value])[0]
    if isinstance(value, list):
        return [_alone(one) for one in value]
    return {key: _alone(one) for key, one in value.items()} if isinstance(value, Mapping) else value

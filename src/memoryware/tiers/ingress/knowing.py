"""Whether a text only repeats what is in working memory or long-term memory."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from typing import Final

from memoryware.tiers._parts import Parts, current_in
from memoryware.tiers.ingress._phrases import FILLER
from memoryware.tiers.ingress.echo import Known, Piece, echo_of
from memoryware.tiers.ingress.making import AT_ONCE
from memoryware.tiers.records import Entry, Memory
from memoryware.tiers.text.terms import words_of
from memoryware.tiers.text.tokens import is_german, tokenize

logger = logging.getLogger(__name__)

_WORDS: Final = 64
"""Words of a text by which long-term memory is asked."""


@dataclass(frozen=True, slots=True)
class Repetition:
    """What an entry repeats without saying anything else.

    Attributes:
        echo_of: Ids of what was shown to its maker.
        duplicate_of: Ids of what is remembered, and was not shown to its maker.
    """

    echo_of: tuple[str, ...] = ()
    duplicate_of: tuple[str, ...] = ()


async def repetition_of(parts: Parts, entry: Entry, recent: Sequence[Entry]) -> Repetition:
    """Find out what an entry only repeats: what it was shown, or what is remembered.

    Only what an agent says can be an echo. A person who says the same as memory confirms it,
    and so does an agent that was not shown it.

    Args:
        parts: The stores and rules of the memory.
        entry: The entry.
        recent: Working memory of its group, newest first.

    Returns:
        Ids of what it repeats; nothing for an entry that says something else.
    """
    kind = entry.provenance.origin.kind
    if kind not in ("agent", "user", "person"):
        return Repetition()
    found: list[Known] = [*recent, *await _long_term(parts, entry)]
    known = Piece.of(found, parts.limits.echo_chars)
    shown = parts.recalls.ids(entry.scope) if kind == "agent" else frozenset()
    size = len(entry.content) + sum(len(one.content) for one in known)
    work = partial(_compare, entry.content, known, shown)
    return await parts.runner.offload(work) if size > AT_ONCE else work()


def _compare(text: str, known: Sequence[Piece], shown: AbstractSet[str]) -> Repetition:
    everything = echo_of(text, known)
    if not everything:
        return Repetition()
    echo = echo_of(text, [one for one in known if one.id in shown])
    return Repetition(echo_of=echo) if echo else Repetition(duplicate_of=everything)


async def _long_term(parts: Parts, entry: Entry) -> list[Memory]:
    """Return what long-term memory has to a text, by words; nothing if it cannot be asked."""
    look = partial(_telling, entry.content[: parts.limits.echo_chars])
    long = len(entry.content) > AT_ONCE
    words = await parts.runner.offload(look) if long else look()
    if not words:
        return []
    store, scope = parts.tiers.long_term, entry.scope
    which = current_in(parts, scope, agents=tuple({None, scope.agent_id}))
    try:
        hits = await store.by_words(words, which, limit=parts.limits.candidates)
    except Exception as error:  # noqa: BLE001 - a repetition more is better than a run less
        logger.warning("long-term memory was not asked for a repetition: %s", error)
        return []
    return [one.memory for one in hits]


def _telling(text: str) -> list[str]:
    """Return the words of a text that say the most: names and numbers, then the longest."""
    tokens = [token for one in tokenize(text, is_german=is_german(text)) for token in one.tokens]
    names = {word for token in tokens if token.is_name for word in words_of(token.exact)}
    words = dict.fromkeys(words_of(text))
    ranked = sorted(words, key=lambda one: (one not in names, one in FILLER, -len(one)))
    return ranked[:_WORDS]

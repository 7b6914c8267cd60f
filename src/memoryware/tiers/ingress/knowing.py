"""Whether a text only repeats what is in working memory or long-term memory."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial
from typing import Final

from memoryware._twins import Via, in_thread
from memoryware.tiers._parts import Parts, current_in
from memoryware.tiers.ingress._statements import statements_of
from memoryware.tiers.ingress.echo import Known, Piece, echo_of
from memoryware.tiers.ingress.making import AT_ONCE, at_once
from memoryware.tiers.ranking import words_of
from memoryware.tiers.records import Entry, Memory

logger = logging.getLogger(__name__)

_WORDS: Final = 64
"""Words of a text by which long-term memory is asked."""


async def repeated(
    parts: Parts, via: Via, entry: Entry, recent: Sequence[Entry]
) -> tuple[str, ...]:
    """Return the ids of what an entry of an agent only repeats; nothing if it says something.

    What others than agents say is never an echo here: a user who says the same as an agent
    confirms it.
    """
    if entry.provenance.origin.kind != "agent":
        return ()
    found: list[Known] = [*recent, *await _long_term(parts, via, entry)]
    known = Piece.of(found, parts.limits.echo_chars)
    size = len(entry.content) + sum(len(one.content) for one in known)
    work = partial(echo_of, entry.content, known, parts.limits.echo_share)
    return await via(work, partial(in_thread if size > AT_ONCE else at_once, work))


async def _long_term(parts: Parts, via: Via, entry: Entry) -> list[Memory]:
    """Return what long-term memory has to a text, by words; nothing if it cannot be asked."""
    look = partial(_telling, entry.content[: parts.limits.echo_chars])
    long = len(entry.content) > AT_ONCE
    words = await via(look, partial(in_thread if long else at_once, look))
    if not words:
        return []
    store, scope = parts.stores.long_term, entry.scope
    which = current_in(parts, scope, agents=tuple({None, scope.agent_id}))
    try:
        hits = await via(
            store.by_words, store.aby_words, words, which, limit=parts.limits.candidates
        )
    except Exception as error:  # noqa: BLE001 - an echo more is better than a run less
        logger.warning("long-term memory was not asked for an echo: %s", error)
        return []
    return [one.memory for one in hits]


def _telling(text: str) -> list[str]:
    """Return the words of a text that say the most: names and numbers, then the longest."""
    statements = statements_of(text)
    hard = {word for one in statements for word in one.hard}
    soft = {word for one in statements for word in one.filler}
    words = dict.fromkeys(words_of(text))
    ranked = sorted(words, key=lambda one: (one not in hard, one in soft, -len(one)))
    return ranked[:_WORDS]

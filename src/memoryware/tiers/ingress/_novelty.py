"""A quick look whether a text says something new, without reading all that is known.

It never says so of a text of which `echo` would not say so as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from memoryware.guard import drop_hidden
from memoryware.tiers.ingress._statements import Statement, statements_of

_LOOKED_UP: Final = 200
"""Words of a text that are looked for."""


def is_surely_new(statements: Iterable[Statement], known: Sequence[str], share: float) -> bool:
    """Say whether a clause has a name that is nowhere, or too few words that are anywhere.

    Args:
        statements: Those of the text.
        known: All that is known.
        share: Share of the words of a clause that must be known.
    """
    there = "\n".join(_beginnings_in(known))
    looked_up = 0
    for one in statements:
        said = set(one.words) - one.filler
        strange = {word for word in said if _beginning(word) not in there}
        names = one.hard & strange
        if names and (one.has_verb or said - one.hard):
            return True
        much = len(strange - one.hard) > (1 - share) * len(said)
        if much and not one.leads and (len(said) > 1 or one.has_verb):
            return True
        looked_up += len(said)
        if looked_up > _LOOKED_UP:
            break
    return False


def _beginnings_in(known: Iterable[str]) -> Iterator[str]:
    """Return texts in which the beginning of each of their words stands."""
    for one in known:
        text = drop_hidden(one)[0]
        if text.isascii() and "&" not in text:
            yield text.lower().replace(",", "")  # of a number as well
        else:
            yield " ".join(word for said in statements_of(one) for word in said.words)


def _beginning(word: str) -> str:
    """Return how a word begins, whatever ending it has: "stories" and "story" do alike."""
    return word.removesuffix("y")

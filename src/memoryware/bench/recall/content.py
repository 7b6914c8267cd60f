"""Whether a question has a word in common with what answers it."""

from __future__ import annotations

from collections.abc import Iterable

from memoryware.tiers.text.terms import query_words, words_of


def shared_words(question: str, answers: Iterable[str]) -> set[str]:
    """Return the words that a question shares with any text, as the search of words sees them.

    Words such as "what" and "the" do not count, nor do the endings of English words.
    """
    asked = set(query_words(question))
    return asked & {word for text in answers for word in words_of(text)}

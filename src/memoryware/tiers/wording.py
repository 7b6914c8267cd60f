"""Words for people: verdicts, and why working memory or a review leaves an entry out.

States need none: an entry is pending, proposed, promoted, rejected or revoked, a memory current,
superseded or revoked, in the API, on the command line and in the inspector.
"""

from __future__ import annotations

from typing import Final

REFUSED: Final = {
    "too_short": "too short for this memory",
    "no_content": "says nothing",
    "question": "only asks or orders something",
    "pasted": "too long to be typed",
    "duplicate": "the same was there",
    "near_duplicate": "nearly the same was there",
    "echo": "repeats what memory had shown",
    "low_confidence": "the agent was not sure",
    "verify_pending": "its fact check is pending",
    "source_gone": "its sources were forgotten",
    "rejected": "rejected by a reviewer",
}
"""Why working memory did not take an entry, by the codes of the filters."""
UNREVIEWED: Final = {
    "verdict": "judges what others said",
    "facts": "its facts are reviewed instead",
    "decided": "says what is decided already",
}
"""Why an entry is not in review, by the codes of `unreviewed_reason` that are no filters."""


def verdict_word(*, verified: bool) -> str:
    """Return the result of a fact check in one word.

    Args:
        verified: Whether the check confirmed the text.

    Returns:
        The word.
    """
    return "confirmed" if verified else "refuted"


def verdict_label(*, verified: bool) -> str:
    """Return the label of a fact check.

    Args:
        verified: Whether the check confirmed the text.

    Returns:
        The label.
    """
    return f"fact check: {verdict_word(verified=verified)}"


def refused_label(code: str) -> str:
    """Return why working memory did not take an entry.

    Args:
        code: The code of the filter.

    Returns:
        The reason in words; the code without underscores if it is a filter of the application.
    """
    return REFUSED.get(code, code.replace("_", " "))


def unreviewed_label(code: str) -> str:
    """Return why a pending entry is not in review.

    Args:
        code: The code.

    Returns:
        The reason in words.
    """
    return UNREVIEWED.get(code) or refused_label(code)

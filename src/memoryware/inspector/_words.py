"""The vocabulary of the pages: one label for each state, level of trust, verdict and reason.

A record has three facts that are independent of each other, and no word is used for two of them:
its state (what was decided), its trust (where it is from), and the verdict of a fact check.
"""

from __future__ import annotations

from typing import Final

from memoryware.tiers import Trust

STATES: Final = {
    "pending": "undecided",
    "proposed": "proposed",
    "promoted": "approved",
    "rejected": "rejected",
    "revoked": "revoked",
    "current": "current",
    "superseded": "superseded",
    "restored": "restored",
    "forgotten": "forgotten",
    "checked": "fact check",
}
"""Labels of states and of the actions that lead to them, by the codes of the API."""
TRUST: Final = {
    Trust.UNTRUSTED: "from outside",
    Trust.UNVERIFIED: "said by an agent",
    Trust.USER: "said by a user",
    Trust.PERSON: "written by a person",
}
"""Labels of trust: the least trusted source of a text, never a judgement about its truth."""
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


def state_label(code: str) -> str:
    """Return the label of a state or action.

    Args:
        code: The code of the API, such as "promoted".

    Returns:
        The label, such as "approved"; an unknown code is its own label.
    """
    return STATES.get(code, code)


def verdict_label(*, verified: bool) -> str:
    """Return the label of a fact check.

    Args:
        verified: Whether the check confirmed the text.

    Returns:
        The label.
    """
    return f"fact check: {'confirmed' if verified else 'refuted'}"


def refused_label(code: str) -> str:
    """Return why working memory did not take an entry.

    Args:
        code: The code of the filter.

    Returns:
        The reason in words; the code without underscores if it is a filter of the application.
    """
    return REFUSED.get(code, code.replace("_", " "))

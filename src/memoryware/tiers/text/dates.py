"""Dates and periods in a query or a memory, such as "in May 2023" or "two weeks ago"."""

from __future__ import annotations

import unicodedata
from datetime import datetime
from typing import Final

from memoryware.tiers.text import periods as calendar
from memoryware.tiers.text.date_words import may_name_time
from memoryware.tiers.text.periods import Period
from memoryware.tiers.text.time_order import time_order_of

__all__ = ["Period", "mentioned_periods", "periods_of", "time_order_of"]

_MOST: Final = 32
"""Periods at most that are read from one text: each is compared with each record."""


def periods_of(question: str, now: datetime) -> list[Period]:
    """Return the periods that a query names, each once.

    Understood are English, German, Spanish, French, Chinese and Japanese, and dates in figures.
    A date that may be read in two ways gives both; one that does not exist gives none, as does a
    time that is only one end, as in "before 2023".

    Args:
        question: The query.
        now: The moment from which relative times count.

    Returns:
        The periods.
    """
    text = question if question.isascii() else unicodedata.normalize("NFC", question)
    lower = text.lower()
    if not may_name_time(lower):
        return []
    from memoryware.tiers.text.time_parser import TimeParser

    return list(dict.fromkeys(TimeParser(lower, text, now).periods()))[:_MOST]


def mentioned_periods(text: str, said_at: datetime) -> list[Period]:
    """Return the periods that a text speaks of: "yesterday", said on 5 May, is 4 May.

    Args:
        text: The text of a memory.
        said_at: When it was said.

    Returns:
        The periods. A month without a year is the last and the next one of that name.
    """
    mentioned: list[Period] = []
    for period in periods_of(text, said_at):
        if not period.is_recurring:
            mentioned.append(period)
            continue
        for near in (0, 12):
            try:
                moment = calendar.months_after(said_at, near)
                mentioned.append(Period(*calendar.bounds(period, moment)))
            except (ValueError, OverflowError):
                continue
    return list(dict.fromkeys(mentioned))[:_MOST]

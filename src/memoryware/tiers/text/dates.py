"""Dates and periods in a query or a memory, such as "in May 2023" or "two weeks ago"."""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime
from typing import Final, Literal

from memoryware.tiers.text import periods as calendar
from memoryware.tiers.text.date_words import may_name_time
from memoryware.tiers.text.periods import Period

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


# Order.

_FIRST: Final = re.compile(
    r"\b(?:(first)|(last))\b(?! (?:day|week|month|year|night|weekend|quarter|half|few|couple|one"
    r"|two|three|name|class|aid|floor|grade|of|spring|summer|autumn|fall|winter|\d|mon|tue|wed|thu|fri"
    r"|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))"
)
_ASKS: Final = re.compile(r"\b(?:when|who|whom|what|which|where|how)\b[^.?!]*\Z")
_BEFORE_ADJECTIVES: Final = frozenset(
    [
        *("the", "my", "his", "her", "our", "your", "their", "its", "a", "at", "for", "this"),
        *("that", "very", "in", "of", "it", "long"),
    ]
)
"""Words before "first" and "last" where these say something of a noun, or "last" is a verb."""
_BEFORE: Final = 80
"""Characters before "first" in which a question begins."""
_NOUN: Final = r"(?:time|thing|message|conversation|chat|session|meeting|mention|note|entry|visit)"
_OLDEST: Final = re.compile(
    rf"\b(?:first(?: ever)? {_NOUN}\b|earliest\b|initially\b|originally\b|oldest {_NOUN}"
    r"|zum ersten ?mal|das erste mal|erstmals\b|zuerst\b|frühest|anfangs\b|primera vez"
    r"|más antigu[oa]s?\b|première fois|en premier\b)"
    r"|第一次|第一回|最早|首次|最初|最先|初めて|はじめて"
)
_NEWEST: Final = re.compile(
    rf"\b(?:last {_NOUN}\b|latest\b|newest\b|most recent\b|current(?:ly)?\b|now(?:adays)?\b"
    r"|these days\b|at the moment\b|today\b|still\b|presently\b|any ?more\b"
    r"|letzte[snm]? mal\b|neu(?:e)?ste[nrsm]?\b|jüngste[nrsm]?\b|aktuell|inzwischen\b|jetzt\b"
    r"|derzeit|momentan\b|gegenwärtig|mittlerweile\b|heut(?:e|zutage)\b|[úu]ltima vez"
    r"|más recientes?\b|ahora\b|actual(?:mente)?\b|hoy\b|en este momento\b|todavía\b|dernière fois"
    r"|plus récente?s?\b|maintenant\b|désormais\b|aujourd['’]hui\b|actuel)"
    r"|最新|上次|上一次|最后一次|最後一次|最後に|前回|现在|現在|目前|如今|当前|當前|眼下|今の|今は|いま"
    r"|الآن|حاليا"
)
"""What is so now is in the newest text. "Recently" asks for no order: of ten texts that fit, the
one that the question means was as often an older one."""


def time_order_of(query: str) -> Literal["oldest", "newest"] | None:
    """Return whether a query asks for the oldest or the newest: "when did I first", "right now".

    Args:
        query: The query.

    Returns:
        Which comes first; None if the query asks for neither, or for both.
    """
    text = query.lower()
    oldest, newest = _OLDEST.search(text) is not None, _NEWEST.search(text) is not None
    for adverb in _FIRST.finditer(text):
        if _is_adverb(text, adverb):
            oldest, newest = oldest or bool(adverb[1]), newest or bool(adverb[2])
    if oldest == newest:
        return None
    return "oldest" if oldest else "newest"


def _is_adverb(text: str, match: re.Match[str]) -> bool:
    """Return whether "first" or "last" says when something was, as in "when did I first meet"."""
    before = text[max(0, match.start() - _BEFORE) : match.start()]
    words = before.split()
    if not words or words[-1] in _BEFORE_ADJECTIVES or words[-1].endswith(("'s", "’s")):
        return False
    is_end = match[2] is not None and not text[match.end() : match.end() + 3].strip(" ?!.")
    return not is_end and _ASKS.search(before) is not None

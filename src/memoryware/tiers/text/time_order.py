"""Whether a query asks for the oldest or for the newest: "when did I first", "most recent"."""

from __future__ import annotations

import re
from typing import Final, Literal

_CUE: Final = re.compile(
    r"[\s\"'’“„«¿¡(,-](?:first|last|latest|recent|newest|earliest|oldest|initially|originally|zuletzt"
    r"|neu|letzte|erste|erstmals|zuerst|früh|jüngst|anfangs|aktuell|vez|reciente|última|antigu|más"
    r"|fois|récen|premi)|[最第首上初前は]"
)
"""Finds whether a text with a space before it may ask for an order."""
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
_OLDEST: Final = (
    rf"\b(?:first(?: ever)? {_NOUN}\b|earliest\b|initially\b|originally\b|oldest {_NOUN}"
    r"|zum ersten ?mal|das erste mal|erstmals\b|zuerst\b|frühest|anfangs\b|primera vez"
    r"|más antigu[oa]s?\b|première fois|en premier\b)"
    r"|第一次|第一回|最早|首次|最初|最先|初めて|はじめて"
)
_NEWEST: Final = (
    rf"\b(?:last {_NOUN}\b|latest\b|newest\b|recent(?:ly)?\b|zuletzt\b|letzte[snm]? mal\b"
    r"|neu(?:e)?ste[nrsm]?\b|jüngste[nrsm]?\b|aktuellste|[úu]ltima vez|recientes?\b"
    r"|recientemente\b|últimamente|dernière fois|récente?s?\b|récemment\b)"
    r"|最近(?![\d一二两兩三四五六七八九十几幾半])|最新|上次|上一次|最后一次|最後一次|最後に|前回"
)


def time_order_of(query: str) -> Literal["oldest", "newest"] | None:
    """Return whether a query asks for the oldest or the newest: "when did I first", "most recent".

    Args:
        query: The query.

    Returns:
        Which comes first; None if the query asks for neither, or for both.
    """
    text = query.lower()
    if not _CUE.search(f" {text}"):
        return None
    oldest, newest = bool(re.search(_OLDEST, text)), bool(re.search(_NEWEST, text))
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

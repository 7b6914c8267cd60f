"""Secrets told in scripts that put no blanks between words."""

from __future__ import annotations

import re
from typing import Final

from memoryware.guard import _plausible
from memoryware.guard._mentions import Mention
from memoryware.guard._sentence import BEFORE, Place
from memoryware.guard._values import told, trimmed
from memoryware.guard._words import Sort

_VALUE: Final = "[!-&(-_a-~]"
"""ASCII without blanks, `'` and the backtick."""
_BEHIND: Final = re.compile(
    r"(?:\s{0,3}|[^\n.!?;]{0,24}?"
    r"(?:คือ|是|为|為|改成|改为|改為|设为|設為|设置为|は|が|を|に|:|=|은|는|이|가|로|를|을))"
    rf"\s{{0,3}}[\"'`]?(?P<value>{_VALUE}{{4,120}})"
)
_BEFORE: Final = re.compile(
    rf"(?P<value>{_VALUE}{{5,120}})[\"'`]?\s{{0,3}}"
    r"(?:是|が|は|为|為|作为|作為|を|이|가)[^\n.!?;!-~]{0,16}$"
)


def find(text: str, mention: Mention) -> Place | None:
    """Return the secret behind the word, or before it."""
    start = max(0, mention.start - BEFORE)
    for match in (
        _BEHIND.match(text, mention.end),
        _BEFORE.search(text, start, mention.start),
    ):
        if match is None:
            continue
        place = trimmed(text, *match.span("value"))
        value = text[slice(*place)]
        password = mention.sort is Sort.PASSWORD
        if told(value) if password else _plausible.looks_random(value, 16):
            return place
    return None

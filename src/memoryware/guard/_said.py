"""Secrets as people say them: "my wifi password is ...", in many languages."""

from __future__ import annotations

import re
from typing import Final

from memoryware.guard import _codes, _passwords, _plausible, _seeds, _unspaced
from memoryware.guard._lexicon import IS, KEYED, SOMETHING_ELSE, listed
from memoryware.guard._mentions import Mention
from memoryware.guard._scan import Scan
from memoryware.guard._sentence import BEFORE, BEHIND, Place, Sentence
from memoryware.guard._values import has_digit, is_strong, told, trimmed
from memoryware.guard._words import Sort
from memoryware.guard.finding import Span

_STEPS: Final = 25
"""What it costs to read the sentence around a word."""
_DIGIT: Final = re.compile("[0-9]")
_WITHOUT_DIGITS: Final = (Sort.PASSWORD, Sort.SEED, Sort.LOGIN)
"""What may be told without a digit."""
_PAIR: Final = re.compile(
    r"""
    s?["'`*)]{0,3}\s{0,3}
    (?: \([^()\n]{0,40}\)
      | (?:for|to|of|on|für|fürs|zum|pour|du|de|para|per|voor|do|для|access)(?:\s[\w.-]{1,30}){1,3}
      | access | with | as | using | mit | avec | con | com | met
    )? \s{0,3}
    (?:: | = | - | is | are | sind | sont | son | sono | są)? \s{0,3}
    ["'`]? (?:user(?:name)?\s)? [\w.@+-]{2,60} ["'`]? \s{0,3}
    (?:/ | : | \| | , | \b(?:and|und|et|y|e|en)\b) \s{0,3}
    (?:password\s)? ["'`]? (?P<value>[^\s"'`,;]{4,80})
    """,
    re.VERBOSE,
)
_NO_SECRET: Final = re.compile(
    r"commit|hash|sha\d*|md5|checksum|digest|revision|rev|etag|fingerprint|uuid|guid|id|build|"
    r"version|public|file|path|blob|image|prüfsumme"
)
"""What the random value is that stands behind it."""
_LISTED: Final = re.compile("[\"'`]{1,2},")
_NO_LETTER: Final = re.compile(r"\W")
_TOLD: Final = IS - {"="} | {"is:", "now", "jetzt"}
_OPENED: Final = frozenset(listed("api service app"))


def find(scan: Scan, mention: Mention) -> Span | None:
    """Return the secret that a sentence tells around the word, if it does."""
    text = scan.text
    start, end = max(0, mention.start - BEFORE), mention.end + BEHIND
    if mention.sort not in _WITHOUT_DIGITS and not _DIGIT.search(text, start, end):
        return None
    if _LISTED.match(text, mention.end):
        return None  # one of a list of names
    if not scan.afford(mention.start, _STEPS):
        return None
    if mention.unspaced:
        place = _unspaced.find(text, mention)
    elif mention.sort is Sort.SEED:
        place = _seeds.find(text, mention)
    elif mention.sort is Sort.LOGIN:
        place = _pair(text, mention) or _token(Sentence.around(scan, mention))
    else:
        place = _told(Sentence.around(scan, mention))
    return (mention.sort.value, *place) if place is not None else None


def _told(sentence: Sentence) -> Place | None:
    if sentence.behind and sentence.behind[0].bare in SOMETHING_ELSE:
        return None
    sort = sentence.mention.sort
    if sort is Sort.PASSWORD:
        return _passwords.find(sentence)
    if sort is Sort.OPENER:
        return _codes.opener(sentence)
    if sort in (Sort.PIN, Sort.CODE, Sort.CARD):
        return _codes.find(sentence)
    return _token(sentence)


def _token(sentence: Sentence) -> Place | None:
    """Return a random value in the same sentence as the word for a token or a key."""
    opening = sentence.mention.sort is not Sort.KEY or _opening(sentence)
    words = sentence.behind if opening else sentence.behind[:2]
    for number, word in enumerate(words):
        if number and _NO_SECRET.fullmatch(_NO_LETTER.sub("", word.low)):
            return None
        last = words[number - 1] if number else word
        joined = number > 0 and (last.low in _TOLD or (opening and last.text.endswith(":")))
        value, place = sentence.value(word)
        near = joined or (opening and number < 2)
        if near and _plausible.is_uuid(value):
            return place
        judged = near or (opening and not _plausible.is_hex(value))
        if judged and sentence.scan.is_random(value, 16, place[0]):
            return place
        short = joined and sentence.mention.sort is Sort.SECRET and len(value) >= 8
        if short and has_digit(value) and is_strong(value):
            return place
        if word.stops and number > 1:
            return None
    return _passwords.before(sentence) if opening else None


def _opening(sentence: Sentence) -> bool:
    """Say whether a bare "key" opens something: "Datadog key", "the key for the API"."""
    named = any(one.low in KEYED or one.low in ("my", "our") for one in sentence.before[-2:])
    return named or any(one.bare in _OPENED for one in sentence.behind[:5])


def _pair(text: str, mention: Mention) -> Place | None:
    """Return the second half of "login: user / password"."""
    match = _PAIR.match(text, mention.end)
    if match is None:
        return None
    start, end = trimmed(text, *match.span("value"))
    value = text[start:end]
    named = value.isdigit() or "=" in value or value.isalpha()
    return None if named or not told(value) else (start, end)

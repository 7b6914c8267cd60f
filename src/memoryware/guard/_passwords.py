"""Passwords in sentences."""

from __future__ import annotations

import re
from typing import Final

from memoryware.guard import _plausible
from memoryware.guard._lexicon import CHANGES, COMMON, FILLERS, listed
from memoryware.guard._scan import Word
from memoryware.guard._seeds import JOINING
from memoryware.guard._sentence import Place, Sentence
from memoryware.guard._values import further, has_digit, is_ordinary, is_strong
from memoryware.guard._words import Sort, announces

_MINE: Final = frozenset(listed("my our his her their wifi wi-fi"))
_OWNED: Final = _MINE | frozenset(
    listed("""
        the your router login email gmail netflix account admin root wlan network guest laptop
        server database db master vpn phone computer's
    """)
)
_REVERSED: Final = frozenset(
    listed("""
        is as ist als est comme es como è come é jest to jako это как är som er = - for für pour
    """)
)
"""What joins a password and the word for it: "... is my password"."""
_QUOTED: Final = re.compile(
    r"(?P<mark>[\"'`]|\*{1,2}[\"'`]?)(?P<value>(?:(?!(?P=mark))[^\n]){4,120})(?P=mark)"
)
_DESCRIBES: Final = listed("ed ing able ible ly ful less ous ive ory")
"""Endings of words that describe something."""
_ENGLISH: Final = listed("pass pwd pw")
_OWNED_ABROAD: Final = frozenset(
    listed(
        "mijn ons onze mein meine unser mon ma notre mi nuestra mio mia la il meu minha moje min"
    )
)
_PHRASED: Final = re.compile(r"[a-z]{3,12}[.]?")
_NOT_PHRASED: Final = JOINING | set(
    listed("""
        that with use used one you your not may
        het een van voor niet nog steeds met dat wat zijn wordt werd heeft naar ook maar door bij
        der die das ein eine und oder nicht noch immer mit von bei auch wird wurde hat sind zum zur
        les des une pour avec pas est sur dans par mais qui que plus sont trop encore toujours
        los las una con por para pero muy está más como todo esta non per che gli della sono molto
        não uma com mas muito ainda jest nie się już ale
    """)
)


def find(sentence: Sentence) -> Place | None:
    """Return the password that a sentence tells around a word for it."""
    mine = bool(sentence.before) and sentence.before[-1].low in _MINE
    if not sentence.mention.last or (sentence.word == "pass" and not mine):
        return None
    return _joined(sentence) or _unjoined(sentence) or _phrase(sentence) or before(sentence)


def _joined(sentence: Sentence) -> Place | None:
    """Return the value behind an "is", or in brackets."""
    behind = sentence.behind
    changed = any(one.low.startswith(CHANGES) for one in [*sentence.before[-4:], *behind[:8]])
    bracketed = [
        number for number in range(1, min(6, len(behind))) if behind[number].text[0] == "("
    ]
    for number in [*sentence.after_is(changed=changed), *bracketed]:
        found = candidate(sentence, number)
        if found is None and number and behind[number - 1].low in ("is", "was", "is:", "are"):
            found = _plain_word(sentence, number)
        if found is not None:
            return found
    return None


def _unjoined(sentence: Sentence) -> Place | None:
    """Return a value that nothing joins with the word, where nothing else can be meant."""
    behind = sentence.behind
    numbers = []
    if behind and not sentence.text[sentence.mention.start].isascii() and len(behind) < 6:
        numbers.append(len(behind) - 1)
    if len(behind) > 1 and len(behind[0].low) <= 4 and _foreign(sentence.word):
        numbers.append(1)  # a short word, which may be an "is" that is not known here
    if behind and not sentence.attached:
        numbers.append(0)
    for number in numbers:
        found = candidate(sentence, number)
        if found is not None and certain(sentence.text, found):
            return found
    return None


def _foreign(word: str) -> bool:
    return not word.startswith(_ENGLISH) or word.startswith("passo")


def candidate(sentence: Sentence, number: int) -> Place | None:
    """Return a word behind the one for a secret, or what it opens a quotation of, if told."""
    word = sentence.behind[number]
    quoted = _QUOTED.match(sentence.text, word.start)
    if quoted is not None and _in_quotes(quoted["value"], bold=quoted["mark"][0] == "*"):
        start = quoted.start("value") + len(quoted["value"]) - len(quoted["value"].lstrip())
        return start, start + len(quoted["value"].strip())
    value, place = sentence.value(word)
    following = sentence.behind[number + 1].low if number + 1 < len(sentence.behind) else ""
    if not sentence.scan.is_password(value, following, place[0]):
        return None
    whole = place[1] == word.end and sentence.mention.sort is Sort.PASSWORD
    return place[0], further(sentence.text, place[1]) if whole else place[1]


def _in_quotes(value: str, *, bold: bool) -> bool:
    """Say whether what stands in quotation marks is a password rather than a word for one."""
    other = (
        _plausible.stands_in(value)
        or _plausible.is_address(value)
        or is_ordinary(value)
        or announces(value)
    )
    most = 1 if bold else 14 if has_digit(value) else 8
    return not other and len(value.split()) <= most


def certain(text: str, place: Place) -> bool:
    """Say whether a value can be told from words although nothing joins it with them."""
    value = text[slice(*place)]
    if text[place[0] - 1] in "\"'`" and is_strong(value):
        return True
    if len(value) < 6 or value.isdigit() or not has_digit(value):
        return False
    tests = (str.islower, str.isupper, lambda one: not one.isalnum())
    return any(any(map(test, value)) for test in tests)


def _plain_word(sentence: Sentence, number: int) -> Place | None:
    """Return a plain word that ends "my password is ..." and describes nothing."""
    word = sentence.behind[number]
    final = word.stops or number == len(sentence.behind) - 1
    if not final or not _owned(sentence):
        return None
    value, place = sentence.value(word)
    describes = (
        len(value) < 6
        or not (value.isascii() and value.isalpha() and value.islower())
        or value in COMMON
        or value in FILLERS
        or value.endswith(_DESCRIBES)
        or announces(value)
    )
    return None if describes else place


def _owned(sentence: Sentence) -> bool:
    return any(one.low in _OWNED for one in sentence.before[-3:])


def _phrase(sentence: Sentence) -> Place | None:
    """Return the words of "my passphrase is ..." up to the end of the line, if they say nothing."""
    for number in sentence.after_is():
        words = sentence.behind[number:]
        abroad = any(one.low in _OWNED_ABROAD for one in sentence.before[-3:])
        if not 4 <= len(words) <= 8 or not (abroad or _owned(sentence)):
            continue
        common = sum(one.bare in COMMON for one in words)
        good = (
            all(_PHRASED.fullmatch(one.text) for one in words)
            and _NOT_PHRASED.isdisjoint(one.low for one in words)
            and common <= (sentence.word == "passphrase")
            and sentence.text[words[-1].end : words[-1].end + 1] in ("", "\n")
        )
        if good:
            return words[0].start, sentence.value(words[-1])[1][1]
    return None


def before(sentence: Sentence) -> Place | None:
    """Return the value of "... is my password" and "use ... as the key"."""
    words = sentence.before
    for number in range(len(words) - 1, max(0, len(words) - 6), -1):
        word = words[number]
        bracket = word.text[0] == "(" and number > len(words) - 4
        if not bracket and word.stops:
            return None
        if bracket or word.low in _REVERSED:
            return _told_before(sentence, words[:number] or words[-1:])
    return None


def _told_before(sentence: Sentence, words: list[Word]) -> Place | None:
    value, place = sentence.value(words[-1])
    if sentence.mention.sort is Sort.PASSWORD:
        good = not value.isdigit() and sentence.scan.is_password(value, "", place[0])
        if not good:
            return None
        start = place[0]
        for word in reversed(words[:-1]):  # a password of several words
            more, (begin, end) = sentence.value(word)
            if end != word.end or not sentence.scan.is_password(more, "", begin):
                break
            start = begin
        return start, place[1]
    return place if _plausible.looks_random(value, 20) else None

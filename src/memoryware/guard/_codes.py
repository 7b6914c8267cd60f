"""Numbers that are typed in: PINs, and codes of which it is said what they open."""

from __future__ import annotations

import re
from typing import Final

from memoryware.guard._lexicon import CHANGES, PLACES, listed
from memoryware.guard._passwords import candidate, certain
from memoryware.guard._scan import Word
from memoryware.guard._sentence import Place, Sentence
from memoryware.guard._values import has_digit, is_digits
from memoryware.guard._words import Sort

_CODE: Final = re.compile(
    r"""
    ["'`*(]{0,3}
    (?P<value> [\#*]?
      (?: \d{3,12} | \d{1,4}(?:[- .]\d{1,4}){1,5} | [A-ZА-Я0-9]{3,10}
        | [a-z0-9]{4,6}-[a-z0-9]{4,6} )
      [\#*]? )
    (?! [\w/:%] | \.\d )
    """,
    re.VERBOSE,
)
_NEXT: Final = re.compile(
    r"(?:[,;]\s{0,3}|\s{1,3})(?:\d{4,10}|[a-z0-9]{4,6}-[a-z0-9]{4,6})(?![\w:/.])"
)
_TOWN: Final = re.compile(r"(?<=\d{5}),? [A-Z][a-zà-ÿ]{2,}")
_OBJECTS: Final = frozenset(listed("the a an this that all every these those it our each"))
_SUBJECTS: Final = frozenset(
    (*listed("to we i you they please always must should can will and then or never not"), "")
)
"""Words before and behind the verb "to pin"."""
_MOST_CODES: Final = 20
"""Codes of one list."""
_COUNTED: Final = re.compile(
    r"\s(?:digit|char|times|day|hour|min|sec|people|line|page|%|stell|ziffer)", re.IGNORECASE
)
_PLACE_INSIDE: Final = listed("tür zugang toegang adgang key")
"""Parts of words for a code that say what it opens."""
_WITH: Final = frozenset(
    listed("with by using use type typing enter press dial is code mit avec con com : -")
)


def find(sentence: Sentence) -> Place | None:
    """Return a PIN, or a code of which it is said what it opens."""
    behind, sort = sentence.behind, sentence.mention.sort
    named = _names_place(sentence.before[-4:]) or any(
        part in sentence.word for part in _PLACE_INSIDE
    )
    numbers = [one for one in sentence.after_is() if not _only_pinned(sentence, one)]
    numbers += [number + 1 for number, one in enumerate(behind[:6]) if one.low in PLACES]
    if sort is Sort.PIN or named:
        numbers.append(0)
    for number in numbers:
        opens = named or _names_place(behind[:number])
        if number < len(behind) and (opens or sort is not Sort.CODE):
            match = _CODE.match(sentence.text, behind[number].start)
            if match is None or _is_postal(sentence, match):
                continue
            if _good(match, short=sort is Sort.CARD, opens=opens):
                return match.start("value"), _end_of_list(sentence.text, match.end())
    return None


def _is_postal(sentence: Sentence, match: re.Match[str]) -> bool:
    """Say whether a number is the PIN code of a place, as India calls its postal codes.

    Only a town behind it tells: "Pincode 560001, Bangalore", "PIN code 10435 Berlin".
    """
    is_code = sentence.word.startswith("pincode") or any(
        word.low == "code" for word in sentence.behind[:1]
    )
    return is_code and _TOWN.match(match.string, match.end()) is not None


def _only_pinned(sentence: Sentence, number: int) -> bool:
    """Say whether a number is what something is pinned to: "pin the server to 8080".

    "To" also joins a PIN with a change ("set my PIN to 8080"), and is the Polish word for "is".
    """
    if sentence.mention.sort is not Sort.PIN:
        return False
    behind = sentence.behind
    joined = max((place for place in range(number) if behind[place].low == "to"), default=-1)
    least = 0 if sentence.word == "pins" else 1
    if joined >= least and joined >= number - 3:
        near = [*sentence.before[-4:], *behind[:number]]
        return not any(one.low.startswith(CHANGES) for one in near)
    return _is_verb(sentence)


def _is_verb(sentence: Sentence) -> bool:
    """Say whether "pin" is what somebody does: "pin the note at the top"."""
    first = sentence.behind[0].low if sentence.behind else ""
    before = sentence.before[-1].low if sentence.before else ""
    return first in _OBJECTS and before in _SUBJECTS


def _names_place(words: list[Word]) -> bool:
    return any(one.bare in PLACES for one in words)


def _good(match: re.Match[str], *, short: bool, opens: bool) -> bool:
    value = match["value"]
    if _COUNTED.match(match.string, match.end()):
        return False
    return is_digits(value, 3 if short or opens else 4) or (opens and has_digit(value))


def _end_of_list(text: str, end: int) -> int:
    for _ in range(_MOST_CODES):
        more = _NEXT.match(text, end)
        if more is None:
            break
        end = more.end()
    return end


def opener(sentence: Sentence) -> Place | None:
    """Return what something is opened with: "unlocks with 4711", "keypad: 4711"."""
    if sentence.word == "lock" and not _names_place(sentence.before[-1:]):
        return None
    for number, word in enumerate(sentence.behind[:8]):
        comma = word.text.endswith(",")
        if number + 1 == len(sentence.behind) or not (
            comma or word.low in _WITH or word.text.endswith(":")
        ):
            continue
        match = _CODE.match(sentence.text, sentence.behind[number + 1].start)
        if match is not None and is_digits(match["value"]):
            return match.span("value")
        found = None if comma else candidate(sentence, number + 1)
        named = found is not None and "=" in sentence.text[slice(*found)]
        if found is not None and not named and certain(sentence.text, found):
            return found
    return None

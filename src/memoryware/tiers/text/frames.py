"""Two sentences of one frame: the same words but for what fills one or more of their places.

`compare` counts shared words, which says too little about short sentences: "We deploy on
Fridays at 14:00" and "We deploy on Mondays at 10:00" share one word of three that count.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final, TypeAlias

from memoryware._remembering import remembered
from memoryware.tiers.text.tokens import (
    BREAK,
    DAYS_AND_MONTHS,
    MARKERS,
    PAUSE,
    Sentence,
    Token,
    word_set,
)

MAX_FRAME: Final = 40
"""Tokens of a sentence that is looked at; a longer one says more than one thing."""
_MAX_FILLER: Final = 3
"""Tokens that fill a place."""
_MIN_FRAME: Final = 2
"""Tokens that both sentences must begin with, so that they speak of one thing."""

_DAYS: Final = DAYS_AND_MONTHS | word_set("""
montags dienstags mittwochs donnerstags freitags samstags sonntags
today tomorrow daily weekly monthly heute morgen täglich wöchentlich monatlich
""")
_NUMBER: Final = re.compile(r"[$€£]?v?\d[\w.:,/%-]*", re.IGNORECASE)
_VERSION: Final = re.compile(r"v\d+(?:\.\d+)*|\d+(?:\.\d+)+", re.IGNORECASE)
_BEFORE_FILLER: Final = word_set("""
on in at by from to within until till per every is are = um am im bei von zu bis ab ist sind jeden
jede jedes
""")
_REQUIRED: Final = word_set("""
required needed necessary mandatory pinned installed erforderlich nötig notwendig benötigt
vorgeschrieben installiert
""")
_VERBS: Final = word_set("""
be is are was were has have had does do must may can will should ist sind war hat haben muss kann
darf soll 是 在 有
""")
_OF_MANY: Final = word_set("""
like likes love loves enjoy enjoys has have had sell sells offer offers include includes contain
contains serve serves mag mögen liebt lieben hat haben verkauft bietet enthält 欢 有 卖
""")
"""Verbs that may have many objects at once."""
_ADDING: Final = word_set("also too additionally auch ebenfalls außerdem zusätzlich 也 还")
_DATED: Final = word_set("today tomorrow yesterday heute gestern 今 明 昨")
_PREPOSITIONS: Final = word_set("""
on in at by for from to with within during since till until via every
am im an auf für von zu mit in seit bis bei
""")
_HOLDING: Final = word_set("""
leads lead owns own heads head chairs chair manages manage leitet besitzt führt verantwortet
""")
_RESPONSIBLE: Final = tuple(
    tuple(phrase.split())
    for phrase in (
        "is responsible for",
        "is accountable for",
        "is in charge of",
        "is on call for",
        "ist verantwortlich für",
        "ist zuständig für",
    )
)
_CHINESE_HOLDING: Final = (("负", "责"), ("领", "导"), ("带", "领"), ("主", "管"))
_OWNED: Final = word_set("our my your unser unsere unseren unserer mein meine")
_SEVERAL: Final = word_set("""
and or also too together another other und oder auch ebenfalls zusammen 和 与 也 还
""")
_NOTING: Final = word_set("""
noted note update updated correction corrected fyi info news hinweis korrektur notiz neu
aktualisiert
""")
_NOW: Final = word_set("now meanwhile jetzt nun inzwischen mittlerweile")
_CORRECTING: Final = word_set("not instead rather formerly previously nicht statt anstatt früher")


_Change: TypeAlias = tuple[int, int, Sequence[Token], Sequence[Token]]
"""Where two sentences begin to differ, and the words that each has there."""


def fills_a_place_otherwise(first: Sentence, second: Sentence) -> bool:
    """Return whether two sentences are one frame whose places cannot hold both fillers.

    Args:
        first: A sentence.
        second: Another, tokenized for the same language.
    """
    if max(len(first.tokens), len(second.tokens)) > MAX_FRAME:
        return False
    left, right = _plain(first), _plain(second)
    if not left or not right:
        return False
    same_start = left[0].stem == right[0].stem
    # Most pairs share neither a beginning nor an end, which is quick to see.
    if not same_start and left[-1].exact != right[-1].exact:
        return False
    if _markers(left) != _markers(right):
        return False
    if not same_start:
        return _other_holder(left, right)
    if not _differ_in_fillers(left, right):
        return False
    changes = _changes(left, right)
    return _other_fillers(left, changes) or _other_version(left, changes)


def both_may_hold(first: Sequence[Token], second: Sequence[Token]) -> bool:
    """Return whether sentences that share their words speak of two things, or of two matters.

    "The office is in Rome" and "The office has a garden"; "The team likes tea" and "The team
    likes coffee"; "In 2024 revenue was 5 million" and "In 2025 revenue was 7 million"; "Ann
    works in Rome" and "Ann works on Mondays"; "Bob leads it" and "Ann leads it as well".
    """
    left, right = ([token for token in side if token.exact != PAUSE] for side in (first, second))
    words = [{token.exact for token in side} for side in (left, right)]
    if (words[0] ^ words[1]) & _ADDING:
        return True
    verbs = [side & _VERBS for side in words]
    if any(verbs) and not verbs[0] & verbs[1]:
        return True
    start = _common_start(left, right)
    rests = [side[start:] for side in (left, right)]
    if start and left[start - 1].exact in _OF_MANY:
        stems = [{token.stem for token in side} for side in rests]
        return not stems[0] & stems[1]
    return _other_thing(left, right) or _other_matter(*rests)


def _common_start(left: Sequence[Token], right: Sequence[Token]) -> int:
    pairs = enumerate(zip(left, right, strict=False))
    return next(
        (n for n, (token, other) in pairs if token.stem != other.stem), min(len(left), len(right))
    )


def _other_thing(left: Sequence[Token], right: Sequence[Token]) -> bool:
    """Return whether what is spoken of differs, and what is said of it differs as well."""
    changes = _changes(left, right)
    if len(changes) < 2:
        return False
    position, _, old, new = changes[0]
    if position and _kind(old) == _kind(new) == "number" and not _is_open(left, position):
        return True
    kinds = [_kind(old) == _kind(new) != "" for _, _, old, new in changes]
    if any(kinds) and not all(kinds):  # "Ann met Bob on Monday" and "Ann met Carl on Friday"
        return True
    verb = next((at for at, token in enumerate(left) if at and token.exact in _VERBS), 0)
    return position < verb <= changes[-1][0]


def _other_matter(left: Sequence[Token], right: Sequence[Token]) -> bool:
    """Return whether one says where and the other when, or one a day and the other none."""
    if not left or not right:
        return False
    if (left[0].exact in _DATED) != (right[0].exact in _DATED):
        return not _kind(left[:1]) or not _kind(right[:1])
    heads = left[0].exact, right[0].exact
    if heads[0] == heads[1] or not set(heads) <= _PREPOSITIONS:
        return False
    kinds = [_kind(side[1:]) for side in (left, right)]
    return (kinds[0] == "") or (kinds[1] == "")


@remembered(4096)
def _plain(sentence: Sentence) -> tuple[Token, ...]:
    """Return a sentence without "Correction:", without "now" and without ", not on Fridays"."""
    kept = [*sentence.tokens]
    if len(kept) > 1 and kept[0].exact in _NOTING and kept[1].exact == PAUSE:
        kept = kept[2:]
    for position, token in enumerate(kept[:-1]):
        if token.exact == PAUSE and token.stem != BREAK and kept[position + 1].exact in _CORRECTING:
            kept = kept[:position]
            break
    return tuple(token for token in kept if token.exact != PAUSE and token.exact not in _NOW)


def _markers(tokens: Sequence[Token]) -> list[str]:
    return sorted(token.stem for token in tokens if {token.exact, token.stem} & MARKERS)


def _changes(left: Sequence[Token], right: Sequence[Token]) -> list[_Change]:
    """Return where two sentences differ and what stands there; none if one adds to the other."""
    ours, theirs = [token.stem for token in left], [token.stem for token in right]
    changes = []
    for kind, i, j, begin, stop in SequenceMatcher(
        None, ours, theirs, autojunk=False
    ).get_opcodes():
        if kind == "equal":
            continue
        if kind != "replace" or max(j - i, stop - begin) > _MAX_FILLER:
            return []
        changes.append((i, begin, left[i:j], right[begin:stop]))
    return changes


def _kind(filler: Sequence[Token]) -> str:
    """Return what fills a place: a day, a number, or "" for anything else."""
    words = [token.exact for token in filler]
    if all(word in _DAYS for word in words):
        return "day"
    if all(_NUMBER.fullmatch(word) for word in words):
        return "number"
    return "date" if all(word in _DAYS or _NUMBER.fullmatch(word) for word in words) else ""


def _differ_in_fillers(left: Sequence[Token], right: Sequence[Token]) -> bool:
    """Return whether every word of only one sentence is a day or a number: a quick look."""
    stems = [{token.stem for token in side} for side in (left, right)]
    return all(
        token.stem in others or token.exact in _DAYS or _NUMBER.fullmatch(token.exact)
        for side, others in ((left, stems[1]), (right, stems[0]))
        for token in side
    )


def _other_fillers(left: Sequence[Token], changes: Sequence[_Change]) -> bool:
    """Return whether days and numbers differ behind what both sentences speak of.

    Behind a subject and a verb, or a preposition: "Order 17 shipped on Monday" and "Order 18
    shipped on Tuesday" speak of two orders.
    """
    if not changes or changes[0][0] < _MIN_FRAME or changes[0][1] < _MIN_FRAME:
        return False
    return all(
        _kind(old) and _kind(old) == _kind(new) and _is_open(left, position)
        for position, _, old, new in changes
    )


def _is_open(tokens: Sequence[Token], position: int) -> bool:
    """Return whether a day or time, and not the number of a thing, is expected at a place."""
    return tokens[position - 1].exact in _BEFORE_FILLER or tokens[position].exact in _DAYS


def _other_version(left: Sequence[Token], changes: Sequence[_Change]) -> bool:
    """Return whether one thing is required in two versions."""
    if len(changes) != 1 or not {token.exact for token in left} & _REQUIRED:
        return False
    position, other, old, new = changes[0]
    if position < 1 or other < 1 or len(old) != 1 or len(new) != 1:
        return False
    return all(_VERSION.fullmatch(filler[0].exact) for filler in (old, new))


def _other_holder(left: Sequence[Token], right: Sequence[Token]) -> bool:
    """Return whether two have what only one can have: "Ann leads the team", "Bob leads the team".

    What many can have of one kind is left out: "owns a car", "is allergic to peanuts".
    """
    if {token.exact for token in (*left, *right)} & (_SEVERAL | MARKERS):
        return False
    sides = left, right
    ends = [_holding(side) for side in sides]
    if 0 in ends:
        return False
    rests = [[token.exact for token in side[end:]] for side, end in zip(sides, ends, strict=True)]
    holders = [[token.stem for token in side[:end]] for side, end in zip(sides, ends, strict=True)]
    return rests[0] == rests[1] and holders[0] != holders[1]


def _holding(tokens: Sequence[Token]) -> int:
    """Return where a verb of holding begins whose object is definite; 0 if there is none."""
    words = [token.exact for token in tokens]
    for at in range(1, min(len(words) - 1, _MAX_FILLER + 1)):
        if any(tuple(words[at : at + len(phrase)]) == phrase for phrase in _RESPONSIBLE):
            return at if len(words) > at + 3 else 0
        if tuple(words[at : at + 2]) in _CHINESE_HOLDING:
            return at if len(words) > at + 2 else 0
        follows = tokens[at + 1]
        if words[at] in _HOLDING and (follows.is_definite or follows.exact in _OWNED):
            return at
    return 0

"""English words without their endings, and words that say nothing in a question.

The endings are those of M. F. Porter, "An algorithm for suffix stripping", Program 14 (3), 1980.
"""

from __future__ import annotations

import re
from typing import Final, TypeAlias

from memoryware._remembering import remembered

_STOPPED: Final = """
a about above after again all also am an and any are as at be because been before being below
between both but by can could did do does doing done down during each few for from further had has
have having he her here hers him his how i if in into is it its itself just let me more most my
myself no nor not now of off on once only or other our ours out over own please same shall she
should so some such than that the their theirs them then there these they this those through to
too under until up us very was we were what when where which while who whom whose why will with
would you your yours tell know anything something ever s t d ll m re ve don doesn didn isn wasn
der das dem des ein eine einer eines einen und oder ist sind wie wer wo wann warum welche welcher
welches wir ihr ich nicht von zu
le la les une du de et ou est sont qui que quoi quel quelle quand comment nous vous il elle
el los las una y por para como cual cuando donde
"""
STOP: Final = frozenset(_STOPPED.split())
"""Words of a question that are left out where it has others."""

_LONGEST: Final = 64
"""Characters of a word whose stem is kept in mind."""
_PLAIN: Final = re.compile(r"[a-z]{3,}")
_IRREGULAR: Final = """
bought buy|brought bring|built build|came come|chose choose|chosen choose|drank drink|drove drive
driven drive|ate eat|eaten eat|fell fall|fallen fall|felt feel|fought fight|found find|flew fly
flown fly|forgot forget|forgotten forget|gave give|given give|went go|gone go|grew grow|grown grow
held hold|kept keep|knew know|known know|learnt learn|left leave|lent lend|lost lose|made make
meant mean|met meet|paid pay|ran run|said say|saw see|seen see|sold sell|sent send|slept sleep
spoke speak|spoken speak|spent spend|stood stand|swam swim|took take|taken take|taught teach
told tell|thought think|understood understand|woke wake|won win|wore wear|worn wear|wrote write
written write|began begin|begun begin|broke break|broken break|sang sing|sung sing|sat sit
got get|gotten get|drew draw|drawn draw|threw throw|thrown throw|caught catch|became become
children child|men man|women woman|people person|mice mouse|feet foot|teeth tooth
wives wife|wolves wolf|knives knife|indices index|matrices matrix|analyses analysis
"""
_ROOTS: Final = dict(pair.split() for pair in re.split(r"[|\n]", _IRREGULAR) if pair)
"""What is written otherwise in the past, or where there are several."""

_Endings: TypeAlias = tuple[tuple[str, str], ...]
"""Endings, and what stands in their place."""
_SECOND: Final[_Endings] = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"),
    ("abli", "able"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"),
    ("ization", "ize"), ("ation", "ate"), ("ator", "ate"), ("alism", "al"), ("iveness", "ive"),
    ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"),
)  # fmt: skip
_THIRD: Final[_Endings] = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""),
    ("ness", ""),
)  # fmt: skip
_FOURTH: Final[_Endings] = tuple(
    (one, "")
    for one in (
        "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "sion", "tion", "ism",
        "ate", "iti", "ous", "ive", "ize", "al", "er", "ic", "ou",
    )
)  # fmt: skip
_ENDINGS: Final = {one: tuple(ending for ending, _ in one) for one in (_SECOND, _THIRD, _FOURTH)}


def stemmed(word: str) -> str:
    """Return a word without English endings: "decided", "decides" and "deciding" are one.

    Only words of lower-case ASCII letters change, so codes, names with digits and other scripts
    stay as they are.
    """
    return _remembered(word) if len(word) <= _LONGEST else _stemmed(word)


def _stemmed(word: str) -> str:
    if not _PLAIN.fullmatch(word):
        return word
    word = _ROOTS.get(word, word)
    word = _without_verb_ending(_without_plural(word))
    if word.endswith("y") and _kinds(word[:-1]).endswith("c") and len(word) > len("xy"):
        word = word[:-1] + "i"  # not "deploy", which its other forms keep
    word = _without(word, _SECOND, 1)
    word = _without(word, _THIRD, 1)
    word = _without(word, _FOURTH, 2)
    return _without_last(word)


_remembered: Final = remembered(65_536)(_stemmed)


def _kinds(word: str) -> str:
    """Return a word as vowels and consonants: "toy" is "cvc", "syzygy" is "cvcvcv"."""
    made = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and made.endswith("c"))
        made += "v" if vowel else "c"
    return made


def _has_vowel(word: str) -> bool:
    return "v" in _kinds(word)


def _measure(word: str) -> int:
    """Return how often vowels are followed by consonants."""
    return _kinds(word).count("vc")


def _is_short(word: str) -> bool:
    """Say whether a word ends like "hop": its "e" is not a part of the ending."""
    return _kinds(word).endswith("cvc") and word[-1] not in "wxy"


def _without_plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _without_verb_ending(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    for ending in ("ed", "ing"):
        stem = word.removesuffix(ending)
        if stem != word:
            return _mended(stem) if _has_vowel(stem) else word
    return word


def _mended(stem: str) -> str:
    """Return what is left of a verb as the verb is written without its ending."""
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if len(stem) > 1 and stem[-1] == stem[-2] and stem[-1] not in "aeioulsz":
        return stem[:-1]
    return stem + "e" if _measure(stem) == 1 and _is_short(stem) else stem


def _without(word: str, endings: _Endings, measure: int) -> str:
    """Return a word with its longest ending replaced, if enough is left before it."""
    if not word.endswith(_ENDINGS[endings]):  # as of most words
        return word
    found = [one for one in endings if word.endswith(one[0])]
    ending, instead = max(found, key=lambda one: len(one[0]))
    stem = word[: -len(ending)]
    if ending in ("sion", "tion"):  # only "ion" goes
        stem += ending[0]
    return stem + instead if _measure(stem) >= measure else word


def _without_last(word: str) -> str:
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _is_short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word

"""Porter stems of English words, by Snowball, and the stop words of a query.

Stems are stored in the indexes of every engine, so they have to be the same in each process that
opens a store: PyStemmer, which `snowballstemmer` uses where it is installed, runs the same
definition in C. Two rules differ from Snowball's Porter and follow Porter's second stemmer and his
paper: "y" becomes "i" only behind a consonant ("deploy" and "deployment" share a stem), and any
doubled consonant before "ed" and "ing" is halved ("trekked").
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from functools import cached_property
from typing import Final, cast

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
STOP_WORDS: Final = frozenset(_STOPPED.split())
"""Words of a question that are left out where it has others."""

_MAX_CACHED_CHARS: Final = 64
_ENGLISH: Final = re.compile(r"[a-z]{3,}")
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
_BASE_FORMS: Final = dict(pair.split() for pair in re.split(r"[|\n]", _IRREGULAR) if pair)
"""Irregular past tenses and plurals, which no rule for endings finds."""
_DOUBLED: Final = re.compile(r"([chjkqvwx])\1(?:ed|ing)s?\Z")
"""Doubled consonants that Snowball leaves; it halves only b, d, f, g, m, n, p, r and t."""
_ENDINGS: Final = (
    *("s", "e", "y", "i", "ed", "ing", "ion", "er", "or", "nt", "ism", "ou", "al", "ll", "ful"),
    "ic",
)
"""What a word ends with that has another stem; Snowball in plain Python takes 11 µs a word."""
_VOWEL: Final = re.compile("[aeiouy]")


def stem(word: str) -> str:
    """Return the stem of an English word: "decided", "decides" and "deciding" share one.

    Args:
        word: A word in lower case. Codes, names with digits, words of fewer than three letters
            and words with other than ASCII letters are returned as they are.
    """
    return _cached(word) if len(word) <= _MAX_CACHED_CHARS else _stem(word)


def _stem(word: str) -> str:
    if not _ENGLISH.fullmatch(word):
        return word
    word = _BASE_FORMS.get(word, word)
    if not word.endswith(_ENDINGS):
        return word
    result = _y_as_in_porter2(word) if "y" in word else _snowball.stem(word)
    return result[:-1] if _DOUBLED.search(word) and result[-1] == result[-2] else result


# The cache keeps words of stored texts, so `forget` has to reach it.
_cached: Final = remembered(65_536)(_stem)


def _y_as_in_porter2(word: str) -> str:
    """Return the stem of a word in which "y" becomes "i" behind a consonant, and nowhere else.

    Snowball is given "x" for each "y" that is a consonant, as in "deploy" and "yes": "x" is a
    consonant that no rule for endings names. An ending changes only the end of a word, so the
    letters in front of it are restored by their position.
    """
    stem = _snowball.stem(_with_x_for_consonants(word))
    # Porter's first stemmer also wants a vowel before the "y", which "try" and "fly" have not.
    if len(stem) > 2 and stem[-1] == "y" and not _VOWEL.search(stem, 0, len(stem) - 1):
        stem = stem[:-1] + "i"
    pairs = zip(stem, word.ljust(len(stem)), strict=False)
    return "".join(letter if mark == "x" else mark for mark, letter in pairs)


def _with_x_for_consonants(word: str) -> str:
    marked = ""
    is_vowel = False
    for letter in word:
        is_vowel = letter in "aeiou" or (letter == "y" and bool(marked) and not is_vowel)
        marked += "x" if letter == "y" and not is_vowel else letter
    return marked


class _Snowball(threading.local):
    """Snowball's stemmer, one for each thread: it works on attributes of its own."""

    @cached_property
    def stem(self) -> Callable[[str], str]:
        # Loading the package with all its languages takes 10 ms, so not before the first word.
        import snowballstemmer

        return cast("Callable[[str], str]", snowballstemmer.stemmer("porter").stemWord)


_snowball: Final = _Snowball()

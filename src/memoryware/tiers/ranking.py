"""How texts are cut into words, and how lists of what was found become one; pure functions."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import mul
from typing import Final, TypeVar

from memoryware._unicode import normalised
from memoryware.tiers._stemming import STOP, stemmed

T = TypeVar("T")

WORDS_VERSION: Final = 1
"""Changes with what `words_of` returns; words that another version made have to be made anew."""

_MARKS: Final = (
    "\u0900-\u0963\u0966-\u0dff\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece"
    "\u0f18-\u0f84\u102b-\u103e\u17b4-\u17d3\u1b00-\u1b44"
)
"""Vowel signs, which are part of a word and no letters to `re`."""
_WORD: Final = re.compile(rf"[\w{_MARKS}]+")
_PAIRED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
    "\uf900-\ufaff\U00020000-\U000323af]+"
)
"""Scripts written without blanks, and Korean, whose words have changing ends."""
_PLAIN: Final = re.compile(r"\w+", re.ASCII)
"""What `_WORD` finds in a text of ASCII, sooner."""
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_VOICED: Final = "\u3099\u309a"
"""Marks that make another sound of a Japanese letter; all other accents do not count."""


def words_of(text: str) -> list[str]:
    """Return the words of a text as all engines index and search them, in order, with repeats.

    Case, width, accents and the endings of English words do not count. Scripts without blanks
    give pairs of characters; of a name like `max_tokens` its parts are words as well.
    """
    return _stems(plain_words(text))


def _stems(words: Sequence[str]) -> list[str]:
    if "_" not in " ".join(words):
        return [*map(stemmed, words)]
    found = []
    for word in words:
        found.append(stemmed(word))
        if "_" in word.strip("_"):
            found += [stemmed(part) for part in word.split("_") if part]
    return found


def plain_words(text: str) -> list[str]:
    """Return the words of a text with their endings; case, width and accents do not count."""
    if not text.isascii():
        text = normalised("NFKD", text)
        text = "".join(c for c in text if c in _VOICED or not unicodedata.combining(c))
        text = unicodedata.normalize("NFC", text)
    text = _THOUSANDS.sub("", text.casefold()) if "," in text else text.casefold()
    if text.isascii():
        return _PLAIN.findall(text)
    found: list[str] = []
    for word in _WORD.findall(text):
        found += [word] if word.isascii() else _parts(word)
    return found


def _parts(word: str) -> Iterator[str]:
    """Yield a word as pairs of characters where its script has no blanks, else as it is."""
    position = 0
    for run in _PAIRED.finditer(word):
        if run.start() > position:
            yield word[position : run.start()]
        characters = run.group()
        for place in range(max(1, len(characters) - 1)):
            yield characters[place : place + 2]
        position = run.end()
    if position < len(word):
        yield word[position:]


def query_words(text: str) -> list[str]:
    """Return the words of a question that are worth looking for, each once.

    Words such as "what" and "the" are left out where there are others.
    """
    every = plain_words(text)
    telling = [one for one in every if one not in STOP]
    return list(dict.fromkeys(_stems(telling or every)))


# Words.

SATURATION: Final = 1.2
LENGTHS: Final = 0.4
"""The parameters k1 and b of BM25; b is low, because what is said at length says more."""


def rarity(texts: int, count: int) -> float:
    """Return what a word counts that so many of all texts have; never negative."""
    return math.log(1 + (max(count, texts) - texts + 0.5) / (texts + 0.5))


def bm25(
    words: Mapping[str, int],
    having: Mapping[str, int],
    count: int,
    mean: float,
    length: int | None = None,
) -> float:
    """Return the BM25 score of a text for the words of a query; above 0 if it has one.

    Args:
        words: How often each word stands in the text.
        having: For each word of the query, in how many texts it stands.
        count: How many texts there are.
        mean: How many words a text has on average.
        length: How many words the text has; by default those in `words`.
    """
    length, score = sum(words.values()) if length is None else length, 0.0
    norm = SATURATION * (1 - LENGTHS + LENGTHS * length / mean) if mean else SATURATION
    for word, texts in having.items():
        often = words.get(word, 0)
        if often:
            score += rarity(texts, count) * often * (SATURATION + 1) / (often + norm)
    return score


def whole_score(having: Mapping[str, int], count: int) -> float:
    """Return about what a text scores by `bm25` that has every word of a query once."""
    return math.fsum(rarity(texts, count) for texts in having.values())


def lone_characters(words: Iterable[str]) -> list[str]:
    """Return the words that are one character of a script that is indexed in pairs."""
    return [word for word in words if len(word) == 1 and _PAIRED.fullmatch(word)]


def best_first(items: Sequence[T], value: Callable[[T], float | None]) -> list[T]:
    """Return the items that have a value, the highest first; equal ones keep their order."""
    having = [(measured, one) for one in items if (measured := value(one)) is not None]
    return [one for _, one in sorted(having, key=lambda pair: -pair[0])]


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the cosine of two vectors, from -1 to 1; 0 if one has no length.

    Raises:
        ValueError: If one is longer than the other.
    """
    if len(one) != len(other):
        raise ValueError(f"vectors of {len(one)} and {len(other)} dimensions have no cosine")
    left, right = math.hypot(*one), math.hypot(*other)
    if not _SMALL < left * right < _LARGE:  # their squares are no numbers that can be had
        one, other = _scaled(one), _scaled(other)
        left, right = math.hypot(*one), math.hypot(*other)
    lengths = left * right
    product = math.fsum(map(mul, one, other))
    return max(-1.0, min(1.0, product / lengths)) if lengths else 0.0


_SMALL: Final = 1e-200
_LARGE: Final = 1e200


def _scaled(vector: Sequence[float]) -> list[float]:
    most = max(map(abs, vector), default=0.0) or 1.0
    return [one / most for one in vector]

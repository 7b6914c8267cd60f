"""Index terms: the words of a text as every engine stores and searches them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from memoryware._remembering import remembered
from memoryware._unicode import fold
from memoryware.tiers.text.stems import STOP_WORDS, stem

WORDS_VERSION: Final = 2
"""Version of the terms in an index; a store with another one computes them anew on opening."""

_MARKS: Final = (
    "\u0900-\u0963\u0966-\u0dff\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece"
    "\u0f18-\u0f84\u102b-\u103e\u17b4-\u17d3\u1b00-\u1b44"
)
"""Vowel signs of Indic and Southeast Asian scripts, which `re` does not count as letters."""
_WORD: Final = re.compile(rf"[\w{_MARKS}]+")
_PAIRED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
    "\uf900-\ufaff\U00020000-\U000323af]+"
)
"""Scripts without blanks, and Korean, whose words are inflected: indexed as bigrams."""
_PLAIN: Final = re.compile(r"\w+", re.ASCII)
"""The same as `_WORD` for ASCII, and faster."""
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_COMPOUND: Final = re.compile(
    r"[A-Z\d](?:(?<=[a-z][A-Z])|(?<=[A-Z][A-Z])(?=[a-z]{2})|(?<=[^\W\d_]{3}\d)"
    r"|(?<=[A-Za-z][-\u2010]\d)|(?<=\d)[^\W\d_]{2})"
)
"""Where a name may have parts; most texts have none. It begins with what is rare, to be fast."""
_NAME: Final = re.compile(r"[A-Za-z\u00c0-\u024f\u0370-\u052f\d]+")
"""A name without its underscores, in an alphabet that has blanks."""
_HUMPS: Final = re.compile(r"(?<=[a-z])(?=[A-Z][A-Za-z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
"""Where the words of `maxTokens` and `HTTPServer` begin; "URLs" is one word."""
_NUMBERED: Final = re.compile(
    r"([^\W\d_]{3,})(\d+)|(\d+)(?!(?:st|nd|rd|th)\Z)([^\W\d_]{2,})", re.IGNORECASE
)
"""A name and its number, such as "GPT4" and "16GB"; "db2" and "3f2a" are codes, "3rd" a word."""
_CODE: Final = re.compile(r"(?<!\w)([A-Za-z]{1,10})[-\u2010](\d{1,10})(?!\w)")
_LONGEST_NAME: Final = 64
"""Characters of a name that is split into parts; a longer word is no name."""


def words_of(text: str) -> list[str]:
    """Return the index terms of a text, in order, with repeats: the same in all engines.

    Spelling variants are folded (see `memoryware._unicode.fold`), then case and the endings of
    English words. Scripts without blanks give bigrams. Parts of compound names are
    terms as well: of `max_tokens` and `maxTokens` its words, of `PostgreSQL17` the name and the
    number, and `ABC-1234` is found as `ABC1234`.
    """
    folded = fold(text)
    return [*_stems(_tokenize_folded(folded)), *_parts_of_names(folded)]


def stems_of(text: str) -> list[str]:
    """Return the stems of a text in order, independent of case.

    Use them to compare texts: `words_of` adds the parts of names, which depend on case.
    """
    return _stems(plain_words(text))


def _stems(words: Sequence[str]) -> list[str]:
    if "_" not in " ".join(words):
        return [*map(stem, words)]
    terms = []
    for word in words:
        terms.append(stem(word))
        if "_" in word.strip("_"):
            terms += [stem(part) for part in word.split("_") if part]
    return terms


def plain_words(text: str) -> list[str]:
    """Return the words of a text in order, folded for case and spelling but not stemmed."""
    return _tokenize_folded(fold(text))


def _tokenize_folded(folded: str) -> list[str]:
    """Tokenize a folded text."""
    text = folded.casefold()
    text = _THOUSANDS.sub("", text) if "," in text else text
    if text.isascii():
        return _PLAIN.findall(text)
    words: list[str] = []
    for word in _WORD.findall(text):
        words += [word] if word.isascii() else _bigrams(word)
    return words


def _bigrams(word: str) -> Iterator[str]:
    """Yield the parts of a word: bigrams where its script has no blanks, else the whole run."""
    position = 0
    for run in _PAIRED.finditer(word):
        if run.start() > position:
            yield word[position : run.start()]
        characters = run.group()
        for start in range(max(1, len(characters) - 1)):
            yield characters[start : start + 2]
        position = run.end()
    if position < len(word):
        yield word[position:]


def _parts_of_names(folded: str) -> list[str]:
    """Return the terms of names that are written in one, and of codes with a hyphen in one."""
    if not _COMPOUND.search(folded):
        return []
    terms: list[str] = []
    for name in _NAME.findall(folded):
        terms += _parts_of(name)
    terms += [f"{letters}{digits}".casefold() for letters, digits in _CODE.findall(folded)]
    return terms


@remembered(4096)
def _parts_of(name: str) -> tuple[str, ...]:
    """Return the terms of one name: its letters and its number, and the words it is made of."""
    if len(name) > _LONGEST_NAME or not _COMPOUND.search(name):
        return ()
    numbered = _NUMBERED.fullmatch(name)
    parts = [part for part in numbered.groups() if part] if numbered else []
    humps = [hump for hump in _HUMPS.split(parts[0] if parts else name) if hump]
    return tuple(stem(part.casefold()) for part in (*parts, *(humps if len(humps) > 1 else ())))


def query_words(text: str) -> list[str]:
    """Return the different terms of a query; stop words only where there are no others."""
    folded = fold(text)
    every = _tokenize_folded(folded)
    telling = [word for word in every if word not in STOP_WORDS]
    return list(dict.fromkeys([*_stems(telling or every), *_parts_of_names(folded)]))


def lone_characters(words: Iterable[str]) -> list[str]:
    """Return the words that are a single character of a script that is indexed as bigrams."""
    return [word for word in words if len(word) == 1 and _PAIRED.fullmatch(word)]

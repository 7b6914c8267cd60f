"""The language of a short text, and the stems of words in languages other than English.

Everything here is computed from folded words (see `memoryware._unicode.fold`), so that a text with
its accents and a query without them have the same stems.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from importlib import import_module
from typing import Final, NamedTuple

from memoryware._caching import clearable_cache
from memoryware._unicode import normalised
from memoryware.tiers.text.function_words import (
    ENGLISH_MARKERS,
    LANGUAGES_OF,
    MARKERS,
    STRONG_MARKERS,
)
from memoryware.tiers.text.number_words import NUMBERS_BY_LANGUAGE, NUMBERS_BY_SCRIPT

GERMAN: Final = "de"
VIETNAMESE: Final = "vi"
"""The language whose words are told apart by the accents that folding removes."""
_INFLECTED_NAMES: Final = frozenset({GERMAN, "fi", "tr"})
"""Languages that write each noun with a capital, or inflect names."""
_SNOWBALL: Final = {  # of languages with the same signs the first is chosen
    "es": "spanish",
    "de": "german",
    "fr": "french",
    "it": "italian",
    "pt": "portuguese",
    "nl": "dutch",
    "sv": "swedish",
    "da": "danish",
    "no": "norwegian",
    "fi": "finnish",
    "tr": "turkish",
}
_EVIDENCE: Final = re.compile("[ßñ¿¡ãõåøæşğıİáíóúàèìòùçêâäöü]|[\u1ea0-\u1ef9đơưĐƠƯ]")
"""Letters that few languages have."""
_LANGUAGES_WITH: Final[dict[str, tuple[str, ...]]] = {
    "ß": ("de", "de"),
    "ñ": ("es",),
    **dict.fromkeys("¿¡", ("es", "es")),
    **dict.fromkeys("äöü", ("de",)),
    **dict.fromkeys("ãõ", ("pt",)),
    "å": ("sv", "no", "da"),
    **dict.fromkeys("øæ", ("no", "da")),
    **dict.fromkeys("şğıİ", ("tr",)),
    **dict.fromkeys("áíóú", ("es", "pt")),
    **dict.fromkeys("àè", ("fr", "it")),
    **dict.fromkeys("ìò", ("it",)),
    **dict.fromkeys("ùê", ("fr",)),
    **dict.fromkeys("çâ", ("fr", "pt")),
}
"""The languages that have them, twice where English texts never do."""
_POINTS_OF_LETTER: Final = {
    letter: tuple(Counter(languages).items()) for letter, languages in _LANGUAGES_WITH.items()
}
_VIETNAMESE_LETTER: Final = ((VIETNAMESE, 1),)
_POINTS_OF_WORD: Final = {
    word: tuple(
        (language, 1 if word not in STRONG_MARKERS else 2 if len(languages) > 1 else 3)
        for language in languages
    )
    for word, languages in LANGUAGES_OF.items()
}
"""For a function word what it adds to the points of each language that has it."""
_NO_POINTS: Final = dict.fromkeys((*_SNOWBALL, VIETNAMESE), 0)
_ENOUGH: Final = 2
"""One function word that English does not have."""
_SURE: Final = 4


class Language(NamedTuple):
    """The language of a text.

    Attributes:
        code: Its code of two letters.
        is_sure: Whether the text has more than one sign of it.
    """

    code: str
    is_sure: bool

    @property
    def inflects_names(self) -> bool:
        """Whether words with a capital are stemmed like others."""
        return self.code in _INFLECTED_NAMES


def language_of(text: str, words: Sequence[str]) -> Language | None:
    """Return the language of a text in Latin letters.

    Function words decide. Letters such as "ñ" count as a sign beside them, because names in
    English texts have them as well.

    Args:
        text: The text as it is written.
        words: Its words, folded and in lower case.

    Returns:
        The language; None for English, for other languages, and where nothing shows it.
    """
    signs = MARKERS.intersection(words)
    letters = set() if text.isascii() else {*_EVIDENCE.findall(normalised("NFC", text))}
    if not signs and not letters:
        return None
    english = 2 * len(ENGLISH_MARKERS.intersection(words))
    if english > 4 * (len(signs) + len(letters) + 1):
        return None
    points = _NO_POINTS.copy()
    for letter in letters:
        for language, count in _POINTS_OF_LETTER.get(letter, _VIETNAMESE_LETTER):
            points[language] = max(points[language], count)
    for word in LANGUAGES_OF.keys() & words:
        for language, weight in _POINTS_OF_WORD[word]:
            points[language] += weight
    if points[VIETNAMESE] > english:
        return Language(VIETNAMESE, is_sure=False)
    code = max(_SNOWBALL, key=points.__getitem__)
    if points[code] < _ENOUGH or points[code] <= english:
        return None
    return Language(code, is_sure=points[code] >= _SURE)


def stem_in(language: str, word: str) -> str:
    """Return the stem of a word of a language in Latin letters.

    Args:
        language: A code that `language_of` returns, except Vietnamese.
        word: The word, folded and in lower case.

    Returns:
        The stem.
    """
    make = _cached if len(word) <= _LONGEST_CACHED_WORD else _stem_in
    return make(language, word)


def stem_by_script(word: str) -> str:
    """Return the stem of a word in Cyrillic, Arabic or Greek letters, by the letters alone.

    Russian rules serve all languages in Cyrillic letters, and Arabic rules also Persian and Urdu.

    Args:
        word: The word, folded and in lower case.

    Returns:
        The stem; the word itself in any other script.
    """
    if word in NUMBERS_BY_SCRIPT:
        return NUMBERS_BY_SCRIPT[word]
    if _CYRILLIC.fullmatch(word):
        stem = _snowball.stemmer("russian")(_SHORT_I.sub("й", word))
        return stem.replace("й", "и")
    if _ARABIC.fullmatch(word):
        return _arabic_stem(word)
    if _GREEK.fullmatch(word):
        return _snowball.stemmer("greek")(word)
    return word


_LONGEST_CACHED_WORD: Final = 64
_MIN_LENGTH: Final = 3
_LATIN: Final = re.compile("[a-z\u00df-\u024f]+")
_CYRILLIC: Final = re.compile("[\u0430-\u045f\u0491]{3,}")
_SHORT_I: Final = re.compile("(?<=[аеиоуыэюя])и(?=$|те$|ш[еи])")
"""Where folding has made an "и" of "й", as endings show."""
_ARABIC: Final = re.compile("[\u0621-\u064a\u066e-\u06d3]{3,}")
_GREEK: Final = re.compile("[\u03b1-\u03c9]{3,}")


def _stem_in(language: str, word: str) -> str:
    if len(word) < _MIN_LENGTH or not _LATIN.fullmatch(word):
        return word
    number = NUMBERS_BY_LANGUAGE.get(language, {}).get(word)
    if number:
        return number
    own = _STEMMERS.get(language)
    stem = own(word) if own else _snowball.stemmer(_SNOWBALL[language])(word)
    return stem if stem.isascii() else stem.translate(_BASE_LETTERS)


_cached: Final = clearable_cache(65_536)(_stem_in)

# Turkish and Portuguese have endings that Snowball knows only with their accents.

_CLOSE_VOWELS: Final = {"i": "iı", "u": "üu"}
"""Turkish vowels that folding makes equal: the one behind "e" or "i", the one behind others."""
_SOFT_G: Final = re.compile("(?<=[aeiou])g(?=[iu])")
_BASE_LETTERS: Final = str.maketrans("ãçõıöüşğø", "acoiousgo")


def _with_turkish_letters(word: str) -> str:
    """Return a Turkish word with the letters of its endings: their vowels follow the one before."""
    letters: list[str] = []
    # The first vowel is taken for one that fits the next.
    is_back = True if next((letter for letter in word if letter in "ae"), "") == "a" else None
    for letter in _SOFT_G.sub("ğ", word):
        if letter in _CLOSE_VOWELS and is_back is not None:
            letters.append(_CLOSE_VOWELS[letter][is_back])
            continue
        if letter in "aeiou":
            is_back = letter in "aou"
        letters.append(letter)
    return "".join(letters)


def _turkish_stem(word: str) -> str:
    return _snowball.stemmer("turkish")(_with_turkish_letters(word))


def _portuguese_stem(word: str) -> str:
    if len(word) > _MIN_ENDING + 1:
        word = re.sub("cao$", "ção", re.sub("coes$", "ções", word))
    return _snowball.stemmer("portuguese")(word)


_STEMMERS: Final = {"tr": _turkish_stem, "pt": _portuguese_stem}
_MIN_ENDING: Final = 4

# Arabic, and Persian and Urdu in the same letters: few rules, because nothing is known of roots.

_CONJUNCTIONS: Final = "\u0648\u0641"
"""wa- and fa-."""
_ARTICLES: Final = ("\u0628\u0627\u0644", "\u0643\u0627\u0644", "\u0644\u0644", "\u0627\u0644")
"""bi-l-, ka-l-, li-l-, al-."""
_PREPOSITIONS: Final = "\u0628\u0644\u0643"
"""bi-, li- and ka-."""
_ARABIC_ENDINGS: Final = (
    *(
        "\u0647\u0627",
        "\u0647\u0645",
        "\u0646\u0627",
        "\u0627\u0646",
        "\u0627\u062a",
        "\u0648\u0646",
    ),
    *("\u064a\u0646", "\u064a\u0647", "\u062a\u064a", "\u062a\u0647", "\u0647", "\u064a"),
)
"""Endings of number, gender and possession, after folding: teh marbuta is heh."""


def _arabic_stem(word: str) -> str:
    word = _without_conjunction(word)
    for article in _ARTICLES:
        if word.startswith(article) and len(word) >= len(article) + 2:
            word = word[len(article) :]
            break
    if word in NUMBERS_BY_SCRIPT:
        return NUMBERS_BY_SCRIPT[word]
    for ending in _ARABIC_ENDINGS:
        if word.endswith(ending) and len(word) >= len(ending) + 3:
            return word[: -len(ending)]
    return word


def _without_conjunction(word: str) -> str:
    return word[1:] if len(word) > 3 and word[0] in _CONJUNCTIONS else word


def stem_behind_preposition(word: str) -> str | None:
    """Return the stem of an Arabic word without bi-, li- or ka-.

    These letters begin as many roots, so both stems are index terms.

    Args:
        word: The word, folded and in lower case.

    Returns:
        The stem; None for a word without such a letter, or with an article behind it.
    """
    if len(word) < 5 or not _ARABIC.fullmatch(word):
        return None
    word = _without_conjunction(word)
    if len(word) < 5 or word[0] not in _PREPOSITIONS or word.startswith(_ARTICLES):
        return None
    return _arabic_stem(word[1:])


# German compounds: the word at the end of one, without a dictionary.
#
# "Steinhaus" is a kind of "Haus", and a question about a house means it. A word may be divided
# where a syllable can end and a word can begin, by the sounds of the language. That gives some
# parts that are no words; no query asks for them.

_NOUN: Final = re.compile(r"(?<!\w)[A-Z][A-Za-z]{7,47}(?!\w)")
"""A word with a capital, folded, that is long enough for a compound."""
_SHORTEST_START: Final = 3
_SHORTEST_HEAD: Final = 4
_WORD_START: Final = re.compile(
    r"(?:sch[lmnrw]?|s[pt]r?|qu|pf[lr]?|[bgk][lr]|kn|[dt]r|f[lr]|p[lr]?|zw|ch(?=aos|ar|ef|or)"
    r"|[bdfghjklmnrstvwz])?[aeiouy]"
)
"""Consonants with which a German word begins, and its vowel."""
_SYLLABLE_END: Final = re.compile(
    r"[aeiouy](?:(?:ck|ng|h[lrnm]?|([bdfglmnprst])\1?|s?ch|[kxz]|l[dtzkfbm]|n[dtzks]|r[dtzkfbgmn]"
    r"|rst|nst|[lrn]ch|cht|[fs]t|pf|tz|rsch|[kp]t)s?)?\Z"
)
"""Consonants with which a German word ends, with the "s" that links two."""
_SUFFIX: Final = re.compile(
    r"e(?:[mnt]|s(?!s)|r(?![dn])|l(?!t)|i(?![ms])|u)|a[lrn]\Z|i(?:ch|er|e|g|sch|on|n(?!s))"
    r"|u(?:n[dg]|[sm]\Z)|[aeiou][bcdfghk-np-tvwz]*ung|[bcdfghklmnprstvwz]+(?:e[nrlms]?|en[sd]?|ern|ung(?:en)?|in|innen)\Z"
    r"|[hk]eit|schaft|lich|sam|haft|chen|lein|los|[ts]ion|tum|ling|nis"
)
"""Endings of a word, which begin no other."""
_PREFIX: Final = re.compile(r"(?:ver|ent|zer|erk|be[ks]|ge[ks])\Z|[^aeiouy]*\Z")
"""Prefixes of verbs, and what is no syllable."""


def compound_heads(folded: str) -> Iterator[str]:
    """Yield the words at the end of compounds in a German text.

    Args:
        folded: The text, folded, with its capitals: nouns have one.

    Yields:
        Words in lower case. Of "Steinhaus" it is "haus", of "Zahnarzttermin" only what a rule for
        sounds can find.
    """
    for noun in _NOUN.findall(folded):
        yield from _heads_of(noun.casefold())


@clearable_cache(16_384)
def _heads_of(word: str) -> tuple[str, ...]:
    return tuple(
        word[position:]
        for position in range(_SHORTEST_START, len(word) - _SHORTEST_HEAD + 1)
        if _WORD_START.match(word, position)
        and not _SUFFIX.match(word, position)
        and _SYLLABLE_END.search(word[:position])
        and not _PREFIX.match(word[:position])
    )


class _Stemmers(threading.local):
    """Snowball's stemmers, one of each for each thread: they work on attributes of their own.

    The package in plain Python is used even where PyStemmer is installed, because their versions
    differ in single rules and an index holds the stems.
    """

    @cached_property
    def _made(self) -> dict[str, Callable[[str], str]]:
        return {}

    def stemmer(self, language: str) -> Callable[[str], str]:
        """Return the function that stems a word of a language."""
        stemmer = self._made.get(language)
        if stemmer is None:
            module = import_module(f"snowballstemmer.{language}_stemmer")
            stemmer = getattr(module, f"{language.capitalize()}Stemmer")().stemWord
            self._made[language] = stemmer
        return stemmer


_snowball: Final = _Stemmers()

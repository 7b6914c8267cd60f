"""Index terms: the words of a text as every engine stores and searches them.

Words are folded for case and spelling and stemmed by Porter's rules, in texts of other languages
also by the rules of these. Scripts without blanks are indexed as bigrams, Chinese characters also
one by one. This module also has the stop words of a query.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Protocol, cast

from memoryware._caching import clearable_cache
from memoryware._unicode import fold, normalised
from memoryware.tiers.provenance import NAME_CHARS, SPEAKER, stated_speaker
from memoryware.tiers.text.function_words import (
    GRAMMAR_CHARACTERS,
    GRAMMAR_PAIRS,
    MARKERS,
    STOP_WORDS_BY_LANGUAGE,
    STOP_WORDS_OF_SCRIPTS,
)
from memoryware.tiers.text.german_verbs import separated_verbs, verb_stem
from memoryware.tiers.text.irregular_forms import ENGLISH_FORMS
from memoryware.tiers.text.languages import (
    GERMAN,
    VIETNAMESE,
    Language,
    compound_heads,
    language_of,
    stem_behind_preposition,
    stem_by_script,
    stem_in,
)
from memoryware.tiers.text.number_words import HAN_NUMERALS, NUMBERS, han_numbers

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
WORDS_VERSION: Final = 4
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
_HAN: Final = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]")
"""Characters that are words, or the root of one."""
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
_HYPHEN: Final = re.compile(r"[-\u2010](?<=[^\W\d_].)(?=[^\W\d_])")
_LONGEST_PART: Final = 20
"""Letters of a part of a word with a hyphen."""
_BEFORE_HYPHEN: Final = re.compile(rf"(?<![\w\-\u2010])[^\W\d_]{{1,{_LONGEST_PART}}}\Z")
_AFTER_HYPHEN: Final = re.compile(rf"[^\W\d_]{{1,{_LONGEST_PART}}}(?![\w\-\u2010])")
"""The parts of a word such as "e-mail", which others write in one."""
_CAPITALISED: Final = re.compile(r"[A-Z](?<=[\w,;:] .)\w+")
"""A word that is written like a name, because no sentence begins with it."""
_LONGEST_NAME: Final = 64
"""Characters of a name that is split into parts; a longer word is no name."""


def words_of(text: str) -> list[str]:
    """Return the index terms of a text, in order, with repeats: the same in all engines.

    They are the terms of `core_words`, and after them those that depend on the language: in a text
    of another language in Latin letters the stems of that language, where they differ. A query
    finds the text whether or not its own language is recognised. Chinese characters are terms of
    their own, and of a word with a hyphen also the form without.

    Args:
        text: The text.

    Returns:
        The terms.
    """
    is_ascii = text.isascii()
    folded = text if is_ascii else fold(text)
    words = _tokenize_folded(folded)
    terms = _stems(words, has_underscore="_" in folded)
    terms += _parts_of_names(folded)
    if "-" in folded or "\u2010" in folded:
        terms += _joined(folded)
    if not (is_ascii and MARKERS.isdisjoint(words)) and (language := language_of(text, words)):
        terms += _stems_of_language(language, text, folded, words)
    if not is_ascii:
        characters = _characters(folded)
        terms += characters
        if not HAN_NUMERALS.isdisjoint(characters):
            terms += han_numbers(folded)
        terms += [stem for word in words if (stem := stem_behind_preposition(word))]
    return terms


def core_words(text: str) -> list[str]:
    """Return the terms of a text that do not depend on its language.

    They are terms of every text that has these words. Use them to compare a name or a list of
    words with texts.

    Spelling variants are folded (see `memoryware._unicode.fold`), then case and the endings of
    English words; words in Cyrillic, Arabic and Greek letters are stemmed by rules for the script.
    Scripts without blanks give bigrams. Parts of compound names are terms as well: of `max_tokens`
    and `maxTokens` its words, of `PostgreSQL17` the name and the number, and `ABC-1234` is found
    as `ABC1234`.

    Args:
        text: The text.

    Returns:
        The terms.
    """
    folded = text if text.isascii() else fold(text)
    return [*_stems(_tokenize_folded(folded)), *_parts_of_names(folded)]


def stems_of(text: str) -> list[str]:
    """Return the stems of a text in order, independent of case.

    Use them to compare texts: `words_of` adds the parts of names, which depend on case.

    Args:
        text: The text.

    Returns:
        The stems.
    """
    return _stems(plain_words(text))


def _stems(words: Sequence[str], *, has_underscore: bool | None = None) -> list[str]:
    if has_underscore is None:
        has_underscore = "_" in " ".join(words)
    if not has_underscore:
        longest = max(map(len, words), default=0)
        # The cache is called without `stem` around it: of a bulk load that is a tenth.
        return [*map(_cached if longest <= _LONGEST_CACHED_WORD else stem, words)]
    terms = []
    for word in words:
        terms.append(stem(word))
        if "_" in word.strip("_"):
            terms += [stem(part) for part in word.split("_") if part]
    return terms


def plain_words(text: str) -> list[str]:
    """Return the words of a text in order, folded for case and spelling but not stemmed.

    Args:
        text: The text.

    Returns:
        The words.
    """
    return _tokenize_folded(text if text.isascii() else fold(text))


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


@clearable_cache(4096)
def _parts_of(name: str) -> tuple[str, ...]:
    """Return the terms of one name: its letters and its number, and the words it is made of."""
    if len(name) > _LONGEST_NAME or not _COMPOUND.search(name):
        return ()
    numbered = _NUMBERED.fullmatch(name)
    parts = [part for part in numbered.groups() if part] if numbered else []
    humps = [hump for hump in _HUMPS.split(parts[0] if parts else name) if hump]
    return tuple(stem(part.casefold()) for part in (*parts, *(humps if len(humps) > 1 else ())))


def _joined(folded: str) -> list[str]:
    """Return words of two parts with a hyphen as others write them: of "e-mail" "email"."""
    terms: list[str] = []
    for hyphen in _HYPHEN.finditer(folded):
        position = hyphen.start()
        before = _BEFORE_HYPHEN.search(folded[max(0, position - _LONGEST_PART - 1) : position])
        after = _AFTER_HYPHEN.match(folded, position + 1)
        if before and after:
            terms.append(stem(f"{before[0]}{after[0]}".casefold()))
    return terms


def _characters(folded: str) -> list[str]:
    """Return the Chinese characters of a text; one that stands alone is a word already."""
    runs = _PAIRED.findall(folded)
    return _HAN.findall("".join(run for run in runs if len(run) > 1)) if runs else []


def _stems_of_language(
    language: Language, text: str, folded: str, words: Sequence[str]
) -> list[str]:
    """Return the terms of a text by the rules of its language, where English has others."""
    if language.code == VIETNAMESE:
        accented = _accented(text, words)
        return [own for own, word in zip(accented, words, strict=True) if own != word]
    code = language.code
    english = _stems(words, has_underscore=False)
    if code != GERMAN:
        own = [stem_in(code, word) for word in words]
        return [term for term, other in zip(own, english, strict=True) if term != other]
    nouns = _capitalised(folded)
    own = [(stem_in(code, word) if word in nouns else verb_stem(word)) for word in words]
    terms = [term for term, other in zip(own, english, strict=True) if term != other]
    terms += [stem_in(GERMAN, head) for head in compound_heads(folded)]
    return terms + separated_verbs(folded)


def _capitalised(folded: str) -> set[str]:
    """Return the words with a capital that begin no sentence: in German the nouns, else names."""
    return {word.casefold() for word in _CAPITALISED.findall(folded)}


def _accented(text: str, words: Sequence[str]) -> Sequence[str]:
    """Return the words of a text with their accents; the folded words where they do not align."""
    accented = _WORD.findall(normalised("NFC", text).casefold())
    return accented if len(accented) == len(words) else words


def query_words(text: str) -> list[str]:
    """Return the distinct terms of a query; stop words only if it has no others.

    All of them are terms of a text that says the same. In another language than English a word is
    asked for by its stem in that language; a name, and each word where the language is not sure,
    by the stem that every text has.

    Args:
        text: The query.

    Returns:
        The terms.
    """
    is_ascii = text.isascii()
    folded = text if is_ascii else fold(text)
    every = _tokenize_folded(folded)
    # Most texts are plain and have no sign of another language, which costs little to see.
    is_plain = is_ascii and MARKERS.isdisjoint(every)
    language = None if is_plain else language_of(text, every)
    characters = [] if is_ascii else _characters(folded)
    numbers = [] if HAN_NUMERALS.isdisjoint(characters) else han_numbers(folded)
    telling = [word for word in every if word not in STOP_WORDS]
    if language:
        stop_words = STOP_WORDS_BY_LANGUAGE.get(language.code, STOP_WORDS)
        telling = [word for word in telling if word not in stop_words]
    if not is_ascii:
        telling = [word for word in telling if not _is_grammar(word)]
        content = [character for character in characters if character not in GRAMMAR_CHARACTERS]
        characters = content
    if not telling and not characters:
        telling = every
    if language:
        terms = _stems_asked(language, text, folded, every, telling)
    else:
        terms = _stems(telling)
    terms += [*_parts_of_names(folded), *_joined(folded), *characters, *numbers]
    if not is_ascii:
        terms += [stem for word in telling if (stem := stem_behind_preposition(word))]
    return list(dict.fromkeys(terms))


def _is_grammar(word: str) -> bool:
    """Return whether a word in other than Latin letters is one of grammar."""
    return (
        word in STOP_WORDS_OF_SCRIPTS
        or word in GRAMMAR_PAIRS
        or GRAMMAR_CHARACTERS.issuperset(word)
    )


def _stems_asked(
    language: Language, text: str, folded: str, every: Sequence[str], telling: Sequence[str]
) -> list[str]:
    """Return the terms by which a query in another language than English asks for its words."""
    if language.code == VIETNAMESE:
        own = dict(zip(every, _accented(text, every), strict=True))
        accented = [own[word] for word in telling if own[word] != word]
        return [*accented, *map(stem, telling)]
    names = _capitalised(folded)
    terms: list[str] = []
    for word in telling:
        if "_" in word:
            terms += _stems([word])
            continue
        is_name = word in names
        if not language.is_sure or is_name:
            terms.append(stem(word))
        if language.code == GERMAN and not is_name:
            terms.append(verb_stem(word))
        elif not is_name or language.inflects_names:
            terms.append(stem_in(language.code, word))
    return terms + separated_verbs(folded) if language.code == GERMAN else terms


def lone_characters(words: Iterable[str]) -> list[str]:
    """Return the words that are a single character of a script that is indexed as bigrams alone.

    A Chinese character is none of them: it is a term of each text that has it.

    Args:
        words: The words.

    Returns:
        Those words.
    """
    return [
        word
        for word in words
        if len(word) == 1 and _PAIRED.fullmatch(word) and not _HAN.fullmatch(word)
    ]


# Stems of English words.
#
# Stems are stored in the indexes of every engine, so they have to be the same in each process
# that opens a store: PyStemmer, which `snowballstemmer` uses where it is installed, runs the same
# definition in C. Two rules differ from Snowball's Porter and follow Porter's second stemmer and
# his paper: "y" becomes "i" only behind a consonant ("deploy" and "deployment" share a stem), and
# any doubled consonant before "ed" and "ing" is halved ("trekked").

_LONGEST_CACHED_WORD: Final = 64
_ENGLISH: Final = re.compile(r"[a-z]{3,}")
_BASE_FORMS: Final = {**ENGLISH_FORMS, **NUMBERS}
"""What no rule for endings finds: irregular forms, and number words as digits."""
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
        word: A word in lower case. Codes, names with digits, words of fewer than three letters and
            words with other than ASCII letters are returned as they are.

    Returns:
        The stem.
    """
    return _cached(word) if len(word) <= _LONGEST_CACHED_WORD else _stem(word)


def _stem(word: str) -> str:
    if not _ENGLISH.fullmatch(word):
        return word if word.isascii() else stem_by_script(word)
    word = _BASE_FORMS.get(word, word)
    if not word.endswith(_ENDINGS):
        return word
    result = _y_as_in_porter2(word) if "y" in word else _snowball.stem(word)
    return result[:-1] if _DOUBLED.search(word) and result[-1] == result[-2] else result


# The cache keeps words of stored texts, so `forget` has to reach it.
_cached: Final = clearable_cache(65_536)(_stem)


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


# Memories.


class _Indexed(Protocol):
    """A text with metadata: a memory."""

    @property
    def content(self) -> str: ...

    @property
    def metadata(self) -> Mapping[str, Any]: ...


def named_text(content: str, speaker: str) -> str:
    """Return a text with the name of its speaker, "Ann: I like tea", as it is found.

    A question asks what Ann likes. The text itself is stored as it was said.

    Args:
        content: The text, or one chunk of it.
        speaker: The name, as `stated_speaker` returns it; "" for none.

    Returns:
        The text behind the name and a colon; as it is if it begins with them, or has no speaker.
    """
    name = speaker[:NAME_CHARS]
    begins = content[: len(name) + 1].casefold()
    if not name or begins in (f"{name.casefold()}:", f"{name.casefold()}\uff1a"):
        return content
    return f"{name}: {content}"


def index_terms(content: str, speaker: str = "") -> list[str]:
    """Return the terms under which a text is found: its words, and those of its speaker's name.

    Args:
        content: The text.
        speaker: The name, as `stated_speaker` returns it; "" for none.

    Returns:
        The terms, one for each time that it has it.
    """
    return words_of(named_text(content, speaker))


def named_text_of(memory: _Indexed) -> str:
    """Return the text under whose words a memory is found: with the name of its speaker.

    Args:
        memory: The memory.

    Returns:
        The text; see `named_text`.
    """
    if SPEAKER not in memory.metadata:  # as in most
        return memory.content
    return named_text(memory.content, stated_speaker(memory.metadata))


def terms_of(memory: _Indexed) -> list[str]:
    """Return the terms under which a memory is found; see `index_terms`.

    Args:
        memory: The memory.

    Returns:
        The terms.
    """
    return words_of(named_text_of(memory))

"""Clauses of a text as normalised words: the unit in which a text borrows from another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from memoryware._remembering import remembered
from memoryware.tiers.text import phrases
from memoryware.tiers.text.terms import plain_words
from memoryware.tiers.text.tokens import unescaped, visible

_BLANKS: Final = re.compile(r"[^\S\n]+")
_LINES: Final = re.compile(r" ?\n[ \n]*")
_MARKUP: Final = re.compile(
    r"^[ \t]*(?:(?:[-*+>#|•·–—]+|\(?\d{1,3}[.)]|\[\d{1,3}\]|\[[ xX]\])[ \t]+)+"
    r"|(?<=[.:;,!?\"'”’)*_`|。！？」]) \(?\d{1,2}[.)](?= )"
    r"|```\w*|<!--|-->|[*_~`]{1,3}(?=\S)|(?<=\S)[*_~`]{1,3}|^[-=|:+ ]{3,}$",
    re.MULTILINE,
)
_CUT_OFF: Final = re.compile(r"(?:[^\W_\u3040-\u9fff]{1,40}+|[\u3040-\u9fff])\s?\u2026")
"""The rest of a word before the mark with which a shown text is cut."""
_GAP: Final = re.compile(r"\s{32,}+")
"""Blanks that markup leaves; a phrase with several blanks would try every split of them."""
_SENTENCE_END: Final = re.compile(
    r"(?<![.!?;:…])[.!?;:…]++(?=[\s\"'”’)\]]|$)|[。！？；：]|\n+|\s[-–—]+\s|—|\|"
)
_CLAUSE_END: Final = re.compile(
    r",(?=\s|$)|[，、,()（）「」『』《》【】\[\]{}]"
    r"|\b(?:and|but|while|whereas|und|aber|et|mais|y|pero)\b",
    re.IGNORECASE,
)
_TOKEN: Final = re.compile(r"[^\W_](?:[\w'’./@:+#&%$€-]*[\w#+%])?|[€$£]\d[\d.,]*")
_CONTRACTIONS: Final = (
    (re.compile(r"\b(?:can|ca)(?:'t|not)\b", re.IGNORECASE), "can not"),
    (re.compile(r"\bwon't\b", re.IGNORECASE), "will not"),
    (re.compile(r"n't\b", re.IGNORECASE), " not"),
    (re.compile(r"'(?:s|re|ve|ll|d|m)\b", re.IGNORECASE), " "),
)
_UNSPACED: Final = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0eff]")
_MIN_STEM: Final = 3
_SHORT_TEXT: Final = 4000
"""Characters of a text whose clauses are cached."""


class Clause(NamedTuple):
    """One clause of a text.

    Attributes:
        words: Its words in order, stemmed, without words of grammar and negations.
        filler: Those of its words that usually say nothing.
    """

    words: tuple[str, ...]
    filler: frozenset[str] = frozenset()


def clauses_of(text: str) -> tuple[Clause, ...]:
    """Split a text into clauses. Markup, quotes, case and politeness are ignored.

    Args:
        text: The text.

    Returns:
        Its clauses that have words, in order.
    """
    return _cached(text) if len(text) <= _SHORT_TEXT else _split(text)


def _split(text: str) -> tuple[Clause, ...]:
    clauses = (
        _clause(part) for sentence in _sentences(text) for part in _CLAUSE_END.split(sentence)
    )
    return tuple(clause for clause in clauses if clause.words)


_cached: Final = remembered(1024)(_split)


def _sentences(text: str) -> Iterator[str]:
    plain = visible(unescaped(text)).replace("’", "'")
    plain = _LINES.sub("\n", _BLANKS.sub(" ", plain))
    plain = _CUT_OFF.sub(" ", _MARKUP.sub(" ", plain))
    plain = phrases.POLITE.sub(" ", _GAP.sub(_narrow, plain))
    for contraction, full in _CONTRACTIONS:
        plain = contraction.sub(full, plain)
    return filter(str.strip, _SENTENCE_END.split(plain))


def _narrow(gap: re.Match[str]) -> str:
    return "\n" if "\n" in gap.group() else " "


def _clause(part: str) -> Clause:
    words: list[str] = []
    filler: set[str] = set()
    for match in _TOKEN.finditer(part):
        token = match.group()
        if _UNSPACED.search(token):  # pairs of characters
            words += plain_words(token)
            words += phrases.UNSPACED_TURNS.findall(token)
            continue
        lower = token.casefold()
        if lower in phrases.DENIALS or lower in phrases.EMPTY:
            continue
        for word in plain_words(token):
            if word not in phrases.EMPTY:
                stem = stem_of(word)
                words.append(stem)
                if word not in phrases.TURNS and _is_filler(word, stem):
                    filler.add(stem)
    return Clause(tuple(words), frozenset(filler))


def _is_filler(word: str, stem: str) -> bool:
    if word in phrases.FILLER or stem in _FILLER_STEMS:
        return True
    return word.endswith("ly") and len(word) > len("only") and word not in phrases.FREQUENCIES


def stem_of(word: str) -> str:
    """Return a word without its commonest English endings.

    Args:
        word: A word in lower case.
    """
    if not word.isascii() or not word.isalpha():
        return word
    for ending in ("ies", "ied"):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word[:-3] + "y"
    for ending in ("ing", "ed", "es", "s"):
        base = word.removesuffix(ending)
        if base != word and len(base) >= _MIN_STEM and not base.endswith(("s", "u", "i")):
            word = base
            if ending in ("ing", "ed") and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    return word.removesuffix("e") if len(word) > _MIN_STEM else word


_FILLER_STEMS: Final = frozenset(map(stem_of, phrases.FILLER)) - frozenset(
    map(stem_of, phrases.TURNS)
)

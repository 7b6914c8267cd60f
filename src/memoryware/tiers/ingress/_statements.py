"""A text as the statements that it makes: what each speaks of, and whether it says yes or no."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from memoryware._remembering import remembered
from memoryware.tiers.ingress import _phrases
from memoryware.tiers.text.terms import plain_words
from memoryware.tiers.text.tokens import visible

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
_LONG_CODE: Final = re.compile(r"&#\d{1000,}+;?")
"""A character by a number that is none, and too long for Python to make a number of it."""
_GAP: Final = re.compile(r"\s{32,}+")
"""Blanks that markup leaves, of which a phrase with several blanks would try every part."""
_SENTENCE_END: Final = re.compile(
    r"(?<![.!?;:…])[.!?;:…]++(?=[\s\"'”’)\]]|$)|[。！？；：]|\n+|\s[-–—]+\s|—|\|"
)
_CLAUSE_END: Final = re.compile(
    r",(?=\s|$)|[，、,()（）「」『』《》【】\[\]{}]"
    r"|\b(?:and|but|while|whereas|und|aber|et|mais|y|pero)\b",
    re.IGNORECASE,
)
_TOKEN: Final = re.compile(r"[^\W_](?:[\w'’./@:+#&%$€-]*[\w#+%])?|[€$£]\d[\d.,]*")
_SHORT: Final = (
    (re.compile(r"\b(?:can|ca)(?:'t|not)\b", re.IGNORECASE), "can not"),
    (re.compile(r"\bwon't\b", re.IGNORECASE), "will not"),
    (re.compile(r"n't\b", re.IGNORECASE), " not"),
    (re.compile(r"'(?:s|re|ve|ll|d|m)\b", re.IGNORECASE), " "),
)
_UNSPACED: Final = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0eff]")
_LEAST_STEM: Final = 3
_SHORT_TEXT: Final = 4000
"""Characters of a text whose statements are kept in mind."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One clause of a text.

    Attributes:
        words: What it speaks of, in order, in their ground form; no words of mere grammar.
        filler: Those of its words that mostly say nothing.
        hard: Those that always say something: names, numbers, words that correct.
        denies: Whether it says that something is not so.
        denies_here: The same, counted from the beginning of its sentence.
        has_verb: Whether it has a word that makes a statement of it.
        greets: Whether its sentence begins by greeting somebody.
        leads: Whether it leads to what follows, and says that it is remembered: "My notes say:".
        personal: Whether it speaks of who talks or listens: "I", "your".
        sentence: The number of its sentence.
    """

    words: tuple[str, ...]
    filler: frozenset[str] = frozenset()
    hard: frozenset[str] = frozenset()
    denies: bool = False
    denies_here: bool = False
    has_verb: bool = False
    greets: bool = False
    leads: bool = False
    personal: bool = False
    sentence: int = 0


@dataclass(slots=True)
class _Clause:
    words: list[str] = field(default_factory=list)
    filler: set[str] = field(default_factory=set)
    hard: set[str] = field(default_factory=set)
    denials: int = 0
    has_verb: bool = False
    greets: bool = False
    recalls: bool = False
    personal: bool = False


def statements_of(text: str) -> tuple[Statement, ...]:
    """Return the statements of a text. Markup, quotes, case and politeness do not count."""
    return _remembered(text) if len(text) <= _SHORT_TEXT else _made(text)


def _made(text: str) -> tuple[Statement, ...]:
    made: list[Statement] = []
    for number, (sentence, end) in enumerate(_sentences(text)):
        denials, greets, first = 0, False, True
        for piece in _CLAUSE_END.split(sentence):
            clause = _clause(piece, first=first)
            first = first and not clause.words
            denials += clause.denials
            greets = greets or clause.greets
            if clause.words or clause.denials:
                made.append(
                    Statement(
                        tuple(clause.words),
                        frozenset(clause.filler),
                        frozenset(clause.hard),
                        clause.denials % 2 == 1,
                        denials % 2 == 1,
                        clause.has_verb,
                        greets,
                        clause.recalls and end.startswith((":", "：")),
                        clause.personal,
                        number,
                    )
                )
    return tuple(made)


_remembered: Final = remembered(1024)(_made)


def _sentences(text: str) -> Iterator[tuple[str, str]]:
    """Return each sentence of a text, and what ends it."""
    plain = html.unescape(_LONG_CODE.sub("\ufffd", text))
    shown = visible(plain).replace("’", "'")
    shown = _LINES.sub("\n", _BLANKS.sub(" ", shown))
    shown = _CUT_OFF.sub(" ", _MARKUP.sub(" ", shown))
    shown = _phrases.POLITE.sub(" ", _GAP.sub(_narrow, shown))
    for short, full in _SHORT:
        shown = short.sub(full, shown)
    position = 0
    for end in _SENTENCE_END.finditer(shown):
        if shown[position : end.start()].strip():
            yield shown[position : end.start()], end.group()
        position = end.end()
    if shown[position:].strip():
        yield shown[position:], ""


def _narrow(gap: re.Match[str]) -> str:
    return "\n" if "\n" in gap.group() else " "


def _clause(piece: str, *, first: bool) -> _Clause:
    clause = _Clause()
    for match in _TOKEN.finditer(piece):
        token = match.group()
        if _UNSPACED.search(token):
            _add_unspaced(clause, token)
        else:
            _add(clause, token, first=first and not clause.words)
    return clause


def _add(clause: _Clause, token: str, *, first: bool) -> None:
    """Add a word of a script with blanks."""
    lower = token.casefold()
    clause.greets = clause.greets or lower in _phrases.GREETINGS
    clause.recalls = clause.recalls or lower in _phrases.RECALLING
    clause.personal = clause.personal or lower in _phrases.PERSONAL
    clause.has_verb = clause.has_verb or lower in _phrases.VERBS
    if lower in _phrases.DENIALS:
        clause.denials += 1
        return
    if lower in _phrases.EMPTY:
        return
    is_name = _is_name(token, first=first)
    for word in plain_words(token):
        if word in _phrases.EMPTY:
            continue
        stem = stem_of(word)
        clause.words.append(stem)
        if word in _phrases.TURNS:
            clause.hard.add(stem)
        elif _is_filler(word, stem):
            clause.filler.add(stem)
        elif is_name:
            clause.hard.add(stem)


def _add_unspaced(clause: _Clause, token: str) -> None:
    """Add words of a script without blanks: pairs of characters."""
    clause.denials += len(_phrases.UNSPACED_DENIALS.findall(token))
    for word in plain_words(token):
        clause.words.append(word)
        if not _UNSPACED.search(word):
            clause.hard.add(word)
    turns = _phrases.UNSPACED_TURNS.findall(token)
    clause.words += turns
    clause.hard.update(turns)


def _is_filler(word: str, stem: str) -> bool:
    if word in _phrases.FILLER or stem in _FILLER_STEMS:
        return True
    return word.endswith("ly") and len(word) > len("only") and word not in _phrases.FREQUENCIES


def _is_name(token: str, *, first: bool) -> bool:
    """Say whether a word is a name, a number or code, from how it is written."""
    if any(one.isdigit() for one in token) or any(one.isupper() for one in token[1:]):
        return True
    return token[0].isupper() and not first


def stem_of(word: str) -> str:
    """Return a word without its commonest English endings."""
    if not word.isascii() or not word.isalpha():
        return word
    for ending in ("ies", "ied"):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word[:-3] + "y"
    for ending in ("ing", "ed", "es", "s"):
        base = word.removesuffix(ending)
        if base != word and len(base) >= _LEAST_STEM and not base.endswith(("s", "u", "i")):
            word = base
            if ending in ("ing", "ed") and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    return word.removesuffix("e") if len(word) > _LEAST_STEM else word


_FILLER_STEMS: Final = frozenset(map(stem_of, _phrases.FILLER)) - frozenset(
    map(stem_of, _phrases.TURNS)
)

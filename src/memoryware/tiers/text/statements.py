"""The statements of a text: its words as they are written, and as they are compared."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, TypeAlias

UNSPACED: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN: Final = re.compile(
    rf"[{UNSPACED}]|[^\W_{UNSPACED}]+(?:['.@:/&,-][^\W_{UNSPACED}]+)*%?|[$€£]\d[\d.,]*"
)
_SENTENCE_END: Final = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|[;；]|\n+")
_NOT: Final = re.compile(r"n't\b|(?<=\bcan)not\b", re.IGNORECASE)
_ELIDED: Final = re.compile(r"\b(n|d|l|j|c|m|s|qu)'(?=\w)", re.IGNORECASE)
_DENYING: Final = """
not no never none nor without nicht kein keine keinen keiner keinem nie niemals ohne ne n pas
jamais aucun aucune sans nunca ningún ninguno ninguna sin non mai senza não nem не нет никогда
без 不 没 沒 非 未 無 无
"""
_HELPING: Final = """
do does did has have will would is are was were be been can could wo ca longer anymore any more
yet mehr plus más più mais 有 了
"""
_LINKING: Final = """
is are was were = ist sind war est sont était es son era è sono é são
это 是 在 为 為 叫 于 於 で は が
"""
_ARTICLES: Final = """
the a an in at on to by der die das ein eine im am auf le la les un une à en el los las il lo o
os as
"""
DENIALS: Final = frozenset(_DENYING.split())
AUXILIARIES: Final = frozenset(_HELPING.split())
"""Words that come and go with a denial and say nothing of their own."""
IS: Final = frozenset(_LINKING.split())
SMALL: Final = frozenset(_ARTICLES.split())
"""What may stand between what is spoken of and what is said of it."""
LONGEST: Final = 40
"""Words of a statement; a longer one says more than one thing."""
_MOST: Final = 60
"""Statements of one text that are looked at."""
_LOOKED_AT: Final = 4000
"""Characters of one text that are looked at."""
CHANGED: Final = 3
"""Words of a name or value."""
SHARED: Final = 0.5
"""Share of its words that a statement must have in common with the other."""


@dataclass(frozen=True, slots=True)
class Said:
    """A statement: its words as they are written, as they are compared, and its text."""

    written: tuple[str, ...]
    words: tuple[str, ...]
    different: frozenset[str]
    text: str


Statements: TypeAlias = tuple[Said, ...]


def statements_of(text: str) -> Statements:
    """Return the statements of a text, each once; a question is none."""
    made: dict[tuple[str, ...], Said] = {}
    plain = unicodedata.normalize("NFKC", text[:_LOOKED_AT]).replace("’", "'")
    for sentence in _SENTENCE_END.split(plain):
        if sentence.rstrip().endswith("?"):
            continue
        apart = _ELIDED.sub(r"\1 ", _NOT.sub(" not", sentence))
        written = tuple(_TOKEN.findall(apart))
        words = tuple(word.casefold() for word in written)
        if words:
            made.setdefault(words, Said(written, words, frozenset(words), sentence))
    return tuple(made.values())[:_MOST]


def has_digit(word: str) -> bool:
    """Say whether a word has a digit."""
    return any(one.isdigit() for one in word)


def is_name(word: str) -> bool:
    """Say whether a word is written like a name."""
    return any(one.isupper() for one in word)


def is_about_nothing(before: Sequence[str], rest: int) -> bool:
    """Say whether what two statements begin with names nothing that both could speak of.

    "Ticket 12 is open" and "Ticket 13 is open" speak of two tickets.
    """
    spoken_of = len(before) - (before[:1] != () and before[0] in SMALL)
    return spoken_of < 1 or (spoken_of == 1 and rest > 1)


def is_said_to_be(before: Sequence[str]) -> bool:
    """Say whether words end with "is" or the like, so that a value follows."""
    return next((word for word in reversed(before) if word not in SMALL), "") in IS


def clash(one: Said, other: Said) -> str:
    """Return why two statements cannot both hold, "" if they can."""
    longer, shorter = sorted((len(one.words), len(other.words)), reverse=True)
    if one.words == other.words or longer > LONGEST or shorter < 2:
        return ""
    if len(one.different & other.different) < 2:
        return ""
    shared = (Counter(one.words) & Counter(other.words)).total()
    if shared < max(2, SHARED * longer):
        return ""
    if not _may_clash(one, other):
        return ""
    matcher = SequenceMatcher(None, one.words, other.words, autojunk=False)
    changes = [change for change in matcher.get_opcodes() if change[0] != "equal"]
    left = [word for _, i, j, _, _ in changes for word in one.words[i:j]]
    right = [word for _, _, _, i, j in changes for word in other.words[i:j]]
    if _denied(left, right):
        return "one denies what the other says"
    if len(changes) != 1 or changes[0][0] != "replace":
        return ""
    _, start, end, begin, stop = changes[0]
    return _difference(one, (start, end), other.written[begin:stop])


def _may_clash(one: Said, other: Said) -> bool:
    """Say whether two statements could differ by a denial or in one place: a quick look.

    Most pairs differ in many places, and to find out which is what takes the time.
    """
    counts = Counter(one.words), Counter(other.words)
    only = {*(counts[0] - counts[1]), *(counts[1] - counts[0])}
    if only & DENIALS and only <= DENIALS | AUXILIARIES:
        return True
    place = _alike(one.words, other.words) + _alike(one.words[::-1], other.words[::-1])
    return max(len(one.words), len(other.words)) - place <= CHANGED * 2


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """Return with how many of the same words two statements begin."""
    different = (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(different, min(len(one), len(other)))


def _denied(left: Sequence[str], right: Sequence[str]) -> bool:
    if any(word not in DENIALS | AUXILIARIES for word in (*left, *right)):
        return False
    return bool(DENIALS.intersection(left)) != bool(DENIALS.intersection(right))


def _difference(one: Said, place: tuple[int, int], new: Sequence[str]) -> str:
    """Return what the place of a statement says that another fills with something else."""
    start, end = place
    old, rest = one.written[start:end], len(one.words) - end
    before = one.words[:start]
    if is_about_nothing(before, rest):
        return ""
    unspaced = re.fullmatch(rf"[{UNSPACED}]+", "".join((*old, *new)))
    if max(len(old), len(new)) > (CHANGED * 2 if unspaced else CHANGED):
        return ""
    said = f"{' '.join(old)[:40]} and {' '.join(new)[:40]}"
    if all(any(map(has_digit, side)) for side in (old, new)):
        return f"not the same number: {said}"
    if all(map(is_name, (*old, *new))):
        return f"not the same name: {said}"
    if rest == 0 and is_said_to_be(before) and not {*old, *new} & (DENIALS | AUXILIARIES):
        return f"not the same value: {said}"
    return ""

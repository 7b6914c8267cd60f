"""Statements of a text as words, and why two of them plainly cannot both hold."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, TypeAlias

from memoryware._remembering import remembered

UNSPACED: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_UNSPACED: Final = re.compile(rf"[{UNSPACED}]+")
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
PASSING: Final = DENIALS | AUXILIARIES
IS: Final = frozenset(_LINKING.split())
SMALL: Final = frozenset(_ARTICLES.split())
"""What may stand between what is spoken of and what is said of it."""
LONGEST: Final = 40
"""Words of a statement; a longer one says more than one thing."""
_MAX_STATEMENTS: Final = 60
"""Statements of one text that are looked at."""
_MAX_CHARS: Final = 4000
"""Characters of one text that are looked at."""
CHANGED: Final = 3
"""Words of a name or value."""
SHARED: Final = 0.5
"""Share of its words that a statement must have in common with the other."""


@dataclass(frozen=True, slots=True)
class PlainStatement:
    """A statement as words, for finding plain clashes.

    Attributes:
        written: Its words as they are written.
        words: The same in lower case.
        distinct: The different ones of `words`.
        text: The statement itself.
    """

    written: tuple[str, ...]
    words: tuple[str, ...]
    distinct: frozenset[str]
    text: str


PlainStatements: TypeAlias = tuple[PlainStatement, ...]


def plain_statements(text: str) -> PlainStatements:
    """Return the different statements of the beginning of a text; questions are left out."""
    return _cached(text[:_MAX_CHARS])


@remembered(2048)
def _cached(text: str) -> PlainStatements:
    statements: dict[tuple[str, ...], PlainStatement] = {}
    plain = unicodedata.normalize("NFKC", text).replace("’", "'")
    for sentence in _SENTENCE_END.split(plain):
        if sentence.rstrip().endswith("?"):
            continue
        spaced = _ELIDED.sub(r"\1 ", _NOT.sub(" not", sentence))
        written = tuple(_TOKEN.findall(spaced))
        words = tuple(word.casefold() for word in written)
        if words:
            statements.setdefault(words, PlainStatement(written, words, frozenset(words), sentence))
    return tuple(statements.values())[:_MAX_STATEMENTS]


def has_digit(word: str) -> bool:
    """Return whether a word has a digit."""
    return any(map(str.isdigit, word))


def is_name(word: str) -> bool:
    """Return whether a word is written like a name: with a capital letter."""
    return any(map(str.isupper, word))


def is_about_nothing(before: Sequence[str], rest: int) -> bool:
    """Return whether the words that two statements begin with name no common subject.

    "Ticket 12 is open" and "Ticket 13 is open" speak of two tickets.
    """
    spoken_of = len(before) - (before[:1] != () and before[0] in SMALL)
    return spoken_of < 1 or (spoken_of == 1 and rest > 1)


def is_said_to_be(before: Sequence[str]) -> bool:
    """Return whether words end with "is" or the like, so that a value follows."""
    return next((word for word in reversed(before) if word not in SMALL), "") in IS


# What two statements say differently.


def clash(first: PlainStatement, second: PlainStatement) -> str:
    """Return why two statements plainly cannot both hold, "" if they can.

    Plainly: the same words but for a denial, or for one place that has another number, name or
    value.
    """
    shorter, longer = sorted((len(first.words), len(second.words)))
    if longer > LONGEST or shorter < max(2, SHARED * longer) or first.words == second.words:
        return ""
    common = len(first.distinct & second.distinct)
    if common < 2:
        return ""
    # Words that are repeated in both count again; counting them is slow, and few are.
    repeated = min(len(side.words) - len(side.distinct) for side in (first, second))
    if common + repeated < SHARED * longer:
        return ""
    if common < SHARED * longer and _shared_words(first, second) < SHARED * longer:
        return ""
    if not _may_clash(first, second):
        return ""
    matcher = SequenceMatcher(None, first.words, second.words, autojunk=False)
    changes = [change for change in matcher.get_opcodes() if change[0] != "equal"]
    left = [word for _, i, j, _, _ in changes for word in first.words[i:j]]
    right = [word for _, _, _, i, j in changes for word in second.words[i:j]]
    if _is_denied(left, right):
        return "one denies what the other says"
    if len(changes) != 1 or changes[0][0] != "replace":
        return ""
    _, start, end, begin, stop = changes[0]
    return _difference(first, slice(start, end), second.written[begin:stop])


def _shared_words(first: PlainStatement, second: PlainStatement) -> int:
    return (Counter(first.words) & Counter(second.words)).total()


def _may_clash(first: PlainStatement, second: PlainStatement) -> bool:
    """Return whether two statements can differ by a denial, or in one place only.

    Most pairs differ in many places, and `SequenceMatcher` is what takes the time.
    """
    beginning = _common_prefix(first.words, second.words)
    ending = _common_prefix(first.words[::-1], second.words[::-1])
    if max(len(first.words), len(second.words)) - beginning - ending <= CHANGED * 2:
        return True
    left, right = Counter(first.words), Counter(second.words)
    changed = {*(left - right), *(right - left)}
    return changed <= PASSING and not DENIALS.isdisjoint(changed)


def _common_prefix(first: Sequence[str], second: Sequence[str]) -> int:
    pairs = enumerate(zip(first, second, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(first), len(second)))


def _is_denied(left: Sequence[str], right: Sequence[str]) -> bool:
    if not PASSING.issuperset((*left, *right)):
        return False
    return DENIALS.isdisjoint(left) != DENIALS.isdisjoint(right)


def _difference(statement: PlainStatement, place: slice, new: Sequence[str]) -> str:
    """Return how a place of a statement differs from the words that another has there."""
    old, rest = statement.written[place], len(statement.words) - place.stop
    before = statement.words[: place.start]
    if is_about_nothing(before, rest):
        return ""
    is_unspaced = _UNSPACED.fullmatch("".join((*old, *new)))
    if max(len(old), len(new)) > (CHANGED * 2 if is_unspaced else CHANGED):
        return ""
    both = f"{' '.join(old)[:40]} and {' '.join(new)[:40]}"
    if all(any(map(has_digit, side)) for side in (old, new)):
        return f"not the same number: {both}"
    if all(map(is_name, (*old, *new))):
        return f"not the same name: {both}"
    if rest == 0 and is_said_to_be(before) and PASSING.isdisjoint((*old, *new)):
        return f"not the same value: {both}"
    return ""

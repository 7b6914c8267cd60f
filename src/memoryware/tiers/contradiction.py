"""Texts that cannot both hold: the same statement with another number, name or a denial.

Only what is plain is found. Two statements are held against each other if they are the same
word for word but for one place, and the rest of a text does not count.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import combinations
from typing import Final

from memoryware.tiers.records import Memory
from memoryware.tiers.values import ContextItem, Contradiction

_UNSPACED: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN: Final = re.compile(
    rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+(?:['.@:/&,-][^\W_{_UNSPACED}]+)*%?|[$€£]\d[\d.,]*"
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
_DENIALS: Final = frozenset(_DENYING.split())
_AUXILIARIES: Final = frozenset(_HELPING.split())
"""Words that come and go with a denial and say nothing of their own."""
_IS: Final = frozenset(_LINKING.split())
_SMALL: Final = frozenset(_ARTICLES.split())
"""What may stand between what is spoken of and what is said of it."""
_LONGEST: Final = 40
"""Words of a statement; a longer one says more than one thing."""
_MOST: Final = 60
"""Statements of one text that are looked at."""
_LOOKED_AT: Final = 4000
"""Characters of one text that are looked at."""
_CHANGED: Final = 3
"""Words of a name or value."""
_SHARED: Final = 0.5
"""Share of its words that a statement must have in common with the other."""


@dataclass(frozen=True, slots=True)
class _Said:
    """A statement: its words as they are written, and as they are compared."""

    written: tuple[str, ...]
    words: tuple[str, ...]
    different: frozenset[str]


def contradictions_among(items: Sequence[ContextItem | Memory]) -> tuple[Contradiction, ...]:
    """Return the pairs that say different things of the same; none where that is not plain.

    Two texts of one subject differ if their words do. Without a subject, two statements must
    be the same but for a number, a name or a denial. Of two documents one pair is named.
    """
    found: dict[tuple[str, str], Contradiction] = {}
    for one, other in combinations(items, 2):
        places = (one.document_id or one.id, other.document_id or other.id)
        if places[0] == places[1] or places in found or places[::-1] in found:
            continue
        reason = why(one.content, other.content, same=_same_subject(one, other))
        if reason:
            found[places] = Contradiction(first=one.id, second=other.id, reason=reason)
    return tuple(found.values())


def why(one: str, other: str, *, same: bool = False) -> str:
    """Return why two texts contradict each other, in words; "" if they do not plainly.

    Args:
        one: A text.
        other: Another.
        same: Whether they are of one subject, so that any difference counts.
    """
    left, right = _statements(one[:_LOOKED_AT]), _statements(other[:_LOOKED_AT])
    if [said.words for said in left] == [said.words for said in right]:
        return ""
    for first in left:
        for second in right:
            reason = _clash(first, second)
            if reason:
                return reason
    return "the same subject, and not the same text" if same else ""


@lru_cache(maxsize=256)
def _statements(text: str) -> tuple[_Said, ...]:
    made: dict[tuple[str, ...], _Said] = {}
    for sentence in _SENTENCE_END.split(unicodedata.normalize("NFKC", text).replace("’", "'")):
        if sentence.rstrip().endswith("?"):
            continue
        apart = _ELIDED.sub(r"\1 ", _NOT.sub(" not", sentence))
        written = tuple(_TOKEN.findall(apart))
        words = tuple(word.casefold() for word in written)
        if words:
            made.setdefault(words, _Said(written, words, frozenset(words)))
    return tuple(made.values())[:_MOST]


def _clash(one: _Said, other: _Said) -> str:
    """Return why two statements cannot both hold, "" if they can."""
    longer, shorter = sorted((len(one.words), len(other.words)), reverse=True)
    if one.words == other.words or longer > _LONGEST or shorter < 2:
        return ""
    if len(one.different & other.different) < 2:
        return ""
    shared = (Counter(one.words) & Counter(other.words)).total()
    if shared < max(2, _SHARED * longer):
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


def _may_clash(one: _Said, other: _Said) -> bool:
    """Say whether two statements could differ by a denial or in one place: a quick look.

    Most pairs differ in many places, and to find out which is what takes the time.
    """
    counts = Counter(one.words), Counter(other.words)
    only = {*(counts[0] - counts[1]), *(counts[1] - counts[0])}
    if only & _DENIALS and only <= _DENIALS | _AUXILIARIES:
        return True
    place = _alike(one.words, other.words) + _alike(one.words[::-1], other.words[::-1])
    return max(len(one.words), len(other.words)) - place <= _CHANGED * 2


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """Return with how many of the same words two statements begin."""
    different = (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(different, min(len(one), len(other)))


def _denied(left: Sequence[str], right: Sequence[str]) -> bool:
    if any(word not in _DENIALS | _AUXILIARIES for word in (*left, *right)):
        return False
    return bool(_DENIALS.intersection(left)) != bool(_DENIALS.intersection(right))


def _difference(one: _Said, place: tuple[int, int], new: Sequence[str]) -> str:
    """Return what the place of a statement says that another fills with something else."""
    start, end = place
    old, rest = one.written[start:end], len(one.words) - end
    before = one.words[:start]
    spoken_of = start - (before[:1] != () and before[0] in _SMALL)
    if spoken_of < 1 or (spoken_of == 1 and rest > 1):  # "Ticket 12 is open": what is spoken of
        return ""
    unspaced = re.fullmatch(rf"[{_UNSPACED}]+", "".join((*old, *new)))
    if max(len(old), len(new)) > (_CHANGED * 2 if unspaced else _CHANGED):
        return ""
    said = f"{' '.join(old)[:40]} and {' '.join(new)[:40]}"
    if all(any(map(_has_digit, side)) for side in (old, new)):
        return f"not the same number: {said}"
    if all(map(_is_name, (*old, *new))):
        return f"not the same name: {said}"
    last = next((word for word in reversed(before) if word not in _SMALL), "")
    if rest == 0 and last in _IS and not {*old, *new} & (_DENIALS | _AUXILIARIES):
        return f"not the same value: {said}"
    return ""


def _has_digit(word: str) -> bool:
    return any(one.isdigit() for one in word)


def _is_name(word: str) -> bool:
    return any(one.isupper() for one in word)


def _same_subject(one: ContextItem | Memory, other: ContextItem | Memory) -> bool:
    return one.subject is not None and one.subject == other.subject

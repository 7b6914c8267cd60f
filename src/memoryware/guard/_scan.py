"""One scan of a text for secrets: how it is read, what announces secrets, how much work is left.

Detectors read a view of the text without characters that hide and in one spelling, so that a secret
is not missed because a zero-width character or a line break stands in it. Every place in a view
leads back to its place in the text.

Each kilobyte of a text has a budget of steps, a step being about a microsecond. What a word for a
secret costs is taken from the budget of its place, so hostile text in one place takes nothing
from honest text in another, and the time is linear whatever stands in the text.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from operator import itemgetter
from typing import Final, NamedTuple

from memoryware.guard._lexicon import BEGINNINGS, OTHER_STEMS, SAYS_OTHERWISE, STEMS
from memoryware.guard._secret_values import UNSPACED, Sort, looks_random, sort_of, told

STEPS: Final = 500
"""Steps for a kilobyte. Prose takes 10 to 100, a page about nothing but passwords up to 500."""
_BUCKET: Final = 1024
_TOLD: Final = 7
"""Steps for judging whether a word is a password."""
_MOST_WORDS: Final = 14
_WORD: Final = re.compile(r"\S{1,260}")
_MARKS: Final = "\"'`,*_()[]"
_STOP: Final = (".", "!", "?")


class Word(NamedTuple):
    """A word, the same in lower case without the marks around it, and its place."""

    text: str
    low: str
    start: int
    end: int

    @property
    def stops(self) -> bool:
        """Whether a sentence ends with it."""
        return self.text.endswith(_STOP)

    @property
    def bare(self) -> str:
        """The word without what it may end with."""
        return self.low.rstrip(".:!?").removesuffix("'s")


@dataclass(slots=True)
class Scan:
    """A text that is looked through.

    Attributes:
        text: The text.
        low: The same in lower case, character by character.
        steps: What has been spent.
        cells: Cells of tables that have been judged, by their place and by what their heading
            announces.
        spent: Numbers of the kilobytes whose budget is spent.
    """

    text: str
    low: str
    steps: int = 0
    cells: set[tuple[int, str]] = field(default_factory=set)
    spent: set[int] = field(default_factory=set)
    _left: dict[int, int] = field(default_factory=dict)
    _words: dict[int, Word] = field(default_factory=dict)
    _random: dict[tuple[str, int], bool] = field(default_factory=dict)
    _told: dict[tuple[str, str], bool] = field(default_factory=dict)

    def afford(self, place: int, steps: int) -> bool:
        """Take steps from the budget of a place; say whether there were any left."""
        bucket = place // _BUCKET
        left = self._left.get(bucket, STEPS)
        if left <= 0:
            self.spent.add(bucket)
            return False
        self._left[bucket] = left - steps
        self.steps += steps
        return True

    def afford_token(self, place: int, steps: int) -> bool:
        """Take steps from a budget of its own, for what begins like a token; see `afford`."""
        bucket = -1 - place // _BUCKET
        left = self._left.get(bucket, STEPS)
        self._left[bucket] = left - steps
        if left <= 0:
            self.spent.add(place // _BUCKET)
            return False
        self.steps += steps
        return True

    def charge(self, place: int, steps: int) -> None:
        """Take steps from the budget of a place for work that has to be done anyway."""
        bucket = place // _BUCKET
        self._left[bucket] = self._left.get(bucket, STEPS) - steps
        self.steps += steps

    def words(self, start: int, end: int) -> list[Word]:
        """Return the first words between two places; each is made once."""
        words, known = [], self._words
        for match in islice(_WORD.finditer(self.text, start, end), _MOST_WORDS):
            begin, stop = match.span()
            word = known.get(begin)
            if word is None or word.end != stop:
                text = match.group()
                known[begin] = word = Word(text, text.lower().strip(_MARKS), begin, stop)
            words.append(word)
        return words

    def is_password(self, value: str, following: str, place: int) -> bool:
        """Say whether a word of a sentence is the password that it speaks of; see `told`."""
        known = self._told.get((value, following))
        if known is None:
            self.charge(place, _TOLD)
            known = self._told[value, following] = told(value, following)
        return known

    def is_random(self, value: str, least: int, place: int) -> bool:
        """Say whether a value of at least so many characters is made by a machine."""
        if len(value) < least:
            return False
        known = self._random.get((value, least))
        if known is None:
            self.charge(place, 4 + len(value) // 4)
            known = self._random[value, least] = looks_random(value, least)
        return known

    def unread(self) -> Iterator[tuple[int, int]]:
        """Yield the places of the kilobytes whose budget is spent."""
        for bucket in sorted(self.spent):
            yield bucket * _BUCKET, min(len(self.text), (bucket + 1) * _BUCKET)


# Views: the text as a detector reads it.

_HIDDEN: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff"
)
"""What has no width; it is left out of the view."""
_SPELLED: Final = {
    **{chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},  # full width
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033\u300c\u300d\u300e\u300f", '"'),
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2039\u203a\u2032", "'"),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63", "-"),
    **dict.fromkeys("\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009", " "),
    **dict.fromkeys("\u200a\u202f\u205f\u3000", " "),
    "\u3002": ".",
    "\u3001": ",",
    "\u0130": "I",  # the one letter that is longer in lower case
}
_TO_SPELL: Final = re.compile("[" + re.escape("".join(_SPELLED)) + "]")
_TO_HIDE: Final = re.compile(f"[{_HIDDEN}]+")
_ODD: Final = re.compile("[" + re.escape("".join(_SPELLED)) + _HIDDEN + "]")
_NOTED: Final = "[redacted: "
_NOTE: Final = re.compile(r"\[redacted: [^\]\n]{1,60}\]")
_SEAM: Final = re.compile(
    r"""["'`][ \t]{0,80}(?:[+.&\\][ \t]{0,80})?(?:\r?\n[ \t]{0,80}(?:[+.&][ \t]{0,80})?)?["'`]"""
    r"""|\\\r?\n[ \t]{0,80}"""
)
"""Between two pieces of one string, or of one continued line."""
_BROKEN: Final = re.compile(
    r"""(["'`])[^\s"'`]{4,200}(?:[ \t]{0,80}\r?\n[ \t]{0,80}[^\s"'`]{1,200}){1,8}\1"""
)
_BREAK: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class View:
    """A text to look through, and for each of its characters the place in the original."""

    text: str
    places: list[int] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the place in the original of what is not empty in the view."""
        if self.places is None or start >= end:
            return start, end
        return self.places[start], self.places[end - 1] + 1

    def without(self, cuts: Iterable[tuple[int, int]]) -> View:
        """Return a view in which these pieces are left out."""
        pieces: list[str] = []
        places: list[int] = []
        position = 0
        for start, end in [*cuts, (len(self.text), len(self.text))]:
            pieces.append(self.text[position:start])
            places += range(position, start)
            position = end
        if self.places is not None:
            places = [self.places[place] for place in places]
        return View("".join(pieces), places)


def plain(text: str) -> View:
    """Return the text without what hides, with one spelling of quotes, dashes and blanks.

    The notes that redaction leaves are dots, so that their words announce nothing.
    """
    if _NOTED in text:
        text = _NOTE.sub(lambda match: f"[{'.' * (len(match.group()) - 2)}]", text)
    if text.isascii():
        return View(text)
    if not _ODD.search(text):
        return View(text)
    view = View(_TO_SPELL.sub(lambda match: _SPELLED[match.group()], text))
    cuts = [match.span() for match in _TO_HIDE.finditer(view.text)]
    return view.without(cuts) if cuts else view


def joined(view: View) -> tuple[View, list[int]]:
    """Return the view with strings put together that are written in pieces, and the seams."""
    text = view.text
    cuts = [match.span() for match in _SEAM.finditer(text)]
    if '"' in text or "'" in text or "`" in text:
        for match in _BROKEN.finditer(text):
            inner = _BREAK.finditer(text, *match.span())
            cuts += [one.span() for one in inner]
    cuts = _apart(cuts)
    seams, gone = [], 0
    for start, end in cuts:
        seams.append(start - gone)
        gone += end - start
    return (view.without(cuts) if cuts else view), seams


def _apart(cuts: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the cuts in order, those that overlap as one."""
    apart: list[tuple[int, int]] = []
    for start, end in sorted(cuts):
        if apart and start < apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    return apart


# Mentions: words that announce a secret.

_INSIDE: Final = string.ascii_letters + string.digits + "_-."
_LETTER: Final = (
    "(?:(?![\u0e00-\u0eff\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])[\\w.-])"
)
"""A letter of a script that puts blanks between words, or a sign inside an identifier."""
_REST: Final = re.compile(f"{_LETTER}{{0,60}}")
_BACKWARDS: Final = re.compile(f"{_LETTER}*")
_NETWORK: Final = re.compile(r"ssid|wi-?fi|wlan|wpa|netzwerk|hotspot")
"""What makes a key or a code near it that of a wireless network."""
_STEPS: Final = 2
"""What looking at a word costs."""
_WIDEST: Final = 60
"""Characters of an identifier that are looked at before the word for a secret."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A word that announces a secret.

    Attributes:
        sort: What it announces.
        start: Where the word begins, with the whole identifier that it stands in.
        end: Where it ends.
        last: Whether the identifier ends with it: `DB_PASSWORD`, not `PASSWORD_DB`.
        unspaced: Whether it is of a script without blanks between words.
    """

    sort: Sort
    start: int
    end: int
    last: bool = True
    unspaced: bool = False


def mentions(scan: Scan) -> Iterator[Mention]:
    """Return every word that announces a secret, each once, in the order of the text.

    Where too many stand together, those for which the budget of their place has nothing left are
    passed over.
    """
    text, seen = scan.text, -1
    for at, stem, sort in _hits(text, scan.low):
        if not scan.afford(at, _STEPS):
            continue
        if sort is not None:
            yield Mention(sort, at, at + len(stem), unspaced=True)
            continue
        start = -1 if stem in BEGINNINGS and _goes_on(text, at) else _start(text, at)
        if start > seen:
            seen = start
            mention = _mention(text, scan.low, start, _end(text, at + len(stem)))
            if mention is not None:
                yield mention


def _hits(text: str, low: str) -> list[tuple[int, str, Sort | None]]:
    """Return where stems of words for secrets stand, in order, and the sort of unspaced ones."""
    ascii_only = text.isascii()
    found: list[tuple[int, str, Sort | None]] = []
    for stem in STEMS if ascii_only else (*STEMS, *OTHER_STEMS):
        at = low.find(stem)
        while at >= 0:
            found.append((at, stem, None))
            at = low.find(stem, at + len(stem))
    for word, sort in () if ascii_only else UNSPACED.items():
        at = low.find(word)
        while at >= 0:
            found.append((at, word, sort))
            at = low.find(word, at + len(word))
    found.sort(key=itemgetter(0))
    return found


def _mention(text: str, low: str, start: int, end: int) -> Mention | None:
    found = sort_of(text[start:end])
    if found is None:
        return None
    sort, last = found
    if sort is not Sort.PASSWORD:
        before = text[max(0, start - 20) : start].rpartition("\n")[2].split()
        if before and before[-1].lower().strip("\"'`,*_()[]") in SAYS_OTHERWISE:
            return None
    back, ahead = {Sort.KEY: (60, 0), Sort.CODE: (12, 12)}.get(sort, (0, 0))
    if back and _NETWORK.search(low, max(0, start - back), end + ahead):
        sort = Sort.PASSWORD
    return Mention(sort, start, end, last)


def _goes_on(text: str, at: int) -> bool:
    """Say whether the word has begun before this place."""
    return at > 0 and text[at - 1].isalpha() and text[at].islower()


def _start(text: str, at: int) -> int:
    chunk = text[max(0, at - _WIDEST) : at]
    if chunk.isascii():
        start = at - len(chunk) + len(chunk.rstrip(_INSIDE))
    else:
        begun = _BACKWARDS.match(chunk[::-1])
        start = at - begun.end() if begun else at
    while start < at and text[start] in "-.":
        start += 1
    return start


def _end(text: str, at: int) -> int:
    rest = _REST.match(text, at)
    end = rest.end() if rest else at
    while end > at and text[end - 1] in "-._":
        end -= 1
    return end

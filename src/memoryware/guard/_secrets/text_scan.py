"""The budget of a scan for secrets, and what it has worked out of a text so far.

Each kilobyte of a text has a budget of steps, a step being about a microsecond. What a word for a
secret costs is taken from the budget of its place, so hostile text in one place takes nothing
from honest text in another, and the time is linear whatever stands in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, NamedTuple, TypeAlias

from memoryware.guard._secrets.secret_values import Sort, is_stated_secret, looks_random

DetectedSpan: TypeAlias = tuple[str, int, int]
"""Kind, start and end of something found in a text; `Guard` has the same type."""
STEPS: Final = 500
"""Steps for a kilobyte. Prose takes 10 to 100, a page about nothing but passwords up to 500."""
_BUCKET: Final = 1024
_TOLD: Final = 7
"""Steps for judging whether a word is a password."""
_MOST_WORDS: Final = 14
_WORD: Final = re.compile(r"\S{1,260}")
_MARKS: Final = "\"'`,*_()[]"
_STOP: Final = (".", "!", "?")


class ScannedWord(NamedTuple):
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
class TextScan:
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
    _words: dict[int, ScannedWord] = field(default_factory=dict)
    _random: dict[tuple[str, int], bool] = field(default_factory=dict)
    _verdicts: dict[tuple[str, str], bool] = field(default_factory=dict)

    def afford(self, position: int, steps: int) -> bool:
        """Take steps from the budget of a place; say whether there were any left."""
        bucket = position // _BUCKET
        left = self._left.get(bucket, STEPS)
        if left <= 0:
            self.spent.add(bucket)
            return False
        self._left[bucket] = left - steps
        self.steps += steps
        return True

    def afford_token(self, position: int, steps: int) -> bool:
        """Take steps from a budget of its own, for what begins like a token; see `afford`."""
        bucket = -1 - position // _BUCKET
        left = self._left.get(bucket, STEPS)
        self._left[bucket] = left - steps
        if left <= 0:
            self.spent.add(position // _BUCKET)
            return False
        self.steps += steps
        return True

    def charge(self, position: int, steps: int) -> None:
        """Take steps from the budget of a place for work that has to be done anyway."""
        bucket = position // _BUCKET
        self._left[bucket] = self._left.get(bucket, STEPS) - steps
        self.steps += steps

    def words(self, start: int, end: int) -> list[ScannedWord]:
        """Return the first words between two places; each is made once."""
        words, cached = [], self._words
        for match in islice(_WORD.finditer(self.text, start, end), _MOST_WORDS):
            begin, stop = match.span()
            word = cached.get(begin)
            if word is None or word.end != stop:
                text = match.group()
                cached[begin] = word = ScannedWord(text, text.lower().strip(_MARKS), begin, stop)
            words.append(word)
        return words

    def is_password(self, value: str, following: str, position: int) -> bool:
        """Return whether a word of a sentence is its password; see `is_stated_secret`."""
        verdict = self._verdicts.get((value, following))
        if verdict is None:
            self.charge(position, _TOLD)
            verdict = self._verdicts[value, following] = is_stated_secret(value, following)
        return verdict

    def is_random(self, value: str, least: int, position: int) -> bool:
        """Return whether a value of at least so many characters is made by a machine."""
        if len(value) < least:
            return False
        verdict = self._random.get((value, least))
        if verdict is None:
            self.charge(position, 4 + len(value) // 4)
            verdict = self._random[value, least] = looks_random(value, least)
        return verdict

    def unread(self) -> Iterator[tuple[int, int]]:
        """Yield the places of the kilobytes whose budget is spent."""
        for bucket in sorted(self.spent):
            yield bucket * _BUCKET, min(len(self.text), (bucket + 1) * _BUCKET)


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

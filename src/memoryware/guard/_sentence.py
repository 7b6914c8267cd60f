"""The sentence around a word for a secret."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from memoryware.guard._lexicon import FILLERS, IS, TURNS
from memoryware.guard._mentions import Mention
from memoryware.guard._scan import Scan, Word
from memoryware.guard._values import trimmed

Place = tuple[int, int]
"""Where a secret begins and ends."""
BEHIND: Final = 160
"""Characters behind a word for a secret in which the secret is looked for."""
BEFORE: Final = 70
_WORD: Final = re.compile(r"\S{1,260}")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A word for a secret and the words around it in its line.

    Attributes:
        scan: The scan of the whole text.
        mention: The word for a secret.
        before: The words before it.
        behind: The words behind it; of the next line, where it is the heading of that.
        attached: Whether a sign other than a comma stands between it and the words behind it.
    """

    scan: Scan
    mention: Mention
    before: list[Word]
    behind: list[Word]
    attached: bool

    @classmethod
    def around(cls, scan: Scan, mention: Mention) -> Sentence:
        """Return the sentence around a word."""
        text = scan.text
        before, behind = _before(scan, mention.start), _behind(scan, mention.end)
        comma = text.startswith(",", mention.end)
        attached = _is_attached(text, mention.end) and not comma
        return cls(scan, mention, before, behind, attached)

    @property
    def text(self) -> str:
        """The whole text."""
        return self.scan.text

    @property
    def word(self) -> str:
        """The word for a secret, in lower case."""
        return self.text[self.mention.start : self.mention.end].lower()

    def value(self, word: Word) -> tuple[str, Place]:
        """Return a word without punctuation, and its place."""
        start, end = trimmed(self.text, word.start, word.end)
        return self.text[start:end], (start, end)

    def after_is(self, *, changed: bool = False) -> Iterator[int]:
        """Return the numbers of the words behind each "is".

        Args:
            changed: Whether "to" is as good as "is".
        """
        for number, word in enumerate(self.behind):
            if word.low in IS or word.text.endswith(":") or (changed and word.low in TURNS):
                following = number + 1
                while following < len(self.behind) and self.behind[following].low in FILLERS:
                    following += 1
                if following < len(self.behind):
                    yield following
            elif word.stops and number:
                return


def _before(scan: Scan, at: int) -> list[Word]:
    text = scan.text
    start = max(0, at - BEFORE)
    line = text.rfind("\n", start, at) + 1
    if line:
        start = line
    elif start and not text[start - 1].isspace():
        cut_off = _WORD.match(text, start, at)  # the rest of a word says nothing
        start = cut_off.end() if cut_off else start
    return scan.words(start, at)


def _behind(scan: Scan, at: int) -> list[Word]:
    text = scan.text
    end = min(len(text), at + BEHIND)
    line = text.find("\n", at, end)
    if line >= 0 and text[at:line].strip() == ":":
        line = text.find("\n", line + 1, end)  # the word is a heading of the next line
    if line >= 0:
        end = line
    elif rest := _WORD.match(text, end):
        end = rest.end()
    words = scan.words(at, end)
    return words[1:] if _is_attached(text, at) else words


def _is_attached(text: str, at: int) -> bool:
    """Say whether something other than a blank follows the word for a secret."""
    return text[at : at + 1] not in (" ", "\t", "\n", ":", "") and not text.startswith("'s ", at)

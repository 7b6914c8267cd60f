"""Memories and questions made from a seed: texts as in a language, vectors with neighbours.

Words are drawn by Zipf's law, so that an index of words has lists of all lengths. A vector is
that of a topic with some noise, and topics have nothing to do with whose memory it is: a search
in one group that looks at the nearest of all groups first does not find what it should.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

from memoryware.errors import SettingError

DIMENSION: Final = 384
GROUP: Final = 1000
"""Memories of one group, which is the small scope."""
BEST: Final = 10
"""Hits of one search."""
QUESTIONS: Final = 200
LATER: Final = 2000
"""Memories that are not there at the beginning: they are put one at a time."""
_TOPICS, _NOISE = 400, 1.0
_WORDS, _SHORTEST, _LONGEST = 20_000, 12, 28
_MIDDLING: Final = (20, 200)
"""Ranks of the words of questions: from about a tenth to a hundredth of all texts have one."""
_FREQUENT: Final = (0, 12)
"""Ranks of words that from a tenth to more than half of all texts have."""
_ASKED: Final = 3
_AT_ONCE: Final = 50_000
_ROUNDING: Final = 1e-4
"""By how much two cosines may differ that 16-bit numbers cannot tell apart."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question, asked in the same words and with the same vector of everybody.

    Attributes:
        number: Which one it is.
        words: Three words of middling frequency.
        frequent: Three words that very many texts have.
        vector: What a model would make of it.
        group: The group that is asked where not everything is.
    """

    number: int
    words: tuple[str, ...]
    frequent: tuple[str, ...]
    vector: list[float]
    group: int

    @property
    def text(self) -> str:
        """The question in words."""
        return " ".join(self.words)

    @property
    def wordless(self) -> str:
        """A text without any word, for which vectors alone can find anything."""
        return "".join("?!"[int(bit)] for bit in f"{self.number:09b}")


class Made:
    """So many memories, some more that come later, and questions; the same for the same seed.

    Raises:
        SettingError: Without NumPy, or for a size below 1.
    """

    def __init__(self, size: int, *, later: int = LATER, seed: int = 1) -> None:
        if size < 1:
            raise SettingError(f"size={size}: there must be a memory at least")
        self.numpy: Any = numpy()
        self.size, self.later = size, later
        self.groups = max(1, size // GROUP)
        dice = self.numpy.random.default_rng(seed)
        self.vocabulary = _vocabulary(dice)
        self._topics = dice.standard_normal((_TOPICS, DIMENSION), dtype="f4")
        self.questions = [self._question(dice, number) for number in range(QUESTIONS)]
        self.vectors = self._vectors(dice, size + later)
        self.texts = [*self._texts(dice, size + later)]
        self._numbers = {text: number for number, text in enumerate(self.texts)}
        self._asked = {one.text: one.vector for one in self.questions}
        self._asked |= {one.wordless: one.vector for one in self.questions}

    def group_of(self, number: int) -> int:
        """Return the group of a memory; those that come later are spread over all."""
        if number >= self.size:
            return (number - self.size) % self.groups
        return min(number // GROUP, self.groups - 1)

    def members(self, group: int) -> range:
        """Return the memories that a group has at the beginning."""
        last = self.size if group == self.groups - 1 else (group + 1) * GROUP
        return range(group * GROUP, last)

    def number_of(self, text: str) -> int:
        """Return which memory has this text."""
        return self._numbers[text]

    def vector_of(self, text: str) -> list[float]:
        """Return the vector of a memory or a question."""
        if text in self._asked:
            return self._asked[text]
        found: list[float] = self.vectors[self._numbers[text]].tolist()
        return found

    def nearest(self, question: Question, *, whole: bool) -> list[int]:
        """Return the nearest memories by the exact cosine, best first."""
        there, scores = self._scores(question, whole=whole)
        best = self.numpy.argsort(-scores, kind="stable")[:BEST]
        return [there.start + int(one) for one in best]

    def share(self, question: Question, found: Sequence[int], *, whole: bool) -> float:
        """Return which part of the nearest was found; what is about as near as the last counts."""
        there, scores = self._scores(question, whole=whole)
        last = self.numpy.sort(scores)[::-1][:BEST][-1] - _ROUNDING
        near = sum(one in there and scores[one - there.start] >= last for one in {*found[:BEST]})
        return float(near / min(BEST, len(there)))

    def _scores(self, question: Question, *, whole: bool) -> tuple[range, Any]:
        there = range(self.size) if whole else self.members(question.group)
        vector = self.numpy.asarray(question.vector, "f4")
        return there, self.vectors[there.start : there.stop] @ vector

    def text_bytes(self) -> int:
        """Return how many bytes the texts have that are there at the beginning."""
        return sum(map(len, self.texts[: self.size]))

    def _question(self, dice: Any, number: int) -> Question:
        words, frequent = (self._words(dice, ranks) for ranks in (_MIDDLING, _FREQUENT))
        vector = self._near(dice, 1)[0].tolist()
        return Question(number, words, frequent, vector, int(dice.integers(self.groups)))

    def _words(self, dice: Any, ranks: tuple[int, int]) -> tuple[str, ...]:
        chosen = dice.choice(self.numpy.arange(*ranks), _ASKED, replace=False)
        return tuple(self.vocabulary[int(rank)] for rank in chosen)

    def _near(self, dice: Any, count: int) -> Any:
        """Return vectors of length 1, each near a topic."""
        made = dice.standard_normal((count, DIMENSION), dtype="f4") * _NOISE
        made += self._topics[dice.integers(_TOPICS, size=count)]
        made /= self.numpy.linalg.norm(made, axis=1, keepdims=True)
        return made

    def _vectors(self, dice: Any, count: int) -> Any:
        made = self.numpy.empty((count, DIMENSION), "f4")
        for start in range(0, count, _AT_ONCE):
            end = min(count, start + _AT_ONCE)
            made[start:end] = self._near(dice, end - start)
        return made

    def _texts(self, dice: Any, count: int) -> Iterator[str]:
        shares = 1 / (self.numpy.arange(_WORDS) + 2)
        bounds = self.numpy.cumsum(shares / shares.sum())
        seen = set[str]()
        while len(seen) < count:
            length = int(dice.integers(_SHORTEST, _LONGEST + 1))
            ranks = self.numpy.searchsorted(bounds, dice.random(length))
            text = " ".join(self.vocabulary[min(int(rank), _WORDS - 1)] for rank in ranks)
            if text not in seen:
                seen.add(text)
                yield text


def looked_up(made: Made) -> Any:
    """Return a LangChain `Embeddings` object that looks vectors up; no time goes into it."""
    from langchain_core.embeddings import Embeddings

    class LookedUp(Embeddings):
        model = "made up"

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [made.vector_of(text) for text in texts]

        def embed_query(self, text: str) -> list[float]:
            return made.vector_of(text)

    return LookedUp()


def numpy() -> Any:
    """Return NumPy.

    Raises:
        SettingError: If it is not installed.
    """
    try:
        import numpy as np
    except ImportError as error:
        raise SettingError("bench speed needs NumPy: pip install numpy") from error
    return np


def _vocabulary(dice: Any) -> list[str]:
    """Return words that nobody speaks, the most frequent first; none is the stem of another."""
    syllables = ["".join(one) for one in product("bdfgklmnprtvz", "aiou")]
    made = ["".join(one) + "k" for one in product(syllables, repeat=2)]
    made += ["".join(one) + "k" for one in product(syllables, "klmnprt", "aou", "bdgmr", "aiou")]
    order = dice.permutation(len(made))
    return [made[int(place)] for place in order][:_WORDS]

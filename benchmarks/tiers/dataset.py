"""Memories and questions made from a seed: texts as in a language, vectors with neighbours.

Words are drawn by Zipf's law, so that an index of words has lists of all lengths. A vector is
that of a topic with some noise, and topics have nothing to do with whose memory it is: a search
in one group that looks at the nearest of all groups first misses what it should find.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

import numpy as np
from langchain_core.embeddings import Embeddings

DIMENSION: Final = 384
BEST: Final = 10
"""Hits of one search."""
QUESTIONS: Final = 200
LATER: Final = 6000
"""Memories that are not there at the beginning: they are put one at a time."""
_TOPICS: Final = 400
_WORDS, _SHORTEST, _LONGEST = 20_000, 12, 28
_MIDDLING: Final = (20, 200)
"""Ranks of the words of questions: from about a tenth to a hundredth of all texts have one."""
_ASKED: Final = 3
_BATCH: Final = 50_000


@dataclass(frozen=True, slots=True)
class Question:
    """One question, asked in the same words and with the same vector of everybody.

    Attributes:
        text: Three words of middling frequency.
        wordless: A text without any word, for which vectors alone can find anything.
        vector: What a model would make of both.
    """

    text: str
    wordless: str
    vector: list[float]


class Dataset:
    """Texts and vectors of `size` memories, of `later` more, and questions; fixed by the seed."""

    def __init__(self, size: int, *, later: int = LATER, seed: int = 1) -> None:
        self.size, self.later = size, later
        dice = np.random.default_rng(seed)
        self._vocabulary = _vocabulary(dice)
        self._topics = dice.standard_normal((_TOPICS, DIMENSION), dtype="f4")
        self.questions = [self._question(dice, number) for number in range(QUESTIONS)]
        self.vectors = self._vectors(dice, size + later)
        self.texts = [*self._texts(dice, size + later)]
        self._numbers = {text: number for number, text in enumerate(self.texts)}
        self._asked = {question.text: question.vector for question in self.questions}
        self._asked |= {question.wordless: question.vector for question in self.questions}

    def vector_of(self, text: str) -> list[float]:
        """Return the vector of a memory, of a question, or of any other text."""
        if text in self._asked:
            return self._asked[text]
        number = self._numbers.get(text)
        if number is None:
            number = zlib.crc32(text.encode()) % len(self.vectors)
        vector: list[float] = self.vectors[number].tolist()
        return vector

    def _question(self, dice: Any, number: int) -> Question:
        ranks = dice.choice(np.arange(*_MIDDLING), _ASKED, replace=False)
        text = " ".join(self._vocabulary[int(rank)] for rank in ranks)
        wordless = "".join("?!"[int(bit)] for bit in f"{number:09b}")
        return Question(text, wordless, self._near(dice, 1)[0].tolist())

    def _near(self, dice: Any, count: int) -> Any:
        """Return vectors of length 1, each near a topic."""
        vectors = dice.standard_normal((count, DIMENSION), dtype="f4")
        vectors += self._topics[dice.integers(_TOPICS, size=count)]
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors

    def _vectors(self, dice: Any, count: int) -> Any:
        vectors = np.empty((count, DIMENSION), "f4")
        for start in range(0, count, _BATCH):
            end = min(count, start + _BATCH)
            vectors[start:end] = self._near(dice, end - start)
        return vectors

    def _texts(self, dice: Any, count: int) -> Iterator[str]:
        shares = 1 / (np.arange(_WORDS) + 2)
        bounds = np.cumsum(shares / shares.sum())
        seen = set[str]()
        while len(seen) < count:
            length = int(dice.integers(_SHORTEST, _LONGEST + 1))
            ranks = np.searchsorted(bounds, dice.random(length))
            text = " ".join(self._vocabulary[min(int(rank), _WORDS - 1)] for rank in ranks)
            if text not in seen:
                seen.add(text)
                yield text


class LookedUp(Embeddings):
    """Looks vectors up, so that no time of a model is measured."""

    model = "made up"

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self._dataset.vector_of(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self._dataset.vector_of(text)


def _vocabulary(dice: Any) -> list[str]:
    """Return words that nobody speaks, the most frequent first; none is the stem of another."""
    syllables = ["".join(pair) for pair in product("bdfgklmnprtvz", "aiou")]
    words = ["".join(pair) + "k" for pair in product(syllables, repeat=2)]
    words += ["".join(part) + "k" for part in product(syllables, "klmnprt", "aou", "bdgmr", "aiou")]
    order = dice.permutation(len(words))
    return [words[int(index)] for index in order][:_WORDS]

"""What recall is compared with: plain BM25, vectors alone, and the sum of both as z-scores.

Each turn is one text, with the name of its speaker. Words are neither stemmed nor left out.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any, Final

import numpy as np

from memoryware.bench.datasets import Conversation, DatasetTurn
from memoryware.bench.scoring import recall

BM25, DENSE, FUSION = "BM25", "vectors alone", "z-score fusion"
K1, B = 1.2, 0.75
"""The usual parameters of BM25."""
_UNSPACED: Final = "\u0e00-\u0eff\u3005\u3040-\u30ff\u3400-\u9fff"
"""Scripts without blanks between words."""
_RUN: Final = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+")
_IS_UNSPACED: Final = re.compile(rf"[{_UNSPACED}]")

Embed = Callable[[Sequence[str]], Any]
"""Returns an array with a row for each text."""


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case; of a script without blanks pairs of characters."""
    words: list[str] = []
    for run in _RUN.findall(text.casefold()):
        if _IS_UNSPACED.match(run):
            words += [run[at : at + 2] for at in range(max(1, len(run) - 1))]
        else:
            words.append(run)
    return words


class PlainBm25:
    """An index of texts that scores them by BM25."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._counts = [Counter(words_of(text)) for text in texts]
        lengths = np.array([counts.total() for counts in self._counts], dtype=float)
        self._norms = K1 * (1 - B + B * lengths / max(1.0, float(lengths.mean())))
        self._holders: Counter[str] = Counter(word for counts in self._counts for word in counts)

    def scores(self, question: str) -> Any:
        """Return the score of each text for a question."""
        total = np.zeros(len(self._counts))
        for word in set(words_of(question)):
            having = self._holders[word]
            if having:
                rarity = math.log(1 + (len(self._counts) - having + 0.5) / (having + 0.5))
                often = np.array([counts[word] for counts in self._counts], dtype=float)
                total += rarity * often * (K1 + 1) / (often + self._norms)
        return total


def baselines(
    conversations: Sequence[Conversation], ks: Sequence[int], embed: Embed | None
) -> dict[str, dict[int, float]]:
    """Return the mean recall of each baseline.

    Args:
        conversations: The data set.
        ks: How many turns count.
        embed: The embedding model; without one there is BM25 alone.

    Returns:
        Recall by baseline and k.
    """
    found: dict[str, list[Mapping[int, float]]] = {}
    for conversation in conversations:
        asked = [question for question in conversation.questions if question.gold]
        texts = [_text(turn) for turn in conversation.turns]
        ids = [turn.id for turn in conversation.turns]
        index = PlainBm25(texts)
        matrix = _unit(embed(texts)) if embed else None
        queries = _unit(embed([question.text for question in asked])) if embed and asked else ()
        for at, question in enumerate(asked):
            lists = {BM25: index.scores(question.text)}
            if matrix is not None:
                lists[DENSE] = matrix @ queries[at]
                lists[FUSION] = _standard(lists[BM25]) + _standard(lists[DENSE])
            for name, scores in lists.items():
                ranked = [ids[place] for place in np.argsort(-scores, kind="stable")]
                if name == BM25:
                    ranked = ranked[: int((scores > 0).sum())]
                values = {k: recall(ranked, question.gold, k) for k in ks}
                found.setdefault(name, []).append(values)
    return {
        name: {k: fmean(value[k] for value in values) for k in ks} for name, values in found.items()
    }


def _text(turn: DatasetTurn) -> str:
    return f"{turn.name}: {turn.text}" if turn.name else turn.text


def _unit(vectors: Any) -> Any:
    matrix = np.asarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix / np.where(lengths == 0, 1, lengths)


def _standard(scores: Any) -> Any:
    spread = float(scores.std())
    return (scores - scores.mean()) / spread if spread else scores * 0.0

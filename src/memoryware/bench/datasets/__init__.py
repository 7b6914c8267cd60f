"""Readers of data sets with questions about long conversations; none of them is in the package."""

from __future__ import annotations

from memoryware.bench.datasets.values import DATASETS, Conversation, Question, Split, Turn, TurnRole

__all__ = ["DATASETS", "Conversation", "Question", "Split", "Turn", "TurnRole"]

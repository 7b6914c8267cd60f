"""Filters of working memory: which entries are admitted, and which are refused."""

from __future__ import annotations

from memoryware.tiers._parts import IngressFilter, Passed, Refusal
from memoryware.tiers.filters.builtin import (
    ExactDuplicate,
    HasContent,
    MinConfidence,
    MinLength,
    NoVerifyPending,
    SecretsReported,
    default_filters,
)
from memoryware.tiers.filters.judge import ConsistencyJudge, OnJudgeError
from memoryware.tiers.filters.near_duplicate import NearDuplicate

__all__ = [
    "ConsistencyJudge",
    "ExactDuplicate",
    "HasContent",
    "IngressFilter",
    "MinConfidence",
    "MinLength",
    "NearDuplicate",
    "NoVerifyPending",
    "OnJudgeError",
    "Passed",
    "Refusal",
    "SecretsReported",
    "default_filters",
]

"""Filters of working memory: which entries are admitted, and which are refused."""

from __future__ import annotations

from memoryware.tiers._parts import IngressFilter, Passed, Refusal
from memoryware.tiers.filters.filter_chain import (
    ExactDuplicate,
    HasContent,
    MinConfidence,
    MinLength,
    NoVerifyPending,
    SecretsReported,
    default_filters,
)
from memoryware.tiers.filters.model_filters import ConsistencyJudge, NearDuplicate, OnJudgeError

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

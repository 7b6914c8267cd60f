"""What may enter working memory, and what is an echo of it."""

from __future__ import annotations

from memoryware.tiers._parts import IngressFilter, Passed, Refusal
from memoryware.tiers.ingress.filters import (
    ExactDuplicate,
    HasContent,
    MinConfidence,
    MinLength,
    NoVerifyPending,
    SecretsReported,
    default_filters,
)
from memoryware.tiers.ingress.judge import ConsistencyJudge, OnJudgeError
from memoryware.tiers.ingress.near import NearDuplicate

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

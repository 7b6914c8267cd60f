"""What may be stored and shown: no hidden characters, no forged fences, no secrets."""

from memoryware.guard._characters import drop_hidden, reveal
from memoryware.guard._forgeries import (
    FENCES,
    Fence,
    fence_pattern,
    forged,
    neutralise,
    printable_name,
    printable_text,
    quote_headings,
    rounded,
    unlabelled,
    unscored,
)
from memoryware.guard.guard import (
    DetectedSpan,
    Detector,
    Finding,
    Guard,
    KingfisherDetector,
    OnSecret,
    Personal,
)

__all__ = [
    "FENCES",
    "DetectedSpan",
    "Detector",
    "Fence",
    "Finding",
    "Guard",
    "KingfisherDetector",
    "OnSecret",
    "Personal",
    "drop_hidden",
    "fence_pattern",
    "forged",
    "neutralise",
    "printable_name",
    "printable_text",
    "quote_headings",
    "reveal",
    "rounded",
    "unlabelled",
    "unscored",
]

"""What may be stored and shown: no hidden characters, no forged fences, no secrets."""

from memoryware.guard._fences import Fence, fence_pattern, forged, neutralise
from memoryware.guard._forged_labels import rounded, unlabelled, unscored
from memoryware.guard._printing import FENCES, printable_name, printable_text, quote_headings
from memoryware.guard._showing import drop_hidden, reveal
from memoryware.guard.finding import Detector, Finding, Span
from memoryware.guard.guard import Guard, OnSecret, Personal
from memoryware.guard.kingfisher import KingfisherDetector

__all__ = [
    "FENCES",
    "Detector",
    "Fence",
    "Finding",
    "Guard",
    "KingfisherDetector",
    "OnSecret",
    "Personal",
    "Span",
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

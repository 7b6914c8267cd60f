"""What may be stored and shown: no hidden characters, no forged fences, no secrets."""

from memoryware.guard._showing import drop_hidden, fence_pattern, forged, neutralise, reveal
from memoryware.guard.finding import Detector, Finding, Span
from memoryware.guard.guard import Guard, OnSecret, Personal
from memoryware.guard.kingfisher import KingfisherDetector

__all__ = [
    "Detector",
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
    "reveal",
]

"""What may be stored and shown: no hidden characters, no forged fences, no secrets."""

from memoryware.guard._showing import drop_hidden, fence_pattern, neutralise
from memoryware.guard.finding import Detector, Finding
from memoryware.guard.guard import Guard, OnSecret, Personal

__all__ = [
    "Detector",
    "Finding",
    "Guard",
    "OnSecret",
    "Personal",
    "drop_hidden",
    "fence_pattern",
    "neutralise",
]

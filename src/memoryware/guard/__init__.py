"""What may be stored and shown: no hidden characters, no forged fences, no secrets."""

from memoryware.guard._showing import drop_hidden, fence_pattern, neutralise

__all__ = ["drop_hidden", "fence_pattern", "neutralise"]

"""Memory files as their owners see them: whose they are, where they are found, who may write."""

from memoryware.sources.source import Owner, Source, Writable

__all__ = ["Owner", "Source", "Writable"]

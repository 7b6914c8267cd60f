"""Author comments are left away from what the model sees; how is decided beside the sources."""

from memoryware.sources._regstrip import Stripped, strip_comments

__all__ = ["Stripped", "strip_comments"]

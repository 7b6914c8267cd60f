"""What is code and what is a comment in a Markdown text, in time linear in it."""

from memoryware.sources.markdown.scanning import plain_lines, spans
from memoryware.sources.markdown.stripping import Stripped, strip_comments

__all__ = ["Stripped", "plain_lines", "spans", "strip_comments"]

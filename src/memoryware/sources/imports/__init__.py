"""`Imports`: a memory file is put together from several, as far as its owner allows it."""

from memoryware.sources.imports.expanding import (
    DEFAULT_SUFFIXES,
    Approve,
    Expanded,
    Fetch,
    Imports,
    expand,
)

__all__ = ["DEFAULT_SUFFIXES", "Approve", "Expanded", "Fetch", "Imports", "expand"]

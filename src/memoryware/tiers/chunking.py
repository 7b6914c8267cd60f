"""Split texts into chunks for long-term memory."""

from __future__ import annotations

from typing import Any

from memoryware.errors import SettingError
from memoryware.settings import TierLimits


def chunks_of(text: str, splitter: Any, limits: TierLimits) -> list[str]:
    """Split a text into chunks for long-term memory; a blank text has none.

    Args:
        text: The text.
        splitter: A LangChain `TextSplitter`, or None for chunks of `chunk_chars` characters that
            share `chunk_overlap`, cut at paragraphs, lines, blanks, or anywhere.
        limits: The limits with `chunk_chars` and `chunk_overlap`.

    Returns:
        The chunks, in order.

    Raises:
        SettingError: If chunks would share as much as they hold.
    """
    if not text.strip():
        return []
    chunks = (splitter or default_splitter(limits)).split_text(text)
    return [chunk for chunk in chunks if chunk.strip()] or [text]


def default_splitter(limits: TierLimits) -> Any:
    """Return the default splitter, which prefers to cut at paragraphs, then lines, then blanks.

    Args:
        limits: The limits of the memory.

    Returns:
        A `RecursiveCharacterTextSplitter`.

    Raises:
        SettingError: If chunks would share as much as they hold.
    """
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    if limits.chunk_overlap >= limits.chunk_chars:
        raise SettingError(
            f"chunk_overlap={limits.chunk_overlap!r}: must be less than"
            f" chunk_chars={limits.chunk_chars!r}"
        )
    return RecursiveCharacterTextSplitter(
        chunk_size=limits.chunk_chars,
        chunk_overlap=limits.chunk_overlap,
        separators=["\n\n", "\n", " ", ""],
    )

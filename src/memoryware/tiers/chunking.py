"""Cutting a text into chunks for long-term memory."""

from __future__ import annotations

from typing import Any

from memoryware.errors import SettingError
from memoryware.settings import TierLimits


def chunks_of(text: str, splitter: Any, limits: TierLimits) -> list[str]:
    """Return the chunks of a text in order; none of a blank one.

    Args:
        text: The text.
        splitter: A LangChain `TextSplitter`, or None for chunks of `chunk_chars` characters
            that share `chunk_overlap`, cut at paragraphs, lines, blanks, or anywhere.
        limits: Where these two stand.

    Raises:
        SettingError: If chunks would share as much as they hold.
    """
    if not text.strip():
        return []
    made = (splitter or default_splitter(limits)).split_text(text)
    return [one for one in made if one.strip()] or [text]


def default_splitter(limits: TierLimits) -> Any:
    """Return the splitter that is used where none is given.

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

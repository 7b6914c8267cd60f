"""Compare two texts word by word, for texts in conflict side by side."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final

from memoryware.inspector._markup import Html, Piece, h, joined, visible

# Each sign of a script without blanks is a token; elsewhere a word is.
_TOKEN: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+|\s+|[^\w\s]")
_MOST_TOKENS: Final = 1200
"""Tokens of both texts that are compared; the time is quadratic."""
_ALIKE: Final = 0.25
"""Texts with less in common are shown without marks: everything would be marked."""


def word_marks(old: str, new: str) -> tuple[Html, Html]:
    """Return two texts in which the words that differ are marked.

    Args:
        old: The older text.
        new: The newer text.

    Returns:
        Both as markup; unmarked if they are long or have hardly a word in common.
    """
    left, right = _TOKEN.findall(old), _TOKEN.findall(new)
    if len(left) + len(right) > _MOST_TOKENS:
        return visible(old), visible(new)
    folded = [[token.casefold() for token in tokens] for tokens in (left, right)]
    matcher = SequenceMatcher(None, folded[0], folded[1], autojunk=False)
    if matcher.ratio() < _ALIKE:
        return visible(old), visible(new)
    before, after = list[Piece](), list[Piece]()
    for kind, a, b, c, d in matcher.get_opcodes():
        before.append(_piece(left[a:b], "del", same=kind == "equal"))
        after.append(_piece(right[c:d], "ins", same=kind == "equal"))
    return joined(before), joined(after)


def _piece(tokens: Sequence[str], tag: str, *, same: bool) -> Piece:
    text = visible("".join(tokens))
    return text if same or not tokens else getattr(h, tag)(text)

"""Texts as the numbers of word pieces, by the rules of the uncased BERT models."""

from __future__ import annotations

import gzip
import hashlib
import re
import unicodedata
import zlib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Final

from memoryware.errors import EmbeddingFailed

MOST_TOKENS: Final = 256
"""Tokens of a text that count, the two that mark its start and its end among them."""
_VOCABULARY: Final = "vocabulary.txt.gz"
_SHA256: Final = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
_UNKNOWN: Final = 100
_START: Final = 101
_END: Final = 102
_LONGEST_WORD: Final = 100
"""Characters that a word may have; a longer one is unknown as a whole."""
_HIDDEN: Final = frozenset({"Cc", "Cf", "Co", "Cs"})
"""Categories of characters that do not count. Half of a pair of surrogates is one of them."""

# What follows stands in regular expressions, between square brackets.
_SPACE: Final = "\t\n\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_IDEOGRAPH: Final = (
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0002a6df\U0002a700-\U0002b81f\U0002b920-\U0002ceaf\U0002f800-\U0002fa1f"
)
_MARK: Final = r"!-/:-@\[-`{-~"
_PART: Final = re.compile(f"[{_IDEOGRAPH}]|[^{_SPACE}{_IDEOGRAPH}]+")
_WORD: Final = re.compile(f"[{_MARK}]|[^{_MARK}]+")
_UNSEEN: Final = dict.fromkeys([*range(9), 11, 12, *range(14, 32), 127])


def tokens_of(text: str) -> list[int]:
    """Return the numbers of a text's tokens, at most `MOST_TOKENS`.

    What comes after them is not read. What looks like a mark of the model, such as "[SEP]",
    is text like any other.

    Raises:
        EmbeddingFailed: If the vocabulary is damaged.
    """
    known = _vocabulary()
    pieces = (piece for word in _words(text) for piece in _pieces(word, *known))
    return [_START, *islice(pieces, MOST_TOKENS - 2), _END]


def _words(text: str) -> Iterator[str]:
    for part in _PART.finditer(text):
        if part[0].isascii():
            yield from _WORD.findall(part[0].translate(_UNSEEN).lower())
        else:
            yield from _apart(_bare(part[0]))


def _bare(part: str) -> str:
    """Return a part of a text in small letters, without accents and what is not seen."""
    seen = (one for one in part if one != "\ufffd" and unicodedata.category(one) not in _HIDDEN)
    bare = (
        one
        for one in unicodedata.normalize("NFD", "".join(seen))
        if unicodedata.category(one) != "Mn"
    )
    return "".join(bare).replace("Σ", "σ").lower()  # lower() alone makes ς of a last Σ


def _apart(part: str) -> Iterator[str]:
    """Return words and marks of punctuation, each by itself."""
    start = 0
    for at, one in enumerate(part):
        if unicodedata.category(one)[0] == "P" or (one.isascii() and not one.isalnum()):
            yield from (part[start:at], one) if start < at else (one,)
            start = at + 1
    if start < len(part):
        yield part[start:]


def _pieces(word: str, known: Mapping[str, int], longest: int) -> list[int]:
    """Return the pieces of a word: the longest that it starts with, and so on."""
    if len(word) > _LONGEST_WORD:
        return [_UNKNOWN]
    made: list[int] = []
    start, prefix = 0, ""
    while start < len(word):
        for end in range(min(len(word), start + longest), start, -1):
            number = known.get(prefix + word[start:end])
            if number is not None:
                break
        else:
            return [_UNKNOWN]
        made.append(number)
        start, prefix = end, "##"
    return made


@cache
def _vocabulary() -> tuple[Mapping[str, int], int]:
    """Return the number of each piece, and how long the longest is."""
    try:
        data = gzip.decompress(files(__package__).joinpath(_VOCABULARY).read_bytes())
    except (OSError, EOFError, zlib.error):
        data = b""
    if hashlib.sha256(data).hexdigest() != _SHA256:
        raise EmbeddingFailed(
            f"{_VOCABULARY} of memoryware is damaged: run"
            " `pip install --force-reinstall 'memoryware[local]'`"
        )
    pieces = data.decode().removesuffix("\n").split("\n")
    return {piece: number for number, piece in enumerate(pieces)}, max(map(len, pieces))

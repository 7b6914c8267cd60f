"""WordPiece tokens of a text, as the uncased BERT models define them."""

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

from memoryware._install import install_command
from memoryware.errors import EmbeddingFailed

MAX_TOKENS: Final = 256
"""Tokens of a text, including the start and end tokens."""
_VOCABULARY: Final = "vocabulary.txt.gz"
_SHA256: Final = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
_UNKNOWN: Final = 100
_START: Final = 101
_END: Final = 102
_LONGEST_WORD: Final = 100
"""Characters of a word; a longer one is one unknown token."""
_HIDDEN: Final = frozenset({"Cc", "Cf", "Co", "Cs"})
"""Unicode categories that are dropped, unpaired surrogates among them."""

# Contents of character classes of regular expressions.
_SPACE: Final = "\t\n\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_IDEOGRAPH: Final = (
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0002a6df\U0002a700-\U0002b81f\U0002b920-\U0002ceaf\U0002f800-\U0002fa1f"
)
_MARK: Final = r"!-/:-@\[-`{-~"
_PART: Final = re.compile(f"[{_IDEOGRAPH}]|[^{_SPACE}{_IDEOGRAPH}]+")
_WORD: Final = re.compile(f"[{_MARK}]|[^{_MARK}]+")
_CONTROL: Final = dict.fromkeys([*range(9), 11, 12, *range(14, 32), 127])


def tokens_of(text: str) -> list[int]:
    """Return the token ids of a text, at most `MAX_TOKENS`.

    The rest of the text is not read. A special token in the text, such as "[SEP]", is ordinary
    text.

    Raises:
        EmbeddingFailed: If the vocabulary is damaged.
    """
    vocabulary = _vocabulary()
    pieces = (piece for word in _words(text) for piece in _pieces(word, *vocabulary))
    return [_START, *islice(pieces, MAX_TOKENS - 2), _END]


def _words(text: str) -> Iterator[str]:
    for part in _PART.finditer(text):
        if part[0].isascii():
            yield from _WORD.findall(part[0].translate(_CONTROL).lower())
        else:
            yield from _split_punctuation(_normalize(part[0]))


def _normalize(part: str) -> str:
    """Return a text in lower case, without accents and hidden characters."""
    visible = (
        character
        for character in part
        if character != "\ufffd" and unicodedata.category(character) not in _HIDDEN
    )
    bare = (
        character
        for character in unicodedata.normalize("NFD", "".join(visible))
        if unicodedata.category(character) != "Mn"
    )
    return "".join(bare).replace("Σ", "σ").lower()  # lower() alone makes ς of a last Σ


def _split_punctuation(part: str) -> Iterator[str]:
    """Yield words and punctuation marks."""
    start = 0
    for at, character in enumerate(part):
        if unicodedata.category(character)[0] == "P" or (
            character.isascii() and not character.isalnum()
        ):
            yield from (part[start:at], character) if start < at else (character,)
            start = at + 1
    if start < len(part):
        yield part[start:]


def _pieces(word: str, vocabulary: Mapping[str, int], longest: int) -> list[int]:
    """Return the token ids of a word, matching the longest piece first."""
    if len(word) > _LONGEST_WORD:
        return [_UNKNOWN]
    numbers: list[int] = []
    start, prefix = 0, ""
    while start < len(word):
        for end in range(min(len(word), start + longest), start, -1):
            number = vocabulary.get(prefix + word[start:end])
            if number is not None:
                break
        else:
            return [_UNKNOWN]
        numbers.append(number)
        start, prefix = end, "##"
    return numbers


@cache
def _vocabulary() -> tuple[Mapping[str, int], int]:
    """Return the id of each piece, and the length of the longest piece."""
    try:
        data = gzip.decompress(files(__package__).joinpath(_VOCABULARY).read_bytes())
    except (OSError, EOFError, zlib.error):
        data = b""
    if hashlib.sha256(data).hexdigest() != _SHA256:
        raise EmbeddingFailed(
            f"{_VOCABULARY} of memoryware is damaged: run"
            f" `{install_command('local', '--force-reinstall')}`"
        )
    pieces = data.decode().removesuffix("\n").split("\n")
    return {piece: number for number, piece in enumerate(pieces)}, max(map(len, pieces))

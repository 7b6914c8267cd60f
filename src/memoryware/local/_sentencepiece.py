"""SentencePiece tokens of a text: the normalization and the unigram model of a model file."""

from __future__ import annotations

import re
import struct
import sys
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from memoryware.local._protobuf import fields_of

MAX_TOKENS: Final = 512
"""Tokens of a text, including the start and end tokens."""
_MAX_CHARS: Final = 16 * MAX_TOKENS
"""Characters of a text that are read; no token has more than 16."""
_UNKNOWN: Final = 0
_START: Final = 1
_END: Final = 2
_NORMAL: Final = 1
"""The type of a piece that is neither unknown, nor a control token, nor reserved."""
_UNKNOWN_PENALTY: Final = 10.0
"""How much less an unknown character scores than the rarest piece."""
_SPACE: Final = "\u2581"
"""The mark that stands for a space in pieces."""

_NORMALIZER: Final = 3
"""The field of a model with its normalization."""
_CHARACTER_MAP: Final = 2
"""The field of a normalization with its map of characters."""
_ASCII: Final = re.compile(r"[ -~]+(?![^ -~])")
"""Printable ASCII, which stays as it is where no accent follows."""
_SURROGATES: Final = frozenset(map(chr, range(0xD800, 0xE000)))
_LONGEST_ENTRY: Final = 32
"""Characters of the longest sequence that the normalization may replace."""
_REMEMBERED: Final = 4096
"""Characters that are remembered as unchanged."""


@dataclass(frozen=True, slots=True)
class SentencePiece:
    """A SentencePiece model: text to token ids.

    Attributes:
        ids: The id of each piece.
        scores: The log probability of each piece, by id.
        longest: Characters of the longest piece.
        unknown_score: The score of a character that no piece has.
        characters: What the normalization replaces.
    """

    ids: Mapping[str, int]
    scores: array[float]
    longest: int
    unknown_score: float
    characters: _CharacterMap

    @classmethod
    def from_bytes(cls, serialized: bytes) -> SentencePiece:
        """Read a serialized model.

        Args:
            serialized: A `ModelProto` of SentencePiece, of type unigram.

        Returns:
            The model.

        Raises:
            ValueError: If it is none.
        """
        texts, scores, rest = _read_pieces(serialized)
        characters = b""
        for number, value, _ in fields_of(memoryview(serialized)[rest:]):
            if number == _NORMALIZER and isinstance(value, memoryview):
                for inner, content, _ in fields_of(value):
                    if inner == _CHARACTER_MAP and isinstance(content, memoryview):
                        characters = bytes(content)
        ids = {text: token for token, text in enumerate(texts) if text}
        if not ids or not characters:
            raise ValueError("a SentencePiece model without pieces or without normalization")
        return cls(
            ids,
            scores,
            max(map(len, ids)),
            min(scores) - _UNKNOWN_PENALTY,
            _CharacterMap.from_bytes(characters),
        )

    def tokens_of(self, text: str) -> list[int]:
        """Return the token ids of a text, at most `MAX_TOKENS`.

        The rest of the text is not read. A special token in the text, such as "</s>", is ordinary
        text.

        Args:
            text: Any text; unpaired surrogates are dropped.

        Returns:
            The ids, with those of start and end.
        """
        tokens = self._merged(self._tokens(text[:_MAX_CHARS]))
        return [_START, *islice(tokens, MAX_TOKENS - 2), _END]

    def _tokens(self, text: str) -> Iterator[int]:
        # No piece has a space inside, so words are cut apart one by one.
        for word in self.characters.normalize(text).split():
            yield from self._cut(_SPACE + word)

    def _merged(self, tokens: Iterator[int]) -> Iterator[int]:
        """Yield tokens; unknown ones in a row are one."""
        last = None
        for token in tokens:
            if token != _UNKNOWN or last != _UNKNOWN:
                yield token
            last = token

    def _cut(self, word: str) -> list[int]:
        """Return the pieces of a word with the highest sum of scores (Viterbi)."""
        ids, scores, longest = self.ids, self.scores, self.longest
        size = len(word)
        best = [0.0] + [-float("inf")] * size
        previous: list[tuple[int, int]] = [(0, _UNKNOWN)] * (size + 1)
        for start in range(size):
            base, has_single = best[start], False
            for end in range(start + 1, min(size, start + longest) + 1):
                token = ids.get(word[start:end])
                if token is None:
                    continue
                has_single = has_single or end == start + 1
                score = base + scores[token]
                if score > best[end]:
                    best[end], previous[end] = score, (start, token)
            if not has_single and base + self.unknown_score > best[start + 1]:
                best[start + 1], previous[start + 1] = base + self.unknown_score, (start, _UNKNOWN)
        tokens = []
        at = size
        while at:
            at, token = previous[at]
            tokens.append(token)
        return tokens[::-1]


def _read_pieces(data: bytes) -> tuple[list[str], array[float], int]:
    """Return the pieces, "" for those that no text has, their scores, and where they end.

    A general reader would need a second for 128,000 messages. Of these each field has one byte
    of key, each length another, in the order text, score, type.
    """
    texts, scores, at = [], bytearray(), 0
    while data[at] == 0x0A:
        end = at + 4 + data[at + 3]
        if data[at + 2] != 0x0A or data[end] != 0x15:
            raise ValueError("a piece of another form")
        after = at + 2 + data[at + 1]
        is_normal = after == end + 5 or data[after - 1] == _NORMAL
        texts.append(data[at + 4 : end] if is_normal else b"")
        scores += data[end + 1 : end + 5]
        at = after
    numbers = array("f", bytes(scores))
    if sys.byteorder == "big":
        numbers.byteswap()
    return b"\n".join(texts).decode().split("\n"), numbers, at


@dataclass(frozen=True, slots=True)
class _CharacterMap:
    """Replaces characters, the longest match first: a double-array trie over UTF-8 bytes.

    Attributes:
        units: The nodes of the trie.
        replacements: Texts that end with a zero byte; leaves of the trie point into them.
        unchanged: Characters met lately with which no entry starts.
    """

    units: array[int]
    replacements: bytes
    unchanged: set[str] = field(default_factory=set)

    @classmethod
    def from_bytes(cls, serialized: bytes) -> _CharacterMap:
        (size,) = struct.unpack_from("<I", serialized)
        count = size // 4
        units = array("I", struct.unpack_from(f"<{count}I", serialized, 4))
        return cls(units, serialized[4 + size :])

    def normalize(self, text: str) -> str:
        """Return a text as the model was made with; every kind of space is a space."""
        parts = []
        at, size = 0, len(text)
        while at < size:
            if unchanged := _ASCII.match(text, at):
                parts.append(unchanged[0])
                at = unchanged.end()
                continue
            if text[at] not in self.unchanged:
                length, replacement = self._replaced(text[at : at + _LONGEST_ENTRY])
                if length:
                    parts.append(replacement)
                    at += length
                    continue
            parts.append(text[at])
            at += 1
        return "".join(parts)

    def _replaced(self, text: str) -> tuple[int, str]:
        """Return how many first characters an entry replaces, 0 for none, and with what."""
        data = text.encode("utf-8", "ignore")
        if not data or text[0] in _SURROGATES:
            return 1, ""
        length, leaf, read = self._longest_match(data)
        if length:
            replacement = self.replacements[leaf : self.replacements.index(0, leaf)]
            return len(data[:length].decode()), replacement.decode()
        if read < len(text[0].encode()):  # no entry starts with this character
            if len(self.unchanged) >= _REMEMBERED:
                self.unchanged.clear()
            self.unchanged.add(text[0])
        return 0, ""

    def _longest_match(self, data: bytes) -> tuple[int, int, int]:
        """Return the bytes of the longest entry, where its replacement is, and the bytes read."""
        units = self.units
        node = _offset(units[0])
        length = leaf = 0
        for at, byte in enumerate(data):
            node ^= byte
            if node >= len(units) or units[node] & 0x8000_00FF != byte:
                return length, leaf, at
            unit = units[node]
            node ^= _offset(unit)
            if unit & 0x100:
                length, leaf = at + 1, units[node] & 0x7FFF_FFFF
        return length, leaf, len(data)


def _offset(unit: int) -> int:
    return (unit >> 10) << ((unit & 0x200) >> 6)

"""What the load run says and asks: groups, texts, and vectors of them, the same for both sides."""

from __future__ import annotations

import math
import random
import zlib
from functools import cache

from langchain_core.embeddings import Embeddings

DIMENSION = 256
_TENANTS = ("acme", "globex", "initech", "umbrella", "hooli")
_BEGINS = """
bra cor del fen gal har jun kel lor mab nor pel quin ros sal tor ul ver wil zan
"""
_MIDDLES = ["a", "e", "i", "o", "u", "ai", "en", "or"]
_ENDS = """
ba dek fin gol hur jas kin lum mot nar pod rix sel tum vak
"""
_VERBS = ["keeps", "feeds", "checks", "moves", "stores", "counts", "paints", "sends"]

Group = tuple[str, str]
"""A tenant, and a group of it."""


def groups(count: int) -> list[Group]:
    """Return groups of several tenants; tenants have groups of the same names."""
    return [(_TENANTS[n % len(_TENANTS)], f"team-{n // len(_TENANTS)}") for n in range(count)]


def tag_of(group: Group) -> str:
    """Return what stands in every text of a group and in none of another."""
    return f"({group[0]} {group[1]})"


def text_of(dice: random.Random, group: Group, number: str) -> str:
    """Return a text that nobody else says, long enough for working memory."""
    first, second = (
        f"the {_word(dice)} {dice.choice(_VERBS)} the {_word(dice)} of the {_word(dice)}"
        f" beside the {_word(dice)} {_word(dice)}"
        for _ in range(2)
    )
    return f"Note {number} {tag_of(group)}: {first}, and {second}."


def query_of(text: str) -> str:
    """Return a question about a text."""
    words = text.rstrip(".").split()
    return f"Where is the {words[6]} of the {words[12]} and the {words[-1]}?"


def _word(dice: random.Random) -> str:
    parts = (_BEGINS.split(), _MIDDLES, _ENDS.split())
    return "".join(map(dice.choice, parts))


class WordEmbeddings(Embeddings):
    """Vectors of words by a checksum: texts with the same words are near each other.

    Attributes:
        texts: How many were embedded.
    """

    def __init__(self) -> None:
        self.texts = 0

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.texts += len(texts)
        return [_vector(one) for one in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


def _vector(text: str) -> list[float]:
    made = [0.0] * DIMENSION
    for word in text.lower().split():
        place, sign = _place(word.strip(".,:;?()"))
        made[place] += sign
    length = math.sqrt(sum(one * one for one in made)) or 1.0
    return [one / length for one in made]


@cache
def _place(word: str) -> tuple[int, float]:
    number = zlib.crc32(word.encode())
    return number % DIMENSION, 1.0 if number & 1024 else -1.0

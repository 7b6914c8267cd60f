"""Makes up credentials and the texts around them, from a seed; nothing is stored.

A pattern is text with holes: `<A36>` is 36 letters and digits, `<h32>` 32 hexadecimal digits,
`<uuid>` a UUID, `<pw>` a password as people choose them. What comes out has the form of a
credential and opens nothing.
"""

from __future__ import annotations

import base64
import json
import random
import re
import string
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_ALPHABETS = {
    "A": string.ascii_letters + string.digits,
    "a": string.ascii_lowercase + string.digits,
    "l": string.ascii_lowercase,
    "L": string.ascii_letters,
    "U": string.ascii_uppercase + string.digits,
    "h": "0123456789abcdef",
    "H": "0123456789ABCDEF",
    "d": string.digits,
    "w": string.ascii_letters + string.digits + "_-",
    "b": string.ascii_letters + string.digits + "+/",
    "2": string.ascii_uppercase + "234567",
    "5": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
}
_HOLE = re.compile(r"<(?:([AalLUhHdwb25])(\d+)|(uuid|pw|word|words\d+|json64|pem|edge|at|cut))>")
_listed = str.split
WORDS = _listed("""
    river candle lemon forest window copper violin garden rocket pepper saddle marble winter
    thunder pocket island walnut falcon ribbon castle meadow harbor puzzle silver tunnel
    velvet anchor bamboo cactus dragon engine fabric guitar hammer insect jacket kitten ladder
    magnet napkin orange pencil rabbit salmon ticket umbrella valley wizard
""")


@dataclass(frozen=True, slots=True)
class Sample:
    """One text with a credential in it, or without one.

    Attributes:
        kind: What it holds.
        text: The text.
        secret: The credential in it, or "".
    """

    kind: str
    text: str
    secret: str = ""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of credential: how it is made, and texts with a hole `{}` for it."""

    name: str
    pattern: str
    texts: Sequence[str]


def filled(rng: random.Random, pattern: str) -> str:
    """Return a pattern with every hole filled."""
    return _HOLE.sub(lambda match: _fill(rng, match), pattern)


def _fill(rng: random.Random, match: re.Match[str]) -> str:
    alphabet, count, name = match.groups()
    if alphabet:
        return "".join(rng.choice(_ALPHABETS[alphabet]) for _ in range(int(count)))
    if name == "uuid":
        return str(uuid.UUID(int=rng.getrandbits(128), version=4))
    if name == "edge":
        return "-" * 5
    if name in ("at", "cut"):  # so that nothing in our files looks like a credential
        return "@" if name == "at" else ""
    if name == "pw":
        return password(rng)
    if name == "json64":
        data = json.dumps({"sub": filled(rng, "<A12>"), "iat": rng.randrange(10**9, 2 * 10**9)})
        return base64.urlsafe_b64encode(data.encode()).decode().rstrip("=")
    if name == "pem":
        return "\n".join(filled(rng, "<b64>") for _ in range(rng.randint(3, 12)))
    if name == "word":
        return rng.choice(WORDS)
    return " ".join(rng.sample(WORDS, int(name.removeprefix("words"))))


def password(rng: random.Random) -> str:
    """Return a password as people choose them."""
    one, other = rng.sample(WORDS, 2)
    return rng.choice(
        (
            f"{one}{rng.randint(1, 99)}",
            f"{one.title()}{rng.choice('!#$%*+')}{rng.randint(1960, 2025)}",
            f"{one.title()}{rng.randint(10, 99)}{other.title()}",
            f"{one}{rng.choice('-_.')}{other}{rng.randint(1, 999)}",
            one.replace("e", "3").replace("o", "0").title() + f"{rng.randint(1, 9)}!",
            filled(rng, "<A12>") + rng.choice("!#$%*+") + filled(rng, "<d2>"),
            filled(rng, "<L5><d3>"),
        )
    )


def samples(kinds: Sequence[Kind], each: int, seed: int) -> Iterator[Sample]:
    """Return so many samples of each kind; its texts take turns."""
    rng = random.Random(seed)
    for kind in kinds:
        for number in range(each):
            secret = filled(rng, kind.pattern)
            text = kind.texts[number % len(kind.texts)].replace("{}", secret)
            yield Sample(kind.name, filled(rng, text), secret)

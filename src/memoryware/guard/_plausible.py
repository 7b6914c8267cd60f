"""Whether a value can be a secret: not a placeholder, not a name, random enough."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Final

_STAND_IN: Final = re.compile(
    r"""
      ^[<{\[%$(]                              # <token>, {{ token }}, $TOKEN, ${TOKEN}, [redacted]
    | \$\{ | \{\{ | \$\( | %[A-Z_]{3,}% | ^\$?[A-Z][A-Z_]{3,}$ | <[^>]{1,60}>
    | \.{3} | \u2026 | \*{3} | \u2022{3} | \u25cf{3} | x{4} | X{4} | \?{3} | _{4}
    | (?i:
        your | \bmy[_-] | example | sample | dummy | placeholder | change[_-]?(?:me|it|this)
      | replace | insert | redact | masked | hidden | removed | fake | todo | fixme | lorem
      | (?:^|[^a-z])(?:foo|bar|baz|here|goes|enter|put|paste|some|test[_-]?(?:key|token|secret))(?:$|[^a-z])
      | process\.env | environ | getenv | secrets\. | vault: | op:// | ^arn: | keyring | 1password
      )
    """,
    re.VERBOSE,
)
"""What people write where a secret belongs."""
_NOTHING: Final = frozenset(
    (
        "none null nil undefined true false yes no n/a na tbd todo empty blank unset required"
        " optional string str text bool int number value default secret password passwd pass pwd"
        " token key apikey api_key user username admin name auto unknown missing invalid wrong"
        " correct expired incorrect changed reset forgotten stored saved encrypted hashed rotated"
        " private public sensitive confidential bytes object any varchar char secretstr basic"
        " bearer digest off on enabled disabled deprecated n/a. see below above ask same tba"
        " passwort kennwort contrasena contraseña senha wachtwoord haslo hasło"
    ).split()
)
"""Words that say something about a secret and are none."""
_FIRST: Final = re.compile(r"[|,:/]")
_UUID: Final = re.compile(r"(?i)^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$")
_HEX: Final = re.compile(r"(?i)^(?:0x)?[0-9a-f]+$")
_PIECES: Final = re.compile(r"[^A-Za-z0-9]+")
_WORDLIKE: Final = re.compile(r"^(?:[A-Z]?[a-z]*|[A-Z]+|\d+|[vV]\d{1,3}|[A-Z]?[a-z]{2,}\d{1,2})$")
_ADDRESS: Final = re.compile(
    r"(?i)^(?:[a-z][a-z0-9+.-]{1,12}:/|mailto:|www\.|~?\.{0,2}/[\w.-]|[a-z]:\\)"
    r"|^[\w.+-]+@[\w-]+\.[\w.-]+$|^[\w-]+(?:\.[\w-]+)*\.(?:md|py|js|ts|json|ya?ml|toml|env|txt|ini|"
    r"cfg|conf|pem|key|crt|com|org|net|io|dev|app|html?|xml|csv|sh|go|rs|java|png|jpe?g|pdf|zip|"
    r"log|db|sql|local|kdbx|gpg)(?:[:/]\S*)?$"
)
_RUNS: Final = ("0123456789", "abcdefghijklmnopqrstuvwxyz", "qwertyuiopasdfghjklzxcvbnm")
_RUN: Final = 6
_SERIES: Final = frozenset(
    piece
    for row in _RUNS
    for line in (row + row[:_RUN], (row + row[:_RUN])[::-1])
    for piece in (line[at : at + _RUN] for at in range(len(line) - _RUN + 1))
)
_LOOKED_AT: Final = 512
"""Characters of a long value that are judged."""


def stands_in(value: str) -> bool:
    """Say whether a value is what people write in place of a secret."""
    head = value[:_LOOKED_AT]
    return (
        _FIRST.split(head.lower().strip("-_. "), maxsplit=1)[0] in _NOTHING
        or len(set(head)) < 3 + (len(head) > 20)
        or _STAND_IN.search(head) is not None
    )


def is_uuid(value: str) -> bool:
    """Say whether a value is written as a UUID."""
    return len(value) == 36 and _UUID.match(value) is not None


def is_hex(value: str) -> bool:
    """Say whether a value has hexadecimal digits only."""
    return _HEX.match(value) is not None


def is_address(value: str) -> bool:
    """Say whether a value is a URL, a path, a file name, a host or an e-mail address."""
    return _ADDRESS.match(value) is not None


def bits(value: str) -> float:
    """Return the bits per character that the frequencies of the characters give."""
    head = value[:_LOOKED_AT]
    size = len(head)
    return -sum(n / size * math.log2(n / size) for n in Counter(head).values())


def in_series(value: str) -> bool:
    """Say whether a good part of a value runs along the alphabet, the digits or the keyboard."""
    low = value[:_LOOKED_AT].lower()
    hits = sum(low[at : at + _RUN] in _SERIES for at in range(len(low) - _RUN + 1))
    return hits * 4 > len(low)


def wordlike(value: str) -> bool:
    """Say whether a value reads as words, numbers and versions with signs between them."""
    pieces = [one for one in _PIECES.split(value[:_LOOKED_AT]) if one]
    return all(_WORDLIKE.match(one) or _camel(one) for one in pieces)


def _camel(piece: str) -> bool:
    if piece.isupper():
        return False
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", piece)
    return len(piece) >= 4 * len(parts)


def looks_random(value: str, least: int, *, hexadecimal: bool = True) -> bool:
    """Say whether a value of at least so many characters is one that a machine has made.

    Args:
        hexadecimal: Whether a value of hexadecimal digits only may count.
    """
    if len(value) < least or stands_in(value) or in_series(value) or is_address(value):
        return False
    if is_hex(value):
        return hexadecimal and not value.isdigit() and bits(value) >= 2.6
    mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    if not mixed:
        # nothing but letters: only long ones of both cases can be told from words
        mixed = len(value) >= 24 and not value.islower() and not value.isupper()
    return mixed and not wordlike(value) and bits(value) >= min(3.4, math.log2(len(value)) * 0.72)

"""Whether a value can be a secret: not a placeholder, not a name, random enough."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Final

from memoryware.guard._lexicon import listed

_STAND_IN: Final = re.compile(
    r"""
      ^[<{\[%$(]                              # <token>, {{ token }}, $TOKEN, ${TOKEN}, [redacted]
    | ^my[_-] | %[A-Z_]{3,}% | <[^>]{1,60}>
    | (?:^|[^a-zA-Z])(?:foo|bar|baz|here|goes|enter|put|paste|some|test[_-]?(?:key|token|secret))
      (?:$|[^a-zA-Z])
    """,
    re.VERBOSE,
)
_CAPITALS: Final = re.compile(r"^\$?[A-Z][A-Z_]{3,}$")
_STAND_INS: Final = listed("""
    ${ {{ $( ... … *** ••• ●●● xxxx ???? ____ your example sample dummy placeholder changeme
    change_me change-me changethis change_this replace insert redact masked hidden removed
    fake todo fixme lorem process.env environ getenv secrets. vault: op:// arn: keyring
    1password
""")
"""What people write where a secret belongs, in lower case."""
_NOTHING: Final = frozenset(
    listed("""
        none null nil undefined true false yes no n/a na tbd todo empty blank unset required
        optional string str text bool int number value default secret password passwd pass pwd
        token key apikey api_key user username admin name auto unknown missing invalid wrong
        correct expired incorrect changed reset forgotten stored saved encrypted hashed rotated
        private public sensitive confidential bytes object any varchar char secretstr basic bearer
        digest off on enabled disabled deprecated n/a. see below above ask same tba passwort
        kennwort contrasena contraseña senha wachtwoord haslo hasło
    """)
)
"""Words that say something about a secret and are none."""
_FIRST: Final = re.compile(r"[|,:]")
_UUID: Final = re.compile(r"(?i)^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$")
_HEX: Final = re.compile(r"(?i)^(?:0x)?[0-9a-f]+$")
_MACHINE_MADE: Final = re.compile(
    # possessive, since the same signs part pieces and stand in them: there would be
    # exponentially many ways to fail
    r"^[A-Za-z0-9+/_.~%:@!*#$^&-]++=*+(?:[.:;,&-][A-Za-z0-9+/_.~%-]++=*+)*+$"
)
_VERSION: Final = re.compile(r"v?(?:\d+:)?\d+(?:\.\d+)+[+~:-]")
_PIECES: Final = re.compile(r"[^A-Za-z0-9]+")
_WORDLIKE: Final = re.compile(
    r"^(?:[A-Z]?[a-z]{0,20}|[A-Z]{1,20}|\d+|[vV]\d{1,3}|[A-Z]?[a-z]{2,20}\d{1,4})$"
)
_VOWELS: Final = re.compile(r"[aeiouyAEIOUY]")
_ADDRESS: Final = re.compile(
    r"(?i)^(?:[a-z][a-z0-9+.-]{1,12}:/|mailto:|www\.|[a-z]:\\)"
    r"|^(?:~|\.{1,2})?/(?:[\w.-]{0,40}/|[\w.-]{1,40}$)"
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
_READ: Final = 100
"""Characters of a value in which a placeholder says that it is one."""
_LOOKED_AT: Final = 256
"""Characters of a long value that are judged."""


def stands_in(value: str, *, names: bool = True) -> bool:
    """Say whether a value is what people write in place of a secret.

    Args:
        names: Whether a name in capitals counts, as in `API_TOKEN=TOKEN_OF_BO`.
    """
    head = value[:_READ]
    low = head.lower()
    return (
        _FIRST.split(low.strip("-_. "), maxsplit=1)[0] in _NOTHING
        or len(set(head)) < 3 + (len(head) > 20)
        or any(one in low for one in _STAND_INS)
        or _STAND_IN.search(head) is not None
        or (names and _CAPITALS.match(head) is not None)
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
    low = value[:_READ].lower()
    hits = sum(low[at : at + _RUN] in _SERIES for at in range(len(low) - _RUN + 1))
    return hits * 4 > len(low)


def wordlike(value: str) -> bool:
    """Say whether a value reads as words, numbers and versions with signs between them."""
    pieces = [one for one in _PIECES.split(value[:_LOOKED_AT]) if one]
    return all((_WORDLIKE.match(one) and _sounds(one)) or _camel(one) for one in pieces)


def _sounds(piece: str) -> bool:
    """Say whether a long run of letters has enough vowels to be a word."""
    return len(piece) < 9 or len(_VOWELS.findall(piece)) * 6 >= len(piece)


def _camel(piece: str) -> bool:
    """Say whether a piece is made of words, each with a capital."""
    if piece.isupper() or piece.islower():
        return False
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", piece)
    if not all(len(one) < 18 and _sounds(one) for one in parts):
        return False
    return len(piece) >= 4 * len(parts) and 4 * sum(map(str.isdigit, piece)) <= len(piece)


def looks_random(value: str, least: int) -> bool:
    """Say whether a value of at least so many characters is one that a machine has made."""
    if len(value) < least or not _mixed(value) or not _MACHINE_MADE.match(value):
        return False
    if is_hex(value):
        good = bits(value) >= 2.6
    else:
        good = bits(value) >= min(3.4, math.log2(len(value)) * 0.72) and not wordlike(value)
    other = stands_in(value) or in_series(value) or is_address(value) or _VERSION.match(value)
    return good and not other


def _mixed(value: str) -> bool:
    """Say whether there are digits and letters, or letters of both cases in a long value."""
    if any(map(str.isdigit, value)):
        return any(map(str.isalpha, value))
    return len(value) >= 24 and not value.islower() and not value.isupper()

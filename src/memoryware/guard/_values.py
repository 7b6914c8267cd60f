"""Whether what stands beside a word for a secret is the secret."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from memoryware.guard import _plausible
from memoryware.guard._lexicon import COMMON, listed
from memoryware.guard._words import Sort, announces

_ORDINARY: Final = re.compile(
    r"""
      \d+ (?: st|nd|rd|th|x|k|m|s|h|d|px|em|ms|kb|mb|gb|am|pm|%|€|\$ )?       # 12, 2nd, 30s
    | v?(?:\d+:)?\d+ (?:\.\d+)+ (?:[+~-][\w.+~-]*)?                       # 1.2.3-rc1
    | \d+ [-–] (?:char|digit|bit|day|letter|word|month|factor|step|stellig|hour|minute) \w*
    | \d{1,4}[-/.]\d{1,2}[-/.]\d{1,4} | \d{1,2}:\d{2}(?::\d{2})?               # dates and times
    | (?: sha|aes|md|rsa|hs|rs|es|ps|utf|base|ed|wpa|oauth|http|ipv|ec|mp|bcrypt|argon
        | scrypt|pbkdf|fido|web|log|python|py|node|java|windows|win|ios|android|office
        | room|raum|zimmer|rfc|iso|cve|gpt|claude|llama|issue|pr|page|step|chapter|section
        | version|sprint ) [- ]?\d++ (?:[-._]?(?:[a-z]++|\d++)){0,3}+         # SHA-256, room12
    | [xkshuiprq] [- ]?\d{1,4} (?:[-_.]?[a-z\d]{1,2}){0,2}                  # k8s, x86_64, p99.9
    | (?-i:[A-Z]{2,5}-\d{1,6}) | \#\d+                                             # ABC-123
    | \dpassword | 2fa | lastpass | keepass\w* | bitwarden | dashlane | nordpass | protonpass
    | github | gitlab | oauth\w* | openid | youtube | linkedin | paypal | icloud | whatsapp
    | macbook | iphone | ipad | javascript | typescript | postgresql | mysql | mongodb | wi-?fi
    | wordpress | plaintext | camelcase | snake_case | qwerty
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""What looks made up and is none, as a whole word."""
_COUNTED: Final = re.compile(
    r"(?:char|letter|digit|symbol|word|bit|byte|day|week|month|year|hour|min|sec|time|attempt|tries|"
    r"people|user|zeichen|stellen|ziffern|tage|jahre|caract|chiffres|jours|dígitos|letras|cifre|"
    r"tekens|dni|znak|символ|дн|or\b|to\b|and\b|%|percent|of\b)"
)
_SIGN: Final = re.compile(r"[!@#$%^&*+=?~|\\/_:;,.<>()\[\]{}-]")
_RARE_SIGN: Final = re.compile(r"[!@#$%^&*+=?~]")
_ATTRIBUTE: Final = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_]\w*)+\W{0,3}")
_NAME: Final = re.compile(r"[A-Za-z_]+\d{0,2}")
_LONG_NAME: Final = re.compile(r"[a-z]+(?:_[a-z0-9]+){2,}")
_CALLED: Final = re.compile(r"[\w.$:]++(?=[(\[])")
_STATEMENT: Final = re.compile(r"^(?:new|await|function|lambda)\b")
_HYPHENED: Final = re.compile(r"[A-Za-z]+(?:[-/'][A-Za-z]+)+")
_COMPOUND: Final = re.compile(r"(?:[A-Za-z]+[/.,:;()+&|-]+)+[A-Za-z]*")
_HUMPS: Final = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_QUOTE: Final = re.compile("[\"'`]")
_INSIDE: Final = re.compile("(?<=[A-Za-z0-9])[\"'`](?=[A-Za-z0-9])(?!s\\b)")
"""A quotation mark inside a word, as in `Zomer'24x`."""
_IN_NUMBER: Final = re.compile(r"[\s.#*-]")
_PHRASE: Final = re.compile(r"[a-z]{2,12}(?: [a-z]{2,12}){2,11}")
_NOT_IN_PHRASES: Final = frozenset(
    listed("""
        the a an is are was be to of for and or must should will can your you it please enter in on
        at with not if this that from has have der die das ist und le la les est et el los y
    """)
)
_NEXT_WORD: Final = re.compile(r"[ \t](?P<word>[^\s]{4,100})")
_MOST_WORDS: Final = 12
"""Words of a passphrase."""
_ESCAPE: Final = re.compile(r"\\[nrt]")
_DOTTED: Final = re.compile(r"\d{1,4}(?:\.\d{1,5}){1,3}")
"""A version, such as 22.04 or 4.17.21."""
_OPENING: Final = "\"'`([{<*_"
_CLOSING: Final = "\"'`)]}>*_.,;:!?"
_OPENER_OF: Final = {")": "(", "]": "[", "}": "{", ">": "<"}
_SHORTEST, _LONGEST = 4, 200
"""Characters of a password."""


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the place of a value without the quotes and the punctuation around it.

    It ends before a line break, also one that is spelled as in code. A `!` or `?` stays where
    the value has digits, because people end passwords with them.
    """
    escape = _ESCAPE.search(text, start + 1, end)
    end = escape.start() if escape else end
    while start < end and text[start] in _OPENING:
        start += 1
    while end - start > 1 and text[end - 1] in _CLOSING:
        if text[end - 1] in "!?" and text[end - 2].isalnum():
            in_quotes = text[end : end + 1] in ('"', "'", "`")
            if in_quotes or has_digit(text[start:end]):
                break
        opener = _OPENER_OF.get(text[end - 1])
        if opener and text.count(opener, start, end) > text.count(text[end - 1], start, end - 1):
            break  # it belongs to a bracket inside
        end -= 1
    return start, end


def has_digit(value: str) -> bool:
    """Say whether a value has a digit."""
    return any(map(str.isdigit, value))


def is_strong(value: str) -> bool:
    """Say whether a word can hardly be anything but a secret: digits, signs or humps in it."""
    if len(value) <= _SHORTEST or is_ordinary(value):
        return False
    letters = any(map(str.isalpha, value))
    if letters and has_digit(value):
        return True
    if _name_or_compound(value):
        return False
    if letters and _SIGN.search(value) and not _HYPHENED.fullmatch(value):
        return _SIGN.search(value.strip(_CLOSING)) is not None
    return value.isascii() and value.isalpha() and _HUMPS.search(value) is not None


def _name_or_compound(value: str) -> bool:
    name = "_" in value and value.replace("_", "").isalpha()
    return name or _COMPOUND.fullmatch(value) is not None


def is_digits(value: str, least: int = 4, most: int = 12) -> bool:
    """Say whether a value is a number of so many digits that somebody types in, no version."""
    if _DOTTED.fullmatch(value):
        return False
    solid = _IN_NUMBER.sub("", value)
    return solid.isdigit() and least <= len(solid) <= most


def counted(word: str) -> bool:
    """Say whether the word behind a number shows that the number counts something."""
    return _COUNTED.match(word) is not None


def told(value: str, following: str = "") -> bool:
    """Say whether a word of a sentence about a password is the password.

    Args:
        value: The word, without punctuation.
        following: The word after it, in lower case.
    """
    if len(value) > _LONGEST:
        return False
    if value.isdigit():
        return 4 <= len(value) <= 16 and not counted(following)
    other = (
        value.startswith(("-", "|"))
        or _QUOTE.search(_INSIDE.sub("", value))
        or _is_call(value)
        or _plausible.stands_in(value)
        or _plausible.is_address(value)
        or _plausible.is_uuid(value)
        or (announces(value) and not has_digit(value))
    )
    return not other and is_strong(value)


def assigned(
    sort: Sort, value: str, *, quoted: bool, alone: bool, ends: bool, literal: bool = False
) -> bool:
    """Say whether a value that is assigned to a word for a secret is the secret.

    Args:
        sort: What the word announces.
        value: The value, without its quotes.
        quoted: Whether it had some.
        alone: Whether nothing else follows in its line.
        ends: Whether the identifier ends with the word.
        literal: Whether the place takes no names of variables, as in a URL or a shell.
    """
    if sort is Sort.PASSWORD and len(value) > _LONGEST:
        return False
    if _plausible.stands_in(value) or not (quoted or _no_code(value, literal=literal)):
        return False
    if sort is Sort.PASSWORD:
        whole = ends or (has_digit(value) and is_strong(value))
        return whole and _password(value, quoted=quoted, alone=alone)
    if sort is Sort.CODE:
        return False  # codes are told in sentences, where it is said what they open
    if sort in (Sort.PIN, Sort.CARD):
        return ends and (is_digits(value, 3, 4) if sort is Sort.CARD else is_digits(value))
    if _plausible.looks_random(value, 20 if sort is Sort.KEY else 16):
        return True
    return sort is not Sort.KEY and (_plausible.is_uuid(value) or (ends and _made_up(value)))


def _made_up(value: str) -> bool:
    """Say whether a value that is too short to be judged by chance is a secret all the same."""
    if not 8 <= len(value) <= _LONGEST or " " in value or not has_digit(value):
        return False
    named = _plausible.is_address(value) or _plausible.wordlike(value)
    return not named and not _plausible.in_series(value) and is_strong(value)


def _password(value: str, *, quoted: bool, alone: bool) -> bool:
    if len(value) < _SHORTEST or _plausible.is_address(value):
        return False
    if " " in value:
        return quoted and _is_phrase(value)
    named = _NAME.fullmatch(value) and not value[-1].isdigit() and announces(value)
    if named or value.lower() in COMMON:
        return False
    if value.isdigit():
        return quoted or alone or len(value) >= 6
    if is_strong(value):
        return True
    if is_ordinary(value):
        return False
    if quoted:
        word = value.isalpha() and value[0].islower()
        return word or _RARE_SIGN.search(value, 1) is not None
    return (
        alone and len(value) > _SHORTEST and value.isascii() and value.isalpha() and value.islower()
    )


def _is_phrase(value: str) -> bool:
    """Say whether several words are a passphrase rather than a sentence about passwords."""
    words = [one.lower().strip(_CLOSING) for one in value.split()]
    if not _NOT_IN_PHRASES.isdisjoint(words):
        return False
    if _PHRASE.fullmatch(value):
        return True
    counts = any(counted(after) for one, after in pairwise(words) if one.isdigit())
    speaks = any(announces(one) or one in COMMON for one in words)
    return 3 <= len(words) <= _MOST_WORDS and has_digit(value) and not counts and not speaks


def further(text: str, end: int) -> int:
    """Return where a password ends whose first word ends at a place.

    Words that can hardly be anything but a part of it belong to it.
    """
    for _ in range(_MOST_WORDS):
        match = _NEXT_WORD.match(text, end)
        if match is None:
            break
        start, stop = trimmed(text, *match.span("word"))
        word = text[start:stop]
        if start != match.start("word") or not told(word) or len(word) < _SHORTEST:
            break
        end = stop
        if stop != match.end("word"):
            break  # a sentence ends here
    return end


def is_ordinary(value: str) -> bool:
    """Say whether a word is common beside a password: an adjective, a number, a product."""
    return value.lower() in COMMON or _ORDINARY.fullmatch(value) is not None


def _is_call(value: str) -> bool:
    """Say whether a value is a call or an index: `getenv("X")`, `secrets[0]`, `new Secret()`."""
    called = _CALLED.match(value)
    if called is not None:
        name = re.split(r"[.$:]", called.group())[-1]
        if not name.isdigit() and name:
            return True
    for end in range(len(value), max(0, len(value) - 3), -1):
        last = value[end - 1]
        if last in ")]":
            opened = max(value.rfind("(", 0, end - 1), value.rfind("[", 0, end - 1))
            closed = max(value.rfind(")", 0, end - 1), value.rfind("]", 0, end - 1))
            return opened > closed or _STATEMENT.match(value) is not None
        if last.isalnum() or last == "_":
            break
    return _STATEMENT.match(value) is not None


def _no_code(value: str, *, literal: bool) -> bool:
    """Say whether a value without quotes can be a text rather than an expression."""
    if value[:1] in "$&@([" or _is_call(value):
        return False
    name = "_" in value and (_NAME.fullmatch(value) or _LONG_NAME.fullmatch(value))
    return literal or not (name or _ATTRIBUTE.fullmatch(value))

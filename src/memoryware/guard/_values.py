"""Whether the value beside a word for a secret is the secret."""

from __future__ import annotations

import re
from typing import Final

from memoryware.guard import _plausible
from memoryware.guard._words import COMMON, Sort, sort_of

_UNITS: Final = re.compile(
    r"(?i)^(?:char|charac|letter|digit|symbol|word|bit|byte|day|week|month|year|hour|minute|min|sec|"
    r"time|attempt|tries|people|user|zeichen|stellen|ziffern|tage|jahre|caract|chiffres|jours|"
    r"dígitos|letras|cifre|caratteri|tekens|dni|znak|символ|дн|or\b|to\b|and\b|%|percent|of\b)"
)
_PLAIN_THING: Final = re.compile(
    r"(?i)^(?:\d+(?:st|nd|rd|th|x|k|m|s|h|d|px|em|ms|kb|mb|gb|am|pm|%|€|\$)?|v?\d+(?:\.\d+)+|"
    r"\d+[-–](?:char|digit|bit|day|letter|word|month|factor|step|stellig|hour|minute)\w*|"
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{1,2}:\d{2}(?::\d{2})?|"
    r"(?:sha|aes|md|rsa|hs|rs|es|ps|utf|base|ed|wpa|oauth|http|ipv|x|k|s|ec|mp|h|bcrypt|argon|scrypt|"
    r"pbkdf|fido|u|web|log|i|p|r|log|python|py|node|java|windows|win|ios|android|office|room|raum|"
    r"zimmer|rfc|iso|cve|gpt|claude|llama|issue|pr|page|step|chapter|section|version|sprint|q|"
    r"\dpassword|1password|2fa|mfa)[- ]?\d+(?:[-.]?[a-z\d]{1,6})*|\#\d+|[a-z]{2,5}-\d{1,6}|1password|2fa|"
    r"lastpass|keepass\w*|bitwarden|dashlane|nordpass|protonpass|github|gitlab|oauth\w*|openid|"
    r"youtube|linkedin|paypal|icloud|whatsapp|macbook|iphone|ipad|javascript|typescript|postgresql|"
    r"mysql|mongodb|wifi|wi-fi|wordpress|plaintext|camelcase|snake_case|qwerty)$"
)
_SIGN: Final = re.compile(r"[!@#$%^&*+=?~|\\/_:;,.<>()\[\]{}-]")
_ATTRIBUTE: Final = re.compile(r"^[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_]\w*)+\W{0,3}$")
_NAME: Final = re.compile(r"^[A-Za-z_][A-Za-z_]*\d{0,2}$")
_LONG_NAME: Final = re.compile(r"^[a-z]+(?:_[a-z0-9]+){2,}$")
_CALL: Final = re.compile(r"^[\w.$:]*[A-Za-z_]\w*[(\[]|[(\[][^)\]]*[)\]]\W{0,2}$|^(?:new|await|function|lambda)\b")
_HYPHENED: Final = re.compile(r"^[A-Za-z]+(?:[-/'][A-Za-z]+)+$")
_QUOTE: Final = re.compile("[\"'`]")
_CASE: Final = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_OPENERS: Final = "\"'`([{<*_"
_CLOSERS: Final = "\"'`)]}>*_.,;:!?"
_SPACED: Final = re.compile(r"^[a-z]{2,12}(?: [a-z]{2,12}){2,11}$")
_SENTENCE: Final = frozenset(
    (
        "the a an is are was be to of for and or must should will can your you it please enter in"
        " on at with not if this that from has have der die das ist und le la les est et el los y"
    ).split()
)


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the place of a value without the quotes and the punctuation around it."""
    while start < end and text[start] in _OPENERS:
        start += 1
    while end > start and text[end - 1] in _CLOSERS:
        # a closing mark that belongs to the value: "ab!c(d)" keeps its last one
        if text[end - 1] in "!?" and end - start >= 2 and text[end - 2].isalnum():
            if end < len(text) and text[end] in "\"'`":
                break
            if any(map(str.isdigit, text[start:end])) and text[end - 1] == "!":
                break
        end -= 1
    return start, end


def is_strong(value: str) -> bool:
    """Say whether a value between words can hardly be anything but a secret."""
    if len(value) < 5 or _ordinary(value):
        return False
    digits = sum(map(str.isdigit, value))
    letters = sum(map(str.isalpha, value))
    signs = len(_SIGN.findall(value))
    if digits and letters:
        return True
    if letters and signs and not _HYPHENED.match(value):
        inner = _SIGN.search(value.strip("".join(_CLOSERS)))
        return inner is not None and not wordish(value)
    return letters >= 6 and value.isascii() and _CASE.search(value) is not None and not wordish(value)


def wordish(value: str) -> bool:
    """Say whether a value is made like a name in code or an ordinary compound."""
    return (
        "_" in value and value.replace("_", "").isalpha()
    ) or re.fullmatch(r"(?:[A-Za-z]+[/.,:;()+&|-]+)+[A-Za-z]*", value) is not None


def is_digits(value: str, least: int = 4, most: int = 12) -> bool:
    """Say whether a value is a number that somebody types in."""
    solid = re.sub(r"[\s.#*-]", "", value)
    return solid.isdigit() and least <= len(solid) <= most


def counted(word: str) -> bool:
    """Say whether a word behind a number shows that the number counts something."""
    return _UNITS.match(word) is not None


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
    if _plausible.stands_in(value) or (not quoted and _in_code(value, literal=literal)):
        return False
    if sort is Sort.PASSWORD:
        whole = ends or (is_strong(value) and any(map(str.isdigit, value)))
        return whole and _password(value, quoted=quoted, alone=alone)
    if sort in (Sort.PIN, Sort.CODE, Sort.CARD):
        least, most = (3, 4) if sort is Sort.CARD else (4, 12)
        return sort is not Sort.CODE and ends and is_digits(value, least, most)
    least = 20 if sort is Sort.KEY else 16
    if _plausible.looks_random(value, least) or (sort is not Sort.KEY and _plausible.is_uuid(value)):
        return True
    secret = sort is Sort.SECRET or (sort is Sort.TOKEN and ends)
    return secret and ends and 8 <= len(value) <= 200 and _made_up(value)


def _made_up(value: str) -> bool:
    """Say whether a value that is too short to be judged by chance is a secret all the same."""
    named = _ordinary(value) or _plausible.is_address(value) or _plausible.wordlike(value)
    if named or _plausible.in_series(value):
        return False
    return is_strong(value) and any(map(str.isdigit, value)) and " " not in value


def _password(value: str, *, quoted: bool, alone: bool) -> bool:
    if not 4 <= len(value) <= 200 or _plausible.is_address(value):
        return False
    if " " in value:
        words = value.split()
        return quoted and _SPACED.match(value) is not None and not _SENTENCE & set(words)
    low = value.lower()
    if low in COMMON or sort_of(value) is not None and _NAME.match(value) and not value[-1:].isdigit():
        return False
    if is_strong(value):
        return True
    if _ordinary(value) and not value.isdigit():
        return False
    if value.isdigit():
        return quoted or alone or len(value) >= 6
    if quoted:
        return value.isalpha() and value[:1].islower() or is_sign_rich(value)
    return alone and value.isalpha() and value.isascii() and value.islower() and len(value) >= 5


def is_sign_rich(value: str) -> bool:
    """Say whether a short value has signs inside that names do not have."""
    return re.search(r"[!@#$%^&*+=?~]", value[1:]) is not None


def _ordinary(value: str) -> bool:
    return _PLAIN_THING.match(value) is not None or value.lower() in COMMON


def _in_code(value: str, *, literal: bool) -> bool:
    if _CALL.search(value) or value[:1] in "$&@([":
        return True
    name = "_" in value and (_NAME.match(value) or _LONG_NAME.match(value)) is not None
    return not literal and (name or _ATTRIBUTE.match(value) is not None)


def said(value: str, following: str) -> bool:
    """Say whether a word of a sentence about a password is the password.

    Args:
        value: The word, without punctuation.
        following: The word after it.
    """
    if _plausible.stands_in(value) or _plausible.is_address(value) or _plausible.is_uuid(value):
        return False
    if _QUOTE.search(value) or value.startswith("-"):
        return False
    if sort_of(value) is not None and not any(map(str.isdigit, value)):
        return False
    if value.isdigit():
        return 4 <= len(value) <= 16 and not counted(following)
    return is_strong(value) and _CALL.search(value) is None

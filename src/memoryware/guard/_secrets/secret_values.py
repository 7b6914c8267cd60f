"""Decide what a word announces, and whether a value beside it is the secret.

An identifier or a word announces a password, a key, a code or nothing; a value is a secret if it is
no placeholder, no name and no ordinary word, and random enough for what was announced.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from enum import Enum
from itertools import pairwise
from typing import Final

from memoryware._caching import clearable_cache
from memoryware.guard._secrets import lexicon
from memoryware.guard._secrets.lexicon import COMMON, COMPOUNDED, DESCRIBES, SMALL_WORDS, listed

# What an identifier or a word announces.


class Sort(Enum):
    """What a word announces; the value is what a person is told."""

    PASSWORD = "password"  # noqa: S105
    PIN = "PIN"
    CODE = "access code"
    CARD = "card code"
    LOGIN = "log-in"
    SECRET = "secret"  # noqa: S105
    TOKEN = "token"  # noqa: S105
    KEY = "key"
    SEED = "seed phrase"
    OPENER = "code"


UNSPACED: Final = {
    **dict.fromkeys(
        lexicon.listed(
            "密码 密碼 口令 パスワード パスコード 合言葉 비밀번호 비번 암호 รหัสผ่าน पासवर्ड"
            " 暗証番号 パスフレーズ 暗証 门禁码 門禁碼 pin码 pin碼 pinコード"
        ),
        Sort.PASSWORD,
    ),
    **dict.fromkeys(
        lexicon.listed("密钥 密鑰 令牌 トークン シークレット apiキー キー 토큰 키"), Sort.TOKEN
    ),
}
"""Words, in lower case, of scripts that put no blank or other marks between words."""
_SORTS: Final = (
    (lexicon.PASSWORDS, Sort.PASSWORD),
    (lexicon.SECRETS, Sort.SECRET),
    (lexicon.TOKENS, Sort.TOKEN),
    (lexicon.PINS, Sort.PIN),
    (lexicon.CODES, Sort.CODE),
    (lexicon.CARD_CODES, Sort.CARD),
    (lexicon.LOGINS, Sort.LOGIN),
    (lexicon.SEEDS, Sort.SEED),
    (lexicon.OPENERS, Sort.OPENER),
)
_ENDINGS: Final = (
    (Sort.PASSWORD, lexicon.listed("password passwd passphrase passwort kennwort wachtwoord pwd")),
    (Sort.SECRET, ("secret",)),
    (Sort.TOKEN, ("token", "apikey")),
)
_NEUTRAL: Final = re.compile(
    r"^(?:\d{1,3}|prod|production|dev|development|stage|staging|test|testing|live|old|new|main|"
    r"primary|secondary|base64|b64|v\d|default|value|val|plain|text|admin|root|user|local|str|s)$"
)
"""What an identifier may end with after the word that counts: `password_2`, `token_prod`."""
_SPLIT: Final = re.compile(
    r"[A-Z]+(?![^\W\d_A-Z])|[A-Z]?[^\W\d_A-Z]+|\d+|[^\W\d_]+"  # HTTPServer, camelCase, 2, 中文
)
_LONGEST_IDENTIFIER: Final = 80
"""Characters of an identifier that are looked at, from its end."""


@clearable_cache(4096)
def sort_of(word: str) -> tuple[Sort, bool] | None:
    """Return what an identifier announces and whether it ends with that word; None for nothing.

    `DB_PASSWORD` and `dbPassword` announce a password, `password_hash` and `keyboard` nothing.
    """
    parts = [part.lower() for part in _SPLIT.findall(word[-_LONGEST_IDENTIFIER:])]
    while len(parts) > 1 and _NEUTRAL.match(parts[-1]):
        parts.pop()
    for position in range(len(parts) - 1, -1, -1):
        before = parts[position - 1] if position else ""
        sort = _sort(parts[position], before)
        if sort is not None:
            otherwise = before in lexicon.SAYS_OTHERWISE
            return None if otherwise else (sort, position == len(parts) - 1)
        if parts[position] in lexicon.SOMETHING_ELSE:
            return None
    return None


def announces(word: str) -> bool:
    """Return whether a word announces a secret, and so is none itself."""
    return sort_of(word) is not None


def _sort(part: str, before: str) -> Sort | None:
    if part in lexicon.KEYS:
        if before in lexicon.NETWORKS:
            return Sort.PASSWORD
        return Sort.TOKEN if before in lexicon.KEYED else Sort.KEY
    for words, sort in _SORTS:
        if part in words:
            return Sort.PIN if sort is Sort.CODE and before in lexicon.PINS else sort
    if part.startswith(lexicon.PASSWORD_STARTS):
        return Sort.PASSWORD
    return next((sort for sort, endings in _ENDINGS if part.endswith(endings)), None)


# Whether a value can be a secret at all: not a placeholder, not a name, random enough.

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
    """Return whether a value is what people write in place of a secret.

    Args:
        names: Whether a name in capitals counts, as in `API_TOKEN=TOKEN_OF_BO`.
    """
    head = value[:_READ]
    low = head.lower()
    return (
        _FIRST.split(low.strip("-_. "), maxsplit=1)[0] in _NOTHING
        or len(set(head)) < 3 + (len(head) > 20)
        or any(stand_in in low for stand_in in _STAND_INS)
        or _STAND_IN.search(head) is not None
        or (names and _CAPITALS.match(head) is not None)
    )


def is_uuid(value: str) -> bool:
    """Return whether a value is written as a UUID."""
    return len(value) == 36 and _UUID.match(value) is not None


def is_hex(value: str) -> bool:
    """Return whether a value has hexadecimal digits only."""
    return _HEX.match(value) is not None


def is_address(value: str) -> bool:
    """Return whether a value is a URL, a path, a file name, a host or an e-mail address."""
    return _ADDRESS.match(value) is not None


def bits(value: str) -> float:
    """Return the bits per character that the frequencies of the characters give."""
    head = value[:_LOOKED_AT]
    size = len(head)
    return -sum(n / size * math.log2(n / size) for n in Counter(head).values())


def in_series(value: str) -> bool:
    """Return whether a good part of a value runs along the alphabet, the digits or the keyboard."""
    low = value[:_READ].lower()
    hits = sum(low[at : at + _RUN] in _SERIES for at in range(len(low) - _RUN + 1))
    return hits * 4 > len(low)


def wordlike(value: str) -> bool:
    """Return whether a value reads as words, numbers and versions with signs between them."""
    pieces = [piece for piece in _PIECES.split(value[:_LOOKED_AT]) if piece]
    return all((_WORDLIKE.match(piece) and _sounds(piece)) or _camel(piece) for piece in pieces)


def _sounds(piece: str) -> bool:
    """Return whether a long run of letters has enough vowels to be a word."""
    return len(piece) < 9 or len(_VOWELS.findall(piece)) * 6 >= len(piece)


def _camel(piece: str) -> bool:
    """Return whether a piece is made of words, each with a capital."""
    if piece.isupper() or piece.islower():
        return False
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", piece)
    if not all(len(part) < 18 and _sounds(part) for part in parts):
        return False
    return len(piece) >= 4 * len(parts) and 4 * sum(map(str.isdigit, piece)) <= len(piece)


def looks_random(value: str, least: int) -> bool:
    """Return whether a value of at least so many characters is one that a machine has made."""
    if len(value) < least or not _mixed(value) or not _MACHINE_MADE.match(value):
        return False
    if is_hex(value):
        good = bits(value) >= 2.6
    else:
        good = bits(value) >= min(3.4, math.log2(len(value)) * 0.72) and not wordlike(value)
    other = stands_in(value) or in_series(value) or is_address(value) or _VERSION.match(value)
    return good and not other


def _mixed(value: str) -> bool:
    """Return whether there are digits and letters, or letters of both cases in a long value."""
    if any(map(str.isdigit, value)):
        return any(map(str.isalpha, value))
    return len(value) >= 24 and not value.islower() and not value.isupper()


# Whether what stands beside a word for a secret is the secret.

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
_JOINED: Final = re.compile(
    r"[^\W\d_]{3,14}(?P<sign>[-._])[^\W\d_]{3,14}(?:(?P=sign)[^\W\d_]{3,14}){1,11}"
)
MANY_WORDS: Final = 4
"""Words that hardly any compound has."""
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
    """Return whether a value has a digit."""
    return any(map(str.isdigit, value))


def is_strong(value: str) -> bool:
    """Return whether a word can hardly be anything but a secret: digits, signs or humps in it."""
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
    """Return whether a value is a number of so many digits that somebody types in, no version."""
    if _DOTTED.fullmatch(value):
        return False
    solid = _IN_NUMBER.sub("", value)
    return solid.isdigit() and least <= len(solid) <= most


def counted(word: str) -> bool:
    """Return whether the word behind a number shows that the number counts something."""
    return _COUNTED.match(word) is not None


def is_stated_secret(value: str, following: str = "") -> bool:
    """Return whether a word of a sentence about a password is the password.

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
        or stands_in(value)
        or is_address(value)
        or is_uuid(value)
        or (announces(value) and not has_digit(value))
    )
    return not other and is_strong(value)


def assigned(
    sort: Sort, value: str, *, quoted: bool, alone: bool, ends: bool, literal: bool = False
) -> bool:
    """Return whether a value that is assigned to a word for a secret is the secret.

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
    if stands_in(value) or not (quoted or _no_code(value, literal=literal)):
        return False
    if sort is Sort.PASSWORD:
        whole = ends or (has_digit(value) and is_strong(value))
        return whole and _password(value, quoted=quoted, alone=alone)
    if sort is Sort.CODE:
        return False  # codes are stated in sentences, where it is said what they open
    if sort in (Sort.PIN, Sort.CARD):
        return ends and (is_digits(value, 3, 4) if sort is Sort.CARD else is_digits(value))
    if looks_random(value, 20 if sort is Sort.KEY else 16):
        return True
    return sort is not Sort.KEY and (is_uuid(value) or (ends and _made_up(value)))


def _made_up(value: str) -> bool:
    """Return whether a value that is too short to be judged by chance is a secret all the same."""
    if not 8 <= len(value) <= _LONGEST or " " in value or not has_digit(value):
        return False
    named = is_address(value) or wordlike(value)
    return not named and not in_series(value) and is_strong(value)


def _password(value: str, *, quoted: bool, alone: bool) -> bool:
    if len(value) < _SHORTEST or is_address(value):
        return False
    if " " in value:
        return quoted and is_phrase(value)
    named = _NAME.fullmatch(value) and not value[-1].isdigit() and announces(value)
    if named or value.lower() in COMMON:
        return False
    if value.isdigit():
        return quoted or alone or len(value) >= 6
    text_name = quoted and "-" not in value  # such as "form.rules.hidden", the name of a text
    if is_strong(value) or (not text_name and is_joined_phrase(value)):
        return True
    if is_ordinary(value):
        return False
    if quoted:
        word = value.isalpha() and value[0].islower()
        return word or _RARE_SIGN.search(value, 1) is not None
    return (
        alone and len(value) > _SHORTEST and value.isascii() and value.isalpha() and value.islower()
    )


def is_joined_phrase(value: str) -> bool:
    """Return whether a value is a passphrase with one sign between its words: `tulip-river-lamp`.

    Compounds such as "up-to-date" have other words in them, or end with one that describes.
    """
    match = _JOINED.fullmatch(value)
    if match is None or is_address(value):
        return False
    words = value.lower().split(match["sign"])
    last = words[-1]
    return not (
        len(set(words)) < len(words)
        or not COMPOUNDED.isdisjoint(words)
        or not SMALL_WORDS.isdisjoint(words)
        or last in COMMON
        or sum(word in COMMON for word in words) > 1
        or (len(words) < MANY_WORDS and last.endswith(DESCRIBES))
        or stands_in(value)
        or announces(value)
    )


def is_phrase(value: str) -> bool:
    """Return whether several words are a passphrase rather than a sentence about passwords."""
    words = [word.lower().strip(_CLOSING) for word in value.split()]
    if not _NOT_IN_PHRASES.isdisjoint(words):
        return False
    if _PHRASE.fullmatch(value):
        return True
    counts = any(counted(after) for word, after in pairwise(words) if word.isdigit())
    speaks = any(announces(word) or word in COMMON for word in words)
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
        if start != match.start("word") or not is_stated_secret(word) or len(word) < _SHORTEST:
            break
        end = stop
        if stop != match.end("word"):
            break  # a sentence ends here
    return end


def is_ordinary(value: str) -> bool:
    """Return whether a word is common beside a password: an adjective, a number, a product."""
    return value.lower() in COMMON or _ORDINARY.fullmatch(value) is not None


def _is_call(value: str) -> bool:
    """Return whether a value is a call or an index: `getenv("X")`, `secrets[0]`, `new Secret()`."""
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
    """Return whether a value without quotes can be a text rather than an expression."""
    if value[:1] in "$&@([" or _is_call(value):
        return False
    name = "_" in value and (_NAME.fullmatch(value) or _LONG_NAME.fullmatch(value))
    return literal or not (name or _ATTRIBUTE.fullmatch(value))

"""Characters that deceive: those that hide from people, and those that look like others.

Memory text is data that other people can write. Hidden characters, which a model reads and a person
does not see, are not passed on to a model, and are spelled out for people. Look-alikes are folded
to the ASCII letters that a reader may take them for; that table is Unicode's (UTS 39) with
additions, and `NOTICE.md` says where it comes from. The time is linear in the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

# Hidden characters.

_KINDS: Final = (
    ("control characters", "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff"),
    ("bidirectional marks", "\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069"),
    (
        "zero-width characters",
        (
            "\u00ad\u034f\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\ufeff"
            "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
        ),
    ),
    ("blank letters", "\u115f\u1160\u2800\u3164\uffa0\ufff0-\ufffc"),
    ("variation selectors", "\ufe00-\ufe0f\U000e0100-\U000e01ef"),
    ("tag characters", "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"),
)
"""What Unicode calls default-ignorable or format, in kinds that a person can be told."""
_HIDDEN: Final = re.compile("[" + "".join(members for _, members in _KINDS) + "]")
_KIND_OF: Final = [(name, re.compile(f"[{members}]")) for name, members in _KINDS]

_PICTURE: Final = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff\u25a0-\u27bf"
    "\u2934\u2935\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_RIGHT_TO_LEFT: Final = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
_JOINING: Final = (
    "\u0600-\u06ff\u0700-\u074f\u0750-\u077f\u07c0-\u07ff\u0840-\u08ff\u0900-\u0dff\u0e00-\u0eff"
    "\u0f00-\u109f\u1780-\u17b3\u17b6-\u180a\u1810-\u18af\u1a20-\u1aaf\u1b00-\u1bff\ua840-\ua87f"
    "\ufb1d-\ufdff\ufe70-\ufefc\U00011000-\U00011fff"
)
_MONGOLIAN: Final = "\u1820-\u18af"
_IDEOGRAPH: Final = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_REGIONS: Final = "|".join(
    "".join(chr(0xE0000 + ord(letter)) for letter in region)
    for region in ("gbeng", "gbsct", "gbwls")
)
_NEEDED: Final = re.compile(
    f"(?:\U0001f3f4(?:{_REGIONS})\U000e007f"  # the three flags that are spelled with tags
    # a zero-width joiner inside an emoji, or a joiner or non-joiner inside a script that has them
    f"|(?<=[{_PICTURE}\ufe0f\U0001f3fb-\U0001f3ff])\u200d(?=[{_PICTURE}])"
    f"|(?<=[{_JOINING}])[\u200c\u200d](?=[{_JOINING}])"
    # a direction mark beside a letter of a right-to-left script
    f"|(?<=[{_RIGHT_TO_LEFT}])[\u200e\u200f\u061c]|[\u200e\u200f\u061c](?=[{_RIGHT_TO_LEFT}])"
    # one variation selector after what it selects
    f"|(?<=[{_PICTURE}#*0-9])[\ufe0e\ufe0f]"
    f"|(?<=[{_IDEOGRAPH}])[\ufe00-\ufe02\U000e0100-\U000e010f]"
    f"|(?<=[{_MONGOLIAN}])[\u180b-\u180f])"
)
_NEEDED_OR_HIDDEN: Final = re.compile(f"{_NEEDED.pattern}|(?P<hidden>{_HIDDEN.pattern}+)")


def drop_hidden(text: str) -> tuple[str, dict[str, int]]:
    """Remove the characters of a text that people do not see.

    Tag characters, bidirectional marks, control characters and zero-width characters go;
    a joiner stays inside an emoji or a script that is written with it, a direction mark
    beside a right-to-left letter, a variation selector after the character that it belongs
    to, and the flags that are spelled with tags.

    Args:
        text: The text.

    Returns:
        The text without them, and how many were removed of each kind, such as "tag characters".
    """
    if not _HIDDEN.search(text):
        return text, {}
    counts: Counter[str] = Counter()

    def keep_needed(match: re.Match[str]) -> str:
        if match.group("hidden") is None:
            return match.group()
        for character, count in Counter(match.group()).items():
            counts[next(name for name, kind in _KIND_OF if kind.match(character))] += count
        return ""

    return _NEEDED_OR_HIDDEN.sub(keep_needed, text), dict(counts)


def reveal(text: str) -> str:
    """Spell out the characters of a text that people do not see, such as `<U+202E>`.

    Line ends and tabs stay; what `drop_hidden` would leave in the text stays as well.

    Args:
        text: The text.

    Returns:
        The text as a person can check it.
    """
    if not _HIDDEN.search(text):
        return text

    def spell(match: re.Match[str]) -> str:
        hidden = match.group("hidden")
        return (
            match.group()
            if hidden is None
            else "".join(f"<U+{ord(character):04X}>" for character in hidden)
        )

    return _NEEDED_OR_HIDDEN.sub(spell, text)


# Look-alikes.

_SIGNS: Final = "<>[]|/"
"""Lines of the table that list look-alikes of a sign, not of letters."""
_CANONICAL: Final = {
    # Letters and digits of ASCII that look alike in one font or another, and digits that
    # people write in place of letters.
    **dict.fromkeys("i1", "l"),
    "0": "o",
    "3": "e",
    "4": "a",
    "5": "s",
    "7": "t",
    "m": "rn",
    "w": "vv",
}


_ENCLOSED: Final = (*range(0x2100, 0x2150), *range(0x2460, 0x2500), *range(0x1F100, 0x1F200))
"""Blocks of symbols that are letters in circles, squares and brackets."""


@cache
def _table() -> dict[str, str]:
    """Return the table: a character, and the letters or the sign that it looks like."""
    text = files("memoryware.guard").joinpath("confusables.txt").read_text("utf-8")
    rows = (line.split("\t") for line in text.splitlines())
    return {character: letters for letters, characters in rows for character in characters}


@cache
def signs(sign: str) -> str:
    """Return a sign of `_SIGNS` and everything that looks like it."""
    others = (character for character, letters in _table().items() if letters == sign)
    compatible = {"<": "\uff1c\ufe64", ">": "\uff1e\ufe65", "[": "\uff3b", "]": "\uff3d"}
    more = compatible.get(sign, "") + {"|": "\uff5c", "/": "\uff0f\\\uff3c\u29f5"}.get(sign, "")
    return sign + "".join(others) + more


@cache
def symbols_like_letters() -> str:
    """Return what looks like a letter and is a symbol, so that it may part words as well."""
    table = {character: letters for character, letters in _table().items() if letters not in _SIGNS}
    enclosed = {chr(code): _base(chr(code)) for code in _ENCLOSED}
    pairs = {**enclosed, **table}.items()
    return "|" + "".join(
        character for character, letters in pairs if letters.isalnum() and not character.isalnum()
    )


@lru_cache(maxsize=8192)
def skeleton(character: str) -> str:
    """Return the letters that a reader may take a character for; "" for an accent.

    Two texts that look alike have the same letters. They are lower case, and canonical: `I`,
    `l`, `1` and U+01C0 are all `l`.
    """
    letters = character if character.isascii() else _ascii(character)
    return "".join(_CANONICAL.get(letter, letter) for letter in letters.lower())


def latin(word: str) -> str:
    """Return a word with the letters of other scripts that look like ASCII ones folded to these."""
    if word.isascii():
        return word
    letters = [letter if _is_latin(letter) else _ascii(letter) for letter in word]
    mixed = any(letter.isascii() and letter.isalpha() for letter in word)
    folded = "".join(letters)
    return folded if mixed or folded.isascii() else word


@lru_cache(maxsize=8192)
def _is_latin(character: str) -> bool:
    return character.isascii() or unicodedata.name(character, "").startswith("LATIN")


def _ascii(character: str) -> str:
    table = _table()
    letters = table.get(character)
    if letters is None:
        if unicodedata.combining(character):
            return ""
        base = _base(character)
        letters = table.get(base, base)
    return character if letters in _SIGNS else letters


def _base(character: str) -> str:
    """Return the letter that a character is a variant of: of U+24B6 and U+249C, `A` and `a`."""
    variants = unicodedata.normalize("NFKD", character)
    return next((variant for variant in variants if variant.isalnum()), variants[0])


def canonical(text: str) -> str:
    """Return the skeletons of the letters and digits of a text."""
    return "".join(skeleton(character) for character in text if character.isalnum())

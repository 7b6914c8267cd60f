"""Make `src/memoryware/guard/confusables.txt` from Unicode's table of confusable characters.

Run it with the package `confusable-homoglyphs` installed, which carries that table as JSON:

    python benchmarks/make_confusables.py > src/memoryware/guard/confusables.txt
"""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections import defaultdict
from importlib.resources import files

LAST = 0x1FFFF
"""Behind it are ideographs, variation selectors and private use only."""
BRACKETS = {
    "<": re.compile(
        r"(?=.*(?:LESS-THAN|PRECEDES|ARROWHEAD|LEFT.*(?:ANGLE|POINTING|LESS-THAN)|"
        r"NORMAL SUBGROUP OF))(?!.*(?:COMBINING|ARABIC|RIGHT|GREATER|NOT |NEITHER|UPPER|LOWER|"
        r"UPWARDS|DOWNWARDS|LEFTWARDS|THROUGH|APL|UP ARROWHEAD|DOWN ARROWHEAD|EQUAL|SIMILAR|"
        r"EQUIVALENT|APPROXIMATE|CLOSED|QUESTION|CIRCLE|FLEURON|CORNER|SQUARE|CURLY|"
        r"MODIFIER LETTER (?:UP|DOWN)|INDEX|MAGNIFYING|SPEAKER|FACE|HAND|FIST))"
    ),
    ">": re.compile(
        r"(?=.*(?:GREATER-THAN|SUCCEEDS|RIGHT.*(?:ANGLE|POINTING|GREATER-THAN)|RIGHT ARROWHEAD|"
        r"CONTAINS AS NORMAL SUBGROUP))(?!.*(?:COMBINING|ARABIC|LEFT|LESS|NOT |NEITHER|UPPER|"
        r"LOWER|UPWARDS|DOWNWARDS|RIGHTWARDS|THROUGH|APL|EQUAL|SIMILAR|EQUIVALENT|APPROXIMATE|"
        r"CLOSED|QUESTION|CIRCLE|FLEURON|CORNER|SQUARE|CURLY|INDEX|MAGNIFYING|SPEAKER|FACE|HAND|"
        r"FIST|RIGHT TRIANGLE|RIGHT ANGLE))"
    ),
    "[": re.compile(
        r"(?=.*LEFT.*(?:SQUARE|TORTOISE SHELL|LENTICULAR|CORNER).*BRACKET)(?!.*(?:RIGHT|EXTENSION"
        r"|UPPER|LOWER|QUILL|HALF|SUBSTITUTION|TRANSPOSITION|PARAPHRASE|OMISSION))"
    ),
    "]": re.compile(
        r"(?=.*RIGHT.*(?:SQUARE|TORTOISE SHELL|LENTICULAR|CORNER).*BRACKET)(?!.*(?:LEFT|EXTENSION"
        r"|UPPER|LOWER|QUILL|HALF|SUBSTITUTION|TRANSPOSITION|PARAPHRASE|OMISSION))"
    ),
    "|": re.compile(
        r"(?:BOX DRAWINGS (?:LIGHT|HEAVY|DOUBLE).* VERTICAL|FULLWIDTH VERTICAL LINE|BROKEN BAR|"
        r"(?:LIGHT|MEDIUM|HEAVY) VERTICAL BAR|VERTICAL LINE EXTENSION|DIVIDES|"
        r"PRESENTATION FORM FOR VERTICAL EM DASH|HALFWIDTH FORMS LIGHT VERTICAL|"
        r"DENTAL CLICK|LEFT VERTICAL BAR|RIGHT VERTICAL BAR)"
    ),
    "/": re.compile(
        r"(?:SOLIDUS|BOX DRAWINGS LIGHT DIAGONAL UPPER RIGHT|MATHEMATICAL RISING DIAG)"
    ),
}
"""What stands for a bracket, a bar or a slash, by the name of the character."""
LATIN = re.compile(
    r"(?:MODIFIER LETTER |TAG |NEGATIVE |SQUARED |CIRCLED |CROSSED |RAISED |REGIONAL INDICATOR "
    r")*(?:LATIN |SYMBOL )?(?:SMALL |CAPITAL )?(?:LETTER )?(?:SMALL CAPITAL |SMALL "
    r"|CAPITAL |SCRIPT |BLACKLETTER |SIDEWAYS |DOTLESS |LONG |OPEN |STRETCHED |BARRED |TOP HALF "
    r"|BOTTOM HALF |OLDSTYLE |LETTER )*(?P<letter>[A-Z])(?: WITH .*)?"
)
"""A letter of the Latin script with an addition, which its name says."""
MORE = {
    "a": "\u03b1\u0251\u1d00",
    "b": "\u0432\u0412\u0392\u0299",
    "c": "\u0441\u1d04\u03f2",
    "d": "\u0501\u1d05",
    "e": "\u0435\u212e\u1d07\u04bd",
    "g": "\u0261\u0262\u0581\u050d",
    "h": "\u043d\u041d\u0397\u029c",
    "k": "\u043a\u043a\u03ba\u1d0b",
    "l": "\u029f\u04c0\u217c",
    "m": "\u043c\u041c\u039c\u1d0d\u217f",
    "n": "\u0578\u057c\u03b7\u0274",
    "o": "\u1d0f\u0585\u06c1\u0d20",
    "p": "\u1d18",
    "r": "\u0433\u0280\u1d26",
    "s": "\ua731",
    "t": "\u0442\u0422\u03c4\u1d1b",
    "u": "\u03c5\u057d\u1d1c",
    "v": "\u03bd\u1d20",
    "y": "\u0443\u0423\u04af\u028f\u03b3",
    "z": "\u1d22",
    "<": "\u304f\u31db",
}
"""Letters that the table keeps apart from the Latin ones, and that a reader takes for them."""


def main() -> None:
    pairs = json.loads(files("confusable_homoglyphs").joinpath("confusables.json").read_text())
    folds = {}
    for code in range(0x80, LAST + 1):
        character = chr(code)
        name = unicodedata.name(character, "")
        sign = next((sign for sign, names in BRACKETS.items() if names.match(name)), "")
        letters = sign or latin(character, name)
        if letters:
            folds[character] = letters
    for marked, others in pairs.items():
        character = marked.strip("\u200e")
        if len(character) == 1 and not character.isascii() and character not in folds:
            plain = {letters_of(one["c"].strip("\u200e")) for one in others} - {""}
            if plain:
                folds[character] = min(plain, key=lambda one: (len(one), one))
    folds |= {one: letter for letter, several in MORE.items() for one in several}
    by_letters = defaultdict(str)
    for character, letters in folds.items():
        if not same(character, letters):
            by_letters[letters] += character
    for letters in sorted(by_letters):
        print(letters, "".join(sorted(by_letters[letters])), sep="\t")


def letters_of(prototype: str) -> str:
    """Return a prototype without accents, if the rest are letters or digits of ASCII, or "<"."""
    plain = "".join(
        one for one in unicodedata.normalize("NFKD", prototype) if not unicodedata.combining(one)
    )
    good = plain in ("<", ">", "[", "]", "|", "/") or (plain.isascii() and plain.isalnum())
    return plain if good else ""


def latin(character: str, name: str) -> str:
    found = LATIN.fullmatch(name)
    if not found:
        return ""
    letter = found["letter"]
    return letter if " CAPITAL" in name and "SMALL CAPITAL" not in name else letter.lower()


def same(character: str, letters: str) -> bool:
    """Say whether NFKD gives the same, so that the table need not."""
    return letters_of(character) == letters


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")
    main()

"""What may be shown to a model: no hidden characters, no forged fences.

Memory text is data that other people can write. Two things in it are never passed
on: characters that a person does not see and a model reads, and tags that look like
the fence that memory stands in. Both checks take time linear in the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

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
    """Return the text without characters that hide from people, and what was dropped.

    Tag characters, bidirectional marks, control characters and zero-width characters go;
    a joiner stays inside an emoji or a script that is written with it, a direction mark
    beside a right-to-left letter, a variation selector after the character that it belongs
    to, and the flags that are spelled with tags.
    """
    if not _HIDDEN.search(text):
        return text, {}
    found: Counter[str] = Counter()

    def keep_needed(match: re.Match[str]) -> str:
        if match.group("hidden") is None:
            return match.group()
        for character, count in Counter(match.group()).items():
            found[next(name for name, kind in _KIND_OF if kind.match(character))] += count
        return ""

    return _NEEDED_OR_HIDDEN.sub(keep_needed, text), dict(found)


def reveal(text: str) -> str:
    """Return the text for people, with what hides in it spelled out, such as `<U+202E>`.

    Line ends and tabs stay; what `drop_hidden` would leave in the text stays as well.
    """
    if not _HIDDEN.search(text):
        return text

    def spell(match: re.Match[str]) -> str:
        hidden = match.group("hidden")
        return match.group() if hidden is None else "".join(f"<U+{ord(one):04X}>" for one in hidden)

    return _NEEDED_OR_HIDDEN.sub(spell, text)


_OPENERS: Final = (
    "<\u00ab\u02c2\u1438\u16b2\u2039\u227a\u2329\u276e\u2770\u27e8\u27ea\u29fc\u3008\u300a"
    "\ufe3d\ufe3f\ufe64\uff1c\U0001d236"
)
_GAP: Final = r"[\W_]{0,16}+"
"""What may stand between two letters of a tag's name: anything but letters and digits."""
_NAMESPACE: Final = r"(?:\w{1,32}+:)?"
_LOOK_ALIKE: Final = {
    "a": "\u0430\u0410\u03b1\u0391\u0251\u13aa\ua4ee\u1d00",
    "b": "\u0432\u0412\u0392\u0299",
    "c": "\u0441\u0421\u1d04\u03f2",
    "d": "\u0501\u1d05\u13a0\ua4d3",
    "e": "\u0435\u0415\u03b5\u0395\u212e\u1d07\u13ac\ua4f0\u04bd",
    "g": "\u0261\u0262\u0581\u050d\u13c0\ua4d6\u0123",
    "h": "\u043d\u041d\u0397\u029c",
    "i": "\u0456\u0406\u03b9\u0399\u026a\u0131\u13a5\ua4f2\u04cf",
    "j": "\u0458\u0408\u1d0a",
    "k": "\u043a\u041a\u03ba\u039a\u1d0b",
    "l": "\u029f\u04c0\u217c\u13de\ua4e1",
    "m": "\u043c\u041c\u039c\u1d0d\u13b7\ua4df\u217f",
    "n": "\u0578\u057c\u03b7\u039d\u0274\ua4e0",
    "o": "\u043e\u041e\u03bf\u039f\u1d0f\u0585\u0555\ua4f3\u06c1\u0d20",
    "p": "\u0440\u0420\u03c1\u03a1\u1d18",
    "r": "\u0433\u0280\u13a1\u13d2\ua4e3\u1d26",
    "s": "\u0455\u0405\ua731\u13da\ua4e2",
    "t": "\u0442\u0422\u03c4\u03a4\u1d1b\u13a2\ua4d4",
    "u": "\u03c5\u057d\u1d1c\ua4f4",
    "v": "\u03bd\u1d20",
    "x": "\u0445\u0425\u03a7\u03c7",
    "y": "\u0443\u0423\u04af\u03a5\u028f\u03b3\ua4ec\u13a9",
    "z": "\u1d22\u0396",
}
_FOLD: Final = {ord(other): letter for letter, others in _LOOK_ALIKE.items() for other in others}


def fence_pattern(names: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern for opening and closing tags of these names in any spelling.

    It is for folded text. Case, blanks, line breaks, other separators or none, a namespace
    and look-alike brackets do not matter; a longer word is another name.
    """
    spelled = "|".join(
        _GAP.join(re.escape(letter) for letter in _folded(name) if letter.isalnum())
        for name in sorted(set(names))
    )
    return re.compile(rf"[{_OPENERS}](?={_GAP}{_NAMESPACE}{_GAP}(?:{spelled})(?![^\W_]))")


def neutralise(text: str, fence: re.Pattern[str]) -> str:
    """Return the text with the bracket of each forged tag spelled `&lt;`.

    Nothing else changes, so the text stays readable; look-alike letters, accents and
    stylised letters are seen through.
    """
    pieces, position = [], 0
    for place in forged(text, fence):
        pieces += [text[position:place], "&lt;"]
        position = place + 1
    return "".join([*pieces, text[position:]]) if pieces else text


def forged(text: str, fence: re.Pattern[str]) -> Iterator[int]:
    """Yield the places of the brackets of forged tags."""
    if text.isascii() and "<" not in text:
        return
    # Each fold maps one character to one, so places in the folded text are places in the text.
    for match in fence.finditer(_folded(text)):
        yield match.start()


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    return text.translate({ord(one): _plain(one) for one in set(text) if not one.isascii()}).lower()


@lru_cache(maxsize=4096)
def _plain(character: str) -> str:
    """Return the one character that a reader may take this one for."""
    known = _FOLD.get(ord(character))
    if known is not None:
        return known
    if unicodedata.combining(character):
        return "\x01"  # an accent, which stands between letters like any other separator
    base = unicodedata.normalize("NFKD", character)[0]
    base = _FOLD.get(ord(base), base)
    return base if len(base.lower()) == 1 else character

"""What may be shown to a model: no hidden characters, no forged fences.

Memory text is data that other people can write. Two things in it are never passed
on: characters that a person does not see and a model reads, and tags that look like
the fence that memory stands in. Both checks take time linear in the text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

_KINDS: Final = (
    ("control characters", "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f"),
    ("bidirectional overrides", "\u202a-\u202e\u2066-\u2069"),
    ("zero-width characters", "\u200b-\u200d\u2060-\u2064\u206a-\u206f\ufeff\u180e\u00ad"),
    ("blank letters", "\u3164\uffa0\u115f\u1160\ufff9-\ufffb"),
    ("tag characters", "\U000e0000-\U000e007f"),
    ("variation selectors", "\ufe00-\ufe0f\U000e0100-\U000e01ef"),
)
_HIDDEN: Final = re.compile("[" + "".join(members for _, members in _KINDS) + "]")
_KIND_OF: Final = [(name, re.compile(f"[{members}]")) for name, members in _KINDS]

_EMOJI: Final = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff\u25a0-\u27bf"
    "\u2934\u2935\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff#*0-9"
)
_JOINING: Final = (
    "\u0600-\u06ff\u0700-\u074f\u0750-\u077f\u07c0-\u07ff\u0840-\u08ff\u0900-\u0dff\u0e00-\u0eff"
    "\u0f00-\u109f\u1780-\u18af\u1a20-\u1aaf\u1b00-\u1bff\ua840-\ua87f\ufb1d-\ufdff\ufe70-\ufefc"
    "\U00011000-\U00011fff"
)
_IDEOGRAPH: Final = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_FLAG: Final = "\U0001f3f4[\U000e0020-\U000e007e]{1,16}\U000e007f"
_NEEDED: Final = re.compile(
    f"(?:{_FLAG}"
    # a zero-width joiner inside an emoji, or a joiner or non-joiner inside a script that has them
    f"|(?<=[{_EMOJI}\ufe0f\U0001f3fb-\U0001f3ff])\u200d(?=[{_EMOJI}])"
    f"|(?<=[{_JOINING}])[\u200c\u200d](?=[{_JOINING}])"
    # one variation selector after what it selects
    f"|(?<=[{_EMOJI}])[\ufe0e\ufe0f]"
    f"|(?<=[{_IDEOGRAPH}\u1800-\u18af])[\ufe00-\ufe0f\U000e0100-\U000e01ef])"
)
_NEEDED_OR_HIDDEN: Final = re.compile(f"{_NEEDED.pattern}|(?P<hidden>{_HIDDEN.pattern}+)")


def drop_hidden(text: str) -> tuple[str, dict[str, int]]:
    """Return the text without characters that hide from people, and what was dropped.

    Tag characters, bidirectional overrides, control characters and zero-width characters
    go; a joiner stays inside an emoji or a script that is written with it, a variation
    selector stays after the character that it belongs to, and so do flag sequences.
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


_OPENERS: Final = "<\uff1c\ufe64\u2039\u3008\u27e8\u276e\u1438"
_SLASHES: Final = r"/\\\uff0f\u2215\u2044\u29f8"
_LOOK_ALIKE: Final = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u043c\u0442\u043d\u0432\u043a"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0406\u0408\u0405"
    "\u03b1\u03b5\u03bf\u03c1\u03c5\u03bd\u03b9\u03ba\u03c4\u0251\u0261\u1d0d\u1d07\u0274\u0280"
    "\u0391\u0392\u0395\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u0396\u212e",
    "aeopcyxijsmthbk" + "abekmhopctyxijs" + "aeopuvikt" + "agmenr" + "abehikmnoptyxz" + "e",
)
_FULL_WIDTH: Final = {0xFF01 + n: 0x21 + n for n in range(94)}


def fence_pattern(names: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern for opening and closing tags of these names in any spelling.

    Case, blanks, line breaks, a missing or other separator between the words and look-alike
    brackets do not matter.
    """
    spelled = "|".join(
        r"[\W_]{0,4}".join(re.escape(word) for word in re.split(r"[\W_]+", name) if word)
        for name in sorted(set(names))
    )
    return re.compile(rf"[{_OPENERS}](?=\s*+[{_SLASHES}]*+\s*+(?:{spelled}))", re.IGNORECASE)


def neutralise(text: str, fence: re.Pattern[str]) -> str:
    """Return the text with the bracket of each forged tag spelled `&lt;`.

    Nothing else changes, so the text stays readable; look-alike letters of other alphabets
    and full-width forms are seen through.
    """
    if text.isascii():
        return fence.sub("&lt;", text) if "<" in text else text
    # Each fold maps one character to one, so places in the folded text are places in the text.
    folded = text.translate(_FULL_WIDTH).translate(_LOOK_ALIKE)
    pieces, position = [], 0
    for match in fence.finditer(folded):
        pieces += [text[position : match.start()], "&lt;"]
        position = match.end()
    return "".join([*pieces, text[position:]]) if pieces else text

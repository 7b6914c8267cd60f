"""The text as a detector reads it: without characters that hide, in one spelling.

A secret is not missed because a zero-width character or a line break stands in it. Every
place in a view leads back to its place in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_HIDDEN: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff"
)
"""What has no width; it is left out of the view."""
_SPELLED: Final = {
    **{chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},  # full width
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033\u300c\u300d\u300e\u300f", '"'),
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2039\u203a\u2032", "'"),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63", "-"),
    **dict.fromkeys("\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009", " "),
    **dict.fromkeys("\u200a\u202f\u205f\u3000", " "),
    "\u3002": ".",
    "\u3001": ",",
    "\u0130": "I",  # the one letter that is longer in lower case
}
_TO_SPELL: Final = re.compile("[" + re.escape("".join(_SPELLED)) + "]")
_TO_HIDE: Final = re.compile(f"[{_HIDDEN}]+")
_ODD: Final = re.compile("[" + re.escape("".join(_SPELLED)) + _HIDDEN + "]")
_NOTED: Final = "[redacted: "
_NOTE: Final = re.compile(r"\[redacted: [^\]\n]{1,60}\]")
_SEAM: Final = re.compile(
    r"""["'`][ \t]{0,80}(?:[+.&\\][ \t]{0,80})?(?:\r?\n[ \t]{0,80}(?:[+.&][ \t]{0,80})?)?["'`]"""
    r"""|\\\r?\n[ \t]{0,80}"""
)
"""Between two pieces of one string, or of one continued line."""
_BROKEN: Final = re.compile(
    r"""(["'`])[^\s"'`]{4,200}(?:[ \t]{0,80}\r?\n[ \t]{0,80}[^\s"'`]{1,200}){1,8}\1"""
)
_BREAK: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class View:
    """A text to look through, and for each of its characters the place in the original."""

    text: str
    places: list[int] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the place in the original of what is not empty in the view."""
        if self.places is None or start >= end:
            return start, end
        return self.places[start], self.places[end - 1] + 1

    def without(self, cuts: Iterable[tuple[int, int]]) -> View:
        """Return a view in which these pieces are left out."""
        pieces: list[str] = []
        places: list[int] = []
        position = 0
        for start, end in [*cuts, (len(self.text), len(self.text))]:
            pieces.append(self.text[position:start])
            places += range(position, start)
            position = end
        if self.places is not None:
            places = [self.places[place] for place in places]
        return View("".join(pieces), places)


def plain(text: str) -> View:
    """Return the text without what hides, with one spelling of quotes, dashes and blanks.

    The notes that redaction leaves are dots, so that their words announce nothing.
    """
    if _NOTED in text:
        text = _NOTE.sub(lambda match: f"[{'.' * (len(match.group()) - 2)}]", text)
    if text.isascii():
        return View(text)
    if not _ODD.search(text):
        return View(text)
    view = View(_TO_SPELL.sub(lambda match: _SPELLED[match.group()], text))
    cuts = [match.span() for match in _TO_HIDE.finditer(view.text)]
    return view.without(cuts) if cuts else view


def joined(view: View) -> tuple[View, list[int]]:
    """Return the view with strings put together that are written in pieces, and the seams."""
    text = view.text
    cuts = [match.span() for match in _SEAM.finditer(text)]
    if '"' in text or "'" in text or "`" in text:
        for match in _BROKEN.finditer(text):
            inner = _BREAK.finditer(text, *match.span())
            cuts += [one.span() for one in inner]
    cuts = _apart(cuts)
    seams, gone = [], 0
    for start, end in cuts:
        seams.append(start - gone)
        gone += end - start
    return (view.without(cuts) if cuts else view), seams


def _apart(cuts: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the cuts in order, those that overlap as one."""
    apart: list[tuple[int, int]] = []
    for start, end in sorted(cuts):
        if apart and start < apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    return apart

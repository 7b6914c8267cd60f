"""How texts, times and names are shown on a page: what hides in them is made visible."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from datetime import datetime
from itertools import groupby
from typing import Final

from memoryware.guard import drop_hidden
from memoryware.inspector.markup import Html, h, joined
from memoryware.tiers.model import Trust

_TRUST: Final = {
    Trust.UNTRUSTED: "from outside",
    Trust.UNVERIFIED: "said by an agent",
    Trust.USER: "said by a user",
    Trust.PERSON: "written by a person",
}
_SHORT: Final = 8


def visible(text: str) -> Html:
    """Return a text in which each character that hides is spelled out and marked."""
    kept, _ = drop_hidden(text)
    if kept == text and text.isascii():
        return joined(text)
    parts = []
    for hides, some in groupby(_looked_at(text, kept), key=lambda pair: pair[0]):
        piece = "".join(one for _, one in some)
        parts.append(_spelled(piece) if hides else joined(piece))
    return joined(parts)


def _looked_at(text: str, kept: str) -> Iterator[tuple[bool, str]]:
    """Yield each character with whether it hides; what is kept is the text without those."""
    place = 0
    for one in text:
        stays = place < len(kept) and kept[place] == one
        place += stays
        yield (not stays or "\ud800" <= one <= "\udfff"), one


def _spelled(characters: str) -> Html:
    names = ", ".join(
        dict.fromkeys(unicodedata.name(one, "a control character") for one in characters)
    )
    codes = "".join(f"<U+{ord(one):04X}>" for one in characters[:_SHORT])
    more = f" and {len(characters) - _SHORT} more" if len(characters) > _SHORT else ""
    return h.mark(codes + more, class_="unseen", title=f"hidden: {names[:200]}")


def one_line(text: str, chars: int) -> Html:
    """Return the beginning of a text in one line, what hides in it made visible."""
    line = " ".join(text[: chars * 4].split())
    cut = len(line) > chars or len(text) > chars * 4
    return h.bdi(visible(line[:chars]), "\u2026" if cut else None)


def body(text: str, chars: int, whole: str | None = None) -> Html:
    """Return a text as it is written; a long one is cut, with a link to the whole of it."""
    shown = h.pre(visible(text[:chars]), class_="text", dir="auto", tabindex="0")
    if len(text) <= chars:
        return shown
    said = f"Cut after {chars:,} of {len(text):,} characters. "
    link = h.a("Show whole (plain text)", href=whole) if whole else None
    return h.div(shown, h.p(said, link, class_="quiet"))


def when(moment: datetime | None, none: str = "\u2013") -> Html:
    """Return a moment for people, with the exact one behind it."""
    if moment is None:
        return joined(none)
    utc = moment.isoformat(timespec="seconds")
    return h.time(f"{moment:%Y-%m-%d %H:%M}", datetime=utc, title=utc)


def short(id_: str) -> str:
    """Return the beginning of an id, as people are shown it."""
    return id_ if len(id_) <= _SHORT + 4 else id_[:_SHORT]


def trust(level: Trust) -> Html:
    """Return how far something is trusted, in words."""
    return h.span(_TRUST[level], class_=f"tag trust-{level.name.lower()}")


def many(count: int, one: str, several: str = "") -> str:
    """Return a number with its noun: "1 entry", "1,204 entries"."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"

"""HTML of escaped pieces: a text is never markup."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from itertools import groupby
from typing import Final, TypeAlias

from memoryware.guard import drop_hidden
from memoryware.inspector._words import TRUST, state_label
from memoryware.tiers import Trust

_NAME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9-]*")
_EMPTY: Final = frozenset({"br", "hr", "img", "input", "link", "meta"})
_LINKS: Final = frozenset({"href", "src", "action", "formaction"})
_HERE: Final = re.compile(r"(?:/(?![/\\])|[?#]|\./)[^\s\\]*")
_BROKEN: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")


class Html:
    """Escaped markup; only `h` and `joined` make it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __str__(self) -> str:
        return self._text


Piece: TypeAlias = "Html | str | int | float | Iterable[Piece] | None"
"""Content of an element: markup, a text (which is escaped), an iterable of both, or None."""
Value: TypeAlias = str | int | float | bool | None
"""The value of an attribute: None and False leave it out, True writes it without a value."""


def escaped(text: str) -> str:
    """Return a text as HTML shows it, between tags and between quotes."""
    return html.escape(_BROKEN.sub("\ufffd", text), quote=True)


def joined(*pieces: Piece) -> Html:
    """Concatenate pieces."""
    return Html("".join(map(_rendered, pieces)))


def element(name: str, /, *pieces: Piece, **attributes: Value) -> Html:
    """Return an element; `class_` is written `class`, `aria_label` is `aria-label`.

    Raises:
        ValueError: For an attribute that could run a script, or a link to another host.
    """
    rendered = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _EMPTY:
        return Html(f"<{name}{rendered}>")
    return Html(f"<{name}{rendered}>{joined(*pieces)}</{name}>")


def _rendered(piece: Piece) -> str:
    if piece is None:
        return ""
    if isinstance(piece, Html):
        return str(piece)
    if isinstance(piece, str):
        return escaped(piece)
    if isinstance(piece, int | float):
        return str(piece)
    return "".join(map(_rendered, piece))


def _attribute(key: str, value: Value) -> str:
    name = key.rstrip("_").replace("_", "-")
    if not _NAME.fullmatch(name) or name.lower().startswith("on") or name == "style":
        raise ValueError(f"{name}: is no attribute that may be written")
    if value is None or value is False:
        return ""
    if value is True:
        return f" {name}"
    text = str(value)
    if name in _LINKS and not _HERE.fullmatch(text):
        raise ValueError(f"{name}: only what is on this host may be linked")
    return f' {name}="{escaped(text)}"'


class _Elements:
    """Every element as a function: `h.div(...)`."""

    def __getattr__(self, name: str) -> Callable[..., Html]:
        tag = name.rstrip("_")
        if not _NAME.fullmatch(tag) or tag in ("script", "style", "iframe", "object", "embed"):
            raise AttributeError(name)

        def make(*pieces: Piece, **attributes: Value) -> Html:
            return element(tag, *pieces, **attributes)

        return make


h: Final = _Elements()
"""Makes elements."""


# Texts, times and names; hidden characters are made visible.

_SHORT: Final = 8


def visible(text: str) -> Html:
    """Return a text in which each hidden character is written as its code, and marked."""
    visible_text, _ = drop_hidden(text)
    if visible_text == text and text.isascii():
        return joined(text)
    parts = []
    for hides, pairs in groupby(_hidden_flags(text, visible_text), key=lambda pair: pair[0]):
        piece = "".join(character for _, character in pairs)
        parts.append(_codes(piece) if hides else joined(piece))
    return joined(parts)


def _hidden_flags(text: str, visible_text: str) -> Iterator[tuple[bool, str]]:
    """Yield each character with whether it is hidden."""
    index = 0
    for character in text:
        is_visible = index < len(visible_text) and visible_text[index] == character
        index += is_visible
        yield (not is_visible or "\ud800" <= character <= "\udfff"), character


def _codes(characters: str) -> Html:
    names = ", ".join(
        dict.fromkeys(
            unicodedata.name(character, "a control character") for character in characters
        )
    )
    codes = "".join(f"<U+{ord(character):04X}>" for character in characters[:_SHORT])
    more = f" and {len(characters) - _SHORT} more" if len(characters) > _SHORT else ""
    return h.mark(codes + more, class_="unseen", title=f"hidden: {names[:200]}")


def one_line(text: str, chars: int) -> Html:
    """Return the beginning of a text as one line, with hidden characters visible."""
    line = " ".join(text[: chars * 4].split())
    cut = len(line) > chars or len(text) > chars * 4
    return h.bdi(visible(line[:chars]), "\u2026" if cut else None)


def body(text: str, chars: int, whole: str | None = None, *, kind: str = "text") -> Html:
    """Return a text as preformatted; a long one is cut, with a link to the whole text."""
    # A box that scrolls must be reachable with the keyboard.
    focus = {"tabindex": "0"} if kind == "text" else {}
    shown = h.pre(visible(text[:chars]), class_=kind, dir="auto", **focus)
    if len(text) <= chars:
        return shown
    note = f"Cut after {chars:,} of {len(text):,} characters. "
    link = h.a("Show whole (plain text)", href=whole) if whole else None
    return h.div(shown, h.p(note, link, class_="quiet"))


def when(moment: datetime | None, placeholder: str = "\u2013") -> Html:
    """Return a time for people, with the exact time as its title."""
    if moment is None:
        return joined(placeholder)
    utc = moment.isoformat(timespec="seconds")
    return h.time(f"{moment:%Y-%m-%d %H:%M}", datetime=utc, title=utc)


def short(id_: str) -> str:
    """Return the first characters of an id."""
    return id_ if len(id_) <= _SHORT + 4 else id_[:_SHORT]


def trust(level: Trust) -> Html:
    """Return a tag with a level of trust."""
    hint = "Trust: the least trusted source of this text"
    return h.span(TRUST[level], class_=f"tag trust-{level.name.lower()}", title=hint)


def state(code: str, *, prefix: str = "") -> Html:
    """Return a tag with the state of a record; `prefix` is written before its label."""
    return h.span(f"{prefix}{state_label(code)}", class_=f"tag status-{code}")


def plural(count: int, singular: str, several: str = "") -> str:
    """Return a number with its noun: "1 entry", "1,204 entries"."""
    return f"{count:,} {singular if count == 1 else several or singular + 's'}"

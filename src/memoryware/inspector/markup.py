"""HTML made of escaped pieces: a text is never markup, whatever is in it.

`h.p("a < b", class_="note")` makes an element. Texts and the values of attributes are escaped;
only what was made here is taken as it is. What could run a script, or look elsewhere for
one, cannot be written: no `on...` and no `style` attribute, and links stay on this host.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

_NAME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9-]*")
_EMPTY: Final = frozenset({"br", "hr", "img", "input", "link", "meta"})
_LINKS: Final = frozenset({"href", "src", "action", "formaction"})
_HERE: Final = re.compile(r"(?:/(?![/\\])|[?#]|\./)[^\s\\]*")
_BROKEN: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")


class Html:
    """Markup that may be sent as it is; made by `h` and `joined` alone."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __str__(self) -> str:
        return self._text


Piece: TypeAlias = "Html | str | int | float | Iterable[Piece] | None"
"""What may stand in an element: markup, a text that is escaped, several of them, or nothing."""
Value: TypeAlias = str | int | float | bool | None
"""What an attribute may be: None and False leave it out, True has no value."""


def escaped(text: str) -> str:
    """Return a text as HTML shows it, between tags and between quotes."""
    return html.escape(_BROKEN.sub("\ufffd", text), quote=True)


def joined(*pieces: Piece) -> Html:
    """Return pieces one after the other."""
    return Html("".join(map(_rendered, pieces)))


def element(name: str, /, *pieces: Piece, **attributes: Value) -> Html:
    """Return an element; `class_` is written `class`, `aria_label` is `aria-label`.

    Raises:
        ValueError: For an attribute that could run a script, or a link to another host.
    """
    said = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _EMPTY:
        return Html(f"<{name}{said}>")
    return Html(f"<{name}{said}>{joined(*pieces)}</{name}>")


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

        def made(*pieces: Piece, **attributes: Value) -> Html:
            return element(tag, *pieces, **attributes)

        return made


h: Final = _Elements()
"""Makes elements."""

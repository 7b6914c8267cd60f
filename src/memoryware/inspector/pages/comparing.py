"""Two texts side by side as a table, and who changed a file."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

from memoryware.backends._acting import acting
from memoryware.backends.history import Version
from memoryware.backends.looking import Part, Row
from memoryware.inspector.markup import Html, Piece, h
from memoryware.inspector.site import Visit
from memoryware.inspector.texts import many, one_line, visible

_NAME = 80


def by_person(name: str, reason: str) -> AbstractContextManager[None]:
    """Say for a block that a person changes files, and why."""
    return acting(user=name, reason=reason.strip() or None)


def actor(version: Version) -> Html:
    """Return who made a version, as far as that is known."""
    who = version.actor
    if who.user and who.agent:
        return h.span(one_line(who.agent, _NAME), " for ", one_line(who.user, _NAME))
    name = who.user or who.agent
    return h.span(one_line(name, _NAME)) if name else h.span("nobody known")


def names_of(version: Version) -> tuple[str, ...]:
    """Return the person and the agent that made a version, as far as they are known."""
    who = version.actor
    return tuple(filter(None, (who.user, f"agent:{who.agent}" if who.agent else None)))


def quoted(visit: Visit, text: str | None) -> Html | None:
    """Return why something was done, in the words of who did it."""
    said = one_line(text, visit.limits.line_chars) if text else None
    return h.p("\u201c", said, "\u201d", class_="why") if said else None


def table(rows: Sequence[Row], old: str, new: str, chars: int) -> Html:
    """Return two texts side by side; lines are cut after some characters."""
    head = h.tr(
        h.th("Line", scope="col", class_="number"),
        h.th(old[:1].upper() + old[1:], scope="col"),
        h.th("Line", scope="col", class_="number"),
        h.th(new[:1].upper() + new[1:], scope="col"),
    )
    made = h.table(h.thead(head), h.tbody([_row(one, chars) for one in rows]), class_="diff")
    return h.div(made, class_="card wide", tabindex="0", role="region", aria_label="Comparison")


def _row(one: Row, chars: int) -> Html:
    if one.kind == "gap":
        said = f"{many(one.hidden, 'line')} the same"
        return h.tr(h.td(said, colspan=4, class_="gap"), class_="gap")
    same = one.kind == "same"
    return h.tr(
        h.td(one.old_number, class_="number"),
        h.td(None if not one.old else _line(one.old, "del", chars, same), class_="was"),
        h.td(one.new_number, class_="number"),
        h.td(None if not one.new else _line(one.new, "ins", chars, same), class_="is"),
        class_=one.kind,
    )


def _line(parts: Sequence[Part], tag: str, chars: int, same: bool) -> Html:
    left, pieces = chars, list[Piece]()
    for text, differs in parts:
        piece = visible(text[:left])
        pieces.append(piece if same or not differs else getattr(h, tag)(piece))
        left -= len(text)
        if left <= 0:
            pieces.append("\u2026")
            break
    return h.span(pieces, class_="code", dir="auto")

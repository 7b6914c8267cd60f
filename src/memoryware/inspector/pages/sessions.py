"""Sessions: what was shown to the model in each run, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from starlette.responses import Response

from memoryware.inspector.layout import empty, page
from memoryware.inspector.markup import Html, Piece, h
from memoryware.inspector.pages.linking import record_url
from memoryware.inspector.site import Section, Visit
from memoryware.inspector.texts import body, many, one_line, trust, when
from memoryware.tiers.audit import Session, Shown, Turn
from memoryware.tiers.model import BEFORE, Entry, Memory

_NAME = 80
_REFUSED = {
    "too_short": "shorter than this memory takes",
    "no_content": "it says nothing by itself",
    "duplicate": "said before",
    "near_duplicate": "nearly said before",
    "echo": "it only repeats what memory had shown",
    "low_confidence": "not sure enough",
    "verify_pending": "its check has not ended",
    "source_gone": "what it was made of is forgotten",
}


async def sessions(visit: Visit) -> Response:
    """Show the sessions, the one that was heard of last first."""
    found = await visit.memory.asessions(visit.scope, after=visit.asked("after") or None)
    if not found.items:
        said = "No agent has said anything yet. As soon as one does, its sessions are here."
        return page(visit, "Sessions", empty(said))
    rows = [h.li(_line(visit, one)) for one in islice(found.items, visit.limits.rows * 4)]
    older = None
    if found.next is not None:
        link = h.a("Older", href=visit.url("/sessions", after=found.next), class_="button")
        older = h.nav(link, class_="pages", aria_label="Older sessions")
    said = "What each model was shown, and what became of what it said."
    return page(visit, "Sessions", h.p(said, class_="quiet"), h.ul(rows, class_="list"), older)


async def one_session(visit: Visit) -> Response:
    """Show a session run by run."""
    id_ = visit.asked("id")
    story = await visit.memory.asession(id_, visit.scope)
    title = f"Session {id_}" if id_ else "Said in no session"
    if not story.turns:
        said = "Nothing was recorded or shown in this session, or it was forgotten."
        return page(visit, title[:200], empty(said))
    start = max(0, len(story.turns) - visit.limits.rows)
    first = _start(visit.asked("from"), start, len(story.turns))
    some = story.turns[first : first + visit.limits.rows]
    turns = [_turn(visit, first + place + 1, one) for place, one in enumerate(some)]
    links = []
    if first:
        links.append(_more(visit, "Earlier", id_, max(0, first - visit.limits.rows)))
    if first + len(some) < len(story.turns):
        links.append(_more(visit, "Later", id_, first + len(some)))
    told = any(one.told for one in story.turns)
    how = (
        None
        if told
        else "This memory has no journal, so what was shown is read from the lineage of each"
        " answer: what earlier runs of the session were shown counts as well."
    )
    return page(
        visit,
        title[:200],
        h.p(many(len(story.turns) + story.more, "run"), ", the first one first.", class_="quiet"),
        h.p(how, class_="quiet") if how else None,
        h.ol(turns, class_="turns"),
        h.nav(links, class_="pages", aria_label="More runs") if links else None,
    )


def _more(visit: Visit, label: str, id_: str, start: int) -> Html:
    at = visit.url("/sessions/one", id=id_, **{"from": start})
    return h.a(label, href=at, class_="button")


def _line(visit: Visit, one: Session) -> Piece:
    name = one_line(one.id, visit.limits.line_chars) if one.id else "(no session)"
    link = h.a(name, href=visit.url("/sessions/one", id=one.id))
    came = [
        h.span(f"{number:,} {status}", class_=f"tag status-{status}")
        for status, number in sorted(one.statuses.items())
    ]
    refused = h.span(f"{one.refused:,} not taken", class_="tag") if one.refused else None
    who = [
        h.span(label, " ", one_line(", ".join(names[:5]), _NAME), " ")
        for label, names in (("by", one.agents), ("for", one.users))
        if names
    ]
    said = h.span(
        many(one.outputs, "output"), ", ", many(one.shown, "memory", "memories"), " shown "
    )
    return [
        h.p(link, class_="line"),
        h.div(came, refused, class_="tags"),
        h.p(said, who, when(one.last_at), class_="quiet"),
    ]


def _turn(visit: Visit, number: int, turn: Turn) -> Html:
    entry = turn.entry
    who = (
        h.span("by ", one_line(entry.scope.agent_id, _NAME))
        if entry and entry.scope.agent_id
        else None
    )
    user = (
        h.span("for ", one_line(entry.scope.user_id, _NAME))
        if entry and entry.scope.user_id
        else None
    )
    tokens = h.span(many(turn.tokens, "token"), class_="tag") if turn.tokens else None
    head = h.header(
        h.h2(f"Run {number}"), h.span(when(turn.at), " ", who, " ", user, class_="quiet"), tokens
    )
    return h.li(h.article(head, _shown(visit, turn), _came(visit, turn), class_="card turn"))


def _shown(visit: Visit, turn: Turn) -> Piece:
    title = h.h3("What the model was shown")
    if not turn.shown:
        return [title, h.p("Nothing from memory.", class_="quiet")]
    new = [one for one in turn.shown if one.is_new or turn.told]
    again = [one for one in turn.shown if one not in new]
    folded = None
    if again:
        folded = h.details(h.summary(f"{len(again):,} shown before"), _items(visit, again))
    return [title, _items(visit, new) if new else None, folded]


def _items(visit: Visit, some: Sequence[Shown]) -> Html:
    return h.ul([h.li(_item(visit, one)) for one in some[: visit.limits.rows]], class_="seen")


def _item(visit: Visit, one: Shown) -> Piece:
    if one.record is None:
        return h.span(
            "forgotten since: ", h.span(one_line(one.id, _NAME), class_="id"), class_="quiet"
        )
    record = one.record
    text = one_line(record.content, visit.limits.line_chars)
    gone = h.span("revoked", class_="tag status-revoked") if record.revocation else None
    return [
        h.a(text, href=record_url(visit, record)),
        " ",
        trust(record.provenance.trust),
        " ",
        gone,
    ]


def _came(visit: Visit, turn: Turn) -> Piece:
    entry = turn.entry
    if entry is None:
        return [h.h3("What came of it"), h.p("Nothing was recorded.", class_="quiet")]
    chars = visit.limits.text_chars
    return [
        h.h3("What it said"),
        body(entry.content, chars, record_url(visit, entry)),
        h.h3("What came of it"),
        h.p(_outcome(entry, turn.memories)),
        h.ul([h.li(_memory(visit, one)) for one in turn.memories[:5]], class_="seen")
        if turn.memories
        else None,
    ]


def _outcome(entry: Entry, memories: Sequence[Memory]) -> Piece:
    tag = h.span(entry.status, class_=f"tag status-{entry.status}")
    by = None
    if entry.decided_by:
        # of what was taken back, the entry still says who had decided before
        before = f"; {entry.metadata.get(BEFORE, 'decided')} before" if entry.revocation else ""
        by = h.span(before, " by ", one_line(entry.decided_by, _NAME), " ", when(entry.decided_at))
    why = None
    if entry.refused:
        why = h.span(
            " Working memory did not take it: ", _REFUSED.get(entry.refused, entry.refused), "."
        )
    became = f" It became {many(len(memories), 'memory', 'memories')}." if memories else None
    return [tag, by, why, became]


def _memory(visit: Visit, memory: Memory) -> Piece:
    text = one_line(memory.content, visit.limits.line_chars)
    return [h.a(text, href=record_url(visit, memory)), " ", trust(memory.provenance.trust)]


def _start(asked: str, none: int, most: int) -> int:
    if not asked.isascii() or not asked.isdigit() or len(asked) > 12:
        return none
    return min(int(asked), max(0, most - 1))


SECTION = Section("Sessions", "/sessions", {"/sessions": sessions, "/sessions/one": one_session})

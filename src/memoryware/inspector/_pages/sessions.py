"""Sessions: what the model was shown in each run, and what became of its answer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from starlette.responses import Response

from memoryware.inspector._layout import empty, page
from memoryware.inspector._markup import Html, Piece, body, h, one_line, plural, state, trust, when
from memoryware.inspector._pages.record import record_url
from memoryware.inspector._site import Section, Visit
from memoryware.inspector._words import state_label
from memoryware.tiers import Entry, Memory, Session, Shown, Turn
from memoryware.tiers.model import BEFORE
from memoryware.tiers.wording import refused_label

_NAME = 80


async def sessions(visit: Visit) -> Response:
    """List the sessions, most recent first."""
    page_of_sessions = await visit.memory.asessions(visit.scope, after=visit.param("after") or None)
    if not page_of_sessions.items:
        message = "No sessions yet. They appear here when an agent records something."
        return page(visit, "Sessions", empty(message))
    rows = [
        h.li(_line(visit, session))
        for session in islice(page_of_sessions.items, visit.limits.rows * 4)
    ]
    older = None
    if page_of_sessions.next is not None:
        link = h.a(
            "Older", href=visit.url("/sessions", after=page_of_sessions.next), class_="button"
        )
        older = h.nav(link, class_="pages", aria_label="Older sessions")
    message = "What each model was shown, and what became of its answers."
    return page(visit, "Sessions", h.p(message, class_="quiet"), h.ul(rows, class_="list"), older)


async def one_session(visit: Visit) -> Response:
    """Show a session run by run."""
    id_ = visit.param("id")
    session = await visit.memory.asession(id_, visit.scope)
    title = f"Session {id_}" if id_ else "Without a session"
    if not session.turns:
        message = "Nothing was recorded or shown in this session, or it was deleted."
        return page(visit, title[:200], empty(message))
    start = max(0, len(session.turns) - visit.limits.rows)
    first = _start(visit.param("from"), start, len(session.turns))
    turns = session.turns[first : first + visit.limits.rows]
    items = [_turn(visit, first + index + 1, turn) for index, turn in enumerate(turns)]
    links = []
    if first:
        links.append(_more(visit, "Earlier", id_, max(0, first - visit.limits.rows)))
    if first + len(turns) < len(session.turns):
        links.append(_more(visit, "Later", id_, first + len(turns)))
    has_journal = any(turn.from_journal for turn in session.turns)
    hint = (
        None
        if has_journal
        else "This memory has no journal, so what was shown is read from the lineage of each"
        " answer: what earlier runs of the session were shown counts as well."
    )
    return page(
        visit,
        title[:200],
        h.p(
            plural(len(session.turns) + session.more, "run"),
            ", the first one first.",
            class_="quiet",
        ),
        h.p(hint, class_="quiet") if hint else None,
        h.ol(items, class_="turns"),
        h.nav(links, class_="pages", aria_label="More runs") if links else None,
    )


def _more(visit: Visit, label: str, id_: str, start: int) -> Html:
    at = visit.url("/sessions/one", id=id_, **{"from": start})
    return h.a(label, href=at, class_="button")


def _line(visit: Visit, session: Session) -> Piece:
    name = one_line(session.id, visit.limits.line_chars) if session.id else "(no session)"
    link = h.a(name, href=visit.url("/sessions/one", id=session.id))
    statuses = [
        state(status, prefix=f"{number:,} ") for status, number in sorted(session.statuses.items())
    ]
    refused = (
        h.span(f"{session.refused:,} not in working memory", class_="tag")
        if session.refused
        else None
    )
    actors = [
        h.span(label, " ", one_line(", ".join(names[:5]), _NAME), " ")
        for label, names in (("by", session.agents), ("for", session.users))
        if names
    ]
    counts = h.span(
        plural(session.outputs, "output"),
        ", ",
        plural(session.shown, "memory", "memories"),
        " shown ",
    )
    return [
        h.p(link, class_="line"),
        h.div(statuses, refused, class_="tags"),
        h.p(counts, actors, when(session.last_at), class_="quiet"),
    ]


def _turn(visit: Visit, number: int, turn: Turn) -> Html:
    entry = turn.entry
    agent = (
        h.span("by ", one_line(entry.scope.agent_id, _NAME))
        if entry and entry.scope.agent_id
        else None
    )
    user = (
        h.span("for ", one_line(entry.scope.user_id, _NAME))
        if entry and entry.scope.user_id
        else None
    )
    tokens = h.span(plural(turn.tokens, "token"), class_="tag") if turn.tokens else None
    head = h.header(
        h.h2(f"Run {number}"), h.span(when(turn.at), " ", agent, " ", user, class_="quiet"), tokens
    )
    return h.li(h.article(head, _shown(visit, turn), _came(visit, turn), class_="card turn"))


def _shown(visit: Visit, turn: Turn) -> Piece:
    title = h.h3("What the model was shown")
    if not turn.shown:
        return [title, h.p("Nothing from memory.", class_="quiet")]
    new = [shown for shown in turn.shown if shown.is_new or turn.from_journal]
    again = [shown for shown in turn.shown if shown not in new]
    folded = None
    if again:
        folded = h.details(h.summary(f"{len(again):,} shown before"), _items(visit, again))
    return [title, _items(visit, new) if new else None, folded]


def _items(visit: Visit, items: Sequence[Shown]) -> Html:
    return h.ul([h.li(_item(visit, shown)) for shown in items[: visit.limits.rows]], class_="seen")


def _item(visit: Visit, shown: Shown) -> Piece:
    if shown.record is None:
        return h.span(
            "forgotten since: ", h.span(one_line(shown.id, _NAME), class_="id"), class_="quiet"
        )
    record = shown.record
    text = one_line(record.content, visit.limits.line_chars)
    gone = state("revoked") if record.revocation else None
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
        return [h.h3("Result"), h.p("Nothing was recorded.", class_="quiet")]
    chars = visit.limits.text_chars
    return [
        h.h3("Answer"),
        body(entry.content, chars, record_url(visit, entry)),
        h.h3("Result"),
        h.p(_outcome(entry, turn.memories)),
        h.ul([h.li(_memory(visit, memory)) for memory in turn.memories[:5]], class_="seen")
        if turn.memories
        else None,
    ]


def _outcome(entry: Entry, memories: Sequence[Memory]) -> Piece:
    tag = state(entry.status)
    by = None
    if entry.decided_by:
        # of what was taken back, the entry still says who had decided before
        status = str(entry.metadata.get(BEFORE, "decided"))
        before = f"; {state_label(status)} before" if entry.revocation else ""
        by = h.span(before, " by ", one_line(entry.decided_by, _NAME), " ", when(entry.decided_at))
    why = None
    if entry.refused:
        why = h.span(" Not in working memory: ", refused_label(entry.refused), ".")
    became = f" It became {plural(len(memories), 'memory', 'memories')}." if memories else None
    return [tag, by, why, became]


def _memory(visit: Visit, memory: Memory) -> Piece:
    text = one_line(memory.content, visit.limits.line_chars)
    return [h.a(text, href=record_url(visit, memory)), " ", trust(memory.provenance.trust)]


def _start(text: str, default: int, count: int) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 12:
        return default
    return min(int(text), max(0, count - 1))


SECTION = Section("Sessions", "/sessions", {"/sessions": sessions, "/sessions/one": one_session})

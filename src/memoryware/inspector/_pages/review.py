"""Review: the statements in quarantine, with search, filters, order, and decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from starlette.responses import Response

from memoryware.errors import EntryMissing
from memoryware.inspector._decisions import decide, decide_all
from memoryware.inspector._layout import empty, field, form, hidden, page, search_form
from memoryware.inspector._markup import Html, Piece, body, h, one_line, plural
from memoryware.inspector._pages.review_card import (
    CardContext,
    actions,
    approval_rule,
    card,
    conflicts,
    decision_form,
    evidence,
    filter_fields,
    filter_query,
    load_rivals,
    statement,
    tags,
)
from memoryware.inspector._queries import invalidate
from memoryware.inspector._review_filters import (
    AGES,
    CONFLICTS,
    SORTS,
    FilterChoices,
    ReviewFilter,
)
from memoryware.inspector._review_queue import ReviewGroup, ReviewQueue, load_queue
from memoryware.inspector._site import Section, Visit, number_in
from memoryware.inspector._words import TRUST
from memoryware.tiers import PromotionPolicy
from memoryware.tiers.proposals import insight_of_entry

_NAME: Final = 60
_CHOICES: Final = 100
"""How many origins and users a filter offers."""


async def review(visit: Visit) -> Response:
    """Show a page of the review queue, with filters."""
    queue = await load_queue(visit, fresh=bool(visit.param("fresh")))
    if not queue.groups:
        return _empty_queue(visit, queue)
    chosen = ReviewFilter.of(visit)
    matching = chosen.select(queue.groups)
    size = visit.limits.groups
    last = max(1, -(-len(matching) // size))
    number = min(max(1, number_in(visit.param("page")) or 1), last)
    first = (number - 1) * size
    shown = matching[first : first + size]
    rivals = await load_rivals(visit, queue.groups, shown)
    cards = [
        card(visit, group, position, rivals, chosen) for position, group in enumerate(shown, first)
    ]
    none = empty("Nothing in the queue matches these filters.", _clear_link(visit))
    return page(
        visit,
        "Review",
        _counts(visit, queue, len(matching)),
        _filters(visit, queue, chosen),
        _policy(visit.memory.parts.policy),
        None if matching else none,
        cards,
        _pages(visit, chosen, number, last),
        None if visit.site.read_only or not shown else _bulk(visit, chosen, number),
    )


def _older(queue: ReviewQueue) -> str:
    return plural(queue.older, "older entry", "older entries") if queue.older else ""


def _empty_queue(visit: Visit, queue: ReviewQueue) -> Response:
    text = "Nothing to review. What agents record appears here."
    if older := _older(queue):
        text = f"Nothing newer to review. Before queue_days: {older}; clear that limit to see them."
    return page(visit, "Review", empty(text, h.p(_refresh_link(visit))))


def _refresh_link(visit: Visit) -> Html:
    return h.a("Refresh", href=visit.url("/review", fresh="1"))


def _clear_link(visit: Visit) -> Html:
    return h.p(h.a("Show all statements", href=visit.url("/review"), class_="button"))


def _counts(visit: Visit, queue: ReviewQueue, matching: int) -> Html:
    statements = plural(len(queue.groups), "statement")
    wait = "waits" if queue.waiting == 1 else "wait"
    text = f"{plural(queue.waiting, 'entry', 'entries')} {wait}, with {statements} to review. "
    if matching < len(queue.groups):
        match = "matches" if matching == 1 else "match"
        text += f"{plural(matching, 'statement')} of these {match} the filters. "
    if queue.more:
        text += f"{queue.more:,} older entries wait behind them. "
    if older := _older(queue):
        text += f"Before queue_days: {older}; clear that limit to see them. "
    return h.p(text, _refresh_link(visit), class_="quiet")


# Filters.


def _filters(visit: Visit, queue: ReviewQueue, chosen: ReviewFilter) -> Html:
    choices, values = FilterChoices.of(queue.groups), chosen.values
    line = h.input(
        type="search", name="q", id="q", value=values.get("q", ""), maxlength=500,
        autocomplete="off",
    )  # fmt: skip
    selects = [
        _select("origin", "Origin", [(name, name) for name in choices.origins], values),
        _select("trust", "Trust", choices.levels, values),
        _select("user", "User", [(name, name) for name in choices.users], values),
        _select("age", "Age", [(age, age) for age in AGES], values),
        _select("conflict", "Conflict", list(CONFLICTS.items()), values),
        _select("sort", "Order", list(SORTS.items()), values, placeholder=None),
    ]
    clear = None
    if chosen.is_active or "sort" in values:
        clear = h.a("Clear", href=visit.url("/review"), class_="button")
    press = h.button("Show", type="submit", class_="button main")
    return search_form(
        visit,
        "/review",
        h.div(h.div(field("Search", line, id_="q"), class_="grow"), press, clear, class_="row end"),
        h.details(
            h.summary("Filter and order"),
            h.div(selects, class_="selects"),
            open=bool(values.keys() - {"q"}),
        ),
        class_="card filters",
        role="search",
        aria_label="Filters",
    )


def _select(
    name: str,
    label: str,
    choices: Sequence[tuple[str, str]],
    values: Mapping[str, str],
    placeholder: str | None = "any",
) -> Html:
    every = [*([("", placeholder)] if placeholder else []), *choices[:_CHOICES]]
    options = [
        h.option(one_line(text, _NAME), value=value, selected=value == values.get(name, ""))
        for value, text in every
    ]
    return field(label, h.select(options, name=name, id=name), id_=name)


def _pages(visit: Visit, chosen: ReviewFilter, number: int, last: int) -> Html | None:
    if last == 1:
        return None
    query = filter_query(chosen)
    links: list[Piece] = []
    if number > 1:
        before = visit.url("/review", page=number - 1, **query)
        links.append(h.a("Before", href=before, class_="button", rel="prev"))
    links.append(h.span(f"Page {number} of {last}", class_="quiet"))
    if number < last:
        after = visit.url("/review", page=number + 1, **query)
        links.append(h.a("Next", href=after, class_="button", rel="next"))
    return h.nav(links, class_="pages", aria_label="Pages of what waits")


# Decisions.


async def decided(visit: Visit) -> Response:
    """Carry out a decision about one statement, or about one entry of it."""
    done = await decide(visit)
    invalidate(visit)
    chosen = ReviewFilter.of(visit)
    anchor, number = await _next_card(visit, chosen)
    page_number = number if number > 1 else None
    query = filter_query(chosen)
    answer = visit.redirect("/review", done.message, done.undo, page=page_number, **query)
    if anchor:
        answer.headers["location"] += f"#{anchor}"
    return answer


async def bulk(visit: Visit) -> Response:
    """Carry out a decision about all marked statements."""
    done = await decide_all(visit)
    invalidate(visit)
    query = filter_query(ReviewFilter.of(visit))
    number = number_in(visit.form.get("page")) or 1
    page_number = number if number > 1 else None
    return visit.redirect("/review", done.message, done.undo, page=page_number, **query)


async def _next_card(visit: Visit, chosen: ReviewFilter) -> tuple[str, int]:
    """Return the card that the review continues with, and its page.

    It is the statement that is now at the position of the decided one.
    """
    position = number_in(visit.form.get("place"))
    fitting = chosen.select((await load_queue(visit)).groups)
    if position is None or not fitting:
        return "", 1
    position = min(position, len(fitting) - 1)
    return fitting[position].anchor, position // visit.limits.groups + 1


# A statement to its end.


async def read(visit: Visit) -> Response:
    """Show a long statement to its end, with the decisions below it."""
    queue = await load_queue(visit)
    group = next((item for item in queue.groups if item.key == visit.param("key")), None)
    if group is None:
        raise EntryMissing("This statement was decided, or has changed; go back to the queue.")
    chosen = ReviewFilter.of(visit)
    matching = chosen.select(queue.groups)
    position = matching.index(group) if group in matching else 0
    rule = approval_rule(visit, group.entries)
    context = CardContext(position, chosen, rule, is_whole=True, read_only=visit.site.read_only)
    if visit.param("entry"):
        return _read_entry(visit, group, context)
    rivals = await load_rivals(visit, queue.groups, [group])
    title_id = f"{group.anchor}-title"
    return page(
        visit,
        "One statement",
        h.p(h.a("Back to the queue", href=visit.url("/review", **filter_query(chosen)))),
        h.section(
            h.h2("The whole text", id=title_id),
            h.div(tags(visit, group), class_="tags"),
            statement(visit, group, context),
            conflicts(visit, group, rivals, context),
            None if visit.site.read_only else actions(visit, group, context),
            evidence(visit, group, context),
            id=group.anchor,
            class_="group card",
            tabindex="-1",
            aria_labelledby=title_id,
        ),
    )


def _read_entry(visit: Visit, group: ReviewGroup, context: CardContext) -> Response:
    """Show the wording of one entry to its end, with a form to approve it."""
    entry = next((item for item in group.every_entry if item.id == visit.param("entry")), None)
    if entry is None:
        raise EntryMissing("This entry is not in the group anymore; go back to the queue.")
    text = insight_of_entry(group.insight, entry).summary
    approve = None
    if not (visit.site.read_only or approval_rule(visit, [entry]).why):
        approve = decision_form(
            visit,
            group,
            CardContext(context.position, context.chosen, context.rule),
            "approve-entry",
            hidden("entry", entry.id),
            hidden("read", visit.site.keys.read_proof(visit.session, text)),
            h.button("Approve this one", type="submit", class_="button main"),
        )
    return page(
        visit,
        "One entry of a statement",
        h.p(h.a("Back to the queue", href=visit.url("/review", **filter_query(context.chosen)))),
        h.div(body(text, len(text), kind="statement"), approve, class_="card"),
    )


# All marked statements.


def _bulk(visit: Visit, chosen: ReviewFilter, number: int) -> Html:
    all_ = h.label(h.input(type="checkbox", id="mark-all"), " Mark all", class_="pick with-script")
    line = h.input(type="text", name="reason", id="bulk-reason", maxlength=1000, autocomplete="off")
    propose = None
    if visit.memory.parts.policy.four_eyes:
        propose = h.button(
            "Propose marked", type="submit", name="do", value="propose", class_="button"
        )
    buttons = [
        h.button("Approve marked", type="submit", name="do", value="approve", class_="button main"),
        propose,
        h.button("Reject marked", type="submit", name="do", value="reject", class_="button bad"),
    ]
    reason = h.div(field("Reason for a rejection", line, id_="bulk-reason"), class_="grow")
    title = h.h2("All marked statements at once", class_="visually-hidden", id="bulk-title")
    bulk_form = form(
        visit,
        "/review/bulk",
        title,
        hidden("page", number),
        filter_fields(chosen),
        h.div(all_, reason, buttons, class_="row end"),
        id="bulk",
        aria_labelledby="bulk-title",
    )
    return h.div(bulk_form, class_="bulk")


def _policy(policy: PromotionPolicy) -> Html | None:
    rules = []
    if policy.approval:
        rules.append("A person has to approve.")
    if policy.four_eyes:
        rules.append("Proposers cannot approve.")
    if policy.corroboration:
        rules.append(f"{policy.corroboration} independent origins have to agree.")
    if policy.min_trust:
        rules.append(f"The trust must be at least {TRUST[policy.min_trust]!r}.")
    return h.div(h.p("The policy: ", " ".join(rules)), class_="notice warn") if rules else None


SECTION = Section(
    "Review",
    "/review",
    {"/review": review, "/review/read": read},
    {"/review/decide": decided, "/review/bulk": bulk},
    shows_waiting=True,
)

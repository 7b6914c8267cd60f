"""Review: the statements in quarantine, one card for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from starlette.responses import Response

from memoryware.inspector._layout import button, empty, field, form, hidden, page
from memoryware.inspector._markup import Html, Piece, body, h, one_line, plural, trust, when
from memoryware.inspector._pages.record import origin_tag
from memoryware.inspector._queries import by_ids, invalidate
from memoryware.inspector._review_queue import (
    ReviewGroup,
    ReviewQueue,
    anchor_of,
    decide,
    decide_all,
    load_queue,
)
from memoryware.inspector._site import Section, Visit, number_in
from memoryware.tiers import Entry, PromotionPolicy
from memoryware.tiers.actors import DecisionActor

_EVIDENCE: Final = 20
"""How many entries of a group are shown."""
_NAME: Final = 60
_FILTERS: Final = ("origin", "trust", "user", "age")
_AGES: Final[dict[str, int]] = {
    "the last day": 1,
    "the last week": 7,
    "older than a week": -7,
    "older than a month": -30,
}
"""Days since an entry was recorded: at most this many; if negative, at least this many."""
_CHOICES: Final = 100
"""How many origins and users a filter offers."""


@dataclass(frozen=True)
class ApprovalRule:
    """What the policy requires before an approval.

    Attributes:
        why: The reason why it cannot be approved now; "" if it can.
        propose: Whether proposing it is the next step.
    """

    why: str = ""
    propose: bool = False


async def review(visit: Visit) -> Response:
    """Show a page of the review queue, with filters."""
    waiting = await load_queue(visit, fresh=bool(visit.param("fresh")))
    again = h.a("Refresh", href=visit.url("/review", fresh="1"))
    older = plural(waiting.older, "older entry", "older entries") if waiting.older else ""
    if not waiting.groups:
        text = "Nothing to review. What agents record appears here."
        if older:
            text = (
                f"Nothing newer to review. Before queue_days: {older}; clear that limit to see"
                " them."
            )
        return page(visit, "Review", empty(text, h.p(again)))
    matching = [group for group in waiting.groups if _fits(visit, group)]
    size = visit.limits.groups
    last = max(1, -(-len(matching) // size))
    number = min(max(1, number_in(visit.param("page")) or 1), last)
    shown = matching[(number - 1) * size : number * size]
    statements = plural(len(waiting.groups), "statement")
    wait = "waits" if waiting.waiting == 1 else "wait"
    text = f"{plural(waiting.waiting, 'entry', 'entries')} {wait}, with {statements} to review. "
    if len(matching) < len(waiting.groups):
        text += f"{plural(len(matching), 'statement')} of these match the filters. "
    if waiting.more:
        text += f"{waiting.more:,} older entries wait behind them. "
    if older:
        text += f"Before queue_days: {older}; clear that limit to see them. "
    first = (number - 1) * size
    texts = await _texts(visit, waiting, shown)
    cards = [_card(visit, group, position, texts) for position, group in enumerate(shown, first)]
    bulk = None if visit.site.read_only else _bulk(visit)
    intro = h.p(text, again, class_="quiet")
    rules = _policy(visit.memory.parts.policy)
    filters, pages = _filters(visit, waiting), _pages(visit, number, last)
    none = None if matching else empty("Nothing in the queue matches these filters.")
    return page(visit, "Review", intro, filters, rules, none, cards, pages, bulk)


async def _texts(
    visit: Visit, waiting: ReviewQueue, shown: Sequence[ReviewGroup]
) -> dict[str, str]:
    """Return the texts that contradict groups, by the id of the insight or memory."""
    texts = {group.insight.id: group.insight.summary for group in waiting.groups}
    ids = tuple({id_ for group in shown for id_ in group.insight.contradicts})
    records = await by_ids(visit, ids)
    return texts | {id_: record.content for id_, (_, record) in records.items()}


def _filter_query(visit: Visit) -> dict[str, str]:
    """Return the filters of the URL, or of the submitted form."""
    values = {name: visit.param(name) or visit.form.get(name) for name in _FILTERS}
    return {name: value for name, value in values.items() if value}


def _fits(visit: Visit, group: ReviewGroup) -> bool:
    insight, entries = group.insight, (*group.entries, *group.repeats)
    chosen = _filter_query(visit)
    if "trust" in chosen and insight.provenance.trust.name.lower() != chosen["trust"]:
        return False
    days = _AGES.get(chosen.get("age", ""))
    now = visit.memory.parts.clock()
    return any(
        ("origin" not in chosen or chosen["origin"] in map(str, entry.provenance.roots))
        and ("user" not in chosen or entry.scope.user_id == chosen["user"])
        and (days is None or (now - entry.created_at <= timedelta(days=abs(days))) is (days > 0))
        for entry in entries
    )


def _filters(visit: Visit, waiting: ReviewQueue) -> Html | None:
    entries = [entry for group in waiting.groups for entry in (*group.entries, *group.repeats)]
    origins = sorted({str(root) for entry in entries for root in entry.provenance.roots})
    users = sorted({entry.scope.user_id for entry in entries if entry.scope.user_id})
    levels = sorted({group.insight.provenance.trust for group in waiting.groups}, reverse=True)
    chosen = _filter_query(visit)
    selects = [
        _select(
            "origin", "Origin", [("", "any"), *((origin, origin) for origin in origins)], chosen
        ),
        _select(
            "trust",
            "Trust",
            [("", "any"), *((level.name.lower(), level.name.lower()) for level in levels)],
            chosen,
        ),
        _select("user", "User", [("", "any"), *((user, user) for user in users)], chosen),
        _select("age", "Age", [("", "any"), *((age, age) for age in _AGES)], chosen),
    ]
    inner = h.div(selects, h.button("Show", type="submit", class_="button"), class_="row end")
    action = visit.url("/review")
    filter_form = h.form(inner, method="get", action=action, class_="filters", aria_label="Filters")
    return h.details(h.summary("Filter"), filter_form, open=bool(chosen))


def _select(name: str, label: str, choices: list[tuple[str, str]], chosen: dict[str, str]) -> Html:
    options = [
        h.option(one_line(text, _NAME), value=value, selected=value == chosen.get(name, ""))
        for value, text in choices[:_CHOICES]
    ]
    return field(label, h.select(options, name=name, id=name), id_=name)


def _pages(visit: Visit, number: int, last: int) -> Html | None:
    if last == 1:
        return None
    query = _filter_query(visit)
    links: list[Piece] = []
    if number > 1:
        before = visit.url("/review", page=number - 1, **query)
        links.append(h.a("Before", href=before, class_="button"))
    links.append(h.span(f"Page {number} of {last}", class_="quiet"))
    if number < last:
        after = visit.url("/review", page=number + 1, **query)
        links.append(h.a("Next", href=after, class_="button"))
    return h.nav(links, class_="pages", aria_label="Pages of what waits")


async def decided(visit: Visit) -> Response:
    """Carry out a decision about one group."""
    done = await decide(visit)
    invalidate(visit)
    next_one, number = await _after(visit)
    page_number = number if number > 1 else None
    answer = visit.redirect("/review", done.message, page=page_number, **_filter_query(visit))
    if next_one:
        answer.headers["location"] += f"#{next_one}"
    return answer


async def bulk(visit: Visit) -> Response:
    """Carry out a decision about all marked groups."""
    message = await decide_all(visit)
    invalidate(visit)
    return visit.redirect("/review", message)


async def _after(visit: Visit) -> tuple[str, int]:
    """Return the card that the review continues with, and its page.

    It is the group that is now at the position of the decided one.
    """
    position = number_in(visit.form.get("place"))
    fitting = [group for group in (await load_queue(visit)).groups if _fits(visit, group)]
    if position is None or not fitting:
        return "", 1
    position = min(position, len(fitting) - 1)
    return fitting[position].anchor, position // visit.limits.groups + 1


# One group.


def _card(visit: Visit, group: ReviewGroup, position: int, texts: Mapping[str, str]) -> Html:
    count = len(group.entries) + len(group.repeats)
    title = "1 entry" if count == 1 else f"{count} entries say the same"
    mark = None
    if not visit.site.read_only:
        box = h.input(type="checkbox", name="group", value=group.key, form="bulk", data_key="x")
        mark = h.label(box, " Mark", class_="pick")
    head = h.header(h.h2(title, id=f"{group.anchor}-title"), mark)
    return h.section(
        head,
        h.div(_tags(visit, group), class_="tags"),
        body(group.insight.summary, visit.limits.text_chars, _whole(visit, group)),
        _conflicts(visit, group, texts),
        _evidence(visit, group, position),
        None if visit.site.read_only else _actions(visit, group, position),
        id=group.anchor,
        class_="group card",
        tabindex="-1",
        aria_labelledby=f"{group.anchor}-title",
    )


def _whole(visit: Visit, group: ReviewGroup) -> str | None:
    if len(group.entries) != 1:
        return None
    return visit.url("/memories/text", id=group.entries[0].id)


def _tags(visit: Visit, group: ReviewGroup) -> list[Piece]:
    provenance = group.insight.provenance
    roots = [origin_tag(visit, str(root)) for root in provenance.roots]
    tags: list[Piece] = [trust(provenance.trust), *roots]
    if not group.insight.extractive:
        tags.append(h.span("summary by a model", class_="tag trust-unverified"))
    proposers = sorted({name for entry in group.entries for name in entry.all_proposers})
    tags += [
        h.a(
            f"was replaced on {replaced.at:%Y-%m-%d}",
            href=visit.url("/memories/one", id=replaced.memory_id),
            class_="tag trust-unverified",
        )
        for replaced in group.insight.replaced
    ]
    tags += [h.span("proposed by ", one_line(name, _NAME), class_="tag") for name in proposers]
    return tags


def _conflicts(visit: Visit, group: ReviewGroup, texts: Mapping[str, str]) -> Html | None:
    """Return the texts that contradict a group, in quarantine and in long-term memory."""
    insight = group.insight
    items: list[Html] = []
    for ids, label in (
        (insight.conflicts_with, "Also in quarantine: "),
        (insight.contradicts, "In long-term memory: "),
    ):
        for id_ in (id_ for id_ in ids if id_ in texts):
            is_memory = ids is insight.contradicts
            href = visit.url("/memories/one", id=id_) if is_memory else f"#{anchor_of(id_)}"
            text = one_line(texts[id_], visit.limits.line_chars)
            items.append(h.li(label, h.a(text, href=href)))
    if not items:
        return None
    return h.div(h.p(h.strong("In conflict")), h.ul(items), class_="notice warn")


def _evidence(visit: Visit, group: ReviewGroup, position: int) -> Html:
    entries = (*group.entries, *group.repeats)
    items = [_entry(visit, entry, group, position) for entry in entries[:_EVIDENCE]]
    more = len(entries) - len(items)
    rest = (
        h.p(f"and {plural(more, 'more entry', 'more entries')}", class_="quiet") if more else None
    )
    return h.details(
        h.summary(f"Evidence: {plural(len(entries), 'entry', 'entries')}"),
        h.ul(items, class_="evidence"),
        rest,
    )


def _entry(visit: Visit, entry: Entry, group: ReviewGroup, position: int) -> Html:
    link = h.a("Show this entry", href=visit.url("/memories/one", id=entry.id))
    facts: list[Piece] = ["recorded ", when(entry.created_at)]
    for name, value in (
        ("by", str(entry.provenance.origin)),
        ("for user", entry.scope.user_id),
        ("in session", entry.scope.session_id),
        ("not in working memory:", (entry.refused or "").replace("_", " ")),
    ):
        if value:
            facts += [f", {name} ", one_line(value, _NAME)]
    check = None
    if entry.verdict is not None:
        verdict = "confirmed" if entry.verdict.verified else "refuted"
        check = h.p(f"A fact check {verdict} it.", class_="quiet")
    whole = visit.url("/memories/text", id=entry.id)
    is_shown = entry.content.strip() == group.insight.summary.strip()
    text = None if is_shown else body(entry.content, visit.limits.text_chars, whole)
    apart = None
    if len(group.entries) + len(group.repeats) > 1 and not visit.site.read_only:
        press = button("Take out of this group", kind="link")
        apart = _form(visit, group, position, "ungroup", hidden("entry", entry.id), press)
    return h.li(h.p(facts, ". ", link, class_="quiet"), check, text, apart)


# Actions.


def _actions(visit: Visit, group: ReviewGroup, position: int) -> Html:
    rule = approval_rule(visit, group.entries)
    title_id = f"{group.anchor}-title"
    if rule.why and not rule.propose:
        main_button = h.button(
            "Approve", class_="button", disabled=True, aria_describedby=f"{group.anchor}-why"
        )
    else:
        do = "propose" if rule.propose else "approve"
        press = button(do.capitalize(), kind="main", data_key="a", aria_describedby=title_id)
        main_button = _form(visit, group, position, do, press)
    why = h.p(rule.why, class_="quiet", id=f"{group.anchor}-why") if rule.why else None
    edit = None if rule.why and not rule.propose else _edit(visit, group, position, rule)
    return h.div(why, h.div(main_button, edit, _reject(visit, group, position), class_="choices"))


def approval_rule(visit: Visit, entries: Sequence[Entry]) -> ApprovalRule:
    """Return what the policy requires before this visitor can approve."""
    policy, actor = visit.memory.parts.policy, DecisionActor.of(visit.by)
    if policy.approval and not actor.is_person:
        return ApprovalRule("A person has to approve this; you act as an agent.")
    if not policy.four_eyes:
        return ApprovalRule()
    if not all(entry.all_proposers for entry in entries):
        return ApprovalRule("Propose it first; another person has to approve it.", propose=True)
    if any(actor.is_same(name) for entry in entries for name in entry.all_proposers):
        return ApprovalRule("You proposed this, so another person has to approve it.")
    return ApprovalRule()


def _form(visit: Visit, group: ReviewGroup, position: int, action: str, *content: Piece) -> Html:
    return form(
        visit,
        "/review/decide",
        hidden("do", action),
        hidden("group", group.key),
        hidden("place", position),
        hidden("back", "/review"),
        [hidden(name, value) for name, value in _filter_query(visit).items()],
        content,
    )


def _edit(visit: Visit, group: ReviewGroup, position: int, rule: ApprovalRule) -> Html | None:
    text, id_ = group.insight.summary, f"{group.anchor}-text"
    if len(text) > visit.limits.edit_chars:
        return None
    area = h.textarea("\n", text, name="text", id=id_, rows=6, required=True)
    label = "Propose this text" if rule.propose else "Approve this text"
    do = "propose" if rule.propose else "edit"
    content = (field("Text", area, id_=id_), button(label, kind="main"))
    return h.details(
        h.summary("Edit", data_key="e", class_="button"),
        _form(visit, group, position, do, *content),
    )


def _reject(visit: Visit, group: ReviewGroup, position: int) -> Html:
    id_ = f"{group.anchor}-reason"
    line = h.input(type="text", name="reason", id=id_, maxlength=1000, autocomplete="off")
    content = (
        field("Reason", line, id_=id_, hint="Optional; stored with the entry."),
        button("Reject", kind="bad"),
    )
    return h.details(
        h.summary("Reject", data_key="r", class_="button bad"),
        _form(visit, group, position, "reject", *content),
    )


def _bulk(visit: Visit) -> Html:
    all_ = h.label(h.input(type="checkbox", id="mark-all"), " Mark all", class_="pick with-script")
    line = h.input(type="text", name="reason", id="bulk-reason", maxlength=1000, autocomplete="off")
    do = "propose" if visit.memory.parts.policy.four_eyes else ""
    buttons = [
        h.button("Approve marked", type="submit", name="do", value="approve", class_="button main"),
        h.button("Propose marked", type="submit", name="do", value=do, class_="button")
        if do
        else None,
        h.button("Reject marked", type="submit", name="do", value="reject", class_="button bad"),
    ]
    reason = h.div(field("Reason for a rejection", line, id_="bulk-reason"), class_="grow")
    inner = h.div(all_, reason, buttons, class_="row end")
    title = h.h2("All marked groups at once", class_="visually-hidden", id="bulk-title")
    bulk_form = form(visit, "/review/bulk", title, inner, id="bulk", aria_labelledby="bulk-title")
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
        rules.append(f"The trust must be at least {policy.min_trust.name}.")
    return h.div(h.p("The policy: ", " ".join(rules)), class_="notice warn") if rules else None


SECTION = Section(
    "Review",
    "/review",
    {"/review": review},
    {"/review/decide": decided, "/review/bulk": bulk},
)

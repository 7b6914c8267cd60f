"""The review queue: what waits in quarantine, in groups that say the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from starlette.responses import Response

from memoryware.inspector.deciding import decide, many_at_once
from memoryware.inspector.keeping import changed
from memoryware.inspector.layout import button, empty, field, form, hidden, page
from memoryware.inspector.lineage import origin_tag
from memoryware.inspector.markup import Html, Piece, h
from memoryware.inspector.queue import Group, queue
from memoryware.inspector.site import Section, Visit, number_in
from memoryware.inspector.texts import body, many, one_line, trust, when
from memoryware.tiers.actors import Actor
from memoryware.tiers.policy import PromotionPolicy
from memoryware.tiers.records import Entry

_EVIDENCE: Final = 20
"""Entries of a group that are shown."""
_NAME: Final = 60


@dataclass(frozen=True)
class Rule:
    """What stands against an approval, as far as it can be said beforehand.

    Attributes:
        why: In words; "" if nothing does.
        propose: Whether proposing it is the next step.
    """

    why: str = ""
    propose: bool = False


async def review(visit: Visit) -> Response:
    """Show what waits."""
    waiting = await queue(visit, fresh=bool(visit.asked("fresh")))
    again = h.a("Look again", href=visit.url("/review", fresh="1"))
    if not waiting.groups:
        said = "Nothing waits for a decision. What agents record comes here."
        return page(visit, "Review", empty(said, h.p(again)))
    shown = waiting.groups[: visit.limits.groups]
    groups = many(len(waiting.groups), "group")
    entries = many(sum(len(one.entries) for one in waiting.groups), "entry", "entries")
    said = f"{entries} in {groups}. "
    if len(shown) < len(waiting.groups):
        said += f"The first {len(shown)} are here; the next come up as these are decided. "
    if waiting.more:
        said += f"{waiting.more:,} older entries wait behind them. "
    cards = [_card(visit, one, place) for place, one in enumerate(shown)]
    bulk = None if visit.site.read_only else _bulk(visit)
    intro = h.p(said, again, class_="quiet")
    return page(visit, "Review", intro, _policy(visit.memory.parts.policy), cards, bulk)


async def decided(visit: Visit) -> Response:
    """Do what a reviewer has decided about one group."""
    done = await decide(visit)
    changed(visit)
    next_one = await _after(visit)
    answer = visit.go("/review", done.said)
    if next_one:
        answer.headers["location"] += f"#{next_one}"
    return answer


async def bulk(visit: Visit) -> Response:
    """Do the same with all marked groups."""
    said = await many_at_once(visit)
    changed(visit)
    return visit.go("/review", said)


async def _after(visit: Visit) -> str:
    """Return where a reviewer goes on: the group that stands now where the decided one stood."""
    place = number_in(visit.form.one("place"))
    waiting = (await queue(visit)).groups[: visit.limits.groups]
    if place is None or not waiting:
        return ""
    return waiting[min(place, len(waiting) - 1)].anchor


# One group.


def _card(visit: Visit, group: Group, place: int) -> Html:
    count = len(group.entries)
    title = "1 entry" if count == 1 else f"{count} entries about the same"
    mark = None
    if not visit.site.read_only:
        box = h.input(type="checkbox", name="group", value=group.key, form="bulk", data_key="x")
        mark = h.label(box, " Mark", class_="pick")
    head = h.header(h.h2(title, id=f"{group.anchor}-title"), mark)
    return h.section(
        head,
        h.div(_tags(visit, group), class_="tags"),
        body(group.insight.summary, visit.limits.text_chars, _whole(visit, group)),
        _evidence(visit, group),
        None if visit.site.read_only else _actions(visit, group, place),
        id=group.anchor,
        class_="group card",
        tabindex="-1",
        aria_labelledby=f"{group.anchor}-title",
    )


def _whole(visit: Visit, group: Group) -> str | None:
    if len(group.entries) != 1:
        return None
    return visit.url("/memories/text", id=group.entries[0].id)


def _tags(visit: Visit, group: Group) -> list[Piece]:
    made = group.insight.provenance
    roots = [origin_tag(visit, str(one)) for one in made.roots]
    tags: list[Piece] = [trust(made.trust), *roots]
    if not group.insight.extractive:
        tags.append(h.span("summary by a model", class_="tag trust-unverified"))
    proposers = sorted({name for one in group.entries for name in one.all_proposers})
    tags += [h.span("proposed by ", one_line(one, _NAME), class_="tag") for one in proposers]
    return tags


def _evidence(visit: Visit, group: Group) -> Html:
    items = [_entry(visit, one, alone=len(group.entries) == 1) for one in group.entries[:_EVIDENCE]]
    more = len(group.entries) - len(items)
    said = h.p(f"and {many(more, 'more entry', 'more entries')}", class_="quiet") if more else None
    return h.details(
        h.summary(f"Evidence: {many(len(group.entries), 'entry', 'entries')}"),
        h.ul(items, class_="evidence"),
        said,
    )


def _entry(visit: Visit, entry: Entry, *, alone: bool) -> Html:
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
    verdict = None
    if entry.verdict is not None:
        held = "held" if entry.verdict.verified else "did not hold"
        verdict = h.p(f"A check of facts said that it {held}.", class_="quiet")
    whole = visit.url("/memories/text", id=entry.id)
    text = None if alone else body(entry.content, visit.limits.text_chars, whole)
    return h.li(h.p(facts, ". ", link, class_="quiet"), verdict, text)


# What can be done with it.


def _actions(visit: Visit, group: Group, place: int) -> Html:
    rule = rule_for(visit, group.entries)
    who = f"{group.anchor}-title"
    if rule.why and not rule.propose:
        first = h.button(
            "Approve", class_="button", disabled=True, aria_describedby=f"{group.anchor}-why"
        )
    else:
        do = "propose" if rule.propose else "approve"
        press = button(do.capitalize(), kind="main", data_key="a", aria_describedby=who)
        first = _form(visit, group, place, do, press)
    why = h.p(rule.why, class_="quiet", id=f"{group.anchor}-why") if rule.why else None
    edit = None if rule.why and not rule.propose else _edit(visit, group, place, rule)
    return h.div(why, h.div(first, edit, _reject(visit, group, place), class_="choices"))


def rule_for(visit: Visit, entries: Sequence[Entry]) -> Rule:
    """Return what the policy says against an approval by this visitor."""
    policy, actor = visit.memory.parts.policy, Actor.of(visit.by)
    if policy.approval and not actor.is_person:
        return Rule("A person has to approve this, and you act as an agent.")
    if not policy.four_eyes:
        return Rule()
    if not all(one.all_proposers for one in entries):
        return Rule("Somebody proposes it first, and somebody else approves.", propose=True)
    if any(actor.is_same(name) for one in entries for name in one.all_proposers):
        return Rule("You proposed this, so somebody else has to approve it.")
    return Rule()


def _form(visit: Visit, group: Group, place: int, do: str, *content: Piece) -> Html:
    return form(
        visit,
        "/review/decide",
        hidden("do", do),
        hidden("group", group.key),
        hidden("place", place),
        hidden("back", "/review"),
        content,
    )


def _edit(visit: Visit, group: Group, place: int, rule: Rule) -> Html | None:
    text, id_ = group.insight.summary, f"{group.anchor}-text"
    if len(text) > visit.limits.edit_chars:
        return None
    area = h.textarea("\n", text, name="text", id=id_, rows=6, required=True)
    label = "Propose this text" if rule.propose else "Approve this text"
    do = "propose" if rule.propose else "edit"
    content = (field("Text", area, id_=id_), button(label, kind="main"))
    return h.details(
        h.summary("Edit", data_key="e", class_="button"), _form(visit, group, place, do, *content)
    )


def _reject(visit: Visit, group: Group, place: int) -> Html:
    id_ = f"{group.anchor}-reason"
    line = h.input(type="text", name="reason", id=id_, maxlength=1000, autocomplete="off")
    content = (
        field("Reason", line, id_=id_, hint="Optional; who reads the entry later sees it."),
        button("Reject", kind="bad"),
    )
    return h.details(
        h.summary("Reject", data_key="r", class_="button bad"),
        _form(visit, group, place, "reject", *content),
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
    made = form(visit, "/review/bulk", title, inner, id="bulk", aria_labelledby="bulk-title")
    return h.div(made, class_="bulk")


def _policy(policy: PromotionPolicy) -> Html | None:
    rules = []
    if policy.approval:
        rules.append("A person has to approve.")
    if policy.four_eyes:
        rules.append("Who proposes cannot approve.")
    if policy.corroboration:
        rules.append(f"{policy.corroboration} independent origins have to say the same.")
    if policy.min_trust:
        rules.append(f"The trust has to be {policy.min_trust.name} at least.")
    return h.div(h.p("The policy: ", " ".join(rules)), class_="notice warn") if rules else None


SECTION = Section(
    "Review",
    "/review",
    {"/review": review},
    {"/review/decide": decided, "/review/bulk": bulk},
)

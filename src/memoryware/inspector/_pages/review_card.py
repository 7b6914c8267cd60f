"""One statement of the review queue: its text, its conflicts, its entries, and the decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from memoryware.inspector._compare import word_marks
from memoryware.inspector._decisions import is_cut
from memoryware.inspector._layout import button, field, form, hidden
from memoryware.inspector._markup import Html, Piece, body, h, one_line, plural, trust, when
from memoryware.inspector._pages.record import by_trust, origin_tag
from memoryware.inspector._queries import by_ids
from memoryware.inspector._review_filters import ReviewFilter
from memoryware.inspector._review_queue import ReviewGroup
from memoryware.inspector._site import Visit
from memoryware.tiers import Entry, Memory, Provenance
from memoryware.tiers.actors import DecisionActor
from memoryware.tiers.model import FACT
from memoryware.tiers.proposals import insight_of_entry
from memoryware.tiers.wording import refused_label, verdict_label

_EVIDENCE: Final = 20
"""How many entries of a statement are shown."""
_RIVALS: Final = 5
"""How many texts in conflict are shown beside a statement."""
_ORIGINS: Final = 6
_NAME: Final = 60


# Texts in conflict.


@dataclass(frozen=True)
class Rival:
    """A text that contradicts a statement.

    Attributes:
        text: The text.
        provenance: Where it is from.
        since: Since when it holds, or when it was recorded.
        href: Its page or card.
        memory_id: Its id in long-term memory; "" in quarantine.
        promoted_by: Who approved it.
    """

    text: str
    provenance: Provenance
    since: datetime
    href: str
    memory_id: str = ""
    promoted_by: str = ""


Rivals = Mapping[str, Rival]
"""Texts in conflict, by the id of the insight or memory."""


async def load_rivals(
    visit: Visit, groups: Sequence[ReviewGroup], shown: Sequence[ReviewGroup]
) -> Rivals:
    """Return the texts that contradict the statements of a page, with one read.

    Args:
        visit: The request.
        groups: The queue.
        shown: The statements of the page.

    Returns:
        The texts.
    """
    rival_ids = {id_ for group in shown for id_ in group.insight.conflicts_with}
    rivals = {
        group.insight.id: Rival(
            group.insight.summary,
            group.insight.provenance,
            max(entry.created_at for entry in group.every_entry),
            f"#{group.anchor}" if group in shown else visit.url("/review/read", key=group.key),
        )
        for group in groups
        if group.insight.id in rival_ids
    }
    records = await by_ids(visit, tuple({id_ for group in shown for id_ in rival_memories(group)}))
    for id_, (_, record) in records.items():
        rivals[id_] = Rival(
            record.content,
            record.provenance,
            record.valid_from if isinstance(record, Memory) else record.created_at,
            visit.url("/memories/one", id=id_),
            id_,
            record.promoted_by if isinstance(record, Memory) else "",
        )
    return rivals


def rival_memories(group: ReviewGroup) -> tuple[str, ...]:
    """Return the memories that contradict a statement, or that its approval would end."""
    asks = group.asks_for
    ids = (*(asks.against if asks else ()), *group.insight.contradicts)
    return tuple(dict.fromkeys(ids))


def conflicts(
    visit: Visit, group: ReviewGroup, rivals: Rivals, context: CardContext
) -> Html | None:
    """Return the texts in conflict with a statement, each beside it.

    Args:
        visit: The request.
        group: The statement.
        rivals: The texts in conflict.
        context: Where the card is.

    Returns:
        The comparisons; None without a conflict.
    """
    ids = [id_ for id_ in (*rival_memories(group), *group.insight.conflicts_with) if id_ in rivals]
    if not ids:
        return None
    pairs = [_pair(visit, group, rivals[id_], context) for id_ in ids[:_RIVALS]]
    more = len(ids) - len(pairs)
    rest = h.p(f"and {plural(more, 'more text')} in conflict", class_="quiet") if more else None
    asks = group.asks_for
    label = "Asks to forget" if asks and asks.removes else "In conflict"
    title = h.h3(label, id=f"{group.anchor}-conflict")
    return h.div(title, pairs, rest, class_="conflict")


def _pair(visit: Visit, group: ReviewGroup, rival: Rival, context: CardContext) -> Html:
    chars, insight = visit.limits.review_chars, group.insight
    recorded = max(entry.created_at for entry in group.every_entry)
    old, new = word_marks(rival.text[:chars], insight.summary[:chars])
    label = "In long-term memory" if rival.memory_id else "Also in quarantine"
    facts: list[Piece] = ["since " if rival.memory_id else "recorded ", when(rival.since)]
    if rival.promoted_by:
        facts += [", promoted by ", one_line(rival.promoted_by, _NAME)]
    replace_form = None
    may_replace = rival.memory_id in insight.contradicts and group.asks_for is None
    if may_replace and context.can_decide and not is_cut(visit, insight.summary):
        replace_form = decision_form(
            visit,
            group,
            context,
            "replace",
            hidden("old", rival.memory_id),
            button("Replace the old text"),
        )
    return h.div(
        h.div(
            h.h4(h.a(label, href=rival.href)),
            h.p(old, class_="statement", dir="auto"),
            h.p(facts, class_="quiet"),
            h.p(_source(visit, rival.provenance), class_="tags"),
            class_="side",
        ),
        h.div(
            h.h4("This statement"),
            h.p(new, class_="statement", dir="auto"),
            h.p("recorded ", when(recorded), class_="quiet"),
            h.p(_source(visit, insight.provenance), class_="tags"),
            replace_form,
            class_="side",
        ),
        class_="pair",
    )


def _source(visit: Visit, provenance: Provenance) -> list[Piece]:
    """Return tags with the trust and the origins of a text."""
    roots = [origin_tag(visit, str(root)) for root in by_trust(provenance)[:_ORIGINS]]
    more = len(provenance.roots) - len(roots)
    return [trust(provenance.trust), roots, h.span(f"and {more} more") if more else None]


# The card.


@dataclass(frozen=True)
class ApprovalRule:
    """What the policy requires before an approval.

    Attributes:
        why: The reason why it cannot be approved now; "" if it can.
        propose: Whether proposing it is the next step.
    """

    why: str = ""
    propose: bool = False

    @property
    def is_open(self) -> bool:
        """Whether it can be approved or proposed."""
        return not self.why or self.propose


@dataclass(frozen=True)
class CardContext:
    """Where a card is, which its forms bring back.

    Attributes:
        position: The place of the statement in the filtered queue, from 0.
        chosen: The filter of the page.
        rule: What the policy requires.
        is_whole: Whether the page shows the statement to its end.
        read_only: Whether nothing can be decided.
    """

    position: int
    chosen: ReviewFilter
    rule: ApprovalRule
    is_whole: bool = False
    read_only: bool = False

    @property
    def can_decide(self) -> bool:
        """Whether there is a form to approve the statement."""
        return not self.read_only and not self.rule.why


def card(
    visit: Visit, group: ReviewGroup, position: int, rivals: Rivals, chosen: ReviewFilter
) -> Html:
    """Return the card of a statement.

    Args:
        visit: The request.
        group: The statement.
        position: Its place in the filtered queue, from 0.
        rivals: The texts in conflict.
        chosen: The filter of the page.

    Returns:
        The card.
    """
    read_only = visit.site.read_only
    rule = approval_rule(visit, group.entries)
    context = CardContext(position, chosen, rule, read_only=read_only)
    count = len(group.every_entry)
    title = "1 entry" if count == 1 else f"{count} entries say the same"
    mark = None
    if not read_only and not is_cut(visit, group.insight.summary):
        box = h.input(type="checkbox", name="group", value=group.key, form="bulk", data_key="x")
        mark = h.label(box, " Mark", class_="pick")
    number = h.span(f"Statement {position + 1}: ", class_="visually-hidden")
    return h.section(
        h.header(h.h2(number, title, id=f"{group.anchor}-title"), mark),
        statement(visit, group, context),
        h.div(tags(visit, group), class_="tags"),
        conflicts(visit, group, rivals, context),
        None if read_only else actions(visit, group, context),
        evidence(visit, group, context),
        id=group.anchor,
        class_="group card",
        tabindex="-1",
        aria_labelledby=f"{group.anchor}-title",
    )


def statement(visit: Visit, group: ReviewGroup, context: CardContext) -> Html:
    """Return the text of a statement; a long one is cut, unless the page is its own."""
    text = group.insight.summary
    if context.is_whole or not is_cut(visit, text):
        return body(text, len(text), kind="statement")
    lines = text[: visit.limits.review_chars].split("\n")[: visit.limits.review_lines]
    beginning = "\n".join(lines)
    note = f"The first {len(beginning):,} of {len(text):,} characters."
    return h.div(body(f"{beginning}\u2026", len(text), kind="statement"), h.p(note, class_="quiet"))


def tags(visit: Visit, group: ReviewGroup) -> list[Piece]:
    """Return the trust, the origins and the state of a statement as tags."""
    insight = group.insight
    items: list[Piece] = _source(visit, insight.provenance)
    if not insight.extractive:
        items.append(h.span("summary by a model", class_="tag trust-unverified"))
    verdicts = {entry.verdict.verified for entry in group.entries if entry.verdict is not None}
    items += [
        h.span(verdict_label(verified=verified), class_=f"tag verdict-{str(verified).lower()}")
        for verified in sorted(verdicts)
    ]
    items += [
        h.a(
            f"was replaced on {replaced.at:%Y-%m-%d}",
            href=visit.url("/memories/one", id=replaced.memory_id),
            class_="tag trust-unverified",
        )
        for replaced in insight.replaced
    ]
    if insight.personal:
        user = one_line(insight.scope.user_id or "", _NAME)
        items.append(h.span("for ", user, " alone, if approved", class_="tag"))
    items += _fact_tags(group)
    proposers = sorted({name for entry in group.entries for name in entry.all_proposers})
    items += [h.span("proposed by ", one_line(name, _NAME), class_="tag") for name in proposers]
    newest = max(entry.created_at for entry in group.every_entry)
    users = sorted({entry.scope.user_id for entry in group.every_entry if entry.scope.user_id})
    for_ = [" for ", one_line(", ".join(users[:3]), _NAME)] if users else []
    items.append(h.span("recorded ", when(newest), for_, class_="quiet"))
    return items


def _fact_tags(group: ReviewGroup) -> list[Piece]:
    """Return the kind, the subject and the confidence of a fact of the memory manager."""
    noted = (entry.metadata.get(FACT) for entry in group.entries)
    fact = next((details for details in noted if isinstance(details, Mapping)), None)
    if fact is None:
        return []
    confidence = group.entries[0].metadata.get("confidence")
    items: list[Piece] = [h.span(one_line(str(fact.get("kind", "fact")), _NAME), class_="tag")]
    if subject := fact.get("subject"):
        items.append(h.span("about ", one_line(str(subject), _NAME), class_="tag"))
    if isinstance(confidence, int | float):
        items.append(h.span(f"confidence {confidence:.0%}", class_="tag"))
    return items


# The entries of a statement.


def evidence(visit: Visit, group: ReviewGroup, context: CardContext) -> Html:
    """Return the entries that make a statement, each with its own decisions."""
    items = [_entry(visit, entry, group, context) for entry in group.every_entry[:_EVIDENCE]]
    count = len(group.every_entry)
    more = count - len(items)
    rest = (
        h.p(f"and {plural(more, 'more entry', 'more entries')}", class_="quiet") if more else None
    )
    return h.details(
        h.summary(f"Evidence: {plural(count, 'entry', 'entries')}"),
        h.ul(items, class_="evidence"),
        rest,
    )


def _entry(visit: Visit, entry: Entry, group: ReviewGroup, context: CardContext) -> Html:
    link = h.a("Show this entry", href=visit.url("/memories/one", id=entry.id))
    facts: list[Piece] = ["recorded ", when(entry.created_at)]
    for name, value in (
        ("by", str(entry.provenance.origin)),
        ("for user", entry.scope.user_id),
        ("in session", entry.scope.session_id),
        ("not in working memory:", refused_label(entry.refused) if entry.refused else ""),
    ):
        if value:
            facts += [f", {name} ", one_line(value, _NAME)]
    check = None
    if entry.verdict is not None:
        check = h.p(verdict_label(verified=entry.verdict.verified), class_="quiet")
    whole = visit.url("/memories/text", id=entry.id)
    is_shown = entry.content.strip() == group.insight.summary.strip()
    text = None if is_shown else body(entry.content, visit.limits.text_chars, whole)
    decisions = None
    if len(group.every_entry) > 1 and not visit.site.read_only:
        decisions = _entry_decisions(visit, entry, group, context)
    tags_ = h.p(_source(visit, entry.provenance), class_="tags")
    return h.li(h.p(facts, ". ", link, class_="quiet"), tags_, check, text, decisions)


def _entry_decisions(visit: Visit, entry: Entry, group: ReviewGroup, context: CardContext) -> Html:
    """Return the forms that decide about one entry, and leave the others of its group."""
    own = hidden("entry", entry.id)
    forms = []
    if not approval_rule(visit, [entry]).why:
        text = insight_of_entry(group.insight, entry).summary
        if is_cut(visit, text):
            href = visit.url("/review/read", key=group.key, entry=entry.id)
            forms.append(h.a("Read it to approve it", href=href, class_="button small"))
        else:
            press = button("Approve this one", kind="small")
            forms.append(decision_form(visit, group, context, "approve-entry", own, press))
    for action, label in (
        ("reject-entry", "Reject this one"),
        ("ungroup", "Take out of this group"),
    ):
        kind = "small bad" if action == "reject-entry" else "small"
        press = button(label, kind=kind)
        forms.append(decision_form(visit, group, context, action, own, press))
    return h.div(forms, class_="row")


# Actions.


def actions(visit: Visit, group: ReviewGroup, context: CardContext) -> Html:
    """Return the forms that decide about a statement."""
    rule, title_id = context.rule, f"{group.anchor}-title"
    must_read = is_cut(visit, group.insight.summary) and not context.is_whole
    edit = share = None
    if not rule.is_open:
        main: Html = h.button(
            "Approve", class_="button", disabled=True, aria_describedby=f"{group.anchor}-why"
        )
    elif must_read:
        href = visit.url("/review/read", key=group.key, **filter_query(context.chosen))
        main = h.a("Read it to decide", href=href, class_="button main", data_key="a")
    else:
        do = "propose" if rule.propose else "approve"
        label = "Propose" if rule.propose else _approve_label(group)
        press = button(label, kind="main", data_key="a", aria_describedby=title_id)
        main = decision_form(visit, group, context, do, press)
        if group.insight.personal and do == "approve":
            press = button("Approve for the group", aria_describedby=title_id)
            share = decision_form(visit, group, context, "share", press)
        edit = _edit(visit, group, context)
    why = h.p(rule.why, class_="quiet", id=f"{group.anchor}-why") if rule.why else None
    return h.div(why, h.div(main, share, edit, _reject(visit, group, context), class_="choices"))


def _approve_label(group: ReviewGroup) -> str:
    """Return what an approval does, in the words of its button."""
    asks = group.asks_for
    if asks is not None:
        if asks.removes and not asks.against:
            return "Approve, hide nothing"
        return "Approve, hide it" if asks.removes else "Approve, replace the old text"
    return "Approve, keep both" if group.insight.contradicts else "Approve"


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


def filter_query(chosen: ReviewFilter) -> dict[str, str]:
    """Return the parameters of a URL with the same filter."""
    return dict(chosen.values)


def filter_fields(chosen: ReviewFilter) -> list[Html]:
    """Return hidden fields that bring the filter back after a decision."""
    return [hidden(f"f-{name}", value) for name, value in chosen.values.items()]


def decision_form(
    visit: Visit, group: ReviewGroup, context: CardContext, action: str, *content: Piece
) -> Html:
    """Return a form that decides about a statement.

    Below a text that was shown to its end it has the proof of that, which the server asks for.
    """
    proof = None
    if context.is_whole:
        text = group.insight.summary
        proof = hidden("read", visit.site.keys.read_proof(visit.session, text))
    return form(
        visit,
        "/review/decide",
        hidden("do", action),
        hidden("group", group.key),
        hidden("place", context.position),
        hidden("back", "/review"),
        filter_fields(context.chosen),
        proof,
        content,
    )


def _edit(visit: Visit, group: ReviewGroup, context: CardContext) -> Html | None:
    text, id_ = group.insight.summary, f"{group.anchor}-text"
    if len(text) > visit.limits.edit_chars:
        return None
    area = h.textarea("\n", text, name="text", id=id_, rows=6, required=True)
    is_proposal = context.rule.propose
    label = "Propose this text" if is_proposal else "Approve this text"
    content = (field("Text", area, id_=id_), button(label, kind="main"))
    return h.details(
        h.summary("Edit", data_key="e", class_="button"),
        decision_form(visit, group, context, "propose" if is_proposal else "edit", *content),
    )


def _reject(visit: Visit, group: ReviewGroup, context: CardContext) -> Html:
    id_ = f"{group.anchor}-reason"
    line = h.input(type="text", name="reason", id=id_, maxlength=1000, autocomplete="off")
    content = (
        field("Reason", line, id_=id_, hint="Optional; stored with the entry."),
        button("Reject", kind="bad"),
    )
    return h.details(
        h.summary("Reject", data_key="r", class_="button bad"),
        decision_form(visit, group, context, "reject", *content),
    )

"""One record: its text, where it comes from, and what can be done about it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from starlette.responses import Response

from memoryware.errors import EntryMissing, SettingError
from memoryware.inspector import lineage
from memoryware.inspector.keeping import LABELS, LAYERS, by_ids, changed, find
from memoryware.inspector.layout import button, facts, field, form, hidden, page, plain_text
from memoryware.inspector.markup import Html, Piece, h
from memoryware.inspector.site import Visit
from memoryware.inspector.texts import body, many, one_line, short, trust, when
from memoryware.tiers.listing import status_of
from memoryware.tiers.model import Entry, Memory
from memoryware.tiers.revoke import AffectedRecords, made_of
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.values import Layer, Receipt

_NAME: Final = 200
_NAMED: Final = 3
"""Memories that a message names."""
_LISTED: Final = 50


async def show(visit: Visit) -> Response:
    """Show one record."""
    layer, record = await _named(visit, visit.asked("id"), visit.asked("tier"))
    state = status_of(record, visit.memory.parts.clock())
    whole = visit.url("/memories/text", id=record.id)
    seen = await lineage.family(visit, record)
    kind = "Memory" if isinstance(record, Memory) else "Entry"
    return page(
        visit,
        f"{kind} {short(record.id)}",
        h.p(
            h.span(LABELS[layer], class_="tag"),
            h.span(state, class_=f"tag status-{state}"),
            trust(record.provenance.trust),
            class_="tags",
        ),
        await _taken_back(visit, record),
        h.section(
            h.h2("Text", id="text", class_="visually-hidden"),
            body(record.content, visit.limits.text_chars, whole),
            _facts(visit, record),
            _extra(record),
            class_="card",
            aria_labelledby="text",
        ),
        None if visit.site.read_only else _actions(visit, record, state),
        lineage.section(visit, seen),
        await _document(visit, record),
    )


async def text(visit: Visit) -> Response:
    """Send the whole text of a record, as plain text."""
    _, record = await _named(visit, visit.asked("id"))
    return plain_text(record.content)


async def _named(visit: Visit, id_: str, tier: str = "") -> tuple[Layer, Entry | Memory]:
    known = (await by_ids(visit, (id_,))).get(id_) if id_ else None
    if known is None:
        raise EntryMissing(
            f"Group {visit.scope.group_id!r} has no entry or memory {id_[:100]!r}; it may have"
            " been forgotten."
        )
    layer, record = known
    if tier == "working" and layer == "quarantine":
        found = await find(visit, "working", Select.within(visit.scope, ids=(id_,)))
        return ("working", found.items[0]) if found.items else (layer, record)
    return layer, record


# Parts of the page.


def _facts(visit: Visit, record: Entry | Memory) -> Html:
    who = record.scope
    pairs: list[tuple[str, Piece]] = [
        ("Id", h.span(one_line(record.id, _NAME), class_="id")),
        ("Made by", one_line(str(record.provenance.origin), _NAME)),
    ]
    pairs += _facts_of_memory(visit, record) if isinstance(record, Memory) else _facts_of(record)
    pairs += [
        (name, one_line(value, _NAME))
        for name, value in (
            ("User", who.user_id),
            ("Agent", who.agent_id),
            ("Session", who.session_id),
            ("Step", who.node_id),
        )
        if value
    ]
    if record.verdict is not None:
        held = "it holds" if record.verdict.verified else "it does not hold"
        issues = f": {'; '.join(record.verdict.issues)}" if record.verdict.issues else ""
        pairs.append(("Check of facts", one_line(f"{held}{issues}", _NAME)))
    return facts(*pairs)


def _facts_of_memory(visit: Visit, memory: Memory) -> list[tuple[str, Piece]]:
    after: Piece = None
    again = ", ".join(one.promoted_by for one in memory.further)
    if memory.superseded_by:
        href = visit.url("/memories/document", id=memory.superseded_by)
        after = h.a(short(memory.superseded_by), href=href)
    return [
        ("Subject", one_line(memory.subject, _NAME) if memory.subject else None),
        ("Promoted by", one_line(memory.promoted_by, _NAME)),
        ("Promoted at", when(memory.created_at)),
        ("Valid from", when(memory.valid_from)),
        ("Valid to", when(memory.valid_to, "still holds")),
        ("Superseded by", after),
        (
            "Promoted again by",
            one_line(again, _NAME) if again else None,
        ),
    ]


def _facts_of(entry: Entry) -> list[tuple[str, Piece]]:
    because = str(entry.metadata.get("rejected_because", ""))
    proposers = ", ".join(entry.all_proposers)
    return [
        ("Recorded at", when(entry.created_at)),
        ("Part in the graph", entry.role),
        (
            "Not in working memory",
            one_line((entry.refused or "").replace("_", " "), _NAME) if entry.refused else None,
        ),
        ("Proposed by", one_line(proposers, 4 * _NAME) if proposers else None),
        (
            "Waits because",
            (
                "what is current of its subject is trusted more: ",
                one_line(entry.waits.subject, _NAME),
            )
            if entry.waits and entry.status == "proposed"
            else None,
        ),
        ("Decided by", one_line(entry.decided_by, _NAME) if entry.decided_by else None),
        ("Decided at", when(entry.decided_at) if entry.decided_at else None),
        ("Reason", one_line(because, _NAME) if because else None),
        ("Kept until", when(entry.expires_at) if entry.expires_at else None),
    ]


def _extra(record: Entry | Memory) -> Html | None:
    if not record.metadata:
        return None
    said = json.dumps(dict(record.metadata), indent=2, ensure_ascii=False, default=str)
    return h.details(h.summary("Metadata"), body(said, 4000))


async def _document(visit: Visit, record: Entry | Memory) -> Html | None:
    """Return the other chunks of a long text."""
    if isinstance(record, Entry) or record.chunk_count < 2:
        return None
    which = Select.within(visit.scope, documents=(record.document_id,))
    found = await find(visit, "long_term", which, limit=_LISTED)
    chunks = sorted(found.items, key=lambda one: one.chunk_index)
    items = [
        h.li(
            h.a(
                one_line(one.content, 120),
                href=visit.url("/memories/one", id=one.id),
                aria_current="true" if one.id == record.id else None,
            )
        )
        for one in chunks
    ]
    title = f"The whole text ({record.chunk_index + 1} of {record.chunk_count} parts is above)"
    return h.section(h.h2(title, id="parts"), h.ol(items), class_="card", aria_labelledby="parts")


def _actions(visit: Visit, record: Entry | Memory, state: str) -> Html | None:
    if record.revocation is not None:
        return None
    taken = h.a(
        "Take it back\u2026", href=visit.url("/memories/revoke", id=record.id), class_="button bad"
    )
    more: list[Piece] = []
    if isinstance(record, Memory) and state == "current":
        more.append(_supersede_form(visit, record))
    if isinstance(record, Entry) and state in ("pending", "proposed"):
        more.append(h.p(h.a("Decide in the review queue", href=visit.url("/review"))))
    return h.section(
        h.h2("What can be done", id="actions"),
        more,
        h.p(taken),
        h.p("To take back all that came from one place, open it under Lineage.", class_="quiet"),
        class_="card",
        aria_labelledby="actions",
    )


# Taking back.


def _supersede_form(visit: Visit, record: Memory) -> Html:
    """Return the form that puts another text in the place of a memory."""
    text = h.textarea("\n", record.content, name="text", id="new-text", rows=6, required=True)
    subject = h.input(
        type="text", name="subject", id="new-subject", value=record.subject or "", maxlength=1000
    )
    since = h.input(type="date", name="valid_from", id="new-valid-from")
    made = form(
        visit,
        "/memories/supersede",
        hidden("id", record.id),
        hidden("back", "/memories"),
        field("New text", text, id_="new-text", hint="The old one stays as the past."),
        h.div(
            h.div(
                field("Subject", subject, id_="new-subject", hint="What it is about; optional."),
                class_="grow",
            ),
            field("Holds since", since, id_="new-valid-from", hint="Now, if left empty (UTC)."),
            class_="row end",
        ),
        h.p(button("Put in its place", kind="main")),
    )
    return h.details(h.summary("Correct it: put another text in its place"), made)


async def preview(visit: Visit) -> Response:
    """Show everything that goes with a record, before anything does."""
    layer, record = await _named(visit, visit.asked("id"))
    found = await made_of(visit.memory.parts.native, visit.scope, (record.id,))
    sure = None
    if not visit.site.read_only:
        back = visit.url("/memories/one", id=record.id)
        sure = taking(visit, "/memories/revoke", {"id": record.id}, found.total, back)
    said = (
        "This and everything that was made of it is hidden from every agent at once. Nothing is"
        " deleted: all of it can be put back."
    )
    return page(
        visit,
        "Take this back?",
        h.p(said),
        h.div(lineage.record_line(visit, (record.id, layer, record)), class_="card"),
        await going(visit, found),
        sure,
    )


def taking(visit: Visit, to: str, what: Mapping[str, str], count: int, back: str) -> Html:
    """Return the form that takes so many records back, which a person may leave for a page."""
    reason = h.input(type="text", name="reason", id="reason", maxlength=1000, autocomplete="off")
    return form(
        visit,
        to,
        [hidden(name, value) for name, value in what.items()],
        hidden("back", "/memories"),
        field("Reason", reason, id_="reason", hint="Optional; the receipt says it."),
        h.div(
            button(f"Take back {many(count, 'record')}", kind="bad"),
            h.a("Cancel", href=back, class_="button"),
            class_="row",
        ),
    )


async def going(visit: Visit, found: AffectedRecords) -> Html:
    """Return what goes with something that is taken back, and what stays."""
    parts: list[Piece] = []
    for layer in LAYERS:
        ids = tuple(getattr(found, layer))
        if ids:
            title = f"{LABELS[layer]}: {many(len(ids), 'record')}"
            parts.append(h.div(h.h2(title), await _lines(visit, layer, ids)))
    if found.shaken:
        ids = tuple(found.shaken)
        count = many(len(ids), "memory", "memories")
        title = f"Stays, because others have promoted it as well: {count}"
        parts.append(h.div(h.h2(title), await _lines(visit, "long_term", ids)))
    return h.div(parts, class_="card", id="going")


async def _lines(visit: Visit, layer: Layer, ids: Sequence[str]) -> Html:
    which = Select.within(visit.scope, ids=tuple(ids[:_LISTED]))
    found = await find(visit, layer, which)
    items = [h.li(lineage.record_line(visit, (one.id, None, one))) for one in found.items]
    more = len(ids) - len(items)
    return h.ul(items, h.li(f"and {more:,} more", class_="quiet") if more > 0 else None)


async def revoke(visit: Visit) -> Response:
    """Take back a record, with everything that was made of it."""
    async with visit.site.deciding:
        _, record = await _named(visit, visit.form.one("id"))
        if record.revocation is not None:
            said = "It was taken back already. Nothing was done a second time."
            return visit.go("/memories/one", said, id=record.id)
        receipt = await visit.memory.arevoke(
            record.id, visit.scope, by=visit.by, reason=visit.form.one("reason").strip()
        )
    changed(visit)
    said = f"Taken back: {many(receipt.counts.total, 'record')}. Receipt {receipt.id}."
    return visit.go("/memories/one", said + current_again(receipt), id=record.id)


def current_again(receipt: Receipt) -> str:
    """Return a sentence about what is current again after a revocation; "" if nothing is."""
    if not receipt.reinstated:
        return ""
    count, ids = len(receipt.reinstated), ", ".join(receipt.reinstated[:_NAMED])
    return f" What it had replaced is current again: {many(count, 'memory', 'memories')} ({ids})."


async def restore(visit: Visit) -> Response:
    """Put back what a revocation took back."""
    async with visit.site.deciding:
        _, record = await _named(visit, visit.form.one("id"))
        receipt = await _receipt(visit, record, visit.form.one("receipt"))
        if receipt is None:
            said = "It is not taken back by this anymore. Nothing was done."
            return visit.go("/memories/one", said, id=record.id)
        counts = await visit.memory.arestore(receipt, by=visit.by)
    changed(visit, queue=True)
    said = f"Put back: {many(counts.total, 'record')}."
    return visit.go("/memories/one", said, id=record.id)


async def _receipt(visit: Visit, record: Entry | Memory, name: str) -> Receipt | None:
    """Return the receipt of a revocation as far as the records themselves tell it."""
    if not name or name != record.revocation:
        return None
    ids: list[str] = [record.id]
    for layer in LAYERS:
        found = await find(visit, layer, Select.within(visit.scope, revocations=(name,)))
        ids += [one.id for one in found.items]
    return Receipt(
        id=name,
        scope=visit.scope,
        what=record.id,
        by=visit.by,
        at=visit.memory.parts.clock(),
        ids=tuple(dict.fromkeys(ids)),
    )


async def _taken_back(visit: Visit, record: Entry | Memory) -> Html | None:
    if record.revocation is None:
        return None
    which = Select.within(visit.scope, revocations=(record.revocation,))
    total = 0
    for layer in LAYERS:
        total += (await find(visit, layer, which, limit=0)).total
    back = None
    if not visit.site.read_only:
        back = form(
            visit,
            "/memories/restore",
            hidden("id", record.id),
            hidden("receipt", record.revocation),
            button(f"Put back {many(total, 'record')}"),
        )
    said = (
        "This was taken back, and no agent sees it. Receipt ",
        h.span(one_line(record.revocation, _NAME), class_="id"),
        ".",
    )
    return h.div(h.p(said), back, class_="notice warn")


# Correcting.


async def supersede(visit: Visit) -> Response:
    """Put another text in the place of a memory."""
    text_ = visit.form.one("text").replace("\r\n", "\n").strip()
    if not text_:
        raise SettingError("The new text is empty, so nothing was done.")
    async with visit.site.deciding:
        _, record = await _named(visit, visit.form.one("id"))
        if not isinstance(record, Memory):
            raise SettingError("Only what is in long-term memory can be superseded.")
        made = await visit.memory.asupersede(
            record,
            text_,
            visit.scope,
            by=visit.by,
            subject=visit.form.one("subject").strip() or None,
            valid_from=_day(visit.form.one("valid_from")),
        )
    changed(visit)
    if made.proposal is not None:
        said = (
            "Not superseded: what is current of this subject is trusted more. The new text waits"
            " as a proposal."
        )
        return visit.go("/memories/one", said, id=made.proposal.id)
    return visit.go("/memories/one", "Superseded. This holds now.", id=made.ids[0])


def _day(said: str) -> datetime | None:
    if not said:
        return None
    try:
        return datetime.fromisoformat(said).replace(tzinfo=UTC)
    except ValueError:
        raise SettingError("The day has to be written as year-month-day: 2026-01-31") from None


async def document(visit: Visit) -> Response:
    """Go to the first part of a promoted text."""
    which = Select.within(visit.scope, documents=(visit.asked("id"),))
    found = sorted((await find(visit, "long_term", which)).items, key=lambda one: one.chunk_index)
    if not found:
        raise EntryMissing("There is no such text in long-term memory; it may have been forgotten.")
    return visit.go("/memories/one", id=found[0].id)

"""One record: its text, lineage, and what can be done with it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from starlette.responses import Response

from memoryware.errors import EntryMissing, SettingError
from memoryware.inspector import _charts as charts
from memoryware.inspector._layout import button, facts, field, form, hidden, page, plain_text
from memoryware.inspector._markup import (
    Html,
    Piece,
    body,
    h,
    one_line,
    plural,
    short,
    state,
    trust,
    when,
)
from memoryware.inspector._queries import LABELS, LAYERS, by_ids, find, invalidate
from memoryware.inspector._site import Visit
from memoryware.inspector._undo import ChangeLog, label_of, undo_restore, undo_revocation
from memoryware.stores import Select
from memoryware.tiers import Entry, Memory, Origin, Provenance, Receipt
from memoryware.tiers.listing import status_of
from memoryware.tiers.model import WAITING, lineages
from memoryware.tiers.proposals import unreviewed_reason
from memoryware.tiers.reopen import ReopenTarget, reopen_records
from memoryware.tiers.revoke import AffectedRecords, affected_by_ids
from memoryware.tiers.values import Layer
from memoryware.tiers.wording import refused_label, unreviewed_label, verdict_word


def record_url(visit: Visit, record: Entry | Memory | str) -> str:
    """Return the address of the page of an entry or a memory."""
    return visit.url("/memories/one", id=record if isinstance(record, str) else record.id)


# Lineage.

_ORIGINS: Final = 4
"""Origins of a text in one line."""
_ROWS: Final = 6
"""Records in one column of the graph."""
_LISTED: Final = 50
_LINE: Final = 26
RecordRef = tuple[str, Layer | None, Entry | Memory | None]
"""The id, the tier and the record; None for those that do not exist anymore."""


@dataclass(frozen=True)
class Lineage:
    """A record with the records that it was derived from, and those derived from it."""

    record: Entry | Memory
    sources: list[RecordRef]
    derived: list[RecordRef]
    derived_total: int


async def find_lineage(visit: Visit, record: Entry | Memory) -> Lineage:
    """Find the records that a record was derived from, and those derived from it."""
    sources = dict.fromkeys(
        source for provenance in lineages(record) for source in provenance.sources
    )
    sources.pop(record.id, None)
    first = tuple(sources)[:_LISTED]
    records = await by_ids(visit, first)
    sources_shown: list[RecordRef] = [
        (source, *records.get(source, (None, None))) for source in first
    ]
    ids = {record.id}
    if isinstance(record, Memory):  # a record derived from one chunk is derived from the text
        which = Select.within(visit.scope, documents=(record.document_id,))
        ids |= {chunk.id for chunk in (await find(visit, "long_term", which)).items}
    derived: dict[str, RecordRef] = {}
    total = 0
    for layer in LAYERS:
        which = Select.within(visit.scope, made_of=tuple(ids))
        page = await find(visit, layer, which, limit=_LISTED)
        total += page.total
        for user in page.items:
            if user.id not in ids:
                derived.setdefault(user.id, (user.id, layer, user))
    return Lineage(record, sources_shown, list(derived.values()), max(total, len(derived)))


def lineage_card(visit: Visit, lineage: Lineage) -> Html:
    """Return the lineage of a record as a graph and as lists."""
    origins = dict.fromkeys(
        str(root) for provenance in lineages(lineage.record) for root in provenance.roots
    )
    roots = [origin_tag(visit, origin, lineage.record.id) for origin in origins]
    picture = None
    if lineage.sources or lineage.derived:
        picture = h.div(
            _graph(lineage), class_="wide", tabindex="0", role="group", aria_label="Graph"
        )
    return h.section(
        h.h2("Lineage", id="lineage"),
        h.p("Origins: ", roots, class_="tags"),
        picture,
        h.div(
            _list(
                visit,
                "Derived from",
                lineage.sources,
                "Nothing: it is an original text.",
            ),
            _list(visit, "Derived from it", lineage.derived, "Nothing."),
            class_="columns",
        ),
        class_="card",
        aria_labelledby="lineage",
    )


def origin_tag(visit: Visit, origin: str, id_: str = "") -> Html:
    """Return an origin as a link to everything from it; `id_` is the record to go back to."""
    href = visit.url("/origins", of=origin, id=id_)
    hint = "Everything from this origin; revoke it"
    return h.a(one_line(origin, 80), href=href, class_="tag", title=hint)


def by_trust(provenance: Provenance) -> list[Origin]:
    """Return the roots of a text, those that make it less trusted first."""
    return sorted(provenance.roots, key=lambda root: root.trust)


def origin_tags(visit: Visit, provenance: Provenance) -> list[Html]:
    """Return the roots of a text as links, which decide its trust, and who wrote it."""
    roots = [origin_tag(visit, str(root)) for root in by_trust(provenance)[:_ORIGINS]]
    if len(provenance.roots) > _ORIGINS:
        roots.append(h.span(f"and {len(provenance.roots) - _ORIGINS} more", class_="quiet"))
    if provenance.origin not in provenance.roots:
        roots.append(h.span("written by ", one_line(str(provenance.origin), 80), class_="quiet"))
    return roots


def forget_link(visit: Visit, label: str, **query: str) -> Html | None:
    """Return a link to the preview of a deletion; None where nothing may be deleted."""
    if visit.site.read_only or not visit.site.can_forget:
        return None
    return h.a(one_line(label, 80), href=visit.url("/forget", **query), class_="button bad")


def _graph(lineage: Lineage) -> Html:
    sources = [
        _node(relative, f"from {number}") for number, relative in enumerate(lineage.sources[:_ROWS])
    ]
    derived = [
        _node(relative, f"to {number}") for number, relative in enumerate(lineage.derived[:_ROWS])
    ]
    for side, total, name in (
        (sources, len(lineage.sources), "from"),
        (derived, len(lineage.derived), "to"),
    ):
        if total > _ROWS:
            side[-1] = (f"{name} more", f"and {total - _ROWS + 1} more", "in the list below")
    center = ("here", _cut(lineage.record.content), "this record")
    edges = {(edge[0], "here") for edge in sources} | {("here", edge[0]) for edge in derived}
    source_count, derived_count = plural(len(sources), "record"), plural(len(derived), "record")
    summary = f"Derived from {source_count}; {derived_count} derived from it; see the lists below."
    columns = [column for column in (sources, [center], derived) if column]
    return charts.graph(summary, columns, edges)


def _node(relative: RecordRef, node: str) -> tuple[str, str, str]:
    id_, layer, record = relative
    if record is None:
        return node, short(id_), "deleted"
    return node, _cut(record.content), LABELS[layer].lower() if layer else ""


def _cut(content: str) -> str:
    line = " ".join(content[: _LINE * 4].split())
    text = "".join(character if character.isprintable() else "\ufffd" for character in line)
    return text if len(text) <= _LINE else text[: _LINE - 1] + "\u2026"


def _list(visit: Visit, title: str, relatives: Iterable[RecordRef], placeholder: str) -> Html:
    items = [h.li(record_line(visit, relative)) for relative in relatives]
    return h.div(h.h3(title), h.ul(items) if items else h.p(placeholder, class_="quiet"))


def record_line(visit: Visit, relative: RecordRef) -> Html:
    """Return a record in one line, with a link to its page."""
    id_, layer, record = relative
    if record is None:
        return h.span(h.span(one_line(id_, 40), class_="id"), " (deleted)", class_="quiet")
    link = h.a(one_line(record.content, 90), href=visit.url("/memories/one", id=id_))
    place_text: Piece = f" \u2013 {LABELS[layer].lower()}, " if layer else " "
    return h.span(link, h.span(place_text, when(record.created_at), class_="quiet"))


# The page.

_NAME: Final = 200
_NAMED: Final = 3
"""How many memories a message lists."""


async def show(visit: Visit) -> Response:
    """Show one record."""
    layer, record = await _find_record(visit, visit.param("id"), visit.param("tier"))
    status = status_of(record, visit.memory.parts.clock())
    whole = visit.url("/memories/text", id=record.id)
    record_lineage = await find_lineage(visit, record)
    kind = "Memory" if isinstance(record, Memory) else "Entry"
    return page(
        visit,
        f"{kind} {short(record.id)}",
        h.p(
            h.span(LABELS[layer], class_="tag"),
            None if layer == "working" else state(status),
            trust(record.provenance.trust),
            class_="tags",
        ),
        await _revoked_notice(visit, record),
        h.section(
            h.h2("Text", id="text", class_="visually-hidden"),
            body(record.content, visit.limits.text_chars, whole),
            _facts(visit, record),
            _extra(record),
            class_="card",
            aria_labelledby="text",
        ),
        None if visit.site.read_only else _actions(visit, record, status),
        lineage_card(visit, record_lineage),
        await _document(visit, record),
    )


async def text(visit: Visit) -> Response:
    """Send the whole text of a record, as plain text."""
    _, record = await _find_record(visit, visit.param("id"))
    return plain_text(record.content)


async def _find_record(visit: Visit, id_: str, tier: str = "") -> tuple[Layer, Entry | Memory]:
    match = (await by_ids(visit, (id_,))).get(id_) if id_ else None
    if match is None:
        raise EntryMissing(
            f"Group {visit.scope.group_id!r} has no entry or memory {id_[:100]!r}; it may have"
            " been forgotten."
        )
    layer, record = match
    if tier == "working" and layer == "quarantine":
        working = await find(visit, "working", Select.within(visit.scope, ids=(id_,)))
        return ("working", working.items[0]) if working.items else (layer, record)
    return layer, record


# Parts of the page.


def _facts(visit: Visit, record: Entry | Memory) -> Html:
    scope = record.scope
    pairs: list[tuple[str, Piece]] = [
        ("Id", h.span(one_line(record.id, _NAME), class_="id")),
        ("Origin", one_line(str(record.provenance.origin), _NAME)),
    ]
    pairs += _memory_facts(visit, record) if isinstance(record, Memory) else _entry_facts(record)
    pairs += [
        (name, one_line(value, _NAME))
        for name, value in (
            ("User", scope.user_id),
            ("Agent", scope.agent_id),
            ("Session", scope.session_id),
            ("Step", scope.node_id),
        )
        if value
    ]
    if record.verdict is not None:
        verdict = verdict_word(verified=record.verdict.verified)
        issues = f": {'; '.join(record.verdict.issues)}" if record.verdict.issues else ""
        pairs.append(("Fact check", one_line(f"{verdict}{issues}", _NAME)))
    return facts(*pairs)


def _memory_facts(visit: Visit, memory: Memory) -> list[tuple[str, Piece]]:
    after: Piece = None
    again = ", ".join(promotion.promoted_by for promotion in memory.further)
    if memory.superseded_by and memory.valid_to:  # a revoked successor is still named
        href = visit.url("/memories/document", id=memory.superseded_by)
        after = h.a(short(memory.superseded_by), href=href)
    return [
        ("Subject", one_line(memory.subject, _NAME) if memory.subject else None),
        ("Promoted by", one_line(memory.promoted_by, _NAME)),
        ("Promoted at", when(memory.created_at)),
        ("Valid from", when(memory.valid_from)),
        ("Valid until", when(memory.valid_to, "current")),
        ("Superseded by", after),
        (
            "Promoted again by",
            one_line(again, _NAME) if again else None,
        ),
    ]


def _entry_facts(entry: Entry) -> list[tuple[str, Piece]]:
    because = str(entry.metadata.get("rejected_because", ""))
    proposers = ", ".join(entry.all_proposers)
    unreviewed = unreviewed_reason(entry) if entry.status in WAITING else None
    return [
        ("Recorded at", when(entry.created_at)),
        ("Role", entry.role),
        (
            "Not in working memory",
            one_line(refused_label(entry.refused), _NAME) if entry.refused else None,
        ),
        ("Not in review", unreviewed_label(unreviewed) if unreviewed else None),
        ("Proposed by", one_line(proposers, 4 * _NAME) if proposers else None),
        (
            "Waits because",
            (
                "the current text of its subject is trusted more: ",
                one_line(entry.waits.subject, _NAME),
            )
            if entry.waits and entry.status == "proposed"
            else None,
        ),
        ("Decided by", one_line(entry.decided_by, _NAME) if entry.decided_by else None),
        ("Decided at", when(entry.decided_at) if entry.decided_at else None),
        ("Reason", one_line(because, _NAME) if because else None),
        ("Expires at", when(entry.expires_at) if entry.expires_at else None),
    ]


def _extra(record: Entry | Memory) -> Html | None:
    if not record.metadata:
        return None
    text = json.dumps(dict(record.metadata), indent=2, ensure_ascii=False, default=str)
    return h.details(h.summary("Metadata"), body(text, 4000))


async def _document(visit: Visit, record: Entry | Memory) -> Html | None:
    """Return the other chunks of a document."""
    if isinstance(record, Entry) or record.chunk_count < 2:
        return None
    select = Select.within(visit.scope, documents=(record.document_id,))
    chunks_page = await find(visit, "long_term", select, limit=_LISTED)
    chunks = sorted(chunks_page.items, key=lambda chunk: chunk.chunk_index)
    items = [
        h.li(
            h.a(
                one_line(chunk.content, 120),
                href=visit.url("/memories/one", id=chunk.id),
                aria_current="true" if chunk.id == record.id else None,
            )
        )
        for chunk in chunks
    ]
    title = f"The whole text ({record.chunk_index + 1} of {record.chunk_count} parts is above)"
    return h.section(h.h2(title, id="parts"), h.ol(items), class_="card", aria_labelledby="parts")


def _actions(visit: Visit, record: Entry | Memory, status: str) -> Html | None:
    more: list[Piece] = []
    if isinstance(record, Memory) and status == "current":
        more.append(_supersede_form(visit, record))
    if isinstance(record, Entry) and status in WAITING and unreviewed_reason(record) is None:
        more.append(h.p(h.a("Decide in the review queue", href=visit.url("/review", q=record.id))))
    if isinstance(record, Entry) and status == "rejected":
        again = button("Review it again")
        more.append(form(visit, "/memories/reopen", hidden("id", record.id), again))
    links: list[Piece] = []
    if record.revocation is None:
        href = visit.url("/memories/revoke", id=record.id)
        links.append(h.a("Revoke\u2026", href=href, class_="button bad"))
    links.append(forget_link(visit, "Forget\u2026", id=record.id))
    if user := record.scope.user_id:
        links.append(forget_link(visit, f"Forget user {user}\u2026", user=user))
    if not any(links):
        return None
    hint = "To revoke everything from one origin, open the origin under Lineage."
    return h.section(
        h.h2("Actions", id="actions"),
        more,
        h.div(links, class_="row"),
        h.p(hint, class_="quiet"),
        class_="card",
        aria_labelledby="actions",
    )


# Revoking.


def _supersede_form(visit: Visit, record: Memory) -> Html:
    """Return the form that supersedes a memory."""
    text = h.textarea("\n", record.content, name="text", id="new-text", rows=6, required=True)
    subject = h.input(
        type="text", name="subject", id="new-subject", value=record.subject or "", maxlength=1000
    )
    since = h.input(type="date", name="valid_from", id="new-valid-from")
    supersede_form = form(
        visit,
        "/memories/supersede",
        hidden("id", record.id),
        hidden("back", "/memories"),
        field("New text", text, id_="new-text", hint="The old text stays in the history."),
        h.div(
            h.div(
                field("Subject", subject, id_="new-subject", hint="Optional."),
                class_="grow",
            ),
            field("Valid from", since, id_="new-valid-from", hint="Default: now (UTC)."),
            class_="row end",
        ),
        h.p(button("Replace", kind="main")),
    )
    return h.details(h.summary("Correct: replace the text"), supersede_form)


async def preview(visit: Visit) -> Response:
    """Show what a revocation would hide, with a form to confirm it."""
    layer, record = await _find_record(visit, visit.param("id"))
    affected = await affected_by_ids(visit.memory.parts.native, visit.scope, (record.id,))
    form_ = None
    if not visit.site.read_only:
        back = visit.url("/memories/one", id=record.id)
        form_ = revoke_form(visit, "/memories/revoke", {"id": record.id}, affected.total, back)
    message = (
        "This and everything that was made of it is hidden from every agent at once. Nothing is"
        " deleted: all of it can be put back."
    )
    return page(
        visit,
        "Revoke this?",
        h.p(message),
        h.div(record_line(visit, (record.id, layer, record)), class_="card"),
        await affected_card(visit, affected),
        form_,
    )


def revoke_form(visit: Visit, path: str, fields: Mapping[str, str], count: int, back: str) -> Html:
    """Return the form that revokes records, with a link back."""
    reason = h.input(type="text", name="reason", id="reason", maxlength=1000, autocomplete="off")
    return form(
        visit,
        path,
        [hidden(name, value) for name, value in fields.items()],
        hidden("back", "/memories"),
        field("Reason", reason, id_="reason", hint="Optional; recorded in the receipt."),
        h.div(
            button(f"Revoke {plural(count, 'record')}", kind="bad"),
            h.a("Cancel", href=back, class_="button"),
            class_="row",
        ),
    )


async def affected_card(visit: Visit, affected: AffectedRecords) -> Html:
    """Return the records that a revocation hides, and those that it does not."""
    parts: list[Piece] = []
    for layer in LAYERS:
        ids = tuple(getattr(affected, layer))
        if ids:
            title = f"{LABELS[layer]}: {plural(len(ids), 'record')}"
            parts.append(h.div(h.h2(title), await _lines(visit, layer, ids)))
    if affected.shaken:
        ids = tuple(affected.shaken)
        count = plural(len(ids), "memory", "memories")
        title = f"Stays, because others promoted it as well: {count}"
        parts.append(h.div(h.h2(title), await _lines(visit, "long_term", ids)))
    return h.div(parts, class_="card", id="going")


async def _lines(visit: Visit, layer: Layer, ids: Sequence[str]) -> Html:
    select = Select.within(visit.scope, ids=tuple(ids[:_LISTED]))
    records = await find(visit, layer, select)
    items = [h.li(record_line(visit, (record.id, None, record))) for record in records.items]
    more = len(ids) - len(items)
    return h.ul(items, h.li(f"and {more:,} more", class_="quiet") if more > 0 else None)


async def revoke(visit: Visit) -> Response:
    """Revoke a record with everything derived from it."""
    async with visit.site.deciding:
        _, record = await _find_record(visit, visit.form.get("id"))
        if record.revocation is not None:
            message = "It is revoked already; nothing was changed."
            return visit.redirect("/memories/one", message, id=record.id)
        receipt = await visit.memory.arevoke(
            record.id, visit.scope, by=visit.by, reason=visit.form.get("reason").strip()
        )
    invalidate(visit)
    message = f"Revoked: {plural(receipt.counts.total, 'record')}. Receipt {receipt.id}."
    undo = undo_revocation(receipt.id, label_of("Revoked", record.content))
    return visit.redirect("/memories/one", message + reinstated_text(receipt), undo, id=record.id)


def reinstated_text(receipt: Receipt) -> str:
    """Return a sentence about the memories that become current again; "" if none does."""
    if not receipt.reinstated:
        return ""
    count, ids = len(receipt.reinstated), ", ".join(receipt.reinstated[:_NAMED])
    return f" Current again: {plural(count, 'memory', 'memories')} ({ids})."


async def restore(visit: Visit) -> Response:
    """Undo a revocation."""
    async with visit.site.deciding:
        _, record = await _find_record(visit, visit.form.get("id"))
        receipt = await _receipt(visit, record, visit.form.get("receipt"))
        if receipt is None:
            message = "It is not revoked by this receipt anymore; nothing was changed."
            return visit.redirect("/memories/one", message, id=record.id)
        counts = await visit.memory.arestore(receipt, by=visit.by)
    invalidate(visit, queue=True)
    message = f"Restored: {plural(counts.total, 'record')}."
    undo = undo_restore(receipt, label_of("Restored", record.content))
    return visit.redirect("/memories/one", message, undo, id=record.id)


async def _receipt(visit: Visit, record: Entry | Memory, name: str) -> Receipt | None:
    """Rebuild the receipt of a revocation from its records."""
    if not name or name != record.revocation:
        return None
    ids: list[str] = [record.id]
    for layer in LAYERS:
        records = await find(visit, layer, Select.within(visit.scope, revocations=(name,)))
        ids += [other.id for other in records.items]
    return Receipt(
        id=name,
        scope=visit.scope,
        what=record.id,
        by=visit.by,
        at=visit.memory.parts.clock(),
        ids=tuple(dict.fromkeys(ids)),
    )


async def _revoked_notice(visit: Visit, record: Entry | Memory) -> Html | None:
    if record.revocation is None:
        return None
    select = Select.within(visit.scope, revocations=(record.revocation,))
    total = 0
    for layer in LAYERS:
        total += (await find(visit, layer, select, limit=0)).total
    back = None
    if not visit.site.read_only:
        back = form(
            visit,
            "/memories/restore",
            hidden("id", record.id),
            hidden("receipt", record.revocation),
            button(f"Restore {plural(total, 'record')}"),
        )
    message = (
        "This is revoked, so no agent sees it. Receipt ",
        h.span(one_line(record.revocation, _NAME), class_="id"),
        ".",
    )
    return h.div(h.p(message), back, class_="notice warn")


# Reviewing again.


async def review_again(visit: Visit) -> Response:
    """Undo a rejection, so that the entry waits again."""
    async with visit.site.deciding:
        _, record = await _find_record(visit, visit.form.get("id"))
        if not isinstance(record, Entry) or record.status != "rejected":
            message = "It is not rejected, so nothing was changed."
            return visit.redirect("/memories/one", message, id=record.id)
        target = ReopenTarget(record.id)
        await reopen_records(visit.memory.parts.native, visit.scope, [target], by=visit.by)
    invalidate(visit, queue=True)
    return visit.redirect("/review", "It waits for a decision again.", q=record.id)


# Superseding.


async def supersede(visit: Visit) -> Response:
    """Supersede a memory by a new text."""
    new_text = visit.form.get("text").replace("\r\n", "\n").strip()
    if not new_text:
        raise SettingError("The new text is empty, so nothing was changed.")
    async with visit.site.deciding:
        _, record = await _find_record(visit, visit.form.get("id"))
        if not isinstance(record, Memory):
            raise SettingError("Only long-term memories can be superseded.")
        log = ChangeLog(visit)
        await log.watch((), new_text)
        promotion = await visit.memory.asupersede(
            record,
            new_text,
            visit.scope,
            by=visit.by,
            subject=visit.form.get("subject").strip() or None,
            valid_from=_day(visit.form.get("valid_from")),
        )
        log.add(promotion)
        undo = await log.undo(label_of("Superseded", record.content))
    invalidate(visit)
    if promotion.proposal is not None:
        message = (
            "Not superseded: the current text of this subject is trusted more. The new text waits"
            " as a proposal."
        )
        return visit.redirect("/memories/one", message, undo, id=promotion.proposal.id)
    message = "Superseded. This is the current text now."
    return visit.redirect("/memories/one", message, undo, id=promotion.ids[0])


def _day(text: str) -> datetime | None:
    if not text:
        return None
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        raise SettingError("Write the day as year-month-day, such as 2026-01-31") from None


async def document(visit: Visit) -> Response:
    """Redirect to the first chunk of a document."""
    select = Select.within(visit.scope, documents=(visit.param("id"),))
    chunks = sorted(
        (await find(visit, "long_term", select)).items, key=lambda chunk: chunk.chunk_index
    )
    if not chunks:
        raise EntryMissing("There is no such text in long-term memory; it may have been deleted.")
    return visit.redirect("/memories/one", id=chunks[0].id)

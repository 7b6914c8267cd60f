"""`list`, `show` and `search`: read memory, and explain why a search finds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, Final

import typer

from memoryware.cli import _output
from memoryware.cli._errors import describe_error
from memoryware.cli._ids import PREFIX_HELP, resolve_id, split_statement_id
from memoryware.cli._in_review import InReview
from memoryware.cli._layout import short_ids
from memoryware.cli._options import (
    Before,
    CommandContext,
    OriginFilter,
    Quiet,
    Since,
    memory_command,
    parse_moment,
    suggest_groups,
    suggest_users,
    time_of,
)
from memoryware.errors import EntryMissing, StoreUnavailable, TierError
from memoryware.scope import MemoryScope, is_personal_agent
from memoryware.tiers.client.entries import Sources
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.listing import TierName
from memoryware.tiers.model import Entry, Memory, Record
from memoryware.tiers.provenance import Trust
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.values import Candidate, ContextItem, Listed, Recall
from memoryware.tiers.wording import verdict_label


class MinTrust(StrEnum):
    """Values of `--min-trust`."""

    UNTRUSTED = "untrusted"
    UNVERIFIED = "unverified"
    USER = "user"
    PERSON = "person"


_HEADINGS: Final = {"made_of": "Derived from:", "made_of_it": "Derived from it:"}
_COUNTED: Final = 1000
"""Memories among which `search` counts those of single users."""
RELATED: Final = 20
"""How many sources and how many derived texts `show` lists."""


class Tier(StrEnum):
    """Values of `--tier`."""

    QUARANTINE = "quarantine"
    WORKING = "working"
    LONG_TERM = "long-term"


class SearchTier(StrEnum):
    """Values of `--tier` of `search`, which does not look in quarantine."""

    WORKING = "working"
    LONG_TERM = "long-term"


_TIERS: Final[dict[Tier, TierName]] = {
    Tier.QUARANTINE: "quarantine",
    Tier.WORKING: "working",
    Tier.LONG_TERM: "long_term",
}
_SOURCES: Final[dict[SearchTier | None, Sources]] = {
    None: ("working", "long_term"),
    SearchTier.WORKING: ("working",),
    SearchTier.LONG_TERM: ("long_term",),
}


class ListState(StrEnum):
    """Values of `--state`."""

    PENDING = "pending"
    PROPOSED = "proposed"
    PROMOTED = "promoted"
    REJECTED = "rejected"
    REVOKED = "revoked"
    CURRENT = "current"
    SUPERSEDED = "superseded"


@memory_command
def list_(
    context: CommandContext,
    *,
    tier: Annotated[
        Tier | None, typer.Option("--tier", "-t", help="Only records of this tier.")
    ] = None,
    state: Annotated[
        ListState | None,
        typer.Option(help="Only entries, or memories (current, superseded), in this state."),
    ] = None,
    origin: OriginFilter = None,
    since: Since = None,
    before: Before = None,
    words: Annotated[
        str, typer.Option("--words", "-w", help="Only records with these words, best first.")
    ] = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, help="How many records.")] = 20,
    offset: Annotated[int, typer.Option(min=0, help="How many records to skip.")] = 0,
    after: Annotated[
        str | None, typer.Option(help="The cursor of the next page, as printed by list.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """List memories, newest first: quarantine, working memory and long-term memory.

    --user selects the records of one user; without a group, the memory of that person.

    Exit codes: 0 done, 1 the store failed, 2 usage error, 3 the configuration cannot be read.
    """
    scope = context.require_group()
    begin, end = parse_moment("--since", since), parse_moment("--before", before)
    with context.open_memory() as memory:
        now = memory.parts.clock()
        filters: dict[str, Any] = {
            "tier": "all" if tier is None else _TIERS[tier],
            "query": words,
            "state": None if state is None else state.value,
            "origin": origin,
            "user": context.user_filter,
            "since": time_of(begin, now),
            "before": time_of(end, now),
        }
        page = memory.list(scope, **filters, limit=limit, offset=offset, after=after)
        if not page.total:
            suggest_groups(context, memory)
            suggest_users(context, memory)
        in_review, summary = None, ""
        if state is ListState.PENDING and page.total and not quiet:
            in_review = InReview(memory, scope)
            summary = in_review.summary(memory.list(scope, **filters, limit=page.total).items)
    if context.json:
        rows = [
            {"tier": row.tier, "state": row.status, "score": row.score}
            | _review_json(row, in_review)
            | _output.record_json(row.record)
            for row in page.items
        ]
        _output.print_json({"total": page.total, "next": page.next, "items": rows})
        return
    if quiet:
        _output.print_ids(row.id for row in page.items)
        return
    _output.print_rows([_listed_row(row, in_review) for row in page.items])
    if not page.items and limit:
        typer.echo("No more records." if page.total else "No records.")
    elif page.next is not None:
        _output.print_line(
            f"{len(page.items):,} of {page.total:,} records; next page: --after {page.next}"
        )
    if summary:
        _output.print_line(summary)


def _review_json(row: Listed, in_review: InReview | None) -> dict[str, Any]:
    if in_review is None:
        return {}
    reason = in_review.reason_against(row.record)
    return {"in_review": reason is None, "not_in_review": reason}


def _listed_row(row: Listed, in_review: InReview | None) -> tuple[str, tuple[str, ...], str]:
    # The decision about an entry is kept in quarantine; its copy in working memory has none.
    state = "" if row.tier == "working" else row.status
    if in_review is not None and in_review.reason_against(row.record) is not None:
        state = f"{state}, not in review"
    trust, when = f"trust {row.trust.name.lower()}", _output.format_time(row.created_at)
    details = (_output.TIER_NAMES[row.tier], state, trust, str(row.origin), when)
    return row.id, details, row.content


@memory_command
def show(
    context: CommandContext,
    ids: Annotated[
        list[str], typer.Argument(metavar="ID", help=f"Ids of entries or memories; {PREFIX_HELP}.")
    ],
) -> None:
    """Show entries or memories: text, lineage, trust, decisions, promotion.

    Lists the texts that each was derived from, and those that were derived from it.

    Exit codes: 0 done, 1 the store failed, 2 usage error, 3 the configuration cannot be read,
    4 there is no such id.
    """
    scope = context.require_group()
    with context.open_memory() as memory:
        select, shown = Select.within(scope), list[tuple[Record, dict[str, list[Record]]]]()
        for id_ in ids:
            prefix, _ = split_statement_id(memory, select, id_)
            record = memory.get(resolve_id(memory, select, prefix), scope)
            shown.append((record, _relatives(memory, context, record)))
    if context.json:
        _output.print_json({"items": [_shown_json(record, related) for record, related in shown]})
        return
    for position, (record, relatives) in enumerate(shown):
        if position:
            typer.echo("")
        _print_shown(record, relatives)


def _shown_json(record: Record, relatives: Mapping[str, list[Record]]) -> dict[str, Any]:
    tier = "long_term" if isinstance(record, Memory) else "quarantine"
    relatives_json = {
        name: [{"id": relative.id, "content": relative.content} for relative in records]
        for name, records in relatives.items()
    }
    trust = record.provenance.trust.name.lower()
    return {"tier": tier, "trust": trust} | _output.record_json(record) | relatives_json


def _print_shown(record: Record, relatives: Mapping[str, list[Record]]) -> None:
    _output.print_record(record)
    for name, records in relatives.items():
        if records:
            typer.echo(f"\n{_HEADINGS[name]}")
        _output.print_rows(
            [
                (
                    relative.id,
                    (f"trust {relative.provenance.trust.name.lower()}", _revoked_mark(relative)),
                    relative.content,
                )
                for relative in records
            ]
        )
        if len(records) == RELATED:
            typer.echo(f"Only the first {RELATED} are shown.")


def _relatives(
    memory: TieredMemory, context: CommandContext, record: Record
) -> dict[str, list[Record]]:
    """Return the texts that a record was derived from, and those derived from it."""
    sources = record.provenance.sources
    affected: tuple[str, ...] = ()
    try:
        affected = memory.revoke(record, context.scope, by=context.by, dry_run=True).ids
    except StoreUnavailable:
        raise
    except TierError as error:  # more records than the limits allow
        typer.echo(f"memoryware: {describe_error(error)}", err=True)
    derived = [id_ for id_ in affected if id_ not in {record.id, *sources}]
    return {
        "made_of": _existing(memory, context, sources[:RELATED]),
        "made_of_it": [
            relative
            for relative in _existing(memory, context, derived[:RELATED])
            if not _is_same_text(relative, record)
        ],
    }


def _is_same_text(relative: Record, record: Record) -> bool:
    """Whether a record is a chunk of the same document, or the entry that it was promoted from."""
    if isinstance(relative, Entry):
        return record.id in relative.memory_ids
    return isinstance(record, Memory) and relative.document_id == record.document_id


def _existing(memory: TieredMemory, context: CommandContext, ids: Sequence[str]) -> list[Record]:
    records = list[Record]()
    for id_ in ids:
        with suppress(EntryMissing):  # deleted
            records.append(memory.get(id_, context.scope))
    return records


def _revoked_mark(record: Record) -> str:
    return "revoked" if record.revocation else ""


@memory_command
def search(
    context: CommandContext,
    query: Annotated[str, typer.Argument(help="A question, or words.")],
    *,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=1, help="How many results at most.")
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(help="Only results with at least this cosine similarity.")
    ] = None,
    since: Since = None,
    at: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="What was true then: 2026-05-01T12:00, 2026-05-01, 7d."),
    ] = None,
    min_trust: Annotated[
        MinTrust | None, typer.Option(help="Only records with at least this trust.")
    ] = None,
    tier: Annotated[
        SearchTier | None, typer.Option("--tier", "-t", help="Only memories of this tier.")
    ] = None,
    quiet: Quiet = False,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", "-e", help="Explain the rank of each result, and why others were left out."
        ),
    ] = False,
) -> None:
    """Search memory as an agent does, best first.

    Exit codes: 0 done, 1 the store failed, 2 usage error, 3 the configuration cannot be read.
    """
    scope, moment = context.require_group(), parse_moment("--at", at)
    begin = parse_moment("--since", since)
    with context.open_memory() as memory:
        now = memory.parts.clock()
        result = memory.retrieve(
            query,
            scope,
            scope.session_id,
            max_results=limit,
            score_threshold=threshold,
            time_range_days=_days_since(time_of(begin, now), now),
            at=time_of(moment, now),
            min_trust=None if min_trust is None else Trust[min_trust.name],
            tiers=_SOURCES[tier],
            explain=explain,
        )
        waiting = 0 if result or context.json or quiet else memory.count_waiting(scope)
        if not result and not waiting:
            suggest_groups(context, memory)
        is_silent = bool(result) or context.json or quiet or scope.user_id is not None
        personal = 0 if is_silent else _count_personal(memory, scope)
    if context.json:
        _output.print_json(_as_json(result, explain=explain))
        return
    if quiet:
        _output.print_ids(item.id for item in result)
        return
    _print_result(result, explain=explain)
    if personal:
        left_out = "1 memory" if personal == 1 else f"{personal:,} memories"
        _output.print_line(f"Not searched: {left_out} for one user alone; name the user: --user.")
    if waiting:
        count = "1 entry waits" if waiting == 1 else f"{waiting:,} entries wait"
        _output.print_line(f"{count} in quarantine, where search does not look: memoryware review.")


def _count_personal(memory: TieredMemory, scope: MemoryScope) -> int:
    """Return how many of the newest current memories are for one user alone."""
    page = memory.list(scope, tier="long_term", state="current", limit=_COUNTED)
    records = (row.record for row in page.items)
    return sum(is_personal_agent(record.scope.agent_id) for record in records)


def _days_since(begin: datetime | None, now: datetime) -> float | None:
    return None if begin is None else max((now - begin) / timedelta(days=1), 0)


def _print_result(result: Recall, *, explain: bool) -> None:
    names = short_ids([item.id for item in result] + [c.item.id for c in result.candidates])
    explained = {
        candidate.item.id: candidate
        for candidate in result.candidates
        if candidate.left_out is None
    }
    for rank, item in enumerate(result, 1):
        _print_item(f"{rank}. {names[item.id]}", item)
        if explain and item.id in explained:
            _print_reason(explained[item.id])
    if not result:
        typer.echo("No results.")
    left_out = [candidate for candidate in result.candidates if candidate.left_out is not None]
    if left_out:
        typer.echo("\nLeft out:")
    for candidate in left_out:
        _output.print_head(names[candidate.item.id], candidate.left_out, candidate.detail)
        _output.print_text(candidate.item.content, 100)
        _print_reason(candidate)
    _output.print_contradictions(result.contradictions)
    for note in (*result.notes, *_failures(result)):
        typer.echo(f"memoryware: {_output.one_line(note, 400)}", err=True)


def _failures(result: Recall) -> list[str]:
    """Say which parts of memory could not be searched."""
    return [f"{_output.TIER_NAMES.get(part, part)} could not be searched" for part in result.failed]


def _print_item(name: str, item: ContextItem) -> None:
    when = _output.format_time(item.created_at)
    trust = f"trust {item.trust.name.lower()}"
    is_refuted = item.verdict is not None and not item.verdict.verified
    check = verdict_label(verified=False) if is_refuted else ""
    details = [_output.TIER_NAMES[item.source], f"{item.score:.3f}", trust, check, when]
    _output.print_head(name, *details)
    _output.print_text(item.content)


def _print_reason(candidate: Candidate) -> None:
    ranks = [
        f"{name}: rank {rank}"
        + (f" ({candidate.values[name]:.3f})" if name in candidate.values else "")
        for name, rank in candidate.ranks.items()
    ]
    others = [
        f"{name} {candidate.values[name]:.3f}"
        for name in candidate.values
        if name not in candidate.ranks
    ]
    reason = "; ".join(filter(None, [candidate.reason, *ranks, *others]))
    if reason:
        typer.echo(_output.indented(f"why: {_output.one_line(reason, 400)}"))


def _as_json(result: Recall, *, explain: bool) -> dict[str, Any]:
    document: dict[str, Any] = {
        "items": [*map(_item_json, result)],
        "contradictions": [*map(asdict, result.contradictions)],
        "failed": list(result.failed),
        "notes": list(result.notes),
    }
    if explain:
        document["candidates"] = [
            {
                "id": candidate.item.id,
                "content": candidate.item.content,
                "score": candidate.item.score,
                "ranks": dict(candidate.ranks),
                "values": dict(candidate.values),
                "reason": candidate.reason,
                "left_out": candidate.left_out,
                "detail": candidate.detail,
            }
            for candidate in result.candidates
        ]
    return document


def _item_json(item: ContextItem) -> dict[str, Any]:
    return {
        "id": item.id,
        "content": item.content,
        "source": item.source,
        "score": item.score,
        "similarity": item.similarity,
        "created_at": item.created_at.isoformat(),
        "trust": item.trust.name.lower(),
        "verified": item.verified,
        "origin": str(item.provenance.origin),
        "document_id": item.document_id,
        "subject": item.subject,
        "metadata": dict(item.metadata),
    }

"""`list`, `show` and `search`: what is in memory, and why it is found."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from enum import StrEnum
from typing import Annotated, Any, Final

import typer

from memoryware.cli import _records, showing
from memoryware.cli._ids import BEGINNING, entry_and_number, whole_id
from memoryware.cli._opening import Place
from memoryware.cli._options import moment_of, on_memory
from memoryware.errors import EntryMissing, StoreUnavailable, TierError
from memoryware.tiers.client.entries import Sources
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.model import Entry, Memory, Record, Trust
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.values import Candidate, ContextItem, Recall


class Tier(StrEnum):
    """The tier that is listed."""

    ALL = "all"
    QUARANTINE = "quarantine"
    WORKING = "working"
    LONG_TERM = "long_term"


class LeastTrust(StrEnum):
    """Levels of trust, as they are written on the command line."""

    UNTRUSTED = "untrusted"
    UNVERIFIED = "unverified"
    USER = "user"
    PERSON = "person"


class Part(StrEnum):
    """The part of memory that is searched."""

    BOTH = "both"
    HOT = "hot"
    COLD = "cold"


_HEADINGS: Final = {"made_of": "It was made of:", "made_of_it": "Made of it:"}
RELATED: Final = 20
"""Texts that are shown at most of those that a text was made of, and of those made of it."""
_PARTS: Final[dict[Part, Sources]] = {
    Part.BOTH: ("hot", "cold"),
    Part.HOT: ("hot",),
    Part.COLD: ("cold",),
}


@on_memory
def list_(
    place: Place,
    *,
    layer: Annotated[Tier, typer.Option(help="The tier.")] = Tier.ALL,
    limit: Annotated[int, typer.Option(min=0, help="How many.")] = 20,
    offset: Annotated[int, typer.Option(min=0, help="How many to pass over.")] = 0,
    after: Annotated[
        str | None, typer.Option(help="The mark that a page names for what follows.")
    ] = None,
    words: Annotated[str, typer.Option(help="Only what has these words, the best first.")] = "",
) -> None:
    """Tell what is in memory, the newest first: quarantine, working and long-term memory.

    Exit codes: 0 done, 1 the store failed, 2 wrong call, 3 the configuration cannot be read.
    """
    scope = place.grouped()
    with place.opened() as memory:
        page = memory.list(
            scope, layer=layer.value, limit=limit, offset=offset, query=words, after=after
        )
    if place.json:
        rows = [
            {"tier": one.layer, "state": one.status, "score": one.score}
            | _records.as_json(one.record)
            for one in page.items
        ]
        showing.document({"total": page.total, "next": page.next, "items": rows})
        return
    for one in page.items:
        when = showing.moment(one.created_at)
        trust = f"trust {one.trust.name.lower()}"
        _records.head(one.id, one.layer, one.status, trust, one.origin, when)
        _records.text(one.content, 160)
    if not page.items and limit:
        typer.echo("There is nothing more." if page.total else "There is nothing here.")
    elif page.next is not None:
        typer.echo(
            f"{len(page.items):,} of {page.total:,}; --after {page.next} shows what follows."
        )


@on_memory
def show(
    place: Place,
    id_: Annotated[str, typer.Argument(metavar="ID", help=f"Of an entry or memory; {BEGINNING}.")],
) -> None:
    """Show everything of one entry or memory: text, lineage, trust, who decided, what became of it.

    Below it are the texts that it was made of, and those that were made of it.

    Exit codes: 0 done, 1 the store failed, 2 wrong call, 3 the configuration cannot be read,
    4 there is none with this id.
    """
    scope = place.grouped()
    with place.opened() as memory:
        which = Select.within(scope)
        named, _ = entry_and_number(memory, which, id_)
        record = memory.get(whole_id(memory, which, named), scope)
        family = _family(memory, place, record)
    if place.json:
        tier = "long_term" if isinstance(record, Memory) else "quarantine"
        trust = record.provenance.trust.name.lower()
        around = {
            name: [{"id": one.id, "content": one.content} for one in some]
            for name, some in family.items()
        }
        showing.document({"tier": tier, "trust": trust} | _records.as_json(record) | around)
        return
    _records.whole(record)
    for name, some in family.items():
        if some:
            typer.echo(f"\n{_HEADINGS[name]}")
        for one in some:
            _records.head(one.id, f"trust {one.provenance.trust.name.lower()}", _gone(one))
            _records.text(one.content, 160)
        if len(some) == RELATED:
            typer.echo(f"Not more than {RELATED} are shown.")


def _family(memory: TieredMemory, place: Place, record: Record) -> dict[str, list[Record]]:
    """Return the texts that a text was made of, and those that were made of it."""
    above = record.provenance.sources
    falls: tuple[str, ...] = ()
    try:
        falls = memory.revoke(record, place.scope, by=place.by, dry_run=True).ids
    except StoreUnavailable:
        raise
    except TierError as error:  # more than the limits let anybody look at
        typer.echo(f"memoryware: {error}", err=True)
    below = [one for one in falls if one not in {record.id, *above}]
    return {
        "made_of": _there(memory, place, above[:RELATED]),
        "made_of_it": [
            one for one in _there(memory, place, below[:RELATED]) if not _became(one, record)
        ],
    }


def _became(one: Record, record: Record) -> bool:
    """Say whether the other is a part of the same document, or became it."""
    if isinstance(one, Entry):
        return record.id in one.memory_ids
    return isinstance(record, Memory) and one.document_id == record.document_id


def _there(memory: TieredMemory, place: Place, ids: Sequence[str]) -> list[Record]:
    found = list[Record]()
    for id_ in ids:
        with suppress(EntryMissing):  # forgotten
            found.append(memory.get(id_, place.scope))
    return found


def _gone(one: Record) -> str:
    return "taken back" if one.revocation else ""


@on_memory
def search(
    place: Place,
    query: Annotated[str, typer.Argument(help="A question or some words.")],
    *,
    limit: Annotated[int | None, typer.Option(min=1, help="How many at most.")] = None,
    threshold: Annotated[
        float | None, typer.Option(help="Leave out what is less similar, by cosine.")
    ] = None,
    days: Annotated[float | None, typer.Option(min=0, help="Leave out what is older.")] = None,
    at: Annotated[
        str | None, typer.Option(metavar="TIME", help="What held then: 2026-05-01T12:00.")
    ] = None,
    min_trust: Annotated[
        LeastTrust | None, typer.Option(help="Leave out what is trusted less.")
    ] = None,
    layer: Annotated[Part, typer.Option(help="hot: working memory, cold: long-term.")] = Part.BOTH,
    explain: Annotated[
        bool, typer.Option("--explain", help="Tell why each came, and why others did not.")
    ] = False,
) -> None:
    """Find what an agent would be told about a question, best first.

    Exit codes: 0 done, 1 the store failed, 2 wrong call, 3 the configuration cannot be read.
    """
    scope, moment = place.grouped(), moment_of("--at", at)
    with place.opened() as memory:
        found = memory.retrieve(
            query,
            scope,
            scope.session_id,
            max_results=limit,
            score_threshold=threshold,
            time_range_days=days,
            at=moment,
            min_trust=None if min_trust is None else Trust[min_trust.name],
            layers=_PARTS[layer],
            explain=explain,
        )
        waiting = 0 if found or place.json else memory.count_waiting(scope)
    if place.json:
        showing.document(_as_json(found, explain=explain))
        return
    _tell(found, explain=explain)
    if waiting:
        some = "1 entry waits" if waiting == 1 else f"{waiting:,} entries wait"
        typer.echo(f"{some} in quarantine, which nothing finds: memoryware review.")


def _tell(found: Recall, *, explain: bool) -> None:
    known = {one.item.id: one for one in found.candidates if one.left_out is None}
    for place, one in enumerate(found, 1):
        _item(place, one)
        if explain and one.id in known:
            _why(known[one.id])
    if not found:
        typer.echo("Nothing was found.")
    left = [one for one in found.candidates if one.left_out is not None]
    if left:
        typer.echo("\nLeft out:")
    for candidate in left:
        _records.head(candidate.item.id, candidate.left_out, candidate.detail)
        _records.text(candidate.item.content, 100)
        _why(candidate)
    _records.contradicting(found.contradictions)
    for said in (*found.notes, *(f"{one} could not be asked" for one in found.failed)):
        typer.echo(f"memoryware: {showing.one_line(said, 400)}", err=True)


def _item(place: int, one: ContextItem) -> None:
    when = showing.moment(one.created_at)
    trust = f"trust {one.trust.name.lower()}"
    against = "a check says it does not hold" if one.verdict and not one.verdict.verified else ""
    words = [one.source, f"{one.score:.3f}", trust, against, when]
    _records.head(f"{place}. {one.id}", *words)
    _records.text(one.content)


def _why(one: Candidate) -> None:
    ranks = [
        f"{name}: place {rank}" + (f" ({one.values[name]:.3f})" if name in one.values else "")
        for name, rank in one.ranks.items()
    ]
    others = [f"{name} {one.values[name]:.3f}" for name in one.values if name not in one.ranks]
    said = "; ".join(filter(None, [one.reason, *ranks, *others]))
    if said:
        typer.echo(f"    why: {showing.one_line(said, 400)}")


def _as_json(found: Recall, *, explain: bool) -> dict[str, Any]:
    made: dict[str, Any] = {
        "items": [*map(_item_json, found)],
        "contradictions": [*map(asdict, found.contradictions)],
        "failed": list(found.failed),
        "notes": list(found.notes),
    }
    if explain:
        made["candidates"] = [
            {
                "id": one.item.id,
                "content": one.item.content,
                "score": one.item.score,
                "ranks": dict(one.ranks),
                "values": dict(one.values),
                "reason": one.reason,
                "left_out": one.left_out,
                "detail": one.detail,
            }
            for one in found.candidates
        ]
    return made


def _item_json(one: ContextItem) -> dict[str, Any]:
    return {
        "id": one.id,
        "content": one.content,
        "source": one.source,
        "score": one.score,
        "similarity": one.similarity,
        "created_at": one.created_at.isoformat(),
        "trust": one.trust.name.lower(),
        "verified": one.verified,
        "origin": str(one.provenance.origin),
        "document_id": one.document_id,
        "subject": one.subject,
        "metadata": dict(one.metadata),
    }

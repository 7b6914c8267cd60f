"""How commands show entries and memories: as lines for people, and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any, Final

import typer

from memoryware.cli import showing
from memoryware.scope import MemoryScope
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.model import Entry, Memory, PromotionRecord, Provenance, Record
from memoryware.tiers.stores.codec import record_to_json
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.values import (
    LAYERS,
    Contradiction,
    Counts,
    ForgetReceipt,
    Layer,
    Promotion,
    Receipt,
)

PREVIEWED: Final = 50
"""Records that a preview shows at most; the counts say how many there are."""


def as_json(record: Record) -> dict[str, Any]:
    """Return a record as JSON; it is what `export` writes."""
    return record_to_json(record)


def counts_as_json(counts: Counts) -> dict[str, int]:
    """Return how many, by tier."""
    return {
        "quarantine": counts.quarantine,
        "working": counts.working,
        "long_term": counts.long_term,
        "total": counts.total,
    }


def counted(counts: Counts) -> str:
    """Return how many, in words."""
    return (
        f"{_many(counts.total, 'record')}: {counts.quarantine:,} in quarantine,"
        f" {counts.working:,} in working memory, {counts.long_term:,} in long-term memory"
    )


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def head(id_: str, *words: object) -> None:
    """Print the first line of a record: its id, then what is known of it."""
    known = [showing.one_line(str(one)) for one in words if one not in (None, "")]
    typer.echo(f"{typer.style(showing.one_line(id_), bold=True)}  {'  '.join(known)}")


def text(content: str, chars: int | None = None) -> None:
    """Print the text of a record below its head, or its beginning as one line."""
    if chars is not None:
        typer.echo(f"    {showing.one_line(content, chars)}")
        return
    typer.echo(showing.indented(content))


def whole(record: Record) -> None:
    """Print everything of a record."""
    showing.pairs(_of_entry(record) if isinstance(record, Entry) else _of_memory(record))
    typer.echo("")
    text(record.content)


def _of_entry(one: Entry) -> Iterable[tuple[str, object]]:
    yield "id", one.id
    yield "tier", "working memory" if one.expires_at else "quarantine"
    yield "status", one.status
    yield "role", one.role
    yield from _of_both(one)
    yield "key", one.key
    yield "not in working memory", one.refused
    yield "echo of", "\n".join(one.echo_of)
    yield "duplicate of", "\n".join(one.duplicate_of)
    yield "proposed by", ", ".join(one.all_proposers) or None
    yield "statements decided", ", ".join(sorted(one.decided.values())) or None
    yield "taken out of its group", "yes" if one.ungrouped else None
    if one.waits is not None and one.status == "proposed":
        yield "waits for", f"a decision about {one.waits.subject}"
        yield "current is", "\n".join(one.waits.against)
    yield "decided", _by(one.decided_by, showing.moment(one.decided_at))
    yield "became", "\n".join(one.memory_ids)
    yield "expires", showing.moment(one.expires_at)
    yield "taken back by", "\n".join(one.revocations)


def _of_memory(one: Memory) -> Iterable[tuple[str, object]]:
    yield "id", one.id
    yield "tier", "long-term memory"
    yield "document", one.document_id
    if one.chunk_count > 1:
        yield "part", f"{one.chunk_index + 1} of {one.chunk_count}"
    yield "subject", one.subject
    yield "holds since", showing.moment(one.valid_from)
    yield "held until", showing.moment(one.valid_to)
    yield "superseded by", one.superseded_by
    yield from _of_both(one)
    yield "promoted by", one.promoted_by
    yield "promoted as well", "\n".join(map(_ground, one.further))
    yield "hidden by", one.revocation
    yield "taken back by", "\n".join(one.revocations)


def _of_both(one: Record) -> Iterable[tuple[str, object]]:
    yield "created", showing.moment(one.created_at)
    yield "whose", whose(one.scope)
    yield from _lineage(one.provenance)
    if one.verdict is not None:
        said = "holds" if one.verdict.verified else "does not hold"
        issues = "".join(f"\n{issue}" for issue in one.verdict.issues)
        yield "checked", f"{_by(one.verdict.by, said)}, {one.verdict.confidence:.0%} sure{issues}"
    yield "known of it", "\n".join(f"{name}={value}" for name, value in _own(one).items())


def _own(one: Record) -> dict[str, Any]:
    """Return the metadata that says something which the record does not say itself."""
    known = {"role", "created_at", "promoted_at", "promoted_by", "source_entry_ids"}
    known |= {"chunk_index", "chunk_count", "content_hash", "source"}
    return {
        name: value
        for name, value in one.metadata.items()
        if value is not None and name not in known
    }


def _lineage(made: Provenance) -> Iterable[tuple[str, object]]:
    yield "trust", made.trust.name.lower()
    yield "made by", made.origin
    yield "from", ", ".join(map(str, made.roots)) if made.roots != (made.origin,) else ""
    yield "made of", "\n".join(made.sources)


def _ground(one: PromotionRecord) -> str:
    gone = f", taken back by {', '.join(one.revocations)}" if one.revocations else ""
    when = showing.moment(one.promoted_at)
    return f"{when} by {one.promoted_by}, made by {one.provenance.origin}{gone}"


def _by(who: str | None, what: str) -> str:
    return f"{what} by {who}".strip() if who else what


def whose(scope: MemoryScope) -> str:
    """Return whose memory something is, in words."""
    named = ("tenant", "group_id", "user_id", "agent_id", "session_id", "node_id")
    known = ((name.removesuffix("_id"), getattr(scope, name)) for name in named)
    return ", ".join(f"{name} {value}" for name, value in known if value is not None)


def first_of(
    memory: TieredMemory, which: Select, ids: Mapping[Layer, Iterable[str]]
) -> list[tuple[Layer, Record]]:
    """Return the first `PREVIEWED` records with these ids, each with its tier."""
    found = list[tuple[Layer, Record]]()
    for tier in LAYERS:
        some = tuple(islice(ids.get(tier, ()), PREVIEWED - len(found)))
        if some:
            store: Any = getattr(memory.parts.stores, tier)
            records = {one.id: one for one in store.find(which.also(ids=some)).items}
            found += [(tier, records[one]) for one in some if one in records]
    return found


def preview(first: Sequence[tuple[Layer, Record]], total: int) -> None:
    """Print what would go, each with its tier and the beginning of its text."""
    for tier, one in first:
        head(one.id, tier, one.provenance.origin, showing.moment(one.created_at))
        text(one.content, 120)
    if len(first) == PREVIEWED < total:  # fewer, and what is missing was forgotten meanwhile
        typer.echo(f"... and {total - PREVIEWED:,} more.")


def preview_as_json(first: Sequence[tuple[Layer, Record]]) -> list[dict[str, Any]]:
    """Return what would go as JSON."""
    return [{"tier": tier} | as_json(one) for tier, one in first]


def promoted_as_json(made: Promotion) -> dict[str, Any]:
    """Return a promotion as JSON."""
    return {
        "document_id": made.document_id,
        "ids": list(made.ids),
        "existing": made.existing,
        "unembedded": made.unembedded,
        "superseded": list(made.superseded),
        "contradictions": [*map(asdict, made.contradictions)],
        "proposal": made.proposal.id if made.proposal else None,
    }


def promoted(made: Promotion) -> None:
    """Print what became of a promotion."""
    if made.proposal is not None:
        typer.echo(
            "Not promoted: what is current of this subject is trusted more. It waits as proposal"
            f" {made.proposal.id}; a person can promote it."
        )
        contradicting(made.contradictions)
        return
    if not made.memories:
        typer.echo("Nothing was promoted: there is no text.")
        return
    what = "It is in long-term memory already" if made.existing else "Promoted"
    typer.echo(f"{what}: {', '.join(made.ids)}")
    for one in made.superseded:
        typer.echo(f"It took the place of document {one}.")
    contradicting(made.contradictions)
    if made.unembedded:
        typer.echo(f"{made.unembedded} of it has no vector yet; words find it meanwhile.")


def contradicting(found: Iterable[Contradiction]) -> None:
    """Print which texts say different things."""
    for one in found:
        said = f"{one.first} and {one.second} say different things: {one.reason}"
        typer.echo(f"Look at this: {showing.one_line(said, 400)}")


def receipt_as_json(receipt: Receipt) -> dict[str, Any]:
    """Return a receipt as JSON."""
    return {
        "id": receipt.id,
        "what": receipt.what,
        "by": receipt.by,
        "at": receipt.at.isoformat(),
        "reason": receipt.reason,
        "counts": counts_as_json(receipt.counts),
        "ids": list(receipt.ids),
        "reinstated": list(receipt.reinstated),
    }


def forgotten_as_json(receipt: ForgetReceipt) -> dict[str, Any]:
    """Return the receipt of a deletion as JSON."""
    return {
        **counts_as_json(receipt.counts),
        "receipt": receipt.id,
        "condition": receipt.condition,
        "by": receipt.by,
        "at": receipt.at.isoformat() if receipt.at else None,
        "reinstated": list(receipt.reinstated),
    }


def reinstated(ids: Iterable[str], *, would: bool = False) -> None:
    """Print which memories are current again."""
    for one in ids:
        typer.echo(f"{'Would be current' if would else 'Current'} again: {one}")

"""How commands print: text, tables, JSON, records and previews."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime, timedelta
from difflib import ndiff
from itertools import islice
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any, Final

import typer

from memoryware.cli._errors import SCHEMA
from memoryware.cli._exit_codes import REFUSED
from memoryware.cli._layout import (
    NARROW,
    WIDE,
    cell_width,
    columns,
    fit,
    flow,
    pad,
    short_id,
    short_ids,
    wrap,
)
from memoryware.errors import SettingError
from memoryware.guard import reveal
from memoryware.scope import MemoryScope
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.model import Entry, Memory, PromotionRecord, Record
from memoryware.tiers.proposals import unreviewed_reason
from memoryware.tiers.provenance import Provenance
from memoryware.tiers.rendering import cut
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
from memoryware.tiers.wording import refused_label, unreviewed_label, verdict_word

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

# Text, tables, progress and files. rich is imported where it prints: few commands need it.

STDOUT: Final = "-"
"""The file name for standard output."""
_PIPE_WIDTH: Final = 200
"""Columns of a table without a terminal."""
_CELL: Final = 28
"""Columns of a detail in a wide terminal."""
_UNPRINTABLE: Final = re.compile("[\\r\\x0b\\x0c\\x85\\u2028\\u2029\\ud800-\\udfff]")
"""Characters that `reveal` leaves and that move the cursor, or cannot be encoded."""


def console() -> Console:
    """Return a console for people; into a pipe it prints wide and without colours."""
    from rich.console import Console

    is_terminal = sys.stdout.isatty()
    plain: Any = {"color_system": None} if os.environ.get("NO_COLOR") else {}
    return Console(highlight=False, width=None if is_terminal else _PIPE_WIDTH, **plain)


def table(title: str, head: list[str], rows: list[list[str]], *, markdown: bool = False) -> Table:
    """Make a table whose first column is text and whose others are numbers."""
    from rich import box
    from rich.table import Table

    style = box.MARKDOWN if markdown else box.SIMPLE_HEAD
    grid_table = Table(title=title, title_justify="left", title_style="bold", box=style)
    for index, name in enumerate(head):
        grid_table.add_column(name, justify="right" if index else "left", no_wrap=not index)
    for row in rows:
        grid_table.add_row(*row)
    return grid_table


def print_grid(head: list[str], rows: list[list[str]], *, numbers: Collection[str] = ()) -> None:
    """Print a table of texts; in a narrow terminal each row as a list.

    Args:
        head: The names of the columns.
        rows: The cells of each row; hidden characters are escaped.
        numbers: The columns that are aligned to the right.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    width = columns()
    if width is not None and width < NARROW:
        for row in rows:
            first, *rest = map(escape, row)
            parts = [f"{name}: {cell}" for name, cell in zip(head[1:], rest, strict=True) if cell]
            for line in (
                *wrap(first, width),
                *(f"  {part}" for part in flow(parts, width - 2, indent="")),
            ):
                typer.echo(line)
        return
    grid_table = Table(box=box.SIMPLE_HEAD)
    for name in head:
        is_number = name in numbers
        grid_table.add_column(
            name,
            justify="right" if is_number else "left",
            no_wrap=is_number,
            overflow="fold",
        )
    for row in rows:
        grid_table.add_row(*(Text(escape(cell)) for cell in row))
    console().print(grid_table)


def print_json(document: Mapping[str, Any]) -> None:
    """Print a JSON document, with the version of its schema."""
    write_text(STDOUT, json.dumps({"schema": SCHEMA, **document}, ensure_ascii=True, indent=2))


def print_ids(ids: Iterable[str]) -> None:
    """Print whole ids, one a line, for other programs."""
    for id_ in ids:
        typer.echo(escape(id_))


def confirm(question: str, *, yes: bool) -> None:
    """Ask for confirmation on the terminal, unless `yes` is set.

    Raises:
        SettingError: If there is no terminal.
        typer.Exit: With `REFUSED`, if the answer is no.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise SettingError(
            "there is no terminal to confirm on; use --yes to go on without confirmation"
        )
    if not typer.confirm(question, err=True):
        raise typer.Exit(REFUSED)


def escape(text: str) -> str:
    """Escape hidden characters and control sequences of a text for a terminal.

    Line ends and tabs stay.
    """
    plain = reveal(text.replace("\r\n", "\n"))
    return _UNPRINTABLE.sub(lambda match: f"<U+{ord(match.group()):04X}>", plain)


def one_line(text: str, chars: int = 160) -> str:
    """Return the beginning of a text as one line, escaped."""
    return cut(escape(" ".join(text[: 4 * chars].split())), chars)


def indented(text: str, by: str = "    ") -> str:
    """Return a text, escaped, with every line indented; in a terminal, wrapped."""
    plain, width = escape(text), columns()
    if width is not None:
        lines = (part for line in plain.split("\n") for part in wrap(line, width - len(by)))
        plain = "\n".join(lines)
    return indent(plain, by, lambda _: True)


def format_time(time: datetime | None) -> str:
    """Format a time in the local time zone; "" for None."""
    return "" if time is None else f"{time.astimezone():%Y-%m-%d %H:%M:%S}"


def print_pairs(rows: Iterable[tuple[str, object]]) -> None:
    """Print names with their values, one per line; empty values are left out."""
    shown = [(name, escape(str(value))) for name, value in rows if value not in (None, "")]
    width = max((len(name) for name, _ in shown), default=0)
    for name, value in shown:
        typer.echo(f"{name + ':':<{width + 1}} {indent(value, ' ' * (width + 2)).lstrip()}")


def diff_lines(old: str, new: str) -> list[str]:
    """Return a diff of two texts, line by line, escaped and in colours."""
    colors = {"+": "green", "-": "red"}
    lines = ndiff(escape(old).splitlines(), escape(new).splitlines())
    return [
        typer.style(line.rstrip(), fg=colors.get(line[:1]))
        for line in lines
        if not line.startswith("?")
    ]


@contextmanager
def progress(label: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on standard error, if that is a terminal.

    Yields:
        A function to call with the number of steps that are done.
    """
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    parts = TextColumn(label), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*parts, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda done: bar.update(task, completed=done)


def check_target(option: str, target: str | None, suffix: str = "") -> None:
    """Check before a long run that its output file can be written.

    Raises:
        SettingError: If it cannot.
    """
    if target is None or (target == STDOUT and not suffix):
        return
    path = Path(target)
    if suffix and path.suffix != suffix:
        raise SettingError(f"{option} {target}: the file name must end in {suffix}")
    if not path.parent.is_dir():
        raise SettingError(f"{option} {target}: the folder {str(path.parent)!r} does not exist")
    if path.is_dir():
        raise SettingError(f"{option} {target}: is a folder; use a file in it")


def write_text(target: str, text: str) -> None:
    """Write a text to a file, or print it if the name is "-"."""
    ended = text if text.endswith("\n") else f"{text}\n"
    if target == STDOUT:
        sys.stdout.write(ended)
    else:
        Path(target).write_text(ended, encoding="utf-8")


# Records, promotions and receipts.

PREVIEWED: Final = 50
"""How many records a preview lists."""
TIER_NAMES: Final[Mapping[str, str]] = {
    "quarantine": "quarantine",
    "working": "working memory",
    "long_term": "long-term memory",
}
"""The words for the names that tiers have in JSON."""


def record_json(record: Record) -> dict[str, Any]:
    """Return a record as JSON, as in `export`."""
    return record_to_json(record)


def counts_json(counts: Counts) -> dict[str, int]:
    """Return counts by tier as JSON."""
    return {
        "quarantine": counts.quarantine,
        "working": counts.working,
        "long_term": counts.long_term,
        "total": counts.total,
    }


def describe_counts(counts: Counts) -> str:
    """Format counts by tier."""
    return (
        f"{_plural(counts.total, 'record')}: {counts.quarantine:,} in quarantine,"
        f" {counts.working:,} in working memory, {counts.long_term:,} in long-term memory"
    )


def _plural(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def print_line(text: str) -> None:
    """Print one line, escaped; in a terminal, wrapped."""
    width = columns()
    typer.echo(escape(text) if width is None else "\n".join(wrap(escape(text), width)))


def print_head(id_: str, *details: object) -> None:
    """Print the first line of a record: its id, short, then details that are not empty."""
    words = [one_line(str(detail)) for detail in details if detail not in (None, "")]
    name = one_line(id_)
    lines = [*flow([name, *words], columns())]
    lines[0] = lines[0].replace(name, typer.style(name, bold=True), 1)
    typer.echo("\n".join(lines))


def print_text(content: str, chars: int | None = None) -> None:
    """Print the text of a record, indented, or its first `chars` characters as one line."""
    typer.echo(indented(content if chars is None else one_line(content, chars)))


def print_rows(rows: Sequence[tuple[str, Sequence[str], str]], *, chars: int = 160) -> None:
    """Print records: a head and the text of each, or one line in a wide terminal.

    Args:
        rows: The id, the details and the text of each record. All have the same number of
            details, some of which may be empty.
        chars: How much of a text is printed.
    """
    width, names = columns(), short_ids(id_ for id_, _, _ in rows)
    if width is None or width < WIDE:
        for id_, details, text in rows:
            print_head(names[id_], *details)
            print_text(text, chars)
        return
    count = len(rows[0][1]) if rows else 0
    cells = [[fit(one_line(str(row[1][at])), _CELL) for row in rows] for at in range(count)]
    filled = [column for column in cells if any(column)]
    lengths = [max(map(cell_width, column)) for column in filled]
    longest = max(map(cell_width, names.values()), default=0)
    for position, (id_, _, text) in enumerate(rows):
        cells_of_row = [pad(one_line(names[id_]), longest)]
        cells_of_row += [
            pad(column[position], length) for column, length in zip(filled, lengths, strict=True)
        ]
        head = "  ".join(cells_of_row)
        line = fit(one_line(text, width), width - cell_width(head) - 2)
        typer.echo(f"{typer.style(head[:longest], bold=True)}{head[longest:]}  {line}".rstrip())


def print_record(record: Record) -> None:
    """Print a record with all its fields."""
    print_pairs(_entry_fields(record) if isinstance(record, Entry) else _memory_fields(record))
    typer.echo("")
    print_text(record.content)


def _entry_fields(entry: Entry) -> Iterable[tuple[str, object]]:
    yield "id", entry.id
    yield "tier", "working memory" if entry.expires_at else "quarantine"
    yield "status", entry.status
    yield "role", entry.role
    yield from _common_fields(entry)
    yield "key", entry.key
    yield "not in working memory", refused_label(entry.refused) if entry.refused else None
    unreviewed = unreviewed_reason(entry) if entry.status == "pending" else None
    yield "not in review", unreviewed_label(unreviewed) if unreviewed else None
    yield "echo of", "\n".join(entry.echo_of)
    yield "duplicate of", "\n".join(entry.duplicate_of)
    yield "proposed by", ", ".join(entry.all_proposers) or None
    yield "statements decided", ", ".join(sorted(entry.decided.values())) or None
    yield "taken out of its group", "yes" if entry.ungrouped else None
    if entry.waits is not None and entry.status == "proposed":
        yield "waits for", f"a decision about {entry.waits.subject}"
        yield "current is", "\n".join(entry.waits.against)
    yield "decided", _by(entry.decided_by, format_time(entry.decided_at))
    yield "promoted to", "\n".join(entry.memory_ids)
    yield "expires", format_time(entry.expires_at)
    yield "revoked by", "\n".join(entry.revocations)


def _memory_fields(memory: Memory) -> Iterable[tuple[str, object]]:
    yield "id", memory.id
    yield "tier", "long-term memory"
    yield "document", memory.document_id
    if memory.chunk_count > 1:
        yield "chunk", f"{memory.chunk_index + 1} of {memory.chunk_count}"
    yield "subject", memory.subject
    yield "valid from", format_time(memory.valid_from)
    yield "valid until", format_time(memory.valid_to)
    yield "superseded by", memory.superseded_by
    yield from _common_fields(memory)
    yield "promoted by", memory.promoted_by
    yield "promoted again", "\n".join(map(_describe_promotion, memory.further))
    yield "hidden by", memory.revocation
    yield "revoked by", "\n".join(memory.revocations)


_LATER: Final = timedelta(minutes=1)
"""The time from saying to promoting from which on both are shown."""


def _common_fields(record: Record) -> Iterable[tuple[str, object]]:
    yield "created", format_time(record.created_at)
    if record.created_at - record.said_at >= _LATER:
        yield "said", format_time(record.said_at)
    yield "scope", describe_scope(record.scope)
    yield from _lineage_fields(record.provenance)
    if record.verdict is not None:
        verdict = verdict_word(verified=record.verdict.verified)
        issues = "".join(f"\n{issue}" for issue in record.verdict.issues)
        yield (
            "fact check",
            f"{_by(record.verdict.by, verdict)}, {record.verdict.confidence:.0%}{issues}",
        )
    yield (
        "metadata",
        "\n".join(f"{name}={value}" for name, value in _custom_metadata(record).items()),
    )


def _custom_metadata(record: Record) -> dict[str, Any]:
    """Return the metadata that is not in a field of the record as well."""
    shown_elsewhere = {"role", "created_at", "promoted_at", "promoted_by", "source_entry_ids"}
    shown_elsewhere |= {"chunk_index", "chunk_count", "content_hash", "source", "said_at"}
    return {
        name: value
        for name, value in record.metadata.items()
        if value is not None and name not in shown_elsewhere
    }


def _lineage_fields(provenance: Provenance) -> Iterable[tuple[str, object]]:
    yield "trust", provenance.trust.name.lower()
    yield "origin", provenance.origin
    yield (
        "original sources",
        ", ".join(map(str, provenance.roots)) if provenance.roots != (provenance.origin,) else "",
    )
    yield "derived from", "\n".join(provenance.sources)


def _describe_promotion(promotion: PromotionRecord) -> str:
    revoked = f", revoked by {', '.join(promotion.revocations)}" if promotion.revocations else ""
    when = format_time(promotion.promoted_at)
    return f"{when} by {promotion.promoted_by}, origin {promotion.provenance.origin}{revoked}"


def _by(actor: str | None, text: str) -> str:
    return f"{text} by {actor}".strip() if actor else text


def describe_scope(scope: MemoryScope) -> str:
    """Format a scope."""
    names = ("tenant", "group_id", "user_id", "agent_id", "session_id", "node_id")
    values = ((name.removesuffix("_id"), getattr(scope, name)) for name in names)
    return ", ".join(f"{name} {value}" for name, value in values if value is not None)


def find_first(
    memory: TieredMemory, select: Select, ids: Mapping[Layer, Iterable[str]]
) -> list[tuple[Layer, Record]]:
    """Return the first `PREVIEWED` records with these ids, each with its tier."""
    rows = list[tuple[Layer, Record]]()
    for tier in LAYERS:
        wanted_ids = tuple(islice(ids.get(tier, ()), PREVIEWED - len(rows)))
        if wanted_ids:
            store: Any = getattr(memory.parts.stores, tier)
            by_id = {record.id: record for record in store.find(select.also(ids=wanted_ids)).items}
            rows += [(tier, by_id[id_]) for id_ in wanted_ids if id_ in by_id]
    return rows


def print_preview(records: Sequence[tuple[Layer, Record]], total: int) -> None:
    """Print affected records, each with its tier and the beginning of its text."""
    print_rows(
        [
            (
                record.id,
                (TIER_NAMES[tier], str(record.provenance.origin), format_time(record.created_at)),
                record.content,
            )
            for tier, record in records
        ],
        chars=120,
    )
    if len(records) == PREVIEWED < total:  # fewer: some were deleted meanwhile
        typer.echo(f"... and {total - PREVIEWED:,} more.")


def preview_json(records: Sequence[tuple[Layer, Record]]) -> list[dict[str, Any]]:
    """Return affected records as JSON."""
    return [{"tier": tier} | record_json(record) for tier, record in records]


def promotion_json(promotion: Promotion) -> dict[str, Any]:
    """Return a promotion as JSON."""
    return {
        "document_id": promotion.document_id,
        "ids": list(promotion.ids),
        "existing": promotion.existing,
        "unembedded": promotion.unembedded,
        "superseded": list(promotion.superseded),
        "contradictions": [*map(asdict, promotion.contradictions)],
        "proposal": promotion.proposal.id if promotion.proposal else None,
    }


def print_promotion(promotion: Promotion) -> None:
    """Print the result of a promotion."""
    if promotion.proposal is not None:
        print_line(
            "Not promoted: the current text of this subject is trusted more. It became proposal"
            f" {short_id(promotion.proposal.id)}, which a person can promote."
        )
        print_contradictions(promotion.contradictions)
        return
    if not promotion.memories:
        print_line("Nothing was promoted: the text is empty.")
        return
    outcome = "Already in long-term memory" if promotion.existing else "Promoted"
    print_line(f"{outcome}: {', '.join(short_ids(promotion.ids).values())}")
    if line := past_line(promotion):
        print_line(line)
    for document in promotion.superseded:
        print_line(f"It replaced document {short_id(document)}.")
    print_contradictions(promotion.contradictions)
    if promotion.unembedded:
        print_line(f"{promotion.unembedded} chunks have no vector yet; search finds them by words.")


def past_line(promotion: Promotion) -> str:
    """Return what keeps a promoted text from being current; "" if it is."""
    memory = next(iter(promotion.memories), None)
    if memory is None or memory.valid_to is None or memory.superseded_by is None:
        return ""
    return (
        f"It is in the history: the same speaker said document {short_id(memory.superseded_by)}"
        " later, which stays current. To make this text current, use supersede."
    )


def print_contradictions(contradictions: Iterable[Contradiction]) -> None:
    """Print contradictions."""
    for contradiction in contradictions:
        ids = f"{short_id(contradiction.first)} and {short_id(contradiction.second)}"
        message = f"{ids} contradict each other: {contradiction.reason}"
        print_line(f"Contradiction: {one_line(message, 400)}")


def receipt_json(receipt: Receipt) -> dict[str, Any]:
    """Return a receipt as JSON."""
    return {
        "id": receipt.id,
        "what": receipt.what,
        "by": receipt.by,
        "at": receipt.at.isoformat(),
        "reason": receipt.reason,
        "counts": counts_json(receipt.counts),
        "ids": list(receipt.ids),
        "reinstated": list(receipt.reinstated),
    }


def forget_receipt_json(receipt: ForgetReceipt) -> dict[str, Any]:
    """Return the receipt of a deletion as JSON."""
    return {
        **counts_json(receipt.counts),
        "receipt": receipt.id,
        "condition": receipt.condition,
        "by": receipt.by,
        "at": receipt.at.isoformat() if receipt.at else None,
        "reinstated": list(receipt.reinstated),
    }


def print_reinstated(ids: Iterable[str], *, is_preview: bool = False) -> None:
    """Print which memories become current again."""
    for id_ in ids:
        typer.echo(f"{'Would be current' if is_preview else 'Current'} again: {short_id(id_)}")

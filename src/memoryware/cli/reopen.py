"""`reopen`: undo approvals and rejections, so that their entries wait for review again."""

from __future__ import annotations

from typing import Annotated

import typer

from memoryware._runner import run_blocking
from memoryware.cli import _output
from memoryware.cli._ids import PREFIX_HELP, TargetResolver
from memoryware.cli._layout import short_id, short_ids
from memoryware.cli._options import CommandContext, DryRun, Quiet, memory_command
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.model import Entry
from memoryware.tiers.reopen import Reopened, reopen_records
from memoryware.tiers.stores.protocol import Select


@memory_command
def reopen(
    context: CommandContext,
    ids: Annotated[
        list[str],
        typer.Argument(metavar="ID", help=f"Ids of decided entries or of memories; {PREFIX_HELP}."),
    ],
    *,
    dry_run: DryRun = False,
    quiet: Quiet = False,
) -> None:
    """Undo approvals and rejections, all of them or none; their entries wait for review again.

    With the id of a memory, the approval that promoted it is undone. What was promoted is hidden
    with everything derived from it, and restore shows it again. Entries that say the same were
    decided together, and are reopened together.

    Exit codes: 0 done, 1 the store failed, 2 usage error, 3 the configuration cannot be read,
    4 an entry was not decided or is revoked, or there is no such id.
    """
    scope = context.require_group()
    with context.open_memory() as memory:
        resolver = TargetResolver(memory, scope)
        targets = [resolver.resolve_decided(id_) for id_ in ids]
        result = run_blocking(
            reopen_records(memory.parts, scope, targets, by=context.by, dry_run=dry_run)
        )
        entries = _entries(memory, context, result)
    if context.json:
        receipt = None if result.receipt is None else _output.receipt_json(result.receipt)
        _output.print_json(
            {
                "reopened": [*map(_output.record_json, entries)],
                "receipt": receipt,
                "kept": list(result.kept),
                "done": not dry_run,
            }
        )
    elif quiet:
        _output.print_ids(result.ids)
    else:
        _report(context, result, is_preview=dry_run)


def _entries(memory: TieredMemory, context: CommandContext, result: Reopened) -> list[Entry]:
    select = Select.within(context.scope, ids=result.ids)
    by_id = {entry.id: entry for entry in memory.parts.stores.quarantine.find(select).items}
    return [by_id[id_] for id_ in result.ids if id_ in by_id]


def _report(context: CommandContext, result: Reopened, *, is_preview: bool) -> None:
    """Print what waits again, and what was hidden."""
    for name in short_ids(result.ids).values():
        typer.echo(f"{'Would reopen' if is_preview else 'Reopened'}: {name}")
    receipt = result.receipt
    if receipt is not None and receipt.counts.total:
        outcome = "Would hide" if is_preview else "Hid"
        _output.print_line(f"{outcome} {_output.describe_counts(receipt.counts)}")
        _output.print_reinstated(receipt.reinstated)
        if not is_preview:
            command = f"memoryware restore {short_id(receipt.id)}{context.repeat_options}"
            typer.echo(f"To show it again: {command}")
    for id_ in result.kept:
        _output.print_line(
            f"{short_id(id_)} stays in long-term memory: somebody else has promoted it as well."
        )

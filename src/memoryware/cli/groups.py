"""`memoryware groups`: which tenants and groups have records."""

from __future__ import annotations

from typing import Annotated

import typer

from memoryware.cli import _output
from memoryware.cli._options import CommandContext, memory_command
from memoryware.scope import MemoryScope

_NUMBERS = ("waiting", "quarantine", "working", "long-term")


@memory_command
def groups(
    context: CommandContext,
    *,
    all_tenants: Annotated[
        bool, typer.Option("--all-tenants", "-a", help="Groups of every tenant, not of one.")
    ] = False,
) -> None:
    """List the groups that have records, and how many: waiting for review, and in each tier.

    Exit codes: 0 done, 1 the store failed, 2 usage error, 3 the configuration cannot be read.
    """
    with context.open_memory() as memory:
        summaries = [
            group
            for group in memory.groups()
            if all_tenants or group.tenant == context.scope.tenant
        ]
        waiting = [
            memory.count_waiting(MemoryScope(tenant=group.tenant, group_id=group.group_id))
            for group in summaries
        ]
        others = 0 if all_tenants else len(memory.groups()) - len(summaries)
    if context.json:
        items = [
            {
                "tenant": group.tenant,
                "group_id": group.group_id,
                "waiting": count,
                **_output.counts_json(group.counts),
            }
            for group, count in zip(summaries, waiting, strict=True)
        ]
        _output.print_json({"items": items})
        return
    has_tenants = any(group.tenant is not None for group in summaries)
    head = [*(["tenant"] if has_tenants else []), "group", *_NUMBERS]
    rows = [
        [
            *([group.tenant or ""] if has_tenants else []),
            group.group_id or "",
            f"{count:,}",
            f"{group.counts.quarantine:,}",
            f"{group.counts.working:,}",
            f"{group.counts.long_term:,}",
        ]
        for group, count in zip(summaries, waiting, strict=True)
    ]
    if rows:
        _output.print_grid(head, rows, numbers=_NUMBERS)
    else:
        typer.echo("No records.")
    if others:
        verb = "is 1 group" if others == 1 else f"are {others:,} groups"
        typer.echo(f"There {verb} of other tenants: --all-tenants.")

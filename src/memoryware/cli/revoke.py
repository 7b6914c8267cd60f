"""`revoke`, `restore` and `forget`: hide memories and what was derived from them, or delete."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import typer

from memoryware._runner import run_blocking
from memoryware.cli import _output
from memoryware.cli._ids import PREFIX_HELP, require_id, resolve_id, resolve_receipt
from memoryware.cli._layout import short_id
from memoryware.cli._options import CommandContext, DryRun, Quiet, Yes, memory_command
from memoryware.errors import EntryMissing, SettingError
from memoryware.scope import MemoryScope
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.forget import ForgetCondition, affected_by_forget, forget_queued
from memoryware.tiers.model import Record
from memoryware.tiers.provenance import Origin
from memoryware.tiers.revoke import AffectedRecords
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.values import LAYERS, Counts, Layer, Receipt

OriginOption = Annotated[
    str | None,
    typer.Option(
        "--origin",
        "-o",
        metavar="KIND:NAME",
        help="Everything from this origin, such as tool:web_search, user:ann, import:backup.",
    ),
]


@memory_command
def revoke(
    context: CommandContext,
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID", help=f"Ids of entries or memories; {PREFIX_HELP}."),
    ] = None,
    *,
    origin: OriginOption = None,
    alone: Annotated[
        bool, typer.Option("--alone", help="Only ID itself, not what was derived from it.")
    ] = False,
    reason: Annotated[
        str,
        typer.Option("--reason", "-r", help="The reason; written to the journal of the store."),
    ] = "",
    dry_run: DryRun = False,
    yes: Yes = False,
    quiet: Quiet = False,
) -> None:
    """Hide memories, what they were promoted from and all that was derived, after confirmation.

    All of them or none. Nothing is deleted. It prints the id of the revocation, with which restore
    undoes it.

    Exit codes: 0 done, 1 the store failed, 2 usage error, 3 the configuration cannot be read,
    4 there is no such id, or declined.
    """
    scope, target = context.require_group(), _parse_target(ids, origin)
    if alone and origin:
        raise SettingError("--alone needs an ID; it cannot be used with --origin")
    with context.open_memory() as memory:
        if isinstance(target, tuple):
            select = Select.within(scope)
            whole_ids = dict.fromkeys(resolve_id(memory, select, prefix) for prefix in target)
            target = tuple(whole_ids)
        planned = memory.revoke(target, scope, by=context.by, dry_run=True)
        if not planned.ids:
            raise EntryMissing(f"no memory here came from {target}")
        if alone:
            planned = _alone(planned, target)
        first = _affected_records(memory, planned)
        if not context.json and not (quiet and yes):
            _print_planned(planned, first, dry_run=dry_run)
        if dry_run:
            if context.json:
                shown = {"records": _output.preview_json(first)}
                _output.print_json(_output.receipt_json(planned) | shown)
            return
        _output.confirm("Hide them?", yes=yes)
        hide = memory.mark_invalid if alone else memory.revoke
        receipt = hide(target, scope, by=context.by, reason=reason)
    if reason and context.journal is None:
        _warn_no_journal(context)
    if context.json:
        _output.print_json(_output.receipt_json(receipt))
        return
    if quiet:
        _output.print_ids([receipt.id])
        return
    _output.print_line(f"Hid {_output.describe_counts(receipt.counts)}")
    _output.print_reinstated(receipt.reinstated)
    typer.echo(f"To undo this: memoryware restore {short_id(receipt.id)}{context.repeat_options}")


def _alone(planned: Receipt, target: tuple[str, ...] | Origin) -> Receipt:
    """Return a planned receipt of the named records alone."""
    named = target if isinstance(target, tuple) else ()
    return replace(planned, ids=named, counts=Counts())


def _print_planned(
    planned: Receipt, first: Sequence[tuple[Layer, Record]], *, dry_run: bool
) -> None:
    """Print what will be hidden; a receipt of the named records alone has no counts."""
    count = max(len(planned.ids), planned.counts.total)
    amount = _output.describe_counts(planned.counts)
    if not planned.counts.total:
        amount = "1 record" if count == 1 else f"{count:,} records"
    _output.print_line(f"{'Would hide' if dry_run else 'Will hide'}: {amount}")
    _output.print_preview(first, count)
    _output.print_reinstated(planned.reinstated, is_preview=True)


def _warn_no_journal(context: CommandContext) -> None:
    """Warn that the reason is lost, and say how to create a journal."""
    name = "" if context.file is None else context.file.with_suffix(".journal.jsonl").name
    hint = f"; to start one, create an empty file {name} next to it" if name else ""
    typer.echo(
        f"memoryware: the reason was not recorded: this store has no journal{hint}", err=True
    )


def _parse_target(ids: Sequence[str] | None, origin: str | None) -> tuple[str, ...] | Origin:
    if bool(ids) == (origin is not None):
        raise SettingError(
            "name what to revoke: the ID of an entry or memory, or --origin KIND:NAME"
        )
    return Origin.parse(origin) if origin is not None else tuple(ids or ())


def _affected_records(memory: TieredMemory, receipt: Receipt) -> list[tuple[Layer, Record]]:
    """Return the first records of a receipt; it has ids without their tiers."""
    ids = dict.fromkeys(LAYERS, receipt.ids)
    return _output.find_first(memory, Select.within(receipt.scope), ids)


@memory_command
def restore(
    context: CommandContext,
    receipts: Annotated[
        list[str],
        typer.Argument(metavar="RECEIPT", help=f"The ids that revoke printed; {PREFIX_HELP}."),
    ],
    *,
    dry_run: DryRun = False,
) -> None:
    """Undo revocations, all of them or none: show everything again that they hid.

    Exit codes: 0 done, 1 the store failed, 2 usage error, 3 the configuration cannot be read,
    4 there is no revocation with this id.
    """
    scope = context.require_group()
    with context.open_memory() as memory:
        select = Select.within(scope)
        whole_ids = dict.fromkeys(resolve_receipt(memory, select, prefix) for prefix in receipts)
        revocations = [memory.find_receipt(id_, scope) for id_ in whole_ids]
        planned = sum((revocation.counts for revocation in revocations), Counts())
        every = tuple(dict.fromkeys(id_ for revocation in revocations for id_ in revocation.ids))
        first = _affected_records(memory, replace(revocations[0], ids=every)) if dry_run else []
        counts = planned
        if not dry_run:
            restored = memory.restore_many(revocations, by=context.by)
            counts = sum(restored, Counts())
    if context.json:
        shown = {"records": _output.preview_json(first)} if dry_run else {}
        _output.print_json(_output.counts_json(counts) | {"done": not dry_run} | shown)
        return
    outcome = "Would restore" if dry_run else "Restored"
    _output.print_line(f"{outcome} {_output.describe_counts(counts)}")
    _output.print_preview(first, max(len(every), planned.total))
    if not dry_run and counts.total < planned.total:
        _output.print_line("The rest stays hidden: another revocation hides it as well.")


@memory_command
def forget(
    context: CommandContext,
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID", help=f"Only these records; {PREFIX_HELP}.")
    ] = None,
    *,
    origin: OriginOption = None,
    words: Annotated[
        str | None, typer.Option("--words", "-w", help="Only records with all these words.")
    ] = None,
    everything: Annotated[
        bool,
        typer.Option(
            "--everything", help="Everything of the group, user, agent or session that is named."
        ),
    ] = False,
    all_groups: Annotated[
        bool,
        typer.Option("--all-groups", help="In every group of the tenant; ignores --group."),
    ] = False,
    keep_derived: Annotated[
        bool, typer.Option("--keep-derived", help="Keep what was derived from it.")
    ] = False,
    reason: Annotated[
        str,
        typer.Option("--reason", "-r", help="The reason; written to the journal of the store."),
    ] = "",
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Delete memories from every tier permanently, after confirmation.

    --user, --agent and --session narrow the deletion, in one --group or, with --all-groups, in all.

    Exit codes: 0 done, 1 the store failed, 2 usage error, 3 the configuration cannot be read,
    4 there is nothing to delete, or declined.
    """
    scope = _deletion_scope(context, all_groups=all_groups)
    if not (ids or origin or words or everything):
        raise SettingError("name what to delete: an ID, --origin, --words, or --everything")
    origin_filter = None if origin is None else Origin.parse(origin)
    groups = (scope.group_id,) if scope.group_id else None
    select = Select(tenant=scope.tenant, groups=groups)
    with context.open_memory() as memory:
        ids = [require_id(memory, select, prefix) for prefix in ids or ()] or None
        condition = ForgetCondition(ids, origin_filter, words, not keep_derived)
        if not _confirm_deletion(
            context, memory, (scope, select, condition), dry_run=dry_run, yes=yes
        ):
            return
        receipt = memory.forget(
            scope,
            ids=ids,
            origin=origin_filter,
            query=words,
            derived=not keep_derived,
            by=context.by,
            reason=reason,
        )
    if reason and context.journal is None:
        _warn_no_journal(context)
    if context.json:
        _output.print_json(_output.forget_receipt_json(receipt) | {"done": True})
        return
    _output.print_line(f"Deleted {_output.describe_counts(receipt)}")
    _output.print_reinstated(receipt.reinstated)
    _output.print_line(f"Receipt {receipt.id}: {receipt.condition}, by {receipt.by}")


def _confirm_deletion(
    context: CommandContext,
    memory: TieredMemory,
    meant: tuple[MemoryScope, Select, ForgetCondition],
    *,
    dry_run: bool,
    yes: bool,
) -> bool:
    """Show what would be deleted and ask, again if it grew before the answer."""
    scope, select, condition = meant
    affected = run_blocking(affected_by_forget(memory.parts, scope, condition))
    while True:
        if not context.json:
            _output.print_line(
                f"{'Would' if dry_run else 'Will'} delete permanently, of"
                f" {_describe_owner(scope)}: {_output.describe_counts(affected.counts)}"
            )
        if not affected.total and not dry_run:
            # A thread may wait for extraction that has no records any more.
            run_blocking(forget_queued(memory.parts, scope, condition))
            raise EntryMissing("there is nothing to delete")
        if dry_run or not yes:  # with --yes the texts stay out of the logs of a script
            _show_affected(context, memory, select, affected, dry_run=dry_run)
        if dry_run:
            return False
        _output.confirm("Delete them permanently?", yes=yes)
        if yes:
            return True
        now = run_blocking(affected_by_forget(memory.parts, scope, condition))
        if all({*getattr(now, tier)} <= {*getattr(affected, tier)} for tier in LAYERS):
            return True
        typer.echo("More records match now; nothing was deleted yet.", err=True)
        affected = now


def _show_affected(
    context: CommandContext,
    memory: TieredMemory,
    select: Select,
    affected: AffectedRecords,
    *,
    dry_run: bool,
) -> None:
    first = _output.find_first(memory, select, {tier: getattr(affected, tier) for tier in LAYERS})
    if not context.json:
        _output.print_preview(first, affected.total)
    elif dry_run:
        shown = {"done": False, "records": _output.preview_json(first)}
        _output.print_json(_output.counts_json(affected.counts) | shown)


def _deletion_scope(context: CommandContext, *, all_groups: bool) -> MemoryScope:
    """Return the scope of a deletion; user and agent of the configuration do not narrow it.

    In the configuration they say who asks. Here they would leave records that the command claims
    to delete. A scope without a group means every group, which needs --all-groups.

    Raises:
        SettingError: If neither a group nor --all-groups is given; `--user` alone would delete the
            memory of a person, where somebody may expect all records of the user to go.
    """
    options = context.options
    scope = replace(context.scope, user_id=options.user or None, agent_id=options.agent or None)
    if all_groups:
        return replace(scope, group_id=None)
    if context.is_personal:
        name = context.scope.group_id
        raise SettingError(
            f"--user only narrows a deletion; use --all-groups to delete in every group, or"
            f" --group {shlex.quote(str(name))} for the memory of this person alone"
        )
    if not context.require_group().group_id:
        raise SettingError(
            "records without a group cannot be deleted alone: name a --group, or use --all-groups,"
            " which deletes in every group of the tenant"
        )
    return scope


def _describe_owner(scope: MemoryScope) -> str:
    parts = [_output.one_line(_output.describe_scope(scope))] if scope else []
    return ", ".join([*parts, *([] if scope.group_id else ["every group"])])

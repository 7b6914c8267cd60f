"""`revoke`, `restore` and `forget`: taking memory back, putting it back, deleting it."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from memoryware._twins import finish
from memoryware.cli import _records, showing
from memoryware.cli._ids import BEGINNING, there, whole_id, whole_receipt
from memoryware.cli._opening import Place
from memoryware.cli._options import DryRun, Yes, on_memory
from memoryware.errors import EntryMissing, SettingError
from memoryware.scope import MemoryScope
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.forget import ForgetCondition, affected_by_forget
from memoryware.tiers.model import Origin, Record
from memoryware.tiers.revoke import AffectedRecords
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.values import LAYERS, Layer, Receipt

From = Annotated[
    str | None,
    typer.Option(
        "--origin",
        metavar="KIND:NAME",
        help="Everything that came from there: tool:web_search, user:ann, import:backup.",
    ),
]


@on_memory
def revoke(
    place: Place,
    id_: Annotated[
        str | None, typer.Argument(metavar="ID", help=f"Of an entry or a memory; {BEGINNING}.")
    ] = None,
    *,
    origin: From = None,
    alone: Annotated[
        bool, typer.Option("--alone", help="Not what was made of it; with an ID only.")
    ] = False,
    reason: Annotated[str, typer.Option(help="Why; the journal of the store keeps it.")] = "",
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Hide a text and everything that was made of it; shows what goes, and asks.

    Nothing is deleted: it prints the id with which restore puts all of it back.

    Exit codes: 0 done, 1 the store failed, 2 wrong call, 3 the configuration cannot be read,
    4 there is none with this id, or it was declined.
    """
    scope, said = place.grouped(), _meant(id_, origin)
    if alone and origin:
        raise SettingError("--alone goes with an ID")
    with place.opened() as memory:
        what = whole_id(memory, Select.within(scope), said) if isinstance(said, str) else said
        before = memory.revoke(what, scope, by=place.by, dry_run=True)
        if not before.ids:
            raise EntryMissing(f"nothing here came from {what}")
        ids = (str(what),) if alone else before.ids
        first = _of_receipt(memory, replace(before, ids=ids))
        if not place.json:
            much = "the one text" if alone else _records.counted(before.counts)
            typer.echo(f"{'This would be hidden' if dry_run else 'This will be hidden'}: {much}")
            _records.preview(first, len(ids) if alone else max(len(ids), before.counts.total))
            _records.reinstated(before.reinstated, would=True)
        if dry_run:
            if place.json:
                shown = {"records": _records.preview_as_json(first)}
                showing.document(_records.receipt_as_json(replace(before, ids=ids)) | shown)
            return
        showing.confirm("Hide it?", yes=yes)
        taken = memory.mark_invalid if alone else memory.revoke
        receipt = taken(what, scope, by=place.by, reason=reason)
    if reason and place.journal is None:
        _tell_lost(place)
    if place.json:
        showing.document(_records.receipt_as_json(receipt))
        return
    typer.echo(f"Hidden: {_records.counted(receipt.counts)}")
    _records.reinstated(receipt.reinstated)
    typer.echo(f"To put it back: memoryware restore {receipt.id}{place.again}")


def _tell_lost(place: Place) -> None:
    """Say that nothing keeps a reason, and how that begins."""
    name = "" if place.file is None else place.file.with_suffix(".journal.jsonl").name
    how = f"; an empty file {name} beside it begins one" if name else ""
    typer.echo(f"memoryware: the reason is not kept, as this store has no journal{how}", err=True)


def _meant(id_: str | None, origin: str | None) -> str | Origin:
    if (id_ is None) == (origin is None):
        raise SettingError("say what: the ID of an entry or a memory, or --origin KIND:NAME")
    return Origin.parse(origin) if origin is not None else str(id_)


def _of_receipt(memory: TieredMemory, receipt: Receipt) -> list[tuple[Layer, Record]]:
    """Return the first records of a receipt, which does not say where they are."""
    ids = dict.fromkeys(LAYERS, receipt.ids)
    return _records.first_of(memory, Select.within(receipt.scope), ids)


@on_memory
def restore(
    place: Place,
    receipt: Annotated[
        str, typer.Argument(metavar="RECEIPT", help=f"The id that revoke printed; {BEGINNING}.")
    ],
    *,
    dry_run: DryRun = False,
) -> None:
    """Put back everything that one revocation took back.

    Exit codes: 0 done, 1 the store failed, 2 wrong call, 3 the configuration cannot be read,
    4 nothing was taken back under this id.
    """
    scope = place.grouped()
    with place.opened() as memory:
        found = memory.find_receipt(whole_receipt(memory, Select.within(scope), receipt), scope)
        first = _of_receipt(memory, found) if dry_run else []
        counts = found.counts if dry_run else memory.restore(found, by=place.by)
    if place.json:
        shown = {"records": _records.preview_as_json(first)} if dry_run else {}
        showing.document(_records.counts_as_json(counts) | {"done": not dry_run} | shown)
        return
    what = "It took back" if dry_run else "Shown again"
    typer.echo(f"{what}: {_records.counted(counts)}")
    _records.preview(first, max(len(found.ids), found.counts.total))
    if not dry_run and counts.total < found.counts.total:
        typer.echo("The rest was taken back by another revocation as well, and stays hidden.")


@on_memory
def forget(
    place: Place,
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID", help=f"Only these records; {BEGINNING}.")
    ] = None,
    *,
    origin: From = None,
    words: Annotated[str | None, typer.Option(help="Only what has all these words.")] = None,
    everything: Annotated[
        bool, typer.Option("--everything", help="All that the scope names: group, user, session.")
    ] = False,
    all_groups: Annotated[
        bool,
        typer.Option("--all-groups", help="In every group of the tenant, whatever --group says."),
    ] = False,
    keep_derived: Annotated[
        bool, typer.Option("--keep-derived", help="Leave what was made of it.")
    ] = False,
    reason: Annotated[str, typer.Option(help="Why; the journal of the store keeps it.")] = "",
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Delete memory from every tier for good; shows what goes, and asks.

    --user, --agent and --session say whose, within --group or, with --all-groups, in all of them.

    Exit codes: 0 done, 1 the store failed, 2 wrong call, 3 the configuration cannot be read,
    4 there is nothing to forget, or it was declined.
    """
    scope = _owner(place, all_groups=all_groups)
    if not (ids or origin or words or everything):
        raise SettingError("say what: an ID, --origin, --words, or --everything of the scope")
    source = None if origin is None else Origin.parse(origin)
    groups = (scope.group_id,) if scope.group_id else None
    where = Select(tenant=scope.tenant, groups=groups)
    with place.opened() as memory:
        whole = [there(memory, where, one) for one in ids or ()] or None
        what = ForgetCondition(whole, source, words, not keep_derived)
        if not _agreed(place, memory, (scope, where, what), dry_run=dry_run, yes=yes):
            return
        receipt = memory.forget(
            scope,
            ids=whole,
            origin=source,
            query=words,
            derived=not keep_derived,
            by=place.by,
            reason=reason,
        )
    if reason and place.journal is None:
        _tell_lost(place)
    if place.json:
        showing.document(_records.forgotten_as_json(receipt) | {"done": True})
        return
    typer.echo(f"Deleted: {_records.counted(receipt)}")
    _records.reinstated(receipt.reinstated)
    typer.echo(f"Receipt {receipt.id}: {receipt.condition}, by {receipt.by}")


def _agreed(
    place: Place,
    memory: TieredMemory,
    meant: tuple[MemoryScope, Select, ForgetCondition],
    *,
    dry_run: bool,
    yes: bool,
) -> bool:
    """Show what goes, and ask; show and ask again if it has become more before the answer."""
    scope, where, what = meant
    found = finish(affected_by_forget(memory.parts, scope, what))
    while True:
        if not place.json:
            typer.echo(
                f"{'Would be' if dry_run else 'Will be'} deleted for good, of"
                f" {_whose(scope)}: {_records.counted(found.counts)}"
            )
        if not found.total and not dry_run:
            raise EntryMissing("there is nothing to forget")
        if dry_run or not yes:  # what nobody decides about stays out of the logs of a script
            _show_falling(place, memory, where, found, dry_run=dry_run)
        if dry_run:
            return False
        showing.confirm("Delete it for good?", yes=yes)
        if yes:
            return True
        now = finish(affected_by_forget(memory.parts, scope, what))
        if all({*getattr(now, tier)} <= {*getattr(found, tier)} for tier in LAYERS):
            return True
        typer.echo("It has become more meanwhile; nothing was deleted yet.", err=True)
        found = now


def _show_falling(
    place: Place, memory: TieredMemory, where: Select, found: AffectedRecords, *, dry_run: bool
) -> None:
    first = _records.first_of(memory, where, {tier: getattr(found, tier) for tier in LAYERS})
    if not place.json:
        _records.preview(first, found.total)
    elif dry_run:
        shown = {"done": False, "records": _records.preview_as_json(first)}
        showing.document(_records.counts_as_json(found.counts) | shown)


def _owner(place: Place, *, all_groups: bool) -> MemoryScope:
    """Return what is meant: the person and the persona of the configuration do not narrow it.

    There they say who asks; here that would leave what the command says is deleted. A scope
    without a group means every group, so that this has to be said.

    Raises:
        SettingError: If no group is named, and not all of them are meant.
    """
    asked = place.asked
    scope = replace(place.scope, user_id=asked.user or None, agent_id=asked.agent or None)
    if all_groups:
        return replace(scope, group_id=None)
    if not place.grouped().group_id:
        raise SettingError(
            "what has no group cannot be deleted by itself: name a --group, or say --all-groups,"
            " which deletes in every group of the tenant"
        )
    return scope


def _whose(scope: MemoryScope) -> str:
    known = [showing.one_line(_records.whose(scope))] if scope else []
    return ", ".join([*known, *([] if scope.group_id else ["every group"])])

"""`add`, `propose`, `promote`, `reject`, `supersede`: write to quarantine and long-term memory."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from memoryware.cli import _output
from memoryware.cli._effects import hidden_lines
from memoryware.cli._exit_codes import REFUSED
from memoryware.cli._ids import PREFIX_HELP, DecisionTarget, TargetResolver, resolve_id
from memoryware.cli._layout import short_id, short_ids
from memoryware.cli._options import (
    CommandContext,
    DryRun,
    Quiet,
    Reason,
    Yes,
    memory_command,
    parse_moment,
    time_of,
)
from memoryware.errors import EntryMissing, SettingError
from memoryware.tiers.actors import DecisionActor
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.model import Entry, Memory
from memoryware.tiers.provenance import Provenance
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.values import Promotion

Text = Annotated[str | None, typer.Argument(help='The text; "-" or no text reads standard input.')]
Subject = Annotated[
    str | None, typer.Option(help="The subject; a group has one current text for each.")
]


@memory_command
def add(
    context: CommandContext,
    text: Text = None,
    *,
    propose: Annotated[
        bool, typer.Option("--propose", help="Propose its promotion as well.")
    ] = False,
    key: Annotated[
        str | None, typer.Option(help="Idempotency key: adding the same key again changes nothing.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Add a text to quarantine, for review; secrets are removed from it.

    Exit codes: 0 done, 1 the store failed, 2 usage error, 3 the configuration cannot be read,
    4 refused.
    """
    scope, content = context.require_group(), _text_or_stdin(text)
    if not content.strip():
        raise SettingError("no text was given; pass it as TEXT or on standard input")
    provenance = Provenance(DecisionActor.of(context.by).origin)
    with context.open_memory(make=True) as memory:
        entry = memory.log_quarantine(content, scope, role="other", provenance=provenance, key=key)
        if propose:
            entry = memory.propose(entry, by=context.by)
    if context.json:
        _output.print_json(_output.record_json(entry))
        return
    if quiet:
        _output.print_ids([entry.id])
        return
    outcome = "Proposed" if entry.status == "proposed" else "In quarantine"
    typer.echo(f"{outcome}: {short_id(entry.id)}")


def _text_or_stdin(text: str | None) -> str:
    """Return the argument, or read standard input."""
    if text is not None and text != _output.STDOUT:
        return text
    if sys.stdin.isatty():
        typer.echo("Type the text, then press Ctrl-D.", err=True)
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig").strip("\n")
    except UnicodeDecodeError:
        raise SettingError("standard input is not UTF-8") from None


Ids = Annotated[
    list[str],
    typer.Argument(metavar="ID", help=f"Ids of lines of digest, or of entries; {PREFIX_HELP}."),
]
DueIds = Annotated[
    list[str] | None,
    typer.Argument(metavar="ID", help=f"Ids of lines of digest, or of entries; {PREFIX_HELP}."),
]


@memory_command
def promote(
    context: CommandContext,
    ids: DueIds = None,
    *,
    due: Annotated[
        bool, typer.Option("--due", help="Promote what the policy accepts by itself; takes no ID.")
    ] = False,
    whole: Annotated[
        bool, typer.Option("--whole", help="Promote the whole entry as one text.")
    ] = False,
    subject: Subject = None,
    for_agent: Annotated[str | None, typer.Option(help="Store it for this agent only.")] = None,
    shared: Annotated[
        bool, typer.Option("--shared", help="Share what would be for one user alone.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Promote statements from quarantine to long-term memory, all of them or none.

    Promotes exactly the text that digest shows, if the policy allows it. For an entry of several
    statements, name one of them, as ID#2, or promote all of it with --whole. With --due,
    promotes what the policy of the configuration accepts without a decision.

    Exit codes: 0 done, 1 the store or model failed, 2 usage error, or an entry of several
    statements, 3 the configuration cannot be read, 4 the policy refused, the current text of the
    subject is trusted more (it becomes a proposal), or there is no such id.
    """
    scope = context.require_group()
    if due is bool(ids):
        raise SettingError("pass either the IDs of what to promote, or --due")
    if not ids:
        with context.open_memory(on_mismatch="raise") as memory:
            _report_due(context, memory.promote_due(scope), quiet=quiet)
        return
    if len(ids) > 1 and (subject or for_agent or shared):
        raise SettingError(
            "--subject, --for-agent and --shared need one ID; promote such entries one by one"
        )
    with context.open_memory(on_mismatch="raise") as memory:
        choices = _resolve_all(memory, context, ids)
        targets = [choice.as_whole() if whole else choice.as_shown() for choice in choices]
        if len(targets) == 1:
            promotion = memory.promote(
                targets[0],
                scope,
                by=context.by,
                subject=subject,
                agent_id=for_agent,
                shared=shared,
            )
            promotions = [promotion]
            request = targets[0]
            is_removal = promotion.proposal is None and not promotion.memories
            if is_removal and isinstance(request, Entry) and request.waits is not None:
                _report_removal(context, memory, request, promotion, quiet=quiet)
                return
        else:
            promotions = memory.promote_many(targets, scope, by=context.by)
    _report(context, promotions, quiet=quiet)


@memory_command
def propose(context: CommandContext, ids: Ids, *, quiet: Quiet = False) -> None:
    """Propose entries for promotion, all of them or none: new ones, or rejected ones again.

    Where four_eyes is set, another person has to approve them.

    Exit codes: 0 done, 1 the store failed, 2 usage error, 3 the configuration cannot be read,
    4 an entry is revoked, or in long-term memory already, or there is no such id.
    """
    scope = context.require_group()
    with context.open_memory() as memory:
        choices = _resolve_all(memory, context, ids)
        for choice in choices:
            if choice.status == "promoted":
                raise EntryMissing(
                    f"{choice.id} is in long-term memory already; there is nothing to propose"
                )
        targets = [choice.target for choice in choices]
        entries = memory.propose_many(targets, scope, by=context.by)
    _report_entries(context, "proposed", entries, [entry.id for entry in entries], quiet=quiet)


@memory_command
def reject(context: CommandContext, ids: Ids, *, reason: Reason = "", quiet: Quiet = False) -> None:
    """Reject statements of quarantine, all of them or none; they stay there, unseen by agents.

    ID#2 rejects the second statement of an entry, ID the whole entry. To undo it, use reopen.

    Exit codes: 0 done, 1 the store failed, 2 usage error, 3 the configuration cannot be read,
    4 an entry was promoted already, or there is no such id.
    """
    scope = context.require_group()
    with context.open_memory() as memory:
        choices = _resolve_all(memory, context, ids)
        targets = [choice.target for choice in choices]
        entries = memory.reject_many(targets, scope, by=context.by, reason=reason)
    ids = [id_ for choice in choices for id_ in choice.decided_ids]
    _report_entries(context, "rejected", entries, ids, quiet=quiet)


def _report_removal(
    context: CommandContext,
    memory: TieredMemory,
    request: Entry,
    promotion: Promotion,
    *,
    quiet: bool,
) -> None:
    """Print what an approved request to forget has hidden."""
    if context.json or quiet:
        _report(context, [promotion], quiet=quiet)
        return
    typer.echo(f"Approved: {short_id(request.id)}")
    for line in hidden_lines(memory, [request], context.repeat_options):
        _output.print_line(line)


def _report_entries(
    context: CommandContext,
    action: str,
    entries: Sequence[Entry],
    ids: Sequence[str],
    *,
    quiet: bool,
) -> None:
    if context.json:
        _output.print_json({action: [*map(_output.record_json, entries)]})
    elif quiet:
        _output.print_ids(ids)
    else:
        for name in short_ids(ids).values():
            typer.echo(f"{action.capitalize()}: {name}")


@memory_command
def supersede(
    context: CommandContext,
    old: Annotated[
        str, typer.Argument(metavar="ID", help=f"The id of a current memory; {PREFIX_HELP}.")
    ],
    text: Text = None,
    *,
    subject: Subject = None,
    valid_from: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="When the new text became true: 2026-05-01T12:00, 2026-05-01, 7d."
        ),
    ] = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    quiet: Quiet = False,
) -> None:
    """Replace a memory by a new text; the old one stays in the history.

    Exit codes: 0 done, 1 the store or model failed, 2 usage error, 3 the configuration cannot be
    read, 4 the policy refused, there is no such id, or declined.
    """
    scope, content, begins = (
        context.require_group(),
        _text_or_stdin(text),
        parse_moment("--valid-from", valid_from),
    )
    if not content.strip():
        raise SettingError("no text was given; to remove a memory without a new text, use revoke")
    with context.open_memory(on_mismatch="raise") as memory:
        before = memory.get(resolve_id(memory, Select.within(scope), old), scope)
        if not isinstance(before, Memory):
            raise EntryMissing(
                f"{before.id} is an entry of quarantine; supersede needs a long-term memory"
            )
        if not context.json and not (quiet and yes):
            typer.echo("\n".join(_output.diff_lines(before.content, content)))
        if dry_run:
            if context.json:
                _output.print_json({"old": before.content, "new": content, "done": False})
            return
        _output.confirm("Replace it?", yes=yes)
        promotion = memory.supersede(
            before,
            content,
            scope,
            by=context.by,
            subject=subject,
            valid_from=time_of(begins, memory.parts.clock()),
        )
    _report(context, [promotion], quiet=quiet)


def _report_due(context: CommandContext, promotions: Sequence[Promotion], *, quiet: bool) -> None:
    """Print what the policy has promoted without a decision."""
    _report(context, promotions, quiet=quiet)
    if not (promotions or quiet or context.json):
        typer.echo("Nothing is due.")


def _report(context: CommandContext, promotions: Sequence[Promotion], *, quiet: bool) -> None:
    """Print the results of promotions; exit with 4 if one became a proposal."""
    if context.json:
        _output.print_json({"promotions": [*map(_output.promotion_json, promotions)]})
    elif quiet:
        _output.print_ids(id_ for promotion in promotions for id_ in promotion.ids)
    else:
        for promotion in promotions:
            _output.print_promotion(promotion)
    if any(promotion.proposal is not None for promotion in promotions):
        raise typer.Exit(REFUSED)


def _resolve_all(
    memory: TieredMemory, context: CommandContext, ids: Sequence[str]
) -> list[DecisionTarget]:
    """Resolve all ids before the first is decided, so that a wrong id changes nothing."""
    resolver = TargetResolver(memory, context.scope)
    return [resolver.resolve(id_) for id_ in ids]

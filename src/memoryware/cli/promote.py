"""`add`, `propose`, `promote`, `reject`, `supersede`: write to quarantine and long-term memory."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from memoryware.cli import _output
from memoryware.cli._exit_codes import REFUSED
from memoryware.cli._ids import PREFIX_HELP, DecisionTarget, TargetResolver, resolve_id
from memoryware.cli._options import (
    CommandContext,
    DryRun,
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
    outcome = "Proposed" if entry.status == "proposed" else "In quarantine"
    typer.echo(f"{outcome}: {entry.id}")


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


@memory_command
def promote(
    context: CommandContext,
    id_: Annotated[
        str,
        typer.Argument(
            metavar="ID", help=f"The id of a line of digest, or of an entry; {PREFIX_HELP}."
        ),
    ],
    *,
    whole: Annotated[
        bool, typer.Option("--whole", help="Promote the whole entry as one text.")
    ] = False,
    subject: Subject = None,
    for_agent: Annotated[str | None, typer.Option(help="Store it for this agent only.")] = None,
) -> None:
    """Promote a statement from quarantine to long-term memory, if the policy allows it.

    Promotes exactly the text that digest shows. For an entry of several statements, name one of
    them, as ID#2, or promote all of it with --whole.

    Exit codes: 0 done, 1 the store or model failed, 2 usage error, or an entry of several
    statements, 3 the configuration cannot be read, 4 the policy refused, the current text of the
    subject is trusted more (it becomes a proposal), or there is no such id.
    """
    scope = context.require_group()
    with context.open_memory(on_mismatch="raise") as memory:
        choice = TargetResolver(memory, context.scope).resolve(id_)
        target = choice.as_whole() if whole else choice.as_shown()
        promotion = memory.promote(
            target, scope, by=context.by, subject=subject, agent_id=for_agent
        )
    _report(context, promotion)


@memory_command
def propose(
    context: CommandContext,
    ids: Annotated[
        list[str],
        typer.Argument(metavar="ID", help=f"Ids of lines of digest, or of entries; {PREFIX_HELP}."),
    ],
) -> None:
    """Propose entries for promotion: new ones, or rejected ones again.

    Where four_eyes is set, another person has to approve them.

    Exit codes: 0 done, 1 the store failed, 2 usage error, 3 the configuration cannot be read,
    4 an entry is revoked, or in long-term memory already, or there is no such id.
    """
    scope, done = context.require_group(), list[Entry]()
    with context.open_memory() as memory:
        for choice in (choices := _resolve_all(memory, context, ids)):
            if choice.status == "promoted":
                raise EntryMissing(
                    f"{choice.id} is in long-term memory already; there is nothing to propose"
                )
        for choice in choices:
            done.append(memory.propose(choice.target, scope, by=context.by))
            if not context.json:
                typer.echo(f"Proposed: {done[-1].id}")
    if context.json:
        _output.print_json({"proposed": [*map(_output.record_json, done)]})


@memory_command
def reject(
    context: CommandContext,
    ids: Annotated[
        list[str],
        typer.Argument(metavar="ID", help=f"Ids of lines of digest, or of entries; {PREFIX_HELP}."),
    ],
    *,
    reason: Reason = "",
) -> None:
    """Reject statements of quarantine; they stay there, and no agent sees them.

    ID#2 rejects the second statement of an entry, ID the whole entry.

    Exit codes: 0 done, 1 the store failed, 2 usage error, 3 the configuration cannot be read,
    4 an entry was promoted already, or there is no such id.
    """
    scope, done = context.require_group(), list[Entry]()
    with context.open_memory() as memory:
        for choice in _resolve_all(memory, context, ids):
            done.append(memory.reject(choice.target, scope, by=context.by, reason=reason))
            if not context.json:
                typer.echo(f"Rejected: {choice.id}")
    if context.json:
        _output.print_json({"rejected": [*map(_output.record_json, done)]})


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
        if not context.json:
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
    _report(context, promotion)


def _report(context: CommandContext, promotion: Promotion) -> None:
    """Print the result of a promotion; exit with 4 if it became a proposal."""
    if context.json:
        _output.print_json(_output.promotion_json(promotion))
    else:
        _output.print_promotion(promotion)
    if promotion.proposal is not None:
        raise typer.Exit(REFUSED)


def _resolve_all(
    memory: TieredMemory, context: CommandContext, ids: Sequence[str]
) -> list[DecisionTarget]:
    """Resolve all ids before the first is decided, so that a wrong id changes nothing."""
    resolver = TargetResolver(memory, context.scope)
    return [resolver.resolve(id_) for id_ in ids]

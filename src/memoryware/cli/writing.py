"""`add`, `propose`, `promote`, `reject`, `supersede`: what comes into memory, and what does not."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from memoryware.cli import _records, showing
from memoryware.cli._decidable import Choice, DecidableIds
from memoryware.cli._ids import BEGINNING, whole_id
from memoryware.cli._opening import Place
from memoryware.cli._options import DryRun, Reason, Yes, moment_of, on_memory
from memoryware.errors import EntryMissing, SettingError
from memoryware.tiers.actors import Actor
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.model import Entry, Memory, Provenance
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.values import Promotion

Text = Annotated[
    str | None, typer.Argument(help='The text; "-" or nothing reads it from standard input.')
]
Subject = Annotated[
    str | None, typer.Option(help="What it is about; a group has one current text of it.")
]


@on_memory
def add(
    place: Place,
    text: Text = None,
    *,
    propose: Annotated[
        bool, typer.Option("--propose", help="Ask for its promotion as well, in your name.")
    ] = False,
    key: Annotated[
        str | None, typer.Option(help="The same key again adds nothing: for scripts.")
    ] = None,
) -> None:
    """Put a text into quarantine, where it waits for review; secrets are cut out of it.

    Exit codes: 0 done, 1 the store failed, 2 wrong call, 3 the configuration cannot be read,
    4 it was refused.
    """
    scope, content = place.grouped(), _given(text)
    if not content.strip():
        raise SettingError("there is no text to add")
    made = Provenance(Actor.of(place.by).origin)
    with place.opened(make=True) as memory:
        entry = memory.log_quarantine(content, scope, role="other", provenance=made, key=key)
        if propose:
            entry = memory.propose(entry, by=place.by)
    if place.json:
        showing.document(_records.as_json(entry))
        return
    what = "Proposed" if entry.status == "proposed" else "In quarantine"
    typer.echo(f"{what}: {entry.id}")


def _given(text: str | None) -> str:
    """Return the text of a call, or what standard input has."""
    if text is not None and text != showing.STDOUT:
        return text
    if sys.stdin.isatty():
        typer.echo("Type the text; Ctrl-D ends it.", err=True)
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig").strip("\n")
    except UnicodeDecodeError:
        raise SettingError("standard input is not UTF-8") from None


@on_memory
def promote(
    place: Place,
    id_: Annotated[
        str,
        typer.Argument(metavar="ID", help=f"Of a line of digest, or of an entry; {BEGINNING}."),
    ],
    *,
    whole: Annotated[
        bool, typer.Option("--whole", help="Take all that the entry says, as one text.")
    ] = False,
    subject: Subject = None,
    for_agent: Annotated[
        str | None, typer.Option(help="Make it the experience of this agent alone.")
    ] = None,
) -> None:
    """Put a statement of quarantine into long-term memory, if the policy lets you.

    It keeps exactly the text that digest shows. An entry of several statements is refused, unless
    you name one of them, as ID#2, or take all of it with --whole.

    Exit codes: 0 done, 1 the store or model failed, 2 wrong call, or an entry of several
    statements, 3 the configuration cannot be read, 4 the policy asks for more, what is current of
    the subject is trusted more, so that it waits, or there is none with this id.
    """
    scope = place.grouped()
    with place.opened(on_mismatch="raise") as memory:
        choice = DecidableIds(memory, place.scope).choose(id_)
        target = choice.as_whole() if whole else choice.as_shown()
        made = memory.promote(target, scope, by=place.by, subject=subject, agent_id=for_agent)
    _told(place, made)


@on_memory
def propose(
    place: Place,
    ids: Annotated[
        list[str],
        typer.Argument(metavar="ID", help=f"Of lines of digest, or of entries; {BEGINNING}."),
    ],
) -> None:
    """Put entries before the reviewers, in your name: raw ones, and what was rejected once more.

    Where four_eyes is set, somebody else has to approve them then.

    Exit codes: 0 done, 1 the store failed, 2 wrong call, 3 the configuration cannot be read,
    4 one is revoked, or in long-term memory already, or there is none with this id.
    """
    scope, done = place.grouped(), list[Entry]()
    with place.opened() as memory:
        for choice in (choices := _chosen(memory, place, ids)):
            if choice.status == "promoted":
                raise EntryMissing(f"{choice.id} is in long-term memory already; nothing waits")
        for choice in choices:
            done.append(memory.propose(choice.target, scope, by=place.by))
            if not place.json:
                typer.echo(f"Proposed: {done[-1].id}")
    if place.json:
        showing.document({"proposed": [*map(_records.as_json, done)]})


@on_memory
def reject(
    place: Place,
    ids: Annotated[
        list[str],
        typer.Argument(metavar="ID", help=f"Of lines of digest, or of entries; {BEGINNING}."),
    ],
    *,
    reason: Reason = "",
) -> None:
    """Turn statements of quarantine down; they stay there, and nothing shows them to an agent.

    ID#2 turns down the second statement of an entry, the id of an entry all that it says.

    Exit codes: 0 done, 1 the store failed, 2 wrong call, 3 the configuration cannot be read,
    4 one was promoted already, or there is none with this id.
    """
    scope, done = place.grouped(), list[Entry]()
    with place.opened() as memory:
        for choice in _chosen(memory, place, ids):
            done.append(memory.reject(choice.target, scope, by=place.by, reason=reason))
            if not place.json:
                typer.echo(f"Rejected: {choice.id}")
    if place.json:
        showing.document({"rejected": [*map(_records.as_json, done)]})


@on_memory
def supersede(
    place: Place,
    old: Annotated[
        str, typer.Argument(metavar="ID", help=f"Of a memory that holds now; {BEGINNING}.")
    ],
    text: Text = None,
    *,
    subject: Subject = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Since when it holds: 2026-05-01T12:00.")
    ] = None,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Put a new text in the place of a memory; the old one stays as what held before.

    Exit codes: 0 done, 1 the store or model failed, 2 wrong call, 3 the configuration cannot be
    read, 4 the policy asks for more, there is none with this id, or it was declined.
    """
    scope, content, begins = place.grouped(), _given(text), moment_of("--since", since)
    if not content.strip():
        raise SettingError("there is no text; revoke takes a memory back without a new one")
    with place.opened(on_mismatch="raise") as memory:
        before = memory.get(whole_id(memory, Select.within(scope), old), scope)
        if not isinstance(before, Memory):
            raise EntryMissing(f"{before.id} is an entry of quarantine; supersede needs a memory")
        if not place.json:
            typer.echo("\n".join(showing.differences(before.content, content)))
        if dry_run:
            if place.json:
                showing.document({"old": before.content, "new": content, "done": False})
            return
        showing.confirm("Put the new text in its place?", yes=yes)
        made = memory.supersede(
            before, content, scope, by=place.by, subject=subject, valid_from=begins
        )
    _told(place, made)


def _told(place: Place, made: Promotion) -> None:
    """Print what became of a promotion; one that waits ends with 4, as what a policy refuses."""
    if place.json:
        showing.document(_records.promoted_as_json(made))
    else:
        _records.promoted(made)
    if made.proposal is not None:
        raise typer.Exit(showing.DECLINED)


def _chosen(memory: TieredMemory, place: Place, ids: Sequence[str]) -> list[Choice]:
    """Return what each id means; all are there before the first is decided."""
    known = DecidableIds(memory, place.scope)
    return [known.choose(id_) for id_ in ids]

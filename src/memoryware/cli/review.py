"""`digest` and `review`: list what waits in quarantine, and decide about it one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Annotated, Any, Final

import typer

from memoryware.cli import _keys, _records, showing
from memoryware.cli._decidable import ALL, shown_ids
from memoryware.cli._opening import Place
from memoryware.cli._options import days_of, on_memory
from memoryware.errors import EntryMissing, MemorywareError, PromotionRefused
from memoryware.tiers.actors import Actor
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.model import Entry, Provenance
from memoryware.tiers.review.insights import insight_of_entry
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.text.terms import words_of
from memoryware.tiers.values import ContextItem, Digest, Insight

NEAR: Final = 0.4
"""Share of its words that a memory must have in common with a text to be shown beside it."""
_DIGITS: Final = 9
_LINE: Final = 400
"""Characters of a statement that `digest` shows."""
_EVIDENCE: Final = 20
"""Entries of an insight that are shown, and can be taken out of it."""
_ASKED: Final = 1000
"""Characters of a text with which memories near it are looked for."""
_KEYS: Final[Mapping[str, str]] = {
    "a": "approve: it becomes long-term memory",
    "i": "approve instead of the memory it is near to, which becomes the past",
    "p": "propose: ask somebody else to approve it",
    "r": "reject, with a reason",
    "e": "edit: your text is proposed in its place",
    "x": "take an entry out of the group: x 2 the second, x all of them, each decided alone",
    "s": "skip",
    "u": "back to the one before",
    "q": "quit",
    "?": "this help",
}
_PROMPT: Final = (
    "[a]pprove [i]nstead [p]ropose [r]eject [e]dit [x] take out [s]kip [u]back [q]uit [?] "
)
Days = Annotated[
    float | None,
    typer.Option(min=0, help="How far back; all that waits by default, whatever the limits say."),
]
OlderThan = Annotated[
    float | None, typer.Option(min=0, metavar="DAYS", help="Only what waits at least so long.")
]
From = Annotated[
    str | None,
    typer.Option(
        "--origin",
        metavar="ORIGIN",
        help="Only what has this in its lineage: tool:web_search, or a kind such as tool.",
    ),
]
WithTrust = Annotated[
    str | None,
    typer.Option(
        "--trust", help="Only what is trusted so far: untrusted, unverified, user, person."
    ),
]
OfUser = Annotated[
    str | None,
    typer.Option("--of-user", metavar="NAME", help="Only what was recorded for this user."),
]
Limit = Annotated[
    int | None, typer.Option("--limit", "-n", min=1, help="How many insights at most.")
]
After = Annotated[
    str | None, typer.Option(metavar="CURSOR", help="Go on after a page: its cursor.")
]


@on_memory
def digest(
    place: Place,
    *,
    days: Days = None,
    older_than: OlderThan = None,
    origin: From = None,
    trust: WithTrust = None,
    of_user: OfUser = None,
    limit: Limit = None,
    after: After = None,
) -> None:
    """List what waits in quarantine, one line for each statement. Nothing is promoted.

    What is worth most to a reviewer comes first. Texts that disagree about the same matter stand
    side by side. The id of a line, such as ID#2 for the second statement of an entry, is what
    promote, reject and propose take to decide about exactly this statement; so is each "id" of
    --json.

    Exit codes: 0 done, 1 the store failed, 2 wrong call, 3 the configuration cannot be read.
    """
    scope = place.grouped()
    with place.opened() as memory:
        page = memory.digest(
            scope,
            since=ALL if days is None else days_of(days),
            before=_before(memory, older_than),
            origin=origin,
            trust=trust,
            user=of_user,
            limit=limit,
            after=after,
        )
        ids = shown_ids(memory, scope, page.insights)
    if place.json:
        showing.document(_as_json(page))
        return
    for insight in page.insights:
        _line(insight, ids[insight.id])
    if not page.insights:
        typer.echo("Nothing waits." if not page.waiting else "Nothing of it fits.")
    if page.next:
        typer.echo(f"More follow: --after {showing.one_line(page.next, 600)}")
    if page.more:
        typer.echo(f"{page.more:,} more wait; they come when these are decided.")
    if page.older:
        entries = "1 older entry waits" if page.older == 1 else f"{page.older:,} older entries wait"
        typer.echo(f"{entries}; leave --days out to see all.")
    if page.waiting:
        entries = "1 entry waits" if page.waiting == 1 else f"{page.waiting:,} entries wait"
        statements = "1 statement" if page.total == 1 else f"{page.total:,} statements"
        typer.echo(f"{entries}; {statements} to decide about.")


def _before(memory: TieredMemory, older_than: float | None) -> datetime | None:
    if older_than is None:
        return None
    try:
        return memory.parts.clock() - days_of(older_than)
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC)


def _line(insight: Insight, id_: str) -> None:
    lineage = insight.provenance
    count, size = len(insight.entry_ids), len(insight.summary)
    _records.head(
        id_,
        f"trust {lineage.trust.name.lower()}",
        ", ".join(map(str, lineage.roots)),
        f"{count} entries: {', '.join(insight.entry_ids[:_EVIDENCE])}" if count > 1 else "",
        "in conflict" if insight.conflicts_with else "",
        "contradicts long-term memory" if insight.contradicts else "",
        f"was replaced on {insight.replaced[-1].at:%Y-%m-%d}" if insight.replaced else "",
        f"the first {_LINE} of {size:,} characters" if size > _LINE else "",
    )
    _records.text(insight.summary, _LINE)


def _as_json(page: Digest) -> dict[str, Any]:
    return {
        "since": page.since.isoformat(),
        "waiting": page.waiting,
        "entries": page.entries,
        "total": page.total,
        "more": page.more,
        "older": page.older,
        "next": page.next,
        "insights": [
            {
                "id": insight.id,
                "summary": insight.summary,
                "extractive": insight.extractive,
                "trust": insight.provenance.trust.name.lower(),
                "roots": [*map(str, insight.provenance.roots)],
                "entries": list(insight.source_entry_ids),
                "repeats": list(insight.repeats),
                "conflicts_with": list(insight.conflicts_with),
                "contradicts": list(insight.contradicts),
                "replaced": [
                    {"memory": one.memory_id, "at": one.at.isoformat(), "by": one.by}
                    for one in insight.replaced
                ],
            }
            for insight in page.insights
        ],
    }


@on_memory
def review(
    place: Place,
    *,
    days: Days = None,
    older_than: OlderThan = None,
    origin: From = None,
    trust: WithTrust = None,
    of_user: OfUser = None,
    limit: Limit = None,
) -> None:
    """Decide about what waits in quarantine, one by one: approve, reject, edit, propose.

    Single keys on a terminal; without one, a line for each on standard input: "a", "r outdated",
    "e the new text". Press ? for all of them.

    Exit codes: 0 done, 1 the store or model failed, 2 wrong call, 3 the configuration cannot be
    read.
    """
    scope = place.grouped()
    with place.opened(on_mismatch="raise") as memory:
        page = memory.digest(
            scope,
            since=ALL if days is None else days_of(days),
            before=_before(memory, older_than),
            origin=origin,
            trust=trust,
            user=of_user,
            limit=limit,
        )
        done = _Review(memory, place, [*page.insights], older=page.older).run()
        waiting = memory.count_waiting(scope)
    if place.json:
        showing.document(
            {"decided": done, "more": page.more, "older": page.older, "waiting": waiting}
        )
        return
    counted = Counter(one["did"] for one in done)
    summary = ", ".join(f"{number} {did}" for did, number in counted.items())
    left = f" {waiting:,} still waiting." if waiting else ""
    if page.older:
        left += f" {page.older:,} of them older; leave --days out to see all."
    typer.echo((f"Done: {summary}." if summary else "Nothing was decided.") + left)


@dataclass
class _Review:
    """Going through what waits.

    Attributes:
        memory: The memory.
        place: Who decides, and whose memory it is.
        waiting: What waits.
        older: How many entries wait that are older than what was asked for.
        done: What was decided.
        at: Where in the list.
    """

    memory: TieredMemory
    place: Place
    waiting: list[Insight]
    older: int = 0
    done: list[dict[str, Any]] = field(default_factory=list)
    at: int = 0

    def run(self) -> list[dict[str, Any]]:
        """Ask about each, until the end or until somebody quits; return what was decided."""
        if not self.waiting:
            self.say("Nothing waits." if not self.older else "Nothing newer waits.")
        acts: dict[str, Callable[[Insight, str], bool]] = {
            "a": self.approve,
            "i": self.instead,
            "p": self.propose,
            "r": self.reject,
            "e": self.edit,
            "x": self.take_apart,
            "s": lambda *_: True,
            " ": lambda *_: True,
        }
        shown = -1
        while self.at < len(self.waiting):
            one = self.waiting[self.at]
            if shown != self.at:
                self.show(one)
                shown = self.at
            pressed, more = _keys.key(_PROMPT)
            if pressed in ("", "q", "\x03", "\x04"):
                break
            if pressed == "u":
                self.at, shown = max(0, self.at - 1), -1
            elif pressed in acts:
                before = self.waiting[self.at]
                if self.tried(acts[pressed], one, more):
                    self.at += 1
                elif self.waiting[self.at] is not before:
                    shown = -1
            else:
                self.help()
        return self.done

    def say(self, text: str = "") -> None:
        """Print for the person; where JSON is printed, beside it."""
        typer.echo(text, err=self.place.json)

    def help(self) -> None:
        """Tell what the keys do."""
        for name, what in _KEYS.items():
            self.say(f"  {name}  {what}")

    def tried(self, act: Callable[[Insight, str], bool], one: Insight, more: str) -> bool:
        """Do something; what the rules refuse is told, and the next key may be another."""
        try:
            return act(one, more)
        except PromotionRefused as refused:
            said = f"Not done: {showing.one_line(str(refused), 600)}"
            if "own_proposal" in refused.reasons:
                said += " (p proposes it, for somebody else to approve)"
            self.say(said)
        except MemorywareError as error:
            self.say(f"Not done: {showing.one_line(str(error), 600)}")
        return False

    # Showing.

    def show(self, one: Insight) -> None:
        """Show a text with its evidence, and what it would stand beside."""
        entries = self.entries(one.entry_ids[:_EVIDENCE])
        self.say()
        place = f"{self.at + 1} of {len(self.waiting)}"
        self.say(
            typer.style(f"── {place} ──  trust {one.provenance.trust.name.lower()}", bold=True)
        )
        self.say(showing.indented(one.summary))
        self.say()
        if len(entries) > 1:
            words = "in the words of one of them" if one.extractive else "in the words of a model"
            self.say(f"{len(entries)} entries say the same; it stands here {words}:")
        for number, entry in enumerate(entries, 1):
            several = number if len(entries) > 1 else 0
            self.evidence(entry, several, with_text=entry.content != one.summary)
        if len(one.entry_ids) > _EVIDENCE:
            self.say(f"  {len(one.entry_ids) - _EVIDENCE:,} more are decided with it.")
        self.conflicts(one)
        self.replacements(one)
        near = self.near(one)
        if near is not None:
            self.say(f"Near to it in long-term memory: {near.id}")
            for line in showing.differences(near.content, one.summary):
                self.say(f"    {line}")

    def conflicts(self, insight: Insight) -> None:
        """Show what waits and says something else about the same matter."""
        others = [one for one in self.waiting if one.id in insight.conflicts_with]
        for other in others:
            roots = ", ".join(map(str, other.provenance.roots))
            text = showing.one_line(other.summary, 200)
            self.say(f"In conflict with: {text}  ({showing.one_line(roots, 100)})")
        missing = len(insight.conflicts_with) - len(others)
        if missing:
            self.say(f"In conflict with {missing} more that this review does not show.")

    def replacements(self, insight: Insight) -> None:
        """Show what has taken the place of exactly this text in long-term memory."""
        for replaced in insight.replaced:
            which = Select.within(insight.scope, documents=(replaced.by,))
            newer = self.memory.parts.stores.long_term.find(which, limit=1).items
            text = showing.one_line(newer[0].content, 200) if newer else replaced.by
            self.say(f"Was in long-term memory until {replaced.at:%Y-%m-%d}, replaced by: {text}")

    def evidence(self, entry: Entry, number: int, *, with_text: bool) -> None:
        """Show where one entry comes from, and what is known of it.

        Args:
            entry: The entry.
            number: By which it can be taken out of its group; 0 if it is alone.
            with_text: Whether its text differs from what is shown already.
        """
        known = [
            str(entry.provenance.origin),
            _roots(entry.provenance),
            f"user {entry.scope.user_id}" if entry.scope.user_id else "",
            f"proposed by {', '.join(entry.all_proposers)}" if entry.all_proposers else "",
            f"{entry.status} by {entry.decided_by}" if entry.decided_by else "",
            f"confidence {entry.metadata['confidence']}" if "confidence" in entry.metadata else "",
            f"made of {', '.join(entry.provenance.sources)}" if entry.provenance.sources else "",
            showing.moment(entry.created_at),
        ]
        if entry.verdict is not None:
            said = "holds" if entry.verdict.verified else "does not hold"
            known.append(f"a check says it {said} ({entry.verdict.confidence:.0%})")
        said = showing.one_line("; ".join(filter(None, known)), 600)
        self.say(f"  {f'{number}. ' if number else ''}{entry.id}  {said}")
        if with_text:
            self.say(f"    {showing.one_line(entry.content, 200)}")

    def entries(self, ids: Sequence[str]) -> list[Entry]:
        """Return the entries of these ids that are still there."""
        found = []
        for id_ in ids:
            with suppress(EntryMissing):  # forgotten meanwhile
                record = self.memory.get(id_, self.place.scope)
                if isinstance(record, Entry):
                    found.append(record)
        return found

    def near(self, one: Insight) -> ContextItem | None:
        """Return the memory that says most of the same, if one does."""
        words = set(words_of(one.summary))
        found = self.memory.retrieve(
            one.summary[:_ASKED], self.place.scope, layers=("cold",), max_results=1
        )
        for item in found:
            same = words & set(words_of(item.content))
            if words and len(same) / len(words) >= NEAR:
                return item
        return None

    # Deciding. Each says whether the next one comes.

    def what(self, one: Insight) -> Entry | Insight:
        """Return what is promoted: a group of one is its entry."""
        entries = self.entries(one.source_entry_ids)
        is_alone = len(entries) == 1 and entries[0].content == one.summary and not one.repeats
        return entries[0] if is_alone else one

    def approve(self, one: Insight, _: str) -> bool:
        """Promote it."""
        made = self.memory.promote(self.what(one), self.place.scope, by=self.place.by)
        if made.proposal is not None:
            self.say("What is current of this subject is trusted more; it waits as a proposal.")
            self.note("proposed", one, ids=[made.proposal.id])
            return True
        self.note("approved", one, ids=list(made.ids))
        for document in made.superseded:
            self.say(f"It took the place of document {document}.")
        for two in made.contradictions:
            self.say(f"Look at this: {showing.one_line(two.reason, 400)} ({two.first})")
        return True

    def instead(self, one: Insight, _: str) -> bool:
        """Promote it in the place of the memory that it is near to."""
        near = self.near(one)
        if near is None:
            raise EntryMissing("no memory is near to it; a approves it")
        made = self.memory.supersede(near, self.what(one), self.place.scope, by=self.place.by)
        self.note("approved", one, ids=list(made.ids), instead_of=near.id)
        return True

    def propose(self, one: Insight, _: str) -> bool:
        """Ask somebody else to approve it."""
        entry = self.memory.propose(self.what(one), self.place.scope, by=self.place.by)
        self.note("proposed", one, ids=[entry.id])
        return True

    def reject(self, one: Insight, reason: str) -> bool:
        """Reject it, and whatever repeats it."""
        said = reason or _keys.line("Why (Enter for no reason, Ctrl-C for back): ")
        if said is None:
            return False
        self.memory.reject(one, self.place.scope, by=self.place.by, reason=said)
        self.note("rejected", one, ids=list(one.source_entry_ids), reason=said)
        return True

    def edit(self, one: Insight, text: str) -> bool:
        """Propose another text in its place, and show that one."""
        new = (text or _keys.edited(one.summary)).strip()
        if not new or new == one.summary.strip():
            self.say("The text is the same; nothing was changed.")
            return False
        entries = self.entries(one.source_entry_ids)
        made = Provenance.made(Actor.of(self.place.by).origin, entries)
        changed = replace(one, summary=new, provenance=made, extractive=False)
        entry = self.memory.propose(changed, self.place.scope, by=self.place.by)
        if any(before.status in ("pending", "proposed") for before in entries):
            # One of both waits, not both.
            self.memory.reject(
                one, self.place.scope, by=self.place.by, reason=f"edited: {entry.id}"
            )
        self.note("edited", one, ids=[entry.id])
        self.waiting[self.at] = replace(
            changed,
            source_entry_ids=(entry.id,),
            provenance=entry.provenance,
            repeats=(),
            covers={},
        )
        return False

    def take_apart(self, insight: Insight, numbers: str) -> bool:
        """Take entries out of their group; each is shown and decided alone."""
        entries = self.entries(insight.entry_ids[:_EVIDENCE])
        if len(entries) < 2:
            self.say("It has one entry only, which is decided by itself.")
            return False
        wanted = numbers.replace(",", " ").split()
        chosen = {int(one) for one in wanted if one.isdecimal() and len(one) < _DIGITS}
        if len(chosen) < len(wanted) or not chosen <= {*range(1, len(entries) + 1)}:
            self.say(f"Name entries by their numbers, from 1 to {len(entries)}: x 2")
            return False
        out = [one for number, one in enumerate(entries, 1) if not chosen or number in chosen]
        if {one.id for one in out} >= {*insight.source_entry_ids}:
            out = [one for one in out if one.id != entries[0].id]  # one stays, for those not shown
        alone = [insight_of_entry(insight, entry) for entry in out]
        for entry in out:
            self.memory.ungroup(entry, self.place.scope)
            insight = insight.without(entry.id)
        (first, *_) = self.entries(insight.source_entry_ids)
        if len(insight.source_entry_ids) == 1:
            insight = replace(insight_of_entry(insight, first), repeats=insight.repeats)
        self.waiting[self.at : self.at + 1] = [insight, *alone]
        return False

    def note(self, did: str, one: Insight, **more: Any) -> None:
        """Note what was decided, and say it."""
        self.done.append({"did": did, "entries": list(one.source_entry_ids), **more})
        self.say(f"{did.capitalize()}: {', '.join(more['ids'])}")


def _roots(made: Provenance) -> str:
    if made.roots == (made.origin,):
        return ""
    return f"from {', '.join(map(str, made.roots))}"

"""`digest` and `review`: what waits in quarantine, and deciding about it one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Final

import typer

from memoryware.cli import _keys, _records, showing
from memoryware.cli._opening import Place
from memoryware.cli._options import days_of, on_memory
from memoryware.errors import EntryMissing, MemorywareError, PromotionRefused
from memoryware.tiers.actors import Actor
from memoryware.tiers.ranking import words_of
from memoryware.tiers.records import Entry, Provenance
from memoryware.tiers.service import TieredMemory
from memoryware.tiers.values import ContextItem, Digest, Insight

NEAR: Final = 0.4
"""Share of its words that a memory must have in common with a text to be shown beside it."""
_ASKED: Final = 1000
"""Characters of a text with which memories near it are looked for."""
_KEYS: Final[Mapping[str, str]] = {
    "a": "approve: it becomes long-term memory",
    "i": "approve instead of the memory it is near to, which becomes the past",
    "p": "propose: ask somebody else to approve it",
    "r": "reject, with a reason",
    "e": "edit: your text is proposed in its place",
    "s": "skip",
    "u": "back to the one before",
    "q": "quit",
    "?": "this help",
}
Days = Annotated[float, typer.Option(min=0, help="How far back.")]
_TEN_YEARS: Final = 3650.0


@on_memory
def digest(place: Place, *, days: Days = _TEN_YEARS) -> None:
    """Tell what waits in quarantine, in groups that say the same. Nothing is promoted.

    Exit codes: 0 done, 1 the store failed, 2 wrong call, 3 the configuration cannot be read.
    """
    scope = place.grouped()
    with place.opened() as memory:
        found = memory.digest(scope, since=days_of(days))
    if place.json:
        showing.document(_as_json(found))
        return
    for one in found.insights:
        several = len(one.source_entry_ids)
        said = f"{several} entries" if several > 1 else ""
        made = one.provenance
        ids = ", ".join(one.source_entry_ids)
        trust = f"trust {made.trust.name.lower()}"
        _records.head(ids, trust, ", ".join(map(str, made.roots)), said)
        _records.text(one.summary, 400)
    if not found.insights:
        typer.echo("Nothing waits.")
    if found.more:
        typer.echo(f"{found.more:,} more wait; they come when these are decided.")


def _as_json(found: Digest) -> dict[str, Any]:
    return {
        "since": found.since.isoformat(),
        "entries": found.entries,
        "more": found.more,
        "insights": [
            {
                "id": one.id,
                "summary": one.summary,
                "extractive": one.extractive,
                "trust": one.provenance.trust.name.lower(),
                "roots": [*map(str, one.provenance.roots)],
                "entries": list(one.source_entry_ids),
            }
            for one in found.insights
        ],
    }


@on_memory
def review(place: Place, *, days: Days = _TEN_YEARS) -> None:
    """Decide about what waits in quarantine, one by one: approve, reject, edit, propose.

    Single keys on a terminal; without one, a line for each on standard input: "a", "r outdated",
    "e the new text". Press ? for all of them.

    Exit codes: 0 done, 1 the store or model failed, 2 wrong call, 3 the configuration cannot be
    read.
    """
    scope = place.grouped()
    with place.opened(on_mismatch="raise") as memory:
        found = memory.digest(scope, since=days_of(days))
        done = _Review(memory, place, [*found.insights]).run()
    if place.json:
        showing.document({"decided": done, "more": found.more})
        return
    counted = Counter(one["did"] for one in done)
    said = ", ".join(f"{number} {did}" for did, number in counted.items())
    typer.echo(f"Done: {said}." if said else "Nothing was decided.")


@dataclass
class _Review:
    """Going through what waits.

    Attributes:
        memory: The memory.
        place: Who decides, and whose memory it is.
        waiting: What waits.
        done: What was decided.
        at: Where in the list.
    """

    memory: TieredMemory
    place: Place
    waiting: list[Insight]
    done: list[dict[str, Any]] = field(default_factory=list)
    at: int = 0

    def run(self) -> list[dict[str, Any]]:
        """Ask about each, until the end or until somebody quits; return what was decided."""
        if not self.waiting:
            self.say("Nothing waits.")
        acts: dict[str, Callable[[Insight, str], bool]] = {
            "a": self.approve,
            "i": self.instead,
            "p": self.propose,
            "r": self.reject,
            "e": self.edit,
            "s": lambda *_: True,
            " ": lambda *_: True,
        }
        shown = -1
        while self.at < len(self.waiting):
            one = self.waiting[self.at]
            if shown != self.at:
                self.show(one)
                shown = self.at
            pressed, more = _keys.key("[a]pprove [r]eject [e]dit [s]kip [u]back [q]uit [?] ")
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
        entries = self.entries(one)
        self.say()
        place = f"{self.at + 1} of {len(self.waiting)}"
        self.say(
            typer.style(f"── {place} ──  trust {one.provenance.trust.name.lower()}", bold=True)
        )
        self.say(showing.indented(one.summary))
        self.say()
        if len(entries) > 1:
            how = "their own sentences" if one.extractive else "written by a model"
            self.say(f"It says together what {len(entries)} entries say ({how}):")
        for entry in entries:
            self.evidence(entry, with_text=len(entries) > 1)
        near = self.near(one)
        if near is not None:
            self.say(f"Near to it in long-term memory: {near.id}")
            for line in showing.differences(near.content, one.summary):
                self.say(f"    {line}")

    def evidence(self, entry: Entry, *, with_text: bool) -> None:
        """Show where one entry comes from, and what is known of it."""
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
        self.say(f"  {entry.id}  {said}")
        if with_text:
            self.say(f"    {showing.one_line(entry.content, 200)}")

    def entries(self, one: Insight) -> list[Entry]:
        """Return the entries of a group that are still there."""
        found = []
        for id_ in one.source_entry_ids:
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
        entries = self.entries(one)
        is_alone = len(entries) == 1 and entries[0].content == one.summary
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
        """Turn down every entry of it."""
        said = reason or _keys.line("Why (Enter for no reason, Ctrl-C for back): ")
        if said is None:
            return False
        for id_ in one.source_entry_ids:
            self.memory.reject(id_, self.place.scope, by=self.place.by, reason=said)
        self.note("rejected", one, ids=list(one.source_entry_ids), reason=said)
        return True

    def edit(self, one: Insight, text: str) -> bool:
        """Propose another text in its place, and show that one."""
        new = (text or _keys.edited(one.summary)).strip()
        if not new or new == one.summary.strip():
            self.say("The text is the same; nothing was changed.")
            return False
        entries = self.entries(one)
        made = Provenance.made(Actor.of(self.place.by).origin, entries)
        changed = replace(one, summary=new, provenance=made, extractive=False)
        entry = self.memory.propose(changed, self.place.scope, by=self.place.by)
        for before in entries:  # one of both waits, not both
            if before.status in ("pending", "proposed"):
                self.memory.reject(
                    before, self.place.scope, by=self.place.by, reason=f"edited: {entry.id}"
                )
        self.note("edited", one, ids=[entry.id])
        self.waiting[self.at] = replace(
            changed, source_entry_ids=(entry.id,), provenance=entry.provenance
        )
        return False

    def note(self, did: str, one: Insight, **more: Any) -> None:
        """Note what was decided, and say it."""
        self.done.append({"did": did, "entries": list(one.source_entry_ids), **more})
        self.say(f"{did.capitalize()}: {', '.join(more['ids'])}")


def _roots(made: Provenance) -> str:
    if made.roots == (made.origin,):
        return ""
    return f"from {', '.join(map(str, made.roots))}"

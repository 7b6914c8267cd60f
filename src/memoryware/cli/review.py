"""`digest` and `review`: list the statements in quarantine, and decide about each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Final

import typer

from memoryware.cli import _output, _terminal
from memoryware.cli._effects import effect_lines, hidden_lines
from memoryware.cli._errors import describe_error
from memoryware.cli._exit_codes import INTERRUPTED
from memoryware.cli._ids import ALL, listed_ids
from memoryware.cli._layout import cell_width, columns, hang, is_narrow, short_id, short_ids
from memoryware.cli._options import (
    Before,
    CommandContext,
    OriginFilter,
    Quiet,
    Since,
    memory_command,
    parse_moment,
    suggest_groups,
    time_of,
)
from memoryware.errors import EntryMissing, MemorywareError, PromotionRefused
from memoryware.tiers.actors import DecisionActor
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.model import Entry
from memoryware.tiers.proposals import insight_of_entry
from memoryware.tiers.provenance import Provenance
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.text.terms import core_words
from memoryware.tiers.values import ContextItem, Digest, Insight
from memoryware.tiers.wording import verdict_label

NEAR: Final = 0.4
"""Share of the words of a text that a memory must contain to be shown as similar."""
_DIGITS: Final = 9
_LINE: Final = 400
"""Characters of a statement that `digest` shows."""
_EVIDENCE: Final = 20
"""How many entries of an insight are shown, and can be taken out of it."""
_QUERY_CHARS: Final = 1000
"""Characters of a text that are used to find similar memories."""
_KEYS: Final[Mapping[str, str]] = {
    "a": "approve: promote it to long-term memory",
    "g": "approve for the whole group what would be for one user alone",
    "i": "approve it as the replacement of the similar memory",
    "p": "propose it, for another person to approve",
    "r": "reject, with a reason",
    "e": "edit: propose your text instead",
    "x": "take entries out of the group: x 2 the second, x all; each is decided alone",
    "s": "skip",
    "b": "back to the previous one that is not decided",
    "q": "quit",
    "?": "this help",
}
_PROMPT: Final = (
    "[a]pprove [g]roup [i]nstead [p]ropose [r]eject [e]dit [x] take out [s]kip [b]ack [q]uit [?] "
)
TrustFilter = Annotated[
    str | None,
    typer.Option(
        "--trust", help="Only entries of this trust: untrusted, unverified, user, person."
    ),
]
_SHORT_PROMPT: Final = "[a/g/i/p/r/e/x/s/b/q, ? for help] "
Limit = Annotated[
    int | None, typer.Option("--limit", "-n", min=1, help="How many statements at most.")
]
After = Annotated[
    str | None,
    typer.Option(metavar="CURSOR", help="The cursor of the next page, as printed by digest."),
]


@memory_command
def digest(
    context: CommandContext,
    *,
    since: Since = None,
    before: Before = None,
    origin: OriginFilter = None,
    trust: TrustFilter = None,
    limit: Limit = None,
    after: After = None,
    quiet: Quiet = False,
) -> None:
    """List the statements in quarantine, one per line. Nothing is promoted.

    The most valuable to a reviewer come first; texts that contradict each other are adjacent.
    Pass the id of a line to promote, reject or propose, such as ID#2 for the second statement of
    an entry; the same ids are in --json.

    Exit codes: 0 done, 1 the store failed, 2 usage error, 3 the configuration cannot be read.
    """
    scope = context.require_group()
    begin, end = parse_moment("--since", since), parse_moment("--before", before)
    with context.open_memory() as memory:
        page = memory.digest(
            scope,
            since=begin or ALL,
            before=time_of(end, memory.parts.clock()),
            origin=origin,
            trust=trust,
            user=context.user_filter,
            limit=limit,
            after=after,
        )
        ids = listed_ids(memory, scope, page.insights)
        if not page.waiting:
            suggest_groups(context, memory)
    if context.json:
        _output.print_json(_digest_json(page))
        return
    if quiet:
        _output.print_ids(ids.values())
        return
    lines = [_line(insight, ids[insight.id]) for insight in page.insights]
    _output.print_rows(lines, chars=_LINE)
    if not page.insights:
        _output.print_line("Nothing to review." if not page.waiting else "No entry matches.")
    if page.next:
        _output.print_line(f"Next page: --after {_output.one_line(page.next, 600)}")
    if page.more:
        _output.print_line(f"{page.more:,} more statements follow when these are decided.")
    if page.older:
        entries = "1 older entry waits" if page.older == 1 else f"{page.older:,} older entries wait"
        _output.print_line(f"{entries}; to see them, leave out --since.")
    if page.waiting:
        _output.print_line(_summary(page))


def _summary(page: Digest) -> str:
    """Return how much waits: of filtered entries how many there are in all as well."""
    statements = "1 statement" if page.total == 1 else f"{page.total:,} statements"
    if page.entries + page.older != page.waiting:
        verb = "fits" if page.entries == 1 else "fit"
        entries = f"{page.entries:,} of {page.waiting:,} entries in quarantine {verb} the filter"
    else:
        verb = "1 entry waits" if page.waiting == 1 else f"{page.waiting:,} entries wait"
        entries = f"{verb} in quarantine"
    return f"{entries}, with {statements} to review."


def _line(insight: Insight, id_: str) -> tuple[str, tuple[str, ...], str]:
    """Return the id, the details and the text of a statement."""
    lineage = insight.provenance
    count, size = len(insight.entry_ids), len(insight.summary)
    details = (
        f"trust {lineage.trust.name.lower()}",
        ", ".join(map(str, lineage.roots)),
        f"{count} entries: {', '.join(short_ids(insight.entry_ids[:_EVIDENCE]).values())}"
        if count > 1
        else "",
        _audience(insight),
        "in conflict" if insight.conflicts_with else "",
        "contradicts long-term memory" if insight.contradicts else "",
        f"was replaced on {insight.replaced[-1].at:%Y-%m-%d}" if insight.replaced else "",
        f"the first {_LINE} of {size:,} characters" if size > _LINE else "",
    )
    return id_, details, insight.summary


def _audience(insight: Insight) -> str:
    """Return who alone would be shown a statement; "" for the group."""
    return f"for {insight.scope.user_id} alone" if insight.personal else ""


def _digest_json(page: Digest) -> dict[str, Any]:
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
                "personal": insight.personal,
                "trust": insight.provenance.trust.name.lower(),
                "roots": [*map(str, insight.provenance.roots)],
                "entries": list(insight.source_entry_ids),
                "repeats": list(insight.repeats),
                "conflicts_with": list(insight.conflicts_with),
                "contradicts": list(insight.contradicts),
                "replaced": [
                    {"memory": old.memory_id, "at": old.at.isoformat(), "by": old.by}
                    for old in insight.replaced
                ],
            }
            for insight in page.insights
        ],
    }


@memory_command
def review(
    context: CommandContext,
    *,
    since: Since = None,
    before: Before = None,
    origin: OriginFilter = None,
    trust: TrustFilter = None,
    limit: Limit = None,
) -> None:
    """Review the statements in quarantine one by one: approve, reject, edit, propose.

    Press single keys on a terminal, ? for help. Otherwise one line each on standard input: "a",
    "r outdated", "e the new text".

    Exit codes: 0 done, 1 the store or model failed, 2 usage error, 3 the configuration cannot be
    read.
    """
    scope = context.require_group()
    begin, end = parse_moment("--since", since), parse_moment("--before", before)
    with context.open_memory(on_mismatch="raise") as memory:
        page = memory.digest(
            scope,
            since=begin or ALL,
            before=time_of(end, memory.parts.clock()),
            origin=origin,
            trust=trust,
            user=context.user_filter,
            limit=limit,
        )
        session = _Review(memory, context, [*page.insights], older=page.older)
        done = session.run()
        waiting = memory.count_waiting(scope)
    if context.json:
        _output.print_json(
            {"decided": done, "more": page.more, "older": page.older, "waiting": waiting}
        )
        return
    counts = Counter(decision["did"] for decision in done)
    summary = ", ".join(f"{number} {did}" for did, number in counts.items())
    left = f" {waiting:,} in quarantine." if waiting else ""
    if page.older:
        verb = "is older; to see it" if page.older == 1 else "are older; to see them"
        left += f" {page.older:,} of them {verb}, leave out --since."
    _output.print_line((f"Done: {summary}." if summary else "Nothing decided.") + left)
    if session.is_interrupted:
        raise typer.Exit(INTERRUPTED)


@dataclass
class _Review:
    """A review session.

    Attributes:
        memory: The memory.
        context: The scope, and who decides.
        waiting: The statements to review.
        older: How many entries are older than `--since`.
        done: The decisions.
        decided: What was decided, by the id of the statement; it is not asked about again.
        at: The index of the current statement.
        is_interrupted: Whether it ended with Ctrl-C.
    """

    memory: TieredMemory
    context: CommandContext
    waiting: list[Insight]
    older: int = 0
    done: list[dict[str, Any]] = field(default_factory=list)
    decided: dict[str, str] = field(default_factory=dict)
    at: int = 0
    is_interrupted: bool = False

    def run(self) -> list[dict[str, Any]]:
        """Ask about each statement, until the end or "q"; return the decisions."""
        if not self.waiting:
            self.say("Nothing to review." if not self.older else "Nothing newer to review.")
        actions: dict[str, Callable[[Insight, str], bool]] = {
            "a": self.approve,
            "g": self.share,
            "i": self.replace_similar,
            "p": self.propose,
            "r": self.reject,
            "e": self.edit,
            "x": self.take_apart,
            "s": lambda *_: True,
            " ": lambda *_: True,
        }
        shown = -1
        while self.at < len(self.waiting):
            insight = self.waiting[self.at]
            if insight.id in self.decided:
                self.say_decided(self.at)
                self.at += 1
                continue
            if shown != self.at:
                self.show(insight)
                shown = self.at
            prompt = _SHORT_PROMPT if is_narrow() else _PROMPT
            key, argument = _terminal.read_key(prompt)
            self.is_interrupted = key == _terminal.CTRL_C
            if key in ("", "q", _terminal.CTRL_C, "\x04"):
                break
            if key == "b":
                self.go_back()
                shown = -1
            elif key in actions:
                before = self.waiting[self.at]
                if self.attempt(actions[key], insight, argument):
                    self.at += 1
                elif self.waiting[self.at] is not before:
                    shown = -1
            else:
                self.help()
        return self.done

    def say(self, text: str = "") -> None:
        """Print for the person, on standard error if standard output has JSON."""
        width = None if self.context.json else columns()
        for line in text.split("\n"):
            # What is styled has no more columns than it seems to have.
            fits = width is None or cell_width(line) <= width
            indent = " " * (len(line) - len(line.lstrip()) + 2)
            lines = [line] if width is None or fits else hang(line, width, indent)
            typer.echo("\n".join(lines), err=self.context.json)

    def say_decided(self, index: int) -> None:
        """Print what was decided about a statement."""
        insight = self.waiting[index]
        text = _output.one_line(insight.summary, 100)
        self.say(f"{index + 1} of {len(self.waiting)}: {self.decided[insight.id]}: {text}")

    def go_back(self) -> None:
        """Go to the nearest statement before this one that is not decided, if there is one."""
        for index in reversed(range(self.at)):
            if self.waiting[index].id not in self.decided:
                self.at = index
                return
            self.say_decided(index)
        self.say("No statement before this one is left to decide.")

    def help(self) -> None:
        """Print the keys."""
        for name, meaning in _KEYS.items():
            self.say(f"  {name}  {meaning}")

    def attempt(
        self, action: Callable[[Insight, str], bool], insight: Insight, argument: str
    ) -> bool:
        """Run an action; report what a policy refuses, so that another key can follow."""
        try:
            return action(insight, argument)
        except PromotionRefused as refused:
            message = f"Not done: {_output.one_line(describe_error(refused), 600)}"
            if "own_proposal" in refused.reasons:
                message += " (press p to propose it, for another person to approve)"
            self.say(message)
        except MemorywareError as error:
            self.say(f"Not done: {_output.one_line(describe_error(error), 600)}")
        return False

    # Printing.

    def show(self, insight: Insight) -> None:
        """Print a statement with its evidence, contradictions and a similar memory."""
        entries = self.entries(insight.entry_ids[:_EVIDENCE])
        self.say()
        heading = f"{self.at + 1} of {len(self.waiting)}"
        self.say(
            typer.style(
                f"── {heading} ──  trust {insight.provenance.trust.name.lower()}", bold=True
            )
        )
        self.say(_output.indented(insight.summary))
        self.say()
        if insight.personal:
            self.say(f"Approved, it is {_audience(insight)}; g approves it for the whole group.")
        if len(entries) > 1:
            wording = "the words of one of them" if insight.extractive else "a summary by a model"
            self.say(f"{len(entries)} entries say the same, in {wording}:")
        for number, entry in enumerate(entries, 1):
            shown_number = number if len(entries) > 1 else 0
            self.evidence(entry, shown_number, with_text=entry.content != insight.summary)
        if len(insight.entry_ids) > _EVIDENCE:
            self.say(f"  {len(insight.entry_ids) - _EVIDENCE:,} more entries are decided with it.")
        self.conflicts(insight)
        for line in effect_lines(self.memory, insight, entries):
            self.say(line)
        self.replacements(insight)
        near = self.find_similar(insight)
        if near is not None:
            self.say(f"Similar in long-term memory: {short_id(near.id)}")
            for line in _output.diff_lines(near.content, insight.summary):
                self.say(f"    {line}")

    def conflicts(self, insight: Insight) -> None:
        """Print the statements in quarantine that contradict this one."""
        others = [other for other in self.waiting if other.id in insight.conflicts_with]
        for other in others:
            roots = ", ".join(map(str, other.provenance.roots))
            text = _output.one_line(other.summary, 200)
            self.say(f"In conflict with: {text}  ({_output.one_line(roots, 100)})")
        missing = len(insight.conflicts_with) - len(others)
        if missing:
            self.say(f"In conflict with {missing} more statements that are not in this review.")

    def replacements(self, insight: Insight) -> None:
        """Print what has replaced exactly this text in long-term memory."""
        for replaced in insight.replaced:
            select = Select.within(insight.scope, documents=(replaced.by,))
            newer = self.memory.parts.stores.long_term.find(select, limit=1).items
            text = _output.one_line(newer[0].content, 200) if newer else replaced.by
            self.say(f"Was in long-term memory until {replaced.at:%Y-%m-%d}, replaced by: {text}")

    def evidence(self, entry: Entry, number: int, *, with_text: bool) -> None:
        """Print the origin and the details of an entry.

        Args:
            entry: The entry.
            number: Its number in the group, from 1; 0 if it is alone.
            with_text: Whether to print its text as well.
        """
        details = [
            str(entry.provenance.origin),
            _roots(entry.provenance),
            f"user {entry.scope.user_id}" if entry.scope.user_id else "",
            f"proposed by {', '.join(entry.all_proposers)}" if entry.all_proposers else "",
            f"{entry.status} by {entry.decided_by}" if entry.decided_by else "",
            f"confidence {entry.metadata['confidence']}" if "confidence" in entry.metadata else "",
            f"derived from {', '.join(short_ids(entry.provenance.sources).values())}"
            if entry.provenance.sources
            else "",
            _output.format_time(entry.created_at),
        ]
        if entry.verdict is not None:
            verdict = verdict_label(verified=entry.verdict.verified)
            details.append(f"{verdict} ({entry.verdict.confidence:.0%})")
        line = _output.one_line("; ".join(filter(None, details)), 600)
        self.say(f"  {f'{number}. ' if number else ''}{short_id(entry.id)}  {line}")
        if with_text:
            self.say(f"    {_output.one_line(entry.content, 200)}")

    def entries(self, ids: Sequence[str]) -> list[Entry]:
        """Return the entries with these ids that still exist."""
        entries = []
        for id_ in ids:
            with suppress(EntryMissing):  # deleted meanwhile
                record = self.memory.get(id_, self.context.scope)
                if isinstance(record, Entry):
                    entries.append(record)
        return entries

    def find_similar(self, insight: Insight) -> ContextItem | None:
        """Return the most similar memory, if it shares enough words."""
        words, scope = set(core_words(insight.summary)), self.context.scope
        if insight.personal:  # what is for this user alone is similar as well
            scope = replace(scope, user_id=insight.scope.user_id)
        result = self.memory.retrieve(
            insight.summary[:_QUERY_CHARS], scope, tiers=("long_term",), max_results=1
        )
        for item in result:
            same = words & set(core_words(item.content))
            if words and len(same) / len(words) >= NEAR:
                return item
        return None

    # Actions. Each returns whether the review goes on to the next statement.

    def promotable(self, insight: Insight) -> Entry | Insight:
        """Return the entry if the insight is just one entry, else the insight."""
        entries = self.entries(insight.source_entry_ids)
        is_alone = (
            len(entries) == 1 and entries[0].content == insight.summary and not insight.repeats
        )
        return entries[0] if is_alone else insight

    def share(self, insight: Insight, _: str) -> bool:
        """Promote it for the whole group."""
        return self.approve(insight, shared=True)

    def approve(self, insight: Insight, _: str = "", *, shared: bool = False) -> bool:
        """Promote it."""
        promotion = self.memory.promote(
            self.promotable(insight), self.context.scope, by=self.context.by, shared=shared
        )
        if promotion.proposal is not None:
            self.say("The current text of this subject is trusted more; it became a proposal.")
            self.record("proposed", insight, ids=[promotion.proposal.id])
            return True
        if not promotion.memories:  # a request to forget
            self.record("approved", insight, ids=list(insight.source_entry_ids))
            entries = self.entries(insight.source_entry_ids)
            for line in hidden_lines(self.memory, entries, self.context.repeat_options):
                self.say(line)
            return True
        self.record("approved", insight, ids=list(promotion.ids))
        if line := _output.past_line(promotion):
            self.say(line)
        for document in promotion.superseded:
            self.say(f"It replaced document {short_id(document)}.")
        for contradiction in promotion.contradictions:
            self.say(
                f"Contradiction: {_output.one_line(contradiction.reason, 400)}"
                f" ({short_id(contradiction.first)})"
            )
        return True

    def replace_similar(self, insight: Insight, _: str) -> bool:
        """Promote it as the replacement of the similar memory."""
        near = self.find_similar(insight)
        if near is None:
            raise EntryMissing("there is no similar memory to replace; press a to approve it")
        promotion = self.memory.supersede(
            near, self.promotable(insight), self.context.scope, by=self.context.by
        )
        self.record("approved", insight, ids=list(promotion.ids), instead_of=near.id)
        return True

    def propose(self, insight: Insight, _: str) -> bool:
        """Propose it, for another person to approve."""
        entry = self.memory.propose(
            self.promotable(insight), self.context.scope, by=self.context.by
        )
        self.record("proposed", insight, ids=[entry.id])
        return True

    def reject(self, insight: Insight, given_reason: str) -> bool:
        """Reject it with its repetitions."""
        reason = given_reason or _terminal.read_line("Reason (Enter for none, Ctrl-C to go back): ")
        if reason is None:
            return False
        self.memory.reject(insight, self.context.scope, by=self.context.by, reason=reason)
        self.record("rejected", insight, ids=list(insight.source_entry_ids), reason=reason)
        return True

    def edit(self, insight: Insight, text: str) -> bool:
        """Propose an edited text instead, and show it next."""
        new = (text or _terminal.edit_text(insight.summary)).strip()
        if not new or new == insight.summary.strip():
            self.say("The text is unchanged.")
            return False
        entries = self.entries(insight.source_entry_ids)
        provenance = Provenance.derived(DecisionActor.of(self.context.by).origin, entries)
        changed = replace(insight, summary=new, provenance=provenance, extractive=False)
        entry = self.memory.propose(changed, self.context.scope, by=self.context.by)
        if any(before.status in ("pending", "proposed") for before in entries):
            # Otherwise both texts would stay in quarantine.
            self.memory.reject(
                insight, self.context.scope, by=self.context.by, reason=f"edited: {entry.id}"
            )
        self.record("edited", insight, ids=[entry.id])
        self.waiting[self.at] = replace(
            changed,
            source_entry_ids=(entry.id,),
            provenance=entry.provenance,
            repeats=(),
            covers={},
        )
        return False

    def take_apart(self, insight: Insight, numbers: str) -> bool:
        """Take entries out of their group, to decide about each alone."""
        entries = self.entries(insight.entry_ids[:_EVIDENCE])
        if len(entries) < 2:
            self.say("There is only one entry, so there is no group.")
            return False
        words = numbers.replace(",", " ").split()
        chosen = {int(word) for word in words if word.isdecimal() and len(word) < _DIGITS}
        if len(chosen) < len(words) or not chosen <= {*range(1, len(entries) + 1)}:
            self.say(f"Use the numbers of entries, from 1 to {len(entries)}: x 2")
            return False
        removed = [
            entry for number, entry in enumerate(entries, 1) if not chosen or number in chosen
        ]
        if {entry.id for entry in removed} >= {*insight.source_entry_ids}:
            # The first stays in the group for the entries that are not shown.
            removed = [entry for entry in removed if entry.id != entries[0].id]
        alone = [insight_of_entry(insight, entry) for entry in removed]
        for entry in removed:
            self.memory.ungroup(entry, self.context.scope)
            insight = insight.without(entry.id)
        (first, *_) = self.entries(insight.source_entry_ids)
        if len(insight.source_entry_ids) == 1:
            insight = replace(insight_of_entry(insight, first), repeats=insight.repeats)
        self.waiting[self.at : self.at + 1] = [insight, *alone]
        return False

    def record(self, action: str, insight: Insight, **details: Any) -> None:
        """Record a decision, and print it."""
        self.done.append({"did": action, "entries": list(insight.source_entry_ids), **details})
        self.say(f"{action.capitalize()}: {', '.join(short_ids(details['ids']).values())}")
        if action != "edited":  # the edited text is asked about next
            self.decided[insight.id] = f"{action} already"


def _roots(provenance: Provenance) -> str:
    if provenance.roots == (provenance.origin,):
        return ""
    return f"from {', '.join(map(str, provenance.roots))}"

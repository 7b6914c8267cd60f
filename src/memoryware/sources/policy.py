"""Write policy of memory files: read-only, secrets, hidden regions, lost text, consent.

A policy does no I/O: it gets the text before and after a change, and returns the text to store,
a question for a person, or a refusal. The middleware calls it before a tool runs, and
`GuardedBackend` inside the write itself.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final, Literal

from memoryware.guard import Finding, Guard, printable_name
from memoryware.sources.regions import Which, regions, restore
from memoryware.sources.source import Owner, Source

WriteKind = Literal["write", "edit", "append", "delete"]
"""How a text is changed: replaced as a whole, in a part, at its end, or removed."""
Reason = Literal[
    "read_only", "secret", "hidden_region", "lost_text", "not_approved", "from_outside"
]
"""Why a change is refused; the value of `reason` in events."""
Asks = Literal["consent", "lost_text", "from_outside"]
"""Why a change needs approval; the value of `reason` in events."""

# Scripts without blanks between words: there each character counts.
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_WORD: Final = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
_HOLDS: Final[dict[Owner, str]] = {
    "user": "what holds for this user everywhere",
    "project": "facts and rules of this project",
    "team": "what the team has agreed on",
    "agent": "your own notes on how to do your work",
}


@dataclass(frozen=True, slots=True)
class WriteVerdict:
    """The decision about a change.

    Attributes:
        after: The text to store; None deletes the file.
        refused: Why nothing may be stored, or None.
        message: The refusal as a sentence, for the caller.
        asks: Why a person has to approve it first, or None.
        question: The reason as a sentence, for that person.
        findings: Secrets that the change would have brought in.
        redacted: Whether those were taken out of `after`.
        restored: Hidden regions that were put back.
    """

    after: str | None
    refused: Reason | None = None
    message: str = ""
    asks: Asks | None = None
    question: str = ""
    findings: tuple[Finding, ...] = ()
    redacted: bool = False
    restored: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WritePolicy:
    """The write rules for a set of memory files.

    Attributes:
        guard: Finds secrets; None looks for none.
        hidden_regions: Which comments survive every change; None protects none.
        lost_share: A change that loses more than this share of the words needs a person.
        lost_words: An edit of a part that loses fewer words than this does not.
    """

    guard: Guard | None
    hidden_regions: Which | None
    lost_share: float
    lost_words: int

    def judge(
        self,
        source: Source,
        kind: WriteKind,
        before: str | None,
        after: str | None,
        *,
        recoded: bool = False,
        others: Sequence[Source] = (),
    ) -> WriteVerdict:
        """Decide about a change of a memory file.

        Args:
            source: The file.
            kind: How it is changed.
            before: Its text now, None for no file.
            after: Its text afterwards, None for no file.
            recoded: Whether its bytes change though its text does not.
            others: The other sources, which may take the note instead.

        Returns:
            The text to store, a question for a person, or a refusal.
        """
        # First, so that neither a secret nor a marker in the text can change the answer.
        if not source.writable:
            return WriteVerdict(None, "read_only", _read_only_refusal(source, others))
        findings, redacted = list[Finding](), False
        if after is not None and self.guard is not None:
            findings = self.guard.new(before, after)
            todo = self.guard.on_secret if findings else None
            if todo == "refuse":
                message = _secret_refusal(source, self.guard, findings)
                return WriteVerdict(None, "secret", message, findings=tuple(findings))
            redacted = todo == "redact"
            after = self.guard.redact(after) if redacted else after
        restored: tuple[str, ...] = ()
        # After redaction: what is put back was in the file before, so it brings no new secret.
        if after is not None and before and self.hidden_regions is not None:
            after, restored = restore(before, after, which=self.hidden_regions)
            locked = _newly_locked_region(before, after, self.hidden_regions)
            if locked:
                return WriteVerdict(None, "hidden_region", _region_refusal(source, locked))
        changed = recoded or before != after
        asks, question = self._question(source, kind, before, after) if changed else (None, "")
        return WriteVerdict(
            after,
            asks=asks,
            question=question,
            findings=tuple(findings),
            redacted=redacted,
            restored=restored,
        )

    def _question(
        self, source: Source, kind: WriteKind, before: str | None, after: str | None
    ) -> tuple[Asks | None, str]:
        # Words and not lines: reformatting a file loses no word.
        lost, words = lost_words(before or "", after or "")
        if words and lost / words > self.lost_share:
            small = kind in ("edit", "append") and lost < self.lost_words
            if not small:
                share = f"{round(100 * lost / words)} % of its words"
                subject = share if after is not None else "all its text"
                return "lost_text", f"{printable_name(source.path)} would lose {subject}"
        if source.writable == "ask":
            return "consent", f"a change of {printable_name(source.path)} needs consent"
        return None, ""


def lost_words(before: str, after: str) -> tuple[int, int]:
    """Count the words that a change removes.

    Args:
        before: The old text.
        after: The new text.

    Returns:
        How many words of `before` are not in `after`, and how many `before` has.
    """
    old = Counter(_WORD.findall(before))
    # As multisets, so that moving a paragraph loses nothing.
    return (old - Counter(_WORD.findall(after))).total(), old.total()


def content_of(owner: Owner | None) -> str:
    """Describe the content of an owner's file, for the prompt of a model.

    Args:
        owner: The owner.

    Returns:
        The description, "" for no owner.
    """
    return "" if owner is None else _HOLDS[owner]


def _newly_locked_region(before: str, after: str, which: Which) -> str:
    """Return the name of a new region around lines that could be edited before; "" for none."""
    old = {region.text for region in regions(before, which=which)}
    old_lines = {line for text in old for line in text.splitlines()}
    there = {line for line in before.splitlines() if line.strip() and line not in old_lines}
    for region in regions(after, which=which):
        if region.text not in old and not there.isdisjoint(region.text.splitlines()[1:-1]):
            return region.name
    return ""


def _region_refusal(source: Source, name: str) -> str:
    path = printable_name(source.path)
    return (
        f"this would enclose editable lines of '{path}' in the protected region"
        f" '{printable_name(name)}'; write it without that marker"
    )


def _read_only_refusal(source: Source, others: Sequence[Source]) -> str:
    """Return the refusal of a write to a file that may only be read, with the right file named."""
    whose = f" and holds {content_of(source.owner)}" if source.owner else ""
    open_here = [source for source in others if source.writable]
    path = printable_name(source.path)
    if not open_here:
        return f"'{path}' may only be read{whose}; no memory file may be written here"
    alternatives = "; ".join(
        printable_name(source.path) + (f" ({content_of(source.owner)})" if source.owner else "")
        for source in open_here
    )
    return f"'{path}' may only be read{whose}. Save it where it belongs instead: {alternatives}"


def _secret_refusal(source: Source, guard: Guard, findings: Sequence[Finding]) -> str:
    subject = "secrets and personal data" if guard.personal else "secrets"
    return (
        f"nothing was saved in '{printable_name(source.path)}', because {subject} are never stored"
        f" in memory ({guard.describe(findings)}). Save what you need without that, and do not"
        " repeat it"
    )


_AGREED: ContextVar[bool] = ContextVar("memoryware_agreed", default=False)
_CONTEXT_LINES: Final = 2


@contextmanager
def agreed() -> Iterator[None]:
    """Approve changes inside a `with` block that otherwise need a person's consent.

    For people and their scripts; the middleware uses it around a tool call that was approved.
    Writes to read-only files and secrets are refused all the same.

    Yields:
        Nothing.
    """
    reset = _AGREED.set(True)
    try:
        yield
    finally:
        _AGREED.reset(reset)


def is_agreed() -> bool:
    """Return whether this code runs inside `agreed()`."""
    return _AGREED.get()


def difference(path: str, before: str | None, after: str | None, most_lines: int) -> str:
    """Make a unified diff for a person who has to approve a change.

    Args:
        path: What the file is called in it.
        before: The text now, None for no file.
        after: The text afterwards, None for a deletion.
        most_lines: Lines that are shown at most.

    Returns:
        The lines of the diff, and how many were left out.
    """
    old, new = (before or "").splitlines(), (after or "").splitlines()
    names = (
        path if before is not None else "(new file)",
        path if after is not None else "(deleted)",
    )
    lines = list(difflib.unified_diff(old, new, *names, lineterm="", n=_CONTEXT_LINES))
    shown = lines[:most_lines]
    if len(lines) > most_lines:
        shown.append(f"[{len(lines) - most_lines} more lines of the difference are not shown]")
    return "\n".join(shown)

"""Write policy of memory files: what the owner allows, and a person's consent to more.

Pure: a policy gets the text before and after a change, and answers with the text to
store, a question for a person, or a refusal. It is called by the middleware before a tool
runs, and by `GuardedBackend` inside the write itself.
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

Kind = Literal["write", "edit", "append", "delete"]
"""How a text is changed: replaced as a whole, in a part, at its end, or removed."""
Reason = Literal[
    "read_only", "secret", "hidden_region", "lost_text", "not_approved", "from_outside"
]
"""Why a change is refused, as events tell it."""
Asks = Literal["consent", "lost_text", "from_outside"]
"""Why a person has to agree, as events tell it."""

_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
"""Scripts without blanks between words: there each character counts."""
_WORD: Final = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
_HOLDS: Final[dict[Owner, str]] = {
    "user": "what holds for this user everywhere",
    "project": "facts and rules of this project",
    "team": "what the team has agreed on",
    "agent": "your own notes on how to do your work",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to be done with a change.

    Attributes:
        after: The text to store; None deletes the file.
        refused: Why nothing may be stored, or None.
        message: The sentence that says so, for whoever wanted the change.
        asks: Why a person has to agree first, or None.
        question: The sentence that says so, for that person.
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
    """The rules of one set of memory files.

    Attributes:
        guard: Looks for secrets; None does not.
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
        kind: Kind,
        before: str | None,
        after: str | None,
        *,
        recoded: bool = False,
        others: Sequence[Source] = (),
    ) -> Verdict:
        """Say what is to be done with a change of a source.

        Args:
            source: The file.
            kind: How it is changed.
            before: Its text now, None for no file.
            after: Its text afterwards, None for no file.
            recoded: Whether its bytes change though its text does not.
            others: The other sources, which may take the note instead.
        """
        if not source.writable:
            return Verdict(None, "read_only", read_only(source, others))
        findings, redacted = list[Finding](), False
        if after is not None and self.guard is not None:
            findings = self.guard.new(before, after)
            todo = self.guard.on_secret if findings else None
            if todo == "refuse":
                message = _secret(source, self.guard, findings)
                return Verdict(None, "secret", message, findings=tuple(findings))
            redacted = todo == "redact"
            after = self.guard.redact(after) if redacted else after
        restored: tuple[str, ...] = ()
        if after is not None and before and self.hidden_regions is not None:
            after, restored = restore(before, after, which=self.hidden_regions)
            locked = _locked(before, after, self.hidden_regions)
            if locked:
                return Verdict(None, "hidden_region", _locks(source, locked))
        changed = recoded or before != after
        asks, question = self._question(source, kind, before, after) if changed else (None, "")
        return Verdict(
            after,
            asks=asks,
            question=question,
            findings=tuple(findings),
            redacted=redacted,
            restored=restored,
        )

    def _question(
        self, source: Source, kind: Kind, before: str | None, after: str | None
    ) -> tuple[Asks | None, str]:
        lost, words = lost_words(before or "", after or "")
        if words and lost / words > self.lost_share:
            small = kind in ("edit", "append") and lost < self.lost_words
            if not small:
                share = f"{round(100 * lost / words)} % of its words"
                what = share if after is not None else "all its text"
                return "lost_text", f"{printable_name(source.path)} would lose {what}"
        if source.writable == "ask":
            return "consent", f"a change of {printable_name(source.path)} needs consent"
        return None, ""


def lost_words(before: str, after: str) -> tuple[int, int]:
    """Return how many words of a text are not in another one, and how many it has."""
    old = Counter(_WORD.findall(before))
    return (old - Counter(_WORD.findall(after))).total(), old.total()


def holds(owner: Owner | None) -> str:
    """Return what a file of this owner holds, as the model is told; "" for no owner."""
    return "" if owner is None else _HOLDS[owner]


def _locked(before: str, after: str, which: Which) -> str:
    """Return the name of a region that a change makes around lines that were open before."""
    old = {one.text for one in regions(before, which=which)}
    kept = {line for text in old for line in text.splitlines()}
    there = {line for line in before.splitlines() if line.strip() and line not in kept}
    for one in regions(after, which=which):
        if one.text not in old and not there.isdisjoint(one.text.splitlines()[1:-1]):
            return one.name
    return ""


def _locks(source: Source, name: str) -> str:
    path = printable_name(source.path)
    return (
        f"this would close lines of '{path}' that are open for changes into the kept region"
        f" '{printable_name(name)}'; write it without that marker"
    )


def read_only(source: Source, others: Sequence[Source]) -> str:
    """Return the refusal of a write to a file that may only be read, with the right file named."""
    whose = f" and holds {holds(source.owner)}" if source.owner else ""
    open_here = [one for one in others if one.writable]
    path = printable_name(source.path)
    if not open_here:
        return f"'{path}' may only be read{whose}; no memory file may be written here"
    places = "; ".join(
        printable_name(one.path) + (f" ({holds(one.owner)})" if one.owner else "")
        for one in open_here
    )
    return f"'{path}' may only be read{whose}. Save it where it belongs instead: {places}"


def _secret(source: Source, guard: Guard, findings: Sequence[Finding]) -> str:
    what = "secrets and personal data" if guard.personal else "secrets"
    return (
        f"nothing was saved in '{printable_name(source.path)}', because {what} are never stored in"
        f" memory ({guard.describe(findings)}). Save what you need without that, and do not repeat"
        " it"
    )


_AGREED: ContextVar[bool] = ContextVar("memoryware_agreed", default=False)
_CONTEXT_LINES: Final = 2


@contextmanager
def agreed() -> Iterator[None]:
    """Let changes pass inside the block that otherwise need a person's consent.

    For people and their scripts; a middleware opens it around a call that was approved. What
    is read-only stays so, and secrets are refused all the same.
    """
    reset = _AGREED.set(True)
    try:
        yield
    finally:
        _AGREED.reset(reset)


def is_agreed() -> bool:
    """Say whether a person has agreed to what is going on."""
    return _AGREED.get()


def difference(path: str, before: str | None, after: str | None, most_lines: int) -> str:
    """Return a unified diff for a person to judge; what is left out of it is said.

    Args:
        path: What the file is called in it.
        before: The text that is there, None for no file.
        after: The text that would be there, None for a deletion.
        most_lines: Lines that are shown at most.
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

"""Which files have versions, and what is stored of a change."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from memoryware._clock import Clock, NewId
from memoryware._twins import Via
from memoryware.backends import _text
from memoryware.backends._acting import NOBODY, Actor, current_actor, current_reason
from memoryware.backends._match import compile_rule
from memoryware.backends._paths import folded
from memoryware.backends._refilling import refilled
from memoryware.backends._text import digest
from memoryware.backends._versions import Line, Stamp, Version
from memoryware.backends._versions_kept import Page
from memoryware.backends._wrapping import FileChange
from memoryware.guard import Guard
from memoryware.settings import HistoryLimits

Redact = Callable[[str, str], str]
"""Takes the path and the text of a file, returns the text that may be kept."""
AskNames = Callable[[Via, list[str]], Awaitable[list[tuple[str, ...]]]]
_PLAIN_ID: Final = re.compile(r"[\w-]{1,32}", re.ASCII)
_ID_CHARS: Final = 12
_WILD: Final = frozenset("*?[{")


_USUAL: Final = Guard()


def without_secrets(path: str, text: str) -> str:  # noqa: ARG001 - the shape of a `Redact`
    """Return a text with a note of its kind in place of each secret."""
    return _USUAL.redact(text)


class Watch:
    """Patterns of files; a path without wildcards stands for that file by all its names.

    Raises:
        PatternRefused: For a pattern that cannot match.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self._rules = [compile_rule(folded(one)) for one in patterns if not one.startswith("~")]
        self._files = [one for one in patterns if "/" in one and _WILD.isdisjoint(one)]

    async def covers(self, ask: AskNames, via: Via, names: Sequence[str]) -> bool:
        """Say whether the file with these names is one of them."""
        own = {folded(name) for name in names}
        if any(rule.covers(name) for rule in self._rules for name in own):
            return True
        told = await ask(via, self._files) if self._files else []
        return any(folded(name) in own for known in told for name in known)


@dataclass(slots=True)
class WayBack:
    """What an undo and the keeping of its version tell each other.

    Attributes:
        restored: The number of the version that it goes back to, 0 for no file.
        made: The version that was made.
    """

    restored: int = 0
    made: list[Version] = field(default_factory=list)


class Writer:
    """Puts down what changed, for the shelf to store."""

    def __init__(
        self,
        limits: HistoryLimits,
        actor: Actor | None,
        redact: Redact | None,
        clock: Clock,
        new_id: NewId,
    ) -> None:
        self._limits, self._actor, self._redact = limits, actor, redact
        self._clock, self._new_id = clock, new_id

    def pages(self, change: FileChange, line: Line) -> list[Page]:
        """Return what to store of a change, after the text before it if that is not known."""
        now, path, number = self._clock(), change.identity, line.last_number
        pages: list[Page] = []
        if line.missing:
            number += 1
            told = (line.missing, line.expected, digest(change.before), len(change.before or b""))
            stamp = Stamp(number, now, self._id(), *told)
            pages.append(self._page(path, stamp, change.before, NOBODY, None))
        restored = change.mark.restored if isinstance(change.mark, WayBack) else None
        done = (change.kind, digest(change.before), digest(change.after), len(change.after or b""))
        stamp = Stamp(number + 1, now, self._id(), *done, restored)
        actor, reason = current_actor(self._actor), current_reason()
        return [*pages, self._page(path, stamp, change.after, actor, reason)]

    def _page(
        self, path: str, stamp: Stamp, content: bytes | None, actor: Actor, reason: str | None
    ) -> Page:
        if stamp.size > self._limits.text_bytes:
            return Page(stamp, path, None, actor, reason, redacted=False)
        shown = self.shown(path, content)
        return Page(stamp, path, shown, actor, reason, redacted=shown != content)

    def shown(self, path: str, content: bytes | None) -> bytes | None:
        """Return the bytes of a file as they may be kept and shown."""
        if content is None or self._redact is None:
            return content
        form = _text.decode(content)
        shown = self._redact(path, form.text)
        return content if shown == form.text else _in_form(form, shown)

    def refilled(self, path: str, content: bytes, there: bytes | None) -> bytes:
        """Return kept bytes with what was made unreadable as the file has it now."""
        if self._redact is None or there is None:
            return content
        form, text = _text.decode(content), _text.decode(there).text
        return _in_form(form, refilled(form.text, text, self._redact(path, text)))

    def _id(self) -> str:
        made = self._new_id()
        return made[:_ID_CHARS] if _PLAIN_ID.fullmatch(made) else str(digest(made.encode()))


def _in_form(form: _text.Decoded, text: str) -> bytes:
    """Return a text in the encoding that another one was found in."""
    return form.bom + text.encode("utf-8" if form.lossy else form.encoding)

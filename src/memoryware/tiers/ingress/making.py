"""The entry that an output becomes: mended, without secrets, with who made it of what."""

from __future__ import annotations

import logging
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any, Final, TypeVar

from memoryware._twins import Via, in_thread
from memoryware.errors import EntryRefused
from memoryware.guard import Guard
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts
from memoryware.tiers.ingress.echo import ECHO, Piece, borrowed, echo_of, only_marks
from memoryware.tiers.records import Entry, Origin, Provenance, Role, plain
from memoryware.tiers.values import ContextItem

T = TypeVar("T")
logger = logging.getLogger(__name__)

AT_ONCE: Final = 20_000
"""Characters from which work on a text is done in a thread when a loop is running."""
_DEEPEST: Final = 50
"""Levels of metadata inside metadata."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """How an output came about.

    Attributes:
        role: The part that its maker plays in the graph.
        provenance: Who made it, and of what. By default the agent of the scope, or for a
            tool the node; of what it repeats of `shown`.
        key: Recording the same key again records nothing.
        shown: What memory had shown to who made it.
    """

    role: Role = "agent"
    provenance: Provenance | None = None
    key: str | None = None
    shown: tuple[ContextItem, ...] = ()


async def entry_of(
    parts: Parts,
    via: Via,
    content: str,
    scope: MemoryScope,
    metadata: Mapping[str, Any] | None,
    made: Made,
) -> Entry:
    """Return the entry of an output; nothing is stored.

    What only repeats `made.shown`, or is nothing but a block that memory had put in front of
    the model, is refused by working memory as an echo from the start.

    Raises:
        EntryRefused: For what is no text or too long.
    """
    text = _text_of(content, parts.limits.entry_chars)
    work = partial(_entry, parts, text, scope, metadata, made)
    return await via(work, partial(in_thread if len(text) > AT_ONCE else at_once, work))


async def at_once(work: Callable[[], T]) -> T:
    """Do work that takes no time."""
    return work()


def _entry(
    parts: Parts, text: str, scope: MemoryScope, metadata: Mapping[str, Any] | None, made: Made
) -> Entry:
    text, known = _without_secrets(parts.guard, text), redacted(parts.guard, metadata)
    provenance = made.provenance or _provenance(scope, made, text)
    echo = _echo(parts, text, provenance, made.shown)
    now = parts.clock()
    said: dict[str, Any] = {
        "node_id": scope.node_id or known.get("node_id"),
        "agent_id": scope.agent_id or known.get("agent_id"),
        "role": made.role,
        "created_at": now.isoformat(),
    }
    return Entry(
        id=parts.new_id(),
        scope=scope,
        content=text,
        created_at=now,
        provenance=provenance,
        role=made.role,
        metadata={**known, **said},
        key=made.key,
        refused=ECHO if echo is not None else None,
        echo_of=echo or (),
    )


def _echo(
    parts: Parts, text: str, provenance: Provenance, shown: Sequence[ContextItem]
) -> tuple[str, ...] | None:
    """Return what a text only repeats of what was shown; None if it says something."""
    limits = parts.limits
    known = Piece.of(shown, limits.echo_chars)
    marked = only_marks(text, known)
    if marked is not None:
        return marked
    if provenance.origin.kind in ("user", "person"):  # they have not read the prompt
        return None
    return echo_of(text, known, limits.echo_share) or None


def _provenance(scope: MemoryScope, made: Made, text: str) -> Provenance:
    tool = made.role == "tool"
    origin = Origin("tool", scope.node_id or "") if tool else Origin("agent", scope.agent_id or "")
    of = borrowed(text, made.shown)
    roots = [root for one in of for root in one.provenance.roots]
    return Provenance(origin, tuple(one.id for one in of), tuple(roots))


# What is kept of what was given.


def _text_of(content: Any, most: int) -> str:
    if not isinstance(content, str):
        raise EntryRefused(
            f"only text can be kept in memory, and this is {type(content).__name__}; pass the"
            " text of the message"
        )
    if len(content) > most:
        raise EntryRefused(
            f"the text has {len(content)} characters, and memory keeps at most entry_chars={most};"
            " cut it, or raise the limit: TierLimits(entry_chars=...)"
        )
    return mended(content)


def mended(text: str) -> str:
    """Return a text that UTF-8 can hold: halves of a character are joined or replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return str(text)


def _without_secrets(guard: Guard | None, text: str) -> str:
    if guard is None or not (found := guard.scan(text)):
        return text
    logger.warning("secrets were cut out of a text before it was kept: %s", guard.describe(found))
    return guard.redact(text)


def redacted(guard: Guard | None, metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a copy of metadata that can be kept: as JSON, without secrets.

    What no store can hold is left out, and the log says so.
    """
    kept: dict[str, Any] = {}
    for name, value in dict(metadata or {}).items():
        try:
            kept |= plain({name: _number(value) if name == "confidence" else value})
        except Exception as error:  # noqa: BLE001 - objects of others may raise anything
            logger.warning("metadata %r was not kept: %s", name, type(error).__name__)
    return {mended(name): _clean(guard, name, value) for name, value in kept.items()}


def _number(value: Any) -> Any:
    """Return a number of any kind, such as one of numpy, as one that JSON has."""
    real = isinstance(value, numbers.Real | Decimal) and not isinstance(value, int | float)
    return float(value) if real else value


def _clean(guard: Guard | None, name: str, value: Any, depth: int = 0) -> Any:
    if depth > _DEEPEST:
        return "..."
    if isinstance(value, dict):
        return {mended(key): _clean(guard, key, held, depth + 1) for key, held in value.items()}
    if isinstance(value, list):
        return [_clean(guard, name, one, depth + 1) for one in value]
    if not isinstance(value, str):
        return value
    text = mended(value)
    if guard is None:
        return text
    start = f"{name}="  # a password is known by its name
    return guard.redact(start + text).removeprefix(start)

"""The entry that an output becomes: mended, without secrets, with who made it of what."""

from __future__ import annotations

import hashlib
import logging
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from types import NoneType
from typing import Any, Final, TypeVar, get_args

from memoryware.errors import EntryRefused
from memoryware.guard import Guard
from memoryware.scope import MemoryScope, check_name
from memoryware.tiers import checking
from memoryware.tiers._parts import Parts
from memoryware.tiers.ingress.echo import ECHO, Piece, borrowed, echo_of, only_marks
from memoryware.tiers.records import Entry, Memory, Origin, Provenance, Role, plain
from memoryware.tiers.screening import lineage, owner
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

    Raises:
        SettingError: For a value of another type.
    """

    role: Role = "agent"
    provenance: Provenance | None = None
    key: str | None = None
    shown: tuple[ContextItem, ...] = ()

    def __post_init__(self) -> None:
        checking.choice("role", self.role, get_args(Role))
        checking.instance("provenance", self.provenance, (Provenance, NoneType))
        if self.key is not None:
            check_name("key", self.key)
        for one in self.shown:
            checking.instance("shown", one, (ContextItem, Entry, Memory))


async def entry_of(
    parts: Parts,
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
        SettingError: For metadata that are no mapping, or a secret in a name or an id.
    """
    text = _text_of(content, parts.limits.entry_chars)
    work = partial(_entry, parts, text, scope, metadata, made)
    return await parts.runner.offload(work) if len(text) > AT_ONCE else work()


async def at_once(work: Callable[[], T]) -> T:
    """Do work that takes no time."""
    return work()


def _entry(
    parts: Parts, text: str, scope: MemoryScope, metadata: Mapping[str, Any] | None, made: Made
) -> Entry:
    text, known = _without_secrets(parts.guard, text), redacted(parts.guard, metadata)
    owner(parts, scope)
    provenance = lineage(parts, made.provenance or _provenance(scope, made, text))
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
        key=_key(parts.guard, made.key),
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
    return echo_of(text, known) or None


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

    Raises:
        SettingError: If it is no mapping.
    """
    checking.mapping("metadata", metadata)
    kept: dict[str, Any] = {}
    for name, value in dict[Any, Any](metadata or {}).items():
        try:
            kept |= plain({name: _number(value) if name == "confidence" else value})
        except Exception as error:  # noqa: BLE001 - objects of others may raise anything
            said = _new_key(guard, name, {}) if isinstance(name, str) else type(name).__name__
            logger.warning("metadata %r was not kept: %s", said, type(error).__name__)
    cleaned: dict[str, Any] = _clean(guard, "", kept)
    return cleaned


def _number(value: Any) -> Any:
    """Return a number of any kind, such as one of numpy, as one that JSON has."""
    real = isinstance(value, numbers.Real | Decimal) and not isinstance(value, int | float)
    return float(value) if real else value


def _clean(guard: Guard | None, name: str, value: Any, depth: int = 0) -> Any:
    if depth > _DEEPEST:
        return "..."
    if isinstance(value, dict):
        made: dict[str, Any] = {}
        for key, held in value.items():
            made[_new_key(guard, key, made)] = _clean(guard, key, held, depth + 1)
        return made
    if isinstance(value, list):
        return [_clean(guard, name, one, depth + 1) for one in value]
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return value
    text = mended(value) if isinstance(value, str) else str(value)
    if guard is None:
        return text if isinstance(value, str) else value
    start = f"{guard.redact(mended(name))}="  # a password is known by its name
    clean = guard.redact(start + text).removeprefix(start)
    return value if clean == text and not isinstance(value, str) else clean


def _new_key(guard: Guard | None, key: str, taken: Mapping[str, Any]) -> str:
    """Return a key without secrets that is not another's."""
    clean = mended(key) if guard is None else guard.redact(mended(key))
    number, made = 1, clean
    while made in taken:
        number += 1
        made = f"{clean} ({number})"
    return made


def _key(guard: Guard | None, key: str | None) -> str | None:
    """Return a key by which the same output is known again; of one with a secret, a digest."""
    if key is None or guard is None or not guard.scan(key):
        return key
    return hashlib.blake2b(key.encode(), digest_size=16).hexdigest()

"""Material of a promotion: a text, an entry or an insight with its lineage and its chunks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from memoryware._caching import clearable_cache
from memoryware._runner import OFFLOAD_CHARS
from memoryware.errors import EntryMissing, EntryRefused
from memoryware.guard import drop_hidden
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts, group_of
from memoryware.tiers.actors import DecisionActor
from memoryware.tiers.model import SOURCE_GONE, WAITING, Entry, Status, Verdict, hash_of
from memoryware.tiers.provenance import Provenance
from memoryware.tiers.screening import mended, redact_text
from memoryware.tiers.stores.protocol import Select, Tier
from memoryware.tiers.values import Insight

Promotable: TypeAlias = str | Entry | Insight
"""What can be promoted: a text, an entry or its id, an insight of a digest."""

_ID: Final = re.compile(r"[0-9a-f]{32}|(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,64}")
"""The id of an entry, or a part of it: no text that somebody wants to keep."""
_LONGEST_ID: Final = 200
_SAME_TEXT: Final = 200
"""Entries with exactly a promoted text whose lineage it inherits."""
_OPEN: Final[tuple[Status, ...]] = ("pending", "proposed", "promoted")
_ENDS: Final = ".!。！"
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


_written_by: Final = clearable_cache(1024)(Provenance)
"""The provenance of a text of an actor, cached because few actors act again and again."""


@dataclass(frozen=True, slots=True)
class Material:
    """A text that is to be promoted.

    Attributes:
        content: The text, without secrets.
        scope: Whose memory it becomes.
        provenance: Who made it, and of what.
        entries: The entries that it is made of, as quarantine has them now.
        is_text: Whether somebody passed it as a text, so that its entries only say where it
            comes from.
        turned_down: Of a text: entries with it that were rejected or taken back.
        verdict: The verdict of a fact check on exactly this text.
        repeats: Ids of entries that say the same and are closed with a decision about it.
        covers: For entries of several statements, the digests of those that are decided.
        copies: Entries that wait with exactly this text; None if they were not read along.
    """

    content: str
    scope: MemoryScope
    provenance: Provenance
    entries: tuple[Entry, ...] = ()
    is_text: bool = False
    turned_down: tuple[Entry, ...] = ()
    verdict: Verdict | None = None
    repeats: tuple[str, ...] = ()
    covers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    copies: tuple[Entry, ...] | None = None


async def material_of(
    parts: Parts,
    item: Promotable,
    scope: MemoryScope | None,
    actor: DecisionActor,
    texts: dict[str, str] | None = None,
    *,
    expected: str = "",
) -> Material:
    """Return the text of an item with its lineage and the entries that it is made of.

    Args:
        parts: The memory.
        item: A text, an entry or its id, or an insight.
        scope: Whose memory it becomes.
        actor: Who promotes or proposes it.
        texts: Texts that were redacted before, by what they were; new ones are added.
        expected: The text of an entry, as it was when the promotion was prepared: its copies are
            read together with it.

    Returns:
        The material.

    Raises:
        ScopeMissing: Without a group.
        EntryMissing: If there is no such entry in this scope.
        EntryRefused: For a value that is not a text, or is too long.
    """
    if isinstance(item, str):
        owner = MemoryScope() if scope is None else scope
        if not owner.group_id:
            group_of(owner, "a promotion")  # which says what is missing
        entry = await _entry_named(parts, item, owner)
        if entry is not None:
            return await _of_entry(parts, entry, texts)
        text = await redacted_text(parts, item, texts)
        return await _of_text(parts, text, owner, _written_by(actor.origin), actor)
    require_promotable(item)
    owner = _own_scope(item, scope)
    if isinstance(item, Entry):
        entries, copies = await _entries(parts, (item.id,), owner, expected)
        material = await _of_entry(parts, entries[0], texts)
        return replace(material, copies=copies) if material.content == expected else material
    text = await redacted_text(parts, item.summary, texts)
    entries, copies = await _entries(parts, item.source_entry_ids, owner, text if expected else "")
    if not entries:
        return await _of_text(parts, text, owner, item.provenance, actor)
    lineage = Provenance.derived(item.provenance.origin, entries, item.provenance.roots)
    decided: dict[str, Any] = {"repeats": item.repeats, "covers": item.covers, "copies": copies}
    if _is_quoted(text, entries):
        if len(entries) == 1 and entries[0].content == text:
            decided["verdict"] = entries[0].verdict
        return Material(text, item.scope, lineage, tuple(entries), **decided)
    # Anybody can build an insight by hand and name any origin in it: what its entries do not
    # say themselves is as well the word of whoever promotes it, and of who said it before.
    same = await _same_text(parts, text, owner)
    roots = {*lineage.roots, *(root for other in same for root in other.provenance.roots)}
    if not actor.is_person:
        roots.add(actor.origin)
    sources = (*lineage.sources, *(other.id for other in same if other.status in _OPEN))
    return Material(
        text,
        item.scope,
        Provenance(lineage.origin, sources, tuple(roots)),
        tuple(entries),
        **decided,
    )


async def edited(
    parts: Parts, entries: Iterable[Entry], change: Callable[[Entry], Entry]
) -> dict[str, Entry]:
    """Change entries of one group in quarantine in one step.

    Args:
        parts: The stores and the rules of the memory.
        entries: The entries.
        change: Returns an entry as it shall be, from what quarantine has.

    Returns:
        The entries as they are then, by id; those that are not there any more are missing.
    """
    originals = tuple(entries)
    changed: dict[str, Entry] = {}
    if not originals:
        return changed

    def apply(entry: Entry) -> Entry:
        changed[entry.id] = change(entry)
        return changed[entry.id]

    store = parts.tiers.quarantine
    select = Select.within(originals[0].scope, ids=tuple(entry.id for entry in originals))
    await store.edit(select, apply)
    return changed


def is_text(name: str) -> bool:
    """Return whether a string is a text for certain, and not the id of an entry.

    Args:
        name: The string.

    Returns:
        Whether it is blank, too long for an id, or has a blank.
    """
    return not name or len(name) > _LONGEST_ID or any(map(str.isspace, name))


async def _entry_named(parts: Parts, name: str, scope: MemoryScope) -> Entry | None:
    """Return the entry that has this id; None if it is a text and no id."""
    if is_text(name):
        return None
    store = parts.tiers.quarantine
    entries = (await store.find(Select.within(scope, ids=(name,)))).items
    if not entries and _ID.fullmatch(name):
        raise _missing(parts, name, scope)
    return entries[0] if entries else None


async def _of_text(
    parts: Parts, text: str, scope: MemoryScope, named: Provenance, actor: DecisionActor
) -> Material:
    """Return a text as material, with the lineage of the entries that have the same text.

    A person who promotes what an agent or a page has said decides about it, and does not
    become its author. What was recorded for another user only lends its origins: forgetting
    that user must not take what is promoted for this one.
    """
    same = await _same_text(parts, text, scope)
    if not same:
        lineage = named
        if not actor.is_person:
            lineage = Provenance(named.origin, named.sources, (*named.roots, actor.origin))
        return Material(text, scope, lineage, is_text=True, copies=())
    own_entries = [
        entry for entry in same if not scope.user_id or entry.scope.user_id in (None, scope.user_id)
    ]
    entries = tuple(
        entry for entry in own_entries if entry.status in _OPEN and entry.refused != SOURCE_GONE
    )
    roots = tuple({root for entry in same for root in entry.provenance.roots})
    least = min(same, key=lambda entry: entry.provenance.trust)
    digest, is_every = hash_of(text), len(same) < _SAME_TEXT
    copies = (entry for entry in same if entry.content_hash == digest and entry.status in WAITING)
    return Material(
        content=text,
        scope=scope,
        provenance=Provenance(least.provenance.origin, tuple(entry.id for entry in entries), roots),
        entries=entries,
        is_text=True,
        turned_down=tuple(
            entry for entry in same if entry.status not in _OPEN or entry.refused == SOURCE_GONE
        ),
        verdict=next((entry.verdict for entry in same if entry.verdict is not None), None),
        copies=tuple(copies) if is_every else None,
    )


async def _same_text(parts: Parts, text: str, scope: MemoryScope) -> list[Entry]:
    """Return the newest entries of a group with exactly this text.

    A full stop at its end, the case of its first letter and invisible characters make
    no other text of it.
    """
    if not text.strip():
        return []
    plain = drop_hidden(text)[0].strip()
    bare = plain.rstrip(_ENDS)
    written = {text, plain, bare, f"{bare}.", f"{bare}!", f"{bare}。"}
    written |= {
        change(form[:1]) + form[1:] for form in written for change in (str.upper, str.lower)
    }
    hashes = tuple(sorted({hash_of(form) for form in written if form.strip()}))
    store = parts.tiers.quarantine
    select = Select.within(scope, hashes=hashes)
    page = await store.find(select, limit=_SAME_TEXT)
    return page.items


def _is_quoted(text: str, entries: Sequence[Entry]) -> bool:
    """Return whether every sentence of a text is part of one of these entries."""
    contents = [" ".join(entry.content.split()) for entry in entries]
    sentences = [" ".join(part.split()) for part in _SENTENCE.split(text) if part.strip()]
    return all(any(sentence in content for content in contents) for sentence in sentences)


async def _of_entry(parts: Parts, entry: Entry, texts: dict[str, str] | None) -> Material:
    lineage = Provenance.derived(entry.provenance.origin, [entry])
    text = await redacted_text(parts, entry.content, texts)
    return Material(text, entry.scope, lineage, (entry,), verdict=entry.verdict)


def require_promotable(item: Any) -> None:
    """Check what is passed to a promotion before anything else is asked for.

    Args:
        item: What is to be promoted.

    Raises:
        EntryRefused: If it is neither a text, an entry nor an insight.
    """
    if not isinstance(item, str | Entry | Insight):
        raise EntryRefused(
            "only a text, an entry, the id of an entry or an insight can be promoted, and this is"
            f" {type(item).__name__}{_hint(item)}"
        )


def _hint(item: Any) -> str:
    """Return what of an object can be promoted, as the end of a message."""
    part = next((name for name in ("entry", "record") if hasattr(item, name)), None)
    if part is not None:
        return f": pass its .{part}"
    return ": what was recalled has an .id and a .content" if hasattr(item, "content") else ""


def _own_scope(item: Entry | Insight, scope: MemoryScope | None) -> MemoryScope:
    own = group_of(item.scope, "a promotion")
    if scope is not None and (scope.tenant, scope.group_id) != (own.tenant, own.group_id):
        raise EntryMissing(
            f"What you pass belongs to group {own.group_id!r} of tenant {own.tenant!r}, and not"
            f" to group {scope.group_id!r} of tenant {scope.tenant!r}; leave the scope out, or"
            " promote its text"
        )
    return own


async def _entries(
    parts: Parts, ids: Sequence[str], scope: MemoryScope, text: str = ""
) -> tuple[list[Entry], tuple[Entry, ...] | None]:
    """Return the entries of these ids, which must all exist, and those that wait with a text."""
    if not ids:
        return [], None
    requests: list[tuple[Tier, Select]] = [("quarantine", Select.within(scope, ids=tuple(ids)))]
    if text:
        same = Select.within(scope, hashes=(hash_of(text),), statuses=WAITING)
        requests.append(("quarantine", same))
    named, *copies = await parts.tiers.find_many(requests)
    by_id = {entry.id: entry for entry in named}
    for id_ in ids:
        if id_ not in by_id:
            raise _missing(parts, id_, scope)
    entries = [by_id[id_] for id_ in dict.fromkeys(ids)]
    return entries, tuple(copies[0]) if copies else None


def _missing(parts: Parts, id_: str, scope: MemoryScope) -> EntryMissing:
    if hint := parts.forgotten.hint(scope, id_):
        return EntryMissing(f"There is no entry {id_} in group {scope.group_id!r}{hint}")
    return EntryMissing(
        f"There is no entry {id_} in quarantine of group {scope.group_id!r}; ids are whole ones"
        " of 32 characters, and digest() and list() show what is there"
    )


async def redacted_text(parts: Parts, text: str, texts: dict[str, str] | None) -> str:
    """Return a text as it may be stored: valid Unicode, without secrets.

    Args:
        parts: The stores and the rules of the memory.
        text: The text.
        texts: Texts that were redacted before, by what they were; new ones are added. None keeps
            nothing.

    Returns:
        The text.

    Raises:
        EntryRefused: If it is longer than `entry_chars`.
    """
    if texts is not None and text in texts:
        return texts[text]
    most = parts.limits.entry_chars
    if len(text) > most:
        raise EntryRefused(
            f"the text has {len(text)} characters, and memory keeps at most entry_chars={most};"
            " cut it, or raise the limit: TierLimits(entry_chars=...)"
        )

    def work() -> str:
        encodable = mended(text)
        return redact_text(parts.guard, encodable) if parts.guard else encodable

    redacted = await parts.runner.offload(work) if len(text) > OFFLOAD_CHARS else work()
    if texts is not None:
        texts[text] = redacted
    return redacted

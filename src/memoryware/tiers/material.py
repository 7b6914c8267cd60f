"""What somebody asks to promote: a text, an entry or an insight, its lineage and its chunks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from memoryware._remembering import remembered
from memoryware._runner import OFFLOAD_CHARS
from memoryware.errors import EntryMissing, EntryRefused, SettingError
from memoryware.guard import drop_hidden
from memoryware.scope import MemoryScope
from memoryware.settings import TierLimits
from memoryware.tiers._parts import Parts, group_of
from memoryware.tiers.actors import Actor
from memoryware.tiers.model import (
    SOURCE_GONE,
    WAITING,
    Entry,
    Provenance,
    Status,
    Verdict,
    hash_of,
)
from memoryware.tiers.screening import mended, redact_text
from memoryware.tiers.stores.protocol import Select, Tier
from memoryware.tiers.values import Insight

Promotable: TypeAlias = str | Entry | Insight
"""What can be promoted: a text, an entry or its id, an insight of a digest."""

_ID: Final = re.compile(r"[0-9a-f]{32}|(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,64}")
"""What is an id, or a part of one: no text that somebody wants to keep."""
_LONGEST_ID: Final = 200
_SAME_TEXT: Final = 200
"""Entries with exactly a promoted text whose lineage it inherits."""
_OPEN: Final[tuple[Status, ...]] = ("pending", "proposed", "promoted")
_ENDS: Final = ".!。！"
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


_written_by: Final = remembered(1024)(Provenance)
"""The provenance of a text of somebody who acts again and again."""


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
        verdict: What a check of facts said of exactly this text.
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
    what: Promotable,
    scope: MemoryScope | None,
    actor: Actor,
    texts: dict[str, str] | None = None,
    *,
    expected: str = "",
) -> Material:
    """Return what is meant.

    Args:
        parts: The memory.
        what: A text, an entry or its id, or an insight.
        scope: Whose memory it becomes.
        actor: Who promotes or proposes it.
        texts: Texts that were redacted before, by what they were; new ones are added.
        expected: The text of an entry, as it was when the promotion was prepared: its copies are
            read together with it.

    Raises:
        ScopeMissing: Without a group.
        EntryMissing: If there is no such entry in this scope.
        EntryRefused: For what is no text or too long.
    """
    if isinstance(what, str):
        where = MemoryScope() if scope is None else scope
        if not where.group_id:
            group_of(where, "a promotion")  # which says what is missing
        entry = await _entry_named(parts, what, where)
        if entry is not None:
            return await _of_entry(parts, entry, texts)
        text = await redacted_text(parts, what, texts)
        return await _of_text(parts, text, where, _written_by(actor.origin), actor)
    if not isinstance(what, Entry | Insight):
        raise EntryRefused(
            "a text, an entry, the id of an entry or an insight can be promoted, and this is"
            f" {type(what).__name__}{_hint(what)}"
        )
    where = _own_scope(what, scope)
    if isinstance(what, Entry):
        entries, copies = await _entries(parts, (what.id,), where, expected)
        material = await _of_entry(parts, entries[0], texts)
        return replace(material, copies=copies) if material.content == expected else material
    text = await redacted_text(parts, what.summary, texts)
    entries, copies = await _entries(parts, what.source_entry_ids, where, text if expected else "")
    if not entries:
        return await _of_text(parts, text, where, what.provenance, actor)
    made = Provenance.made(what.provenance.origin, entries, what.provenance.roots)
    decided: dict[str, Any] = {"repeats": what.repeats, "covers": what.covers, "copies": copies}
    if _is_quoted(text, entries):
        if len(entries) == 1 and entries[0].content == text:
            decided["verdict"] = entries[0].verdict
        return Material(text, what.scope, made, tuple(entries), **decided)
    # Anybody can build an insight by hand and name any origin in it: what its entries do not
    # say themselves is as well the word of whoever promotes it, and of who said it before.
    same = await _same_text(parts, text, where)
    roots = {*made.roots, *(root for one in same for root in one.provenance.roots)}
    if not actor.is_person:
        roots.add(actor.origin)
    sources = (*made.sources, *(one.id for one in same if one.status in _OPEN))
    return Material(
        text,
        what.scope,
        Provenance(made.origin, sources, tuple(roots)),
        tuple(entries),
        **decided,
    )


async def edited(
    parts: Parts, entries: Iterable[Entry], change: Callable[[Entry], Entry]
) -> dict[str, Entry]:
    """Change entries of one group in quarantine in one step; return them as they are then.

    Those that are not there anymore are missing from the answer.
    """
    known, seen = tuple(entries), dict[str, Entry]()
    if not known:
        return seen

    def noted(one: Entry) -> Entry:
        seen[one.id] = change(one)
        return seen[one.id]

    store = parts.tiers.quarantine
    which = Select.within(known[0].scope, ids=tuple(one.id for one in known))
    await store.edit(which, noted)
    return seen


def is_text(what: str) -> bool:
    """Say whether something is a text for certain, and no id of an entry."""
    return not what or len(what) > _LONGEST_ID or any(map(str.isspace, what))


async def _entry_named(parts: Parts, name: str, scope: MemoryScope) -> Entry | None:
    """Return the entry that has this id; None if it is a text and no id."""
    if is_text(name):
        return None
    store = parts.tiers.quarantine
    found = (await store.find(Select.within(scope, ids=(name,)))).items
    if not found and _ID.fullmatch(name):
        raise _missing(parts, name, scope)
    return found[0] if found else None


async def _of_text(
    parts: Parts, text: str, scope: MemoryScope, own: Provenance, actor: Actor
) -> Material:
    """Return a text that somebody passes, with the lineage of what quarantine has of it.

    A person who promotes what an agent or a page has said decides about it, and does not
    become its author. What was recorded for another user only lends its origins: forgetting
    that user must not take what is promoted for this one.
    """
    same = await _same_text(parts, text, scope)
    if not same:
        lineage = own
        if not actor.is_person:
            lineage = Provenance(own.origin, own.sources, (*own.roots, actor.origin))
        return Material(text, scope, lineage, is_text=True, copies=())
    mine = [one for one in same if not scope.user_id or one.scope.user_id in (None, scope.user_id)]
    entries = tuple(one for one in mine if one.status in _OPEN and one.refused != SOURCE_GONE)
    roots = tuple({root for one in same for root in one.provenance.roots})
    least = min(same, key=lambda one: one.provenance.trust)
    digest, is_every = hash_of(text), len(same) < _SAME_TEXT
    copies = (one for one in same if one.content_hash == digest and one.status in WAITING)
    return Material(
        content=text,
        scope=scope,
        provenance=Provenance(least.provenance.origin, tuple(one.id for one in entries), roots),
        entries=entries,
        is_text=True,
        turned_down=tuple(
            one for one in same if one.status not in _OPEN or one.refused == SOURCE_GONE
        ),
        verdict=next((one.verdict for one in same if one.verdict is not None), None),
        copies=tuple(copies) if is_every else None,
    )


async def _same_text(parts: Parts, text: str, scope: MemoryScope) -> list[Entry]:
    """Return the newest entries of a group with exactly this text.

    A full stop at its end, the case of its first letter and characters that nobody sees make
    no other text of it.
    """
    if not text.strip():
        return []
    plain = drop_hidden(text)[0].strip()
    bare = plain.rstrip(_ENDS)
    written = {text, plain, bare, f"{bare}.", f"{bare}!", f"{bare}。"}
    written |= {change(one[:1]) + one[1:] for one in written for change in (str.upper, str.lower)}
    hashes = tuple(sorted({hash_of(one) for one in written if one.strip()}))
    store = parts.tiers.quarantine
    which = Select.within(scope, hashes=hashes)
    page = await store.find(which, limit=_SAME_TEXT)
    return page.items


def _is_quoted(text: str, entries: Sequence[Entry]) -> bool:
    """Say whether every sentence of a text stands in one of these entries."""
    said = [" ".join(one.content.split()) for one in entries]
    sentences = [" ".join(one.split()) for one in _SENTENCE.split(text) if one.strip()]
    return all(any(one in other for other in said) for one in sentences)


async def _of_entry(parts: Parts, entry: Entry, texts: dict[str, str] | None) -> Material:
    made = Provenance.made(entry.provenance.origin, [entry])
    text = await redacted_text(parts, entry.content, texts)
    return Material(text, entry.scope, made, (entry,), verdict=entry.verdict)


def _hint(what: Any) -> str:
    """Return what of a thing can be promoted."""
    part = next((name for name in ("entry", "record") if hasattr(what, name)), None)
    if part is not None:
        return f": pass its .{part}"
    return ": what was recalled has an .id and a .content" if hasattr(what, "content") else ""


def _own_scope(what: Entry | Insight, scope: MemoryScope | None) -> MemoryScope:
    mine = group_of(what.scope, "a promotion")
    if scope is not None and (scope.tenant, scope.group_id) != (mine.tenant, mine.group_id):
        raise EntryMissing(
            f"What you pass belongs to group {mine.group_id!r} of tenant {mine.tenant!r}, and not"
            f" to group {scope.group_id!r} of tenant {scope.tenant!r}; leave the scope out, or"
            " promote its text"
        )
    return mine


async def _entries(
    parts: Parts, ids: Sequence[str], scope: MemoryScope, text: str = ""
) -> tuple[list[Entry], tuple[Entry, ...] | None]:
    """Return the entries of these ids, which must all be there, and what waits with a text."""
    if not ids:
        return [], None
    requests: list[tuple[Tier, Select]] = [("quarantine", Select.within(scope, ids=tuple(ids)))]
    if text:
        same = Select.within(scope, hashes=(hash_of(text),), statuses=WAITING)
        requests.append(("quarantine", same))
    found, *copies = await parts.tiers.find_many(requests)
    known = {one.id: one for one in found}
    for one in ids:
        if one not in known:
            raise _missing(parts, one, scope)
    entries = [known[one] for one in dict.fromkeys(ids)]
    return entries, tuple(copies[0]) if copies else None


def _missing(parts: Parts, id_: str, scope: MemoryScope) -> EntryMissing:
    if hint := parts.forgotten.hint(scope, id_):
        return EntryMissing(f"There is no entry {id_} in group {scope.group_id!r}{hint}")
    return EntryMissing(
        f"There is no entry {id_} in quarantine of group {scope.group_id!r}; ids are whole ones"
        " of 32 characters, and digest() and list() show what is there"
    )


async def redacted_text(parts: Parts, text: str, texts: dict[str, str] | None) -> str:
    """Return a text as it may be kept: whole characters, and no secrets."""
    if texts is not None and text in texts:
        return texts[text]
    most = parts.limits.entry_chars
    if len(text) > most:
        raise EntryRefused(
            f"the text has {len(text)} characters, and memory keeps at most entry_chars={most};"
            " cut it, or raise the limit: TierLimits(entry_chars=...)"
        )

    def work() -> str:
        whole = mended(text)
        return redact_text(parts.guard, whole) if parts.guard else whole

    redacted = await parts.runner.offload(work) if len(text) > OFFLOAD_CHARS else work()
    if texts is not None:
        texts[text] = redacted
    return redacted


# Chunks.


def chunks_of(text: str, splitter: Any, limits: TierLimits) -> list[str]:
    """Split a text into chunks for long-term memory; a blank text has none.

    Args:
        text: The text.
        splitter: A LangChain `TextSplitter`, or None for chunks of `chunk_chars` characters
            that share `chunk_overlap`, cut at paragraphs, lines, blanks, or anywhere.
        limits: The limits with `chunk_chars` and `chunk_overlap`.

    Raises:
        SettingError: If chunks would share as much as they hold.
    """
    if not text.strip():
        return []
    chunks = (splitter or default_splitter(limits)).split_text(text)
    return [chunk for chunk in chunks if chunk.strip()] or [text]


def default_splitter(limits: TierLimits) -> Any:
    """Return the default splitter, which prefers to cut at paragraphs, then lines, then blanks.

    Raises:
        SettingError: If chunks would share as much as they hold.
    """
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    if limits.chunk_overlap >= limits.chunk_chars:
        raise SettingError(
            f"chunk_overlap={limits.chunk_overlap!r}: must be less than"
            f" chunk_chars={limits.chunk_chars!r}"
        )
    return RecursiveCharacterTextSplitter(
        chunk_size=limits.chunk_chars,
        chunk_overlap=limits.chunk_overlap,
        separators=["\n\n", "\n", " ", ""],
    )

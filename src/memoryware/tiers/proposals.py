"""Proposals and decisions: the promotion policy, waiting entries, and decided statements.

An entry of quarantine may make several statements, and each is reviewed alone. A decision is
noted on the entry under the digest of the statement; the status of the entry changes when no
statement is left. Deciding about an entry as a whole closes it at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, Literal

from memoryware._caching import clearable_cache
from memoryware.errors import EntryMissing, PromotionRefused
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts
from memoryware.tiers.actors import DecisionActor
from memoryware.tiers.corroboration import independent, support_of
from memoryware.tiers.material import Material, Promotable, edited, material_of
from memoryware.tiers.messages import JUDGING, is_chatter
from memoryware.tiers.model import (
    SOURCE_GONE,
    WAITING,
    Entry,
    PendingPromotion,
    hash_of,
    is_covered_by_facts,
)
from memoryware.tiers.provenance import Provenance, Trust
from memoryware.tiers.screening import refusal_of_blank
from memoryware.tiers.statements import says_nothing, sentences_of
from memoryware.tiers.stores.protocol import Select, Tier
from memoryware.tiers.values import Insight

Decision = Literal["promoted", "rejected"]
"""A decision about a statement or an entry."""
_SHORT_TEXT: Final = 4000
"""Characters of a text whose statements are cached: a digest and each decision ask for them."""


# The promotion policy.


async def check(parts: Parts, material: Material, actor: DecisionActor) -> None:
    """Check that a promotion is allowed, or refuse it with every reason.

    Args:
        parts: The stores and the rules of the memory.
        material: The text with its lineage and entries.
        actor: Who promotes it.

    Raises:
        PromotionRefused: With a code for each reason.
    """
    missing = _of_entries(material, actor) | await _superseded(parts, material)
    missing |= _of_actor(parts, actor, await _proposers(parts, material))
    policy = parts.policy
    if material.provenance.trust < policy.min_trust:
        missing["min_trust"] = (
            f"its trust is {material.provenance.trust.name}, and min_trust asks for"
            f" {policy.min_trust.name}; a person who knows it can promote it in their own words"
        )
    if policy.corroboration:
        count = independent(await support_of(parts, material), actor)
        if count < policy.corroboration:
            missing["corroboration"] = (
                f"{policy.corroboration} independent origins must say the same, and {count}"
                f" {'does' if count == 1 else 'do'}; wait for others, or add them"
            )
    if missing:
        raise PromotionRefused(f"Not promoted: {'; '.join(missing.values())}", tuple(missing))


def is_reviewed(entry: Entry) -> bool:
    """Return whether an entry that waits is shown to reviewers.

    Args:
        entry: The entry.

    Returns:
        False for echoes, verdicts, texts made of forgotten ones, and for questions and courtesy of
        the user that nobody has proposed, and where the facts of an entry are reviewed instead.
    """
    return unreviewed_reason(entry) is None


def unreviewed_reason(entry: Entry) -> str | None:
    """Return why an entry that waits is not shown to reviewers.

    Whether it only says what was decided already is known to a digest alone.

    Args:
        entry: The entry.

    Returns:
        A code that `wording.unreviewed_label` explains; None if it is shown.
    """
    if entry.echo_of or entry.refused == "echo":
        return "echo"
    if entry.refused == SOURCE_GONE:
        return SOURCE_GONE
    if entry.role in JUDGING:
        return "verdict"
    if is_chatter(entry.role, entry.refused) and entry.status != "proposed":
        return entry.refused
    return "facts" if is_covered_by_facts(entry) else None


def refusal_of(entry: Entry, actor: DecisionActor) -> dict[str, str]:
    """Return why an actor may not promote or propose an entry.

    An echo is a guess about what is news, which a person may overrule. A verdict is no statement of
    its own: as a memory it would be evidence for the claim that it judged.

    Args:
        entry: The entry.
        actor: Who acts.

    Returns:
        A reason for each code, such as "echo"; empty if it is allowed.
    """
    missing = {}
    if entry.status == "revoked":
        missing["revoked"] = (
            f"entry {entry.id} was revoked; restore(receipt) puts it back if that was wrong"
        )
    if entry.refused == SOURCE_GONE:
        missing[SOURCE_GONE] = (
            f"entry {entry.id} was made of a text that was forgotten; a person who knows it can"
            " promote it in their own words"
        )
    if entry.role in JUDGING:
        missing["verdict"] = (
            f"entry {entry.id} is the verdict of a check and no fact; promote the text that was"
            " checked"
        )
    if (entry.echo_of or entry.refused == "echo") and not actor.is_person:
        missing["echo"] = (
            f"entry {entry.id} only repeats what memory had shown; a person can promote it"
        )
    if is_chatter(entry.role, entry.refused) and not actor.is_person:
        missing["chatter"] = (
            f"entry {entry.id} states nothing: it asks, orders or greets; a person can promote it"
        )
    return missing


def _of_entries(material: Material, actor: DecisionActor) -> dict[str, str]:
    missing: dict[str, str] = {}
    for entry in material.entries:
        missing |= refusal_of(entry, actor)
        if entry.status == "rejected":
            missing["rejected"] = (
                f"entry {entry.id} was rejected by {entry.decided_by}; propose() it again first"
            )
    if not material.entries and not actor.is_person:  # a machine must not get it in as a text
        for entry in material.turned_down:
            missing |= refusal_of(entry, actor) or {
                entry.status: f"the same text was {entry.status} as entry {entry.id}; a person can"
                " promote it"
            }
    return missing


async def _superseded(parts: Parts, material: Material) -> dict[str, str]:
    """Return a refusal if the memory of an entry was superseded; a plain text is not refused."""
    entries = () if material.is_text else material.entries
    became = {id_: entry for entry in entries for id_ in entry.memory_ids}
    if not became:
        return {}
    store = parts.tiers.long_term
    select = Select.within(material.scope, ids=tuple(became))
    memories = (await store.find(select)).items
    now = parts.clock()
    ended = [
        memory for memory in memories if memory.valid_to is not None and memory.valid_to <= now
    ]
    current = {became[memory.id].id for memory in memories if memory not in ended}
    for memory in ended:
        if became[memory.id].id not in current:
            return {
                "superseded": f"what became of entry {became[memory.id].id} was superseded by"
                f" {memory.superseded_by}; promote its text if it holds again"
            }
    return {}


@dataclass(frozen=True, slots=True)
class _Proposers:
    """The proposers of a text.

    Attributes:
        each: Of each entry that it is made of, everybody who proposed that text.
        everybody: All of them, and who proposed the text itself.
    """

    each: tuple[tuple[str, ...], ...] = ()
    everybody: tuple[str, ...] = ()


async def _proposers(parts: Parts, material: Material) -> _Proposers:
    """Return the proposers of a text, also of other entries with the same text."""
    if not parts.policy.four_eyes:
        return _Proposers()
    hashes = {entry.content_hash for entry in material.entries}
    texts = tuple({*hashes, hash_of(material.content)})
    store = parts.tiers.quarantine
    page = await store.find(Select.within(material.scope, hashes=texts))
    names: dict[str, dict[str, None]] = {}
    for entry in (*material.entries, *page.items):
        names.setdefault(entry.content_hash, {}).update(dict.fromkeys(entry.all_proposers))
    return _Proposers(
        tuple(tuple(proposers) for text, proposers in names.items() if text in hashes),
        tuple(name for proposers in names.values() for name in proposers),
    )


def _of_actor(parts: Parts, actor: DecisionActor, proposers: _Proposers) -> dict[str, str]:
    missing = {}
    if parts.policy.approval and not actor.is_person:
        missing["approval"] = (
            f"a person must promote it, and by={actor.name!r} is a machine; let a person decide"
            " (by='person:...' if this is the name of one)"
        )
    if parts.policy.four_eyes:
        if not proposers.each or not all(proposers.each):
            missing["own_proposal"] = (
                "somebody must have proposed it with propose(), and somebody else promote the"
                " entry that propose() returned"
            )
        elif any(map(actor.is_same, proposers.everybody)):
            missing["own_proposal"] = (
                f"{actor.name!r} proposed it; somebody else must promote the entry"
            )
    return missing


# Proposals.


async def propose(
    parts: Parts,
    item: Promotable,
    scope: MemoryScope | None,
    *,
    by: str,
    waits: PendingPromotion | None = None,
) -> Entry:
    """Note that somebody asks for a promotion; return the entry, which quarantine keeps.

    A text or insight becomes an entry by it, unless the same text waits already. What is promoted
    already stays so.

    Args:
        parts: The memory.
        item: The text, entry or insight.
        scope: Whose memory it would become.
        by: Who proposes it.
        waits: The promotion that waits until somebody decides, if it was one.

    Returns:
        The entry that waits for a decision.

    Raises:
        PromotionRefused: For an entry that was revoked, is the verdict of a check, or an echo that
            no person proposes.
        EntryMissing: If there is no such entry in this scope.
        EntryRefused: For a blank text, or one that is too long.
    """
    actor = DecisionActor.of(by)
    material = await material_of(parts, item, scope, actor)
    if not material.content.strip():
        raise refusal_of_blank()
    refused = {
        code: reason
        for entry in material.entries
        for code, reason in refusal_of(entry, actor).items()
    }
    if refused:
        raise PromotionRefused(f"Not proposed: {'; '.join(refused.values())}", tuple(refused))
    return await note_proposal(parts, material, actor, waits)


async def note_proposal(
    parts: Parts, material: Material, actor: DecisionActor, waits: PendingPromotion | None = None
) -> Entry:
    """Mark the entry of a text as proposed; add an entry if it has none.

    Args:
        parts: The stores and the rules of the memory.
        material: The text with its lineage and entries.
        actor: Who proposes it.
        waits: The promotion that waits until somebody decides, if it was one.

    Returns:
        The entry.

    Raises:
        EntryMissing: If the entry was forgotten meanwhile.
    """
    same = [entry for entry in material.entries if entry.content == material.content]
    if material.is_text or waits:  # what was promoted before waits again, as another entry
        same = [entry for entry in same if entry.status in ("pending", "proposed")]
    if not same or (len(material.entries) > 1 and not material.is_text):
        return await _new_entry(parts, material, actor, waits)

    def change(entry: Entry) -> Entry:
        if entry.status in ("promoted", "revoked"):
            return entry
        return replace(
            entry,
            status="proposed",
            proposed_by=actor.name,
            proposers=tuple(dict.fromkeys((*entry.all_proposers, actor.name))),
            waits=waits or entry.waits,
            # What was turned down as a whole is reviewed anew, statement by statement.
            decided={} if entry.status == "rejected" else entry.decided,
        )

    return await _changed(parts, same[0], change)


async def reject(
    parts: Parts,
    item: str | Entry | Insight,
    scope: MemoryScope | None,
    *,
    by: str,
    reason: str = "",
) -> Entry:
    """Reject an entry, or a statement of it, so that it is not promoted.

    The entry leaves working memory. Of an insight every entry is decided, as far as it makes the
    statement; one that makes others still waits for them.

    Args:
        parts: The stores and the rules of the memory.
        item: An entry, its id, or an insight.
        scope: Whose memory it is; None for the scope that `item` brings.
        by: Who rejects it.
        reason: Why, in words; it is kept with the entry.

    Returns:
        The entry; of an insight its first source.

    Raises:
        PromotionRefused: If it was promoted or revoked already.
        EntryMissing: If there is no such entry in this scope.
    """
    entry, gone = await rejected(parts, item, scope, DecisionActor.of(by), reason)
    await parts.tiers.working.delete(gone)
    return entry


async def rejected(
    parts: Parts,
    item: str | Entry | Insight,
    scope: MemoryScope | None,
    actor: DecisionActor,
    reason: str,
) -> tuple[Entry, Select]:
    """Reject an entry in quarantine; see `reject`.

    Args:
        parts: The stores and the rules of the memory.
        item: An entry, its id, or an insight.
        scope: Whose memory it is; None for the scope that `item` brings.
        actor: Who rejects it.
        reason: Why, in words; it is kept with the entry.

    Returns:
        The entry, and what has to leave working memory with it.
    """
    material = await material_of(parts, item, scope, actor)
    if not material.entries or (len(material.entries) != 1 and not isinstance(item, Insight)):
        raise EntryMissing("Only an entry or an insight can be rejected: pass it, or its id")
    metadata = {"rejected_because": parts.redacted(reason)} if reason else {}

    def change(entry: Entry) -> Entry:
        covered = material.covers.get(entry.id, ())
        # A statement that was promoted stays so while its entry waits with the others.
        statements = tuple(key for key in covered if entry.decided.get(key) != "promoted")
        if entry.status in ("promoted", "revoked") or (covered and not statements):
            return entry
        return closed(
            entry,
            "rejected",
            by=actor.name,
            at=parts.clock(),
            statements=statements,
            metadata={**entry.metadata, **metadata},
        )

    entry, *others = material.entries
    entry = await _changed(parts, entry, change)
    statements = material.covers.get(entry.id, ())
    is_rejected = entry.status == "rejected" or (
        bool(statements) and any(entry.decided.get(key) == "rejected" for key in statements)
    )
    if not is_rejected:
        status = "promoted" if entry.status != "revoked" and statements else entry.status
        subject = "This statement of entry" if statements else "Entry"
        raise PromotionRefused(
            f"{subject} {entry.id} was {status} already, so it cannot be rejected; revoke()"
            " takes back what was promoted",
            (status,),
        )
    trust = max(source.provenance.trust for source in material.entries)
    alone = entry.ungrouped and not others  # its copies are decided without it
    repeats = (
        []
        if alone
        else await repeats_of(
            parts,
            entry.scope,
            material.content,
            trust=trust,
            ids=material.repeats,
            entries=material.entries,
        )
    )
    also = {other.id: other for other in (*others, *repeats) if other.id != entry.id}
    await edited(parts, also.values(), change)
    return entry, Select.within(entry.scope, ids=(entry.id, *also))


async def ungroup(parts: Parts, item: str | Entry, scope: MemoryScope | None) -> Entry:
    """Take an entry out of its group, so that a digest shows it alone.

    Args:
        parts: The stores and the rules of the memory.
        item: An entry, or its id.
        scope: Whose memory it is; None for the scope that `item` brings.

    Returns:
        The entry as it is now.

    Raises:
        EntryMissing: If there is no such entry in this scope.
    """
    material = await material_of(parts, item, scope, DecisionActor.of("ungroup"))
    if len(material.entries) != 1:
        raise EntryMissing("Only an entry can be taken out of its group: pass it, or its id")
    return await _changed(parts, material.entries[0], lambda entry: replace(entry, ungrouped=True))


async def _new_entry(
    parts: Parts, material: Material, actor: DecisionActor, waits: PendingPromotion | None
) -> Entry:
    entry = Entry(
        id=parts.new_id(),
        scope=material.scope,
        content=material.content,
        created_at=parts.clock(),
        provenance=material.provenance,
        role="other",
        status="proposed",
        proposed_by=actor.name,
        proposers=(actor.name,),
        waits=waits,
    )
    store = parts.tiers.quarantine
    return await store.add(entry)


async def _changed(parts: Parts, entry: Entry, change: Callable[[Entry], Entry]) -> Entry:
    changed = await edited(parts, [entry], change)
    if entry.id not in changed:
        raise EntryMissing(f"Entry {entry.id} was forgotten meanwhile")
    return changed[entry.id]


# Decisions.


def statements_in(entry: Entry) -> Mapping[str, str]:
    """Return the statements of an entry that somebody has to decide about.

    Courtesy and questions beside a statement are left out, as they state nothing. An entry
    that consists of them is one statement, so that it can be decided as well.

    Args:
        entry: An entry of quarantine.

    Returns:
        The statements by their digests, in order.
    """
    text = entry.content
    if entry.waits is not None and entry.waits.removes:  # it asks to forget all that it quotes
        return {hash_of(text): text}
    return _cached_statements(text) if len(text) <= _SHORT_TEXT else _statements(text)


def _statements(text: str) -> Mapping[str, str]:
    parts = sentences_of(text)
    if len(parts) > 1:
        parts = tuple(part for part in parts if not says_nothing(part)) or (text,)
    return MappingProxyType({hash_of(part): part for part in parts})


_cached_statements: Final = clearable_cache(4096)(_statements)


def open_statements(entry: Entry) -> Mapping[str, str]:
    """Return the statements of an entry that are not decided yet.

    Args:
        entry: The entry.

    Returns:
        The statements by their digests, in order.
    """
    statements = statements_in(entry)
    if not entry.decided:
        return statements
    return {digest: text for digest, text in statements.items() if digest not in entry.decided}


def closed(
    entry: Entry,
    decision: Decision,
    *,
    by: str,
    at: datetime,
    statements: Sequence[str] = (),
    **changes: Any,
) -> Entry:
    """Return an entry after a decision about it.

    Args:
        entry: The entry as it is now.
        decision: What was decided.
        by: Who decided.
        at: When.
        statements: Digests of the statements that were decided; () for the whole entry.
        changes: Further fields of the entry, such as `memory_ids`.

    Returns:
        The entry; it still waits if it has other statements that are not decided.
    """
    if statements:
        decided = {**entry.decided, **dict.fromkeys(statements, decision)}
        entry = replace(entry, decided=decided, **changes)
        if open_statements(entry):
            return entry
        # Something of it is remembered, so it counts as promoted.
        decision = "promoted" if "promoted" in decided.values() else "rejected"
        return replace(entry, status=decision, decided_by=by, decided_at=at)
    return replace(entry, status=decision, decided_by=by, decided_at=at, **changes)


async def repeats_of(
    parts: Parts,
    scope: MemoryScope,
    text: str,
    *,
    trust: Trust,
    ids: Sequence[str] = (),
    copies: Sequence[Entry] | None = None,
    entries: Sequence[Entry] = (),
) -> list[Entry]:
    """Return waiting entries that a decision about a text closes as well.

    Args:
        parts: The stores and rules.
        scope: Whose quarantine it is.
        text: The text that was decided about.
        trust: How far it is trusted.
        ids: Entries that an insight names as repeats.
        copies: Entries that wait with exactly this text, if they have been read already.
        entries: The entries that were decided. What is proposed for one user alone repeats nothing
            that is for others.

    Returns:
        The named entries, and exact copies of the text that are not trusted more. A copy that
        is trusted more deserves a decision of its own, and so does one that somebody proposed
        or took out of a group.
    """
    select = Select.within(scope, statuses=WAITING)
    requests: list[tuple[Tier, Select]] = []
    if ids:
        requests.append(("quarantine", select.also(ids=tuple(ids))))
    if copies is None:
        requests.append(("quarantine", select.also(hashes=(hash_of(text),))))
    pages = await parts.tiers.find_many(requests) if requests else []
    copies = pages.pop() if copies is None else copies
    owner = entries[0].personal_owner if entries else ""
    repeats = [
        *(pages[0] if ids else ()),
        *(copy for copy in copies if _is_copy(copy, trust) and copy.personal_owner == owner),
    ]
    return list({entry.id: entry for entry in repeats}.values())


def _is_copy(entry: Entry, trust: Trust) -> bool:
    return entry.provenance.trust <= trust and entry.status == "pending" and not entry.ungrouped


def refuse_rejected_statements(material: Material) -> None:
    """Refuse a promotion of a statement that was rejected meanwhile.

    Args:
        material: The text with its lineage and entries.

    Raises:
        PromotionRefused: If one was, in an entry that still waits with other statements.
    """
    for entry in material.entries:
        for digest in material.covers.get(entry.id, ()):
            if entry.decided.get(digest) == "rejected":
                raise PromotionRefused(
                    f"Not promoted: this statement of entry {entry.id} was rejected; promote its"
                    " text if it holds after all",
                    ("rejected",),
                )


def insight_of_entry(insight: Insight, entry: Entry) -> Insight:
    """Return the insight that one entry of an insight is by itself.

    Args:
        insight: An insight of several entries.
        entry: One of them, as it is now.

    Returns:
        The statement in the words of this entry, and with its lineage alone.
    """
    digests = insight.covers.get(entry.id, ())
    every = statements_in(entry)
    texts = [every[key] for key in digests if key in every]
    text = texts[0] if texts else entry.content if len(every) > 1 else next(iter(every.values()))
    return replace(
        insight,
        id=hash_of(f"{entry.id}\n{text}"),
        scope=entry.scope,
        summary=text,
        source_entry_ids=(entry.id,),
        provenance=Provenance.derived(entry.provenance.origin, [entry]),
        extractive=True,
        repeats=(),
        covers={entry.id: digests} if digests else {},
    )


def insight_of_statement(entry: Entry, digest: str) -> Insight:
    """Return the insight that one statement of an entry is by itself.

    Args:
        entry: The entry.
        digest: The digest of the statement, as `statements_in` has it.

    Returns:
        The statement in the words of the entry; a decision about it leaves the other statements
        of the entry waiting.
    """
    every = statements_in(entry)
    return Insight(
        id=hash_of(f"{entry.id}\n{every[digest]}"),
        scope=entry.scope,
        summary=every[digest],
        source_entry_ids=(entry.id,),
        provenance=Provenance.derived(entry.provenance.origin, [entry]),
        covers={entry.id: (digest,)} if len(every) > 1 else {},
        personal=bool(entry.personal_owner),
    )

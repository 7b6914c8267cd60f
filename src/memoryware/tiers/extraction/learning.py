"""Read a thread from quarantine, extract its facts, and store them as proposals, exactly once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Literal

from memoryware.events import emit, logger
from memoryware.scope import MemoryScope
from memoryware.settings import ExtractionLimits
from memoryware.tiers._parts import Parts, note_recorded
from memoryware.tiers.automatic import AFTER_RUN, promote_due
from memoryware.tiers.entry import EntryOrigin, create_entry
from memoryware.tiers.extraction.corrections import common_matter
from memoryware.tiers.extraction.facts import (
    KINDS,
    ConversationTurn,
    ExtractedFact,
    Extraction,
    fact_metadata,
)
from memoryware.tiers.extraction.forget_requests import EVERYTHING
from memoryware.tiers.extraction.job_queue import ThreadJobQueue
from memoryware.tiers.extraction.model_extractor import facts_by_model, usage_before
from memoryware.tiers.extraction.reconciling import (
    ReconciledFact,
    is_meant,
    named_subject,
    reconcile,
    unmatched_request,
)
from memoryware.tiers.extraction.rules import facts_by_rules
from memoryware.tiers.extraction.turns import sentences_in
from memoryware.tiers.model import (
    DECIDED,
    EXTRACTED,
    FACT,
    SAID_AT,
    Entry,
    PendingPromotion,
    Role,
    hash_of,
)
from memoryware.tiers.provenance import Origin, Provenance, Trust
from memoryware.tiers.record import record_many
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.values import Layer, Output

MANAGER: Final = "memory-manager"
"""The name under which wording of a model is recorded: `agent:memory-manager`."""
_QUARANTINE: Final[tuple[Layer, ...]] = ("quarantine",)
_REDACTED: Final = "[redacted"
"""What the guard has put in the place of a secret begins with it."""
_BEFORE: Final = 8
"""Messages of a thread that were read, and that a correction may be about or follow."""
_FACTS: Final = 200
"""Proposed facts of a thread, the latest ones, that a correction may be about."""
_PAGES: Final = 20
"""Pages of a thread that are looked through for messages that were not read."""


class Learner:
    """Extracts the facts of threads; see `MemoryManager` for the options."""

    def __init__(
        self,
        model: Any,
        limits: ExtractionLimits,
        queue: ThreadJobQueue,
        *,
        review: Literal["facts", "everything"],
    ) -> None:
        self.model = model
        self._limits = limits
        self._queue = queue
        self._review = review

    async def read(
        self,
        parts: Parts,
        scope: MemoryScope,
        turns: Sequence[ConversationTurn],
        earlier: Sequence[ExtractedFact] = (),
        before: Sequence[ConversationTurn] = (),
    ) -> tuple[list[ReconciledFact], Extraction]:
        """Extract the facts of turns and compare them with memory; nothing is stored.

        Args:
            parts: The memory.
            scope: Tenant, group and user.
            turns: The turns.
            earlier: Facts of the thread that were proposed already.
            before: The latest turns of the thread that were read already.

        Returns:
            The facts with what they ask for, without those that ask for nothing.
        """
        turns = _with_tainted_answers(turns)
        by_rules = partial(facts_by_rules, earlier=earlier, before=before)
        facts, extraction = await self._facts(parts, turns, by_rules)
        # A secret is no fact: what the guard would cut out of it is left out as a whole.
        facts = [fact for fact in facts if not _has_secret(parts, fact.text)]
        authors = _authors([*turns, *before])
        reconciled: list[ReconciledFact] = []
        for fact in facts[: self._limits.facts]:
            author = _author_of(fact, authors)
            author_scope = scope if author is None else replace(scope, user_id=author)
            item = await reconcile(
                parts, author_scope, fact, self._limits, sentence=_sentence_of(fact, turns)
            )
            if fact.action == "delete":
                request = replace(fact, subject=named_subject(fact.subject, author_scope))
                unwanted = [
                    other
                    for other in reconciled
                    if other.fact.action not in ("delete", "nothing")
                    and _author_of(other.fact, authors) == author
                    and (
                        fact.subject == EVERYTHING
                        or is_meant(request, other.fact.text, other.fact.subject)
                    )
                ]
                reconciled = [other for other in reconciled if other not in unwanted]
                if unwanted and not item.fact.target:
                    texts = [fact.text] if fact.subject == EVERYTHING else []
                    texts += [other.fact.text for other in unwanted]
                    item = unmatched_request(fact, texts)
            reconciled.append(item)
        proposed = [item for item in reconciled if item.fact.action != "nothing"]
        if len(facts) > self._limits.facts:
            omitted = f"{len(facts) - self._limits.facts} facts beyond facts={self._limits.facts}"
            extraction = replace(extraction, problem=f"{omitted} were left out")
            logger.warning("the memory manager: %s were left out; raise the limit", omitted)
        return proposed, replace(extraction, turns=len(turns))

    async def _facts(
        self,
        parts: Parts,
        turns: Sequence[ConversationTurn],
        by_rules: Callable[[Sequence[ConversationTurn]], list[ExtractedFact]],
    ) -> tuple[list[ExtractedFact], Extraction]:
        has_user = any(turn.speaker == "user" for turn in turns)
        if self.model is None or not has_user:
            return await parts.runner.offload(by_rules, turns), Extraction()
        problem = await self._over_budget(parts, turns)
        if problem:
            facts = await parts.runner.offload(by_rules, turns)
            return facts, Extraction(problem=problem)
        answer = await facts_by_model(
            parts.runner, self.model, turns, self._limits, seconds=parts.limits.model_timeout
        )
        if self._limits.tokens_per_day is not None:
            await parts.runner.offload(self._queue.spend, _day(parts), answer.usage.tokens)
        if answer.is_usable:
            facts = answer.facts
            if answer.unread:
                facts += await parts.runner.offload(by_rules, answer.unread)
            return facts, Extraction(method="model", usage=answer.usage, problem=answer.problem)
        facts = await parts.runner.offload(by_rules, turns)
        return facts, Extraction(usage=answer.usage, problem=answer.problem)

    async def _over_budget(self, parts: Parts, turns: Sequence[ConversationTurn]) -> str:
        """Return why the model may not be called; "" if it may."""
        budget = self._limits.tokens_per_day
        if budget is None:
            return ""
        spent = await parts.runner.offload(self._queue.spent, _day(parts))
        if spent + usage_before(turns, self._limits).tokens <= budget:
            return ""
        return f"the model has used {spent} of tokens_per_day={budget:.0f}"

    # Threads in quarantine.

    async def record(
        self, parts: Parts, scope: MemoryScope, turns: Sequence[ConversationTurn]
    ) -> None:
        """Record the messages of a conversation in quarantine; those that are there stay.

        Args:
            parts: The memory.
            scope: Tenant, group, user and session.
            turns: The messages.
        """
        user = Origin("user", scope.user_id or "")
        outside: dict[Origin, None] = {}
        outputs: list[Output] = []
        role: Role
        for turn in turns:
            if turn.speaker == "outside":
                outside[Origin("tool", turn.reported_by)] = None
                continue
            provenance, role = Provenance(user), "user"
            if turn.speaker == "assistant":
                agent = Origin("agent", scope.agent_id or "")
                provenance, role = Provenance.derived(agent, roots=(user, *outside)), "agent"
            # The key that the middleware uses, so that no message is there twice.
            key = f"{scope.session_id or ''}:{turn.id}:{hash_of(turn.text)}"
            outputs.append(Output(turn.text, {}, role, provenance, key))
        await record_many(parts, outputs, scope, tiers=_QUARANTINE)

    async def learn(self, parts: Parts, scope: MemoryScope) -> Extraction:
        """Read the new messages of a thread, and store its facts as proposals.

        Args:
            parts: The memory.
            scope: Tenant, group, user and session.

        Returns:
            The proposals that were stored.
        """
        thread = await self._thread(parts, scope)
        unread, before = thread.unread, thread.before
        if not any(turn.speaker == "user" for turn in unread):
            return Extraction(turns=len(unread))
        earlier = [_fact_of(entry) for entry in thread.facts]
        reconciled, extraction = await self.read(parts, scope, unread, earlier, before)
        reconciled, corrected = _with_common_subjects(reconciled, thread)
        proposals = [
            proposal
            for item in reconciled
            if (proposal := await self._proposal(parts, scope, item, thread)) is not None
        ]
        turns = [*before, *unread]
        work = partial(_store, scope=scope, proposals=proposals, turns=turns, review=self._review)

        async def store(inside: Parts) -> list[Entry]:
            stored = await work(inside)
            await _name_subjects(inside, scope, corrected)
            return stored

        new = await parts.transaction(scope, store)
        facts = {proposal.entry.id: proposal.fact for proposal in proposals}
        for entry in new:
            note_recorded(parts.stores.quarantine, entry)
            event_context = parts.event_context(entry.scope)
            size = len(entry.content)
            emit(event_context, "recorded", tier="quarantine", entries=1, characters=size)
        # A policy may promote by itself; by default none does.
        await promote_due(parts, scope, limit=AFTER_RUN)
        return replace(
            extraction,
            facts=tuple(facts[entry.id] for entry in new),
            entry_ids=tuple(entry.id for entry in new),
        )

    async def _thread(self, parts: Parts, scope: MemoryScope) -> _Thread:
        """Return the messages of a thread that were not read, and what a correction needs."""
        select = Select.within(
            scope, users=(scope.user_id,), sessions=(scope.session_id,), revocations=(None,)
        )
        unread: list[Entry] = []
        read: list[Entry] = []
        facts: list[Entry] = []
        mark = None
        for _ in range(_PAGES):
            page = await parts.tiers.quarantine.find(select, limit=self._limits.turns, after=mark)
            for entry in page.items:
                if FACT in entry.metadata:
                    facts += [] if entry.status in DECIDED else [entry]
                elif _is_message(entry):
                    unread.append(entry)
                elif EXTRACTED in entry.metadata and entry.status not in DECIDED:
                    read.append(entry)
            mark = page.next
            if mark is None or len(unread) >= self._limits.turns:
                break
        unread = unread[: self._limits.turns]
        first = min((entry.said_at for entry in unread), default=None)
        before = [entry for entry in read if first is not None and entry.said_at <= first]
        return _Thread(
            unread=[_turn_of(entry) for entry in reversed(unread)],
            before=[_turn_of(entry) for entry in reversed(before[:_BEFORE])],
            facts=[*reversed(facts[:_FACTS])],
        )

    async def _proposal(
        self,
        parts: Parts,
        scope: MemoryScope,
        item: ReconciledFact,
        thread: _Thread,
    ) -> _Proposal | None:
        """Return the entry of a fact, which is not stored yet; None if no message states it."""
        fact, turns = item.fact, thread.unread
        named = [turn for turn in turns if turn.id in fact.message_ids and turn.entry is not None]
        if not named:
            return None
        # A correction of what was proposed before has words of the message that it corrects.
        corrected = [turn for turn in thread.before if turn.id in fact.message_ids]
        named = [*(turn for turn in corrected if turn.entry is not None), *named]
        if fact.verbatim:
            cited = [turn.entry for turn in named if turn.entry is not None]
            provenance = Provenance.derived(cited[0].provenance.origin, cited)
        else:
            read = [turn.entry for turn in turns if turn.entry is not None]
            provenance = Provenance.derived(Origin("agent", MANAGER), read)
        metadata = fact_metadata(fact)
        said_at = [turn.entry.said_at for turn in named if turn.entry is not None]
        metadata[SAID_AT] = (max(said_at) if corrected else said_at[0]).isoformat()
        origin = EntryOrigin(role="other", provenance=provenance, key=_key(fact, named))
        entry = await create_entry(parts, fact.text, scope, metadata, origin)
        waits = item.waits
        if waits is not None and fact.valid_from is not None and fact.valid_from.tzinfo is not None:
            waits = replace(waits, valid_from=fact.valid_from)
        return _Proposal(
            fact,
            replace(entry, waits=waits),
            tuple(turn.entry.id for turn in named if turn.entry is not None),
        )


@dataclass(frozen=True, slots=True)
class _Thread:
    """A thread of one user: what was not read yet, and what a correction in it may be about.

    Attributes:
        unread: The messages that were not read, oldest first.
        before: The latest messages before them, which were read.
        facts: The entries of the facts that were proposed; oldest first.
    """

    unread: list[ConversationTurn]
    before: list[ConversationTurn]
    facts: list[Entry]


@dataclass(frozen=True, slots=True)
class _Proposal:
    """A fact with its entry, and the entries of the messages that state it."""

    fact: ExtractedFact
    entry: Entry
    cited: tuple[str, ...]


def _with_common_subjects(
    reconciled: Sequence[ReconciledFact], thread: _Thread
) -> tuple[list[ReconciledFact], dict[str, str]]:
    """Name the subject of facts that correct a proposal, where neither of them has one.

    By their subject it is known that only one of both can be current, in whatever order they are
    approved.

    Returns:
        The facts, and the subjects of the proposals that they correct, by their ids.
    """
    before = {turn.id for turn in thread.before}
    named: list[ReconciledFact] = []
    subjects: dict[str, str] = {}
    for item in reconciled:
        fact, waits = item.fact, item.waits
        is_correction = fact.action == "add" and not fact.subject and before & {*fact.message_ids}
        matters = {
            entry.id: matter
            for entry in thread.facts
            if is_correction
            and not (entry.waits and entry.waits.subject)
            and {*_fact_of(entry).message_ids} < {*fact.message_ids}
            and (matter := common_matter(entry.content, fact.text))
        }
        if len(matters) == 1:
            subjects |= matters
            (subject,) = matters.values()
            waits = replace(waits or PendingPromotion(subject=""), subject=subject)
            item = replace(item, fact=replace(fact, subject=subject), waits=waits)  # noqa: PLW2901
        named.append(item)
    return named, subjects


async def _name_subjects(inside: Parts, scope: MemoryScope, subjects: Mapping[str, str]) -> None:
    def name(entry: Entry) -> Entry:
        if entry.status in DECIDED:
            return entry
        waits = replace(entry.waits or PendingPromotion(subject=""), subject=subjects[entry.id])
        return replace(entry, waits=waits)

    if subjects:
        await inside.tiers.quarantine.edit(Select.within(scope, ids=tuple(subjects)), name)


async def _store(
    inside: Parts,
    *,
    scope: MemoryScope,
    proposals: Sequence[_Proposal],
    turns: Sequence[ConversationTurn],
    review: Literal["facts", "everything"],
) -> list[Entry]:
    """Store the facts of messages and mark these as read, inside a transaction.

    Both happen or neither: a process that is killed leaves the messages unread, and one that
    comes second finds them read. What was forgotten or revoked meanwhile states nothing any more.
    """
    quarantine = inside.tiers.quarantine
    ids = tuple(turn.entry.id for turn in turns if turn.entry is not None)
    page = await quarantine.find(Select.within(scope, ids=ids))
    unread = {entry.id: entry for entry in page.items if entry.status not in DECIDED}
    marked = {id_ for id_, entry in unread.items() if EXTRACTED in entry.metadata}
    stored: list[Entry] = []
    for proposal in proposals:
        is_there = unread.keys() >= {*proposal.entry.provenance.sources}
        if is_there and not marked.issuperset(proposal.cited):
            entry = await quarantine.add(proposal.entry)
            stored += [entry] if entry.id == proposal.entry.id else []
    facts = [entry.id for entry in stored] if review == "facts" else None

    def mark(entry: Entry) -> Entry:
        if EXTRACTED in entry.metadata:
            return entry
        return replace(entry, metadata={**entry.metadata, EXTRACTED: facts})

    if unread:
        await quarantine.edit(Select.within(scope, ids=tuple(unread)), mark)
    return stored


def _is_message(entry: Entry) -> bool:
    """Return whether an entry is a message that was not read yet."""
    return (
        EXTRACTED not in entry.metadata
        and entry.metadata.get("remember") is not True
        and entry.status not in DECIDED
        and entry.role in ("agent", "user")
        and entry.provenance.origin.kind in ("user", "agent", "person")
    )


def _turn_of(entry: Entry) -> ConversationTurn:
    is_user = entry.provenance.origin.kind in ("user", "person")
    is_outside = entry.provenance.trust is Trust.UNTRUSTED
    return ConversationTurn(
        id=_message_id(entry),
        speaker="outside" if is_outside else "user" if is_user else "assistant",
        text=entry.content,
        moment=entry.said_at,
        entry=entry,
        reported_by=str(entry.provenance.origin),
    )


def _fact_of(entry: Entry) -> ExtractedFact:
    """Return the fact that an entry proposes."""
    stored = entry.metadata[FACT]
    details = stored if isinstance(stored, Mapping) else {}
    kind = details.get("kind")
    ids = details.get("message_ids")
    return ExtractedFact(
        text=entry.content,
        kind=kind if kind in KINDS else "fact",
        subject=str(details.get("subject", "")),
        action="delete" if details.get("action") == "delete" else "add",
        message_ids=tuple(map(str, ids)) if isinstance(ids, list | tuple) else (),
    )


def _message_id(entry: Entry) -> str:
    """Return the id of the message of an entry: the middle of its key, or else its own."""
    session = f"{entry.scope.session_id or ''}:"
    if entry.key and entry.key.startswith(session):
        return entry.key.removeprefix(session).rpartition(":")[0] or entry.id
    return entry.id


def _with_tainted_answers(turns: Sequence[ConversationTurn]) -> list[ConversationTurn]:
    """Return the same turns; an answer after the result of a tool counts as from outside.

    Recorded answers have their lineage, which says so more exactly.
    """
    checked: list[ConversationTurn] = []
    has_outside = False
    for turn in turns:
        has_outside = has_outside or turn.speaker == "outside"
        is_tainted = has_outside and turn.speaker == "assistant" and turn.entry is None
        checked.append(replace(turn, speaker="outside") if is_tainted else turn)
    return checked


def _key(fact: ExtractedFact, turns: Sequence[ConversationTurn]) -> str:
    """Return the idempotency key of a fact: its messages and its text."""
    entries = ",".join(turn.entry.id for turn in turns if turn.entry is not None)
    return f"fact:{hash_of(entries)}:{fact.action}:{hash_of(fact.text)}"


def _authors(turns: Sequence[ConversationTurn]) -> dict[str, str]:
    """Return the users who wrote recorded messages, by message: in a chat of several, several."""
    return {
        turn.id: turn.entry.provenance.origin.name
        for turn in turns
        if turn.entry is not None
        and turn.speaker == "user"
        and turn.entry.provenance.origin.kind == "user"
        and turn.entry.provenance.origin.name
    }


def _sentence_of(fact: ExtractedFact, turns: Sequence[ConversationTurn]) -> str:
    """Return the sentence that states a fact: what is said beside it may be personal."""
    cited = fact.evidence.strip() or fact.text.strip().rstrip(".。")
    texts = [turn.text for turn in turns if turn.speaker == "user" and turn.id in fact.message_ids]
    sentences = [sentence for text in texts for sentence in sentences_in(text)]
    return next((sentence for sentence in sentences if cited and cited in sentence), "")


def _author_of(fact: ExtractedFact, authors: Mapping[str, str]) -> str | None:
    return next((authors[id_] for id_ in fact.message_ids if id_ in authors), None)


def _has_secret(parts: Parts, text: str) -> bool:
    return _REDACTED in text or parts.redacted(text) != text


def _day(parts: Parts) -> str:
    return parts.clock().date().isoformat()


async def unread_threads(parts: Parts, scope: MemoryScope, most: int) -> list[MemoryScope]:
    """Return the threads of a group with messages of users that were not read.

    Args:
        parts: The stores.
        scope: Tenant and group.
        most: The newest entries of the group that are looked at.

    Returns:
        The scopes of the threads: tenant, group, user and session.
    """
    select = Select.within(scope, revocations=(None,))
    page = await parts.tiers.quarantine.find(select, limit=most)
    threads = {
        MemoryScope(
            tenant=entry.scope.tenant,
            group_id=entry.scope.group_id,
            user_id=entry.scope.user_id,
            session_id=entry.scope.session_id,
        ): None
        for entry in page.items
        if FACT not in entry.metadata
        and _is_message(entry)
        and entry.provenance.origin.kind in ("user", "person")
    }
    return list(threads)

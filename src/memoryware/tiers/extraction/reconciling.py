"""Compare extracted facts with what memory has: add, update, supersede, delete or nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from memoryware.scope import MemoryScope, agents_shown_to, is_personal_agent, own_agent
from memoryware.settings import ExtractionLimits
from memoryware.tiers._parts import Parts, current_in
from memoryware.tiers.extraction.facts import ExtractedFact
from memoryware.tiers.extraction.forget_requests import EVERYTHING
from memoryware.tiers.extraction.preference_subjects import CHOICES, preference_subject
from memoryware.tiers.model import FACT, WAITING, Entry, Memory, PendingPromotion, hash_of
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.text.comparison import Relation, compare
from memoryware.tiers.text.contradictions import contradiction_between
from memoryware.tiers.text.household import names_household
from memoryware.tiers.text.terms import core_words
from memoryware.tiers.text.utterances import speaks_of_self
from memoryware.tiers.validity import spellings

_USER_SUBJECT: Final = re.compile(
    r"(?:i|i'm|my|me|ich|mein\w{0,2}|mir|(?:the|der|die|den|dem)\s+(?:user|nutzer\w*))\b|.{0,2}我(?!们)|用户",
    re.IGNORECASE,
)
"""The user as the subject of a statement, in their own words ("I") or those of a model."""
_OF_GROUP: Final = re.compile(
    r"\b(?:we|our|us|team|everybody|everyone|wir|unser\w*|uns|alle)\b|我们|大家|团队", re.IGNORECASE
)
"""Words of what a group wants: "We prefer short meetings"."""
_CHANGED: Final = re.compile(
    r"\b(?:now|no\s+longer|any\s?more|moved|switched|changed|since|from\s+now\s+on|jetzt|inzwischen"
    r"|mittlerweile|nicht\s+mehr|kein\w*\s+\w+\s+mehr|ab\s+sofort|umgezogen|gewechselt)\b|现在|不再|改|已经|搬|了",
    re.IGNORECASE,
)
"""Words of a change in the world; without them a text corrects what was wrong."""
_DENIAL: Final = re.compile(
    r"\b(?:not|no|never|n't|nicht|kein\w*|nie|niemals)\b|n't\b|[不没别]", re.IGNORECASE
)
_OWN_SUBJECT: Final = "user: "
_WORDS: Final = 50
"""Words of a fact by which memories are looked up."""
_SAME_TEXTS: Final = 20
"""Entries with the same text that are looked at."""
_SHARED: Final = 0.75
"""Share of the words of a request to forget that a memory must have."""
_CLEAR: Final = 0.7
"""Confidence of a request to forget that can be meant for memory only."""
_MATTER: Final = re.compile(
    r"(?:(?:my|our|mein\w{0,2}|unser\w{0,2})\s+(?:\S+\s*){1,3}|我的?.{1,6}|(?:where|when|wo|wann)\s.*)$",
    re.IGNORECASE,
)
"""A request that names a matter, of which memory may have several facts: "my cats"."""
_MOST_REMOVED: Final = 5
"""Facts that one request removes."""


@dataclass(frozen=True, slots=True)
class ReconciledFact:
    """A fact with what it asks for.

    Attributes:
        fact: The fact; its action and target are decided.
        waits: What its promotion does; None for a plain one.
    """

    fact: ExtractedFact
    waits: PendingPromotion | None = None


async def reconcile(
    parts: Parts,
    scope: MemoryScope,
    fact: ExtractedFact,
    limits: ExtractionLimits,
    *,
    sentence: str = "",
) -> ReconciledFact:
    """Decide what a fact asks for, compared with long-term memory and what waits.

    Args:
        parts: The stores.
        scope: Tenant, group and user.
        fact: The fact.
        limits: How many memories are compared.
        sentence: The sentence that the fact was taken from; "" if it is unknown.

    Returns:
        The fact with its action; "nothing" for what memory has already, for what a reviewer has
        rejected, and for an unclear request to forget something that memory does not have. A
        clear one goes to the reviewer.
    """
    if fact.action == "delete" and fact.subject == EVERYTHING:
        # `forget` deletes all of a user, for good: a reviewer has to decide on that.
        return await _new_request(parts, scope, fact)
    choice = preference_subject(fact.text) if fact.kind in CHOICES else ""
    named = replace(fact, subject=named_subject(fact.subject or choice, scope))
    memories = await _candidates(parts, scope, named, limits)
    is_personal = _is_personal(fact, sentence)
    work = partial(_decide, named, memories, scope, is_personal=is_personal)
    decision = await parts.runner.offload(work)
    if decision.fact.action == "add" and await _is_proposed_already(parts, scope, named):
        return ReconciledFact(replace(named, action="nothing"))
    if decision.fact.action == "nothing" and fact.action == "delete":
        return await _removal_of_waiting(parts, scope, named)
    return decision


def is_meant(request: ExtractedFact, content: str, subject: str | None = None) -> bool:
    """Return whether a request to forget something is about a text.

    Args:
        request: The request: a fact with the action "delete".
        content: The text.
        subject: The subject of the text.

    Returns:
        Whether it is, by its subject or by most of its words.
    """
    if request.subject and subject and subject in spellings(request.subject):
        return True
    return _asks_to_forget(request.text, content)


def unmatched_request(request: ExtractedFact, texts: Sequence[str] = ()) -> ReconciledFact:
    """Return a request to forget something that memory does not have, for a reviewer.

    Its approval hides nothing, and closes it.

    Args:
        request: The request: a fact with the action "delete".
        texts: What the user has said in the same conversation and does not want to be kept; it is
            not proposed.

    Returns:
        The request.
    """
    matter = " / ".join(texts) or request.text
    return ReconciledFact(
        replace(request, target="", text=f"Asks to forget: {matter}", subject=""),
        PendingPromotion(subject="", removes=True),
    )


def named_subject(subject: str, scope: MemoryScope) -> str:
    """Return a subject with the user that it is about.

    Args:
        subject: The subject, such as "user: home".
        scope: The scope of the user.

    Returns:
        "ann: home"; a subject that is not of a user as it is.
    """
    if not subject.startswith(_OWN_SUBJECT):
        return subject
    return f"{scope.user_id or 'user'}: {subject.removeprefix(_OWN_SUBJECT)}"


async def _candidates(
    parts: Parts, scope: MemoryScope, fact: ExtractedFact, limits: ExtractionLimits
) -> list[Memory]:
    """Return current memories of the subject of a fact, and those with most of its words."""
    store = parts.tiers.long_term
    agents = agents_shown_to(scope.user_id, scope.agent_id)
    select = current_in(parts, scope, agents=agents)
    memories: list[Memory] = []
    if fact.subject:
        memories += (await store.find(select.also(subjects=spellings(fact.subject)))).items
    words = list(dict.fromkeys(core_words(fact.text)))[:_WORDS]
    if words:
        hits = await store.by_words(words, select, limit=limits.compared)
        memories += [hit.memory for hit in hits]
    current = {memory.id: memory for memory in memories if memory.valid_to is None}
    return [*current.values()]


def _decide(
    fact: ExtractedFact, memories: Sequence[Memory], scope: MemoryScope, *, is_personal: bool
) -> ReconciledFact:
    own = own_agent(scope) if is_personal else None
    if fact.action == "delete":
        own_or_shared = [
            memory for memory in memories if not (is_personal and _is_said_by_others(memory, scope))
        ]
        meant = [
            memory for memory in own_or_shared if is_meant(fact, memory.content, memory.subject)
        ]
        return _removal(fact, meant) if meant else ReconciledFact(replace(fact, action="nothing"))
    conflict: Memory | None = None
    for memory in memories:
        by_other = _is_said_by_others(memory, scope)
        if is_personal and by_other:
            continue
        relation = compare(fact.text, memory.content, by_other=by_other)
        if _is_same(fact.text, memory.content, relation):
            return ReconciledFact(replace(fact, action="nothing", target=memory.id))
        if (
            conflict is None
            and _may_be_replaced(memory, scope, own)
            and _is_in_conflict(fact, memory, relation, by_other=by_other)
        ):
            conflict = memory
    subject = fact.subject or (conflict.subject if conflict and conflict.subject else "")
    if conflict is None:
        # A correction of something that memory does not have is a new fact.
        waits = PendingPromotion(subject=subject, agent_id=own) if subject or own else None
        return ReconciledFact(replace(fact, action="add"), waits)
    action = "supersede" if _CHANGED.search(f"{fact.text} {fact.evidence}") else "update"
    return ReconciledFact(
        replace(fact, action=action, target=conflict.id, subject=subject),  # type: ignore[arg-type]
        PendingPromotion(
            subject=subject,
            against=(conflict.id,),
            agent_id=own,
            replaces=(conflict.document_id,),
        ),
    )


def _is_in_conflict(
    fact: ExtractedFact, memory: Memory, relation: Relation, *, by_other: bool
) -> bool:
    """Return whether only one of a fact and a memory holds: by what both are about, or in words."""
    if fact.subject and (memory.subject or "") in spellings(fact.subject):
        return True
    choice = preference_subject(fact.text) if fact.kind in CHOICES else ""
    other = preference_subject(memory.content) if choice else ""
    if choice and other:
        # "Short answers" and "formal answers" look like a contradiction, and both may hold.
        return choice == other
    return relation is Relation.CONFLICT or bool(
        contradiction_between(fact.text, memory.content, by_other=by_other)
    )


def _is_personal(fact: ExtractedFact, sentence: str) -> bool:
    """Return whether a fact is about the user who states it, or how that user wants to be treated.

    "I prefer short answers" means another thing when another user is shown it. What a sentence says
    beside family or a home is personal too: "My wife is a nurse, and we are moving to Bonn". A
    reviewer may share it all the same.
    """
    if names_household(sentence):
        return True
    if fact.kind in ("preference", "instruction") and not _OF_GROUP.search(fact.text):
        return True
    return _USER_SUBJECT.match(fact.text) is not None or speaks_of_self(fact.text)


def _may_be_replaced(memory: Memory, scope: MemoryScope, own: str | None) -> bool:
    """Return whether a fact may end a memory, by whom each of them is shown.

    What one user alone is shown ends nothing that others share, unless that user has said it.
    """
    agent = memory.scope.agent_id
    if is_personal_agent(agent):
        return agent == own
    return own is None or scope.user_id in _users_of(memory)


def _is_said_by_others(memory: Memory, scope: MemoryScope) -> bool:
    users = _users_of(memory) | ({memory.scope.user_id} if memory.scope.user_id else set())
    return bool(scope.user_id) and bool(users) and scope.user_id not in users


def _users_of(memory: Memory) -> set[str]:
    return {root.name for root in memory.provenance.roots if root.kind == "user"}


def _asks_to_forget(request: str, content: str) -> bool:
    """Return whether a request to forget something is about a text."""
    if compare(request, content) is Relation.SAME:
        return True
    words = _content(request)
    return bool(words) and len(words & _content(content)) >= _SHARED * len(words)


def _is_same(text: str, content: str, relation: Relation) -> bool:
    """Return whether two texts say the same, also if one says "I" and the other "the user"."""
    if relation is Relation.SAME:
        return True
    words = _content(text)
    is_denial = _DENIAL.search(text) is not None
    return (
        bool(words)
        and relation is not Relation.CONFLICT
        and words == _content(content)
        and is_denial == (_DENIAL.search(content) is not None)
    )


def _content(text: str) -> frozenset[str]:
    """Return the words of a text that count, without who says it."""
    return frozenset(core_words(_USER_SUBJECT.sub(" ", text, count=1)))


def _removal(fact: ExtractedFact, meant: Sequence[Memory | Entry]) -> ReconciledFact:
    """Return the removal of what a request is about: of all for "my cats", of one for a fact."""
    targets = meant[:_MOST_REMOVED] if _MATTER.match(fact.text) else meant[:1]
    documents = [target.document_id for target in targets if isinstance(target, Memory)]
    texts = dict.fromkeys(target.content for target in targets)
    return ReconciledFact(
        replace(fact, target=targets[0].id, text=f"Forget: {' / '.join(texts)}"),
        PendingPromotion(
            subject="",
            against=tuple(target.id for target in targets),
            replaces=tuple(dict.fromkeys(documents)),
            removes=True,
        ),
    )


async def _is_proposed_already(parts: Parts, scope: MemoryScope, fact: ExtractedFact) -> bool:
    """Return whether the same fact waits already, or was rejected.

    Who has said something else in between has gone back to it, which is a statement of its own:
    what was said last is current.
    """
    select = Select.within(
        scope, hashes=(hash_of(fact.text),), statuses=(*WAITING, "rejected"), users=(scope.user_id,)
    )
    page = await parts.tiers.quarantine.find(select, limit=_SAME_TEXTS)
    same = [entry for entry in page.items if FACT in entry.metadata]
    if not same or not fact.subject or any(entry.status == "rejected" for entry in same):
        return bool(same)
    last = max(entry.said_at for entry in same)
    select = Select.within(scope, statuses=WAITING, users=(scope.user_id,))
    waiting = await parts.tiers.quarantine.find(select, limit=parts.limits.digest_entries)
    return not any(
        entry.said_at > last and _subject_of(entry) == fact.subject
        for entry in waiting.items
        if FACT in entry.metadata
    )


async def _removal_of_waiting(
    parts: Parts, scope: MemoryScope, fact: ExtractedFact
) -> ReconciledFact:
    """Return the removal of what waits for review, if that is meant; or else the request itself."""
    select = Select.within(scope, statuses=WAITING, users=(scope.user_id,))
    page = await parts.tiers.quarantine.find(select, limit=parts.limits.digest_entries)
    facts = [entry for entry in page.items if FACT in entry.metadata]
    meant = [
        entry
        for entry in facts
        if not (entry.waits is not None and entry.waits.removes)
        and is_meant(fact, entry.content, _subject_of(entry))
    ]
    if meant:
        return _removal(fact, meant)
    if fact.confidence < _CLEAR:
        return ReconciledFact(replace(fact, action="nothing"))
    return await _new_request(parts, scope, fact)


async def _new_request(parts: Parts, scope: MemoryScope, fact: ExtractedFact) -> ReconciledFact:
    """Return a request without a target; "nothing" if the same one waits for review already."""
    request = unmatched_request(fact)
    hashes = (hash_of(request.fact.text),)
    select = Select.within(scope, hashes=hashes, statuses=WAITING, users=(scope.user_id,))
    page = await parts.tiers.quarantine.find(select, limit=_SAME_TEXTS)
    if any(FACT in entry.metadata for entry in page.items):
        return ReconciledFact(replace(fact, action="nothing"))
    return request


def _subject_of(entry: Entry) -> str:
    details = entry.metadata[FACT]
    return str(details.get("subject", "")) if isinstance(details, Mapping) else ""

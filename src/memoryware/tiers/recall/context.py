"""The context builder: a prompt of five layers within a token budget."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from logging import INFO, WARNING
from typing import Any, Final, Literal

from memoryware._runner import run_blocking
from memoryware.errors import SettingError
from memoryware.events import logger
from memoryware.guard import fence_pattern, neutralise
from memoryware.scope import MemoryScope, is_personal_agent
from memoryware.tiers import checking
from memoryware.tiers._parts import Parts, scope_of
from memoryware.tiers.provenance import Trust
from memoryware.tiers.recall.query import RecallTier, RetrieveOptions
from memoryware.tiers.recall.search import retrieve
from memoryware.tiers.rendering import (
    BRIEF_NOTE,
    FENCE,
    NOTE,
    TERSE_NOTE,
    Labels,
    cut,
    disputes,
    fenced,
    item_line,
)
from memoryware.tiers.values import ContextItem, Recall

LayerOfPrompt = Literal[
    "group_prompt", "persona", "group_memory", "agent_memory", "proposal", "attachments"
]
"""A part of the context."""
ORDER: Final[tuple[LayerOfPrompt, ...]] = (
    "group_prompt",
    "persona",
    "group_memory",
    "agent_memory",
    "proposal",
    "attachments",
)
"""The order of the parts."""
DROPPED: Final[tuple[LayerOfPrompt, ...]] = ("agent_memory", "group_memory", "attachments")
"""The order in which a budget takes parts away, once no recalled text is left that hardly fits."""
_RELEVANT: Final = 0.25
"""Share of the best score below which a recalled text hardly fits the query."""
_SHOWN_AS_NONE: Final = 0.005
"""A score below which a label says 0.00."""
_LEAST_ITEM: Final = 40
"""Characters to which the best recalled text may be cut; a shorter rest would say nothing."""
_LEAST_TERSE: Final = 12
"""Characters to which it may be cut below the shortest label."""
_LEAST_PROPOSAL: Final = 200
"""Characters of the proposal that stay whatever the budget."""
_MEMORY: Final[tuple[LayerOfPrompt, ...]] = ("group_memory", "agent_memory")
_FENCES: Final = fence_pattern((FENCE,))


@dataclass(frozen=True, slots=True)
class Headings:
    """The heading of each part; "" for none."""

    group_prompt: str = ""
    persona: str = ""
    group_memory: str = "What the group knows"
    agent_memory: str = "What you have learned yourself"
    proposal: str = ""
    attachments: str = "Attachments"


@dataclass(frozen=True, slots=True)
class ContextSection:
    """One part of the context as it is shown.

    Attributes:
        name: Which.
        text: Its text, without the heading.
        items: Of memory: the recalled items.
    """

    name: LayerOfPrompt
    text: str
    items: tuple[ContextItem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltContext:
    """A context as a builder returns it.

    Attributes:
        text: All layers in order, with a rule between them.
        tokens: Of `text`, by the builder's counter.
        sections: The layers that are there.
        system: Layers 1 and 2, for the system message.
        recalled: Layers 3 and 4 as a fenced block, to be put before the newest message.
        dropped: The layers that the budget has cut, once for each item of memory.
        notes: What a person should know of the recall, and what the budget left out, in
            sentences.
    """

    text: str
    tokens: int
    sections: tuple[ContextSection, ...]
    system: str
    recalled: str
    dropped: tuple[LayerOfPrompt, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _ContextDraft:
    """The parts of a context before they are put together.

    Attributes:
        recall: Everything that was recalled, best first.
        proposal: The text of the request.
        attachments: Texts behind it.
        shown_ids: Ids of the recalled texts that are shown.
        is_brief: Whether the note and the labels of recalled texts are short.
        is_terse: Whether they are as short as can be, and memory has no heading.
        chars: Characters of one recalled text; None for the limit of the memory.
    """

    recall: Recall
    proposal: str
    attachments: tuple[str, ...]
    shown_ids: frozenset[str]
    is_brief: bool = False
    is_terse: bool = False
    chars: int | None = None

    def items(self, name: LayerOfPrompt) -> list[ContextItem]:
        """Return the recalled texts that a layer of memory shows."""
        return [item for item in self.recall if _layer(item) == name and item.id in self.shown_ids]

    def numbered(self, name: LayerOfPrompt) -> list[tuple[int, ContextItem]]:
        """Return the items of a layer of memory with numbers that go on from one to the other."""
        before = len(self.items("group_memory")) if name == "agent_memory" else 0
        return list(enumerate(self.items(name), before + 1))

    def with_items(self, items: Iterable[ContextItem], **changes: Any) -> _ContextDraft:
        """Return the draft with these of its recalled texts, and other changes."""
        return replace(self, shown_ids=frozenset(item.id for item in items), **changes)


def _layer(item: ContextItem) -> LayerOfPrompt:
    agent = item.scope.agent_id
    is_own = item.source == "long_term" and agent is not None and not is_personal_agent(agent)
    return "agent_memory" if is_own else "group_memory"


class ContextBuilder:
    """Builds a prompt of five layers: group prompt, persona, group memory, agent memory, proposal.

    The order of the layers and the order in which they give way to a budget are two things:
    first recalled texts go that hardly fit the query, then the experience of the agent, then
    the memory of the group, the least relevant and least trusted first, then attachments. Before
    a text that fits goes, its label and the note above get shorter. Group prompt and persona
    stay. The proposal is cut last and never left out.

    Args:
        memory: A `TieredMemory`.
        group_prompt: Layer 1: what holds for everybody in the group.
        persona: Layer 2: who the agent is.
        max_tokens: The budget; None for none.
        count_tokens: A text's token count; by default half of its characters, rounded up.
            langchain's `count_tokens_approximately` serves as well.
        headings: The heading of each layer.
        labels: The words with which recalled texts are labelled.
        separator: The text between two layers.
        tiers: The tiers that are recalled for layer 3: ("long_term",) leaves working memory out.
        score_threshold: The least cosine of what is recalled; None for any.
        min_trust: The least trust of what is recalled; None for any.
        min_relevance: The least score, as the labels show it, of what is recalled from either
            tier. By default texts of long-term memory are left out whose label would say 0.00,
            and recent entries of working memory may be shown for their age alone. A number such
            as 0.05 holds for both; one below all scores, such as -100, leaves nothing out. A
            reranker has a scale of its own, so that with one the default leaves nothing out.

    Raises:
        SettingError: For an invalid option: a budget below 1, a counter that is not a function, an
            unknown tier, a value that is not a text.
    """

    def __init__(
        self,
        memory: Any,
        *,
        group_prompt: str = "",
        persona: str = "",
        max_tokens: int | None = None,
        count_tokens: Callable[..., int] | None = None,
        headings: Headings | None = None,
        labels: Labels | None = None,
        separator: str = "\n\n---\n\n",
        tiers: Sequence[RecallTier] = ("working", "long_term"),
        score_threshold: float | None = None,
        min_trust: Trust | None = None,
        min_relevance: float | None = None,
    ) -> None:
        parts = memory if isinstance(memory, Parts) else getattr(memory, "parts", None)
        if not isinstance(parts, Parts):
            raise SettingError(f"memory: must be a TieredMemory, not {type(memory).__name__}")
        self._parts = parts
        self._prompts = {"group_prompt": group_prompt, "persona": persona}
        for name, text in {**self._prompts, "separator": separator}.items():
            checking.text(name, text)
        self._max_tokens = (
            None if max_tokens is None else checking.whole("max_tokens", max_tokens, 1)
        )
        self._count = _counter(count_tokens)
        self._headings = _headings(headings)
        self._labels = _labels(labels)
        self._separator = separator
        self._min_relevance = (
            None
            if min_relevance is None
            else checking.number("min_relevance", min_relevance, -math.inf)
        )
        self._options = RetrieveOptions(
            tiers=tiers, score_threshold=score_threshold, min_trust=min_trust
        )

    def build(
        self,
        query: str,
        scope: MemoryScope | str,
        *,
        attachments: Sequence[str] = (),
        proposal: str | None = None,
    ) -> BuiltContext:
        """Return the context for a request.

        Args:
            query: The query to memory; also layer 5, unless `proposal` is passed.
            scope: Tenant, group, user and agent; the experience of the agent is layer 4.
            attachments: Texts after the proposal.
            proposal: The text of layer 5.

        Returns:
            The layers as one text and apart, with notes on what the budget has cut.

        Raises:
            StoreClosed: If the memory was closed.
            StoreUnavailable: If memory fails and has `on_error="raise"`.
            SettingError: For a `query` or `proposal` that is not text, or `attachments` that are
                not a list of texts.
        """
        request = query, scope_of(scope), proposal, attachments
        return run_blocking(self._build(self._parts, *request))

    async def abuild(
        self,
        query: str,
        scope: MemoryScope | str,
        *,
        attachments: Sequence[str] = (),
        proposal: str | None = None,
    ) -> BuiltContext:
        """Return the context for a request.

        Args:
            query: The query to memory; also layer 5, unless `proposal` is passed.
            scope: Tenant, group, user and agent; the experience of the agent is layer 4.
            attachments: Texts after the proposal.
            proposal: The text of layer 5.

        Returns:
            The layers as one text and apart, with notes on what the budget has cut.

        Raises:
            StoreClosed: If the memory was closed.
            StoreUnavailable: If memory fails and has `on_error="raise"`.
            SettingError: For a `query` or `proposal` that is not text, or `attachments` that are
                not a list of texts.
        """
        request = query, scope_of(scope), proposal, attachments
        return await self._build(self._parts.native, *request)

    async def _build(
        self,
        parts: Parts,
        query: str,
        scope: MemoryScope,
        proposal: str | None,
        attachments: Sequence[str],
    ) -> BuiltContext:
        checking.text("proposal", proposal, or_none=True)
        texts = checking.texts("attachments", attachments)
        recall = self._relevant(await retrieve(parts, query, scope, options=self._options))
        draft = _ContextDraft(
            recall=recall,
            proposal=query if proposal is None else proposal,
            attachments=tuple(text for text in texts if text.strip()),
            shown_ids=frozenset(item.id for item in recall),
        )
        built = self._put_together(draft)
        if self._max_tokens is None or built.tokens <= self._max_tokens:
            return built
        return self._reported(draft, self._fitted(draft, self._max_tokens), self._max_tokens)

    def _relevant(self, recall: Recall) -> Recall:
        """Leave out recalled texts that have nothing to do with the query.

        The nearest vectors are near to any query, so that a search by meaning always finds as
        many memories as it may, and each costs tokens.
        """
        least = self._min_relevance
        if least is None:
            if self._parts.rescorer is None:
                recall[:] = [
                    item
                    for item in recall
                    if item.source == "working" or item.score >= _SHOWN_AS_NONE
                ]
            return recall
        best = max((item.score for item in recall), default=least)
        recall[:] = [item for item in recall if item.score >= least]
        if best < least:
            note = f"nothing reaches min_relevance={least:g}; the best has {best:.3f}"
            recall.notes = (*recall.notes, note)
        return recall

    # The budget.

    def _fitted(self, draft: _ContextDraft, most: int) -> _ContextDraft:
        """Return the draft cut to a budget; parts that are never dropped may exceed it."""

        def fits(candidate: _ContextDraft) -> bool:
            return self._put_together(candidate).tokens <= most

        bare = draft.with_items((), attachments=())
        if not fits(bare):
            return self._with_less_proposal(bare, most)
        files, count = draft.attachments, len(draft.attachments)
        while count and not fits(replace(bare, attachments=files[:count])):
            count -= 1
        bare = replace(bare, attachments=files[:count])
        ranked, relevant = self._worth(draft.recall)
        plain = _most(lambda n: fits(bare.with_items(ranked[:n])), len(ranked))
        if plain >= relevant:
            return bare.with_items(ranked[:plain])
        brief = replace(bare, is_brief=True)
        short = _most(lambda n: fits(brief.with_items(ranked[:n])), relevant)
        if short > plain:
            return brief.with_items(ranked[:short])
        if plain:
            return bare.with_items(ranked[:plain])
        if not ranked:
            return bare
        terse = replace(brief, is_terse=True)
        tersest = _most(lambda n: fits(terse.with_items(ranked[:n])), relevant)
        if tersest:
            return terse.with_items(ranked[:tersest])
        longest = min(self._parts.limits.item_chars, len(ranked[0].content))
        for form, least in ((brief, _LEAST_ITEM), (terse, _LEAST_TERSE)):
            best = form.with_items(ranked[:1])
            if longest >= least and fits(replace(best, chars=least)):
                chars = _most(_within(best, least, fits), longest)
                return replace(best, chars=chars)
        return bare

    def _worth(self, recall: Recall) -> tuple[list[ContextItem], int]:
        """Return recalled texts in the order in which a budget keeps them.

        Returns:
            All of them, and how many of them are relevant: what scores less than a quarter of
            the best, and what working memory shows by its age alone, is not.
        """
        least = max((item.score for item in recall), default=0.0) * _RELEVANT
        by_time = self._parts.working_ranking == "recency"

        def rank(item: ContextItem) -> int:
            if (by_time and item.source == "working") or item.score < least or item.score <= 0:
                return 2
            return 0 if _layer(item) == "group_memory" else 1

        ranked = sorted(recall, key=rank)  # stable: within a class the order of the recall
        return ranked, sum(rank(item) < 2 for item in ranked)

    def _with_less_proposal(self, bare: _ContextDraft, most: int) -> _ContextDraft:
        """Shorten the proposal to what the prompts leave of a budget.

        Prompts that leave less than half of it are too long for any request. A request that
        is cut to nothing would be no request, so it then stays, up to a fixed length.
        """
        whole = bare.proposal

        def fits(chars: int) -> bool:
            return self._put_together(replace(bare, proposal=cut(whole, chars))).tokens <= most

        room = _most(fits, len(whole))
        if self._count(cut(whole, room)) < most // 2 or not room:
            room = max(room, _LEAST_PROPOSAL)
        return replace(bare, proposal=cut(whole, room))

    def _reported(self, draft: _ContextDraft, fitted: _ContextDraft, most: int) -> BuiltContext:
        """Return the context, and report in `notes` and the log what the budget has cut."""
        ranked = self._worth(draft.recall)[0]
        gone = [item for item in reversed(ranked) if item.id not in fitted.shown_ids]
        files = len(draft.attachments) - len(fitted.attachments)
        is_cut = fitted.proposal != draft.proposal
        dropped: list[LayerOfPrompt] = [_layer(item) for item in gone]
        dropped += ["attachments" for _ in range(files)]
        dropped += ["proposal"] if is_cut else []
        built = self._put_together(fitted)
        parts = []
        if gone:
            unverified = sum(not item.verified for item in gone)
            parts.append(f"{_many(len(gone), 'recalled text')} ({unverified} of them unverified)")
        parts += [_many(files, "attachment")] if files else []
        parts += ["a part of the proposal"] if is_cut else []
        parts += ["a part of a recalled text"] if fitted.chars is not None else []
        notes = [f"max_tokens={most} left out {', '.join(parts)}"] if parts else []
        if built.tokens > most:
            notes.append(
                f"max_tokens={most} is less than the prompts and the proposal take"
                f" ({built.tokens}), and these stay: raise it or shorten the prompts"
            )
        if notes:
            level = WARNING if is_cut or built.tokens > most else INFO
            logger.log(level, "%s", "; ".join(notes))
        return replace(built, dropped=tuple(dropped), notes=(*built.notes, *notes))

    def _put_together(self, draft: _ContextDraft) -> BuiltContext:
        sections = tuple(
            section for name in ORDER if (section := self._section(name, draft)).text.strip()
        )
        text = self._separator.join(self._shown(section, draft) for section in sections)
        prompts = [section for section in sections if section.name in self._prompts]
        return BuiltContext(
            text=text,
            tokens=self._count(text),
            sections=sections,
            system=self._separator.join(self._shown(section, draft) for section in prompts),
            recalled=self._recalled(draft),
            notes=draft.recall.notes,
        )

    def _section(self, name: LayerOfPrompt, draft: _ContextDraft) -> ContextSection:
        if name in _MEMORY:
            return ContextSection(
                name, "\n".join(self._lines(name, draft)), tuple(draft.items(name))
            )
        if name == "proposal":
            return ContextSection(name, neutralise(draft.proposal, _FENCES))
        if name == "attachments":
            return ContextSection(name, neutralise("\n\n".join(draft.attachments), _FENCES))
        return ContextSection(name, self._prompts[name])

    def _lines(self, name: LayerOfPrompt, draft: _ContextDraft) -> list[str]:
        limits, labels = self._parts.limits, self._labels
        if draft.chars is not None:
            limits = replace(limits, item_chars=draft.chars)
        return [
            item_line(
                number,
                item,
                limits=limits,
                labels=labels,
                brief=draft.is_brief,
                terse=draft.is_terse,
            )
            for number, item in draft.numbered(name)
        ]

    def _disputes(self, draft: _ContextDraft) -> list[str]:
        numbered = [pair for name in _MEMORY for pair in draft.numbered(name)]
        return disputes(numbered, draft.recall.contradictions, labels=self._labels)

    def _shown(self, section: ContextSection, draft: _ContextDraft) -> str:
        """Return a section with its heading, and of memory with its fence.

        Both layers of memory have a fence, and the first one has the note, which is true of
        both: each token of it is one that a fact does not have.
        """
        text = section.text
        if section.items:
            lines = text.split("\n")
            is_first = section.name == "group_memory" or not draft.items("group_memory")
            is_last = section.name == "agent_memory" or not draft.items("agent_memory")
            more = self._disputes(draft) if is_last else ()
            text = fenced([*lines, *more], note=_note(draft) if is_first else "")
        return _below(self._heading(section.name, draft), text)

    def _heading(self, name: LayerOfPrompt, draft: _ContextDraft) -> str:
        is_left_out = draft.is_terse and name in _MEMORY
        return "" if is_left_out else getattr(self._headings, name)

    def _recalled(self, draft: _ContextDraft) -> str:
        """Return both layers of memory in one fence."""
        there = [name for name in _MEMORY if draft.items(name)]
        if not there:
            return ""
        blocks = [
            _below(self._heading(name, draft), "\n".join(self._lines(name, draft)))
            for name in there
        ]
        return fenced(["\n\n".join(blocks), *self._disputes(draft)], note=_note(draft))


def _note(draft: _ContextDraft) -> str:
    if draft.is_terse:
        return TERSE_NOTE
    return BRIEF_NOTE if draft.is_brief else NOTE


def _within(
    draft: _ContextDraft, least: int, fits: Callable[[_ContextDraft], bool]
) -> Callable[[int], bool]:
    """Return whether a draft fits with texts of so many characters; the least is known to."""
    return lambda chars: chars <= least or fits(replace(draft, chars=chars))


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _most(fits: Callable[[int], bool], most: int) -> int:
    """Return the largest number up to a limit that fits; 0 if none does."""
    # More items cost more tokens, so a binary search finds the number with few counts.
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def half_of_characters(text: str) -> int:
    """Return half of a text's characters, rounded up: a rough token count in any language.

    Args:
        text: The text.

    Returns:
        The number.
    """
    return math.ceil(len(text) / 2)


def _counter(counter: Callable[..., int] | None) -> Callable[[str], int]:
    """Return a function of a text; langchain's own counter takes a list of messages."""
    if counter is None:
        return half_of_characters
    if not callable(counter):
        raise SettingError(f"count_tokens={counter!r}: must be a function of a text")
    if getattr(counter, "__name__", "") == "count_tokens_approximately":
        return lambda text: counter([text])
    return counter


def _headings(headings: Headings | None) -> Headings:
    checked = Headings() if headings is None else headings
    checking.instance("headings", checked, (Headings,))
    for heading in fields(Headings):
        checking.text(f"headings.{heading.name}", getattr(checked, heading.name))
    return checked


def _labels(labels: Labels | None) -> Labels:
    checked = Labels(score="relevance") if labels is None else labels
    checking.instance("labels", checked, (Labels,))
    for label in fields(Labels):
        if label.name != "trust":
            checking.text(f"labels.{label.name}", getattr(checked, label.name))
    checking.mapping("labels.trust", checked.trust)
    checking.texts("labels.trust", tuple(checked.trust.values()))
    return checked


def _below(heading: str, text: str) -> str:
    return f"## {heading}\n\n{text}" if heading else text

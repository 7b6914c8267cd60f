"""The context builder: five layers in order, within a budget."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal

from memoryware._twins import Via, blocking, finish, native
from memoryware.errors import SettingError
from memoryware.guard import fence_pattern, neutralise
from memoryware.scope import MemoryScope
from memoryware.tiers import checking
from memoryware.tiers._parts import Parts, scope_of
from memoryware.tiers.retrieval import Source, Wanted, retrieve
from memoryware.tiers.showing import FENCE, Labels, cut, disputes, fenced, item_line
from memoryware.tiers.values import ContextItem, Contradiction, Recall

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
"""The order in which the parts stand."""
DROPPED: Final[tuple[LayerOfPrompt, ...]] = ("agent_memory", "group_memory", "attachments")
"""The order in which a budget takes parts away."""
_MEMORY: Final[tuple[LayerOfPrompt, ...]] = ("group_memory", "agent_memory")
_FENCES: Final = fence_pattern((FENCE,))


@dataclass(frozen=True, slots=True)
class Headings:
    """What stands above each part; "" for none."""

    group_prompt: str = ""
    persona: str = ""
    group_memory: str = "What the group knows"
    agent_memory: str = "What you have learned yourself"
    proposal: str = ""
    attachments: str = "Attachments"


@dataclass(frozen=True, slots=True)
class Section:
    """One part of the context as it is shown.

    Attributes:
        name: Which.
        text: Its text, without the heading.
        items: Of memory: what was recalled.
    """

    name: LayerOfPrompt
    text: str
    items: tuple[ContextItem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltContext:
    """What a builder made.

    Attributes:
        text: All layers in order, with a rule between them.
        tokens: Of `text`, by the builder's counter.
        sections: The layers that are there.
        system: Layers 1 and 2, for the system message.
        recalled: Layers 3 and 4 as a fenced block, to stand before the newest message.
        dropped: What the budget left out, by name; of memory as often as items went.
        notes: What a person should know of the recall, in sentences.
    """

    text: str
    tokens: int
    sections: tuple[Section, ...]
    system: str
    recalled: str
    dropped: tuple[LayerOfPrompt, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class _Draft:
    """The parts of a context before they are put together."""

    proposal: str
    attachments: list[str]
    items: dict[LayerOfPrompt, list[ContextItem]]
    contradictions: Sequence[Contradiction] = ()
    notes: tuple[str, ...] = ()
    dropped: list[LayerOfPrompt] = field(default_factory=list)

    @classmethod
    def of(cls, found: Recall, proposal: str, attachments: Sequence[str]) -> _Draft:
        """Return a draft with everything that was found."""
        own = [one for one in found if one.source == "cold" and one.scope.agent_id is not None]
        return cls(
            proposal=proposal,
            attachments=[one for one in attachments if one.strip()],
            items={
                "group_memory": [one for one in found if one not in own],
                "agent_memory": own,
            },
            contradictions=found.contradictions,
            notes=found.notes,
        )

    def let_go(self) -> bool:
        """Drop the next thing that a budget may take; say whether there was one."""
        for name in DROPPED:
            if self.items.get(name):
                worst = min(reversed(self.items[name]), key=lambda one: one.score)
                self.items[name] = [one for one in self.items[name] if one is not worst]
            elif name == "attachments" and self.attachments:
                self.attachments.pop()
            else:
                continue
            self.dropped.append(name)
            return True
        return False

    def numbered(self, name: LayerOfPrompt) -> list[tuple[int, ContextItem]]:
        """Return the items of a layer of memory with numbers that go on from one to the other."""
        before = len(self.items["group_memory"]) if name == "agent_memory" else 0
        return list(enumerate(self.items.get(name, ()), before + 1))


class ContextBuilder:
    """Builds a prompt of five layers: group prompt, persona, group memory, agent memory, proposal.

    The order of the layers and the order in which they give way to a budget are two things:
    first the experience of the agent goes, then the memory of the group, the lowest score
    first, then attachments. Group prompt and persona stay; the proposal is cut last.

    Args:
        memory: A `TieredMemory`.
        group_prompt: Layer 1: what holds for everybody in the group.
        persona: Layer 2: who the agent is.
        max_tokens: The budget; None for none.
        count_tokens: A text's token count; by default half of its characters, rounded up.
            langchain's `count_tokens_approximately` serves as well.
        headings: What stands above each layer.
        labels: The words with which recalled texts are labelled.
        separator: What stands between two layers.
        layers: What is recalled for layer 3: ("cold",) leaves working memory out.
        score_threshold: The least cosine of what is recalled; None for any.

    Raises:
        SettingError: For an option that cannot be: a budget below 1, a counter that is no
            function, a layer that is none, a text that is no text.
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
        layers: Sequence[Source] = ("hot", "cold"),
        score_threshold: float | None = None,
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
        self._wanted = Wanted(layers=layers, score_threshold=score_threshold)

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
            query: What memory is asked; also layer 5, unless `proposal` is.
            scope: Who asks; the experience of its agent is layer 4.
            attachments: Texts after the proposal.
            proposal: The text of layer 5.

        Raises:
            StoreUnavailable: If memory fails and has `on_error="raise"`.
            SettingError: For a text that is none, or attachments that are no list.
        """
        given = query, scope_of(scope), proposal, attachments
        return finish(self._build(blocking, *given))

    async def abuild(
        self,
        query: str,
        scope: MemoryScope | str,
        *,
        attachments: Sequence[str] = (),
        proposal: str | None = None,
    ) -> BuiltContext:
        """Async twin of `build`."""
        given = query, scope_of(scope), proposal, attachments
        return await self._build(native, *given)

    async def _build(
        self,
        via: Via,
        query: str,
        scope: MemoryScope,
        proposal: str | None,
        attachments: Sequence[str],
    ) -> BuiltContext:
        checking.text("proposal", proposal, or_none=True)
        texts = checking.texts("attachments", attachments)
        found = await retrieve(self._parts, via, query, scope, wanted=self._wanted)
        return self._fitted(_Draft.of(found, query if proposal is None else proposal, texts))

    # The budget.

    def _fitted(self, draft: _Draft) -> BuiltContext:
        """Let go what has to, in its order, until the rest is within the budget."""
        built = self._put_together(draft)
        while self._max_tokens is not None and built.tokens > self._max_tokens:
            if not draft.let_go():
                return self._with_less_proposal(draft, self._max_tokens)
            built = self._put_together(draft)
        return built

    def _with_less_proposal(self, draft: _Draft, most: int) -> BuiltContext:
        """Shorten the proposal to what is left; the prompts stay, whatever the budget."""
        whole, low, high = draft.proposal, 0, len(draft.proposal)
        while low < high:
            middle = (low + high + 1) // 2
            draft.proposal = cut(whole, middle)
            if self._put_together(draft).tokens <= most:
                low = middle
            else:
                high = middle - 1
        draft.proposal = cut(whole, low)
        draft.dropped += ["proposal"] if draft.proposal != whole else []
        return self._put_together(draft)

    def _put_together(self, draft: _Draft) -> BuiltContext:
        sections = tuple(one for name in ORDER if (one := self._section(name, draft)).text.strip())
        text = self._separator.join(self._shown(one, draft) for one in sections)
        prompts = [one for one in sections if one.name in self._prompts]
        return BuiltContext(
            text=text,
            tokens=self._count(text),
            sections=sections,
            system=self._separator.join(self._shown(one, draft) for one in prompts),
            recalled=self._recalled(draft),
            dropped=tuple(draft.dropped),
            notes=draft.notes,
        )

    def _section(self, name: LayerOfPrompt, draft: _Draft) -> Section:
        if name in _MEMORY:
            return Section(name, "\n".join(self._lines(name, draft)), tuple(draft.items[name]))
        if name == "proposal":
            return Section(name, neutralise(draft.proposal, _FENCES))
        if name == "attachments":
            return Section(name, neutralise("\n\n".join(draft.attachments), _FENCES))
        return Section(name, self._prompts[name])

    def _lines(self, name: LayerOfPrompt, draft: _Draft) -> list[str]:
        limits, labels = self._parts.limits, self._labels
        return [
            item_line(number, one, limits=limits, labels=labels)
            for number, one in draft.numbered(name)
        ]

    def _disputes(self, draft: _Draft) -> list[str]:
        numbered = [one for name in _MEMORY for one in draft.numbered(name)]
        return disputes(numbered, draft.contradictions, labels=self._labels)

    def _shown(self, section: Section, draft: _Draft) -> str:
        """Return a section as it stands in the whole text."""
        text = section.text
        if section.items:
            lines = text.split("\n")
            last = section.name == "agent_memory" or not draft.items["agent_memory"]
            text = fenced([*lines, *(self._disputes(draft) if last else ())])
        return _below(getattr(self._headings, section.name), text)

    def _recalled(self, draft: _Draft) -> str:
        """Return both layers of memory in one fence."""
        there = [name for name in _MEMORY if draft.items[name]]
        if not there:
            return ""
        blocks = [
            _below(getattr(self._headings, name), "\n".join(self._lines(name, draft)))
            for name in there
        ]
        return fenced(["\n\n".join(blocks), *self._disputes(draft)])


def half_of_characters(text: str) -> int:
    """Return half of a text's characters, rounded up: a rough count of tokens in any language."""
    return math.ceil(len(text) / 2)


def _counter(given: Callable[..., int] | None) -> Callable[[str], int]:
    """Return a function of a text; langchain's own counter takes a list of messages."""
    if given is None:
        return half_of_characters
    if not callable(given):
        raise SettingError(f"count_tokens={given!r}: must be a function of a text")
    if getattr(given, "__name__", "") == "count_tokens_approximately":
        return lambda text: given([text])
    return given


def _headings(given: Headings | None) -> Headings:
    found = Headings() if given is None else given
    checking.instance("headings", found, (Headings,))
    for one in fields(Headings):
        checking.text(f"headings.{one.name}", getattr(found, one.name))
    return found


def _labels(given: Labels | None) -> Labels:
    found = Labels(score="relevance") if given is None else given
    checking.instance("labels", found, (Labels,))
    for one in fields(Labels):
        if one.name != "trust":
            checking.text(f"labels.{one.name}", getattr(found, one.name))
    checking.mapping("labels.trust", found.trust)
    checking.texts("labels.trust", tuple(found.trust.values()))
    return found


def _below(heading: str, text: str) -> str:
    return f"## {heading}\n\n{text}" if heading else text

"""The context builder: five layers in order, within a budget."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from memoryware._twins import Via, blocking, finish, native
from memoryware.errors import EmbeddingFailed, SettingError
from memoryware.events import logger
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts, scope_of
from memoryware.tiers.retrieval import Wanted, retrieve
from memoryware.tiers.showing import cut, item_line, recalled_block
from memoryware.tiers.stores.protocol import Vector
from memoryware.tiers.values import ContextItem

LayerOfPrompt = Literal[
    "group_prompt", "persona", "group_memory", "agent_memory", "proposal", "attachments"
]
"""A part of the context."""


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
    """

    text: str
    tokens: int
    sections: tuple[Section, ...]
    system: str
    recalled: str
    dropped: tuple[LayerOfPrompt, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """The parts of a context before they are put together."""

    texts: dict[LayerOfPrompt, str]
    items: dict[LayerOfPrompt, list[ContextItem]]
    attachments: list[str] = field(default_factory=list)
    dropped: list[LayerOfPrompt] = field(default_factory=list)


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
        headings: What stands above each layer.
        separator: What stands between two layers.

    Raises:
        SettingError: For a budget below 1.
    """

    def __init__(
        self,
        memory: Any,
        *,
        group_prompt: str = "",
        persona: str = "",
        max_tokens: int | None = None,
        count_tokens: Callable[[str], int] | None = None,
        headings: Headings | None = None,
        separator: str = "\n\n---\n\n",
    ) -> None:
        if max_tokens is not None and max_tokens < 1:
            raise SettingError(f"max_tokens={max_tokens!r}: must be at least 1, or None")
        self._parts: Parts = memory if isinstance(memory, Parts) else memory.parts
        self._group_prompt, self._persona = group_prompt, persona
        self._max_tokens = max_tokens
        self._count = count_tokens or half_of_characters
        self._headings = headings or Headings()
        self._separator = separator

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
        """
        given = query, scope_of(scope), query if proposal is None else proposal, attachments
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
        given = query, scope_of(scope), query if proposal is None else proposal, attachments
        return await self._build(native, *given)

    async def _build(
        self, via: Via, query: str, scope: MemoryScope, proposal: str, attachments: Sequence[str]
    ) -> BuiltContext:
        vector = await self._vector(via, query)
        wanted = Wanted(query_vector=vector)
        found = await retrieve(self._parts, via, query, scope, wanted=wanted)
        own = [one for one in found if one.source == "cold" and one.scope.agent_id is not None]
        draft = _Draft(
            texts={
                "group_prompt": self._group_prompt,
                "persona": self._persona,
                "proposal": proposal,
            },
            items={
                "group_memory": [one for one in found if one not in own],
                "agent_memory": own,
            },
            attachments=list(attachments),
        )
        return self._fitted(draft)

    async def _vector(self, via: Via, query: str) -> Vector | None:
        """Embed the query once, for both layers of memory."""
        text = query.strip()[: self._parts.limits.query_chars]
        if self._parts.embedder is None or not text:
            return None
        try:
            return await self._parts.embedder.query(via, text)
        except EmbeddingFailed as failed:
            logger.warning("%s; words alone are searched", failed)
            return None

    # The budget.

    def _fitted(self, draft: _Draft) -> BuiltContext:
        """Let go what has to, in its order, until the rest is within the budget."""
        built = self._put_together(draft)
        while self._max_tokens is not None and built.tokens > self._max_tokens:
            if not _let_go(draft):
                return self._cut_proposal(draft)
            built = self._put_together(draft)
        return built

    def _cut_proposal(self, draft: _Draft) -> BuiltContext:
        """Shorten the proposal to what is left; the prompts stay, whatever the budget."""
        whole = draft.texts["proposal"]
        low, high = 0, len(whole)
        while low < high:
            middle = (low + high + 1) // 2
            draft.texts["proposal"] = cut(whole, middle)
            if self._put_together(draft).tokens <= (self._max_tokens or 0):
                low = middle
            else:
                high = middle - 1
        draft.texts["proposal"] = cut(whole, low) if low else ""
        draft.dropped.append("proposal")
        return self._put_together(draft)

    def _put_together(self, draft: _Draft) -> BuiltContext:
        limits = self._parts.limits
        sections = [
            Section("group_prompt", draft.texts["group_prompt"]),
            Section("persona", draft.texts["persona"]),
        ]
        for name in ("group_memory", "agent_memory"):
            items = draft.items[name]
            lines = [item_line(number, one, limits=limits) for number, one in enumerate(items, 1)]
            sections.append(Section(name, "\n".join(lines), tuple(items)))
        sections.append(Section("proposal", draft.texts["proposal"]))
        sections.append(Section("attachments", "\n\n".join(draft.attachments)))
        there = tuple(one for one in sections if one.text)
        text = self._separator.join(map(self._shown, there))
        prompts = [one for one in there if one.name in ("group_prompt", "persona")]
        memory = [item for one in there for item in one.items]
        return BuiltContext(
            text=text,
            tokens=self._count(text),
            sections=there,
            system=self._separator.join(map(self._shown, prompts)),
            recalled=recalled_block(memory, limits=limits),
            dropped=tuple(draft.dropped),
        )

    def _shown(self, section: Section) -> str:
        heading = getattr(self._headings, section.name)
        text = section.text
        if section.items:
            text = recalled_block(section.items, limits=self._parts.limits)
        return f"## {heading}\n\n{text}" if heading else text


def half_of_characters(text: str) -> int:
    """Return half of a text's characters, rounded up: a rough count of tokens in any language."""
    return math.ceil(len(text) / 2)


def _let_go(draft: _Draft) -> bool:
    """Let the next thing go that a budget may take; say whether there was one."""
    for name in ("agent_memory", "group_memory"):
        items = draft.items[name]
        if items:
            items.remove(min(reversed(items), key=lambda one: one.score))
            draft.dropped.append(name)
            return True
    if draft.attachments:
        draft.attachments.pop()
        draft.dropped.append("attachments")
        return True
    return False

"""The finished prompt part for a load and the tools of a request, made once for each pair."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import SystemMessage

from memoryware.events import logger
from memoryware.middleware._block import BlockStyle, CountTokens, MemoryBlock, fill, make_block
from memoryware.middleware._loading import LoadedMemory
from memoryware.middleware._prompt import SystemPlacement, with_system_text
from memoryware.middleware.guidelines import (
    READER,
    TRUST,
    AvailableTools,
    Condition,
    guidelines,
    template,
    writers_among,
)


@dataclass(frozen=True, slots=True)
class Rendered:
    """What goes into the system message, and the block that it was made from."""

    text: str
    block: MemoryBlock


@dataclass(frozen=True, slots=True)
class PromptOptions:
    """The part of the options that decides how the prompt reads.

    Attributes:
        custom: A template of the user's, used verbatim, or None for the default one.
        guidelines: A style, a text of the user's, or None for no guidelines.
        own_tool: Name of the middleware's own writing tool, or "".
        when_empty: "prompt", "skip", or None for what fits the tools.
    """

    custom: str | None
    guidelines: str | None
    own_tool: str
    when_empty: str | None
    placement: SystemPlacement


class Renderer:
    """Makes prompt parts, and keeps each on the `LoadedMemory` object it was made from."""

    def __init__(self, style: BlockStyle, options: PromptOptions) -> None:
        self._style = style
        self._options = options

    @property
    def count_tokens(self) -> CountTokens:
        """What counts tokens."""
        return self._style.count_tokens

    def available_tools(self, names: Collection[str]) -> AvailableTools:
        """Return which of a request's tools the text may name."""
        writers = writers_among(names)
        own = self._options.own_tool
        if not writers and own in names and READER not in names:
            writers = (own,)  # file tools that only read mean that nothing is to be written
        return AvailableTools(writers, READER if READER in names else "")

    def render(
        self, loaded: LoadedMemory, available_tools: AvailableTools, *, guided: bool = False
    ) -> Rendered | None:
        """Return the prompt part, or None where nothing is to be said.

        With `guided` the general guidelines stand in the request already.
        """
        key = (available_tools, guided)
        if key in loaded.rendered:
            found: Rendered | None = loaded.rendered[key]
            return found
        block = self.block(loaded)
        rendered = None
        if loaded.sources and (block.loaded or loaded.problems or self._speaks(available_tools)):
            template_ = self._template(loaded, block, available_tools, guided=guided)
            rendered = Rendered(fill(template_, block.text), block)
        loaded.rendered[key] = rendered
        return rendered

    def block(self, loaded: LoadedMemory) -> MemoryBlock:
        """Return the block of a load; what had to be changed in it is logged once."""
        block: MemoryBlock | None = loaded.rendered.get("block")
        if block is None:
            parts = loaded.sources, loaded.contents, self._style, loaded.problems
            block = make_block(*parts, imports=bool(loaded.imported))
            loaded.rendered["block"] = block
            for note in block.notes:
                logger.warning("memory %s", note)
        return block

    def message(
        self,
        loaded: LoadedMemory,
        available_tools: AvailableTools,
        before: SystemMessage | None,
        *,
        guided: bool = False,
    ) -> SystemMessage | None:
        """Return the system message with the part in it; the same one for the same input.

        Where nothing is to be said it is the given message itself.
        """
        key = ("message", available_tools, guided)
        known: tuple[SystemMessage | None, Any, SystemMessage] | None = loaded.rendered.get(key)
        content = None if before is None else before.content
        if known is not None and known[0] is before and known[1] == content:
            return known[2]
        rendered = self.render(loaded, available_tools, guided=guided)
        if rendered is None:
            return before
        message = with_system_text(before, rendered.text, self._options.placement)
        loaded.rendered[key] = (before, _copied(content), message)
        return message

    def text(self, loaded: LoadedMemory, custom: str | None) -> str:
        """Return the text for contents given by hand."""
        block = make_block(loaded.sources, loaded.contents, self._style)
        available_tools = AvailableTools(("edit_file",))
        return fill(custom or self._template(loaded, block, available_tools), block.text)

    def has_guidelines(self, message: SystemMessage) -> bool:
        """Say whether this renderer has put the general guidelines into a message."""
        own = self._options.custom is None and self._options.guidelines in ("balanced", "immediate")
        return own and TRUST in str(message.text)

    def _template(
        self,
        loaded: LoadedMemory,
        block: MemoryBlock,
        available_tools: AvailableTools,
        *,
        guided: bool = False,
    ) -> str:
        options = self._options
        if options.custom is not None:
            return options.custom
        if options.guidelines is None:
            return template("")
        if options.guidelines not in ("balanced", "immediate"):
            return template(options.guidelines)
        unread = {path for path, _ in loaded.problems}
        files = [(one, _condition(one.path, block, unread)) for one in loaded.sources]
        return template(
            guidelines(available_tools, style=options.guidelines, files=files, general=not guided)
        )

    def _speaks(self, available_tools: AvailableTools) -> bool:
        """Say whether an empty memory is worth a word in the prompt."""
        if self._options.when_empty is not None:
            return self._options.when_empty == "prompt"
        return bool(available_tools.writers or self._options.own_tool)


def _condition(path: str, block: MemoryBlock, unread: Collection[str]) -> Condition:
    if path in block.loaded:
        return "filled"
    return "unread" if path in unread else "empty"


def _copied(content: Any) -> Any:
    """Copy message content so that a later change in place is noticed."""
    if isinstance(content, Sequence) and not isinstance(content, str):
        return [dict(one) if isinstance(one, dict) else one for one in content]
    return content

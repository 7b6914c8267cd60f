"""The memory part of a system prompt: strip, clean, fence and fit texts, then fill the template."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from langchain_core.messages import SystemMessage

from memoryware.events import logger
from memoryware.guard import (
    Fence,
    drop_hidden,
    fence_pattern,
    neutralise,
    printable_name,
    quote_headings,
)
from memoryware.middleware._loading import LoadedMemory
from memoryware.middleware._system_message import SystemPlacement, with_system_text
from memoryware.middleware.guidelines import (
    READER,
    TRUST,
    AvailableTools,
    Condition,
    guidelines,
    template,
    writers_among,
)
from memoryware.sources.markdown import Stripped, strip_comments
from memoryware.sources.source import Source

SLOT: Final = "{agent_memory}"
PLACEHOLDER: Final = "(No memory loaded)"
_TAG: Final = re.compile(r"</\s*(\w[\w.:-]*)\s*>")
_HEADING: Final = re.compile(r"^#{1,6} ", re.MULTILINE)
_CODE_FENCE: Final = re.compile(r"^[ \t]*(`{3,64}|~{3,64})(?![`~])", re.MULTILINE)
# A cut goes back to a heading only if at least this share of the fitting text stays.
_KEPT_AT_HEADING = 0.5

# Characters that end a line as well.
_LINE_ENDS: Final = {0x85: "\n", 0x2028: "\n", 0x2029: "\n"}

CountTokens = Callable[[str], int]
"""Says how many tokens a text takes."""


@dataclass(frozen=True, slots=True)
class BlockStyle:
    """How memory is put before the model; see the arguments of `MemoryMiddleware`."""

    count_tokens: CountTokens
    source_tokens: int
    total_tokens: int
    strip_comments: bool = True
    show_paths: bool = True
    path_separator: str = "\n"
    tags: frozenset[str] = frozenset({"agent_memory", "memory_guidelines"})


@dataclass(frozen=True, slots=True)
class SourceBlock:
    """One source in the block.

    Attributes:
        path: The source.
        shown: The part of its text that is shown.
        whole: Its text, cleaned, before anything was cut.
        announcement: The line in place of what is left out; "" if nothing is.
        cut: Whether a part is left out.
        suspect: What was dropped or looks wrong, a sentence each, without memory text.
    """

    path: str
    shown: str
    whole: str
    announcement: str = ""
    cut: bool = False
    suspect: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The text below the path of the source."""
        return "\n".join(part for part in (self.shown, self.announcement) if part)


@dataclass(frozen=True, slots=True)
class MemoryBlock:
    """The finished text for the slot of the template.

    Attributes:
        text: Sections in the order of the sources, or the placeholder.
        loaded: Sources that have something to show.
        cut: Sources of which not everything is shown.
        tokens: Tokens of `text`, as counted by the style's counter.
        notes: What was left out or changed, one sentence each, without memory text.
        parts: What became of each of `loaded`.
    """

    text: str
    loaded: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()
    tokens: int = 0
    notes: tuple[str, ...] = ()
    parts: tuple[SourceBlock, ...] = ()


def tags_of(template: str) -> frozenset[str]:
    """Return the names of the tags that a template closes after its slot.

    Memory text may not forge them.
    """
    after = template.partition(SLOT)[2]
    return frozenset(_TAG.findall(after)) | {"agent_memory", "memory_guidelines"}


def fill(template: str, text: str) -> str:
    """Put a text into the slot of a template; all other braces stay as they are."""
    return template.replace(SLOT, text)


@dataclass(slots=True)
class _SectionDraft:
    path: str
    name: str
    most: int
    clean: str
    stripped: Stripped
    notes: list[str] = field(default_factory=list)
    shown: str = ""
    announcement: str = ""
    cut: bool = False
    suspect: tuple[str, ...] = ()

    @property
    def part(self) -> SourceBlock:
        """The source as the block reports it."""
        outcome = self.shown, self.clean, self.announcement, self.cut, self.suspect
        return SourceBlock(self.path, *outcome)


def make_block(
    sources: Sequence[Source],
    contents: Mapping[str, str],
    style: BlockStyle,
    problems: Sequence[tuple[str, str]] = (),
    imports: bool = False,
) -> MemoryBlock:
    """Return the block for loaded contents.

    Args:
        sources: What to show, in this order.
        contents: Text by source path; paths that are not sources are not shown.
        style: How to show it.
        problems: Sources that could not be read, each with its error code.
        imports: Whether texts of other files are in them, so that lines have other numbers.
    """
    fence = fence_pattern(style.tags, chat_marks=True)
    shown = [source for source in sources if source.path in contents]
    headings = [printable_name(source.path, fence) for source in shown] if style.show_paths else []
    sections = [
        section
        for source in shown
        if (section := _prepare(source, contents[source.path], style, fence, headings)).clean
    ]
    _fit(_by_urgency(sections), style, imports)
    parts = [_show(section, style) for section in sections]
    unread = [
        f"[not loaded: {printable_name(path, fence)} ({printable_name(' '.join(code.split()))})]"
        for path, code in problems
    ]
    # Once more over the whole: half a tag at the end of one file and half at the beginning of
    # the next would make one.
    text = neutralise("\n\n".join([*parts, *unread]), fence) or PLACEHOLDER
    return MemoryBlock(
        text=text,
        loaded=tuple(section.path for section in sections),
        cut=tuple(section.path for section in sections if section.cut),
        tokens=style.count_tokens(text),
        notes=tuple(note for section in sections for note in section.notes),
        parts=tuple(section.part for section in sections),
    )


def _prepare(
    source: Source, text: str, style: BlockStyle, fence: Fence, headings: Sequence[str]
) -> _SectionDraft:
    path, most = source.path, source.max_tokens or style.source_tokens
    name = printable_name(path, fence)
    lines = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    lines = lines if lines.isascii() else lines.translate(_LINE_ENDS)
    stripped = strip_comments(lines) if style.strip_comments else Stripped(lines)
    visible, dropped = drop_hidden(stripped.text)
    safe = neutralise(visible, fence).rstrip()
    clean = quote_headings(safe, headings, style.path_separator) if style.show_paths else safe
    section = _SectionDraft(path, name, most, clean, stripped)
    if not section.clean.strip():
        section.clean = ""
    if stripped.unclosed:
        section.notes.append(f"{name}: a comment is never closed; its text is shown to the model")
    if dropped:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(dropped.items()))
        section.notes.append(f"{name}: hidden characters were dropped: {kinds}")
    section.suspect = tuple(note.removeprefix(f"{name}: ") for note in section.notes)
    if safe != visible.rstrip() and section.clean:
        section.suspect += ("a tag in it pretends to be the fence of memory; it is made harmless",)
    if clean != safe and section.clean:
        section.suspect += ("a line in it looks like the heading of another file; it is quoted",)
    return section


# The last source is the most specific one, as in the files of coding agents: with too little
# room it is shown and the general ones are cut.
def _by_urgency(sections: list[_SectionDraft]) -> list[_SectionDraft]:
    """Return the sections to show, the last listed first; a text that comes again only once.

    The first of equal texts is shown, as urgently as the last of them.
    """
    first = {section.clean: section for section in reversed(sections)}
    for section in sections:
        same = first[section.clean]
        if same is not section:
            section.announcement = f"[same text as {same.name}]"
    return list(
        {id(section): section for section in (first[s.clean] for s in reversed(sections))}.values()
    )


def _fit(sections: list[_SectionDraft], style: BlockStyle, imports: bool) -> None:
    """Share the total budget out, in the given order."""
    left = style.total_tokens
    for section in sections:
        allowed = min(section.most, left)
        tokens = style.count_tokens(section.clean)
        if tokens <= allowed:
            section.shown = section.clean
            left -= tokens
            continue
        section.shown, goes_on = _cut(section.clean, allowed, style.count_tokens)
        left = max(0, left - style.count_tokens(section.shown)) if section.shown else left
        line = f"at line {section.stripped.original_line(goes_on) + 1}"
        section.announcement = (
            f"[truncated: about {tokens} tokens do not fit into {allowed};"
            f" the text goes on {'in' if imports else line + ' of'} {section.name}]"
            if section.shown
            else f"[omitted: about {tokens} tokens do not fit; the text is in {section.name}]"
        )
        section.cut = True
        section.notes.append(f"{section.name}: cut from about {tokens} to {allowed} tokens")


def _cut(text: str, allowed: int, count: CountTokens) -> tuple[str, int]:
    """Return the longest head of a text that fits, and the line (from 0) at which it was cut.

    The head ends at a heading if one is near, else at a line end, and closes its code.
    """
    low, high = 0, len(text)
    # By bisection: about twenty counts, where a count for each line would be quadratic.
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(text[:middle]) <= allowed else (low, middle - 1)
    end = text.rfind("\n", 0, low + 1) + 1
    headings = [match.start() for match in _HEADING.finditer(text, 0, end)]
    if headings and headings[-1] >= low * _KEPT_AT_HEADING:
        end = headings[-1]
    if end <= 0:
        end = _character_boundary(text, low)
    head = text[:end].rstrip()
    # An open code fence would swallow the announcement, and the files after it.
    marks = _CODE_FENCE.findall(head)
    closed = f"{head}\n{marks[-1]}" if len(marks) % 2 else head
    return closed, text.count("\n", 0, end)


def _character_boundary(text: str, end: int) -> int:
    """Move an end back so that no combining mark or joined emoji is cut off."""
    marks = re.compile(r"[\u0300-\u036f\u200d\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]")
    while 0 < end < len(text) and (marks.match(text[end]) or text[end - 1] == "\u200d"):
        end -= 1
    return end


def _show(section: _SectionDraft, style: BlockStyle) -> str:
    body = section.part.text
    if not style.show_paths:
        return body
    return f"{section.name}{style.path_separator}{body}"


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


class PromptRenderer:
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
        """Return the prompt part, or None if there is nothing to add.

        With `guided` the request has the general guidelines already.
        """
        key = (available_tools, guided)
        if key in loaded.rendered:
            cached: Rendered | None = loaded.rendered[key]
            return cached
        block = self.block(loaded)
        rendered = None
        if loaded.sources and (
            block.loaded or loaded.problems or self._mentions_empty_memory(available_tools)
        ):
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

        If there is nothing to add, it is the message that was passed.
        """
        key = ("message", available_tools, guided)
        cached: tuple[SystemMessage | None, Any, SystemMessage] | None = loaded.rendered.get(key)
        content = None if before is None else before.content
        if cached is not None and cached[0] is before and cached[1] == content:
            return cached[2]
        rendered = self.render(loaded, available_tools, guided=guided)
        if rendered is None:
            return before
        # The same object for the same input, so that the next call recognises it by identity.
        message = with_system_text(before, rendered.text, self._options.placement)
        loaded.rendered[key] = (before, _copied(content), message)
        return message

    def text(self, loaded: LoadedMemory, custom: str | None) -> str:
        """Return the text for contents that a caller has loaded."""
        block = make_block(loaded.sources, loaded.contents, self._style)
        available_tools = AvailableTools(("edit_file",))
        return fill(custom or self._template(loaded, block, available_tools), block.text)

    def has_guidelines(self, message: SystemMessage) -> bool:
        """Return whether this renderer has put the general guidelines into a message."""
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
        files = [(source, _condition(source.path, block, unread)) for source in loaded.sources]
        return template(
            guidelines(available_tools, style=options.guidelines, files=files, general=not guided)
        )

    def _mentions_empty_memory(self, available_tools: AvailableTools) -> bool:
        """Return whether the prompt mentions an empty memory."""
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
        return [dict(block) if isinstance(block, dict) else block for block in content]
    return content

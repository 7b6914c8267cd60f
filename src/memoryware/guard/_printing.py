"""Print names that other people choose into a prompt: paths, origins, headings.

A folder of a cloned repository can be named so that its path closes a tag, begins a line of
its own or hides a part of itself. Such a name stays recognisable and can do none of that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from memoryware.guard._confusables import canonical
from memoryware.guard._fences import Fence, fence_pattern, neutralise
from memoryware.guard._showing import reveal

FENCES: Final = (
    "agent_memory",
    "memory_guidelines",
    "recalled_memory",
    "history_context",
    "system",
)
"""The tags of this library, and that of other people's system prompts."""
_ALL: Final = fence_pattern(FENCES, chat_marks=True)
_BREAK: Final = re.compile("[\t\n\x0b\x0c\r\x1c-\x1e\x85\u2028\u2029]")
_BREAK_INSIDE: Final = re.compile("[\x0b\x0c\r\x1c-\x1e\x85\u2028\u2029]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_SPELLED: Final = re.compile("<(U\\+)([0-9A-F]{4,6})>")
_LONGEST: Final = 400
"""Characters of a name that are printed; paths that people choose are shorter."""
_HEADING: Final = re.compile(
    r"(?:~|\.{1,2})?/[^\n]{1,400}\.(?:md|mdc|mdx|txt|markdown|cursorrules)\s*:?"
)
"""What looks like the path of a memory file, where a line has nothing else in it."""
_ANNOUNCEMENT: Final = re.compile(r"\[(?:truncated|omitted|not loaded|same text as)[: ]")
_MARKS: Final = " \t#>*_`\"'-"
"""What Markdown puts around a heading."""


def printable_name(name: str, fence: Fence = _ALL) -> str:
    r"""Return a path or another name as it may be printed into a prompt, in one line.

    Line ends, control and hidden characters are spelled out (`\u2028`), a `<` and whatever
    forges a tag or a mark of a chat template is an entity, and what is too long is cut in its
    middle. Every other name is returned as it is.

    Args:
        name: The name.
        fence: The tags that must not be forged.
    """
    if _SURROGATE.search(name):
        name = name.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    line = _BREAK.sub(lambda match: _escape(match.group()), name)
    if len(line) > _LONGEST:
        half = _LONGEST // 2
        line = f"{line[:half]} … {line[-half:]}"
    line = _SPELLED.sub(_escape_revealed, reveal(line))
    safe = neutralise(neutralise(line, fence), _ALL)
    return safe.replace("<", "&lt;")


def printable_text(text: str) -> str:
    """Return a message with names in it as it may be printed into a prompt.

    Its own line breaks stay; see `printable_name` for what changes.
    """
    return "\n".join(neutralise(_shown(line), _ALL) for line in text.split("\n"))


def quote_headings(text: str, names: Iterable[str], separator: str = "\n") -> str:
    """Return the text of a memory file in which no line can pass as the heading of a file.

    In a prompt each file stands below its path. A line that is the path of a file, or one of the
    remarks that are put there, is quoted with "> ".

    Args:
        text: The text of one file.
        names: The headings of all files that are shown.
        separator: What stands between a heading and the text below it.
    """
    if "/" not in text and "[" not in text and not any(name in text for name in names):
        return text
    headings = {canonical(name): name for name in names}
    inline = separator.strip()
    lines = text.split("\n")
    return "\n".join(f"> {line}" if _is_heading(line, headings, inline) else line for line in lines)


def _is_heading(line: str, headings: dict[str, str], inline: str) -> bool:
    if len(line) > 2 * _LONGEST:
        return False
    bare = line.strip(_MARKS)
    if not bare or line.lstrip().startswith(">"):
        return False
    if _ANNOUNCEMENT.match(bare):
        return True
    if inline:
        bare = bare.partition(inline)[0].strip(_MARKS)
        return canonical(bare) in headings and "/" in bare
    alone = not line.lstrip().startswith(("- ", "* "))
    return alone and (
        _HEADING.fullmatch(bare) is not None or canonical(bare.rstrip(":")) in headings
    )


def _shown(line: str) -> str:
    spelled = _BREAK_INSIDE.sub(lambda match: _escape(match.group()), line)
    return _SPELLED.sub(_escape_revealed, reveal(spelled))


def _escape(character: str) -> str:
    return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(character, f"\\u{ord(character):04x}")


def _escape_revealed(match: re.Match[str]) -> str:
    code = int(match[2], 16)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"

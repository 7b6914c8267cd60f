"""The few lines that tell a model how to use the file tools; data only."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Final

_LINES: Final = (
    ({"read_file", "edit_file"}, "Read a file before you edit it, and copy the text to replace."),
    (
        {"write_file", "edit_file"},
        "Change a part of a file with `edit_file`; `write_file` replaces everything in it.",
    ),
    ({"append_file"}, "Add a line at the end of a file with `append_file`, without reading it."),
    ({"glob", "grep"}, "Look for files with `glob` (names) or `grep` (text) before you guess."),
)


def guidance_for(tools: Iterable[str]) -> str:
    """Return the guidance for these tools, the same text for the same tools; "" for none."""
    return _guidance(frozenset(tools))


@cache
def _guidance(tools: frozenset[str]) -> str:
    if not tools:
        return ""
    names = ", ".join(f"`{name}`" for name in sorted(tools))
    fitting = [f"- {line}" for needed, line in _LINES if needed <= tools]
    return "\n".join(
        [
            "## Files",
            f"You have these tools for stored files: {names}. Paths start at the root `/`.",
            *fitting,
            "- A result that begins with `Error:` says what was wrong; mend that and try again.",
        ]
    )

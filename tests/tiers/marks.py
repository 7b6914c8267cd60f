"""The marks of recalled texts: tags, labels and notes, found and taken off."""

from __future__ import annotations

import re

from memoryware.tiers.rendering import BRIEF_NOTE, FENCE, NOTE, TERSE_NOTE

TAG = re.compile(rf"(?:<|&lt;)\s*+/?+\s*+{FENCE}\b[^<>&\n]*(?:>|&gt;|$)", re.IGNORECASE)
LABEL = re.compile(
    r"(?:(?<!\S)\d{1,4}\.[ \t]*)?\[(\w{1,8})(?:(?:; [^\[\];\n]*){2,5}; \d{4}-\d\d-\d\d"
    r"(?:; [^\[\];\n]*)?|(?<=\[[0-9a-f]{8}); [^\[\];\n]{1,60})\][ \t]?"
)


def marks_in(text: str) -> tuple[str, ...]:
    """Return the short ids of the labels in a text, each once."""
    return tuple(dict.fromkeys(match[1] for match in LABEL.finditer(text)))


def without_marks(text: str) -> str:
    """Remove the tags, labels and notes; the recalled texts themselves stay."""
    bare = LABEL.sub("", TAG.sub("", text)).replace(NOTE, "")
    for note in (BRIEF_NOTE, TERSE_NOTE):
        bare = bare.replace(f"\n{note}\n", "\n")
    return bare if bare == text else re.sub(r"\n{3,}", "\n\n", bare).strip()

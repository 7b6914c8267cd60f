"""Messages of the library in words of commands: a person on a terminal calls no method."""

from __future__ import annotations

import re
from typing import Final

# From what a message of the library says to what a person types; the first matches come first.
_SENTENCES: Final = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (
            r"no entry or memory (.*); an origin is Origin\(kind, name\)",
            r"no entry or memory \1; if this is an origin, name it with --origin \1",
        ),
        (
            r"entry (\S+) was rejected by (.*?); propose\(\) it again first",
            r"entry \1 was rejected by \2; to propose it again: memoryware propose \1",
        ),
        (
            r"with propose\(\), and somebody else promote the entry that propose\(\) returned",
            "with memoryware propose, and somebody else promote the entry whose id this prints",
        ),
        (
            r"so it cannot be rejected; revoke\(\) takes back what was promoted",
            "so it cannot be rejected; memoryware revoke hides what was promoted",
        ),
        (r"no record that was revoked as ('[^']*')", r"no revocation with the id \1"),
        (
            r"Use the model of the store, or open with .*call reindex\(\)",
            "Use the model of the store with --embeddings, or run memoryware reindex",
        ),
        (r"\bby='", "--by '"),
        (
            r"^after=(.*): is not a (?:mark|cursor) of .*",
            r"--after \1: no page begins here; use what the page before printed",
        ),
        (r"raise TierLimits\((\w+)=\.\.\.\)", r"raise the limit in Python, TierLimits(\1=...),"),
        (r"raise the limit: TierLimits", "raise the limit in Python: TierLimits"),
        (r"call reindex\(\)", "run memoryware reindex"),
    )
)
_COMMANDS: Final = {
    "retrieve": "search",
    **{
        name: name
        for name in (
            *("backup", "digest", "export", "forget", "list", "promote", "propose"),
            *("reindex", "reject", "restore", "revoke", "supersede"),
        )
    },
}
_CALL: Final = re.compile(rf"(?<![\w.'\"])({'|'.join(_COMMANDS)})\(\)")
"""A call, but not within a quoted text of a person."""


def describe_error(error: BaseException) -> str:
    """Return the message of an error in words of commands.

    Args:
        error: An error of the library.

    Returns:
        Its message, with commands and options in place of methods and arguments.
    """
    message = str(error)
    for pattern, replacement in _SENTENCES:
        message = pattern.sub(replacement, message)
    return _CALL.sub(lambda call: f"memoryware {_COMMANDS[call[1]]}", message)

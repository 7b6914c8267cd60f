"""Errors of the command: their exit codes, and messages of the library in words of commands."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from memoryware.cli._exit_codes import FAILED, REFUSED, UNREADABLE, USAGE
from memoryware.errors import (
    BundleRefused,
    ConfigError,
    DatasetRefused,
    EntryMissing,
    EntryRefused,
    ImportRefused,
    MemorywareError,
    PromotionRefused,
    ScopeMissing,
    SettingError,
    VersionMissing,
)

SCHEMA: Final = 1
"""The version of every JSON document that commands print; it rises when a field changes or goes."""

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
        (
            r"was revoked as (\S+); nothing was reopened: restore\(receipt\)",
            r"was revoked as \1; nothing was reopened: memoryware restore \1",
        ),
        (r"restore\(receipt\)", "memoryware restore RECEIPT"),
        (
            r"no record that was revoked as ('[^']*')",
            r"no revocation with the id \1, or it was restored already",
        ),
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


@dataclass(frozen=True, slots=True)
class CommandError:
    """An error as a command reports it on standard error.

    Attributes:
        exit_code: The exit code of the command.
        code: The kind of error, for programs: "usage", "entry_missing", "store_unavailable", ...
        text: What was wrong, and what to do.
        details: Further fields of the JSON object.
    """

    exit_code: int
    code: str
    text: str
    details: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> str:
        """Return the error as one line of JSON."""
        message, *hint = _HINT.split(self.text, maxsplit=1)
        error = {"code": self.code, "exit_code": self.exit_code, "message": message}
        return json.dumps(
            {"schema": SCHEMA, "error": error | {"hint": "".join(hint)} | dict(self.details)}
        )


class AmbiguousId(SettingError):
    """Several ids begin with what was typed.

    Args:
        message: What to print.
        candidates: The first of these ids.
    """

    def __init__(self, message: str, candidates: tuple[str, ...]) -> None:
        super().__init__(message)
        self.candidates = candidates


_EXIT_CODES: Final = (
    (UNREADABLE, (BundleRefused, ConfigError, DatasetRefused, ImportRefused)),
    (REFUSED, (EntryMissing, EntryRefused, PromotionRefused, VersionMissing)),
    (USAGE, (ScopeMissing, SettingError)),
)
_HINT: Final = re.compile(r"\nTry: |; |: (?=(?:create|run|set|use|pip) )")
"""Where a message goes on with what to do."""
_RENAMED_OPTIONS: Final[Mapping[str, str]] = {
    "--layer": "--tier",
    "--of-user": "--user",
    "--days": "--since, such as --since 7d",
    "--older-than": "--before, such as --before 30d",
    "--install-completion": "memoryware completion SHELL",
    "--show-completion": "memoryware completion SHELL",
    "supersede --since": "--valid-from",
}
"""Options of 0.1, some of one command alone, and what they are now."""


def command_error(error: Any) -> CommandError:
    """Return an error of the library, of the parser or of the system as commands report it.

    Args:
        error: The error.

    Returns:
        Its exit code, its kind, and its message in words of commands.
    """
    if hasattr(error, "format_message"):
        return _usage_error(error)
    if not isinstance(error, MemorywareError):
        message = f"{error.filename or ''}: {error.strerror or error}".lstrip(": ")
        return CommandError(FAILED, "os_error", message)
    code = next((code for code, kinds in _EXIT_CODES if isinstance(error, kinds)), FAILED)
    kind = "usage" if code == USAGE else _snake_case(type(error).__name__)
    message = describe_error(error)
    if isinstance(error, AmbiguousId):
        details = {"hint": "type more characters", "candidates": [*error.candidates]}
        return CommandError(code, "ambiguous_id", message, details)
    return CommandError(code, kind, message)


def _usage_error(error: Any) -> CommandError:
    """Return an error of the parser of arguments; it names what an option of 0.1 is now."""
    context = error.ctx
    option = getattr(error, "option_name", "")
    path = context.command_path if context is not None else "memoryware"
    command = path.rpartition(" ")[2]
    new = _RENAMED_OPTIONS.get(f"{command} {option}", _RENAMED_OPTIONS.get(option))
    message = error.format_message() if new is None else f"{option} is now: {new}"
    return CommandError(
        USAGE, "usage", f"{message.replace('Value error, ', '').rstrip('.')}\nTry: {path} --help"
    )


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()

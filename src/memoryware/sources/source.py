"""`Source`: a memory file, its owner, and whether agents may write it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from memoryware import _checking
from memoryware.backends._paths import normalise
from memoryware.errors import PathRefused, SettingError

Owner = Literal["user", "project", "team", "agent"]
"""Whose notes a memory file holds, which decides what belongs in it."""
Writable = Literal["ask"] | bool
"""Whether an agent may change a file: yes, no, or when a person has agreed to the change."""
OWNERS: Final = get_args(Owner)


@dataclass(frozen=True, slots=True)
class Source:
    """A memory file: its path, its owner, and whether agents may write it.

    Attributes:
        path: Its path in the backend.
        owner: Whose notes it holds. The prompt tells the model which file takes which kind
            of note; None adds no such line.
        writable: True lets the agent write, False refuses, "ask" waits for a person who is
            shown the difference.
        max_tokens: Tokens that its text may fill in the prompt; None takes the limits
            of the middleware.
        required: Whether a run fails when the file is missing.
        trusted: Whether its text is what its owner wrote. False makes what an agent says after it
            untrusted in tiered memory, such as for a file that strangers write or that comes with
            a cloned repository. Its imports are trusted as far as it is.

    Raises:
        SettingError: For a value of the wrong kind.
    """

    path: str
    owner: Owner | None = None
    writable: Writable = True
    max_tokens: int | None = None
    required: bool = False
    trusted: bool = True

    def __post_init__(self) -> None:
        path: Any = self.path
        if isinstance(path, os.PathLike):
            object.__setattr__(self, "path", os.fspath(path))
        if not isinstance(path, str | os.PathLike) or not os.fspath(path):
            raise SettingError(f"path={self.path!r}: a path is a text such as '/AGENTS.md'")
        if self.owner is not None and self.owner not in OWNERS:
            raise SettingError(f"owner={self.owner!r}: must be None or one of {', '.join(OWNERS)}")
        if not isinstance(self.writable, bool) and self.writable != "ask":
            raise SettingError(f"writable={self.writable!r}: must be True, False or 'ask'")
        _checking.check_flags(required=self.required, trusted=self.trusted)
        tokens: Any = self.max_tokens
        if tokens is not None and (
            not isinstance(tokens, int) or isinstance(tokens, bool) or tokens < 1
        ):
            raise SettingError(f"max_tokens={tokens!r}: must be a whole number of at least 1")

    @property
    def identity(self) -> str:
        """The normal spelling of the path, or the path itself where only a backend knows it."""
        return identity_of(self.path)


def identity_of(path: str) -> str:
    """Return the normal spelling of a path, or the path itself where only its backend knows it.

    Args:
        path: A path as given to a source, such as `~/AGENTS.md`.

    Returns:
        The key under which sources are compared.
    """
    try:
        return normalise(path)
    # `~` is a home folder to one backend and refused by the next.
    except PathRefused:
        return path


def sources_of(value: Any, option: str = "sources") -> list[Source]:
    """Turn a list option into sources; of two spellings of one path the first counts.

    Args:
        value: Paths and sources.
        option: Name of the option, for messages.

    Returns:
        One source per file, in order.

    Raises:
        SettingError: If it is a single text, or an entry is neither a path nor a source.
    """
    if isinstance(value, str | bytes | os.PathLike | Source | Mapping) or not isinstance(
        value, Iterable
    ):
        raise SettingError(f"{option}={value!r}: give a list of paths, such as ['/AGENTS.md']")
    first: dict[str, Source] = {}
    for entry in value:
        if not isinstance(entry, str | os.PathLike | Source):
            raise SettingError(f"{option} holds {entry!r}: a path is a text such as '/AGENTS.md'")
        source = entry if isinstance(entry, Source) else Source(os.fspath(entry))
        first.setdefault(source.identity, source)
    return list(first.values())

"""What a detector says: that something is there, of which kind and where, never what it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

Span: TypeAlias = tuple[str, int, int]
"""Kind, start and end of something found in a text; the end is behind its last character."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A secret that stands in a text; it does not hold the text of the secret.

    Attributes:
        kind: What it is, in words for a person: "GitHub token", "password".
        start: Where the secret value itself begins, in characters.
        end: Where it ends: behind its last character.
        line: The line in which it begins, counted from 1.
        fingerprint: A digest of the value under a key that only this process has. The same
            secret has the same one before and after an edit; it says nothing to anybody else.
    """

    kind: str
    start: int
    end: int
    line: int
    fingerprint: str


class Detector(Protocol):
    """Finds things of one sort in a text; any function of this form is one."""

    def __call__(self, text: str, /) -> Iterable[Span]:
        """Return kind, start and end of everything found, in any order."""
        ...

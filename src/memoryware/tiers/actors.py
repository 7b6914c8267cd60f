"""Who does something to memory, as `by=` says it: a person, or what is none."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from memoryware.errors import SettingError
from memoryware.tiers.records import Origin, OriginKind, Trust

_KINDS: Final[Mapping[str, OriginKind]] = {
    "agent": "agent",
    "model": "agent",
    "tool": "tool",
    "import": "import",
    "user": "user",
    "person": "person",
}


@dataclass(frozen=True, slots=True)
class Actor:
    """Who does something.

    Attributes:
        name: As it was given.
        origin: Where a text comes from that this one writes.
    """

    name: str
    origin: Origin

    @classmethod
    def of(cls, by: str) -> Actor:
        """Return who is meant: "ann" is a person, "agent:helper" is none.

        Raises:
            SettingError: If nobody is named.
        """
        name = str(by or "").encode("utf-8", "replace").decode().strip()
        if not name:
            raise SettingError("by: say who does it, such as by='ann' or by='agent:helper'")
        before, colon, after = unicodedata.normalize("NFKC", name).partition(":")
        kind = _KINDS.get(before.strip().casefold()) if colon else None
        return cls(name, Origin(kind, after.strip()) if kind else Origin("person", name))

    @property
    def is_person(self) -> bool:
        """Whether this is a human being."""
        return self.origin.trust >= Trust.USER

    def is_same(self, by: str) -> bool:
        """Say whether a name means this one as well, however it is written."""
        return _folded(self) == _folded(Actor.of(by))


def _folded(actor: Actor) -> tuple[bool, str]:
    name = unicodedata.normalize("NFKC", actor.origin.name).casefold()
    return actor.is_person, " ".join(name.split())

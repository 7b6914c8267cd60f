"""Who does something to memory, as `by=` says it: a person, or what is none."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from memoryware.errors import SettingError
from memoryware.scope import check_name
from memoryware.tiers import checking
from memoryware.tiers.records import Origin, OriginKind, Trust, folded

_KINDS: Final[Mapping[str, OriginKind]] = {
    "agent": "agent",
    "model": "agent",
    "tool": "tool",
    "import": "import",
    "user": "user",
    "person": "person",
}
_COLONS: Final = str.maketrans(dict.fromkeys("\u02d0\u2236\ua789\ufe13\ufe55\uff1a", ":"))
"""What looks like a colon."""


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
            SettingError: If nobody is named, or it is no text, or too long.
        """
        checking.text("by", by or "")
        if not folded(by or ""):
            raise SettingError("by: say who does it, such as by='ann' or by='agent:helper'")
        name = by.encode("utf-8", "replace").decode().strip()
        check_name("by", name)
        before, colon, after = unicodedata.normalize("NFKC", name.translate(_COLONS)).partition(":")
        kind = _KINDS.get(folded(before)) if colon else None
        return cls(name, Origin(kind, after.strip()) if kind else Origin("person", name))

    @property
    def is_person(self) -> bool:
        """Whether this is a human being."""
        return self.origin.trust >= Trust.USER

    def is_same(self, by: str) -> bool:
        """Say whether a name means this one as well, however it is written."""
        return _folded(self) == _folded(Actor.of(by))


def _folded(actor: Actor) -> tuple[bool, str]:
    return actor.is_person, folded(actor.origin.name)

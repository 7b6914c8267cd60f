"""`PromotionPolicy`: what must be true before a text becomes long-term memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memoryware.errors import SettingError
from memoryware.tiers.records import Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class PromotionPolicy:
    """What a promotion needs beside somebody who does it. By default nothing more.

    Attributes:
        corroboration: From how many independent origins the same must have come. Two texts
            are independent if different people stand behind them, or different agents in
            different runs if nobody else does, and neither is made of the other. What came from
            outside does not count, nor does the word of whoever promotes. Somebody without an
            id may be anybody.
        approval: Whether a person must promote. A bare `by`, "person:..." and "user:..." are
            people; every other prefix, and names such as "agent-helper", are machines.
        four_eyes: Whether somebody else must have proposed it: `propose(...)` by one, then
            `promote(...)` by another. Nobody who ever proposed the text may promote it.
        min_trust: The least trust of the text.
        similarity: Share of words that two texts must have in common to say the same. With 1
            they must have the same words in the same order. With less, names, numbers and
            denials must agree, and what else is said in other words is taken on trust.

    Raises:
        SettingError: For a number outside its range.
    """

    corroboration: int = 0
    approval: bool = False
    four_eyes: bool = False
    min_trust: Trust = Trust.UNTRUSTED
    similarity: float = 1.0

    def __post_init__(self) -> None:
        count: Any = self.corroboration
        if not isinstance(count, int) or isinstance(count, bool) or count < 0:
            raise SettingError(f"corroboration={count!r}: must be a whole number, at least 0")
        for name in ("approval", "four_eyes"):
            if not isinstance(getattr(self, name), bool):
                raise SettingError(f"{name}={getattr(self, name)!r}: must be True or False")
        if not 0 < self.similarity <= 1:
            raise SettingError(f"similarity={self.similarity!r}: must be above 0 and at most 1")
        if self.min_trust not in tuple(Trust):
            raise SettingError(f"min_trust={self.min_trust!r}: must be a Trust")

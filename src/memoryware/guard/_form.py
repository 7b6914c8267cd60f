"""A form that a secret stands in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Form:
    """One form, and what a text must have for it to be there.

    Attributes:
        kind: What stands in it.
        gate: A text, in lower case, without which the form is not there.
        pattern: A verbose pattern for it; its one group that takes part is the secret.
        needs: Texts of which one must be there as well, if there are any.
        least: How many characters the secret has at least, which must look random; 0 takes
            all but placeholders, -1 takes all.
    """

    kind: str
    gate: str
    pattern: str
    needs: tuple[str, ...] = ()
    least: int = 0

    @property
    def compiled(self) -> re.Pattern[str]:
        """The pattern, compiled on its first use."""
        return _compiled(self.pattern)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.VERBOSE | re.IGNORECASE)

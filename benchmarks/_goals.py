"""What was to be reached, what was measured, and whether the one meets the other."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Claim:
    """One figure and the limit it was given.

    Attributes:
        what: What was measured against what.
        measured: The figure.
        at_least: The limit of a figure that should be large.
        at_most: The limit of a figure that should be small; without a limit the figure is
            there for information only.
        unit: What the figure counts; "x" for a ratio.
        note: The figures behind it.
    """

    what: str
    measured: float
    at_least: float | None = None
    at_most: float | None = None
    unit: str = "x"
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the figure keeps its limit; None where there is none."""
        if self.at_least is not None:
            return self.measured >= self.at_least
        return None if self.at_most is None else self.measured <= self.at_most

    @property
    def limit(self) -> str:
        """The limit as text."""
        if self.at_least is not None:
            return f"at least {_number(self.at_least)}{self.unit}"
        return "" if self.at_most is None else f"at most {_number(self.at_most)}{self.unit}"

    @property
    def figure(self) -> str:
        """The figure as text, with those behind it."""
        note = f" ({self.note})" if self.note else ""
        return f"{_number(self.measured)}{self.unit}{note}"

    @property
    def verdict(self) -> str:
        """The last column."""
        return {True: "met", False: "**not met**", None: ""}[self.met]


@dataclass(frozen=True, slots=True)
class Goal:
    """One numbered goal with its claims."""

    number: int
    what: str
    claims: list[Claim]


def _number(value: float) -> str:
    if value == int(value) and abs(value) < 1e6:
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"

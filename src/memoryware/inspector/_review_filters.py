"""Search, filters and order of the review queue, as parameters of its URL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from memoryware.inspector._review_queue import ReviewGroup
from memoryware.inspector._site import Visit
from memoryware.inspector._words import TRUST
from memoryware.tiers import Entry

FILTERS: Final = ("q", "origin", "trust", "user", "age", "conflict", "sort")
"""Parameters of the URL."""
AGES: Final[dict[str, int]] = {
    "the last day": 1,
    "the last week": 7,
    "older than a week": -7,
    "older than a month": -30,
}
"""Days since an entry was recorded: at most this many; if negative, at least this many."""
CONFLICTS: Final = {
    "with": "in conflict",
    "memory": "contradicts memory",
    "without": "no conflict",
}
"""Labels of the choices of conflicts."""
SORTS: Final = {
    "": "worth most first",
    "newest": "newest first",
    "oldest": "oldest first",
    "trusted": "most trusted first",
    "doubtful": "least trusted first",
    "entries": "most entries first",
}
"""Labels of the orders."""
_NO_DAYS: Final = 0


@dataclass(frozen=True)
class ReviewFilter:
    """Which statements of the queue are shown, and in which order.

    Attributes:
        values: The chosen values by parameter; what is not chosen is missing.
        now: The time from which ages count.
    """

    values: Mapping[str, str]
    now: datetime
    _words: tuple[str, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        object.__setattr__(self, "_words", tuple(self.values.get("q", "").casefold().split()))

    @classmethod
    def of(cls, visit: Visit) -> ReviewFilter:
        """Return the filter of a URL, or of the form that was sent from a page with one.

        Args:
            visit: The request.

        Returns:
            The filter.
        """
        values = {name: visit.param(name) or visit.form.get(f"f-{name}") for name in FILTERS}
        chosen = {name: value for name, value in values.items() if value.strip()}
        return cls(chosen, visit.memory.parts.clock())

    @property
    def is_active(self) -> bool:
        """Whether anything but the order is chosen."""
        return bool(self.values.keys() - {"sort"})

    def select(self, groups: Sequence[ReviewGroup]) -> list[ReviewGroup]:
        """Return the statements that fit, in order.

        Args:
            groups: The queue, the most valuable first.

        Returns:
            Those that fit.
        """
        fitting = [group for group in groups if self._fits(group)]
        order = _ORDERS.get(self.values.get("sort", ""))
        return fitting if order is None else sorted(fitting, key=order)

    def _fits(self, group: ReviewGroup) -> bool:
        return (
            self._fits_trust(group)
            and self._fits_conflict(group)
            and (not self._words or all(word in _searched(group) for word in self._words))
            and any(self._fits_entry(entry) for entry in group.every_entry)
        )

    def _fits_trust(self, group: ReviewGroup) -> bool:
        level = self.values.get("trust")
        return level is None or group.insight.provenance.trust.name.lower() == level

    def _fits_conflict(self, group: ReviewGroup) -> bool:
        with_memory = bool(group.insight.contradicts)
        in_conflict = with_memory or bool(group.insight.conflicts_with)
        choices = {"with": in_conflict, "memory": with_memory, "without": not in_conflict}
        return choices.get(self.values.get("conflict", ""), True)

    def _fits_entry(self, entry: Entry) -> bool:
        values = self.values
        if "origin" in values and values["origin"] not in map(str, entry.provenance.roots):
            return False
        if "user" in values and entry.scope.user_id != values["user"]:
            return False
        days = AGES.get(values.get("age", ""), _NO_DAYS)
        is_recent = self.now - entry.created_at <= timedelta(days=abs(days))
        return not days or is_recent is (days > 0)


def _searched(group: ReviewGroup) -> str:
    """Return the texts of a group in which words are searched."""
    texts = [group.insight.summary]
    for entry in group.every_entry:
        texts += [
            entry.id,
            entry.content,
            *map(str, entry.provenance.roots),
            entry.scope.user_id or "",
        ]
    return "\n".join(texts).casefold()


def _newest(group: ReviewGroup) -> float:
    return max(entry.created_at.timestamp() for entry in group.every_entry)


_ORDERS: Final[Mapping[str, Callable[[ReviewGroup], float]]] = {
    "newest": lambda group: -_newest(group),
    "oldest": _newest,
    "trusted": lambda group: -group.insight.provenance.trust,
    "doubtful": lambda group: group.insight.provenance.trust,
    "entries": lambda group: -len(group.every_entry),
}


@dataclass(frozen=True)
class FilterChoices:
    """What the filters offer: only what is in the queue.

    Attributes:
        origins: Origins.
        users: Users.
        levels: Levels of trust with their labels.
    """

    origins: Sequence[str]
    users: Sequence[str]
    levels: Sequence[tuple[str, str]]

    @classmethod
    def of(cls, groups: Sequence[ReviewGroup]) -> FilterChoices:
        """Return the choices of a queue.

        Args:
            groups: The queue.

        Returns:
            The choices.
        """
        entries = [entry for group in groups for entry in group.every_entry]
        levels = sorted({group.insight.provenance.trust for group in groups}, reverse=True)
        return cls(
            sorted({str(root) for entry in entries for root in entry.provenance.roots}),
            sorted({entry.scope.user_id for entry in entries if entry.scope.user_id}),
            [(level.name.lower(), TRUST[level]) for level in levels],
        )

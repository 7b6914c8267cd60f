"""What all doors share."""

from __future__ import annotations

from typing import Any

from memoryware.scope import MemoryScope
from memoryware.settings import TierLimits
from memoryware.tiers import checking, screening
from memoryware.tiers._parts import OnError, Parts, scope_of
from memoryware.tiers.values import Insight


class OperationsMixin:
    """Operations over the parts of one memory."""

    parts: Parts
    """The stores and the rules."""

    @property
    def limits(self) -> TierLimits:
        """Every limit."""
        return self.parts.limits

    @property
    def on_error(self) -> OnError:
        """What a failing tier does to a run."""
        return self.parts.on_error

    # What callers pass.

    def _who(self, by: str) -> str:
        """Return who does something, if the name can be kept."""
        return screening.named(self.parts, by)

    def _owner(self, scope: MemoryScope | str) -> MemoryScope:
        """Return whose memory something becomes, if the names can be kept."""
        return screening.owner(self.parts, scope_of(scope))

    def _owner_if_said(self, scope: MemoryScope | str | None) -> MemoryScope | None:
        """Return the same; None if nobody is named: what is promoted may bring its own."""
        return None if scope is None else self._owner(scope)

    def _material(self, what: Any) -> Any:
        """Return what is promoted, if the names that it brings can be kept."""
        if isinstance(what, Insight):
            screening.owner(self.parts, what.scope)
            screening.lineage(self.parts, what.provenance)
        return what

    def _reason(self, reason: str) -> str:
        """Return why something is done, without secrets."""
        checking.text("reason", reason)
        return self.parts.redacted(reason)

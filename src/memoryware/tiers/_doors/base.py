"""What all doors share."""

from __future__ import annotations

from memoryware.settings import TierLimits
from memoryware.tiers._parts import OnError, Parts


class Doors:
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

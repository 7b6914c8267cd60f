"""The filters of working memory that do not wait, and the default chain of them."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from memoryware.errors import SettingError
from memoryware.guard import Guard, drop_hidden
from memoryware.settings import TierLimits
from memoryware.tiers._parts import IngressFilter, Passed, Refusal
from memoryware.tiers.filters.content import says_something
from memoryware.tiers.model import Entry
from memoryware.tiers.screening import has_secrets
from memoryware.tiers.text.statements import UNSPACED

logger = logging.getLogger(__name__)

_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
_OFF: Final = frozenset({"", "0", "false", "no", "off", "none", "null"})


def default_filters(
    limits: TierLimits | None = None, guard: Guard | None = None
) -> tuple[IngressFilter, ...]:
    """Return the default filters of working memory, in order.

    The search for echoes is no filter: it runs for every text, whatever the filters.

    Args:
        limits: Their limits; `TierLimits()` by default.
        guard: Finds secrets; None looks for none.

    Returns:
        New filters.
    """
    limits = limits or TierLimits()
    return (
        SecretsReported(guard),
        MinConfidence(limits.min_confidence),
        *([MinLength(limits.min_chars)] if limits.min_chars else []),
        HasContent(),
        ExactDuplicate(),
        NoVerifyPending(),
    )


class SyncFilter:
    """Base class of filters that are pure and quick, and run inside a transaction."""

    def check(self, entry: Entry, recent: Sequence[Entry]) -> Refusal | Passed | None:
        raise NotImplementedError

    async def acheck(self, entry: Entry, recent: Sequence[Entry]) -> Refusal | Passed | None:
        """Async twin of `check`."""
        return self.check(entry, recent)


@dataclass(frozen=True, slots=True)
class SecretsReported(SyncFilter):
    """Log a warning for an entry with secrets; refuse nothing.

    Secrets are removed from every text before it is stored, so a secret that is still there came
    in another way.

    Attributes:
        guard: Finds secrets; None looks for none.
    """

    guard: Guard | None = None

    def check(self, entry: Entry, recent: Sequence[Entry]) -> Refusal | Passed | None:  # noqa: ARG002
        """Return None."""
        if self.guard is not None and has_secrets(self.guard, entry.content):
            findings = self.guard.describe(self.guard.scan(entry.content))
            logger.warning("entry %s has secrets: %s", entry.id, findings)
        return None


@dataclass(frozen=True, slots=True)
class MinConfidence(SyncFilter):
    """Refuse an entry whose `metadata["confidence"]` is below a limit.

    The confidence is a number or its text, such as "0.9" or "90%". Any other value is ignored.

    Attributes:
        least: The limit, 0 to 1. An entry with exactly this confidence passes, and so does one
            without a confidence.
    """

    least: float = 0.8

    def __post_init__(self) -> None:
        _check_range("least", self.least, 0, 1)

    def check(self, entry: Entry, recent: Sequence[Entry]) -> Refusal | Passed | None:  # noqa: ARG002
        """Return why an entry is refused, None to let it pass."""
        confidence = entry.metadata.get("confidence")
        if confidence is None:
            return None
        value = _number(confidence)
        if value is None:
            logger.debug("ignored the confidence of entry %s: not a number", entry.id)
            return None
        if value < self.least:
            return Refusal("low_confidence", f"confidence {value:g} is below {self.least:g}")
        return None


@dataclass(frozen=True, slots=True)
class MinLength(SyncFilter):
    """Refuse short texts. Blanks at the ends and hidden characters do not count.

    The default chain has it only with `TierLimits(min_chars=...)`: many facts are short.

    Attributes:
        least: Characters that a text must have; 0 only refuses empty texts.
        unspaced: Weight of a character of Chinese or Japanese, which says more than a letter;
            2.5 makes texts of the same content equally long.
    """

    least: int = 50
    unspaced: float = 1.0

    def __post_init__(self) -> None:
        _check_range("least", self.least, 0)
        _check_range("unspaced", self.unspaced, 0)

    def check(self, entry: Entry, recent: Sequence[Entry]) -> Refusal | Passed | None:  # noqa: ARG002
        """Return why an entry is refused, None to let it pass."""
        text = drop_hidden(entry.content)[0].strip()
        size = len(text) + 0.0
        if self.unspaced != 1:
            size += (self.unspaced - 1) * len(_UNSPACED.findall(text))
        if not text or size < self.least:
            return Refusal("too_short", f"{size:g} characters, at least {self.least} are needed")
        return None


@dataclass(frozen=True, slots=True)
class HasContent(SyncFilter):
    """Refuse texts without a statement: acknowledgements, courtesy, emoji, single words.

    A text passes if a sentence has two content words (names and numbers are such), or one next to
    a negation, a "must" or a person. Its length does not count: "We deploy on Fridays." passes,
    "Sure, I would be happy to help you with that!" does not.
    """

    def check(self, entry: Entry, recent: Sequence[Entry]) -> Refusal | Passed | None:  # noqa: ARG002
        """Return why an entry is refused, None to let it pass."""
        if says_something(entry.content):
            return None
        return Refusal("no_content", "it states nothing")


@dataclass(frozen=True, slots=True)
class ExactDuplicate(SyncFilter):
    """Refuse a text that working memory has already; the older entry is renewed instead."""

    def check(self, entry: Entry, recent: Sequence[Entry]) -> Refusal | Passed | None:
        """Return why an entry is refused, None to let it pass."""
        content_hash = entry.content_hash
        for other in recent:
            if other.content_hash == content_hash:
                return Refusal("duplicate", f"the same as entry {other.id}", same_as=other.id)
        return None


@dataclass(frozen=True, slots=True)
class NoVerifyPending(SyncFilter):
    """Refuse entries that are not verified yet: `metadata["verify_pending"]` is set.

    Attributes:
        label: True lets them pass with the label `unverified` instead.
    """

    label: bool = False

    def check(self, entry: Entry, recent: Sequence[Entry]) -> Refusal | Passed | None:  # noqa: ARG002
        """Return why an entry is refused, None to let it pass."""
        if not _is_on(entry.metadata.get("verify_pending")):
            return None
        if self.label:
            return Passed({"unverified": "verify_pending"})
        return Refusal("verify_pending", "it still has to be verified")


def _number(confidence: Any) -> float | None:
    """Parse a confidence: a number, or a text such as "0.9" or "90%"."""
    value = confidence
    if isinstance(confidence, str):
        text = confidence.strip()
        try:
            value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and math.isfinite(value) else None


def _is_on(value: Any) -> bool:
    return value.strip().lower() not in _OFF if isinstance(value, str) else bool(value)


def _check_range(name: str, value: Any, low: float, high: float = math.inf) -> None:
    is_valid = (
        isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high
    )
    if not is_valid:
        upper = "" if high == math.inf else f" and at most {high}"
        raise SettingError(f"{name}={value!r}: must be a number of at least {low}{upper}")

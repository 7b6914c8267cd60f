"""What working memory takes: the default chain of filters. Each is cheap and deterministic."""

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
from memoryware.tiers.ingress.content import says_something
from memoryware.tiers.records import Entry

logger = logging.getLogger(__name__)

_UNSPACED: Final = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_NO: Final = frozenset({"", "0", "false", "no", "off", "none", "null"})


def default_filters(
    limits: TierLimits | None = None, guard: Guard | None = None
) -> tuple[IngressFilter, ...]:
    """Return the filters that working memory has unless others are given, in order.

    Whether a text is an echo is no filter: it is asked for every text, whatever the filters.

    Args:
        limits: Their limits.
        guard: What finds secrets; None looks for none.
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


class Quick:
    """A filter that waits for nothing."""

    def check(self, entry: Entry, recent: Sequence[Entry]) -> Refusal | Passed | None:
        raise NotImplementedError

    async def acheck(self, entry: Entry, recent: Sequence[Entry]) -> Refusal | Passed | None:
        """Async twin of `check`."""
        return self.check(entry, recent)


@dataclass(frozen=True, slots=True)
class SecretsReported(Quick):
    """Lets everything pass, and says in the log which entry had a secret.

    Secrets are cut out before a text is kept at all; what is found here was put in otherwise.

    Attributes:
        guard: What finds secrets; None looks for none.
    """

    guard: Guard | None = None

    def check(self, entry: Entry, recent: Sequence[Entry]) -> Refusal | Passed | None:  # noqa: ARG002
        """Return None."""
        found = self.guard.scan(entry.content) if self.guard else ()
        if self.guard and found:
            logger.warning("entry %s has secrets: %s", entry.id, self.guard.describe(found))
        return None


@dataclass(frozen=True, slots=True)
class MinConfidence(Quick):
    """Refuses what its maker is not sure of: `metadata["confidence"]` below a limit.

    It is a number, or a text that is one, such as "0.9" or "90%". Anything else says nothing
    about how sure its maker is, and is ignored.

    Attributes:
        least: The limit; what is exactly there passes, and so does what has no confidence.
    """

    least: float = 0.8

    def __post_init__(self) -> None:
        _must_be("least", self.least, 0, 1)

    def check(self, entry: Entry, recent: Sequence[Entry]) -> Refusal | Passed | None:  # noqa: ARG002
        """Return why an entry is refused, None to let it pass."""
        given = entry.metadata.get("confidence")
        if given is None:
            return None
        value = _confidence(given)
        if value is None:
            logger.debug("the confidence of entry %s is no number and is ignored", entry.id)
            return None
        if value < self.least:
            return Refusal("low_confidence", f"confidence {value:g} is below {self.least:g}")
        return None


@dataclass(frozen=True, slots=True)
class MinLength(Quick):
    """Refuses what is short; blanks at the ends and hidden characters do not count.

    It is in the default chain only if `TierLimits(min_chars=...)` is set: many facts are short.

    Attributes:
        least: How many characters a text must have; 0 takes any that has one.
        unspaced: As how many a character of Chinese or Japanese counts. It says more than a
            letter: 2.5 is a fair exchange.
    """

    least: int = 50
    unspaced: float = 1.0

    def __post_init__(self) -> None:
        _must_be("least", self.least, 0)
        _must_be("unspaced", self.unspaced, 0)

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
class HasContent(Quick):
    """Refuses what states nothing: acknowledgements, courtesy, emoji, a single word.

    A text passes if one of its sentences has two content words (names and numbers are such), or
    one beside a denial, a "must" or a person. How long it is does not count: "We deploy on
    Fridays." passes, and "Sure, I would be happy to help you with that!" does not.
    """

    def check(self, entry: Entry, recent: Sequence[Entry]) -> Refusal | Passed | None:  # noqa: ARG002
        """Return why an entry is refused, None to let it pass."""
        if says_something(entry.content):
            return None
        return Refusal("no_content", "it states nothing")


@dataclass(frozen=True, slots=True)
class ExactDuplicate(Quick):
    """Refuses what working memory has already; that moves to the front and stays longer."""

    def check(self, entry: Entry, recent: Sequence[Entry]) -> Refusal | Passed | None:
        """Return why an entry is refused, None to let it pass."""
        mine = entry.content_hash
        for one in recent:
            if one.content_hash == mine:
                return Refusal("duplicate", f"the same as entry {one.id}", same_as=one.id)
        return None


@dataclass(frozen=True, slots=True)
class NoVerifyPending(Quick):
    """Refuses what still has to be verified: `metadata["verify_pending"]`.

    Attributes:
        label: Lets it pass instead, labelled as not verified.
    """

    label: bool = False

    def check(self, entry: Entry, recent: Sequence[Entry]) -> Refusal | Passed | None:  # noqa: ARG002
        """Return why an entry is refused, None to let it pass."""
        if not _is_on(entry.metadata.get("verify_pending")):
            return None
        if self.label:
            return Passed({"unverified": "verify_pending"})
        return Refusal("verify_pending", "it still has to be verified")


def _confidence(given: Any) -> float | None:
    """Return a confidence as a number; None for what is none."""
    value = given
    if isinstance(given, str):
        said = given.strip()
        try:
            value = float(said.removesuffix("%")) / (100 if said.endswith("%") else 1)
        except ValueError:
            return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and math.isfinite(value) else None


def _is_on(value: Any) -> bool:
    return value.strip().lower() not in _NO if isinstance(value, str) else bool(value)


def _must_be(name: str, value: Any, low: float, high: float = math.inf) -> None:
    good = isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high
    if not good:
        upper = "" if high == math.inf else f" and at most {high}"
        raise SettingError(f"{name}={value!r}: must be a number of at least {low}{upper}")

"""`Guard`: what may not rest in memory, and what is done about it."""

from __future__ import annotations

import hashlib
import re
import secrets as _random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from memoryware.errors import SettingError
from memoryware.guard import _secrets
from memoryware.guard.finding import Detector, Finding, Span

OnSecret = Literal["refuse", "redact", "warn"]
"""What a write does with a secret: it is refused, or the secret is cut out, or it is told."""
Personal = Literal["email", "phone", "credit_card", "ip", "mac_address"]
"""Personal data that can be looked for."""

_KEY: Final = _random.token_bytes(32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """Finds secrets, and on request personal data, in text that is to be kept.

    Attributes:
        on_secret: "refuse" writes nothing, "redact" writes the text without the secret,
            "warn" writes it and says so.
        personal: Which personal data is looked for as well.
        allow: Values, or patterns that fit a whole value, which are never reported.
        detectors: Detectors of your own; what they find is added.
        secrets: False looks for nothing but `personal` and `detectors`.

    Raises:
        SettingError: For a value that cannot be.
    """

    on_secret: OnSecret = "refuse"
    personal: Sequence[Personal] = ()
    allow: Sequence[str | re.Pattern[str]] = ()
    detectors: Sequence[Detector] = ()
    secrets: bool = True

    def __post_init__(self) -> None:
        if self.on_secret not in get_args(OnSecret):
            raise SettingError(f"on_secret={self.on_secret!r}: must be one of {get_args(OnSecret)}")

    def scan(self, text: str) -> list[Finding]:
        """Return what stands in the text, in its order."""
        spans = [span for detector in self.detectors for span in detector(text)]
        if self.secrets:
            spans += _secrets.find(text)
        found, line, position = [], 1, 0
        for kind, start, end in _merged(spans):
            line += text.count("\n", position, start)
            position = start
            found.append(Finding(kind, start, end, line, _fingerprint(text[start:end])))
        return found

    def new(self, before: str | None, after: str) -> list[Finding]:
        """Return what stands in the text after a change and did not before.

        The same secret twice, where it stood once, is new once.
        """
        found = self.scan(after)
        if not found or not before:
            return found
        known = Counter((one.kind, one.fingerprint) for one in self.scan(before))
        new = []
        for one in found:
            known[one.kind, one.fingerprint] -= 1
            if known[one.kind, one.fingerprint] < 0:
                new.append(one)
        return new

    def redact(self, text: str) -> str:
        """Return the text with a note of its kind in place of everything found."""
        pieces, position = [], 0
        for one in self.scan(text):
            pieces += [text[position : one.start], f"[redacted: {one.kind}]"]
            position = one.end
        return "".join([*pieces, text[position:]])

    @staticmethod
    def describe(findings: Iterable[Finding]) -> str:
        """Return lines and kinds for a person or a model: "line 3: GitHub token"."""
        return ", ".join(f"line {one.line}: {one.kind}" for one in findings)


def _fingerprint(value: str) -> str:
    data = value.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=8, key=_KEY).hexdigest()


def _merged(spans: Iterable[Span]) -> list[Span]:
    """Return the spans in order, those that overlap as one of the kind that was named first."""
    ranked = sorted(
        ((start, end, rank, kind) for rank, (kind, start, end) in enumerate(spans)),
    )
    merged: list[tuple[int, int, int, str]] = []
    for start, end, rank, kind in ranked:
        if merged and start < merged[-1][1]:
            first, last, other, named = merged[-1]
            best = min((other, named), (rank, kind))
            merged[-1] = (first, max(last, end), *best)
        else:
            merged.append((start, end, rank, kind))
    return [(kind, start, end) for start, end, _, kind in merged]

"""`Guard`: finds secrets and personal data in text that is to be stored, and redacts them."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, Final, Literal, Protocol, TypeAlias, get_args

from memoryware import _checking
from memoryware._install import install_command
from memoryware.errors import SettingError

DetectedSpan: TypeAlias = tuple[str, int, int]
"""Kind, start and end of something found in a text; the end is behind its last character."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A secret that was found in a text; it does not hold the secret itself.

    Attributes:
        kind: What it is, in words for a person: "GitHub token", "password".
        start: Where the secret value itself begins, in characters.
        end: Where it ends: behind its last character.
        line: The line in which it begins, counted from 1.
        fingerprint: A digest of the value under a key that only this process has. The same
            secret has the same one before and after an edit; it says nothing to anybody else.
    """

    kind: str
    start: int
    end: int
    line: int
    fingerprint: str


class Detector(Protocol):
    """Finds things of one sort in a text; any function of this form is one."""

    def __call__(self, text: str, /) -> Iterable[DetectedSpan]:
        """Return kind, start and end of everything found, in any order."""
        ...


OnSecret = Literal["refuse", "redact", "warn"]
"""What a write does with a secret: it is refused, or the secret is redacted, or it is logged."""
Personal = Literal["email", "phone", "credit_card", "ip", "mac_address"]
"""Personal data that can be looked for."""

_KEY: Final = os.urandom(32)
"""The key of all fingerprints; it lives as long as the process and is in no file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """Finds secrets, and on request personal data, in text that is to be kept.

    The time that it takes is linear in the text, whatever stands in it.

    Attributes:
        on_secret: "refuse" writes nothing, "redact" writes the text without the secret,
            "warn" writes it and says so.
        personal: Which personal data is found as well: "email", "phone", "credit_card", "ip",
            "mac_address". It is treated like a secret.
        allow: Values that are never reported, such as the example keys of your documentation:
            each a text that is the whole value, or a pattern that fits all of it.
        detectors: Detectors of your own. What they find is added, and their kinds are the
            ones that are reported.
        secrets: False looks for nothing but `personal` and what `detectors` find.

    Raises:
        SettingError: For an invalid option.
    """

    on_secret: OnSecret = "refuse"  # noqa: S105
    personal: Sequence[Personal] = ()
    allow: Sequence[str | re.Pattern[str]] = field(default=(), repr=False)
    detectors: Sequence[Detector] = ()
    secrets: bool = True

    def __post_init__(self) -> None:
        _one_of("on_secret", self.on_secret, get_args(OnSecret))
        _checking.check_flags(secrets=self.secrets)
        for name in ("personal", "allow", "detectors"):
            object.__setattr__(self, name, _several(name, getattr(self, name)))
        for kind in self.personal:
            _one_of("personal", kind, get_args(Personal))
        if not all(isinstance(allowed, str | re.Pattern) for allowed in self.allow):
            raise SettingError("allow: each entry must be a text or a compiled pattern for text")
        if not all(map(callable, self.detectors)):
            raise SettingError(
                "detectors: each entry must be a function of a text that returns (kind, start, end)"
            )

    def scan(self, text: str) -> list[Finding]:
        """Find secrets, and the personal data that was asked for, in a text.

        Args:
            text: The text.

        Returns:
            The findings in the order of the text; they do not hold the secrets themselves.

        Raises:
            SettingError: If one of the `detectors` fails or returns something else.
        """
        findings, line, position = [], 1, 0
        for kind, start, end in _merged(self._spans(text)):
            line += text.count("\n", position, start)
            position = start
            findings.append(Finding(kind, start, end, line, _fingerprint(text[start:end])))
        return findings

    def scan_name(self, name: str) -> list[Finding]:
        """Return the secrets in the name or the id of a user, a thread or a group.

        A name is known by what would be personal data in a text, such as an e-mail address; and a
        number of 16 to 19 digits in it is an id of a chat platform, though one in ten of these has
        the check digit of a payment card. A name that speaks of a card, or has the number in
        groups of digits, has one.

        Args:
            name: The name.

        Returns:
            The findings in the order of the name.

        Raises:
            SettingError: If one of the `detectors` fails or returns something else.
        """
        secrets, _ = _scanners()
        guard = replace(self, personal=()) if self.personal else self
        # "auth0|5f7c..." is how identity providers write a user, and no row of a table.
        return [
            finding
            for finding in guard.scan(name.replace("|", "/"))
            if not secrets.is_numeric_id(finding.kind, name, finding.start, finding.end)
        ]

    def new(self, before: str | None, after: str) -> list[Finding]:
        """Find what a change adds to a text.

        A secret that was there once and is now there twice is new once.

        Args:
            before: The text before the change; None if there was none.
            after: The text after it.

        Returns:
            The findings of `after` that `before` does not have, in the order of the text.
        """
        findings = self.scan(after)
        if not findings or not before:
            return findings
        before_counts = Counter(
            (finding.kind, finding.fingerprint) for finding in self.scan(before)
        )
        new = []
        for finding in findings:
            before_counts[finding.kind, finding.fingerprint] -= 1
            if before_counts[finding.kind, finding.fingerprint] < 0:
                new.append(finding)
        return new

    def redact(self, text: str) -> str:
        """Replace each finding in a text with a note, such as `[redacted: password]`.

        Args:
            text: The text.

        Returns:
            The text without secrets; the same text if it has none.
        """
        pieces, position = [], 0
        for finding in self.scan(text):
            pieces += [text[position : finding.start], f"[redacted: {finding.kind}]"]
            position = finding.end
        return "".join([*pieces, text[position:]])

    @staticmethod
    def describe(findings: Iterable[Finding]) -> str:
        """Describe findings for a person or a model: "line 3: GitHub token, line 7: PIN".

        Args:
            findings: Findings of one text.

        Returns:
            Lines and kinds in one line, without the secrets.
        """
        return ", ".join(f"line {finding.line}: {finding.kind}" for finding in findings)

    def _spans(self, text: str) -> Iterator[DetectedSpan]:
        """Return everything that is found and not allowed, what names a kind best first."""
        secrets, personal = _scanners()
        for detector in self.detectors:
            yield from self._reported(text, _answers(detector, text))
        if self.secrets:
            yield from self._reported(text, secrets.find_secrets(text))
        if self.personal:
            yield from self._reported(text, personal.find_personal_data(text, self.personal))

    def _reported(self, text: str, spans: Iterable[DetectedSpan]) -> Iterator[DetectedSpan]:
        for kind, start, end in spans:
            if start < end and not (self.allow and self._allows(text[start:end])):
                yield kind, start, end

    def _allows(self, value: str) -> bool:
        return any(
            value == allowed if isinstance(allowed, str) else allowed.fullmatch(value) is not None
            for allowed in self.allow
        )


def _one_of(name: str, value: Any, possible: tuple[str, ...]) -> None:
    if value not in possible:
        raise SettingError(f"{name}={value!r}: must be one of {', '.join(possible)}")


def _several(name: str, values: Any) -> tuple[Any, ...]:
    if isinstance(values, str | bytes | re.Pattern) or not isinstance(values, Iterable):
        raise SettingError(f"{name}: give a list, even for one entry")
    return tuple(values)


def _answers(detector: Detector, text: str) -> list[DetectedSpan]:
    """Return what a foreign detector finds; what it says when it fails may hold the text."""
    name = getattr(detector, "__qualname__", type(detector).__qualname__)
    try:
        spans = [(str(kind), int(start), int(end)) for kind, start, end in detector(text)]
    except Exception as error:  # noqa: BLE001 - whatever it is, the text must not be in ours
        failure = type(error).__name__
    else:
        if all(0 <= start <= end <= len(text) for _, start, end in spans):
            return spans
        failure = "places outside of the text"
    raise SettingError(f"detectors: {name} failed ({failure}); mend it or take it out")


def _fingerprint(value: str) -> str:
    data = value.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=8, key=_KEY).hexdigest()


def _merged(spans: Iterable[DetectedSpan]) -> list[DetectedSpan]:
    """Return the spans in order, those that overlap as one of the kind that was named first."""
    ranked = sorted((start, end, rank, kind) for rank, (kind, start, end) in enumerate(spans))
    merged: list[tuple[int, int, int, str]] = []
    for start, end, rank, kind in ranked:
        if merged and start < merged[-1][1]:
            first, last, other, named = merged[-1]
            merged[-1] = (first, max(last, end), *min((other, named), (rank, kind)))
        else:
            merged.append((start, end, rank, kind))
    return [(kind, start, end) for start, end, _, kind in merged]


def _scanners() -> tuple[Any, Any]:
    # The patterns take a while to compile, so they are loaded with the first scan.
    from memoryware.guard import _personal, _secrets

    return _secrets, _personal


if hasattr(os, "register_at_fork"):
    # A child must not be made while another thread imports them: it would wait for ever.
    os.register_at_fork(before=_scanners)


# A detector by another project.


class KingfisherDetector:
    """Finds what the package `kingfisher-secret-scanner` finds.

    For `Guard(detectors=[KingfisherDetector()])`. Making one takes seconds, because hundreds of
    rules are compiled, so make it once; a text takes microseconds. Nothing leaves the process.

    Args:
        scanner: A `kingfisher_sdk.Scanner` of your own, with rules of your own; by default one
            with the rules of the package, which it keeps compiled in the cache folder of the
            user.

    Raises:
        SettingError: If the package is not installed.
    """

    def __init__(self, *, scanner: Any = None) -> None:
        self._scanner = _scanner() if scanner is None else scanner

    def __call__(self, text: str, /) -> list[DetectedSpan]:
        """Return kind, start and end of everything found."""
        data = text.encode("utf-8", "replace")
        offsets = _ByteOffsets(text, data)
        spans = []
        for hit in self._scanner.scan(data):
            if hit.visible:
                kind = hit.rule_id.rpartition(".")[2].replace("-", " ")
                start, end = hit.location["start_offset"], hit.location["end_offset"]
                secret = hit.secret.encode("utf-8", "replace")
                at = data.find(secret, start, end)
                if at >= 0:  # the place may be that of a name and its value
                    start, end = at, at + len(secret)
                spans.append((kind, offsets.of(start), offsets.of(end)))
        return spans


class _ByteOffsets:
    """Places in a text by places in its bytes."""

    def __init__(self, text: str, data: bytes) -> None:
        self._data = None if len(text) == len(data) else data

    def of(self, offset: int) -> int:
        if self._data is None:
            return offset
        return len(self._data[:offset].decode("utf-8", "ignore"))


def _scanner() -> Any:
    try:
        sdk = import_module("kingfisher_sdk")
    except ImportError:
        raise SettingError(
            "KingfisherDetector() needs a package that is not installed: run"
            f" `{install_command('kingfisher')}`"
        ) from None
    return sdk.Scanner()

"""Tokens that are known by their form: by what they begin with, or by how they are built."""

from __future__ import annotations

import re
import string
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from memoryware.guard._secrets.secret_values import (
    bits,
    in_series,
    is_hex,
    is_uuid,
    looks_random,
    stands_in,
    wordlike,
)
from memoryware.guard._secrets.text_scan import DetectedSpan, TextScan
from memoryware.guard._secrets.vendors import (
    EVEN,
    IDENTIFIES,
    LED,
    NAMED,
    PUBLISHED,
    SERVICES,
    VENDORS,
    WIDE,
)

_SIGNS: Final = string.ascii_letters + string.digits + "_.~-"
TOKEN_RUN: Final = re.compile(r"[A-Za-z0-9_.~-]{16,}")
"""What is long enough without a blank to be a token."""
_INNER: Final = re.compile(r"(?<=[_.~-])[A-Za-z0-9]")
_LONGEST_LEFT: Final = 255
"""Characters before a seam at which a token may begin."""
_JUDGED: Final = 30
_BUILT: Final = 15
"""Steps for judging what begins like a token, and what is only as long as one."""
_START: Final = 2
"""Characters of a prefix by which rules are looked up."""


@dataclass(frozen=True, slots=True)
class _Rule:
    kind: str
    prefix: str
    body: str

    def end(self, scan: TextScan, at: int) -> int | None:
        """Return where the token that begins here ends, if one does."""
        text = scan.text
        if not text.startswith(self.prefix, at):
            return None
        match = _pattern(self.body).match(text, at + len(self.prefix))
        if match is None:
            return None
        if not scan.afford_token(at, _JUDGED):
            return match.end()  # among so many that begin like tokens, rather one too many
        body = match.group()
        if stands_in(body, names=False) or in_series(body):
            return None
        return match.end() if self.kind in EVEN or _varied(body) else None


@cache
def _pattern(body: str) -> re.Pattern[str]:
    """Compile a pattern on its first use: there are many, and few are ever needed."""
    return re.compile(f"(?:{body})(?![A-Za-z0-9])")


def _varied(body: str) -> bool:
    words = not body.isalnum() or body.islower()
    return bits(body) >= 2.6 and not (words and wordlike(body))


def _by_start() -> dict[str, list[_Rule]]:
    rules = defaultdict(list)
    for kind, prefixes, body in VENDORS:
        for prefix in prefixes.split():
            rules[prefix[:_START]].append(_Rule(kind, prefix, body))
    for same in rules.values():
        same.sort(key=lambda rule: -len(rule.prefix))
    return dict(rules)


_BY_START: Final = _by_start()


def find_tokens(scan: TextScan, runs: list[tuple[int, int]]) -> Iterator[DetectedSpan]:
    """Return the tokens of known services, and those that are built like such a token.

    Args:
        scan: The scan of the text.
        runs: Where `TOKEN_RUN` matches, without those that are words.
    """
    text = scan.text
    yield from _wide(scan)
    for start, end in runs:
        is_known = False
        for span in _known(scan, start, end):
            is_known = True
            yield span
        if not is_known and scan.afford_token(start, _BUILT):
            yield from _find_built(text, start, end)


def known_tokens(scan: TextScan, seams: Iterable[int]) -> Iterator[DetectedSpan]:
    """Return the tokens of known services that reach over one of these places."""
    text, behind = scan.text, 0
    for seam in seams:
        left = text[max(0, seam - _LONGEST_LEFT) : seam]
        start = seam - len(left) + len(left.rstrip(_SIGNS))
        run = TOKEN_RUN.match(text, start)
        if run is not None and behind <= start < seam < run.end():
            behind = run.end()
            yield from _known(scan, start, behind)


def _wide(scan: TextScan) -> Iterator[DetectedSpan]:
    """Return the tokens that may have signs in them at which a run ends."""
    text = scan.text
    if "/" not in text and "+" not in text:
        return
    for prefix in WIDE:
        at = text.find(prefix)
        while at >= 0:
            span = None if text[max(0, at - 1) : at].isalnum() else _begins(scan, at)
            if span is not None:
                yield span
            at = text.find(prefix, at + len(prefix) if span is None else span[2])


def _known(scan: TextScan, start: int, end: int) -> Iterator[DetectedSpan]:
    text, behind = scan.text, start
    for at in (start, *(part.start() for part in _INNER.finditer(text, start + 1, end))):
        span = _begins(scan, at) if at >= behind else None
        if span is not None:
            yield span
            behind = span[2]


def _begins(scan: TextScan, at: int) -> DetectedSpan | None:
    text = scan.text
    for rule in _BY_START.get(text[at : at + _START], ()):
        end = rule.end(scan, at)
        if end is not None:
            start = at
            while rule.kind in LED and start and text[start - 1] in "0123456789:":
                start -= 1
            return rule.kind, start, end
    return None


# Random values that nothing marks as those of a known service, but that are built like keys.

_SHAPES: Final = (
    (
        "web token (JWT)",
        re.compile(r"eyJ[\w-]{8,4000}={0,2}\.[\w-]{8,8000}={0,2}(?:\.[\w=-]{0,4000}){0,3}"),
    ),
    ("Discord token", re.compile(r"[MNO][A-Za-z\d]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])")),
    ("Mailchimp key", re.compile(r"[0-9a-f]{32}-us\d{1,2}(?![\w-])")),
    ("Mailgun key", re.compile(r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![\w-])")),
    ("Azure client secret", re.compile(r"[\w~.-]{3}\dQ~[\w~.-]{31,34}(?![\w~.-])", re.ASCII)),
    (
        "wallet key",
        re.compile(r"(?:5[HJK][1-9A-HJ-NP-Za-km-z]{49}|[KL][1-9A-HJ-NP-Za-km-z]{51})(?![\w-])"),
    ),
)
_PART: Final = re.compile(r"[A-Za-z0-9]+")
_NAME: Final = re.compile(
    r"[a-z]{1,16}|[A-Z]{1,16}|[A-Z][a-z]{1,15}|[a-z]{1,12}\d{1,2}|[a-z]{0,3}\d[a-z]\d{1,2}"
)
_TELLING: Final = re.compile(
    r"\w*(?:key|tok|token|secret|pat|auth)|api|live|test|prod|production|sandbox|sk|rk|"
    r"access|oauth|bot|priv|private|pwd|pass|cred|at|rt|svc|sa|admin|personal",
    re.IGNORECASE,
)
"""Parts of a prefix which say that a key follows."""
_BUILT_DIGIT: Final = re.compile("[0-9]")
_FILE: Final = re.compile(
    r"\.(?:js|css|map|json|png|jpe?g|svg|gif|webp|html?|py|md|txt|gz|zip|whl|log|so)\b"
)
_MOST_NAMES, _LONGEST_NAMES = 5, 14
_LEAST_TOLD, _LEAST, _LEAST_HEX = 20, 28, 32
"""Random characters: behind a prefix that tells, behind another, and if they are hexadecimal."""
_LONGEST: Final = 300
_CONTEXT: Final = 60
"""Characters before a value in which the name of its service stands."""
_JOINED: Final = re.compile(r"[\"'`]?\s{0,3}(?::|=|=>|\bis|->|\||,)\s{0,3}[\"'`*]{0,3}$|\s[\"'`]?$")
_WORDS: Final = re.compile(r"[A-Za-z]+")


def _find_built(text: str, start: int, end: int) -> Iterator[DetectedSpan]:
    """Return the key that a run without blanks is, if it is one."""
    while start < end and not text[start].isalnum():
        start += 1
    while end > start and text[end - 1] in ".-~":
        end -= 1
    for kind, pattern in _SHAPES:
        match = pattern.match(text, start)
        if match is not None and bits(match.group()) > 3:
            yield kind, start, match.end()
            return
    if end - start > _LONGEST or _FILE.search(text, end - 6, end + 6):
        return
    run = text[start:end]
    if _beside_service(text, start, run):
        yield "key of a service", start, end
    elif _prefixed(run, in_path=text[start - 1 : start] == "/"):
        yield "token", start, end


def _beside_service(text: str, start: int, run: str) -> bool:
    """Return whether a random value follows the name of a service whose keys nothing marks."""
    if not (looks_random(run, _LEAST_TOLD) or is_uuid(run)):
        return False
    before = text[max(0, start - _CONTEXT) : start].rpartition("\n")[2]
    joined = _JOINED.search(before)
    if joined is None:
        return False
    words = [word.lower() for word in _WORDS.findall(before[: joined.start()])][-4:]
    return IDENTIFIES.isdisjoint(words) and not SERVICES.isdisjoint(words)


def _prefixed(run: str, *, in_path: bool) -> bool:
    """Return whether a run begins with the name of something and goes on at random."""
    parts = [*_PART.finditer(run)]
    count = 0
    while count < min(_MOST_NAMES, len(parts) - 1) and _NAME.fullmatch(parts[count].group()):
        count += 1
    names, tail = [part.group() for part in parts[:count]], parts[count:]
    words = {name.lower() for name in names}
    telling = any(map(_TELLING.fullmatch, names))
    if not names or words & PUBLISHED or ((words & NAMED or in_path) and not telling):
        return False
    rest = run[tail[0].start() :]
    if is_uuid(rest):
        return telling
    if not _BUILT_DIGIT.search(rest) or not looks_random(rest, _LEAST_TOLD):
        return False
    lengths = [len(part.group()) for part in tail]
    if is_hex(_joined(tail)):
        short = count <= 2 and sum(map(len, names)) <= _LONGEST_NAMES
        return max(lengths) >= _LEAST_HEX and (telling or short)
    chance = sum(len(part.group()) for part in tail if _by_chance(part.group()))
    least = _LEAST_TOLD if telling else _LEAST
    return sum(lengths) >= least and chance * 10 >= sum(lengths) * 6


def _joined(parts: list[re.Match[str]]) -> str:
    return "".join(part.group() for part in parts)


def _by_chance(part: str) -> bool:
    return len(part) >= 6 and not wordlike(part)

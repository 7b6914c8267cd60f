"""Random values that nothing marks as those of a known service, but that are built like keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memoryware.guard import _plausible
from memoryware.guard._names import IDENTIFIES, NAMED, PUBLISHED, SERVICES
from memoryware.guard.finding import Span

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
_DIGIT: Final = re.compile("[0-9]")
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


def find(text: str, start: int, end: int) -> Iterator[Span]:
    """Return the key that a run without blanks is, if it is one."""
    while start < end and not text[start].isalnum():
        start += 1
    while end > start and text[end - 1] in ".-~":
        end -= 1
    for kind, pattern in _SHAPES:
        match = pattern.match(text, start)
        if match is not None and _plausible.bits(match.group()) > 3:
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
    """Say whether a random value follows the name of a service whose keys nothing marks."""
    if not (_plausible.looks_random(run, _LEAST_TOLD) or _plausible.is_uuid(run)):
        return False
    before = text[max(0, start - _CONTEXT) : start].rpartition("\n")[2]
    joined = _JOINED.search(before)
    if joined is None:
        return False
    words = [one.lower() for one in _WORDS.findall(before[: joined.start()])][-4:]
    return IDENTIFIES.isdisjoint(words) and not SERVICES.isdisjoint(words)


def _prefixed(run: str, *, in_path: bool) -> bool:
    """Say whether a run begins with the name of something and goes on at random."""
    parts = [*_PART.finditer(run)]
    count = 0
    while count < min(_MOST_NAMES, len(parts) - 1) and _NAME.fullmatch(parts[count].group()):
        count += 1
    names, tail = [one.group() for one in parts[:count]], parts[count:]
    words = {one.lower() for one in names}
    telling = any(map(_TELLING.fullmatch, names))
    if not names or words & PUBLISHED or ((words & NAMED or in_path) and not telling):
        return False
    rest = run[tail[0].start() :]
    if _plausible.is_uuid(rest):
        return telling
    if not _DIGIT.search(rest) or not _plausible.looks_random(rest, _LEAST_TOLD):
        return False
    lengths = [len(one.group()) for one in tail]
    if _plausible.is_hex(_joined(tail)):
        short = count <= 2 and sum(map(len, names)) <= _LONGEST_NAMES
        return max(lengths) >= _LEAST_HEX and (telling or short)
    chance = sum(len(one.group()) for one in tail if _by_chance(one.group()))
    least = _LEAST_TOLD if telling else _LEAST
    return sum(lengths) >= least and chance * 10 >= sum(lengths) * 6


def _joined(parts: list[re.Match[str]]) -> str:
    return "".join(one.group() for one in parts)


def _by_chance(part: str) -> bool:
    return len(part) >= 6 and not _plausible.wordlike(part)

"""Tokens that are known by their form: by what they begin with, or by how they are built."""

from __future__ import annotations

import re
import string
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from memoryware.guard import _plausible
from memoryware.guard._vendors import LED, NO_ENTROPY_NEEDED, VENDORS, WIDE
from memoryware.guard.finding import Span


@dataclass(frozen=True, slots=True)
class _Rule:
    kind: str
    prefix: str
    body: re.Pattern[str]
    varied: bool
    leads: bool


def _rules() -> dict[str, list[_Rule]]:
    by_start = defaultdict(list)
    for kind, prefixes, body in VENDORS:
        pattern = re.compile(f"(?:{body})(?![A-Za-z0-9])")
        for prefix in prefixes.split():
            rule = _Rule(kind, prefix, pattern, kind not in NO_ENTROPY_NEEDED, kind in LED)
            by_start[prefix[:2]].append(rule)
    for rules in by_start.values():
        rules.sort(key=lambda rule: -len(rule.prefix))
    return dict(by_start)


_BY_START: Final = _rules()
_RUN: Final = re.compile(r"[A-Za-z0-9_.~-]{16,}")
_SIGNS: Final = string.ascii_letters + string.digits + "_.~-"
_DIGIT: Final = re.compile("[0-9]")
_INNER: Final = re.compile(r"(?<=[_.~-])[A-Za-z0-9]")
_WEB_TOKEN: Final = re.compile(r"eyJ[\w-]{8,4000}={0,2}\.[\w-]{8,8000}={0,2}(?:\.[\w=-]{0,4000}){0,3}")
_DISCORD: Final = re.compile(r"[MNO][A-Za-z\d]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])")
_MAILCHIMP: Final = re.compile(r"[0-9a-f]{32}-us\d{1,2}(?![\w-])")
_MAILGUN: Final = re.compile(r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![\w-])")
_ENTRA: Final = re.compile(r"[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}(?![\w~.-])")
_WALLET: Final = re.compile(
    r"(?:5[HJK][1-9A-HJ-NP-Za-km-z]{49}|[KL][1-9A-HJ-NP-Za-km-z]{51})(?![\w-])"
)
_SHAPES: Final = (
    ("web token (JWT)", _WEB_TOKEN),
    ("Discord token", _DISCORD),
    ("Mailchimp key", _MAILCHIMP),
    ("Mailgun key", _MAILGUN),
    ("Azure client secret", _ENTRA),
    ("wallet key", _WALLET),
)
_PREFIXED: Final = re.compile(r"(?P<prefix>[A-Za-z][A-Za-z0-9]{1,15}(?:[_.-][A-Za-z0-9]{1,8}){0,3}?[_.-])(?P<tail>[A-Za-z0-9]{20,255})$")
_SECRET_PREFIX: Final = re.compile(
    r"(?i)(?:^|[_.-])(?:\w*(?:key|tok|token|secret)|pat|api|live|test|prod|sk|rk|auth|access|"
    r"oauth|bot|priv|private|pwd|pass|cred|at|rt|svc|sa)(?:$|[_.-])"
)
_NAMED: Final = frozenset(
    (
        "sha sha1 sha256 sha512 md5 blake2b blake3 commit rev ref etag hash digest checksum id img"
        " image file chunk build req request trace span msg message chatcmpl resp call run thread"
        " asst cs pi price prod cus evt ch in sub si seti src txn tr acct batch toolu toolcall obj"
        " object node session job task event user org proj team doc page block item row main vendor"
        " index bundle style app asset cache layer snap vol ami subnet vpc sg eni pod container"
        " pk pub public cluster digest fingerprint uuid guid nonce cid bafy version release tmp"
        " temp log backup invoice order payment cid fp css module polyfills runtime styles"
    ).split()
)
"""First words of identifiers that are long, random, and no secret."""
_PUBLIC: Final = frozenset("pk pub public publishable".split())
_LONG: Final = 28
"""Letters and digits behind a prefix that says nothing."""


def runs(text: str) -> list[tuple[int, int]]:
    """Return the places that are long enough without a blank to be a token."""
    return [run.span() for run in _RUN.finditer(text)]


def find(text: str, places: list[tuple[int, int]]) -> Iterator[Span]:
    """Return the tokens of known services, and those that are built like such a token.

    Args:
        text: What is looked through.
        places: Its `runs`.
    """
    yield from _wide(text)
    for start, end in places:
        if text[start:end].islower() and not _DIGIT.search(text, start, end):
            continue
        found = False
        for span in _known(text, start, end):
            found = True
            yield span
        if not found:
            yield from _built(text, start, end)


def known(text: str, seams: Iterable[int]) -> Iterator[Span]:
    """Return the tokens of known services that reach over one of these places."""
    behind = 0
    for seam in seams:
        left = text[max(0, seam - 255) : seam]
        start = seam - len(left) + len(left.rstrip(_SIGNS))
        run = _RUN.match(text, start)
        if run is not None and start < seam < run.end() and start >= behind:
            behind = run.end()
            yield from _known(text, start, behind)


def _wide(text: str) -> Iterator[Span]:
    """Return the tokens that may have signs in them at which a run ends."""
    if "/" not in text and "+" not in text:
        return
    for prefix in WIDE:
        at = text.find(prefix)
        while at >= 0:
            found = _begins(text, at) if not text[max(0, at - 1) : at].isalnum() else None
            if found is not None:
                yield found
            at = text.find(prefix, at + len(prefix) if found is None else found[2])


def _known(text: str, start: int, end: int) -> Iterator[Span]:
    behind = 0
    for at in (start, *(one.start() for one in _INNER.finditer(text, start + 1, end))):
        found = _begins(text, at) if at >= behind else None
        if found is not None:
            yield found
            behind = found[2]


def _begins(text: str, at: int) -> Span | None:
    for rule in _BY_START.get(text[at : at + 2], ()):
        if not text.startswith(rule.prefix, at):
            continue
        match = rule.body.match(text, at + len(rule.prefix))
        if match is None:
            continue
        body = match.group()
        good = not _plausible.stands_in(body, names=False) and not _plausible.in_series(body)
        if good and (not rule.varied or _varied(body)):
            while rule.leads and at and (text[at - 1].isdigit() or text[at - 1] == ":"):
                at -= 1
            return rule.kind, at, match.end()
    return None


def _varied(body: str) -> bool:
    words = not body.isalnum() or body.islower()
    return _plausible.bits(body) >= 2.6 and not (words and _plausible.wordlike(body))


def _built(text: str, start: int, end: int) -> Iterator[Span]:
    while start < end and not text[start].isalnum():
        start += 1
    while end > start and text[end - 1] in ".-~":
        end -= 1
    for kind, pattern in _SHAPES:
        match = pattern.match(text, start)
        if match is not None and _plausible.bits(match.group()) > 3:
            yield kind, start, match.end()
            return
    if end - start > 300:
        return
    match = _PREFIXED.match(text, start, end)
    if match is None:
        return
    prefix, tail = match["prefix"], match["tail"]
    words = {one for one in re.split(r"[_.-]", prefix.lower()) if one}
    telling = _SECRET_PREFIX.search(prefix) is not None
    if words & _PUBLIC or (words & _NAMED and not telling):
        return
    if _plausible.is_hex(tail):
        good = telling and len(tail) >= 32
    else:
        good = len(tail) >= (20 if telling else _LONG)
    if good and _plausible.looks_random(tail, 20):
        yield "token", start, end

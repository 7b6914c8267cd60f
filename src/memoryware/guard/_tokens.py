"""Tokens that are known by their form: by what they begin with, or by how they are built."""

from __future__ import annotations

import re
import string
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from memoryware.guard import _plausible
from memoryware.guard._vendors import ANY_UUID, LED, SERVICES, VENDORS, WIDE
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
            rule = _Rule(kind, prefix, pattern, kind not in ANY_UUID, kind in LED)
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
_PART: Final = re.compile(r"[A-Za-z0-9]+")
_NAME_PART: Final = re.compile(r"^(?:[a-z]{1,16}|[A-Z]{1,16}|[A-Z][a-z]{1,15}|[a-z]{1,12}\d{1,2}|[a-z]{0,3}\d[a-z]\d{1,2})$")
_TELLING: Final = re.compile(
    r"(?i)^(?:\w*(?:key|tok|token|secret|pat|auth)|api|live|test|prod|production|sandbox|sk|rk|"
    r"access|oauth|bot|priv|private|pwd|pass|cred|at|rt|svc|sa|admin|personal)$"
)
_NAMED: Final = frozenset(
    (
        "sha sha1 sha256 sha512 md5 blake2b blake3 commit rev ref etag hash digest checksum id img"
        " image file chunk build req request trace span msg message chatcmpl resp call run thread"
        " asst cs pi price prod cus evt ch in sub si seti src txn tr acct batch toolu toolcall obj"
        " object node session job task event user org proj team doc page block item row main vendor"
        " index bundle style app asset cache layer snap vol ami subnet vpc sg eni pod container"
        " pk pub public cluster digest fingerprint uuid guid nonce cid bafy version release tmp"
        " temp log backup invoice order payment fp css module polyfills runtime styles rs fc ws"
        " rev revision head base tree blob patch diff gist repo pull issue ticket case feature branch"
        " host node zone region stack policy role param device user client customer message chat"
        " channel room group member contact lead deal account report export import archive snapshot"
        " photo video audio media upload download attachment thumb avatar icon font sprite model"
        " checkpoint dataset embedding vector chunk index shard partition topic queue stream offset"
        " schema table migration lock cache nonce state code verifier challenge sri integrity"
        " transaction tx block address contract wallet ipfs qm bafybei did urn oid arn eth btc"
        " sidecar deployment replicaset service ingress job cron pipeline workflow step artifact"
        " linux windows macos darwin ubuntu debian alpine python node npm pip cargo go java"
        " request response session cookie visitor experiment variant flag event metric span page"
    ).split()
)
"""First words of identifiers that are long, random, and no secret."""
_PUBLIC: Final = frozenset("pk pub public publishable".split())
_LONG: Final = 28
"""Letters and digits behind a prefix that says nothing."""
_LONGEST: Final = 300
_FILE: Final = re.compile(r"\.(?:js|css|map|json|png|jpe?g|svg|gif|webp|html?|py|md|txt|gz|zip|whl|log|so)\b")


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
    if end - start <= _LONGEST and not _FILE.search(text, end - 6, end + 6):
        run = text[start:end]
        if _beside_service(text, start, run):
            yield "key of a service", start, end
        elif _prefixed(text[start:end], in_path=text[start - 1 : start] == "/"):
            yield "token", start, end


def _beside_service(text: str, start: int, run: str) -> bool:
    """Say whether a random value is assigned to the name of a service, or follows it."""
    if len(run) < 20 or not _plausible.looks_random(run, 20):
        return _plausible.is_uuid(run) and _assigned_to_service(text, start)
    return _assigned_to_service(text, start)


def _assigned_to_service(text: str, start: int) -> bool:
    before = text[max(0, start - _CONTEXT) : start].rpartition("\n")[2]
    match = _SIGN.search(before)
    if match is None:
        return False
    words = [one.lower() for one in _WORDS.findall(before[: match.start()])][-4:]
    return not _IDENTIFIES.intersection(words) and not SERVICES.isdisjoint(words)


_CONTEXT: Final = 60
_SIGN: Final = re.compile(r"[\"'`]?\s{0,3}(?::|=|=>|\bis|->|\||,)\s{0,3}[\"'`*]{0,3}$|\s[\"'`]?$")
_WORDS: Final = re.compile(r"[A-Za-z]+")
_IDENTIFIES: Final = frozenset(
    (
        "id ids commit sha hash page file event trace issue project org organisation organization"
        " workspace database build deploy deployment release version sha1 sha256 md5 image digest"
        " object record order customer account zone user team board card list ticket case public"
        " publishable site url link session request ref app fingerprint checksum uuid dsn client"
    ).split()
)
"""Words beside a random value that is no secret."""


def _prefixed(run: str, *, in_path: bool) -> bool:
    """Say whether a run begins with the name of something and goes on at random."""
    parts = [*_PART.finditer(run)]
    names = 0
    while names < min(5, len(parts) - 1) and _NAME_PART.match(parts[names].group()):
        names += 1
    if not names:
        return False
    words = {one.group().lower() for one in parts[:names]}
    if words & _PUBLIC:
        return False
    telling = any(_TELLING.match(one.group()) for one in parts[:names])
    if (words & _NAMED or in_path) and not telling:
        return False
    tail = run[parts[names].start() :]
    solid = sum(len(one.group()) for one in parts[names:])
    if _plausible.is_uuid(tail):
        return telling
    if _plausible.is_hex(tail.replace("-", "").replace("_", "")):
        longest = max(len(one.group()) for one in parts[names:])
        short = sum(len(one.group()) for one in parts[:names]) <= 14 and names <= 2
        return longest >= 32 and (telling or short) and _plausible.looks_random(tail, 32)
    chance = sum(len(one.group()) for one in parts[names:] if _by_chance(one.group()))
    if not _DIGIT.search(tail):
        return False
    enough = solid >= (20 if telling else _LONG) and chance * 10 >= solid * 6
    return enough and _plausible.looks_random(tail, 20)


def _by_chance(part: str) -> bool:
    return len(part) >= 6 and not _plausible.wordlike(part)

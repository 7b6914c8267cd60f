"""The detectors of `Guard`: secrets, and personal data by LangChain's own detectors.

The time is linear: every pattern looks at a bounded number of characters, and starts only where its
first word stands. There is one look for what there could be, then rules only where it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from memoryware import _langchain
from memoryware.guard._assigned import find_assigned, find_unread
from memoryware.guard._forms import find_forms
from memoryware.guard._scan import Mention, Scan, View, joined, mentions, plain
from memoryware.guard._sentence_secrets import find_in_sentence
from memoryware.guard._service_tokens import find_tokens, known_tokens, runs
from memoryware.guard.guard import Span

_ASSIGNED: Final = 6
"""What it costs to look for a value that is assigned to a word."""
_BROKEN_OFF: Final = ("\n", "\r", '"', "'", "`", "\\")
"""What stands behind the first piece of a token that goes on elsewhere."""


def find_secrets(text: str) -> Iterator[Span]:
    """Return kind, start and end of every secret; what names a kind best comes first."""
    view = plain(text)
    places = runs(view.text)
    yield from _placed(view, _found(Scan(view.text, view.text.lower()), places))
    if any(view.text[end : end + 1] in _BROKEN_OFF for _, end in places):
        pieces, seams = joined(view)
        yield from _placed(pieces, known_tokens(Scan(pieces.text, ""), seams))


def _placed(view: View, spans: Iterator[Span]) -> Iterator[Span]:
    for kind, start, end in spans:
        yield kind, *view.span(start, end)


def _found(scan: Scan, places: list[tuple[int, int]]) -> Iterator[Span]:
    yield from find_tokens(scan, places)
    yield from find_forms(scan.text, scan.low)
    yield from _find_cards(scan.text)
    behind = 0
    for mention in mentions(scan):
        if mention.start < behind:
            continue  # a word inside a secret
        spans = _beside(scan, mention)
        behind = max([behind, *(end for _, _, end in spans)])
        yield from spans
    yield from find_unread(scan)


def _beside(scan: Scan, mention: Mention) -> list[Span]:
    """Return the secrets beside a word for one."""
    if not scan.afford(mention.start, _ASSIGNED):
        return []
    spans = [*find_assigned(scan, mention)]
    if spans:
        return spans
    said = find_in_sentence(scan, mention)
    return [said] if said is not None else []


# Numbers of payment cards.

KIND: Final = "credit card number"
_CARD_NUMBER: Final = re.compile(
    r"(?<![\w.+/:#@&=%-])(?:[0-9][ -]?){12,18}[0-9](?![\w%-]|[.:/][0-9])"
)
_ASSIGNED_NUMBER: Final = re.compile(r"(?<=[:=\"'])(?:[0-9][ -]?){12,18}[0-9](?![\w%-]|[.:/][0-9])")
_ISSUERS: Final = re.compile(
    r"""
      4[0-9]{12}(?:[0-9]{3}(?:[0-9]{3})?)?                                   # Visa
    | (?:5[1-5][0-9]{2}|222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}
    | 3[47][0-9]{13}                                                         # American Express
    | (?:6011|65[0-9]{2}|64[4-9][0-9])[0-9]{12}                              # Discover
    | 3(?:0[0-5]|[68][0-9])[0-9]{11}                                         # Diners Club
    | 35(?:2[89]|[3-8][0-9])[0-9]{12}                                        # JCB
    | 62[0-9]{14,17}                                                         # UnionPay
    """,
    re.VERBOSE,
)
_GROUPS: Final = re.compile(
    r"[0-9]{4}([ -])[0-9]{4}\1[0-9]{4}\1[0-9]{1,7}|[0-9]{4}([ -])[0-9]{6}\2[0-9]{4,5}"
)
_CARD: Final = re.compile(
    r"card|visa|mastercard|maestro|amex|american express|credit|debit|\bpay|\bcc\b|karte|carte|"
    r"tarjeta|cart[ãa]o|carta|kaart|kart|карт|卡|カード|카드",
    re.IGNORECASE,
)
_IDENTIFIES: Final = re.compile(
    r"(?:\b|_|[a-z](?=I))(?:ids?|uids?|gids?|order|ticket|trace|track\w*|number|nr|no|num|invoice|"
    r"customer|account|user|ts|time\w*|ref\w*|serial|sku|ean|gtin|isbn|imei|iccid|epoch|job|run|build|"
    r"span|session|request|message|msg|tweet|post|page|parcel|shipment|bestell\w*|rechnung\w*|"
    r"kunden\w*|commande|pedido|ordine|zamówieni\w*|seed|size|bytes|offset|version)"
    r"\W{0,3}(?:is|was|ist|=|:|\#)?\W{0,3}$",
    re.IGNORECASE,
)
"""Words right before a number that is the id of something, or a time."""
_BEFORE: Final = 40


def _find_cards(text: str) -> Iterator[Span]:
    """Return the numbers of payment cards in a text."""
    for pattern in (_CARD_NUMBER, _ASSIGNED_NUMBER):
        for match in pattern.finditer(text):
            value = match.group()
            digits = value.replace(" ", "").replace("-", "")
            if _ISSUERS.fullmatch(digits) and _passes(digits) and _is_card(text, match):
                yield KIND, *match.span()


def _is_card(text: str, match: re.Match[str]) -> bool:
    """Say whether a number that could be one of a card is not the id of something else."""
    before = text[max(0, match.start() - _BEFORE) : match.start()]
    if _CARD.search(before):
        return True
    solid = match.group().isdigit()
    if not solid and not _GROUPS.fullmatch(match.group()):
        return False
    return _IDENTIFIES.search(before) is None


def _passes(digits: str) -> bool:
    """Say whether the last digit is the check digit of those before it (Luhn)."""
    total = 0
    for place, one in enumerate(reversed(digits)):
        number = int(one)
        if place % 2:
            number = number * 2 - 9 * (number > 4)
        total += number
    return total % 10 == 0


# Personal data: by LangChain's own detectors, and telephone numbers.

_KINDS: Final = {
    "email": "e-mail address",
    "phone": "phone number",
    "credit_card": "credit card number",
    "ip": "IP address",
    "mac_address": "MAC address",
}
_BEFORE_AT, _AFTER_AT = 64, 255
"""Characters that an address has before and after its `@`."""
_FEWEST_DIGITS, _MOST_DIGITS = 7, 15
_PHONE_NUMBER: Final = re.compile(
    r"""
    (?<![\w.+/:-])
    (?: (?P<abroad> (?:\+|00(?=[1-9]))\d{1,3} [\s./-]? (?:\(0?\d{1,5}\)[\s./-]?)?
        \d [\d\s./-]{4,16} \d )
      | (?P<american> (?:1[ .-])? (?:\(\d{3}\)\s?|\d{3}[. -]) \d{3}[. -]\d{4} )
      | (?P<national> \(?0\d{2,4}\)? [ /-]{1,3} \d [\d -]{4,10} \d )
      | (?P<other> \(?\d [\d\s()./-]{5,18} \d ) )
    (?![\w-]|[./:]\d)
    """,
    re.VERBOSE,
)
_CALLS: Final = re.compile(
    r"(?:phone|\btel\b|telef|mobile|\bmobil|\bcell\b|\bcall\b|\bring\b|handy|\bsms\b|whatsapp|"
    r"téléphone|portable|móvil|cellulare|celular|numer|телефон|电话|電話|手机|携帯|전화)",
    re.IGNORECASE,
)
_CALLED_WITHIN: Final = 30
"""Characters before a number in which it says that it is one of a telephone."""
_DATE: Final = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}")
_NOT_A_DIGIT: Final = re.compile(r"\D")


def find_personal_data(text: str, kinds: Sequence[str]) -> Iterator[Span]:
    """Return the personal data of these kinds in the text."""
    detectors = _langchain.personal_detectors()
    for kind in kinds:
        if kind == "phone":
            spans = _phones(text)
        elif kind == "email":
            spans = _emails(text, detectors[kind])
        else:
            spans = _places(detectors[kind], text, 0, len(text))
        for start, end in spans:
            yield _KINDS[kind], start, end


def _places(
    detect: Callable[[str], Any], text: str, start: int, end: int
) -> Iterator[tuple[int, int]]:
    for match in detect(text[start:end]):
        yield start + match["start"], start + match["end"]


def _emails(text: str, detect: Callable[[str], Any]) -> Iterator[tuple[int, int]]:
    """Return the addresses around each `@`: the detector's time is square in a long word."""
    behind, at = 0, text.find("@")
    while at >= 0:
        start, end = max(behind, at - _BEFORE_AT), min(len(text), at + _AFTER_AT)
        behind = max(at + 1, end - _BEFORE_AT)
        for place in _places(detect, text, start, end):
            if place[1] == end < len(text) and place[0] > at:
                behind = place[0]  # it may go on behind the window
                break
            yield place
            behind = max(behind, place[1])
        at = text.find("@", behind)


def _phones(text: str) -> Iterator[tuple[int, int]]:
    for match in _PHONE_NUMBER.finditer(text):
        digits = len(_NOT_A_DIGIT.sub("", match.group()))
        plausible = _FEWEST_DIGITS <= digits <= _MOST_DIGITS and not _DATE.fullmatch(match.group())
        if plausible and (match.lastgroup != "other" or _is_called(text, match.start())):
            yield match.span()


def _is_called(text: str, at: int) -> bool:
    return _CALLS.search(text, max(0, at - _CALLED_WITHIN), at) is not None

"""Numbers of payment cards: of a known issuer and length, with the check digit of Luhn."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memoryware.guard.finding import Span

KIND: Final = "credit card number"
_NUMBER: Final = re.compile(r"(?<![\w.+/:#@&=%-])(?:[0-9][ -]?){12,18}[0-9](?![\w%-]|[.:/][0-9])")
_ASSIGNED: Final = re.compile(r"(?<=[:=\"'])(?:[0-9][ -]?){12,18}[0-9](?![\w%-]|[.:/][0-9])")
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


def find(text: str) -> Iterator[Span]:
    """Return the numbers of payment cards in a text."""
    for pattern in (_NUMBER, _ASSIGNED):
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

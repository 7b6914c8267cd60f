"""Personal data, by LangChain's own detectors, and telephone numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from memoryware import _langchain
from memoryware.guard.guard import DetectedSpan

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


def find_personal_data(text: str, kinds: Sequence[str]) -> Iterator[DetectedSpan]:
    """Return the personal data of these kinds in the text."""
    detectors = _langchain.personal_detectors()
    for kind in kinds:
        if kind == "phone":
            spans = _phones(text)
        elif kind == "email":
            spans = _emails(text, detectors[kind])
        else:
            spans = _matches_in(detectors[kind], text, 0, len(text))
        for start, end in spans:
            yield _KINDS[kind], start, end


def _matches_in(
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
        for span in _matches_in(detect, text, start, end):
            if span[1] == end < len(text) and span[0] > at:
                behind = span[0]  # it may go on behind the window
                break
            yield span
            behind = max(behind, span[1])
        at = text.find("@", behind)


def _phones(text: str) -> Iterator[tuple[int, int]]:
    for match in _PHONE_NUMBER.finditer(text):
        digits = len(_NOT_A_DIGIT.sub("", match.group()))
        plausible = _FEWEST_DIGITS <= digits <= _MOST_DIGITS and not _DATE.fullmatch(match.group())
        if plausible and (match.lastgroup != "other" or _is_called(text, match.start())):
            yield match.span()


def _is_called(text: str, at: int) -> bool:
    return _CALLS.search(text, max(0, at - _CALLED_WITHIN), at) is not None

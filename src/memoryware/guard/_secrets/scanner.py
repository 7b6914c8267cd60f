"""Find secrets in a text: every detector, run only where its first word stands.

Detectors read a view of the text without characters that hide and in one spelling, so that a secret
is not missed because a zero-width character or a line break stands in it. Every place in a view
leads back to its place in the text.

The time is linear: every pattern looks at a bounded number of characters, and starts only where its
first word stands. There is one look for what there could be, then rules only where it is.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import Final

from memoryware.guard._secrets.assigned import find_assigned, find_unread
from memoryware.guard._secrets.forms import FORM_GATES, find_forms
from memoryware.guard._secrets.lexicon import BEGINNINGS, OTHER_STEMS, SAYS_OTHERWISE, STEMS
from memoryware.guard._secrets.secret_values import UNSPACED, Sort, sort_of
from memoryware.guard._secrets.sentence_secrets import find_in_sentence
from memoryware.guard._secrets.service_tokens import TOKEN_RUN, find_tokens, known_tokens
from memoryware.guard._secrets.text_scan import DetectedSpan, Mention, TextScan
from memoryware.guard._secrets.vendors import WIDE

_ASSIGNED: Final = 6
"""What it costs to look for a value that is assigned to a word."""
_BROKEN_OFF: Final = ("\n", "\r", '"', "'", "`", "\\")
"""What stands behind the first piece of a token that goes on elsewhere."""
_DIGIT: Final = re.compile("[0-9]")


def find_secrets(text: str) -> Iterator[DetectedSpan]:
    """Return kind, start and end of every secret; what names a kind best comes first."""
    view = plain_view(text)
    runs = [run.span() for run in TOKEN_RUN.finditer(view.text)]
    yield from _original(view, _secrets_in(TextScan(view.text, view.text.lower()), runs))
    if any(view.text[end : end + 1] in _BROKEN_OFF for _, end in runs):
        pieces, seams = joined_view(view)
        yield from _original(pieces, known_tokens(TextScan(pieces.text, ""), seams))


def _original(view: View, spans: Iterator[DetectedSpan]) -> Iterator[DetectedSpan]:
    """Yield spans of a view with their offsets in the original text."""
    for kind, start, end in spans:
        yield kind, *view.span(start, end)


def _secrets_in(scan: TextScan, runs: list[tuple[int, int]]) -> Iterator[DetectedSpan]:
    """Yield the secrets of a view.

    Each group of rules has a gate, which most texts do not pass: a look for characters without
    which none of the rules can apply.

    Args:
        scan: The scan of the view.
        runs: Places that are long enough without a blank to be a token.
    """
    text, low = scan.text, scan.low
    tokens = [
        (start, end)
        for start, end in runs
        if not text[start:end].islower() or _DIGIT.search(text, start, end)  # no words
    ]
    if tokens or any(prefix in text for prefix in WIDE):
        yield from find_tokens(scan, tokens)
    if any(gate in low for gate in FORM_GATES):
        yield from find_forms(text, low)
    yield from _find_cards(text)
    behind = 0
    for mention in _mentions(scan):
        if mention.start < behind:
            continue  # a word inside a secret
        spans = _beside(scan, mention)
        behind = max([behind, *(end for _, _, end in spans)])
        yield from spans
    if scan.spent:
        yield from find_unread(scan)


def _beside(scan: TextScan, mention: Mention) -> list[DetectedSpan]:
    """Return the secrets beside a word for one."""
    if not scan.afford(mention.start, _ASSIGNED):
        return []
    spans = [*find_assigned(scan, mention)]
    if spans:
        return spans
    span = find_in_sentence(scan, mention)
    return [span] if span is not None else []


# Views: the text as a detector reads it.

_HIDDEN: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff"
)
"""What has no width; it is left out of the view."""
_SPELLED: Final = {
    **{chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},  # full width
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033\u300c\u300d\u300e\u300f", '"'),
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2039\u203a\u2032", "'"),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63", "-"),
    **dict.fromkeys("\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009", " "),
    **dict.fromkeys("\u200a\u202f\u205f\u3000", " "),
    "\u3002": ".",
    "\u3001": ",",
    "\u0130": "I",  # the one letter that is longer in lower case
}
_TO_SPELL: Final = re.compile("[" + re.escape("".join(_SPELLED)) + "]")
_TO_HIDE: Final = re.compile(f"[{_HIDDEN}]+")
_ODD: Final = re.compile("[" + re.escape("".join(_SPELLED)) + _HIDDEN + "]")
_NOTED: Final = "[redacted: "
_NOTE: Final = re.compile(r"\[redacted: [^\]\n]{1,60}\]")
_SEAM: Final = re.compile(
    r"""["'`][ \t]{0,80}(?:[+.&\\][ \t]{0,80})?(?:\r?\n[ \t]{0,80}(?:[+.&][ \t]{0,80})?)?["'`]"""
    r"""|\\\r?\n[ \t]{0,80}"""
)
"""Between two pieces of one string, or of one continued line."""
_BROKEN: Final = re.compile(
    r"""(["'`])[^\s"'`]{4,200}(?:[ \t]{0,80}\r?\n[ \t]{0,80}[^\s"'`]{1,200}){1,8}\1"""
)
_BREAK: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class View:
    """A text to look through, and for each of its characters the place in the original."""

    text: str
    offsets: list[int] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the place in the original of what is not empty in the view."""
        if self.offsets is None or start >= end:
            return start, end
        return self.offsets[start], self.offsets[end - 1] + 1

    def without(self, cuts: Iterable[tuple[int, int]]) -> View:
        """Return a view in which these pieces are left out."""
        pieces: list[str] = []
        offsets: list[int] = []
        position = 0
        for start, end in [*cuts, (len(self.text), len(self.text))]:
            pieces.append(self.text[position:start])
            offsets += range(position, start)
            position = end
        if self.offsets is not None:
            offsets = [self.offsets[position] for position in offsets]
        return View("".join(pieces), offsets)


def plain_view(text: str) -> View:
    """Return the text without what hides, with one spelling of quotes, dashes and blanks.

    The notes that redaction leaves are dots, so that their words announce nothing.
    """
    if _NOTED in text:
        text = _NOTE.sub(lambda match: f"[{'.' * (len(match.group()) - 2)}]", text)
    if text.isascii():
        return View(text)
    if not _ODD.search(text):
        return View(text)
    view = View(_TO_SPELL.sub(lambda match: _SPELLED[match.group()], text))
    cuts = [match.span() for match in _TO_HIDE.finditer(view.text)]
    return view.without(cuts) if cuts else view


def joined_view(view: View) -> tuple[View, list[int]]:
    """Return the view with strings put together that are written in pieces, and the seams."""
    text = view.text
    cuts = [match.span() for match in _SEAM.finditer(text)]
    if '"' in text or "'" in text or "`" in text:
        for match in _BROKEN.finditer(text):
            inner = _BREAK.finditer(text, *match.span())
            cuts += [blank.span() for blank in inner]
    cuts = _apart(cuts)
    seams, gone = [], 0
    for start, end in cuts:
        seams.append(start - gone)
        gone += end - start
    return (view.without(cuts) if cuts else view), seams


def _apart(cuts: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the cuts in order, those that overlap as one."""
    apart: list[tuple[int, int]] = []
    for start, end in sorted(cuts):
        if apart and start < apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    return apart


# Mentions: words that announce a secret.

_INSIDE: Final = string.ascii_letters + string.digits + "_-."
_LETTER: Final = (
    "(?:(?![\u0e00-\u0eff\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])[\\w.-])"
)
"""A letter of a script that puts blanks between words, or a sign inside an identifier."""
_REST: Final = re.compile(f"{_LETTER}{{0,60}}")
_BACKWARDS: Final = re.compile(f"{_LETTER}*")
_NETWORK: Final = re.compile(r"ssid|wi-?fi|wlan|wpa|netzwerk|hotspot")
"""What makes a key or a code near it that of a wireless network."""
_STEPS: Final = 2
"""What looking at a word costs."""
_WIDEST: Final = 60
"""Characters of an identifier that are looked at before the word for a secret."""


def _mentions(scan: TextScan) -> Iterator[Mention]:
    """Return every word that announces a secret, each once, in the order of the text.

    Where too many stand together, those for which the budget of their place has nothing left are
    passed over.
    """
    text, last_start = scan.text, -1
    for at, stem, sort in _hits(text, scan.low):
        if not scan.afford(at, _STEPS):
            continue
        if sort is not None:
            yield Mention(sort, at, at + len(stem), unspaced=True)
            continue
        start = -1 if stem in BEGINNINGS and _goes_on(text, at) else _start(text, at)
        if start > last_start:
            last_start = start
            mention = _mention(text, scan.low, start, _end(text, at + len(stem)))
            if mention is not None:
                yield mention


def _hits(text: str, low: str) -> list[tuple[int, str, Sort | None]]:
    """Return where stems of words for secrets stand, in order, and the sort of unspaced ones."""
    ascii_only = text.isascii()
    hits: list[tuple[int, str, Sort | None]] = []
    for stem in STEMS if ascii_only else (*STEMS, *OTHER_STEMS):
        at = low.find(stem)
        while at >= 0:
            hits.append((at, stem, None))
            at = low.find(stem, at + len(stem))
    for word, sort in () if ascii_only else UNSPACED.items():
        at = low.find(word)
        while at >= 0:
            hits.append((at, word, sort))
            at = low.find(word, at + len(word))
    hits.sort(key=itemgetter(0))
    return hits


def _mention(text: str, low: str, start: int, end: int) -> Mention | None:
    announced = sort_of(text[start:end])
    if announced is None:
        return None
    sort, last = announced
    if sort is not Sort.PASSWORD:
        before = text[max(0, start - 20) : start].rpartition("\n")[2].split()
        if before and before[-1].lower().strip("\"'`,*_()[]") in SAYS_OTHERWISE:
            return None
    back, ahead = {Sort.KEY: (60, 0), Sort.CODE: (12, 12)}.get(sort, (0, 0))
    if back and _NETWORK.search(low, max(0, start - back), end + ahead):
        sort = Sort.PASSWORD
    return Mention(sort, start, end, last)


def _goes_on(text: str, at: int) -> bool:
    """Return whether the word has begun before this place."""
    return at > 0 and text[at - 1].isalpha() and text[at].islower()


def _start(text: str, at: int) -> int:
    chunk = text[max(0, at - _WIDEST) : at]
    if chunk.isascii():
        start = at - len(chunk) + len(chunk.rstrip(_INSIDE))
    else:
        begun = _BACKWARDS.match(chunk[::-1])
        start = at - begun.end() if begun else at
    while start < at and text[start] in "-.":
        start += 1
    return start


def _end(text: str, at: int) -> int:
    rest = _REST.match(text, at)
    end = rest.end() if rest else at
    while end > at and text[end - 1] in "-._":
        end -= 1
    return end


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
    r"span|session|request|message|msg|thread|channel|chat|guild|conversation|tweet|post|page|parcel|shipment|bestell\w*|rechnung\w*|"
    r"kunden\w*|commande|pedido|ordine|zamówieni\w*|seed|size|bytes|offset|version)"
    r"\W{0,3}(?:is|was|ist|=|:|\#)?\W{0,3}$",
    re.IGNORECASE,
)
"""Words right before a number that is the id of something, or a time."""
_BEFORE: Final = 40


def _find_cards(text: str) -> Iterator[DetectedSpan]:
    """Return the numbers of payment cards in a text."""
    for pattern in (_CARD_NUMBER, _ASSIGNED_NUMBER):
        for match in pattern.finditer(text):
            value = match.group()
            digits = value.replace(" ", "").replace("-", "")
            if _ISSUERS.fullmatch(digits) and _passes(digits) and _is_card(text, match):
                yield KIND, *match.span()


def _is_card(text: str, match: re.Match[str]) -> bool:
    """Return whether a number that could be one of a card is not the id of something else."""
    before = text[max(0, match.start() - _BEFORE) : match.start()]
    if _CARD.search(before):
        return True
    solid = match.group().isdigit()
    if not solid and not _GROUPS.fullmatch(match.group()):
        return False
    return _IDENTIFIES.search(before) is None


def is_numeric_id(kind: str, name: str, start: int, end: int) -> bool:
    """Return whether what was found in a name is the number of a user or a thread, and no card.

    Ids of chat platforms have 16 to 19 digits, and one in ten of these has the check digit of a
    card. Only a name that speaks of a card, or writes the number in groups, has one of a card.

    Args:
        kind: What was found.
        name: The name.
        start: Where the finding begins, in characters.
        end: Where it ends.

    Returns:
        Whether it is.
    """
    return kind == KIND and name[start:end].isdigit() and _CARD.search(name[:start]) is None


def _passes(digits: str) -> bool:
    """Return whether the last digit is the check digit of those before it (Luhn)."""
    total = 0
    for position, digit in enumerate(reversed(digits)):
        number = int(digit)
        if position % 2:
            number = number * 2 - 9 * (number > 4)
        total += number
    return total % 10 == 0

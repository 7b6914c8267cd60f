"""Secrets that stand as a value behind their name, or in a column under it, in whatever format."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memoryware.guard._secrets.secret_values import (
    Sort,
    announces,
    assigned,
    further,
    has_digit,
    is_address,
    is_strong,
    stands_in,
    trimmed,
    wordlike,
)
from memoryware.guard._secrets.text_scan import DetectedSpan, Mention, TextScan

_AFTER: Final = re.compile(
    r"""
    [\\"'`\])}*_]{0,6} (?:\s{0,3}\([^()\n]{0,40}\))? [*_`]{0,3}   # what closes the name
    (?:
        \s{0,4}:\s{0,3}[A-Za-z_.]{3,20}(?:\[[^\]\n]{0,30}\])?(?:\s?\|\s?None)?\s{0,3}=(?!=)
      | [ \t]{0,20}(?:\|{1,2}=|:=|=>|->|[!=]={1,2}|=|:{1,2}|\|{1,2}|\t)
      | ["'`]?[ \t]{0,4}[,;]?\s{0,40}["']?               # "name": "x", "value": ...
        (?i:value|val|default|content|text|data)["']?\s{0,4}[:=]
      | (?P<tuple>["'`]\s{0,4},(?=\s{0,4}["'`]))          # ("password", "...")
    )
    [*_]{0,3} \s{0,20}
    (?:[|>][-+]?\s{1,40} | ![\w!]{1,12}\s{1,3})?         # YAML: a block, a tag
    """,
    re.VERBOSE,
)
_VALUE: Final = re.compile(
    r"""
      \\["'](?P<escaped>[^"'\\\n]{1,8000})\\["']
    | (?:[bBrRuUfF@$]{0,2} | [A-Za-z.:]{1,30}\() ["'`]{0,2} (?P<mark>["'`])
      (?P<quoted>(?:\\. | (?!(?P=mark))[^\n\\]){1,8000}) (?P=mark)
    | (?P<bare>(?:(?!\\[nrt])[^\s"'`,;<>|]){1,256} (?:,[^\s"'`,;<>|]{1,64}){0,3})
    """,
    re.VERBOSE,
)
_JUDGED: Final = 256
"""Characters of a value without quotes that are judged; it may go on."""
_REST: Final = re.compile(r"(?:(?!\\[nrt])[^\s\"'`,;<>|])*")
_ELEMENT: Final = re.compile(
    r"""["']?(?:\s[^<>\n]{0,120})?>\s{0,20}(?:<!\[CDATA\[)?
        (?P<value>[^<>\n\]]{3,400}?)\s{0,20}(?:\]\]>)?</""",
    re.VERBOSE,
)
_FLAG: Final = re.compile(r"(?:\s{1,3}|\s{0,2}=\s{0,2})[\"']?(?P<value>[^\s\"'`|;&<>]{3,400})")
_BLANK: Final = re.compile(r"[ \t]{1,8}(?P<value>[^\s\"'`|;,<>]{5,200})[ \t]*(?=\r?\n|$|#)")
_CALLED: Final = re.compile(r"\(\s{0,4}[\"'`](?P<value>[^\"'`\n]{4,200})[\"'`]\s{0,4}\)")
_LINE_END: Final = re.compile(r"[\s,;\\\"'`)}\]*_.#|]{0,12}(?=\n|$)")
_SMALL_WORD: Final = re.compile(r"[a-z]{2,}")
_NOT_ASSIGNED: Final = (Sort.LOGIN, Sort.SEED, Sort.OPENER)
_Place = tuple[int, int] | None


def find_assigned(scan: TextScan, mention: Mention) -> Iterator[DetectedSpan]:
    """Return the values that are assigned to the word, or stand under it, and are secrets."""
    text = scan.text
    if mention.sort in _NOT_ASSIGNED or _in_resource_name(text, mention):
        return
    kind = _kind(text, mention)
    span = _placed(text, mention)
    if span is not None:
        yield kind, *span
    else:
        for start, end in _find_in_table(scan, mention):
            yield kind, start, end


def _in_resource_name(text: str, mention: Mention) -> bool:
    """Return whether the word stands between colons, as in `arn:aws:...:secret:name`."""
    return text.startswith(":", mention.end) and _before(text, mention) == ":"


def _before(text: str, mention: Mention) -> str:
    return text[max(0, mention.start - 1) : mention.start]


def _kind(text: str, mention: Mention) -> str:
    if mention.sort is Sort.TOKEN and "key" in text[mention.start : mention.end].lower():
        return "API key"
    return mention.sort.value


def _placed(text: str, mention: Mention) -> _Place:
    after = _AFTER.match(text, mention.end)
    if after is not None:
        return _value(text, mention, after)
    before = _before(text, mention)
    if before in ("<", ":") or text.startswith(('">', "'>"), mention.end):
        return _judged(text, mention, _ELEMENT.match(text, mention.end), quoted=True)
    if before == "-":
        return _judged(text, mention, _FLAG.match(text, mention.end), quoted=False)
    called = _CALLED.match(text, mention.end)
    if called is not None:
        return _judged(text, mention, called, quoted=True) if is_strong(called["value"]) else None
    if mention.sort is Sort.PASSWORD and mention.last:
        blank = _BLANK.match(text, mention.end)
        if blank is not None and has_digit(blank["value"]):
            return _judged(text, mention, blank, quoted=False)
    return None


def _judged(text: str, mention: Mention, match: re.Match[str] | None, *, quoted: bool) -> _Place:
    if match is None:
        return None
    start, end = match.span("value") if quoted else trimmed(text, *match.span("value"))
    value = text[start:end]
    good = assigned(mention.sort, value, quoted=quoted, alone=False, ends=mention.last)
    return (start, end) if good else None


def _value(text: str, mention: Mention, after: re.Match[str]) -> _Place:
    match = _VALUE.match(text, after.end())
    if match is None:
        return None
    group = match.lastgroup or "bare"
    span = match.span(group) if group != "bare" else _bare(text, mention, match)
    if span is None:
        return None
    start, end = span
    value = text[start:end]
    short = value.isalnum() and (len(value) < 8 or not has_digit(value))
    if after["tuple"] and (short or not is_strong(value)):
        return None  # a list of names rather than a name and its value
    good = assigned(
        mention.sort,
        value,
        quoted=group != "bare",
        alone=_LINE_END.match(text, end) is not None and "\n" not in after.group(),
        ends=mention.last,
        literal=_literal(text, mention),
    )
    if not good:
        return None
    rest = _REST.match(text, end) if group == "bare" and end - start >= _JUDGED else None
    if rest is not None:
        return start, rest.end()
    several = group == "bare" and mention.sort is Sort.PASSWORD and end == match.end()
    return start, further(text, end) if several else end


def _bare(text: str, mention: Mention, match: re.Match[str]) -> _Place:
    start, end = match.span("bare")
    if _before(text, mention) in ("?", "&"):
        ampersand = text.find("&", start, end)
        end = ampersand if ampersand >= 0 else end
    start, end = trimmed(text, start, end)
    if text[start - 1] in "{<":
        return None
    line = text[end : end + 80].partition("\n")[0]
    sentence = mention.sort is Sort.PASSWORD and len(_SMALL_WORD.findall(line)) > 1
    return None if sentence and not is_strong(text[start:end]) else (start, end)


def _literal(text: str, mention: Mention) -> bool:
    """Return whether the value stands in a URL or is that of a shell variable."""
    shell = text[mention.start : mention.end].isupper() and text.startswith("=", mention.end)
    return shell or _before(text, mention) in ("?", "&", ";")


# Columns of Markdown and CSV tables, under a heading that announces secrets.

_WIDEST_ROW: Final = 400
_SHORTEST: Final = 3
"""Characters of a cell that may be a secret."""
_MOST_WORDS: Final = 4
"""Words of a heading."""
_STEPS: Final = 8
"""What judging a cell costs."""
_CSV_HEADING: Final = re.compile(r"\s*[\w \"'-]{1,40}(?:,[\w \"'-]{1,40}){1,20}\s*")
_AROUND: Final = " \t\r\"'`*"


def _find_in_table(scan: TextScan, mention: Mention) -> Iterator[tuple[int, int]]:
    """Return the places of the secrets in the rows below the word.

    A cell is judged once for each thing that a heading above it announces. So a text in which
    each row is a heading of those below it takes no longer than any other table.
    """
    text = scan.text
    begin = text.rfind("\n", max(0, mention.start - _WIDEST_ROW), mention.start) + 1
    stop = text.find("\n", mention.end, mention.end + _WIDEST_ROW)
    if stop < 0:
        return
    sign = "|" if "|" in text[begin:stop] else ","
    column, columns = text.count(sign, begin, mention.start), text.count(sign, begin, stop)
    if not columns or (sign == "," and not _CSV_HEADING.fullmatch(text, begin, stop)):
        return
    heading = text[slice(*_cell(text, begin, stop, sign, column))]
    if len(heading.split()) > _MOST_WORDS:
        return  # a sentence with such a word in it
    while True:
        begin = stop + 1
        stop = text.find("\n", begin, begin + _WIDEST_ROW)
        stop = min(len(text), begin + _WIDEST_ROW) if stop < 0 else stop
        if begin >= stop or text.count(sign, begin, stop) != columns:
            return
        start, end = _cell(text, begin, stop, sign, column)
        cell = start, f"{mention.sort.value} {mention.last}"
        if cell in scan.cells or not scan.afford(begin, _STEPS):
            return
        scan.cells.add(cell)
        value = text[start:end]
        if len(value) < _SHORTEST:
            continue
        if announces(value) and not has_digit(value):
            return  # another heading
        if assigned(mention.sort, value, quoted=False, alone=True, ends=mention.last):
            yield start, end


def _cell(text: str, begin: int, stop: int, sign: str, column: int) -> tuple[int, int]:
    """Return the place of what stands in a column of a row."""
    for _ in range(column):
        begin = text.index(sign, begin, stop) + 1
    end = text.find(sign, begin, stop)
    end = stop if end < 0 else end
    while begin < end and text[begin] in _AROUND:
        begin += 1
    while end > begin and text[end - 1] in _AROUND:
        end -= 1
    return begin, end


# Values in a place that has too many words for secrets to look at each of them.
#
# Such a place is no honest prose. Rather one value too many is taken for a secret there.

_MIXED_VALUE: Final = re.compile(
    r"(?<![A-Za-z0-9])(?=[A-Za-z!@#$%^&*+_.-]{0,40}[0-9])(?=[0-9!@#$%^&*+_.-]{0,40}[A-Za-z])"
    r"[A-Za-z0-9!@#$%^&*+_.-]{8,200}"
)
_MOST_JUDGED: Final = 16
"""Values of a kilobyte that are judged one by one."""
_KIND: Final = "password"


def find_unread(scan: TextScan) -> Iterator[DetectedSpan]:
    """Return what may be a secret where the budget is spent."""
    for start, end in scan.unread():
        for count, match in enumerate(_MIXED_VALUE.finditer(scan.text, start, end + 200)):
            if match.start() >= end:
                break
            span = trimmed(scan.text, *match.span())
            if count >= _MOST_JUDGED or _may_be(scan.text[slice(*span)]):
                yield _KIND, *span


def _may_be(value: str) -> bool:
    other = stands_in(value) or is_address(value)
    return not other and not wordlike(value)

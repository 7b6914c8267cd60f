"""Secrets that stand as a value behind their name, or under it, in whatever format."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memoryware.guard._mentions import Mention
from memoryware.guard._values import assigned, is_strong, trimmed
from memoryware.guard._words import Sort, sort_of
from memoryware.guard.finding import Span

_CLOSE: Final = r"[\\\"'`\])}*_]{0,6}(?:\s{0,3}\([^()\n]{0,40}\))?[*_`]{0,3}"
_AFTER: Final = re.compile(
    _CLOSE
    + r"""(?:
        \s{0,4}:\s{0,3}(?:Final|Optional|Literal|const|[A-Za-z_.]{3,20})(?:\[[^\]\n]{0,30}\])?(?:\s?\|\s?None)?\s{0,3}=(?!=)
      | [ \t]{0,20}(?:\|{1,2}=|:=|=>|->|[!=]={1,2}|=|:{1,2}|\|{1,2}|\t)
      | ["'`]?[ \t]{0,4}[,;]?\s{0,40}["']?(?i:value|val|default|content|text|data)["']?\s{0,4}[:=]
      | ["'`]\s{0,4},(?=\s{0,4}["'`])
    )[*_]{0,3}\s{0,20}(?:[|>][-+]?\s{1,40}|![\w!]{1,12}\s{1,3})?""",
    re.VERBOSE,
)
_VALUE: Final = re.compile(
    r"""\\["'](?P<escaped>[^"'\\\n]{1,512})\\["']
      | (?:[bBrRuUfF@$]{0,2}|[A-Za-z.:]{1,30}\()["'`]{0,2}(?P<mark>["'`])(?P<quoted>(?:\\.|(?!(?P=mark))[^\n\\]){1,512})(?P=mark)
      | (?P<bare>[^\s"'`,;<>|]{1,512}(?:,[^\s"'`,;<>|]{1,64}){0,3})""",
    re.VERBOSE,
)
_ELEMENT: Final = re.compile(
    r"(?:\s[^<>\n]{0,120})?>\s{0,20}(?:<!\[CDATA\[)?(?P<value>[^<>\n\]]{3,400}?)\s{0,20}(?:\]\]>)?</"
)
_FLAG: Final = re.compile(r"(?:\s{1,3}|\s{0,2}=\s{0,2})[\"']?(?P<value>[^\s\"'`|;&<>]{3,400})")
_BLANK: Final = re.compile(r"[ \t]{1,8}(?P<value>[^\s\"'`|;,<>]{5,200})[ \t]*(?=\r?\n|$|#)")
_CALLED: Final = re.compile(r"\(\s{0,4}[\"'`](?P<value>[^\"'`\n]{4,200})[\"'`]\s{0,4}\)")
_SETS: Final = re.compile(r"(?i)^(?:set|with|change|update|use|reset|put|add)?[_.]?\w*(?:password|passwd|pwd|token|secret|apikey|api_key)$")
_LINE_END: Final = re.compile(r"[\s,;\\\"'`)}\]*_.#|]{0,12}(?=\n|$)")
_QUERY: Final = re.compile(r"[?&]$")
_IN_LINE: Final = re.compile(r"[?&;]$")
_NAMES: Final = {Sort.TOKEN: "token", Sort.KEY: "key", Sort.SECRET: "secret", Sort.PIN: "PIN"}
_MARKUP: Final = 3


def find(text: str, mention: Mention) -> Iterator[Span]:
    """Return the values that are assigned to the word and are secrets."""
    inside = text[max(0, mention.start - 1) : mention.start] == ":"
    if mention.sort in (Sort.LOGIN, Sort.SEED, Sort.OPENER) or (inside and text.startswith(":", mention.end)):
        return
    kind = _kind(text, mention)
    place = _placed(text, mention)
    if place is not None:
        yield kind, *place
        return
    for start, end in _column(text, mention):
        yield kind, start, end


def _kind(text: str, mention: Mention) -> str:
    if mention.sort in (Sort.TOKEN, Sort.KEY) and "key" in text[mention.start : mention.end].lower():
        return "API key" if mention.sort is Sort.TOKEN else "key"
    return mention.sort.value


def _placed(text: str, mention: Mention) -> tuple[int, int] | None:
    after = _AFTER.match(text, mention.end)
    if after is not None:
        return _value(text, mention, after.end(), tuple_like=after.group().rstrip().endswith(","))
    before = text[max(0, mention.start - 2) : mention.start]
    if before.endswith("<") or before.endswith(":") and text[mention.end : mention.end + 1] == ">":
        return _judged(text, mention, _ELEMENT.match(text, mention.end), quoted=True)
    if before.endswith("-"):
        return _judged(text, mention, _FLAG.match(text, mention.end), quoted=False)
    word = text[mention.start : mention.end]
    if _SETS.match(word):
        called = _CALLED.match(text, mention.end)
        if called is not None and is_strong(called["value"]):
            return _judged(text, mention, called, quoted=True)
    if mention.sort is Sort.PASSWORD and mention.last:
        blank = _BLANK.match(text, mention.end)
        if blank is not None and any(map(str.isdigit, blank["value"])):
            return _judged(text, mention, blank, quoted=False)
    return None


def _judged(
    text: str, mention: Mention, match: re.Match[str] | None, *, quoted: bool
) -> tuple[int, int] | None:
    if match is None:
        return None
    start, end = match.span("value")
    if not quoted:
        start, end = trimmed(text, start, end)
    good = assigned(
        mention.sort, text[start:end], quoted=quoted, alone=False, ends=mention.last
    )
    return (start, end) if good else None


def _value(
    text: str, mention: Mention, at: int, *, tuple_like: bool
) -> tuple[int, int] | None:
    match = _VALUE.match(text, at)
    if match is None:
        return None
    group = match.lastgroup or "bare"
    start, end = match.span(group)
    if group == "bare":
        if _QUERY.search(text[max(0, mention.start - 1) : mention.start]):
            ampersand = text.find("&", start, end)
            end = ampersand if ampersand >= 0 else end
        start, end = trimmed(text, start, end)
        if text[start - 1] in "{<":
            return None
        if mention.sort is Sort.PASSWORD and _many_words(text, end):
            # a sentence goes on behind it: "password: must have 8 characters"
            if not is_strong(text[start:end]):
                return None
    alone = _LINE_END.match(text, end) is not None
    value = text[start:end]
    if tuple_like and not (is_strong(value) and (len(value) > 7 or not value.isalnum())):
        return None
    good = assigned(
        mention.sort,
        value,
        quoted=group != "bare",
        alone=alone and "\n" not in text[mention.end : at],
        ends=mention.last,
        literal=_literal(text, mention),
    )
    return (start, end) if good else None


def _literal(text: str, mention: Mention) -> bool:
    """Say whether the value stands in a URL or is that of a shell variable."""
    shell = text[mention.start : mention.end].isupper() and text.startswith("=", mention.end)
    return shell or _IN_LINE.search(text[max(0, mention.start - 1) : mention.start]) is not None


def _column(text: str, mention: Mention) -> Iterator[tuple[int, int]]:
    """Return the secrets in the rows of a table below the word."""
    begin = text.rfind("\n", max(0, mention.start - _WIDEST_ROW), mention.start) + 1
    stop = text.find("\n", mention.end, mention.end + _WIDEST_ROW)
    if stop < 0:
        return
    sign = "|" if "|" in text[begin:stop] else ","
    number = text.count(sign, begin, mention.start)
    columns = text.count(sign, begin, stop)
    header = text[begin:stop]
    if not columns or (sign == "," and not _HEADER.match(header)):
        return
    for _ in range(_MOST_ROWS):
        begin = stop + 1
        stop = text.find("\n", begin, begin + _WIDEST_ROW)
        stop = min(len(text), begin + _WIDEST_ROW) if stop < 0 else stop
        if begin >= stop or text.count(sign, begin, stop) != columns:
            return
        cells = [*re.finditer(r"[^|]*" if sign == "|" else r"[^,]*", text[begin:stop])]
        cells = [one for one in cells if one.start() == 0 or text[begin + one.start() - 1] == sign]
        if number >= len(cells):
            return
        start, end = trimmed_cell(text, begin + cells[number].start(), begin + cells[number].end())
        if sort_of(text[start:end]) is not None and not any(map(str.isdigit, text[start:end])):
            return  # another heading
        if assigned(mention.sort, text[start:end], quoted=False, alone=True, ends=mention.last):
            yield start, end


_WIDEST_ROW: Final = 400
_MOST_ROWS: Final = 200
_HEADER: Final = re.compile(r"^\s*[\w \"'-]{1,40}(?:,[\w \"'-]{1,40}){1,20}\s*$")


def trimmed_cell(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the place of what stands in a cell, without blanks and marks around it."""
    while start < end and text[start] in " \t\"'`*":
        start += 1
    while end > start and text[end - 1] in " \t\r\"'`*":
        end -= 1
    return start, end


def _many_words(text: str, end: int) -> bool:
    line = text[end : end + 80].partition("\n")[0]
    return len(re.findall(r"[a-z]{2,}", line)) >= 2

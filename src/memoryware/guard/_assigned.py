"""Secrets that stand as a value behind their name, in whatever format."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memoryware.guard import _tables
from memoryware.guard._mentions import Mention
from memoryware.guard._scan import Scan
from memoryware.guard._values import assigned, further, has_digit, is_strong, trimmed
from memoryware.guard._words import Sort
from memoryware.guard.finding import Span

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


def find(scan: Scan, mention: Mention) -> Iterator[Span]:
    """Return the values that are assigned to the word, or stand under it, and are secrets."""
    text = scan.text
    if mention.sort in _NOT_ASSIGNED or _in_resource_name(text, mention):
        return
    kind = _kind(text, mention)
    place = _placed(text, mention)
    if place is not None:
        yield kind, *place
    else:
        for start, end in _tables.find(scan, mention):
            yield kind, start, end


def _in_resource_name(text: str, mention: Mention) -> bool:
    """Say whether the word stands between colons, as in `arn:aws:...:secret:name`."""
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
    place = match.span(group) if group != "bare" else _bare(text, mention, match)
    if place is None:
        return None
    start, end = place
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
    """Say whether the value stands in a URL or is that of a shell variable."""
    shell = text[mention.start : mention.end].isupper() and text.startswith("=", mention.end)
    return shell or _before(text, mention) in ("?", "&", ";")

"""Markers of hidden regions: recognise them among comments, and pair begin and end.

A marker begins or ends a part of a text that a tool generates, such as `<!-- BEGIN x -->`. Each
end pairs with the nearest open begin of the same name before it. A marker without a partner is
an ordinary comment.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from memoryware.sources.markdown import MarkdownSpan, plain_lines, spans

# Opens or closes a region by a word (begin, end), or by a name (`x`, and `/x` to close).
Role = Literal["begin", "end", "name", "close"]

# Key of a single comment that is protected without a partner.
KEEP: Final = re.compile(r"memoryware:keep(?!\w)")
# Characters of a comment that are searched for a marker.
_LOOKED_AT: Final = 200
_WORDS: Final[dict[str, Role]] = {
    "begin": "begin",
    "start": "begin",
    "region": "begin",
    "end": "end",
    "stop": "end",
    "endregion": "end",
}
_FIRST: Final = re.compile(
    r"(?P<sign>[#@*=+\-\[{(]*)(?P<word>begin|start|end|stop|region|endregion)"
    r"(?:[:_\-./]+(?P<key>.*))?$",
    re.IGNORECASE,
)
_LAST: Final = re.compile(
    r"(?P<key>.*\w)[:_\-./](?P<word>begin|start|end|stop)(?:[:_\-./].*)?$", re.IGNORECASE
)
# Formatters and linters: their comments are around text that people write, so not protected.
_FORMATTERS: Final = re.compile(
    r"(?:ignore|lint|prettier|cspell|spell-checker|vale)\b", re.IGNORECASE
)
_PLAIN_WORD: Final = re.compile(r"[(\"'„“]?[^\W_]+(?:['’-][^\W_]+)*[.,;:!?)\"'”]*")
# Plain words after a name from which a comment is a remark of a person.
_REMARK_WORDS: Final = 3
# Words of a remark, however short it is.
_OF_SENTENCES: Final = re.compile(r"of|my|our|your|i|we|about|from|some", re.IGNORECASE)
# Words with which tools say in a marker that a part is theirs.
_OF_TOOLS: Final = re.compile(
    r"(?:auto|generat|managed|maintained|inserted|script|tool|(?:don['’]?t|not)\b|keep\b)",
    re.IGNORECASE,
)
_SPECIAL: Final[dict[str, tuple[Role, str]]] = {
    "tocstop": ("close", "toc"),
    "[[[cog": ("begin", "[[[cog"),
    "[[[end]]]": ("end", "[[[cog"),
}


class MarkerComment(NamedTuple):
    """A comment outside code.

    Attributes:
        role: What it does as a marker; any comment may turn out to be a name.
        key: What it begins or ends.
    """

    start: int
    end: int
    role: Role
    key: str


class MarkerPair(NamedTuple):
    """Two markers with what is between them."""

    begin: MarkerComment
    end: MarkerComment

    @property
    def span(self) -> tuple[int, int]:
        """Where it is, markers included."""
        return self.begin.start, self.end.end


@dataclass(slots=True)
class MarkedText:
    """A text with its comments and markers.

    Attributes:
        text: The text itself.
        plain: With LF line endings, each character at its index.
        comments: All closed comments outside code, in order.
        pairs: All pairs of markers, nested ones as well, by their end.
        code: Code outside comments.
    """

    text: str
    plain: str
    comments: list[MarkerComment] = field(default_factory=list)
    pairs: list[MarkerPair] = field(default_factory=list)
    code: list[MarkdownSpan] = field(default_factory=list)


def find_markers(text: str) -> MarkedText:
    """Find the comments and the pairs of markers in a text."""
    result = MarkedText(text, plain_lines(text))
    for span in spans(result.plain) if "<!--" in text else ():
        if span.kind == "code":
            result.code.append(span)
        elif span.kind == "comment":
            # Only the beginning: a comment may be a megabyte long, and markers are short.
            body = result.plain[span.start + 4 : min(span.end - 3, span.start + _LOOKED_AT)]
            result.comments.append(MarkerComment(span.start, span.end, *role_of(body)))
    result.pairs = _pairs(result.comments)
    return result


def role_of(body: str) -> tuple[Role, str]:
    """Return the role of a comment as a marker, and its key."""
    first, *more = body.split() or [""]
    if first in _SPECIAL:
        return _SPECIAL[first]
    if first.startswith("/") and _clean(first):
        return "close", _clean(first[1:])
    role: Role = "name"
    key = first
    if by_first := _FIRST.match(first):
        names = [word for word in more if _names(word)]
        plainly_said = first.isupper() or by_first["sign"] or by_first["key"] is not None
        if plainly_said or len(names) <= 1:
            role = _WORDS[by_first["word"].lower()]
            key = by_first["key"] or next(iter(names), "")
    elif by_last := _LAST.match(first.rstrip(":,;")):
        role, key = _WORDS[by_last["word"].lower()], by_last["key"]
    elif len(more) == 1 and more[0].lower() in _WORDS:
        role = _WORDS[more[0].lower()]
    if role == "name" and not KEEP.match(_clean(key)) and _is_prose(more):
        return "name", ""
    if role != "name" and _FORMATTERS.search(key):
        return "name", _clean(first)
    return role, _clean(key)


def _is_prose(words: Sequence[str]) -> bool:
    """Return whether the words after a name are a remark of a person, not the options of a tool.

    Real files carry remarks such as `<!-- braindump: rules from our reviews -->` at their top and
    `<!-- /braindump -->` at their end. Taken for markers they would close the whole file.
    """
    plain = sum(_PLAIN_WORD.fullmatch(word) is not None for word in words)
    is_sentence = plain >= _REMARK_WORDS or any(map(_OF_SENTENCES.fullmatch, words))
    return is_sentence and not any(map(_OF_TOOLS.match, words))


def _clean(key: str) -> str:
    return key.strip("/:,;.-#=*+[](){}").casefold()


def _names(word: str) -> bool:
    return bool(re.search(r"\w", word)) and word.lower() not in ("of", "the")


def _pairs(comments: Sequence[MarkerComment]) -> list[MarkerPair]:
    """Match each end to the nearest beginning; an end without a name to that of any name."""
    pairs: list[MarkerPair] = []
    begun: list[MarkerComment] = []
    waiting: dict[tuple[Role, str], list[MarkerComment]] = defaultdict(list)
    closed: set[int] = set()
    for comment in comments:
        if comment.role in ("begin", "name"):
            waiting[comment.role, comment.key].append(comment)
            begun += [comment] * (comment.role == "begin")
            continue
        opening: Role = "begin" if comment.role == "end" else "name"
        nearest = waiting[opening, comment.key] if comment.key else begun
        while nearest and nearest[-1].start in closed:
            nearest.pop()
        if nearest:
            begin = nearest.pop()
            closed.add(begin.start)
            pairs.append(MarkerPair(begin, comment))
    return pairs


# What is protected: regions between markers, or all other comments outside code as well.
Which = Literal["marked", "all"]
_NAMED_AT_MOST: Final = 64
_UNNAMED: Final = re.compile(r"[^\w:./ -]")


@dataclass(frozen=True, slots=True)
class Region:
    """A protected part of a text.

    Attributes:
        name: The name in its marker, for people; other comments are named by their line.
        start: Its first character.
        end: The character after it.
        text: All of it, markers included.
    """

    name: str
    start: int
    end: int
    text: str


def find_regions(marks: MarkedText, which: Which) -> list[Region]:
    """Return the protected parts of a text in order, the outermost ones."""
    single = (
        marks.comments
        if which == "all"
        else [comment for comment in marks.comments if _is_protected(comment)]
    )
    spans = [(*pair.span, _readable_name(pair.begin.key) or "region") for pair in marks.pairs]
    spans += [
        (comment.start, comment.end, _readable_name(comment.key) if _is_protected(comment) else "")
        for comment in single
    ]
    regions, end, line, counted = [], 0, 1, 0
    for start, stop, name in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= end:
            line += marks.plain.count("\n", counted, start)
            counted, end = start, stop
            region = Region(name or f"comment in line {line}", start, stop, marks.text[start:stop])
            regions += [region] * _stands_alone(region.text)
    return regions


def _stands_alone(text: str) -> bool:
    """Return whether a region is self-contained: code that begins in it ends in it."""
    if "`" not in text and "~~~" not in text:
        return True
    whole = (0, len(text))
    marks = find_markers(text)
    return whole in [
        *(pair.span for pair in marks.pairs),
        *(comment[:2] for comment in marks.comments),
    ]


def protected_pairs(marks: MarkedText) -> list[MarkerPair]:
    """Return all pairs, and comments that are protected by themselves as pairs of their own."""
    return [
        *marks.pairs,
        *(MarkerPair(comment, comment) for comment in marks.comments if _is_protected(comment)),
    ]


def _is_protected(comment: MarkerComment) -> bool:
    return comment.role in ("begin", "name") and bool(KEEP.match(comment.key))


def _readable_name(key: str) -> str:
    return _UNNAMED.sub("", key)[:_NAMED_AT_MOST]

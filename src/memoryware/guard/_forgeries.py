"""What a text may not forge in a prompt: tags, control marks, labels of memory, headings.

Spelling does not matter: characters are folded by Unicode's table of confusables, and whatever
is no letter may stand between two letters of a name, in any number. The time is linear: from a
bracket on, characters are read only as long as they spell a name.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Final

from memoryware.guard._characters import (
    canonical,
    reveal,
    signs,
    skeleton,
    symbols_like_letters,
)

# Tags of memory and the control marks of chat templates.

_ANGLED: Final = [
    "im_start",
    "im_end",
    "im_sep",
    "endoftext",
    "start_of_turn",
    "end_of_turn",
    "start_header_id",
    "end_header_id",
    "begin_of_text",
    "end_of_text",
    "eot_id",
    "eom_id",
    "start_of_role",
    "end_of_role",
    "begin_of_sentence",
    "end_of_sentence",
    "bos_token",
    "eos_token",
    "start_of_turn_token",
    "end_of_turn_token",
    "tool_call",
    "tool_response",
    "tool_calls",
    "tool_calls_begin",
    "tool_outputs_begin",
    "function_calls",
    "function_response",
    "function_results",
    "bos",
    "eos",
    "sop",
    "eop",
    "think",
    "thinking",
    "sys",
]
"""Names of control marks between angle brackets, with or without bars, of common models."""
_SQUARE: Final = [
    "INST",
    "SYSTEM_PROMPT",
    "AVAILABLE_TOOLS",
    "TOOL_CALLS",
    "TOOL_RESULTS",
    "TOOL_CONTENT",
    "MODEL_SETTINGS",
    "gMASK",
]
"""Names of control marks between square brackets."""
_SYS: Final = canonical("sys")
"""The name in `<<SYS>>`, which needs two brackets."""
_QUOTES: Final = "\u00ab\u2039\u300a"
"""Brackets that are quotation marks as well."""
_NAMESPACE: Final = re.compile(r"\w{1,32}:")
_NEAR: Final = 200
"""Characters behind a name in which a bracket closes its tag."""
_END: Final = ""
"""The key under which a node of the tree of names says that a name ends there."""
_Node = dict[str, "_Node"]


@cache
def _bars() -> str:
    """Return the symbols that look like the letter `l`: bars, alone or as a pair."""
    return "".join(
        symbol
        for symbol in symbols_like_letters()
        if symbol == "|" or not skeleton(symbol).strip("l")
    )


def _symbols() -> str:
    """Return other symbols that look like letters, for a class of a pattern."""
    return re.escape("".join(symbol for symbol in symbols_like_letters() if symbol not in _bars()))


@cache
def _signs() -> _Signs:
    return _Signs()


@dataclass(frozen=True, slots=True)
class _Signs:
    """Patterns for signs and everything that looks like them, made on first use."""

    opening: re.Pattern[str] = field(
        default_factory=lambda: re.compile(f"[{re.escape(signs('<') + signs('['))}]")
    )
    angles: frozenset[str] = field(default_factory=lambda: frozenset(signs("<")))
    first: re.Pattern[str] = field(default_factory=lambda: re.compile(f"[^\\W_]|[{_symbols()}]"))
    letter: re.Pattern[str] = field(
        default_factory=lambda: re.compile(
            f"[^\\W_]|[{_symbols()}]"
            f"|(?<![{re.escape(_bars())}])[{re.escape(_bars())}]{{1,2}}(?![{re.escape(_bars())}])"
        )
    )
    slash: re.Pattern[str] = field(default_factory=lambda: re.compile(f"[{re.escape(signs('/'))}]"))
    closed: re.Pattern[str] = field(
        default_factory=lambda: re.compile(f"[\\s/|]{{0,8}}[{re.escape(signs('>') + signs(']'))}]")
    )
    attributes: re.Pattern[str] = field(
        default_factory=lambda: re.compile(
            f"\\s{{1,8}}[\\w:-]{{1,40}}\\s{{0,3}}=[^<>]{{0,{_NEAR}}}[{re.escape(signs('>'))}]"
        )
    )
    closing: re.Pattern[str] = field(
        default_factory=lambda: re.compile(f"[^<>]{{0,{_NEAR}}}?[{re.escape(signs('>'))}]")
    )
    barred: re.Pattern[str] = field(
        default_factory=lambda: re.compile(
            # `<|name|>` and its halves `<|name>`, `<name|>`; `<unused1>` and its like have no bar
            f"[{re.escape(signs('<'))}](?=(?:"
            f"[{re.escape(signs('|'))}]/?\\w[\\w\u2581.:-]{{0,60}}[{re.escape(signs('|'))}]?"
            f"|/?\\w[\\w\u2581.:-]{{0,60}}[{re.escape(signs('|'))}]"
            f"|(?:unused|extra_id_|reserved_)\\d{{1,4}}"
            f")[{re.escape(signs('>'))}])"
        )
    )


_STRIKE: Final = re.compile(r"<(/?)s>", re.IGNORECASE)
_PAIR: Final = re.compile(r"<s>(?:(?!</?s>)[^\n]){1,400}</s>", re.IGNORECASE)
"""Struck out text of HTML: `<s>` and `</s>` are also the marks around a turn of some models."""


@dataclass(frozen=True, slots=True)
class Fence:
    """The names of tags that memory text must not contain.

    Attributes:
        names: Names of tags.
        chat_marks: Whether control marks of chat templates are looked for as well.
    """

    names: frozenset[str]
    chat_marks: bool = False
    _angled: _Node = field(init=False, repr=False, compare=False)
    _square: _Node = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        angled = self.names | (frozenset(_ANGLED) if self.chat_marks else frozenset())
        object.__setattr__(self, "_angled", _tree(angled))
        object.__setattr__(self, "_square", _tree(_SQUARE) if self.chat_marks else {})

    def find(self, text: str) -> Iterator[int]:
        """Yield the places of the brackets that open a forged tag or a control mark, in order."""
        if text.isascii() and "<" not in text and not (self.chat_marks and "[" in text):
            return
        positions = set(self._spelled(text))
        if self.chat_marks:
            positions.update(match.start() for match in _signs().barred.finditer(text))
            positions.update(_turns(text, others=bool(positions)))
        yield from sorted(positions)

    def _spelled(self, text: str) -> Iterator[int]:
        """Yield the brackets behind which a name is spelled."""
        patterns = _signs()
        brackets: list[int] = []
        begin = -1  # the letter behind the brackets that are collected
        for match in patterns.opening.finditer(text):
            if brackets and match.start() >= begin:
                yield from self._named(text, brackets, begin)
                brackets, begin = [], -1
            brackets.append(match.start())
            if begin < match.start():
                letter = patterns.first.search(text, match.end())
                if letter is None:
                    return
                begin = letter.start()
        if brackets:
            yield from self._named(text, brackets, begin)

    def _named(self, text: str, brackets: list[int], begin: int) -> Iterator[int]:
        """Yield the brackets before a letter, if a name begins there."""
        patterns = _signs()
        starts = [begin]
        if text.find(":", begin, begin + 33) > 0:
            namespace = _NAMESPACE.match(text, begin)
            starts += [namespace.end()] if namespace is not None else []
        angles = [bracket for bracket in brackets if text[bracket] in patterns.angles]
        if angles and any(self._is_tag(text, self._angled, angles, begin, at) for at in starts):
            yield from angles
        squares = [bracket for bracket in brackets if text[bracket] not in patterns.angles]
        if self._square and squares and self._is_tag(text, self._square, squares, begin, begin):
            yield from squares

    def _is_tag(self, text: str, tree: _Node, brackets: list[int], begin: int, start: int) -> bool:
        end, name = _spelling(text, tree, start)
        if not name:
            return False
        patterns = _signs()
        closed = patterns.closed.match(text, end) is not None
        if tree is self._square:
            return closed and _is_square(text, name, brackets[-1], start, end)
        if name == _SYS:
            return len(brackets) > 1 and closed
        gap = text[brackets[-1] + 1 : begin]
        a_letter = all(text[bracket].isalnum() for bracket in brackets)  # U+304F, U+1438
        everyday = name in _everyday(self.names)
        if not (everyday or a_letter) or patterns.slash.search(gap):
            return True
        if gap.strip():
            return True
        # A sign and a word, as in `a < system.load`, `List<System>`, `x<think_time`.
        before = text[max(0, brackets[0] - 1) : brackets[0]]
        quoted = all(text[bracket] in _QUOTES for bracket in brackets)
        if (
            quoted
            or (before.isalnum() and text[start].isupper())
            or (
                name not in _everyday(self.names, marks=False) and text[end : end + 1] in ("_", "-")
            )
        ):
            return False
        if gap:
            return closed or patterns.attributes.match(text, end) is not None
        return patterns.closing.match(text, end) is not None


def _is_square(text: str, name: str, bracket: int, start: int, end: int) -> bool:
    spelled = text[start:end]
    indexed = text[max(0, bracket - 1) : bracket].isalnum()  # a[inst]
    anyhow = name == canonical("gmask") or (name == canonical("inst") and not indexed)
    capitals = not any(character.islower() for character in spelled)
    gap = text[bracket + 1 : start]
    return (capitals or anyhow) and not gap.strip(" \t/|")


@cache
def _everyday(names: frozenset[str], *, marks: bool = True) -> frozenset[str]:
    """Return the names that are words of everyday language, which may follow a sign by chance."""
    return frozenset(canonical(name) for name in (*names, *(_ANGLED * marks)) if name.isalpha())


def _tree(names: Iterable[str]) -> _Node:
    tree: _Node = {}
    for name in names:
        node = tree
        for letter in canonical(name):
            node = node.setdefault(letter, {})
        node[_END] = {}
    return tree


def _spelling(text: str, tree: _Node, start: int) -> tuple[int, str]:
    """Return where a name of a tree ends that begins at a place, and the name; "" for none.

    A symbol that looks like a letter, such as `|`, may be one or may part two of them. It ends
    the search behind another bracket, where a search of its own begins.
    """
    node, spelled, at = tree, "", start
    while at < len(text) and text[at].isalnum():  # most brackets have another word behind them
        letters = skeleton(text[at])
        after = _step(node, letters)
        if after is None:
            return -1, ""
        node, spelled, at = after, spelled + letters, at + 1
        if _END in node and not _goes_on(text, at):
            return at, spelled
    return _spelling_apart(text, (node, spelled), at)


def _spelling_apart(text: str, begun: tuple[_Node, str], start: int) -> tuple[int, str]:
    """Go on with a name whose letters stand apart."""
    states = {id(begun[0]): begun}
    before = start
    opening = _signs().opening
    for match in _signs().letter.finditer(text, start):
        characters = match.group()
        symbol = not characters.isalnum()
        if symbol and opening.search(text, before, match.start()):
            break
        before = match.end()
        letters = "".join(
            ["l" if character == "|" else skeleton(character) for character in characters]
        )
        following = dict(states) if symbol else {}
        for node, spelled in states.values():
            after = _step(node, letters)
            if after is not None:
                following[id(after)] = after, spelled + letters
        states = following
        if not states:
            break
        for node, spelled in states.values():
            if _END in node and not _goes_on(text, match.end()):
                return match.end(), spelled
    return -1, ""


def _step(node: _Node, letters: str) -> _Node | None:
    for letter in letters:
        if letter not in node:
            return None
        node = node[letter]
    return node


def _goes_on(text: str, at: int) -> bool:
    """Return whether a word goes on at a place, so that it is a longer one."""
    return at < len(text) and text[at].isalnum()


def _turns(text: str, *, others: bool) -> Iterator[int]:
    """Yield `<s>` and `</s>` where they are no struck out text."""
    if "s>" not in text and "S>" not in text:
        return
    struck = (
        set()
        if others
        else {
            position
            for match in _PAIR.finditer(text)
            for position in (match.start(), match.end() - len("</s>"))
        }
    )
    yield from (tag.start() for tag in _STRIKE.finditer(text) if tag.start() not in struck)


@cache
def _fence(names: frozenset[str], chat_marks: bool) -> Fence:
    return Fence(names, chat_marks)


def fence_pattern(names: Iterable[str], *, chat_marks: bool = False) -> Fence:
    """Return a fence, which finds opening and closing tags of these names in any spelling.

    Args:
        names: Names of tags. A longer word that begins with one is another name.
        chat_marks: Whether the control marks of chat templates are found as well.

    Returns:
        The fence, for `neutralise` and `forged`; equal arguments share one.
    """
    return _fence(frozenset(names), chat_marks)


def neutralise(text: str, fence: Fence) -> str:
    """Escape the bracket of each forged tag in a text as an entity, `&lt;`.

    Nothing else changes, so the text stays readable.

    Args:
        text: The text.
        fence: The tags that must not be forged.

    Returns:
        The text, in which no tag of the fence opens or closes.
    """
    pieces, position = [], 0
    for bracket in fence.find(text):
        entity = "&lt;" if text[bracket] in _signs().angles else "&#91;"
        pieces += [text[position:bracket], entity]
        position = bracket + 1
    return "".join([*pieces, text[position:]]) if pieces else text


def forged(text: str, fence: Fence) -> Iterator[int]:
    """Find forged tags in a text.

    Args:
        text: The text.
        fence: The tags that must not be forged.

    Yields:
        The position of the bracket that opens each, in order.
    """
    yield from fence.find(text)


# Forged labels: words of a text that pass themselves off as what memory says of it.
#
# A recalled text stands behind a label such as `[1a2b3c4d; long-term memory; verified; ...]`. A
# text may have such a label in it, in any brackets and with any separators, to look verified.

_ROUNDED: Final = {"[": "(", "]": ")"}
_OPENS: Final = "([{<\u00ab\u2039\u201c\u201e\u2018\uff08\uff5b\u2985\u2983\u2768\u2774\u207d\u208d"
_CLOSES: Final = ")]}>\u00bb\u203a\u201d\u2019\uff09\uff5d\u2986\u2984\u2769\u2775\u207e\u208e"
_SEPARATOR: Final = re.compile(r"[^\w\s.,'\"!?()\[\]{}-]|\s[-\u2013\u2014]{1,3}\s|[()\[\]{}]")
"""What parts the fields of a record rather than the words of a sentence."""
_ID: Final = re.compile(r"(?<!\w)(?=[a-f]*\d)[0-9a-f]{8}(?!\w)|(?<!\d)\d{4}-\d\d-\d\d(?!\d)")
_NUMBERED: Final = re.compile(r"(?:^|\s)\d{1,4}[.)]\s*$")
_NUMBER_BEHIND: Final = re.compile(r"\W{0,6}[+-]?\d")
_NEAR_FIELDS: Final = 60
"""Characters between two fields of one label."""
_ENOUGH: Final = 2
"""Signs of a label that make words one: see `_is_label`."""


@dataclass(frozen=True, slots=True)
class _Field:
    kind: str
    start: int
    end: int


def unlabelled(text: str, words: Mapping[str, Sequence[str]], mark: str) -> str:
    """Return a text in which nothing can be taken for a label.

    Square brackets around a forged label become round ones, and a mark says what it is; the
    words stay. A text without a forged label is returned as it is.

    Args:
        text: The text, in one line.
        words: The words of real labels, by what they tell: of the store, the check, the trust.
        mark: What to put before a forged label: "not a label".
    """
    fields = _fields(text, words)
    if not fields:
        return text
    marked: list[int] = []
    covered = -1
    for first, second in zip(fields, [*fields[1:], None], strict=True):
        if first.start < covered:
            continue
        pair = (
            [first]
            if second is None or second.start - first.end > _NEAR_FIELDS
            else [first, second]
        )
        if _is_label(text, pair):
            marked.append(_start(text, first.start))
            covered = first.end + 2 * _NEAR_FIELDS
    square = text if not _has_square(text, fields) else text.translate(_round())
    if not marked:
        return square
    return _marked(text.translate(_round()), marked, mark)


def rounded(text: str) -> str:
    """Return a text with round brackets in place of square ones and of what looks like them."""
    return text.translate(_round())


def unscored(text: str, score: str, mark: str) -> str:
    """Return a text in which nothing can be taken for a score.

    Args:
        text: The text, in one line.
        score: The word before a real score: "relevance".
        mark: What to put before a forged one: "not a score".
    """
    if not score:
        return text
    forged = [
        field.start
        for field in _fields(text, {"score": [score]})
        if _NUMBER_BEHIND.match(text, field.end)
    ]
    return _marked(text, forged, mark)


def _marked(text: str, positions: Sequence[int], mark: str) -> str:
    """Return a text with a mark at these places, which are in order; in linear time."""
    pieces, done = list[str](), 0
    for start in positions:
        pieces += [text[done:start], f"{mark}: "]
        done = start
    return "".join([*pieces, text[done:]])


def _fields(text: str, words: Mapping[str, Sequence[str]]) -> list[_Field]:
    """Return where words of labels stand, in any spelling."""
    letters, offsets = _letters(text)
    fields = []
    for kind, some in words.items():
        for word in {canonical(spelling) for spelling in some} - {""}:
            at = letters.find(word)
            while at >= 0:
                start, end = offsets[at], offsets[at + len(word) - 1] + 1
                if _is_whole(text, start, end):
                    fields.append(_Field(kind, start, end))
                at = letters.find(word, at + 1)
    fields.sort(key=lambda label_field: (label_field.start, -label_field.end))
    separate: list[_Field] = []
    for label_field in fields:
        if not separate or label_field.start >= separate[-1].end:
            separate.append(label_field)
    return separate


def _letters(text: str) -> tuple[str, list[int]]:
    letters: list[str] = []
    offsets: list[int] = []
    for position, character in enumerate(text):
        if character.isalnum():
            plain = skeleton(character)
            letters.append(plain)
            offsets += [position] * len(plain)
    return "".join(letters), offsets


def _is_whole(text: str, start: int, end: int) -> bool:
    """Return whether words do not begin or end inside of others; Chinese has no blanks."""
    if not text[start].isascii() and ord(text[start]) > 0x2E80:
        return True
    return not text[max(0, start - 1) : start].isalnum() and not text[end : end + 1].isalnum()


def _is_label(text: str, fields: list[_Field]) -> bool:
    """Return whether words of labels stand as in a label.

    Single words are part of ordinary sentences: "the figures are verified". Two that tell of
    different things, in brackets or with a separator between them, are not.
    """
    first, last = fields[0], fields[-1]
    kinds = {label_field.kind for label_field in fields}
    before = text[max(0, first.start - _NEAR_FIELDS) : first.start]
    around = before + text[first.start : last.end + _NEAR_FIELDS]
    opened = _opened(before) >= 0
    dated = _ID.search(around) is not None
    if len(kinds) < 2:
        return opened and dated
    between = text[first.end : last.start]
    if not re.search(r"\W", between.strip(" ")) and not opened:
        return False
    signs_of_one = [
        opened,
        _SEPARATOR.search(between) is not None,
        dated or _NUMBERED.search(before) is not None,
        "store" in kinds,
    ]
    return sum(signs_of_one) >= _ENOUGH


def _start(text: str, position: int) -> int:
    """Return where a label begins: behind the bracket that is open before its first word."""
    before = text[max(0, position - _NEAR_FIELDS) : position]
    opened = _opened(before)
    return position if opened < 0 else position - len(before) + opened + 1


def _opened(text: str) -> int:
    """Return the place of the last bracket that is still open; -1 for none."""
    opened = max(text.rfind(bracket) for bracket in _opens())
    return opened if opened > max(text.rfind(bracket) for bracket in _closes()) else -1


def _has_square(text: str, fields: list[_Field]) -> bool:
    """Return whether a word of a label stands in square brackets, behind a semicolon."""
    starts = [label_field.start for label_field in fields]
    for opened in re.finditer(f"[{re.escape(signs('['))}]", text):
        inside = text[opened.end() : opened.end() + 4 * _NEAR_FIELDS]
        stop = opened.end() + min(
            (position for sign in signs("]") if (position := inside.find(sign)) >= 0),
            default=len(inside),
        )
        number = bisect_left(starts, opened.end())
        if number < len(starts) and starts[number] < stop:
            before = text[opened.end() : min(stop, starts[-1])]
            if ";" in before or "\uff1b" in before:
                return True
    return False


@lru_cache(maxsize=1)
def _round() -> dict[int, str]:
    return {
        ord(look_alike): round_ for sign, round_ in _ROUNDED.items() for look_alike in signs(sign)
    }


@lru_cache(maxsize=1)
def _opens() -> str:
    return "".join({*_OPENS, *signs("["), *signs("<")})


@lru_cache(maxsize=1)
def _closes() -> str:
    return "".join({*_CLOSES, *signs("]"), *signs(">")})


# Names that other people choose, printed into a prompt: paths, origins, headings.
#
# A folder of a cloned repository can be named so that its path closes a tag, begins a line of
# its own or hides a part of itself. Such a name stays recognisable and can do none of that.

FENCES: Final = (
    "agent_memory",
    "memory_guidelines",
    "recalled_memory",
    "history_context",
    "system",
)
"""The tags of this library, and that of other people's system prompts."""
_ALL: Final = fence_pattern(FENCES, chat_marks=True)
_BREAK: Final = re.compile("[\t\n\x0b\x0c\r\x1c-\x1e\x85\u2028\u2029]")
_BREAK_INSIDE: Final = re.compile("[\x0b\x0c\r\x1c-\x1e\x85\u2028\u2029]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_SPELLED: Final = re.compile("<(U\\+)([0-9A-F]{4,6})>")
_LONGEST: Final = 400
"""Characters of a name that are printed; paths that people choose are shorter."""
_HEADING: Final = re.compile(
    r"(?:~|\.{1,2})?/[^\n]{1,400}\.(?:md|mdc|mdx|txt|markdown|cursorrules)\s*:?"
)
"""What looks like the path of a memory file, where a line has nothing else in it."""
_ANNOUNCEMENT: Final = re.compile(r"\[(?:truncated|omitted|not loaded|same text as)[: ]")
_MARKS: Final = " \t#>*_`\"'-"
"""What Markdown puts around a heading."""


def printable_name(name: str, fence: Fence = _ALL) -> str:
    r"""Return a path or another name as it may be printed into a prompt, in one line.

    Line ends, control and hidden characters are spelled out (`\u2028`), a `<` and whatever
    forges a tag or a mark of a chat template is an entity, and what is too long is cut in its
    middle. Every other name is returned as it is.

    Args:
        name: The name.
        fence: The tags that must not be forged.
    """
    if _SURROGATE.search(name):
        name = name.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    line = _BREAK.sub(lambda match: _escape(match.group()), name)
    if len(line) > _LONGEST:
        half = _LONGEST // 2
        line = f"{line[:half]} … {line[-half:]}"
    line = _SPELLED.sub(_escape_revealed, reveal(line))
    safe = neutralise(neutralise(line, fence), _ALL)
    return safe.replace("<", "&lt;")


def printable_text(text: str) -> str:
    """Return a message with names in it as it may be printed into a prompt.

    Its own line breaks stay; see `printable_name` for what changes.
    """
    return "\n".join(neutralise(_shown(line), _ALL) for line in text.split("\n"))


def quote_headings(text: str, names: Iterable[str], separator: str = "\n") -> str:
    """Return the text of a memory file in which no line can pass as the heading of a file.

    In a prompt each file stands below its path. A line that is the path of a file, or one of the
    remarks that are put there, is quoted with "> ".

    Args:
        text: The text of one file.
        names: The headings of all files that are shown.
        separator: What stands between a heading and the text below it.
    """
    if "/" not in text and "[" not in text and not any(name in text for name in names):
        return text
    headings = {canonical(name): name for name in names}
    inline = separator.strip()
    lines = text.split("\n")
    return "\n".join(f"> {line}" if _is_heading(line, headings, inline) else line for line in lines)


def _is_heading(line: str, headings: dict[str, str], inline: str) -> bool:
    if len(line) > 2 * _LONGEST:
        return False
    bare = line.strip(_MARKS)
    if not bare or line.lstrip().startswith(">"):
        return False
    if _ANNOUNCEMENT.match(bare):
        return True
    if inline:
        bare = bare.partition(inline)[0].strip(_MARKS)
        return canonical(bare) in headings and "/" in bare
    alone = not line.lstrip().startswith(("- ", "* "))
    return alone and (
        _HEADING.fullmatch(bare) is not None or canonical(bare.rstrip(":")) in headings
    )


def _shown(line: str) -> str:
    spelled = _BREAK_INSIDE.sub(lambda match: _escape(match.group()), line)
    return _SPELLED.sub(_escape_revealed, reveal(spelled))


def _escape(character: str) -> str:
    return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(character, f"\\u{ord(character):04x}")


def _escape_revealed(match: re.Match[str]) -> str:
    code = int(match[2], 16)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"

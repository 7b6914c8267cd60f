"""Find and defuse forged tags of memory and the control marks of chat templates.

Spelling does not matter: characters are folded by Unicode's table of confusables, and whatever
is no letter may stand between two letters of a name, in any number. The time is linear: from a
bracket on, characters are read only as long as they spell a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from memoryware.guard._confusables import canonical, signs, skeleton, symbols_like_letters

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
        one for one in symbols_like_letters() if one == "|" or not skeleton(one).strip("l")
    )


def _symbols() -> str:
    """Return other symbols that look like letters, for a class of a pattern."""
    return re.escape("".join(one for one in symbols_like_letters() if one not in _bars()))


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
        places = set(self._spelled(text))
        if self.chat_marks:
            places.update(match.start() for match in _signs().barred.finditer(text))
            places.update(_turns(text, others=bool(places)))
        yield from sorted(places)

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
        angles = [one for one in brackets if text[one] in patterns.angles]
        if angles and any(self._is_tag(text, self._angled, angles, begin, at) for at in starts):
            yield from angles
        squares = [one for one in brackets if text[one] not in patterns.angles]
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
        a_letter = all(text[one].isalnum() for one in brackets)  # U+304F, U+1438
        everyday = name in _everyday(self.names)
        if not (everyday or a_letter) or patterns.slash.search(gap):
            return True
        if gap.strip():
            return True
        # A sign and a word, as in `a < system.load`, `List<System>`, `x<think_time`.
        before = text[max(0, brackets[0] - 1) : brackets[0]]
        quoted = all(text[one] in _QUOTES for one in brackets)
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
    capitals = not any(one.islower() for one in spelled)
    gap = text[bracket + 1 : start]
    return (capitals or anyhow) and not gap.strip(" \t/|")


@cache
def _everyday(names: frozenset[str], *, marks: bool = True) -> frozenset[str]:
    """Return the names that are words of everyday language, which may follow a sign by chance."""
    return frozenset(canonical(one) for one in (*names, *(_ANGLED * marks)) if one.isalpha())


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
        letters = "".join(["l" if one == "|" else skeleton(one) for one in characters])
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
    """Say whether a word goes on at a place, so that it is a longer one."""
    return at < len(text) and text[at].isalnum()


def _turns(text: str, *, others: bool) -> Iterator[int]:
    """Yield `<s>` and `</s>` where they are no struck out text."""
    if "s>" not in text and "S>" not in text:
        return
    struck = (
        set()
        if others
        else {
            place
            for match in _PAIR.finditer(text)
            for place in (match.start(), match.end() - len("</s>"))
        }
    )
    yield from (one.start() for one in _STRIKE.finditer(text) if one.start() not in struck)


@cache
def _fence(names: frozenset[str], chat_marks: bool) -> Fence:
    return Fence(names, chat_marks)


def fence_pattern(names: Iterable[str], *, chat_marks: bool = False) -> Fence:
    """Return what finds opening and closing tags of these names in any spelling.

    Args:
        names: Names of tags. A longer word that begins with one is another name.
        chat_marks: Whether the control marks of chat templates are found as well.
    """
    return _fence(frozenset(names), chat_marks)


def neutralise(text: str, fence: Fence) -> str:
    """Return the text with the bracket of each forged tag spelled as an entity, `&lt;`.

    Nothing else changes, so the text stays readable.
    """
    pieces, position = [], 0
    for place in fence.find(text):
        entity = "&lt;" if text[place] in _signs().angles else "&#91;"
        pieces += [text[position:place], entity]
        position = place + 1
    return "".join([*pieces, text[position:]]) if pieces else text


def forged(text: str, fence: Fence) -> Iterator[int]:
    """Yield the places of the brackets of forged tags."""
    yield from fence.find(text)

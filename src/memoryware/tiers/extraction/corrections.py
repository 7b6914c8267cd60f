"""Apply a short correction such as "no, it's Thursday" to the sentence that it corrects.

The result has the words of both and no others, cut where words end. A value is exchanged for one
of its kind: a weekday for a weekday, a time for a time. Where more than one part of the sentence
could be meant, nothing is exchanged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import takewhile
from typing import Final, Literal

from memoryware.tiers.extraction.rule_patterns import DAYS, MONTH

EDGES: Final = " \t\n,;:.!…，。！；：、"
"""Characters around a clause that do not belong to it."""
UNCLEAR: Final = ""
"""The result of a correction that may be about a sentence, and does not say about which part."""

ValueKind = Literal["weekday", "date", "time", "number"]
"""What is exchanged only for its like."""

_HAN_PART_OF_DAY: Final = "[上下中]午|早上|早晨|晚上|凌晨"
_HAN_BEFORE: Final = re.compile(f"每|{_HAN_PART_OF_DAY}")
"""Words before a day or an hour that hold for the value in its place as well."""
_HAN_DIGITS: Final = "[一二三四五六七八九十两]"
_KINDS: Final[tuple[tuple[ValueKind, re.Pattern[str]], ...]] = (
    (
        "weekday",
        re.compile(rf"\b(?:{DAYS})\b|每?(?:星期|周|礼拜)[一二三四五六日天]", re.IGNORECASE),
    ),
    (
        "date",
        re.compile(
            rf"""\b(?:{MONTH})\.?\s+\d{{1,2}}(?:st|nd|rd|th)?\b
            |\b\d{{1,2}}(?:st|nd|rd|th|\.)?\s+(?:of\s+)?(?:{MONTH})\b
            |\b\d{{4}}-\d\d-\d\d\b|\b\d{{1,2}}\.\d{{1,2}}\.(?:\d{{4}}|\d\d)?(?!\d)
            |(?:\d{{1,2}}|{_HAN_DIGITS}{{1,3}})\s*月\s*(?:\d{{1,2}}|{_HAN_DIGITS}{{1,3}})\s*[日号]
            |(?:\d{{1,2}}|{_HAN_DIGITS}{{1,3}})[日号]""",
            re.IGNORECASE | re.VERBOSE,
        ),
    ),
    (
        "time",
        re.compile(
            rf"""\b\d{{1,2}}(?:[:.]\d\d)?\s*(?:[ap]\.?m\b\.?|uhr\b|o'clock\b)|\b\d{{1,2}}:\d\d\b
            |\b(?:noon|midnight)\b
            |(?:{_HAN_PART_OF_DAY})?(?:\d{{1,2}}|{_HAN_DIGITS}{{1,3}})点(?:半|钟|一刻|三刻)?""",
            re.IGNORECASE | re.VERBOSE,
        ),
    ),
    ("number", re.compile(r"(?<![\w.,:])\d+(?:[.,]\d+)*\.?(?!\w)")),
)
"""The kinds of values, most specific first: a number in a date is part of the date."""
_LEAD: Final = (
    r"no|nope|wait|hold\ on|scratch\ that|my\ mistake|my\ bad|oops|typo|nein|nee|moment|warte|halt"
    r"|falsch|entschuldigung|mein\ fehler|tippfehler|vertippt"
)
_CLEAR_LEAD: Final = r"actually|sorry|correction|i\ meant?|korrektur|quatsch|doch|eher|ich\ meinte?"
"""Words before a correction that need no comma: "sorry Thursday", and not "no Thursday"."""
_OBJECTION: Final = re.compile(
    rf"(?:(?:{_LEAD}|{_CLEAR_LEAD})[\s,]+)*(?:{_LEAD}|{_CLEAR_LEAD})\s*[,:;!-]+\s*(?=\S)",
    re.IGNORECASE | re.VERBOSE,
)
_BARE: Final = re.compile(
    rf"""(?:(?:{_LEAD}|{_CLEAR_LEAD})[\s,:;.!-]+)*
    (?:(?:{_LEAD}|{_CLEAR_LEAD})\s*[,:;.!-]+\s*|(?:{_CLEAR_LEAD})\s+
    |(?:(?:不对|不是|错了|更正|等等|说错了|记错了|抱歉|对不起)[了的]*[，,。！!：:\s]*)+)(?P<right>.+)
    |\*+(?P<starred>[^*]+)\*?""",
    re.IGNORECASE | re.VERBOSE,
)
"""The words before a correction without a verb, or the asterisk of a chat."""
_LAST_HOUR: Final = 24
_HOUR: Final = re.compile(r"\d{1,2}\.?")
_FILLERS: Final = re.compile(
    r"""\b(?:on|at|from|in|by|of|the|every|each|now|instead|actually|then|again|am|um|ab|im|den|der
    |jeden|immer|jetzt|inzwischen|nun|doch|stattdessen)\b|[\W_]|[了改换成到在每的是]""",
    re.IGNORECASE | re.VERBOSE,
)
"""What stands around a value and says nothing about what it is exchanged for."""
_TRAILING: Final = re.compile(
    r"[\s,]+(?:now|instead|jetzt|inzwischen|actually|then|stattdessen)$", re.IGNORECASE
)
_DENIAL: Final = re.compile(
    r"[\s,，;;-]*(?:\b(?:and\s+|und\s+)?(?:not|nicht|rather\s+than|instead\s+of|statt)\b|而?不是)\s*(?P<denied>.+)$",
    re.IGNORECASE,
)
"""What a correction says is wrong: "Thursday, not Wednesday"."""
_PREPOSITION: Final = "in|at|on|from|bei|am|im|aus"
_STATEMENT: Final = re.compile(
    rf"""(?P<head>.*?(?:\b(?P<verb>is|are|ist|sind|hei(?:ß|ss)t|heiße)|\b(?:in|at|on|bei|am))\s+
    (?:(?:now|jetzt|immer|called|named)\s+)?)(?P<preposition>(?:{_PREPOSITION})\s+)?(?P<rest>\S.*)
    |(?P<han_head>.*?[是在为叫])(?P<han_rest>.+)""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
"""A sentence up to the part that "no, it's Max" replaces, and that part."""
_SEVERAL_PARTS: Final = re.compile(
    rf"\b(?:is|are|ist|sind|and|und|with|mit|for|für|because|weil|but|aber|{_PREPOSITION})\b"
    "|[,，;；是在和与跟]",
    re.IGNORECASE,
)
_MATTER_START: Final = re.compile(
    r"^(?:(?:the|our|my|this|d(?:er|ie|as)|unser[e]?|mein[e]?|dies(?:er|e|es))\s+)+", re.IGNORECASE
)
_MATTER_END: Final = re.compile(
    rf"(?:[\s,]+(?:is|are|starts?|begins?|ist|sind|findet|beginnt|{_PREPOSITION}|um|every|each|now|jetzt"
    rf"|immer|the|d(?:er|ie|as|em|en)))+[\s,]*$|[\s,]+$|(?:是|在|每|{_HAN_PART_OF_DAY}|周|星期|礼拜)+$",
    re.IGNORECASE,
)
"""Words at the end of what comes before a value that do not say what the value is about."""
_NAME: Final = re.compile(r"(?:the\s+|d(?:er|ie|as|em|en)\s+)?(?:[A-ZÄÖÜ]|\S*\w[.@]\w)")
"""The beginning of a name or an address."""
_LONGEST_VALUE: Final = 4
"""Words of a value without a kind; more of them state something by themselves."""
_LONGEST_HAN_VALUE: Final = 8


@dataclass(frozen=True, slots=True)
class Value:
    """A value in a text.

    Attributes:
        kind: Its kind.
        text: Its words.
        start: Where it begins.
        end: Where it ends.
    """

    kind: ValueKind
    text: str
    start: int
    end: int


def values_in(text: str) -> list[Value]:
    """Return the values of a text, in order.

    Args:
        text: The text.

    Returns:
        The weekdays, dates, times and numbers; none is part of another.
    """
    values: list[Value] = []
    for kind, pattern in _KINDS:
        for match in pattern.finditer(text):
            if all(match.end() <= other.start or match.start() >= other.end for other in values):
                values.append(Value(kind, match[0], match.start(), match.end()))
    return sorted(values, key=lambda value: value.start)


def without_objection(sentence: str) -> str:
    """Return a sentence without the words that reject what was said before it.

    Args:
        sentence: The sentence: "actually no, the raid is on Thursday".

    Returns:
        The statement: "the raid is on Thursday"; the same sentence if it has no such words.
    """
    objection = _OBJECTION.match(sentence)
    return sentence[objection.end() :] if objection else sentence


def bare_correction(sentence: str) -> str | None:
    """Return what a sentence says is right that has values and no verb: "No, Friday.", "*Friday".

    Args:
        sentence: The sentence.

    Returns:
        The values with the words around them; None if the sentence says anything else.
    """
    bare = _BARE.fullmatch(sentence.strip(EDGES))
    if bare is None:
        return None
    right = (bare["right"] or bare["starred"]).strip(EDGES)
    denial = _DENIAL.search(right)
    plain = right[: denial.start()] if denial else right
    values = values_in(plain)
    return right if values and not _remaining_words(plain, values, "") else None


def corrected_text(text: str, correction: str, *, needs_value: bool = False) -> str | None:
    """Return a sentence with the part exchanged that a short correction is about.

    Args:
        text: The sentence that is corrected.
        correction: What is right, such as "Thursday at 9pm", or "Thursday, not Wednesday".
        needs_value: Whether only weekdays, dates, times and numbers are exchanged.

    Returns:
        The sentence as it is right; `UNCLEAR` if the correction may be about several parts of it;
        None if it is about no part of it.
    """
    plain = text.rstrip(EDGES)
    mark = text[len(plain) :] or "."
    denial = _DENIAL.search(correction)
    denied = denial["denied"].casefold() if denial else ""
    right = (correction[: denial.start()] if denial else correction).strip(EDGES)
    right = _TRAILING.sub("", right).strip(EDGES)
    if not right:
        return None
    new = values_in(right)
    if new:
        exchanged = _with_values(plain, right, new, denied)
    else:
        exchanged = None if needs_value else _with_part(plain, right)
    return f"{exchanged}{mark}" if exchanged else exchanged


def common_matter(text: str, corrected: str) -> str:
    """Return what a sentence and its correction are both about.

    Args:
        text: The sentence: "Our raid night is on Wednesday at 8pm."
        corrected: The same with a part exchanged.

    Returns:
        The words before that part, without articles and verbs at their ends: "raid night"; "" if
        there are none.
    """
    pairs = zip(text.casefold(), corrected.casefold(), strict=False)
    common = "".join(
        character for character, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)
    )
    if not re.search("[\u4e00-\u9fff]", common):
        common = common[: common.rfind(" ") + 1]
    # Of "March 3rd" and "March 13th" the month is the same, and part of the value all the same.
    for value in values_in(text):
        if value.start < len(common) < value.end:
            common = common[: value.start]
    return _MATTER_END.sub("", _MATTER_START.sub("", common)).strip(EDGES)


def _with_values(plain: str, right: str, new: list[Value], denied: str) -> str | None:
    """Return a sentence with each value exchanged for the one of its kind."""
    stated = values_in(plain)
    pairs: list[tuple[Value, Value]] = []
    for value in new:
        alike = [old for old in stated if _may_be_exchanged(old, value, stated)]
        if len(alike) > 1 and denied:
            alike = [old for old in alike if old.text.casefold().rstrip(".") in denied]
        if len(alike) > 1 or any(old is alike[0] for old, _ in pairs if alike):
            return UNCLEAR
        pairs += [(old, value) for old in alike]
    if not pairs:
        return None
    if _remaining_words(right, new, plain):
        return UNCLEAR
    if len(pairs) < len(new):
        if len(pairs) > 1:
            return UNCLEAR
        # "Thursday at 9pm" after "It is on Wednesday": the time comes with the day.
        old = pairs[0][0]
        whole = Value(old.kind, right[new[0].start : new[-1].end], new[0].start, new[-1].end)
        pairs = [(old, whole)]
    if all(old.text.casefold() == value.text.casefold() for old, value in pairs):
        return None
    for old, value in sorted(pairs, key=lambda pair: -pair[0].start):
        plain = f"{plain[: old.start]}{_in_form_of(old, value)}{plain[old.end :]}"
    return plain


def _may_be_exchanged(old: Value, value: Value, stated: list[Value]) -> bool:
    """Return whether two values are of one kind; "9" may be a number or a time."""
    if old.kind == value.kind:
        return True
    if value.kind == "number":
        return old.kind == "time" and _is_hour(value)
    has_time = any(other.kind == "time" for other in stated)
    return value.kind == "time" and old.kind == "number" and _is_hour(old) and not has_time


def _is_hour(number: Value) -> bool:
    is_short = _HOUR.fullmatch(number.text) is not None
    return is_short and int(number.text.rstrip(".")) <= _LAST_HOUR


def _in_form_of(old: Value, value: Value) -> str:
    """Return a value as it is written in the place of another."""
    text = value.text
    before = _HAN_BEFORE.match(old.text)
    if before is not None and not _HAN_BEFORE.match(text):
        text = f"{before[0]}{text}"  # what holds for every week, or for the evening, still does
    if old.kind == value.kind == "number" and old.text.endswith(".") and not text.endswith("."):
        text = f"{text}."  # a German ordinal
    return text


def _remaining_words(right: str, values: list[Value], plain: str) -> str:
    """Return the words of a correction that are in no value and not in the sentence either."""
    rest = right
    for value in reversed(values):
        rest = f"{rest[: value.start]} {rest[value.end :]}"
    own_words = {word.casefold() for word in re.findall(r"\w+", plain)}
    return "".join(
        word
        for word in re.findall(r"\w+", rest)
        if word.casefold() not in own_words and _FILLERS.sub("", word)
    )


def _with_part(plain: str, right: str) -> str | None:
    """Return a sentence with what follows its verb exchanged: "no, it's Max"."""
    is_han = re.search("[\u4e00-\u9fff]", right) is not None
    if len(right.split()) > _LONGEST_VALUE or (is_han and len(right) > _LONGEST_HAN_VALUE):
        return None
    statement = _STATEMENT.fullmatch(plain)
    if statement is None:
        return None
    rest = statement["rest"] or statement["han_rest"]
    if _SEVERAL_PARTS.search(rest) or _SEVERAL_PARTS.search(right[1:]) or values_in(rest):
        return UNCLEAR
    if statement["han_head"] is not None:
        return f"{statement['han_head']}{right}" if is_han else UNCLEAR
    head, preposition = statement["head"], statement["preposition"] or ""
    is_place = bool(preposition) or statement["verb"] is None
    own = re.match(rf"(?:{_PREPOSITION})\s+", right, re.IGNORECASE)
    if own is not None:
        if statement["verb"] is None:
            same = head.casefold().split()[-1] == own[0].casefold().strip()
            return f"{head}{right[own.end() :]}" if same else UNCLEAR
        return f"{head}{right}"
    # "It's raining" after "I live in Cork" is about no place, and places have capital letters.
    if is_place and _NAME.match(right) is None:
        return UNCLEAR
    return f"{head}{preposition}{right}"

"""Recognise that somebody has changed their mind: "I love pizza", and "I hate pizza now".

The words around such a change hide it from a comparison word by word: "any more", "now", "am
liebsten", 改喝咖啡. So the statement of a first person is reduced to what it says yes or no to.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from memoryware._caching import clearable_cache
from memoryware.tiers.text.tokens import Sentence, tokenize_pairs

_LONGEST: Final = 24
"""Words, or characters of Chinese, of a statement; a longer one says more than one thing."""
_MOST_OBJECT: Final = 5
"""Words of what is liked or denied."""
_MOST_HAN: Final = 8
_LONGEST_TEXT: Final = 160
"""Characters of a text that may be such a statement."""
_SPEAKS: Final = re.compile(
    r"^\W*(?:\w+\W+){0,2}(?:i|i'm|ich|me|mich)\b|^.{0,6}我(?!们)", re.IGNORECASE
)
_LIKING: Final = "liking"
_CALLING: Final = "calling"
_CONSUMING: Final = frozenset({"eat", "drink", "esse", "trinke", "吃", "喝"})
"""Verbs of which a denial that tells of a change ends a liking as well."""
_TEMPORARY: Final = frozenset({"am", "have", "bin", "habe"})
"""Verbs of states that pass: "I'm not hungry" takes nothing back unless it says "any more"."""


def _re(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.VERBOSE)


_EN_ADVERB: Final = r"(?:(?:really|also|just|actually|still|always|mostly|usually|now|currently|absolutely|totally|both|only|definitely|simply)\ )*"
_EN_CHANGE: Final = _re(
    r"(?:\ (?:any\ ?more|now|these\ days|nowadays|at\ all|anymore|any\ longer|from\ now\ on|either|lately|since\ \w+))+$"
)
_EN: Final = _re(
    rf"""i\ {_EN_ADVERB}(?P<deny>do\ not\ |no\ longer\ |never\ |can\ not\ |stopped\ |quit\ )?{_EN_ADVERB}
    (?P<verb>love|like|enjoy|adore|hate|dislike|detest|loathe|stand|bear|(?:am|have)(?=\ )|[a-z]+)\ (?P<not>not\ |no\ longer\ )?(?P<object>.+)"""
)
_EN_LIKES: Final = frozenset({"love", "like", "enjoy", "adore"})
_EN_HATES: Final = frozenset({"hate", "dislike", "detest", "loathe"})
_EN_BEARS: Final = frozenset({"stand", "bear"})
_DE: Final = _re(r"""ich\ (?P<verb>[a-zäöüß]+)\ (?P<object>.+)""")
_DE_DENIAL: Final = _re(r"\b(?:nicht|kein(?:e|en|er|em|es)?|nie|niemals)\b\ ?")
_DE_FILLER: Final = _re(
    r"\b(?:an\ liebsten|am\ liebsten|gern|gerne|lieber|sehr|wirklich|jetzt|inzwischen|nun|mehr|auch|total|über\ alles|mittlerweile|immer|noch|ein(?:e|en|er|em|es)?|gar)\b\ ?"
)
_DE_LIKES: Final = frozenset({"mag", "liebe"})
_DE_HATES: Final = frozenset({"hasse", "verabscheue"})
_DE_CHANGE: Final = _re(r"\b(?:mehr|jetzt|inzwischen|nun|mittlerweile)\b")
_HAN: Final = re.compile(
    r"我(?P<adverb>(?:现在|目前|已经|最|很|非常|特别|真的|也|都|一直|其实|以后|平时|再也|从来)*)(?P<deny>不再?|讨厌|没有?|戒了?)?"
    r"(?:现在|很|太|再|想)*(?P<like>喜欢|热爱|爱)?(?P<verb>吃|喝|玩|打|用|抽|看|住在|养|是)?(?P<object>[^,，]+?)(?P<end>了)?$"
)
_CALL: Final = _re(
    r"(?:call|address)\ me\ (?P<object>\S+(?:\ \S+){0,3})|(?:nenn|nenne|nennt)\ mich\ (?P<german>(?:\S+\ ){0,2}\S+)"
)
_CALL_HAN: Final = re.compile(r"(?:以后|从现在起|今后|请)*(?:叫|称呼)我为?(?P<object>.{1,5})")
_CALL_FILLER: Final = _re(
    r"\b(?:from\ now\ on|now|instead|ab\ jetzt|ab\ sofort|bitte|jetzt|künftig|lieber)\b\ ?"
)


@dataclass(frozen=True, slots=True)
class _Stance:
    """What a first person says yes or no to.

    Attributes:
        verb: The verb; "liking" for all that say how much something is liked.
        matter: What it is about.
        is_denied: Whether the person says no.
        is_change: Whether the words tell of a change.
    """

    verb: str
    matter: str
    is_denied: bool = False
    is_change: bool = False


def changes_mind(first: Sentence, second: Sentence) -> bool:
    """Return whether only one of two statements of one person about themselves holds.

    Args:
        first: A statement.
        second: Another of the same person.

    Returns:
        Whether one takes back what the other says: they say yes and no to the same, or ask to be
        called two names.
    """
    ours, theirs = _stance(first), _stance(second)
    if ours is None or theirs is None:
        return False
    if ours.verb == theirs.verb == _CALLING:
        return ours.matter != theirs.matter
    if ours.matter != theirs.matter or ours.is_denied == theirs.is_denied:
        return False
    denial, other = (ours, theirs) if ours.is_denied else (theirs, ours)
    if denial.verb in _TEMPORARY and not denial.is_change:
        return False
    if denial.verb == other.verb:
        return True
    verbs = {denial.verb, other.verb}
    is_like = _LIKING in verbs and bool(verbs & _CONSUMING)
    return is_like and (denial.is_change or denial.verb == _LIKING)


@clearable_cache(4096)
def matter_of_stance(text: str) -> str:
    """Return what a short text says yes or no to, so that texts of one matter are compared.

    Args:
        text: A statement.

    Returns:
        The matter; "" for a text that is no such statement.
    """
    if len(text) > _LONGEST_TEXT or _SPEAKS.search(text) is None:
        return ""
    ((sentences, _, _),) = tokenize_pairs([(text, text)])
    stance = _stance(sentences[0]) if len(sentences) == 1 else None
    if stance is None:
        return ""
    return _CALLING if stance.verb == _CALLING else stance.matter


def _stance(sentence: Sentence) -> _Stance | None:
    tokens = sentence.tokens
    if not 2 <= len(tokens) <= _LONGEST or sentence.is_question:
        return None
    words = tuple(token.exact for token in tokens)
    if not {"i", "ich", "我", "me", "mich"} & {*words[:4]}:
        return None
    return _stance_of(words, any(token.is_name for token in tokens[2:]))


@clearable_cache(2048)
def _stance_of(words: tuple[str, ...], has_name: bool) -> _Stance | None:
    if "我" in words:
        return _chinese("".join(words))
    clause = " ".join(words).split(" ,")[0].split(" sondern")[0].split(" but ")[0]
    if call := _CALL.fullmatch(clause if not clause.startswith("please ") else clause[7:]):
        name = _CALL_FILLER.sub("", f"{call['object'] or call['german']} ").strip()
        return _Stance(_CALLING, name) if has_name and len(name.split()) == 1 else None
    return _english(clause) or _german(clause)


def _english(clause: str) -> _Stance | None:
    match = _EN.fullmatch(clause)
    if match is None:
        return None
    verb, matter = match["verb"], match["object"]
    change = _EN_CHANGE.search(matter)
    matter = _EN_CHANGE.sub("", matter)
    is_change = change is not None or (match["deny"] or match["not"] or "") in _ENDING
    is_denied = bool(match["deny"] or match["not"])
    if (match["deny"] or "").startswith(("stopped", "quit")):
        verb = re.sub("(?<=[a-z]{2})ing$", "", verb)
    if verb in _EN_HATES:
        verb, is_denied = _LIKING, not is_denied
    elif verb in _EN_LIKES or (verb in _EN_BEARS and is_denied):
        verb = _LIKING
    return _with_matter(verb, matter, is_denied=is_denied, is_change=is_change)


_ENDING: Final = frozenset({"no longer ", "stopped ", "quit "})


def _german(clause: str) -> _Stance | None:
    match = _DE.fullmatch(clause)
    if match is None:
        return None
    verb, rest = match["verb"], match["object"]
    is_denied = _DE_DENIAL.search(rest) is not None
    is_change = _DE_CHANGE.search(rest) is not None
    matter = _DE_FILLER.sub("", _DE_DENIAL.sub("", rest)).strip()
    if verb in _DE_HATES:
        verb, is_denied = _LIKING, not is_denied
    elif verb in _DE_LIKES:
        verb = _LIKING
    return _with_matter(verb, matter, is_denied=is_denied, is_change=is_change)


def _chinese(text: str) -> _Stance | None:
    clause = re.split("[,，]", text)[0]
    if call := _CALL_HAN.fullmatch(clause):
        return _Stance(_CALLING, call["object"])
    match = _HAN.fullmatch(clause)
    if match is None or not (match["like"] or match["verb"] or match["deny"] == "讨厌"):
        return None
    if len(match["object"]) > _MOST_HAN:
        return None
    is_denied = bool(match["deny"])
    is_liking = match["like"] or match["deny"] == "讨厌"
    is_change = bool(match["end"]) or any(word in clause for word in ("现在", "不再", "再也", "戒"))
    verb = _LIKING if is_liking else match["verb"]
    return _Stance(verb, match["object"], is_denied, is_change)


def _with_matter(verb: str, matter: str, *, is_denied: bool, is_change: bool) -> _Stance | None:
    is_short = 0 < len(matter.split()) <= _MOST_OBJECT
    return _Stance(verb, matter, is_denied, is_change) if is_short else None

"""Recognise requests to forget something, and say what is to be forgotten.

A request is clear if it speaks of what the agent remembers ("Forget that I have cats", "delete what
I said about my job"). "Delete my draft" may be meant for a file: it counts only if memory has
something of that matter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

EVERYTHING: Final = "user: everything"
"""The subject of a request to forget all that is known of a user."""


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """A request to forget something.

    Attributes:
        matter: What is to be forgotten, in words of the user.
        subject: The subject of memories that it names, such as "user: home"; "" if unknown.
        is_clear: Whether nothing else than memory can be meant.
    """

    matter: str
    subject: str = ""
    is_clear: bool = True


def _re(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.VERBOSE | re.IGNORECASE | re.DOTALL)


_LONGEST: Final = 300
"""Characters of a request; what is longer is prose."""
_EDGES: Final = " \t\n,;:.!…?，。！；：、？"
_ENGLISH: Final = _re(
    r"""(?:(?:please|pls|kindly|and|also|so|ok|okay|oh|hey|actually|sorry|now|then|just)[,\s]+)*
    (?:(?:can|could|would|will)\ you\ |you\ (?:can|could|may|should|must)\ |i(?:'d|\ would)?\ (?:want|like|need)\ you\ to\ )?
    (?:(?:please|now|just|also|kindly)\ )*
    (?P<verb>forget|delete|remove|erase|wipe|drop|clear|stop\ remembering|(?:don't|do\ not)\ (?:remember|keep)|unlearn)
    (?:\ please)?,?\s+(?P<what>.+)"""
)
_ENGLISH_TAIL: Final = re.compile(
    r"(?:[,\s]+(?:please|pls|thanks|thank you|ok|okay|now|again|for good|completely|entirely|anymore"
    r"|from (?:your )?memory|if you can|would you|will you|could you))+$",
    re.IGNORECASE,
)
_SAID: Final = (
    r"(?:(?:that\ )?(?:i|we)(?:'ve|\ have)?\ (?:just\ |ever\ |already\ )?(?:said|told\ you|mentioned|wrote|shared|written|sent)"
    r"|(?:that\ )?you(?:'ve|\ have)?\ (?:know|remember|stored?|saved?|noted?|have|kept|keep|learned)(?:\ (?:stored|saved|noted))?)"
)
_ENGLISH_ALL: Final = _re(
    rf"""(?:everything|all|anything|whatever)(?:\ (?:of\ )?(?:it|this|that))?
    (?:\ {_SAID})?(?:\ (?:about|of|on)\ (?:me|us|my\ (?:life|person)))?
    |all\ (?:of\ )?(?:my|our)\ (?:data|information|info|details|memories|facts)
    |(?:my|our)\ (?:data|information|memories|personal\ (?:data|information|details))|(?:about\ )?me|what\ (?:{_SAID})(?:\ about\ me)?"""
)
_ENGLISH_MATTER: Final = _re(
    rf"""(?:(?:everything|all|anything|whatever|what|the\ (?:things?|stuff|bit|part))\ (?:{_SAID}\ )?(?:about|on|of)
    |(?:the|that|any)\ (?:fact|note|memory|memories|information|info|bit|part|thing|entry|entries|detail|details)s?\ (?:that|about|of|on|where)
    |(?:that\ )?(?:i|we)\ (?:ever\ )?(?:said|mentioned|wrote)\ (?:anything|something|it)\ about
    |that(?=\ (?:i|i'm|i've|i'd|my|we|we're|our|the|there|he|she|they|it|[a-z]+\ (?:is|are|has|was))\b))\ (?P<clear>.+)
    |(?P<asked>(?:where|when|what|how|who|which|why|whether)\ (?:\w+\ ){{0,2}}?(?:i|i'm|my|we|our)\b.*)
    |about\ (?P<about>.+)|(?P<own>(?:my|our|i|i'm|i've|we|we're)\ .+)"""
)
_NO_MATTER: Final = _re(
    r"""(?:it|this|that|them|these|those|all\ that|the\ (?:last|previous|above).*|(?:my|our)\ (?:last|previous|earlier|first|other|second|latest|above|old)
    \ (?:message|question|request|prompt|answer|comment|sentence|input|instruction|idea|suggestion|point|post|mail|email)s?.*|(?:my|the)\ (?:question|request|prompt|message)s?)"""
)
"""What belongs to the conversation, and not to memory."""
_GERMAN_START: Final = r"(?:(?:bitte|und|also|ok|okay|nun|jetzt|ach|auch)[,\s]+)*"
_GERMAN: Final = _re(
    rf"""{_GERMAN_START}(?:(?P<verb>vergiss|vergesst|vergessen\ sie|lösche?n?(?:\ sie)?|lösch|streiche?|entferne?|merke?\ dir\ nicht(?:\ mehr)?)
    |(?:(?:kannst|könntest|würdest)\ du|können\ sie|du\ (?:kannst|darfst|sollst)|ich\ möchte,\ dass\ du)(?:\ (?:bitte|jetzt|wieder|auch))*\ (?:vergessen|vergisst))
    (?:\ (?:bitte|doch|wieder|mal|einfach|jetzt|auch))*,?\s+(?P<what>.+)"""
)
_GERMAN_LAST: Final = _re(
    rf"""{_GERMAN_START}(?:(?:kannst|könntest|würdest)\ du|können\ sie|du\ (?:kannst|darfst|sollst))(?:\ (?:bitte|jetzt|auch))*
    \ (?P<what>(?:mein\w{{0,2}}|unser\w{{0,2}}|alles)\b.+?)(?:\ (?:bitte|wieder))*\ (?P<verb>vergessen|löschen|entfernen)"""
)
_GERMAN_TAIL: Final = re.compile(
    r"(?:[,\s]+(?:bitte|wieder|danke|mal|jetzt|komplett|ganz|aus deinem gedächtnis|okay|ok))+$",
    re.IGNORECASE,
)
_GERMAN_SAID: Final = r"(?:ich\ (?:dir\ |ihnen\ )?(?:\w+\ ){0,3}?(?:gesagt|erzählt|geschrieben|mitgeteilt)(?:\ hab\w?)?|du\ (?:\w+\ ){0,3}?(?:weißt|gespeichert\ hast|gemerkt\ hast))"
_GERMAN_ALL: Final = _re(
    rf"""alles(?:,?\ was\ {_GERMAN_SAID})?(?:\ (?:über|von|zu)\ (?:mich|mir|uns))?|(?:alle\ )?meine\ (?:daten|angaben|infos?|informationen)|mich
    |was\ {_GERMAN_SAID}"""
)
_GERMAN_MATTER: Final = _re(
    r"""(?:dass|alles\ (?:über|zu|von)|(?:die\ sache|das|alles)\ mit|die\ (?:tatsache|information|notiz),?\ dass)\ (?P<clear>.+)
    |(?:alles,?\ )?was\ ich\ (?:dir\ |ihnen\ )?(?:über|von|zu)\ (?P<said>.+?)\ (?:gesagt|erzählt|geschrieben)(?:\ hab\w?)?
    |(?P<asked>(?:wo|wann|wie|was|wer|welche\w?|warum|ob|womit|woher)\ (?:\w+\ ){0,2}?(?:ich|mein\w{0,2}|wir|unser\w{0,2})\b.*)
    |(?P<own>(?:mein|unser)\w{0,2}\ .+)"""
)
_GERMAN_NO_MATTER: Final = _re(
    r"(?:es|das|dies|mein\w{0,2}\ (?:letzte|vorige|vorherige|erste)\w{0,2}\ .*|meine\ (?:frage|nachricht|bitte))"
)
_HAN_VERB: Final = "(?:忘掉|忘记|忘了|忘却|删除|删掉|删了|清除|移除|抹掉|不要再记[得住]?|别再记[得住]?|不要记[得住]?|别记[得住]?)"
_HAN_START: Final = "(?:请你?|麻烦你?|帮我|你|能不能|可不可以|可以|能|现在|那就?|也|都)*"
_HAN: Final = re.compile(rf"{_HAN_START}(?P<verb>{_HAN_VERB})(?:一下|掉)?[:：，,]?(?P<what>.+)")
_HAN_LAST: Final = re.compile(
    rf"{_HAN_START}把(?P<what>.+?)(?:都|全部?|给)*(?P<verb>{_HAN_VERB})(?:吧|了|掉|好吗|吗)*"
)
_HAN_TAIL: Final = re.compile(
    r"的?(?:这件事情?|那件事情?|这事儿?|这个事实|这一点|这点|这个信息|信息|事情?|记录|内容|资料)?(?:吧|谢谢|好吗|了|吗|可以吗|好不好)*$"
)
_HAN_ALL: Final = re.compile(
    r"(?:所有|全部)?(?:关于|有关)?我(?:说过?|告诉你|跟你说过?)?的?(?:一切|所有|全部)?(?:话|东西|事情?|信息|资料|数据|个人信息)?"
    r"|(?:一切|所有|全部)(?:关于|有关)?我.{0,8}"
)
_OF_SELF: Final = _re(
    r"\b(?:i|i'm|i've|my|me|mine|we|our|us|ich|mein\w{0,2}|mich|mir|wir|unser\w{0,2})\b|我"
)
_SUBJECTS: Final = (
    (_re(r"\bwhere\ (?:i|we)\ live\b|\bmy\ (?:home\ )?address\b|\bwo\ (?:ich|wir)\ wohnen?\b|住在?哪|我的住址"), "user: home"),
    (_re(r"\bwhere\ i\ work\b|\bmy\ employer\b|\bwo\ ich\ arbeite\b|在哪里?(?:上班|工作)"), "user: employer"),
    (_re(r"\bwhat\ i\ do\ for\ (?:a\ living|work)\b|\bmy\ job\b|\bmein\w{0,2}\ beruf\b|我的(?:工作|职业)"), "user: job"),
    (_re(r"\bmy\ birthday\b|\bwhen\ i\ was\ born\b|\bmein\w{0,2}\ geburtstag\b|我的?生日"), "user: birthday"),
    (_re(r"\bmy\ name\b|\bwhat\ i(?:'m|\ am)\ called\b|\bmein\w{0,2}\ namen?\b|\bwie\ ich\ heiße\b|我的名字|我叫什么"), "user: name"),
)  # fmt: skip


def forget_request(sentence: str) -> ForgetRequest | None:
    """Return what a sentence asks to forget.

    Args:
        sentence: A sentence, or a clause of one.

    Returns:
        The request; None if the sentence is none, as "Don't forget my birthday".
    """
    text = " ".join(sentence.replace("’", "'").split()).strip(_EDGES)
    if len(text) > _LONGEST:
        return None
    return _english(text) or _german(text) or _chinese(text)


def _english(text: str) -> ForgetRequest | None:
    match = _ENGLISH.fullmatch(text)
    if match is None:
        return None
    content = _ENGLISH_TAIL.sub("", match["what"]).strip(_EDGES)
    is_memory = match["verb"].lower() in _OF_MEMORY
    if _NO_MATTER.fullmatch(content):
        return None
    if _ENGLISH_ALL.fullmatch(content):
        names_self = _OF_SELF.search(content) is not None
        return ForgetRequest(content, EVERYTHING) if names_self or is_memory else None
    matter = _ENGLISH_MATTER.fullmatch(content)
    if matter is None:
        return None
    words = (matter["clear"] or matter["asked"] or matter["about"] or matter["own"]).strip(_EDGES)
    if _NO_MATTER.fullmatch(words):
        return None
    is_clear = bool(matter["clear"] or matter["asked"]) or (
        is_memory and _OF_SELF.search(words) is not None
    )
    return ForgetRequest(words, _subject(content) if is_clear else "", is_clear)


def _german(text: str) -> ForgetRequest | None:
    match = _GERMAN.fullmatch(text) or _GERMAN_LAST.fullmatch(text)
    if match is None:
        return None
    content = _GERMAN_TAIL.sub("", match["what"]).strip(_EDGES)
    is_memory = (match["verb"] or "verg").lower().startswith(("verg", "merk"))
    if _GERMAN_NO_MATTER.fullmatch(content):
        return None
    matter = _GERMAN_MATTER.fullmatch(content)
    is_all = _GERMAN_ALL.fullmatch(content) is not None and not (matter and matter["said"])
    if is_all:
        names_self = _OF_SELF.search(content) is not None
        return ForgetRequest(content, EVERYTHING) if names_self or is_memory else None
    if matter is None:
        return None
    words = matter["clear"] or matter["said"] or matter["asked"] or matter["own"]
    is_clear = matter["own"] is None or is_memory
    return ForgetRequest(words.strip(_EDGES), _subject(content) if is_clear else "", is_clear)


def _chinese(text: str) -> ForgetRequest | None:
    match = _HAN_LAST.fullmatch(text) or _HAN.fullmatch(text)
    if match is None or "我" not in match["what"]:
        return None
    content = match["what"].strip(_EDGES)
    if _HAN_ALL.fullmatch(content):
        return ForgetRequest(content, EVERYTHING)
    words = _HAN_TAIL.sub("", content).removeprefix("关于").strip(_EDGES) or content
    words = re.sub("^我(?:说过?|告诉你|跟你说过?)的?关于", "", words)
    is_clear = match["verb"][0] in "忘不别"
    return ForgetRequest(words, _subject(words), is_clear)


_OF_MEMORY: Final = frozenset(
    {"forget", "stop remembering", "don't remember", "do not remember", "unlearn"}
)


def _subject(words: str) -> str:
    return next((name for pattern, name in _SUBJECTS if pattern.search(words)), "")

"""Read a conversation: its turns and their sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from memoryware.errors import SettingError
from memoryware.tiers.extraction.facts import ConversationTurn
from memoryware.tiers.messages import answer_of, kind_of, text_of
from memoryware.tiers.model import hash_of

_MONTHS: Final = r"(?:jan|feb|mär|maerz|mar|apr|ma[iy]|jun|jul|aug|sep|okt|oct|nov|de[zc])\w*"
_NO_END: Final = re.compile(
    r"(?:\b(?:dr|mr|mrs|ms|prof|st|nr|no|ca|bzw|usw|etc|vs|e\.g|i\.e|z\.\s?b|d\.\s?h|u\.\s?a)\."
    r"|\b[a-z]\.)$",
    re.IGNORECASE,
)
_INITIAL: Final = re.compile(r"(?<!\.)(?<!\. )\b[A-ZÄÖÜ]\.$")
_LETTERED: Final = re.compile(
    r"""\b(?:plan|option|team|group|type|vitamin|room|building|gate|class|section|level|part|variant
    |hall|block|floor|version|gruppe|variante|typ|raum|halle|klasse|teil|gebäude)\ [A-Z]\.$""",
    re.IGNORECASE | re.VERBOSE,
)
"""What has a letter for its name: "We chose plan B." """
_OPENING: Final = re.compile(
    r"""(?:What|Which|Who|When|Where|Why|How|Is|Are|Do|Does|Did|Can|Could|Would|Will|Should|Have|Has|I
    |I'm|I've|We|You|He|She|It|They|This|That|These|Those|There|The|A|An|My|Our|Your|His|Her|Their
    |All|Every|Please|Thanks|Thank|And|But|So|Also|If|In|On|At|For|From|By|To|No|Yes|Ok|Okay|Always
    |Never|Let's|Was|Wer|Wann|Wo|Wie|Warum|Welche\w*|Ist|Sind|Kann|Kannst|Hast|Gibt|Ich|Wir|Du|Er|Sie
    |Es|Der|Die|Das|Ein\w*|Mein\w*|Unser\w*|Und|Aber|Bitte|Danke|Wenn|Im|Am|Um|Ab|Nein|Ja|Heute)\b
    |[^\w\s]|[\u4e00-\u9fff]""",
    re.VERBOSE,
)
"""The beginning of a sentence, which is no name behind an initial, and no noun that is counted."""
_NUMBER: Final = re.compile(r"\b\d{1,4}\.$")
_ORDINAL: Final = re.compile(
    r"\b(?:am|vom|zum|de[rmns]|die|das|jede[nrs]?|jeweils|im|ab|seit|bis|und) \d{1,4}\.$",
    re.IGNORECASE,
)
"""A number with a point that German words in front of it make an ordinal: "am 3. Montag"."""
_AFTER_ORDINAL: Final = re.compile(rf"(?:(?i:{_MONTHS})\b|[a-zäöü])")
_END: Final = re.compile(r"[.!?…]+[\"'”’)\]]*(?=\s)|[。！？；]+[”’」』）]*|\n+|;(?=\s)")


def turns_of(messages: Sequence[Any]) -> list[ConversationTurn]:
    """Return the turns of a list of messages.

    Args:
        messages: Messages of LangChain, mappings with role and content, or pairs of both.

    Returns:
        Turns with a text, in order. A message without an id gets one made of its text and position.

    Raises:
        SettingError: If it is one text, or no list.
    """
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):
        raise SettingError(
            f"messages: must be a list, and this is {type(messages).__name__}; pass"
            ' [("user", text)] for what a user says'
        )
    turns: list[ConversationTurn] = []
    for position, message in enumerate(messages):
        kind = kind_of(message)
        text = answer_of(message) if kind == "ai" else text_of(message)
        if not text or kind in ("", "system", "developer", "remove"):
            continue
        raw_id = message.get("id") if isinstance(message, dict) else getattr(message, "id", None)
        turns.append(
            ConversationTurn(
                id=raw_id if isinstance(raw_id, str) and raw_id else f"{position}:{hash_of(text)}",
                speaker="user" if kind == "human" else "assistant" if kind == "ai" else "outside",
                text=text,
                reported_by=str(getattr(message, "name", "") or kind),
            )
        )
    return turns


def sentences_in(text: str) -> Iterator[str]:
    """Yield the sentences of a message, each with the mark that ends it.

    Args:
        text: The words of the user.

    Yields:
        Sentences without blanks around them. Numbers with a point ("am 15. Mai") and common
        abbreviations end none.
    """
    start = 0
    for end in _END.finditer(text):
        sentence = text[start : end.end()].strip()
        rest = text[end.end() :].lstrip()
        if end.group().startswith(".") and _is_no_end(sentence, rest):
            continue
        if sentence:
            yield sentence
        start = end.end()
    if rest := text[start:].strip():
        yield rest


def _is_no_end(sentence: str, rest: str) -> bool:
    """Return whether a point is one of an abbreviation, a name or an ordinal."""
    is_opening = _OPENING.match(rest) is not None
    if _NO_END.search(sentence):
        has_letter = _INITIAL.search(sentence) is not None
        return not (has_letter and (is_opening or _LETTERED.search(sentence)))
    if not _NUMBER.search(sentence):
        return False
    is_ordinal = _ORDINAL.search(sentence) is not None and not is_opening
    return is_ordinal or _AFTER_ORDINAL.match(rest) is not None

"""Segmentation: statements for review, and chunks for long-term memory.

A reviewer decides about one statement at a time, so a statement keeps what it needs to be
understood alone: a sentence that begins with a pronoun stays with the sentence before it, an
item of a list with the line that introduces the list, and a block of code with its sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from memoryware._remembering import remembered
from memoryware.errors import SettingError
from memoryware.settings import TierLimits
from memoryware.tiers.text.terms import STOP_WORDS

MOST_STATEMENTS: Final = 50
"""A text of more statements is a document, which is reviewed as a whole."""
_SHORT_TEXT: Final = 4000
"""Characters of a text whose statements are cached: most entries are split more than once."""
_WRAPPED: Final = 60
"""Characters from which a line without an end mark is taken to be wrapped, not finished."""
_ITEM: Final = re.compile(r"[ \t]*(?:[-*+•·–—]|\(?\d{1,3}[.)]|\[[ xX]\])[ \t]+(?=\S)")
_HEADING: Final = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+")
_FENCE: Final = re.compile(r"[ \t]*(?:```|~~~)")
_TABLE: Final = re.compile(r"[ \t]*\|")
_END: Final = re.compile(
    r"""[.!?…]+["'”’»)\]]*\s+(?=["'“‘«(\[¿¡]*[^\W_a-zß-ÿ])|[。！？]+[”」』）]*\s*"""
)
"""An end mark before a word that is not in lower case; scripts without case need no blank."""
_ABBREVIATED: Final = re.compile(
    r"(?:^|[\s(\"'])(?:[^\W\d_]\.(?:\s?[^\W\d_]\.)*|(?:dr|mr|mrs|ms|prof|st|vs|ca|bzw|usw|etc|approx|inc"
    r"|ltd|jr|sr|vol|fig|al|art|abs|ggf|evtl|inkl|max|min|tel|str)\."
    # "am 3. Mai": a German ordinal.
    r"|(?:der|die|das|dem|den|des|am|vom|zum|zur|im|bis|ab|seit|jede[nmrs]?)\s\d{1,2}\.)$",
    re.IGNORECASE,
)
"""What ends with a period and ends no sentence: single letters, titles, ordinals."""
_NUMBERED: Final = re.compile(r"\b(?:no|nr|art|abs|fig|vol)\.$", re.IGNORECASE)
"""What ends no sentence before a number: "Room No. 5"."""
_FINISHED: Final = re.compile(r"[.!?…。！？:：;；][\"'”’»)\]」』）*_`]*\s*$")
_LEADS: Final = re.compile(r"[:：]\s*$")
_ANNOUNCES: Final = re.compile(
    r"\b(?:here|below|following|found|summary|hier|folgende\w*|unten|voici|aquí)\b|以下",
    re.IGNORECASE,
)
"""A line that only announces a list, as models write it: "Here is what I found:"."""
_PRONOUN: Final = re.compile(
    r"""["'“‘«(]*(?:
    (?:he|she|it|they|his|her|hers|its|their|theirs|them|him|both|neither|either)(?:'\w+)?
    |(?:this|that|these|those)(?=\s+(?:is|are|was|were|has|have|had|will|must|may|can|means?|
       does|do|should|applies|apply|includes?|needs?|happens?|also|only|never|always|not)\b)
    |(?:er|sie|ihr|ihre|ihrer|ihren|sein|seine|seinen)(?=\s)|es(?=\s)(?!\s+gibt\b)
    |(?:das|dies)(?=\s+(?:ist|sind|war|wird|gilt|heißt|muss|darf|kann|soll|hat|geht)\b)
    |(?:il|elle|ils|elles|cela|ça|él|ella|ellos|ellas|esto|eso)(?=\s)
    )\b|[它他她]们?|这(?=[是些])|那(?=[是些])""",
    re.VERBOSE | re.IGNORECASE,
)
"""Pronouns at the beginning of a sentence: alone it would not say what it speaks of."""
_NEXT_STEP: Final = re.compile(
    r"(?:then|next,|afterwards|after that|finally|lastly|secondly|thirdly|dann|danach|anschließend"
    r"|zuletzt|schließlich|zweitens|drittens|puis|ensuite|luego|después)\b|然后|接着|最后|其次",
    re.IGNORECASE,
)
"""Steps of a procedure: alone they would lose their order."""
_ORDER: Final = re.compile(
    r"([A-Z][a-z]+)\s+(?:the|a|an|your|my|our|all|each|every|this|both)\s", re.IGNORECASE
)
"""A verb and its object at the beginning: "Open the door.". Several of them are a procedure."""
_NO_VERBS: Final = STOP_WORDS | frozenset(
    {"since", "although", "because", "unless", "within", "without", "despite", "among", "except"}
)
_FRAGMENT: Final = re.compile(
    r"(?:since|because|until|till|except|unless|although|though|and|or|but|nor|including|such as"
    r"|seit|weil|bis|außer|und|oder|aber|denn|sowie)(?:\s+\S+){1,5}$",
    re.IGNORECASE,
)
"""A few words that go on with the sentence before: "Since 2021.", "But never on a Friday."."""


def sentences_of(text: str) -> tuple[str, ...]:
    """Split a text into statements that can be read, and promoted, one by one.

    Args:
        text: A text of any length.

    Returns:
        The statements, in their own words. A text of one statement, or of more than
        `MOST_STATEMENTS`, is returned as it is; a blank text has none.
    """
    return _cached(text) if len(text) <= _SHORT_TEXT else _split(text)


def _split(text: str) -> tuple[str, ...]:
    if not text.strip():
        return ()
    statements: list[str] = []
    for block in _blocks(text):
        for sentence, depends in block:
            is_step = _is_order(sentence) and bool(statements) and _is_order(statements[-1])
            if (depends or is_step) and statements:
                statements[-1] = (
                    f"{statements[-1]}\n{sentence}"
                    if "\n" in sentence
                    else _joined(statements[-1], sentence)
                )
            else:
                statements.append(sentence)
            if len(statements) > MOST_STATEMENTS:
                return (text,)
    return (text,) if len(statements) < 2 else tuple(statements)


_cached = remembered(4096)(_split)


def _depends(sentence: str) -> bool:
    """Return whether a sentence cannot be understood without the one before it."""
    return any(pattern.match(sentence) for pattern in (_PRONOUN, _NEXT_STEP, _FRAGMENT))


def _is_order(sentence: str) -> bool:
    """Return whether a sentence tells somebody to do something to something."""
    start = _ORDER.match(sentence)
    return start is not None and start[1].casefold() not in _NO_VERBS


def _joined(first: str, second: str) -> str:
    # Chinese and Japanese sentences follow each other without a blank.
    return first + second if first[-1:] in "。！？」』）" else f"{first} {second}"


def _blocks(text: str) -> Iterator[list[tuple[str, bool]]]:
    """Yield the sentences of each block of lines, and whether each needs the one before it."""
    lead, group, used = "", "", False
    for kind, block in _grouped_lines(text):
        if kind in ("code", "table"):
            yield [(f"{lead}\n{block}" if lead else block, not lead)]
            lead = group = ""
            continue
        if kind == "item":
            used = True
            parts = _sentences(block)
            if _LEADS.search(block):  # it introduces the items below it
                group = f"{parts.pop()} "
            elif group or lead:
                before = f"{lead} " if lead and not _ANNOUNCES.search(lead) else ""
                parts[0] = f"{before}{group}{parts[0]}"
            yield [(part, position > 0 and _depends(part)) for position, part in enumerate(parts)]
            continue
        if lead and not used:  # nothing came that it introduces
            yield [(lead, False)]
        lead, group, used = "", "", False
        if kind == "heading":  # it names what follows, and states nothing
            continue
        parts = _sentences(block)
        if _LEADS.search(block):
            lead = parts.pop()
        yield [(part, _depends(part)) for part in parts]
    if lead and not used:
        yield [(lead, False)]


def _grouped_lines(text: str) -> Iterator[tuple[str, str]]:
    """Yield blocks of lines: code, tables, headings, items of lists and paragraphs."""
    fence, held, kind = "", list[str](), ""

    def finished() -> Iterator[tuple[str, str]]:
        if held:
            yield kind, ("\n" if kind in ("code", "table") else " ").join(held)
            held.clear()

    for line in text.splitlines():
        if fence:
            held.append(line.rstrip())
            if line.lstrip().startswith(fence):
                fence = ""
                yield from finished()
            continue
        if opening := _FENCE.match(line):
            yield from finished()
            fence, kind = opening.group().strip(), "code"
            held.append(line.rstrip())
            continue
        if not line.strip():
            yield from finished()
            continue
        now = _kind_of(line)
        follows = held and (
            (now == kind == "table")
            or (now == "text" and kind != "table" and _goes_on(held[-1], line))
        )
        if not follows:
            yield from finished()
            kind = now
        held.append(line.strip() if now == "table" else line[_marker(line) :].strip())
    yield from finished()


def _kind_of(line: str) -> str:
    if _TABLE.match(line):
        return "table"
    if _HEADING.match(line):
        return "heading"
    return "item" if _ITEM.match(line) else "text"


def _marker(line: str) -> int:
    """Return how many characters the marker of an item takes at the beginning of a line."""
    marker = _ITEM.match(line)
    return marker.end() if marker else 0


def _goes_on(before: str, line: str) -> bool:
    """Return whether a line is the rest of the sentence on the line before."""
    if _FINISHED.search(before):
        return False
    return line.lstrip()[:1].islower() or len(before) >= _WRAPPED


def _sentences(block: str) -> list[str]:
    """Return the sentences of one paragraph; at least one."""
    sentences, start = [], 0
    for end in _END.finditer(block):
        before = block[start : end.end()].rstrip()
        is_numbered = _NUMBERED.search(before) and block[end.end() : end.end() + 1].isdigit()
        if is_numbered or _ABBREVIATED.search(before) or before.strip(" .!?…") == "":
            continue
        sentences.append(before.strip())
        start = end.end()
    if rest := block[start:].strip():
        sentences.append(rest)
    return sentences or [block.strip()]


def chunks_of(text: str, splitter: Any, limits: TierLimits) -> list[str]:
    """Split a text into chunks for long-term memory; a blank text has none.

    Args:
        text: The text.
        splitter: A LangChain `TextSplitter`, or None for chunks of `chunk_chars` characters
            that share `chunk_overlap`, cut at paragraphs, lines, blanks, or anywhere.
        limits: The limits with `chunk_chars` and `chunk_overlap`.

    Raises:
        SettingError: If chunks would share as much as they hold.
    """
    if not text.strip():
        return []
    chunks = (splitter or default_splitter(limits)).split_text(text)
    return [chunk for chunk in chunks if chunk.strip()] or [text]


def default_splitter(limits: TierLimits) -> Any:
    """Return the default splitter, which prefers to cut at paragraphs, then lines, then blanks.

    Raises:
        SettingError: If chunks would share as much as they hold.
    """
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    if limits.chunk_overlap >= limits.chunk_chars:
        raise SettingError(
            f"chunk_overlap={limits.chunk_overlap!r}: must be less than"
            f" chunk_chars={limits.chunk_chars!r}"
        )
    return RecursiveCharacterTextSplitter(
        chunk_size=limits.chunk_chars,
        chunk_overlap=limits.chunk_overlap,
        separators=["\n\n", "\n", " ", ""],
    )

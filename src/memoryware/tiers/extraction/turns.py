"""Read a conversation: its turns, and the words in a message that are the user's own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from memoryware.guard import drop_hidden
from memoryware.tiers.extraction.facts import ConversationTurn
from memoryware.tiers.messages import answer_of, kind_of, text_of
from memoryware.tiers.model import hash_of

_LONG: Final = 1_500
"""Characters from which a message is taken for a pasted text with words around it."""
_END_CHARS: Final = 10_000
"""Characters at each end of a message that are looked at."""
_REMARK: Final = 400
"""Characters of the first and last paragraph of such a message that may be the user's own."""
_QUOTE_WORDS: Final = 2
"""Words up to which a quotation is a name, as in 'my dog is called "Rex"'."""
_QUOTE_SIGNS: Final = 4
"""The same in characters of Chinese."""
_FENCE: Final = re.compile(r"(```|~~~).*?(?:\1|\Z)", re.DOTALL)
_TRIPLE: Final = re.compile(r'("""|\'\'\'|<<<).*?(?:"""|\'\'\'|>>>|\Z)', re.DOTALL)
_TAGGED: Final = re.compile(r"<([A-Za-z][\w-]*)\b[^<>]{0,200}>.*?(?:</\1\s*>|\Z)", re.DOTALL)
_QUOTED_LINE: Final = re.compile(
    r"^[ \t]*(?:>|\||\d{1,2}:\d\d\b|[\w .]{1,30}:[ \t]*$).*$", re.MULTILINE
)
_QUOTED: Final = re.compile(
    '"([^"\n]+)"|“([^”\n]+)”|„([^“”\n]+)[“”]|«([^»\n]+)»|»([^«\n]+)«|‘([^’\n]+)’(?![a-z])'
    "|「([^」\n]+)」|『([^』\n]+)』|(?<!\\w)'([^'\n]+)'(?!\\w)|(?<!\\w)`([^`\n]+)`"
)
_HANDED_OVER: Final = re.compile(
    r"""(?:translate|summari[sz]e|rephrase|rewrite|proofread|correct|shorten|paraphrase|reply\ to
    |here(?:'s|\ is|\ are)|this\ is|see\ below|below|following|(?:e-?mail|message|text|note|letter
    |log|readme|article|post|tweet|doc(?:ument)?|page|transcript|output)\b[^.!?\n]{0,30}
    |übersetz\w*|fass\w*[^.!?\n:]{0,30}zusammen|korrigier\w*|formulier\w*|hier\ ist|hier\ die
    |folgende\w*|schreib\w*\b[^.!?\n:]{0,30}um
    |翻译[^。！？\n:：]{0,12}|总结[^。！？\n:：]{0,12}|润色[^。！？\n:：]{0,12}|改写[^。！？\n:：]{0,12}
    |以下[^。！？\n:：]{0,12}|下面[^。！？\n:：]{0,12})[^.!?。！？\n:：]{0,40}[:：](?=\s|["“„「]|[\u4e00-\u9fff])""",
    re.VERBOSE | re.IGNORECASE,
)
"""The colon after which a user hands over a text: whatever follows is not about the user."""
_MONTHS: Final = r"(?:jan|feb|mär|maerz|mar|apr|ma[iy]|jun|jul|aug|sep|okt|oct|nov|de[zc])\w*"
_NO_END: Final = re.compile(
    r"(?:\b(?:dr|mr|mrs|ms|prof|st|nr|no|ca|bzw|usw|etc|vs|e\.g|i\.e|z\.\s?b|d\.\s?h|u\.\s?a)\."
    r"|\b[a-z]\.)$",
    re.IGNORECASE,
)
_CHINESE: Final = re.compile("[\u4e00-\u9fff]")
_ORDINAL: Final = re.compile(r"\b\d{1,4}\.$")
_AFTER_ORDINAL: Final = re.compile(rf"{_MONTHS}\b|[a-zäöü]", re.IGNORECASE)
_END: Final = re.compile(r"[.!?…]+[\"'”’)\]]*(?=\s)|[。！？；]+[”’」』）]*|\n+|;(?=\s)")


def turns_of(messages: Sequence[Any]) -> list[ConversationTurn]:
    """Return the turns of a list of messages.

    Args:
        messages: Messages of LangChain, mappings with role and content, or pairs of both.

    Returns:
        Turns with a text, in order. A message without an id gets one made of its text and position.
    """
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


def own_words(text: str) -> str:
    """Return what is left of a user's message without what others wrote in it.

    Quotations, code, quoted lines, tagged blocks, and texts that are handed over ("Translate: ...")
    are removed; of a very long message only short paragraphs at its beginning and end are kept.

    Args:
        text: The message.

    Returns:
        The user's own words; "" if there are none.
    """
    plain = drop_hidden(_ends_of(text))[0].replace("\r\n", "\n").replace("’", "'")
    for pattern in (_FENCE, _TRIPLE, _TAGGED):
        plain = pattern.sub("\n", plain)
    plain = _QUOTED_LINE.sub("", plain)
    if handed_over := _HANDED_OVER.search(plain):
        plain = plain[: handed_over.start()]
    if len(plain) > _LONG:
        paragraphs = [part.strip() for part in re.split(r"\n\s*\n", plain) if part.strip()]
        ends = dict.fromkeys((0, len(paragraphs) - 1)) if len(paragraphs) > 1 else {}
        plain = "\n".join(paragraphs[at] for at in ends if len(paragraphs[at]) <= _REMARK)
    return _QUOTED.sub(_without_quotation, plain).strip()


def _ends_of(text: str) -> str:
    """Return the beginning and end of a text that is too long for any of the rest to be read."""
    if len(text) <= 2 * _END_CHARS:
        return text
    # Of code or a block that is cut nobody sees where it begins.
    is_marked = any(mark in text for mark in ("```", "~~~", '"""', "'''", "<<<", "</"))
    tail = "" if is_marked else f"\n\n{text[-_END_CHARS:]}"
    return f"{text[:_END_CHARS]}{tail}"


def _without_quotation(match: re.Match[str]) -> str:
    quoted = next(group for group in match.groups() if group is not None)
    is_name = len(quoted.split()) <= _QUOTE_WORDS and (
        quoted.isascii() or len(quoted) <= _QUOTE_SIGNS or not has_chinese(quoted)
    )
    return quoted if is_name else " … "


def has_chinese(text: str) -> bool:
    """Return whether a text has a Chinese character; Japanese texts may have some as well.

    Args:
        text: The text.

    Returns:
        Whether it has.
    """
    return _CHINESE.search(text) is not None


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
        if end.group().startswith("."):
            if _NO_END.search(sentence):
                continue
            if _ORDINAL.search(sentence) and _AFTER_ORDINAL.match(rest):
                continue
        if sentence:
            yield sentence
        start = end.end()
    if rest := text[start:].strip():
        yield rest

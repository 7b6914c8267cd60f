"""Tell the words of a user in a message from what others wrote: quotations, mail, chat logs."""

from __future__ import annotations

import re
from typing import Final

from memoryware.guard import drop_hidden
from memoryware.tiers.text.nonfactual import ROLE_PLAY

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
_ENGLISH_WORK: Final = "translate|proofread|summari[sz]e|rephrase|rewrite|paraphrase|polish"
"""What is done with a text that somebody has written."""
_GERMAN_WORK: Final = r"übersetz\w*|korrigier\w*|umformulier\w*"
_CHINESE_WORK: Final = "翻译|润色|改写|总结|校对"
MAIL_HEADERS: Final = "from|subject|von|betreff|发件人|主题"
"""Words before a colon with which mail begins."""
_HANDED_OVER: Final = re.compile(
    rf"""(?:{_ENGLISH_WORK}|correct(?!ion)|shorten|reply\ to
    |here(?:'s|\ is|\ are)|this\ is|see\ below|below|following|(?:e-?mail|message|text|note|letter
    |log|readme|article|post|tweet|doc(?:ument)?|page|transcript|output)\b[^.!?\n]{{0,30}}
    |{_GERMAN_WORK}|fass\w*[^.!?\n:]{{0,30}}zusammen|formulier\w*|hier\ ist|hier\ die
    |folgende\w*|schreib\w*\b[^.!?\n:]{{0,30}}um
    |(?:{_CHINESE_WORK}|以下|下面)[^。！？\n:：]{{0,12}})[^.!?。！？\n:：]{{0,40}}[:：](?=\s|["“„「]|[\u4e00-\u9fff])""",
    re.VERBOSE | re.IGNORECASE,
)
"""The colon after which a user hands over a text: whatever follows is not about the user."""
_LABELLED: Final = re.compile(
    r"^[ \t]*(?!(?:note|also|p\.?s|fyi|btw|update|remember|reminder|info|hinweis|notiz|übrigens)\b)"
    r"[\[(]?(?:\d{1,2}[:.]\d\d[^\]\n]{0,12}[\])]?[ \t]*[-–]?[ \t]*)?"
    r"(?:(?-i:[A-Z\u4e00-\u9fff])[\w.@-]{0,20}(?:[ \t][\w.@()-]{1,20}){0,2})[ \t]*[:：][ \t]*\S.*$",
    re.MULTILINE | re.IGNORECASE,
)
"""A line of a chat log: the time, the speaker, and what that one said."""
_ROLE_LINE: Final = re.compile(
    r"^[ \t]*(?:#+[ \t]*)?(?:system|assistant|user|human|ai|developer|tool)[ \t]*[:：].*$",
    re.MULTILINE | re.IGNORECASE,
)
_FORWARDED: Final = re.compile(
    rf"""^[ \t]*(?:-{{2,}}[ \t]*(?:original\ message|forwarded\ message|ursprüngliche\ nachricht
    |weitergeleitete\ nachricht|原始邮件|转发)|begin\ forwarded\ message
    |(?:{MAIL_HEADERS})[:：]
    |(?:on|am)\b[^\n]{{1,120}}\b(?:wrote|schrieb)\b[^\n]{{0,80}}[:：][ \t]*$)[\s\S]*\Z""",
    re.MULTILINE | re.IGNORECASE | re.VERBOSE,
)
"""The head of a mail: all that follows is of others."""
_GREETING: Final = re.compile(
    r"""^[ \t]*(?:hi|hello|hey|dear|good\ (?:morning|afternoon|evening)|hallo|liebe[rs]?
    |sehr\ geehrte\w*|guten\ (?:tag|morgen|abend)|moin|你好|您好|尊敬的)\b
    [^.!?。！？:\n]{0,40}[,!，！:：]?[ \t]*$""",
    re.MULTILINE | re.IGNORECASE | re.VERBOSE,
)
_CLOSING: Final = re.compile(
    r"""^[ \t]*(?:(?:kind|best|warm|many)?\ ?(?:regards|wishes)|best|cheers|thanks|thank\ you
    |sincerely|yours(?:\ \w+)?|(?:viele|liebe|beste|schöne|freundliche)?\ ?grüße
    |mit\ \w+\ grüßen|lg|vg|mfg|danke|此致|祝好|谢谢)[,.!，。！]?[ \t]*
    \n+[ \t]*[^\s.!?。！？][^.!?。！？\n]{0,40}[ \t]*$""",
    re.MULTILINE | re.IGNORECASE | re.VERBOSE,
)
"""The end of a letter, with the name of whoever signs it."""
_CHINESE: Final = re.compile("[\u4e00-\u9fff]")
_BULLET: Final = re.compile(r"^[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+(?=\S)", re.MULTILINE)
_SENTENCE_END: Final = re.compile(r"[.!?:。！？：\n]")
_LINES_OF_LOG: Final = 2
_ABOUT_TEXT: Final = re.compile(
    rf"""(?<!\bI\ )\b(?:{_ENGLISH_WORK})\b
    |\b(?:reply|respond|answer)\ (?:to\ )?(?:this|that|the\ (?:e-?mail|mail|message|letter))\b
    |\b(?:should|can|do)\ i\ (?:reply|answer|respond|write\ back)\b
    |(?<!\bIch\ )\b(?:{_GERMAN_WORK})|\bfass\w*\b[^\n]{{0,40}}\bzusammen\b
    |\b(?:soll|kann)\ ich\ (?:\w+\ )?antworten\b|\bbeantworte\w*|{_CHINESE_WORK}|回复""",
    re.IGNORECASE | re.VERBOSE,
)
"""A request that is about a text, which the message then has."""
_PLAYED: Final = re.compile(
    rf"""{ROLE_PLAY}|\b(?:you\ are|you're)\ (?:now\b|an?\ |(?-i:[A-Z]))
    |\bonce\ upon\ a\ time\b|\bcover\ letter\b
    |(?:^|[.!?\n][ \t]?|\b(?:please|you)\ )(?:write|draft)\ (?:me\b|an?\b|my\b)
    |\bdu\ bist\ ein\b|\bes\ war\ einmal\b
    |(?:^|[.!?\n][ \t]?|\bbitte\ )(?:schreib|verfass)e?\ (?:mir\b|eine?n?\b)
    |你是一|从前|写一""",
    re.IGNORECASE | re.VERBOSE,
)
"""Signs of a role, or of a text that is to be written, in which "I" is somebody else."""


def own_words(text: str) -> str:
    """Return what is left of a user's message without what others wrote in it.

    Quotations, code, quoted lines, tagged blocks, mail, chat logs, and texts that are handed over
    ("Translate: ...") are removed; of a very long message only short paragraphs at its beginning
    and end are kept.

    Args:
        text: The message.

    Returns:
        The user's own words; "" if there are none.
    """
    plain = drop_hidden(_ends_of(text))[0].replace("\r\n", "\n").replace("’", "'")
    for pattern in (_FENCE, _TRIPLE, _TAGGED):
        plain = pattern.sub("\n", plain)
    plain = _BULLET.sub("", _without_mail(plain))
    plain = _QUOTED_LINE.sub("", plain)
    if handed_over := _HANDED_OVER.search(plain):
        plain = plain[: handed_over.start()]
    if len(plain) > _LONG:
        paragraphs = [part.strip() for part in re.split(r"\n\s*\n", plain) if part.strip()]
        ends = dict.fromkeys((0, len(paragraphs) - 1)) if len(paragraphs) > 1 else {}
        plain = "\n".join(paragraphs[at] for at in ends if len(paragraphs[at]) <= _REMARK)
    return _QUOTED.sub(_without_quotation, plain).strip()


def hands_over(message: str) -> bool:
    """Return whether a message asks for work on a text, which it may have in it without a mark.

    Args:
        message: The message.

    Returns:
        Whether it does, as in "Please proofread. I am a lawyer."
    """
    return _ABOUT_TEXT.search(message) is not None


def is_invented(message: str) -> bool:
    """Return whether a message asks for a role or a new text, in which "I" is somebody else.

    Args:
        message: The message.

    Returns:
        Whether it does, as in "Write a story. I am the king of Rome."
    """
    return _PLAYED.search(message) is not None


def is_own(statement: str, message: str) -> bool:
    """Return whether a statement of a message is in the words that are the user's own.

    Args:
        statement: The statement.
        message: The message.

    Returns:
        Whether it is; one with characters that nobody sees is not.
    """
    own = _spaced(own_words(message))
    return _spaced(statement.replace("’", "'")) in own


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _without_mail(text: str) -> str:
    """Return a message without the mail, chat log or other text that its request is about."""
    plain = _ROLE_LINE.sub("", _FORWARDED.sub("", text))
    if len(_LABELLED.findall(plain)) >= _LINES_OF_LOG:
        plain = _LABELLED.sub("", plain)
    greeting = _GREETING.search(plain)
    closing = _CLOSING.search(plain, greeting.end() if greeting else 0)
    if closing is not None:
        start = greeting.start() if greeting else 0
        plain = f"{plain[:start]}\n{plain[closing.end() :]}"
    return _without_object(plain.strip())


def _without_object(text: str) -> str:
    """Return a message up to the request for work on a text, or that request if it comes last."""
    request = _ABOUT_TEXT.search(text)
    if request is None:
        return text
    line = text.rfind("\n", 0, request.start()) + 1
    if line == 0:
        end = _SENTENCE_END.search(text, request.end())
        return text[: end.end()] if end else text
    return text[line:] if "\n" not in text[line:] else text


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

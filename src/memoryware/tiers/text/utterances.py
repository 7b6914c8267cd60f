"""Recognise what people say to an agent that is nothing to remember: questions, orders, courtesy.

A person asks most of the time. A question that is kept in working memory is found whenever
somebody asks about the same again, in the place of an answer. In doubt an utterance is a
statement: a question in memory is noise, a fact that is missing is a loss.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from memoryware.tiers.text.content import says_something
from memoryware.tiers.text.household import speaks_of_household
from memoryware.tiers.text.nonfactual import (
    IMAGINED,
    JOKE,
    OF_A_MOMENT,
    REPORTED,
    RETRACTION,
    UNSURE,
)
from memoryware.tiers.text.own_words import MAIL_HEADERS, hands_over, is_invented, is_own

ChatterCode = Literal["no_content", "question", "pasted"]
"""Why an utterance states nothing that later runs need; it is kept in quarantine only."""

_LONGEST: Final = 4_000
"""Characters of an utterance. What is longer was pasted, and was probably written by others."""
_PARTS: Final = re.compile(r"[.!…。！;；\n]+(?=\s|$|[^\x00-\x7f])|[.!]\s+|(?<=[?？])\s*|\n+")
"""Ends of sentences. The question mark stays with its sentence."""
_CLAUSES: Final = re.compile(r"[,，、:：–—]\s*|\s-\s|\s(?:so|und|and|but|aber|also)\s")
_TAG: Final = re.compile(
    r"[,，]\s*(?:ok|okay|right|remember|alright|yes|no|isn't it|nicht wahr|oder|ja|gell|stimmt's"
    r"|对吧|好吗|好吧|是吧|行吗)\s*[?？]$",
    re.IGNORECASE,
)
"""A statement that asks for agreement: "I live in Rome, ok?"."""
_WH: Final = (
    r"(?:what|which|who|whose|whom|where|when|why|how|was|welche[rsnm]?|wer|wessen|wem|wen|wo|wohin"
    r"|woher|wann|warum|wieso|wie|womit|wofür)"
)
_VERB: Final = (
    r"(?:is|are|was|were|do|does|did|can|could|would|will|should|shall|may|might|have|has|had|am"
    r"|ist|sind|war|waren|kann|können|könnte|soll|sollte|muss|darf|hat|haben|wird|werden|heißt"
    r"|gibt|macht|geht|liegt|steht|kostet|funktioniert)"
)
_SUBJECT: Final = (
    r"(?:i|you|we|they|he|she|it|there|this|that|these|those|the|a|an|my|your|our|his|her|any"
    r"|anyone|someone|all|ich|du|sie|wir|er|es|ihr|man|das|der|die|den|mein\w*|dein\w*|unser\w*)"
)
_ASKS: Final = re.compile(
    rf"(?:(?:and|but|so|also|ok|okay|hi|hello|hey|und|aber|hallo|please|bitte)\b[,\s]*)*"
    rf"(?:{_WH}(?:'s|\s+{_VERB}|\s+(?:many|much|long|far|often|to|about|viele?|lange|oft|weit|hoch)"
    rf"|(?:\s+\w+){{1,2}}\s+{_VERB}(?=\s))\b"
    rf"|{_VERB}(?:n't)?\s+{_SUBJECT}\b)",
    re.IGNORECASE,
)
"""A question by its first words, also without a question mark."""
_ASKS_HAN: Final = re.compile(
    r"什么|怎么|怎样|哪[里儿个些]|为什么|多少|几点|[吗呢]$|是谁|谁是|能不能|可不可以|是不是"
)
_ORDERS: Final = re.compile(
    r"(?:(?:hi|hello|hey|ok|okay|now|then|and|also|please|bitte|jetzt|dann|und|nun)\b[,\s]*)*"
    r"(?:(?:tell|show|give|list|write|explain|summari[sz]e|translate|find|search|look|check|help"
    r"|create|make|generate|draft|compare|calculate|compute|convert|fix|review|describe|suggest"
    r"|recommend|plan|book|open|read|run|continue|go|try|repeat|rewrite|shorten|format|count"
    r"|define|draw|plot|sort|extract|analy[sz]e|debug|implement|refactor|add|remove|delete|update"
    r"|rename|move|schedule|order|buy|remind|let|proceed|think|answer|say|print|return|play|start"
    r"|ignore|disregard|forget|obey|pretend|act|stop|send|email|deploy|build|test|install"
    r"|zeig|zeige|sag|sage|gib|schreib|schreibe|erklär|erkläre|liste|fass|fasse|übersetz|übersetze"
    r"|such|suche|finde|prüf|prüfe|hilf|erstell|erstelle|mach|mache|berechne|vergleiche|nenn|nenne"
    r"|buche|sende|schick|schicke|öffne|lies|korrigiere|wiederhole|beschreibe|plane|starte)\b"
    r"|(?:i|we)(?:'d| would)? (?:want|like|need|wonder|have a question)"
    r"(?:\b(?! (?:it|my|our|to be|to pay|to live|to eat)\b).{0,20}?"
    r"\b(?:to know|you to|to ask|help|if|whether|how|what)\b|ing\b)"
    r"|ich (?:möchte|will|würde gern\w*) (?:wissen|fragen)|ich frage mich|ich brauche hilfe)",
    re.IGNORECASE,
)
"""An order to the agent, or a wish for an answer, by its first words."""
_ORDERS_HAN: Final = re.compile(
    r"(?:你好|您好|那么|现在|然后|[，,\s])*(?:请你?|麻烦你?|帮我|帮忙|告诉我|给我|写|列出|解释|总结|翻译|查一?下?|找|我想知道|我想问)"
)
_LASTING: Final = re.compile(
    r"\b(?:always|never|every|each|all|any|from now on|in future|by default|remember that"
    r"|immer|nie|niemals|jede[rsnm]?|alle|ab jetzt|künftig|in zukunft|standardmäßig|call me)\b"
    r"|总是|从不|每次|每[天周月年]|以后|永远|默认",
    re.IGNORECASE,
)
"""Words of a standing instruction: "Send all invoices to the accountant"."""
_FIRST_PERSON_START: Final = re.compile(
    r"(?:i|i'm|i've|i'd|my|we|we're|we've|our|ich|mein\w*|wir|unser\w*)\s|我|我们|咱",
    re.IGNORECASE,
)
"""The beginning of a clause about the speaker or the speaker's group."""
_FIRST_PERSON: Final = re.compile(
    r"\b(?:i|i'm|i've|i'd|i'll|me|my|mine|myself|ich|mich|mir|mein\w*)\b|我(?!们)|本人",
    re.IGNORECASE,
)
"""The first person singular, in any case."""
_FIRST_PERSON_SUBJECT: Final = re.compile(
    r"\b(?:i|i'm|i've|i'd|i'll|my|mine|ich|mein\w*)\b|我(?!们)|本人", re.IGNORECASE
)
"""The same as a subject or an owner only: an order may have "me" in it."""
_TO_LISTENER: Final = re.compile(r"(?:you|du|sie|ihr)\b|[你您]", re.IGNORECASE)
_STANDING: Final = re.compile(
    r"(?:please |bitte |请)?(?:(?:always|never|from now on,?|in future,?|immer|nie|ab jetzt|以后请?"
    r"|总是)\s*(?:answer|reply|respond|write|speak|talk|use|call|address|show|give|keep"
    r"|antworte|schreib\w*|sprich|nutze|verwende|duze|sieze|用|叫)|(?:call|address) me\b)",
    re.IGNORECASE,
)
"""How the user wants to be treated: "Always answer in German"."""
_NO_LASTING_FACT: Final = (IMAGINED, JOKE, RETRACTION, UNSURE, OF_A_MOMENT)
_QUOTED: Final = re.compile(
    rf"^\s*>|```|[\"“”„«»「」『』]|^\s*(?:{MAIL_HEADERS})[:：]", re.MULTILINE | re.IGNORECASE
)
"""Marks of a text that somebody else may have written."""
_LONGEST_OWN_MESSAGE: Final = 500
"""Characters of a message; in a longer one some words are probably those of others."""


def speaks_of_self(text: str) -> bool:
    """Return whether a person says something of themselves, in any sentence of a text.

    Args:
        text: What the person wrote.

    Returns:
        Whether a sentence has the first person, speaks of the person's household ("our daughter"),
        or says how the person wants to be treated.
    """
    return any(
        _FIRST_PERSON.search(part)
        or _STANDING.match(part.strip())
        or speaks_of_household(part.strip())
        for part in _sentences(text)
    )


def is_lasting_fact(statement: str) -> bool:
    """Return whether a statement may be promoted without a decision.

    Args:
        statement: One statement.

    Returns:
        False for questions, orders and courtesy, hypotheses and jokes, doubts, and what is true
        of one moment only.
    """
    plain = statement.strip().replace("’", "'")
    return (
        says_something(plain)
        and not is_question(plain)
        and not is_order(plain)
        and not any(pattern.search(plain) for pattern in _NO_LASTING_FACT)
    )


def may_quote(message: str) -> bool:
    """Return whether a message may have the words of others in it.

    Args:
        message: The whole message.

    Returns:
        Whether it has marks of a quotation, asks for work on a text, or is long.
    """
    return (
        len(message) > _LONGEST_OWN_MESSAGE
        or _QUOTED.search(message) is not None
        or hands_over(message)
    )


def is_own_fact(statement: str, message: str) -> bool:
    """Return whether a statement is a lasting fact that its author states of themselves.

    Args:
        statement: One statement of the message.
        message: The whole message: a quotation makes all of it doubtful.

    Returns:
        Whether it is; what others have said of the author is not.
    """
    plain = statement.strip().replace("’", "'")
    is_standing = bool(_STANDING.match(plain))
    is_of_self = bool(_FIRST_PERSON_SUBJECT.search(plain)) and not _TO_LISTENER.match(plain)
    is_of_self = is_standing or (is_of_self and not _ORDERS.match(plain))
    is_short = len(message) <= _LONGEST_OWN_MESSAGE
    return is_of_self and is_short and is_lasting_fact(plain) and not _is_of_others(plain, message)


def _is_of_others(statement: str, message: str) -> bool:
    """Decide whether a statement may be somebody else's, by itself or by what is around it."""
    return (
        _QUOTED.search(message) is not None
        or REPORTED.search(statement) is not None
        or is_invented(message)
        or hands_over(message)
        or not is_own(statement, message)
    )


def chatter_code(text: str) -> ChatterCode | None:
    """Return why an utterance of a person is nothing that later runs need.

    Args:
        text: What the person wrote.

    Returns:
        "no_content" for courtesy and single words, "question" if every sentence asks or orders
        something, "pasted" for a text that is too long to be typed; None for a statement.
    """
    if len(text) > _LONGEST:
        return "pasted"
    if not says_something(text):
        return "no_content"
    return None if any(map(makes_statement, _sentences(text))) else "question"


def makes_statement(sentence: str) -> bool:
    """Return whether a sentence of a person states something beside what it asks or orders.

    Args:
        sentence: One sentence, with its question mark if it has one.

    Returns:
        Whether it does, or one of its clauses does: "I am vegetarian, any ideas?".
    """
    sentence = sentence.strip().replace("’", "'")
    if not sentence or not says_something(sentence):
        return False
    if _TAG.search(sentence):
        return True
    if not is_question(sentence) and not is_order(sentence):
        return True
    clauses = [clause.strip() for clause in _CLAUSES.split(sentence) if clause]
    return len(clauses) > 1 and any(
        _FIRST_PERSON_START.match(clause)
        and not is_question(clause)
        and not is_order(clause)
        and says_something(clause)
        for clause in clauses
    )


def is_question(sentence: str) -> bool:
    """Return whether a sentence asks something, by its mark or its first words.

    Args:
        sentence: One sentence.

    Returns:
        Whether it does.
    """
    sentence = sentence.strip()
    if sentence.endswith(("?", "？")):
        return True
    return bool(_ASKS.match(sentence) or _ASKS_HAN.search(sentence))


def is_order(sentence: str) -> bool:
    """Return whether a sentence orders something once; a standing instruction does not.

    Args:
        sentence: One sentence.

    Returns:
        Whether it does.
    """
    if _LASTING.search(sentence):
        return False
    return bool(_ORDERS.match(sentence.strip()) or _ORDERS_HAN.match(sentence.strip()))


def _sentences(text: str) -> list[str]:
    return [part for part in _PARTS.split(text) if part and part.strip()]

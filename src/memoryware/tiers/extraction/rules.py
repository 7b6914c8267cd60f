"""Extract facts sentence by sentence with rules: no model, English, German and Chinese.

The rules prefer silence to a wrong fact. A clause counts only if it matches a pattern of statements
about the user and their world, or at least has the shape of a lasting statement, and has no sign
of a joke, a question, a condition, doubt, reported speech or a prompt injection. Only turns of the
user are read; answers of the assistant are consulted for what a correction ("no, it's Tuesday")
refers to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from memoryware.tiers.extraction.corrections import (
    EDGES,
    UNCLEAR,
    bare_correction,
    corrected_text,
    values_in,
    without_objection,
)
from memoryware.tiers.extraction.facts import ConversationTurn, ExtractedFact
from memoryware.tiers.extraction.forget_requests import ForgetRequest, forget_request
from memoryware.tiers.extraction.own_world import in_plain_order
from memoryware.tiers.extraction.plain_statements import PLAIN_CONFIDENCE, is_plain_statement
from memoryware.tiers.extraction.preference_subjects import CHOICES, preference_subject
from memoryware.tiers.extraction.rule_patterns import (
    CHINESE,
    DATE,
    ENGLISH,
    GERMAN,
    INJECTION,
    NAME,
    VALUE,
    FactPattern,
    LanguagePatterns,
    is_passing,
)
from memoryware.tiers.extraction.turns import sentences_in
from memoryware.tiers.text.nonfactual import (
    FINAL_LAUGHTER,
    JOKING,
    LAUGHTER,
    OF_LISTENER,
    SERIOUS,
    TAKES_BACK,
)
from memoryware.tiers.text.own_words import has_chinese, is_invented, own_words
from memoryware.tiers.text.tokens import is_german

_LONGEST: Final = 300
"""Characters of a clause that may be a fact; longer ones are prose."""
_SHORTEST: Final = 4
_RECENT: Final = 4
"""Turns of the user that a correction of a weekday, a date or a time may be about."""
_LATEST: Final = 2
"""Turns of the user that any other correction may be about: numbers are in many sentences."""
_SHORT_JOKE: Final = 25
"""Characters besides the words for a joke up to which a message takes back the one before it."""
_EDGES: Final = EDGES
_LAUGHTER_CHARS: Final = 60
"""Characters at the end of a sentence that may be laughter; the time grows with their square."""
_UNDECIDED: Final = 0.5
"""Confidence of a fact that the user corrects in words that may be about several parts of it."""
_REMEMBERED: Final = 0.9
"""Confidence of a statement that the user asks to remember."""
_UNCLEAR: Final = 0.5
"""The same of a request that may be meant for a file: "Delete my draft"."""
_SUBJECT_START: Final = re.compile(
    r"(?:i|my|we|our|ich|mein\w*|wir|unser\w*|the|der|die|das)\b|.{0,2}我", re.IGNORECASE
)
"""The beginning of a statement that may be kept without a pattern, if the user asks for it."""
_SUBORDINATE: Final = re.compile(r"(ich|wir)\s+(.+)\s+([a-zäöüß]+)$", re.IGNORECASE)
_NOUN_PHRASE: Final = re.compile(
    r"(?:the|my|our|der|die|das|mein\w?|unsere?\w?)\s+((?:[\w'&./+-]+\s+){1,5}?)"
    r"(?:is|are|ist|sind|goes|runs|starts|findet|läuft|beginnt|heißt|liegt|steht)\b",
    re.IGNORECASE,
)
_HAN_PHRASE: Final = re.compile("(?:我们的|我们|我的)?([^我你是在为，]{2,10}?)(?:是|在|为|改为)")
_GERMAN: Final = re.compile(
    r"\b(?:ich|wir|mir|mich|mein\w{0,2}|dein\w{0,2}|unser\w{0,2}|bitte|nein|nicht|kein\w{0,2}"
    r"|und|ist|das|der|auf|bei|mit|von|zum|zur|werden|haben|sind|sich|dürfen|müssen|bekommen|brauchen"
    r"|zahlen)\b",
    re.IGNORECASE,
)
_UMLAUT: Final = re.compile("[äöüß]", re.IGNORECASE)
_ENGLISH: Final = re.compile(r"\b(?:the|we|i|my|our|have|and|is)\b", re.IGNORECASE)
_SPELLINGS: Final = {
    "im": "I'm",
    "ive": "I've",
    "dont": "don't",
    "cant": "can't",
    "pls": "please",
    "plz": "please",
}
"""Spellings of chats; in German "im" is a word."""
_SPELLED: Final = re.compile(rf"\b(?:{'|'.join(_SPELLINGS)})\b", re.IGNORECASE)
_LASTING: Final = (
    r"(?=.*\b(?:always|never|from now on|going forward|in (?:the )?future|by default|every time)\b)"
)
_LASTING_DE: Final = r"(?=.*\b(?:immer|nie|niemals|ab jetzt|ab sofort|künftig|in Zukunft)\b)"
_LASTING_REQUEST: Final = re.compile(
    rf"(?:please\s+)?(?:could|can|would|will) you (?:please )?{_LASTING}([^?]+)\?"
    rf"|(?:kannst|könntest|würdest) du (?:bitte )?{_LASTING_DE}([^?]+)\?",
    re.IGNORECASE,
)
"""A polite question that asks for a habit of the assistant."""
_CUT: Final = re.compile(
    r"\b(?:the|an|(?-i:a)|my|your|our|to|of|with|is|are|and|or)$", re.IGNORECASE
)
"""The end of a statement whose rest was no word of the user."""
_CUT_GERMAN: Final = re.compile(r"\b(?:der|die|das|ein\w?|und|oder|ist|sind)$", re.IGNORECASE)
"""The same in German, where "an", "auf", "mit" and "zu" end a clause as a part of its verb."""
_HAN_SUBJECTLESS: Final = re.compile("(?:在|住|做|会|对|是|有|养|喜欢|不喜欢|讨厌|不吃|不喝|每)")
"""The beginning of a Chinese clause that has the subject of the clause before."""
_HAN_SELF: Final = re.compile(
    "我(?:也|还|都|更|最|很|一直|现在|目前|平时|今年|已经|刚|只|不|没|从来|每)*"
    r"(?:叫|姓|住|在|是|来自|对|有|养|会|用|做|喜|爱|讨厌|吃|喝|学|教|负责|搬|结婚|离婚|退休|出生|从事|\d|戴|开|骑|坐|乘|上|起|睡|干|租)"
)
"""A Chinese clause whose subject is the speaker, and not somebody or something of the speaker."""
_OF_SELF: Final = re.compile(
    r"I(?:['’]m|\s+am|\s+(?:(?:also|now|currently|usually)\s+)?(?:live|work|study|teach|moved|grew\s+up|come))"
    r"\s+(?:in|at|from|for|as|near|to|with|a|an|the|on|\d|\w+\s+years)\b"
)
"""A statement of the user about themselves that another one may follow: "I live in Dublin"."""
_AND_OF_SELF: Final = re.compile(
    r"\s*,?\s+and\s+(?=(?:(?:also|now|currently)\s+)?(?:live\s+in|work\s+(?:as|at|for|in)|study|teach"
    r"|am\s+(?:an?|allergic|vegan|vegetarian|married|single|\d)|come\s+from|prefer|like|love|hate|drive|speak"
    r"|play|own|have\s+(?:\d+|an?|two|three|four|five|no)\s+(?!question|problem|idea|request|favou?r))\b)",
    re.IGNORECASE,
)
_OF_SELF_GERMAN: Final = re.compile(
    r"ich\s+(?:bin|heiße|wohne|lebe|arbeite|komme|studiere)\s+\w", re.IGNORECASE
)
_AND_OF_SELF_GERMAN: Final = re.compile(
    r"\s+und\s+(?=(?:(?:wohne|lebe)\s+in|arbeite\s+(?:als|bei|in|für)|komme\s+aus|studiere|heiße"
    r"|bin\s+(?!d[ea]|so|gerade)|habe\s+(?:\d+|eine?n?|zwei|drei|vier|fünf|keine?n?)\s+(?!frage|problem|idee|bitte)"
    r"|(?:spiele|spreche|fahre|mag|liebe|trinke|esse)(?!\s+(?:jetzt|gerade|heute|gleich)))\b)",
    re.IGNORECASE,
)
_GERMAN_SUBJECTLESS: Final = re.compile(
    r"(?:(?:wohne|lebe)\s+in|arbeite\s+(?:als|bei)|komme\s+aus|studiere|heiße)\b", re.IGNORECASE
)
"""The beginning of a German clause that has the subject of the clause before."""
_INFINITIVE: Final = re.compile(
    r"\b(?:to\s+(?!the|an?\b|my|[A-Z])|can|could|will|would|should|must|may|might|want|let)\b"
)
"""A word after which a verb is no statement: "I want to live and work in Rome"."""


@dataclass(slots=True)
class _Reading:
    """What has been read of a conversation so far.

    Attributes:
        facts: The facts, in order.
        spoken: The latest answer of the assistant.
        last_turns: The ids of the latest turns of the user, the last one first.
        stored: The facts that were proposed before; nothing but a correction changes them.
    """

    facts: list[ExtractedFact] = field(default_factory=list)
    spoken: ConversationTurn | None = None
    last_turns: tuple[str, ...] = ()
    stored: Sequence[ExtractedFact] = ()


def facts_by_rules(
    turns: Sequence[ConversationTurn],
    earlier: Sequence[ExtractedFact] = (),
    before: Sequence[ConversationTurn] = (),
) -> list[ExtractedFact]:
    """Return the facts that the user states in a conversation.

    Args:
        turns: The turns, in order. Only those of the user are a source.
        earlier: Facts of the same conversation that were extracted before; "no, it's Tuesday" may
            correct one of them.
        before: The turns of the same conversation before these, whose facts are among the earlier
            ones; they are not read again.

    Returns:
        The facts, in order and each once; a corrected fact stands corrected.
    """
    reading = _Reading([*earlier], stored=earlier)
    for is_new, turn in [*((False, turn) for turn in before), *((True, turn) for turn in turns)]:
        if turn.speaker == "assistant":
            reading.spoken = turn
        elif turn.speaker == "user":
            if is_new:
                _read(turn, reading)
            reading.last_turns = (turn.id, *reading.last_turns[: _RECENT - 1])
    new = [fact for fact in reading.facts if fact not in earlier]
    return list({(fact.text, fact.action): fact for fact in new}.values())


def _read(turn: ConversationTurn, reading: _Reading) -> None:
    """Add the facts of one message of the user."""
    if is_invented(turn.text):
        return
    text = own_words(turn.text)
    serious = SERIOUS.split(text)
    text = serious[-1] if len(serious) > 1 else text
    if _takes_back(text):
        before = reading.last_turns[:1]
        reading.facts = [fact for fact in reading.facts if not {*before} & {*fact.message_ids}]
        return
    if JOKING.search(text):
        return
    has_laughter = LAUGHTER.search(text) is not None
    for written in _sentences_without_laughter(text):
        if INJECTION.search(written):
            continue
        patterns, sentence = _patterns_of(written), written
        if patterns is ENGLISH:
            sentence = _SPELLED.sub(lambda match: _SPELLINGS[match[0].lower()], written)
        if request := _request_of(sentence, patterns):
            reading.facts.append(_deletion(request, sentence, turn, patterns))
            continue
        corrected = _correction_in(sentence.strip(_EDGES), patterns, turn, reading)
        if corrected is not None:
            reading.facts.append(corrected)
            continue
        facts = _facts_of(sentence, patterns, turn)
        if not facts and (statement := without_objection(sentence)) != sentence:
            facts = _facts_of(statement, patterns, turn)
        reading.facts += map(_with_doubt, facts) if has_laughter else facts


def _facts_of(
    sentence: str, patterns: LanguagePatterns, turn: ConversationTurn
) -> list[ExtractedFact]:
    """Return the facts of a sentence that corrects nothing, without laughter at their ends."""
    clauses = (_without_final_laughter(clause) for clause in _clauses(sentence, patterns))
    facts = [_fact_of(clause, patterns, turn) for clause in clauses]
    return [fact for fact in facts if fact is not None and LAUGHTER.search(fact.text) is None]


def _takes_back(text: str) -> bool:
    """Return whether a message takes back what its user has said before: "Just kidding!"."""
    plain = LAUGHTER.sub("", text).strip(_EDGES)
    return (
        TAKES_BACK.search(plain) is not None
        and OF_LISTENER.search(text) is None
        and len(TAKES_BACK.sub("", plain).strip(_EDGES)) <= _SHORT_JOKE
    )


def _without_final_laughter(text: str) -> str:
    """Return a text without the laughter at its end, which is looked for in the end only."""
    start = max(0, len(text) - _LAUGHTER_CHARS)
    return f"{text[:start]}{FINAL_LAUGHTER.sub('', text[start:])}"


def _with_doubt(fact: ExtractedFact) -> ExtractedFact:
    """Return a fact that was said with laughter: no policy promotes it, and a person decides."""
    return replace(fact, confidence=min(fact.confidence, PLAIN_CONFIDENCE))


def _sentences_without_laughter(text: str) -> Iterator[str]:
    """Yield the sentences of a message without the laughter at their ends.

    What laughter precedes is left out: "Haha, I am the queen of Spain."
    """
    is_after_laughter = False
    for position, written in enumerate(sentences_in(text)):
        sentence = _without_final_laughter(written)
        if not sentence.strip(_EDGES):
            is_after_laughter = position == 0
            continue
        if not is_after_laughter and LAUGHTER.match(sentence.lstrip(_EDGES)) is None:
            yield sentence
        is_after_laughter = False


def _request_of(sentence: str, patterns: LanguagePatterns) -> ForgetRequest | None:
    """Return what a whole sentence asks to forget, unless one of its clauses says so by itself."""
    clauses = () if sentence.endswith(("?", "？")) else _split(sentence, patterns)[0]
    if any(forget_request(_without_lead(clause, patterns)) for clause in clauses):
        return None
    return forget_request(_without_lead(sentence, patterns))


def _deletion(
    request: ForgetRequest, sentence: str, turn: ConversationTurn, patterns: LanguagePatterns
) -> ExtractedFact:
    matter = _main_clause(request.matter, patterns)
    confidence = _REMEMBERED if request.is_clear else _UNCLEAR
    fact = _fact(matter, "fact", confidence, turn, patterns, action="delete")
    return replace(fact, subject=request.subject, evidence=sentence.strip(_EDGES))


def _patterns_of(sentence: str) -> LanguagePatterns:
    if has_chinese(sentence):
        return CHINESE
    return GERMAN if is_german(sentence) or _looks_german(sentence) else ENGLISH


def _looks_german(sentence: str) -> bool:
    """A sentence of two or three words has too few function words to be recognised by them."""
    return _GERMAN.search(sentence) is not None or (
        _UMLAUT.search(sentence) is not None and _ENGLISH.search(sentence) is None
    )


def _clauses(sentence: str, patterns: LanguagePatterns) -> Iterator[str]:
    """Yield the clauses of a sentence that may state something, without what leads into them."""
    if request := _LASTING_REQUEST.match(sentence):
        yield f"{'Bitte ' if patterns is GERMAN else 'Please '}{request[1] or request[2]}"
        return
    is_question = sentence.rstrip("\"')").endswith(("?", "？"))
    sentence = patterns.scope.sub(lambda scope: re.sub("[,，]", "", scope[0]), sentence, count=1)
    clauses, marks = _split(sentence, patterns)
    if is_question:
        # "I live in Rome, what is open today?": what precedes the question is a statement.
        starts = [at for at, clause in enumerate(clauses) if _asks(clause, patterns)]
        clauses = clauses[: starts[0]] if starts else []
    if patterns.unsure.match(sentence.strip(_EDGES).lower()):
        return  # a condition at the beginning is one for all that follows
    has_subject = False
    subjectless = _GERMAN_SUBJECTLESS if patterns is GERMAN else _HAN_SUBJECTLESS
    for clause, mark in zip(clauses, marks, strict=False):
        is_continued = has_subject and subjectless.match(clause) is not None
        has_subject = is_continued or _speaks_of_self(clause, patterns)
        subject = ("Ich " if patterns is GERMAN else "我") if is_continued else ""
        yield from _with_subject_each(f"{subject}{clause}", patterns)
        if patterns.opening.search(f"{_without_lead(clause, patterns)}{mark}"):
            return


def _split(sentence: str, patterns: LanguagePatterns) -> tuple[list[str], list[str]]:
    """Return the clauses of a sentence, and for each the colon that ends it, or else ""."""
    clauses: list[str] = []
    marks: list[str] = []
    start = 0
    for end in (*patterns.split.finditer(sentence), None):
        part = sentence[start : end.start() if end else None]
        if part:
            clauses.append(part.strip(_EDGES))
            is_colon = part.rstrip().endswith((":", "：")) or (end and end[0][:1] in (":", "："))
            marks.append(":" if is_colon else "")
        start = end.end() if end else start
    return clauses, marks


def _with_subject_each(clause: str, patterns: LanguagePatterns) -> list[str]:
    """Return the statements of a clause that share the subject "I", each with its own.

    "I live in Dublin and work as a nurse" are two facts: a move ends one of them.
    """
    is_german = patterns is GERMAN
    own, joint = (_OF_SELF_GERMAN, _AND_OF_SELF_GERMAN) if is_german else (_OF_SELF, _AND_OF_SELF)
    if patterns is CHINESE or own.match(_without_lead(clause, patterns)) is None:
        return [clause]
    first, *others = joint.split(clause)
    if not is_german and _INFINITIVE.search(first):
        return [clause]
    return [first, *(f"{'Ich' if is_german else 'I'} {other}" for other in others)]


def _speaks_of_self(clause: str, patterns: LanguagePatterns) -> bool:
    """Return whether the subject of a clause is that of a next one without a subject."""
    if patterns is GERMAN:
        return _OF_SELF_GERMAN.match(_without_lead(clause, patterns)) is not None
    own = _HAN_SELF.match(clause)
    if own is None:
        return False
    # After "I have a sister" it is the sister who "lives in Rome".
    return not (own[0].endswith("有") and patterns.people.search(clause))


def _asks(clause: str, patterns: LanguagePatterns) -> bool:
    return patterns.question.match(_without_lead(clause, patterns)) is not None


def _without_lead(clause: str, patterns: LanguagePatterns) -> str:
    match = patterns.lead.match(clause)
    return clause[match.end() :].strip(_EDGES) if match else clause.strip(_EDGES)


def _fact_of(
    clause: str, patterns: LanguagePatterns, turn: ConversationTurn
) -> ExtractedFact | None:
    """Return what a clause states; None if that is nothing to keep."""
    if not _SHORTEST <= len(clause) * (2 if has_chinese(clause) else 1) <= _LONGEST:
        return None
    statement = _without_lead(clause, patterns)
    if request := forget_request(statement):
        return _deletion(request, statement, turn, patterns)
    remember = patterns.remember.match(statement)
    if remember:
        statement = _main_clause(statement[remember.end() :].strip(_EDGES), patterns)
    is_asked = remember is not None or clause.lower().rstrip(_EDGES).endswith(
        ("remember that", "remember this", "merk dir das", "记住")
    )
    if tail := patterns.tail.search(statement):
        statement = statement[: tail.start()].strip(_EDGES)
    limited = patterns.scope.match(statement)
    body = statement[limited.end() :] if limited else statement
    if not statement or _is_no_statement(statement, body, patterns):
        return None
    plain = in_plain_order(statement) if patterns is not CHINESE else statement
    pattern = _matching(body, patterns) or _matching(plain, patterns)
    if pattern is not None:
        confidence = max(pattern.confidence, _REMEMBERED) if is_asked else pattern.confidence
        return _fact(statement, pattern.kind, confidence, turn, patterns)
    if is_asked and _SUBJECT_START.match(statement) and len(statement.split()) > 2:
        return _fact(statement, "fact", _REMEMBERED, turn, patterns)
    if LAUGHTER.search(turn.text):
        return None  # neither a pattern nor the tone says that it is meant
    if is_plain_statement(statement, turn.text, patterns) or (
        plain != statement and is_plain_statement(plain, turn.text, patterns)
    ):
        confidence = _REMEMBERED if is_asked else PLAIN_CONFIDENCE
        return _fact(statement, "fact", confidence, turn, patterns)
    return None


def _is_no_statement(statement: str, body: str, patterns: LanguagePatterns) -> bool:
    """Say whether a clause asks, doubts or quotes; its body is what follows what limits it."""
    return (
        patterns.question.match(body) is not None
        or patterns.unsure.search(statement) is not None
        or patterns.reported.search(statement) is not None
        or "…" in statement
        or (_CUT_GERMAN if patterns is GERMAN else _CUT).search(statement) is not None
    )


def _matching(statement: str, patterns: LanguagePatterns) -> FactPattern | None:
    """Return the first pattern that a statement matches."""
    passes = is_passing(statement, patterns)
    for pattern in patterns.facts:
        if pattern.pattern.match(statement) is None:
            continue
        is_dated = DATE.search(statement) is not None
        if pattern.kind == "event":
            if is_dated:
                return pattern
            continue
        if passes and pattern.kind == "fact":
            continue
        if pattern.needs_value and not _has_value(statement):
            continue
        return pattern
    return None


def _has_value(statement: str) -> bool:
    has_name = NAME.search(statement) is not None and not _looks_german(statement)
    return has_name or VALUE.search(statement) is not None


def _main_clause(statement: str, patterns: LanguagePatterns) -> str:
    """Return a German clause behind "dass" with its verb where a main clause has it."""
    if patterns is not GERMAN:
        return statement
    order = _SUBORDINATE.fullmatch(statement)
    return f"{order[1]} {order[3]} {order[2]}" if order else statement


def _fact(
    statement: str,
    kind: str,
    confidence: float,
    turn: ConversationTurn,
    patterns: LanguagePatterns,
    *,
    action: str = "add",
) -> ExtractedFact:
    subject = (
        next((name for pattern, name in patterns.subjects if pattern.match(statement)), "")
        or (preference_subject(statement) if kind in CHOICES else "")
        or _noun_phrase(statement, kind, patterns)
    )
    return ExtractedFact(
        text=_sentence(statement),
        kind=kind,  # type: ignore[arg-type]  # of a pattern
        subject=subject,
        action=action,  # type: ignore[arg-type]
        confidence=confidence,
        message_ids=(turn.id,),
        evidence=statement,
    )


def _is_person(phrase: str, patterns: LanguagePatterns) -> bool:
    """Return whether a phrase names a person or pet: one may be a nurse and allergic at once."""
    return any(map(patterns.people.fullmatch, (phrase.strip(), *phrase.rsplit(maxsplit=1)[-1:])))


def _noun_phrase(statement: str, kind: str, patterns: LanguagePatterns) -> str:
    """Return what a statement such as "the deploy day is Monday" is about; "" if unknown."""
    if kind not in ("fact", "preference"):
        return ""
    phrase = _NOUN_PHRASE.match(statement) or (
        _HAN_PHRASE.match(statement) if has_chinese(statement) and VALUE.search(statement) else None
    )
    if phrase is None or _is_person(phrase[1], patterns):
        return ""
    name = " ".join(phrase[1].split()).lower()
    is_own = re.match(r"my\b|mein|我的", statement, re.IGNORECASE) is not None
    return f"user: {name}" if is_own else name


def _sentence(statement: str) -> str:
    text = statement.strip(_EDGES)
    mark = "。" if has_chinese(text) else "."
    return f"{text[:1].upper()}{text[1:]}{mark}"


# Corrections.


def _correction_in(
    sentence: str, patterns: LanguagePatterns, turn: ConversationTurn, reading: _Reading
) -> ExtractedFact | None:
    """Return the fact that a sentence corrects, as it is now; None if it corrects nothing."""
    if len(sentence) > _LONGEST or patterns.unsure.search(sentence):
        return None
    if sentence.endswith(("?", "？")):
        return None
    bare = bare_correction(sentence)
    if bare is not None:
        return _corrected(bare, turn, reading, is_bare=True)
    correction = patterns.correction.match(sentence)
    return _corrected(correction[1].strip(_EDGES), turn, reading) if correction else None


def _corrected(
    value: str, turn: ConversationTurn, reading: _Reading, *, is_bare: bool = False
) -> ExtractedFact | None:
    """Return the fact that a value corrects, with that value: "no, it's Tuesday now"."""
    fitting: list[tuple[int, str]] = []
    for position, fact in enumerate(reading.facts):
        text = None if fact.action == "delete" else corrected_text(fact.text, value)
        if text is not None and _is_about(fact, value, turn, reading, is_bare=is_bare):
            fitting.append((position, text))
    if fitting:
        return _corrected_fact(fitting, value, turn, reading)
    if reading.spoken is None:
        return None
    for sentence in reversed(list(sentences_in(own_words(reading.spoken.text)))):
        # The assistant has repeated what it knows, and the user corrects that.
        text = corrected_text(sentence, value, needs_value=True)
        patterns = _patterns_of(sentence)
        statement = _without_lead((text or "").rstrip(_EDGES), patterns)
        if text and _matching(statement, patterns) is not None:
            return replace(
                _fact(statement, "fact", 0.7, turn, patterns),
                action="update",
                message_ids=(reading.spoken.id, turn.id),
                evidence=value,
                verbatim=False,
            )
    return None


def _corrected_fact(
    fitting: list[tuple[int, str]], value: str, turn: ConversationTurn, reading: _Reading
) -> ExtractedFact | None:
    """Return the one of several facts that a value corrects; None if it may be any of them.

    Args:
        fitting: The positions of the facts, each with its text as it would be right.
        value: What is right.
        turn: The message with the correction.
        reading: The conversation; a fact that was said just before loses its place to its
            correction, or is marked as undecided.
    """
    messages = {position: {*reading.facts[position].message_ids} for position, _ in fitting}
    # What was corrected before has one more message than what it was before.
    current = [
        (position, text)
        for position, text in fitting
        if not any(messages[position] < messages[other] for other, _ in fitting)
    ]
    if len(current) > 1:
        latest = {turn.id, *reading.last_turns[:1]}
        current = [(position, text) for position, text in current if latest & messages[position]]
    if len(current) == 1 and current[0][1] != UNCLEAR:
        position, text = current[0]
        fact = reading.facts.pop(position)  # nobody has to review what was wrong at once
        return replace(
            fact,
            text=text,
            message_ids=tuple(dict.fromkeys((*fact.message_ids, turn.id))),
            evidence=value,
            action="update",
            confidence=0.8,
        )
    for position, _ in current:
        fact = reading.facts[position]
        if fact not in reading.stored and {*reading.last_turns[:1], turn.id} & messages[position]:
            ids = tuple(dict.fromkeys((*fact.message_ids, turn.id)))
            reading.facts[position] = _undecided(fact, value, ids)
    return None


def _undecided(fact: ExtractedFact, value: str, ids: tuple[str, ...]) -> ExtractedFact:
    """Return a fact that no policy promotes, with the words that may correct it beside its own."""
    evidence = f"{fact.evidence} ... {value}"
    confidence = min(fact.confidence, _UNDECIDED)
    return replace(fact, message_ids=ids, evidence=evidence, confidence=confidence)


def _is_about(
    fact: ExtractedFact,
    value: str,
    turn: ConversationTurn,
    reading: _Reading,
    *,
    is_bare: bool = False,
) -> bool:
    """Say whether "no, it's 42" corrects a fact, and not the latest answer of the assistant."""
    answer = reading.spoken.text if reading.spoken is not None else ""
    kinds = {new.kind for new in values_in(value)}
    stated = {old.text.removeprefix("每") for old in values_in(fact.text) if old.kind in kinds}
    values = [item for item in values_in(answer) if item.kind in kinds]
    if stated & {item.text.removeprefix("每") for item in values}:
        return True
    if values or (is_bare and answer.rstrip().endswith(("?", "？"))):
        return False  # "No, Friday." answers the question of the assistant
    within = _RECENT if kinds and "number" not in kinds else _LATEST
    return bool({*fact.message_ids} & {turn.id, *reading.last_turns[:within]})

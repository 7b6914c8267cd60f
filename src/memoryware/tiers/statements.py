"""Statements under review: the statements of a text, what each is worth, and which say the same.

A reviewer decides about one statement at a time, so a statement keeps what it needs to be
understood alone: a sentence that begins with a pronoun stays with the sentence before it, an
item of a list with the line that introduces the list, and a block of code with its sentence.

A statement that names things, sets a rule or gives a value is worth more than one that thanks,
asks, announces or reports a moment, and one that nothing else resembles more than one of a
series. Only words of closed classes (pronouns, modal verbs, words for "now") are listed here:
the subjects of which people speak are open, and are not.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise, product, starmap
from typing import Final

from memoryware._caching import clearable_cache
from memoryware.tiers.provenance import Speaker
from memoryware.tiers.text.changed_minds import matter_of_stance
from memoryware.tiers.text.comparison import Relation, compare
from memoryware.tiers.text.terms import STOP_WORDS, core_words
from memoryware.tiers.text.tokens import UNSPACED, word_set

# Splitting a text into statements.

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


_cached = clearable_cache(4096)(_split)


def _depends(sentence: str) -> bool:
    """Return whether a sentence cannot be understood without the one before it."""
    return any(pattern.match(sentence) for pattern in (_PRONOUN, _NEXT_STEP, _FRAGMENT))


def _is_order(sentence: str) -> bool:
    """Return whether a sentence is an instruction with an object."""
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
    fence, lines, kind = "", list[str](), ""

    def finished() -> Iterator[tuple[str, str]]:
        if lines:
            yield kind, ("\n" if kind in ("code", "table") else " ").join(lines)
            lines.clear()

    for line in text.splitlines():
        if fence:
            lines.append(line.rstrip())
            if line.lstrip().startswith(fence):
                fence = ""
                yield from finished()
            continue
        if opening := _FENCE.match(line):
            yield from finished()
            fence, kind = opening.group().strip(), "code"
            lines.append(line.rstrip())
            continue
        if not line.strip():
            yield from finished()
            continue
        now = _kind_of(line)
        follows = lines and (
            (now == kind == "table")
            or (now == "text" and kind != "table" and _goes_on(lines[-1], line))
        )
        if not follows:
            yield from finished()
            kind = now
        lines.append(line.strip() if now == "table" else line[_marker(line) :].strip())
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


# What a statement is worth to a reviewer.

_RULES: Final = word_set(
    """
    must never always only not no cannot can't may mustn't don't every each all any unless until
    except without forbidden allowed required mandatory should instead either neither default
    muss müssen nie niemals immer nur nicht kein keine keinen darf dürfen soll sollen jeder jede
    jedes alle außer ohne statt verboten erlaubt
    jamais toujours seulement doit doivent chaque sans sauf nunca siempre solo debe deben cada sin
    """
)
"""Modality, negation and quantity: what makes a statement a rule."""
_STATES: Final = word_set(
    """
    is are has have uses use runs lives belongs means costs takes prefers likes needs wants owns
    works requires contains supports expires starts begins ends closes opens goes go stays holds
    speaks handles reports
    ist sind hat haben heißt läuft liegt gehört nutzt verwendet kostet gilt bleibt braucht mag
    est sont a ont utilise es son tiene usa
    """
)
"""Verbs in the present tense that say how things are."""
_SPEAKER: Final = word_set("i i'm i'll i've i'd me myself let's ich mich mir je moi yo 我")
_LISTENER: Final = word_set(
    "you your yours you're you'll you've du dich dir dein deine vous votre tu usted 你 您"
)
_INTENT: Final = word_set(
    """
    will i'll we'll they'll he'll she'll shall going let's plan plans planning planned hope hoping
    try trying want intend might maybe perhaps
    werde werden wird wollen möchte plane planen vielleicht hoffe
    """
)
_MOMENT: Final = word_set(
    """
    today tomorrow yesterday tonight now currently just already again still yet soon later
    earlier ago meanwhile moment morning afternoon evening next last recently finally anymore nearly
    ready done
    heute morgen gestern jetzt gerade schon wieder noch bald später vorhin eben nächste nächsten
    letzte letzten
    aujourd'hui demain hier maintenant hoy mañana ayer ahora
    """
)
"""Words that are true of one moment only."""
_COURTESY: Final = word_set(
    """
    thanks thank thx please hello hi hey sorry welcome cheers great nice cool perfect awesome
    wonderful excellent sure ok okay yes yeah yep nope bye congratulations congrats glad happy
    appreciate appreciated lovely good well fine wow worries problem oh ah haha lol understood noted
    gotcha
    danke bitte hallo gut super klar gern gerne ja nein tschüss prima verstanden notiert
    merci bonjour salut gracias hola vale
    """
)
_INTENSIFIERS: Final = word_set("much many lot lots really so sehr vielen beaucoup mucho muchas")
_MOMENT_HAN: Final = (
    (re.compile("谢谢|你好|您好|好的|再见|不客气|辛苦"), 2.0),
    (re.compile("今天|明天|昨天|现在|刚才|马上|下周|上周|今早"), 1.2),
    (re.compile("[吗呢吧][。？?]?$"), 2.0),
    (re.compile("我(?!们)|你|您"), 0.8),
    (re.compile("了"), 0.8),
    (re.compile("一下|打算|想要"), 1.0),
)
"""The same for texts in Chinese, whose words have no blanks between them."""
_RULES_HAN: Final = re.compile("必须|不能|不要|不得|禁止|只能|总是|从不|每|需要|不可")
_STATES_HAN: Final = re.compile("是|使用|用于|位于|属于|负责|放在|叫|有")
_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
_TOKEN: Final = re.compile(r"[^\W_][\w'’.@:/+#&%-]*[\w%]|[^\W_]")
_PAST: Final = re.compile(r"[a-z]{2,}ed")
_PAST_AUXILIARIES: Final = word_set("was were had been did could war waren wurde wurden hatte")
_PASSIVE: Final = word_set("is are be being am gets get stays to")
_BEING: Final = word_set("is are am i'm we're they're he's she's it's")
_NEGATIONS: Final = word_set("not no cannot can't don't nicht kein keine keinen nur")
_IRREGULAR_PAST: Final = word_set(
    """
    bought brought built came chose drank drove ate fell felt fought found flew forgot gave went
    grew held kept knew left lent lost made meant met paid ran said saw sold sent slept spoke spent
    stood swam took taught told thought understood woke wore won wrote began broke sang sat got
    threw caught became drew did put
    """
)
_ONE_DAY: Final = re.compile(
    r"\b(?:on|until|by)\s+(?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
    r"|\bam\s+(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)\b",
    re.IGNORECASE,
)
"""One day of the week; what is so every week is "on Fridays" or "every Friday"."""
_INCIDENT: Final = re.compile(
    r"(?:(?:the|das|die|der)\s+)?(?:[^\W\d]+\s+){1,2}(?:nr\.?\s*|no\.?\s*|#)?\d{3,}\b",
    re.IGNORECASE,
)
"""A noun with a number of its own at the beginning: a report about one ticket or order."""
_IDENTIFIER: Final = re.compile(
    r"""[^\W\d_]+[\d]+\w*|\d+[a-z]{1,4}|\w+[@/_]\w[\w./-]*|[a-z]+[A-Z]\w*|\w+-\w+-\w+"""
    r"""|\d+(?:[.:]\d+)+|\w+\.(?:\w+\.)*[a-z]{2,4}|\d+%"""
)
"""Names of machines, versions, addresses, paths, times of day, numbers with a unit."""
_CLOSED: Final = STOP_WORDS | _SPEAKER | _LISTENER | _COURTESY | _MOMENT | _INTENT
_LISTED: Final = _COURTESY | _MOMENT | _INTENT | _SPEAKER | _LISTENER | _RULES | _STATES
_PIECE: Final = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}](?:[^\s{UNSPACED}]*[^\W_{UNSPACED}])?")
_NAME: Final = "A"
"""The placeholder of a capitalised word in a form."""
_FEW: Final = 3
"""Texts that may have words in common by chance."""
_MANY: Final = 12
"""Texts from which what they have in common is nothing but their form."""
_LONG: Final = 45
"""Words from which a text says more than one thing."""


@clearable_cache(4096)
def specificity_of(text: str) -> float:
    """Return how much a text reads like a lasting statement.

    Args:
        text: The text.

    Returns:
        About -5 to 5; 0 is neither like a statement nor like small talk.
    """
    written = _TOKEN.findall(text.replace("’", "'"))
    words = [word.casefold() for word in written]
    present = set(words)
    content = {word for word in present if word not in _CLOSED and not word.isdigit()}
    unspaced = len(_UNSPACED.findall(text))
    size = len(content) + unspaced // 3
    end = text.rstrip()[-1:]
    is_past = _tells_of_the_past(words)
    listed = present & _LISTED
    of_one_moment = (
        1.5 * min(2, len(listed & _COURTESY))
        + 1.2 * min(2, len(listed & _MOMENT))
        + 1.2 * (not listed.isdisjoint(_INTENT))
        + 0.8 * (not listed.isdisjoint(_SPEAKER))
        + 0.8 * (not listed.isdisjoint(_LISTENER))
        + 1.0 * is_past
        + 0.8 * _is_progressive(words)
        + 1.0 * bool(_INCIDENT.match(text))
        + 0.6 * bool(_ONE_DAY.search(text))
        + 2.5 * (end in ("?", "？"))
        + 0.8 * (end in ("!", "！"))
    )
    if unspaced:
        of_one_moment += sum(weight for pattern, weight in _MOMENT_HAN if pattern.search(text))
    score = 0.8 * (not of_one_moment) - of_one_moment
    score += min(1.0, 0.25 * size) - 0.5 - 1.0 * (size < 2) - 0.5 * (len(words) > _LONG)
    rules = listed & _RULES
    if is_past:  # "did not work" is no rule
        rules -= _NEGATIONS
    score += 1.2 * bool(rules or (unspaced and _RULES_HAN.search(text)))
    score += 0.8 * bool(listed & _STATES or (unspaced and _STATES_HAN.search(text)))
    return score + _naming(written, text)


def _tells_of_the_past(words: Sequence[str]) -> bool:
    """Return whether a verb is in the past: a participle after "is" or "must be" is not."""
    if not _PAST_AUXILIARIES.isdisjoint(words):
        return True
    for position, word in enumerate(words):
        is_past = word in _IRREGULAR_PAST or (word.endswith("ed") and _PAST.fullmatch(word))
        if is_past and _PASSIVE.isdisjoint(words[max(0, position - 3) : position]):
            return True
    return False


def _is_progressive(words: Sequence[str]) -> bool:
    if _BEING.isdisjoint(words):
        return False
    return any(word.endswith("ing") and before in _BEING for before, word in pairwise(words))


def says_nothing(text: str) -> bool:
    """Return whether a sentence is only courtesy or a question.

    In doubt it says something. A name, a number or a denial always does.

    Args:
        text: The text.

    Returns:
        Whether there is nothing in it to remember.
    """
    stripped = text.strip()
    if stripped.endswith(("?", "？")):
        return True
    words = [word.casefold() for word in _TOKEN.findall(stripped.replace("’", "'"))]
    if not words:
        return True
    if any(map(str.isdigit, stripped)) or not stripped.isascii() or _RULES.intersection(words):
        return False
    return all(word in _COURTESY or word in STOP_WORDS or word in _INTENSIFIERS for word in words)


def _naming(written: Sequence[str], text: str) -> float:
    """Return what names, values and identifiers in a text are worth."""
    inside = [
        word for word in written[1:] if word[0].isupper() and word not in ("I", "I'm", "I'll")
    ]
    identifiers = [
        word
        for word in written
        # A word of small letters is none, and most words are.
        if not (word.islower() and word.isalpha()) and _IDENTIFIER.fullmatch(word)
    ]
    numbers = [word for word in written if word.isdigit()]
    # A bare number after a capital word or "#" is the number of a ticket as often as a value.
    value = 0.3 if numbers and "#" not in text else 0.0
    return min(1.2, 0.6 * len(inside)) + min(1.2, 0.8 * len(identifiers)) + value


def boilerplate_of(texts: Sequence[str]) -> list[float]:
    """Return how much of each text is the form of a series.

    Names and numbers count as one word each, so that "Ticket 7: Ann cannot print" and "Ticket
    9: Bo cannot log in" share a form. Facts have forms as well ("The api listens on port 80."),
    but a few of each, so a form counts in full only if very many texts have it.

    Args:
        texts: Different statements.

    Returns:
        For each text a share, from 0 to 1, of its runs of three words that others have too.
    """
    runs = [_runs(text) for text in texts]
    frequencies = Counter(chain.from_iterable(runs))
    weights = {
        run: min(1.0, (count - _FEW) / (_MANY - _FEW))
        for run, count in frequencies.items()
        if count > _FEW
    }
    # `fsum`, because the order of a set differs from process to process.
    return [
        math.fsum([weights[run] for run in own if run in weights]) / len(own) if own else 0.0
        for own in runs
    ]


def rarity_of(texts: Sequence[str]) -> list[float]:
    """Return for each text the share of its words that hardly any other text has.

    Args:
        texts: The texts.

    Returns:
        A share from 0 to 1 for each, in order.
    """
    stems = [_content_stems(text) for text in texts]
    frequencies = Counter(chain.from_iterable(stems))
    seldom = max(2, len(texts) // 80)
    common = {stem for stem, count in frequencies.items() if count > seldom}
    return [len(own - common) / len(own) if own else 0.0 for own in stems]


@clearable_cache(4096)
def _runs(text: str) -> frozenset[str]:
    """Return each three words of a text that follow each other, as one string."""
    words = ["", *map(_form, _PIECE.findall(text)), ""]
    words[1] = words[1].casefold() if words[1] == _NAME else words[1]
    # Strings, because a tuple computes its hash again each time it is looked up.
    return frozenset(map("\0".join, zip(words, words[1:], words[2:], strict=False)))


@clearable_cache(16_384)
def _form(word: str) -> str:
    if _has_digit(word):
        return "0"
    return _NAME if word[0].isupper() else word.casefold()


def _has_digit(word: str) -> bool:
    return not word.isalpha() and any(map(str.isdigit, word))


def topic_stems(text: str) -> frozenset[str]:
    """Return the stems of a text without function words, unless it has no others.

    Args:
        text: The text.

    Returns:
        The stems.
    """
    return _topic_and_content(text)[0]


def _content_stems(text: str) -> frozenset[str]:
    """Return the stems of a text without numbers and words of grammar."""
    return _topic_and_content(text)[1]


@clearable_cache(4096)
def _topic_and_content(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return `topic_stems` and `_content_stems` of a text, which is cut into words once."""
    words = frozenset(core_words(text))
    telling = words - STOP_WORDS
    return telling or words, frozenset(word for word in telling if not _has_digit(word))


# Groups of statements that say the same.
#
# An inverted index of stems proposes pairs, and `compare` alone decides about each. A score never
# does: by words as by vectors, "may" and "may not" or db2 and db3 are nearly the same, and one
# approval of a group takes all of it.
#
# Postings are bit sets, one bit for each statement: counting shared stems of one statement with
# all earlier ones takes a few operations on whole numbers, a third of the time of a counter of
# pairs. NumPy is not quicker here, because most lists are short.

CANDIDATES: Final = 12
"""Statements that one is compared with, those that share most of its words first."""
_LEAST: Final = 4
"""Two statements are compared if they share at least one in so many of their stems. It is far
below what `compare` asks of a conflict: day and time may both differ, and it reads more as
grammar."""
_POSTINGS: Final = 150
"""A stem of more statements proposes nothing: who shares only such stems shares little."""
_RARE: Final = 6
"""Statements of a stem that two of one series may share to be compared: "The api listens on port
80" and "The api listens on port 81" speak of one thing, two tickets do not."""
_CACHED_CHARS: Final = 4000
"""Characters of two texts whose relation is cached: a digest is asked for more than once."""
MAX_CONFLICTS: Final = 8
"""Conflicts that are noted for one group; more of them are reports of one form, not a conflict."""


@dataclass(slots=True)
class StatementGroup:
    """Statements that say the same.

    Attributes:
        text: The statement that represents the group; each member says the same.
        members: Places of the statements, this one first.
        conflicts: Numbers of groups that say something else about the same matter.
        owner: For whom alone they are meant; "" for everybody.
    """

    text: str
    members: list[int]
    conflicts: list[int] = field(default_factory=list)
    owner: str = ""


def groups_of(
    texts: Sequence[str],
    series: Sequence[bool] = (),
    speakers: Sequence[Speaker] = (),
    owners: Sequence[str] = (),
) -> list[StatementGroup]:
    """Group texts that say the same, and note which groups disagree.

    Args:
        texts: Statements. Of a group the one that comes first stands for all.
        series: For each text, whether many others have its form. Two of these are compared only
            if they share a rare word: reports of one form that name different numbers are no
            conflict, and comparing all of them takes long.
        speakers: Who said each. What two people say of themselves is no conflict.
        owners: For whom alone each is meant, "" for everybody. Those for two people neither say
            the same nor disagree.

    Returns:
        The groups, in the order of their first members.
    """
    groups: list[StatementGroup] = []
    numbers: dict[tuple[str, str], int] = {}
    in_series: list[bool] = []
    for position, text in enumerate(texts):
        owner = owners[position] if owners else ""
        number = numbers.setdefault((owner, " ".join(text.split())), len(groups))
        if number == len(groups):
            groups.append(StatementGroup(text, [], owner=owner))
            in_series.append(bool(series) and series[position])
        groups[number].members.append(position)
    merged: dict[int, int] = {}
    proposals = _proposals([topic_stems(group.text) for group in groups], in_series)
    of_matter: dict[str, list[int]] = defaultdict(list)
    for number, (group, candidates) in enumerate(zip(groups, proposals, strict=True)):
        same_matter: list[int] = []
        if matter := matter_of_stance(group.text):
            same_matter = of_matter[matter][-_RARE:]
            of_matter[matter].append(number)
        for other in dict.fromkeys((*candidates, *same_matter)):
            is_alike = groups[other].owner == group.owner
            if other in merged or not (is_alike or "" in (groups[other].owner, group.owner)):
                continue
            relation = _relation(groups[other].text, group.text)
            if relation is Relation.SAME and is_alike:
                merged[number] = other
                break
            if relation is Relation.CONFLICT and not _is_settled_by_speakers(
                groups[other], group, speakers
            ):
                group.conflicts.append(other)
    return _merged(groups, merged)


def _is_settled_by_speakers(
    first: StatementGroup, second: StatementGroup, speakers: Sequence[Speaker]
) -> bool:
    """Return whether two groups are no conflict because of who said their statements."""
    if not speakers:
        return False
    ours, theirs = ({speakers[member] for member in group.members} for group in (first, second))
    if not all(starmap(Speaker.is_other, product(ours, theirs))):
        return False
    return compare(first.text, second.text, by_other=True) is not Relation.CONFLICT


def _merged(groups: Sequence[StatementGroup], merged: dict[int, int]) -> list[StatementGroup]:
    left = [number for number in range(len(groups)) if number not in merged]
    renumbered = {number: position for position, number in enumerate(left)}
    disagreeing: dict[int, set[int]] = defaultdict(set)
    for number, group in enumerate(groups):
        mine = merged.get(number, number)
        if mine != number:
            groups[mine].members += group.members
        for other in group.conflicts:
            theirs = merged.get(other, other)
            if theirs != mine:
                disagreeing[mine].add(theirs)
                disagreeing[theirs].add(mine)
    for number in left:
        conflicts = sorted(renumbered[other] for other in disagreeing[number])
        groups[number].conflicts = conflicts[:MAX_CONFLICTS]
        groups[number].members.sort()
    return [groups[number] for number in left]


def _proposals(stems: Sequence[frozenset[str]], in_series: Sequence[bool]) -> Iterator[list[int]]:
    """Yield for each statement the earlier ones it may repeat or contradict, the likeliest first.

    Args:
        stems: Of each statement.
        in_series: For each of them, whether many others have its form.
    """
    frequencies = Counter(chain.from_iterable(stems))
    outside = frequencies
    if any(in_series):
        outside = Counter(
            chain.from_iterable(
                words for words, is_series in zip(stems, in_series, strict=True) if not is_series
            )
        )
    usable = {stem for stem, count in frequencies.items() if 1 < count <= _POSTINGS}
    # A statement of a series is compared with what is in none, so both are indexed apart.
    everywhere: dict[str, int] = defaultdict(int)
    outside_series: dict[str, int] = defaultdict(int)
    bags: dict[frozenset[str], list[int]] = defaultdict(list)
    for number, words in enumerate(stems):
        shareable = words & usable
        if in_series[number]:
            counted = words
            having = _union(
                everywhere[stem] if frequencies[stem] <= _RARE else outside_series[stem]
                for stem in words
                if frequencies[stem] <= _RARE or outside[stem] <= _POSTINGS
            )
        else:
            counted = shareable
            postings = [everywhere[stem] for stem in shareable if stem in everywhere]
            having = _having_at_least(-(-len(words) // _LEAST), postings)
        fits = []
        for other in _bits(having):
            most = max(len(words), len(stems[other]))
            shared = len(counted & stems[other])
            if shared * _LEAST >= most:
                fits.append((shared / most, -other))
        best = fits if len(fits) < 2 else heapq.nlargest(CANDIDATES, fits)
        bag = bags[words]
        yield list(dict.fromkeys([*bag[:CANDIDATES], *(-other for _, other in best)]))
        bag.append(number)
        bit = 1 << number
        for stem in shareable:
            everywhere[stem] |= bit
        if not in_series[number]:
            for stem in words:
                if frequencies[stem] > _RARE:
                    outside_series[stem] |= bit


def _union(postings: Iterable[int]) -> int:
    union = 0
    for posting in postings:
        union |= posting
    return union


def _having_at_least(least: int, postings: Sequence[int]) -> int:
    """Return as a bit set what is in at least so many of the postings.

    The counts are kept as binary digits: a bit set for the ones, one for the twos and so on.
    """
    if not 0 < least <= len(postings):  # a text without stems shares none
        return 0
    digits: list[int] = []
    for posting in postings:
        carry = posting
        for digit_place, digit in enumerate(digits):
            if not carry:
                break
            digits[digit_place] = digit ^ carry
            carry &= digit
        if carry:
            digits.append(carry)
    if least >> len(digits):
        return 0
    more, equal = 0, -1
    for digit_place in reversed(range(len(digits))):
        if least >> digit_place & 1:
            equal &= digits[digit_place]
        else:
            more |= equal & digits[digit_place]
            equal &= ~digits[digit_place]
    return more | equal


def _bits(bit_set: int) -> Iterator[int]:
    while bit_set:
        lowest = bit_set & -bit_set
        yield lowest.bit_length() - 1
        bit_set ^= lowest


def _relation(first: str, second: str) -> Relation:
    is_short = len(first) + len(second) <= _CACHED_CHARS
    return _cached_relation(first, second) if is_short else compare(first, second)


_cached_relation: Final = clearable_cache(2048)(compare)

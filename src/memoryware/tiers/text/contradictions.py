"""Contradictions between texts, found statement by statement.

The rest of a text does not count: two statements contradict each other if they are the same word
for word but for one place, or if their sentences conflict.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import partial
from heapq import nlargest
from itertools import combinations, product, starmap, zip_longest
from operator import itemgetter
from typing import Final, NamedTuple, TypeAlias

from memoryware._caching import clearable_cache
from memoryware.tiers.model import Memory
from memoryware.tiers.provenance import NAME_LABEL, attribution_of
from memoryware.tiers.text.claims import differ_in_value, is_denial, is_first_person, share_topics
from memoryware.tiers.text.sentences import conflicts_among, same_words_in_order
from memoryware.tiers.text.tokens import UNSPACED, Sentence, tokenize_pairs
from memoryware.tiers.values import ContextItem, Contradiction

_UNSPACED: Final = re.compile(rf"[{UNSPACED}]+")
_TOKEN: Final = re.compile(
    rf"[{UNSPACED}]|[^\W_{UNSPACED}]+(?:['.@:/&,-][^\W_{UNSPACED}]+)*%?|[$€£]\d[\d.,]*"
)
_SENTENCE_END: Final = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|[;；]|\n+")
_FENCED: Final = re.compile(r"```[^\n]{0,80}\n.*?(?:```|\Z)", re.DOTALL)
"""A block of code, which has no statements."""
_HEADING: Final = re.compile(r"^[ \t]{0,20}#{1,6}[ \t].*$", re.MULTILINE)
_LEAST_SAID: Final = 4
"""Words behind a name and a colon from which on that is what somebody said, and no value."""
_NOT: Final = re.compile(r"n't\b|(?<=\bcan)not\b", re.IGNORECASE)
_ELIDED: Final = re.compile(r"\b(n|d|l|j|c|m|s|qu)'(?=\w)", re.IGNORECASE)
_DENYING: Final = """
not no never none nor without nicht kein keine keinen keiner keinem nie niemals ohne ne n pas
jamais aucun aucune sans nunca ningún ninguno ninguna sin non mai senza não nem не нет никогда
без 不 没 沒 非 未 無 无
"""
_HELPING: Final = """
do does did has have will would is are was were be been can could wo ca longer anymore any more
yet mehr plus más più mais 有 了
"""
_LINKING: Final = """
is are was were = ist sind war est sont était es son era è sono é são
это 是 在 为 為 叫 于 於 で は が
"""
_ARTICLES: Final = """
the a an in at on to by der die das ein eine im am auf le la les un une à en el los las il lo o
os as
"""
_DENIALS: Final = frozenset(_DENYING.split())
_AUXILIARIES: Final = frozenset(_HELPING.split())
"""Words that come and go with a denial and say nothing of their own."""
_PASSING: Final = _DENIALS | _AUXILIARIES
_IS: Final = frozenset(_LINKING.split())
_SMALL: Final = frozenset(_ARTICLES.split())
"""Words between a subject and its predicate."""
_LONGEST: Final = 40
"""Words of a statement; a longer one says more than one thing."""
_MAX_STATEMENTS: Final = 60
"""Statements of one text that are looked at."""
_MAX_CHARS: Final = 4000
"""Characters of one text that are looked at."""
_CHANGED: Final = 3
"""Words of a name or value."""
_SHARED: Final = 0.5
"""Share of its words that a statement must have in common with the other."""
_OTHER_TEXT: Final = "the same subject, and not the same text"
_OTHER_NUMBER: Final = "not the same number"
_OTHER_NAME: Final = "not the same name"
_OTHER_VALUE: Final = "not the same value"
_DENIED: Final = "one denies what the other says"
_EVIDENCE: Final[Mapping[str, Callable[[Sentence, Sentence], bool]]] = {
    _OTHER_NUMBER: share_topics,
    _OTHER_NAME: differ_in_value,
    _OTHER_VALUE: differ_in_value,
    _DENIED: is_denial,
}
"""What must be so of two sentences that differ in one of these ways."""
_CONFLICT: Final = "not the same about one matter"
_MAX_COMPARED: Final = 25
"""Items of which each is compared with each; of further ones only plain clashes are found."""
_MAX_PAIRS: Final = 8
"""Statements of two long texts that are compared by what they say, those with most in common."""
_LIKELY: Final = 0.3
"""Share of its words from which a statement of a longer text is compared with another."""


def contradictions_among(items: Sequence[ContextItem | Memory]) -> tuple[Contradiction, ...]:
    """Return the pairs of texts that contradict each other; only where that is plain.

    Two texts of one subject contradict each other if their words differ. Without a subject, two
    statements must be the same but for a number, a name or a denial, or be in conflict as
    `compare` says; the latter is asked of the first 25 items.

    Args:
        items: What was recalled, best first.

    Returns:
        One pair for each two documents.
    """
    by_text = {text: plain_statements(text) for text in {item.content for item in items}}
    statements = [by_text[item.content] for item in items]
    documents = [item.document_id or item.id for item in items]
    candidates = _clash_candidates(statements, documents)
    compared = combinations(range(min(len(items), _MAX_COMPARED)), 2)
    for pair in (*_of_one_subject(items), *compared):
        candidates.setdefault(pair, [])
    pairs = sorted(
        ((i, j), positions)
        for (i, j), positions in candidates.items()
        if documents[i] != documents[j]
    )
    speakers = [attribution_of(item).speaker for item in items]
    impersonal = [comparable(several, by_other=True) for several in statements]
    compared_pairs: list[_ComparedTexts] = []
    for (i, j), positions in pairs:
        by_other = speakers[i].is_other(speakers[j])
        clashing = [(statements[i][a], statements[j][b]) for a, b in sorted(positions)]
        if by_other:
            clashing = [(a, b) for a, b in clashing if not (a.is_first_person or b.is_first_person)]
        sides = impersonal if by_other else statements
        is_same = items[i].subject is not None and items[i].subject == items[j].subject
        is_compared = j < _MAX_COMPARED
        compared_pairs.append(_ComparedTexts(sides[i], sides[j], clashing, is_same, is_compared))
    contradictions: dict[frozenset[str], Contradiction] = {}
    for ((i, j), _), reason in zip(pairs, _reasons(compared_pairs), strict=True):
        between = frozenset((documents[i], documents[j]))
        if reason and between not in contradictions:
            contradictions[between] = Contradiction(
                first=items[i].id, second=items[j].id, reason=reason
            )
    return tuple(contradictions.values())


def contradiction_between(
    first: str, second: str, *, same_subject: bool = False, by_other: bool = False
) -> str:
    """Return why two texts contradict each other, in words; "" if they do not plainly.

    Args:
        first: A text.
        second: Another.
        same_subject: Whether both are of one subject, so that any difference counts.
        by_other: Whether another speaker said the other, so that "I" is somebody else there.

    Returns:
        The reason.
    """
    by_others = [by_other]
    return contradictions_with(second, [first], same_subject=same_subject, by_others=by_others)[0]


def may_differ(first: str, second: str) -> bool:
    """Return whether a text may say something else than one that is like it.

    For texts that something else found similar: more differences count than of a contradiction,
    also of what two people say of themselves and of what happened twice.

    Args:
        first: A text.
        second: The other.

    Returns:
        Whether it may.
    """
    left, right, _ = _without_speakers(first, second)
    statements = plain_statements(left), plain_statements(right)
    compared = _ComparedTexts(*statements, product(*statements), same_subject=False)
    return bool(_reasons([compared], needs_claim=False)[0])


def contradictions_with(
    text: str,
    others: Sequence[str],
    *,
    same_subject: bool = False,
    by_others: Sequence[bool] = (),
) -> list[str]:
    """Return for each of other texts why it contradicts a text; "" if it does not plainly.

    Args:
        text: A text.
        others: The texts that it is compared with.
        same_subject: Whether all are of one subject, so that any difference counts.
        by_others: For each of `others` whether another speaker said it, so that "I" is somebody
            else there; none where nobody knows.

    Returns:
        The reasons, in words, in the order of `others`.
    """
    compared: list[_ComparedTexts] = []
    for other, by_other in zip_longest(others, by_others, fillvalue=False):
        first, second, are_named = _without_speakers(str(other), text)
        left, right = (
            comparable(plain_statements(side), by_other=bool(by_other) or are_named)
            for side in (first, second)
        )
        compared.append(
            _ComparedTexts(left, right, product(left, right), same_subject=same_subject)
        )
    return _reasons(compared)


def comparable(statements: PlainStatements, *, by_other: bool) -> PlainStatements:
    """Return the statements of a text that one of another can contradict.

    Args:
        statements: The statements.
        by_other: Whether the other text is of another speaker.

    Returns:
        The statements; without those about their speaker if the other is of another one.
    """
    if not by_other:
        return statements
    return tuple(statement for statement in statements if not statement.is_first_person)


def _without_speakers(first: str, second: str) -> tuple[str, str, bool]:
    """Return two texts without the names of their speakers, as in "Ann: Hello Bo".

    The third value is whether these are the names of two speakers.

    Names would count as words that both have: half of the messages of two friends seemed to
    contradict each other. "Staging: the server is db2" and "Production: the server is db3" keep
    what is before the colon, because neither text speaks to the other, and so do short values.
    """
    left, right = NAME_LABEL.match(first), NAME_LABEL.match(second)
    if not left or not right:
        return first, second, False
    rests = first[left.end() : _MAX_CHARS], second[right.end() : _MAX_CHARS]
    if any(len(_TOKEN.findall(rest)) < _LEAST_SAID for rest in rests):
        return first, second, False
    if left[1] == right[1] or left[1] in rests[1] or right[1] in rests[0]:
        return (*rests, left[1] != right[1])
    return first, second, False


class _ComparedTexts(NamedTuple):
    """Two texts that may contradict each other.

    Attributes:
        left: The statements of the first.
        right: The statements of the second.
        pairs: Their statements that can clash plainly.
        same_subject: Whether both are of one subject, so that any difference counts.
        is_compared: Whether conflicts are searched that are no plain clash.
    """

    left: PlainStatements
    right: PlainStatements
    pairs: Iterable[tuple[PlainStatement, PlainStatement]]
    same_subject: bool
    is_compared: bool = True


def _reasons(compared: Sequence[_ComparedTexts], *, needs_claim: bool = True) -> list[str]:
    """Return why texts contradict each other.

    Plain clashes are searched first. What is left for the comparison of sentences is compared
    together, so that each statement is tokenized once.

    Args:
        compared: The texts.
        needs_claim: Whether both must claim something about one matter; see `in_conflict`.
    """
    clash = plain_clash if needs_claim else partial(plain_clash, needs_claim=False)
    reasons: list[str] = []
    groups: list[list[tuple[str, str]]] = []
    for left, right, pairs, same_subject, is_compared in compared:
        reason, group = "", list[tuple[str, str]]()
        if [statement.words for statement in left] == [statement.words for statement in right]:
            both = zip(left, right, strict=True)  # "-5 degrees" and "5 degrees" are the same words
            group = [(a.text, b.text) for a, b in both if a.text != b.text]
        else:
            reason = next(filter(None, starmap(clash, pairs)), "")
            if not reason and is_compared:
                group = _likely_pairs(left, right)
            if not reason and same_subject:
                reason = _OTHER_TEXT
        reasons.append(reason)
        groups.append(group)
    return [
        _CONFLICT if is_conflict else reason
        for reason, is_conflict in zip(
            reasons, conflicts_among(groups, needs_claim=needs_claim), strict=True
        )
    ]


def _likely_pairs(left: PlainStatements, right: PlainStatements) -> list[tuple[str, str]]:
    """Return the statements of two texts that may conflict, those with most in common."""
    if len(left) == len(right) == 1:
        return [(left[0].text, right[0].text)]
    both = {statement.words for statement in left} & {statement.words for statement in right}
    likely: list[tuple[int, str, str]] = []
    for first in left:
        for second in right:
            # Sharing two words is seldom, so that is asked before anything else.
            shared = len(first.distinct & second.distinct)
            if shared < 2 or first.words in both or second.words in both:
                continue
            if shared >= _LIKELY * max(len(first.distinct), len(second.distinct)):
                likely.append((shared, first.text, second.text))
    best = nlargest(_MAX_PAIRS, likely, key=itemgetter(0))
    return [(first, second) for _, first, second in best]


def _of_one_subject(items: Sequence[ContextItem | Memory]) -> Iterable[tuple[int, int]]:
    subjects: dict[str, list[int]] = {}
    for position, item in enumerate(items):
        if item.subject is not None:
            subjects.setdefault(item.subject, []).append(position)
    return (pair for several in subjects.values() for pair in combinations(several, 2))


# Statements, and why two of them plainly cannot both hold.


@dataclass(frozen=True, slots=True)
class PlainStatement:
    """A statement as words, for finding plain clashes.

    Attributes:
        written: Its words as they are written.
        words: The same in lower case.
        distinct: The different ones of `words`.
        text: The statement itself.
        is_first_person: Whether it speaks of its speaker.
    """

    written: tuple[str, ...]
    words: tuple[str, ...]
    distinct: frozenset[str]
    text: str
    is_first_person: bool


PlainStatements: TypeAlias = tuple[PlainStatement, ...]


def plain_statements(text: str) -> PlainStatements:
    """Return the distinct statements at the beginning of a text.

    Questions, headings and blocks of code are left out.

    Args:
        text: The text.

    Returns:
        The statements.
    """
    return _cached(text[:_MAX_CHARS])


def claiming_part(text: str) -> str:
    """Return a text without headings and blocks of code, which claim nothing.

    Args:
        text: The text.

    Returns:
        The rest.
    """
    if "```" in text:
        text = _FENCED.sub("\n", text)
    return _HEADING.sub("", text) if "#" in text else text


@clearable_cache(2048)
def _cached(text: str) -> PlainStatements:
    statements: dict[tuple[str, ...], PlainStatement] = {}
    plain = unicodedata.normalize("NFKC", text).replace("’", "'")
    for sentence in _SENTENCE_END.split(claiming_part(plain)):
        if sentence.rstrip().endswith("?"):
            continue
        spaced = _ELIDED.sub(r"\1 ", _NOT.sub(" not", sentence))
        written = tuple(_TOKEN.findall(spaced))
        words = tuple(word.casefold() for word in written)
        if words:
            is_own = is_first_person(words)
            statement = PlainStatement(written, words, frozenset(words), sentence, is_own)
            statements.setdefault(words, statement)
    return tuple(statements.values())[:_MAX_STATEMENTS]


def _has_digit(word: str) -> bool:
    """Return whether a word has a digit."""
    return any(map(str.isdigit, word))


def _is_name(word: str) -> bool:
    """Return whether a word is written like a name: with a capital letter."""
    return any(map(str.isupper, word))


def _is_about_nothing(before: Sequence[str], rest: int) -> bool:
    """Return whether the words that two statements begin with name no common subject.

    "Ticket 12 is open" and "Ticket 13 is open" speak of two tickets.
    """
    spoken_of = len(before) - (before[:1] != () and before[0] in _SMALL)
    return spoken_of < 1 or (spoken_of == 1 and rest > 1)


def _is_said_to_be(before: Sequence[str]) -> bool:
    """Return whether words end with "is" or the like, so that a value follows."""
    return next((word for word in reversed(before) if word not in _SMALL), "") in _IS


def plain_clash(first: PlainStatement, second: PlainStatement, *, needs_claim: bool = True) -> str:
    """Return why two statements plainly cannot both hold; "" if they can or say the same.

    Args:
        first: A statement.
        second: Another.
        needs_claim: Whether both must claim something about one matter.

    Returns:
        The reason, in words.
    """
    reason = statement_clash(first, second)
    if not reason:
        return ""
    ((left, right, _),) = tokenize_pairs([(first.text, second.text)])
    if same_words_in_order(left, right):  # "2 pm" and "14:00" are the same
        return ""
    if not needs_claim:
        return reason
    differ = _EVIDENCE[reason.partition(":")[0]]
    return reason if any(starmap(differ, product(left, right))) else ""


def statement_clash(first: PlainStatement, second: PlainStatement) -> str:
    """Return why two statements plainly cannot both hold, "" if they can.

    Plainly: the same words but for a denial, or for one place that has another number, name or
    value.

    Args:
        first: A statement.
        second: Another.

    Returns:
        The reason, in words.
    """
    shorter, longer = sorted((len(first.words), len(second.words)))
    if longer > _LONGEST or shorter < max(2, _SHARED * longer) or first.words == second.words:
        return ""
    common = len(first.distinct & second.distinct)
    if common < 2:
        return ""
    # Words that are repeated in both count again; counting them is slow, and few are.
    repeated = min(len(side.words) - len(side.distinct) for side in (first, second))
    if common + repeated < _SHARED * longer:
        return ""
    if common < _SHARED * longer and _shared_words(first, second) < _SHARED * longer:
        return ""
    if not _may_clash(first, second):
        return ""
    matcher = SequenceMatcher(None, first.words, second.words, autojunk=False)
    changes = [change for change in matcher.get_opcodes() if change[0] != "equal"]
    left = [word for _, i, j, _, _ in changes for word in first.words[i:j]]
    right = [word for _, _, _, i, j in changes for word in second.words[i:j]]
    if _is_denied(left, right):
        return _DENIED
    if len(changes) != 1 or changes[0][0] != "replace":
        return ""
    _, start, end, begin, stop = changes[0]
    return _difference(first, slice(start, end), second.written[begin:stop])


def _shared_words(first: PlainStatement, second: PlainStatement) -> int:
    return (Counter(first.words) & Counter(second.words)).total()


def _may_clash(first: PlainStatement, second: PlainStatement) -> bool:
    """Return whether two statements can differ by a denial, or in one place only.

    Most pairs differ in many places, and `SequenceMatcher` is what takes the time.
    """
    beginning = _common_prefix(first.words, second.words)
    ending = _common_prefix(first.words[::-1], second.words[::-1])
    if max(len(first.words), len(second.words)) - beginning - ending <= _CHANGED * 2:
        return True
    if len(first.words) == len(first.distinct) and len(second.words) == len(second.distinct):
        changed = first.distinct ^ second.distinct
    else:
        left, right = Counter(first.words), Counter(second.words)
        changed = frozenset((*(left - right), *(right - left)))
    return changed <= _PASSING and not _DENIALS.isdisjoint(changed)


def _common_prefix(first: Sequence[str], second: Sequence[str]) -> int:
    pairs = enumerate(zip(first, second, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(first), len(second)))


def _is_denied(left: Sequence[str], right: Sequence[str]) -> bool:
    if not _PASSING.issuperset((*left, *right)):
        return False
    return _DENIALS.isdisjoint(left) != _DENIALS.isdisjoint(right)


def _difference(statement: PlainStatement, changed: slice, new: Sequence[str]) -> str:
    """Return how a place of a statement differs from the words that another has there."""
    old, rest = statement.written[changed], len(statement.words) - changed.stop
    before = statement.words[: changed.start]
    if _is_about_nothing(before, rest):
        return ""
    is_unspaced = _UNSPACED.fullmatch("".join((*old, *new)))
    if max(len(old), len(new)) > (_CHANGED * 2 if is_unspaced else _CHANGED):
        return ""
    both = f"{' '.join(old)[:40]} and {' '.join(new)[:40]}"
    if all(any(map(_has_digit, side)) for side in (old, new)):
        return f"{_OTHER_NUMBER}: {both}"
    if all(map(_is_name, (*old, *new))):
        return f"{_OTHER_NAME}: {both}"
    if rest == 0 and _is_said_to_be(before) and _PASSING.isdisjoint((*old, *new)):
        return f"{_OTHER_VALUE}: {both}"
    return ""


# Statements of many texts that can clash, without comparing each with each.

_Candidates: TypeAlias = dict[tuple[int, int], list[tuple[int, int]]]
"""For two texts the positions of their statements that can clash."""
_StatementIndex: TypeAlias = tuple[int, int]
"""A statement: the position of its text, and its own there."""
_Words: TypeAlias = tuple[str, ...]
_Written: TypeAlias = dict[_Words, list[tuple[_StatementIndex, _Words]]]
"""Where statements of these words are, and how they are written there."""
_Fillers: TypeAlias = dict[_Words, list[tuple[_StatementIndex, frozenset[str]]]]
"""What fills the place of a frame, by its words, and the kinds of clash that it can have."""


def _clash_candidates(texts: Sequence[PlainStatements], documents: Sequence[str]) -> _Candidates:
    """Return for each two texts which of their statements can clash plainly.

    Two statements can clash only if they are equal without denials, or begin and end with the
    same words around one place. So each is indexed by what it would share with such another, and
    the work grows with the words and the candidates instead of the pairs.

    Args:
        texts: The statements of each text.
        documents: The document of each; texts of one document are not compared.
    """
    written: _Written = defaultdict(list)
    for position, statements in enumerate(texts):
        for at, statement in enumerate(statements):
            if 1 < len(statement.words) <= _LONGEST:
                written[statement.words].append(((position, at), statement.written))
    clashing: _Candidates = defaultdict(list)
    for first, second in {*_denied(written), *_around_a_place(written)}:
        if documents[first[0]] != documents[second[0]]:
            clashing[first[0], second[0]].append((first[1], second[1]))
    return dict(clashing)


def _denied(written: _Written) -> Iterator[tuple[_StatementIndex, _StatementIndex]]:
    """Yield statements that are equal but for denials and the auxiliaries beside them."""
    alike: dict[_Words, list[_Words]] = defaultdict(list)
    for words in written:
        alike[tuple(word for word in words if word not in _PASSING)].append(words)
    for several in alike.values():
        for left, right in combinations(several, 2):
            if not _DENIALS.isdisjoint((*left, *right)):
                for (first, _), (second, _) in product(written[left], written[right]):
                    yield min(first, second), max(first, second)


def _around_a_place(written: _Written) -> Iterator[tuple[_StatementIndex, _StatementIndex]]:
    """Yield statements that begin and end with the same words, and can clash in between."""
    prefixes = _Prefixes(written)
    suffixes = _Prefixes(words[::-1] for words in written)
    by_frame: dict[tuple[int, int], _Fillers] = defaultdict(lambda: defaultdict(list))
    for words, value in written.items():
        begins, stops = prefixes.of(words), suffixes.of(words[::-1])
        for start, rest in _frames(words, len(begins), len(stops)):
            middle = slice(start, len(words) - rest)
            said_to_be = rest == 0 and _is_said_to_be(words[:start])
            for position, as_written in value:
                kinds = _kinds(as_written[middle], said_to_be=said_to_be)
                if kinds:
                    frame = begins[start - 1], stops[rest - 1] if rest else -1
                    by_frame[frame][words[middle]].append((position, kinds))
    for fillers in by_frame.values():
        for some, others in combinations(fillers.values(), 2):
            for (first, kinds), (second, other) in product(some, others):
                if kinds & other:
                    yield min(first, second), max(first, second)


class _Prefixes:
    """A trie of the statements' first words, each prefix numbered."""

    def __init__(self, many: Iterable[_Words]) -> None:
        self._numbers: dict[tuple[int, str], int] = {}
        self._counts: list[int] = []
        for words in many:
            number = -1
            for word in words:
                number = self._numbers.setdefault((number, word), len(self._counts))
                if number == len(self._counts):
                    self._counts.append(0)
                self._counts[number] += 1

    def of(self, words: _Words) -> list[int]:
        """Return the numbers of the first word, the first two and so on, while it is shared."""
        numbers: list[int] = []
        number = -1
        for word in words:
            number = self._numbers[number, word]
            if self._counts[number] == 1:
                break
            numbers.append(number)
        return numbers


def _frames(words: _Words, begins: int, stops: int) -> Iterator[tuple[int, int]]:
    """Yield how many words can be before and after a place that another fills otherwise.

    Args:
        words: The statement.
        begins: With how many of its first words another begins.
        stops: With how many of its last words another ends.
    """
    length = len(words)
    for rest in range(min(stops, length - 2) + 1):
        least = max(1, length - rest - _CHANGED * 2)
        for start in range(least, min(begins, length - rest - 1) + 1):
            enough = start + rest >= max(2, _SHARED * length)
            if enough and not _is_about_nothing(words[:start], rest):
                yield start, rest


def _kinds(middle: _Words, *, said_to_be: bool) -> frozenset[str]:
    """Return with which kinds of words the words at a place can clash."""
    kinds = {
        "number": any(map(_has_digit, middle)),
        "name": all(map(_is_name, middle)),
        "value": said_to_be and _PASSING.isdisjoint(middle),
    }
    return frozenset(kind for kind, is_so in kinds.items() if is_so)

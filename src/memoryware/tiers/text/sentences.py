"""Comparison of tokenized sentences: the same words, a known reordering, or a conflict.

The rule is strict on purpose. Two sentences say the same only if their words are the same in the
same order, after politeness, articles and inflection are removed, or if one is a known reordering
of the other ("On Fridays we deploy" and "We deploy on Fridays"). No similarity score decides: with
scores "may" and "must" or db2 and db3 are nearly the same.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from difflib import SequenceMatcher
from itertools import islice, product, starmap
from typing import Final, NamedTuple, TypeAlias

from memoryware._caching import clearable_cache
from memoryware.tiers.text.changed_minds import changes_mind
from memoryware.tiers.text.claim_words import SPEAKING
from memoryware.tiers.text.claims import (
    differ_in_form,
    differ_in_marker,
    differ_in_one_place,
    is_first_person_sentence,
    share_topics,
)
from memoryware.tiers.text.phrases import (
    ADDING,
    BEFORE_FILLER,
    CORRECTING,
    DATED,
    FRAME_PREPOSITIONS,
    FRAME_VERBS,
    HOLDING,
    NOTING,
    NOW,
    OF_MANY,
    OWNED,
    REQUIRED,
    SEVERAL,
)
from memoryware.tiers.text.tokens import (
    BREAK,
    DAYS_AND_MONTHS,
    MARKERS,
    PAUSE,
    Sentence,
    Token,
    tokenize_pairs,
    word_set,
)
from memoryware.tiers.text.word_order import (
    ORDERING,
    PREPOSITIONS,
    SUBORDINATORS,
    VERBS,
    Tokens,
    orders_of,
    plain_tokens_of,
    without_pauses,
)

MAX_REORDERED: Final = 48
"""Tokens of a sentence whose reorderings are tried."""
MAX_SENTENCES: Final = 24
"""Sentences of each text that are compared with those of the other."""
_SHARED: Final = 0.5
"""Share of content words from which two texts are about one matter."""
_PLACE, _FORM, _MARKER, _WORDS = "place", "form", "marker", "words"
"""How two sentences disagree: in days and numbers, in the form of the same words, in markers such
as "not", or in other words."""
_EVIDENCE: Final[Mapping[str, Callable[[Sentence, Sentence], bool]]] = {
    _PLACE: share_topics,
    _FORM: differ_in_form,
    _MARKER: differ_in_marker,
    _WORDS: differ_in_one_place,
}

_POSSESSIVES: Final = word_set("our my your his her its their unser unsere mein meine ihre seine")
_EACH: Final = word_set("every jed")
_FUNCTION: Final = (
    PREPOSITIONS
    | SUBORDINATORS
    | word_set("""
of be is are was were do does did have has had and or but that which who we i you he she it they our
my your his her its their this these those there as so than then
und oder aber ist sind war wird werden hat haben wir ich er sie es unser unsere dass als
是 在 了 和 我 们 你 他 它 这 那 于 由 把 被 将 就 也 会 给 到 ,
""")
)
_NO_CONTENT: Final = _FUNCTION | MARKERS


def same_sentence(first: Sentence, second: Sentence, *, german: bool) -> bool:
    """Return whether two sentences say the same.

    Args:
        first: A sentence, as `tokenize` returns it.
        second: Another sentence, tokenized with the same `is_german`.
        german: Whether German word order is tried.

    Returns:
        Whether they do.
    """
    if first.is_question != second.is_question:
        return False
    return matches(plain_tokens_of(first), plain_tokens_of(second)) or _is_reordered(
        first, second, german=german
    )


def matches(first: Sequence[Token], second: Sequence[Token]) -> bool:
    """Return whether two lists of tokens are the same words in the same order.

    Args:
        first: A list of tokens.
        second: Another list.

    Returns:
        Whether they are.
    """
    if len(first) != len(second):
        return False
    for token, other in zip(first, second, strict=True):
        # Most pairs are different words, or the very same, which is quick to see.
        if token.exact == other.exact:
            if token.case == other.case:
                continue
        elif token.stem != other.stem:
            return False
        if not token.matches(other):
            return False
    return True


def same_words_in_order(left: Sequence[Sentence], right: Sequence[Sentence]) -> bool:
    """Return whether two texts have the same words in the same order, however they are divided.

    Args:
        left: The sentences of a text.
        right: The sentences of another.

    Returns:
        Whether they have.
    """
    return matches(without_pauses(_joined(left)), without_pauses(_joined(right)))


def conflicts_among(
    groups: Sequence[Sequence[tuple[str, str]]], *, needs_claim: bool = True
) -> list[bool]:
    """Return for each group of pairs of statements whether one pair conflicts.

    Args:
        groups: Pairs of statements that are about one matter, perhaps; a group may be empty.
        needs_claim: As of `in_conflict`.

    Returns:
        For each group True if the sentences of one pair conflict and do not say the same.
    """
    tokenized = iter(tokenize_pairs([pair for group in groups for pair in group]))
    conflicts: list[bool] = []
    for group in groups:
        pairs = [*islice(tokenized, len(group))]
        # Few pairs conflict, so that is asked before whether they are the same.
        conflicts.append(
            any(
                in_conflict(left, right, needs_claim=needs_claim)
                and not same_sentences(left, right, german=german)
                for left, right, german in pairs
            )
        )
    return conflicts


# The same words in another order.


def same_sentences(left: Sequence[Sentence], right: Sequence[Sentence], *, german: bool) -> bool:
    """Return whether the sentences of two texts say the same, perhaps in another order.

    Args:
        left: The sentences of a text; at least one.
        right: The sentences of another, tokenized with the same `is_german`.
        german: Whether German word order is tried.

    Returns:
        Whether they do.
    """
    if len(left) == len(right) == 1:
        return same_sentence(left[0], right[0], german=german)
    if left[-1].is_question == right[-1].is_question and same_words_in_order(left, right):
        questions = [[sentence.is_question for sentence in side] for side in (left, right)]
        return len(left) != len(right) or questions[0] == questions[1]
    if len(left) != len(right):
        return False
    if all(same_sentence(*pair, german=german) for pair in zip(left, right, strict=True)):
        return True
    return len(left) > 1 and _same_in_any_order(left, right, german=german)


def _same_in_any_order(
    left: Sequence[Sentence], right: Sequence[Sentence], *, german: bool
) -> bool:
    """Return whether sentences are the same in another order, where order has no meaning."""
    for sentence in (*left, *right):
        words = sentence.words
        if words & ORDERING or not words & VERBS:  # an order, or a step of a procedure
            return False
    waiting: dict[tuple[str, ...], list[Sentence]] = defaultdict(list)
    for sentence in right:
        waiting[_bucket(sentence)].append(sentence)
    for sentence in left:
        candidates = waiting[_bucket(sentence)][:16]
        match = next(
            (other for other in candidates if same_sentence(sentence, other, german=german)), None
        )
        if match is None:
            return False
        waiting[_bucket(sentence)].remove(match)
    return True


def _bucket(sentence: Sentence) -> tuple[str, ...]:
    return tuple(sorted(token.stem for token in sentence.tokens if token.exact != PAUSE))


def _joined(sentences: Sequence[Sentence]) -> list[Token]:
    tokens: list[Token] = []
    for sentence in sentences:
        if tokens:
            tokens.append(Token(PAUSE, PAUSE))
        tokens += sentence.tokens
    return tokens


def _is_reordered(first: Sentence, second: Sentence, *, german: bool) -> bool:
    if max(len(first.tokens), len(second.tokens)) > MAX_REORDERED:
        return False
    for sentence, other in ((first, second), (second, first)):
        plain = plain_tokens_of(other)
        # A reordering has no new words but the verb of a passive that becomes active.
        words, stems = sentence.words, sentence.stems
        new = sum(token.exact not in words and token.stem not in stems for token in plain)
        if new > 1:
            continue
        if any(matches(variant, plain) for variant in orders_of(sentence, plain, german=german)):
            return True
    return False


# What differs.


def in_conflict(
    left: Sequence[Sentence],
    right: Sequence[Sentence],
    *,
    by_other: bool = False,
    needs_claim: bool = True,
) -> bool:
    """Return whether a sentence of one text disagrees with one of another.

    A sentence that both texts have is left out: the sentences beside it in one text do not disagree
    with it.

    Args:
        left: The sentences of a text.
        right: The sentences of the other.
        by_other: Whether another speaker said the other, so that "I" is somebody else there.
        needs_claim: Whether both sentences must claim something about one matter. Otherwise it is
            enough that they are alike and not the same.

    Returns:
        Whether one does.
    """
    if by_other:
        left, right = (
            [sentence for sentence in side if not is_first_person_sentence(sentence)]
            for side in (left, right)
        )
    disagree = _contradict if needs_claim else _disagree
    if len(left) == len(right) == 1:
        if left[0].is_question or right[0].is_question or left[0].tokens == right[0].tokens:
            return False
        return bool(disagree(left[0], right[0]))
    ours, theirs = (
        {sentence.tokens: sentence for sentence in side if not sentence.is_question}
        for side in (left, right)
    )
    first = [sentence for tokens, sentence in ours.items() if tokens not in theirs]
    second = [sentence for tokens, sentence in theirs.items() if tokens not in ours]
    pairs = product(first[:MAX_SENTENCES], second[:MAX_SENTENCES])
    return any(starmap(disagree, pairs))


def _contradict(first: Sentence, second: Sentence) -> bool:
    """Return whether two sentences disagree, and claim something about one matter."""
    difference = _disagree(first, second)
    if difference and _EVIDENCE[difference](first, second):
        return True
    if SPEAKING.isdisjoint(first.words) or SPEAKING.isdisjoint(second.words):
        return False
    return changes_mind(first, second)


def _disagree(first: Sentence, second: Sentence) -> str:
    """Return how two sentences that are alike disagree; "" if they do not."""
    if max(len(first.tokens), len(second.tokens)) > MAX_REORDERED:  # it says more than one thing
        return ""
    if _fills_a_place_otherwise(first, second):
        return _PLACE
    ours, theirs = _content(first), _content(second)
    shared = len(ours.stems & theirs.stems)
    if shared and (ours.repeats or theirs.repeats):
        shared = (ours.counts & theirs.counts).total()
    if shared < max(1, _SHARED * max(ours.total, theirs.total)):
        return ""
    both_add = shared < ours.total and shared < theirs.total
    if shared == ours.total == theirs.total:
        return "" if _only_adds_possessives(first.tokens, second.tokens) else _FORM
    if _marks(first) != _marks(second):
        return "" if both_add and _of_two_subjects(first.tokens, second.tokens) else _MARKER
    if not both_add or _another_subject(first.tokens, second.tokens):
        return ""
    return "" if _both_may_hold(first.tokens, second.tokens) else _WORDS


@clearable_cache(4096)
def _content(sentence: Sentence) -> _Content:
    """Return the stems of the words that are neither function words nor markers."""
    counts = _content_of(sentence.tokens)
    total = counts.total()
    return _Content(frozenset(counts), counts, total, total > len(counts))


class _Content(NamedTuple):
    """The content words of a sentence.

    Attributes:
        stems: Their different stems.
        counts: How often each stem is there.
        total: How many words there are.
        repeats: Whether a stem is there more than once.
    """

    stems: frozenset[str]
    counts: Counter[str]
    total: int
    repeats: bool


def _content_of(tokens: Sequence[Token]) -> Counter[str]:
    return Counter(
        [
            token.stem
            for token in tokens
            if token.exact not in _NO_CONTENT and token.stem not in _NO_CONTENT
        ]
    )


def _is_marker(token: Token) -> bool:
    return token.exact in MARKERS or token.stem in MARKERS


@clearable_cache(4096)
def _marks(sentence: Sentence) -> Counter[str]:
    """Return the markers of a sentence.

    Without "every" in "every Monday", which is a time, and "much" in "very much", which stresses.
    """
    words = [token.exact for token in sentence.tokens]
    before, after = ["", *words], [*words[1:], ""]
    return Counter(
        token.stem
        for token, previous, following in zip(sentence.tokens, before, after, strict=False)
        if _is_marker(token)
        and not (token.stem in _EACH and following in DAYS_AND_MONTHS)
        and not (token.exact == "much" and previous == "very")
    )


def _only_adds_possessives(first: Sequence[Token], second: Sequence[Token]) -> bool:
    """Return whether one says "all its orders" where the other says "all orders"."""
    plain = [
        without_pauses([token for token in side if token.exact not in _POSSESSIVES])
        for side in (first, second)
    ]
    return len(without_pauses(first)) != len(without_pauses(second)) and matches(*plain)


def _of_two_subjects(first: Sequence[Token], second: Sequence[Token]) -> bool:
    """Return whether rules of two are stated: "Guests may enter" and "Visitors must not enter"."""
    ours, theirs = (_content_of(side[: _subject_end(side)]) for side in (first, second))
    return bool(ours - theirs and theirs - ours)


def _another_subject(first: Sequence[Token], second: Sequence[Token]) -> bool:
    """Return whether both say the same of two things: "Carl is ill" and "Dora is ill"."""
    ends = [_subject_end(side) for side in (first, second)]
    return matches(first[ends[0] :], second[ends[1] :])


def _subject_end(tokens: Sequence[Token]) -> int:
    verbs = (at for at, token in enumerate(tokens) if at and token.exact in VERBS)
    return next(verbs, 1)


# Frames: the same words but for what fills one or more of their places.
#
# Shared words say too little about short sentences: "We deploy on Fridays at 14:00" and "We deploy
# on Mondays at 10:00" share one word of three that count.

MAX_FRAME: Final = 40
"""Tokens of a sentence that is looked at; a longer one says more than one thing."""
_MAX_FILLER: Final = 3
"""Tokens that fill a place."""
_MIN_FRAME: Final = 2
"""Tokens that both sentences must begin with, so that they speak of one thing."""

_DAYS: Final = DAYS_AND_MONTHS | word_set("""
montags dienstags mittwochs donnerstags freitags samstags sonntags
today tomorrow daily weekly monthly heute morgen täglich wöchentlich monatlich
""")
_NUMBER: Final = re.compile(r"[$€£]?v?\d[\w.:,/%-]*", re.IGNORECASE)
_VERSION: Final = re.compile(r"v\d+(?:\.\d+)*|\d+(?:\.\d+)+", re.IGNORECASE)
_RESPONSIBLE: Final = tuple(
    tuple(phrase.split())
    for phrase in (
        "is responsible for",
        "is accountable for",
        "is in charge of",
        "is on call for",
        "ist verantwortlich für",
        "ist zuständig für",
    )
)
_CHINESE_HOLDING: Final = (("负", "责"), ("领", "导"), ("带", "领"), ("主", "管"))


_Change: TypeAlias = tuple[int, int, Sequence[Token], Sequence[Token]]
"""Where two sentences begin to differ, and the words that each has there."""


def _fills_a_place_otherwise(first: Sentence, second: Sentence) -> bool:
    """Return whether two sentences are one frame whose places cannot hold both fillers.

    Args:
        first: A sentence.
        second: Another, tokenized for the same language.
    """
    if max(len(first.tokens), len(second.tokens)) > MAX_FRAME:
        return False
    (left, left_markers), (right, right_markers) = _frame_of(first), _frame_of(second)
    if not left or not right:
        return False
    same_start = left[0].stem == right[0].stem
    # Most pairs share neither a beginning nor an end, which is quick to see.
    if not same_start and left[-1].exact != right[-1].exact:
        return False
    if left_markers != right_markers:
        return False
    if not same_start:
        return _other_holder(left, right)
    if not _differ_in_fillers(left, right):
        return False
    changes = _changes(left, right)
    return _other_fillers(left, changes) or _other_version(left, changes)


def _both_may_hold(first: Sequence[Token], second: Sequence[Token]) -> bool:
    """Return whether sentences that share their words speak of two things, or of two matters.

    "The office is in Rome" and "The office has a garden"; "The team likes tea" and "The team
    likes coffee"; "In 2024 revenue was 5 million" and "In 2025 revenue was 7 million"; "Ann
    works in Rome" and "Ann works on Mondays"; "Bob leads it" and "Ann leads it as well".
    """
    left, right = ([token for token in side if token.exact != PAUSE] for side in (first, second))
    words = [{token.exact for token in side} for side in (left, right)]
    if (words[0] ^ words[1]) & ADDING:
        return True
    verbs = [side & FRAME_VERBS for side in words]
    if any(verbs) and not verbs[0] & verbs[1]:
        return True
    start = _common_start(left, right)
    rests = [side[start:] for side in (left, right)]
    if start and left[start - 1].exact in OF_MANY:
        stems = [{token.stem for token in side} for side in rests]
        return not stems[0] & stems[1]
    return _other_matter(*rests) or _other_thing(left, right)


def _common_start(left: Sequence[Token], right: Sequence[Token]) -> int:
    pairs = enumerate(zip(left, right, strict=False))
    return next(
        (n for n, (token, other) in pairs if token.stem != other.stem), min(len(left), len(right))
    )


def _other_thing(left: Sequence[Token], right: Sequence[Token]) -> bool:
    """Return whether what is spoken of differs, and what is said of it differs as well."""
    changes = _changes(left, right)
    if len(changes) < 2:
        return False
    position, _, old, new = changes[0]
    if position and _kind(old) == _kind(new) == "number" and not _is_open(left, position):
        return True
    kinds = [_kind(old) == _kind(new) != "" for _, _, old, new in changes]
    if any(kinds) and not all(kinds):  # "Ann met Bob on Monday" and "Ann met Carl on Friday"
        return True
    verb = next((at for at, token in enumerate(left) if at and token.exact in FRAME_VERBS), 0)
    return position < verb <= changes[-1][0]


def _other_matter(left: Sequence[Token], right: Sequence[Token]) -> bool:
    """Return whether one says where and the other when, or one a day and the other none."""
    if not left or not right:
        return False
    if (left[0].exact in DATED) != (right[0].exact in DATED):
        return not _kind(left[:1]) or not _kind(right[:1])
    heads = left[0].exact, right[0].exact
    if heads[0] == heads[1] or not set(heads) <= FRAME_PREPOSITIONS:
        return False
    kinds = [_kind(side[1:]) for side in (left, right)]
    return (kinds[0] == "") or (kinds[1] == "")


@clearable_cache(4096)
def _frame_of(sentence: Sentence) -> tuple[Tokens, list[str]]:
    """Return the words of a sentence that make its frame, and its markers, sorted.

    It is without "Correction:", without "now" and without ", not on Fridays".
    """
    tokens = [*sentence.tokens]
    if len(tokens) > 1 and tokens[0].exact in NOTING and tokens[1].exact == PAUSE:
        tokens = tokens[2:]
    for position, token in enumerate(tokens[:-1]):
        if (
            token.exact == PAUSE
            and token.stem != BREAK
            and tokens[position + 1].exact in CORRECTING
        ):
            tokens = tokens[:position]
            break
    words = tuple([token for token in tokens if token.exact != PAUSE and token.exact not in NOW])
    markers = [token.stem for token in words if token.exact in MARKERS or token.stem in MARKERS]
    return words, sorted(markers)


def _changes(left: Sequence[Token], right: Sequence[Token]) -> list[_Change]:
    """Return where two sentences differ and what stands there; none if one adds to the other."""
    ours, theirs = [token.stem for token in left], [token.stem for token in right]
    # Words in a row that the other does not have are one change, which is quick to see.
    if max(_longest_run(ours, {*theirs}), _longest_run(theirs, {*ours})) > _MAX_FILLER:
        return []
    changes = []
    for kind, i, j, begin, stop in SequenceMatcher(
        None, ours, theirs, autojunk=False
    ).get_opcodes():
        if kind == "equal":
            continue
        if kind != "replace" or max(j - i, stop - begin) > _MAX_FILLER:
            return []
        changes.append((i, begin, left[i:j], right[begin:stop]))
    return changes


def _longest_run(words: Sequence[str], others: AbstractSet[str]) -> int:
    """Return how many words follow each other at most that are none of others."""
    longest = run = 0
    for word in words:
        run = 0 if word in others else run + 1
        longest = max(longest, run)
    return longest


def _kind(filler: Sequence[Token]) -> str:
    """Return what fills a place: a day, a number, or "" for anything else."""
    words = [token.exact for token in filler]
    if all(word in _DAYS for word in words):
        return "day"
    if all(_NUMBER.fullmatch(word) for word in words):
        return "number"
    return "date" if all(word in _DAYS or _NUMBER.fullmatch(word) for word in words) else ""


def _differ_in_fillers(left: Sequence[Token], right: Sequence[Token]) -> bool:
    """Return whether every word of only one sentence is a day or a number: a quick look."""
    stems = [{token.stem for token in side} for side in (left, right)]
    return all(
        token.stem in others or token.exact in _DAYS or _NUMBER.fullmatch(token.exact)
        for side, others in ((left, stems[1]), (right, stems[0]))
        for token in side
    )


def _other_fillers(left: Sequence[Token], changes: Sequence[_Change]) -> bool:
    """Return whether days and numbers differ behind what both sentences speak of.

    Behind a subject and a verb, or a preposition: "Order 17 shipped on Monday" and "Order 18
    shipped on Tuesday" speak of two orders.
    """
    if not changes or changes[0][0] < _MIN_FRAME or changes[0][1] < _MIN_FRAME:
        return False
    return all(
        _kind(old) and _kind(old) == _kind(new) and _is_open(left, position)
        for position, _, old, new in changes
    )


def _is_open(tokens: Sequence[Token], position: int) -> bool:
    """Return whether a day or time, and not the number of a thing, is expected at a place."""
    return tokens[position - 1].exact in BEFORE_FILLER or tokens[position].exact in _DAYS


def _other_version(left: Sequence[Token], changes: Sequence[_Change]) -> bool:
    """Return whether one thing is required in two versions."""
    if len(changes) != 1 or not {token.exact for token in left} & REQUIRED:
        return False
    position, other, old, new = changes[0]
    if position < 1 or other < 1 or len(old) != 1 or len(new) != 1:
        return False
    return all(_VERSION.fullmatch(filler[0].exact) for filler in (old, new))


def _other_holder(left: Sequence[Token], right: Sequence[Token]) -> bool:
    """Return whether two have what only one can have: "Ann leads the team", "Bob leads the team".

    What many can have of one kind is left out: "owns a car", "is allergic to peanuts".
    """
    if {token.exact for token in (*left, *right)} & (SEVERAL | MARKERS):
        return False
    sides = left, right
    ends = [_holding(side) for side in sides]
    if 0 in ends:
        return False
    rests = [[token.exact for token in side[end:]] for side, end in zip(sides, ends, strict=True)]
    holders = [[token.stem for token in side[:end]] for side, end in zip(sides, ends, strict=True)]
    return rests[0] == rests[1] and holders[0] != holders[1]


def _holding(tokens: Sequence[Token]) -> int:
    """Return where a verb of holding begins whose object is definite; 0 if there is none."""
    words = [token.exact for token in tokens]
    for at in range(1, min(len(words) - 1, _MAX_FILLER + 1)):
        if any(tuple(words[at : at + len(phrase)]) == phrase for phrase in _RESPONSIBLE):
            return at if len(words) > at + 3 else 0
        if tuple(words[at : at + 2]) in _CHINESE_HOLDING:
            return at if len(words) > at + 2 else 0
        follows = tokens[at + 1]
        if words[at] in HOLDING and (follows.is_definite or follows.exact in OWNED):
            return at
    return 0

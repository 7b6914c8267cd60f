"""Claims of sentences: what two of them must share before a difference is a contradiction.

Most turns of a conversation claim nothing that another could contradict: greetings, thanks,
reactions, captions of pictures, events that happen more than once, what two people say about
themselves. Their words are alike all the same: of 5,882 turns of two friends a third seemed to
contradict another, and of 60 such pairs none did.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from difflib import SequenceMatcher
from typing import Final, NamedTuple, TypeAlias

from memoryware._caching import clearable_cache
from memoryware.tiers.text.claim_words import (
    ANSWERS,
    BEING,
    COURTESIES,
    COURTESY_PHRASES,
    HEDGES,
    JUDGEMENTS,
    LINKING,
    OPPOSING,
    OPPOSITES,
    PASTS,
    PRONOUNS,
    REACTIONS,
    REFERRING,
    SMALL_TALK,
    SOFT_MARKERS,
    SPEAKING,
    STATES,
    STRESS,
    UNSPACED_COURTESIES,
)
from memoryware.tiers.text.phrases import ADDING
from memoryware.tiers.text.tokens import (
    DAYS_AND_MONTHS,
    MARKERS,
    MODALS,
    NEGATIONS,
    PAUSE,
    UNSPACED,
    Sentence,
    Token,
    word_set,
)
from memoryware.tiers.text.word_order import PREPOSITIONS, SUBORDINATORS, without_pauses

_FIRM: Final = MARKERS - SOFT_MARKERS
"""Markers of which each changes a claim; "we will deploy" claims what "we deploy" does."""
_SKIPPED: Final = STRESS | PRONOUNS | BEING | REACTIONS | {PAUSE}
_MINOR: Final = _SKIPPED | SMALL_TALK | JUDGEMENTS | MARKERS | PREPOSITIONS | SUBORDINATORS
_LEADING: Final = PRONOUNS | BEING | (MARKERS - NEGATIONS)
"""Words before an order that make it a statement: "you have to", "I am"."""
_POSSIBLE: Final = HEDGES | ADDING
_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
_SYLLABLE: Final = re.compile("[\u3040-\u309f]")
"""Hiragana, with which Japanese writes endings and particles."""
_HAN_NUMBERS: Final = frozenset("一二三四五六七八九十日")
"""Numbers and days of the week in Chinese."""
_VALUE: Final = re.compile(r"\S*\d\S*|\S+@\S+")
_PAST: Final = re.compile(r"[a-z]{2,}(?<!e)ed")
_PARTICIPLE: Final = re.compile(r"\w{0,4}ge\w{2,}(?:t|en)")
_AUXILIARIES: Final = word_set("habe hast hat haben habt")
_PASSIVES: Final = word_set("be is are was were been being am get gets stay stays")
_PLURAL_HAN: Final = "们們"
_ENDED: Final = word_set("た だ")
"""How a Japanese sentence about something that happened ends."""
_MAX_PLACE: Final = 2
"""Words of one place in a sentence."""
_ANY: Final = 0.5
"""Topic words that two sentences share at least; a character without blanks is half a word."""
_TOPICS: Final = 2.0
"""The same if no day, number or name shows what differs, and if a subject is "it" or "that"."""
_PROPOSED: Final = "吧"
"""How a sentence ends in Chinese that proposes or guesses."""

_Change: TypeAlias = tuple[Sequence[Token], Sequence[Token], int]
"""Words of a claim, the words of another in their place, and where the former begin."""


class _Claim(NamedTuple):
    """What a sentence claims.

    Attributes:
        words: Its words without reactions and names before it, stress and pauses; none if the
            sentence only thanks or greets.
        topics: How often it has each stem of a word that names something.
        is_vague: Whether its subject is a pronoun such as "it", which may be anything.
    """

    words: tuple[Token, ...]
    topics: Counter[str]
    is_vague: bool


def is_first_person(words: Sequence[str]) -> bool:
    """Return whether a sentence speaks of its speaker: "I like tea", not "we like tea".

    Args:
        words: Its words in lower case.

    Returns:
        Whether it does.
    """
    if SPEAKING.isdisjoint(words):
        return False
    pairs = zip(words, [*words[1:], ""], strict=True)
    return any(
        word in SPEAKING and not (word == "我" and following and following in _PLURAL_HAN)
        for word, following in pairs
    )


def is_first_person_sentence(sentence: Sentence) -> bool:
    """Return whether a tokenized sentence speaks of its speaker; see `is_first_person`.

    Args:
        sentence: The sentence.

    Returns:
        Whether it does.
    """
    return is_first_person([token.exact for token in sentence.tokens])


def share_topics(first: Sentence, second: Sentence, least: float = _ANY) -> bool:
    """Return whether two sentences have words in common that name what both are about.

    Args:
        first: A sentence.
        second: Another.
        least: How many words.

    Returns:
        Whether they have; False if one of them only greets, thanks or stands in brackets.
    """
    ours, theirs = _claim_of(first), _claim_of(second)
    if ours.is_vague or theirs.is_vague:
        least = max(least, _TOPICS)
    return _weight(ours.topics & theirs.topics) >= least


def differ_in_form(first: Sentence, second: Sentence) -> bool:
    """Return whether sentences with the same content words claim different things.

    They do with another marker ("may" and "must"), another order ("Ann reports to Bob") or another
    function word in one place ("before" and "after"). Pronouns and stress do not count, and an
    order claims what a statement of it does: "you have to rest" and "rest".

    Args:
        first: A sentence.
        second: Another with the same content words.

    Returns:
        Whether they do.
    """
    ours, theirs = _claim_of(first).words, _claim_of(second).words
    if _is_reordered(ours, theirs):  # all words are the same, which is evidence enough
        return share_topics(first, second)
    if not share_topics(first, second, _TOPICS) or _is_order_of(ours, theirs):
        return False
    if _markers_differ(ours, theirs):
        return True
    left, right = (
        [token for token in side if token.exact not in PRONOUNS] for side in (ours, theirs)
    )
    if _stems(left) == _stems(right):
        cases = ((token.case, other.case) for token, other in zip(left, right, strict=True))
        return any(case and other and case != other for case, other in cases)
    if _is_reordered(left, right):
        return True
    # A comma beside a negation is a word of its own: "No, tests are required".
    return all(
        len(old) == len(new) or _stems((*old, *new)) == [PAUSE]
        for old, new, _ in _changes(left, right)
    )


def differ_in_marker(first: Sentence, second: Sentence) -> bool:
    """Return whether sentences are the same but for markers and what stands for them.

    "Everybody may enter" and "Nobody may enter" are, "We always rest" and "We rest on Sundays" are
    not. Where one is negated, the other may add a word: "Never call" and "Call every day".

    Args:
        first: A sentence.
        second: Another.

    Returns:
        Whether they are.
    """
    if not share_topics(first, second, _TOPICS):
        return False
    ours, theirs = _claim_of(first).words, _claim_of(second).words
    if not _markers_differ(ours, theirs):
        return False
    is_denied = _is_negated(ours) != _is_negated(theirs)
    for old, new, _ in _changes(ours, theirs):
        sizes = [_size(token for token in side if not _is_skipped(token)) for side in (old, new)]
        if max(sizes) > 1:
            return False
        if min(sizes) == 0 < max(sizes) and not is_denied:  # one adds words
            shorter = new if sizes[0] else old
            if not any(map(_is_firm, shorter)):
                return False
    return True


def differ_in_one_place(first: Sentence, second: Sentence) -> bool:
    """Return whether sentences have other values, or other words in one place behind a subject.

    Of events both may hold: "I baked bread" and "I baked a cake".

    Args:
        first: A sentence.
        second: Another.

    Returns:
        Whether they have.
    """
    ours, theirs = _claim_of(first).words, _claim_of(second).words
    changes = _changes(ours, theirs)
    if changes and all(_is_value(old) and _is_value(new) for old, new, _ in changes):
        return share_topics(first, second)
    if len(changes) != 1:
        return False
    old, new, at = changes[0]
    if _are_opposites(old, new):
        return share_topics(first, second)
    is_linked = _is_linked(ours, at)
    if not share_topics(first, second, _ANY if is_linked else _TOPICS):
        return False
    if not _POSSIBLE.isdisjoint(token.exact for token in (*ours, *theirs)):
        return False
    if at == 0 or (at == 1 and ours[0].exact in PRONOUNS):  # two subjects
        return False
    if not all(0 < _size(side) <= _MAX_PLACE for side in (old, new)):
        return False
    return not (_is_judgement(changes) or _is_event(ours) or _is_event(theirs))


def differ_in_value(first: Sentence, second: Sentence) -> bool:
    """Return whether a name or word that differs in one place is a value of what both speak of.

    Args:
        first: A sentence.
        second: Another, with the same words but for one place.

    Returns:
        Whether it is.
    """
    ours, theirs = _claim_of(first).words, _claim_of(second).words
    changes = _changes(ours, theirs)
    if not changes or not share_topics(first, second):  # only whom they speak to differs
        return False
    if len(changes) == 1 and _are_opposites(*changes[0][:2]):
        return True
    return not (_is_judgement(changes) or _is_event(ours, STATES))


def is_denial(first: Sentence, second: Sentence) -> bool:
    """Return whether a sentence that has the words of another and a negation denies what it claims.

    Args:
        first: A sentence.
        second: The other.

    Returns:
        Whether it does. Two sentences that begin with "it" may be about two things.
    """
    ours, theirs = _claim_of(first), _claim_of(second)
    if not ours.words or not theirs.words:
        return False
    return not (ours.is_vague or theirs.is_vague) or share_topics(first, second)


# Claims.


@clearable_cache(4096)
def _claim_of(sentence: Sentence) -> _Claim:
    tokens = [] if sentence.is_aside else _addressed(sentence.tokens)
    if _is_courtesy(tokens):
        tokens = []
    # A comma beside a negation decides what is denied.
    words = tuple(without_pauses([token for token in tokens if token.exact not in STRESS]))
    topics = Counter(token.stem for token in words if not _is_minor(token))
    return _Claim(words, topics, bool(words) and words[0].exact in REFERRING)


def _addressed(tokens: Sequence[Token]) -> list[Token]:
    """Return the words of a sentence without a reaction before it, and without a name it calls."""
    rest, is_greeting = [*tokens], False
    while rest and (rest[0].exact in REACTIONS or _answers(rest)):
        is_greeting = True
        del rest[: 1 + (len(rest) > 1 and rest[1].exact == PAUSE)]
    if is_greeting and len(rest) > 2 and rest[1].exact == PAUSE and _may_be_called(rest[0]):
        del rest[:2]  # "Hey Ann, ..."
    if len(rest) > 2 and rest[-2].exact == PAUSE and _may_be_called(rest[-1]):
        before = rest[-3]
        if not (before.is_name and before.exact.isalpha()):  # "in Paris, Texas" is a place
            rest = rest[:-2]
    return rest


def _answers(tokens: Sequence[Token]) -> bool:
    return tokens[0].exact in ANSWERS and (len(tokens) == 1 or tokens[1].exact == PAUSE)


def _may_be_called(token: Token) -> bool:
    return token.firmness > 0 and token.exact not in DAYS_AND_MONTHS and token.exact.isalpha()


def _is_courtesy(tokens: Sequence[Token]) -> bool:
    if not tokens:
        return True
    if tokens[0].exact in COURTESIES:
        return True
    beginning = [token.exact for token in tokens[:4]]
    if any(tuple(beginning[: len(phrase)]) == phrase for phrase in COURTESY_PHRASES):
        return True
    if tokens[-1].exact == _PROPOSED:
        return True
    return "".join(beginning).startswith(UNSPACED_COURTESIES)


def _is_minor(token: Token) -> bool:
    return token.exact in _MINOR or token.stem in _MINOR


def _weight(topics: Counter[str]) -> float:
    return sum(_size_of(stem) * count for stem, count in topics.items())


def _size(tokens: Iterable[Token]) -> float:
    return sum(_size_of(token.exact) for token in tokens)


def _is_skipped(token: Token) -> bool:
    return token.exact in _SKIPPED or token.exact in MARKERS or token.stem in MARKERS


def _size_of(word: str) -> float:
    """Return 1 for a word; a character of a script without blanks is about half a word."""
    if len(word) > 1 or not _UNSPACED.match(word):
        return 1.0
    return 0.0 if _SYLLABLE.match(word) else 0.5


# Differences.


def _changes(left: Sequence[Token], right: Sequence[Token]) -> list[_Change]:
    matcher = SequenceMatcher(None, _stems(left), _stems(right), autojunk=False)
    return [
        (left[start:end], right[begin:stop], start)
        for kind, start, end, begin, stop in matcher.get_opcodes()
        if kind != "equal"
    ]


def _stems(tokens: Iterable[Token]) -> list[str]:
    return [token.stem for token in tokens]


def _is_reordered(left: Sequence[Token], right: Sequence[Token]) -> bool:
    stems, others = _stems(left), _stems(right)
    return stems != others and Counter(stems) == Counter(others)


def _is_order_of(left: Sequence[Token], right: Sequence[Token]) -> bool:
    """Return whether one claim is an order, and the other says that it has to be followed."""
    cut, other_cut = _without_leading(left), _without_leading(right)
    are_cut = len(cut) < len(left), len(other_cut) < len(right)
    return are_cut[0] != are_cut[1] and _stems(cut) == _stems(other_cut)


def _without_leading(tokens: Sequence[Token]) -> Sequence[Token]:
    ordered = (at for at, token in enumerate(tokens) if token.exact not in _LEADING)
    return tokens[next(ordered, len(tokens)) :]


def _is_negated(tokens: Iterable[Token]) -> bool:
    return any(token.exact in NEGATIONS or token.stem in NEGATIONS for token in tokens)


def _is_firm(token: Token) -> bool:
    return token.exact in _FIRM or token.stem in _FIRM


def _markers_differ(left: Sequence[Token], right: Sequence[Token]) -> bool:
    """Return whether the markers of one claim exclude those of another.

    "We can deploy" and "We deploy" both hold: a modal verb excludes only another one.
    """
    ours, theirs = ({*_stems(filter(_is_firm, side))} for side in (left, right))
    if ours == theirs:
        return False
    return bool(ours and theirs) or not (ours | theirs) <= MODALS


def _is_judgement(changes: Sequence[_Change]) -> bool:
    return any(token.exact in JUDGEMENTS for old, new, _ in changes for token in (*old, *new))


def _is_event(tokens: Sequence[Token], states: AbstractSet[str] = frozenset()) -> bool:
    """Return whether a claim is about something that happened, and may happen again.

    Args:
        tokens: Its words.
        states: Words of the past that show no event.
    """
    words = [token.exact for token in tokens]
    if not PASTS.isdisjoint(words) and any(word in PASTS - states for word in words):
        return True
    if words and words[-1] in _ENDED:
        return True
    if not _AUXILIARIES.isdisjoint(words) and any(map(_PARTICIPLE.fullmatch, words)):
        return True
    pairs = zip(["", *words], words, strict=False)
    return any(_PAST.fullmatch(word) and before not in _PASSIVES for before, word in pairs)


def _is_linked(tokens: Sequence[Token], at: int) -> bool:
    """Return whether a place of a claim says what its subject is: "Ann is my sister"."""
    while at and tokens[at - 1].exact in PRONOUNS:
        at -= 1
    return at > 0 and tokens[at - 1].exact in LINKING


def _are_opposites(left: Sequence[Token], right: Sequence[Token]) -> bool:
    if len(left) != 1 or len(right) != 1:
        return False
    shorter, longer = sorted((left[0].exact, right[0].exact), key=len)
    if frozenset((shorter, longer)) in OPPOSITES:
        return True
    return longer.removesuffix(shorter) in OPPOSING


def _is_value(tokens: Sequence[Token]) -> bool:
    return bool(tokens) and all(
        token.exact in DAYS_AND_MONTHS
        or token.exact in _HAN_NUMBERS
        or _VALUE.fullmatch(token.exact)
        for token in tokens
    )

"""Comparison of tokenized sentences: the same words, a known reordering, or a conflict.

The rule is strict on purpose. Two sentences say the same only if their words are the same in the
same order, after politeness, articles and inflection are removed, or if one is a known reordering
of the other ("On Fridays we deploy" and "We deploy on Fridays"). No similarity score decides: with
scores "may" and "must" or db2 and db3 are nearly the same.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from difflib import SequenceMatcher
from itertools import islice, product, starmap
from typing import Final, NamedTuple, TypeAlias

from memoryware._caching import clearable_cache
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
    NEGATIONS,
    PAUSE,
    Sentence,
    Token,
    tokenize_pairs,
    verb_bases,
    word_set,
)

Tokens: TypeAlias = tuple[Token, ...]

MAX_REORDERED: Final = 48
"""Tokens of a sentence whose reorderings are tried."""
MAX_FRONT: Final = 8
"""Tokens of a phrase that may move from the front to the end."""
MAX_SUBJECT: Final = 6
"""Tokens of a subject that a German verb may follow."""
MAX_SENTENCES: Final = 24
"""Sentences of each text that are compared with those of the other."""
_SHARED: Final = 0.5
"""Share of content words from which two texts are about one matter."""


_PREPOSITIONS: Final = word_set("""
on in at by for from to with within without during after before since until till per under over via
through between among against about around behind near every
um an auf bei für von zu mit nach vor seit bis über unter durch gegen ohne während zwischen neben
wegen jeden jede jedes trotz ab
""")
_TIMES: Final = word_set("""
today tomorrow tonight currently now usually normally yesterday
heute morgen gestern jetzt derzeit aktuell montags dienstags mittwochs donnerstags freitags samstags
sonntags täglich wöchentlich monatlich
""")
_SUBORDINATORS: Final = word_set("""
if when whenever because since while unless until once although though after before as
wenn falls weil da sobald solange obwohl nachdem bevor während sofern damit
""")
_CHINESE_SUBORDINATORS: Final = word_set("如果 因为 由于 只要 除非 虽然 假如")
_UNSAFE: Final = word_set("""
and or but nor that which who whom whose where only even also just not never first then later
respectively either both same other says said thinks told
und oder aber sowie dass der die nur auch sogar erst dann zuerst danach beziehungsweise bzw sagt
""")
"""Words with which it is not clear what a moved phrase belongs to."""
_SUBJECTS: Final = word_set("""
we i you he she it they our my your his her its their this these those all every no some each
wir ich er sie es unser unsere mein meine alle jeder jede kein keine
""")
_VERBS: Final = word_set("""
be is are was were do does did have has had must may can will shall should could would might
ist sind war wird werden hat haben muss kann darf soll will sollte könnte müsste
是 在 用 有 为 叫 必 可 能 应 要 不
""")
_POSSESSIVES: Final = word_set("our my your his her its their unser unsere mein meine ihre seine")
_EACH: Final = word_set("every jed")
_IS: Final = word_set("is are ist sind")
_NOT_VERBS: Final = word_set("""
nicht nur auch immer nie noch schon sehr dann und oder aber kein keine
""")
_FUNCTION: Final = (
    _PREPOSITIONS
    | _SUBORDINATORS
    | word_set("""
of be is are was were do does did have has had and or but that which who we i you he she it they our
my your his her its their this these those there as so than then
und oder aber ist sind war wird werden hat haben wir ich er sie es unser unsere dass als
是 在 了 和 我 们 你 他 它 这 那 于 由 把 被 将 就 也 会 给 到 ,
""")
)
_NO_CONTENT: Final = _FUNCTION | MARKERS
_ORDERING: Final = word_set("""
then next afterwards later first second third finally it he she they this that these those there
dann danach anschließend zuerst zunächst schließlich er sie es dies diese dieser das dort
他 她 它 这 那 此 先 再 后 然
""")


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
    return matches(_key_of(first), _key_of(second)) or _is_reordered(first, second, german=german)


def matches(first: Sequence[Token], second: Sequence[Token]) -> bool:
    """Say whether two lists of tokens are the same words in the same order.

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
    return matches(_key(_joined(left)), _key(_joined(right)))


def conflicts_among(groups: Sequence[Sequence[tuple[str, str]]]) -> list[bool]:
    """Return for each group of pairs of statements whether one pair conflicts.

    Args:
        groups: Pairs of statements that are about one matter, perhaps; a group may be empty.

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
                in_conflict(left, right) and not same_sentences(left, right, german=german)
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
    """Return whether sentences are the same in another order that tells nothing."""
    for sentence in (*left, *right):
        words = sentence.words
        if words & _ORDERING or not words & _VERBS:  # an order, or a step of a procedure
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


def _key(tokens: Sequence[Token]) -> list[Token]:
    """Return tokens without pauses, but for those beside a negation.

    There a comma decides what is denied: "stop, not deploy" and "stop not, deploy".
    """
    kept_tokens = []
    for position, token in enumerate(tokens):
        if token.exact == PAUSE:
            beside = tokens[max(0, position - 1) : position + 2]
            if not any(neighbour.exact in NEGATIONS for neighbour in beside):
                continue
        kept_tokens.append(token)
    return kept_tokens


@clearable_cache(4096)
def _key_of(sentence: Sentence) -> Tokens:
    return tuple(_key(sentence.tokens)) if PAUSE in sentence.words else sentence.tokens


def _is_reordered(first: Sentence, second: Sentence, *, german: bool) -> bool:
    if max(len(first.tokens), len(second.tokens)) > MAX_REORDERED:
        return False
    for sentence, other in ((first, second), (second, first)):
        plain = _key_of(other)
        # A reordering has no new words but the verb of a passive that becomes active.
        words, stems = sentence.words, sentence.stems
        new = sum(token.exact not in words and token.stem not in stems for token in plain)
        if new > 1:
            continue
        if any(matches(variant, plain) for variant in _variants(sentence, plain, german=german)):
            return True
    return False


def _variants(sentence: Sentence, other: Sequence[Token], *, german: bool) -> Iterator[list[Token]]:
    """Yield orders of the words of a sentence that say the same."""
    tokens = sentence.tokens
    plain = _key_of(sentence)
    yield from _subordinate_moved(tokens, german=german)
    yield from _front_moved(tokens, german=german)
    yield from _names_exchanged(plain, other)
    yield from _made_active(plain)
    yield from _copula_turned(plain)
    yield from _chinese_time_moved(plain)
    if sentence.reports and german:
        for end in range(1, min(len(plain), MAX_SUBJECT)):
            yield [*plain[:end], plain[-1], *plain[end:-1]]
    if sentence.is_cut and german:
        yield from _verb_moved(plain)


def _verb_moved(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Yield a German sentence whose verb stands first with the verb behind its subject."""
    if len(tokens) < 2 or tokens[0].exact in _NOT_VERBS | _PREPOSITIONS or tokens[0].is_name:
        return
    for end in range(1, min(len(tokens), MAX_SUBJECT)):
        yield [*tokens[1 : end + 1], tokens[0], *tokens[end + 1 :]]


def _subordinate_moved(tokens: Tokens, *, german: bool) -> Iterator[list[Token]]:
    """Yield "M if C" for "If C, M"."""
    words = [token.exact for token in tokens]
    is_chinese = "".join(words[:2]) in _CHINESE_SUBORDINATORS
    if words.count(PAUSE) != 1 or not (is_chinese or words[0] in _SUBORDINATORS):
        return
    if not is_chinese and sum(word in _SUBORDINATORS for word in words) != 1:
        return
    comma = words.index(PAUSE)
    clause, main = list(tokens[:comma]), list(tokens[comma + 1 :])
    if main and main[0].exact in ("then", "dann", "so", "就"):
        main = main[1:]
    elif "".join(token.exact for token in main[:2]) in ("所以", "那么"):
        main = main[2:]
    yield _key([*main, *clause])
    if german:
        for moved in _verb_moved(_key(main)):
            yield [*moved, *clause]


def _front_moved(tokens: Tokens, *, german: bool) -> Iterator[list[Token]]:
    """Yield "We deploy on Fridays" for "On Fridays we deploy"."""
    first = tokens[0].exact
    accusative = german and tokens[0].case == "obl"
    if first not in _PREPOSITIONS | _TIMES and not accusative:
        return
    words = [token.exact for token in tokens]
    if not set(words).isdisjoint(_UNSAFE):
        return
    if not german and any(
        words[at] == "to" and not tokens[at + 1].is_name for at in range(1, len(words) - 1)
    ):
        return  # "On Friday we want to deploy": when do we want, and when do we deploy?
    shortest = 2 if first in _PREPOSITIONS else 1
    for end in range(shortest, min(len(tokens) - 1, MAX_FRONT)):
        has_pause = tokens[end].exact == PAUSE
        front, rest = list(tokens[:end]), list(tokens[end + has_pause :])
        if not rest or PAUSE in (token.exact for token in front):
            return
        rest = _key(rest)
        if not german:
            starts = rest[0].is_name or rest[0].exact in _SUBJECTS or first in _TIMES or has_pause
            if starts or end > 1:
                yield [*rest, *front]
            continue
        for moved in _verb_moved(rest):
            verb = moved.index(rest[0])
            yield [*moved[: verb + 1], *front, *moved[verb + 1 :]]
            yield [*moved, *front]


def _names_exchanged(tokens: Sequence[Token], other: Sequence[Token]) -> Iterator[list[Token]]:
    """Yield "B and A ..." for "A and B ..." where both are names."""
    joints = [at for at, token in enumerate(tokens) if token.exact in ("and", "und", "or", "oder")]
    if len(joints) != 1:
        return
    at = joints[0]
    if not 0 < at < len(tokens) - 1 or (at != 1 and at != len(tokens) - 2):
        return
    names = {token.exact for token in (*tokens, *other) if token.is_name}
    pair = tokens[at - 1], tokens[at + 1]
    words = {token.exact for token in tokens}
    if (
        not all(token.exact in names for token in pair)
        or words & _ORDERING
        or words
        & word_set(
            "respectively between from before after zwischen von vor nach beziehungsweise not nicht"
        )
    ):
        return
    if sum(any(map(str.isdigit, token.exact)) for token in tokens) > 1 or len(names) > 3:
        return  # "primary and replica are db2 and db7"
    yield [*tokens[: at - 1], pair[1], tokens[at], pair[0], *tokens[at + 2 :]]


def _made_active(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Yield "Maria owns the shop" for "The shop is owned by Maria"."""
    words = [token.exact for token in tokens]
    if words.count("by") != 1:
        return
    by = words.index("by")
    if by < 3 or words[by - 2] not in ("is", "are") or not set(words[:by]).isdisjoint(_UNSAFE):
        return
    verb = verb_bases(words[by - 1])
    if not verb:
        return
    subject, agent = list(tokens[: by - 2]), list(tokens[by + 1 :])
    for end in range(1, min(len(agent), MAX_SUBJECT) + 1):
        for stem in verb:
            yield [*agent[:end], Token(stem, stem), *subject, *agent[end:]]


def _copula_turned(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Yield "the server is db2" for "db2 is the server": only where "the" names one thing."""
    words = [token.exact for token in tokens]
    verbs = [at for at, word in enumerate(words) if word in _VERBS]
    if len(verbs) != 1 or words[verbs[0]] not in _IS or not set(words).isdisjoint(_UNSAFE):
        return
    at = verbs[0]
    if 0 < at < len(tokens) - 1 and tokens[at + 1].is_definite:
        yield [*tokens[at + 1 :], tokens[at], *tokens[:at]]


_TIME_CHARACTERS: Final = frozenset("周一二三四五六日天月号年今明昨早上下中午晚点每")


def _chinese_time_moved(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Yield "我们周五部署" for "周五我们部署"."""
    end = 0
    while end < len(tokens) and (
        tokens[end].exact in _TIME_CHARACTERS or tokens[end].exact.isdigit()
    ):
        end += 1
    if not 1 < end < len(tokens) - 1 or tokens[end].exact in "前后起到至内之以从":
        return
    rest = tokens[end:]
    if any(token.exact in _TIME_CHARACTERS - frozenset("上下中天点") for token in rest):
        return
    for subject in range(1, min(len(rest), MAX_SUBJECT)):
        if rest[subject - 1].exact not in "不没从到前后在":
            yield [*rest[:subject], *tokens[:end], *rest[subject:]]


# What differs.


def in_conflict(left: Sequence[Sentence], right: Sequence[Sentence]) -> bool:
    """Return whether a sentence of one text disagrees with one of another.

    A sentence that both texts have is left out: the sentences beside it in one text do not disagree
    with it.

    Args:
        left: The sentences of a text.
        right: The sentences of the other.

    Returns:
        Whether one does.
    """
    if len(left) == len(right) == 1:
        if left[0].is_question or right[0].is_question or left[0].tokens == right[0].tokens:
            return False
        return _disagree(left[0], right[0])
    ours, theirs = (
        {sentence.tokens: sentence for sentence in side if not sentence.is_question}
        for side in (left, right)
    )
    first = [sentence for tokens, sentence in ours.items() if tokens not in theirs]
    second = [sentence for tokens, sentence in theirs.items() if tokens not in ours]
    pairs = product(first[:MAX_SENTENCES], second[:MAX_SENTENCES])
    return any(starmap(_disagree, pairs))


def _disagree(first: Sentence, second: Sentence) -> bool:
    if max(len(first.tokens), len(second.tokens)) > MAX_REORDERED:  # it says more than one thing
        return False
    if _fills_a_place_otherwise(first, second):
        return True
    ours, theirs = _content(first), _content(second)
    shared = len(ours.stems & theirs.stems)
    if shared and (ours.repeats or theirs.repeats):
        shared = (ours.counts & theirs.counts).total()
    if shared < max(1, _SHARED * max(ours.total, theirs.total)):
        return False
    both_add = shared < ours.total and shared < theirs.total
    if shared == ours.total == theirs.total:
        return not _only_adds_possessives(first.tokens, second.tokens)
    if _marks(first) != _marks(second):
        return not (both_add and _of_two_subjects(first.tokens, second.tokens))
    if not both_add:
        return False
    return not (
        _another_subject(first.tokens, second.tokens) or _both_may_hold(first.tokens, second.tokens)
    )


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
        _key([token for token in side if token.exact not in _POSSESSIVES])
        for side in (first, second)
    ]
    return len(_key(first)) != len(_key(second)) and matches(*plain)


def _of_two_subjects(first: Sequence[Token], second: Sequence[Token]) -> bool:
    """Return whether rules of two are stated: "Guests may enter" and "Visitors must not enter"."""
    ours, theirs = (_content_of(side[: _subject_end(side)]) for side in (first, second))
    return bool(ours - theirs and theirs - ours)


def _another_subject(first: Sequence[Token], second: Sequence[Token]) -> bool:
    """Return whether both say the same of two things: "Carl is ill" and "Dora is ill"."""
    ends = [_subject_end(side) for side in (first, second)]
    return matches(first[ends[0] :], second[ends[1] :])


def _subject_end(tokens: Sequence[Token]) -> int:
    verbs = (at for at, token in enumerate(tokens) if at and token.exact in _VERBS)
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

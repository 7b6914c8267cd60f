"""The one comparator of statements: do two texts say the same, disagree, or differ in topic?

The rule is strict on purpose. Two texts say the same only if their words are the same in the
same order, after politeness, articles and inflection are removed, or if one is a known
reordering of the other ("On Fridays we deploy" and "We deploy on Fridays"). No similarity score
decides: with scores "may" and "must" or db2 and db3 are nearly the same.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import product, starmap
from typing import Final, TypeAlias

from memoryware._remembering import remembered
from memoryware.tiers.text.frames import both_may_hold, fills_a_place_otherwise
from memoryware.tiers.text.statements import PlainStatement, clash, plain_statements
from memoryware.tiers.text.tokens import (
    DAYS_AND_MONTHS,
    MARKERS,
    NEGATIONS,
    PAUSE,
    Sentence,
    Token,
    is_german,
    tokenize,
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


class Relation(StrEnum):
    """How two texts relate to each other."""

    SAME = "same"
    CONFLICT = "conflict"
    DIFFERENT = "different"


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
_ORDERING: Final = word_set("""
then next afterwards later first second third finally it he she they this that these those there
dann danach anschließend zuerst zunächst schließlich er sie es dies diese dieser das dort
他 她 它 这 那 此 先 再 后 然
""")
_IRREGULAR_VERBS: Final = """
kept=keep held=hold built=build sent=send written=write run=run made=make paid=pay sold=sell
bought=buy led=lead chosen=choose taken=take given=give read=read known=know found=find done=do
seen=see taught=teach told=tell brought=bring driven=drive
"""
_PARTICIPLES: Final = dict(pair.split("=") for pair in _IRREGULAR_VERBS.split())
IRREGULAR: Final = frozenset(_PARTICIPLES) | frozenset(_PARTICIPLES.values())
"""Verbs whose participle begins otherwise, and their participles."""


def compare(first: str, second: str) -> Relation:
    """Compare what two texts say.

    Args:
        first: A text in English, German or Chinese; other languages are compared word by word.
        second: Another text.

    Returns:
        `SAME` if both say the same: politeness, hedges of remembering, articles, inflection,
        markup and a plain reordering of clauses do not count. `CONFLICT` if they are about one
        matter with other names, numbers, roles, objects, or another negation, modality or
        quantity. `DIFFERENT` for anything else, also for a text that only adds to the other.
    """
    relation = _compare_sentences(first, second)
    if relation is not Relation.DIFFERENT:
        return relation
    ours, theirs = plain_statements(first), plain_statements(second)
    if len(ours) == len(theirs) == 1:
        has_clash = bool(clash(ours[0], theirs[0]))
    else:
        has_clash = any(plain_clash(left, right) for left in ours for right in theirs)
    return Relation.CONFLICT if has_clash else Relation.DIFFERENT


def _compare_sentences(first: str, second: str) -> Relation:
    """Compare two texts without the search for plain clashes that `compare` adds."""
    german = is_german(first, second)
    left, right = (tokenize(text, is_german=german) for text in (first, second))
    if not left or not right:
        is_same = not left and not right and first.split() == second.split() != []
        return Relation.SAME if is_same else Relation.DIFFERENT
    if _same(left, right, german=german):
        return Relation.SAME
    return Relation.CONFLICT if _in_conflict(left, right) else Relation.DIFFERENT


def disagree(first: str, second: str) -> bool:
    """Return whether two texts conflict; unlike `compare`, without a search for plain clashes.

    Args:
        first: A text.
        second: Another text.
    """
    german = is_german(first, second)
    left, right = (tokenize(text, is_german=german) for text in (first, second))
    # Few pairs conflict, so that is asked before whether they are the same.
    return (
        bool(left and right) and _in_conflict(left, right) and not _same(left, right, german=german)
    )


def plain_clash(first: PlainStatement, second: PlainStatement) -> str:
    """Return why two statements plainly cannot both hold; "" if they can or say the same.

    Args:
        first: A statement.
        second: Another statement.
    """
    reason = clash(first, second)
    if not reason:
        return ""
    german = is_german(first.text, second.text)
    sides = (tokenize(statement.text, is_german=german) for statement in (first, second))
    left, right = (_key(_joined(side)) for side in sides)
    return "" if matches(left, right) else reason  # "2 pm" and "14:00" are the same


def same_sentence(first: Sentence, second: Sentence, *, german: bool) -> bool:
    """Return whether two sentences say the same.

    Args:
        first: A sentence, as `tokenize` returns it.
        second: Another sentence, tokenized with the same `is_german`.
        german: Whether German word order is tried.
    """
    if first.is_question != second.is_question:
        return False
    return matches(_key_of(first), _key_of(second)) or _is_reordered(first, second, german=german)


def matches(first: Sequence[Token], second: Sequence[Token]) -> bool:
    """Return whether two lists of tokens are the same words in the same order."""
    return len(first) == len(second) and all(
        token.matches(other) for token, other in zip(first, second, strict=True)
    )


# The same words in another order.


def _same(left: Sequence[Sentence], right: Sequence[Sentence], *, german: bool) -> bool:
    if len(left) == len(right) == 1:
        return same_sentence(left[0], right[0], german=german)
    flat = [_key(_joined(side)) for side in (left, right)]
    if left[-1].is_question == right[-1].is_question and matches(*flat):
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
    kept = []
    for position, token in enumerate(tokens):
        if token.exact == PAUSE:
            beside = tokens[max(0, position - 1) : position + 2]
            if not any(neighbour.exact in NEGATIONS for neighbour in beside):
                continue
        kept.append(token)
    return kept


@remembered(4096)
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


def verb_bases(participle: str) -> list[str]:
    """Return the words of which a word may be the participle.

    Args:
        participle: A word in lower case.
    """
    if participle in _PARTICIPLES:
        return [_PARTICIPLES[participle]]
    base = participle.removesuffix("ed")
    if base == participle or len(base) < 3:
        return []
    verbs = [base, base + "e"]
    if base[-1] == base[-2]:
        verbs.append(base[:-1])
    if base.endswith("i"):
        verbs.append(base[:-1] + "y")
    return verbs


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


def _in_conflict(left: Sequence[Sentence], right: Sequence[Sentence]) -> bool:
    """Return whether a sentence of one text disagrees with one of the other.

    A sentence that both texts have is left out: the sentences beside it in one text do not
    disagree with it.
    """
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
    if fills_a_place_otherwise(first, second):
        return True
    ours, theirs = _content(first), _content(second)
    shared = (ours & theirs).total() if not ours.keys().isdisjoint(theirs) else 0
    if shared < max(1, _SHARED * max(ours.total(), theirs.total())):
        return False
    if not ours - theirs and not theirs - ours:
        return not _only_adds_possessives(first.tokens, second.tokens)
    if _marks(first) != _marks(second):
        return not (
            ours - theirs and theirs - ours and _of_two_subjects(first.tokens, second.tokens)
        )
    if not ours - theirs or not theirs - ours:
        return False
    return not (
        _another_subject(first.tokens, second.tokens) or both_may_hold(first.tokens, second.tokens)
    )


@remembered(4096)
def _content(sentence: Sentence) -> Counter[str]:
    """Return the stems of the words that are neither function words nor markers."""
    return _content_of(sentence.tokens)


def _content_of(tokens: Sequence[Token]) -> Counter[str]:
    return Counter(
        token.stem
        for token in tokens
        if token.exact not in _FUNCTION and token.stem not in _FUNCTION and not _is_marker(token)
    )


def _is_marker(token: Token) -> bool:
    return token.exact in MARKERS or token.stem in MARKERS


@remembered(4096)
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

"""Other orders of the words of a sentence that say the same: moved clauses, passives, copulas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from memoryware._caching import clearable_cache
from memoryware.tiers.text.tokens import (
    NEGATIONS,
    PAUSE,
    Sentence,
    Token,
    verb_bases,
    word_set,
)

Tokens: TypeAlias = tuple[Token, ...]
MAX_FRONT: Final = 8
"""Tokens of a phrase that may move from the front to the end."""
MAX_SUBJECT: Final = 6
"""Tokens of a subject that a German verb may follow."""
PREPOSITIONS: Final = word_set("""
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
SUBORDINATORS: Final = word_set("""
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
VERBS: Final = word_set("""
be is are was were do does did have has had must may can will shall should could would might
ist sind war wird werden hat haben muss kann darf soll will sollte könnte müsste
是 在 用 有 为 叫 必 可 能 应 要 不
""")
_IS: Final = word_set("is are ist sind")
_NOT_VERBS: Final = word_set("""
nicht nur auch immer nie noch schon sehr dann und oder aber kein keine
""")
ORDERING: Final = word_set("""
then next afterwards later first second third finally it he she they this that these those there
dann danach anschließend zuerst zunächst schließlich er sie es dies diese dieser das dort
他 她 它 这 那 此 先 再 后 然
""")


def without_pauses(tokens: Sequence[Token]) -> list[Token]:
    """Return tokens without pauses, except for pauses beside a negation.

    There a comma decides what is denied: "stop, not deploy" and "stop not, deploy".

    Args:
        tokens: The tokens of a sentence.

    Returns:
        The tokens.
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
def plain_tokens_of(sentence: Sentence) -> Tokens:
    """Return the tokens of a sentence as `without_pauses` returns them, from a cache.

    Args:
        sentence: The sentence.

    Returns:
        The tokens.
    """
    return tuple(without_pauses(sentence.tokens)) if PAUSE in sentence.words else sentence.tokens


def orders_of(sentence: Sentence, other: Sequence[Token], *, german: bool) -> Iterator[list[Token]]:
    """Yield orders of the words of a sentence that say the same.

    Args:
        sentence: The sentence.
        other: The tokens of the sentence that it is compared with.
        german: Whether German word order is tried.

    Yields:
        The tokens in another order.
    """
    tokens = sentence.tokens
    plain = plain_tokens_of(sentence)
    yield from _subordinate_moved(tokens, german=german)
    yield from _front_moved(tokens, german=german)
    yield from _names_exchanged(plain, other)
    yield from _passive_to_active(plain)
    yield from _copula_turned(plain)
    yield from _chinese_time_moved(plain)
    if sentence.reports and german:
        for end in range(1, min(len(plain), MAX_SUBJECT)):
            yield [*plain[:end], plain[-1], *plain[end:-1]]
    if sentence.is_cut and german:
        yield from _verb_moved(plain)


def _verb_moved(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Yield a German sentence whose verb stands first with the verb behind its subject."""
    if len(tokens) < 2 or tokens[0].exact in _NOT_VERBS | PREPOSITIONS or tokens[0].is_name:
        return
    for end in range(1, min(len(tokens), MAX_SUBJECT)):
        yield [*tokens[1 : end + 1], tokens[0], *tokens[end + 1 :]]


def _subordinate_moved(tokens: Tokens, *, german: bool) -> Iterator[list[Token]]:
    """Yield "M if C" for "If C, M"."""
    words = [token.exact for token in tokens]
    is_chinese = "".join(words[:2]) in _CHINESE_SUBORDINATORS
    if words.count(PAUSE) != 1 or not (is_chinese or words[0] in SUBORDINATORS):
        return
    if not is_chinese and sum(word in SUBORDINATORS for word in words) != 1:
        return
    comma = words.index(PAUSE)
    clause, main = list(tokens[:comma]), list(tokens[comma + 1 :])
    if main and main[0].exact in ("then", "dann", "so", "就"):
        main = main[1:]
    elif "".join(token.exact for token in main[:2]) in ("所以", "那么"):
        main = main[2:]
    yield without_pauses([*main, *clause])
    if german:
        for moved in _verb_moved(without_pauses(main)):
            yield [*moved, *clause]


def _front_moved(tokens: Tokens, *, german: bool) -> Iterator[list[Token]]:
    """Yield "We deploy on Fridays" for "On Fridays we deploy"."""
    first = tokens[0].exact
    accusative = german and tokens[0].case == "obl"
    if first not in PREPOSITIONS | _TIMES and not accusative:
        return
    words = [token.exact for token in tokens]
    if not set(words).isdisjoint(_UNSAFE):
        return
    if not german and any(
        words[at] == "to" and not tokens[at + 1].is_name for at in range(1, len(words) - 1)
    ):
        return  # "On Friday we want to deploy": when do we want, and when do we deploy?
    shortest = 2 if first in PREPOSITIONS else 1
    for end in range(shortest, min(len(tokens) - 1, MAX_FRONT)):
        has_pause = tokens[end].exact == PAUSE
        front, rest = list(tokens[:end]), list(tokens[end + has_pause :])
        if not rest or PAUSE in (token.exact for token in front):
            return
        rest = without_pauses(rest)
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
        or words & ORDERING
        or words
        & word_set(
            "respectively between from before after zwischen von vor nach beziehungsweise not nicht"
        )
    ):
        return
    if sum(any(map(str.isdigit, token.exact)) for token in tokens) > 1 or len(names) > 3:
        return  # "primary and replica are db2 and db7"
    yield [*tokens[: at - 1], pair[1], tokens[at], pair[0], *tokens[at + 2 :]]


def _passive_to_active(tokens: Sequence[Token]) -> Iterator[list[Token]]:
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
    verbs = [at for at, word in enumerate(words) if word in VERBS]
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

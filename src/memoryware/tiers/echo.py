"""Echo detection: an entry that only repeats records its agent was shown, or that memory has.

This module also has what a text owes to what was shown: blocks of recalled texts that it copies,
and the texts that it is derived from, compared clause by clause.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import pairwise
from typing import Final, NamedTuple, TypeVar

from memoryware._caching import clearable_cache
from memoryware._runner import OFFLOAD_CHARS
from memoryware.scope import agents_shown_to
from memoryware.tiers._parts import Parts, current_in
from memoryware.tiers.echo_matching import (
    MAX_RATIO,
    SLACK,
    Excerpt,
    StoredText,
    composed_of,
    repeated_ids,
)
from memoryware.tiers.model import Entry
from memoryware.tiers.rendering import FENCE
from memoryware.tiers.text import phrases
from memoryware.tiers.text.phrases import FILLER
from memoryware.tiers.text.terms import core_words, plain_words
from memoryware.tiers.text.tokens import is_german, tokenize, unescaped, visible

T = TypeVar("T", bound=StoredText)
logger = logging.getLogger(__name__)

_MAX_WORDS: Final = 64
"""Words of a text with which long-term memory is searched."""
_CHECKED: Final = ("agent", "user", "person")
"""Kinds of origins whose texts are compared; the text of a tool or a file is always news."""

ECHO: Final = "echo"
"""Refusal code of an echo."""
DUPLICATE: Final = "duplicate"
"""Refusal code of a repetition that its agent was not shown."""
_TAG: Final = re.compile(rf"<\s*+(/?+)\s*+{FENCE}\b[^<>]*>", re.IGNORECASE)
_LINE_START: Final = re.compile(r"(?:^|\n)[ \t>*`-]*\Z")
_SHIELDED: Final = re.compile(rf"&lt;(\s*+/?+\s*+{FENCE}\b[^<>&]*)&gt;", re.IGNORECASE)
_BORROWED: Final = 0.5
"""Share of an excerpt that a text must repeat to be derived from it."""
_BLANKS: Final = re.compile(r"[^\S\n]+")
_LINES: Final = re.compile(r" ?\n[ \n]*")
_MARKUP: Final = re.compile(
    r"^[ \t]*(?:(?:[-*+>#|•·–—]+|\(?\d{1,3}[.)]|\[\d{1,3}\]|\[[ xX]\])[ \t]+)+"
    r"|(?<=[.:;,!?\"'”’)*_`|。！？」]) \(?\d{1,2}[.)](?= )"
    r"|```\w*|<!--|-->|[*_~`]{1,3}(?=\S)|(?<=\S)[*_~`]{1,3}|^[-=|:+ ]{3,}$",
    re.MULTILINE,
)
_SHORTENED: Final = re.compile(r"(?:[^\W_\u3040-\u9fff]{1,40}+|[\u3040-\u9fff])\s?\u2026")
"""The rest of a word before the mark with which a shown text is cut."""
_GAP: Final = re.compile(r"\s{32,}+")
"""Blanks that markup leaves; a phrase with several blanks would try every split of them."""
_SENTENCE_END: Final = re.compile(
    r"(?<![.!?;:…])[.!?;:…]++(?=[\s\"'”’)\]]|$)|[。！？；：]|\n+|\s[-–—]+\s|—|\|"
)
_CLAUSE_END: Final = re.compile(
    r",(?=\s|$)|[，、,()（）「」『』《》【】\[\]{}]"
    r"|\b(?:and|but|while|whereas|und|aber|et|mais|y|pero)\b",
    re.IGNORECASE,
)
_TOKEN: Final = re.compile(r"[^\W_](?:[\w'’./@:+#&%$€-]*[\w#+%])?|[€$£]\d[\d.,]*")
_CONTRACTIONS: Final = (
    (re.compile(r"\b(?:can|ca)(?:'t|not)\b", re.IGNORECASE), "can not"),
    (re.compile(r"\bwon't\b", re.IGNORECASE), "will not"),
    (re.compile(r"n't\b", re.IGNORECASE), " not"),
    (re.compile(r"'(?:s|re|ve|ll|d|m)\b", re.IGNORECASE), " "),
)
_BIGRAM_SCRIPTS: Final = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0eff]")
_MIN_STEM: Final = 3
_MAX_CACHED_CHARS: Final = 4000
"""Characters of a text whose clauses are cached."""


@dataclass(frozen=True, slots=True)
class Repetition:
    """The records that an entry repeats without adding anything.

    Attributes:
        echo_of: Ids of records that its agent was shown.
        duplicate_of: Ids of records of memory that its agent was not shown.
    """

    echo_of: tuple[str, ...] = ()
    duplicate_of: tuple[str, ...] = ()


NO_REPETITION: Final = Repetition()


def is_compared(entry: Entry) -> bool:
    """Return whether an entry can be a repetition: it comes from an agent, a user or a person.

    Args:
        entry: The entry.

    Returns:
        Whether it comes from an agent, a user or a person.
    """
    return entry.provenance.origin.kind in _CHECKED


def echo_query(text: str) -> list[str]:
    """Return the words of a text by which long-term memory is searched for repetitions.

    Args:
        text: The text, cut to `TierLimits.echo_chars`.

    Returns:
        At most 64 index terms: names and numbers first, then the longest words. An empty list
        for a text without words, which repeats nothing.
    """
    sentences = tokenize(text, is_german=is_german(text))
    tokens = [token for sentence in sentences for token in sentence.tokens]
    names = {*core_words("\n".join(token.exact for token in tokens if token.is_name))}
    words = dict.fromkeys(core_words(text))
    ranked = sorted(words, key=lambda word: (word not in names, word in FILLER, -len(word)))
    return ranked[:_MAX_WORDS]


def repetition_of(
    entry: Entry,
    recent: Sequence[StoredText],
    hits: Sequence[StoredText],
    shown_ids: AbstractSet[str],
    *,
    echo_chars: int,
) -> Repetition:
    """Compare an entry with records that were read already; pure computation.

    Only an agent's text can be an echo. A person who says what memory has confirms it, and so
    does an agent that was not shown it.

    Args:
        entry: The entry.
        recent: Working memory of its group, newest first.
        hits: Long-term memories found with `echo_query`, best first.
        shown_ids: Ids of the records that the agent was shown.
        echo_chars: Characters of each record that are compared.

    Returns:
        The repeated records; `NO_REPETITION` for an entry that adds something.
    """
    if not is_compared(entry):
        return NO_REPETITION
    excerpts = Excerpt.of((*recent, *hits), echo_chars)
    repeated = repeated_ids(entry.content, excerpts)
    if not repeated:
        return NO_REPETITION
    if entry.provenance.origin.kind == "agent" and shown_ids:
        shown = [excerpt for excerpt in excerpts if excerpt.id in shown_ids]
        if echo := repeated_ids(entry.content, shown):
            return Repetition(echo_of=echo)
    return Repetition(duplicate_of=repeated)


async def find_repetition(
    parts: Parts, entry: Entry, recent: Sequence[Entry], now: datetime
) -> Repetition:
    """Search long-term memory for records that an entry repeats, and compare them.

    Args:
        parts: The stores and limits of the memory.
        entry: The entry.
        recent: Working memory of its group, newest first.
        now: The moment: what long-term memory shows then is compared.

    Returns:
        The repeated records; `NO_REPETITION` for an entry that adds something.
    """
    if not is_compared(entry):
        return NO_REPETITION
    hits = await _search_long_term(parts, entry, now)
    shown_ids = parts.recalls.ids(entry.scope)
    characters = len(entry.content) + sum(len(record.content) for record in (*recent, *hits))
    compare = partial(
        repetition_of, entry, recent, hits, shown_ids, echo_chars=parts.limits.echo_chars
    )
    return await parts.runner.offload(compare) if characters > OFFLOAD_CHARS else compare()


async def _search_long_term(parts: Parts, entry: Entry, now: datetime) -> list[StoredText]:
    query = partial(echo_query, entry.content[: parts.limits.echo_chars])
    is_long = len(entry.content) > OFFLOAD_CHARS
    words = await parts.runner.offload(query) if is_long else query()
    if not words:
        return []
    scope = entry.scope
    agents = agents_shown_to(scope.user_id, scope.agent_id)
    select = current_in(parts, scope, now=now, agents=agents)
    try:
        hits = await parts.tiers.long_term.by_words(words, select, limit=parts.limits.candidates)
    except Exception as error:  # noqa: BLE001 - a repetition is better than an aborted run
        logger.warning("long-term memory was not asked for a repetition: %s", error)
        return []
    return [hit.memory for hit in hits]


# Blocks of recalled texts, and what a text is derived from.


def strip_recalled_blocks(text: str) -> str:
    """Return a text without the blocks of recalled texts that it copies.

    Args:
        text: The text.

    Returns:
        The rest of the text.
    """
    return _split_blocks(text)[0]


def recalled_block_sources(text: str, shown: Sequence[StoredText] = ()) -> tuple[str, ...] | None:
    """Return what a text repeats that consists of a block of recalled texts only.

    Args:
        text: The text.
        shown: The records that were shown.

    Returns:
        Ids of the items in the block, perhaps none; None for a text without such a block, or
        with a statement outside of it.
    """
    outside, block = _split_blocks(text)
    if block is None:
        return None
    has_words = any(set(clause.words) - clause.filler for clause in clauses_of(outside))
    if has_words and composed_of(outside, [*shown, Excerpt(block)]) is None:
        return None
    return tuple(filter(None, composed_of(block, shown) or ()))


def echo_sources(
    text: str, shown: Sequence[StoredText], *, echo_chars: int, sees_prompt: bool
) -> tuple[str, ...] | None:
    """Return the ids of shown records that a text only repeats; None if it adds something.

    Args:
        text: The text.
        shown: The records that its agent was shown.
        echo_chars: How much of each record is compared.
        sees_prompt: Whether its maker reads the prompt; a person does not.

    Returns:
        The ids, () for an echo of nothing in particular; None if the text adds something.
    """
    excerpts = Excerpt.of(shown, echo_chars) if shown else []
    sources = recalled_block_sources(text, excerpts)
    if sources is not None:
        return sources
    return (repeated_ids(text, excerpts) or None) if sees_prompt and excerpts else None


def half_repeated(text: str, stored: Iterable[T]) -> list[T]:
    """Return the stored texts of which a text repeats at least half.

    Args:
        text: The text.
        stored: The records that were shown.

    Returns:
        Those that the text is derived from, in their order.
    """
    candidates = list(stored)
    if not candidates:
        return []
    limit = MAX_RATIO * sum(len(candidate.content) for candidate in candidates) + SLACK
    pairs = _word_pairs(text[:limit])
    return [
        candidate
        for candidate in candidates
        if (theirs := _word_pairs(candidate.content))
        and len(theirs & pairs) >= _BORROWED * len(theirs)
    ]


def _split_blocks(text: str) -> tuple[str, str | None]:
    """Return a text without blocks of recalled texts, and the content of the blocks."""
    plain = _SHIELDED.sub(r"<\1>", text)
    outside: list[str] = []
    inside: list[str] = []
    opening, position = None, 0
    for tag in _TAG.finditer(plain):
        if tag.group(1) or opening is None:
            (inside if opening else outside).append(plain[position : tag.start()])
            opening, position = None if tag.group(1) else tag, tag.end()
    # A model that runs out of tokens copies the opening tag and not the closing one.
    is_cut_off = opening is not None and _LINE_START.search(plain[: opening.start()][-100:])
    (inside if is_cut_off else outside).append(plain[position:])
    if not position:
        return text, None
    return "\n".join(outside).strip(), "\n".join(inside) if inside else None


def _word_pairs(text: str) -> set[tuple[str, str]]:
    """Return the neighbouring words of each clause, without filler."""
    pairs: set[tuple[str, str]] = set()
    for clause in clauses_of(text):
        words = [word for word in clause.words if word not in clause.filler]
        pairs.update(pairwise(words) if len(words) > 1 else ((word, "") for word in words))
    return pairs


# Clauses of a text as normalised words: the unit in which a text borrows from another.


class Clause(NamedTuple):
    """One clause of a text.

    Attributes:
        words: Its words in order, stemmed, without words of grammar and negations.
        filler: Those of its words that usually say nothing.
    """

    words: tuple[str, ...]
    filler: frozenset[str] = frozenset()


def clauses_of(text: str) -> tuple[Clause, ...]:
    """Split a text into clauses. Markup, quotes, case and politeness are ignored.

    Args:
        text: The text.

    Returns:
        Its clauses that have words, in order.
    """
    return _cached(text) if len(text) <= _MAX_CACHED_CHARS else _split(text)


def _split(text: str) -> tuple[Clause, ...]:
    clauses = (
        _clause(part) for sentence in _sentence_texts(text) for part in _CLAUSE_END.split(sentence)
    )
    return tuple(clause for clause in clauses if clause.words)


_cached: Final = clearable_cache(1024)(_split)


def _sentence_texts(text: str) -> Iterator[str]:
    plain = visible(unescaped(text)).replace("’", "'")
    plain = _LINES.sub("\n", _BLANKS.sub(" ", plain))
    plain = _SHORTENED.sub(" ", _MARKUP.sub(" ", plain))
    plain = phrases.POLITE.sub(" ", _GAP.sub(_narrow, plain))
    for contraction, full in _CONTRACTIONS:
        plain = contraction.sub(full, plain)
    return filter(str.strip, _SENTENCE_END.split(plain))


def _narrow(gap: re.Match[str]) -> str:
    return "\n" if "\n" in gap.group() else " "


def _clause(part: str) -> Clause:
    words: list[str] = []
    filler: set[str] = set()
    for match in _TOKEN.finditer(part):
        token = match.group()
        if _BIGRAM_SCRIPTS.search(token):  # pairs of characters
            words += plain_words(token)
            words += phrases.UNSPACED_TURNS.findall(token)
            continue
        lower = token.casefold()
        if lower in phrases.DENIALS or lower in phrases.EMPTY:
            continue
        for word in plain_words(token):
            if word not in phrases.EMPTY:
                stem = stem_of(word)
                words.append(stem)
                if word not in phrases.TURNS and _says_little(word, stem):
                    filler.add(stem)
    return Clause(tuple(words), frozenset(filler))


def _says_little(word: str, stem: str) -> bool:
    if word in phrases.FILLER or stem in _FILLER_STEMS:
        return True
    return word.endswith("ly") and len(word) > len("only") and word not in phrases.FREQUENCIES


def stem_of(word: str) -> str:
    """Return a word without its commonest English endings.

    Args:
        word: A word in lower case.

    Returns:
        The stem.
    """
    if not word.isascii() or not word.isalpha():
        return word
    for ending in ("ies", "ied"):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word[:-3] + "y"
    for ending in ("ing", "ed", "es", "s"):
        base = word.removesuffix(ending)
        if base != word and len(base) >= _MIN_STEM and not base.endswith(("s", "u", "i")):
            word = base
            if ending in ("ing", "ed") and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    return word.removesuffix("e") if len(word) > _MIN_STEM else word


_FILLER_STEMS: Final = frozenset(map(stem_of, phrases.FILLER)) - frozenset(
    map(stem_of, phrases.TURNS)
)

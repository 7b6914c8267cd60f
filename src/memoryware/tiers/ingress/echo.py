"""Echoes: texts that only repeat what memory knows.

A text is an echo if none of its statements says something new and enough of it is made of
pairs of words that what is known has as well. Something new is a name, a number, a word that
corrects, another word in the place of a known one, yes for no, or simply words that nobody
has said. Words with which one says that one remembers, or is polite, count neither way.
Where it is not clear the text is taken as new.
"""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Protocol, TypeVar

from memoryware.tiers.ingress._novelty import is_surely_new
from memoryware.tiers.ingress._statements import Statement, statements_of
from memoryware.tiers.showing import FENCE, NOTE

ECHO: Final = "echo"
"""The code under which working memory refuses an echo."""

_TAG: Final = re.compile(rf"<\s*+(/?+)\s*+{FENCE}\b[^<>]*>", re.IGNORECASE)
_LINE_START: Final = re.compile(r"(?:^|\n)[ \t>*`-]*\Z")
_SHIELDED: Final = re.compile(rf"&lt;(\s*+/?+\s*+{FENCE}\b[^<>&]*)&gt;", re.IGNORECASE)
_FOREIGN: Final = 8
"""How many times as long as all that is known a text may be and still be looked at."""
_SLACK: Final = 4000
_BORROWED: Final = 0.5
"""Share of a known text that a text must repeat to be made of it."""
_HALF: Final = 0.5
_NEAREST: Final = 8
"""Known clauses that are compared with one of a text, where several are as near."""
_CHATTER: Final = 12
"""Unknown words around a repetition that say nothing; more of them do say something."""
_REMARK: Final = 3
"""Words of a sentence that is too short to say much by words that mostly say nothing."""
_LEADING: Final = 2
"""Unknown words of a clause that says that something is remembered."""
_PLACES: Final = 256
"""Known clauses with the same word that are looked at."""
_LONGEST: Final = 400
"""Words of a clause that are held against a known one, word by word."""


class Known(Protocol):
    """What memory knows: an item, an entry or a memory."""

    @property
    def id(self) -> str: ...
    @property
    def content(self) -> str: ...


K = TypeVar("K", bound=Known)


@dataclass(frozen=True, slots=True)
class Piece:
    """The part of what memory knows that is looked at."""

    content: str
    id: str = ""

    @classmethod
    def of(cls, known: Iterable[Known], characters: int) -> list[Piece]:
        """Return the beginnings of these, each of so many characters."""
        return [cls(one.content[:characters], one.id) for one in known]


def without_marks(text: str) -> str:
    """Return a text without the blocks of recalled texts that it repeats."""
    return _split(text)[0]


def only_marks(text: str, shown: Sequence[Known] = ()) -> tuple[str, ...] | None:
    """Return what a text repeats that is a block of recalled texts and says nothing beside it.

    None for a text without such a block, or with something of its own.
    """
    rest, inside = _split(text)
    if inside is None:
        return None
    known = [*shown, Piece(inside)]
    says = any(set(one.words) - one.filler for one in statements_of(rest))
    if says and _covering(rest, known, _HALF) is None:
        return None
    return tuple(one for one in (_covering(inside, shown, 0.0) or ()) if one)


def echo_of(text: str, known: Iterable[Known], share: float) -> tuple[str, ...]:
    """Return the ids of what a text only repeats; nothing if it says something new.

    Args:
        text: The text.
        known: What memory had shown, or knows.
        share: Share of the text that must be a repetition.
    """
    return _covering(text, list(known), share) or ()


def borrowed(text: str, known: Iterable[K]) -> list[K]:
    """Return of what is known that of which a text repeats at least half."""
    pieces = list(known)
    if not pieces:
        return []
    most = _FOREIGN * sum(len(one.content) for one in pieces) + _SLACK
    mine = {pair for one in statements_of(text[:most]) for pair in _pairs(one)}
    made = []
    for one in pieces:
        theirs = {pair for statement in statements_of(one.content) for pair in _pairs(statement)}
        if theirs and len(theirs & mine) >= _BORROWED * len(theirs):
            made.append(one)
    return made


def _split(text: str) -> tuple[str, str | None]:
    """Return a text without blocks of recalled texts, and what stood in these."""
    plain = _SHIELDED.sub(r"<\1>", text)
    rest: list[str] = []
    inside: list[str] = []
    opening, position = None, 0
    for tag in _TAG.finditer(plain):
        if tag.group(1) or opening is None:
            (inside if opening else rest).append(plain[position : tag.start()])
            opening, position = None if tag.group(1) else tag, tag.end()
    cut_off = opening is not None and _LINE_START.search(plain[: opening.start()][-100:])
    (inside if cut_off else rest).append(plain[position:])
    if not position:
        return text, None
    return "\n".join(rest).strip(), "\n".join(inside) if inside else None


# What is known, and what of a text is new against it.


@dataclass(slots=True)
class Background:
    """Everything that is known, word by word."""

    words: set[str] = field(default_factory=set)
    pairs: set[tuple[str, str]] = field(default_factory=set)
    clauses: list[tuple[Statement, str]] = field(default_factory=list)
    by_word: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    seen: set[tuple[tuple[str, ...], bool, bool]] = field(default_factory=set)
    alone: set[str] = field(default_factory=set)
    """Words that are all that a clause says."""
    denies_barely: bool = False
    """Whether some clause denies and says nothing else, such as "not at all"."""

    @classmethod
    def of(cls, known: Iterable[Known]) -> Background:
        """Return the ground that these texts make."""
        ground = cls()
        for one in known:
            statements = statements_of(one.content)
            for words in _sequences(statements):
                ground.pairs.update(pairwise(words))
            for statement in statements:
                ground.words.update(statement.words)
                ground._add(statement, one.id)
        return ground

    def _add(self, statement: Statement, source: str) -> None:
        key = (statement.words, statement.denies, statement.denies_here)
        if key in self.seen:
            return
        self.seen.add(key)
        telling = set(statement.words) - statement.filler
        self.alone.update(telling if len(telling) == 1 else ())
        self.denies_barely = self.denies_barely or (statement.denies and not statement.words)
        for word in set(statement.words):
            places = self.by_word[word]
            if len(places) < _PLACES:
                places.append(len(self.clauses))
        self.clauses.append((statement, source))

    def nearest(self, statement: Statement) -> list[tuple[Statement, str]]:
        """Return the known clauses that have the most words in common with a clause."""
        counts: dict[int, int] = defaultdict(int)
        for word in set(statement.words) - statement.filler or set(statement.words):
            for place in self.by_word.get(word, ()):
                counts[place] += 1
        best = max(counts.values(), default=0)
        return [self.clauses[place] for place, count in counts.items() if count == best]

    def corrects(self, statement: Statement) -> bool:
        """Say whether a clause has a name, number, correction or denial that is not known."""
        known = set(statement.words) & self.words
        strange = statement.hard - self.words
        if strange and (known - statement.filler or not _only_addresses(statement, strange)):
            return True
        if not statement.words:
            return statement.denies and not self.denies_barely
        if not known - statement.filler:
            return statement.denies and not statement.filler.issuperset(statement.words)
        return not any(
            statement.denies in (one.denies, one.denies_here) for one, _ in self.nearest(statement)
        )

    def is_new(self, statement: Statement, share: float, beside: frozenset[str]) -> bool:
        """Say whether a clause says something that is not known.

        Args:
            statement: The clause.
            share: Share of its words that must be known.
            beside: All words of its sentence.
        """
        if self.corrects(statement):
            return True
        near = self.nearest(statement)[:_NEAREST]
        if near and all(_swaps(statement, one, beside) for one, _ in near):
            return True
        if self._leads(statement):
            return False
        novel = set(statement.words) - self.words - statement.filler - statement.hard
        weighed = set(statement.words) - statement.filler
        much = len(novel) > (1 - share) * len(weighed)
        return much and (len(weighed) > 1 or statement.has_verb)

    def _leads(self, statement: Statement) -> bool:
        """Say whether a clause only leads to what is remembered, such as "My notes say:"."""
        said = set(statement.words) - statement.filler
        return statement.leads and len(said) <= _LEADING and said.isdisjoint(self.words)

    def covered(self, statement: Statement) -> tuple[int, int]:
        """Return how many words of a clause are repeated in their order, and how many it has."""
        weighed = [word for word in statement.words if word not in statement.filler]
        dated = statement.filler and not statement.has_verb and all(map(str.isdigit, weighed))
        if not weighed or dated or self._leads(statement):
            return 0, 0
        near = [word for word in statement.words if word in self.words or word in weighed]
        runs = [_repeated(words, self.pairs, self.alone) for words in (weighed, near)]
        count = sum(1 for word in weighed if any(word in run for run in runs))
        return count, len(weighed)


def _only_addresses(statement: Statement, strange: AbstractSet[str]) -> bool:
    """Say whether a clause only names whom it greets, or when something was said."""
    if statement.has_verb:
        return False
    said = set(statement.words) - statement.filler - strange
    dated = bool(statement.filler) and all(one.isdigit() for one in strange)
    return not said and (statement.greets or dated)


def _covering(text: str, known: Sequence[Known], share: float) -> tuple[str, ...] | None:
    """Return the ids of what a text is made of; None if it says something new."""
    size = sum(len(one.content) for one in known)
    if not size or len(text) > _FOREIGN * size + _SLACK:
        return None
    statements = statements_of(text)
    pieces = list(distinct(statements, words_beside(statements)))
    texts = [*(one.content for one in known), NOTE]
    if is_surely_new((one for one, _ in pieces), texts, share):
        return None
    ground = Background.of([*known, Piece(NOTE)])
    if any(ground.is_new(one, share, words) for one, words in pieces):
        return None
    counts = _counted(ground, statements)
    if any(one.says_more for one in counts):
        return None
    repeated, weighed = sum(one.repeated for one in counts), sum(one.weighed for one in counts)
    if not weighed or not repeated:
        same = _folded(text)
        return tuple(one.id for one in known if same and _folded(one.content) == same) or None
    chatter = sum(len(one.filler - ground.words) for one in statements)
    if repeated < share * weighed or chatter > _CHATTER + 2 * weighed:
        return None
    return tuple(one for one in dict.fromkeys(_sources(ground, statements)) if one)


def words_beside(statements: Iterable[Statement]) -> dict[int, frozenset[str]]:
    """Return all words of each sentence, by its number."""
    words: dict[int, set[str]] = defaultdict(set)
    for one in statements:
        words[one.sentence].update(one.words)
    return {number: frozenset(several) for number, several in words.items()}


@dataclass(slots=True)
class _Count:
    """How much of a sentence is repeated: words that tell something, and all of them."""

    repeated: int = 0
    weighed: int = 0
    repeated_of_all: int = 0
    of_all: int = 0
    talks: bool = False

    @property
    def says_more(self) -> bool:
        """Whether it puts known words together in a way that is not known."""
        if self.weighed > 1 and self.repeated < _HALF * self.weighed:
            return True
        plain = not self.talks and self.of_all > _REMARK
        return plain and self.repeated_of_all < _HALF * self.of_all


def _counted(ground: Background, statements: Iterable[Statement]) -> list[_Count]:
    """Return how much is repeated of each sentence."""
    counts: dict[int, _Count] = defaultdict(_Count)
    for one in statements:
        count, (repeated, weighed) = counts[one.sentence], ground.covered(one)
        count.repeated += repeated
        count.weighed += weighed
        count.repeated_of_all += sum(
            map(_repeated(one.words, ground.pairs, ground.alone).__contains__, one.words)
        )
        count.of_all += len(one.words)
        count.talks = count.talks or one.personal or one.greets or one.leads
    return list(counts.values())


def distinct(
    statements: Iterable[Statement], beside: Mapping[int, frozenset[str]]
) -> Iterator[tuple[Statement, frozenset[str]]]:
    """Return each clause once, with the words of its sentence."""
    seen = set()
    for one in statements:
        words = beside[one.sentence]
        key = (one.words, one.denies, one.has_verb, one.greets, words)
        if key not in seen:
            seen.add(key)
            yield one, words


def _folded(text: str) -> list[tuple[str, ...]]:
    return [one.words for one in statements_of(text) if one.words]


def _sources(ground: Background, statements: Iterable[Statement]) -> Iterator[str]:
    for statement in statements:
        if set(statement.words) - statement.filler:
            for _, source in ground.nearest(statement)[:1]:
                yield source


def _sequences(statements: Iterable[Statement]) -> Iterator[list[str]]:
    """Return the words of each sentence, all of them and without those that say nothing."""
    sentences: dict[int, list[Statement]] = defaultdict(list)
    for one in statements:
        sentences[one.sentence].append(one)
    for clauses in sentences.values():
        yield [word for one in clauses for word in one.words]
        yield [word for one in clauses for word in one.words if word not in one.filler]


def _pairs(statement: Statement) -> set[tuple[str, str]]:
    words = [word for word in statement.words if word not in statement.filler]
    return set(pairwise(words)) if len(words) > 1 else {(word, "") for word in words}


def _repeated(words: Sequence[str], pairs: set[tuple[str, str]], alone: set[str]) -> set[str]:
    """Return the words that stand beside a word that they stand beside in what is known.

    A word that stands alone must stand alone there.
    """
    if len(words) == 1:
        return alone.intersection(words)
    found: set[str] = set()
    for pair in pairwise(words):
        if pair in pairs:
            found.update(pair)
    return found


def _swaps(mine: Statement, known: Statement, beside: frozenset[str]) -> bool:
    """Say whether a clause has another word in a place where a known one has one."""
    words, theirs = mine.words[:_LONGEST], known.words[:_LONGEST]
    if set(words) <= set(theirs):
        return False
    telling = set(theirs) - known.filler
    common = telling & set(words) - mine.filler
    if not common or len(common) < _HALF * len(telling):
        return False
    matcher = difflib.SequenceMatcher(None, theirs, words, autojunk=False)
    return any(
        kind == "replace"
        and _replaces(mine, set(words[start:end]) - set(theirs), (right - left, end - start))
        and not beside.issuperset(theirs[left:right])
        for kind, left, right, start, end in matcher.get_opcodes()
    )


def _replaces(mine: Statement, others: set[str], sizes: tuple[int, int]) -> bool:
    """Say whether words take the place of others; those that say nothing only one by one."""
    return bool(others - mine.filler) or (bool(others) and sizes[0] == sizes[1])

"""Echoes: texts that only repeat what memory has shown, and say nothing else.

Every word of an echo is part of a stretch that stands in a shown text in the same order, or is
politeness around it. No share of new words is allowed and no word may take the place of another:
a rule with shares lost "may" against "must" and db2 against db7, which is exactly what somebody
who corrects a memory says. Where it is not clear the text is news.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Final, NamedTuple, Protocol, TypeVar

from memoryware._remembering import remembered
from memoryware.tiers.ingress import _phrases
from memoryware.tiers.ingress._statements import Statement, statements_of
from memoryware.tiers.showing import FENCE, NOTE
from memoryware.tiers.text.comparison import IRREGULAR, same_sentence
from memoryware.tiers.text.statements import UNSPACED
from memoryware.tiers.text.tokens import (
    BREAK,
    DAYS_AND_MONTHS,
    MAX_CACHED_CHARS,
    MODALS,
    NEGATIONS,
    PAUSE,
    QUANTIFIERS,
    Sentence,
    Token,
    is_german,
    tokenize,
    without_markup,
    word_set,
)

ECHO: Final = "echo"
"""The code under which working memory refuses an echo."""
DUPLICATE: Final = "duplicate"
"""The code under which it refuses what it has already and had not shown."""

_TAG: Final = re.compile(rf"<\s*+(/?+)\s*+{FENCE}\b[^<>]*>", re.IGNORECASE)
_LINE_START: Final = re.compile(r"(?:^|\n)[ \t>*`-]*\Z")
_SHIELDED: Final = re.compile(rf"&lt;(\s*+/?+\s*+{FENCE}\b[^<>&]*)&gt;", re.IGNORECASE)
_FOREIGN: Final = 8
"""How many times as long as all that was shown a text may be and still be compared."""
_SLACK: Final = 4000
_BORROWED: Final = 0.5
"""Share of a known text that a text must repeat to be made of it."""
_CHATTER: Final = 12
"""Words of politeness around a repetition that say nothing; more of them do say something."""
_STARTS: Final = 256
"""Places with the same word at which a stretch may begin that are tried."""
_TURNED: Final = 16
"""Shown sentences with the same words whose reorderings are tried."""
_OTHER_FORMS: Final = 4
"""Words that such a sentence may have in another form, as in the passive."""
_PLACE: Final = 3
"""Words of a place, such as "in New York"."""
_POSSESSIVES: Final = word_set("""
my your his her its our their
mein meine meiner meinem meinen dein deine deiner deinem deinen sein seine seiner seinem seinen
ihr ihre ihrer ihrem ihren unser unsere unserer unserem unseren
""")
_DOUBTING: Final = word_set("right correct true really sure richtig wirklich sicher oder")
"""Words that make a question of the sentence before them."""
_STRUCK_OUT: Final = re.compile(r"(?<!~)~~(?=[^\s~])|<(?:s|del|strike)>", re.IGNORECASE)
_LEAST: Final = 2
"""Words of a stretch that is not a whole sentence."""


_RESTRICTING: Final = NEGATIONS | word_set("""
if unless except excluding only until but whereas provided instead rather anymore longer
wenn falls nur außer bis aber sofern sondern statt mehr
如 若 除 只 仅 但 才 直
""")
"""Words after which a statement holds less widely; a repetition may not leave them out."""
_UNCERTAIN: Final = word_set("""
probably possibly perhaps maybe might likely unlikely apparently allegedly supposedly unclear guess
vielleicht wahrscheinlich möglicherweise vermutlich angeblich wohl
也 许 能 概
""")
_ORDERING: Final = word_set("""
then first last next before after later earlier again once twice second finally up down over under
off on left right more less best better free open all each every both most
""")
"""Words of `FILLER` that say something inside of a statement."""
_LEADING: Final = (
    _phrases.RECALLING
    | _phrases.GREETINGS
    | word_set("""
say says said saying confirm confirmed confirms repeat repeating tell telling told think believe
state stated sum summing summarize summarise quote quoting answer found find see question help
helps understand correct right follows following clarify point points remark discussed asked
sage sagt gesagt erinnere erinnern notizen weiß denke glaube
""")
)
"""Words of which a phrase around a repetition must have one."""
_BETWEEN: Final = word_set(
    "and but also so well indeed additionally und sowie auch 和 而 且 还 also and"
)
_POINTING: Final = _BETWEEN | word_set("it is are that this these here as das ist hier dies")
"""Words that may stand before a repetition without one of remembering: "It is so: ..."."""
_AROUND: Final = (
    _phrases.EMPTY
    | _phrases.FILLER
    | _phrases.PERSONAL
    | _phrases.GREETINGS
    | _phrases.RECALLING
    | _LEADING
    | _BETWEEN
    | word_set("""
unclear stored entries entry memory any anything anyone nothing need like want would more some
good morning afternoon evening elaborate on points question questions you me i can may could dass
mein meine meinen meinem ihr ihre dir ihnen noch das ist hier
""")
)
_OPEN: Final = word_set("""
be is are was were of by in on at for from to with a an and or must may can should will has have do
does not per über von mit für auf an bei zu ist sind wird und oder muss darf kann soll nicht
是 在 的 和 把 被 由
""")
"""Words after which a stretch is not complete."""
_DROPPED: Final = word_set("called named also genannt namens indeed too auch")
"""Words that a repetition may leave out or add."""
_KEPT: Final = word_set("kept stored held located hosted saved gespeichert")
_LIVES: Final = word_set("live lives reside resides sit sits liegt liegen steht stehen befindet")
_WHERE: Final = word_set("in on at auf an bei")
_SUBSTITUTES: Final = (
    _AROUND
    | _OPEN
    | _DROPPED
    | _KEPT
    | _LIVES
    | MODALS
    | NEGATIONS
    | QUANTIFIERS
    | _RESTRICTING
    | IRREGULAR
    | {"email", "before"}
)
"""Words that may stand for others that begin otherwise."""
_BEGINNING: Final = 4
"""Letters in which all forms of a word agree."""
_COUNTED: Final = word_set(
    "things facts notes points items memories results entries thing fact note"
)
_ISO_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_LINE_END: Final = re.compile(r"[ \t]*\n\s*")
_HEADER: Final = re.compile(r"^[ \t]*\|([^\n]{0,200})\n[ \t]*\|[-| :\t]{3,200}$", re.MULTILINE)
_HEADING: Final = 12
_ROW: Final = re.compile(r"^[^\n|]{0,400}(?:\|[^\n|]{0,4000}){1,12}$", re.MULTILINE)
_INDEX: Final = re.compile(r"#|\d{1,3}[.)]?")
_CELL: Final = re.compile(r"\|")
_NUMBERING: Final = re.compile(
    r"^[ \t>]{0,20}\(?\d{1,3}[.)][ \t]+|(?<=[.!?。！？)\"*]) {0,3}\d{1,2}[.)] ", re.MULTILINE
)
_CUT_OFF: Final = re.compile(rf"(?:[^\W{UNSPACED}]{{1,40}}+|[{UNSPACED}])\s?\u2026")
"""The rest of a word before the mark with which a shown text is cut."""
_BULLET: Final = re.compile(r"[-#>*+•]+")
_HAS_WORD: Final = re.compile(r"\w")
_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
_NARROW: Final = 2
"""Words of a line in a text that has one word a line."""
_LINES: Final = 4
_LETTER: Final = re.compile(r"(?:(?<=\s)|^)\S(?=\s|$)")
_SPACED: Final = 0.6
"""Share of single characters in a text whose letters are spaced out."""
_NOISE: Final = re.compile(r"[\s*_`|>\"'“”‘’]+")


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

    Args:
        text: The text.
        shown: What memory had shown.

    Returns:
        Ids of what the block repeats, perhaps none; None for a text without such a block, or
        with something of its own.
    """
    rest, inside = _split(text)
    if inside is None:
        return None
    says = any(set(one.words) - one.filler for one in statements_of(rest))
    if says and _covering(rest, [*shown, Piece(inside)]) is None:
        return None
    return tuple(one for one in (_covering(inside, shown) or ()) if one)


def echo_of(text: str, known: Iterable[Known]) -> tuple[str, ...]:
    """Return the ids of the texts that a text repeats without saying anything else.

    Args:
        text: The text.
        known: Texts that were shown; for a duplicate, texts that are remembered.

    Returns:
        Ids in the order of the repetition; () for a text that says something else or nothing.
    """
    return tuple(one for one in _covering(text, list(known)) or () if one)


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


def _pairs(statement: Statement) -> set[tuple[str, str]]:
    words = [word for word in statement.words if word not in statement.filler]
    return set(pairwise(words)) if len(words) > 1 else {(word, "") for word in words}


# What was shown, and how a text is laid over it.


class _Shown(NamedTuple):
    """One sentence of a shown text.

    Attributes:
        sentence: As it was read.
        tokens: Its words, without pauses.
        starts: Places where a clause begins.
        stems: Its words without inflection, but for words of grammar.
    """

    sentence: Sentence
    tokens: tuple[Token, ...]
    starts: tuple[int, ...]
    stems: frozenset[str]


def _prepare(text: str, german: bool) -> tuple[_Shown, ...]:
    shown = []
    for sentence in tokenize(text, is_german=german):
        tokens, starts = _clauses(sentence.tokens)
        stems = frozenset(token.stem for token in tokens if token.exact not in _OPEN)
        shown.append(_Shown(sentence, tokens, starts, stems))
    return tuple(shown)


_prepared: Final = remembered(1024)(_prepare)


class _Match(NamedTuple):
    ids: tuple[str, ...]
    covered: int
    around: int


@dataclass(slots=True)
class _Ground:
    """All sentences that were shown, indexed by the words with which a clause begins."""

    sentences: list[tuple[str, _Shown]] = field(default_factory=list)
    starts: dict[str, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    german: bool = False
    is_cut: bool = False

    @classmethod
    def of(
        cls, known: Iterable[Known], wanted: AbstractSet[str], *, german: bool, is_cut: bool
    ) -> _Ground:
        """Index the sentences of shown texts that have words of a text.

        Args:
            known: The texts.
            wanted: Stems of the words that are looked for.
            german: How the words are inflected.
            is_cut: Whether the last sentence of the text may end anywhere.
        """
        ground = cls(german=german, is_cut=is_cut)
        for one in known:
            short = len(one.content) <= MAX_CACHED_CHARS
            for shown in (_prepared if short else _prepare)(one.content, german):
                if len(shown.stems & wanted) >= min(_LEAST, len(shown.stems)):
                    ground._add(one.id, shown, wanted)
        return ground

    def _add(self, id_: str, shown: _Shown, wanted: AbstractSet[str]) -> None:
        number = len(self.sentences)
        self.sentences.append((id_, shown))
        for at in shown.starts:
            token = shown.tokens[at]
            if token.stem not in wanted and token.exact not in wanted:
                continue
            for name in (token.exact,) if token.exact == token.stem else (token.exact, token.stem):
                if len(self.starts[name]) < _STARTS:
                    self.starts[name].append((number, at))

    def match(self, sentence: Sentence) -> _Match | None:
        """Lay a sentence over what was shown.

        Returns:
            The ids of what it repeats, and how many words that are; None if it says more.
        """
        tokens, _ = _clauses(sentence.tokens)
        if sentence.is_question and tokens and all(one.exact in _DOUBTING for one in tokens):
            return None
        ids: list[str] = []
        covered = at = 0
        around: list[Token] = []
        passed = 0
        while at < len(tokens):
            best = self._longest(tokens, at, is_question=sentence.is_question)
            if best is not None:
                if not _is_around(around, between=bool(ids)):
                    return self._turned(sentence)
                ids.append(best[1])
                covered += best[0] - at
                passed += len(around)
                at, around = best[0], []
                continue
            around.append(tokens[at])
            at += 1
        if around and not (_is_around(around) if ids else _says_nothing(around)):
            return self._turned(sentence)
        return _Match(tuple(ids), covered, passed + len(around))

    def _longest(
        self, tokens: Sequence[Token], at: int, *, is_question: bool
    ) -> tuple[int, str] | None:
        """Return where the longest stretch ends that begins at a word, and whose it is.

        A question repeats only a question: "The gas is off, right?" doubts what was shown.
        """
        best: tuple[int, str] | None = None
        token = tokens[at]
        places = self.starts.get(token.stem, ())
        for number, start in (
            (*places, *self.starts.get(token.exact, ()))
            if places
            else (self.starts.get(token.exact, ()))
        ):
            id_, shown = self.sentences[number]
            if is_question and not shown.sentence.is_question:
                continue
            end = self._run(tokens, at, shown, start)
            if end and (best is None or end > best[0]):
                best = end, id_
        return best

    def _run(self, tokens: Sequence[Token], at: int, shown: _Shown, start: int) -> int:
        """Return where a stretch of the same words ends; 0 if it is none."""
        theirs, here, there = shown.tokens, at, start
        content = 0
        while here < len(tokens) and there < len(theirs):
            if tokens[here].matches(theirs[there]):
                content += theirs[there].exact not in _OPEN
                here, there = here + 1, there + 1
            elif theirs[there].exact in _DROPPED:
                there += 1
            elif tokens[here].exact in _DROPPED and here > at:
                here += 1
            elif after := _after_attribute(theirs, there, tokens[here]):
                there = after
            else:
                break
        while there < len(theirs) and theirs[there].exact in _DROPPED:
            there += 1
        whole = there == len(theirs) and start == 0
        is_cut = self.is_cut and here == len(tokens)
        if not whole and not is_cut and (here - at < _LEAST or not content):
            return 0
        if there < len(theirs) and not is_cut and not _may_end(shown, start, there):
            return 0
        return here

    def _turned(self, sentence: Sentence) -> _Match | None:
        """Match a sentence that says the same as a shown one in another order."""
        tokens = [token for token in sentence.tokens if token.exact != PAUSE]
        stems = {token.stem for token in tokens if token.exact not in _OPEN}
        near = (one for one in self.sentences if len(one[1].stems ^ stems) <= _OTHER_FORMS)
        for id_, shown in islice(near, _TURNED):
            if same_sentence(sentence, shown.sentence, german=self.german):
                return _Match((id_,), len(tokens), 0)
        return None


def _clauses(tokens: Sequence[Token]) -> tuple[tuple[Token, ...], tuple[int, ...]]:
    """Return the words of a sentence in one form, and where its clauses begin.

    What follows "if" or "only" is no clause that could be repeated alone.
    """
    made: list[Token] = []
    starts = [0]
    free = True
    for at, token in enumerate(tokens):
        word = token.exact
        if word == PAUSE:
            following = tokens[at + 1].exact if at + 1 < len(tokens) else ""
            if free and made and (token.stem == BREAK or following in _BETWEEN):
                starts.append(len(made))
            if not any(one.exact in NEGATIONS for one in tokens[max(0, at - 1) : at + 2]):
                continue
        if not made and _BULLET.fullmatch(word):
            continue
        following = tokens[at + 1].exact if at + 1 < len(tokens) else ""
        if (
            following in _WHERE
            and word in _KEPT
            and made
            and made[-1].stem in ("be", "ist", "wird")
        ):
            continue
        if following in _WHERE and word in _LIVES:
            token = Token("is", "be")  # noqa: PLW2901
        free = free and word not in _RESTRICTING
        made.append(token)
        if free and word in _BETWEEN and starts[-1] == len(made) - 1:  # ", and": a new clause
            starts.append(len(made))
    return tuple(made), tuple(dict.fromkeys(at for at in starts if at < len(made)))


def _after_attribute(theirs: Sequence[Token], there: int, wanted: Token) -> int:
    """Return the place after "of the shop" if a repetition leaves it out there; else 0.

    It stays where another person or thing would be meant: "my mother's mother" is not "my mother".
    """
    if theirs[there].exact not in ("of", "von"):
        return 0
    if there > 1 and theirs[there - 2].exact in _POSSESSIVES:
        return 0
    for end in range(there + 2, min(there + 5, len(theirs))):
        word = theirs[end]
        if there and theirs[end - 1].stem == theirs[there - 1].stem:
            return 0
        if word.exact in _BETWEEN or word.exact in _RESTRICTING:
            return 0
        if word.exact in _OPEN:
            return end if wanted.matches(word) and word.exact not in ("of", "von") else 0
    return 0


def _may_end(shown: _Shown, start: int, there: int) -> bool:
    """Return whether a repetition may leave out the rest of a sentence.

    It may leave out further clauses, but no part of one: "The bridge is closed" says more than
    "The bridge is closed for trucks", and "approved by Ann" than "approved by Ann and Bob". Only
    one more place may go, where one was named.
    """
    tokens = shown.tokens
    if {tokens[there].exact, tokens[there].stem} & _RESTRICTING:
        return False
    if any({token.exact, token.stem} & _RESTRICTING for token in tokens[there : there + 3]):
        return False
    if there in shown.starts:
        return True
    places = [_names_place(tokens, at) for at in range(start, len(tokens))]
    return len(tokens) - there <= _PLACE and places[there - start] and any(places[: there - start])


def _names_place(tokens: Sequence[Token], at: int) -> bool:
    if tokens[at].exact not in _WHERE:
        return False
    following = tokens[at + 1] if at + 1 < len(tokens) else tokens[at]
    return following.is_name and following.exact not in DAYS_AND_MONTHS


def _is_around(tokens: Sequence[Token], *, between: bool = False) -> bool:
    """Return whether words around a repetition are only politeness or remembering."""
    words = [token.exact.casefold() for token in tokens if token.exact != PAUSE]
    if not words or (between and set(words) <= _BETWEEN):
        return True
    known = set(words)
    if known <= {"from", "memory"}:  # "loaded from memory"
        return False
    if known & (NEGATIONS | _UNCERTAIN | _phrases.TURNS):
        return False
    if known & (MODALS | QUANTIFIERS) and not known & _phrases.PERSONAL:
        return False
    if not known & _LEADING:
        return known <= _POINTING
    return all(_is_nothing(words, at) for at in range(len(words)))


def _says_nothing(tokens: Sequence[Token]) -> bool:
    """Return whether a sentence of its own is only politeness or remembering."""
    words = [token.exact.casefold() for token in tokens if token.exact != PAUSE]
    known = set(words)
    if known & _phrases.TURNS:
        return False
    talks = known & (_phrases.PERSONAL | _LEADING)
    if not talks and known & (_RESTRICTING | _ORDERING | MODALS | QUANTIFIERS | _UNCERTAIN):
        return False
    if known & NEGATIONS:
        return False
    return all(_is_nothing(words, at) for at in range(len(words)))


def _is_nothing(words: Sequence[str], at: int) -> bool:
    word = words[at]
    if word in _AROUND or _ISO_DATE.fullmatch(word):
        return True
    if word.isdigit() and at + 1 < len(words):
        return words[at + 1] in _COUNTED
    return False


def _covering(text: str, known: Sequence[Known]) -> tuple[str, ...] | None:
    """Return the ids of what a text is made of; None if it says something else, or nothing."""
    pieces = [one for one in known if one.content]
    size = sum(len(one.content) for one in pieces)
    is_cut = "\u2026" in text
    plain = without_markup(_in_lines(_CUT_OFF.sub(" ", text) if is_cut else text))
    if not size or len(plain) > _FOREIGN * size + _SLACK or _STRUCK_OUT.search(text):
        return None
    spaced = _spaced_out(plain, pieces)
    if spaced:
        return spaced
    german = is_german(plain)  # not of what was shown: it may be in several languages
    plain = _phrases.REMEMBERING.sub(" ", plain)
    sentences = tokenize(plain, is_german=german)
    if _has_new_word(sentences, pieces):
        return None
    tokens = [token for one in sentences for token in one.tokens]
    wanted = {"be", *(one.stem for one in tokens), *(one.exact for one in tokens)}
    ground = _Ground.of([*pieces, Piece(NOTE)], wanted, german=german, is_cut=is_cut)
    ids = _matched(ground, sentences)
    if ids is None and (unnumbered := _NUMBERING.sub(" ", plain)) != plain:
        ids = _matched(ground, tokenize(unnumbered, is_german=german))
    return ids


def _has_new_word(sentences: Iterable[Sentence], known: Iterable[Known]) -> bool:
    """Return whether a text has a word that begins like none that was shown.

    It is a quick look before everything is indexed: most news has such a word.
    """
    words = {token.exact for one in sentences for token in one.tokens} - _SUBSTITUTES
    long = [word for word in words if len(word) >= _BEGINNING and word.isalpha()]
    telling = [word for word in long if word.isascii()]
    if not telling:
        return False
    shown = "\n".join(one.content for one in known)
    if not shown.isascii() or "&" in shown:
        shown = without_markup(shown)
    shown = f"{shown}\n{NOTE}".casefold()
    return any(word[:_BEGINNING] not in shown for word in telling)


def _matched(ground: _Ground, sentences: Iterable[Sentence]) -> tuple[str, ...] | None:
    """Return the ids of what all sentences repeat; None if one says something else."""
    found: dict[str, None] = {}
    covered = around = 0
    for sentence in sentences:
        match = ground.match(sentence)
        if match is None:
            return None
        found.update(dict.fromkeys(match.ids))
        covered += match.covered
        around += match.around
    if not covered or around > _CHATTER + 2 * covered:
        return None
    return tuple(found)


def _in_lines(text: str) -> str:
    """Return a text with the words of a column, or the cells of a table, as lines of text."""
    if "|" in text:
        text = _ROW.sub(_cells, _HEADER.sub(_without_heading, text))
        text = _CELL.sub("\n", text)
    lines = [line for line in text.splitlines() if _HAS_WORD.search(line)]
    if len(lines) >= _LINES and sum(map(_is_narrow, lines)) > _SPACED * len(lines):
        return _LINE_END.sub(" ", text)
    return text


def _cells(row: re.Match[str]) -> str:
    """Return the cells of a row as lines, without numbers of rows and words said beside them."""
    cells = [cell.strip() for cell in row[0].split("|")]
    words = [set(cell.casefold().split()) for cell in cells]
    told = [
        cell
        for cell, mine in zip(cells, words, strict=True)
        if not (_INDEX.fullmatch(cell) or any(mine < others for others in words))
    ]
    return "\n".join(told)


def _without_heading(row: re.Match[str]) -> str:
    """Return the first row of a table without short headings, such as "Fact"."""
    for cell in filter(None, map(str.strip, row[1].split("|"))):
        words = {cell.casefold(), *cell.casefold().split(), *cell}
        if len(cell) > _HEADING or words & (_RESTRICTING | _phrases.TURNS | MODALS | QUANTIFIERS):
            return row[0]
        if any(map(str.isdigit, cell)):
            return row[0]
    return "\n"


def _is_narrow(line: str) -> bool:
    return len(_UNSPACED.findall(line)) <= _NARROW and len(line.split()) <= _NARROW


def _spaced_out(text: str, known: Sequence[Known]) -> tuple[str, ...]:
    """Return the ids of what a text repeats whose letters are spaced out, as "d b 2"."""
    letters = len(_LETTER.findall(text))
    if letters < _LINES or letters < _SPACED * len(text.split()):
        return ()
    squeezed = _squeezed(text)
    for one in known:
        parts = [_squeezed(part) for part in _sentences(without_markup(one.content))]
        for first in range(len(parts)):
            rest = squeezed
            for part in parts[first:]:
                if not rest.startswith(part):
                    break
                rest = rest.removeprefix(part).lstrip(".!?。！？")
                if not rest:
                    return (one.id,)
    return ()


def _sentences(text: str) -> Iterator[str]:
    return filter(None, (part.strip() for part in re.split(r"(?<=[.!?。！？])\s+|\n+", text)))


def _squeezed(text: str) -> str:
    return _NOISE.sub("", text).casefold().rstrip(".!?。！？")

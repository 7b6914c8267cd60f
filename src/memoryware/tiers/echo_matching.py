"""Match a text with stored texts: it is an echo if it only repeats them.

Every word of an echo belongs to a part of a shown sentence with the same words in the same order,
or to politeness around it. There is no similarity threshold and no word may replace another: with
a threshold, "may" and "must" or db2 and db7 are nearly the same, and that is exactly how somebody
corrects a memory. A text that is not clearly an echo is news.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, NamedTuple, Protocol

from memoryware._caching import clearable_cache
from memoryware.tiers.rendering import NOTE
from memoryware.tiers.text import phrases
from memoryware.tiers.text.sentences import same_sentence
from memoryware.tiers.text.tokens import (
    BREAK,
    DAYS_AND_MONTHS,
    IRREGULAR,
    MAX_CACHED_CHARS,
    MODALS,
    NEGATIONS,
    PAUSE,
    QUANTIFIERS,
    UNSPACED,
    Sentence,
    Token,
    is_german,
    tokenize,
    without_markup,
    word_set,
)

# Words that a repetition may add, omit or replace, and words that it may not.

_POSSESSIVES: Final = word_set("""
my your his her its our their
mein meine meiner meinem meinen dein deine deiner deinem deinen sein seine seiner seinem seinen
ihr ihre ihrer ihrem ihren unser unsere unserer unserem unseren
""")
_DOUBTING: Final = word_set("right correct true really sure richtig wirklich sicher oder")
"""Words that turn the sentence before them into a question."""
_RESTRICTING: Final = NEGATIONS | word_set("""
if unless except excluding only until but whereas provided instead rather anymore longer
wenn falls nur außer bis aber sofern sondern statt mehr
如 若 除 只 仅 但 才 直
""")
"""Words that restrict a statement; a repetition may not leave them out."""
_UNCERTAIN: Final = word_set("""
probably possibly perhaps maybe might likely unlikely apparently allegedly supposedly unclear guess
vielleicht wahrscheinlich möglicherweise vermutlich angeblich wohl
也 许 能 概
""")
_ORDERING: Final = word_set("""
then first last next before after later earlier again once twice second finally up down over under
off on left right more less best better free open all each every both most
""")
"""Words of `FILLER` that carry meaning inside of a statement."""
_LEADING: Final = (
    phrases.RECALLING
    | phrases.GREETINGS
    | word_set("""
say says said saying confirm confirmed confirms repeat repeating tell telling told think believe
state stated sum summing summarize summarise quote quoting answer found find see question help
helps understand correct right follows following clarify point points remark discussed asked
sage sagt gesagt erinnere erinnern notizen weiß denke glaube
""")
)
"""A phrase around a repetition must have one of these."""
_BETWEEN: Final = word_set(
    "and but also so well indeed additionally und sowie auch 和 而 且 还 also and"
)
_POINTING: Final = _BETWEEN | word_set("it is are that this these here as das ist hier dies")
"""Words that may introduce a repetition without a word of remembering: "It is so: ..."."""
_AROUND: Final = (
    phrases.EMPTY
    | phrases.FILLER
    | phrases.PERSONAL
    | phrases.GREETINGS
    | phrases.RECALLING
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
"""Words after which a part of a sentence is incomplete."""
_DROPPED: Final = word_set("called named also genannt namens indeed too auch")
"""Words that a repetition may omit or add."""
_STORED: Final = word_set("kept stored held located hosted saved gespeichert")
_LIVES: Final = word_set("live lives reside resides sit sits liegt liegen steht stehen befindet")
_WHERE: Final = word_set("in on at auf an bei")
_PASSIVE: Final = ("be", "ist", "wird")
_SUBSTITUTES: Final = (
    _AROUND
    | _OPEN
    | _DROPPED
    | _STORED
    | _LIVES
    | MODALS
    | NEGATIONS
    | QUANTIFIERS
    | _RESTRICTING
    | IRREGULAR
    | {"email", "before"}
)
"""Words that can match words with another beginning, or none."""
_OPTIONAL: Final = _SUBSTITUTES | _POINTING | {"then", "dann", "so", "就", "所", "以", "那", "么"}
"""Words that need not match a word of a stored text."""
_COUNTED: Final = word_set(
    "things facts notes points items memories results entries thing fact note"
)


MAX_RATIO: Final = 8
"""A text is compared if it is at most this many times as long as all excerpts together."""
SLACK: Final = 4000
_CHATTER: Final = 12
"""Polite words around a repetition; more of them say something."""
_MAX_STARTS: Final = 256
"""Positions with the same word that are tried, so that a repetitive text stays linear."""
_MAX_REORDERED: Final = 16
"""Sentences with the same words whose reorderings are tried."""
_OTHER_FORMS: Final = 4
"""Words that a reordered sentence may have in another form, as in the passive."""
_MOST_PLACE_WORDS: Final = 3
"""Words of a place, such as "in New York"."""
_STRUCK_OUT: Final = re.compile(r"(?<!~)~~(?=[^\s~])|<(?:s|del|strike)>", re.IGNORECASE)
_MIN_WORDS: Final = 2
"""Words that a repeated part of a sentence must have."""
_PREFIX: Final = 4
"""Letters that all forms of a word share."""
_SHORT_TEXT: Final = 500
"""Characters of a stored text of which thousands are cached."""
_ISO_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_LINE_END: Final = re.compile(r"[ \t]*\n\s*")
_HEADER: Final = re.compile(r"^[ \t]*\|([^\n]{0,200})\n[ \t]*\|[-| :\t]{3,200}$", re.MULTILINE)
_MAX_HEADING: Final = 12
_ROW: Final = re.compile(r"^[^\n|]{0,400}(?:\|[^\n|]{0,4000}){1,12}$", re.MULTILINE)
_INDEX: Final = re.compile(r"#|\d{1,3}[.)]?")
_NUMBERING: Final = re.compile(
    r"^[ \t>]{0,20}\(?\d{1,3}[.)][ \t]+|(?<=[.!?。！？)\"*]) {0,3}\d{1,2}[.)] ", re.MULTILINE
)
_CUT_OFF: Final = re.compile(rf"(?:[^\W{UNSPACED}]{{1,40}}+|[{UNSPACED}])\s?\u2026")
"""The rest of a word before the ellipsis that ends a shortened text."""
_BULLET: Final = re.compile(r"[-#>*+•]+")
_HAS_WORD: Final = re.compile(r"\w")
_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
_NARROW: Final = 2
"""Words of a line in a text with one word per line."""
_MIN_LINES: Final = 4
_LETTER: Final = re.compile(r"(?:(?<=\s)|^)\S(?=\s|$)")
_SPACED_SHARE: Final = 0.6
"""Share of single characters in a text with spaced letters."""
_NOISE: Final = re.compile(r"[\s*_`|>\"'“”‘’]+")


class StoredText(Protocol):
    """A record of memory, or an item that was shown: an id and a text."""

    @property
    def id(self) -> str: ...
    @property
    def content(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The beginning of a stored text, which is compared."""

    content: str
    id: str = ""

    @classmethod
    def of(cls, records: Iterable[StoredText], characters: int) -> list[StoredText]:
        """Return the beginning of each record; a record that is short enough is returned itself.

        Args:
            records: Records or shown items.
            characters: Characters of each that are compared.

        Returns:
            The excerpts, in the order of the records.
        """
        return [
            record
            if len(record.content) <= characters
            else cls(record.content[:characters], record.id)
            for record in records
        ]


def repeated_ids(text: str, stored: Iterable[StoredText]) -> tuple[str, ...]:
    """Return the ids of the texts that a text repeats without saying anything else.

    Args:
        text: The text.
        stored: Texts that were shown, or for a duplicate all that memory has.

    Returns:
        Ids in the order of the repetition; () for a text that says something else, or nothing.
    """
    return tuple(filter(None, composed_of(text, list(stored)) or ()))


# Stored texts, prepared once for all comparisons.


class _StoredSentence(NamedTuple):
    """One sentence of a stored text.

    Attributes:
        sentence: Its tokens as they were read.
        tokens: Its tokens without pauses.
        starts: Positions where a clause begins.
        stems: Stems of its words, without words of grammar.
    """

    sentence: Sentence
    tokens: tuple[Token, ...]
    starts: tuple[int, ...]
    stems: frozenset[str]


class _PreparedText(NamedTuple):
    """A stored text.

    Attributes:
        sentences: Its sentences.
        starts: Sentences and positions of clauses by the word, and its stem, that begins them.
        forms: Words, stems and base forms of verbs that a word of a repetition can match.
    """

    sentences: tuple[_StoredSentence, ...]
    starts: Mapping[str, Sequence[tuple[_StoredSentence, int]]]
    forms: frozenset[str]


def _prepare(text: str, german: bool) -> _PreparedText:
    sentences: list[_StoredSentence] = []
    starts: dict[str, list[tuple[_StoredSentence, int]]] = {}
    forms = {"be", "is"}  # "lives in" is read as "is in"
    for sentence in tokenize(text, is_german=german):
        tokens, positions = _clause_starts(sentence.tokens)
        stems = frozenset(token.stem for token in tokens if token.exact not in _OPEN)
        stored = _StoredSentence(sentence, tokens, positions, stems)
        sentences.append(stored)
        for position in positions:
            for name in {tokens[position].exact, tokens[position].stem}:
                starts.setdefault(name, []).append((stored, position))
        forms.update(*sentence.forms)
    return _PreparedText(tuple(sentences), starts, frozenset(forms))


_prepare_short: Final = clearable_cache(2048)(_prepare)
_prepare_long: Final = clearable_cache(512)(_prepare)


def _prepared(text: str, *, german: bool) -> _PreparedText:
    """Prepare a stored text; the last ones are cached.

    A record is compared with the whole working list and the best hits of long-term memory,
    about 100 texts of which nearly all were compared with the record before.
    """
    if len(text) <= _SHORT_TEXT:
        return _prepare_short(text, german)
    return (_prepare_long if len(text) <= MAX_CACHED_CHARS else _prepare)(text, german)


class _SentenceMatch(NamedTuple):
    """How a sentence repeats stored texts.

    Attributes:
        ids: Ids of the stored texts.
        covered: Words that repeat them.
        around: Words of politeness around these.
    """

    ids: tuple[str, ...]
    covered: int
    around: int


@dataclass(slots=True)
class _Comparison:
    """The stored texts that one text is compared with.

    Attributes:
        texts: Ids and stored texts.
        forms: Words and stems of the text; sentences that share too few are skipped.
        german: Whether German inflection is assumed.
        is_cut: Whether the last sentence of the text may end anywhere.
    """

    texts: Sequence[tuple[str, _PreparedText]]
    forms: AbstractSet[str]
    german: bool
    is_cut: bool
    _starts: dict[str, list[tuple[str, _StoredSentence, int]]] = field(default_factory=dict)

    def _shares_words(self, stored: _StoredSentence) -> bool:
        return len(stored.stems & self.forms) >= min(_MIN_WORDS, len(stored.stems))

    def _starts_with(self, name: str) -> list[tuple[str, _StoredSentence, int]]:
        """Return the clauses that begin with a word."""
        if name not in self._starts:
            clauses = (
                (id_, stored, position)
                for id_, text in self.texts
                for stored, position in text.starts.get(name, ())
                if not self.forms.isdisjoint(stored.tokens[position][:2])
                and self._shares_words(stored)
            )
            self._starts[name] = [*islice(clauses, _MAX_STARTS)]
        return self._starts[name]

    def match(self, sentence: Sentence) -> _SentenceMatch | None:
        """Compose a sentence of parts of the stored ones.

        Args:
            sentence: A sentence of the text.

        Returns:
            The match; None if the sentence says more.
        """
        tokens, _ = _clause_starts(sentence.tokens)
        if sentence.is_question and tokens and all(token.exact in _DOUBTING for token in tokens):
            return None
        ids: list[str] = []
        covered = position = polite = 0
        around: list[Token] = []
        while position < len(tokens):
            longest = self._longest(tokens, position, is_question=sentence.is_question)
            if longest is None:
                around.append(tokens[position])
                position += 1
                continue
            if not _is_around(around, between=bool(ids)):
                return self._match_reordered(sentence)
            end, id_ = longest
            ids.append(id_)
            covered += end - position
            polite += len(around)
            position, around = end, []
        if around and not (_is_around(around) if ids else _says_nothing(around)):
            return self._match_reordered(sentence)
        return _SentenceMatch(tuple(ids), covered, polite + len(around))

    def _longest(
        self, tokens: Sequence[Token], start: int, *, is_question: bool
    ) -> tuple[int, str] | None:
        """Return the end of the longest repeated part that begins at a word, and its id.

        A question repeats only a question: "The gas is off, right?" doubts what was shown.
        """
        longest: tuple[int, str] | None = None
        token = tokens[start]
        clauses = self._starts_with(token.stem)
        if token.exact != token.stem:
            clauses = [*clauses, *self._starts_with(token.exact)]
        for id_, stored, position in clauses:
            if is_question and not stored.sentence.is_question:
                continue
            end = self._end_of_run(tokens, start, stored, position)
            if end and (longest is None or end > longest[0]):
                longest = end, id_
        return longest

    def _end_of_run(
        self, tokens: Sequence[Token], start: int, stored: _StoredSentence, stored_start: int
    ) -> int:
        """Return where a run of the same words ends; 0 if it is no complete part."""
        theirs, here, there = stored.tokens, start, stored_start
        content = 0
        while here < len(tokens) and there < len(theirs):
            if tokens[here].matches(theirs[there]):
                content += theirs[there].exact not in _OPEN
                here, there = here + 1, there + 1
            elif theirs[there].exact in _DROPPED:
                there += 1
            elif tokens[here].exact in _DROPPED and here > start:
                here += 1
            elif after := _after_attribute(theirs, there, tokens[here]):
                there = after
            else:
                break
        while there < len(theirs) and theirs[there].exact in _DROPPED:
            there += 1
        is_whole = there == len(theirs) and stored_start == 0
        is_cut = self.is_cut and here == len(tokens)
        if not is_whole and not is_cut and (here - start < _MIN_WORDS or not content):
            return 0
        if there < len(theirs) and not is_cut and not _may_end(stored, stored_start, there):
            return 0
        return here

    def _match_reordered(self, sentence: Sentence) -> _SentenceMatch | None:
        """Match a sentence that says the same as a stored one in another order."""
        tokens = [token for token in sentence.tokens if token.exact != PAUSE]
        stems = {token.stem for token in tokens if token.exact not in _OPEN}
        low, high = len(stems) - _OTHER_FORMS, len(stems) + _OTHER_FORMS
        similar = (
            (id_, stored)
            for id_, text in self.texts
            for stored in text.sentences
            if low <= len(stored.stems) <= high
            and len(stored.stems ^ stems) <= _OTHER_FORMS
            and self._shares_words(stored)
        )
        for id_, stored in islice(similar, _MAX_REORDERED):
            if same_sentence(sentence, stored.sentence, german=self.german):
                return _SentenceMatch((id_,), len(tokens), 0)
        return None


def _clause_starts(tokens: Sequence[Token]) -> tuple[tuple[Token, ...], tuple[int, ...]]:
    """Return the words of a sentence in one form, and the positions where its clauses begin.

    Words after "if" or "only" are no clause that could be repeated alone.
    """
    words: list[Token] = []
    starts = [0]
    is_free = True
    for position, token in enumerate(tokens):
        word = token.exact
        following = tokens[position + 1].exact if position + 1 < len(tokens) else ""
        if word == PAUSE:
            if is_free and words and (token.stem == BREAK or following in _BETWEEN):
                starts.append(len(words))
            beside = tokens[max(0, position - 1) : position + 2]
            if not any(other.exact in NEGATIONS for other in beside):
                continue
        if not words and _BULLET.fullmatch(word):
            continue
        if following in _WHERE and word in _STORED and words and words[-1].stem in _PASSIVE:
            continue
        is_free = is_free and word not in _RESTRICTING
        words.append(Token("is", "be") if following in _WHERE and word in _LIVES else token)
        if is_free and word in _BETWEEN and starts[-1] == len(words) - 1:  # ", and": a new clause
            starts.append(len(words))
    return tuple(words), tuple(dict.fromkeys(start for start in starts if start < len(words)))


def _after_attribute(theirs: Sequence[Token], there: int, expected: Token) -> int:
    """Return the position after "of the shop" if a repetition omits it there; else 0.

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
            return end if expected.matches(word) and word.exact not in ("of", "von") else 0
    return 0


def _may_end(stored: _StoredSentence, start: int, there: int) -> bool:
    """Return whether a repetition may omit the rest of a sentence.

    It may omit further clauses, but no part of one: "The bridge is closed" says more than "The
    bridge is closed for trucks", and "approved by Ann" than "approved by Ann and Bob". Only a
    second place may be omitted.
    """
    tokens = stored.tokens
    if any({token.exact, token.stem} & _RESTRICTING for token in tokens[there : there + 3]):
        return False
    if there in stored.starts:
        return True
    are_places = [_names_place(tokens, position) for position in range(start, len(tokens))]
    return (
        len(tokens) - there <= _MOST_PLACE_WORDS
        and are_places[there - start]
        and any(are_places[: there - start])
    )


def _names_place(tokens: Sequence[Token], position: int) -> bool:
    if tokens[position].exact not in _WHERE:
        return False
    following = tokens[position + 1] if position + 1 < len(tokens) else tokens[position]
    return following.is_name and following.exact not in DAYS_AND_MONTHS


def _is_around(tokens: Sequence[Token], *, between: bool = False) -> bool:
    """Return whether words around a repetition are only politeness or remembering."""
    words = [token.exact.casefold() for token in tokens if token.exact != PAUSE]
    if not words or (between and set(words) <= _BETWEEN):
        return True
    different = set(words)
    if different <= {"from", "memory"}:  # "loaded from memory"
        return False
    if different & (NEGATIONS | _UNCERTAIN | phrases.TURNS):
        return False
    if different & (MODALS | QUANTIFIERS) and not different & phrases.PERSONAL:
        return False
    if not different & _LEADING:
        return different <= _POINTING
    return all(_is_filler(words, position) for position in range(len(words)))


def _says_nothing(tokens: Sequence[Token]) -> bool:
    """Return whether a sentence of its own is only politeness or remembering."""
    words = [token.exact.casefold() for token in tokens if token.exact != PAUSE]
    different = set(words)
    if different & (phrases.TURNS | NEGATIONS):
        return False
    is_talk = different & (phrases.PERSONAL | _LEADING)
    if not is_talk and different & (_RESTRICTING | _ORDERING | MODALS | QUANTIFIERS | _UNCERTAIN):
        return False
    return all(_is_filler(words, position) for position in range(len(words)))


def _is_filler(words: Sequence[str], position: int) -> bool:
    word = words[position]
    if word in _AROUND or _ISO_DATE.fullmatch(word):
        return True
    if word.isdigit() and position + 1 < len(words):
        return words[position + 1] in _COUNTED
    return False


# The comparison: cheap rejections first, because nearly every text is news.


def composed_of(text: str, stored: Sequence[StoredText]) -> tuple[str, ...] | None:
    """Return the ids of the stored texts of which a text consists.

    Args:
        text: The text.
        stored: The texts that it is compared with.

    Returns:
        The ids; None if the text says something else, or nothing.
    """
    candidates = [candidate for candidate in stored if candidate.content]
    if not candidates:
        return None
    characters = sum(len(candidate.content) for candidate in candidates)
    is_cut = "\u2026" in text
    plain = without_markup(_unfold_layout(_CUT_OFF.sub(" ", text) if is_cut else text))
    if len(plain) > MAX_RATIO * characters + SLACK or _STRUCK_OUT.search(text):
        return None
    if spaced := _spaced_out(plain, candidates):
        return spaced
    german = is_german(plain)  # not of the stored texts, which may be in several languages
    plain = phrases.REMEMBERING.sub(" ", plain)
    sentences = tokenize(plain, is_german=german)
    if _has_new_prefix(sentences, candidates):
        return None
    texts = [
        (candidate.id, _prepared(candidate.content, german=german))
        for candidate in (*candidates, Excerpt(NOTE))
    ]
    tokens = [token for sentence in sentences for token in sentence.tokens]
    forms = {"be", *(token.stem for token in tokens), *(token.exact for token in tokens)}
    comparison = _Comparison(texts, forms, german=german, is_cut=is_cut)
    for reading in _readings(sentences, plain, german=german):
        if _has_new_word(reading, texts):
            continue
        if (ids := _matched(comparison, reading)) is not None:
            return ids
    return None


def _readings(
    sentences: Sequence[Sentence], plain: str, *, german: bool
) -> Iterator[Sequence[Sentence]]:
    """Yield the sentences of a text, then those without the numbers of a list."""
    yield sentences
    unnumbered = _NUMBERING.sub(" ", plain)
    if unnumbered != plain:
        yield tokenize(unnumbered, is_german=german)


def _has_new_prefix(sentences: Iterable[Sentence], stored: Iterable[StoredText]) -> bool:
    """Return whether a word begins like none of the stored texts.

    It rejects most news without reading the stored texts, which may not be prepared yet.
    """
    words = {token.exact for sentence in sentences for token in sentence.tokens} - _SUBSTITUTES
    prefixes = {
        word[:_PREFIX]
        for word in words
        if len(word) >= _PREFIX and word.isascii() and word.isalpha()
    }
    if not prefixes:
        return False
    folded = "\n".join(item.content for item in stored)
    if folded.isascii() and "&" not in folded:
        folded = folded.lower()  # faster than casefold, and the same for ASCII
    else:
        folded = "\n".join(_folded(item.content) for item in stored)
    folded = f"{folded}\n{_FOLDED_NOTE}"
    return any(prefix not in folded for prefix in prefixes)


def _folded(text: str) -> str:
    if text.isascii() and "&" not in text:
        return text.lower()
    return (_fold_markup_once if len(text) <= MAX_CACHED_CHARS else _fold_markup)(text)


def _fold_markup(text: str) -> str:
    return without_markup(text).casefold()


_fold_markup_once: Final = clearable_cache(1024)(_fold_markup)
_FOLDED_NOTE: Final = NOTE.casefold()


def _has_new_word(
    sentences: Iterable[Sentence], texts: Sequence[tuple[str, _PreparedText]]
) -> bool:
    """Return whether a word has no form that a stored text has.

    Such a word can only be politeness around a repetition, so that any other word rejects the
    text before anything is compared.
    """
    for sentence in sentences:
        words = [
            (token.exact.casefold(), forms)
            for token, forms in zip(sentence.tokens, sentence.forms, strict=True)
            if token.exact != PAUSE
        ]
        for position, (word, forms) in enumerate(words):
            if word in _OPTIONAL or _BULLET.fullmatch(word) or _ISO_DATE.fullmatch(word):
                continue
            if word.isdigit() and position + 1 < len(words):
                following, _ = words[position + 1]
                if following in _COUNTED:  # "these 3 facts"
                    continue
            if all(text.forms.isdisjoint(forms) for _, text in texts):
                return True
    return False


def _matched(comparison: _Comparison, sentences: Iterable[Sentence]) -> tuple[str, ...] | None:
    """Return the ids of what all sentences repeat; None if one says something else."""
    ids: dict[str, None] = {}
    covered = around = 0
    for sentence in sentences:
        match = comparison.match(sentence)
        if match is None:
            return None
        ids.update(dict.fromkeys(match.ids))
        covered += match.covered
        around += match.around
    if not covered or around > _CHATTER + 2 * covered:
        return None
    return tuple(ids)


# Tables, columns and spaced letters.


def _unfold_layout(text: str) -> str:
    """Return a text with the cells of a table, or the words of a column, as lines of text."""
    if "|" in text:
        text = _ROW.sub(_cells_as_lines, _HEADER.sub(_without_heading, text))
        text = text.replace("|", "\n")
    lines = [line for line in text.splitlines() if _HAS_WORD.search(line)]
    if len(lines) >= _MIN_LINES and sum(map(_is_narrow, lines)) > _SPACED_SHARE * len(lines):
        return _LINE_END.sub(" ", text)
    return text


def _cells_as_lines(row: re.Match[str]) -> str:
    """Return the cells of a row without row numbers and cells that another one repeats."""
    cells = [cell.strip() for cell in row[0].split("|")]
    words = [set(cell.casefold().split()) for cell in cells]
    return "\n".join(
        cell
        for cell, its_words in zip(cells, words, strict=True)
        if not (_INDEX.fullmatch(cell) or any(its_words < others for others in words))
    )


def _without_heading(row: re.Match[str]) -> str:
    """Return the first row of a table without short headings, such as "Fact"."""
    for cell in filter(None, map(str.strip, row[1].split("|"))):
        words = {cell.casefold(), *cell.casefold().split(), *cell}
        if len(cell) > _MAX_HEADING or words & (
            _RESTRICTING | phrases.TURNS | MODALS | QUANTIFIERS
        ):
            return row[0]
        if any(map(str.isdigit, cell)):
            return row[0]
    return "\n"


def _is_narrow(line: str) -> bool:
    return len(_UNSPACED.findall(line)) <= _NARROW and len(line.split()) <= _NARROW


def _spaced_out(text: str, stored: Sequence[StoredText]) -> tuple[str, ...]:
    """Return the id of what a text repeats whose letters are spaced, as "d b 2"."""
    letters = len(_LETTER.findall(text))
    if letters < _MIN_LINES or letters < _SPACED_SHARE * len(text.split()):
        return ()
    squeezed = _squeezed(text)
    for candidate in stored:
        parts = [_squeezed(part) for part in _sentences(without_markup(candidate.content))]
        for first in range(len(parts)):
            rest = squeezed
            for part in parts[first:]:
                if not rest.startswith(part):
                    break
                rest = rest.removeprefix(part).lstrip(".!?。！？")
                if not rest:
                    return (candidate.id,)
    return ()


def _sentences(text: str) -> Iterator[str]:
    return filter(None, (part.strip() for part in re.split(r"(?<=[.!?。！？])\s+|\n+", text)))


def _squeezed(text: str) -> str:
    return _NOISE.sub("", text).casefold().rstrip(".!?。！？")

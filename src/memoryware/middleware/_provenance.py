"""Provenance of a write: detect lines that repeat the result of an outside tool.

A page, an e-mail or an issue that an agent reads may say "save this to your memory". The model
then writes the words of a stranger into a file that speaks to every later run. So the words of
each new line are compared with three kinds of text in the thread: what people said, what the
agent's own file tools returned, and what any other tool returned.

The comparison is lexical, without a model: folded words by their stems, pairs of characters in
scripts without spaces. A translation shares no words with its source; only names, numbers and
addresses give it away, and a source that asks to be saved.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

from memoryware._caching import clearable_cache
from memoryware._unicode import normalised
from memoryware.guard._characters import latin
from memoryware.middleware._note_words import (
    FUNCTION_WORDS,
    NOTE_WORDS,
    POLARITY,
    UNSPACED_FUNCTION,
    UNSPACED_POLARITY,
    asks_for_note,
    speaks_of_remembering,
)

# Words of a result that are compared together: about two sentences.
_WINDOW: Final = 60
# Occurrences in one result from which a word is its topic, and weak evidence.
_COMMON_AFTER: Final = 4
# Weight of the shared words from which a line counts as taken from a result.
_ENOUGH: Final = 2.0
# The same for words that are scattered over several results.
_ENOUGH_IN_PARTS: Final = 3.0
# Characters of a result that a person is shown.
_EXCERPT: Final = 160
_CACHED_TEXTS: Final = 16

_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
)
# A run of an unspaced script, or text between blanks, brackets and quotes.
_TOKEN: Final = re.compile(
    rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}](?:[^\s{_UNSPACED}<>()\[\]{{}}\"'`|*,;!?]*[^\W_{_UNSPACED}])?"
)
_PART: Final = re.compile(r"[^\W_]+")
_INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)
_LETTERS_APART: Final = re.compile(r"(?<!\w)(?:\w[ .\-_]){3,}\w(?!\w)")
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+|[。！？；\n\r\v\f\x85\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What an outside tool has returned.

    Attributes:
        tool: Its name, as a person is shown it.
        text: The text parts of the result.
    """

    tool: str
    text: str


@dataclass(frozen=True, slots=True)
class OutsideLine:
    """A line of a write whose words come from outside.

    Attributes:
        line: The line.
        tool: The tool whose result it repeats.
        excerpt: The sentence of the result that comes nearest.
    """

    line: str
    tool: str
    excerpt: str


@dataclass(frozen=True)
class ThreadTexts:
    """The texts of a thread, by origin.

    Attributes:
        results: Results of outside tools, oldest first.
        people: Messages of people, oldest first.
        inside: Results of the agent's own file tools, each with the number of outside results
            before it.
        writes: Texts that earlier calls of this thread put into memory files, each with the
            number of outside results before it.
    """

    results: Sequence[ToolResult] = ()
    people: Sequence[str] = ()
    inside: Sequence[tuple[int, str]] = ()
    writes: Sequence[tuple[int, str]] = ()
    answered: int = 0
    indexes: dict[str, _IndexedText] = field(default_factory=dict, repr=False, compare=False)

    def prepare(self) -> None:
        """Do the work that grows with the length of the results, once."""
        for result in self.results:
            self._index_of(result.text)
            asks_to_be_saved(result.text)
        _ = self.trusted

    @property
    def size(self) -> int:
        """Characters that have to be searched."""
        return sum(len(result.text) for result in self.results) + sum(map(len, self.people))

    def _index_of(self, text: str) -> _IndexedText:
        if text not in self.indexes:
            self.indexes[text] = _index_of(text)
        return self.indexes[text]

    @cached_property
    def _people(self) -> frozenset[str]:
        return frozenset(stem for text in self.people for stem in _stems_of(text))

    @cached_property
    def trusted(self) -> frozenset[str]:
        """Stems of messages of people, and of the agent's files as they were before."""
        return self._people.union(*(self._clean(*entry) for entry in self.inside))

    @cached_property
    def _recent(self) -> frozenset[str]:
        """Stems of the last two messages of people."""
        return frozenset(stem for text in self.people[-2:] for stem in _stems_of(text))

    @cached_property
    def _has_bait(self) -> bool:
        return any(asks_to_be_saved(result.text) for result in self.results)

    @cached_property
    def _has_wish(self) -> bool:
        """Whether the newest words of a person ask to note something."""
        return bool(self.people) and asks_for_note(self.people[-1])

    def _clean(self, before: int, text: str) -> frozenset[str]:
        """Return the stems of a file's sentences, without those that were a result before."""
        # An agent may save a page into a scratch file and read it again: reading it from there
        # does not make it the words of its owner.
        earlier = self.results[:before]
        if not earlier:
            return frozenset(_stems_of(text))
        clean: set[str] = set()
        for sentence in sentences(text):
            stems = {word.stem for word in _tokens(sentence) if word.weight >= 1}
            novel = stems - self._people
            if len(novel) > 2 and any(
                len(novel & self._index_of(result.text).positions.keys()) >= 0.75 * len(novel)
                for result in earlier
            ):
                continue
            clean.update(word.stem for word in _tokens(sentence))
        return frozenset(clean)

    def outside_lines(
        self, before: str | None, after: str | None, *, doubtful: str = ""
    ) -> list[OutsideLine]:
        """Return the new lines of a change whose words come from an outside result.

        Args:
            before: The text of the memory file, None for no file.
            after: Its text after the change.
            doubtful: Lines of `before` that are from outside themselves.
        """
        if not self.results or not after:
            return []
        added, removed = _changed_lines(before or "", after)
        if not added:
            return []
        earlier, carried = self._carried()
        own = frozenset(_stems_of(_without(before or "", doubtful))) - carried
        trusted = self.trusted | own
        old = [_OldLine.of(line) for line in removed]
        outside = [
            line for new_line in added if (line := self.source_of_line(new_line, trusted, old))
        ]
        if outside:
            return outside
        whole = "\n".join([*earlier, *added])
        if len(earlier) + len(added) > 1:
            source = self.source_of_line(whole, trusted, (), shown="\n".join(added))
            if source is not None:
                return [source]
        return []

    def _carried(self) -> tuple[list[str], frozenset[str]]:
        """Return earlier writes without approval, and their stems from outside."""
        # Otherwise a text that is saved word by word in many calls would pass as many harmless
        # ones. Writes that a person has approved do not count.
        texts, carried = list[str](), set[str]()
        parts: dict[int, ThreadTexts] = {}
        for before, text in self.writes:
            if not before:  # no result had been seen then
                continue
            if before not in parts:  # it takes the words of the whole conversation apart
                parts[before] = replace(self, results=self.results[:before], writes=())
            part = parts[before]
            unsaid = [
                word
                for word in _tokens(text)
                if word.weight >= 1
                and word.stem not in part.trusted
                and any(
                    word.stem in self._index_of(result.text).positions for result in part.results
                )
            ]
            if unsaid and part.source_of_line(text, part.trusted, ()) is None:
                texts.append(text)
                carried.update(word.stem for word in unsaid)
        return texts, frozenset(carried)

    def source_of_line(
        self,
        line: str,
        trusted: frozenset[str],
        removed: Sequence[_OldLine],
        *,
        shown: str | None = None,
    ) -> OutsideLine | None:
        """Return the result that a line repeats; None for a line that needs no approval."""
        pieces = [line, *(part for part in sentences(line) if part != line.strip())]
        for piece in dict.fromkeys(pieces):
            source = self._source_of(piece, trusted)
            if source is not None:
                result, stems = source
                return OutsideLine(shown or line, result.tool, _excerpt(result.text, stems))
        for piece in dict.fromkeys(pieces):
            clause_source = self._clause_source(piece, trusted)
            if clause_source is not None:
                result, stems = clause_source
                return OutsideLine(shown or line, result.tool, _excerpt(result.text, stems))
        result_of_flip = self._flip_source(line, removed)
        if result_of_flip is not None:
            result, stems = result_of_flip
            return OutsideLine(shown or line, result.tool, _excerpt(result.text, stems))
        return None

    def _source_of(
        self, text: str, trusted: frozenset[str]
    ) -> tuple[ToolResult, frozenset[str]] | None:
        tokens = _tokens(text)
        novel = {token.stem: token.weight for token in tokens if not token.is_in(trusted)}
        if not novel:
            return None
        trusted_weight = sum(
            token.weight for token in tokens if token.stem in trusted and token.weight > 0.5
        )
        matches = [self._index_of(result.text).best(novel) for result in self.results]
        best = max(range(len(matches)), key=lambda n: matches[n].score)
        nearest = matches[best]
        needed = max(_ENOUGH, 0.6 * trusted_weight)
        # Trusted words raise the bar: a person's sentence may share two words with any page.
        if nearest.score >= needed or nearest.exact:
            return self.results[best], nearest.stems
        parts: dict[str, float] = {}
        for match in matches:
            parts |= match.weights
        total = sum(parts.values())
        enough = _ENOUGH if self._has_bait else _ENOUGH_IN_PARTS
        if total >= max(enough, 0.6 * trusted_weight) and len(parts) >= 0.5 * len(novel):
            return self.results[best], frozenset(parts)
        return self._bait_source(novel, trusted_weight, total)

    def _clause_source(
        self, text: str, trusted: frozenset[str]
    ) -> tuple[ToolResult, frozenset[str]] | None:
        """Return the result with a clause that a short text repeats, None for no such result."""
        words = _tokens(text)
        content = [word for word in words if word.weight] or words
        novel = [word for word in content if not word.is_in(trusted)]
        if not novel or len(novel) < 0.5 * len(content):
            return None
        clause = _SavedClause.of(text)
        for result in reversed(self.results):
            if self._index_of(result.text).has_clause(clause):
                return result, frozenset(word.stem for word in words)
        return None

    def _bait_source(
        self, novel: Mapping[str, float], trusted_weight: float, shared: float
    ) -> tuple[ToolResult, frozenset[str]] | None:
        """Return a result that asks to be saved, for a line that no trusted text explains."""
        baits = [n for n, result in enumerate(self.results) if asks_to_be_saved(result.text)]
        if not baits:
            return None
        unexplained = sum(weight for weight in novel.values() if weight > 0.5)
        if baits[-1] >= self.answered:  # nobody has spoken since the model read it
            needed = max(3 if self._has_wish else 2, 1.5 * trusted_weight)
        else:
            needed = 2 * trusted_weight + 4
        if unexplained < needed or (self._has_wish and trusted_weight and shared < 1):
            return None
        return self.results[baits[-1]], frozenset(novel)

    def _flip_source(
        self, line: str, removed: Sequence[_OldLine]
    ) -> tuple[ToolResult, frozenset[str]] | None:
        """Return the result that asked to turn a line into its opposite, None for no such line."""
        if not removed or not self._has_bait:
            return None
        new = _OldLine.of(line)
        few = min(2, len(new.stems))
        for old in removed:
            alike = len(old.stems & new.stems) >= 0.6 * max(len(old.stems), len(new.stems))
            if not alike or not new.stems or old.polarity == new.polarity:
                continue
            if len(new.stems & self._recent) >= few:
                continue
            for result in reversed(self.results):
                shared = new.stems & self._index_of(result.text).positions.keys()
                if len(shared) >= few:
                    return result, frozenset(shared)
        return None


@dataclass(frozen=True, slots=True)
class _OldLine:
    """The words of a line, and apart from them its polarity: allowed, forbidden, always, never."""

    stems: frozenset[str]
    polarity: frozenset[str]

    @classmethod
    def of(cls, line: str) -> _OldLine:
        stems = frozenset(word.stem for word in _tokens(line) if word.weight > 0.5)
        return cls(stems, _polarity(line))


def asks_to_be_saved(text: str) -> bool:
    """Return whether a result asks to be remembered, as attacks on memory have to."""
    return _asks_to_be_saved(text)


@clearable_cache(_CACHED_TEXTS)
def _asks_to_be_saved(text: str) -> bool:
    return speaks_of_remembering(_visible(text))


def sentences(text: str) -> list[str]:
    """Return the sentences and lines of a text."""
    return [part.strip() for part in _SENTENCE.split(text) if part and part.strip()]


# Words.


@dataclass(frozen=True, slots=True)
class _Word:
    """A word: its stem, and its weight as evidence if two texts share it."""

    stem: str
    weight: float
    parts: tuple[str, ...] = ()

    def is_in(self, stems: Collection[str]) -> bool:
        """Return whether a text with these stems has the word, or all parts of an address."""
        return self.stem in stems or (
            bool(self.parts) and all(part in stems or part == "0" for part in self.parts)
        )


def _visible(text: str) -> str:
    """Return a text in NFKC, without invisible characters, with spaced letters joined."""
    text = _INVISIBLE.sub("", normalised("NFKC", text))
    return _LETTERS_APART.sub(lambda run: re.sub(r"[ .\-_]", "", run.group()), text)


def _folded(text: str) -> str:
    return _visible(text).casefold()


def _tokens(text: str) -> list[_Word]:
    return list(_words_of(text))


def _words_of(text: str) -> Iterator[_Word]:
    for match in _TOKEN.finditer(_visible(text)):
        token = match.group()
        yield from _pairs(token) if _is_unspaced(token[0]) else _of_token(latin(token))


def _stems_of(text: str) -> Iterator[str]:
    return (word.stem for word in _words_of(text))


def _is_unspaced(character: str) -> bool:
    return re.match(f"[{_UNSPACED}]", character) is not None


def _pairs(run: str) -> Iterator[_Word]:
    """Yield overlapping pairs of characters; two pairs weigh as much as a word."""
    for part in UNSPACED_FUNCTION.split(run):
        for at in range(len(part) - 1):
            yield _Word(part[at : at + 2], 0.6)


def _of_token(token: str) -> Iterator[_Word]:
    """Yield the words of a token; an address or a version is one word more, that proves much."""
    parts = _PART.findall(token)
    # An address survives translation and rewording, so it is the strongest evidence there is.
    if len(parts) > 1 and _is_specific(token):
        words = [_plain(part) for part in parts]
        yield _Word(token.casefold(), 2.0, tuple(word.stem for word in words))
        for word in words:
            yield replace(word, weight=min(word.weight, 0.5))
        return
    for part in parts:
        yield _plain(part)


def _is_specific(token: str) -> bool:
    return any(mark in token for mark in "@/\\_:=+#") or bool(
        re.search(r"\w\.\w", token) or re.search(r"\d", token)
    )


def _plain(part: str) -> _Word:
    folded = part.casefold()
    if folded in FUNCTION_WORDS or (len(folded) == 1 and not folded.isdigit()):
        return _Word(folded, 0.0)
    if folded in NOTE_WORDS:
        return _Word(_stem(folded), 0.2)
    if folded.isdigit():
        return _Word(folded.lstrip("0") or "0", 0.5 if len(folded) == 1 else 1.0)
    if any(map(str.isdigit, folded)):
        return _Word(folded, 2.0 if len(folded) > 2 else 1.0)
    return _Word(_stem(folded), 1.0)


_LONG: Final = 5


def _stem(word: str) -> str:
    """Return the beginning of a word, which its other forms share."""
    # In Korean, particles follow the word without a space.
    if "\uac00" <= word[0] <= "\ud7a3":
        return word[:2]
    # A prefix, and no stemmer of one language: the language of a line is not known, and lines
    # mix languages.
    if len(word) <= _LONG:
        return word[:-1] if len(word) > 3 and word.endswith("s") else word
    return word[:_LONG]


def _polarity(text: str) -> frozenset[str]:
    words = frozenset(re.findall(r"[^\W_]+(?:'[^\W_]+)?", _folded(text))) & POLARITY
    return words | {character for character in UNSPACED_POLARITY if character in text}


# Results.


_CLAUSE: Final = re.compile(r"[:,]\s+|\s[-\u2013\u2014]+\s|[\uff0c\uff1a\u3001]")
# Part of the words of a clause that a line has to have.
_COVERED: Final = 0.5


@dataclass(frozen=True, slots=True)
class _SavedClause:
    """The words of a sentence or clause: all in order, and the content words."""

    words: tuple[str, ...]
    content: frozenset[str]

    @classmethod
    def of(cls, text: str) -> _SavedClause:
        words, content = list[str](), set[str]()
        for match in _TOKEN.finditer(_visible(text)):
            token = match.group()
            if _is_unspaced(token[0]):
                words += token
                content.update("".join(UNSPACED_FUNCTION.split(token)))
                continue
            for part in _of_token(latin(token)):
                words.append(part.stem)
                if part.weight:
                    content.add(part.stem)
        return cls(tuple(words), frozenset(content))


@dataclass(frozen=True, slots=True)
class _SharedWords:
    """The words that a line shares with a stretch of a result."""

    weights: Mapping[str, float] = field(default_factory=dict)
    exact: bool = False

    @property
    def score(self) -> float:
        return sum(self.weights.values())

    @property
    def stems(self) -> frozenset[str]:
        return frozenset(self.weights)


class _IndexedText:
    """The places of the words of one result."""

    def __init__(self, text: str) -> None:
        self.positions: dict[str, list[int]] = defaultdict(list)
        at = -1
        for at, word in enumerate(_words_of(text)):
            if word.weight:
                self.positions[word.stem].append(at)
        self.positions = dict(self.positions)
        self._long = at > 5 * _WINDOW
        self._text = text

    @cached_property
    def _clauses(self) -> list[_SavedClause]:
        clauses: dict[_SavedClause, None] = {}
        for sentence in sentences(self._text):
            for part in (sentence, *_CLAUSE.split(sentence)):
                clause = _SavedClause.of(part)
                if len(clause.words) > 1:
                    clauses[clause] = None
        return list(clauses)

    @cached_property
    def _clauses_by_word(self) -> dict[str, set[int]]:
        numbers: dict[str, set[int]] = defaultdict(set)
        for n, clause in enumerate(self._clauses):
            for word in clause.content:
                numbers[word].add(n)
        return dict(numbers)

    @cached_property
    def _sequences(self) -> frozenset[tuple[str, ...]]:
        return frozenset(clause.words for clause in self._clauses)

    def has_clause(self, clause: _SavedClause) -> bool:
        """Return whether a clause is in the text as it is, or most of one without other words."""
        if len(clause.words) > 1 and clause.words in self._sequences:
            return True
        if len(clause.words) < 2 or not clause.content:
            return False
        numbers = [self._clauses_by_word.get(word, set()) for word in clause.content]
        return any(
            len(clause.content) >= _COVERED * len(self._clauses[n].content)
            for n in set.intersection(*sorted(numbers, key=len))
        )

    def best(self, novel: Mapping[str, float]) -> _SharedWords:
        """Return the words of the stretch that shares most with these words."""
        occurrences = sorted(
            (at, stem) for stem in novel for at in self.positions.get(stem, ()) if novel[stem] > 0
        )
        best: dict[str, float] = {}
        weights = {stem: self._weight(stem, weight) for stem, weight in novel.items()}
        inside: dict[str, int] = defaultdict(int)
        start, score, most = 0, 0.0, 0.0
        for at, stem in occurrences:
            inside[stem] += 1
            score += weights[stem] if inside[stem] == 1 else 0.0
            while occurrences[start][0] <= at - _WINDOW:
                gone = occurrences[start][1]
                inside[gone] -= 1
                score -= weights[gone] if not inside[gone] else 0.0
                start += 1
            if score > most:
                most = score
                best = {stem_: weights[stem_] for stem_, many in inside.items() if many}
        return _SharedWords(best)

    def _weight(self, stem: str, weight: float) -> float:
        common = self._long and len(self.positions.get(stem, ())) > _COMMON_AFTER
        return 0.4 * weight if common and weight <= 1 else weight


@clearable_cache(_CACHED_TEXTS)
def _index_of(text: str) -> _IndexedText:
    return _IndexedText(text)


def _excerpt(text: str, stems: frozenset[str]) -> str:
    """Return the sentence of a result that has most of these words, shortened."""
    parts = sentences(_visible(text)) or [""]
    best = max(parts, key=lambda part: len(stems & set(_stems_of(part))))
    best = " ".join(best.split())
    if len(best) <= _EXCERPT:
        return best
    first = min(
        (match.start() for match in _TOKEN.finditer(best) if stems & set(_stems_of(match.group()))),
        default=0,
    )
    start = max(0, min(first - 20, len(best) - _EXCERPT))
    cut = best[start : start + _EXCERPT]
    return f"{'...' if start else ''}{cut}{'...' if start + _EXCERPT < len(best) else ''}"


def _without(text: str, lines: str) -> str:
    gone = set(map(str.strip, lines.splitlines()))
    return "\n".join(line for line in text.splitlines() if line.strip() not in gone)


def _changed_lines(before: str, after: str) -> tuple[list[str], list[str]]:
    """Return the lines that a change adds, and those that it removes."""
    old, new = before.splitlines(), after.splitlines()
    old_lines, new_lines = set(map(str.strip, old)), set(map(str.strip, new))
    added = [line for line in new if line.strip() and line.strip() not in old_lines]
    return added, [line for line in old if line.strip() and line.strip() not in new_lines]


def added_lines(before: str, after: str) -> str:
    """Return the lines that a change adds, as a text."""
    return "\n".join(_changed_lines(before, after)[0])


# Messages.


def texts_of_thread(
    messages: Sequence[Any],
    *,
    inside_calls: Collection[str],
    inside_tools: Collection[str] = (),
    written: Callable[[Mapping[str, Any]], str] = lambda _: "",
) -> ThreadTexts:
    """Sort the texts of messages by origin.

    Args:
        messages: The messages of a thread, oldest first.
        inside_calls: Ids of the calls that the agent's own file tools have answered.
        inside_tools: Names of other tools that bring nothing from outside.
        written: Returns the text that a call has put into a memory file, "" for other calls.
    """
    results, people = list[ToolResult](), list[str]()
    inside, writes = list[tuple[int, str]](), list[tuple[int, str]]()
    proposed, answered = dict[str, str](), 0
    for message in messages:
        kind, text = _kind_of(message), message_text(message)
        if kind == "human":
            if _is_summary(message):
                results.append(ToolResult("a summary of earlier messages", text))
            else:
                people.append(text)
                answered = len(results)
        elif kind == "ai":
            results += _of_provider(message)
            for call in message.tool_calls:
                added = written(call)
                if added:
                    proposed[call["id"] or ""] = added
        elif kind in ("tool", "function"):
            call, name = getattr(message, "tool_call_id", ""), message.name or ""
            if call in proposed and getattr(message, "status", "") == "success":
                writes.append((len(results), proposed[call]))
            own = kind == "tool" and call in inside_calls and not _shows_results(text)
            if own or name in inside_tools:
                inside.append((len(results), text))
            elif text:
                results.append(ToolResult(name or "a tool", text))
    return ThreadTexts(results, people, inside, writes, answered)


# Folders in which deepagents keeps long results of tools, and conversations with results.
_RESULT_FOLDERS: Final = ("/large_tool_results", "/conversation_history")


def opens_tool_results(call: Mapping[str, Any]) -> bool:
    """Return whether a call of a file tool opens a stored result of another tool."""
    return any(
        folder in str(value) for value in call["args"].values() for folder in _RESULT_FOLDERS
    )


def _shows_results(text: str) -> bool:
    return any(folder in text for folder in _RESULT_FOLDERS)


def message_text(message: Any) -> str:
    """Return the text parts of a message."""
    content = getattr(message, "content", "")
    if isinstance(content, str):
        return content
    return "\n".join(_texts_in(content, deep=_kind_of(message) != "ai"))


def _kind_of(message: Any) -> str:
    """Return "human", "ai", "tool" or another type; parts of a stream have names of their own."""
    return str(getattr(message, "type", "")).removesuffix("MessageChunk").lower()


def _texts_in(content: Any, *, deep: bool) -> Iterator[str]:
    """Yield the texts of content blocks; with `deep` also those of citations and documents."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, Mapping):
        for key, value in content.items():
            if key in ("text", "content", "title") or (deep and key not in _NO_TEXT):
                yield from _texts_in(value, deep=deep)
    elif isinstance(content, Iterable):
        for block in content:
            yield from _texts_in(block, deep=deep)


_NO_TEXT: Final = frozenset(
    {"type", "id", "base64", "data", "mime_type", "encrypted_content", "signature", "index"}
)


def _of_provider(message: Any) -> Iterator[ToolResult]:
    """Yield the results of tools that the model's provider has run, such as its web search."""
    content = message.content
    for block in content if isinstance(content, list) else ():
        kind = str(block.get("type", "")) if isinstance(block, Mapping) else ""
        if kind.endswith("_result"):
            text = "\n".join(_texts_in(block, deep=True))
            if text:
                yield ToolResult(str(block.get("name") or kind.removesuffix("_result")), text)


def _is_summary(message: Any) -> bool:
    """Return whether a message is a summary of earlier ones, which may have had results."""
    return bool((getattr(message, "additional_kwargs", None) or {}).get("lc_source"))

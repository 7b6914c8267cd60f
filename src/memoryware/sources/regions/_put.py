"""Putting protected parts of a text back that a change has removed, changed or copied."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from memoryware.sources.regions._find import Which, parts
from memoryware.sources.regions._lines import Lines
from memoryware.sources.regions._mark import Comment, Marked, Pair, marked
from memoryware.sources.regions._old import Old
from memoryware.sources.regions._place import Edit, Placing


def put_back(before: str, after: str, which: Which) -> tuple[str, tuple[str, ...]]:
    """Return the text with all protected parts, and the names of those that were put back."""
    old = Old(marked(before), which)
    mending = Mending(old, marked(after))
    if mending.is_whole:
        return after, ()
    names = mending.names
    text = mending.run()
    if not Mending(old, marked(text)).is_whole:
        text = _in_front(old, after)
    return text, tuple(dict.fromkeys(names))


def _in_front(old: Old, after: str) -> str:
    """Put what is missing to the start of a text in which every better place has failed.

    Nothing is in its way there: code that it opens ends with the blank line after it.
    """
    mending = Mending(old, marked(after))
    while mending.copies:
        after = mending.without_copies()
        mending = Mending(old, marked(after))
    return "".join(f"{old.regions[i].text}\n\n" for i in mending.missing) + after


class Mending:
    """One pass over a changed text.

    Attributes:
        missing: The regions that are not in it as they were.
        copies: Where there are more of one than there were.
    """

    def __init__(self, old: Old, new: Marked) -> None:
        self.old, self.new = old, new
        self.where: dict[int, tuple[int, int]] = {}
        self.copies: list[tuple[int, int]] = []
        self._copied: list[str] = []
        self._taken = bytearray(len(new.text) + 1)
        self._find()
        self.missing = [i for i in range(len(old.regions)) if i not in self.where]
        self._edits: list[Edit] = []

    @property
    def is_whole(self) -> bool:
        """Whether all regions are there, each as often as it was."""
        return not self.missing and not self.copies

    @property
    def names(self) -> list[str]:
        """The names of the regions that are missing or too many."""
        return [*(self.old.regions[index].name for index in self.missing), *self._copied]

    def without_copies(self) -> str:
        """Return the text with each region at most as often as it was."""
        lines = Lines(self.new.text, self.new.plain, self.copies)
        return _applied(self.new.text, [_without(lines, *copy) for copy in self.copies])

    def run(self) -> str:
        """Return the mended text."""
        rejected = self._changed()
        loose = [*self.copies, *self._leftovers(rejected)]
        lines = Lines(self.new.text, self.new.plain, [*self.where.values(), *loose])
        self._edits += [_without(lines, start, end) for start, end in loose]
        self._edits += Placing(self.old, self.new, lines, self.where).edits()
        return _applied(self.new.text, self._edits)

    def _find(self) -> None:
        """Find the regions that are there, longest first, each copy used once."""
        wanted: dict[str, list[int]] = defaultdict(list)
        for index, region in enumerate(self.old.regions):
            wanted[region.text].append(index)
        lengths = set(map(len, wanted))
        there: dict[str, set[int]] = defaultdict(set)
        spans = [pair.span for pair in self.new.pairs]
        for start, end in [*spans, *((one.start, one.end) for one in self.new.comments)]:
            if end - start in lengths and (text := self.new.text[start:end]) in wanted:
                there[text].add(start)
        for text in sorted(wanted, key=len, reverse=True):
            free = sorted(start for start in there[text] if not self._taken[start])
            found = [(start, start + len(text)) for start in free]
            self.where.update(zip(wanted[text], found, strict=False))
            self._take(found)
            more = found[len(wanted[text]) :] if text in self.old.machine else []
            self.copies += more
            self._copied += [self.old.regions[wanted[text][0]].name] * bool(more)

    def _take(self, parts: Iterable[tuple[int, int]]) -> None:
        for start, end in parts:
            self._taken[start:end] = b"\1" * (end - start)

    def _changed(self) -> set[Pair]:
        """Put regions back that are there and differ; return pairs that hold more than that."""
        waiting: dict[str, deque[int]] = defaultdict(deque)
        for index in self.missing:
            if index in self.old.pairs:
                waiting[self.old.pairs[index].begin.key].append(index)
        kept = sorted(start for start, _ in [*self.where.values(), *self.copies])
        rejected, done = set[Pair](), 0
        for pair in sorted(parts(self.new), key=lambda one: (one.begin.start, -one.end.end)):
            start, end = pair.span
            if start < done or self._taken[start] or not waiting.get(pair.begin.key):
                continue
            done = end
            if bisect_left(kept, start) != bisect_left(kept, end) or self._swallows(pair):
                rejected.add(pair)
                continue
            index = waiting[pair.begin.key].popleft()
            self.where[index] = (start, end)
            self._edits.append(Edit(start, end, self.old.regions[index].text))
            self._take([(start, end)])
        return rejected

    def _swallows(self, pair: Pair) -> bool:
        """Say whether lines have come between two markers that stood outside before."""
        body = self.new.text[pair.begin.end : pair.end.start]
        return not self.old.outside.isdisjoint(line.rstrip("\r") for line in body.split("\n"))

    def _leftovers(self, rejected: AbstractSet[Pair]) -> list[tuple[int, int]]:
        """Return the markers of missing regions that stand alone now."""
        gone = {
            text for i in self.missing if i not in self.where for text in self.old.markers(i)
        } - self.old.loose
        paired = {
            marker.start for pair in self.new.pairs if pair not in rejected for marker in pair
        }
        return [
            (one.start, one.end)
            for one in self.new.comments
            if self._is_loose(one, paired) and self.new.text[one.start : one.end] in gone
        ]

    def _is_loose(self, comment: Comment, paired: set[int]) -> bool:
        return not self._taken[comment.start] and comment.start not in paired


def _without(lines: Lines, start: int, end: int) -> Edit:
    """Take a part out, with its lines if nothing else is on them."""
    first, last = lines.at(start), lines.at(end - 1)
    before = lines.text[lines.starts[first] : start]
    after = lines.text[end : lines.end(last)]
    if before.strip() or after.strip():
        return Edit(start, end, "")
    return Edit(lines.starts[first], lines.end(last), "")


def _applied(text: str, edits: Iterable[Edit]) -> str:
    pieces, position = [], 0
    for edit in sorted(edits, key=lambda one: (one.start, one.end)):
        if edit.start >= position:
            pieces += [text[position : edit.start], edit.text]
            position = edit.end
    return "".join([*pieces, text[position:]])

"""Stores whose marks lead nowhere."""

from __future__ import annotations

from dataclasses import replace

from conformance.store_faults import Fault
from memoryware.tiers.stores.embedded import key_of

FAULTS: list[type] = []


def fault(kind):
    FAULTS.append(kind)
    return kind


class _Found(Fault):
    """Gives another page."""

    def find(self, which, *, limit=None, offset=0, after=None):
        return self.other(super().find(which, limit=limit, offset=offset, after=after))


@fault
class GivesNoMarks(_Found):
    def other(self, page):
        return replace(page, marks=[])


@fault
class GivesOneMarkForAll(_Found):
    def other(self, page):
        return replace(page, marks=page.marks[-1:] * len(page.items))


@fault
class CountsNothingBeforeAPage(_Found):
    def other(self, page):
        return replace(page, newer=0)


@fault
class CountsWhatIsLeft(_Found):
    def other(self, page):
        return replace(page, total=page.total - page.newer, newer=0)


@fault
class IgnoresTheMark(Fault):
    def find(self, which, *, limit=None, offset=0, after=None):
        return super().find(which, limit=limit, offset=offset)


@fault
class IgnoresTheMarkInOneHalf(Fault):
    one_half = True

    def find(self, which, *, limit=None, offset=0, after=None):
        return super().find(which, limit=limit, offset=offset)


@fault
class IgnoresTheOffsetAfterAMark(Fault):
    def find(self, which, *, limit=None, offset=0, after=None):
        offset = 0 if after else offset
        return super().find(which, limit=limit, offset=offset, after=after)


@fault
class BeginsWithTheMark(Fault):
    def find(self, which, *, limit=None, offset=0, after=None):
        if isinstance(after, str) and after.isdigit():
            after = str(int(after) + 1)
        return super().find(which, limit=limit, offset=offset, after=after)


class _Numbered(Fault):
    """Finds its way by marks of its own."""

    def find(self, which, *, limit=None, offset=0, after=None):
        every = super().find(which)
        marks = self.marks(every)
        start = offset
        if after is not None:
            super().find(which, after=after if isinstance(after, str) else "-")
            start += marks.index(after) + 1 if after in marks else self.lost(marks, after)
        end = None if limit is None else start + limit
        newer = min(start, every.total)
        return replace(every, items=every.items[start:end], marks=marks[start:end], newer=newer)

    def lost(self, marks, after):
        return 0


@fault
class NumbersTheLines(_Numbered):
    def marks(self, page):
        return [str(number) for number in range(len(page.items))]


@fault
class NumbersTheLinesFromTheOldest(_Numbered):
    def marks(self, page):
        return [str(page.total - number) for number in range(len(page.items))]


@fault
class LosesTheWayWithTheRecord(_Numbered):
    """A mark is of use as long as its record is there."""

    def marks(self, page):
        numbers = self._records.numbers
        return [str(numbers[key_of(one)]) for one in page.items]


@fault
class EndsWhereTheRecordWas(LosesTheWayWithTheRecord):
    def lost(self, marks, after):
        return len(marks)


@fault
class TakesAnythingForAMark(Fault):
    def find(self, which, *, limit=None, offset=0, after=None):
        known = isinstance(after, str) and after.isascii() and after.isdigit()
        return super().find(which, limit=limit, offset=offset, after=after if known else None)

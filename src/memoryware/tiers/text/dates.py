"""Dates and periods in a query, such as "in May 2023" or "two weeks ago"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

_NAMES: Final = (
    *("january jan", "february feb", "march mar", "april apr", "may", "june jun"),
    *("july jul", "august aug", "september sept sep", "october oct", "november nov"),
    "december dec",
)
_MONTHS: Final = {name: number for number, names in enumerate(_NAMES, 1) for name in names.split()}
_DAYS: Final = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_COUNTED: Final = (
    *("one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
_NUMBERS: Final = {name: number for number, name in enumerate(_COUNTED, 1)} | {
    "a": 1,
    "an": 1,
    "couple of": 2,
    "few": 3,
}
_UNITS: Final = {"day": 1.0, "week": 7.0, "month": 30.44, "year": 365.25}
"""Days of each unit."""

_MONTH: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))
_UNIT: Final = "|".join(_UNITS)
_ISO: Final = re.compile(r"\b((?:19|20|21)\d{2})-(\d{1,2})(?:-(\d{1,2}))?\b(?!-)")
_HAN: Final = re.compile(r"(?:(\d{4})\s*年)?\s*(?:(\d{1,2})\s*月)?\s*(?:(\d{1,2})\s*[日号])?")
_DAY_MONTH: Final = re.compile(
    rf"\b(\d{{1,2}})(st|nd|rd|th)?\s+(of\s+)?({_MONTH})\b\.?,?(?:\s+(\d{{4}}))?"
)
_MONTH_DAY: Final = re.compile(
    rf"\b({_MONTH})\b\.?(?:\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?!\s+(?:{_UNIT}|time)s?))?"
    r",?(?:\s+(?:of\s+)?(\d{4}))?"
)
_YEAR: Final = re.compile(r"\b(?:in|of|during|year)\s+((?:19|20)\d{2})\b")
_AGO: Final = re.compile(
    rf"\b(\d{{1,3}}|{'|'.join(_NUMBERS)})\s+({_UNIT})s?\s+(?:ago|back|earlier)\b"
)
_LAST: Final = re.compile(rf"\b(last|this)\s+({_UNIT}|{_MONTH}|{'|'.join(_DAYS)})\b")
_IN: Final = re.compile(r"\b(?:in|of|on|during|early|late|mid)[\s-]{1,3}$")
"""Words before a month that is also another word, such as "may" and "march"."""
_APART: Final = re.compile(
    r"\b(?:before|after|since|until|till|by|from|to)\s{1,3}(?:the\s|early\s|late\s|mid[\s-])?$"
)
"""Words before a time that is only one end of a period."""
_ANY: Final = re.compile(rf"\d|{_MONTH}|ago|back|earlier|last|this|today|yesterday")
"""Something without which no form above fits, nor any word that is looked for by itself."""
_BEFORE: Final = 24
"""Characters before a time that are looked at."""
_PLAIN: Final = frozenset(
    {"january", "february", "july", "september", "october", "november", "december"}
)
"""Months that are nothing else, and no names of people."""


@dataclass(frozen=True, slots=True)
class Period:
    """Some days: between two moments, or of a year, a month, or a day, as far as they are named.

    Attributes:
        begins: The first moment of it.
        ends: The moment after it.
        year: Only of this year.
        month: Only in this month, of any year if no year is named.
        day: Only on this day of the month.
    """

    begins: datetime | None = None
    ends: datetime | None = None
    year: int | None = None
    month: int | None = None
    day: int | None = None

    def has(self, moment: datetime) -> bool:
        """Say whether a moment is in the period.

        Args:
            moment: The moment.

        Returns:
            Whether it is.
        """
        if self.begins is not None and self.ends is not None:
            return self.begins <= moment < self.ends
        return all(
            value is None or getattr(moment, name) == value
            for name, value in (("year", self.year), ("month", self.month), ("day", self.day))
        )


def periods_of(question: str, now: datetime) -> list[Period]:
    """Return the periods that a query names, each once.

    Understood are English, dates such as 2023-05-07, and Chinese and Japanese dates.

    Args:
        question: The query.
        now: The moment from which relative times count.

    Returns:
        The periods.
    """
    text = question.casefold()
    if not _ANY.search(text):  # most queries name no time, and this is a tenth of the work
        return []
    periods = [*_dates(text, question), *_relative(text, now)]
    if not periods:
        periods = [Period(year=int(year)) for year in _YEAR.findall(text)]
    return list(dict.fromkeys(periods))


def _dates(text: str, written: str) -> Iterator[Period]:
    for form in (_ISO, _HAN):
        for date in form.finditer(text):
            if date.group() and not _is_end(text, date.start()):
                yield from _date(*(part or "" for part in date.groups()))
    # The months of these are not read again as "March" or "May 2023".
    month_ends = {date.end(2) for date in _LAST.finditer(text)}
    for date in _DAY_MONTH.finditer(text):
        day, ordinal, of, month, year = date.groups()
        month_ends.add(date.end(4))
        is_sure = ordinal or of or year or month != "may" or _is_upper(written, text, date.start(4))
        if is_sure and not _is_end(text, date.start()):
            yield from _date(year or "", str(_MONTHS[month]), day)
    for date in _MONTH_DAY.finditer(text):
        month, day, year = date.groups()
        before = text[max(0, date.start() - _BEFORE) : date.start()]
        is_alone = month in _PLAIN and _is_upper(written, text, date.start())
        is_named = day or year or _IN.search(before) or is_alone
        is_new = date.end(1) not in month_ends
        if is_named and is_new and not _is_end(text, date.start()):
            yield from _date(year or "", str(_MONTHS[month]), day or "")


def _is_end(text: str, start: int) -> bool:
    """Return whether a time is only one end of what is meant, such as "before 2023"."""
    return _APART.search(text[max(0, start - _BEFORE) : start]) is not None


def _is_upper(written: str, text: str, at: int) -> bool:
    """Return whether a word was written with a capital; no where that cannot be known."""
    return len(written) == len(text) and written[at : at + 1].isupper()


def _date(year: str, month: str, day: str) -> Iterator[Period]:
    parts = [int(number) if number else None for number in (year, month, day)]
    good = (parts[1] is None or 1 <= parts[1] <= 12) and (parts[2] is None or 1 <= parts[2] <= 31)
    if good and (parts[0] or parts[1]):
        yield Period(year=parts[0], month=parts[1], day=parts[2])


def _relative(text: str, now: datetime) -> Iterator[Period]:
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    for word, back in (("today", 0), ("yesterday", 1)):
        if re.search(rf"\b{word}\b", text):
            yield from _span(today, back, back)
    for count, unit in _AGO.findall(text):
        days = (_NUMBERS.get(count) or int(count)) * _UNITS[unit]
        wide = _UNITS[unit] / 2
        yield from _span(today, days + wide, days - wide)
    for relation, unit in _LAST.findall(text):
        yield from _last(today, relation, unit)


def _last(today: datetime, relation: str, unit: str) -> Iterator[Period]:
    if unit in _DAYS and relation == "last":
        back = (today.weekday() - _DAYS.index(unit)) % 7 or 7
        yield from _span(today, back, back)
    elif unit in _MONTHS:
        month = _MONTHS[unit]
        past = relation == "this" or month < today.month
        yield Period(year=today.year - (0 if past else 1), month=month)
    elif unit == "year":
        yield Period(year=today.year - (relation == "last"))
    elif unit == "month":
        year, month = today.year, today.month - (relation == "last")
        yield Period(year=year if month else year - 1, month=month or 12)
    elif unit == "week":
        monday = today.weekday() + (7 if relation == "last" else 0)
        yield from _span(today, monday, monday - 6)


def _span(today: datetime, first: float, last: float) -> Iterator[Period]:
    """Yield the days from so many days before today to so many days before today."""
    try:
        begins, ends = today - timedelta(days=first), today - timedelta(days=last - 1)
    except OverflowError:
        return
    yield Period(begins=begins, ends=ends)

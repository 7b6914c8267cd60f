"""Periods of the calendar, and what is computed with them: weeks, seasons, parts, distances."""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

WEEK, MONTH, YEAR = 7.0, 30.44, 365.25
"""Days of longer units."""
_WINTER: Final = 12
_LEAP_YEARS: Final = 10
"""Years in which there is a 29 February, and one more."""
_FIRST_YEAR, _LAST_YEAR = 1000, 2199
"""Years outside of these are numbers of other things."""


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
        """Return whether a moment is in the period.

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

    def overlaps(self, other: Period) -> bool:
        """Return whether the period and another have a moment in common.

        Args:
            other: The other period.

        Returns:
            Whether they do.
        """
        if self.is_recurring:
            if other.is_recurring:
                return self.month == other.month and (self.day or other.day) == (
                    other.day or self.day
                )
            return other.overlaps(self)
        begins, ends = bounds(self, other.begins)
        years = range(begins.year, ends.year + 1) if other.is_recurring else (other.year,)
        for year in years:
            try:
                first, end = bounds(_of_year(other, year), begins)
            except ValueError:  # 29 February of another year
                continue
            if first < ends and begins < end:
                return True
        return False

    @property
    def is_recurring(self) -> bool:
        """Whether it is of any year, as "in May"."""
        return self.begins is None and self.year is None

    @property
    def days(self) -> float:
        """How many days it has; of any year, those of one year."""
        begins, ends = bounds(_of_year(self, 2024) if self.is_recurring else self, None)
        return (ends - begins) / timedelta(days=1)


def _of_year(period: Period, year: int | None) -> Period:
    if period.begins is not None:
        return period
    return Period(year=year, month=period.month, day=period.day)


def bounds(period: Period, near: datetime | None) -> tuple[datetime, datetime]:
    """Return the first moment of a period and the one after it.

    Args:
        period: The period. One of any year is its last time that has begun at `near`.
        near: A moment that has the time zone as well; without one, that is UTC.

    Returns:
        Both moments.

    Raises:
        ValueError: If the calendar has no such days.
        OverflowError: If it is at the end of the calendar.
    """
    if period.begins is not None and period.ends is not None:
        return period.begins, period.ends
    zone = UTC if near is None else near.tzinfo
    if period.year is None and near is not None:
        for year in range(near.year, near.year - _LEAP_YEARS, -1):
            if period.day == 29 and period.month == 2 and monthrange(year, 2)[1] < 29:
                continue
            both = bounds(_of_year(period, year), near)
            if both[0] <= near:
                return both
    begins = datetime(period.year or 1, period.month or 1, period.day or 1, tzinfo=zone)
    if period.day is not None:
        return begins, begins + timedelta(days=1)
    if period.month is not None:
        return begins, begins + timedelta(days=monthrange(begins.year, begins.month)[1])
    return begins, datetime(begins.year + 1, 1, 1, tzinfo=zone)


def dated(year: int | None, month: int | None, day: int | None) -> list[Period]:
    """Return the period of a date.

    Args:
        year: Its year, if it is named.
        month: Its month, if it is named.
        day: Its day, if it is named.

    Returns:
        The period; none if there is no such date.
    """
    if year is None and month is None:
        return []
    if year is not None and not _FIRST_YEAR <= year <= _LAST_YEAR:
        return []
    if month is not None and not 1 <= month <= 12:
        return []
    if day is not None and not (month and 1 <= day <= monthrange(year or 2024, month)[1]):
        return []
    return [Period(year=year, month=month, day=day)]


def days_from(day: datetime, offset: float, count: float = 1) -> Period:
    """Return so many days from a moment on.

    Args:
        day: The moment.
        offset: Days after it at which they begin.
        count: How many days.

    Returns:
        The period.
    """
    begins = day + timedelta(days=offset)
    return Period(begins=begins, ends=begins + timedelta(days=count))


def months_after(day: datetime, months: int) -> datetime:
    """Return a day some months later, or the last day of that month if it is shorter.

    Args:
        day: The day.
        months: How many months; negative for earlier ones.

    Returns:
        The day.
    """
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    last = monthrange(year, month + 1)[1]
    return day.replace(year=year, month=month + 1, day=min(day.day, last))


def week(day: datetime, offset: int) -> Period:
    """Return the calendar week, from Monday, that is so many weeks after that of a day.

    Args:
        day: The day.
        offset: The weeks.

    Returns:
        The period.
    """
    return days_from(day, offset * 7 - day.weekday(), 7)


def weekend(day: datetime, offset: int) -> Period:
    """Return the Saturday and Sunday of a calendar week, counted as in `week`.

    Args:
        day: The day.
        offset: The weeks.

    Returns:
        The period.
    """
    return days_from(day, offset * 7 - day.weekday() + 5, 2)


def weekday(day: datetime, index: int, direction: int, length: int = 1) -> Period:
    """Return the nearest day of that name before or after a day, or that of its week.

    Args:
        day: The day.
        index: The day's number in the week, from 0 for Monday.
        direction: Negative for before, positive for after, 0 for the calendar week of the day.
        length: How many days from that one on.

    Returns:
        The period.
    """
    if direction < 0:
        offset = -((day.weekday() - index) % 7 or 7)
    elif direction > 0:
        offset = (index - day.weekday()) % 7 or 7
    else:
        offset = index - day.weekday()
    return days_from(day, offset, length)


def weekday_of_week(day: datetime, offset: int, index: int) -> Period:
    """Return a weekday of a calendar week, counted as in `week`.

    Args:
        day: The day.
        offset: The weeks.
        index: The number of the weekday, from 0 for Monday.

    Returns:
        The period.
    """
    return days_from(day, offset * 7 - day.weekday() + index)


def month(day: datetime, offset: int) -> Period:
    """Return the month that is so many months after that of a day.

    Args:
        day: The day.
        offset: The months.

    Returns:
        The period.
    """
    moved = months_after(day.replace(day=1), offset)
    return Period(year=moved.year, month=moved.month)


def named_month(day: datetime, number: int, relation: int) -> Period:
    """Return the last, this, or the next month of a name.

    Args:
        day: Today.
        number: The number of the month.
        relation: Negative for the last, 0 for that of this year, positive for the next.

    Returns:
        The period.
    """
    year = day.year + min(relation, 0) + (relation < 0) * (number < day.month)
    return Period(year=year + (relation > 0) * (number <= day.month), month=number)


def season(first: int, year: int | None, zone_of: datetime) -> list[Period]:
    """Return a season of a year.

    Args:
        first: Its first month.
        year: Its year. A winter is in two years: without more, both winters are meant.
        zone_of: A moment in the time zone.

    Returns:
        The periods; without a year, its months of any year.
    """
    if year is None:
        return [Period(month=(first + later - 1) % 12 + 1) for later in range(3)]
    begins = datetime(year, first, 1, tzinfo=zone_of.tzinfo)
    periods = [Period(begins=begins, ends=months_after(begins, 3))]
    if first == _WINTER:
        new_year = begins.replace(month=1)
        periods.append(Period(begins=new_year, ends=months_after(new_year, 2)))
    return periods


def near_season(first: int, day: datetime, relation: int) -> list[Period]:
    """Return the last season of a name that is over, the nearest one, or the next one.

    Args:
        first: Its first month.
        day: Today.
        relation: Negative for the last, 0 for the nearest, positive for the next.

    Returns:
        The periods.
    """
    seasons = [season(first, day.year + offset, day)[0] for offset in (-2, -1, 0, 1)]
    ranges = [bounds(one_year, day) for one_year in seasons]
    if relation < 0:
        return [Period(*both) for both in ranges if both[1] <= day][-1:]
    if relation > 0:
        return [Period(*both) for both in ranges if both[0] > day][:1]
    nearest = min(ranges, key=lambda both: abs(both[0] + (both[1] - both[0]) / 2 - day))
    return [Period(*nearest)]


def distant(moment: datetime, count: float, unit: float) -> Period:
    """Return the days about so many units after a moment.

    Days are exact. Weeks, months and years are spoken of roughly: half a unit either way.

    Args:
        moment: The moment.
        count: How many units, negative for before.
        unit: The days of the unit.

    Returns:
        The period.
    """
    if unit < 1:
        return days_from(moment, (count - 0.5) * unit, unit)
    if unit == 1:
        return days_from(moment, count)
    if unit in {MONTH, YEAR} and count == int(count):
        center = months_after(moment, int(count) * (1 if unit == MONTH else 12))
    else:
        center = moment + timedelta(days=round(count * unit))
    wide = int(min(unit, YEAR) / 2) if unit >= MONTH else 3
    return days_from(center, -wide, 2 * wide + 1)


def beside(period: Period, unit: float, direction: int, near: datetime) -> Period:
    """Return the unit right before or after a period, such as the week after a day.

    Args:
        period: The period.
        unit: The days of the unit.
        direction: -1 for before, 1 for after.
        near: Today.

    Returns:
        The period.
    """
    begins, ends = bounds(period, near)
    if unit in {MONTH, YEAR}:
        months = 1 if unit == MONTH else 12
        if direction < 0:
            return Period(begins=months_after(begins, -months), ends=begins)
        return Period(begins=ends, ends=months_after(ends, months))
    unit = max(1, unit)
    return days_from(begins, -unit, unit) if direction < 0 else days_from(ends, 0, unit)


def third_of(period: Period, third: int, near: datetime, parts: int = 3) -> Period:
    """Return the beginning, the middle, or the end of a period.

    Args:
        period: The period.
        third: 0, 1 or 2.
        near: Today.
        parts: Into how many parts it is cut.

    Returns:
        That part, in whole days. A day, and a month of any year, stay as they are.
    """
    if period.is_recurring:
        return period
    begins, ends = bounds(period, near)
    if period.month is None and period.year is not None:
        months = 12 // parts
        first = months_after(begins, third * months)
        return Period(begins=first, ends=months_after(first, months))
    days = (ends - begins).days
    if days < parts:
        return period
    first, last = (begins + timedelta(days=round(days * cut / parts)) for cut in (third, third + 1))
    return Period(begins=first, ends=last)


def week_in(period: Period, index: int, count: int, unit: float, near: datetime) -> list[Period]:
    """Return a day, a week or a month by its number in a longer period.

    Args:
        period: The longer period.
        index: The number from 0, or negative from the end.
        count: How many of them: the last two weeks.
        unit: Their days.
        near: Today.

    Returns:
        The period; none if the longer one is too short. A month of any year stays as it is.
    """
    if period.is_recurring:
        return [period]
    begins, ends = bounds(period, near)
    if unit == MONTH:
        if index < 0:
            return [Period(begins=months_after(ends, -count), ends=ends)]
        return [Period(months_after(begins, index), months_after(begins, index + count))]
    if index < 0:
        first, last = ends - timedelta(days=unit * count), ends
    else:
        first = begins + timedelta(days=unit * index)
        last = first + timedelta(days=unit * count)
    return [Period(begins=first, ends=last)] if begins <= first and last <= ends else []


def weekday_in(
    period: Period, index: int, number: int, length: int, near: datetime
) -> list[Period]:
    """Return a weekday or a weekend by its number in a longer period.

    Args:
        period: The longer period.
        index: The number from 0, or negative from the end.
        number: The weekday, from 0 for Monday, on which it begins.
        length: Its days.
        near: Today.

    Returns:
        The period; none if the longer one is too short. A month of any year stays as it is.
    """
    if period.is_recurring:
        return [period]
    begins, ends = bounds(period, near)
    if index < 0:
        day = ends - timedelta(days=length)
        first = day - timedelta(days=(day.weekday() - number) % 7)
    else:
        first = begins + timedelta(days=(number - begins.weekday()) % 7 + 7 * index)
    return [days_from(first, 0, length)] if begins <= first < ends else []


def between(first: Period, last: Period, near: datetime) -> list[Period]:
    """Return what is from one period to another, both included.

    Args:
        first: The earlier one. Of any year, it is of that of the later one.
        last: The later one.
        near: Today.

    Returns:
        The period; the months of any year if neither names one; both if the order is wrong.
    """
    if first.is_recurring and last.is_recurring and not (first.day or last.day):
        if first.month is None or last.month is None:
            return []
        count = (last.month - first.month) % 12 + 1
        return [Period(month=(first.month + later - 1) % 12 + 1) for later in range(count)]
    begins, ends = bounds(last, near)
    if first.is_recurring:
        begins = bounds(first, begins)[0]
    else:
        begins = bounds(first, near)[0]
        if last.is_recurring:
            ends = bounds(last, months_after(begins, 12) - timedelta(days=1))[1]
    return [Period(begins=begins, ends=ends)] if begins < ends else [first, last]

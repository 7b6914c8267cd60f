"""The parser of times in texts: "in May 2023", "two weeks ago", "between March and May".

A text becomes a string with one character for each word, its kind (see `date_words`). Patterns
over that string find times, then what is said of them ("the last week of", "three days before"),
then ranges. Each pattern is bounded, so the work is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Final, cast

from memoryware.tiers.text import periods as calendar
from memoryware.tiers.text.date_words import (
    ENGLISH,
    GERMAN,
    OTHER_WORDS,
    PLAIN_MONTHS,
    ROMANCE,
    VOCABULARY,
    Value,
    has_han,
)
from memoryware.tiers.text.periods import MONTH, WEEK, YEAR, Period, dated

_MOST_MATCHES: Final = 256
"""Times at most that are looked at in one text: more are a list of figures."""
_SINCE_DAYS: Final = 62
"""A period up to now that is longer than this says little about a time."""

_PHRASES: Final = {
    "il y a": "hace",
    "avant-hier": "anteayer",
    "après-demain": "übermorgen",
    "antes de ayer": "anteayer",
    "pasado mañana": "übermorgen",
    "fin de semana": "weekend",
    "fines de semana": "weekend",
}
"""Several words that are read as one."""
_PHRASE: Final = re.compile("|".join(_PHRASES))
_TOKEN: Final = re.compile(
    r"(\d+(?:[./\-–]\d+)*)((?:st|nd|rd|th|er)\b|[ºª])?|([^\W\d_]+)|([^\w\s'’])"
)
"""A number with its suffix, a word, or a sign."""
_WORD: Final = re.compile(r"[^\W\d_]+")
_SIGNS: Final = {".": ".", ",": ",", "-": "-", "–": "-", "—": "-", "~": "-"}
_YEAR_FIRST: Final = re.compile(
    r"((?:19|20|21)\d\d)(?:-(\d{1,2})(?:-(\d{1,2}))?|/(\d{1,2})/(\d{1,2})|\.(\d\d)\.(\d\d))"
)
_DAY_FIRST: Final = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2((?:19|20|21)\d\d)")
_SHORT_YEAR: Final = re.compile(r"(\d{1,2})/(\d{1,2})/(\d\d)|(\d\d)\.(\d\d)\.(\d\d)")
_MONTH_YEAR: Final = re.compile(r"(\d{1,2})[/.]((?:19|20)\d\d)")
_DAY_MONTH: Final = re.compile(r"(\d{1,2})\.(\d{1,2})")
_SPAN: Final = re.compile(r"(\d{1,4})[-–](\d{1,4})")
_QUARTER: Final = re.compile(r"q([1-4])\b")

# Kinds: M month, w weekday, s season, W weekend, n number, c number word, o ordinal number,
# Y year, D date, g day and month as "16.01", u unit, h hours, y year, Q quarter, H half,
# r relative day, L l last/this/next before and around, 1 first, E early/mid/late, A ago, V vor,
# b before, a after, S since, U until, t to, F from, B between, & and, f of, i I in, @ a, T times,
# z night; * R P a period that was read: dated, relative, or a range;
# x any other word, ; any other sign.
_YEARISH: Final = r"(?:,?[fi]?(?:y?Y|Ly|yl))"
_COUNT: Final = r"[@nc]{1,2}f?"
_DAY: Final = r"[no]\.?"
_OF_TIME: Final = rf"(?![fi]{{1,2}}(?:[MYsLlyD]|{_DAY}f?M))"
"""Not if a longer time follows: "the last week of August"."""
_TIMES: Final = re.compile(
    "|".join(
        f"(?P<{name}>{pattern})"
        for name, pattern in {
            "day_range": rf"{_DAY}[t\-U&]{_DAY}f?M\.?{_YEARISH}?",
            "month_days": rf"M\.?[no][t\-U&][no](?![uyhTM]){_YEARISH}?",
            "month_range": rf"(?:(?<=B)M\.?{_YEARISH}?&|M\.?{_YEARISH}?[tU\-]|(?<=[Ff])M@)"
            rf"M(?!\.?[no])\.?{_YEARISH}?",
            "of_year": rf"(?:[Ll]y|yl|(?<=i)Y),?[fi]?(?:{_DAY}f?M|M\.?[no](?![uyhT])|M|s)",
            "date": rf"{_DAY}f?M\.?{_YEARISH}?|YM(?:[no](?![uyhT]))?|M\.?[no](?![uyhT]){_YEARISH}?"
            rf"|M\.?{_YEARISH}",
            "season": rf"s{_YEARISH}|[Ll]s|sl|(?<=[ifE])s",
            "weekday": r"w[fi]?(?:Lu|ul)|[Ll]uf?[iI]?w|w,?(?=[no]\.?f?M|M|D)"
            rf"|(?:[Ll]w|wl){_OF_TIME}|w(?![baV])",
            "weekend": rf"(?:[Ll]W|Wl){_OF_TIME}|W(?![baVf])",
            "ago": rf"{_COUNT}[uyhW]Ar?|V{_COUNT}[uyhW]",
            "last_few": rf"(?:[Ll]{_COUNT}[uyh]|[nc]l[uyh]){_OF_TIME}",
            "before_last": r"[uyW]bL(?![uywMsWzhnc])",
            "last": rf"(?:[Ll][uyh]|[uy]l){_OF_TIME}|[Ll][zM]|Ml|zl",
            "day": "[Ll]?r",
            "whole": r"D|(?<=[IVbU])g\.",
            "quarter": rf"Q(?:{_YEARISH})|1Qf?Y",
            "year": r"(?<=[ifEy])Y|(?<=E-)Y",
            "month": "M",
        }.items()
    )
)
_PARTS: Final = re.compile(
    r"(?P<third>E-?f?[*R])"
    r"|(?P<nth>(?:1[nc]?|[Ll][@nc]{0,2})f?[uywWH][fi]{0,2}[*R])"
    r"|(?P<shift>(?:[@nc]{1,2}f?)?[uyhwW][baV]f?[*R])|(?P<around>[uW]f[*R])"
)
_RANGES: Final = re.compile(
    r"(?P<range>B[*RY]&[*RY]|[*RY][tU][*RY]|[*R]-[*R]|Y-Y|(?<=[Ff])[*Y]@[*Y])"
)
_RELATIVE_RULES: Final = frozenset(
    {"of_year", "season", "weekday", "weekend", "ago", "last_few", "before_last", "last", "day"}
)
_RANGE_RULES: Final = frozenset({"range", "day_range", "month_days", "month_range"})
_APART: Final = {"*": frozenset("baVtUF"), "R": frozenset("baVU"), "P": frozenset("")}
"""Words before a time that is only one end of a period. "To" and "from" last week are none."""
_READ_APART: Final = frozenset({"morgen", "mañana", "hier"})
_HABITS: Final = (" evenings", " mornings", " afternoons", " nights")
_LANGUAGE_CHARS: Final = 400
"""Characters at the beginning that say which language a text is in."""

Item = tuple[Value | list[Period], int]
"""What a word says, and where it is."""


class TimeParser:
    """Reads the periods of one text.

    Args:
        text: The text in lower case.
        written: The text as it was written.
        now: The moment from which relative times count.
    """

    def __init__(self, text: str, written: str, now: datetime) -> None:
        self.text, self.now = text, now
        # Capitals cannot be found where lower case has another length.
        self.written = written if len(written) == len(text) else text
        self.today = now.replace(hour=0, minute=0, second=0, microsecond=0)
        self.kinds = ""
        self.items: list[Item] = []
        self._text_language: str | None = None

    def periods(self) -> list[Period]:
        """Return the periods that the text names, in its order."""
        han: list[Period] = []
        if has_han(self.text):
            from memoryware.tiers.text.han_dates import han_periods

            han = han_periods(self.text, self.now)
        self._tokenize()
        for pattern in (_TIMES, _PARTS, _RANGES):
            self._replace(pattern)
        named = [*han, *self._complete()]
        years = [period for period in named if period.year and not period.month]
        dates = [period for period in named if not (period.year and not period.month)]
        if not named and "Y" in self.kinds and self._language() == "german":
            years = self._years_alone()
        if len(years) == 1 and dates:  # "in 2023, what did we do in May?"
            return [
                replace(period, year=years[0].year) if period.is_recurring else period
                for period in dates
            ]
        return dates or years

    # Words

    def _tokenize(self) -> None:
        text = self.text
        if _PHRASE.search(text):
            # As long as before, so that the places of words stay right.
            text = _PHRASE.sub(lambda m: _PHRASES[m.group()].ljust(len(m.group())), text)
        kinds: list[str] = []
        add = self.items.append
        vocabulary = VOCABULARY
        for token in _TOKEN.finditer(text):
            kind, value = "x", cast("Value | list[Period]", 0)
            number, suffix, word, sign = token.groups()
            start = token.start()
            if word:
                kind, value = vocabulary.get(word, ("x", 0))
                if word in _READ_APART:
                    kind, value = self._word(word, start, kinds)
            elif sign:
                kind = _SIGNS.get(sign, ";")
            else:
                end = token.end()
                if _is_letter(text[start - 1 : start]) or (
                    text[end : end + 1] != "t" and _is_letter(text[end : end + 1])
                ):
                    quarter = _QUARTER.match(text, start - 1) if start else None
                    kind, value = ("Q", int(number) - 1) if quarter else ("x", 0)
                elif number.isdecimal():
                    kind, value = _number(number, suffix)
                elif span := _SPAN.fullmatch(number):
                    if self._add_span(span, start, kinds):
                        continue
                    kind, value = self._figures(number)
                else:
                    kind, value = self._figures(number)
            if kind and not (kind == "x" and kinds and kinds[-1] == "x"):
                kinds.append(kind)
                add((value, start))
        self.kinds = "".join(kinds)

    def _word(self, word: str, start: int, kinds: list[str]) -> tuple[str, Value]:
        """Return the kind of a word that is one of two by what is around it."""
        if word == "morgen":  # tomorrow, or "Morgen": the morning
            is_noun = self.written[start].isupper() and start > 0
            return ("z", 0) if is_noun or (kinds and kinds[-1] in "rz") else ("r", 1)
        if word == "mañana":
            before = self.text[max(0, start - 5) : start]
            is_morning = before.endswith("la ") or before == "esta "
            return ("z", 0) if is_morning else ("r", 1)
        # "hier": yesterday in French, here in German
        return ("r", -1) if self._language() == "romance" else ("x", 0)

    def _language(self) -> str:
        """Return the language of the text; "" if that is not clear."""
        if self._text_language is None:
            self._text_language = self._guessed_language()
        return self._text_language

    def _guessed_language(self) -> str:
        words = set(_WORD.findall(self.text, 0, _LANGUAGE_CHARS))
        counts = {
            "romance": len(words & ROMANCE),
            "german": len(words & GERMAN),
            "english": len(words & ENGLISH),
        }
        best = max(counts, key=lambda name: counts[name])
        is_clear = sorted(counts.values())[-2] < counts[best]
        return best if is_clear else ""

    def _add_span(self, span: re.Match[str], start: int, kinds: list[str]) -> bool:
        """Add "3-7" and "2020-2023" as two numbers; return whether it is that."""
        first, last = (_number(part, "") for part in span.groups())
        if first[0] != last[0] or first[0] not in "nY":
            return False
        for (kind, value), shift in ((first, 0), (("-", 0), 1), (last, 1)):
            kinds.append(kind)
            self.items.append((value, start + shift))
        return True

    def _figures(self, number: str) -> tuple[str, Value | list[Period]]:
        """Return a date in figures; nothing for other numbers, such as versions."""
        dates: list[Period] = []
        if date := _YEAR_FIRST.fullmatch(number):
            year, month, *rest = [int(part) for part in date.groups() if part]
            dates = dated(year, month, rest[0] if rest else None)
        elif date := _DAY_FIRST.fullmatch(number):
            dates = self._day_month(date[1], date[3], int(date[4]), date[2])
        elif date := _SHORT_YEAR.fullmatch(number):
            first, second, short = (part for part in date.groups() if part)
            year = self.today.year // 100 * 100 + int(short)
            year -= 100 if year > self.today.year + 10 else 0
            dates = self._day_month(first, second, year, "/" if date[1] else ".")
        elif date := _MONTH_YEAR.fullmatch(number):
            dates = dated(int(date[2]), int(date[1]), None)
        elif date := _DAY_MONTH.fullmatch(number):
            return "g", dated(None, int(date[2]), int(date[1]))
        return ("D", dates) if dates else ("x", 0)

    def _day_month(self, first: str, second: str, year: int, sign: str) -> list[Period]:
        day_first = dated(year, int(second), int(first))
        month_first = dated(year, int(first), int(second))
        if sign == ".":
            return day_first
        if not day_first or not month_first or day_first == month_first:
            return day_first or month_first
        language = self._language()
        if language in {"german", "romance"}:
            return day_first
        is_american = sign == "/" and not (first + second).startswith("0") and second[0] != "0"
        if is_american and language == "english":
            return month_first
        return [*month_first, *day_first]

    # Patterns

    def _replace(self, pattern: re.Pattern[str]) -> None:
        """Put a period in place of each run of words that a pattern reads as one."""
        if not (matches := list(islice(pattern.finditer(self.kinds), _MOST_MATCHES))):
            return
        kinds: list[str] = []
        items: list[Item] = []
        end = 0
        for match in matches:
            kinds.append(self.kinds[end : match.start()])
            items += self.items[end : match.start()]
            end = match.end()
            read = cast("_Rule", getattr(self, f"_{match.lastgroup}"))
            try:
                periods = read(match.group(), self.items[match.start() : end], match.start())
            except (ValueError, OverflowError):  # outside of the calendar
                periods = []
            if periods is None:
                kinds.append(match.group())
                items += self.items[match.start() : end]
            else:
                kinds.append(_kind_of(match) if periods else "x")
                items.append((periods, self.items[match.start()][1]))
        self.kinds = "".join(kinds) + self.kinds[end:]
        self.items = items + self.items[end:]

    def _complete(self) -> Iterator[Period]:
        """Yield the periods that were read, but for those that are only one end."""
        for at, kind in enumerate(self.kinds):
            if kind not in _APART:
                continue
            before = self.kinds[max(0, at - 2) : at].rstrip("f")[-1:]
            periods = cast("list[Period]", self.items[at][0])
            if before == "S":
                for period in periods:
                    yield from self._since(period)
            elif before not in _APART[kind]:
                yield from periods

    def _since(self, period: Period) -> Iterator[Period]:
        try:
            begins, _ = calendar.bounds(period, self.today)
            ends = self.today + timedelta(days=1)
        except (ValueError, OverflowError):
            return
        if timedelta() < ends - begins <= timedelta(days=_SINCE_DAYS):
            yield Period(begins=begins, ends=ends)

    def _years_alone(self) -> list[Period]:
        """Return the years without a preposition, which is how German names them."""
        items = zip(self.kinds, self.items, strict=True)
        return [
            Period(year=_int(item))
            for at, (kind, item) in enumerate(items)
            if kind == "Y" and not (at and self.kinds[at - 1] in _APART["*"] | {"S"})
        ]

    # One rule for each pattern. It gets the kinds and the items that its pattern has matched, and
    # returns no period for what is no time after all, and None for what stays as it is.

    def _date(self, kinds: str, items: list[Item], _at: int) -> list[Period] | None:
        where = kinds.index("M")
        day = next((_int(items[i]) for i, kind in enumerate(kinds) if kind in "no"), None)
        year = self._year_of(kinds, items)
        word = self._word_at(items[where])
        if kinds[0] != "M" and year is None and "o" not in kinds and "f" not in kinds:
            is_name = word == "may" or ("." in kinds[:where] and word in OTHER_WORDS)
            if is_name and ("." in kinds[:where] or not self._is_upper(items[where])):
                return []
        return dated(year, _int(items[where]), day)

    _of_year = _date

    def _month(self, _kinds: str, items: list[Item], at: int) -> list[Period] | None:
        word = self._word_at(items[0])
        before = self.kinds[at - 1] if at else ""
        if word == "mars" and not self.text.endswith("en ", 0, items[0][1]):
            return []
        is_alone = word in PLAIN_MONTHS and self._is_upper(items[0])
        is_named = (before and before in "ifE") or self.kinds.endswith("E-", 0, at) or is_alone
        return dated(None, _int(items[0]), None) if is_named else []

    def _day_range(self, kinds: str, items: list[Item], at: int) -> list[Period] | None:
        days = [_int(items[i]) for i, kind in enumerate(kinds) if kind in "no"]
        month, year = _int(items[kinds.index("M")]), self._year_of(kinds, items)
        first, last = (dated(year, month, day) for day in days)
        if not (first and last):
            return first or last
        if "&" in kinds and self.kinds[at - 1 : at] != "B":
            return first + last
        return calendar.between(first[0], last[0], self.today)

    _month_days = _day_range

    def _month_range(self, kinds: str, items: list[Item], _at: int) -> list[Period] | None:
        second = kinds.rindex("M")
        last_year = self._year_of(kinds[second:], items[second:])
        first_year = self._year_of(kinds[:second], items[:second])
        first, last = _int(items[0]), _int(items[second])
        if first_year is None and last_year is not None:
            first_year = last_year - (first > last)
        return calendar.between(
            Period(year=first_year, month=first), Period(year=last_year, month=last), self.today
        )

    def _season(self, kinds: str, items: list[Item], _at: int) -> list[Period] | None:
        first = _int(items[kinds.index("s")])
        if (year := self._year_of(kinds, items)) is not None or len(kinds) == 1:
            return calendar.season(first, year, self.today)
        return calendar.near_season(first, self.today, self._relation(kinds, items))

    def _weekday(self, kinds: str, items: list[Item], at: int) -> list[Period] | None:
        index, relation = _int(items[kinds.index("w")]), self._relation(kinds, items)
        if "u" in kinds:
            if items[kinds.index("u")][0] != WEEK:
                return []
            return [calendar.weekday_of_week(self.today, relation, index)]
        if "L" in kinds or "l" in kinds:
            return [calendar.weekday(self.today, index, relation)]
        if kinds != "w":  # a date follows
            return []
        if not self._is_day_named(items[0], at):
            return None
        return [calendar.weekday(self.today, index, direction) for direction in (-1, 1)]

    def _weekend(self, kinds: str, items: list[Item], at: int) -> list[Period] | None:
        if kinds != "W":
            return [calendar.weekend(self.today, self._relation(kinds, items))]
        if not self._is_day_named(items[0], at):
            return None
        return [calendar.weekend(self.today, 0 if self.today.weekday() >= 5 else -1)]

    def _ago(self, kinds: str, items: list[Item], _at: int) -> list[Period] | None:
        if "W" in kinds:
            return [calendar.weekend(self.today, -_count(kinds, items))]
        unit, count = _unit(kinds, items), _count(kinds, items)
        if kinds[-1] == "r" and unit >= MONTH:  # "two years ago today"
            months = count * (12 if unit == YEAR else 1)
            return [calendar.days_from(calendar.months_after(self.today, -months), 0)]
        return [calendar.distant(self.now if unit < 1 else self.today, -count, unit)]

    def _last_few(self, kinds: str, items: list[Item], _at: int) -> list[Period] | None:
        return self._up_to_now(
            self._relation(kinds, items), _count(kinds, items) * _unit(kinds, items)
        )

    def _up_to_now(self, relation: int, days: float) -> list[Period]:
        if days < 1:
            begins = self.now - timedelta(days=days)
            return [Period(begins=begins, ends=self.now)] if relation < 0 else []
        whole = round(days)
        return [calendar.days_from(self.today, -whole if relation <= 0 else 0, whole + 1)]

    def _before_last(self, kinds: str, items: list[Item], _at: int) -> list[Period] | None:
        return self._unit_period(kinds[0], items[0][0], -2)

    def _last(self, kinds: str, items: list[Item], _at: int) -> list[Period] | None:
        at = next(i for i, kind in enumerate(kinds) if kind in "uyhzM")
        relation, item = self._relation(kinds, items), items[at]
        word = self._word_at(items[1 - at])
        if kinds[at] == "M":
            if word == "this" and self._word_at(item) in OTHER_WORDS and not self._is_upper(item):
                return []  # "this may be"
            return [calendar.named_month(self.today, _int(item), relation)]
        if kinds[at] == "h" or (word == "past" and kinds[at] != "z"):
            return self._up_to_now(relation, _unit(kinds, items))
        return self._unit_period(kinds[at], item[0], relation)

    def _unit_period(self, kind: str, unit: object, relation: int) -> list[Period]:
        if kind == "y":
            return dated(self.today.year + relation, None, None)
        if kind == "W":
            return [calendar.weekend(self.today, relation)]
        if kind == "z":
            return [calendar.days_from(self.today, relation)]
        if unit == WEEK:
            return [calendar.week(self.today, relation)]
        if unit == MONTH:
            return [calendar.month(self.today, relation)]
        return [calendar.days_from(self.today, 0)] if unit == 1 and relation == 0 else []

    def _day(self, _kinds: str, items: list[Item], _at: int) -> list[Period] | None:
        return [calendar.days_from(self.today, _int(items[-1]))]

    def _whole(self, _kinds: str, items: list[Item], _at: int) -> list[Period] | None:
        return cast("list[Period]", items[0][0])

    def _quarter(self, kinds: str, items: list[Item], _at: int) -> list[Period] | None:
        year = self._year_of(kinds, items)
        whole = Period(year=year)
        return [calendar.third_of(whole, _int(items[0]), self.today, 4)] if year else []

    def _year(self, _kinds: str, items: list[Item], _at: int) -> list[Period] | None:
        year = _int(items[0])
        return [Period(year=year)] if 1900 <= year <= 2099 else []

    def _third(self, _kinds: str, items: list[Item], _at: int) -> list[Period] | None:
        return [
            calendar.third_of(period, _int(items[0]), self.today) for period in _periods(items[-1])
        ]

    def _nth(self, kinds: str, items: list[Item], _at: int) -> list[Period] | None:
        at = next(i for i, kind in enumerate(kinds) if kind in "uywWQH")
        index = _int(items[0])
        count = _count(kinds[:at], items) if set(kinds[:at]) & {"n", "c", "@"} else 1
        periods: list[Period] = []
        for period in _periods(items[-1]):
            if kinds[at] in "wW":
                number, length = (5, 2) if kinds[at] == "W" else (_int(items[at]), 1)
                periods += calendar.weekday_in(period, index, number, length, self.today)
            elif kinds[at] in "QH":
                parts = 4 if kinds[at] == "Q" else 2
                periods.append(calendar.third_of(period, index % parts, self.today, parts))
            else:
                unit = _unit(kinds, items)
                periods += calendar.week_in(period, index, count, unit, self.today)
        return periods

    def _shift(self, kinds: str, items: list[Item], _at: int) -> list[Period] | None:
        at = next(i for i, kind in enumerate(kinds) if kind in "uyhwW")
        direction = 1 if kinds[at + 1] == "a" else -1
        periods: list[Period] = []
        for period in _periods(items[-1]):
            begins, ends = calendar.bounds(period, self.today)
            day = begins if direction < 0 else ends - timedelta(days=1)
            if kinds[at] in "wW":
                index, length = (5, 2) if kinds[at] == "W" else (_int(items[at]), 1)
                periods.append(calendar.weekday(day, index, direction, length))
            elif at and kinds[:at].rstrip("f") != "@":
                count = _count(kinds[:at], items) * direction
                periods.append(calendar.distant(day, count, max(1, _unit(kinds, items))))
            else:
                unit = _unit(kinds, items)
                periods.append(calendar.beside(period, unit, direction, self.today))
        return periods

    def _around(self, kinds: str, items: list[Item], _at: int) -> list[Period] | None:
        if kinds[0] == "u" and items[0][0] != WEEK:
            return None
        turn = calendar.week if kinds[0] == "u" else calendar.weekend
        whole = [calendar.bounds(period, self.today) for period in _periods(items[-1])]
        if any(ends - begins > timedelta(days=2) for begins, ends in whole):
            return None
        return [turn(begins, 0) for begins, _ in whole]

    def _range(self, kinds: str, items: list[Item], _at: int) -> list[Period] | None:
        first, last = (
            [Period(year=_int(item))] if kind == "Y" else _periods(item)
            for kind, item in zip(kinds, items, strict=True)
            if kind in "*RY"
        )
        return calendar.between(first[0], last[-1], self.today)

    # What rules ask

    def _year_of(self, kinds: str, items: list[Item]) -> int | None:
        """Return the year that is named, also as "last year"."""
        if "Y" in kinds:
            return _int(items[kinds.index("Y")])
        if "y" in kinds:
            return self.today.year + self._relation(kinds, items)
        return None

    @staticmethod
    def _relation(kinds: str, items: list[Item]) -> int:
        return next((_int(items[i]) for i, kind in enumerate(kinds) if kind in "Ll"), 0)

    def _word_at(self, item: Item) -> str:
        word = _WORD.match(self.text, item[1])
        return word.group() if word else ""

    def _is_upper(self, item: Item) -> bool:
        return self.written[item[1] : item[1] + 1].isupper()

    def _is_day_named(self, item: Item, at: int) -> bool:
        """Return whether a weekday stands alone as a day: "on Friday", "el viernes"."""
        word = self._word_at(item)
        if self.text.startswith(_HABITS, item[1] + len(word)):  # "on Tuesday evenings"
            return False
        is_preceded = self.kinds[at - 1 : at] in {"i", "I"}
        return is_preceded or self.text.endswith(("el ", "le "), 0, item[1])


_Rule = Callable[[str, list[Item], int], list[Period] | None]


def _kind_of(match: re.Match[str]) -> str:
    """Return the kind of a period that was read."""
    if match.lastgroup in _RANGE_RULES:
        return "P"
    return "R" if match.lastgroup in _RELATIVE_RULES or "R" in match.group() else "*"


def _int(item: Item) -> int:
    return int(cast("float", item[0]))


def _periods(item: Item) -> list[Period]:
    return cast("list[Period]", item[0])


def _unit(kinds: str, items: list[Item]) -> float:
    at = next(i for i, kind in enumerate(kinds) if kind in "uyh")
    return YEAR if kinds[at] == "y" else cast("float", items[at][0])


def _count(kinds: str, items: list[Item]) -> int:
    """Return the last number of "a couple of" or "three"; an article is 1."""
    counts = [_int(items[i]) for i, kind in enumerate(kinds) if kind in "nc"]
    return counts[-1] if counts else 1


def _number(digits: str, suffix: str | None) -> tuple[str, Value]:
    if len(digits) == 4 and "1800" <= digits <= "2199":
        return "Y", int(digits)
    if len(digits) > 3:
        return "x", 0
    return ("o" if suffix else "n"), int(digits)


def _is_letter(sign: str) -> bool:
    """Return whether a sign makes a number next to it part of a word; Chinese ones do not."""
    return sign.isalpha() and sign < "\u2e80"

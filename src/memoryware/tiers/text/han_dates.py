"""Dates and periods in Chinese and Japanese, such as 去年5月, 三周前 and 先週の金曜日."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from memoryware.tiers.text import periods as calendar
from memoryware.tiers.text.periods import MONTH, WEEK, YEAR, Period, dated

_DIGITS: Final = {sign: value for value, sign in enumerate("〇一二三四五六七八九")} | {
    "零": 0,
    "两": 2,
    "兩": 2,
    "几": 3,
    "幾": 3,
    "数": 3,
    "數": 3,
}
_UNITS: Final = {
    **dict.fromkeys(("天", "日"), 1.0),
    **dict.fromkeys(("周", "週", "星期", "礼拜", "禮拜"), WEEK),
    "月": MONTH,
    "年": YEAR,
    **dict.fromkeys(("小时", "小時", "時間"), 1 / 24),
}
_YEARS: Final = {
    **dict.fromkeys(("大前年",), -3),
    **dict.fromkeys(("前年", "一昨年"), -2),
    **dict.fromkeys(("去年", "昨年"), -1),
    **dict.fromkeys(("今年", "本年"), 0),
    **dict.fromkeys(("明年", "来年", "來年"), 1),
    **dict.fromkeys(("后年", "後年", "再来年"), 2),
}
_MONTHS: Final = {
    **dict.fromkeys(("上上个月", "上上個月", "先々月"), -2),
    **dict.fromkeys(("上个月", "上個月", "上月", "先月"), -1),
    **dict.fromkeys(("这个月", "這個月", "本月", "今月"), 0),
    **dict.fromkeys(("下个月", "下個月", "下月", "来月", "來月"), 1),
}
_DAYS: Final = {
    **dict.fromkeys(("大前天",), -3),
    **dict.fromkeys(("前天", "一昨日", "おととい"), -2),
    **dict.fromkeys(("昨天", "昨日", "昨晚", "昨夜", "きのう"), -1),
    **dict.fromkeys(("今天", "今日", "今晚", "今早", "今夜", "きょう"), 0),
    **dict.fromkeys(("明天", "明日"), 1),
    **dict.fromkeys(("后天", "後天", "明後日"), 2),
}
_WEEKS: Final = {
    **dict.fromkeys(("上上", "先々"), -2),
    **dict.fromkeys(("上", "先"), -1),
    **dict.fromkeys(("这", "這", "本", "今"), 0),
    **dict.fromkeys(("下", "来", "來"), 1),
}
_WEEKDAYS: Final = (
    {sign: at for at, sign in enumerate("一二三四五六日")}
    | {"天": 6}
    | {sign: at for at, sign in enumerate("月火水木金土")}
)
_SEASONS: Final = {"春": 3, "夏": 6, "秋": 9, "冬": 12}
_PARTS: Final = {
    **dict.fromkeys(("初", "头", "上旬", "初め", "はじめ"), (0, 3)),
    **dict.fromkeys(("中", "中旬", "半ば"), (1, 3)),
    **dict.fromkeys(("底", "末", "下旬", "終わり"), (2, 3)),
    "上半年": (0, 2),
    "下半年": (1, 2),
}


def _any(words: Mapping[str, object]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_FEW: Final = r"\d{1,3}|[一二两兩三四五六七八九十]{1,3}|[几幾数數]"
_UNIT: Final = "天|日|周|週|星期|礼拜|禮拜|月|年"
_EACH: Final = "[个個か月ヶカケ]?"
"""What stands between a number and its unit."""
_DATE: Final = re.compile(
    rf"(?=[\d〇零一二三四五六七八九十大前一去昨今本明来來后後再上先这這下])(?:(?:(?P<year>\d{{4}}|[〇零一二三四五六七八九]{{4}})\s?年|(?<![十百千几幾数數])(?P<ryear>{_any(_YEARS)}))"
    r"\s?[的の]?\s?)?"
    rf"(?:(?:(?P<month>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])\s?月份?"
    rf"|(?P<rmonth>{_any(_MONTHS)}))\s?[的の]?\s?)?"
    r"(?:(?P<day>\d{1,2}|[一二三四五六七八九十]{1,3})\s?[日号號]"
    r"(?:\s?(?:到|至|から|[-–—~〜～])\s?(?P<until>\d{1,2}|[一二三四五六七八九十]{1,3})\s?[日号號])?)?"
)
"""A year, a month and a day, each or none; without a year or month it is no date."""
_TAIL: Final = re.compile(
    r"\s?[的の]?(?:"
    r"(?P<part>[上下]半年|年?[初底末]|年中|[上中下]旬|月[初中底末]|初め(?!て)|はじめ(?!て)|半ば|終わり)"
    r"|(?P<season>[春夏秋冬])(?![节節])[天季]?"
    r"|(?:第(?P<nth>[一二三四五1-5])|最[后後](?:[のに])?(?P<last>[一二三两两]?))[个個]?"
    r"(?P<nunit>周末|週末|周|週|星期|礼拜|禮拜|天|日|季度)"
    rf"|[之以]?(?P<side>[前后後])[的の]?(?P<count>{_FEW}){_EACH}(?P<unit>{_UNIT})"
    rf"|[之以]?(?P<count2>{_FEW}){_EACH}(?P<unit2>{_UNIT})[间間]?[之以の]?(?P<side2>[前后後])"
    r"|(?P<end>[之以]?(?:前(?![往去来來])|[后後])|以来|以來|为止|為止|起(?![床来來])|まで|より|から(?!\d))"
    r")"
)
_AGO: Final = re.compile(
    rf"(?P<recent>最近的?|过去的?|過去の?|近|ここ)?(?P<count>半|{_FEW}){_EACH}"
    rf"(?P<unit>{_UNIT}|小时|小時|時間)[间間]?(?P<side>[之以]?前)?"
)
_WORD: Final = re.compile(
    rf"(?P<day>{_any(_DAYS)})(?!だい)"
    rf"|(?P<week>{_any(_WEEKS)})(?:一?[个個])?(?:周|週|星期|礼拜|禮拜)の?"
    r"(?:(?P<end>末)|(?P<weekday>[一二三四五六日天](?![个個])|[月火水木金土日]曜日?))?"
    r"|(?<![每毎])(?P<recent>周末|週末)"
    r"|(?<![每毎])(?:星期|礼拜|禮拜|周)(?P<alone>[一二三四五六日天])(?![个個到至])"
    r"|(?<![每毎])(?P<youbi>[月火水木金土日])曜日?"
)
_SEASON: Final = re.compile(r"([春夏秋冬])(?:[天季]|(?=に))")
_TO: Final = re.compile(r"\s?(?:到|至|から|[-–—~〜～])\s?")
_WITH: Final = re.compile(r"\s?[和与與跟と]\s?")
_BETWEEN: Final = re.compile(r"\s?[之の]?[间間]")

_WIDE: Final = {0xFF10 + figure: str(figure) for figure in range(10)}
"""Figures as wide as Chinese characters."""
_MOST_MATCHES: Final = 1024
"""Matches at most that are looked at for each form."""
_UNTIL: Final = frozenset({"まで", "为止", "為止"})


@dataclass(slots=True)
class _NamedTime:
    """Part of a text that names periods.

    Attributes:
        start: Where it begins.
        end: Where it ends.
        periods: The periods.
        bound: A word after it that makes it one end of a period: 以前.
    """

    start: int
    end: int
    periods: list[Period]
    bound: str = ""


def han_periods(text: str, now: datetime) -> list[Period]:
    """Return the periods that a text names in Chinese or Japanese.

    Args:
        text: The text.
        now: The moment from which relative times count.

    Returns:
        The periods.
    """
    text = text.translate(_WIDE)
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    spans: list[_NamedTime] = []
    covered = bytearray(len(text))
    for pattern, read in ((_DATE, _date), (_AGO, _ago), (_WORD, _word), (_SEASON, _season)):
        for match in islice(pattern.finditer(text), _MOST_MATCHES):
            start, end = match.span()
            if start == end or any(covered[start:end]):
                continue
            try:
                span = read(match, today, now)
            except (ValueError, OverflowError):  # outside of the calendar
                span = _NamedTime(start, end, [])
            if span is not None:
                spans.append(span)
                covered[start : span.end] = b"\1" * (span.end - start)
    spans.sort(key=lambda span: span.start)
    return _joined(text, spans, today)


def _joined(text: str, spans: list[_NamedTime], today: datetime) -> list[Period]:
    """Return the periods, with "from ... to ..." as one."""
    periods: list[Period] = []
    at = 0
    while at < len(spans):
        span, after = spans[at], spans[at + 1] if at + 1 < len(spans) else None
        at += 1
        if after is not None and span.periods and after.periods and not span.bound:
            gap = text[span.end : after.start]
            is_range = _TO.fullmatch(gap) is not None or (
                _WITH.fullmatch(gap) is not None and _BETWEEN.match(text, after.end) is not None
            )
            if is_range and (not after.bound or after.bound in _UNTIL):
                periods += _range(span.periods[0], after.periods[-1], today)
                at += 1
                continue
        if not span.bound:
            periods += span.periods
    return periods


def _range(first: Period, last: Period, today: datetime) -> list[Period]:
    try:
        return calendar.between(first, last, today)
    except (ValueError, OverflowError):
        return [first, last]


def _date(match: re.Match[str], today: datetime, _: datetime) -> _NamedTime | None:
    year = _int(match["year"]) if match["year"] else None
    if match["ryear"]:
        year = today.year + _YEARS[match["ryear"]]
    month = _int(match["month"]) if match["month"] else None
    if match["rmonth"]:
        whole = calendar.month(today, _MONTHS[match["rmonth"]])
        year, month = whole.year, whole.month
    if year is None and month is None:
        return None
    day = _int(match["day"]) if match["day"] else None
    periods = dated(year, month, day)
    if periods and match["until"]:
        last = dated(year, month, _int(match["until"]))
        periods = _range(periods[0], last[0], today) if last else periods
    span = _NamedTime(match.start(), match.end(), periods)
    tail = _TAIL.match(match.string, match.end())
    if tail is not None and periods:
        _apply(tail, span, today, is_range=bool(match["until"]))
    return span


def _apply(tail: re.Match[str], span: _NamedTime, today: datetime, *, is_range: bool) -> None:
    """Apply what follows a date: its part, a season, a week of it, a distance from it."""
    period = span.periods[0]
    if part := tail["part"]:
        third, parts = _PARTS[part if part in _PARTS else part[1:]]
        span.periods = [calendar.third_of(period, third, today, parts)]
    elif tail["season"]:
        if period.month is not None or period.year is None:
            return
        span.periods = calendar.season(_SEASONS[tail["season"]], period.year, today)
    elif unit := tail["nunit"]:
        index = _int(tail["nth"]) - 1 if tail["nth"] else -1
        if unit in {"周末", "週末"}:
            span.periods = calendar.weekday_in(period, index, 5, 2, today)
        elif unit == "季度":
            span.periods = [calendar.third_of(period, index % 4, today, 4)]
        else:
            count = _int(tail["last"]) if tail["last"] else 1
            span.periods = calendar.week_in(period, index, count, _UNITS[unit], today)
    elif side := tail["side"] or tail["side2"]:
        begins, ends = calendar.bounds(period, today)
        count = _int(tail["count"] or tail["count2"])
        moment = begins if side == "前" else ends - timedelta(days=1)
        signed = -count if side == "前" else count
        span.periods = [calendar.distant(moment, signed, _UNITS[tail["unit"] or tail["unit2"]])]
    else:
        span.bound = tail["end"]
        if span.bound in _UNTIL and is_range:
            span.bound = ""
    span.end = tail.end()


def _ago(match: re.Match[str], today: datetime, now: datetime) -> _NamedTime | None:
    unit = _UNITS[match["unit"]]
    is_month = match["unit"] != "月" or match.end("count") < match.start("unit")
    if not (match["side"] or match["recent"]) or not is_month:
        return None
    count = 0.5 if match["count"] == "半" else float(_int(match["count"]))
    if unit == YEAR and count < 1:
        count, unit = 6.0, MONTH
    elif count < 1:
        count, unit = round(count * unit), 1.0
    if match["side"]:
        period = calendar.distant(now if unit < 1 else today, -count, unit)
    elif unit < 1:
        period = Period(begins=now - timedelta(days=count * unit), ends=now)
    else:
        whole = round(count * unit)
        period = calendar.days_from(today, -whole, whole + 1)
    return _NamedTime(match.start(), match.end(), [period])


def _word(match: re.Match[str], today: datetime, _: datetime) -> _NamedTime | None:
    if match["day"]:
        periods = [calendar.days_from(today, _DAYS[match["day"]])]
    elif match["week"]:
        offset = _WEEKS[match["week"]]
        periods = [calendar.week(today, offset)]
        if match["end"]:
            periods = [calendar.weekend(today, offset)]
        elif match["weekday"]:
            index = _WEEKDAYS[match["weekday"][0]]
            periods = [calendar.weekday_of_week(today, offset, index)]
    elif match["recent"]:
        periods = [calendar.weekend(today, 0 if today.weekday() >= 5 else -1)]
    else:
        index = _WEEKDAYS[match["alone"] or match["youbi"]]
        periods = [calendar.weekday(today, index, direction) for direction in (-1, 1)]
    return _NamedTime(match.start(), match.end(), periods)


def _season(match: re.Match[str], today: datetime, _: datetime) -> _NamedTime | None:
    return _NamedTime(match.start(), match.end(), calendar.season(_SEASONS[match[1]], None, today))


def _int(signs: str) -> int:
    """Return the value of a number in figures or in Chinese characters."""
    if signs.isdecimal():
        return int(signs)
    tens, ten, ones = signs.partition("十")
    if ten:
        return (_DIGITS[tens[0]] if tens else 1) * 10 + (_DIGITS.get(ones[:1], 0) if ones else 0)
    if len(signs) == 4:
        return int("".join(str(_DIGITS[sign]) for sign in signs))
    return _DIGITS[signs[0]]

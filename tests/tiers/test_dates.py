"""The days that a question or a memory names, and the order that a question asks for."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryware.tiers.text.date_words import VOCABULARY
from memoryware.tiers.text.dates import Period, mentioned_periods, periods_of, time_order_of
from memoryware.tiers.text.periods import bounds

NOW = datetime(2026, 11, 28, 18, 0, tzinfo=UTC)  # a Saturday


def day(text: str) -> datetime:
    return datetime.fromisoformat(f"{text}T10:00:00+00:00")


@pytest.mark.parametrize(
    ("question", "inside", "outside"),
    [
        ("What did Ann do on 7 May 2023?", "2023-05-07", "2023-05-08"),
        ("Where was Bob on May 7th, 2023?", "2023-05-07", "2023-06-07"),
        ("What was decided on 2023-05-07?", "2023-05-07", "2023-05-09"),
        ("What happened in May 2023?", "2023-05-31", "2022-05-31"),
        ("Which book did she read in may?", "2021-05-03", "2021-06-03"),
        ("What did he cook on the 3rd of July?", "2025-07-03", "2025-07-04"),
        ("Who came in 2022?", "2022-01-01", "2023-01-01"),
        ("What was new in Sept. 2024?", "2024-09-30", "2024-10-01"),
        ("What did I say yesterday?", "2026-11-27", "2026-11-28"),
        ("What have we done today?", "2026-11-28", "2026-11-27"),
        ("What did I eat three weeks ago?", "2026-11-07", "2026-11-20"),
        ("Who called 2 days ago?", "2026-11-26", "2026-11-24"),
        ("What happened July?", "2024-07-03", "2024-06-03"),
        ("What will we do this December?", "2026-12-10", "2025-12-10"),
        ("Where was she on 2 May?", "2024-05-02", "2024-05-03"),
        ("Where did we go last May?", "2026-05-10", "2025-05-10"),
        ("What was decided last December?", "2025-12-10", "2026-11-10"),
        ("What did we plan last month?", "2026-10-31", "2026-11-01"),
        ("What was said last week?", "2026-11-22", "2026-11-23"),
        ("And this week?", "2026-11-23", "2026-11-22"),
        ("How was it last year?", "2025-06-01", "2026-06-01"),
        ("What did Tom tell me last Friday?", "2026-11-27", "2026-11-20"),
        ("2023\u5e745\u67087\u65e5\u53d1\u751f\u4e86\u4ec0\u4e48", "2023-05-07", "2023-05-08"),
        ("\u53bb\u5e745\u6708", "2025-05-20", "2023-05-20"),
    ],
)
def test_a_moment_is_inside_what_a_question_names(question, inside, outside):
    found = periods_of(question, NOW)
    assert found
    assert any(one.has(day(inside)) for one in found)
    assert not any(one.has(day(outside)) for one in found)


@pytest.mark.parametrize(
    "question",
    [
        "",
        "May I ask where the orders are?",
        "You may march on.",
        "Who won 3 of 7 games?",
        "What is 2023 times 2?",
        "Is the limit 10-20 rows?",
        "Order 1234-99-77",
        "Which of the 7 may be used?",
        "Is May 7 years old?",
        "Who met April and May?",
        "What was decided before 2023, and after May 2023?",
        "What has changed since 2023-05-07?",
        "Call 5551-05-07",
        "What did Mar say?",
        "In month 13/2023?",
        "How long does it take, 5 days?",
        "What happened 999 years ago years ago 99999999999999999999 days ago?",
    ],
)
def test_a_question_without_a_time_names_none_that_could_mislead(question):
    found = periods_of(question, NOW)
    assert not any(one.has(day(f"{year}-05-07")) for one in found for year in (2023, 2026))


def test_a_year_before_there_were_any_is_no_period():
    assert periods_of("What was 999 years ago?", datetime(900, 1, 1, tzinfo=UTC)) == []


def shown(period: Period) -> str:
    """A period as "2026-05-*", or as the first and the last day of it."""
    if period.begins is not None and period.ends is not None:
        last = period.ends - timedelta(seconds=1)
        return f"{period.begins:%Y-%m-%d}..{last:%Y-%m-%d}"
    return f"{period.year or '*'}-{period.month or '*'}-{period.day or '*'}"


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("am 16.01.2024 war es kalt", "2024-1-16"),
        ("3/15/2024?", "2024-3-15"),
        ("What happened on 3/5/2024?", "2024-3-5"),
        ("Was war am 3/5/2024?", "2024-5-3"),
        ("03/05/2024", "2024-3-5 2024-5-3"),
        ("2023-05-07T10:00", "2023-5-7"),
        ("在2023-05-07做了什么", "2023-5-7"),
        ("letzten Mai", "2026-5-*"),
        ("vor drei Wochen", "2026-11-04..2026-11-10"),
        ("gestern", "2026-11-27..2026-11-27"),
        ("vorgestern", "2026-11-26..2026-11-26"),
        ("im Sommer 2023", "2023-06-01..2023-08-31"),
        ("Anfang 2024", "2024-01-01..2024-04-30"),
        ("el mes pasado", "2026-10-*"),
        ("hace tres semanas", "2026-11-04..2026-11-10"),
        ("anteayer", "2026-11-26..2026-11-26"),
        ("in summer 2023", "2023-06-01..2023-08-31"),
        ("what did we do last weekend?", "2026-11-21..2026-11-22"),
        ("in early 2024", "2024-01-01..2024-04-30"),
        ("in mid 2024", "2024-05-01..2024-08-31"),
        ("in late 2024", "2024-09-01..2024-12-31"),
        ("mid-2024", "2024-05-01..2024-08-31"),
        ("in late May 2023", "2023-05-22..2023-05-31"),
        ("three weeks before May 7, 2023", "2023-04-13..2023-04-19"),
        ("three weeks before 2023-05-07", "2023-04-13..2023-04-19"),
        ("the week after 7 May 2023", "2023-05-08..2023-05-14"),
        ("between March and May", "*-3-* *-4-* *-5-*"),
        ("between March and May 2023", "2023-03-01..2023-05-31"),
        ("zwischen März und Mai 2023", "2023-03-01..2023-05-31"),
        ("entre marzo y mayo de 2023", "2023-03-01..2023-05-31"),
        ("in the last week of August 2023", "2023-08-25..2023-08-31"),
        ("the day before yesterday", "2026-11-26..2026-11-26"),
        ("first week of 2024", "2024-01-01..2024-01-07"),
        ("2 days after 5 May 2023", "2023-05-07..2023-05-07"),
        ("What did Tom say the week before last?", "2026-11-09..2026-11-15"),
        ("in the past two weeks", "2026-11-14..2026-11-28"),
        ("im letzten Monat", "2026-10-*"),
        ("letzte Woche Freitag", "2026-11-20..2026-11-20"),
        ("Was ist 2023 passiert?", "2023-*-*"),
        ("el viernes pasado", "2026-11-27..2026-11-27"),
        ("el 7 de mayo de 2023", "2023-5-7"),
        ("a principios de 2024", "2024-01-01..2024-04-30"),
        ("a finales de mayo del año pasado", "2025-05-22..2025-05-31"),
        ("il y a trois semaines", "2026-11-04..2026-11-10"),
        ("avant-hier", "2026-11-26..2026-11-26"),
        ("Qu'est-ce que j'ai dit hier ?", "2026-11-27..2026-11-27"),
        ("la semaine dernière", "2026-11-16..2026-11-22"),
        ("en mai dernier", "2026-5-*"),
        ("去年5月", "2025-5-*"),
        ("三周前", "2026-11-04..2026-11-10"),
        ("上周五", "2026-11-20..2026-11-20"),
        ("2024年初", "2024-01-01..2024-04-30"),
        ("最近三个月", "2026-08-29..2026-11-28"),
        ("2023年夏天", "2023-06-01..2023-08-31"),
        ("2023年8月的最后一周", "2023-08-25..2023-08-31"),
        ("2023年3月到5月", "2023-03-01..2023-05-31"),
        ("2023年5月7日前三天", "2023-05-04..2023-05-04"),
        ("半年前", "2026-05-13..2026-06-12"),
        ("3日前", "2026-11-25..2026-11-25"),
        ("先週の金曜日", "2026-11-20..2026-11-20"),
        ("昨日何を食べた", "2026-11-27..2026-11-27"),
        ("先月はじめて黒字になった", "2026-10-*"),
        ("昨天我去了", "2026-11-27..2026-11-27"),
        ("前天", "2026-11-26..2026-11-26"),
        ("3月和5月之间", "*-3-* *-4-* *-5-*"),
        ("3.-7. Mai 2023", "2023-05-03..2023-05-07"),
        ("May 3-7, 2023", "2023-05-03..2023-05-07"),
        ("morgen", "2026-11-29..2026-11-29"),
        ("heute Morgen", "2026-11-28..2026-11-28"),
        ("esta mañana", "2026-11-28..2026-11-28"),
        ("mañana", "2026-11-29..2026-11-29"),
        ("am Montag", "2026-11-23..2026-11-23 2026-11-30..2026-11-30"),
        ("on Friday", "2026-11-27..2026-11-27 2026-12-04..2026-12-04"),
        ("Q1 2024", "2024-01-01..2024-03-31"),
        ("first quarter of 2024", "2024-01-01..2024-03-31"),
        ("first Monday of May 2023", "2023-05-01..2023-05-01"),
        ("the Sunday before 25 May 2023", "2023-05-21..2023-05-21"),
        ("the last two weeks of August 2023", "2023-08-18..2023-08-31"),
        ("in May last year", "2025-5-*"),
        ("last year in May", "2025-5-*"),
        ("Mitte Mai 2023", "2023-05-11..2023-05-21"),
        ("Ende letzten Jahres", "2025-09-01..2025-12-31"),
        ("vorletzte Woche", "2026-11-09..2026-11-15"),
        ("the week of 7 May 2023", "2023-05-01..2023-05-07"),
        ("drei Wochen vor dem 5. Mai 2023", "2023-04-11..2023-04-17"),
        ("tres semanas antes del 5 de mayo de 2023", "2023-04-11..2023-04-17"),
        ("in 2023, what did we do in May?", "2023-5-*"),
        ("last night", "2026-11-27..2026-11-27"),
        ("What has changed since last Monday?", "2026-11-23..2026-11-28"),
        ("in den letzten drei Wochen", "2026-11-07..2026-11-28"),
        ("letzten Sommer", "2026-06-01..2026-08-31"),
        ("el verano pasado", "2026-06-01..2026-08-31"),
        ("vor zwölf Tagen", "2026-11-16..2026-11-16"),
        ("hace doce días", "2026-11-16..2026-11-16"),
        ("twelve days ago", "2026-11-16..2026-11-16"),
        ("十二天前", "2026-11-16..2026-11-16"),
        ("between 3 May and 7 June 2023", "2023-05-03..2023-06-07"),
        ("between 3 May and 7 June", "2026-05-03..2026-06-07"),
        ("a couple of weeks ago", "2026-11-11..2026-11-17"),
        ("from 3 to 7 May 2023", "2023-05-03..2023-05-07"),
        ("from 2020 to 2022", "2020-01-01..2022-12-31"),
        ("between 2020 and 2022", "2020-01-01..2022-12-31"),
        ("2020-2022", "2020-01-01..2022-12-31"),
        ("de marzo a mayo de 2023", "2023-03-01..2023-05-31"),
        ("von März bis Mai 2023", "2023-03-01..2023-05-31"),
        ("from March to May 2023", "2023-03-01..2023-05-31"),
        ("notes from last week", "2026-11-16..2026-11-22"),
        ("from yesterday to today", "2026-11-27..2026-11-28"),
        ("What did I say in the middle of last month", "2026-10-11..2026-10-21"),
        ("first half of 2023", "2023-01-01..2023-06-30"),
        ("second week of March 2024", "2024-03-08..2024-03-14"),
        ("last Monday of May 2023", "2023-05-29..2023-05-29"),
        ("over the weekend", "2026-11-28..2026-11-29"),
        ("el fin de semana pasado", "2026-11-21..2026-11-22"),
        ("am Wochenende", "2026-11-28..2026-11-29"),
        ("nächsten Freitag", "2026-12-04..2026-12-04"),
        ("next week", "2026-11-30..2026-12-06"),
        ("tomorrow", "2026-11-29..2026-11-29"),
        ("übermorgen", "2026-11-30..2026-11-30"),
        ("pasado mañana", "2026-11-30..2026-11-30"),
        ("antes de ayer", "2026-11-26..2026-11-26"),
        ("vor einem Jahr", "2025-05-30..2026-05-29"),
        ("hace un año", "2025-05-30..2026-05-29"),
        ("two years ago today", "2024-11-28..2024-11-28"),
        ("three days after yesterday", "2026-11-30..2026-11-30"),
        ("the week before yesterday", "2026-11-20..2026-11-26"),
        ("the month after May 2023", "2023-06-01..2023-06-30"),
        ("the day after 28 February 2023", "2023-03-01..2023-03-01"),
        ("the 3rd of July", "*-7-3"),
        ("15 de agosto", "*-8-15"),
        ("15. August 2023", "2023-8-15"),
        ("on 1.2.2024 or 3.4.2024", "2024-2-1 2024-4-3"),
        ("am 3.5. um", "*-5-3"),
        ("vom 3.5. bis 7.5.2023", "2023-05-03..2023-05-07"),
        ("05/2023", "2023-5-*"),
        ("2023/05/07", "2023-5-7"),
        ("10/11/12", "2012-10-11 2012-11-10"),
        ("3/15/24", "2024-3-15"),
        ("16.01.24", "2024-1-16"),
        ("in the winter of 2023", "2023-12-01..2024-02-29 2023-01-01..2023-02-28"),
        ("last winter", "2025-12-01..2026-02-28"),
        ("this summer", "2026-06-01..2026-08-31"),
        ("in fall 2023", "2023-09-01..2023-11-30"),
        ("été 2023", "2023-06-01..2023-08-31"),
        ("in the spring", "*-3-* *-4-* *-5-*"),
        ("im Sommer", "*-6-* *-7-* *-8-*"),
        ("en verano", "*-6-* *-7-* *-8-*"),
        ("last May", "2026-5-*"),
        ("this May", "2026-5-*"),
        ("next May", "2027-5-*"),
        ("May last year", "2025-5-*"),
        ("in 1999", "1999-*-*"),
        ("last 7 days", "2026-11-21..2026-11-28"),
        ("in the last few months", "2026-08-29..2026-11-28"),
        ("letzte Nacht", "2026-11-27..2026-11-27"),
        ("anoche", "2026-11-27..2026-11-27"),
        ("heute Abend", "2026-11-28..2026-11-28"),
        ("2023年3月5日到7日", "2023-03-05..2023-03-07"),
        ("3月5日から7日まで", "2026-03-05..2026-03-07"),
        ("从3月到5月", "*-3-* *-4-* *-5-*"),
        ("最近一周", "2026-11-21..2026-11-28"),
        ("上个周末", "2026-11-21..2026-11-22"),
        ("上个月底", "2026-10-22..2026-10-31"),
        ("明年春天", "2027-03-01..2027-05-31"),
        ("周末去了哪里", "2026-11-28..2026-11-29"),
        ("星期三", "2026-11-25..2026-11-25 2026-12-02..2026-12-02"),
        ("5月7日之后一周", "2026-05-11..2026-05-17"),
        ("昨年の夏", "2025-06-01..2025-08-31"),
        ("先月", "2026-10-*"),
        ("二ヶ月前", "2026-09-13..2026-10-13"),
        ("两三天前", "2026-11-26..2026-11-26"),
        ("去年冬天", "2025-12-01..2026-02-28 2025-01-01..2025-02-28"),
        ("2023年第一季度", "2023-01-01..2023-03-31"),
        ("二〇二三年五月七日", "2023-5-7"),
        ("十二月二十五日", "*-12-25"),
        ("２０２３年５月", "2023-5-*"),
        ("What did I do last week?", "2026-11-16..2026-11-22"),
        ("since yesterday", "2026-11-27..2026-11-28"),
        ("quelle est la semaine prochaine", "2026-11-30..2026-12-06"),
        ("en mars 2023", "2023-3-*"),
        ("le 7 mai 2023", "2023-5-7"),
        ("Mars in 2023", "2023-3-*"),
        ("in march", "*-3-*"),
        ("What did I do the first weekend of June 2023?", "2023-06-03..2023-06-04"),
        ("Ende Mai", "*-5-*"),
        ("el 3/5/2024", "2024-5-3"),
        ("What was said two weekends ago?", "2026-11-14..2026-11-15"),
    ],
)
def test_a_question_names_exactly_these_periods(question, named):
    assert " ".join(shown(period) for period in periods_of(question, NOW)) == named


@pytest.mark.parametrize(
    "question",
    [
        "Wo ist hier das Bad?",
        "Guten Morgen, Anna",
        "every Friday",
        "I sing on Tuesday evenings",
        "Er füttert ihn seit 1987, und ich nicht",
        "三人きょうだいだと役割が分かれる",
        "撂下了二十来年",
        "los viernes",
        "this may be wrong",
        "an increase of 3.5. So",
        "version 1.2.24 or 10.2.16.01",
        "2月30日",
        "30 February 2023",
        "31/04/2023",
        "29/02/2023",
        "they fall in love",
        "2023年以前",
        "What did we do on the first day of the trip?",
        "bis gestern",
        "What is on Mars?",
        "Who met April and May?",
    ],
)
def test_what_is_no_time_names_no_period(question):
    assert periods_of(question, NOW) == []


def test_letters_that_are_written_in_two_signs_are_read_as_one():
    assert periods_of("im Ma\u0308rz 2023", NOW) == [Period(year=2023, month=3)]


@pytest.mark.parametrize(
    ("text", "spoken_of"),
    [
        ("Yesterday I went bowling.", "2023-05-04..2023-05-04"),
        ("Gestern war ich kegeln.", "2023-05-04..2023-05-04"),
        ("Ayer fui a jugar a los bolos.", "2023-05-04..2023-05-04"),
        ("昨天我去打保龄球了。", "2023-05-04..2023-05-04"),
        ("I start my new job next week.", "2023-05-08..2023-05-14"),
        ("Tomorrow I see the dentist.", "2023-05-06..2023-05-06"),
        ("We moved here in 2019.", "2019-*-*"),
        ("I was born on 29 February.", "2020-02-29..2020-02-29 2024-02-29..2024-02-29"),
        ("We married in June.", "2022-06-01..2022-06-30 2023-06-01..2023-06-30"),
        ("I like bowling.", ""),
    ],
)
def test_a_text_speaks_of_times_relative_to_when_it_was_said(text, spoken_of):
    said_at = datetime(2023, 5, 5, 20, 0, tzinfo=UTC)
    assert " ".join(shown(period) for period in mentioned_periods(text, said_at)) == spoken_of


def test_a_question_about_a_day_meets_the_text_of_the_day_after():
    spoken_of = mentioned_periods("Yesterday I went bowling", datetime(2023, 5, 5, 9, tzinfo=UTC))
    (asked,) = periods_of("What did I do on 4 May 2023?", NOW)
    (another,) = periods_of("What did I do on 5 May 2023?", NOW)
    assert [asked.overlaps(period) for period in spoken_of] == [True]
    assert [another.overlaps(period) for period in spoken_of] == [False]


@pytest.mark.parametrize(
    ("first", "second", "do_overlap"),
    [
        ("May 2023", "7 May 2023", True),
        ("in 2023", "May 2023", True),
        ("in May", "7 May 2023", True),
        ("in May", "7 June 2023", False),
        ("in May", "in May", True),
        ("on 7 May", "on 8 May", False),
        ("on 7 May", "in May", True),
        ("in May", "in summer 2023", False),
        ("in December", "between November 2022 and January 2023", True),
        ("29 February", "in 2023", False),
        ("29 February", "in 2024", True),
        ("yesterday", "last weekend", False),
        ("yesterday", "this week", True),
    ],
)
def test_periods_overlap_both_ways(first, second, do_overlap):
    (one,), (other,) = periods_of(first, NOW), periods_of(second, NOW)
    assert one.overlaps(other) is do_overlap
    assert other.overlaps(one) is do_overlap


@pytest.mark.parametrize(
    ("text", "days"),
    [("yesterday", 1), ("May 2023", 31), ("in 2024", 366), ("in February", 29), ("last week", 7)],
)
def test_a_period_says_how_long_it_is(text, days):
    assert [period.days for period in periods_of(text, NOW)] == [days]


@pytest.mark.parametrize(
    ("query", "order"),
    [
        ("When did I first meet Bob?", "oldest"),
        ("When did Caroline first visit Paris?", "oldest"),
        ("Who first told me about it?", "oldest"),
        ("Which museum did we visit first?", "oldest"),
        ("What was the first thing I asked?", "oldest"),
        ("What is my earliest note on it?", "oldest"),
        ("Wann war ich zum ersten Mal in Berlin?", "oldest"),
        ("Was haben wir zuerst besprochen?", "oldest"),
        ("¿Cuándo fue la primera vez que fui al cine?", "oldest"),
        ("Quand est la première fois ?", "oldest"),
        ("我第一次去北京是什么时候", "oldest"),
        ("初めて京都に行ったのはいつ", "oldest"),
        ("When did I last see Tom?", "newest"),
        ("What was the most recent movie?", "newest"),
        ("When was the last time we met?", "newest"),
        ("What is my address now?", "newest"),
        ("Which team does she currently lead?", "newest"),
        ("What have I read recently?", None),
        ("What is the latest status?", "newest"),
        ("Wo wohnt Anna inzwischen?", "newest"),
        ("Wann war das letzte Mal?", "newest"),
        ("¿Cuándo fue la última vez?", "newest"),
        ("¿Dónde vive Ana ahora?", "newest"),
        ("我现在住在哪里", "newest"),
        ("最近在看什么书", None),
        ("上次见面是什么时候", "newest"),
        ("最後に会ったのはいつ", "newest"),
        ("What is Tom's first name?", None),
        ("What did we do on the first day of the trip?", None),
        ("What did I do last week?", None),
        ("When was last May's party?", None),
        ("How long did it last?", None),
        ("最近三个月我做了什么", None),
        ("What was the first time, and what the last time?", None),
        ("Who likes tea?", None),
        ("", None),
    ],
)
def test_a_query_asks_for_the_oldest_or_the_newest(query, order):
    assert time_order_of(query) == order


# Whatever is written

_PIECES = st.sampled_from(
    [
        *VOCABULARY,
        *("5", "31", "7th", "99", "2023", "0000", "29", "2024-02-29", "31.02.2023", "3/5/24"),
        *(
            "三",
            "十",
            "年",
            "月",
            "日",
            "周",
            "前",
            "后",
            "去年",
            "上个",
            "到",
            "最后一",
            "2023年",
            "5月",
        ),
        *("第一", "春", "末", "之", "间", "半", "先週", "から", ".", ",", "-", "?", "of", "the"),
    ]
)
_TEXTS = st.one_of(
    st.text(max_size=60),
    st.lists(_PIECES, max_size=14).map(" ".join),
    st.lists(_PIECES, max_size=14).map("".join),
    st.text("0123456789./-–年月日 ", max_size=40),
)
_NOWS = st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=9))]))


@given(_TEXTS, _NOWS)
def test_reading_never_raises_and_no_period_ends_before_it_begins(text, now):
    time_order_of(text)
    for period in [*periods_of(text, now), *mentioned_periods(text, now)]:
        assert (period.begins is None) == (period.ends is None)
        if period.begins is not None and period.ends is not None:
            assert period.begins < period.ends
        else:
            assert period.year or period.month
            bounds(period, datetime(2026, 1, 1, tzinfo=UTC))  # there are such days
        period.has(now)


@given(st.lists(_PIECES, max_size=8).map(" ".join), st.lists(_PIECES, max_size=8).map(" ".join))
def test_overlap_is_the_same_from_either_side(first, second):
    for one in periods_of(first, NOW):
        assert one.days > 0
        assert one.overlaps(one)
        for other in periods_of(second, NOW):
            assert one.overlaps(other) is other.overlaps(one)


@pytest.mark.parametrize(
    "piece",
    ["1", "1/", "12/3-4.5,", "1/2/2020 ", "1.", "3-7 ", "three ", "a ", "may 3 - 4 ", "last week of ",
     "三月", "2年", "二", "上", "what first ", "when the last ", "between "],
)  # fmt: skip
def test_hostile_texts_take_time_in_proportion(piece):
    text = piece * (10_000 // len(piece))
    begun = time.process_time()
    periods_of(text, NOW)
    time_order_of(text)
    assert time.process_time() - begun < 1
    assert len(mentioned_periods(text, NOW)) <= 32

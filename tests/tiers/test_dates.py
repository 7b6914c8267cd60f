"""The days that a question names."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memoryware.tiers.text.dates import periods_of

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
        ("\u53bb\u5e745\u6708", "2023-05-20", "2023-06-20"),
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

"""Sentence segmentation: each statement can be read, and promoted, alone."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryware.tiers.statements import MOST_STATEMENTS, sentences_of


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("The gate code is 4711.", ["The gate code is 4711."]),
        ("Use pnpm. Never npm!", ["Use pnpm.", "Never npm!"]),
        (
            "Carl moved to Rome. He is allergic to nuts. Dora is not.",
            ["Carl moved to Rome. He is allergic to nuts.", "Dora is not."],
        ),
        (
            "This project uses pnpm. This is new. This wiki is old.",
            ["This project uses pnpm. This is new.", "This wiki is old."],
        ),
        (
            "Dr. Lee signs it, e.g. on Monday. We wait, z. B. for J. Doe. Ok then.",
            ["Dr. Lee signs it, e.g. on Monday.", "We wait, z. B. for J. Doe.", "Ok then."],
        ),
        ("The answer is no. We wait.", ["The answer is no.", "We wait."]),
        ("Room No. 5 is closed. Room 6 is not.", ["Room No. 5 is closed.", "Room 6 is not."]),
        ("Der 3. Mai ist frei. Das Büro ist zu.", ["Der 3. Mai ist frei.", "Das Büro ist zu."]),
        ("Die Anlage läuft. Sie ist neu.", ["Die Anlage läuft. Sie ist neu."]),
        ("订单在db2上。它很快。办公室在罗马。", ["订单在db2上。它很快。", "办公室在罗马。"]),
        (
            "For production:\n- use db2\n- deploy on Fridays\n\nFor staging:\n1. use db3\n",
            [
                "For production: use db2",
                "For production: deploy on Fridays",
                "For staging: use db3",
            ],
        ),
        ("Here is what I found:\n\n- db2 is new\n- db3 is old", ["db2 is new", "db3 is old"]),
        ("- Rome:\n  - opens at 9\n  - closes at 5", ["Rome: opens at 9", "Rome: closes at 5"]),
        (
            "Run it:\n```\nmake a\n\nmake b\n```\nDb2 is up.",
            ["Run it:\n```\nmake a\n\nmake b\n```", "Db2 is up."],
        ),
        ("# Notes\n\nDb2 is new. Db3 is old.", ["Db2 is new.", "Db3 is old."]),
        (
            "The orders of the shop are kept in a database that is\ncalled db2. Db3 is old.",
            ["The orders of the shop are kept in a database that is called db2.", "Db3 is old."],
        ),
        ("Open the door. Close the window.", ["Open the door. Close the window."]),
        (
            "We warm it up. Then we pour it. Db3 is old.",
            ["We warm it up. Then we pour it.", "Db3 is old."],
        ),
        ("Moved in. Since 2021.", ["Moved in. Since 2021."]),
        ("  \n ", []),
    ],
)
def test_a_text_is_cut_into_statements(text, statements):
    assert list(sentences_of(text)) == statements


def test_a_text_of_very_many_statements_is_one_document():
    few = " ".join(f"Hall{n} is open." for n in range(MOST_STATEMENTS))
    assert len(sentences_of(few)) == MOST_STATEMENTS
    assert sentences_of(f"{few} Hall{MOST_STATEMENTS} is open.") == (
        f"{few} Hall{MOST_STATEMENTS} is open.",
    )


@given(st.text(alphabet="aB1 .!?\n-:*`|#。它", max_size=80))
def test_no_letter_is_lost_but_those_of_headings(text):
    found = "".join(sentences_of(text))
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    written, kept = (Counter(c for c in one if c in "aB它") for one in ("".join(lines), found))
    assert written <= kept

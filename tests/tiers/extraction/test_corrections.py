"""Short corrections: what "no, it's Thursday" exchanges in the sentence before it, and what not."""

from __future__ import annotations

import re

import pytest

from memoryware.tiers.extraction.corrections import UNCLEAR, corrected_text, values_in
from memoryware.tiers.extraction.facts import ConversationTurn, ExtractedFact
from memoryware.tiers.extraction.rules import facts_by_rules


def facts_in(*texts: str) -> list[ExtractedFact]:
    return facts_by_rules(
        [
            ConversationTurn(id=str(position), speaker="user", text=text)
            for position, text in enumerate(texts)
        ]
    )


JOINED = [
    (
        "Our raid night is on Wednesday at 8pm.",
        "actually no, it is Thursday",
        "Our raid night is on Thursday at 8pm.",
    ),
    (
        "Our raid night is on Wednesday at 8pm.",
        "No, it's at 9pm.",
        "Our raid night is on Wednesday at 9pm.",
    ),
    ("The meeting is on Wednesday at 8 pm.", "No, it's Thursday.", "The meeting is on Thursday at 8 pm."),
    ("The meeting is at 8pm.", "no, it's 9", "The meeting is at 9."),
    ("The raid is on Wednesday.", "No, it's Thursday at 9pm.", "The raid is on Thursday at 9pm."),
    ("The raid is on Wednesday evening.", "No, it's Thursday.", "The raid is on Thursday evening."),
    (
        "The raid is on Monday and Wednesday.",
        "No, it's Thursday, not Wednesday.",
        "The raid is on Monday and Thursday.",
    ),
    ("We meet at Cafe Luna at 7.", "No, it's 8.", "We meet at Cafe Luna at 8."),
    ("The limit is 40 people.", "No, it's 42 people.", "The limit is 42 people."),
    ("My flight leaves on March 3 at 10am.", "No, it's March 4.", "My flight leaves on March 4 at 10am."),
    ("My birthday is March 3rd.", "No, it's March 13th.", "My birthday is March 13th."),
    ("My dog is called Rex.", "No, it's Max.", "My dog is called Max."),
    ("The office is in Rome.", "No, it's Milan.", "The office is in Milan."),
    (
        "Unser Raid ist mittwochs um 20 Uhr.",
        "Nein, es ist Donnerstag.",
        "Unser Raid ist Donnerstag um 20 Uhr.",
    ),
    (
        "Unser Raid ist mittwochs um 20 Uhr.",
        "Nein, es ist 21 Uhr.",
        "Unser Raid ist mittwochs um 21 Uhr.",
    ),
    (
        "Unser Treffen ist am 3. Mai um 10 Uhr.",
        "Nein, es ist der 4. Mai.",
        "Unser Treffen ist am 4. Mai um 10 Uhr.",
    ),
    ("我们的活动在星期三晚上八点。", "不对，是星期四。", "我们的活动在星期四晚上八点。"),
    ("我们的活动在星期三晚上八点。", "不对，是九点。", "我们的活动在星期三晚上九点。"),
    ("我的生日是三月三号。", "不对，是三月十三号。", "我的生日是三月十三号。"),
    ("我的狗叫旺财。", "不对，是来福。", "我的狗叫来福。"),
]  # fmt: skip


@pytest.mark.parametrize(("said", "correction", "joined"), JOINED)
def test_a_value_is_exchanged_for_one_of_its_kind_only(said, correction, joined):
    (fact,) = facts_in(said, correction)
    assert (fact.text, fact.action) == (joined, "update")
    assert fact.message_ids == ("0", "1")


@pytest.mark.parametrize(("said", "correction", "joined"), JOINED)
def test_a_corrected_fact_has_only_words_that_the_user_has_written(said, correction, joined):
    if not said.isascii() and "我" in said:
        assert {*joined} <= {*said, *correction}
        return
    words = {word.casefold() for word in re.findall(r"[\w']+", f"{said} {correction}")}
    assert {word.casefold() for word in re.findall(r"[\w']+", joined)} <= words


@pytest.mark.parametrize(
    ("said", "correction"),
    [
        ("The raid is on Monday and Wednesday.", "No, it's Thursday."),
        ("The raid is at 8pm and lasts 2 hours.", "No, it's 3."),
        ("Our office in Rome is in the old town.", "No, it's Milan."),
        ("The raid is on Wednesday.", "No, it's cancelled."),
        ("My birthday is March 3rd.", "No, it's the 4th."),
        ("I live in Cork.", "No, it's raining."),
        ("I have 3 cats.", "No, it's my sister who has 2 cats."),
        ("Mein Arzt ist Dr. Müller in Bonn.", "Nein, es ist Dr. Schmidt."),
        ("我们的活动在星期一和星期三。", "不对，是星期四。"),
    ],
)
def test_a_fact_that_is_corrected_in_unclear_words_stays_and_waits_for_a_reviewer(said, correction):
    (plain,) = facts_in(said)
    (fact,) = facts_in(said, correction)
    assert (fact.text, fact.action) == (plain.text, "add")
    assert fact.confidence == 0.5, "below min_confidence: no policy promotes it"
    assert fact.message_ids == ("0", "1")
    assert fact.evidence.startswith(f"{plain.evidence} ... ")


@pytest.mark.parametrize(
    ("said", "correction"),
    [
        ("My dog is Rex.", "No, it's Thursday."),
        ("I live in Cork.", "No, it's 8pm."),
        ("The raid is on Thursday.", "No, it's Thursday."),
    ],
)
def test_a_correction_of_something_else_leaves_a_fact_as_it_is(said, correction):
    assert facts_in(said, correction) == facts_in(said)


def test_values_are_part_of_no_other_value():
    kinds = [(value.kind, value.text) for value in values_in("Monday, May 3 at 8pm, room 12")]
    assert kinds == [
        ("weekday", "Monday"), ("date", "May 3"), ("time", "8pm"), ("number", "12")
    ]  # fmt: skip


def test_a_sentence_of_the_assistant_has_only_its_values_exchanged():
    assert corrected_text("Your dog is Rex.", "Max", needs_value=True) is None
    assert corrected_text("It is on Monday and Friday.", "Sunday", needs_value=True) == UNCLEAR
    assert corrected_text("It is on Monday!", "Sunday now", needs_value=True) == "It is on Sunday!"

"""Short corrections: what "no, it's Thursday" exchanges in the sentence before it, and what not."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from langchain_core.messages import HumanMessage

from memoryware import MemoryScope
from memoryware.tiers import MemoryManager
from memoryware.tiers.extraction.corrections import (
    UNCLEAR,
    common_matter,
    corrected_text,
    values_in,
)
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


@pytest.mark.parametrize(
    ("said", "correction", "joined"),
    [
        ("The raid is on Wednesday.", "Correction: Thursday.", "The raid is on Thursday."),
        ("The raid is on Wednesday.", "*Thursday", "The raid is on Thursday."),
        ("The raid is on Wednesday.", "sorry, I meant Thursday", "The raid is on Thursday."),
        ("The raid starts at 20:00.", "no, 21:00", "The raid starts at 21:00."),
        ("Our raid is Wednesday night.", "actually no, Friday", "Our raid is Friday night."),
        ("Unser Raid ist am Mittwoch.", "Nein, doch am Donnerstag.", "Unser Raid ist am Donnerstag."),
        ("Unser Raid ist am Mittwoch.", "Quatsch, am Donnerstag.", "Unser Raid ist am Donnerstag."),
        ("我们的活动在星期三。", "不对，星期四。", "我们的活动在星期四。"),
    ],
)  # fmt: skip
def test_a_correction_needs_no_verb(said, correction, joined):
    assert [fact.text for fact in facts_in(said, correction)] == [joined]


@pytest.mark.parametrize(
    "text",
    ["no Thursday", "Well, Thursday is better", "Wait, 5 minutes", "No, on Thursdays I am busy"],
)
def test_a_sentence_with_other_words_corrects_nothing(text):
    assert "The raid is on Wednesday." in [
        fact.text for fact in facts_in("The raid is on Wednesday.", text)
    ]


@pytest.mark.parametrize(
    "text",
    ["actually no, the raid is on Thursday", "oops, the raid is on Thursday"],
)
def test_a_whole_sentence_behind_an_objection_is_a_fact(text):
    assert [fact.text for fact in facts_in(text)] == ["The raid is on Thursday."]


def test_of_several_facts_a_correction_changes_the_one_that_it_may_be_about():
    assert [
        fact.text
        for fact in facts_in(
            "The raid is on Wednesday.", "I like tea.", "What's up?", "No, Friday."
        )
    ] == ["I like tea.", "The raid is on Friday."]
    two = ("The raid is on Wednesday.", "My yoga class is on Monday.", "I like tea.")
    assert facts_in(*two, "No, it's Friday now.") == facts_in(*two), "either may be meant"
    both = facts_in("The raid is on Wednesday and my yoga class is on Monday.", "No, it's Friday.")
    assert [(fact.text, fact.confidence) for fact in both] == [
        ("The raid is on Wednesday.", 0.5),
        ("My yoga class is on Monday.", 0.5),
    ]


# Extractions one after the other.


ANN = MemoryScope(group_id="shop", user_id="ann", session_id="1")


def learn(manager: MemoryManager, *texts: str, scope: MemoryScope = ANN) -> list[tuple[str, str]]:
    """Learn texts of a user, each with an answer, unless it is one ("A: ...")."""
    talk: list[tuple[str, str]] = []
    for text in texts:
        is_answer = text.startswith("A: ")
        talk += [("assistant", text[3:])] if is_answer else [("user", text), ("assistant", "Ok!")]
    return [(fact.action, fact.text) for fact in manager.learn(talk, scope).facts]


@pytest.mark.parametrize("between", [(), ("I like tea.",), ("What's up?", "lol ok")])
@pytest.mark.parametrize("promoted", [True, False])
def test_a_fact_that_was_proposed_is_corrected_later(memory, manager, clock, promoted, between):
    said = "The raid is on Wednesday at 8pm."
    learn(manager, said)
    if promoted:
        memory.promote(memory.digest("shop").insights[0], by="carl")
    for text in between:
        clock.forward(seconds=60)
        learn(manager, text)
    clock.forward(seconds=60)
    joined = "The raid is on Thursday at 8pm."
    expected = ("update", joined) if promoted else ("add", joined)
    assert learn(manager, "actually no, it is Thursday") == [expected]

    (insight,) = [item for item in memory.digest("shop").insights if item.summary == joined]
    (entry,) = [memory.get(id_, "shop") for id_ in insight.provenance.sources]
    sources = [memory.get(id_, "shop").content for id_ in entry.provenance.sources]
    assert sources == [said, "actually no, it is Thursday"], "it has words of both"
    for item in memory.digest("shop").insights:
        if item.summary in (said, joined):
            memory.promote(item, by="carl")
    lines = memory.list("shop", tier="longterm").items
    assert [line.content for line in lines if line.status == "current"] == [joined]


def test_a_fact_without_a_subject_and_its_later_correction_are_in_conflict(memory, manager, clock):
    learn(manager, "Our raid night is on Wednesday at 8pm.")
    clock.forward(seconds=60)
    learn(manager, "actually no, it is Thursday")
    new, old = memory.digest("shop").insights
    assert new.summary == "Our raid night is on Thursday at 8pm."
    assert (new.conflicts_with, old.conflicts_with) == ((old.id,), (new.id,))


def test_a_fact_is_corrected_twice(memory, manager, clock):
    for text in ("The raid is on Monday.", "I like tea.", "No, Tuesday."):
        learn(manager, text)
        clock.forward(seconds=60)
    learn(manager, "It rains.")
    assert learn(manager, "No, it's Friday.") == [("add", "The raid is on Friday.")]


@pytest.mark.parametrize(
    "later",
    [
        ["A: Today is Tuesday.", "No, it's Friday."],
        ["A: Shall I remind you tomorrow?", "No, Friday."],
        ["Hm.", "So.", "What a day.", "It rains.", "No, it's Friday."],
        ["No, it's 8."],
    ],
)
def test_a_later_correction_of_something_else_proposes_nothing(manager, clock, later):
    learn(manager, "The raid is on Wednesday.")
    clock.forward(seconds=60)
    assert learn(manager, *later) == []


def test_an_answer_that_was_read_is_what_a_later_correction_is_about(manager, clock):
    learn(manager, "The raid is on Wednesday.", "What day is it?", "A: It is Tuesday.")
    clock.forward(seconds=60)
    assert learn(manager, "No, it's Friday.") == []


@pytest.mark.parametrize("change", [{"user_id": "bob"}, {"session_id": "2"}])
def test_a_correction_is_about_the_words_of_its_user_in_its_thread(manager, clock, change):
    learn(manager, "The raid is on Wednesday.")
    clock.forward(seconds=60)
    assert learn(manager, "No, it's Friday.", scope=replace(ANN, **change)) == []


def test_two_facts_that_wait_and_may_both_be_meant_stay(memory, manager, clock):
    for text in ("The raid is on Wednesday.", "My yoga class is on Monday.", "I like tea."):
        learn(manager, text)
        clock.forward(seconds=60)
    assert learn(manager, "No, it's Friday.") == []


@pytest.mark.parametrize("order", ["newest first", "oldest first", "before the correction"])
@pytest.mark.parametrize(
    ("text", "correction", "right"),
    [
        (
            "Our raid night is on Wednesday at 8pm.",
            "actually no, it is Thursday",
            "Our raid night is on Thursday at 8pm.",
        ),
        (
            "Unser Raid ist mittwochs um 20 Uhr.",
            "Nein, es ist Donnerstag.",
            "Unser Raid ist Donnerstag um 20 Uhr.",
        ),
        ("我们的例会是每周三晚上8点。", "不对，是周四。", "我们的例会是每周四晚上8点。"),
        (
            "My daughter's recital is on March 3rd.",
            "Sorry, it's March 13th.",
            "My daughter's recital is on March 13th.",
        ),
        (
            "The wifi box is in the cellar.",
            "No, it's in the attic.",
            "The wifi box is in the attic.",
        ),
    ],
)
def test_of_a_fact_and_its_later_correction_one_is_current_whatever_is_approved_last(
    memory, manager, clock, text, correction, right, order
):
    def promote_all():
        insights = memory.digest(ANN).insights
        newest_first = sorted(insights, key=lambda insight: insight.summary != right)
        for insight in newest_first if order == "newest first" else newest_first[::-1]:
            memory.promote(insight, by="carl")

    manager.learn([HumanMessage(text, id="1")], ANN)
    if order == "before the correction":
        promote_all()
    clock.forward(seconds=60)
    manager.learn([HumanMessage(text, id="1"), HumanMessage(correction, id="2")], ANN)
    promote_all()
    records = [item.record for item in memory.list(ANN, tier="longterm").items]
    current = [one.content for one in records if one.valid_to is None and not one.superseded_by]
    assert current == [right]


@pytest.mark.parametrize(
    ("text", "corrected", "matter"),
    [
        ("The wifi box is in the cellar.", "The wifi box is in the attic.", "wifi box"),
        ("The recital is on March 3rd.", "The recital is on March 13th.", "recital"),
        ("Unser Raid ist um 20 Uhr.", "Unser Raid ist um 21 Uhr.", "raid"),
        ("我们的例会是每周三晚上8点。", "我们的例会是每周四晚上8点。", "我们的例会"),
        ("Wednesday is raid night.", "Thursday is raid night.", ""),
    ],
)
def test_the_matter_of_a_correction_is_what_stands_before_the_value(text, corrected, matter):
    assert common_matter(text, corrected) == matter

"""Somebody who has changed their mind contradicts themselves: the reviewer is told, or it replaces."""

from __future__ import annotations

import pytest

from memoryware import MemoryScope, TieredMemory
from memoryware.tiers import MemoryManager
from memoryware.tiers.text.comparison import Relation, compare
from memoryware.tiers.text.contradictions import contradiction_between

FIRST = MemoryScope(group_id="g", user_id="ann", session_id="a")
LATER = MemoryScope(group_id="g", user_id="ann", session_id="b")
OTHER = MemoryScope(group_id="g", user_id="ben", session_id="c")
CHANGES = [
    ("Ich trinke am liebsten Kaffee.", "Ich mag keinen Kaffee mehr."),
    ("我喜欢喝绿茶。", "我现在不喝绿茶了，改喝咖啡。"),
    ("I love pizza.", "I hate pizza now."),
    ("Ich wohne in Hamburg.", "Ich wohne nicht mehr in Hamburg, sondern in Bremen."),
    (
        "The minecraft server runs on mc1.example.org.",
        "The minecraft server moved to mc2.example.org.",
    ),
    ("Call me Ann.", "Please call me Annie from now on."),
    ("Nenn mich Benny.", "Bitte nenn mich ab jetzt Ben."),
    ("叫我小李。", "以后请叫我老李。"),
    ("I like coffee.", "I don't drink coffee any more."),
    ("我爱吃辣。", "我讨厌吃辣。"),
]
TEXTS = [
    ("I love sushi.", "I don't like sushi anymore."),
    ("I play tennis.", "I stopped playing tennis."),
    ("I live in Cork.", "I don't live in Cork any more, I live in Dublin."),
    ("Ich mag Pizza sehr gern.", "Ich mag Pizza nicht mehr."),
    ("Ich arbeite bei Bosch.", "Ich arbeite nicht mehr bei Bosch."),
    ("Ich bin Vegetarier.", "Ich bin kein Vegetarier mehr."),
    ("I can't stand olives.", "I love olives now."),
    ("我喜欢吃辣。", "我现在不吃辣了。"),
    ("我是素食者。", "我不再是素食者。"),
    ("Ich habe einen Hund.", "Ich habe keinen Hund mehr."),
]
BOTH_HOLD = [
    ("I love pizza.", "I hate pineapple on pizza."),
    ("I like tea.", "I like coffee."),
    ("I love cats.", "I hate dogs."),
    ("Ich mag Kaffee.", "Ich mag keinen Tee."),
    ("I love pizza.", "I hate cold pizza."),
    ("Call me Ann.", "Call me tomorrow."),
    ("I don't eat meat.", "I like fish."),
    ("I am hungry.", "I'm not hungry."),
    ("I like coffee.", "I don't drink coffee after 3pm."),
    ("我喜欢喝茶。", "我不喝绿茶。"),
    ("我喜欢喝茶。", "我晚上不喝茶。"),
    ("I work on Mondays.", "I don't work on Fridays."),
    ("I love my job.", "I don't like my boss."),
    ("I prefer tea.", "I like coffee now."),
    ("Ich mag Hunde.", "Ich habe keinen Hund mehr."),
    ("I live in Cork.", "My sister no longer lives in Cork."),
    ("The server runs on mc1.", "The database moved to mc2."),
]


@pytest.mark.parametrize(("old", "new"), CHANGES + TEXTS)
def test_a_changed_mind_contradicts_what_was_said(old, new):
    assert contradiction_between(old, new)
    assert contradiction_between(new, old)
    assert compare(old, new) is Relation.CONFLICT


@pytest.mark.parametrize(("old", "new"), BOTH_HOLD)
def test_what_can_both_hold_is_no_changed_mind(old, new):
    assert not contradiction_between(old, new)
    assert compare(old, new) is not Relation.CONFLICT


@pytest.mark.parametrize(("old", "new"), [pair for pair in CHANGES if "server" not in pair[0]])
def test_two_people_may_differ(old, new):
    assert not contradiction_between(old, new, by_other=True)
    assert compare(old, new, by_other=True) is not Relation.CONFLICT


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_a_digest_marks_both_and_a_promoted_text_is_replaced(old, new):
    with (
        TieredMemory.open("memory://") as memory,
        MemoryManager(memory, background=False) as manager,
    ):
        manager.learn([("user", old)], FIRST)
        manager.learn([("user", new)], LATER)
        insights = memory.digest("g").insights
        assert [len(insight.conflicts_with) for insight in insights] == [1, 1]
    with (
        TieredMemory.open("memory://") as memory,
        MemoryManager(memory, background=False) as manager,
    ):
        manager.learn([("user", old)], FIRST)
        memory.promote(memory.digest("g").insights[0], by="person:rita")
        (fact,) = manager.learn([("user", new)], LATER).facts
        assert fact.action in ("update", "supersede")
        memory.promote(memory.digest("g").insights[0], by="person:rita")
        lines = memory.list("g", tier="longterm").items
        assert [line.content for line in lines if line.status == "current"] == [fact.text]


def test_another_user_replaces_nothing():
    with (
        TieredMemory.open("memory://") as memory,
        MemoryManager(memory, background=False) as manager,
    ):
        manager.learn([("user", "I love pizza.")], FIRST)
        manager.learn([("user", "I hate pizza now.")], OTHER)
        insights = memory.digest("g").insights
        assert [insight.conflicts_with for insight in insights] == [(), ()]

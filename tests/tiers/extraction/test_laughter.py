"""Laughter is about anything: it takes back no fact, and is no part of one; a retraction does."""

from __future__ import annotations

import pytest

from memoryware import MemoryScope, PromotionPolicy, TieredMemory
from memoryware.tiers import MemoryManager
from memoryware.tiers.extraction.facts import ConversationTurn
from memoryware.tiers.extraction.rules import facts_by_rules
from memoryware.tiers.text.utterances import is_own_fact


def facts_in(*texts: str) -> list[tuple[str, float]]:
    turns = [
        ConversationTurn(id=str(position), speaker="user", text=text)
        for position, text in enumerate(texts)
    ]
    return [(fact.text, fact.confidence) for fact in facts_by_rules(turns)]


@pytest.mark.parametrize(
    "reaction",
    [
        "lol",
        "haha",
        "xD",
        "lol ok",
        "😂",
        "🤣🤣",
        "😉",
        "lmao my cat just fell off",
        "haha I'm dying",
        "Haha, das ist lustig",
        "哈哈",
        "太好笑了哈哈",
        "yeah right",
        "Are you kidding me?",
        "You must be joking!",
        "No kidding!",
        "Viel Spaß!",
        "Das macht Spaß!",
        "Guter Witz!",
        "Erzähl mir einen Witz",
        "你开玩笑吧",
        "别开玩笑了",
    ],
)
def test_laughter_and_jokes_of_others_take_back_nothing(reaction):
    plain = facts_in("I'm allergic to penicillin.")
    assert plain
    assert facts_in("I'm allergic to penicillin.", reaction) == plain


@pytest.mark.parametrize(
    "retraction",
    [
        "just kidding!",
        "lol just kidding",
        "haha jk",
        "jk, love you all",
        "I was only joking",
        "that was a joke",
        "It was just a joke lol",
        "/s",
        "Scherz!",
        "War nur ein Scherz.",
        "Kleiner Scherz am Rande.",
        "nur Spaß",
        "Ich mach nur Spaß",
        "开玩笑的",
        "逗你玩的",
        "哈哈，我开玩笑的",
    ],
)
def test_a_retraction_takes_back_what_was_said_before_it(retraction):
    assert facts_in("I'm allergic to penicillin.", retraction) == []


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I'm allergic to penicillin lol", "I'm allergic to penicillin."),
        ("I'm allergic to penicillin lol, so no antibiotics", "I'm allergic to penicillin."),
        ("I prefer tea, LOL!", "I prefer tea."),
        ("I live in Cork 😂", "I live in Cork."),
        ("I live in Cork. 😂", "I live in Cork."),
        ("Haha, good one. I live in Cork.", "I live in Cork."),
        ("I have 2 cats hahaha :D", "I have 2 cats."),
        ("Ich wohne in Bremen haha", "Ich wohne in Bremen."),
        ("Ich wohne in Bremen xD", "Ich wohne in Bremen."),
        ("我住在上海哈哈", "我住在上海。"),
        ("我住在上海，哈哈。", "我住在上海。"),
    ],
)
def test_laughter_is_cut_off_a_fact_which_a_person_decides_about(text, fact):
    assert facts_in(text) == [(fact, 0.6)], "below min_confidence: no policy promotes it"
    assert not is_own_fact(text, text)


@pytest.mark.parametrize(
    "text",
    [
        "Haha, I live in a castle.",
        "Haha! I'm the queen of Spain.",
        "😂 I live in a castle.",
        "Customers pay by card only, haha.",
        "哈哈，我住在城堡里。",
    ],
)
def test_a_statement_behind_laughter_or_without_a_pattern_is_no_fact(text):
    assert facts_in(text) == []


def test_a_name_that_is_spelled_like_laughter_stays():
    assert facts_in("I play LoL.") == facts_in("I play LoL. ") == [("I play LoL.", 0.85)]
    assert facts_in("I live in Cork :D") == [("I live in Cork.", 0.85)]


def test_a_policy_leaves_a_fact_with_laughter_to_a_person(clock):
    policy = PromotionPolicy.trusted_users()
    scope = MemoryScope(group_id="g", user_id="ann", session_id="1")
    with TieredMemory.open("memory://", policy=policy, clock=clock) as memory:
        manager = MemoryManager(memory, background=False)
        manager.learn([("user", "I'm allergic to penicillin lol"), ("user", "I like tea.")], scope)
        assert [item.content for item in memory.list("g", tier="longterm").items] == ["I like tea."]
        assert [item.summary for item in memory.digest("g").insights] == [
            "I'm allergic to penicillin."
        ]

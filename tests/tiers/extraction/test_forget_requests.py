"""Requests to forget: how people ask, what is meant, and what becomes of the fact."""

from __future__ import annotations

import pytest

from memoryware import MemoryScope, PromotionPolicy, TieredMemory
from memoryware.tiers import MemoryManager
from memoryware.tiers.extraction.forget_requests import EVERYTHING, forget_request

ANN = MemoryScope(group_id="g", user_id="ann", session_id="a")
BEN = MemoryScope(group_id="g", user_id="ben", session_id="a")
LATER = MemoryScope(group_id="g", user_id="ann", session_id="b")
PAIRS = [
    ("I have two cats, Mochi and Biscuit.", "forget that I have cats please"),
    ("I have two cats, Mochi and Biscuit.", "forget about my cats"),
    ("I have two cats, Mochi and Biscuit.", "please delete what I said about my cats"),
    ("I live in Dublin.", "forget where I live"),
    ("I moved to Cork last month.", "forget where I live"),
    ("I prefer dark mode.", "You can forget that I prefer dark mode."),
    ("I prefer dark mode.", "Can you forget that I prefer dark mode?"),
    ("Ich bin Tischler.", "Vergiss bitte, dass ich Tischler bin."),
    ("Ich bin Tischler.", "Kannst du bitte vergessen, dass ich Tischler bin?"),
    ("Mein Geburtstag ist am 3. März.", "Vergiss meinen Geburtstag bitte."),
    ("Ich wohne in Bremen.", "Vergiss bitte, wo ich wohne."),
    ("我对花生过敏。", "请忘记我对花生过敏这件事。"),
    ("我住在杭州。", "忘了我住在哪里"),
]
EVERY = [
    "Please forget everything about me.",
    "Forget everything I told you.",
    "Delete everything you know about me",
    "Vergiss alles über mich.",
    "Bitte lösche alles, was du über mich weißt.",
    "忘记关于我的一切",
    "请删除我的所有信息",
]
NONE = [
    "Don't forget that I have cats.", "Forget it.", "Forget about it.", "Forget that.",
    "Forget my last question.", "I forgot my keys.", "Forget to buy milk.", "Delete all files.",
    "Remove all duplicates from the list.", "Delete all of it.", "Vergiss es.", "Drop everything.",
    "Vergiss nicht, dass ich Katzen habe.", "Vergiss meine letzte Frage.", "Lösche die Datei.",
    "别忘了我的生日", "不要忘记我对花生过敏", "删除这个文件",
]  # fmt: skip


@pytest.fixture
def memory():
    with TieredMemory.open("memory://") as memory:
        yield memory


def learned(memory, texts, scope=ANN):
    with MemoryManager(memory, background=False) as manager:
        return manager.learn([("user", text) for text in texts], scope).facts


def summaries(memory):
    return [insight.summary for insight in memory.digest("g").insights]


def current(memory):
    lines = memory.list("g", tier="longterm").items
    return [line.content for line in lines if line.status == "current"]


def test_requests_are_told_from_other_orders():
    assert [text for text in NONE if forget_request(text)] == []
    assert [text for _, text in PAIRS if not forget_request(text)] == []
    subjects = {text: getattr(forget_request(text), "subject", None) for text in EVERY}
    assert subjects == dict.fromkeys(EVERY, EVERYTHING)


@pytest.mark.parametrize(("fact", "request_"), PAIRS)
def test_a_request_names_what_memory_has(memory, fact, request_):
    learned(memory, [fact])
    for insight in memory.digest("g").insights:
        memory.promote(insight, by="person:rita")
    assert [one.text for one in learned(memory, [request_], LATER)] == [f"Forget: {fact}"]
    (insight,) = memory.digest("g").insights
    memory.promote(insight, by="person:rita")
    assert current(memory) == []


@pytest.mark.parametrize(("fact", "request_"), PAIRS)
def test_a_request_names_what_waits(memory, fact, request_):
    learned(memory, [fact])
    assert [one.text for one in learned(memory, [request_], LATER)] == [f"Forget: {fact}"]


@pytest.mark.parametrize("policy", [PromotionPolicy(), PromotionPolicy.trusted_users()])
@pytest.mark.parametrize(("fact", "request_"), PAIRS)
def test_a_request_in_the_same_conversation_takes_the_fact_back(policy, fact, request_):
    with TieredMemory.open("memory://", policy=policy) as memory:
        learned(memory, [fact, request_])
        assert summaries(memory) == [f"Asks to forget: {fact}"]
        assert current(memory) == []


@pytest.mark.parametrize("request_", EVERY)
def test_a_request_to_forget_everything_reaches_the_reviewer(memory, request_):
    learned(memory, ["I have two cats.", request_])
    (summary,) = summaries(memory)
    assert summary.startswith("Asks to forget: ")
    assert summary.endswith(" / I have two cats.")


def test_what_is_said_after_a_request_stays(memory):
    learned(memory, ["I like tea.", "Please forget that I like tea.", "I like coffee."])
    assert sorted(summaries(memory)) == ["Asks to forget: I like tea.", "I like coffee."]


def test_nobody_takes_back_what_somebody_else_has_said(memory):
    learned(memory, ["I have two cats."], BEN)
    assert [one.text for one in learned(memory, ["forget about my cats"])] == [
        "Asks to forget: My cats."
    ]


def test_a_matter_removes_all_its_facts_and_a_fact_only_itself(memory):
    texts = ["I have two cats.", "My cats are called Mochi and Biscuit."]
    for text in texts:
        memory.promote(text, ANN, by="person:rita")
    (fact,) = learned(memory, ["forget about my cats"], LATER)
    assert sorted(fact.text.removeprefix("Forget: ").split(" / ")) == sorted(texts)
    memory.promote(memory.digest("g").insights[0], by="person:rita")
    assert current(memory) == []

"""Lasting statements that match no pattern: they are proposed, and small talk is not."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memoryware import MemoryScope, PromotionPolicy, TieredMemory
from memoryware.tiers import ExtractedFact, MemoryManager
from memoryware.tiers.extraction.facts import ConversationTurn
from memoryware.tiers.extraction.plain_statements import PLAIN_CONFIDENCE
from memoryware.tiers.extraction.rules import facts_by_rules
from memoryware.tiers.extraction.turns import sentences_in

ANN = MemoryScope(group_id="shop", user_id="ann", session_id="monday")


def facts_in(text: str) -> list[ExtractedFact]:
    return facts_by_rules([ConversationTurn(id="1", speaker="user", text=text)])


@pytest.mark.parametrize(
    "text",
    [
        "Customers pay by card only.",
        "Deliveries arrive at 6 am.",
        "The API key rotates every 90 days.",
        "We order flour from Miller Brothers.",
        "Bo is the new manager.",
        "Carl leads the payments team.",
        "I am the accountant.",
        "The alarm rings at 22:00.",
        "Shipping takes three days.",
        "Our suppliers deliver on Mondays.",
        "The manager approves refunds over 100 euros.",
        "Ann signs the contracts.",
        "Kunden zahlen nur mit Karte.",
        "Die Lieferungen kommen um 6 Uhr.",
        "Wir bestellen Mehl bei Müller.",
        "Bo ist die neue Chefin.",
        "Carl leitet das Zahlungsteam.",
        "Ich bin die Buchhalterin.",
        "Um 22 Uhr klingelt der Alarm.",
        "顾客只能刷卡付款。",
        "每天早上六点送货。",
        "面粉从米勒兄弟公司采购。",
        "小博是新经理。",
        "卡尔负责支付团队。",
        "闹钟晚上十点响。",
    ],
)
def test_a_lasting_statement_without_a_pattern_is_a_less_certain_fact(text):
    (fact,) = facts_in(text)
    assert (fact.text, fact.kind) == (text, "fact")
    assert fact.confidence in (PLAIN_CONFIDENCE, 0.85), "a pattern may know it as well"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("We prefer short meetings.", "preference"),
        ("Our team prefers Python.", "preference"),
        ("Wir bevorzugen kurze Besprechungen.", "preference"),
        ("Please use short answers.", "instruction"),
    ],
)
def test_what_a_team_prefers_and_how_it_wants_answers_are_of_their_kind(text, kind):
    assert [(fact.text, fact.kind) for fact in facts_in(text)] == [(text, kind)]


def test_statements_of_a_mixed_message_are_all_there():
    text = "Hi! I am the accountant. I live in Ghent. The alarm rings at 22:00. What is new?"
    assert [fact.text for fact in facts_in(text)] == [
        "I am the accountant.",
        "I live in Ghent.",
        "The alarm rings at 22:00.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "My colleague Tom prefers tabs.",
        "Tom hates Mondays.",
        "Lisa drinks a lot on weekends.",
        "Carl is a nice guy.",
        "Bo is the worst.",
        "The weather is nice at the beach.",
        "The coffee tastes great today.",
        "The build fails on my machine.",
        "The button shows an error.",
        "The second paragraph needs a comma.",
        "Time flies when you have fun.",
        "Birds sing in the morning.",
        "I need a table with three columns.",
        "We need a plan for the party.",
        "We talked about the budget.",
        "The meeting went well.",
        "The results of the survey.",
        "Thanks, the summary covers all the points.",
        "Prices went up last year.",
        "Is Bo the new manager?",
        "Order flour from Miller Brothers.",
        "Maybe customers pay by card only.",
        "If customers pay by card only, we lose some.",
        "My boss says customers pay by card only.",
        "Customers pay by card only, haha.",
        "Imagine a shop. Customers pay by card only.",
        "Homework: The train leaves Rome at 6 and arrives at 9.",
        "Translate: Customers pay by card only.",
        "> Customers pay by card only.",
        'She wrote "we are ill". Customers pay by card only.',
        "Das Wetter ist schön am See.",
        "Tom hasst Montage.",
        "Der Code wirft einen Fehler.",
        "Die Zeit vergeht so schnell.",
        "Wir hatten Spaß am See.",
        "Wir brauchen einen Plan für die Party.",
        "Vielleicht zahlen Kunden nur mit Karte.",
        "Angenommen, ein Laden. Kunden zahlen nur mit Karte.",
        "今天天气真好。",
        "他每天迟到。",
        "我朋友每天喝咖啡。",
        "想象一家店，顾客只能刷卡付款。",
        "老板说顾客只能刷卡付款。",
        "太好了，谢谢你。",
    ],
)
def test_small_talk_gossip_and_what_is_made_up_are_no_facts(text):
    assert facts_in(text) == []


def test_a_correction_is_one_of_such_a_fact_too():
    talk = ["Deliveries arrive at 6 am.", "No, it's 7 am."]
    turns = [ConversationTurn(id=text, speaker="user", text=text) for text in talk]
    assert [fact.text for fact in facts_by_rules(turns)] == ["Deliveries arrive at 7 am."]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Our supplier is Mill A. What is new?", ["Our supplier is Mill A.", "What is new?"]),
        ("We chose plan B. Customers like it.", ["We chose plan B.", "Customers like it."]),
        ("Unser Lieferant ist Mühle A. Danke!", ["Unser Lieferant ist Mühle A.", "Danke!"]),
        ("Ask J. Smith. Thanks!", ["Ask J. Smith.", "Thanks!"]),
        ("My name is Ann B. Smith.", ["My name is Ann B. Smith."]),
        ("It rings at 22:00. What is new?", ["It rings at 22:00.", "What is new?"]),
        ("We open at 9. Carl is here.", ["We open at 9.", "Carl is here."]),
        ("Wir treffen uns am 3. Montag.", ["Wir treffen uns am 3. Montag."]),
        ("Wir nutzen z. B. Die Zeit.", ["Wir nutzen z. B. Die Zeit."]),
    ],
)
def test_letters_and_numbers_end_a_sentence_where_no_name_and_no_ordinal_goes_on(text, sentences):
    assert list(sentences_in(text)) == sentences


def test_a_name_may_end_in_a_letter_that_is_an_article_elsewhere():
    (fact,) = facts_in("Our supplier of flour is Mill A. What is new?")
    assert fact.text == "Our supplier of flour is Mill A."


def test_a_reviewer_sees_what_no_pattern_knows():
    with TieredMemory.open("memory://") as memory:
        with MemoryManager(memory, background=False) as manager:
            manager.learn([("user", "Customers pay by card only. What is new?")], ANN)
        (insight,) = memory.digest(ANN).insights
        assert insight.summary == "Customers pay by card only."


@pytest.mark.parametrize(
    "policy",
    [PromotionPolicy.trusted_users(), PromotionPolicy.automatic(after=timedelta(0))],
    ids=["trusted users", "automatic"],
)
def test_no_policy_promotes_such_a_fact_without_a_decision(policy):
    with TieredMemory.open("memory://", policy=policy) as memory:
        with MemoryManager(memory, background=False) as manager:
            talk = [("user", "I am the accountant. I live in Ghent. Customers pay by card only.")]
            assert len(manager.learn(talk, ANN).facts) == 3
        memory.promote_due()
        promoted = [line.content for line in memory.list(ANN, tier="long_term").items]
        assert promoted == ["I live in Ghent."]
        waiting = sorted(insight.summary for insight in memory.digest(ANN).insights)
        assert waiting == ["Customers pay by card only.", "I am the accountant."]

"""Statements about the user's own world are proposed, whatever their form; chatter is not."""

from __future__ import annotations

import pytest
from benchmarks.tiers.extraction import HALVES, single_messages

from memoryware import MemoryScope
from memoryware.tiers.extraction.facts import ConversationTurn
from memoryware.tiers.extraction.own_world import in_plain_order
from memoryware.tiers.extraction.plain_statements import PLAIN_CONFIDENCE
from memoryware.tiers.extraction.rules import facts_by_rules

LEAST_FOUND = {"tune": 0.95, "held": 0.4}
MOST_CHATTER = {"tune": 0.03, "held": 0.25}


@pytest.mark.parametrize("language", ["en", "de", "zh"])
@pytest.mark.parametrize("half", HALVES)
def test_most_statements_are_found_and_little_chatter_is(half, language):
    messages = [
        message
        for message in single_messages()
        if (message.half, message.language) == (half, language)
    ]
    stated = [message for message in messages if message.is_statement]
    missed = [message.text for message in stated if not message.has_fact()]
    chatter = [message for message in messages if not message.is_statement]
    let_through = [message.text for message in chatter if message.has_fact()]
    assert len(missed) <= (1 - LEAST_FOUND[half]) * len(stated), missed
    assert len(let_through) <= MOST_CHATTER[half] * len(chatter), let_through


@pytest.mark.parametrize(
    "text",
    [
        "I can't lift anything heavy until my back has healed.",
        "In our flat nobody wears shoes past the hallway.",
        "No meetings after 4 pm.",
        "Ich darf wegen meiner Blutverdünner kein Ibuprofen nehmen.",
        "Bei uns zu Hause gibt es sonntags kein Fernsehen.",
        "Keine Besprechungen nach 16 Uhr.",
        "我们家规定吃饭的时候不许看手机。",
        "我的血压药要早饭后吃。",
        "没有评审谁都不能上线。",
    ],
)
def test_a_reviewer_sees_such_a_statement_and_no_policy_promotes_it(memory, manager, text):
    scope = MemoryScope(group_id="shop", user_id="ann", session_id="monday")
    (fact,) = manager.learn([("user", text)], scope).facts
    assert fact.confidence == PLAIN_CONFIDENCE
    assert [insight.summary for insight in memory.digest("shop").insights] == [text]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("We postponed the launch to the first week of June.", "decision"),
        ("We won't support Safari below version 15.", "decision"),
        ("Das Angebot von Contoso haben wir abgelehnt.", "decision"),
        ("讨论了很久，我们最后选了Terraform。", "decision"),
        ("Zum Programmieren benutze ich Emacs.", "fact"),
        ("Since 2019 I live in Vienna.", "fact"),
    ],
)
def test_decisions_and_inverted_clauses_are_known_to_the_patterns(text, kind):
    (fact,) = facts_by_rules([ConversationTurn(id="1", speaker="user", text=text)])
    assert fact.kind == kind
    assert fact.confidence > PLAIN_CONFIDENCE


@pytest.mark.parametrize(
    ("clause", "plain"),
    [
        ("Seit 2019 lebe ich in Wien", "ich lebe Seit 2019 in Wien"),
        ("Since 2019 I live in Vienna", "I live in Vienna since 2019"),
        ("Das mache ich", "Das mache ich"),
        ("I live in Vienna", "I live in Vienna"),
        (
            "In the third step of my code, I use a list",
            "In the third step of my code, I use a list",
        ),
    ],
)
def test_a_clause_has_its_subject_in_front(clause, plain):
    assert in_plain_order(clause) == plain

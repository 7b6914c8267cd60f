"""Preferences about one matter: one follows the other, and what may hold beside it stays."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memoryware import MemoryScope
from memoryware.tiers.extraction.facts import ConversationTurn
from memoryware.tiers.extraction.preference_subjects import preference_subject
from memoryware.tiers.extraction.rules import facts_by_rules

ANN = MemoryScope(group_id="shop", user_id="ann", session_id="monday")

ONE_SUBJECT = {
    "user: preferred units": """
        I prefer metric units. | I prefer imperial units. | I prefer the metric system now.
        Please use metric units. | I prefer metric over imperial units.
        Ich bevorzuge metrische Einheiten. | Ich bevorzuge imperiale Einheiten.
        Mir sind metrische Einheiten lieber. | 我更喜欢公制单位。 | 我更喜欢英制单位。 | 以后请用公制单位。""",
    "user: preferred hot drink": """
        I prefer tea. | I prefer coffee over tea. | I'd rather have tea. | I like coffee better.
        I like tea more than coffee. | I prefer tea to coffee. | Ich trinke lieber Tee.
        Ich trinke lieber Kaffee als Tee. | Am liebsten trinke ich Tee. | Mir ist Kaffee lieber als Tee.
        Ich ziehe Tee Kaffee vor. | 我更喜欢茶。 | 我更喜欢喝咖啡。 | 比起咖啡我更喜欢茶。
        我喜欢茶胜过咖啡。 | 我更喜欢茶而不是咖啡。""",
    "user: preferred theme": """
        I prefer dark mode. | I prefer the light theme. | Ich bevorzuge den Dunkelmodus.
        Ich bevorzuge helle Designs. | 我更喜欢深色模式。 | 我偏好浅色主题。""",
    "user: preferred editor": """
        I prefer Vim. | I prefer Emacs as my editor. | I prefer VS Code now. | My favourite editor is Vim.
        Ich nutze am liebsten Emacs. | Mein Lieblingseditor ist Vim. | 我更喜欢用Vim。
        I prefer Zed2000 as my editor.""",
    "user: preferred seat": """
        I prefer window seats. | I prefer the aisle seat. | I prefer to sit at the window.
        Ich bevorzuge einen Fensterplatz. | Ich sitze lieber am Gang. | 我更喜欢靠窗的座位。
        我更喜欢坐靠过道的座位。""",
    "user: preferred language of answers": """
        Please answer in German. | Please always reply in English. | I prefer answers in English.
        I prefer to speak German. | Antworte bitte immer auf Deutsch. | 请用中文回答。
        Ich bevorzuge Antworten auf Englisch. | 以后用英文回复我。 | 我更喜欢用中文交流。""",
    "user: preferred currency": """
        I prefer prices in euros. | I prefer US dollars. | Ich bevorzuge Preise in Euro.
        Ich bevorzuge Dollar. | 我更喜欢用人民币。 | 我更喜欢美元。""",
    "user: preferred date format": """
        I prefer ISO dates. | I prefer DD/MM/YYYY. | I prefer dates as MM/DD/YYYY.
        Ich bevorzuge das Format TT.MM.JJJJ. | 我更喜欢年月日格式。 | 我更喜欢月日年的日期格式。""",
    "user: preferred time format": """
        I prefer the 24-hour clock. | I prefer 12-hour time. | Ich bevorzuge das 24-Stunden-Format.
        我更喜欢24小时制。 | 我更喜欢12小时制。""",
    "user: preferred length of answers": """
        I prefer short answers. | Please keep answers short. | I prefer detailed answers.
        I prefer longer replies. | Ich bevorzuge kurze Antworten. | Ich bevorzuge ausführliche Antworten.
        Halte deine Antworten kurz. | 我更喜欢简短的回答。 | 我更喜欢详细的回答。 | 回答请简短。""",
    "user: preferred way of payment": """
        I prefer to pay by card. | I prefer cash. | Ich zahle lieber bar. | Ich bezahle lieber mit Karte.
        我更喜欢刷卡。 | 我更喜欢用现金付款。""",
    "user: preferred cats or dogs": """
        I prefer cats over dogs. | I prefer dogs. | Ich mag Katzen lieber als Hunde. | 我更喜欢猫。""",
    "user: preference between driving and walking": """
        I prefer walking to driving. | I prefer driving over walking.""",
    "user: form of address": "Call me Ann. | Please call me Bo. | Nenn mich Anna. | 叫我小王。",
    "preferred indentation": """
        We prefer tabs. | We prefer spaces. | Wir bevorzugen Leerzeichen. | 我们更喜欢用空格。""",
}

BOTH_HOLD = """
I like tea. | I like coffee. | I love dark mode. | I enjoy coffee. | I like metric units.
I prefer tea and coffee over soda. | I prefer tea or coffee. | I prefer tea and dark mode.
I prefer Python. | I prefer quiet rooms. | I prefer Italian. | I prefer short walks. | I prefer fish.
I don't prefer metric units. | I no longer prefer metric units. | I prefer not to use dark mode.
Don't use metric units. | Answer in German and keep it short. | Please use short sentences.
Ich mag Tee. | Ich trinke gern Kaffee. | Ich mag Tee und Kaffee lieber als Saft.
Ich bevorzuge ruhige Hotels. | Ich bevorzuge Tee oder Kaffee. | Ich nutze Vim. | Ich bevorzuge keine Tabs.
我喜欢茶。 | 我爱喝茶。 | 我更喜欢茶和咖啡。 | 我更喜欢安静的酒店。 | 我不喜欢深色模式。 | 我用Vim。
""".strip().replace("\n", " | ")


def listed(text):
    return [part.strip() for part in text.strip().replace("\n", " | ").split(" | ") if part.strip()]


@pytest.mark.parametrize("subject", ONE_SUBJECT)
def test_preferences_about_one_matter_have_one_subject(subject):
    for text in listed(ONE_SUBJECT[subject]):
        assert preference_subject(text) == subject, text
        (fact,) = facts_by_rules([ConversationTurn(id="1", speaker="user", text=text)])
        assert (fact.subject, fact.kind in ("preference", "instruction")) == (subject, True), text


@pytest.mark.parametrize("text", listed(BOTH_HOLD))
def test_what_others_may_hold_beside_has_no_subject(text):
    assert preference_subject(text) == ""


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("I prefer coffee in the morning.", "user: preferred hot drink, morning"),
        ("On long flights I prefer the window seat.", "user: preferred seat, on long flights"),
        ("I prefer tabs in Go.", "user: preferred indentation, go"),
        ("I prefer green tea.", "user: preferred hot drink, green"),
        ("Morgens trinke ich lieber Kaffee.", "user: preferred hot drink, morgens"),
        ("早上我更喜欢咖啡。", "user: preferred hot drink, 早上"),
    ],
)
def test_what_limits_a_preference_is_a_part_of_its_subject(text, subject):
    assert preference_subject(text) == subject


def talk(memory, manager, *texts):
    """Say each in a conversation of its own, approve what was learned, and return the actions."""
    actions = []
    for number, text in enumerate(texts):
        scope = replace(ANN, session_id=str(number))
        actions += [fact.action for fact in manager.learn([("user", text)], scope).facts]
        for insight in memory.digest("shop").insights:
            memory.promote(insight, by="person:rita")
    return actions


def current(memory):
    lines = memory.list(ANN, tier="long_term").items
    return sorted(line.content for line in lines if line.status == "current")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I prefer metric units.", "I prefer imperial units."),
        ("Ich bevorzuge metrische Einheiten.", "Ich bevorzuge imperiale Einheiten."),
        ("我更喜欢公制单位。", "我更喜欢英制单位。"),
        ("I prefer dark mode.", "Ich bevorzuge helle Designs."),
        ("Ich sitze lieber am Gang.", "我更喜欢靠窗的座位。"),
        ("Please answer in German.", "Please always answer in English."),
        ("My favourite editor is Vim.", "I prefer Emacs as my editor."),
        ("I prefer coffee in the morning.", "In the morning I prefer tea."),
        ("We prefer tabs.", "We prefer spaces."),
    ],
)
def test_a_later_preference_takes_the_place_of_the_earlier_one(memory, manager, before, after):
    assert talk(memory, manager, before, after) in (["add", "update"], ["add", "supersede"])
    assert current(memory) == [after]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I like tea.", "I like coffee."),
        ("Ich mag Tee.", "Ich mag Kaffee."),
        ("我喜欢茶。", "我喜欢咖啡。"),
        ("I prefer coffee in the morning.", "I prefer tea in the evening."),
        ("I prefer metric units.", "I prefer tea."),
        ("I prefer short answers.", "I prefer formal answers."),
        ("Ich bevorzuge Tabs in Go.", "Ich bevorzuge Leerzeichen in Python."),
        ("早上我更喜欢咖啡。", "晚上我更喜欢茶。"),
        ("I prefer tabs.", "We prefer spaces."),
    ],
)
def test_preferences_that_may_both_hold_stay(memory, manager, one, other):
    assert talk(memory, manager, one, other) == ["add", "add"]
    assert current(memory) == sorted([one, other])


def test_a_preference_that_a_person_has_written_down_is_replaced_too(memory, manager):
    written = memory.record("I prefer metric units.", ANN, role="user").entry
    memory.promote(written, by="person:rita")
    (fact,) = manager.learn([("user", "I prefer imperial units.")], ANN).facts
    assert fact.action == "update"


def test_preferences_of_two_users_do_not_touch_each_other(memory, manager):
    talk(memory, manager, "I prefer metric units.")
    bo = replace(ANN, user_id="bo")
    (fact,) = manager.learn([("user", "I prefer imperial units.")], bo).facts
    assert (fact.action, fact.subject) == ("add", "bo: preferred units")


def test_what_limits_a_preference_is_kept_with_it():
    text = "On long flights, I prefer the window seat. When I travel, what should I pack?"
    facts = facts_by_rules([ConversationTurn(id="1", speaker="user", text=text)])
    assert [fact.text for fact in facts] == ["On long flights I prefer the window seat."]

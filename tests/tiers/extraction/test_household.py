"""What is said of a household with "we" is for its speaker alone; what a group says is shared."""

from __future__ import annotations

import time

import pytest

from memoryware import MemoryScope, TieredMemory
from memoryware.tiers import MemoryManager
from memoryware.tiers.text.household import names_household, speaks_of_household

BEN = MemoryScope(group_id="guild", user_id="ben", session_id="s")
ANN = MemoryScope(group_id="guild", user_id="ann", session_id="t")
HOUSEHOLD = [
    "We have a son named Max.",
    "Our house is at 5 Patrick Street.",
    "We live in Cork.",
    "Our daughter Lotte has epilepsy.",
    "Our address is 5 Patrick Street, Cork.",
    "We are expecting a baby in June.",
    "We're getting divorced.",
    "we are getting divorced",
    "We have two cats.",
    "We've got three kids.",
    "We just bought a house in Cork.",
    "Our mortgage is 1,200 a month.",
    "Our son's birthday is March 3rd.",
    "Lotte is our daughter.",
    "Our two-year-old son is allergic to nuts.",
    "We rent a flat in Leeds.",
    "Our dog is called Rex.",
    "We both are diabetic.",
    "Our landlord is Mr. Smith.",
    "We pay 900 euros rent for our flat.",
    "We got married in 2019.",
    "We're trying for a baby.",
    "We adopted a rescue dog.",
    "Our youngest is starting school in September.",
    "Our wedding is on June 3rd.",
    "Our car is a Skoda.",
    "Our savings are 20,000 euros.",
    "We don't eat pork.",
    "Wir haben eine Tochter namens Lotte.",
    "wir haben eine Tochter namens Lotte",
    "Unsere Tochter hat Epilepsie.",
    "Unser Sohn heißt Max.",
    "Unsere Wohnung hat drei Zimmer.",
    "Unser Haus steht in der Lindenstraße 5.",
    "Wir wohnen in Bremen.",
    "Seit Mai wohnen wir in Bremen.",
    "Wir haben zwei Kinder.",
    "Wir haben einen Hund.",
    "Unsere Katze heißt Mimi.",
    "Wir sind seit 2019 verheiratet.",
    "Unsere Miete beträgt 900 Euro.",
    "Unser Hausarzt ist Dr. Meier.",
    "Letztes Jahr haben wir einen Hund adoptiert.",
    "Wir sind nach Bremen umgezogen.",
    "Wir essen kein Fleisch.",
    "Meine Eltern wohnen bei uns zu Hause.",
    "Unsere Hochzeit ist am 3. Juni.",
    "Unser zweites Kind kommt im Mai.",
    "Unsere Kinder sind 3 und 5.",
    "Wir lassen uns scheiden.",
    "我们有一个女儿，叫小美。",
    "我们的儿子今年上小学。",
    "我们家有两只猫。",
    "我们住在杭州。",
    "我们的房子在西湖区。",
    "我们养了一只狗。",
    "我们2019年结婚了。",
    "我们女儿对花生过敏。",
    "我们租了一套公寓。",
    "老婆在医院当护士。",
    "女儿今年五岁了。",
    "我们家的地址是中山路5号。",
    "咱们家孩子对牛奶过敏。",
    "The kids are allergic to nuts.",
    "Our baby is due in June.",
    "Our family lives in Cork.",
    "We have a new baby.",
    "Our home address is 5 Patrick Street.",
    "Wir haben eine kleine Tochter.",
    "Unsere Adresse ist Lindenstraße 5.",
    "We're parents of three boys.",
    "Our boy is called Finn.",
    "Our girls are in second grade.",
    "We have three boys.",
    "Our daughter-in-law is a doctor.",
    "We live on the third floor.",
    "Our apartment is 80 square metres.",
    "We have a mortgage with ING.",
    "Our cat Mochi is diabetic.",
    "We've been married for ten years.",
    "We are foster parents.",
    "We lost our baby in March.",
    "Our combined income is 70,000 euros.",
    "We own a flat in Bonn.",
    "Our phone number is 0176 1234567.",
    "We are both vegetarian.",
    "Our son goes to Lincoln Elementary School.",
    "We take our kids to school at 8.",
    "We pick up Lotte from kindergarten at 3.",
    "Unser Kleiner ist zwei.",
    "Wir haben drei Jungs.",
    "Unsere Kleine geht in die Kita.",
    "Wir sind Eltern von Zwillingen.",
    "Wir wohnen im dritten Stock.",
    "Wir haben eine Katze und einen Hund.",
    "Unser gemeinsames Einkommen ist 4000 Euro.",
    "Wir verdienen zusammen 4000 Euro.",
    "Unsere Telefonnummer ist 0176 1234567.",
    "Unsere Große hat Zöliakie.",
    "Wir kriegen im Juni ein Baby.",
    "Unser Sohn geht in die Grundschule.",
    "Bei uns zu Hause gibt es keine Nüsse.",
    "Wir haben ein Haus in Bremen gekauft.",
    "我们有两个孩子。",
    "我们的宝宝六个月了。",
    "我们家住在朝阳区。",
    "我们每月还房贷五千。",
    "我们打算明年要孩子。",
    "我们的猫叫咪咪。",
    "我们两个孩子都上小学。",
    "我们家的狗叫旺财。",
    "我们夫妻都是老师。",
    "我家孩子对花生过敏。",
    "我们每天送孩子上学。",
]
GROUP = [
    "We deploy on Mondays.",
    "Our shop opens at nine.",
    "Our team has a dog named Rex in the office.",
    "Our house style is blue.",
    "Our home page is example.org.",
    "Our parent company is in Munich.",
    "Our sister company is in Bonn.",
    "We use PostgreSQL.",
    "Our office address is 5 Patrick Street.",
    "Our shop's address is 5 Patrick Street.",
    "Our raid night is on Wednesday at 8pm.",
    "We moved to PostgreSQL.",
    "We sell houses.",
    "We make food for dogs.",
    "Our app is for parents.",
    "We teach kids to code.",
    "Our kids' menu costs 8 euros.",
    "Our server is called dog.",
    "Our family plan costs 9 euros.",
    "Our flat rate is 20 euros.",
    "Our pet project is a wiki.",
    "We have two servers.",
    "We have standup at nine.",
    "Our meetings are on Mondays.",
    "We prefer short meetings.",
    "We have a new client.",
    "Our guild has 30 members.",
    "Our manager is Ann.",
    "Our child process leaks memory.",
    "We celebrate birthdays in the office on Fridays.",
    "We keep our docs in a wiki.",
    "Wir deployen montags.",
    "Unser Laden öffnet um neun.",
    "Unser Raid ist mittwochs um 20 Uhr.",
    "Unsere Muttergesellschaft sitzt in München.",
    "Wir nutzen PostgreSQL.",
    "Wir haben einen neuen Kunden.",
    "Unsere Firma hat einen Hund.",
    "Unser Team trifft sich montags.",
    "Wir haben 20 Mitarbeiter.",
    "Unsere Frau Müller macht die Buchhaltung.",
    "我们每周一部署。",
    "我们公司在杭州。",
    "我们用PostgreSQL。",
    "我们的服务器在法兰克福。",
    "我们团队有五个人。",
    "我们的店九点开门。",
    "我们周三开会。",
    "我们公司的地址是中山路5号。",
    "我们的用户都有孩子。",
    "Our address book is in LDAP.",
    "We are expecting a delivery on Monday.",
    "We have a house band.",
    "We live stream on Fridays.",
    "Our chat bot answers questions.",
    "Wir haben montags Training.",
    "Wir sind ein Team von fünf Leuten.",
    "Unser Server läuft auf Debian.",
    "Our customers have kids.",
    "Our standup is at nine in the kitchen.",
    "We meet in the kitchen on Fridays.",
    "Our doctor shift plan is in Excel.",
    "We rent a server from Hetzner.",
    "We have a car pool.",
    "Our party has two clerics and a paladin.",
    "Our raid leader is Ann.",
    "Our place in the ranking is third.",
    "Our group meets at the library on Tuesdays.",
    "We play every Thursday at Ben's.",
    "Our home base is Ironforge.",
    "We have a new member.",
    "Our health check runs every minute.",
    "Our rent budget for the office is 2000 euros.",
    "We use sibling branches.",
    "Our family of products has five members.",
    "We keep pets out of the office.",
    "Our debt is technical.",
    "Our garden centre opens at nine.",
    "Wir treffen uns bei Ben.",
    "Unser Treffen ist am Dienstag.",
    "Unsere Gruppe hat acht Mitglieder.",
    "Unser Haus öffnet um neun.",
    "Unser Kindergarten öffnet um sieben.",
    "Unser Chor probt dienstags.",
    "Wir haben ein neues Mitglied.",
    "Unser Auto wird vom Büro bezahlt.",
    "Unsere Katzen-Pension hat zehn Plätze.",
    "我们公会有三十人。",
    "我们每周四晚上八点打本。",
    "我们家公司有五个人。",
    "我们的项目叫天河。",
    "我们用猫头鹰框架。",
    "我们的会员有一百人。",
]


def test_a_household_is_told_from_a_group():
    assert [text for text in HOUSEHOLD if not speaks_of_household(text)] == []
    assert [text for text in GROUP if speaks_of_household(text)] == []


@pytest.mark.parametrize(
    "text", ["our ", "we have ", "we ", "wir haben ", "unsere ", "我们的", "my "]
)
def test_long_texts_take_little_time(text):
    began = time.perf_counter()
    names_household(text * 5_000)
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize(
    "text",
    [
        "Our daughter Lotte has epilepsy.",
        "We have a son named Max.",
        "My husband and I live in Cork. Our house is at 5 Patrick Street.",
        "Meine Frau heißt Sabine, und wir haben eine Tochter namens Lotte.",
        "Meine Frau ist Ärztin, und wir nutzen zwei Kalender.",
        "我们有一个女儿，叫小美。",
    ],
)
def test_a_fact_of_a_household_is_proposed_for_its_speaker_alone(text):
    with (
        TieredMemory.open("memory://") as memory,
        MemoryManager(memory, background=False) as manager,
    ):
        manager.learn([("user", text)], BEN)
        insights = memory.digest("guild").insights
        assert insights
        assert [item.summary for item in insights if not item.personal] == []
        for insight in insights:
            memory.promote(insight, by="person:rita")
        assert list(memory.retrieve(text, ANN)) == []
        assert list(memory.retrieve(text, BEN)) != []


def test_a_fact_of_a_group_is_proposed_for_the_group():
    with (
        TieredMemory.open("memory://") as memory,
        MemoryManager(memory, background=False) as manager,
    ):
        manager.learn([("user", "We deploy on Mondays. Our shop opens at nine.")], BEN)
        insights = memory.digest("guild").insights
        assert sorted(item.summary for item in insights) == [
            "Our shop opens at nine.",
            "We deploy on Mondays.",
        ]
        assert not any(item.personal for item in insights)


def test_a_message_about_a_household_is_shown_to_its_author_alone():
    with TieredMemory.open("memory://") as memory:
        memory.record("Our daughter Lotte has epilepsy.", BEN, role="user")
        memory.record("We deploy on Mondays.", BEN, role="user")
        query = "daughter Lotte epilepsy deploy Mondays"
        shown = [item.content for item in memory.retrieve(query, ANN)]
        own = sorted(item.content for item in memory.retrieve(query, BEN))
    assert shown == ["We deploy on Mondays."]
    assert own == ["Our daughter Lotte has epilepsy.", "We deploy on Mondays."]

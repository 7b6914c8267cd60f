"""Contradictions: what plainly cannot both hold is named, and nothing else."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import pytest

from doors import everyday_and_slow
from memoryware import TieredMemory
from memoryware._caching import clear_caches
from memoryware.scope import MemoryScope
from memoryware.tiers.promote import promote
from memoryware.tiers.provenance import Origin, Provenance
from memoryware.tiers.recall.search import retrieve
from memoryware.tiers.supersede import PromotionOptions
from memoryware.tiers.text import contradictions, sentences, tokens
from memoryware.tiers.text.comparison import Relation, compare
from memoryware.tiers.text.contradictions import (
    contradiction_between,
    contradictions_among,
    contradictions_with,
    may_differ,
)
from memoryware.tiers.values import ContextItem
from tiers.kit import DOORS, parts, run
from tiers.long_term import ACME, KINDS, MYSQL, POSTGRES, both_stores, current, waiting

PAIRS = Path(__file__).parent / "pairs" / "statements.tsv"
NUMBERS = [
    ("The budget is 500 EUR.", "The budget is 700 EUR."),
    ("Budget: 500 EUR", "Budget: 700 EUR"),
    ("The release is on 2026-03-01.", "The release is on 2026-04-01."),
    ("The release is on 3 March.", "The release is on 4 April."),
    ("The backup runs at 3:00.", "The backup runs at 4:30."),
    ("We have 5 servers.", "We have 7 servers."),
    ("会议在3点。", "会议在4点。"),
]
NAMES = [
    ("The office is in Rome.", "The office is in Berlin."),
    ("We use MySQL for the orders.", "We use Postgres for the orders."),
    ("Ann works in Rome.", "Ann works in Berlin."),
    ("The budget is 500 EUR.", "The budget is 500 USD."),
    ("El servidor está en Madrid.", "El servidor está en Sevilla."),
    ("数据库用的是PostgreSQL。", "数据库用的是MySQL。"),
    ("Hello all. The office is in Rome. Bye.", "A note. The office is in Oslo."),
]
VALUES = [
    ("the database is postgres", "the database is mysql"),
    ("办公室在罗马。", "办公室在柏林。"),
]
DENIALS = [
    ("We use MySQL.", "We don't use MySQL."),
    ("We use MySQL.", "We do not use MySQL."),
    ("The deploy is blocked.", "The deploy isn\u2019t blocked."),
    ("The deploy can be done.", "The deploy cannot be done."),
    ("The office is in Rome.", "The office is no longer in Rome."),
    ("Wir benutzen MySQL.", "Wir benutzen nicht MySQL."),
    ("Wir haben Server.", "Wir haben keine Server."),
    ("Nous utilisons MySQL.", "Nous n'utilisons pas MySQL."),
    ("Сервер работает в Москве.", "Сервер не работает в Москве."),
    ("我们用MySQL。", "我们不用MySQL。"),
]
MATTERS = [
    ("Dora leads the payments team.", "Carl leads the payments team."),
    ("Ann owns the billing service.", "Bob owns the billing service."),
    ("Ann is responsible for billing.", "Bob is responsible for billing."),
    ("Ann leitet das Team Zahlungen.", "Bob leitet das Team Zahlungen."),
    ("小王负责支付团队。", "小李负责支付团队。"),
    ("We deploy on Fridays at 14:00.", "We deploy on Mondays at 10:00."),
    ("We deploy on Fridays at 14:00.", "Noted: we deploy on Mondays at 10:00 now, not on Fridays."),
    ("Wir deployen freitags um 14 Uhr.", "Wir deployen montags um 10 Uhr."),
    ("The standup is on Monday at 9:30.", "The standup is on Tuesday at 10:00."),
    ("Node 22.3 is required for the build.", "Node 20.1 is required for the build."),
    ("Wir liefern freitags aus.", "Wir liefern montags aus."),
    ("我们每周五发布新版本。", "我们每周一发布新版本。"),
    ("The temperature is -5 degrees.", "The temperature is 5 degrees."),
    ("Some notes. We deploy on Fridays at 14:00.", "Hello. We deploy on Mondays at 10:00."),
]
HARMLESS = [
    ("Carl is allergic to peanuts.", "Dora is allergic to peanuts."),
    ("Ann likes tea.", "Bob likes tea."),
    ("Ann owns a car.", "Bob owns a car."),
    ("Ann leads the payments team.", "Bob also leads the payments team."),
    ("Order 17 shipped on Monday.", "Order 18 shipped on Tuesday."),
    ("Ticket 12 was closed on Monday at 10:00.", "Ticket 13 was closed on Friday at 11:00."),
    ("The standup is on Monday at 9:30.", "The retro is on Tuesday at 10:00."),
    ("Form 12 is required for the visa.", "Form 13 is required for the visa."),
    ("Python 3.12 is supported.", "Python 3.13 is supported."),
    ("Ann met Bob on Monday.", "Ann met Carl on Friday."),
    ("Ann works in Rome.", "Ann works on Mondays."),
    ("The shop sells tea.", "The shop sells bread."),
    ("The staging cluster is in Dublin.", "The staging cluster has 5 nodes."),
    ("Guests may enter the cellar.", "Staff must not enter the cellar."),
    ("The call starts at 2 pm.", "The call starts at 14:00."),
    ("We keep all orders in Rome.", "We keep all our orders in Rome."),
    ("The office is in Rome.", "The office has a garden."),
    ("Ann works in Rome.", "Bob works in Rome."),
    ("Ticket 12 is open.", "Ticket 13 is open."),
    ("Order 17 shipped in May.", "Order 18 shipped in May."),
    ("In 2024 revenue was 5 million.", "In 2025 revenue was 7 million."),
    ("The team likes tea.", "The team likes coffee."),
    ("We use MySQL.", "we use MYSQL!"),
    ("We use MySQL.", "We use MySQL and Redis."),
    ("Is the office in Rome?", "Is the office in Berlin?"),
    ("The office is in Rome.", "The office is in Rome, Italy."),
    ("The blue server runs Debian and hosts the shop.", "The red server runs Debian and hosts the shop."),
    ("Invoices are paid within 30 days.", "Orders are shipped within 3 days."),
    ("Ann likes tea.", "Ann likes tea very much."),
    ("The customer called twice.", "The customer called today."),
    ("", "Something."),
    ("我们用MySQL。", "我们用MySQL和Redis。"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        (NUMBERS, "not the same number"),
        (NAMES, "not the same name"),
        (VALUES, "not the same value"),
        (DENIALS, "one denies what the other says"),
        (MATTERS, "not the same about one matter"),
    ],
)
def test_what_cannot_both_hold_is_said_with_its_reason(pairs, said):
    for one, other in pairs:
        assert contradiction_between(one, other).startswith(said), (one, other)
        assert contradiction_between(other, one).startswith(said), (other, one)


def test_what_can_both_hold_is_left_alone():
    assert [
        pair
        for pair in HARMLESS
        if contradiction_between(*pair) or contradiction_between(*pair[::-1])
    ] == []


def test_a_contradiction_is_what_the_comparator_calls_a_conflict():
    for pair in (*NUMBERS, *NAMES, *VALUES, *DENIALS, *MATTERS, *HARMLESS):
        assert (compare(*pair) is Relation.CONFLICT) == bool(contradiction_between(*pair)), pair


def test_the_pairs_of_the_comparator_are_judged_alike():
    lines = PAIRS.read_text(encoding="utf-8").splitlines()
    pairs = [line.split("\t")[2:] for line in lines if not line.startswith("#")]
    assert len(pairs) > 200
    for pair in pairs:
        assert (compare(*pair) is Relation.CONFLICT) == bool(contradiction_between(*pair)), pair


@pytest.mark.parametrize("pair", MATTERS)
def test_a_conflict_is_named_by_digest_promotion_and_recall_and_blocks_nothing(pair):
    memory = TieredMemory.open("memory://")
    memory.promote(pair[0], ACME, by="ann")
    memory.log_quarantine(pair[1], ACME)
    assert any(one.contradicts for one in memory.digest(ACME).insights)
    promotion = memory.promote(pair[1], ACME, by="ann")
    assert promotion.ids
    assert len(promotion.contradictions) == 1
    assert len(memory.retrieve(pair[0], ACME).contradictions) == 1


def test_texts_of_one_subject_contradict_each_other_if_they_differ():
    assert (
        contradiction_between("Tea.", "Coffee, mostly.", same_subject=True)
        == "the same subject, and not the same text"
    )
    assert contradiction_between("We use MySQL.", "we use  MySQL", same_subject=True) == ""


def test_long_texts_take_no_time():
    words = " ".join(f"word{n % 50}" for n in range(20_000))
    assert contradiction_between(words, words.replace("word1", "word2")) == ""
    many = "\n".join(f"The server {n} is in rack {n}." for n in range(2000))
    assert contradiction_between(many, many.replace("rack", "row")) in (
        "",
        contradiction_between(many, many.replace("rack", "row")),
    )


def item(id_, content, **more):
    given = parts()
    entry = waiting(given, content)
    return ContextItem(
        id=id_,
        content=content,
        source="long_term",
        score=1.0,
        created_at=given.clock(),
        scope=ACME,
        provenance=entry.provenance,
        **more,
    )


def test_of_many_items_each_pair_of_texts_is_named_once():
    items = [
        item("a1", MYSQL, document_id="a"),
        item("a2", "It is old. " + MYSQL, document_id="a"),
        item("b1", POSTGRES, document_id="b"),
        item("h", "Tea is sold.", document_id=None),
    ]
    assert [(one.first, one.second) for one in contradictions_among(items)] == [("a1", "b1")]
    assert contradictions_among(items[:2]) == ()
    assert contradictions_among([]) == ()


TALK = [
    "the",
    "a",
    "office",
    "is",
    "was",
    "not",
    "no",
    "never",
    "do",
    "does",
    "Rome",
    "Berlin",
    "500",
    "700",
    "in",
    "数",
    "据",
    "x",
    "DO",
    "at",
    "12%",
    "y",
]


def some_talk(dice):
    """Return items of sentences that differ in a place or two from others."""
    known, items = [], []
    for n in range(dice.randrange(2, 24)):
        said = []
        for _ in range(dice.randrange(5)):
            words = dice.choices(TALK, k=dice.randrange(1, 14))
            if known and dice.random() < 0.7:
                words, start = list(dice.choice(known)), dice.randrange(8)
                words[start : start + dice.randrange(4)] = dice.choices(TALK, k=dice.randrange(4))
            known.append(words)
            said.append(" ".join(words) + dice.choice([". ", "? ", "\n", ". "]))
        where = {"document_id": dice.choice([None, None, "d", "e"])}
        about = {"subject": dice.choice([None] * 6 + ["s", "t"])}
        items.append(item(str(n), "".join(said), **where, **about))
    return items


def each_with_each(items):
    """Return the contradictions among items as their docstring says, held each against each."""
    found = {}
    for one, other in combinations(items, 2):
        places = frozenset((one.document_id or one.id, other.document_id or other.id))
        same = one.subject is not None and one.subject == other.subject
        reason = contradiction_between(one.content, other.content, same_subject=same)
        if len(places) == 2 and reason:
            found.setdefault(places, (one.id, other.id, reason))
    return list(found.values())


@pytest.mark.slow
def test_the_same_is_found_as_by_holding_each_against_each():
    dice, named = random.Random(5), 0
    for _ in range(60):
        items = some_talk(dice)
        found = [(one.first, one.second, one.reason) for one in contradictions_among(items)]
        assert found == each_with_each(items)
        named += len(found)
    assert named > 100


def test_texts_with_nothing_in_common_are_not_held_against_each_other(monkeypatch):
    dice, held = random.Random(3), []
    words = [f"word{n}" for n in range(400)]
    items = [
        item(str(n), ". ".join("The " + " ".join(dice.choices(words, k=9)) for _ in range(4)))
        for n in range(100)
    ]
    items += [item("old", MYSQL), item("new", POSTGRES)]
    clash = contradictions.plain_clash
    monkeypatch.setattr(contradictions, "plain_clash", lambda *two: held.append(two) or clash(*two))
    assert len(contradictions_among(items)) == 1
    assert len(held) < len(items)


def test_items_of_one_subject_are_held_against_each_other():
    one, other = item("a", "Tea.", subject="drink"), item("b", "Coffee.", subject="drink")
    assert len(contradictions_among([one, other])) == 1
    assert contradictions_among([one, replace(other, subject="food")]) == ()


@pytest.fixture(params=KINDS)
def p(request, tmp_path):
    made = both_stores(request.param, tmp_path)
    yield parts(made)
    made.long_term.close()


@pytest.mark.parametrize("door", DOORS)
async def test_a_promotion_names_what_it_contradicts_and_settles_nothing(p, door):
    old = await run(door, promote, p, MYSQL, ACME, by="ann")
    await run(door, promote, p, "Tea is sold in the shop.", ACME, by="ann")
    new = await run(door, promote, p, POSTGRES, ACME, by="bo")
    (against,) = new.contradictions
    assert (against.first, against.second) == (old.ids[0], new.ids[0])
    assert against.reason == "not the same name: MySQL and PostgreSQL"
    assert new.superseded == ()
    assert len(current(p)) == 3
    recall = await run(door, retrieve, p, "orders of the shop", ACME)
    assert {recall.contradictions[0].first, recall.contradictions[0].second} == {*old.ids, *new.ids}


@pytest.mark.parametrize("door", DOORS)
async def test_the_chunk_that_contradicts_is_named(p, door):
    old = await run(door, promote, p, MYSQL, ACME, by="ann")
    long = "The shop has walls and doors. " * 30 + "\n\n" + POSTGRES
    new = await run(door, promote, p, long, ACME, by="ann")
    assert len(new.ids) > 1
    assert [(one.first, one.second) for one in new.contradictions] == [(old.ids[0], new.ids[-1])]


@pytest.mark.parametrize("door", DOORS)
async def test_others_and_the_past_are_not_contradicted(p, door):
    await run(door, promote, p, MYSQL, MemoryScope(group_id="b"), by="ann")
    await run(door, promote, p, MYSQL, ACME, by="ann", options=PromotionOptions(agent_id="a"))
    await run(door, promote, p, MYSQL, ACME, by="ann", options=PromotionOptions(subject="database"))
    p.clock.forward(days=1)
    made = await run(
        door, promote, p, POSTGRES, ACME, by="ann", options=PromotionOptions(subject="database")
    )
    assert made.contradictions == ()
    again = await run(
        door, promote, p, POSTGRES, ACME, by="ann", options=PromotionOptions(subject="database")
    )
    assert (again.existing, again.contradictions) == (True, ())


@pytest.mark.parametrize("door", DOORS)
async def test_an_agent_is_told_what_the_group_knows_otherwise(p, door):
    await run(door, promote, p, MYSQL, ACME, by="ann")
    made = await run(
        door, promote, p, POSTGRES, ACME, by="ann", options=PromotionOptions(agent_id="a")
    )
    assert len(made.contradictions) == 1


@pytest.mark.slow
def test_many_texts_contradict_as_each_does_by_itself():
    lines = [line.split("\t") for line in PAIRS.read_text().splitlines()]
    texts = [text for line in lines if line[0] == "conflict" for text in line[2:]][:120]
    joined = [f"{first} {second}" for first, second in pairwise(texts)]
    contradicted = 0
    for text in [*texts[:40], *joined[:10]]:
        reasons = contradictions_with(text, [*texts, *joined])
        assert reasons == [contradiction_between(other, text) for other in [*texts, *joined]]
        contradicted += len(list(filter(None, reasons)))
    assert contradicted > 20


@pytest.mark.parametrize("many", everyday_and_slow(1000, 4000))
def test_the_quick_look_passes_over_nothing_that_clashes(monkeypatch, many):
    said = "the a office is was not no never do does Rome Berlin 500 700 in 数 据 x"
    dice, pairs, words = random.Random(11), [], said.split()
    for _ in range(many):
        one = dice.choices(words, k=dice.randrange(2, 14))
        start = dice.randrange(len(one))
        put = dice.choices(words, k=dice.randrange(4))
        other = [*one[:start], *put, *one[start + dice.randrange(4) :]]
        pairs.append((" ".join(one), " ".join(dice.choice([other, other[::-1], [*other, "not"]]))))
    quick = [contradiction_between(*pair) for pair in pairs]
    monkeypatch.setattr(contradictions, "_may_clash", lambda one, other: True)
    assert quick == [contradiction_between(*pair) for pair in pairs]
    assert len(set(map(bool, quick))) == 2


# What a comparison costs.


NOTES = [
    f"{name} keeps the {thing} of the office in {city}."
    for name, thing, city in zip(
        ["Ann", "Bob", "Carl", "Dora", "Emil", "Fay"],
        ["keys", "plans", "books", "lamps", "bikes", "mugs"],
        ["Rome", "Oslo", "Bonn", "Linz", "Bern", "Kiel"],
        strict=True,
    )
]


def test_a_text_is_tokenized_once_however_often_it_is_compared():
    clear_caches()
    for first, second in combinations(NOTES, 2):
        contradiction_between(first, second)
        compare(first, second)
    assert tokens._cached.cache_info().misses == len(NOTES)
    assert contradictions._cached.cache_info().misses == len(NOTES)


def test_texts_that_share_no_words_are_not_aligned(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("aligned")

    monkeypatch.setattr(contradictions, "SequenceMatcher", refuse)
    monkeypatch.setattr(sentences, "SequenceMatcher", refuse)
    assert contradiction_between(NOTES[0], "Order 7 shipped on Monday.") == ""
    assert compare(NOTES[0], "Order 7 shipped on Monday.") is Relation.DIFFERENT
    with pytest.raises(AssertionError, match="aligned"):
        contradiction_between("Ann keeps the keys.", "Ann keeps no keys.")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Jon: Hey Gina! How are things?", "Jon: Thanks Gina! All good here."),
        ("Jon: Wow, Gina! You found it.", "Gina: Wow, Jon! You sold the shop."),
        ("小红：谢谢你，明天见", "小红：你好啊，今天很忙"),
        ("Staging: the server is db2 in Riga", "Production: the server is db3 in Riga"),
    ],
)
def test_the_name_of_a_speaker_makes_no_contradiction(first, second):
    assert contradiction_between(first, second) == ""


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Budget: 500 EUR", "Budget: 600 EUR"),
        ("Deadline: the report is due on 5 May", "Deadline: the report is due on 6 May"),
        ("Ann: The orders are on server db2.", "Ann: The orders are on server db3."),
        ("Ann: The orders are on db2, Bo.", "Bo: The orders are on db3."),
    ],
)
def test_what_is_said_behind_a_colon_can_contradict(first, second):
    assert contradiction_between(first, second) != ""


# Turns of a conversation: most claim nothing that another could contradict.

SMALL_TALK = [
    ("Glad you made it, Ruth!", "Glad you asked, Ruth!"),
    ("Thanks for the lift yesterday!", "Thanks for the cake yesterday!"),
    ("It was fantastic!", "It was exhausting!"),
    ("I went climbing last weekend.", "I went sailing last weekend."),
    ("We bought a lamp for the hall.", "We bought a rug for the hall."),
    ("[photo of a boy with a kite on a beach]", "[photo of a boy with a dog on a beach]"),
    ("See you on Friday!", "See you on Monday!"),
    ("No worries, Ruth.", "No worries, Emil."),
    ("Your advice helps me a lot.", "Your jokes help me a lot."),
    ("I can't wait to read it.", "I can't wait to try it."),
    ("My brother visited me in June.", "My brother called me in June."),
    ("We should cook together soon.", "We should hike together soon."),
    ("I'm proud of my team.", "I'm proud of my kids."),
    ("I also play the violin.", "I also play chess."),
    ("Maybe we can meet at the cafe.", "Maybe we can meet at the library."),
    ("Das war toll!", "Das war anstrengend!"),
    ("Ich habe gestern Brot gebacken.", "Ich habe gestern Kuchen gebacken."),
    ("谢谢你的礼物。", "谢谢你的帮忙。"),
    ("我昨天去了公园。", "我昨天去了医院。"),
    ("我们去看电影吧。", "我们去看展览吧。"),
    ("You have to rest on Sundays.", "Rest on Sundays."),
    ("## Plan for the office in Rome", "## Plan for the office in Oslo"),
    ("Here is the list of the lamps:", "Here is the list of the chairs:"),
    ("lamp = open('hall')", "lamp = open('cellar')"),
    ("```\nport is 80\n```", "```\nport is 81\n```"),
]  # fmt: skip
CLAIMS = [
    ("My sister lives in Oslo.", "My sister lives in Bergen."),
    ("Wow, my exam is on Monday at 9!", "My exam is on Tuesday at 9."),
    ("I'm vegetarian.", "I'm not vegetarian."),
    ("I love cilantro.", "I hate cilantro."),
    ("The server room is locked at night.", "The server room is unlocked at night."),
    ("Lena studies law in Vienna.", "Lena studies medicine in Vienna."),
    ("Marta is my cousin.", "Marta is my sister."),
    ("Mia is taller than Lea.", "Lea is taller than Mia."),
    ("The customer wants the invoice by email.", "The customer does not want the invoice by email."),
    ("Never call the landlord.", "Call the landlord every month."),
    ("The user prefers dark mode.", "The user prefers light mode."),
    ("I moved to Berlin in March.", "I moved to Berlin in June."),
    ("Der Laden hat sonntags geöffnet.", "Der Laden hat sonntags geschlossen."),
    ("Ich trinke nie Alkohol.", "Ich trinke oft Alkohol."),
    ("我住在杭州。", "我住在苏州。"),
    ("我们周六聚餐。", "我们周日聚餐。"),
]  # fmt: skip
OF_THEMSELVES = [
    ("I like olives.", "I don't like olives."),
    ("My rent is 900 euros.", "My rent is 1100 euros."),
    ("Ich wohne in Köln.", "Ich wohne in Bonn."),
    ("我不吃辣。", "我吃辣。"),
]


@pytest.mark.parametrize("pair", SMALL_TALK)
def test_small_talk_contradicts_nothing(pair):
    assert contradiction_between(*pair) == contradiction_between(*pair[::-1]) == ""
    assert compare(*pair) is not Relation.CONFLICT


@pytest.mark.parametrize("pair", CLAIMS)
def test_claims_about_one_matter_contradict_each_other(pair):
    assert contradiction_between(*pair)
    assert contradiction_between(*pair[::-1])
    assert compare(*pair) is Relation.CONFLICT


@pytest.mark.parametrize("pair", SMALL_TALK[3:5] + SMALL_TALK[10:11] + CLAIMS)
def test_what_is_similar_may_differ_without_a_contradiction(pair):
    assert may_differ(*pair)


@pytest.mark.parametrize("pair", OF_THEMSELVES)
def test_two_people_may_say_different_things_of_themselves(pair):
    assert contradiction_between(*pair)
    assert contradiction_between(*pair, by_other=True) == ""
    assert compare(*pair) is Relation.CONFLICT
    assert compare(*pair, by_other=True) is not Relation.CONFLICT
    assert contradiction_between(f"Ann: {pair[0]} Bo?", f"Bo: {pair[1]} Ann?") == ""


@pytest.mark.parametrize(
    "pair", [NUMBERS[0], NAMES[0], MATTERS[5], ("我们用MySQL。", "我们不用MySQL。")]
)
def test_two_people_can_contradict_each_other_about_a_third_thing(pair):
    assert contradiction_between(*pair, by_other=True)


SAID = [
    ({"speaker": "Ann"}, {"speaker": "Bo"}, 0),
    ({"speaker": "Ann"}, {"speaker": "ann"}, 1),
    ({"origin": "user:ann"}, {"origin": "user:bo"}, 0),
    ({"origin": "user:ann"}, {"origin": "agent:ann"}, 0),
    ({"origin": "user:ann"}, {"origin": "person:ann"}, 1),
    ({"origin": "user:ann"}, {"origin": "user"}, 1),
    ({"origin": "user:ann"}, {"origin": "tool:notes"}, 1),
    ({"origin": "user:ann"}, {"speaker": "Bo", "origin": "user:ann"}, 0),
]


@pytest.mark.parametrize(("first", "second", "count"), SAID)
def test_the_speaker_is_known_by_metadata_or_origin(first, second, count):
    memory = TieredMemory.open("memory://")
    entries = []
    for said, text in zip((first, second), OF_THEMSELVES[1], strict=True):
        origin = Origin.parse(said.get("origin", "user:"))
        metadata = {"speaker": said["speaker"]} if "speaker" in said else {}
        recorded = memory.record(text, ACME, metadata, provenance=Provenance(origin))
        entries.append(recorded.entry)
    insights = memory.digest(ACME).insights
    assert sum(bool(one.conflicts_with) for one in insights) == 2 * count
    promotions = [memory.promote(entry, by="carol") for entry in entries]
    assert len(promotions[1].contradictions) == count
    assert len(memory.retrieve("rent", ACME).contradictions) == count

"""Echoes: what only repeats memory is told from what says something new."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path as FilePath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryware.scope import MemoryScope
from memoryware.settings import TierLimits
from memoryware.tiers.echo import (
    half_repeated,
    recalled_block_sources,
    strip_recalled_blocks,
)
from memoryware.tiers.echo_matching import repeated_ids
from memoryware.tiers.provenance import Origin, Provenance
from memoryware.tiers.rendering import recalled_block
from memoryware.tiers.text.comparison import same_claim
from memoryware.tiers.values import ContextItem


def item(id_: str, content: str) -> ContextItem:
    """A memory that was recalled."""
    return ContextItem(
        id=id_,
        content=content,
        source="long_term",
        score=1.0,
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        scope=MemoryScope(group_id="g"),
        provenance=Provenance(Origin("person", "ann")),
    )


@dataclass
class Known:
    id: str
    content: str


FACTS = [
    "The project uses PostgreSQL 16 for orders and Redis for sessions.",
    "Deployments happen every Friday at 14:00 UTC, after the tests are green.",
    "The customer prefers short answers in German and dislikes tables.",
    "Maria Lopez is the owner of the billing service.",
    "The API rate limit is 100 requests per minute per key.",
    "We decided to migrate from Jenkins to GitHub Actions in March.",
    "Backups are encrypted with age and kept for 30 days in the Frankfurt region.",
    "The user lives in Berlin, has two cats and is allergic to peanuts.",
    "Error E1042 means that the license server cannot be reached.",
    "Always run `make lint` before pushing to the main branch.",
    "The quarterly report is due on April 15 and Tom writes the summary.",
    "Feature flags live in config/flags.yaml and are reviewed monthly.",
    "Do not call the payment sandbox from unit tests; use the recorded responses.",
    "The mobile app supports iOS 15 and newer, but not Android 8.",
    "Invoices above 10,000 euros need approval by two managers.",
    "Unsere Kunden in Wien bekommen die Rechnung immer auf Papier.",
    "数据库使用MySQL，每周五部署到生产环境，备份保留三十天。",
    "客户喜欢简短的德语回答，不喜欢表格。",
    "本番環境へのデプロイは毎週金曜日に行い、担当は田中さんです。",
]
KNOWN = [Known(f"k{number}", text) for number, text in enumerate(FACTS)]

FILLERS = [
    "{}",
    "As I recall, {}",
    "As far as I remember, {}",
    "If I'm not mistaken, {}",
    "Based on what I have in memory: {}",
    "From our earlier conversation, I know that {}",
    "Sure! Here's what I remember: {}",
    "You mentioned previously that {}",
    "According to the saved notes, {}",
    "Here is a summary of what I know so far:\n- {}",
    "> {}",
    '"{}"',
    "**{}**",
    "### Memory\n{}",
    "1. {}",
    "```\n{}\n```",
    "| Memory |\n|---|\n| {} |",
    "{} Let me know if you need anything else!",
    "{} Is there anything else I can help you with?",
    "{} Hope this helps!",
    "{} (as recalled)",
    "Of course! {} Feel free to ask if you have more questions.",
    "Great question! {} Nothing has changed since then.",
    "I recall the following from memory — {}",
    "Just to confirm: {}",
    "[1] {} (long-term, verified, 2026-01-01)",
    "Recap of our discussion on 2026-01-01: {}",
    "I haven't forgotten: {}",
    "I don't have anything to add. {}",
    "Happy to help! {} Would you like me to elaborate on any of these points?",
    "我记得{}",
    "据我所知，{}如果您还有其他问题，请告诉我。",
    "私の記憶では、{}他に質問があればお気軽にどうぞ。",
    "Soweit ich mich erinnere: {}",
]


@pytest.mark.parametrize("filler", FILLERS)
@pytest.mark.parametrize("change", [str, str.upper, str.lower], ids=["as it is", "upper", "lower"])
def test_a_repetition_with_words_around_it_is_an_echo(filler, change):
    missed = [
        one.id
        for one in KNOWN
        if one.id not in repeated_ids(filler.format(change(one.content)), [one])
    ]
    assert missed == []


NEW = [
    "The project uses PostgreSQL 17 for orders and Redis for sessions.",
    "The project no longer uses PostgreSQL 16 for orders and Redis for sessions.",
    "The project uses PostgreSQL 16 for sessions and Redis for orders.",
    "The project uses PostgreSQL 16 for orders and Memcached for sessions.",
    "We no longer use PostgreSQL 16 for orders, we use MySQL now.",
    "Deployments happen every Monday at 14:00 UTC, after the tests are green.",
    "Deployments happen every Friday at 15:00 UTC, after the tests are green.",
    "Deployments happen every Friday at 14:00 UTC, before the tests are green.",
    "The customer prefers short answers in French and dislikes tables.",
    "The customer prefers short answers in German and likes tables.",
    "The customer prefers long answers in German and dislikes tables.",
    "Maria Lopez is not the owner of the billing service anymore.",
    "Maria Lopez isn't the owner of the billing service.",
    "Maria Lopez was the owner of the billing service until May.",
    "Tom Baker is the owner of the billing service.",
    "The API rate limit is 200 requests per minute per key.",
    "The API rate limit is 100 requests per hour per key.",
    "The API rate limit was raised. It is 100 requests per minute per key.",
    "We decided to stay on Jenkins and not to migrate to GitHub Actions in March.",
    "We decided to migrate from GitHub Actions to Jenkins in March.",
    "Backups are encrypted with age and kept for 90 days in the Frankfurt region.",
    "Backups are not encrypted with age and kept for 30 days in the Frankfurt region.",
    "The user lives in Munich, has two cats and is allergic to peanuts.",
    "The user lives in Berlin, has two dogs and is allergic to peanuts.",
    "Error E1043 means that the license server cannot be reached.",
    "Error E1042 means that the license server can be reached.",
    "Never run `make lint` before pushing to the main branch.",
    "Always run `make test` before pushing to the main branch.",
    "Call the payment sandbox from unit tests; use the recorded responses.",
    "The mobile app does not support iOS 15 and newer.",
    "Invoices below 10,000 euros need approval by two managers.",
    "That is wrong. Maria Lopez is the owner of the billing service.",
    "That is no longer true.",
    "Feature flags live in config/flags.yaml and are reviewed weekly.",
    "Feature flags moved from config/flags.yaml to the admin console.",
    "Unsere Kunden in Wien bekommen die Rechnung nicht auf Papier.",
    "数据库使用MySQL，每周三部署到生产环境，备份保留三十天。",
    "数据库不使用MySQL，每周五部署到生产环境，备份保留三十天。",
    "数据库改用PostgreSQL，每周五部署到生产环境，备份保留三十天。",
    "客户喜欢简短的法语回答，不喜欢表格。",
    "本番環境へのデプロイは毎週月曜日に行い、担当は田中さんです。",
    "本番環境へのデプロイは毎週金曜日に行い、担当は佐藤さんです。",
]
SENTENCES = [
    "The nightly job failed because the disk was full.",
    "She prefers to be called Mia in the standup.",
    "The gateway rejects uploads larger than ten megabytes.",
    "Die Anlage wird im Herbst nach Linz verlegt.",
    "搜索服务昨天因为内存不足而重启。",
    "検索サービスはメモリ不足で再起動しました。",
]


@pytest.mark.parametrize("text", NEW)
@pytest.mark.parametrize("filler", ["{}", "As I recall, {}", "Thanks. {} Let me know!"])
def test_a_correction_is_no_echo(text, filler):
    assert repeated_ids(filler.format(text), KNOWN) == ()


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_really_new_sentence_among_many_that_are_known_is_no_echo(sentence):
    for place in range(len(FACTS)):
        said = [*FACTS[:place], sentence, *FACTS[place:]]
        assert repeated_ids(" ".join(said), KNOWN) == ()


def test_everything_that_is_known_in_another_order_is_an_echo_of_all_of_it():
    said = [*FACTS]
    random.Random(7).shuffle(said)
    text = "Here is everything I remember:\n\n" + "\n".join(f"- *{one}*" for one in said)
    assert set(repeated_ids(text, KNOWN)) == {one.id for one in KNOWN}


@pytest.mark.parametrize("mark", ["\u0336", "\u0332", "\ufe0f", "\u20dd", "\u0336\u0316"])
def test_marks_on_every_letter_hide_no_echo(mark):
    for one in KNOWN:
        said = "".join(f"{letter}{mark}" for letter in one.content)
        assert repeated_ids(said, KNOWN) == (one.id,)


def test_two_facts_in_one_sentence_are_an_echo():
    text = "I recall that Maria Lopez is the owner of the billing service and the project uses"
    assert repeated_ids(f"{text} PostgreSQL 16 for orders and Redis for sessions", KNOWN)


def test_nothing_is_an_echo_of_nothing():
    assert repeated_ids("Maria Lopez is the owner of the billing service.", []) == ()
    assert repeated_ids("", KNOWN) == ()
    assert repeated_ids(" \n\t", KNOWN) == ()
    assert repeated_ids("...!?", KNOWN) == ()


def test_politeness_alone_is_no_echo():
    assert repeated_ids("Sure! Let me know if you need anything else.", KNOWN) == ()


def test_a_text_that_was_cut_for_showing_is_an_echo_of_the_whole():
    long = Known("long", " ".join(FACTS[:9]))
    shown = f"{long.content[:317]}…"
    assert repeated_ids(f"I remember: {shown}", [long]) == ("long",)


def test_the_words_of_two_facts_in_new_relations_are_no_echo():
    known = [Known("a", "Ann reports to Bob and Carol trains Dave.")]
    assert repeated_ids("Bob reports to Ann and Dave trains Carol.", known) == ()


# Pairs of what was shown and what was said.

PAIRS = FilePath(__file__).parent / "pairs" / "echoes.tsv"
BESIDE = Known("o", "The coffee machine in the kitchen is broken since Monday.")


def pairs(half: str, kind: str) -> list[tuple[str, str]]:
    """Return what was shown and what was said; rules were tuned on one half only."""
    lines = PAIRS.read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    rows = rows[0 if half == "tuned" else 1 :: 2]
    return [
        (
            shown,
            re.sub(r"\\u([0-9a-f]{4})", lambda m: chr(int(m[1], 16)), said.replace("\\n", "\n")),
        )
        for one, _, shown, said in rows
        if one == kind
    ]


def test_the_pairs_are_enough_of_both_kinds():
    counts = [len(pairs(half, kind)) for kind in ("echo", "news") for half in ("tuned", "reported")]
    assert sum(counts) >= 200
    assert min(counts) >= 30


@pytest.mark.parametrize("half", ["tuned", "reported"])
def test_news_in_known_words_is_never_an_echo(half):
    lost = [
        one
        for one in pairs(half, "news")
        if repeated_ids(one[1], [Known("k", one[0]), BESIDE]) != ()
    ]
    assert lost == []


@pytest.mark.parametrize(("half", "most"), [("tuned", 0), ("reported", 1)])
def test_an_echo_is_mostly_seen_as_one(half, most):
    missed = [
        one
        for one in pairs(half, "echo")
        if repeated_ids(one[1], [Known("k", one[0]), BESIDE]) == ()
    ]
    assert len(missed) <= most, missed


SHOWN = "The deploy server is db2, and it may be restarted at night."


@pytest.mark.parametrize(
    ("said", "is_echo"),
    [
        (f"As far as I know, {SHOWN}", True),
        (f"> {SHOWN}", True),
        (f"| Fact |\n|---|\n| {SHOWN} |", True),
        (f"| # | topic | fact |\n|---|---|---|\n| 1 | deploy server | {SHOWN} |", True),
        ("\n".join(SHOWN.split()), True),
        (" ".join(" ".join(word) + " " for word in SHOWN.split()), True),
        (" ".join(SHOWN.replace(" ", "")), True),
        ("\u200b".join(SHOWN), True),
        ("The deploy server is db2. Let me know if you need anything else!", True),
        (SHOWN.replace("db2", "db7"), False),
        (SHOWN.replace("may", "must"), False),
        (SHOWN.replace("may", "may not"), False),
        (SHOWN.replace(" at night", ""), False),
        (SHOWN.replace("is db2", "was db2"), False),
        ("The deploy server is probably db2.", False),
        (" ".join(" ".join(word) + " " for word in SHOWN.replace("db2", "db7").split()), False),
        (f"| Fact |\n|---|\n| {SHOWN} | never |", False),
    ],
)
def test_the_table_of_the_page_about_tiers(said, is_echo):
    assert bool(repeated_ids(said, [Known("k", SHOWN)])) is is_echo


def test_hidden_characters_before_an_echo_hide_nothing():
    for hidden in ("\u200b", "\u2060", "\ufeff", "\u00ad", "\u202e"):
        assert repeated_ids(hidden * 20_000 + FACTS[3], KNOWN) == ("k3",)


@pytest.mark.parametrize(
    "rest",
    [
        "Let me know if db3 replaces db2.",
        "Would you like to hear that Tom owns it now?",
        "But only on request.",
        "Not any more.",
        "That is no longer so.",
        "Hope this helps Tom, who owns it now.",
        "Is there anything else, such as the limit of 500?",
    ],
)
def test_news_inside_of_an_offer_is_no_echo(rest):
    assert repeated_ids(f"{FACTS[3]} {rest}", KNOWN) == ()


# Marks.


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "Here is what I remember:\n{}",
        "{}\nLet me know if you need anything else!",
        "```xml\n{}\n```",
    ],
)
def test_a_repeated_block_is_an_echo_by_its_marks_alone(text):
    block = recalled_block([item("a" * 32, FACTS[0])], limits=TierLimits())
    assert recalled_block_sources(text.format(block)) is not None
    assert strip_recalled_blocks(block) == ""


def test_a_block_names_what_it_repeats():
    items = [item("a" * 32, FACTS[0]), item("b" * 32, FACTS[3])]
    block = recalled_block(items, limits=TierLimits())
    assert set(recalled_block_sources(block, items)) == {"a" * 32, "b" * 32}


def test_a_block_that_was_cut_off_or_is_spelled_with_entities_is_still_one():
    block = recalled_block([item("a" * 32, FACTS[0])], limits=TierLimits())
    assert recalled_block_sources(block[:-20]) is not None
    assert recalled_block_sources(block.replace("<", "&lt;").replace(">", "&gt;")) is not None


def test_what_is_said_beside_a_block_stays_and_the_block_does_not():
    block = recalled_block([item("a" * 32, FACTS[0])], limits=TierLimits())
    text = f"{block}\nThe gateway rejects uploads larger than ten megabytes."
    assert recalled_block_sources(text) is None
    assert strip_recalled_blocks(text) == "The gateway rejects uploads larger than ten megabytes."


def test_a_text_that_speaks_of_the_tag_keeps_its_words():
    text = "The prompt has a <recalled_memory> tag, which the template of the billing team lacks."
    assert recalled_block_sources(text) is None
    assert "template of the billing team" in strip_recalled_blocks(text)
    assert strip_recalled_blocks("a < b and c > d") == "a < b and c > d"


def test_a_block_without_its_fence_is_an_echo_of_its_items():
    items = [item("a" * 32, FACTS[0]), item("b" * 32, FACTS[3])]
    lines = recalled_block(items, limits=TierLimits()).splitlines()[1:-1]
    assert set(repeated_ids("\n".join(lines), items)) == {"a" * 32, "b" * 32}


# Properties.

LETTERS = "bcdfghjklmnprstvz"
VOWELS = "aeiou"
words = st.builds(
    lambda parts: "".join(parts),
    st.lists(st.sampled_from([a + b for a in LETTERS for b in VOWELS]), min_size=3, max_size=5),
)
fresh = words.map(lambda word: f"{word}q")
"""Words that no fact and no filler has."""


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(
    fact=st.sampled_from(FACTS[:15]),
    news=st.lists(fresh, min_size=3, max_size=30, unique=True),
    seed=st.integers(0, 2**32),
    filler=st.sampled_from(FILLERS),
)
def test_text_with_forty_percent_new_words_is_never_swallowed(fact, news, seed, filler):
    old = fact.rstrip(".").split()
    old = old[: max(1, int(len(news) * 1.5))]  # at least two of five words are new
    mixed = [*old, *news]
    random.Random(seed).shuffle(mixed)
    assert repeated_ids(filler.format(" ".join(mixed)), KNOWN) == ()
    assert repeated_ids(filler.format(f"{' '.join(old)} {' '.join(news)}."), KNOWN) == ()
    assert repeated_ids(filler.format(f"{fact} {' '.join(news)}."), KNOWN) == ()
    assert repeated_ids(filler.format(", ".join(mixed)), KNOWN) == ()


@settings(max_examples=300, deadline=None)
@given(
    facts=st.lists(st.sampled_from(FACTS), min_size=1, max_size=6, unique=True),
    fillers=st.lists(st.sampled_from(FILLERS), min_size=6, max_size=6),
    joint=st.sampled_from(["\n", " ", "\n\n- ", "\n> "]),
)
def test_known_facts_with_fillers_in_any_order_are_always_caught(facts, fillers, joint):
    said = joint.join(filler.format(fact) for filler, fact in zip(fillers, facts, strict=False))
    assert repeated_ids(said, KNOWN) != ()


@settings(max_examples=200, deadline=None)
@given(text=st.text(max_size=300), other=st.text(max_size=300))
def test_any_text_can_be_asked_about(text, other):
    repeated_ids(text, [Known("a", other)])
    recalled_block_sources(text, [Known("a", other)])
    assert half_repeated(text, [Known("a", "")]) == []
    assert isinstance(strip_recalled_blocks(text), str)


@pytest.mark.parametrize(
    "text",
    [
        "." * 50_000 + "a",
        "don't" + " " * 50_000 + "x",
        "\n" * 50_000,
        "[" * 50_000,
        "<recalled_memory>" * 3_000,
        "x<recalled_memory>" * 3_000,
        "note: " * 8_000,
        "a," * 25_000,
        FACTS[0] * 700,
    ],
    ids=["dots", "blanks", "lines", "brackets", "tags", "open tags", "labels", "commas", "same"],
)
@pytest.mark.timeout(20)
def test_a_hostile_text_is_answered_soon(text):
    repeated_ids(text, KNOWN)
    recalled_block_sources(text, KNOWN)
    repeated_ids(FACTS[0], [Known("x", text)])


MOTHER = "My mother's mother is Ida."
GAS = "The gas is off."


@pytest.mark.parametrize(
    ("shown", "answer"),
    [
        (MOTHER, "My mother is Ida."),
        ("My mother’s mother is Ida.", "My mother is Ida."),
        ("Her father's father is a baker.", "Her father is a baker."),
        ("My doctor's doctor is Dr. Lee.", "My doctor is Dr. Lee."),
        ("My neighbour's doctor is Dr. Lee.", "My doctor is Dr. Lee."),
        ("Die Mutter meiner Mutter ist Ida.", "Meine Mutter ist Ida."),
        (GAS, "~~The gas is off.~~"),
        (GAS, "As far as I know ~~the gas is off~~."),
        (GAS, "<del>The gas is off.</del>"),
        (GAS, "The gas is off, right?"),
        (GAS, "The gas is off?"),
        (GAS, "The gas is off. Right?"),
    ],
)
def test_another_person_a_struck_out_text_and_a_question_are_news(shown, answer):
    assert repeated_ids(answer, [Known("a", shown)]) == ()


@pytest.mark.parametrize(
    ("shown", "answer"),
    [
        (MOTHER, MOTHER),
        (MOTHER, "As I recall, my mother's mother is Ida."),
        ("The owner of the shop is Tom.", "The owner is Tom."),
        (GAS, "> The gas is off."),
        (GAS, "As far as I know the gas is off."),
        (GAS, "~~~\nThe gas is off.\n~~~"),
        (GAS, "The gas is off. Can I help you with anything else?"),
        ("Is the gas off?", "Is the gas off?"),
    ],
)
def test_what_is_neither_of_these_is_an_echo(shown, answer):
    assert repeated_ids(answer, [Known("a", shown)]) == ("a",)


# What else is made of it.


def test_a_text_is_made_of_what_it_mostly_repeats():
    text = "Maria Lopez is the owner of the billing service, so she approves the new invoices."
    assert [one.id for one in half_repeated(text, KNOWN)] == ["k3"]


def test_the_same_claim_has_the_same_numbers_names_and_denials():
    text = "The project uses PostgreSQL 16 for orders"
    assert same_claim("For orders the project runs PostgreSQL 16", text)
    assert not same_claim("The project uses PostgreSQL 17 for orders", text)
    assert not same_claim("The project does not use PostgreSQL 16 for orders", text)
    assert not same_claim("The project uses MySQL 16 for orders", text)

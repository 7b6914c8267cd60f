"""What callers pass and cannot be is told by its name, with what to pass instead."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from memoryware import ContextBuilder, MemoryScope, Origin, Provenance, TieredMemory, Trust
from memoryware.errors import SettingError
from memoryware.tiers import Headings, Labels, Verdict

TEXT = "The orders of the shop are in PostgreSQL 17, on the server db2 of the town."
SHOP = MemoryScope(group_id="shop", agent_id="helper")
NAIVE = datetime(2025, 1, 1)
PARTS = ["tenant", "group_id", "user_id", "agent_id", "session_id", "node_id"]


@pytest.fixture
def memory():
    with TieredMemory.open("memory://") as made:
        yield made


async def refused(memory, name, /, *args, **options):
    """Return what both doors say."""
    with pytest.raises(SettingError) as one:
        getattr(memory, name)(*args, **options)
    with pytest.raises(SettingError) as other:
        await getattr(memory, f"a{name}")(*args, **options)
    assert str(one.value) == str(other.value)
    assert len(str(one.value)) < 300
    return str(one.value)


# The scope.


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(
    ("value", "said"),
    [
        (5, "must be text, and this is int"),
        (True, "must be text, and this is bool"),
        (b"x", "must be text, and this is bytes"),
        (["x"], "must be text, and this is list"),
        (1.5, "must be text, and this is float"),
        ("a\0b", "NUL"),
        ("a\ud800", "half a character"),
        ("x" * 1001, "1001 characters"),
    ],
)
def test_a_part_of_a_scope_is_a_text_that_every_store_can_keep(part, value, said):
    with pytest.raises(SettingError, match=f"^{part}: .*{said}") as told:
        MemoryScope(**{part: value})
    assert "xxx" not in str(told.value)


@pytest.mark.parametrize("value", ["a", "x" * 1000, "", " ", "a b", "日本", "😀", "a\x1fb", None])
def test_every_other_text_can_be_a_part_of_a_scope(value):
    assert MemoryScope(group_id=value).group_id == value


@pytest.mark.parametrize("scope", [5, b"shop", {"group_id": "shop"}, ["shop"], Origin("user")])
async def test_a_scope_is_a_scope_or_the_name_of_a_group(memory, scope):
    for name, args, options in (
        ("retrieve", ("q", scope), {}),
        ("record", (TEXT, scope), {}),
        ("list", (scope,), {}),
        ("digest", (scope,), {}),
        ("forget", (scope,), {}),
        ("promote", (TEXT, scope), {"by": "ann"}),
        ("export", (scope,), {}),
    ):
        assert (await refused(memory, name, *args, **options)).startswith("scope: ")


# Recall.


@pytest.mark.parametrize(
    ("option", "values"),
    [
        (
            "tiers",
            [
                "working",
                "warm",
                ("warm",),
                ["working", 5],
                5,
                None,
                [None],
                b"working",
                [["working"]],
            ],
        ),
        ("score_threshold", [math.inf, math.nan, -math.inf, 1.01, -2, True, "0.5", [0.5]]),
        ("time_range_days", [-1, -0.001, math.inf, math.nan, True, "7", timedelta(1)]),
        ("max_results", [2.5, -1, True, "5", math.nan, [1]]),
        ("at", ["2020", NAIVE, date(2025, 1, 1), 5, timedelta(1)]),
        ("session_id", [5, b"s", ["s"]]),
        ("agent_id", [5, b"a", ["a"]]),
    ],
)
async def test_an_option_of_a_recall_that_cannot_be_is_told_by_its_name(memory, option, values):
    for value in values:
        assert (await refused(memory, "retrieve", "q", SHOP, **{option: value})).startswith(option)


@pytest.mark.parametrize("query", [None, 5, b"q", ["q"]])
async def test_a_query_is_a_text(memory, query):
    assert (await refused(memory, "retrieve", query, SHOP)).startswith("query: must be text")
    assert (await refused(memory, "list", SHOP, query=query)).startswith("query: must be text")


def test_it_is_told_how_one_layer_is_named(memory):
    with pytest.raises(SettingError, match=r"\('working',\)"):
        memory.retrieve("q", SHOP, tiers="working")


@pytest.mark.parametrize(
    "options",
    [
        {"time_range_days": 1e308},
        {"time_range_days": 0},
        {"max_results": 0},
        {"max_results": 10**30},
        {"score_threshold": -1},
        {"score_threshold": 1},
        {"tiers": ["long_term"]},
        {"tiers": ()},
        {"at": datetime.max.replace(tzinfo=UTC)},
        {"at": datetime.min.replace(tzinfo=UTC)},
        {"session_id": ""},
    ],
)
def test_the_ends_of_a_range_can_be(memory, options):
    memory.record(TEXT, SHOP)
    assert memory.retrieve("orders", SHOP, **options) is not None


def test_max_results_does_not_raise_the_limits_of_the_tiers(memory):
    for number in range(30):
        memory.promote(f"Fact {number} of the shop: shelf {number} holds tea.", SHOP, by="ann")
    limits = memory.limits
    assert len(memory.retrieve("shelf tea", SHOP, max_results=1000)) == limits.long_term_items
    said = f"({limits.working_items + limits.long_term_items + limits.agent_items} by default)"
    assert said in TieredMemory.retrieve.__doc__


# Listing, digest, promotion.


@pytest.mark.parametrize(
    ("option", "values"),
    [
        ("tier", ["warm", None, 5, ["working"], {}]),
        ("limit", [-1, 2.5, True, "5", math.inf]),
        ("offset", [-1, 2.5, True, None, "5"]),
    ],
)
async def test_a_page_that_cannot_be_is_told(memory, option, values):
    for value in values:
        assert (await refused(memory, "list", SHOP, **{option: value})).startswith(option)


@pytest.mark.parametrize("id_", [5, None, b"x", ["x"]])
async def test_an_id_is_a_text(memory, id_):
    assert (await refused(memory, "get", id_, SHOP)).startswith("id: must be text")


@pytest.mark.parametrize("since", ["2020", 7, 7.0, NAIVE, date(2025, 1, 1), timedelta(-1), True])
async def test_a_digest_begins_at_a_moment_or_so_long_ago(memory, since):
    assert (await refused(memory, "digest", SHOP, since=since)).startswith("since")


@pytest.mark.parametrize("since", [timedelta(0), timedelta.max, datetime(2025, 1, 1, tzinfo=UTC)])
def test_a_digest_may_begin_at_any_of_them(memory, since):
    assert memory.digest(SHOP, since=since).insights == ()


@pytest.mark.parametrize(
    ("option", "values"),
    [
        ("valid_from", ["2020", NAIVE, 5, date(2025, 1, 1)]),
        ("metadata", ["x", 5, [1], [("a", 1)], b"x"]),
        ("subject", ["", " ", 5, b"x", ["x"]]),
        ("by", ["", 5, None, b"x"]),
    ],
)
async def test_an_option_of_a_promotion_that_cannot_be_is_told(memory, option, values):
    old = memory.promote(TEXT, SHOP, by="ann")
    for value in values:
        options = {"by": "ann", option: value}
        for name, args in (("promote", ("A text.", SHOP)), ("supersede", (old, "A text.", SHOP))):
            assert (await refused(memory, name, *args, **options)).startswith(option)


async def test_an_agent_is_named_by_a_text(memory):
    for value in (5, b"x", ["x"], "x" * 1001):
        options = {"by": "ann", "agent_id": value}
        assert (await refused(memory, "promote", TEXT, SHOP, **options)).startswith("agent_id")


async def test_what_is_superseded_revoked_restored_or_checked_is_one_of_ours(memory):
    right = Verdict(verified=True)
    for wrong in (5, None, b"x", ["x"], {"id": "x"}):
        for name, args, options in (
            ("supersede", (wrong, TEXT, SHOP), {"by": "ann"}),
            ("revoke", (wrong, SHOP), {"by": "ann"}),
            ("mark_invalid", (wrong, SHOP), {"by": "ann"}),
            ("restore", (wrong,), {"by": "ann"}),
            ("attach_verdict", (wrong, right, SHOP), {}),
            ("attach_verdict", ("x", wrong, SHOP), {}),
        ):
            assert "must be one of" in await refused(memory, name, *args, **options)


@pytest.mark.parametrize("limit", [-1, 2.5, True, "5"])
async def test_so_many_are_embedded_at_most(memory, limit):
    assert (await refused(memory, "embed_pending", limit)).startswith("limit")


# Recording.


@pytest.mark.parametrize(
    ("option", "values"),
    [
        ("metadata", ["x", 5, [1], b"x"]),
        ("role", ["boss", None, 5, ["agent"]]),
        ("provenance", ["user:ann", 5, Origin("user")]),
        ("key", [5, b"x", "a\0b", "x" * 1001]),
        ("shown", ["x", [5], [None]]),
        ("tiers", ["long_term", ["warm"]]),
    ],
)
async def test_an_option_of_a_recording_that_cannot_be_is_told(memory, option, values):
    for value in values:
        assert (await refused(memory, "record", TEXT, SHOP, **{option: value})).startswith(option)
    assert memory.list(SHOP).total == 0


@pytest.mark.parametrize(
    "make",
    [
        lambda: Origin("boss", "x"),
        lambda: Origin(["user"], "x"),
        lambda: Origin("user", None),
        lambda: Origin("user", 5),
        lambda: Origin("user", "x" * 1001),
        lambda: Origin("user", "a\0b"),
        lambda: Provenance("user:ann"),
        lambda: Provenance(Origin("user"), "abc"),
        lambda: Provenance(Origin("user"), (5,)),
        lambda: Provenance(Origin("user"), (), "abc"),
        lambda: Verdict(verified="yes"),
        lambda: Verdict(verified=True, confidence=1.1),
        lambda: Verdict(verified=True, confidence=math.nan),
        lambda: Verdict(verified=True, confidence="0.9"),
        lambda: Verdict(verified=True, confidence=True),
        lambda: Verdict(verified=True, issues="one issue"),
        lambda: Verdict(verified=True, issues=(5,)),
        lambda: Verdict(verified=True, by=None),
        lambda: Verdict(verified=True, at=NAIVE),
    ],
)
def test_a_value_that_cannot_be_kept_is_none(make):
    with pytest.raises(SettingError):
        make()


# Forgetting.


@pytest.mark.parametrize(
    ("option", "values"),
    [
        ("ids", ["abc", 5, [5], b"x"]),
        ("origin", ["tool:web", 5]),
        ("query", [5, b"x", ["x"]]),
    ],
)
async def test_what_is_forgotten_must_be_said_rightly(memory, option, values):
    memory.record(TEXT, SHOP)
    for value in values:
        assert (await refused(memory, "forget", SHOP, **{option: value})).startswith(option)
    assert memory.list(SHOP).total == 2


@pytest.mark.parametrize("part", PARTS)
async def test_a_part_that_got_lost_does_not_widen_what_is_forgotten(memory, part):
    memory.record(TEXT, SHOP)
    scope = MemoryScope(**{"group_id": "shop", part: ""})
    assert (await refused(memory, "forget", scope)).startswith(part)
    assert memory.list(SHOP).total == 2


# The context builder.


@pytest.mark.parametrize(
    ("option", "values"),
    [
        ("max_tokens", [0, -1, 2.5, True, "5"]),
        ("group_prompt", [None, 5, ["x"]]),
        ("persona", [None, 5]),
        ("separator", [None, 5]),
        ("count_tokens", [5, "x"]),
        ("headings", ["x", {"persona": "x"}, Headings(persona=5)]),
        (
            "labels",
            [
                "x",
                {"working": "x"},
                Labels(working=5),
                Labels(trust={Trust.USER: 5}),
                Labels(trust=5),
            ],
        ),
        ("tiers", ["working", ("warm",), 5, None]),
        ("score_threshold", [math.nan, 2, True, "0.5"]),
        ("min_relevance", [math.nan, -math.inf, True, "0.5"]),
    ],
)
def test_an_option_of_a_builder_that_cannot_be_is_told(memory, option, values):
    for value in values:
        with pytest.raises(SettingError, match=f"^{option}"):
            ContextBuilder(memory, **{option: value})


@pytest.mark.parametrize("wrong", [None, 5, "sqlite:///m.db"])
def test_a_builder_needs_a_memory(wrong):
    with pytest.raises(SettingError, match="memory"):
        ContextBuilder(wrong)


@pytest.mark.parametrize(
    ("option", "wrong"),
    [
        ("query", None),
        ("query", 5),
        ("scope", 5),
        ("attachments", "one text"),
        ("attachments", [5]),
        ("attachments", None),
        ("proposal", 5),
    ],
)
async def test_what_a_builder_is_asked_must_be_texts(memory, option, wrong):
    given = {"query": "q", "scope": SHOP, option: wrong}
    assert (await refused(ContextBuilder(memory), "build", **given)).startswith(option)


def test_a_builder_takes_words_of_another_language(memory):
    memory.promote(TEXT, SHOP, by="ann")
    built = ContextBuilder(
        memory,
        headings=Headings(group_memory="Was die Gruppe weiß"),
        labels=Labels(long_term="Langzeit", trust={Trust.PERSON: "ein Mensch"}),
    ).build("orders", SHOP)
    assert "Was die Gruppe weiß" in built.text
    assert "Langzeit" in built.text


@pytest.mark.parametrize("moment", [datetime.max, datetime.min])
def test_a_moment_that_utc_does_not_have_is_refused(moment):
    hours = -14 if moment == datetime.max else 14
    far = moment.replace(tzinfo=timezone(timedelta(hours=hours)))
    memory = TieredMemory.open("memory://")
    calls = (
        lambda: memory.promote("The deploy day is Monday.", "g", by="ann", valid_from=far),
        lambda: memory.digest("g", since=far),
        lambda: memory.digest("g", before=far),
        lambda: memory.retrieve("deploy", "g", at=far),
        lambda: Verdict(verified=True, at=far),
    )
    for call in calls:
        with pytest.raises(SettingError, match="moment that UTC has"):
            call()

"""The policy of promotion: who else says so, who decides, and how far a text is trusted."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from memoryware.errors import PromotionRefused, SettingError
from memoryware.scope import MemoryScope
from memoryware.tiers.actors import DecisionActor
from memoryware.tiers.digest import digest
from memoryware.tiers.policy import PromotionPolicy
from memoryware.tiers.promote import promote, supersede
from memoryware.tiers.proposals import propose, reject
from memoryware.tiers.provenance import Origin, Trust
from tiers.kit import DOORS, parts, run
from tiers.long_term import ACME, KINDS, MYSQL, POSTGRES, both_stores, entry_of, memories, waiting

SAME = "In MySQL the orders of the shop are stored."
OTHER = "The parcels leave the shop on Monday and Thursday."


@pytest.fixture(params=DOORS)
def door(request):
    return request.param


def strict(**policy):
    return parts(policy=PromotionPolicy(**{"similarity": 0.6, **policy}))


async def refused(door, p, what, *, by="cy", scope=None):
    with pytest.raises(PromotionRefused) as caught:
        await run(door, promote, p, what, scope, by=by)
    return caught.value


def run_of(number):
    """Return the scope of another run of the same group."""
    return replace(ACME, session_id=f"run-{number}")


# Corroboration.


@pytest.mark.parametrize(
    ("others", "enough"),
    [
        ([], False),
        ([("user:bo", ())], True),
        ([("user:ann", ())], False),  # the same one again
        ([("person:ann", ())], False),
        ([("user:person:ann", ())], False),
        ([("agent:helper", ("user:bo",))], True),
        ([("agent:helper", ("user:bo", "user:ann"))], False),  # may be ann's word
        ([("agent:helper", ())], True),  # nobody but an agent, another than ann
        ([("tool:web", ())], False),
        ([("tool:web", ()), ("import:bundle", ()), ("agent:a", ("tool:web", "user:bo"))], False),
    ],
)
async def test_two_independent_origins_must_say_the_same(door, others, enough):
    p = strict(corroboration=2)
    entry = waiting(p, MYSQL, "user:ann")
    for number, (origin, roots) in enumerate(others):
        waiting(p, SAME, origin, roots, scope=run_of(number))
    if enough:
        assert (await run(door, promote, p, entry, None, by="cy")).ids
    else:
        error = await refused(door, p, entry)
        assert error.reasons == ("corroboration",)
        assert "2 independent origins must say the same" in str(error)


async def test_two_users_of_one_agent_are_two(door):
    p = strict(corroboration=2)
    entry = waiting(p, MYSQL, "agent:helper", ["user:ann"])
    waiting(p, SAME, "agent:helper", ["user:bo"])
    assert (await run(door, promote, p, entry, None, by="cy")).ids


async def test_one_agent_that_says_it_ten_times_is_one(door):
    p = strict(corroboration=2)
    entries = [waiting(p, MYSQL, "agent:helper") for _ in range(5)]
    entries += [waiting(p, MYSQL, "agent:helper", ["user:ann"]) for _ in range(5)]
    assert (await refused(door, p, entries[0])).reasons == ("corroboration",)
    assert (await refused(door, p, entries[-1])).reasons == ("corroboration",)


async def test_two_agents_are_two_unless_a_user_told_both(door):
    p = strict(corroboration=2)
    entry = waiting(p, MYSQL, "agent:a")
    waiting(p, SAME, "agent:b", scope=run_of(2))
    assert (await run(door, promote, p, entry, None, by="cy")).ids
    told = strict(corroboration=2)
    entry = waiting(told, MYSQL, "agent:a", ["user:mallory"])
    waiting(told, SAME, "agent:b", ["user:mallory"], scope=run_of(2))
    assert (await refused(door, told, entry)).reasons == ("corroboration",)


async def test_users_without_a_name_are_one(door):
    p = strict(corroboration=2)
    entry = waiting(p, MYSQL, "user:")
    waiting(p, SAME, "user:")
    assert (await refused(door, p, entry)).reasons == ("corroboration",)


async def test_a_text_that_is_made_of_the_other_adds_nothing(door):
    p = strict(corroboration=2)
    entry = waiting(p, MYSQL, "user:ann")
    waiting(p, SAME, "agent:b", sources=(entry.id,))
    assert (await refused(door, p, entry)).reasons == ("corroboration",)


async def test_what_a_third_mixes_does_not_cost_two_their_voices(door):
    p = strict(corroboration=2)
    entry = waiting(p, MYSQL, "user:ann")
    waiting(p, SAME, "user:bo")
    waiting(p, SAME, "agent:helper", ["user:ann", "user:bo"])
    assert (await run(door, promote, p, entry, None, by="cy")).ids


@pytest.mark.parametrize(
    "text",
    [
        OTHER,
        POSTGRES,  # nearly the same words, and the opposite
        "The orders of the shop are not stored in MySQL.",
    ],
)
async def test_what_says_something_else_is_no_support(door, text):
    p = strict(corroboration=2)
    entry = waiting(p, MYSQL, "user:ann")
    waiting(p, text, "user:bo")
    assert (await refused(door, p, entry)).reasons == ("corroboration",)


@pytest.mark.parametrize("status", ["rejected", "revoked"])
async def test_what_was_turned_down_is_no_support(door, status):
    p = strict(corroboration=2)
    entry = waiting(p, MYSQL, "user:ann")
    waiting(p, SAME, "user:bo", status=status)
    assert (await refused(door, p, entry)).reasons == ("corroboration",)


async def test_an_echo_is_no_support_and_what_was_promoted_is(door):
    p = strict(corroboration=2)
    entry = waiting(p, MYSQL, "user:ann")
    waiting(p, SAME, "user:bo", echo_of=("m",))
    assert (await refused(door, p, entry)).reasons == ("corroboration",)
    waiting(p, SAME, "user:bo", status="promoted")
    assert (await run(door, promote, p, entry, None, by="cy")).ids


async def test_other_groups_are_no_support(door):
    p = strict(corroboration=2)
    entry = waiting(p, MYSQL, "user:ann")
    waiting(p, SAME, "user:bo", scope=MemoryScope(group_id="acme2"))
    waiting(p, SAME, "user:bo", scope=MemoryScope(tenant="t", group_id="acme"))
    assert (await refused(door, p, entry)).reasons == ("corroboration",)


async def test_the_entries_of_an_insight_are_its_support(door):
    p = strict(corroboration=2)
    for user, more in (("ann", "All of us decided that."), ("bo", "Backups are made at night.")):
        waiting(p, f"{MYSQL} {more}", f"user:{user}")
    found = (await run(door, digest, p, ACME)).insights
    insight = next(one for one in found if one.summary == MYSQL)
    assert len(insight.source_entry_ids) == 2
    assert (await run(door, promote, p, insight, None, by="cy")).ids
    alone = strict(corroboration=2)
    for more in ("All of us decided that.", "Backups are made at night."):
        waiting(alone, f"{MYSQL} {more}", "user:ann")
    found = (await run(door, digest, alone, ACME)).insights
    insight = next(one for one in found if one.summary == MYSQL)
    assert (await refused(door, alone, insight)).reasons == ("corroboration",)


@pytest.mark.parametrize("by", ["ann", "user:ann", "person:Ann", "agent:helper", "agent:"])
async def test_who_promotes_is_no_witness(door, by):
    p = strict(corroboration=2)
    assert "0 do" in str(await refused(door, p, MYSQL, by=by, scope=ACME))
    waiting(p, SAME, "user:bo")
    assert "1 does" in str(await refused(door, p, MYSQL, by=by, scope=ACME))
    own = waiting(p, MYSQL, *(("user:ann",) if "ann" in by.lower() else ("agent:helper",)))
    assert "1 does" in str(await refused(door, p, MYSQL, by=by, scope=ACME))
    assert "1 does" in str(await refused(door, p, own, by=by))
    waiting(p, SAME, "user:cy")
    assert (await run(door, promote, p, own, None, by=by)).ids


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("user:ann",), ("user:",)),
        (("agent:a", ("user:ann",)), ("agent:b", ("user:",))),
        (("agent:helper",), ("agent:",)),
        (("agent:",), ("agent:",)),
        (("agent:helper",), ("agent: Helper ",)),
        (("user:",), ("person:ann",)),
    ],
)
async def test_somebody_without_a_name_may_be_anybody(door, one, other):
    p = strict(corroboration=2)
    entry = waiting(p, MYSQL, *one, scope=run_of(1))
    waiting(p, SAME, *other, scope=run_of(2))
    assert "1 does" in str(await refused(door, p, entry))
    waiting(p, SAME, "user:bo", scope=run_of(3))
    waiting(p, SAME, "user:dan", scope=run_of(4))
    assert (await run(door, promote, p, entry, None, by="cy")).ids


async def test_agents_of_one_run_are_one_source(door):
    p = strict(corroboration=2)
    entry = waiting(p, MYSQL, "agent:writer", scope=run_of(1))
    waiting(p, SAME, "agent:editor", scope=run_of(1))
    assert "1 does" in str(await refused(door, p, entry))
    waiting(p, SAME, "agent:editor", scope=run_of(2))
    assert (await run(door, promote, p, entry, None, by="cy")).ids


async def test_two_people_in_one_run_are_two(door):
    p = strict(corroboration=2)
    entry = waiting(p, MYSQL, "agent:writer", ["user:ann"], scope=run_of(1))
    waiting(p, SAME, "user:bo", scope=run_of(1))
    assert (await run(door, promote, p, entry, None, by="cy")).ids


async def test_how_alike_two_texts_must_be_is_a_setting(door):
    for similarity, enough in ((0.3, True), (0.9, False)):
        p = strict(corroboration=2, similarity=similarity)
        entry = waiting(p, MYSQL, "user:ann")
        waiting(p, "In MySQL, by the way, are orders of our shop.", "user:bo")
        if enough:
            assert (await run(door, promote, p, entry, None, by="cy")).ids
        else:
            await refused(door, p, entry)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Invoices go to the address billing@shop.example.", "billing@evil.example"),
        ("The orders of the shop are in PostgreSQL and not in MySQL.", "swapped"),
        (
            "The old archive of the shop must be deleted in May.",
            "The old archive of the shop must not be deleted in May.",
        ),
        (
            "The shop is open on sundays and on holidays.",
            "The shop is closed on sundays and on holidays.",
        ),
        ("Ann owes Bob ten euros since the summer.", "Bob owes Ann ten euros since the summer."),
        (
            "The server is restarted each day at noon.",
            "The server is restarted each day at midnight.",
        ),
    ],
)
@pytest.mark.parametrize("similarity", [0.5, 1.0])
async def test_nearly_the_same_words_that_say_something_else_are_no_support(
    door, one, other, similarity
):
    if other == "billing@evil.example":
        other = one.replace("billing@shop.example", other)
    if other == "swapped":
        other = "The orders of the shop are in MySQL and not in PostgreSQL."
    p = strict(corroboration=2, similarity=similarity)
    entry = waiting(p, one, "user:ann")
    waiting(p, other, "user:bo")
    assert (await refused(door, p, entry)).reasons == ("corroboration",)


@pytest.mark.parametrize(
    "other",
    [
        "The orders of the shop live in PostgreSQL 17 on the server db2.",
        "In PostgreSQL 17, on the server db2, are the orders of the shop.",
    ],
)
async def test_the_same_in_another_order_is_support_if_that_is_wanted(door, other):
    p = strict(corroboration=2, similarity=0.6)
    entry = waiting(
        p, "The orders of the shop are in PostgreSQL 17, on the server db2.", "user:ann"
    )
    waiting(p, other, "user:bo")
    assert (await run(door, promote, p, entry, None, by="cy")).ids


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The room is at -5 degrees.", "The room is at 5 degrees."),
        ("A dog bites a cat.", "A cat bites a dog."),
        ("Invoices go to billing@shop.example.", "Invoices come from billing@shop.example."),
        ("上海的服务器比北京的快", "北京的服务器比上海的快"),
        ("The shop is open.", "Is the shop open?"),
        ("The shop is open.", "The shop is rarely open."),
        ("Der Laden hat offen.", "Der Laden hat kaum offen."),
    ],
)
async def test_by_default_only_the_same_words_are_support(door, one, other):
    p = parts(policy=PromotionPolicy(corroboration=2))
    entry = waiting(p, one, "user:ann")
    waiting(p, other, "user:bo")
    assert (await refused(door, p, entry)).reasons == ("corroboration",)
    waiting(p, f"  {one.upper()}", "user:bo")
    assert (await run(door, promote, p, entry, None, by="cy")).ids


async def test_one_person_with_an_invisible_character_is_still_one(door):
    p = strict(corroboration=2)
    entry = waiting(p, MYSQL, "user:ann")
    waiting(p, MYSQL, "user:An\u200bn")
    waiting(p, MYSQL, "user:\uff21nn")
    assert (await refused(door, p, entry)).reasons == ("corroboration",)


# A person decides.


@pytest.mark.parametrize(
    "by", ["agent:x", "tool:x", "model:x", "import:x", " AGENT:x", "\uff41gent:x"]
)
async def test_what_is_no_person_cannot_approve(door, by):
    p = strict(approval=True)
    error = await refused(door, p, waiting(p), by=by)
    assert error.reasons == ("approval",)
    assert "a person must promote it" in str(error)


@pytest.mark.parametrize("by", ["ann", "person:ann", "user:ann", "agentina"])
async def test_a_person_can_approve(door, by):
    p = strict(approval=True)
    assert (await run(door, promote, p, waiting(p), None, by=by)).ids


# Four eyes.


async def test_who_proposed_may_not_promote(door):
    p = strict(four_eyes=True)
    entry = waiting(p)
    assert (await refused(door, p, entry)).reasons == ("own_proposal",)
    await run(door, propose, p, entry, None, by="ann")
    for by in ("ann", " Ann ", "person:ANN", "user:ann"):
        error = await refused(door, p, entry, by=by)
        assert error.reasons == ("own_proposal",)
        assert "somebody else must promote" in str(error)
    assert (await run(door, promote, p, entry, None, by="bo")).ids


async def test_a_text_must_be_proposed_as_an_entry_first(door):
    p = strict(four_eyes=True)
    error = await refused(door, p, MYSQL, scope=ACME)
    assert "propose()" in str(error)
    entry = await run(door, propose, p, MYSQL, ACME, by="ann")
    assert (await run(door, promote, p, entry, None, by="bo")).ids


async def test_every_source_of_an_insight_must_be_proposed_by_somebody_else(door):
    p = strict(four_eyes=True)
    wordings = {"dan": "We deploy on Fridays.", "eve": "On Fridays we deploy."}
    entries = [waiting(p, text, f"user:{name}") for name, text in wordings.items()]
    (insight,) = (await run(door, digest, p, ACME)).insights
    await run(door, propose, p, entries[0], None, by="bo")
    (proposed,) = (await run(door, digest, p, ACME)).insights
    # What nobody proposed is decided with the proposal, and is none of its sources.
    assert (proposed.source_entry_ids, proposed.repeats) == ((entries[0].id,), (entries[1].id,))
    assert (await refused(door, p, insight)).reasons == ("own_proposal",)
    await run(door, propose, p, entries[1], None, by="ann")
    await run(door, propose, p, entries[1], None, by="agent:a")
    assert (await refused(door, p, insight, by="ann")).reasons == ("own_proposal",)
    assert (await run(door, promote, p, insight, None, by="cy")).ids


@pytest.mark.parametrize("last", ["agent:helper", "bo", " ANN "])
async def test_who_proposed_once_stays_a_proposer(door, last):
    p = strict(four_eyes=True)
    entry = waiting(p)
    for by in ("ann", last, "ann", last):
        entry = await run(door, propose, p, entry, None, by=by)
    assert entry.proposers == tuple(dict.fromkeys(("ann", last.strip())))
    for what in (entry, entry.id, entry.content):
        assert (await refused(door, p, what, by="ann", scope=ACME)).reasons == ("own_proposal",)
    await run(door, reject, p, entry, None, by="dan")
    await run(door, propose, p, entry, None, by="eve")
    assert (await refused(door, p, entry, by="ann")).reasons == ("own_proposal",)
    assert (await run(door, promote, p, entry, None, by="cy")).ids


async def test_the_same_text_proposed_as_another_entry_is_the_same_proposal(door):
    p = strict(four_eyes=True)
    first, second = waiting(p), waiting(p)
    await run(door, propose, p, first, None, by="ann")
    await run(door, propose, p, second, None, by="agent:helper")
    for what in (first, second, MYSQL):
        assert (await refused(door, p, what, by="ann", scope=ACME)).reasons == ("own_proposal",)
    assert (await run(door, promote, p, MYSQL, ACME, by="cy")).ids


async def test_a_proposed_insight_can_be_promoted_by_another(door):
    p = strict(four_eyes=True)
    for year in (2021, 2022):
        waiting(p, MYSQL, f"user:u{year}")
    (insight,) = (await run(door, digest, p, ACME)).insights
    entry = await run(door, propose, p, insight, None, by="bo")
    assert (await refused(door, p, entry, by="bo")).reasons == ("own_proposal",)
    assert (await run(door, promote, p, entry, None, by="ann")).ids


# Trust.


@pytest.mark.parametrize("least", list(Trust))
@pytest.mark.parametrize("origin", ["tool:w", "agent:a", "user:u", "person:p"])
async def test_a_text_must_be_trusted_far_enough(door, least, origin):
    p = strict(min_trust=least)
    entry = waiting(p, MYSQL, origin)
    if Origin.parse(origin).trust >= least:
        assert (await run(door, promote, p, entry, None, by="ann")).ids
    else:
        error = await refused(door, p, entry)
        assert error.reasons == ("min_trust",)
        assert least.name in str(error)


# All together.


async def test_all_reasons_are_said_at_once_and_nothing_changes(door):
    p = strict(corroboration=3, approval=True, four_eyes=True, min_trust=Trust.USER)
    entry = waiting(p, MYSQL, "tool:web", status="rejected", decided_by="ann")
    error = await refused(door, p, entry, by="agent:a")
    expected = {"rejected", "approval", "own_proposal", "min_trust", "corroboration"}
    assert set(error.reasons) == expected
    assert str(error).count(";") >= len(expected) - 1
    assert entry_of(p, entry) == entry
    assert memories(p) == []
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.reasons, str(copy)) == (error.reasons, str(error))


@pytest.mark.parametrize("kind", KINDS)
async def test_the_policy_holds_for_superseding_as_well(door, kind, tmp_path):
    stores = both_stores(kind, tmp_path)
    old = await run(door, promote, parts(stores), MYSQL, ACME, by="ann")
    p = parts(
        stores,
        policy=PromotionPolicy(corroboration=2),
        new_id=map("x{}".format, range(99)).__next__,
    )
    with pytest.raises(PromotionRefused, match="independent"):
        await run(door, supersede, p, old, POSTGRES, ACME, by="ann")
    assert [one.valid_to for one in memories(p)] == [None]


async def test_by_default_nothing_more_is_asked(door):
    p = parts()
    assert (await run(door, promote, p, waiting(p, MYSQL, "tool:web"), None, by="agent:a")).ids


@pytest.mark.parametrize(
    "wrong",
    [
        {"corroboration": 1.5},
        {"approval": "yes"},
        {"corroboration": -1},
        {"similarity": 0},
        {"similarity": 1.1},
        {"min_trust": 7},
    ],
)
async def test_a_policy_that_cannot_be_is_an_error(door, wrong):
    with pytest.raises(SettingError, match=next(iter(wrong))):
        PromotionPolicy(**wrong)


async def test_two_names_of_one_are_the_same(door):
    ann = DecisionActor.of("ann")
    same = {by for by in ("Ann", "person: ann", "user:ANN", "agent:ann", "bo") if ann.is_same(by)}
    assert same == {"Ann", "person: ann", "user:ANN"}

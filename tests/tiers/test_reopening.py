"""Entries are reopened by id: a digest shows again what it showed before the decision."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from limits import limited
from memoryware import MemoryScope, Origin, PromotionPolicy, Provenance
from memoryware._runner import run_blocking
from memoryware.errors import EntryMissing, SettingError
from memoryware.scope import personal_agent
from memoryware.settings import TierLimits
from memoryware.tiers.model import PendingPromotion
from memoryware.tiers.proposals import propose, statements_in
from memoryware.tiers.reopen import ReopenTarget, reopen_records

SHOP = MemoryScope(group_id="shop")
DAY, PRICE = "We deploy the shop on Mondays.", "The price of a parcel is four euros."
OTHER_WORDS = "On Mondays we deploy the shop."


def record(memory, text=DAY, by="helper", **options):
    provenance = Provenance(Origin("agent", by))
    return memory.log_quarantine(text, SHOP, provenance=provenance, **options)


def reopen(memory, *targets, by="ann", **options):
    named = [one if isinstance(one, ReopenTarget) else ReopenTarget(one) for one in targets]
    return run_blocking(reopen_records(memory.parts, SHOP, named, by=by, **options))


def waiting(memory):
    digest = memory.digest(SHOP)
    return (
        digest.waiting,
        [(one.id, one.summary, one.source_entry_ids, one.repeats) for one in digest.insights],
    )


def current(memory):
    records = [item.record for item in memory.list(SHOP, tier="longterm").items]
    return {record.content for record in records if record.revocation is None}


@pytest.fixture
def several(memory):
    """Copies and other wordings of a statement, in one entry with another statement as well."""
    entries = [
        record(memory),
        record(memory, by="second"),
        record(memory, f"{DAY} {PRICE}", by="third"),
        record(memory, OTHER_WORDS, by="fourth"),
    ]
    memory.parts.clock.forward(minutes=1)
    return entries


@pytest.mark.parametrize("act", ["promote", "reject"])
@pytest.mark.parametrize("position", range(4))
def test_a_digest_shows_again_what_it_showed(memory, several, act, position):
    before = waiting(memory)
    insight = next(one for one in memory.digest(SHOP).insights if len(one.entry_ids) > 1)
    options = {"by": "bo"} if act == "promote" else {"by": "bo", "reason": "no"}
    getattr(memory, act)(insight, SHOP, **options)
    assert waiting(memory) != before
    reopen(memory, several[position].id)
    assert waiting(memory) == before
    assert current(memory) == set()
    for entry in several:
        assert memory.get(entry.id, SHOP) == entry


def test_the_id_of_a_memory_reopens_what_it_was_promoted_from(memory, several):
    before = waiting(memory)
    made = [memory.promote(insight, by="bo") for insight in memory.digest(SHOP).insights]
    assert waiting(memory)[0] == 0
    for promotion in made:
        reopen(memory, *promotion.ids)
    assert waiting(memory) == before
    assert current(memory) == set()


def test_one_statement_is_reopened_and_the_other_stays_decided(memory):
    entry = record(memory, f"{DAY} {PRICE}")
    by_text = {text: key for key, text in statements_in(entry).items()}
    for insight in memory.digest(SHOP).insights:
        memory.promote(insight, by="bo")
    result = reopen(memory, ReopenTarget(entry.id, by_text[DAY]))
    assert result.ids == (entry.id,)
    assert current(memory) == {PRICE}
    assert [one.summary for one in memory.digest(SHOP).insights] == [DAY]
    with pytest.raises(EntryMissing, match="nothing was decided"):
        reopen(memory, ReopenTarget(entry.id, by_text[DAY]))
    reopen(memory, entry.id)
    assert memory.get(entry.id, SHOP) == entry
    assert current(memory) == set()


def test_a_statement_whose_text_was_edited_is_reopened_by_its_memory(memory):
    entry = record(memory, f"{DAY} {PRICE}")
    first, second = memory.digest(SHOP).insights
    made = memory.promote(replace(first, summary="Deploys are on Tuesdays."), by="bo")
    memory.promote(second, by="bo")
    key = first.covers[entry.id][0]
    with pytest.raises(EntryMissing, match=f"name the memory, one of .*{made.ids[0]}"):
        reopen(memory, ReopenTarget(entry.id, key))
    reopen(memory, made.ids[0])
    assert current(memory) == {second.summary}


def test_all_of_them_or_none(memory):
    first, second, third = (record(memory, text) for text in (DAY, PRICE, "Tea is at four."))
    promotion = memory.promote(first.id, SHOP, by="ann")
    memory.reject(second.id, SHOP, by="ann")
    for wrong, message in ((third.id, "nothing was decided"), ("0" * 32, "no entry or")):
        with pytest.raises(EntryMissing, match=message):
            reopen(memory, first.id, second.id, wrong)
    assert current(memory) == {DAY}
    result = reopen(memory, first.id, second.id)
    assert result.ids == (first.id, second.id)
    assert result.receipt.ids == promotion.ids
    assert memory.count_waiting(SHOP) == 3


def test_a_dry_run_changes_nothing_and_counts_the_same(memory, several):
    memory.promote(memory.digest(SHOP).insights[0], by="ann")
    before = waiting(memory), current(memory)
    planned = reopen(memory, several[0].id, dry_run=True)
    assert (waiting(memory), current(memory)) == before
    done = reopen(memory, several[0].id)
    assert planned.ids == done.ids
    assert planned.receipt.counts == done.receipt.counts
    assert (planned.receipt.id, bool(done.receipt.id)) == ("", True)


def test_what_somebody_else_has_promoted_stays(memory):
    memory.promote(DAY, SHOP, by="bo")
    entry = record(memory)
    memory.parts.clock.forward(minutes=1)
    made = memory.promote(entry.id, SHOP, by="ann")
    result = reopen(memory, entry.id)
    assert (result.ids, result.kept) == ((entry.id,), made.ids)
    assert current(memory) == {DAY}
    assert memory.get(entry.id, SHOP) == entry


def test_what_was_derived_is_hidden_and_restored_by_the_receipt(memory):
    entry = record(memory)
    made = memory.promote(entry.id, SHOP, by="bo")
    child = Provenance.derived(Origin("agent", "helper"), made.memories)
    answer = memory.log_quarantine(PRICE, SHOP, provenance=child)
    result = reopen(memory, made.ids[0])
    assert memory.get(answer.id, SHOP).revocation == result.receipt.id
    memory.restore(memory.find_receipt(result.receipt.id, SHOP), by="ann")
    assert memory.get(answer.id, SHOP).revocation is None


def test_the_text_that_was_replaced_is_current_again(memory):
    old = memory.promote(DAY, SHOP, by="bo")
    entry = record(memory, DAY.replace("Monday", "Friday"))
    memory.parts.clock.forward(minutes=1)
    memory.supersede(old, entry, by="bo")
    result = reopen(memory, entry.id)
    assert result.receipt.reinstated == old.ids
    assert memory.get(old.ids[0], SHOP).valid_to is None


def test_a_rejection_of_one_entry_alone_is_undone_alone(memory, several):
    memory.ungroup(several[0].id, SHOP)
    memory.reject(several[0].id, SHOP, by="bo")
    memory.reject(several[1].id, SHOP, by="bo")
    reopen(memory, several[0].id)
    assert memory.get(several[0].id, SHOP).status == "pending"
    assert memory.get(several[1].id, SHOP).status == "rejected"


def test_an_approved_proposal_is_a_proposal_again(opened):
    memory = opened(policy=PromotionPolicy(four_eyes=True))
    entry = memory.propose(record(memory).id, SHOP, by="ann")
    memory.promote(entry.id, SHOP, by="bo")
    reopen(memory, entry.id, by="cy")
    assert memory.get(entry.id, SHOP) == entry


def test_what_has_no_decision_of_its_own_is_refused(memory):
    plain = memory.promote(PRICE, SHOP, by="ann").ids[0]
    entry = record(memory)
    receipt = memory.revoke(entry.id, SHOP, by="ann")
    hidden = memory.promote("Tea is at four.", SHOP, by="ann").ids[0]
    gone = memory.revoke(hidden, SHOP, by="ann")
    for id_, message in (
        (plain, "promoted from no entry"),
        (entry.id, f"revoked as {receipt.id}"),
        (hidden, f"revoked as {gone.id}"),
    ):
        with pytest.raises(EntryMissing, match=message):
            reopen(memory, id_)
    with pytest.raises(SettingError):
        reopen(memory, plain, by=" ")


def test_a_request_to_forget_names_what_restores(memory):
    made = memory.promote(DAY, SHOP, by="ann")
    waits = PendingPromotion(subject="", against=made.ids, removes=True)
    entry = run_blocking(propose(memory.parts, "Forget the day.", SHOP, by="ann", waits=waits))
    memory.promote(entry, by="bo")
    assert current(memory) == set()
    with pytest.raises(EntryMissing, match=f"asked to forget.*{made.ids[0]}"):
        reopen(memory, entry.id)


def test_older_decisions_than_the_newest_entries_are_found(memory):
    """Waiting entries that are newer must not push other wordings out of sight."""
    entries = [record(memory), record(memory, OTHER_WORDS, by="second")]
    before = waiting(memory)
    memory.reject(memory.digest(SHOP).insights[0], SHOP, by="bo")
    for number in range(6):
        record(memory, f"Parcel {number} is in the {number}. rack of the cellar.")
    memory.parts = replace(memory.parts, limits=limited(TierLimits, digest_entries=4))
    reopen(memory, entries[0].id)
    assert [memory.get(entry.id, SHOP).status for entry in entries] == ["pending", "pending"]
    assert before[0] == 2


def test_what_is_for_one_user_alone_is_not_reopened_with_what_is_for_all(memory):
    own = PendingPromotion(subject="", agent_id=personal_agent("ann"))
    shared = record(memory)
    private = run_blocking(propose(memory.parts, OTHER_WORDS, SHOP, by="ann", waits=own))
    for entry in (shared, private):
        memory.reject(entry.id, SHOP, by="bo")
    reopen(memory, shared.id)
    assert memory.get(private.id, SHOP).status == "rejected"


@pytest.mark.slow
def test_many_are_reopened_without_comparing_each_with_each(memory):
    names = "box", "label"
    texts = [f"The {name} of shelf {at} is {at * 7}." for at in range(150) for name in names]
    entries = [one.entry.id for one in memory.record_many(texts, SHOP)]
    memory.reject_many(entries, SHOP, by="bo")
    begin = time.process_time()
    assert len(reopen(memory, *entries[:100]).ids) == 100
    assert time.process_time() - begin < 5  # all pairs took 16 seconds for a thousand entries


# As an operation of the memory.


@pytest.mark.parametrize("door", ["reopen", "areopen"])
@pytest.mark.parametrize("kind", ["entry", "id", "ids", "insight"])
async def test_a_rejection_is_undone_by_whatever_names_it(memory, door, kind):
    entry = record(memory)
    before = waiting(memory)
    (insight,) = memory.digest(SHOP).insights
    memory.reject(entry, by="ann")
    target = {"entry": entry, "id": entry.id, "ids": (entry.id,), "insight": insight}[kind]
    reopened = getattr(memory, door)(target, "shop", by="ann")
    reopened = await reopened if door == "areopen" else reopened
    assert (reopened.ids, reopened.receipt) == ((entry.id,), None)
    assert waiting(memory) == before


@pytest.mark.parametrize("kind", ["promotion", "memory"])
def test_an_approval_is_undone_and_its_memory_hidden(memory, kind):
    record(memory)
    promotion = memory.promote(memory.digest(SHOP).insights[0], by="ann")
    target = promotion if kind == "promotion" else promotion.memories[0]
    planned = memory.reopen(target, SHOP, by="ann", dry_run=True)
    assert current(memory) == {DAY}
    reopened = memory.reopen(target, SHOP, by="ann")
    assert (planned.ids, planned.receipt.counts) == (reopened.ids, reopened.receipt.counts)
    assert (current(memory), memory.digest(SHOP).waiting) == (set(), 1)


def test_of_an_entry_with_two_statements_only_that_of_the_insight_is_reopened(memory):
    record(memory, f"{DAY} {PRICE}")
    insights = {insight.summary: insight for insight in memory.digest(SHOP).insights}
    for insight in insights.values():
        memory.reject(insight, by="ann")
    memory.reopen(insights[DAY], SHOP, by="ann")
    assert [insight.summary for insight in memory.digest(SHOP).insights] == [DAY]


def test_what_is_no_record_is_not_reopened(memory):
    entry = record(memory)
    for target, error in (("x" * 32, EntryMissing), (entry, EntryMissing), (7, SettingError)):
        with pytest.raises(error):
            memory.reopen(target, SHOP, by="ann")
    with pytest.raises(SettingError, match="by"):
        memory.reopen(entry, SHOP, by=" ")

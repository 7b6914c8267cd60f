"""Of one speaker and subject what was said last is current, whatever is approved last."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from memoryware import MemoryScope, Origin, Provenance
from memoryware.tiers import MemoryManager, PendingPromotion
from memoryware.tiers.stores.protocol import Select

SHOP = MemoryScope(group_id="shop")
DAY = "raid night"
MONDAY, TUESDAY, FRIDAY = (f"Raid night is {day}." for day in ("Monday", "Tuesday", "Friday"))
BIRTHDAY, TYPO = "My birthday is March 3rd.", "sorry, typo: my birthday is March 13th, not 3rd"
CORRECTED = "My birthday is March 13th, not 3rd."


def say(memory, text, user="ann", **waits):
    """Record a statement of a user that waits for a decision about its subject."""
    memory.parts.clock.forward(hours=1)
    scope = MemoryScope(group_id="shop", user_id=user, session_id="s")
    entry = memory.record(text, scope, provenance=Provenance(Origin("user", user))).entry
    pending = PendingPromotion(**{"subject": DAY, **waits})
    memory.parts.stores.quarantine.edit(
        Select.within(SHOP, ids=(entry.id,)), lambda stored: replace(stored, waits=pending)
    )
    return memory.get(entry.id, SHOP)


def approve(memory, *entries, **options):
    promotions = []
    for entry in entries:
        memory.parts.clock.forward(hours=1)
        promotions.append(memory.promote(entry, SHOP, by="carl", **options))
    return promotions


def current(memory):
    return [one.content for one in memory.list(SHOP, tier="long_term", state="current").items]


def learned(memory, *texts):
    with MemoryManager(memory, background=False) as manager:
        for number, text in enumerate(texts):
            memory.parts.clock.forward(minutes=1)
            scope = MemoryScope(group_id="shop", user_id="ann", session_id=str(number))
            manager.learn([("user", text), ("assistant", "Got it!")], scope)


@pytest.mark.parametrize("way", ["one by one", "together", "entries"])
@pytest.mark.parametrize("newest_first", [True, False])
def test_a_correction_stays_current_in_every_order(memory, way, newest_first):
    learned(memory, BIRTHDAY, TYPO)
    insights = sorted(memory.digest(SHOP).insights, key=lambda one: one.summary != CORRECTED)
    assert [one.summary for one in insights] == [CORRECTED, BIRTHDAY]
    insights = insights if newest_first else insights[::-1]
    if way == "together":
        memory.promote_many(insights, SHOP, by="carl")
    else:
        ids = [one.source_entry_ids[0] for one in insights]
        approve(memory, *(ids if way == "entries" else insights))
    assert current(memory) == [CORRECTED]
    (old,) = memory.list(SHOP, tier="long_term", state="superseded").items
    (new,) = memory.list(SHOP, tier="long_term", state="current").items
    assert old.content == BIRTHDAY
    assert old.record.superseded_by == new.record.document_id
    assert not memory.digest(SHOP).insights


@pytest.mark.parametrize("order", [*itertools.permutations(range(3))])
def test_three_statements_leave_one_history_in_every_order(memory, order):
    entries = [say(memory, text) for text in (MONDAY, TUESDAY, FRIDAY)]
    promotions = approve(memory, *(entries[number] for number in order))
    assert current(memory) == [FRIDAY]
    texts = {one.content: one.record for one in memory.list(SHOP, tier="long_term").items}
    chain = [texts[text] for text in (MONDAY, TUESDAY, FRIDAY)]
    for older, newer in itertools.pairwise(chain):
        assert older.superseded_by == newer.document_id
        assert older.valid_to == max(older.valid_from, newer.valid_from)  # they never hold at once
    by_number = dict(zip(order, promotions, strict=True))
    assert by_number[2].memories[0].valid_to is None
    # Without the newest the one before holds again, and without both the first.
    memory.revoke(by_number[2], SHOP, by="bo")
    assert current(memory) == [TUESDAY]
    receipt = memory.revoke(by_number[1], SHOP, by="bo")
    assert current(memory) == [MONDAY]
    memory.restore(receipt, by="bo")
    assert current(memory) == [TUESDAY]


def test_the_result_says_that_it_is_the_past(memory):
    older, newer = say(memory, MONDAY), say(memory, TUESDAY)
    new, old = approve(memory, newer, older)
    (past,) = old.memories
    assert (past.valid_from, past.valid_to) == (older.said_at, new.memories[0].valid_from)
    assert past.superseded_by == new.document_id
    assert (old.superseded, old.contradictions, old.existing) == ((), (), False)
    assert memory.get(past.id, SHOP) == past
    assert memory.get(older.id, SHOP).memory_ids == old.ids


def test_an_order_of_a_person_is_done(memory):
    older, newer = say(memory, MONDAY), say(memory, TUESDAY)
    (new,) = approve(memory, newer)
    memory.supersede(new, older, SHOP, by="carl")
    assert current(memory) == [MONDAY]


def test_a_text_that_somebody_passes_is_said_now(memory):
    older, newer = say(memory, MONDAY), say(memory, TUESDAY)
    approve(memory, newer)
    memory.promote(older.content, SHOP, by="carl", subject=DAY)
    assert current(memory) == [MONDAY]


def test_a_time_that_is_passed_decides(memory):
    older, newer = say(memory, MONDAY), say(memory, TUESDAY)
    approve(memory, newer)
    approve(memory, older, valid_from=memory.parts.clock())
    assert current(memory) == [MONDAY]


def test_of_two_speakers_the_last_decision_is_current(memory):
    older, newer = say(memory, MONDAY, "ann"), say(memory, TUESDAY, "bo")
    approve(memory, newer, older)
    assert current(memory) == [MONDAY]


def test_what_was_said_again_is_as_new_as_its_last_time(memory):
    first, other = say(memory, MONDAY), say(memory, TUESDAY)
    again = say(memory, MONDAY)
    (insight,) = [one for one in memory.digest(SHOP).insights if one.summary == MONDAY]
    assert {first.id, again.id} == {*insight.entry_ids}
    approve(memory, other, insight)
    assert current(memory) == [MONDAY]


def test_what_is_current_and_was_said_again_stays(memory):
    first, other = say(memory, MONDAY), say(memory, TUESDAY)
    say(memory, MONDAY)
    (insight,) = [one for one in memory.digest(SHOP).insights if one.summary == MONDAY]
    approve(memory, insight, other)
    assert current(memory) == [MONDAY]
    assert first.said_at < other.said_at


@pytest.mark.parametrize("newest_first", [True, False])
def test_two_proposals_for_the_place_of_one_memory_without_a_subject(memory, newest_first):
    target = memory.promote("I like green tea.", SHOP, by="carl")
    more = {"subject": "", "against": target.ids, "replaces": (target.document_id,)}
    entries = [say(memory, "I like black tea.", **more), say(memory, "I hate black tea.", **more)]
    approve(memory, *(entries[::-1] if newest_first else entries))
    assert current(memory) == ["I hate black tea."]


@pytest.mark.parametrize("newest_first", [True, False])
def test_who_goes_back_to_what_was_said_first_has_said_that_last(memory, newest_first):
    home, moved = "I live in Dublin.", "I live in Cork."
    learned(memory, home, moved, home)
    insights = sorted(memory.digest(SHOP).insights, key=lambda one: one.summary == home)
    assert [one.summary for one in insights] == [moved, home]
    approve(memory, *(insights[::-1] if newest_first else insights))
    assert current(memory) == [home]

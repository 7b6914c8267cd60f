"""Revoking and restoring leaves what was there before: validity, links, promotions and trust."""

from __future__ import annotations

import itertools
import json
import random
from datetime import timedelta

import pytest

from doors import everyday_and_slow
from memoryware import MemoryScope, MemorywareError, Origin, Provenance, TieredMemory, Trust
from tiers.kit import Clock

SHOP = MemoryScope(group_id="shop")
ANN = MemoryScope(group_id="shop", user_id="ann")
BOB = MemoryScope(group_id="shop", user_id="bob")
MONDAY, TUESDAY, SUNDAY, FRIDAY = (
    f"The deploy day of the shop is {day}." for day in ("Monday", "Tuesday", "Sunday", "Friday")
)
DAY = "deploy day"


def exported(memory):
    """Return everything that a group has; only the order of keys does not count."""
    return [json.dumps(json.loads(line), sort_keys=True) for line in memory.export(SHOP)[1:]]


def intervals(memory, *promotions):
    found = [memory.get(one.ids[0], SHOP) for one in promotions]
    return [(one.valid_from, one.valid_to, one.superseded_by) for one in found]


def cold(memory, **how):
    found = memory.retrieve(DAY, SHOP, tiers=("long_term",), **how)
    return sorted(one.content for one in found)


# Chains.


@pytest.mark.parametrize("act", ["revoke", "mark_invalid"])
def test_a_text_that_was_said_again_meanwhile_ends_where_it_ended(memory, act):
    clock = memory.parts.clock
    first = memory.promote(MONDAY, SHOP, by="ann")
    clock.forward(days=10)
    second = memory.supersede(first, TUESDAY, SHOP, by="ann")
    moment = clock() + timedelta(days=4)
    clock.forward(days=10)
    again = memory.promote(MONDAY, SHOP, by="ann")
    clock.forward(days=10)
    before, kept = intervals(memory, first, second, again), exported(memory)
    receipt = getattr(memory, act)(second, SHOP, by="ann")
    assert cold(memory, at=moment) == [MONDAY]
    assert cold(memory) == [MONDAY]
    memory.restore(receipt, by="ann")
    assert intervals(memory, first, second, again) == before
    assert cold(memory, at=moment) == [TUESDAY]
    assert exported(memory) == kept


@pytest.mark.parametrize("subject", [DAY, None])
def test_what_was_replaced_once_more_meanwhile_ends_by_what_is_restored(memory, subject):
    clock, begins = memory.parts.clock, []
    for text in (MONDAY, TUESDAY, SUNDAY):
        begins.append(clock())
        if text == MONDAY:
            first = memory.promote(text, SHOP, by="ann", subject=subject)
        elif text == TUESDAY:
            second = memory.supersede(first, text, SHOP, by="ann")
            receipt = memory.revoke(second, SHOP, by="ann")
        else:
            third = memory.supersede(first, text, SHOP, by="ann")
        clock.forward(days=10)
    memory.restore(receipt, by="ann")
    one, two, three = intervals(memory, first, second, third)
    assert one == (begins[0], begins[1], second.document_id)
    assert three == (begins[2], None, None)
    # Without a subject nothing says that two texts which replaced the same exclude each other.
    ended = (begins[2], third.document_id) if subject else (None, None)
    assert two == (begins[1], *ended)
    kept = exported(memory)
    for promotion in (third, second, first):
        memory.restore(memory.revoke(promotion, SHOP, by="ann"), by="ann")
        assert exported(memory) == kept


def test_what_two_replaced_in_turn_holds_again_when_both_are_revoked(memory):
    clock = memory.parts.clock
    first = memory.promote(MONDAY, SHOP, by="ann", subject=DAY)
    clock.forward(days=1)
    one = memory.supersede(first, TUESDAY, SHOP, by="ann")
    clock.forward(days=1)
    revoked = [memory.revoke(one, SHOP, by="ann")]
    two = memory.supersede(first, SUNDAY, SHOP, by="ann")
    clock.forward(days=1)
    revoked.append(memory.revoke(two, SHOP, by="ann"))
    assert cold(memory) == [MONDAY]
    memory.restore(revoked[0], by="ann")
    assert cold(memory) == [TUESDAY]
    memory.restore(revoked[1], by="ann")
    assert cold(memory) == [SUNDAY]
    memory.forget(SHOP, ids=two.ids)
    memory.forget(SHOP, ids=one.ids)
    assert cold(memory) == [MONDAY]
    assert intervals(memory, first)[0][1:] == (None, None)


def test_what_is_restored_ends_where_the_next_of_its_subject_began(memory):
    clock = memory.parts.clock
    first = memory.promote(MONDAY, SHOP, by="ann", subject=DAY)
    receipt = memory.revoke(first, SHOP, by="ann")
    clock.forward(days=1)
    second = memory.promote(TUESDAY, SHOP, by="ann", subject=DAY)
    clock.forward(days=1)
    memory.promote(SUNDAY, SHOP, by="ann", subject=DAY)
    memory.restore(receipt, by="ann")
    (_, until, by), (begins, _, _) = intervals(memory, first, second)
    assert (until, by) == (begins, second.document_id)


def test_what_stood_back_for_a_text_that_held_again_is_current_when_that_ends(memory):
    """Who replaced the trusted text is revoked, so that it holds beside a text of an agent."""
    clock = memory.parts.clock
    trusted = memory.promote(MONDAY, SHOP, by="ann", subject=DAY)
    clock.forward(days=1)
    other = memory.supersede(trusted, TUESDAY, SHOP, by="ann", subject="another")
    clock.forward(days=1)
    memory.promote(SUNDAY, SHOP, by="agent:helper", subject=DAY)
    clock.forward(days=1)
    kept = exported(memory)
    assert cold(memory) == [SUNDAY, TUESDAY]
    receipt = memory.revoke(other, SHOP, by="ann")
    assert cold(memory) == [MONDAY]
    memory.restore(receipt, by="ann")
    assert cold(memory) == [SUNDAY, TUESDAY]
    assert exported(memory) == kept


@pytest.mark.slow
def test_a_long_chain_that_falls_at_once_is_restored(memory):
    texts = [f"The deploy day of the shop is day {number}." for number in range(60)]
    promotion = memory.promote(FRIDAY, SHOP, by="ann", subject=DAY)
    for text in texts:
        memory.parts.clock.forward(minutes=1)
        memory.promote(text, SHOP, by="bob", subject=DAY)
    kept = exported(memory)
    receipt = memory.revoke(Origin("person", "bob"), SHOP, by="ann")
    assert receipt.reinstated == promotion.ids
    assert cold(memory) == [FRIDAY]
    memory.restore(receipt, by="ann")
    assert exported(memory) == kept


def test_metadata_of_an_application_is_not_taken_for_links(memory):
    old = memory.promote(MONDAY, SHOP, by="ann", metadata={"replaced": {"by": "x", "at": "soon"}})
    new = memory.supersede(old, TUESDAY, SHOP, by="ann", metadata={"replaced": "yes"})
    kept = exported(memory)
    memory.restore(memory.revoke(new, SHOP, by="ann"), by="ann")
    assert cold(memory) == [TUESDAY]
    assert memory.get(new.ids[0], SHOP).metadata["replaced"] == "yes"
    assert len(exported(memory)) == len(kept)


# Promotions of one text.


@pytest.mark.parametrize("what", ["entry", "origin"])
@pytest.mark.parametrize("days", [20, 0, -1])
def test_a_text_is_from_its_first_promotion_again(memory, what, days):
    """A restored text is no younger and no more trusted than before, whatever clocks say."""
    web = Provenance.derived(Origin("agent", "x"), roots=[Origin("tool", "web")])
    entry = memory.record(MONDAY, ANN, provenance=web).entry
    promotion = memory.promote(entry, by="carl")
    memory.parts.clock.forward(days=days)
    memory.promote(memory.record(MONDAY, BOB).entry, by="dora")
    before, kept = memory.get(promotion.ids[0], SHOP), exported(memory)
    assert before.provenance.trust == Trust.UNTRUSTED
    receipt = memory.revoke(entry if what == "entry" else Origin("tool", "web"), SHOP, by="ann")
    between = memory.get(promotion.ids[0], SHOP)
    assert (between.scope.user_id, between.promoted_by) == ("bob", "dora")
    memory.restore(receipt, by="ann")
    assert memory.get(promotion.ids[0], SHOP) == before
    assert exported(memory) == kept


def test_promotions_keep_their_order_when_several_are_revoked_in_turn(memory):
    promotion = memory.promote(MONDAY, SHOP, by="person0")
    for number in range(1, 5):
        memory.promote(MONDAY, SHOP, by=f"person{number}")
    before = memory.get(promotion.ids[0], SHOP)
    draw = random.Random(5)
    for _ in range(6):
        who = draw.sample(range(5), draw.randint(1, 5))
        receipts = [memory.revoke(Origin("person", f"person{one}"), SHOP, by="x") for one in who]
        left = [one for one in range(5) if one not in who]
        if left:
            assert memory.get(promotion.ids[0], SHOP).promoted_by == f"person{left[0]}"
        draw.shuffle(receipts)
        for receipt in receipts:
            memory.restore(receipt, by="x")
        assert memory.get(promotion.ids[0], SHOP) == before


# At random.


class Random:
    """Acts at random on one group, with few texts and subjects, so that they repeat."""

    def __init__(self, memory: TieredMemory, clock: Clock, seed: int) -> None:
        self.memory, self.clock, self.draw = memory, clock, random.Random(seed)
        self.kept: list = []  # receipts of what stays revoked for a while

    def act(self) -> None:
        self.clock.forward(seconds=self.draw.choice([0, 1, 60, 3600, -2]))
        acts = [self.promote, self.promote, self.supersede, self.supersede, self.entry]
        acts += [self.compare, self.compare, self.revoke, self.restore, self.forget]
        try:
            self.draw.choice(acts)()
        except MemorywareError:
            return  # such as a text that is not current, or nothing to revoke

    def text(self) -> str:
        what, day = self.draw.choice(["deploy", "backup"]), self.draw.choice(["Monday", "Friday"])
        return f"The {what} day of the shop is {day}."

    def some(self, tier="long_term"):
        records = [one.record for one in self.memory.list(SHOP, tier=tier, limit=500).items]
        return self.draw.choice(records) if records else None

    def promote(self) -> None:
        by = self.draw.choice(["ann", "bob", "agent:x"])
        subject = self.draw.choice(["a", "b", None])
        self.memory.promote(self.text(), SHOP, by=by, subject=subject)

    def entry(self) -> None:
        web = Provenance.derived(Origin("agent", "x"), roots=[Origin("tool", "web")])
        made = self.draw.choice([web, None])
        entry = self.memory.record(self.text(), self.draw.choice([ANN, BOB]), provenance=made).entry
        self.memory.promote(entry, by=self.draw.choice(["carl", "dora"]))

    def supersede(self) -> None:
        if memory := self.some():
            self.memory.supersede(memory, self.text(), SHOP, by="ann")

    def revoked(self):
        act = self.draw.choice([self.memory.revoke, self.memory.mark_invalid])
        what = self.draw.choice([self.some("quarantine"), self.some(), self.some()])
        if what is None or self.draw.random() < 0.2:
            what = self.draw.choice([Origin("tool", "web"), Origin("person", "bob")])
        return act(what, SHOP, by="eve")

    def revoke(self) -> None:
        self.kept.append(self.revoked())

    def restore(self) -> None:
        if self.kept:
            self.memory.restore(self.kept.pop(self.draw.randrange(len(self.kept))), by="eve")

    def forget(self) -> None:
        memory = self.some()
        if memory and self.draw.random() < 0.2:
            self.memory.forget(SHOP, ids=[memory.id])

    def compare(self) -> None:
        """Revoke up to three things, restore them in any order, and see that nothing changed."""
        before, receipts = exported(self.memory), []
        for _ in range(self.draw.randint(1, 3)):
            try:
                receipts.append(self.revoked())
            except MemorywareError:
                break
        self.draw.shuffle(receipts)
        for receipt in receipts:
            self.memory.restore(receipt, by="eve")
        assert exported(self.memory) == before

    def require_one_current(self) -> None:
        """See that of a text and of a subject one is current, and that no link is to nothing."""
        records = [one.record for one in self.memory.list(SHOP, tier="long_term", limit=500).items]
        current = [one for one in records if one.valid_to is None and not one.revocation]
        for name in ("subject", "content_hash"):
            values = [value for one in current if (value := getattr(one, name)) is not None]
            assert len(values) == len(set(values)), name
        documents = {one.document_id for one in records}
        assert {one.superseded_by for one in records} - {None} <= documents
        assert all(one.valid_to is None or one.valid_to >= one.valid_from for one in records)


def run_random(opened, seed: int, steps: int) -> None:
    clock, numbers = Clock(), itertools.count()
    memory = opened(clock=clock, new_id=lambda: f"{seed:08x}{next(numbers):024x}")
    acts = Random(memory, clock, seed)
    for _ in range(steps):
        acts.act()
        acts.require_one_current()
    memory.close()


@pytest.mark.parametrize("seed", everyday_and_slow(*range(4)))
def test_revoking_and_restoring_changes_nothing(opened, seed):
    run_random(opened, seed, 40)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 160))
def test_revoking_and_restoring_changes_nothing_with_other_seeds(opened, seed):
    """Runs are short: after 60 acts some hide texts that stood back for each other several deep."""
    run_random(opened, seed, 30)

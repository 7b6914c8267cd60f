"""A subject has one current text: the one of the most trusted decision."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace

import pytest

from memoryware import MemoryScope, Origin, PromotionPolicy, Provenance, Trust
from memoryware.errors import PromotionRefused
from memoryware.tiers import Insight, PendingPromotion
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.stores.protocol import Select
from tiers.kit import HashEmbeddings

SHOP = MemoryScope(group_id="shop")
MONDAY = "The deploy day of the shop is Monday."
TUESDAY = "The deploy day of the shop is Tuesday."
SUNDAY = "The deploy day of the shop is Sunday."
DAY = "deploy day"
AGENT = "agent:helper"


def cold(memory, **how):
    found = memory.retrieve("deploy day", SHOP, tiers=("long_term",), **how)
    return [one.content for one in found]


def said_by(memory, text, *roots, agent="helper"):
    made = Provenance.derived(Origin("agent", agent), roots=[Origin.parse(one) for one in roots])
    return memory.record(text, SHOP, provenance=made).entry


@pytest.mark.parametrize("form", ["text", "entry", "id", "insight"])
@pytest.mark.parametrize("door", ["blocking", "native"])
async def test_a_less_trusted_value_waits_and_is_named(memory, form, door):
    old = memory.promote(MONDAY, SHOP, by="ann", subject=DAY)
    memory.parts.clock.forward(hours=1)
    entry = said_by(memory, SUNDAY) if form != "text" else None
    made_of = entry and Insight(
        id="i",
        scope=SHOP,
        summary=SUNDAY,
        source_entry_ids=(entry.id,),
        provenance=entry.provenance,
    )
    what = {"text": SUNDAY, "entry": entry, "id": entry and entry.id, "insight": made_of}[form]
    if door == "native":
        made = await memory.apromote(what, SHOP, by=AGENT, subject=DAY)
    else:
        made = memory.promote(what, SHOP, by=AGENT, subject=DAY)
    assert (made.ids, made.document_id, made.superseded) == ((), "", ())
    waits = memory.get(made.proposal.id, SHOP)
    assert waits == made.proposal
    assert (waits.content, waits.status, waits.proposers) == (SUNDAY, "proposed", (AGENT,))
    assert waits.waits == PendingPromotion(subject=DAY, against=old.ids)
    (against,) = made.contradictions
    assert (against.first, against.second) == (old.ids[0], waits.id)
    assert "trusted more" in against.reason
    assert cold(memory) == [MONDAY]
    assert SUNDAY in [one.summary for one in memory.digest(SHOP).insights]
    await memory.aclose()


def test_a_person_who_promotes_the_proposal_decides_about_its_subject(memory):
    old = memory.promote(MONDAY, SHOP, by="ann", subject=DAY)
    waits = memory.promote(SUNDAY, SHOP, by=AGENT, subject=DAY).proposal
    assert memory.promote(waits, by="agent:other").proposal.proposers == (AGENT, "agent:other")
    memory.parts.clock.forward(hours=1)
    made = memory.promote(waits, by="bob")
    assert (made.superseded, made.memories[0].subject) == ((old.document_id,), DAY)
    assert made.memories[0].provenance.trust == Trust.UNVERIFIED
    assert cold(memory) == [SUNDAY]
    # What a person decided is not undone by an agent, although it is the text of an agent.
    again = memory.promote(TUESDAY, SHOP, by=AGENT, subject=DAY)
    assert again.proposal is not None
    assert cold(memory) == [SUNDAY]


def test_asking_again_leaves_one_proposal(memory):
    memory.promote(MONDAY, SHOP, by="ann", subject=DAY)
    first = memory.promote(SUNDAY, SHOP, by=AGENT, subject=DAY)
    again = memory.promote(SUNDAY, SHOP, by=AGENT, subject=DAY)
    assert again.proposal.id == first.proposal.id
    assert memory.list(SHOP, tier="quarantine").total == 1


@pytest.mark.parametrize(
    ("first", "second", "settled"),
    [
        ("ann", "bob", True),
        ("ann", "user:bob", False),
        ("user:bob", "ann", True),
        ("user:bob", "user:cy", True),
        ("user:bob", AGENT, False),
        (AGENT, "agent:other", True),
        (AGENT, "tool:web", False),
        ("tool:web", AGENT, True),
        ("ann", "assistant:helper", False),
        ("ann", "cron:nightly", False),
    ],
)
def test_the_most_trusted_decision_is_current_and_of_equal_ones_the_last(
    memory, first, second, settled
):
    old = memory.promote(MONDAY, SHOP, by=first, subject=DAY)
    memory.parts.clock.forward(hours=1)
    made = memory.promote(SUNDAY, SHOP, by=second, subject=DAY)
    assert cold(memory) == [SUNDAY if settled else MONDAY]
    assert made.superseded == ((old.document_id,) if settled else ())
    assert (made.proposal is None) == settled


def test_a_decision_of_a_person_about_an_agents_text_stands(memory):
    entry = said_by(memory, MONDAY)
    made = memory.promote(entry, by="ann", subject=DAY)
    assert made.memories[0].provenance.trust == Trust.UNVERIFIED
    assert memory.promote(SUNDAY, SHOP, by=AGENT, subject=DAY).proposal is not None
    with pytest.raises(PromotionRefused, match="trusted more"):
        memory.supersede(made, TUESDAY, SHOP, by=AGENT)
    assert cold(memory) == [MONDAY]
    memory.promote(MONDAY, SHOP, by=AGENT)  # the same once more changes nothing of it
    assert memory.promote(SUNDAY, SHOP, by=AGENT, subject=DAY).proposal is not None


def test_a_text_that_an_agent_promoted_gets_a_subject_only_by_who_may_replace(memory):
    memory.promote(SUNDAY, SHOP, by=AGENT)
    memory.promote(MONDAY, SHOP, by="ann", subject=DAY)
    made = memory.promote(SUNDAY, SHOP, by=AGENT, subject=DAY)
    assert made.proposal is not None
    assert memory.retrieve(MONDAY, SHOP, tiers=("long_term",))[0].subject == DAY
    memory.parts.clock.forward(hours=1)
    memory.promote(SUNDAY, SHOP, by="bob", subject=DAY)
    assert cold(memory) == [SUNDAY]


@pytest.mark.parametrize("subject", ["Deploy Day", " deploy  day ", "DEPLOY DAY", "Deploy day"])
def test_a_subject_is_one_however_it_is_written(memory, subject):
    memory.promote(MONDAY, SHOP, by="ann", subject=DAY)
    memory.parts.clock.forward(hours=1)
    assert memory.promote(SUNDAY, SHOP, by=AGENT, subject=subject).proposal is not None
    memory.promote(TUESDAY, SHOP, by="ann", subject=subject)
    assert cold(memory) == [TUESDAY]


@pytest.mark.parametrize(
    ("first", "second", "is_one"),
    [
        ("caf\u00e9", "cafe\u0301", True),
        ("file", "fi\u200ble\u200b", True),
        ("file", "\uff46\uff49\uff4c\uff45", True),
        ("file", "\ufb01le", True),
        ("\u0130stanbul", "istanbul", True),
        ("istanbul", "\u0130stanbul", True),
        ("cafe", "caf\u00e9", False),
    ],
)
def test_a_subject_is_one_in_any_characters(memory, first, second, is_one):
    memory.promote(MONDAY, SHOP, by="ann", subject=first)
    memory.parts.clock.forward(hours=1)
    made = memory.promote(TUESDAY, SHOP, by="ann", subject=second)
    assert bool(made.superseded) == is_one


def test_a_policy_is_asked_before_anything_waits(opened):
    memory = opened(policy=PromotionPolicy(approval=True))
    memory.promote(MONDAY, SHOP, by="ann", subject=DAY)
    with pytest.raises(PromotionRefused):
        memory.promote(SUNDAY, SHOP, by=AGENT, subject=DAY)
    assert memory.list(SHOP, tier="quarantine").total == 0


# At the same moment.


@pytest.mark.parametrize("order", [("ann", AGENT), (AGENT, "ann")])
def test_of_a_person_and_an_agent_at_once_the_person_stays(memory, order):
    """Both have computed their vectors before either has stored anything."""
    texts = {"ann": MONDAY, AGENT: SUNDAY}
    inner = []

    class Meanwhile(HashEmbeddings):
        def embed_documents(self, given):
            if not inner:
                inner.append(None)
                inner[0] = memory.promote(texts[order[1]], SHOP, by=order[1], subject=DAY)
            return super().embed_documents(given)

    other = TieredMemory(memory.parts.stores, embeddings=Meanwhile(), clock=memory.parts.clock)
    outer = other.promote(texts[order[0]], SHOP, by=order[0], subject=DAY)
    assert cold(memory) == [MONDAY]
    made = {order[0]: outer, order[1]: inner[0]}
    if order[0] == AGENT:
        assert made[AGENT].proposal.content == SUNDAY
        assert made[AGENT].contradictions[0].first == made["ann"].ids[0]
    else:
        assert made["ann"].superseded == (made[AGENT].document_id,)


@pytest.mark.slow
def test_many_at_once_leave_one_current_text(opened):
    memory = opened()
    for number in range(12):
        scope = MemoryScope(group_id=f"shop-{number}")
        names = ["ann", AGENT, "user:bob", "agent:other", "tool:web", "cy"]
        ready = threading.Barrier(len(names))

        def promote(name, scope=scope, ready=ready):
            ready.wait(20)
            memory.promote(f"The deploy day is a day of {name}.", scope, by=name, subject=DAY)

        threads = [threading.Thread(target=promote, args=(one,)) for one in names]
        for one in threads:
            one.start()
        for one in threads:
            one.join(30)
        found = memory.retrieve("deploy day", scope, tiers=("long_term",))
        assert len(found) == 1, [one.content for one in found]
        assert found[0].content.endswith((" ann.", " cy."))


async def test_many_coroutines_at_once_leave_one_current_text(opened):
    memory = opened()
    names = ["ann", AGENT, "user:bob", "agent:other", "tool:web"]
    made = await asyncio.gather(
        *(
            memory.apromote(f"The deploy day is a day of {one}.", SHOP, by=one, subject=DAY)
            for one in names
        )
    )
    assert cold(memory) == ["The deploy day is a day of ann."]
    assert made[0].proposal is None
    # Each of the others waits, or was current before ann's and was superseded by it.
    assert all(one.proposal is not None or one.ids for one in made)
    await memory.aclose()


# Taken back.


@pytest.mark.parametrize("way", ["revoke", "arevoke", "mark_invalid", "origin"])
async def test_a_revocation_says_what_it_brings_back(memory, way, caplog):
    old = memory.promote(MONDAY, SHOP, by="bob", subject=DAY)
    memory.parts.clock.forward(hours=1)
    new = memory.promote(TUESDAY, SHOP, by="ann", subject=DAY)
    preview = memory.revoke(new, SHOP, by="ann", dry_run=True)
    assert preview.reinstated == old.ids
    assert cold(memory) == [TUESDAY]
    if way == "arevoke":
        receipt = await memory.arevoke(new, SHOP, by="ann")
    elif way == "origin":
        receipt = memory.revoke(Origin("person", "ann"), SHOP, by="ann")
    else:
        receipt = getattr(memory, way)(new, SHOP, by="ann")
    assert receipt.reinstated == old.ids
    assert f"{old.ids[0]} is current again" in caplog.text
    assert cold(memory) == [MONDAY]
    memory.restore(receipt, by="ann")
    assert cold(memory) == [TUESDAY]
    await memory.aclose()


def test_a_revocation_that_brings_nothing_back_says_nothing(memory):
    old = memory.promote(MONDAY, SHOP, by="bob", subject=DAY)
    memory.parts.clock.forward(hours=1)
    memory.promote(TUESDAY, SHOP, by="ann", subject=DAY)
    assert memory.revoke(old, SHOP, by="ann", dry_run=True).reinstated == ()
    assert memory.revoke(old, SHOP, by="ann").reinstated == ()


def test_taking_back_both_brings_neither_back(memory):
    memory.promote(MONDAY, SHOP, by="ann", subject=DAY)
    memory.parts.clock.forward(hours=1)
    memory.promote(TUESDAY, SHOP, by="ann", subject=DAY)
    origin = Origin("person", "ann")
    assert memory.revoke(origin, SHOP, by="bob", dry_run=True).reinstated == ()
    assert memory.revoke(origin, SHOP, by="bob").reinstated == ()
    assert cold(memory) == []


def test_forgetting_says_what_it_brings_back(memory):
    old = memory.promote(MONDAY, SHOP, by="bob", subject=DAY)
    memory.parts.clock.forward(hours=1)
    new = memory.promote(TUESDAY, SHOP, by="ann", subject=DAY)
    receipt = memory.forget(SHOP, ids=new.ids)
    assert receipt.reinstated == old.ids
    assert cold(memory) == [MONDAY]


def test_two_current_texts_of_an_older_version_become_one(memory):
    """Versions before kept both, the less trusted one beside the other."""
    memory.promote(MONDAY, SHOP, by="ann", subject=DAY)
    memory.parts.clock.forward(hours=1)
    other = memory.promote(SUNDAY, SHOP, by=AGENT)
    store = memory.parts.stores.long_term
    which = Select.within(SHOP, ids=other.ids)
    store.edit(which, lambda one: replace(one, subject=DAY))
    assert len(cold(memory)) == 2
    memory.parts.clock.forward(hours=1)
    assert memory.promote(SUNDAY, SHOP, by=AGENT, subject=DAY).proposal is not None
    assert cold(memory) == [MONDAY]

"""What is recorded, promoted or decided while something is taken back or forgotten."""

from __future__ import annotations

import threading
import time
from contextlib import suppress

import pytest
from langchain_core.embeddings import Embeddings

from memoryware import MemoryScope, Origin, Provenance
from memoryware.errors import EntryMissing, PromotionRefused
from memoryware.tiers import Verdict
from tiers.kit import HashEmbeddings

SHOP = MemoryScope(group_id="shop")
PAGE = Origin("tool", "page")
FACT = "The orders of the shop are in PostgreSQL 17, on the server called db2."
MORE = "So every backup of the shop must have the server db2 in it, each night."


class Stopping(Embeddings):
    """Lets the first promotion wait until it may go on."""

    def __init__(self):
        self.reached, self.go_on = threading.Event(), threading.Event()

    def embed_documents(self, texts):
        self.reached.set()
        assert self.go_on.wait(20)
        return HashEmbeddings().embed_documents(texts)

    def embed_query(self, text):
        return HashEmbeddings().embed_query(text)


def of_page():
    return Provenance.derived(Origin("agent", "h"), roots=[PAGE])


@pytest.mark.parametrize("act", ["revoke", "revoke_origin", "forget", "reject"])
def test_a_promotion_that_waits_for_the_model_loses_against_who_decided_meanwhile(opened, act):
    model = Stopping()
    memory = opened(embeddings=model, embedding_space="h")
    entry = memory.record(FACT, SHOP, provenance=of_page()).entry
    failed = []

    def promote():
        try:
            memory.promote(entry, by="ann")
        except (PromotionRefused, EntryMissing) as error:
            failed.append(error)

    slow = threading.Thread(target=promote)
    slow.start()
    assert model.reached.wait(20)
    {
        "revoke": lambda: memory.revoke(entry, SHOP, by="bob"),
        "revoke_origin": lambda: memory.revoke(PAGE, SHOP, by="bob"),
        "forget": lambda: memory.forget(SHOP, ids=[entry.id]),
        "reject": lambda: memory.reject(entry, by="bob", reason="no"),
    }[act]()
    model.go_on.set()
    slow.join(20)
    assert len(failed) == 1
    assert memory.list(SHOP, tier="long_term").total == 0
    if act == "reject":
        kept = memory.get(entry.id, SHOP)
        assert (kept.status, kept.decided_by) == ("rejected", "bob")


@pytest.mark.slow
def test_revoking_an_origin_beside_promotions_leaves_nothing_of_it(opened):
    memory = opened()
    for number in range(100):
        group = MemoryScope(group_id=f"g{number}")
        entry = memory.record(f"{FACT} {number}", group, provenance=of_page()).entry
        both = threading.Barrier(2)

        def promote(entry=entry, both=both):
            both.wait(20)
            with suppress(PromotionRefused):
                memory.promote(entry, by="ann")

        beside = threading.Thread(target=promote)
        beside.start()
        both.wait(20)
        time.sleep(number % 7 / 2000)
        memory.revoke(PAGE, group, by="bob")
        beside.join(20)
        assert list(memory.retrieve("orders", group)) == [], number


def test_what_is_recorded_of_a_revoked_text_is_revoked_and_comes_back_with_it(opened):
    memory = opened()
    source = memory.record(FACT, SHOP, provenance=of_page()).entry
    receipt = memory.revoke(PAGE, SHOP, by="bob")
    made = memory.record(MORE, SHOP, provenance=Provenance(Origin("agent", "h"), (source.id,)))
    assert (made.working, made.refused, made.entry.status) == (False, "revoked", "revoked")
    with pytest.raises(PromotionRefused):
        memory.promote(made.entry, by="ann")
    assert memory.digest(SHOP).insights == ()
    memory.restore(receipt, by="bob")
    assert memory.get(made.entry.id, SHOP).status == "pending"


def test_what_is_recorded_of_a_forgotten_text_gets_nowhere(opened):
    memory = opened()
    source = memory.record(FACT, SHOP).entry
    memory.forget(SHOP, ids=[source.id])
    made = memory.record(MORE, SHOP, provenance=Provenance(Origin("agent", "h"), (source.id,)))
    assert (made.working, made.refused) == (False, "source_gone")
    assert memory.update_working_memory(made.entry, SHOP).refused == "source_gone"
    with pytest.raises(PromotionRefused) as refused:
        memory.promote(made.entry, by="ann")
    assert refused.value.reasons == ("source_gone",)
    assert memory.digest(SHOP).insights == ()
    assert list(memory.retrieve("backup", SHOP)) == []


def test_what_is_made_of_a_memory_is_as_good_as_an_entry(opened):
    memory = opened()
    (source,) = memory.promote(FACT, SHOP, by="ann").memories
    made = memory.record(MORE, SHOP, provenance=Provenance(Origin("agent", "h"), (source.id,)))
    assert made.working


def test_overlapping_revocations_hide_until_the_last_is_restored(opened):
    memory = opened()
    voice = Provenance.derived(Origin("agent", "h"), roots=[PAGE, Origin("tool", "query")])
    entry = memory.record(FACT, SHOP, provenance=voice).entry
    memory.promote(entry, by="ann")
    first = memory.revoke(PAGE, SHOP, by="ann")
    second = memory.revoke(Origin("tool", "query"), SHOP, by="ann")
    memory.restore(first, by="ann")
    assert list(memory.retrieve("orders", SHOP)) == []
    back = memory.restore(second, by="ann")
    assert (back.quarantine, back.working, back.long_term) == (1, 1, 1)
    assert memory.get(entry.id, SHOP).status == "promoted"


def test_a_rejected_text_is_not_recalled(opened):
    memory = opened()
    entry = memory.record(FACT, SHOP).entry
    memory.reject(entry, by="ann")
    assert list(memory.retrieve("orders", SHOP)) == []


def test_a_verdict_reaches_the_same_text_in_every_tier_and_no_other(opened):
    memory = opened()
    entry = memory.record(FACT, SHOP).entry
    (cold,) = memory.promote(entry, by="ann").memories
    wrong = Verdict(verified=False, confidence=0.9, issues=("it is MySQL",))
    memory.attach_verdict(entry, wrong, SHOP)
    assert not memory.get(cold.id, SHOP).verdict.verified
    memory.attach_verdict(cold.id, Verdict(verified=True), SHOP)
    assert memory.get(entry.id, SHOP).verdict.verified
    other = memory.record(MORE, SHOP, provenance=Provenance(Origin("agent", "h"), (entry.id,)))
    assert memory.get(other.entry.id, SHOP).verdict is None

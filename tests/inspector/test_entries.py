"""Decisions about single entries of a statement, and about texts that a card cuts."""

from dataclasses import replace

import pytest

from inspector.rig import FACT, OTHER, SCOPE, Forms, decide, form, long_term, opened, send, status
from memoryware import Origin, PromotionPolicy, Provenance, TieredMemory
from memoryware.tiers.model import FACT as FACT_KEY
from memoryware.tiers.model import PendingPromotion
from memoryware.tiers.stores.protocol import Select

SAME = "The office in Lyon is closed in August."
ALSO = "In August the office in Lyon is closed."
LONG = "The plan of the move, step by step, " + "and then another box is carried " * 60 + "home"
TALL = "One thing is on every line\nof a list\n" + "a line and a word\n" * 40 + "and here it ends"


@pytest.fixture
def three(memory):
    """Three entries that say the same, from three tools; their ids, the newest first."""
    for name in ("one", "two", "three"):
        memory.log_quarantine(SAME, SCOPE, provenance=Provenance(Origin("tool", name)))
    return [item.id for item in memory.list(SCOPE, tier="quarantine").items]


def states(memory, ids):
    return [memory.get(id_, SCOPE).status for id_ in ids]


def test_one_entry_is_rejected_and_the_others_still_wait(memory, three):
    client = opened(memory)
    page = client.get("/review").text
    assert page.count("Reject this one") == 3
    answer = decide(client, "reject-entry", page, entry=three[1])
    assert "Rejected this entry alone" in status(answer.text)
    assert states(memory, three) == ["pending", "rejected", "pending"]
    assert "2 entries say the same" in answer.text
    assert memory.count_waiting(SCOPE) == 2
    answer = decide(client, "approve", answer.text)
    assert states(memory, three) == ["promoted", "rejected", "promoted"]
    [kept] = memory.list(SCOPE, tier="longterm").items
    assert three[1] not in kept.record.source_entry_ids
    assert "tool:two" not in map(str, kept.record.provenance.roots)


def test_a_lone_rejection_is_undone_as_a_whole(memory, three):
    client = opened(memory)
    answer = decide(client, "reject-entry", client.get("/review").text, entry=three[1])
    send(client, "/undo", form(answer.text, "/undo"))
    assert states(memory, three) == ["pending"] * 3
    assert not memory.get(three[1], SCOPE).ungrouped
    assert "3 entries say the same" in client.get("/review").text


def test_one_entry_is_approved_in_its_own_words_and_lineage(memory):
    ids = [
        memory.log_quarantine(text, SCOPE, provenance=Provenance(Origin("tool", name))).id
        for text, name in ((SAME, "one"), (ALSO, "two"))
    ]
    client = opened(memory)
    page = client.get("/review").text
    assert "2 entries say the same" in page
    decide(client, "approve-entry", page, entry=ids[1])
    [kept] = memory.list(SCOPE, tier="longterm").items
    assert kept.content == ALSO
    assert kept.record.source_entry_ids == (ids[1],)


def test_an_entry_of_another_statement_is_not_decided(memory, three):
    other = memory.log_quarantine(OTHER, SCOPE).id
    client = opened(memory)
    page = client.get("/review").text
    fields = form(page, "/review/decide", do="reject-entry")
    answer = send(client, "/review/decide", {**fields, "entry": other})
    assert "not in the group anymore" in status(answer.text)
    assert states(memory, [*three, other]) == ["pending"] * 4


def test_an_entry_alone_has_no_decisions_of_its_own(memory):
    memory.log_quarantine(FACT, SCOPE)
    page = opened(memory).get("/review").text
    assert "this one" not in page


def test_the_policy_holds_for_single_entries_too():
    with TieredMemory.open("memory://", policy=PromotionPolicy(four_eyes=True)) as memory:
        for name in ("one", "two"):
            memory.log_quarantine(SAME, SCOPE, provenance=Provenance(Origin("tool", name)))
        client = opened(memory)
        page = client.get("/review").text
        assert "Approve this one" not in page
        fields = form(page, "/review/decide", do="reject-entry")
        forced = send(client, "/review/decide", {**fields, "do": "approve-entry"})
        assert forced.status_code == 409
        assert long_term(memory) == []


# Proposals of the memory manager.


def proposed(memory, text, **waits):
    """An entry as the memory manager proposes it."""
    entry = memory.log_quarantine(text, SCOPE, metadata={"confidence": 0.9})
    fact = {FACT_KEY: {"kind": "preference", "subject": "units"}, "confidence": 0.9}
    change = {"waits": PendingPromotion(**waits), "metadata": fact}
    memory.parts.stores.quarantine.edit(
        Select.within(SCOPE, ids=(entry.id,)), lambda found: replace(found, **change)
    )
    return entry.id


def test_a_correction_stands_beside_what_it_replaces(memory):
    old = memory.promote("Ann prefers miles.", SCOPE, by="bob")
    proposed(
        memory, "Ann prefers metric units.", subject="units", against=old.ids,
        replaces=(old.document_id,),
    )  # fmt: skip
    client = opened(memory)
    page = client.get("/review").text
    for words in ("preference", "about <bdi>units</bdi>", "confidence 90%", "Ann prefers"):
        assert words in page
    assert "Approve, replace the old text" in page
    assert "<del>miles</del>" in page
    answer = decide(client, "approve", page)
    assert "It replaced an older text" in status(answer.text)
    assert memory.get(old.ids[0], SCOPE).valid_to is not None
    send(client, "/undo", form(answer.text, "/undo"))
    assert memory.get(old.ids[0], SCOPE).valid_to is None
    assert memory.count_waiting(SCOPE) == 1


def test_a_request_to_forget_hides_what_it_names_and_is_undone(memory):
    old = memory.promote("Ann lives in Lyon.", SCOPE, by="bob")
    id_ = proposed(
        memory, "Forget: Ann lives in Lyon.", subject="", against=old.ids,
        replaces=(old.document_id,), removes=True,
    )  # fmt: skip
    client = opened(memory)
    page = client.get("/review").text
    assert "Asks to forget" in page
    assert "Approve, hide it" in page
    answer = decide(client, "approve", page)
    assert "what it asks to forget is hidden" in status(answer.text)
    assert memory.get(old.ids[0], SCOPE).revocation
    undone = send(client, "/undo", form(answer.text, "/undo"))
    assert "1 record restored." in status(undone.text)
    assert memory.get(old.ids[0], SCOPE).revocation is None
    assert memory.get(id_, SCOPE).status == "pending"


# Texts that a card does not show to their end.


@pytest.mark.parametrize("text", [LONG, TALL], ids=["long", "tall"])
def test_a_cut_text_is_approved_only_where_its_end_was_shown(memory, text):
    entry = memory.propose(text, SCOPE, by="bob")  # a proposal is one statement
    client = opened(memory)
    page = client.get("/review").text
    assert "Read it to decide" in page
    actions = [fields.get("do") for _, fields in Forms(page).forms]
    assert "approve" not in actions
    assert "edit" not in actions
    assert 'data-key="x"' not in page
    fields = form(page, "/review/decide", do="reject")
    for do in ("approve", "edit", "propose"):
        forced = send(client, "/review/decide", {**fields, "do": do, "text": text})
        assert "Read it to its end" in status(forced.text)
    marked = send(
        client,
        "/review/bulk",
        {"csrf": fields["csrf"], "do": "approve", "group": fields["group"]},
    )
    assert "Not done (1): The page shows only the beginning" in status(marked.text)
    assert long_term(memory) == []

    [href] = [tag["href"] for _, tag in Forms(page).tags if tag.get("data-key") == "a"]
    whole = client.get(href).text
    assert text.splitlines()[-1][-20:] in whole
    proof = form(whole, "/review/decide", do="approve")
    other = opened(memory, by="bo")
    stolen = {**proof, "csrf": form(other.get("/").text, "/leave")["csrf"]}
    assert "Read it to its end" in status(send(other, "/review/decide", stolen).text)
    answer = send(client, "/review/decide", proof)
    assert "it is in long-term memory now" in status(answer.text)
    assert memory.get(entry.id, SCOPE).status == "promoted"


def test_a_statement_that_was_decided_meanwhile_is_not_read(memory):
    memory.log_quarantine(FACT, SCOPE)
    client = opened(memory)
    answer = client.get("/review/read", params={"key": "made up"})
    assert answer.status_code == 404
    assert "go back to the queue" in answer.text


def test_a_pending_entry_that_is_not_in_review_says_why(memory):
    question = memory.record("Which server has the orders?", SCOPE, role="user").entry
    page = opened(memory).get("/memories/one", params={"id": question.id}).text
    assert "Not in review" in page
    assert "only asks or orders something" in page
    assert "Decide in the review queue" not in page
    memory.propose(question, by="ann")
    page = opened(memory).get("/memories/one", params={"id": question.id}).text
    assert "Not in review" not in page
    assert "Decide in the review queue" in page

"""Undo after every act: exactly what was changed comes back, also after a reload."""

import re

from inspector.rig import (
    FACT,
    OTHER,
    SCOPE,
    WEB,
    Forms,
    decide,
    form,
    opened,
    record,
    send,
    status,
)
from memoryware import Origin, PromotionPolicy, Provenance, TieredMemory
from memoryware.inspector import Keys

NEVER, MONTHLY = "Never delete the backup bucket.", "Delete the backup bucket every month."


def undo(client, page):
    return send(client, "/undo", form(page, "/undo"))


def long_term(memory):
    """What is current in long-term memory."""
    records = [item.record for item in memory.list(SCOPE, tier="longterm").items]
    return [one.content for one in records if one.revocation is None and one.valid_to is None]


def waiting(memory):
    return memory.count_waiting(SCOPE)


def test_an_approval_is_undone_and_the_entry_waits_again(memory):
    id_ = record(memory, FACT)
    client = opened(memory)
    answer = decide(client, "approve", client.get("/review").text)
    assert "Undo" in answer.text
    undone = undo(client, answer.text)
    assert "Undone: 1 entry to review again." in status(undone.text)
    assert long_term(memory) == []
    entry = memory.get(id_, SCOPE)
    assert (entry.status, entry.decided_by, entry.memory_ids) == ("pending", None, ())
    assert "1 entry waits" in undone.text
    decide(client, "approve", undone.text)  # and a second approval is as good as the first
    assert long_term(memory) == [FACT]


def test_the_form_is_there_after_a_reload_and_says_what_it_undoes(memory):
    record(memory, FACT)
    client = opened(memory)
    answer = decide(client, "approve", client.get("/review").text)
    kept = str(answer.url.copy_remove_param("said"))  # what the address is once it was shown
    again = client.get(kept).text
    assert "The last action here: Approved: “The staging server" in again
    assert "Undone" in status(undo(client, again).text)
    assert "Nothing to undo" in status(undo(client, again).text)


def test_a_rejection_is_undone_and_working_memory_has_the_entry_again(memory):
    id_ = record(memory, FACT)
    client = opened(memory)
    answer = decide(client, "reject", client.get("/review").text, reason="too old")
    assert memory.list(SCOPE, tier="working").total == 0
    undo(client, answer.text)
    entry = memory.get(id_, SCOPE)
    assert (entry.status, dict(entry.metadata).get("rejected_because")) == ("pending", None)
    assert [item.id for item in memory.list(SCOPE, tier="working").items] == [id_]


def test_marked_statements_are_undone_together(memory):
    for text in (FACT, OTHER):
        record(memory, text)
    client = opened(memory)
    page = client.get("/review").text
    marks = [tag["value"] for _, tag in Forms(page).tags if tag.get("data-key") == "x"]
    fields = form(page, "/review/bulk")
    answer = send(client, "/review/bulk", {**fields, "do": "approve", "group": marks})
    assert len(long_term(memory)) == 2
    assert "Undone: 2 entries" in status(undo(client, answer.text).text)
    assert (long_term(memory), waiting(memory)) == ([], 2)


def test_one_statement_of_several_is_undone_alone(memory):
    entry = memory.log_quarantine(f"{NEVER} {OTHER}", SCOPE)
    client = opened(memory)
    first = decide(client, "approve", client.get("/review").text)
    [kept] = long_term(memory)
    second = decide(client, "reject", first.text)
    assert memory.get(entry.id, SCOPE).status == "promoted"
    undo(client, second.text)
    now = memory.get(entry.id, SCOPE)
    assert (now.status, set(now.decided.values())) == ("pending", {"promoted"})
    assert long_term(memory) == [kept]
    undo(client, first.text)  # the older one as well
    assert memory.get(entry.id, SCOPE).decided == {}
    assert long_term(memory) == []


def test_a_replaced_text_is_current_again(memory):
    old = memory.promote(NEVER, SCOPE, by="bob").ids[0]
    memory.log_quarantine(MONTHLY, SCOPE)
    client = opened(memory)
    page = client.get("/review").text
    answer = decide(client, "replace", page)
    assert "It replaced an older text" in status(answer.text)
    assert long_term(memory)[0] == MONTHLY
    assert memory.get(old, SCOPE).valid_to
    undone = undo(client, answer.text)
    assert "The text that it had replaced is current again." in status(undone.text)
    assert memory.get(old, SCOPE).valid_to is None
    assert waiting(memory) == 1


def test_proposals_edited_texts_and_groups_are_undone():
    policy = PromotionPolicy(four_eyes=True)
    with TieredMemory.open("memory://", policy=policy) as memory:
        id_ = record(memory, FACT)
        client = opened(memory)
        answer = decide(client, "propose", client.get("/review").text)
        assert memory.get(id_, SCOPE).status == "proposed"
        undo(client, answer.text)
        entry = memory.get(id_, SCOPE)
        assert (entry.status, entry.all_proposers) == ("pending", ())
        page = client.get("/review").text
        edited = decide(client, "propose", page, text="The server moves.")
        assert waiting(memory) == 2
        undo(client, edited.text)
        assert waiting(memory) == 1


def test_a_group_is_together_again(memory):
    for name in ("one", "two"):
        memory.log_quarantine(NEVER, SCOPE, provenance=Provenance(Origin("tool", name)))
    client = opened(memory)
    page = client.get("/review").text
    ids = [item.id for item in memory.list(SCOPE, tier="quarantine").items]
    answer = decide(client, "ungroup", page, entry=ids[0])
    assert memory.get(ids[0], SCOPE).ungrouped
    undone = undo(client, answer.text)
    assert not memory.get(ids[0], SCOPE).ungrouped
    assert "2 entries say the same" in undone.text


def test_revocations_restorations_and_supersessions_are_undone(memory):
    kept = memory.promote(FACT, SCOPE, by="ann").memories[0]
    client = opened(memory)
    page = client.get("/memories/revoke", params={"id": kept.id}).text
    revoked = send(client, "/memories/revoke", form(page, "/memories/revoke"))
    assert long_term(memory) == []
    restored = undo(client, revoked.text)
    assert "Undone: 1 record restored." in status(restored.text)
    assert restored.url.params["id"] == kept.id
    assert long_term(memory) == [FACT]

    revoked = send(client, "/memories/revoke", form(page, "/memories/revoke"))
    again = send(client, "/memories/restore", form(revoked.text, "/memories/restore"))
    assert "hidden again" in status(undo(client, again.text).text)
    assert long_term(memory) == []
    memory.restore(memory.find_receipt(memory.get(kept.id, SCOPE).revocation, SCOPE), by="ann")

    page = client.get("/memories/one", params={"id": kept.id}).text
    fields = form(page, "/memories/supersede")
    newer = send(client, "/memories/supersede", {**fields, "text": OTHER})
    assert memory.get(kept.id, SCOPE).valid_to
    undo(client, newer.text)
    assert memory.get(kept.id, SCOPE).valid_to is None


def test_everything_of_an_origin_is_undone(memory):
    memory.promote(memory.record(FACT, SCOPE, provenance=WEB).entry, by="ann")
    client = opened(memory)
    page = client.get("/origins", params={"of": "tool:web_search"}).text
    revoked = send(client, "/origins/revoke", form(page, "/origins/revoke"))
    assert long_term(memory) == []
    undo(client, revoked.text)
    assert long_term(memory) == [FACT]


def test_a_rejected_entry_is_reviewed_again_from_its_page(memory):
    id_ = record(memory, FACT)
    memory.reject(id_, SCOPE, by="bob", reason="no")
    client = opened(memory)
    page = client.get("/memories/one", params={"id": id_}).text
    answer = send(client, "/memories/reopen", form(page, "/memories/reopen"))
    assert "waits for a decision again" in status(answer.text)
    assert FACT in answer.text
    assert memory.get(id_, SCOPE).status == "pending"


def test_copies_that_were_rejected_together_are_reviewed_again_together(memory):
    ids = [
        memory.log_quarantine(NEVER, SCOPE, provenance=Provenance(Origin("tool", name))).id
        for name in ("one", "two")
    ]
    client = opened(memory)
    decide(client, "reject", client.get("/review").text)
    page = client.get("/memories/one", params={"id": ids[0]}).text
    answer = send(client, "/memories/reopen", form(page, "/memories/reopen"))
    assert "2 entries say the same" in answer.text
    assert waiting(memory) == 2


def test_an_undo_is_signed_for_one_session_and_touches_one_group(memory):
    record(memory, FACT)
    keys = Keys()
    client = opened(memory, keys=keys)
    answer = decide(client, "approve", client.get("/review").text)
    fields = form(answer.text, "/undo")
    stranger = opened(memory, by="bo")
    own = form(stranger.get("/").text, "/leave")["csrf"]
    refused = send(stranger, "/undo", {**fields, "csrf": own})
    assert refused.status_code == 422
    assert "expired" in refused.text
    forged = send(client, "/undo", {**fields, "undo": fields["undo"][:-4] + "AAAA"})
    assert forged.status_code == 422
    assert long_term(memory) == [FACT]


def test_what_was_decided_again_since_is_not_undone(memory):
    id_ = record(memory, FACT)
    client = opened(memory)
    answer = decide(client, "reject", client.get("/review").text)
    memory.propose(id_, SCOPE, by="bob")
    assert "Nothing to undo" in status(undo(client, answer.text).text)
    assert memory.get(id_, SCOPE).status == "proposed"


def test_an_answer_made_of_an_approved_text_goes_with_the_approval(memory):
    record(memory, FACT)
    client = opened(memory)
    answer = decide(client, "approve", client.get("/review").text)
    [kept] = memory.list(SCOPE, tier="longterm").items
    child = Provenance.derived(Origin("agent", "helper"), [kept.record])
    made = memory.record(OTHER, SCOPE, provenance=child).entry
    undone = undo(client, answer.text)
    receipt = re.search(r"receipt ([0-9a-f]+)", status(undone.text))
    assert receipt is not None
    assert memory.get(made.id, SCOPE).revocation == receipt[1]


def test_a_message_without_an_act_has_no_undo(memory):
    record(memory, FACT)
    client = opened(memory)
    answer = decide(client, "edit", client.get("/review").text, text=" ")
    assert "nothing was changed" in status(answer.text)
    assert "/undo" not in [path for path, _ in Forms(answer.text).forms]

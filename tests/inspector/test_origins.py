"""Everything that came from one origin, and taking all of it back."""

from __future__ import annotations

import pytest

from inspector.rig import FACT, OTHER, SCOPE, WEB, Forms, form, opened, record, send, status
from limits import limited
from memoryware import MemoryScope, Origin, Provenance, TieredMemory, TierLimits
from memoryware.inspector import Keys

SEARCH = {"of": "tool:web_search"}


@pytest.fixture
def poisoned(memory):
    """A text from the web, what was made of it, and one that has nothing to do with it."""
    entry = memory.record(FACT, SCOPE, provenance=WEB).entry
    kept = memory.promote(entry, by="ann").memories[0]
    made = Provenance.derived(Origin("agent", "helper"), [kept])
    child = memory.record(f"{OTHER} It was said in the spring.", SCOPE, provenance=made).entry
    own = memory.promote("The office in Lyon is closed in August.", SCOPE, by="ann").memories[0]
    return {"entry": entry.id, "kept": kept.id, "child": child.id, "own": own.id}


def links(page):
    return [said["href"] for tag, said in Forms(page).tags if tag == "a"]


def test_an_origin_leads_to_everything_that_came_from_it(memory, poisoned):
    client = opened(memory)
    shown = client.get("/memories/one", params={"id": poisoned["child"]}).text
    [there] = [one for one in links(shown) if "of=tool%3Aweb_search" in one]
    assert there in links(shown)
    assert any("/origins?of=tool%3Aweb_search" in one for one in links(client.get("/review").text))
    page = client.get(there).text
    assert "Everything from tool:web_search" in page
    assert "Long-term memory: 1 record" in page
    for id_ in ("entry", "kept", "child"):
        assert f"/memories/one?id={poisoned[id_]}" in links(page)
    assert "Lyon" not in page
    assert memory.get(poisoned["kept"], SCOPE).revocation is None
    assert f"/memories/one?id={poisoned['child']}" in links(page)  # Cancel


def test_all_of_it_is_taken_back_and_put_back(memory, poisoned):
    client = opened(memory)
    page = client.get("/origins", params={**SEARCH, "id": poisoned["child"]}).text
    fields = form(page, "/origins/revoke")
    answer = send(client, "/origins/revoke", {**fields, "reason": "it was poisoned"})
    assert "Revoked" in status(answer.text)
    assert answer.url.params["id"] == poisoned["child"]
    hidden = [memory.get(poisoned[one], SCOPE).revocation for one in ("entry", "kept", "child")]
    assert len(set(hidden)) == 1
    assert hidden[0] is not None
    assert memory.get(poisoned["own"], SCOPE).revocation is None
    again = send(client, "/origins/revoke", fields)
    assert "Nothing was changed" in status(again.text)
    assert memory.get(poisoned["kept"], SCOPE).revocations == (hidden[0],)
    assert "/origins/revoke" not in [
        action for action, _ in Forms(client.get("/origins", params=SEARCH).text).forms
    ]

    send(client, "/memories/restore", form(answer.text, "/memories/restore"))
    assert {memory.get(poisoned[one], SCOPE).revocation for one in poisoned} == {None}


def test_a_receipt_says_who_took_it_back_and_why(tmp_path):
    with TieredMemory.open("memory://", journal=tmp_path / "journal.jsonl") as memory:
        record(memory, FACT, provenance=WEB)
        client = opened(memory, by="bo")
        fields = form(client.get("/origins", params=SEARCH).text, "/origins/revoke")
        send(client, "/origins/revoke", {**fields, "reason": "it lies"})
        [act] = memory.audit(SCOPE, kind="revoked").acts
        assert (act.by, act.id, act.total) == ("bo", "tool:web_search", 2)
        assert "it lies" in act.detail


def test_what_waits_is_not_asked_about_once_its_origin_was_taken_back(memory):
    id_ = record(memory, FACT, provenance=WEB)
    client = opened(memory)
    assert "staging" in client.get("/review").text
    fields = form(client.get("/origins", params=SEARCH).text, "/origins/revoke")
    answer = send(client, "/origins/revoke", fields)
    assert answer.url.params["id"] == id_
    assert "staging" not in client.get("/review").text


def test_read_only_shows_what_came_from_it_and_takes_nothing_back(memory, poisoned):
    keys = Keys(secret="the same")
    page = opened(memory, keys=keys).get("/origins", params=SEARCH).text
    fields = form(page, "/origins/revoke")
    client = opened(memory, read_only=True, keys=Keys(secret="the same"))
    page = client.get("/origins", params=SEARCH).text
    assert "staging" in page
    assert [action for action, _ in Forms(page).forms] == ["/leave"]
    mine = form(page, "/leave")["csrf"]
    assert send(client, "/origins/revoke", {**fields, "csrf": mine}).status_code == 403
    assert memory.get(poisoned["kept"], SCOPE).revocation is None


@pytest.mark.parametrize("token", [None, "", "wrong"])
def test_without_the_token_of_the_form_nothing_is_taken_back(memory, poisoned, token):
    client = opened(memory)
    fields = form(client.get("/origins", params=SEARCH).text, "/origins/revoke")
    fields.pop("csrf")
    sent = fields | ({} if token is None else {"csrf": token})
    assert send(client, "/origins/revoke", sent).status_code == 403
    assert memory.get(poisoned["kept"], SCOPE).revocation is None


def test_what_others_have_from_the_same_place_is_theirs(memory, poisoned):
    sales = MemoryScope(tenant="acme", group_id="sales")
    theirs = memory.record(OTHER, sales, provenance=WEB).entry.id
    client = opened(memory)
    page = client.get("/origins", params=SEARCH).text
    assert theirs not in page
    send(client, "/origins/revoke", form(page, "/origins/revoke"))
    assert memory.get(theirs, sales).revocation is None


@pytest.mark.parametrize("of", ["", "web_search", "nothing:x", "tool:" + "x" * 5000])
def test_what_is_no_origin_is_told(memory, of):
    answer = opened(memory).get("/origins", params={"of": of})
    assert answer.status_code == 422
    assert "<form" not in answer.text.replace('<form method="post" action="/leave"', "")


def test_an_origin_that_nothing_came_from_has_nothing_to_take_back(memory):
    page = opened(memory).get("/origins", params={"of": "tool:<b>x</b>"}).text
    assert "Nothing in this group has this origin" in page
    assert "<b>" not in page


def test_more_than_the_limits_allow_is_shown_and_not_offered(tmp_path):
    limits = limited(TierLimits, lineage=2)
    with TieredMemory.open(f"sqlite:///{tmp_path}/few.db", limits=limits) as memory:
        for number in range(3):
            record(memory, f"The line number {number} of a page on the web.", provenance=WEB)
        page = opened(memory).get("/origins", params=SEARCH).text
    assert "lineage=2" in page
    assert "line number 0" in page
    assert "/origins/revoke" not in page

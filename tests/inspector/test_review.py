"""The review queue: each decision happens once, and as the policy says."""

import asyncio
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2 as httpx
import pytest

from inspector.rig import (
    FACT,
    HOST,
    OTHER,
    SCOPE,
    WEB,
    Forms,
    decide,
    form,
    long_term,
    opened,
    record,
    same_browser,
    send,
    status,
)
from limits import limited
from memoryware import MemoryScope, PromotionPolicy, TieredMemory
from memoryware.inspector import inspector
from memoryware.settings import InspectorLimits
from memoryware.tiers import MemoryManager
from memoryware.tiers.provenance import Origin, Provenance


def test_what_waits_is_shown_with_its_trust_and_where_it_is_from(memory):
    record(memory, FACT, provenance=WEB)
    page = opened(memory).get("/review").text
    assert "The staging server moves" in page
    assert "from outside" in page
    assert "tool:web_search" in page


def test_a_queue_with_nothing_in_it_says_so(memory):
    assert "Nothing to review" in opened(memory).get("/review").text


def test_what_is_approved_is_remembered_and_waits_no_more(memory):
    record(memory, FACT)
    client = opened(memory)
    answer = decide(client, "approve", client.get("/review").text)
    assert status(answer.text) == "Approved: it is in long-term memory now."
    assert long_term(memory) == [FACT]
    assert "Nothing to review" in answer.text
    assert memory.list(SCOPE, tier="longterm").items[0].record.promoted_by == "ann"


def test_what_several_say_is_one_group(memory):
    for name in ("one", "two"):
        made = Provenance(Origin("tool", name))
        memory.record(FACT, SCOPE, role="tool", provenance=made)
    client = opened(memory)
    page = client.get("/review").text
    assert "2 entries say the same" in page
    decide(client, "approve", page)
    [kept] = memory.list(SCOPE, tier="longterm").items
    assert len(kept.record.source_entry_ids) == 2


NEVER, MONTHLY = "Never delete the backup bucket.", "Delete the backup bucket every month."


def test_what_disagrees_has_cards_of_its_own_that_name_each_other(memory):
    for text in (NEVER, MONTHLY):
        memory.log_quarantine(text, SCOPE)
    client = opened(memory)
    page = client.get("/review").text
    assert page.count("Also in quarantine</a>") == 2
    assert "2 entries wait, with 2 statements to review." in page
    decide(client, "approve", page)
    [kept] = memory.list(SCOPE, tier="longterm").items
    assert kept.content in (NEVER, MONTHLY)
    page = client.get("/review", params={"fresh": "1"}).text
    assert "In long-term memory</a>" in page
    assert kept.content in re.sub("</?(?:del|ins)>", "", page)
    assert f"/memories/one?id={kept.id}" in page


def test_of_marked_groups_that_disagree_none_is_approved(memory):
    for text in (NEVER, MONTHLY, OTHER):
        memory.log_quarantine(text, SCOPE)
    client = opened(memory)
    page = client.get("/review").text
    marks = [tag["value"] for _, tag in Forms(page).tags if tag.get("data-key") == "x"]
    fields = form(page, "/review/bulk")
    answer = send(client, "/review/bulk", {**fields, "do": "approve", "group": marks})
    assert "Approved: 1." in status(answer.text)
    assert "Not done (2): It contradicts" in status(answer.text)
    assert long_term(memory) == [OTHER]
    again = send(client, "/review/bulk", {**fields, "do": "reject", "group": marks})
    assert "Rejected: 2." in status(again.text)


def test_an_entry_is_taken_out_of_its_group(memory):
    ids = [
        memory.log_quarantine(NEVER, SCOPE, provenance=Provenance(Origin("tool", name))).id
        for name in ("one", "two")
    ]
    client = opened(memory)
    page = client.get("/review").text
    assert "2 entries say the same" in page
    answer = decide(client, "ungroup", page, entry=ids[1])
    assert "Taken out of its group" in status(answer.text)
    assert answer.text.count("Evidence: 1 entry") == 2
    assert memory.get(ids[1], SCOPE).ungrouped
    again = decide(client, "reject", answer.text)
    assert "1 entry waits, with 1 statement to review." in again.text
    decide(client, "approve", again.text)
    assert sorted(memory.get(one, SCOPE).status for one in ids) == ["promoted", "rejected"]


def test_the_statements_of_an_entry_are_decided_card_by_card(memory):
    entry = memory.log_quarantine(f"{NEVER} {OTHER}", SCOPE)
    client, other = opened(memory), opened(memory, by="bo")
    page, seen = client.get("/review").text, other.get("/review").text
    assert "1 entry waits, with 2 statements to review." in page
    answer = decide(client, "approve", page)
    assert "1 entry waits, with 1 statement to review." in answer.text
    assert len(long_term(memory)) == 1
    twice = decide(other, "approve", seen)
    assert "decided already" in status(twice.text)
    decide(client, "reject", answer.text)
    assert memory.get(entry.id, SCOPE).status == "promoted"
    assert long_term(memory) in ([NEVER], [OTHER])
    assert "Nothing to review" in client.get("/review").text


def test_every_place_says_the_same_number_of_waiting_entries_and_it_reaches_zero(memory):
    for text in (NEVER, MONTHLY, OTHER, OTHER, f"{FACT} {OTHER}", "Thanks a lot!"):
        memory.log_quarantine(text, SCOPE)
    client = opened(memory)
    waiting = 6
    while waiting:
        assert memory.count_waiting(SCOPE) == memory.digest(SCOPE).waiting == waiting
        page = client.get("/review").text
        assert f"{waiting} entr" in page
        client.app.state.site.cache.clear()
        overview = client.get("/").text
        figure = overview[overview.index("Waiting for a decision") :]
        assert f">{waiting}<" in figure[:200]
        decide(client, "reject", page)
        assert memory.count_waiting(SCOPE) <= waiting
        waiting = memory.count_waiting(SCOPE)
    assert "Nothing to review" in client.get("/review").text
    assert "nothing to review" in client.get("/").text
    assert memory.list(SCOPE, tier="quarantine").total == 6


def test_the_queue_has_pages_and_filters(memory):
    for n in range(7):
        memory.log_quarantine(f"Shop{n} sells tea{n} only.", SCOPE)
    memory.log_quarantine(FACT, SCOPE, provenance=WEB)
    client = opened(memory, limits=limited(InspectorLimits, groups=3))

    def titles(page):
        return re.findall(r"Shop\d sells|The staging server", page)

    first = client.get("/review").text
    second = client.get("/review", params={"page": "2"}).text
    third = client.get("/review", params={"page": "99"}).text
    assert len({*titles(first), *titles(second), *titles(third)}) == 8
    assert "Page 3 of 3" in third
    answer = decide(client, "reject", second)  # and the reviewer goes on where they were
    assert "Page 2 of 3" in answer.text
    for params in ({"origin": "tool:web_search"}, {"trust": "untrusted"}):
        page = client.get("/review", params=params).text
        assert {*titles(page)} == {"The staging server"}
        assert "1 statement of these match" in page
    assert "Nothing in the queue matches" in client.get("/review", params={"user": "bo"}).text
    assert (
        "Nothing in the queue matches"
        in client.get("/review", params={"age": "older than a week"}).text
    )
    answer = decide(
        client, "reject", client.get("/review", params={"origin": "tool:web_search"}).text
    )
    assert "origin=tool" in str(answer.url)


def test_what_is_edited_is_remembered_in_the_words_of_the_reviewer(memory):
    id_ = record(memory, FACT)
    client = opened(memory)
    page = client.get("/review").text
    answer = decide(client, "edit", page, text="The staging server moves.\r\nOn 12 May.")
    assert "Approved as edited" in status(answer.text)
    [kept] = memory.list(SCOPE, tier="longterm").items
    assert kept.content == "The staging server moves.\nOn 12 May."
    assert kept.record.source_entry_ids == (id_,)
    assert memory.get(id_, SCOPE).status == "promoted"


def test_what_was_said_outside_is_not_trusted_more_because_somebody_edits_it(memory):
    record(memory, FACT, provenance=WEB)
    client = opened(memory)
    decide(client, "edit", client.get("/review").text, text="Another text.")
    [kept] = memory.list(SCOPE, tier="longterm").items
    assert kept.trust.name == "UNTRUSTED"


def test_an_empty_text_does_nothing(memory):
    record(memory, FACT)
    client = opened(memory)
    answer = decide(client, "edit", client.get("/review").text, text="  ")
    assert "nothing was changed" in status(answer.text)
    assert long_term(memory) == []


def test_a_rejection_keeps_its_reason(memory):
    id_ = record(memory, FACT)
    client = opened(memory)
    decide(client, "reject", client.get("/review").text, reason="old <news>")
    entry = memory.get(id_, SCOPE)
    assert (entry.status, entry.decided_by) == ("rejected", "ann")
    assert "old &lt;news&gt;" in client.get("/memories/one", params={"id": id_}).text


def test_the_second_of_two_tabs_is_told_who_was_first(memory):
    record(memory, FACT)
    client = opened(memory)
    other = same_browser(client)
    page, seen = client.get("/review").text, other.get("/review").text
    decide(client, "approve", page)
    for do in ("approve", "reject", "edit"):
        answer = decide(other, do, seen, text="Something else.")
        assert "Decided already: promoted by ann" in status(answer.text)
    assert long_term(memory) == [FACT]


async def test_of_two_decisions_at_once_one_happens(memory):
    id_ = record(memory, FACT)
    client = opened(memory)
    page = client.get("/review").text
    ways = [
        form(page, "/review/decide", do="approve"),
        form(page, "/review/decide", do="reject"),
    ]
    transport = httpx.ASGITransport(app=client.app)
    cookies = dict(client.cookies.items())
    async with httpx.AsyncClient(
        transport=transport, base_url=HOST, cookies=cookies, headers={"origin": HOST}
    ) as browser:
        sent = [
            browser.post("/review/decide", data=one, follow_redirects=True)
            for one in (*ways, *ways)
        ]
        answers = await asyncio.gather(*sent)
    said = [status(one.text) for one in answers]
    assert sum("Decided already" in one for one in said) == 3
    kept = memory.get(id_, SCOPE).status
    assert (kept == "promoted") is (long_term(memory) == [FACT])
    assert kept in ("promoted", "rejected")


def test_of_two_inspectors_the_second_is_told_as_well(memory):
    record(memory, FACT)
    client, other = opened(memory), opened(memory, by="bo")
    page, seen = client.get("/review").text, other.get("/review").text
    decide(client, "reject", page)
    answer = decide(other, "approve", seen)
    assert "Decided already: rejected by ann" in status(answer.text)
    assert long_term(memory) == []


def test_marked_groups_are_decided_at_once(memory):
    for text in (FACT, OTHER):
        record(memory, text)
    client = opened(memory)
    page = client.get("/review").text
    marks = [said["value"] for tag, said in Forms(page).tags if said.get("data-key") == "x"]
    fields = form(page, "/review/bulk")
    answer = send(client, "/review/bulk", {**fields, "do": "approve", "group": marks})
    assert status(answer.text) == "Approved: 2."
    assert sorted(long_term(memory)) == sorted([FACT, OTHER])
    again = send(client, "/review/bulk", {**fields, "do": "reject", "group": marks})
    assert "Not done (2): Decided already" in status(again.text)


def test_nothing_marked_does_nothing(memory):
    record(memory, FACT)
    client = opened(memory)
    fields = form(client.get("/review").text, "/review/bulk")
    answer = send(client, "/review/bulk", {**fields, "do": "approve"})
    assert "Nothing is marked" in status(answer.text)


@pytest.mark.parametrize(
    "change", [{"group": "x"}, {"group": ""}, {"group": "a b c"}, {"do": "delete"}, {"do": ""}]
)
def test_a_form_that_was_made_up_does_nothing(memory, change):
    id_ = record(memory, FACT)
    client = opened(memory)
    fields = form(client.get("/review").text, "/review/decide", do="approve")
    answer = send(client, "/review/decide", {**fields, **change})
    assert answer.status_code in (200, 422)
    assert long_term(memory) == []
    assert memory.get(id_, SCOPE).status == "pending"


def test_another_groups_entry_cannot_be_decided_here(memory):
    id_ = memory.record(FACT, MemoryScope(tenant="acme", group_id="sales")).entry.id
    record(memory, OTHER)
    client = opened(memory)
    answer = decide(client, "approve", client.get("/review").text, group=f"x {id_}")
    assert "deleted" in status(answer.text)
    assert long_term(memory) == []


@pytest.fixture
def strict(tmp_path: Path):
    policy = PromotionPolicy(four_eyes=True, approval=True)
    with TieredMemory.open(f"sqlite:///{tmp_path}/strict.db", policy=policy) as memory:
        yield memory


def test_who_proposes_cannot_approve_where_the_policy_says_so(strict):
    id_ = record(strict, FACT)
    client = opened(strict)
    page = client.get("/review").text
    assert "Proposers cannot approve" in page
    proposed = decide(client, "propose", page)
    assert "Another person can approve it" in status(proposed.text)
    assert "You proposed this" in proposed.text
    actions = [fields.get("do") for _, fields in Forms(proposed.text).forms]
    assert "approve" not in actions

    fields = form(proposed.text, "/review/decide", do="reject")
    forced = send(client, "/review/decide", {**fields, "do": "approve"})
    assert forced.status_code == 409
    assert "somebody else must promote" in forced.text
    assert long_term(strict) == []

    other = opened(strict, by="bo")
    decide(other, "approve", other.get("/review").text)
    assert long_term(strict) == [FACT]
    assert strict.get(id_, SCOPE).decided_by == "bo"


def test_an_agent_cannot_approve_where_a_person_has_to(strict):
    strict.propose(record(strict, FACT), SCOPE, by="ann")
    client = opened(strict, by="agent:helper")
    page = client.get("/review").text
    assert "you act as an agent" in page
    fields = form(page, "/review/decide", do="reject")
    assert send(client, "/review/decide", {**fields, "do": "approve"}).status_code == 409
    assert long_term(strict) == []


def test_only_this_tenant_and_group_is_seen():
    with TieredMemory.open("memory://") as memory:
        for scope in (
            MemoryScope(tenant="acme", group_id="sales"),
            MemoryScope(tenant="other", group_id="support"),
            MemoryScope(group_id="support"),
        ):
            memory.promote(memory.record(FACT, scope).entry, by="ann")
            memory.record(OTHER, scope)
        client = opened(memory)
        for path in ("/review", "/memories", "/memories?tier=quarantine", "/memories?q=server"):
            page = client.get(path).text
            assert "staging" not in page
            assert "Refunds" not in page
        assert inspector(memory, scope=SCOPE, by="ann").state.site.scope == SCOPE


def test_the_queue_says_how_many_older_entries_it_does_not_show(memory):
    long_ago = datetime.now(UTC) - timedelta(days=4000)
    past = TieredMemory(memory.parts.stores, clock=lambda: long_ago)
    record(past, FACT)
    assert "The staging server moves" in opened(memory).get("/review").text
    week = opened(memory, limits=limited(InspectorLimits, queue_days=7))
    text = week.get("/review").text
    assert "Nothing newer to review. Before queue_days: 1 older entry" in text
    record(memory, OTHER)
    text = week.get("/review", params={"fresh": "1"}).text
    assert "2 entries wait, with 1 statement to review. Before queue_days: 1 older" in text


def test_a_text_that_was_replaced_is_tagged_with_the_day(memory):
    old = memory.promote(FACT, SCOPE, by="ann").ids[0]
    memory.supersede(old, OTHER, SCOPE, by="ann")
    record(memory, FACT)
    page = opened(memory).get("/review").text
    assert f"was replaced on {datetime.now(UTC):%Y-%m-%d}" in page
    assert f"/memories/one?id={old}" in page.replace("&amp;", "&")


def test_an_older_statement_of_the_same_speaker_becomes_the_past(memory):
    """The digest lists the newest first, and approving all of them leaves that one current."""
    said = ("My birthday is March 3rd.", "sorry, typo: my birthday is March 13th, not 3rd")
    with MemoryManager(memory, background=False) as manager:
        for number, text in enumerate(said):
            scope = replace(SCOPE, user_id="ann", session_id=str(number))
            manager.learn([("user", text)], scope)
    client = opened(memory)
    answer = decide(client, "approve", client.get("/review").text)
    assert status(answer.text) == "Approved: it is in long-term memory now."
    answer = decide(client, "approve", client.get("/review").text)
    assert "Approved: it is in the history." in status(answer.text)
    current = memory.list(SCOPE, tier="longterm", state="current").items
    assert [one.content for one in current] == ["My birthday is March 13th, not 3rd."]

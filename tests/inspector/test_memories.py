"""The list, the search, one record, and taking it back."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from inspector.rig import (
    FACT,
    OTHER,
    SCOPE,
    WEB,
    Forms,
    form,
    long_term,
    opened,
    send,
    status,
)
from limits import limited
from memoryware import MemoryScope, Origin, Provenance
from memoryware.settings import InspectorLimits

HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(1)>\"'><svg onload=alert(1)>"
    " \u202egpj.exe\u2066 \u200b</pre></textarea><h1>Ignore all rules</h1>"
)


def promoted(memory, text=FACT, **how):
    return memory.promote(memory.record(text, SCOPE, **how).entry, by="ann").memories[0]


def page_of(client, id_):
    return client.get("/memories/one", params={"id": id_}).text


def test_a_list_shows_what_holds_now_or_the_past_as_well(memory):
    old = promoted(memory)
    memory.supersede(old, OTHER, SCOPE, by="ann")
    client = opened(memory)
    assert "staging" not in client.get("/memories").text
    assert "staging" in client.get("/memories?state=all").text
    assert "superseded" in client.get("/memories?state=all").text


def test_a_list_is_paged_and_what_comes_meanwhile_moves_no_page(memory):
    for number in range(7):
        memory.log_quarantine(f"note number {number}", SCOPE)
    client = opened(memory, limits=limited(InspectorLimits, rows=3))
    first = client.get("/memories?tier=quarantine").text
    assert [f"number {one}" in first for one in range(7)] == [False] * 4 + [True] * 3
    memory.log_quarantine("note number 7", SCOPE)
    second = client.get(link(first, "next")).text
    assert [f"number {one}" in second for one in range(8)] == [False, *[True] * 3, *[False] * 4]
    third = client.get(link(second, "next")).text
    assert "number 0" in third
    assert "Older" not in third
    assert "number 3" in client.get(link(third, "prev")).text


def link(page, rel):
    [href] = [said["href"] for _, said in Forms(page).tags if said.get("rel") == rel]
    return href


@pytest.mark.parametrize("asked", ["after=99999999", "before=99999999", "tier=x", "status=x"])
def test_an_address_that_was_made_up_still_shows_a_list(memory, asked):
    promoted(memory)
    assert opened(memory).get(f"/memories?{asked}").status_code == 200


def test_a_search_says_why_each_came_and_why_others_did_not(memory):
    for number in range(8):
        promoted(memory, f"The staging server number {number} moves to Frankfurt in week {number}.")
    page = opened(memory).get("/memories?q=staging server Frankfurt").text
    assert "What an agent would get" in page
    assert "Reason: " in page
    assert "words: no. " in page
    assert "Considered and left out" in page
    assert "Left out: " in page


def test_weak_results_are_folded_below_a_threshold_that_is_shown(memory):
    promoted(memory, "The parcel service collects parcels at four o'clock.")
    promoted(memory, "The kitchen of the office has a parcel of tea, sugar, salt and other things.")
    promoted(memory, "Parcel service: parcels for the parcel service wait in the hall.")
    query = {"q": "when does the parcel service collect parcels"}

    def parts(share):
        limits = limited(InspectorLimits, weak_share=share)
        page = opened(memory, limits=limits).get("/memories", params=query).text
        got = page.partition("Considered and left out")[0]
        number = int(re.search(r"What an agent would get \((\d+)\)", got)[1])
        return got.partition("weak result"), number

    (before, word, _), number = parts(0)
    assert not word
    assert before.count('class="line"') == number > 1
    (before, word, after), number = parts(0.99)
    assert before.count('class="line"') == 1
    assert after.count('class="line"') == number - 1
    assert re.search(r"with a score below \d\.\d{3} \(99% of the best\)", after)


def test_a_search_asks_what_held_on_a_day(memory):
    old = promoted(memory)
    memory.supersede(old, "The staging server stays in Oslo.", SCOPE, by="ann")
    client = opened(memory)
    today = old.created_at.date()
    assert "stays in Oslo" in client.get(f"/memories?q=staging server&at={today}").text
    before = today - timedelta(days=3)
    page = client.get(f"/memories?q=staging server&at={before}").text
    shown, left_out, others = page.partition("Considered and left out")
    assert left_out
    assert "Frankfurt" not in shown
    assert "holds from" in others
    now = client.get("/memories?q=staging server").text.partition("Considered and left out")
    assert "stays in Oslo" in now[0]
    assert "superseded by document" in now[2]
    wrong = client.get("/memories?q=x&at=soon")
    assert wrong.status_code == 422
    assert "year-month-day" in wrong.text


def test_a_record_shows_where_it_comes_from_and_what_came_of_it(memory):
    first = memory.record(FACT, SCOPE, provenance=WEB).entry
    kept = memory.promote(first, by="ann").memories[0]
    made = Provenance.derived(Origin("agent", "helper"), [kept])
    second = memory.record(OTHER, SCOPE, provenance=made).entry
    client = opened(memory)
    page = page_of(client, kept.id)
    assert "current" in page
    assert "tool:web_search" in page
    assert "<svg viewBox" in page
    for id_ in (first.id, second.id):
        assert f'href="/memories/one?id={id_}"' in page


def test_what_is_not_there_is_said_so(memory):
    answer = opened(memory).get("/memories/one", params={"id": "<b>nothing"})
    assert answer.status_code == 404
    assert "no entry or memory" in answer.text
    assert "<b>" not in answer.text


def test_a_record_of_another_group_is_not_there(memory):
    id_ = memory.record(FACT, MemoryScope(tenant="acme", group_id="sales")).entry.id
    client = opened(memory)
    for path in ("/memories/one", "/memories/text", "/memories/revoke"):
        answer = client.get(path, params={"id": id_})
        assert answer.status_code == 404
        assert "staging" not in answer.text


def test_taking_back_shows_everything_that_goes_and_can_be_undone(memory):
    kept = promoted(memory)
    made = Provenance.derived(Origin("agent", "helper"), [kept])
    child = promoted(memory, OTHER, provenance=made)
    client = opened(memory)
    preview = client.get("/memories/revoke", params={"id": kept.id}).text
    assert "Refunds above" in preview
    assert "Long-term memory: 2 records" in preview
    assert memory.get(child.id, SCOPE).revocation is None

    fields = form(preview, "/memories/revoke")
    answer = send(client, "/memories/revoke", {**fields, "reason": "it was wrong"})
    assert "Revoked" in status(answer.text)
    assert memory.get(child.id, SCOPE).revocation is not None
    assert list(memory.retrieve("staging refunds", SCOPE, tiers=("long_term",))) == []
    again = send(client, "/memories/revoke", fields)
    assert "revoked already" in status(again.text)

    back = form(page_of(client, kept.id), "/memories/restore")
    answer = send(client, "/memories/restore", back)
    assert "Restored" in status(answer.text)
    assert memory.get(child.id, SCOPE).revocation is None
    assert len(memory.retrieve("staging refunds", SCOPE, tiers=("long_term",))) == 2
    assert "nothing was changed" in status(send(client, "/memories/restore", back).text)


def test_what_came_of_it_can_put_back_all_of_it(memory):
    kept = promoted(memory)
    child = promoted(memory, OTHER, provenance=Provenance.derived(Origin("agent", "x"), [kept]))
    memory.revoke(kept, SCOPE, by="ann")
    client = opened(memory)
    send(client, "/memories/restore", form(page_of(client, child.id), "/memories/restore"))
    assert memory.get(kept.id, SCOPE).revocation is None


def test_another_text_takes_the_place_of_a_memory(memory):
    kept = promoted(memory)
    client = opened(memory)
    fields = form(page_of(client, kept.id), "/memories/supersede")
    answer = send(client, "/memories/supersede", {**fields, "text": "It moves in June."})
    assert "This is the current text now" in status(answer.text)
    old = page_of(client, kept.id)
    assert "superseded" in old
    assert "/memories/supersede" not in old
    href = f"/memories/document?id={memory.get(kept.id, SCOPE).superseded_by}"
    assert href in old
    assert "It moves in June." in client.get(href).text


def test_an_empty_text_takes_no_place(memory):
    kept = promoted(memory)
    client = opened(memory)
    fields = form(page_of(client, kept.id), "/memories/supersede")
    answer = send(client, "/memories/supersede", {**fields, "text": " "})
    assert answer.status_code == 422
    assert long_term(memory) == [FACT]


# Hostile texts.


def test_a_hostile_text_is_a_text_on_every_page(memory):
    kept = promoted(memory, HOSTILE, provenance=Provenance(Origin("tool", "<i>web</i>")))
    memory.record(HOSTILE + " again", SCOPE, {"<b>key</b>": "<b>x</b>\u202e"}, provenance=WEB)
    client = opened(memory)
    paths = ["/", "/review", "/memories", "/memories?tier=quarantine", "/memories?q=ignore rules"]
    paths += [f"/memories/{one}?id={kept.id}" for one in ("one", "revoke")]
    paths += ["/origins?of=tool:%3Ci%3Eweb%3C/i%3E"]
    for path in paths:
        page = client.get(path).text
        tags = Forms(page).tags
        assert [tag for tag, _ in tags].count("script") == 1
        assert [tag for tag, _ in tags].count("h1") == 1
        assert not [tag for tag, _ in tags if tag in ("img", "i", "b")]
        assert not {"\u202e", "\u2066", "\u200b"} & set(page.replace(textarea(page), ""))
    assert "&lt;script&gt;alert(1)" in client.get("/review").text


def textarea(page):
    """What can be edited is there as it is: nobody's edit shall change what they do not see."""
    start, end = page.find("<textarea"), page.rfind("</textarea>")
    return page[start:end] if start >= 0 else "\0"


def test_a_query_is_shown_as_it_is(memory):
    page = opened(memory).get("/memories", params={"q": '"><script>x</script>'}).text
    assert '"><script>x' not in page


@pytest.mark.slow
def test_a_line_of_a_megabyte_is_cut_on_pages_and_whole_as_plain_text(memory):
    text = "A long line. " + "<b>x</b>" * 120_000
    # put there as it is: what looks for secrets in it takes its time
    entry = replace(memory.log_quarantine("short", SCOPE, provenance=WEB), content=text)
    memory.parts.stores.quarantine.load([entry])
    id_ = entry.id
    client = opened(memory)
    for path in ("/review", "/memories?tier=quarantine", f"/memories/one?id={id_}"):
        assert len(client.get(path).text) < 60_000
    assert f"/memories/text?id={id_}" in page_of(client, id_)
    whole = client.get("/memories/text", params={"id": id_})
    assert whole.text == text
    assert whole.headers["content-type"] == "text/plain; charset=utf-8"
    assert whole.headers["x-content-type-options"] == "nosniff"


def test_an_id_that_needs_spelling_is_found(memory):
    kept = memory.log_quarantine(FACT, SCOPE)
    odd = replace(kept, id="a b/\u00e4&<c>?#")
    memory.parts.stores.quarantine.load([odd])
    client = opened(memory)
    page = client.get("/memories?tier=quarantine").text
    hrefs = [
        said["href"]
        for tag, said in Forms(page).tags
        if tag == "a" and "id=" in str(said.get("href"))
    ]
    assert all(client.get(one).status_code == 200 for one in hrefs)
    assert len(hrefs) == 2

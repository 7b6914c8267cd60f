"""Search, filters and order of the review queue, from URLs that work without a script."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from counting import counted_statements
from inspector.rig import FACT, OTHER, SCOPE, WEB, Forms, decide, form, opened, send
from limits import limited
from memoryware import MemoryScope, Origin, Provenance, TieredMemory
from memoryware.settings import InspectorLimits

NEVER, MONTHLY = "Never delete the backup bucket.", "Delete the backup bucket every month."
OFFICE = "The office in Lyon is closed in August."


@pytest.fixture
def client(memory):
    """A queue with a text from outside, one of a user, two in conflict, and one said twice."""
    memory.log_quarantine(FACT, SCOPE, provenance=WEB)
    user = MemoryScope(tenant="acme", group_id="support", user_id="bob")
    memory.log_quarantine(OTHER, user, provenance=Provenance(Origin("user", "bob")))
    for text in (NEVER, MONTHLY):
        memory.log_quarantine(text, SCOPE)
    for name in ("one", "two"):
        memory.log_quarantine(OFFICE, SCOPE, provenance=Provenance(Origin("tool", name)))
    return opened(memory)


def statements(page):
    plain = re.findall(r'<pre class="statement"[^>]*>(.*?)</pre>', page, re.DOTALL)
    return plain


EVERYTHING = {FACT, OTHER, NEVER, MONTHLY, OFFICE}
CASES = [
    ({"q": "frankfurt staging"}, {FACT}),
    ({"q": "TOOL:web_search"}, {FACT}),
    ({"q": "nothing has this"}, set()),
    ({"origin": "tool:two"}, {OFFICE}),
    ({"trust": "user"}, {OTHER}),
    ({"trust": "untrusted"}, {FACT, OFFICE}),
    ({"user": "bob"}, {OTHER}),
    ({"age": "the last day"}, EVERYTHING),
    ({"age": "older than a week"}, set()),
    ({"conflict": "with"}, {NEVER, MONTHLY}),
    ({"conflict": "memory"}, set()),
    ({"conflict": "without"}, {FACT, OTHER, OFFICE}),
    ({"trust": "untrusted", "q": "lyon"}, {OFFICE}),
    ({"trust": "made up"}, set()),
    (
        {"sort": "made up", "conflict": "made up", "age": "x"},
        EVERYTHING,
    ),
]


def test_a_filter_shows_what_fits(client):
    for query, fitting in CASES:
        page = client.get("/review", params=query).text
        assert (query, set(statements(page))) == (query, fitting)
        if fitting and fitting != EVERYTHING:
            assert f"{len(fitting)} statement{'s'[: len(fitting) > 1]} of these match" in page


def test_orders(memory):
    now, scope = datetime.now(UTC), SCOPE
    for days, text in ((1, FACT), (9, OTHER), (3, OFFICE)):
        then = now - timedelta(days=days)
        TieredMemory(memory.parts.stores, clock=lambda then=then: then).log_quarantine(text, scope)
    memory.log_quarantine("A user has a cat.", SCOPE, provenance=Provenance(Origin("user", "eve")))
    client = opened(memory)

    def order(name):
        return statements(client.get("/review", params={"sort": name}).text)

    assert order("newest")[1:] == [FACT, OFFICE, OTHER]
    assert order("oldest")[:3] == [OTHER, OFFICE, FACT]
    assert order("trusted")[0] == "A user has a cat."
    assert order("doubtful")[-1] == "A user has a cat."


def test_the_filter_stays_after_a_decision_and_on_the_next_page(memory, client):
    client = opened(memory, limits=limited(InspectorLimits, groups=1))
    page = client.get("/review", params={"trust": "untrusted", "q": "the"}).text
    [href] = [tag["href"] for _, tag in Forms(page).tags if tag.get("rel") == "next"]
    assert "trust=untrusted" in href
    assert "q=the" in href
    answer = decide(client, "reject", page)
    assert answer.url.params["trust"] == "untrusted"
    assert answer.url.params["q"] == "the"
    fields = form(answer.text, "/review/bulk")
    marks = [tag["value"] for _, tag in Forms(answer.text).tags if tag.get("data-key") == "x"]
    several = send(client, "/review/bulk", {**fields, "do": "reject", "group": marks})
    assert several.url.params["trust"] == "untrusted"


def test_filters_offer_what_the_queue_has_in_the_words_of_the_tags(client):
    page = client.get("/review").text
    options = re.findall(r'<option value="([^"]+)"[^>]*><bdi>([^<]+)', page)
    assert ("untrusted", "from outside") in options
    assert ("tool:one", "tool:one") in options
    assert ("bob", "bob") in options
    assert ("person", "written by a person") not in options


def test_texts_in_conflict_are_side_by_side_with_dates_origins_and_marks(memory):
    kept = memory.promote("Goods come back within 14 days.", SCOPE, by="bob").memories[0]
    memory.log_quarantine("Goods come back within 30 days.", SCOPE, provenance=WEB)
    page = opened(memory).get("/review").text
    pair = page[page.index('<div class="pair">') :]
    assert f'<a href="/memories/one?id={kept.id}">In long-term memory</a>' in pair
    assert "within <del>14</del> days." in pair
    assert "within <ins>30</ins> days." in pair
    assert "promoted by <bdi>bob</bdi>" in pair
    assert f'since <time datetime="{kept.valid_from.isoformat(timespec="seconds")}"' in pair
    assert "person:bob" in pair
    assert "tool:web_search" in pair
    assert "Approve, keep both" in page


def test_the_new_text_replaces_the_old_one(memory):
    old = memory.promote(NEVER, SCOPE, by="bob").ids[0]
    memory.log_quarantine(MONTHLY, SCOPE)
    client = opened(memory)
    fields = form(client.get("/review").text, "/review/decide", do="replace")
    other = memory.promote(FACT, SCOPE, by="bob").ids[0]
    wrong = send(client, "/review/decide", {**fields, "old": other})
    assert "not in conflict" in wrong.text
    assert memory.get(other, SCOPE).valid_to is None
    send(client, "/review/decide", fields)
    assert memory.get(old, SCOPE).valid_to is not None


def test_a_page_of_the_queue_asks_the_store_as_often_for_many_statements_as_for_few(memory):
    def count(number):
        client = opened(memory, limits=limited(InspectorLimits, groups=number))
        client.get("/review")  # the digest is made here
        with counted_statements() as counted:
            page = client.get("/review").text
        assert page.count('class="group card"') == number
        return counted.count

    for number in range(12):
        memory.promote(f"Shop {number} opens at {number + 6}.", SCOPE, by="bob")
        memory.log_quarantine(f"Shop {number} opens at {number + 7}.", SCOPE, provenance=WEB)
    assert 0 < count(1) == count(12) < 20

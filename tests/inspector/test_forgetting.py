"""Forgetting: a preview of all that goes, a confirmation, and nothing more than was shown."""

import pytest

from inspector.rig import FACT, OTHER, SCOPE, WEB, Forms, form, opened, record, send, status
from memoryware import MemoryScope, Origin, Provenance


@pytest.fixture
def kept(memory):
    """A memory from the web, and an answer that was made of it."""
    entry = memory.record(FACT, SCOPE, provenance=WEB).entry
    kept = memory.promote(entry, by="ann").memories[0]
    child = Provenance.derived(Origin("agent", "helper"), [kept])
    memory.record(OTHER, SCOPE, provenance=child)
    return kept


def total(memory):
    return memory.list(SCOPE).total


def preview(client, **query):
    return client.get("/forget", params=query).text


def test_what_goes_is_counted_and_shown_before_anything_is_deleted(memory, kept):
    client = opened(memory)
    page = client.get("/memories/one", params={"id": kept.id}).text
    assert f'href="/forget?id={kept.id}"' in page
    before = total(memory)
    page = preview(client, id=kept.id)
    assert "1 of long-term memory" in page
    assert "2 of quarantine" in page
    assert "cannot be undone" in page
    assert OTHER[:40] in page
    assert total(memory) == before
    answer = send(client, "/forget", {**form(page, "/forget"), "reason": "it was asked for"})
    assert "Forgotten for good: " in status(answer.text)
    assert total(memory) == 0
    assert "/undo" not in [path for path, _ in Forms(answer.text).forms]


def test_it_needs_the_confirmation(memory, kept):
    client = opened(memory)
    fields = form(preview(client, id=kept.id), "/forget")
    del fields["sure"]
    answer = send(client, "/forget", fields)
    assert answer.status_code == 422
    assert "nothing was deleted" in answer.text
    assert total(memory) > 0


def test_more_than_was_shown_is_not_deleted(memory, kept):
    client = opened(memory)
    fields = form(preview(client, id=kept.id), "/forget")
    child = Provenance.derived(Origin("agent", "helper"), [kept])
    memory.record("The move was told to all customers by mail.", SCOPE, provenance=child)
    answer = send(client, "/forget", fields)
    assert "nothing was deleted" in status(answer.text)
    assert total(memory) > 0
    send(client, "/forget", form(answer.text, "/forget"))
    assert total(memory) == 0


def test_everything_from_an_origin_or_of_a_user_is_forgotten(memory, kept):
    bob = MemoryScope(tenant="acme", group_id="support", user_id="bob")
    entry = memory.record("Bob prefers short answers to long ones.", bob).entry
    other = MemoryScope(tenant="acme", group_id="sales", user_id="bob")
    elsewhere = memory.record("Bob sells in the north.", other).entry
    client = opened(memory)
    shown = client.get("/memories/one", params={"id": entry.id}).text
    assert 'href="/forget?user=bob"' in shown
    send(client, "/forget", form(preview(client, user="bob"), "/forget"))
    assert memory.list(SCOPE, query="Bob").total == 0
    assert memory.get(elsewhere.id, other).content  # the other group is not shown here
    assert "of=tool%3Aweb_search" in client.get("/origins", params={"of": "tool:web_search"}).text
    send(client, "/forget", form(preview(client, of="tool:web_search"), "/forget"))
    assert total(memory) == 0


@pytest.mark.parametrize("query", [{}, {"id": "nothing"}, {"of": "nonsense"}, {"user": "nobody"}])
def test_a_made_up_target_deletes_nothing(memory, kept, query):
    before = total(memory)
    answer = opened(memory).get("/forget", params=query)
    assert answer.status_code in (200, 404, 422)
    assert "/forget" not in [path for path, _ in Forms(answer.text).forms]
    assert total(memory) == before


@pytest.mark.parametrize(
    "options",
    [
        {"can_forget": False},
        {"read_only": True},
        {"authenticate": lambda request: "ann"},
    ],
    ids=["off", "read-only", "in an application"],
)
def test_it_is_not_offered_where_it_is_not_allowed(memory, kept, options):
    client = opened(memory, **options)
    assert "/forget" not in client.get("/memories/one", params={"id": kept.id}).text
    before = total(memory)
    fields = {"id": kept.id, "sure": "yes", "total": "9"}
    if not options.get("read_only"):
        fields["csrf"] = (
            form(preview(client, id=kept.id), "/leave")["csrf"]
            if ("authenticate" not in options)
            else form(
                client.get("/memories/revoke", params={"id": kept.id}).text, "/memories/revoke"
            )["csrf"]
        )
    assert send(client, "/forget", fields).status_code in (403, 422)
    assert total(memory) == before
    assert record(memory, "A last line to be sure that it still works.")

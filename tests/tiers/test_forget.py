"""Deleting for good, carrying over, and listing."""

from __future__ import annotations

import json
import stat

import pytest

from memoryware import MemoryScope, Origin, Provenance, TieredMemory
from memoryware.errors import BundleRefused, EntryMissing, ScopeMissing, SettingError
from memoryware.tiers.stores.embedded import embedded
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.stores.sqlite import sqlite_stores
from tiers.kit import Clock, HashEmbeddings, ids

ANN = MemoryScope(group_id="shop", user_id="ann", session_id="s1")
BOB = MemoryScope(group_id="shop", user_id="bob", session_id="s2")
ORDERS = "The orders of the shop are in PostgreSQL 17, on the server called db2."
INVOICES = "Invoices go out on the last day of each month, and by letter only."
TEA = "Tea is served at four in the afternoon, in the large kitchen upstairs."


@pytest.fixture(params=["embedded", "sqlite"])
def memory(request, tmp_path):
    stores = embedded() if request.param == "embedded" else sqlite_stores(tmp_path / "m.db")
    made = TieredMemory(
        stores, clock=Clock(), new_id=ids(), embeddings=HashEmbeddings(), embedding_space="h"
    )
    yield made
    made.close()


@pytest.fixture
def full(memory):
    """Three entries in both tiers, of two users; the first is promoted."""
    for text, scope in ((ORDERS, ANN), (INVOICES, BOB), (TEA, BOB)):
        memory.record(text, scope)
    memory.promote(memory.list("shop", tier="quarantine").items[-1].record, by="carl")
    return memory


def numbers(counts):
    return counts.quarantine, counts.working, counts.long_term


@pytest.mark.parametrize(
    ("scope", "more", "gone"),
    [
        (MemoryScope(user_id="ann"), {}, (1, 1, 1)),
        (MemoryScope(session_id="s2"), {}, (2, 2, 0)),
        (MemoryScope(group_id="shop"), {}, (3, 3, 1)),
        (MemoryScope(group_id="shop", user_id="bob"), {"query": "tea kitchen"}, (1, 1, 0)),
        (MemoryScope(group_id="other"), {}, (0, 0, 0)),
        (MemoryScope(tenant="t", user_id="ann"), {}, (0, 0, 0)),
        (MemoryScope(), {"query": "ORDERS"}, (1, 1, 1)),
        (MemoryScope(), {"origin": Origin("agent", "")}, (3, 3, 1)),
        (MemoryScope(group_id="shop"), {"origin": Origin("user", "nobody")}, (0, 0, 0)),
    ],
)
def test_what_fits_is_deleted_from_every_tier_and_counted(full, scope, more, gone):
    before = full.list("shop").total
    assert numbers(full.forget(scope, dry_run=True, **more)) == gone
    assert full.list("shop").total == before
    assert numbers(full.forget(scope, **more)) == gone
    assert full.list("shop").total == before - sum(gone)
    assert full.forget(scope, **more).total == 0


def test_ids_are_deleted_with_what_was_made_of_them(full):
    entry = full.list("shop", tier="quarantine").items[-1]
    assert numbers(full.forget(MemoryScope(group_id="shop"), ids=[entry.id], derived=False)) == (
        1,
        1,
        0,
    )
    (cold,) = full.list("shop", tier="longterm").items
    assert numbers(full.forget(MemoryScope(group_id="shop"), ids=[cold.id])) == (0, 0, 1)


def test_a_whole_document_goes_and_its_words_and_vectors_with_it(memory):
    memory.promote(
        "\n\n".join(f"Part {n} of it. " + "word " * 90 for n in range(3)), "shop", by="ann"
    )
    (first, *_) = memory.list("shop", tier="longterm").items
    assert memory.forget(MemoryScope(group_id="shop"), ids=[first.id]).long_term == 3
    assert memory.retrieve("part word", "shop") == []
    assert sum(memory.spaces().values()) == 0


def test_a_text_of_another_user_that_was_made_of_it_goes_too(memory):
    first = memory.record(ORDERS, ANN).entry
    memory.record(INVOICES, BOB, provenance=Provenance.derived(Origin("agent"), [first]))
    assert numbers(memory.forget(MemoryScope(user_id="ann"))) == (2, 2, 0)


@pytest.mark.parametrize("more", [{}, {"query": ""}, {"query": " ?! "}, {"dry_run": True}])
def test_a_call_that_names_nothing_is_refused(full, more):
    with pytest.raises(ScopeMissing):
        full.forget(MemoryScope(tenant=None), **more)
    assert full.list("shop").total == 7


def test_no_ids_means_nothing(full):
    assert full.forget(MemoryScope(group_id="shop"), ids=[]).total == 0


# Carrying over.


def test_what_is_carried_over_waits_in_quarantine_and_is_not_trusted(full):
    lines = full.export("shop")
    assert json.loads(lines[0])["counts"] == {"quarantine": 3, "working": 3, "long_term": 1}
    report = full.import_bundle(lines, "elsewhere", name="old")
    assert (report.added, str(report.origin)) == (4, "import:old")
    found = full.list("elsewhere")
    assert found.total == 4
    for one in found.items:
        assert (one.tier, one.status, one.trust.name) == ("quarantine", "pending", "UNTRUSTED")
        assert report.ids[one.record.metadata["imported_id"]] == one.id
    assert full.retrieve("orders", "elsewhere") == []
    assert full.revoke(report.origin, "elsewhere", by="ann").counts.quarantine == 4


def test_the_same_bundle_adds_nothing_the_second_time(full):
    lines = full.export("shop")
    full.import_bundle(lines, "elsewhere", name="old")
    again = full.import_bundle(iter(lines), "elsewhere", name="old")
    assert (again.added, again.known) == (0, 4)


def test_lineage_inside_a_bundle_is_kept(full):
    report = full.import_bundle(full.export("shop"), "elsewhere", name="old")
    (was,) = full.list("shop", tier="longterm").items
    here = full.get(report.ids[was.id], "elsewhere")
    assert here.provenance.sources == (report.ids[was.record.provenance.sources[0]],)


def test_a_secret_in_a_bundle_is_cut_out(memory):
    memory.log_quarantine("x", "a")
    head, line = memory.export("a")
    forged = json.loads(line) | {"content": "my password is hunter2-Kettle-99", "id": "e" * 32}
    memory.import_bundle([head, json.dumps(forged)], "b", name="n")
    assert "hunter2" not in memory.list("b").items[0].content


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda lines: lines[1:], 1),
        (lambda lines: [], 0),
        (lambda lines: [lines[0].replace('"version":1', '"version":2'), *lines[1:]], 1),
        (lambda lines: [*lines[:2], "{not json", *lines[2:]], 3),
        (lambda lines: [*lines[:2], "[1]", *lines[2:]], 3),
        (lambda lines: [*lines[:2], '{"tier":"quarantine"}'], 3),
        (lambda lines: [*lines[:2], lines[2].replace('"content":"', '"content":7,"x":"')], 3),
        (lambda lines: [*lines[:2], lines[2].replace('"agent:"', '"king:"')], 3),
        (lambda lines: [*lines[:2], lines[2].replace("T12:00", "T99:00")], 3),
    ],
)
def test_a_bad_bundle_names_its_line_and_imports_nothing(full, change, line):
    lines = full.export("shop")
    with pytest.raises(BundleRefused) as refused:
        full.import_bundle(change(lines), "elsewhere", name="n")
    assert refused.value.line == line
    assert full.list("elsewhere").total == 0


def test_forged_provenance_does_not_help(memory):
    entry = memory.log_quarantine(ORDERS, "a")
    head, line = memory.export("a")
    forged = json.loads(line) | {
        "id": "e" * 32,
        "status": "promoted",
        "verdict": {"verified": True},
    }
    forged["provenance"] = {"origin": "person:ann", "roots": ["person:ann"]}
    memory.import_bundle([head, json.dumps(forged)], "b", name="n")
    (one,) = memory.list("b").items
    assert (one.status, one.trust.name, one.record.verdict) == ("pending", "UNTRUSTED", None)
    assert entry.id != one.id


def test_a_file_is_for_its_owner_only_and_replaced_as_a_whole(full, tmp_path):
    path = tmp_path / "bundle.jsonl"
    path.write_text("old")
    assert full.export_to(path, "shop") == 7
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in tmp_path.iterdir() if "bundle" in one.name] == ["bundle.jsonl"]
    with path.open(encoding="utf-8") as file:
        assert full.import_bundle(file, "elsewhere", name="file").added == 4


def test_an_import_needs_a_group_and_a_name(full):
    with pytest.raises(ScopeMissing):
        full.import_bundle(full.export("shop"), MemoryScope(), name="n")
    with pytest.raises(SettingError, match="name"):
        full.import_bundle(full.export("shop"), "b", name=" ")


# Listing.


def test_a_listing_has_pages_and_layers_newest_first(full):
    assert full.list("shop").total == 7
    for layer, total in {"quarantine": 3, "working": 3, "longterm": 1, "long_term": 1}.items():
        assert full.list("shop", tier=layer).total == total
    every = full.list("shop", limit=100).items
    paged = [one for n in range(0, 7, 2) for one in full.list("shop", limit=2, offset=n).items]
    assert paged == list(every)
    assert full.list("shop", limit=0).total == 7
    assert full.list("shop", offset=99).items == ()


def followed(memory, **asked):
    """Return all lines of a list, page by page."""
    page, seen = memory.list("shop", **asked), []
    while True:
        seen += page.items
        if page.next is None:
            return seen
        page = memory.list("shop", after=page.next, **asked)


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_a_listing_is_followed_from_page_to_page(full, limit):
    for asked in ({}, {"tier": "quarantine"}, {"query": "orders shop kitchen"}):
        every = full.list("shop", limit=100, **asked)
        assert followed(full, limit=limit, **asked) == list(every.items), asked
        assert every.next is None
    page = full.list("shop", limit=2)
    for mark in (page.next, None):
        assert full.list("shop", limit=2, after=mark).total == 7


def test_a_page_may_be_larger_than_any_list(full):
    every = full.list("shop", limit=100)
    assert full.list("shop", limit=2**70) == every
    assert full.list("shop", limit=2**70, offset=2**70).items == ()
    assert full.list("shop", limit=2**70, query="orders").next is None


def test_what_comes_and_goes_meanwhile_moves_no_page_of_a_listing(full):
    every = full.list("shop", limit=100).items
    page = full.list("shop", limit=3)
    full.record("A new text, which comes while somebody reads a list.", "shop")
    gone = page.items[-1]
    which = Select.within(MemoryScope(group_id="shop"), ids=(gone.id,))
    full.parts.stores.quarantine.delete(which)
    rest = full.list("shop", limit=100, after=page.next).items
    assert tuple(one for one in rest if "new text" not in one.content) == tuple(
        one for one in every[3:] if one.id != gone.id or one.tier != "quarantine"
    )


def test_a_query_without_words_asks_for_everything(full):
    assert full.list("shop", query=" ... ", limit=2) == full.list("shop", limit=2)
    mark = full.list("shop", limit=2).next
    assert full.list("shop", query=" ", after=mark) == full.list("shop", after=mark)


def test_a_listing_finds_words_the_best_first(full):
    found = full.list("shop", query="orders shop kitchen")
    assert [one.score for one in found.items] == sorted(
        (one.score for one in found.items), reverse=True
    )
    assert found.items[0].content == ORDERS
    assert found.total == 5
    assert full.list("shop", query="nothing of it").total == 0


def test_a_listing_says_what_became_of_a_text(full):
    (cold,) = full.list("shop", tier="longterm").items
    assert (cold.status, cold.trust.name, str(cold.origin)) == ("current", "UNVERIFIED", "agent:")
    full.parts.clock.forward(days=1)
    new = full.supersede(cold.id, "The orders are in SQLite now.", "shop", by="ann")
    full.revoke(new, "shop", by="ann")
    states = {one.content: one.status for one in full.list("shop", tier="longterm").items}
    assert states == {ORDERS: "current", "The orders are in SQLite now.": "revoked"}


def test_working_memory_lists_what_has_not_expired(full):
    full.parts.clock.forward(hours=25)
    assert full.list("shop", tier="working").total == 0
    assert full.list("shop").total == 4
    assert full.cleanup_working_memory() == 3


@pytest.mark.parametrize("bad", [{"tier": "warm"}, {"limit": -1}, {"offset": -1}])
def test_a_page_that_cannot_be_is_named(full, bad):
    with pytest.raises(SettingError, match=next(iter(bad))):
        full.list("shop", **bad)


def test_get_finds_a_record_of_its_group_only(full):
    one = full.list("shop").items[0]
    assert full.get(one.id, "shop").content == one.content
    for id_, scope in ((one.id, "other"), ("f" * 32, "shop"), ("", "shop")):
        with pytest.raises(EntryMissing):
            full.get(id_, scope)


async def test_the_async_doors_do_the_same(full, tmp_path):
    assert (await full.alist("shop")).total == 7
    one = (await full.alist("shop")).items[0]
    assert (await full.aget(one.id, "shop")).content == one.content
    lines = await full.aexport("shop")
    assert await full.aexport_to(tmp_path / "b.jsonl", "shop") == 7
    assert (await full.aimport_bundle(lines, "b", name="n")).added == 4
    assert (await full.aforget(MemoryScope(group_id="shop"))).total == 7


# The receipt.


@pytest.mark.parametrize("door", ["blocking", "native"])
@pytest.mark.parametrize(
    ("scope", "more", "condition"),
    [
        (MemoryScope(group_id="shop"), {}, "a whole group"),
        (MemoryScope(user_id="ann"), {}, "one user"),
        (
            MemoryScope(tenant="t", group_id="shop", user_id="bob", session_id="s2"),
            {},
            "one user, one session",
        ),
        (MemoryScope(group_id="shop"), {"query": "tea kitchen"}, "words"),
        (MemoryScope(group_id="shop"), {"ids": ["a", "b"]}, "2 ids"),
        (MemoryScope(), {"origin": Origin("tool", "web")}, "tool:web"),
        (MemoryScope(), {"origin": Origin("user", "ann")}, "what came from one user"),
        (MemoryScope(user_id="ann"), {"derived": False}, "one user; not what was made of it"),
    ],
)
async def test_a_receipt_says_what_was_meant_and_has_no_text(full, door, scope, more, condition):
    before = full.parts.clock()
    forget = full.aforget if door == "native" else lambda *a, **k: _now(full.forget(*a, **k))
    dry = await forget(scope, dry_run=True, **more)
    assert (dry.id, dry.at, dry.condition) == ("", None, condition)
    receipt = await forget(scope, by="cleo", reason="she asked", **more)
    assert receipt.counts == dry.counts
    assert (receipt.by, receipt.reason, receipt.condition) == ("cleo", "she asked", condition)
    assert (receipt.at, receipt.scope.group_id) == (before, scope.group_id)
    assert len(receipt.id) == 32
    said = repr(receipt)
    assert not any(word in said for word in ("PostgreSQL", "Tea", "kitchen", "ann", "bob"))


async def _now(value):
    return value


def test_the_journal_keeps_the_receipt(tmp_path):
    journal = tmp_path / "m.journal.jsonl"
    memory = TieredMemory(embedded(), clock=Clock(), new_id=ids(), journal=journal)
    memory.record(ORDERS, ANN)
    receipt = memory.forget(MemoryScope(group_id="shop", user_id="ann"), by="cleo", reason="asked")
    (act,) = memory.audit("shop").acts
    assert (act.kind, act.by, act.receipt, act.total) == ("forgotten", "cleo", receipt.id, 2)
    assert (act.id, act.detail) == ("one user", "asked")
    assert "ann" not in journal.read_text().replace("cleo", "")
    memory.close()


@pytest.mark.parametrize("more", [{}, {"query": "orders"}, {"dry_run": True}])
@pytest.mark.parametrize(
    ("name", "kind"), [("ann", "user_id"), ("s2", "session_id"), ("helper", "agent_id")]
)
async def test_a_text_that_is_no_group_but_somebody_is_not_taken_for_done(full, name, kind, more):
    full.record(
        "Helpers help where they can, on each day.",
        MemoryScope(tenant=None, group_id="x", user_id=None, agent_id="helper"),
    )
    for forget in (full.aforget, lambda *a, **k: _now(full.forget(*a, **k))):
        with pytest.raises(EntryMissing, match=rf"no group '{name}'.*{kind}='{name}'"):
            await forget(name, **more)
    assert full.list("shop").total == 7


def test_a_group_that_is_forgotten_already_is_forgotten_again(full):
    assert full.forget("shop").total == 7
    assert full.forget("shop").total == 0
    assert full.forget("nobody").total == 0
    full.record(TEA, MemoryScope(group_id="ann", user_id="ann"))
    assert full.forget("ann").total == 2, "there is a group of this name"

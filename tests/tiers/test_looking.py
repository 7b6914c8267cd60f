"""What went on in a memory: sessions run by run, who did what, and the journal beside it."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from doors import everyday_and_slow
from limits import limited
from memoryware import MemoryScope, Origin, Provenance, TieredMemory, TierLimits
from memoryware.errors import EntryMissing, SettingError, StoreUnavailable
from memoryware.tiers import Journal, JournalEntry, Verdict
from tiers.kit import Clock, ids

SHOP = MemoryScope(tenant="acme", group_id="shop", agent_id="helper", session_id="monday")
OTHER = MemoryScope(tenant="zeta", group_id="shop", session_id="monday")
ORDERS = "The orders of the shop are in PostgreSQL 17, on the server called db2."
INVOICES = "Invoices go out on the last day of each month, and by letter only."
TEA = "Tea is served at four in the afternoon, in the large kitchen of the house."
START = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def memory(opened, clock, tmp_path):
    return opened(clock=clock, new_id=ids(), journal=tmp_path / "journal.jsonl")


def said(memory, text, clock, *, of=(), scope=SHOP):
    clock.forward(minutes=1)
    provenance = Provenance.derived(Origin("agent", "helper"), of)
    return memory.record(text, scope, provenance=provenance).entry


def test_a_session_tells_what_was_shown_and_what_came_of_it(memory, clock):
    known = memory.promote(said(memory, ORDERS, clock), by="ann").memories[0]
    friday = MemoryScope(tenant="acme", group_id="shop", agent_id="helper", session_id="friday")
    first = said(memory, INVOICES, clock, of=[known], scope=friday)
    second = said(memory, TEA, clock, of=[known, first], scope=friday)
    made = memory.promote(second, by="ann")
    story = memory.session("friday", friday)
    assert [turn.entry.id for turn in story.turns] == [first.id, second.id]
    assert [[(one.id, one.is_new) for one in turn.shown] for turn in story.turns] == [
        [(known.id, True)],
        [(known.id, False), (first.id, True)],
    ]
    assert story.turns[0].shown[0].record == known
    assert [one.id for one in story.turns[1].memories] == list(made.ids)
    assert not story.turns[0].from_journal


def test_the_journal_says_what_a_run_was_shown_from_which_nothing_came(memory, clock):
    known = memory.promote(said(memory, ORDERS, clock), by="ann").memories[0]
    clock.forward(minutes=1)
    memory.note_shown([known.id], SHOP, tokens=21)
    entry = said(memory, INVOICES, clock, of=[known])
    clock.forward(minutes=1)
    memory.note_shown([known.id, "gone"], SHOP, tokens=40)
    turns = memory.session("monday", SHOP).turns
    assert [
        (turn.entry and turn.entry.id, turn.from_journal, turn.tokens) for turn in turns[1:]
    ] == [
        (entry.id, True, 21),
        (None, True, 40),
    ]
    assert [one.record for one in turns[2].shown] == [known, None]


def test_the_session_heard_of_last_comes_first(memory, clock):
    said(memory, ORDERS, clock)
    later = MemoryScope(tenant="acme", group_id="shop", user_id="bob", session_id="tuesday")
    said(memory, INVOICES, clock, scope=later)
    memory.reject(said(memory, TEA, clock, scope=later), by="ann")
    found = memory.sessions(SHOP).items
    assert [(one.id, one.outputs, one.users) for one in found] == [
        ("tuesday", 2, ("bob",)),
        ("monday", 1, ()),
    ]
    assert found[0].statuses == {"pending": 1, "rejected": 1}


def test_sessions_are_read_in_pages(opened, clock):
    memory = opened(clock=clock, new_id=ids(), limits=limited(TierLimits, looked_back=2))
    for number in range(5):
        said(
            memory,
            f"{ORDERS} {number}",
            clock,
            scope=MemoryScope(
                tenant=None, group_id="shop", user_id=None, agent_id=None, session_id=f"s{number}"
            ),
        )
    first = memory.sessions("shop")
    second = memory.sessions("shop", after=first.next)
    third = memory.sessions("shop", after=second.next)
    assert [[one.id for one in page.items] for page in (first, second, third)] == [
        ["s4", "s3"],
        ["s2", "s1"],
        ["s0"],
    ]
    assert third.next is None


def test_another_tenant_sees_nothing_of_sessions_acts_and_receipts(memory, clock):
    entry = said(memory, ORDERS, clock)
    memory.promote(entry, by="ann")
    memory.note_shown([entry.id], SHOP)
    receipt = memory.revoke(entry, SHOP, by="bob")
    assert memory.find_receipt(receipt.id, SHOP) == receipt
    with pytest.raises(EntryMissing):
        memory.find_receipt(receipt.id, OTHER)
    assert memory.sessions(OTHER).items == ()
    assert memory.session("monday", OTHER).turns == ()
    assert memory.audit(OTHER).acts == ()


def test_the_audit_tells_who_did_what_newest_first(memory, clock):
    first = said(memory, ORDERS, clock)
    promoted = memory.promote(first, by="ann", subject="orders")
    clock.forward(minutes=1)
    memory.attach_verdict(promoted.memories[0], Verdict(verified=True, by="checker"), SHOP)
    clock.forward(minutes=1)
    memory.reject(said(memory, TEA, clock), by="bob", reason="not ours")
    clock.forward(minutes=1)
    memory.supersede(promoted.memories[0], "The orders are on db3 now.", SHOP, by="cleo")
    clock.forward(minutes=1)
    receipt = memory.revoke(first, SHOP, by="bob", reason="wrong")
    clock.forward(minutes=1)
    memory.restore(receipt, by="ann")
    clock.forward(minutes=1)
    memory.forget(SHOP, query="tea kitchen")
    found = memory.audit(SHOP)
    assert [(act.kind, act.by) for act in found.acts] == [
        ("forgotten", ""),
        ("restored", "ann"),
        ("revoked", "bob"),
        ("promoted", "cleo"),
        ("superseded", "cleo"),
        ("checked", "checker"),
        ("promoted", "ann"),
    ]
    assert found.people == ("ann", "bob", "checker", "cleo")
    assert found.notes == ()
    assert [act.kind for act in memory.audit(SHOP, by="bob").acts] == ["revoked"]
    assert [act.by for act in memory.audit(SHOP, kind="promoted").acts] == ["cleo", "ann"]


def test_a_rejection_says_why(memory, clock):
    entry = said(memory, TEA, clock)
    memory.reject(entry, by="bob", reason="not ours")
    (act,) = memory.audit(SHOP).acts
    assert (act.kind, act.by, act.id, act.detail, act.content) == (
        "rejected",
        "bob",
        entry.id,
        "not ours",
        TEA,
    )


def test_acts_are_read_in_pages(memory, clock):
    for number in range(5):
        memory.promote(said(memory, f"{ORDERS} {number}", clock), by="ann")
    assert [act.content[-1] for act in acts(memory, limit=2)] == ["4", "3", "2", "1", "0"]


def acts(memory, **asked):
    """Return all acts, page by page, each of which begins after the last one of the page before."""
    page, seen = memory.audit(SHOP, **asked), []
    while True:
        seen += page.acts
        assert page.next is None or not page.acts or page.acts[-1].mark
        if page.next is None:
            return seen
        page = memory.audit(SHOP, after=page.next, **asked)


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1, 2, 3, 50])
def test_acts_are_read_to_the_oldest_record(opened, clock, tmp_path, limit):
    few = limited(TierLimits, looked_back=2)
    memory = opened(clock=clock, new_id=ids(), journal=tmp_path / "j.jsonl", limits=few)
    for number in range(5):
        entry = said(memory, f"{ORDERS} {number}", clock)
        known = memory.promote(entry, by="ann").memories[0]
        memory.reject(said(memory, f"{INVOICES} {number}", clock), by="bob")
        clock.forward(minutes=1)
        memory.restore(memory.revoke(known, SHOP, by=f"cleo{number}"), by="dan")
    found = acts(memory, limit=limit)
    assert [len([one for one in found if one.kind == kind]) for kind in KINDS] == [5, 5, 5, 5]
    assert len({(one.at, one.kind, one.id, one.by) for one in found}) == 20
    only = acts(memory, limit=limit, by="cleo0")
    assert [(one.kind, one.by) for one in only] == [("revoked", "cleo0")]
    assert len(acts(memory, limit=limit, kind="rejected")) == 5


KINDS = ("promoted", "rejected", "revoked", "restored")


def test_acts_of_one_moment_are_not_lost_between_pages(memory, clock):
    for number in range(5):
        entry = memory.record(f"{ORDERS} {number}", SHOP).entry
        memory.promote(entry, by="ann")
    assert sorted(one.content[-1] for one in acts(memory, limit=2)) == ["0", "1", "2", "3", "4"]


@pytest.mark.parametrize("limit", everyday_and_slow(2, 1, 50))
@pytest.mark.parametrize(
    "minutes", [(1,) * 9, (0,) * 9, (0, 1) * 5, (-1,) * 9, (5, -7, 3, -2, 0, 9, -4, 0, 1)], ids=str
)
def test_the_clock_of_a_journal_may_stand_still_or_go_back(opened, tmp_path, minutes, limit):
    clock = Clock()
    few = limited(TierLimits, looked_back=3)
    memory = opened(clock=clock, new_id=ids(), journal=tmp_path / "j.jsonl", limits=few)
    entries = [said(memory, f"{ORDERS} {number}", clock) for number in range(8)]
    for entry, step in zip(entries, minutes, strict=False):
        memory.revoke(entry, SHOP, by="bob")
        clock.forward(minutes=step)
    found = acts(memory, limit=limit, kind="revoked")
    assert sorted(one.id for one in found) == sorted(one.id for one in entries)


def test_acts_that_are_alike_are_all_told(opened, tmp_path):
    clock = Clock()
    memory = opened(clock=clock, new_id=ids(), journal=tmp_path / "j.jsonl")
    entries = [said(memory, f"{ORDERS} {number}", clock) for number in range(6)]
    for entry in entries:
        memory.forget(SHOP, ids=[entry.id])
    for limit in (1, 2, 5, 50):
        assert len(acts(memory, limit=limit, kind="forgotten")) == 6


def test_what_is_forgotten_meanwhile_hides_no_act(opened, tmp_path):
    clock = Clock()
    few = limited(TierLimits, looked_back=3)
    memory = opened(clock=clock, new_id=ids(), journal=tmp_path / "j.jsonl", limits=few)
    entries = [said(memory, f"{ORDERS} {number}", clock) for number in range(7)]
    for entry in entries:
        clock.forward(minutes=1)
        memory.revoke(entry, SHOP, by="bob")
    page = memory.audit(SHOP, limit=3, kind="revoked")
    memory.forget(SHOP, ids=[entries[0].id], derived=False)
    seen, mark = [*page.acts], page.next
    while mark is not None:
        page = memory.audit(SHOP, limit=3, kind="revoked", after=mark)
        seen, mark = [*seen, *page.acts], page.next
    assert {one.id for one in entries[1:]} <= {one.id for one in seen}


def test_what_is_done_meanwhile_moves_no_page_of_acts(memory, clock):
    for number in range(4):
        memory.promote(said(memory, f"{ORDERS} {number}", clock), by="ann")
    first = memory.audit(SHOP, limit=2)
    memory.promote(said(memory, TEA, clock), by="ann")
    second = memory.audit(SHOP, limit=2, after=first.acts[-1].mark)
    assert [act.content[-1] for act in second.acts] == ["1", "0"]


def test_who_superseded_is_known_when_the_new_one_is_not_among_what_is_looked_at(opened, clock):
    memory = opened(clock=clock, new_id=ids(), limits=limited(TierLimits, looked_back=1))
    old = memory.promote(said(memory, ORDERS, clock), by="ann").memories[0]
    clock.forward(minutes=1)
    new = memory.supersede(old, "The orders are on db3 now, with all the invoices.", by="bob")
    memory.promote(said(memory, TEA, clock), by="cleo")
    (act,) = [one for one in acts(memory) if one.kind == "superseded"]
    assert (act.id, act.by) == (old.id, "bob")
    assert new is not None


def test_without_a_journal_the_audit_says_what_it_cannot_know(opened, clock):
    memory = opened(clock=clock, new_id=ids())
    entry = said(memory, ORDERS, clock)
    receipt = memory.revoke(entry, SHOP, by="bob")
    found = memory.audit(SHOP)
    assert found.acts == ()
    assert "journal" in found.notes[0]
    assert memory.find_receipt(receipt.id, SHOP).by == "", "the marks do not say who"


def test_a_receipt_of_the_journal_puts_everything_back(memory, clock):
    first = said(memory, ORDERS, clock)
    memory.promote(first, by="ann")
    given = memory.revoke(first, SHOP, by="bob", reason="wrong")
    memory.restore(memory.find_receipt(given.id, SHOP), by="ann")
    assert [one.content for one in memory.retrieve("orders", SHOP)] == [ORDERS]


async def test_the_async_twins_say_the_same(memory, clock):
    entry = said(memory, ORDERS, clock)
    await memory.apromote(entry, by="ann")
    await memory.anote_shown([entry.id], SHOP, tokens=3)
    given = await memory.arevoke(entry, SHOP, by="bob")
    assert (
        await memory.afind_receipt(given.id, SHOP) == memory.find_receipt(given.id, SHOP) == given
    )
    assert await memory.asessions(SHOP) == memory.sessions(SHOP)
    assert await memory.asession("monday", SHOP) == memory.session("monday", SHOP)
    assert await memory.aaudit(SHOP) == memory.audit(SHOP)
    await memory.aclose()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda memory: memory.audit(SHOP, kind="eaten"),
        lambda memory: memory.audit(SHOP, after=datetime(2026, 1, 1)),
        lambda memory: memory.audit(SHOP, after="[]"),
        lambda memory: memory.audit(SHOP, after="[1,2,3,4]"),
        lambda memory: memory.audit(SHOP, after='["x",null,null,null]'),
        lambda memory: memory.audit(SHOP, after='[null,null,null,"yesterday"]'),
        lambda memory: memory.audit(SHOP, after='[null,null,null,"1 2 2026-01-01T00:00:00"]'),
        lambda memory: memory.audit(SHOP, after='[null,null,null,"1 -2 2026-01-01T00:00Z"]'),
        lambda memory: memory.audit(SHOP, after='[null,null,null,null,"a","b","c","d",null]'),
        lambda memory: memory.audit(SHOP, after="[" * 100_000),
        lambda memory: memory.audit(SHOP, limit=-1),
        lambda memory: memory.audit(SHOP, by=3),
        lambda memory: memory.sessions(SHOP, after=1),
        lambda memory: memory.sessions(SHOP, after="-1"),
        lambda memory: memory.sessions(SHOP, after="the first"),
        lambda memory: memory.list(SHOP, after=1),
        lambda memory: memory.list(SHOP, after="x"),
        lambda memory: memory.list(SHOP, after="working=x"),
        lambda memory: memory.list(SHOP, tier="longterm", after="working=1"),
        lambda memory: memory.list(SHOP, after="rank=1"),
        lambda memory: memory.list(SHOP, query="tea", after="rank=-1"),
        lambda memory: memory.list(SHOP, query="tea", after="working=1"),
        lambda memory: memory.session(None, SHOP),
        lambda memory: memory.note_shown("abc", SHOP),
    ],
)
def test_what_cannot_be_asked_is_refused(memory, wrong):
    with pytest.raises(SettingError):
        wrong(memory)


# The file.


def line(number, **more):
    return JournalEntry(
        kind="shown", at=START + timedelta(minutes=number), scope=SHOP, ids=(f"m{number}",), **more
    )


def test_lines_come_back_newest_first_over_many_blocks(tmp_path):
    journal = Journal(tmp_path / "j.jsonl")
    for number in range(300):
        journal.add(line(number, reason="ü" * 300))
    found = journal.newest(SHOP, limit=1000)
    assert [one.ids[0] for one in found] == [f"m{number}" for number in reversed(range(300))]
    assert found[-1] == line(0, reason="ü" * 300)


def test_a_full_journal_begins_anew_and_both_are_read(tmp_path):
    journal = Journal(tmp_path / "j.jsonl", most_bytes=1000)
    for number in range(8):
        journal.add(line(number))
    assert journal.path.stat().st_size <= 1000
    found = [one.ids[0] for one in journal.newest(SHOP, limit=100)]
    assert found == [f"m{number}" for number in reversed(range(8))][: len(found)]
    assert len(found) > len(journal.path.read_text().splitlines())


def test_a_line_that_was_not_written_to_its_end_hides_no_other(tmp_path):
    journal = Journal(tmp_path / "j.jsonl")
    journal.add(line(1))
    with journal.path.open("a") as file:
        file.write('{"kind": "shown", "at": "2026')
    journal.add(line(2))
    assert [one.ids for one in journal.newest(SHOP, limit=9)] == [("m2",), ("m1",)]


def test_many_writers_lose_no_line(tmp_path):
    path = tmp_path / "j.jsonl"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: Journal(path).add(line(number)), range(80)))
    found = Journal(path).newest(SHOP, limit=100)
    assert sorted(one.ids for one in found) == sorted((f"m{number}",) for number in range(80))


def test_the_journal_keeps_no_text_and_no_user_of_what_was_shown(memory, clock):
    scope = MemoryScope(
        tenant="acme",
        group_id="shop",
        user_id="ann@example.com",
        agent_id="helper",
        session_id="monday",
    )
    entry = said(memory, ORDERS, clock, scope=scope)
    memory.note_shown([entry.id], scope)
    memory.revoke(entry, scope, by="bob")
    memory.forget(scope, query="orders server")
    text = memory.parts.journal.path.read_text()
    assert "PostgreSQL" not in text
    assert "orders" not in text
    lines = [json.loads(one) for one in text.splitlines()]
    assert [one["kind"] for one in lines] == ["revoked", "forgotten"]
    assert "user_id" not in lines[1]["scope"]
    assert entry.id not in text, "what is forgotten is named nowhere"
    memory.forget(MemoryScope(tenant="acme", group_id="shop", user_id="ann@example.com"))
    assert "ann@example.com" not in memory.parts.journal.path.read_text()


def test_what_is_forgotten_is_named_nowhere_in_the_journal_and_the_rest_stays(tmp_path):
    journal = Journal(tmp_path / "j.jsonl", most_bytes=700)
    friday = replace(SHOP, session_id="friday")
    for number in range(6):
        journal.add(line(number, reason=f"because of m{number}"))
    journal.add(replace(line(7), scope=friday))
    journal.add(replace(line(8), ids=("m1", "m5"), kind="revoked", what="m1", reason="m1 is wrong"))
    journal.add(replace(line(9), scope=replace(SHOP, tenant="other"), ids=("m1",)))
    before = journal.newest(SHOP, limit=99)
    journal.forget(friday, ["m1", "m4"])
    left = journal.newest(SHOP, limit=99)
    gone = {("m1",), ("m4",), ("m7",), ("m1", "m5")}
    assert [one for one in left if one.kind == "shown"] == [
        one for one in before if one.ids not in gone
    ]
    (revoked,) = [one for one in left if one.kind == "revoked"]
    assert (revoked.ids, revoked.what, revoked.reason) == (("m5",), "", "")
    assert [one.ids for one in journal.newest(replace(SHOP, tenant="other"), limit=9)] == [("m1",)]


def test_nothing_is_forgotten_if_the_journal_cannot_be_cleaned(opened, clock, tmp_path):
    memory = opened(clock=clock, new_id=ids(), journal=tmp_path / "j.jsonl")
    entry = said(memory, ORDERS, clock)
    memory.note_shown([entry.id], SHOP)
    (tmp_path / "j.jsonl.new").mkdir()
    with pytest.raises(StoreUnavailable, match="nothing was forgotten"):
        memory.forget(SHOP, ids=[entry.id])
    assert memory.get(entry.id, SHOP) == entry
    (tmp_path / "j.jsonl.new").rmdir()
    assert memory.forget(SHOP, ids=[entry.id]).quarantine == 1
    assert entry.id not in (tmp_path / "j.jsonl").read_text()


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_only_its_owner_may_read_the_journal(tmp_path):
    journal = Journal(tmp_path / "j.jsonl")
    journal.add(line(1))
    assert journal.path.stat().st_mode & 0o077 == 0


def test_a_revocation_holds_although_the_journal_cannot_be_written(opened, clock, tmp_path, caplog):
    memory = opened(clock=clock, new_id=ids(), journal=tmp_path)
    entry = said(memory, ORDERS, clock)
    receipt = memory.revoke(entry, SHOP, by="bob")
    assert memory.get(entry.id, SHOP).revocation == receipt.id
    assert "revoked was not noted" in caplog.text


def test_a_journal_that_is_a_folder_is_a_typed_error(tmp_path):
    with pytest.raises(StoreUnavailable, match="cannot be written"):
        Journal(tmp_path).add(line(1))


def test_a_page_of_a_listing_is_iterated_like_its_items():
    with TieredMemory.open("memory://") as memory:
        memory.record("The orders of the shop are in PostgreSQL 17.", "shop")
        page = memory.list("shop")
        assert list(page) == list(page.items) != []

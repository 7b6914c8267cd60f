"""Records become entries in quarantine: once, untrusted, without secrets, with exact counts."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from langgraph.store.memory import InMemoryStore

from importers.sources import FILES
from memoryware import MemoryScope, Origin, TieredMemory, TierLimits, Trust
from memoryware.errors import ScopeMissing, SettingError, StoreUnavailable
from memoryware.importers import (
    ImportSummary,
    RefusedRecord,
    SourceRecord,
    aimport_memories,
    import_memories,
    read_memories,
)
from memoryware.stores import langgraph_stores
from memoryware.tiers.stores.embedded import embedded

SHOP = MemoryScope(group_id="shop")
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def memory():
    with TieredMemory.open("memory://") as opened:
        yield opened


@pytest.fixture(params=["blocking", "native"])
def take(request, memory):
    """Import through one of the two clients."""

    async def taken(source, scope=SHOP, **options) -> ImportSummary:
        if request.param == "native":
            return await aimport_memories(memory, source, scope, **options)
        return import_memories(memory, source, scope, **options)

    return taken


def counts(summary):
    return summary.read, summary.recorded, summary.existing, summary.refused


def entries(memory, scope=SHOP):
    return {entry.record.content: entry.record for entry in memory.list(scope, limit=1000).items}


def record(number, **fields):
    return SourceRecord(**{"id": str(number), "text": f"The room {number} is in Rome.", **fields})


@pytest.mark.parametrize(
    "name", ["mem0.json", "mem0-qdrant", "langgraph-store.db", "letta.af", "agents-md"]
)
async def test_everything_is_imported_once(take, memory, name):
    first = await take(FILES / name)
    assert first.read == first.recorded + first.refused
    assert memory.list(SHOP).total == first.recorded > 0
    again = await take(FILES / name)
    assert counts(again) == (first.read, 0, first.recorded, first.refused)
    assert memory.list(SHOP).total == first.recorded


async def test_an_entry_keeps_id_time_user_and_metadata_and_is_not_trusted(take, memory):
    summary = await take(str(FILES / "mem0.json"), MemoryScope(group_id="shop", user_id="zoe"))
    entry = entries(memory)["I prefer metric units in every answer."]
    assert entry.provenance.origin == Origin("import", "mem0") == summary.origin
    assert entry.provenance.trust is Trust.UNTRUSTED
    assert entry.scope.user_id == "ann"
    assert entry.said_at == datetime(2026, 11, 30, 6, 28, 46, 767297, UTC)
    assert entry.metadata["imported_id"] == "a2dad728-e42d-4530-86a1-69c2a247464a"
    assert entry.metadata["mem0"]["category"] == "preference"
    assert "confidence" not in entry.metadata  # it would mean something here
    assert memory.retrieve("metric units", SHOP) == []
    assert memory.revoke(summary.origin, SHOP, by="ann").counts.quarantine == 3


async def test_the_user_of_the_scope_counts_for_records_without_one(take, memory):
    await take(FILES / "mcp-memory.jsonl", MemoryScope(group_id="shop", user_id="ann"))
    assert {entry.scope.user_id for entry in entries(memory).values()} == {"ann"}


async def test_what_names_a_user_is_proposed_for_that_user_alone(take, memory):
    notes = [
        record(1, user="ann", text="I prefer metric units."),
        record(2, user="bo", text="The badge of the gate is blue."),
        record(3, text="The office closes at six."),
    ]
    await take(notes, system="notes")
    insights = {one.summary: one for one in memory.digest(SHOP).insights}
    assert [insights[note.text].personal for note in notes] == [True, True, False]
    memory.promote(insights[notes[0].text], by="carl")
    memory.promote(insights[notes[1].text], by="carl", shared=True)
    memory.promote_many([entries(memory)[notes[2].text]], by="carl")

    def shown(query, user):
        items = memory.retrieve(query, MemoryScope(group_id="shop", user_id=user))
        return [item.content for item in items]

    assert shown("Which units?", "ann") == [notes[0].text]
    assert shown("Which units?", "bo") == []
    assert notes[1].text in shown("Which colour has the badge?", "ann")
    assert notes[2].text in shown("When does the office close?", "bo")


@pytest.mark.parametrize("scope", [MemoryScope.personal("ann"), MemoryScope(group_id="shop")])
async def test_a_memory_without_other_users_takes_it_for_all_who_read_it(take, memory, scope):
    await take([record(1, user="ann" if scope.is_personal else None)], scope, system="notes")
    (entry,) = entries(memory, scope).values()
    assert entry.waits is None


async def test_a_dry_run_counts_the_same_and_writes_nothing(take, memory):
    dry = await take(FILES / "mem0-qdrant", dry_run=True, preview=2)
    assert memory.list(SHOP).total == 0
    assert counts(dry) == (4, 4, 0, 0)
    assert [shown.user for shown in dry.preview] == ["ann", "ann"]
    assert str(dry) == "4 read from mem0: 4 would be recorded, 0 already there, 0 refused"
    await take(FILES / "mem0.json")
    assert counts(await take(FILES / "mem0-qdrant", dry_run=True)) == (4, 1, 3, 0)


async def test_a_changed_text_is_a_new_entry_and_the_same_text_twice_is_one(take):
    assert counts(await take([record(1), record(1)], system="notes")) == (2, 1, 1, 0)
    assert counts(await take([record(1), record(1)], system="notes", dry_run=True)) == (2, 0, 2, 0)
    changed = record(1, text="The room is in Milan.")
    assert counts(await take([changed], system="notes")) == (1, 1, 0, 0)


async def test_long_texts_are_imported_as_well(take, memory):
    long = [record(number, text=f"The room {number} is in Rome. " * 3_000) for number in range(3)]
    assert counts(await take(long, system="notes")) == (3, 3, 0, 0)
    assert counts(await take(long, system="notes")) == (3, 0, 3, 0)


async def test_records_are_refused_one_by_one_with_a_reason(take, memory):
    bad = [
        record(1),
        RefusedRecord(id="2", reason="was deleted", location="line 2"),
        record(3, text="x" * 1_000_001),
        record(4, user="u" * 1001),
        record(5, user=SECRET),
        record(6, text=5),
        record(7, said_at="yesterday"),
        record(8),
    ]
    summary = await take(bad, system="notes", batch=3)
    assert counts(summary) == (8, 2, 0, 6)
    assert [refusal.id for refusal in summary.refusals] == ["2", "3", "4", "5", "6", "7"]
    assert sum(summary.reasons.values()) == 6
    assert str(summary.refusals[0]) == "line 2: was deleted"
    assert "entry_chars" in summary.refusals[1].reason
    assert "secret" in summary.refusals[3].reason
    assert SECRET not in repr(summary)
    assert {*entries(memory)} == {record(1).text, record(8).text}


async def test_secrets_are_removed_from_texts_metadata_and_the_preview(take, memory):
    leak = record(1, text=f"The token is {SECRET}.", metadata={"note": SECRET, "deep": [SECRET]})
    summary = await take([leak], system="notes")
    (entry,) = entries(memory).values()
    assert SECRET not in repr(entry)
    assert SECRET not in repr(summary)
    assert counts(await take([leak], system="notes")) == (1, 0, 1, 0)


async def test_what_the_filters_would_refuse_is_counted(take, memory):
    summary = await take([record(1), record(2, text="Thanks!")], system="notes")
    assert (summary.recorded, summary.filtered) == (2, 1)
    assert entries(memory)["Thanks!"].refused == "no_content"


async def test_an_interrupted_import_goes_on(memory, tmp_path):
    class Stopped(Exception):
        pass

    def stop(summary):
        if summary.read >= 4:
            raise Stopped

    lines = [
        json.dumps({"type": "entity", "name": f"n{n}", "observations": ["is red"]})
        for n in range(10)
    ]
    (tmp_path / "graph.jsonl").write_text("\n".join(lines))
    with pytest.raises(Stopped):
        import_memories(memory, tmp_path / "graph.jsonl", SHOP, batch=2, on_progress=stop)
    assert memory.list(SHOP).total == 4
    summary = await aimport_memories(memory, tmp_path / "graph.jsonl", SHOP, batch=2)
    assert counts(summary) == (10, 6, 4, 0)


async def test_progress_is_reported_after_each_batch(take):
    seen = []
    await take([record(n) for n in range(5)], system="notes", batch=2, on_progress=seen.append)
    assert [summary.recorded for summary in seen] == [2, 4, 5]


async def test_an_open_langgraph_store_is_a_source(take, memory):
    store = InMemoryStore()
    for number in range(210):
        store.put(("memories", "ann"), f"k{number}", {"content": f"Room {number} is red."})
    assert counts(await take(store)) == (210, 210, 0, 0)
    assert counts(await take(store)) == (210, 0, 210, 0)


async def test_a_namespace_selects_what_is_in_it_and_below(take, memory):
    store = InMemoryStore()
    store.put(("memories", "ann"), "1", {"content": "Ann likes tea."})
    store.put(("memories", "ann", "old"), "2", {"content": "Ann liked rye."})
    store.put(("memories", "annabel"), "3", {"content": "Annabel likes tea."})
    store.put(("app",), "4", {"theme": "dark"})
    assert (await take(store, namespace=("memories", "ann"))).recorded == 2
    assert counts(await take(store)) == (4, 2, 2, 0)
    file = FILES / "langgraph-store.db"
    assert (await take(file, namespace=["profiles"], dry_run=True)).read == 1
    with pytest.raises(SettingError, match="mem0 has none"):
        await take(FILES / "mem0.json", namespace=["a"])
    with pytest.raises(SettingError, match="namespace"):
        await take(file, namespace="memories")


async def test_a_memory_in_a_langgraph_store_takes_what_else_the_store_has():
    store = InMemoryStore()
    for number in range(30):
        store.put(("memories", "ann"), str(number), {"content": f"Room {number} is red."})
    with TieredMemory(langgraph_stores(store)) as memory:
        assert counts(import_memories(memory, store, SHOP, batch=7)) == (30, 30, 0, 0)
        assert counts(import_memories(memory, store, SHOP)) == (30, 0, 30, 0)
        items = [item.dict() for item in store.search((), limit=1000)]
    ours = [item for item in items if item["namespace"][0] == "memoryware"]
    assert len(ours) >= 30


async def test_a_store_that_fails_is_a_typed_error(take):
    class Broken:
        def list_namespaces(self, **_):
            return [("memories",)]

        def search(self, *_, **__):
            raise RuntimeError("gone")

    with pytest.raises(StoreUnavailable, match="cannot be read: RuntimeError"):
        await take(Broken())


async def test_records_can_be_changed_on_the_way(take, memory):
    await take(
        (record for record in read_memories(FILES / "mem0.json") if record.user == "ann"),
        system="mem0",
    )
    assert counts(await take(FILES / "mem0.json")) == (3, 0, 3, 0)


async def test_groups_are_apart_and_a_name_is_another_origin(take, memory):
    await take(FILES / "mem0.json")
    assert (await take(FILES / "mem0.json", "two")).recorded == 3
    named = await take(FILES / "mem0.json", name="old project")
    assert (named.recorded, str(named.origin)) == (3, "import:old project")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"scope": MemoryScope()}, ScopeMissing),
        ({"system": "zep"}, SettingError),
        ({"name": " "}, SettingError),
        ({"name": SECRET}, SettingError),
        ({"batch": 0}, SettingError),
        ({"batch": 10_000}, SettingError),
        ({"preview": -1}, SettingError),
        ({"source": 5}, SettingError),
        ({"source": [record(1)]}, SettingError),  # of which system?
        ({"source": b"mem0.json"}, SettingError),
    ],
)
async def test_wrong_arguments_are_refused(take, memory, options, error):
    with pytest.raises(error):
        await take(**{"source": FILES / "mem0.json", **options})
    assert memory.list(SHOP).total == 0


async def test_our_own_bundle_takes_imported_entries_elsewhere(take, memory):
    """Import, export as a bundle, import elsewhere: the entries are the same but for the origin."""
    await take(FILES / "mem0-qdrant")
    with TieredMemory.open("memory://") as elsewhere:
        report = elsewhere.import_bundle(memory.export(SHOP), "shop", name="move")
        assert report.added == 4
        there, here = entries(elsewhere), entries(memory)
    assert there.keys() == here.keys()
    for text, entry in here.items():
        twin = there[text]
        assert (twin.scope, twin.said_at, twin.refused) == (
            entry.scope,
            entry.said_at,
            entry.refused,
        )
        assert twin.metadata["mem0"] == entry.metadata["mem0"]
        assert twin.personal_owner == entry.personal_owner
        assert Origin("import", "mem0") in twin.provenance.roots
    assert "personal:ann" in {entry.personal_owner for entry in here.values()}


async def test_limits_of_the_memory_hold():
    limits = TierLimits(entry_chars=60)
    with TieredMemory(embedded(), limits=limits) as small:
        summary = import_memories(small, FILES / "mem0.json", SHOP)
        assert counts(summary) == (3, 3, 0, 0)
        long = record(1, text="x" * 61)
        assert counts(import_memories(small, [long], SHOP, system="notes")) == (1, 0, 0, 1)


def test_a_relative_path_is_read(memory, monkeypatch):
    monkeypatch.chdir(FILES)
    assert import_memories(memory, "mem0.json", SHOP).recorded == 3
    assert import_memories(memory, Path("mem0-qdrant"), SHOP).recorded == 1

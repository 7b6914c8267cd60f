"""What a process remembers of a group is never older than the group."""

from __future__ import annotations

import gc
from datetime import timedelta

import pytest

from memoryware import MemoryScope, TieredMemory
from memoryware.tiers.model import Entry, Memory
from tiers.kit import Clock, HashEmbeddings

GROUP = MemoryScope(tenant="acme", group_id="support")
QUESTION = "which port has the database"
TEXT = "The database of the shop listens on port 5432."


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(params=["sqlite", "memory"])
def opened(request, tmp_path, clock):
    """Return a function that opens the same memory once more."""
    url = f"sqlite:///{tmp_path / 'memory.db'}" if request.param == "sqlite" else "memory://"
    made: list[TieredMemory] = []

    def opened(**options) -> TieredMemory:
        options = {"embeddings": HashEmbeddings(), "clock": clock, **options}
        if made and request.param == "memory":
            made.append(TieredMemory(made[0].parts.stores, **options))
        else:
            made.append(TieredMemory.open(url, **options))
        return made[-1]

    yield opened
    for memory in made:
        memory.close()


def shown(memory: TieredMemory) -> list[tuple[str, str, bool]]:
    return [(one.content, one.source, one.verified) for one in memory.retrieve(QUESTION, GROUP)]


def kept(text: str) -> list[Entry | Memory]:
    gc.collect()
    found = (one for one in gc.get_objects() if isinstance(one, Entry | Memory))
    return [one for one in found if one.content == text]


def test_what_another_client_does_is_seen_by_the_next_question(opened):
    writer, reader = opened(), opened()

    def seen() -> list[tuple[str, str, bool]]:
        found = shown(reader)
        assert found == shown(reader) == shown(opened()), "a client that remembers nothing"
        return found

    assert seen() == []
    entry = writer.record(TEXT, GROUP).entry
    assert seen() == [(TEXT, "working", False)]
    promoted = writer.promote(entry.id, GROUP, by="ann", subject="port")
    assert seen() == [(TEXT, "long_term", True)]
    receipt = writer.revoke(promoted, GROUP, by="ann")
    assert (TEXT, "long_term", True) not in seen()
    writer.restore(receipt, by="ann")
    assert seen() == [(TEXT, "long_term", True)]
    writer.promote("The port is 5433.", GROUP, by="ann", subject="port")
    assert TEXT not in [text for text, *_ in seen()]
    writer.revoke(entry.id, GROUP, by="ann")
    seen()
    writer.forget(GROUP, by="ann")
    assert seen() == []


async def test_the_async_client_sees_it_as_well(opened):
    writer, reader = opened(), opened()
    await writer.arecord(TEXT, GROUP)
    for _ in range(2):
        assert [one.content for one in await reader.aretrieve(QUESTION, GROUP)] == [TEXT]
    await writer.aforget(GROUP, by="ann")
    assert await reader.aretrieve(QUESTION, GROUP) == []


def test_an_entry_expires_without_a_write_and_is_there_for_a_clock_that_is_behind(opened, clock):
    memory = opened()
    memory.record(TEXT, GROUP)
    (expires,) = [one.record.expires_at for one in memory.list(GROUP, tier="working").items]
    assert shown(memory) == [(TEXT, "working", False)]
    before, clock.now = clock.now, expires
    assert shown(memory) == []
    clock.now = expires - timedelta(seconds=1)
    assert shown(memory) == [(TEXT, "working", False)]
    clock.now = before
    assert shown(memory) == [(TEXT, "working", False)]


def test_of_a_list_that_is_cut_the_next_entry_moves_up(opened, clock):
    memory = opened()
    limits = memory.limits
    reader = opened(limits=type(limits)(working_entries=1))
    memory.record("The old database listens on port 3306.", GROUP)
    clock.now += timedelta(seconds=1)
    newest = memory.record(TEXT, GROUP).entry
    assert shown(reader) == [(TEXT, "working", False)]
    memory.revoke(newest.id, GROUP, by="ann")
    assert shown(reader) == [("The old database listens on port 3306.", "working", False)]


def test_what_a_caller_does_to_an_item_is_not_remembered(opened):
    memory = opened()
    memory.record(TEXT, GROUP, {"tags": ["port"]})
    for _ in range(2):
        (item,) = memory.retrieve(QUESTION, GROUP)
        assert item.metadata["tags"] == ["port"]
        item.metadata["tags"].append("mine")
    memory.promote(TEXT, GROUP, by="ann", metadata={"tags": ["port"]})
    for _ in range(2):
        (item,) = memory.retrieve(QUESTION, GROUP)
        assert item.metadata["tags"] == ["port"]
        item.metadata["tags"].append("mine")


def test_agents_of_one_group_do_not_share_what_was_promoted(opened):
    memory = opened()
    entry = memory.record(TEXT, GROUP).entry
    mine = MemoryScope(tenant="acme", group_id="support", agent_id="helper")
    memory.promote(entry.id, mine, by="ann", agent_id="helper")
    for _ in range(2):
        assert [one.verified for one in memory.retrieve(QUESTION, mine)] == [True]
        assert [one.verified for one in memory.retrieve(QUESTION, GROUP)] == [False]


@pytest.mark.slow
def test_nothing_of_a_forgotten_text_stays_in_the_process(opened):
    memory = opened()
    memory.record(TEXT, GROUP)
    memory.promote(TEXT, GROUP, by="ann")
    assert len(shown(memory)) == 1
    memory.forget(GROUP, by="ann")
    assert kept(TEXT) == []

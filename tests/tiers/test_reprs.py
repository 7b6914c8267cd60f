"""Results in a log or a debugger: counts and the beginnings of texts, never a wall of text."""

from __future__ import annotations

import pytest

from memoryware import MemoryScope, TieredMemory

SCOPE = MemoryScope(group_id="acme", user_id="ann")
WALL = "The database of the shop is PostgreSQL, version 17. " * 400


@pytest.fixture
def memory():
    with TieredMemory.open("memory://") as memory:
        yield memory


def test_a_recorded_output_shows_its_id_and_the_beginning_of_its_text(memory):
    recorded = memory.record("The\nbuild takes\t9 minutes.", SCOPE)
    assert repr(recorded) == (
        f"Recorded(entry='{recorded.entry.id}', content='The build takes 9 minutes.',"
        " working=True, refused=None)"
    )
    refused = memory.record("Hm.", SCOPE)
    assert "working=False, refused='no_content'" in repr(refused)


def test_a_digest_shows_counts_and_three_statements(memory):
    empty = memory.digest(SCOPE)
    assert repr(empty) == "Digest(insights=[], total=0, entries=0, waiting=0, older=0, next=None)"
    for city in ("Bonn", "Ghent", "Lyon", "Porto", "Turin"):
        memory.record(f"The office in {city} opens at eight in the morning.", SCOPE)
    digest = memory.digest(SCOPE)
    shown = repr(digest)
    assert shown.count("opens at eight") == 3
    assert "... 2 more], total=5, entries=5, waiting=5, older=0" in shown


def test_a_promotion_shows_what_has_happened_and_leaves_out_the_rest(memory):
    promoted = memory.promote("The build takes 9 minutes.", SCOPE, by="ann")
    assert repr(promoted) == (
        f"Promotion(document_id='{promoted.document_id}', content='The build takes 9 minutes.',"
        " memories=1)"
    )
    again = memory.promote("The build takes 9 minutes.", SCOPE, by="ann")
    assert "existing=True" in repr(again)


def test_no_repr_is_a_wall_of_text(memory):
    recorded = memory.record(WALL, SCOPE)
    promoted = memory.promote(WALL, SCOPE, by="ann")
    digest = memory.digest(SCOPE)
    assert len(promoted.memories) > 5
    for result in (recorded, digest, promoted):
        assert len(repr(result)) < 400, result

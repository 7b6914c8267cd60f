"""What an undo would bring back, before it is done."""

from __future__ import annotations

import pytest

from memoryware import FilesystemBackend, HistoryBackend
from memoryware.errors import PathRefused, VersionMissing


@pytest.fixture(params=["blocking", "native"])
def target_of(request, tmp_path):
    """Return what asks a history in a folder, through either door."""
    history = HistoryBackend(FilesystemBackend(tmp_path))

    async def asked(path):
        if request.param == "native":
            return await history.aundo_target(path)
        return history.undo_target(path)

    return history, asked


async def test_it_is_what_the_undo_then_brings_back(target_of):
    history, asked = target_of
    for text in ("one", "two", "three"):
        history.write("/a.md", text)
    for expected in ("two", "one"):
        target = await asked("/a.md")
        assert history.show("/a.md", target) == expected
        assert history.undo("/a.md").restored == target.number
        assert history.read("/a.md").file_data["content"] == expected
    assert await asked("/a.md") is None
    history.undo("/a.md")
    assert history.read("/a.md").error


async def test_what_something_else_wrote_is_what_would_be_taken_back(target_of, tmp_path):
    history, asked = target_of
    history.write("/a.md", "one")
    (tmp_path / "a.md").write_text("by hand", encoding="utf-8")
    assert (await asked("/a.md")).number == 1


async def test_asking_changes_nothing(target_of):
    history, asked = target_of
    history.write("/a.md", "one")
    await asked("/a.md")
    assert [one.kind for one in history.log("/a.md")] == ["write"]


async def test_where_nothing_earlier_is_known_it_says_so(target_of):
    _, asked = target_of
    with pytest.raises(VersionMissing):
        await asked("/none.md")
    with pytest.raises(PathRefused):
        await asked("/../a.md")

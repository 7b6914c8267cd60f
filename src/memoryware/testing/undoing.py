"""That what was changed can be taken back, one step at a time or to any version."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memoryware.errors import SettingError, VersionMissing
from memoryware.testing._either import Either
from memoryware.testing._remembering import HistorySuite, Remembering

LONG_AGO = datetime(1999, 1, 1, tzinfo=UTC)


class UndoingConformance(HistorySuite):
    """What `undo` and `restore` do."""

    async def test_undo_takes_back_one_change_after_the_other(self, backend: Remembering) -> None:
        for text in ("one", "two", "three", "four"):
            await backend.put(a=text)
        seen = []
        for _ in range(3):
            made = await backend.undo("/a.md")
            seen.append((made.kind, made.number, made.restored, await backend.text_of("/a.md")))

        assert seen == [
            ("undo", 5, 3, "three"),
            ("undo", 6, 2, "two"),
            ("undo", 7, 1, "one"),
        ]
        assert [one.number for one in await backend.log("/a.md")] == [*range(7, 0, -1)]
        assert (await backend.log("/a.md"))[0].current

    async def test_a_change_after_an_undo_is_the_next_to_be_undone(
        self, backend: Remembering
    ) -> None:
        for text in ("one", "two", "three"):
            await backend.put(a=text)
        await backend.undo("/a.md")
        await backend.put(a="other")

        texts = []
        for _ in range(2):
            await backend.undo("/a.md")
            texts.append(await backend.text_of("/a.md"))
        assert texts == ["two", "one"]

    async def test_an_undo_is_taken_back_by_saying_to_which_version(
        self, backend: Remembering
    ) -> None:
        for text in ("one", "two", "three"):
            await backend.put(a=text)
        newest = (await backend.log("/a.md"))[0]
        await backend.undo("/a.md", to=1)
        assert await backend.text_of("/a.md") == "one"
        made = await backend.undo("/a.md", to=newest)

        assert await backend.text_of("/a.md") == "three"
        assert (made.restored, made.number) == (3, 5)
        await backend.undo("/a.md")
        assert await backend.text_of("/a.md") == "two", "it goes on from where it went back to"

    async def test_undo_to_what_is_there_changes_nothing(self, backend: Remembering) -> None:
        await backend.put(a="one")
        await backend.put(a="two")
        before = await backend.log("/a.md")

        assert (await backend.undo("/a.md", to=2)).number == 2
        assert await backend.log("/a.md") == before

    async def test_a_deleted_file_comes_back(self, backend: Remembering) -> None:
        if not self.deletes:
            return
        await backend.put(a="kept\n")
        await backend.delete("/a.md")
        assert (await backend.log("/a.md"))[0].after is None
        with pytest.raises(VersionMissing):
            await backend.show("/a.md", 2)
        await backend.undo("/a.md")

        assert await backend.text_of("/a.md") == "kept\n"
        await backend.undo("/a.md", to=2)
        assert await backend.bytes_of("/a.md") is None

    async def test_undoing_the_first_change_takes_the_file_away(self, backend: Remembering) -> None:
        if not self.deletes:
            return
        await backend.put(a="new")
        made = await backend.undo("/a.md")

        assert (made.kind, made.after, made.restored) == ("undo", None, 0)
        assert await backend.bytes_of("/a.md") is None
        with pytest.raises(VersionMissing):
            await backend.undo("/a.md")
        await backend.undo("/a.md", to=1)
        assert await backend.text_of("/a.md") == "new"

    async def test_there_is_nothing_to_undo_before_what_was_found(
        self, backend: Remembering, outside: Either
    ) -> None:
        await outside.write("/a.md", "found")
        for path in ("/a.md", "/never.md"):
            with pytest.raises(VersionMissing):
                await backend.undo(path)
        await backend.put(a="changed")
        await backend.undo("/a.md")
        with pytest.raises(VersionMissing, match="begins"):
            await backend.undo("/a.md")

        assert await backend.text_of("/a.md") == "found"
        with pytest.raises(ValueError):
            await backend.undo("/../a.md")

    async def test_undo_takes_back_what_something_else_wrote_but_keeps_it(
        self, backend: Remembering, outside: Either
    ) -> None:
        await backend.put(a="ours")
        await outside.write("/a.md", "theirs")
        await backend.undo("/a.md")

        assert await backend.text_of("/a.md") == "ours"
        assert await backend.kinds("/a.md") == ["upload", "outside", "undo"]
        await backend.undo("/a.md", to=2)
        assert await backend.text_of("/a.md") == "theirs"

    async def test_a_file_is_made_what_it_was_at_a_time(
        self, backend: Remembering, outside: Either
    ) -> None:
        await outside.write("/a.md", "found")
        for text in ("one", "two", "three"):
            await backend.put(a=text)
        times = [one.time for one in reversed(await backend.log("/a.md"))]
        wanted = [(times[2], "two"), (times[1], "one"), (times[3], "three")]
        for time, text in (*wanted, (datetime.now(UTC) + timedelta(days=1), "three")):
            await backend.restore("/a.md", time)
            assert await backend.text_of("/a.md") == text

        with pytest.raises(VersionMissing):
            await backend.restore("/a.md", LONG_AGO)
        with pytest.raises(SettingError):
            await backend.restore("/a.md", datetime(2020, 1, 1))  # noqa: DTZ001 - that is the mistake
        assert await backend.text_of("/a.md") == "three"

    async def test_before_it_was_made_a_file_was_not_there(self, backend: Remembering) -> None:
        if not self.deletes:
            return
        await backend.put(a="new")
        made = await backend.restore("/a.md", LONG_AGO)

        assert (made.kind, made.restored, made.after) == ("restore", 0, None)
        assert await backend.bytes_of("/a.md") is None

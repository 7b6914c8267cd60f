"""Writes happen whole or not at all, and keep what they are given."""

from __future__ import annotations

from contextlib import suppress

import pytest

from memoryware.testing._either import Either, paths_of
from memoryware.testing._suite import Suite

TEXTS = (
    "",
    " ",
    "\n",
    "one",
    "one\n",
    "one\r\ntwo\r\n",
    "one\rtwo\r",
    "one\r\ntwo\nthree\rfour",
    "\ufeffmarked",
    "{braces} %s \\n $HOME `tick` <tag/>",
    "nul \0 and \x1b escape",
    "☕ 👩‍👩‍👧 \u202e\u200b",
)


class WritingConformance(Suite):
    """What `write` and `delete` do."""

    async def test_what_was_written_is_stored_exactly(self, backend: Either) -> None:
        for n, text in enumerate(TEXTS):
            assert (await backend.write(f"/new-{n}.md", text)).error is None
            await backend.write(f"/old-{n}.md", "what was here before, and longer\n" * 9)
            assert (await backend.write(f"/old-{n}.md", text)).error is None

        stored = [await backend.text_of(f"/new-{n}.md") for n in range(len(TEXTS))]
        replaced = [await backend.text_of(f"/old-{n}.md") for n in range(len(TEXTS))]
        assert stored == [*TEXTS]
        assert replaced == [*TEXTS]

    async def test_the_same_text_may_be_written_again(self, backend: Either) -> None:
        for _ in range(3):
            assert (await backend.write("/a.md", "the same\n")).error is None
            (answer,) = await backend.upload_files([("/b.md", b"the same\n")])
            assert answer.error is None
        assert await backend.text_of("/a.md") == await backend.text_of("/b.md") == "the same\n"
        assert (await backend.edit("/a.md", "same", "same")).occurrences == 1
        assert await backend.text_of("/a.md") == "the same\n"

    async def test_a_write_creates_the_folders_above(self, backend: Either) -> None:
        await backend.write("/a/b/c/d.md", "deep")

        assert await backend.text_of("/a/b/c/d.md") == "deep"
        assert paths_of(await backend.ls("/a/b")) == ["/a/b/c/"]

    async def test_a_write_replaces_one_file_only(self, backend: Either) -> None:
        await backend.fill({"/a/x.md": "1", "/a/y.md": "2", "/a/x.md.bak": "3", "/b/x.md": "4"})
        await backend.write("/a/x.md", "new")

        loaded = await backend.download_files(["/a/x.md", "/a/y.md", "/a/x.md.bak", "/b/x.md"])
        assert [one.content for one in loaded] == [b"new", b"2", b"3", b"4"]
        assert len(await backend.files()) == 4

    @pytest.mark.parametrize("half", ["\ud800", "tea \udc00 time", "\ude00\ud83d"])
    async def test_half_a_character_is_refused_and_the_old_text_stays(
        self, backend: Either, half: str
    ) -> None:
        await backend.put(a="old text")

        assert (await backend.write("/a.md", half)).error
        assert (await backend.edit("/a.md", "old", half)).error
        assert (await backend.write("/new/b.md", half)).error
        assert await backend.text_of("/a.md") == "old text"
        assert await backend.files() == ["/a.md"]

    async def test_the_root_is_not_a_file(self, backend: Either) -> None:
        await backend.put(a="text")

        for root in ("/", "//", "."):
            assert (await backend.write(root, "owned")).error
            assert (await backend.edit(root, "", "owned")).error
            assert (await backend.edit(root, "text", "owned")).error
            (stored,) = await backend.upload_files([(root, b"owned")])
            (loaded,) = await backend.download_files([root])
            assert stored.error == loaded.error == "is_directory"
        assert paths_of(await backend.ls("/")) == ["/a.md"]

    async def test_a_big_file_is_written_edited_and_read(self, backend: Either) -> None:
        line = "A line of memory that is sixty-four characters long, with its end\n"
        text = line * (self.big_file // len(line)) + "the last line ☕"
        assert (await backend.write("/big.md", text)).error is None
        assert await backend.text_of("/big.md") == text
        assert (await backend.edit("/big.md", "the last line", "the very last line")).error is None

        total = text.count("\n") + 1
        tail = await backend.read("/big.md", total - 1)
        assert tail.total_lines == total
        assert tail.file_data is not None
        assert tail.file_data["content"] == "the very last line ☕"
        found = await backend.grep("very last")
        assert [match["line"] for match in found.matches or []] == [total]

    async def test_one_long_line_is_stored(self, backend: Either) -> None:
        text = "word " * (self.big_file // 10)
        await backend.write("/long.md", text)

        assert await backend.text_of("/long.md") == text
        assert (await backend.read("/long.md")).total_lines == 1

    async def test_a_created_file_remembers_when(self, backend: Either) -> None:
        await backend.put(a="one")
        created = await self._created(backend)
        assert bool(created) is self.tells_created_at

        await backend.write("/a.md", "two")
        await backend.edit("/a.md", "two", "three")
        await backend.upload_files([("/a.md", b"four")])
        assert await self._created(backend) == created

    async def _created(self, backend: Either) -> str:
        data = (await backend.read("/a.md")).file_data
        assert data is not None
        return data.get("created_at", "")

    async def test_a_deleted_file_is_gone_everywhere(self, backend: Either) -> None:
        await backend.fill({"/f/a.md": "needle", "/f/b.md": "stays", "/f/a.md.bak": "stays"})
        if not self.deletes:
            await self._cannot_delete(backend, "/f/a.md")
            return
        assert (await backend.delete("/f/a.md")).error is None

        assert await backend.bytes_of("/f/a.md") is None
        assert (await backend.read("/f/a.md")).error == "File '/f/a.md' not found"
        assert (await backend.edit("/f/a.md", "needle", "x")).error
        assert paths_of(await backend.ls("/f")) == ["/f/a.md.bak", "/f/b.md"]
        assert await backend.files() == ["/f/a.md.bak", "/f/b.md"]
        assert paths_of(await backend.grep("needle")) == []
        assert (await backend.write("/f/a.md", "new")).error is None
        assert await backend.text_of("/f/a.md") == "new"

    async def _cannot_delete(self, backend: Either, path: str) -> None:
        before = await backend.bytes_of(path)
        with suppress(NotImplementedError):
            assert (await backend.delete(path)).error
        assert await backend.bytes_of(path) == before is not None

    @pytest.mark.parametrize("spelling", ["/mem", "/mem/", "mem", "./mem/"])
    async def test_a_deleted_folder_takes_what_is_in_it_and_nothing_else(
        self, backend: Either, spelling: str
    ) -> None:
        stays = {"/mem-evil/a.md": "1", "/memory.md": "2", "/mem.md": "3", "/x/mem/a.md": "4"}
        await backend.fill(
            {**stays, "/mem/a.md": "5", "/mem/sub/.hidden": "6", "/mem/sub/b.md": "7"}
        )
        if not self.deletes:
            await self._cannot_delete(backend, "/mem/a.md")
            return
        assert (await backend.delete(spelling)).error is None

        assert await backend.files() == sorted(stays)
        assert await backend.bytes_of("/mem/sub/.hidden") is None
        assert paths_of(await backend.ls("/")) == ["/mem-evil/", "/mem.md", "/memory.md", "/x/"]
        self.says_missing_folder(await backend.ls("/mem"), "/mem")

    async def test_a_wildcard_in_a_path_deletes_nothing_else(self, backend: Either) -> None:
        files = {"/a_b/x.md": "1", "/axb/x.md": "2", "/a%/x.md": "3", "/[ab]/x.md": "4"}
        await backend.fill({**files, "/a/x.md": "5"})
        if not self.deletes:
            await self._cannot_delete(backend, "/a_b/x.md")
            return
        for path in ("/a_b", "/a%", "/[ab]"):
            assert (await backend.delete(path)).error is None

        assert await backend.files() == ["/a/x.md", "/axb/x.md"]

    async def test_deleting_what_is_not_there_is_an_error(self, backend: Either) -> None:
        await backend.fill({"/f/a.md": "text"})
        if not self.deletes:
            await self._cannot_delete(backend, "/f/a.md")
            return
        for path in ("/b.md", "/f/b.md", "/g", "/f/a"):
            assert (await backend.delete(path)).error == f"Error: '{path}' not found"
        assert await backend.files() == ["/f/a.md"]

    @pytest.mark.parametrize("spelling", ["/", "//", "/.", "."])
    async def test_the_root_cannot_be_deleted(self, backend: Either, spelling: str) -> None:
        await backend.fill({"/a.md": "1", "/f/b.md": "2"})
        if not self.deletes:
            await self._cannot_delete(backend, "/a.md")
            return
        assert (await backend.delete(spelling)).error

        assert await backend.files() == ["/a.md", "/f/b.md"]

    async def test_a_folder_whose_last_file_is_gone(self, backend: Either) -> None:
        await backend.fill({"/f/sub/a.md": "text"})
        if not self.deletes:
            await self._cannot_delete(backend, "/f/sub/a.md")
            return
        await backend.delete("/f/sub/a.md")

        if self.keeps_empty_folders:
            assert paths_of(await backend.ls("/f/sub")) == []
            assert paths_of(await backend.ls("/")) == ["/f/"]
            assert (await backend.delete("/f/sub")).error is None
        else:
            self.says_missing_folder(await backend.ls("/f/sub"), "/f/sub")
            assert paths_of(await backend.ls("/")) == []
        assert await backend.files() == []

    async def test_reopened_the_backend_has_its_files(self, backend: Either) -> None:
        await backend.fill({"/a.md": "one", "/f/b.md": "two\r\n"})
        await backend.edit("/a.md", "one", "three")
        again = backend.again()

        kept = self.persistent
        assert await again.text_of("/a.md") == ("three" if kept else None)
        assert await again.text_of("/f/b.md") == ("two\r\n" if kept else None)
        assert await again.files() == (["/a.md", "/f/b.md"] if kept else [])

    async def test_two_openings_see_each_others_writes_at_once(self, backend: Either) -> None:
        other = backend.again()
        if not self.persistent:
            await backend.put(a="mine")
            assert await other.bytes_of("/a.md") is None
            return
        for n in range(3):
            await backend.write("/a.md", f"first {n}")
            assert await other.text_of("/a.md") == f"first {n}"
            assert (await other.edit("/a.md", "first", "second")).error is None
            assert await backend.text_of("/a.md") == f"second {n}"
            assert paths_of(await backend.grep("second")) == ["/a.md"]

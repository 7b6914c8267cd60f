"""Reading, writing, editing and batches."""

from __future__ import annotations

import base64
from contextlib import suppress
from typing import Any

import pytest

from memoryware.backends.protocol import ReadResult
from memoryware.testing._backend import BackendProxy, BackendSuite, paths_of

# Reading: windows of lines, encodings, and bytes that are not text.

Window = tuple[str, int | None, int | None, int | None, int | None]
"""Content, total_lines, start_line, end_line, next_offset."""

WINDOWS: tuple[tuple[str, dict[str, int], Window], ...] = (
    # text, what is asked for, what comes
    ("a\nb\nc\n", {}, ("a\nb\nc\n", 3, 1, 3, None)),
    ("a\nb\nc", {}, ("a\nb\nc", 3, 1, 3, None)),
    ("a\nb\nc\n", {"limit": 2}, ("a\nb\n", 3, 1, 2, 2)),
    ("a\nb\nc\n", {"offset": 1}, ("b\nc\n", 3, 2, 3, None)),
    ("a\nb\nc\n", {"offset": 1, "limit": 1}, ("b\n", 3, 2, 2, 2)),
    ("a\nb\nc\n", {"offset": 2, "limit": 1}, ("c\n", 3, 3, 3, None)),
    ("a\nb\nc", {"offset": 2, "limit": 1}, ("c", 3, 3, 3, None)),
    ("a\nb\nc\n", {"limit": 3}, ("a\nb\nc\n", 3, 1, 3, None)),
    ("a\nb\nc\n", {"limit": 1_000_000}, ("a\nb\nc\n", 3, 1, 3, None)),
    ("a\nb\nc\n", {"offset": -5}, ("a\nb\nc\n", 3, 1, 3, None)),
    ("a\nb\nc\n", {"offset": -5, "limit": 1}, ("a\n", 3, 1, 1, 1)),
    ("a", {}, ("a", 1, 1, 1, None)),
    ("\n", {}, ("\n", 1, 1, 1, None)),
    ("\n\n\n", {"offset": 1, "limit": 1}, ("\n", 3, 2, 2, 2)),
    ("a\n\nb\n", {"limit": 2}, ("a\n\n", 3, 1, 2, 2)),
    ("   \n", {}, ("   \n", 1, 1, 1, None)),
    # every kind of line ending counts, and comes as LF
    ("a\r\nb\r\nc\r\n", {}, ("a\nb\nc\n", 3, 1, 3, None)),
    ("a\r\nb\r\nc", {"offset": 1}, ("b\nc", 3, 2, 3, None)),
    ("a\rb\rc\r", {"limit": 2}, ("a\nb\n", 3, 1, 2, 2)),
    ("a\rb\nc\r\nd", {"offset": 1, "limit": 2}, ("b\nc\n", 4, 2, 3, 3)),
    ("a\n\r\nb\r\r\n", {}, ("a\n\nb\n\n", 4, 1, 4, None)),
    # and nothing else does
    ("a\u2028b\u0085c\x0bd\x0ce\x1cf\n", {}, ("a\u2028b\u0085c\x0bd\x0ce\x1cf\n", 1, 1, 1, None)),
    # nothing there, nothing wanted
    ("", {}, ("", None, None, None, None)),
    ("", {"offset": 3}, ("", None, None, None, None)),
    ("a\nb\n", {"limit": 0}, ("", None, None, None, None)),
    ("a\nb\n", {"limit": -1}, ("", None, None, None, None)),
    ("a\nb\n", {"offset": 9, "limit": 0}, ("", None, None, None, None)),
)


def window_of(result: ReadResult) -> Window | str:
    """Return the window of a read, or its error."""
    if result.file_data is None:
        return str(result.error)
    content = result.file_data["content"]
    return content, result.total_lines, result.start_line, result.end_line, result.next_offset


class ReadConformance(BackendSuite):
    """What `read` shows."""

    async def test_windows_of_lines(self, backend: BackendProxy) -> None:
        await backend.fill({f"/{n}.md": text for n, (text, _, _) in enumerate(WINDOWS)})
        got: dict[Any, Any] = {}
        for n, (text, window_options, _) in enumerate(WINDOWS):
            got[n, text, str(window_options)] = window_of(
                await backend.read(f"/{n}.md", **window_options)
            )

        assert got == {
            (n, t, str(window_options)): window
            for n, (t, window_options, window) in enumerate(WINDOWS)
        }

    async def test_no_lines_requested_is_said(self, backend: BackendProxy) -> None:
        await backend.put(a="one\n", empty="")

        for limit in (0, -1):
            assert (await backend.read("/a.md", 0, limit)).no_lines_requested
            assert (await backend.read("/empty.md", 0, limit)).no_lines_requested
        assert not (await backend.read("/a.md")).no_lines_requested
        assert not (await backend.read("/empty.md")).no_lines_requested

    @pytest.mark.parametrize("offset", [3, 4, 10**9])
    async def test_an_offset_past_the_end_is_an_error_that_names_the_length(
        self, backend: BackendProxy, offset: int
    ) -> None:
        await backend.put(a="a\nb\nc\n", b="a\r\nb\r\nc")

        for path in ("/a.md", "/b.md"):
            error = (await backend.read(path, offset)).error
            assert error == f"Line offset {offset} exceeds file length (3 lines)"

    @pytest.mark.parametrize("text", ["a\nbb\n\nccc\nd\n", "a\r\nbb\r\n\r\nccc\r\nd", "\n\n\n\n\n"])
    async def test_following_next_offset_reads_the_whole_file(
        self, backend: BackendProxy, text: str
    ) -> None:
        await backend.put(a=text)
        for limit in (1, 2, 3, 4, 5, 6):
            pieces: list[str] = []
            offset: int | None = 0
            while offset is not None:
                result = await backend.read("/a.md", offset, limit)
                assert result.file_data is not None
                assert result.total_lines == 5
                pieces.append(result.file_data["content"])
                offset = result.next_offset
            assert "".join(pieces) == text.replace("\r\n", "\n")
            assert len(pieces) == -(-5 // limit)

    async def test_without_a_limit_two_thousand_lines_come(self, backend: BackendProxy) -> None:
        await backend.put(a="".join(f"{n}\n" for n in range(2500)))

        result = await backend.read("/a.md")
        assert (result.end_line, result.next_offset, result.total_lines) == (2000, 2000, 2500)

    async def test_a_missing_file_is_an_error_that_names_it(self, backend: BackendProxy) -> None:
        await backend.fill({"/folder/b.md": "text"})

        assert (await backend.read("/a.md")).error == "File '/a.md' not found"
        assert (await backend.read("/folder/a.md", 5, 0)).error == "File '/folder/a.md' not found"
        assert (await backend.read("folder/c.md")).error == "File 'folder/c.md' not found"

    @pytest.mark.parametrize(
        "text",
        [
            "Ünïcödé ☕",
            "👩‍👩‍👧 🇩🇪",
            "e\u0301 is é",
            "שלום عالم",
            "日本語\n中文\n",
            "nul \0 inside",
            "tab\tend \n",
        ],
    )
    async def test_text_in_every_script_comes_back(self, backend: BackendProxy, text: str) -> None:
        await backend.write("/a.md", text)
        await backend.put(b=text)

        for path in ("/a.md", "/b.md"):
            assert window_of(await backend.read(path))[0] == text
            assert await backend.text_of(path) == text

    async def test_a_byte_order_mark_is_not_part_of_the_text(self, backend: BackendProxy) -> None:
        await backend.fill({"/a.md": b"\xef\xbb\xbfone\r\ntwo\r\n"})

        assert window_of(await backend.read("/a.md")) == ("one\ntwo\n", 2, 1, 2, None)
        assert await backend.bytes_of("/a.md") == b"\xef\xbb\xbfone\r\ntwo\r\n"

    async def test_text_in_another_encoding_is_shown_and_not_a_crash(
        self, backend: BackendProxy
    ) -> None:
        odd = {
            "/utf16.md": "\ufeffone\ntwo\n".encode("utf-16-le"),
            "/latin1.md": b"caf\xe9\ntwo\n",
        }
        if not self.stores_binary:
            assert all(answer.error for answer in await backend.upload_files([*odd.items()]))
            return
        await backend.fill(odd)

        assert window_of(await backend.read("/utf16.md")) == ("one\ntwo\n", 2, 1, 2, None)
        assert window_of(await backend.read("/latin1.md")) == ("caf\ufffd\ntwo\n", 2, 1, 2, None)
        assert {path: await backend.bytes_of(path) for path in odd} == odd

    @pytest.mark.parametrize("name", ["a.png", "a.JPG", "a.pdf", "a.mp3", "a.webm"])
    async def test_pictures_sound_and_video_come_whole_as_base64(
        self, backend: BackendProxy, name: str
    ) -> None:
        data = b"\x89PNG\r\n\x1a\n\0\xff" if self.stores_binary else b"only text\n"
        await backend.fill({f"/{name}": data})

        for window in ({}, {"offset": 1, "limit": 1}):
            result = await backend.read(f"/{name}", **window)
            assert result.error is None
            assert result.file_data is not None
            assert result.file_data["encoding"] == "base64"
            assert base64.b64decode(result.file_data["content"], validate=True) == data
            assert result.total_lines is result.start_line is result.next_offset is None

    async def test_reading_changes_nothing(self, backend: BackendProxy) -> None:
        await backend.put(a="one\r\ntwo")
        first, listed = await backend.read("/a.md"), await backend.ls("/")

        assert await backend.read("/a.md") == first
        assert await backend.ls("/") == listed
        assert await backend.text_of("/a.md") == "one\r\ntwo"


# Writing: a file is written as a whole or not at all.

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


class WriteConformance(BackendSuite):
    """What `write` and `delete` do."""

    async def test_what_was_written_is_stored_exactly(self, backend: BackendProxy) -> None:
        for n, text in enumerate(TEXTS):
            assert (await backend.write(f"/new-{n}.md", text)).error is None
            await backend.write(f"/old-{n}.md", "what was here before, and longer\n" * 9)
            assert (await backend.write(f"/old-{n}.md", text)).error is None

        stored = [await backend.text_of(f"/new-{n}.md") for n in range(len(TEXTS))]
        replaced = [await backend.text_of(f"/old-{n}.md") for n in range(len(TEXTS))]
        assert stored == [*TEXTS]
        assert replaced == [*TEXTS]

    async def test_the_same_text_may_be_written_again(self, backend: BackendProxy) -> None:
        for _ in range(3):
            assert (await backend.write("/a.md", "the same\n")).error is None
            (answer,) = await backend.upload_files([("/b.md", b"the same\n")])
            assert answer.error is None
        assert await backend.text_of("/a.md") == await backend.text_of("/b.md") == "the same\n"
        assert (await backend.edit("/a.md", "same", "same")).occurrences == 1
        assert await backend.text_of("/a.md") == "the same\n"

    async def test_a_write_creates_the_folders_above(self, backend: BackendProxy) -> None:
        await backend.write("/a/b/c/d.md", "deep")

        assert await backend.text_of("/a/b/c/d.md") == "deep"
        assert paths_of(await backend.ls("/a/b")) == ["/a/b/c/"]

    async def test_a_write_replaces_one_file_only(self, backend: BackendProxy) -> None:
        await backend.fill({"/a/x.md": "1", "/a/y.md": "2", "/a/x.md.bak": "3", "/b/x.md": "4"})
        await backend.write("/a/x.md", "new")

        loaded = await backend.download_files(["/a/x.md", "/a/y.md", "/a/x.md.bak", "/b/x.md"])
        assert [answer.content for answer in loaded] == [b"new", b"2", b"3", b"4"]
        assert len(await backend.files()) == 4

    @pytest.mark.parametrize("half", ["\ud800", "tea \udc00 time", "\ude00\ud83d"])
    async def test_half_a_character_is_refused_and_the_old_text_stays(
        self, backend: BackendProxy, half: str
    ) -> None:
        await backend.put(a="old text")

        assert (await backend.write("/a.md", half)).error
        assert (await backend.edit("/a.md", "old", half)).error
        assert (await backend.write("/new/b.md", half)).error
        assert await backend.text_of("/a.md") == "old text"
        assert await backend.files() == ["/a.md"]

    async def test_the_root_is_not_a_file(self, backend: BackendProxy) -> None:
        await backend.put(a="text")

        for root in ("/", "//", "."):
            assert (await backend.write(root, "owned")).error
            assert (await backend.edit(root, "", "owned")).error
            assert (await backend.edit(root, "text", "owned")).error
            (stored,) = await backend.upload_files([(root, b"owned")])
            (loaded,) = await backend.download_files([root])
            assert stored.error == loaded.error == "is_directory"
        assert paths_of(await backend.ls("/")) == ["/a.md"]

    async def test_a_big_file_is_written_edited_and_read(self, backend: BackendProxy) -> None:
        line = "A line of memory that is sixty-four characters long, with its end\n"
        text = line * (self.big_file_chars // len(line)) + "the last line ☕"
        assert (await backend.write("/big.md", text)).error is None
        assert await backend.text_of("/big.md") == text
        assert (await backend.edit("/big.md", "the last line", "the very last line")).error is None

        total = text.count("\n") + 1
        tail = await backend.read("/big.md", total - 1)
        assert tail.total_lines == total
        assert tail.file_data is not None
        assert tail.file_data["content"] == "the very last line ☕"
        result = await backend.grep("very last")
        assert [match["line"] for match in result.matches or []] == [total]

    async def test_one_long_line_is_stored(self, backend: BackendProxy) -> None:
        text = "word " * (self.big_file_chars // 10)
        await backend.write("/long.md", text)

        assert await backend.text_of("/long.md") == text
        assert (await backend.read("/long.md")).total_lines == 1

    async def test_a_created_file_remembers_when(self, backend: BackendProxy) -> None:
        await backend.put(a="one")
        created = await self._created(backend)
        assert bool(created) is self.reports_created_at

        await backend.write("/a.md", "two")
        await backend.edit("/a.md", "two", "three")
        await backend.upload_files([("/a.md", b"four")])
        assert await self._created(backend) == created

    async def _created(self, backend: BackendProxy) -> str:
        data = (await backend.read("/a.md")).file_data
        assert data is not None
        return data.get("created_at", "")

    async def test_a_deleted_file_is_gone_everywhere(self, backend: BackendProxy) -> None:
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

    async def _cannot_delete(self, backend: BackendProxy, path: str) -> None:
        before = await backend.bytes_of(path)
        with suppress(NotImplementedError):
            assert (await backend.delete(path)).error
        assert await backend.bytes_of(path) == before is not None

    @pytest.mark.parametrize("spelling", ["/mem", "/mem/", "mem", "./mem/"])
    async def test_a_deleted_folder_takes_what_is_in_it_and_nothing_else(
        self, backend: BackendProxy, spelling: str
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
        self.assert_missing_folder(await backend.ls("/mem"), "/mem")

    async def test_a_wildcard_in_a_path_deletes_nothing_else(self, backend: BackendProxy) -> None:
        files = {"/a_b/x.md": "1", "/axb/x.md": "2", "/a%/x.md": "3", "/[ab]/x.md": "4"}
        await backend.fill({**files, "/a/x.md": "5"})
        if not self.deletes:
            await self._cannot_delete(backend, "/a_b/x.md")
            return
        for path in ("/a_b", "/a%", "/[ab]"):
            assert (await backend.delete(path)).error is None

        assert await backend.files() == ["/a/x.md", "/axb/x.md"]

    async def test_deleting_what_is_not_there_is_an_error(self, backend: BackendProxy) -> None:
        await backend.fill({"/f/a.md": "text"})
        if not self.deletes:
            await self._cannot_delete(backend, "/f/a.md")
            return
        for path in ("/b.md", "/f/b.md", "/g", "/f/a"):
            assert (await backend.delete(path)).error == f"Error: '{path}' not found"
        assert await backend.files() == ["/f/a.md"]

    @pytest.mark.parametrize("spelling", ["/", "//", "/.", "."])
    async def test_the_root_cannot_be_deleted(self, backend: BackendProxy, spelling: str) -> None:
        await backend.fill({"/a.md": "1", "/f/b.md": "2"})
        if not self.deletes:
            await self._cannot_delete(backend, "/a.md")
            return
        assert (await backend.delete(spelling)).error

        assert await backend.files() == ["/a.md", "/f/b.md"]

    async def test_a_folder_whose_last_file_is_gone(self, backend: BackendProxy) -> None:
        await backend.fill({"/f/sub/a.md": "text"})
        if not self.deletes:
            await self._cannot_delete(backend, "/f/sub/a.md")
            return
        await backend.delete("/f/sub/a.md")

        if self.stores_empty_folders:
            assert paths_of(await backend.ls("/f/sub")) == []
            assert paths_of(await backend.ls("/")) == ["/f/"]
            assert (await backend.delete("/f/sub")).error is None
        else:
            self.assert_missing_folder(await backend.ls("/f/sub"), "/f/sub")
            assert paths_of(await backend.ls("/")) == []
        assert await backend.files() == []

    async def test_reopened_the_backend_has_its_files(self, backend: BackendProxy) -> None:
        await backend.fill({"/a.md": "one", "/f/b.md": "two\r\n"})
        await backend.edit("/a.md", "one", "three")
        again = backend.again()

        is_persistent = self.persistent
        assert await again.text_of("/a.md") == ("three" if is_persistent else None)
        assert await again.text_of("/f/b.md") == ("two\r\n" if is_persistent else None)
        assert await again.files() == (["/a.md", "/f/b.md"] if is_persistent else [])

    async def test_two_openings_see_each_others_writes_at_once(self, backend: BackendProxy) -> None:
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


# Editing: exactly the text that is given is replaced.

EDITS: tuple[tuple[bytes, str, str, bytes], ...] = (
    # stored, old text, new text, stored afterwards
    (b"one two three", "two", "2", b"one 2 three"),
    (b"one two three", "two ", "", b"one three"),
    (b"one\ntwo\nthree\n", "one\ntwo", "1\n2", b"1\n2\nthree\n"),
    (b"one\ntwo\n", "two\n", "", b"one\n"),
    (b"one\ntwo", "two", "two\nthree\n", b"one\ntwo\nthree\n"),
    (b"a\n\n\nb\n", "a\n\n\nb", "a\nb", b"a\nb\n"),
    ("Grüße ☕ 👩‍👩‍👧 end".encode(), "☕ 👩‍👩‍👧", "🍵", "Grüße 🍵 end".encode()),
    # nothing in old or new is a pattern
    (rb"a.b*(c)[d]{e}\1 a-b", "a.b*(c)[d]{e}\\1", "\\g<0> $1 \\n {x}", rb"\g<0> $1 \n {x} a-b"),
    (b"^start|end$", "|end$", "", b"^start"),
    # line endings do not matter for finding, and the untouched stay as they are
    (b"a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\n", b"x\r\ny\r\nc\r\n"),
    (b"a\r\nb\r\nc\r\n", "a\r\nb", "x\r\ny", b"x\r\ny\r\nc\r\n"),
    (b"a\r\nb\r\nc\r\n", "b", "b1\nb2", b"a\r\nb1\r\nb2\r\nc\r\n"),
    (b"a\rb\rc\r", "a\nb", "x\ny", b"x\ry\rc\r"),
    (b"a\nb\nc\n", "a\r\nb", "x\r\ny", b"x\ny\nc\n"),
    (b"a\nb\r\nc\rd\n", "b\nc", "B\nC", b"a\nB\r\nC\rd\n"),
    (b"keep\r\nthis\rmixed\nedit me\r\n", "edit me", "done", b"keep\r\nthis\rmixed\ndone\r\n"),
    (b"a\r\nb\r\nc", "\nc", "\nd\ne", b"a\r\nb\r\nd\r\ne"),
    # an empty file has one place: all of it
    (b"", "", "the first rule\n", b"the first rule\n"),
    # what stands before the text stays before it
    (b"\xef\xbb\xbfone two", "one", "1", b"\xef\xbb\xbf1 two"),
    (b"\xef\xbb\xbfone\r\ntwo\r\n", "one\ntwo", "1\n2", b"\xef\xbb\xbf1\r\n2\r\n"),
)
FORGIVEN: tuple[tuple[str, str, str, str], ...] = (
    # the file does not end in a newline, the old text does
    ("a\nb", "b\n", "c\n", "a\nc\n"),
    ("a\r\nb", "a\nb\n", "x\ny\n", "x\r\ny\r\n"),
    # blanks at line ends
    ("one  \ntwo\t\nthree\n", "one\ntwo\n", "1\n2\n", "1\n2\nthree\n"),
    ("one\ntwo\nthree\n", "one  \ntwo \n", "1\n2\n", "1\n2\nthree\n"),
    # tabs where blanks were given, and the other way round
    ("if x:\n\treturn 1\n", "if x:\n    return 1\n", "if x:\n\treturn 2\n", "if x:\n\treturn 2\n"),
    ("if x:\n    return 1\n", "if x:\n\treturn 1\n", "pass\n", "pass\n"),
    # all lines deeper or less deep, the new lines go along
    ("a:\n  - b\n  - c\n", "- b\n- c \n", "- B\n  - C\n", "a:\n  - B\n    - C\n"),
)
MISTAKEN: tuple[tuple[str, str], ...] = (
    # stored, old text that is like a part of it but for blanks
    ("concatenate\n", "cat "),
    ("budget: 1000\n", "budget: 10\t"),
    ("category: x\n", " cat"),
    ("- Do not deploy on Fridays without Ann.\n", "- Do not deploy on Fri "),
    ("  - a\n      - b\n", "- a\n- b"),
    ("a\r\nb\r\n", "\n\n"),
    ("a\r\nb\r\n", "a\n\nb"),
)
BROKEN = {
    "/latin1.md": b"caf\xe9 tea \xff\xfe\r\nsecond line\n",
    "/utf16.md": "\ufeffone tea\r\ntwo\n".encode("utf-16-le"),
    "/data.bin": b"\0\x01tea\0\xff",
}
"""Bytes that are not UTF-8, each with the word tea somewhere."""


class EditConformance(BackendSuite):
    """What `edit` does."""

    async def test_edits_that_find_their_place(self, backend: BackendProxy) -> None:
        await backend.fill({f"/{n}.md": stored for n, (stored, *_) in enumerate(EDITS)})
        got: dict[Any, Any] = {}
        for n, (stored, old, new, _) in enumerate(EDITS):
            result = await backend.edit(f"/{n}.md", old, new)
            got[n, stored, old] = result.error or await backend.bytes_of(f"/{n}.md")

        assert got == {(n, s, old): after for n, (s, old, _, after) in enumerate(EDITS)}

    async def test_an_edit_says_where_and_how_often(self, backend: BackendProxy) -> None:
        await backend.fill({"/f/a.md": "one two two"})

        once = await backend.edit("f/a.md", "one", "1")
        twice = await backend.edit("/f/a.md", "two", "2", replace_all=True)
        assert (once.error, once.path, once.occurrences) == (None, "f/a.md", 1)
        assert (twice.error, twice.path, twice.occurrences) == (None, "/f/a.md", 2)
        assert await backend.text_of("/f/a.md") == "1 2 2"

    async def test_an_edit_changes_one_file_only(self, backend: BackendProxy) -> None:
        await backend.fill({"/a.md": "tea", "/a.md.bak": "tea", "/f/a.md": "tea"})
        await backend.edit("/a.md", "tea", "milk")

        loaded = await backend.download_files(["/a.md", "/a.md.bak", "/f/a.md"])
        assert [answer.content for answer in loaded] == [b"milk", b"tea", b"tea"]
        assert len(await backend.files()) == 3

    @pytest.mark.parametrize("every", [False, True])
    async def test_text_that_is_not_there_is_an_error(
        self, backend: BackendProxy, every: bool
    ) -> None:
        await backend.put(a="one two\n", empty="")

        for path, old in (("/a.md", "three"), ("/a.md", "ONE"), ("/empty.md", "x")):
            error = (await backend.edit(path, old, "x", replace_all=every)).error
            assert error
            assert error.startswith(f"Error: String not found in file: {old!r}"), error
        assert await backend.text_of("/a.md") == "one two\n"
        assert await backend.text_of("/empty.md") == ""

    async def test_text_that_is_not_unique_is_an_error_with_the_count(
        self, backend: BackendProxy
    ) -> None:
        await backend.put(a="tea, tea and tea\n", b="x\r\nx\r\nx\r\nx\r\n")

        three = (await backend.edit("/a.md", "tea", "milk")).error
        assert three is not None
        assert three.startswith("Error: String 'tea' appears 3 times in file"), three
        assert "replace_all=True" in three
        assert "2 times" in str((await backend.edit("/b.md", "x\nx\n", "y\n")).error)
        assert await backend.text_of("/a.md") == "tea, tea and tea\n"
        assert await backend.text_of("/b.md") == "x\r\nx\r\nx\r\nx\r\n"

    async def test_replace_all_replaces_every_place_once(self, backend: BackendProxy) -> None:
        await backend.put(a="tea, tea and tea\n", b="aaaaa", c="x\r\ny\nx\r\n", d="aXbX")

        assert (await backend.edit("/a.md", "tea", "tea tea", replace_all=True)).occurrences == 3
        assert (await backend.edit("/b.md", "aa", "b", replace_all=True)).occurrences == 2
        assert (await backend.edit("/c.md", "x\n", "z\n", replace_all=True)).occurrences == 2
        assert (await backend.edit("/d.md", "X", "", replace_all=True)).occurrences == 2
        texts = [await backend.text_of(f"/{name}.md") for name in "abcd"]
        assert texts == ["tea tea, tea tea and tea tea\n", "bba", "z\r\ny\nz\r\n", "ab"]

    async def test_an_empty_old_text_is_refused_where_there_is_text(
        self, backend: BackendProxy
    ) -> None:
        await backend.put(a="one two")

        for every in (False, True):
            assert (await backend.edit("/a.md", "", "x", replace_all=every)).error
        assert await backend.text_of("/a.md") == "one two"

    @pytest.mark.parametrize("old", ["one", ""])
    async def test_a_missing_file_is_an_error_and_is_not_created(
        self, backend: BackendProxy, old: str
    ) -> None:
        await backend.fill({"/f/b.md": "one"})

        for path in ("/a.md", "/f/a.md", "/g/a.md"):
            assert (await backend.edit(path, old, "x")).error == f"Error: File '{path}' not found"
        assert (await backend.edit("/f", old, "x")).error
        assert await backend.files() == ["/f/b.md"]

    async def test_blanks_are_forgiven_where_one_place_remains(self, backend: BackendProxy) -> None:
        await backend.fill({f"/{n}.md": stored for n, (stored, *_) in enumerate(FORGIVEN)})
        got: dict[Any, Any] = {}
        for n, (stored, old, new, _) in enumerate(FORGIVEN):
            result = await backend.edit(f"/{n}.md", old, new)
            got[n, stored, old] = result.error is None, await backend.text_of(f"/{n}.md")

        forgives = self.matches_loose_whitespace
        assert got == {
            (n, stored, old): (forgives, after if forgives else stored)
            for n, (stored, old, _, after) in enumerate(FORGIVEN)
        }

    async def test_blanks_are_not_forgiven_where_two_places_remain(
        self, backend: BackendProxy
    ) -> None:
        text = "\treturn 1\n    return 1\n\t\treturn 1\n"
        await backend.put(a=text)

        for every in (False, True):
            assert (await backend.edit("/a.md", " return 1 \n", "x", replace_all=every)).error
        assert await backend.text_of("/a.md") == text

    async def test_a_part_of_a_line_is_never_forgiven_its_blanks(
        self, backend: BackendProxy
    ) -> None:
        await backend.fill({f"/{n}.md": stored for n, (stored, _) in enumerate(MISTAKEN)})
        for n, (stored, old) in enumerate(MISTAKEN):
            for every in (False, True):
                error = (await backend.edit(f"/{n}.md", old, "x\n", replace_all=every)).error
                assert str(error).startswith("Error: String not found"), (stored, old, error)
            assert await backend.text_of(f"/{n}.md") == stored

    async def test_text_that_is_nearly_there_is_named(self, backend: BackendProxy) -> None:
        await backend.put(a="# Rules\nAlways run the linter first.\nBe brief.\n")

        error = (await backend.edit("/a.md", "Always run the formatter first.", "x")).error
        assert ("Always run the linter first." in str(error)) is self.matches_loose_whitespace

    async def test_edits_build_on_each_other(self, backend: BackendProxy) -> None:
        await backend.put(a="- one\n")
        for n in range(20):
            old = f"- {n - 1}\n" if n else "- one\n"
            assert (await backend.edit("/a.md", old, f"{old}- {n}\n")).occurrences == 1

        assert await backend.text_of("/a.md") == "- one\n" + "".join(f"- {n}\n" for n in range(20))

    async def test_an_edit_can_empty_a_file_and_fill_it_again(self, backend: BackendProxy) -> None:
        await backend.put(a="only this")

        assert (await backend.edit("/a.md", "only this", "")).error is None
        assert await backend.bytes_of("/a.md") == b""
        assert (await backend.edit("/a.md", "", "and that")).error is None
        assert await backend.text_of("/a.md") == "and that"

    async def test_an_edit_never_harms_bytes_that_are_not_text(self, backend: BackendProxy) -> None:
        if not self.stores_binary:
            assert all(answer.error for answer in await backend.upload_files([*BROKEN.items()]))
            return
        await backend.fill(BROKEN)
        for path, before in BROKEN.items():
            wide = path == "/utf16.md"
            old, new = (t.encode("utf-16-le" if wide else "utf-8") for t in ("tea", "milk"))
            result = await backend.edit(path, "tea", "milk")
            after = await backend.bytes_of(path)
            assert after == (before if result.error else before.replace(old, new)), path
            assert (await backend.edit(path, "", "owned")).error, path
            assert await backend.bytes_of(path) == after, path

    async def test_what_is_no_text_is_refused_and_kept(self, backend: BackendProxy) -> None:
        if not self.stores_binary:
            return
        files = {
            "/nul.md": b"one\0two\n",
            "/wide.md": "one\n".encode("utf-16-le"),
            "/torn.md": b"\xff\xfeo\0n",
            "/photo.png": b"one\n",
        }
        await backend.fill(files)
        for path, data in files.items():
            error = (await backend.edit(path, "o", "x")).error
            assert "not text" in str(error), path
            assert await backend.bytes_of(path) == data

    async def test_text_with_a_mark_is_changed_in_its_encoding(self, backend: BackendProxy) -> None:
        if not self.stores_binary:
            return
        await backend.fill({"/a.md": "\ufeffone tea\r\n".encode("utf-16-be")})

        assert (await backend.edit("/a.md", "tea\n", "milk\n")).error is None
        assert await backend.bytes_of("/a.md") == "\ufeffone milk\r\n".encode("utf-16-be")


# Batches: upload and download, in order, with a result for each file.

BATCH_TEXTS = {
    "/plain.md": b"plain\n",
    "/empty.md": b"",
    "/blank.md": b" \n\n",
    "/crlf.md": b"one\r\ntwo\r\n",
    "/cr.md": b"one\rtwo",
    "/marked.md": b"\xef\xbb\xbfmarked",
    "/tea.md": "☕ é 日本".encode(),
    "/base64.md": b"aGVsbG8=",
    "/json.md": b'{"content": "x", "encoding": "base64"}',
}
BYTES = {
    "/every.bin": bytes(range(256)) * 3,
    "/nul.bin": b"\0",
    "/invalid.md": b"caf\xe9",
    "/cut.md": "☕".encode()[:2],
    "/surrogate.md": b"\xed\xa0\x80",
    "/wide.md": "\ufeffwide".encode("utf-16"),
    "/picture.png": b"\x89PNG\r\n\x1a\n" + bytes(1000),
}


class BatchConformance(BackendSuite):
    """What `upload_files` and `download_files` do."""

    async def test_text_goes_in_and_comes_out_byte_by_byte(self, backend: BackendProxy) -> None:
        await backend.fill(BATCH_TEXTS)

        loaded = await backend.download_files([*BATCH_TEXTS])
        assert {answer.path: answer.content for answer in loaded} == BATCH_TEXTS
        for path, data in BATCH_TEXTS.items():
            assert await backend.bytes_of(path) == data

    async def test_bytes_that_are_not_text_come_out_as_they_went_in(
        self, backend: BackendProxy
    ) -> None:
        stored = await backend.upload_files([*BYTES.items()])
        loaded = await backend.download_files([*BYTES])

        if self.stores_binary:
            assert [answer.error for answer in stored] == [None] * len(BYTES)
            assert {answer.path: answer.content for answer in loaded} == BYTES
        else:
            for answer, data in zip(stored, loaded, strict=True):
                assert answer.error or data.content == BYTES[answer.path]
            assert any(answer.error for answer in stored)

    async def test_a_file_may_change_between_text_and_bytes(self, backend: BackendProxy) -> None:
        text, data = b"text\n", b"\0\xff\xfe\x80"
        if not self.stores_binary:
            await backend.fill({"/a.md": text})
            assert (await backend.upload_files([("/a.md", data)]))[0].error
            assert await backend.bytes_of("/a.md") == text
            return
        for content in (text, data, text, data):
            await backend.fill({"/a.md": content})
            assert await backend.bytes_of("/a.md") == content
        await backend.write("/a.md", "text again")
        assert await backend.text_of("/a.md") == "text again"
        read = (await backend.read("/a.md")).file_data
        assert read is not None
        assert (read["content"], read["encoding"]) == ("text again", "utf-8")

    async def test_an_upload_is_seen_by_everything_else(self, backend: BackendProxy) -> None:
        await backend.fill({"/f/a.md": "needle one\n"})

        read = (await backend.read("/f/a.md")).file_data
        assert read is not None
        assert read["content"] == "needle one\n"
        assert paths_of(await backend.ls("/f")) == ["/f/a.md"]
        assert paths_of(await backend.glob("a.md")) == ["/f/a.md"]
        assert paths_of(await backend.grep("needle")) == ["/f/a.md"]
        assert (await backend.edit("/f/a.md", "one", "two")).error is None
        assert await backend.text_of("/f/a.md") == "needle two\n"

    async def test_each_path_has_its_answer_in_order(self, backend: BackendProxy) -> None:
        await backend.fill({"/z.md": "z", "/f/y.md": "y", "/a.md": "a"})
        paths = ["/z.md", "/gone.md", "/f/y.md", "../x.md", "/a.md", "/f/gone.md", "/z.md", "a.md"]

        answers = await backend.download_files(paths)
        assert [answer.content for answer in answers] == [
            b"z",
            None,
            b"y",
            None,
            b"a",
            None,
            b"z",
            b"a",
        ]
        assert [answer.error for answer in answers] == [
            *(None, "file_not_found", None, "invalid_path"),
            *(None, "file_not_found", None, None),
        ]

    async def test_one_bad_file_does_not_hold_up_the_others(self, backend: BackendProxy) -> None:
        answers = await backend.upload_files(
            [("/a.md", b"a"), ("/../x.md", b"x"), ("/f/b.md", b"b"), ("/", b"x"), ("/c.md", b"c")]
        )

        assert [answer.error for answer in answers] == [
            None,
            "invalid_path",
            None,
            "is_directory",
            None,
        ]
        assert await backend.files() == ["/a.md", "/c.md", "/f/b.md"]

    async def test_a_file_given_twice_has_the_last_content(self, backend: BackendProxy) -> None:
        answers = await backend.upload_files([("/a.md", b"1"), ("/b.md", b"2"), ("a.md", b"3")])

        assert [answer.error for answer in answers] == [None, None, None]
        assert await backend.text_of("/a.md") == "3"
        assert await backend.files() == ["/a.md", "/b.md"]

    async def test_an_empty_batch_is_an_empty_answer(self, backend: BackendProxy) -> None:
        assert await backend.upload_files([]) == []
        assert await backend.download_files([]) == []

    async def test_an_upload_replaces_the_whole_file(self, backend: BackendProxy) -> None:
        await backend.fill({"/a.md": "a long text that was here before\n" * 50})
        await backend.fill({"/a.md": "short"})

        assert await backend.text_of("/a.md") == "short"
        assert await backend.files() == ["/a.md"]

    async def test_a_large_batch_is_complete(self, backend: BackendProxy) -> None:
        many = {f"/f{n % 7}/{n}.md": f"text {n}".encode() for n in range(300)}
        await backend.fill(many)

        loaded = await backend.download_files([*reversed(many)])
        assert [answer.content for answer in loaded] == [*reversed(many.values())]

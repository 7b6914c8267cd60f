"""Windows of lines, encodings, and what is not text."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from memoryware.backends.protocol import ReadResult
from memoryware.testing._either import Either
from memoryware.testing._suite import Suite

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


def seen(result: ReadResult) -> Window | str:
    """Return what a read showed, or its error."""
    if result.file_data is None:
        return str(result.error)
    content = result.file_data["content"]
    return content, result.total_lines, result.start_line, result.end_line, result.next_offset


class ReadingConformance(Suite):
    """What `read` shows."""

    async def test_windows_of_lines(self, backend: Either) -> None:
        await backend.fill({f"/{n}.md": text for n, (text, _, _) in enumerate(WINDOWS)})
        got: dict[Any, Any] = {}
        for n, (text, asked, _) in enumerate(WINDOWS):
            got[n, text, str(asked)] = seen(await backend.read(f"/{n}.md", **asked))

        assert got == {(n, t, str(asked)): window for n, (t, asked, window) in enumerate(WINDOWS)}

    async def test_no_lines_requested_is_said(self, backend: Either) -> None:
        await backend.put(a="one\n", empty="")

        for limit in (0, -1):
            assert (await backend.read("/a.md", 0, limit)).no_lines_requested
            assert (await backend.read("/empty.md", 0, limit)).no_lines_requested
        assert not (await backend.read("/a.md")).no_lines_requested
        assert not (await backend.read("/empty.md")).no_lines_requested

    @pytest.mark.parametrize("offset", [3, 4, 10**9])
    async def test_an_offset_past_the_end_is_an_error_that_names_the_length(
        self, backend: Either, offset: int
    ) -> None:
        await backend.put(a="a\nb\nc\n", b="a\r\nb\r\nc")

        for path in ("/a.md", "/b.md"):
            error = (await backend.read(path, offset)).error
            assert error == f"Line offset {offset} exceeds file length (3 lines)"

    @pytest.mark.parametrize("text", ["a\nbb\n\nccc\nd\n", "a\r\nbb\r\n\r\nccc\r\nd", "\n\n\n\n\n"])
    async def test_following_next_offset_reads_the_whole_file(
        self, backend: Either, text: str
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

    async def test_without_a_limit_two_thousand_lines_come(self, backend: Either) -> None:
        await backend.put(a="".join(f"{n}\n" for n in range(2500)))

        result = await backend.read("/a.md")
        assert (result.end_line, result.next_offset, result.total_lines) == (2000, 2000, 2500)

    async def test_a_missing_file_is_an_error_that_names_it(self, backend: Either) -> None:
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
    async def test_text_in_every_script_comes_back(self, backend: Either, text: str) -> None:
        await backend.write("/a.md", text)
        await backend.put(b=text)

        for path in ("/a.md", "/b.md"):
            assert seen(await backend.read(path))[0] == text
            assert await backend.text_of(path) == text

    async def test_a_byte_order_mark_is_not_part_of_the_text(self, backend: Either) -> None:
        await backend.fill({"/a.md": b"\xef\xbb\xbfone\r\ntwo\r\n"})

        assert seen(await backend.read("/a.md")) == ("one\ntwo\n", 2, 1, 2, None)
        assert await backend.bytes_of("/a.md") == b"\xef\xbb\xbfone\r\ntwo\r\n"

    async def test_text_in_another_encoding_is_shown_and_not_a_crash(self, backend: Either) -> None:
        odd = {
            "/utf16.md": "\ufeffone\ntwo\n".encode("utf-16-le"),
            "/latin1.md": b"caf\xe9\ntwo\n",
        }
        if not self.keeps_bytes:
            assert all(one.error for one in await backend.upload_files([*odd.items()]))
            return
        await backend.fill(odd)

        assert seen(await backend.read("/utf16.md")) == ("one\ntwo\n", 2, 1, 2, None)
        assert seen(await backend.read("/latin1.md")) == ("caf\ufffd\ntwo\n", 2, 1, 2, None)
        assert {path: await backend.bytes_of(path) for path in odd} == odd

    @pytest.mark.parametrize("name", ["a.png", "a.JPG", "a.pdf", "a.mp3", "a.webm"])
    async def test_pictures_sound_and_video_come_whole_as_base64(
        self, backend: Either, name: str
    ) -> None:
        data = b"\x89PNG\r\n\x1a\n\0\xff" if self.keeps_bytes else b"only text\n"
        await backend.fill({f"/{name}": data})

        for window in ({}, {"offset": 1, "limit": 1}):
            result = await backend.read(f"/{name}", **window)
            assert result.error is None
            assert result.file_data is not None
            assert result.file_data["encoding"] == "base64"
            assert base64.b64decode(result.file_data["content"], validate=True) == data
            assert result.total_lines is result.start_line is result.next_offset is None

    async def test_reading_changes_nothing(self, backend: Either) -> None:
        await backend.put(a="one\r\ntwo")
        first, listed = await backend.read("/a.md"), await backend.ls("/")

        assert await backend.read("/a.md") == first
        assert await backend.ls("/") == listed
        assert await backend.text_of("/a.md") == "one\r\ntwo"

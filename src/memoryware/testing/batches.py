"""Many files in one call: bytes in and out, in order, each with its own answer."""

from __future__ import annotations

from memoryware.testing._either import Either, paths_of
from memoryware.testing._suite import Suite

TEXTS = {
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


class BatchesConformance(Suite):
    """What `upload_files` and `download_files` do."""

    async def test_text_goes_in_and_comes_out_byte_by_byte(self, backend: Either) -> None:
        await backend.fill(TEXTS)

        loaded = await backend.download_files([*TEXTS])
        assert {one.path: one.content for one in loaded} == TEXTS
        for path, data in TEXTS.items():
            assert await backend.bytes_of(path) == data

    async def test_bytes_that_are_not_text_come_out_as_they_went_in(self, backend: Either) -> None:
        stored = await backend.upload_files([*BYTES.items()])
        loaded = await backend.download_files([*BYTES])

        if self.keeps_bytes:
            assert [one.error for one in stored] == [None] * len(BYTES)
            assert {one.path: one.content for one in loaded} == BYTES
        else:
            for answer, data in zip(stored, loaded, strict=True):
                assert answer.error or data.content == BYTES[answer.path]
            assert any(answer.error for answer in stored)

    async def test_a_file_may_change_between_text_and_bytes(self, backend: Either) -> None:
        text, data = b"text\n", b"\0\xff\xfe\x80"
        if not self.keeps_bytes:
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

    async def test_an_upload_is_seen_by_everything_else(self, backend: Either) -> None:
        await backend.fill({"/f/a.md": "needle one\n"})

        read = (await backend.read("/f/a.md")).file_data
        assert read is not None
        assert read["content"] == "needle one\n"
        assert paths_of(await backend.ls("/f")) == ["/f/a.md"]
        assert paths_of(await backend.glob("a.md")) == ["/f/a.md"]
        assert paths_of(await backend.grep("needle")) == ["/f/a.md"]
        assert (await backend.edit("/f/a.md", "one", "two")).error is None
        assert await backend.text_of("/f/a.md") == "needle two\n"

    async def test_each_path_has_its_answer_in_order(self, backend: Either) -> None:
        await backend.fill({"/z.md": "z", "/f/y.md": "y", "/a.md": "a"})
        asked = ["/z.md", "/gone.md", "/f/y.md", "../x.md", "/a.md", "/f/gone.md", "/z.md", "a.md"]

        answers = await backend.download_files(asked)
        assert [one.content for one in answers] == [b"z", None, b"y", None, b"a", None, b"z", b"a"]
        assert [one.error for one in answers] == [
            *(None, "file_not_found", None, "invalid_path"),
            *(None, "file_not_found", None, None),
        ]

    async def test_one_bad_file_does_not_hold_up_the_others(self, backend: Either) -> None:
        answers = await backend.upload_files(
            [("/a.md", b"a"), ("/../x.md", b"x"), ("/f/b.md", b"b"), ("/", b"x"), ("/c.md", b"c")]
        )

        assert [one.error for one in answers] == [None, "invalid_path", None, "is_directory", None]
        assert await backend.files() == ["/a.md", "/c.md", "/f/b.md"]

    async def test_a_file_given_twice_has_the_last_content(self, backend: Either) -> None:
        answers = await backend.upload_files([("/a.md", b"1"), ("/b.md", b"2"), ("a.md", b"3")])

        assert [one.error for one in answers] == [None, None, None]
        assert await backend.text_of("/a.md") == "3"
        assert await backend.files() == ["/a.md", "/b.md"]

    async def test_an_empty_batch_is_an_empty_answer(self, backend: Either) -> None:
        assert await backend.upload_files([]) == []
        assert await backend.download_files([]) == []

    async def test_an_upload_replaces_the_whole_file(self, backend: Either) -> None:
        await backend.fill({"/a.md": "a long text that was here before\n" * 50})
        await backend.fill({"/a.md": "short"})

        assert await backend.text_of("/a.md") == "short"
        assert await backend.files() == ["/a.md"]

    async def test_a_large_batch_is_complete(self, backend: Either) -> None:
        many = {f"/f{n % 7}/{n}.md": f"text {n}".encode() for n in range(300)}
        await backend.fill(many)

        loaded = await backend.download_files([*reversed(many)])
        assert [one.content for one in loaded] == [*reversed(many.values())]

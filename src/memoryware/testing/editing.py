"""An edit changes the place that was meant, and not a byte beside it."""

from __future__ import annotations

from typing import Any

import pytest

from memoryware.testing._either import Either
from memoryware.testing._suite import Suite

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


class EditingConformance(Suite):
    """What `edit` does."""

    async def test_edits_that_find_their_place(self, backend: Either) -> None:
        await backend.fill({f"/{n}.md": stored for n, (stored, *_) in enumerate(EDITS)})
        got: dict[Any, Any] = {}
        for n, (stored, old, new, _) in enumerate(EDITS):
            result = await backend.edit(f"/{n}.md", old, new)
            got[n, stored, old] = result.error or await backend.bytes_of(f"/{n}.md")

        assert got == {(n, s, old): after for n, (s, old, _, after) in enumerate(EDITS)}

    async def test_an_edit_says_where_and_how_often(self, backend: Either) -> None:
        await backend.fill({"/f/a.md": "one two two"})

        once = await backend.edit("f/a.md", "one", "1")
        twice = await backend.edit("/f/a.md", "two", "2", replace_all=True)
        assert (once.error, once.path, once.occurrences) == (None, "f/a.md", 1)
        assert (twice.error, twice.path, twice.occurrences) == (None, "/f/a.md", 2)
        assert await backend.text_of("/f/a.md") == "1 2 2"

    async def test_an_edit_changes_one_file_only(self, backend: Either) -> None:
        await backend.fill({"/a.md": "tea", "/a.md.bak": "tea", "/f/a.md": "tea"})
        await backend.edit("/a.md", "tea", "milk")

        loaded = await backend.download_files(["/a.md", "/a.md.bak", "/f/a.md"])
        assert [one.content for one in loaded] == [b"milk", b"tea", b"tea"]
        assert len(await backend.files()) == 3

    @pytest.mark.parametrize("every", [False, True])
    async def test_text_that_is_not_there_is_an_error(self, backend: Either, every: bool) -> None:
        await backend.put(a="one two\n", empty="")

        for path, old in (("/a.md", "three"), ("/a.md", "ONE"), ("/empty.md", "x")):
            error = (await backend.edit(path, old, "x", replace_all=every)).error
            assert error
            assert error.startswith(f"Error: String not found in file: {old!r}"), error
        assert await backend.text_of("/a.md") == "one two\n"
        assert await backend.text_of("/empty.md") == ""

    async def test_text_that_is_not_unique_is_an_error_with_the_count(
        self, backend: Either
    ) -> None:
        await backend.put(a="tea, tea and tea\n", b="x\r\nx\r\nx\r\nx\r\n")

        three = (await backend.edit("/a.md", "tea", "milk")).error
        assert three is not None
        assert three.startswith("Error: String 'tea' appears 3 times in file"), three
        assert "replace_all=True" in three
        assert "2 times" in str((await backend.edit("/b.md", "x\nx\n", "y\n")).error)
        assert await backend.text_of("/a.md") == "tea, tea and tea\n"
        assert await backend.text_of("/b.md") == "x\r\nx\r\nx\r\nx\r\n"

    async def test_replace_all_replaces_every_place_once(self, backend: Either) -> None:
        await backend.put(a="tea, tea and tea\n", b="aaaaa", c="x\r\ny\nx\r\n", d="aXbX")

        assert (await backend.edit("/a.md", "tea", "tea tea", replace_all=True)).occurrences == 3
        assert (await backend.edit("/b.md", "aa", "b", replace_all=True)).occurrences == 2
        assert (await backend.edit("/c.md", "x\n", "z\n", replace_all=True)).occurrences == 2
        assert (await backend.edit("/d.md", "X", "", replace_all=True)).occurrences == 2
        texts = [await backend.text_of(f"/{name}.md") for name in "abcd"]
        assert texts == ["tea tea, tea tea and tea tea\n", "bba", "z\r\ny\nz\r\n", "ab"]

    async def test_an_empty_old_text_is_refused_where_there_is_text(self, backend: Either) -> None:
        await backend.put(a="one two")

        for every in (False, True):
            assert (await backend.edit("/a.md", "", "x", replace_all=every)).error
        assert await backend.text_of("/a.md") == "one two"

    @pytest.mark.parametrize("old", ["one", ""])
    async def test_a_missing_file_is_an_error_and_is_not_created(
        self, backend: Either, old: str
    ) -> None:
        await backend.fill({"/f/b.md": "one"})

        for path in ("/a.md", "/f/a.md", "/g/a.md"):
            assert (await backend.edit(path, old, "x")).error == f"Error: File '{path}' not found"
        assert (await backend.edit("/f", old, "x")).error
        assert await backend.files() == ["/f/b.md"]

    async def test_blanks_are_forgiven_where_one_place_remains(self, backend: Either) -> None:
        await backend.fill({f"/{n}.md": stored for n, (stored, *_) in enumerate(FORGIVEN)})
        got: dict[Any, Any] = {}
        for n, (stored, old, new, _) in enumerate(FORGIVEN):
            result = await backend.edit(f"/{n}.md", old, new)
            got[n, stored, old] = result.error is None, await backend.text_of(f"/{n}.md")

        forgives = self.forgives_blanks
        assert got == {
            (n, stored, old): (forgives, after if forgives else stored)
            for n, (stored, old, _, after) in enumerate(FORGIVEN)
        }

    async def test_blanks_are_not_forgiven_where_two_places_remain(self, backend: Either) -> None:
        text = "\treturn 1\n    return 1\n\t\treturn 1\n"
        await backend.put(a=text)

        for every in (False, True):
            assert (await backend.edit("/a.md", " return 1 \n", "x", replace_all=every)).error
        assert await backend.text_of("/a.md") == text

    async def test_a_part_of_a_line_is_never_forgiven_its_blanks(self, backend: Either) -> None:
        await backend.fill({f"/{n}.md": stored for n, (stored, _) in enumerate(MISTAKEN)})
        for n, (stored, old) in enumerate(MISTAKEN):
            for every in (False, True):
                error = (await backend.edit(f"/{n}.md", old, "x\n", replace_all=every)).error
                assert str(error).startswith("Error: String not found"), (stored, old, error)
            assert await backend.text_of(f"/{n}.md") == stored

    async def test_text_that_is_nearly_there_is_named(self, backend: Either) -> None:
        await backend.put(a="# Rules\nAlways run the linter first.\nBe brief.\n")

        error = (await backend.edit("/a.md", "Always run the formatter first.", "x")).error
        assert ("Always run the linter first." in str(error)) is self.forgives_blanks

    async def test_edits_build_on_each_other(self, backend: Either) -> None:
        await backend.put(a="- one\n")
        for n in range(20):
            old = f"- {n - 1}\n" if n else "- one\n"
            assert (await backend.edit("/a.md", old, f"{old}- {n}\n")).occurrences == 1

        assert await backend.text_of("/a.md") == "- one\n" + "".join(f"- {n}\n" for n in range(20))

    async def test_an_edit_can_empty_a_file_and_fill_it_again(self, backend: Either) -> None:
        await backend.put(a="only this")

        assert (await backend.edit("/a.md", "only this", "")).error is None
        assert await backend.bytes_of("/a.md") == b""
        assert (await backend.edit("/a.md", "", "and that")).error is None
        assert await backend.text_of("/a.md") == "and that"

    async def test_an_edit_never_harms_bytes_that_are_not_text(self, backend: Either) -> None:
        if not self.keeps_bytes:
            assert all(one.error for one in await backend.upload_files([*BROKEN.items()]))
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

    async def test_what_is_no_text_is_refused_and_kept(self, backend: Either) -> None:
        if not self.keeps_bytes:
            return
        kept = {
            "/nul.md": b"one\0two\n",
            "/wide.md": "one\n".encode("utf-16-le"),
            "/torn.md": b"\xff\xfeo\0n",
            "/photo.png": b"one\n",
        }
        await backend.fill(kept)
        for path, data in kept.items():
            error = (await backend.edit(path, "o", "x")).error
            assert "not text" in str(error), path
            assert await backend.bytes_of(path) == data

    async def test_text_with_a_mark_is_changed_in_its_encoding(self, backend: Either) -> None:
        if not self.keeps_bytes:
            return
        await backend.fill({"/a.md": "\ufeffone tea\r\n".encode("utf-16-be")})

        assert (await backend.edit("/a.md", "tea\n", "milk\n")).error is None
        assert await backend.bytes_of("/a.md") == "\ufeffone milk\r\n".encode("utf-16-be")

"""Finding lines by what they say: `grep` is literal."""

from __future__ import annotations

from typing import Any

import pytest

from memoryware.backends.protocol import GrepResult
from memoryware.testing._either import Either, paths_of
from memoryware.testing._suite import Suite

TREE = {
    "/AGENTS.md": "first\nneedle one\n\nneedle two and needle again\n",
    "/crlf.md": "first\r\nneedle\r\nlast needle",
    "/cr.md": "first\rneedle\rlast",
    "/.agent/AGENTS.md": "needle, hidden",
    "/.hidden.md": "needle, hidden as well",
    "/mem/a.md": "needle in mem",
    "/mem/sub/b.md": "needle below mem",
    "/mem-evil/c.md": "needle next to mem",
    "/mem/d.py": "needle = 1",
    "/other.md": "Needle\nneed le\n",
}
SPECIAL = (
    *(
        "a.c",
        "a*",
        "(x)",
        "[y]",
        "{z}",
        "^start",
        "end$",
        "a|b",
        "x+",
        "what?",
        r"\d",
        "\\",
        "$HOME",
    ),
    *(
        "-rf",
        "--files",
        "--",
        "-e",
        "#",
        "%s",
        "'",
        '"',
        "\t",
        " ",
        "☕",
        "é",
        "日本",
        "/",
        "needle",
    ),
    *("<tag>", "a\u2028b", "\x0b", "\x85"),
)


TRAPS = ("abc", "aaa", "starts here, ends here", "xx", "ab|", "dd", "zzz", "a-rf", "PERCENT")
"""What the signs would find if they meant something."""


def lines(result: GrepResult) -> list[tuple[str, int, str]]:
    """Return what a search found, as path, line and text."""
    assert result.error is None, result.error
    return [(match["path"], match["line"], match["text"]) for match in result.matches or []]


class GreppingConformance(Suite):
    """What `grep` finds."""

    async def test_lines_come_with_path_number_and_text(self, backend: Either) -> None:
        await backend.fill(TREE)

        found = await backend.grep("needle")
        assert not found.truncated
        assert lines(found) == [
            ("/.agent/AGENTS.md", 1, "needle, hidden"),
            ("/.hidden.md", 1, "needle, hidden as well"),
            ("/AGENTS.md", 2, "needle one"),
            ("/AGENTS.md", 4, "needle two and needle again"),
            ("/cr.md", 2, "needle"),
            ("/crlf.md", 2, "needle"),
            ("/crlf.md", 3, "last needle"),
            ("/mem-evil/c.md", 1, "needle next to mem"),
            ("/mem/a.md", 1, "needle in mem"),
            ("/mem/d.py", 1, "needle = 1"),
            ("/mem/sub/b.md", 1, "needle below mem"),
        ]

    async def test_a_search_keeps_to_its_folder_or_file(self, backend: Either) -> None:
        await backend.fill(TREE)
        inside = ["/mem/a.md", "/mem/d.py", "/mem/sub/b.md"]

        for folder in ("/mem", "/mem/", "mem"):
            assert paths_of(await backend.grep("needle", folder)) == inside
        assert paths_of(await backend.grep("needle", "/mem/a.md")) == ["/mem/a.md"]
        assert paths_of(await backend.grep("needle", "/.agent")) == ["/.agent/AGENTS.md"]
        assert paths_of(await backend.grep("needle", "/.hidden.md")) == ["/.hidden.md"]
        assert paths_of(await backend.grep("needle", "/mem/a")) == []
        assert paths_of(await backend.grep("needle", "/nothing")) == []

    async def test_a_glob_narrows_the_files(self, backend: Either) -> None:
        await backend.fill(TREE)

        assert paths_of(await backend.grep("needle", glob="*.py")) == ["/mem/d.py"]
        assert paths_of(await backend.grep("needle", glob="mem/*.md")) == ["/mem/a.md"]
        assert paths_of(await backend.grep("needle", "/mem", "*.md")) == [
            "/mem/a.md",
            "/mem/sub/b.md",
        ]
        assert paths_of(await backend.grep("needle", "/mem", "/*.md")) == ["/mem/a.md"]
        assert paths_of(await backend.grep("needle", "/mem", "sub/**")) == ["/mem/sub/b.md"]
        assert paths_of(await backend.grep("needle", "/mem/a.md", "*.md")) == ["/mem/a.md"]
        assert paths_of(await backend.grep("needle", "/mem/a.md", "*.py")) == []

    async def test_every_sign_is_literal(self, backend: Either) -> None:
        text = "\n".join([*(f"<{sign}>" for sign in SPECIAL), *TRAPS])
        await backend.fill({"/signs.md": text, "/none.md": "nothing of the kind"})
        got: dict[str, Any] = {}
        for sign in SPECIAL:
            found = await backend.grep(sign)
            got[sign] = found.error or [
                m["line"] for m in found.matches or [] if m["path"] == "/signs.md"
            ]

        rows = text.split("\n")
        assert got == {s: [n for n, row in enumerate(rows, 1) if s in row] for s in SPECIAL}

    async def test_letters_are_told_apart_by_case(self, backend: Either) -> None:
        await backend.fill(TREE)

        assert lines(await backend.grep("Needle")) == [("/other.md", 1, "Needle")]
        assert lines(await backend.grep("NEEDLE")) == []

    async def test_max_count_counts_in_all_and_tells_what_is_missing(self, backend: Either) -> None:
        await backend.fill({"/a.md": "x\nx\nx\n", "/b.md": "x\nx\n", "/c/d.md": "x\n"})
        every = lines(await backend.grep("x"))
        assert len(every) == 6

        for count in range(1, 8):
            found = await backend.grep("x", max_count=count)
            assert lines(found) == every[:count]
            assert found.truncated is (count < 6), count
        found = await backend.grep("x", "/a.md", max_count=2)
        assert (lines(found), found.truncated) == (every[:2], True)

    @pytest.mark.parametrize("pattern", ["", "one\ntwo", "one\r\ntwo", "\n", "half \ud800"])
    async def test_a_text_that_no_line_can_hold_is_an_error(
        self, backend: Either, pattern: str
    ) -> None:
        await backend.put(a="one\ntwo\n")

        found = await backend.grep(pattern)
        assert found.error
        assert not found.matches

    async def test_what_is_not_text_is_skipped(self, backend: Either) -> None:
        if not self.keeps_bytes:
            (answer,) = await backend.upload_files([("/a.bin", b"\0\xff")])
            assert answer.error
            return
        await backend.fill(
            {
                "/a.bin": b"needle\n\0\0\xff\xfeneedle",
                "/late.bin": b"needle\n" + b"text " * 20_000 + b"\0",
                "/b.md": b"needle in text",
                "/latin1.md": b"caf\xe9 needle\n",
            }
        )

        assert lines(await backend.grep("needle")) == [
            ("/b.md", 1, "needle in text"),
            ("/latin1.md", 1, "caf\ufffd needle"),
        ]
        assert lines(await backend.grep("needle", "/a.bin")) == []

    async def test_a_byte_order_mark_is_not_part_of_a_line(self, backend: Either) -> None:
        await backend.fill({"/a.md": b"\xef\xbb\xbfneedle one\nneedle two\n"})

        assert lines(await backend.grep("needle")) == [
            ("/a.md", 1, "needle one"),
            ("/a.md", 2, "needle two"),
        ]

    async def test_files_that_tell_tools_what_to_ignore_are_just_files(
        self, backend: Either
    ) -> None:
        ignoring = dict.fromkeys(("/.gitignore", "/.ignore", "/.rgignore", "/f/.gitignore"), "*\n")
        await backend.fill({**ignoring, "/AGENTS.md": "needle", "/f/a.md": "needle"})

        assert paths_of(await backend.grep("needle")) == ["/AGENTS.md", "/f/a.md"]
        assert paths_of(await backend.grep("needle", "/f")) == ["/f/a.md"]
        assert paths_of(await backend.grep("needle", glob="*.md")) == ["/AGENTS.md", "/f/a.md"]
        assert await backend.files() == ["/AGENTS.md", "/f/a.md"]

    async def test_the_folders_of_tools_are_searched_only_when_named(self, backend: Either) -> None:
        await backend.fill({"/.git/config": "needle", "/a/.venv/b.md": "needle", "/c.md": "needle"})

        assert paths_of(await backend.grep("needle")) == ["/c.md"]
        assert paths_of(await backend.grep("needle", "/.git")) == ["/.git/config"]
        assert paths_of(await backend.grep("needle", "/a")) == []
        assert paths_of(await backend.grep("needle", "/a/.venv")) == ["/a/.venv/b.md"]
        assert paths_of(await backend.grep("needle", "/.git/config")) == ["/.git/config"]

    async def test_a_change_is_found_at_once(self, backend: Either) -> None:
        await backend.put(a="old needle\n")
        await backend.grep("needle")
        await backend.edit("/a.md", "old needle", "new thread")
        await backend.put(b="needle")

        assert paths_of(await backend.grep("needle")) == ["/b.md"]
        assert lines(await backend.grep("thread")) == [("/a.md", 1, "new thread")]

    async def test_many_matches_come_in_order(self, backend: Either) -> None:
        text = "".join(f"line {n} {'needle' if n % 3 == 0 else 'hay'}\n" for n in range(3000))
        await backend.fill({f"/{name}.md": text for name in "zyxa"})

        found = lines(await backend.grep("needle"))
        assert len(found) == 4000
        assert [line for path, line, _ in found if path == "/z.md"] == [*range(1, 3001, 3)]

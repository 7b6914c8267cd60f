"""`ls`, `glob` and `grep`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from memoryware.backends.protocol import GrepResult
from memoryware.testing._backend import BackendProxy, BackendSuite, paths_of

# `ls`.

LIST_TREE = {
    "/AGENTS.md": "rules",
    "/a.md": "a",
    "/a/x.md": "x",
    "/a/deep/er/y.md": "y",
    "/a-b/x.md": "x",
    "/.agent/AGENTS.md": "hidden",
    "/.env": "",
    "/mem/one.md": "1",
    "/mem-evil/two.md": "2",
    "/m_m/three.md": "3",
    "/m%m/four.md": "4",
}


class ListConformance(BackendSuite):
    """What `ls` shows."""

    async def test_a_listing_has_direct_children_sorted_with_folders_marked(
        self, backend: BackendProxy
    ) -> None:
        await backend.fill(LIST_TREE)

        assert paths_of(await backend.ls("/")) == [
            *("/.agent/", "/.env", "/AGENTS.md", "/a-b/", "/a.md", "/a/"),
            *("/m%m/", "/m_m/", "/mem-evil/", "/mem/"),
        ]
        assert paths_of(await backend.ls("/a")) == ["/a/deep/", "/a/x.md"]
        assert paths_of(await backend.ls("/a/deep")) == ["/a/deep/er/"]
        assert paths_of(await backend.ls("/.agent")) == ["/.agent/AGENTS.md"]

    async def test_a_folder_is_not_its_neighbour_with_a_longer_name(
        self, backend: BackendProxy
    ) -> None:
        await backend.fill(LIST_TREE)

        assert paths_of(await backend.ls("/mem")) == ["/mem/one.md"]
        assert paths_of(await backend.ls("/m_m")) == ["/m_m/three.md"]
        assert paths_of(await backend.ls("/m%m")) == ["/m%m/four.md"]
        for path in ("/me", "/m"):
            self.assert_missing_folder(await backend.ls(path), path)

    async def test_an_empty_backend_has_an_empty_root(self, backend: BackendProxy) -> None:
        result = await backend.ls("/")

        assert (result.error, result.entries) == (None, [])

    async def test_standing_folders_are_listed_without_a_file(self, backend: BackendProxy) -> None:
        traits = replace(backend.traits, fixed_folders=frozenset())
        as_it_is = BackendProxy(lambda: backend.target, backend.mode, traits)
        for folder in sorted(self.fixed_folders):
            parent = folder[:-1].rpartition("/")[0] or "/"
            assert folder in paths_of(await as_it_is.ls(parent))
            assert paths_of(await backend.ls(folder)) == []

    async def test_a_missing_folder_has_nothing_in_it(self, backend: BackendProxy) -> None:
        await backend.fill(LIST_TREE)

        for path in ("/nothing", "/a/nothing/", "a/deep/no"):
            self.assert_missing_folder(await backend.ls(path), path)

    async def test_a_file_cannot_be_listed(self, backend: BackendProxy) -> None:
        await backend.fill(LIST_TREE)

        assert (await backend.ls("/a.md")).error == "Path '/a.md': not_a_directory"
        assert (await backend.ls("a/x.md")).error == "Path 'a/x.md': not_a_directory"

    async def test_sizes_are_bytes(self, backend: BackendProxy) -> None:
        await backend.fill({"/empty.md": "", "/tea.md": "é☕", "/crlf.md": "a\r\n", "/f/a.md": "x"})
        listed = {e["path"]: e.get("size") for e in (await backend.ls("/")).entries or []}
        matched = {e["path"]: e.get("size") for e in (await backend.glob("*")).matches or []}

        assert listed == {"/empty.md": 0, "/tea.md": 5, "/crlf.md": 3, "/f/": 0}
        assert matched == {"/empty.md": 0, "/tea.md": 5, "/crlf.md": 3, "/f/a.md": 1}
        await backend.edit("/tea.md", "☕", "🍵🍵")
        (tea,) = [e for e in (await backend.ls("/")).entries or [] if e["path"] == "/tea.md"]
        assert tea.get("size") == 10

    async def test_the_size_of_what_is_not_text_is_its_bytes(self, backend: BackendProxy) -> None:
        data = b"\xff\xfe\0\x01\x02" if self.stores_binary else b"plain"
        await backend.fill({"/a.bin": data})

        (entry,) = (await backend.ls("/")).entries or []
        assert entry.get("size") == 5

    async def test_a_long_listing_is_complete(self, backend: BackendProxy) -> None:
        many = {f"/many/{n:04d}.md": f"needle {n}" for n in range(self.listing_size)}
        await backend.fill({**many, "/other.md": "x"})

        assert paths_of(await backend.ls("/many")) == sorted(many)
        assert paths_of(await backend.glob("/many/*")) == sorted(many)
        assert paths_of(await backend.grep("needle", "/many")) == sorted(many)
        assert paths_of(await backend.ls("/")) == ["/many/", "/other.md"]
        if self.deletes:
            await backend.delete("/many")
            assert await backend.files() == ["/other.md"]


# `glob`.

GLOB_TREE = {
    # /
    # ├── AGENTS.md  a.md  b.md  c.txt  .hidden.md  {x}.md
    # ├── .agent/    AGENTS.md
    # ├── .git/      config.md
    # ├── docs/      a.md  B.md  one.two.md
    # │   └── .secret/   key.md
    # └── src/       app.py  app.md
    #     └── deep/
    #         └── er/    app.py  [x].md  a b.md
    "/AGENTS.md": "",
    "/a.md": "",
    "/b.md": "",
    "/c.txt": "",
    "/.hidden.md": "",
    "/{x}.md": "",
    "/.agent/AGENTS.md": "",
    "/.git/config.md": "",
    "/docs/a.md": "",
    "/docs/B.md": "",
    "/docs/one.two.md": "",
    "/docs/.secret/key.md": "",
    "/src/app.py": "",
    "/src/app.md": "",
    "/src/deep/er/app.py": "",
    "/src/deep/er/[x].md": "",
    "/src/deep/er/a b.md": "",
}

_DEEP = "/src/deep/er"
_IN_DEEP = [f"{_DEEP}/[x].md", f"{_DEEP}/a b.md", f"{_DEEP}/app.py"]
_DOCS = ["/docs/.secret/key.md", "/docs/B.md", "/docs/a.md", "/docs/one.two.md"]
_MARKDOWN = [
    *("/.agent/AGENTS.md", "/AGENTS.md", "/a.md", "/b.md"),
    *(*_DOCS, "/src/app.md", f"{_DEEP}/[x].md", f"{_DEEP}/a b.md", "/{x}.md"),
]
_ALL = sorted([*_MARKDOWN, "/c.txt", "/src/app.py", f"{_DEEP}/app.py"])

GLOBS: tuple[tuple[str, str | None, list[str]], ...] = (
    # without a slash: a name at any depth, also in dot folders; a dot name asks for its dot
    ("*.md", None, _MARKDOWN),
    ("*.md", "/", _MARKDOWN),
    ("*.py", None, ["/src/app.py", f"{_DEEP}/app.py"]),
    ("AGENTS.md", None, ["/.agent/AGENTS.md", "/AGENTS.md"]),
    ("agents.md", None, []),
    ("a.md", None, ["/a.md", "/docs/a.md"]),
    ("?.md", None, ["/a.md", "/b.md", "/docs/B.md", "/docs/a.md"]),
    ("*", None, _ALL),
    ("**", None, _ALL),
    ("*.*.*", None, ["/docs/one.two.md"]),
    (".hidden.md", None, ["/.hidden.md"]),
    (".*", None, ["/.hidden.md"]),
    (".*.md", None, ["/.hidden.md"]),
    ("?hidden.md", None, []),
    ("[.]hidden.md", None, []),
    # with a slash: a path from the place of the search
    ("docs/*.md", None, ["/docs/B.md", "/docs/a.md", "/docs/one.two.md"]),
    ("docs/a.md", None, ["/docs/a.md"]),
    ("./docs/a.md", None, ["/docs/a.md"]),
    ("docs//a.md", None, ["/docs/a.md"]),
    ("docs\\a.md", None, ["/docs/a.md"]),
    ("deep/er/app.py", None, []),
    ("*/*.py", None, ["/src/app.py"]),
    ("*/a.md", None, ["/docs/a.md"]),
    ("*/AGENTS.md", None, []),
    (".*/AGENTS.md", None, ["/.agent/AGENTS.md"]),
    ("src/*", None, ["/src/app.md", "/src/app.py"]),
    # two stars: any folders, none included; also dot folders
    ("**/*.md", None, _MARKDOWN),
    ("**/*", None, _ALL),
    ("**/a.md", None, ["/a.md", "/docs/a.md"]),
    ("src/**", None, [*("/src/app.md", "/src/app.py"), *_IN_DEEP]),
    ("src/**/*.py", None, ["/src/app.py", f"{_DEEP}/app.py"]),
    ("src/**/app.py", None, ["/src/app.py", f"{_DEEP}/app.py"]),
    ("**/er/*.py", None, [f"{_DEEP}/app.py"]),
    ("**/**/er/**/app.py", None, [f"{_DEEP}/app.py"]),
    ("docs/**/*.md", None, _DOCS),
    ("**/.hidden.md", None, ["/.hidden.md"]),
    ("**/.secret/*", None, ["/docs/.secret/key.md"]),
    # a leading slash ties the pattern to the place of the search
    ("/*.md", None, ["/AGENTS.md", "/a.md", "/b.md", "/{x}.md"]),
    ("/a.md", None, ["/a.md"]),
    ("/docs/a.md", None, ["/docs/a.md"]),
    ("/app.py", None, []),
    ("/**/app.py", None, ["/src/app.py", f"{_DEEP}/app.py"]),
    ("/.agent/*", None, ["/.agent/AGENTS.md"]),
    # braces and classes
    ("{a,b}.md", None, ["/a.md", "/b.md", "/docs/a.md"]),
    ("*.{py,txt}", None, ["/c.txt", "/src/app.py", f"{_DEEP}/app.py"]),
    ("{docs,src}/*.md", None, ["/docs/B.md", "/docs/a.md", "/docs/one.two.md", "/src/app.md"]),
    ("{docs/a,src/app}.md", None, ["/docs/a.md", "/src/app.md"]),
    ("{docs,src/**}/app.{md,py}", None, ["/src/app.md", "/src/app.py", f"{_DEEP}/app.py"]),
    ("{.agent,docs}/*A*", None, ["/.agent/AGENTS.md"]),
    ("[ab].md", None, ["/a.md", "/b.md", "/docs/a.md"]),
    ("[a-c].md", None, ["/a.md", "/b.md", "/docs/a.md"]),
    ("[!a].md", None, ["/b.md", "/docs/B.md"]),
    ("[^a].md", None, ["/b.md", "/docs/B.md"]),
    ("docs/[A-Z].md", None, ["/docs/B.md"]),
    ("[[]x].md", None, [f"{_DEEP}/[x].md"]),
    ("[x.md", None, []),
    ("docs[/]a.md", None, []),
    ("* *", None, [f"{_DEEP}/a b.md"]),
    # below a folder, however it is spelled
    ("*.py", "/src", ["/src/app.py", f"{_DEEP}/app.py"]),
    ("*.py", "src/", ["/src/app.py", f"{_DEEP}/app.py"]),
    ("/*.py", "/src", ["/src/app.py"]),
    ("deep/**/*.py", "/src", [f"{_DEEP}/app.py"]),
    ("src/*.py", "/src", []),
    ("**/*.md", "/docs", _DOCS),
    ("*.md", "/.agent", ["/.agent/AGENTS.md"]),
    ("*.md", "/docs/.secret", ["/docs/.secret/key.md"]),
    ("*", "/nothing", []),
    # folders never match, and names are told apart by case
    ("src", None, []),
    ("deep", None, []),
    ("src/*eep", None, []),
    ("b.md", None, ["/b.md"]),
    ("B.MD", None, []),
    # the folders of tools are entered only when they are named
    ("config.md", None, []),
    (".git/*.md", None, ["/.git/config.md"]),
    ("/.git/config.md", None, ["/.git/config.md"]),
    ("config.md", "/.git", ["/.git/config.md"]),
)


class GlobConformance(BackendSuite):
    """What `glob` finds."""

    async def test_glob_dialect(self, backend: BackendProxy) -> None:
        await backend.fill(GLOB_TREE)
        got = {
            (pattern, path): await self._find_paths(backend, pattern, path)
            for pattern, path, _ in GLOBS
        }

        assert got == {(pattern, path): expected for pattern, path, expected in GLOBS}

    async def _find_paths(
        self, backend: BackendProxy, pattern: str, path: str | None
    ) -> list[str] | str:
        result = await backend.glob(pattern, path)
        return result.error or paths_of(result)

    async def test_grep_reads_its_glob_in_the_same_dialect(self, backend: BackendProxy) -> None:
        await backend.fill(dict.fromkeys(GLOB_TREE, "needle\n"))
        got = {}
        for pattern, path, _ in GLOBS:
            result = await backend.grep("needle", path, pattern)
            got[pattern, path] = result.error or paths_of(result)

        assert got == {(pattern, path): expected for pattern, path, expected in GLOBS}

    async def test_a_pattern_that_cannot_match_is_an_error(self, backend: BackendProxy) -> None:
        await backend.fill(GLOB_TREE)

        for pattern in ("/", "//", "../*.md", "docs/../*.md", "{docs,..}/*.md"):
            assert (await backend.glob(pattern)).error, pattern
            assert (await backend.grep("x", glob=pattern)).error, pattern
        assert (await backend.glob("")).error

    async def test_a_pattern_with_endless_alternatives_comes_to_an_end(
        self, backend: BackendProxy
    ) -> None:
        await backend.fill(GLOB_TREE)
        for pattern in ("{a,b,c,d,e,f,g,h}" * 12, "{1..100000000}.md", "*a" * 40 + "b"):
            result = await backend.glob(pattern)
            assert result.error or not result.matches

    async def test_a_name_with_signs_of_a_pattern_can_be_found(self, backend: BackendProxy) -> None:
        names = ["/a+b.md", "/a.b$.md", "/a(b)|c.md", "/a^b.md", "/a-b&&c.md", "/a~b.md"]
        await backend.fill(dict.fromkeys([*names, "/aab.md", "/axb$.md"], ""))

        assert [await self._find_paths(backend, name[1:], None) for name in names] == [
            [n] for n in names
        ]
        assert await self._find_paths(backend, "a[+^]b.md", None) == ["/a+b.md", "/a^b.md"]

    async def test_an_empty_backend_has_nothing_to_find(self, backend: BackendProxy) -> None:
        result, grepped = await backend.glob("**"), await backend.grep("x")

        assert (result.error, result.matches, result.truncated) == (None, [], False)
        assert (grepped.error, grepped.matches, grepped.truncated) == (None, [], False)

    async def test_what_was_found_is_told_whole(self, backend: BackendProxy) -> None:
        await backend.fill({"/f/a.md": "é", "/f/b.md": "12345"})

        result = await backend.glob("*.md", "/f")
        assert not result.truncated
        assert [(e["path"], e.get("size")) for e in result.matches or []] == [
            ("/f/a.md", 2),
            ("/f/b.md", 5),
        ]
        assert not any(e.get("is_dir") for e in result.matches or [])


# `grep`.

GREP_TREE = {
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
"""What the patterns would match if `grep` were not literal."""


def lines(result: GrepResult) -> list[tuple[str, int, str]]:
    """Return the matches of a search, as path, line and text."""
    assert result.error is None, result.error
    return [(match["path"], match["line"], match["text"]) for match in result.matches or []]


class GrepConformance(BackendSuite):
    """What `grep` finds."""

    async def test_lines_come_with_path_number_and_text(self, backend: BackendProxy) -> None:
        await backend.fill(GREP_TREE)

        result = await backend.grep("needle")
        assert not result.truncated
        assert lines(result) == [
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

    async def test_a_search_keeps_to_its_folder_or_file(self, backend: BackendProxy) -> None:
        await backend.fill(GREP_TREE)
        inside = ["/mem/a.md", "/mem/d.py", "/mem/sub/b.md"]

        for folder in ("/mem", "/mem/", "mem"):
            assert paths_of(await backend.grep("needle", folder)) == inside
        assert paths_of(await backend.grep("needle", "/mem/a.md")) == ["/mem/a.md"]
        assert paths_of(await backend.grep("needle", "/.agent")) == ["/.agent/AGENTS.md"]
        assert paths_of(await backend.grep("needle", "/.hidden.md")) == ["/.hidden.md"]
        assert paths_of(await backend.grep("needle", "/mem/a")) == []
        assert paths_of(await backend.grep("needle", "/nothing")) == []

    async def test_a_glob_narrows_the_files(self, backend: BackendProxy) -> None:
        await backend.fill(GREP_TREE)

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

    async def test_every_sign_is_literal(self, backend: BackendProxy) -> None:
        text = "\n".join([*(f"<{sign}>" for sign in SPECIAL), *TRAPS])
        await backend.fill({"/signs.md": text, "/none.md": "nothing of the kind"})
        got: dict[str, Any] = {}
        for sign in SPECIAL:
            result = await backend.grep(sign)
            got[sign] = result.error or [
                m["line"] for m in result.matches or [] if m["path"] == "/signs.md"
            ]

        rows = text.split("\n")
        assert got == {s: [n for n, row in enumerate(rows, 1) if s in row] for s in SPECIAL}

    async def test_letters_are_told_apart_by_case(self, backend: BackendProxy) -> None:
        await backend.fill(GREP_TREE)

        assert lines(await backend.grep("Needle")) == [("/other.md", 1, "Needle")]
        assert lines(await backend.grep("NEEDLE")) == []

    async def test_max_count_counts_in_all_and_tells_what_is_missing(
        self, backend: BackendProxy
    ) -> None:
        await backend.fill({"/a.md": "x\nx\nx\n", "/b.md": "x\nx\n", "/c/d.md": "x\n"})
        every = lines(await backend.grep("x"))
        assert len(every) == 6

        for count in range(1, 8):
            result = await backend.grep("x", max_count=count)
            assert lines(result) == every[:count]
            assert result.truncated is (count < 6), count
        result = await backend.grep("x", "/a.md", max_count=2)
        assert (lines(result), result.truncated) == (every[:2], True)

    @pytest.mark.parametrize("pattern", ["", "one\ntwo", "one\r\ntwo", "\n", "half \ud800"])
    async def test_a_text_that_no_line_can_hold_is_an_error(
        self, backend: BackendProxy, pattern: str
    ) -> None:
        await backend.put(a="one\ntwo\n")

        result = await backend.grep(pattern)
        assert result.error
        assert not result.matches

    async def test_what_is_not_text_is_skipped(self, backend: BackendProxy) -> None:
        if not self.stores_binary:
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

    async def test_a_byte_order_mark_is_not_part_of_a_line(self, backend: BackendProxy) -> None:
        await backend.fill({"/a.md": b"\xef\xbb\xbfneedle one\nneedle two\n"})

        assert lines(await backend.grep("needle")) == [
            ("/a.md", 1, "needle one"),
            ("/a.md", 2, "needle two"),
        ]

    async def test_files_that_tell_tools_what_to_ignore_are_just_files(
        self, backend: BackendProxy
    ) -> None:
        ignoring = dict.fromkeys(("/.gitignore", "/.ignore", "/.rgignore", "/f/.gitignore"), "*\n")
        await backend.fill({**ignoring, "/AGENTS.md": "needle", "/f/a.md": "needle"})

        assert paths_of(await backend.grep("needle")) == ["/AGENTS.md", "/f/a.md"]
        assert paths_of(await backend.grep("needle", "/f")) == ["/f/a.md"]
        assert paths_of(await backend.grep("needle", glob="*.md")) == ["/AGENTS.md", "/f/a.md"]
        assert await backend.files() == ["/AGENTS.md", "/f/a.md"]

    async def test_the_folders_of_tools_are_searched_only_when_named(
        self, backend: BackendProxy
    ) -> None:
        await backend.fill({"/.git/config": "needle", "/a/.venv/b.md": "needle", "/c.md": "needle"})

        assert paths_of(await backend.grep("needle")) == ["/c.md"]
        assert paths_of(await backend.grep("needle", "/.git")) == ["/.git/config"]
        assert paths_of(await backend.grep("needle", "/a")) == []
        assert paths_of(await backend.grep("needle", "/a/.venv")) == ["/a/.venv/b.md"]
        assert paths_of(await backend.grep("needle", "/.git/config")) == ["/.git/config"]

    async def test_a_change_is_found_at_once(self, backend: BackendProxy) -> None:
        await backend.put(a="old needle\n")
        await backend.grep("needle")
        await backend.edit("/a.md", "old needle", "new thread")
        await backend.put(b="needle")

        assert paths_of(await backend.grep("needle")) == ["/b.md"]
        assert lines(await backend.grep("thread")) == [("/a.md", 1, "new thread")]

    async def test_many_matches_come_in_order(self, backend: BackendProxy) -> None:
        text = "".join(f"line {n} {'needle' if n % 3 == 0 else 'hay'}\n" for n in range(3000))
        await backend.fill({f"/{name}.md": text for name in "zyxa"})

        result = lines(await backend.grep("needle"))
        assert len(result) == 4000
        assert [line for path, line, _ in result if path == "/z.md"] == [*range(1, 3001, 3)]

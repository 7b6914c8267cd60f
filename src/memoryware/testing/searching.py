"""Finding files by name: the one dialect of `glob`."""

from __future__ import annotations

from memoryware.testing._either import Either, paths_of
from memoryware.testing._suite import Suite

TREE = {
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


class SearchingConformance(Suite):
    """What `glob` finds."""

    async def test_glob_dialect(self, backend: Either) -> None:
        await backend.fill(TREE)
        got = {
            (pattern, path): await self._found(backend, pattern, path) for pattern, path, _ in GLOBS
        }

        assert got == {(pattern, path): expected for pattern, path, expected in GLOBS}

    async def _found(self, backend: Either, pattern: str, path: str | None) -> list[str] | str:
        result = await backend.glob(pattern, path)
        return result.error or paths_of(result)

    async def test_grep_reads_its_glob_in_the_same_dialect(self, backend: Either) -> None:
        await backend.fill(dict.fromkeys(TREE, "needle\n"))
        got = {}
        for pattern, path, _ in GLOBS:
            found = await backend.grep("needle", path, pattern)
            got[pattern, path] = found.error or paths_of(found)

        assert got == {(pattern, path): expected for pattern, path, expected in GLOBS}

    async def test_a_pattern_that_cannot_match_is_an_error(self, backend: Either) -> None:
        await backend.fill(TREE)

        for pattern in ("/", "//", "../*.md", "docs/../*.md", "{docs,..}/*.md"):
            assert (await backend.glob(pattern)).error, pattern
            assert (await backend.grep("x", glob=pattern)).error, pattern
        assert (await backend.glob("")).error

    async def test_a_pattern_with_endless_alternatives_comes_to_an_end(
        self, backend: Either
    ) -> None:
        await backend.fill(TREE)
        for pattern in ("{a,b,c,d,e,f,g,h}" * 12, "{1..100000000}.md", "*a" * 40 + "b"):
            result = await backend.glob(pattern)
            assert result.error or not result.matches

    async def test_a_name_with_signs_of_a_pattern_can_be_found(self, backend: Either) -> None:
        names = ["/a+b.md", "/a.b$.md", "/a(b)|c.md", "/a^b.md", "/a-b&&c.md", "/a~b.md"]
        await backend.fill(dict.fromkeys([*names, "/aab.md", "/axb$.md"], ""))

        assert [await self._found(backend, name[1:], None) for name in names] == [
            [n] for n in names
        ]
        assert await self._found(backend, "a[+^]b.md", None) == ["/a+b.md", "/a^b.md"]

    async def test_an_empty_backend_has_nothing_to_find(self, backend: Either) -> None:
        found, grepped = await backend.glob("**"), await backend.grep("x")

        assert (found.error, found.matches, found.truncated) == (None, [], False)
        assert (grepped.error, grepped.matches, grepped.truncated) == (None, [], False)

    async def test_what_was_found_is_told_whole(self, backend: Either) -> None:
        await backend.fill({"/f/a.md": "é", "/f/b.md": "12345"})

        result = await backend.glob("*.md", "/f")
        assert not result.truncated
        assert [(e["path"], e.get("size")) for e in result.matches or []] == [
            ("/f/a.md", 2),
            ("/f/b.md", 5),
        ]
        assert not any(e.get("is_dir") for e in result.matches or [])

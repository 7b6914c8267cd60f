"""Paths: one identity for each file, and no way out of the root."""

from __future__ import annotations

import pytest

from memoryware.testing._backend import BackendProxy, BackendSuite, paths_of

SPELLINGS = (
    "/folder/a.md",
    "folder/a.md",
    "./folder/a.md",
    "/./folder/a.md",
    "//folder/a.md",
    "/folder//a.md",
    "/folder/./a.md",
    "\\folder\\a.md",
    "folder\\a.md",
)
"""All of these are one file."""
FOLDER_SPELLINGS = ("/folder", "/folder/", "folder", "folder/", "./folder", "//folder//")
OUTSIDE = (
    "../a.md",
    "/../a.md",
    "/../../../../../../etc/passwd",
    "/folder/../a.md",
    "/folder/..",
    "..",
    "/..",
    "..\\a.md",
    "\\..\\a.md",
    "/folder\\..\\..\\a.md",
    "./../a.md",
    "/./../a.md",
)
"""Paths with `..` as a segment, wherever they would lead."""
UNUSABLE = (
    "/a\0.md",
    "/a.md\0",
    "/a\n.md",
    "/a\r.md",
    "/a\x1b[31m.md",
    "/a\x7f.md",
    "/a\ud800.md",
)
"""Paths with characters that no file name should have."""
DRIVES = ("C:\\a.md", "C:/a.md", "c:a\\..\\b.md", "c:/")
HOMES = ("~", "~/a.md", "~\\a.md")
ODD_NAMES = (
    "/a..b.md",
    "/..a.md",
    "/a...md",
    "/folder../a.md",
    "/notes~.md",
    "/a b/c d.md",
    "/100%/a_b.md",
    "/%2e%2e/a.md",
    "/[x]{y}.md",
    "/-rf.md",
    "/#1&2=3+4@5!,;'.md",
    "/.agent/.hidden.md",
    "/no-ending",
    "/日本語/сад/é.md",
    "/👩‍👩‍👧.md",
    "/ عربي.md",
)
"""Names that look odd and are names."""


class PathsConformance(BackendSuite):
    """One identity for each file, and no way out of the root."""

    @pytest.mark.parametrize("spelling", SPELLINGS)
    async def test_every_spelling_of_a_path_is_one_file(
        self, backend: BackendProxy, spelling: str
    ) -> None:
        await backend.write(spelling, "one")

        assert await backend.text_of("/folder/a.md") == "one"
        assert (await backend.edit(spelling, "one", "two")).error is None
        assert await backend.text_of(spelling) == "two"
        assert (await backend.upload_files([(spelling, b"three\n")]))[0].error is None
        read = await backend.read(spelling)
        assert read.file_data is not None
        assert read.file_data["content"] == "three\n"
        assert await backend.files() == ["/folder/a.md"]

    @pytest.mark.parametrize("spelling", SPELLINGS)
    async def test_answers_of_a_search_use_the_one_spelling(
        self, backend: BackendProxy, spelling: str
    ) -> None:
        await backend.write(spelling, "needle")

        assert paths_of(await backend.grep("needle", spelling)) == ["/folder/a.md"]

    @pytest.mark.parametrize("spelling", FOLDER_SPELLINGS)
    async def test_every_spelling_of_a_folder_is_one_folder(
        self, backend: BackendProxy, spelling: str
    ) -> None:
        await backend.fill({"/folder/a.md": "needle", "/folder/sub/b.md": "", "/c.md": "needle"})

        assert paths_of(await backend.ls(spelling)) == ["/folder/a.md", "/folder/sub/"]
        assert paths_of(await backend.glob("*.md", spelling)) == [
            "/folder/a.md",
            "/folder/sub/b.md",
        ]
        assert paths_of(await backend.grep("needle", spelling)) == ["/folder/a.md"]

    @pytest.mark.parametrize("spelling", ["/", "//", "/.", "/./", "."])
    async def test_the_root_is_a_folder_however_it_is_spelled(
        self, backend: BackendProxy, spelling: str
    ) -> None:
        await backend.fill({"/a.md": "needle", "/folder/b.md": "needle"})

        assert paths_of(await backend.ls(spelling)) == ["/a.md", "/folder/"]
        assert paths_of(await backend.glob("*.md", spelling)) == ["/a.md", "/folder/b.md"]
        assert paths_of(await backend.grep("needle", spelling)) == ["/a.md", "/folder/b.md"]

    @pytest.mark.parametrize("attack", [*OUTSIDE, *UNUSABLE, *DRIVES])
    async def test_a_refused_path_is_a_value_error_and_nothing_is_touched(
        self, backend: BackendProxy, attack: str
    ) -> None:
        await backend.fill({"/a.md": "mine", "/folder/b.md": "mine"})
        await self._refuses(backend, attack)

        assert await backend.files() == ["/a.md", "/folder/b.md"]
        assert await backend.text_of("/a.md") == "mine"

    @pytest.mark.parametrize("attack", HOMES)
    async def test_a_home_folder_is_refused_where_there_is_none(
        self, backend: BackendProxy, attack: str
    ) -> None:
        await backend.put(a="mine")
        if self.expands_home:
            (answer,) = await backend.download_files([attack + "/not-there-1f0e9a"])
            assert answer.error in ("file_not_found", "invalid_path")
        else:
            await self._refuses(backend, attack)

        assert await backend.files() == ["/a.md"]

    async def _refuses(self, backend: BackendProxy, attack: str) -> None:
        for attempt in (
            lambda: backend.read(attack),
            lambda: backend.write(attack, "owned"),
            lambda: backend.edit(attack, "mine", "owned"),
            lambda: backend.edit(attack, "", "owned"),
            lambda: backend.ls(attack),
        ):
            with pytest.raises(ValueError):
                await attempt()
        if self.deletes:
            with pytest.raises(ValueError):
                await backend.delete(attack)
        for search in (await backend.grep("mine", attack), await backend.glob("*", attack)):
            assert search.error
            assert not search.matches

    @pytest.mark.parametrize("attack", [*OUTSIDE, *UNUSABLE, *DRIVES])
    async def test_a_refused_path_in_a_batch_harms_only_itself(
        self, backend: BackendProxy, attack: str
    ) -> None:
        stored = await backend.upload_files([("/a.md", b"a"), (attack, b"x"), ("/b.md", b"b")])
        loaded = await backend.download_files(["/b.md", attack, "/a.md"])

        assert [answer.error for answer in stored] == [None, "invalid_path", None]
        assert [answer.error for answer in loaded] == [None, "invalid_path", None]
        assert [answer.content for answer in loaded] == [b"b", None, b"a"]

    async def test_a_glob_pattern_cannot_lead_outside(self, backend: BackendProxy) -> None:
        await backend.put(a="mine")

        for pattern in ("../*", "**/../*", "/../*.md", "folder/../../*", "..", "{..,.}/*.md"):
            result = await backend.glob(pattern)
            assert result.error, pattern
            assert not result.matches
            assert (await backend.grep("mine", glob=pattern)).error, pattern

    @pytest.mark.parametrize("path", ODD_NAMES)
    async def test_an_odd_name_is_a_name(self, backend: BackendProxy, path: str) -> None:
        folder, _, name = path.rpartition("/")
        neighbour = f"{folder}/zz{name}"
        await backend.write(path, "needle, one")
        await backend.write(neighbour, "two")

        assert (await backend.edit(path, "one", "three")).error is None
        assert await backend.text_of(path) == "needle, three"
        assert path in paths_of(await backend.ls(folder or "/"))
        assert paths_of(await backend.grep("needle", path)) == [path]
        assert paths_of(await backend.grep("needle", folder or "/")) == [path]
        if self.deletes:
            assert (await backend.delete(path)).error is None
            assert await backend.bytes_of(path) is None
        assert await backend.text_of(neighbour) == "two"

    async def test_names_that_differ_only_in_case(self, backend: BackendProxy) -> None:
        await backend.write("/Agents.md", "one")
        await backend.write("/agents.md", "two")

        apart = self.case_sensitive
        assert await backend.text_of("/Agents.md") == ("one" if apart else "two")
        assert len(await backend.files()) == (2 if apart else 1)

    async def test_a_long_name_works_everywhere(self, backend: BackendProxy) -> None:
        path = "/" + "n" * (self.max_name_bytes - 3) + ".md"
        await backend.write(path, "needle")

        assert (await backend.edit(path, "needle", "needle found")).error is None
        assert (await backend.upload_files([(path, b"needle again")]))[0].error is None
        assert await backend.text_of(path) == "needle again"
        assert paths_of(await backend.ls("/")) == [path]
        assert paths_of(await backend.grep("needle")) == [path]

    async def test_a_deep_path_works_everywhere(self, backend: BackendProxy) -> None:
        path = "/d" * 40 + "/a.md"
        await backend.write(path, "needle")

        assert await backend.text_of(path) == "needle"
        assert await backend.files() == [path]
        assert paths_of(await backend.ls("/d" * 40)) == [path]
        assert paths_of(await backend.grep("needle", "/d")) == [path]

    async def test_a_path_that_is_too_long_is_an_error_and_not_a_crash(
        self, backend: BackendProxy
    ) -> None:
        for path in ("/" + "n" * 5000 + ".md", "/d" * 5000):
            written = await backend.write(path, "text")
            (loaded,) = await backend.download_files([path])
            assert (written.error is None) == (loaded.content == b"text")
            assert (await backend.read(path)).error is None or written.error is not None

    async def test_a_file_is_not_a_folder(self, backend: BackendProxy) -> None:
        await backend.put(a="a file")
        (missing,) = await backend.download_files(["/a.md/b.md"])
        (stored,) = await backend.upload_files([("/a.md/c/d.md", b"below it")])

        assert missing.error in ("file_not_found", "invalid_path")
        assert stored.error == "invalid_path"
        assert (await backend.write("/a.md/b.md", "below it")).error
        assert (await backend.edit("/a.md/b.md", "", "below it")).error
        assert (await backend.read("/a.md/b.md")).error
        assert await backend.files() == ["/a.md"]
        assert await backend.text_of("/a.md") == "a file"

    async def test_a_folder_is_not_a_file(self, backend: BackendProxy) -> None:
        await backend.fill({"/folder/sub/a.md": "kept"})

        for path in ("/folder", "/folder/sub/", "folder"):
            (loaded,) = await backend.download_files([path])
            (stored,) = await backend.upload_files([(path, b"text")])
            assert loaded.error == stored.error == "is_directory"
            assert (await backend.read(path)).error
            assert (await backend.write(path, "text")).error
            assert (await backend.edit(path, "", "text")).error
        assert await backend.files() == ["/folder/sub/a.md"]
        assert await backend.text_of("/folder/sub/a.md") == "kept"
